/* sight.h: a ray as a tree's lattice sees it.
 *
 * The ray is cut to the tree's box and begins there, at s = 0; s grows by 1 when it moves by one cell along its longest
 * axis. So its coordinates are those of a lattice, below 2^16, and floats will do: a lane's place p along an axis is passed at
 * p * inverse + term, with an error of a few 2^-24 of 2^16 cells, which is less than a tenth of PN_LATTICE_PAD. An origin far
 * away has an error of its own, 2^-48 of its distance and less, that is added to the pad: from very far every box is hit, and
 * the exact test decides. Along an axis that the ray (nearly) does not move along the inverse is cut at 2^60: over the 2^16 cells of
 * a tree it moves by less than 2^-44 of one. */
#ifndef PN_QUERY_SIGHT_H
#define PN_QUERY_SIGHT_H

#include "query/hits.h"

typedef struct pnRaySight {
  float inverse[3], nearTerm[3], farTerm[3];
  uint32_t nearRow[3], farRow[3]; /* where in a node's lanes stand the sides through which it enters and leaves */
  float last;                     /* s of the last point of interest, rounded up */
  double scale, begin, pad;
} pnRaySight;

#define PN_SIGHT_MOST 0x1p60

/* s of t, a little later. */
PN_INLINE float pn_sightAt(const pnRaySight *sight, double t) {
  double s = t * sight->scale - sight->begin;
  return (float)(s + fabs(s) * 0x1p-20 + sight->pad);
}

/* False: it passes the tree's box by. Loops go to 4, where one instruction does all; the last is a place that a ray stays at. */
PN_INLINE bool pn_makeSight(const pnLattice *lattice, const pnRayQuest *quest, pnRaySight *out) {
  const pn_Line *line = &quest->line;
  // One cell along the longest axis.
  double unit = fabs(line->inverse), length = fabs((double)line->d[line->axis[2]]), scale = length * lattice->perCell;
  double o[4] = {0}, d[4] = {0}, inverse[4] = {0}, low[4], high[4];
  for (int k = 0; k < 3; ++k) {
    o[k] = pn_toLattice(lattice, k, line->o[k]);
    d[k] = line->d[k] * unit;
    inverse[k] = fabs(d[k]) < 1 / PN_SIGHT_MOST ? PN_SIGHT_MOST : line->per[k] * length;
  }
  double farthest = PN_MAX(fabs(o[0]), PN_MAX(fabs(o[1]), fabs(o[2])));
  double pad = PN_LATTICE_PAD + lattice->before + 0x1p-48 * farthest;
  // From where to where it is in the tree's box.
  double begin = quest->first * scale, end = quest->last * scale;
  for (int k = 0; k < 3; ++k) {
    double a = (lattice->lo[k] - 1 - pad - o[k]) * inverse[k], b = (lattice->hi[k] + 1 + pad - o[k]) * inverse[k];
    begin = PN_MAX(begin, PN_MIN(a, b));
    end = PN_MIN(end, PN_MAX(a, b));
  }
  for (int k = 0; k < 4; ++k) {
    double at = o[k] + begin * d[k];
    low[k] = (-pad - at) * inverse[k];
    high[k] = (lattice->after + pad - at) * inverse[k];
  }
  for (int k = 0; k < 3; ++k) {
    uint32_t forward = inverse[k] > 0;
    out->inverse[k] = (float)inverse[k];
    out->nearRow[k] = (2 * (uint32_t)k + 1 - forward) * PN_LANES;
    out->farRow[k] = (2 * (uint32_t)k + forward) * PN_LANES;
    // The one that is passed earlier, whichever way it runs.
    out->nearTerm[k] = (float)PN_MIN(low[k], high[k]);
    out->farTerm[k] = (float)PN_MAX(low[k], high[k]);
  }
  out->scale = scale;
  out->begin = begin;
  out->pad = pad;
  out->last = pn_sightAt(out, quest->last);
  return begin <= end;
}

/* Rays side by side. */
typedef struct pnRayGroup {
  pnTree *tree;
  const pnLattice *lattice;
  pnRayMode mode;
  pnFresh *fresh;
  pnRayQuest *quests;
} pnRayGroup;

/* hits.c and hits_avx2.c: the first rays of a group, compiled for what the machine has. */
typedef void pnCastFcn(pnRayGroup *group, uint32_t count);
pnCastFcn pn_castGroupAvx2;

#endif
