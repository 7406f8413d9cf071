/* test_scenes.c: are the scenes what they say? Shapes closed, frames the same bits however they are asked for,
 * motions equal to the yardstick's, pair counts those of the published figures, and bodies of the driven scenes
 * really kept apart. */
#include "support.h"

#include "scenes.h"
#include "pinch/collide.h"
#include "pinch/geom.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- helpers */

static pnScene *makeScene(const char *name, uint32_t frameStep) {
  pnSceneDef def = pnDefaultSceneDef();
  def.name = name;
  def.frameStep = frameStep;
  pnScene *scene = NULL;
  assert_int_equal(pnCreateScene(&def, &scene), PN_OK);
  assert_non_null(scene);
  return scene;
}

static float *makeFrame(const pnScene *scene, uint32_t frame, uint32_t body) {
  float *vertices = malloc(sizeof(float) * 3 * pnScene_GetVertexCount(scene, body));
  assert_non_null(vertices);
  assert_int_equal(pnScene_Frame(scene, frame, body, vertices), PN_OK);
  return vertices;
}

/* A triangle with its box, for the sweep. */
typedef struct Item {
  float min[3], max[3];
  pnTriangle triangle;
  const uint32_t *corners;
} Item;

static int compareItems(const void *a, const void *b) {
  float x = ((const Item *)a)->min[0], y = ((const Item *)b)->min[0];
  return (x > y) - (x < y);
}

static Item *makeItems(const pnScene *scene, uint32_t frame, uint32_t body) {
  float *vertices = makeFrame(scene, frame, body);
  uint32_t count = pnScene_GetTriangleCount(scene, body);
  Item *items = malloc(sizeof(Item) * count);
  assert_non_null(items);
  for (uint32_t i = 0; i < count; ++i) {
    Item *item = &items[i];
    item->corners = pnScene_GetTriangles(scene, body) + 3 * (size_t)i;
    for (int k = 0; k < 3; ++k) memcpy(item->triangle.v[k], vertices + 3 * (size_t)item->corners[k], sizeof(float) * 3);
    for (int axis = 0; axis < 3; ++axis) {
      float a = item->triangle.v[0][axis], b = item->triangle.v[1][axis], c = item->triangle.v[2][axis];
      item->min[axis] = fminf(a, fminf(b, c));
      item->max[axis] = fmaxf(a, fmaxf(b, c));
    }
  }
  qsort(items, count, sizeof(Item), compareItems);
  free(vertices);
  return items;
}

static bool itemsMeet(const Item *a, const Item *b, bool self) {
  for (int axis = 0; axis < 3; ++axis)
    if (a->min[axis] > b->max[axis] || b->min[axis] > a->max[axis]) return false;
  for (int i = 0; self && i < 9; ++i)
    if (a->corners[i / 3] == b->corners[i % 3]) return false;
  return pnTrianglesMeet(&a->triangle, &b->triangle);
}

/* Pairs of two bodies that meet, by a sweep along x; of one body (a == b) those that share no vertex. */
static size_t countPairs(const pnScene *scene, uint32_t frame, uint32_t bodyA, uint32_t bodyB) {
  bool self = bodyA == bodyB;
  Item *a = makeItems(scene, frame, bodyA), *b = self ? a : makeItems(scene, frame, bodyB);
  uint32_t countA = pnScene_GetTriangleCount(scene, bodyA), countB = pnScene_GetTriangleCount(scene, bodyB);
  size_t pairs = 0;
  for (uint32_t i = 0, from = 0; i < countA; ++i) {
    /* those of b that begin within a; and, unless they are the same list, those of a that begin within b, below */
    while (from < countB && b[from].min[0] < a[i].min[0]) ++from;
    uint32_t j = self ? i + 1 : from;
    for (; j < countB && b[j].min[0] <= a[i].max[0]; ++j) pairs += itemsMeet(&a[i], &b[j], self);
  }
  for (uint32_t j = 0, from = 0; !self && j < countB; ++j) {
    while (from < countA && a[from].min[0] <= b[j].min[0]) ++from;
    for (uint32_t i = from; i < countA && a[i].min[0] <= b[j].max[0]; ++i) pairs += itemsMeet(&a[i], &b[j], false);
  }
  free(a);
  if (!self) free(b);
  return pairs;
}

