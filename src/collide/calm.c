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

/* Which of the pairs of a block do the weights leave calm? Bits. In float: n terms are off by n 2^-23 of their sum at most,
 * 0.008 for 65 536 targets and 1e-5 for a hundred, while the sum is below 1; 0.99 leaves that free. All terms of all eight are
 * added, whatever the sum is already: stopping early costs more than it saves, since when it happens nobody can predict. */
static unsigned calmLanes(const pnCalm *calm, uint32_t at, float noise) {
  const pnCalmBlock *block = &calm->blocks[at];
  const pnCalmRow *row = calm->rows + block->rowFirst, *end = calm->rows + block[1].rowFirst;
  pnF4 n = pn_f4Set1(noise), most = pn_f4Set1(0.99f);
  pnF4 low = pn_f4Mul(n, pn_f4Load(block->noise)), high = pn_f4Mul(n, pn_f4Load(block->noise + 4));
  for (; row < end; row++) {
    pnCalmChange c = calm->change[row->target];
    const uint16_t *toward = row->toward[c.below];
    pnF4 size = pn_f4Set1(c.size);
    low = pn_f4Add(low, pn_f4Mul(size, pn_f4FromUpper(toward)));
    high = pn_f4Add(high, pn_f4Mul(size, pn_f4FromUpper(toward + 4)));
  }
  return pn_f4Signs(pn_f4Greater(most, low)) | pn_f4Signs(pn_f4Greater(most, high)) << 4;
}

/* Notes the pairs [first, end) of a block and puts those that are not calm into the queue, which has `count`. */
PN_INLINE uint32_t takeBlock(pnCalm *calm, uint32_t block, uint32_t first, uint32_t end, float noise, uint32_t count) {
  unsigned lanes = calmLanes(calm, block, noise);
  for (uint32_t i = first; i < end; i++, lanes >>= 1) {
    calm->isCalm[i] = lanes & 1;
    calm->queue[count] = i;
    count += !(lanes & 1);
  }
  return count;
}

const pnCalm *pn_walkCalm(pnTree *tree) {
  pnCalm *calm = tree->calm;
  if (!calm || calm->frame == tree->pose->frame) {
    return calm;
  }
  const pnPose *pose = tree->pose;
  float noise = (float)(1.02 * noiseOf(pose));
  calm->restlessCount = 0;
  /* how far each weight is from its rest weight */
  for (uint32_t t = 0; t < pose->morph->targetCount; t++) {
    float above = pose->weights[t] - pose->morph->restWeights[t];
    calm->change[t] = (pnCalmChange){fabsf(above), above < 0};
  }
  /* pairs that are not calm, in the order in which they are found */
  uint32_t count = takeBlock(calm, calm->blockCount - 1, 0, 1, noise, 0);
  for (uint32_t i = 0; i < count; i++) {
    const pnCalmPair *pair = &calm->pairs[calm->queue[i]];
    if (pair->link != PN_NONE) {
      calm->restless[calm->restlessCount++] = (pnRestless){pair->a - tree->innerCount, pair->link};
    }
    uint32_t block = pair->blockFirst, end = pair[1].childFirst;
    for (uint32_t c = pair->childFirst; c < end; c += PN_LANES) {
      count = takeBlock(calm, block++, c, PN_MIN(c + PN_LANES, end), noise, count);
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
    while (at < end && calm->byNode[at].a != b) {
      at++;
    }
    list->data[kept] = p;
    kept += at == end || !calm->isCalm[calm->byNode[at].b];
  }
  list->count = kept;
}
