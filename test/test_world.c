/* test_world.c: bodies, ids, frames, contacts; what a world refuses; and that a steady frame allocates nothing. */
#include "support.h"

#include "pinch/world.h"

#include "tree/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
  pnWorld *world;
  pnMesh *mesh;
} Fixture;

static Fixture makeFixture(pnTasks tasks, pnBroad broad) {
  Fixture f;
  pnWorldDef def = pnDefaultWorldDef();
  def.tasks = tasks;
  def.lab = &(pnWorldLab){.broad = broad};
  testExpectOk(pnCreateWorld(&def, &f.world));
  testExpectOk(pnMakeIcosphere(2, 1, &f.mesh));
  return f;
}

static void freeFixture(Fixture *f) {
  pnDestroyWorld(f->world);
  pnDestroyMesh(f->mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

static pnBodyId addBody(Fixture *f, pnBodyKind kind, const char *name) {
  pnBodyDef def = pnDefaultBodyDef();
  pnBodyId id;
  def.kind = kind;
  def.mesh = f->mesh;
  def.name = name;
  testExpectOk(pnWorld_CreateBody(f->world, &def, &id));
  return id;
}

static pnMatrix shift(float x, float y, float z) {
  pnMatrix m = pnMatrix_Identity();
  m.m[0][3] = x;
  m.m[1][3] = y;
  m.m[2][3] = z;
  return m;
}

/* Begin, persist, end; moving is all a caller does. */
static void contactsBeginPersistAndEnd(void **state) {
  (void)state;
  Fixture f = makeFixture((pnTasks){0}, PN_BROAD_AUTO);
  pnBodyId a = addBody(&f, PN_BODY_FREE, "a"), b = addBody(&f, PN_BODY_RIGID, "b");
  static const struct {
    float x;
    uint32_t contacts, ended;
    pnContactState state;
  } steps[] = {{3, 0, 0, 0}, {1, 1, 0, PN_CONTACT_BEGIN}, {1.2f, 1, 0, PN_CONTACT_PERSIST}, {5, 0, 1, PN_CONTACT_END},
               {5, 0, 0, 0}, {1, 1, 0, PN_CONTACT_BEGIN}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; ++i) {
    pnMatrix m = shift(steps[i].x, 0, 0);
    testExpectOk(pnBody_SetTransform(f.world, b, &m));
    pnFrame frame = pnWorld_Collide(f.world, NULL);
    testExpectOk(frame.result);
    assert_int_equal(frame.contactCount, steps[i].contacts);
    assert_int_equal(frame.endedCount, steps[i].ended);
    if (steps[i].contacts + steps[i].ended > 0) {
      const pnContact *c = pnWorld_GetContacts(f.world);
      assert_int_equal(c->state, steps[i].state);
      assert_int_equal(c->a.index1, a.index1);
      assert_int_equal(c->b.index1, b.index1);
      assert_int_equal(c->pairCount > 0, steps[i].contacts);
      assert_int_equal(frame.pairCount, c->pairCount);
    }
  }
  freeFixture(&f);
}

/* Pairs of one contact, sorted or as they were found. */
static void expectPairs(const pnPair *found, const pnPair *expected, size_t count, bool unsorted) {
  pnPair *copy = malloc(count * sizeof(pnPair));
  memcpy(copy, found, count * sizeof(pnPair));
  if (unsorted) qsort(copy, count, sizeof(pnPair), testComparePairs);
  assert_memory_equal(copy, expected, count * sizeof(pnPair));
  free(copy);
}

/* Both broad phases and every thread count give the frame that trees asked pair by pair give. */
static void manyBodiesAgreeWithPairwiseQueries(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  for (int variant = 0; variant < 4; ++variant) {
    TestRandom r = testRandom(5);
    Fixture f =
        makeFixture(variant & 1 ? pnPool_GetTasks(pool) : (pnTasks){0}, variant & 2 ? PN_BROAD_TREE : PN_BROAD_ALL);
    enum { COUNT = 24 };
    pnBodyId id[COUNT];
    for (int i = 0; i < COUNT; ++i) id[i] = addBody(&f, i % 2 ? PN_BODY_RIGID : PN_BODY_FREE, "ball");
    pnPairList *list;
    testExpectOk(pnCreatePairList(&list));
    for (int step = 0; step < 6; ++step) {
      for (int i = 0; i < COUNT; ++i) {
        pnMatrix m = testRotation(&r, 3);
        testExpectOk(pnBody_SetTransform(f.world, id[i], &m));
      }
      pnFrameDef def = {.unsorted = step % 3 == 2};
      pnFrame frame = pnWorld_Collide(f.world, &def);
      testExpectOk(frame.result);
      const pnContact *c = pnWorld_GetContacts(f.world);
      uint32_t at = 0;
      for (int i = 0; i < COUNT; ++i) {
        for (int j = i + 1; j < COUNT; ++j) {
          testExpectOk(
              pnCollideTrees(pnBody_GetTree(f.world, id[i]), pnBody_GetTree(f.world, id[j]), NULL, list, NULL));
          size_t n = pnPairList_GetCount(list);
          if (n == 0) continue;
          assert_true(at < frame.contactCount);
          assert_int_equal(c[at].a.index1, id[i].index1);
          assert_int_equal(c[at].b.index1, id[j].index1);
          assert_int_equal(c[at].pairCount, n);
          expectPairs(pnWorld_GetPairs(f.world) + c[at].firstPair, pnPairList_GetPairs(list), n, def.unsorted);
          ++at;
        }
      }
      assert_int_equal(at, frame.contactCount);
      assert_true(frame.contactCount > 0);
    }
    pnDestroyPairList(list);
    pnDestroyWorld(f.world);
    pnDestroyMesh(f.mesh);
  }
  pnDestroyPool(pool);
  assert_int_equal(pnGetByteCount(), 0);
}

static void deadAndNullIdsAreRecognised(void **state) {
  (void)state;
  Fixture f = makeFixture((pnTasks){0}, PN_BROAD_AUTO);
  pnBodyId a = addBody(&f, PN_BODY_FREE, "a"), none = {0};
  pnMatrix m = pnMatrix_Identity();
  assert_true(pnBody_IsValid(f.world, a));
  assert_false(pnBody_IsValid(f.world, none));
  testExpectFailure(pnBody_SetTransform(f.world, none, &m), PN_ERROR_ID, "body id 0");
  testExpectOk(pnWorld_DestroyBody(f.world, a));
  assert_false(pnBody_IsValid(f.world, a));
  pnBodyId b = addBody(&f, PN_BODY_FREE, "b");
  assert_int_equal(a.index1, b.index1); /* the place was taken again */
  testExpectFailure(pnBody_SetTransform(f.world, a, &m), PN_ERROR_ID, "destroyed");
  testExpectFailure(pnWorld_DestroyBody(f.world, a), PN_ERROR_ID, "destroyed");
  assert_null(pnBody_GetPose(f.world, a));
  assert_int_equal(pnWorld_GetBodyCount(f.world), 1);
  freeFixture(&f);
}

static void countTriangle(void *user, const pnTriangle *t, uint32_t color) {
  (void)t;
  (void)color;
  *(int *)user += 1000;
}

/* Bodies are destroyed while contacts are read: these stay where they are, nothing meets in those of the dead, and in the next frame they are
 * gone without an end. Who takes a dead one's place begins anew. */
static void bodiesMayGoWhileContactsAreRead(void **state) {
  (void)state;
  Fixture f = makeFixture((pnTasks){0}, PN_BROAD_AUTO);
  pnBodyId id[4];
  for (int i = 0; i < 4; ++i) {
    pnMatrix m = shift(0.3f * (float)i, 0.1f * (float)i, 0);
    id[i] = addBody(&f, PN_BODY_RIGID, "ball");
    testExpectOk(pnBody_SetTransform(f.world, id[i], &m));
  }
  pnFrame frame = pnWorld_Collide(f.world, NULL);
  assert_int_equal(frame.contactCount, 6);
  const pnContact *contacts = pnWorld_GetContacts(f.world);
  size_t left = 0;
  int drawn = 0;
  for (uint32_t c = 0; c < frame.contactCount; ++c) {
    const pnContact *contact = &contacts[c];
    bool dead = false;
    for (int end = 0; end < 2; ++end) {
      pnBodyId body = end ? contact->b : contact->a;
      bool goes = body.index1 == id[1].index1 || body.index1 == id[2].index1;
      if (goes && pnBody_IsValid(f.world, body)) testExpectOk(pnWorld_DestroyBody(f.world, body));
      dead = dead || goes;
    }
    assert_true(pnWorld_GetContacts(f.world) == contacts && contact->pairCount > 0);
    assert_true((pnWorld_GetContactPoint(f.world, c, contact->firstPair).meeting.pointCount > 0) == !dead);
    left += dead ? 0 : contact->pairCount;
  }
  pnDebugDraw draw = {.drawTriangle = countTriangle, .triangles = true, .user = &drawn};
  testExpectOk(pnWorld_Draw(f.world, &draw));
  assert_true(left > 0);
  assert_int_equal(drawn, 2000 * left);
  /* one of the places is taken again, by another in the same spot */
  pnMatrix m = shift(0.6f, 0.2f, 0);
  pnBodyId late = addBody(&f, PN_BODY_RIGID, "late");
  assert_int_equal(late.index1, contacts[1].b.index1);
  testExpectOk(pnBody_SetTransform(f.world, late, &m));
  frame = pnWorld_Collide(f.world, NULL);
  assert_int_equal(frame.contactCount, 3);
  assert_int_equal(frame.endedCount, 0);
  for (uint32_t c = 0; c < 3; ++c) {
    const pnContact *contact = &pnWorld_GetContacts(f.world)[c];
    bool isLate = contact->a.index1 == late.index1 || contact->b.index1 == late.index1;
    assert_int_equal(contact->state, isLate ? PN_CONTACT_BEGIN : PN_CONTACT_PERSIST);
  }
  freeFixture(&f);
}

/* Bodies that were moved go before the frame, in any order, and others come: who is left is followed. */
static void touchedBodiesGo(void **state) {
  (void)state;
  enum { COUNT = 12 };
  Fixture f = makeFixture((pnTasks){0}, PN_BROAD_AUTO);
  TestRandom r = testRandom(11);
  pnBodyId id[COUNT] = {{0}};
  for (int round = 0; round < 200; ++round) {
    float far = 10.0f * (float)(round + 1);
    for (int step = 0; step < 20; ++step) {
      int i = (int)testBelow(&r, COUNT);
      if (pnBody_IsValid(f.world, id[i])) testExpectOk(pnWorld_DestroyBody(f.world, id[i]));
      if (testBelow(&r, 3) > 0) id[i] = addBody(&f, PN_BODY_RIGID, "ball");
    }
    uint32_t alive = 0;
    for (int i = 0; i < COUNT; ++i) {
      pnMatrix m = shift(far, 0, 0.01f * (float)i);
      if (!pnBody_IsValid(f.world, id[i])) continue;
      testExpectOk(pnBody_SetTransform(f.world, id[i], &m));
      ++alive;
    }
    int gone = (int)testBelow(&r, COUNT);
    if (pnBody_IsValid(f.world, id[gone])) {
      testExpectOk(pnWorld_DestroyBody(f.world, id[gone]));
      --alive;
    }
    pnFrame frame = pnWorld_Collide(f.world, NULL);
    testExpectOk(frame.result);
    assert_int_equal(frame.contactCount, alive * (alive - (alive > 0)) / 2);
    for (int i = 0; i < COUNT; ++i)
      if (pnBody_IsValid(f.world, id[i])) assert_true(pnTree_GetBox(pnBody_GetTree(f.world, id[i])).min.x > far - 2);
  }
  freeFixture(&f);
}

/* Bad input names body and vertex and changes nothing. */
static void badInputChangesNothing(void **state) {
  (void)state;
  Fixture f = makeFixture((pnTasks){0}, PN_BROAD_AUTO);
  pnBodyId a = addBody(&f, PN_BODY_FREE, "coat"), b = addBody(&f, PN_BODY_RIGID, "arm");
  pnBodyId wall = addBody(&f, PN_BODY_STATIC, "wall");
  pnMatrix m = shift(0.5f, 0, 0);
  testExpectOk(pnBody_SetTransform(f.world, b, &m));
  pnFrame before = pnWorld_Collide(f.world, NULL);
  uint32_t n = pnMesh_GetVertexCount(f.mesh);
  float *v = malloc(3 * (size_t)n * sizeof(float));
  memcpy(v, pnMesh_GetVertices(f.mesh), 3 * (size_t)n * sizeof(float));
  v[3 * 17 + 1] = NAN;
  testExpectFailure(pnBody_SetVertices(f.world, a, v, n), PN_ERROR_NUMBER, "coat|vertex 17");
  v[3 * 17 + 1] = INFINITY;
  testExpectFailure(pnBody_SetVertices(f.world, a, v, n), PN_ERROR_NUMBER, "coat|vertex 17");
  testExpectFailure(pnBody_SetVertices(f.world, a, v, n - 1), PN_ERROR_COUNT, "coat");
  testExpectFailure(pnBody_SetVertices(f.world, b, pnMesh_GetVertices(f.mesh), n), PN_ERROR_KIND, "arm");
  testExpectFailure(pnBody_SetTransform(f.world, wall, &m), PN_ERROR_KIND, "wall");
  m.m[0][0] = 2;
  testExpectFailure(pnBody_SetTransform(f.world, b, &m), PN_ERROR_TRANSFORM, "arm");
  m.m[0][0] = NAN;
  testExpectFailure(pnBody_SetTransform(f.world, b, &m), PN_ERROR_NUMBER, "arm");
  free(v);
  pnFrame after = pnWorld_Collide(f.world, NULL);
  testExpectOk(after.result);
  assert_int_equal(before.pairCount, after.pairCount);
  assert_int_equal(before.contactCount, after.contactCount);
  freeFixture(&f);
}

static void filtersByCategory(void **state) {
  (void)state;
  Fixture f = makeFixture((pnTasks){0}, PN_BROAD_AUTO);
  pnBodyId a = addBody(&f, PN_BODY_FREE, "a"), b = addBody(&f, PN_BODY_RIGID, "b");
  pnMatrix m = shift(0.5f, 0, 0);
  testExpectOk(pnBody_SetTransform(f.world, b, &m));
  assert_int_equal(pnWorld_Collide(f.world, NULL).contactCount, 1);
  testExpectOk(pnBody_SetFilter(f.world, a, 2, UINT32_MAX));
  testExpectOk(pnBody_SetFilter(f.world, b, 4, ~2u));
  assert_int_equal(pnWorld_Collide(f.world, NULL).contactCount, 0);
  testExpectOk(pnBody_SetFilter(f.world, b, 4, 2));
  assert_int_equal(pnWorld_Collide(f.world, NULL).contactCount, 1);
  testExpectOk(pnBody_SetFilter(f.world, a, 2, 2));
  assert_int_equal(pnWorld_Collide(f.world, NULL).contactCount, 0);
  freeFixture(&f);
}

/* After warm-up a frame allocates nothing, on one thread and on several, whatever moves. */
static void steadyFrameAllocatesNothing(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads += 2) {
    testInstallAllocator(UINT64_MAX, false);
    pnPool *pool = NULL;
    if (threads > 1) testExpectOk(pnCreatePool((uint32_t)threads, &pool));
    Fixture f = makeFixture(pool ? pnPool_GetTasks(pool) : (pnTasks){0}, PN_BROAD_TREE);
    pnBodyId id[6];
    for (int i = 0; i < 6; ++i) {
      pnBodyDef def = pnDefaultBodyDef();
      def.mesh = f.mesh;
      def.kind = i % 2 ? PN_BODY_RIGID : PN_BODY_FREE;
      def.self = i < 2;
      testExpectOk(pnWorld_CreateBody(f.world, &def, &id[i]));
    }
    /* Which worker gets which job is luck, and each must have met the largest before it needs no more room: so from the third round of the
     * same motion on one is quiet. With one worker it is the third. */
    uint64_t allocations = 1;
    for (int round = 0; round < 3 || (threads > 1 && allocations > 0 && round < 24); ++round) {
      uint64_t before = testAllocationCount();
      for (int step = 0; step < 20; ++step) {
        for (int i = 0; i < 6; ++i) {
          pnMatrix m = shift(0.4f * (float)i + 0.1f * sinf((float)step * 0.3f + (float)i), 0.05f * (float)i, 0);
          testExpectOk(pnBody_SetTransform(f.world, id[i], &m));
          if (i % 2 == 0)
            testExpectOk(pnBody_SetVertices(f.world, id[i], pnMesh_GetVertices(f.mesh), pnMesh_GetVertexCount(f.mesh)));
        }
        pnFrame frame = pnWorld_Collide(f.world, NULL);
        testExpectOk(frame.result);
        assert_true(frame.pairCount > 0);
      }
      allocations = testAllocationCount() - before;
    }
    assert_int_equal(allocations, 0);
    pnDestroyPool(pool);
    freeFixture(&f);
    testRestoreAllocator();
  }
}

/* Bodies that are near each other have room for the pairs that they will have: the frames in which they come to meet allocate less than one
 * list of those takes. The first frame has made room for the answers of two, which change places. */
static void roomIsMadeAhead(void **state) {
  (void)state;
  Fixture f = makeFixture((pnTasks){0}, PN_BROAD_AUTO);
  pnDestroyMesh(f.mesh);
  testExpectOk(pnMakeIcosphere(4, 1, &f.mesh));
  pnBodyId id = addBody(&f, PN_BODY_RIGID, "comes");
  addBody(&f, PN_BODY_RIGID, "waits");
  for (int step = 0; step < 6; ++step) {
    /* boxes overlap from the first frame on, spheres of radius 1 from the fourth on */
    float at = step < 3 ? 1.3f : 0.6f;
    pnMatrix m = shift(at, at, at);
    testExpectOk(pnBody_SetTransform(f.world, id, &m));
    size_t before = pnGetByteCount();
    pnFrame frame = pnWorld_Collide(f.world, NULL);
    testExpectOk(frame.result);
    assert_true(frame.bodyPairs == 1 && (frame.pairCount > 100) == (step >= 3));
    if (step >= 3) assert_true(pnGetByteCount() - before < frame.pairCount * sizeof(pnPair));
    if (step == 1) assert_true(pnGetByteCount() - before < 1024);
  }
  freeFixture(&f);
}

/* A loop over all pairs of a frame meets those of its contacts, one contact after the other, whatever filters took out. */
static void pairsHaveNoGaps(void **state) {
  (void)state;
  for (int first = 0; first < 2; ++first) {
    Fixture f = makeFixture((pnTasks){0}, PN_BROAD_AUTO);
    uint32_t n = pnMesh_GetVertexCount(f.mesh), group[5120];
    assert_true(pnMesh_GetTriangleCount(f.mesh) <= 5120);
    float *v = malloc(3 * n * sizeof(float));
    for (uint32_t i = 0; i < 3 * n; ++i) v[i] = pnMesh_GetVertices(f.mesh)[i] * (i % 7 == 0 ? -1 : 1);
    for (int i = 0; i < 3; ++i) {
      pnBodyDef def = pnDefaultBodyDef();
      pnBodyId id;
      for (uint32_t t = 0; t < pnMesh_GetTriangleCount(f.mesh); ++t)
        group[t] = t % (2 + (uint32_t)i); /* a half, a third, a quarter of the pairs go */
      def.mesh = f.mesh;
      def.self = true;
      def.selfFilter.triangleGroup = group;
      testExpectOk(pnWorld_CreateBody(f.world, &def, &id));
      testExpectOk(pnBody_SetVertices(f.world, id, v, n));
      pnMatrix m = shift(0.9f * (float)i, 0, 0);
      testExpectOk(pnBody_SetTransform(f.world, id, &m));
    }
    pnFrame frame = pnWorld_Collide(f.world, &(pnFrameDef){.first = first});
    testExpectOk(frame.result);
    assert_true(frame.contactCount > 4);
    assert_int_equal(frame.cost.pairs, frame.pairCount);
    size_t at = 0;
    for (uint32_t c = 0; c < frame.contactCount; ++c) {
      const pnContact *contact = &pnWorld_GetContacts(f.world)[c];
      assert_int_equal(contact->firstPair, at);
      at += contact->pairCount;
      for (size_t i = contact->firstPair; contact->a.index1 == contact->b.index1 && i < at; ++i) {
        pnPair pair = pnWorld_GetPairs(f.world)[i];
        assert_true(pair.a % (1 + contact->a.index1) != pair.b % (1 + contact->a.index1));
      }
    }
    assert_int_equal(at, frame.pairCount);
    free(v);
    freeFixture(&f);
  }
}

static pnResult wholeLife(void *context) {
  (void)context;
  pnMesh *mesh = NULL;
  pnWorld *world = NULL;
  pnFrame frame = {0};
  pnResult result = pnMakeIcosphere(1, 1, &mesh);
  if (result == PN_OK) result = pnCreateWorld(NULL, &world);
  pnBodyId id;
  for (int i = 0; result == PN_OK && i < 2; ++i) {
    pnBodyDef def = pnDefaultBodyDef();
    def.mesh = mesh;
    def.kind = i ? PN_BODY_RIGID : PN_BODY_FREE;
    def.self = true;
    def.selfFilter.ignoreRest = true;
    result = pnWorld_CreateBody(world, &def, &id);
    pnMatrix m = shift(0.5f * (float)i, 0, 0);
    if (result == PN_OK) result = pnBody_SetTransform(world, id, &m);
  }
  for (int i = 0; result == PN_OK && i < 3; ++i) {
    pnMatrix m = shift(0.5f + 0.01f * (float)i, 0, 0); /* what stands asks for no memory */
    testExpectOk(pnBody_SetTransform(world, id, &m));
    frame = pnWorld_Collide(world, NULL);
    result = frame.result;
    if (result == PN_OK) assert_int_equal(frame.contactCount, 1);
  }
  pnDestroyWorld(world);
  pnDestroyMesh(mesh);
  return result;
}

static void runsOutOfMemoryCleanly(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(wholeLife, NULL, false, true) > 10);
  testEveryAllocationFailure(wholeLife, NULL, true, false);
}

