/* test_collide_hint.c: a hint changes what a first-pair query costs and never what is true. Right, wrong, old and swapped hints,
 * neighbours, filters, soups that lose primitives, every kind of body in a world: whether two bodies meet is what brute force
 * says, and the pair that is given meets. Trees that were not updated for a hint are right in the next query. */
#include "support_morph.h"
#include "support_skin.h"

/* ---------------------------------------------------------------- two trees */

typedef struct Two {
  MorphBody body[2];
  pnTree *tree[2];
  pnPairList *truth, *found;
} Two;

static Two makeTwo(MorphKind kind, pnUpdate update) {
  Two t = {0};
  for (int i = 0; i < 2; ++i) {
    t.body[i] = morphMake(kind, 1, 1, 5 + (uint64_t)i);
    pnTreeDef def = pnDefaultTreeDef();
    def.update = update;
    t.tree[i] = morphTree(t.body[i].pose, &def);
  }
  testExpectOk(pnCreatePairList(&t.truth));
  testExpectOk(pnCreatePairList(&t.found));
  return t;
}

static void freeTwo(Two *t) {
  for (int i = 0; i < 2; ++i) {
    pnDestroyTree(t->tree[i]);
    morphFree(&t->body[i]);
  }
  pnDestroyPairList(t->truth);
  pnDestroyPairList(t->found);
  assert_int_equal(pnGetByteCount(), 0);
}

/* Weights and places: near each other, so that most poses meet. */
static void moveTwo(Two *t, TestRandom *random) {
  for (int i = 0; i < 2; ++i) {
    pnMatrix turn = testRotation(random, 0.2f);
    turn.m[0][3] += (float)i * testFloat(random, 0.5f, 3);
    morphPose(&t->body[i], random);
    testExpectOk(pnPose_SetTransform(t->body[i].pose, &turn));
  }
}

/* Any hint at all: the verdict is that of brute force, and what is given meets. */
static void anyHintIsRight(void **state) {
  (void)state;
  static const pnUpdate updates[3] = {PN_UPDATE_DEFAULT, PN_UPDATE_HYBRID, PN_UPDATE_BLENDED_MODEL};
  for (int kind = 0; kind < MORPH_KIND_COUNT; ++kind)
    for (int u = 0; u < 3; ++u) {
      Two t = makeTwo((MorphKind)kind, updates[u]);
      TestRandom random = testRandom(12);
      uint32_t count[2], met = 0, answered = 0;
      for (int i = 0; i < 2; ++i) count[i] = pnMesh_GetTriangleCount(t.body[i].mesh);
      pnPair hint = {0, 0};
      for (int round = 0; round < 40; ++round) {
        moveTwo(&t, &random);
        testExpectOk(pnCollideBrute(t.body[0].pose, t.body[1].pose, NULL, t.truth));
        size_t pairs = pnPairList_GetCount(t.truth);
        met += pairs > 0;
        /* an old one, one at random, a right one, a right one of the swapped bodies */
        for (int way = 0; way < 4; ++way) {
          if (way == 1) hint = (pnPair){testBelow(&random, count[0]), testBelow(&random, count[1])};
          if (way >= 2 && pairs > 0) hint = pnPairList_GetPairs(t.truth)[testBelow(&random, (uint32_t)pairs)];
          if (way == 3) hint = (pnPair){hint.b, hint.a};
          pnQueryDef def = pnDefaultQueryDef();
          def.first = true;
          def.hint = &hint;
          pnCost cost;
          testExpectOk(pnCollideTrees(t.tree[0], t.tree[1], &def, t.found, &cost));
          assert_int_equal(pnPairList_GetCount(t.found), pairs > 0);
          assert_int_equal(cost.pairs, pairs > 0);
          bool isRight = testIsListed(t.truth, hint);
          if (pairs > 0) {
            pnPair got = *pnPairList_GetPairs(t.found);
            assert_true(testIsListed(t.truth, got));
            assert_true(!isRight || (got.a == hint.a && got.b == hint.b));
          }
          if (isRight) {
            /* nothing but the six corners was looked at */
            assert_int_equal(cost.verticesFetched, 6);
            assert_int_equal(cost.exactTests, 1);
            assert_int_equal(cost.nodePairs + cost.leafPairs + cost.volumeTests + cost.nodesUpdated, 0);
            ++answered;
          }
          /* the trees, updated or not, know everything when they are asked */
          if (testBelow(&random, 4) == 0) {
            testExpectOk(pnCollideTrees(t.tree[0], t.tree[1], NULL, t.found, NULL));
            morphExpectPairs(t.found, t.truth);
          }
          if (pairs > 0) hint = pnPairList_GetPairs(t.truth)[0];
        }
      }
      assert_true(met > 5 && met < 40 && answered > met);
      freeTwo(&t);
    }
}

