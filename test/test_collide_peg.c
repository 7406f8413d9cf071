/* test_collide_peg.c: pegs and holes (collide/peg.h), by every width: every pair of triangles that overlap along the axes and the grain is a
 * candidate once, nothing else is that is farther than cells are large, and all widths write the same list and test it alike. Bodies of every size and number of triangles, near
 * and far from the middle of the world, with corners far beyond the large body and its grid. */
#include "support.h"

#include "collide/peg.h"
#include "geom/box.h"
#include "pinch/pinch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 41, MOST = 100000 }; /* so many that some leaf is not full */

static TestRandom dice;

/* A mesh in a pose of its own, with a tree. */
typedef struct Body {
  pnMesh *mesh;
  pnPose *pose;
  pnTree *tree;
} Body;

static void openTree(Body *body) {
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = body->mesh;
  testExpectOk(pnCreatePose(&poseDef, &body->pose));
  pnTreeDef def = pnDefaultTreeDef();
  def.self = false;
  def.pose = body->pose;
  testExpectOk(pnCreateTree(&def, &body->tree));
  testExpectOk(pnTree_Update(body->tree, NULL));
}

static void closeTree(Body *body) {
  pnDestroyTree(body->tree);
  pnDestroyPose(body->pose);
  pnDestroyMesh(body->mesh);
}

/* Where the ground is, and how large. */
typedef struct Place {
  float middle, scale;
} Place;

static void openGround(Body *ground, Place place) {
  pnMesh *flat;
  testExpectOk(pnMakeGrid(2, 2, CELLS, CELLS, &flat));
  uint32_t n = pnMesh_GetVertexCount(flat);
  float *at = malloc(3 * sizeof(float) * n);
  assert_non_null(at);
  memcpy(at, pnMesh_GetVertices(flat), 3 * sizeof(float) * n);
  for (uint32_t i = 0; i < n; ++i) at[3 * i + 2] = 0.3f * sinf(3 * at[3 * i]) + testFloat(&dice, 0, 0.05f);
  for (uint32_t i = 0; i < 3 * n; ++i) at[i] = place.middle + place.scale * at[i];
  ground->mesh = testMakeMesh(at, n, pnMesh_GetTriangles(flat), pnMesh_GetTriangleCount(flat));
  free(at);
  pnDestroyMesh(flat);
  openTree(ground);
  ground->tree->serial = 1; /* a world gives them */
}

/* A place above the ground, or in the middle of a triangle of a leaf that is not full. */
static void chooseCentre(const Body *ground, Place place, bool onLeaf, float out[3]) {
  const pnTree *t = ground->tree;
  for (int k = 0; k < 3; ++k) out[k] = testFloat(&dice, -0.6f, 0.6f) * (k < 2 ? 1.0f : 0.3f);
  for (uint32_t leaf = 0; onLeaf && leaf < t->shape->leafCount; ++leaf) {
    const float *p[3];
    if (t->shape->count[t->shape->innerCount + leaf] == PN_LANES) continue;
    pn_slotCorners(t, PN_LANES * leaf, p);
    for (int k = 0; k < 3; ++k) out[k] = ((p[0][k] / 3 + p[1][k] / 3 + p[2][k] / 3) - place.middle) / place.scale;
    return;
  }
}

/* Vertices around a place, some of them, where wanted, far away. */
static void openBall(Body *ball, Place place, const float centre[3], float radius, uint32_t vertices,
                     uint32_t triangles, float far) {
  float at[3 * PN_SMALL_VERTICES];
  uint32_t corners[3 * PN_SMALL_TRIANGLES];
  for (uint32_t i = 0; i < 3 * vertices; ++i) {
    float away = far > 0 && testBelow(&dice, 20) == 0 ? far * testFloat(&dice, -1, 1) : 0;
    at[i] = place.middle + place.scale * (centre[i % 3] + radius * testFloat(&dice, -1, 1) + away);
  }
  for (uint32_t i = 0; i < 3 * triangles; ++i) corners[i] = (testBelow(&dice, vertices) / 4 * 4 + i % 5) % vertices;
  ball->mesh = testMakeMesh(at, vertices, corners, triangles);
  openTree(ball);
}

/* ---------------------------------------------------------------- the truth */

/* What a triangle takes up along the axes and the grain; sums of two floats are exact as doubles, or so far out that it does not matter. */
typedef struct Span {
  double lo[4], hi[4];
} Span;

