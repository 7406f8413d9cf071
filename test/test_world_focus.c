/* test_world_focus.c: large bodies with something fine in them get a second look (world/focus.h): answers are those of brute force in every
 * frame, far fewer pairs of triangles are tested, and where that is not so the look is given up. A level that stands, bends and is
 * moved, reaches beyond what 32 bits hold, is built anew; a ball that walks, grows and shrinks; several halls; one thread and three. */
#include "support.h"

#include "collide/traverse.h"
#include "pinch/pinch.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A ground of two kilometres with halls of tiles of ten centimetres, 150 metres or more apart, and one triangle that crosses the first. */
enum { CELLS = 12, TILES = 48, HALLS = 6, BALLS = 6, FRAMES = 14 };

typedef struct Level {
  pnWorld *world;
  pnMesh *mesh, *ballMesh;
  pnBodyId level, balls[BALLS];
  uint32_t ballCount, halls;
  float *at, *ballAt[BALLS];
  float centre[BALLS][3], size;
  float above;  /* the floor, the first ball */
  float larger; /* than the first so many times, the others */
  size_t pairs;
} Level;

static float hallAt(uint32_t hall, int axis) {
  return axis == 0 ? 150.0f * (float)hall : axis == 1 ? 90.0f * (float)(hall % 3) : 0;
}

/* A grid of so many cells along each side, with its corner here; returns the number of its vertices. */
static uint32_t addGrid(float *at, uint32_t *triangles, uint32_t first, uint32_t cells, const float corner[3],
                        float side) {
  uint32_t row = cells + 1;
  for (uint32_t i = 0; i < row * row; ++i) {
    float *v = at + 3 * (size_t)(first + i);
    v[0] = corner[0] + side * (float)(i % row) / (float)cells;
    v[1] = corner[1] + side * (float)(i / row) / (float)cells;
    v[2] = corner[2];
  }
  for (uint32_t i = 0; i < cells * cells; ++i, triangles += 6) {
    uint32_t a = first + i / cells * row + i % cells;
    const uint32_t two[6] = {a, a + 1, a + row + 1, a, a + row + 1, a + row};
    memcpy(triangles, two, sizeof two);
  }
  return row * row;
}

static void makeLevel(Level *s) {
  uint32_t vertices = (CELLS + 1) * (CELLS + 1) + s->halls * (TILES + 1) * (TILES + 1) + 3;
  uint32_t triangles = 2 * CELLS * CELLS + s->halls * 2 * TILES * TILES + 1, used;
  uint32_t *index = malloc(3 * sizeof(uint32_t) * triangles);
  s->at = malloc(3 * sizeof(float) * vertices);
  assert_true(index && s->at);
  used = addGrid(s->at, index, 0, CELLS, (float[3]){-1000, -1000, -3}, 2000);
  uint32_t *next = index + 6 * CELLS * CELLS;
  for (uint32_t hall = 0; hall < s->halls; ++hall, next += 6 * TILES * TILES) {
    float corner[3] = {hallAt(hall, 0) - 2.4f, hallAt(hall, 1) - 2.4f, 0};
    used += addGrid(s->at, next, used, TILES, corner, 4.8f);
  }
  const float across[9] = {-3, -1, 0.4f, -3, 1, 0.5f, 900, 0, 0.3f};
  memcpy(s->at + 3 * (size_t)used, across, sizeof across);
  for (uint32_t k = 0; k < 3; ++k) next[k] = used + k;
  s->mesh = testMakeMesh(s->at, vertices, index, triangles);
  free(index);
}

static pnBodyId addTo(pnWorld *world, const pnMesh *mesh, pnBodyKind kind) {
  pnBodyId id;
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = mesh;
  def.kind = kind;
  testExpectOk(pnWorld_CreateBody(world, &def, &id));
  return id;
}

/* A ball more, with a tree of this form. */
static void addBall(Level *s, pnForm form) {
  uint32_t i = s->ballCount++;
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = s->ballMesh;
  def.tree.lab = &(pnTreeLab){.form = form};
  testExpectOk(pnWorld_CreateBody(s->world, &def, &s->balls[i]));
  s->ballAt[i] = malloc(3 * sizeof(float) * pnMesh_GetVertexCount(s->ballMesh));
  assert_non_null(s->ballAt[i]);
}

