/* impact.c: the first contact in time, by going back [Larsson01, section 3: "back tracking in simulation time"]. A first-pair
 * query is cheap where bodies meet and cheaper where they do not, so halving costs a few of them. */
#include "pinch/collide.h"

#include "base/fenv.h"
#include "mesh/pose.h"
#include "base/memory.h"

/* What a search knows: the pair found last, to be tried first, since contacts in the halvings are nearly always the same. */
typedef struct Known {
  pnPairList *list;
  bool hasPair;
  pnPair pair;
} Known;

static pnResult meetAt(pnTree *a, pnTree *b, pnMoveFcn *move, void *context, float t, Known *known, pnImpact *impact,
                       bool *outMeet) {
  pnPairList *list = known->list;
  pnQueryDef def = pnDefaultQueryDef();
  def.first = true;
  def.hint = known->hasPair ? &known->pair : NULL;
  pnResult result = move(context, t);
  if (result == PN_OK) {
    result = b ? pnCollideTrees(a, b, &def, list, NULL) : pnCollideSelf(a, &def, list, NULL);
    ++impact->queryCount;
  }
  *outMeet = result == PN_OK && pnPairList_GetCount(list) > 0;
  if (*outMeet) {
    known->hasPair = true;
    known->pair = *pnPairList_GetPairs(list);
  }
  return result;
}

pnResult pnFindImpact(pnTree *a, pnTree *b, pnMoveFcn *move, void *context, uint32_t samples, float tolerance,
                      pnImpact *outImpact) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(a && move && outImpact);
  *outImpact = (pnImpact){.before = 1, .after = 1};
  if (samples < 1 || !(tolerance > 0))
    return pn_fail(PN_ERROR_ARGUMENT, "impact: samples must be at least 1 and tolerance above 0");
  Known known = {0};
  pnResult result = pnCreatePairList(&known.list);
  bool meet = false;
  /* forward in equal steps to the first that shows contact */
  float before = 0, after = 0;
  for (uint32_t i = 0; result == PN_OK && i <= samples && !meet; ++i) {
    before = after;
    after = (float)((double)i / samples);
    result = meetAt(a, b, move, context, after, &known, outImpact, &meet);
    outImpact->atStart = meet && i == 0;
  }
  outImpact->contact = meet;
  /* halve the last step; `middle` stops moving when floats run out */
  float middle = before + 0.5f * (after - before);
  while (result == PN_OK && outImpact->contact && after - before > tolerance && middle > before && middle < after) {
    result = meetAt(a, b, move, context, middle, &known, outImpact, &meet);
    *(meet ? &after : &before) = middle;
    middle = before + 0.5f * (after - before);
  }
  /* leave the bodies where they meet */
  if (result == PN_OK) result = move(context, after);
  outImpact->before = outImpact->contact ? before : 1;
  outImpact->after = outImpact->contact ? after : 1;
  pnDestroyPairList(known.list);
  return result;
}

/* ---------------------------------------------------------------- straight lines */

typedef struct Lines {
  const pnLinearMotion *motion;
  float *scratch;
} Lines;

static pnResult moveOne(pnPose *pose, const float *start, const float *end, float t, float *scratch) {
  size_t n = start ? pose->motion->countInputs(pose) : 0;
  for (size_t i = 0; i < n; ++i) scratch[i] = end ? start[i] + t * (end[i] - start[i]) : start[i];
  return start ? pose->motion->setInputs(pose, scratch) : PN_OK;
}

static pnResult moveLines(void *context, float t) {
  Lines *l = context;
  const pnLinearMotion *m = l->motion;
  pnResult result = moveOne(m->poseA, m->startA, m->endA, t, l->scratch);
  if (result == PN_OK && m->poseB) result = moveOne(m->poseB, m->startB, m->endB, t, l->scratch);
  return result;
}

pnResult pnFindLinearImpact(pnTree *a, pnTree *b, const pnLinearMotion *motion, uint32_t samples, float tolerance,
                            pnImpact *outImpact) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(a && motion && motion->poseA && (!b || motion->poseB));
  const pnPose *p = motion->poseA, *q = motion->poseB ? motion->poseB : p;
  size_t most = PN_MAX(p->motion->countInputs(p), q->motion->countInputs(q));
  size_t size = pn_bytes(most + 1, sizeof(float));
  Lines lines = {motion, pn_alloc(size)};
  if (!lines.scratch) return pn_failMemory(size);
  pnResult result = pnFindImpact(a, b, moveLines, &lines, samples, tolerance, outImpact);
  pn_free(lines.scratch, size);
  return result;
}
