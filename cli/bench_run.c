/* bench_run.c: runs the experiments of `pinch bench`, each in a process of its own, and keeps what they leave.
 *
 * Rows of an experiment that ends well become FOLDER/NAME.csv, under that name only when they are whole. One that is interrupted or
 * fails leaves NAME.log and nothing else, and the next run begins with it again. */
#define _GNU_SOURCE
#include "bench.h"
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_WORDS 128
#define PATH_SIZE 4096

static volatile sig_atomic_t s_stopped;

static void onStop(int number) {
  (void)number;
  s_stopped = 1;
}

/* Which code an experiment measures. */
static const char *codeOf(const pnExperiment *e) {
  return e->images ? pn_codeOfImages : pn_codeOfTrees;
}

/* "full", "quick", "full, 5 passes": what must be the same for rows to be the same experiment. */
static void settingsOf(const pnBenchRun *run, const pnExperiment *e, char *out, size_t size) {
  int length = snprintf(out, size, "%s", run->quick ? "quick" : "full");
  if (run->repeat > 0 && e->passes) length += snprintf(out + length, size - (size_t)length, ", %u passes", run->repeat);
  if (run->threads > 0 && e->threads)
    length += snprintf(out + length, size - (size_t)length, ", %u threads", run->threads);
  for (uint32_t i = 0; strcmp(e->name, "scene") == 0 && i < run->scenes.count && (size_t)length < size; ++i)
    length += snprintf(out + length, size - (size_t)length, ", %s", run->scenes.items[i]);
}

static bool isDone(const pnBenchRun *run, const pnExperiment *e) {
  char path[PATH_SIZE], settings[512];
  snprintf(path, sizeof path, "%s/%s.csv", run->folder, e->name);
  settingsOf(run, e, settings, sizeof settings);
  pnFigures figures = {0};
  bool done = pn_readFigures(&figures, path) && figures.headCount == 1 && figures.heads[0].code &&
              strcmp(figures.heads[0].code, codeOf(e)) == 0 && figures.heads[0].settings &&
              strcmp(figures.heads[0].settings, settings) == 0;
  pn_freeFigures(&figures);
  return done;
}

/* ---------------------------------------------------------------- the child */

/* The program beside this one, or in PINCH_BENCH_DIR. False when it is in neither. */
static bool findProgram(const char *name, char *out, size_t size) {
  const char *folder = getenv("PINCH_BENCH_DIR");
  if (folder) {
    snprintf(out, size, "%s/%s", folder, name);
    if (access(out, X_OK) == 0) return true;
  }
  ssize_t length = readlink("/proc/self/exe", out, size - 1);
  if (length <= 0) return false;
  out[length] = '\0';
  char *slash = strrchr(out, '/');
  if (slash == NULL) return false;
  snprintf(slash + 1, size - (size_t)(slash + 1 - out), "%s", name);
  return access(out, X_OK) == 0;
}

/* The words of an experiment, cut at blanks in place, behind those that are there. */
static size_t addWords(char **words, size_t count, char *text) {
  for (char *word; (word = strsep(&text, " ")) != NULL && count < MOST_WORDS - 8;)
    if (*word != '\0') words[count++] = word;
  return count;
}

static pid_t startProgram(const pnBenchRun *run, const pnExperiment *e, char *program, char *rows, const char *log) {
  char text[2048], number[16], peer[64], *words[MOST_WORDS + PN_MAX_WORDS] = {program, "--rows", rows};
  snprintf(text, sizeof text, "%s", run->quick ? e->quick : e->words);
  size_t count = addWords(words, 3, text);
  /* the last word counts where one is given twice */
  if (run->repeat > 0 && e->passes) {
    snprintf(number, sizeof number, "%u", run->repeat);
    words[count++] = (char *)e->passes;
    words[count++] = number;
  }
  if (run->threads > 0 && e->threads) {
    snprintf(peer, sizeof peer, "%s%u", e->threads, run->threads);
    words[count++] = "--peer";
    words[count++] = peer;
  }
  for (uint32_t i = 0; strcmp(e->name, "scene") == 0 && i < run->scenes.count; ++i)
    words[count++] = (char *)run->scenes.items[i];
  words[count] = NULL;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    int file = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || dup2(file, 1) < 0 || dup2(file, 2) < 0) _exit(127);
    execv(program, words);
    _exit(127);
  }
  return child;
}

/* ---------------------------------------------------------------- one experiment */

/* Seconds that are left by the list, of the experiments from here on. */
static uint32_t secondsLeft(const pnBenchRun *run, size_t from) {
  uint32_t seconds = 0;
  for (size_t i = from; i < run->chosenCount; ++i) seconds += pn_secondsOf(run->chosen[i], run->quick);
  return seconds;
}

static void showLine(const pnBenchRun *run, size_t i, double since) {
  if (!isatty(2) || pn_isQuiet()) return;
  uint32_t left = secondsLeft(run, i);
  left = left > since ? left - (uint32_t)since : 0;
  fprintf(stderr, "\r\033[K[%zu of %zu] %s: %.0f s, about %u:%02u left", i + 1, run->chosenCount, run->chosen[i]->name,
          since, left / 60, left % 60);
}

