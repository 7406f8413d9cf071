/* test_device_questions.c: what a device world can be asked: categories, first pairs, limits; and the sort's two ways. */
#include "support_device_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Many small bodies: several share a super, and categories keep some apart. */
static void categoriesAndSmallBodies(void **state) {
  NEEDS_DEVICE;
  enum { BODIES = 40 };
  TestRandom random = testRandom(11);
  pnMesh *mesh;
  pnPose *pose[BODIES];
  pnDeviceWorld *world;
  testExpectOk(pnMakeBox((pnVec3){0.5f, 0.5f, 0.5f}, 2, &mesh));
  testExpectOk(pnCreateDeviceWorld(s_device, &world));
  for (uint32_t b = 0; b < BODIES; ++b) {
    pnPoseDef poseDef = {mesh, NULL, NULL};
    testExpectOk(pnCreatePose(&poseDef, &pose[b]));
    pnMatrix m = testRotation(&random, 1.5f);
    testExpectOk(pnPose_SetTransform(pose[b], &m));
    pnDeviceBodyDef def = pnDefaultDeviceBodyDef();
    uint32_t body;
    def.pose = pose[b];
    def.category = 1u << b % 3;
    def.mask = b % 3 == 0 ? 7 : 6;
    testExpectOk(pnDeviceWorld_AddBody(world, &def, &body));
  }
  assert_true(world->bodies.count == BODIES);
  pnDeviceFrame f = collide(world, NULL);
  assert_true(world->superCount < BODIES);
  size_t pairs = 0, apart = 0;
  for (uint32_t a = 0; a < BODIES; ++a)
    for (uint32_t b = a + 1; b < BODIES; ++b) {
      const bool may = (1u << a % 3 & (b % 3 == 0 ? 7u : 6u)) && (1u << b % 3 & (a % 3 == 0 ? 7u : 6u));
      pnPairList *list = pairsOf(pose[a], pose[b], NULL);
      if (may) {
        pairs += expectContact(world, f.contactCount, a, b, list);
      } else {
        apart += pnPairList_GetCount(list);
        pnDestroyPairList(list);
      }
    }
  assert_int_equal(pairs, f.pairCount);
  assert_true(pairs > 0 && apart > 0);

  /* one pair for each two bodies, and it is one of theirs */
  const uint32_t contacts = f.contactCount;
  f = collide(world, &(pnDeviceFrameDef){.first = true});
  assert_int_equal(f.contactCount, contacts);
  assert_int_equal(f.pairCount, contacts);
  for (uint32_t c = 0; c < contacts; ++c) {
    const pnDeviceContact *contact = &pnDeviceWorld_GetContacts(world)[c];
    pnPairList *list = pairsOf(pose[contact->a], pose[contact->b], NULL);
    const pnPair first = pnDeviceWorld_GetPairs(world)[contact->firstPair];
    bool found = false;
    for (size_t i = 0; i < pnPairList_GetCount(list); ++i)
      found = found || memcmp(&pnPairList_GetPairs(list)[i], &first, sizeof first) == 0;
    assert_true(found && contact->pairCount == 1);
    pnDestroyPairList(list);
  }
  pnDestroyDeviceWorld(world);
  for (uint32_t b = 0; b < BODIES; ++b) pnDestroyPose(pose[b]);
  pnDestroyMesh(mesh);
}

/* At most so many: the first of all in the order of contacts, on the device already, and by the same rule for any number. Every body
 * meets every other in hundreds of pairs, so that the limit falls into any place of a body and of a contact. */
