/* shapes.c: meshes made by formula: icosphere, box, grid, torus, knot.
 *
 * Same bits on every machine: only +, -, *, / and sqrt in double, which IEEE 754 fixes, then one rounding to float.
 * Sine and cosine are ours (turn, below), because those of the C library differ between libraries.
 *
 * Vertices are shared where faces meet, by counting and never by comparing positions, so every shape but the grid is
 * closed; corners run counter-clockwise seen from outside. */
#include "base/memory.h"

#include "base/fenv.h"
#include "mesh/mesh.h"

#include <float.h>
#include <math.h>

/* ---------------------------------------------------------------- collecting vertices and triangles */

typedef struct Builder {
  float *vertices;
  uint32_t *triangles;
  uint64_t vertexCount, triangleCount; /* in the end */
  uint64_t vertexAt, triangleAt;       /* so far */
} Builder;

/* Room for that many; an error when there is no memory or a mesh cannot have so many. */
static pnResult beginShape(Builder *b, const char *name, uint64_t vertexCount, uint64_t triangleCount) {
  *b = (Builder){.vertexCount = vertexCount, .triangleCount = triangleCount};
  if (triangleCount > (UINT32_MAX - 1) / 3 || vertexCount > UINT32_MAX - 1)
    return pn_fail(PN_ERROR_COUNT, "%s: more triangles than a mesh can have (%u)", name, (UINT32_MAX - 1) / 3);
  b->vertices = pn_alloc(pn_bytes((size_t)vertexCount, 3 * sizeof(float)));
  b->triangles = pn_alloc(pn_bytes((size_t)triangleCount, 3 * sizeof(uint32_t)));
  if (!b->vertices || !b->triangles)
    return pn_fail(PN_ERROR_MEMORY, "%s: out of memory for %u triangles", name, (uint32_t)triangleCount);
  return PN_OK;
}

/* Makes the mesh when all went well, and frees the arrays either way. */
static pnResult endShape(Builder *b, pnResult result, const char *name, pnMesh **outMesh) {
  if (result == PN_OK) {
    PN_ASSERT(b->vertexAt == b->vertexCount && b->triangleAt == b->triangleCount);
    pnMeshDef def = pnDefaultMeshDef();
    def.vertices = b->vertices;
    def.vertexCount = (uint32_t)b->vertexCount;
    def.triangles = b->triangles;
    def.triangleCount = (uint32_t)b->triangleCount;
    def.weld = false;
    def.name = name;
    result = pnCreateMesh(&def, outMesh);
  }
  pn_free(b->vertices, pn_bytes((size_t)b->vertexCount, 3 * sizeof(float)));
  pn_free(b->triangles, pn_bytes((size_t)b->triangleCount, 3 * sizeof(uint32_t)));
  return result;
}

static void addVertex(Builder *b, double x, double y, double z) {
  float *p = b->vertices + 3 * b->vertexAt++;
  p[0] = (float)x;
  p[1] = (float)y;
  p[2] = (float)z;
}

static void addTriangle(Builder *b, uint32_t i, uint32_t j, uint32_t k) {
  uint32_t *t = b->triangles + 3 * b->triangleAt++;
  t[0] = i;
  t[1] = j;
  t[2] = k;
}

/* Two triangles for the quad with these corners in counter-clockwise order. */
static void addQuad(Builder *b, uint32_t i, uint32_t j, uint32_t k, uint32_t l) {
  addTriangle(b, i, j, k);
  addTriangle(b, i, k, l);
}

static bool isLength(float x) {
  return x > 0 && x <= FLT_MAX;
}

/* ---------------------------------------------------------------- sine and cosine of a fraction of a turn */

typedef struct Angle {
  double cos, sin;
} Angle;

/* The angle of i/n full turns. The turn is cut into eighths in integers, so that i = n/4 is exactly (0, 1) and mirrored
 * fractions have mirrored values; within an eighth the Taylor series is summed until its next term is below 2^-56. */
