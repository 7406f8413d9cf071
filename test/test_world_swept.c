/* test_world_swept.c: a world between two frames: scenes whose first contact is known by formula, and the safe part of a step. */
#include "support.h"

#include "pinch/world.h"

#include "world/course.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---------------------------------------------------------------- help */

static pnWorld *makeWorld(void) {
  pnWorldDef def = pnDefaultWorldDef();
  pnWorld *world;
  testExpectOk(pnCreateWorld(&def, &world));
  return world;
}

static pnBodyId addBody(pnWorld *world, pnMesh *mesh, pnBodyKind kind) {
  pnBodyDef def = pnDefaultBodyDef();
  pnBodyId body;
  def.mesh = mesh, def.kind = kind;
  testExpectOk(pnWorld_CreateBody(world, &def, &body));
  return body;
}

/* Every vertex of a free body moved by a vector from its rest position. */
static void place(pnWorld *world, pnBodyId body, const pnMesh *mesh, float x, float y, float z) {
  uint32_t n = pnMesh_GetVertexCount(mesh);
  float *v = malloc(3 * n * sizeof *v);
  for (uint32_t i = 0; i < 3 * n; ++i) v[i] = pnMesh_GetVertices(mesh)[i] + (i % 3 == 0 ? x : i % 3 == 1 ? y : z);
  testExpectOk(pnBody_SetVertices(world, body, v, n));
  free(v);
}

static double extreme(const pnMesh *mesh, int axis, int sign) {
  double most = -INFINITY;
  for (uint32_t v = 0; v < pnMesh_GetVertexCount(mesh); ++v)
    most = fmax(most, sign * pnMesh_GetVertices(mesh)[3 * v + (uint32_t)axis]);
  return sign * most;
}

/* The step's first contact is at t, within a millionth; asked for all and for the earliest. */
static void expectFirst(pnWorld *world, double t) {
  for (int what = PN_SWEPT_ALL; what <= PN_SWEPT_EARLIEST; ++what) {
    pnStepDef def = pnDefaultStepDef();
    def.what = (pnSweptWhat)what;
    pnStep step = pnWorld_CollideSwept(world, &def);
    testExpectOk(step.result);
    assert_true(step.contactCount == 1 && step.earliest.meets && step.impactCount > 0);
    assert_true(step.earliest.lo <= t + 1e-6 && step.earliest.hi >= t - 1e-6 &&
                step.earliest.hi - step.earliest.lo < 1e-6);
    assert_true(step.safe == step.earliest.lo);
    const pnStepContact *contact = pnWorld_GetStepContacts(world);
    assert_true(contact->firstImpact == 0 && contact->impactCount == step.impactCount);
    assert_true(contact->first.lo == step.earliest.lo && pnWorld_GetImpacts(world) != NULL);
  }
}

/* ---------------------------------------------------------------- scenes */

