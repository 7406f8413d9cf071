/* test_collide_small.c: small bodies, whose triangles are looked at together (collide/small.h). The pairs found must be those of the exact
 * test on every pair of triangles, in order, wherever numbers are rounded, overflow or vanish, and where everything touches; and
 * every width must find the same candidates. */
#include "support.h"

#include "collide/small.h"
#include "pinch/geom.h"
#include "pinch/world.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

static TestRandom dice;

/* Where a vertex may be. */
typedef enum Kind { CLOUD, FAR_CLOUD, LATTICE, FAR_LATTICE, HUGE, TINY, KINDS } Kind;

static float coordinate(Kind kind) {
  switch (kind) {
    case FAR_CLOUD: return 1e4f + testFloat(&dice, -1, 1);
    case LATTICE: return (float)testBelow(&dice, 6);
    case FAR_LATTICE: return 8388608.0f + (float)testBelow(&dice, 6);
    case HUGE: return testFloat(&dice, -FLT_MAX, FLT_MAX);
    case TINY: return (float)testBelow(&dice, 9) * 1e-45f;
    default: return testFloat(&dice, -1, 1);
  }
}

/* A mesh of so many vertices and triangles, and a tree over it in a pose of its own. */
typedef struct Body {
  uint32_t vertexCount, triangleCount;
  float vertices[3 * 80];
  uint32_t triangles[3 * 160];
  const pnMatrix *move; /* a rigid body; null: a free one */
  pnMesh *mesh;
  pnPose *pose;
  pnTree *tree;
} Body;

/* As bodies of a world have them that do not look at themselves. */
static pnTreeDef plainDef(void) {
  pnTreeDef def = pnDefaultTreeDef();
  def.self = false;
  return def;
}

static void openTree(Body *body, const pnTreeDef *def) {
  body->mesh = testMakeMesh(body->vertices, body->vertexCount, body->triangles, body->triangleCount);
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = body->mesh;
  testExpectOk(pnCreatePose(&poseDef, &body->pose));
  pnTreeDef treeDef = *def;
  treeDef.pose = body->pose;
  testExpectOk(pnCreateTree(&treeDef, &body->tree));
}

static void closeTree(Body *body) {
  pnDestroyTree(body->tree);
  pnDestroyPose(body->pose);
  pnDestroyMesh(body->mesh);
}

/* Triangles of three vertices that are near each other by number, the first of them anywhere; some are points or segments. Vertices
 * of a cloud go round in a spiral, so that triangles are small; the body reaches from -1 to 1 and is shifted. */
static void scatter(Body *body, Kind kind, uint32_t vertexCount, uint32_t triangleCount, const float shift[3]) {
  bool cloud = kind == CLOUD || kind == FAR_CLOUD;
  body->vertexCount = vertexCount;
  body->triangleCount = triangleCount;
  body->move = NULL;
  float p[3] = {coordinate(kind), coordinate(kind), coordinate(kind)};
  for (uint32_t i = 0; i < vertexCount; ++i)
    for (int k = 0; k < 3; ++k) {
      p[k] = cloud ? 0.6f * p[k] + 0.4f * coordinate(kind) : coordinate(kind);
      body->vertices[3 * i + (uint32_t)k] = p[k] + (kind == HUGE || kind == TINY ? 0 : shift[k]);
    }
  for (uint32_t t = 0; t < triangleCount; ++t) {
    uint32_t first = testBelow(&dice, vertexCount);
    for (uint32_t k = 0; k < 3; ++k) body->triangles[3 * t + k] = (first + k * testBelow(&dice, 4)) % vertexCount;
  }
}

static pnTriangle triangleOf(const Body *body, uint32_t t) {
  pnTriangle out;
  for (uint32_t k = 0; k < 3; ++k) memcpy(out.v[k], body->vertices + 3 * body->triangles[3 * t + k], sizeof out.v[k]);
  return out;
}

/* One frame of a world of two bodies, rigid ones where they are moved; the world is returned for its pairs. Moved vertices are the body's
 * from then on. */
