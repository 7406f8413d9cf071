/* test_cli.c: the tool as its users meet it: help, mistakes, `pinch info`. */
#include "support.h"

#include "tool.h"

#include "pinch/io.h"

#include <jansson.h>

/* ---------------------------------------------------------------- help */

static void testHelp(void **state) {
  (void)state;
  ToolRun run = RUN("--help");
  expectRun(&run, 0, NULL);
  // Every command in the list has help of its own, with a usage line and an example or a list of options.
  const char *list = strstr(run.out, "commands:\n");
  assert_non_null(list);
  int commands = 0;
  for (const char *line = list + 10; line[0] == ' '; line = strchr(line, '\n') + 1) {
    char name[16];
    assert_int_equal(sscanf(line, " %15s", name), 1);
    char usage[64];
    snprintf(usage, sizeof(usage), "usage: pinch %s ", name);
    ToolRun help = RUN(name, "--help"), other = RUN("help", name);
    expectRun(&help, 0, NULL);
    expectRun(&other, 0, NULL);
    assert_non_null(strstr(help.out, usage));
    assert_non_null(strstr(help.out, "--"));
    assert_string_equal(help.out, other.out);
    freeRun(&help);
    freeRun(&other);
    ++commands;
  }
  assert_true(commands >= 3);
  freeRun(&run);
  run = RUN("--version");
  expectRun(&run, 0, NULL);
  assert_non_null(strstr(run.out, pnGetVersion()));
  freeRun(&run);
}

static void testMistakes(void **state) {
  (void)state;
  static const struct {
    const char *words[5];
    const char *said;
  } mistakes[] = {
      {{NULL}, "usage"},
      {{"chekc", "a.obj", NULL}, "unknown command 'chekc'|did you mean check"},
      {{"frobnicate", NULL}, "unknown command 'frobnicate'|pinch --help"},
      {{"check", NULL}, "no file|pinch check --help"},
      {{"info", NULL}, "no file|pinch info --help"},
      {{"check", "--sefl", "a.obj", NULL}, "unknown option '--sefl'|did you mean --self"},
      {{"check", "-x", "a.obj", NULL}, "unknown option '-x'"},
      {{"check", "a.obj", "--threads", NULL}, "--threads|whole number|nothing"},
      {{"check", "a.obj", "--threads=1", "--threads=1", NULL}, "--threads is given twice"},
      {{"scan", "a.glb", "--min-depth", "-1", NULL}, "--min-depth: expected 0 or more, found -1"},
      {{"check", "a.obj", "--threads", "two", NULL}, "--threads|whole number|'two'"},
      {{"check", "a.obj", "--threads=-1", NULL}, "--threads|'-1'"},
      {{"check", "a.obj", "--threads=100000", NULL}, "--threads|at most 64"},
      {{"check", "a.obj", "--threads=99999999999999999999", NULL}, "--threads|whole number"},
      {{"check", "a.obj", "--self=yes", NULL}, "--self|no value|'yes'"},
      {{"check", "a.obj", "--pairs", NULL}, "--pairs"},
      {{"check", "a.obj", "--pairs=", NULL}, "--pairs|expected OUT.csv"},
      {{"check", "a.obj", "--pairs", "--json", NULL}, "--pairs|the option '--json'|--pairs=--json"},
      {{"volume", "a.obj", "b.obj", "--resolution=5", NULL}, "--resolution|16 to 4096|found 5"},
      {{"check", "nofile.obj", NULL}, "pinch check|nofile.obj|No such file"},
      {{"info", "nofile.obj", NULL}, "pinch info|nofile.obj|No such file"},
      {{"check", "--", "--self", NULL}, "--self|No such file"},
      {{"check", ".", NULL}, "folder"},
  };
  for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); ++i) {
    ToolRun run = runTool(mistakes[i].words);
    expectRun(&run, 2, mistakes[i].said);
    assert_string_equal(run.out, "");
    freeRun(&run);
  }
}