/* The hint may stand in the list that takes the answer; without `first` it is not looked at; numbers that are not there are
 * refused by name. */
static void hintsAtTheEdge(void **state) {
  (void)state;
  Two t = makeTwo(MORPH_DELTAS, PN_UPDATE_DEFAULT);
  testExpectOk(pnCollideBrute(t.body[0].pose, t.body[1].pose, NULL, t.truth));
  assert_true(pnPairList_GetCount(t.truth) > 1);
  pnQueryDef def = pnDefaultQueryDef();
  testExpectOk(pnCollideTrees(t.tree[0], t.tree[1], &def, t.found, NULL));
  def.first = true;
  pnPair second = pnPairList_GetPairs(t.found)[1];
  def.hint = pnPairList_GetPairs(t.found) + 1;
  testExpectOk(pnCollideTrees(t.tree[0], t.tree[1], &def, t.found, NULL));
  assert_int_equal(pnPairList_GetCount(t.found), 1);
  assert_memory_equal(pnPairList_GetPairs(t.found), &second, sizeof second);
  pnPair bad[2] = {{80, 0}, {0, 4000000000u}};
  for (int i = 0; i < 2; ++i) {
    def.hint = &bad[i];
    def.first = true;
    testExpectFailure(pnCollideTrees(t.tree[0], t.tree[1], &def, t.found, NULL), PN_ERROR_ARGUMENT,
                      i ? "hint|b|4000000000|80" : "hint|a|80");
    assert_int_equal(pnPairList_GetCount(t.found), 0);
    testExpectFailure(pnCollideSelf(t.tree[0], &def, t.found, NULL), PN_ERROR_ARGUMENT, "hint");
    def.first = false;
    testExpectOk(pnCollideTrees(t.tree[0], t.tree[1], &def, t.found, NULL));
    morphExpectPairs(t.found, t.truth);
  }
  freeTwo(&t);
}

/* A vertex that is not a number is named by the query, however the hint got there. */
static void numbersAreStillNamed(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(1, 1, &mesh));
  uint32_t n = pnMesh_GetVertexCount(mesh);
  float *vertices = malloc((3 * n + 1) * sizeof(float));
  memcpy(vertices, pnMesh_GetVertices(mesh), 3 * n * sizeof(float));
  vertices[3 * pnMesh_GetTriangles(mesh)[0]] = NAN;
  pnPose *pose[2];
  pnTree *tree[2];
  for (int i = 0; i < 2; ++i) {
    pnPoseDef poseDef = {mesh, NULL, NULL};
    testExpectOk(pnCreatePose(&poseDef, &pose[i]));
    pnTreeDef def = pnDefaultTreeDef();
    def.pose = pose[i];
    testExpectOk(pnCreateTree(&def, &tree[i]));
  }
  testExpectOk(pnPose_ShareVertices(pose[0], vertices, n));
  pnPair hint = {0, 0};
  pnQueryDef def = pnDefaultQueryDef();
  def.first = true;
  def.hint = &hint;
  testExpectFailure(pnCollideTrees(tree[0], tree[1], &def, NULL, NULL), PN_ERROR_NUMBER, "vertex");
  for (int i = 0; i < 2; ++i) {
    pnDestroyTree(tree[i]);
    pnDestroyPose(pose[i]);
  }
  pnDestroyMesh(mesh);
  free(vertices);
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- self: neighbours and filters */

