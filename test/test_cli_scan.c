/* test_cli_scan.c: `pinch scan` end to end against the truth: animated files made here and by others, every body evaluated
 * and every pair of triangles asked by whole numbers; caches; our character. */
#include "support.h"

#include "tool.h"

#include "scan_make.h"

#include <math.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------- glTF against the truth */

/* A frame of the JSON against the pairs that whole numbers find. `self`: each body with itself too. */
static void compareFrame(const pnAnimFile *file, pnAnimState *state, const json_t *frame, bool self) {
  double time = json_number_value(json_object_get(frame, "time"));
  // In the JSON a time has nine digits; the tool evaluates at the frame itself.
  testExpectOk(pnAnimState_Evaluate(state, 0, (double)json_integer_value(json_object_get(frame, "frame")) / 30));
  assert_true(fabs(time - (double)json_integer_value(json_object_get(frame, "frame")) / 30) < 1e-6);
  AgreeBody *bodies = calloc(file->bodyCount, sizeof(AgreeBody));
  assert_non_null(bodies);
  for (uint32_t b = 0; b < file->bodyCount; ++b) {
    pnMeshDef def = pnDefaultMeshDef();
    def.vertices = file->bodies[b].vertices;
    def.vertexCount = file->bodies[b].vertexCount;
    def.triangles = file->bodies[b].triangles;
    def.triangleCount = file->bodies[b].triangleCount;
    def.vertexWeld = file->bodies[b].vertexWeld;
    testExpectOk(pnCreateMesh(&def, &bodies[b].mesh));
    bodies[b].positions = evaluateBody(file, state, b);
  }
  for (uint32_t a = 0; a < file->bodyCount; ++a) {
    for (uint32_t b = self ? a : a + 1; b < file->bodyCount; ++b) {
      AgreePairs truth = agreeTruth(&bodies[a], a == b ? NULL : &bodies[b]);
      assert_int_equal(pairsIn(frame, a, b), truth.count);
      free(truth.pairs);
    }
  }
  for (uint32_t b = 0; b < file->bodyCount; ++b) {
    pnDestroyMesh(bodies[b].mesh);
    free(bodies[b].positions);
  }
  free(bodies);
}

/* Scans with the range and compares the frames found. Returns how many of them have collisions. */
static uint32_t compareFile(const char *path, const char *frames) {
  pnAnimFile *file;
  pnAnimState *state;
  testExpectOk(pnLoadAnimFile(path, &file));
  testExpectOk(pnCreateAnimState(file, &state));
  ToolRun run = RUN("scan", path, "--self", "--json", "--fps", "30", "--frames", frames);
  json_t *object = parseJson(run.out), *list = json_object_get(object, "frames"), *frame;
  assert_int_equal(json_array_size(json_object_get(object, "bodies")), file->bodyCount);
  assert_true(json_array_size(list) > 0);
  uint32_t colliding = 0;
  size_t i;
  json_array_foreach(list, i, frame) {
    compareFrame(file, state, frame, true);
    colliding += json_array_size(json_object_get(frame, "collisions")) > 0;
  }
  assert_int_equal(run.status, colliding > 0);
  json_decref(object);
  freeRun(&run);
  pnDestroyAnimState(state);
  pnFreeAnimFile(file);
  return colliding;
}

static void testBoxes(void **state) {
  (void)state;
  saveBoxes("boxes.glb", 2);
  assert_int_equal(compareFile("boxes.glb", "::"), 61);
  unlink("boxes.glb");
}

