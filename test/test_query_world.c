/* test_query_world.c: questions to a world are questions to all its bodies, one by one: every kind of body, few and many (list and tree
 * of boxes), bodies that come, go and move, masks, loose boxes, threads; and they leave frames as they are. */
#include "support_query.h"

#include "pinch/pinch.h"
#include "world/mirror.h"
#include "world/world.h"

#define MOST_BODIES 160u

typedef struct Stage {
  pnWorld *world;
  pnMesh *knot, *ball;
  pnSoup *soup;
  pnBodyId body[MOST_BODIES];
  uint32_t category[MOST_BODIES];
  uint32_t count;
} Stage;

static Stage makeStage(uint32_t count, const pnTasks *tasks, TestRandom *random) {
  Stage s = {.count = count};
  testExpectOk(pnMakeKnot(2, 3, 0.6f, 0.2f, 14, 5, &s.knot));
  testExpectOk(pnMakeIcosphere(1, 0.4f, &s.ball));
  pnWorldDef def = pnDefaultWorldDef();
  if (tasks) def.tasks = *tasks;
  testExpectOk(pnCreateWorld(&def, &s.world));
  testExpectOk(pnCreateSoup(NULL, &s.soup));
  for (int i = 0; i < 30; ++i) {
    float corners[9];
    for (int k = 0; k < 9; ++k) corners[k] = testFloat(random, -1, 1);
    testExpectOk(pnSoup_Add(s.soup, (pnPrimitiveKind)(1 + i % 3), corners, 1, NULL));
  }
  static const pnBox loose = {{-9, -9, -9}, {9, 9, 9}};
  for (uint32_t i = 0; i < count; ++i) {
    pnBodyDef body = pnDefaultBodyDef();
    body.kind = i == 3 ? PN_BODY_SOUP : i % 3 == 0 ? PN_BODY_FREE : i % 3 == 1 ? PN_BODY_RIGID : PN_BODY_STATIC;
    body.mesh = i % 2 ? s.ball : s.knot;
    if (i == 3) body.soup = s.soup, body.mesh = NULL;
    if (i == 1) body.looseBox = &loose;
    body.category = s.category[i] = 1u << i % 4;
    testExpectOk(pnWorld_CreateBody(s.world, &body, &s.body[i]));
  }
  return s;
}

static void freeStage(Stage *s) {
  pnDestroyWorld(s->world);
  pnDestroySoup(s->soup);
  pnDestroyMesh(s->knot);
  pnDestroyMesh(s->ball);
}

static void moveStage(Stage *s, TestRandom *random) {
  for (uint32_t i = 0; i < s->count; ++i) {
    if (!pnBody_IsValid(s->world, s->body[i]) || i % 3 == 2 || i == 3) continue;
    pnMatrix m = testRotation(random, i == 1 ? 2 : 4);
    testExpectOk(pnBody_SetTransform(s->world, s->body[i], &m));
  }
}

static pnTree *treeAt(const Stage *s, uint32_t i) {
  return pn_treeOf(pn_findBody(s->world, s->body[i]));
}

static bool counts(const Stage *s, uint32_t i, uint32_t mask) {
  return pnBody_IsValid(s->world, s->body[i]) && (s->category[i] & mask);
}

enum { POINTS = 25 };

static void expectRays(Stage *s, TestRandom *random, uint32_t mask) {
  pnRay rays[QUERY_RAYS];
  pnHit hits[QUERY_RAYS];
  bool blocked[QUERY_RAYS];
  pnHitList *list;
  queryMakeRays(random, pnTree_GetPose(treeAt(s, 0)), 3, rays);
  testExpectOk(pnCreateHitList(&list));
  testExpectOk(pnWorld_FindFirstHits(s->world, rays, QUERY_RAYS, mask, hits));
  testExpectOk(pnWorld_FindBlocked(s->world, rays, QUERY_RAYS, mask, blocked));
  testExpectOk(pnWorld_FindAllHits(s->world, rays, QUERY_RAYS, mask, list));
  for (uint32_t i = 0; i < QUERY_RAYS; ++i) {
    pnHits all = {0};
    for (uint32_t b = 0; b < s->count; ++b)
      if (counts(s, b, mask)) queryTruth(treeAt(s, b), &rays[i], s->body[b], &all);
    size_t count = pn_sortHits(all.data, all.count);
    uint32_t found;
    const pnHit *each = pnHitList_GetHits(list, i, &found);
    assert_int_equal(found, count);
    for (size_t k = 0; k < count; ++k) querySameHit(&each[k], &all.data[k]);
    assert_int_equal(blocked[i], count > 0);
    // The first of all is the first.
    if (count > 0) querySameHit(&hits[i], &all.data[0]);
    else assert_int_equal(hits[i].triangle, PN_NONE);
    pn_arrayFree(&all);
  }
  pnDestroyHitList(list);
}

