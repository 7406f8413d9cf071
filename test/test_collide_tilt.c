/* test_collide_tilt.c: tilts (collide/tilt.h). A tilt holds what it is made of, along whatever direction it is asked, and says of two that they are
 * apart only when they are, in exact arithmetic; pairs of bodies in many layers are those of the exact test on every pair of triangles;
 * and where tilts do not pay they are left alone. */
#include "support.h"

#include "collide/slant.h"
#include "collide/tilt.h"
#include "pinch/collide.h"
#include "pinch/geom.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static TestRandom dice;

/* ---------------------------------------------------------------- bodies in layers */

#define CELLS 16u /* of a sheet, along both sides */
#define MOST_SHEETS 16u

typedef struct Body {
  pnMesh *mesh;
  pnPose *pose;
  pnTree *tree;
  float *positions;
  uint32_t vertexCount, triangleCount;
} Body;

/* Every second sheet of a book that is bent, from the first or the second on. */
typedef struct Book {
  uint32_t sheets;
  double bend, gap, ripple, size;
  pnMatrix place; /* turned and far away, after it was made large or small */
} Book;

static void placeSheets(const Book *book, uint32_t from, float *out) {
  for (uint32_t s = from; s < book->sheets; s += 2) {
    for (uint32_t i = 0; i < (CELLS + 1) * (CELLS + 1); ++i, out += 3) {
      double x = i % (CELLS + 1) / (double)CELLS, y = i / (CELLS + 1) / (double)CELLS;
      double r = 1 / book->bend + book->gap * s + book->ripple * sin(40 * x + 2.1 * s) * sin(31 * y + s);
      double p[3] = {r * sin(book->bend * x), y, r * cos(book->bend * x) - 1 / book->bend};
      for (int d = 0; d < 3; ++d) {
        double at = book->place.m[d][3];
        for (int k = 0; k < 3; ++k) at += book->place.m[d][k] * p[k];
        out[d] = (float)(book->size * at);
      }
    }
  }
}

static void moveBody(Body *body, const Book *book, uint32_t from) {
  placeSheets(book, from, body->positions);
  testExpectOk(pnPose_SetVertices(body->pose, body->positions, body->vertexCount));
  testExpectOk(pnTree_Update(body->tree, NULL));
}

static void openBody(Body *body, const Book *book, uint32_t from, bool self) {
  uint32_t sheets = (book->sheets - from + 1) / 2, corners = (CELLS + 1) * (CELLS + 1);
  body->vertexCount = sheets * corners;
  body->triangleCount = sheets * 2 * CELLS * CELLS;
  body->positions = calloc(3 * (size_t)body->vertexCount + 1, sizeof(float));
  uint32_t *triangles = malloc(3 * (size_t)body->triangleCount * sizeof *triangles), *t = triangles;
  for (uint32_t s = 0; s < sheets; ++s) {
    for (uint32_t c = 0; c < CELLS * CELLS; ++c, t += 6) {
      uint32_t a = s * corners + c / CELLS * (CELLS + 1) + c % CELLS, b = a + 1, d = a + CELLS + 1, e = d + 1;
      t[0] = a, t[1] = b, t[2] = d, t[3] = b, t[4] = e, t[5] = d;
    }
  }
  /* at rest sheets lie far from each other, so that no leaf has triangles of two */
  Book rest = *book;
  rest.gap = rest.size = 1;
  rest.ripple = 0;
  placeSheets(&rest, from, body->positions);
  body->mesh = testMakeMesh(body->positions, body->vertexCount, triangles, body->triangleCount);
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = body->mesh;
  testExpectOk(pnCreatePose(&poseDef, &body->pose));
  pnTreeDef treeDef = pnDefaultTreeDef();
  treeDef.pose = body->pose;
  treeDef.self = self;
  testExpectOk(pnCreateTree(&treeDef, &body->tree));
  free(triangles);
  moveBody(body, book, from);
}

static void closeBody(Body *body) {
  pnDestroyTree(body->tree);
  pnDestroyPose(body->pose);
  pnDestroyMesh(body->mesh);
  free(body->positions);
}

