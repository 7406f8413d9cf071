/* test_skin_data.c: skinned characters made by others, through the glTF reader: in each clip at a few moments the
 * carried volumes contain every vertex, and a body meets itself and the others in the pairs that a tree over eager
 vertices finds. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "pinch/collide.h"
#include "pinch/io.h"

#define MOST_BODIES 12u

typedef struct Body {
  pnMesh *mesh;
  pnMorph *morph;
  pnSkin *skin;
  pnPose *pose, *eager;
  pnTree *tree, *plain;
  float *vertices;
  uint32_t index;
} Body;

static Body makeBody(const pnAnimFile *file, uint32_t index) {
  const pnAnimBody *from = &file->bodies[index];
  Body body = {.index = index};
  testExpectOk(pnAnimFile_CreateMesh(file, index, NULL, &body.mesh));
  testExpectOk(pnAnimFile_CreateSkin(file, index, body.mesh, &body.skin));
  assert_true(pnSkin_GetWeightError(body.skin, NULL) < 1e-5);
  if (from->targetCount > 0) testExpectOk(pnAnimFile_CreateMorph(file, index, body.mesh, &body.morph));
  pnPoseDef poseDef = {body.mesh, body.morph, body.skin}, eagerDef = {body.mesh, NULL, NULL};
  testExpectOk(pnCreatePose(&poseDef, &body.pose));
  testExpectOk(pnCreatePose(&eagerDef, &body.eager));
  pnTreeDef treeDef = pnDefaultTreeDef();
  pnTreeLab treeLab = {0};
  treeDef.lab = &treeLab;
  treeDef.pose = body.pose;
  treeLab.form = index % 2 ? PN_FORM_SPHERE : PN_FORM_BOX;
  testExpectOk(pnCreateTree(&treeDef, &body.tree));
  treeDef.pose = body.eager;
  treeLab.form = PN_FORM_BOX;
  testExpectOk(pnCreateTree(&treeDef, &body.plain));
  body.vertices = malloc(3 * sizeof(float) * (from->vertexCount + 1));
  assert_non_null(body.vertices);
  return body;
}

static void freeBody(Body *body) {
  free(body->vertices);
  pnDestroyTree(body->plain);
  pnDestroyTree(body->tree);
  pnDestroyPose(body->eager);
  pnDestroyPose(body->pose);
  pnDestroySkin(body->skin);
  pnDestroyMorph(body->morph);
  pnDestroyMesh(body->mesh);
}

static void poseBody(const pnAnimFile *file, const pnAnimState *state, Body *body) {
  const pnAnimBody *from = &file->bodies[body->index];
  testExpectOk(
      pnPose_SetJoints(body->pose, pnAnimState_GetJoints(state, body->index), file->skins[from->skin].jointCount));
  if (from->targetCount > 0)
    testExpectOk(pnPose_SetWeights(body->pose, pnAnimState_GetWeights(state, body->index), from->targetCount));
  pnPose_GetVertices(body->pose, body->vertices);
  testExpectOk(pnPose_SetVertices(body->eager, body->vertices, from->vertexCount));
}

static void expectPairs(const pnPairList *found, const pnPairList *truth) {
  assert_int_equal(pnPairList_GetCount(found), pnPairList_GetCount(truth));
  if (pnPairList_GetCount(truth) > 0)
    assert_memory_equal(pnPairList_GetPairs(found), pnPairList_GetPairs(truth),
                        pnPairList_GetCount(truth) * sizeof(pnPair));
}

/* One moment of all bodies. */
static size_t checkMoment(Body *bodies, uint32_t count, pnPairList *lists[2]) {
  size_t pairs = 0;
  for (uint32_t i = 0; i < count; ++i) {
    testExpectOk(pnTree_Validate(bodies[i].tree));
    for (uint32_t j = i; j < count; ++j) {
      if (i == j) {
        testExpectOk(pnCollideSelf(bodies[i].tree, NULL, lists[0], NULL));
        testExpectOk(pnCollideSelf(bodies[i].plain, NULL, lists[1], NULL));
      } else {
        testExpectOk(pnCollideTrees(bodies[i].tree, bodies[j].tree, NULL, lists[0], NULL));
        testExpectOk(pnCollideTrees(bodies[i].plain, bodies[j].plain, NULL, lists[1], NULL));
      }
      expectPairs(lists[0], lists[1]);
      pairs += pnPairList_GetCount(lists[1]);
    }
  }
  return pairs;
}

static void checkFile(const char *name) {
  const char *path = testDataPath(name);
  if (!path) return;
  pnAnimFile *file;
  pnAnimState *state;
  testExpectOk(pnLoadAnimFile(path, &file));
  testExpectOk(pnCreateAnimState(file, &state));
  Body bodies[MOST_BODIES];
  uint32_t count = 0;
  for (uint32_t b = 0; b < file->bodyCount && count < MOST_BODIES; ++b)
    if (file->bodies[b].skin != PN_NONE) bodies[count++] = makeBody(file, b);
  pnPairList *lists[2];
  for (int i = 0; i < 2; ++i) testExpectOk(pnCreatePairList(&lists[i]));
  assert_true(count > 0);
  size_t pairs = 0;
  uint32_t clips = file->clipCount < 3 ? file->clipCount : 3;
  for (uint32_t c = 0; c < clips; ++c)
    for (int moment = 0; moment < 2; ++moment) {
      const pnAnimClip *clip = &file->clips[c];
      double time = (double)clip->startTime + (0.3 + 0.4 * moment) * (double)(clip->endTime - clip->startTime);
      testExpectOk(pnAnimState_Evaluate(state, c, time));
      for (uint32_t i = 0; i < count; ++i) poseBody(file, state, &bodies[i]);
      pairs += checkMoment(bodies, count, lists);
    }
  print_message("%s: %u skinned bodies, %u clips, %zu pairs\n", name, count, clips, pairs);
  for (int i = 0; i < 2; ++i) pnDestroyPairList(lists[i]);
  for (uint32_t i = 0; i < count; ++i) freeBody(&bodies[i]);
  pnDestroyAnimState(state);
  pnFreeAnimFile(file);
}

static void charactersOfOthers(void **state) {
  (void)state;
  static const char *const names[] = {
      "khronos-gltf/Fox/glTF-Binary/Fox.glb",
      "khronos-gltf/CesiumMan/glTF-Binary/CesiumMan.glb",
      "khronos-gltf/RiggedSimple/glTF-Binary/RiggedSimple.glb",
      "quaternius/cute_fish_pack/Clownfish.glb",
      "quaternius/dinosaurs_pack/Velociraptor.glb",
      "threejs/gltf/RobotExpressive/RobotExpressive.glb",
      "kaykit/Characters/gltf/Knight.glb",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) checkFile(names[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(charactersOfOthers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
