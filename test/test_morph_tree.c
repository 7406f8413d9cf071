/* test_morph_tree.c: trees over morphing bodies. The pairs are those of brute force over eager vertices, whatever the
 * volumes, builders, rules, threads and transforms; volumes contain every float vertex (T7, T8 of tree.h), huge and
 * tiny numbers included; a frame without contact computes no vertex. */
#include "support_morph.h"

#include <float.h>

#include "tree/blend.h"

/* ---------------------------------------------------------------- agreement */

static pnTree *makeTree(const pnPose *pose, const pnTreeDef *settings) {
  pnTreeDef def = *settings;
  def.pose = pose;
  pnTree *tree;
  testExpectOk(pnCreateTree(&def, &tree));
  return tree;
}

static void expectPairs(const pnPairList *found, const pnPairList *truth) {
  assert_int_equal(pnPairList_GetCount(found), pnPairList_GetCount(truth));
  if (pnPairList_GetCount(truth) > 0) {
    assert_memory_equal(pnPairList_GetPairs(found), pnPairList_GetPairs(truth),
                        pnPairList_GetCount(truth) * sizeof(pnPair));
  }
}

/* Two bodies near each other, and all settings that could matter. */
typedef struct Meeting {
  MorphBody body[2];
  pnPairList *truth, *found;
  pnPool *pools[5]; /* by worker count, from 2 */
} Meeting;

static Meeting makeMeeting(MorphKind a, MorphKind b, uint32_t level) {
  Meeting m = {.body = {morphMake(a, level, 1, 11), morphMake(b, level, 1, 12)}};
  testExpectOk(pnCreatePairList(&m.truth));
  testExpectOk(pnCreatePairList(&m.found));
  for (uint32_t workers = 2; workers <= 4; ++workers) testExpectOk(pnCreatePool(workers, &m.pools[workers]));
  return m;
}

static void freeMeeting(Meeting *m) {
  for (uint32_t workers = 2; workers <= 4; ++workers) pnDestroyPool(m->pools[workers]);
  pnDestroyPairList(m->found);
  pnDestroyPairList(m->truth);
  morphFree(&m->body[0]);
  morphFree(&m->body[1]);
  assert_int_equal(pnGetByteCount(), 0);
}

/* New weights and places; brute force says what meets. */
static void moveMeeting(Meeting *m, TestRandom *random, int round) {
  for (int i = 0; i < 2; ++i) {
    morphPose(&m->body[i], random);
    pnMatrix transform = round % 3 == 0 ? pnMatrix_Identity() : testRotation(random, 0.1f);
    transform.m[0][3] += round % 2 == 0 ? (i ? 0.9f : -0.7f) : (i ? 0.3f : 0);
    testExpectOk(pnPose_SetTransform(m->body[i].pose, &transform));
  }
  testExpectOk(pnCollideBrute(m->body[0].pose, m->body[1].pose, NULL, m->truth));
}

static void checkMeeting(Meeting *m, pnTree *a, pnTree *b) {
  pnQueryDef query = pnDefaultQueryDef();
  for (uint32_t workers = 1; workers <= 4; ++workers) {
    query.tasks = workers > 1 ? pnPool_GetTasks(m->pools[workers]) : (pnTasks){0};
    testExpectOk(pnCollideTrees(a, b, &query, m->found, NULL));
    expectPairs(m->found, m->truth);
    query.first = true;
    testExpectOk(pnCollideTrees(a, b, &query, m->found, NULL));
    assert_int_equal(pnPairList_GetCount(m->found), pnPairList_GetCount(m->truth) > 0);
    query.first = false;
  }
}

static void everyVolumeAndBuilder(void **state) {
  (void)state;
  for (int kind = 0; kind < MORPH_KIND_COUNT; ++kind) {
    Meeting m = makeMeeting((MorphKind)kind, (MorphKind)((kind + 1) % MORPH_KIND_COUNT), 1);
    pnTree *trees[2][PN_VOLUME_COUNT][PN_BUILD_COUNT];
    for (int i = 0; i < 2; ++i)
      for (int volume = 0; volume < PN_VOLUME_COUNT; ++volume)
        for (int build = 0; build < PN_BUILD_COUNT; ++build) {
          pnTreeDef def = pnDefaultTreeDef();
          def.volume = (pnVolume)volume;
          def.build = (pnBuild)build;
          def.leafSize = build == 0 ? 2 : 1;
          def.extraReferences = (uint32_t)build;
          trees[i][volume][build] = makeTree(m.body[i].pose, &def);
        }
    TestRandom random = testRandom((uint64_t)kind + 1);
    size_t pairs = 0;
    for (int round = 0; round < 12; ++round) {
      moveMeeting(&m, &random, round);
      pairs += pnPairList_GetCount(m.truth);
      for (int volume = 0; volume < PN_VOLUME_COUNT; ++volume)
        for (int build = 0; build < PN_BUILD_COUNT; ++build)
          checkMeeting(&m, trees[0][volume][build], trees[1][volume][build]);
    }
    assert_true(pairs > 100);
    for (int i = 0; i < 2; ++i)
      for (int volume = 0; volume < PN_VOLUME_COUNT; ++volume)
        for (int build = 0; build < PN_BUILD_COUNT; ++build) pnDestroyTree(trees[i][volume][build]);
    freeMeeting(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everyVolumeAndBuilder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
