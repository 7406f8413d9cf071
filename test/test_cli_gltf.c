/* test_cli_gltf.c: `pinch info`, `check` and `volume` of animated files; standard input and output; files of programs that
 * pinch does not read. */
#include "support.h"

#include "tool.h"

#include "scan_make.h"

#include <sys/stat.h>

/* The tool with a file as its standard input. */
static ToolRun runWithInput(const char *path, const char *const *words) {
  int saved = dup(0), handle = open(path, O_RDONLY);
  assert_true(saved >= 0 && handle >= 0);
  dup2(handle, 0);
  ToolRun run = runTool(words);
  dup2(saved, 0);
  close(saved);
  close(handle);
  return run;
}

#define RUN_WITH(path, ...) runWithInput(path, (const char *const[]){__VA_ARGS__, NULL})

/* ---------------------------------------------------------------- info */

static void expectInfo(json_t *root, const char *path) {
  json_t *file = json_array_get(json_object_get(root, "files"), 0), *clips = json_object_get(file, "animations");
  assert_string_equal(json_string_value(json_object_get(file, "file")), path);
  assert_string_equal(json_string_value(json_object_get(file, "unit")), "metre");
  assert_int_equal(json_array_size(json_object_get(file, "bodies")), 3);
  assert_int_equal(json_array_size(json_object_get(file, "extensions")), 0);
  assert_int_equal(json_array_size(json_object_get(file, "skins")), 0);
  json_t *table = json_array_get(json_object_get(file, "bodies"), 1), *strike = json_array_get(clips, 0);
  assert_string_equal(json_string_value(json_object_get(table, "name")), "table");
  assert_int_equal(json_integer_value(json_object_get(table, "triangles")), 48);
  assert_true(json_is_true(json_object_get(table, "closed")));
  assert_int_equal(json_array_size(clips), 2);
  assert_string_equal(json_string_value(json_object_get(strike, "name")), "strike");
  assert_int_equal(json_integer_value(json_object_get(strike, "frames")), 61);
  assert_true(json_number_value(json_object_get(strike, "seconds")) == 2);
  assert_true(json_number_value(json_object_get(strike, "fps")) == 30);
  // The hammer rests at y = 6, on half its edge.
  json_t *most = json_object_get(json_object_get(file, "box"), "max");
  assert_true(json_number_value(json_array_get(most, 1)) == 6.5);
  json_decref(root);
}

static void testInfo(void **state) {
  (void)state;
  ToolRun run = RUN("info", "boxes.glb", "--json");
  expectRun(&run, 0, NULL);
  expectInfo(parseJson(run.out), "boxes.glb");
  freeRun(&run);
  run = RUN_WITH("boxes.glb", "info", "-", "--json");
  expectRun(&run, 0, NULL);
  expectInfo(parseJson(run.out), "-");
  freeRun(&run);
  run = RUN("info", "boxes.glb");
  expectRun(&run, 0, NULL);
  static const char *const words[] = {"glTF 2.0", "metres, y up", "extensions  none", "hammer, heavy", "strike", "2.00",
                                      "61"};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i)
    if (!strstr(run.out, words[i])) fail_msg("'%s' is not in\n%s", words[i], run.out);
  freeRun(&run);
  assert_int_equal(runLine("info boxes.glb -q"), 0);
  assert_string_equal(lastRun.out, "");
}

/* Skins and targets of our character, by name. */
static void testInfoCharacter(void **state) {
  (void)state;
  assert_int_equal(runLine("make character hero.glb --triangles 10000 --seconds 1"), 0);
  assert_int_equal(runLine("info hero.glb"), 0);
  static const char *const words[] = {"fingers.L", "25 joints of", "3 targets of coat", "walk", "idle"};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i)
    if (!strstr(lastRun.out, words[i])) fail_msg("'%s' is not in\n%s", words[i], lastRun.out);
  unlink("hero.glb");
}

/* ---------------------------------------------------------------- a moment of an animation */

/* The total of pairs of a JSON answer. */
static json_int_t pairsTotal(const char *text) {
  json_t *object = parseJson(text);
  json_int_t total = json_integer_value(json_object_get(object, "pairs_total"));
  json_decref(object);
  return total;
}