static pnWorld *collide(Body *a, Body *b, const pnFrameDef *def, pnFrame *frame) {
  pnWorldDef worldDef = pnDefaultWorldDef();
  pnWorld *world;
  testExpectOk(pnCreateWorld(&worldDef, &world));
  for (int i = 0; i < 2; ++i) {
    Body *body = i ? b : a;
    pnBodyDef bodyDef = pnDefaultBodyDef();
    pnBodyId id;
    bodyDef.mesh = body->mesh;
    bodyDef.kind = body->move ? PN_BODY_RIGID : bodyDef.kind;
    testExpectOk(pnWorld_CreateBody(world, &bodyDef, &id));
    if (!body->move) continue;
    testExpectOk(pnBody_SetTransform(world, id, body->move));
    pnPose_GetVertices(pnBody_GetPose(world, id), body->vertices);
    /* with all nodes filled */
    testExpectOk(pnTree_Update(pnBody_GetTree(world, id), NULL));
    testExpectOk(pnTree_Validate(pnBody_GetTree(world, id)));
  }
  *frame = pnWorld_Collide(world, def);
  testExpectOk(frame->result);
  return world;
}

/* The pairs of a world's last frame are those that meet, in order, where its two bodies are now. Returns how many. */
static size_t expectPairs(const pnWorld *world, const Body *a, const Body *b, const pnFrame *frame) {
  const pnPair *pairs = pnWorld_GetPairs(world);
  size_t n = 0;
  for (uint32_t i = 0; i < a->triangleCount; ++i) {
    for (uint32_t j = 0; j < b->triangleCount; ++j) {
      pnTriangle s = triangleOf(a, i), t = triangleOf(b, j);
      if (!pnTrianglesMeet(&s, &t)) continue;
      assert_true(n < frame->pairCount && pairs[n].a == i && pairs[n].b == j);
      ++n;
    }
  }
  assert_true(n == frame->pairCount);
  return n;
}

/* The same of a world of its own. */
static size_t expectTruth(Body *a, Body *b, const pnFrameDef *def, pnFrame *frame) {
  pnWorld *world = collide(a, b, def, frame);
  size_t n = expectPairs(world, a, b, frame);
  pnDestroyWorld(world);
  return n;
}

static const uint32_t sizes[][2] = {{3, 1},   {4, 2},   {5, 3},   {6, 4},   {7, 5},   {8, 12},   {12, 20}, {15, 30},
                                    {16, 33}, {17, 63}, {32, 64}, {42, 80}, {48, 65}, {63, 127}, {64, 128}};
#define SIZES (sizeof sizes / sizeof sizes[0])

/* Two bodies of these sizes, the second one shifted. */
static void openTwo(Body *a, const uint32_t *x, Body *b, const uint32_t *y, Kind kind, const float shift[3]) {
  const float none[3] = {0, 0, 0};
  pnTreeDef def = plainDef();
  scatter(a, kind, x[0], x[1], none);
  scatter(b, kind, y[0], y[1], shift);
  openTree(a, &def);
  openTree(b, &def);
}

/* ---------------------------------------------------------------- tests */

static void sameAsEveryPair(void **state) {
  (void)state;
  size_t found[KINDS] = {0};
  uint64_t opened = 0, apart = 0;
  for (uint32_t round = 0; round < testRounds(24) * SIZES * KINDS; ++round) {
    Kind kind = (Kind)(round % KINDS);
    const uint32_t *x = sizes[testBelow(&dice, SIZES)], *y = sizes[testBelow(&dice, SIZES)];
    float shift[3];
    for (int k = 0; k < 3; ++k)
      shift[k] = kind == LATTICE || kind == FAR_LATTICE ? (float)testBelow(&dice, 5) : testFloat(&dice, -1, 1);
    Body a, b;
    openTwo(&a, x, &b, y, kind, shift);
    assert_true(pn_isSmall(a.tree) && pn_isSmall(b.tree));
    pnFrame whole, unsorted, opening;
    pnQueryLab noSmall = {.noSmall = true};
    found[kind] += expectTruth(&a, &b, NULL, &whole);
    expectTruth(&a, &b, &(pnFrameDef){.lab = &noSmall}, &opening);
    /* no node was looked at, and nothing is sorted that comes in order */
    assert_true(whole.cost.leafPairs == 0 && whole.cost.nodePairs <= whole.bodyPairs);
    expectTruth(&a, &b, &(pnFrameDef){.unsorted = true}, &unsorted);
    assert_true(whole.cost.exactTests <= opening.cost.exactTests);
    opened += whole.bodyPairs;
    apart += whole.bodyPairs > 0 && whole.cost.volumeTests == 0;
    closeTree(&a);
    closeTree(&b);
  }
  for (int kind = 0; kind < KINDS; ++kind) assert_true(found[kind] > 100);
  assert_true(apart > 0 && apart < opened);
}

