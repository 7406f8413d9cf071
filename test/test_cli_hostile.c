/* test_cli_hostile.c: small files that ask for very much. The answer is bounded, or a message says what to choose. */
#include "support.h"

#include "tool.h"

#include "scan_make.h"

#include <sys/resource.h>

/* A glTF of one triangle, its nine floats in base 64, under `count` nodes `step` apart, in JSON only. */
static void saveCopies(const char *path, const char *floats, double step, uint32_t count) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fprintf(file,
          "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":36,\"uri\":\"data:;base64,%s\"}],"
          "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],"
          "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],"
          "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"nodes\":[",
          floats);
  for (uint32_t i = 0; i < count; ++i) fprintf(file, "%s{\"mesh\":0,\"translation\":[%g,0,0]}", i ? "," : "", step * i);
  fputs("],\"scenes\":[{\"nodes\":[", file);
  for (uint32_t i = 0; i < count; ++i) fprintf(file, "%s%u", i ? "," : "", i);
  fputs("]}]}", file);
  assert_int_equal(fclose(file), 0);
}

/* All of them in one place. */
static void saveCoincident(const char *path, uint32_t count) {
  saveCopies(path, "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA", 0, count);
}

/* 150 bodies in one place are 11 175 pairs of bodies: 4 096 are listed, and both outputs say so; all with --max-pairs 0. */
static void crowdsAreListedInPart(void **state) {
  (void)state;
  saveCoincident("crowd.gltf", 150);
  ToolRun run = RUN("scan", "crowd.gltf", "--json", "--first");
  expectRun(&run, 1, NULL);
  json_t *root = parseJson(run.out);
  assert_int_equal(json_integer_value(json_object_get(root, "pairs_total")), 4096);
  assert_true(json_integer_value(json_object_get(root, "limited_frames")) > 0);
  json_decref(root);
  freeRun(&run);
  run = RUN("scan", "crowd.gltf", "--first");
  expectRun(&run, 1, NULL);
  assert_non_null(strstr(run.out, "Note: in"));
  freeRun(&run);
  run = RUN("scan", "crowd.gltf", "--json", "--first", "--max-pairs", "0");
  expectRun(&run, 1, NULL);
  root = parseJson(run.out);
  assert_int_equal(json_integer_value(json_object_get(root, "pairs_total")), 150 * 149 / 2);
  assert_null(json_object_get(root, "limited_frames"));
  json_decref(root);
  freeRun(&run);
  /* with findings, which are more work for each two bodies than their pair of triangles */
  run = RUN("scan", "crowd.gltf", "--json", "--top", "1");
  expectRun(&run, 1, NULL);
  root = parseJson(run.out);
  assert_int_equal(json_array_size(json_object_get(root, "findings")), 4096);
  json_decref(root);
  freeRun(&run);
  remove("crowd.gltf");
}

/* 20 000 bodies in one place are two hundred million pairs of bodies in 330 KB. Neither they nor their contacts are all listed, and small
 * blocks lie side by side: 5 000 took 500 MB with the pairs, 20 000 took 105 with a line or two lost around each block, and take 80. What a
 * process may take is the operating system's word, the most of any tool run so far; sanitizers take more. */
static void crowdsTakeLittleMemory(void **state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  uint32_t count = 5000;
#else
  uint32_t count = 20000;
#endif
  saveCoincident("crowd.gltf", count);
  ToolRun run = RUN("scan", "crowd.gltf", "--first", "-q", "--threads", "1");
  expectRun(&run, 1, NULL);
  freeRun(&run);
  struct rusage use;
  assert_int_equal(getrusage(RUSAGE_CHILDREN, &use), 0);
  if (count == 20000) assert_true(use.ru_maxrss < 92 * 1024);
  remove("crowd.gltf");
}

/* Triangles behind one another across their boxes, under nodes at 1/100 of a unit: all boxes overlap and none of them meets. */
static void saveSlanted(const char *path, uint32_t count) {
  saveCopies(path, "AAAAAAAAAAAAAAAAAACAPwAAgD8AAAAAAAAAPwAAAD8AAIA/", 0.01, count);
}

/* Of bodies that are close half as many pairs are looked at as --max-pairs says of triangles. That nothing meets among them is no
 * answer: not in the status, not in words, not for a CI system. */
static void whatWasNotLookedAtIsNotClean(void **state) {
  (void)state;
  saveSlanted("slant.gltf", 20);
  static const char *const commands[] = {"scan", "check"};
  for (int i = 0; i < 2; ++i) {
    ToolRun run = RUN(commands[i], "slant.gltf", "--max-pairs", "380");
    expectRun(&run, 0, NULL);
    assert_null(strstr(run.out, "Note"));
    freeRun(&run);
    run = RUN(commands[i], "slant.gltf", "--max-pairs", "378");
    expectRun(&run, 2, "not all was looked at|--max-pairs 0");
    assert_non_null(strstr(run.out, "of those that were looked at"));
    freeRun(&run);
  }
  ToolRun run = RUN("scan", "slant.gltf", "--max-pairs", "9", "--fail-on", "none", "-q");
  expectRun(&run, 0, NULL);
  freeRun(&run);
  run = RUN("scan", "slant.gltf", "--max-pairs", "9", "--junit", "-");
  expectRun(&run, 2, "not all was looked at");
  assert_non_null(strstr(run.out, "errors=\"1\""));
  freeRun(&run);
  run = RUN("scan", "slant.gltf", "--max-pairs", "9", "--sarif", "-");
  expectRun(&run, 2, "not all was looked at");
  assert_non_null(strstr(run.out, "\"executionSuccessful\": false"));
  freeRun(&run);
  remove("slant.gltf");
}

/* An animation of a day: which of its millions of frames? */
static void longAnimationsAskForFrames(void **state) {
  (void)state;
  saveBoxes("day.glb", 86400);
  ToolRun run = RUN("scan", "day.glb");
  expectRun(&run, 2, "2592001 frames|--frames");
  freeRun(&run);
  run = RUN("scan", "day.glb", "--frames", "0:2592000:50000", "--first", "-q");
  expectRun(&run, 1, NULL);
  freeRun(&run);
  remove("day.glb");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(crowdsAreListedInPart), cmocka_unit_test(crowdsTakeLittleMemory),
                                     cmocka_unit_test(whatWasNotLookedAtIsNotClean),
                                     cmocka_unit_test(longAnimationsAskForFrames)};
  return cmocka_run_group_tests(tests, enterFolder, leaveFolder);
}
