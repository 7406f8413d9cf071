/* test_world_threads.c: what docs/threads.md allows threads to change at the same time, changed at the same time, for the thread
 * sanitizer (reads: test_world_reads.c); and schedulers that do with tasks whatever pnTasks allows. Answers are those of one thread. */
#include "support.h"

#include "pinch/pinch.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 6 };

/* What all threads share and nobody changes, but for the tree of the ground, with which they take turns. */
typedef struct Shared {
  pnMesh *mesh, *ground;
  const pnShape *shape, *groundShape;
  pnTree *groundTree;
  pthread_mutex_t *turns;
  pnPose *groundPose;
  pnPool *pool;
  size_t truth[ROUNDS];
} Shared;

static void place(pnMatrix *m, int round) {
  *m = pnMatrix_Identity();
  m->m[0][3] = 0.3f * (float)round, m->m[1][3] = 0.5f;
}

/* A world of its own over shared things: two rigid bodies of one shape, one that looks at itself, and the ground: of a shared shape, or
 * with `inTurns` a shared tree, which it asks when nobody else does. */
static void runWorld(const Shared *s, const pnTasks *tasks, bool inTurns, size_t *outPairs) {
  pnWorldDef worldDef = pnDefaultWorldDef();
  worldDef.tasks = *tasks;
  pnWorld *world;
  pnBodyId ids[4];
  testExpectOk(pnCreateWorld(&worldDef, &world));
  for (int i = 0; i < 4; ++i) {
    pnBodyDef def = pnDefaultBodyDef();
    def.kind = i == 2 ? PN_BODY_STATIC : i == 3 ? PN_BODY_FREE : PN_BODY_RIGID;
    if (i < 2) def.shape = s->shape;
    if (i == 2 && inTurns) def.staticTree = s->groundTree;
    if (i == 2 && !inTurns) def.shape = s->groundShape;
    if (i == 3) def.mesh = s->mesh, def.self = true;
    if (inTurns) pthread_mutex_lock(s->turns);
    testExpectOk(pnWorld_CreateBody(world, &def, &ids[i]));
    if (inTurns) pthread_mutex_unlock(s->turns);
  }
  for (int round = 0; round < ROUNDS; ++round) {
    pnMatrix m;
    place(&m, round);
    testExpectOk(pnBody_SetTransform(world, ids[0], &m));
    uint32_t n = pnMesh_GetVertexCount(s->mesh);
    float *at = malloc(3 * n * sizeof *at);
    assert_non_null(at);
    for (uint32_t i = 0; i < 3 * n; ++i)
      at[i] = pnMesh_GetVertices(s->mesh)[i] * (i % 3 ? 1 : 0.5f + 0.1f * (float)round);
    testExpectOk(pnBody_SetVertices(world, ids[3], at, n));
    free(at);
    if (inTurns) pthread_mutex_lock(s->turns);
    pnFrame frame = pnWorld_Collide(world, NULL);
    if (inTurns) pthread_mutex_unlock(s->turns);
    testExpectOk(frame.result);
    outPairs[round] = frame.pairCount;
  }
  pnDestroyWorld(world);
}

/* Queries of trees of its own over the shared shape; who holds the shape changes all the time. */
static void runQueries(const Shared *s) {
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = s->mesh;
  for (int round = 0; round < ROUNDS; ++round) {
    pnPose *pose;
    pnTree *tree;
    pnPairList *pairs;
    const pnShape *held = pnShape_Retain(s->shape);
    testExpectOk(pnCreatePose(&poseDef, &pose));
    pnTreeDef def = pnDefaultTreeDef();
    def.pose = pose, def.shape = held;
    testExpectOk(pnCreateTree(&def, &tree));
    testExpectOk(pnCreatePairList(&pairs));
    testExpectOk(pnShape_PrepareSelf(held));
    testExpectOk(pnCollideSelf(tree, NULL, pairs, NULL));
    assert_true(pnPairList_GetCount(pairs) > 0);
    void *block;
    size_t bytes;
    testExpectOk(pnShape_Save(held, &block, &bytes));
    pnFree(block, bytes);
    /* a message is the thread's own */
    assert_true(pnPose_SetVertices(pose, pnMesh_GetVertices(s->mesh), 1) == PN_ERROR_COUNT);
    assert_non_null(strstr(pnGetMessage(), pnMesh_GetName(s->mesh)));
    pnDestroyPairList(pairs);
    pnDestroyTree(tree);
    pnDestroyPose(pose);
    pnShape_Release(held);
  }
}

