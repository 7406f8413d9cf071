/* peg.h: a small body on a large one that stands still, all its triangles together, without its tree.
 *
 * A cutting (cutting.h) lists the leaves of the large body that a small one is near. The small body's triangles, 128 at most, are few
 * enough to be held against each of these leaves: filling the small body's nodes and opening them took most of the time.
 *
 * Both are boxes of cells of the large body's grid. A *peg* is the box of a triangle of the small body as eight numbers, lo along x, y, z
 * and -hi along x, y, z; a *hole* is a box of the large body, hi along x, y, z and -lo. Boxes overlap exactly when no number of
 * the peg is above that of the hole: the peg fits. That is one comparison of eight numbers, and the peg of a triangle is the least of
 * those of its corners, number by number.
 *
 *   1. Leaves whose hole the peg of the whole body fits are listed.
 *   2. Of each of them, the triangles of the small body whose pegs fit its hole.
 *   3. Each of those pegs with the holes of the leaf's eight triangles: where it fits, the two are a candidate.
 *
 * Nothing is lost. Cells are a monotone function of coordinates, and vertices are first brought into the large body's box, which is
 * monotone as well and leaves the large body as it is: of a point that two triangles share, the coordinates as they come out lie
 * between the least and the greatest of both. No sum leaves its range, because in that box all cells are those that the grid was made for. */
#ifndef PN_COLLIDE_PEG_H
#define PN_COLLIDE_PEG_H

#include "collide/cutting.h"
#include "collide/traverse.h"

/* The pegs of a small body, in the order of its triangles; up to a multiple of eight they are such as fit no hole. */
typedef struct pnPegs {
  _Alignas(64) int16_t peg[PN_SMALL_TRIANGLES][PN_PEG]; /* several are loaded at a time */
  uint32_t count;
} pnPegs;

/* First step: the leaves of a cutting that the body is near, as their places in it, are appended to w->leaves, and what the others
 * read is asked for. Second and third: candidates, pairs of slots, from the leaves that are listed there. False: out of memory.
 * The cutting has holes. */
bool pn_listHoles(const pnTraversal *t, const pnCutting *cutting, pnWorker *w);
bool pn_tryPegs(const pnTraversal *t, const pnCutting *cutting, pnWorker *w);

/* The pegs of the triangles of a small body on the grid of a large one. */
void pn_makePegs(const pnTree *large, const pnTree *small, pnPegs *out);

/* The second and third step for a list of leaves, by width; chosen at run time. Returns how many candidates were written, to where there
 * is room for all and sixteen more. */
typedef size_t pnFitPegsFcn(const pnPegs *pegs, const uint32_t *slots, const pnCutting *cutting, uint32_t innerCount,
                            const pnPair *leaves, size_t count, pnPair *out);
pnFitPegsFcn pn_fitPegs4, pn_fitPegsAvx2, pn_fitPegsVbmi;

#endif
