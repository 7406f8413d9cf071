/* out_file.c: a file that appears whole or not at all.
 *
 * It grows under a temporary name of its own, FILE.HOST-PROCESS-NUMBER.part, and takes its place at the end: however many threads and
 * programs write FILE at the same time, it is always the whole answer of one of them. A program that was killed leaves such a file behind;
 * whoever writes FILE next on the same machine, and sees that the process is gone, removes it. */
#include "pinch/io.h"

#include "reader.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pnOutFile {
  FILE *stream;
  char *path;      /* the file itself: links are followed, so that a link stays a link */
  char *temporary; /* null: written directly */
  int firstError;  /* errno of the first write that failed */
  bool standard;   /* the stream is stdout, and stays open */
};

/* Where the bytes go in the end. Null when out of memory. */
static char *followLinks(const char *path) {
  char real[PATH_MAX];
  const char *end = realpath(path, real) ? real : path;
  return pn_ioCopyText(end, strlen(end));
}

/* ---------------------------------------------------------------- temporary files */

/* Machines that share a folder have processes with the same numbers. */
static void nameHost(char *out, size_t size) {
  if (gethostname(out, size) != 0 || out[0] == 0) snprintf(out, size, "host");
  out[size - 1] = 0;
}

/* The process that a temporary file of FILE (its name without folder) belongs to, on this machine; 0: it is none. */
static long ownerOf(const char *entry, const char *name, const char *host) {
  size_t nameLength = strlen(name), hostLength = strlen(host);
  if (strncmp(entry, name, nameLength) != 0 || entry[nameLength] != '.') return 0;
  entry += nameLength + 1;
  if (strncmp(entry, host, hostLength) != 0 || entry[hostLength] != '-') return 0;
  entry += hostLength + 1;
  char *end;
  long process = *entry >= '1' && *entry <= '9' ? strtol(entry, &end, 10) : 0;
  if (process <= 0 || process > INT_MAX || *end != '-') return 0;
  size_t digits = strspn(end + 1, "0123456789");
  return digits > 0 && strcmp(end + 1 + digits, ".part") == 0 ? process : 0;
}

/* Removes what programs that were killed have left of this file. */
static void removeStale(const char *path, const char *host) {
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  char folder[PATH_MAX];
  int length = snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
  DIR *list = length > 0 && length < (int)sizeof(folder) ? opendir(folder) : NULL;
  for (const struct dirent *entry = list ? readdir(list) : NULL; entry; entry = readdir(list)) {
    long process = ownerOf(entry->d_name, name, host);
    bool gone = process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH;
    if (gone) unlinkat(dirfd(list), entry->d_name, 0);
  }
  if (list) closedir(list);
}

/* Makes the temporary file, by a name that nobody else has: every one of this process has its number, and where one that was killed long ago
 * had our process's number too, and left its file, the next number is taken. No stream: errno says why. */
static void openTemporary(pnOutFile *file, size_t size, const char *host) {
  static _Atomic uint32_t lastNumber;
  do {
    uint32_t number = atomic_fetch_add(&lastNumber, 1) + 1;
    snprintf(file->temporary, size, "%s.%s-%ld-%u.part", file->path, host, (long)getpid(), number);
    file->stream = fopen(file->temporary, "wbx");
  } while (!file->stream && errno == EEXIST);
}

static void freeOutFile(pnOutFile *file) {
  pn_ioFree(file->path);
  pn_ioFree(file->temporary);
  pn_ioFree(file);
}

pnResult pnOpenOutFile(const char *path, pnOutFile **outFile) {
  *outFile = NULL;
  pnOutFile *file = pn_ioAlloc(sizeof(pnOutFile));
  if (!file) goto memory;
  memset(file, 0, sizeof(*file));
  file->standard = strcmp(path, "-") == 0;
  file->path = file->standard ? pn_ioCopyText("standard output", 15) : followLinks(path);
  if (!file->path) goto memory;
  if (file->standard) {
    file->stream = stdout;
    *outFile = file;
    return PN_OK;
  }

  // Only a file can be replaced; what is a pipe or device must stay one. Taking a file's place needs no right to write to it; whoever took
  // that right away meant it.
  struct stat status;
  bool there = stat(path, &status) == 0, replace = !there || S_ISREG(status.st_mode);
  bool allowed = !there || access(path, W_OK) == 0;
  if (replace && allowed) {
    char host[72];
    nameHost(host, sizeof(host));
    size_t size = strlen(file->path) + strlen(host) + 48;
    file->temporary = pn_ioAlloc(size);
    if (!file->temporary) goto memory;
    removeStale(file->path, host);
    openTemporary(file, size, host);
  } else if (allowed) {
    file->stream = fopen(file->path, "wb");
  }
  // Who may read the old file may read the new one, and nobody else.
  if (file->stream && there && replace) fchmod(fileno(file->stream), status.st_mode & 07777);
  if (!file->stream) {
    pnResult result = pnFail(PN_ERROR_FILE, "%s: cannot be written: %s", path, strerror(errno));
    freeOutFile(file);
    return result;
  }
  *outFile = file;
  return PN_OK;

memory:
  if (file) freeOutFile(file);
  return pnFail(PN_ERROR_MEMORY, "%s: out of memory while opening it", path);
}

void pnOutFile_Write(pnOutFile *file, const void *bytes, size_t byteCount) {
  if (fwrite(bytes, 1, byteCount, file->stream) != byteCount && file->firstError == 0) file->firstError = errno;
}

void pnOutFile_Print(pnOutFile *file, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (vfprintf(file->stream, format, arguments) < 0 && file->firstError == 0) file->firstError = errno;
  va_end(arguments);
}

static pnResult failWrite(const pnOutFile *file) {
  return pnFail(PN_ERROR_FILE, "%s: cannot be written: %s", file->path, strerror(file->firstError));
}

pnResult pnOutFile_Flush(pnOutFile *file) {
  if (fflush(file->stream) != 0 && file->firstError == 0) file->firstError = errno;
  return file->firstError == 0 ? PN_OK : failWrite(file);
}

pnResult pnCloseOutFile(pnOutFile *file, bool keep) {
  if ((file->standard ? fflush : fclose)(file->stream) != 0 && file->firstError == 0) file->firstError = errno;
  if (keep && file->firstError == 0 && file->temporary && rename(file->temporary, file->path) != 0)
    file->firstError = errno;
  bool failed = keep && file->firstError != 0;
  if (file->temporary && (failed || !keep)) remove(file->temporary);
  pnResult result = failed ? failWrite(file) : PN_OK;
  freeOutFile(file);
  return result;
}
