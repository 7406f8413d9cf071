/* test_collide_peg.c: pegs and holes (collide/peg.h), by every width: every pair of triangles whose boxes overlap is a candidate once, nothing
 * else is that is farther than cells are large, and all widths write the same list. Bodies of every size and number of triangles, near
 * and far from the middle of the world, with corners far beyond the large body and its grid. */
#include "support.h"

#include "collide/peg.h"
#include "geom/box.h"
#include "pinch/pinch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 40, MOST = 100000 };

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

/* Vertices around a place on the ground, some of them, where wanted, far away. */
static void openBall(Body *ball, Place place, uint32_t vertices, uint32_t triangles, float far) {
  float at[3 * PN_SMALL_VERTICES], centre[3];
  uint32_t corners[3 * PN_SMALL_TRIANGLES];
  for (int k = 0; k < 3; ++k) centre[k] = testFloat(&dice, -0.6f, 0.6f) * (k < 2 ? 1.0f : 0.3f);
  for (uint32_t i = 0; i < 3 * vertices; ++i) {
    float away = far > 0 && testBelow(&dice, 20) == 0 ? far * testFloat(&dice, -1, 1) : 0;
    at[i] = place.middle + place.scale * (centre[i % 3] + testFloat(&dice, -0.12f, 0.12f) + away);
  }
  for (uint32_t i = 0; i < 3 * triangles; ++i) corners[i] = (testBelow(&dice, vertices) / 4 * 4 + i % 5) % vertices;
  ball->mesh = testMakeMesh(at, vertices, corners, triangles);
  openTree(ball);
}

/* ---------------------------------------------------------------- the truth */

static pnBox boxOf(const pnTree *tree, uint32_t slot) {
  const float *p[3];
  pnBox box;
  pn_slotCorners(tree, slot, p);
  float *sides = &box.min.x;
  for (int k = 0; k < 3; ++k) {
    sides[k] = fminf(fminf(p[0][k], p[1][k]), p[2][k]);
    sides[3 + k] = fmaxf(fmaxf(p[0][k], p[1][k]), p[2][k]);
  }
  return box;
}

/* As cells have it, at most: wider by a cell on each side. */
static pnBox widen(pnBox box, double cell) {
  float *sides = &box.min.x;
  for (int k = 0; k < 3; ++k) {
    sides[k] = (float)(sides[k] - 2 * cell);
    sides[3 + k] = (float)(sides[3 + k] + 2 * cell);
  }
  return box;
}

static bool isListed(const pnPair *list, size_t count, pnPair pair) {
  return bsearch(&pair, list, count, sizeof pair, testComparePairs) != NULL;
}

/* Is the list complete, without repetition, and not longer than it needs to be? */
static size_t checkList(const Body *ground, const Body *ball, const pnPair *found, size_t count) {
  static pnPair sorted[MOST];
  size_t overlaps = 0;
  assert_true(count < MOST);
  memcpy(sorted, found, count * sizeof(pnPair));
  qsort(sorted, count, sizeof(pnPair), testComparePairs);
  for (size_t i = 1; i < count; ++i) assert_true(testComparePairs(&sorted[i - 1], &sorted[i]) < 0);
  for (uint32_t i = 0; i < PN_LANES * ground->tree->shape->leafCount; ++i) {
    if (ground->tree->shape->leafTriangles[i] == PN_NONE) continue;
    pnBox p = boxOf(ground->tree, i), wide = widen(p, ground->tree->grid.cell);
    for (uint32_t t = 0; t < ball->mesh->triangleCount; ++t) {
      uint32_t slot = ball->tree->shape->small->slot[t];
      pnBox q = boxOf(ball->tree, slot);
      bool overlap = pn_boxesOverlap(&p, &q), listed = isListed(sorted, count, (pnPair){i, slot});
      if (overlap && !listed) fail_msg("triangles %u and %u are left out", i, t);
      if (listed && !pn_boxesOverlap(&wide, &q)) fail_msg("triangles %u and %u are far from each other", i, t);
      overlaps += overlap;
    }
  }
  for (size_t i = 0; i < count; ++i) assert_true(ground->tree->shape->leafTriangles[sorted[i].a] != PN_NONE);
  return overlaps;
}

/* ---------------------------------------------------------------- a pair of bodies */

static size_t fitBy(pnFitPegsFcn *fit, const Body *ground, const Body *ball, const pnCutting *cutting, pnPair *out) {
  pnTraversal t;
  pnWorker w = {0};
  pnPegs pegs;
  pn_beginTraversal(ground->tree, ball->tree, PN_OPEN_DEFAULT, &t);
  t.a = ground->tree; /* whoever has the coarser grid */
  t.b = ball->tree;
  assert_true(pn_listHoles(&t, cutting, &w));
  pn_makePegs(t.a, t.b, &pegs);
  assert_true(w.leaves.count * PN_LANES * pegs.count + 16 < MOST);
  size_t count =
      fit(&pegs, t.b->shape->small->slot, cutting, t.a->shape->innerCount, w.leaves.data, w.leaves.count, out);
  pn_workerFree(&w);
  return count;
}

/* A cutting is made when it is asked for the second time. Null: there are too many leaves. */
static pnCutting *cut(const Body *ground, const Body *ball) {
  pnFresh fresh = {0};
  pnCutting *cutting = pn_createCutting();
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
  size_t overlaps = checkList(ground, ball, found[0], count);
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
      openBall(&ball, places[p], vertices, 1 + testBelow(&dice, most), 0);
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
    openBall(&near, place, 12, 12, 0);
    openBall(&ball, place, 40, 80, round % 2 ? 1e12f : 1e4f);
    pnCutting *cutting = cut(&ground, &near);
    if (cutting) {
      pnPegs pegs;
      pnPair leaves[PN_CUTTING_LEAVES];
      for (uint32_t i = 0; i < cutting->leafCount; ++i) leaves[i] = (pnPair){i, 0};
      pn_makePegs(ground.tree, ball.tree, &pegs);
      assert_true(cutting->leafCount * PN_LANES * pegs.count + 16 < MOST);
      size_t count = pn_fitPegs4(&pegs, ball.tree->shape->small->slot, cutting, ground.tree->shape->innerCount, leaves,
                                 cutting->leafCount, found);
      qsort(found, count, sizeof(pnPair), testComparePairs);
      for (uint32_t i = 0; i < PN_LANES * cutting->leafCount; ++i) {
        uint32_t slot = PN_LANES * (cutting->leaves[i / PN_LANES] - ground.tree->shape->innerCount) + i % PN_LANES;
        if (ground.tree->shape->leafTriangles[slot] == PN_NONE) continue;
        pnBox p = boxOf(ground.tree, slot);
        for (uint32_t t = 0; t < ball.mesh->triangleCount; ++t) {
          uint32_t other = ball.tree->shape->small->slot[t];
          pnBox q = boxOf(ball.tree, other);
          if (!pn_boxesOverlap(&p, &q)) continue;
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

int main(void) {
  dice = testRandom(29);
  const struct CMUnitTest tests[] = {cmocka_unit_test(everyOverlapIsACandidate),
                                     cmocka_unit_test(farCornersAreBroughtIn)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
