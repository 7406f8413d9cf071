/* test_cli_scan_use.c: `pinch scan` as it is used: ranges of frames, what is written and whether it agrees, exit statuses,
 * files that are wrong, Ctrl-C, and memory that does not grow. The answers themselves are tested in test_cli_scan.c, the
 * choice of bodies and animations in test_cli_scan_choice.c. */
#include "support.h"

#include "tool.h"

#include "scan_make.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

/* ---------------------------------------------------------------- frames */

/* The frames of a run: "first last count". */
static void expectFrames(const char *frames, const char *fps, int first, int last, size_t count) {
  ToolRun run = RUN("scan", "boxes.glb", "--json", "--frames", frames, "--fps", fps);
  json_t *object = parseJson(run.out), *list = json_object_get(object, "frames");
  assert_int_equal(json_array_size(list), count);
  assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 0), "frame")), first);
  assert_int_equal(json_integer_value(json_object_get(json_array_get(list, count - 1), "frame")), last);
  json_decref(object);
  freeRun(&run);
}

static void testFrames(void **state) {
  (void)state;
  expectFrames("::", "30", 0, 60, 61);
  expectFrames("10:20", "30", 10, 20, 11);
  expectFrames("10:20:4", "30", 10, 18, 3);
  expectFrames("50:", "30", 50, 60, 11);
  expectFrames(":5", "30", 0, 5, 6);
  expectFrames("::25", "30", 0, 50, 3);
  expectFrames("7", "30", 7, 7, 1);
  expectFrames("10-20", "30", 10, 20, 11); // as it stands in tables
  expectFrames("10-20:4", "30", 10, 18, 3);
  expectFrames("50-", "30", 50, 60, 11);
  expectFrames("-5:1000:10", "30", 5, 55, 6); // frames that are not there are left out, the steps stay
  expectFrames("::", "24", 0, 48, 49);
  expectFrames("::", "0.5", 0, 1, 2);
  static const char *const wrong[] = {"a:b",         "1:2:0",  "1:2:3:4", "5:2",   "61:",   "1,2", "",
                                      "9999999999:", "2:3:-1", "-",       "1-2-3", "1:2-3", "--1"};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    ToolRun run = RUN("scan", "boxes.glb", "--frames", wrong[i]);
    expectRun(&run, 2, "--frames");
    assert_string_equal(run.out, "");
    freeRun(&run);
  }
}

/* One thing is not said as if it were many. */
static void testOneOfEach(void **state) {
  (void)state;
  const char *frame[2] = {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.2 0.2 -1\nv 0.3 0.2 1\nv 0.2 0.3 1\nf 1 2 3\nf 4 5 6\n",
                          "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5.2 0.2 -1\nv 5.3 0.2 1\nv 5.2 0.3 1\nf 1 2 3\nf 4 5 6\n"};
  writeText("one0.obj", frame[1]);
  writeText("one1.obj", frame[0]);
  ToolRun run = RUN("scan", "one#.obj");
  expectRun(&run, 1, NULL);
  assert_non_null(strstr(run.out, "1 finding:\n"));
  assert_non_null(strstr(run.out, "In 1 of 2 frames triangles meet, most in frame 1; 1 pair over all frames."));
  freeRun(&run);
  run = RUN("scan", "one1.obj");
  expectRun(&run, 1, NULL);
  assert_non_null(strstr(run.out, "In this one frame 1 pair of triangles meets."));
  freeRun(&run);
  writeText("one.txt", "one1.obj\n");
  run = RUN("scan", "--list", "one.txt");
  expectRun(&run, 1, NULL);
  assert_non_null(strstr(run.out, "one1.obj: 1 finding, "));
  assert_non_null(strstr(run.out, "1 file: 1 with findings, 0 clean"));
  freeRun(&run);
  unlink("one0.obj");
  unlink("one1.obj");
  unlink("one.txt");
}

/* ---------------------------------------------------------------- rest and exit status */

static int statusOf(const char *first, const char *second, const char *third, const char *fourth) {
  ToolRun run = RUN("scan", "boxes.glb", first, second, third, fourth);
  int status = run.status;
  assert_string_equal(run.err, "");
  freeRun(&run);
  return status;
}

