/* test_world_many.c: vertices of many bodies in one call. The same as one call for each, by one worker or several, and all of them or none:
 * whatever is wrong with one of them, wherever, it is named and nobody has moved. */
#include "support.h"

#include "mesh/pose.h"
#include "pinch/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sides of grids: a large body that ends of parts lie in, small ones that lie together in one, and bodies without a vertex, at the ends
 * of the list too. */
static const uint32_t s_sides[] = {0, 1, 1, 60, 0, 2, 100, 1, 36, 3, 1, 0, 50, 12, 0};
#define BODIES ((uint32_t)(sizeof s_sides / sizeof s_sides[0]))

typedef struct Stage {
  pnPool *pool;
  pnWorld *world;
  pnMesh *meshes[BODIES];
  float *kept[BODIES], *next[BODIES], *seen; /* what bodies have, what they are given, room for the largest */
  pnBodyVertices list[BODIES];               /* those of next */
  TestRandom dice;
} Stage;

static pnMesh *makeSheet(uint32_t side) {
  pnMesh *mesh;
  if (side == 0) return testMakeMesh(NULL, 0, NULL, 0);
  testExpectOk(pnMakeGrid(1, 1, side, side, &mesh));
  return mesh;
}

static void openStage(Stage *s, uint32_t workers) {
  *s = (Stage){.dice = testRandom(workers)};
  pnWorldDef def = pnDefaultWorldDef();
  if (workers > 0) {
    testExpectOk(pnCreatePool(workers, &s->pool));
    def.tasks = pnPool_GetTasks(s->pool);
  }
  testExpectOk(pnCreateWorld(&def, &s->world));
  size_t most = 0;
  for (uint32_t i = 0; i < BODIES; ++i) {
    char name[16];
    snprintf(name, sizeof name, "sheet %u", i);
    s->meshes[i] = makeSheet(s_sides[i]);
    pnBodyDef bodyDef = pnDefaultBodyDef();
    bodyDef.mesh = s->meshes[i];
    bodyDef.name = name;
    pnBodyVertices *entry = &s->list[i];
    testExpectOk(pnWorld_CreateBody(s->world, &bodyDef, &entry->body));
    entry->count = pnMesh_GetVertexCount(s->meshes[i]);
    size_t bytes = 3 * (size_t)entry->count * sizeof(float);
    most = bytes > most ? bytes : most;
    s->kept[i] = calloc(1, bytes + 1);
    entry->vertices = s->next[i] = calloc(1, bytes + 1);
    if (bytes > 0) memcpy(s->kept[i], pnMesh_GetVertices(s->meshes[i]), bytes);
  }
  s->seen = malloc(most);
}

static void closeStage(Stage *s) {
  pnDestroyWorld(s->world);
  pnDestroyPool(s->pool);
  for (uint32_t i = 0; i < BODIES; ++i) {
    pnDestroyMesh(s->meshes[i]);
    free(s->kept[i]);
    free(s->next[i]);
  }
  free(s->seen);
}

static size_t numbersOf(const Stage *s, uint32_t i) {
  return 3 * (size_t)s->list[i].count;
}

/* Somewhere else for everybody; the largest magnitude of body i is 2 + i, at a place by chance. */
static void chooseNext(Stage *s) {
  for (uint32_t i = 0; i < BODIES; ++i) {
    size_t n = numbersOf(s, i);
    for (size_t k = 0; k < n; ++k) s->next[i][k] = testFloat(&s->dice, -1, 1);
    if (n > 0) s->next[i][testBelow(&s->dice, (uint32_t)n)] = -2.0f - (float)i;
  }
}

static void keepNext(Stage *s) {
  for (uint32_t i = 0; i < BODIES; ++i) memcpy(s->kept[i], s->next[i], numbersOf(s, i) * sizeof(float));
}

/* Every body has what is kept, to the bit, and knows the largest of it. */
static void expectKept(Stage *s) {
  for (uint32_t i = 0; i < BODIES; ++i) {
    const pnPose *pose = pnBody_GetPose(s->world, s->list[i].body);
    float most = 0;
    for (size_t k = 0; k < numbersOf(s, i); ++k) most = fmaxf(most, fabsf(s->kept[i][k]));
    assert_true(pose->sourceMaxAbs == most);
    pnPose_GetVertices(pose, s->seen);
    assert_memory_equal(s->seen, s->kept[i], numbersOf(s, i) * sizeof(float));
  }
}