/* Before the sheet in one frame and behind it in the next: no frame shows a contact, the step does. */
static void testBullet(void **state) {
  (void)state;
  pnMesh *sheet, *bullet;
  testExpectOk(pnMakeGrid(4.0f, 4.0f, 20, 20, &sheet));
  testExpectOk(pnMakeIcosphere(2, 0.1f, &bullet));
  pnWorld *world = makeWorld();
  addBody(world, sheet, PN_BODY_STATIC);
  pnBodyId body = addBody(world, bullet, PN_BODY_FREE);
  /* the grid's plane, whichever it is */
  int flat = 0;
  for (int axis = 0; axis < 3; ++axis) flat = extreme(sheet, axis, 1) == extreme(sheet, axis, -1) ? axis : flat;
  double middle[3];
  for (int axis = 0; axis < 3; ++axis)
    middle[axis] = 0.5 * (extreme(sheet, axis, 1) + extreme(sheet, axis, -1)) + 0.013 * (axis + 1);
  float from[3], to[3];
  for (int axis = 0; axis < 3; ++axis) from[axis] = to[axis] = (float)middle[axis];
  from[flat] = (float)extreme(sheet, flat, 1) + 5, to[flat] = (float)extreme(sheet, flat, 1) - 3;
  place(world, body, bullet, from[0], from[1], from[2]);
  assert_int_equal(pnWorld_Collide(world, NULL).contactCount, 0);
  testExpectOk(pnWorld_BeginStep(world));
  place(world, body, bullet, to[0], to[1], to[2]);
  assert_int_equal(pnWorld_Collide(world, NULL).contactCount, 0);
  expectFirst(world, (5 + extreme(bullet, flat, -1)) / 8);
  /* the safe part, exact and with a distance of 0.25 kept */
  double safe;
  testExpectOk(pnWorld_FindSafeStep(world, 0, &safe));
  assert_true(fabs(safe - (5 + extreme(bullet, flat, -1)) / 8) < 1e-6);
  testExpectOk(pnWorld_FindSafeStep(world, 0.25, &safe));
  double wanted = (5 - 0.25 + extreme(bullet, flat, -1)) / 8;
  assert_true(safe <= wanted + 1e-6 && safe > wanted - 1e-4);
  testExpectFailure(pnWorld_FindSafeStep(world, -1, &safe), PN_ERROR_ARGUMENT, "separation");
  /* so many impacts and no more: all of them, or none and a word about it */
  pnStep all = pnWorld_CollideSwept(world, NULL);
  for (int less = 0; less < 2; ++less) {
    pnStepDef most = {.maxImpacts = all.impactCount - (size_t)less};
    pnStep limited = pnWorld_CollideSwept(world, &most);
    testExpectOk(limited.result);
    assert_true(limited.limited == less && limited.impactCount == (less ? 0 : all.impactCount));
    assert_true(limited.safe == (less ? 0 : all.safe));
  }
  assert_true(pnBody_GetSweep(world, body) != NULL && pnBody_GetSweep(world, (pnBodyId){0}) == NULL);
  /* nothing in the way: all of it */
  place(world, body, bullet, from[0], from[1], from[2]);
  testExpectOk(pnWorld_BeginStep(world));
  from[flat] += 2;
  place(world, body, bullet, from[0], from[1], from[2]);
  pnStep step = pnWorld_CollideSwept(world, NULL);
  assert_true(step.result == PN_OK && step.contactCount == 0 && step.safe == 1 && !step.earliest.meets);
  testExpectOk(pnWorld_FindSafeStep(world, 0.25, &safe));
  assert_true(safe == 1);
  pnDestroyWorld(world);
  pnDestroyMesh(sheet), pnDestroyMesh(bullet);
}

/* A cloth pulled through a ring: flat as it is, it meets the ring's highest vertices. */
static void testRing(void **state) {
  (void)state;
  pnMesh *cloth, *ring;
  testExpectOk(pnMakeGrid(6.0f, 6.0f, 16, 16, &cloth));
  testExpectOk(pnMakeTorus(1.0f, 0.25f, 48, 12, &ring));
  int flat = 0;
  for (int axis = 0; axis < 3; ++axis) flat = extreme(cloth, axis, 1) == extreme(cloth, axis, -1) ? axis : flat;
  pnWorld *world = makeWorld();
  addBody(world, ring, PN_BODY_RIGID);
  pnBodyId body = addBody(world, cloth, PN_BODY_FREE);
  float shift[3] = {0};
  for (int axis = 0; axis < 3; ++axis)
    shift[axis] = (float)(-0.5 * (extreme(cloth, axis, 1) + extreme(cloth, axis, -1)));
  double top = extreme(ring, flat, 1);
  shift[flat] += 3;
  place(world, body, cloth, shift[0], shift[1], shift[2]);
  testExpectOk(pnWorld_BeginStep(world));
  shift[flat] -= 6;
  place(world, body, cloth, shift[0], shift[1], shift[2]);
  expectFirst(world, (3 - top) / 6);
  pnDestroyWorld(world);
  pnDestroyMesh(cloth), pnDestroyMesh(ring);
}

