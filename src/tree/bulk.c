/* bulk.c: see bulk.h. */
#include "tree/bulk.h"

#include "geom/box.h"
#include "geom/sample.h"
#include "tree/bucket.h"
#include "tree/update.h"

/* Trees of fewer leaves have few pairs of them, however large their cells. */
#define LEAST_LEAVES 32u
/* Leaves of a body that has n of them are about 2^13.5 / sqrt(n) cells of its bulk long. Cells of the whole, r times as large, are too coarse when
 * that is less than four of them: r^2 n > 2^23, as where another body is so much larger (world/focus.c). And a part is a bulk when the whole is so
 * many times as long. */
#define BLURRED 0x1p23
#define LEAST_RATIO 16.0
/* The whole has become four times as long; and after a frame in which there was a bulk it is asked for in so many more. */
#define STEPS 2
#define PATIENCE 64u

/* A triangle. Of a soup one that is alive: dead places are where they were. */
static uint32_t triangleAt(const pnTree *tree, uint32_t sample) {
  if (!tree->rule->reshapes) return (uint32_t)pn_sampleAt(sample, tree->mesh->triangleCount);
  const pnBuckets *b = tree->ruleData;
  return b->order[pn_sampleAt(sample, b->count)];
}

static void takeSamples(const pnTree *tree, pnSamples *out) {
  const pnMesh *mesh = tree->mesh;
  uint32_t vertices[PN_SAMPLES];
  float place[PN_SAMPLES][4];
  for (uint32_t i = 0; i < PN_SAMPLES; ++i) vertices[i] = mesh->triangles[3 * (size_t)triangleAt(tree, i) + i % 3];
  pn_poseFetch(tree->pose, vertices, PN_SAMPLES, &place[0][0], 4);
  for (uint32_t i = 0; i < PN_SAMPLES; ++i)
    for (int k = 0; k < 3; ++k) out->at[k][i] = place[i][k];
}

static bool isBlurred(double ratio, uint32_t leafCount) {
  return ratio > LEAST_RATIO && ratio * ratio * leafCount > BLURRED;
}

static bool find(const pnTree *tree, pnBox *out) {
  pnSamples samples;
  takeSamples(tree, &samples);
  return pn_findMost(&samples, out) &&
         isBlurred(pn_longestSide(&tree->box) / pn_longestSide(out), tree->shape->leafCount);
}

bool pn_findBulk(pnTree *tree) {
  pnBulk *bulk = &tree->bulk;
  int32_t exponent = tree->grid.exponent;
  if (tree->shape->leafCount < LEAST_LEAVES) return bulk->isThere = false;
  if (bulk->wasAsked && bulk->patience == 0 && exponent > bulk->exponent - STEPS) {
    bulk->exponent = PN_MAX(bulk->exponent, exponent);
    return false;
  }
  bool was = bulk->isThere;
  bulk->wasAsked = true;
  bulk->exponent = exponent;
  bulk->isThere = find(tree, &bulk->box);
  bulk->patience = bulk->isThere ? PATIENCE : bulk->patience - (bulk->patience > 0);
  if (!was) bulk->surface = 0;
  return bulk->isThere;
}
