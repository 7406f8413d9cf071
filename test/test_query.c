/* test_query.c: what rays hit, what is in boxes and how far bodies are apart is what looking at every triangle says, the same bits, on
 * every tree: builds, forms of volume, update rules, arities, motions, soups, big triangles in pieces, threads; and at every
 * magnitude. No ray slips between triangles. Bad questions are refused, and memory may run out. */
#include "support_morph.h"
#include "support_query.h"
#include "support_skin.h"

static pnTree *treeOf(const pnPose *pose, const pnTreeDef *settings) {
  pnTreeDef def = settings ? *settings : pnDefaultTreeDef();
  def.pose = pose;
  pnTree *tree;
  testExpectOk(pnCreateTree(&def, &tree));
  return tree;
}

static pnPose *poseOf(const pnMesh *mesh) {
  pnPoseDef def = pnDefaultPoseDef();
  def.mesh = mesh;
  pnPose *pose;
  testExpectOk(pnCreatePose(&def, &pose));
  return pose;
}

static pnPool *s_pool;
static pnTasks s_tasks;

static int setUp(void **state) {
  (void)state;
  if (pnCreatePool(4, &s_pool) != PN_OK) return -1;
  s_tasks = pnPool_GetTasks(s_pool);
  return 0;
}

static int tearDown(void **state) {
  (void)state;
  pnDestroyPool(s_pool);
  return pnGetByteCount() == 0 ? 0 : -1;
}

/* ---------------------------------------------------------------- trees */

static void everyTree(void **state) {
  (void)state;
  pnMesh *mesh, *ballMesh;
  testExpectOk(pnMakeKnot(2, 3, 1.0f, 0.3f, 30, 6, &mesh));
  testExpectOk(pnMakeIcosphere(1, 0.4f, &ballMesh));
  pnPose *pose = poseOf(mesh), *ball = poseOf(ballMesh);
  static const pnUpdate updates[] = {PN_UPDATE_DEFAULT, PN_UPDATE_BOTTOM_UP, PN_UPDATE_TOP_DOWN, PN_UPDATE_BERGEN,
                                     PN_UPDATE_RIGID};
  static const uint32_t arities[] = {2, 4, 8};
  TestRandom random = testRandom(1);
  uint32_t hits = 0, triangles = 0, made = 0;
  for (int u = 0; u < 5; ++u)
    for (int form = 0; form < TEST_FORM_COUNT; ++form)
      for (int a = 0; a < 3; ++a) {
        pnTreeLab lab = {.form = (pnForm)form, .arity = arities[a], .leafSize = 1 + testBelow(&random, 8)};
        pnTreeLab balls = {.form = PN_FORM_SPHERE, .arity = 4, .leafSize = 3};
        pnTreeDef def = pnDefaultTreeDef(), other = def;
        lab.build = (pnBuild)testBelow(&random, PN_BUILD_COUNT);
        def.pose = pose;
        def.update = updates[u];
        def.lab = &lab;
        other.lab = a == 0 ? NULL : &balls;
        pnTree *tree, *small = treeOf(ball, &other);
        // Some rules take boxes only.
        bool fits = pnCreateTree(&def, &tree) == PN_OK;
        for (int frame = testIsShort() ? 1 : 0; fits && frame < 2; ++frame) {
          pnMatrix turn = testRotation(&random, frame == 0 ? 0.5f : 3);
          testExpectOk(pnPose_SetTransform(pose, &turn));
          const pnTasks *tasks = frame ? &s_tasks : NULL;
          hits += queryExpectRays(tree, &random, 1, tasks);
          triangles += queryExpectBoxes(tree, &random, 1, tasks);
          queryExpectDistance(tree, small, a == 2 ? 0.7 : INFINITY, tasks);
          ++made;
        }
        if (fits) pnDestroyTree(tree);
        pnDestroyTree(small);
      }
  assert_true(made > (testIsShort() ? 30 : 60) && hits > made * 5 && triangles > made * 20);
  pnDestroyPose(pose);
  pnDestroyPose(ball);
  pnDestroyMesh(mesh);
  pnDestroyMesh(ballMesh);
}