static Angle turn(uint64_t i, uint64_t n) {
  i %= n;
  uint64_t eighth = 8 * i / n, rest = 8 * i % n;
  bool mirrored = eighth % 2 == 1; // measure from the nearer axis
  if (mirrored) rest = n - rest;
  double x = (double)rest / (double)n * 0.78539816339744830962; // 1/8 turn = pi/4

  // (pi/4)^19 / 19! and (pi/4)^18 / 18! are below 2^-56
  double y = x * x, sine = 1, cosine = 1;
  for (int k = 17; k >= 3; k -= 2) sine = 1 - sine * y / (double)(k * (k - 1));
  for (int k = 16; k >= 2; k -= 2) cosine = 1 - cosine * y / (double)(k * (k - 1));
  sine *= x;

  // unmirror, then turn by quarters; "0 - x" and not "-x", so that no zero is negative
  Angle a = mirrored ? (Angle){sine, cosine} : (Angle){cosine, sine};
  switch (eighth / 2) {
    case 0: return a;
    case 1: return (Angle){0 - a.sin, a.cos};
    case 2: return (Angle){0 - a.cos, 0 - a.sin};
    default: return (Angle){a.sin, 0 - a.cos};
  }
}

/* ---------------------------------------------------------------- icosphere */

/* One level of subdivision. Edges have numbers so that the two triangles at an edge find the same midpoint without a
 * search: the midpoint of edge e is vertex vertexCount + e. */
typedef struct Level {
  uint32_t vertexCount, edgeCount, triangleCount;
  uint32_t *triangles;     /* 3 corners */
  uint32_t *triangleEdges; /* 3: edge k runs from corner k to corner k+1 */
  uint32_t *edgeStarts;    /* the end of each edge that its first half touches */
} Level;

/* Counts are set, arrays are not. */
static pnResult allocLevel(Level *level) {
  size_t corners = pn_bytes(level->triangleCount, 3 * sizeof(uint32_t));
  level->triangles = pn_alloc(corners);
  level->triangleEdges = pn_alloc(corners);
  level->edgeStarts = pn_alloc(pn_bytes(level->edgeCount, sizeof(uint32_t)));
  if (level->triangles && level->triangleEdges && level->edgeStarts) return PN_OK;
  return pn_fail(PN_ERROR_MEMORY, "icosphere: out of memory for %u triangles", level->triangleCount);
}

static void freeLevel(Level *level) {
  size_t corners = pn_bytes(level->triangleCount, 3 * sizeof(uint32_t));
  pn_free(level->triangles, corners);
  pn_free(level->triangleEdges, corners);
  pn_free(level->edgeStarts, pn_bytes(level->edgeCount, sizeof(uint32_t)));
  *level = (Level){0};
}

static void setUnit(double *p, double x, double y, double z) {
  double length = sqrt((x * x + y * y) + z * z);
  p[0] = x / length;
  p[1] = y / length;
  p[2] = z / length;
}

/* The icosahedron: corners (0, ±1, ±g) and their rotations, g the golden ratio; edges are the pairs at distance 2,
 * triangles the triples of edges. */
