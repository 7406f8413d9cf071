/* narrow.h: exact triangle tests in batches.
 *
 * A candidate is a pair of *slots*: slot = leaf * 8 + lane of a triangle in its tree. Both leaves must be fresh. */
#ifndef PN_COLLIDE_NARROW_H
#define PN_COLLIDE_NARROW_H

#include "base/array.h"
#include "collide/narrow_beyond.h"
#include "geom/simd_vec.h"
#include "pinch/collide.h"
#include "tree/tree.h"

typedef PN_ARRAY(pnPair) pnPairs;

/* The corners of four candidates as columns: p[0..2] of the triangles of a, p[3..5] of those of b; p[k][x] holds
 * coordinate x of four corners k. */
PN_INLINE void pn_loadCorners4(const pnTree *a, const pnTree *b, const pnPair *candidates, pnF4 p[6][3]) {
  pnF4 row[6][4];
  for (int i = 0; i < 4; ++i) {
    const float *c[3], *d[3];
    pn_slotCorners(a, candidates[i].a, c);
    pn_slotCorners(b, candidates[i].b, d);
    for (int k = 0; k < 3; ++k) {
      row[k][i] = pn_f4Load(c[k]);
      row[3 + k][i] = pn_f4Load(d[k]);
    }
  }
  for (int k = 0; k < 6; ++k) pn_f4Transpose3(row[k][0], row[k][1], row[k][2], row[k][3], &p[k][0], &p[k][1], &p[k][2]);
}

/* The corners two triangles share *now*: those that are one welded vertex and stand at one place. Welded vertices that have
 * moved apart (a seam that opened) are not shared, and the triangles are tested like any others. */
pnSharedCorners pn_sharedNow(const pnMesh *mesh, uint32_t s, uint32_t t, const float *p[3], const float *q[3]);

/* A second look takes as long as an exact test or two, and so does a third. Of some bodies it decides all, of others none: so many may be wasted, more
 * where others have decided something. Then only one of so many is made, as those that come first may be unlike the rest: a cloth is spread upon a
 * table, and its edge hangs down. */
#define PN_MOST_WASTED 4
#define PN_MOST_SAVED 16
#define PN_LOOK_AGAIN 32u

/* What the filter of floats could not decide. Zeroed is the beginning of a search. */
typedef struct pnDoubts {
  uint64_t count;     /* candidates */
  int32_t wasted[2];  /* second and third looks that decided nothing, less what others decided */
  uint32_t rested[2]; /* looks that were not made for it */
} pnDoubts;

/* A batch of candidates. Candidates whose triangles meet are moved to the front, in order; returns how many. The list
 * must have room for PN_NARROW_PAD more than count. */
#define PN_NARROW_PAD 16u
size_t pn_narrow(const pnTree *a, const pnTree *b, pnPair *candidates, size_t count, pnKernel kernel, pnDoubts *doubts);

/* The same for neighbours: pairs of slots of one tree that share welded vertices; kept when the triangles meet in more
 * than what they share. */
size_t pn_narrowNeighbours(const pnTree *tree, pnPair *candidates, size_t count, uint64_t *uncertain);

/* The SIMD filters, by width; chosen at run time. Bit i of hit: candidate i meets for certain; of unsure: ask exactly. */
typedef void pnNarrowFcn(const pnTree *a, const pnTree *b, const pnPair *candidates, uint32_t *outHit,
                         uint32_t *outUnsure);
pnNarrowFcn pn_narrow4;
/* Whole lists by them. */
typedef size_t pnNarrowBatchesFcn(const pnTree *a, const pnTree *b, pnPair *candidates, size_t count, pnDoubts *doubts);
pnNarrowBatchesFcn pn_narrowBatches4, pn_narrowBatchesAvx2, pn_narrowBatchesAvx512;
/* Where b is a small body that is read in place (collide/small.h), a machine may have a shorter way, else null: candidates name its
 * triangles; those that meet come out as slots. */
pnNarrowBatchesFcn *pn_narrowSmall(pnKernel kernel);
pnNarrowBatchesFcn pn_narrowSmallVbmi;
/* `apart`: no corner of one triangle is where one of the other is; otherwise that is looked at first. */
bool pn_meetExactly(const pnTree *a, const pnTree *b, pnPair candidate, bool apart);
/* The second look (narrow_twice.h), by width; the first is chosen at run time, and has the others of its machine. `columns` are those of
 * the filter, corners of a and then of b, `width` numbers each. Returns which of the wanted meet; of those that are not among the decided
 * nothing is said. */
typedef uint32_t pnNarrowTwiceFcn(const float *columns, uint32_t width, uint32_t wanted, uint32_t *outDecided);
pnNarrowTwiceFcn pn_narrowTwice2, pn_narrowTwice4Avx2, pn_narrowTwice8Avx512;
pnNarrowTwiceFcn pn_narrowLattice2, pn_narrowLattice4Avx2, pn_narrowLattice8Avx512; /* the third, in the same way */
#if defined(__x86_64__) && !defined(PN_SCALAR)
pnNarrowFcn pn_narrow8Avx2, pn_narrow16Avx512;
#endif

#endif
