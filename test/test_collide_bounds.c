/* test_collide_bounds.c: bounds themselves, before a grid of 16 bits or a tree of leaves hides whether they are right: what a bound
 * is about is computed in float as the library does and again in double, and the difference must stay within it. Each also says
 * how near it comes, so that a bound that is far too large, or a hundredth, is noticed. */
#include "support.h"

#include "base/bytes.h"
#include "collide/calm.h"
#include "collide/sight.h"
#include "geom/slab.h"
#include "geom/triangle.h"
#include "mesh/soup.h"
#include "tree/bucket.h"
#include "tree/corner.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- directions of k-DOPs */

/* The slabs of a point hold its projection as real numbers have it. */
static void slabsHoldWhatTheyAreOf(void **state) {
  (void)state;
  TestRandom r = testRandom(1);
  const pnSlabSet *const sets[] = {&pn_slabBox, &pn_slabDop14, &pn_slabDop18, &pn_slabDop26};
  double most = 0;
  for (int round = 0; round < 20000; ++round) {
    const pnSlabSet *set = sets[round % 4];
    float p[4] = {0};
    for (int k = 0; k < 3; ++k) p[k] = ldexpf(testFloat(&r, -1, 1), (int)testBelow(&r, 6));
    pnSlabs slabs;
    pn_slabsOfPoints(set, p, 1, &slabs);
    for (uint32_t d = 0; d < set->count; ++d) {
      int terms = 0;
      double real = 0, size = 0; /* three floats within 2^6 of each other: exact in double */
      for (int k = 0; k < 3; ++k) real += set->dir[d][k] * (double)p[k], terms += set->dir[d][k] != 0;
      for (int k = 0; k < 3; ++k) size += fabs((double)p[k]);
      /* two terms are rounded once, which is monotone and needs no margin; half a unit of the sum */
      double free = terms == 2 ? 0x1p-24 * size : 0;
      assert_true((double)slabs.lo[d] <= real + free && real - free <= (double)slabs.hi[d]);
      double middle = 0.5 * ((double)slabs.lo[d] + (double)slabs.hi[d]);
      if (terms == 3) most = fmax(most, fabs(real - middle) / (PN_DIAGONAL_MARGIN * size));
    }
  }
  assert_true(most > 0.1 && most <= 1);
}

/* ---------------------------------------------------------------- sight */

/* What fans and flat regions see, with one lane in use. */
static void seenAndSideHaveTheirErrors(void **state) {
  (void)state;
  TestRandom r = testRandom(2);
  double mostSeen = 0, mostSide = 0;
  for (int round = 0; round < 200000; ++round) {
    float middle[3], point[2][3], away = round % 2 ? 1.0f : 30.0f;
    for (int k = 0; k < 3; ++k) {
      middle[k] = testFloat(&r, -away, away);
      for (int i = 0; i < 2; ++i) point[i][k] = middle[k] + testFloat(&r, -1, 1);
    }
    /* near each other's line, so that little is left of large products */
    for (int k = 0; k < 3 && round % 3 == 0; ++k)
      point[1][k] = middle[k] + (point[0][k] - middle[k]) * 0.97f + testFloat(&r, -1e-3f, 1e-3f);
    pnV4 direction, p[2];
    pnF4 m = pn_f4Set1(0);
    for (int k = 0; k < 3; ++k) {
      direction.x[k] = pn_f4Set1(testFloat(&r, -1, 1));
      for (int i = 0; i < 2; ++i) p[i].x[k] = pn_f4Sub(pn_f4Set1(point[i][k]), pn_f4Set1(middle[k]));
    }
    for (int i = 0; i < 2; ++i) m = pn_v4Reach(&p[i], m);
    pnLineOfSight sight = pn_lookAlong(&direction);
    pnV4 n = pn_v4Cross(&p[0], &p[1]);
    float seen[4], side[4], along[3][4], across[3][4], bounds[2][4];
    pn_f4Store(seen, pn_v4Dot(&sight.along, &n));
    pn_f4Store(side, pn_v4Dot(&sight.across, &p[0]));
    pn_f4Store(bounds[0], pn_seenError(m));
    pn_f4Store(bounds[1], pn_sideError(m));
    double q[2][3];
    for (int k = 0; k < 3; ++k) {
      pn_f4Store(along[k], sight.along.x[k]);
      pn_f4Store(across[k], sight.across.x[k]);
      for (int i = 0; i < 2; ++i) q[i][k] = (double)point[i][k] - (double)middle[k];
    }
    double realSeen = 0, realSide = 0;
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      realSeen += (double)along[k][0] * (q[0][a] * q[1][b] - q[0][b] * q[1][a]);
      realSide += (double)across[k][0] * q[0][k];
    }
    mostSeen = fmax(mostSeen, fabs(realSeen - (double)seen[0]) / (double)bounds[0][0]);
    mostSide = fmax(mostSide, fabs(realSide - (double)side[0]) / (double)bounds[1][0]);
  }
  assert_true(mostSeen <= 1 && mostSide <= 1);
  assert_true(mostSeen > 0.05 && mostSide > 0.05); /* a tenth of these bounds would not do */
}