static void expectPoints(Stage *s, TestRandom *random, uint32_t mask) {
  float points[3 * POINTS];
  pnClosest found[POINTS];
  double farthest = testBelow(random, 2) ? INFINITY : 1;
  for (int i = 0; i < 3 * POINTS; ++i) points[i] = testFloat(random, -6, 6);
  testExpectOk(pnWorld_FindClosest(s->world, points, POINTS, farthest, mask, found));
  for (uint32_t i = 0; i < POINTS; ++i) {
    pnClosest truth = {.triangle = PN_NONE, .distance = INFINITY};
    pnClosestDef def = pnDefaultClosestDef();
    def.farthest = farthest;
    for (uint32_t b = 0; b < s->count; ++b) {
      pnClosest one;
      if (!counts(s, b, mask)) continue;
      testExpectOk(pnFindClosest(treeAt(s, b), points + 3 * i, 1, &def, &one));
      one.body = s->body[b];
      bool isLess =
          one.distance < truth.distance || (one.distance == truth.distance && one.body.index1 < truth.body.index1);
      if (one.triangle != PN_NONE && isLess) truth = one;
    }
    assert_int_equal(found[i].triangle, truth.triangle);
    assert_int_equal(found[i].body.index1, truth.body.index1);
    assert_true(found[i].distance == truth.distance);
  }
}

static void expectBoxes(Stage *s, TestRandom *random, uint32_t mask) {
  pnBox boxes[QUERY_BOXES];
  for (uint32_t i = 0; i < QUERY_BOXES; ++i) {
    pnVec3 p = queryPoint(random, pnTree_GetPose(treeAt(s, 0)), 3),
           q = queryPoint(random, pnTree_GetPose(treeAt(s, 0)), 3);
    boxes[i] = (pnBox){{fminf(p.x, q.x), fminf(p.y, q.y), fminf(p.z, q.z)},
                       {fmaxf(p.x, q.x), fmaxf(p.y, q.y), fmaxf(p.z, q.z)}};
  }
  pnTriangleList *list, *one;
  testExpectOk(pnCreateTriangleList(&list));
  testExpectOk(pnCreateTriangleList(&one));
  testExpectOk(pnWorld_FindInBoxes(s->world, boxes, QUERY_BOXES, mask, list));
  for (uint32_t i = 0; i < QUERY_BOXES; ++i) {
    uint32_t count, at = 0;
    const pnBodyTriangle *found = pnTriangleList_GetTriangles(list, i, &count);
    // Bodies come in the order of their index.
    for (uint32_t index = 1; index <= s->count; ++index)
      for (uint32_t b = 0; b < s->count; ++b) {
        if (s->body[b].index1 != index || !counts(s, b, mask)) continue;
        uint32_t own;
        testExpectOk(pnFindInBoxes(treeAt(s, b), &boxes[i], 1, NULL, one));
        const pnBodyTriangle *each = pnTriangleList_GetTriangles(one, 0, &own);
        for (uint32_t k = 0; k < own; ++k, ++at) {
          assert_true(at < count);
          assert_int_equal(found[at].body.index1, index);
          assert_int_equal(found[at].triangle, each[k].triangle);
        }
      }
    assert_int_equal(at, count);
  }
  pnDestroyTriangleList(list);
  pnDestroyTriangleList(one);
}

static void expectDistances(Stage *s, TestRandom *random) {
  enum { PAIRS = 8 };
  pnBodyPair pairs[PAIRS];
  pnDistance found[PAIRS];
  uint32_t at[PAIRS][2];
  for (int i = 0; i < PAIRS; ++i) {
    for (int k = 0; k < 2; ++k) do
        at[i][k] = testBelow(random, s->count);
      while (!pnBody_IsValid(s->world, s->body[at[i][k]]) || (k == 1 && at[i][0] == at[i][1]));
    pairs[i] = (pnBodyPair){s->body[at[i][0]], s->body[at[i][1]]};
  }
  testExpectOk(pnWorld_FindDistances(s->world, pairs, PAIRS, INFINITY, found));
  for (int i = 0; i < PAIRS; ++i) {
    pnTreePair trees = {treeAt(s, at[i][0]), treeAt(s, at[i][1])};
    pnDistance one;
    testExpectOk(pnFindDistances(&trees, 1, NULL, &one));
    assert_memory_equal(&found[i], &one, sizeof one);
  }
}

