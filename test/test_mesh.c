/* test_mesh.c: creating meshes: what is refused and how it is said, weld, rings and neighbours against brute force,
 * shared corners, allocation failures. */
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/corners.h"
#include "mesh/mesh.h"

/* ---------------------------------------------------------------- helpers */

static const float s_square[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
static const uint32_t s_squareTriangles[] = {0, 1, 2, 0, 2, 3};

static pnMeshDef squareDef(void) {
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = s_square;
  def.vertexCount = 4;
  def.triangles = s_squareTriangles;
  def.triangleCount = 2;
  return def;
}

static void expectRefused(const pnMeshDef *def, pnResult expected, const char *words) {
  size_t before = pnGetByteCount();
  pnMesh *mesh = (pnMesh *)&before;
  testExpectFailure(pnCreateMesh(def, &mesh), expected, words);
  assert_null(mesh);
  assert_int_equal(pnGetByteCount(), before);
}

/* ---------------------------------------------------------------- definitions */

static void meshKeepsWhatItWasGiven(void **state) {
  (void)state;
  pnMeshDef def = squareDef();
  assert_true(def.weld);
  assert_string_equal(def.name, "mesh");
  char name[] = "square";
  def.name = name;
  float vertices[12];
  uint32_t triangles[6];
  memcpy(vertices, s_square, sizeof vertices);
  memcpy(triangles, s_squareTriangles, sizeof triangles);
  def.vertices = vertices;
  def.triangles = triangles;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));

  // it copied: our arrays may go
  memset(vertices, 0xff, sizeof vertices);
  memset(triangles, 0xff, sizeof triangles);
  name[0] = 0;
  assert_int_equal(pnMesh_GetVertexCount(mesh), 4);
  assert_int_equal(pnMesh_GetTriangleCount(mesh), 2);
  assert_memory_equal(pnMesh_GetVertices(mesh), s_square, sizeof s_square);
  assert_memory_equal(pnMesh_GetTriangles(mesh), s_squareTriangles, sizeof s_squareTriangles);
  assert_string_equal(pnMesh_GetName(mesh), "square");
  assert_true(mesh->box.min.x == 0 && mesh->box.max.y == 1 && mesh->box.max.z == 0);
  assert_true(mesh->maxAbs == 1);
  assert_true(mesh->vertices[12] == 0); // the readable one at the end
  pnDestroyMesh(mesh);
  pnDestroyMesh(NULL);
  assert_int_equal(pnGetByteCount(), 0);
}