/* Waits for the child, with a line that moves; its exit status, or -1 when it was stopped. */
static int waitFor(const pnBenchRun *run, size_t i, pid_t child) {
  double start = pnGetTime();
  int status = 0;
  for (;;) {
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (s_stopped || (ended < 0 && errno != EINTR)) {
      kill(child, SIGTERM);
      waitpid(child, &status, 0);
      break;
    }
    showLine(run, i, pnGetTime() - start);
    struct timespec pause = {0, 200000000};
    nanosleep(&pause, NULL);
  }
  if (isatty(2) && !pn_isQuiet()) fprintf(stderr, "\r\033[K");
  return s_stopped || !WIFEXITED(status) ? -1 : WEXITSTATUS(status);
}

/* The rows under their final name, with what they are above them. */
static bool keepRows(const pnBenchRun *run, const pnExperiment *e, const char *rows, const char *path, double seconds) {
  char part[PATH_SIZE + 8], settings[512], day[32], line[1024];
  snprintf(part, sizeof part, "%s.part", path);
  settingsOf(run, e, settings, sizeof settings);
  time_t now = time(NULL);
  strftime(day, sizeof day, "%Y-%m-%d", gmtime(&now));
  FILE *in = fopen(rows, "r"), *out = fopen(part, "w");
  if (out)
    fprintf(out, "# experiment: %s\n# taken: %s\n# settings: %s\n# seconds: %.1f\n# code: %s\n", e->name, day, settings,
            seconds, codeOf(e));
  bool isHeaded = false;
  while (in && out && fgets(line, sizeof line, in)) {
    if (*line != '#' && !isHeaded) fprintf(out, "experiment,scene,method,measure,step,value\n"), isHeaded = true;
    fputs(line, out);
  }
  bool good = in && out && !ferror(in);
  if (in) fclose(in);
  if (out) good = fclose(out) == 0 && good;
  good = good && rename(part, path) == 0;
  if (!good) fprintf(stderr, "pinch bench: cannot write %s: %s\n", path, strerror(errno));
  return good;
}

/* The end of a log, for whoever wants to know what went wrong. */
static void showLog(const char *log) {
  FILE *file = fopen(log, "r");
  char lines[5][256] = {{0}};
  size_t count = 0;
  while (file && fgets(lines[count % 5], sizeof lines[0], file)) ++count;
  for (size_t i = count > 5 ? count - 5 : 0; i < count; ++i) fprintf(stderr, "  %s", lines[i % 5]);
  if (file) fclose(file);
}

static bool runOne(const pnBenchRun *run, size_t i) {
  const pnExperiment *e = run->chosen[i];
  char program[PATH_SIZE], path[PATH_SIZE], rows[PATH_SIZE + 8], log[PATH_SIZE];
  snprintf(path, sizeof path, "%s/%s.csv", run->folder, e->name);
  snprintf(rows, sizeof rows, "%s.rows", path);
  snprintf(log, sizeof log, "%s/%s.log", run->folder, e->name);
  if (!findProgram(e->program, program, sizeof program)) {
    fprintf(
        stderr,
        "pinch bench: %s is not built. In the repository: scripts/bench build, then build/bench/bin/pinch bench; or\n"
        "set PINCH_BENCH_DIR to the folder that has it\n",
        e->program);
    return false;
  }
  unlink(rows);
  double start = pnGetTime();
  pid_t child = startProgram(run, e, program, rows, log);
  int status = child > 0 ? waitFor(run, i, child) : -1;
  bool good = status == 0 && keepRows(run, e, rows, path, pnGetTime() - start);
  unlink(rows);
  if (status != 0 && !s_stopped) {
    fprintf(stderr, "pinch bench: %s failed (%s); the end of %s:\n", e->name,
            status == 1 ? "an answer was wrong, or a scene is missing" : "it could not run", log);
    showLog(log);
  }
  return good;
}

bool pn_runExperiments(const pnBenchRun *run) {
  if (run->chosenCount == 0) return true;
  if (mkdir(run->folder, 0777) != 0 && errno != EEXIST) {
    fprintf(stderr, "pinch bench: cannot make the folder %s: %s\n", run->folder, strerror(errno));
    return false;
  }
  struct sigaction stop = {.sa_handler = onStop}, before[2];
  sigaction(SIGINT, &stop, &before[0]);
  sigaction(SIGTERM, &stop, &before[1]);
  bool good = true;
  for (size_t i = 0; i < run->chosenCount && !s_stopped; ++i)
    if (run->again || !isDone(run, run->chosen[i])) good = runOne(run, i) && good;
  sigaction(SIGINT, &before[0], NULL);
  sigaction(SIGTERM, &before[1], NULL);
  if (s_stopped)
    fprintf(stderr, "pinch bench: stopped; what is done is in %s, and the same command goes on from there\n",
            run->folder);
  return good && !s_stopped;
}
