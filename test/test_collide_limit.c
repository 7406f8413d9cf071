/* test_collide_limit.c: no more pairs than are wanted. What is kept must be pairs that meet, as many as were asked for, the same
 * on any number of workers; a limit that is not reached must change nothing; and where everything meets everything, work and
 * memory must follow the limit. Counting takes no memory for pairs. Of bodies in one place not all pairs are listed at once. */
#include "support.h"

#include "pinch/world.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

/* n triangles that all meet: copies of one, each moved a little so that no vertices are shared. */
static pnMesh *makePile(uint32_t n, bool same) {
  float *v = malloc(9 * n * sizeof(float));
  uint32_t *t = malloc(3 * n * sizeof(uint32_t));
  assert_true(v && t);
  for (uint32_t i = 0; i < n; ++i) {
    float shift = 0.1f * (float)i / (float)n;
    memcpy(v + 9 * i, (float[9]){shift, 0, -0.01f * shift, 1 + shift, 0, 0.01f * shift, shift, 1, 0},
           9 * sizeof(float));
    for (uint32_t k = 0; k < 3; ++k) t[3 * i + k] = same ? k : 3 * i + k;
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = v;
  def.vertexCount = 3 * n;
  def.triangles = t;
  def.triangleCount = n;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  free(v);
  free(t);
  return mesh;
}

typedef struct Subject {
  pnMesh *mesh;
  pnPose *pose;
  pnTree *tree;
} Subject;

static Subject make(pnMesh *mesh) {
  Subject s = {.mesh = mesh};
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = mesh;
  testExpectOk(pnCreatePose(&poseDef, &s.pose));
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = s.pose;
  def.self = true;
  testExpectOk(pnCreateTree(&def, &s.tree));
  return s;
}

static void drop(Subject *s) {
  pnDestroyTree(s->tree);
  pnDestroyPose(s->pose);
  pnDestroyMesh(s->mesh);
}

static bool isBefore(pnPair x, pnPair y) {
  return x.a != y.a ? x.a < y.a : x.b < y.b;
}

/* Are the pairs of `some` sorted, and all among `all`? */
static void expectAmong(const pnPairList *some, const pnPairList *all) {
  const pnPair *p = pnPairList_GetPairs(some), *q = pnPairList_GetPairs(all);
  size_t at = 0, n = pnPairList_GetCount(all);
  for (size_t i = 0; i < pnPairList_GetCount(some); ++i) {
    assert_true(i == 0 || isBefore(p[i - 1], p[i]));
    while (at < n && isBefore(q[at], p[i])) ++at;
    assert_true(at < n && q[at].a == p[i].a && q[at].b == p[i].b);
  }
}

static pnResult ask(Subject *a, Subject *b, const pnQueryDef *def, pnPairList *list, pnCost *cost) {
  return b ? pnCollideTrees(a->tree, b->tree, def, list, cost) : pnCollideSelf(a->tree, def, list, cost);
}

/* Every limit, one to five workers. */
static void checkLimits(Subject *a, Subject *b) {
  pnPairList *all, *lists[2];
  testExpectOk(pnCreatePairList(&all));
  testExpectOk(pnCreatePairList(&lists[0]));
  testExpectOk(pnCreatePairList(&lists[1]));
  testExpectOk(ask(a, b, NULL, all, NULL));
  size_t total = pnPairList_GetCount(all),
         limits[] = {1, 2, 17, 500, total / 2, total - 1, total, total + 1, 2 * total};
  print_message("  %zu pairs\n", total);
  assert_true(total > 1000 && !pnPairList_IsLimited(all));
  for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
    for (uint32_t workers = 1; workers <= 5; workers += workers == 1 ? 1 : 3) {
      pnPool *pool;
      pnCost cost;
      testExpectOk(pnCreatePool(workers, &pool));
      pnQueryDef def = pnDefaultQueryDef();
      def.tasks = pnPool_GetTasks(pool);
      def.maxPairs = limits[i];
      pnPairList *list = lists[workers > 1];
      testExpectOk(ask(a, b, &def, list, &cost));
      assert_int_equal(pnPairList_IsLimited(list), limits[i] < total);
      assert_int_equal(pnPairList_GetCount(list), limits[i] < total ? limits[i] : total);
      assert_int_equal(cost.pairs, pnPairList_GetCount(list));
      expectAmong(list, all);
      assert_memory_equal(pnPairList_GetPairs(list), pnPairList_GetPairs(lists[0]),
                          pnPairList_GetCount(list) * sizeof(pnPair));
      pnDestroyPool(pool);
    }
  }
  pnDestroyPairList(all);
  pnDestroyPairList(lists[0]);
  pnDestroyPairList(lists[1]);
}