static void testRest(void **state) {
  (void)state;
  // Anvil and table always meet, in the same pairs as at rest; the hammer does not.
  ToolRun run = RUN("scan", "boxes.glb", "--json", "--ignore-rest");
  expectRun(&run, 1, NULL);
  expectContacts(&run, "02 12 ");
  freeRun(&run);
  run = RUN("scan", "boxes.glb", "--json", "--ignore-rest", "--animation", "stay");
  expectRun(&run, 0, NULL);
  expectContacts(&run, "");
  freeRun(&run);
  // --first still sees the hammer behind the pairs at rest, and shows all bodies' contacts with --fail-on new.
  run = RUN("scan", "boxes.glb", "--json", "--ignore-rest", "--first");
  expectRun(&run, 1, NULL);
  expectContacts(&run, "02 12 ");
  freeRun(&run);
  assert_int_equal(statusOf("--fail-on", "any", "--animation", "stay"), 1);
  assert_int_equal(statusOf("--fail-on", "new", "--animation", "stay"), 0);
  assert_int_equal(statusOf("--fail-on", "new", "--animation", "strike"), 1);
  assert_int_equal(statusOf("--fail-on", "new", "--frames", "0:5"), 0);
  assert_int_equal(statusOf("--fail-on", "none", "--animation", "strike"), 0);
  assert_int_equal(statusOf("--fail-on", "new", "--frames", "30"), 1);
  run = RUN("scan", "boxes.glb", "--fail-on", "old");
  expectRun(&run, 2, "--fail-on|any, new or none|old");
  freeRun(&run);
}

/* ---------------------------------------------------------------- what is written */

/* JSON, the two CSV files, tables and threads tell one story. */
static void testFilesAgree(void **state) {
  (void)state;
  ToolRun run = RUN("scan", "boxes.glb", "--json", "--csv", "c.csv", "--pairs", "p.csv", "--threads", "2");
  expectRun(&run, 1, NULL);
  json_t *object = parseJson(run.out), *frame, *contact;
  char *csv = takeFile("c.csv"), *pairs = takeFile("p.csv"), *at = csv, *pairAt = pairs, line[128];
  assert_int_equal(strncmp(at, "frame,time,a,b,pairs\n", 21), 0);
  assert_int_equal(strncmp(pairAt, "frame,a,triangle_a,b,triangle_b\n", 32), 0);
  at += 21;
  pairAt += 32;
  json_int_t total = 0;
  size_t i, k;
  json_array_foreach(json_object_get(object, "frames"), i, frame) {
    json_array_foreach(json_object_get(frame, "collisions"), k, contact) {
      json_int_t number, a, b, count;
      double time;
      assert_int_equal(json_unpack(frame, "{s:I, s:F}", "frame", &number, "time", &time), 0);
      assert_int_equal(json_unpack(contact, "{s:I, s:I, s:I}", "a", &a, "b", &b, "pairs", &count), 0);
      int length = snprintf(line, sizeof(line), "%lld,%.9g,%lld,%lld,%lld\n", number, time, a, b, count);
      if (strncmp(at, line, (size_t)length) != 0) fail_msg("expected %s found %.60s", line, at);
      at += length;
      total += count;
      // As many lines of pairs as the count says, in order.
      long long last = -1;
      for (json_int_t p = 0; p < count; ++p) {
        long long f, first, ta, second, tb;
        int used = 0;
        assert_int_equal(sscanf(pairAt, "%lld,%lld,%lld,%lld,%lld\n%n", &f, &first, &ta, &second, &tb, &used), 5);
        assert_true(f == number && first == a && second == b && ta * 100000 + tb > last);
        last = ta * 100000 + tb;
        pairAt += used;
      }
    }
  }
  assert_int_equal(*at, 0);
  assert_int_equal(*pairAt, 0);
  assert_int_equal(json_integer_value(json_object_get(object, "pairs_total")), total);
  json_t *body = json_array_get(json_object_get(object, "bodies"), 2);
  assert_string_equal(json_string_value(json_object_get(body, "name")), "hammer, heavy");
  assert_string_equal(json_string_value(json_object_get(body, "file")), "boxes.glb");
  assert_int_equal(json_integer_value(json_object_get(body, "triangles")), 48);
  assert_true(json_is_true(json_object_get(body, "closed")));
  // One thread, the same bytes.
  ToolRun one = RUN("scan", "boxes.glb", "--json", "--threads", "1");
  assert_string_equal(one.out, run.out);
  freeRun(&one);
  json_decref(object);
  free(csv);
  free(pairs);
  freeRun(&run);
}

