/* test_world_steps.c: jobs that go in steps (collide/jobs.c): small bodies on a terrain, whose candidates wait while the next job is
 * opened. Between them are jobs that do not: bodies of one size that meet, and one with more pairs of leaves than wait. Contacts and
 * pairs are those of brute force, on one thread and on three, and every allocation may fail. */
#include "support.h"

#include "pinch/pinch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BODIES = 24 };

/* Hills of 2 g g triangles over a square, from a corner on. */
static pnMesh *makeTerrain(uint32_t g, float side, float corner) {
  float *v = malloc(3 * sizeof *v * (g + 1) * (g + 1));
  uint32_t *t = malloc(6 * sizeof *t * g * g), *at = t;
  assert_true(v != NULL && t != NULL);
  for (uint32_t i = 0; i < (g + 1) * (g + 1); ++i) {
    float x = corner + side * (float)(i % (g + 1)) / (float)g, y = corner + side * (float)(i / (g + 1)) / (float)g;
    v[3 * i] = x, v[3 * i + 1] = y, v[3 * i + 2] = 0.3f * sinf(0.7f * x) * cosf(0.5f * y);
  }
  for (uint32_t i = 0; i < g * g; ++i, at += 6) {
    uint32_t a = i / g * (g + 1) + i % g;
    at[0] = a, at[1] = a + 1, at[2] = a + g + 2;
    at[3] = a, at[4] = a + g + 2, at[5] = a + g + 1;
  }
  pnMesh *mesh = testMakeMesh(v, (g + 1) * (g + 1), t, 2 * g * g);
  free(v);
  free(t);
  return mesh;
}

static int meshOf(int body, int balls) {
  return body == 0 ? 0 : body <= balls ? 1 : 2;
}

/* Where ball i is: on the ground, and two neighbours meet each other. The last is a carpet that lies close to it. */
static pnMatrix placeOf(int i, int balls, float side) {
  pnMatrix m = pnMatrix_Identity();
  float x = side * (0.1f + 0.8f * (float)(i / 2 * 5 % 12) / 12), y = side * (0.1f + 0.07f * (float)(i / 2));
  m.m[0][3] = x + (i % 2 ? 0.5f : 0), m.m[1][3] = y, m.m[2][3] = 0.3f * sinf(0.7f * x) * cosf(0.5f * y) + 0.3f;
  if (i == balls) m.m[0][3] = 0.05f, m.m[1][3] = m.m[2][3] = 0;
  return m;
}

/* A terrain, balls of 80 triangles on it and, where there is a mesh for it, a carpet. */
static pnResult makeWorld(pnMesh *const meshes[3], int balls, float side, const pnTasks *tasks, pnWorld **outWorld) {
  pnWorldDef worldDef = pnDefaultWorldDef();
  worldDef.tasks = tasks ? *tasks : worldDef.tasks;
  pnResult result = pnCreateWorld(&worldDef, outWorld);
  for (int i = 0; result == PN_OK && i < balls + 1 + (meshes[2] != NULL); ++i) {
    pnBodyDef def = pnDefaultBodyDef();
    def.mesh = meshes[meshOf(i, balls)];
    def.userData = (void *)(uintptr_t)i;
    pnBodyId id;
    pnMatrix m = i == 0 ? pnMatrix_Identity() : placeOf(i - 1, balls, side);
    result = pnWorld_CreateBody(*outWorld, &def, &id);
    if (result == PN_OK && i > 0) result = pnBody_SetTransform(*outWorld, id, &m);
  }
  return result;
}

/* The triangles of a body where it is, and their boxes. */
typedef struct Surface {
  uint32_t count;
  pnTriangle *triangles;
  pnBox *boxes;
} Surface;

static void makeSurface(const pnMesh *mesh, pnMatrix at, Surface *out) {
  pnPoseDef def = pnDefaultPoseDef();
  pnPose *pose;
  def.mesh = mesh;
  testExpectOk(pnCreatePose(&def, &pose));
  testExpectOk(pnPose_SetTransform(pose, &at));
  uint32_t count = pnMesh_GetTriangleCount(mesh);
  *out = (Surface){count, malloc(count * sizeof(pnTriangle)), malloc(count * sizeof(pnBox))};
  assert_true(out->triangles != NULL && out->boxes != NULL);
  for (uint32_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) {
      pnVec3 v = pnPose_GetVertex(pose, pnMesh_GetTriangles(mesh)[3 * i + (uint32_t)k]);
      memcpy(out->triangles[i].v[k], &v.x, 3 * sizeof(float));
      pnBox *box = &out->boxes[i];
      *box = k == 0 ? (pnBox){v, v} : *box;
      box->min = (pnVec3){fminf(box->min.x, v.x), fminf(box->min.y, v.y), fminf(box->min.z, v.z)};
      box->max = (pnVec3){fmaxf(box->max.x, v.x), fmaxf(box->max.y, v.y), fmaxf(box->max.z, v.z)};
    }
  }
  pnDestroyPose(pose);
}

/* What meets of every two bodies: every pair of triangles whose boxes overlap is asked. */
typedef struct Truth {
  pnPair *pairs[MOST_BODIES][MOST_BODIES];
  size_t counts[MOST_BODIES][MOST_BODIES];
} Truth;

static bool overlap(const pnBox *a, const pnBox *b) {
  return a->min.x <= b->max.x && b->min.x <= a->max.x && a->min.y <= b->max.y && b->min.y <= a->max.y &&
         a->min.z <= b->max.z && b->min.z <= a->max.z;
}