static Book bookOf(double size, float far, double ripple) {
  Book book = {MOST_SHEETS, 1.0, 0.012, ripple, size, testRotation(&dice, far)};
  return book;
}

/* ---------------------------------------------------------------- what a tilt holds */

/* Exact enough: products of floats in 64 bits or more, and what is left is far below what is asked. */
static long double along(const float *n, const float *p, const float *from) {
  long double sum = 0;
  for (int d = 0; d < 3; ++d) sum += (long double)n[d] * ((long double)p[d] - from[d]);
  return sum;
}

/* What a record says of a direction, in long double: how far its sides reach from its middle. */
static long double reachOf(const float *tilt, const float *n) {
  long double reach = 0;
  for (int side = 1; side < 4; ++side) {
    long double product = 0;
    for (int d = 0; d < 3; ++d) product += (long double)n[d] * tilt[4 * d + side];
    reach += product < 0 ? -product : product;
  }
  return reach;
}

static const float *vertexOf(const Body *body, uint32_t place) {
  return body->positions + place;
}

/* All nodes that get tilts, of bodies of every size; directions of their own, and of anybody's. */
static void holdWhatTheyAreMadeOf(void **state) {
  (void)state;
  static const double sizes[] = {1, 1e-20, 1e20, 1e-38, 3e-44};
  uint32_t asked = 0;
  for (uint32_t k = 0; k < 15; ++k) {
    Book book = bookOf(sizes[k % 5], k % 3 ? 0 : 100, k < 10 ? 0.02 : 0);
    Body body;
    openBody(&body, &book, 0, false);
    pnFresh fresh = {.alone = true};
    for (uint32_t node = 0; node < body.tree->shape->nodeCount; ++node) {
      const pnShape *shape = body.tree->shape;
      if (!pn_isLeaf(body.tree, node) && !pn_isLeaf(body.tree, shape->first[node])) continue;
      pn_freshen(body.tree, node, &fresh);
      float tilt[PN_TILT_FLOATS], other[3];
      pn_makeTilt(body.tree, node, tilt);
      const float middle[3] = {tilt[0], tilt[4], tilt[8]};
      uint32_t count;
      const uint32_t *list = pn_verticesBelow(body.tree, node, &count);
      for (int d = 0; d < 3; ++d) other[d] = testFloat(&dice, -1, 1);
      for (uint32_t i = 0; i < count; ++i, ++asked) {
        long double own = along(tilt + 13, vertexOf(&body, list[i]), middle);
        assert_true(own <= tilt[12] && -own <= tilt[12]);
        for (int axis = 0; axis < 4; ++axis) {
          /* along each of its own sides, where a corner of the box is touched, and anywhere */
          float n[3] = {axis < 3 ? (axis == 0) : other[0], axis < 3 ? (axis == 1) : other[1],
                        axis < 3 ? (axis == 2) : other[2]};
          long double far = along(n, vertexOf(&body, list[i]), middle);
          assert_true((far < 0 ? -far : far) <= reachOf(tilt, n));
        }
      }
      /* a box, and no larger than it must be: a flat piece is flat */
      if (k >= 10 && book.size == 1 && pn_isLeaf(body.tree, node)) assert_true(tilt[12] < 0.03f);
    }
    closeBody(&body);
  }
  assert_true(asked > 20000);
}

/* Along their normals, of which one says that they are apart: is there really something between, without any rounding? */
static bool areReallyApart(const float *n, const Body *a, const uint32_t *listA, uint32_t countA, const Body *b,
                           const uint32_t *listB, uint32_t countB) {
  const float *from = vertexOf(a, listA[0]);
  long double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (uint32_t i = 0; i < countA + countB; ++i) {
    int side = i >= countA;
    long double at = along(n, side ? vertexOf(b, listB[i - countA]) : vertexOf(a, listA[i]), from);
    low[side] = at < low[side] ? at : low[side];
    high[side] = at > high[side] ? at : high[side];
  }
  return low[0] > high[1] || low[1] > high[0];
}

