/* test_world_mend.c: where few bodies have changed, what concerns them is put into the last answer. It is then to the last bit what a world finds
 * that keeps nothing: contacts, what began and ended, pairs, primitives; whatever happens between frames, and when memory fails in them. */
#include "support.h"

#include "pinch/world.h"

#include "world/world.h"

#include <stdlib.h>
#include <string.h>

enum { BODIES = 24, SOUPS = 2 };

/* The same bodies in two worlds: one is asked as usual, the other in the laboratory. */
typedef struct Stage {
  pnWorld *worlds[2];
  pnBodyId ids[2][BODIES];
  bool alive[BODIES];
  pnMesh *meshes[3];
  pnSoup *soup;
  TestRandom random;
} Stage;

static bool isSoup(const Stage *s, uint32_t i) {
  return s->soup && i < SOUPS;
}

static void addBody(Stage *s, uint32_t i) {
  pnMatrix at = testRotation(&s->random, 1.6f);
  for (int w = 0; w < 2; ++w) {
    pnBodyDef def = pnDefaultBodyDef();
    def.name = "one of many";
    def.mesh = s->meshes[i % 3];
    def.kind = i % 2 ? PN_BODY_RIGID : PN_BODY_FREE;
    def.self = i % 5 == 0;
    if (isSoup(s, i)) {
      def.mesh = NULL;
      def.kind = PN_BODY_SOUP;
      def.soup = s->soup;
    }
    testExpectOk(pnWorld_CreateBody(s->worlds[w], &def, &s->ids[w][i]));
    if (!isSoup(s, i)) testExpectOk(pnBody_SetTransform(s->worlds[w], s->ids[w][i], &at));
  }
  s->alive[i] = true;
}

static void removeBody(Stage *s, uint32_t i) {
  for (int w = 0; w < 2; ++w) testExpectOk(pnWorld_DestroyBody(s->worlds[w], s->ids[w][i]));
  s->alive[i] = false;
}

static void moveBody(Stage *s, uint32_t i) {
  pnMatrix at = testRotation(&s->random, 1.6f);
  for (int w = 0; w < 2; ++w) testExpectOk(pnBody_SetTransform(s->worlds[w], s->ids[w][i], &at));
}

static void openStage(Stage *s, uint32_t seed, uint32_t workers, bool soups, pnPool **outPool) {
  *s = (Stage){.random = testRandom(seed)};
  pnWorldDef def = pnDefaultWorldDef();
  *outPool = NULL;
  if (workers > 1) testExpectOk(pnCreatePool(workers, outPool));
  if (*outPool) def.tasks = pnPool_GetTasks(*outPool);
  for (int w = 0; w < 2; ++w) testExpectOk(pnCreateWorld(&def, &s->worlds[w]));
  testExpectOk(pnMakeKnot(2, 3, 0.8f, 0.3f, 30, 5, &s->meshes[0]));
  testExpectOk(pnMakeIcosphere(1, 1, &s->meshes[1]));
  testExpectOk(pnMakeBox((pnVec3){0.5f, 0.7f, 0.9f}, 2, &s->meshes[2]));
  if (soups) testExpectOk(pnCreateSoup(NULL, &s->soup));
  for (uint32_t i = 0; i < BODIES; ++i) addBody(s, i);
}

static void closeStage(Stage *s, pnPool *pool) {
  for (int w = 0; w < 2; ++w) pnDestroyWorld(s->worlds[w]);
  for (int k = 0; k < 3; ++k) pnDestroyMesh(s->meshes[k]);
  pnDestroySoup(s->soup);
  pnDestroyPool(pool);
}

/* A primitive comes, or goes. */
static void changeSoup(Stage *s) {
  float p[9];
  for (int k = 0; k < 9; ++k)
    p[k] = k < 3 ? testFloat(&s->random, -2, 2) : p[k - 3] + testFloat(&s->random, -0.6f, 0.6f);
  uint32_t places = pnSoup_GetPlaceCount(s->soup);
  pnPrimitiveId id = places > 0 ? pnSoup_GetId(s->soup, testBelow(&s->random, places)) : (pnPrimitiveId){0};
  if (id.index1 && testBelow(&s->random, 3) == 0) testExpectOk(pnSoup_Remove(s->soup, &id, 1));
  else testExpectOk(pnSoup_Add(s->soup, PN_PRIMITIVE_TRIANGLE, p, 1, NULL));
}

