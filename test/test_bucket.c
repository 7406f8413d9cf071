/* test_bucket.c: the tree over a soup finds the pairs that exact arithmetic finds on every pair of primitives, for every
 * method, number of levels and thread count, whatever comes, goes or clusters; Algorithms 1 and 2 agree on every bucket. */
#include "support.h"

#include "oracle.h"
#include "pinch/world.h"
#include "tree/bucket.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define METHODS 5u

/* ---------------------------------------------------------------- soups and truth */

typedef struct Pairs {
  pnPair *data;
  size_t count;
} Pairs;

static pnTriangle triangleOf(const pnSoup *soup, uint32_t place) {
  pnTriangle t;
  float corners[9];
  assert_int_not_equal(pnSoup_GetCorners(soup, pnSoup_GetId(soup, place), corners), 0);
  memcpy(t.v, corners, sizeof corners);
  return t;
}

static bool boxesTouch(const pnTriangle *s, const pnTriangle *t) {
  for (int k = 0; k < 3; ++k) {
    float sl = fminf(s->v[0][k], fminf(s->v[1][k], s->v[2][k])), sh = fmaxf(s->v[0][k], fmaxf(s->v[1][k], s->v[2][k]));
    float tl = fminf(t->v[0][k], fminf(t->v[1][k], t->v[2][k])), th = fmaxf(t->v[0][k], fmaxf(t->v[1][k], t->v[2][k]));
    if (sl > th || tl > sh) return false;
  }
  return true;
}

/* By whole numbers, or by the library's own exact test where that was checked before. b null: self. */
static Pairs truthOf(const pnSoup *a, const pnSoup *b, bool oracle) {
  Pairs out = {0};
  size_t room = 0;
  const pnSoup *other = b ? b : a;
  for (uint32_t s = 0; s < pnSoup_GetPlaceCount(a); ++s) {
    for (uint32_t t = b ? 0 : s + 1; t < pnSoup_GetPlaceCount(other); ++t) {
      if (!pnSoup_GetId(a, s).index1 || !pnSoup_GetId(other, t).index1) continue;
      pnTriangle x = triangleOf(a, s), y = triangleOf(other, t);
      if (!boxesTouch(&x, &y)) continue;
      if (oracle) oracleIntersect(&x, &y);
      if (oracle ? oracleMeet() : pnTrianglesMeet(&x, &y)) {
        if (out.count == room) {
          room = 2 * room + 64;
          out.data = realloc(out.data, room * sizeof(pnPair));
          assert_non_null(out.data);
        }
        out.data[out.count++] = (pnPair){s, t};
      }
    }
  }
  return out;
}

static void expectPairs(const Pairs *truth, const pnPairList *found, const char *what) {
  if (truth->count != pnPairList_GetCount(found) ||
      (truth->count > 0 && memcmp(truth->data, pnPairList_GetPairs(found), truth->count * sizeof(pnPair)) != 0))
    fail_msg("%s: %zu pairs found, %zu are true", what, pnPairList_GetCount(found), truth->count);
}

static pnSoup *newSoup(void) {
  pnSoup *soup;
  testExpectOk(pnCreateSoup(NULL, &soup));
  return soup;
}

static pnTree *newTree(const pnSoup *soup, pnBucketMethod method, uint32_t levels) {
  pnBucketDef def = pnDefaultBucketDef();
  pnTreeLab lab = {0};
  def.lab = &lab;
  def.soup = soup;
  lab.method = method;
  lab.levels = levels;
  pnTree *tree;
  testExpectOk(pnCreateBucketTree(&def, &tree));
  return tree;
}

/* The shapes of soups that try a place-by-centre index. */
enum { EVEN, FLAT, ONE_POINT, ONE_FAR, LONG_ONES, ON_GRID, HUGE_NUMBERS, TINY_NUMBERS, SHAPES };

static void addPrimitives(TestRandom *r, pnSoup *soup, uint32_t shape, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    float p[9], c[3];
    uint32_t kind = 1 + testBelow(r, 3);
    kind = testBelow(r, 2) ? 3 : kind;
    float size = shape == LONG_ONES && i % 7 == 0 ? 3.0f : 0.15f;
    for (int k = 0; k < 3; ++k) {
      c[k] = shape == ONE_POINT ? 0.25f : testFloat(r, -1, 1);
      c[k] = shape == FLAT && k == 2 ? 0 : c[k];
    }
    for (int k = 0; k < 9; ++k) {
      p[k] = c[k % 3] + testFloat(r, -size, size);
      p[k] = shape == ON_GRID ? floorf(4 * p[k]) * 0.25f : shape == FLAT && k % 3 == 2 ? 0 : p[k];
      p[k] = shape == ONE_POINT && i % 2 ? 0.25f : p[k];
      p[k] *= shape == HUGE_NUMBERS ? 2.9e38f : shape == TINY_NUMBERS ? 1e-42f : 1;
      p[k] += shape == ONE_FAR && i == 0 ? 1e7f : 0;
    }
    testExpectOk(pnSoup_Add(soup, (pnPrimitiveKind)kind, p, 1, NULL));
  }
}

/* ---------------------------------------------------------------- buckets */

/* Moves every primitive a little, or anywhere. */
static void shake(TestRandom *r, pnSoup *soup, float reach) {
  uint32_t places = pnSoup_GetPlaceCount(soup);
  for (uint32_t place = 0; place < places; ++place) {
    pnPrimitiveId id = pnSoup_GetId(soup, place);
    float p[9];
    uint32_t kind = id.index1 ? pnSoup_GetCorners(soup, id, p) : 0;
    for (int k = 0; kind && k < 9; ++k) p[k] += testFloat(r, -reach, reach);
    if (kind) testExpectOk(pnSoup_Replace(soup, &id, (pnPrimitiveKind)kind, p, 1));
  }
}