static void limitsKeepTheFirst(void **state) {
  NEEDS_DEVICE;
  enum { BODIES = 8 };
  TestRandom random = testRandom(15);
  pnMesh *mesh;
  pnPose *pose[BODIES];
  pnDeviceWorld *world;
  testExpectOk(pnMakeBox((pnVec3){0.5f, 0.5f, 0.5f}, 8, &mesh));
  testExpectOk(pnCreateDeviceWorld(s_device, &world));
  for (uint32_t b = 0; b < BODIES; ++b) {
    pnPoseDef poseDef = {mesh, NULL, NULL};
    testExpectOk(pnCreatePose(&poseDef, &pose[b]));
    pnMatrix m = testRotation(&random, 0.1f);
    testExpectOk(pnPose_SetTransform(pose[b], &m));
    addPose(world, pose[b], false);
  }
  pnDeviceFrame f = collide(world, NULL);
  const size_t count = f.pairCount;
  const uint32_t contacts = f.contactCount;
  assert_true(contacts == BODIES * (BODIES - 1) / 2 && count > 2000 && !f.limited);
  for (uint32_t x = 0; x < BODIES; ++x)
    for (uint32_t y = x + 1; y < BODIES; ++y)
      expectContact(world, f.contactCount, x, y, pairsOf(pose[x], pose[y], NULL));
  assert_int_equal(world->superCount, 8); // an even number: the last pair of supers is one that has to be looked at
  pnPair *all = malloc(count * sizeof(pnPair));
  pnDeviceContact *truth = malloc(contacts * sizeof(pnDeviceContact));
  memcpy(all, pnDeviceWorld_GetPairs(world), count * sizeof(pnPair));
  memcpy(truth, pnDeviceWorld_GetContacts(world), contacts * sizeof(pnDeviceContact));
  for (uint32_t k = 0; k < 40; ++k) {
    // ends of contacts and their neighbours, then anywhere
    const pnDeviceContact *c = &truth[k % contacts];
    const size_t most = k == 0   ? count
                        : k < 22 ? c->firstPair + c->pairCount - 1 + k % 3
                                 : 1 + testBelow(&random, (uint32_t)count);
    const pnDeviceFrameDef def = {.maxPairs = most, .unsorted = k % 2 == 0};
    testExpectOk(pnDeviceWorld_Begin(world, &def));
    f = pnDeviceWorld_Finish(world);
    testExpectOk(f.result);
    const size_t kept = PN_MIN(most, count);
    assert_true(f.pairCount == kept && f.limited == (most < count));
    uint32_t head[2];
    assert_int_equal(pn_cl.EnqueueReadBuffer(pnDevice_GetQueue(s_device), pnDeviceWorld_GetResults(world).head, 1, 0,
                                             sizeof head, head, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_true(head[0] == kept && head[1] == 0);
    f = collide(world, &def);
    assert_true(f.pairCount == kept && f.limited == (most < count));
    assert_memory_equal(pnDeviceWorld_GetPairs(world), all, kept * sizeof(pnPair));
    for (uint32_t i = 0; i < f.contactCount; ++i) {
      const pnDeviceContact *x = &pnDeviceWorld_GetContacts(world)[i];
      assert_true(x->a == truth[i].a && x->b == truth[i].b && x->firstPair == truth[i].firstPair);
      assert_int_equal(x->pairCount, PN_MIN(truth[i].pairCount, kept - truth[i].firstPair));
    }
    assert_true(f.contactCount == contacts || truth[f.contactCount].firstPair >= kept);
  }
  /* of first pairs, too */
  f = collide(world, &(pnDeviceFrameDef){.first = true, .maxPairs = 9});
  assert_true(f.pairCount == 9 && f.contactCount == 9 && f.limited);
  for (uint32_t i = 0; i < 9; ++i)
    assert_true(pnDeviceWorld_GetContacts(world)[i].a == truth[i].a &&
                pnDeviceWorld_GetContacts(world)[i].b == truth[i].b);
  free(all), free(truth);
  pnDestroyDeviceWorld(world);
  for (uint32_t b = 0; b < BODIES; ++b) pnDestroyPose(pose[b]);
  pnDestroyMesh(mesh);
}

/* A floor of two triangles, and a cloth that goes through it a thousand times: more pairs of one first triangle than a bin holds. The
 * frame is run again and sorted the other way, and so are all after it. */
static void binsThatAreFull(void **state) {
  NEEDS_DEVICE;
  pnMesh *floor, *cloth;
  pnPose *pose[2];
  pnDeviceWorld *world;
  testExpectOk(pnMakeGrid(4, 4, 1, 1, &floor));
  testExpectOk(pnMakeGrid(2, 2, 48, 48, &cloth));
  testExpectOk(pnCreateDeviceWorld(s_device, &world));
  for (int b = 0; b < 2; ++b) {
    pnPoseDef def = {b == 0 ? floor : cloth, NULL, NULL};
    testExpectOk(pnCreatePose(&def, &pose[b]));
    addPose(world, pose[b], false);
  }
  const uint32_t n = pnMesh_GetVertexCount(cloth);
  float *vertices = malloc(3 * sizeof(float) * n);
  memcpy(vertices, pnMesh_GetVertices(cloth), 3 * sizeof(float) * n);
  // the grid's plane, whichever it is, gets waves across it
  float low[3] = {9, 9, 9}, high[3] = {-9, -9, -9};
  for (uint32_t i = 0; i < 3 * n; ++i) {
    low[i % 3] = fminf(low[i % 3], vertices[i]);
    high[i % 3] = fmaxf(high[i % 3], vertices[i]);
  }
  const int up = high[0] == low[0] ? 0 : high[1] == low[1] ? 1 : 2;
  for (uint32_t v = 0; v < n; ++v) vertices[3 * v + (uint32_t)up] = v % 2 ? 0.02f : -0.02f;
  testExpectOk(pnPose_SetVertices(pose[1], vertices, n));
  for (int frame = 0; frame < 2; ++frame) {
    const pnDeviceFrame f = collide(world, NULL);
    assert_int_equal(f.reruns, frame == 0);
    assert_true(expectContact(world, f.contactCount, 0, 1, pairsOf(pose[0], pose[1], NULL)) > 2 * PN_BIN_ROOM);
    assert_true(world->binsFull);
  }
  free(vertices);
  pnDestroyDeviceWorld(world);
  for (int b = 0; b < 2; ++b) pnDestroyPose(pose[b]);
  pnDestroyMesh(floor);
  pnDestroyMesh(cloth);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(categoriesAndSmallBodies),
      cmocka_unit_test(limitsKeepTheFirst),
      cmocka_unit_test(binsThatAreFull),
  };
  return cmocka_run_group_tests(tests, openDevice, closeDevice);
}
