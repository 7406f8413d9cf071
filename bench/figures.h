/* figures.h: the rows of the laboratory (record.h) read back, sums over them, and the papers' claims judged by such sums. Plain C
 * and no library, so that scripts/check_docs can build it with one call of the compiler.
 *
 * A sum is what one would write on paper, with rows in brackets, experiment|scene|method|measure:
 *
 *   [e1|s1-20480|our Bergen 2|all ms] / [e1|s1-20480|our hybrid|all ms]        how many times faster
 *   slope[e2|s1|our hybrid|worst contact ms]                                  exponent of growth: value ~ step ^ slope
 *   [e10|soup-15000|the paper|ms by levels]@5                                 one step of a series
 *
 * Functions over a series: slope, mean, least, most. Over several rows (a * in a name stands for any text, a ? for one letter): mean,
 * least, most, count.
 * What has no row has no value: the sum is then not a number, and says which row is missing. */
#ifndef PN_BENCH_FIGURES_H
#define PN_BENCH_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* One row. Texts belong to the figures. step is not a number where there is none. */
typedef struct pnFigure {
  const char *experiment, *scene, *method, *measure;
  double step, value;
} pnFigure;

/* What stands above the rows of a file. */
typedef struct pnFigureHead {
  const char *experiment, *machine, *taken, *settings, *code;
} pnFigureHead;

typedef struct pnFigures {
  pnFigure *rows;
  size_t count, capacity;
  pnFigureHead *heads; /* one a file */
  size_t headCount;
  char **texts; /* the files */
  size_t textCount;
  char message[512]; /* what went wrong last */
} pnFigures;

/* Adds a file of rows. False and a message that names file and line. */
bool pn_readFigures(pnFigures *figures, const char *path);
/* All files NAME.csv of a folder, in the order of their names. */
bool pn_readFigureFolder(pnFigures *figures, const char *folder);
void pn_freeFigures(pnFigures *figures);

/* The value of one row, named in full; not a number when there is none. step: not a number for a row that has none. */
double pn_figureValue(const pnFigures *figures, const char *experiment, const char *scene, const char *method,
                      const char *measure, double step);
/* Had the method wrong pairs in some frame of the scene? */
bool pn_isWrong(const pnFigures *figures, const char *experiment, const char *scene, const char *method);
/* The row of the other library (not pinch, the textbook tree or the floor) with the least of a measure among those whose pairs are
 * right, or, where all are wrong, among all of them; null when there is none. */
const pnFigure *pn_bestPeer(const pnFigures *figures, const char *experiment, const char *scene, const char *measure);

/* The value of a sum; not a number and a message when a row is missing or the sum is not understood. */
double pn_sum(pnFigures *figures, const char *sum);
/* Does a name fit a pattern in which * stands for any text and ? for one letter? */
bool pn_nameFits(const char *pattern, const char *name);

/* ---------------------------------------------------------------- claims */

typedef enum pnVerdict {
  PN_VERDICT_UNMEASURED, /* a row is missing */
  PN_VERDICT_REPRODUCED,
  PN_VERDICT_BETTER,
  PN_VERDICT_NOT, /* not reproduced: the claim says why */
  PN_VERDICT_COUNT
} pnVerdict;

const char *pnVerdict_Text(pnVerdict verdict);

/* From low to high, both included. */
typedef struct pnRange {
  double low, high;
  bool isSet;
} pnRange;

/* One claim of a paper, as bench/claims.txt has it. Texts belong to the claims; null where there is none. */
typedef struct pnClaim {
  const char *name, *paper, *says, *number, *theirs, *ours, *why;
  pnRange holds, better; /* of the value of theirs and ours */
} pnClaim;

typedef struct pnClaims {
  pnClaim *claims;
  size_t count;
  char *text;
  char message[512];
} pnClaims;

bool pn_readClaims(pnClaims *claims, const char *path);
/* The same from text in memory, which is copied. name: for messages. */
bool pn_parseClaims(pnClaims *claims, const char *name, const char *text);
void pn_freeClaims(pnClaims *claims);

/* A claim with the rows there are: by the method as the paper has it, and as pinch does it today. Not a number and unmeasured
 * where there is no sum or a row is missing. */
typedef struct pnJudgement {
  double theirs, ours;
  pnVerdict theirVerdict, ourVerdict;
} pnJudgement;

pnJudgement pn_judge(pnFigures *figures, const pnClaim *claim);

/* The verdicts as a table in Markdown. */
void pn_writeVerdicts(FILE *out, pnFigures *figures, const pnClaims *claims);

#endif
