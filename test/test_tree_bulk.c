/* test_tree_bulk.c: bodies of which a few vertices are far away have cells that are over most of them (tree/bulk.h). Pairs are those of exact
 * arithmetic, whatever the grids of two bodies have in common and however far away it is; queries answer what looking at every triangle says; and
 * hardly more is opened than without those vertices. The same of soups, and of worlds with a body that fell out of them. */
#include "agree.h"
#include "support_query.h"

#include "collide/traverse.h"
#include "pinch/pinch.h"
#include "tree/bucket.h"
#include "world/world.h"

/* ---------------------------------------------------------------- bodies */

/* A ball with its tree, as large as its scale. */
typedef struct Ball {
  AgreeBody body;
  pnPose *pose;
  pnTree *tree;
} Ball;

static Ball makeBody(pnMesh *mesh, bool self) {
  Ball b = {.body.mesh = mesh};
  b.body.positions = calloc(3 * (size_t)pnMesh_GetVertexCount(b.body.mesh) + 1, sizeof(float));
  assert_non_null(b.body.positions);
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = b.body.mesh;
  testExpectOk(pnCreatePose(&poseDef, &b.pose));
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = b.pose;
  def.self = self;
  testExpectOk(pnCreateTree(&def, &b.tree));
  return b;
}

/* A mesh of triangles that have no vertex in common. */
static pnMesh *makeApart(const float *positions, uint32_t count) {
  uint32_t *index = malloc(3 * sizeof(uint32_t) * count);
  assert_non_null(index);
  for (uint32_t i = 0; i < 3 * count; ++i) index[i] = i;
  pnMesh *mesh = testMakeMesh(positions, 3 * count, index, count);
  free(index);
  return mesh;
}

static Ball makeBall(uint32_t subdivisions, bool self) {
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(subdivisions, 1, &mesh));
  return makeBody(mesh, self);
}

static void freeBall(Ball *b) {
  pnDestroyTree(b->tree);
  pnDestroyPose(b->pose);
  pnDestroyMesh(b->body.mesh);
  free(b->body.positions);
}

/* Where it is, a little uneven. */
static void place(Ball *b, float scale, const float at[3]) {
  const float *rest = pnMesh_GetVertices(b->body.mesh);
  for (uint32_t i = 0; i < 3 * pnMesh_GetVertexCount(b->body.mesh); ++i)
    b->body.positions[i] = scale * (rest[i] * (1 + 0.03f * (float)(i / 3 % 5)) + at[i % 3]);
}

static void fling(Ball *b, uint32_t vertex, float x, float y, float z) {
  const float p[3] = {x, y, z};
  memcpy(b->body.positions + 3 * (size_t)vertex, p, sizeof p);
}

/* A triangle of it reaches beyond on all sides: its volumes are from the first cell to the last. */
static void stretchFace(Ball *b, uint32_t face, float far) {
  const uint32_t *t = pnMesh_GetTriangles(b->body.mesh) + 3 * (size_t)face;
  fling(b, t[0], far, far, far);
  fling(b, t[1], -far, -far, -far);
}

static void show(Ball *b) {
  testExpectOk(pnPose_SetVertices(b->pose, b->body.positions, pnMesh_GetVertexCount(b->body.mesh)));
  testExpectOk(pnTree_Update(b->tree, NULL));
}

static const float s_here[3] = {0, 0, 0}, s_beside[3] = {1.1f, 0.2f, 0.1f};

/* ---------------------------------------------------------------- when */

static void clipsWhereItPays(void **state) {
  (void)state;
  pnMesh *sheet;
  testExpectOk(pnMakeGrid(1, 1, 9, 9, &sheet));
  Ball b = makeBall(4, false), small = makeBody(sheet, false);
  place(&b, 1, s_here);
  show(&b);
  int usual = b.tree->grid.exponent;
  assert_false(b.tree->grid.isClipped);
  /* twenty times as long: cells are fine enough; a hundred times, and they are not */
  fling(&b, 70, 40, 0, 0);
  show(&b);
  assert_false(b.tree->grid.isClipped);
  for (float far = 1e3f; far < 1e38f; far *= 1e5f) {
    fling(&b, 70, far, -far, far);
    fling(&b, 990, far, far, 0);
    show(&b);
    assert_true(b.tree->grid.isClipped && abs(b.tree->grid.exponent - usual) <= 1);
    assert_true(pnTree_GetBox(b.tree).max.x == far);
    testExpectOk(pnTree_Validate(b.tree));
    assert_float_equal(pnTree_GetQuality(b.tree), 1, 0.1f);
  }
  place(&b, 1, s_here);
  show(&b);
  assert_true(!b.tree->grid.isClipped && b.tree->grid.exponent == usual);
  /* far away as a whole, or larger as a whole, is where it is */
  for (float scale = 1; scale < 1e6f; scale *= 100) {
    place(&b, scale, (const float[3]){100, 3, 0});
    show(&b);
    assert_false(b.tree->grid.isClipped);
  }
  /* too many of them */
  place(&b, 1, s_here);
  for (uint32_t i = 0; i < 200; ++i) fling(&b, 11 * i, 1e6f, 0, (float)i);
  show(&b);
  assert_false(b.tree->grid.isClipped);
  /* too small to be worth it: one corner, in which two triangles meet at most */
  assert_true(small.tree->shape->leafCount < 32 && pnMesh_GetTriangleCount(small.body.mesh) > 150);
  place(&small, 1, s_here);
  fling(&small, 0, 1e6f, 0, 0);
  show(&small);
  assert_false(small.tree->grid.isClipped);
  freeBall(&b);
  freeBall(&small);
}

