/* test_collide_flat.c: flat regions (collide/flat.h). With and without them self queries must give the same pairs, and those of
 * whole-number arithmetic, on sheets that are waved, creased, folded over, wound up and torn open. */
#include "agree.h"

#include "collide/flat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static TestRandom dice;

static double uniform(void) {
  return (double)testFloat(&dice, 0, 1);
}

/* A mesh, its pose and tree, and memory for positions. */
typedef struct Sheet {
  AgreeBody body;
  pnPose *pose;
  pnTree *tree;
  pnPairList *lists[2];
  uint32_t vertices;
} Sheet;

static Sheet openSheet(pnMesh *mesh) {
  Sheet s = {.body.mesh = mesh, .vertices = pnMesh_GetVertexCount(mesh)};
  s.body.positions = malloc((3 * (size_t)s.vertices + 1) * sizeof(float));
  memcpy(s.body.positions, pnMesh_GetVertices(mesh), 3 * (size_t)s.vertices * sizeof(float));
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = mesh;
  testExpectOk(pnCreatePose(&poseDef, &s.pose));
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = s.pose;
  testExpectOk(pnCreateTree(&def, &s.tree));
  for (int i = 0; i < 2; ++i) testExpectOk(pnCreatePairList(&s.lists[i]));
  return s;
}

static void closeSheet(Sheet *s) {
  pnDestroyPairList(s->lists[0]);
  pnDestroyPairList(s->lists[1]);
  pnDestroyTree(s->tree);
  pnDestroyPose(s->pose);
  pnDestroyMesh(s->body.mesh);
  free(s->body.positions);
}

/* What a pose came to. */
typedef struct Outcome {
  size_t pairs;
  uint64_t leafPairs[2]; /* with flat regions, and without */
} Outcome;

static bool sameLists(const pnPairList *a, const pnPairList *b) {
  size_t n = pnPairList_GetCount(a);
  return n == pnPairList_GetCount(b) &&
         (n == 0 || memcmp(pnPairList_GetPairs(a), pnPairList_GetPairs(b), n * sizeof(pnPair)) == 0);
}

static Outcome check(Sheet *s, bool truth) {
  Outcome out;
  testExpectOk(pnPose_SetVertices(s->pose, s->body.positions, s->vertices));
  for (int i = 0; i < 2; ++i) {
    pnQueryDef def = pnDefaultQueryDef();
    pnQueryLab queryLab = {0};
    def.lab = &queryLab;
    queryLab.noFlat = i == 1;
    pnCost cost;
    testExpectOk(pnCollideSelf(s->tree, &def, s->lists[i], &cost));
    out.leafPairs[i] = cost.leafPairs;
  }
  assert_true(sameLists(s->lists[0], s->lists[1]));
  if (truth) {
    AgreePairs pairs = agreeTruth(&s->body, NULL);
    assert_true(agreeEqual(&pairs, s->lists[0]));
    free(pairs.pairs);
  }
  out.pairs = pnPairList_GetCount(s->lists[0]);
  return out;
}

static pnMesh *grid(uint32_t columns, uint32_t rows) {
  pnMesh *mesh;
  testExpectOk(pnMakeGrid((float)columns, (float)rows, columns, rows, &mesh));
  return mesh;
}

/* ---------------------------------------------------------------- sheets */

/* Waves of some height and length, an angle by which the sheet is wound up, noise. */
static void wave(Sheet *s, double height, double length, double turn, double noise) {
  const float *rest = pnMesh_GetVertices(s->body.mesh);
  double phase = 6.28 * uniform();
  for (uint32_t v = 0; v < s->vertices; ++v) {
    double x = (double)rest[3 * v], y = (double)rest[3 * v + 1], z = (double)rest[3 * v + 2];
    double up = height * sin(x / length + phase) * cos(y / length) + z, angle = turn * x, r = turn > 0 ? 1 / turn : 0;
    double p[3] = {x, y, up};
    if (turn > 0) {
      /* a roll that becomes tighter, so that layers may meet */
      r *= 1 - 0.1 * fabs(angle);
      p[0] = (r + up) * sin(angle);
      p[2] = (r + up) * cos(angle);
    }
    for (int k = 0; k < 3; ++k) s->body.positions[3 * v + k] = (float)(p[k] + noise * (2 * uniform() - 1));
  }
}

