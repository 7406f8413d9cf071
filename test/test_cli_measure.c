/* test_cli_measure.c: which boxes are near one another, and the closest pairs of many bodies: the answers are those of going through all pairs,
 * and all pairs are not gone through. Work is counted, not timed. */
#include "support.h"

#include "../cli/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static TestRandom dice;

/* ---------------------------------------------------------------- boxes */

/* Whole numbers: gaps and their squares are exact. Some touch, some are points, some are empty. */
static void makeBoxes(pnNearBox *boxes, uint32_t count, uint32_t room, uint32_t size) {
  for (uint32_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) {
      boxes[i].lo[k] = testBelow(&dice, room);
      boxes[i].hi[k] = boxes[i].lo[k] + testBelow(&dice, size + 1);
    }
    if (i % 11 == 5) boxes[i].hi[i % 3] = boxes[i].lo[i % 3] - 1;
  }
}

static bool isNear(const pnNearBox *a, const pnNearBox *b, double reach) {
  double square = 0;
  for (int k = 0; k < 3; ++k) {
    if (a->lo[k] > a->hi[k] || b->lo[k] > b->hi[k]) return false;
    double gap = a->lo[k] > b->hi[k] ? a->lo[k] - b->hi[k] : b->lo[k] > a->hi[k] ? b->lo[k] - a->hi[k] : 0;
    square += gap * gap;
  }
  return square <= reach * reach;
}

static void expectNear(const pnNearBox *boxes, uint32_t count, double reach, const pnChoice *choice) {
  pnNearPairs near = {0};
  size_t at = 0;
  testExpectOk(pn_findNearBoxes(boxes, count, reach, choice, SIZE_MAX, &near));
  for (uint32_t a = 0; a < count; ++a) {
    for (uint32_t b = a + 1; b < count; ++b) {
      if (!isNear(&boxes[a], &boxes[b], reach) || (choice && !pn_choiceAllows(choice, a, b))) continue;
      assert_true(at < near.count && near.items[at].a == a && near.items[at].b == b);
      ++at;
    }
  }
  assert_int_equal(at, near.count);
  // One too many, and just enough.
  if (at > 0) testExpectFailure(pn_findNearBoxes(boxes, count, reach, choice, at - 1, &near), PN_ERROR_COUNT, "close");
  testExpectOk(pn_findNearBoxes(boxes, count, reach, choice, at, &near));
  assert_int_equal(near.count, at);
  pn_freeNearBoxes(&near);
}

static void boxesAsOneByOne(void **state) {
  (void)state;
  static const char *const names[] = {"a", "b", "c", "d"};
  static const double reaches[] = {0, 1, 3, 5, 12, 1000};
  enum { MOST = 60 };
  const char *bodies[MOST];
  pnNearBox boxes[MOST];
  for (uint32_t i = 0; i < MOST; ++i) bodies[i] = names[i % 4];
  for (int round = 0; round < 200; ++round) {
    uint32_t count = testBelow(&dice, MOST + 1);
    makeBoxes(boxes, count, 1 + testBelow(&dice, 40), testBelow(&dice, 8));
    pnWords only = {.items = {"a,b"}, .count = 1}, ignored = {.count = 0};
    pnChoice choice = {0};
    if (count >= 4) testExpectOk(pn_makeChoice(&only, &ignored, bodies, count, &choice));
    for (int i = 0; i < 6; ++i) expectNear(boxes, count, reaches[i], i % 2 && count >= 4 ? &choice : NULL);
    pn_freeChoice(&choice);
  }
}

/* A wall of 20 000 boxes, on whichever axis it is thin, and a row of them: each is held against a few hundred others at most. */
static void manyBoxes(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  pnNearBox *boxes = malloc(COUNT * sizeof(pnNearBox));
  pnNearPairs near = {0};
  for (int thin = 0; thin < 3; ++thin) {
    for (uint32_t i = 0; i < COUNT; ++i) {
      double at[3] = {i % 200, i / 200, 0};
      for (int k = 0; k < 3; ++k) {
        boxes[i].lo[(k + thin + 1) % 3] = at[k];
        boxes[i].hi[(k + thin + 1) % 3] = at[k] + 0.5;
      }
    }
    testExpectOk(pn_findNearBoxes(boxes, COUNT, 0.5, NULL, SIZE_MAX, &near));
    assert_int_equal(near.count, 199 * 100 + 200 * 99);
    assert_true(near.steps < 400ull * COUNT);
  }
  pn_freeNearBoxes(&near);
  free(boxes);
}

/* ---------------------------------------------------------------- bodies */

enum { BODIES = 70 };

typedef struct Scene {
  pnMesh *meshes[BODIES];
  pnBodyId ids[BODIES];
  pnNearBox boxes[BODIES];
  const char *names[BODIES];
  pnWorld *world;
} Scene;

