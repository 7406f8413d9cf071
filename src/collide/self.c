/* self.c: see self.h. */
#include "collide/self.h"

#include "collide/calm.h"
#include "collide/filter.h"
#include "collide/rest.h"

pnResult pn_prepareFilter(const pnTree *tree, const pnSelfFilter *filter) {
  return filter->ignoreRest ? pn_prepareRest(tree) : PN_OK;
}

pnResult pn_prepareSelf(pnTree *tree, const pnAsk *ask, uint32_t *outProofs) {
  *outProofs = 0;
  /* patches that meet at rest are not calm; finding these pairs is a question of its own, which knows nothing of calm patches */
  bool calm = !((ask->without | tree->proofsAsked) & PN_PROOF_BIT(PN_PROOF_CALM)) && pn_needsRest(tree->shape);
  pnResult result = calm ? pn_prepareRest(tree) : PN_OK;
  return result == PN_OK ? pn_prepareProofs(tree, ask, outProofs) : result;
}

pnResult pn_beginSelf(pnTree *tree, const pnSelfFilter *filter, bool first, uint32_t without, pnJob *outJob) {
  pnAsk ask = {.first = first && !pn_hasFilter(filter, tree->mesh),
               .neighbours = pn_seeksNeighbours(filter, tree->mesh),
               .without = without};
  *outJob = (pnJob){.a = tree, .first = ask.first, .neighbours = ask.neighbours};
  return pn_prepareSelf(tree, &ask, &outJob->proofs);
}