static void movingBodies(void **state) {
  (void)state;
  TestRandom random = testRandom(2);
  pnMesh *other;
  testExpectOk(pnMakeIcosphere(1, 0.5f, &other));
  pnPose *ball = poseOf(other);
  pnTree *small = treeOf(ball, NULL);
  for (int kind = 0; kind < MORPH_KIND_COUNT; ++kind) {
    MorphBody body = morphMake((MorphKind)kind, 2, 1, 7);
    pnTree *tree = treeOf(body.pose, NULL);
    for (int frame = 0; frame < 3; ++frame) {
      morphPose(&body, &random);
      queryExpectRays(tree, &random, 1, frame % 2 ? &s_tasks : NULL);
      queryExpectBoxes(tree, &random, 1, frame % 2 ? &s_tasks : NULL);
      queryExpectDistance(tree, small, INFINITY, NULL);
    }
    pnDestroyTree(tree);
    morphFree(&body);
  }
  for (int kind = 0; kind < SKIN_KIND_COUNT; ++kind) {
    SkinBody body = skinMake((SkinKind)kind, 2, 1, 0, 9);
    pnTree *tree = treeOf(body.pose, NULL);
    for (int frame = 0; frame < 3; ++frame) {
      skinPose(&body, &random, 0, 1);
      queryExpectRays(tree, &random, 1, frame % 2 ? &s_tasks : NULL);
      queryExpectBoxes(tree, &random, 1, frame % 2 ? &s_tasks : NULL);
      queryExpectDistance(small, tree, INFINITY, &s_tasks);
    }
    pnDestroyTree(tree);
    skinFree(&body);
  }
  pnDestroyTree(small);
  pnDestroyPose(ball);
  pnDestroyMesh(other);
}

static void soups(void **state) {
  (void)state;
  TestRandom random = testRandom(3);
  for (int method = 0; method < PN_BUCKET_COUNT; ++method) {
    pnSoup *soup;
    testExpectOk(pnCreateSoup(NULL, &soup));
    pnBucketDef def = pnDefaultBucketDef();
    def.soup = soup;
    pnTreeLab lab = {.method = (pnBucketMethod)method};
    def.lab = &lab;
    pnTree *tree;
    testExpectOk(pnCreateBucketTree(&def, &tree));
    // Empty: nothing is hit, in a box, or near.
    queryExpectRays(tree, &random, 1, NULL);
    queryExpectBoxes(tree, &random, 1, NULL);
    for (int i = 0; i < 120; ++i) {
      float corners[9];
      for (int k = 0; k < 9; ++k) corners[k] = testFloat(&random, -1, 1);
      testExpectOk(pnSoup_Add(soup, (pnPrimitiveKind)(1 + i % 3), corners, 1, NULL));
    }
    queryExpectRays(tree, &random, 1, &s_tasks);
    queryExpectBoxes(tree, &random, 1, NULL);
    pnDestroyTree(tree);
    pnDestroySoup(soup);
  }
}

/* Walls in pieces are hit once each. */
static void bigTriangles(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeBox((pnVec3){1, 1, 1}, 2, &mesh));
  pnPose *pose = poseOf(mesh);
  TestRandom random = testRandom(4);
  for (int big = 1; big < PN_BIG_COUNT; ++big) {
    pnTreeDef def = pnDefaultTreeDef();
    def.big = (pnBig)big;
    def.self = false;
    def.bigSide = 0.2f;
    pnTree *tree = treeOf(pose, &def);
    for (int i = 0; i < 5; ++i) {
      queryExpectRays(tree, &random, 1, NULL);
      queryExpectBoxes(tree, &random, 1, NULL);
    }
    pnDestroyTree(tree);
  }
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