/* One good frame, then one with a body more, in which the k-th allocation of this life fails. */
static pnResult growingLife(void *context) {
  uint32_t *failures = context;
  pnMesh *mesh = NULL;
  pnWorld *world = NULL;
  pnResult result = pnMakeIcosphere(2, 1, &mesh);
  if (result == PN_OK) result = pnCreateWorld(NULL, &world);
  pnFrame good = {0};
  for (int i = 0; result == PN_OK && i < 3; ++i) {
    if (i == 2) {
      good = pnWorld_Collide(world, NULL);
      result = good.result;
    }
    pnBodyDef def = pnDefaultBodyDef();
    pnBodyId id;
    def.mesh = mesh;
    pnMatrix m = shift(i == 1 ? 1.9f : 0, i == 2 ? 0.5f : 0, 0);
    if (result == PN_OK) result = pnWorld_CreateBody(world, &def, &id);
    if (result == PN_OK) result = pnBody_SetTransform(world, id, &m);
  }
  if (result == PN_OK) {
    pnFrame next = pnWorld_Collide(world, NULL);
    result = next.result;
    if (result != PN_OK) {
      /* the answer of the frame before still stands, and the next frame works */
      ++*failures;
      assert_int_equal(next.contactCount, good.contactCount);
      assert_int_equal(next.pairCount, good.pairCount);
      assert_int_equal(pnWorld_GetContacts(world)[0].pairCount, good.pairCount);
      assert_true(good.pairCount > 0);
      pnFrame again = pnWorld_Collide(world, NULL);
      assert_int_equal(again.result, PN_OK);
      assert_true(again.contactCount > good.contactCount);
    }
  }
  pnDestroyWorld(world);
  pnDestroyMesh(mesh);
  return result;
}

