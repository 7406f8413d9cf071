/* test_cli_find.c: the findings of `pinch scan`: what is listed and in which order, the JSON and its schema, exit statuses, what
 * is known (baselines), and the files for CI services. How deep and where is the library's business (test_find*.c). */
#include "support.h"

#include "tool.h"

#include "scan_make.h"
#include "schema.h"

#include <math.h>

/* ---------------------------------------------------------------- help */

/* Runs a line, takes the findings of its JSON (borrowed from *outRoot, to be released). */
static json_t *findingsOf(const char *line, int status, json_t **outRoot) {
  if (runLine(line) != status) fail_msg("%s: status %d\n%s", line, lastRun.status, lastRun.err);
  *outRoot = parseJson(lastRun.out);
  json_t *findings = json_object_get(*outRoot, "findings");
  assert_true(json_is_array(findings));
  return findings;
}

static int64_t intIn(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_integer(value)) fail_msg("no whole number '%s'", key);
  return json_integer_value(value);
}

static const char *textIn(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  if (!text) fail_msg("no text '%s'", key);
  return text;
}

static double depthIn(const json_t *finding) {
  return json_number_value(json_object_get(finding, "depth"));
}

/* "01 constant 0-60; 02 new 16-44; ": bodies, kind and frames, in the order of bodies. */
static void describeFindings(const json_t *findings, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int64_t a = 0; a < 3; ++a) {
    for (int64_t b = a; b < 3; ++b) {
      size_t i;
      json_t *finding;
      json_array_foreach((json_t *)findings, i, finding) {
        if (intIn(finding, "a") != a || intIn(finding, "b") != b) continue;
        used += (size_t)snprintf(text + used, size - used, "%d%d %s %d-%d; ", (int)a, (int)b, textIn(finding, "kind"),
                                 (int)intIn(finding, "first"), (int)intIn(finding, "last"));
      }
    }
  }
}

/* The first and last frame in which two bodies meet, from the frames of the JSON. */
static void framesOf(const json_t *root, uint32_t a, uint32_t b, int *first, int *last) {
  size_t i;
  json_t *frame;
  *first = *last = -1;
  json_array_foreach(json_object_get(root, "frames"), i, frame) {
    if (pairsIn(frame, a, b) == 0) continue;
    if (*first < 0) *first = (int)intIn(frame, "frame");
    *last = (int)intIn(frame, "frame");
  }
}

/* ---------------------------------------------------------------- the list */

static void testKinds(void **state) {
  (void)state;
  json_t *root, *findings = findingsOf("scan boxes.glb --json", 1, &root);
  // The hammer is new; anvil and table meet at rest and do not move.
  int first[2], last[2];
  framesOf(root, 0, 2, &first[0], &last[0]);
  framesOf(root, 1, 2, &first[1], &last[1]);
  char expected[200], found[400];
  snprintf(expected, sizeof(expected), "01 constant 0-60; 02 new %d-%d; 12 new %d-%d; ", first[0], last[0], first[1],
           last[1]);
  describeFindings(findings, found, sizeof(found));
  assert_string_equal(found, expected);
  json_decref(root);
  // Nothing moves: all is constant. What is built in does not count with --ignore-rest.
  findings = findingsOf("scan boxes.glb --json --animation stay", 1, &root);
  describeFindings(findings, found, sizeof(found));
  assert_string_equal(found, "01 constant 0-30; ");
  json_decref(root);
  findings = findingsOf("scan boxes.glb --json --animation stay --ignore-rest", 0, &root);
  assert_int_equal(json_array_size(findings), 0);
  json_decref(root);
}

/* Ranks: constant ones last, and each order is what it says. */
static void testOrder(void **state) {
  (void)state;
  static const char *const orders[] = {"depth", "frames", "first"};
  for (int o = 0; o < 3; ++o) {
    char line[200];
    snprintf(line, sizeof(line), "scan boxes.glb --json --animation all --sort %s", orders[o]);
    json_t *root, *findings = findingsOf(line, 1, &root), *details = json_object_get(root, "details");
    assert_true(json_array_size(findings) >= 4 && json_array_size(findings) == json_array_size(details));
    for (size_t i = 1; i < json_array_size(findings); ++i) {
      const json_t *x = json_array_get(findings, i - 1), *y = json_array_get(findings, i);
      bool constantX = strcmp(textIn(x, "kind"), "constant") == 0,
           constantY = strcmp(textIn(y, "kind"), "constant") == 0;
      assert_true(!constantX || constantY);
      assert_string_equal(textIn(x, "name"), textIn(json_array_get(details, i - 1), "name"));
      if (constantX != constantY) continue;
      // In this file no two things are carried by one node, but for the ground.
      if (o == 0 && strcmp(textIn(x, "kind"), textIn(y, "kind")) == 0) assert_true(depthIn(x) >= depthIn(y));
      if (o == 1)
        assert_true(intIn(json_array_get(details, i - 1), "frames") >= intIn(json_array_get(details, i), "frames"));
      if (o == 2 && strcmp(textIn(x, "animation"), textIn(y, "animation")) == 0)
        assert_true(intIn(x, "first") <= intIn(y, "first"));
    }
    json_decref(root);
  }
  assert_int_equal(runLine("scan boxes.glb --sort size"), 2);
  expectRun(&lastRun, 2, "--sort|depth, frames or first|size");
}

