/* self.h: how a question of a tree about itself begins, for queries and worlds alike. */
#ifndef PN_COLLIDE_SELF_H
#define PN_COLLIDE_SELF_H

#include "collide/jobs.h"

/* Makes what a filter has to know of a tree, before it is first used: pairs that meet at rest. */
pnResult pn_prepareFilter(const pnTree *tree, const pnSelfFilter *filter);
/* Makes what proofs have to know of a tree, and says which of them help with a question: bits. */
pnResult pn_prepareSelf(pnTree *tree, const pnAsk *ask, uint32_t *outProofs);
/* The job of an updated tree with itself, prepared. `mesh`: whose triangles the filter speaks of, the tree's own or the one that its soup
 * stands for. `first`: one pair is enough; a filter that looks at found pairs needs all of them nevertheless. `without`: bits of proofs
 * that are not to be used. */
pnResult pn_beginSelf(pnTree *tree, const pnMesh *mesh, const pnSelfFilter *filter, bool first, uint32_t without,
                      pnJob *outJob);

#endif