/* A frame that fails keeps the answer of the frame before. */
static void failedFrameKeepsTheLastAnswer(void **state) {
  (void)state;
  uint32_t failures = 0;
  testEveryAllocationFailure(growingLife, &failures, false, true);
  assert_true(failures >= 3);
}

/* Vertices that the caller shares are looked at when the frame comes to them, on whatever thread: the message still names body
 * and vertex, of the first body that is wrong. */
static void sharedVerticesAreNamed(void **state) {
  (void)state;
  pnPool *pool;
  pnMesh *mesh;
  pnWorld *world;
  testExpectOk(pnCreatePool(3, &pool));
  testExpectOk(pnMakeIcosphere(2, 1, &mesh));
  size_t size = 3 * (size_t)pnMesh_GetVertexCount(mesh) * sizeof(float);
  float *good = malloc(size + sizeof(float)), *bad = malloc(size + sizeof(float)); /* one more, as it asks for */
  assert_true(good && bad);
  memcpy(good, pnMesh_GetVertices(mesh), size);
  memcpy(bad, good, size);
  bad[3 * 17 + 1] = NAN;
  for (uint32_t count = 3; count <= 24; count += 21) { /* all workers on each body, or one on each */
    pnWorldDef worldDef = pnDefaultWorldDef();
    worldDef.tasks = pnPool_GetTasks(pool);
    testExpectOk(pnCreateWorld(&worldDef, &world));
    for (uint32_t i = 0; i < count; ++i) {
      char name[16];
      snprintf(name, sizeof name, "ball%u", i);
      pnBodyDef def = pnDefaultBodyDef();
      def.mesh = mesh;
      def.name = name;
      pnBodyId id;
      testExpectOk(pnWorld_CreateBody(world, &def, &id));
      testExpectOk(pnBody_ShareVertices(world, id, i >= count - 2 ? bad : good, pnMesh_GetVertexCount(mesh)));
    }
    char words[64];
    snprintf(words, sizeof words, "body 'ball%u'|vertex 17|NaN", count - 2);
    testExpectFailure(pnWorld_Collide(world, NULL).result, PN_ERROR_NUMBER, words);
    pnDestroyWorld(world);
  }
  free(good);
  free(bad);
  pnDestroyMesh(mesh);
  pnDestroyPool(pool);
}

