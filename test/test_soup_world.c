/* test_soup_world.c: a soup as a body of a world. Whatever is done to it between two frames, the next frame has the pairs of brute
 * force; pairs name primitives by ids that cannot go stale; what does not fit a soup is refused by name. */
#include "support.h"

#include "pinch/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Stage {
  pnWorld *world;
  pnMesh *room;
  pnSoup *soup[2];
  pnBodyId body[3]; /* the room, the soups */
  pnPairList *list;
  TestRandom random;
} Stage;

static void addSome(Stage *s, uint32_t which, uint32_t count, pnPrimitiveId *ids) {
  float p[9];
  for (uint32_t i = 0; i < count; ++i) {
    for (int k = 0; k < 9; ++k)
      p[k] = k < 3 ? testFloat(&s->random, -1, 1) : p[k - 3] + testFloat(&s->random, -0.2f, 0.2f);
    pnPrimitiveKind kind = (pnPrimitiveKind)(1 + testBelow(&s->random, 8) / 3);
    testExpectOk(pnSoup_Add(s->soup[which], kind, p, 1, ids ? ids + i : NULL));
  }
}

static Stage openStage(pnTasks tasks, bool self) {
  Stage s = {.random = testRandom(41)};
  testExpectOk(pnMakeBox((pnVec3){0.6f, 0.6f, 0.6f}, 5, &s.room));
  pnWorldDef wd = pnDefaultWorldDef();
  wd.tasks = tasks;
  testExpectOk(pnCreateWorld(&wd, &s.world));
  testExpectOk(pnCreatePairList(&s.list));
  pnBodyDef bd = pnDefaultBodyDef();
  bd.kind = PN_BODY_STATIC;
  bd.mesh = s.room;
  testExpectOk(pnWorld_CreateBody(s.world, &bd, &s.body[0]));
  for (int i = 0; i < 2; ++i) {
    pnSoupDef sd = pnDefaultSoupDef();
    sd.name = i ? "sparks" : "crumbs";
    testExpectOk(pnCreateSoup(&sd, &s.soup[i]));
    bd = pnDefaultBodyDef();
    bd.kind = PN_BODY_SOUP;
    bd.soup = s.soup[i];
    bd.self = self;
    testExpectOk(pnWorld_CreateBody(s.world, &bd, &s.body[1 + i]));
  }
  return s;
}

static void closeStage(Stage *s) {
  pnDestroyWorld(s->world);
  pnDestroySoup(s->soup[0]);
  pnDestroySoup(s->soup[1]);
  pnDestroyMesh(s->room);
  pnDestroyPairList(s->list);
}

static bool isAlive(const pnSoup *soup, uint32_t place) {
  return !soup || pnSoup_GetId(soup, place).index1 != 0;
}

/* The pairs of brute force between two bodies, dead places left out, must be those of their contact. */
static void expectContact(Stage *s, uint32_t contactCount, uint32_t i, uint32_t j) {
  const pnSoup *a = i ? s->soup[i - 1] : NULL, *b = j ? s->soup[j - 1] : NULL;
  const pnPose *poseB = pnSoup_GetPose(b);
  pnPose *rest = NULL;
  if (!a) {
    pnPoseDef pd = pnDefaultPoseDef();
    pd.mesh = s->room;
    testExpectOk(pnCreatePose(&pd, &rest));
  }
  testExpectOk(pnCollideBrute(a ? pnSoup_GetPose(a) : rest, poseB, NULL, s->list));
  const pnContact *contact = NULL;
  uint32_t number = 0;
  for (uint32_t c = 0; c < contactCount; ++c) {
    const pnContact *at = &pnWorld_GetContacts(s->world)[c];
    if (at->a.index1 == s->body[i].index1 && at->b.index1 == s->body[j].index1) {
      contact = at;
      number = c;
    }
  }
  size_t found = 0;
  for (size_t k = 0; k < pnPairList_GetCount(s->list); ++k) {
    pnPair pair = pnPairList_GetPairs(s->list)[k];
    if (!isAlive(a, pair.a) || !isAlive(b, pair.b)) continue;
    assert_non_null(contact);
    assert_true(found < contact->pairCount);
    size_t index = contact->firstPair + found++;
    pnPair got = pnWorld_GetPairs(s->world)[index];
    assert_true(got.a == pair.a && got.b == pair.b);
    /* the ids are those of the places, and the point is on both */
    pnPrimitivePair ids = pnWorld_GetPrimitives(s->world, number, index);
    assert_int_equal(ids.a.index1, a ? pair.a + 1 : 0);
    assert_int_equal(ids.b.index1, pair.b + 1);
    assert_true((!a || pnSoup_IsValid(a, ids.a)) && pnSoup_IsValid(b, ids.b));
    assert_true(pnWorld_GetContactPoint(s->world, number, index).meeting.pointCount > 0);
  }
  assert_int_equal(found, contact ? contact->pairCount : 0);
  pnDestroyPose(rest);
}