static void apartIsApart(void **state) {
  (void)state;
  uint32_t apart = 0, near = 0;
  for (uint32_t k = 0; k < 24; ++k) {
    /* flat or bent; beside each other, or in one plane, far along it and back by what is rounded */
    Book book = bookOf(k % 4 == 1 ? 1e-18 : 1, k % 4 == 2 ? 1000 : 0, 0);
    book.sheets = 2;
    book.bend = k % 2 ? 1e-4 : 1.5;
    book.gap = k % 3 ? 1e-7 * testFloat(&dice, 0, 20) : 0;
    Body a, b;
    openBody(&a, &book, 0, false);
    float aside[3] = {0, 0, 0};
    for (int d = 0; k % 2 && d < 3; ++d) /* along the plane's own directions */
      aside[d] = (float)book.size * (float)(1 << (k / 2)) * (book.place.m[d][0] + 0.7f * book.place.m[d][1]);
    openBody(&b, &book, 1, false);
    for (uint32_t i = 0; i < 3 * b.vertexCount; ++i) b.positions[i] += aside[i % 3];
    testExpectOk(pnPose_SetVertices(b.pose, b.positions, b.vertexCount));
    testExpectOk(pnTree_Update(b.tree, NULL));
    pnFresh fresh = {.alone = true};
    for (uint32_t i = 0; i < a.tree->shape->leafCount * 8; ++i) {
      uint32_t x = a.tree->shape->innerCount + testBelow(&dice, a.tree->shape->leafCount), countX, countY;
      uint32_t y = b.tree->shape->innerCount + testBelow(&dice, b.tree->shape->leafCount);
      float tilts[2][PN_TILT_FLOATS];
      pn_freshen(a.tree, x, &fresh);
      pn_freshen(b.tree, y, &fresh);
      pn_makeTilt(a.tree, x, tilts[0]);
      pn_makeTilt(b.tree, y, tilts[1]);
      const uint32_t *listX = pn_verticesBelow(a.tree, x, &countX), *listY = pn_verticesBelow(b.tree, y, &countY);
      bool said = pn_areTiltsApart(tilts[0], tilts[1]);
      assert_true(said == pn_areTiltsApart(tilts[1], tilts[0]));
      bool is = areReallyApart(tilts[0] + 13, &a, listX, countX, &b, listY, countY) ||
                areReallyApart(tilts[1] + 13, &a, listX, countX, &b, listY, countY);
      assert_true(!said || is);
      apart += said;
      near += !said;
    }
    closeBody(&a);
    closeBody(&b);
  }
  assert_true(apart > 1000 && near > 1000);
}

/* A plate: a tilt without width, as thick as said. */
static void setPlate(const float middle[3], const float n[3], float half, float *out) {
  for (int d = 0; d < 3; ++d) {
    const float row[4] = {middle[d], 0, 0, half * n[d]};
    memcpy(out + 4 * d, row, sizeof row);
    out[13 + d] = n[d];
  }
  out[12] = half;
}

/* Two plates that lie in nearly one plane, far from each other beside how thick they are, so that of the way between them more is rounded than
 * would take them apart. What their own sides are rounded by is answered for where they are made. */
static void farAside(void **state) {
  (void)state;
  uint32_t apart = 0, near = 0;
  for (uint32_t k = 0; k < 40000; ++k) {
    pnMatrix turn = testRotation(&dice, 0);
    float far = ldexpf(testFloat(&dice, 1, 2), (int)testBelow(&dice, 80) - 40),
          up = ldexpf(far, -4 - (int)testBelow(&dice, 16));
    float n[3], middle[2][3], plates[2][PN_TILT_FLOATS];
    for (int d = 0; d < 3; ++d) {
      n[d] = turn.m[d][2];
      middle[0][d] = far * testFloat(&dice, -1, 1);
      middle[1][d] = middle[0][d] + far * turn.m[d][0] + up * turn.m[d][2];
    }
    long double way = fabsl(along(n, middle[1], middle[0]));
    float half = 0.5f * (float)way + ldexpf(far, -18 - (int)(k % 7)) * testFloat(&dice, -1, 1);
    if (!(half > 0)) continue;
    for (int i = 0; i < 2; ++i) setPlate(middle[i], n, half, plates[i]);
    long double reach = half;
    const float zero[3] = {0, 0, 0}, side[3] = {plates[1][3], plates[1][7], plates[1][11]};
    reach += along(n, side, zero);
    bool said = pn_areTiltsApart(plates[0], plates[1]);
    assert_true(!said || way > reach * (1 - 0x1p-20L));
    apart += said;
    near += !said;
  }
  assert_true(apart > 1000 && near > 1000);
}