/* Something happens to a few of them, or to nobody; now and then all soups go. */
static void change(Stage *s) {
  uint32_t count = testBelow(&s->random, 4), soups = testBelow(&s->random, 20) == 0 ? SOUPS : 0;
  for (uint32_t i = 0; i < soups; ++i)
    if (isSoup(s, i) && s->alive[i]) removeBody(s, i);
  for (uint32_t k = 0; k < count; ++k) {
    uint32_t i = testBelow(&s->random, BODIES), what = testBelow(&s->random, 8);
    if (!s->alive[i]) addBody(s, i);
    else if (what == 0) removeBody(s, i);
    else if (what == 1)
      for (int w = 0; w < 2; ++w) testExpectOk(pnBody_SetFilter(s->worlds[w], s->ids[w][i], 1, 1 + count % 2));
    else if (!isSoup(s, i)) moveBody(s, i);
    else changeSoup(s);
  }
}

/* What a world says, in one piece of memory of the caller's. */
typedef struct Answer {
  pnContact *contacts;
  pnPair *pairs;
  pnPrimitivePair *primitives;
  size_t contactCount, pairCount;
} Answer;

static Answer takeAnswer(const pnWorld *world, const pnFrame *frame) {
  Answer a = {.contactCount = (size_t)frame->contactCount + frame->endedCount, .pairCount = frame->pairCount};
  assert_true(world->contacts.count <= world->contacts.capacity && world->pairs.count <= world->pairs.capacity);
  assert_true(world->generations.count <= world->generations.capacity);
  a.contacts = calloc(a.contactCount + 1, sizeof *a.contacts);
  a.pairs = calloc(a.pairCount + 1, sizeof *a.pairs);
  a.primitives = calloc(a.pairCount + 1, sizeof *a.primitives);
  assert_true(a.contacts && a.pairs && a.primitives);
  for (size_t c = 0; c < a.contactCount; ++c) {
    const pnContact *contact = &pnWorld_GetContacts(world)[c];
    a.contacts[c] = *contact;
    for (size_t k = contact->firstPair; k < contact->firstPair + contact->pairCount; ++k) {
      assert_true(k < a.pairCount);
      a.primitives[k] = pnWorld_GetPrimitives(world, (uint32_t)c, k);
    }
  }
  if (a.pairCount > 0) memcpy(a.pairs, pnWorld_GetPairs(world), a.pairCount * sizeof *a.pairs);
  return a;
}

static void freeAnswer(Answer *a) {
  free(a->contacts);
  free(a->pairs);
  free(a->primitives);
}

static void expectSame(const Answer *a, const Answer *b, bool inOrder) {
  assert_int_equal(a->contactCount, b->contactCount);
  assert_int_equal(a->pairCount, b->pairCount);
  for (size_t c = 0; c < a->contactCount; ++c) {
    pnContact x = a->contacts[c], y = b->contacts[c];
    assert_true(x.a.index1 == y.a.index1 && x.a.generation == y.a.generation);
    assert_true(x.b.index1 == y.b.index1 && x.b.generation == y.b.generation);
    assert_true(x.state == y.state && x.firstPair == y.firstPair && x.pairCount == y.pairCount);
  }
  for (size_t k = 0; inOrder && k < a->pairCount; ++k) {
    pnPrimitivePair p = a->primitives[k], q = b->primitives[k];
    assert_true(a->pairs[k].a == b->pairs[k].a && a->pairs[k].b == b->pairs[k].b);
    assert_true(p.a.index1 == q.a.index1 && p.a.generation == q.a.generation);
    assert_true(p.b.index1 == q.b.index1 && p.b.generation == q.b.generation);
  }
}

/* Frames of one sort for some time; now and then one that does not ask for all there is. */
static pnFrameDef frameOf(Stage *s, uint32_t round) {
  pnFrameDef def = {.noSelf = round % 40 > 30, .unsorted = round % 60 > 50};
  if (testBelow(&s->random, 12) == 0) def.maxContacts = 3;
  return def;
}

/* Some allocations of a frame fail: what was answered before is still there. Then none. */
static pnFrame collideFailing(Stage *s, const pnFrameDef *def, uint32_t round, const pnFrame *before,
                              uint32_t *failed) {
  Answer old = takeAnswer(s->worlds[0], before);
  for (uint32_t at = 0; at < 3; ++at) {
    testSetFailures(&(TestFailures){.at = UINT64_MAX, .burst = 1, .oneIn = 1 + at, .seed = round});
    pnFrame frame = pnWorld_Collide(s->worlds[0], def);
    testSetFailures(NULL);
    if (frame.result == PN_OK) {
      freeAnswer(&old);
      return frame;
    }
    assert_int_equal(frame.result, PN_ERROR_MEMORY);
    assert_true(frame.contactCount == before->contactCount && frame.endedCount == before->endedCount);
    Answer now = takeAnswer(s->worlds[0], &frame);
    expectSame(&old, &now, true);
    freeAnswer(&now);
    ++*failed;
  }
  freeAnswer(&old);
  return pnWorld_Collide(s->worlds[0], def);
}

