/* tilt.h: boxes that lie as what is in them does.
 *
 * Pages of a book, a pile of folded cloth, layers of a garment: surfaces that run beside each other, a fraction of a triangle's length apart.
 * Where they run aslant the box of a piece meets those of a dozen layers, and so do slants (slant.h), whose directions are anybody's: two flat
 * pieces are told apart along the direction in which they are flat. So where pairs of nodes are very many each leaf and each inner node above
 * leaves gets a *tilt* [Gottschalk96]: a box with one axis along the mean normal of its triangles. Two of them are asked whether something
 * lies between along the one's normal or the other's; what is apart is not opened, and neither are all the leaves below.
 *
 * A tilt is a middle c, axes u, v, n, and half sides. The question is about one float vector n, whatever it is. A point p of A
 * has |n.(p - c)| <= h by how h was made. A point q of B, with its axes u, v, n' and half sides around c', has |n.(q - c')| of at most
 * hu |n.u| + hv |n.v| + hn |n.n'|. If |n.(c' - c)| is more than the sum of these, then p is not q. What is rounded is answered for by half
 * sides that are made larger (tilt.c). So nothing is lost.
 *
 * Tilts are for bodies whose vertices lie ready, are kept for the frame, 68 bytes a node, and allocated when they first
 * pay. Where they do not, which only a trial says, they are left alone, ever longer. */
#ifndef PN_COLLIDE_TILT_H
#define PN_COLLIDE_TILT_H

#include "collide/traverse.h"

/* A record, one cache line: rows x, y, z of the columns c, hu u, hv v, hn n, then hn and n. */
#define PN_TILT_FLOATS 16u

/* Where tilts pay: takes pairs of nodes above leaves, or of leaves, that are apart out of a list, in place; returns how many pairs are left. Given
 * and wished for as slants are. */
size_t pn_tiltNodes(const pnTraversal *t, pnWorker *w, pnPair *pairs, size_t count);
size_t pn_tiltLeaves(const pnTraversal *t, pnWorker *w, pnPair *pairs, size_t count);
/* Fulfils the wish for a tree; without memory there are none. */
void pn_grantTilts(pnTree *tree);

/* The two halves, for tests: the tilt of a leaf or of a node above leaves, and is something between two? */
void pn_makeTilt(const pnTree *tree, uint32_t node, float *out);
bool pn_areTiltsApart(const float *a, const float *b);

/* A tilt of an inner node takes as long to make as opening dozens of pairs of nodes does, and one node of nine is above leaves; that of a leaf as long
 * as opening a few pairs of them. So pairs must be so many for each node that was filled. Of nodes s1, s4, hair, characters and
 * crumpled cloth have up to 2, a book and a pile of cloth 10, a heap of balls in one place 50; of leaves 3 to 25, and 50 to 500. */
#define PN_TILT_NODE_WORTH 4u
#define PN_TILT_LEAF_WORTH 12u
/* Nodes that are filled before there is anything to say. */
#define PN_TILT_FEW_NODES 64u

/* Are pairs many enough, by what this worker has met so far, or by its run before? */
PN_INLINE bool pn_nodeTiltsPay(const pnWorker *w) {
  return w->cost.nodePairs >= PN_TILT_NODE_WORTH * (PN_TILT_FEW_NODES + w->fresh.nodes) || w->nodeTilts.stands;
}
PN_INLINE bool pn_leafTiltsPay(const pnWorker *w) {
  return w->cost.leafPairs >= PN_TILT_LEAF_WORTH * (PN_TILT_FEW_NODES + w->fresh.nodes) || w->leafTilts.stands;
}

/* Before the counts of a run are cleared: what the next one begins with. */
void pn_rememberTilts(pnWorker *w);

#endif
