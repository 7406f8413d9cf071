/* test_cli_make.c: `pinch make` writes what it says, in every format, and refuses what it cannot make. Files are read
 * back with pinch_io, the tool itself is run as a user runs it. */
#include "support.h"

#include "tool.h"

#include "pinch/io.h"
#include "pinch/mesh.h"

#include <math.h>

/* Every shape in every format has the triangles its formula promises, and is closed unless it is the grid. */
static void everyShapeInEveryFormat(void **state) {
  (void)state;
  static const struct {
    const char *words;
    uint32_t triangles;
    bool closed;
  } shapes[] = {
      {"icosphere F --cells 2 --radius 3", 20 * 16, true},   {"box F --cells 3 --size 1,2,3", 12 * 9, true},
      {"grid F --cells 5,7 --size 2,1", 2 * 5 * 7, false},   {"torus F --cells 12,8", 2 * 12 * 8, true},
      {"knot F --cells 60,6 --turns 3,2", 2 * 60 * 6, true},
  };
  static const char *const extensions[] = {"obj", "ply", "stl", "off"};
  for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i) {
    for (size_t k = 0; k < sizeof(extensions) / sizeof(extensions[0]); ++k) {
      // "F" in the words stands for the file.
      char path[64], words[256];
      const char *place = strchr(shapes[i].words, 'F');
      snprintf(path, sizeof(path), "made.%s", extensions[k]);
      snprintf(words, sizeof(words), "make %.*s%s%s", (int)(place - shapes[i].words), shapes[i].words, path, place + 1);
      lookForLeaks(i == 0 && k == 0);
      assert_int_equal(runLine(words), 0);
      // Read it back.
      pnMeshFile file;
      if (pnLoadMeshFile(path, &file) != PN_OK) fail_msg("%s: %s", words, pnGetMessage());
      assert_int_equal(file.triangleCount, shapes[i].triangles);
      pnMeshDef def = pnDefaultMeshDef();
      def.vertices = file.vertices, def.vertexCount = file.vertexCount;
      def.triangles = file.triangles, def.triangleCount = file.triangleCount;
      pnMesh *mesh;
      pnMeshInfo info;
      assert_int_equal(pnCreateMesh(&def, &mesh), PN_OK);
      assert_int_equal(pnMesh_Validate(mesh, &info), PN_OK);
      assert_int_equal(info.closed, shapes[i].closed);
      assert_int_equal(info.degenerateCount, 0);
      pnDestroyMesh(mesh);
      pnFreeMeshFile(&file);
      remove(path);
    }
  }
}

/* --at moves the centre and nothing else: sizes are powers of two here, so the box is exact. */
static void atMovesIt(void **state) {
  (void)state;
  assert_int_equal(runLine("make box made.ply --cells 1 --size 2,4,8 --at 16,-32,0.5"), 0);
  pnMeshFile file;
  assert_int_equal(pnLoadMeshFile("made.ply", &file), PN_OK);
  float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (uint32_t i = 0; i < 3 * file.vertexCount; ++i) {
    low[i % 3] = fminf(low[i % 3], file.vertices[i]);
    high[i % 3] = fmaxf(high[i % 3], file.vertices[i]);
  }
  const float expectedLow[3] = {15, -34, -3.5f}, expectedHigh[3] = {17, -30, 4.5f};
  assert_memory_equal(low, expectedLow, sizeof(low));
  assert_memory_equal(high, expectedHigh, sizeof(high));
  pnFreeMeshFile(&file);
  remove("made.ply");
}

/* What cannot be made is refused with status 2 and a word about it, and no file is left. */
static void badRequests(void **state) {
  (void)state;
  static const char *const bad[] = {
      "make",
      "make knot",
      "make teapot made.obj",
      "make knot made.xyz",
      "make knot made.obj --radius",
      "make knot made.obj --radius fat",
      "make knot made.obj --radius 1,2",
      "make knot made.obj --radius nan",
      "make knot made.obj --cells 3.5",
      "make knot made.obj --cells -4",
      "make knot made.obj --cells 4,4,4",
      "make knot made.obj --cells 4,",
      "make torus made.obj --cells 0",
      "make icosphere made.obj --cells 99",
      "make knot made.obj --at 1,2,3,4",
      "make knot made.obj --colour red",
      "make box made.obj --radius 2",
      "make character made.obj",
      "make character made.glb --seconds 0",
      "make character made.glb --seconds -5",
      "make character made.glb --triangles 5",
      "make character made.glb --tube 1",
      "make knot no_such_folder/made.obj",
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    lookForLeaks(strstr(bad[i], "no_such_folder") != NULL);
    if (runLine(bad[i]) != 2) fail_msg("pinch %s should end with status 2", bad[i]);
    if (lastRun.err[0] == 0) fail_msg("pinch %s says nothing on stderr", bad[i]);
    FILE *file = fopen("made.obj", "rb");
    if (file != NULL) fail_msg("pinch %s leaves a file", bad[i]);
  }
  assert_int_equal(runLine("make --help"), 0);
  assert_string_equal(lastRun.err, "");
}

/* Numbers that are too few or too many for a shape: what is wanted is said. One number stands for all. */
static void numbersOfAShape(void **state) {
  (void)state;
  static const char *const bad[][2] = {
      {"make box made.obj --size 1,2", "--size: expected three numbers X,Y,Z, or one for all, found '1,2'"},
      {"make box made.obj --size 1,2,3,4", "--size: expected three numbers X,Y,Z, or one for all"},
      {"make grid made.obj --size 1,2,3", "--size: expected two numbers X,Y, or one for both, found '1,2,3'"},
      {"make box made.obj --cells 4,4", "--cells: expected one whole number, found '4,4'"},
      {"make icosphere made.obj --cells 2,2", "--cells: expected one whole number, found '2,2'"},
      {"make torus made.obj --cells 8,8,8", "--cells: expected two whole numbers N,M, or one for both"},
      {"make knot made.obj --turns 2", "--turns: expected two whole numbers P,Q, found '2'"},
      {"make knot made.obj --turns 2,3,4", "--turns: expected two whole numbers P,Q"},
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    if (runLine(bad[i][0]) != 2) fail_msg("pinch %s should end with status 2", bad[i][0]);
    if (!strstr(lastRun.err, bad[i][1])) fail_msg("pinch %s says: %s", bad[i][0], lastRun.err);
  }
  static const struct {
    const char *words;
    float high[3];
  } good[] = {{"make box made.ply --size 4", {2, 2, 2}},
              {"make grid made.ply --size 4", {2, 2, 0}},
              {"make grid made.ply --size 4,8", {2, 4, 0}}};
  for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); ++i) {
    assert_int_equal(runLine(good[i].words), 0);
    pnMeshFile file;
    assert_int_equal(pnLoadMeshFile("made.ply", &file), PN_OK);
    float high[3] = {-9, -9, -9};
    for (uint32_t v = 0; v < 3 * file.vertexCount; ++v)
      if (file.vertices[v] > high[v % 3]) high[v % 3] = file.vertices[v];
    pnFreeMeshFile(&file);
    assert_memory_equal(high, good[i].high, sizeof(high));
    remove("made.ply");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everyShapeInEveryFormat),
      cmocka_unit_test(atMovesIt),
      cmocka_unit_test(badRequests),
      cmocka_unit_test(numbersOfAShape),
  };
  return cmocka_run_group_tests(tests, enterFolder, leaveFolder);
}
