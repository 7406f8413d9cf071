/* args.c: options by table. */
#include "args.h"

#include "describe.h"
#include "out.h"

#include "pinch/volume.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Longer words are no misspelling of ours. */
#define PN_MAX_WORD 32

/* How many letters must be put in, left out or changed to make b of a. One row of the table at a time. */
static size_t editDistance(const char *a, const char *b) {
  size_t lengthA = strlen(a), lengthB = strlen(b);
  if (lengthA > PN_MAX_WORD || lengthB > PN_MAX_WORD) return SIZE_MAX;
  size_t row[PN_MAX_WORD + 1];
  for (size_t j = 0; j <= lengthB; ++j) row[j] = j;
  for (size_t i = 1; i <= lengthA; ++i) {
    size_t corner = row[0];
    row[0] = i;
    for (size_t j = 1; j <= lengthB; ++j) {
      size_t changed = corner + (a[i - 1] != b[j - 1]);
      size_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      corner = row[j];
      row[j] = changed < shorter ? changed : shorter;
    }
  }
  return row[lengthB];
}

const char *pn_closest(const char *word, const char *const *known, size_t count) {
  const char *best = NULL;
  // Two letters off is still a slip of the finger; three is another word.
  size_t bestDistance = 3;
  for (size_t i = 0; i < count; ++i) {
    size_t distance = editDistance(word, known[i]);
    if (distance < bestDistance) {
      best = known[i];
      bestDistance = distance;
    }
  }
  return best;
}

void pn_sayWrong(const pnUsage *usage, const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  pn_printError("pinch %s: %s", usage->command, text);
  fprintf(stderr, "try: pinch %s --help\n", usage->command);
}

/* ---------------------------------------------------------------- files that are written */

/* The folder that a file will be in. */
static bool statFolder(const char *path, struct stat *out) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
  bool there = folder && stat(folder, out) == 0;
  free(folder);
  return there;
}

static bool isSamePlace(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool pn_isSameFile(const char *a, const char *b) {
  struct stat x, y;
  bool thereA = stat(a, &x) == 0, thereB = stat(b, &y) == 0;
  // A device or a pipe may well be written to twice.
  if (thereA && thereB) return isSamePlace(&x, &y) && S_ISREG(x.st_mode);
  if (thereA || thereB) return false;
  const char *slashA = strrchr(a, '/'), *slashB = strrchr(b, '/');
  if (strcmp(slashA ? slashA + 1 : a, slashB ? slashB + 1 : b) != 0) return false;
  return strcmp(a, b) == 0 || (statFolder(a, &x) && statFolder(b, &y) && isSamePlace(&x, &y));
}

bool pn_checkOutput(const pnUsage *usage, const char *option, const char *path, int count, char **files) {
  // "-" is read from one stream and written to another.
  if (path && strcmp(path, "-") == 0) return true;
  for (int i = 0; path && i < count; ++i) {
    char *at = strrchr(files[i], '@'), *mesh = at ? strndup(files[i], (size_t)(at - files[i])) : NULL;
    bool same =
        pn_isSameFile(path, files[i]) || (at && pn_isSameFile(path, at + 1)) || (mesh && pn_isSameFile(path, mesh));
    free(mesh);
    if (!same) continue;
    pn_sayWrong(usage, "--%s: %s is one of the files that are read; it would be lost", option, path);
    return false;
  }
  return true;
}

/* ---------------------------------------------------------------- values */

static bool toCount(const char *text, uint32_t *out) {
  char *end;
  errno = 0;
  if (text[0] < '0' || text[0] > '9') return false;
  unsigned long long value = strtoull(text, &end, 10);
  if (errno != 0 || *end != 0 || value > UINT32_MAX) return false;
  *out = (uint32_t)value;
  return true;
}

static bool toVector(const char *text, float out[3]) {
  float vector[3];
  for (int k = 0; k < 3; ++k) {
    char *end;
    vector[k] = strtof(text, &end);
    if (end == text || !isfinite(vector[k]) || *end != (k < 2 ? ',' : 0)) return false;
    text = end + 1;
  }
  memcpy(out, vector, sizeof(vector));
  return true;
}

static bool toNumber(const char *text, double *out) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end != 0 || !isfinite(value)) return false;
  *out = value;
  return true;
}

