/* quote.c: a program of its own: the figures that stand in README and docs/, taken from the committed rows of the laboratory, or
 * compared with them.
 *
 *   quote [--check] FOLDER[:FOLDER] CLAIMS FILE...   rows of FOLDER/\*.csv into the marks of the files; --check: only say what differs
 *
 * A mark in Markdown is a comment, so that a reader sees the figure and the source says where it comes from:
 *
 *   <!--= %.1f [world|s4-92450|embree|median ms] / [world|s4-92450|pinch:default|median ms] -->12.4<!--.-->
 *   <!--table verdicts--> ... <!--.-->            the claims and what became of them
 *   <!--table world--> ... <!--.-->               the default world beside the best of the others
 *   <!--table pivot EXPERIMENT / MEASURE--> ...   a row a scene, a column a method
 *   <!--table steps EXPERIMENT / SCENE / MEASURE--> ... <!--.-->  a row a step, a column a method
 *   <!--table methods EXPERIMENT / SCENE--> ...   a row a method, a column a measure
 *   <!--table machine EXPERIMENT--> ... <!--.-->  the machine and the day
 *
 * Built by scripts/check_docs and scripts/quote with one call of the compiler: no library. */
#define _GNU_SOURCE
#include "figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Quote {
  pnFigures figures;
  pnClaims claims;
  const char *file;
  unsigned faults, marks;
} Quote;

static void complain(Quote *q, const char *what, const char *why) {
  fprintf(stderr, "%s: %s: %s\n", q->file, what, why);
  ++q->faults;
}

/* ---------------------------------------------------------------- tables */

typedef struct Names {
  const char *names[256];
  size_t count;
} Names;

static void addName(Names *names, const char *name) {
  for (size_t i = 0; i < names->count; ++i)
    if (strcmp(names->names[i], name) == 0) return;
  if (names->count < sizeof names->names / sizeof *names->names) names->names[names->count++] = name;
}

/* The value of a cell, or an empty one. A method that was wrong is shown as wrong. */
static void putCell(FILE *out, Quote *q, const char *experiment, const char *scene, const char *method,
                    const char *measure, double step) {
  double value = pn_figureValue(&q->figures, experiment, scene, method, measure, step);
  if (!isnan(value)) fprintf(out, value != 0 && fabs(value) < 1000 ? " %.3g" : " %.0f", value);
  bool isTime = strcmp(measure, "wrong frames") != 0;
  fprintf(out, !isnan(value) && isTime && pn_isWrong(&q->figures, experiment, scene, method) ? ", wrong |" : " |");
}

static void putHead(FILE *out, const char *first, const Names *columns) {
  fprintf(out, "| %s |", first);
  for (size_t i = 0; i < columns->count; ++i) fprintf(out, " %s |", columns->names[i]);
  fprintf(out, "\n|---|");
  for (size_t i = 0; i < columns->count; ++i) fprintf(out, "---|");
  fprintf(out, "\n");
}

/* EXPERIMENT / MEASURE: a row a scene, a column a method. */
static void writePivot(FILE *out, Quote *q, const char *experiment, const char *measure) {
  Names scenes = {.count = 0}, methods = {.count = 0};
  for (size_t i = 0; i < q->figures.count; ++i) {
    const pnFigure *r = &q->figures.rows[i];
    if (strcmp(r->experiment, experiment) == 0 && strcmp(r->measure, measure) == 0 && isnan(r->step)) {
      addName(&scenes, r->scene);
      addName(&methods, r->method);
    }
  }
  if (scenes.count == 0) complain(q, experiment, "there are no rows for this table");
  putHead(out, measure, &methods);
  for (size_t s = 0; s < scenes.count; ++s) {
    fprintf(out, "| %s |", scenes.names[s]);
    for (size_t m = 0; m < methods.count; ++m)
      putCell(out, q, experiment, scenes.names[s], methods.names[m], measure, NAN);
    fprintf(out, "\n");
  }
}

/* EXPERIMENT / SCENE / MEASURE: a row a step, a column a method. */
static void writeSteps(FILE *out, Quote *q, const char *experiment, const char *scene, const char *measure) {
  Names methods = {.count = 0};
  double steps[256];
  size_t count = 0;
  for (size_t i = 0; i < q->figures.count; ++i) {
    const pnFigure *r = &q->figures.rows[i];
    if (strcmp(r->experiment, experiment) == 0 && strcmp(r->scene, scene) == 0 && strcmp(r->measure, measure) == 0) {
      addName(&methods, r->method);
      size_t k = 0;
      while (k < count && steps[k] != r->step) ++k;
      if (k == count && count < 256) steps[count++] = r->step;
    }
  }
  if (count == 0) complain(q, experiment, "there are no rows for this table");
  putHead(out, measure, &methods);
  for (size_t k = 0; k < count; ++k) {
    fprintf(out, "| %g |", steps[k]);
    for (size_t m = 0; m < methods.count; ++m) putCell(out, q, experiment, scene, methods.names[m], measure, steps[k]);
    fprintf(out, "\n");
  }
}