static void limitsAreKept(void **state) {
  (void)state;
  pnMesh *knot;
  testExpectOk(pnMakeKnot(2, 3, 1, 0.6f, 288, 32, &knot)); /* thick: it meets itself */
  Subject pile = make(makePile(200, false)), other = make(makePile(100, false)), copies = make(makePile(300, true)),
          thick = make(knot);
  checkLimits(&pile, NULL);
  checkLimits(&pile, &other);
  checkLimits(&copies, NULL);
  checkLimits(&thick, NULL);
  drop(&pile), drop(&other), drop(&copies), drop(&thick);
}

/* 20 000 copies of one triangle, 2e8 pairs: with a limit of 1000, or for a first pair, only so much is looked at and kept, with several
 * workers too. */
static void workFollowsTheLimit(void **state) {
  (void)state;
  for (uint32_t same = 0; same < 2; ++same) {
    Subject s = make(makePile(same ? 20000 : 3000, same));
    pnPool *pool;
    pnPairList *list;
    testExpectOk(pnCreatePool(4, &pool));
    for (uint32_t first = 0; first < 2; ++first) {
      pnCost cost;
      pnQueryDef def = pnDefaultQueryDef();
      def.tasks = pnPool_GetTasks(pool);
      def.maxPairs = first ? 0 : 1000;
      def.first = first;
      testExpectOk(pnCreatePairList(&list));
      testExpectOk(pnCollideSelf(s.tree, &(pnQueryDef){.first = true}, NULL, NULL)); /* makes what the tree keeps */
      size_t before = pnGetByteCount();
      testExpectOk(pnCollideSelf(s.tree, &def, list, &cost));
      assert_int_equal(pnPairList_GetCount(list), first ? 1 : 1000);
      assert_int_equal(pnPairList_IsLimited(list), !first);
      /* a portion or two beyond the limit for each worker */
      assert_true(cost.exactTests < 600000);
      assert_true(pnGetByteCount() - before < (32u << 20));
      pnDestroyPairList(list);
      if (same == 0) break;
    }
    pnDestroyPool(pool);
    drop(&s);
  }
}

/* ---------------------------------------------------------------- counting */

/* 2000 copies are 1 999 000 pairs, 16 MB of them: counting takes no such memory. */
static void countingKeepsNothing(void **state) {
  (void)state;
  for (uint32_t same = 0; same < 2; ++same) {
    TestWatch *watch = testWatchMemory();
    Subject s = make(makePile(2000, same));
    pnCost cost;
    testExpectOk(pnCollideSelf(s.tree, &(pnQueryDef){.first = true}, NULL, NULL));
    watch->most = watch->held;
    size_t before = watch->held;
    testExpectOk(pnCollideSelf(s.tree, NULL, NULL, &cost));
    assert_int_equal(cost.pairs, 2000 * 1999 / 2);
    assert_true(watch->most - before < (4u << 20));
    drop(&s);
    testExpectOk(pnSetAllocator(NULL, NULL, NULL));
  }
}

/* ---------------------------------------------------------------- worlds */

#define CROWD 372u