/* The same of rigid bodies, one or both, wherever a transform takes them. Of a lattice nothing is turned, so that everything touches. */
static void rigidOnes(void **state) {
  (void)state;
  size_t found[KINDS] = {0};
  for (uint32_t round = 0; round < testRounds(8) * SIZES * KINDS; ++round) {
    Kind kind = (Kind)(round % KINDS);
    bool lattice = kind == LATTICE || kind == FAR_LATTICE;
    const uint32_t *x = sizes[testBelow(&dice, SIZES)], *y = sizes[testBelow(&dice, SIZES)];
    const float none[3] = {0, 0, 0};
    pnTreeDef def = plainDef();
    pnMatrix moves[2];
    Body a, b;
    scatter(&a, kind == FAR_CLOUD ? CLOUD : kind, x[0], x[1], none);
    scatter(&b, kind == FAR_CLOUD ? CLOUD : kind, y[0], y[1], none);
    for (int i = 0; i < 2; ++i) {
      Body *body = i ? &b : &a;
      /* turned, they must be floats still */
      for (uint32_t k = 0; kind == HUGE && k < 3 * body->vertexCount; ++k) body->vertices[k] *= 0.5f;
      openTree(body, &def);
      moves[i] = lattice ? pnMatrix_Identity() : testRotation(&dice, kind == HUGE || kind == TINY ? 0 : 0.7f);
      for (int k = 0; k < 3; ++k) {
        moves[i].m[k][3] += kind == FAR_CLOUD ? 1e4f : 0;
        moves[i].m[k][3] += lattice ? (float)testBelow(&dice, 5) : 0;
      }
    }
    a.move = round / KINDS % 3 != 0 ? &moves[0] : NULL;
    b.move = round / KINDS % 3 != 1 ? &moves[1] : NULL;
    pnFrame whole, opening;
    pnQueryLab noSmall = {.noSmall = true};
    found[kind] += expectTruth(&a, &b, NULL, &whole);
    assert_true(whole.cost.leafPairs == 0 && whole.cost.nodePairs <= whole.bodyPairs);
    expectTruth(&a, &b, &(pnFrameDef){.lab = &noSmall}, &opening);
    assert_true(opening.bodyPairs == whole.bodyPairs);
    closeTree(&a);
    closeTree(&b);
  }
  for (int kind = 0; kind < KINDS; ++kind) assert_true(found[kind] > 100 || kind == FAR_CLOUD);
}

/* Moves, brings back, or leaves alone a body of a world; one whose vertices may be set gets others, as a copy or to look at. */
static void stir(pnWorld *world, pnBodyId id, Body *body, float *given) {
  pnMatrix turn = testRotation(&dice, 0.5f), home = pnMatrix_Identity();
  uint32_t what = testBelow(&dice, given ? 5 : 3);
  if (what == 0) testExpectOk(pnBody_SetTransform(world, id, &turn));
  if (what == 1) testExpectOk(pnBody_SetTransform(world, id, &home));
  for (uint32_t k = 0; what > 2 && k < 3 * body->vertexCount; ++k) given[k] = testFloat(&dice, -1, 1);
  if (what == 3) testExpectOk(pnBody_SetVertices(world, id, given, body->vertexCount));
  if (what == 4) testExpectOk(pnBody_ShareVertices(world, id, given, body->vertexCount));
  pnPose_GetVertices(pnBody_GetPose(world, id), body->vertices);
}

/* Over many frames of one world: a rigid body and a free one that its tree takes for rigid, though it is given other vertices. Where they were
 * is never where they are. */