/* Crumpled paper: many triangles meet, neighbours too. */
static void crumple(pnPose *pose, TestRandom *random) {
  const pnMesh *mesh = pnPose_GetMesh(pose);
  uint32_t n = pnMesh_GetVertexCount(mesh);
  float *vertices = malloc(3 * n * sizeof(float));
  for (uint32_t i = 0; i < 3 * n; ++i) vertices[i] = pnMesh_GetVertices(mesh)[i] + testFloat(random, -0.3f, 0.3f);
  testExpectOk(pnPose_SetVertices(pose, vertices, n));
  free(vertices);
}

static bool shareVertex(const pnMesh *mesh, pnPair pair) {
  const uint32_t *p = pnMesh_GetTriangles(mesh) + 3 * (size_t)pair.a,
                 *q = pnMesh_GetTriangles(mesh) + 3 * (size_t)pair.b;
  bool shared = false;
  for (int k = 0; k < 9; ++k) shared = shared || p[k / 3] == q[k % 3];
  return shared;
}

static void selfHintsRespectFilters(void **state) {
  (void)state;
  pnMesh *mesh;
  pnPose *pose;
  testExpectOk(pnMakeIcosphere(2, 1, &mesh));
  pnPoseDef poseDef = {mesh, NULL, NULL};
  testExpectOk(pnCreatePose(&poseDef, &pose));
  TestRandom random = testRandom(3);
  uint32_t count = pnMesh_GetTriangleCount(mesh);
  uint32_t *groups = malloc(count * sizeof(uint32_t));
  for (uint32_t i = 0; i < count; ++i) groups[i] = testBelow(&random, 3);
  pnPairList *all, *found, *unfiltered;
  testExpectOk(pnCreatePairList(&all));
  testExpectOk(pnCreatePairList(&found));
  testExpectOk(pnCreatePairList(&unfiltered));
  pnTreeDef treeDef = pnDefaultTreeDef();
  pnTree *tree = morphTree(pose, &treeDef);
  pnSelfFilter filters[5] = {{0}, {.ring = 1}, {.ring = 2}, {.ignoreRest = true}, {.triangleGroup = groups}};
  uint32_t answered[5] = {0}, forbidden[5] = {0}, neighbours = 0;
  for (int round = 0; round < 12; ++round) {
    crumple(pose, &random);
    testExpectOk(pnCollideSelf(tree, NULL, unfiltered, NULL));
    for (int f = 0; f < 5; ++f) {
      pnQueryDef def = pnDefaultQueryDef();
      def.filter = filters[f];
      testExpectOk(pnCollideSelf(tree, &def, all, NULL));
      def.first = true;
      for (int way = 0; way < 60; ++way) {
        /* any two triangles, two that share vertices, one with itself, one of the answers, and that one swapped; and one that
         * meets, whether the filter allows it or not */
        size_t pairs = pnPairList_GetCount(all);
        uint32_t t = testBelow(&random, count), around[3];
        memcpy(around, pnMesh_GetNeighbours(mesh) + 3 * (size_t)t, sizeof around);
        pnPair hint = {t, way % 5 == 0 ? testBelow(&random, count) : way % 5 == 1 ? around[way % 3] : t};
        if (way % 5 >= 3 && pairs > 0) hint = pnPairList_GetPairs(all)[testBelow(&random, (uint32_t)pairs)];
        if (way % 5 == 4) hint = (pnPair){hint.b, hint.a};
        if (way % 5 == 2 && way > 10)
          hint = pnPairList_GetPairs(unfiltered)[testBelow(&random, (uint32_t)pnPairList_GetCount(unfiltered))];
        forbidden[f] += way % 5 == 2 && way > 10 && !testIsListed(all, hint);
        def.hint = &hint;
        testExpectOk(pnCollideSelf(tree, &def, found, NULL));
        assert_int_equal(pnPairList_GetCount(found), pairs > 0);
        pnPair turned = {hint.a < hint.b ? hint.a : hint.b, hint.a < hint.b ? hint.b : hint.a};
        if (pairs > 0) {
          pnPair got = *pnPairList_GetPairs(found);
          assert_true(testIsListed(all, got));
          bool isRight = testIsListed(all, turned);
          assert_true(!isRight || (got.a == turned.a && got.b == turned.b));
          answered[f] += isRight;
          neighbours += isRight && shareVertex(mesh, got);
        }
      }
    }
  }
  for (int f = 0; f < 5; ++f) assert_true(answered[f] > 50);
  /* rings and groups forbid many that meet; the first filter forbids nothing, and a ball meets itself nowhere at rest */
  assert_true(forbidden[0] == 0 && forbidden[1] > 10 && forbidden[2] > 20 && forbidden[4] > 20);
  assert_true(neighbours > 0);
  pnDestroyTree(tree);
  pnDestroyPairList(all);
  pnDestroyPairList(unfiltered);
  pnDestroyPairList(found);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  free(groups);
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- a world of every kind */

enum { MORPH, SPARSE, FREE, RIGID, STATIC, SKINNED, SOUP, BODIES };

typedef struct Crowd {
  pnWorld *world;
  MorphBody morphs[2];
  SkinBody arm;
  pnMesh *torus;
  pnSoup *soup;
  pnBodyId ids[BODIES];
  pnMatrix place[BODIES];
  pnPairList *truth;
} Crowd;

static Crowd makeCrowd(pnTasks tasks) {
  Crowd c = {0};
  pnWorldDef worldDef = pnDefaultWorldDef();
  worldDef.tasks = tasks;
  testExpectOk(pnCreateWorld(&worldDef, &c.world));
  testExpectOk(pnMakeTorus(1, 0.35f, 10, 6, &c.torus));
  testExpectOk(pnCreateSoup(NULL, &c.soup));
  testExpectOk(pnCreatePairList(&c.truth));
  c.morphs[0] = morphMake(MORPH_REFERENCES, 1, 1, 60);
  c.morphs[1] = morphMake(MORPH_SPARSE, 1, 1, 61);
  c.arm = skinMake(SKIN_SMOOTH, 1, 1, 1, 90);
  for (uint32_t i = 0; i < BODIES; ++i) {
    static const pnBodyKind kinds[BODIES] = {PN_BODY_MORPH,  PN_BODY_MORPH,   PN_BODY_FREE, PN_BODY_RIGID,
                                             PN_BODY_STATIC, PN_BODY_SKINNED, PN_BODY_SOUP};
    pnBodyDef def = pnDefaultBodyDef();
    def.kind = kinds[i];
    def.mesh = i <= SPARSE ? c.morphs[i].mesh : i == SKINNED ? c.arm.mesh : i == SOUP ? NULL : c.torus;
    def.morph = i <= SPARSE ? c.morphs[i].morph : i == SKINNED ? c.arm.morph : NULL;
    def.skin = i == SKINNED ? c.arm.skin : NULL;
    def.soup = i == SOUP ? c.soup : NULL;
    def.self = i == SPARSE || i == FREE || i == SKINNED || i == SOUP;
    def.selfFilter.ignoreRest = i == SPARSE;
    def.selfFilter.ring = i == FREE;
    testExpectOk(pnWorld_CreateBody(c.world, &def, &c.ids[i]));
    c.place[i] = pnMatrix_Identity();
    for (int k = 0; k < 2; ++k) c.place[i].m[k][3] = 1.1f * (float)(i >> k & 1);
  }
  return c;
}

static void freeCrowd(Crowd *c) {
  pnDestroyWorld(c->world);
  pnDestroySoup(c->soup);
  for (int i = 0; i < 2; ++i) morphFree(&c->morphs[i]);
  skinFree(&c->arm);
  pnDestroyMesh(c->torus);
  pnDestroyPairList(c->truth);
}

/* Small steps, so that pairs last, and now and then a large one. */
static void moveCrowd(Crowd *c, TestRandom *random, int round) {
  static float vertices[3 * 60];
  float step = round % 10 == 9 ? 0.8f : 0.02f;
  for (uint32_t i = 0; i < SKINNED; ++i) {
    for (int k = 0; k < 3; ++k) c->place[i].m[k][3] += testFloat(random, -step, step);
    if (i != STATIC) testExpectOk(pnBody_SetTransform(c->world, c->ids[i], &c->place[i]));
    if (i <= SPARSE && round % 5 == 0) {
      morphRandomWeights(&c->morphs[i], random);
      testExpectOk(pnBody_SetWeights(c->world, c->ids[i], c->morphs[i].weights, c->morphs[i].targetCount));
    }
  }
  for (int i = 0; i < 180; ++i)
    vertices[i] = pnMesh_GetVertices(c->torus)[i] + testFloat(random, -step, step) * (round % 3 ? 1.0f : 8.0f);
  testExpectOk(pnBody_SetVertices(c->world, c->ids[FREE], vertices, 60));
  if (round % 4 == 0) {
    skinRandomJoints(&c->arm, random, 0, 1);
    testExpectOk(pnBody_SetJoints(c->world, c->ids[SKINNED], c->arm.joints, c->arm.jointCount));
  }
  /* primitives come and go, places are taken again */
  uint32_t places = pnSoup_GetPlaceCount(c->soup);
  for (uint32_t i = 0; i < places / 3; ++i) {
    pnPrimitiveId id = pnSoup_GetId(c->soup, testBelow(random, places));
    if (id.index1 != 0) testExpectOk(pnSoup_Remove(c->soup, &id, 1));
  }
  while (pnSoup_GetCount(c->soup) < (round % 20 == 19 ? 0u : 12u)) {
    float p[9];
    for (int k = 0; k < 9; ++k) p[k] = testFloat(random, -1, 2);
    testExpectOk(pnSoup_Add(c->soup, PN_PRIMITIVE_TRIANGLE, p, 1, NULL));
  }
}

static const pnPose *poseOf(Crowd *c, uint32_t i) {
  return i == SOUP ? pnSoup_GetPose(c->soup) : pnBody_GetPose(c->world, c->ids[i]);
}

static bool isThere(const Crowd *c, uint32_t body, uint32_t triangle) {
  return body != SOUP || pnSoup_GetId(c->soup, triangle).index1 != 0;
}

/* One pair exactly where brute force has some. */
static uint32_t checkFirst(Crowd *c, uint32_t a, uint32_t b, const pnFrame *frame) {
  size_t wanted = 0;
  if (a == b && a != SOUP) { /* brute force knows no filters */
    pnQueryDef def = pnDefaultQueryDef();
    def.filter.ring = a == FREE;
    def.filter.ignoreRest = a == SPARSE;
    testExpectOk(pnCollideSelf(pnBody_GetTree(c->world, c->ids[a]), &def, c->truth, NULL));
    wanted = pnPairList_GetCount(c->truth);
  } else {
    testExpectOk(pnCollideBrute(poseOf(c, a), poseOf(c, b), NULL, c->truth));
    for (size_t i = 0; i < pnPairList_GetCount(c->truth); ++i) {
      pnPair pair = pnPairList_GetPairs(c->truth)[i];
      wanted += isThere(c, a, pair.a) && isThere(c, b, pair.b);
    }
  }
  const pnContact *contacts = pnWorld_GetContacts(c->world);
  for (uint32_t i = 0; i < frame->contactCount; ++i)
    if (contacts[i].a.index1 == c->ids[a].index1 && contacts[i].b.index1 == c->ids[b].index1) {
      pnPair got = pnWorld_GetPairs(c->world)[contacts[i].firstPair];
      assert_int_equal(contacts[i].pairCount, 1);
      assert_true(testIsListed(c->truth, got) && isThere(c, a, got.a) && isThere(c, b, got.b));
      return 1;
    }
  assert_int_equal(wanted, 0);
  return 0;
}

static void worldsCarryTheirPairs(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  uint64_t work[2][2] = {{0}};
  uint32_t contacts[2][2] = {{0}};
  for (int threads = 0; threads < 2; ++threads)
    for (int without = 0; without < 2; ++without) {
      Crowd c = makeCrowd(threads ? pnPool_GetTasks(pool) : (pnTasks){0});
      TestRandom random = testRandom(70);
      for (int round = 0; round < (testIsShort() ? 21 : 60); ++round) {
        moveCrowd(&c, &random, round);
        pnQueryLab lab = {.noHints = without};
        pnFrameDef def = {.first = round % 7 != 6, .lab = &lab};
        pnFrame frame = pnWorld_Collide(c.world, &def);
        testExpectOk(frame.result);
        work[threads][without] += def.first ? frame.cost.leafPairs : 0;
        for (uint32_t a = 0; a < BODIES && def.first; ++a)
          for (uint32_t b = a; b < BODIES; ++b)
            if (a != b || a == SPARSE || a == FREE || a == SKINNED || a == SOUP)
              contacts[threads][without] += checkFirst(&c, a, b, &frame);
      }
      freeCrowd(&c);
    }
  assert_true(contacts[0][0] > testRounds(300));
  for (int i = 0; i < 4; ++i) {
    /* as many contacts with hints as without, on one thread as on three; and less work */
    assert_int_equal(contacts[i / 2][i % 2], contacts[0][0]);
    assert_int_equal(work[i / 2][i % 2], work[0][i % 2]);
  }
  assert_true(10 * work[0][0] < 9 * work[0][1]);
  pnDestroyPool(pool);
  assert_int_equal(pnGetByteCount(), 0);
}

/* Queries and frames with hints allocate nothing once their lists have grown. */
static void hintsAllocateNothing(void **state) {
  (void)state;
  testInstallAllocator(UINT64_MAX, false);
  Two t = makeTwo(MORPH_DELTAS, PN_UPDATE_DEFAULT);
  Crowd c = makeCrowd((pnTasks){0});
  pnPair hint = {0, 0};
  pnQueryDef def = pnDefaultQueryDef();
  def.first = true;
  def.hint = &hint;
  pnFrameDef frameDef = {.first = true};
  uint64_t before = 0;
  for (int pass = 0; pass < 2; ++pass) {
    TestRandom random = testRandom(22);
    before = testAllocationCount();
    for (int round = 0; round < 30; ++round) {
      moveTwo(&t, &random);
      testExpectOk(pnCollideTrees(t.tree[0], t.tree[1], &def, t.found, NULL));
      if (pnPairList_GetCount(t.found) > 0) hint = *pnPairList_GetPairs(t.found);
      if (round > 0) continue;
      for (int i = 0; i < 3; ++i) testExpectOk(pnWorld_Collide(c.world, &frameDef).result);
    }
  }
  assert_int_equal(testAllocationCount(), before);
  freeCrowd(&c);
  freeTwo(&t);
  testRestoreAllocator();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(anyHintIsRight),        cmocka_unit_test(hintsAtTheEdge),
      cmocka_unit_test(numbersAreStillNamed),  cmocka_unit_test(selfHintsRespectFilters),
      cmocka_unit_test(worldsCarryTheirPairs), cmocka_unit_test(hintsAllocateNothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