/* ---------------------------------------------------------------- names and errors */

static void test_names(void **state) {
  (void)state;
  uint32_t count = 0;
  for (; pnGetSceneName(count) != NULL; ++count) {
    assert_non_null(pnGetSceneText(count));
    /* the bare name is the usual size */
    pnScene *scene = makeScene(pnGetSceneName(count), 0);
    size_t length = strlen(pnGetSceneName(count));
    assert_int_equal(strncmp(pnScene_GetName(scene), pnGetSceneName(count), length), 0);
    assert_int_equal(pnScene_GetName(scene)[length], '-');
    pnDestroyScene(scene);
  }
  assert_int_equal(count, 36);
  assert_null(pnGetSceneText(count));
}

static void test_bad_names(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",       "s",          "s9",        "s1-",         "s1-0",           "s1--20",       "s1-+20",
      "s1- 20", "s1-21",      "s1-20480x", "s11280",      "s1-99999999999", "s4-3",         "s4-0",
      "s4-4",   "s5-grid-13", "s5",        "s5-grid-12-", "e3-spheres-",    "e3-arms-5121", "e3-spheres-0",
      "S1"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    pnSceneDef def = pnDefaultSceneDef();
    def.name = bad[i];
    pnScene *scene = (pnScene *)&def;
    testExpectFailure(pnCreateScene(&def, &scene), PN_ERROR_ARGUMENT, bad[i]);
    assert_non_null(strstr(pnGetMessage(), "none of that name"));
    assert_null(scene);
  }
  pnSceneDef def = pnDefaultSceneDef();
  def.name = NULL;
  pnScene *scene = NULL;
  assert_int_equal(pnCreateScene(&def, &scene), PN_ERROR_ARGUMENT);
  pnDestroyScene(NULL);
}

static void test_bad_frames(void **state) {
  (void)state;
  pnScene *scene = makeScene("s3-80", 0);
  float vertices[3 * 42], weights[3];
  pnMatrix transform;
  assert_int_equal(pnScene_GetVertexCount(scene, 0), 42);
  assert_int_equal(pnScene_Frame(scene, 400, 0, vertices), PN_ERROR_INDEX);
  assert_int_equal(pnScene_Frame(scene, 0, 2, vertices), PN_ERROR_INDEX);
  assert_int_equal(pnScene_Weights(scene, 400, 0, weights, &transform), PN_ERROR_INDEX);
  assert_int_equal(pnScene_Weights(scene, 0, 2, weights, &transform), PN_ERROR_INDEX);
  assert_int_equal(pnScene_Step(scene, NULL, 0), PN_ERROR_KIND);
  assert_null(pnScene_GetReference(scene, 2, 0));
  assert_null(pnScene_GetReference(scene, 0, 3));
  assert_int_equal(pnScene_GetVertexCount(scene, 2), 0);
  assert_int_equal(pnScene_GetTriangleCount(scene, 2), 0);
  assert_null(pnScene_GetTriangles(scene, 2));
  pnDestroyScene(scene);
  scene = makeScene("s1-80", 0);
  assert_int_equal(pnScene_Weights(scene, 0, 0, weights, &transform), PN_ERROR_KIND);
  assert_null(pnScene_GetReference(scene, 0, 0));
  assert_int_equal(pnScene_GetReferenceCount(scene), 0);
  pnDestroyScene(scene);
}

/* ---------------------------------------------------------------- shapes */

