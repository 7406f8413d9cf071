/* shape.c: the life of a shape: made over a pose (assemble.c), held by its users, freed by the last. See shape.h. */
#include "tree/shape.h"

#include "tree/build.h"
#include "tree/corner.h"

/* Over pieces of big triangles, or over some of the triangles. */
static pnResult assemblePieces(pnShape *shape, const pnTreeDef *def) {
  pnPieceList pieces = {0};
  pnMesh mesh;
  pnResult result = pn_makePieces(def, &pieces, &mesh);
  if (result == PN_OK) {
    shape->mesh = &mesh;
    result = pn_assemble(shape, def, pieces.data);
    shape->mesh = def->pose->mesh;
  }
  result = result == PN_OK ? pn_keepPieces(shape, &pieces) : result;
  pn_freePieces(&pieces, &mesh);
  return result;
}

pnResult pn_createShape(const pnTreeDef *def, const struct pnUpdateRule *rule, pnShape **outShape) {
  pnShape *shape = *outShape = pn_allocZero(sizeof *shape);
  if (!shape) {
    return pn_failMemory(sizeof *shape);
  }
  atomic_init(&shape->users, 1);
  shape->def = *def;
  shape->def.pose = NULL;
  shape->def.twin = NULL;
  shape->mesh = def->pose->mesh;
  shape->morph = def->pose->morph;
  shape->skin = def->pose->skin;
  shape->rule = rule;
  shape->builtFrame = def->pose->frame;
  pnResult result = pn_hasPieces(def) ? assemblePieces(shape, def) : pn_assemble(shape, def, NULL);
  if (result != PN_OK) {
    pn_releaseShape(shape);
    *outShape = NULL;
  }
  return result;
}

const pnShape *pn_retainShape(const pnShape *shape) {
  atomic_fetch_add_explicit(&((pnShape *)(uintptr_t)shape)->users, 1, memory_order_relaxed);
  return shape;
}

void pn_releaseShape(const pnShape *shape) {
  pnShape *s = (pnShape *)(uintptr_t)shape;
  /* whoever frees it must see what the others have done with it */
  if (!s || atomic_fetch_sub_explicit(&s->users, 1, memory_order_acq_rel) != 1) {
    return;
  }
  pn_free(s->slotPieces, s->slotPieces ? pn_pieceBytes(s) : 0);
  pn_free(s->memory, s->memoryBytes);
  pn_free(s, sizeof *s);
}

size_t pn_shapeBytes(const pnShape *shape) {
  return sizeof *shape + shape->memoryBytes + (shape->slotPieces ? pn_pieceBytes(shape) : 0);
}

/* What a setting changes is either in the shape or in what a rule keeps for all twins, so all of them count; where the pose was
 * when pieces were made is not kept, so these are not shared. */
bool pn_fitsShape(const pnShape *shape, const pnTreeDef *def, const struct pnUpdateRule *rule) {
  const pnTreeDef *p = &shape->def;
  return shape->rule == rule && shape->mesh == def->pose->mesh && shape->morph == def->pose->morph &&
         shape->skin == def->pose->skin && !pn_hasPieces(p) && !pn_hasPieces(def) && p->build == def->build &&
         p->volume == def->volume && p->arity == def->arity && p->leafSize == def->leafSize && p->cut == def->cut &&
         p->extraReferences == def->extraReferences && p->calm == def->calm && p->self == def->self;
}
