/* test_world_set.c: vertices of a large body are looked through and copied by all workers of its world: the same as by one, whatever
 * is wrong with them and wherever. */
#include "support.h"

#include "mesh/pose.h"
#include "pinch/world.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 40 401 vertices are for several workers, 2 601 are large for one. */
#define LARGE_SIDE 200u
#define SMALL_SIDE 50u

typedef struct Stage {
  pnMesh *mesh;
  pnPool *pool;
  pnWorld *world;
  pnBodyId body;
  uint32_t count;
  float *vertices, *seen;
} Stage;

/* Hooks under which one worker does everything, range by range. */
static void oneByOne(void *user, pnTaskFcn *task, void *context, uint32_t count, uint32_t grain) {
  (void)user;
  for (uint32_t i = 0; i < count; i += grain) task(context, i, i + grain < count ? i + grain : count, 0);
}
#define BY_ONE 4u

static Stage openStage(uint32_t workers, uint32_t side) {
  Stage s = {0};
  testExpectOk(pnMakeGrid(1, 1, side, side, &s.mesh));
  testExpectOk(pnCreatePool(workers, &s.pool));
  pnWorldDef def = pnDefaultWorldDef();
  def.tasks = pnPool_GetTasks(s.pool);
  if (workers == BY_ONE) def.tasks.parallelFor = oneByOne;
  testExpectOk(pnCreateWorld(&def, &s.world));
  pnBodyDef bodyDef = pnDefaultBodyDef();
  bodyDef.mesh = s.mesh;
  bodyDef.name = "sheet";
  testExpectOk(pnWorld_CreateBody(s.world, &bodyDef, &s.body));
  s.count = pnMesh_GetVertexCount(s.mesh);
  s.vertices = malloc(3 * (size_t)s.count * sizeof(float));
  s.seen = malloc(3 * (size_t)s.count * sizeof(float));
  return s;
}

static void closeStage(Stage *s) {
  pnDestroyWorld(s->world);
  pnDestroyPool(s->pool);
  pnDestroyMesh(s->mesh);
  free(s->vertices);
  free(s->seen);
}

static void expectVertices(const Stage *s, const float *expected, float maxAbs) {
  const pnPose *pose = pnBody_GetPose(s->world, s->body);
  pnPose_GetVertices(pose, s->seen);
  assert_memory_equal(s->seen, expected, 3 * (size_t)s->count * sizeof(float));
  assert_true(pose->sourceMaxAbs == maxAbs);
}

/* Sets the largest of all, and then what is not finite, at six places. */
static void setEverywhere(uint32_t workers, uint32_t side, const size_t places[6]) {
  Stage s = openStage(workers, side);
  size_t n = 3 * (size_t)s.count;
  TestRandom dice = testRandom(workers);
  for (size_t i = 0; i < n; ++i) s.vertices[i] = testFloat(&dice, -1, 1);
  for (int i = 0; i < 6; ++i) {
    s.vertices[places[i]] = -3.0f - (float)i;
    testExpectOk(pnBody_SetVertices(s.world, s.body, s.vertices, s.count));
    expectVertices(&s, s.vertices, 3.0f + (float)i);
  }
  /* what is not a number is named, and nothing has changed */
  float *kept = malloc(n * sizeof(float));
  memcpy(kept, s.vertices, n * sizeof(float));
  for (size_t i = 0; i < n; ++i) s.vertices[i] = 0.5f * kept[i];
  for (int i = 0; i < 12; ++i) {
    size_t at = places[i % 6];
    float keep = s.vertices[at];
    s.vertices[at] = i < 6 ? NAN : -INFINITY;
    char words[64];
    snprintf(words, sizeof words, "coordinate %c of vertex %zu", "xyz"[at % 3], at / 3);
    testExpectFailure(pnBody_SetVertices(s.world, s.body, s.vertices, s.count), PN_ERROR_NUMBER, words);
    s.vertices[at] = keep;
    expectVertices(&s, kept, 8.0f);
  }
  /* its own copy, given back to it */
  testExpectOk(pnBody_SetVertices(s.world, s.body, pnBody_GetPose(s.world, s.body)->source, s.count));
  expectVertices(&s, kept, 8.0f);
  free(kept);
  closeStage(&s);
}

static void largeBodies(void **state) {
  (void)state;
  /* at the ends of the parts of two workers and of four, and in the last */
  const size_t places[] = {0, 30303, 30304, 60607, 60608, 3 * 40401 - 1};
  /* at the ends of the four places where one worker reads in turn, and behind them */
  const size_t fewer[] = {0, 1935, 1936, 3 * 1936 - 1, 4 * 1936, 3 * 2601 - 1};
  for (uint32_t workers = 1; workers <= BY_ONE; ++workers) {
    setEverywhere(workers, LARGE_SIDE, places);
    setEverywhere(workers, SMALL_SIDE, fewer);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(largeBodies)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