static void rigidInTurns(void **state) {
  (void)state;
  static float given[3 * 80 + 1];
  const float none[3] = {0, 0, 0};
  pnWorldDef worldDef = pnDefaultWorldDef();
  pnTreeDef def = plainDef();
  pnWorld *world;
  Body bodies[2];
  pnBodyId ids[2];
  size_t found = 0;
  testExpectOk(pnCreateWorld(&worldDef, &world));
  for (int i = 0; i < 2; ++i) {
    scatter(&bodies[i], CLOUD, i ? 64 : 42, i ? 128 : 80, none);
    openTree(&bodies[i], &def);
    pnBodyDef bodyDef = pnDefaultBodyDef();
    bodyDef.mesh = bodies[i].mesh;
    bodyDef.kind = i ? PN_BODY_FREE : PN_BODY_RIGID;
    bodyDef.tree.update = PN_UPDATE_RIGID;
    testExpectOk(pnWorld_CreateBody(world, &bodyDef, &ids[i]));
  }
  for (uint32_t round = 0; round < testRounds(400); ++round) {
    pnQueryLab noSmall = {.noSmall = round % 3 == 0};
    stir(world, ids[0], &bodies[0], NULL);
    stir(world, ids[1], &bodies[1], given);
    pnFrame frame = pnWorld_Collide(world, &(pnFrameDef){.lab = &noSmall});
    testExpectOk(frame.result);
    assert_true(noSmall.noSmall || frame.cost.leafPairs == 0);
    found += expectPairs(world, &bodies[0], &bodies[1], &frame);
  }
  assert_true(found > 1000);
  pnDestroyWorld(world);
  for (int i = 0; i < 2; ++i) closeTree(&bodies[i]);
}

/* Of a rod that stands askew in its mesh the turned box is larger than any box of it: nodes stay within the body's. */
static void nodesStayWithin(void **state) {
  (void)state;
  for (uint32_t round = 0; round < testRounds(300); ++round) {
    Body rod = {.vertexCount = 60, .triangleCount = 120};
    float along[3], size = ldexpf(1, (int)testBelow(&dice, 41) - 20);
    pnMatrix turn = testRotation(&dice, 0);
    for (int k = 0; k < 3; ++k) along[k] = testBelow(&dice, 2) ? size : testFloat(&dice, -size, size);
    for (uint32_t i = 0; i < rod.vertexCount; ++i)
      for (uint32_t k = 0; k < 3; ++k)
        rod.vertices[3 * i + k] = along[k] * ((float)i / 30 - 1) + testFloat(&dice, -0.1f, 0.1f) * size;
    for (uint32_t i = 0; i < 3 * rod.triangleCount; ++i) rod.triangles[i] = (i / 6 + i % 3) % rod.vertexCount;
    pnTreeDef def = plainDef();
    def.update = PN_UPDATE_RIGID;
    openTree(&rod, &def);
    testExpectOk(pnPose_SetTransform(rod.pose, &turn));
    testExpectOk(pnTree_Update(rod.tree, NULL));
    testExpectOk(pnTree_Validate(rod.tree));
    /* the box is that of its vertices */
    pnBox box = pnTree_GetBox(rod.tree), seen = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
    pnPose_GetVertices(rod.pose, rod.vertices);
    for (uint32_t i = 0; i < 3 * rod.vertexCount; ++i) {
      (&seen.min.x)[i % 3] = PN_MIN((&seen.min.x)[i % 3], rod.vertices[i]);
      (&seen.max.x)[i % 3] = PN_MAX((&seen.max.x)[i % 3], rod.vertices[i]);
    }
    assert_memory_equal(&box, &seen, sizeof box);
    closeTree(&rod);
  }
}

