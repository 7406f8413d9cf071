/* test_cli_faults.c: the tool when files and threads fail (fault_shim.c, preloaded): short reads, interrupted calls, a
 * disk that is broken or full, a pipe that nobody reads, names that cannot be taken, threads that do not start, and an end
 * without warning at every write. Either the answer is the right one, or a message says that there is none; a file under
 * its final name is always a whole one, the old or the new; and the next run leaves nothing of a killed one behind.
 * ctest labels: slow */
#include "support.h"

#include "tool.h"

#include "scan_make.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>

#define MOST_FILES 8

/* What a command writes, and what is in it when nothing fails. */
typedef struct Command {
  const char *words[24];
  const char *files[MOST_FILES];
  int status;
  char *out;
  char *contents[MOST_FILES];
} Command;

static Command s_commands[] = {
    {.words = {"scan", "boxes.glb", "--fps", "10", "--json", "--threads", "2", "--html", "r.html", "--csv", "c.csv",
               "--pairs", "p.csv", "--junit", "j.xml", "--sarif", "s.json", "--write-baseline", "b.json"},
     .files = {"r.html", "c.csv", "p.csv", "j.xml", "s.json", "b.json"},
     .status = 1},
    {.words = {"check", "one.ply", "two.obj", "--json", "--pairs", "p.csv"}, .files = {"p.csv"}, .status = 1},
    {.words = {"info", "one.ply", "--json"}, .status = 0},
};

static char *contentOf(const char *path) {
  int handle = open(path, O_RDONLY);
  return handle < 0 ? NULL : toolReadBack(handle);
}

/* What changes from run to run: times, and the place of a JSON's own numbers. Such a line is cut at its colon. */
static void forgetTimes(char *text) {
  for (char *at = text; at && (at = strstr(at, "econds\"")) != NULL;) {
    at += 7;
    for (char *c = at; *c && *c != '\n' && *c != ','; ++c) *c = ' ';
  }
}

static uint32_t leftParts(void) {
  uint32_t count = 0;
  DIR *folder = opendir(".");
  assert_non_null(folder);
  for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
    count += strstr(entry->d_name, ".part") != NULL;
  closedir(folder);
  return count;
}

static ToolRun runWith(const Command *command, const char *fault) {
  remove("hit");
  if (fault) setenv("PINCH_FAULT", fault, 1);
  setenv("PINCH_FAULT_LOG", "hit", 1);
  setenv("LD_PRELOAD", PINCH_FAULT_SHIM, 1);
  ToolRun run = runTool(command->words);
  unsetenv("LD_PRELOAD");
  unsetenv("PINCH_FAULT");
  forgetTimes(run.out);
  return run;
}

static bool sameFile(const Command *command, int i, const char *old) {
  char *now = contentOf(command->files[i]);
  bool whole = now && strcmp(now, command->contents[i]) == 0, kept = old ? now && strcmp(now, old) == 0 : !now;
  free(now);
  return whole || kept;
}

#define OLD "what was there before\n"

/* Puts old files in place of some, takes others away. */
static void prepare(const Command *command) {
  for (int i = 0; command->files[i]; ++i)
    if (i % 2) writeText(command->files[i], OLD);
    else remove(command->files[i]);
}

static void expectWhole(const Command *command, const char *fault) {
  for (int i = 0; command->files[i]; ++i)
    if (!sameFile(command, i, i % 2 ? OLD : NULL)) fail_msg("%s: '%s' is not whole", fault, command->files[i]);
}

/* One fault. Returns false when the command never came to it. */
static bool endure(const Command *command, const char *fault) {
  prepare(command);
  ToolRun run = runWith(command, fault);
  bool hit = access("hit", F_OK) == 0;
  bool same = run.status == command->status && strcmp(run.out, command->out) == 0;
  if (!same && (run.status != 2 || run.err[0] == 0))
    fail_msg("%s: status %d, and it said '%s%s'", fault, run.status, run.out, run.err);
  expectWhole(command, fault);
  if (same)
    for (int i = 0; command->files[i]; ++i) assert_true(sameFile(command, i, ""));
  if (leftParts() > 0) fail_msg("%s: a temporary file was left", fault);
  freeRun(&run);
  return hit;
}

static void everyCallMayFail(void **state) {
  (void)state;
  static const struct {
    const char *operation;
    int errors[4];
  } cases[] = {{"open", {EMFILE, EACCES}}, {"read", {EIO, EINTR}},           {"write", {EIO, EINTR, ENOSPC, EPIPE}},
               {"close", {EIO, ENOSPC}},   {"rename", {EIO, EACCES, EINTR}}, {"thread", {EAGAIN}}};
  uint32_t faults = 0;
  for (size_t c = 0; c < sizeof s_commands / sizeof *s_commands; ++c)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
      for (int e = 0; e < 4 && cases[i].errors[e]; ++e)
        // some tens of calls; of many writes of one kind every so many
        for (int n = 1, step = 1; n<2000; n += step, step = n> 24 ? 13 : 1) {
          char fault[64];
          snprintf(fault, sizeof fault, "%s:%d:%d", cases[i].operation, n, cases[i].errors[e]);
          if (!endure(&s_commands[c], fault)) break;
          ++faults;
        }
  assert_true(faults > 60);
}