static void *work(void *context) {
  const Shared *s = context;
  size_t pairs[ROUNDS];
  runQueries(s);
  runWorld(s, &(pnTasks){0}, false, pairs);
  for (int i = 0; i < ROUNDS; ++i) assert_int_equal(pairs[i], s->truth[i]);
  /* all of them on one pool, and then with one tree */
  pnTasks tasks = pnPool_GetTasks(s->pool);
  for (int inTurns = 0; inTurns < 2; ++inTurns) {
    runWorld(s, &tasks, inTurns, pairs);
    for (int i = 0; i < ROUNDS; ++i) assert_int_equal(pairs[i], s->truth[i]);
  }
  return NULL;
}

static void openShared(Shared *s) {
  memset(s, 0, sizeof *s);
  testExpectOk(pnMakeKnot(2, 3, 1, 0.45f, 48, 10, &s->mesh));
  testExpectOk(pnMakeGrid(4, 4, 20, 20, &s->ground));
  pnShapeDef def = pnDefaultShapeDef();
  def.mesh = s->mesh;
  def.tree.self = true;
  def.tree.update = PN_UPDATE_RIGID;
  testExpectOk(pnCreateShape(&def, &s->shape));
  def = pnDefaultShapeDef();
  def.mesh = s->ground;
  testExpectOk(pnCreateShape(&def, &s->groundShape));
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = s->ground;
  testExpectOk(pnCreatePose(&poseDef, &s->groundPose));
  pnTreeDef treeDef = pnDefaultTreeDef();
  treeDef.pose = s->groundPose;
  testExpectOk(pnCreateTree(&treeDef, &s->groundTree));
  testExpectOk(pnCreatePool(3, &s->pool));
  static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
  s->turns = &turns;
  runWorld(s, &(pnTasks){0}, true, s->truth);
  size_t sum = 0;
  for (int i = 0; i < ROUNDS; ++i) sum += s->truth[i];
  assert_true(sum > 100);
}

static void closeShared(Shared *s) {
  pnDestroyPool(s->pool);
  pnDestroyTree(s->groundTree);
  pnDestroyPose(s->groundPose);
  pnShape_Release(s->shape);
  pnShape_Release(s->groundShape);
  pnDestroyMesh(s->ground);
  pnDestroyMesh(s->mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

static void worldsAndQueriesInParallel(void **state) {
  (void)state;
  Shared s;
  openShared(&s);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, work, &s), 0);
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  closeShared(&s);
}

/* ---------------------------------------------------------------- hostile schedulers */

typedef struct Part {
  pnTaskFcn *task;
  void *context;
  uint32_t begin, end, worker;
} Part;

static void *runPart(void *context) {
  Part *p = context;
  if (p->worker % 2) sched_yield();
  p->task(p->context, p->begin, p->end, p->worker);
  return NULL;
}

/* Everything on a thread made for it, the last part first, each as small as it may be. */
static void runOnStrangers(void *user, pnTaskFcn *task, void *context, uint32_t count, uint32_t grain) {
  (void)user;
  enum { MOST = 7 };
  uint32_t step = grain > 0 ? grain : 1;
  if (count / step > 40) step = count / 40 + 1;
  for (uint32_t end = count; end > 0;) {
    Part parts[MOST];
    pthread_t threads[MOST];
    uint32_t n = 0;
    for (; n < MOST && end > 0; ++n) {
      uint32_t begin = end > step ? end - step : 0;
      parts[n] = (Part){task, context, begin, end, n};
      assert_int_equal(pthread_create(&threads[n], NULL, runPart, &parts[n]), 0);
      end = begin;
    }
    while (n > 0) pthread_join(threads[--n], NULL);
  }
}

/* All on one thread, one index at a time, backwards, as the last of very many workers. */
static void runBackwards(void *user, pnTaskFcn *task, void *context, uint32_t count, uint32_t grain) {
  (void)user, (void)grain;
  for (uint32_t i = count; i-- > 0;) task(context, i, i + 1, PN_MAX_WORKERS - 1);
}

/* The whole in one call, or two that differ in size by all but one. */
static void runUnevenly(void *user, pnTaskFcn *task, void *context, uint32_t count, uint32_t grain) {
  (void)user, (void)grain;
  if (count > 1) task(context, count - 1, count, 1);
  task(context, 0, count > 1 ? count - 1 : count, 0);
}

