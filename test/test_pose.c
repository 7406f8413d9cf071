/* test_pose.c: where the vertices are now: the same bits by every way of asking, inputs that are refused and change
 * nothing, frame numbers, memory. */
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "mesh/pose.h"

#define COUNT 500 /* more than one batch of a range fetch, and no multiple of anything */

/* ---------------------------------------------------------------- helpers */

typedef struct Scene {
  float vertices[3 * COUNT + 1];
  pnMesh *mesh;
  pnPose *pose;
} Scene;

static void fillRandom(float *vertices, TestRandom *random, float reach) {
  for (int i = 0; i < 3 * COUNT; ++i) vertices[i] = testFloat(random, -reach, reach);
  vertices[3 * COUNT] = 0;
}

static int setUp(void **state) {
  Scene *scene = malloc(sizeof *scene);
  TestRandom random = testRandom(40);
  fillRandom(scene->vertices, &random, 10);
  scene->vertices[5] = -0.0f;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = scene->vertices;
  def.vertexCount = COUNT;
  def.name = "cloud";
  testExpectOk(pnCreateMesh(&def, &scene->mesh));
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = scene->mesh;
  testExpectOk(pnCreatePose(&poseDef, &scene->pose));
  *state = scene;
  return 0;
}

static int tearDown(void **state) {
  Scene *scene = *state;
  pnDestroyPose(scene->pose);
  pnDestroyMesh(scene->mesh);
  free(scene);
  assert_int_equal(pnGetByteCount(), 0);
  return 0;
}

/* The definition of a moved vertex, one rounded operation at a time. */
static void moveByDefinition(const pnMatrix *m, const float p[3], float out[3]) {
  for (int row = 0; row < 3; ++row) {
    volatile float a = m->m[row][0] * p[0], b = m->m[row][1] * p[1], c = m->m[row][2] * p[2];
    volatile float sum = a + b;
    sum = sum + c;
    sum = sum + m->m[row][3];
    out[row] = sum;
  }
}

/* Every way of asking gives these bits, and writes nothing else. */
static void expectVertices(const pnPose *pose, const float *expected) {
  static float out[4 * COUNT + 8];

  // one by one, all
  for (uint32_t v = 0; v < COUNT; ++v) {
    pnVec3 p = pnPose_GetVertex(pose, v);
    assert_memory_equal(&p, expected + 3 * v, sizeof p);
  }
  out[3 * COUNT] = 77;
  pnPose_GetVertices(pose, out);
  assert_memory_equal(out, expected, 3 * COUNT * sizeof(float));
  assert_true(out[3 * COUNT] == 77);

  // lists in any order, with repetitions, of both strides
  TestRandom random = testRandom(41);
  for (uint32_t stride = 3; stride <= 4; ++stride)
    for (uint32_t length = 0; length < COUNT; length = length * 2 + 1) {
      uint32_t list[COUNT];
      for (uint32_t i = 0; i < length; ++i) list[i] = testBelow(&random, COUNT);
      for (uint32_t i = 0; i < 4 * COUNT + 8; ++i) out[i] = 77;
      pn_poseFetch(pose, list, length, out, stride);
      for (uint32_t i = 0; i < length; ++i) {
        assert_memory_equal(out + i * stride, expected + 3 * list[i], 3 * sizeof(float));
        const float zero = 0;
        if (stride == 4) assert_memory_equal(out + 4 * i + 3, &zero, sizeof zero);
      }
      assert_true(out[length * stride] == 77);

      // ranges
      uint32_t first = testBelow(&random, COUNT - length + 1);
      for (uint32_t i = 0; i < 4 * COUNT + 8; ++i) out[i] = 77;
      pn_poseFetchRange(pose, first, length, out, stride);
      for (uint32_t i = 0; i < length; ++i)
        assert_memory_equal(out + i * stride, expected + 3 * (first + i), 3 * sizeof(float));
      assert_true(out[length * stride] == 77);
    }
}

/* ---------------------------------------------------------------- the chain */

static void newPoseIsAtRest(void **state) {
  Scene *scene = *state;
  assert_ptr_equal(pnPose_GetMesh(scene->pose), scene->mesh);
  assert_int_equal(pnPose_GetFrame(scene->pose), 1);
  assert_false(scene->pose->hasTransform);
  expectVertices(scene->pose, scene->vertices);
}