static void openLevel(Level *s, pnBodyKind kind, uint32_t halls, uint32_t balls, const pnTasks *tasks, bool always) {
  *s = (Level){.halls = halls, .size = 0.5f, .larger = 1};
  pnWorldDef def = pnDefaultWorldDef();
  if (tasks) def.tasks = *tasks;
  def.lab = &(pnWorldLab){.closeLook = always};
  testExpectOk(pnCreateWorld(&def, &s->world));
  makeLevel(s);
  testExpectOk(pnMakeIcosphere(4, 1, &s->ballMesh));
  s->level = addTo(s->world, s->mesh, kind);
  for (uint32_t i = 0; i < balls; ++i) addBall(s, PN_FORM_BOX);
}

static void closeLevel(Level *s) {
  pnDestroyWorld(s->world);
  pnDestroyMesh(s->mesh);
  pnDestroyMesh(s->ballMesh);
  free(s->at);
  for (uint32_t i = 0; i < s->ballCount; ++i) free(s->ballAt[i]);
}

/* Ball i walks in a hall; every third frame it goes on in the next one where `roams`. */
static void moveBalls(Level *s, int frame, bool roams) {
  const float *rest = pnMesh_GetVertices(s->ballMesh);
  for (uint32_t i = 0; i < s->ballCount; ++i) {
    uint32_t hall = (i + (roams ? (uint32_t)frame / 3 : 0)) % s->halls, n = pnMesh_GetVertexCount(s->ballMesh);
    float *c = s->centre[i], size = s->size * (i == 0 ? 1 : s->larger);
    c[0] = hallAt(hall, 0) - 1 + 0.05f * (float)frame;
    c[1] = hallAt(hall, 1) + 0.02f * (float)frame;
    c[2] = 0.9f * s->size + (i == 0 ? s->above : 0);
    for (uint32_t k = 0; k < 3 * n; ++k) s->ballAt[i][k] = size * rest[k] + c[k % 3];
    testExpectOk(pnBody_SetVertices(s->world, s->balls[i], s->ballAt[i], n));
  }
}

/* ---------------------------------------------------------------- the truth */

static size_t truthOf(const Level *s, uint32_t ball, pnPair *out, size_t most) {
  static TestBoxed of[20 * 4 * 4 * 4 * 4];
  TestBoxed whole = {.lo = {INFINITY, INFINITY, INFINITY}, .hi = {-INFINITY, -INFINITY, -INFINITY}};
  uint32_t n = pnMesh_GetTriangleCount(s->ballMesh);
  size_t count = 0;
  assert_int_equal(n, sizeof of / sizeof of[0]);
  for (uint32_t j = 0; j < n; ++j) {
    of[j] = testBoxedAt(s->ballMesh, s->ballAt[ball], j);
    for (int d = 0; d < 3; ++d) {
      whole.lo[d] = fminf(whole.lo[d], of[j].lo[d]);
      whole.hi[d] = fmaxf(whole.hi[d], of[j].hi[d]);
    }
  }
  for (uint32_t i = 0; i < pnMesh_GetTriangleCount(s->mesh); ++i) {
    TestBoxed p = testBoxedAt(s->mesh, s->at, i);
    bool beside = testAreNear(&p, &whole);
    for (uint32_t j = 0; beside && j < n; ++j) {
      if (!testAreNear(&p, &of[j]) || !pnTrianglesMeet(&p.triangle, &of[j].triangle)) continue;
      assert_true(count < most);
      out[count++] = (pnPair){i, j};
    }
  }
  return count;
}

/* The level was made first: its triangles come first in every pair. */
static void compareAll(Level *s, const pnFrame *frame) {
  static pnPair truth[100000];
  const pnContact *contacts = pnWorld_GetContacts(s->world);
  for (uint32_t ball = 0; ball < s->ballCount; ++ball) {
    size_t count = truthOf(s, ball, truth, sizeof truth / sizeof truth[0]), found = 0;
    const pnPair *pairs = NULL;
    for (uint32_t i = 0; i < frame->contactCount; ++i) {
      if (contacts[i].a.index1 != s->level.index1 || contacts[i].b.index1 != s->balls[ball].index1) continue;
      pairs = pnWorld_GetPairs(s->world) + contacts[i].firstPair;
      found = contacts[i].pairCount;
    }
    assert_int_equal(found, count);
    if (count > 0) assert_memory_equal(pairs, truth, count * sizeof(pnPair));
    s->pairs += count;
  }
}

/* Jobs of the last frame that looked closer. */
static uint32_t countLooks(const Level *s) {
  uint32_t looks = 0;
  for (size_t j = 0; j < s->world->jobs.count; ++j) {
    const pnJob *job = &s->world->jobs.data[j];
    looks += job->a->isFocused || (job->b && job->b->isFocused);
  }
  return looks;
}