static void smoothSheetsAreProved(void **state) {
  (void)state;
  Sheet s = openSheet(grid(40, 40));
  wave(&s, 1.5, 6, 0, 0);
  Outcome out = check(&s, true);
  assert_int_equal(out.pairs, 0);
  assert_true(3 * out.leafPairs[0] < out.leafPairs[1]);
  const pnFlat *flat = s.tree->flat->flat;
  assert_true(flat->regionCount > 30);
  closeSheet(&s);
  /* closed bodies, too */
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(4, 1, &mesh));
  s = openSheet(mesh);
  out = check(&s, false);
  assert_int_equal(out.pairs, 0);
  assert_true(2 * out.leafPairs[0] < out.leafPairs[1]);
  closeSheet(&s);
}

static void sheetsOfAllKindsAgree(void **state) {
  (void)state;
  static const double heights[] = {0, 0.3, 1, 4}, lengths[] = {0.3, 1, 3, 10}, turns[] = {0, 0.1, 0.5, 1.2},
                      noises[] = {0, 1e-6, 0.05, 0.5};
  Sheet s = openSheet(grid(24, 20));
  uint32_t meeting = 0, saving = 0;
  for (uint32_t i = 0; i < testRounds(300); ++i) {
    wave(&s, heights[testBelow(&dice, 4)], lengths[testBelow(&dice, 4)], turns[testBelow(&dice, 4)],
         noises[testBelow(&dice, 4)]);
    Outcome out = check(&s, i % 10 == 0);
    meeting += out.pairs > 0;
    saving += out.leafPairs[0] < out.leafPairs[1];
  }
  assert_true(meeting > testRounds(60) && saving > testRounds(60));
  closeSheet(&s);
}

/* A sheet with two sides: every triangle again the other way round, over the same vertices or over vertices of its own. */
static pnMesh *twoSides(pnMesh *plain, bool own) {
  uint32_t n = pnMesh_GetVertexCount(plain), t = pnMesh_GetTriangleCount(plain);
  float *vertices = malloc(6 * (size_t)n * sizeof(float));
  uint32_t *triangles = malloc(6 * (size_t)t * sizeof(uint32_t));
  assert_true(vertices && triangles);
  for (int side = 0; side < 2; ++side)
    memcpy(vertices + 3 * (size_t)side * n, pnMesh_GetVertices(plain), 3 * (size_t)n * sizeof(float));
  for (uint32_t i = 0; i < 3 * t; ++i) {
    triangles[i] = pnMesh_GetTriangles(plain)[i];
    triangles[3 * t + i] = pnMesh_GetTriangles(plain)[i / 3 * 3 + 2 - i % 3] + (own ? n : 0);
  }
  pnMesh *mesh = testMakeMesh(vertices, own ? 2 * n : n, triangles, 2 * t);
  pnDestroyMesh(plain);
  free(vertices);
  free(triangles);
  return mesh;
}

/* What is proved of one side is proved of the other, as long as they are in one place. */
static void bothSidesAreProved(void **state) {
  (void)state;
  for (int own = 0; own < 2; ++own) {
    Sheet s = openSheet(twoSides(grid(24, 24), own != 0));
    const float *rest = pnMesh_GetVertices(s.body.mesh);
    wave(&s, 1.5, 6, 0, 0);
    if (own) memcpy(s.body.positions + 3 * 625, s.body.positions, 3 * 625 * sizeof(float));
    Outcome out = check(&s, true);
    assert_true(3 * out.leafPairs[0] < out.leafPairs[1]);
    uint32_t meeting = 0;
    for (uint32_t i = 0; i < testRounds(60); ++i) {
      wave(&s, 2 * uniform(), 1 + 5 * uniform(), i % 3 ? uniform() : 0, i % 4 ? 0 : 0.3);
      if (own && i % 2) memcpy(s.body.positions + 3 * 625, s.body.positions, 3 * 625 * sizeof(float));
      meeting += check(&s, i % 6 == 0).pairs > out.pairs;
    }
    assert_true(meeting > testRounds(20));
    /* the other side of some triangles comes through, inside of the sheet and hardly at all */
    for (uint32_t i = 0; own && i < 20; ++i) {
      memcpy(s.body.positions, rest, 3 * (size_t)s.vertices * sizeof(float));
      uint32_t v = 25 * (8 + i % 8) + 8 + i / 2;
      s.body.positions[3 * (625 + v)] += (float)(3 * uniform() - 1.5);
      s.body.positions[3 * (625 + v) + 1] += (float)(3 * uniform() - 1.5);
      check(&s, true);
    }
    closeSheet(&s);
  }
}

