/* test_corner.c: big triangles in pieces. Pieces per level as in the paper's Table 1; they cover their triangle;
 * answers are those of brute force whatever is divided, and each pair once; the approximate settings miss or add as
 they say. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pinch/world.h"
#include "tree/corner.h"
#include "tree/update.h"

/* ---------------------------------------------------------------- pieces */

/* How many pieces a tree of `levels` has at each level: those of level n are made from divided ones of level n - 1. */
static void countLevels(pnBig big, uint32_t levels, uint32_t *out) {
  pnPieceList now = {0}, next = {0};
  assert_true(pn_arrayPush(&now, ((pnPiece){.triangle = 0})));
  for (uint32_t n = 0; n < levels; ++n) {
    out[n] = (uint32_t)now.count;
    next.count = 0;
    for (size_t i = 0; i < now.count; ++i) {
      pnPiece parts[4];
      if (big == PN_BIG_CORNERS && n > 0 && !pn_isAtEdge(&now.data[i])) continue;
      pn_divide(&now.data[i], parts);
      for (int k = 0; k < 4; ++k) assert_true(pn_arrayPush(&next, parts[k]));
    }
    pnPieceList swap = now;
    now = next;
    next = swap;
  }
  pn_arrayFree(&now);
  pn_arrayFree(&next);
}

static void levelsAreThoseOfThePaper(void **state) {
  (void)state;
  static const uint32_t corners[7] = {1, 4, 12, 36, 84, 180, 372}, all[7] = {1, 4, 16, 64, 256, 1024, 4096};
  uint32_t found[7];
  countLevels(PN_BIG_CORNERS, 7, found);
  assert_memory_equal(found, corners, sizeof found);
  countLevels(PN_BIG_DIVIDED, 7, found);
  assert_memory_equal(found, all, sizeof found);
  /* what stays in the end: every piece that was not divided on */
  pnPieceList list = {0};
  assert_true(pn_divideTriangle(PN_BIG_CORNERS, 5, 6, &list));
  assert_int_equal(list.count, 1 + (12 - 9) + (36 - 21) + (84 - 45) + (180 - 93) + 372);
  pn_arrayFree(&list);
  assert_true(pn_divideTriangle(PN_BIG_DIVIDED, 5, 4, &list));
  assert_int_equal(list.count, 256);
  pn_arrayFree(&list);
}

/* Every point of the triangle is in a piece: in whole numbers, at the centres of the finest grid. */
static void piecesCoverTheirTriangle(void **state) {
  (void)state;
  for (int big = PN_BIG_DIVIDED; big < PN_BIG_COUNT; ++big) {
    const uint32_t levels = 5, fine = 1u << levels;
    pnPieceList list = {0};
    assert_true(pn_divideTriangle((pnBig)big, 0, levels, &list));
    double area = 0;
    for (size_t i = 0; i < list.count; ++i) area += pow(0.25, list.data[i].level);
    assert_true(area == 1);
    for (uint32_t y = 0; y < fine; ++y)
      for (uint32_t x = 0; x + y < fine; ++x) {
        uint32_t holders = 0;
        for (size_t i = 0; i < list.count; ++i) {
          const pnPiece *p = &list.data[i];
          /* the centre of the cell, times 3, against the piece's sides */
          int32_t step = 3 << (levels - p->level), px = (int32_t)(3 * x + 1), py = (int32_t)(3 * y + 1);
          int32_t i0 = p->i * step, j0 = p->j * step;
          bool up = px > i0 && py > j0 && px + py < i0 + j0 + step;
          bool down = px < i0 + step && py < j0 + step && px + py > i0 + j0 + step;
          holders += p->turned ? down : up;
        }
        assert_int_equal(holders, 1);
      }
    pn_arrayFree(&list);
  }
}

/* ---------------------------------------------------------------- a room and something in it */

typedef struct Scene {
  pnMesh *room, *thing;
  pnPose *roomPose, *thingPose;
  pnPairList *truth, *found;
} Scene;

