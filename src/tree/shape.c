/* shape.c: the life of a shape: made over a pose (assemble.c), held by its users, freed by the last. See shape.h. */
#include "tree/shape.h"

#include "tree/build.h"
#include "tree/corner.h"

/* ---------------------------------------------------------------- users and parts */

typedef enum PartState { NOT_MADE, BEING_MADE, MADE } PartState;

typedef struct Part {
  _Atomic PartState state; /* changed with the monitor held; data is there for whoever sees MADE */
  void *data;
  size_t bytes;
} Part;

struct pnShapeKeeper {
  _Atomic uint32_t users;
  pnMonitor *monitor;
  Part part[PN_PART_COUNT];
};

pnShape *pn_allocShape(void) {
  pnShape *shape = pn_allocZero(sizeof *shape);
  struct pnShapeKeeper *keeper = pn_allocZero(sizeof *keeper);
  pnMonitor *monitor = pn_monitorCreate();
  if (!shape || !keeper || !monitor) {
    pn_free(shape, sizeof *shape);
    pn_free(keeper, sizeof *keeper);
    pn_monitorDestroy(monitor);
    return NULL;
  }
  atomic_init(&keeper->users, 1);
  keeper->monitor = monitor;
  shape->keeper = keeper;
  return shape;
}

const pnShape *pn_retainShape(const pnShape *shape) {
  atomic_fetch_add_explicit(&shape->keeper->users, 1, memory_order_relaxed);
  return shape;
}

void pn_releaseShape(const pnShape *shape) {
  /* whoever frees it must see what the others have done with it */
  if (!shape || atomic_fetch_sub_explicit(&shape->keeper->users, 1, memory_order_acq_rel) != 1) {
    return;
  }
  struct pnShapeKeeper *keeper = shape->keeper;
  for (int i = 0; i < PN_PART_COUNT; i++) {
    pn_free(keeper->part[i].data, keeper->part[i].bytes);
  }
  pn_monitorDestroy(keeper->monitor);
  pn_free(keeper, sizeof *keeper);
  pn_free(shape->slotPieces, shape->slotPieces ? pn_pieceBytes(shape) : 0);
  pn_free(shape->memory, shape->memoryBytes);
  pn_free((void *)(uintptr_t)shape, sizeof *shape);
}

static bool isMade(const Part *part) {
  return atomic_load_explicit(&part->state, memory_order_acquire) == MADE;
}

const void *pn_partOf(const pnShape *shape, pnShapePart part) {
  const Part *p = &shape->keeper->part[part];
  return isMade(p) ? p->data : NULL;
}

/* True: it is ours to make. False: it was made, maybe while we waited. */
static bool claim(struct pnShapeKeeper *keeper, Part *part) {
  pn_monitorLock(keeper->monitor);
  while (part->state == BEING_MADE) {
    pn_monitorWait(keeper->monitor);
  }
  bool ours = part->state == NOT_MADE;
  if (ours) {
    part->state = BEING_MADE;
  }
  pn_monitorUnlock(keeper->monitor);
  return ours;
}

pnResult pn_makePart(const pnShape *shape, pnShapePart part, pnMakePartFcn *make, void *context) {
  struct pnShapeKeeper *keeper = shape->keeper;
  Part *p = &keeper->part[part];
  if (isMade(p) || !claim(keeper, p)) {
    return PN_OK;
  }
  void *data = NULL;
  size_t bytes = 0;
  pnResult result = make(context, &data, &bytes);
  pn_monitorLock(keeper->monitor);
  p->data = result == PN_OK ? data : NULL;
  p->bytes = result == PN_OK ? bytes : 0;
  atomic_store_explicit(&p->state, result == PN_OK ? MADE : NOT_MADE, memory_order_release);
  pn_monitorWakeAll(keeper->monitor);
  pn_monitorUnlock(keeper->monitor);
  return result;
}

size_t pn_shapeBytes(const pnShape *shape) {
  size_t bytes = sizeof *shape + sizeof *shape->keeper + shape->memoryBytes;
  for (int i = 0; i < PN_PART_COUNT; i++) {
    bytes += isMade(&shape->keeper->part[i]) ? shape->keeper->part[i].bytes : 0;
  }
  return bytes + (shape->slotPieces ? pn_pieceBytes(shape) : 0);
}

/* ---------------------------------------------------------------- making one */

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
  pnShape *shape = *outShape = pn_allocShape();
  if (!shape) {
    return pn_failMemory(sizeof *shape);
  }
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

/* What a setting changes is either in the shape or in what a rule keeps for all twins, so all of them count; where the pose was
 * when pieces were made is not kept, so these are not shared. */
bool pn_fitsShape(const pnShape *shape, const pnTreeDef *def, const struct pnUpdateRule *rule) {
  const pnTreeDef *p = &shape->def;
  return shape->rule == rule && shape->mesh == def->pose->mesh && shape->morph == def->pose->morph &&
         shape->skin == def->pose->skin && !pn_hasPieces(p) && !pn_hasPieces(def) && p->build == def->build &&
         p->volume == def->volume && p->arity == def->arity && p->leafSize == def->leafSize && p->cut == def->cut &&
         p->extraReferences == def->extraReferences && p->calm == def->calm && p->self == def->self;
}
