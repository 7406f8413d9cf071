/* test_skin_bound.c: what volumes of skinned bodies stand on. A pose in which the update of [Mujika09] leaves vertices
 * outside its sphere, and ours does not; smallest balls against brute force; tightness where joints move together. */
#include "support_skin.h"

#include "geom/ball.h"
#include "mesh/pose.h"
#include "tree/skin_bound.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- the paper's update */

/* One joint, and a strip of vertices at one place with weights from 0 to 1. The paper moves the centre of their sphere
 * with the least and with the largest weight and encloses both spheres. When the joint turns and slides so that both
 * ends come to lie at one place, the weights in between swing out and are outside. */
#define STRIP 33u

typedef struct Strip {
  pnMesh *mesh;
  pnSkin *skin;
  pnPose *pose;
} Strip;

static Strip makeStrip(void) {
  Strip s = {0};
  float vertices[3 * STRIP], weights[STRIP];
  uint32_t triangles[3 * (STRIP - 2)];
  uint16_t indices[STRIP] = {0};
  for (uint32_t v = 0; v < STRIP; ++v) {
    vertices[3 * v] = 1;
    vertices[3 * v + 1] = 0;
    vertices[3 * v + 2] = v % 2 ? 0.001f : -0.001f;
    weights[v] = (float)v / (STRIP - 1);
  }
  for (uint32_t t = 0; t < STRIP - 2; ++t)
    for (uint32_t k = 0; k < 3; ++k) triangles[3 * t + k] = t + k;
  pnMeshDef meshDef = pnDefaultMeshDef();
  meshDef.vertices = vertices;
  meshDef.vertexCount = STRIP;
  meshDef.triangles = triangles;
  meshDef.triangleCount = STRIP - 2;
  meshDef.weld = false;
  testExpectOk(pnCreateMesh(&meshDef, &s.mesh));
  pnVec3 pivot = {0, 0, 0};
  uint32_t parent = PN_NONE;
  pnSkinDef def = pnDefaultSkinDef();
  def.mesh = s.mesh;
  def.mode = PN_SKIN_WEIGHTED;
  def.jointCount = def.influenceCount = 1;
  def.jointIndices = indices;
  def.jointWeights = weights;
  def.parents = &parent;
  def.pivots = &pivot;
  testExpectOk(pnCreateSkin(&def, &s.skin));
  pnPoseDef poseDef = {s.mesh, NULL, s.skin};
  testExpectOk(pnCreatePose(&poseDef, &s.pose));
  return s;
}

static void freeStrip(Strip *s) {
  pnDestroyPose(s->pose);
  pnDestroySkin(s->skin);
  pnDestroyMesh(s->mesh);
}

/* [Mujika, section 3, sphere update]: both ends of the weights, the mean of the centres, the farthest sphere. */
static void paperSphere(const Strip *s, float centre[3], float *radius) {
  float all[4 * STRIP] = {0}, c[3], r, ends[2][3];
  for (uint32_t v = 0; v < STRIP; ++v) memcpy(all + 4 * v, pnMesh_GetVertices(s->mesh) + 3 * v, 3 * sizeof(float));
  pn_smallestBall(all, STRIP, c, &r);
  for (int e = 0; e < 2; ++e) {
    float q[4], *slide = s->pose->moves[0].slide;
    pn_partTurn(s->pose->moves[0].turn, (float)e, q);
    const float t[3] = {2 * (q[1] * c[2] - q[2] * c[1]), 2 * (q[2] * c[0] - q[0] * c[2]),
                        2 * (q[0] * c[1] - q[1] * c[0])};
    for (int k = 0; k < 3; ++k) {
      float turned = c[k] + q[3] * t[k] + (q[(k + 1) % 3] * t[(k + 2) % 3] - q[(k + 2) % 3] * t[(k + 1) % 3]);
      ends[e][k] = turned + (float)e * slide[k];
    }
  }
  *radius = 0;
  for (int k = 0; k < 3; ++k) centre[k] = (ends[0][k] + ends[1][k]) / 2;
  for (int e = 0; e < 2; ++e) {
    double d = 0;
    for (int k = 0; k < 3; ++k) d += pow((double)(centre[k] - ends[e][k]), 2);
    *radius = fmaxf(*radius, (float)sqrt(d) + r);
  }
}

