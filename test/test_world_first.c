/* test_world_first.c: frames that ask for first pairs leave trees alone that nobody needs. Frames of both sorts, questions and drawings
 * one after the other, with bodies that stand, move, get transforms and masks or are destroyed meanwhile: contacts are those of brute
 * force, and what was late is there when it is asked for. */
#include "support.h"

#include "pinch/collide.h"
#include "pinch/lab.h"
#include "pinch/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Spheres of 320 triangles, and a cone of 300 around one vertex; the last vertex of each mesh is used by none. */
enum { BODIES = 4, CONE = 3, SHARING = 2, MOST_VERTICES = 303 };

typedef struct Stage {
  pnMesh *meshes[2];
  pnWorld *world;
  pnBodyId ids[BODIES];
  float scale; /* of everything */
  float at[BODIES][3];
  float vertices[BODIES][3 * MOST_VERTICES + 1];
  pnPairList *truth;
  uint32_t asked; /* how often for it */
  /* Copies of the bodies: their own trees are not to be asked. */
  pnPose *poses[BODIES];
  pnTree *trees[BODIES];
} Stage;

static pnMesh *makeSphere(void) {
  pnMesh *ball;
  testExpectOk(pnMakeIcosphere(2, 1, &ball));
  float vertices[3 * MOST_VERTICES] = {0};
  uint32_t n = pnMesh_GetVertexCount(ball);
  memcpy(vertices, pnMesh_GetVertices(ball), 3 * n * sizeof(float));
  pnMesh *mesh = testMakeMesh(vertices, n + 1, pnMesh_GetTriangles(ball), pnMesh_GetTriangleCount(ball));
  pnDestroyMesh(ball);
  return mesh;
}

static pnMesh *makeCone(void) {
  enum { SIDES = 300 };
  float vertices[3 * MOST_VERTICES] = {0, 0, 1};
  uint32_t triangles[3 * SIDES];
  for (uint32_t i = 0; i < SIDES; ++i) {
    float turn = 6.2831853f * (float)i / SIDES, rim[3] = {cosf(turn), sinf(turn), -0.5f};
    uint32_t corners[3] = {0, 1 + i, 1 + (i + 1) % SIDES};
    memcpy(vertices + 3 * (i + 1), rim, sizeof rim);
    memcpy(triangles + 3 * i, corners, sizeof corners);
  }
  return testMakeMesh(vertices, SIDES + 2, triangles, SIDES);
}

static const pnMesh *meshOf(const Stage *s, uint32_t i) {
  return s->meshes[i == CONE];
}

static void addBody(Stage *s, uint32_t i) {
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = meshOf(s, i);
  def.self = i == 0;
  testExpectOk(pnWorld_CreateBody(s->world, &def, &s->ids[i]));
}

static Stage makeStage(pnTasks tasks, int exponent) {
  Stage s = {.meshes = {makeSphere(), makeCone()}, .scale = ldexpf(1, exponent)};
  pnWorldDef def = pnDefaultWorldDef();
  def.tasks = tasks;
  testExpectOk(pnCreateWorld(&def, &s.world));
  testExpectOk(pnCreatePairList(&s.truth));
  for (uint32_t i = 0; i < BODIES; ++i) addBody(&s, i);
  for (uint32_t i = 0; i < BODIES; ++i) {
    pnTreeDef treeDef = pnDefaultTreeDef();
    testExpectOk(pnCreatePose(&(pnPoseDef){.mesh = meshOf(&s, i)}, &s.poses[i]));
    treeDef.pose = s.poses[i];
    testExpectOk(pnCreateTree(&treeDef, &s.trees[i]));
  }
  return s;
}

static void freeStage(Stage *s) {
  pnDestroyWorld(s->world);
  pnDestroyPairList(s->truth);
  for (int i = 0; i < BODIES; ++i) {
    pnDestroyTree(s->trees[i]);
    pnDestroyPose(s->poses[i]);
  }
  for (int i = 0; i < 2; ++i) pnDestroyMesh(s->meshes[i]);
}

/* With bumps, at a place; its last vertex may be anywhere. One body reads its vertices here. */
static void setBody(Stage *s, uint32_t i, TestRandom *random, float bumps) {
  float *v = s->vertices[i];
  uint32_t n = pnMesh_GetVertexCount(meshOf(s, i));
  for (uint32_t k = 0; k < 3 * n; ++k)
    v[k] = s->scale * (pnMesh_GetVertices(meshOf(s, i))[k] + s->at[i][k % 3] + testFloat(random, -bumps, bumps));
  v[3 * n - 2] = s->scale * (testBelow(random, 8) == 0 ? testFloat(random, -90, 90) : s->at[i][1]);
  testExpectOk(i == SHARING && testBelow(random, 4) == 0 ? pnBody_ShareVertices(s->world, s->ids[i], v, n)
                                                         : pnBody_SetVertices(s->world, s->ids[i], v, n));
}

