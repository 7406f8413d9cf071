/* bulk.c: see bulk.h. */
#include "tree/bulk.h"

#include "geom/box.h"
#include "tree/tree.h"

#include <math.h>
#include <string.h>

/* Trees of fewer leaves have few pairs of them, however large their cells. */
#define LEAST_LEAVES 32u
/* Leaves of a body that has n of them are about 2^13.5 / sqrt(n) cells of its bulk long. Cells of the whole, r times as large, are too coarse when
 * that is less than four of them: r^2 n > 2^23. And a part is a bulk when the whole is so many times as long. */
#define BLURRED 0x1p23
#define LEAST_RATIO 16.0
/* A bulk is between those at an eighth and at seven eighths of all samples, along every axis, and so much beside them as makes it REACH times as
 * long, to both sides; no more than STRAYS are elsewhere. With four of 256 a body in the void around a bulk meets some hundredths of its leaves at
 * most. */
#define RANK (PN_SAMPLES / 8)
#define REACH 2.0
#define STRAYS 4u
/* Grids finer than this are lifted (update.c), and are not clipped. */
#define MOST_EXPONENT 100
/* The whole has become four times as long; and after a frame in which there was a bulk it is asked for in so many more. */
#define STEPS 2
#define PATIENCE 64u

/* ---------------------------------------------------------------- of places */

/* Shell's sort. */
static void sort(float *numbers) {
  for (uint32_t gap = PN_SAMPLES / 2; gap > 0; gap /= 2) {
    for (uint32_t i = gap; i < PN_SAMPLES; ++i) {
      float x = numbers[i];
      uint32_t j = i;
      for (; j >= gap && numbers[j - gap] > x; j -= gap) numbers[j] = numbers[j - gap];
      numbers[j] = x;
    }
  }
}

float pn_medianOf(const float numbers[PN_SAMPLES]) {
  float sorted[PN_SAMPLES];
  memcpy(sorted, numbers, sizeof sorted);
  sort(sorted);
  return sorted[PN_SAMPLES / 2];
}

/* Along one axis: the middle of most, and how long that is. */
static void measure(const float *numbers, double *outMiddle, double *outLength) {
  float sorted[PN_SAMPLES];
  memcpy(sorted, numbers, sizeof sorted);
  sort(sorted);
  double lo = sorted[RANK], hi = sorted[PN_SAMPLES - 1 - RANK];
  *outMiddle = 0.5 * (lo + hi);
  *outLength = hi - lo;
}

/* The box of those that are no further from the middle than `reach`; returns how many others there are. */
static uint32_t boxAround(const pnSamples *s, const double middle[3], double reach, pnBox *out) {
  uint32_t strays = 0;
  *out = (pnBox){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  float *lo = &out->min.x, *hi = &out->max.x;
  for (uint32_t i = 0; i < PN_SAMPLES; ++i) {
    bool near = true;
    for (int k = 0; k < 3; ++k) near = near && fabs(s->at[k][i] - middle[k]) <= reach;
    strays += !near;
    for (int k = 0; near && k < 3; ++k) {
      lo[k] = PN_MIN(lo[k], s->at[k][i]);
      hi[k] = PN_MAX(hi[k], s->at[k][i]);
    }
  }
  return strays;
}

bool pn_findMost(const pnSamples *samples, pnBox *out) {
  double middle[3], length[3];
  for (int k = 0; k < 3; ++k) measure(samples->at[k], &middle[k], &length[k]);
  double most = PN_MAX(length[0], PN_MAX(length[1], length[2]));
  return most > 0 && boxAround(samples, middle, REACH * most, out) <= STRAYS;
}

/* ---------------------------------------------------------------- of a tree */

static void takeSamples(const pnTree *tree, pnSamples *out) {
  const pnMesh *mesh = tree->mesh;
  uint32_t vertices[PN_SAMPLES];
  float place[PN_SAMPLES][4];
  for (uint32_t i = 0; i < PN_SAMPLES; ++i)
    vertices[i] = mesh->triangles[3 * pn_sampleAt(i, mesh->triangleCount) + i % 3];
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
  if (tree->shape->leafCount < LEAST_LEAVES || exponent > MOST_EXPONENT) return bulk->isThere = false;
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