/* One frame, which is true; what it has tested. */
static uint64_t play(Level *s, int frame, bool roams) {
  moveBalls(s, frame, roams);
  pnFrame f = pnWorld_Collide(s->world, NULL);
  testExpectOk(f.result);
  compareAll(s, &f);
  return f.cost.exactTests;
}

/* ---------------------------------------------------------------- tests */

static void bend(Level *s, int frame) {
  for (uint32_t i = (CELLS + 1) * (CELLS + 1); i < pnMesh_GetVertexCount(s->mesh) - 3; ++i) {
    float *v = s->at + 3 * (size_t)i;
    v[2] = 0.05f * sinf(3 * v[0] + 0.2f * (float)frame) * cosf(2 * v[1]);
  }
  testExpectOk(pnBody_SetVertices(s->world, s->level, s->at, pnMesh_GetVertexCount(s->mesh)));
}

static void runLevel(pnBodyKind kind, const pnTasks *tasks) {
  Level s;
  openLevel(&s, kind, 1, 1, tasks, false);
  uint64_t first = 0;
  for (int frame = 0; frame < FRAMES; ++frame) {
    if (kind == PN_BODY_FREE) bend(&s, frame);
    uint64_t tested = play(&s, frame, false);
    first = frame == 0 ? tested : first;
    assert_int_equal(countLooks(&s), frame > 0); /* the first frame asks for it */
    assert_true(frame == 0 || 3 * tested < first);
  }
  assert_true(s.pairs > 100 * FRAMES);
  closeLevel(&s);
}

static void levelThatStands(void **state) {
  (void)state;
  runLevel(PN_BODY_STATIC, NULL);
}

static void levelThatBends(void **state) {
  (void)state;
  runLevel(PN_BODY_FREE, NULL);
}

static void levelOfThreeThreads(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  runLevel(PN_BODY_FREE, &tasks);
  pnDestroyPool(pool);
}

/* A rigid one is carried, a little in every frame. */
static void levelThatIsMoved(void **state) {
  (void)state;
  Level s;
  openLevel(&s, PN_BODY_RIGID, 1, 1, NULL, false);
  pnMatrix move = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
  for (int frame = 0; frame < FRAMES; ++frame) {
    float by = frame % 5 == 4 ? 0.25f : -0.0625f; /* sums are exact: what the truth has is what the pose computes */
    for (uint32_t i = 0; i < pnMesh_GetVertexCount(s.mesh); ++i) {
      const float *rest = pnMesh_GetVertices(s.mesh) + 3 * (size_t)i;
      s.at[3 * (size_t)i] = rest[0] + (move.m[0][3] + by);
    }
    move.m[0][3] += by;
    testExpectOk(pnBody_SetTransform(s.world, s.level, &move));
    play(&s, frame, false);
    assert_int_equal(countLooks(&s), frame > 0);
  }
  assert_true(s.pairs > 100 * FRAMES);
  closeLevel(&s);
}

/* The ball becomes so large that its own cells are larger than those of the look that was made for it, then larger than that sees, then
 * smaller than it was. Once with looks where they pay, once with all that are possible. */
static void ballThatGrows(void **state) {
  (void)state;
  const float sizes[] = {0.5f, 0.5f, 0.5f, 50, 50, 200, 200, 4, 4, 0.05f, 0.05f, 0.05f};
  for (int always = 0; always < 2; ++always) {
    Level s;
    openLevel(&s, PN_BODY_STATIC, 1, 1, NULL, always);
    for (int frame = 0; frame < 12; ++frame) {
      s.size = sizes[frame];
      play(&s, frame, false);
      if (frame == 2 || frame == 11 || always) assert_int_equal(countLooks(&s), 1);
    }
    assert_true(s.pairs > 1000);
    closeLevel(&s);
  }
}

/* A corner is as far away as numbers go: its triangle still crosses the ball, and in fine cells it would be beyond 32 bits. */
static void levelWithoutEnd(void **state) {
  (void)state;
  const float ends[] = {1e5f, 1e7f, 1e9f, 1e13f, 1e25f, 3e38f};
  for (uint32_t i = 0; i < 2 * sizeof ends / sizeof ends[0]; ++i) {
    Level s;
    openLevel(&s, PN_BODY_FREE, 1, 1, NULL, false);
    float *end = s.at + 3 * (size_t)(pnMesh_GetVertexCount(s.mesh) - 1), side = i % 2 ? -1.0f : 1.0f;
    end[0] = side * ends[i / 2];
    end[-3] = end[-6] = -3 * side;
    testExpectOk(pnBody_SetVertices(s.world, s.level, s.at, pnMesh_GetVertexCount(s.mesh)));
    for (int frame = 0; frame < 2; ++frame) play(&s, frame, false);
    assert_int_equal(countLooks(&s), 1);
    assert_true(s.pairs > 200);
    closeLevel(&s);
  }
}

