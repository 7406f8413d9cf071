/* test_mesh_shapes.c: the shapes by formula: counts, closed, outward, the right size, the same bits everywhere, and
 * arguments that are refused. */
#include "support.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "pinch/mesh.h"

/* ---------------------------------------------------------------- helpers */

/* Volume inside, positive when the triangles run counter-clockwise seen from outside. */
static double signedVolume(const pnMesh *mesh) {
  const float *vertices = pnMesh_GetVertices(mesh);
  const uint32_t *triangles = pnMesh_GetTriangles(mesh);
  double sum = 0;
  for (uint32_t t = 0; t < pnMesh_GetTriangleCount(mesh); ++t) {
    const float *a = vertices + 3 * (size_t)triangles[3 * t], *b = vertices + 3 * (size_t)triangles[3 * t + 1],
                *c = vertices + 3 * (size_t)triangles[3 * t + 2];
    sum += (double)a[0] * ((double)b[1] * c[2] - (double)b[2] * c[1]) +
           (double)a[1] * ((double)b[2] * c[0] - (double)b[0] * c[2]) +
           (double)a[2] * ((double)b[0] * c[1] - (double)b[1] * c[0]);
  }
  return sum / 6;
}

/* Vertices minus edges plus triangles: 2 for a sphere, 0 for a torus. Each edge of a closed manifold has two. */
static int64_t eulerNumber(const pnMesh *mesh) {
  int64_t triangles = pnMesh_GetTriangleCount(mesh);
  return (int64_t)pnMesh_GetVertexCount(mesh) - 3 * triangles / 2 + triangles;
}

static uint64_t hashBytes(uint64_t hash, const void *bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
  return hash;
}

/* Over the numbers, least byte first on every machine we build for. */
static uint64_t hashMesh(const pnMesh *mesh) {
  uint64_t hash = 0xcbf29ce484222325u;
  hash = hashBytes(hash, pnMesh_GetVertices(mesh), 12 * (size_t)pnMesh_GetVertexCount(mesh));
  return hashBytes(hash, pnMesh_GetTriangles(mesh), 12 * (size_t)pnMesh_GetTriangleCount(mesh));
}

/* Checks what every closed shape promises, and destroys it. */
static void checkSolid(pnMesh *mesh, uint32_t triangleCount, int64_t euler, double volume, double tolerance) {
  assert_int_equal(pnMesh_GetTriangleCount(mesh), triangleCount);
  assert_int_equal(eulerNumber(mesh), euler);
  pnMeshInfo info;
  testExpectOk(pnMesh_Validate(mesh, &info));
  assert_true(info.closed && info.manifold && info.oriented);
  assert_int_equal(info.componentCount, 1);
  assert_int_equal(info.degenerateCount, 0);
  assert_int_equal(info.unusedVertexCount, 0);
  double found = signedVolume(mesh);
  if (!(fabs(found - volume) <= tolerance * volume)) fail_msg("volume %.9g, expected %.9g", found, volume);

  // no two vertices in one place: welding by position changes nothing
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = pnMesh_GetVertices(mesh);
  def.vertexCount = pnMesh_GetVertexCount(mesh);
  pnMesh *points;
  testExpectOk(pnCreateMesh(&def, &points));
  for (uint32_t v = 0; v < def.vertexCount; ++v) assert_int_equal(pnMesh_GetWeld(points)[v], v);
  pnDestroyMesh(points);
  pnDestroyMesh(mesh);
}

static const double s_pi = 3.14159265358979323846;

/* ---------------------------------------------------------------- each shape */

static void icosphereIsASphere(void **state) {
  (void)state;
  double lastVolume = 0;
  for (uint32_t n = 0; n <= 6; ++n) {
    pnMesh *mesh;
    testExpectOk(pnMakeIcosphere(n, 2.5f, &mesh));
    assert_int_equal(pnMesh_GetVertexCount(mesh), (10u << 2 * n) + 2);
    const float *p = pnMesh_GetVertices(mesh);
    for (uint32_t v = 0; v < pnMesh_GetVertexCount(mesh); ++v, p += 3) {
      double r = sqrt((double)p[0] * p[0] + (double)p[1] * p[1] + (double)p[2] * p[2]);
      assert_true(fabs(r - 2.5) < 5e-7);
    }
    // the volume grows towards the sphere's, four times nearer with every level
    double sphere = 4.0 / 3 * s_pi * 2.5 * 2.5 * 2.5, volume = signedVolume(mesh);
    assert_true(volume > lastVolume && volume < sphere);
    lastVolume = volume;
    checkSolid(mesh, 20u << 2 * n, 2, sphere, 0.56 / (double)(1u << 2 * n));
  }
}

