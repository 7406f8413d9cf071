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

/* False: it passes the tree's box by. */
bool pn_makeSight(const pnLattice *lattice, const pnRayQuest *quest, pnRaySight *out);

/* hits.c and hits_avx2.c: the walk, compiled for what the machine has. */
typedef void pnWalkFcn(pnTree *tree, const pnLattice *lattice, pnRayMode mode, pnFresh *fresh, pnRaySight *sight,
                       pnRayQuest *quest, uint32_t root);
pnWalkFcn pn_walkRayAvx2;

#endif
