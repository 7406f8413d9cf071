/* shape.c: the life of a shape: made over a pose (assemble.c), held by its users, freed by the last. See shape.h. */
#include "tree/shape.h"

#include "base/fenv.h"
#include "tree/build.h"
#include "tree/corner.h"
#include "tree/update.h"

/* ---------------------------------------------------------------- definition */

/* Triangles from which on nodes are updated eagerly only above 512; see pnTreeLab.cut. */
#define LARGE_MESH 16384u

pnTreePlan pn_planOf(const pnTreeDef *def) {
  const pnTreeLab none = {0}, *lab = def->lab ? def->lab : &none;
  return (pnTreePlan){.pose = def->pose,
                      .build = lab->build,
                      .form = lab->form,
                      .update = def->update,
                      .arity = lab->arity ? lab->arity : 8,
                      .leafSize = lab->leafSize ? lab->leafSize : 8,
                      .cut = lab->cut,
                      .extraReferences = lab->extraReferences,
                      .calm = def->calm,
                      .self = def->self,
                      .noStamps = lab->noStamps,
                      .representative = lab->representative,
                      .big = def->big,
                      .bigSide = def->bigSide,
                      .twin = def->twin,
                      .shape = def->shape,
                      .tasks = def->tasks.parallelFor ? &def->tasks : NULL};
}

pnTreeDef pn_defOf(const pnTreePlan *plan) {
  return (pnTreeDef){.pose = plan->pose,
                     .update = plan->update,
                     .self = plan->self,
                     .calm = plan->calm,
                     .big = plan->big,
                     .bigSide = plan->bigSide,
                     .cookie = PN_COOKIE};
}

pnTreeLab pn_labOf(const pnTreePlan *plan) {
  return (pnTreeLab){.build = plan->build,
                     .form = plan->form,
                     .arity = plan->arity,
                     .leafSize = plan->leafSize,
                     .cut = plan->cut,
                     .extraReferences = plan->extraReferences,
                     .noStamps = plan->noStamps,
                     .representative = plan->representative};
}

static pnResult checkDef(const pnTreePlan *def) {
  if (def->arity != 2 && def->arity != 4 && def->arity != 8)
    return pn_fail(PN_ERROR_ARGUMENT, "tree: arity is %u, it must be 2, 4 or 8", def->arity);
  if (def->leafSize < 1 || def->leafSize > PN_LANES)
    return pn_fail(PN_ERROR_ARGUMENT, "tree: leafSize is %u, it must be 1 to 8", def->leafSize);
  if (def->extraReferences > 15)
    return pn_fail(PN_ERROR_ARGUMENT, "tree: extraReferences is %u, it must be 0 to 15", def->extraReferences);
  if ((uint32_t)def->build >= PN_BUILD_COUNT || !pn_formOf(def->form) || (uint32_t)def->update >= PN_UPDATE_COUNT) {
    return pn_fail(PN_ERROR_ARGUMENT, "tree: build %d, volume %d or update %d is not one of the list", (int)def->build,
                   (int)def->form, (int)def->update);
  }
  if (def->pose->mesh->vertexCount > UINT32_MAX / 3) {
    return pn_fail(PN_ERROR_COUNT, "tree: mesh '%s' has %u vertices, at most %u can be listed", def->pose->mesh->name,
                   def->pose->mesh->vertexCount, UINT32_MAX / 3);
  }
  if ((uint32_t)def->big >= PN_BIG_COUNT || !(def->bigSide >= 0)) {
    return pn_fail(PN_ERROR_ARGUMENT, "tree: big %d or bigSide %g is out of its range", (int)def->big,
                   (double)def->bigSide);
  }
  if (pn_hasPieces(def) && (def->self || def->build == PN_BUILD_LINK)) {
    return pn_fail(PN_ERROR_ARGUMENT,
                   "tree of mesh '%s': big triangles in pieces and representative triangles go without `self` "
                   "and not with PN_BUILD_LINK",
                   def->pose->mesh->name);
  }
  const pnUpdateRule *rule = pn_chooseRule(def);
  if (!rule) {
    return pn_fail(PN_ERROR_KIND, "tree: update rule %d does not fit the pose of mesh '%s'", (int)def->update,
                   def->pose->mesh->name);
  }
  if (rule->modelSpace && def->form != PN_FORM_BOX)
    return pn_fail(PN_ERROR_ARGUMENT, "tree: update rule '%s' works with boxes only", rule->name);
  return PN_OK;
}

