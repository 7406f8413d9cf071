/* test_collide_weld.c: who is a neighbour. Vertices that are one at rest, or that the caller has welded, are one while they are
 * at one place: a slit that opens has two sides, a seam that moves together has none. Held against brute force with the
 * rule written out once more, for free and morphing bodies, with rings and without. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "pinch/world.h"

/* ---------------------------------------------------------------- the rule, written out */

static bool samePlace(const float *p, const float *q) {
  return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

static pnSharedCorners sharedCorners(const pnMesh *mesh, const float *now, uint32_t s, uint32_t t) {
  const uint32_t *a = pnMesh_GetTriangles(mesh) + 3 * (size_t)s, *b = pnMesh_GetTriangles(mesh) + 3 * (size_t)t;
  const uint32_t *weld = pnMesh_GetWeld(mesh);
  pnSharedCorners shared = {0};
  bool taken[3] = {false};
  for (uint32_t i = 0; i < 3; ++i)
    for (uint32_t j = 0; j < 3; ++j)
      if (!taken[j] && weld[a[i]] == weld[b[j]] && samePlace(now + 3 * (size_t)a[i], now + 3 * (size_t)b[j])) {
        taken[j] = true;
        shared.a[shared.count] = (uint8_t)i;
        shared.b[shared.count++] = (uint8_t)j;
        break;
      }
  return shared;
}

/* Steps from triangle s over neighbours, up to `most`; beyond that most + 1. */
static uint32_t stepsTo(const pnMesh *mesh, const float *now, uint32_t s, uint32_t t, uint32_t most) {
  uint32_t n = pnMesh_GetTriangleCount(mesh), *steps = malloc(n * sizeof *steps);
  assert_non_null(steps);
  for (uint32_t i = 0; i < n; ++i) steps[i] = i == s ? 0 : UINT32_MAX;
  for (uint32_t step = 0; step < most; ++step)
    for (uint32_t i = 0; i < n; ++i)
      for (uint32_t j = 0; j < n && steps[i] == step; ++j)
        if (steps[j] == UINT32_MAX && sharedCorners(mesh, now, i, j).count > 0) steps[j] = step + 1;
  uint32_t result = steps[t] == UINT32_MAX ? most + 1 : steps[t];
  free(steps);
  return result;
}

/* Pairs that meet now beyond what they share, and are more than `ring` steps apart. */
static size_t truthOf(const pnMesh *mesh, const float *now, uint32_t ring, pnPair *out) {
  size_t count = 0;
  uint32_t n = pnMesh_GetTriangleCount(mesh);
  for (uint32_t s = 0; s < n; ++s)
    for (uint32_t t = s + 1; t < n; ++t) {
      pnTriangle a, b;
      a = testTriangleAt(mesh, now, s);
      b = testTriangleAt(mesh, now, t);
      if (pnTrianglesMeetBeyond(&a, &b, sharedCorners(mesh, now, s, t)) &&
          (ring == 0 || stepsTo(mesh, now, s, t, ring) > ring))
        out[count++] = (pnPair){s, t};
    }
  return count;
}

/* ---------------------------------------------------------------- a body of one world */

typedef struct Alone {
  pnWorld *world;
  pnBodyId body;
} Alone;

static Alone alone(pnBodyDef def, uint32_t ring) {
  Alone a;
  pnWorldDef worldDef = pnDefaultWorldDef();
  testExpectOk(pnCreateWorld(&worldDef, &a.world));
  def.self = true;
  def.selfFilter.ring = ring;
  testExpectOk(pnWorld_CreateBody(a.world, &def, &a.body));
  return a;
}

/* The world, a query of its tree and brute force of the library say what the rule says. */
static size_t expectTruth(const Alone *a, const pnMesh *mesh, const float *now, uint32_t ring) {
  uint32_t n = pnMesh_GetTriangleCount(mesh);
  pnPair *truth = malloc((size_t)n * n * sizeof *truth);
  assert_non_null(truth);
  size_t count = truthOf(mesh, now, ring, truth);
  pnFrame frame = pnWorld_Collide(a->world, NULL);
  testExpectOk(frame.result);
  assert_int_equal(frame.contactCount, count > 0);
  if (count > 0) {
    const pnContact *contact = pnWorld_GetContacts(a->world);
    assert_int_equal(contact->pairCount, count);
    assert_memory_equal(pnWorld_GetPairs(a->world) + contact->firstPair, truth, count * sizeof *truth);
  }
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  pnQueryDef def = pnDefaultQueryDef();
  def.filter.ring = ring;
  testExpectOk(pnCollideSelf(pnBody_GetTree(a->world, a->body), &def, list, NULL));
  assert_int_equal(pnPairList_GetCount(list), count);
  def.first = true;
  testExpectOk(pnCollideSelf(pnBody_GetTree(a->world, a->body), &def, list, NULL));
  assert_int_equal(pnPairList_GetCount(list), count > 0);
  if (ring == 0) {
    const pnPose *pose = pnBody_GetPose(a->world, a->body);
    testExpectOk(pnCollideBrute(pose, pose, NULL, list));
    assert_int_equal(pnPairList_GetCount(list), count);
  }
  pnDestroyPairList(list);
  free(truth);
  return count;
}

/* A free body made in one pose and put into another. */
static size_t pairsAfter(const pnMesh *mesh, const float *now, uint32_t ring) {
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = mesh;
  Alone a = alone(def, ring);
  testExpectOk(pnBody_SetVertices(a.world, a.body, now, pnMesh_GetVertexCount(mesh)));
  size_t count = expectTruth(&a, mesh, now, ring);
  pnDestroyWorld(a.world);
  return count;
}

/* ---------------------------------------------------------------- meshes that open, seams that do not */

static void slitsOpen(void **state) {
  (void)state;
  static const float zero[12] = {0}, quad[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
  static const float closed[12] = {0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0}; /* the shared edge has no length */
  static const uint32_t two[6] = {0, 1, 2, 2, 1, 3}, three[9] = {0, 1, 2, 1, 3, 2, 2, 3, 4};
  static const float lid[15] = {0, 0, 0, 1, 0, 0, 1, 0, 0, 2, 0, 0, 1, 1, 0};
  static const float open[15] = {0, 0, 0, 1, 0, 0, 1, 0.5f, 0, 2, 0, 0, 1, 1, 0};
  for (uint32_t ring = 0; ring < 3; ++ring) {
    pnMesh *meshes[3] = {testMakeMesh(zero, 4, two, 2), testMakeMesh(closed, 4, two, 2),
                         testMakeMesh(lid, 5, three, 3)};
    assert_int_equal(pairsAfter(meshes[0], quad, ring), 0);
    assert_int_equal(pairsAfter(meshes[1], quad, ring), 0);
    assert_int_equal(pairsAfter(meshes[2], open, ring), 0);
    for (int i = 0; i < 3; ++i) pnDestroyMesh(meshes[i]);
  }
}

#define SIDE 20u
#define CELLS (SIDE * SIDE)

/* A cloth with a little relief; with `seams` every triangle has three vertices of its own. */
static void cloth(bool seams, float (*out)[3], uint32_t *triangles) {
  uint32_t at = 0;
  for (uint32_t cell = 0; cell < 2 * CELLS; ++cell)
    for (uint32_t k = 0; k < 3; ++k, ++at) {
      static const uint8_t corner[6][2] = {{0, 0}, {1, 0}, {0, 1}, {0, 1}, {1, 0}, {1, 1}};
      const uint8_t *c = corner[3 * (cell % 2) + k];
      uint32_t i = cell / 2 / SIDE + c[0], j = cell / 2 % SIDE + c[1];
      triangles[at] = seams ? at : i * (SIDE + 1) + j;
      float *p = out[triangles[at]];
      p[0] = (float)i, p[1] = (float)j, p[2] = 0.1f * (float)((i * 7 + j * 3) % 5);
    }
}

static void aClothMadeInOnePlaceOpens(void **state) {
  (void)state;
  static float zero[3 * 6 * CELLS], now[6 * CELLS][3];
  static uint32_t triangles[6 * CELLS];
  for (int seams = 0; seams < 2; ++seams) {
    uint32_t n = seams ? 6 * CELLS : (SIDE + 1) * (SIDE + 1);
    cloth(seams, now, triangles);
    /* made in one place: sides of a seam are at one place still, and nothing meets */
    pnMesh *mesh = testMakeMesh(zero, n, triangles, 2 * CELLS);
    assert_int_equal(pairsAfter(mesh, now[0], 0), 0);
    pnDestroyMesh(mesh);
    /* made as it is, moved as one */
    mesh = testMakeMesh(now[0], n, triangles, 2 * CELLS);
    for (uint32_t i = 0; i < n; ++i) now[i][2] += 0.01f * now[i][0] * now[i][0];
    assert_int_equal(pairsAfter(mesh, now[0], 0), 0);
    pnDestroyMesh(mesh);
  }
}

/* ---------------------------------------------------------------- at random */

#define MOST_VERTICES 24u
#define MOST_TRIANGLES 40u

typedef struct Random {
  float rest[3 * MOST_VERTICES], now[3 * MOST_VERTICES];
  uint32_t triangles[3 * MOST_TRIANGLES], vertexCount, triangleCount;
} Random;

static void lattice(TestRandom *random, uint32_t cells, float *out, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) out[i] = (float)testBelow(random, cells);
}

/* Few places at rest, so that much is welded; later some more. */
static Random randomMesh(TestRandom *random) {
  Random r = {.vertexCount = 3 + testBelow(random, MOST_VERTICES - 2)};
  r.triangleCount = 2 + testBelow(random, MOST_TRIANGLES - 1);
  lattice(random, 1 + testBelow(random, 3), r.rest, 3 * r.vertexCount);
  lattice(random, 2 + testBelow(random, 6), r.now, 3 * r.vertexCount);
  for (uint32_t i = 0; i < 3 * r.triangleCount; ++i) r.triangles[i] = testBelow(random, r.vertexCount);
  return r;
}

static void freeBodiesFollowTheRule(void **state) {
  (void)state;
  TestRandom random = testRandom(1);
  size_t found = 0;
  for (int round = 0; round < 400; ++round) {
    Random r = randomMesh(&random);
    pnMesh *mesh = testMakeMesh(r.rest, r.vertexCount, r.triangles, r.triangleCount);
    found += pairsAfter(mesh, r.now, testBelow(&random, 4));
    pnDestroyMesh(mesh);
  }
  assert_true(found > 1000);
}

/* Deltas that take welded vertices apart, and back together; with calm patches and without. */
static void morphingBodiesFollowTheRule(void **state) {
  (void)state;
  TestRandom random = testRandom(2);
  size_t found = 0;
  for (int round = 0; round < 300; ++round) {
    Random r = randomMesh(&random);
    pnMesh *mesh = testMakeMesh(r.rest, r.vertexCount, r.triangles, r.triangleCount);
    for (uint32_t i = 0; i < 3 * r.vertexCount; ++i) r.now[i] -= r.rest[i];
    pnMorphTarget target = {.count = r.vertexCount, .values = r.now};
    pnMorphDef morphDef = pnDefaultMorphDef();
    morphDef.mesh = mesh;
    morphDef.targets = &target;
    morphDef.targetCount = 1;
    pnMorph *morph;
    testExpectOk(pnCreateMorph(&morphDef, &morph));
    pnBodyDef def = pnDefaultBodyDef();
    pnTreeLab lab = {0};
    def.tree.lab = &lab;
    def.kind = PN_BODY_MORPH;
    def.mesh = mesh;
    def.morph = morph;
    def.tree.calm = round % 2;
    lab.leafSize = 1 + testBelow(&random, 8);
    uint32_t ring = testBelow(&random, 4);
    Alone a = alone(def, ring);
    for (int step = 0; step < 3; ++step) {
      static const float weights[3] = {0.125f, 0, 1};
      float now[3 * MOST_VERTICES];
      testExpectOk(pnBody_SetWeights(a.world, a.body, &weights[step], 1));
      pnPose_GetVertices(pnBody_GetPose(a.world, a.body), now);
      found += expectTruth(&a, mesh, now, ring);
    }
    pnDestroyWorld(a.world);
    pnDestroyMorph(morph);
    pnDestroyMesh(mesh);
  }
  assert_true(found > 1000);
}

/* Two triangles in two leaves, welded at the mesh's rest, far apart where the rest weight puts them, and through each other
 * now: calm patches know them as far, and links as neighbours. */
static void weldedIsNotNear(void **state) {
  (void)state;
  static const float rest[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, -1, 0};
  static const uint32_t triangles[6] = {0, 1, 2, 3, 4, 5}, moved[3] = {3, 4, 5};
  static const float away[9] = {100, 0, 0, 100, 0, 0, 100, 0, 0}, one = 1;
  pnMesh *mesh = testMakeMesh(rest, 6, triangles, 2);
  pnMorphTarget target = {.count = 3, .vertices = moved, .values = away};
  pnMorphDef morphDef = pnDefaultMorphDef();
  morphDef.mesh = mesh;
  morphDef.targets = &target;
  morphDef.targetCount = 1;
  morphDef.restWeights = &one;
  pnMorph *morph;
  testExpectOk(pnCreateMorph(&morphDef, &morph));
  pnBodyDef def = pnDefaultBodyDef();
  pnTreeLab lab = {0};
  def.tree.lab = &lab;
  def.kind = PN_BODY_MORPH;
  def.mesh = mesh;
  def.morph = morph;
  def.tree.calm = true;
  lab.leafSize = 1;
  Alone a = alone(def, 0);
  static const float weights[4] = {1, 0.003f, 0, 0.5f};
  for (int i = 0; i < 4; ++i) {
    float now[18];
    testExpectOk(pnBody_SetWeights(a.world, a.body, &weights[i], 1));
    pnPose_GetVertices(pnBody_GetPose(a.world, a.body), now);
    assert_int_equal(expectTruth(&a, mesh, now, 0), i == 1);
  }
  pnDestroyWorld(a.world);
  pnDestroyMorph(morph);
  pnDestroyMesh(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slitsOpen),
      cmocka_unit_test(aClothMadeInOnePlaceOpens),
      cmocka_unit_test(freeBodiesFollowTheRule),
      cmocka_unit_test(morphingBodiesFollowTheRule),
      cmocka_unit_test(weldedIsNotNear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