/* Wear is that of the bulk, beside which a volume that reaches beyond would be all there is to see. */
static void wearIsSeen(void **state) {
  (void)state;
  Ball b = makeBall(4, false);
  uint32_t n = pnMesh_GetVertexCount(b.body.mesh);
  for (int torn = 0; torn < 2; ++torn) {
    place(&b, 1, s_here);
    float *p = b.body.positions;
    for (uint32_t i = 0; torn && i < n; ++i) /* halves change places, vertex by vertex */
      if (i % 2) p[3 * i] = -p[3 * i];
    stretchFace(&b, 70, 1e6f);
    show(&b);
    assert_true(b.tree->grid.isClipped);
    assert_true(torn ? pnTree_GetQuality(b.tree) > 1.5f : pnTree_GetQuality(b.tree) == 1);
  }
  freeBall(&b);
}

/* It is found wherever the whole has grown by steps, and lost for a frame it is found again. */
static void comesAndGoes(void **state) {
  (void)state;
  Ball b = makeBall(4, false);
  uint32_t clipped = 0;
  for (float far = 1; far < 1e6f; far *= 1.5f) {
    place(&b, 1, s_here);
    fling(&b, 70, 2 + far, 0, 0);
    show(&b);
    clipped += b.tree->grid.isClipped;
  }
  assert_true(clipped >= 18);
  for (uint32_t frame = 0; frame < 12; ++frame) {
    place(&b, 1, s_here);
    for (uint32_t i = 0; i < (frame % 3 == 1 ? 200u : 1u); ++i) fling(&b, 11 * i, 1e6f, 0, (float)i);
    show(&b);
    assert_int_equal(b.tree->grid.isClipped, frame % 3 != 1);
  }
  freeBall(&b);
}

/* ---------------------------------------------------------------- pairs */

/* What two bodies' grids may have in common. */
typedef enum Meeting { BOTH_WHOLE, ONE_GRID, FINER_CLIPPED, COARSER_CLIPPED, MEETINGS } Meeting;

static Meeting meetingOf(const Ball *a, const Ball *b) {
  const pnGrid *coarse = &a->tree->grid, *fine = &b->tree->grid;
  if (!coarse->isClipped && !fine->isClipped) return BOTH_WHOLE;
  if (coarse->exponent > fine->exponent) coarse = &b->tree->grid, fine = &a->tree->grid;
  bool same = coarse->exponent == fine->exponent;
  for (int k = 0; k < 3; ++k) same = same && coarse->offset[k] == fine->offset[k];
  return same ? ONE_GRID : fine->isClipped ? FINER_CLIPPED : COARSER_CLIPPED;
}

static void expectPairs(Ball *a, Ball *b, pnPairList *list) {
  AgreePairs truth = agreeTruth(&a->body, b ? &b->body : NULL);
  pnQueryDef def = pnDefaultQueryDef();
  testExpectOk(b ? pnCollideTrees(a->tree, b->tree, &def, list, NULL) : pnCollideSelf(a->tree, &def, list, NULL));
  assert_true(agreeEqual(&truth, list));
  if (b) { /* the other way round */
    testExpectOk(pnCollideTrees(b->tree, a->tree, &def, list, NULL));
    assert_int_equal(pnPairList_GetCount(list), truth.count);
  }
  free(truth.pairs);
}

/* A few vertices anywhere; edges of them, so that there are triangles which are far away as a whole, and of both bodies in one place. */
static void flingSome(Ball *b, TestRandom *random, float scale) {
  const uint32_t *t = pnMesh_GetTriangles(b->body.mesh);
  for (uint32_t n = testBelow(random, 3); n > 0; --n) {
    uint32_t face = testBelow(random, pnMesh_GetTriangleCount(b->body.mesh)), corners = 1 + testBelow(random, 3);
    float away = ldexpf(scale, 6 + 8 * (int)testBelow(random, 4));
    float sign[3];
    for (int k = 0; k < 3; ++k) sign[k] = (float)((int)testBelow(random, 3) - 1);
    for (uint32_t k = 0; k < corners; ++k)
      fling(b, t[3 * face + k], sign[0] * away * testFloat(random, 0.9f, 1.1f),
            sign[1] * away * testFloat(random, 0.9f, 1.1f), sign[2] * away * testFloat(random, 0.9f, 1.1f));
  }
}

static void pairsAreExact(void **state) {
  (void)state;
  static const float scales[] = {1, 1, 0.4f, 2.7f, 31, 0.03f, 1000};
  TestRandom random = testRandom(61);
  Ball a = makeBall(2, true), b = makeBall(2, false);
  pnPairList *list;
  uint32_t met[MEETINGS] = {0};
  testExpectOk(pnCreatePairList(&list));
  for (uint32_t round = 0; round < testRounds(160); ++round) {
    float scale = scales[testBelow(&random, 7)], all = ldexpf(1, 40 * ((int)testBelow(&random, 3) - 1));
    float at[3] = {testFloat(&random, 0.5f, 1.4f) / scale, testFloat(&random, -1, 1) / scale, 0};
    place(&a, all, s_here);
    place(&b, all * scale, at);
    flingSome(&a, &random, all);
    if (round % 2) flingSome(&b, &random, all * (testBelow(&random, 2) ? 1 : scale));
    if (round % 5 <= 1) stretchFace(&a, testBelow(&random, 320), ldexpf(all, 20));
    if (round % 5 == 0 || round % 5 == 2) stretchFace(&b, testBelow(&random, 320), ldexpf(all * scale, 20));
    show(&a);
    show(&b);
    ++met[meetingOf(&a, &b)];
    expectPairs(&a, &b, list);
    if (round % 4 == 0) expectPairs(&a, NULL, list);
  }
  for (int i = 0; i < MEETINGS; ++i) assert_true(met[i] >= testRounds(8));
  pnDestroyPairList(list);
  freeBall(&a);
  freeBall(&b);
}

