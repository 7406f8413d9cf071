/* fenv_case.h: floating-point environments for tests, and a walk through the doors of all rooms that sums up what they answer.
 * The sum must be the same in every environment, and the environment what it was after every call. */
#ifndef PN_TEST_FENV_CASE_H
#define PN_TEST_FENV_CASE_H

#include "support.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pinch/volume.h"
#include "pinch/world.h"

/* ---------------------------------------------------------------- environments */

/* The control register, without flags; 0 where there is none that we know. */
static inline uint64_t fenvRead(void) {
#if defined(__x86_64__)
  uint32_t x;
  __asm__ volatile("stmxcsr %0" : "=m"(x));
  return x & 0xffc0u;
#elif defined(__aarch64__)
  uint64_t x;
  __asm__ volatile("mrs %0, fpcr" : "=r"(x));
  return x;
#else
  return 0;
#endif
}

static inline void fenvWrite(uint64_t control) {
#if defined(__x86_64__)
  uint32_t x = (uint32_t)control;
  __asm__ volatile("ldmxcsr %0" : : "m"(x) : "memory");
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(control) : "memory");
#else
  (void)control;
#endif
}

#if defined(__x86_64__)
#define FENV_PLAIN UINT64_C(0x1f80)
#define FENV_FLUSH UINT64_C(0x8040) /* flush to zero, denormals are zeros */
#define FENV_ROUND(mode) ((uint64_t)(mode) << 13)
#define FENV_TRAPS(control) ((control) & ~UINT64_C(0x0680)) /* invalid, divide by zero, overflow */
#elif defined(__aarch64__)
#define FENV_PLAIN UINT64_C(0)
#define FENV_FLUSH (UINT64_C(1) << 24)
#define FENV_ROUND(mode) ((uint64_t)(mode) << 22)
#define FENV_TRAPS(control) ((control) | UINT64_C(0x0700))
#else
#define FENV_PLAIN UINT64_C(0)
#define FENV_FLUSH UINT64_C(0)
#define FENV_ROUND(mode) UINT64_C(0)
#define FENV_TRAPS(control) (control)
#endif

/* ---------------------------------------------------------------- the walk */

typedef struct FenvWalk {
  uint64_t control, sum; /* what to walk in; what was answered */
  const pnTasks *tasks;  /* null: one thread */
} FenvWalk;

static inline void fenvAdd(FenvWalk *walk, const void *bytes, size_t count) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < count; ++i) walk->sum = (walk->sum ^ p[i]) * UINT64_C(0x100000001b3);
}

/* One call of the library in the environment of the walk, which must survive it. */
#define FENV_CALL(walk, call)                 \
  do {                                        \
    fenvWrite((walk)->control);               \
    call;                                     \
    uint64_t after = fenvRead();              \
    fenvWrite(FENV_PLAIN);                    \
    assert_int_equal(after, (walk)->control); \
  } while (0)
#define FENV_OK(walk, call)           \
  do {                                \
    pnResult result;                  \
    FENV_CALL(walk, result = (call)); \
    testExpectOk(result);             \
  } while (0)