static const pnBuckets *bucketsOf(const pnTree *tree) {
  return tree->ruleData;
}

/* The bucket of every living primitive is the same by division and by sorted arrays; and every primitive is in it. */
static void testSameBuckets(void **state) {
  (void)state;
  TestRandom r = testRandom(11);
  for (uint32_t shape = 0; shape < SHAPES; ++shape) {
    for (uint32_t levels = 0; levels <= 6; ++levels) {
      pnSoup *soup = newSoup();
      addPrimitives(&r, soup, shape, 150);
      pnTree *direct = newTree(soup, PN_BUCKET_DIRECT, levels), *sorted = newTree(soup, PN_BUCKET_SORTED, levels);
      for (uint32_t frame = 0; frame < 6; ++frame) {
        testExpectOk(pnTree_Update(direct, NULL));
        testExpectOk(pnTree_Update(sorted, NULL));
        const pnBuckets *p = bucketsOf(direct), *q = bucketsOf(sorted);
        for (uint32_t place = 0; place < pnSoup_GetPlaceCount(soup); ++place)
          assert_true(!pnSoup_GetId(soup, place).index1 || p->cells[place] == q->cells[place]);
        assert_int_equal(pn_octreeOf(p)->bucketCount, pn_octreeOf(q)->bucketCount);
        assert_int_equal(pnTree_GetBucketInfo(direct).largest, pnTree_GetBucketInfo(sorted).largest);
        assert_memory_equal(p->order, q->order, p->count * sizeof(uint32_t));
        testExpectOk(pnTree_Validate(direct));
        testExpectOk(pnTree_Validate(sorted));
        /* some go, some come, all move; and in one frame without any coherence */
        for (uint32_t i = 0; i < 10; ++i) {
          pnPrimitiveId id = pnSoup_GetId(soup, testBelow(&r, pnSoup_GetPlaceCount(soup)));
          if (id.index1) testExpectOk(pnSoup_Remove(soup, &id, 1));
        }
        addPrimitives(&r, soup, shape, 5 + frame);
        float scale = shape == HUGE_NUMBERS ? 1e35f : shape == TINY_NUMBERS ? 1e-43f : 0.01f;
        shake(&r, soup, frame == 3 ? 50 * scale : scale);
      }
      pnDestroyTree(direct);
      pnDestroyTree(sorted);
      pnDestroySoup(soup);
    }
  }
}

/* The same while nothing comes or goes, where Algorithm 2 does least: rigid motion, where no place in its arrays changes; a box that
 * one primitive stretches, where only the pointers move; little shakes; and rest. */
static void testSameBucketsCoherent(void **state) {
  (void)state;
  TestRandom r = testRandom(13);
  for (uint32_t levels = 1; levels <= 7; ++levels) {
    pnSoup *soup = newSoup();
    addPrimitives(&r, soup, EVEN, 300);
    pnTree *direct = newTree(soup, PN_BUCKET_DIRECT, levels), *sorted = newTree(soup, PN_BUCKET_SORTED, levels);
    const pnBuckets *p = bucketsOf(direct), *q = bucketsOf(sorted);
    uint32_t unmoved = 0, places = pnSoup_GetPlaceCount(soup);
    float *all = malloc(sizeof(float) * 9 * places);
    for (uint32_t frame = 0; frame < 40; ++frame) {
      for (uint32_t i = 0; i < places; ++i) {
        pnSoup_GetCorners(soup, pnSoup_GetId(soup, i), all + 9 * i);
        for (uint32_t k = 0; k < 9; ++k) {
          float rigid = frame % 4 == 0 ? 0.25f : 0, far = frame % 4 == 1 && i == 0 ? 0.5f : 0;
          all[9 * i + k] += rigid + far + (frame % 4 == 2 ? testFloat(&r, -0.002f, 0.002f) : 0);
        }
      }
      testExpectOk(pnSoup_SetAll(soup, all, places));
      testExpectOk(pnTree_Update(direct, NULL));
      testExpectOk(pnTree_Update(sorted, NULL));
      unmoved += pnTree_GetBucketInfo(sorted).moves == 0;
      assert_memory_equal(p->cells, q->cells, places * sizeof(uint32_t));
      assert_memory_equal(p->order, q->order, places * sizeof(uint32_t));
    }
    assert_true(unmoved > 10);
    free(all);
    pnDestroyTree(direct);
    pnDestroyTree(sorted);
    pnDestroySoup(soup);
  }
}

/* The cells of a cube at the beginning of the curve are its first steps, each once, and every step goes to a neighbour. */
static void checkCurve(uint32_t bits, void (*codes)(const pnCells cells[3], pnCodeBatch *batch)) {
  enum { SIDE = 16, CELLS = SIDE * SIDE * SIDE };
  static int at[CELLS][3];
  bool seen[CELLS] = {false};
  pnCells cells[3];
  for (int k = 0; k < 3; ++k) cells[k] = pn_cellsOver(0, (float)(1u << bits), bits);
  assert_int_equal(pn_bitsOf(cells), bits);
  for (int first = 0; first < CELLS; first += PN_CODE_BATCH) {
    pnCodeBatch batch = {.count = PN_CODE_BATCH};
    int cell[PN_CODE_BATCH][3];
    for (int i = 0; i < (int)PN_CODE_BATCH; ++i) {
      int n = first + i;
      for (int k = 0; k < 3; ++k, n /= SIDE) {
        cell[i][k] = n % SIDE;
        batch.centres[i][k] = (float)cell[i][k] + 0.5f;
      }
    }
    codes(cells, &batch);
    for (uint32_t i = 0; i < PN_CODE_BATCH; ++i) {
      assert_true(batch.codes[i] < CELLS && !seen[batch.codes[i]]);
      seen[batch.codes[i]] = true;
      memcpy(at[batch.codes[i]], cell[i], sizeof cell[i]);
    }
  }
  for (int i = 1; i < CELLS; ++i)
    assert_int_equal(abs(at[i][0] - at[i - 1][0]) + abs(at[i][1] - at[i - 1][1]) + abs(at[i][2] - at[i - 1][2]), 1);
}