/* A tooth that points along x. */
static pnMesh *makeTooth(float direction) {
  float v[4][3] = {{1.2f * direction, 0, 0},
                   {0.2f * direction, 0.1f, 0},
                   {0.2f * direction, -0.1f, 0.1f},
                   {0.2f * direction, -0.1f, -0.1f}};
  const uint32_t t[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = v[0], def.vertexCount = 4, def.triangles = t[0], def.triangleCount = 4;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  return mesh;
}

/* Turned about z, and put at x. */
static pnMatrix turned(double degrees, float x) {
  float c = (float)cos(degrees * PI / 180), s = (float)sin(degrees * PI / 180);
  return (pnMatrix){{{c, -s, 0, x}, {s, c, 0, 0}, {0, 0, 1, 0}}};
}

/* Two gears turn towards each other, one the mirror image of the other: their tips meet where the chord of each crosses the
 * middle. A tip goes from -1 + 1.2 cos 60 to -1 + 1.2, on a straight line. */
static void testGears(void **state) {
  (void)state;
  pnMesh *left = makeTooth(1), *right = makeTooth(-1);
  pnWorld *world = makeWorld();
  pnBodyId a = addBody(world, left, PN_BODY_RIGID), b = addBody(world, right, PN_BODY_RIGID);
  pnMatrix m = turned(60, -1), n = turned(-60, 1);
  testExpectOk(pnBody_SetTransform(world, a, &m)), testExpectOk(pnBody_SetTransform(world, b, &n));
  testExpectOk(pnWorld_BeginStep(world));
  m = turned(0, -1), n = turned(0, 1);
  testExpectOk(pnBody_SetTransform(world, a, &m)), testExpectOk(pnBody_SetTransform(world, b, &n));
  expectFirst(world, (1 / 1.2 - 0.5) / 0.5);
  pnDestroyWorld(world);
  pnDestroyMesh(left), pnDestroyMesh(right);
}

/* A ball that a morph target turns inside out goes through its middle: v (1 - 2.5 t) = 0. */
static void testInsideOut(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(1, 1.0f, &mesh));
  uint32_t n = pnMesh_GetVertexCount(mesh);
  float *values = malloc(3 * n * sizeof *values);
  for (uint32_t i = 0; i < 3 * n; ++i) values[i] = -2.5f * pnMesh_GetVertices(mesh)[i];
  pnMorphTarget target = {.count = n, .values = values};
  pnMorphDef morphDef = pnDefaultMorphDef();
  morphDef.mesh = mesh, morphDef.targets = &target, morphDef.targetCount = 1;
  pnMorph *morph;
  testExpectOk(pnCreateMorph(&morphDef, &morph));
  pnWorld *world = makeWorld();
  pnBodyDef def = pnDefaultBodyDef();
  pnBodyId body;
  def.kind = PN_BODY_MORPH, def.mesh = mesh, def.morph = morph, def.self = true;
  testExpectOk(pnWorld_CreateBody(world, &def, &body));
  testExpectOk(pnWorld_BeginStep(world));
  testExpectOk(pnBody_SetWeights(world, body, (float[]){1}, 1));
  expectFirst(world, 0.4);
  pnStepDef noSelf = {.noSelf = true};
  assert_int_equal(pnWorld_CollideSwept(world, &noSelf).contactCount, 0);
  pnDestroyWorld(world);
  pnDestroyMorph(morph), pnDestroyMesh(mesh);
  free(values);
}

/* A skinned strip whose outer half a joint turns by a quarter: its tip goes from (2, 0) to (1, 1) on a straight line, and meets a
 * wall at y = 0.75 at t = 0.75. Its weights are of both joints in the middle, which stays. */