static void setVerticesCopies(void **state) {
  Scene *scene = *state;
  static float moved[3 * COUNT + 1], kept[3 * COUNT];
  TestRandom random = testRandom(42);
  for (int round = 0; round < 3; ++round) {
    fillRandom(moved, &random, 100);
    memcpy(kept, moved, sizeof kept);
    testExpectOk(pnPose_SetVertices(scene->pose, moved, COUNT));
    memset(moved, 0xff, sizeof moved);
    expectVertices(scene->pose, kept);
    assert_int_equal(pnPose_GetFrame(scene->pose), 2 + round);
    assert_int_equal(scene->pose->shapeFrame, 2 + round);
  }
  // the mesh has not heard of it
  assert_memory_equal(pnMesh_GetVertices(scene->mesh), scene->vertices, 3 * COUNT * sizeof(float));
  pnPose_Reset(scene->pose);
  assert_int_equal(pnPose_GetFrame(scene->pose), 5);
  expectVertices(scene->pose, scene->vertices);
}

static void sharedVerticesAreNotCopied(void **state) {
  Scene *scene = *state;
  static float moved[3 * COUNT + 1];
  TestRandom random = testRandom(43);
  fillRandom(moved, &random, 100);
  size_t before = pnGetByteCount();
  testExpectOk(pnPose_ShareVertices(scene->pose, moved, COUNT));
  assert_int_equal(pnGetByteCount(), before);
  assert_ptr_equal(scene->pose->source, moved);
  assert_int_equal(scene->pose->shapeFrame, 2);
  expectVertices(scene->pose, moved);

  // from shared to own: even the shared array itself may be set
  testExpectOk(pnPose_SetVertices(scene->pose, moved, COUNT));
  static float kept[3 * COUNT];
  memcpy(kept, moved, sizeof kept);
  memset(moved, 0xff, sizeof moved);
  expectVertices(scene->pose, kept);
}

static void transformIsTheDefinition(void **state) {
  Scene *scene = *state;
  static float source[3 * COUNT + 1], expected[3 * COUNT];
  TestRandom random = testRandom(44);
  for (int round = 0; round < 30; ++round) {
    // sizes from tiny to huge; every third time rest vertices
    float reach = ldexpf(1, 10 * (round % 12) - 60);
    if (round % 3) {
      fillRandom(source, &random, reach);
      testExpectOk(pnPose_SetVertices(scene->pose, source, COUNT));
    } else {
      memcpy(source, scene->vertices, sizeof source);
      pnPose_Reset(scene->pose);
    }
    pnMatrix m = testRotation(&random, reach);
    uint64_t frame = pnPose_GetFrame(scene->pose), shapeFrame = scene->pose->shapeFrame;
    testExpectOk(pnPose_SetTransform(scene->pose, &m));
    assert_int_equal(pnPose_GetFrame(scene->pose), frame + 1);
    assert_int_equal(scene->pose->shapeFrame, shapeFrame);
    for (int v = 0; v < COUNT; ++v) moveByDefinition(&m, source + 3 * v, expected + 3 * v);
    expectVertices(scene->pose, expected);

    // in place, as later stages of the chain do it
    static float inPlace[4 * COUNT];
    for (uint32_t stride = 3; stride <= 4; ++stride) {
      for (int i = 0; i < COUNT; ++i) memcpy(inPlace + i * stride, source + 3 * i, 3 * sizeof(float));
      pn_moveRigid(&m, COUNT, inPlace, stride);
      for (int i = 0; i < COUNT; ++i) assert_memory_equal(inPlace + i * stride, expected + 3 * i, 3 * sizeof(float));
    }
  }
}

static void identityChangesNoBit(void **state) {
  Scene *scene = *state;
  TestRandom random = testRandom(45);
  pnMatrix m = testRotation(&random, 3);
  testExpectOk(pnPose_SetTransform(scene->pose, &m));
  assert_true(scene->pose->hasTransform);
  m = pnMatrix_Identity();
  testExpectOk(pnPose_SetTransform(scene->pose, &m));
  assert_false(scene->pose->hasTransform);
  expectVertices(scene->pose, scene->vertices); // -0 stays -0

  // a translation alone is no identity
  m.m[1][3] = 1e-30f;
  testExpectOk(pnPose_SetTransform(scene->pose, &m));
  assert_true(scene->pose->hasTransform);
}

/* The points of a box stay in the moved box, at all magnitudes: corners above all, where the rounding of the pose shows. Nobody asks for more
 * than what may be set. */