static Span spanOf(const pnTree *tree, uint32_t slot, const pnBoard *board) {
  const float *p[3];
  Span span;
  pn_slotCorners(tree, slot, p);
  for (int d = 0; d < 4; ++d) {
    span.lo[d] = HUGE_VAL;
    span.hi[d] = -HUGE_VAL;
    for (int k = 0; k < 3; ++k) {
      double at = 0;
      if (d < 3) at = (double)p[k][d];
      else
        for (int x = 0; x < 3; ++x) at += (double)board->grain[x] * (double)p[k][x];
      span.lo[d] = fmin(span.lo[d], at);
      span.hi[d] = fmax(span.hi[d], at);
    }
  }
  return span;
}

/* Do they overlap, one of them wider by so many cells? A cell is rounded where numbers are large. */
static bool overlap(const Span *a, const Span *b, const pnBoard *board, double cells) {
  for (int d = 0; d < 4; ++d) {
    double ends = fmax(fabs((double)board->lo[d]), fabs((double)board->hi[d]));
    double away = cells * (1 / (double)board->scale[d] + ends * 0x1p-22);
    if (a->lo[d] > b->hi[d] + away || b->lo[d] > a->hi[d] + away) return false;
  }
  return true;
}

/* Is the body's way out of the reach longer than a few floats? Else a triangle beyond the reach and one at its end are in the same cell. */
static bool isFine(const pnBoard *board) {
  for (int d = 0; d < 3; ++d) {
    double ends = fmax(fabs((double)board->lo[d]), fabs((double)board->hi[d]));
    if ((double)board->hi[d] - (double)board->lo[d] < ends * 0x1p-16) return false;
  }
  return true;
}

static bool isListed(const pnPair *list, size_t count, pnPair pair) {
  return bsearch(&pair, list, count, sizeof pair, testComparePairs) != NULL;
}

/* Is the list complete, without repetition, and not longer than it needs to be? */
static size_t checkList(const Body *ground, const Body *ball, const pnBoard *board, const pnPair *found, size_t count) {
  static pnPair sorted[MOST];
  size_t overlaps = 0;
  assert_true(count < MOST);
  memcpy(sorted, found, count * sizeof(pnPair));
  qsort(sorted, count, sizeof(pnPair), testComparePairs);
  for (size_t i = 1; i < count; ++i) assert_true(testComparePairs(&sorted[i - 1], &sorted[i]) < 0);
  for (uint32_t i = 0; i < PN_LANES * ground->tree->shape->leafCount; ++i) {
    if (ground->tree->shape->leafTriangles[i] == PN_NONE) continue;
    Span p = spanOf(ground->tree, i, board);
    for (uint32_t t = 0; t < ball->mesh->triangleCount; ++t) {
      uint32_t slot = ball->tree->shape->small->slot[t];
      Span q = spanOf(ball->tree, slot, board);
      bool near = overlap(&p, &q, board, 0), listed = isListed(sorted, count, (pnPair){i, slot});
      if (near && !listed) fail_msg("triangles %u and %u are left out", i, t);
      if (listed && isFine(board) && !overlap(&p, &q, board, 2))
        fail_msg("triangles %u and %u are far from each other", i, t);
      overlaps += near;
    }
  }
  for (size_t i = 0; i < count; ++i) assert_true(ground->tree->shape->leafTriangles[sorted[i].a] != PN_NONE);
  return overlaps;
}

/* ---------------------------------------------------------------- a pair of bodies */

static size_t fitBy(pnFitPegsFcn *fit, const Body *ground, const Body *ball, pnCutting *cutting, pnPair *out) {
  pnTraversal t;
  pnWorker w = {0};
  pnPegs pegs;
  pn_beginTraversal(ground->tree, ball->tree, PN_OPEN_DEFAULT, &t);
  t.a = ground->tree; /* whoever has the coarser grid */
  t.b = ball->tree;
  assert_true(pn_listHoles(&t, cutting, &w));
  pn_makePegs(&cutting->board, t.b, &pegs);
  assert_true(w.leaves.count * PN_LANES * pegs.count + 16 < MOST);
  size_t count =
      fit(&pegs, t.b->shape->small->slot, cutting, t.a->shape->innerCount, w.leaves.data, w.leaves.count, out);
  pn_workerFree(&w);
  return count;
}