/* The same body from the smallest floats to the largest, and far from the origin. */
static void magnitudes(void **state) {
  (void)state;
  pnMesh *mesh, *other;
  testExpectOk(pnMakeKnot(2, 3, 1.0f, 0.3f, 20, 5, &mesh));
  testExpectOk(pnMakeIcosphere(1, 0.4f, &other));
  uint32_t n = pnMesh_GetVertexCount(mesh), m = pnMesh_GetVertexCount(other);
  float *v = malloc(3 * (n + m) * sizeof *v);
  pnPose *pose = poseOf(mesh), *ball = poseOf(other);
  TestRandom random = testRandom(5);
  uint32_t hits = 0;
  static const float scales[] = {1e-43f, 1e-40f, 1e-36f, 1e-20f, 1e-3f, 1e3f, 1e18f, 1e30f, 5e37f};
  for (int s = 0; s < 9; ++s)
    for (int shift = 0; shift < 3; ++shift)
      for (int form = 0; form < TEST_FORM_COUNT; form += 4) {
        float away = shift == 0 ? 0.0f : shift == 1 ? scales[s] : 1000 * scales[s];
        if (!isfinite(6 * away)) continue;
        for (uint32_t i = 0; i < 3 * n; ++i) v[i] = scales[s] * pnMesh_GetVertices(mesh)[i] + away;
        for (uint32_t i = 0; i < 3 * m; ++i) v[3 * n + i] = scales[s] * pnMesh_GetVertices(other)[i] + away + scales[s];
        testExpectOk(pnPose_SetVertices(pose, v, n));
        testExpectOk(pnPose_SetVertices(ball, v + 3 * n, m));
        pnTreeLab lab = {.form = (pnForm)form};
        pnTreeDef def = pnDefaultTreeDef();
        def.lab = &lab;
        pnTree *tree = treeOf(pose, &def), *small = treeOf(ball, NULL);
        hits += queryExpectRays(tree, &random, scales[s], NULL);
        queryExpectBoxes(tree, &random, scales[s], NULL);
        queryExpectDistance(tree, small, INFINITY, NULL);
        queryExpectDistance(small, tree, INFINITY, NULL);
        pnDestroyTree(tree);
        pnDestroyTree(small);
      }
  assert_true(hits > 200);
  pnDestroyPose(pose);
  pnDestroyPose(ball);
  pnDestroyMesh(mesh);
  pnDestroyMesh(other);
  free(v);
}

/* ---------------------------------------------------------------- promises */

/* From inside a closed body every ray is stopped: at vertices, edges, along its planes, whatever the numbers. */
static void watertight(void **state) {
  (void)state;
  TestRandom random = testRandom(6);
  for (int shape = 0; shape < 3; ++shape) {
    pnMesh *mesh;
    if (shape == 0) testExpectOk(pnMakeIcosphere(3, 1.0f, &mesh));
    else testExpectOk(pnMakeBox((pnVec3){1, 1, 1}, shape == 1 ? 7 : 1, &mesh));
    pnPose *pose = poseOf(mesh);
    if (shape == 2) {
      pnMatrix turn = testRotation(&random, 0);
      testExpectOk(pnPose_SetTransform(pose, &turn));
    }
    pnTree *tree = treeOf(pose, NULL);
    enum { RAYS = 3000 };
    pnRay *rays = malloc(RAYS * sizeof *rays);
    pnHit *hits = malloc(RAYS * sizeof *hits);
    for (uint32_t i = 0; i < RAYS; ++i) {
      rays[i] = pnDefaultRay();
      pnVec3 o = {testFloat(&random, -0.5f, 0.5f), testFloat(&random, -0.5f, 0.5f), testFloat(&random, -0.5f, 0.5f)};
      if (i % 3 == 0) o = (pnVec3){0, 0, 0};
      pnVec3 to = queryPoint(&random, pose, 1);
      rays[i].origin = o;
      rays[i].direction = (pnVec3){to.x - o.x, to.y - o.y, to.z - o.z};
    }
    testExpectOk(pnFindFirstHits(tree, rays, RAYS, NULL, hits));
    for (uint32_t i = 0; i < RAYS; ++i) assert_true(hits[i].triangle != PN_NONE && hits[i].side <= 0);
    free(rays);
    free(hits);
    pnDestroyTree(tree);
    pnDestroyPose(pose);
    pnDestroyMesh(mesh);
  }
}