static uint32_t outsidePaper(const Strip *s) {
  float centre[3], radius;
  uint32_t outside = 0;
  paperSphere(s, centre, &radius);
  for (uint32_t v = 0; v < STRIP; ++v) {
    pnVec3 p = pnPose_GetVertex(s->pose, v);
    double d = hypot(hypot((double)(p.x - centre[0]), (double)(p.y - centre[1])), (double)(p.z - centre[2]));
    outside += d > (double)radius * 1.001;
  }
  return outside;
}

static void thePapersSphereMissesVertices(void **state) {
  (void)state;
  Strip s = makeStrip();
  pnTreeDef def = pnDefaultTreeDef();
  pnTreeLab lab = {0};
  def.lab = &lab;
  def.pose = s.pose;
  pnTree *trees[2];
  for (int i = 0; i < 2; ++i) {
    lab.form = i ? PN_FORM_SPHERE : PN_FORM_BOX;
    testExpectOk(pnCreateTree(&def, &trees[i]));
  }
  /* 143 degrees about z; then the same, and back to where the strip was */
  pnMatrix turn = {{{-0.8f, -0.6f, 0, 0}, {0.6f, -0.8f, 0, 0}, {0, 0, 1, 0}}};
  for (int slides = 0; slides < 2; ++slides) {
    turn.m[0][3] = slides ? 1.8f : 0;
    turn.m[1][3] = slides ? -0.6f : 0;
    testExpectOk(pnPose_SetJoints(s.pose, &turn, 1));
    uint32_t outside = outsidePaper(&s);
    if (slides) assert_true(outside > STRIP / 2);
    else assert_int_equal(outside, 0);
    for (int i = 0; i < 2; ++i) testExpectOk(pnTree_Validate(trees[i]));
  }
  for (int i = 0; i < 2; ++i) pnDestroyTree(trees[i]);
  freeStrip(&s);
}

/* ---------------------------------------------------------------- smallest balls */

/* The smallest over all balls through two, three and four of the points, by nothing but trying. */
static double bruteRadius(const float *p, uint32_t n) {
  double best = INFINITY;
  /* a fine search from many starts: walk towards the farthest point with ever smaller steps */
  double c[3] = {0};
  for (uint32_t i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) c[k] += (double)p[4 * i + (uint32_t)k] / n;
  for (int step = 1; step < 20000; ++step) {
    uint32_t far = 0;
    double most = -1;
    for (uint32_t i = 0; i < n; ++i) {
      double d = 0;
      for (int k = 0; k < 3; ++k) d += pow((double)p[4 * i + (uint32_t)k] - c[k], 2);
      if (d > most) most = d, far = i;
    }
    best = fmin(best, sqrt(most));
    for (int k = 0; k < 3; ++k) c[k] += ((double)p[4 * far + (uint32_t)k] - c[k]) / (step + 1);
  }
  return best;
}

static void ballsAreSmallest(void **state) {
  (void)state;
  TestRandom random = testRandom(3);
  for (int round = 0; round < 60; ++round) {
    float p[4 * 40] = {0};
    uint32_t n = 1 + testBelow(&random, 40);
    for (uint32_t i = 0; i < n; ++i)
      for (uint32_t k = 0; k < 3; ++k) {
        /* in space, flat, on a line, at one place, on a grid with many at one distance */
        float x = testFloat(&random, -1, 1);
        if (round % 5 == 1 && k == 2) x = 0.25f;
        if (round % 5 == 2) x = k == 0 ? x : p[4 * i] * 2;
        if (round % 5 == 3) x = 0.7f;
        if (round % 5 == 4) x = (float)testBelow(&random, 3);
        p[4 * i + k] = x;
      }
    float centre[3], radius;
    pn_smallestBall(p, n, centre, &radius);
    for (uint32_t i = 0; i < n; ++i) {
      double d = 0;
      for (int k = 0; k < 3; ++k) d += pow((double)p[4 * i + (uint32_t)k] - (double)centre[k], 2);
      assert_true(sqrt(d) <= (double)radius);
    }
    assert_true((double)radius <= bruteRadius(p, n) * 1.00001 + 1e-6);
  }
}

/* ---------------------------------------------------------------- tightness */