/* Two triangles that are far away as a whole meet there, seen in cells that end before: on one grid, and on others. */
static void meetsFarAway(void **state) {
  (void)state;
  Ball a = makeBall(3, false), b = makeBall(3, false);
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  for (int side = 0; side < 2; ++side) {
    for (int more = 0; more < 4; ++more) {
      float far = side ? -1e7f : 1e7f, scale = more == 0 ? 1 : more == 1 ? 0.2f : more == 2 ? 5 : 300;
      const uint32_t *t = pnMesh_GetTriangles(a.body.mesh) + 3 * 1000;
      place(&a, 1, s_here);
      place(&b, scale, (const float[3]){900, 0, 0}); /* nothing else is near */
      const float corners[2][3][3] = {{{0, 0, 0}, {100, 0, 0}, {0, 100, 0}},
                                      {{20, 20, -50}, {20, 20, 50}, {30, 30, 0}}};
      for (int k = 0; k < 3; ++k) {
        const float *p = corners[0][k], *q = corners[1][k];
        fling(&a, t[k], p[0] + far, p[1] + far, p[2] + far);
        fling(&b, t[k], q[0] + far, q[1] + far, q[2] + far);
      }
      show(&a);
      show(&b);
      assert_true(a.tree->grid.isClipped && b.tree->grid.isClipped);
      expectPairs(&a, &b, list);
      assert_true(pnPairList_GetCount(list) > 0);
    }
  }
  pnDestroyPairList(list);
  freeBall(&a);
  freeBall(&b);
}

/* ---------------------------------------------------------------- work */

static uint64_t workOf(Ball *a, Ball *b, pnPairList *list) {
  pnCost cost;
  pnQueryDef def = pnDefaultQueryDef();
  testExpectOk(b ? pnCollideTrees(a->tree, b->tree, &def, list, &cost) : pnCollideSelf(a->tree, &def, list, &cost));
  return cost.nodePairs + cost.leafPairs;
}

static void hardlyMoreIsOpened(void **state) {
  (void)state;
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  for (uint32_t subdivisions = 4; subdivisions < 6; ++subdivisions) {
    Ball a = makeBall(subdivisions, true), b = makeBall(subdivisions, false);
    place(&a, 1, s_here);
    place(&b, 1, s_beside);
    show(&a);
    show(&b);
    uint64_t usual = workOf(&a, &b, list), self = workOf(&a, NULL, list);
    for (int both = 0; both < 2; ++both) {
      /* away from each other, so that what is flung meets nothing */
      fling(&a, 70, -1e8f, 0, 0);
      if (both) fling(&b, 70, 1e8f, 0, 0);
      show(&a);
      show(&b);
      assert_true(workOf(&a, &b, list) < 2 * usual + 400);
      assert_true(workOf(&a, NULL, list) < 2 * self + 4000);
    }
    freeBall(&a);
    freeBall(&b);
  }
  pnDestroyPairList(list);
}

/* ---------------------------------------------------------------- queries */

/* How often the surface winds around points: a tree of representatives asks every triangle, as its plan has it be. */
static void expectWindings(Ball *b, TestRandom *random) {
  uint32_t *partOf = calloc(pnMesh_GetTriangleCount(b->body.mesh), sizeof(uint32_t)), part;
  assert_non_null(partOf);
  for (int i = 0; i < 20; ++i) {
    float p[3];
    int32_t counts[2] = {0, 0};
    pnFresh fresh = {.alone = true};
    for (int k = 0; k < 3; ++k) p[k] = testFloat(random, -1.3f, 1.3f);
    for (int each = 0; each < 2; ++each) {
      pnWindings windings = {.counts = &counts[each], .parts = &part};
      b->tree->def.representative = each;
      pn_findWindings(b->tree, p, partOf, &fresh, &windings);
    }
    assert_int_equal(counts[0], counts[1]);
    b->tree->def.representative = false;
  }
  free(partOf);
}

static void queriesAnswer(void **state) {
  (void)state;
  TestRandom random = testRandom(62);
  Ball a = makeBall(2, false), b = makeBall(2, false);
  uint32_t hits = 0, triangles = 0, clipped = 0;
  for (uint32_t round = 0; round < testRounds(18); ++round) {
    static const float fars[] = {1e6f, 3e3f, -1e9f, 1e18f, -2e3f, 1e4f};
    float far = fars[round % 6];
    place(&a, 1, s_here);
    place(&b, round % 2 ? 1 : 20, (const float[3]){3, 0, 0});
    if (round % 3 == 2) flingSome(&a, &random, 1);
    fling(&a, 100, far, (float)round, 0);
    if (round % 4 == 1) stretchFace(&a, testBelow(&random, 320), fabsf(far));
    flingSome(&b, &random, 1);
    show(&a);
    show(&b);
    clipped += a.tree->grid.isClipped;
    hits += queryExpectRays(a.tree, &random, 1, NULL);
    triangles += queryExpectBoxes(a.tree, &random, 1, NULL);
    queryExpectNearest(a.tree, &random, NULL);
    expectWindings(&a, &random);
    queryExpectDistance(a.tree, b.tree, INFINITY, NULL);
    queryExpectDistance(b.tree, a.tree, 1, NULL);
  }
  assert_true(hits > testRounds(60) && triangles > testRounds(60) && clipped >= testRounds(6));
  freeBall(&a);
  freeBall(&b);
}

