/* test_world_late.c: trees wait while nothing is near their bodies, and it is never seen: not by frames in which something comes near, not by
 * questions, not by bodies that come to rest meanwhile. */
#include "support.h"

#include "pinch/pinch.h"

#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Balls of 80 triangles and of 1280, by turns rigid, free by vertices, and free by vertices and a transform; in one line. */
enum { COUNT = 40, KINDS = 3 };
#define APART 10.0f

typedef struct Stage {
  pnMesh *meshes[2];
  pnWorld *world;
  pnBodyId ids[COUNT];
  float at[COUNT]; /* x of its middle */
  float turned[COUNT];
} Stage;

static const pnMesh *meshOf(const Stage *s, uint32_t i) {
  return s->meshes[i / KINDS % 2];
}

/* Puts a body where the stage says it is. */
static void put(const Stage *s, pnWorld *world, const pnBodyId *ids, uint32_t i) {
  const pnMesh *mesh = meshOf(s, i);
  const float *rest = pnMesh_GetVertices(mesh), c = cosf(s->turned[i]), d = sinf(s->turned[i]);
  uint32_t count = pnMesh_GetVertexCount(mesh);
  pnMatrix m = {{{c, -d, 0, s->at[i]}, {d, c, 0, 0}, {0, 0, 1, 0}}};
  if (i % KINDS != 0) {
    float *vertices = malloc(sizeof(float) * 3 * count);
    bool whole = i % KINDS == 1; /* else the transform does half of it */
    for (uint32_t v = 0; v < 3 * count; ++v) vertices[v] = rest[v] + (v % 3 == 0 && whole ? s->at[i] : 0);
    testExpectOk(pnBody_SetVertices(world, ids[i], vertices, count));
    free(vertices);
  }
  if (i % KINDS != 1) testExpectOk(pnBody_SetTransform(world, ids[i], &m));
}

static pnWorld *makeWorld(const Stage *s, pnBodyId *outIds) {
  pnWorld *world;
  testExpectOk(pnCreateWorld(NULL, &world));
  for (uint32_t i = 0; i < COUNT; ++i) {
    pnBodyDef def = pnDefaultBodyDef();
    def.mesh = meshOf(s, i);
    def.kind = i % KINDS == 0 ? PN_BODY_RIGID : PN_BODY_FREE;
    testExpectOk(pnWorld_CreateBody(world, &def, &outIds[i]));
  }
  return world;
}

static Stage makeStage(void) {
  Stage s = {0};
  testExpectOk(pnMakeIcosphere(1, 1, &s.meshes[0]));
  testExpectOk(pnMakeIcosphere(3, 1, &s.meshes[1]));
  s.world = makeWorld(&s, s.ids);
  for (uint32_t i = 0; i < COUNT; ++i) {
    s.at[i] = APART * (float)i;
    put(&s, s.world, s.ids, i);
  }
  testExpectOk(pnWorld_Collide(s.world, NULL).result); /* the first: all follow */
  return s;
}

static void freeStage(Stage *s) {
  pnDestroyWorld(s->world);
  for (int i = 0; i < 2; ++i) pnDestroyMesh(s->meshes[i]);
  assert_int_equal(pnGetByteCount(), 0);
}

static bool isThere(const Stage *s, uint32_t i) {
  return pn_isThere(s->world->bodies.data[s->ids[i].index1 - 1].tree);
}

/* Turns all bodies where they are. */
static void turnAll(Stage *s, float by) {
  for (uint32_t i = 0; i < COUNT; ++i) {
    s->turned[i] += by;
    put(s, s->world, s->ids, i);
  }
}

