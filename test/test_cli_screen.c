/* test_cli_screen.c: what the tool prints on a terminal: no line wider than it, colour only where it is wanted, and never a word
 * that is said by colour alone. A terminal is made for it (a pseudo terminal of so many columns). */
#define _XOPEN_SOURCE 700 // pseudo terminals
#define _DEFAULT_SOURCE
#include "support.h"

#include "tool.h"

#include "scan_make.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>

/* What is read last: no tool prints it. */
#define LAST '\001'

/* All that a tool prints on a terminal until it ends. The other side is still open here, and gets a last letter when the tool is done: of a
 * terminal whose other side is closed, what was printed just before may be lost. */
static char *readScreen(int screen, int side, pid_t child, int *outStatus, size_t *outUsed) {
  size_t capacity = 1 << 20, used = 0;
  char *text = malloc(capacity);
  assert_non_null(text);
  for (bool done = false; used == 0 || text[used - 1] != LAST;) {
    struct pollfd waiting = {.fd = screen, .events = POLLIN};
    if (poll(&waiting, 1, done ? -1 : 5) > 0) {
      ssize_t got = read(screen, text + used, capacity - used);
      assert_true(got > 0);
      used += (size_t)got;
    } else if (waitpid(child, outStatus, WNOHANG) == child) {
      done = true;
      assert_int_equal(write(side, &(char){LAST}, 1), 1);
    }
  }
  *outUsed = used - 1;
  return text;
}

/* Runs words with one stream (1: stdout, 2: stderr) on a terminal of `columns`; what it printed, without carriage returns. Free
 * it. Errors are printed by a tool that ends with status 2. */
static char *runOnScreen(const char *const *words, uint16_t columns, int stream) {
  int screen = posix_openpt(O_RDWR | O_NOCTTY);
  assert_true(screen >= 0 && grantpt(screen) == 0 && unlockpt(screen) == 0);
  int side = open(ptsname(screen), O_RDWR | O_NOCTTY);
  assert_true(side >= 0);
  struct winsize size = {.ws_row = 24, .ws_col = columns};
  assert_int_equal(ioctl(screen, TIOCSWINSZ, &size), 0);
  char *argv[32] = {(char *)PINCH_TOOL};
  for (int i = 0; words[i]; ++i) argv[i + 1] = (char *)words[i];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, side, stream);
  pid_t child;
  assert_int_equal(posix_spawn(&child, PINCH_TOOL, &actions, NULL, argv, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  int status;
  size_t used;
  char *text = readScreen(screen, side, child, &status, &used);
  close(side);
  close(screen);
  assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 2) == (stream == 2));
  size_t kept = 0;
  for (size_t i = 0; i < used; ++i)
    if (text[i] != '\r') text[kept++] = text[i];
  text[kept] = 0;
  return text;
}

#define ON_SCREEN(columns, ...) runOnScreen((const char *const[]){__VA_ARGS__, NULL}, columns, 1)

/* Takes the colours out of the text; returns how many there were. */
static int stripColors(char *text) {
  int count = 0;
  char *out = text;
  for (const char *c = text; *c; ++c) {
    if (*c == '\033') {
      while (*c && *c != 'm') ++c;
      ++count;
    } else {
      *out++ = *c;
    }
  }
  *out = 0;
  return count;
}

static void expectWidth(char *text, size_t columns) {
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
    if (strlen(line) > columns) fail_msg("%zu columns on a screen of %zu: %s", strlen(line), columns, line);
}

static int enterScreen(void **state) {
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  return enterWithBoxes(state);
}

