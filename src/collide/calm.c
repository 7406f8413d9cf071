/* calm.c: the calm pairs of a frame. See calm.h. */
#include "collide/calm.h"

#include "collide/proof.h"

#include <float.h>
#include <math.h>

double pn_calmNoise(const pnPose *pose) {
  double k = (pose->morph->targetCount + 2.0) * 0x1p-24, reach = (double)pose->sourceMaxAbs, shift = 0;
  float rest = 0;
  (void)pn_checkWeights(pose->morph, "pose", pose->morph->restWeights, &rest);
  for (int i = 0; i < 3; ++i) shift = fmax(shift, fabs((double)pose->transform.m[i][3]));
  double world = pose->hasTransform ? 4 * 0x1p-24 * (3 * reach + shift) : 0;
  return 1.733 * 1.001 * (k / (1 - k) * (reach + (double)rest) + world) + FLT_MIN;
}

/* Which of the pairs of a block do the weights leave calm? Bits. In float: n terms are off by n 2^-23 of their sum at most,
 * 0.008 for 65 536 targets and 1e-5 for a hundred, while the sum is below 1; 0.99 leaves that free. All terms of all eight are
 * added, whatever the sum is already: stopping early costs more than it saves, since when it happens nobody can predict. */
static unsigned calmLanes(const pnCalmFrame *frame, uint32_t at, float noise) {
  const pnCalm *calm = frame->calm;
  const pnCalmBlock *block = &calm->blocks[at];
  const pnCalmRow *row = calm->rows + block->rowFirst, *end = calm->rows + block[1].rowFirst;
  pnF4 n = pn_f4Set1(noise), most = pn_f4Set1(0.99f);
  pnF4 low = pn_f4Mul(n, pn_f4Load(block->noise)), high = pn_f4Mul(n, pn_f4Load(block->noise + 4));
  for (; row < end; ++row) {
    pnCalmChange c = frame->change[row->target];
    const uint16_t *toward = row->toward[c.below];
    pnF4 size = pn_f4Set1(c.size);
    low = pn_f4Add(low, pn_f4Mul(size, pn_f4FromUpper(toward)));
    high = pn_f4Add(high, pn_f4Mul(size, pn_f4FromUpper(toward + 4)));
  }
  return pn_f4Signs(pn_f4Greater(most, low)) | pn_f4Signs(pn_f4Greater(most, high)) << 4;
}

/* Looks at the children of a pair: notes which are calm, puts the others into the queue, which has `count`, and says whether
 * the far ones are calm. */
static bool takeChildren(pnCalmFrame *frame, const pnCalmPair *pair, float noise, uint32_t *count) {
  uint32_t block = pair->blockFirst, end = pair[1].childFirst;
  unsigned lanes = 0, left = 0;
  for (uint32_t c = pair->childFirst; c < end; ++c, lanes >>= 1, --left) {
    if (left == 0) {
      lanes = calmLanes(frame, block++, noise);
      left = PN_LANES;
    }
    frame->isCalm[c] = lanes & 1;
    frame->queue[*count] = c;
    *count += !(lanes & 1);
  }
  if (pair->hasFar && left == 0) lanes = calmLanes(frame, block, noise);
  return !pair->hasFar || (lanes & 1);
}

/* What of a pair that is not calm is left to do, when its children have been looked at: a pair of leaves is a seed, and so is
 * one whose far children are not calm, with everything below it. */
static void takePair(const pnTree *tree, pnCalmFrame *frame, uint32_t i, bool farCalm) {
  const pnCalmPair *pair = &frame->calm->pairs[i];
  bool leaves = pn_isLeaf(tree, pair->a) && pn_isLeaf(tree, pair->b), covered = frame->isCovered[i];
  if (pair->link != PN_NONE)
    frame->restless[frame->restlessCount++] = (pnRestless){pair->a - tree->shape->innerCount, pair->link};
  if (!covered && (leaves || !farCalm)) frame->seeds[frame->seedCount++] = (pnPair){pair->a, pair->b};
  for (uint32_t c = pair->childFirst; c < pair[1].childFirst; ++c) frame->isCovered[c] = covered || !farCalm;
}

