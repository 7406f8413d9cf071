/* test_skin.c: skins and poses with joints. Vertices are what the definition says, bit for bit, however they are asked
 * for; weights are repaired and reported or refused; wrong input is named and changes nothing. */
#include "support_skin.h"

#include <float.h>

#include "geom/simd.h"
#include "mesh/pose.h"

/* ---------------------------------------------------------------- the definition, written again */

static void movePoint(const float m[3][4], const float *p, float *out) {
  for (int k = 0; k < 3; ++k) {
    float x = m[k][0] * p[0], y = m[k][1] * p[1], z = m[k][2] * p[2];
    float xy = x + y, xyz = xy + z;
    out[k] = xyz + m[k][3];
  }
}

/* Linear: from the definition's arrays as the skin keeps them. */
static void expectLinear(const SkinBody *body, const float *before, uint32_t v, float *out) {
  const pnSkin *skin = body->skin;
  float sum[3] = {-0.0f, -0.0f, -0.0f};
  for (uint32_t e = skin->influenceFirst[v]; e < skin->influenceFirst[v + 1]; ++e) {
    float moved[3];
    movePoint(body->joints[skin->influences[e].joint].m, before, moved);
    for (int k = 0; k < 3; ++k) {
      float part = skin->influences[e].weight * moved[k];
      sum[k] = sum[k] + part;
    }
  }
  memcpy(out, sum, sizeof sum);
}

/* Weighted, in double by angles: near, not the same bits. */
static void expectWeighted(const SkinBody *body, const float *before, uint32_t v, double *out) {
  const pnSkin *skin = body->skin;
  uint32_t joint = skin->influences[v].joint;
  double w = (double)skin->influences[v].weight, p[3];
  const pnMatrix *m = &body->joints[joint];
  const double c[3] = {(double)skin->pivots[joint].x, (double)skin->pivots[joint].y, (double)skin->pivots[joint].z};
  /* axis and angle */
  double cosine = ((double)m->m[0][0] + (double)m->m[1][1] + (double)m->m[2][2] - 1) / 2, axis[3];
  for (int k = 0; k < 3; ++k) axis[k] = (double)m->m[(k + 2) % 3][(k + 1) % 3] - (double)m->m[(k + 1) % 3][(k + 2) % 3];
  double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  double angle = atan2(length / 2, cosine), part = 2 * atan2(w * sin(angle / 2), 1 - w + w * cos(angle / 2));
  for (int k = 0; k < 3; ++k) axis[k] /= length > 0 ? length : 1;
  const double d[3] = {(double)before[0] - c[0], (double)before[1] - c[1], (double)before[2] - c[2]};
  const double dot = axis[0] * d[0] + axis[1] * d[1] + axis[2] * d[2];
  for (int k = 0; k < 3; ++k) {
    double cross = axis[(k + 1) % 3] * d[(k + 2) % 3] - axis[(k + 2) % 3] * d[(k + 1) % 3];
    double slide =
        (double)m->m[k][0] * c[0] + (double)m->m[k][1] * c[1] + (double)m->m[k][2] * c[2] + (double)m->m[k][3] - c[k];
    p[k] = d[k] * cos(part) + cross * sin(part) + axis[k] * dot * (1 - cos(part)) + c[k] + w * slide;
  }
  for (uint32_t j = skin->parents[joint]; j != PN_NONE; j = skin->parents[j]) {
    double q[3];
    const pnMatrix *up = &body->joints[j];
    for (int k = 0; k < 3; ++k)
      q[k] = (double)up->m[k][0] * p[0] + (double)up->m[k][1] * p[1] + (double)up->m[k][2] * p[2] + (double)up->m[k][3];
    memcpy(p, q, sizeof p);
  }
  memcpy(out, p, sizeof p);
}

/* Vertices without the skin: a pose of the same morph and weights. */
static float *beforeSkin(const SkinBody *body) {
  pnPoseDef def = {body->mesh, body->morph, NULL};
  pnPose *pose;
  testExpectOk(pnCreatePose(&def, &pose));
  if (body->morph) testExpectOk(pnPose_SetWeights(pose, pnPose_GetWeights(body->pose), 3));
  float *out = malloc(3 * sizeof(float) * pnMesh_GetVertexCount(body->mesh));
  assert_non_null(out);
  pnPose_GetVertices(pose, out);
  pnDestroyPose(pose);
  return out;
}

