/* test_cli_scan_choice.c: which bodies and which animations `pinch scan` looks at: --only, --ignore, --animation, and what it
 * says when there is no such body or animation. */
#include "support.h"

#include "tool.h"

#include "scan_make.h"

static void testBodies(void **state) {
  (void)state;
  static const struct {
    const char *option, *value, *contacts;
    int status;
  } cases[] = {
      {"--fps", "30", "01 02 12 ", 1},
      {"--pairs-only", "anvil,table", "01 ", 1},
      {"--pairs-only", "table,anvil", "01 ", 1},
      {"--pairs-only", "0,hammer, heavy", "02 ", 1},
      {"--pairs-only", "hammer, heavy,1", "12 ", 1},
      {"--pairs-only", "anvil,anvil", "", 0},
      {"--animation", "stay", "01 ", 1},
      {"--animation", "1", "01 ", 1},
      {"--animation", "strike", "01 02 12 ", 1},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    ToolRun run = RUN("scan", "boxes.glb", "--json", cases[i].option, cases[i].value);
    expectRun(&run, cases[i].status, NULL);
    expectContacts(&run, cases[i].contacts);
    freeRun(&run);
  }
  static const char *const wrong[][3] = {
      {"--pairs-only", "pillow", "expected bodies A,B|anvil, table, hammer, heavy"},
      {"--only", "anvil,pillow", "--only: expected bodies A,B|'anvil,pillow'"},
      {"--only", "0,3", "from number 0 on"},
      {"--only", "b*,*", "'b*,*'"},
      {"--ignore", "anvil,pillow", "--ignore: expected bodies"},
      {"--animation", "jump", "there is no 'jump'|strike, stay"},
      {"--animation", "2", "from 0 to 1"},
      {"--animation", "j*", "there is no 'j*'"},
  };
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    ToolRun run = RUN("scan", "boxes.glb", wrong[i][0], wrong[i][1]);
    expectRun(&run, 2, wrong[i][2]);
    freeRun(&run);
  }
}

/* Rules over pairs of bodies: each word, what is left, the status. */
static void testChoice(void **state) {
  (void)state;
  static const struct {
    const char *words[7];
    const char *contacts;
  } cases[] = {
      // One after the other: a rule does not put the one before it out of force.
      {{"--pairs-only", "anvil,table", "--pairs-only", "anvil,hammer, heavy"}, "01 02 "},
      {{"--only", "anvil,table", "--pairs-only", "1,2"}, "01 12 "},
      {{"--only", "anvil"}, "01 02 "},
      {{"--only", "*a*,ham*"}, "02 12 "},
      {{"--only", "[at]*,[at]*"}, "01 "},
      {{"--ignore", "anvil,table"}, "02 12 "},
      {{"--ignore", "table,anvil", "--ignore", "ham*,1"}, "02 "},
      {{"--ignore", "hammer, heavy"}, "01 "},
      {{"--ignore", "pillow*,*"}, "01 02 12 "},
      {{"--only", "anvil", "--ignore", "*,table"}, "02 "},
      {{"--ignore", "*"}, ""},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    const char *words[12] = {"scan", "boxes.glb", "--json"};
    for (int k = 0; k < 7 && cases[i].words[k]; ++k) words[k + 3] = cases[i].words[k];
    ToolRun run = runTool(words);
    expectRun(&run, cases[i].contacts[0] != 0, NULL);
    expectContacts(&run, cases[i].contacts);
    freeRun(&run);
  }
  // More rules than a world's filter has bits for.
  const char *words[64] = {"scan", "boxes.glb", "--json"};
  for (int k = 0; k < 20; ++k) words[3 + 2 * k] = "--only", words[4 + 2 * k] = k == 11 ? "1,2" : "0,1";
  ToolRun run = runTool(words);
  expectContacts(&run, "01 12 ");
  freeRun(&run);
}

/* The animations of a run as "name count first last; ", from the list and from the frames. */
static void describeAnimations(const ToolRun *run, char *text, size_t size) {
  json_t *object = parseJson(run->out), *animation, *frame;
  json_t *frames = json_object_get(object, "frames");
  size_t i, k, used = 0, at = 0;
  json_array_foreach(json_object_get(object, "animations"), i, animation) {
    const char *name = json_string_value(json_object_get(animation, "name"));
    json_int_t count = json_integer_value(json_object_get(animation, "frames"));
    used += (size_t)snprintf(text + used, size - used, "%s %d %d %d; ", name, (int)count,
                             (int)json_integer_value(json_object_get(animation, "first")),
                             (int)json_integer_value(json_object_get(animation, "last")));
    for (k = 0; k < (size_t)count; ++k) {
      frame = json_array_get(frames, at++);
      assert_string_equal(json_string_value(json_object_get(frame, "animation")), name);
    }
  }
  assert_int_equal(at, json_array_size(frames));
  json_decref(object);
}

static void testAnimations(void **state) {
  (void)state;
  static const struct {
    const char *words[5];
    const char *animations;
  } cases[] = {
      {{"--fps", "30"}, "strike 61 0 60; "},
      {{"--animation", "all"}, "strike 61 0 60; stay 31 0 30; "},
      {{"--animation", "st*"}, "strike 61 0 60; stay 31 0 30; "},
      {{"--animation", "stay", "--animation", "0"}, "stay 31 0 30; strike 61 0 60; "},
      {{"--animation", "all", "--animation", "stay"}, "strike 61 0 60; stay 31 0 30; "},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    const char *words[12] = {"scan", "boxes.glb", "--json"};
    for (int k = 0; k < 5 && cases[i].words[k]; ++k) words[k + 3] = cases[i].words[k];
    char text[200];
    ToolRun run = runTool(words);
    expectRun(&run, 1, NULL);
    describeAnimations(&run, text, sizeof(text));
    assert_string_equal(text, cases[i].animations);
    freeRun(&run);
  }
  // A range that one of them does not reach leaves that one out.
  char text[200];
  ToolRun run = RUN("scan", "boxes.glb", "--json", "--animation", "all", "--frames", "40:");
  describeAnimations(&run, text, sizeof(text));
  assert_string_equal(text, "strike 21 40 60; ");
  freeRun(&run);
  run = RUN("scan", "boxes.glb", "--animation", "all", "--frames", "100:");
  expectRun(&run, 2, "--frames: there is none");
  freeRun(&run);
  // Where nothing is animated, all is the rest pose.
  writeText("one.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  assert_int_equal(runLine("scan one.obj --animation all"), 0);
  unlink("one.obj");
  // A name in quotes in a last column of the tables, and a clip each in the report.
  run = RUN("scan", "boxes.glb", "--animation", "all", "--csv", "c.csv", "--pairs", "p.csv", "--frames", "30");
  expectRun(&run, 1, NULL);
  assert_non_null(strstr(run.out, "2 animations, 2 frames"));
  freeRun(&run);
  char *csv = takeFile("c.csv"), *pairs = takeFile("p.csv");
  assert_non_null(strstr(csv, "pairs,animation\n30,1,0,1,"));
  assert_non_null(strstr(csv, ",\"strike\"\n30,1,"));
  assert_non_null(strstr(csv, ",\"stay\"\n"));
  assert_non_null(strstr(pairs, ",\"stay\"\n"));
  free(csv);
  free(pairs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(testBodies, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testChoice, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testAnimations, enterWithBoxes, leaveWithBoxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