/* Skins, targets, nodes; made by others. */
static void testSamples(void **state) {
  (void)state;
  static const struct {
    const char *path, *frames;
  } samples[] = {
      {"khronos-gltf/BoxAnimated/glTF-Binary/BoxAnimated.glb", "::9"},
      {"khronos-gltf/AnimatedMorphCube/glTF-Binary/AnimatedMorphCube.glb", "::9"},
      {"khronos-gltf/RiggedSimple/glTF-Binary/RiggedSimple.glb", "::15"},
      {"khronos-gltf/RiggedFigure/glTF-Binary/RiggedFigure.glb", "::15"},
      {"khronos-gltf/Fox/glTF-Binary/Fox.glb", "::40"},
      {"khronos-gltf/CesiumMan/glTF-Binary/CesiumMan.glb", "::30"},
      {"khronos-gltf/InterpolationTest/glTF-Binary/InterpolationTest.glb", "::20"},
      {"quaternius/animals_pack/Wolf.glb", "::40"},
  };
  uint32_t colliding = 0;
  for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); ++i) {
    const char *path = testDataPath(samples[i].path);
    if (!path) return;
    char copy[1024];
    snprintf(copy, sizeof(copy), "%s", path);
    // The working folder is below the one the path may be relative to.
    char below[1100];
    snprintf(below, sizeof(below), copy[0] == '/' ? "%s" : "../%s", copy);
    colliding += compareFile(below, samples[i].frames);
  }
  assert_true(colliding > 5); /* they do collide: an answer of nothing would not pass */
}

static void testCharacter(void **state) {
  (void)state;
  ToolRun run = RUN("make", "character", "hero.glb", "--triangles", "10000", "--seconds", "2");
  expectRun(&run, 0, NULL);
  freeRun(&run);
  // Two frames with themselves; the counts of all frames, from the table.
  assert_true(compareFile("hero.glb", "8:40:32") >= 1);
  run = RUN("scan", "hero.glb", "--fps", "30");
  assert_int_equal(run.status, 1);
  assert_non_null(strstr(run.out, "body and coat"));
  assert_non_null(strstr(run.out, "fingers"));
  freeRun(&run);
  run = RUN("scan", "hero.glb", "--self", "--animation", "idle");
  expectRun(&run, 0, NULL);
  assert_non_null(strstr(run.out, "No two triangles meet in any of"));
  freeRun(&run);
  unlink("hero.glb");
}

/* ---------------------------------------------------------------- caches against the truth */

#define CACHE_FRAMES 6

/* A ball that moves through a box, and gets a dent: frame f. */
static void ballFrame(const pnMesh *ball, uint32_t f, float *out) {
  const float *rest = pnMesh_GetVertices(ball);
  for (uint32_t i = 0; i < 3 * pnMesh_GetVertexCount(ball); ++i)
    out[i] = i % 3 == 0 ? rest[i] + 0.7f * (float)f - 2 : rest[i] * (rest[i] > 0.5f ? 1 - 0.15f * (float)f : 1);
}

static void putBig(FILE *stream, const void *word) {
  const uint8_t *bytes = word;
  for (int i = 3; i >= 0; --i) fputc(bytes[i], stream);
}

/* LightWave's format: counts, times, then vertices, all with the high byte first (this machine has the low one first). */
static void saveMdd(const char *path, const pnMesh *ball) {
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  uint32_t head[2] = {CACHE_FRAMES, pnMesh_GetVertexCount(ball)};
  putBig(stream, &head[0]);
  putBig(stream, &head[1]);
  for (uint32_t f = 0; f < CACHE_FRAMES; ++f) putBig(stream, &(float){(float)f / 24});
  float *positions = malloc(3 * (size_t)head[1] * sizeof(float));
  for (uint32_t f = 0; f < CACHE_FRAMES; ++f) {
    ballFrame(ball, f, positions);
    for (uint32_t i = 0; i < 3 * head[1]; ++i) putBig(stream, &positions[i]);
  }
  free(positions);
  assert_int_equal(fclose(stream), 0);
}