static void emptyMeshesAreMeshes(void **state) {
  (void)state;
  pnMeshDef def = pnDefaultMeshDef();
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  assert_int_equal(pnMesh_GetTriangleCount(mesh), 0);
  assert_int_equal(pnMesh_GetRingOffsets(mesh)[0], 0);
  assert_true(mesh->box.min.x > mesh->box.max.x);
  pnDestroyMesh(mesh);

  // vertices without triangles: still finite ones
  def = squareDef();
  def.triangles = NULL;
  def.triangleCount = 0;
  def.name = NULL;
  testExpectOk(pnCreateMesh(&def, &mesh));
  assert_string_equal(pnMesh_GetName(mesh), "mesh");
  for (int v = 0; v <= 4; ++v) assert_int_equal(pnMesh_GetRingOffsets(mesh)[v], 0);
  assert_true(mesh->box.min.x > mesh->box.max.x);
  pnDestroyMesh(mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

static void badDefinitionsAreNamed(void **state) {
  (void)state;
  // a vertex number out of range names the triangle
  uint32_t triangles[] = {0, 1, 2, 0, 4, 3};
  pnMeshDef def = squareDef();
  def.triangles = triangles;
  def.name = "quad";
  expectRefused(&def, PN_ERROR_INDEX, "quad|triangle 1|vertex 4|4 vertices");
  triangles[4] = UINT32_MAX;
  expectRefused(&def, PN_ERROR_INDEX, "triangle 1|4294967295");

  // a number that is none names the vertex, the first one
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; ++i) {
    float vertices[12];
    memcpy(vertices, s_square, sizeof vertices);
    vertices[7] = bad[i];
    vertices[11] = NAN;
    def = squareDef();
    def.vertices = vertices;
    expectRefused(&def, PN_ERROR_NUMBER, "vertex 2|coordinate y");
  }

  // null arrays, counts nobody can have
  def = squareDef();
  def.vertices = NULL;
  expectRefused(&def, PN_ERROR_ARGUMENT, "vertices is null");
  def = squareDef();
  def.triangles = NULL;
  expectRefused(&def, PN_ERROR_ARGUMENT, "triangles is null");
  def = squareDef();
  def.triangleCount = UINT32_MAX / 3 + 1;
  expectRefused(&def, PN_ERROR_COUNT, "too many");
  def = squareDef();
  def.vertexCount = UINT32_MAX;
  expectRefused(&def, PN_ERROR_COUNT, "too many");

  // a weld that points forward, out of range, or at a vertex that does not stand for itself
  const uint32_t welds[3][4] = {{0, 2, 2, 3}, {0, 1, 9, 3}, {0, 0, 1, 3}};
  const char *words[] = {"vertexWeld[1] is 2", "vertexWeld[2] is 9", "vertexWeld[2] is 1"};
  for (int i = 0; i < 3; ++i) {
    def = squareDef();
    def.vertexWeld = welds[i];
    expectRefused(&def, PN_ERROR_INDEX, words[i]);
  }
}

static void finiteMeansFinite(void **state) {
  (void)state;
  float numbers[103];
  const float fine[] = {0, -0.0f, 1e-45f, -FLT_MAX, FLT_MAX, FLT_MIN};
  for (int i = 0; i < 103; ++i) numbers[i] = fine[i % 6];
  size_t bad = 777;
  assert_true(pn_allFinite(numbers, 103, &bad));
  assert_true(pn_allFinite(NULL, 0, &bad));
  assert_int_equal(bad, 777);
  assert_true(pn_maxAbs(numbers, 103) == FLT_MAX);
  assert_true(pn_maxAbs(numbers, 3) == 1e-45f);
  assert_true(pn_maxAbs(NULL, 0) == 0);
  // at every place, so that no lane and no tail is forgotten
  const float none[] = {NAN, -NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 103; ++i) {
    float keep = numbers[i];
    numbers[i] = none[i % 4];
    assert_false(pn_allFinite(numbers, 103, &bad));
    assert_int_equal(bad, i);
    assert_false(pn_maxAbs(numbers, 103) <= FLT_MAX);
    numbers[i] = keep;
  }
}

/* ---------------------------------------------------------------- topology against brute force */

typedef struct Random {
  float vertices[3 * 40];
  uint32_t triangles[3 * 60], weld[40];
  pnMeshDef def;
} Random;

/* A mess: few places, so that many vertices coincide (some as -0), triangles at random, repeated corners too. */
static void makeRandom(Random *r, TestRandom *random) {
  uint32_t vertexCount = 1 + testBelow(random, 39), triangleCount = testBelow(random, 60);
  uint32_t span = 1 + testBelow(random, 4);
  for (uint32_t i = 0; i < 3 * vertexCount; ++i) {
    r->vertices[i] = (float)testBelow(random, span);
    if (r->vertices[i] == 0 && testBelow(random, 2)) r->vertices[i] = -0.0f;
  }
  for (uint32_t i = 0; i < 3 * triangleCount; ++i) r->triangles[i] = testBelow(random, vertexCount);
  r->def = pnDefaultMeshDef();
  r->def.vertices = r->vertices;
  r->def.vertexCount = vertexCount;
  r->def.triangles = r->triangles;
  r->def.triangleCount = triangleCount;
  r->def.weld = testBelow(random, 3) != 0;
  if (testBelow(random, 4) == 0) {
    for (uint32_t v = 0; v < vertexCount; ++v) {
      uint32_t w = testBelow(random, v + 1);
      r->weld[v] = testBelow(random, 3) ? v : r->weld[w];
      if (w == v) r->weld[v] = v;
    }
    r->def.vertexWeld = r->weld;
  }
}

static void checkWeld(const pnMesh *mesh, const Random *r) {
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
    uint32_t expected = v;
    if (r->def.vertexWeld) {
      expected = r->def.vertexWeld[v];
    } else if (r->def.weld) {
      const float *p = r->vertices + 3 * v;
      for (expected = 0;; ++expected) {
        const float *q = r->vertices + 3 * expected;
        if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2]) break;
      }
    }
    assert_int_equal(pnMesh_GetWeld(mesh)[v], expected);
  }
}

static uint32_t corner(const pnMesh *mesh, uint32_t t, uint32_t k) {
  return mesh->weld[mesh->triangles[3 * t + k % 3]];
}

