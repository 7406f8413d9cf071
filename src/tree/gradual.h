/* gradual.h: a tree that is built anew while frames go on with the old one, a little in each. What a step does is counted in work and
 * not in time, so that the frame in which the new tree is there does not depend on the machine. */
#ifndef PN_TREE_GRADUAL_H
#define PN_TREE_GRADUAL_H

#include "tree/build.h"

typedef struct pnGradual pnGradual;

/* A tree for the pose and with the settings of an old one, which may change meanwhile: what is built comes from where triangles are when
 * they are looked at. Quick: soon there and a little worse (build.h). Null: out of memory, or a tree that is not built so (pieces, self
 * queries, other builders). */
pnGradual *pn_beginGradual(const pnTree *tree, bool quick);
/* Goes on for about so many nanoseconds, which are taken off. */
pnProgress pn_stepGradual(pnGradual *gradual, int64_t *work);
/* Puts the finished one into *tree, at the pose of now; what was there goes to *outFormer, a tree that is up to date with an older frame. On
 * failure nothing changes. */
pnResult pn_takeGradual(pnGradual *gradual, pnTree *tree, pnTree **outFormer);
void pn_endGradual(pnGradual *gradual);

#endif