static void fillIcosahedron(Level *level, double *points) {
  const double g = (1 + sqrt(5.0)) / 2;
  double c[12][3];
  for (int i = 0; i < 12; ++i) {
    int axis = i / 4;
    c[i][axis] = 0;
    c[i][(axis + 1) % 3] = i & 1 ? -1 : 1;
    c[i][(axis + 2) % 3] = i & 2 ? -g : g;
    setUnit(points + 3 * i, c[i][0], c[i][1], c[i][2]);
  }

  // corners that are not joined by an edge are at least 2 g = 3.2 apart
  uint32_t edges[12][12], edgeCount = 0;
  for (uint32_t i = 0; i < 12; ++i)
    for (uint32_t j = 0; j < 12; ++j) {
      double x = c[i][0] - c[j][0], y = c[i][1] - c[j][1], z = c[i][2] - c[j][2];
      bool joined = i != j && x * x + y * y + z * z < 5;
      edges[i][j] = !joined ? PN_NONE : j < i ? edges[j][i] : edgeCount;
      if (joined && i < j) level->edgeStarts[edgeCount++] = i;
    }

  // triangles, turned so that their determinant is positive: counter-clockwise seen from outside
  uint32_t t = 0;
  for (uint32_t i = 0; i < 12; ++i)
    for (uint32_t j = i + 1; j < 12; ++j)
      for (uint32_t k = j + 1; k < 12; ++k) {
        if (edges[i][j] == PN_NONE || edges[j][k] == PN_NONE || edges[k][i] == PN_NONE) continue;
        double det = c[i][0] * (c[j][1] * c[k][2] - c[j][2] * c[k][1]) +
                     c[i][1] * (c[j][2] * c[k][0] - c[j][0] * c[k][2]) +
                     c[i][2] * (c[j][0] * c[k][1] - c[j][1] * c[k][0]);
        uint32_t corners[3] = {i, det > 0 ? j : k, det > 0 ? k : j};
        for (int n = 0; n < 3; ++n) {
          level->triangles[3 * t + n] = corners[n];
          level->triangleEdges[3 * t + n] = edges[corners[n]][corners[(n + 1) % 3]];
        }
        ++t;
      }
}

static void setTriangle(Level *level, uint32_t t, const uint32_t corners[3], const uint32_t edges[3]) {
  for (uint32_t k = 0; k < 3; ++k) {
    level->triangles[3 * (size_t)t + k] = corners[k];
    level->triangleEdges[3 * (size_t)t + k] = edges[k];
  }
}

/* Every triangle becomes four. Edge e becomes 2e (at its start) and 2e+1; triangle t adds the edges 2E+3t+k that cut off
 * its corner k. */
static void subdivide(const Level *old, Level *fresh, double *points) {
  for (uint32_t e = 0; e < old->edgeCount; ++e) {
    fresh->edgeStarts[2 * e] = old->edgeStarts[e];
    fresh->edgeStarts[2 * e + 1] = old->vertexCount + e;
  }
  for (uint32_t t = 0; t < old->triangleCount; ++t) {
    const uint32_t *corner = old->triangles + 3 * (size_t)t, *edge = old->triangleEdges + 3 * (size_t)t;
    uint32_t mid[3], cut[3];
    for (uint32_t k = 0; k < 3; ++k) {
      mid[k] = old->vertexCount + edge[k];
      cut[k] = 2 * old->edgeCount + 3 * t + k;
      fresh->edgeStarts[cut[k]] = mid[k];
      const double *a = points + 3 * (size_t)corner[k], *b = points + 3 * (size_t)corner[(k + 1) % 3];
      // of the two triangles at this edge one runs from its start: that one makes the midpoint
      if (old->edgeStarts[edge[k]] == corner[k])
        setUnit(points + 3 * (size_t)mid[k], a[0] + b[0], a[1] + b[1], a[2] + b[2]);
    }
    for (uint32_t k = 0; k < 3; ++k) {
      uint32_t p = (k + 2) % 3;
      uint32_t outHalf = 2 * edge[k] + (old->edgeStarts[edge[k]] != corner[k]);
      uint32_t inHalf = 2 * edge[p] + (old->edgeStarts[edge[p]] != corner[k]);
      setTriangle(fresh, 4 * t + k, (uint32_t[]){corner[k], mid[k], mid[p]}, (uint32_t[]){outHalf, cut[k], inHalf});
    }
    setTriangle(fresh, 4 * t + 3, mid, (uint32_t[]){cut[1], cut[2], cut[0]});
  }
}

