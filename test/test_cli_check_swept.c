/* test_cli_check_swept.c: `pinch check A --to B`: what meets on the way, by formula, against the public truth of real steps, and what
 * is wrong with a step that is none. */
#include "support.h"

#include "tool.h"

#include "pinch/io.h"

#include <jansson.h>

/* A square of two triangles at height z, as OBJ. */
static void writeSheet(const char *path, double z) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "v -1 -1 %.17g\nv 1 -1 %.17g\nv 1 1 %.17g\nv -1 1 %.17g\nf 1 2 3\nf 1 3 4\n", z, z, z, z);
  fclose(file);
}

/* A small triangle that points down, its tip at (0.25, 0.125, z). */
static void writeBullet(const char *path, double z) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "v 0.25 0.125 %.17g\nv 0.3125 0.125 %.17g\nv 0.25 0.1875 %.17g\nf 1 2 3\n", z, z + 0.25, z + 0.25);
  fclose(file);
}

/* The exit status, and words of the answer, separated by '|'. */
static void expectAnswer(const ToolRun *run, int status, const char *words) {
  char text[256];
  snprintf(text, sizeof text, "%s", words);
  expectRun(run, status, NULL);
  for (char *word = strtok(text, "|"); word; word = strtok(NULL, "|"))
    if (!strstr(run->out, word)) fail_msg("'%s' is not in: %s", word, run->out);
}

/* The folder must be empty at the end. */
static int leave(void **state) {
  static const char *const files[] = {"sheet.obj", "bullet0.obj", "bullet1.obj", "impacts.csv", "d0.ply", "d1.ply"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) unlink(files[i]);
  return leaveFolder(state);
}

static json_t *jsonOf(const ToolRun *run) {
  json_error_t error;
  json_t *root = json_loads(run->out, 0, &error);
  if (!root) fail_msg("%s", error.text);
  return root;
}

static json_int_t countOf(const json_t *root, const char *key) {
  return json_integer_value(json_object_get(json_object_get(root, "impacts"), key));
}

/* From 2 above a sheet to 6 below: the tip is at height 0 after a quarter. */
static void bulletThroughSheet(void **state) {
  (void)state;
  writeSheet("sheet.obj", 0);
  writeBullet("bullet0.obj", 2);
  writeBullet("bullet1.obj", -6);
  ToolRun run = RUN("check", "sheet.obj", "bullet0.obj", "--json", "--to", "sheet.obj", "bullet1.obj");
  expectAnswer(&run, 1, "impacts");
  json_t *root = jsonOf(&run);
  double earliest = json_real_value(json_object_get(json_object_get(root, "impacts"), "earliest"));
  assert_true(earliest <= 0.25 && earliest > 0.25 - 1e-6);
  /* the three corners pass through a face; the edges of the bullet cross the diagonal or nothing */
  assert_true(countOf(root, "vertex_face") >= 3);
  json_decref(root);
  freeRun(&run);

  /* only the earliest, the same; neither state alone shows anything */
  run = RUN("check", "sheet.obj", "bullet0.obj", "--first", "--json", "--to", "sheet.obj", "bullet1.obj");
  expectAnswer(&run, 1, "earliest");
  root = jsonOf(&run);
  assert_true(json_real_value(json_object_get(json_object_get(root, "impacts"), "earliest")) == earliest);
  assert_null(json_object_get(json_object_get(root, "impacts"), "vertex_face"));
  json_decref(root);
  freeRun(&run);
  run = RUN("check", "sheet.obj", "bullet1.obj");
  expectAnswer(&run, 0, "No two triangles meet");
  freeRun(&run);

  /* the other way round, and not through */
  run = RUN("check", "sheet.obj", "bullet0.obj", "--to", "sheet.obj", "bullet0.obj");
  expectAnswer(&run, 0, "Nothing meets on the way");
  freeRun(&run);
}

static void listsImpacts(void **state) {
  (void)state;
  writeSheet("sheet.obj", 0);
  writeBullet("bullet0.obj", 2);
  writeBullet("bullet1.obj", -6);
  ToolRun run =
      RUN("check", "sheet.obj", "bullet0.obj", "--impacts", "impacts.csv", "--to", "sheet.obj", "bullet1.obj");
  expectAnswer(&run, 1, "first contact is at t = 0.2|impacts.csv");
  freeRun(&run);
  FILE *file = fopen("impacts.csv", "r");
  assert_non_null(file);
  char line[160];
  assert_non_null(fgets(line, sizeof line, file));
  assert_string_equal(line, "kind,a,feature_a,b,feature_b,lo,hi\n");
  uint32_t tips = 0, lines = 0;
  while (fgets(line, sizeof line, file)) {
    uint32_t a, b, featureA, featureB;
    double lo, hi;
    ++lines;
    if (sscanf(line, "face_vertex,%u,%u,%u,%u,%lf,%lf", &a, &featureA, &b, &featureB, &lo, &hi) != 6) continue;
    assert_true(a == 0 && b == 1 && featureB < 3 && lo <= hi && hi - lo < 1e-6);
    tips += featureB == 0 && lo <= 0.25 && 0.25 <= hi;
  }
  fclose(file);
  assert_true(lines >= 3 && tips >= 1);
}