/* The triangle that crosses the hall comes from far below and goes far up: along all three axes its volume spans every cell, and so does that of
 * whatever has it. A second ball, so much larger that its own cells are those of the first one's look, has the same one. Lanes of it that have
 * no child are none that it meets. */
static void triangleFromEndToEnd(void **state) {
  (void)state;
  for (int turn = 0; turn < 4; ++turn) {
    Level s;
    openLevel(&s, PN_BODY_FREE, 1, 2, NULL, true);
    s.larger = 32;
    float *end = s.at + 3 * (size_t)(pnMesh_GetVertexCount(s.mesh) - 1);
    for (int d = 0; d < 3; ++d) {
      float side = d < 2 && turn >> d & 1 ? -900.0f : 900.0f;
      end[d] = side;
      end[d - 3] = -side;
      end[d - 6] = -side + (d == 0 ? 5.0f : 0);
    }
    testExpectOk(pnBody_SetVertices(s.world, s.level, s.at, pnMesh_GetVertexCount(s.mesh)));
    for (int frame = 0; frame < 3; ++frame) play(&s, frame, false);
    /* so its job leaves lanes out as those do whose grids differ: what came of them would be pairs that are found twice, or nodes that are none */
    const pnSteps *steps[2] = {NULL, NULL};
    for (size_t j = 0; j < s.world->jobs.count; ++j) {
      const pnJob *job = &s.world->jobs.data[j];
      pnTraversal t;
      if (!job->a->isFocused) continue; /* of the two balls */
      pn_beginTraversal(job->a, job->b, PN_OPEN_DEFAULT, &t);
      steps[job->a->grid.exponent == job->b->grid.exponent] = t.steps;
    }
    assert_true(steps[0] && steps[0] == steps[1]);
    assert_true(s.pairs > 200);
    closeLevel(&s);
  }
}

/* More places than are kept, and balls that go from one to the next. */
static void manyHalls(void **state) {
  (void)state;
  Level s;
  openLevel(&s, PN_BODY_STATIC, HALLS, BALLS, NULL, false);
  const pnTree *asked[BALLS] = {NULL};
  for (int frame = 0; frame < FRAMES; ++frame) {
    s.above = frame < 6 ? 50 : 0; /* it comes when all places are taken, and is asked about first */
    play(&s, frame, frame >= FRAMES / 2 + 2);
    uint32_t looks = countLooks(&s);
    assert_true(looks < BALLS);
    if (frame > 2) assert_true(looks >= 3);
    bool settled = frame == 7 || frame == 8;
    if (settled) assert_int_equal(looks, BALLS - 1); /* four of them: two halls are near each other */
    for (size_t i = 0; i < s.world->jobs.count; ++i) {
      if (settled) assert_ptr_equal(s.world->jobs.data[i].a, asked[i]);
      asked[i] = s.world->jobs.data[i].a;
    }
  }
  closeLevel(&s);
}

/* Another tree over the level, another level in its place. */
static void levelBuiltAnew(void **state) {
  (void)state;
  Level s;
  openLevel(&s, PN_BODY_FREE, 1, 1, NULL, false);
  for (int frame = 0; frame < 12; ++frame) {
    if (frame == 4) testExpectOk(pnTree_Rebuild(pnBody_GetTree(s.world, s.level)));
    if (frame == 8) {
      testExpectOk(pnWorld_DestroyBody(s.world, s.level));
      s.level = addTo(s.world, s.mesh, PN_BODY_STATIC);
    }
    play(&s, frame, false);
    if (frame % 4 == 3) assert_int_equal(countLooks(&s), 1);
  }
  closeLevel(&s);
}

/* Where it is large triangles that are tested in vain, smaller cells do not help: one is made, and given up. */
static void lookThatDoesNotHelp(void **state) {
  (void)state;
  Level s;
  openLevel(&s, PN_BODY_STATIC, 1, 1, NULL, false);
  enum { LONG = 200 };
  static float at[9 * LONG + 9];
  static uint32_t index[3 * LONG + 3];
  for (uint32_t i = 0; i < LONG; ++i) {
    float y = -2 + 4 * (float)i / LONG; /* long and thin, aslant through the ball */
    const float corner[9] = {-900, y - 700, -900, -900, y - 699, -900, 900, y + 700, 900};
    memcpy(at + 9 * (size_t)i, corner, sizeof corner);
  }
  for (uint32_t i = 0; i < 3 * LONG; ++i) index[i] = i;
  pnMesh *mesh = testMakeMesh(at, 3 * LONG, index, LONG);
  addTo(s.world, mesh, PN_BODY_STATIC);
  testExpectOk(pnWorld_DestroyBody(s.world, s.level));
  uint32_t looks = 0;
  for (int frame = 0; frame < FRAMES; ++frame) {
    moveBalls(&s, 0, false);
    testExpectOk(pnWorld_Collide(s.world, NULL).result);
    looks += countLooks(&s);
    assert_true(frame == 1 || countLooks(&s) == 0);
  }
  assert_int_equal(looks, 1);
  closeLevel(&s);
  pnDestroyMesh(mesh);
}