static void play(uint32_t seed, uint32_t workers, bool soups, bool failing) {
  Stage s;
  pnPool *pool;
  if (failing) testInstallAllocator(UINT64_MAX, false);
  openStage(&s, seed, workers, soups, &pool);
  const pnQueryLab lab = {0};
  uint32_t spared = 0, failed = 0, ended = 0;
  pnFrame frame = {0};
  for (uint32_t round = 0; round < testRounds(200); ++round) {
    change(&s);
    pnFrameDef def = frameOf(&s, round), full = def;
    full.lab = &lab;
    frame = failing ? collideFailing(&s, &def, round, &frame, &failed) : pnWorld_Collide(s.worlds[0], &def);
    pnFrame truth = pnWorld_Collide(s.worlds[1], &full);
    testExpectOk(frame.result);
    testExpectOk(truth.result);
    assert_int_equal(frame.contactCount, truth.contactCount);
    assert_int_equal(frame.cost.pairs, truth.cost.pairs);
    Answer a = takeAnswer(s.worlds[0], &frame), b = takeAnswer(s.worlds[1], &truth);
    expectSame(&a, &b, !def.unsorted);
    freeAnswer(&a);
    freeAnswer(&b);
    spared += frame.contactCount > 10 && frame.cost.exactTests > 0 && 2 * frame.cost.exactTests < truth.cost.exactTests;
    ended += frame.endedCount;
  }
  assert_true(spared > testRounds(60) && ended > testRounds(200));
  assert_true(!failing || failed > testRounds(20));
  closeStage(&s, pool);
  if (failing) testRestoreAllocator();
}

static void changesArePutIn(void **state) {
  (void)state;
  play(3, 1, false, false);
  play(4, 3, false, false);
}

static void primitivesKeepTheirNames(void **state) {
  (void)state;
  play(5, 1, true, false);
  play(6, 3, true, false);
}

static void failuresChangeNothing(void **state) {
  (void)state;
  play(7, 1, false, true);
  play(8, 3, true, true);
}

/* A heap grows body by body, and one that was there leaves as the next one comes: there is room for what begins and for what has ended. */
static void heapsGrow(void **state) {
  (void)state;
  enum { MANY = 80 };
  pnMesh *mesh;
  pnWorld *worlds[2];
  pnBodyId ids[2][MANY];
  const pnQueryLab lab = {0};
  testExpectOk(pnMakeIcosphere(1, 1, &mesh));
  for (int w = 0; w < 2; ++w) testExpectOk(pnCreateWorld(NULL, &worlds[w]));
  for (uint32_t round = 0; round < 2 * MANY; ++round) {
    uint32_t i = round / 2;
    Answer answers[2];
    for (int w = 0; w < 2; ++w) {
      pnBodyDef def = pnDefaultBodyDef();
      def.mesh = mesh;
      pnMatrix near = pnMatrix_Identity(), far = near;
      near.m[0][3] = 0.013f * (float)i;
      far.m[1][3] = 10 * (float)(1 + i);
      if (round % 2 == 0) testExpectOk(pnWorld_CreateBody(worlds[w], &def, &ids[w][i]));
      /* it comes, and one of two that came before goes for good, or comes again */
      testExpectOk(pnBody_SetTransform(worlds[w], ids[w][i], round % 2 ? &near : &far));
      if (i > 0) testExpectOk(pnBody_SetTransform(worlds[w], ids[w][i - 1], round % 2 && i % 3 == 0 ? &far : &near));
      pnFrame frame = pnWorld_Collide(worlds[w], &(pnFrameDef){.lab = w ? &lab : NULL});
      testExpectOk(frame.result);
      answers[w] = takeAnswer(worlds[w], &frame);
    }
    expectSame(&answers[0], &answers[1], true);
    for (int w = 0; w < 2; ++w) freeAnswer(&answers[w]);
  }
  assert_true(worlds[0]->contactCount > 1000 && worlds[0]->pairs.count > 15000);
  for (int w = 0; w < 2; ++w) pnDestroyWorld(worlds[w]);
  pnDestroyMesh(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(changesArePutIn),
      cmocka_unit_test(primitivesKeepTheirNames),
      cmocka_unit_test(failuresChangeNothing),
      cmocka_unit_test(heapsGrow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