static void checkBody(SkinBody *body, const pnMatrix *transform) {
  uint32_t n = pnMesh_GetVertexCount(body->mesh);
  float *before = beforeSkin(body), *all = malloc(3 * sizeof(float) * n);
  assert_non_null(all);
  pnPose_GetVertices(body->pose, all);
  for (uint32_t v = 0; v < n; ++v) {
    pnVec3 one = pnPose_GetVertex(body->pose, v);
    assert_memory_equal(&one, all + 3 * v, sizeof one);
    float four[4] = {9, 9, 9, 9};
    pn_poseFetch(body->pose, &v, 1, four, 4);
    assert_memory_equal(four, all + 3 * v, sizeof one);
    assert_true(four[3] == 0);
    if (body->kind == SKIN_WEIGHTED && !transform) {
      double expected[3];
      expectWeighted(body, before + 3 * v, v, expected);
      for (int k = 0; k < 3; ++k) assert_true(fabs(expected[k] - (double)all[3 * v + k]) < 2e-5);
    } else if (body->kind != SKIN_WEIGHTED) {
      float expected[3], moved[3];
      expectLinear(body, before + 3 * v, v, expected);
      if (transform) movePoint(transform->m, expected, moved);
      const float *want = transform ? moved : expected;
      assert_memory_equal(want, all + 3 * v, 3 * sizeof(float));
    }
  }
  free(all);
  free(before);
}

static void verticesAreTheDefinition(void **state) {
  (void)state;
  for (int kind = 0; kind < SKIN_KIND_COUNT; ++kind)
    for (int morphs = 0; morphs < 3; ++morphs) {
      SkinBody body = skinMake((SkinKind)kind, 2, 1, morphs, 5);
      TestRandom random = testRandom(9);
      for (int round = 0; round < 6; ++round) {
        skinPose(&body, &random, round % 3, 0.5f);
        pnMatrix transform = testRotation(&random, 1), none = pnMatrix_Identity();
        testExpectOk(pnPose_SetTransform(body.pose, round % 2 ? &transform : &none));
        checkBody(&body, round % 2 ? &transform : NULL);
      }
      skinFree(&body);
    }
}

static void restIsRest(void **state) {
  (void)state;
  for (int kind = 0; kind < SKIN_KIND_COUNT; ++kind) {
    SkinBody body = skinMake((SkinKind)kind, 2, 1, 0, 5);
    TestRandom random = testRandom(10);
    const float *rest = pnMesh_GetVertices(body.mesh);
    for (int round = 0; round < 2; ++round) {
      for (uint32_t v = 0; v < pnMesh_GetVertexCount(body.mesh); ++v) {
        pnVec3 p = pnPose_GetVertex(body.pose, v);
        for (int k = 0; k < 3; ++k) {
          float x = (&p.x)[k], r = rest[3 * v + k];
          assert_true(body.kind == SKIN_RIGID ? x == r : fabsf(x - r) <= 1e-6f);
        }
      }
      uint64_t frame = pnPose_GetFrame(body.pose);
      skinPose(&body, &random, 1, 1);
      assert_true(pnPose_GetFrame(body.pose) == frame + 1);
      pnPose_Reset(body.pose);
      assert_true(pnPose_GetFrame(body.pose) == frame + 2);
      assert_true(pnPose_GetJoints(body.pose)[0].m[0][0] == 1);
    }
    skinFree(&body);
  }
}

/* ---------------------------------------------------------------- weights */

/* A mesh of one triangle and a definition over it, four joints a vertex. */
typedef struct Small {
  pnMesh *mesh;
  uint16_t indices[12];
  float weights[12];
  pnSkinDef def;
} Small;