/* EXPERIMENT / SCENE: a row a method, a column a measure. */
static void writeMethods(FILE *out, Quote *q, const char *experiment, const char *scene) {
  Names methods = {.count = 0}, measures = {.count = 0};
  for (size_t i = 0; i < q->figures.count; ++i) {
    const pnFigure *r = &q->figures.rows[i];
    if (strcmp(r->experiment, experiment) == 0 && strcmp(r->scene, scene) == 0 && isnan(r->step)) {
      addName(&methods, r->method);
      addName(&measures, r->measure);
    }
  }
  if (methods.count == 0) complain(q, experiment, "there are no rows for this table");
  putHead(out, scene, &measures);
  for (size_t m = 0; m < methods.count; ++m) {
    fprintf(out, "| %s |", methods.names[m]);
    for (size_t k = 0; k < measures.count; ++k)
      putCell(out, q, experiment, scene, methods.names[m], measures.names[k], NAN);
    fprintf(out, "\n");
  }
}

/* One measure of a method in a scene of the default world. */
static double inWorld(const Quote *q, const char *scene, const char *method, const char *measure) {
  return pn_figureValue(&q->figures, "world", scene, method, measure, NAN);
}

/* Beside our worst frame: how many times those of the median frame its pairs are, and how bad the worst frame of the best of the others is. */
static void writeWorld(FILE *out, Quote *q) {
  Names scenes = {.count = 0};
  for (size_t i = 0; i < q->figures.count; ++i)
    if (strcmp(q->figures.rows[i].experiment, "world") == 0) addName(&scenes, q->figures.rows[i].scene);
  if (scenes.count == 0) complain(q, "world", "there are no rows for this table");
  fprintf(out,
          "| scene | median ms | times faster than | the best of the others | worst / median | its pairs / median "
          "| the other's worst / median | worst, times faster | create ms | MB |\n"
          "|---|---|---|---|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < scenes.count; ++i) {
    const char *scene = scenes.names[i], *us = "pinch:default";
    const pnFigure *best = pn_bestPeer(&q->figures, "world", scene, "median ms");
    const char *name = best ? best->method : "";
    bool isWrong = best && pn_isWrong(&q->figures, "world", scene, name);
    double median = inWorld(q, scene, us, "median ms"), worst = inWorld(q, scene, us, "worst ms"),
           other = best ? best->value : NAN, otherWorst = inWorld(q, scene, name, "worst ms"),
           more = inWorld(q, scene, us, "pairs of worst over median");
    fprintf(out, "| %s | %.3g | %.1f | %s%s | %.1f | %.1f | %.1f | %.1f | %.3g | %.3g |\n", scene, median,
            other / median, name, isWrong ? ", wrong pairs" : "", worst / median, more, otherWorst / other,
            otherWorst / worst, inWorld(q, scene, us, "create ms"), inWorld(q, scene, us, "MB"));
  }
}

static void writeMachine(FILE *out, Quote *q, const char *experiment) {
  for (size_t i = 0; i < q->figures.headCount; ++i) {
    const pnFigureHead *h = &q->figures.heads[i];
    if (h->experiment && strcmp(h->experiment, experiment) == 0) {
      fprintf(out, "%s; taken %s, settings: %s.\n", h->machine ? h->machine : "?", h->taken ? h->taken : "?",
              h->settings ? h->settings : "?");
      return;
    }
  }
  complain(q, experiment, "there is no file of rows of this experiment");
}

static void writeTable(FILE *out, Quote *q, const char *what) {
  char text[256], *rest = text, *words[4] = {"", "", "", ""};
  snprintf(text, sizeof text, "%s", what);
  char *kind = strsep(&rest, " ");
  for (int i = 0; i < 4 && rest != NULL; ++i) {
    words[i] = rest;
    char *slash = strstr(rest, " / ");
    rest = slash ? slash + 3 : NULL;
    if (slash) *slash = '\0';
  }
  fprintf(out, "\n");
  if (strcmp(kind, "verdicts") == 0) pn_writeVerdicts(out, &q->figures, &q->claims);
  else if (strcmp(kind, "world") == 0) writeWorld(out, q);
  else if (strcmp(kind, "pivot") == 0) writePivot(out, q, words[0], words[1]);
  else if (strcmp(kind, "steps") == 0) writeSteps(out, q, words[0], words[1], words[2]);
  else if (strcmp(kind, "methods") == 0) writeMethods(out, q, words[0], words[1]);
  else if (strcmp(kind, "machine") == 0) writeMachine(out, q, words[0]);
  else complain(q, kind, "there is no such table");
}

/* ---------------------------------------------------------------- one file */

/* A whole number, digits in threes: 1 655 541. */
static void putWhole(FILE *out, double value) {
  char digits[32];
  int count = snprintf(digits, sizeof digits, "%.0f", value);
  for (int i = 0; i < count && count < (int)sizeof digits; ++i) {
    if (i > 0 && (count - i) % 3 == 0 && digits[i - 1] != '-') fputc(' ', out);
    fputc(digits[i], out);
  }
}