static bool isFlat(const pnMesh *mesh, uint32_t t) {
  uint32_t a = corner(mesh, t, 0), b = corner(mesh, t, 1), c = corner(mesh, t, 2);
  return a == b || b == c || c == a;
}

static void checkRings(const pnMesh *mesh) {
  const uint32_t *offsets = pnMesh_GetRingOffsets(mesh), *rings = pnMesh_GetRings(mesh);
  assert_int_equal(offsets[0], 0);
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
    uint32_t at = offsets[v];
    for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
      bool has = corner(mesh, t, 0) == v || corner(mesh, t, 1) == v || corner(mesh, t, 2) == v;
      if (!has) continue;
      assert_true(at < offsets[v + 1]);
      assert_int_equal(rings[at++], t);
    }
    assert_int_equal(at, offsets[v + 1]);
  }
  assert_int_equal(mesh->ringCount, offsets[mesh->vertexCount]);
}

/* Does triangle t have the edge between welded vertices a and b? */
static bool hasEdge(const pnMesh *mesh, uint32_t t, uint32_t a, uint32_t b) {
  if (isFlat(mesh, t)) return false;
  for (uint32_t k = 0; k < 3; ++k) {
    uint32_t c = corner(mesh, t, k), d = corner(mesh, t, k + 1);
    if ((c == a && d == b) || (c == b && d == a)) return true;
  }
  return false;
}

static void checkNeighbours(const pnMesh *mesh) {
  for (uint32_t t = 0; t < mesh->triangleCount; ++t)
    for (uint32_t k = 0; k < 3; ++k) {
      // the next triangle with this edge, going up from t and around
      uint32_t expected = PN_NONE;
      for (uint32_t step = 1; step < mesh->triangleCount && expected == PN_NONE; ++step) {
        uint32_t s = (t + step) % mesh->triangleCount;
        if (!isFlat(mesh, t) && hasEdge(mesh, s, corner(mesh, t, k), corner(mesh, t, k + 1))) expected = s;
      }
      assert_int_equal(pnMesh_GetNeighbours(mesh)[3 * t + k], expected);
    }
}

/* Is there an edge with more than two triangles, or with two that run the same way? */
static bool isCrowded(const pnMesh *mesh) {
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    for (uint32_t k = 0; k < 3 && !isFlat(mesh, t); ++k) {
      uint32_t a = corner(mesh, t, k), b = corner(mesh, t, k + 1), others = 0;
      for (uint32_t s = 0; s < mesh->triangleCount; ++s) {
        if (s == t || !hasEdge(mesh, s, a, b)) continue;
        ++others;
        for (uint32_t l = 0; l < 3; ++l)
          if (corner(mesh, s, l) == a && corner(mesh, s, l + 1) == b) return true;
      }
      if (others > 1) return true;
    }
  }
  return false;
}

/* Is corner k of s one vertex with corner l of t: welded, and at one place? */
static bool isShared(const pnMesh *mesh, uint32_t s, uint32_t k, uint32_t t, uint32_t l) {
  const float *p = mesh->vertices + 3 * (size_t)mesh->triangles[3 * s + k];
  const float *q = mesh->vertices + 3 * (size_t)mesh->triangles[3 * t + l];
  return corner(mesh, s, k) == corner(mesh, t, l) && p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

static void checkSharedCorners(const pnMesh *mesh, uint32_t s, uint32_t t) {
  uint32_t a[3], b[3], most = 0;
  const float *p[3], *q[3];
  for (uint32_t k = 0; k < 3; ++k) {
    p[k] = mesh->vertices + 3 * (size_t)mesh->triangles[3 * s + k];
    q[k] = mesh->vertices + 3 * (size_t)mesh->triangles[3 * t + k];
  }
  pn_weldedCorners(mesh, s, a);
  pn_weldedCorners(mesh, t, b);
  pnSharedCorners shared = pn_sharedOfCorners(a, b, p, q);
  // as many as can be paired at once, over the six orders of t's corners
  static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int i = 0; i < 6; ++i) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < 3; ++k) count += isShared(mesh, s, k, t, orders[i][k]);
    most = count > most ? count : most;
  }
  assert_int_equal(shared.count, most);
  for (uint32_t i = 0; i < shared.count; ++i) {
    assert_true(isShared(mesh, s, shared.a[i], t, shared.b[i]));
    for (uint32_t k = 0; k < i; ++k) assert_true(shared.a[k] < shared.a[i] && shared.b[k] != shared.b[i]);
  }
}