static void everyBody(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(4, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  TestRandom random = testRandom(1);
  // Few, and so many that they stand in a tree.
  for (int many = 0; many < 2; ++many) {
    Stage s = makeStage(many ? MOST_BODIES : 12, many ? &tasks : NULL, &random);
    for (int frame = 0; frame < 4; ++frame) {
      moveStage(&s, &random);
      if (frame == 2) testExpectOk(pnWorld_DestroyBody(s.world, s.body[4]));
      uint32_t mask = frame % 2 ? 5 : UINT32_MAX;
      expectRays(&s, &random, mask);
      expectPoints(&s, &random, mask);
      expectBoxes(&s, &random, mask);
      expectDistances(&s, &random);
      // A frame after questions finds what it would without.
      pnFrame f = pnWorld_Collide(s.world, NULL);
      testExpectOk(f.result);
      size_t pairs = f.pairCount;
      expectRays(&s, &random, mask);
      f = pnWorld_Collide(s.world, NULL);
      assert_int_equal(f.pairCount, pairs);
    }
    freeStage(&s);
  }
  pnDestroyPool(pool);
}

/* Bodies that came after the tree of boxes was made, few enough to stay beside it, are asked as the others are. */
static void newcomers(void **state) {
  (void)state;
  TestRandom random = testRandom(31);
  Stage s = makeStage(MOST_BODIES - 1, NULL, &random);
  testExpectOk(pnWorld_Collide(s.world, NULL).result);
  pnBodyDef def = pnDefaultBodyDef();
  def.kind = PN_BODY_RIGID;
  def.mesh = s.ball;
  pnBodyId last;
  testExpectOk(pnWorld_CreateBody(s.world, &def, &last));
  pnMatrix m = pnMatrix_Identity();
  m.m[0][3] = 50;
  testExpectOk(pnBody_SetTransform(s.world, last, &m));
  pnClosest closest;
  testExpectOk(pnWorld_FindClosest(s.world, (float[]){50, 1, 0}, 1, 100, UINT32_MAX, &closest));
  assert_true(s.world->broad.levelCount > 0 && s.world->broad.newcomers.count == 1);
  assert_int_equal(closest.body.index1, last.index1);
  pnRay ray = {{50, 9, 0}, {0, -1, 0}, 0, 100};
  pnHit hit;
  testExpectOk(pnWorld_FindFirstHits(s.world, &ray, 1, UINT32_MAX, &hit));
  assert_int_equal(hit.body.index1, last.index1);
  freeStage(&s);
}

static void meetings(void **state) {
  (void)state;
  TestRandom random = testRandom(2);
  Stage s = makeStage(8, NULL, &random);
  pnFrame f = pnWorld_Collide(s.world, NULL);
  testExpectOk(f.result);
  assert_true(f.contactCount > 0);
  for (uint32_t c = 0; c < f.contactCount; ++c) {
    const pnContact *contact = &pnWorld_GetContacts(s.world)[c];
    pnMeeting *found = malloc(contact->pairCount * sizeof *found);
    pnWorld_FindMeetings(s.world, c, found);
    for (size_t i = 0; i < contact->pairCount; ++i) {
      pnMeeting one = pnWorld_GetContactPoint(s.world, c, contact->firstPair + i).meeting;
      assert_memory_equal(&found[i], &one, sizeof one);
    }
    free(found);
  }
  freeStage(&s);
}

static void errors(void **state) {
  (void)state;
  TestRandom random = testRandom(3);
  Stage s = makeStage(6, NULL, &random);
  pnRay ray = pnDefaultRay();
  pnHit hit;
  ray.direction.x = 0;
  testExpectFailure(pnWorld_FindFirstHits(s.world, &ray, 1, UINT32_MAX, &hit), PN_ERROR_NUMBER, "ray 0");
  float point[3] = {0, NAN, 0};
  pnClosest closest;
  testExpectFailure(pnWorld_FindClosest(s.world, point, 1, INFINITY, UINT32_MAX, &closest), PN_ERROR_NUMBER, "point 0");
  point[1] = 0;
  testExpectFailure(pnWorld_FindClosest(s.world, point, 1, -1, UINT32_MAX, &closest), PN_ERROR_ARGUMENT, "farthest");
  // No body has the category: nothing is near.
  testExpectOk(pnWorld_FindClosest(s.world, point, 1, INFINITY, 1u << 20, &closest));
  assert_int_equal(closest.triangle, PN_NONE);
  pnBodyPair pair = {s.body[0], s.body[1]};
  pnDistance distance;
  testExpectOk(pnWorld_DestroyBody(s.world, s.body[1]));
  testExpectFailure(pnWorld_FindDistances(s.world, &pair, 1, INFINITY, &distance), PN_ERROR_ID, "destroyed");
  // A body that cannot be followed is named.
  uint32_t n = pnMesh_GetVertexCount(s.knot);
  float *bad = calloc(3 * (size_t)n + 1, sizeof *bad); // shared vertices: one readable float more
  bad[7] = NAN;
  testExpectOk(pnBody_ShareVertices(s.world, s.body[0], bad, n));
  ray = pnDefaultRay();
  testExpectFailure(pnWorld_FindFirstHits(s.world, &ray, 1, UINT32_MAX, &hit), PN_ERROR_NUMBER, "vertex 2");
  freeStage(&s);
  free(bad);
}

static int tearDown(void **state) {
  (void)state;
  return pnGetByteCount() == 0 ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(everyBody), cmocka_unit_test(newcomers),
                                     cmocka_unit_test(meetings), cmocka_unit_test(errors)};
  return cmocka_run_group_tests(tests, NULL, tearDown);
}
