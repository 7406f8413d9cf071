/* test_world_cutting.c: small bodies on a large one that stands still keep what they need of it (collide/cutting.h), and answers are those of
 * brute force in every frame: bodies that drift, stand, jump and climb; a ground that is edited, built anew, replaced, the caller's, never still;
 * one thread and three. */
#include "support.h"

#include "pinch/pinch.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Triangles 2 * 96 * 96: more than 1024 leaves. Of fewer bodies three threads share every one. */
enum { CELLS = 96, BODIES = 16, FRAMES = 90 };

typedef struct Scene {
  pnWorld *world;
  pnMesh *groundMesh, *ballMesh;
  pnBodyId ground, balls[BODIES];
  float *groundAt, *ballAt[BODIES]; /* where their vertices are */
  TestRandom random;
  float centre[BODIES][3], speed[BODIES][3];
  uint64_t served, made;
  size_t pairs; /* true ones of all frames */
  uint32_t stamp;
} Scene;

/* Steep, so that bodies that climb leave their reach along z first. */
static float heightAt(float x, float y, float phase) {
  return 2.5f * sinf(1.1f * x + phase) * cosf(0.9f * y) + 0.1f * sinf(9 * x) * sinf(8 * y);
}

static void bendGround(Scene *s, float phase) {
  uint32_t n = pnMesh_GetVertexCount(s->groundMesh);
  for (uint32_t i = 0; i < n; ++i) {
    float *v = s->groundAt + 3 * (size_t)i;
    v[2] = heightAt(v[0], v[1], phase);
  }
}

static void setGround(Scene *s, float phase) {
  uint32_t n = pnMesh_GetVertexCount(s->groundMesh);
  bendGround(s, phase);
  testExpectOk(pnBody_SetVertices(s->world, s->ground, s->groundAt, n));
}

static pnBodyId addBody(Scene *s, pnMesh *mesh) {
  pnBodyId id;
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = mesh;
  testExpectOk(pnWorld_CreateBody(s->world, &def, &id));
  return id;
}

static void setBall(Scene *s, int i) {
  uint32_t n = pnMesh_GetVertexCount(s->ballMesh);
  const float *rest = pnMesh_GetVertices(s->ballMesh);
  for (uint32_t k = 0; k < 3 * n; ++k) s->ballAt[i][k] = rest[k] + s->centre[i][k % 3];
  testExpectOk(pnBody_SetVertices(s->world, s->balls[i], s->ballAt[i], n));
}

/* Bodies of level 1 are small (collide/peg.h), those of level 2 are not: they go down the cutting with their trees. */
static void openScene(Scene *s, const pnTasks *tasks, uint32_t level) {
  *s = (Scene){.random = testRandom(17)};
  pnWorldDef def = pnDefaultWorldDef();
  if (tasks) def.tasks = *tasks;
  testExpectOk(pnCreateWorld(&def, &s->world));
  testExpectOk(pnMakeGrid(20, 20, CELLS, CELLS, &s->groundMesh));
  testExpectOk(pnMakeIcosphere(level, 0.5f, &s->ballMesh));
  size_t n = pnMesh_GetVertexCount(s->groundMesh), m = pnMesh_GetVertexCount(s->ballMesh);
  s->groundAt = malloc(3 * n * sizeof(float));
  assert_non_null(s->groundAt);
  memcpy(s->groundAt, pnMesh_GetVertices(s->groundMesh), 3 * n * sizeof(float));
  s->ground = addBody(s, s->groundMesh);
  setGround(s, 0);
  for (int i = 0; i < BODIES; ++i) {
    s->ballAt[i] = malloc(3 * m * sizeof(float));
    assert_non_null(s->ballAt[i]);
    s->balls[i] = addBody(s, s->ballMesh);
    for (int d = 0; d < 3; ++d) {
      s->centre[i][d] = testFloat(&s->random, -7, 7);
      s->speed[i][d] = testFloat(&s->random, -0.12f, 0.12f);
    }
  }
}

static void closeScene(Scene *s) {
  pnDestroyWorld(s->world);
  pnDestroyMesh(s->groundMesh);
  pnDestroyMesh(s->ballMesh);
  free(s->groundAt);
  for (int i = 0; i < BODIES; ++i) free(s->ballAt[i]);
}

/* Every fourth stands, 1 jumps now and then, 2 goes up and down along the slope, the others drift on the ground. */
static void moveBall(Scene *s, int i, int frame) {
  float *c = s->centre[i];
  bool jumps = i == 1 && frame % 13 == 12;
  for (int d = 0; d < 2 && i % 4 != 0 && i != 2; ++d) {
    c[d] = jumps ? testFloat(&s->random, -7, 7) : c[d] + s->speed[i][d];
    if (fabsf(c[d]) > 8) s->speed[i][d] = -s->speed[i][d];
  }
  c[2] = heightAt(c[0], c[1], 0) + 0.2f;
  if (i == 2) c[2] += 1.5f * sinf(0.3f * (float)frame);
  setBall(s, i);
}