/* Bodies so far out in their meshes that nothing is carried, and brought back to where numbers are smaller by half the bits of a float. */
static void farAndBack(void **state) {
  (void)state;
  const float none[3] = {0, 0, 0};
  size_t found = 0;
  for (uint32_t round = 0; round < testRounds(30); ++round) {
    pnTreeDef def = plainDef();
    pnMatrix back = pnMatrix_Identity();
    uint32_t axis = round % 3;
    Body bodies[2];
    back.m[axis][3] = -0x1p126f;
    for (int i = 0; i < 2; ++i) {
      scatter(&bodies[i], LATTICE, 64, 128, none);
      for (uint32_t k = 0; k < 3 * 64; ++k)
        bodies[i].vertices[k] = (k % 3 == axis ? 0x1p126f : 0) + (float)testBelow(&dice, 64) * 0x1p103f;
      openTree(&bodies[i], &def);
      bodies[i].move = &back;
    }
    pnFrame frame;
    pnQueryLab noSmall = {.noSmall = true};
    found += expectTruth(&bodies[0], &bodies[1], &(pnFrameDef){.lab = &noSmall}, &frame);
    expectTruth(&bodies[0], &bodies[1], NULL, &frame);
    for (int i = 0; i < 2; ++i) closeTree(&bodies[i]);
  }
  assert_true(found > 1000);
}

/* The first triangle again and again, until there are so many. */
static void repeatFirst(Body *body, uint32_t count) {
  for (uint32_t *n = &body->triangleCount; *n < count; ++*n)
    memcpy(body->triangles + 3 * *n, body->triangles, 3 * sizeof(uint32_t));
}

/* As few triangles as they have, and so many that it is asked which of them are left. */
static void expectTouch(Body *a, Body *b) {
  pnTreeDef def = plainDef();
  pnFrame frame;
  for (uint32_t count = 0; count <= 12; count += 12) {
    Body x = *a, y = *b;
    repeatFirst(&x, count);
    repeatFirst(&y, count);
    openTree(&x, &def);
    openTree(&y, &def);
    assert_true(expectTruth(&x, &y, NULL, &frame) > 0);
    assert_true(expectTruth(&y, &x, NULL, &frame) > 0);
    closeTree(&x);
    closeTree(&y);
  }
}

/* Where a is below the plane through b's edge and touches its middle, numbers along the direction between them are rounded, each in its
 * way, and a may seem to be a little before b. All coordinates are whole, so that it is known where they touch. */
static void touchingIsKept(void **state) {
  (void)state;
  for (uint32_t round = 0; round < testRounds(200); ++round) {
    int32_t d[3], w[3], q[3], s = 1 + (int32_t)testBelow(&dice, 2), t = 3 - s;
    for (int k = 0; k < 3; ++k) {
      d[k] = 1 + (int32_t)testBelow(&dice, 511);
      w[k] = 1 + (int32_t)testBelow(&dice, 511);
      q[k] = (int32_t)testBelow(&dice, 1 << 20);
    }
    /* the edge q - e, q + e is at right angles to d */
    int32_t e[3] = {d[1] * w[2] - d[2] * w[1], d[2] * w[0] - d[0] * w[2], d[0] * w[1] - d[1] * w[0]};
    Body a = {.vertexCount = 3, .triangleCount = 1, .triangles = {0, 1, 2}};
    Body b = {.vertexCount = 4, .triangleCount = 2, .triangles = {0, 1, 2, 1, 2, 3}};
    for (int k = 0; k < 3; ++k) {
      int32_t below = q[k] - 2 * s * d[k], above = q[k] + 2 * t * d[k];
      int32_t ofA[3] = {q[k], below, k == 0 ? q[k] : below};
      int32_t ofB[4] = {q[k] + e[k], q[k] - e[k], above + e[k], above - e[k]};
      for (int i = 0; i < 3; ++i) a.vertices[3 * i + k] = (float)ofA[i];
      for (int i = 0; i < 4; ++i) b.vertices[3 * i + k] = (float)ofB[i];
    }
    expectTouch(&a, &b);
    /* the same from above: a reaches beyond the other end of b, and its middle is below b's by a point far down there */
    Body c = {.vertexCount = 4, .triangleCount = 2, .triangles = {0, 1, 2, 3, 3, 3}};
    for (int k = 0; k < 3; ++k) {
      int32_t above = q[k] + 2 * s * d[k], below = q[k] - 2 * t * d[k], deep = q[k] - 10 * d[k];
      int32_t ofC[4] = {q[k], above, k == 0 ? q[k] : above, deep};
      int32_t ofB[4] = {q[k] + e[k], q[k] - e[k], below + e[k], below - e[k]};
      for (int i = 0; i < 4; ++i) c.vertices[3 * i + k] = (float)ofC[i];
      for (int i = 0; i < 4; ++i) b.vertices[3 * i + k] = (float)ofB[i];
    }
    expectTouch(&c, &b);
  }
}

