/* test_cli_bench.c: `pinch bench` as a user has it, with programs of the laboratory played by scripts: what was done is kept, what is
 * there is not run again, what fails leaves nothing under a final name. */
#include "support.h"
#include "tool.h"

#include <jansson.h>

#include <stdlib.h>
#include <sys/stat.h>

/* A program that leaves a row for what it was told, or fails. */
static void writeProgram(const char *name, const char *end) {
  char path[256];
  snprintf(path, sizeof path, "programs/%s", name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file,
          "#!/bin/sh\necho \"$*\" >>told.txt\n[ \"$1\" = --rows ] || exit 3\nrows=$2\nshift 2\n"
          "{ echo '# machine: a script'; echo \"$1,s1-20480,our hybrid,all ms,,0.5\"; } >>\"$rows\"\n%s\n",
          end);
  fclose(file);
  assert_int_equal(chmod(path, 0755), 0);
}

static void begin(void) {
  mkdir("programs", 0755);
  setenv("PINCH_BENCH_DIR", "programs", 1);
}

static void end(void) {
  assert_int_equal(system("rm -rf programs out told.txt page.html all.csv"), 0);
}

static void listNamesAll(void **state) {
  (void)state;
  assert_int_equal(runLine("bench list"), 0);
  static const char *const names[] = {"e1 ",   "e2 ",       "e3 ",   "e4 ",    "e5 ",   "e6 ",   "e7 ",
                                      "e8 ",   "e9 ",       "e10",   "e11",    "e12",   "e13",   "e14",
                                      "world", "libraries", "sweep", "growth", "broad", "update"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) assert_non_null(strstr(lastRun.out, names[i]));
}

static void wrongWordsAreSaid(void **state) {
  (void)state;
  ToolRun run = RUN("bench", "e99");
  expectRun(&run, 2, "e99|pinch bench list");
  freeRun(&run);
  run = RUN("bench");
  expectRun(&run, 2, "say what|list");
  freeRun(&run);
  run = RUN("bench", "scene");
  expectRun(&run, 2, "which scene");
  freeRun(&run);
  run = RUN("bench", "show", "--out", "no/such/folder");
  expectRun(&run, 2, "no/such/folder");
  freeRun(&run);
}

static void programsThatAreNotBuilt(void **state) {
  (void)state;
  begin();
  ToolRun run = RUN("bench", "e1", "--out", "out");
  expectRun(&run, 2, "bench_papers is not built|PINCH_BENCH_DIR");
  freeRun(&run);
  end();
}

/* Once is enough: the second run goes on from what is there; --again and other settings run it anew. */
static void whatIsDoneIsKept(void **state) {
  (void)state;
  begin();
  writeProgram("bench_papers", "exit 0");
  assert_int_equal(runLine("bench e1 e2 --quick --out out"), 0);
  char *told = takeFile("told.txt");
  assert_non_null(strstr(told, " e1 "));
  assert_non_null(strstr(told, " e2 "));
  free(told);
  assert_int_equal(runLine("bench e1 --quick --out out"), 0);
  assert_int_equal(access("told.txt", F_OK), -1);
  assert_int_equal(runLine("bench e1 --quick --again --out out"), 0);
  free(takeFile("told.txt"));
  assert_int_equal(runLine("bench e1 --quick --repeat 5 --out out"), 0);
  told = takeFile("told.txt");
  assert_non_null(strstr(told, "--passes 5"));
  free(told);
  writeProgram("bench_free", "exit 0");
  assert_int_equal(runLine("bench growth --quick --threads 4 --out out"), 0);
  told = takeFile("told.txt");
  assert_non_null(strstr(told, "--peer pinch:threads=4"));
  free(told);
  FILE *file = fopen("out/e2.csv", "r");
  assert_non_null(file);
  char text[512] = {0};
  assert_true(fread(text, 1, sizeof text - 1, file) > 0);
  fclose(file);
  assert_non_null(strstr(text, "# experiment: e2\n"));
  assert_non_null(strstr(text, "# settings: quick\n"));
  assert_non_null(strstr(text, "# machine: a script\n"));
  assert_non_null(strstr(text, "experiment,scene,method,measure,step,value\ne2,s1-20480,our hybrid,all ms,,0.5\n"));
  assert_int_equal(access("out/e2.csv.part", F_OK), -1);
  assert_int_equal(access("out/e2.csv.rows", F_OK), -1);
  end();
}