/* ---------------------------------------------------------------- the truth */

/* Of the ground and a ball, in order of both. */
static size_t truthOf(const Scene *s, int ball, pnPair *out) {
  size_t count = 0;
  uint32_t n = pnMesh_GetTriangleCount(s->groundMesh), m = pnMesh_GetTriangleCount(s->ballMesh);
  for (uint32_t i = 0; i < n; ++i) {
    TestBoxed p = testBoxedAt(s->groundMesh, s->groundAt, i);
    if (fabsf(p.lo[0] - s->centre[ball][0]) > 1.5f || fabsf(p.lo[1] - s->centre[ball][1]) > 1.5f) continue;
    for (uint32_t j = 0; j < m; ++j) {
      TestBoxed q = testBoxedAt(s->ballMesh, s->ballAt[ball], j);
      if (testAreNear(&p, &q) && pnTrianglesMeet(&p.triangle, &q.triangle)) out[count++] = (pnPair){i, j};
    }
  }
  return count;
}

/* The pairs of the ground and a ball, the ground's triangle first. */
static size_t answerOf(const Scene *s, const pnFrame *frame, int ball, pnPair *out) {
  const pnContact *contacts = pnWorld_GetContacts(s->world);
  size_t count = 0;
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    bool first = contacts[i].a.index1 == s->ground.index1 && contacts[i].b.index1 == s->balls[ball].index1;
    bool second = contacts[i].b.index1 == s->ground.index1 && contacts[i].a.index1 == s->balls[ball].index1;
    const pnPair *pairs = pnWorld_GetPairs(s->world) + contacts[i].firstPair;
    for (size_t k = 0; (first || second) && k < contacts[i].pairCount; ++k)
      out[count++] = first ? pairs[k] : (pnPair){pairs[k].b, pairs[k].a};
  }
  qsort(out, count, sizeof(pnPair), testComparePairs);
  return count;
}

static size_t compareAll(Scene *s, const pnFrame *frame, int number) {
  static pnPair truth[100000], answer[100000];
  size_t all = 0;
  for (int i = 0; i < BODIES; ++i) {
    /* what is true takes most of the time, and where this is short a quarter is looked at */
    bool compared = !testIsShort() || (i + number) % 4 == 0;
    size_t found = answerOf(s, frame, i, answer), count = compared ? truthOf(s, i, truth) : found;
    if (count != found || (compared && memcmp(truth, answer, count * sizeof(pnPair)) != 0))
      fail_msg("frame %d, body %d: %zu pairs found, %zu are true", number, i, found, count);
    const pnCutting *cutting = s->world->bodies.data[s->balls[i].index1 - 1].cutting;
    s->served += cutting && cutting->served > 0;
    s->made += cutting && cutting->leafCount > 0 && cutting->served == 0;
    all += count;
  }
  return all;
}

/* What happens to the ground in some frames. */
static void changeGround(Scene *s, int frame) {
  if (frame == 30) setGround(s, 0.25f); /* those that stand have other triangles beside them */
  if (frame == 45) testExpectOk(pnTree_Rebuild(pnBody_GetTree(s->world, s->ground)));
  if (frame == 50) setGround(s, 0.1f);
  if (frame == 60) { /* another in its place, which has the same stamp one frame later */
    s->stamp = pnBody_GetTree(s->world, s->ground)->now;
    testExpectOk(pnWorld_DestroyBody(s->world, s->ground));
    s->ground = addBody(s, s->groundMesh);
    setGround(s, 0.4f);
  }
  if (frame == 61) assert_int_equal(pnBody_GetTree(s->world, s->ground)->now, s->stamp);
  if (frame == 75) {
    testExpectOk(pnWorld_DestroyBody(s->world, s->balls[3]));
    s->balls[3] = addBody(s, s->ballMesh);
  }
}

/* Bodies move, and the answer is true. */
static pnFrame playFrame(Scene *s, int frame) {
  for (int i = 0; i < BODIES; ++i) moveBall(s, i, frame);
  pnFrame f = pnWorld_Collide(s->world, NULL);
  testExpectOk(f.result);
  s->pairs += compareAll(s, &f, frame);
  return f;
}

/* So many bodies have a list, and those that have none may have one in the next frame. */
static void expectLists(const Scene *s, int expected) {
  int lists = 0;
  for (int i = 0; i < BODIES; ++i) {
    const pnCutting *cutting = s->world->bodies.data[s->balls[i].index1 - 1].cutting;
    assert_non_null(cutting);
    lists += cutting->leafCount > 0;
  }
  assert_int_equal(lists, expected);
}

/* Of what was tested every pair of triangles is booked to a job. (What two small bodies do is not booked.) */
static void expectTests(const Scene *s, const pnFrame *frame) {
  uint64_t tested = 0;
  for (size_t j = 0; j < s->world->jobs.count; ++j) tested += s->world->jobs.data[j].tested;
  assert_int_equal(tested, frame->cost.exactTests);
}

