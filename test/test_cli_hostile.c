/* test_cli_hostile.c: small files that ask for very much. The answer is bounded, or a message says what to choose. */
#include "support.h"

#include "tool.h"

#include "scan_make.h"

#include <sys/resource.h>

/* A glTF of one triangle under `count` nodes, all in one place, in JSON only. */
static void saveCoincident(const char *path, uint32_t count) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(
      "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":36,\"uri\":\"data:;base64,"
      "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],"
      "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],"
      "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"nodes\":[",
      file);
  for (uint32_t i = 0; i < count; ++i) fprintf(file, "%s{\"mesh\":0}", i ? "," : "");
  fputs("],\"scenes\":[{\"nodes\":[", file);
  for (uint32_t i = 0; i < count; ++i) fprintf(file, "%s%u", i ? "," : "", i);
  fputs("]}]}", file);
  assert_int_equal(fclose(file), 0);
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
                                     cmocka_unit_test(longAnimationsAskForFrames)};
  return cmocka_run_group_tests(tests, enterFolder, leaveFolder);
}