/* A call that fails with these words; nobody has changed, not even as far as a frame number. */
static void expectRefused(Stage *s, const pnBodyVertices *list, uint32_t count, pnResult result, const char *words) {
  uint64_t frames[BODIES];
  for (uint32_t i = 0; i < BODIES; ++i) frames[i] = pnPose_GetFrame(pnBody_GetPose(s->world, s->list[i].body));
  testExpectFailure(pnWorld_SetVertices(s->world, list, count), result, words);
  for (uint32_t i = 0; i < BODIES; ++i)
    assert_int_equal(pnPose_GetFrame(pnBody_GetPose(s->world, s->list[i].body)), frames[i]);
  expectKept(s);
}

/* All at once, again and again, one alone between two calls, and what they have themselves. */
static void manyAreSet(void **state) {
  (void)state;
  for (uint32_t workers = testIsShort() ? 3 : 0; workers <= 3; ++workers) {
    Stage s;
    openStage(&s, workers);
    for (uint32_t round = 0; round < 5; ++round) {
      chooseNext(&s);
      testExpectOk(pnWorld_SetVertices(s.world, s.list, BODIES));
      keepNext(&s);
      expectKept(&s);
      uint32_t one = testBelow(&s.dice, BODIES);
      for (size_t k = 0; k < numbersOf(&s, one); ++k) s.kept[one][k] = s.next[one][k] *= 0.5f;
      testExpectOk(pnBody_SetVertices(s.world, s.list[one].body, s.next[one], s.list[one].count));
      expectKept(&s);
    }
    for (uint32_t i = 0; i < BODIES; ++i) s.list[i].vertices = pnBody_GetPose(s.world, s.list[i].body)->source;
    testExpectOk(pnWorld_SetVertices(s.world, s.list, BODIES));
    expectKept(&s);
    closeStage(&s);
  }
}

/* A number that is not finite, in every body that has some and at its ends. */
static void oneBadNumberMovesNobody(void **state) {
  (void)state;
  for (uint32_t workers = testIsShort() ? 3 : 0; workers <= 3; ++workers) {
    Stage s;
    openStage(&s, workers);
    chooseNext(&s);
    testExpectOk(pnWorld_SetVertices(s.world, s.list, BODIES));
    keepNext(&s);
    chooseNext(&s);
    for (uint32_t i = 0; i < BODIES; ++i) {
      size_t n = numbersOf(&s, i), places[] = {0, n / 2, n - 1};
      for (uint32_t k = 0; n > 0 && k < 3; ++k) {
        float good = s.next[i][places[k]], last = s.next[BODIES - 2][7];
        s.next[i][places[k]] = k == 1 ? -INFINITY : NAN;
        if (i < BODIES - 2) s.next[BODIES - 2][7] = NAN; /* the first in the list is named */
        char words[80];
        snprintf(words, sizeof words, "body 'sheet %u'|coordinate %c of vertex %zu is", i, "xyz"[places[k] % 3],
                 places[k] / 3);
        expectRefused(&s, s.list, BODIES, PN_ERROR_NUMBER, words);
        s.next[BODIES - 2][7] = last;
        s.next[i][places[k]] = good;
      }
    }
    testExpectOk(pnWorld_SetVertices(s.world, s.list, BODIES));
    keepNext(&s);
    expectKept(&s);
    closeStage(&s);
  }
}