static void boxIsABox(void **state) {
  (void)state;
  const uint32_t cells[] = {1, 2, 3, 4, 7, 20};
  for (int i = 0; i < 6; ++i) {
    uint32_t n = cells[i];
    pnMesh *mesh;
    testExpectOk(pnMakeBox((pnVec3){1, 2, 3.5f}, n, &mesh));
    assert_int_equal(pnMesh_GetVertexCount(mesh), 6 * n * n + 2);
    const float *p = pnMesh_GetVertices(mesh);
    for (uint32_t v = 0; v < pnMesh_GetVertexCount(mesh); ++v, p += 3) {
      // every vertex is on a face, exactly, and none is outside
      assert_true(fabsf(p[0]) == 1 || fabsf(p[1]) == 2 || fabsf(p[2]) == 3.5f);
      assert_true(fabsf(p[0]) <= 1 && fabsf(p[1]) <= 2 && fabsf(p[2]) <= 3.5f);
    }
    checkSolid(mesh, 12 * n * n, 2, 8 * 7, 1e-6);
  }
}

static void gridIsOpen(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeGrid(4, 2, 8, 3, &mesh));
  assert_int_equal(pnMesh_GetVertexCount(mesh), 9 * 4);
  assert_int_equal(pnMesh_GetTriangleCount(mesh), 2 * 8 * 3);
  pnMeshInfo info;
  testExpectOk(pnMesh_Validate(mesh, &info));
  assert_true(!info.closed && info.manifold && info.oriented);
  assert_int_equal(info.openEdgeCount, 2 * (8 + 3));
  assert_int_equal(info.degenerateCount, 0);
  assert_true(info.box.min.x == -2 && info.box.max.x == 2 && info.box.min.y == -1 && info.box.max.y == 1);
  assert_true(info.box.min.z == 0 && info.box.max.z == 0);
  // vertex number row * (columns + 1) + column, and every triangle faces +z
  const float *p = pnMesh_GetVertices(mesh);
  assert_true(p[3 * (9 + 1)] == -1.5f && p[3 * (9 + 1) + 1] == -1.0f / 3);
  for (uint32_t t = 0; t < 48; ++t) {
    const uint32_t *c = pnMesh_GetTriangles(mesh) + 3 * t;
    const float *a = p + 3 * c[0], *b = p + 3 * c[1], *d = p + 3 * c[2];
    assert_true((b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0]) > 0);
  }
  pnDestroyMesh(mesh);
}

static void torusIsATorus(void **state) {
  (void)state;
  const uint32_t counts[][2] = {{3, 3}, {4, 5}, {17, 3}, {100, 60}};
  for (int i = 0; i < 4; ++i) {
    uint32_t around = counts[i][0], across = counts[i][1];
    pnMesh *mesh;
    testExpectOk(pnMakeTorus(3, 1, around, across, &mesh));
    assert_int_equal(pnMesh_GetVertexCount(mesh), around * across);
    const float *p = pnMesh_GetVertices(mesh);
    for (uint32_t v = 0; v < around * across; ++v, p += 3) {
      double reach = sqrt((double)p[0] * p[0] + (double)p[1] * p[1]) - 3;
      assert_true(fabs(sqrt(reach * reach + (double)p[2] * p[2]) - 1) < 1e-6);
      // our sine against the library's
      double u = 2 * s_pi * (v / across) / around, w = 2 * s_pi * (v % across) / across;
      assert_true(fabs(p[0] - (3 + cos(w)) * cos(u)) < 3e-7 && fabs(p[1] - (3 + cos(w)) * sin(u)) < 3e-7);
      assert_true(fabs(p[2] - sin(w)) < 1e-7);
    }
    checkSolid(mesh, 2 * around * across, 0, 2 * s_pi * s_pi * 3, i == 3 ? 0.005 : 0.9);
  }
}

/* Length of the knot's centre line by many small steps. */
static double knotLength(double p, double q, double radius) {
  enum { STEPS = 100000 };
  double length = 0, last[3] = {1.5 * radius, 0, 0};
  for (int i = 1; i <= STEPS; ++i) {
    double f = 2 * s_pi * i / STEPS, reach = radius + radius / 2 * cos(q * f);
    double at[3] = {reach * cos(p * f), reach * sin(p * f), radius / 2 * sin(q * f)};
    length += sqrt((at[0] - last[0]) * (at[0] - last[0]) + (at[1] - last[1]) * (at[1] - last[1]) +
                   (at[2] - last[2]) * (at[2] - last[2]));
    memcpy(last, at, sizeof last);
  }
  return length;
}

