/* figures.c: rows read back, and sums over them. See figures.h. */
#define _GNU_SOURCE
#include "figures.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static bool fail(pnFigures *f, const char *format, ...) {
  va_list words;
  va_start(words, format);
  vsnprintf(f->message, sizeof f->message, format, words);
  va_end(words);
  return false;
}

/* ---------------------------------------------------------------- reading */

static char *readText(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = NULL;
  size_t size = 0, length = 0;
  while (file != NULL && !feof(file) && !ferror(file)) {
    if (size - length < 4096) {
      size = 2 * size + 65536;
      char *grown = realloc(text, size);
      if (grown == NULL) break;
      text = grown;
    }
    length += fread(text + length, 1, size - length - 1, file);
    text[length] = '\0';
  }
  bool bad = file == NULL || ferror(file);
  if (file != NULL) fclose(file);
  if (bad) {
    free(text);
    return NULL;
  }
  return text;
}

/* The next cell of a line, cut off in place; null behind the last. Cells with a comma stand in quotes. */
static char *nextCell(char **line) {
  char *cell = *line;
  if (cell == NULL) return NULL;
  char *end;
  if (*cell == '"') {
    end = strchr(++cell, '"');
    if (end == NULL) return NULL;
    *end++ = '\0';
  } else {
    end = cell + strcspn(cell, ",");
  }
  *line = *end == ',' ? end + 1 : NULL;
  *end = '\0';
  return cell;
}

static bool readNumber(const char *text, double *out) {
  char *end;
  *out = strtod(text, &end);
  return end != text && *end == '\0';
}

static bool addRow(pnFigures *f, const char *path, size_t number, char *line) {
  char *cells[6];
  for (int i = 0; i < 6; ++i) {
    cells[i] = nextCell(&line);
    if (cells[i] == NULL) return fail(f, "%s:%zu: a row has six cells", path, number);
  }
  pnFigure row = {cells[0], cells[1], cells[2], cells[3], NAN, NAN};
  if (line != NULL || (cells[4][0] != '\0' && !readNumber(cells[4], &row.step)) || !readNumber(cells[5], &row.value))
    return fail(f, "%s:%zu: not a row of experiment,scene,method,measure,step,value", path, number);
  if (f->count == f->capacity) {
    size_t capacity = 2 * f->capacity + 256;
    pnFigure *grown = realloc(f->rows, sizeof *grown * capacity);
    if (grown == NULL) return fail(f, "out of memory");
    f->rows = grown;
    f->capacity = capacity;
  }
  f->rows[f->count++] = row;
  return true;
}

/* "# machine: text" and its like. */
static void readHead(pnFigureHead *head, char *line) {
  static const struct {
    const char *name;
    size_t at;
  } heads[] = {{"# experiment: ", offsetof(pnFigureHead, experiment)},
               {"# machine: ", offsetof(pnFigureHead, machine)},
               {"# taken: ", offsetof(pnFigureHead, taken)},
               {"# settings: ", offsetof(pnFigureHead, settings)},
               {"# code: ", offsetof(pnFigureHead, code)}};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; ++i) {
    size_t length = strlen(heads[i].name);
    if (strncmp(line, heads[i].name, length) == 0) *(const char **)(void *)((char *)head + heads[i].at) = line + length;
  }
}

bool pn_readFigures(pnFigures *f, const char *path) {
  char *text = readText(path);
  if (text == NULL) return fail(f, "cannot read %s: %s", path, strerror(errno));
  char **texts = realloc(f->texts, sizeof *texts * (f->textCount + 1));
  if (texts) f->texts = texts;
  pnFigureHead *heads = realloc(f->heads, sizeof *heads * (f->headCount + 1));
  if (heads) f->heads = heads;
  if (texts == NULL || heads == NULL) {
    free(text);
    return fail(f, "out of memory");
  }
  f->texts[f->textCount++] = text;
  f->heads[f->headCount] = (pnFigureHead){0};
  size_t number = 0;
  for (char *line = text, *next; line != NULL; line = next) {
    next = strchr(line, '\n');
    if (next != NULL) *next++ = '\0';
    ++number;
    if (*line == '#') readHead(&f->heads[f->headCount], line);
    else if (*line != '\0' && strncmp(line, "experiment,", 11) != 0 && !addRow(f, path, number, line)) return false;
  }
  ++f->headCount;
  return true;
}

