/* report.c: the figures as an aligned table for people and as comma-separated values for the record. */
#define _GNU_SOURCE
#include "lab.h"

#include "pinch/base.h"

#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The first value of a field in /proc/cpuinfo, or an empty text. */
static void readCpuField(const char *field, char *out, size_t size) {
  out[0] = '\0';
  FILE *file = fopen("/proc/cpuinfo", "r");
  char line[512];
  while (file != NULL && out[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
    char *colon = strchr(line, ':');
    if (colon != NULL && strncmp(line, field, strlen(field)) == 0) {
      colon[1 + strcspn(colon + 1, "\n")] = '\0';
      snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
    }
  }
  if (file != NULL) fclose(file);
}

void pn_labMachine(char *out, size_t size) {
  struct utsname system;
  uname(&system);
  char model[128], part[64];
  readCpuField("model name", model, sizeof model);
  /* ARM kernels give numbers instead of a name */
  if (model[0] == '\0') {
    readCpuField("CPU part", part, sizeof part);
    snprintf(model, sizeof model, "CPU part %s%s", part, strcmp(part, "0xd40") == 0 ? " (Neoverse-V1)" : "");
  }
  char date[32];
  time_t now = time(NULL);
  strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
#if defined(__clang__)
  const char *compiler = "clang " __clang_version__;
#else
  const char *compiler = "gcc " __VERSION__;
#endif
  snprintf(out, size, "%s %s, %s, %ld cores, %s, pinch %s, %s", system.sysname, system.machine, model,
           sysconf(_SC_NPROCESSORS_ONLN), compiler, pnGetVersion(), date);
}

FILE *pn_labOpenCsv(const char *program, const char *folder, const char *name) {
  if (folder == NULL) return NULL;
  char path[512], machine[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (file == NULL) {
    fprintf(stderr, "%s: cannot write %s\n", program, path);
    return NULL;
  }
  pn_labMachine(machine, sizeof machine);
  fprintf(file, "# %s\n", machine);
  return file;
}

static const pnRow *findAnchor(pnRow *const *rows, uint32_t rowCount, const char *anchor) {
  for (uint32_t i = 0; i < rowCount; ++i)
    if (anchor != NULL && strcmp(rows[i]->spec, anchor) == 0) return rows[i];
  return NULL;
}

/* "12.34x", or nothing for zero. */
static void formatRatio(char *out, size_t size, double ratio) {
  if (ratio > 0.0) snprintf(out, size, "%.2fx", ratio);
  else out[0] = '\0';
}

/* A time, or nothing for zero. */
static void formatTime(char *out, size_t size, double value) {
  if (value > 0.0) snprintf(out, size, value < 10.0 ? "%.4f" : "%.2f", value);
  else snprintf(out, size, "-");
}

static void formatVerdict(char *out, size_t size, const pnRow *row) {
  if (row->crashed) snprintf(out, size, "CRASHED");
  else if (row->peer->isFloor) snprintf(out, size, "bound");
  else if (row->wrongFrames > 0) snprintf(out, size, "WRONG in %u of %u frames", row->wrongFrames, row->framesDone);
  else if (row->wrongFirsts > 0)
    snprintf(out, size, "WRONG first in %u of %u frames", row->wrongFirsts, row->framesDone);
  else snprintf(out, size, row->stride > 1 ? "right (every %u.)" : "right", row->stride);
}

void pn_labPrint(const pnFrames *frames, pnRow *const *rows, uint32_t rowCount, const char *anchorSpec) {
  printf("\n%s: %u %s, %u triangles, %u frames, %u with hits; median over these, milliseconds\n", frames->sceneName,
         frames->input.bodyCount, frames->input.bodyCount == 1 ? "body" : "bodies", frames->triangleCount,
         frames->frameCount, frames->hitFrames);
  printf("%-38s %9s %9s %9s %9s %8s %9s %8s %8s %-16s %9s %9s %7s  %s\n", "peer", "update", "traverse", "exact",
         "all pairs", "ratio", "first", "ratio", "pairs", "hash", "vol.tests", "tri.tests", "MB", "answer");
  const pnRow *anchor = findAnchor(rows, rowCount, anchorSpec);
  for (uint32_t i = 0; i < rowCount; ++i) {
    const pnRow *row = rows[i];
    pnRowFigures f = pn_labFigures(frames, row, NULL);
    pnRatios ratios = pn_labRatios(frames, row, anchor);
    char update[16], traverse[16], exact[16], all[16], first[16], allRatio[16], firstRatio[16], verdict[48];
    formatTime(update, sizeof update, f.update);
    formatTime(traverse, sizeof traverse, f.traverse);
    formatTime(exact, sizeof exact, f.exact);
    formatTime(all, sizeof all, f.all);
    formatTime(first, sizeof first, f.first);
    formatRatio(allRatio, sizeof allRatio, ratios.all);
    formatRatio(firstRatio, sizeof firstRatio, ratios.first);
    formatVerdict(verdict, sizeof verdict, row);
    size_t bytes = row->lastCost.byteCount > 0 ? row->lastCost.byteCount : row->byteCount;
    printf("%-38s %9s %9s %9s %9s %8s %9s %8s %8zu %016llx %9llu %9llu %7.1f  %s\n", row->spec, update, traverse, exact,
           all, allRatio, first, firstRatio, row->lastPairs, (unsigned long long)row->hash,
           (unsigned long long)row->lastCost.volumeTests, (unsigned long long)row->lastCost.exactTests, bytes * 1e-6,
           verdict);
  }
  fflush(stdout);
}

void pn_labCsvHead(FILE *file) {
  char machine[512];
  pn_labMachine(machine, sizeof machine);
  fprintf(file, "# %s\n", machine);
  fprintf(file,
          "# milliseconds; least of the passes for each frame, then the median over frames with hits; counters, pairs "
          "and hash: "
          "pairs, counters of the last frame, hash of all frames measured\n");
  fprintf(file,
          "scene,peer,threads,frames,hit_frames,build,update,traverse,exact,all,first,ratio_all,ratio_first,pairs_last,"
          "pairs_sum,"
          "hash,wrong_frames,wrong_firsts,nodes_updated,volume_tests,triangle_tests,uncertain,bytes\n");
}

void pn_labCsvRows(FILE *file, const pnFrames *frames, pnRow *const *rows, uint32_t rowCount, const char *anchorSpec) {
  const pnRow *anchor = findAnchor(rows, rowCount, anchorSpec);
  for (uint32_t i = 0; i < rowCount; ++i) {
    const pnRow *row = rows[i];
    const pnPeerCost *cost = &row->lastCost;
    pnRowFigures f = pn_labFigures(frames, row, NULL);
    pnRatios ratios = pn_labRatios(frames, row, anchor);
    fprintf(file,
            "%s,%s,%u,%u,%u,%.3f,%.5f,%.5f,%.5f,%.5f,%.5f,%.3f,%.3f,%zu,%zu,%016llx,%u,%u,%llu,%llu,%llu,%llu,%zu\n",
            frames->sceneName, row->spec, row->threads, row->framesDone, frames->hitFrames, row->buildTime, f.update,
            f.traverse, f.exact, f.all, f.first, ratios.all, ratios.first, row->lastPairs, row->pairSum,
            (unsigned long long)row->hash, row->wrongFrames, row->wrongFirsts, (unsigned long long)cost->nodesUpdated,
            (unsigned long long)cost->volumeTests, (unsigned long long)cost->exactTests,
            (unsigned long long)cost->uncertain, cost->byteCount > 0 ? cost->byteCount : row->byteCount);
  }
  fflush(file);
}