static int compareEdges(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Closed and oriented: every directed edge once, and its opposite once; every vertex used. */
static void checkClosed(const char *name) {
  pnScene *scene = makeScene(name, 0);
  uint32_t edgeCount = 3 * pnScene_GetTriangleCount(scene, 0), vertexCount = pnScene_GetVertexCount(scene, 0);
  const uint32_t *t = pnScene_GetTriangles(scene, 0);
  uint64_t *edges = malloc(sizeof(uint64_t) * edgeCount), *opposite = malloc(sizeof(uint64_t) * edgeCount);
  bool *used = calloc(vertexCount, sizeof(bool));
  assert_true(edges != NULL && opposite != NULL && used != NULL);
  for (uint32_t i = 0; i < edgeCount; ++i) {
    uint64_t from = t[i], to = t[i % 3 == 2 ? i - 2 : i + 1];
    assert_true(from < vertexCount && from != to);
    used[from] = true;
    edges[i] = from << 32 | to;
    opposite[i] = to << 32 | from;
  }
  qsort(edges, edgeCount, sizeof(uint64_t), compareEdges);
  qsort(opposite, edgeCount, sizeof(uint64_t), compareEdges);
  assert_memory_equal(edges, opposite, sizeof(uint64_t) * edgeCount);
  for (uint32_t i = 1; i < edgeCount; ++i) assert_true(edges[i - 1] != edges[i]);
  for (uint32_t i = 0; i < vertexCount; ++i) assert_true(used[i]);
  free(edges);
  free(opposite);
  free(used);

  /* outward: the volume by the divergence theorem is positive */
  float *v = makeFrame(scene, 0, 0);
  double volume = 0.0;
  for (uint32_t i = 0; i < edgeCount; i += 3) {
    const float *a = v + 3 * (size_t)t[i], *b = v + 3 * (size_t)t[i + 1], *c = v + 3 * (size_t)t[i + 2];
    volume += a[0] * ((double)b[1] * c[2] - (double)b[2] * c[1]) + a[1] * ((double)b[2] * c[0] - (double)b[0] * c[2]) +
              a[2] * ((double)b[0] * c[1] - (double)b[1] * c[0]);
  }
  assert_true(volume > 0.0);
  free(v);
  pnDestroyScene(scene);
}

static void test_closed(void **state) {
  (void)state;
  static const char *const names[] = {"s1-4",    "s1-8",      "s1-20",    "s1-16",    "s1-1280",    "s1-5120",
                                      "s1-8192", "s1-16384",  "s1-32768", "s1-65536", "s5-grid-12", "s5-grid-48",
                                      "s5-grid", "s5-turned", "e3-arms",  "s3-5120",  "e5-564",     "e5-2256"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) checkClosed(names[i]);
}

/* The sheet has a border of 4 g edges, and is one piece of (g+1)^2 vertices. */
static void test_cloth_shape(void **state) {
  (void)state;
  pnScene *scene = makeScene("s4-200", 0);
  assert_true(pnScene_IsSelf(scene));
  assert_int_equal(pnScene_GetBodyCount(scene), 1);
  assert_int_equal(pnScene_GetVertexCount(scene, 0), 121);
  const uint32_t *t = pnScene_GetTriangles(scene, 0);
  uint32_t open = 0;
  for (uint32_t i = 0; i < 600; ++i) {
    uint32_t from = t[i], to = t[i % 3 == 2 ? i - 2 : i + 1], same = 0, back = 0;
    for (uint32_t j = 0; j < 600; ++j) {
      uint32_t otherFrom = t[j], otherTo = t[j % 3 == 2 ? j - 2 : j + 1];
      same += otherFrom == from && otherTo == to;
      back += otherFrom == to && otherTo == from;
    }
    assert_int_equal(same, 1);
    assert_true(back <= 1);
    open += back == 0;
  }
  assert_int_equal(open, 40);
  pnDestroyScene(scene);
}

/* Every triangle of s4 and its other side, in the same places. */
static void test_two_sides(void **state) {
  (void)state;
  pnScene *one = makeScene("s4-200", 0), *two = makeScene("s4-twice-400", 0);
  const uint32_t *front = pnScene_GetTriangles(one, 0), *both = pnScene_GetTriangles(two, 0);
  assert_int_equal(pnScene_GetTriangleCount(two, 0), 400);
  assert_int_equal(pnScene_GetVertexCount(two, 0), pnScene_GetVertexCount(one, 0));
  assert_memory_equal(front, both, sizeof(uint32_t) * 600);
  for (uint32_t t = 0; t < 200; ++t)
    for (uint32_t k = 0; k < 3; ++k) assert_int_equal(both[600 + 3 * t + k], front[3 * t + 2 - k]);
  float *a = makeFrame(one, 7, 0), *b = makeFrame(two, 7, 0);
  assert_memory_equal(a, b, sizeof(float) * 3 * pnScene_GetVertexCount(one, 0));
  free(a);
  free(b);
  pnDestroyScene(one);
  pnDestroyScene(two);
  pnScene *scene;
  pnSceneDef def = {.name = "s4-twice-401"};
  assert_int_equal(pnCreateScene(&def, &scene), PN_ERROR_ARGUMENT);
}

/* ---------------------------------------------------------------- motions */

/* Any order, any number of times, another scene of the same name: the same bits, and every number finite. */
static void test_same_bits(void **state) {
  (void)state;
  static const char *const names[] = {
      "s1-320",           "s1-mixed-320",  "s2-80",       "s3-320",     "s4-800",        "s5-grid-192", "s5-turned-192",
      "bodies-30",        "idle-30",       "terrain-200", "hair-400",   "hair-self-400", "blobs-320",   "shuffle-320",
      "swarm-80",         "decay-8",       "burst-40",    "slivers-40", "level-400",     "tiles-200",   "shoal-30",
      "shuffle-self-320", "burst-self-40", "tangle-32",   "pages-50",   "roll-200",      "table-200",   "leaves-30",
      "heap-200",         "s4-twice-400",  "stray-320",   "ramp-80"};
  for (size_t n = 0; n < sizeof names / sizeof names[0]; ++n) {
    pnScene *one = makeScene(names[n], 0), *two = makeScene(names[n], 0);
    uint32_t frameCount = pnScene_GetFrameCount(one), bodyCount = pnScene_GetBodyCount(one);
    assert_int_equal(pnScene_GetReadyFrameCount(one), frameCount);
    assert_false(pnScene_IsDriven(one));
    for (uint32_t i = 0; i < frameCount; ++i) {
      uint32_t frame = i * 7 % frameCount, body = i % bodyCount;
      float *a = makeFrame(one, frame, body), *b = makeFrame(two, frame, body);
      size_t floatCount = 3 * (size_t)pnScene_GetVertexCount(one, body);
      assert_memory_equal(a, b, sizeof(float) * floatCount);
      for (size_t k = 0; k < floatCount; ++k) assert_true(isfinite(a[k]));
      free(a);
      free(b);
    }
    pnDestroyScene(one);
    pnDestroyScene(two);
  }
}

/* Pairs of bodies 0 and 1, by trees. */
static size_t countByTrees(const pnScene *scene, uint32_t frame) {
  pnMesh *meshes[2];
  pnPose *poses[2];
  pnTree *trees[2];
  for (uint32_t i = 0; i < 2; ++i) {
    float *v = makeFrame(scene, frame, i);
    pnMeshDef def = pnDefaultMeshDef();
    def.vertices = v;
    def.vertexCount = pnScene_GetVertexCount(scene, i);
    def.triangles = pnScene_GetTriangles(scene, i);
    def.triangleCount = pnScene_GetTriangleCount(scene, i);
    def.weld = false;
    testExpectOk(pnCreateMesh(&def, &meshes[i]));
    testExpectOk(pnCreatePose(&(pnPoseDef){meshes[i], NULL, NULL}, &poses[i]));
    pnTreeDef treeDef = pnDefaultTreeDef();
    treeDef.pose = poses[i];
    treeDef.self = false;
    testExpectOk(pnCreateTree(&treeDef, &trees[i]));
    free(v);
  }
  pnCost cost;
  testExpectOk(pnCollideTrees(trees[0], trees[1], NULL, NULL, &cost));
  for (uint32_t i = 0; i < 2; ++i) {
    pnDestroyTree(trees[i]);
    pnDestroyPose(poses[i]);
    pnDestroyMesh(meshes[i]);
  }
  return cost.pairs;
}

/* What the hostile ones are named for: needles that are as thin as they say and meet, a deep meeting of a hundred thousand pairs, a thousand
 * frames after which neighbours are far from one another. */
static void test_hostile(void **state) {
  (void)state;
  pnScene *scene = makeScene("slivers-8000", 0);
  float *v = makeFrame(scene, 39, 0);
  for (uint32_t k = 0; k < pnScene_GetVertexCount(scene, 0) / 4; ++k) {
    const float *p = v + 12 * (size_t)k;
    double length = hypot(hypot(p[6] - p[0], p[7] - p[1]), p[8] - p[2]);
    double width = hypot(hypot(p[3] - p[0], p[4] - p[1]), p[5] - p[2]);
    assert_true(length > 0.49 && width < 0.51 * 1.1e-4);
  }
  free(v);
  pnDestroyScene(scene);

  /* as docs/scenes.md has it */
  scene = makeScene("blobs-65536", 0);
  assert_int_equal(pnScene_GetFrameCount(scene), 4);
  for (uint32_t frame = 0; frame < 4; frame += 3) assert_true(countByTrees(scene, frame) > 100000);
  pnDestroyScene(scene);

  /* neighbours of the first frame: how far from one another they are in the last */
  scene = makeScene("decay-80", 0);
  assert_int_equal(pnScene_GetFrameCount(scene), 1000);
  float *first = makeFrame(scene, 0, 0), *next = makeFrame(scene, 1, 0), *last = makeFrame(scene, 999, 0);
  double step = 0, way = 0;
  for (uint32_t i = 0; i < 3 * pnScene_GetVertexCount(scene, 0); ++i) {
    step = fmax(step, fabs(next[i] - first[i]));
    way = fmax(way, fabs(last[i] - first[i]));
  }
  assert_true(step < 0.02 && way > 0.5);
  free(first), free(next), free(last);
  pnDestroyScene(scene);

  /* chips in their first frame beside each other, in their last one far apart; the wall meets them all the way */
  scene = makeScene("burst-2000", 0);
  first = makeFrame(scene, 0, 0), last = makeFrame(scene, 99, 0);
  double gap[2] = {0, 0};
  for (uint32_t k = 1; k < 1000; ++k) {
    double nearest[2] = {1e9, 1e9};
    for (uint32_t j = 0; j < k; ++j) {
      for (int e = 0; e < 2; ++e) {
        const float *p = (e ? last : first) + 12 * (size_t)k, *q = (e ? last : first) + 12 * (size_t)j;
        nearest[e] = fmin(nearest[e], hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]));
      }
    }
    for (int e = 0; e < 2; ++e) gap[e] += nearest[e] / 999;
  }
  assert_true(gap[0] < 0.15 && gap[1] > 3 * gap[0]);
  for (uint32_t frame = 0; frame < 60; frame += 10) assert_true(countByTrees(scene, frame) > 0);
  free(first), free(last);
  pnDestroyScene(scene);
}