/* ---------------------------------------------------------------- the same pairs */

static pnTriangle triangleOf(const Body *body, uint32_t i) {
  return testTriangleAt(body->mesh, body->positions, i);
}

static bool shareVertex(const Body *body, uint32_t i, uint32_t j) {
  const uint32_t *a = pnMesh_GetTriangles(body->mesh) + 3 * (size_t)i,
                 *b = pnMesh_GetTriangles(body->mesh) + 3 * (size_t)j;
  for (int k = 0; k < 9; ++k)
    if (a[k / 3] == b[k % 3]) return true;
  return false;
}

/* b null: self, without neighbours. Returns how many pairs there are. */
static size_t expectTruth(const Body *a, const Body *b, const pnPairList *list) {
  const pnPair *pairs = pnPairList_GetPairs(list);
  size_t n = 0, count = pnPairList_GetCount(list);
  uint32_t second = b ? b->triangleCount : a->triangleCount;
  TestBoxed *boxes = malloc(second * sizeof *boxes);
  for (uint32_t j = 0; j < second; ++j) boxes[j] = testBoxedAt((b ? b : a)->mesh, (b ? b : a)->positions, j);
  for (uint32_t i = 0; i < a->triangleCount; ++i) {
    TestBoxed p = testBoxedAt(a->mesh, a->positions, i);
    for (uint32_t j = b ? 0 : i + 1; j < second; ++j) {
      if (!testAreNear(&p, &boxes[j]) || (!b && shareVertex(a, i, j))) continue;
      pnTriangle s = triangleOf(a, i), t = triangleOf(b ? b : a, j);
      if (!pnTrianglesMeet(&s, &t)) continue;
      assert_true(n < count && pairs[n].a == i && pairs[n].b == j);
      ++n;
    }
  }
  assert_true(n == count);
  free(boxes);
  return n;
}

/* Were tilts asked in this frame? */
static uint32_t tiltsOfNow(const Body *body) {
  uint32_t fresh = 0;
  for (uint32_t i = 0; body->tree->tilts && i < body->tree->shape->nodeCount; ++i)
    fresh += atomic_load(&body->tree->tilts->stamp[i]) == body->tree->now;
  return fresh;
}

/* Books that bend, at every size and far away, by one thread and by three; touching, crossing, and apart. Of several threads it is luck what each
 * of them meets, and whether its trial fails, so that they have a list of their own and are counted over all books. */
static void sameAsEveryPair(void **state) {
  (void)state;
  static const struct {
    double size;
    float far;
  } kinds[] = {{1, 0}, {1e-30, 0}, {1e24, 0}, {1, 300}, {1e-42, 0}};
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  size_t pairs = 0;
  uint32_t askedByThree = 0;
  for (uint32_t kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind) {
    Book book = bookOf(kinds[kind].size, kinds[kind].far, 0);
    book.gap = 0.006; /* so that it is aslant enough, however it is turned */
    pnPairList *lists[2];
    Body a, b;
    openBody(&a, &book, 0, false);
    openBody(&b, &book, 1, false);
    for (int i = 0; i < 2; ++i) testExpectOk(pnCreatePairList(&lists[i]));
    uint32_t asked[2] = {0, 0};
    for (uint32_t frame = 0; frame < 8; ++frame) {
      book.ripple = 0.008 * (frame / 2 % 2);
      moveBody(&a, &book, 0);
      moveBody(&b, &book, 1);
      pnQueryDef def = pnDefaultQueryDef();
      def.tasks = frame % 2 ? pnPool_GetTasks(pool) : def.tasks;
      testExpectOk(pnCollideTrees(a.tree, b.tree, &def, lists[frame % 2], NULL));
      pairs += expectTruth(&a, &b, lists[frame % 2]);
      asked[frame % 2] += PN_MIN(tiltsOfNow(&a), tiltsOfNow(&b));
    }
    assert_true(asked[0] > 100 || kind == 4); /* of such small numbers all sheets are one */
    askedByThree += asked[1];
    for (int i = 0; i < 2; ++i) pnDestroyPairList(lists[i]);
    closeBody(&a);
    closeBody(&b);
  }
  assert_true(pairs > 10000 && askedByThree > 100);
  pnDestroyPool(pool);
}