/* Exit statuses are those of the findings that count. */
static void testStatus(void **state) {
  (void)state;
  assert_int_equal(runLine("scan boxes.glb -q"), 1);
  assert_string_equal(lastRun.out, "");
  assert_int_equal(runLine("scan boxes.glb -q --fail-on none"), 0);
  assert_int_equal(runLine("scan boxes.glb -q --fail-on new"), 1);
  assert_int_equal(runLine("scan boxes.glb -q --fail-on new --ignore hammer*"), 0);
  assert_int_equal(runLine("scan boxes.glb -q --ignore hammer*"), 1);
  assert_int_equal(runLine("scan boxes.glb -q --min-depth 100"), 0);
  assert_int_equal(runLine("scan boxes.glb --min-depth 100"), 0);
  assert_non_null(strstr(lastRun.out, "3 less deep than 100 left out"));
  assert_int_equal(runLine("scan boxes.glb --first --min-depth 1"), 2);
  expectRun(&lastRun, 2, "--first");
  // Each option that asks for findings.
  assert_int_equal(runLine("scan boxes.glb --first --junit x.xml"), 2);
  assert_int_equal(runLine("scan boxes.glb --first --baseline x.json"), 2);
  assert_int_equal(runLine("scan boxes.glb --regions"), 2);
  expectRun(&lastRun, 2, "--regions is for --json");
}

/* What a person reads: new ones first, what is built in as one line, all on request. */
static void testText(void **state) {
  (void)state;
  assert_int_equal(runLine("scan boxes.glb"), 1);
  const char *list = strstr(lastRun.out, "2 findings, new ones and of these the deepest first"),
             *table = strstr(lastRun.out, "by bodies:");
  assert_true(list && table && list < table);
  static const char *const words[] = {"anvil and hammer, heavy", "new", "1 constant one (built in",
                                      "--constant lists it"};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
    const char *place = strstr(lastRun.out, words[i]);
    if (!place || place > table) fail_msg("'%s' is not above the table in\n%s", words[i], lastRun.out);
  }
  assert_int_equal(runLine("scan boxes.glb --constant"), 1);
  assert_non_null(strstr(lastRun.out, "3 findings"));
  assert_null(strstr(lastRun.out, "--constant lists"));
  assert_int_equal(runLine("scan boxes.glb --constant --top 1"), 1);
  assert_non_null(strstr(lastRun.out, "2 more: --top 0 lists all"));
  assert_int_equal(runLine("scan boxes.glb --animation stay"), 1);
  assert_non_null(strstr(lastRun.out, "Nothing new"));
  assert_int_equal(runLine("scan boxes.glb --only anvil,anvil"), 0);
  assert_non_null(strstr(lastRun.out, "Nothing goes through anything"));
}

/* ---------------------------------------------------------------- JSON */

static void expectSchema(const json_t *schema, const char *line) {
  if (runLine(line) == 2) fail_msg("%s: %s", line, lastRun.err);
  json_t *root = parseJson(lastRun.out);
  SchemaFault fault = {""};
  if (!schemaCheck(schema, schema, root, "", &fault)) fail_msg("%s: %s", line, fault.text);
  json_decref(root);
}