/* The numbers of contacts that Mathematica found for these steps: floats for one, doubles for the other. */
static void realSteps(void **state) {
  (void)state;
  static const struct {
    const char *from, *to;
    json_int_t vertexFace, edgeEdge;
  } steps[] = {
      {"scalable-ccd-data/cloth-ball/frames/cloth_ball92.ply", "scalable-ccd-data/cloth-ball/frames/cloth_ball93.ply",
       19032, 94822},
      {"scalable-ccd-data/rod-twist/frames/3036.ply", "scalable-ccd-data/rod-twist/frames/3037.ply", 765, 4179},
  };
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; ++i) {
    const char *path = testDataPath(steps[i].from);
    if (!path) continue;
    char *from = strdup(path), *to = strdup(testDataPath(steps[i].to));
    ToolRun run = RUN("check", from, "--json", "--to", to);
    expectAnswer(&run, 1, "impacts");
    json_t *root = jsonOf(&run);
    assert_int_equal(countOf(root, "vertex_face"), steps[i].vertexFace);
    assert_int_equal(countOf(root, "edge_edge"), steps[i].edgeEdge);
    json_decref(root);
    freeRun(&run);
    free(from);
    free(to);
  }
}

/* Doubles stay doubles: a gap of 1e-12 beside 1 is none in floats. */
static void doublesAreKept(void **state) {
  (void)state;
  for (int k = 0; k < 2; ++k) {
    FILE *file = fopen(k == 0 ? "d0.ply" : "d1.ply", "w");
    assert_non_null(file);
    double tip = k == 0 ? 2 : 1 + 1e-12; /* above the sheet at height 1, never on it */
    fprintf(file,
            "ply\nformat ascii 1.0\nelement vertex 6\nproperty double x\nproperty double y\nproperty double z\n"
            "element face 2\nproperty list uchar int vertex_indices\nend_header\n"
            "-1 -1 1\n1 -1 1\n0 1 1\n0 0 %.17g\n0.1 0 3\n0 0.1 3\n3 0 1 2\n3 3 4 5\n",
            tip);
    fclose(file);
  }
  ToolRun run = RUN("check", "d0.ply", "--to", "d1.ply");
  expectAnswer(&run, 0, "Nothing meets on the way");
  freeRun(&run);
  pnMeshFile file;
  testExpectOk(pnLoadMeshFile("d1.ply", &file));
  assert_non_null(file.doubles);
  assert_true(file.doubles[11] == 1 + 1e-12 && file.vertices[11] == 1.0f);
  pnFreeMeshFile(&file);
}

/* More impacts than asked for are not listed; the first is still told. */
static void limitsImpacts(void **state) {
  (void)state;
  writeSheet("sheet.obj", 0);
  writeBullet("bullet0.obj", 2);
  writeBullet("bullet1.obj", -2);
  ToolRun all = RUN("check", "sheet.obj", "bullet0.obj", "--json", "--to", "sheet.obj", "bullet1.obj");
  json_t *root = json_loads(all.out, 0, NULL), *impacts = json_object_get(root, "impacts");
  json_int_t count = json_integer_value(json_object_get(impacts, "vertex_face")) +
                     json_integer_value(json_object_get(impacts, "edge_edge"));
  double earliest = json_number_value(json_object_get(impacts, "earliest"));
  assert_true(all.status == 1 && count > 1 && earliest > 0);
  for (int less = 0; less < 2; ++less) {
    char most[32];
    snprintf(most, sizeof most, "%d", (int)count - less);
    ToolRun run = RUN("check", "sheet.obj", "bullet0.obj", "--json", "--max-pairs", most, "--device", "cpu", "--to",
                      "sheet.obj", "bullet1.obj");
    assert_int_equal(run.status, 1);
    json_t *limited = json_loads(run.out, 0, NULL), *found = json_object_get(limited, "impacts");
    assert_true(json_is_true(json_object_get(found, "limited")) == less);
    assert_true((json_object_get(found, "edge_edge") == NULL) == less);
    assert_true(json_number_value(json_object_get(found, "earliest")) == earliest);
    json_decref(limited);
    freeRun(&run);
  }
  json_decref(root);
  freeRun(&all);
  ToolRun run = RUN("check", "sheet.obj", "bullet0.obj", "--max-pairs", "1", "--to", "sheet.obj", "bullet1.obj");
  expectAnswer(&run, 1, "more than 1 features meet");
  freeRun(&run);
}

static void refusesWhatIsNoStep(void **state) {
  (void)state;
  writeSheet("sheet.obj", 0);
  writeBullet("bullet0.obj", 2);
  static const struct {
    const char *words[8], *said;
  } cases[] = {
      {{"check", "sheet.obj", "--to", "bullet0.obj"},
       "sheet.obj has 4 vertices|bullet0.obj has 3|the same mesh, moved"},
      {{"check", "sheet.obj", "bullet0.obj", "--to", "sheet.obj"}, "--to has 1 file for 2"},
      {{"check", "sheet.obj", "--impacts", "x.csv"}, "--impacts goes with --to"},
      {{"check", "sheet.obj", "--pairs", "x.csv", "--to", "sheet.obj"}, "--pairs does not go with --to"},
      {{"check", "sheet.obj", "--impacts", "sheet.obj", "--to", "sheet.obj"}, "sheet.obj"},
      {{"check", "sheet.obj", "--to"}, "--to: expected a file"},
      {{"check", "sheet.obj", "--device", "auto", "--to", "sheet.obj"}, "--device does not go with --to|the processor"},
      {{"check", "sheet.obj", "--to", "nowhere.obj"}, "nowhere.obj"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    ToolRun run = runTool(cases[i].words);
    expectRun(&run, 2, cases[i].said);
    freeRun(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(bulletThroughSheet, enterFolder, leave),
                                     cmocka_unit_test_setup_teardown(listsImpacts, enterFolder, leave),
                                     cmocka_unit_test_setup_teardown(realSteps, enterFolder, leave),
                                     cmocka_unit_test_setup_teardown(doublesAreKept, enterFolder, leave),
                                     cmocka_unit_test_setup_teardown(limitsImpacts, enterFolder, leave),
                                     cmocka_unit_test_setup_teardown(refusesWhatIsNoStep, enterFolder, leave)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
