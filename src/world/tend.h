/* tend.h: bodies whose trees come to fit badly are looked after. Answers do not depend on it. */
#ifndef PN_WORLD_TEND_H
#define PN_WORLD_TEND_H

#include "world/world.h"

/* The trees of smaller bodies have next to no nodes to wear out, and next to none to follow. */
#define PN_TENDED_TRIANGLES 256u

/* Can this body's tree come to fit badly, so that it is looked after? */
bool pn_wears(const pnWorld *world, const pnBody *body);
/* Before trees follow: which tree of a body that looks at itself, or was torn, does not follow any more, because a mirror is tried? */
pnResult pn_tryMirrors(pnWorld *world, const uint32_t *places, size_t count);
/* Looks at trees that have followed, with pnBody.newQuality: which is kept, which gets a successor or a mirror. */
pnResult pn_tendTrees(pnWorld *world, const uint32_t *places, size_t count, uint32_t *outRebuilds);

#endif