static void testWidth(void **state) {
  (void)state;
  static const uint16_t widths[] = {80, 100, 200};
  for (size_t i = 0; i < 3; ++i) {
    char *one = ON_SCREEN(widths[i], "scan", "boxes.glb", "--self", "--constant");
    char *all = ON_SCREEN(widths[i], "scan", "boxes.glb", "--animation", "all");
    stripColors(one);
    stripColors(all);
    expectWidth(one, widths[i]);
    expectWidth(all, widths[i]);
    free(one);
    free(all);
  }
  const char *knight = testDataPath("kaykit/Characters/gltf/Knight.glb");
  if (!knight) return;
  char path[1100];
  snprintf(path, sizeof(path), knight[0] == '/' ? "%s" : "../%s", knight);
  char *text = ON_SCREEN(80, "scan", path, "--constant", "--top", "0");
  stripColors(text);
  assert_non_null(strstr(text, "Knight.glb: 15 bodies"));
  expectWidth(text, 80);
  free(text);
  ToolRun run = RUN("scan", path, "--animation", "nosuch");
  expectRun(&run, 2, "Knight.glb has 76");
  expectWidth(run.err, 80);
  freeRun(&run);
  // Its first line is the path as it was typed.
  text = ON_SCREEN(80, "info", path);
  stripColors(text);
  assert_non_null(strstr(text, "at rest"));
  expectWidth(strchr(text, '\n') + 1, 80);
  free(text);
}

/* The words are the same with and without colour. */
static void testColor(void **state) {
  (void)state;
  char *colored = ON_SCREEN(80, "scan", "boxes.glb", "--only", "anvil,hammer, heavy", "--frames", "30");
  assert_true(stripColors(colored) > 0);
  setenv("NO_COLOR", "1", 1);
  char *plain = ON_SCREEN(80, "scan", "boxes.glb", "--only", "anvil,hammer, heavy", "--frames", "30");
  assert_int_equal(stripColors(plain), 0);
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  char *dumb = ON_SCREEN(80, "scan", "boxes.glb", "--only", "anvil,hammer, heavy", "--frames", "30");
  assert_int_equal(stripColors(dumb), 0);
  // Up to the seconds it took.
  const char *end = strstr(plain, "Read in ");
  assert_non_null(end);
  assert_memory_equal(colored, plain, end - plain);
  assert_memory_equal(dumb, plain, end - plain);
  free(colored);
  free(plain);
  free(dumb);
  // Nor in a pipe.
  setenv("TERM", "xterm", 1);
  assert_int_equal(runLine("scan boxes.glb"), 1);
  assert_null(strchr(lastRun.out, '\033'));
}

/* Names from files cannot speak to the terminal. */
static void testPlain(void **state) {
  (void)state;
  writeText(
      "bad.gltf",
      "{\"asset\": {\"version\": \"2.0\"}, \"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"name\": \"x\\u001b[31m\", "
      "\"mesh\": 0}], "
      "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}], \"accessors\": [{\"componentType\": "
      "5126, "
      "\"count\": 6, \"type\": \"VEC3\", \"bufferView\": 0}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 72}], "
      "\"buffers\": [{\"byteLength\": 72, \"uri\": \"data:application/octet-stream;base64,"
      "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAzczMPc3MzD0AAIC/zczMPc3MzD0AAIA/zcxMPs3MTD4AAIA/\"}]}");
  char *text = ON_SCREEN(80, "scan", "bad.gltf");
  stripColors(text);
  assert_non_null(strstr(text, "x?[31m and itself"));
  free(text);
  unlink("bad.gltf");
}

/* Help of all commands, on a narrow screen, an 80-column one, a wide one and in a file. */
static void testHelpWidth(void **state) {
  (void)state;
  static const char *const commands[] = {"info",   "check", "scan",   "merge", "volume",
                                         "inside", "make",  "device", "bench", "completion"};
  for (size_t i = 0; i <= 10; ++i) {
    const char *const words[] = {i < 10 ? commands[i] : "--help", i < 10 ? "--help" : NULL, NULL};
    ToolRun run = runTool(words);
    expectRun(&run, 0, NULL);
    char *screens[] = {runOnScreen(words, 80, 1), runOnScreen(words, 200, 1), run.out};
    assert_string_equal(screens[0], run.out);
    assert_string_equal(screens[1], run.out);
    expectWidth(screens[0], 80);
    free(screens[0]), free(screens[1]);
    freeRun(&run);
    // What can be broken is: commands of examples cannot.
    if (i == 10) continue;
    char *narrow = runOnScreen(words, 60, 1), *options = strstr(narrow, "options:"), *end = strstr(narrow, "examples:");
    if (end) *end = 0;
    assert_non_null(options);
    expectWidth(options, 60);
    free(narrow);
  }
}