/* A check at the time of a frame is that frame of a scan. */
static void testCheck(void **state) {
  (void)state;
  static const int frames[] = {0, 20, 30, 37};
  for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); ++i) {
    char line[200];
    snprintf(line, sizeof(line), "scan boxes.glb --self --json --frames %d", frames[i]);
    assert_int_equal(runLine(line), 1);
    json_int_t scanned = pairsTotal(lastRun.out);
    snprintf(line, sizeof(line), "check boxes.glb --self --json --time %.9g", frames[i] / 30.0);
    assert_int_equal(runLine(line), 1);
    assert_int_equal(pairsTotal(lastRun.out), scanned);
    snprintf(line, sizeof(line), "check boxes.glb --self --json --animation strike --time %.9g", frames[i] / 30.0);
    assert_int_equal(runLine(line), 1);
    assert_int_equal(pairsTotal(lastRun.out), scanned);
  }
  // At rest anvil and table meet; the hammer only in the middle of the strike.
  assert_int_equal(runLine("check boxes.glb --only 0,1"), 1);
  assert_int_equal(runLine("check boxes.glb --only anvil,ham*"), 0);
  assert_int_equal(runLine("check boxes.glb --only anvil,ham* --time 1"), 1);
  assert_non_null(strstr(lastRun.out, "anvil and hammer, heavy"));
  assert_int_equal(runLine("check boxes.glb --ignore anvil,table --animation stay"), 0);
  assert_int_equal(runLine("check boxes.glb --animation jump"), 2);
  expectRun(&lastRun, 2, "there is no 'jump'|strike, stay");
  assert_int_equal(runLine("check boxes.glb --only pillow"), 2);
  expectRun(&lastRun, 2, "anvil, table, hammer");
  // A body with itself: the pose of a skin is not its rest.
  ToolRun run = RUN_WITH("boxes.glb", "check", "-", "--json", "--time", "1");
  assert_int_equal(run.status, 1);
  freeRun(&run);
}

/* A message comes first, then what could have been asked for; in every command. */
static void testOrder(void **state) {
  (void)state;
  static const char *const lines[][3] = {
      {"check boxes.glb --only pillow", "pinch check: --only: ", "The bodies, from number 0 on:\n  anvil, table"},
      {"scan boxes.glb --only pillow", "pinch scan: --only: ", "The bodies, from number 0 on:\n  anvil, table"},
      {"volume boxes.glb --only pillow", "pinch volume: --only: ", "The bodies, from number 0 on:\n  anvil, table"},
      {"volume boxes.glb", "pinch volume: expected two bodies", "The bodies, from number 0 on:\n  anvil, table"},
      {"check boxes.glb --animation jump", "pinch check: --animation: ", "boxes.glb has 2"},
      {"scan boxes.glb --animation jump", "pinch scan: --animation: ", "boxes.glb has 2"},
      {"volume boxes.glb --animation jump", "pinch volume: --animation: ", "boxes.glb has 2"},
  };
  for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); ++i) {
    assert_int_equal(runLine(lines[i][0]), 2);
    if (strncmp(lastRun.err, lines[i][1], strlen(lines[i][1])) != 0) fail_msg("%s: %s", lines[i][0], lastRun.err);
    char *end = strchr(lastRun.err, '\n');
    if (!end || strncmp(end + 1, lines[i][2], strlen(lines[i][2])) != 0) fail_msg("%s: %s", lines[i][0], lastRun.err);
  }
}

/* A moment where nothing is animated would be passed over in silence. */
static void testNoMoment(void **state) {
  (void)state;
  assert_int_equal(runLine("make box still.ply --cells 1 -q"), 0);
  assert_int_equal(runLine("make box other.ply --cells 1 --at 1,0.5,0.25 -q"), 0);
  static const char *const lines[][2] = {
      {"check still.ply other.ply --time 1", "pinch check: --time: no file here is animated"},
      {"check still.ply other.ply --animation walk", "pinch check: --animation: no file here is animated"},
      {"volume still.ply other.ply --time 1", "pinch volume: --time: no file here is animated"},
      {"inside still.ply --points other.ply --time 1", "pinch inside: --time: no file here is animated"},
      {"check none.ply --time 1", "none.ply"},
  };
  for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); ++i) {
    assert_int_equal(runLine(lines[i][0]), 2);
    if (!strstr(lastRun.err, lines[i][1])) fail_msg("%s: %s", lines[i][0], lastRun.err);
    assert_string_equal(lastRun.out, "");
  }
  // One animated file is enough, also when it brings only the points.
  assert_int_equal(runLine("check still.ply boxes.glb --time 1 -q"), 1);
  assert_int_equal(runLine("inside still.ply --points boxes.glb --time 1 -q"), 0);
  unlink("still.ply");
  unlink("other.ply");
}

