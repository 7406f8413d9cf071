/* test_collide_rigid.c: rigid bodies that are moved as a whole in some frames and carried node by node in others (tree/update_rigid.c). Whichever
 * it is, pairs are those of the exact test on every pair of triangles, in order, and volumes are around what they must be. */
#include "support.h"

#include "pinch/geom.h"
#include "pinch/world.h"
#include "tree/tree.h"

#include <string.h>

static TestRandom dice;

#define VERTICES 300u
#define TRIANGLES 520u

/* Of a cloud that reaches from -1 to 1, in small triangles; some are points or segments. The last vertices are corners of none, and far out: no
 * box may be around them. */
typedef struct Body {
  float vertices[3 * VERTICES + 1], given[3 * VERTICES + 1];
  uint32_t triangles[3 * TRIANGLES];
  pnMesh *mesh;
  pnBodyId id;
} Body;

#define USED (VERTICES - 5)

static void scatter(Body *body) {
  float p[3] = {0, 0, 0};
  for (uint32_t i = 0; i < VERTICES; ++i)
    for (uint32_t k = 0; k < 3; ++k) {
      p[k] = 0.7f * p[k] + 0.3f * testFloat(&dice, -1, 1);
      body->vertices[3 * i + k] = i < USED ? p[k] : 1e4f;
    }
  for (uint32_t t = 0; t < TRIANGLES; ++t) {
    uint32_t first = testBelow(&dice, USED);
    for (uint32_t k = 0; k < 3; ++k) body->triangles[3 * t + k] = (first + k * testBelow(&dice, 4)) % USED;
  }
  body->mesh = testMakeMesh(body->vertices, VERTICES, body->triangles, TRIANGLES);
}

static pnTriangle triangleOf(const Body *body, uint32_t t) {
  pnTriangle out;
  for (uint32_t k = 0; k < 3; ++k) memcpy(out.v[k], body->vertices + 3 * body->triangles[3 * t + k], sizeof out.v[k]);
  return out;
}

static size_t expectPairs(const pnWorld *world, const Body bodies[2], const pnFrame *frame) {
  const pnPair *pairs = pnWorld_GetPairs(world);
  size_t n = 0;
  for (uint32_t i = 0; i < TRIANGLES; ++i) {
    for (uint32_t j = 0; j < TRIANGLES; ++j) {
      pnTriangle s = triangleOf(&bodies[0], i), t = triangleOf(&bodies[1], j);
      if (!pnTrianglesMeet(&s, &t)) continue;
      assert_true(n < frame->pairCount && pairs[n].a == i && pairs[n].b == j);
      ++n;
    }
  }
  assert_true(n == frame->pairCount);
  return n;
}

/* Another transform: deep in the other body, beside it, far away, or none; or other vertices, in one array and the other. */
static void stir(pnWorld *world, Body *body, bool isFree) {
  static const float aside[4] = {0.05f, 0.4f, 1.2f, 40};
  uint32_t what = testBelow(&dice, isFree ? 9 : 7);
  pnMatrix move = what == 6 ? pnMatrix_Identity() : testRotation(&dice, 0);
  for (int k = 0; k < 3 && what < 6; ++k) move.m[k][3] = aside[what > 2 ? what - 2 : 0] * testFloat(&dice, -1, 1);
  if (what < 7) testExpectOk(pnBody_SetTransform(world, body->id, &move));
  for (uint32_t k = 0; what > 6 && k < 3 * VERTICES; ++k) body->given[k] = testFloat(&dice, -1, 1);
  if (what == 7) testExpectOk(pnBody_SetVertices(world, body->id, body->given, VERTICES));
  if (what == 8) testExpectOk(pnBody_ShareVertices(world, body->id, body->given, VERTICES));
  pnPose_GetVertices(pnBody_GetPose(world, body->id), body->vertices);
}

static void addBody(pnWorld *world, Body *body, bool isFree) {
  pnBodyDef def = pnDefaultBodyDef();
  scatter(body);
  def.mesh = body->mesh;
  def.kind = isFree ? PN_BODY_FREE : PN_BODY_RIGID;
  def.tree.update = PN_UPDATE_RIGID;
  testExpectOk(pnWorld_CreateBody(world, &def, &body->id));
}

/* Over many frames of one world, a rigid body and a free one that its tree takes for rigid, though it is given other vertices. */
static void inTurns(void **state) {
  (void)state;
  static Body bodies[2];
  pnWorldDef worldDef = pnDefaultWorldDef();
  pnWorld *world;
  size_t found[2] = {0, 0};
  testExpectOk(pnCreateWorld(&worldDef, &world));
  for (int i = 0; i < 2; ++i) addBody(world, &bodies[i], i);
  for (uint32_t round = 0; round < testRounds(200); ++round) {
    stir(world, &bodies[0], false);
    if (round % 3 > 0) stir(world, &bodies[1], true);
    pnFrame frame = pnWorld_Collide(world, NULL);
    testExpectOk(frame.result);
    const pnTree *tree = pnBody_GetTree(world, bodies[0].id);
    found[tree->isMoved] += expectPairs(world, bodies, &frame);
    /* with all nodes filled, which then counts as if queries had come to them */
    for (int i = 0; i < 2 && round % 8 == 7; ++i) testExpectOk(pnTree_Validate(pnBody_GetTree(world, bodies[i].id)));
  }
  assert_true(found[0] > 1000 && found[1] > 1000);
  pnDestroyWorld(world);
  for (int i = 0; i < 2; ++i) pnDestroyMesh(bodies[i].mesh);
}

/* The box of a body that is moved is that of its corners; until a query has come to its leaves it is carried. */
static void boxOfCorners(void **state) {
  (void)state;
  static Body body;
  scatter(&body);
  pnPose *pose;
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = body.mesh;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  pnTreeDef def = pnDefaultTreeDef();
  def.self = false;
  def.pose = pose;
  def.update = PN_UPDATE_RIGID;
  pnTree *tree;
  testExpectOk(pnCreateTree(&def, &tree));
  for (uint32_t round = 0; round < testRounds(50); ++round) {
    pnMatrix turn = testRotation(&dice, 0.5f);
    testExpectOk(pnPose_SetTransform(pose, &turn));
    testExpectOk(pnTree_Update(tree, NULL));
    assert_true(tree->isMoved == (round % 2 == 1));
    pnPose_GetVertices(pose, body.vertices);
    pnBox box = pnTree_GetBox(tree);
    bool isTight = true;
    for (uint32_t k = 0; k < 3; ++k) {
      float least = body.vertices[k], most = least;
      for (uint32_t i = 1; i < USED; ++i) {
        least = PN_MIN(least, body.vertices[3 * i + k]);
        most = PN_MAX(most, body.vertices[3 * i + k]);
      }
      assert_true((&box.min.x)[k] <= least && (&box.max.x)[k] >= most);
      isTight = isTight && (&box.min.x)[k] == least && (&box.max.x)[k] == most;
    }
    assert_true(isTight || !tree->isMoved);
    if (round % 2 == 0) testExpectOk(pnTree_Validate(tree)); /* comes to all leaves */
  }
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMesh(body.mesh);
}

int main(void) {
  dice = testRandom(20);
  const struct CMUnitTest tests[] = {cmocka_unit_test(inTurns), cmocka_unit_test(boxOfCorners)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
