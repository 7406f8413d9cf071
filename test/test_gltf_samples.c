/* test_gltf_samples.c: every glTF sample made by others: loads, and stands where an independent evaluation puts it
 * (gltf_reference.h), at rest and in each clip at its first key, at its middle and elsewhere. Files that are broken are
 * refused with a message that helps. */
#include "support.h"

#include "gltf_reference.h"
#include "pinch/io.h"

/* Where vertex v of a body is, in float, in the order the pose uses: morph, then joints or transform. */
static void place(const pnAnimState *state, const pnAnimBody *body, uint32_t b, float *out) {
  const float *weights = pnAnimState_GetWeights(state, b);
  const pnMatrix *joints = pnAnimState_GetJoints(state, b), *transform = pnAnimState_GetTransform(state, b);
  memcpy(out, body->vertices, (size_t)body->vertexCount * 3 * sizeof(float));
  for (uint32_t t = 0; t < body->targetCount; ++t) {
    const pnAnimTarget *target = &body->targets[t];
    for (uint32_t i = 0; i < target->count; ++i)
      for (int c = 0; c < 3; ++c)
        out[target->vertices[i] * 3 + (uint32_t)c] += weights[t] * target->deltas[i * 3 + (uint32_t)c];
  }
  for (uint32_t v = 0; v < body->vertexCount; ++v) {
    float p[3], sum[3] = {0, 0, 0};
    memcpy(p, out + v * 3, sizeof(p));
    uint32_t influences = joints != NULL ? body->influenceCount : 1;
    for (uint32_t k = 0; k < influences; ++k) {
      const pnMatrix *m = joints != NULL ? &joints[body->jointIndices[v * influences + k]] : transform;
      float w = joints != NULL ? body->jointWeights[v * influences + k] : 1.0f;
      for (int c = 0; c < 3; ++c)
        sum[c] += w * (m->m[c][0] * p[0] + m->m[c][1] * p[1] + m->m[c][2] * p[2] + m->m[c][3]);
    }
    memcpy(out + v * 3, sum, sizeof(sum));
  }
}

/* The largest distance to the reference, as a fraction of the largest coordinate met on the way. */
static double compareBody(const RefFile *reference, const pnAnimFile *file, const pnAnimState *state, uint32_t b,
                          int clip, double time) {
  const pnAnimBody *body = &file->bodies[b];
  size_t triangles = 0;
  double *corners = refCorners(reference, clip, time, body->node, &triangles), worst = 0, largest = 0;
  assert_int_equal(triangles, body->triangleCount);
  float *vertices = malloc((size_t)body->vertexCount * 3 * sizeof(float));
  place(state, body, b, vertices);
  for (size_t i = 0; i < triangles * 9; ++i) {
    double got = (double)vertices[body->triangles[i / 3] * 3 + i % 3];
    worst = fmax(worst, fabs(got - corners[i]));
    largest = fmax(largest, fabs(corners[i]));
  }
  free(vertices);
  free(corners);
  return largest > 0 ? worst / largest : worst;
}

/* Welded vertices must be at the same bits in every pose. */
static void checkWeld(const pnAnimFile *file, const pnAnimState *state, uint32_t b) {
  const pnAnimBody *body = &file->bodies[b];
  float *vertices = malloc((size_t)body->vertexCount * 3 * sizeof(float));
  place(state, body, b, vertices);
  for (uint32_t v = 0; v < body->vertexCount; ++v) {
    uint32_t first = body->vertexWeld[v];
    assert_true(first <= v && body->vertexWeld[first] == first);
    for (uint32_t c = 0; c < 3; ++c) assert_true(vertices[v * 3 + c] == vertices[first * 3 + c]);
  }
  free(vertices);
}

/* A body without skin has a transform that a rigid pose accepts. */
static void checkRigid(const pnAnimFile *file, const pnAnimState *state, uint32_t b) {
  if (file->bodies[b].skin != PN_NONE) return;
  const pnMatrix *t = pnAnimState_GetTransform(state, b);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      float dot = t->m[i][0] * t->m[j][0] + t->m[i][1] * t->m[j][1] + t->m[i][2] * t->m[j][2];
      assert_true(fabsf(dot - (i == j ? 1.0f : 0.0f)) <= 1e-4f);
    }
  }
}