static void testSkinned(void **state) {
  (void)state;
  float v[6][3], wall[3][3] = {{-9, 0.75f, -9}, {9, 0.75f, -9}, {0, 0.75f, 12}};
  for (int i = 0; i < 6; ++i) v[i][0] = (float)(i / 2), v[i][1] = 0, v[i][2] = i % 2 ? 0.1f : -0.1f;
  const uint32_t t[4][3] = {{0, 1, 2}, {1, 3, 2}, {2, 3, 4}, {3, 5, 4}}, one[3] = {0, 1, 2};
  pnMeshDef def = pnDefaultMeshDef();
  pnMesh *strip, *plate;
  def.vertices = v[0], def.vertexCount = 6, def.triangles = t[0], def.triangleCount = 4;
  testExpectOk(pnCreateMesh(&def, &strip));
  def.vertices = wall[0], def.vertexCount = 3, def.triangles = one, def.triangleCount = 1;
  testExpectOk(pnCreateMesh(&def, &plate));
  uint16_t joints[12] = {0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0};
  float weights[12] = {1, 0, 1, 0, 0.5f, 0.5f, 0.5f, 0.5f, 1, 0, 1, 0};
  pnSkinDef skinDef = pnDefaultSkinDef();
  skinDef.mesh = strip, skinDef.jointCount = 2, skinDef.influenceCount = 2;
  skinDef.jointIndices = joints, skinDef.jointWeights = weights;
  pnSkin *skin;
  testExpectOk(pnCreateSkin(&skinDef, &skin));
  pnWorld *world = makeWorld();
  addBody(world, plate, PN_BODY_STATIC);
  pnBodyDef bodyDef = pnDefaultBodyDef();
  pnBodyId body;
  bodyDef.kind = PN_BODY_SKINNED, bodyDef.mesh = strip, bodyDef.skin = skin;
  testExpectOk(pnWorld_CreateBody(world, &bodyDef, &body));
  testExpectOk(pnWorld_BeginStep(world));
  /* about (1, 0): x = 1 - y, y = x - 1 */
  pnMatrix pose[2] = {pnMatrix_Identity(), {{{0, -1, 0, 1}, {1, 0, 0, -1}, {0, 0, 1, 0}}}};
  testExpectOk(pnBody_SetJoints(world, body, pose, 2));
  expectFirst(world, 0.75);
  pnDestroyWorld(world);
  pnDestroySkin(skin), pnDestroyMesh(strip), pnDestroyMesh(plate);
}

/* Bodies come and go; masks hold; a body that came after the step began has not moved, and a soup neither. */
static void testBodies(void **state) {
  (void)state;
  pnMesh *ball;
  testExpectOk(pnMakeIcosphere(1, 0.5f, &ball));
  pnWorld *world = makeWorld();
  pnBodyId a = addBody(world, ball, PN_BODY_FREE), gone = addBody(world, ball, PN_BODY_FREE);
  place(world, a, ball, -3, 0, 0);
  testExpectOk(pnWorld_BeginStep(world));
  testExpectOk(pnWorld_DestroyBody(world, gone));
  pnBodyId late = addBody(world, ball, PN_BODY_FREE);
  pnSoup *soup;
  testExpectOk(pnCreateSoup(NULL, &soup));
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, (float[]){-1, -1, -1, -1, 2, 0, -1, 0, 2}, 1, NULL));
  pnBodyDef def = pnDefaultBodyDef();
  def.kind = PN_BODY_SOUP, def.soup = soup;
  pnBodyId body;
  testExpectOk(pnWorld_CreateBody(world, &def, &body));
  place(world, a, ball, 3, 0, 0);
  pnStep step = pnWorld_CollideSwept(world, NULL);
  /* with the late ball, the soup's triangle, and these two with each other */
  assert_true(step.result == PN_OK && step.contactCount == 2 && pnWorld_GetStepContacts(world)->a.index1 == a.index1);
  testExpectOk(pnBody_SetFilter(world, late, 2, 2));
  step = pnWorld_CollideSwept(world, NULL);
  assert_true(step.result == PN_OK && step.contactCount == 1 &&
              pnWorld_GetStepContacts(world)->b.index1 == body.index1);
  testExpectOk(pnBody_SetFilter(world, body, 2, 2));
  step = pnWorld_CollideSwept(world, NULL);
  assert_true(step.result == PN_OK && step.contactCount == 0 && step.safe == 1);
  pnDestroyWorld(world);
  pnDestroySoup(soup), pnDestroyMesh(ball);
}

/* ---------------------------------------------------------------- crowds */

/* Some of each: rigid; free by vertices, alone, with a transform, and shared; static; soup; skinned; morphing. Every second one is far out
 * and alone. */
enum { CROWD = 22, SKINNED = 17, MORPHING = 19, NEWCOMER = CROWD - 1 };

typedef struct Crowd {
  pnMesh *mesh;
  pnSkin *skin;
  pnMorph *morph;
  pnSoup *soup;
  pnWorld *world;
  pnBodyId ids[CROWD];
  pnSweep *sweeps[CROWD]; /* ours, which know nothing of ways */
  float *vertices[CROWD]; /* the last that were set */
  TestRandom random;
} Crowd;

