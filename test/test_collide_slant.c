/* test_collide_slant.c: slants (collide/slant.h). Clouds of triangles that lie askew have so many pairs that slants are made; the pairs
 * found must be those of the exact test on every pair of triangles, where sums are rounded, overflow or vanish, and where
 * everything touches. */
#include "support.h"

#include "collide/slant.h"
#include "pinch/collide.h"
#include "pinch/geom.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 400u /* triangles of a body: 50 leaves, so that there is more than one batch of pairs */

static TestRandom dice;

/* Where a corner may be. */
typedef enum Kind { CLOUD, LATTICE, FAR_LATTICE, HUGE, TINY, KINDS } Kind;

static float coordinate(Kind kind) {
  switch (kind) {
    case LATTICE: return (float)testBelow(&dice, 6);
    case FAR_LATTICE: return 8388608.0f + (float)testBelow(&dice, 12); /* sums are above 2^24: odd ones are rounded */
    case HUGE: return testFloat(&dice, -FLT_MAX, FLT_MAX);
    case TINY: return (float)testBelow(&dice, 9) * 1e-45f;
    default: return testFloat(&dice, -1, 1);
  }
}

/* Triangles of a size that lets a few of a hundred meet; each lies in the plane x+y = const, x-y = const, ... or anyhow. */
static void scatter(Kind kind, float *out) {
  for (uint32_t i = 0; i < COUNT; ++i) {
    float *p = out + 9 * (size_t)i, middle[3];
    for (int k = 0; k < 3; ++k) middle[k] = coordinate(kind);
    for (int c = 0; c < 3; ++c) {
      for (int k = 0; k < 3; ++k) {
        float other = coordinate(kind);
        p[3 * c + k] = kind == CLOUD || kind == HUGE ? 0.6f * middle[k] + 0.4f * other : other;
      }
      if (i % 3 == 0 && kind != HUGE)
        p[3 * c + 1] = kind == FAR_LATTICE ? 16777216.0f + 10 - p[3 * c] : middle[0] - p[3 * c];
    }
  }
}

typedef struct Body {
  pnMesh *mesh;
  pnPose *pose;
  pnTree *tree;
  float positions[9 * COUNT + 1];
} Body;

static void openBody(Body *body, Kind kind) {
  uint32_t *triangles = malloc(3 * COUNT * sizeof(uint32_t));
  for (uint32_t i = 0; i < 3 * COUNT; ++i) triangles[i] = i;
  scatter(kind, body->positions);
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = body->positions;
  def.vertexCount = 3 * COUNT;
  def.triangles = triangles;
  def.triangleCount = COUNT;
  def.weld = false;
  testExpectOk(pnCreateMesh(&def, &body->mesh));
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = body->mesh;
  testExpectOk(pnCreatePose(&poseDef, &body->pose));
  pnTreeDef treeDef = pnDefaultTreeDef();
  treeDef.pose = body->pose;
  testExpectOk(pnCreateTree(&treeDef, &body->tree));
  free(triangles);
}

static void closeBody(Body *body) {
  pnDestroyTree(body->tree);
  pnDestroyPose(body->pose);
  pnDestroyMesh(body->mesh);
}

static void moveBody(Body *body, Kind kind) {
  scatter(kind, body->positions);
  testExpectOk(pnPose_SetVertices(body->pose, body->positions, 3 * COUNT));
}

static pnTriangle triangleOf(const Body *body, uint32_t i) {
  pnTriangle t;
  memcpy(t.v, body->positions + 9 * (size_t)i, sizeof t.v);
  return t;
}

/* b null: self. */
static void expectTruth(const Body *a, const Body *b, const pnPairList *list) {
  const pnPair *pairs = pnPairList_GetPairs(list);
  size_t n = 0, count = pnPairList_GetCount(list);
  for (uint32_t i = 0; i < COUNT; ++i) {
    for (uint32_t j = b ? 0 : i + 1; j < COUNT; ++j) {
      pnTriangle s = triangleOf(a, i), t = triangleOf(b ? b : a, j);
      if (pnTrianglesMeet(&s, &t)) {
        assert_true(n < count && pairs[n].a == i && pairs[n].b == j);
        ++n;
      }
    }
  }
  assert_true(n == count && n > 0);
}