/* Letters as they are seen: what is struck over is gone. */
static void stripStrokes(char *text) {
  char *to = text;
  for (const char *c = text; *c; ++c)
    if (c[1] == '\b') ++c;
    else *to++ = *c;
  *to = 0;
}

/* Manual pages as groff sets them: no line is wider than a screen, text is filled, commands are as they are typed. */
static void testManual(void **state) {
  (void)state;
  static const char *const pages[] = {"pinch",  "info", "check",  "scan",  "merge",     "volume",
                                      "inside", "make", "device", "bench", "completion"};
  if (system("command -v groff >/dev/null 2>&1") != 0) {
    print_message("skipped: groff is not installed\n");
    return;
  }
  for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); ++i) {
    ToolRun run = RUN("completion", "--man", pages[i]);
    expectRun(&run, 0, NULL);
    writeText("page.1", run.out);
    freeRun(&run);
    assert_int_equal(system("groff -ww -man -Tascii -P-c page.1 >page.txt 2>said.txt"), 0);
    char *text = takeFile("page.txt"), *said = takeFile("said.txt");
    assert_string_equal(said, "");
    stripStrokes(text);
    if (strcmp(pages[i], "check") == 0) {
      assert_non_null(strstr(text, "\n       pinch check shirt.obj\n              does it intersect itself?\n"));
      assert_null(strstr(text, "at rest or at a\n"));
    }
    if (strcmp(pages[i], "volume") == 0) assert_non_null(strstr(text, "--json | jq '.volume, .error'\n"));
    expectWidth(text, 80);
    free(text);
    free(said);
    unlink("page.1");
  }
}

/* What is brought by mistake: the message is broken on a terminal, and one line in a log. */
static void testErrorWidth(void **state) {
  (void)state;
  static const struct {
    const char *name, *head;
  } files[] = {{"a.abc", "Ogawa"},           {"b.usda", "#usda 1.0"}, {"c.blend", "BLENDER-v293"},
               {"d.glb.gz", "\x1f\x8b\x08"}, {"e.dae", "<COLLADA"},   {"f.fbx", "Kaydara FBX Binary"}};
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
    FILE *file = fopen(files[i].name, "wb");
    assert_non_null(file);
    fputs(files[i].head, file);
    fclose(file);
    const char *const words[] = {"scan", files[i].name, NULL};
    ToolRun run = runTool(words);
    expectRun(&run, 2, files[i].name);
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1);
    char *text = runOnScreen(words, 80, 2);
    // The same words in the same order.
    char *p = text, *q = run.err;
    while (*p && *q) {
      p += strspn(p, " \n"), q += strspn(q, " \n");
      for (; *p && *q && !strchr(" \n", *p); ++p, ++q) assert_int_equal(*p, *q);
    }
    assert_true(p[strspn(p, " \n")] == 0 && q[strspn(q, " \n")] == 0);
    expectWidth(text, 80);
    free(text);
    freeRun(&run);
    unlink(files[i].name);
  }
}

/* What every command understands. */
static void testCommon(void **state) {
  (void)state;
  static const char *const commands[] = {"info",   "check", "scan",   "merge", "volume",
                                         "inside", "make",  "device", "bench", "completion"};
  char version[64];
  snprintf(version, sizeof(version), "pinch %s\n", pnGetVersion());
  for (size_t i = 0; i < 10; ++i) {
    static const char *const asks[] = {"-V", "--version"};
    for (int k = 0; k < 2; ++k) {
      ToolRun run = RUN(commands[i], "no such file", asks[k]);
      expectRun(&run, 0, NULL);
      assert_string_equal(run.out, version);
      freeRun(&run);
    }
    ToolRun run = RUN(commands[i], "-h"), other = RUN(commands[i], "--help");
    expectRun(&run, 0, NULL);
    assert_string_equal(run.out, other.out);
    freeRun(&run), freeRun(&other);
  }
  // Behind the command or before it.
  static const char *const lines[][4] = {{"info", "boxes.glb", "-q"}, {"-q", "info", "boxes.glb"}};
  for (int i = 0; i < 2; ++i) {
    ToolRun run = runTool(lines[i]);
    expectRun(&run, 0, NULL);
    assert_string_equal(run.out, "");
    freeRun(&run);
  }
}