pnResult pnMakeIcosphere(uint32_t subdivisions, float radius, pnMesh **outMesh) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(outMesh);
  *outMesh = NULL;
  // 20 * 4^13 triangles are the most whose corners 32 bits can count
  if (subdivisions > 13 || !isLength(radius))
    return pn_fail(PN_ERROR_ARGUMENT, "icosphere: %u subdivisions (at most 13), radius %g (positive)", subdivisions,
                   (double)radius);
  uint64_t vertexCount = ((uint64_t)10 << 2 * subdivisions) + 2;
  Builder b;
  Level level = {.vertexCount = 12, .edgeCount = 30, .triangleCount = 20}, fresh = {0};
  size_t pointBytes = pn_bytes((size_t)vertexCount, 3 * sizeof(double));
  double *points = pn_alloc(pointBytes);
  pnResult result = beginShape(&b, "icosphere", vertexCount, (uint64_t)20 << 2 * subdivisions);
  if (!points) result = pn_failMemory(pointBytes);
  if (result == PN_OK) result = allocLevel(&level);
  if (result == PN_OK) fillIcosahedron(&level, points);

  for (uint32_t i = 0; i < subdivisions && result == PN_OK; ++i) {
    fresh = (Level){.vertexCount = level.vertexCount + level.edgeCount,
                    .edgeCount = 2 * level.edgeCount + 3 * level.triangleCount,
                    .triangleCount = 4 * level.triangleCount};
    result = allocLevel(&fresh);
    if (result == PN_OK) subdivide(&level, &fresh, points);
    freeLevel(&level);
    level = fresh;
  }
  for (uint64_t v = 0; v < vertexCount && result == PN_OK; ++v)
    addVertex(&b, radius * points[3 * v], radius * points[3 * v + 1], radius * points[3 * v + 2]);
  for (uint64_t t = 0; t < level.triangleCount && result == PN_OK; ++t)
    addTriangle(&b, level.triangles[3 * t], level.triangles[3 * t + 1], level.triangles[3 * t + 2]);

  freeLevel(&level);
  pn_free(points, pointBytes);
  return endShape(&b, result, "icosphere", outMesh);
}

/* ---------------------------------------------------------------- box */

/* Number of the surface point (i, j, k) of a lattice of n cells a side: the bottom layer row by row, then the rims of
 * the layers between, then the top layer. */
static uint32_t boxVertex(uint64_t n, uint64_t i, uint64_t j, uint64_t k) {
  uint64_t layer = (n + 1) * (n + 1), rim;
  if (k == 0) return (uint32_t)(j * (n + 1) + i);
  if (k == n) return (uint32_t)(layer + (n - 1) * 4 * n + j * (n + 1) + i);
  if (j == 0 && i < n) rim = i;
  else if (i == n && j < n) rim = n + j;
  else if (j == n && i > 0) rim = 3 * n - i;
  else rim = 4 * n - j;
  return (uint32_t)(layer + (k - 1) * 4 * n + rim);
}

/* The vertex of a face: its two running axes are the ones after `axis`. */
static uint32_t boxFaceVertex(uint64_t n, int axis, bool top, uint64_t u, uint64_t v) {
  uint64_t at[3];
  at[axis] = top ? n : 0;
  at[(axis + 1) % 3] = u;
  at[(axis + 2) % 3] = v;
  return boxVertex(n, at[0], at[1], at[2]);
}

/* Vertices in the order of boxVertex. */
static void addBoxVertices(Builder *b, uint64_t n, pnVec3 half) {
  for (uint64_t k = 0; k <= n; ++k)
    for (uint64_t j = 0; j <= n; ++j) {
      // rows inside the box have only their two ends on the surface
      uint64_t step = k > 0 && k < n && j > 0 && j < n ? n : 1;
      for (uint64_t i = 0; i <= n; i += step) {
        // -1 ... 1, symmetric because the numerator is exact
        double x = (2 * (double)i - (double)n) / (double)n;
        double y = (2 * (double)j - (double)n) / (double)n;
        double z = (2 * (double)k - (double)n) / (double)n;
        float *p = b->vertices + 3 * (size_t)boxVertex(n, i, j, k);
        p[0] = (float)(half.x * x);
        p[1] = (float)(half.y * y);
        p[2] = (float)(half.z * z);
        ++b->vertexAt;
      }
    }
}