/* "%.1f SUM". Only formats that take one double and nothing else; %.0n is a whole number in threes. */
static void writeFigure(FILE *out, Quote *q, const char *text) {
  size_t length = strcspn(text, " ");
  char *end, kind = length > 0 ? text[length - 1] : '\0';
  bool good = length >= 4 && length <= 6 && strncmp(text, "%.", 2) == 0 && strchr("fgn", kind) != NULL;
  long digits = good ? strtol(text + 2, &end, 10) : 0;
  if (!good || end != text + length - 1 || digits < 0 || digits > 9) {
    complain(q, text, "a figure begins with a format such as %.1f, %.3g or %.0n");
    return;
  }
  double value = pn_sum(&q->figures, text + length);
  if (isnan(value)) complain(q, text, q->figures.message);
  else if (kind == 'n') putWhole(out, value);
  else if (kind == 'f') fprintf(out, "%.*f", (int)digits, value);
  else fprintf(out, "%.*g", (int)digits, value);
}

/* The text with every mark filled anew; the caller frees it. */
static char *fill(Quote *q, const char *text) {
  char *filled = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&filled, &size);
  while (out != NULL && *text != '\0') {
    const char *figure = strstr(text, "<!--= "), *table = strstr(text, "<!--table ");
    const char *mark = figure && (!table || figure < table) ? figure : table;
    const char *close = mark ? strstr(mark, "-->") : NULL, *end = close ? strstr(close, "<!--.-->") : NULL;
    if (mark && !end) complain(q, "a mark", "has no end <!--.-->");
    if (!end) break;
    fwrite(text, 1, (size_t)(close + 3 - text), out);
    const char *from = mark + (mark == figure ? 6 : 10);
    char *what = strndup(from, (size_t)(close - from));
    size_t length = strlen(what);
    while (length > 0 && what[length - 1] == ' ') what[--length] = '\0';
    if (mark == figure) writeFigure(out, q, what);
    else writeTable(out, q, what);
    ++q->marks;
    free(what);
    fputs("<!--.-->", out);
    text = end + 8;
  }
  if (out == NULL) return NULL;
  fputs(text, out);
  fclose(out);
  return filled;
}

static char *readAll(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = NULL;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
    long size = ftell(file);
    rewind(file);
    text = size >= 0 ? calloc(1, (size_t)size + 1) : NULL;
    if (text && fread(text, 1, (size_t)size, file) != (size_t)size) free(text), text = NULL;
  }
  if (file != NULL) fclose(file);
  return text;
}

/* The first line in which two texts differ, for the message. */
static void complainDifference(Quote *q, const char *old, const char *new) {
  unsigned line = 1;
  const char *begin = old;
  for (; *old != '\0' && *old == *new; ++old, ++new)
    if (*old == '\n') ++line, begin = old + 1;
  char what[32];
  snprintf(what, sizeof what, "line %u", line);
  char why[256];
  snprintf(why, sizeof why, "the figures say otherwise than \"%.*s\"; scripts/quote takes them anew",
           (int)strcspn(begin, "\n") > 120 ? 120 : (int)strcspn(begin, "\n"), begin);
  complain(q, what, why);
}

static void doFile(Quote *q, const char *path, bool check) {
  q->file = path;
  char *text = readAll(path);
  if (text == NULL) {
    complain(q, "the file", "cannot be read");
    return;
  }
  char *filled = fill(q, text);
  if (filled != NULL && strcmp(filled, text) != 0) {
    if (check) complainDifference(q, text, filled);
    else {
      FILE *out = fopen(path, "w");
      if (out == NULL || fputs(filled, out) == EOF || fclose(out) != 0) complain(q, "the file", "cannot be written");
    }
  }
  free(filled);
  free(text);
}

int main(int count, char **words) {
  static Quote q;
  bool check = count > 1 && strcmp(words[1], "--check") == 0;
  words += check, count -= check;
  if (count < 4) {
    fprintf(stderr, "usage: quote [--check] FOLDER[:FOLDER] CLAIMS FILE...\n");
    return 2;
  }
  for (char *folder = strtok(words[1], ":"); folder; folder = strtok(NULL, ":")) {
    if (pn_readFigureFolder(&q.figures, folder)) continue;
    fprintf(stderr, "quote: %s\n", q.figures.message);
    return 2;
  }
  if (!pn_readClaims(&q.claims, words[2])) {
    fprintf(stderr, "quote: %s\n", q.claims.message);
    return 2;
  }
  for (int i = 3; i < count; ++i) doFile(&q, words[i], check);
  printf("quote: %u figures and tables in %d files, %u faults\n", q.marks, count - 3, q.faults);
  pn_freeFigures(&q.figures);
  pn_freeClaims(&q.claims);
  return q.faults > 0;
}
