/* support_volume.c: bodies for the volume tests, and oracles that share nothing with the code under test. */
#include "support_volume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- bodies */

TestBody testBody(pnMesh *mesh) {
  TestBody body = {mesh, NULL};
  pnPoseDef def = pnDefaultPoseDef();
  def.mesh = mesh;
  testExpectOk(pnCreatePose(&def, &body.pose));
  return body;
}

void testFreeBody(TestBody *body) {
  pnDestroyPose(body->pose);
  pnDestroyMesh(body->mesh);
  *body = (TestBody){NULL, NULL};
}

TestBody testBox(float x, float y, float z, uint32_t cells) {
  pnMesh *mesh;
  testExpectOk(pnMakeBox((pnVec3){x, y, z}, cells, &mesh));
  return testBody(mesh);
}

TestBody testSphere(uint32_t subdivisions, float radius) {
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(subdivisions, radius, &mesh));
  return testBody(mesh);
}

TestBody testTorus(float ring, float tube, uint32_t around, uint32_t across) {
  pnMesh *mesh;
  testExpectOk(pnMakeTorus(ring, tube, around, across, &mesh));
  return testBody(mesh);
}

/* A mesh from arrays. */
static TestBody bodyOf(const float *vertices, uint32_t vertexCount, const uint32_t *triangles, uint32_t triangleCount) {
  return testBody(testMakeMesh(vertices, vertexCount, triangles, triangleCount));
}

pnOverlap *testOverlap(const TestBody *a, const TestBody *b, uint32_t resolution) {
  pnOverlapDef def = pnDefaultOverlapDef();
  def.poseA = a->pose;
  def.poseB = b->pose;
  def.resolution = resolution;
  pnOverlap *overlap;
  testExpectOk(pnCreateOverlap(&def, &overlap));
  return overlap;
}

/* Two copies of a mesh, scaled, moved, the second perhaps turned over. */
static TestBody twice(const pnMesh *mesh, float scale, const float offset[3], bool flip) {
  uint32_t vertexCount = pnMesh_GetVertexCount(mesh), triangleCount = pnMesh_GetTriangleCount(mesh);
  float *vertices = malloc(2 * sizeof(float) * 3 * vertexCount);
  uint32_t *triangles = malloc(2 * sizeof(uint32_t) * 3 * triangleCount);
  memcpy(vertices, pnMesh_GetVertices(mesh), sizeof(float) * 3 * vertexCount);
  memcpy(triangles, pnMesh_GetTriangles(mesh), sizeof(uint32_t) * 3 * triangleCount);
  for (uint32_t i = 0; i < 3 * vertexCount; ++i) vertices[3 * vertexCount + i] = vertices[i] * scale + offset[i % 3];
  for (uint32_t t = 0; t < triangleCount; ++t)
    for (uint32_t k = 0; k < 3; ++k)
      triangles[3 * (triangleCount + t) + k] = triangles[3 * t + (flip ? 2 - k : k)] + vertexCount;
  TestBody body = bodyOf(vertices, 2 * vertexCount, triangles, 2 * triangleCount);
  free(vertices);
  free(triangles);
  return body;
}

TestBody testHollow(uint32_t subdivisions, float radius, float hole) {
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(subdivisions, radius, &mesh));
  TestBody body = twice(mesh, hole / radius, (float[3]){0, 0, 0}, true);
  pnDestroyMesh(mesh);
  return body;
}

TestBody testTwice(const TestBody *body, float x, float y, float z, bool flip) {
  return twice(body->mesh, 1.0f, (float[3]){x, y, z}, flip);
}

TestBody testStar(uint32_t subdivisions, float radius, float bump) {
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(subdivisions, 1.0f, &mesh));
  uint32_t count = pnMesh_GetVertexCount(mesh);
  float *vertices = malloc(sizeof(float) * 3 * count);
  memcpy(vertices, pnMesh_GetVertices(mesh), sizeof(float) * 3 * count);
  for (uint32_t v = 0; v < count; ++v) {
    float *p = vertices + 3 * v, wave = sinf(5 * p[0] + 1) * cosf(4 * p[1]) * sinf(5 * p[2] + 2);
    for (int k = 0; k < 3; ++k) p[k] *= radius * (1 + bump * wave);
  }
  TestBody body = bodyOf(vertices, count, pnMesh_GetTriangles(mesh), pnMesh_GetTriangleCount(mesh));
  pnDestroyMesh(mesh);
  free(vertices);
  return body;
}

pnMatrix testMatrixAt(float x, float y, float z) {
  pnMatrix matrix = pnMatrix_Identity();
  matrix.m[0][3] = x, matrix.m[1][3] = y, matrix.m[2][3] = z;
  return matrix;
}

void testPlace(TestBody *body, float x, float y, float z) {
  pnMatrix matrix = testMatrixAt(x, y, z);
  testExpectOk(pnPose_SetTransform(body->pose, &matrix));
}

/* ---------------------------------------------------------------- volumes */

typedef struct Tetra {
  double v[4][3];
} Tetra;