/* Tetrahedra of several sizes at random, some of them in others; every tenth body has no triangles. */
static void makeScene(Scene *s, float room) {
  static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  pnWorldDef worldDef = pnDefaultWorldDef();
  testExpectOk(pnCreateWorld(&worldDef, &s->world));
  for (uint32_t i = 0; i < BODIES; ++i) {
    float v[12], size = testFloat(&dice, 0.1f, 2);
    for (int k = 0; k < 3; ++k) v[k] = testFloat(&dice, 0, room);
    for (int k = 3; k < 12; ++k) v[k] = v[k % 3] + (k / 3 - 1 == k % 3 ? size : 0);
    bool empty = i % 10 == 9;
    s->meshes[i] = testMakeMesh(v, 4, faces, empty ? 0 : 4);
    pnBodyDef def = pnDefaultBodyDef();
    def.kind = PN_BODY_STATIC;
    def.mesh = s->meshes[i];
    testExpectOk(pnWorld_CreateBody(s->world, &def, &s->ids[i]));
    pnMeshInfo info;
    testExpectOk(pnMesh_Validate(s->meshes[i], &info));
    s->boxes[i] = pn_nearBox(s->meshes[i], info.box);
    s->names[i] = i % 2 ? "odd" : "even";
  }
}

static void freeScene(Scene *s) {
  pnDestroyWorld(s->world);
  for (uint32_t i = 0; i < BODIES; ++i) pnDestroyMesh(s->meshes[i]);
}

/* However few are wanted: they are the first of all, and it is known whether there are more. */
static void closestAreTheFirstOfAll(void **state) {
  (void)state;
  static const float rooms[] = {0.5f, 5, 40, 4000};
  static const uint32_t wanted[] = {0, 1, 2, 7, 60, 300, 961, 962, 1952, 1953, 1954, 100000};
  for (uint32_t round = 0; round < 8; ++round) {
    Scene s;
    makeScene(&s, rooms[round % 4]);
    pnWords only = {.items = {"odd,even"}, .count = round / 4}, ignored = {.count = 0};
    pnChoice choice;
    testExpectOk(pn_makeChoice(&only, &ignored, s.names, BODIES, &choice));
    pnMeasureDef def = {s.world, s.ids, s.boxes, BODIES, &choice, UINT32_MAX};
    pnBodyDistances all = {0};
    testExpectOk(pn_measureBodies(&def, &all));
    // 63 bodies with triangles, 28 of them odd ones.
    assert_int_equal(all.count, only.count ? 28 * 35 : 63 * 62 / 2);
    assert_false(all.limited);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
      pnBodyDistances some = {0};
      def.most = wanted[i];
      testExpectOk(pn_measureBodies(&def, &some));
      assert_int_equal(some.count, wanted[i] < all.count ? wanted[i] : all.count);
      assert_int_equal(some.limited, wanted[i] < all.count);
      for (uint32_t k = 0; k < some.count; ++k) {
        const pnBodyDistance *a = &some.items[k], *b = &all.items[k];
        assert_true(a->a == b->a && a->b == b->b && a->found.distance == b->found.distance);
        assert_true(a->found.triangleA == b->found.triangleA && a->found.triangleB == b->found.triangleB);
      }
      pn_freeDistances(&some);
    }
    pn_freeDistances(&all);
    pn_freeChoice(&choice);
    freeScene(&s);
  }
}

/* Needles of 2^30, one on either side of a gap of 2^28, a quarter of the mean size and the first reach. The tip of the first stands 2^-24
 * farther back, which is lost when it is measured as its other end and all of the needle: that pair is as close as the others, and the
 * first by its number, though its boxes are farther apart than the reach. */
static void closestWithBoxesBeyondReach(void **state) {
  (void)state;
  enum { PAIRS = 3 };
  static const uint32_t face[3] = {0, 1, 1};
  Scene s = {0};
  pnWorldDef worldDef = pnDefaultWorldDef();
  testExpectOk(pnCreateWorld(&worldDef, &s.world));
  for (uint32_t i = 0; i < 2 * PAIRS; ++i) {
    float row = 0x1p40f * (float)(i / 2), tip = i == 0 ? -0x1p-24f : i % 2 ? 0x1p28f : 0;
    float v[6] = {i % 2 ? 0x1p28f + 0x1p30f : -0x1p30f, row, 0, tip, row, 0};
    s.meshes[i] = testMakeMesh(v, 2, face, 1);
    pnBodyDef def = pnDefaultBodyDef();
    def.kind = PN_BODY_STATIC;
    def.mesh = s.meshes[i];
    testExpectOk(pnWorld_CreateBody(s.world, &def, &s.ids[i]));
    pnMeshInfo info;
    testExpectOk(pnMesh_Validate(s.meshes[i], &info));
    s.boxes[i] = pn_nearBox(s.meshes[i], info.box);
    s.names[i] = "needle";
  }
  pnWords none = {.count = 0};
  pnChoice choice;
  testExpectOk(pn_makeChoice(&none, &none, s.names, 2 * PAIRS, &choice));
  pnMeasureDef def = {s.world, s.ids, s.boxes, 2 * PAIRS, &choice, 1};
  pnBodyDistances closest = {0};
  testExpectOk(pn_measureBodies(&def, &closest));
  assert_true(s.boxes[1].lo[0] - s.boxes[0].hi[0] > 0x1p28);
  assert_true(closest.count == 1 && closest.limited);
  assert_true(closest.items[0].found.distance == 0x1p28);
  assert_true(closest.items[0].a == 0 && closest.items[0].b == 1);
  pn_freeDistances(&closest);
  pn_freeChoice(&choice);
  freeScene(&s);
}

int main(void) {
  dice = testRandom(5);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxesAsOneByOne),
      cmocka_unit_test(manyBoxes),
      cmocka_unit_test(closestAreTheFirstOfAll),
      cmocka_unit_test(closestWithBoxesBeyondReach),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