/* Centres anywhere, beyond the box and at its borders too, and batches that are not full: every kind of machine finds the same cells, the
 * nearest ones of the box. */
static void checkCells(void) {
  TestRandom r = testRandom(43);
  for (int round = 0; round < 200; ++round) {
    float size = round % 5 == 0 ? FLT_MAX : round % 5 == 1 ? 0x1p-140f : 2;
    uint32_t bits = round % 2 == 0 ? PN_FEW_BITS : PN_CURVE_BITS;
    pnCells cells[3];
    for (int k = 0; k < 3; ++k) cells[k] = pn_cellsOver(-size / 2, size / 2, bits);
    pnCodeBatch batches[2] = {{.count = 1 + testBelow(&r, PN_CODE_BATCH)}}, within;
    for (uint32_t i = 0; i < batches[0].count; ++i)
      for (int k = 0; k < 3; ++k)
        batches[0].centres[i][k] =
            testBelow(&r, 8) == 0 ? (float)testBelow(&r, 2) * size - size / 2 : size * testFloat(&r, -0.75f, 0.75f);
    within = batches[1] = batches[0];
    for (uint32_t i = 0; i < within.count; ++i)
      for (int k = 0; k < 3; ++k) within.centres[i][k] = fmaxf(-size / 2, fminf(size / 2, within.centres[i][k]));
    pn_hilbertCodesPlain(cells, &batches[0]);
    pn_hilbertCodes(cells, &batches[1]);
    pn_hilbertCodes(cells, &within);
    assert_memory_equal(batches[0].codes, batches[1].codes, batches[0].count * sizeof(uint32_t));
    assert_memory_equal(batches[0].codes, within.codes, batches[0].count * sizeof(uint32_t));
  }
}

/* Both lengths of a code; and sorting by them, by all of their digits: few primitives, more, and so many that codes are long. */
static void testCurve(void **state) {
  (void)state;
  const uint32_t counts[] = {500, 5000, 70000};
  for (int many = 0; many < 3; many += 2) {
    checkCurve(pn_bitsFor(counts[many]), pn_hilbertCodesPlain);
    checkCurve(pn_bitsFor(counts[many]), pn_bucketKept.codes);
  }
  checkCells();
  assert_true(pn_bitsFor(counts[2]) == PN_CURVE_BITS && pn_bitsFor(counts[1]) < PN_CURVE_BITS);
  TestRandom r = testRandom(41);
  float *all = malloc(sizeof(float) * 9 * counts[2]);
  assert_non_null(all);
  for (uint32_t i = 0; i < 9 * counts[2]; ++i)
    all[i] = i % 9 < 3 ? testFloat(&r, -1, 1) : all[i - 3] + testFloat(&r, -0.01f, 0.01f);
  for (int c = 0; c < 3; ++c) {
    pnSoup *soup = newSoup();
    testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, all, counts[c], NULL));
    pnTree *tree = newTree(soup, PN_BUCKET_KEPT, 0);
    const pnBuckets *b = bucketsOf(tree);
    for (uint32_t i = 1; i < counts[c]; ++i) assert_true(b->keys[i - 1].key <= b->keys[i].key);
    testExpectOk(pnTree_Validate(tree));
    pnDestroyTree(tree);
    pnDestroySoup(soup);
  }
  free(all);
}

/* The marks: after everything moved into one corner, no node elsewhere is occupied, and none is visited. */
static void testMarks(void **state) {
  (void)state;
  TestRandom r = testRandom(12);
  pnSoup *soup = newSoup();
  addPrimitives(&r, soup, EVEN, 300);
  pnTree *tree = newTree(soup, PN_BUCKET_DIRECT, 4);
  for (uint32_t frame = 0; frame < 3; ++frame) {
    const pnBuckets *b = bucketsOf(tree);
    uint32_t occupied = 0, counted = 0;
    for (uint32_t i = 0; i < 1u << 12; ++i)
      occupied += pn_octreeOf(b)->nodes[pn_levelBegin(4) + i].mark == pn_octreeOf(b)->step;
    for (uint32_t place = 0; place < 300; ++place) {
      uint32_t cell = b->cells[place];
      ++counted;
      for (uint32_t level = 5; level-- > 0; cell >>= 3)
        assert_int_equal(pn_octreeOf(b)->nodes[pn_levelBegin(level) + cell].mark, pn_octreeOf(b)->step);
    }
    assert_int_equal(counted, 300);
    assert_int_equal(occupied, pnTree_GetBucketInfo(tree).bucketCount);
    shake(&r, soup, 0.3f);
    testExpectOk(pnTree_Update(tree, NULL));
  }
  pnDestroyTree(tree);
  pnDestroySoup(soup);
}

/* ---------------------------------------------------------------- pairs */

static pnPool *s_pool;

