/* twin.h: the bodies whose trees a new body may share, found by what they move and how. */
#ifndef PN_WORLD_TWIN_H
#define PN_WORLD_TWIN_H

#include "base/array.h"
#include "world/body.h"

/* A table with chains through the bodies (pnBody.twinNext): a body that can be shared from is in the chain of its mesh,
 * kind, skin and morph, newest first. Places count from 1 here; 0 is none. */
typedef struct pnTwins {
  PN_ARRAY(uint32_t) first; /* of each chain; a power of two of them, and no fewer than places */
} pnTwins;

/* Makes the table large enough for so many places; the bodies are linked anew when it grows. False: out of memory, and
 * nothing has changed. */
bool pn_reserveTwins(pnTwins *twins, pnBody *bodies, size_t bodyCount, size_t placeCount);
/* A tree whose unchanging part a new body may share: of a body that moves the same mesh in the same way, and not built
 * anew since. Null: there is none. */
const pnTree *pn_findTwin(pnTwins *twins, pnBody *bodies, const pnBodyDef *def);
/* A body that was created, and one that is about to go. */
void pn_addTwin(pnTwins *twins, pnBody *bodies, uint32_t place);
void pn_removeTwin(pnTwins *twins, pnBody *bodies, uint32_t place);

#endif