/* A deck of cards, and rays that go through all of them: at every level all the other nodes wait, more than a stack has room for.
 * Rays come in more than one group. */
static void decks(void **state) {
  (void)state;
  enum { COUNT = 6000, RAYS = 70 };
  float *vertices = malloc(9 * COUNT * sizeof *vertices);
  uint32_t *corners = malloc(3 * COUNT * sizeof *corners);
  for (uint32_t i = 0; i < COUNT; ++i) {
    float at = 1 + 0.001f * (float)i;
    const float one[3][3] = {{at, -1, -1}, {at, 2, -1}, {at + 0.01f, -1, 2}};
    memcpy(vertices + 9 * (size_t)i, one, sizeof one);
    for (uint32_t k = 0; k < 3; ++k) corners[3 * i + k] = 3 * i + k;
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices, def.vertexCount = 3 * COUNT, def.triangles = corners, def.triangleCount = COUNT;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  pnPose *pose = poseOf(mesh);
  TestRandom random = testRandom(12);
  pnTreeLab lab = {.leafSize = 1};
  pnTreeDef settings = pnDefaultTreeDef();
  settings.lab = &lab;
  pnTree *tree = treeOf(pose, &settings);
  pnRay rays[RAYS];
  for (uint32_t i = 0; i < RAYS; ++i) {
    rays[i] = pnDefaultRay();
    rays[i].direction = (pnVec3){1, testFloat(&random, -0.05f, 0.05f), testFloat(&random, -0.05f, 0.05f)};
    if (i % 3 == 0) rays[i].origin.x = testFloat(&random, 0, 8);
    if (i % 7 == 0) rays[i].direction.x = -1;
  }
  queryExpectThese(tree, rays, RAYS, NULL);
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  free(vertices);
  free(corners);
}

enum { MANY_RAYS = 600 };

/* So many of the rays, by every walk of this machine, and what looking at every triangle says. */
static void expectMany(pnTree *tree, const pnRay *rays, uint32_t count, const pnHit *truth, const pnHits *all) {
  static pnRayQuest quests[MANY_RAYS];
  static pnHits found[MANY_RAYS];
  pnCastFcn *ways[PN_CAST_WAYS];
  pnLattice lattice = pn_latticeOf(tree);
  pnFresh fresh = {.alone = true};
  uint32_t wayCount = pn_castWays(ways);
  for (uint32_t w = 0; w < 3 * wayCount; ++w) {
    pnRayGroup group = {tree, &lattice, (pnRayMode)(w % 3), &fresh, quests};
    for (uint32_t i = 0; i < count; ++i) {
      pn_beginRay(&rays[i], &quests[i]);
      found[i].count = 0;
      quests[i].all = &found[i];
    }
    ways[w / 3](&group, count);
    for (uint32_t i = 0; i < count; ++i) {
      if (group.mode == PN_RAY_FIRST) querySameHit(&quests[i].best, &truth[i]);
      if (group.mode == PN_RAY_ANY) assert_int_equal(quests[i].best.triangle != PN_NONE, truth[i].triangle != PN_NONE);
      if (group.mode != PN_RAY_ALL) continue;
      assert_int_equal(pn_sortHits(found[i].data, found[i].count), all[i].count);
      for (size_t k = 0; k < all[i].count; ++k) querySameHit(&found[i].data[k], &all[i].data[k]);
    }
  }
  for (uint32_t i = 0; i < MANY_RAYS; ++i) pn_arrayFree(&found[i]);
}

/* More rays than are under way at once, and as many as one less or more: they begin where others are done. Some pass the tree by,
 * some end early, some go through all of it. Then on all workers. */
static void manyRays(void **state) {
  (void)state;
  static const uint32_t counts[] = {1, 7, 8, 9, PN_RAY_GROUP - 1, PN_RAY_GROUP, PN_RAY_GROUP + 1, 200, MANY_RAYS};
  static pnHits all[MANY_RAYS];
  static pnHit truth[MANY_RAYS], hits[MANY_RAYS];
  static pnRay rays[MANY_RAYS];
  static bool blocked[MANY_RAYS];
  pnMesh *mesh;
  testExpectOk(pnMakeKnot(2, 3, 1.0f, 0.25f, 60, 6, &mesh));
  pnPose *pose = poseOf(mesh);
  pnTree *tree = treeOf(pose, NULL);
  TestRandom random = testRandom(14);
  testExpectOk(pnTree_Update(tree, NULL));
  for (uint32_t i = 0; i < MANY_RAYS; ++i) {
    pnVec3 o = queryPoint(&random, pose, 3), to = queryPoint(&random, pose, i % 5 ? 1 : 3);
    rays[i] = pnDefaultRay();
    rays[i].origin = o;
    rays[i].direction = (pnVec3){to.x - o.x, to.y - o.y, to.z - o.z};
    if (o.x == to.x && o.y == to.y && o.z == to.z) rays[i].direction.x = 1;
    if (i % 4 == 0) rays[i].last = testFloat(&random, 0, 2);
    if (i % 4 == 1) rays[i].first = testFloat(&random, 0, 1);
    truth[i] = queryTruth(tree, &rays[i], (pnBodyId){0}, &all[i]);
    all[i].count = pn_sortHits(all[i].data, all[i].count);
  }
  for (uint32_t i = 0; i < sizeof counts / sizeof *counts; ++i) expectMany(tree, rays, counts[i], truth, all);
  testExpectOk(pnFindFirstHits(tree, rays, MANY_RAYS, &s_tasks, hits));
  testExpectOk(pnFindBlocked(tree, rays, MANY_RAYS, &s_tasks, blocked));
  for (uint32_t i = 0; i < MANY_RAYS; ++i) {
    querySameHit(&hits[i], &truth[i]);
    assert_int_equal(blocked[i], truth[i].triangle != PN_NONE);
    pn_arrayFree(&all[i]);
  }
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

/* Two balls, in many places around each other: boxes of their leaves overlap while they are apart, so that lines decide. */
static void ballsApart(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(testIsShort() ? 2 : 3, 1.0f, &mesh));
  pnPose *p = poseOf(mesh), *q = poseOf(mesh);
  pnTree *a = treeOf(p, NULL), *b = treeOf(q, NULL);
  TestRandom random = testRandom(13);
  for (int i = 0; i < 12; ++i) {
    pnMatrix place = testRotation(&random, 1);
    float length = 0, away = i < 4 ? 2.003f : i < 8 ? 2.2f : 4.0f;
    for (int k = 0; k < 3; ++k) length += place.m[k][3] * place.m[k][3];
    for (int k = 0; k < 3; ++k) place.m[k][3] *= away / sqrtf(length);
    testExpectOk(pnPose_SetTransform(q, &place));
    queryExpectDistance(a, b, INFINITY, NULL);
  }
  pnDestroyTree(a);
  pnDestroyTree(b);
  pnDestroyPose(p);
  pnDestroyPose(q);
  pnDestroyMesh(mesh);
}

/* Segments of a contact are those of its pairs, one by one. */
static void meetings(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(2, 1.0f, &mesh));
  pnPose *p = poseOf(mesh), *q = poseOf(mesh);
  pnMatrix move = pnMatrix_Identity();
  move.m[0][3] = 0.7f;
  testExpectOk(pnPose_SetTransform(q, &move));
  pnTree *a = treeOf(p, NULL), *b = treeOf(q, NULL);
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  testExpectOk(pnCollideTrees(a, b, NULL, list, NULL));
  size_t count = pnPairList_GetCount(list);
  assert_true(count > 50);
  const pnPair *pairs = pnPairList_GetPairs(list);
  pnMeeting *found = malloc(count * sizeof *found);
  testExpectOk(pnFindMeetings(a, b, pairs, count, &s_tasks, found));
  for (size_t i = 0; i < count; ++i) {
    float c[3][4], e[3][4];
    const float *corner[3], *edge[3];
    queryCorners(p, pairs[i].a, c, corner);
    queryCorners(q, pairs[i].b, e, edge);
    pnTriangle s, t;
    for (int k = 0; k < 9; ++k) s.v[k / 3][k % 3] = c[k / 3][k % 3], t.v[k / 3][k % 3] = e[k / 3][k % 3];
    pnMeeting truth = pnMeetTriangles(&s, &t);
    assert_memory_equal(&found[i], &truth, sizeof truth);
    assert_true(truth.kind != PN_MEETING_NONE);
  }
  pnPair bad = {0, pnMesh_GetTriangleCount(mesh)};
  testExpectFailure(pnFindMeetings(a, b, &bad, 1, NULL, found), PN_ERROR_INDEX, "pair 0");
  free(found);
  pnDestroyPairList(list);
  pnDestroyTree(a);
  pnDestroyTree(b);
  pnDestroyPose(p);
  pnDestroyPose(q);
  pnDestroyMesh(mesh);
}

