/* test_device.c: the device room on whatever OpenCL there is; Debian's pocl makes one of the processor. Every scene and every
 * kind of body against the processor's answer, pair for pair. */
#include "support_device.h"

#include "pinch/pinch.h"
#include "scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- both answers */

#define MOST_BODIES 512

typedef struct Both {
  uint32_t bodyCount;
  pnWorld *world;
  pnDeviceWorld *device;
  pnMesh *mesh[MOST_BODIES];
  pnBodyId id[MOST_BODIES];
  pnPose *pose[MOST_BODIES]; /* of the device's bodies: their own, so that nothing is shared by accident */
} Both;

static void beginBoth(Both *both) {
  memset(both, 0, sizeof *both);
  pnWorldDef def = pnDefaultWorldDef();
  testExpectOk(pnCreateWorld(&def, &both->world));
  testExpectOk(pnCreateDeviceWorld(s_device, &both->device));
}

static void addBody(Both *both, const pnBodyDef *def) {
  const uint32_t b = both->bodyCount++;
  testExpectOk(pnWorld_CreateBody(both->world, def, &both->id[b]));
  pnPoseDef poseDef = {def->mesh, def->morph, def->skin};
  testExpectOk(pnCreatePose(&poseDef, &both->pose[b]));
  pnDeviceBodyDef bodyDef = pnDefaultDeviceBodyDef();
  bodyDef.pose = both->pose[b];
  bodyDef.self = def->self;
  bodyDef.selfFilter = def->selfFilter;
  bodyDef.category = def->category;
  bodyDef.mask = def->mask;
  uint32_t number;
  testExpectOk(pnDeviceWorld_AddBody(both->device, &bodyDef, &number));
  assert_int_equal(number, b);
}

static void endBoth(Both *both) {
  pnDestroyDeviceWorld(both->device);
  pnDestroyWorld(both->world);
  for (uint32_t b = 0; b < both->bodyCount; ++b) {
    pnDestroyPose(both->pose[b]);
    pnDestroyMesh(both->mesh[b]);
  }
}

/* The device's contacts and pairs are the world's, in the same order. */
static void expectSame(Both *both, const pnDeviceFrameDef *def, size_t *outPairs) {
  pnFrameDef frameDef = {.noSelf = def && def->noSelf};
  pnFrame cpu = pnWorld_Collide(both->world, &frameDef);
  testExpectOk(cpu.result);
  pnDeviceFrame gpu = pnDeviceWorld_Collide(both->device, def);
  testExpectOk(gpu.result);
  assert_int_equal(gpu.pairCount, cpu.pairCount);
  assert_int_equal(gpu.contactCount, cpu.contactCount);
  for (uint32_t c = 0; c < cpu.contactCount; ++c) {
    const pnContact *x = &pnWorld_GetContacts(both->world)[c];
    const pnDeviceContact *y = &pnDeviceWorld_GetContacts(both->device)[c];
    assert_int_equal(x->a.index1 - 1, y->a);
    assert_int_equal(x->b.index1 - 1, y->b);
    assert_int_equal(x->pairCount, y->pairCount);
    assert_memory_equal(pnWorld_GetPairs(both->world) + x->firstPair,
                        pnDeviceWorld_GetPairs(both->device) + y->firstPair, x->pairCount * sizeof(pnPair));
  }
  if (outPairs) *outPairs += cpu.pairCount;
}

/* ---------------------------------------------------------------- scenes */

static void makeSceneBodies(Both *both, const pnScene *scene) {
  for (uint32_t b = 0; b < pnScene_GetBodyCount(scene); ++b) {
    const uint32_t n = pnScene_GetVertexCount(scene, b);
    float *vertices = malloc(3 * (size_t)n * sizeof(float));
    testExpectOk(pnScene_Frame(scene, 0, b, vertices));
    pnMeshDef def = pnDefaultMeshDef();
    def.vertices = vertices, def.vertexCount = n;
    def.triangles = pnScene_GetTriangles(scene, b), def.triangleCount = pnScene_GetTriangleCount(scene, b);
    testExpectOk(pnCreateMesh(&def, &both->mesh[b]));
    free(vertices);
    pnBodyDef bodyDef = pnDefaultBodyDef();
    bodyDef.mesh = both->mesh[b];
    bodyDef.self = pnScene_IsSelf(scene);
    addBody(both, &bodyDef);
  }
}

static void setSceneFrame(Both *both, const pnScene *scene, uint32_t frame) {
  for (uint32_t b = 0; b < both->bodyCount; ++b) {
    const uint32_t n = pnScene_GetVertexCount(scene, b);
    float *vertices = malloc(3 * (size_t)n * sizeof(float));
    testExpectOk(pnScene_Frame(scene, frame, b, vertices));
    testExpectOk(pnBody_SetVertices(both->world, both->id[b], vertices, n));
    testExpectOk(pnPose_SetVertices(both->pose[b], vertices, n));
    free(vertices);
  }
}

static void runScene(const char *name, uint32_t step, bool mayBeEmpty) {
  pnSceneDef def = pnDefaultSceneDef();
  def.name = name;
  pnScene *scene;
  testExpectOk(pnCreateScene(&def, &scene));
  Both both;
  beginBoth(&both);
  makeSceneBodies(&both, scene);
  size_t pairs = 0;
  for (uint32_t frame = 0; frame < pnScene_GetFrameCount(scene); frame += step) {
    setSceneFrame(&both, scene, frame);
    expectSame(&both, NULL, &pairs);
  }
  assert_true(mayBeEmpty || pairs > 0);
  endBoth(&both);
  pnDestroyScene(scene);
}

static void scenesAgree(void **state) {
  NEEDS_DEVICE;
  runScene("s1-1280", 40, false);
  runScene("s2-320", 60, false);
  runScene("s3-1280", 90, false);
  runScene("s4-5000", 20, false);
  runScene("s5-grid-1728", 8, false);
  runScene("s5-turned-1728", 8, false);
  runScene("e5-564", 150, true);
  runScene("e4-1280", 150, false);
  runScene("bodies-300", 25, false);
  runScene("idle-100", 12, true);
  runScene("terrain-2048", 25, false);
  runScene("hair-4000", 25, false);
  runScene("hair-self-4000", 25, false);
  runScene("blobs-1280", 25, false);
  runScene("shuffle-2048", 25, false);
  runScene("swarm-2048", 50, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(scenesAgree)};
  return cmocka_run_group_tests(tests, openDevice, closeDevice);
}