/* When all joints do the same, boxes and k-DOPs are those of the rest shape moved, a hair wider. */
static void jointsTogetherCostNothing(void **state) {
  (void)state;
  SkinBody body = skinMake(SKIN_SMOOTH, 3, 1, 0, 5);
  for (uint32_t j = 0; j < body.jointCount; ++j) {
    body.joints[j] = pnMatrix_Identity();
    body.joints[j].m[0][3] = 5;
  }
  testExpectOk(pnPose_SetJoints(body.pose, body.joints, body.jointCount));
  for (int volume = PN_FORM_BOX; volume <= PN_FORM_DOP26; ++volume) {
    pnTreeDef def = pnDefaultTreeDef();
    pnTreeLab lab = {0};
    def.lab = &lab;
    def.pose = body.pose;
    lab.form = (pnForm)volume;
    pnTree *tree;
    testExpectOk(pnCreateTree(&def, &tree));
    for (uint32_t node = 0; node < tree->shape->nodeCount; ++node) {
      /* a node's volume is a lane of its parent; the root's stands alone */
      uint32_t lane = node > 0 ? tree->shape->parent[node] % PN_LANES : 0;
      float rows[PN_MAX_SLABS][2][PN_LANES];
      pn_skinRows(tree, tree->ruleData, node > 0 ? tree->shape->parent[node] / PN_LANES : tree->shape->innerCount,
                  &rows[0][0][0]);
      uint32_t n;
      const uint32_t *v = pn_verticesBelow(tree, node, &n);
      pnBound exact;
      pn_boundOfVertices(tree, v, n, &exact);
      for (uint32_t d = 0; d < tree->slabs->count; ++d) {
        assert_true(rows[d][0][lane] <= exact.slabs.lo[d] && rows[d][0][lane] >= exact.slabs.lo[d] - 1e-3f);
        assert_true(rows[d][1][lane] >= exact.slabs.hi[d] && rows[d][1][lane] <= exact.slabs.hi[d] + 1e-3f);
      }
    }
    pnDestroyTree(tree);
  }
  skinFree(&body);
}

/* Weights that are close together: both bounds are there, and the change bound is the tight one. Two joints turn a quarter
 * against each other; what follows both halfway goes hardly anywhere, while the hull reaches from one to the other. */
static void closeWeightsAreTight(void **state) {
  (void)state;
  SkinBody body = skinMake(SKIN_CLOSE, 3, 1, 0, 5);
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = body.pose;
  pnTree *tree;
  testExpectOk(pnCreateTree(&def, &tree));
  const pnSkinLanes *lanes = &((const pnSkinBound *)tree->ruleData)->lanes;
  assert_true(lanes->pairFirst[tree->shape->innerCount] > 0);
  for (uint32_t j = 0; j < body.jointCount; ++j) {
    body.joints[j] = pnMatrix_Identity();
    body.joints[j].m[1][3] = j % 2 ? 10 : -10;
  }
  testExpectOk(pnPose_SetJoints(body.pose, body.joints, body.jointCount));
  testExpectOk(pnTree_Validate(tree));
  float rows[3][2][PN_LANES];
  uint32_t seen = 0;
  for (uint32_t node = 0; node < tree->shape->innerCount; ++node) {
    if (lanes->pairFirst[node] == lanes->pairFirst[node + 1]) continue;
    pn_skinRows(tree, tree->ruleData, node, &rows[0][0][0]);
    for (uint32_t lane = 0; lane < tree->shape->count[node]; ++lane) {
      /* where all follow the same two joints; where two become four, or none, weights are not that close */
      uint32_t n, two = 0;
      const uint32_t *v = pn_verticesBelow(tree, tree->shape->first[node] + lane, &n);
      for (uint32_t i = 0; i < n; ++i)
        two += body.skin->influenceFirst[v[i] / 3 + 1] - body.skin->influenceFirst[v[i] / 3] == 2;
      if (two < n) continue;
      assert_true(rows[1][1][lane] - rows[1][0][lane] < 4); /* the hull's would be 20 */
      ++seen;
    }
  }
  assert_true(seen > 10);
  pnDestroyTree(tree);
  skinFree(&body);
}

/* Four joints that go their own ways, and a triangle whose corners are one point with one set of weights: in real numbers the
 * change bound is that point, so that what is computed of it is off by rounding alone. The margin of its terms must hold
 * the point, the margin of the hull set aside. Without it about half would be outside, of which the test makes sure. */