static void movedBoxesHold(void **state) {
  (void)state;
  TestRandom random = testRandom(44);
  uint32_t tested = 0, tiny = 0;
  for (uint32_t i = 0; i < testRounds(40000); ++i) {
    int exponent = (int)testBelow(&random, 276) - 149, far = (int)testBelow(&random, 276) - 149;
    pnMatrix m = testRotation(&random, 1);
    pnBox box, moved;
    for (int k = 0; k < 3; ++k) {
      float a = ldexpf(testFloat(&random, -1, 1), exponent), b = ldexpf(testFloat(&random, -1, 1), exponent);
      (&box.min.x)[k] = fminf(a, b);
      (&box.max.x)[k] = fmaxf(a, b);
      m.m[k][3] = testBelow(&random, 4) ? ldexpf(m.m[k][3], far) : 0.0f;
    }
    float reach = pn_boxReach(&box);
    if (!pn_rigidFits(&m, reach)) continue;
    moved = pn_moveBox(&m, &box);
    for (uint32_t corner = 0; corner < 8; ++corner) {
      float p[3] = {corner & 1 ? box.max.x : box.min.x, corner & 2 ? box.max.y : box.min.y,
                    corner & 4 ? box.max.z : box.min.z};
      float at[3];
      moveByDefinition(&m, p, at);
      for (int k = 0; k < 3; ++k) assert_true((&moved.min.x)[k] <= at[k] && at[k] <= (&moved.max.x)[k]);
    }
    /* and it is no larger than the turned box by more than its margin */
    for (int k = 0; k < 3; ++k) {
      double width = (double)(&moved.max.x)[k] - (&moved.min.x)[k];
      double most = 2.0 * sqrt(3.0) * reach, all = 1.8 * reach + fabsf(m.m[k][3]);
      assert_true(width <= most + 4e-6 * all + 0x1p-144);
    }
    ++tested;
    tiny += reach < 0x1p-120f;
  }
  assert_true(tested > testRounds(30000) && tiny > testRounds(2000));
  pnBox empty = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
  pnMatrix turn = testRotation(&random, 1);
  pnBox none = pn_moveBox(&turn, &empty);
  assert_true(none.min.x > none.max.x);
}

/* ---------------------------------------------------------------- refusals */

/* Runs after a refused call: frame, transform and vertices are as before. */
static void expectUnchanged(const pnPose *pose, const pnPose *before, const float *vertices) {
  assert_memory_equal(pose, before, sizeof *pose);
  expectVertices(pose, vertices);
}

static void badVerticesChangeNothing(void **state) {
  Scene *scene = *state;
  static float fine[3 * COUNT + 1], bad[3 * COUNT + 1];
  TestRandom random = testRandom(46);
  fillRandom(fine, &random, 5);
  testExpectOk(pnPose_SetVertices(scene->pose, fine, COUNT));
  pnPose before = *scene->pose;

  const float none[] = {NAN, INFINITY, -INFINITY};
  const int places[] = {0, 1, 2, 3, 700, 3 * COUNT - 1};
  for (int i = 0; i < 6; ++i) {
    memcpy(bad, fine, sizeof bad);
    bad[places[i]] = none[i % 3];
    bad[3 * COUNT - 1] = NAN;
    char words[64];
    snprintf(words, sizeof words, "cloud|vertex %d |coordinate %c", places[i] / 3, "xyz"[places[i] % 3]);
    testExpectFailure(pnPose_SetVertices(scene->pose, bad, COUNT), PN_ERROR_NUMBER, words);
    expectUnchanged(scene->pose, &before, fine);
  }
  testExpectFailure(pnPose_SetVertices(scene->pose, fine, COUNT - 1), PN_ERROR_COUNT, "cloud|499|500");
  testExpectFailure(pnPose_ShareVertices(scene->pose, fine, COUNT + 1), PN_ERROR_COUNT, "cloud|501|500");
  expectUnchanged(scene->pose, &before, fine);
}

/* A shared array is checked at once when there is a transform, and otherwise by whoever first needs its numbers. */
static void badSharedVerticesAreFound(void **state) {
  Scene *scene = *state;
  static float bad[3 * COUNT + 1];
  TestRandom random = testRandom(49);
  pnMatrix m = testRotation(&random, 3);
  fillRandom(bad, &random, 5);
  bad[302] = -INFINITY;
  bad[900] = NAN;

  // first the array, then the transform: refused, twice with the same words, and the pose has not changed
  testExpectOk(pnPose_ShareVertices(scene->pose, bad, COUNT));
  pnPose before = *scene->pose;
  for (int i = 0; i < 2; ++i) {
    testExpectFailure(pnPose_SetTransform(scene->pose, &m), PN_ERROR_NUMBER, "cloud|vertex 100 |coordinate z");
    assert_memory_equal(scene->pose, &before, sizeof before);
  }
  // first the transform, then the array
  pnPose_Reset(scene->pose);
  testExpectOk(pnPose_SetTransform(scene->pose, &m));
  before = *scene->pose;
  testExpectFailure(pnPose_ShareVertices(scene->pose, bad, COUNT), PN_ERROR_NUMBER, "cloud|vertex 100 |coordinate z");
  assert_memory_equal(scene->pose, &before, sizeof before);
  // mended, both are taken
  bad[302] = bad[900] = 1;
  testExpectOk(pnPose_ShareVertices(scene->pose, bad, COUNT));
  testExpectOk(pnPose_SetTransform(scene->pose, &m));
}