static pnWorld *makeCrowd(pnMesh *mesh, const pnTasks *tasks) {
  pnWorld *world;
  pnWorldDef def = pnDefaultWorldDef();
  def.tasks = *tasks;
  testExpectOk(pnCreateWorld(&def, &world));
  for (uint32_t i = 0; i < CROWD; ++i) {
    pnBodyDef bodyDef = pnDefaultBodyDef();
    pnBodyId id;
    bodyDef.mesh = mesh;
    bodyDef.kind = PN_BODY_RIGID;
    testExpectOk(pnWorld_CreateBody(world, &bodyDef, &id));
  }
  return world;
}

/* Bodies in one place: 69 006 contacts, in more than one portion of jobs. */
static void framesAreLimited(void **state) {
  (void)state;
  pnMesh *mesh = makePile(2, false);
  pnPool *pools[2];
  pnWorld *worlds[2];
  testExpectOk(pnCreatePool(1, &pools[0]));
  testExpectOk(pnCreatePool(4, &pools[1]));
  for (int i = 0; i < 2; ++i) {
    pnTasks tasks = pnPool_GetTasks(pools[i]);
    worlds[i] = makeCrowd(mesh, &tasks);
  }
  pnFrame whole = pnWorld_Collide(worlds[0], NULL);
  testExpectOk(whole.result);
  size_t total = 4 * CROWD * (CROWD - 1) / 2; /* all four pairs of triangles of all two bodies meet */
  assert_int_equal(whole.contactCount, CROWD * (CROWD - 1) / 2);
  assert_int_equal(whole.pairCount, total);
  assert_false(whole.limited);
  pnPair *pairs = malloc(total * sizeof(pnPair));
  memcpy(pairs, pnWorld_GetPairs(worlds[0]), total * sizeof(pnPair));
  size_t limits[] = {1, 999, 4 * 16384, 4 * 16384 + 1, total - 1, total, total + 1};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
    for (int w = 0; w < 2; ++w) {
      pnFrame frame = pnWorld_Collide(worlds[w], &(pnFrameDef){.maxPairs = limits[i]});
      testExpectOk(frame.result);
      size_t kept = limits[i] < total ? limits[i] : total;
      assert_int_equal(frame.limited, limits[i] < total);
      assert_int_equal(frame.pairCount, kept);
      assert_int_equal(frame.cost.pairs, kept);
      assert_int_equal(frame.contactCount, (kept + 3) / 4);
      /* jobs are not divided, so the pairs of all but the last contact are complete, and those of whole contacts are the same */
      assert_memory_equal(pnWorld_GetPairs(worlds[w]), pairs, kept / 4 * 4 * sizeof(pnPair));
    }
    assert_memory_equal(pnWorld_GetPairs(worlds[0]), pnWorld_GetPairs(worlds[1]),
                        (limits[i] < total ? limits[i] : total) * sizeof(pnPair));
  }
  /* a limit, and one pair for each two bodies */
  pnFrame frame = pnWorld_Collide(worlds[1], &(pnFrameDef){.first = true, .maxPairs = 100});
  assert_true(frame.result == PN_OK && frame.limited && frame.contactCount == 100 && frame.pairCount == 100);
  free(pairs);
  for (int i = 0; i < 2; ++i) {
    pnDestroyWorld(worlds[i]);
    pnDestroyPool(pools[i]);
  }
  pnDestroyMesh(mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

/* All pairs of such a crowd, of which every two bodies meet in four; to be freed. */
static pnPair *wholePairs(pnWorld *world, uint32_t total) {
  pnFrame whole = pnWorld_Collide(world, NULL);
  assert_true(whole.result == PN_OK && whole.contactCount == total && !whole.limited);
  pnPair *pairs = malloc(4 * total * sizeof(pnPair));
  memcpy(pairs, pnWorld_GetPairs(world), 4 * total * sizeof(pnPair));
  return pairs;
}

/* With a limit of so many contacts the answer is the beginning of the whole one. Returns how many contacts there are. */
static uint32_t expectBeginning(pnWorld *world, const pnFrameDef *def, uint32_t limit, uint32_t total,
                                const pnPair *pairs) {
  pnFrame frame = pnWorld_Collide(world, def);
  uint32_t kept = PN_MIN(limit, total);
  assert_true(frame.result == PN_OK && frame.limited == (limit < total));
  assert_int_equal(frame.contactCount, kept);
  assert_int_equal(frame.pairCount, 4 * kept);
  assert_memory_equal(pnWorld_GetPairs(world), pairs, 4 * kept * sizeof(pnPair));
  return kept;
}

/* So many contacts, the first in their order, with all their pairs. */
static void contactsAreLimited(void **state) {
  (void)state;
  pnMesh *mesh = makePile(2, false);
  pnWorld *world = makeCrowd(mesh, &(pnTasks){0});
  uint32_t total = CROWD * (CROWD - 1) / 2, limits[] = {1, 300, 65536, 65537, total - 1, total, total + 1};
  pnPair *pairs = wholePairs(world, total);
  for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
    uint32_t kept = expectBeginning(world, &(pnFrameDef){.maxContacts = limits[i]}, limits[i], total, pairs);
    assert_int_equal(world->pairs.count, 4 * kept); /* and no others behind them */
  }
  free(pairs);
  pnDestroyWorld(world);
  pnDestroyMesh(mesh);
}