/* Rays of which every one passes most of a body by and meets what is far away, from either side and along an axis, before and behind it. */
static void raysMeetStrays(void **state) {
  (void)state;
  TestRandom random = testRandom(70);
  Ball a = makeBall(3, false);
  pnRay rays[QUERY_RAYS];
  uint32_t found = 0;
  for (int round = 0; round < 12; ++round) {
    const uint32_t *t = pnMesh_GetTriangles(a.body.mesh) + 3 * 1000;
    float far = ldexpf(round % 2 ? -1 : 1, 12 + round);
    place(&a, 1, s_here);
    for (uint32_t k = 0; k < 6; ++k) { /* two faces, one behind the other */
      float at[3] = {far * (k < 3 ? 1 : 1.25f), far * 0.25f * (float)(k % 3 == 1), far * 0.25f * (float)(k % 3 == 2)};
      fling(&a, t[k], at[0], at[1], at[2]);
    }
    show(&a);
    assert_true(a.tree->grid.isClipped);
    for (uint32_t i = 0; i < QUERY_RAYS; ++i) {
      /* between the body and the first face, or behind both */
      float w = testFloat(&random, 0.01f, 0.2f), from = i % 2 ? 0.75f : 1.5f;
      rays[i] = pnDefaultRay();
      rays[i].origin = (pnVec3){from * far, w * far, i % 4 < 2 ? 0.03f * far : testFloat(&random, 0, 0.03f) * far};
      rays[i].direction = (pnVec3){(i % 2) == (far > 0) ? 1 : -1, 0, 0};
      if (i % 8 >= 4) rays[i].direction.z = -0.01f;
      if (i % 16 >= 12) rays[i].last = 0.3 * fabs((double)far);
    }
    found += queryExpectThese(a.tree, rays, QUERY_RAYS, NULL);
  }
  assert_true(found > 12 * QUERY_RAYS / 2);
  freeBall(&a);
}

/* Rays that meet a body, and that enter a box at a place which in cells is more than the largest float. */
static void raysGoVeryFar(void **state) {
  (void)state;
  enum { CLOUD = 1500 };
  TestRandom random = testRandom(72);
  float *positions = malloc(9 * CLOUD * sizeof(float));
  uint32_t found = 0;
  assert_non_null(positions);
  for (uint32_t i = 0; i < CLOUD; ++i) {
    float at[3] = {testFloat(&random, -1, 1), testFloat(&random, -1, 1), testFloat(&random, -1, 1)};
    for (uint32_t k = 0; k < 9; ++k) positions[9 * i + k] = at[k % 3] + testFloat(&random, -0.1f, 0.1f);
  }
  Ball a = makeBody(makeApart(positions, CLOUD), false);
  for (int round = 0; round < 8; ++round) {
    pnRay rays[QUERY_RAYS];
    uint32_t leaf = testBelow(&random, a.tree->shape->leafCount);
    const uint32_t *lost = a.tree->shape->leafTriangles + (size_t)leaf * PN_LANES;
    place(&a, 1, s_here);
    for (uint32_t n = 0; n < 3u * a.tree->shape->count[a.tree->shape->innerCount + leaf]; ++n)
      fling(&a, 3 * lost[n / 3] + n % 3, testFloat(&random, 0.5e37f, 1.5e37f), testFloat(&random, 10, 70),
            testFloat(&random, -1e37f, 1e37f));
    show(&a);
    assert_true(a.tree->grid.isClipped);
    for (uint32_t i = 0; i < QUERY_RAYS; ++i) {
      rays[i] = pnDefaultRay();
      rays[i].origin = (pnVec3){testFloat(&random, -1.5f, 0), testFloat(&random, -1, 1), testFloat(&random, -1, 1)};
      rays[i].direction = (pnVec3){1, i % 4 ? 4e-36f : 0, 0};
    }
    found += queryExpectThese(a.tree, rays, QUERY_RAYS, NULL);
  }
  assert_true(found > 8 * QUERY_RAYS / 2);
  freeBall(&a);
  free(positions);
}

/* A point beside the near end of a triangle that has a corner far away. */
static void pointBeside(const Ball *b, uint32_t vertex, TestRandom *random, float reach, float out[3]) {
  const uint32_t *ring = b->body.mesh->rings + b->body.mesh->ringOffsets[vertex],
                 *t = pnMesh_GetTriangles(b->body.mesh) + 3 * (size_t)ring[testBelow(random, 5)];
  uint32_t near = t[testBelow(random, 3)];
  if (near == vertex) near = t[0] == vertex ? t[1] : t[0];
  for (int k = 0; k < 3; ++k) out[k] = b->body.positions[3 * near + (uint32_t)k] + testFloat(random, -reach, reach);
}