static void testTable(void **state) {
  (void)state;
  ToolRun run = RUN("scan", "boxes.glb");
  expectRun(&run, 1, NULL); // no sign of life in a pipe
  static const char *const words[] = {"anvil and table",
                                      "anvil and hammer, heavy",
                                      "Frames 0 to 60, 30 a second",
                                      "0-60",
                                      "Animation 'strike', one of 2",
                                      "In 61 of 61 frames",
                                      "--html"};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i)
    if (!strstr(run.out, words[i])) fail_msg("'%s' is not in\n%s", words[i], run.out);
  freeRun(&run);
  run = RUN("scan", "--help");
  expectRun(&run, 0, NULL);
  assert_non_null(strstr(run.out, "--ignore-rest"));
  freeRun(&run);
}

/* "Nothing" is qualified where nothing was asked, and a moment that an animation has not is refused. */
static void testNothing(void **state) {
  (void)state;
  static const char *const note = "leave no two bodies to ask about";
  ToolRun run = RUN("scan", "boxes.glb", "--only", "anvil", "--ignore", "anvil,*");
  expectRun(&run, 0, NULL);
  assert_non_null(strstr(run.out, note));
  freeRun(&run);
  run = RUN("scan", "boxes.glb", "--only", "anvil", "--only", "anvil,anvil");
  assert_true(run.status < 2);
  assert_null(strstr(run.out, note));
  freeRun(&run);
  FILE *file = fopen("none.obj", "w");
  assert_non_null(file);
  fputs("v 0 0 0\n", file);
  fclose(file);
  run = RUN("scan", "none.obj");
  expectRun(&run, 0, NULL);
  assert_non_null(strstr(run.out, "none has no triangles"));
  freeRun(&run);
  // What has no triangles is neither closed nor open.
  run = RUN("check", "none.obj", "none.obj");
  expectRun(&run, 0, NULL);
  assert_non_null(strstr(run.out, "0  -\n"));
  assert_null(strstr(run.out, "yes"));
  freeRun(&run);
  run = RUN("scan", "none.obj@boxes.glb");
  expectRun(&run, 2, "none.obj@boxes.glb|MDD|by itself");
  freeRun(&run);
  unlink("none.obj");
  static const char *const commands[] = {"check", "volume"}, *const times[] = {"99", "-1"};
  for (int i = 0; i < 4; ++i) {
    run = RUN(commands[i % 2], "boxes.glb", "--time", times[i / 2], "--only", "0,1");
    expectRun(&run, 2, "--time: boxes.glb: the animation|seconds, found");
    freeRun(&run);
  }
}

static void testReport(void **state) {
  (void)state;
  ToolRun run = RUN("scan", "boxes.glb", "--pairs-only", "anvil,hammer, heavy", "--html", "r.html");
  if (run.status == 2 && strstr(run.err, "no HTML report")) {
    printf("skipped: this build has no HTML report\n");
  } else {
    expectRun(&run, 1, NULL);
    char *page = takeFile("r.html");
    static const char *const words[] = {"hammer, heavy", "boxes.glb, strike", "--pairs-only", "\"complete\":true"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) assert_non_null(strstr(page, words[i]));
    free(page);
    ToolRun both = RUN("scan", "boxes.glb", "--animation", "all", "--html", "r.html");
    expectRun(&both, 1, NULL);
    freeRun(&both);
    page = takeFile("r.html");
    assert_non_null(strstr(page,
                           "\"clips\":[{\"name\":\"strike\",\"fps\":30,\"firstFrame\":0,\"frameCount\":61},"
                           "{\"name\":\"stay\",\"fps\":30,\"firstFrame\":61,\"frameCount\":31}]"));
    free(page);
    // A scan that fails leaves no report.
    ToolRun bad = RUN("scan", "boxes.glb", "--html", "nowhere/r.html");
    expectRun(&bad, 2, "nowhere/r.html");
    freeRun(&bad);
  }
  freeRun(&run);
}