pnResult pnMakeBox(pnVec3 halfSize, uint32_t cellsPerSide, pnMesh **outMesh) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(outMesh);
  *outMesh = NULL;
  if (cellsPerSide == 0 || !isLength(halfSize.x) || !isLength(halfSize.y) || !isLength(halfSize.z))
    return pn_fail(PN_ERROR_ARGUMENT, "box: half sizes (%g, %g, %g) and %u cells must be positive", (double)halfSize.x,
                   (double)halfSize.y, (double)halfSize.z, cellsPerSide);
  // more cells than that are refused by their count; this keeps the products below from wrapping
  uint64_t n = PN_MIN(cellsPerSide, UINT32_C(1) << 20);
  Builder b;
  pnResult result = beginShape(&b, "box", 6 * n * n + 2, 12 * n * n);
  if (result == PN_OK) {
    addBoxVertices(&b, n, halfSize);
    // six faces; the bottom ones run the other way round
    for (int face = 0; face < 6; ++face) {
      int axis = face / 2;
      bool top = face % 2 == 1;
      for (uint64_t v = 0; v < n; ++v)
        for (uint64_t u = 0; u < n; ++u) {
          uint32_t i = boxFaceVertex(n, axis, top, u, v), j = boxFaceVertex(n, axis, top, u + 1, v);
          uint32_t k = boxFaceVertex(n, axis, top, u + 1, v + 1), l = boxFaceVertex(n, axis, top, u, v + 1);
          addQuad(&b, i, top ? j : l, k, top ? l : j);
        }
    }
  }
  return endShape(&b, result, "box", outMesh);
}

/* ---------------------------------------------------------------- grid */

pnResult pnMakeGrid(float width, float depth, uint32_t columns, uint32_t rows, pnMesh **outMesh) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(outMesh);
  *outMesh = NULL;
  if (columns == 0 || rows == 0 || !isLength(width) || !isLength(depth))
    return pn_fail(PN_ERROR_ARGUMENT, "grid: %g by %g in %u by %u cells; all must be positive", (double)width,
                   (double)depth, columns, rows);
  uint64_t nx = columns, ny = rows;
  Builder b;
  pnResult result = beginShape(&b, "grid", (nx + 1) * (ny + 1), PN_MIN(nx * ny, UINT32_MAX) * 2);
  if (result == PN_OK) {
    for (uint64_t j = 0; j <= ny; ++j)
      for (uint64_t i = 0; i <= nx; ++i)
        addVertex(&b, 0.5 * width * ((2 * (double)i - (double)nx) / (double)nx),
                  0.5 * depth * ((2 * (double)j - (double)ny) / (double)ny), 0);
    for (uint64_t j = 0; j < ny; ++j)
      for (uint64_t i = 0; i < nx; ++i) {
        uint32_t v = (uint32_t)(j * (nx + 1) + i);
        addQuad(&b, v, v + 1, v + columns + 2, v + columns + 1);
      }
  }
  return endShape(&b, result, "grid", outMesh);
}

/* ---------------------------------------------------------------- torus and knot */

/* A closed tube of around * across vertices, row by row: joins the last row to the first and each row to itself. */
static void addTubeTriangles(Builder *b, uint32_t around, uint32_t across) {
  for (uint32_t i = 0; i < around; ++i)
    for (uint32_t j = 0; j < across; ++j) {
      uint32_t row = i * across, next = (i + 1) % around * across, k = (j + 1) % across;
      addQuad(b, row + j, next + j, next + k, row + k);
    }
}