static void testSchema(void **state) {
  (void)state;
  json_t *schema = loadSchema("scan.schema.json");
  writeText("one.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  assert_int_equal(runLine("scan boxes.glb -q --write-baseline known.json"), 1);
  static const char *const lines[] = {
      "scan boxes.glb --json",
      "scan boxes.glb --json --regions --self",
      "scan boxes.glb --json --first",
      "scan boxes.glb --json --animation all --regions --frames ::7",
      "scan boxes.glb --json --only anvil,anvil",
      "scan one.obj --json",
      "scan boxes.glb --json --baseline known.json",
      "scan boxes.glb one.obj --json --animation stay --baseline known.json",
  };
  for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); ++i) expectSchema(schema, lines[i]);
  // The schema is one that can refuse: each key of a finding left out, one too many, a wrong word.
  json_t *root, *findings = findingsOf("scan boxes.glb --json", 1, &root), *finding = json_array_get(findings, 0);
  assert_int_equal(json_object_size(finding), 13);
  static const char *const keys[] = {"name",       "a",    "b",         "first",    "last",     "deepest",  "depth",
                                     "depth_kind", "kind", "contained", "joints_a", "joints_b", "animation"};
  for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); ++i) {
    json_t *kept = json_incref(json_object_get(finding, keys[i]));
    SchemaFault fault = {""};
    assert_non_null(kept);
    json_object_del(finding, keys[i]);
    assert_false(schemaCheck(schema, schema, root, "", &fault));
    json_object_set_new(finding, keys[i], kept);
    assert_true(schemaCheck(schema, schema, root, "", &(SchemaFault){""}));
  }
  json_object_set_new(finding, "kind", json_string("old"));
  assert_false(schemaCheck(schema, schema, root, "", &(SchemaFault){""}));
  json_object_set_new(finding, "kind", json_string("new"));
  json_object_set_new(finding, "size", json_integer(1));
  assert_false(schemaCheck(schema, schema, root, "", &(SchemaFault){""}));
  json_decref(root);
  json_decref(schema);
  unlink("one.obj");
  unlink("known.json");
}

/* Regions of the frames add up: their pairs are those of the frame, their finding is one of the list, and the deepest region of
 * a finding is as deep as it. */
static void testRegions(void **state) {
  (void)state;
  json_t *root, *findings = findingsOf("scan boxes.glb --json --regions", 1, &root), *frame, *region, *detail;
  json_t *details = json_object_get(root, "details"), *joined = json_object_get(root, "joined");
  size_t f, r, i;
  double deepest[64] = {0};
  assert_in_range(json_array_size(findings), 3, 64);
  json_array_foreach(json_object_get(root, "frames"), f, frame) {
    uint64_t pairs[3][3] = {{0}};
    json_array_foreach(json_object_get(frame, "regions"), r, region) {
      int64_t number = intIn(region, "finding");
      for (i = 0; i < json_array_size(joined); ++i)
        if (intIn(json_array_get(joined, i), "from") == number) number = intIn(json_array_get(joined, i), "to");
      bool found = false;
      json_array_foreach(details, i, detail) {
        if (intIn(detail, "number") != number) continue;
        const json_t *finding = json_array_get(findings, i);
        assert_int_equal(intIn(finding, "a"), intIn(region, "a"));
        assert_in_range(intIn(frame, "frame"), intIn(finding, "first"), intIn(finding, "last"));
        deepest[i] = fmax(deepest[i], depthIn(region));
        found = true;
      }
      assert_true(found);
      pairs[intIn(region, "a")][intIn(region, "b")] += (uint64_t)intIn(region, "pairs");
    }
    for (uint32_t a = 0; a < 3; ++a)
      for (uint32_t b = a; b < 3; ++b) assert_int_equal(pairs[a][b], pairsIn(frame, a, b));
  }
  for (i = 0; i < json_array_size(findings); ++i)
    assert_true(fabs(deepest[i] - depthIn(json_array_get(findings, i))) <= 1e-6 * deepest[i]);
  json_decref(root);
}

/* ---------------------------------------------------------------- what is known */

/* The file with one text in place of another. */
static void editFile(const char *path, const char *from, const char *to) {
  char *text = takeFile(path), *place = strstr(text, from);
  if (!place) fail_msg("'%s' is not in %s:\n%s", from, path, text);
  FILE *stream = fopen(path, "wb");
  fwrite(text, 1, (size_t)(place - text), stream);
  fputs(to, stream);
  fputs(place + strlen(from), stream);
  fclose(stream);
  free(text);
}