static void knotIsATube(void **state) {
  (void)state;
  const uint32_t kinds[][2] = {{2, 3}, {3, 2}, {1, 1}, {2, 5}, {3, 7}, {1, 4}};
  for (int i = 0; i < 6; ++i) {
    uint32_t p = kinds[i][0], q = kinds[i][1], around = 900, across = 24;
    const float radius = 2, tube = 0.1f;
    pnMesh *mesh;
    testExpectOk(pnMakeKnot(p, q, radius, tube, around, across, &mesh));
    assert_int_equal(pnMesh_GetVertexCount(mesh), around * across);
    const float *v = pnMesh_GetVertices(mesh);
    for (uint32_t row = 0; row < around; ++row) {
      double f = 2 * s_pi * row / around, reach = radius + radius / 2 * cos(q * f);
      double centre[3] = {reach * cos(p * f), reach * sin(p * f), radius / 2 * sin(q * f)};
      for (uint32_t j = 0; j < across; ++j, v += 3) {
        double x = v[0] - centre[0], y = v[1] - centre[1], z = v[2] - centre[2];
        assert_true(fabs(sqrt(x * x + y * y + z * z) - tube) < 1e-6);
      }
    }
    // a tube's volume is its length times its cross-section, bent or not
    double section = 0.5 * across * sin(2 * s_pi / across) * tube * tube;
    checkSolid(mesh, 2 * around * across, 0, knotLength(p, q, radius) * section, 0.002);
  }
}

/* Rows follow each other without a twist, over the seam as everywhere: corresponding vertices of neighbouring rows are
 * not much farther apart than the rows. */
static void knotClosesWithoutATwist(void **state) {
  (void)state;
  const uint32_t around = 600, across = 16;
  pnMesh *mesh;
  testExpectOk(pnMakeKnot(2, 3, 1, 0.15f, around, across, &mesh));
  const float *v = pnMesh_GetVertices(mesh);
  const double step = knotLength(2, 3, 1) / around;
  for (uint32_t i = 0; i < around; ++i)
    for (uint32_t j = 0; j < across; ++j) {
      const float *a = v + 3 * (i * across + j), *b = v + 3 * ((i + 1) % around * across + j);
      double x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
      assert_true(sqrt(x * x + y * y + z * z) < 1.6 * step);
    }
  pnDestroyMesh(mesh);
}

/* ---------------------------------------------------------------- bits and refusals */

/* Made once on ARM; the same on x86 and with every compiler, or the formulas are not what they say. */
static void bitsAreTheSameEverywhere(void **state) {
  (void)state;
  const uint64_t expected[] = {0x75e4e42109f32579, 0x6ba579c9c063eea1, 0x4030e2da7fabdd80,
                               0x83166f848b15e8d1, 0x096ae0f96c4f06b9, 0xbff1d0a0623e504c};
  pnMesh *meshes[6];
  testExpectOk(pnMakeIcosphere(4, 1.7f, &meshes[0]));
  testExpectOk(pnMakeBox((pnVec3){0.3f, 1.1f, 2.7f}, 13, &meshes[1]));
  testExpectOk(pnMakeGrid(1.3f, 0.7f, 31, 17, &meshes[2]));
  testExpectOk(pnMakeTorus(1.9f, 0.6f, 97, 41, &meshes[3]));
  testExpectOk(pnMakeKnot(2, 3, 1.1f, 0.21f, 251, 19, &meshes[4]));
  testExpectOk(pnMakeKnot(3, 5, 7.3f, 0.4f, 400, 12, &meshes[5]));
  int wrong = 0;
  for (int i = 0; i < 6; ++i) {
    uint64_t hash = hashMesh(meshes[i]);
    pnDestroyMesh(meshes[i]);
    if (hash == expected[i]) continue;
    print_error("shape %d: 0x%016llx\n", i, (unsigned long long)hash);
    ++wrong;
  }
  assert_int_equal(wrong, 0);
}

