/* scan_batch.c: many scans in one: `pinch scan --list FILES`: each file by itself, with the same options. A file that cannot be scanned
 * is a row that says why, and the others go on.
 *
 * Rows are told in the order of the list, each as soon as it and all before it are done: as a line of JSON, or of text. With --resume
 * each goes into a journal as well: a line of JSON with the file's size and date beside the row, so that a batch that was killed
 * goes on, and one whose files have changed scans those again. Ranks of MPI share the files; rank 0 alone knows the journal, and deals out
 * the files that are not in it by their numbers in the list. */
#include "scan_batch.h"

#include "command.h"
#include "load.h"
#include "out.h"
#include "rank.h"
#include "scan_deal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------- the list */

typedef struct Files {
  char **names;
  uint32_t count, capacity;
} Files;

static bool addName(Files *files, const char *name, size_t length) {
  if (files->count == files->capacity) {
    uint32_t capacity = files->capacity ? 2 * files->capacity : 64;
    char **names = realloc(files->names, capacity * sizeof(char *));
    if (!names) return false;
    files->names = names;
    files->capacity = capacity;
  }
  files->names[files->count] = strndup(name, length);
  return files->names[files->count++] != NULL;
}

static void freeFiles(Files *files) {
  for (uint32_t i = 0; i < files->count; ++i) free(files->names[i]);
  free(files->names);
}