static const pnPose *poseIn(const Crowd *c, uint32_t i) {
  return i == 0 ? pnSoup_GetPose(c->soup) : pnBody_GetPose(c->world, c->ids[i]);
}

static bool isSkinned(uint32_t i) {
  return i >= SKINNED && i < MORPHING;
}
static bool isMorphing(uint32_t i) {
  return i >= MORPHING && i < NEWCOMER;
}

static bool looksAtItself(uint32_t i) {
  return (isSkinned(i) || isMorphing(i)) && i % 2 == 0;
}

/* Two joints, which share every third vertex; one target that pulls along x. */
static void makeMotions(Crowd *c) {
  uint32_t n = pnMesh_GetVertexCount(c->mesh);
  uint16_t *joints = calloc(2 * (size_t)n, sizeof *joints);
  float *weights = calloc(2 * (size_t)n, sizeof *weights), *pull = calloc(3 * (size_t)n, sizeof *pull);
  assert_true(joints && weights && pull);
  for (uint32_t v = 0; v < n; ++v) {
    joints[2 * v] = v % 2, joints[2 * v + 1] = 1 - v % 2;
    weights[2 * v] = v % 3 ? 1 : 0.5f, weights[2 * v + 1] = v % 3 ? 0 : 0.5f;
    pull[3 * v] = pnMesh_GetVertices(c->mesh)[3 * v];
  }
  pnSkinDef skin = pnDefaultSkinDef();
  skin.mesh = c->mesh, skin.jointCount = 2, skin.influenceCount = 2;
  skin.jointIndices = joints, skin.jointWeights = weights;
  testExpectOk(pnCreateSkin(&skin, &c->skin));
  pnMorphTarget target = {.values = pull};
  pnMorphDef morph = pnDefaultMorphDef();
  morph.mesh = c->mesh, morph.targets = &target, morph.targetCount = 1;
  testExpectOk(pnCreateMorph(&morph, &c->morph));
  free(joints);
  free(weights);
  free(pull);
}

static void addToCrowd(Crowd *c, uint32_t i) {
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = i == 0 ? NULL : c->mesh;
  def.soup = i == 0 ? c->soup : NULL;
  def.kind = i == 0 ? PN_BODY_SOUP : i % 5 == 0 ? PN_BODY_RIGID : i == 1 ? PN_BODY_STATIC : PN_BODY_FREE;
  def.self = looksAtItself(i);
  if (isSkinned(i)) def.kind = PN_BODY_SKINNED, def.skin = c->skin;
  if (isMorphing(i)) def.kind = PN_BODY_MORPH, def.morph = c->morph;
  testExpectOk(pnWorld_CreateBody(c->world, &def, &c->ids[i]));
  testExpectOk(i == 0 ? pnCreateSoupSweep(c->soup, &c->sweeps[i]) : pnCreateSweep(c->mesh, &c->sweeps[i]));
  c->vertices[i] = malloc(3 * sizeof(float) * (pnMesh_GetVertexCount(c->mesh) + 1));
}

static void moveInCrowd(Crowd *c, uint32_t i) {
  float out = i % 2 ? 60.0f * (float)i : 0, x = testFloat(&c->random, -2, 2);
  uint32_t count = pnMesh_GetVertexCount(c->mesh), how = i % 5;
  pnMatrix m = testRotation(&c->random, 1.5f);
  m.m[0][3] += out;
  if (i == 1) return;
  if (i == 0) {
    pnPrimitiveId id = pnSoup_GetId(c->soup, 0);
    float corners[9];
    for (int k = 0; k < 9; ++k) corners[k] = testFloat(&c->random, -2, 2);
    testExpectOk(pnSoup_Replace(c->soup, &id, PN_PRIMITIVE_TRIANGLE, corners, 1));
    return;
  }
  if (isSkinned(i)) {
    pnMatrix joints[2] = {testRotation(&c->random, 1), testRotation(&c->random, 1)};
    if (x < 1) testExpectOk(pnBody_SetJoints(c->world, c->ids[i], joints, 2));
    if (x > -1 || out > 0) testExpectOk(pnBody_SetTransform(c->world, c->ids[i], &m));
    return;
  }
  if (isMorphing(i)) {
    if (x < 1) testExpectOk(pnBody_SetWeights(c->world, c->ids[i], &x, 1));
    if (x > -1 || out > 0) testExpectOk(pnBody_SetTransform(c->world, c->ids[i], &m));
    return;
  }
  for (uint32_t v = 0; how != 0 && v < 3 * count; ++v)
    c->vertices[i][v] = pnMesh_GetVertices(c->mesh)[v] + (v % 3 == 0 ? x + (how == 2 ? 0 : out) : 0.3f * x);
  if (how == 3) testExpectOk(pnBody_ShareVertices(c->world, c->ids[i], c->vertices[i], count));
  else if (how != 0) testExpectOk(pnBody_SetVertices(c->world, c->ids[i], c->vertices[i], count));
  if (how == 0 || how == 2) testExpectOk(pnBody_SetTransform(c->world, c->ids[i], &m));
}

