/* twin.c: which body a new one can share its tree with, without looking at all of them.
 *
 * A hash of mesh, kind, skin and morph leads to a chain; with no more bodies than chains a search passes a few bodies of
 * other meshes at most. Ten thousand bodies of one mesh are one long chain, but any of them will do, and the newest
 * stands first. A body whose tree was built anew can never be shared from again and leaves its chain when a search comes
 * past it, so that it is passed once. */
#include "world/twin.h"

#include "tree/tree.h"

#include "mesh/pose.h"

/* What must be the same. */
typedef struct Family {
  pnBodyKind kind;
  const pnMesh *mesh;
  const pnSkin *skin;
  const pnMorph *morph;
} Family;

static Family familyOf(const pnBody *body) {
  const pnTree *tree = body->tree;
  return (Family){body->kind, tree->mesh, tree->pose->skin, tree->pose->morph};
}

static bool isSame(const Family *a, const Family *b) {
  return a->kind == b->kind && a->mesh == b->mesh && a->skin == b->skin && a->morph == b->morph;
}

/* Multiply and fold; which chain it is has no influence on any answer, so addresses may decide. */
static uint32_t *chainOf(pnTwins *twins, const Family *family) {
  const uint64_t parts[4] = {(uintptr_t)family->mesh, (uintptr_t)family->skin, (uintptr_t)family->morph,
                             (uint64_t)family->kind};
  uint64_t hash = 0;
  for (int i = 0; i < 4; ++i) {
    hash = (hash ^ parts[i]) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return &twins->first.data[hash & (twins->first.count - 1)];
}

/* Soups have a mesh of their own, and a shared static tree is shared by its owner. */
static bool canShare(const pnBody *body) {
  return (body->generation & 1) && body->ownsTree && pn_kindOf(body->kind)->ofMesh;
}

void pn_addTwin(pnTwins *twins, pnBody *bodies, uint32_t place) {
  pnBody *body = &bodies[place];
  if (!canShare(body)) return;
  Family family = familyOf(body);
  uint32_t *first = chainOf(twins, &family);
  body->twinNext = *first;
  body->twinBefore = 0;
  if (*first) bodies[*first - 1].twinBefore = place + 1;
  *first = place + 1;
  body->inChain = true;
}

void pn_removeTwin(pnTwins *twins, pnBody *bodies, uint32_t place) {
  pnBody *body = &bodies[place];
  if (!body->inChain) return;
  if (body->twinNext) bodies[body->twinNext - 1].twinBefore = body->twinBefore;
  if (body->twinBefore) {
    bodies[body->twinBefore - 1].twinNext = body->twinNext;
  } else {
    Family family = familyOf(body);
    *chainOf(twins, &family) = body->twinNext;
  }
  body->inChain = false;
}

bool pn_reserveTwins(pnTwins *twins, pnBody *bodies, size_t bodyCount, size_t placeCount) {
  if (placeCount <= twins->first.count) return true;
  size_t size = twins->first.count ? 2 * twins->first.count : 16;
  while (size < placeCount) size *= 2;
  if (!pn_arrayReserve(&twins->first, size)) return false;
  twins->first.count = size;
  for (size_t i = 0; i < size; ++i) twins->first.data[i] = 0;
  for (size_t i = 0; i < bodyCount; ++i)
    if (bodies[i].inChain) pn_addTwin(twins, bodies, (uint32_t)i);
  return true;
}

const pnTree *pn_findTwin(pnTwins *twins, pnBody *bodies, const pnBodyDef *def) {
  const pnKindRow *kind = pn_kindOf(def->kind);
  if (!kind || !kind->ofMesh || twins->first.count == 0) return NULL;
  Family family = {def->kind, def->mesh, kind->skin ? def->skin : NULL, kind->morph ? def->morph : NULL};
  for (uint32_t at = *chainOf(twins, &family), next; at; at = next) {
    const pnBody *body = &bodies[at - 1];
    next = body->twinNext;
    if (body->tree->shape->builtFrame != 1) { /* poses begin at frame 1: built at rest, as the new body's would be */
      pn_removeTwin(twins, bodies, at - 1);
      continue;
    }
    Family other = familyOf(body);
    if (isSame(&other, &family)) return body->tree;
  }
  return NULL;
}