/* Balls that lie side by side askew: boxes overlap, and something is seen between them at once, however far they are from the middle of
 * the world and whatever fills up their last registers. */
static void apartIsSeen(void **state) {
  (void)state;
  pnTreeDef def = plainDef();
  for (uint32_t n = 4; n <= PN_SMALL_VERTICES; ++n) {
    Body bodies[2];
    for (int i = 0; i < 2; ++i) {
      Body *body = &bodies[i];
      body->vertexCount = n;
      body->triangleCount = n;
      body->move = NULL;
      for (uint32_t v = 0; v < n; ++v) {
        float p[3] = {testFloat(&dice, -1, 1), testFloat(&dice, -1, 1), testFloat(&dice, -1, 1)};
        float reach = PN_MAX(1.0f, p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        for (int k = 0; k < 3; ++k) body->vertices[3 * v + (uint32_t)k] = 500 + p[k] / reach + 1.3f * (float)i;
        for (uint32_t k = 0; k < 3; ++k) body->triangles[3 * v + k] = (v + k) % n;
      }
      /* four that are there, so that middles are nearly where they should be and boxes overlap */
      static const float ends[4][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 0.7f, 0.7f}, {0, -0.7f, -0.7f}};
      for (uint32_t k = 0; k < 12; ++k) body->vertices[k] = 500 + ends[k / 3][k % 3] + 1.3f * (float)i;
      openTree(body, &def);
    }
    pnFrame frame;
    pnDestroyWorld(collide(&bodies[0], &bodies[1], NULL, &frame));
    assert_true(frame.bodyPairs == 1 && frame.cost.volumeTests == 0 && frame.cost.exactTests == 0);
    closeTree(&bodies[0]);
    closeTree(&bodies[1]);
  }
}

/* Vertices that are no corners may be so far out that nothing can be said about them along the fourth direction: not even a number. What
 * stands before them in the same lane counts nevertheless. */
static void othersAreFar(void **state) {
  (void)state;
  for (uint32_t far = 3; far < PN_SMALL_VERTICES; ++far) {
    Body a = {.vertexCount = PN_SMALL_VERTICES, .triangleCount = 1, .triangles = {0, 1, 2}};
    Body b = {.vertexCount = 3, .triangleCount = 1, .triangles = {0, 1, 2}};
    static const float ofA[3][3] = {{1.5f, 1.5f, 0}, {0, 0, 0}, {0.5f, 1, 1}},
                       ofB[3][3] = {{1, 1, -1}, {3, 1, 2}, {1, 3, 2}};
    for (uint32_t i = 0; i < a.vertexCount; ++i) memcpy(a.vertices + 3 * i, ofA[i < 3 ? i : 1], sizeof ofA[0]);
    memcpy(b.vertices, ofB, sizeof ofB);
    a.vertices[3 * far] = 3e38f;
    a.vertices[3 * far + 1] = -3e38f;
    expectTouch(&a, &b);
  }
}

/* What the loops of one width list. */
static size_t listBy(pnOpenSmallFcn *open, const Body *a, const Body *b, pnWorker *w) {
  pnSmallView view;
  pn_viewSmall(&a->tree->box, &b->tree->box, &view);
  assert_true(open(a->tree, b->tree, &view, w));
  return w->candidates.count;
}