static void checkPair(pnSoup *a, pnSoup *b, const Pairs *truth, const Pairs *self, uint32_t method, uint32_t levels,
                      pnPairList *list) {
  pnTree *s = newTree(a, (pnBucketMethod)method, levels),
         *t = newTree(b, (pnBucketMethod)((method + levels) % METHODS), levels);
  for (uint32_t threads = 1; threads <= 3; threads += 2) {
    pnQueryDef def = pnDefaultQueryDef();
    def.tasks = threads > 1 ? pnPool_GetTasks(s_pool) : (pnTasks){0};
    testExpectOk(pnCollideTrees(s, t, &def, list, NULL));
    expectPairs(truth, list, "soup against soup");
    testExpectOk(pnCollideSelf(s, &def, list, NULL));
    expectPairs(self, list, "soup with itself");
    def.first = true;
    testExpectOk(pnCollideTrees(s, t, &def, list, NULL));
    assert_int_equal(pnPairList_GetCount(list), truth->count > 0);
    testExpectOk(pnCollideSelf(s, &def, list, NULL));
    assert_int_equal(pnPairList_GetCount(list), self->count > 0);
  }
  testExpectOk(pnTree_Validate(s));
  pnDestroyTree(s);
  pnDestroyTree(t);
}

static void testPairs(void **state) {
  (void)state;
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  TestRandom r = testRandom(13);
  for (uint32_t shape = 0; shape < SHAPES; ++shape) {
    pnSoup *a = newSoup(), *b = newSoup();
    addPrimitives(&r, a, shape, 120);
    addPrimitives(&r, b, shape, 90);
    /* holes among the places */
    for (uint32_t i = 0; i < 10; ++i) {
      pnPrimitiveId id = pnSoup_GetId(a, 11 * i);
      testExpectOk(pnSoup_Remove(a, &id, 1));
    }
    Pairs truth = truthOf(a, b, true), self = truthOf(a, NULL, true);
    for (uint32_t method = 0; method < METHODS; ++method)
      for (uint32_t levels = 0; levels <= 5; ++levels) checkPair(a, b, &truth, &self, method, levels, list);
    free(truth.data);
    free(self.data);
    pnDestroySoup(a);
    pnDestroySoup(b);
  }
  pnDestroyPairList(list);
}

/* Many operations, looked at from time to time; the index is never told. */
static void testRandomOperations(void **state) {
  (void)state;
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  pnSoup *soup = newSoup();
  pnTree *tree[METHODS];
  for (uint32_t m = 0; m < METHODS; ++m) tree[m] = newTree(soup, (pnBucketMethod)m, 0);
  TestRandom r = testRandom(17);
  for (uint32_t op = 0; op < 100000; ++op) {
    uint32_t what = testBelow(&r, 100), places = pnSoup_GetPlaceCount(soup);
    pnPrimitiveId id = places ? pnSoup_GetId(soup, testBelow(&r, places)) : (pnPrimitiveId){0, 0};
    if (what < 50 && pnSoup_GetCount(soup) < 100) {
      addPrimitives(&r, soup, EVEN, 1);
    } else if (what < 90 && id.index1) {
      testExpectOk(pnSoup_Remove(soup, &id, 1));
    } else if (what < 99 && id.index1) {
      pnPlane plane = {{testFloat(&r, -1, 1), testFloat(&r, -1, 1), 1}, testFloat(&r, -1, 1)};
      pnCut cut;
      testExpectOk(pnSoup_Cut(soup, id, &plane, &cut));
    } else if (op % 3 == 0) {
      shake(&r, soup, 0.02f);
    }
    if (op % 250 == 0) {
      Pairs self = truthOf(soup, NULL, op % 5000 == 0);
      for (uint32_t m = 0; m < METHODS; ++m) {
        testExpectOk(pnCollideSelf(tree[m], NULL, list, NULL));
        expectPairs(&self, list, "after random operations");
      }
      free(self.data);
    }
  }
  /* down to nothing and back */
  for (uint32_t place = 0; place < pnSoup_GetPlaceCount(soup); ++place) {
    pnPrimitiveId id = pnSoup_GetId(soup, place);
    testExpectOk(id.index1 ? pnSoup_Remove(soup, &id, 1) : PN_OK);
  }
  for (uint32_t m = 0; m < METHODS; ++m) {
    testExpectOk(pnCollideSelf(tree[m], NULL, list, NULL));
    assert_int_equal(pnPairList_GetCount(list), 0);
    assert_int_equal(pnTree_GetNodeCount(tree[m]), 0);
  }
  addPrimitives(&r, soup, EVEN, 60);
  Pairs self = truthOf(soup, NULL, true);
  for (uint32_t m = 0; m < METHODS; ++m) {
    testExpectOk(pnCollideSelf(tree[m], NULL, list, NULL));
    expectPairs(&self, list, "after being empty");
    testExpectOk(pnTree_Rebuild(tree[m]));
    pnDestroyTree(tree[m]);
  }
  free(self.data);
  pnDestroySoup(soup);
  pnDestroyPairList(list);
}