/* One pair by itself: the next contact of the step is its, if it has impacts. With a limit it may be the one that is too much. */
static void expectPair(Crowd *c, uint32_t a, uint32_t b, const pnStepDef *def, const pnStep *step, pnStep *seen) {
  pnImpactList *list;
  pnSweptDef query = pnDefaultSweptDef();
  query.what = def->what;
  testExpectOk(pnCreateImpactList(&list));
  testExpectOk(pnCollideSwept(c->sweeps[a], a == b ? NULL : c->sweeps[b], &query, list, NULL));
  size_t count = pnImpactList_GetCount(list);
  bool counts = def->maxImpacts > 0 && def->what != PN_SWEPT_EARLIEST;
  seen->limited = counts && seen->impactCount + count > def->maxImpacts;
  if (count > 0 && !seen->limited) {
    assert_true(seen->contactCount < step->contactCount);
    const pnStepContact *contact = &pnWorld_GetStepContacts(c->world)[seen->contactCount++];
    pnImpactSpan first = pnImpactList_GetEarliest(list);
    assert_true(contact->a.index1 == c->ids[a].index1 && contact->b.index1 == c->ids[b].index1);
    assert_true(contact->firstImpact == seen->impactCount && contact->impactCount == count);
    assert_true(contact->first.meets && contact->first.lo == first.lo && contact->first.hi == first.hi);
    for (size_t i = 0; i < count; ++i) {
      pnFeatureImpact p = pnImpactList_GetImpacts(list)[i], q = pnWorld_GetImpacts(c->world)[seen->impactCount + i];
      assert_true(p.kind == q.kind && p.a == q.a && p.b == q.b && p.lo == q.lo && p.hi == q.hi);
    }
    seen->impactCount += count;
  }
  pnDestroyImpactList(list);
}

/* All pairs of sweeps, one by one: what the world must find. */
static void expectStep(Crowd *c, const pnStepDef *def, double separation, size_t *outImpacts) {
  pnStep step = pnWorld_CollideSwept(c->world, def), seen = {0};
  testExpectOk(step.result);
  double safe = 1, found;
  for (uint32_t i = 0; i < CROWD; ++i)
    if (c->sweeps[i]) testExpectOk(pnSweep_SetEnd(c->sweeps[i], poseIn(c, i)));
  for (uint32_t a = 0; a < CROWD; ++a)
    for (uint32_t b = a; b < CROWD; ++b) {
      if (!c->sweeps[a] || !c->sweeps[b] || (a == b && !looksAtItself(a))) continue;
      double apart;
      testExpectOk(pnFindSafeStep(c->sweeps[a], a == b ? NULL : c->sweeps[b], separation, NULL, &apart));
      safe = fmin(safe, apart);
      if (!seen.limited) expectPair(c, a, b, def, &step, &seen);
    }
  assert_int_equal(seen.contactCount, step.contactCount);
  assert_int_equal(seen.impactCount, step.impactCount);
  assert_true(seen.limited == step.limited);
  testExpectOk(pnWorld_FindSafeStep(c->world, separation, &found));
  assert_true(found == safe);
  *outImpacts += seen.impactCount;
}