/* A static tree shared by two worlds, and contact geometry. */
static void sharedStaticTreeAndContactPoints(void **state) {
  (void)state;
  Fixture f = makeFixture((pnTasks){0}, PN_BROAD_AUTO);
  pnPose *pose;
  pnTree *tree;
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = f.mesh;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  pnTreeDef treeDef = pnDefaultTreeDef();
  treeDef.pose = pose;
  testExpectOk(pnCreateTree(&treeDef, &tree));
  pnWorld *other;
  testExpectOk(pnCreateWorld(NULL, &other));
  size_t pairs[2];
  for (int i = 0; i < 2; ++i) {
    pnWorld *world = i ? other : f.world;
    pnBodyDef def = pnDefaultBodyDef();
    pnBodyId wall, ball;
    def.kind = PN_BODY_STATIC;
    def.staticTree = tree;
    testExpectOk(pnWorld_CreateBody(world, &def, &wall));
    def = pnDefaultBodyDef();
    def.mesh = f.mesh;
    def.kind = PN_BODY_RIGID;
    testExpectOk(pnWorld_CreateBody(world, &def, &ball));
    pnMatrix m = shift(1, 0.1f, 0);
    testExpectOk(pnBody_SetTransform(world, ball, &m));
    pnFrame frame = pnWorld_Collide(world, NULL);
    testExpectOk(frame.result);
    pairs[i] = frame.pairCount;
    for (size_t p = 0; p < frame.pairCount; ++p) {
      pnContactPoint point = pnWorld_GetContactPoint(world, 0, p);
      assert_true(point.meeting.kind != PN_MEETING_NONE);
      float n =
          point.normalA.x * point.normalA.x + point.normalA.y * point.normalA.y + point.normalA.z * point.normalA.z;
      assert_float_equal(n, 1, 1e-5);
    }
  }
  assert_true(pairs[0] > 0);
  assert_int_equal(pairs[0], pairs[1]);
  pnDestroyWorld(other);
  pnDestroyWorld(f.world);
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMesh(f.mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

/* Who shares with whom: bodies of one mesh and kind, whatever came and went before; not with a tree built anew. */
static void twinsAreFound(void **state) {
  (void)state;
  enum { MESHES = 40, BODIES = 1000 };
  pnMesh *meshes[MESHES];
  pnWorld *world;
  testExpectOk(pnCreateWorld(NULL, &world));
  for (int i = 0; i < MESHES; ++i) testExpectOk(pnMakeIcosphere(0, 1 + (float)i, &meshes[i]));
  pnBodyId ids[BODIES] = {0};
  int family[BODIES] = {0};
  TestRandom r = testRandom(5);
  for (int step = 0; step < 20000; ++step) {
    int i = (int)testBelow(&r, BODIES);
    pnBodyDef def = pnDefaultBodyDef();
    if (ids[i].index1) {
      testExpectOk(pnWorld_DestroyBody(world, ids[i]));
      /* the place given up last is taken first, under a new id */
      pnBodyId dead = ids[i];
      ids[i] = (pnBodyId){0};
      if (step % 2) continue;
      assert_int_equal(pnWorld_CreateBody(world, &def, &ids[i]), PN_ERROR_ARGUMENT); /* no mesh: the place stays free */
      def.mesh = meshes[0];
      family[i] = 0;
      testExpectOk(pnWorld_CreateBody(world, &def, &ids[i]));
      assert_int_equal(ids[i].index1, dead.index1);
      assert_int_not_equal(ids[i].generation, dead.generation);
      continue;
    }
    family[i] = (int)testBelow(&r, 2 * MESHES);
    def.mesh = meshes[family[i] / 2];
    def.kind = family[i] % 2 ? PN_BODY_RIGID : PN_BODY_FREE;
    testExpectOk(pnWorld_CreateBody(world, &def, &ids[i]));
    if (step % 7 == 0) testExpectOk(pnTree_Rebuild(pnBody_GetTree(world, ids[i])));
    const pnTree *tree = pnBody_GetTree(world, ids[i]);
    for (int j = 0; j < BODIES && step % 100 == 1; ++j) {
      const pnTree *other = ids[j].index1 && j != i ? pnBody_GetTree(world, ids[j]) : NULL;
      if (other && family[j] != family[i]) assert_true(other->shape != tree->shape);
    }
  }
  /* with the first of two gone, the third shares with the second; with both built anew it cannot */
  pnBodyId id[4];
  for (int round = 0; round < 2; ++round) {
    pnMesh *mesh;
    testExpectOk(pnMakeIcosphere(1, 100, &mesh));
    pnBodyDef def = pnDefaultBodyDef();
    def.mesh = mesh;
    testExpectOk(pnWorld_CreateBody(world, &def, &id[0]));
    testExpectOk(pnWorld_CreateBody(world, &def, &id[1]));
    assert_true(pnBody_GetTree(world, id[0])->shape == pnBody_GetTree(world, id[1])->shape);
    testExpectOk(pnWorld_DestroyBody(world, id[round]));
    testExpectOk(pnWorld_CreateBody(world, &def, &id[round]));
    assert_true(pnBody_GetTree(world, id[0])->shape == pnBody_GetTree(world, id[1])->shape);
    for (int i = 0; i < 2; ++i) {
      testExpectOk(pnBody_SetVertices(world, id[i], pnMesh_GetVertices(mesh), pnMesh_GetVertexCount(mesh)));
      testExpectOk(pnTree_Rebuild(pnBody_GetTree(world, id[i])));
    }
    testExpectOk(pnWorld_CreateBody(world, &def, &id[2]));
    assert_true(pnBody_GetTree(world, id[2])->shape != pnBody_GetTree(world, id[0])->shape);
    assert_true(pnBody_GetTree(world, id[2])->shape != pnBody_GetTree(world, id[1])->shape);
    testExpectOk(pnWorld_CreateBody(world, &def, &id[3]));
    assert_true(pnBody_GetTree(world, id[3])->shape == pnBody_GetTree(world, id[2])->shape);
    for (int i = 0; i < 4; ++i) testExpectOk(pnWorld_DestroyBody(world, id[i]));
    pnDestroyMesh(mesh);
  }
  pnDestroyWorld(world);
  for (int i = 0; i < MESHES; ++i) pnDestroyMesh(meshes[i]);
}

/* Many bodies, each of a mesh of its own: each costs what the first one does. */
static void manyBodiesComeAndGo(void **state) {
  (void)state;
  enum { COUNT = 30000 };
  pnMesh **meshes = malloc(COUNT * sizeof *meshes);
  pnBodyId *ids = malloc(COUNT * sizeof *ids);
  pnWorld *world;
  testExpectOk(pnCreateWorld(NULL, &world));
  for (int i = 0; i < COUNT; ++i) testExpectOk(pnMakeBox((pnVec3){1, 1, 1}, 1, &meshes[i]));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < COUNT; ++i) {
      pnBodyDef def = pnDefaultBodyDef();
      def.mesh = meshes[i];
      def.kind = PN_BODY_STATIC;
      testExpectOk(pnWorld_CreateBody(world, &def, &ids[i]));
    }
    for (int i = 0; i < COUNT; ++i) testExpectOk(pnWorld_DestroyBody(world, ids[i]));
  }
  pnDestroyWorld(world);
  for (int i = 0; i < COUNT; ++i) pnDestroyMesh(meshes[i]);
  free(meshes);
  free(ids);
}