/* The same sheet as tools leave it that order triangles for a cache: in any order, from any corner on; and a quarter of it has one side only. */
static pnMesh *shuffledSides(pnMesh *plain, bool some) {
  uint32_t n = pnMesh_GetVertexCount(plain), t = pnMesh_GetTriangleCount(plain), count = 0;
  const uint32_t *from = pnMesh_GetTriangles(plain);
  uint32_t *triangles = malloc(6 * (size_t)t * sizeof(uint32_t));
  assert_non_null(triangles);
  for (uint32_t i = 0; i < 2 * t; ++i) {
    if (some && i >= t + t / 4 * 3) continue;
    uint32_t place = testBelow(&dice, ++count), first = testBelow(&dice, 3);
    memmove(triangles + 3 * (count - 1), triangles + 3 * place, 3 * sizeof(uint32_t));
    for (uint32_t k = 0; k < 3; ++k) {
      uint32_t corner = (first + k) % 3;
      triangles[3 * place + k] = from[3 * (i % t) + (i < t ? corner : 2 - corner)];
    }
  }
  pnMesh *mesh = testMakeMesh(pnMesh_GetVertices(plain), n, triangles, count);
  pnDestroyMesh(plain);
  free(triangles);
  return mesh;
}

/* Nearly every node has a region, also where sides begin and end. */
static void sidesInAnyOrderAreProved(void **state) {
  (void)state;
  for (int round = 0; round < 6; ++round) {
    Sheet s = openSheet(shuffledSides(grid(24, 24), round % 3 != 0));
    wave(&s, 1.5, 6, 0, 0);
    Outcome out = check(&s, true);
    assert_true(3 * out.leafPairs[0] < out.leafPairs[1]);
    assert_true(10 * s.tree->flat->flat->regionCount > 9 * s.tree->shape->innerCount);
    for (uint32_t i = 0; i < testRounds(4); ++i) {
      wave(&s, 2 * uniform(), 1 + 5 * uniform(), i % 3 ? uniform() : 0, i % 4 ? 0 : 0.3);
      check(&s, i == 0);
    }
    closeSheet(&s);
  }
}

/* A cap of a sphere, up to so many degrees from its top: rings of triangles, all of them in one node of nodes of leaves. */
static pnMesh *cap(double degrees) {
  enum { RINGS = 6, SEGMENTS = 12 };
  float v[3 * (RINGS * SEGMENTS + 1)] = {0, 0, 1};
  uint32_t t[3 * 2 * RINGS * SEGMENTS], n = 0;
  for (uint32_t i = 0; i < RINGS * SEGMENTS; ++i) {
    double down = degrees / 57.29577951 * (i / SEGMENTS + 1) / RINGS, angle = 6.283185307 * (i % SEGMENTS) / SEGMENTS;
    v[3 * i + 3] = (float)(sin(down) * cos(angle));
    v[3 * i + 4] = (float)(sin(down) * sin(angle));
    v[3 * i + 5] = (float)cos(down);
    uint32_t next = (i + 1) % SEGMENTS == 0 ? i + 1 - SEGMENTS : i + 1;
    uint32_t corners[6] = {1 + i, 1 + next, 0, 1 + i, 0, 0};
    if (i >= SEGMENTS) {
      corners[2] = corners[4] = 1 + next - SEGMENTS;
      corners[5] = 1 + i - SEGMENTS;
    }
    for (uint32_t k = 0; k < (i >= SEGMENTS ? 6u : 3u); ++k) t[n++] = corners[k];
  }
  return testMakeMesh(v, RINGS * SEGMENTS + 1, t, n / 3);
}

