/* test_cli_volume.c: `pinch volume` and `pinch inside`, run as a user runs them: the numbers, the JSON, the files, the
 * refusals. */
#include "support.h"

#include "tool.h"

#include "pinch/io.h"

#include <jansson.h>
#include <math.h>

static json_t *readJson(void) {
  json_error_t error;
  json_t *object = json_loads(lastRun.out, 0, &error);
  if (!object) fail_msg("line %d: %s", error.line, error.text);
  return object;
}

static double number(const json_t *object, const char *key) {
  json_t *value = json_object_get(object, key);
  if (!json_is_number(value)) fail_msg("'%s' is not a number", key);
  return json_number_value(value);
}

static void makeFiles(void) {
  assert_int_equal(runLine("make box test_v_a.ply --cells 2 --size 2,2,2"), 0);
  assert_int_equal(runLine("make box test_v_b.ply --cells 3 --size 2,2,2 --at 1.5,0.25,0.5"), 0);
  assert_int_equal(runLine("make box test_v_small.stl --cells 1 --size 0.5,0.5,0.5 --at 0.1,0,0"), 0);
  assert_int_equal(runLine("make grid test_v_open.obj --cells 3,3 --size 2,2"), 0);
}

static int leaveWithoutFiles(void **state) {
  static const char *const files[] = {"test_v_a.ply",    "test_v_b.ply",    "test_v_small.stl",
                                      "test_v_open.obj", "test_v_mesh.ply", "test_v_pts.txt"};
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) remove(files[i]);
  return leaveFolder(state);
}

static void twoBoxes(void **state) {
  (void)state;
  makeFiles();
  // 0.5 x 1.75 x 1.5 shared; the way out is 0.5 along -x
  static const char *const backends[] = {"", " --gl"};
  for (int i = 0; i < 2; ++i) {
    char words[256];
    snprintf(words, sizeof(words), "volume test_v_a.ply test_v_b.ply --json --resolution 128 --threads 2%s",
             backends[i]);
    assert_int_equal(runLine(words), 0);
    json_t *object = readJson();
    assert_true(fabs(number(object, "volume") - 1.3125) < 1e-4);
    assert_true(number(object, "error") > 0 && number(object, "error") < 0.2);
    assert_true(fabs(number(object, "depth") - 0.5) < 1e-4);
    json_t *direction = json_object_get(object, "direction"), *centroid = json_object_get(object, "centroid");
    static const double wantDirection[3] = {-1, 0, 0}, wantCentroid[3] = {0.75, 0.125, 0.25};
    for (size_t k = 0; k < 3; ++k) {
      assert_true(fabs(json_number_value(json_array_get(direction, k)) - wantDirection[k]) < 1e-3);
      assert_true(fabs(json_number_value(json_array_get(centroid, k)) - wantCentroid[k]) < 1e-3);
    }
    assert_int_equal(number(object, "resolution"), 128);
    assert_int_equal(number(object, "spans"), 128 * 128);
    assert_int_equal(json_array_size(json_object_get(object, "layers")), 2);
    assert_string_equal(json_string_value(json_object_get(object, "relation")), "overlap");
    const char *backend = json_string_value(json_object_get(object, "backend"));
    assert_true(strcmp(backend, "software") == 0 || (i == 1 && strcmp(backend, "opengl") == 0));
    json_decref(object);
  }
}

static void insideAndApart(void **state) {
  (void)state;
  assert_int_equal(runLine("volume test_v_small.stl test_v_a.ply --json"), 0);
  json_t *object = readJson();
  assert_string_equal(json_string_value(json_object_get(object, "relation")), "a_in_b");
  assert_true(json_is_true(json_object_get(object, "certain")));
  assert_true(fabs(number(object, "volume") - 0.125) < 1e-4);
  json_decref(object);
  assert_int_equal(runLine("volume test_v_small.stl test_v_a.ply"), 0);
  assert_non_null(strstr(lastRun.out, "lies inside"));

  assert_int_equal(runLine("make box test_v_b.ply --cells 1 --size 2,2,2 --at 9,0,0"), 0);
  assert_int_equal(runLine("volume test_v_a.ply test_v_b.ply --json"), 0);
  object = readJson();
  assert_true(number(object, "volume") == 0 && number(object, "depth") == 0 && number(object, "error") == 0);
  assert_true(json_is_null(json_object_get(object, "direction")) && json_is_null(json_object_get(object, "centroid")));
  json_decref(object);
}

static void surfaceFile(void **state) {
  (void)state;
  makeFiles();
  assert_int_equal(runLine("volume test_v_a.ply test_v_b.ply --resolution 32 --mesh test_v_mesh.ply"), 0);
  assert_non_null(strstr(lastRun.out, "test_v_mesh.ply"));
  pnMeshFile file;
  testExpectOk(pnLoadMeshFile("test_v_mesh.ply", &file));
  // what it encloses, by the divergence theorem
  double volume = 0;
  for (uint32_t t = 0; t < file.triangleCount; ++t) {
    const float *p[3];
    for (int k = 0; k < 3; ++k) p[k] = file.vertices + 3 * file.triangles[3 * t + k];
    volume += (p[0][0] * (double)(p[1][1] * p[2][2] - p[1][2] * p[2][1]) -
               p[0][1] * (double)(p[1][0] * p[2][2] - p[1][2] * p[2][0]) +
               p[0][2] * (double)(p[1][0] * p[2][1] - p[1][1] * p[2][0])) /
              6;
  }
  assert_true(fabs(volume - 1.3125) < 1e-3);
  pnFreeMeshFile(&file);
  expectLine("volume test_v_a.ply test_v_b.ply --mesh no/such/folder/x.ply", 2, "no/such/folder");
}

