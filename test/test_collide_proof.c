/* test_collide_proof.c: the table of proofs (collide/proof.h). Whatever may be left out of a self query is left out, in all
 * combinations, on bodies about which each proof has something to say; the pairs are those of brute force every time, and each
 * proof is seen to save something. */
#include "support.h"

#include "collide/self.h"
#include "pinch/pinch.h"

#include <stdlib.h>
#include <string.h>

/* Without these a query answers the same. */
#define OPTIONAL (PN_PROOF_BIT(PN_PROOF_CALM) | PN_PROOF_BIT(PN_PROOF_FLAT))

/* A sheet of 24 x 24 squares with two targets: one bends a corner down onto the sheet, one lifts the middle. */
typedef struct Sheet {
  pnMesh *mesh;
  pnMorph *morph;
  pnPose *pose;
  pnTree *tree;
} Sheet;

static Sheet openSheet(bool calm) {
  enum { N = 24 };
  Sheet s = {0};
  testExpectOk(pnMakeGrid(2.0f, 2.0f, N, N, &s.mesh));
  uint32_t n = pnMesh_GetVertexCount(s.mesh);
  const float *rest = pnMesh_GetVertices(s.mesh);
  float *fold = calloc(3 * n, sizeof(float)), *lift = calloc(3 * n, sizeof(float));
  assert_non_null(fold);
  assert_non_null(lift);
  for (uint32_t i = 0; i < n; ++i) {
    float across = rest[3 * i] + 1;
    if (across > 1.5f) {
      /* at weight 1 turned over, and a little through the sheet */
      fold[3 * i] = -2 * (across - 1.5f);
      fold[3 * i + 2] = 0.3f * (across - 1.5f) - (across > 1.8f ? 0.3f : 0);
    }
    lift[3 * i + 2] = 0.1f * across * (2 - across);
  }
  pnMorphTarget targets[2] = {{.count = n, .values = fold}, {.count = n, .values = lift}};
  pnMorphDef def = pnDefaultMorphDef();
  def.mesh = s.mesh;
  def.targets = targets;
  def.targetCount = 2;
  testExpectOk(pnCreateMorph(&def, &s.morph));
  pnPoseDef poseDef = {s.mesh, s.morph, NULL};
  testExpectOk(pnCreatePose(&poseDef, &s.pose));
  pnTreeDef treeDef = pnDefaultTreeDef();
  treeDef.pose = s.pose;
  treeDef.calm = calm;
  testExpectOk(pnCreateTree(&treeDef, &s.tree));
  free(fold);
  free(lift);
  return s;
}

static void closeSheet(Sheet *s) {
  pnDestroyTree(s->tree);
  pnDestroyPose(s->pose);
  pnDestroyMorph(s->morph);
  pnDestroyMesh(s->mesh);
}

/* The pairs without some proofs; what they cost, and which proofs were used. */
static pnCost ask(pnTree *tree, uint32_t without, pnCollider *collider, uint32_t *outProofs) {
  pnTasks alone = {0};
  pnSelfFilter all = {0};
  pnCost cost = {0};
  pnJob job;
  bool limited;
  testExpectOk(pnTree_Update(tree, NULL));
  testExpectOk(pn_beginSelf(tree, tree->mesh, &all, false, without, &job));
  collider->pairs.count = 0;
  pnRunDef run = {.tasks = &alone, .kernel = PN_KERNEL_DEFAULT};
  testExpectOk(pn_runJobs(collider, &job, 1, &run, &cost, &limited));
  *outProofs = job.proofs;
  return cost;
}

static void proofsChangeTimeOnly(void **state) {
  (void)state;
  static const float weights[][2] = {{0, 0}, {0, 1}, {0.2f, 0.5f}, {0.6f, 0}, {1, 0}, {1, 1}, {1.2f, -0.5f}};
  uint32_t seen = 0;
  size_t met = 0;
  for (int calm = 0; calm < 2; ++calm) {
    Sheet s = openSheet(calm);
    pnCollider collider = {0};
    pnPairList *truth;
    testExpectOk(pnCreatePairList(&truth));
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; ++i) {
      testExpectOk(pnPose_SetWeights(s.pose, weights[i], 2));
      testExpectOk(pnCollideBrute(s.pose, s.pose, NULL, truth));
      size_t count = pnPairList_GetCount(truth);
      met += count;
      pnCost cost[OPTIONAL + 1];
      for (uint32_t without = 0; without <= OPTIONAL; ++without) {
        uint32_t proofs;
        if (without & ~OPTIONAL) continue;
        cost[without] = ask(s.tree, without, &collider, &proofs);
        assert_int_equal(proofs & without, 0);
        seen |= proofs;
        assert_int_equal(collider.pairs.count, count);
        assert_memory_equal(collider.pairs.data, pnPairList_GetPairs(truth), count * sizeof(pnPair));
      }
      /* while nothing is near itself, each of them saves pairs of leaves */
      if (i < 2) {
        uint64_t none = cost[OPTIONAL].leafPairs;
        assert_true(cost[PN_PROOF_BIT(PN_PROOF_CALM)].leafPairs < none);
        assert_true(!calm || cost[0].leafPairs < none);
      }
    }
    pnDestroyPairList(truth);
    pn_colliderFree(&collider);
    closeSheet(&s);
  }
  assert_true(met > 0);
  assert_int_equal(seen, OPTIONAL | PN_PROOF_BIT(PN_PROOF_FANS));
  assert_int_equal(pnGetByteCount(), 0);
}

/* Every row says who it is, and what it prunes it can prune. */
static void rowsAreWhole(void **state) {
  (void)state;
  for (uint32_t i = 0; i < PN_PROOF_COUNT; ++i) {
    const pnProof *p = pn_proofs[i];
    assert_non_null(p);
    assert_true(p->name && p->name[0]);
    assert_int_equal(p->lists != 0, p->prune != NULL);
    assert_int_equal(p->countNeighbours != NULL, p->runNeighbours != NULL);
    assert_true(!p->countNeighbours || p->portion > 0);
    for (uint32_t j = 0; j < i; ++j) assert_string_not_equal(p->name, pn_proofs[j]->name);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(proofsChangeTimeOnly), cmocka_unit_test(rowsAreWhole)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