static void findPairs(const Surface *a, const Surface *b, pnPair **outPairs, size_t *outCount) {
  size_t room = 16;
  *outPairs = malloc(room * sizeof(pnPair));
  *outCount = 0;
  for (uint32_t i = 0; i < a->count; ++i) {
    for (uint32_t j = 0; j < b->count; ++j) {
      if (!overlap(&a->boxes[i], &b->boxes[j]) || !pnTrianglesMeet(&a->triangles[i], &b->triangles[j])) continue;
      if (*outCount == room) *outPairs = realloc(*outPairs, (room *= 2) * sizeof(pnPair));
      assert_non_null(*outPairs);
      (*outPairs)[(*outCount)++] = (pnPair){i, j};
    }
  }
}

static void findTruth(pnMesh *const meshes[3], int balls, float side, Truth *out) {
  Surface surfaces[MOST_BODIES];
  int count = balls + 2;
  for (int i = 0; i < count; ++i)
    makeSurface(meshes[meshOf(i, balls)], i == 0 ? pnMatrix_Identity() : placeOf(i - 1, balls, side), &surfaces[i]);
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b) findPairs(&surfaces[a], &surfaces[b], &out->pairs[a][b], &out->counts[a][b]);
  for (int i = 0; i < count; ++i) {
    free(surfaces[i].triangles);
    free(surfaces[i].boxes);
  }
}

static void expectTruth(pnWorld *world, const Truth *truth, int count, pnFrame frame) {
  const pnContact *contacts = pnWorld_GetContacts(world);
  uint32_t met = 0;
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b) met += truth->counts[a][b] > 0;
  assert_int_equal(frame.contactCount, met);
  for (uint32_t i = 0; i < frame.contactCount; ++i) {
    uintptr_t a = (uintptr_t)pnBody_GetUserData(world, contacts[i].a);
    uintptr_t b = (uintptr_t)pnBody_GetUserData(world, contacts[i].b);
    assert_true(a < b);
    assert_int_equal(contacts[i].pairCount, truth->counts[a][b]);
    assert_memory_equal(pnWorld_GetPairs(world) + contacts[i].firstPair, truth->pairs[a][b],
                        contacts[i].pairCount * sizeof(pnPair));
  }
}

static void smallBodiesOnATerrain(void **state) {
  (void)state;
  enum { BALLS = 18 };
  float side = 30;
  pnMesh *meshes[3] = {makeTerrain(64, side, 0), NULL, makeTerrain(80, 0.2f * side, 0.4f * side)};
  testExpectOk(pnMakeIcosphere(1, 0.7f, &meshes[1]));
  Truth truth = {0};
  findTruth(meshes, BALLS, side, &truth);
  /* the terrain meets all of them, and neighbours each other */
  for (int i = 1; i < BALLS + 2; ++i) assert_true(truth.counts[0][i] > 0);
  assert_true(truth.counts[1][2] > 0);
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  for (int threads = 0; threads < 2; ++threads) {
    pnWorld *world;
    testExpectOk(makeWorld(meshes, BALLS, side, threads ? &tasks : NULL, &world));
    pnQueryLab lab = {0};
    pnFrameDef ask = {.lab = &lab}; /* trees are asked though nothing has moved, in the third frame no more */
    for (int round = 0; round < 3; ++round) {
      pnFrame frame = pnWorld_Collide(world, round == 1 ? &ask : NULL);
      testExpectOk(frame.result);
      expectTruth(world, &truth, BALLS + 2, frame);
      assert_true(round == 2 ? frame.cost.leafPairs == 0
                             : frame.cost.leafPairs > 2048); /* the carpet alone has more than wait */
    }
    pnDestroyWorld(world);
  }
  pnDestroyPool(pool);
  for (int a = 0; a < BALLS + 2; ++a)
    for (int b = a + 1; b < BALLS + 2; ++b) free(truth.pairs[a][b]);
  for (int i = 0; i < 3; ++i) pnDestroyMesh(meshes[i]);
  assert_int_equal(pnGetByteCount(), 0);
}

/* A short life with some jobs in steps; what is found is the same whatever failed before. */
static pnResult shortLife(void *context) {
  size_t *pairs = context;
  pnMesh *meshes[3] = {NULL, NULL, NULL};
  pnWorld *world = NULL;
  pnResult result = pnMakeIcosphere(1, 0.7f, &meshes[1]);
  if (result == PN_OK) result = pnMakeGrid(24, 24, 24, 24, &meshes[0]);
  if (result == PN_OK) result = makeWorld(meshes, 3, 12, NULL, &world);
  if (result == PN_OK) {
    pnFrame frame = pnWorld_Collide(world, NULL);
    result = frame.result;
    if (result == PN_OK) {
      *pairs = *pairs > 0 ? *pairs : frame.pairCount;
      assert_int_equal(frame.pairCount, *pairs);
    }
  }
  pnDestroyWorld(world);
  for (int i = 0; i < 3; ++i) pnDestroyMesh(meshes[i]);
  return result;
}

static void runsOutOfMemoryCleanly(void **state) {
  (void)state;
  size_t pairs = 0;
  testExpectOk(shortLife(&pairs));
  assert_true(pairs > 0);
  assert_true(testEveryAllocationFailure(shortLife, &pairs, false, true) > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(smallBodiesOnATerrain), cmocka_unit_test(runsOutOfMemoryCleanly)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