static void makeSmall(Small *s) {
  static const float vertices[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  static const uint32_t triangle[3] = {0, 1, 2};
  memset(s, 0, sizeof *s);
  pnMeshDef meshDef = pnDefaultMeshDef();
  meshDef.vertices = vertices;
  meshDef.vertexCount = 3;
  meshDef.triangles = triangle;
  meshDef.triangleCount = 1;
  meshDef.name = "small";
  testExpectOk(pnCreateMesh(&meshDef, &s->mesh));
  for (int v = 0; v < 3; ++v) s->weights[4 * v] = 1;
  s->def = pnDefaultSkinDef();
  s->def.mesh = s->mesh;
  s->def.jointCount = 3;
  s->def.jointIndices = s->indices;
  s->def.jointWeights = s->weights;
}

static void weightsAreNormalisedAndReported(void **state) {
  (void)state;
  Small s;
  makeSmall(&s);
  float given[4] = {0.5f, 0.25f, 0.25f, 0.0f}, off[4] = {0.2f, 0.1f, 0.1f, 0.0f};
  memcpy(s.weights + 4, given, sizeof given);
  memcpy(s.weights + 8, off, sizeof off);
  for (int v = 1; v < 3; ++v)
    for (uint16_t i = 0; i < 4; ++i)
      s.indices[4 * v + i] = (uint16_t)(i == 3 ? 60000 : i); /* unused: may name anything */
  pnSkin *skin;
  testExpectOk(pnCreateSkin(&s.def, &skin));
  uint32_t vertex;
  double error = pnSkin_GetWeightError(skin, &vertex);
  assert_true(fabs(error - 0.6) < 1e-6 && vertex == 2);
  assert_int_equal(skin->influenceFirst[3], 7);
  assert_true(skin->influences[1].weight == 0.5f && skin->influences[2].weight == 0.25f); /* as given */
  double sum = 0;
  for (int i = 4; i < 7; ++i) sum += (double)skin->influences[i].weight;
  assert_true(fabs(sum - 1) <= PN_WEIGHT_SLACK);
  assert_true(pnSkin_GetByteCount(skin) > 7 * sizeof(pnInfluence) && pnSkin_GetMesh(skin) == s.mesh);
  assert_int_equal(pnSkin_GetJointCount(skin), 3);
  pnDestroySkin(skin);
  /* a joint named twice counts once */
  for (int i = 8; i < 12; ++i) s.indices[i] = 2;
  testExpectOk(pnCreateSkin(&s.def, &skin));
  assert_int_equal(skin->influenceFirst[3], 5);
  assert_true(skin->influences[4].weight == 1);
  pnDestroySkin(skin);
  pnDestroyMesh(s.mesh);
}

static void wrongSkinsAreNamed(void **state) {
  (void)state;
  Small s;
  pnSkin *skin;
  makeSmall(&s);
#define REFUSED(result, words) testExpectFailure(pnCreateSkin(&s.def, &skin), result, words)
  s.weights[4] = NAN;
  REFUSED(PN_ERROR_NUMBER, "small|vertex 1|NaN");
  s.weights[4] = -0.5f;
  REFUSED(PN_ERROR_ARGUMENT, "small|vertex 1|joint 0|-0.5");
  s.weights[4] = 0;
  REFUSED(PN_ERROR_ARGUMENT, "vertex 1|no joint");
  s.weights[4] = 1;
  s.indices[4] = 3;
  REFUSED(PN_ERROR_INDEX, "vertex 1|joint 3 of 3");
  s.indices[4] = 2;
  s.def.jointCount = 0;
  REFUSED(PN_ERROR_COUNT, "0 joints");
  s.def.jointCount = 70000;
  REFUSED(PN_ERROR_COUNT, "70000 joints");
  s.def.jointCount = 3;
  s.def.influenceCount = 9;
  REFUSED(PN_ERROR_COUNT, "9 joints a vertex");
  s.def.influenceCount = 4;
  s.def.mode = PN_SKIN_WEIGHTED;
  REFUSED(PN_ERROR_COUNT, "4 joints a vertex");
  s.def.influenceCount = 1;
  REFUSED(PN_ERROR_ARGUMENT, "parents and pivots");
  uint32_t parents[3] = {PN_NONE, 0, 2};
  pnVec3 pivots[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  s.def.parents = parents;
  s.def.pivots = pivots;
  REFUSED(PN_ERROR_INDEX, "joint 2|parent 2");
  parents[2] = 1;
  pivots[1].y = INFINITY;
  REFUSED(PN_ERROR_NUMBER, "pivot of joint 1");
  pivots[1].y = 0;
  s.weights[2] = 1.5f;
  REFUSED(PN_ERROR_ARGUMENT, "vertex 2|1.5");
  s.def.mode = (pnSkinMode)7;
  REFUSED(PN_ERROR_ARGUMENT, "mode 7");
  s.def = pnDefaultSkinDef();
  REFUSED(PN_ERROR_ARGUMENT, "no mesh");
#undef REFUSED
  pnDestroyMesh(s.mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- joints */

static void wrongJointsChangeNothing(void **state) {
  (void)state;
  for (int kind = SKIN_SMOOTH; kind <= SKIN_WEIGHTED; kind += 2) {
    SkinBody body = skinMake((SkinKind)kind, 1, 1, 1, 5);
    TestRandom random = testRandom(10);
    skinPose(&body, &random, 1, 1);
    uint32_t n = pnMesh_GetVertexCount(body.mesh);
    float *before = malloc(12 * n), *after = malloc(12 * n);
    assert_true(before && after);
    pnPose_GetVertices(body.pose, before);
    uint64_t frame = pnPose_GetFrame(body.pose);
    pnMatrix bad[16];
    memcpy(bad, body.joints, sizeof bad);
    testExpectFailure(pnPose_SetJoints(body.pose, bad, 3), PN_ERROR_COUNT, "icosphere|3 joints|has 5");
    bad[2].m[1][3] = NAN;
    testExpectFailure(pnPose_SetJoints(body.pose, bad, 5), PN_ERROR_NUMBER, "icosphere|[1][3]|joint 2");
    bad[2].m[1][3] = FLT_MAX / 8;
    testExpectFailure(pnPose_SetJoints(body.pose, bad, 5), PN_ERROR_NUMBER, "joint 2|range of float");
    bad[2].m[1][3] = 0;
    if (kind == SKIN_WEIGHTED) {
      bad[3].m[0][0] *= 1.1f;
      testExpectFailure(pnPose_SetJoints(body.pose, bad, 5), PN_ERROR_TRANSFORM, "joint 3|scales");
    }
    const float huge[3] = {FLT_MAX / 100, 0, 0};
    testExpectFailure(pnPose_SetWeights(body.pose, huge, 3), PN_ERROR_NUMBER, "range of float");
    float vertices[3] = {0};
    testExpectFailure(pnPose_SetVertices(body.pose, vertices, 1), PN_ERROR_KIND, "joints");
    pnPose_GetVertices(body.pose, after);
    assert_memory_equal(before, after, 12 * n);
    assert_true(pnPose_GetFrame(body.pose) == frame);
    assert_memory_equal(pnPose_GetJoints(body.pose), body.joints, 5 * sizeof(pnMatrix));
    free(before);
    free(after);
    skinFree(&body);
  }
  pnMesh *mesh;
  pnPose *pose;
  testExpectOk(pnMakeIcosphere(0, 1, &mesh));
  pnPoseDef def = {mesh, NULL, NULL};
  testExpectOk(pnCreatePose(&def, &pose));
  pnMatrix identity = pnMatrix_Identity();
  testExpectFailure(pnPose_SetJoints(pose, &identity, 1), PN_ERROR_KIND, "no skin");
  assert_null(pnPose_GetJoints(pose));
  pnDestroyPose(pose);
  SkinBody body = skinMake(SKIN_RIGID, 0, 1, 0, 1);
  def.skin = body.skin;
  testExpectFailure(pnCreatePose(&def, &pose), PN_ERROR_ARGUMENT, "its skin belongs to");
  skinFree(&body);
  pnDestroyMesh(mesh);
}

/* ---------------------------------------------------------------- a world */

static void bodiesTakeJoints(void **state) {
  (void)state;
  SkinBody a = skinMake(SKIN_SMOOTH, 2, 1, 0, 1), b = skinMake(SKIN_WEIGHTED, 2, 1, 1, 2);
  pnWorldDef worldDef = pnDefaultWorldDef();
  pnWorld *world;
  testExpectOk(pnCreateWorld(&worldDef, &world));
  pnBodyId ids[3];
  const SkinBody *bodies[2] = {&a, &b};
  for (int i = 0; i < 3; ++i) {
    pnBodyDef def = pnDefaultBodyDef();
    def.kind = i < 2 ? PN_BODY_SKINNED : PN_BODY_FREE;
    def.mesh = bodies[i % 2]->mesh;
    def.morph = bodies[i % 2]->morph;
    def.skin = i < 2 ? bodies[i]->skin : NULL;
    def.name = i == 2 ? "plain" : i ? "second" : "first";
    testExpectOk(pnWorld_CreateBody(world, &def, &ids[i]));
  }
  TestRandom random = testRandom(4);
  skinRandomJoints(&a, &random, 1, 0.5f);
  testExpectOk(pnBody_SetJoints(world, ids[0], a.joints, a.jointCount));
  const float weights[3] = {0.5f, 0, -1};
  testExpectOk(pnBody_SetWeights(world, ids[1], weights, 3));
  testExpectFailure(pnBody_SetJoints(world, ids[1], a.joints, 2), PN_ERROR_COUNT, "second|2 joints");
  testExpectFailure(pnBody_SetJoints(world, ids[2], a.joints, 5), PN_ERROR_KIND, "plain|skinned");
  testExpectFailure(pnBody_SetJoints(world, (pnBodyId){0}, a.joints, 5), PN_ERROR_ID, "");
  pnFrame frame = pnWorld_Collide(world, NULL);
  testExpectOk(frame.result);
  pnPairList *truth;
  testExpectOk(pnCreatePairList(&truth));
  testExpectOk(pnCollideBrute(pnBody_GetPose(world, ids[0]), pnBody_GetPose(world, ids[1]), NULL, truth));
  const pnContact *contact = pnWorld_GetContacts(world);
  assert_true(frame.contactCount > 0 && contact[0].pairCount == pnPairList_GetCount(truth));
  assert_memory_equal(pnWorld_GetPairs(world) + contact[0].firstPair, pnPairList_GetPairs(truth),
                      contact[0].pairCount * sizeof(pnPair));
  pnDestroyPairList(truth);
  pnDestroyWorld(world);
  skinFree(&a);
  skinFree(&b);
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(verticesAreTheDefinition),        cmocka_unit_test(restIsRest),
      cmocka_unit_test(weightsAreNormalisedAndReported), cmocka_unit_test(wrongSkinsAreNamed),
      cmocka_unit_test(wrongJointsChangeNothing),        cmocka_unit_test(bodiesTakeJoints),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