/* So many pairs of close bodies are looked at, and the answer is the beginning of the whole one, in one list or in parts. */
static void bodyPairsAreLimited(void **state) {
  (void)state;
  pnMesh *mesh = makePile(2, false);
  uint32_t total = CROWD * (CROWD - 1) / 2, limits[] = {1, 300, 65535, 65536, 65537, total - 1, total, total + 1};
  for (uint32_t crowd = 0; crowd <= 1000; crowd += 1000) {
    pnWorld *world = makeCrowd(mesh, &(pnTasks){0});
    world->broad.crowd = crowd;
    pnPair *pairs = wholePairs(world, total);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i)
      expectBeginning(world, &(pnFrameDef){.maxBodyPairs = limits[i]}, limits[i], total, pairs);
    free(pairs);
    pnDestroyWorld(world);
  }
  pnDestroyMesh(mesh);
}

/* Bodies of which many are close and some meet: a body in three looks at itself, one in five has a tree that waits. The first half does
 * not see those that wait, so that trees of the second half are first asked for when pairs are listed on. */
static pnWorld *makeMixed(pnMesh *const meshes[2], uint32_t crowd, pnBodyId ids[CROWD]) {
  pnWorld *world;
  pnWorldDef worldDef = pnDefaultWorldDef();
  pnBox loose = {{-40, -40, -40}, {40, 40, 40}};
  testExpectOk(pnCreateWorld(&worldDef, &world));
  world->broad.crowd = world->stepBroad.crowd = crowd;
  for (uint32_t i = 0; i < CROWD / 4; ++i) {
    pnBodyDef def = pnDefaultBodyDef();
    def.mesh = meshes[i % 2], def.kind = PN_BODY_RIGID, def.self = i % 3 == 0;
    def.looseBox = i % 5 == 1 ? &loose : NULL;
    def.category = i % 5 == 1 ? 2 : 1, def.mask = i < CROWD / 8 ? ~2u : ~0u;
    testExpectOk(pnWorld_CreateBody(world, &def, &ids[i]));
  }
  return world;
}

static void moveMixed(pnWorld *world, const pnBodyId ids[CROWD], uint32_t seed, bool all) {
  TestRandom r = testRandom(seed);
  for (uint32_t i = 0; i < CROWD / 4; ++i) {
    pnMatrix m = pnMatrix_Identity();
    for (int k = 0; k < 3; ++k) m.m[k][3] = testFloat(&r, -1, 1);
    if (all || i % 16 == seed % 16) testExpectOk(pnBody_SetTransform(world, ids[i], &m));
  }
}

