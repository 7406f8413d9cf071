/* test_world_idle.c: a world that looks only at what has changed sees what one made anew sees; and it really does not look at
 * the rest. */
#include "support.h"

#include "pinch/world.h"

#include "world/world.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 220 };

/* What the caller knows about his bodies. */
typedef struct Known {
  bool alive;
  pnBodyId id;
  float place[3];
  uint32_t category, mask;
} Known;

typedef struct Test {
  pnMesh *mesh;
  Known known[MOST];
  TestRandom r;
} Test;

static pnMatrix shift(const float *p) {
  pnMatrix m = pnMatrix_Identity();
  for (int k = 0; k < 3; ++k) m.m[k][3] = p[k];
  return m;
}

static void create(Test *t, pnWorld *world, Known *k, uint32_t number) {
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = t->mesh;
  def.kind = number % 2 ? PN_BODY_RIGID : PN_BODY_FREE;
  def.category = k->category;
  def.mask = k->mask;
  def.userData = (void *)(uintptr_t)number;
  testExpectOk(pnWorld_CreateBody(world, &def, &k->id));
  pnMatrix m = shift(k->place);
  testExpectOk(pnBody_SetTransform(world, k->id, &m));
  k->alive = true;
}

static void draw(Test *t, Known *k) {
  for (int i = 0; i < 3; ++i) k->place[i] = testFloat(&t->r, 0, 9);
  k->category = 1u << testBelow(&t->r, 2);
  k->mask = 1 + testBelow(&t->r, 3);
}

/* Something happens to a body. */
static void change(Test *t, pnWorld *world, uint32_t number) {
  Known *k = &t->known[number];
  uint32_t what = testBelow(&t->r, 8);
  if (!k->alive) {
    draw(t, k);
    create(t, world, k, number);
  } else if (what == 0) {
    testExpectOk(pnWorld_DestroyBody(world, k->id));
    k->alive = false;
  } else if (what == 1) {
    k->mask = 1 + testBelow(&t->r, 3);
    testExpectOk(pnBody_SetFilter(world, k->id, k->category, k->mask));
  } else {
    k->place[what % 3] += testFloat(&t->r, -1, 1);
    pnMatrix m = shift(k->place);
    testExpectOk(pnBody_SetTransform(world, k->id, &m));
  }
}

/* Contacts by the caller's numbers, a < b, as lines that can be sorted and compared. */
typedef struct Line {
  uint32_t a, b;
  size_t pairs;
  uint64_t sum; /* of the pairs' triangles */
} Line;

static int compareLines(const void *x, const void *y) {
  const Line *p = x, *q = y;
  return p->a != q->a ? (p->a < q->a ? -1 : 1) : p->b < q->b ? -1 : p->b > q->b;
}

static uint32_t collide(pnWorld *world, Line *out) {
  pnFrame frame = pnWorld_Collide(world, NULL);
  testExpectOk(frame.result);
  for (uint32_t i = 0; i < frame.contactCount; ++i) {
    const pnContact *c = &pnWorld_GetContacts(world)[i];
    uint32_t a = (uint32_t)(uintptr_t)pnBody_GetUserData(world, c->a);
    uint32_t b = (uint32_t)(uintptr_t)pnBody_GetUserData(world, c->b);
    Line line = {PN_MIN(a, b), PN_MAX(a, b), c->pairCount, 0};
    for (size_t k = 0; k < c->pairCount; ++k) {
      pnPair p = pnWorld_GetPairs(world)[c->firstPair + k];
      line.sum += ((uint64_t)(a < b ? p.a : p.b) + 1) * 1000003 ^ (a < b ? p.b : p.a);
    }
    out[i] = line;
  }
  qsort(out, frame.contactCount, sizeof(Line), compareLines);
  return frame.contactCount;
}