/* How far such a triangle is is measured from where it begins, and when that is far enough away it is measured as closest where it is not. Boxes have to
 * bear with it. */
static void wrongIsRight(void **state) {
  (void)state;
  enum { POINTS = 500 };
  TestRandom random = testRandom(71);
  Ball a = makeBall(2, false), b = makeBall(0, false);
  uint32_t clipped = 0;
  for (uint32_t round = 0; round < testRounds(24); ++round) {
    uint32_t vertex = testBelow(&random, 162);
    float far = ldexpf(1, 46 + (int)round % 12), points[3 * POINTS], at[3];
    pnClosest found[POINTS];
    place(&a, 1, s_here);
    fling(&a, vertex, far * testFloat(&random, -1, 1), far * testFloat(&random, -1, 1),
          far * testFloat(&random, -1, 1));
    show(&a);
    clipped += a.tree->grid.isClipped;
    for (uint32_t i = 0; i < POINTS; ++i) pointBeside(&a, vertex, &random, 0.3f, points + 3 * i);
    testExpectOk(pnFindClosest(a.tree, points, POINTS, NULL, found));
    for (uint32_t i = 0; i < POINTS; ++i) {
      pnNear truth = queryTruthNear(a.pose, points + 3 * i, INFINITY);
      assert_true(found[i].triangle == truth.triangle && found[i].distance == sqrt(truth.distance2));
    }
    for (int i = 0; i < 8; ++i) {
      pointBeside(&a, vertex, &random, 4, at);
      place(&b, 0.05f, at);
      show(&b);
      pnTreePair pair = {a.tree, b.tree};
      pnDistance distance;
      testExpectOk(pnFindDistances(&pair, 1, NULL, &distance));
      pnApart truth = queryTruthApart(a.tree, b.tree, INFINITY);
      assert_true(distance.triangleA == truth.a && distance.triangleB == truth.b);
    }
  }
  assert_true(clipped > testRounds(12));
  freeBall(&a);
  freeBall(&b);
}

/* Nodes that questions have filled. */
static uint64_t filledNodes(const Ball *b) {
  uint64_t count = 0;
  for (uint32_t node = 0; node < b->tree->shape->nodeCount; ++node) count += b->tree->stamp[node] == b->tree->now;
  return count;
}

/* Questions about the other parts of a body come to few nodes more than without what is far away. */
static void questionsOpenLittle(void **state) {
  (void)state;
  enum { BOXES = 8 };
  Ball a = makeBall(5, false), b = makeBall(5, false);
  pnTriangleList *list;
  testExpectOk(pnCreateTriangleList(&list));
  uint64_t usual[4] = {0}, all = a.tree->shape->nodeCount;
  /* the last so far away that nothing is known of how far triangles are that reach there: of others it is, but a distance asks for all */
  for (int lost = 0; lost < 4; ++lost)
    for (int question = 0; question < (lost == 3 ? 3 : 4); ++question) {
      float points[3 * BOXES];
      pnRay rays[BOXES];
      pnHit hits[BOXES];
      pnBox boxes[BOXES];
      pnClosest closest[BOXES];
      pnDistance distance;
      place(&a, 1, s_here);
      place(&b, 1, (const float[3]){2.6f, 0, 0});
      static const float fars[] = {0, 1e6f, 1e9f, 1e15f};
      float far = fars[lost];
      if (lost) fling(&a, 70, -far, 0.1f * far, 0), fling(&b, 70, far, 0.1f * far, 0);
      show(&a);
      show(&b);
      for (uint32_t i = 0; i < BOXES; ++i) {
        const float *p = b.body.positions + 300 * i;
        for (int k = 0; k < 3; ++k) points[3 * i + (uint32_t)k] = 1.2f * (p[k] - (k ? 0 : 2.6f));
        const float *q = points + 3 * i;
        rays[i] = pnDefaultRay();
        rays[i].origin = (pnVec3){q[0], q[1], q[2]};
        rays[i].direction = (pnVec3){-q[0], -q[1], 0.1f - q[2]};
        boxes[i] = (pnBox){{0.8f * q[0], 0.8f * q[1], 0.8f * q[2]},
                           {0.8f * q[0] + 0.05f, 0.8f * q[1] + 0.05f, 0.8f * q[2] + 0.05f}};
      }
      if (question == 0) testExpectOk(pnFindClosest(a.tree, points, BOXES, NULL, closest));
      if (question == 1) testExpectOk(pnFindFirstHits(a.tree, rays, BOXES, NULL, hits));
      if (question == 2) testExpectOk(pnFindInBoxes(a.tree, boxes, BOXES, NULL, list));
      if (question == 3) testExpectOk(pnFindDistances(&(pnTreePair){a.tree, b.tree}, 1, NULL, &distance));
      uint64_t filled = filledNodes(&a);
      if (lost) assert_true(filled < 2 * usual[question] + 40);
      else usual[question] = filled;
      assert_true(filled < all / 4);
    }
  pnDestroyTriangleList(list);
  freeBall(&a);
  freeBall(&b);
}