static void errors(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(1, 1.0f, &mesh));
  pnPose *pose = poseOf(mesh);
  pnTree *tree = treeOf(pose, NULL), *again = treeOf(pose, NULL);
  pnRay rays[2] = {pnDefaultRay(), pnDefaultRay()};
  pnHit hits[2];
  bool blocked[2];
  pnHitList *list;
  pnTriangleList *triangles;
  uint32_t count = 1;
  testExpectOk(pnCreateHitList(&list));
  testExpectOk(pnCreateTriangleList(&triangles));
  testExpectOk(pnFindAllHits(tree, rays, 2, NULL, list));
  assert_true(pnHitList_GetCount(list) > 0);
  rays[1].origin.y = NAN;
  testExpectFailure(pnFindFirstHits(tree, rays, 2, NULL, hits), PN_ERROR_NUMBER, "ray 1");
  testExpectFailure(pnFindAllHits(tree, rays, 2, NULL, list), PN_ERROR_NUMBER, "ray 1");
  assert_int_equal(pnHitList_GetCount(list), 0);
  pnHitList_GetHits(list, 0, &count);
  assert_int_equal(count, 0);
  rays[1] = pnDefaultRay();
  rays[1].direction = (pnVec3){0, 0, INFINITY};
  testExpectFailure(pnFindBlocked(tree, rays, 2, NULL, blocked), PN_ERROR_NUMBER, "ray 1");
  for (int k = 0; k < 6; ++k) {
    rays[1] = pnDefaultRay();
    *(k < 3 ? &(&rays[1].origin.x)[k] : &(&rays[1].direction.x)[k - 3]) = k % 2 ? -INFINITY : NAN;
    testExpectFailure(pnFindBlocked(tree, rays, 2, NULL, blocked), PN_ERROR_NUMBER, "ray 1|finite");
  }
  rays[1] = pnDefaultRay();
  rays[1].origin = (pnVec3){1, 2, 3};
  rays[1].direction = (pnVec3){0, -0.0f, 0};
  testExpectFailure(pnFindFirstHits(tree, rays, 2, NULL, hits), PN_ERROR_NUMBER, "ray 1|direction");
  rays[1] = pnDefaultRay();
  rays[1].first = -1;
  testExpectFailure(pnFindFirstHits(tree, rays, 2, NULL, hits), PN_ERROR_ARGUMENT, "ray 1|first");
  rays[1] = pnDefaultRay();
  rays[1].last = NAN;
  testExpectFailure(pnFindFirstHits(tree, rays, 2, NULL, hits), PN_ERROR_ARGUMENT, "ray 1|last");
  pnBox boxes[2] = {{{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, INFINITY, 1}}};
  testExpectFailure(pnFindInBoxes(tree, boxes, 2, NULL, triangles), PN_ERROR_NUMBER, "box 1");
  pnTreePair pair = {tree, again};
  pnDistance distance;
  pnClosestDef def = pnDefaultClosestDef();
  def.farthest = NAN;
  testExpectFailure(pnFindDistances(&pair, 1, &def, &distance), PN_ERROR_ARGUMENT, "farthest");
  // Nothing asked is nothing wrong.
  testExpectOk(pnFindFirstHits(tree, NULL, 0, NULL, NULL));
  testExpectOk(pnFindInBoxes(tree, NULL, 0, NULL, triangles));
  // At one place they meet everywhere: the smallest pair.
  testExpectOk(pnFindDistances(&pair, 1, NULL, &distance));
  assert_true(distance.distance == 0 && distance.triangleA == 0 && distance.triangleB == 0);
  pnDestroyHitList(list);
  pnDestroyTriangleList(triangles);
  pnDestroyTree(tree);
  pnDestroyTree(again);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

