/* tool.h: runs the built tool as a user would, and keeps what it said. For tests; include support.h first. */
#ifndef PN_TEST_TOOL_H
#define PN_TEST_TOOL_H

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
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

/* The words end with null; the tool's own name is put in front. Free with freeRun. */
static ToolRun runTool(const char *const *words) {
  char *argv[256] = {(char *)PINCH_TOOL};
  int count = 1;
  for (; words[count - 1]; ++count) argv[count] = (char *)words[count - 1];
  int out = toolTemporary(), err = toolTemporary();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  pid_t child;
  assert_int_equal(posix_spawn(&child, PINCH_TOOL, &actions, NULL, argv, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  return (ToolRun){WIFEXITED(status) ? WEXITSTATUS(status) : -1, toolReadBack(out), toolReadBack(err)};
}

#define RUN(...) runTool((const char *const[]){__VA_ARGS__, NULL})

static void freeRun(ToolRun *run) {
  free(run->out);
  free(run->err);
}

/* The exit status, and words that the error output must have, separated by '|'; null: it must be empty. */
static void expectRun(const ToolRun *run, int status, const char *errorWords) {
  if (run->status != status) fail_msg("exit status %d, expected %d\n%s%s", run->status, status, run->out, run->err);
  if (!errorWords) {
    assert_string_equal(run->err, "");
    return;
  }
  char words[512];
  snprintf(words, sizeof(words), "%s", errorWords);
  for (char *word = strtok(words, "|"); word; word = strtok(NULL, "|")) {
    if (!strstr(run->err, word)) fail_msg("'%s' is not in: %s", word, run->err);
  }
}

#endif