static void countBox(void *user, pnBox box, uint32_t color) {
  (void)color;
  assert_true(box.min.x <= box.max.x);
  ++*(int *)user;
}
static void countSegment(void *user, pnVec3 a, pnVec3 b, uint32_t color) {
  (void)a;
  (void)b;
  (void)color;
  *(int *)user += 1000000;
}

static void drawsThroughHooks(void **state) {
  (void)state;
  Fixture f = makeFixture((pnTasks){0}, PN_BROAD_AUTO);
  addBody(&f, PN_BODY_FREE, "a");
  pnBodyId b = addBody(&f, PN_BODY_RIGID, "b");
  pnMatrix m = shift(1, 0, 0);
  testExpectOk(pnBody_SetTransform(f.world, b, &m));
  pnFrame frame = pnWorld_Collide(f.world, NULL);
  int count = 0;
  pnDebugDraw draw = {countBox, countTriangle, countSegment, true, 1, true, true, &count};
  testExpectOk(pnWorld_Draw(f.world, &draw));
  assert_true(count % 1000 >= 4);
  assert_int_equal(count / 1000 % 1000, 2 * frame.pairCount);
  assert_true(count / 1000000 > 0);
  freeFixture(&f);
}

/* Every box of a level is drawn, also where there are more than a screen would need. */
static void drawsAllBoxesOfALevel(void **state) {
  (void)state;
  pnMesh *mesh;
  pnWorld *world;
  pnBodyId id;
  testExpectOk(pnMakeIcosphere(5, 1.0f, &mesh));
  pnWorldDef worldDef = pnDefaultWorldDef();
  testExpectOk(pnCreateWorld(&worldDef, &world));
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = mesh;
  def.kind = PN_BODY_STATIC;
  testExpectOk(pnWorld_CreateBody(world, &def, &id));
  uint32_t level = pnTree_GetHeight(pnBody_GetTree(world, id)) - 1, drawn = 0;
  uint32_t boxes = pnTree_GetLevelBoxes(pnBody_GetTree(world, id), level, NULL, 0);
  assert_true(boxes > 64);
  pnDebugDraw draw = {.drawBox = countBox, .boxes = true, .level = level, .user = &drawn};
  testExpectOk(pnWorld_Draw(world, &draw));
  assert_int_equal(drawn, boxes + 1);
  pnDestroyWorld(world);
  pnDestroyMesh(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(contactsBeginPersistAndEnd),
                                     cmocka_unit_test(manyBodiesAgreeWithPairwiseQueries),
                                     cmocka_unit_test(deadAndNullIdsAreRecognised),
                                     cmocka_unit_test(bodiesMayGoWhileContactsAreRead),
                                     cmocka_unit_test(touchedBodiesGo),
                                     cmocka_unit_test(badInputChangesNothing),
                                     cmocka_unit_test(filtersByCategory),
                                     cmocka_unit_test(steadyFrameAllocatesNothing),
                                     cmocka_unit_test(roomIsMadeAhead),
                                     cmocka_unit_test(runsOutOfMemoryCleanly),
                                     cmocka_unit_test(failedFrameKeepsTheLastAnswer),
                                     cmocka_unit_test(sharedVerticesAreNamed),
                                     cmocka_unit_test(sharedStaticTreeAndContactPoints),
                                     cmocka_unit_test(twinsAreFound),
                                     cmocka_unit_test(manyBodiesComeAndGo),
                                     cmocka_unit_test(drawsThroughHooks),
                                     cmocka_unit_test(drawsAllBoxesOfALevel),
                                     cmocka_unit_test(pairsHaveNoGaps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