/* A distance that is kept counts where the boxes around the ways are not as close as to overlap. */
static void testDistanceKept(void **state) {
  (void)state;
  pnMesh *ball;
  double safe;
  testExpectOk(pnMakeIcosphere(2, 0.5f, &ball));
  pnWorld *world = makeWorld();
  addBody(world, ball, PN_BODY_STATIC);
  pnBodyId body = addBody(world, ball, PN_BODY_FREE);
  place(world, body, ball, 3, 0, 0);
  testExpectOk(pnWorld_BeginStep(world));
  place(world, body, ball, 1.2f, 0, 0); /* 0.2 apart */
  testExpectOk(pnWorld_FindSafeStep(world, 0.1, &safe));
  assert_true(safe == 1);
  testExpectOk(pnWorld_FindSafeStep(world, 0.5, &safe));
  assert_true(safe > 0.8 && safe < 0.87); /* 0.5 apart at x = 1.5 */
  pnDestroyWorld(world);
  pnDestroyMesh(ball);
}

/* Steps in which all, some or none move, several times each; a body that comes in the midst of one. Who is alone has no sweep. */
static void expectCrowd(uint32_t threads) {
  Crowd c = {.random = testRandom(12)};
  size_t impacts = 0;
  pnPool *pool = NULL;
  if (threads) testExpectOk(pnCreatePool(threads, &pool));
  testExpectOk(pnMakeIcosphere(0, 0.5f, &c.mesh));
  makeMotions(&c);
  testExpectOk(pnCreateSoup(NULL, &c.soup));
  testExpectOk(pnSoup_Add(c.soup, PN_PRIMITIVE_TRIANGLE, (float[]){-1, -1, -1, -1, 2, 0, -1, 0, 2}, 1, NULL));
  pnWorldDef def = pnDefaultWorldDef();
  if (threads) def.tasks = pnPool_GetTasks(pool);
  testExpectOk(pnCreateWorld(&def, &c.world));
  for (uint32_t i = 0; i < NEWCOMER; ++i) addToCrowd(&c, i);
  for (uint32_t i = 0; i < NEWCOMER; ++i) moveInCrowd(&c, i);
  uint32_t rounds = testRounds(threads ? 16 : 40);
  for (uint32_t round = 0; round < rounds; ++round) {
    /* where the step before did not end */
    for (uint32_t i = 0; round % 5 == 4 && i < CROWD; ++i) moveInCrowd(&c, i);
    testExpectOk(pnWorld_BeginStep(c.world));
    for (uint32_t i = 0; i < CROWD; ++i)
      if (c.sweeps[i]) testExpectOk(pnSweep_SetBegin(c.sweeps[i], poseIn(&c, i)));
    for (uint32_t again = 0; again < 1 + round % 3; ++again) {
      for (uint32_t i = 0; i < CROWD; ++i)
        if (c.sweeps[i] && (round % 4 == 0 || testBelow(&c.random, 4) < round % 4)) moveInCrowd(&c, i);
      if (round == 3 && again == 0) addToCrowd(&c, NEWCOMER);
      if (round == 3 && again == 0) testExpectOk(pnSweep_SetBegin(c.sweeps[NEWCOMER], poseIn(&c, NEWCOMER)));
      pnStepDef step = {.what = round % 8 == 6   ? PN_SWEPT_TRIANGLES
                                : round % 4 == 1 ? PN_SWEPT_EARLIEST
                                                 : PN_SWEPT_ALL,
                        .maxImpacts = round % 7 == 5 ? 1 + testBelow(&c.random, 200) : 0};
      expectStep(&c, &step, round % 2 ? 0.25 : 0, &impacts);
    }
    /* alone, and known where: all but those that share; the newcomer, on his way out, passes by everybody */
    for (uint32_t i = 3; round < 3 && i < NEWCOMER; i += 2)
      if (i % 5 != 3) assert_null(pnBody_GetSweep(c.world, c.ids[i]));
  }
  assert_true(impacts > 50 * rounds);
  pnDestroyWorld(c.world);
  for (uint32_t i = 0; i < CROWD; ++i) {
    pnDestroySweep(c.sweeps[i]);
    free(c.vertices[i]);
  }
  pnDestroySoup(c.soup);
  pnDestroySkin(c.skin);
  pnDestroyMorph(c.morph);
  pnDestroyMesh(c.mesh);
  pnDestroyPool(pool);
  assert_int_equal(pnGetByteCount(), 0);
}

