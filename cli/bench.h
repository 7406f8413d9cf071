/* bench.h: parts of `pinch bench`: which experiments there are, how they are run, what is shown. */
#ifndef PN_CLI_BENCH_H
#define PN_CLI_BENCH_H

#include "args.h"

#include "figures.h"

#include <jansson.h>

/* An experiment is a program of the laboratory with its words. It leaves one file of rows, <name>.csv. */
typedef struct pnExperiment {
  const char *name, *group;       /* "papers", "peers", "more" */
  const char *program;            /* "bench_papers" */
  const char *words, *quick;      /* what it is told; with --quick */
  const char *passes;             /* the option that takes --repeat; null: none */
  const char *threads;            /* --threads adds a peer, this with the number behind it; null: none */
  uint32_t seconds, quickSeconds; /* about; pn_secondsOf has what was measured */
  bool images;                    /* measures layered depth images, not trees: scripts/fingerprint */
  const char *text;
} pnExperiment;

/* Null past the last one. */
const pnExperiment *pn_experiment(size_t i);
/* How long it takes: as it was measured (bench/results/lab/time.csv), or about. */
uint32_t pn_secondsOf(const pnExperiment *e, bool quick);

/* What the user asked for. */
typedef struct pnBenchRun {
  const char *folder, *csv, *json, *html; /* null: not asked for, the folder is always there */
  uint32_t repeat, threads;               /* 0: as the experiment has it */
  bool quick, again;
  const pnExperiment *chosen[64];
  size_t chosenCount;
  pnWords scenes; /* of `pinch bench scene` */
} pnBenchRun;

/* Runs what was chosen and is not there yet. False when one failed, after saying so; the others are kept. */
bool pn_runExperiments(const pnBenchRun *run);

/* What the rows of the folder say: verdicts about the papers, ratios to the others; and files, when asked for. */
bool pn_showResults(const pnBenchRun *run);
/* --html: the same as a page of its own. False after saying why not. */
bool pn_writeBenchPage(const char *path, pnFigures *figures, const pnClaims *claims);
/* --json: the same for machines. */
json_t *pn_benchJson(pnFigures *figures, const pnClaims *claims);

/* The claims, built in. */
extern const unsigned char pn_textOfClaims[];
/* How long the experiments took: rows, built in; empty when there are none. */
extern const unsigned char pn_textOfTimes[];

/* What the code of the library says, of trees or images (scripts/fingerprint). */
extern const char pn_codeOfTrees[], pn_codeOfImages[];

#endif