static pnResult askForEverything(void *context) {
  pnMesh *mesh = context;
  pnPoseDef poseDef = {.mesh = mesh};
  pnTreeDef treeDef = pnDefaultTreeDef();
  pnPose *pose = NULL;
  pnTree *tree = NULL;
  pnHitList *list = NULL;
  pnTriangleList *triangles = NULL;
  pnRay rays[70];
  pnBox boxes[40];
  for (int i = 0; i < 70; ++i) rays[i] = pnDefaultRay(), rays[i].origin = (pnVec3){-3, 0.01f * (float)i, 0.2f};
  for (int i = 0; i < 40; ++i) boxes[i] = (pnBox){{0, 0, 0}, {0.02f * (float)i, 1, 1}};
  pnResult result = pnCreatePose(&poseDef, &pose);
  treeDef.pose = pose;
  if (result == PN_OK) result = pnCreateTree(&treeDef, &tree);
  if (result == PN_OK) result = pnCreateHitList(&list);
  if (result == PN_OK) result = pnCreateTriangleList(&triangles);
  if (result == PN_OK) {
    result = pnFindAllHits(tree, rays, 70, NULL, list);
    assert_int_equal(pnHitList_GetCount(list) > 0, result == PN_OK);
  }
  if (result == PN_OK) {
    result = pnFindInBoxes(tree, boxes, 40, NULL, triangles);
    assert_int_equal(pnTriangleList_GetCount(triangles) > 0, result == PN_OK);
  }
  pnDestroyTriangleList(triangles);
  pnDestroyHitList(list);
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  return result;
}