static void badArgumentsAreRefused(void **state) {
  (void)state;
  pnMesh *mesh;
  const float bad[] = {0, -1, NAN, INFINITY};
  for (int i = 0; i < 4; ++i) {
    float x = bad[i];
    testExpectFailure(pnMakeIcosphere(2, x, &mesh), PN_ERROR_ARGUMENT, "icosphere|radius");
    testExpectFailure(pnMakeBox((pnVec3){1, x, 1}, 2, &mesh), PN_ERROR_ARGUMENT, "box");
    testExpectFailure(pnMakeGrid(1, x, 2, 2, &mesh), PN_ERROR_ARGUMENT, "grid");
    testExpectFailure(pnMakeTorus(1, x, 9, 9, &mesh), PN_ERROR_ARGUMENT, "torus");
    testExpectFailure(pnMakeKnot(2, 3, x, 1, 9, 9, &mesh), PN_ERROR_ARGUMENT, "knot");
  }
  testExpectFailure(pnMakeBox((pnVec3){1, 1, 1}, 0, &mesh), PN_ERROR_ARGUMENT, "0 cells");
  testExpectFailure(pnMakeGrid(1, 1, 0, 4, &mesh), PN_ERROR_ARGUMENT, "grid");
  testExpectFailure(pnMakeTorus(1, 1, 2, 9, &mesh), PN_ERROR_ARGUMENT, "2 around");
  testExpectFailure(pnMakeKnot(2, 3, 1, 1, 9, 2, &mesh), PN_ERROR_ARGUMENT, "2 across");
  testExpectFailure(pnMakeKnot(2, 4, 1, 1, 9, 9, &mesh), PN_ERROR_ARGUMENT, "(2, 4)|divisor");
  testExpectFailure(pnMakeKnot(0, 1, 1, 1, 9, 9, &mesh), PN_ERROR_ARGUMENT, "(0, 1)");

  // more than a mesh can have, with products that wrap
  testExpectFailure(pnMakeIcosphere(14, 1, &mesh), PN_ERROR_ARGUMENT, "14");
  testExpectFailure(pnMakeIcosphere(UINT32_MAX, 1, &mesh), PN_ERROR_ARGUMENT, "icosphere");
  testExpectFailure(pnMakeBox((pnVec3){1, 1, 1}, UINT32_MAX, &mesh), PN_ERROR_COUNT, "box");
  testExpectFailure(pnMakeGrid(1, 1, UINT32_MAX, UINT32_MAX, &mesh), PN_ERROR_COUNT, "grid");
  testExpectFailure(pnMakeTorus(1, 1, 1u << 31, 1u << 31, &mesh), PN_ERROR_COUNT, "torus");
  testExpectFailure(pnMakeKnot(2, 3, 1, 1, UINT32_MAX, UINT32_MAX, &mesh), PN_ERROR_COUNT, "knot");

  // a shape that leaves the range of float
  testExpectFailure(pnMakeTorus(FLT_MAX, FLT_MAX, 9, 9, &mesh), PN_ERROR_NUMBER, "torus");
  assert_null(mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

static pnResult makeOne(void *context) {
  pnMesh *mesh = NULL;
  pnResult result = PN_OK;
  switch (*(int *)context) {
    case 0: result = pnMakeIcosphere(2, 1, &mesh); break;
    case 1: result = pnMakeBox((pnVec3){1, 1, 1}, 2, &mesh); break;
    case 2: result = pnMakeGrid(1, 1, 2, 2, &mesh); break;
    case 3: result = pnMakeTorus(2, 1, 5, 5, &mesh); break;
    default: result = pnMakeKnot(2, 3, 2, 1, 50, 5, &mesh); break;
  }
  assert_true((mesh != NULL) == (result == PN_OK));
  pnDestroyMesh(mesh);
  return result;
}

static void shapesSurviveEveryFailure(void **state) {
  (void)state;
  for (int shape = 0; shape < 5; ++shape) {
    assert_true(testEveryAllocationFailure(makeOne, &shape, false, false) > 8);
    assert_true(testEveryAllocationFailure(makeOne, &shape, true, false) > 8);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(icosphereIsASphere),
      cmocka_unit_test(boxIsABox),
      cmocka_unit_test(gridIsOpen),
      cmocka_unit_test(torusIsATorus),
      cmocka_unit_test(knotIsATube),
      cmocka_unit_test(knotClosesWithoutATwist),
      cmocka_unit_test(bitsAreTheSameEverywhere),
      cmocka_unit_test(badArgumentsAreRefused),
      cmocka_unit_test(shapesSurviveEveryFailure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