static void changesHaveMarginsOfTheirOwn(void **state) {
  (void)state;
  enum { JOINTS = 4, ROUNDS = 400 };
  TestRandom r = testRandom(17);
  uint32_t outside = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    float vertices[9], weights[3 * JOINTS];
    uint16_t indices[3 * JOINTS];
    const float each[JOINTS] = {0.5f, 0.25f, 0.125f, 0.125f};
    const uint32_t triangle[3] = {0, 1, 2};
    for (int k = 0; k < 3; ++k) vertices[k] = vertices[3 + k] = vertices[6 + k] = testFloat(&r, -1, 1);
    for (uint16_t i = 0; i < 3 * JOINTS; ++i) weights[i] = each[i % JOINTS], indices[i] = i % JOINTS;
    pnMeshDef meshDef = pnDefaultMeshDef();
    meshDef.vertices = vertices, meshDef.vertexCount = 3, meshDef.triangles = triangle, meshDef.triangleCount = 1;
    meshDef.weld = false;
    pnMesh *mesh;
    pnSkin *skin;
    pnPose *pose;
    testExpectOk(pnCreateMesh(&meshDef, &mesh));
    pnSkinDef def = pnDefaultSkinDef();
    def.mesh = mesh, def.jointCount = def.influenceCount = JOINTS;
    def.jointIndices = indices, def.jointWeights = weights;
    testExpectOk(pnCreateSkin(&def, &skin));
    testExpectOk(pnCreatePose(&(pnPoseDef){mesh, NULL, skin}, &pose));
    pnMatrix joints[JOINTS];
    double v[3] = {0};
    for (int j = 0; j < JOINTS; ++j) {
      for (int i = 0; i < 12; ++i) joints[j].m[i / 4][i % 4] = testFloat(&r, -1, 1);
      for (int i = 0; i < 3; ++i) {
        double at = (double)joints[j].m[i][3];
        for (int k = 0; k < 3; ++k) at += (double)joints[j].m[i][k] * (double)vertices[k];
        v[i] += (double)each[j] * at; /* good to 2^-50, a margin is 2^-16 */
      }
    }
    testExpectOk(pnPose_SetJoints(pose, joints, JOINTS));
    pnTreeDef treeDef = pnDefaultTreeDef();
    pnTreeLab lab = {.form = round % 2 ? PN_FORM_SPHERE : PN_FORM_BOX};
    treeDef.pose = pose, treeDef.lab = &lab;
    pnTree *tree;
    testExpectOk(pnCreateTree(&treeDef, &tree));
    pnSkinBound *bound = tree->ruleData;
    bound->unit[0] = 0;
    for (int bare = 0; bare < 2; ++bare) {
      bool inside = true;
      if (bare) bound->unit[1] = 0;
      if (round % 2) {
        float centre[3], radius;
        pn_skinBall(tree, bound, 0, centre, &radius);
        double x = v[0] - (double)centre[0], y = v[1] - (double)centre[1], z = v[2] - (double)centre[2];
        inside = x * x + y * y + z * z <= (double)radius * (double)radius;
        assert_true(bare || radius < 1e-3f);
      } else {
        float rows[3][2][PN_LANES];
        pn_skinRows(tree, bound, tree->shape->innerCount, &rows[0][0][0]);
        for (int k = 0; k < 3; ++k) {
          inside = inside && (double)rows[k][0][0] <= v[k] && v[k] <= (double)rows[k][1][0];
          assert_true(bare || rows[k][1][0] - rows[k][0][0] < 1e-3f);
        }
      }
      assert_true(bare || inside);
      outside += !inside;
    }
    pnDestroyTree(tree);
    pnDestroyPose(pose);
    pnDestroySkin(skin);
    pnDestroyMesh(mesh);
  }
  assert_true(outside > ROUNDS / 4);
}

/* Two triangles with a side at the origin that follows mostly a joint which stretches by 1e15, and far corners that do not:
 * under that joint they would be far outside the whole, for which the grid is made. A third one has a joint of its own, so
 * that the whole has too many joints for the change bound and is as small as it can be. */