static const float s_corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const uint32_t s_faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

static pnResult askTetrahedron(void *context) {
  (void)context;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = s_corners, def.vertexCount = 4, def.triangles = s_faces, def.triangleCount = 4;
  pnMesh *mesh;
  pnResult result = pnCreateMesh(&def, &mesh);
  if (result != PN_OK) return result;
  result = askForEverything(mesh);
  pnDestroyMesh(mesh);
  return result;
}

/* The last one: it takes the pool away. */
static void memoryRunsOut(void **state) {
  (void)state;
  pnDestroyPool(s_pool);
  s_pool = NULL;
  assert_true(testEveryAllocationFailure(askTetrahedron, NULL, false, true) > 8);
  assert_true(testEveryAllocationFailure(askTetrahedron, NULL, true, false) > 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everyTree),    cmocka_unit_test(movingBodies), cmocka_unit_test(soups),
      cmocka_unit_test(bigTriangles), cmocka_unit_test(magnitudes),   cmocka_unit_test(watertight),
      cmocka_unit_test(decks),        cmocka_unit_test(ballsApart),   cmocka_unit_test(meetings),
      cmocka_unit_test(errors),       cmocka_unit_test(manyRays),     cmocka_unit_test(memoryRunsOut),
  };
  return cmocka_run_group_tests(tests, setUp, tearDown);
}