/* ---------------------------------------------------------------- neighbours */

/* What the filters for neighbours decide is true at every size, down to where products of coordinates vanish. */
static void neighboursAreFilteredWhereNumbersAllow(void **state) {
  (void)state;
  TestRandom r = testRandom(6);
  uint32_t decided = 0;
  for (int round = 0; round < 400000; ++round) {
    bool edge = round / 60 % 2;
    int mode = round / 120 % 4;
    float v[6][4] = {{0}};
    for (int i = 0; i < 18; ++i) {
      float x = testFloat(&r, -1, 1);
      x = mode == 1 ? floorf(x * 4) / 4 : mode == 2 && i % 3 == 2 ? x * 1e-3f : mode == 3 && i % 3 == 2 ? 0 : x;
      v[i / 3][i % 3] = ldexpf(x, -round % 60);
    }
    memcpy(v[3], v[0], sizeof v[0]);
    if (edge) memcpy(v[4], v[1], sizeof v[1]);
    const float *p[3] = {v[0], v[1], v[2]}, *q[3] = {v[3], v[4], v[5]};
    const float *corners[5] = {v[0], v[1], v[2], edge ? v[5] : v[4], v[5]};
    pnV4 c[5];
    for (int i = 0; i < 5; ++i) c[i] = pn_v4Load(corners[i], corners[i], corners[i], corners[i]);
    pnVerdicts verdict = edge ? pn_beyondEdge(c) : pn_beyondCorner(c);
    if (verdict.unsure & 1) continue;
    pnSharedCorners shared = {.count = edge ? 2 : 1, .a = {0, 1, 2}, .b = {0, 1, 2}};
    assert_int_equal(verdict.meet & 1, pn_trianglesMeetBeyondPtr(p, q, shared));
    ++decided;
  }
  assert_true(decided > 50000);
}

/* ---------------------------------------------------------------- bytes */

static void readersStopAtTheEnd(void **state) {
  (void)state;
  const char block[9] = "12345678";
  pnByteReader r = {.block = block, .bytes = 8};
  assert_true(pn_hasLeft(&r, 8, 1) && pn_hasLeft(&r, 2, 4) && pn_hasLeft(&r, 1, 8));
  (void)pn_takeU32(&r);
  assert_true(pn_hasLeft(&r, 4, 1) && !r.isShort);
  assert_false(pn_hasLeft(&r, 5, 1));
  assert_true(r.isShort);
  r = (pnByteReader){.block = block, .bytes = 7};
  assert_int_equal(pn_takeU64(&r), 0);
  assert_true(r.isShort);
}

/* ---------------------------------------------------------------- calm patches */

/* A vertex far from the origin is where real numbers put it, up to the noise that calm patches allow for. */
static void noiseCoversTheTransform(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(2, 1, &mesh));
  uint32_t n = pnMesh_GetVertexCount(mesh);
  TestRandom r = testRandom(3);
  float *deltas = malloc(3 * (size_t)n * sizeof(float));
  for (uint32_t i = 0; i < 3 * n; ++i) deltas[i] = testFloat(&r, -0.3f, 0.3f);
  pnMorphTarget target = {.count = n, .values = deltas};
  pnMorphDef morphDef = pnDefaultMorphDef();
  morphDef.mesh = mesh;
  morphDef.targets = &target;
  morphDef.targetCount = 1;
  pnMorph *morph;
  testExpectOk(pnCreateMorph(&morphDef, &morph));
  pnPose *pose;
  testExpectOk(pnCreatePose(&(pnPoseDef){mesh, morph, NULL}, &pose));
  double most[2] = {0};
  for (int round = 0; round < 60; ++round) {
    float weight = testFloat(&r, -1, 1), away = round % 2 ? 1e5f : 1;
    pnMatrix m = testRotation(&r, away);
    testExpectOk(pnPose_SetWeights(pose, &weight, 1));
    testExpectOk(pnPose_SetTransform(pose, &m));
    double noise = pn_calmNoise(pose);
    for (uint32_t v = 0; v < n; ++v) {
      double local[3], off = 0;
      for (int k = 0; k < 3; ++k)
        local[k] = (double)pnMesh_GetVertices(mesh)[3 * v + k] + (double)weight * (double)deltas[3 * v + k];
      pnVec3 at = pnPose_GetVertex(pose, v);
      for (int k = 0; k < 3; ++k) {
        const float *row = m.m[k];
        double real = row[0] * local[0] + row[1] * local[1] + row[2] * local[2] + (double)row[3];
        off += (real - (double)(&at.x)[k]) * (real - (double)(&at.x)[k]);
      }
      most[round % 2] = fmax(most[round % 2], sqrt(off) / noise);
    }
  }
  assert_true(most[0] <= 1 && most[1] <= 1 && most[0] > 0.02 && most[1] > 0.1);
  pnDestroyPose(pose);
  pnDestroyMorph(morph);
  pnDestroyMesh(mesh);
  free(deltas);
}