/* A name in each line; empty ones and those that begin with # are left out. */
static pnResult readList(const char *path, Files *files) {
  FILE *file = fopen(path, "r");
  if (!file) return pnFail(PN_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
  char *line = NULL;
  size_t capacity = 0;
  bool good = true;
  for (ssize_t length = getline(&line, &capacity, file); length >= 0 && good;
       length = getline(&line, &capacity, file)) {
    while (length > 0 && strchr("\r\n \t", line[length - 1])) --length;
    if (length > 0 && line[0] != '#') good = addName(files, line, (size_t)length);
  }
  free(line);
  fclose(file);
  return good ? PN_OK : pnFail(PN_ERROR_MEMORY, "%s: out of memory", path);
}

static int compareNames(const void *left, const void *right) {
  return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Animated files of a folder and the folders in it, by name. */
static pnResult readFolder(const char *path, uint32_t depth, Files *files) {
  DIR *list = opendir(path);
  if (!list) return pnFail(PN_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
  pnResult result = PN_OK;
  for (struct dirent *entry = readdir(list); entry && result == PN_OK; entry = readdir(list)) {
    char name[4096];
    struct stat info;
    if (entry->d_name[0] == '.') continue;
    int length = snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
    if (length >= (int)sizeof(name) || stat(name, &info) != 0) continue;
    // Links may go round in a circle.
    if (S_ISDIR(info.st_mode) && depth < 32) result = readFolder(name, depth + 1, files);
    else if (S_ISREG(info.st_mode) && pnCanLoadAnimFile(name) && !addName(files, name, (size_t)length))
      result = pnFail(PN_ERROR_MEMORY, "%s: out of memory", path);
  }
  closedir(list);
  return result;
}

static pnResult findFiles(const char *path, Files *files) {
  struct stat info;
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
    pnResult result = readFolder(path, 0, files);
    if (result == PN_OK && files->count > 1) qsort(files->names, files->count, sizeof(char *), compareNames);
    if (result == PN_OK && files->count == 0)
      return pnFail(PN_ERROR_COUNT, "%s: there is no animated file in this folder", path);
    return result;
  }
  pnResult result = readList(path, files);
  return result == PN_OK && files->count == 0 ? pnFail(PN_ERROR_COUNT, "%s: names no file", path) : result;
}

/* ---------------------------------------------------------------- the journal */

typedef struct Journal {
  FILE *file;
  json_t *known; /* by name: size, date, row */
} Journal;

/* What a file was when it was scanned: another size or date is another file. */
static void stampOf(const char *name, json_int_t *outSize, json_int_t *outDate) {
  struct stat info;
  bool there = stat(name, &info) == 0;
  *outSize = there ? (json_int_t)info.st_size : -1;
  *outDate = there ? (json_int_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec : 0;
}

static json_t *headOf(const pnScanOptions *options) {
  pnBytes text = {0};
  pn_identifyOptions(options, &text);
  json_t *head = json_pack("{s:s, s:s, s:o}", "format", "pinch journal 1", "pinch", pnGetVersion(), "options",
                           pn_jsonText(text.failed ? "" : (char *)text.data));
  pn_bytesFree(&text);
  return head;
}

/* Whole lines count; what is behind the last one is cut off. */
static pnResult readJournal(const char *path, json_t *head, Journal *journal) {
  char *line = NULL;
  size_t capacity = 0;
  off_t good = 0;
  pnResult result = PN_OK;
  for (ssize_t length = getline(&line, &capacity, journal->file); length > 0 && line[length - 1] == '\n';
       length = getline(&line, &capacity, journal->file)) {
    json_t *entry = json_loadb(line, (size_t)length, JSON_REJECT_DUPLICATES, NULL);
    const char *name = json_string_value(json_object_get(entry, "file"));
    bool first = good == 0, row = name && json_is_object(json_object_get(entry, "row"));
    if (first && !json_equal(entry, head))
      result = pnFail(PN_ERROR_ARGUMENT,
                      "%s: is not a journal of this batch: other options, another version, or something else", path);
    if (row && !first) json_object_set(journal->known, name, entry);
    json_decref(entry);
    if (result != PN_OK || (!first && !row)) break;
    good += length;
  }
  free(line);
  if (result != PN_OK) return result;
  bool cut = ftruncate(fileno(journal->file), good) == 0 && fseeko(journal->file, good, SEEK_SET) == 0;
  if (cut && good == 0) cut = json_dumpf(head, journal->file, JSON_COMPACT) == 0 && fputc('\n', journal->file) != EOF;
  return cut ? PN_OK : pnFail(PN_ERROR_FILE, "%s: cannot be written: %s", path, strerror(errno));
}

static pnResult openJournal(const pnScanOptions *options, Journal *journal) {
  const char *path = options->resume;
  if (!path || pn_rankNumber() > 0) return PN_OK;
  journal->known = json_object();
  journal->file = fopen(path, "r+b");
  if (!journal->file && errno == ENOENT) journal->file = fopen(path, "w+b");
  if (!journal->file) return pnFail(PN_ERROR_FILE, "%s: cannot be written: %s", path, strerror(errno));
  json_t *head = headOf(options);
  pnResult result =
      head && journal->known ? readJournal(path, head, journal) : pnFail(PN_ERROR_MEMORY, "out of memory");
  json_decref(head);
  return result;
}

/* The row of a file that has not changed since; null: none. */
static json_t *recall(const Journal *journal, const char *name) {
  json_int_t size, date;
  const json_t *entry = json_object_get(journal->known, name);
  stampOf(name, &size, &date);
  bool same = entry && json_integer_value(json_object_get(entry, "size")) == size &&
              json_integer_value(json_object_get(entry, "date")) == date;
  return same ? json_object_get(entry, "row") : NULL;
}

static pnResult keep(const pnScanOptions *options, Journal *journal, const char *name, json_t *row) {
  if (!journal->file) return PN_OK;
  json_int_t size, date;
  stampOf(name, &size, &date);
  json_t *entry = json_pack("{s:o, s:I, s:I, s:O}", "file", pn_jsonText(name), "size", size, "date", date, "row", row);
  bool good = entry && json_dumpf(entry, journal->file, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0 &&
              fputc('\n', journal->file) != EOF && fflush(journal->file) == 0;
  json_decref(entry);
  return good ? PN_OK : pnFail(PN_ERROR_FILE, "%s: cannot be written: %s", options->resume, strerror(errno));
}

/* ---------------------------------------------------------------- the rows */

typedef struct Batch {
  const pnScanOptions *options; /* of all */
  pnScanOptions one;            /* of each */
  Files files;
  uint32_t *todo; /* files that are not in the journal */
  uint32_t todoCount;
  Journal journal;
  json_t *rows;
  uint32_t errors, found;
} Batch;

/* The block of a file is its row, as text. */
static pnResult makeRow(void *context, uint32_t number, pnBytes *out) {
  Batch *batch = context;
  json_t *row = pn_scanRow(batch->files.names[number], &batch->one);
  if (!row && pn_scanIsStopped()) return pnFail(PN_ERROR_FILE, "stopped");
  char *text = row ? json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(row);
  if (!text) return pnFail(PN_ERROR_MEMORY, "out of memory for a row");
  pn_bytesText(out, text);
  free(text);
  return out->failed ? pnFail(PN_ERROR_MEMORY, "out of memory for a row") : PN_OK;
}

static const char *textOf(const json_t *row, const char *key) {
  const char *text = json_string_value(json_object_get(row, key));
  return text ? text : "";
}

/* A line of JSON without the picture, or of text. */
static pnResult tellRow(Batch *batch, json_t *row) {
  const char *status = textOf(row, "status");
  bool error = strcmp(status, "error") == 0;
  batch->errors += error;
  batch->found += strcmp(status, "found") == 0;
  if (json_array_append(batch->rows, row) != 0) return pnFail(PN_ERROR_MEMORY, "out of memory for a row");
  if (error) {
    // Most messages begin with the file's name.
    const char *name = textOf(row, "file"), *message = textOf(row, "error");
    bool named = strncmp(message, name, strlen(name)) == 0;
    fprintf(stderr, "pinch scan: %s%s%s\n", named ? "" : name, named ? "" : ": ", message);
  }
  if (batch->options->json) {
    json_t *plain = json_copy(row);
    json_object_del(plain, "thumb");
    bool good = plain && json_dumpf(plain, stdout, JSON_REAL_PRECISION(9)) == 0 && putchar('\n') != EOF;
    json_decref(plain);
    if (!good || fflush(stdout) != 0) return pnFail(PN_ERROR_FILE, "the output cannot be written: %s", strerror(errno));
  } else if (!error && !pn_isQuiet()) {
    const json_t *worst = json_object_get(row, "worst");
    long long count = (long long)json_integer_value(json_object_get(row, "findings"));
    printf("%s: ", textOf(row, "file"));
    if (json_is_object(worst))
      printf("%lld finding%s%.3g deep: %s\n", count, count == 1 ? ", " : "s, the worst ",
             json_number_value(json_object_get(worst, "depth")), textOf(worst, "between"));
    else printf("nothing\n");
    fflush(stdout);
  }
  return PN_OK;
}

/* The row of file `i`; `place` is its number among those to be done. */
static pnResult oneRow(Batch *batch, pnRanks *ranks, uint32_t i, uint32_t *place) {
  bool isTodo = *place < batch->todoCount && batch->todo[*place] == i;
  json_t *row = isTodo ? NULL : json_incref(recall(&batch->journal, batch->files.names[i]));
  pnResult result = PN_OK;
  if (!row && isTodo) {
    const void *bytes = NULL;
    size_t byteCount = 0;
    pnBytes own = {0};
    if (ranks) result = pn_ranksFetch(ranks, *place, &bytes, &byteCount);
    else result = makeRow(batch, i, &own), bytes = own.data, byteCount = own.size;
    if (result == PN_OK) row = json_loadb(bytes, byteCount, 0, NULL);
    pn_bytesFree(&own);
    ++*place;
    if (row) result = keep(batch->options, &batch->journal, batch->files.names[i], row);
  }
  // A file that changed while the batch went on is told as it was.
  if (result == PN_OK && !row) result = pnFail(PN_ERROR_FILE, "%s: has changed meanwhile", batch->files.names[i]);
  if (result == PN_OK) result = tellRow(batch, row);
  json_decref(row);
  return result;
}

static pnResult allRows(Batch *batch) {
  pnRanks *ranks = NULL;
  pnRankWork work = {makeRow, batch, batch->todo, 0, batch->todoCount, 0, 1};
  pnResult result = pn_rankCount() > 1 ? pn_ranksMake(&work, &ranks) : PN_OK;
  uint32_t place = 0;
  for (uint32_t i = 0; i < batch->files.count && result == PN_OK && !pn_scanIsStopped(); ++i)
    result = oneRow(batch, ranks, i, &place);
  if (pn_scanIsStopped())
    result =
        pnFail(PN_ERROR_FILE, "interrupted after %zu of %u file%s%s", json_array_size(batch->rows), batch->files.count,
               pn_plural(batch->files.count), batch->options->resume ? "; --resume goes on" : "");
  pn_ranksFree(ranks);
  return result;
}

/* ---------------------------------------------------------------- all of it */

static pnResult begin(Batch *batch) {
  const pnScanOptions *options = batch->options;
  batch->one = *options;
  batch->one.json = batch->one.regions = false;
  batch->one.html = batch->one.resume = batch->one.list = NULL;
  batch->one.alone = true;
  batch->rows = json_array();
  pnResult result = pn_ranksMeet();
  if (result != PN_OK) return result;
  result = batch->rows ? findFiles(options->list, &batch->files) : pnFail(PN_ERROR_MEMORY, "out of memory");
  if (result == PN_OK) result = openJournal(options, &batch->journal);
  batch->todo = result == PN_OK ? malloc(batch->files.count * sizeof(uint32_t) + 1) : NULL;
  if (result == PN_OK && !batch->todo)
    result = pnFail(PN_ERROR_MEMORY, "out of memory for %u files", batch->files.count);
  for (uint32_t i = 0; i < batch->files.count && result == PN_OK; ++i)
    if (!batch->journal.known || !recall(&batch->journal, batch->files.names[i])) batch->todo[batch->todoCount++] = i;
  return result;
}

static pnResult finish(Batch *batch) {
  const pnScanOptions *options = batch->options;
  pnOutFile *index = NULL;
  // Before anything is scanned: what cannot be written is not found out after hours.
  pnResult result = options->html ? pnOpenOutFile(options->html, &index) : PN_OK;
  if (result == PN_OK) result = allRows(batch);
  if (result == PN_OK && index) pn_writeIndex(index, options->list, batch->rows);
  if (index) {
    pnResult closed = pnCloseOutFile(index, result == PN_OK);
    result = result == PN_OK ? closed : result;
  }
  if (result != PN_OK) return result;
  if (batch->journal.file) remove(options->resume);
  if (!options->json && !pn_isQuiet())
    printf("%u file%s: %u with findings, %u clean, %u could not be scanned.\n", batch->files.count,
           pn_plural(batch->files.count), batch->found, batch->files.count - batch->found - batch->errors,
           batch->errors);
  if (batch->errors > 0) {
    fprintf(stderr, "pinch scan: %u of %u file%s could not be scanned:\n", batch->errors, batch->files.count,
            pn_plural(batch->files.count));
    for (size_t i = 0; i < json_array_size(batch->rows); ++i) {
      const json_t *row = json_array_get(batch->rows, i);
      if (strcmp(textOf(row, "status"), "error") == 0) fprintf(stderr, "  %s\n", textOf(row, "file"));
    }
  }
  return PN_OK;
}

int pn_batchWork(const pnScanOptions *options) {
  Batch batch = {.options = options};
  pnResult result = begin(&batch);
  int status = PN_EXIT_ERROR;
  if (pn_rankNumber() > 0) {
    pnRankWork work = {makeRow, &batch, NULL, 0, batch.files.count, 0, 1};
    status = pn_ranksServe(&work, result) ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
  } else {
    if (result == PN_OK) result = finish(&batch);
    if (result != PN_OK) pn_sayFailure("scan");
    bool good = result == PN_OK && pn_finishOutput("scan");
    status = !good || batch.errors > 0 ? PN_EXIT_ERROR : batch.found > 0 ? PN_EXIT_COLLISION : PN_EXIT_CLEAN;
  }
  if (batch.journal.file) fclose(batch.journal.file);
  json_decref(batch.journal.known);
  json_decref(batch.rows);
  free(batch.todo);
  freeFiles(&batch.files);
  return status;
}