/* Slanted walls of two triangles each, and a few small triangles. */
static Scene makeScene(uint64_t seed) {
  Scene s = {0};
  TestRandom random = testRandom(seed);
  enum { WALLS = 6, SMALL = 20 };
  float vertices[12 * WALLS + 9 * SMALL];
  uint32_t triangles[6 * WALLS + 3 * SMALL];
  for (uint32_t w = 0; w < WALLS; ++w) {
    float at[3], u[3], v[3];
    for (int k = 0; k < 3; ++k) {
      at[k] = testFloat(&random, -1, 1);
      u[k] = testFloat(&random, -10, 10);
      v[k] = testFloat(&random, -10, 10);
    }
    for (uint32_t c = 0; c < 4; ++c)
      for (uint32_t k = 0; k < 3; ++k)
        vertices[12 * w + 3 * c + k] = at[k] + (c & 1 ? u[k] : -u[k]) + (c & 2 ? v[k] : -v[k]);
    const uint32_t two[6] = {0, 1, 2, 1, 3, 2};
    for (uint32_t i = 0; i < 6; ++i) triangles[6 * w + i] = 4 * w + two[i];
  }
  for (uint32_t i = 0; i < 3 * SMALL; ++i) {
    triangles[6 * WALLS + i] = 4 * WALLS + i;
    for (uint32_t k = 0; k < 3; ++k)
      vertices[12 * WALLS + 3 * i + k] = testFloat(&random, -1.2f, 1.2f) + (k ? 0 : (float)(i / 3) * 0.1f);
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = 4 * WALLS + 3 * SMALL;
  def.triangles = triangles;
  def.triangleCount = 2 * WALLS + SMALL;
  def.name = "room";
  testExpectOk(pnCreateMesh(&def, &s.room));
  testExpectOk(pnMakeIcosphere(2, 1, &s.thing));
  pnPoseDef roomDef = {s.room, NULL, NULL}, thingDef = {s.thing, NULL, NULL};
  testExpectOk(pnCreatePose(&roomDef, &s.roomPose));
  testExpectOk(pnCreatePose(&thingDef, &s.thingPose));
  testExpectOk(pnCreatePairList(&s.truth));
  testExpectOk(pnCreatePairList(&s.found));
  return s;
}

static void freeScene(Scene *s) {
  pnDestroyPairList(s->truth);
  pnDestroyPairList(s->found);
  pnDestroyPose(s->roomPose);
  pnDestroyPose(s->thingPose);
  pnDestroyMesh(s->room);
  pnDestroyMesh(s->thing);
  assert_int_equal(pnGetByteCount(), 0);
}

static pnTree *makeTree(const pnPose *pose, pnForm form, pnBig big, float side) {
  pnTreeDef def = pnDefaultTreeDef();
  pnTreeLab lab = {0};
  def.lab = &lab;
  def.pose = pose;
  lab.form = form;
  def.self = false;
  def.big = big;
  def.bigSide = side;
  lab.leafSize = form % 2 ? 2 : 8;
  pnTree *tree;
  testExpectOk(pnCreateTree(&def, &tree));
  testExpectOk(pnTree_Validate(tree));
  return tree;
}

static void expectSame(const Scene *s) {
  assert_int_equal(pnPairList_GetCount(s->found), pnPairList_GetCount(s->truth));
  if (pnPairList_GetCount(s->truth) > 0)
    assert_memory_equal(pnPairList_GetPairs(s->found), pnPairList_GetPairs(s->truth),
                        pnPairList_GetCount(s->truth) * sizeof(pnPair));
}

/* All questions about one place of the thing. */
static void askAll(Scene *s, pnTree *thing, pnTree *room, pnPool *const *pools) {
  for (uint32_t workers = 1; workers <= 4; ++workers) {
    pnQueryDef query = pnDefaultQueryDef();
    pnQueryLab queryLab = {0};
    query.lab = &queryLab;
    if (workers > 1) query.tasks = pnPool_GetTasks(pools[workers]);
    query.unsorted = workers == 3;
    pnCost cost;
    testExpectOk(pnCollideTrees(thing, room, &query, s->found, &cost));
    expectSame(s);
    assert_true(cost.pairs == pnPairList_GetCount(s->truth));
    query.first = true;
    testExpectOk(pnCollideTrees(thing, room, &query, s->found, NULL));
    assert_int_equal(pnPairList_GetCount(s->found), pnPairList_GetCount(s->truth) > 0);
    /* approximate: none less */
    query.first = query.unsorted = false;
    queryLab.planeDecides = true;
    testExpectOk(pnCollideTrees(thing, room, &query, s->found, NULL));
    const pnPair *more = pnPairList_GetPairs(s->found);
    const size_t moreCount = pnPairList_GetCount(s->found);
    for (size_t i = 0, at = 0; i < pnPairList_GetCount(s->truth); ++i) {
      pnPair p = pnPairList_GetPairs(s->truth)[i];
      while (at < moreCount && (more[at].a != p.a || more[at].b != p.b)) ++at;
      assert_true(at < moreCount);
    }
  }
}

static void answersStayWhatTheyAre(void **state) {
  (void)state;
  pnPool *pools[5] = {NULL};
  for (uint32_t workers = 2; workers <= 4; ++workers) testExpectOk(pnCreatePool(workers, &pools[workers]));
  Scene s = makeScene(4);
  pnTree *things[TEST_FORM_COUNT], *rooms[TEST_FORM_COUNT][PN_BIG_COUNT];
  for (int v = 0; v < TEST_FORM_COUNT; ++v) {
    things[v] = makeTree(s.thingPose, (pnForm)v, PN_BIG_WHOLE, 0);
    for (int big = 0; big < PN_BIG_COUNT; ++big)
      rooms[v][big] = makeTree(s.roomPose, (pnForm)v, (pnBig)big, v == 2 ? 0 : 1);
    assert_true(pnTree_GetByteCount(rooms[v][PN_BIG_CORNERS]) < pnTree_GetByteCount(rooms[v][PN_BIG_DIVIDED]));
  }
  TestRandom random = testRandom(8);
  size_t pairs = 0;
  for (int round = 0; round < 10; ++round) {
    pnMatrix at = testRotation(&random, round < 8 ? 3 : 12);
    testExpectOk(pnPose_SetTransform(s.thingPose, &at));
    testExpectOk(pnCollideBrute(s.thingPose, s.roomPose, NULL, s.truth));
    pairs += pnPairList_GetCount(s.truth);
    for (int v = 0; v < TEST_FORM_COUNT; ++v)
      for (int big = 1; big < PN_BIG_COUNT; ++big)
        askAll(&s, things[v], rooms[(v + round) % TEST_FORM_COUNT][big], pools);
  }
  assert_true(pairs > 100);
  for (int v = 0; v < TEST_FORM_COUNT; ++v) {
    pnDestroyTree(things[v]);
    for (int big = 0; big < PN_BIG_COUNT; ++big) pnDestroyTree(rooms[v][big]);
  }
  for (uint32_t workers = 2; workers <= 4; ++workers) pnDestroyPool(pools[workers]);
  freeScene(&s);
}

/* A thing of few triangles, each of which meets several pieces of a wall: short lists, in which pairs stand more than once. */
static void fewPairsStayWhatTheyAre(void **state) {
  (void)state;
  pnPool *pools[5] = {NULL};
  for (uint32_t workers = 2; workers <= 4; ++workers) testExpectOk(pnCreatePool(workers, &pools[workers]));
  Scene s = makeScene(4);
  pnDestroyPose(s.thingPose);
  pnDestroyMesh(s.thing);
  testExpectOk(pnMakeIcosphere(0, 1.2f, &s.thing));
  pnPoseDef thingDef = {s.thing, NULL, NULL};
  testExpectOk(pnCreatePose(&thingDef, &s.thingPose));
  pnTree *thing = makeTree(s.thingPose, PN_FORM_BOX, PN_BIG_WHOLE, 0), *rooms[PN_BIG_COUNT];
  for (int big = 0; big < PN_BIG_COUNT; ++big) rooms[big] = makeTree(s.roomPose, PN_FORM_BOX, (pnBig)big, 0.5f);
  TestRandom random = testRandom(9);
  uint32_t few = 0;
  for (int round = 0; round < 24; ++round) {
    pnMatrix at = testRotation(&random, 6);
    testExpectOk(pnPose_SetTransform(s.thingPose, &at));
    testExpectOk(pnCollideBrute(s.thingPose, s.roomPose, NULL, s.truth));
    few += pnPairList_GetCount(s.truth) > 1 && pnPairList_GetCount(s.truth) < 24;
    for (int big = 1; big < PN_BIG_COUNT; ++big) askAll(&s, thing, rooms[big], pools);
  }
  assert_true(few > 4);
  pnDestroyTree(thing);
  for (int big = 0; big < PN_BIG_COUNT; ++big) pnDestroyTree(rooms[big]);
  for (uint32_t workers = 2; workers <= 4; ++workers) pnDestroyPool(pools[workers]);
  freeScene(&s);
}

/* Beside a slanted wall, close: pieces and planes leave next to nothing to do. What there is without them says a wall in pieces as large as its
 * triangles, whose planes are not asked; planes of one that is whole would be (collide/face.h). */
static void wallsCostLittle(void **state) {
  (void)state;
  static const float vertices[12] = {-10, -10, -6, 10, -10, 6, -10, 10, -6, 10, 10, 6};
  static const uint32_t triangles[6] = {0, 1, 2, 1, 3, 2};
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = 4;
  def.triangles = triangles;
  def.triangleCount = 2;
  pnMesh *wall, *thing;
  pnPose *wallPose, *thingPose;
  testExpectOk(pnCreateMesh(&def, &wall));
  testExpectOk(pnMakeIcosphere(4, 1, &thing));
  pnPoseDef wallDef = {wall, NULL, NULL}, thingDef = {thing, NULL, NULL};
  testExpectOk(pnCreatePose(&wallDef, &wallPose));
  testExpectOk(pnCreatePose(&thingDef, &thingPose));
  pnMatrix at = pnMatrix_Identity();
  at.m[2][3] = 1.2f; /* the wall's distance from the centre is 1.03 */
  testExpectOk(pnPose_SetTransform(thingPose, &at));
  for (int v = 0; v < TEST_FORM_COUNT; v += PN_FORM_SPHERE) {
    pnTree *tree = makeTree(thingPose, (pnForm)v, PN_BIG_WHOLE, 0);
    uint64_t operations[PN_BIG_COUNT];
    for (int big = 0; big < PN_BIG_COUNT; ++big) {
      pnTree *room = makeTree(wallPose, (pnForm)v, big ? (pnBig)big : PN_BIG_DIVIDED, big ? 0.5f : 1000);
      pnCost cost;
      pnQueryDef query = pnDefaultQueryDef();
      query.lab = &(pnQueryLab){.noPlanes = big == 0};
      testExpectOk(pnCollideTrees(tree, room, &query, NULL, &cost));
      assert_int_equal(cost.pairs, 0);
      assert_true(big == 0 || cost.planeTests > 0);
      operations[big] = 10 * cost.volumeTests + 30 * cost.planeTests + 96 * cost.exactTests;
      pnDestroyTree(room);
    }
    assert_true(operations[PN_BIG_DIVIDED] * 5 < operations[PN_BIG_WHOLE]);
    assert_true(operations[PN_BIG_CORNERS] * 5 < operations[PN_BIG_WHOLE]);
    pnDestroyTree(tree);
  }
  pnDestroyPose(wallPose);
  pnDestroyPose(thingPose);
  pnDestroyMesh(wall);
  pnDestroyMesh(thing);
}

/* ---------------------------------------------------------------- representative triangles */

static void representativesAreSome(void **state) {
  (void)state;
  Scene s = makeScene(6);
  pnTreeDef def = pnDefaultTreeDef();
  pnTreeLab lab = {0};
  def.lab = &lab;
  def.pose = s.thingPose;
  def.self = false;
  lab.representative = true;
  pnTree *some, *room = makeTree(s.roomPose, PN_FORM_BOX, PN_BIG_WHOLE, 0);
  testExpectOk(pnCreateTree(&def, &some));
  testExpectOk(pnTree_Validate(some));
  uint32_t kept = some->shape->below[0];
  assert_true(kept > 320 / 2 && kept < 320 * 4 / 5);
  testExpectOk(pnCollideBrute(s.thingPose, s.roomPose, NULL, s.truth));
  testExpectOk(pnCollideTrees(some, room, NULL, s.found, NULL));
  size_t n = pnPairList_GetCount(s.found), all = pnPairList_GetCount(s.truth);
  assert_true(n > 0 && n < all);
  pnDestroyTree(some);
  pnDestroyTree(room);
  freeScene(&s);
}

/* ---------------------------------------------------------------- wrong input, memory */

static void wrongSettingsAreNamed(void **state) {
  (void)state;
  Scene s = makeScene(6);
  pnTreeDef def = pnDefaultTreeDef();
  pnTree *tree;
  def.pose = s.roomPose;
  def.big = PN_BIG_CORNERS;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_ARGUMENT, "room|self");
  def.self = false;
  def.bigSide = NAN;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_ARGUMENT, "bigSide");
  def.bigSide = 0;
  def.update = PN_UPDATE_RIGID;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_KIND, "does not fit");
  def.update = PN_UPDATE_DEFAULT;
  def.big = (pnBig)9;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_ARGUMENT, "big 9");
  freeScene(&s);
}

static pnResult treeOnce(void *context) {
  (void)context;
  pnMesh *mesh = NULL;
  pnPose *pose = NULL;
  pnTree *tree = NULL;
  pnResult result = pnMakeBox((pnVec3){1, 1, 1}, 1, &mesh);
  pnPoseDef poseDef = {mesh, NULL, NULL};
  if (result == PN_OK) result = pnCreatePose(&poseDef, &pose);
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = pose;
  def.self = false;
  def.big = PN_BIG_CORNERS;
  def.bigSide = 0.5f;
  if (result == PN_OK) result = pnCreateTree(&def, &tree);
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  return result;
}

static void everyAllocationMayFail(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(treeOnce, NULL, false, true) > 10);
  assert_true(testEveryAllocationFailure(treeOnce, NULL, true, false) > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(levelsAreThoseOfThePaper), cmocka_unit_test(piecesCoverTheirTriangle),
      cmocka_unit_test(answersStayWhatTheyAre),   cmocka_unit_test(fewPairsStayWhatTheyAre),
      cmocka_unit_test(wallsCostLittle),          cmocka_unit_test(representativesAreSome),
      cmocka_unit_test(wrongSettingsAreNamed),    cmocka_unit_test(everyAllocationMayFail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