static void expectFrame(Stage *s, bool self) {
  pnFrame frame = pnWorld_Collide(s->world, NULL);
  testExpectOk(frame.result);
  expectContact(s, frame.contactCount, 0, 1);
  expectContact(s, frame.contactCount, 0, 2);
  expectContact(s, frame.contactCount, 1, 2);
  if (self) {
    expectContact(s, frame.contactCount, 1, 1);
    expectContact(s, frame.contactCount, 2, 2);
  }
}

/* One edit of every kind after the other, in random order: the next frame always knows. */
static void editAndCompare(pnTasks tasks) {
  Stage s = openStage(tasks, true);
  expectFrame(&s, true); /* both empty */
  addSome(&s, 0, 60, NULL);
  expectFrame(&s, true);
  addSome(&s, 1, 40, NULL);
  for (uint32_t frame = 0; frame < 120; ++frame) {
    uint32_t which = testBelow(&s.random, 2), places = pnSoup_GetPlaceCount(s.soup[which]);
    pnSoup *soup = s.soup[which];
    pnPrimitiveId id = pnSoup_GetId(soup, testBelow(&s.random, places ? places : 1));
    switch (testBelow(&s.random, 6)) {
      case 0: addSome(&s, which, 1 + testBelow(&s.random, 9), NULL); break;
      case 1: testExpectOk(pnSoup_Remove(soup, &id, id.index1 ? 1 : 0)); break;
      case 2: {
        float p[9] = {0.6f, 0.1f, 0.2f, 0.7f, 0.2f, 0.1f, 0.5f, 0.1f, 0.1f};
        testExpectOk(pnSoup_Replace(soup, &id, PN_PRIMITIVE_TRIANGLE, p, id.index1 ? 1 : 0));
        break;
      }
      case 3: {
        pnPlane plane = {{testFloat(&s.random, -1, 1), 1, testFloat(&s.random, -1, 1)}, 0};
        pnCut cut;
        testExpectOk(id.index1 ? pnSoup_Cut(soup, id, &plane, &cut) : PN_OK);
        break;
      }
      case 4: {
        float *all = malloc(sizeof(float) * 9 * (places + 1));
        for (uint32_t i = 0; i < 9 * places; ++i)
          all[i] = i % 9 < 3 ? testFloat(&s.random, -1, 1) : all[i - 3] + testFloat(&s.random, -0.2f, 0.2f);
        testExpectOk(pnSoup_SetAll(soup, all, places));
        free(all);
        break;
      }
      default:
        if (frame % 10 == 0) {
          testExpectOk(pnSoup_Fuse(soup, s.soup[1 - which], NULL));
          addSome(&s, 1 - which, 30, NULL);
        }
    }
    expectFrame(&s, true);
  }
  closeStage(&s);
}

static void testEdits(void **state) {
  (void)state;
  editAndCompare((pnTasks){0});
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  editAndCompare(pnPool_GetTasks(pool));
  pnDestroyPool(pool);
}