static double tetraVolume(const Tetra *t) {
  double m[3][3];
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) m[i][k] = t->v[i + 1][k] - t->v[0][k];
  return (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
          m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])) /
         6;
}

/* The volume of the part of a tetrahedron where all planes n.x <= d hold. Cuts it into at most three smaller ones a
 * plane. */
static double clippedVolume(const Tetra *t, const double (*planes)[4], int planeCount) {
  for (; planeCount > 0; ++planes, --planeCount) {
    double s[4];
    int in[4], out[4], inCount = 0, outCount = 0;
    for (int i = 0; i < 4; ++i) {
      s[i] = (*planes)[0] * t->v[i][0] + (*planes)[1] * t->v[i][1] + (*planes)[2] * t->v[i][2] - (*planes)[3];
      if (s[i] <= 0) in[inCount++] = i;
      else out[outCount++] = i;
    }
    if (outCount == 0) continue;
    if (inCount == 0) return 0;
    // where the edges from inside to outside cross the plane
    double cut[4][4][3];
    for (int i = 0; i < inCount; ++i)
      for (int o = 0; o < outCount; ++o) {
        double f = s[in[i]] / (s[in[i]] - s[out[o]]);
        for (int k = 0; k < 3; ++k) cut[i][o][k] = t->v[in[i]][k] + f * (t->v[out[o]][k] - t->v[in[i]][k]);
      }
    Tetra part[3];
    int partCount = 0;
#define PART(a, b, c, d)                              \
  do {                                                \
    Tetra *p_ = &part[partCount++];                   \
    memcpy(p_->v[0], a, 24), memcpy(p_->v[1], b, 24); \
    memcpy(p_->v[2], c, 24), memcpy(p_->v[3], d, 24); \
  } while (0)
    const double *a = t->v[in[0]], *b = t->v[in[inCount > 1 ? 1 : 0]], *c = t->v[in[inCount > 2 ? 2 : 0]];
    if (inCount == 1) {
      PART(a, cut[0][0], cut[0][1], cut[0][2]);
    } else if (inCount == 2) {
      PART(a, b, cut[0][0], cut[0][1]);
      PART(b, cut[0][0], cut[0][1], cut[1][1]);
      PART(b, cut[0][0], cut[1][0], cut[1][1]);
    } else {
      PART(a, b, c, cut[0][0]);
      PART(b, c, cut[0][0], cut[1][0]);
      PART(c, cut[0][0], cut[1][0], cut[2][0]);
    }
#undef PART
    double sum = 0;
    for (int i = 0; i < partCount; ++i) sum += clippedVolume(part + i, planes + 1, planeCount - 1);
    return sum;
  }
  return fabs(tetraVolume(t));
}

/* World positions as doubles, 9 a triangle; and a point near the middle. */
static double *cornersOf(const TestBody *body, double middle[3]) {
  uint32_t count = pnMesh_GetTriangleCount(body->mesh);
  const uint32_t *triangles = pnMesh_GetTriangles(body->mesh);
  double *corners = malloc(sizeof(double) * 9 * count);
  memset(middle, 0, 3 * sizeof(double));
  for (uint32_t i = 0; i < 3 * count; ++i) {
    pnVec3 p = pnPose_GetVertex(body->pose, triangles[i]);
    double q[3] = {p.x, p.y, p.z};
    for (int k = 0; k < 3; ++k) corners[3 * i + k] = q[k], middle[k] += q[k] / (3.0 * count);
  }
  return corners;
}