/* The exact test of candidates that name triangles, where a machine has one, keeps what that of slots keeps. */
static void testByNumbers(const Body *ground, const Body *ball, const pnPair *found, size_t count) {
  static pnPair slots[MOST + PN_NARROW_PAD], numbers[MOST + PN_NARROW_PAD];
  pnDoubts unsure = {0}, unsureToo = {0};
  pnNarrowBatchesFcn *narrow = pn_narrowSmall(PN_KERNEL_DEFAULT);
  assert_null(pn_narrowSmall(PN_KERNEL_MOLLER));
  if (!narrow) return;
  for (size_t i = 0; i < count; ++i) {
    slots[i] = found[i];
    numbers[i] = (pnPair){found[i].a, ball->tree->shape->leafTriangles[found[i].b]};
  }
  size_t kept = pn_narrow(ground->tree, ball->tree, slots, count, PN_KERNEL_DEFAULT, &unsure);
  assert_true(narrow(ground->tree, ball->tree, numbers, count, &unsureToo) == kept);
  assert_memory_equal(numbers, slots, kept * sizeof(pnPair));
  assert_true(unsure.count == unsureToo.count);
}

/* Every width drills the same holes. */
static void drillAlike(const Body *ground, const pnCutting *c) {
  const pnTree *t = ground->tree;
  for (uint32_t i = 0; i < c->leafCount; ++i) {
    uint8_t holes[PN_LANES][PN_PEG];
    if (!(c->drilled >> i & 1)) continue;
    pn_drillLeaf4(&c->board, t->cornerBase, t->corners + 3 * PN_LANES * (c->leaves[i] - t->shape->innerCount), holes);
    assert_memory_equal(holes, c->hole[i], t->shape->count[c->leaves[i]] * PN_PEG);
  }
}

/* A cutting is made when it is asked for the second time. Null: there are too many leaves. */
static pnCutting *cut(const Body *ground, const Body *ball) {
  pnFresh fresh = {0};
  pnCutting *cutting = pn_allocZero(sizeof(pnCutting));
  assert_non_null(cutting);
  bool made = pn_followCutting(cutting, ground->tree, ball->tree, &fresh);
  made = pn_followCutting(cutting, ground->tree, ball->tree, &fresh) || made;
  if (made) return cutting;
  pn_free(cutting, sizeof *cutting);
  return NULL;
}

static size_t tryPair(const Body *ground, const Body *ball) {
  static pnPair found[3][MOST];
  pnFitPegsFcn *fit[3] = {pn_fitPegs4, NULL, NULL};
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (__builtin_cpu_supports("avx2")) fit[1] = pn_fitPegsAvx2;
#if defined(PN_AVX512)
  if (pn_hasVbmi()) fit[2] = pn_fitPegsVbmi;
#endif
#endif
  pnCutting *cutting = cut(ground, ball);
  if (!cutting) return 0;
  assert_true(cutting->hasHoles && pn_isSmall(ball->tree));
  size_t count = fitBy(fit[0], ground, ball, cutting, found[0]);
  for (int i = 1; i < 3; ++i) {
    if (!fit[i]) continue;
    assert_true(fitBy(fit[i], ground, ball, cutting, found[i]) == count);
    assert_memory_equal(found[i], found[0], count * sizeof(pnPair));
  }
  size_t overlaps = checkList(ground, ball, &cutting->board, found[0], count);
  drillAlike(ground, cutting);
  testByNumbers(ground, ball, found[0], count);
  pn_free(cutting, sizeof *cutting);
  return overlaps;
}

static void everyOverlapIsACandidate(void **state) {
  (void)state;
  static const Place places[] = {{0, 1}, {1000, 1}, {-3e5f, 2}, {0, 1e-25f}, {0, 1e25f}, {1, 1e-5f}};
  size_t overlaps = 0;
  for (size_t p = 0; p < sizeof places / sizeof *places; ++p) {
    Body ground;
    openGround(&ground, places[p]);
    for (uint32_t round = 0; round < testRounds(24); ++round) {
      Body ball;
      uint32_t vertices = 5 + testBelow(&dice, PN_SMALL_VERTICES - 4), most = round % 3 ? 100 : PN_SMALL_TRIANGLES;
      /* some of them much smaller than a triangle of the ground, which is larger than the board then */
      float centre[3], radius = round % 4 == 2 ? 0.004f : 0.12f;
      chooseCentre(&ground, places[p], round % 4 >= 2, centre);
      openBall(&ball, places[p], centre, radius, vertices, 1 + testBelow(&dice, most), 0);
      overlaps += tryPair(&ground, &ball);
      closeTree(&ball);
    }
    closeTree(&ground);
  }
  assert_true(overlaps > 100 * testRounds(24));
}