/* Other numbers, the same triangles: as many meet, and neighbours have numbers that say nothing. */
static void test_mixed(void **state) {
  (void)state;
  pnScene *plain = makeScene("s1-1280", 0), *mixed = makeScene("s1-mixed-1280", 0);
  assert_true(countByTrees(plain, 199) > 0);
  assert_int_equal(countByTrees(mixed, 199), countByTrees(plain, 199));
  double apart[2] = {0, 0};
  for (int s = 0; s < 2; ++s) {
    const uint32_t *t = pnScene_GetTriangles(s ? mixed : plain, 0);
    for (uint32_t i = 3; i < 3 * 1280; ++i) apart[s] += fabs((double)t[i] - t[i - 3]) / (3 * 1279);
  }
  assert_true(apart[1] > 200 && apart[1] > 2 * apart[0]); /* a third of 642 at random */
  pnDestroyScene(plain);
  pnDestroyScene(mixed);
}

/* Bodies of different meshes, of which some never move; in an idle crowd nobody is near anybody. */
static void test_small_bodies(void **state) {
  (void)state;
  pnScene *terrain = makeScene("terrain-200", 0), *idle = makeScene("idle-30", 0), *bodies = makeScene("bodies-30", 0);
  assert_int_equal(pnScene_GetBodyCount(terrain), 501);
  assert_int_equal(pnScene_GetTriangleCount(terrain, 0), 200);
  assert_int_equal(pnScene_GetTriangleCount(terrain, 1), 80);
  assert_true(pnScene_IsStill(terrain, 0) && !pnScene_IsStill(terrain, 1) && !pnScene_IsStill(terrain, 501));
  static const uint32_t sizes[3] = {80, 12, 20};
  for (uint32_t i = 0; i < 30; ++i) {
    assert_true(pnScene_IsStill(idle, i) && !pnScene_IsStill(bodies, i));
    assert_int_equal(pnScene_GetTriangleCount(idle, i), sizes[i % 3]);
    assert_int_equal(pnScene_GetTriangleCount(bodies, i), sizes[i % 3]);
    for (uint32_t j = 0; j < i; ++j) assert_int_equal(countPairs(idle, 3, j, i), 0);
  }
  pnDestroyScene(terrain);
  pnDestroyScene(idle);
  pnDestroyScene(bodies);
}