static void refusals(void **state) {
  (void)state;
  makeFiles();
  expectLine("volume test_v_a.ply test_v_open.obj", 2, "not closed");
  assert_non_null(strstr(lastRun.err, "close it, or give --parity\n"));
  assert_null(strstr(lastRun.err, "PN_"));
  assert_int_equal(runLine("volume test_v_a.ply test_v_open.obj --parity --json"), 0);
  expectLine("volume test_v_a.ply test_v_b.ply --mesh ./test_v_a.ply", 2, "would be lost");
  expectLine("volume test_v_a.ply", 2, "expected two bodies, found 1");
  expectLine("volume test_v_a.ply test_v_b.ply --only 1,1", 2,
             "--only: expected two different bodies A,B, and '1,1' means one");
  expectLine("volume test_v_a.ply test_v_b.ply --only *,*", 2, "'*,*' means more");
  expectLine("volume test_v_a.ply test_v_b.ply --mesh", 2, "--mesh: expected OUT.ply, found nothing");
  expectLine("volume test_v_a.ply test_v_b.ply --resolution 7", 2, "16 to 4096");
  expectLine("volume test_v_a.ply nothing.ply", 2, "nothing.ply");
  assert_int_equal(runLine("volume --help"), 0);
  assert_non_null(strstr(lastRun.out, "--resolution"));
}

static void insidePoints(void **state) {
  (void)state;
  makeFiles();
  writeText("test_v_pts.txt", "0 0 0\n# a remark\n\n2,0,0\n-0.5\t0.5;0.5 extra words\r\n1e3 0 0");
  assert_int_equal(runLine("inside test_v_a.ply --points test_v_pts.txt"), 0);
  assert_string_equal(lastRun.out, "1\n0\n1\n0\n");
  assert_int_equal(runLine("inside test_v_a.ply --points test_v_pts.txt --json --resolution 64"), 0);
  json_t *object = readJson(), *answers = json_object_get(object, "inside");
  assert_int_equal(json_array_size(answers), 4);
  assert_int_equal(number(object, "inside_total"), 2);
  assert_int_equal(number(object, "resolution"), 64);
  assert_true(number(object, "error") > 0 && number(object, "error") < 0.05);
  json_decref(object);

  // the vertices of a mesh file are points too
  assert_int_equal(runLine("inside test_v_a.ply --points test_v_small.stl"), 0);
  const char *text = lastRun.out;
  assert_true(strlen(text) > 0 && strchr(text, '0') == NULL);

  writeText("test_v_pts.txt", "0 0 0\n1 2\n");
  expectLine("inside test_v_a.ply --points test_v_pts.txt", 2, "test_v_pts.txt: line 2");
  writeText("test_v_pts.txt", "0 0 nan\n");
  expectLine("inside test_v_a.ply --points test_v_pts.txt", 2, "test_v_pts.txt: line 1");
  writeText("test_v_pts.txt", "0 0 0\n0.5.5 0 0\n"); // not .5, .5 and 0
  expectLine("inside test_v_a.ply --points test_v_pts.txt", 2, "test_v_pts.txt: line 2");
  // A line of any length is one point.
  FILE *file = fopen("test_v_pts.txt", "wb");
  assert_non_null(file);
  fprintf(file, "0 0 0");
  for (int i = 0; i < 2000; ++i) fprintf(file, " %d", i);
  fprintf(file, "\n9 9 9\n");
  assert_int_equal(fclose(file), 0);
  assert_int_equal(runLine("inside test_v_a.ply --points test_v_pts.txt"), 0);
  assert_string_equal(lastRun.out, "1\n0\n");
  writeText("test_v_pts.txt", "");
  assert_int_equal(runLine("inside test_v_a.ply --points test_v_pts.txt"), 0);
  assert_string_equal(lastRun.out, "");
  expectLine("inside test_v_a.ply", 2, "--points");
  expectLine("inside test_v_open.obj --points test_v_small.stl", 2, "not closed");
  assert_non_null(strstr(lastRun.err, "or give --parity\ntry: pinch inside --parity"));
  // A tetrahedron with one face the other way around.
  writeText("test_v_open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 3 4\n");
  expectLine("inside test_v_open.obj --points test_v_small.stl", 2, "turn some over, or give --parity\n");
  assert_null(strstr(lastRun.err, "PN_"));
  expectLine("inside test_v_a.ply --points nothing.txt", 2, "nothing.txt");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(twoBoxes), cmocka_unit_test(insideAndApart), cmocka_unit_test(surfaceFile),
      cmocka_unit_test(refusals), cmocka_unit_test(insidePoints),
  };
  return cmocka_run_group_tests(tests, enterFolder, leaveWithoutFiles);
}