static void schedulersMayDoWhatTheyLike(void **state) {
  (void)state;
  Shared s;
  openShared(&s);
  const pnTasks hooks[] = {{.workerCount = 7, .parallelFor = runOnStrangers},
                           {.workerCount = PN_MAX_WORKERS, .parallelFor = runBackwards},
                           {.workerCount = 2, .parallelFor = runUnevenly}};
  for (size_t i = 0; i < sizeof hooks / sizeof *hooks; ++i) {
    size_t pairs[ROUNDS];
    runWorld(&s, &hooks[i], i % 2, pairs);
    for (int k = 0; k < ROUNDS; ++k) assert_int_equal(pairs[k], s.truth[k]);
  }
  closeShared(&s);
}

/* Two spheres in one place: one long list, which workers copy and sort together, bit for bit that of one thread. */
static void longListsAreInOneOrder(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(4, 1, &mesh));
  pnPair *truth = NULL;
  size_t count = 0;
  for (uint32_t workers = 1; workers <= 7; workers += 3) {
    pnPool *pool;
    testExpectOk(pnCreatePool(workers, &pool));
    pnWorldDef worldDef = pnDefaultWorldDef();
    worldDef.tasks = pnPool_GetTasks(pool);
    pnWorld *world;
    pnBodyId ids[2];
    testExpectOk(pnCreateWorld(&worldDef, &world));
    pnBodyDef def = pnDefaultBodyDef();
    def.mesh = mesh;
    for (int i = 0; i < 2; ++i) testExpectOk(pnWorld_CreateBody(world, &def, &ids[i]));
    pnFrame frame = pnWorld_Collide(world, NULL);
    testExpectOk(frame.result);
    const pnPair *pairs = pnWorld_GetPairs(world);
    if (!truth) {
      count = frame.pairCount;
      assert_true(count > 4 * 2048); /* several times what they sort together */
      truth = malloc(count * sizeof *truth);
      assert_non_null(truth);
      memcpy(truth, pairs, count * sizeof *truth);
      for (size_t i = 1; i < count; ++i)
        assert_true(truth[i - 1].a < truth[i].a || (truth[i - 1].a == truth[i].a && truth[i - 1].b < truth[i].b));
    }
    assert_int_equal(frame.pairCount, count);
    assert_memory_equal(pairs, truth, count * sizeof *truth);
    pnDestroyWorld(world);
    pnDestroyPool(pool);
  }
  free(truth);
  pnDestroyMesh(mesh);
}

/* ---------------------------------------------------------------- few bodies, some of them large */

enum { FEW = 4, FEW_FRAMES = 4, BAD_FRAME = 2 };

/* What became of them in a frame. */
typedef struct FewFrame {
  pnPair *pairs;
  size_t pairCount;
  pnBox boxes[FEW];
  float quality[FEW];
} FewFrame;

/* Where a free body's vertices are in a frame: all grow, and every second vertex of the second moves away from the others, so that its tree
 * wears. In the bad frame a number in the middle of that is none. */
static void moveVertices(const pnMesh *mesh, int body, int frame, bool bad, float *out) {
  uint32_t n = pnMesh_GetVertexCount(mesh);
  for (uint32_t i = 0; i < 3 * n; ++i) {
    float moved = i % 3 == 0 ? 0.7f * (float)body : body == 1 && i % 2 ? 0.05f * (float)frame : 0;
    out[i] = pnMesh_GetVertices(mesh)[i] * (1 + 0.05f * (float)frame) + moved;
  }
  if (bad && body == 1) out[3 * (n / 2)] = NAN;
}