static void countTriangles(void *user, const pnTriangle *t, uint32_t color) {
  (void)t;
  (void)color;
  ++*(uint32_t *)user;
}

/* What was removed after the frame is dead in its answer, also when the place was taken again; the others are as they were. */
static void testStaleIds(void **state) {
  (void)state;
  Stage s = openStage((pnTasks){0}, false);
  addSome(&s, 0, 300, NULL);
  pnFrame frame = pnWorld_Collide(s.world, NULL);
  assert_true(frame.result == PN_OK && frame.contactCount == 1 && frame.pairCount > 10);
  pnPrimitivePair first = pnWorld_GetPrimitives(s.world, 0, 0);
  assert_true(first.a.index1 == 0 && pnSoup_IsValid(s.soup[0], first.b));
  testExpectOk(pnSoup_Remove(s.soup[0], &first.b, 1));
  pnPrimitiveId again;
  addSome(&s, 0, 1, &again);
  assert_int_equal(again.index1, first.b.index1);
  uint32_t dead = 0;
  for (size_t i = 0; i < frame.pairCount; ++i) {
    pnPrimitiveId id = pnWorld_GetPrimitives(s.world, 0, i).b;
    bool gone = !pnSoup_IsValid(s.soup[0], id);
    assert_int_equal(gone, id.index1 == first.b.index1);
    assert_int_equal(pnWorld_GetContactPoint(s.world, 0, i).meeting.pointCount == 0, gone);
    dead += gone;
  }
  assert_true(dead >= 1);
  uint32_t drawn = 0;
  pnDebugDraw draw = {.drawTriangle = countTriangles, .triangles = true, .user = &drawn};
  pnWorld_Draw(s.world, &draw);
  assert_int_equal(drawn, 2 * (frame.pairCount - dead));
  closeStage(&s);
}

static void testErrors(void **state) {
  (void)state;
  Stage s = openStage((pnTasks){0}, false);
  addSome(&s, 0, 5, NULL);
  pnBodyDef bd = pnDefaultBodyDef();
  pnBodyId id;
  bd.kind = PN_BODY_SOUP;
  bd.name = "none";
  testExpectFailure(pnWorld_CreateBody(s.world, &bd, &id), PN_ERROR_ARGUMENT, "none|soup");
  bd.mesh = s.room; /* a mesh is no soup */
  testExpectFailure(pnWorld_CreateBody(s.world, &bd, &id), PN_ERROR_ARGUMENT, "none|soup");
  bd.kind = (pnBodyKind)(PN_BODY_SOUP + 1);
  testExpectFailure(pnWorld_CreateBody(s.world, &bd, &id), PN_ERROR_ARGUMENT, "kind");
  bd = pnDefaultBodyDef();
  bd.kind = PN_BODY_SOUP;
  bd.soup = s.soup[0];
  bd.self = true;
  uint32_t groups[8] = {0};
  const pnSelfFilter filters[] = {{.ring = 2}, {.ignoreRest = true}, {.triangleGroup = groups}};
  for (int i = 0; i < 3; ++i) {
    bd.selfFilter = filters[i];
    testExpectFailure(pnWorld_CreateBody(s.world, &bd, &id), PN_ERROR_KIND, "crumbs|second ring");
  }
  bd.selfFilter = (pnSelfFilter){0};
  bd.tree.lab = &(pnTreeLab){.levels = 9};
  testExpectFailure(pnWorld_CreateBody(s.world, &bd, &id), PN_ERROR_ARGUMENT, "9 levels");
  /* a shared tree over a soup is as good as a soup */
  pnBucketDef td = pnDefaultBucketDef();
  td.soup = s.soup[0];
  pnTree *tree;
  testExpectOk(pnCreateBucketTree(&td, &tree));
  bd = pnDefaultBodyDef();
  bd.kind = PN_BODY_STATIC;
  bd.staticTree = tree;
  bd.self = true;
  bd.selfFilter.ring = 2;
  testExpectFailure(pnWorld_CreateBody(s.world, &bd, &id), PN_ERROR_KIND, "second ring");
  pnQueryDef query = pnDefaultQueryDef();
  query.filter.ring = 2;
  testExpectFailure(pnCollideSelf(tree, &query, s.list, NULL), PN_ERROR_KIND, "crumbs|second ring");
  pnDestroyTree(tree);
  /* it is moved by its own calls only */
  float p[9] = {0};
  pnMatrix m = pnMatrix_Identity();
  testExpectFailure(pnBody_SetVertices(s.world, s.body[1], p, 3), PN_ERROR_KIND, "crumbs|pnSoup_SetAll");
  testExpectFailure(pnBody_SetTransform(s.world, s.body[1], &m), PN_ERROR_KIND, "crumbs|pnSoup_SetAll");
  testExpectFailure(pnBody_SetWeights(s.world, s.body[1], p, 1), PN_ERROR_KIND, "crumbs");
  testExpectFailure(pnBody_SetJoints(s.world, s.body[1], &m, 1), PN_ERROR_KIND, "crumbs");
  assert_null(pnBody_GetPose(s.world, s.body[1]));
  assert_non_null(pnBody_GetTree(s.world, s.body[1]));
  assert_string_equal(pnBody_GetName(s.world, s.body[1]), "crumbs");
  /* bad numbers never arrive */
  p[4] = NAN;
  testExpectFailure(pnSoup_Add(s.soup[0], PN_PRIMITIVE_TRIANGLE, p, 1, NULL), PN_ERROR_NUMBER, "crumbs");
  expectFrame(&s, false);
  /* all of it gone: the contact ends */
  addSome(&s, 0, 60, NULL);
  assert_int_equal(pnWorld_Collide(s.world, NULL).contactCount, 1);
  testExpectOk(pnSoup_Fuse(s.soup[1], s.soup[0], NULL));
  testExpectOk(pnWorld_DestroyBody(s.world, s.body[2]));
  pnFrame frame = pnWorld_Collide(s.world, NULL);
  assert_true(frame.contactCount == 0 && frame.endedCount == 1);
  closeStage(&s);
  assert_int_equal(pnGetByteCount(), 0);
}