/* Outward plane of a triangle. */
static void planeOf(const double *t, double plane[4]) {
  double u[3], v[3];
  for (int k = 0; k < 3; ++k) u[k] = t[3 + k] - t[k], v[k] = t[6 + k] - t[k];
  for (int k = 0; k < 3; ++k) plane[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
  plane[3] = plane[0] * t[0] + plane[1] * t[1] + plane[2] * t[2];
}

static Tetra fanTetra(const double middle[3], const double *t) {
  Tetra tetra;
  memcpy(tetra.v[0], middle, sizeof tetra.v[0]);
  memcpy(tetra.v[1], t, 9 * sizeof(double));
  return tetra;
}

/* The planes of a tetrahedron, outward, whatever its sign. */
static void tetraPlanes(const Tetra *t, double planes[4][4]) {
  static const int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  double sign = tetraVolume(t) < 0 ? -1 : 1;
  for (int f = 0; f < 4; ++f) {
    double corners[9];
    for (int i = 0; i < 3; ++i) memcpy(corners + 3 * i, t->v[face[f][i]], 24);
    planeOf(corners, planes[f]);
    for (int k = 0; k < 4; ++k) planes[f][k] *= sign;
  }
}

double testVolumeOf(const TestBody *body) {
  double middle[3], sum = 0, *corners = cornersOf(body, middle);
  for (uint32_t t = 0; t < pnMesh_GetTriangleCount(body->mesh); ++t) {
    Tetra tetra = fanTetra(middle, corners + 9 * t);
    sum += tetraVolume(&tetra);
  }
  free(corners);
  return sum;
}

double testSharedVolume(const TestBody *a, const TestBody *b) {
  double middleA[3], middleB[3], *cornersA = cornersOf(a, middleA), *cornersB = cornersOf(b, middleB), sum = 0;
  uint32_t countA = pnMesh_GetTriangleCount(a->mesh), countB = pnMesh_GetTriangleCount(b->mesh);
  for (uint32_t j = 0; j < countB; ++j) {
    Tetra tb = fanTetra(middleB, cornersB + 9 * j);
    double planes[4][4], vb = tetraVolume(&tb);
    if (vb == 0) continue;
    tetraPlanes(&tb, planes);
    for (uint32_t i = 0; i < countA; ++i) {
      Tetra ta = fanTetra(middleA, cornersA + 9 * i);
      double va = tetraVolume(&ta);
      if (va == 0) continue;
      double shared = clippedVolume(&ta, (const double(*)[4])planes, 4);
      sum += (va < 0) == (vb < 0) ? shared : -shared;
    }
  }
  free(cornersA);
  free(cornersB);
  return sum;
}

double testSharedVolumeConvex(const TestBody *a, const TestBody *b) {
  double middleA[3], middleB[3], *cornersA = cornersOf(a, middleA), *cornersB = cornersOf(b, middleB), sum = 0;
  uint32_t countA = pnMesh_GetTriangleCount(a->mesh), countB = pnMesh_GetTriangleCount(b->mesh);
  double(*planes)[4] = malloc(sizeof(*planes) * countB);
  for (uint32_t j = 0; j < countB; ++j) planeOf(cornersB + 9 * j, planes[j]);
  for (uint32_t i = 0; i < countA; ++i) {
    Tetra ta = fanTetra(middleA, cornersA + 9 * i);
    double shared = clippedVolume(&ta, (const double(*)[4])planes, (int)countB);
    sum += tetraVolume(&ta) < 0 ? -shared : shared;
  }
  free(planes);
  free(cornersA);
  free(cornersB);
  return sum;
}

/* ---------------------------------------------------------------- points */

static double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

int testWinding(const TestBody *body, const float point[3]) {
  double middle[3], *corners = cornersOf(body, middle), sum = 0;
  for (uint32_t t = 0; t < pnMesh_GetTriangleCount(body->mesh); ++t) {
    // the solid angle of a triangle (van Oosterom, Strackee)
    double v[3][3], length[3];
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) v[i][k] = corners[9 * t + 3 * i + k] - point[k];
      length[i] = sqrt(dot(v[i], v[i]));
    }
    double determinant = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) -
                         v[0][1] * (v[1][0] * v[2][2] - v[1][2] * v[2][0]) +
                         v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
    double below = length[0] * length[1] * length[2] + dot(v[0], v[1]) * length[2] + dot(v[1], v[2]) * length[0] +
                   dot(v[2], v[0]) * length[1];
    sum += 2 * atan2(determinant, below);
  }
  free(corners);
  return (int)lround(sum / (4 * acos(-1)));
}

/* Distance to a triangle by trying its plane, its edges and its corners. */
static double triangleDistance(const double *t, const double p[3]) {
  double plane[4], best = INFINITY;
  planeOf(t, plane);
  double norm = dot(plane, plane);
  // the foot of the perpendicular counts when it is on the inner side of all edges
  if (norm > 0) {
    double s = (dot(plane, p) - plane[3]) / norm, foot[3];
    for (int k = 0; k < 3; ++k) foot[k] = p[k] - s * plane[k];
    bool inside = true;
    for (int i = 0; i < 3; ++i) {
      const double *a = t + 3 * i, *b = t + 3 * ((i + 1) % 3);
      double piece[9], side[4];
      memcpy(piece, a, 24), memcpy(piece + 3, b, 24), memcpy(piece + 6, foot, 24);
      planeOf(piece, side);
      inside = inside && dot(side, plane) >= 0;
    }
    if (inside) best = fabs(s) * sqrt(norm);
  }
  for (int i = 0; i < 3; ++i) {
    const double *a = t + 3 * i, *b = t + 3 * ((i + 1) % 3);
    double along[3], to[3], gap[3];
    for (int k = 0; k < 3; ++k) along[k] = b[k] - a[k], to[k] = p[k] - a[k];
    double length = dot(along, along), f = length > 0 ? fmin(fmax(dot(to, along) / length, 0), 1) : 0;
    for (int k = 0; k < 3; ++k) gap[k] = to[k] - f * along[k];
    best = fmin(best, sqrt(dot(gap, gap)));
  }
  return best;
}

double testDistance(const TestBody *body, const float point[3]) {
  double middle[3], *corners = cornersOf(body, middle), best = INFINITY, p[3] = {point[0], point[1], point[2]};
  for (uint32_t t = 0; t < pnMesh_GetTriangleCount(body->mesh); ++t)
    best = fmin(best, triangleDistance(corners + 9 * t, p));
  free(corners);
  return best;
}