pnResult pnMakeTorus(float ring, float tube, uint32_t around, uint32_t across, pnMesh **outMesh) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(outMesh);
  *outMesh = NULL;
  if (around < 3 || across < 3 || !isLength(ring) || !isLength(tube))
    return pn_fail(PN_ERROR_ARGUMENT, "torus: radii %g and %g must be positive, %u around and %u across at least 3",
                   (double)ring, (double)tube, around, across);
  uint64_t vertexCount = (uint64_t)around * across;
  Builder b;
  pnResult result = beginShape(&b, "torus", vertexCount, PN_MIN(vertexCount, UINT32_MAX) * 2);
  if (result == PN_OK) {
    for (uint32_t i = 0; i < around; ++i) {
      Angle u = turn(i, around);
      for (uint32_t j = 0; j < across; ++j) {
        Angle v = turn(j, across);
        double reach = ring + tube * v.cos;
        addVertex(&b, reach * u.cos, reach * u.sin, tube * v.sin);
      }
    }
    addTubeTriangles(&b, around, across);
  }
  return endShape(&b, result, "torus", outMesh);
}

static uint32_t greatestCommonDivisor(uint32_t a, uint32_t b) {
  while (b != 0) {
    uint32_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* One row of the tube around the (p, q) torus knot, at i/around of its length.
 *
 * The knot lies on a torus of radii R and r = R/2, at angle v around the axis and u around the tube of that torus:
 *   C = ((R + r cos u) cos v, (R + r cos u) sin v, r sin u),   v = p * turn, u = q * turn.
 * The normal N of that torus is at right angles to the knot everywhere, so N, T and B = N x T are a frame that needs
 * no integration and comes back to itself after one round, exactly: the last row joins the first without a twist. */
static void addKnotRow(Builder *b, Angle u, Angle v, double p, double q, double radius, double tube, uint32_t across) {
  const double r = radius / 2, reach = radius + r * u.cos;
  double normal[3] = {u.cos * v.cos, u.cos * v.sin, u.sin};
  double tangent[3];
  setUnit(tangent, q * r * (0 - u.sin * v.cos) - p * reach * v.sin, q * r * (0 - u.sin * v.sin) + p * reach * v.cos,
          q * r * u.cos);
  double side[3];
  setUnit(side, normal[1] * tangent[2] - normal[2] * tangent[1], normal[2] * tangent[0] - normal[0] * tangent[2],
          normal[0] * tangent[1] - normal[1] * tangent[0]);
  double centre[3] = {reach * v.cos, reach * v.sin, r * u.sin};
  for (uint32_t j = 0; j < across; ++j) {
    Angle a = turn(j, across);
    double x[3];
    for (int k = 0; k < 3; ++k) x[k] = centre[k] + tube * (a.cos * normal[k] + a.sin * side[k]);
    addVertex(b, x[0], x[1], x[2]);
  }
}

pnResult pnMakeKnot(uint32_t p, uint32_t q, float radius, float tube, uint32_t around, uint32_t across,
                    pnMesh **outMesh) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(outMesh);
  *outMesh = NULL;
  if (around < 3 || across < 3 || !isLength(radius) || !isLength(tube))
    return pn_fail(PN_ERROR_ARGUMENT, "knot: radii %g and %g must be positive, %u around and %u across at least 3",
                   (double)radius, (double)tube, around, across);
  if (p == 0 || q == 0 || greatestCommonDivisor(p, q) != 1)
    return pn_fail(PN_ERROR_ARGUMENT, "knot: (%u, %u) is not a knot; both must be positive without a common divisor", p,
                   q);
  uint64_t vertexCount = (uint64_t)around * across;
  Builder b;
  pnResult result = beginShape(&b, "knot", vertexCount, PN_MIN(vertexCount, UINT32_MAX) * 2);
  if (result == PN_OK) {
    for (uint64_t i = 0; i < around; ++i)
      addKnotRow(&b, turn(q * i, around), turn(p * i, around), p, q, radius, tube, across);
    addTubeTriangles(&b, around, across);
  }
  return endShape(&b, result, "knot", outMesh);
}