/* Small steps, so that pairs and those around them last, and now and then a large one, or none. */
static void moveBodies(Stage *s, TestRandom *random) {
  float step = testBelow(random, 12) == 0 ? 4.0f : 0.03f;
  bool moves = testBelow(random, 4) > 0;
  for (uint32_t i = 0; i < BODIES; ++i) {
    if (!moves || testBelow(random, 3) == 0) continue;
    for (int k = 0; k < 3; ++k) {
      s->at[i][k] += testFloat(random, -step, step);
      if (fabsf(s->at[i][k]) > 1.2f) s->at[i][k] *= 0.5f;
    }
    setBody(s, i, random, i == 0 && testBelow(random, 2) ? 0.2f : 0.01f);
    pnMatrix turn = testBelow(random, 2) == 0 ? testRotation(random, 2) : pnMatrix_Identity();
    for (int k = 0; k < 3; ++k) turn.m[k][3] *= s->scale;
    if (testBelow(random, 6) == 0) testExpectOk(pnBody_SetTransform(s->world, s->ids[i], &turn));
  }
}

/* Every tenth time by brute force, which takes a hundred times as long. */
static void findTruth(Stage *s, uint32_t a, uint32_t b) {
  float vertices[3 * MOST_VERTICES];
  uint32_t both[2] = {a, b};
  for (int i = 0; i < 2; ++i) {
    pnPose_GetVertices(pnBody_GetPose(s->world, s->ids[both[i]]), vertices);
    testExpectOk(pnPose_SetVertices(s->poses[both[i]], vertices, pnMesh_GetVertexCount(meshOf(s, both[i]))));
  }
  if (a == b) testExpectOk(pnCollideSelf(s->trees[a], NULL, s->truth, NULL));
  else if (s->asked++ % 10 == 0) testExpectOk(pnCollideBrute(s->poses[a], s->poses[b], NULL, s->truth));
  else testExpectOk(pnCollideTrees(s->trees[a], s->trees[b], NULL, s->truth, NULL));
}

/* The contact of two bodies is there exactly where they meet, with one pair or all. */
static uint32_t checkContact(Stage *s, uint32_t a, uint32_t b, const pnFrame *frame, bool first) {
  const pnContact *contacts = pnWorld_GetContacts(s->world);
  findTruth(s, a, b);
  size_t wanted = pnPairList_GetCount(s->truth), found = 0;
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    if (contacts[i].a.index1 != s->ids[a].index1 || contacts[i].b.index1 != s->ids[b].index1) continue;
    found = contacts[i].pairCount;
    for (size_t k = 0; k < found; ++k)
      assert_true(testIsListed(s->truth, pnWorld_GetPairs(s->world)[contacts[i].firstPair + k]));
  }
  assert_int_equal(found, first ? wanted > 0 : wanted);
  return found > 0;
}

static uint32_t checkFrame(Stage *s, const pnFrame *frame, bool first) {
  uint32_t met = 0;
  testExpectOk(frame->result);
  for (uint32_t a = 0; a < BODIES; ++a)
    for (uint32_t b = a == 0 ? 0 : a + 1; b < BODIES; ++b) met += checkContact(s, a, b, frame, first);
  return met;
}

/* A ray hits what is nearest, wherever bodies were when a frame last looked. */
static void askWorld(Stage *s) {
  pnRay ray = pnDefaultRay();
  ray.origin = (pnVec3){0, 0, 9 * s->scale};
  ray.direction = (pnVec3){0, 0, -1};
  pnHit hit, own;
  double nearest = INFINITY;
  testExpectOk(pnWorld_FindFirstHits(s->world, &ray, 1, ~0u, &hit));
  for (uint32_t i = 0; i < BODIES; ++i) {
    testExpectOk(pnFindFirstHits(pnBody_GetTree(s->world, s->ids[i]), &ray, 1, NULL, &own));
    nearest = fmin(nearest, own.t);
  }
  assert_true(hit.t == nearest);
}

/* Frames of both sorts, of which some find what they need without trees; how many contacts, and how many such frames. */
static void playFrames(pnTasks tasks, int exponent, int rounds, uint32_t *outMet, uint32_t *outSpared) {
  Stage s = makeStage(tasks, exponent);
  TestRandom random = testRandom(5);
  *outMet = *outSpared = 0;
  for (int round = 0; round < rounds; ++round) {
    bool first = testBelow(&random, 4) > 0;
    moveBodies(&s, &random);
    if (testBelow(&random, 6) == 0) testExpectOk(pnBody_SetFilter(s.world, s.ids[1], 1, ~0u));
    if (testBelow(&random, 9) == 0) {
      uint32_t i = testBelow(&random, BODIES - 1);
      testExpectOk(pnWorld_DestroyBody(s.world, s.ids[i]));
      addBody(&s, i);
      setBody(&s, i, &random, 0);
    }
    pnFrame frame = pnWorld_Collide(s.world, &(pnFrameDef){.first = first});
    uint32_t contacts = checkFrame(&s, &frame, first);
    *outMet += contacts;
    *outSpared += first && contacts > 0 && frame.cost.nodesUpdated == 0;
    if (testBelow(&random, 5) == 0) askWorld(&s);
  }
  freeStage(&s);
}