/* Triangles that are hard to decide, with a predicate of each kind. */
static inline void fenvGeom(FenvWalk *walk, int rounds) {
  TestRandom random = testRandom(7);
  for (int i = 0; i < rounds; ++i) {
    pnTriangle t[2];
    for (int k = 0; k < 18; ++k) {
      float x = ((float)testBelow(&random, 9) - 4) * 0.5f;
      t[k / 9].v[k / 3 % 3][k % 3] = i % 3 == 0              ? ldexpf(x, -146)
                                     : testBelow(&random, 4) ? x
                                                             : ldexpf(x, -(int)testBelow(&random, 60));
    }
    int sign[2], meet[3];
    double d[4][3], e[3][2];
    float f[3][2];
    for (int k = 0; k < 12; ++k) d[k / 3][k % 3] = (double)t[k / 9].v[k / 3 % 3][k % 3] / 3;
    for (int k = 0; k < 6; ++k) e[k / 2][k % 2] = (double)(f[k / 2][k % 2] = t[0].v[k / 2][k % 2]) / 3;
    pnMeeting meeting;
    FENV_CALL(walk, sign[0] = pnOrient3(t[0].v[0], t[0].v[1], t[0].v[2], t[1].v[0]));
    FENV_CALL(walk, sign[1] = pnOrient3Double(d[0], d[1], d[2], d[3]));
    fenvAdd(walk, sign, sizeof sign);
    FENV_CALL(walk, sign[0] = pnOrient2(f[0], f[1], f[2]));
    FENV_CALL(walk, sign[1] = pnOrient2Double(e[0], e[1], e[2]));
    fenvAdd(walk, sign, sizeof sign);
    FENV_CALL(walk, meet[0] = pnTrianglesMeet(&t[0], &t[1]));
    FENV_CALL(walk, meet[1] = pnTrianglesMeetBeyond(&t[0], &t[1], (pnSharedCorners){0}));
    FENV_CALL(walk, meet[2] = pnTrianglesMeetBy(PN_KERNEL_DEFAULT, &t[0], &t[1]));
    fenvAdd(walk, meet, sizeof meet);
    FENV_CALL(walk, meeting = pnMeetTriangles(&t[0], &t[1]));
    fenvAdd(walk, &meeting.pointCount, sizeof meeting.pointCount);
    fenvAdd(walk, meeting.points, meeting.pointCount * sizeof meeting.points[0]);
  }
}

/* A ball of some size: its mesh is made in the environment of the walk, from numbers that were made in the plain one. */
static inline pnMesh *fenvBall(FenvWalk *walk, float scale, float shift) {
  pnMesh *ball, *mesh;
  FENV_OK(walk, pnMakeIcosphere(2, 1, &ball));
  uint32_t n = pnMesh_GetVertexCount(ball);
  fenvAdd(walk, pnMesh_GetVertices(ball), 12 * (size_t)n);
  float *vertices = malloc(12 * (size_t)n);
  assert_non_null(vertices);
  for (uint32_t i = 0; i < 3 * n; ++i) vertices[i] = (pnMesh_GetVertices(ball)[i] + (i % 3 == 0 ? shift : 0)) * scale;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = n;
  def.triangles = pnMesh_GetTriangles(ball);
  def.triangleCount = pnMesh_GetTriangleCount(ball);
  FENV_OK(walk, pnCreateMesh(&def, &mesh));
  pnMeshInfo info;
  FENV_OK(walk, pnMesh_Validate(mesh, &info));
  fenvAdd(walk, &info.box, sizeof info.box);
  fenvAdd(walk, &info.degenerateCount, sizeof info.degenerateCount);
  free(vertices);
  pnDestroyMesh(ball);
  return mesh;
}

