/* bucket_morton.c: no buckets: everything sorted by Morton code in every update, leaves filled up. What others do, to compare with. */
#include "tree/bucket.h"

static void mortonCodes(const pnCells cells[3], pnCodeBatch *batch) {
  for (uint32_t i = 0; i < batch->count; ++i) batch->codes[i] = pn_mortonOf(cells, batch->centres[i]);
}

static pnResult updateMorton(pnTree *tree, pnBuckets *b, const pnTasks *tasks) {
  pnCells cells[3];
  pn_findCentres(b, tasks);
  bool ok = pn_leavesOfCurve(b, NULL, cells, tasks) && pn_growTree(tree, b, NULL);
  return ok ? pn_fillNew(tree, b, tasks) : pn_failSoup(b);
}

const pnBucketWay pn_bucketMorton = {.name = "morton", .centres = true, .codes = mortonCodes, .update = updateMorton};