/* Reads of seven bytes at a time are slow, and nothing else; nor are threads that never start. (Short writes are the C
 * library's to finish, below where a fault can be put in.) */
static void shortCallsChangeNothing(void **state) {
  (void)state;
  static const char *const faults[] = {"read:0:short", "thread:0:11"};
  for (size_t c = 0; c < sizeof s_commands / sizeof *s_commands; ++c)
    for (int f = 0; f < 2; ++f) {
      prepare(&s_commands[c]);
      ToolRun run = runWith(&s_commands[c], faults[f]);
      if (run.status != s_commands[c].status) fail_msg("%s: status %d: %s", faults[f], run.status, run.err);
      assert_string_equal(run.out, s_commands[c].out);
      for (int i = 0; s_commands[c].files[i]; ++i) assert_true(sameFile(&s_commands[c], i, ""));
      freeRun(&run);
    }
}

/* The end without warning, at every write, close and rename, and at moments of the clock. What is under its final name is
 * whole, and the next run removes what was left. */
static void killedRunsLeaveWholeFiles(void **state) {
  (void)state;
  const Command *command = &s_commands[0];
  static const char *const operations[] = {"write", "close", "rename"};
  uint32_t killed = 0, left = 0;
  for (int o = 0; o < 3; ++o)
    for (int n = 1; n < 200; n += o == 0 && n > 10 ? 7 : 1) {
      char fault[64];
      snprintf(fault, sizeof fault, "%s:%d:kill", operations[o], n);
      prepare(command);
      ToolRun run = runWith(command, fault);
      bool hit = access("hit", F_OK) == 0;
      assert_true(run.status == (hit ? -1 : command->status));
      expectWhole(command, fault);
      freeRun(&run);
      if (!hit) break;
      ++killed, left += leftParts();
    }
  TestRandom random = testRandom(7);
  for (int i = 0; i < 40; ++i) {
    prepare(command);
    ToolStart start = startTool(command->words);
    usleep(testBelow(&random, 60000));
    kill(start.child, SIGKILL);
    ToolRun run = endTool(&start);
    expectWhole(command, "by the clock");
    freeRun(&run);
  }
  assert_true(killed > 15 && left > 10);
  /* by the clock the last one may have come to its end: this one does not */
  prepare(command);
  ToolRun run = runWith(command, "rename:1:kill");
  freeRun(&run);
  assert_true(leftParts() > 0);
  run = runWith(command, NULL);
  assert_int_equal(run.status, command->status);
  assert_int_equal(leftParts(), 0);
  freeRun(&run);
}

static int begin(void **state) {
  if (enterFolder(state) != 0) return -1;
  // the sanitizer wants to be first among libraries, and need not be
  setenv("ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0", 1);
  saveBoxes("boxes.glb", 2);
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(2, 1, &mesh));
  testExpectOk(pnSaveMesh("one.ply", pnMesh_GetVertices(mesh), pnMesh_GetVertexCount(mesh), pnMesh_GetTriangles(mesh),
                          pnMesh_GetTriangleCount(mesh)));
  pnDestroyMesh(mesh);
  testExpectOk(pnMakeBox((pnVec3){0.8f, 0.8f, 0.8f}, 3, &mesh));
  testExpectOk(pnSaveMesh("two.obj", pnMesh_GetVertices(mesh), pnMesh_GetVertexCount(mesh), pnMesh_GetTriangles(mesh),
                          pnMesh_GetTriangleCount(mesh)));
  pnDestroyMesh(mesh);
  for (size_t c = 0; c < sizeof s_commands / sizeof *s_commands; ++c) {
    Command *command = &s_commands[c];
    ToolRun run = runWith(command, NULL);
    assert_int_equal(run.status, command->status);
    command->out = run.out;
    free(run.err);
    for (int i = 0; command->files[i]; ++i) assert_non_null(command->contents[i] = contentOf(command->files[i]));
  }
  return 0;
}

static int end(void **state) {
  static const char *const made[] = {"boxes.glb", "one.ply", "two.obj", "hit"};
  for (int i = 0; i < 4; ++i) remove(made[i]);
  for (size_t c = 0; c < sizeof s_commands / sizeof *s_commands; ++c) {
    for (int i = 0; s_commands[c].files[i]; ++i) {
      remove(s_commands[c].files[i]);
      free(s_commands[c].contents[i]);
    }
    free(s_commands[c].out);
  }
  return leaveFolder(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(everyCallMayFail), cmocka_unit_test(shortCallsChangeNothing),
                                     cmocka_unit_test(killedRunsLeaveWholeFiles)};
  return cmocka_run_group_tests(tests, begin, end);
}