static void testBaseline(void **state) {
  (void)state;
  assert_int_equal(runLine("scan boxes.glb --write-baseline known.json"), 1);
  assert_non_null(strstr(lastRun.out, "known.json"));
  // Everything is known: nothing to say, and no failure.
  assert_int_equal(runLine("scan boxes.glb --baseline known.json"), 0);
  assert_non_null(strstr(lastRun.out, "3 known ones are quiet"));
  assert_non_null(strstr(lastRun.out, "Nothing new"));
  // At twice the frames the same things are found again; one may be deeper there.
  assert_true(runLine("scan boxes.glb --baseline known.json --json --fps 60") < 2);
  json_t *twice = parseJson(lastRun.out);
  for (size_t i = 0; i < 3; ++i)
    assert_string_not_equal(textIn(json_array_get(json_object_get(twice, "details"), i), "standing"), "new");
  json_decref(twice);
  // A comment is kept when the file is written anew.
  editFile("known.json", "\"comment\": \"\"", "\"comment\": \"this is how it is built\"");
  assert_int_equal(runLine("scan boxes.glb --baseline known.json --write-baseline known.json -q"), 0);
  char *text = takeFile("known.json");
  assert_non_null(strstr(text, "this is how it is built"));
  writeText("known.json", text);
  // Deeper than accepted.
  json_t *root = parseJson(text), *entry = json_array_get(json_object_get(root, "findings"), 0);
  free(text);
  char was[64], now[64];
  snprintf(was, sizeof(was), "\"depth\": %.9g", json_number_value(json_object_get(entry, "depth")));
  snprintf(now, sizeof(now), "\"depth\": %.9g", 0.5 * json_number_value(json_object_get(entry, "depth")));
  // The first "depth" is the tolerance's.
  char *file = takeFile("known.json"), *list = strstr(file, "\"findings\""), *place = strstr(list, was);
  assert_non_null(place);
  FILE *stream = fopen("known.json", "wb");
  fwrite(file, 1, (size_t)(place - file), stream);
  fprintf(stream, "%s%s", now, place + strlen(was));
  fclose(stream);
  free(file);
  json_decref(root);
  assert_int_equal(runLine("scan boxes.glb --baseline known.json"), 1);
  assert_non_null(strstr(lastRun.out, "known, and deeper than"));
  assert_non_null(strstr(lastRun.out, "1 finding:"));
  // A tolerance that takes it.
  editFile("known.json", "\"depth_part\": 0.05", "\"depth_part\": 1.5");
  assert_int_equal(runLine("scan boxes.glb --baseline known.json -q"), 0);
  unlink("known.json");
}

/* An entry for what is not there any more is told; one for another animation is not. */
static void testFixed(void **state) {
  (void)state;
  assert_int_equal(runLine("scan boxes.glb --animation stay -q --write-baseline known.json"), 1);
  editFile("known.json", "\"findings\": [",
           "\"findings\": [{\"name\": \"0badcafe\", \"a\": \"anvil\", \"b\": \"pillow\", \"animation\": \"stay\", "
           "\"comment\": \"feathers\"}, {\"name\": \"0badcaff\", \"a\": \"anvil\", \"b\": \"anvil\", \"animation\": "
           "\"run\"},");
  assert_int_equal(runLine("scan boxes.glb --animation stay --baseline known.json"), 0);
  assert_non_null(strstr(lastRun.out, "1 of known.json no longer occurs"));
  assert_non_null(strstr(lastRun.out, "0badcafe  anvil and pillow in stay: feathers"));
  assert_int_equal(runLine("scan boxes.glb --animation stay --baseline known.json --json"), 0);
  json_t *root = parseJson(lastRun.out), *fixed = json_object_get(root, "fixed");
  assert_int_equal(json_array_size(fixed), 1);
  assert_string_equal(textIn(json_array_get(fixed, 0), "comment"), "feathers");
  json_decref(root);
  // Of a part of the frames nobody can say so.
  assert_int_equal(runLine("scan boxes.glb --animation stay --baseline known.json --frames 3"), 0);
  assert_null(strstr(lastRun.out, "no longer"));
  unlink("known.json");
}

static void testWrongBaseline(void **state) {
  (void)state;
  static const struct {
    const char *text, *said;
  } cases[] = {
      {"", "known.json: line 1"},
      {"{\n  \"findings\": [\n  oops", "known.json: line 3"},
      {"{}", "known.json|pinch baseline 1|--write-baseline"},
      {"{\"format\": \"pinch baseline 1\", \"findings\": [{\"a\": \"x\"}]}", "findings[0]|name"},
      {"{\"format\": \"pinch baseline 1\", \"findings\": [{\"name\": \"x\", \"depth\": \"deep\"}]}",
       "findings[0]|depth"},
      {"{\"format\": \"pinch baseline 1\", \"tolerance\": {\"depth\": \"x\"}, \"findings\": []}", "tolerance"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    writeText("known.json", cases[i].text);
    assert_int_equal(runLine("scan boxes.glb --baseline known.json"), 2);
    expectRun(&lastRun, 2, cases[i].said);
    assert_string_equal(lastRun.out, "");
  }
  unlink("known.json");
  assert_int_equal(runLine("scan boxes.glb --baseline known.json"), 2);
  expectRun(&lastRun, 2, "known.json");
  assert_int_equal(runLine("scan boxes.glb --baseline ."), 2);
  expectRun(&lastRun, 2, ".: is a folder|--write-baseline");
}

/* ---------------------------------------------------------------- CI services */

/* How often a text is in another. */
static int countText(const char *text, const char *word) {
  int count = 0;
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) ++count;
  return count;
}

