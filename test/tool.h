/* tool.h: runs the built tool as a user would, in a folder of its own, and keeps what it said. For tests; include support.h
 * first. */
#ifndef PN_TEST_TOOL_H
#define PN_TEST_TOOL_H

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* What a run of the tool left. */
typedef struct ToolRun {
  int status; /* exit status; -1 when it died */
  char *out, *err;
} ToolRun;

/* Reads everything from a file that was written to, from its start; ends with a zero byte. */
static char *toolReadBack(int handle) {
  off_t size = lseek(handle, 0, SEEK_END);
  char *text = malloc((size_t)size + 1);
  assert_non_null(text);
  assert_int_equal(pread(handle, text, (size_t)size, 0), size);
  text[size] = 0;
  close(handle);
  return text;
}

static int toolTemporary(void) {
  char name[] = "pinch_tool_XXXXXX";
  int handle = mkstemp(name);
  assert_true(handle >= 0);
  unlink(name);
  return handle;
}

/* Looking for leaks at the exit of every single run takes longer than all else; a test asks for it where it wants it. The
 * setting reaches the tool only: this program has read its own already. */
static void lookForLeaks(bool yes) {
  setenv("ASAN_OPTIONS", yes ? "detect_leaks=1" : "detect_leaks=0", 1);
}

/* ---------------------------------------------------------------- running */

/* A run that has been started, and the files its words go to. */
typedef struct ToolStart {
  pid_t child;
  int out, err;
} ToolStart;

/* The words end with null; the tool's own name is put in front. End with endTool. */
static ToolStart startTool(const char *const *words) {
  char *argv[256] = {(char *)PINCH_TOOL};
  for (int i = 0; words[i]; ++i) argv[i + 1] = (char *)words[i];
  ToolStart start = {.out = toolTemporary(), .err = toolTemporary()};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, start.out, 1);
  posix_spawn_file_actions_adddup2(&actions, start.err, 2);
  assert_int_equal(posix_spawn(&start.child, PINCH_TOOL, &actions, NULL, argv, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  return start;
}

/* Waits for it. Free with freeRun. */
static ToolRun endTool(const ToolStart *start) {
  int status;
  assert_int_equal(waitpid(start->child, &status, 0), start->child);
  return (ToolRun){WIFEXITED(status) ? WEXITSTATUS(status) : -1, toolReadBack(start->out), toolReadBack(start->err)};
}

/* Waits until the file has so many bytes, or the tool has come to its end: moments that are the same on a busy machine. */
static inline void waitForBytes(const ToolStart *start, const char *path, off_t bytes) {
  struct stat info;
  siginfo_t ended = {0};
  while ((stat(path, &info) != 0 || info.st_size < bytes) && ended.si_pid == 0) {
    usleep(1000);
    assert_int_equal(waitid(P_PID, (id_t)start->child, &ended, WEXITED | WNOHANG | WNOWAIT), 0);
  }
}

static ToolRun runTool(const char *const *words) {
  ToolStart start = startTool(words);
  return endTool(&start);
}

#define RUN(...) runTool((const char *const[]){__VA_ARGS__, NULL})

static void freeRun(ToolRun *run) {
  free(run->out);
  free(run->err);
}

/* All words in one line with blanks between them; the exit status comes back, and what was said is in lastRun until the
 * next call. */
static ToolRun lastRun;

static inline int runLine(const char *line) {
  char text[2048];
  const char *words[64] = {NULL};
  int length = snprintf(text, sizeof(text), "%s", line), count = 0;
  assert_in_range(length, 1, (int)sizeof(text) - 1);
  for (char *word = strtok(text, " "); word && count < 63; word = strtok(NULL, " ")) words[count++] = word;
  freeRun(&lastRun);
  lastRun = runTool(words);
  return lastRun.status;
}

/* The exit status, and words that the error output must have, separated by '|'; null: it must be empty. */
static inline void expectRun(const ToolRun *run, int status, const char *errorWords) {
  if (run->status != status) fail_msg("exit status %d, expected %d\n%s%s", run->status, status, run->out, run->err);
  if (!errorWords) {
    assert_string_equal(run->err, "");
    return;
  }
  char words[512];
  snprintf(words, sizeof(words), "%s", errorWords);
  for (char *word = strtok(words, "|"); word; word = strtok(NULL, "|"))
    if (!strstr(run->err, word)) fail_msg("'%s' is not in: %s", word, run->err);
}

/* The same of words in one line; what was said is in lastRun. */
static inline void expectLine(const char *line, int status, const char *errorWords) {
  runLine(line);
  expectRun(&lastRun, status, errorWords);
}

/* ---------------------------------------------------------------- files */

/* Setup and teardown, of a test or a group: it runs in a new folder, which must be empty again at the end. */
static char toolFolder[32];

static inline int enterFolder(void **state) {
  (void)state;
  lookForLeaks(false);
  strcpy(toolFolder, "pinch_tool_XXXXXX");
  return mkdtemp(toolFolder) && chdir(toolFolder) == 0 ? 0 : -1;
}

static inline int leaveFolder(void **state) {
  (void)state;
  freeRun(&lastRun);
  lastRun = (ToolRun){0};
  return chdir("..") == 0 ? rmdir(toolFolder) : -1;
}

static inline void writeText(const char *path, const char *text) {
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  fputs(text, stream);
  assert_int_equal(fclose(stream), 0);
}

/* The whole file, and the file is gone. Free the text. */
static inline char *takeFile(const char *path) {
  int handle = open(path, O_RDONLY);
  if (handle < 0) fail_msg("%s is not there", path);
  unlink(path);
  return toolReadBack(handle);
}

#endif