/* What is bent a little less than half a sphere is one region, and what is bent more is none. */
static void halfASphereIsTheMost(void **state) {
  (void)state;
  for (int more = 0; more < 2; ++more) {
    Sheet s = openSheet(cap(more ? 96 : 84));
    check(&s, true);
    assert_int_equal(s.tree->flat->flat->regionOf[0] != PN_NONE, !more);
    closeSheet(&s);
  }
}

/* A long strip wound into a ramp of several turns around an axis: every triangle is seen from above, and layers pass through one
 * another. Only the rim tells. */
static void rampsAreNotFlat(void **state) {
  (void)state;
  Sheet s = openSheet(grid(60, 4));
  const float *rest = pnMesh_GetVertices(s.body.mesh);
  for (uint32_t i = 0; i < 40; ++i) {
    double turns = 0.5 + 0.1 * i, shift = uniform();
    for (uint32_t v = 0; v < s.vertices; ++v) {
      double u = ((double)rest[3 * v] + 30) / 60, r = 3 + (double)rest[3 * v + 1],
             angle = 6.2831853 * (turns * u + shift);
      float *p = s.body.positions + 3 * v;
      p[0] = (float)(r * cos(angle));
      p[1] = (float)(-r * sin(angle));
      p[2] = (float)(0.1 * sin(9 * u) + 0.02 * r * sin(31 * u)); /* up and down: layers cross */
    }
    Outcome out = check(&s, i % 4 == 0);
    assert_true(turns < 1.2 || out.pairs > 0);
  }
  closeSheet(&s);
}