static void topologyAgreesWithBruteForce(void **state) {
  (void)state;
  TestRandom random = testRandom(20);
  uint32_t seen[2] = {0};
  for (int round = 0; round < 3000; ++round) {
    Random r;
    makeRandom(&r, &random);
    pnMesh *mesh;
    testExpectOk(pnCreateMesh(&r.def, &mesh));
    checkWeld(mesh, &r);
    checkRings(mesh);
    checkNeighbours(mesh);
    assert_int_equal(mesh->crowded, isCrowded(mesh));
    ++seen[mesh->crowded];
    for (int i = 0; i < 20 && mesh->triangleCount; ++i)
      checkSharedCorners(mesh, testBelow(&random, mesh->triangleCount), testBelow(&random, mesh->triangleCount));
    pnDestroyMesh(mesh);
  }
  assert_true(seen[false] > 100 && seen[true] > 100);
  assert_int_equal(pnGetByteCount(), 0);
}

/* Positions that a careless hash or comparison would confuse: subnormals, neighbours in the last bit, huge ones. */
static void weldIsByEqualNumbersOnly(void **state) {
  (void)state;
  enum { COUNT = 4000 };
  static float vertices[3 * COUNT];
  const float few[] = {0, -0.0f, 1e-45f, -1e-45f, 1, 1.0000001f, 0.99999994f, FLT_MAX, -FLT_MAX, FLT_MIN};
  TestRandom random = testRandom(21);
  for (int i = 0; i < 3 * COUNT; ++i) vertices[i] = few[testBelow(&random, 10)];
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = COUNT;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  uint32_t distinct = 0;
  for (uint32_t v = 0; v < COUNT; ++v) {
    uint32_t first = 0;
    for (;; ++first) {
      const float *p = vertices + 3 * v, *q = vertices + 3 * first;
      if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2]) break;
    }
    assert_int_equal(pnMesh_GetWeld(mesh)[v], first);
    distinct += first == v;
  }
  assert_in_range(distinct, 600, 729); // 9 different numbers in each coordinate
  pnDestroyMesh(mesh);
}

/* Points whose hashes are all the same (mesh.c, hashPoint): the first product is undone by the inverse of its factor, so that
 * x and y can be chosen for given high bits, and z then takes back the low ones. Each comes three times. */
static void collidingPointsAreNotSlow(void **state) {
  (void)state;
  enum { PLACES = 50000, COUNT = 3 * PLACES };
  const uint64_t k = 0x9e3779b97f4a7c15u;
  uint64_t inverse = k;
  for (int i = 0; i < 6; ++i) inverse *= 2 - k * inverse; // Newton: each step doubles the good bits
  float *vertices = malloc(COUNT * 3 * sizeof(float));
  uint32_t *triangles = malloc(COUNT * sizeof(uint32_t));
  for (uint32_t n = 0, low = 1; n < PLACES; ++low) {
    uint64_t product = (uint64_t)0x12345678 << 32 | low * 2654435761u, xy = product * inverse;
    uint32_t bits[3] = {(uint32_t)(xy >> 32), (uint32_t)xy, (uint32_t)(product ^ product >> 32) ^ 0x3f800000u};
    float p[3];
    memcpy(p, bits, sizeof p);
    if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) continue;
    for (size_t copy = 0; copy < 3; ++copy) memcpy(vertices + 3 * (copy * PLACES + n), p, sizeof p);
    ++n;
  }
  for (uint32_t i = 0; i < COUNT; ++i) triangles[i] = i;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = COUNT;
  def.triangles = triangles;
  def.triangleCount = COUNT / 3;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  for (uint32_t v = 0; v < COUNT; ++v) assert_int_equal(pnMesh_GetWeld(mesh)[v], v % PLACES);
  pnDestroyMesh(mesh);
  free(vertices);
  free(triangles);
}

