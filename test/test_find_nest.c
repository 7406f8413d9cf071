/* test_find_nest.c: bodies inside one another by the dozen. All are regions when there is no limit; with one they are kept from the
 * inside outwards, the answer says so, and what is not too many is the same as without. */
#include "support_find.h"

enum { DOLLS = 24 };

static const float corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

/* Tetrahedra about one centre: of sizes 1 - begin / of, then every `step` less, `count` of them. */
static pnMesh *makeSkins(uint32_t begin, uint32_t step, uint32_t count, uint32_t of) {
  static float v[12 * 256];
  static uint32_t t[12 * 256];
  assert_true(count <= 256);
  for (uint32_t i = 0; i < count; ++i) {
    float size = 1 - (float)(begin + step * i) / (float)of;
    for (uint32_t k = 0; k < 12; ++k) {
      v[12 * i + k] = 0.25f + size * (corners[k / 3][k % 3] - 0.25f);
      t[12 * i + k] = faces[k] + 4 * i;
    }
  }
  return testMakeMesh(v, 4 * count, t, 4 * count);
}

typedef struct Nested {
  FindBody body[DOLLS];
  uint32_t count;
  pnFinder *finder;
} Nested;

/* Bodies that do not meet, in the order of meshes, which are taken over, before their first frame. */
static Nested beginNested(uint32_t maxContainments, pnMesh *const *meshes, uint32_t count) {
  Nested n = {.count = count};
  pnFinderDef def = pnDefaultFinderDef();
  def.maxContainments = maxContainments;
  testExpectOk(pnCreateFinder(&def, &n.finder));
  for (uint32_t i = 0; i < count; ++i) {
    FindBody *body = &n.body[i];
    pnPoseDef poseDef = pnDefaultPoseDef();
    poseDef.mesh = body->mesh = meshes[i];
    testExpectOk(pnCreatePose(&poseDef, &body->pose));
    pnTreeDef treeDef = pnDefaultTreeDef();
    treeDef.pose = body->pose;
    testExpectOk(pnCreateTree(&treeDef, &body->tree));
    pnFinderBodyDef bodyDef = pnDefaultFinderBodyDef();
    bodyDef.tree = body->tree;
    bodyDef.name = "doll";
    uint32_t number;
    testExpectOk(pnFinder_AddBody(n.finder, &bodyDef, &number));
  }
  return n;
}

static Nested makeNested(uint32_t maxContainments, pnMesh *const *meshes, uint32_t count) {
  Nested n = beginNested(maxContainments, meshes, count);
  testExpectOk(pnFinder_AddFrame(n.finder, &(pnFinderFrame){.number = 0}));
  return n;
}

static void freeNested(Nested *n) {
  pnDestroyFinder(n->finder);
  for (uint32_t i = 0; i < n->count; ++i) {
    pnDestroyTree(n->body[i].tree);
    pnDestroyPose(n->body[i].pose);
    pnDestroyMesh(n->body[i].mesh);
  }
  assert_int_equal(pnGetByteCount(), 0);
}

/* The i-th is inside all before it, or, `backwards`, inside all after it. */
static Nested makeDolls(uint32_t maxContainments, bool backwards) {
  pnMesh *meshes[DOLLS];
  for (uint32_t i = 0; i < DOLLS; ++i) meshes[i] = makeSkins(backwards ? DOLLS - 1 - i : i, 1, 1, DOLLS + 8);
  return makeNested(maxContainments, meshes, DOLLS);
}

/* So many of the bodies that are next to each other are regions, so many with one between them, and so on. */
static void expectLayers(const Nested *n, const uint32_t *layers, uint32_t layerCount) {
  uint32_t count, found[DOLLS] = {0};
  const pnRegion *r = pnFinder_GetRegions(n->finder, &count);
  for (uint32_t i = 0; i < count; ++i) {
    assert_true(r[i].a < r[i].b && r[i].inner != PN_NONE && r[i].depth.value > 0);
    ++found[r[i].b - r[i].a - 1];
  }
  for (uint32_t i = 0; i < DOLLS; ++i) assert_int_equal(found[i], i < layerCount ? layers[i] : 0);
}

static void dollsAreKeptFromTheInside(void **state) {
  (void)state;
  const uint32_t all = DOLLS * (DOLLS - 1) / 2;
  for (int backwards = 0; backwards < 2; ++backwards) {
    uint32_t layers[DOLLS];
    for (uint32_t i = 0; i < DOLLS - 1; ++i) layers[i] = DOLLS - 1 - i;
    // None, and as many as there are.
    for (int i = 0; i < 2; ++i) {
      Nested n = makeDolls(i ? all : 0, backwards);
      assert_false(pnFinder_IsLimited(n.finder));
      expectLayers(&n, layers, DOLLS - 1);
      freeNested(&n);
    }
    // One too many: what is left is eight around each, and all of these.
    Nested n = makeDolls(all - 1, backwards);
    assert_true(pnFinder_IsLimited(n.finder));
    expectLayers(&n, layers, 8);
    freeNested(&n);
    // What each is in at first, and a few of those around.
    n = makeDolls(DOLLS - 1 + 5, backwards);
    assert_true(pnFinder_IsLimited(n.finder));
    layers[1] = 5;
    expectLayers(&n, layers, 2);
    freeNested(&n);
  }
}

/* Where even listing them would take too long it ends: the first doll is around all, and each of the others, from the last inwards, in
 * the one after it; who has not come to the rows of these takes the first for the closest. The next frame begins anew. */
