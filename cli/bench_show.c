/* bench_show.c: what the rows of `pinch bench` say: verdicts about the papers, ratios to other libraries; as tables, JSON, one
 * CSV, or a page. */
#define _GNU_SOURCE
#include "bench.h"
#include "out.h"

#include "pinch/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- tables */

static void addJudged(pnTable *table, bool has, double value, pnVerdict verdict) {
  if (!has) {
    pn_addCell(table, "%s", "");
  } else if (isnan(value)) {
    pn_addCell(table, "not measured");
    pn_paintCell(table, PN_COLOR_DIM);
  } else {
    pn_addCell(table, "%.3g %s", value, pnVerdict_Text(verdict));
    pn_paintCell(table, verdict == PN_VERDICT_NOT ? PN_COLOR_YELLOW : PN_COLOR_GREEN);
  }
}

/* Only claims of which something was measured. */
static bool printVerdicts(pnFigures *figures, const pnClaims *claims) {
  pnTable table = {0};
  pn_addColumn(&table, "claim");
  pn_addColumn(&table, ">paper");
  pn_addColumn(&table, "as the paper has it");
  pn_addColumn(&table, "as pinch does it");
  pn_addColumn(&table, "what it says");
  size_t counts[PN_VERDICT_COUNT] = {0};
  for (size_t i = 0; i < claims->count; ++i) {
    const pnClaim *c = &claims->claims[i];
    pnJudgement j = pn_judge(figures, c);
    pnVerdict verdict = c->theirs ? j.theirVerdict : j.ourVerdict;
    ++counts[verdict];
    if (isnan(j.theirs) && isnan(j.ours)) continue;
    pn_addCell(&table, "%s", c->name);
    pn_addCell(&table, "%s", c->number);
    addJudged(&table, c->theirs, j.theirs, j.theirVerdict);
    addJudged(&table, c->ours, j.ours, j.ourVerdict);
    char text[1024];
    bool why = c->why && verdict == PN_VERDICT_NOT;
    snprintf(text, sizeof text, "%s%s%s", c->says, why ? "\n" : "", why ? c->why : "");
    pn_addText(&table, text);
  }
  bool good = table.cellCount == 0 || pn_printTable(&table);
  pn_freeTable(&table);
  printf("\nClaims: %zu reproduced, %zu better, %zu not reproduced, %zu not measured.\n", counts[PN_VERDICT_REPRODUCED],
         counts[PN_VERDICT_BETTER], counts[PN_VERDICT_NOT], counts[PN_VERDICT_UNMEASURED]);
  return good;
}

/* Every method of an experiment that names libraries: time, ratio to the best of the others, and whether it was right. */
static bool printPeers(pnFigures *f, const char *experiment, const char *measure) {
  pnTable table = {0};
  pn_addColumn(&table, "scene");
  pn_addColumn(&table, "peer");
  pn_addColumn(&table, ">ms");
  pn_addColumn(&table, ">times as fast");
  pn_addColumn(&table, ">worst/median");
  pn_addColumn(&table, ">MB");
  pn_addColumn(&table, "pairs");
  for (size_t i = 0; i < f->count; ++i) {
    const pnFigure *r = &f->rows[i];
    if (strcmp(r->experiment, experiment) != 0 || strcmp(r->measure, measure) != 0 || !isnan(r->step)) continue;
    const pnFigure *best = pn_bestPeer(f, experiment, r->scene, measure);
    double wrong = pn_figureValue(f, experiment, r->scene, r->method, "wrong frames", NAN);
    double worst = pn_figureValue(f, experiment, r->scene, r->method, "worst ms", NAN);
    pn_addCell(&table, "%s", r->scene);
    pn_addCell(&table, "%s", r->method);
    pn_addCell(&table, "%.4g", r->value);
    pn_addCell(&table, best ? "%.2f" : "", best ? best->value / r->value : 0.0);
    pn_addCell(&table, isnan(worst) ? "" : "%.2f", worst / r->value);
    pn_addCell(&table, "%.1f", pn_figureValue(f, experiment, r->scene, r->method, "MB", NAN));
    if (wrong > 0) pn_addCell(&table, "WRONG in %.0f frames", wrong), pn_paintCell(&table, PN_COLOR_RED);
    else pn_addCell(&table, "right");
  }
  bool some = table.cellCount > 0;
  bool good = !some || pn_printTable(&table);
  if (some)
    printf(
        "times as fast: than the best setting of the best other library whose pairs are right, or of those whose "
        "pairs\n"
        "are wrong where all are\n\n");
  pn_freeTable(&table);
  return good;
}