/* What a program of the laboratory was told about an experiment, without where its rows go; the caller frees it. */
static char *wordsFor(const char *told, const char *name) {
  char start[32];
  snprintf(start, sizeof start, ".csv.rows %s", name);
  for (const char *at = told; (at = strstr(at, start)) != NULL; ++at) {
    const char *words = at + strlen(".csv.rows "), *after = words + strlen(name);
    if (*after == ' ' || *after == '\n') return strndup(words, strcspn(words, "\n"));
  }
  fail_msg("nobody was told of %s", name);
  return NULL;
}

/* The short form reaches every experiment of the papers, and makes each shorter that is long: none is told the same. (e14 takes no
 * second.) */
static void quickIsQuick(void **state) {
  (void)state;
  static const char *const programs[] = {"bench_papers", "bench_morph", "bench_skin", "bench_soup", "bench_volume"};
  static const char *const names[] = {"e1", "e2", "e3", "arity", "trees", "e4",  "e5",  "s3",
                                      "e6", "e7", "e8", "e9",    "e10",   "e11", "e12", "e13"};
  begin();
  for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i) writeProgram(programs[i], "exit 0");
  assert_int_equal(runLine("bench papers --quick --out out"), 0);
  char *quick = takeFile("told.txt");
  assert_int_equal(runLine("bench papers --out out"), 0);
  char *full = takeFile("told.txt");
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    char *less = wordsFor(quick, names[i]), *more = wordsFor(full, names[i]);
    if (strcmp(less, more) == 0) fail_msg("%s is as long in the short form: %s", names[i], less);
    free(less);
    free(more);
  }
  free(wordsFor(quick, "e14"));
  free(quick);
  free(full);
  end();
}

/* One that fails is said, with the end of what it printed; the others are kept, and it is run again the next time. */
static void failuresAreSaid(void **state) {
  (void)state;
  begin();
  writeProgram("bench_papers", "echo a reason >&2; exit 1");
  writeProgram("bench_morph", "exit 0");
  ToolRun run = RUN("bench", "e1", "e4", "--quick", "--out", "out");
  expectRun(&run, 2, "e1 failed|a reason");
  freeRun(&run);
  assert_int_equal(access("out/e1.csv", F_OK), -1);
  assert_int_equal(access("out/e4.csv", F_OK), 0);
  free(takeFile("told.txt"));
  writeProgram("bench_papers", "exit 0");
  assert_int_equal(runLine("bench e1 e4 --quick --out out"), 0);
  char *told = takeFile("told.txt");
  assert_non_null(strstr(told, " e1 "));
  assert_null(strstr(told, " e4 "));
  free(told);
  end();
}

/* Committed rows as tables, JSON, one CSV and a page. */
static void rowsAreShown(void **state) {
  (void)state;
  assert_int_equal(runLine("bench show --out " PINCH_SOURCE_DIR "/bench/results/lab --csv all.csv"), 0);
  assert_non_null(strstr(lastRun.out, "hybrid-all"));
  assert_non_null(strstr(lastRun.out, "Claims: "));
  char *csv = takeFile("all.csv");
  assert_non_null(strstr(csv, "experiment,scene,method,measure,step,value\n"));
  assert_non_null(strstr(csv, "our hybrid,all ms,,"));
  free(csv);
  assert_int_equal(runLine("bench show --out " PINCH_SOURCE_DIR "/bench/results/lab --json"), 0);
  json_t *object = json_loads(lastRun.out, 0, NULL);
  assert_non_null(object);
  assert_true(json_array_size(json_object_get(object, "rows")) > 500);
  assert_true(json_array_size(json_object_get(object, "verdicts")) >= 30);
  json_decref(object);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(listNamesAll),
      cmocka_unit_test(wrongWordsAreSaid),
      cmocka_unit_test(programsThatAreNotBuilt),
      cmocka_unit_test(whatIsDoneIsKept),
      cmocka_unit_test(quickIsQuick),
      cmocka_unit_test(failuresAreSaid),
      cmocka_unit_test(rowsAreShown),
  };
  return cmocka_run_group_tests(tests, enterFolder, leaveFolder);
}