pnResult pn_resolveDef(const pnTreePlan *def, pnTreePlan *out, const pnUpdateRule **outRule) {
  pnResult result = checkDef(def);
  if (result != PN_OK) return result;
  *out = *def;
  *outRule = pn_chooseRule(def);
  if ((*outRule)->cut > 0) out->cut = (*outRule)->cut;
  else if (def->cut == 0) out->cut = def->pose->mesh->triangleCount < LARGE_MESH ? 64 : 512;
  return PN_OK;
}

/* ---------------------------------------------------------------- users and parts */

typedef enum PartState { NOT_MADE, BEING_MADE, MADE } PartState;

typedef struct KeptPart {
  _Atomic PartState state; /* changed with the monitor held; data is there for whoever sees MADE */
  void *data;
  size_t bytes;
} KeptPart;

struct pnShapeKeeper {
  _Atomic uint32_t users;
  pnMonitor *monitor;
  KeptPart part[PN_PART_COUNT];
  bool knowsRest; /* with the monitor held */
  pnShapeRest rest;
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
  if (!shape || atomic_fetch_sub_explicit(&shape->keeper->users, 1, memory_order_acq_rel) != 1) return;
  struct pnShapeKeeper *keeper = shape->keeper;
  for (int i = 0; i < PN_PART_COUNT; ++i) pn_free(keeper->part[i].data, keeper->part[i].bytes);
  pn_monitorDestroy(keeper->monitor);
  pn_free(keeper, sizeof *keeper);
  pn_free(shape->slotPieces, shape->slotPieces ? pn_pieceBytes(shape) : 0);
  pn_free(shape->memory, shape->memoryBytes);
  pn_free((void *)(uintptr_t)shape, sizeof *shape);
}

static bool isMade(const KeptPart *part) {
  return atomic_load_explicit(&part->state, memory_order_acquire) == MADE;
}

const void *pn_partOf(const pnShape *shape, pnShapePart part) {
  const KeptPart *p = &shape->keeper->part[part];
  return isMade(p) ? p->data : NULL;
}

bool pn_isPartMade(const pnShape *shape, pnShapePart part) {
  return isMade(&shape->keeper->part[part]);
}

/* True: it is ours to make. False: it was made, maybe while we waited. */
static bool claim(struct pnShapeKeeper *keeper, KeptPart *part) {
  pn_monitorLock(keeper->monitor);
  while (part->state == BEING_MADE) pn_monitorWait(keeper->monitor);
  bool ours = part->state == NOT_MADE;
  if (ours) part->state = BEING_MADE;
  pn_monitorUnlock(keeper->monitor);
  return ours;
}