static void widthsAgree(void **state) {
  (void)state;
  pnOpenSmallFcn *open[3] = {pn_openSmall4, NULL, NULL};
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (__builtin_cpu_supports("avx2")) open[1] = pn_openSmallAvx2;
#if defined(PN_AVX512)
  if (pn_hasVbmi()) open[2] = pn_openSmallVbmi;
#endif
#endif
  size_t all = 0;
  for (uint32_t round = 0; round < testRounds(10) * SIZES * SIZES * KINDS; ++round) {
    Kind kind = (Kind)(round % KINDS);
    const uint32_t *x = sizes[round / KINDS % SIZES], *y = sizes[round / KINDS / SIZES % SIZES];
    float shift[3];
    for (int k = 0; k < 3; ++k) shift[k] = testFloat(&dice, -1, 1);
    Body a, b;
    openTwo(&a, x, &b, y, kind, shift);
    pnWorker w[3];
    memset(w, 0, sizeof w);
    size_t count = listBy(open[0], &a, &b, &w[0]);
    for (int i = 1; i < 3; ++i) {
      if (!open[i]) continue;
      assert_true(listBy(open[i], &a, &b, &w[i]) == count);
      if (count > 0) assert_memory_equal(w[0].candidates.data, w[i].candidates.data, count * sizeof(pnPair));
      assert_memory_equal(&w[0].cost, &w[i].cost, sizeof(pnCost));
    }
    all += count;
    for (int i = 0; i < 3; ++i) pn_workerFree(&w[i]);
    closeTree(&a);
    closeTree(&b);
  }
  assert_true(all > 0);
}

static bool isSmall(uint32_t vertexCount, uint32_t triangleCount, const pnTreeDef *def) {
  Body body;
  float none[3] = {0, 0, 0};
  scatter(&body, CLOUD, vertexCount, triangleCount, none);
  openTree(&body, def);
  bool small = pn_isSmall(body.tree);
  closeTree(&body);
  return small;
}

/* Who is small, and whose vertices can be read where they are. */
static void whoIsSmall(void **state) {
  (void)state;
  pnTreeDef def = plainDef(), self = def, balls = def;
  assert_true(isSmall(PN_SMALL_VERTICES, PN_SMALL_TRIANGLES, &def));
  assert_false(isSmall(PN_SMALL_VERTICES + 1, PN_SMALL_TRIANGLES, &def));
  assert_false(isSmall(PN_SMALL_VERTICES, PN_SMALL_TRIANGLES + 1, &def));
  self.self = true;
  assert_false(isSmall(20, 20, &self));
  pnTreeLab lab = {.form = PN_FORM_SPHERE};
  balls.lab = &lab;
  assert_false(isSmall(20, 20, &balls));
  Body body;
  float none[3] = {0, 0, 0};
  scatter(&body, CLOUD, 20, 20, none);
  openTree(&body, &def);
  pnMatrix turn = testRotation(&dice, 1);
  testExpectOk(pnPose_SetTransform(body.pose, &turn));
  testExpectOk(pnTree_Update(body.tree, NULL));
  assert_true(pn_isSmall(body.tree)); /* moved, and read where that is */
  closeTree(&body);
  pnTreeDef rigid = def;
  rigid.update = PN_UPDATE_RIGID;
  assert_true(isSmall(PN_SMALL_VERTICES, PN_SMALL_TRIANGLES, &rigid));
  assert_false(isSmall(PN_SMALL_VERTICES + 1, PN_SMALL_TRIANGLES, &rigid));
}

/* Pairs of one triangle and a body that is not small: they come in the order of its tree, and only their second numbers say that they are
 * not sorted yet. */
static void othersAreSorted(void **state) {
  (void)state;
  pnTreeDef def = plainDef();
  float none[3] = {0, 0, 0};
  Body a = {.vertexCount = 3, .triangleCount = 1, .vertices = {-9, -9, 0, 9, -9, 0, 0, 9, 0}, .triangles = {0, 1, 2}},
       b;
  scatter(&b, CLOUD, PN_SMALL_VERTICES + 2, 150, none);
  openTree(&a, &def);
  openTree(&b, &def);
  pnFrame frame;
  assert_true(expectTruth(&a, &b, NULL, &frame) > 10);
  assert_true(frame.cost.leafPairs > 0);
  closeTree(&a);
  closeTree(&b);
}

int main(void) {
  dice = testRandom(20261116);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sameAsEveryPair), cmocka_unit_test(rigidOnes),       cmocka_unit_test(rigidInTurns),
      cmocka_unit_test(nodesStayWithin), cmocka_unit_test(farAndBack),      cmocka_unit_test(touchingIsKept),
      cmocka_unit_test(apartIsSeen),     cmocka_unit_test(othersAreFar),    cmocka_unit_test(widthsAgree),
      cmocka_unit_test(whoIsSmall),      cmocka_unit_test(othersAreSorted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