/* The answer is that of a world that has never seen a frame. */
static size_t expectTruth(const Stage *s, const pnFrame *frame) {
  pnBodyId ids[COUNT];
  pnWorld *other = makeWorld(s, ids);
  for (uint32_t i = 0; i < COUNT; ++i) put(s, other, ids, i);
  pnFrame truth = pnWorld_Collide(other, NULL);
  testExpectOk(frame->result);
  testExpectOk(truth.result);
  assert_int_equal(frame->contactCount, truth.contactCount);
  assert_int_equal(frame->pairCount, truth.pairCount);
  if (truth.pairCount > 0)
    assert_memory_equal(pnWorld_GetPairs(s->world), pnWorld_GetPairs(other), truth.pairCount * sizeof(pnPair));
  pnDestroyWorld(other);
  return truth.pairCount;
}

/* Nothing near: no tree follows, and bodies at rest are not looked at again. */
static void whoIsAloneWaits(void **state) {
  (void)state;
  Stage s = makeStage();
  for (int frame = 0; frame < 4; ++frame) {
    turnAll(&s, 0.1f);
    pnFrame f = pnWorld_Collide(s.world, NULL);
    testExpectOk(f.result);
    assert_int_equal(f.bodyPairs, 0);
    assert_int_equal(f.cost.nodesUpdated, 0);
    assert_int_equal(s.world->lateCount, COUNT);
    assert_int_equal(s.world->touched.count, 0);
    for (uint32_t i = 0; i < COUNT; ++i) assert_false(isThere(&s, i));
  }
  /* one that is new follows in the frame that sees it first */
  pnBodyDef def = pnDefaultBodyDef();
  pnBodyId id;
  def.mesh = s.meshes[1];
  testExpectOk(pnWorld_CreateBody(s.world, &def, &id));
  pnMatrix far = {{{1, 0, 0, 0}, {0, 1, 0, -90}, {0, 0, 1, 0}}};
  for (int frame = 0; frame < 2; ++frame) {
    testExpectOk(pnBody_SetTransform(s.world, id, &far));
    testExpectOk(pnWorld_Collide(s.world, NULL).result);
    assert_int_equal(pn_isThere(pnBody_GetTree(s.world, id)), frame == 0);
  }
  testExpectOk(pnWorld_DestroyBody(s.world, id));
  assert_int_equal(s.world->lateCount, COUNT);
  /* one that is destroyed, and others that are late when the world goes */
  testExpectOk(pnWorld_DestroyBody(s.world, s.ids[5]));
  assert_int_equal(s.world->lateCount, COUNT - 1);
  testExpectOk(pnWorld_Collide(s.world, NULL).result);
  freeStage(&s);
}

/* One body goes along the line, through those that have come to rest while they were late; while it is near another, both follow, and they
 * wait again when it is gone. */
static void whoIsMetFollows(void **state) {
  (void)state;
  for (uint32_t walker = 0; walker < 2 * KINDS; ++walker) {
    Stage s = makeStage();
    size_t pairs = 0;
    uint32_t met = 0;
    turnAll(&s, 0.7f);
    testExpectOk(pnWorld_Collide(s.world, NULL).result);
    for (uint32_t step = 0; step < 60; ++step) {
      s.at[walker] = 55 + 0.9f * (float)step;
      s.turned[walker] += 0.05f;
      put(&s, s.world, s.ids, walker);
      pnFrame frame = pnWorld_Collide(s.world, NULL);
      pairs += expectTruth(&s, &frame);
      met += frame.contactCount;
      assert_int_equal(s.world->lateCount > 0, true);
    }
    assert_true(pairs > 500 && met > 10);
    freeStage(&s);
  }
}

/* Who had something near follows before the broad phase, so that its box is the tree's; alone again it waits from the second frame on. */
static void whoWasNearDoesNotWait(void **state) {
  (void)state;
  Stage s = makeStage();
  const uint32_t a = 3, b = 4; /* of 1280 triangles each, rigid and free */
  s.at[b] = s.at[a] + 1.5f;
  for (int frame = 0; frame < 3; ++frame) {
    turnAll(&s, 0.1f);
    pnFrame f = pnWorld_Collide(s.world, NULL);
    assert_true(expectTruth(&s, &f) > 0);
    for (uint32_t i = 0; i < COUNT; ++i) assert_int_equal(isThere(&s, i), i == a || i == b);
    assert_int_equal(s.world->lateCount, COUNT - 2);
  }
  s.at[b] = APART * (float)b;
  for (int frame = 0; frame < 2; ++frame) {
    turnAll(&s, 0.1f);
    testExpectOk(pnWorld_Collide(s.world, NULL).result);
    for (uint32_t i = 0; i < COUNT; ++i) assert_int_equal(isThere(&s, i), frame == 0 && (i == a || i == b));
  }
  freeStage(&s);
}