/* How far a body is from the origin is of no account for what a question about a point beside it opens, as long as floats tell its triangles apart. */
static void originsAreAnywhere(void **state) {
  (void)state;
  enum { POINTS = 12 };
  Ball a = makeBall(5, false);
  uint64_t usual = 0;
  for (int far = 0; far < 2; ++far) {
    float points[3 * POINTS];
    pnClosest closest[POINTS];
    place(&a, 100, (const float[3]){far ? 1e5f : 0, 0, 0});
    show(&a);
    for (uint32_t i = 0; i < 3 * POINTS; ++i)
      points[i] = a.body.positions[3000 + 33 * (i / 3) + i % 3] + (i % 3 ? 2 : 0);
    testExpectOk(pnFindClosest(a.tree, points, POINTS, NULL, closest));
    if (far) assert_true(filledNodes(&a) < 2 * usual);
    else usual = filledNodes(&a);
  }
  freeBall(&a);
}

/* ---------------------------------------------------------------- soups */

enum { DUST = 6000 };

/* Little triangles that fill a cube, and are somewhere else in every frame; one is far away. */
static void stir(pnSoup *soup, TestRandom *random, float far, AgreeBody *truth) {
  float *p = truth->positions;
  for (uint32_t i = 0; i < DUST; ++i) {
    float at[3] = {testFloat(random, -1, 1), testFloat(random, -1, 1), testFloat(random, -1, 1)};
    for (uint32_t k = 0; k < 9; ++k) p[9 * i + k] = at[k % 3] + testFloat(random, -0.06f, 0.06f);
  }
  /* away along all axes, so that the box of its leaf is as large as the whole, whoever else is in it */
  for (int k = 0; far != 0 && k < 3; ++k) p[9 * 77 + k] = far;
  testExpectOk(pnSoup_SetAll(soup, p, DUST));
}

static void soupsAreSortedAnyhow(void **state) {
  (void)state;
  TestRandom random = testRandom(63);
  AgreeBody body = {.positions = calloc(9 * DUST + 1, sizeof(float))};
  assert_non_null(body.positions);
  for (uint32_t i = 0; i < 9 * DUST; ++i) body.positions[i] = (float)i; /* no two corners are one vertex */
  body.mesh = makeApart(body.positions, DUST);
  pnSoup *soup;
  pnTree *tree;
  pnPairList *list;
  pnSoupDef soupDef = pnDefaultSoupDef();
  testExpectOk(pnCreateSoup(&soupDef, &soup));
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, body.positions, DUST, NULL));
  pnBucketDef def = pnDefaultBucketDef();
  def.soup = soup;
  testExpectOk(pnCreateBucketTree(&def, &tree));
  testExpectOk(pnCreatePairList(&list));
  uint64_t usual = 0;
  for (int frame = 0; frame < 8; ++frame) {
    bool isFar = frame >= 3;
    stir(soup, &random, isFar ? 1e7f : 0, &body);
    testExpectOk(pnTree_Update(tree, NULL));
    testExpectOk(pnTree_Validate(tree));
    assert_int_equal(tree->grid.isClipped, isFar);
    pnCost cost;
    pnQueryDef query = pnDefaultQueryDef();
    testExpectOk(pnCollideSelf(tree, &query, list, &cost));
    if (!isFar) usual = cost.nodePairs + cost.leafPairs;
    else assert_true(cost.nodePairs + cost.leafPairs < 2 * usual);
    if (frame == 2 || frame == 5) {
      AgreePairs truth = agreeTruth(&body, NULL);
      assert_true(truth.count > 100 && agreeEqual(&truth, list));
      free(truth.pairs);
    }
  }
  pnDestroyPairList(list);
  pnDestroyTree(tree);
  pnDestroySoup(soup);
  pnDestroyMesh(body.mesh);
  free(body.positions);
}

/* What was removed stays in its place, and says nothing of where most of a soup is: of one that was emptied of far more than it holds now no more is
 * opened than of one that never had it. */
static void deadPlacesAreNobody(void **state) {
  (void)state;
  enum { DEAD = 30000, ALIVE = 450 };
  TestRandom random = testRandom(66);
  float *p = malloc(9 * DEAD * sizeof(float));
  pnPrimitiveId *ids = malloc(DEAD * sizeof *ids);
  uint64_t opened[2];
  assert_true(p && ids);
  for (int emptied = 0; emptied < 2; ++emptied) {
    pnSoup *soup;
    pnTree *tree;
    pnSoupDef soupDef = pnDefaultSoupDef();
    testExpectOk(pnCreateSoup(&soupDef, &soup));
    for (uint32_t i = 0; i < 9 * DEAD; ++i) p[i] = testFloat(&random, 0, 1e-4f);
    if (emptied) {
      testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, p, DEAD, ids));
      testExpectOk(pnSoup_Remove(soup, ids, DEAD));
    }
    TestRandom same = testRandom(67);
    for (uint32_t i = 0; i < ALIVE; ++i) {
      float at[3] = {testFloat(&same, 5, 15), testFloat(&same, 5, 15), testFloat(&same, 5, 15)};
      for (uint32_t k = 0; k < 9; ++k) p[9 * i + k] = at[k % 3] + testFloat(&same, -0.2f, 0.2f);
    }
    testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, p, ALIVE, NULL));
    pnBucketDef def = pnDefaultBucketDef();
    def.soup = soup;
    testExpectOk(pnCreateBucketTree(&def, &tree));
    pnQueryDef query = pnDefaultQueryDef();
    pnCost cost;
    for (int frame = 0; frame < 3; ++frame) testExpectOk(pnCollideSelf(tree, &query, NULL, &cost));
    assert_false(tree->grid.isClipped);
    opened[emptied] = cost.leafPairs;
    pnDestroyTree(tree);
    pnDestroySoup(soup);
  }
  assert_true(opened[0] > 10 && opened[1] < 2 * opened[0]);
  free(ids);
  free(p);
}