/* ---------------------------------------------------------------- pieces of big triangles */

static void piecesAreWidenedByTheirRounding(void **state) {
  (void)state;
  TestRandom r = testRandom(4);
  double most = 0;
  for (int round = 0; round < 20000; ++round) {
    float c[3][3], out[12];
    for (int i = 0; i < 9; ++i) c[i / 3][i % 3] = testFloat(&r, -1, 1) * (round % 2 ? 1.0f : 1e-30f);
    const float *const corner[3] = {c[0], c[1], c[2]};
    uint8_t level = (uint8_t)(1 + testBelow(&r, 7));
    uint16_t i = (uint16_t)testBelow(&r, (1u << level) - 1), j = (uint16_t)testBelow(&r, (1u << level) - i);
    pnPiece piece = {.level = level, .i = i, .j = j};
    pn_pieceCorners(&piece, corner, out);
    double margin = (double)pn_pieceMargin(corner), s = (double)i / (1u << level), t = (double)j / (1u << level);
    for (int k = 0; k < 3; ++k) {
      double real = (1 - s - t) * (double)c[0][k] + s * (double)c[1][k] + t * (double)c[2][k];
      double off = fabs(real - (double)out[k]);
      assert_true(off <= margin);
      most = fmax(most, off / margin);
    }
  }
  assert_true(most > 0.05); /* a twentieth of the margin would not do */
}

/* ---------------------------------------------------------------- the end of float */

/* Room is kept for the roundings of the sum: a vertex that could reach the last millionth of the range is refused. */
static void rigidKeepsRoomForRounding(void **state) {
  (void)state;
  pnMatrix m = pnMatrix_Identity();
  assert_true(pn_rigidFits(&m, (float)((double)FLT_MAX * (1 - 2e-6))));
  assert_false(pn_rigidFits(&m, (float)((double)FLT_MAX * (1 - 4e-7))));
  assert_false(pn_rigidFits(&m, FLT_MAX));
}

/* ---------------------------------------------------------------- frames beyond 2^32 */

/* Primitives that come after the frame number has passed 2^32 are seen by a kept order that is older. */
static void soupsOutliveTheirFrameNumbers(void **state) {
  (void)state;
  TestRandom r = testRandom(5);
  pnSoup *soup;
  testExpectOk(pnCreateSoup(NULL, &soup));
  soup->pose.frame = soup->changedLast = 0xffffffffull - 6;
  float p[9 * 40];
  pnBucketDef def = pnDefaultBucketDef();
  def.soup = soup;
  pnTree *tree;
  testExpectOk(pnCreateBucketTree(&def, &tree));
  pnPairList *list, *truth;
  testExpectOk(pnCreatePairList(&list));
  testExpectOk(pnCreatePairList(&truth));
  size_t pairs = 0;
  for (int round = 0; round < 20; ++round) {
    uint32_t count = round == 0 ? 40 : 2;
    for (uint32_t i = 0; i < 9 * count; ++i) p[i] = testFloat(&r, -0.5f, 0.5f);
    testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, p, count, NULL));
    testExpectOk(pnCollideSelf(tree, NULL, list, NULL));
    testExpectOk(pnCollideBrute(pnSoup_GetPose(soup), pnSoup_GetPose(soup), NULL, truth));
    assert_int_equal(pnPairList_GetCount(list), pnPairList_GetCount(truth));
    assert_memory_equal(pnPairList_GetPairs(list), pnPairList_GetPairs(truth),
                        pnPairList_GetCount(truth) * sizeof(pnPair));
    pairs += pnPairList_GetCount(truth);
  }
  assert_true(soup->changedLast > 0xffffffffull && pairs > 100);
  pnDestroyPairList(list);
  pnDestroyPairList(truth);
  pnDestroyTree(tree);
  pnDestroySoup(soup);
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slabsHoldWhatTheyAreOf),
      cmocka_unit_test(seenAndSideHaveTheirErrors),
      cmocka_unit_test(neighboursAreFilteredWhereNumbersAllow),
      cmocka_unit_test(readersStopAtTheEnd),
      cmocka_unit_test(noiseCoversTheTransform),
      cmocka_unit_test(piecesAreWidenedByTheirRounding),
      cmocka_unit_test(rigidKeepsRoomForRounding),
      cmocka_unit_test(soupsOutliveTheirFrameNumbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