/* A few come, go and are replaced in every frame, all drift: the kept order is merged again and again, and sorted when worn. */
static void testKept(void **state) {
  (void)state;
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  TestRandom r = testRandom(29);
  pnSoup *soup = newSoup();
  addPrimitives(&r, soup, EVEN, 280);
  pnTree *tree = newTree(soup, PN_BUCKET_KEPT, 0);
  for (uint32_t frame = 0; frame < 60; ++frame) {
    for (uint32_t i = 0; i < 20; ++i) {
      pnPrimitiveId id = pnSoup_GetId(soup, testBelow(&r, pnSoup_GetPlaceCount(soup)));
      float p[9];
      for (int k = 0; k < 9; ++k) p[k] = testFloat(&r, -0.1f, 0.1f) + (frame == 30 ? 40.0f : 0.5f);
      if (id.index1 && i % 2) testExpectOk(pnSoup_Remove(soup, &id, 1));
      else if (id.index1) testExpectOk(pnSoup_Replace(soup, &id, PN_PRIMITIVE_TRIANGLE, p, 1));
    }
    /* sometimes as many as went, sometimes not */
    uint32_t missing = 280 - pnSoup_GetCount(soup);
    addPrimitives(&r, soup, EVEN, frame % 3 ? missing : missing / 2);
    Pairs self = truthOf(soup, NULL, frame % 20 == 0);
    testExpectOk(pnCollideSelf(tree, NULL, list, NULL));
    expectPairs(&self, list, "kept order");
    free(self.data);
    testExpectOk(pnTree_Validate(tree));
  }
  /* merged for the most part: sorted when the places are few, at first, and when worn */
  uint64_t sorts = pn_keptOf(bucketsOf(tree))->sorts;
  assert_true(sorts >= 1 && sorts < 20);
  /* all somewhere else */
  for (uint32_t i = 0; i < 3; ++i) {
    uint32_t places = pnSoup_GetPlaceCount(soup);
    float *all = malloc(sizeof(float) * 9 * places);
    assert_non_null(all);
    for (uint32_t k = 0; k < 9 * places; ++k)
      all[k] = (k % 9 < 3 ? testFloat(&r, -1, 1) : all[k - 3] + testFloat(&r, -0.05f, 0.05f));
    testExpectOk(pnSoup_SetAll(soup, all, places));
    Pairs self = truthOf(soup, NULL, false);
    testExpectOk(pnCollideSelf(tree, NULL, list, NULL));
    expectPairs(&self, list, "after a leap");
    free(self.data);
    free(all);
  }
  pnDestroyTree(tree);
  pnDestroySoup(soup);
  pnDestroyPairList(list);
}

/* Every primitive goes its own way and turns back at the walls. */
static void drift(float *velocities, float *all, uint32_t places) {
  for (uint32_t i = 0; i < places; ++i) {
    for (uint32_t k = 0; k < 9; ++k) {
      float *v = &velocities[3 * i + k % 3];
      if (k < 3 && all[9 * i + k] * *v > 0 && (all[9 * i + k] > 1 || all[9 * i + k] < -1)) *v = -*v;
      all[9 * i + k] += *v;
    }
  }
}

/* No update sorts everything: while all drift apart the order is renewed in slices, as often as it must, and nothing is missed in
 * any of its stages, whatever comes and goes meanwhile. By counters, not by the clock. */
static void testRenewal(void **state) {
  (void)state;
  enum { COUNT = 4000, FRAMES = 150 };
  for (uint32_t changing = 0; changing < 2; ++changing) {
    TestRandom r = testRandom(31);
    pnPairList *list, *truth;
    testExpectOk(pnCreatePairList(&list));
    testExpectOk(pnCreatePairList(&truth));
    float *all = malloc(sizeof(float) * 9 * COUNT), *velocities = malloc(sizeof(float) * 3 * COUNT);
    for (uint32_t i = 0; i < 9 * COUNT; ++i)
      all[i] = i % 9 < 3 ? testFloat(&r, -1, 1) : all[i - 3] + testFloat(&r, -0.03f, 0.03f);
    for (uint32_t i = 0; i < 3 * COUNT; ++i) velocities[i] = testFloat(&r, -0.006f, 0.006f);
    pnSoup *soup = newSoup();
    testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, all, COUNT, NULL));
    pnTree *kept = newTree(soup, PN_BUCKET_KEPT, 0), *direct = newTree(soup, PN_BUCKET_DIRECT, 0);
    const pnBuckets *b = bucketsOf(kept);
    assert_int_equal(pn_keptOf(b)->sorts, 1);
    uint64_t most = 0, first = 0, least = UINT64_MAX;
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
      drift(velocities, all, COUNT);
      testExpectOk(pnSoup_SetAll(soup, all, COUNT));
      for (uint32_t i = 0; changing && frame % 5 == 0 && i < 30; ++i) {
        uint32_t place = testBelow(&r, COUNT);
        pnPrimitiveId id = pnSoup_GetId(soup, place);
        testExpectOk(pnSoup_Remove(soup, &id, 1));
        testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, all + 9 * (COUNT - 1 - place), 1, &id));
        memcpy(all + 9 * place, all + 9 * (COUNT - 1 - place), 9 * sizeof(float));
      }
      pnCost cost;
      testExpectOk(pnCollideSelf(kept, NULL, list, &cost));
      testExpectOk(pnCollideSelf(direct, NULL, truth, NULL));
      assert_int_equal(pnPairList_GetCount(list), pnPairList_GetCount(truth));
      assert_memory_equal(pnPairList_GetPairs(list), pnPairList_GetPairs(truth),
                          pnPairList_GetCount(truth) * sizeof(pnPair));
      if (frame % 20 == 0) testExpectOk(pnTree_Validate(kept));
      most = most > pnTree_GetBucketInfo(kept).ordered ? most : pnTree_GetBucketInfo(kept).ordered;
      first = frame == 0 ? cost.volumeTests : first;
      least = frame > FRAMES / 2 && cost.volumeTests < least ? cost.volumeTests : least;
    }
    /* a sort of everything is 10 steps a primitive; a slice is 0.75 and a block, a merge is 1 and the sort of what is new */
    assert_int_equal(pn_keptOf(b)->sorts, 1);
    assert_true(pn_keptOf(b)->renewals >= 2);
    assert_true(most <= (changing ? 3 : 2) * COUNT);
    /* without renewal the tests go on growing, to more than ten times as many */
    assert_true(least < 3 * first);
    pnDestroyTree(kept);
    pnDestroyTree(direct);
    pnDestroySoup(soup);
    pnDestroyPairList(list);
    pnDestroyPairList(truth);
    free(all);
    free(velocities);
  }
}