static void listingEnds(void **state) {
  (void)state;
  for (uint32_t most = 1; most <= 2; ++most) {
    pnMesh *meshes[DOLLS];
    for (uint32_t i = 0; i < DOLLS; ++i) meshes[i] = makeSkins(i == 0 ? 0 : DOLLS - i, 1, 1, DOLLS + 8);
    Nested n = makeNested(most, meshes, DOLLS);
    for (int64_t frame = 1; frame < 3; ++frame) {
      uint32_t count;
      const pnRegion *r = pnFinder_GetRegions(n.finder, &count);
      assert_true(count == most && r[0].a == 0 && pnFinder_IsLimited(n.finder));
      assert_int_equal(r[0].b == DOLLS - 1, most == 2);
      testExpectOk(pnFinder_AddFrame(n.finder, &(pnFinderFrame){.number = frame, .time = (double)frame}));
    }
    freeNested(&n);
  }
}

/* Two bodies of shells, in turns: what of one body is inside one part of the other is a region. */
static uint32_t countShells(uint32_t count, uint32_t maxContainments, bool *outLimited) {
  pnMesh *meshes[2] = {makeSkins(0, 2, count, 2 * count + 8), makeSkins(1, 2, count, 2 * count + 8)};
  Nested n = makeNested(maxContainments, meshes, 2);
  uint32_t regions;
  pnFinder_GetRegions(n.finder, &regions);
  *outLimited = pnFinder_IsLimited(n.finder);
  // And as bytes: whoever takes them is told.
  const void *bytes;
  size_t size;
  pnFinder_Clear(n.finder, true);
  testExpectOk(pnFinder_LookAtFrame(n.finder, &(pnFinderFrame){.number = 1}, &bytes, &size));
  assert_int_equal(pnFinder_IsLimited(n.finder), *outLimited);
  void *copy = malloc(size);
  memcpy(copy, bytes, size);
  pnFinder_Clear(n.finder, true);
  testExpectOk(pnFinder_AddLook(n.finder, &(pnFinderFrame){.number = 2}, copy, size));
  assert_int_equal(pnFinder_IsLimited(n.finder), *outLimited);
  free(copy);
  freeNested(&n);
  return regions;
}

static void shellsOfOneBodyAreThinned(void **state) {
  (void)state;
  bool limited;
  // All of a, the last has nothing of b in it only when it is the innermost: count of b's in a's, and one less the other way round.
  assert_int_equal(countShells(20, 0, &limited), 39);
  assert_false(limited);
  assert_int_equal(countShells(20, 100, &limited), 39);
  assert_false(limited);
  // Around the innermost there are 64 of one body, and then 65.
  countShells(64, 100, &limited);
  assert_false(limited);
  countShells(65, 100, &limited);
  assert_true(limited);
}

/* What a rule was asked. */
typedef struct Asked {
  uint32_t count, wanted;
  bool inOrder;
} Asked;

/* Of every three bodies the first is not looked at with the others of them. */
static bool wantsTwo(void *context, uint32_t a, uint32_t b) {
  Asked *asked = context;
  bool wanted = a / 3 != b / 3 || a % 3 != 0;
  ++asked->count;
  asked->wanted += wanted;
  asked->inOrder = asked->inOrder && a < b;
  return wanted;
}

/* A rule and single pairs: both must want two bodies, and the rule is asked about those alone that are close. */
static void onlyWantedOnesAreLookedAt(void **state) {
  (void)state;
  pnMesh *meshes[DOLLS];
  for (uint32_t i = 0; i < DOLLS - 1; ++i) meshes[i] = makeSkins(i, 1, 1, DOLLS + 8);
  float v[12];
  for (int k = 0; k < 12; ++k) v[k] = corners[k / 3][k % 3] + 10;
  meshes[DOLLS - 1] = testMakeMesh(v, 4, faces, 4); // far from all others
  Nested n = beginNested(0, meshes, DOLLS);
  Asked asked = {.inOrder = true};
  pnFinder_SetWantedRule(n.finder, wantsTwo, &asked);
  testExpectOk(pnFinder_SetWanted(n.finder, 7, 2, false));
  testExpectOk(pnFinder_SetWanted(n.finder, 1, 2, false));
  testExpectOk(pnFinder_SetWanted(n.finder, 2, 1, true));
  testExpectOk(pnFinder_AddFrame(n.finder, &(pnFinderFrame){.number = 0}));
  uint32_t count, at = 0;
  const pnRegion *r = pnFinder_GetRegions(n.finder, &count);
  for (uint32_t a = 0; a < DOLLS - 1; ++a) {
    for (uint32_t b = a + 1; b < DOLLS - 1; ++b) {
      if ((a / 3 == b / 3 && a % 3 == 0) || (a == 2 && b == 7)) continue;
      assert_true(at < count && r[at].a == a && r[at].b == b);
      ++at;
    }
  }
  assert_int_equal(at, count);
  assert_true(asked.inOrder);
  assert_int_equal(asked.wanted, count);
  assert_int_equal(asked.count, (DOLLS - 1) * (DOLLS - 2) / 2 - 1);
  freeNested(&n);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(dollsAreKeptFromTheInside), cmocka_unit_test(listingEnds),
                                     cmocka_unit_test(shellsOfOneBodyAreThinned),
                                     cmocka_unit_test(onlyWantedOnesAreLookedAt)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