static bool walkCalm(pnTree *tree, const pnTasks *tasks, pnWorker *workers, pnProofRoom *room) {
  (void)tasks, (void)workers, (void)room;
  pnCalmFrame *frame = tree->calm;
  if (frame->frame == tree->pose->frame) return true;
  const pnPose *pose = tree->pose;
  float noise = (float)(1.02 * pn_calmNoise(pose));
  frame->restlessCount = frame->seedCount = 0;
  /* how far each weight is from its rest weight */
  for (uint32_t t = 0; t < pose->morph->targetCount; ++t) {
    float above = pose->weights[t] - pose->morph->restWeights[t];
    frame->change[t] = (pnCalmChange){fabsf(above), above < 0};
  }
  /* pairs that are not calm, in the order in which they are found */
  frame->isCalm[0] = calmLanes(frame, frame->calm->blockCount - 1, noise) & 1;
  frame->isCovered[0] = false;
  frame->queue[0] = 0;
  uint32_t count = !frame->isCalm[0];
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t pair = frame->queue[i];
    bool farCalm = takeChildren(frame, &frame->calm->pairs[pair], noise, &count);
    takePair(tree, frame, pair, farCalm);
  }
  for (uint32_t i = 0; i < frame->strayCount && !frame->isCalm[0]; ++i)
    frame->restless[frame->restlessCount++] = frame->strays[i];
  frame->frame = pose->frame;
  return true;
}

static bool seedCalm(pnTree *tree, pnPairs *list, pnFresh *fresh) {
  const pnCalmFrame *frame = tree->calm;
  if (!pn_arrayReserve(list, list->count + frame->seedCount)) return false;
  for (uint32_t i = 0; i < frame->seedCount; ++i) {
    pnPair seed = frame->seeds[i];
    uint32_t first[2], end[2], nodes[2] = {seed.a, seed.b};
    for (int k = 0; k < 2; ++k) {
      /* the volume of a node is a lane of its parent; the root's is always there */
      uint32_t parent = tree->shape->parent[nodes[k]] / PN_LANES;
      if (parent < tree->shape->nodeCount) pn_freshen(tree, parent, fresh);
      pn_leafRange(tree, nodes[k], &first[k], &end[k]);
    }
    /* traversals have the earlier leaves first */
    list->data[list->count++] = first[0] <= first[1] ? seed : (pnPair){seed.b, seed.a};
  }
  return true;
}

static bool isAllCalm(const pnTree *tree) {
  return tree->calm->isCalm[0];
}

static void pruneCalm(const pnTraversal *t, pnWorker *w, pnPairs *list, size_t from) {
  (void)w;
  const pnCalmFrame *frame = t->a->calm;
  const pnCalm *calm = frame->calm;
  size_t kept = from;
  for (size_t i = from; i < list->count; ++i) {
    pnPair p = list->data[i];
    uint32_t a = PN_MIN(p.a, p.b), b = PN_MAX(p.a, p.b), at = calm->pairFirst[a], end = calm->pairFirst[a + 1];
    while (at < end && calm->byNode[at].a != b) ++at;
    list->data[kept] = p;
    kept += at == end || !frame->isCalm[calm->byNode[at].b];
  }
  list->count = kept;
}

/* ---------------------------------------------------------------- neighbours */

/* The neighbouring pairs of slots of two linked leaves. */
static bool listNeighbours(pnWorker *w, uint32_t leaf, const pnLeafLink *link) {
  for (uint32_t i = 0; i < PN_LANES; ++i) {
    unsigned m = link->row[i];
    if (link->leaf == leaf) m &= 0xfeu << i; /* each pair once, and no triangle with itself */
    if (m && !pn_arrayReserve(&w->candidates, w->candidates.count + PN_LANES)) return false;
    for (; m != 0; m &= m - 1) {
      uint32_t other = link->leaf * PN_LANES + pn_firstLane(m);
      w->candidates.data[w->candidates.count++] = (pnPair){leaf * PN_LANES + i, other};
    }
  }
  return true;
}

/* Neighbouring leaves that are not calm. */
static bool runRestless(pnTree *tree, pnWorker *w, uint32_t unit, bool first, size_t most) {
  (void)first, (void)most;
  pnRestless r = tree->calm->restless[unit];
  pn_freshen(tree, tree->shape->innerCount + r.leaf, &w->fresh);
  pn_freshen(tree, tree->shape->innerCount + tree->shape->links[r.link].leaf, &w->fresh);
  return listNeighbours(w, r.leaf, &tree->shape->links[r.link]);
}

static uint32_t countRestless(const pnTree *tree) {
  return tree->calm->restlessCount;
}

/* ---------------------------------------------------------------- the row */

static pnResult prepare(pnTree *tree, bool *outUse) {
  pnResult result = pn_prepareCalm(tree);
  *outUse = tree->calm != NULL;
  return result;
}

const pnProof pn_proofCalm = {.name = "calm patches",
                              .prepare = prepare,
                              .begin = walkCalm,
                              .isDone = isAllCalm,
                              .seed = seedCalm,
                              .prune = pruneCalm,
                              .lists = PN_PRUNE_NODES | PN_PRUNE_LEAVES,
                              .countNeighbours = countRestless,
                              .runNeighbours = runRestless,
                              .portion = 128};