static void lateTreesFollow(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  /* from where floats have a few bits left to where they end: nothing here is farther out than 2^8 times that */
  static const int exponents[3] = {0, -140, 118};
  for (int e = 0; e < 3; ++e) {
    uint32_t met[2], spared[2];
    int rounds = testIsShort() ? 60 : 200;
    playFrames((pnTasks){0}, exponents[e], rounds, &met[0], &spared[0]);
    playFrames(pnPool_GetTasks(pool), exponents[e], rounds, &met[1], &spared[1]);
    assert_true(met[0] > testRounds(300) && spared[0] > testRounds(20));
    assert_int_equal(met[0], met[1]);
    assert_int_equal(spared[0], spared[1]);
  }
  pnDestroyPool(pool);
  assert_int_equal(pnGetByteCount(), 0);
}

/* Two spheres in each other, of which one wanders along the other by about a third of an edge in every frame: mostly what is around the
 * last pair answers, and then no tree follows. */
static void triangleAroundAnswers(void **state) {
  (void)state;
  Stage s = makeStage((pnTasks){0}, 0);
  uint32_t spared = 0;
  for (uint32_t i = 2; i < BODIES; ++i) testExpectOk(pnWorld_DestroyBody(s.world, s.ids[i]));
  for (int round = 0; round < 60; ++round) {
    float turn = 0.1f * (float)round, at[3] = {cosf(turn), sinf(turn), 0.3f * sinf(2 * turn)};
    memcpy(s.at[1], at, sizeof at);
    TestRandom random = testRandom(3);
    setBody(&s, 1, &random, 0);
    pnFrame frame = pnWorld_Collide(s.world, &(pnFrameDef){.first = true, .noSelf = true});
    assert_int_equal(checkContact(&s, 0, 1, &frame, true), 1);
    spared += frame.cost.nodesUpdated == 0;
  }
  assert_true(spared > 50);
  freeStage(&s);
  assert_int_equal(pnGetByteCount(), 0);
}

/* So many contacts at most are the first of all of them, with hints and without, and whether there are more is said. */
static void limitsKeepTheFirst(void **state) {
  (void)state;
  Stage s[2] = {makeStage((pnTasks){0}, 0), makeStage((pnTasks){0}, 0)};
  TestRandom random[2] = {testRandom(8), testRandom(8)};
  uint32_t limited = 0;
  for (int round = 0; round < 60; ++round) {
    pnFrame frame[2];
    uint32_t most = 1 + (uint32_t)round % 4;
    for (int i = 0; i < 2; ++i) {
      moveBodies(&s[i], &random[i]);
      frame[i] = pnWorld_Collide(s[i].world, &(pnFrameDef){.first = true, .maxContacts = i ? most : 0});
      testExpectOk(frame[i].result);
    }
    uint32_t all = frame[0].contactCount;
    assert_int_equal(frame[1].contactCount, all < most ? all : most);
    assert_int_equal(frame[1].limited, all > most);
    for (uint32_t i = 0; i < frame[1].contactCount; ++i) {
      pnContact c[2] = {pnWorld_GetContacts(s[0].world)[i], pnWorld_GetContacts(s[1].world)[i]};
      assert_true(c[0].a.index1 == c[1].a.index1 && c[0].b.index1 == c[1].b.index1);
    }
    limited += frame[1].limited;
  }
  assert_true(limited > 10 && limited < 50);
  for (int i = 0; i < 2; ++i) freeStage(&s[i]);
  assert_int_equal(pnGetByteCount(), 0);
}

static void takeBox(void *user, pnBox box, uint32_t color) {
  (void)color;
  pnBox *whole = user;
  if (box.min.x < whole->min.x) *whole = box;
}

/* Boxes are drawn where bodies are, though the last frame did not look. */
static void lateTreesAreDrawn(void **state) {
  (void)state;
  Stage s = makeStage((pnTasks){0}, 0);
  TestRandom random = testRandom(1);
  for (int round = 0; round < 2; ++round) {
    s.at[1][0] = -20.0f * (float)round;
    setBody(&s, 1, &random, 0);
    testExpectOk(pnWorld_Collide(s.world, &(pnFrameDef){.first = true}).result);
  }
  pnBox leftmost = {{0, 0, 0}, {0, 0, 0}};
  pnDebugDraw draw = {.user = &leftmost, .drawBox = takeBox, .boxes = true};
  testExpectOk(pnWorld_Draw(s.world, &draw));
  assert_true(leftmost.min.x < -20.9f && leftmost.min.x >= -21.1f);
  freeStage(&s);
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lateTreesFollow), cmocka_unit_test(triangleAroundAnswers),
                                     cmocka_unit_test(limitsKeepTheFirst), cmocka_unit_test(lateTreesAreDrawn)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
