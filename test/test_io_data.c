/* test_io_data.c: every OBJ, PLY, STL and OFF file of the data folder has the counts its list says. */
#include "support.h"

#include "pinch/io.h"

#include <stdlib.h>
#include <string.h>

/* What is stored is a valid mesh: indices in range, groups in range. */
static void checkArrays(const pnMeshFile *file) {
  for (size_t i = 0; i < 3 * (size_t)file->triangleCount; ++i) assert_true(file->triangles[i] < file->vertexCount);
  assert_true((file->triangleGroups != NULL) == (file->groupCount > 0));
  for (uint32_t t = 0; t < file->triangleCount && file->groupCount > 0; ++t)
    assert_true(file->triangleGroups[t] < file->groupCount);
}

static void testManifest(void **state) {
  (void)state;
  const char *path = testDataPath("MANIFEST.tsv");
  if (!path) return;
  FILE *list = fopen(path, "rb");
  assert_non_null(list);
  char line[4096];
  uint32_t count = 0, wrong = 0;
  while (fgets(line, sizeof(line), list)) {
    char *fields[8] = {0};
    if (testSplitTabs(line, fields, 8) < 5 || !testIsMeshName(fields[1])) continue;
    const char *meshPath = testDataPath(fields[1]);
    assert_non_null(meshPath);
    pnMeshFile file;
    pnResult result = pnLoadMeshFile(meshPath, &file);
    uint32_t vertices = (uint32_t)strtoul(fields[3], NULL, 10), triangles = (uint32_t)strtoul(fields[4], NULL, 10);
    bool good = result == PN_OK && file.vertexCount == vertices && file.triangleCount == triangles;
    if (!good)
      print_error("%s: %u vertices, %u triangles, expected %u and %u (%s)\n", fields[1], file.vertexCount,
                  file.triangleCount, vertices, triangles, result == PN_OK ? "read" : pnGetMessage());
    wrong += !good;
    ++count;
    checkArrays(&file);
    pnFreeMeshFile(&file);
  }
  fclose(list);
  print_message("%u files\n", count);
  assert_int_equal(wrong, 0);
  assert_true(count > 250);
  assert_int_equal(pnGetByteCount(), 0);
}

/* The same model in four files: the same vertices and triangles, bit for bit where the formats keep them. */
static void testSameModel(void **state) {
  (void)state;
  static const char *names[] = {"threejs/ply/ascii/dolphins.ply", "threejs/ply/ascii/dolphins_colored.ply",
                                "threejs/ply/binary/dolphins_be.ply", "threejs/ply/binary/dolphins_le.ply"};
  pnMeshFile files[4] = {{0}};
  bool all = true;
  for (int i = 0; i < 4; ++i) {
    const char *path = testDataPath(names[i]);
    all = all && path;
    if (path) testExpectOk(pnLoadMeshFile(path, &files[i]));
  }
  for (int i = 1; i < 4 && all; ++i) {
    assert_int_equal(files[i].triangleCount, files[0].triangleCount);
    assert_memory_equal(files[i].triangles, files[0].triangles, 12 * files[0].triangleCount);
  }
  if (all) assert_memory_equal(files[2].vertices, files[3].vertices, 12 * files[2].vertexCount);
  for (int i = 0; i < 4; ++i) pnFreeMeshFile(&files[i]);
}

/* Files that are not meshes are refused with a reason. */
static void testOthersAreRefused(void **state) {
  (void)state;
  static const char *names[] = {"MANIFEST.tsv", "README.md", "jgt-tritri", "kaykit"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    const char *path = testDataPath(names[i]);
    if (!path) continue;
    pnMeshFile file;
    pnResult result = pnLoadMeshFile(path, &file);
    assert_int_not_equal(result, PN_OK);
    assert_non_null(strstr(pnGetMessage(), names[i]));
    assert_non_null(strstr(pnGetMessage(), "expected"));
    assert_null(file.vertices);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testManifest),
      cmocka_unit_test(testSameModel),
      cmocka_unit_test(testOthersAreRefused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