/* ---------------------------------------------------------------- JSON, CSV */

static json_t *number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text(const char *value) {
  return value ? pn_jsonText(value) : json_null();
}

json_t *pn_benchJson(pnFigures *f, const pnClaims *claims) {
  json_t *rows = json_array(), *verdicts = json_array(), *runs = json_array();
  for (size_t i = 0; i < f->headCount; ++i) {
    const pnFigureHead *h = &f->heads[i];
    json_array_append_new(
        runs, json_pack("{s:o, s:o, s:o, s:o, s:o}", "experiment", text(h->experiment), "machine", text(h->machine),
                        "taken", text(h->taken), "settings", text(h->settings), "code", text(h->code)));
  }
  for (size_t i = 0; i < f->count; ++i) {
    const pnFigure *r = &f->rows[i];
    json_array_append_new(rows, json_pack("[o, o, o, o, o, o]", text(r->experiment), text(r->scene), text(r->method),
                                          text(r->measure), number(r->step), number(r->value)));
  }
  for (size_t i = 0; i < claims->count; ++i) {
    const pnClaim *c = &claims->claims[i];
    pnJudgement j = pn_judge(f, c);
    json_array_append_new(
        verdicts,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:s, s:o}", "claim", text(c->name), "paper", text(c->paper),
                  "says", text(c->says), "number", text(c->number), "theirs", number(j.theirs), "theirs_verdict",
                  c->theirs ? pnVerdict_Text(j.theirVerdict) : "", "ours", number(j.ours), "ours_verdict",
                  c->ours ? pnVerdict_Text(j.ourVerdict) : "", "why", text(c->why)));
  }
  return json_pack("{s:s, s:o, s:[s,s,s,s,s,s], s:o, s:o}", "pinch", pnGetVersion(), "runs", runs, "columns",
                   "experiment", "scene", "method", "measure", "step", "value", "rows", rows, "verdicts", verdicts);
}

static void putCsvCell(pnOutFile *out, const char *cell) {
  pnOutFile_Print(out, strchr(cell, ',') ? "\"%s\"," : "%s,", cell);
}

static bool writeCsv(const pnFigures *f, const char *path) {
  pnOutFile *out;
  bool good = pnOpenOutFile(path, &out) == PN_OK;
  if (good) {
    pnOutFile_Print(out, "experiment,scene,method,measure,step,value\n");
    for (size_t i = 0; i < f->count; ++i) {
      const pnFigure *r = &f->rows[i];
      putCsvCell(out, r->experiment);
      putCsvCell(out, r->scene);
      putCsvCell(out, r->method);
      putCsvCell(out, r->measure);
      if (!isnan(r->step)) pnOutFile_Print(out, "%.9g", r->step);
      pnOutFile_Print(out, ",%.6g\n", r->value);
    }
    good = pnCloseOutFile(out, true) == PN_OK;
  }
  if (!good) pn_sayFailure("bench");
  return good;
}

/* ---------------------------------------------------------------- all of it */

bool pn_showResults(const pnBenchRun *run) {
  pnFigures figures = {0};
  pnClaims claims = {0};
  bool good = pn_readFigureFolder(&figures, run->folder);
  if (!good) fprintf(stderr, "pinch bench: %s\n", figures.message);
  else if (!(good = pn_parseClaims(&claims, "claims", (const char *)pn_textOfClaims)))
    fprintf(stderr, "pinch bench: %s\n", claims.message);
  if (good && figures.count == 0) {
    fprintf(stderr, "pinch bench: there are no rows in %s\n", run->folder);
    good = false;
  }
  if (good && run->csv) good = writeCsv(&figures, run->csv);

  if (good && run->html) good = pn_writeBenchPage(run->html, &figures, &claims);
  if (good && run->html && !run->json) printf("the page is %s\n\n", run->html);
  if (good && run->json) good = pn_printJson(pn_benchJson(&figures, &claims));
  else if (good)
    good = printPeers(&figures, "scene", "median ms") && printPeers(&figures, "world", "median ms") &&
           printPeers(&figures, "libraries", "all ms") && printVerdicts(&figures, &claims);
  pn_freeFigures(&figures);
  pn_freeClaims(&claims);
  return good;
}
