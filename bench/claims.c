/* claims.c: the claims of the papers, read from a table and judged by the rows there are. See figures.h. */
#define _GNU_SOURCE
#include "figures.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *pnVerdict_Text(pnVerdict verdict) {
  static const char *const texts[PN_VERDICT_COUNT] = {"not measured", "reproduced", "better", "not reproduced"};
  return texts[verdict];
}

/* ---------------------------------------------------------------- reading */

/* "3.5 ..", ".. 1.2", "0.9 .. 1.1". */
static bool readRange(const char *text, pnRange *out) {
  const char *dots = strstr(text, "..");
  if (dots == NULL) return false;
  char *end;
  *out = (pnRange){-INFINITY, INFINITY, true};
  double low = strtod(text, &end);
  if (end != text) out->low = low;
  double high = strtod(dots + 2, &end);
  if (end != dots + 2) out->high = high;
  return isfinite(out->low) || isfinite(out->high);
}

/* One line of a claim: a word and what it says. False when the word is unknown or the range is none. */
static bool readLine(pnClaim *claim, char *word, char *value) {
  const struct {
    const char *word, **field;
  } texts[] = {{"paper", &claim->paper},   {"says", &claim->says}, {"number", &claim->number},
               {"theirs", &claim->theirs}, {"ours", &claim->ours}, {"why", &claim->why}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    if (strcmp(word, texts[i].word) == 0) {
      *texts[i].field = value;
      return true;
    }
  }
  if (strcmp(word, "holds") == 0) return readRange(value, &claim->holds);
  if (strcmp(word, "better") == 0) return readRange(value, &claim->better);
  return false;
}

static bool isWhole(const pnClaim *c) {
  return c->paper && c->says && c->number && (c->theirs || c->ours) && c->holds.isSet;
}

bool pn_parseClaims(pnClaims *claims, const char *name, const char *text) {
  *claims = (pnClaims){0};
  claims->text = strdup(text);
  if (claims->text == NULL) return false;
  size_t number = 0;
  for (char *line = claims->text, *next; line != NULL; line = next) {
    next = strchr(line, '\n');
    if (next != NULL) *next++ = '\0';
    ++number;
    line += strspn(line, " ");
    if (*line == '\0' || *line == '#') continue;
    char *value = line + strcspn(line, " ");
    if (*value != '\0') *value++ = '\0';
    value += strspn(value, " ");
    bool isNew = strcmp(line, "claim") == 0;
    if (isNew) {
      pnClaim *grown = realloc(claims->claims, sizeof *grown * (claims->count + 1));
      if (grown == NULL) return false;
      claims->claims = grown;
      claims->claims[claims->count++] = (pnClaim){.name = value};
    }
    if (!isNew && (claims->count == 0 || !readLine(&claims->claims[claims->count - 1], line, value))) {
      snprintf(claims->message, sizeof claims->message, "%s:%zu: \"%s %s\" is not a line of a claim", name, number,
               line, value);
      return false;
    }
  }
  for (size_t i = 0; i < claims->count; ++i) {
    if (!isWhole(&claims->claims[i])) {
      snprintf(claims->message, sizeof claims->message, "%s: claim %s lacks paper, says, number, holds or a sum", name,
               claims->claims[i].name);
      return false;
    }
  }
  return true;
}

bool pn_readClaims(pnClaims *claims, const char *path) {
  *claims = (pnClaims){0};
  FILE *file = fopen(path, "r");
  char *text = calloc(1, 1 << 20);
  bool ok =
      file != NULL && text != NULL && fread(text, 1, (1 << 20) - 1, file) > 0 && pn_parseClaims(claims, path, text);
  if (!ok && claims->message[0] == '\0')
    snprintf(claims->message, sizeof claims->message, "cannot read %s: %s", path, strerror(errno));
  if (file != NULL) fclose(file);
  free(text);
  return ok;
}

void pn_freeClaims(pnClaims *claims) {
  free(claims->claims);
  free(claims->text);
  *claims = (pnClaims){0};
}

/* ---------------------------------------------------------------- judging */

static bool isIn(pnRange range, double value) {
  return range.isSet && value >= range.low && value <= range.high;
}

static pnVerdict judgeValue(const pnClaim *claim, double value) {
  if (isnan(value)) return PN_VERDICT_UNMEASURED;
  if (isIn(claim->better, value)) return PN_VERDICT_BETTER;
  return isIn(claim->holds, value) ? PN_VERDICT_REPRODUCED : PN_VERDICT_NOT;
}

pnJudgement pn_judge(pnFigures *figures, const pnClaim *claim) {
  pnJudgement j = {.theirs = claim->theirs ? pn_sum(figures, claim->theirs) : NAN,
                   .ours = claim->ours ? pn_sum(figures, claim->ours) : NAN};
  j.theirVerdict = judgeValue(claim, j.theirs);
  j.ourVerdict = judgeValue(claim, j.ours);
  return j;
}

/* ---------------------------------------------------------------- a table */

static void putJudged(FILE *out, bool has, double value, pnVerdict verdict) {
  if (!has) fprintf(out, " |");
  else if (isnan(value)) fprintf(out, " not measured |");
  else fprintf(out, " %.3g, %s |", value, pnVerdict_Text(verdict));
}

void pn_writeVerdicts(FILE *out, pnFigures *figures, const pnClaims *claims) {
  fprintf(out,
          "| the paper says | where | its figure | as the paper has it | as pinch does it | |\n"
          "|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < claims->count; ++i) {
    const pnClaim *c = &claims->claims[i];
    pnJudgement j = pn_judge(figures, c);
    fprintf(out, "| %s | %s | %s |", c->says, c->paper, c->number);
    putJudged(out, c->theirs, j.theirs, j.theirVerdict);
    putJudged(out, c->ours, j.ours, j.ourVerdict);
    fprintf(out, " %s |\n", c->why ? c->why : "");
  }
}