/* What is expected after an option; a null is what its help calls the value: "OUT.csv", "A:B:STEP". */
static const char *const expectations[] = {
    [PN_OPTION_FLAG] = "no value",
    [PN_OPTION_TEXT] = NULL,
    [PN_OPTION_COUNT] = "a whole number",
    [PN_OPTION_NUMBER] = "a number",
    [PN_OPTION_VECTOR] = "three numbers X,Y,Z",
    [PN_OPTION_LIST] = NULL,
    [PN_OPTION_FILES] = "a file (at most 256)",
};

static const char *expectationOf(const pnOption *option) {
  if (expectations[option->kind]) return expectations[option->kind];
  return option->value ? option->value : "a word";
}

/* An option has one meaning, and the same bounds, in every command that has it. */
static const struct {
  const char *name;
  double least, most;
} bounds[] = {
    {"threads", 0, PN_MAX_WORKERS},
    {"resolution", PN_MIN_RESOLUTION, PN_MAX_RESOLUTION},
    {"fps", 0.001, 100000},
    {"triangles", 10000, 120000}, // these two are the character's
    {"seconds", 1, 600},
    {"min-depth", 0, 1e30},
};

/* False after saying that a number is out of its bounds. */
static bool checkBounds(const pnUsage *usage, const pnOption *option, const char *text) {
  double value = option->kind == PN_OPTION_COUNT ? *(uint32_t *)option->target : *(double *)option->target;
  for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); ++i) {
    if (strcmp(option->name, bounds[i].name) != 0) continue;
    if (value >= bounds[i].least && value <= bounds[i].most) return true;
    if (value < 0) pn_sayWrong(usage, "--%s: expected 0 or more, found %s", option->name, text);
    else if (bounds[i].least == 0)
      pn_sayWrong(usage, "--%s: expected at most %.15g, found %s", option->name, bounds[i].most, text);
    else
      pn_sayWrong(usage, "--%s: expected %.15g to %.15g, found %s", option->name, bounds[i].least, bounds[i].most,
                  text);
    return false;
  }
  return true;
}

static bool addWord(const char *word, pnWords *words) {
  if (word[0] == 0 || words->count == PN_MAX_WORDS) return false;
  words->items[words->count++] = word;
  return true;
}

static bool setOption(const pnUsage *usage, const pnOption *option, const char *value) {
  bool good = false;
  if (value) {
    switch (option->kind) {
      case PN_OPTION_FLAG: good = false; break;
      case PN_OPTION_TEXT: good = value[0] != 0, *(const char **)option->target = value; break;
      case PN_OPTION_COUNT: good = toCount(value, option->target); break;
      case PN_OPTION_NUMBER: good = toNumber(value, option->target); break;
      case PN_OPTION_VECTOR: good = toVector(value, option->target); break;
      case PN_OPTION_LIST:
      case PN_OPTION_FILES: good = addWord(value, option->target); break;
    }
  }
  if (!good)
    pn_sayWrong(usage, "--%s: expected %s%s, found %s%s%s", option->name, expectationOf(option),
                option->kind == PN_OPTION_LIST ? " (at most 256 times)" : "", value ? "'" : "",
                value ? value : "nothing", value ? "'" : "");
  bool isNumber = option->kind == PN_OPTION_COUNT || option->kind == PN_OPTION_NUMBER;
  return good && (!isNumber || checkBounds(usage, option, value));
}

/* ---------------------------------------------------------------- parsing */

static const pnOption *findOption(const pnUsage *usage, const char *name, size_t length) {
  for (size_t i = 0; i < usage->optionCount; ++i) {
    const char *known = usage->options[i].name;
    if (strlen(known) == length && memcmp(known, name, length) == 0) return &usage->options[i];
  }
  return NULL;
}