static bool boxesOverlap(const pnTriangle *s, const pnTriangle *t) {
  for (int k = 0; k < 3; ++k) {
    float lo[2], hi[2];
    for (int i = 0; i < 2; ++i) {
      const pnTriangle *u = i ? t : s;
      lo[i] = PN_MIN(u->v[0][k], PN_MIN(u->v[1][k], u->v[2][k]));
      hi[i] = PN_MAX(u->v[0][k], PN_MAX(u->v[1][k], u->v[2][k]));
    }
    if (lo[0] > hi[1] || lo[1] > hi[0]) return false;
  }
  return true;
}

static uint64_t candidatesOf(const Body *a, const Body *b) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < COUNT * COUNT; ++i) {
    pnTriangle s = triangleOf(a, i / COUNT), t = triangleOf(b, i % COUNT);
    n += boxesOverlap(&s, &t);
  }
  return n;
}

/* ---------------------------------------------------------------- tests */

static void sameAsEveryPair(void **state) {
  (void)state;
  Body a, b;
  pnPairList *list;
  pnPool *pool;
  testExpectOk(pnCreatePairList(&list));
  testExpectOk(pnCreatePool(3, &pool));
  for (int kind = 0; kind < KINDS; ++kind) {
    openBody(&a, kind);
    openBody(&b, kind);
    for (uint32_t frame = 0; frame < 4; ++frame) {
      pnQueryDef def = pnDefaultQueryDef();
      def.tasks = frame % 2 ? pnPool_GetTasks(pool) : def.tasks;
      pnCost cost;
      testExpectOk(pnCollideTrees(a.tree, b.tree, &def, list, &cost));
      expectTruth(&a, &b, list);
      /* they are in use: nothing else takes candidates out */
      assert_true(a.tree->slants && b.tree->slants);
      if (kind == CLOUD && frame % 2 == 0) assert_true(4 * cost.exactTests < 3 * candidatesOf(&a, &b));
      testExpectOk(pnCollideSelf(a.tree, &def, list, NULL));
      expectTruth(&a, NULL, list);
      moveBody(frame % 2 ? &a : &b, kind);
    }
    closeBody(&a);
    closeBody(&b);
  }
  pnDestroyPool(pool);
  pnDestroyPairList(list);
}

/* With several threads from the beginning: wished for in the first query, there in the second. */
static void wishesAreGranted(void **state) {
  (void)state;
  Body a, b;
  pnPairList *list;
  pnPool *pool;
  testExpectOk(pnCreatePairList(&list));
  testExpectOk(pnCreatePool(2, &pool));
  openBody(&a, CLOUD);
  openBody(&b, CLOUD);
  pnQueryDef def = pnDefaultQueryDef();
  def.tasks = pnPool_GetTasks(pool);
  size_t bytes = pnTree_GetByteCount(a.tree);
  testExpectOk(pnCollideTrees(a.tree, b.tree, &def, list, NULL));
  assert_null(a.tree->slants);
  testExpectOk(pnCollideTrees(a.tree, b.tree, &def, list, NULL));
  assert_true(a.tree->slants && pnTree_GetByteCount(a.tree) > bytes);
  expectTruth(&a, &b, list);
  closeBody(&a);
  closeBody(&b);
  pnDestroyPool(pool);
  pnDestroyPairList(list);
}