/* Entries that are wrong before any number is looked at. */
static void wrongEntriesAreNamed(void **state) {
  (void)state;
  Stage s;
  openStage(&s, 2);
  pnBodyId gone, fixed;
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = s.meshes[1];
  testExpectOk(pnWorld_CreateBody(s.world, &def, &gone));
  testExpectOk(pnWorld_DestroyBody(s.world, gone));
  def.kind = PN_BODY_RIGID;
  def.name = "stone";
  testExpectOk(pnWorld_CreateBody(s.world, &def, &fixed));
  chooseNext(&s);
  const pnBodyVertices wrong[] = {{gone, s.next[6], 10201},
                                  {(pnBodyId){0}, s.next[6], 10201},
                                  {(pnBodyId){1000, 1}, s.next[6], 10201},
                                  {fixed, s.next[1], 4},
                                  s.list[3],
                                  {s.list[6].body, s.next[6], 10200},
                                  {s.list[6].body, s.next[6], 0}};
  const struct {
    pnResult result;
    const char *words;
  } expected[] = {
      {PN_ERROR_ID, "entry 6 of the list|is null or was destroyed"},
      {PN_ERROR_ID, "entry 6 of the list|body id 0 (generation 0)"},
      {PN_ERROR_ID, "entry 6 of the list|body id 1000 (generation 1)"},
      {PN_ERROR_KIND, "body 'stone': only a free body takes vertices; use its transform, weights or joints"},
      {PN_ERROR_ARGUMENT, "body 'sheet 3': it is in the list twice, as entries 3 and 6"},
      {PN_ERROR_COUNT, "body 'sheet 6'|10200 vertices were given, the mesh has 10201"},
      {PN_ERROR_COUNT, "body 'sheet 6'|0 vertices were given, the mesh has 10201"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    pnBodyVertices list[BODIES];
    memcpy(list, s.list, sizeof list);
    list[6] = wrong[i];
    expectRefused(&s, list, BODIES, expected[i].result, expected[i].words);
  }
  /* far out under a transform, which a body has beside its vertices */
  pnMatrix far = pnMatrix_Identity();
  far.m[0][3] = 3e38f;
  testExpectOk(pnBody_SetTransform(s.world, s.list[9].body, &far));
  s.next[9][0] = 2e38f;
  testExpectFailure(pnWorld_SetVertices(s.world, s.list, BODIES), PN_ERROR_NUMBER, "body 'sheet 9'|overflows");
  far = pnMatrix_Identity();
  testExpectOk(pnBody_SetTransform(s.world, s.list[9].body, &far));
  expectKept(&s);
  /* what was refused is no hindrance; nothing to do is done */
  testExpectOk(pnWorld_SetVertices(s.world, s.list, 0));
  testExpectOk(pnWorld_SetVertices(s.world, NULL, 0));
  testExpectOk(pnWorld_SetVertices(s.world, s.list, BODIES));
  keepNext(&s);
  expectKept(&s);
  closeStage(&s);
}

/* The next frame sees what has moved, and nothing is allocated once all have been moved twice. */
static void framesSeeIt(void **state) {
  (void)state;
  testInstallAllocator(UINT64_MAX, false);
  Stage s;
  openStage(&s, 2);
  uint64_t asked = 0;
  for (uint32_t round = 0; round < 6; ++round) {
    for (uint32_t i = 0; i < BODIES; ++i)
      for (size_t k = 0; k < numbersOf(&s, i); ++k)
        s.next[i][k] = pnMesh_GetVertices(s.meshes[i])[k] + (k % 3 == 2 && round % 2 ? 3.0f * (float)i : 0);
    if (round == 2) asked = testAllocationCount();
    testExpectOk(pnWorld_SetVertices(s.world, s.list, BODIES));
    if (round >= 2) assert_int_equal(testAllocationCount(), asked);
    pnFrame frame = pnWorld_Collide(s.world, &(pnFrameDef){.first = true});
    testExpectOk(frame.result);
    assert_int_equal(frame.contactCount, round % 2 ? 0 : 55); /* eleven sheets on each other */
    asked = round >= 2 ? testAllocationCount() : asked;
  }
  closeStage(&s);
  testRestoreAllocator();
}

/* More small bodies than one call makes second arrays for, and more than one worker opens: all that is set is seen, call after call, and bad
 * numbers at the end change nothing; the first of them is named. */
static void playCrowd(uint32_t count, const pnTasks *tasks) {
  enum { CROWD = 700, CORNERS = 12 };
  pnMesh *ball;
  pnWorld *world;
  pnWorldDef worldDef = pnDefaultWorldDef();
  if (tasks) worldDef.tasks = *tasks;
  testExpectOk(pnMakeIcosphere(0, 1, &ball));
  testExpectOk(pnCreateWorld(&worldDef, &world));
  static float vertices[CROWD][3 * CORNERS], kept[CROWD][3 * CORNERS];
  static pnBodyVertices list[CROWD];
  uint32_t seconds[8] = {0};
  for (uint32_t i = 0; i < count; ++i) {
    char name[16];
    snprintf(name, sizeof name, "ball %u", i);
    pnBodyDef def = pnDefaultBodyDef();
    def.mesh = ball;
    def.name = name;
    list[i] = (pnBodyVertices){.vertices = vertices[i], .count = CORNERS};
    testExpectOk(pnWorld_CreateBody(world, &def, &list[i].body));
  }
  for (uint32_t call = 0; call < 8; ++call) {
    bool bad = call % 3 == 2, wrong = call == 4;
    for (uint32_t i = 0; i < count; ++i)
      for (uint32_t k = 0; k < 3 * CORNERS; ++k) vertices[i][k] = (float)(1000 * call + i + k);
    if (bad) vertices[count - 1][7] = vertices[count - 2][9] = NAN;
    list[count - 1].count = list[count - 3].count = wrong ? CORNERS + 1 : CORNERS;
    char words[80];
    snprintf(words, sizeof words, bad ? "body 'ball %u'|coordinate x of vertex 3 is" : "body 'ball %u'|13 vertices",
             count - (bad ? 2 : 3));
    pnResult result = pnWorld_SetVertices(world, list, count);
    if (bad || wrong) testExpectFailure(result, bad ? PN_ERROR_NUMBER : PN_ERROR_COUNT, words);
    else testExpectOk(result);
    if (!bad && !wrong) memcpy(kept, vertices, sizeof kept);
    for (uint32_t i = 0; i < count; ++i) {
      const pnPose *pose = pnBody_GetPose(world, list[i].body);
      float now[3 * CORNERS];
      pnPose_GetVertices(pose, now);
      assert_memory_equal(now, kept[i], sizeof now);
      seconds[call] += pose->own[1] != NULL;
    }
  }
  /* none in the first call, then a part of them, in the end all */
  assert_true(seconds[0] == 0 && seconds[1] > 0 && seconds[1] < count / 2 && seconds[7] == count);
  pnDestroyWorld(world);
  pnDestroyMesh(ball);
}

static void secondArraysComeByAndBy(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  const pnTasks tasks = pnPool_GetTasks(pool);
  playCrowd(300, NULL);
  playCrowd(700, NULL);
  playCrowd(700, &tasks);
  pnDestroyPool(pool);
}

/* From so many numbers on a body has its copies from when it is made (deform_free.c). */
#define LARGE 4096u

/* Without memory for the list or for a copy nobody moves. */
static void noMemoryMovesNobody(void **state) {
  (void)state;
  uint64_t tries = 0, small = 0;
  for (bool failed = true; failed; ++tries) {
    testInstallAllocator(UINT64_MAX, false);
    Stage s;
    openStage(&s, 2);
    chooseNext(&s);
    small = 0;
    for (uint32_t i = 0; i < BODIES; ++i) small += numbersOf(&s, i) < LARGE;
    testSetFailures(&(TestFailures){.at = tries, .andAfter = true});
    pnResult result = pnWorld_SetVertices(s.world, s.list, BODIES);
    failed = testFailureCount() > 0;
    testSetFailures(NULL);
    assert_int_equal(result, failed ? PN_ERROR_MEMORY : PN_OK);
    if (!failed) keepNext(&s);
    expectKept(&s);
    closeStage(&s);
    testRestoreAllocator();
  }
  assert_int_equal(tries, 2 + small); /* the list, a copy for each small body, and none */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(manyAreSet),
                                     cmocka_unit_test(secondArraysComeByAndBy),
                                     cmocka_unit_test(oneBadNumberMovesNobody),
                                     cmocka_unit_test(wrongEntriesAreNamed),
                                     cmocka_unit_test(framesSeeIt),
                                     cmocka_unit_test(noMemoryMovesNobody)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