/* Nobody looks closer for a body that has volumes of another kind. */
static void otherVolumes(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 3; ++i) {
    Level s;
    openLevel(&s, PN_BODY_STATIC, 1, 0, NULL, false);
    addBall(&s, i == 0 ? PN_FORM_DOP14 : i == 1 ? PN_FORM_SPHERE : PN_FORM_BOX);
    for (int frame = 0; frame < 3; ++frame) {
      play(&s, frame, false);
      assert_int_equal(countLooks(&s), i == 2 && frame > 0);
    }
    closeLevel(&s);
  }
}

/* Where much is tested because much meets there is nothing to be gained: tiles as small as those of the ball, in one plane with many. */
static void lookThatIsNotNeeded(void **state) {
  (void)state;
  Level s;
  openLevel(&s, PN_BODY_FREE, 1, 1, NULL, false);
  uint32_t n = pnMesh_GetVertexCount(s.ballMesh);
  for (int frame = 0; frame < 3; ++frame) {
    moveBalls(&s, frame, false);
    for (uint32_t i = 0; i < n; ++i) s.ballAt[0][3 * (size_t)i + 2] = 0; /* flat on the floor */
    testExpectOk(pnBody_SetVertices(s.world, s.balls[0], s.ballAt[0], n));
    pnFrame f = pnWorld_Collide(s.world, NULL);
    testExpectOk(f.result);
    compareAll(&s, &f);
    assert_true(f.cost.exactTests > 8192);
    assert_int_equal(countLooks(&s), 0);
  }
  closeLevel(&s);
}

/* A world in which a small ball touches a large one, with a look wherever one is possible. */
static pnResult playWithLooks(void *context) {
  uint32_t *looks = context;
  pnMesh *meshes[2] = {NULL, NULL};
  pnBodyId ids[2];
  Level s = {0};
  pnWorldDef def = pnDefaultWorldDef();
  def.lab = &(pnWorldLab){.closeLook = true};
  pnResult result = pnCreateWorld(&def, &s.world);
  for (int i = 0; result == PN_OK && i < 2; ++i) {
    pnBodyDef body = pnDefaultBodyDef();
    result = pnMakeIcosphere(2, i ? 1 : 100, &meshes[i]);
    body.mesh = meshes[i];
    if (result == PN_OK) result = pnWorld_CreateBody(s.world, &body, &ids[i]);
  }
  for (int frame = 0; result == PN_OK && frame < 3; ++frame) {
    result = pnBody_SetTransform(s.world, ids[1], &(pnMatrix){{{1, 0, 0, 100}, {0, 1}, {0, 0, 1}}});
    if (result != PN_OK) continue;
    pnFrame f = pnWorld_Collide(s.world, NULL);
    result = f.result;
    if (result != PN_OK) continue;
    *looks = countLooks(&s);
    s.pairs = f.pairCount;
    assert_true(s.pairs > 0);
  }
  pnDestroyWorld(s.world);
  for (int i = 0; i < 2; ++i) pnDestroyMesh(meshes[i]);
  return result;
}

/* Without memory for it there is no look, and the answer is there all the same. */
static void everyAllocationFails(void **state) {
  (void)state;
  uint32_t looks = 0;
  for (int andAfter = 0; andAfter < 2; ++andAfter)
    assert_true(testEveryAllocationFailure(playWithLooks, &looks, andAfter, true) > 20);
  assert_int_equal(looks, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(levelThatStands),      cmocka_unit_test(levelThatBends), cmocka_unit_test(levelOfThreeThreads),
      cmocka_unit_test(levelThatIsMoved),     cmocka_unit_test(ballThatGrows),  cmocka_unit_test(levelWithoutEnd),
      cmocka_unit_test(triangleFromEndToEnd), cmocka_unit_test(manyHalls),      cmocka_unit_test(levelBuiltAnew),
      cmocka_unit_test(lookThatDoesNotHelp),  cmocka_unit_test(otherVolumes),   cmocka_unit_test(lookThatIsNotNeeded),
      cmocka_unit_test(everyAllocationFails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
