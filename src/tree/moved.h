/* moved.h: all vertices of a body at once, where queries come to many of its leaves.
 *
 * A leaf that is reached computes its own vertices, and nothing else does: where two bodies touch with a hand that is what makes a frame
 * cheap. Where a body meets others all over, or looks at itself, it is not: a vertex that stands alone takes several times as long as
 * with all others, it is computed again for each leaf that has it, and the volumes that rules carry along are larger than those of
 * vertices. A tree is then *moved*: all vertices are computed when an update begins, and everything above them is found as of a body whose
 * vertices are set. When that may be says its rule (pnUpdateRule.moves). Which way a frame goes says the frame before, and it is a matter of speed alone: vertices have the same bits, and
 * volumes are around them either way. */
#ifndef PN_TREE_MOVED_H
#define PN_TREE_MOVED_H

#include "tree/update.h"

/* At the beginning of a frame: decides, as pnUpdateRule.moves says, and computes the vertices of a tree that is moved. */
pnResult pn_beginMoved(pnTree *tree, const pnTasks *tasks);

/* For rules that have nothing else to say of a tree that is moved: the root, from all vertices that are corners. */
pnResult pn_setMovedRoot(pnTree *tree);

#endif
