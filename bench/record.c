/* record.c: see record.h. */
#include "record.h"

#include "lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *s_file;
static const char *s_path;
static char s_experiment[64], s_scene[64];

/* Rows that did not reach the disk are worse than none: they look like a run that was shorter. */
static void closeFile(void) {
  if (fclose(s_file) != 0) {
    fprintf(stderr, "bench: cannot write %s\n", s_path);
    _Exit(1);
  }
}

void pn_recordArguments(int *count, char **words) {
  for (int i = 1; i + 1 < *count; ++i) {
    if (strcmp(words[i], "--rows") != 0) continue;
    s_path = words[i + 1];
    s_file = fopen(s_path, "a");
    if (s_file == NULL) {
      fprintf(stderr, "bench: cannot write %s\n", s_path);
      exit(1);
    }
    /* whole lines at a time, so that a program that is stopped leaves whole rows, and children do not write them twice */
    setvbuf(s_file, NULL, _IOLBF, 1 << 12);
    fseek(s_file, 0, SEEK_END);
    if (ftell(s_file) == 0) {
      char machine[512];
      pn_labMachine(machine, sizeof machine);
      fprintf(s_file, "# machine: %s\n", machine);
    }
    atexit(closeFile);
    memmove(words + i, words + i + 2, sizeof(char *) * (size_t)(*count - i - 1));
    *count -= 2;
    return;
  }
}

void pn_recordScene(const char *experiment, const char *scene) {
  snprintf(s_experiment, sizeof s_experiment, "%s", experiment);
  snprintf(s_scene, sizeof s_scene, "%s", scene);
}

/* A text as a cell: in quotes when it has a comma. Names have no quotes in them. */
static void putCell(const char *text) {
  fprintf(s_file, strchr(text, ',') != NULL ? "\"%s\"," : "%s,", text);
}

void pn_recordStep(const char *method, const char *measure, double step, double value) {
  if (s_file == NULL || !isfinite(value)) return;
  putCell(s_experiment);
  putCell(s_scene);
  putCell(method);
  putCell(measure);
  if (isfinite(step)) fprintf(s_file, "%.9g", step);
  fprintf(s_file, ",%.6g\n", value);
}

void pn_record(const char *method, const char *measure, double value) {
  pn_recordStep(method, measure, NAN, value);
}