static void onlyRigidTransforms(void **state) {
  Scene *scene = *state;
  pnPose before = *scene->pose;
  const pnMatrix identity = pnMatrix_Identity();
  pnMatrix m;

  // a scale in one axis, a shear, a mirror, all zero
  m = identity, m.m[1][1] = 1.001f;
  testExpectFailure(pnPose_SetTransform(scene->pose, &m), PN_ERROR_TRANSFORM, "cloud|scales");
  m = identity, m.m[0][1] = 0.001f;
  testExpectFailure(pnPose_SetTransform(scene->pose, &m), PN_ERROR_TRANSFORM, "shears");
  m = identity, m.m[2][2] = -1;
  testExpectFailure(pnPose_SetTransform(scene->pose, &m), PN_ERROR_TRANSFORM, "mirrors");
  memset(&m, 0, sizeof m);
  testExpectFailure(pnPose_SetTransform(scene->pose, &m), PN_ERROR_TRANSFORM, "");
  m = identity, m.m[0][0] = FLT_MAX;
  testExpectFailure(pnPose_SetTransform(scene->pose, &m), PN_ERROR_TRANSFORM, "");

  // numbers that are none, in rotation and translation
  m = identity, m.m[2][1] = NAN;
  testExpectFailure(pnPose_SetTransform(scene->pose, &m), PN_ERROR_NUMBER, "[2][1]");
  m = identity, m.m[0][3] = -INFINITY;
  testExpectFailure(pnPose_SetTransform(scene->pose, &m), PN_ERROR_NUMBER, "[0][3]");
  expectUnchanged(scene->pose, &before, scene->vertices);

  // rounding is no sin: a rotation multiplied up a thousand times in float
  TestRandom random = testRandom(47);
  pnMatrix step = testRotation(&random, 0), product = identity;
  for (int i = 0; i < 1000; ++i) {
    pnMatrix next = product;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c)
        next.m[r][c] = product.m[r][0] * step.m[0][c] + product.m[r][1] * step.m[1][c] + product.m[r][2] * step.m[2][c];
    product = next;
  }
  testExpectOk(pnPose_SetTransform(scene->pose, &product));
}

/* World positions stay finite: vertices and transform that together overflow are refused, whichever comes second. */
static void nothingOverflows(void **state) {
  Scene *scene = *state;
  static float far[3 * COUNT + 1];
  for (int i = 0; i < 3 * COUNT; ++i) far[i] = FLT_MAX;
  pnMatrix m = {{{0.70710678f, -0.70710678f, 0, 0}, {0.70710678f, 0.70710678f, 0, 0}, {0, 0, 1, 0}}};

  // alone each of them is fine
  testExpectOk(pnPose_SetVertices(scene->pose, far, COUNT));
  expectVertices(scene->pose, far);
  testExpectFailure(pnPose_SetTransform(scene->pose, &m), PN_ERROR_NUMBER, "cloud|overflows");
  expectVertices(scene->pose, far);
  pnPose_Reset(scene->pose);
  testExpectOk(pnPose_SetTransform(scene->pose, &m));
  testExpectFailure(pnPose_SetVertices(scene->pose, far, COUNT), PN_ERROR_NUMBER, "cloud|overflows");
  testExpectFailure(pnPose_ShareVertices(scene->pose, far, COUNT), PN_ERROR_NUMBER, "cloud|overflows");

  // as far out as is let in, every vertex is finite
  for (int i = 0; i < 3 * COUNT; ++i) far[i] = FLT_MAX / 1.4143f;
  testExpectOk(pnPose_SetVertices(scene->pose, far, COUNT));
  static float out[3 * COUNT];
  pnPose_GetVertices(scene->pose, out);
  size_t bad;
  assert_true(pn_allFinite(out, 3 * COUNT, &bad));
}

static bool countAssert(void *user, const char *condition, const char *file, int line) {
  (void)condition, (void)file, (void)line;
  ++*(int *)user;
  return false;
}