/* ---------------------------------------------------------------- info */

static json_t *parseJson(const char *text) {
  json_error_t error;
  json_t *object = json_loads(text, 0, &error);
  if (!object) fail_msg("not JSON (%s): %s", error.text, text);
  return object;
}

static json_int_t intOf(json_t *object, const char *key) {
  json_t *value = json_object_get(object, key);
  if (!json_is_integer(value)) fail_msg("no whole number '%s'", key);
  return json_integer_value(value);
}

#define OPEN_BOX                                                                                                   \
  "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nv 9 9 9\ng floor\nf 4 3 2 1\ng sides\n" \
  "f 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"

static void testInfo(void **state) {
  (void)state;
  writeText("box.obj", OPEN_BOX "f 1 1 2\n");
  ToolRun run = RUN("info", "box.obj", "--json");
  expectRun(&run, 0, NULL);
  json_t *root = parseJson(run.out), *file = json_array_get(json_object_get(root, "files"), 0);
  assert_string_equal(json_string_value(json_object_get(root, "pinch")), pnGetVersion());
  assert_string_equal(json_string_value(json_object_get(file, "file")), "box.obj");
  assert_string_equal(json_string_value(json_object_get(file, "name")), "box");
  assert_int_equal(intOf(file, "vertices"), 9);
  assert_int_equal(intOf(file, "triangles"), 11);
  assert_int_equal(intOf(file, "open_edges"), 4);
  assert_int_equal(intOf(file, "unused_vertices"), 1);
  assert_int_equal(intOf(file, "degenerate_triangles"), 1);
  assert_int_equal(intOf(file, "first_degenerate"), 10);
  assert_int_equal(intOf(file, "parts"), 1);
  assert_true(json_is_false(json_object_get(file, "closed")));
  assert_true(json_is_true(json_object_get(file, "manifold")));
  assert_true(json_is_true(json_object_get(file, "oriented")));
  assert_int_equal(json_array_size(json_object_get(file, "groups")), 2);
  json_t *most = json_object_get(json_object_get(file, "box"), "max");
  assert_true(json_number_value(json_array_get(most, 2)) == 1.0); /* the unused vertex does not count */
  json_decref(root);
  freeRun(&run);
  // The same for people.
  run = RUN("info", "box.obj");
  expectRun(&run, 0, NULL);
  static const char *words[] = {
      "box.obj",   "vertices    9",          "triangles   11",   "closed      no: 4 open edges",
      "floor (2)", "(0, 0, 0) to (1, 1, 1)", "1 in no triangle", "first is 10"};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i)
    if (!strstr(run.out, words[i])) fail_msg("'%s' is not in:\n%s", words[i], run.out);
  freeRun(&run);
  remove("box.obj");
}