/* Points in one of several bodies, at rest and at a moment. */
static void testInside(void **state) {
  (void)state;
  FILE *file = fopen("points.txt", "w");
  assert_non_null(file);
  fputs("0 0 0\n9 9 9\n", file);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(runLine("inside boxes.glb --points points.txt"), 2);
  expectRun(&lastRun, 2, "expected one body, found 3|--body");
  assert_int_equal(runLine("inside boxes.glb --body pillow --points points.txt"), 2);
  expectRun(&lastRun, 2, "there is no 'pillow'");
  // By number and by name it is the same body; the points are the vertices of all three.
  assert_int_equal(runLine("inside boxes.glb --body 0 --points boxes.glb --json"), 0);
  json_t *object = parseJson(lastRun.out), *again;
  assert_true(json_integer_value(json_object_get(object, "points")) >= 24);
  assert_int_equal(runLine("inside boxes.glb --body anvil --points boxes.glb --json"), 0);
  again = parseJson(lastRun.out);
  assert_true(json_equal(json_object_get(object, "inside"), json_object_get(again, "inside")));
  json_decref(object);
  json_decref(again);
  assert_int_equal(runLine("inside boxes.glb --body 2 --time 1 --points points.txt"), 0);
  assert_int_equal(runLine("inside boxes.glb --body 2 --animation jump --points points.txt"), 2);
  unlink("points.txt");
}

/* Two unit boxes, one moved by 0.8: they share a fifth. */
static void testVolume(void **state) {
  (void)state;
  assert_int_equal(runLine("volume boxes.glb --only anvil,table --json"), 0);
  json_t *object = parseJson(lastRun.out);
  assert_true(json_number_value(json_object_get(object, "volume_min")) <= 0.2001);
  assert_true(json_number_value(json_object_get(object, "volume_max")) >= 0.1999);
  assert_string_equal(json_string_value(json_object_get(object, "name_b")), "table");
  json_decref(object);
  // The hammer at its lowest is at y = 0.4: 0.6 of it is in the anvil.
  assert_int_equal(runLine("volume boxes.glb --only ham*,0 --time 1 --json"), 0);
  object = parseJson(lastRun.out);
  assert_true(json_number_value(json_object_get(object, "volume_min")) <= 0.6001);
  assert_true(json_number_value(json_object_get(object, "volume_max")) >= 0.5999);
  assert_string_equal(json_string_value(json_object_get(object, "name_a")), "hammer, heavy");
  json_decref(object);
  assert_int_equal(runLine("volume boxes.glb"), 2);
  expectRun(&lastRun, 2, "found 3|--only A,B|anvil, table");
}

/* ---------------------------------------------------------------- standard input and output */