/* How worn an order is does not depend on where a soup is: one that goes on by more than its length in every frame keeps its order, with a
 * stray and without. */
static void wearGoesAlong(void **state) {
  (void)state;
  TestRandom random = testRandom(68);
  uint64_t sorts[2];
  AgreeBody body = {.positions = calloc(9 * DUST + 1, sizeof(float))};
  assert_non_null(body.positions);
  for (int goes = 0; goes < 2; ++goes) {
    pnSoup *soup;
    pnTree *tree;
    pnSoupDef soupDef = pnDefaultSoupDef();
    testExpectOk(pnCreateSoup(&soupDef, &soup));
    testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, body.positions, DUST, NULL));
    stir(soup, &random, 1e7f, &body);
    pnBucketDef def = pnDefaultBucketDef();
    def.soup = soup;
    testExpectOk(pnCreateBucketTree(&def, &tree));
    for (int frame = 0; frame < 20; ++frame) {
      for (uint32_t i = 0; i < 9 * DUST; i += 3) body.positions[i] += goes && i / 9 != 77 ? 8 : 0;
      testExpectOk(pnSoup_SetAll(soup, body.positions, DUST));
      testExpectOk(pnTree_Update(tree, NULL));
      assert_true(tree->grid.isClipped);
    }
    sorts[goes] = pn_keptOf(tree->ruleData)->sorts;
    pnDestroyTree(tree);
    pnDestroySoup(soup);
  }
  assert_true(sorts[0] <= 3 && sorts[1] <= sorts[0] + 1);
  free(body.positions);
}

/* ---------------------------------------------------------------- worlds */

enum { CROWD = 3000 };