/* A bad file among good ones: the good ones are shown, and the status says so. */
static void testInfoGoesOn(void **state) {
  (void)state;
  writeText("good.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
  writeText("bad.off", "OFF\n3 1 0\n0 0 0\n1 0 nan\n0 1 0\n3 0 1 2\n");
  writeText("empty.ply", "ply\nformat ascii 1.0\nend_header\n");
  ToolRun run = RUN("info", "bad.off", "good.off", "empty.ply", "--json");
  expectRun(&run, 2, "bad.off: line 4: vertex 1|'nan'");
  json_t *root = parseJson(run.out), *files = json_object_get(root, "files");
  assert_int_equal(json_array_size(files), 2);
  assert_true(json_is_null(json_object_get(json_array_get(files, 1), "box")));
  json_decref(root);
  freeRun(&run);
  remove("good.off");
  remove("bad.off");
  remove("empty.ply");
}

/* Names that are no UTF-8, and names with quotes, still give JSON. */
static void testOddNames(void **state) {
  (void)state;
  static const char *names[] = {"quote\"back\\slash.off", "latin\xE9.off", "new\nline.off", "-dash.off", "--self.off"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    writeText(names[i], "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    ToolRun run = RUN("info", "--json", "--", names[i]);
    expectRun(&run, 0, NULL);
    json_decref(parseJson(run.out));
    freeRun(&run);
    remove(names[i]);
  }
}

/* Names in a file cannot move the cursor of a terminal. */
static void testEscapes(void **state) {
  (void)state;
  writeText("a.obj", "o \33[31mred\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  assert_int_equal(runLine("info a.obj"), 0);
  assert_null(strchr(lastRun.out, 033));
  assert_non_null(strstr(lastRun.out, "?[31mred (1)"));
  remove("a.obj");
  writeText("\33[31m.off", "OFF 1\n");
  ToolRun run = RUN("info", "\33[31m.off");
  expectRun(&run, 2, "?[31m.off");
  assert_null(strchr(run.err, 033));
  freeRun(&run);
  remove("\33[31m.off");
}

/* A full disk behind the output is an error, not a silent half. */
static void testFullOutput(void **state) {
  (void)state;
  if (access("/dev/full", W_OK) != 0) {
    print_message("skipped: no /dev/full\n");
    return;
  }
  writeText("a.off", "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n");
  assert_int_equal(runLine("make character hero.glb --seconds 1"), 0);
  static const char *commands[] = {
      "--help",
      "--version",
      "help",
      "help scan",
      "info --help",
      "check --help",
      "scan --help",
      "volume --help",
      "inside --help",
      "make --help",
      "info a.off",
      "check a.off",
      "inside a.off --points a.off",
      "volume a.off a.off",
      "scan hero.glb --first --fps 1000 --json",
      "scan hero.glb --first --fps 1000",
  };
  for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); ++i) {
    char line[1024];
    snprintf(line, sizeof(line), "\"" PINCH_TOOL "\" %s >/dev/full 2>said.txt", commands[i]);
    int status = system(line);
    assert_true(WIFEXITED(status));
    char *said = takeFile("said.txt");
    if (WEXITSTATUS(status) != 2 || !strstr(said, "the output cannot be written"))
      fail_msg("%s: status %d: %s", commands[i], WEXITSTATUS(status), said);
    free(said);
  }
  remove("hero.glb");
  remove("a.off");
}

/* A pipe stands for a file. */
static void testPipe(void **state) {
  (void)state;
  int status =
      system("printf 'OFF 3 1 0\\n0 0 0\\n1 0 0\\n0 1 0\\n3 0 1 2\\n' | \"" PINCH_TOOL "\" check /dev/stdin >said.txt");
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  remove("said.txt");
}

/* With the address sanitizer, a leak ends in another exit status. */
static void testNoLeaks(void **state) {
  (void)state;
  lookForLeaks(true);
  ToolRun runs[] = {RUN("make", "knot", "a.stl", "--tube", "0.5", "--cells", "60,8"), RUN("info", "a.stl", "--json"),
                    RUN("check", "a.stl", "a.stl", "--json", "--pairs", "pairs.csv", "--threads", "2"),
                    RUN("check", "a.stl", "missing.obj")};
  static const int statuses[] = {0, 0, 1, 2};
  for (int i = 0; i < 4; ++i) {
    expectRun(&runs[i], statuses[i], i == 3 ? "missing.obj" : NULL);
    freeRun(&runs[i]);
  }
  lookForLeaks(false);
  remove("a.stl");
  remove("pairs.csv");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testHelp),       cmocka_unit_test(testMistakes), cmocka_unit_test(testInfo),
      cmocka_unit_test(testInfoGoesOn), cmocka_unit_test(testOddNames), cmocka_unit_test(testEscapes),
      cmocka_unit_test(testFullOutput), cmocka_unit_test(testPipe),     cmocka_unit_test(testNoLeaks),
  };
  return cmocka_run_group_tests(tests, enterFolder, leaveFolder);
}