/* What leaps in every update is sorted in every one, also far beyond where it was; when it stays where it is, it is not. */
static void testLeaps(void **state) {
  (void)state;
  enum { COUNT = 3000 };
  TestRandom r = testRandom(43);
  float *all = malloc(sizeof(float) * 9 * COUNT);
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  pnSoup *soup = newSoup();
  pnTree *tree = NULL;
  for (uint32_t frame = 0; frame < 9; ++frame) {
    bool stays = frame == 4 || frame == 8;
    float away = frame < 6 ? 0 : 100.0f * (float)frame;
    for (uint32_t i = 0; i < 9 * COUNT && !stays; ++i)
      all[i] = i % 9 < 3 ? away + testFloat(&r, -1, 1) : all[i - 3] + testFloat(&r, -0.02f, 0.02f);
    testExpectOk(frame > 0 ? pnSoup_SetAll(soup, all, COUNT)
                           : pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, all, COUNT, NULL));
    tree = tree ? tree : newTree(soup, PN_BUCKET_KEPT, 0);
    Pairs self = truthOf(soup, NULL, false);
    testExpectOk(pnCollideSelf(tree, NULL, list, NULL));
    expectPairs(&self, list, "leaps");
    free(self.data);
    const pnKept *kept = pn_keptOf(bucketsOf(tree));
    assert_int_equal(kept->sorts, frame + 1 - (frame >= 4) - (frame >= 8));
    assert_int_equal(kept->leapt, frame > 0 && !stays);
    testExpectOk(pnTree_Validate(tree));
  }
  pnDestroyTree(tree);
  pnDestroySoup(soup);
  pnDestroyPairList(list);
  free(all);
}

/* A soup that was to grow and could not, for its names, may have moved to larger memory: nothing has changed, and the next query
 * reads its corners where they are now. */
static void testMovedAway(void **state) {
  (void)state;
  enum { COUNT = 100 };
  TestRandom r = testRandom(47);
  pnSoup *soup = newSoup(), *other = newSoup();
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  addPrimitives(&r, soup, EVEN, COUNT);
  addPrimitives(&r, other, EVEN, 40 * COUNT);
  const uint32_t names[3] = {1, 2, (1u << 30) - 1};
  pnPrimitiveId mine = pnSoup_GetId(soup, 0), theirs = pnSoup_GetId(other, 0);
  pnTree *tree = newTree(soup, PN_BUCKET_KEPT, 0);
  testExpectOk(pnSoup_NameVertices(soup, &mine, names, 1));
  pnSoup *spare = newSoup();
  addPrimitives(&r, spare, EVEN, 1);
  pnPrimitiveId last = pnSoup_GetId(spare, 0);
  testExpectOk(pnSoup_NameVertices(spare, &last, names, 1));
  testExpectOk(pnSoup_Fuse(soup, spare, NULL));
  testExpectOk(pnCollideSelf(tree, NULL, list, NULL));
  size_t count = pnPairList_GetCount(list);
  const float *before = soup->positions;
  testExpectOk(pnSoup_NameVertices(other, &theirs, names, 1));
  testExpectFailure(pnSoup_Fuse(soup, other, NULL), PN_ERROR_COUNT, "fuse|names");
  assert_ptr_not_equal(soup->positions, before);
  testExpectOk(pnCollideSelf(tree, NULL, list, NULL));
  assert_ptr_equal(tree->cornerBase, soup->positions);
  assert_int_equal(pnPairList_GetCount(list), count);
  pnDestroyTree(tree);
  pnDestroySoup(soup);
  pnDestroySoup(other);
  pnDestroySoup(spare);
  pnDestroyPairList(list);
}

/* Enough primitives for several workers, who each have boxes of their own: the same boxes as of one, dead places or not. */
static void testWorkers(void **state) {
  (void)state;
  enum { COUNT = 40000 };
  TestRandom r = testRandom(37);
  float *all = malloc(sizeof(float) * 9 * COUNT);
  pnPrimitiveId *ids = malloc(sizeof(pnPrimitiveId) * COUNT);
  pnSoup *soup = newSoup();
  for (uint32_t i = 0; i < 9 * COUNT; ++i)
    all[i] = i % 9 < 3 ? testFloat(&r, -1, 1) : all[i - 3] + testFloat(&r, -0.01f, 0.01f);
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, all, COUNT, ids));
  pnTree *one = newTree(soup, PN_BUCKET_KEPT, 0), *many = newTree(soup, PN_BUCKET_KEPT, 0);
  pnTasks tasks = pnPool_GetTasks(s_pool);
  for (uint32_t frame = 0; frame < 8; ++frame) {
    for (uint32_t i = 0; i < 9 * COUNT; ++i) all[i] += testFloat(&r, -0.02f, 0.02f);
    testExpectOk(pnSoup_SetAll(soup, all, COUNT));
    testExpectOk(pnSoup_Remove(soup, ids + 500 * frame, frame % 2 ? 500 : 0));
    testExpectOk(pnTree_Update(one, NULL));
    testExpectOk(pnTree_Update(many, &tasks));
    const pnBuckets *p = bucketsOf(one), *q = bucketsOf(many);
    assert_int_equal(one->shape->innerCount, many->shape->innerCount);
    assert_memory_equal(p->order, q->order, p->count * sizeof(uint32_t));
    for (uint32_t i = 0; i < 8 * one->shape->innerCount; ++i) assert_true(i % 4 == 3 || p->boxes[i] == q->boxes[i]);
  }
  testExpectOk(pnTree_Validate(many));
  pnDestroyTree(one);
  pnDestroyTree(many);
  pnDestroySoup(soup);
  free(all);
  free(ids);
}

/* ---------------------------------------------------------------- against trees, in a world */