/* One output that cannot be written: the others do not appear either, and what was there before stays. */
static void testAllOrNone(void **state) {
  (void)state;
  ToolRun run = RUN("scan", "boxes.glb", "--frames", "0", "--html", "r.html");
  bool reports = run.status != 2;
  freeRun(&run);
  if (reports) free(takeFile("r.html"));
  if (access("/dev/full", W_OK) != 0) {
    print_message("skipped: no /dev/full\n");
    return;
  }
  static const char *const cases[][6] = {{"--pairs", "/dev/full", "--csv", "c.csv", NULL},
                                         {"--csv", "/dev/full", "--pairs", "c.csv", NULL},
                                         {"--csv", "/dev/full", "--html", "c.csv", NULL},
                                         {"--pairs", "/dev/full", "--html", "c.csv", NULL},
                                         {"--html", "/dev/full", "--csv", "c.csv", NULL}};
  for (size_t i = 0; i < (reports ? 5 : 2); ++i) {
    const char *const *c = cases[i];
    writeText("c.csv", "what was there");
    run = RUN("scan", "boxes.glb", "--frames", "0", c[0], c[1], c[2], c[3]);
    expectRun(&run, 2, "/dev/full|No space");
    freeRun(&run);
    char *text = takeFile("c.csv");
    assert_string_equal(text, "what was there");
    free(text);
  }
}

/* ---------------------------------------------------------------- what is wrong */

static void testWrongWords(void **state) {
  (void)state;
  static const struct {
    const char *words[4];
    const char *message;
  } cases[] = {
      {{NULL}, "no file given|pinch make character"},
      {{"boxes.glb", "--frame", "1"}, "did you mean --frames"},
      {{"boxes.glb", "--fps", "-1"}, "--fps"},
      {{"boxes.glb", "--fps", "0"}, "--fps|found 0"},
      {{"boxes.glb", "--csv", "./boxes.glb"}, "--csv|./boxes.glb|lost"},
      {{"empty.mdd@boxes.glb", "--html", "boxes.glb"}, "--html|lost"},
      {{"boxes.glb", "--csv=x.csv", "--pairs=./x.csv"}, "different files"},
      {{"boxes.glb", "--threads", "65"}, "--threads"},
      {{"boxes.glb", "--csv=x.csv", "--pairs=x.csv"}, "different files"},
      {{"boxes.glb", "--csv", "nowhere/x.csv"}, "nowhere/x.csv"},
      {{"nothing.glb"}, "nothing.glb"},
      {{"nothing.obj@nothing.mdd"}, "nothing.mdd"},
      {{"@x.mdd"}, "MESH@CACHE"},
      {{"boxes.glb@boxes.mdd"}, "OBJ, PLY or OFF"},
      {{"none_####.ply"}, "none_"},
      {{"empty.mdd"}, "empty.mdd"},
  };
  writeText("empty.mdd", "");
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    const char *words[6] = {"scan"};
    for (int k = 0; k < 4; ++k) words[k + 1] = cases[i].words[k];
    ToolRun run = runTool(words);
    expectRun(&run, 2, cases[i].message);
    assert_string_equal(run.out, "");
    freeRun(&run);
  }
  unlink("empty.mdd");
}

/* A file cut short at any place, or with a byte changed, is refused or read: the tool never dies, and never leaves a file
 * when it refuses. */