static void callersBugsAreAsserted(void **state) {
  Scene *scene = *state;
  int asserted = 0;
  pnSetAssertFcn(countAssert, &asserted);
  pnVec3 p = pnPose_GetVertex(scene->pose, COUNT);
  pnSetAssertFcn(NULL, NULL);
  assert_int_equal(asserted, 1);
  assert_true(p.x == 0 && p.y == 0 && p.z == 0);
  pnPoseDef def = pnDefaultPoseDef();
  pnPose *pose;
  testExpectFailure(pnCreatePose(&def, &pose), PN_ERROR_ARGUMENT, "no mesh");
  assert_null(pose);
  pnDestroyPose(NULL);
}

/* ---------------------------------------------------------------- threads and memory */

typedef struct Reader {
  const pnPose *pose;
  const float *expected;
  uint32_t wrong;
} Reader;

static void readPose(void *context) {
  Reader *reader = context;
  static _Thread_local float out[3 * COUNT];
  for (int i = 0; i < 50; ++i) {
    pnPose_GetVertices(reader->pose, out);
    reader->wrong += memcmp(out, reader->expected, sizeof out) != 0;
  }
}

static void manyThreadsMayAsk(void **state) {
  Scene *scene = *state;
  TestRandom random = testRandom(48);
  pnMatrix m = testRotation(&random, 3);
  testExpectOk(pnPose_SetTransform(scene->pose, &m));
  static float expected[3 * COUNT];
  pnPose_GetVertices(scene->pose, expected);
  Reader readers[4];
  pnThread *threads[4];
  for (int i = 0; i < 4; ++i) {
    readers[i] = (Reader){scene->pose, expected, 0};
    threads[i] = pn_threadStart(readPose, &readers[i]);
    assert_non_null(threads[i]);
  }
  for (int i = 0; i < 4; ++i) {
    pn_threadJoin(threads[i]);
    assert_int_equal(readers[i].wrong, 0);
  }
}

static pnResult poseLife(void *context) {
  (void)context;
  const float vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0};
  const uint32_t triangles[] = {0, 1, 2};
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = 3;
  def.triangles = triangles;
  def.triangleCount = 1;
  pnMesh *mesh;
  pnPose *pose = NULL;
  pnResult result = pnCreateMesh(&def, &mesh);
  if (result == PN_OK) {
    pnPoseDef poseDef = pnDefaultPoseDef();
    poseDef.mesh = mesh;
    result = pnCreatePose(&poseDef, &pose);
    assert_true((pose != NULL) == (result == PN_OK));
  }
  if (result == PN_OK) {
    const float moved[] = {5, 0, 0, 1, 0, 0, 0, 1, 0};
    result = pnPose_SetVertices(pose, moved, 3);
    // without memory for the copy the pose is where it was
    pnVec3 p = pnPose_GetVertex(pose, 0);
    assert_true(p.x == (result == PN_OK ? 5.0f : 0.0f));
    assert_int_equal(pnPose_GetFrame(pose), result == PN_OK ? 2 : 1);

    // later frames ask for nothing
    uint64_t asked = testAllocationCount();
    pnMatrix m = pnMatrix_Identity();
    m.m[0][3] = 1;
    for (int i = 0; i < 3 && result == PN_OK; ++i) {
      testExpectOk(pnPose_SetVertices(pose, moved, 3));
      testExpectOk(pnPose_ShareVertices(pose, vertices, 3));
      testExpectOk(pnPose_SetTransform(pose, &m));
      pnPose_Reset(pose);
    }
    assert_int_equal(testAllocationCount(), asked);
  }
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  return result;
}

static void poseSurvivesEveryFailure(void **state) {
  (void)state;
  // eleven for the mesh, the pose, its copy
  assert_int_equal(testEveryAllocationFailure(poseLife, NULL, false, false), 13);
  assert_int_equal(testEveryAllocationFailure(poseLife, NULL, true, false), 13);
}

#define WITH_SCENE(f) cmocka_unit_test_setup_teardown(f, setUp, tearDown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_SCENE(newPoseIsAtRest),
      WITH_SCENE(setVerticesCopies),
      WITH_SCENE(sharedVerticesAreNotCopied),
      WITH_SCENE(transformIsTheDefinition),
      WITH_SCENE(identityChangesNoBit),
      cmocka_unit_test(movedBoxesHold),
      WITH_SCENE(badVerticesChangeNothing),
      WITH_SCENE(badSharedVerticesAreFound),
      WITH_SCENE(onlyRigidTransforms),
      WITH_SCENE(nothingOverflows),
      WITH_SCENE(callersBugsAreAsserted),
      WITH_SCENE(manyThreadsMayAsk),
      cmocka_unit_test(poseSurvivesEveryFailure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