/* A soup with the triangles of a mesh gives the pairs of the mesh, against a tree and against a static body of a world. */
static void testAgainstTrees(void **state) {
  (void)state;
  pnMesh *ball, *room;
  testExpectOk(pnMakeIcosphere(2, 1, &ball));
  testExpectOk(pnMakeBox((pnVec3){0.8f, 0.8f, 0.8f}, 6, &room));
  pnPose *ballPose, *roomPose;
  pnPoseDef pd = pnDefaultPoseDef();
  pd.mesh = ball;
  testExpectOk(pnCreatePose(&pd, &ballPose));
  pd.mesh = room;
  testExpectOk(pnCreatePose(&pd, &roomPose));
  pnTreeDef td = pnDefaultTreeDef();
  pnTree *ballTree, *roomTree;
  td.pose = ballPose;
  testExpectOk(pnCreateTree(&td, &ballTree));
  td.pose = roomPose;
  testExpectOk(pnCreateTree(&td, &roomTree));
  pnSoup *soup = newSoup();
  for (uint32_t t = 0; t < pnMesh_GetTriangleCount(ball); ++t) {
    float p[9];
    for (int i = 0; i < 3; ++i)
      memcpy(p + 3 * i, pnMesh_GetVertices(ball) + 3 * (size_t)pnMesh_GetTriangles(ball)[3 * t + (uint32_t)i], 12);
    testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, p, 1, NULL));
  }
  pnPairList *list, *expected;
  testExpectOk(pnCreatePairList(&list));
  testExpectOk(pnCreatePairList(&expected));
  testExpectOk(pnCollideTrees(ballTree, roomTree, NULL, expected, NULL));
  assert_true(pnPairList_GetCount(expected) > 20);
  Pairs truth = {(pnPair *)pnPairList_GetPairs(expected), pnPairList_GetCount(expected)};
  pnWorld *world;
  pnWorldDef wd = pnDefaultWorldDef();
  for (uint32_t method = 0; method < METHODS; ++method) {
    pnTree *tree = newTree(soup, (pnBucketMethod)method, 0);
    testExpectOk(pnCollideTrees(tree, roomTree, NULL, list, NULL));
    expectPairs(&truth, list, "soup against tree");
    testExpectOk(pnCreateWorld(&wd, &world));
    pnBodyDef bd = pnDefaultBodyDef();
    bd.kind = PN_BODY_STATIC;
    bd.staticTree = tree;
    bd.name = "soup";
    pnBodyId body[2];
    testExpectOk(pnWorld_CreateBody(world, &bd, &body[0]));
    bd.staticTree = roomTree;
    bd.name = "room";
    testExpectOk(pnWorld_CreateBody(world, &bd, &body[1]));
    pnBodyId refused;
    bd.staticTree = tree;
    bd.selfFilter.ring = 2;
    testExpectFailure(pnWorld_CreateBody(world, &bd, &refused), PN_ERROR_KIND, "room|soup");
    pnFrame frame = pnWorld_Collide(world, NULL);
    testExpectOk(frame.result);
    assert_int_equal(frame.pairCount, truth.count);
    assert_memory_equal(pnWorld_GetPairs(world), truth.data, truth.count * sizeof(pnPair));
    /* the world notices that the soup has changed */
    pnPrimitiveId id = pnSoup_GetId(soup, truth.data[0].a);
    float p[9], far[9];
    pnSoup_GetCorners(soup, id, p);
    for (int k = 0; k < 9; ++k) far[k] = p[k] + 100;
    testExpectOk(pnSoup_Replace(soup, &id, PN_PRIMITIVE_TRIANGLE, far, 1));
    frame = pnWorld_Collide(world, NULL);
    assert_true(frame.result == PN_OK && frame.pairCount < truth.count);
    testExpectOk(pnSoup_Replace(soup, &id, PN_PRIMITIVE_TRIANGLE, p, 1));
    pnDestroyWorld(world);
    pnSelfFilter ring = {.ring = 2};
    pnQueryDef qd = pnDefaultQueryDef();
    qd.filter = ring;
    testExpectFailure(pnCollideSelf(tree, &qd, list, NULL), PN_ERROR_KIND, "soup");
    pnDestroyTree(tree);
  }
  pnDestroyPairList(list);
  pnDestroyPairList(expected);
  pnDestroySoup(soup);
  pnDestroyTree(ballTree);
  pnDestroyTree(roomTree);
  pnDestroyPose(ballPose);
  pnDestroyPose(roomPose);
  pnDestroyMesh(ball);
  pnDestroyMesh(room);
}

/* All but one in one bucket: the tree goes on dividing, so that a query opens little. */
static void testOneFar(void **state) {
  (void)state;
  uint64_t opened[2][METHODS];
  for (uint32_t far = 0; far < 2; ++far) {
    TestRandom r = testRandom(19);
    pnSoup *soup = newSoup();
    for (uint32_t i = 0; i < 4000; ++i) {
      float p[9], c[3] = {testFloat(&r, -1, 1), testFloat(&r, -1, 1), testFloat(&r, -1, 1)};
      for (int k = 0; k < 9; ++k) p[k] = c[k % 3] + testFloat(&r, -0.02f, 0.02f) + (far && i == 0 ? 1e6f : 0);
      testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, p, 1, NULL));
    }
    for (uint32_t method = 0; method < METHODS; ++method) {
      pnTree *tree = newTree(soup, (pnBucketMethod)method, 0);
      pnBucketInfo info = pnTree_GetBucketInfo(tree);
      assert_true(info.levels == 0 || !far || (info.largest == 3999 && info.bucketCount == 2));
      pnCost cost;
      testExpectOk(pnCollideSelf(tree, NULL, NULL, &cost));
      opened[far][method] = cost.volumeTests + cost.exactTests;
      pnDestroyTree(tree);
    }
    pnDestroySoup(soup);
  }
  for (uint32_t method = 0; method < METHODS; ++method) {
    /* spheres instead of boxes; without them every one of 8 million pairs is tested */
    assert_true(opened[1][method] < 4 * opened[0][method]);
  }
}