/* Two large free bodies, a small one, and a large one that moves as a whole, whose rule has no parts. */
static void playFew(const pnTasks *tasks, pnMesh *const meshes[FEW], FewFrame out[FEW_FRAMES]) {
  pnWorldDef worldDef = pnDefaultWorldDef();
  if (tasks) worldDef.tasks = *tasks;
  pnWorld *world;
  pnBodyId ids[FEW];
  float *at[FEW];
  testExpectOk(pnCreateWorld(&worldDef, &world));
  for (int i = 0; i < FEW; ++i) {
    pnBodyDef def = pnDefaultBodyDef();
    def.mesh = meshes[i];
    def.kind = i == 3 ? PN_BODY_RIGID : PN_BODY_FREE;
    def.name = i == 1 ? "second" : NULL;
    testExpectOk(pnWorld_CreateBody(world, &def, &ids[i]));
    at[i] = malloc((3 * (size_t)pnMesh_GetVertexCount(meshes[i]) + 1) * sizeof(float));
    assert_non_null(at[i]);
  }
  for (int frame = 0; frame < FEW_FRAMES; ++frame) {
    pnMatrix m;
    place(&m, frame);
    testExpectOk(pnBody_SetTransform(world, ids[3], &m));
    for (int again = frame == BAD_FRAME; again >= 0; --again) {
      for (int i = 0; i < 3; ++i) {
        moveVertices(meshes[i], i, frame, again, at[i]);
        testExpectOk(pnBody_ShareVertices(world, ids[i], at[i], pnMesh_GetVertexCount(meshes[i])));
      }
      pnFrame f = pnWorld_Collide(world, NULL);
      assert_int_equal(f.result, again ? PN_ERROR_NUMBER : PN_OK);
      if (again) assert_non_null(strstr(pnGetMessage(), "second"));
      out[frame].pairCount = f.pairCount;
    }
    size_t bytes = out[frame].pairCount * sizeof(pnPair);
    assert_true(bytes > 0);
    out[frame].pairs = malloc(bytes);
    assert_non_null(out[frame].pairs);
    memcpy(out[frame].pairs, pnWorld_GetPairs(world), bytes);
    for (int i = 0; i < FEW; ++i) {
      out[frame].boxes[i] = pnTree_GetBox(pnBody_GetTree(world, ids[i]));
      out[frame].quality[i] = pnTree_GetQuality(pnBody_GetTree(world, ids[i]));
    }
  }
  assert_true(out[FEW_FRAMES - 1].quality[1] > 1.1f);
  for (int i = 0; i < FEW; ++i) free(at[i]);
  pnDestroyWorld(world);
}

/* Where there are fewer bodies than workers have to do, large ones are followed in parts by all of them: boxes, qualities, pairs and what is
 * said of a bad number are those of one thread. */
static void fewBodiesAreFollowedInParts(void **state) {
  (void)state;
  pnMesh *large, *small;
  pnPool *pool;
  testExpectOk(pnMakeIcosphere(5, 1, &large));
  testExpectOk(pnMakeIcosphere(2, 1, &small));
  testExpectOk(pnCreatePool(3, &pool));
  pnMesh *meshes[FEW] = {large, large, small, large};
  const pnTasks hooks[] = {pnPool_GetTasks(pool),
                           {.workerCount = 7, .parallelFor = runOnStrangers},
                           {.workerCount = PN_MAX_WORKERS, .parallelFor = runBackwards},
                           {.workerCount = 3, .parallelFor = runUnevenly}};
  FewFrame truth[FEW_FRAMES], got[FEW_FRAMES];
  playFew(NULL, meshes, truth);
  for (size_t h = 0; h < sizeof hooks / sizeof *hooks; ++h) {
    playFew(&hooks[h], meshes, got);
    for (int i = 0; i < FEW_FRAMES; ++i) {
      assert_int_equal(got[i].pairCount, truth[i].pairCount);
      assert_memory_equal(got[i].pairs, truth[i].pairs, truth[i].pairCount * sizeof(pnPair));
      assert_memory_equal(got[i].boxes, truth[i].boxes, sizeof truth[i].boxes);
      assert_memory_equal(got[i].quality, truth[i].quality, sizeof truth[i].quality);
      free(got[i].pairs);
    }
  }
  for (int i = 0; i < FEW_FRAMES; ++i) free(truth[i].pairs);
  pnDestroyPool(pool);
  pnDestroyMesh(small);
  pnDestroyMesh(large);
}

/* ---------------------------------------------------------------- crowds */

enum { CROWD = 1400, CROWD_FRAMES = 5, CORNERS = 12 };

/* What became of a crowd in a frame. */
typedef struct CrowdFrame {
  pnPair *pairs;
  pnContact *contacts;
  size_t pairCount;
  uint32_t contactCount;
} CrowdFrame;

/* Where a body is in a frame; some do not move. */
static void moveBall(const pnMesh *ball, uint32_t i, int frame, float *out) {
  TestRandom dice = testRandom(i);
  float at[3], by[3];
  for (int k = 0; k < 3; ++k) at[k] = testFloat(&dice, 0, 16), by[k] = i % 7 ? testFloat(&dice, -0.4f, 0.4f) : 0;
  for (uint32_t k = 0; k < 3 * CORNERS; ++k)
    out[k] = pnMesh_GetVertices(ball)[k] + at[k % 3] + by[k % 3] * (float)frame;
}

static void *copyOf(const void *data, size_t bytes) {
  void *copy = malloc(bytes + 1);
  assert_non_null(copy);
  memcpy(copy, data, bytes);
  return copy;
}