static void testCrowd(void **state) {
  (void)state;
  expectCrowd(0);
}

static void testCrowdOnThreads(void **state) {
  (void)state;
  expectCrowd(3);
}

/* A body with a loose box whose tree has waited in frames, as nothing was near that, is met where it is and not where its tree was. */
static void testLate(void **state) {
  (void)state;
  Crowd c = {0};
  testExpectOk(pnMakeIcosphere(0, 0.5f, &c.mesh));
  makeMotions(&c);
  pnWorld *world = makeWorld();
  pnBodyId bullet = addBody(world, c.mesh, PN_BODY_FREE), body;
  pnBox loose = {{80, -2, -2}, {160, 2, 2}};
  pnBodyDef def = pnDefaultBodyDef();
  def.kind = PN_BODY_SKINNED, def.mesh = c.mesh, def.skin = c.skin, def.looseBox = &loose;
  testExpectOk(pnWorld_CreateBody(world, &def, &body));
  place(world, bullet, c.mesh, 100, 50, 0);
  for (int i = 0; i < 2; ++i) {
    pnMatrix m = pnMatrix_Identity();
    m.m[0][3] = i ? 100 : 150;
    testExpectOk(pnBody_SetTransform(world, body, &m));
    assert_int_equal(pnWorld_Collide(world, NULL).contactCount, 0);
  }
  testExpectOk(pnWorld_BeginStep(world));
  place(world, bullet, c.mesh, 100, -50, 0);
  assert_int_equal(pnWorld_CollideSwept(world, NULL).contactCount, 1);
  pnDestroyWorld(world);
  pnDestroySkin(c.skin), pnDestroyMorph(c.morph), pnDestroyMesh(c.mesh);
}

/* ---------------------------------------------------------------- memory */

/* One that is skinned stands where one that turns passes by. */
static pnResult useMemory(void *context) {
  (void)context;
  pnMesh *ball = NULL;
  pnSkin *skin = NULL;
  uint16_t joints[12] = {0};
  float weights[12];
  for (int i = 0; i < 12; ++i) weights[i] = 1;
  pnSkinDef skinDef = pnDefaultSkinDef();
  pnWorldDef def = pnDefaultWorldDef();
  pnWorld *world = NULL;
  pnResult result = pnMakeIcosphere(0, 0.5f, &ball);
  skinDef.mesh = ball, skinDef.jointCount = skinDef.influenceCount = 1;
  skinDef.jointIndices = joints, skinDef.jointWeights = weights;
  if (!result) result = pnCreateSkin(&skinDef, &skin);
  if (!result) result = pnCreateWorld(&def, &world);
  for (int i = 0; i < 2 && !result; ++i) {
    pnBodyDef bodyDef = pnDefaultBodyDef();
    pnBodyId body;
    bodyDef.mesh = ball, bodyDef.kind = i ? PN_BODY_RIGID : PN_BODY_SKINNED;
    bodyDef.skin = i ? NULL : skin;
    result = pnWorld_CreateBody(world, &bodyDef, &body);
    if (!result && i) {
      pnMatrix m = turned(0, 3);
      result = pnBody_SetTransform(world, body, &m);
      if (!result) result = pnWorld_BeginStep(world);
      m = turned(10, -3);
      if (!result) result = pnBody_SetTransform(world, body, &m);
    }
  }
  double safe;
  if (!result) result = pnWorld_CollideSwept(world, NULL).result;
  if (!result) result = pnWorld_FindSafeStep(world, 0.1, &safe);
  pnDestroyWorld(world);
  pnDestroySkin(skin);
  pnDestroyMesh(ball);
  return result;
}

static void testMemory(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(useMemory, NULL, false, true) > 20);
  assert_true(testEveryAllocationFailure(useMemory, NULL, true, true) > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testBullet),    cmocka_unit_test(testRing),           cmocka_unit_test(testGears),
      cmocka_unit_test(testInsideOut), cmocka_unit_test(testSkinned),        cmocka_unit_test(testBodies),
      cmocka_unit_test(testCrowd),     cmocka_unit_test(testCrowdOnThreads), cmocka_unit_test(testDistanceKept),
      cmocka_unit_test(testMemory),    cmocka_unit_test(testLate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