/* ---------------------------------------------------------------- errors and memory */

/* A tree that is made in haste is told where it is. That may be wrong: it is no worse a tree for it, and asks what others ask. */
static void testHaste(void **state) {
  (void)state;
  static const pnBox boxes[] = {{{-1.2f, -1.2f, -1.2f}, {1.2f, 1.2f, 1.2f}},
                                {{500, 500, 500}, {501, 501, 501}},
                                {{0, 0, 0}, {0, 0, 0}},
                                {{1, 1, 1}, {-1, -1, -1}},
                                {{-FLT_MAX, -FLT_MAX, -FLT_MAX}, {FLT_MAX, FLT_MAX, FLT_MAX}},
                                {{-1e-40f, -1, 0}, {1e-40f, FLT_MAX, 1e-45f}}};
  enum { BOXES = sizeof boxes / sizeof boxes[0] };
  for (uint32_t shape = 0; shape < SHAPES; ++shape) {
    TestRandom r = testRandom(31 + shape);
    pnSoup *soup = newSoup();
    addPrimitives(&r, soup, shape, 600);
    Pairs self = truthOf(soup, NULL, true);
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < BOXES; ++i) {
      pnBucketDef def = pnDefaultBucketDef();
      pnTree *tree;
      pnPairList *list;
      pnCost cost;
      def.soup = soup;
      testExpectOk(pn_createBucketTree(&def, &boxes[i], NULL, &tree));
      testExpectOk(pnCreatePairList(&list));
      testExpectOk(pnCollideSelf(tree, NULL, list, &cost));
      expectPairs(&self, list, "in haste");
      least = PN_MIN(least, cost.volumeTests + cost.exactTests);
      most = PN_MAX(most, cost.volumeTests + cost.exactTests);
      pnDestroyPairList(list);
      pnDestroyTree(tree);
    }
    assert_true(most < 2 * least);
    free(self.data);
    pnDestroySoup(soup);
  }
}

static void testErrors(void **state) {
  (void)state;
  pnSoup *soup = newSoup();
  pnBucketDef def = pnDefaultBucketDef();
  pnTreeLab lab = {0};
  def.lab = &lab;
  def.soup = soup;
  lab.levels = 8;
  pnTree *tree;
  testExpectFailure(pnCreateBucketTree(&def, &tree), PN_ERROR_ARGUMENT, "8 levels");
  lab.levels = 0;
  lab.method = PN_BUCKET_COUNT;
  testExpectFailure(pnCreateBucketTree(&def, &tree), PN_ERROR_ARGUMENT, "method");
  lab.method = PN_BUCKET_DIRECT;
  testExpectOk(pnCreateBucketTree(&def, &tree));
  assert_int_equal(pnTree_GetNodeCount(tree), 0);
  pnDestroyTree(tree);
  pnDestroySoup(soup);
  assert_int_equal(pnGetByteCount(), 0);
}

/* A tree that grows while memory runs out: the query fails, and answers when there is memory again. */
static pnResult growTree(void *context) {
  uint32_t method = *(uint32_t *)context;
  pnSoup *soup = NULL;
  pnTree *tree = NULL;
  pnPairList *list = NULL;
  TestRandom r = testRandom(23);
  float p[9 * 200];
  for (int i = 0; i < 9 * 200; ++i) p[i] = testFloat(&r, -1, 1);
  pnResult result = pnCreateSoup(NULL, &soup);
  if (result == PN_OK) {
    pnBucketDef def = pnDefaultBucketDef();
    pnTreeLab lab = {0};
    def.lab = &lab;
    def.soup = soup;
    lab.method = (pnBucketMethod)method;
    result = pnCreateBucketTree(&def, &tree);
  }
  if (result == PN_OK) result = pnCreatePairList(&list);
  for (uint32_t i = 0; result == PN_OK && i < 4; ++i) {
    result = pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, p, 50 * i, NULL);
    if (result == PN_OK) {
      result = pnCollideSelf(tree, NULL, list, NULL);
      assert_true(result == PN_OK || pnPairList_GetCount(list) == 0);
    }
  }
  pnDestroyPairList(list);
  pnDestroyTree(tree);
  pnDestroySoup(soup);
  return result;
}

static void testMemory(void **state) {
  (void)state;
  for (uint32_t method = 1; method < METHODS; ++method) {
    assert_true(testEveryAllocationFailure(growTree, &method, false, true) > 20);
    assert_true(testEveryAllocationFailure(growTree, &method, true, false) > 20);
  }
}

static int openPool(void **state) {
  (void)state;
  return pnCreatePool(3, &s_pool) == PN_OK ? 0 : -1;
}

static int closePool(void **state) {
  (void)state;
  pnDestroyPool(s_pool);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testSameBuckets),
      cmocka_unit_test(testSameBucketsCoherent),
      cmocka_unit_test(testCurve),
      cmocka_unit_test(testMarks),
      cmocka_unit_test_setup_teardown(testPairs, openPool, closePool),
      cmocka_unit_test(testRandomOperations),
      cmocka_unit_test(testKept),
      cmocka_unit_test(testRenewal),
      cmocka_unit_test(testLeaps),
      cmocka_unit_test(testMovedAway),
      cmocka_unit_test_setup_teardown(testWorkers, openPool, closePool),
      cmocka_unit_test(testAgainstTrees),
      cmocka_unit_test(testOneFar),
      cmocka_unit_test(testHaste),
      cmocka_unit_test(testErrors),
      cmocka_unit_test(testMemory),
  };
  return cmocka_run_group_tests(tests, oracleSetUp, oracleTearDown);
}
