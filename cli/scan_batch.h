/* scan_batch.h: many scans in one: `pinch scan --list FILES`.
 *
 *   scan_batch.c   the files, one after the other or dealt out to ranks; rows as they finish; going on
 *   scan_index.c   a row as JSON, and the page with all of them
 *   thumb.c        the small picture of a row */
#ifndef PN_CLI_SCAN_BATCH_H
#define PN_CLI_SCAN_BATCH_H

#include "bytes.h"
#include "scan.h"

/* Scans every file of options->list; the exit status comes back: 2 when one could not be scanned, else 1 when one has findings that
 * count. */
int pn_batchWork(const pnScanOptions *options);

/* Scans one file alone (scan_work.c). Null: it was stopped, or there is no memory. */
json_t *pn_scanRow(char *word, const pnScanOptions *options);

/* A row of a scan that is done, as a JSON object; null without memory. */
json_t *pn_rowOfScan(pnScan *scan);
/* A row of one that could not be done. */
json_t *pn_rowOfError(const char *file, const char *message);
/* The page of all rows, a JSON array. */
void pn_writeIndex(pnOutFile *file, const char *title, json_t *rows);

/* The bodies where a finding is deepest, or in the first frame without one, as PNG in base64 behind `out`. */
pnResult pn_drawThumb(pnScan *scan, const pnScanFinding *finding, pnBytes *out);

#endif