/* A step of 10 shows moments of the same motion, and ends with the last one for the spheres. */
static void test_frame_step(void **state) {
  (void)state;
  pnScene *whole = makeScene("s1-320", 1), *tenth = makeScene("s1-320", 10);
  assert_int_equal(pnScene_GetFrameCount(whole), 200);
  assert_int_equal(pnScene_GetFrameCount(tenth), 20);
  for (uint32_t i = 0; i < 20; ++i) {
    float *a = makeFrame(whole, 10 * i + 9, 1), *b = makeFrame(tenth, i, 1);
    assert_memory_equal(a, b, sizeof(float) * 3 * pnScene_GetVertexCount(whole, 1));
    free(a);
    free(b);
  }
  pnDestroyScene(whole);
  pnDestroyScene(tenth);
  pnScene *big = makeScene("s1-81920", 0);
  assert_int_equal(pnScene_GetFrameCount(big), 20);
  pnDestroyScene(big);
}

/* A few vertices of the yardstick's own generator. */
static void test_yardstick(void **state) {
  (void)state;
  static const struct {
    const char *name;
    uint32_t frame, body, vertex;
    float place[3];
  } samples[] = {
      {"s1-1280", 0, 0, 0, {-1.90526021f, 0.49973464f, -0.0855896398f}},
      {"s1-1280", 199, 1, 641, {0.571218431f, 0.755710065f, 0.500898838f}},
      {"s1", 57, 0, 1234, {-0.317466229f, 0.148424819f, 0.297071278f}},
      {"s1", 199, 1, 10241, {0.606812537f, 0.727844298f, 0.395136803f}},
      {"s2", 0, 13, 77, {0.594037414f, 0.450530738f, 0.682296395f}},
      {"s2", 100, 5, 2561, {1.95476091f, -0.548318803f, -2.52323985f}},
      {"s2", 199, 26, 1000, {0.967926621f, 1.55091059f, -0.268655211f}},
      {"s3", 0, 0, 5, {-1.89999998f, 0.251202941f, 0.809134841f}},
      {"s3", 200, 1, 9999, {0.988522708f, 0.619088054f, -0.190248311f}},
      {"s4", 0, 0, 46655, {1.63440204f, 6.01787996f, -1.17343459e-08f}},
      {"s4", 59, 0, 23333, {-0.0979888514f, 3.01457f, 0.129219294f}},
      {"s5-grid", 7, 1, 300, {2.0625f, 0.0625f, 0.5f}},
      {"s5-turned", 39, 1, 1537, {1.17904282f, -1.00042927f, 2.45416498f}},
      {"s5-turned", 0, 0, 800, {1.92143428f, -1.95863295f, 1.70976043f}},
  };
  for (size_t i = 0; i < sizeof samples / sizeof samples[0]; ++i) {
    pnScene *scene = makeScene(samples[i].name, 0);
    float *vertices = makeFrame(scene, samples[i].frame, samples[i].body);
    for (int k = 0; k < 3; ++k) {
      /* two float steps at the size of these scenes */
      assert_true(fabsf(vertices[3 * samples[i].vertex + k] - samples[i].place[k]) <= 5e-7f);
    }
    free(vertices);
    pnDestroyScene(scene);
  }
}