/* A frame that runs out of memory keeps the answer and the ids of the one before. */
static pnResult makeWorld(void *context) {
  (void)context;
  pnWorld *world = NULL;
  pnSoup *soup = NULL;
  pnBodyId id;
  TestRandom r = testRandom(43);
  float p[9 * 60];
  for (int i = 0; i < 9 * 60; ++i) p[i] = testFloat(&r, -1, 1);
  pnResult result = pnCreateWorld(NULL, &world);
  if (result == PN_OK) result = pnCreateSoup(NULL, &soup);
  if (result == PN_OK) {
    pnBodyDef bd = pnDefaultBodyDef();
    bd.kind = PN_BODY_SOUP;
    bd.soup = soup;
    bd.self = true;
    result = pnWorld_CreateBody(world, &bd, &id);
  }
  uint32_t contacts = 0;
  for (uint32_t i = 1; result == PN_OK && i < 4; ++i) {
    result = pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, p, 20 * i, NULL);
    if (result == PN_OK) {
      pnFrame frame = pnWorld_Collide(world, NULL);
      assert_true(frame.result == PN_OK || frame.contactCount == contacts);
      for (uint32_t c = 0; c < frame.contactCount; ++c) {
        const pnContact *contact = &pnWorld_GetContacts(world)[c];
        assert_true(pnSoup_IsValid(soup, pnWorld_GetPrimitives(world, c, contact->firstPair).a));
      }
      contacts = frame.contactCount;
      result = frame.result;
    }
  }
  pnDestroyWorld(world);
  pnDestroySoup(soup);
  return result;
}

static void testMemory(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(makeWorld, NULL, false, true) > 20);
  assert_true(testEveryAllocationFailure(makeWorld, NULL, true, false) > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testEdits),
      cmocka_unit_test(testStaleIds),
      cmocka_unit_test(testErrors),
      cmocka_unit_test(testMemory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