static int isCsv(const struct dirent *entry) {
  size_t length = strlen(entry->d_name);
  return length > 4 && strcmp(entry->d_name + length - 4, ".csv") == 0;
}

bool pn_readFigureFolder(pnFigures *f, const char *folder) {
  struct dirent **names = NULL;
  int count = scandir(folder, &names, isCsv, alphasort);
  if (count < 0) return fail(f, "cannot read the folder %s: %s", folder, strerror(errno));
  bool ok = true;
  for (int i = 0; i < count; ++i) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
    ok = ok && pn_readFigures(f, path);
    free(names[i]);
  }
  free(names);
  return ok;
}

void pn_freeFigures(pnFigures *f) {
  for (size_t i = 0; i < f->textCount; ++i) free(f->texts[i]);
  free(f->texts);
  free(f->heads);
  free(f->rows);
  *f = (pnFigures){0};
}

/* ---------------------------------------------------------------- single rows */

double pn_figureValue(const pnFigures *f, const char *experiment, const char *scene, const char *method,
                      const char *measure, double step) {
  for (size_t i = 0; i < f->count; ++i) {
    const pnFigure *r = &f->rows[i];
    if (strcmp(r->experiment, experiment) == 0 && strcmp(r->scene, scene) == 0 && strcmp(r->method, method) == 0 &&
        strcmp(r->measure, measure) == 0 && (isnan(step) ? isnan(r->step) : r->step == step))
      return r->value;
  }
  return NAN;
}

bool pn_isWrong(const pnFigures *f, const char *experiment, const char *scene, const char *method) {
  return pn_figureValue(f, experiment, scene, method, "wrong frames", NAN) > 0;
}

const pnFigure *pn_bestPeer(const pnFigures *f, const char *experiment, const char *scene, const char *measure) {
  const pnFigure *best = NULL;
  for (int mayBeWrong = 0; mayBeWrong < 2 && best == NULL; ++mayBeWrong)
    for (size_t i = 0; i < f->count; ++i) {
      const pnFigure *r = &f->rows[i];
      bool other = strncmp(r->method, "pinch", 5) != 0 && strcmp(r->method, "floor") != 0 &&
                   strncmp(r->method, "textbook", 8) != 0 && strcmp(r->method, "truth") != 0;
      if (other && strcmp(r->experiment, experiment) == 0 && strcmp(r->scene, scene) == 0 &&
          strcmp(r->measure, measure) == 0 && isnan(r->step) &&
          (mayBeWrong || !pn_isWrong(f, experiment, scene, r->method)) && (best == NULL || r->value < best->value))
        best = r;
    }
  return best;
}

/* ---------------------------------------------------------------- sums */

bool pn_nameFits(const char *pattern, const char *name) {
  if (*pattern == '*') {
    do {
      if (pn_nameFits(pattern + 1, name)) return true;
    } while (*name++ != '\0');
    return false;
  }
  if (*pattern == '?' && *name != '\0') return pn_nameFits(pattern + 1, name + 1);
  return *pattern == *name && (*name == '\0' || pn_nameFits(pattern + 1, name + 1));
}

/* Where a sum is read. */
typedef struct Reader {
  pnFigures *figures;
  const char *at;
  bool failed;
} Reader;

static double stop(Reader *r, const char *format, ...) {
  if (!r->failed) {
    va_list words;
    va_start(words, format);
    vsnprintf(r->figures->message, sizeof r->figures->message, format, words);
    va_end(words);
  }
  r->failed = true;
  return NAN;
}

static void skipSpace(Reader *r) {
  while (isspace((unsigned char)*r->at)) ++r->at;
}

static bool take(Reader *r, char c) {
  skipSpace(r);
  if (*r->at != c) return false;
  ++r->at;
  return true;
}

typedef enum Over { ONE, SLOPE, MEAN, LEAST, MOST, COUNT } Over;
static const char *const s_overs[] = {"", "slope", "mean", "least", "most", "count"};

/* What is kept while rows go by. */
typedef struct Tally {
  double n, sum, least, most, x, y, xx, xy, last;
} Tally;