/* The formula of the header; volatile keeps this file's compiler from another order. */
static float blended(const float w[3], const float *const r[3], uint32_t i) {
  volatile float a = w[0] * r[0][i], b = w[1] * r[1][i], c = w[2] * r[2][i], ab = a + b;
  return ab + c;
}

static void expectFormula(const char *name) {
  pnScene *scene = makeScene(name, 0);
  assert_int_equal(pnScene_GetReferenceCount(scene), 3);
  uint32_t vertexCount = pnScene_GetVertexCount(scene, 0);
  for (uint32_t i = 0; i < 400 * pnScene_GetBodyCount(scene); ++i) {
    uint32_t frame = i % 400, body = i / 400;
    float w[3];
    pnMatrix m;
    assert_int_equal(pnScene_Weights(scene, frame, body, w, &m), PN_OK);
    assert_true(w[0] >= 0.0f && w[1] >= 0.0f && w[2] >= 0.0f);
    assert_true(fabsf(w[0] + w[1] + w[2] - 1.0f) < 2e-7f);
    float *vertices = makeFrame(scene, frame, body);
    const float *r[3];
    for (uint32_t k = 0; k < 3; ++k) r[k] = pnScene_GetReference(scene, body, k);
    for (uint32_t v = 0; v < 3 * vertexCount; v += 3) {
      float x = blended(w, r, v), y = blended(w, r, v + 1), z = blended(w, r, v + 2);
      for (uint32_t k = 0; k < 3; ++k) {
        volatile float a = m.m[k][0] * x, b = m.m[k][1] * y, c = m.m[k][2] * z, ab = a + b, abc = ab + c;
        assert_true(vertices[v + k] == abc + m.m[k][3]);
      }
    }
    free(vertices);
  }
  pnDestroyScene(scene);
}

