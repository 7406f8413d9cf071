/* proof.c: the table of proofs, and what is asked of all of them. See proof.h; and how a question of a
 * tree about itself begins (self.h). */
#include "collide/self.h"

#include "collide/calm.h"
#include "collide/filter.h"
#include "collide/rest.h"

const pnProof *const pn_proofs[PN_PROOF_COUNT] = {
    [PN_PROOF_PLANES] = &pn_proofPlanes, [PN_PROOF_HUBS] = &pn_proofHubs, [PN_PROOF_CALM] = &pn_proofCalm,
    [PN_PROOF_FLAT] = &pn_proofFlat,     [PN_PROOF_FANS] = &pn_proofFans, [PN_PROOF_NAMES] = &pn_proofNames,
};

/* Prepares one row unless that was done. Soups may have other things to say in every frame. */
static pnResult prepareProof(pnTree *tree, uint32_t i) {
  uint32_t bit = PN_PROOF_BIT(i);
  if ((tree->proofsAsked & bit) && !tree->rule->reshapes) return PN_OK;
  bool use = false;
  pnResult result = pn_proofs[i]->prepare(tree, &use);
  if (result == PN_OK) {
    tree->proofsAsked |= bit;
    tree->proofsThere = use ? tree->proofsThere | bit : tree->proofsThere & ~bit;
  }
  return result;
}

pnResult pn_prepareProofs(pnTree *tree, const pnAsk *ask, uint32_t *outProofs) {
  *outProofs = 0;
  for (uint32_t i = 0; i < PN_PROOF_COUNT; ++i) {
    const pnProof *p = pn_proofs[i];
    bool beside = p->notCalm && (*outProofs & PN_PROOF_BIT(PN_PROOF_CALM));
    if (!p->prepare || (ask->without & PN_PROOF_BIT(i)) || (p->notFirst && ask->first) ||
        (p->onlyNeighbours && !ask->neighbours) || beside)
      continue;
    pnResult result = prepareProof(tree, i);
    if (result != PN_OK) return result;
    *outProofs |= tree->proofsThere & PN_PROOF_BIT(i);
  }
  return PN_OK;
}

/* The next of the rows in use, or null. */
static const pnProof *nextOf(uint32_t *ioProofs) {
  const pnProof *proof = *ioProofs ? pn_proofs[pn_firstLane(*ioProofs)] : NULL;
  *ioProofs &= *ioProofs - 1;
  return proof;
}

bool pn_beginProofs(uint32_t proofs, pnTree *tree, const pnTasks *tasks, pnWorker *workers, pnProofRoom *room) {
  bool ok = true;
  for (const pnProof *p; ok && (p = nextOf(&proofs)) != NULL;) ok = !p->begin || p->begin(tree, tasks, workers, room);
  return ok;
}

bool pn_areDone(uint32_t proofs, const pnTree *tree) {
  bool done = false;
  for (const pnProof *p; !done && (p = nextOf(&proofs)) != NULL;) done = p->isDone && p->isDone(tree);
  return done;
}

bool pn_seedProofs(uint32_t proofs, pnTree *tree, pnPairs *list, pnFresh *fresh) {
  for (const pnProof *p; (p = nextOf(&proofs)) != NULL;)
    if (p->seed) return p->seed(tree, list, fresh);
  return pn_arrayPush(list, ((pnPair){0, 0}));
}

const pnProof *pn_neighbourProof(uint32_t proofs) {
  const pnProof *p;
  while ((p = nextOf(&proofs)) != NULL && !p->countNeighbours) {}
  return p;
}

const pnProof *pn_siftingProof(uint32_t proofs) {
  const pnProof *p;
  while ((p = nextOf(&proofs)) != NULL && !p->sift) {}
  return p;
}

/* ---------------------------------------------------------------- a tree with itself */

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

pnResult pn_beginSelf(pnTree *tree, const pnMesh *mesh, const pnSelfFilter *filter, bool first, uint32_t without,
                      pnJob *outJob) {
  pnAsk ask = {.first = first && !pn_hasFilter(filter, mesh),
               .neighbours = pn_seeksNeighbours(filter, mesh),
               .without = without};
  *outJob = (pnJob){.a = tree, .first = ask.first, .neighbours = ask.neighbours};
  return pn_prepareSelf(tree, &ask, &outJob->proofs);
}