static int compareFloats(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* The boxes above bodies: how long is the middle one, and how many are longer than any that has no body in it which is far away or long? */
typedef struct CrowdBoxes {
  float middle;
  uint32_t longOnes;
  size_t pairs;
} CrowdBoxes;

static void measureCrowd(const pnBroadPhase *broad, CrowdBoxes *out) {
  size_t count = broad->levelCount > 1 ? broad->levelFirst[1] : broad->nodes.count;
  float *lengths = malloc(count * sizeof(float));
  assert_true(lengths && broad->levelCount > 1);
  for (size_t i = 0; i < count; ++i) {
    const pnBroadNode *node = &broad->nodes.data[i];
    lengths[i] = 0;
    for (int k = 0; k < 3; ++k) {
      float lo = INFINITY, hi = -INFINITY;
      for (uint32_t j = 0; j < PN_LANES; ++j) {
        if (node->lo[k][j] > node->hi[k][j]) continue;
        lo = fminf(lo, node->lo[k][j]);
        hi = fmaxf(hi, node->hi[k][j]);
      }
      lengths[i] += hi - lo;
    }
    out->longOnes += lengths[i] > 1e3f;
  }
  qsort(lengths, count, sizeof(float), compareFloats);
  out->middle = lengths[count / 2];
  free(lengths);
}

/* Of boxes in a cube, some of which are far away or very long, each eight times as the one before: the mean says as good as
 * nothing of any but the last. */
static CrowdBoxes crowdOf(uint32_t far, bool isLong) {
  TestRandom random = testRandom(64);
  pnWorld *world;
  pnWorldDef worldDef = pnDefaultWorldDef();
  pnMesh *mesh;
  pnBodyId ids[CROWD];
  CrowdBoxes boxes = {0};
  testExpectOk(pnCreateWorld(&worldDef, &world));
  testExpectOk(pnMakeBox((pnVec3){0.3f, 0.3f, 0.3f}, 1, &mesh));
  uint32_t n = pnMesh_GetVertexCount(mesh);
  float *v = malloc(3 * sizeof(float) * n);
  assert_non_null(v);
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = mesh;
  for (uint32_t i = 0; i < CROWD; ++i) testExpectOk(pnWorld_CreateBody(world, &def, &ids[i]));
  for (int frame = 0; frame < 3; ++frame) {
    for (uint32_t i = 0; i < CROWD; ++i) {
      float at[3] = {testFloat(&random, -10, 10), testFloat(&random, -10, 10), testFloat(&random, -10, 10)};
      for (uint32_t k = 0; k < 3 * n; ++k) v[k] = pnMesh_GetVertices(mesh)[k] + at[k % 3];
      if (i < far)
        for (uint32_t k = 0; k < n; ++k) v[3 * k] += ldexpf(isLong && k % 2 ? -1e9f : 1e9f, 3 * (int)i);
      testExpectOk(pnBody_SetVertices(world, ids[i], v, n));
    }
    pnFrame out = pnWorld_Collide(world, NULL);
    testExpectOk(out.result);
    boxes.pairs = out.pairCount;
  }
  measureCrowd(&world->broad, &boxes);
  free(v);
  pnDestroyWorld(world);
  pnDestroyMesh(mesh);
  return boxes;
}

static void crowdsAreSortedAnyhow(void **state) {
  (void)state;
  CrowdBoxes usual = crowdOf(0, false), away = crowdOf(3, false), stretched = crowdOf(24, true);
  assert_true(usual.longOnes == 0 && usual.pairs > 1000);
  assert_true(away.middle < 1.5f * usual.middle && away.longOnes <= 3 && away.pairs > usual.pairs / 2);
  /* those that are long are together */
  assert_true(stretched.middle < 1.5f * usual.middle && stretched.longOnes <= 4 && stretched.pairs > usual.pairs / 2);
}

/* A flung vertex comes and goes, of bodies that look at themselves and at each other; frame by frame the pairs are exact. */
static void worldsAgree(void **state) {
  (void)state;
  TestRandom random = testRandom(65);
  Ball b[2] = {makeBall(2, false), makeBall(2, false)};
  pnWorld *world;
  pnBodyId ids[2];
  pnWorldDef worldDef = pnDefaultWorldDef();
  testExpectOk(pnCreateWorld(&worldDef, &world));
  for (int i = 0; i < 2; ++i) {
    pnBodyDef def = pnDefaultBodyDef();
    def.mesh = b[i].body.mesh;
    testExpectOk(pnWorld_CreateBody(world, &def, &ids[i]));
  }
  for (int frame = 0; frame < 16; ++frame) {
    for (int i = 0; i < 2; ++i) {
      place(&b[i], 1, i ? s_beside : s_here);
      if (frame / 4 % 2) flingSome(&b[i], &random, 1);
      testExpectOk(pnBody_SetVertices(world, ids[i], b[i].body.positions, pnMesh_GetVertexCount(b[i].body.mesh)));
    }
    pnFrame out = pnWorld_Collide(world, NULL);
    testExpectOk(out.result);
    AgreePairs truth = agreeTruth(&b[0].body, &b[1].body);
    assert_int_equal(out.pairCount, truth.count);
    if (truth.count > 0) assert_memory_equal(pnWorld_GetPairs(world), truth.pairs, truth.count * sizeof(pnPair));
    free(truth.pairs);
  }
  pnDestroyWorld(world);
  for (int i = 0; i < 2; ++i) freeBall(&b[i]);
}

/* A large body that has lost a vertex, and small ones beside it, for which its leaves are listed (collide/cutting.h): they come along, stand in the way
 * to the stray, or in the void beyond the grid. */
static void listsOfLeavesAgree(void **state) {
  (void)state;
  Ball large = makeBall(5, false), small = makeBall(1, false);
  const float far = 1e6f, rest[3] = {0.7f, 0.8f, 0};
  pnWorld *world;
  pnBodyId ids[2];
  size_t met = 0;
  pnWorldDef worldDef = pnDefaultWorldDef();
  testExpectOk(pnCreateWorld(&worldDef, &world));
  for (int i = 0; i < 2; ++i) {
    pnBodyDef def = pnDefaultBodyDef();
    def.mesh = i ? small.body.mesh : large.body.mesh;
    testExpectOk(pnWorld_CreateBody(world, &def, &ids[i]));
  }
  place(&large, 1, s_here);
  fling(&large, 70, far, far, far);
  testExpectOk(pnBody_SetVertices(world, ids[0], large.body.positions, pnMesh_GetVertexCount(large.body.mesh)));
  for (int frame = 0; frame < 12; ++frame) {
    float at[3], away = frame < 6 ? 1 : frame < 9 ? 1000 : far / 4;
    for (int k = 0; k < 3; ++k) at[k] = away * (rest[k] + 0.02f * (float)(frame % 6));
    if (away > 1) at[2] = at[1] = at[0]; /* on the way */
    place(&small, frame < 6 ? 0.5f : away / 20, (const float[3]){0, 0, 0});
    for (uint32_t i = 0; i < 3 * pnMesh_GetVertexCount(small.body.mesh); ++i) small.body.positions[i] += at[i % 3];
    testExpectOk(pnBody_SetVertices(world, ids[1], small.body.positions, pnMesh_GetVertexCount(small.body.mesh)));
    pnFrame out = pnWorld_Collide(world, NULL);
    testExpectOk(out.result);
    AgreePairs truth = agreeTruth(&large.body, &small.body);
    assert_int_equal(out.pairCount, truth.count);
    if (truth.count > 0) assert_memory_equal(pnWorld_GetPairs(world), truth.pairs, truth.count * sizeof(pnPair));
    met += truth.count > 0;
    free(truth.pairs);
  }
  const pnBody *body = &world->bodies.data[ids[1].index1 - 1];
  assert_true(met > 6 && body->cutting && world->bodies.data[ids[0].index1 - 1].tree->grid.isClipped);
  pnDestroyWorld(world);
  freeBall(&large);
  freeBall(&small);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wearIsSeen),           cmocka_unit_test(clipsWhereItPays),
      cmocka_unit_test(comesAndGoes),         cmocka_unit_test(pairsAreExact),
      cmocka_unit_test(meetsFarAway),         cmocka_unit_test(hardlyMoreIsOpened),
      cmocka_unit_test(queriesAnswer),        cmocka_unit_test(raysMeetStrays),
      cmocka_unit_test(raysGoVeryFar),        cmocka_unit_test(wrongIsRight),
      cmocka_unit_test(questionsOpenLittle),  cmocka_unit_test(originsAreAnywhere),
      cmocka_unit_test(soupsAreSortedAnyhow), cmocka_unit_test(crowdsAreSortedAnyhow),
      cmocka_unit_test(worldsAgree),          cmocka_unit_test(deadPlacesAreNobody),
      cmocka_unit_test(wearGoesAlong),        cmocka_unit_test(listsOfLeavesAgree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