/* Few, many and no changes a frame, few and many bodies; against a world that never saw the frames before. */
static void changesAreSeen(void **state) {
  (void)state;
  static Test t;
  static Line kept[MOST * MOST / 2], anew[MOST * MOST / 2];
  t = (Test){.r = testRandom(5)};
  testExpectOk(pnMakeIcosphere(0, 1, &t.mesh));
  pnWorld *world;
  testExpectOk(pnCreateWorld(NULL, &world));
  size_t contacts = 0;
  for (uint32_t step = 0; step < 120; ++step) {
    static const uint32_t changes[] = {0, 1, 2, 5, 150};
    uint32_t bodies = step < 30 ? 60 : MOST;
    for (uint32_t i = 0; i < (step == 30 || step == 0 ? 2 * bodies : changes[step % 5]); ++i)
      change(&t, world, testBelow(&t.r, bodies));
    uint32_t count = collide(world, kept);
    pnWorld *other;
    pnWorldDef def = pnDefaultWorldDef();
    def.lab = &(pnWorldLab){.broad = PN_BROAD_ALL};
    testExpectOk(pnCreateWorld(&def, &other));
    for (uint32_t i = 0; i < MOST; ++i) {
      Known copy = t.known[i];
      if (copy.alive) create(&t, other, &copy, i);
    }
    assert_int_equal(collide(other, anew), count);
    assert_memory_equal(kept, anew, count * sizeof(Line));
    pnDestroyWorld(other);
    contacts += count;
  }
  assert_true(contacts > 5000);
  pnDestroyWorld(world);
  pnDestroyMesh(t.mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

/* After a frame nothing is left to do, and the next one does nothing. */
static void nothingMovedIsNothingDone(void **state) {
  (void)state;
  static Test t;
  t = (Test){.r = testRandom(6)};
  testExpectOk(pnMakeIcosphere(1, 1, &t.mesh));
  pnWorld *world;
  testExpectOk(pnCreateWorld(NULL, &world));
  for (uint32_t i = 0; i < MOST; ++i) {
    t.known[i] = (Known){.place = {3.0f * (float)i, 0, 0}, .category = 1, .mask = 1};
    create(&t, world, &t.known[i], i);
  }
  assert_int_equal(world->touched.count, MOST);
  testExpectOk(pnWorld_Collide(world, NULL).result);
  assert_int_equal(world->touched.count, 0);
  assert_int_equal(world->broad.changed.count, 0);
  pnMatrix m = shift(t.known[9].place);
  testExpectOk(pnBody_SetTransform(world, t.known[9].id, &m));
  testExpectOk(pnBody_SetTransform(world, t.known[9].id, &m));
  assert_int_equal(world->touched.count, 1);
  testExpectOk(pnWorld_DestroyBody(world, t.known[9].id));
  assert_int_equal(world->touched.count, 0);
  testExpectOk(pnWorld_Collide(world, NULL).result);
  pnDestroyWorld(world);
  pnDestroyMesh(t.mesh);
}

/* Body i of some, every second one rigid, every third with itself, at its place. */
static pnBodyId addKnot(pnWorld *world, const pnMesh *knot, uint32_t i, const pnMatrix *at) {
  pnBodyDef def = pnDefaultBodyDef();
  pnBodyId id;
  def.mesh = knot;
  def.kind = i % 2 ? PN_BODY_RIGID : PN_BODY_FREE;
  def.self = i % 3 == 0;
  testExpectOk(pnWorld_CreateBody(world, &def, &id));
  testExpectOk(pnBody_SetTransform(world, id, at));
  return id;
}

/* Frames of every sort by turns, over bodies of which few move or none: what is kept is what would be found. */
static void playStanding(uint32_t workers) {
  enum { BODIES = 12, SORTS = 8 };
  pnMesh *knot;
  testExpectOk(pnMakeKnot(2, 3, 1, 0.6f, 40, 6, &knot)); /* through itself */
  TestRandom random = testRandom(8);
  pnQueryLab lab = {0};
  const pnFrameDef sorts[SORTS] = {
      {0},          {0}, {.noSelf = true}, {.first = true}, {.maxPairs = 9}, {.unsorted = true}, {.maxContacts = 2},
      {.lab = &lab}};
  pnPool *pool;
  pnWorld *world;
  pnWorldDef worldDef = pnDefaultWorldDef();
  testExpectOk(pnCreatePool(workers, &pool));
  worldDef.tasks = pnPool_GetTasks(pool);
  testExpectOk(pnCreateWorld(&worldDef, &world));
  pnBodyId ids[BODIES];
  pnMatrix at[BODIES];
  uint32_t kept = 0, contacts = 0;
  for (uint32_t i = 0; i < BODIES; ++i) {
    at[i] = testRotation(&random, 4);
    ids[i] = addKnot(world, knot, i, &at[i]);
  }
  for (uint32_t round = 0; round < testRounds(160); ++round) {
    pnFrameDef def = sorts[testBelow(&random, SORTS)];
    uint32_t moved = testBelow(&random, 3);
    for (uint32_t k = 0; k < moved; ++k) {
      uint32_t i = testBelow(&random, BODIES);
      at[i] = testRotation(&random, 4);
      testExpectOk(pnBody_SetTransform(world, ids[i], &at[i]));
    }
    pnFrame frame = pnWorld_Collide(world, &def), truth;
    pnWorld *other;
    testExpectOk(frame.result);
    testExpectOk(pnCreateWorld(NULL, &other));
    for (uint32_t i = 0; i < BODIES; ++i) addKnot(other, knot, i, &at[i]);
    truth = pnWorld_Collide(other, &def);
    testExpectOk(truth.result);
    assert_int_equal(frame.contactCount, truth.contactCount);
    bool all = !def.first && def.maxPairs == 0; /* else it may be other pairs */
    if (all) assert_int_equal(frame.pairCount, truth.pairCount);
    if (all) assert_int_equal(frame.cost.pairs, truth.cost.pairs);
    if (def.first) assert_int_equal(frame.pairCount, frame.contactCount);
    if (all && !def.unsorted && truth.pairCount > 0)
      assert_memory_equal(pnWorld_GetPairs(world), pnWorld_GetPairs(other), truth.pairCount * sizeof(pnPair));
    contacts += truth.contactCount;
    bool asksAll = all && def.maxContacts == 0;
    kept += moved > 0 && asksAll && frame.cost.exactTests < truth.cost.exactTests / 2;
    pnDestroyWorld(other);
  }
  assert_true(contacts > testRounds(1000) && kept > testRounds(4));
  pnDestroyWorld(world);
  pnDestroyPool(pool);
  pnDestroyMesh(knot);
}

static void whatStandsIsKept(void **state) {
  (void)state;
  playStanding(1);
  playStanding(3);
}

/* Two worlds alike, one of them in the laboratory, where nothing is kept: frames of several sorts, between which mostly nothing happens, else
 * somebody moves, comes, goes or gets another mask. Contacts begin, go on and end alike. */
static void nothingNewIsAnsweredAtOnce(void **state) {
  (void)state;
  enum { BODIES = 10 };
  pnMesh *knot;
  testExpectOk(pnMakeKnot(2, 3, 1, 0.6f, 40, 6, &knot));
  TestRandom random = testRandom(12);
  const pnQueryLab lab = {0};
  pnWorld *worlds[2];
  pnBodyId ids[2][BODIES];
  uint32_t atOnce = 0, ended = 0, bodyPairs = 0;
  for (int w = 0; w < 2; ++w) testExpectOk(pnCreateWorld(NULL, &worlds[w]));
  for (uint32_t i = 0; i < BODIES; ++i) {
    pnMatrix at = testRotation(&random, 3);
    for (int w = 0; w < 2; ++w) ids[w][i] = addKnot(worlds[w], knot, i, &at);
  }
  for (uint32_t round = 0; round < testRounds(200); ++round) {
    uint32_t event = testBelow(&random, 10), i = testBelow(&random, BODIES);
    pnMatrix at = testRotation(&random, 3);
    pnFrame frames[2];
    for (int w = 0; w < 2; ++w) {
      pnFrameDef def = {.noSelf = round % 50 > 40, .unsorted = round % 70 > 60, .lab = w ? &lab : NULL};
      const float point[3] = {0};
      pnClosest near;
      if (event == 0) testExpectOk(pnBody_SetTransform(worlds[w], ids[w][i], &at));
      if (event == 1) testExpectOk(pnBody_SetFilter(worlds[w], ids[w][i], 1, round % 3 ? 1 : 2));
      if (event == 2 || event == 3) testExpectOk(pnWorld_DestroyBody(worlds[w], ids[w][i]));
      if (event == 2) testExpectOk(pnWorld_FindClosest(worlds[w], point, 1, 1, 1, &near)); /* sees that it is gone */
      if (event == 3) ids[w][i] = addKnot(worlds[w], knot, i, &at);
      frames[w] = pnWorld_Collide(worlds[w], &def);
      testExpectOk(frames[w].result);
      if (event == 2) ids[w][i] = addKnot(worlds[w], knot, i, &at);
    }
    assert_int_equal(frames[0].contactCount, frames[1].contactCount);
    assert_int_equal(frames[0].endedCount, frames[1].endedCount);
    assert_int_equal(frames[0].pairCount, frames[1].pairCount);
    assert_int_equal(frames[0].cost.pairs, frames[1].cost.pairs);
    for (uint32_t c = 0; c < frames[0].contactCount + frames[0].endedCount; ++c) {
      pnContact a = pnWorld_GetContacts(worlds[0])[c], b = pnWorld_GetContacts(worlds[1])[c];
      assert_true(a.state == b.state && a.a.index1 == b.a.index1 && a.b.index1 == b.b.index1);
      assert_true(a.firstPair == b.firstPair && a.pairCount == b.pairCount);
    }
    bool same = frames[0].broadSeconds == 0 && frames[0].contactCount > 0;
    if (same) assert_int_equal(frames[0].bodyPairs, bodyPairs);
    bodyPairs = frames[0].bodyPairs;
    atOnce += same;
    ended += frames[0].endedCount;
  }
  assert_true(atOnce > testRounds(60) && ended > testRounds(20));
  for (int w = 0; w < 2; ++w) pnDestroyWorld(worlds[w]);
  pnDestroyMesh(knot);
}

/* A tree in a loose box follows only when something comes near. */
static void looseBoxesSkipUpdates(void **state) {
  (void)state;
  pnMesh *mesh;
  pnWorld *world;
  pnBodyId a, b;
  testExpectOk(pnMakeIcosphere(2, 1, &mesh));
  testExpectOk(pnCreateWorld(NULL, &world));
  pnBox loose = {{-3, -3, -3}, {3, 3, 3}};
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = mesh;
  def.looseBox = &loose;
  testExpectOk(pnWorld_CreateBody(world, &def, &a));
  def.looseBox = NULL;
  testExpectOk(pnWorld_CreateBody(world, &def, &b));
  static const struct {
    float a, b;
    bool near, meets;
  } steps[] = {{0, 9, false, false},    {1, 9, false, false},     {1, 3.5f, true, false},    {1.8f, 3.5f, true, true},
               {1.8f, 9, false, false}, {-1.8f, 9, false, false}, {-1.8f, -3.5f, true, true}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; ++i) {
    pnMatrix m = shift((float[3]){steps[i].a, 0, 0}), n = shift((float[3]){steps[i].b, 0, 0});
    testExpectOk(pnBody_SetTransform(world, a, &m));
    testExpectOk(pnBody_SetTransform(world, b, &n));
    pnFrame frame = pnWorld_Collide(world, NULL);
    testExpectOk(frame.result);
    assert_int_equal(frame.contactCount, steps[i].meets);
    pnTree *tree = pnBody_GetTree(world, a);
    assert_int_equal(tree->poseFrame == tree->pose->frame, steps[i].near);
  }
  pnDestroyWorld(world);
  pnDestroyMesh(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(changesAreSeen), cmocka_unit_test(nothingMovedIsNothingDone),
                                     cmocka_unit_test(whatStandsIsKept), cmocka_unit_test(looseBoxesSkipUpdates),
                                     cmocka_unit_test(nothingNewIsAnsweredAtOnce)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