static void runScene(const pnTasks *tasks, uint32_t level) {
  Scene s;
  openScene(&s, tasks, level);
  for (int frame = 0; frame < FRAMES; ++frame) {
    changeGround(&s, frame);
    pnFrame f = playFrame(&s, frame);
    if (level > 1) expectTests(&s, &f);
    if (frame < 2) expectLists(&s, BODIES);
  }
  assert_true(s.pairs > 10000);
  assert_true(s.served > FRAMES * BODIES / 3); /* else nothing of this was tried */
  assert_true(s.made > BODIES);
  closeScene(&s);
}

static void testOneThread(void **state) {
  (void)state;
  runScene(NULL, 1);
}

static void testLargerBodies(void **state) {
  (void)state;
  runScene(NULL, 2);
}

static void testThreeThreads(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  runScene(&tasks, 1);
  pnDestroyPool(pool);
}

/* A ground that is never still: what was kept for lists of it is given back. */
static void testRestlessGround(void **state) {
  (void)state;
  Scene s;
  openScene(&s, NULL, 1);
  for (int frame = 0; frame < 20; ++frame) {
    if (frame != 10) setGround(&s, 0.02f * (float)frame);
    playFrame(&s, frame);
    for (int i = 0; i < BODIES; ++i) {
      bool kept = s.world->bodies.data[s.balls[i].index1 - 1].cutting != NULL;
      assert_int_equal(kept, frame == 0 || frame == 10);
    }
  }
  assert_int_equal(s.served, 0);
  assert_int_equal(s.made, BODIES); /* in the first frame, when nobody could know */
  closeScene(&s);
}

/* Beside it one that stands still: lists are of that one, and stay. */
static void testTwoGrounds(void **state) {
  (void)state;
  Scene s;
  openScene(&s, NULL, 1);
  pnBodyId still = addBody(&s, s.groundMesh);
  testExpectOk(pnBody_SetVertices(s.world, still, s.groundAt, pnMesh_GetVertexCount(s.groundMesh)));
  for (int frame = 0; frame < 20; ++frame) {
    setGround(&s, 0.02f * (float)frame);
    playFrame(&s, frame);
    for (int i = 0; i < BODIES && frame > 0; ++i) {
      const pnCutting *cutting = s.world->bodies.data[s.balls[i].index1 - 1].cutting;
      assert_non_null(cutting);
      assert_int_equal(cutting->serial, pnBody_GetTree(s.world, still)->serial);
    }
  }
  assert_true(s.served > 5 * BODIES);
  closeScene(&s);
}

/* The caller's tree is looked at in every frame, and lists of it are made as long as it stands still. */
static void testSharedGround(void **state) {
  (void)state;
  Scene s;
  openScene(&s, NULL, 1);
  pnPose *pose;
  pnTree *tree;
  pnTreeDef treeDef = pnDefaultTreeDef();
  uint32_t n = pnMesh_GetVertexCount(s.groundMesh);
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = s.groundMesh;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  testExpectOk(pnPose_SetVertices(pose, s.groundAt, n));
  treeDef.pose = pose;
  testExpectOk(pnCreateTree(&treeDef, &tree));
  testExpectOk(pnWorld_DestroyBody(s.world, s.ground));
  pnBodyDef def = pnDefaultBodyDef();
  def.kind = PN_BODY_STATIC;
  def.staticTree = tree;
  testExpectOk(pnWorld_CreateBody(s.world, &def, &s.ground));
  for (int frame = 0; frame < 20; ++frame) {
    if (frame == 10) {
      bendGround(&s, 0.3f);
      testExpectOk(pnPose_SetVertices(pose, s.groundAt, n));
    }
    playFrame(&s, frame);
    if (frame < 2 || frame == 10) expectLists(&s, frame < 2 ? BODIES : 0);
  }
  assert_true(s.served > 5 * BODIES);
  testExpectOk(pnWorld_DestroyBody(s.world, s.ground));
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  closeScene(&s);
}

/* Every node of what is planted has its box in the cutting, the root too. Only rows read the root's (traverse_rows.h), not squares. */
static void testBoxesAreThere(void **state) {
  (void)state;
  static pnCutting cutting;
  pnTree large = {0}, tree;
  pnShape shape;
  pn_plantCutting(&cutting, &large, &shape, &tree);
  assert_int_equal(shape.parent[0], PN_LANES * PN_CUTTING_NODES);
  for (uint32_t i = 0; i < shape.nodeCount; ++i) assert_true(shape.parent[i] / PN_LANES <= PN_CUTTING_NODES);
  assert_true(tree.lanes == (char *)cutting.lanes && sizeof cutting.lanes == (PN_CUTTING_NODES + 1) * tree.laneBytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testBoxesAreThere),  cmocka_unit_test(testOneThread),
                                     cmocka_unit_test(testLargerBodies),   cmocka_unit_test(testThreeThreads),
                                     cmocka_unit_test(testRestlessGround), cmocka_unit_test(testTwoGrounds),
                                     cmocka_unit_test(testSharedGround)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
