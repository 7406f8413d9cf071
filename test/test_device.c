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

/* ---------------------------------------------------------------- contacts */

static pnDeviceFrame collide(pnDeviceWorld *world, const pnDeviceFrameDef *def) {
  pnDeviceFrame frame = pnDeviceWorld_Collide(world, def);
  testExpectOk(frame.result);
  return frame;
}

/* Contacts begin, go on and end as they do in a world of the processor; and at most so many pairs are handed out, the first. */
static void contactsComeAndGo(void **state) {
  NEEDS_DEVICE;
  enum { BODIES = 4 };
  pnMesh *mesh;
  pnPose *pose[BODIES];
  pnDeviceWorld *world;
  testExpectOk(pnMakeBox((pnVec3){0.5f, 0.5f, 0.5f}, 2, &mesh));
  testExpectOk(pnCreateDeviceWorld(s_device, &world));
  for (int b = 0; b < BODIES; ++b) {
    pnPoseDef def = {mesh, NULL, NULL};
    testExpectOk(pnCreatePose(&def, &pose[b]));
    addPose(world, pose[b], false);
  }
  /* where each of them is on a line, in every frame; they are 1 wide */
  static const float places[4][BODIES] = {{0, 0.7f, 5, 9}, {0, 0.7f, 1.4f, 9}, {0, 4, 4.7f, 9}, {0, 4, 4.7f, 9}};
  static const struct {
    uint32_t count, ended;
    pnDeviceContact contacts[3];
  } truth[4] = {
      {1, 0, {{.a = 0, .b = 1}}},
      {2, 0, {{.a = 0, .b = 1, .state = PN_DEVICE_CONTACT_PERSIST}, {.a = 1, .b = 2}}},
      {1, 1, {{.a = 1, .b = 2, .state = PN_DEVICE_CONTACT_PERSIST}, {.a = 0, .b = 1, .state = PN_DEVICE_CONTACT_END}}},
      {1, 0, {{.a = 1, .b = 2, .state = PN_DEVICE_CONTACT_PERSIST}}}};
  pnPair *all = NULL;
  size_t count = 0;
  for (int frame = 0; frame < 4; ++frame) {
    for (int b = 0; b < BODIES; ++b) {
      pnMatrix m = pnMatrix_Identity();
      m.m[0][3] = places[frame][b], m.m[1][3] = 0.1f * (float)b;
      testExpectOk(pnPose_SetTransform(pose[b], &m));
    }
    /* a count in between changes nothing */
    assert_true(collide(world, &(pnDeviceFrameDef){.countOnly = true}).pairCount > 0);
    const pnDeviceFrame f = collide(world, NULL);
    assert_int_equal(f.contactCount, truth[frame].count);
    assert_int_equal(f.endedCount, truth[frame].ended);
    for (uint32_t c = 0; c < f.contactCount + f.endedCount; ++c) {
      const pnDeviceContact *found = &pnDeviceWorld_GetContacts(world)[c], *x = &truth[frame].contacts[c];
      assert_true(found->a == x->a && found->b == x->b && found->state == x->state);
      assert_true((found->pairCount > 0) == (x->state != PN_DEVICE_CONTACT_END));
    }
    if (frame != 1) continue;
    count = f.pairCount;
    all = malloc(count * sizeof(pnPair));
    memcpy(all, pnDeviceWorld_GetPairs(world), count * sizeof(pnPair));
    const size_t first = pnDeviceWorld_GetContacts(world)[0].pairCount;
    for (int k = 0; k < 4; ++k) {
      const size_t most = k == 0 ? 1 : k == 1 ? first : k == 2 ? first + 1 : count;
      const pnDeviceFrame some = collide(world, &(pnDeviceFrameDef){.maxPairs = most});
      assert_true(some.limited == (most < count) && some.pairCount == most);
      assert_int_equal(some.contactCount, most > first ? 2 : 1);
      assert_memory_equal(pnDeviceWorld_GetPairs(world), all, most * sizeof(pnPair));
    }
    testExpectOk(collide(world, NULL).result);
  }
  assert_true(count > 2);
  free(all);
  pnDestroyDeviceWorld(world);
  for (int b = 0; b < BODIES; ++b) pnDestroyPose(pose[b]);
  pnDestroyMesh(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(scenesAgree), cmocka_unit_test(contactsComeAndGo)};
  return cmocka_run_group_tests(tests, openDevice, closeDevice);
}