static void testBrokenFiles(void **state) {
  (void)state;
  int handle = open("boxes.glb", O_RDONLY);
  off_t size = lseek(handle, 0, SEEK_END);
  char *good = toolReadBack(handle);
  TestRandom random = testRandom(8);
  uint32_t refused = 0;
  for (int i = 0; i < 40; ++i) {
    FILE *stream = fopen("broken.glb", "wb");
    size_t count = i < 20 ? testBelow(&random, (uint32_t)size) : (size_t)size;
    uint32_t place = testBelow(&random, (uint32_t)size);
    char before = good[place];
    if (i >= 20) good[place] = (char)testBelow(&random, 256);
    assert_int_equal(fwrite(good, 1, count, stream), count);
    good[place] = before;
    fclose(stream);
    ToolRun run = RUN("scan", "broken.glb", "--csv", "c.csv", "--frames", ":3");
    assert_in_range(run.status, 0, 2);
    refused += run.status == 2;
    if (run.status == 2) assert_true(run.err[0] != 0 && access("c.csv", F_OK) != 0);
    else unlink("c.csv");
    freeRun(&run);
  }
  assert_true(refused >= 20); // everything cut short
  unlink("broken.glb");
  free(good);
}

/* A mesh and a cache that do not fit, and a cache without triangles. */
static void testWrongCache(void **state) {
  (void)state;
  writeText("one.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  // PC2 for four vertices, one sample.
  FILE *stream = fopen("four.pc2", "wb");
  struct {
    char sign[12];
    int32_t version, points;
    float start, rate;
    int32_t samples;
  } head = {"POINTCACHE2", 1, 4, 0, 1, 1};
  float zeros[12] = {0};
  fwrite(&head, 32, 1, stream);
  fwrite(zeros, sizeof(zeros), 1, stream);
  fclose(stream);
  ToolRun run = RUN("scan", "one.obj@four.pc2");
  expectRun(&run, 2, "one.obj has 3 vertices|four.pc2 4");
  freeRun(&run);
  static const char *const commands[] = {"info", "check"};
  for (int i = 0; i < 2; ++i) {
    run = RUN(commands[i], "four.pc2");
    expectRun(&run, 2, "four.pc2: holds vertices and no triangles|MESH.obj@four.pc2");
    freeRun(&run);
    run = RUN(commands[i], "none.pc2");
    expectRun(&run, 2, "none.pc2: cannot be opened");
    freeRun(&run);
    run = RUN(commands[i], "");
    expectRun(&run, 2, "a word is empty|--help");
    freeRun(&run);
  }
  run = RUN("scan", "four.pc2");
  expectRun(&run, 2, "no triangles|MESH.obj@four.pc2");
  freeRun(&run);
  // A mesh alone is one frame.
  run = RUN("scan", "one.obj");
  expectRun(&run, 0, NULL);
  assert_non_null(strstr(run.out, "in 1 frame"));
  freeRun(&run);
  unlink("one.obj");
  unlink("four.pc2");
}

/* A frame in the middle cannot be read: what was printed before is still JSON, and no file is left. */
static void testBrokenFrame(void **state) {
  (void)state;
  static const char good[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  writeText("f_1.obj", good);
  writeText("f_2.obj", good);
  writeText("f_3.obj", "v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n");
  ToolRun run = RUN("scan", "f_#.obj", "--json", "--csv", "c.csv", "--pairs", "p.csv");
  expectRun(&run, 2, "frame 3|f_3.obj");
  json_t *object = parseJson(run.out);
  assert_int_equal(json_array_size(json_object_get(object, "frames")), 2);
  assert_true(json_is_true(json_object_get(object, "incomplete")));
  assert_true(access("c.csv", F_OK) != 0 && access("p.csv", F_OK) != 0);
  json_decref(object);
  freeRun(&run);
  for (int i = 1; i <= 3; ++i) unlink((char[]){'f', '_', (char)('0' + i), '.', 'o', 'b', 'j', 0});
}

/* ---------------------------------------------------------------- Ctrl-C and memory */

/* A run whose output goes to files and which is asked to stop as soon as it has printed something. */
static ToolRun interruptTool(const char *const *words, int signalNumber) {
  ToolStart start = startTool(words);
  // The first block of JSON has left the tool when frames are being looked at.
  struct timespec wait = {0, 2000000};
  siginfo_t ended = {0};
  while (lseek(start.out, 0, SEEK_END) == 0 && ended.si_pid == 0) {
    nanosleep(&wait, NULL);
    assert_int_equal(waitid(P_PID, (id_t)start.child, &ended, WEXITED | WNOHANG | WNOWAIT), 0);
  }
  assert_int_equal(kill(start.child, signalNumber), 0);
  return endTool(&start);
}

static void expectIncomplete(const char *option, int signalNumber, int status) {
  const char *words[] = {"scan",      "boxes.glb", "--json", "--fps", "100000", "--frames",
                         "0:6000000", "--csv",     "c.csv",  option,  NULL};
  ToolRun run = interruptTool(words, signalNumber);
  expectRun(&run, status, "interrupted after");
  json_t *object = parseJson(run.out);
  assert_true(json_is_true(json_object_get(object, "incomplete")));
  size_t frames = json_array_size(json_object_get(object, "frames"));
  assert_in_range(frames, 1, 2000000);
  char *csv = takeFile("c.csv");
  assert_non_null(strstr(csv, "\n# incomplete: interrupted after "));
  free(csv);
  json_decref(object);
  freeRun(&run);
}

static void testInterrupt(void **state) {
  (void)state;
  // Six million frames. Without the pairs at rest nothing is found in the first two million, which is no answer yet:
  // status 2. With them there is one, and what is known stays known.
  saveBoxes("boxes.glb", 60);
  expectIncomplete("--ignore-rest", SIGINT, 2);
  expectIncomplete("--ignore-rest", SIGTERM, 2);
  expectIncomplete("--first", SIGINT, 1);
}

/* The most memory a run had, in kilobytes. */
static long memoryOf(const char *const *words) {
  char *argv[32] = {(char *)PINCH_TOOL};
  for (int i = 0; words[i]; ++i) argv[i + 1] = (char *)words[i];
  int out = toolTemporary();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  pid_t child;
  // The address sanitizer keeps what is freed for a while, which is no memory of the tool's: here it keeps none.
  setenv("ASAN_OPTIONS", "detect_leaks=0:quarantine_size_mb=0:thread_local_quarantine_size_kb=0", 1);
  assert_int_equal(posix_spawn(&child, PINCH_TOOL, &actions, NULL, argv, environ), 0);
  lookForLeaks(false);
  posix_spawn_file_actions_destroy(&actions);
  int status;
  struct rusage usage;
  assert_int_equal(wait4(child, &status, 0, &usage), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  close(out);
  return usage.ru_maxrss;
}

/* The least of a few runs. How much of the program itself counts depends on where the system happens to put it, a megabyte more in one run
 * of eight, which has nothing to do with frames. What grows with frames grows in every run. `enough`: no need to look further. */
static long leastMemoryOf(const char *const *words, long enough) {
  long least = memoryOf(words);
  for (int again = 0; again < 4 && least > enough; ++again) {
    long memory = memoryOf(words);
    least = memory < least ? memory : least;
  }
  return least;
}

static void testMemory(void **state) {
  (void)state;
  const char *few[] = {"scan", "boxes.glb", "--fps", "50", "--csv", "c.csv", "--pairs", "p.csv", NULL};
  const char *many[] = {"scan", "boxes.glb", "--fps", "5000", "--csv", "c.csv", "--pairs", "p.csv", NULL};
  long small = leastMemoryOf(few, 0), large = leastMemoryOf(many, small + 1024);
  // 100 frames and 10 000: a byte for each pair would already be more than this.
  if (large > small + 1024) fail_msg("%ld KB for 100 frames, %ld KB for 10 000", small, large);
  unlink("c.csv");
  unlink("p.csv");
}

/* Looked at for leaks, where the build can. */
static void testLeaks(void **state) {
  (void)state;
  lookForLeaks(true);
  ToolRun run = RUN("scan", "boxes.glb", "--self", "--ignore-rest", "--csv", "c.csv", "--json");
  expectRun(&run, 1, NULL);
  freeRun(&run);
  run = RUN("scan", "boxes.glb", "boxes.glb@", "--animation", "nobody");
  expectRun(&run, 2, "boxes.glb@");
  freeRun(&run);
  lookForLeaks(false);
  unlink("c.csv");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(testFrames, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testOneOfEach, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testRest, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testFilesAgree, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testTable, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testNothing, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testReport, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testAllOrNone, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testWrongWords, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testBrokenFiles, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testWrongCache, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testBrokenFrame, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testInterrupt, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testMemory, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testLeaks, enterWithBoxes, leaveWithBoxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