static void testJunit(void **state) {
  (void)state;
  assert_int_equal(runLine("scan boxes.glb --fail-on new --junit - --animation all"), 1);
  const char *xml = lastRun.out;
  assert_ptr_equal(strstr(xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"), xml);
  // The hammer twice in strike; anvil and table, built in, once in each animation; and the scan itself.
  assert_non_null(strstr(xml, "tests=\"5\" failures=\"2\" errors=\"0\" skipped=\"2\""));
  assert_int_equal(countText(xml, "<failure "), 2);
  assert_int_equal(countText(xml, "<skipped "), 2);
  assert_int_equal(countText(xml, "<testcase "), countText(xml, "</testcase>"));
  assert_non_null(strstr(xml, "name=\"anvil and hammer, heavy ("));
}

/* Joints on one side, and on the other a body that has none: it stands for itself. */
static void testOneSideWithoutJoints(void **state) {
  (void)state;
  assert_int_equal(runLine("make character hero.glb --triangles 10000 --seconds 1 -q"), 0);
  assert_int_equal(runLine("make icosphere ball.ply --radius 0.2 --at 0,1,0 -q"), 0);
  assert_int_equal(runLine("scan hero.glb ball.ply --only body,ball --frames 0:0 --constant"), 1);
  assert_non_null(strstr(lastRun.out, " | ball\n"));
  assert_int_equal(runLine("scan ball.ply hero.glb --only body,ball --frames 0:0 --constant"), 1);
  assert_non_null(strstr(lastRun.out, "  ball | "));
  unlink("hero.glb");
  unlink("ball.ply");
}

/* Files that are no baselines: the message says so, once, and where they come from. */
static void testNoBaseline(void **state) {
  (void)state;
  expectLine("scan boxes.glb --baseline nowhere.json -q", 2,
             "pinch scan: nowhere.json: cannot be opened: No such file or directory\n");
  expectLine("scan boxes.glb --baseline boxes.glb -q", 2, "boxes.glb: line 1: this is no baseline");
  assert_non_null(strstr(lastRun.err, "--write-baseline makes one"));
}

static void testSarif(void **state) {
  (void)state;
  assert_int_equal(runLine("scan boxes.glb -q --write-baseline known.json"), 1);
  assert_int_equal(runLine("scan boxes.glb --sarif s.json --baseline known.json -q"), 0);
  char *text = takeFile("s.json");
  json_t *root = parseJson(text), *run = json_array_get(json_object_get(root, "runs"), 0), *result;
  assert_string_equal(textIn(root, "version"), "2.1.0");
  assert_string_equal(textIn(json_object_get(json_object_get(run, "tool"), "driver"), "name"), "pinch");
  assert_int_equal(json_array_size(json_object_get(run, "results")), 3);
  size_t i;
  json_array_foreach(json_object_get(run, "results"), i, result) {
    assert_string_equal(textIn(result, "ruleId"), "collision");
    assert_string_equal(textIn(result, "level"), "note");
    assert_string_equal(textIn(result, "baselineState"), "unchanged");
    assert_non_null(json_object_get(json_object_get(result, "partialFingerprints"), "pinchFinding/v1"));
  }
  json_decref(root);
  free(text);
  unlink("known.json");
  // A path is a URI there, in which not every letter may stand.
  assert_int_equal(rename("boxes.glb", "a box #1: 100% früh.glb"), 0);
  ToolRun scanned = runTool((const char *[]){"scan", "a box #1: 100% früh.glb", "--sarif", "s.json", "-q", NULL});
  assert_int_equal(rename("a box #1: 100% früh.glb", "boxes.glb"), 0);
  expectRun(&scanned, 1, "");
  freeRun(&scanned);
  text = takeFile("s.json");
  assert_int_equal(countText(text, "\"uri\": \"a%20box%20%231%3A%20100%25%20fr%C3%BCh.glb\""), 3);
  assert_int_equal(countText(text, "\"startLine\": 1"), 3);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(testKinds, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testOrder, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testStatus, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testText, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testSchema, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testRegions, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testBaseline, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testFixed, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testWrongBaseline, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testJunit, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testOneSideWithoutJoints, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testNoBaseline, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testSarif, enterWithBoxes, leaveWithBoxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
