/* proof.h: which pairs need not be opened? One question, several answers; each is one file and one row of the table in proof.c:
 *
 *   planes  what lies on one side of a big triangle's plane does not meet it                    plane.c
 *   hubs    all triangles around one vertex are neighbours, and their pairs are listed anyway   tree/hub.h
 *   calm    patches of a morphing mesh that the weights leave apart                             calm.c
 *   flat    smooth regions that are seen flat cannot meet themselves                            flat.c
 *   fans    triangles around a vertex that meet in nothing but what they share                  fan.c
 *   names   corners of a soup that are one vertex: its neighbours                               name.c
 *
 * A proof prepares a tree once (what depends on the shape only is kept there), begins a frame, and is then asked by the
 * traversal: where to begin, what to leave out, which neighbours are to be tested. Leaving out planes, calm patches or flat regions
 * changes the time a query takes and never its answer; hubs, fans and names are also how neighbours are found. To add one, write its file
 * and its row; the traversal, the jobs and the world know rows only. */
#ifndef PN_COLLIDE_PROOF_H
#define PN_COLLIDE_PROOF_H

#include "base/task.h"
#include "collide/traverse.h"

typedef enum pnProofKind {
  PN_PROOF_PLANES,
  PN_PROOF_HUBS,
  PN_PROOF_CALM, /* before those that it makes superfluous */
  PN_PROOF_FLAT,
  PN_PROOF_FANS,
  PN_PROOF_NAMES,
  PN_PROOF_COUNT
} pnProofKind;
#define PN_PROOF_BIT(kind) (1u << (kind))

/* What a self query wants. */
typedef struct pnAsk {
  bool first;       /* one pair is enough */
  bool neighbours;  /* pairs that meet in more than what they share, too */
  uint32_t without; /* bits: proofs that are not to be used */
} pnAsk;

/* Lists that a traversal has: where it begins, pairs of nodes, pairs of leaves. */
enum { PN_PRUNE_SEEDS = 1, PN_PRUNE_NODES = 2, PN_PRUNE_LEAVES = 4 };

/* Memory for the time of a query, kept for the next one. */
typedef PN_ARRAY(char) pnProofRoom;

typedef struct pnProof {
  const char *name;
  /* Once for a tree (of a soup, for every question): makes what it needs. *outUse: it has something to say. Null: it stands by
   * itself (pn_standingProofs). */
  pnResult (*prepare)(pnTree *tree, bool *outUse);
  /* Which questions it is for: not for a first pair; only where neighbours are asked for; not beside calm patches. */
  bool notFirst, onlyNeighbours, notCalm;
  /* Looks at an updated tree in this frame; null: there is nothing to look at. False: out of memory. */
  bool (*begin)(pnTree *tree, const pnTasks *tasks, pnWorker *workers, pnProofRoom *room);
  /* Is nothing left to look at? Null: never. */
  bool (*isDone)(const pnTree *tree);
  /* The pairs of nodes at which a traversal begins; null: the root with itself. False: out of memory. */
  bool (*seed)(pnTree *tree, pnPairs *list, pnFresh *fresh);
  /* Takes pairs out of a list, from a place on; `lists` says of which. */
  void (*prune)(const pnTraversal *t, pnWorker *w, pnPairs *list, size_t from);
  uint32_t lists;
  /* Takes candidates out, and puts those that it has looked at behind the others; returns how many others there are. */
  size_t (*sift)(const pnTraversal *t, pnWorker *w);
  bool decides; /* what is left of those meets, and is not tested again */
  /* Neighbours that are not proved to be apart, in units of which workers take `portion` at a time; null: none of them
   * is looked for here. `run` lists or tests those of one unit; it may stop when more than `most` are found. */
  uint32_t (*countNeighbours)(const pnTree *tree);
  bool (*runNeighbours)(pnTree *tree, pnWorker *w, uint32_t unit, bool first, size_t most);
  uint32_t portion;
} pnProof;

extern const pnProof pn_proofPlanes, pn_proofHubs, pn_proofCalm, pn_proofFlat, pn_proofFans, pn_proofNames;
extern const pnProof *const pn_proofs[PN_PROOF_COUNT];

/* Prepares all that help with a question about a tree itself; bits of those with something to say. */
pnResult pn_prepareProofs(pnTree *tree, const pnAsk *ask, uint32_t *outProofs);

/* The two that are there whenever trees have what they are about, without being prepared: bits. b null: self. */
PN_INLINE uint32_t pn_standingProofs(const pnTree *a, const pnTree *b) {
  uint32_t planes = a->shape->slotPieces || (b && b->shape->slotPieces) ? PN_PROOF_BIT(PN_PROOF_PLANES) : 0;
  return planes | (!b && a->shape->hubCount > 0 ? PN_PROOF_BIT(PN_PROOF_HUBS) : 0);
}

/* Everything of a query: begins those in use, all of them proved?, and the seeds. */
bool pn_beginProofs(uint32_t proofs, pnTree *tree, const pnTasks *tasks, pnWorker *workers, pnProofRoom *room);
bool pn_areDone(uint32_t proofs, const pnTree *tree);
bool pn_seedProofs(uint32_t proofs, pnTree *tree, pnPairs *list, pnFresh *fresh);
/* The one in use that knows neighbours; null: none. */
const pnProof *pn_neighbourProof(uint32_t proofs);
/* The same for candidates. */
const pnProof *pn_siftingProof(uint32_t proofs);
/* Prunes a list of a kind (PN_PRUNE_...) by all in use. */
PN_INLINE void pn_pruneProofs(const pnTraversal *t, pnWorker *w, pnPairs *list, size_t from, uint32_t kind) {
  for (uint32_t m = t->proofs; m != 0; m &= m - 1) {
    const pnProof *proof = pn_proofs[pn_firstLane(m)];
    if (proof->lists & kind) proof->prune(t, w, list, from);
  }
}

#endif