/* Rays, points, boxes and distances see bodies where they are; then a frame is as if nobody had asked. */
static void questionsSeeLateBodies(void **state) {
  (void)state;
  Stage s = makeStage();
  for (uint32_t round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < COUNT; ++i) s.at[i] += 3;
    turnAll(&s, 0.3f);
    testExpectOk(pnWorld_Collide(s.world, NULL).result);
    if (round == 1) testExpectOk(pnWorld_Collide(s.world, NULL).result); /* they have come to rest */
    assert_int_equal(s.world->lateCount, COUNT);
    pnHit hits[COUNT];
    pnRay rays[COUNT];
    pnClosest closest[COUNT];
    float points[3 * COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
      rays[i] = (pnRay){.origin = {s.at[i], 0.1f, 5}, .direction = {0, 0, -1}, .last = 100};
      memcpy(points + 3 * i, (float[3]){s.at[i], 0, 3}, 3 * sizeof(float));
    }
    if (round != 2) {
      testExpectOk(pnWorld_FindFirstHits(s.world, rays, COUNT, 1, hits));
      for (uint32_t i = 0; i < COUNT; ++i) assert_int_equal(hits[i].body.index1, s.ids[i].index1);
    }
    testExpectOk(pnWorld_FindClosest(s.world, points, COUNT, 10, 1, closest));
    for (uint32_t i = 0; i < COUNT; ++i) assert_int_equal(closest[i].body.index1, s.ids[i].index1);
    assert_int_equal(s.world->lateCount, 0);
    for (uint32_t i = 0; i < COUNT; ++i) assert_true(isThere(&s, i));
    pnBodyPair pair = {s.ids[0], s.ids[1]};
    pnDistance distance;
    testExpectOk(pnWorld_FindDistances(s.world, &pair, 1, 100, &distance));
    assert_true(fabs(distance.distance - (APART - 2)) < 0.2);
    pnFrame frame = pnWorld_Collide(s.world, NULL);
    assert_int_equal(expectTruth(&s, &frame), 0);
  }
  freeStage(&s);
}