/* Two balls through each other, one free and one rigid, with every volume; self too. */
static inline void fenvWorld(FenvWalk *walk, float scale) {
  pnMesh *meshes[2] = {fenvBall(walk, scale, 0), fenvBall(walk, scale, 0.7f)};
  for (int volume = 0; volume < PN_FORM_COUNT; ++volume) {
    pnWorldDef worldDef = pnDefaultWorldDef();
    if (walk->tasks) worldDef.tasks = *walk->tasks;
    pnWorld *world;
    testExpectOk(pnCreateWorld(&worldDef, &world));
    pnBodyId ids[2];
    for (int i = 0; i < 2; ++i) {
      pnBodyDef def = pnDefaultBodyDef();
      pnTreeLab lab = {0};
      def.tree.lab = &lab;
      def.mesh = meshes[i];
      def.kind = i ? PN_BODY_RIGID : PN_BODY_FREE;
      /* balls have a least size, which makes small ones meet everywhere: exact all the same, and slow */
      lab.form = scale < 1e-15f && volume == PN_FORM_SPHERE ? PN_FORM_BOX : (pnForm)volume;
      def.self = true;
      FENV_OK(walk, pnWorld_CreateBody(world, &def, &ids[i]));
    }
    TestRandom random = testRandom(11);
    for (int frame = 0; frame < 2; ++frame) {
      pnMatrix turn = testRotation(&random, 0.1f * scale);
      FENV_OK(walk, pnBody_SetTransform(world, ids[1], &turn));
      FENV_OK(walk, pnBody_SetVertices(world, ids[0], pnMesh_GetVertices(meshes[frame]),
                                       pnMesh_GetVertexCount(meshes[frame])));
      pnFrame answer;
      FENV_CALL(walk, answer = pnWorld_Collide(world, NULL));
      testExpectOk(answer.result);
      fenvAdd(walk, &answer.pairCount, sizeof answer.pairCount);
      fenvAdd(walk, pnWorld_GetPairs(world), answer.pairCount * sizeof(pnPair));
      pnContactPoint point = {0};
      if (answer.contactCount > 0) FENV_CALL(walk, point = pnWorld_GetContactPoint(world, 0, 0));
      fenvAdd(walk, &point.normalA, sizeof point.normalA);
      FENV_OK(walk, pnTree_Validate(pnBody_GetTree(world, ids[frame])));
      pnVec3 v;
      FENV_CALL(walk, v = pnPose_GetVertex(pnBody_GetPose(world, ids[1]), 5));
      fenvAdd(walk, &v, sizeof v);
    }
    pnDestroyWorld(world);
  }
  pnDestroyMesh(meshes[0]);
  pnDestroyMesh(meshes[1]);
}

/* Cuts, and how much space two balls share. */
static inline void fenvOthers(FenvWalk *walk) {
  TestRandom random = testRandom(13);
  pnSoup *soup;
  testExpectOk(pnCreateSoup(NULL, &soup));
  for (int i = 0; i < 200; ++i) {
    float at[9];
    for (int k = 0; k < 9; ++k) at[k] = testFloat(&random, -1, 1);
    pnPlane plane = {{testFloat(&random, -1, 1), testFloat(&random, -1, 1), 0.1f}, testFloat(&random, -0.2f, 0.2f)};
    pnPrimitiveId id;
    pnCut cut;
    FENV_OK(walk, pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, at, 1, &id));
    FENV_OK(walk, pnSoup_Cut(soup, id, &plane, &cut));
    for (uint32_t k = 0; k < cut.aboveCount; ++k) {
      pnSoup_GetCorners(soup, cut.above[k], at);
      fenvAdd(walk, at, sizeof at);
    }
  }
  pnDestroySoup(soup);

  pnMesh *meshes[2] = {fenvBall(walk, 1, 0), fenvBall(walk, 1, 0.7f)};
  pnPose *poses[2];
  for (int i = 0; i < 2; ++i) testExpectOk(pnCreatePose(&(pnPoseDef){meshes[i], NULL, NULL}, &poses[i]));
  pnOverlapDef def = pnDefaultOverlapDef();
  def.poseA = poses[0];
  def.poseB = poses[1];
  def.resolution = 32;
  if (walk->tasks) def.tasks = *walk->tasks;
  pnOverlap *overlap;
  pnOverlapResult shared;
  FENV_OK(walk, pnCreateOverlap(&def, &overlap));
  FENV_OK(walk, pnOverlap_Measure(overlap, &shared));
  fenvAdd(walk, &shared.volume, sizeof shared.volume);
  pnDestroyOverlap(overlap);
  for (int i = 0; i < 2; ++i) {
    pnDestroyPose(poses[i]);
    pnDestroyMesh(meshes[i]);
  }
}

static inline uint64_t fenvWalk(uint64_t control, const pnTasks *tasks) {
  FenvWalk walk = {control, UINT64_C(0xcbf29ce484222325), tasks};
  fenvGeom(&walk, 1000);
  fenvWorld(&walk, 1);
  fenvWorld(&walk, 1e-38f);
  fenvWorld(&walk, 1e-41f);
  fenvOthers(&walk);
  return walk.sum;
}

#endif