/* One file in all its clips. Answers the number of poses compared. */
static int compareFile(const char *path, double *inOutWorst) {
  pnAnimFile *file = NULL;
  pnAnimState *state = NULL;
  pnResult result = pnLoadAnimFile(path, &file);
  if (result != PN_OK) fail_msg("%s", pnGetMessage());
  assert_int_equal(pnCreateAnimState(file, &state), PN_OK);
  RefFile reference = refLoad(path);
  assert_int_equal(file->clipCount, json_array_size(json_object_get(reference.root, "animations")));
  int poses = 0;
  double worst = 0;

  for (int clip = -1; clip < (int)file->clipCount; ++clip) {
    /* First key and middle; for files with few clips also a fifth of the way, and after the end. */
    double start = clip >= 0 ? (double)file->clips[clip].startTime : 0,
           end = clip >= 0 ? (double)file->clips[clip].endTime : 0;
    double times[4] = {start, (start + end) / 2, start + (end - start) * 0.2, end + 1.0};
    int timeCount = clip < 0 ? 1 : file->clipCount > 4 ? 2 : 4;
    for (int i = 0; i < timeCount; ++i) {
      assert_int_equal(pnAnimState_Evaluate(state, clip < 0 ? PN_NONE : (uint32_t)clip, times[i]), PN_OK);
      for (uint32_t b = 0; b < file->bodyCount; ++b) {
        /* The many equal skeletons of one sample and the 76 clips of another: every seventh is enough. */
        if (file->bodyCount > 20 && (b + (uint32_t)clip) % 7 != 0) continue;
        if (file->clipCount > 20 && (b + (uint32_t)clip) % 7 != 0) continue;
        double error = compareBody(&reference, file, state, b, clip, times[i]);
        worst = fmax(worst, error);
        checkWeld(file, state, b);
        checkRigid(file, state, b);
        ++poses;
      }
    }
  }
  /* A rounding of float is 6e-8 of a number; matrix, weights and sums have about ten of them. */
  if (worst > 1e-6) fail_msg("%s is off by %g of its size", path, worst);
  *inOutWorst = fmax(*inOutWorst, worst);
  refFree(&reference);
  pnDestroyAnimState(state);
  pnFreeAnimFile(file);
  return poses;
}

static void samplesStandWhereTheReferencePutsThem(void **context) {
  (void)context;
  const TestPath *paths;
  size_t count = testAnimFiles(&paths);
  if (count == 0) return;
  size_t before = pnGetByteCount();
  double worst = 0;
  int poses = 0;
  for (size_t i = 0; i < count; ++i) poses += compareFile(paths[i], &worst);
  assert_int_equal(pnGetByteCount(), before);
  printf("%zu files, %d bodies in poses, largest difference %.2g of the size\n", count, poses, worst);
}

static void brokenFilesAreRefused(void **context) {
  (void)context;
  static const struct {
    const char *path, *place, *word;
    pnResult result;
  } files[] = {
      {"assimp/models/glTF2/IndexOutOfRange/IndexOutOfRange.gltf", "meshes[0].primitives[0].indices", "24 vertices",
       PN_ERROR_INDEX},
      {"assimp/models/glTF2/MissingBin/BoxTextured.gltf", "buffers[0].uri", "BoxTextured0.bin", PN_ERROR_FILE}};
  for (size_t i = 0; i < 2; ++i) {
    pnAnimFile *file = NULL;
    const char *path = testDataPath(files[i].path);
    if (path == NULL) continue;
    assert_int_equal(pnLoadAnimFile(path, &file), files[i].result);
    assert_null(file);
    assert_non_null(strstr(pnGetMessage(), path));
    assert_non_null(strstr(pnGetMessage(), files[i].place));
    assert_non_null(strstr(pnGetMessage(), files[i].word));
  }
}

/* What the samples are known to contain. */
static void samplesHoldWhatTheySay(void **context) {
  (void)context;
  const TestPath *paths;
  size_t count = testAnimFiles(&paths);
  static const struct {
    const char *name, *body;
    uint32_t bodies, joints, targets, clips, scenes;
  } known[] = {{"CesiumMan", "Cesium_Man", 1, 19, 0, 1, 1}, {"Fox", "fox", 1, 24, 0, 3, 1},
               {"Knight", "Knight_Cape", 15, 0, 0, 76, 1},  {"RobotExpressive", "Head", 14, 1, 3, 14, 1},
               {"MultipleScenes", "mesh1", 2, 0, 0, 0, 2},  {"SimpleMorph", "mesh0", 1, 0, 2, 1, 1},
               {"Horse", "Horse", 1, 50, 0, 13, 1}};
  for (size_t i = 0; i < count; ++i) {
    pnAnimFile *file = NULL;
    assert_int_equal(pnLoadAnimFile(paths[i], &file), PN_OK);
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); ++k) {
      if (strcmp(file->name, known[k].name) != 0) continue;
      assert_int_equal(file->bodyCount, known[k].bodies);
      assert_int_equal(file->clipCount, known[k].clips);
      assert_int_equal(file->sceneCount, known[k].scenes);
      const pnAnimBody *body = NULL;
      for (uint32_t b = 0; b < file->bodyCount; ++b)
        if (strcmp(file->bodies[b].name, known[k].body) == 0) body = &file->bodies[b];
      assert_non_null(body);
      assert_int_equal(body->targetCount, known[k].targets);
      assert_int_equal(body->skin != PN_NONE ? file->skins[body->skin].jointCount : 0, known[k].joints);
    }
    pnFreeAnimFile(file);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samplesStandWhereTheReferencePutsThem),
      cmocka_unit_test(brokenFilesAreRefused),
      cmocka_unit_test(samplesHoldWhatTheySay),
  };
  pnSetLogFcn(testSayNothing, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