/* One question alone: only the trees that it reaches follow, and the answer is that of all questions at once. */
static void questionsReachFew(void **state) {
  (void)state;
  Stage s = makeStage();
  for (uint32_t i = 0; i < COUNT; i += 7) {
    for (uint32_t k = 0; k < COUNT; ++k) s.at[k] += 2;
    turnAll(&s, 0.3f);
    if (i % 2) testExpectOk(pnWorld_Collide(s.world, NULL).result); /* else it is asked before a frame has seen them */
    pnRay ray = pnDefaultRay();
    ray.origin = (pnVec3){s.at[i], 0.1f, 5};
    ray.direction = (pnVec3){0, 0, -1};
    pnHit hit, all[COUNT];
    pnRay rays[COUNT];
    testExpectOk(pnWorld_FindFirstHits(s.world, &ray, 1, 1, &hit));
    assert_int_equal(hit.body.index1, s.ids[i].index1);
    for (uint32_t k = 0; k < COUNT; ++k) assert_int_equal(isThere(&s, k), k == i);
    /* a point with something far away, and a box */
    float point[3] = {s.at[(i + 1) % COUNT], 0, 3};
    pnClosest near;
    testExpectOk(pnWorld_FindClosest(s.world, point, 1, 4, 1, &near));
    assert_int_equal(near.body.index1, s.ids[(i + 1) % COUNT].index1);
    pnBox box = {{s.at[(i + 2) % COUNT] - 3, -3, -3}, {s.at[(i + 2) % COUNT] + 3, 3, 3}};
    pnTriangleList *list;
    testExpectOk(pnCreateTriangleList(&list));
    testExpectOk(pnWorld_FindInBoxes(s.world, &box, 1, 1, list));
    assert_int_equal(pnTriangleList_GetCount(list), pnMesh_GetTriangleCount(meshOf(&s, (i + 2) % COUNT)));
    pnDestroyTriangleList(list);
    pnBodyPair pair = {s.ids[(i + 3) % COUNT], s.ids[(i + 4) % COUNT]};
    pnDistance distance;
    testExpectOk(pnWorld_FindDistances(s.world, &pair, 1, INFINITY, &distance));
    assert_true(distance.distance < INFINITY);
    for (uint32_t k = 0; k < COUNT; ++k) assert_int_equal(isThere(&s, k), (k + COUNT - i) % COUNT <= 4);
    /* a point without a limit reaches everybody */
    testExpectOk(pnWorld_FindClosest(s.world, point, 1, INFINITY, 1, &near));
    assert_int_equal(near.body.index1, s.ids[(i + 1) % COUNT].index1);
    for (uint32_t k = 0; k < COUNT; ++k) {
      rays[k] = ray;
      rays[k].origin.x = s.at[k];
    }
    testExpectOk(pnWorld_FindFirstHits(s.world, rays, COUNT, 1, all));
    assert_true(all[i].triangle == hit.triangle && all[i].t == hit.t);
    for (uint32_t k = 0; k < COUNT; ++k) assert_int_equal(all[k].body.index1, s.ids[k].index1);
    pnFrame frame = pnWorld_Collide(s.world, NULL);
    assert_int_equal(expectTruth(&s, &frame), 0);
  }
  freeStage(&s);
}

/* A list that is limited, first pairs and a frame that fails leave late bodies as they are. */
static void otherFramesKeepLateBodies(void **state) {
  (void)state;
  Stage s = makeStage();
  turnAll(&s, 0.4f);
  testExpectOk(pnWorld_Collide(s.world, NULL).result);
  s.at[7] = s.at[8] - 1.5f;
  put(&s, s.world, s.ids, 7);
  pnFrameDef first = {.first = true}, one = {.maxPairs = 1};
  for (int i = 0; i < 3; ++i) {
    pnFrame f = pnWorld_Collide(s.world, &first);
    testExpectOk(f.result);
    assert_int_equal(f.pairCount, 1);
    s.turned[7] += 0.01f;
    put(&s, s.world, s.ids, 7);
  }
  assert_true(pnWorld_Collide(s.world, &one).limited);
  pnFrame frame = pnWorld_Collide(s.world, NULL);
  assert_true(expectTruth(&s, &frame) > 1);
  /* a body whose vertices are no numbers stops a frame; then it is somewhere again */
  float bad[3 * 42 + 1] = {NAN};
  testExpectOk(pnBody_ShareVertices(s.world, s.ids[1], bad, 42));
  s.at[10] = s.at[11] - 1.5f;
  s.turned[20] += 1;
  put(&s, s.world, s.ids, 10);
  put(&s, s.world, s.ids, 20);
  testExpectFailure(pnWorld_Collide(s.world, NULL).result, PN_ERROR_NUMBER, "vertex 0");
  put(&s, s.world, s.ids, 1);
  frame = pnWorld_Collide(s.world, NULL);
  assert_true(expectTruth(&s, &frame) > 1);
  assert_int_equal(frame.contactCount, 2);
  freeStage(&s);
}