pnResult pn_makePart(const pnShape *shape, pnShapePart part, pnMakePartFcn *make, void *context) {
  struct pnShapeKeeper *keeper = shape->keeper;
  KeptPart *p = &keeper->part[part];
  if (isMade(p) || !claim(keeper, p)) return PN_OK;
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

void pn_noteRest(const pnShape *shape, const pnShapeRest *rest) {
  struct pnShapeKeeper *keeper = shape->keeper;
  pn_monitorLock(keeper->monitor);
  if (!keeper->knowsRest) keeper->rest = *rest;
  keeper->knowsRest = true;
  pn_monitorUnlock(keeper->monitor);
}

bool pn_findRest(const pnShape *shape, pnShapeRest *out) {
  struct pnShapeKeeper *keeper = shape->keeper;
  pn_monitorLock(keeper->monitor);
  bool knows = keeper->knowsRest;
  if (knows) *out = keeper->rest;
  pn_monitorUnlock(keeper->monitor);
  return knows;
}

size_t pn_shapeBytes(const pnShape *shape) {
  size_t bytes = sizeof *shape + sizeof *shape->keeper + shape->memoryBytes;
  for (int i = 0; i < PN_PART_COUNT; ++i) bytes += isMade(&shape->keeper->part[i]) ? shape->keeper->part[i].bytes : 0;
  return bytes + (shape->slotPieces ? pn_pieceBytes(shape) : 0);
}

/* ---------------------------------------------------------------- making one */

/* Over pieces of big triangles, or over some of the triangles. */
static pnResult assemblePieces(pnShape *shape, const pnTreePlan *def) {
  pnPieceList pieces = {0};
  pnMesh mesh;
  pnResult result = pn_makePieces(def, &pieces, &mesh);
  if (result == PN_OK) {
    shape->mesh = &mesh;
    result = pn_assemble(shape, def, pieces.data, NULL);
    shape->mesh = def->pose->mesh;
  }
  result = result == PN_OK ? pn_keepPieces(shape, &pieces) : result;
  pn_freePieces(&pieces, &mesh);
  return result;
}

pnShape *pn_beginShape(const pnTreePlan *def, const pnUpdateRule *rule) {
  pnShape *shape = pn_allocShape();
  if (!shape) return NULL;
  shape->def = *def;
  shape->def.pose = NULL;
  shape->def.twin = NULL;
  shape->def.shape = NULL;
  shape->def.tasks = NULL;
  shape->mesh = def->pose->mesh;
  shape->motion = def->pose->motion;
  shape->morph = def->pose->morph;
  shape->skin = def->pose->skin;
  shape->rule = rule;
  shape->builtFrame = def->pose->frame;
  return shape;
}

pnResult pn_createShape(const pnTreePlan *def, const pnUpdateRule *rule, pnBuildResult *given, pnShape **outShape) {
  pnShape *shape = *outShape = pn_beginShape(def, rule);
  if (!shape) return pn_failMemory(sizeof *shape);
  pnResult result = pn_hasPieces(def) ? assemblePieces(shape, def) : pn_assemble(shape, def, NULL, given);
  if (result != PN_OK) {
    pn_releaseShape(shape);
    *outShape = NULL;
  }
  return result;
}

/* What a setting changes is either in the shape or in what a rule keeps for all twins, so all of them count; where the pose was
 * when pieces were made is not kept, so these are not shared. */
bool pn_fitsShape(const pnShape *shape, const pnTreePlan *def, const struct pnUpdateRule *rule) {
  const pnTreePlan *p = &shape->def;
  return shape->rule == rule && shape->motion == def->pose->motion && shape->mesh == def->pose->mesh &&
         shape->morph == def->pose->morph && shape->skin == def->pose->skin && !pn_hasPieces(p) && !pn_hasPieces(def) &&
         p->build == def->build && p->form == def->form && p->arity == def->arity && p->leafSize == def->leafSize &&
         p->cut == def->cut && p->extraReferences == def->extraReferences && p->calm == def->calm &&
         p->self == def->self;
}

/* ---------------------------------------------------------------- the door */

pnShapeDef pnDefaultShapeDef(void) {
  return (pnShapeDef){.tree = pnDefaultTreeDef(), .cookie = PN_COOKIE};
}

pnResult pnCreateShape(const pnShapeDef *def, const pnShape **outShape) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(def && outShape);
  *outShape = NULL;
  pnResult result = pn_checkCookie(def->cookie, "pnShapeDef");
  if (result == PN_OK) result = pn_checkCookie(def->tree.cookie, "pnTreeDef");
  if (result != PN_OK) return result;
  PN_ASSERT(def->mesh);
  pnPose *pose;
  result = pnCreatePose(&(pnPoseDef){def->mesh, def->morph, def->skin}, &pose);
  if (result != PN_OK) return result;
  pnTreePlan asked = pn_planOf(&def->tree), resolved;
  asked.pose = pose;
  const pnUpdateRule *rule;
  pnShape *shape = NULL;
  result = pn_resolveDef(&asked, &resolved, &rule);
  if (result == PN_OK) result = pn_createShape(&resolved, rule, NULL, &shape);
  pnDestroyPose(pose);
  *outShape = shape;
  return result;
}

const pnShape *pnShape_Retain(const pnShape *shape) {
  PN_ASSERT(shape);
  return pn_retainShape(shape);
}
void pnShape_Release(const pnShape *shape) {
  pn_releaseShape(shape);
}
const pnMesh *pnShape_GetMesh(const pnShape *shape) {
  return shape->mesh;
}
const pnMorph *pnShape_GetMorph(const pnShape *shape) {
  return shape->morph;
}
const pnSkin *pnShape_GetSkin(const pnShape *shape) {
  return shape->skin;
}
pnTreeDef pnShape_GetDef(const pnShape *shape) {
  return pn_defOf(&shape->def);
}
pnTreeLab pnShape_GetLab(const pnShape *shape) {
  return pn_labOf(&shape->def);
}
uint32_t pnShape_GetNodeCount(const pnShape *shape) {
  return shape->nodeCount;
}
uint32_t pnShape_GetHeight(const pnShape *shape) {
  return shape->height;
}
size_t pnShape_GetByteCount(const pnShape *shape) {
  return pn_shapeBytes(shape);
}
