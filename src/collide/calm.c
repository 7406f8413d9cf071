/* calm.c: the calm pairs of a frame. See calm.h. */
#include "collide/calm.h"

#include <float.h>
#include <math.h>

/* How far a float vertex in the world can be from where real numbers would put it, as a length. With u = 2^-24, m weights
 * and g(k) = k u / (1 - k u): the pose's sum is off by g(m + 2) reach in each coordinate, and so is that of the rest pose
 * from which weights are counted; the transform's by 4u (3 reach + shift); and a length is at most sqrt(3) times a
 * coordinate. 1.001 for the stretch of the transform. */
static double noiseOf(const pnPose *pose) {
  double k = (pose->morph->targetCount + 2.0) * 0x1p-24, reach = (double)pose->sourceMaxAbs, shift = 0;
  float rest = 0;
  (void)pn_checkWeights(pose->morph, "pose", pose->morph->restWeights, &rest);
  for (int i = 0; i < 3; i++) {
    shift = fmax(shift, fabs((double)pose->transform.m[i][3]));
  }
  double world = pose->hasTransform ? 4 * 0x1p-24 * (3 * reach + shift) : 0;
  return 1.733 * 1.001 * (k / (1 - k) * (reach + (double)rest) + world) + FLT_MIN;
}

/* Terms looked at before the sum is compared: the first ones bring a pair together most. */
#define TERM_STEP 4

PN_INLINE float partOf(const pnCalmChange *change, const pnCalmTerm *term) {
  pnCalmChange c = change[term->target];
  uint32_t bits = (uint32_t)term->toward[c.below] << 16;
  float toward;
  memcpy(&toward, &bits, sizeof toward);
  return c.size * toward;
}

/* Do the weights leave a pair calm? In float: n terms are off by n 2^-23 of their sum at most, 0.008 for 65 536 targets and
 * 1e-5 for a hundred, while the sum is below 1; 0.99 leaves that free. Terms do not take from the sum, so it is over when a
 * part of them is too much, and need not begin when all of them could not do it. */
static bool isCalm(const pnCalm *calm, const pnCalmPair *pair, float noise) {
  float sum = pair->noise * noise;
  if (sum + pair->total * calm->mostChange < 0.99f) {
    return true;
  }
  const pnCalmTerm *term = calm->terms + pair->termFirst, *end = calm->terms + pair[1].termFirst;
  const pnCalmChange *change = calm->change;
  for (; end - term > TERM_STEP && sum < 0.99f; term += TERM_STEP) {
    sum += (partOf(change, term) + partOf(change, term + 1)) + (partOf(change, term + 2) + partOf(change, term + 3));
  }
  for (; term < end; term++) {
    sum += partOf(change, term);
  }
  return sum < 0.99f;
}

const pnCalm *pn_walkCalm(pnTree *tree) {
  pnCalm *calm = tree->calm;
  if (!calm || calm->frame == tree->pose->frame) {
    return calm;
  }
  const pnPose *pose = tree->pose;
  float noise = (float)(1.02 * noiseOf(pose));
  calm->restlessCount = 0;
  calm->mostChange = 0;
  /* how far each weight is from its rest weight */
  for (uint32_t t = 0; t < pose->morph->targetCount; t++) {
    float above = pose->weights[t] - pose->morph->restWeights[t];
    calm->change[t] = (pnCalmChange){fabsf(above), above < 0};
    calm->mostChange = PN_MAX(calm->mostChange, calm->change[t].size);
  }
  /* pairs that are not calm, in the order in which they are found */
  uint32_t count = 0;
  calm->isCalm[0] = isCalm(calm, &calm->pairs[0], noise);
  calm->queue[0] = 0;
  count += !calm->isCalm[0];
  for (uint32_t i = 0; i < count; i++) {
    const pnCalmPair *pair = &calm->pairs[calm->queue[i]];
    if (pair->link != PN_NONE) {
      calm->restless[calm->restlessCount++] = (pnRestless){pair->a - tree->innerCount, pair->link};
    }
    for (uint32_t c = pair->childFirst; c < pair[1].childFirst; c++) {
      calm->isCalm[c] = isCalm(calm, &calm->pairs[c], noise);
      calm->queue[count] = c;
      count += !calm->isCalm[c];
    }
  }
  calm->frame = pose->frame;
  return calm;
}

bool pn_allCalm(const pnCalm *calm) {
  return calm->isCalm[0];
}

void pn_pruneCalm(const pnCalm *calm, pnPairs *list, size_t from) {
  size_t kept = from;
  for (size_t i = from; i < list->count; i++) {
    pnPair p = list->data[i];
    uint32_t a = PN_MIN(p.a, p.b), b = PN_MAX(p.a, p.b), at = calm->pairFirst[a], end = calm->pairFirst[a + 1];
    while (at < end && calm->pairs[calm->byNode[at]].b != b) {
      at++;
    }
    list->data[kept] = p;
    kept += at == end || !calm->isCalm[calm->byNode[at]];
  }
  list->count = kept;
}