static void test_weights(void **state) {
  (void)state;
  expectFormula("s3-320");
  expectFormula("e4-80");
  expectFormula("e5-564");
}

/* Every coordinate of the grid scene is a multiple of 1/16. */
static void test_grid_exact(void **state) {
  (void)state;
  pnScene *scene = makeScene("s5-grid", 0);
  for (uint32_t i = 0; i < 80; ++i) {
    float *vertices = makeFrame(scene, i / 2, i % 2);
    for (uint32_t k = 0; k < 3 * pnScene_GetVertexCount(scene, 0); ++k)
      assert_true(vertices[k] * 16.0f == floorf(vertices[k] * 16.0f));
    free(vertices);
  }
  pnDestroyScene(scene);
}

/* ---------------------------------------------------------------- pair counts */

static void test_pairs_spheres(void **state) {
  (void)state;
  pnScene *scene = makeScene("s1-20480", 0);
  assert_int_equal(countPairs(scene, 0, 0, 1), 0);
  assert_int_equal(countPairs(scene, 56, 0, 1), 0);
  assert_true(countPairs(scene, 57, 0, 1) > 0);
  assert_int_equal(countPairs(scene, 199, 0, 1), 3765);
  pnDestroyScene(scene);
}

static void test_pairs_cloth(void **state) {
  (void)state;
  pnScene *scene = makeScene("s4", 0);
  assert_int_equal(countPairs(scene, 0, 0, 0), 0);
  assert_int_equal(countPairs(scene, 59, 0, 0), 5879);
  pnDestroyScene(scene);
}

static void test_pairs_crowd(void **state) {
  (void)state;
  pnScene *scene = makeScene("s2-320", 0);
  size_t pairs = 0;
  for (uint32_t i = 0; i < 27 * 27; ++i) pairs += i / 27 < i % 27 ? countPairs(scene, 199, i / 27, i % 27) : 0;
  assert_true(pairs > 500);
  pnDestroyScene(scene);
}

/* ---------------------------------------------------------------- kept apart */

/* Plays a driven scene with exact contacts; returns how many there were, and the least distance of two bodies'
 * centres. */
static uint32_t play(pnScene *scene, double *outNearest) {
  uint32_t total = 0;
  *outNearest = INFINITY;
  for (uint32_t frame = 0; frame < pnScene_GetFrameCount(scene); ++frame) {
    assert_int_equal(pnScene_GetReadyFrameCount(scene), frame + 1);
    double centres[27][3];
    uint32_t vertexCount = pnScene_GetVertexCount(scene, 0), count = 0;
    for (uint32_t body = 0; body < 27; ++body) {
      float *v = makeFrame(scene, frame, body);
      memset(centres[body], 0, sizeof centres[body]);
      for (uint32_t i = 0; i < 3 * vertexCount; ++i) centres[body][i % 3] += v[i] / vertexCount;
      free(v);
    }
    pnSceneContact contacts[27 * 26 / 2];
    for (uint32_t i = 0; i < 27 * 27; ++i) {
      uint32_t a = i / 27, b = i % 27;
      double x = centres[a][0] - centres[b][0], y = centres[a][1] - centres[b][1], z = centres[a][2] - centres[b][2];
      double distance = sqrt(x * x + y * y + z * z);
      if (a < b && distance < 2.9 && countPairs(scene, frame, a, b) > 0) contacts[count++] = (pnSceneContact){a, b};
      *outNearest = a < b && distance < *outNearest ? distance : *outNearest;
    }
    assert_true(frame > 0 || count == 0);
    assert_int_equal(pnScene_Step(scene, contacts, count), PN_OK);
    total += count;
  }
  return total;
}