/* A crowd whose pairs of bodies are listed in parts has the frames and steps that one has whose pairs are listed at once. */
static void crowdsAreTheSameInParts(void **state) {
  (void)state;
  pnMesh *meshes[2] = {makePile(2, false), NULL};
  testExpectOk(pnMakeBox((pnVec3){0.3f, 0.3f, 0.3f}, 1, &meshes[1]));
  static pnBodyId ids[2][CROWD];
  pnWorld *whole = makeMixed(meshes, 0, ids[0]), *parts = makeMixed(meshes, 100, ids[1]);
  for (uint32_t step = 0; step < 12; ++step) {
    moveMixed(whole, ids[0], step, step % 4 == 0), moveMixed(parts, ids[1], step, step % 4 == 0);
    pnFrameDef def = {.first = step % 3 == 1, .noSelf = step % 5 == 4, .maxPairs = step % 6 == 5 ? 50 : 0};
    pnFrame x = pnWorld_Collide(whole, &def), y = pnWorld_Collide(parts, &def);
    assert_true(x.result == PN_OK && y.result == PN_OK && x.pairCount > 0 && x.contactCount > 0);
    assert_false(whole->broad.isCrowd);
    assert_true(parts->broad.isCrowd);
    assert_true(x.pairCount == y.pairCount && x.contactCount == y.contactCount && x.endedCount == y.endedCount);
    assert_true(x.limited == y.limited && (x.limited || x.bodyPairs == y.bodyPairs));
    assert_memory_equal(pnWorld_GetPairs(whole), pnWorld_GetPairs(parts), x.pairCount * sizeof(pnPair));
    for (uint32_t i = 0; i < x.contactCount + x.endedCount; ++i) {
      const pnContact *c = &pnWorld_GetContacts(whole)[i], *d = &pnWorld_GetContacts(parts)[i];
      assert_true(c->a.index1 == d->a.index1 && c->b.index1 == d->b.index1 && c->state == d->state);
      assert_true(c->firstPair == d->firstPair && c->pairCount == d->pairCount);
    }
    if (step % 4 != 3) continue;
    pnStep s[2];
    double safe[2];
    for (int w = 0; w < 2; ++w) {
      pnWorld *world = w == 0 ? whole : parts;
      testExpectOk(pnWorld_BeginStep(world));
      moveMixed(world, ids[w], 99, true);
      s[w] = pnWorld_CollideSwept(world, NULL);
      testExpectOk(s[w].result);
      testExpectOk(pnWorld_FindSafeStep(world, 0, &safe[w]));
    }
    assert_true(parts->stepBroad.isCrowd && s[0].impactCount > 0 && s[0].impactCount == s[1].impactCount);
    assert_true(s[0].contactCount == s[1].contactCount && s[0].earliest.lo == s[1].earliest.lo && safe[0] == safe[1]);
    for (size_t i = 0; i < s[0].impactCount; ++i) {
      const pnFeatureImpact *p = &pnWorld_GetImpacts(whole)[i], *q = &pnWorld_GetImpacts(parts)[i];
      assert_true(p->kind == q->kind && p->a == q->a && p->b == q->b && p->lo == q->lo && p->hi == q->hi);
    }
  }
  pnDestroyWorld(whole);
  pnDestroyWorld(parts);
  for (int i = 0; i < 2; ++i) pnDestroyMesh(meshes[i]);
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limitsAreKept),           cmocka_unit_test(workFollowsTheLimit),
      cmocka_unit_test(countingKeepsNothing),    cmocka_unit_test(framesAreLimited),
      cmocka_unit_test(contactsAreLimited),      cmocka_unit_test(bodyPairsAreLimited),
      cmocka_unit_test(crowdsAreTheSameInParts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