/* Scans the ball against the box and compares every frame; frame numbers are first, first + step, ... */
static void compareCache(const char *word, const AgreeBody *box, const pnMesh *ball, int first, int step, double fps) {
  ToolRun run = RUN("scan", word, "box.obj", "--self", "--json");
  assert_int_equal(run.status, 1);
  json_t *object = parseJson(run.out), *list = json_object_get(object, "frames");
  assert_int_equal(json_array_size(list), CACHE_FRAMES);
  AgreeBody moved = {(pnMesh *)ball, calloc(3 * (size_t)pnMesh_GetVertexCount(ball) + 1, sizeof(float))};
  for (uint32_t f = 0; f < CACHE_FRAMES; ++f) {
    json_t *frame = json_array_get(list, f);
    ballFrame(ball, f, moved.positions);
    AgreePairs both = agreeTruth(&moved, box), self = agreeTruth(&moved, NULL);
    assert_int_equal(json_integer_value(json_object_get(frame, "frame")), first + step * (int)f);
    assert_true(fabs(json_number_value(json_object_get(frame, "time")) - (first + step * (int)f) / fps) < 1e-6);
    assert_int_equal(pairsIn(frame, 0, 1), both.count);
    assert_int_equal(pairsIn(frame, 0, 0), self.count);
    free(both.pairs);
    free(self.pairs);
  }
  free(moved.positions);
  json_decref(object);
  freeRun(&run);
}

static void testCaches(void **state) {
  (void)state;
  pnMesh *ball, *boxMesh;
  testExpectOk(pnMakeIcosphere(2, 1, &ball));
  testExpectOk(pnMakeBox((pnVec3){0.5f, 0.6f, 0.7f}, 3, &boxMesh));
  AgreeBody box = {boxMesh, calloc(3 * (size_t)pnMesh_GetVertexCount(boxMesh) + 1, sizeof(float))};
  memcpy(box.positions, pnMesh_GetVertices(boxMesh), 3 * (size_t)pnMesh_GetVertexCount(boxMesh) * sizeof(float));
  uint32_t vertexCount = pnMesh_GetVertexCount(ball);
  testExpectOk(pnSaveMesh("box.obj", box.positions, pnMesh_GetVertexCount(boxMesh), pnMesh_GetTriangles(boxMesh),
                          pnMesh_GetTriangleCount(boxMesh)));
  testExpectOk(pnSaveMesh("ball.ply", pnMesh_GetVertices(ball), vertexCount, pnMesh_GetTriangles(ball),
                          pnMesh_GetTriangleCount(ball)));
  saveMdd("ball.mdd", ball);
  assert_int_equal(mkdir("cache", 0755), 0);
  float *positions = malloc(3 * (size_t)vertexCount * sizeof(float));
  char name[64];
  for (uint32_t f = 0; f < CACHE_FRAMES; ++f) {
    ballFrame(ball, f, positions);
    snprintf(name, sizeof(name), "cache/frame_%04u.ply", 10 + 2 * f);
    testExpectOk(pnSaveMesh(name, positions, vertexCount, pnMesh_GetTriangles(ball), pnMesh_GetTriangleCount(ball)));
  }
  compareCache("ball.ply@ball.mdd", &box, ball, 0, 1, 24);
  compareCache("ball.ply@cache", &box, ball, 10, 2, 30);
  compareCache("cache/frame_####.ply", &box, ball, 10, 2, 30);
  compareCache("cache/frame_*.ply", &box, ball, 10, 2, 30);
  compareCache("cache", &box, ball, 10, 2, 30);
  // Between its frames a cache stays: frame 13 shows file 12.
  ToolRun run = RUN("scan", "cache", "box.obj", "--json", "--frames", "12:13:1");
  json_t *object = parseJson(run.out), *list = json_object_get(object, "frames");
  assert_int_equal(json_array_size(list), 2);
  assert_int_equal(pairsIn(json_array_get(list, 0), 0, 1), pairsIn(json_array_get(list, 1), 0, 1));
  json_decref(object);
  freeRun(&run);
  for (uint32_t f = 0; f < CACHE_FRAMES; ++f) {
    snprintf(name, sizeof(name), "cache/frame_%04u.ply", 10 + 2 * f);
    unlink(name);
  }
  rmdir("cache");
  unlink("ball.ply");
  unlink("ball.mdd");
  unlink("box.obj");
  free(positions);
  free(box.positions);
  pnDestroyMesh(boxMesh);
  pnDestroyMesh(ball);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(testBoxes, enterFolder, leaveFolder),
      cmocka_unit_test_setup_teardown(testCaches, enterFolder, leaveFolder),
      cmocka_unit_test_setup_teardown(testCharacter, enterFolder, leaveFolder),
      cmocka_unit_test_setup_teardown(testSamples, enterFolder, leaveFolder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