/* Rings of `spokes` vertices around one in the middle. */
static pnMesh *disc(uint32_t rings, uint32_t spokes) {
  float *vertices = malloc((3 * (size_t)rings * spokes + 3) * sizeof(float));
  uint32_t *triangles = malloc(6 * (size_t)rings * spokes * sizeof(uint32_t)), count = 0;
  memset(vertices, 0, 3 * sizeof(float));
  for (uint32_t i = 0; i < rings * spokes; ++i) {
    uint32_t ring = i / spokes, next = i % spokes + 1 == spokes ? i + 1 - spokes : i + 1;
    double angle = 6.283185307179586 * (i % spokes) / spokes;
    float *v = vertices + 3 * (i + 1);
    v[0] = (float)((ring + 1) * cos(angle));
    v[1] = (float)((ring + 1) * sin(angle));
    v[2] = 0;
    uint32_t corner[6] = {ring ? 1 + i - spokes : 0,    1 + i,          1 + next,
                          ring ? 1 + next - spokes : 0, 1 + i - spokes, 1 + next};
    uint32_t n = ring ? 6 : 3;
    memcpy(triangles + count, corner, n * sizeof(uint32_t));
    count += n;
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = rings * spokes + 1;
  def.triangles = triangles;
  def.triangleCount = count / 3;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  free(vertices);
  free(triangles);
  return mesh;
}

/* A disc whose angles are all doubled: seen from above everywhere, and its rim goes around step by step, but twice. */
static void windingTwiceIsNotFlat(void **state) {
  (void)state;
  for (uint32_t spokes = 12; spokes <= 28; spokes += 4) {
    Sheet s = openSheet(disc(8, spokes));
    assert_int_equal(check(&s, true).leafPairs[0], 0); /* flat as it is */
    const float *rest = pnMesh_GetVertices(s.body.mesh);
    for (uint32_t v = 0; v < s.vertices; ++v) {
      double x = (double)rest[3 * v], y = (double)rest[3 * v + 1], r = hypot(x, y), angle = 2 * atan2(y, x);
      float *p = s.body.positions + 3 * v;
      p[0] = (float)(r * cos(angle));
      p[1] = (float)(r * sin(angle));
      p[2] = (float)(0.05 * y);
    }
    assert_true(check(&s, true).pairs > 0);
    closeSheet(&s);
  }
}

/* One fold of a few triangles in a sheet that is flat otherwise. */
static void foldsAreFound(void **state) {
  (void)state;
  Sheet s = openSheet(grid(32, 32));
  const float *rest = pnMesh_GetVertices(s.body.mesh);
  uint32_t meeting = 0;
  for (uint32_t i = 0; i < testRounds(300); ++i) {
    memcpy(s.body.positions, rest, 3 * (size_t)s.vertices * sizeof(float));
    uint32_t v = testBelow(&dice, s.vertices);
    s.body.positions[3 * v] += (float)(4 * uniform() - 2);
    s.body.positions[3 * v + 1] += (float)(4 * uniform() - 2);
    s.body.positions[3 * v + 2] += i % 2 ? 0 : (float)(0.2 * uniform() - 0.1);
    Outcome out = check(&s, i % 20 == 0);
    meeting += out.pairs > 0;
    assert_true(out.leafPairs[0] < out.leafPairs[1]); /* the rest is still proved */
  }
  assert_true(meeting > testRounds(80));
  closeSheet(&s);
}

/* ---------------------------------------------------------------- seams, topology, numbers, threads, memory */

/* The left half and the right half of a sheet are joined by welding only. */
static void openedSeamsAreSeen(void **state) {
  (void)state;
  pnMesh *whole = grid(16, 16);
  uint32_t n = pnMesh_GetVertexCount(whole), t = pnMesh_GetTriangleCount(whole);
  float *vertices = malloc(6 * (size_t)n * sizeof(float));
  uint32_t *triangles = malloc(3 * (size_t)t * sizeof(uint32_t));
  memcpy(vertices, pnMesh_GetVertices(whole), 3 * (size_t)n * sizeof(float));
  memcpy(vertices + 3 * (size_t)n, vertices, 3 * (size_t)n * sizeof(float));
  for (uint32_t i = 0; i < t; ++i) {
    const uint32_t *c = pnMesh_GetTriangles(whole) + 3 * (size_t)i;
    float x = vertices[3 * c[0]] + vertices[3 * c[1]] + vertices[3 * c[2]];
    for (int k = 0; k < 3; ++k) triangles[3 * i + (uint32_t)k] = c[k] + (x > 0 ? n : 0);
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = 2 * n;
  def.triangles = triangles;
  def.triangleCount = t;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  Sheet s = openSheet(mesh);
  Outcome closed = check(&s, true);
  assert_int_equal(closed.pairs, 0);
  assert_true(2 * closed.leafPairs[0] < closed.leafPairs[1]);
  /* the right half slides over the left one, in the same plane and a little above it */
  for (int i = 0; i < 2; ++i) {
    for (uint32_t v = n; v < 2 * n; ++v) {
      s.body.positions[3 * v] = vertices[3 * v] - 1.3f;
      s.body.positions[3 * v + 2] = i ? 0.1f * sinf(vertices[3 * v]) : 0;
    }
    assert_true(check(&s, true).pairs > 20);
  }
  /* only the inside of the seam opens: the right side's vertices on it move left, and the rim stays */
  memcpy(s.body.positions, vertices, 6 * (size_t)n * sizeof(float));
  for (uint32_t v = n; v < 2 * n; ++v)
    if (vertices[3 * v] == 0 && fabsf(vertices[3 * v + 1]) < 7) s.body.positions[3 * v] = -1.6f;
  assert_true(check(&s, true).pairs > 20);
  closeSheet(&s);
  pnDestroyMesh(whole);
  free(vertices);
  free(triangles);
}

/* A triangle of a sheet, and two more that are one on the other, from its first edge over it and beyond. The rim is that of the sheet, all
 * is seen from above, is connected, and has as many vertices as a disc: only the edge at which four meet tells. */
static void crowdedEdgesAreNoDisc(void **state) {
  (void)state;
  pnMesh *plain = grid(12, 12);
  uint32_t n = pnMesh_GetVertexCount(plain), t = pnMesh_GetTriangleCount(plain), meeting = 0;
  float *vertices = malloc(3 * ((size_t)n + 1) * sizeof(float));
  uint32_t *triangles = malloc(3 * ((size_t)t + 2) * sizeof(uint32_t));
  Sheet alone = openSheet(plain);
  wave(&alone, 0.2, 1, 0, 0);
  assert_int_equal(check(&alone, true).leafPairs[0], 0);
  assert_true(alone.tree->flat->flat->regionOf[0] != PN_NONE);
  for (uint32_t i = 0; i < t; i += 7) {
    if (pnMesh_GetNeighbours(plain)[3 * i] == PN_NONE) continue;
    memcpy(vertices, alone.body.positions, 3 * (size_t)n * sizeof(float));
    memcpy(triangles, pnMesh_GetTriangles(plain), 3 * (size_t)t * sizeof(uint32_t));
    const uint32_t *c = triangles + 3 * i;
    for (int k = 0; k < 3; ++k)
      vertices[3 * n + k] = 3.3f * vertices[3 * c[2] + k] - 1.15f * (vertices[3 * c[0] + k] + vertices[3 * c[1] + k]);
    vertices[3 * n + 2] = 0;
    for (uint32_t k = 0; k < 6; ++k) triangles[3 * t + k] = k % 3 == 2 ? n : c[k % 3];
    Sheet s = openSheet(testMakeMesh(vertices, n + 1, triangles, t + 2));
    meeting += check(&s, true).pairs > 1;
    assert_true(s.tree->flat->flat->regionOf[0] == PN_NONE);
    closeSheet(&s);
  }
  assert_true(meeting > 15);
  closeSheet(&alone);
  free(vertices);
  free(triangles);
}

/* Every case of the agreement tests, of which many are no surfaces at all. */
/* Three vertices, nine and nine in rings, and one triangle, the innermost, turned: its edges go the way that its neighbours' go. The pose has
 * every triangle seen from above and a round rim, and yet two layers in the middle: how often the rim turns around a point counts the
 * triangles there only where neighbours agree about their side. (It was found by moving vertices until all areas were positive.) */
static void turnedTrianglesAreNoDisc(void **state) {
  (void)state;
  enum { INNER = 3, RING = 9, VERTICES = INNER + 2 * RING };
  static const float pose[INNER + RING][2] = {{0.02f, 1.80f},   {0.45f, -1.37f},  {0.43f, -1.57f}, {1.57f, 0.65f},
                                              {1.22f, 1.11f},   {-0.13f, 2.21f},  {-1.35f, 1.75f}, {-0.35f, -0.04f},
                                              {-1.68f, -1.26f}, {-0.91f, -1.71f}, {0.91f, -2.01f}, {1.66f, -1.46f}};
  float vertices[3 * VERTICES] = {0};
  uint32_t triangles[3 * 31] = {0, 2, 1}, count = 1;
  for (uint32_t v = 0; v < VERTICES; ++v) {
    uint32_t ring = v < INNER ? 0 : 1 + (v - INNER) / RING;
    double angle = 6.283185307179586 * (ring ? (v - INNER) % RING / 9.0 : v / 3.0);
    vertices[3 * v] = (float)((ring + 0.6) * cos(angle));
    vertices[3 * v + 1] = (float)((ring + 0.6) * sin(angle));
  }
  // From ring to ring: a triangle at each vertex of the outer one, and one over each edge of the inner one.
  for (uint32_t ring = 0; ring < 2; ++ring) {
    uint32_t n = ring ? RING : INNER, first = ring ? INNER : 0, outer = ring ? INNER + RING : INNER, each = RING / n;
    for (uint32_t i = 0; i < n; ++i) {
      for (uint32_t k = i * each; k < (i + 1) * each; ++k, ++count)
        memcpy(triangles + 3 * count, (uint32_t[]){first + i, outer + k, outer + (k + 1) % RING}, 12);
      memcpy(triangles + 3 * count++, (uint32_t[]){first + i, outer + (i + 1) * each % RING, first + (i + 1) % n}, 12);
    }
  }
  Sheet s = openSheet(testMakeMesh(vertices, VERTICES, triangles, count));
  for (uint32_t v = 0; v < INNER + RING; ++v) memcpy(s.body.positions + 3 * v, pose[v], sizeof(pose[v]));
  for (uint32_t t = 0; t < count; ++t) {
    const float *a = s.body.positions + 3 * triangles[3 * t], *b = s.body.positions + 3 * triangles[3 * t + 1],
                *c = s.body.positions + 3 * triangles[3 * t + 2];
    assert_true((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0.05f);
  }
  Outcome out = check(&s, true);
  assert_int_equal(out.pairs, 11);
  closeSheet(&s);
}

static void agreesOnAllCases(void **state) {
  (void)state;
  for (uint32_t i = 0; i < AGREE_CASES; ++i) {
    AgreeCase c = agreeMake(i);
    Sheet s = {.body = c.body[0], .vertices = pnMesh_GetVertexCount(c.body[0].mesh)};
    pnPoseDef poseDef = pnDefaultPoseDef();
    poseDef.mesh = s.body.mesh;
    testExpectOk(pnCreatePose(&poseDef, &s.pose));
    pnTreeDef def = pnDefaultTreeDef();
    pnTreeLab lab = {0};
    def.lab = &lab;
    def.pose = s.pose;
    lab.leafSize = 2; /* more regions */
    testExpectOk(pnCreateTree(&def, &s.tree));
    testExpectOk(pnCreatePairList(&s.lists[0]));
    testExpectOk(pnCreatePairList(&s.lists[1]));
    check(&s, true);
    pnDestroyPairList(s.lists[0]);
    pnDestroyPairList(s.lists[1]);
    pnDestroyTree(s.tree);
    pnDestroyPose(s.pose);
    agreeFree(&c);
  }
}

static void threadsAgree(void **state) {
  (void)state;
  Sheet s = openSheet(grid(48, 48));
  for (uint32_t i = 0; i < 8; ++i) {
    wave(&s, 2, 2, 0.2, 0.02);
    check(&s, false);
    for (uint32_t threads = 2; threads <= 4; ++threads) {
      pnPool *pool;
      testExpectOk(pnCreatePool(threads, &pool));
      pnQueryDef def = pnDefaultQueryDef();
      def.tasks = pnPool_GetTasks(pool);
      /* a new frame, so that regions are looked at anew */
      testExpectOk(pnPose_SetVertices(s.pose, s.body.positions, s.vertices));
      testExpectOk(pnCollideSelf(s.tree, &def, s.lists[1], NULL));
      assert_true(sameLists(s.lists[0], s.lists[1]));
      pnDestroyPool(pool);
    }
  }
  closeSheet(&s);
}

static pnResult queryOnce(void *context) {
  (void)context;
  pnMesh *mesh = NULL;
  pnPose *pose = NULL;
  pnTree *tree = NULL;
  pnResult result = pnMakeGrid(1, 1, 20, 20, &mesh);
  if (result == PN_OK) {
    pnPoseDef def = pnDefaultPoseDef();
    def.mesh = mesh;
    result = pnCreatePose(&def, &pose);
  }
  if (result == PN_OK) {
    pnTreeDef def = pnDefaultTreeDef();
    def.pose = pose;
    result = pnCreateTree(&def, &tree);
  }
  if (result == PN_OK) result = pnCollideSelf(tree, NULL, NULL, NULL);
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  return result;
}

static void memoryFailuresAreReported(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(queryOnce, NULL, false, true) > 20);
}

int main(void) {
  dice = testRandom(7);
  const struct CMUnitTest tests[] = {cmocka_unit_test(smoothSheetsAreProved),
                                     cmocka_unit_test(sheetsOfAllKindsAgree),
                                     cmocka_unit_test(bothSidesAreProved),
                                     cmocka_unit_test(sidesInAnyOrderAreProved),
                                     cmocka_unit_test(halfASphereIsTheMost),
                                     cmocka_unit_test(rampsAreNotFlat),
                                     cmocka_unit_test(windingTwiceIsNotFlat),
                                     cmocka_unit_test(foldsAreFound),
                                     cmocka_unit_test(openedSeamsAreSeen),
                                     cmocka_unit_test(crowdedEdgesAreNoDisc),
                                     cmocka_unit_test(turnedTrianglesAreNoDisc),
                                     cmocka_unit_test(agreesOnAllCases),
                                     cmocka_unit_test(threadsAgree),
                                     cmocka_unit_test(memoryFailuresAreReported)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