/* One vertex and one edge with very many triangles: must not be quadratic (it would take hours). */
static void hubsAreNotSlow(void **state) {
  (void)state;
  enum { COUNT = 300000 };
  float *vertices = malloc(sizeof(float) * 3 * (COUNT + 2));
  uint32_t *triangles = malloc(sizeof(uint32_t) * 3 * COUNT);
  for (uint32_t v = 0; v < COUNT + 2; ++v) {
    vertices[3 * v] = (float)v;
    vertices[3 * v + 1] = (float)(v % 7);
    vertices[3 * v + 2] = (float)(v % 3);
  }
  for (uint32_t t = 0; t < COUNT; ++t) {
    triangles[3 * t] = 0;
    triangles[3 * t + 1] = 1;
    triangles[3 * t + 2] = t + 2;
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = COUNT + 2;
  def.triangles = triangles;
  def.triangleCount = COUNT;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  for (uint32_t t = 0; t < COUNT; ++t) assert_int_equal(mesh->neighbours[3 * t], (t + 1) % COUNT);
  pnMeshInfo info;
  testExpectOk(pnMesh_Validate(mesh, &info));
  assert_int_equal(info.nonManifoldEdgeCount, 1);
  assert_int_equal(info.openEdgeCount, 2 * COUNT + 1);
  assert_int_equal(info.firstMisorientedTriangle, 0);
  pnDestroyMesh(mesh);
  free(vertices);
  free(triangles);
}

/* ---------------------------------------------------------------- large arrays */

static bool areSame(pnBox a, pnBox b) {
  return a.min.x == b.min.x && a.min.y == b.min.y && a.min.z == b.min.z && a.max.x == b.max.x && a.max.y == b.max.y &&
         a.max.z == b.max.z;
}

/* Those are read at four places in turn: none is left out and none comes twice, wherever the places and what is behind them end. */
static void largeArraysAreLookedThrough(void **state) {
  (void)state;
  const size_t counts[] = {1, 3, 4, 6, 9, 15, 16, 100, 189, 192, 201, 4095, 4096, 4111, 4159, 4160, 5003};
  static float from[5003], to[5003 + 1];
  for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
    const size_t n = counts[c];
    for (size_t i = 0; i < n; ++i) from[i] = (i % 2 ? 1.0f : -1.0f) * (float)(i + 1);
    memset(to, 0x77, sizeof to);
    const float behind = to[n];
    const pnBox box = pn_copyNumbers(to, from, n);
    assert_true(pn_boxReach(&box) == (float)n);
    assert_memory_equal(to, from, n * sizeof(float));
    assert_memory_equal(&to[n], &behind, sizeof behind);
    for (size_t i = 0; i < n; ++i) {
      const float keep = from[i], far = i % 2 ? 1e6f : -1e6f;
      pnBox grown = box;
      from[i] = far;
      assert_true(pn_maxAbs(from, n) == 1e6f);
      if (n % 3 == 0) { /* this coordinate, and this side of it */
        *(i % 2 ? &grown.max.x + i % 3 : &grown.min.x + i % 3) = far;
        if (keep != (i % 2 ? (&box.min.x)[i % 3] : (&box.max.x)[i % 3]) && n > 3) {
          assert_true(areSame(pn_boxOfNumbers(from, n), grown));
          assert_true(areSame(pn_copyNumbers(to, from, n), grown));
          assert_true(to[i] == far);
        }
      }
      from[i] = i % 3 ? NAN : -INFINITY;
      assert_false(pn_maxAbs(from, n) <= FLT_MAX);
      from[i] = keep;
    }
  }
}

/* ---------------------------------------------------------------- memory */

static pnResult makeAndValidate(void *context) {
  pnMesh *mesh;
  pnResult result = pnCreateMesh(context, &mesh);
  if (result == PN_OK) {
    pnMeshInfo info;
    result = pnMesh_Validate(mesh, &info);
  } else {
    assert_null(mesh);
  }
  pnDestroyMesh(mesh);
  return result;
}

static void meshSurvivesEveryFailure(void **state) {
  (void)state;
  TestRandom random = testRandom(22);
  Random r;
  do makeRandom(&r, &random);
  while (r.def.vertexWeld || !r.def.weld || r.def.triangleCount == 0);
  // the mesh, its name, six arrays, the weld table, the edges and where they begin; two of validate
  assert_int_equal(testEveryAllocationFailure(makeAndValidate, &r.def, false, false), 13);
  assert_int_equal(testEveryAllocationFailure(makeAndValidate, &r.def, true, false), 13);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(meshKeepsWhatItWasGiven),      cmocka_unit_test(emptyMeshesAreMeshes),
      cmocka_unit_test(badDefinitionsAreNamed),       cmocka_unit_test(finiteMeansFinite),
      cmocka_unit_test(topologyAgreesWithBruteForce), cmocka_unit_test(weldIsByEqualNumbersOnly),
      cmocka_unit_test(collidingPointsAreNotSlow),    cmocka_unit_test(hubsAreNotSlow),
      cmocka_unit_test(largeArraysAreLookedThrough),  cmocka_unit_test(meshSurvivesEveryFailure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
