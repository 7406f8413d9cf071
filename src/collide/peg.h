/* peg.h: a small body on a large one that stands still, all its triangles together, without its tree.
 *
 * A cutting (cutting.h) lists the leaves of the large body that a small one is near. The small body's triangles, 128 at most, are few
 * enough to be held against each of these leaves: filling the small body's nodes and opening them took most of the time.
 *
 * Both are intervals of cells along four directions (board.h). A *peg* is what a triangle of the small body takes up, as eight numbers: the
 * least cells, and 255 less the greatest; a *hole* is what one of the large body does, the greatest, and 255 less the least. They overlap
 * exactly when no number of the peg is above that of the hole: the peg fits. That is one comparison of eight bytes, and the peg of a triangle
 * is the least of those of its corners, number by number.
 *
 *   1. Leaves of the cutting whose boxes that of the body meets are listed. What has no holes yet gets them: many leaves of a cutting are
 *      never met.
 *   2. Of each of them, the triangles of the small body whose pegs fit the hole of the leaf.
 *   3. Each of those pegs with the holes of the leaf's eight triangles: where it fits, the two are a candidate.
 *
 * Nothing is lost: of a point that two triangles share, the coordinates lie between the least and the greatest of both, along the grain as
 * along the axes, and cells are a monotone function of these. */
#ifndef PN_COLLIDE_PEG_H
#define PN_COLLIDE_PEG_H

#include "collide/cutting.h"
#include "collide/traverse.h"

/* The pegs of a small body, in the order of its triangles; up to a multiple of eight they are such as fit no hole. */
typedef struct pnPegs {
  _Alignas(64) uint8_t peg[PN_SMALL_TRIANGLES][PN_PEG]; /* several are loaded at a time */
  uint32_t count;
} pnPegs;

/* First step: the leaves of a cutting that the body is near, as their places in it, are appended to w->leaves, and what the others
 * read is asked for. Second and third: candidates from the leaves that are listed there, pairs of slots, or of a slot and a triangle where
 * t->narrow wants these. False: out of memory. The cutting has holes. */
bool pn_listHoles(const pnTraversal *t, pnCutting *cutting, pnWorker *w);
bool pn_tryPegs(const pnTraversal *t, const pnCutting *cutting, pnWorker *w);

/* The pegs of the triangles of a small body. */
void pn_makePegs(const pnBoard *board, const pnTree *small, pnPegs *out);

/* The second and third step for a list of leaves, by width; chosen at run time. Returns how many candidates were written, to where there
 * is room for all and sixteen more. Of the small body they have the names of its triangles. */
typedef size_t pnFitPegsFcn(const pnPegs *pegs, const uint32_t *names, const pnCutting *cutting, uint32_t innerCount,
                            const pnPair *leaves, size_t count, pnPair *out);
pnFitPegsFcn pn_fitPegs4, pn_fitPegsAvx2, pn_fitPegsVbmi;

/* The holes of eight triangles, whose corners lie so many bytes from `base`, three numbers a triangle; by width. */
typedef void pnDrillLeafFcn(const pnBoard *board, const char *base, const uint32_t *corners, uint8_t (*holes)[PN_PEG]);
pnDrillLeafFcn pn_drillLeaf4, pn_drillLeafAvx2;

#endif