/* Where the vertices of a morph are is not known before they are computed: such a body never waits, and is seen where its weights bring it. */
static void morphsDoNotWait(void **state) {
  (void)state;
  Stage s = makeStage();
  uint32_t count = pnMesh_GetVertexCount(s.meshes[0]);
  float *along = calloc(3 * (size_t)count, sizeof(float)), weight = 0;
  for (uint32_t v = 0; v < count; ++v) along[3 * v] = APART;
  pnMorphTarget target = {.values = along, .count = count};
  pnMorphDef morphDef = {.mesh = s.meshes[0], .targets = &target, .targetCount = 1};
  pnMorph *morph;
  testExpectOk(pnCreateMorph(&morphDef, &morph));
  pnBodyDef def = pnDefaultBodyDef();
  pnBodyId id;
  def.kind = PN_BODY_MORPH;
  def.mesh = s.meshes[0];
  def.morph = morph;
  testExpectOk(pnWorld_CreateBody(s.world, &def, &id));
  pnMatrix aside = {{{1, 0, 0, -1.75f * APART}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
  testExpectOk(pnBody_SetTransform(s.world, id, &aside));
  for (int frame = 0; frame < 8; ++frame) {
    weight = 0.25f * (float)frame;
    testExpectOk(pnBody_SetWeights(s.world, id, &weight, 1));
    pnFrame f = pnWorld_Collide(s.world, NULL);
    testExpectOk(f.result);
    assert_int_equal(f.contactCount, frame == 7 ? 1 : 0);
    assert_true(pn_isThere(pnBody_GetTree(s.world, id)));
  }
  testExpectOk(pnWorld_DestroyBody(s.world, id));
  pnDestroyMorph(morph);
  free(along);
  freeStage(&s);
}

/* One question to a skinned body that nothing was near to yet: its leaves are filled for the first time. */
static void questionsOpenLeaves(void **state) {
  (void)state;
  Stage s = makeStage();
  uint32_t count = pnMesh_GetVertexCount(s.meshes[1]);
  uint16_t *joints = calloc(count, sizeof *joints);
  float *weights = calloc(count, sizeof *weights);
  assert_true(joints && weights);
  for (uint32_t v = 0; v < count; ++v) weights[v] = 1;
  pnSkinDef skinDef = pnDefaultSkinDef();
  skinDef.mesh = s.meshes[1], skinDef.jointCount = skinDef.influenceCount = 1;
  skinDef.jointIndices = joints, skinDef.jointWeights = weights;
  pnSkin *skin;
  testExpectOk(pnCreateSkin(&skinDef, &skin));
  pnBodyDef def = pnDefaultBodyDef();
  pnBodyId ids[2]; /* of the second it is known where it is at rest, and its tree has not seen a frame */
  def.kind = PN_BODY_SKINNED, def.mesh = s.meshes[1], def.skin = skin;
  for (int i = 0; i < 2; ++i) {
    testExpectOk(pnWorld_CreateBody(s.world, &def, &ids[i]));
    pnMatrix joint = {{{1, 0, 0, -APART * (float)(i + 1)}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    testExpectOk(pnBody_SetJoints(s.world, ids[i], &joint, 1));
  }
  for (int i = 0; i < 2; ++i) {
    pnRay ray = pnDefaultRay();
    ray.origin = (pnVec3){-APART * (float)(i + 1), 0.1f, 5};
    ray.direction = (pnVec3){0, 0, -1};
    pnHit hit;
    testExpectOk(pnWorld_FindFirstHits(s.world, &ray, 1, 1, &hit));
    assert_int_equal(hit.body.index1, ids[i].index1);
    testExpectOk(pnWorld_DestroyBody(s.world, ids[i]));
  }
  free(joints);
  free(weights);
  pnDestroySkin(skin);
  freeStage(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whoIsAloneWaits),       cmocka_unit_test(whoIsMetFollows),
      cmocka_unit_test(whoWasNearDoesNotWait), cmocka_unit_test(questionsSeeLateBodies),
      cmocka_unit_test(questionsReachFew),     cmocka_unit_test(otherFramesKeepLateBodies),
      cmocka_unit_test(morphsDoNotWait),       cmocka_unit_test(questionsOpenLeaves)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
