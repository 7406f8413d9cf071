/* fault_shim.c: a library to be preloaded into the tool (LD_PRELOAD), so that its files and threads fail as a test wishes.
 *
 *   PINCH_FAULT=OPERATION:N:WHAT   the N-th call of read, write, close, rename, open or thread (N 0: every one) ends with the
 *                                  error number WHAT; "short": a read takes at most 7 bytes; "kill": the program ends there
 *   PINCH_FAULT_LOG=FILE           is made when a fault was put in
 *
 * stdio calls the system inside the C library, where nothing can be put in between: files are opened here as streams of our own
 * (fopencookie), whose reads and writes go through this file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN, READ, WRITE, CLOSE, RENAME, THREAD, OPERATION_COUNT };
static const char *const s_names[OPERATION_COUNT] = {"open", "read", "write", "close", "rename", "thread"};
static int s_calls[OPERATION_COUNT];

static void note(void) {
  const char *path = getenv("PINCH_FAULT_LOG");
  int handle = path ? open(path, O_CREAT | O_WRONLY, 0600) : -1;
  if (handle >= 0) close(handle);
}

/* Is this call to fail? Then errno says how. *limit: how many bytes it may take. */
static int fails(int operation, size_t *limit) {
  const char *wish = getenv("PINCH_FAULT");
  size_t length = strlen(s_names[operation]);
  if (!wish || strncmp(wish, s_names[operation], length) != 0 || wish[length] != ':') return 0;
  char *what;
  long which = strtol(wish + length + 1, &what, 10);
  if (++s_calls[operation] != which && which != 0) return 0;
  note();
  if (strcmp(what, ":kill") == 0) raise(SIGKILL);
  if (strcmp(what, ":short") == 0) {
    if (limit && *limit > 7) *limit = 7;
    return 0;
  }
  errno = atoi(what + 1);
  return 1;
}

/* ---------------------------------------------------------------- streams */

static ssize_t readSome(void *cookie, char *bytes, size_t size) {
  return fails(READ, &size) ? -1 : read((int)(intptr_t)cookie, bytes, size);
}

/* A cookie says 0 for a write that failed, and may say less than it was given. */
static ssize_t writeSome(void *cookie, const char *bytes, size_t size) {
  if (fails(WRITE, &size)) return 0;
  ssize_t written = write((int)(intptr_t)cookie, bytes, size);
  return written < 0 ? 0 : written;
}

static int seekTo(void *cookie, off64_t *at, int from) {
  off_t end = lseek((int)(intptr_t)cookie, (off_t)*at, from);
  if (end < 0) return -1;
  *at = end;
  return 0;
}

static int closeIt(void *cookie) {
  int bad = fails(CLOSE, NULL), why = errno, status = close((int)(intptr_t)cookie);
  if (bad) errno = why;
  return bad ? -1 : status;
}

FILE *fopen(const char *path, const char *mode) {
  if (fails(OPEN, NULL)) return NULL;
  int writes = mode[0] == 'w';
  int handle = open(path, writes ? O_CREAT | O_WRONLY | O_TRUNC | (strchr(mode, 'x') ? O_EXCL : 0) : O_RDONLY, 0666);
  if (handle < 0) return NULL;
  return fopencookie((void *)(intptr_t)handle, mode, (cookie_io_functions_t){readSome, writeSome, seekTo, closeIt});
}
FILE *fopen64(const char *path, const char *mode) {
  return fopen(path, mode);
}

/* ---------------------------------------------------------------- others */

int rename(const char *from, const char *to) {
  int (*real)(const char *, const char *);
  *(void **)&real = dlsym(RTLD_NEXT, "rename");
  return fails(RENAME, NULL) ? -1 : real(from, to);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  return fails(THREAD, NULL) ? EAGAIN : real(thread, attributes, body, argument);
}