/* Leaves of a soup are other ones in every frame, and more when there is more in it: slants are for all of them, or made anew. */
static void soupsHaveSlants(void **state) {
  (void)state;
  Body a, b;
  pnSoup *soup;
  pnTree *tree;
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  testExpectOk(pnCreateSoup(NULL, &soup));
  openBody(&a, CLOUD);
  openBody(&b, CLOUD);
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, a.positions, COUNT, NULL));
  pnBucketDef def = pnDefaultBucketDef();
  def.soup = soup;
  testExpectOk(pnCreateBucketTree(&def, &tree));
  uint32_t room = 0;
  for (uint32_t frame = 0; frame < 4; ++frame) {
    pnCost cost;
    testExpectOk(pnCollideTrees(tree, b.tree, NULL, list, &cost));
    assert_true(tree->slants && tree->slants->count >= tree->shape->leafCount);
    assert_true(4 * cost.exactTests < 3 * (1 + frame) * candidatesOf(&a, &b));
    /* each triangle of the body as often as it is in the soup */
    const pnPair *pairs = pnPairList_GetPairs(list);
    size_t n = 0;
    for (uint32_t i = 0; i < (1 + frame) * COUNT; ++i) {
      for (uint32_t j = 0; j < COUNT; ++j) {
        pnTriangle s = triangleOf(&a, i % COUNT), t = triangleOf(&b, j);
        if (!pnTrianglesMeet(&s, &t)) continue;
        assert_true(n < pnPairList_GetCount(list) && pairs[n].a == i && pairs[n].b == j);
        ++n;
      }
    }
    assert_true(n == pnPairList_GetCount(list) && n > 0);
    assert_true(tree->slants->count > room || frame == 0);
    room = tree->slants->count;
    testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, a.positions, COUNT, NULL));
  }
  pnDestroyTree(tree);
  pnDestroySoup(soup);
  closeBody(&a);
  closeBody(&b);
  pnDestroyPairList(list);
}

/* Few pairs: not worth it. */
static void notForFew(void **state) {
  (void)state;
  Body a, b;
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  openBody(&a, CLOUD);
  openBody(&b, CLOUD);
  for (uint32_t i = 0; i < 3 * COUNT; ++i) b.positions[3 * i] += 1.9f;
  testExpectOk(pnPose_SetVertices(b.pose, b.positions, 3 * COUNT));
  testExpectOk(pnCollideTrees(a.tree, b.tree, NULL, list, NULL));
  assert_true(!a.tree->slants && !b.tree->slants);
  closeBody(&a);
  closeBody(&b);
  pnDestroyPairList(list);
}

/* Every width makes the same records and the same choice; triangles that touch are never apart. */
static void widthsAgree(void **state) {
  (void)state;
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (!__builtin_cpu_supports("avx2")) return;
  for (int kind = 0; kind < KINDS; ++kind) {
    Body a;
    openBody(&a, kind);
    uint32_t leaves = a.tree->shape->leafCount;
    size_t floats = (size_t)leaves * PN_SLANT_LEAF;
    float *records[2] = {calloc(floats, sizeof(float)), calloc(floats, sizeof(float))};
    size_t hullFloats = (size_t)leaves * PN_SLANT_FLOATS;
    float *hulls[2] = {calloc(hullFloats, sizeof(float)), calloc(hullFloats, sizeof(float))};
    const pnSlantLoops *loops[2] = {&pn_slantLoops4, &pn_slantLoops8Avx2};
    pnPair *pairs[2] = {malloc(COUNT * COUNT * sizeof(pnPair)), malloc(COUNT * COUNT * sizeof(pnPair))};
    size_t kept[2];
    for (int i = 0; i < 2; ++i) {
      pnFresh fresh = {.alone = true};
      for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
        pn_freshen(a.tree, a.tree->shape->innerCount + leaf, &fresh);
        loops[i]->fill(a.tree, leaf, records[i] + (size_t)leaf * PN_SLANT_LEAF,
                       hulls[i] + (size_t)leaf * PN_SLANT_FLOATS);
      }
      for (uint32_t k = 0; k < COUNT * COUNT; ++k) pairs[i][k] = (pnPair){k / COUNT, k % COUNT};
      kept[i] = loops[i]->keepSlots(records[i], records[i], pairs[i], COUNT * COUNT);
    }
    assert_memory_equal(records[0], records[1], floats * sizeof(float));
    assert_memory_equal(hulls[0], hulls[1], hullFloats * sizeof(float));
    assert_true(kept[0] == kept[1] && kept[0] >= COUNT);
    assert_memory_equal(pairs[0], pairs[1], kept[0] * sizeof(pnPair));
    for (int i = 0; i < 2; ++i) {
      free(records[i]);
      free(hulls[i]);
      free(pairs[i]);
    }
    closeBody(&a);
  }
#endif
}

int main(void) {
  dice = testRandom(20261115);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sameAsEveryPair), cmocka_unit_test(wishesAreGranted), cmocka_unit_test(soupsHaveSlants),
      cmocka_unit_test(notForFew),       cmocka_unit_test(widthsAgree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