/* Corners so far out that their cells are no 32-bit numbers: the cutting is the one of a body that is near, because a body so large is in no
 * cutting's reach. */
static void farCornersAreBroughtIn(void **state) {
  (void)state;
  static pnPair found[MOST];
  size_t overlaps = 0;
  Place place = {0, 1};
  Body ground;
  openGround(&ground, place);
  for (uint32_t round = 0; round < testRounds(200); ++round) {
    Body near, ball;
    float centre[2][3];
    for (int i = 0; i < 2; ++i) chooseCentre(&ground, place, false, centre[i]);
    openBall(&near, place, centre[0], 0.12f, 12, 12, 0);
    openBall(&ball, place, centre[1], 0.12f, 40, 80, round % 2 ? 1e12f : 1e4f);
    pnCutting *cutting = cut(&ground, &near);
    if (cutting) {
      pnPegs pegs;
      pnPair leaves[PN_CUTTING_LEAVES];
      for (uint32_t i = 0; i < cutting->leafCount; ++i) leaves[i] = (pnPair){i, 0};
      pnWorker w = {0};
      pnTraversal t = {.a = ground.tree, .b = ground.tree}; /* near everything, so that all leaves get their holes */
      assert_true(pn_listHoles(&t, cutting, &w) && w.leaves.count == cutting->leafCount);
      pn_workerFree(&w);
      pn_makePegs(&cutting->board, ball.tree, &pegs);
      assert_true(cutting->leafCount * PN_LANES * pegs.count + 16 < MOST);
      size_t count = pn_fitPegs4(&pegs, ball.tree->shape->small->slot, cutting, ground.tree->shape->innerCount, leaves,
                                 cutting->leafCount, found);
      qsort(found, count, sizeof(pnPair), testComparePairs);
      for (uint32_t i = 0; i < PN_LANES * cutting->leafCount; ++i) {
        uint32_t slot = PN_LANES * (cutting->leaves[i / PN_LANES] - ground.tree->shape->innerCount) + i % PN_LANES;
        if (ground.tree->shape->leafTriangles[slot] == PN_NONE) continue;
        Span p = spanOf(ground.tree, slot, &cutting->board);
        for (uint32_t k = 0; k < ball.mesh->triangleCount; ++k) {
          uint32_t other = ball.tree->shape->small->slot[k];
          Span q = spanOf(ball.tree, other, &cutting->board);
          if (!overlap(&p, &q, &cutting->board, 0)) continue;
          ++overlaps;
          assert_true(isListed(found, count, (pnPair){slot, other}));
        }
      }
      pn_free(cutting, sizeof *cutting);
    }
    closeTree(&near);
    closeTree(&ball);
  }
  closeTree(&ground);
  assert_true(overlaps > testRounds(200) / 2);
}

/* A body as wide as floats go, but thin: few leaves are in its reach, and no difference of its ends is a number. */
static void tooWideForABoard(void **state) {
  (void)state;
  static const float at[9] = {-2e38f, 0.5e38f, 2e36f, 2e38f, 0.5e38f, 4e36f, 0, 0.501e38f, 3e36f};
  static const uint32_t corners[3] = {0, 1, 2};
  Place place = {0, 1e38f};
  Body ground, ball;
  openGround(&ground, place);
  ball.mesh = testMakeMesh(at, 3, corners, 1);
  openTree(&ball);
  pnCutting *cutting = cut(&ground, &ball);
  assert_non_null(cutting);
  assert_false(cutting->hasHoles);
  pn_free(cutting, sizeof *cutting);
  closeTree(&ball);
  closeTree(&ground);
}

int main(void) {
  dice = testRandom(29);
  const struct CMUnitTest tests[] = {cmocka_unit_test(everyOverlapIsACandidate),
                                     cmocka_unit_test(farCornersAreBroughtIn), cmocka_unit_test(tooWideForABoard)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