/* All sheets one body, which looks at itself: its leaves have blocks, and vertices lie ready beside them. */
static void sameOfOneBody(void **state) {
  (void)state;
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  Book book = bookOf(1, 0, 0);
  book.sheets = 2 * MOST_SHEETS - 1; /* every second one */
  book.gap /= 2;
  Body body;
  openBody(&body, &book, 0, true);
  size_t pairs = 0;
  for (uint32_t frame = 0; frame < 4; ++frame) {
    book.ripple = 0.006 * frame;
    moveBody(&body, &book, 0);
    testExpectOk(pnCollideSelf(body.tree, NULL, list, NULL));
    pairs += expectTruth(&body, NULL, list);
  }
  assert_true(tiltsOfNow(&body) > 100 && pairs > 1000);
  size_t bytes = pnTree_GetByteCount(body.tree);
  pn_dropRecords(body.tree);
  assert_true(!body.tree->tilts && !body.tree->slants && pnTree_GetByteCount(body.tree) < bytes);
  closeBody(&body);
  pnDestroyPairList(list);
}

/* ---------------------------------------------------------------- when */

/* So many pairs of leaves, the same two again and again. */
static size_t askOften(const pnTraversal *t, pnWorker *w, uint32_t a, uint32_t b, size_t count) {
  pnPair pairs[256];
  for (size_t i = 0; i < count; ++i) pairs[i] = (pnPair){a, b};
  return pn_tiltLeaves(t, w, pairs, count);
}

/* After a trial that fails pairs go by, twice as many after each; one that succeeds ends that, and is known in the next run. */
static void leftAloneWhereTheyDoNotPay(void **state) {
  (void)state;
  Book book = bookOf(1, 0, 0);
  Body a, b;
  openBody(&a, &book, 0, false);
  openBody(&b, &book, 1, false);
  uint32_t here = a.tree->shape->innerCount, far = 0;
  pnWorker w = {.fresh.alone = true};
  pnTraversal t, same;
  pn_beginTraversal(a.tree, b.tree, PN_OPEN_DEFAULT, &t);
  pn_beginTraversal(a.tree, a.tree, PN_OPEN_DEFAULT, &same);
  pnTree *other = t.b;
  /* a leaf that is apart from the first */
  for (uint32_t i = 0; i < other->shape->leafCount && far == 0; ++i) {
    pnPair pair = {here, other->shape->innerCount + i};
    if (pn_tiltLeaves(&t, &w, &pair, 1) == 0) far = other->shape->innerCount + i;
  }
  assert_true(far > 0);
  w.leafTilts = (pnTrial){0};
  uint64_t rest = 0;
  for (uint32_t trial = 0; trial < 3; ++trial) {
    assert_int_equal(askOften(&same, &w, here, here, 200), 200); /* of itself it is not apart */
    assert_int_equal(w.leafTilts.failed, trial + 1);
    assert_true(w.leafTilts.rest == (trial ? 2 * rest : w.leafTilts.rest) && w.leafTilts.rest > 1000);
    rest = w.leafTilts.rest;
    uint64_t tests = w.cost.volumeTests;
    for (uint64_t gone = 0; gone < rest; gone += 256)
      assert_int_equal(askOften(&t, &w, here, far, 256), 256); /* nobody is asked, apart or not */
    assert_true(w.cost.volumeTests == tests && w.leafTilts.rest == 0);
  }
  uint64_t opened = w.cost.leafPairs;
  assert_int_equal(askOften(&t, &w, here, far, 200), 0);
  assert_true(w.cost.leafPairs == opened + 200 && w.leafTilts.failed == 0 && w.leafTilts.rest == 0);
  /* known in the next run, if pairs were many for each node */
  w.fresh.nodes = 100000;
  pn_rememberTilts(&w);
  assert_false(w.leafTilts.stands);
  w.fresh.nodes = 10;
  w.cost.leafPairs = PN_TILT_LEAF_WORTH * (PN_TILT_FEW_NODES + 10);
  pn_rememberTilts(&w);
  assert_true(w.leafTilts.stands && !w.nodeTilts.stands && pn_leafTiltsPay(&w));
  w.cost.leafPairs = 0;
  assert_true(pn_leafTiltsPay(&w) && !pn_nodeTiltsPay(&w));
  /* one that fails is not known any more */
  w.leafTilts.asked = w.leafTilts.apart = 0;
  assert_int_equal(askOften(&same, &w, here, here, 200), 200);
  assert_false(w.leafTilts.stands);
  closeBody(&a);
  closeBody(&b);
}