static void sayUnknown(const pnUsage *usage, const char *word) {
  const char *names[64];
  size_t count = usage->optionCount < 64 ? usage->optionCount : 64;
  for (size_t i = 0; i < count; ++i) names[i] = usage->options[i].name;
  const char *closest = pn_closest(word[1] == '-' ? word + 2 : word + 1, names, count);
  if (closest) pn_sayWrong(usage, "unknown option '%s'; did you mean --%s?", word, closest);
  else pn_sayWrong(usage, "unknown option '%s'", word);
}

/* A lone "-" is a file name like others. */
static bool isFile(const char *word) {
  return word[0] != '-' || word[1] == 0;
}

/* More than any command has. */
#define PN_MAX_GIVEN 64

/* Which options were given, of those that take one value. */
typedef struct pnGiven {
  const pnOption *options[PN_MAX_GIVEN];
  size_t count;
} pnGiven;

/* Of two values one would be lost, and nobody could tell which; false after saying so. */
static bool isGivenOnce(const pnUsage *usage, const pnOption *option, pnGiven *given) {
  for (size_t i = 0; i < given->count; ++i) {
    if (given->options[i] != option || usage->lastCounts) continue;
    pn_sayWrong(usage, "--%s is given twice; which one is meant?", option->name);
    return false;
  }
  bool many = option->kind == PN_OPTION_LIST || option->kind == PN_OPTION_FILES;
  if (!many && given->count < PN_MAX_GIVEN) given->options[given->count++] = option;
  return true;
}

/* Takes the option at argv[*at], and its value, which may be the next word. */
static bool takeOption(const pnUsage *usage, int count, char **argv, int *at, pnGiven *given) {
  const char *word = argv[*at];
  const char *equals = strchr(word, '=');
  size_t length = equals ? (size_t)(equals - word) : strlen(word);
  const pnOption *option = word[1] == '-' ? findOption(usage, word + 2, length - 2) : NULL;
  if (!option && (strcmp(word, "-q") == 0 || strcmp(word, "--quiet") == 0)) return pn_beQuiet(), true;
  if (!option) {
    sayUnknown(usage, word);
    return false;
  }
  if (option->kind == PN_OPTION_FLAG && !equals) {
    *(bool *)option->target = true;
    return true;
  }
  if (!isGivenOnce(usage, option, given)) return false;
  const char *value = equals ? equals + 1 : NULL;
  if (!equals && *at + 1 < count) value = argv[++*at];
  if (!equals && value && strncmp(value, "--", 2) == 0) {
    pn_sayWrong(usage, "--%s: expected %s, found the option '%s' (--%s=%s, if that is meant)", option->name,
                expectationOf(option), value, option->name, value);
    return false;
  }
  bool good = setOption(usage, option, value);
  // All files that follow are the option's as well.
  while (good && option->kind == PN_OPTION_FILES && *at + 1 < count && isFile(argv[*at + 1]))
    good = setOption(usage, option, argv[++*at]);
  return good;
}

pnArgs pn_parseArgs(const pnUsage *usage, int *count, char **argv) {
  int fileCount = 0;
  bool onlyFiles = false;
  pnGiven given = {.count = 0};
  if (pn_describe(usage)) return pn_finishOutput(usage->command) ? PN_ARGS_HELP : PN_ARGS_WRONG;
  // Help is given, and the version, whatever else is wrong.
  for (int i = 1; i < *count && strcmp(argv[i], "--") != 0; ++i) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      pn_printHelp(usage);
      return pn_finishOutput(usage->command) ? PN_ARGS_HELP : PN_ARGS_WRONG;
    }
    if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-V") == 0) {
      printf("pinch %s\n", pnGetVersion());
      return pn_finishOutput(usage->command) ? PN_ARGS_HELP : PN_ARGS_WRONG;
    }
  }
  for (int i = 1; i < *count; ++i) {
    // A variable of a script that is not set.
    if (argv[i][0] == '\0') {
      pn_sayWrong(usage, "a word is empty; is a name missing?");
      return PN_ARGS_WRONG;
    }
    if (onlyFiles || isFile(argv[i])) argv[fileCount++] = argv[i];
    else if (strcmp(argv[i], "--") == 0) onlyFiles = true;
    else if (!takeOption(usage, *count, argv, &i, &given)) return PN_ARGS_WRONG;
  }
  *count = fileCount;
  return PN_ARGS_RUN;
}