static void tallyRow(Tally *t, const pnFigure *row) {
  double x = log(row->step), y = log(row->value);
  t->n += 1;
  t->sum += row->value;
  t->least = fmin(t->least, row->value);
  t->most = fmax(t->most, row->value);
  t->x += x, t->y += y, t->xx += x * x, t->xy += x * y;
  t->last = row->value;
}

/* The rows that fit "experiment|scene|method|measure" (and the step, when one is named), as one number. */
static double valueOf(Reader *r, const char *selector, Over over, double step) {
  char names[512], *cells[4];
  snprintf(names, sizeof names, "%s", selector);
  char *rest = names;
  for (int i = 0; i < 4; ++i) {
    cells[i] = strsep(&rest, "|");
    if (cells[i] == NULL) return stop(r, "[%s] is not experiment|scene|method|measure", selector);
  }
  Tally t = {.least = INFINITY, .most = -INFINITY};
  for (size_t i = 0; i < r->figures->count; ++i) {
    const pnFigure *row = &r->figures->rows[i];
    if (pn_nameFits(cells[0], row->experiment) && pn_nameFits(cells[1], row->scene) &&
        pn_nameFits(cells[2], row->method) && pn_nameFits(cells[3], row->measure) && (isnan(step) || row->step == step))
      tallyRow(&t, row);
  }
  if (over == COUNT) return t.n;
  if (t.n == 0) return stop(r, "there is no row [%s]", selector);
  switch (over) {
    case SLOPE:
      if (t.n < 2) return stop(r, "one row of [%s] has no slope", selector);
      return (t.n * t.xy - t.x * t.y) / (t.n * t.xx - t.x * t.x);
    case MEAN: return t.sum / t.n;
    case LEAST: return t.least;
    case MOST: return t.most;
    default: return t.n == 1 ? t.last : stop(r, "%g rows fit [%s]: one is wanted", t.n, selector);
  }
}

static double readSum(Reader *r);

/* A row, a function of rows, a number, or a sum in parentheses. */
static double readValue(Reader *r) {
  if (take(r, '(')) {
    double value = readSum(r);
    return take(r, ')') ? value : stop(r, "a ) is missing before \"%s\"", r->at);
  }
  if (take(r, '-')) return -readValue(r);
  if (isdigit((unsigned char)*r->at) || *r->at == '.') {
    char *end;
    double value = strtod(r->at, &end);
    r->at = end;
    return value;
  }
  size_t length = 0, over = 0;
  while (isalpha((unsigned char)r->at[length])) ++length;
  while (over <= COUNT && (strlen(s_overs[over]) != length || strncmp(r->at, s_overs[over], length) != 0)) ++over;
  if (over > COUNT) return stop(r, "no function \"%.*s\"", (int)length, r->at);
  r->at += length;
  if (!take(r, '[')) return stop(r, "a row in [ ] or a number is missing before \"%s\"", r->at);
  char selector[512];
  length = strcspn(r->at, "]");
  if (r->at[length] != ']' || length >= sizeof selector) return stop(r, "a ] is missing behind \"%s\"", r->at);
  memcpy(selector, r->at, length);
  selector[length] = '\0';
  r->at += length + 1;
  double step = NAN;
  if (*r->at == '@') {
    char *end;
    step = strtod(r->at + 1, &end);
    if (end == r->at + 1) return stop(r, "a step is missing behind @");
    r->at = end;
  }
  return valueOf(r, selector, (Over)over, step);
}

static double readProduct(Reader *r) {
  double value = readValue(r);
  while (!r->failed)
    if (take(r, '*')) value *= readValue(r);
    else if (take(r, '/')) value /= readValue(r);
    else break;
  return value;
}

static double readSum(Reader *r) {
  double value = readProduct(r);
  while (!r->failed)
    if (take(r, '+')) value += readProduct(r);
    else if (take(r, '-')) value -= readProduct(r);
    else break;
  return value;
}

double pn_sum(pnFigures *figures, const char *sum) {
  Reader r = {figures, sum, false};
  figures->message[0] = '\0';
  double value = readSum(&r);
  skipSpace(&r);
  if (!r.failed && *r.at != '\0') stop(&r, "\"%s\" is left over", r.at);
  return r.failed ? NAN : value;
}