/* A soup has no lists of vertices, and gets none; the body that it meets is not asked for them alone. */
static void notForSoups(void **state) {
  (void)state;
  Book book = bookOf(1, 0, 0.008);
  Body a, b;
  pnSoup *soup;
  pnTree *tree;
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  testExpectOk(pnCreateSoup(NULL, &soup));
  openBody(&a, &book, 0, false);
  openBody(&b, &book, 1, false);
  for (uint32_t i = 0; i < a.triangleCount; ++i) {
    pnTriangle t = testTriangleAt(a.mesh, a.positions, i);
    testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, t.v[0], 1, NULL));
  }
  pnBucketDef def = pnDefaultBucketDef();
  def.soup = soup;
  testExpectOk(pnCreateBucketTree(&def, &tree));
  for (uint32_t frame = 0; frame < 2; ++frame) testExpectOk(pnCollideTrees(tree, b.tree, NULL, list, NULL));
  assert_true(expectTruth(&a, &b, list) > 100);
  assert_true(!tree->tilts && !b.tree->tilts);
  pnDestroyTree(tree);
  pnDestroySoup(soup);
  closeBody(&a);
  closeBody(&b);
  pnDestroyPairList(list);
}

/* Without memory there are none, and the answer is the same; nor for bodies beyond what they are made for, which have other answers. */
static void withoutTilts(void **state) {
  (void)state;
  Book book = bookOf(1, 0, 0.008);
  Body a, b;
  testInstallAllocator(UINT64_MAX, false);
  openBody(&a, &book, 0, false);
  testSetFailures(&(TestFailures){.at = 0, .andAfter = true});
  pn_grantTilts(a.tree);
  testSetFailures(NULL);
  assert_null(a.tree->tilts);
  closeBody(&a);
  testRestoreAllocator();
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  book = bookOf(1e37, 0, 0.008);
  openBody(&a, &book, 0, false);
  openBody(&b, &book, 1, false);
  for (uint32_t frame = 0; frame < 2; ++frame) {
    testExpectOk(pnCollideTrees(a.tree, b.tree, NULL, list, NULL));
    assert_true(expectTruth(&a, &b, list) > 100);
    moveBody(&a, &book, 0);
  }
  assert_true(!a.tree->tilts && !b.tree->tilts);
  closeBody(&a);
  closeBody(&b);
  pnDestroyPairList(list);
}

int main(void) {
  dice = testRandom(20261119);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(holdWhatTheyAreMadeOf),
      cmocka_unit_test(apartIsApart),
      cmocka_unit_test(farAside),
      cmocka_unit_test(sameAsEveryPair),
      cmocka_unit_test(sameOfOneBody),
      cmocka_unit_test(leftAloneWhereTheyDoNotPay),
      cmocka_unit_test(notForSoups),
      cmocka_unit_test(withoutTilts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