/* What the terminal shows, until it is this; false: the tool has ended before. */
static bool waitForWords(int screen, const char *words) {
  char text[1 << 16] = "";
  size_t used = 0;
  for (ssize_t got; used + 1 < sizeof(text) && (got = read(screen, text + used, sizeof(text) - 1 - used)) > 0;) {
    used += (size_t)got;
    text[used] = 0;
    if (strstr(text, words)) return true;
  }
  return false;
}

/* Needles in all directions past one middle, of which nearly none meet: looking at two such bodies takes a minute of a core. */
static pnMesh *makeNeedles(TestRandom *random) {
  enum { COUNT = 30000 };
  static float corners[9 * COUNT];
  static uint32_t triangles[3 * COUNT];
  for (uint32_t i = 0; i < COUNT; ++i) {
    float end[3], middle[3];
    for (int d = 0; d < 3; ++d) {
      end[d] = testFloat(random, -1, 1);
      middle[d] = testFloat(random, -0.25f, 0.25f);
    }
    for (uint32_t k = 0; k < 9; ++k)
      corners[9 * i + k] = middle[k % 3] + (k < 6 ? -end[k % 3] : end[k % 3]) + testFloat(random, -1e-6f, 1e-6f);
  }
  for (uint32_t i = 0; i < 3 * COUNT; ++i) triangles[i] = i;
  pnMesh *mesh;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = corners;
  def.vertexCount = 3 * COUNT;
  def.triangles = triangles;
  def.triangleCount = COUNT;
  testExpectOk(pnCreateMesh(&def, &mesh));
  return mesh;
}

/* A scan that is asked to end while it is busy. The line says that it was heard; asked once more it ends at once. */
static void testAskedToEnd(void **state) {
  (void)state;
  int screen = posix_openpt(O_RDWR | O_NOCTTY), input[2];
  assert_true(screen >= 0 && grantpt(screen) == 0 && unlockpt(screen) == 0 && pipe(input) == 0);
  int side = open(ptsname(screen), O_RDWR | O_NOCTTY);
  assert_true(side >= 0 && fcntl(input[1], F_SETFD, FD_CLOEXEC) == 0 && fcntl(screen, F_SETFD, FD_CLOEXEC) == 0);
  char *argv[] = {(char *)PINCH_TOOL, "scan", "-", "--json", NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, side, 2);
  pid_t child;
  assert_int_equal(posix_spawn(&child, PINCH_TOOL, &actions, NULL, argv, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(side), close(input[0]);
  FILE *stream = fdopen(input[1], "wb");
  assert_non_null(stream);
  TestRandom random = testRandom(3);
  putStreamHead(stream, 30, 2);
  for (int b = 0; b < 2; ++b) {
    pnMesh *needles = makeNeedles(&random);
    putStreamBody(stream, "a", needles);
    pnDestroyMesh(needles);
  }
  fflush(stream);
  assert_true(waitForWords(screen, "scanning"));
  assert_int_equal(kill(child, SIGTERM), 0);
  assert_true(waitForWords(screen, "ends when this is done, at once with another Ctrl-C"));
  assert_int_equal(kill(child, SIGTERM), 0);
  int status;
  assert_true(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  fclose(stream);
  close(screen);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(testWidth, enterScreen, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testColor, enterScreen, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testPlain, enterScreen, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testHelpWidth, enterScreen, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testManual, enterScreen, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testErrorWidth, enterScreen, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testCommon, enterScreen, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testAskedToEnd, enterScreen, leaveWithBoxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