/* Bodies meet often, and never sink into each other: spheres of radius 1 with bumps of 0.12 at most, and cores of
 * 0.5. */
static void test_kept_apart(void **state) {
  (void)state;
  double nearest = 0.0;
  pnScene *scene = makeScene("e3-spheres-80", 0);
  uint32_t total = play(scene, &nearest);
  assert_true(total > 400);
  assert_true(nearest > 1.6);
  pnDestroyScene(scene);
  scene = makeScene("e3-arms-320", 0);
  total = play(scene, &nearest);
  assert_true(total > 400);
  assert_true(nearest > 1.0);
  pnDestroyScene(scene);
}

static void test_driven(void **state) {
  (void)state;
  pnScene *one = makeScene("e3-spheres-20", 5), *two = makeScene("e3-spheres-20", 0);
  float vertices[36];
  assert_true(pnScene_IsDriven(one));
  assert_int_equal(pnScene_Frame(one, 0, 0, vertices), PN_OK);
  assert_int_equal(pnScene_Frame(one, 1, 0, vertices), PN_ERROR_INDEX);
  /* a contact of a body that does not exist changes nothing */
  pnSceneContact bad = {3, 27};
  assert_int_equal(pnScene_Step(one, &bad, 1), PN_ERROR_INDEX);
  assert_int_equal(pnScene_GetReadyFrameCount(one), 1);

  /* order, repetition and direction of contacts make no difference */
  pnSceneContact some[3] = {{0, 1}, {1, 2}, {4, 13}}, turned[4] = {{13, 4}, {2, 1}, {1, 0}, {0, 1}};
  for (uint32_t i = 0; i < 300; ++i) {
    assert_int_equal(pnScene_Step(one, some, 3), PN_OK);
    assert_int_equal(pnScene_Step(two, turned, 4), PN_OK);
  }
  assert_int_equal(pnScene_GetReadyFrameCount(one), 200);
  for (uint32_t i = 0; i < 27; ++i) {
    float *a = makeFrame(one, 199, i), *b = makeFrame(two, 199, i);
    assert_memory_equal(a, b, sizeof vertices);
    free(a);
    free(b);
  }

  /* again from the start, the same frames */
  float *before = makeFrame(one, 150, 4);
  pnScene_Rewind(one);
  assert_int_equal(pnScene_GetReadyFrameCount(one), 1);
  for (uint32_t i = 0; i < 150; ++i) assert_int_equal(pnScene_Step(one, some, 3), PN_OK);
  float *after = makeFrame(one, 150, 4);
  assert_memory_equal(before, after, sizeof vertices);
  free(before);
  free(after);
  pnDestroyScene(one);
  pnDestroyScene(two);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),        cmocka_unit_test(test_bad_names),   cmocka_unit_test(test_bad_frames),
      cmocka_unit_test(test_closed),       cmocka_unit_test(test_cloth_shape), cmocka_unit_test(test_two_sides),
      cmocka_unit_test(test_same_bits),    cmocka_unit_test(test_frame_step),  cmocka_unit_test(test_yardstick),
      cmocka_unit_test(test_weights),      cmocka_unit_test(test_grid_exact),  cmocka_unit_test(test_pairs_spheres),
      cmocka_unit_test(test_pairs_cloth),  cmocka_unit_test(test_pairs_crowd), cmocka_unit_test(test_kept_apart),
      cmocka_unit_test(test_driven),       cmocka_unit_test(test_hostile),     cmocka_unit_test(test_mixed),
      cmocka_unit_test(test_small_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