static void volumesStayInsideTheWhole(void **state) {
  (void)state;
  const float vertices[21] = {0, 0, 0, 1e-7f, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 1, 0, 1};
  const uint32_t triangles[9] = {0, 1, 2, 0, 1, 3, 4, 5, 6};
  const uint16_t indices[28] = {0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 3, 0, 1, 2, 3, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0};
  const float t = 1.0f / 3;
  const float weights[28] = {0.7f, 0.1f, 0.1f, 0.1f, 0.7f, 0.1f, 0.1f, 0.1f, t, t, t, 0, t, t,
                             t,    0,    1,    0,    0,    0,    1,    0,    0, 0, 1, 0, 0, 0};
  pnMeshDef meshDef = pnDefaultMeshDef();
  meshDef.vertices = vertices;
  meshDef.vertexCount = 7;
  meshDef.triangles = triangles;
  meshDef.triangleCount = 3;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&meshDef, &mesh));
  pnSkinDef skinDef = pnDefaultSkinDef();
  skinDef.mesh = mesh;
  skinDef.jointCount = 5;
  skinDef.jointIndices = indices;
  skinDef.jointWeights = weights;
  pnSkin *skin;
  testExpectOk(pnCreateSkin(&skinDef, &skin));
  pnPoseDef poseDef = {mesh, NULL, skin};
  pnPose *pose;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  pnTreeDef def = pnDefaultTreeDef();
  pnTreeLab lab = {0};
  def.lab = &lab;
  def.pose = pose;
  lab.leafSize = 1;
  pnTree *tree;
  testExpectOk(pnCreateTree(&def, &tree));
  assert_true(((const pnSkinBound *)tree->ruleData)->lanes.pairFirst[1] > 0);
  pnMatrix joints[5];
  for (int j = 0; j < 5; ++j) joints[j] = pnMatrix_Identity();
  for (int k = 0; k < 3; ++k) joints[0].m[k][k] = 1e15f;
  testExpectOk(pnPose_SetJoints(pose, joints, 5));
  testExpectOk(pnTree_Validate(tree));
  pnBox boxes[8], whole = pnTree_GetBox(tree);
  uint32_t n = pnTree_GetLevelBoxes(tree, 1, boxes, 8);
  assert_true(n > 1 && n <= 8);
  float slack = 1e-3f * (whole.max.x - whole.min.x);
  assert_true(slack < 1e8f); /* the margin of what the joint could do: 5e9 on each side */
  for (uint32_t i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) {
      assert_true((&boxes[i].min.x)[k] >= (&whole.min.x)[k] - slack);
      assert_true((&boxes[i].max.x)[k] <= (&whole.max.x)[k] + slack);
    }
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroySkin(skin);
  pnDestroyMesh(mesh);
}

/* Two joints that carry halves of a ball apart, so far out that the radius around both is infinite and twice their reach
 * as well. The vertices are not, but such a body was refused once: its root had no end. */
static void ballsReachTheEndsOfFloat(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(2, 1, &mesh));
  uint32_t n = pnMesh_GetVertexCount(mesh);
  uint16_t *indices = calloc(n, sizeof *indices);
  float *weights = calloc(n, sizeof *weights);
  assert_true(indices && weights);
  for (uint32_t v = 0; v < n; ++v) {
    indices[v] = pnMesh_GetVertices(mesh)[3 * v] > 0;
    weights[v] = 1;
  }
  pnSkinDef skinDef = pnDefaultSkinDef();
  skinDef.mesh = mesh;
  skinDef.jointCount = 2;
  skinDef.influenceCount = 1;
  skinDef.jointIndices = indices;
  skinDef.jointWeights = weights;
  pnSkin *skin;
  pnPose *pose;
  pnTree *tree;
  testExpectOk(pnCreateSkin(&skinDef, &skin));
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = mesh;
  poseDef.skin = skin;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = pose;
  pnTreeLab lab = {.form = PN_FORM_SPHERE};
  def.lab = &lab;
  testExpectOk(pnCreateTree(&def, &tree));
  pnMatrix joints[2] = {pnMatrix_Identity(), pnMatrix_Identity()}, far = pnMatrix_Identity();
  joints[0].m[0][3] = -3.2e35f;
  joints[1].m[0][3] = 3.2e35f;
  far.m[0][3] = 3.3e38f;
  testExpectOk(pnPose_SetJoints(pose, joints, 2));
  testExpectOk(pnPose_SetTransform(pose, &far));
  testExpectOk(pnTree_Update(tree, NULL));
  testExpectOk(pnTree_Validate(tree));
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroySkin(skin);
  pnDestroyMesh(mesh);
  free(weights);
  free(indices);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thePapersSphereMissesVertices), cmocka_unit_test(ballsAreSmallest),
      cmocka_unit_test(changesHaveMarginsOfTheirOwn),  cmocka_unit_test(jointsTogetherCostNothing),
      cmocka_unit_test(closeWeightsAreTight),          cmocka_unit_test(volumesStayInsideTheWhole),
      cmocka_unit_test(ballsReachTheEndsOfFloat)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