static void testStandard(void **state) {
  (void)state;
  static const char *const commands[] = {"info", "check", "scan"};
  for (int i = 0; i < 3; ++i) {
    ToolRun empty = RUN_WITH("/dev/null", commands[i], "-");
    expectRun(&empty, 2, "standard input: the file is empty");
    freeRun(&empty);
  }
  writeText("box.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
  ToolRun run = RUN_WITH("box.off", "info", "-");
  expectRun(&run, 0, NULL);
  freeRun(&run);
  unlink("box.off");
  run = RUN_WITH("boxes.glb", "scan", "-", "--csv", "-");
  expectRun(&run, 1, NULL);
  assert_int_equal(strncmp(run.out, "frame,time,a,b,pairs\n0,0,0,1,", 28), 0);
  ToolRun file = RUN("scan", "boxes.glb", "--csv", "c.csv", "-q");
  expectRun(&file, 1, NULL);
  assert_string_equal(file.out, "");
  char *csv = takeFile("c.csv");
  assert_string_equal(run.out, csv);
  free(csv);
  freeRun(&file);
  freeRun(&run);
  assert_int_equal(runLine("check boxes.glb --pairs -"), 1);
  assert_int_equal(strncmp(lastRun.out, "a,triangle_a,b,triangle_b\n", 26), 0);
  assert_null(strstr(lastRun.out, "body"));
  assert_int_equal(runLine("scan boxes.glb --csv - --pairs -"), 2);
  expectRun(&lastRun, 2, "different files");
  assert_int_equal(runLine("scan boxes.glb --csv - --json"), 2);
  expectRun(&lastRun, 2, "--json");
}

/* ---------------------------------------------------------------- a wrong animation */

/* However long the path and the name are, lines fit a screen. */
static void testLongNames(void **state) {
  (void)state;
  static const char folder[] = "a_folder_whose_name_is_long_enough_to_fill_most_of_the_columns_of_a_screen";
  static const char *const names[] = {"hero.glb",
                                      "a_hero_whose_name_is_long_enough_to_fill_all_but_a_few_columns_too.glb"};
  static const char *const commands[] = {"scan", "check", "volume"};
  char path[200];
  assert_int_equal(mkdir(folder, 0700), 0);
  for (int i = 0; i < 6; ++i) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i / 3]);
    assert_int_equal(link("boxes.glb", path), 0);
    ToolRun run = RUN(commands[i % 3], path, "--animation", "jump");
    expectRun(&run, 2, "there is no 'jump'|has 2 (by name|strike, stay");
    for (const char *line = run.err; *line; line += strcspn(line, "\n") + 1) {
      assert_true(strcspn(line, "\n") <= 80);
      if (line[strcspn(line, "\n")] == 0) break;
    }
    assert_null(strstr(run.err, folder));
    freeRun(&run);
    unlink(path);
  }
  rmdir(folder);
}

/* ---------------------------------------------------------------- other programs' files */

static void testForeign(void **state) {
  (void)state;
  static const struct {
    const char *path, *bytes, *said;
  } cases[] = {
#ifdef PN_HAVE_ASSIMP
      {"hero.fbx", "Kaydara FBX Binary  ", "an FBX file|Import > FBX|glTF"},
      {"hero.dae", "<?xml version=\"1.0\"?>\n<COLLADA xmlns=", "hero.dae|a COLLADA file|assimp|glTF"},
#else
      {"hero.fbx", "Kaydara FBX Binary  ", "an FBX file|Import > FBX|glTF"},
      {"hero.dae", "<?xml version=\"1.0\"?>\n<COLLADA xmlns=", "COLLADA|glTF"},
#endif
      {"hero.bin", "; FBX 7.3.0 project file", "an FBX file|glTF"},
      {"cloth.abc", "Ogawa\377", "Alembic|MDD or PC2"},
      {"hero.usda", "#usda 1.0\n", "USD|glTF"},
      {"hero.usdc", "PXR-USDC", "USD|glTF"},
      {"hero.usdz", "PK\003\004", "USD|glTF"},
      {"hero.blend", "BLENDER-v300", "a Blender file|Export > glTF"},
      {"hero.blend", "\x28\xb5\x2f\xfd", "a Blender file|Export > glTF"},
      {"hero.glb.gz", "\x1f\x8b\x08", "gzip|gunzip"},
      {"hero.glb", "\x1f\x8b\x08", "gzip|gunzip"},
      {"hero.zip", "PK\003\004", "zip|unpack"},
      {"hero.max", "?", "3ds Max|glTF"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    writeText(cases[i].path, cases[i].bytes);
    ToolRun runs[] = {RUN("scan", cases[i].path), RUN("info", cases[i].path), RUN("check", cases[i].path),
                      RUN_WITH(cases[i].path, "info", "-")};
    for (size_t k = 0; k < 4; ++k) {
      // By standard input there is no name to go by.
      if (k < 3 || strstr(cases[i].said, "FBX")) expectRun(&runs[k], 2, cases[i].said);
      assert_int_equal(runs[k].status, 2);
      freeRun(&runs[k]);
    }
    unlink(cases[i].path);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(testInfo, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testInfoCharacter, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testCheck, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testOrder, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testNoMoment, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testInside, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testVolume, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testStandard, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testLongNames, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testForeign, enterWithBoxes, leaveWithBoxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