/* Small bodies that move freely; over some of them a ground that has a list of leaves for each body near it, some that look at themselves, and
 * from frame to frame others. */
static void playCrowd(const pnTasks *tasks, const pnMesh *ball, const pnMesh *ground, CrowdFrame out[CROWD_FRAMES]) {
  static float vertices[CROWD][3 * CORNERS];
  static pnBodyVertices list[CROWD];
  pnWorldDef worldDef = pnDefaultWorldDef();
  if (tasks) worldDef.tasks = *tasks;
  pnWorld *world;
  pnBodyId groundId;
  testExpectOk(pnCreateWorld(&worldDef, &world));
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = ground;
  testExpectOk(pnWorld_CreateBody(world, &def, &groundId));
  def.mesh = ball;
  for (int frame = 0; frame < CROWD_FRAMES; ++frame) {
    for (uint32_t i = 0; i < CROWD; ++i) {
      bool again = frame > 0 && i % 100 == (uint32_t)frame;
      if (again) testExpectOk(pnWorld_DestroyBody(world, list[i].body));
      def.self = i % 50 == 0;
      list[i].vertices = vertices[i];
      list[i].count = CORNERS;
      if (frame == 0 || again) testExpectOk(pnWorld_CreateBody(world, &def, &list[i].body));
      moveBall(ball, i, frame, vertices[i]);
    }
    testExpectOk(pnWorld_SetVertices(world, list, CROWD));
    pnFrame f = pnWorld_Collide(world, NULL);
    testExpectOk(f.result);
    out[frame] = (CrowdFrame){.pairCount = f.pairCount, .contactCount = f.contactCount + f.endedCount};
    out[frame].pairs = copyOf(pnWorld_GetPairs(world), f.pairCount * sizeof(pnPair));
    out[frame].contacts = copyOf(pnWorld_GetContacts(world), out[frame].contactCount * sizeof(pnContact));
    assert_true(f.contactCount > CROWD / 2);
  }
  pnDestroyWorld(world);
}

static void expectCrowd(const CrowdFrame *got, const CrowdFrame *truth) {
  assert_int_equal(got->pairCount, truth->pairCount);
  assert_int_equal(got->contactCount, truth->contactCount);
  assert_memory_equal(got->pairs, truth->pairs, truth->pairCount * sizeof(pnPair));
  for (uint32_t i = 0; i < truth->contactCount; ++i) {
    const pnContact *a = &got->contacts[i], *b = &truth->contacts[i];
    assert_true(a->a.index1 == b->a.index1 && a->b.index1 == b->b.index1 && a->state == b->state);
    assert_true(a->firstPair == b->firstPair && a->pairCount == b->pairCount);
  }
}

/* Workers share what there is to do for each of many bodies before anything meets: where it is, what is near it, which trees are asked. */
static void crowdsAreShared(void **state) {
  (void)state;
  pnMesh *ball, *ground;
  pnPool *pool;
  testExpectOk(pnMakeIcosphere(0, 1, &ball));
  testExpectOk(pnMakeGrid(16, 16, 128, 128, &ground));
  testExpectOk(pnCreatePool(3, &pool));
  const pnTasks hooks[] = {pnPool_GetTasks(pool),
                           {.workerCount = 7, .parallelFor = runOnStrangers},
                           {.workerCount = PN_MAX_WORKERS, .parallelFor = runBackwards},
                           {.workerCount = 3, .parallelFor = runUnevenly}};
  CrowdFrame truth[CROWD_FRAMES], got[CROWD_FRAMES];
  playCrowd(NULL, ball, ground, truth);
  for (size_t h = 0; h < (testIsShort() ? 2 : sizeof hooks / sizeof *hooks); ++h) {
    playCrowd(&hooks[h], ball, ground, got);
    for (int i = 0; i < CROWD_FRAMES; ++i) {
      expectCrowd(&got[i], &truth[i]);
      free(got[i].pairs);
      free(got[i].contacts);
    }
  }
  for (int i = 0; i < CROWD_FRAMES; ++i) {
    free(truth[i].pairs);
    free(truth[i].contacts);
  }
  pnDestroyPool(pool);
  pnDestroyMesh(ground);
  pnDestroyMesh(ball);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(worldsAndQueriesInParallel),
                                     cmocka_unit_test(fewBodiesAreFollowedInParts),
                                     cmocka_unit_test(longListsAreInOneOrder),
                                     cmocka_unit_test(schedulersMayDoWhatTheyLike), cmocka_unit_test(crowdsAreShared)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
