/* tree.c: the life of a tree: checked, assembled (assemble.c), brought to its pose, asked about. tree.h has the layout and
 * the invariants. */
#include "tree/tree.h"

#include "base/fenv.h"
#include "tree/build.h"
#include "tree/corner.h"
#include "tree/moved.h"
#include "tree/update.h"

/* ---------------------------------------------------------------- definition */

pnTreeDef pnDefaultTreeDef(void) {
  return (pnTreeDef){.update = PN_UPDATE_DEFAULT, .self = true, .cookie = PN_COOKIE};
}

/* ---------------------------------------------------------------- life */

/* Trees that there were. */
static _Atomic uint64_t s_trees;

/* What frames write and what the rule keeps. */
static void dropFrame(pnTree *tree) {
  if (tree->rule->release) tree->rule->release(tree);
  pn_free(tree->ruleData, tree->ruleBytes);
  pn_free(tree->memory, tree->memoryBytes);
  tree->ruleData = NULL;
  tree->memory = NULL;
  tree->ruleBytes = tree->memoryBytes = 0;
}

static void freeTree(pnTree *tree) {
  dropFrame(tree);
  pn_free(tree->blockBytes ? tree->leafPositions : NULL, tree->blockBytes);
  pn_free(tree->moved, tree->movedBytes);
  pn_releaseShape(tree->shape);
  pn_free(tree->calm, tree->calmBytes);
  pn_free(tree->flat, tree->flatBytes);
  pn_dropRecords(tree);
  pn_free(tree, sizeof(pnTree));
}

static size_t layoutFrame(pnTree *t, char *base) {
  const pnShape *s = t->shape;
  size_t at = 0, nodes = s->nodeCount;
  t->stamp = pn_carve(base, &at, nodes, sizeof(uint32_t));
  t->lanes = pn_carve(base, &at, nodes + 1, t->laneBytes);
  t->bigPlanes = s->bigCount ? pn_carve(base, &at, s->bigCount, sizeof(pnBigPlane)) : NULL;
  return at;
}

/* What changes from frame to frame, before the first update. When it fails, the next update tries again. No node is fresh, and what stands in
 * one before it is filled nobody reads. It is cleared all the same, so that memory is mapped now, and not page by page in the frames that
 * reach it; but for a tree that is made in the midst of them, and of which few nodes are reached. */
static pnResult makeFrame(pnTree *t) {
  size_t bytes = layoutFrame(t, NULL);
  t->memory = pn_alloc(bytes);
  if (!t->memory) return pn_failMemory(bytes);
  t->memoryBytes = bytes;
  layoutFrame(t, t->memory);
  memset(t->memory, 0, t->isFocused ? t->shape->nodeCount * sizeof(uint32_t) : bytes); /* stamps are the first */
  pnResult result = t->rule->prepare ? t->rule->prepare(t) : PN_OK;
  if (result != PN_OK) dropFrame(t);
  return result;
}

/* The one that was given, the twin's, or a new one. */
static pnResult takeShape(pnTree *tree) {
  const pnTree *twin = tree->def.twin;
  const pnShape *given = tree->def.shape;
  if (!given && twin && pn_fitsShape(twin->shape, &tree->def, tree->rule)) given = twin->shape;
  if (given) {
    tree->shape = pn_retainShape(given);
    return PN_OK;
  }
  pnShape *shape;
  pnResult result = pn_createShape(&tree->def, tree->rule, NULL, &shape);
  tree->shape = shape;
  return result;
}

/* The settings of a tree: those of its shape, or what a definition says. */
static pnResult settle(pnTree *tree, const pnTreePlan *def) {
  const pnShape *shape = def->shape;
  tree->pose = def->pose;
  tree->mesh = def->pose->mesh;
  if (!shape) return pn_resolveDef(def, &tree->def, &tree->rule);
  if (shape->motion != def->pose->motion || shape->mesh != def->pose->mesh || shape->morph != def->pose->morph ||
      shape->skin != def->pose->skin) {
    return pn_fail(PN_ERROR_KIND, "tree: its shape was made of mesh '%s', and the pose has another mesh, morph or skin",
                   shape->mesh->name);
  }
  tree->def = shape->def;
  tree->def.pose = def->pose;
  tree->def.noStamps = def->noStamps;
  tree->def.tasks = def->tasks;
  tree->def.shape = shape;
  tree->rule = shape->rule;
  return PN_OK;
}

static float relativeSurface(const pnTree *tree);

/* The first update, now or later. A body of a crowd that nobody has looked at has no frame: neither volumes nor stamps. */
static pnResult beginLife(pnTree *tree) {
  pnShapeRest rest;
  bool atRest = tree->pose->frame == 1; /* poses begin so */
  if (tree->shape->nodeCount == 0 || tree->isFocused) return PN_OK;
  if (tree->def.later && atRest && pn_findRest(tree->shape, &rest)) {
    tree->box = rest.box;
    tree->builtSurface = rest.surface;
    return PN_OK;
  }
  pnResult result = pnTree_Update(tree, tree->def.tasks);
  if (result != PN_OK) return result;
  tree->builtSurface = relativeSurface(tree);
  if (atRest) pn_noteRest(tree->shape, &(pnShapeRest){tree->box, tree->builtSurface});
  return PN_OK;
}

pnResult pnCreateTree(const pnTreeDef *def, pnTree **outTree) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(def && outTree);
  *outTree = NULL;
  pnResult result = pn_checkCookie(def->cookie, "pnTreeDef");
  if (result != PN_OK) return result;
  PN_ASSERT(def->pose);
  pnTreePlan plan = pn_planOf(def);
  return pn_createTree(&plan, outTree);
}

pnResult pn_createTree(const pnTreePlan *def, pnTree **outTree) {
  *outTree = NULL;
  pnTree *tree = pn_allocZero(sizeof(pnTree));
  if (!tree) return pn_failMemory(sizeof(pnTree));
  pnResult result = settle(tree, def);
  if (result != PN_OK) {
    pn_free(tree, sizeof(pnTree));
    return result;
  }
  tree->isFocused = def->focus != NULL;
  if (tree->isFocused) tree->focus = *def->focus;
  tree->serial = atomic_fetch_add_explicit(&s_trees, 1, memory_order_relaxed) + 1;
  pn_setForm(tree, tree->def.form);
  tree->box = (pnBox){{1, 1, 1}, {-1, -1, -1}};
  result = takeShape(tree);
  if (result == PN_OK) result = beginLife(tree);
  if (result != PN_OK) {
    freeTree(tree);
    return result;
  }
  tree->def.later = false;
  tree->def.twin = NULL; /* what is shared is held; a tree that is built anew has a shape of its own */
  tree->def.shape = NULL;
  tree->def.focus = NULL;
  tree->def.tasks = NULL;
  *outTree = tree;
  return PN_OK;
}

void pnDestroyTree(pnTree *tree) {
  if (tree) freeTree(tree);
}

pnResult pnTree_Update(pnTree *tree, const pnTasks *tasks) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(tree);
  pnResult result = pn_followPose(tree, tasks);
  return result == PN_OK ? pn_openLeaves(tree) : result;
}

static bool hasNothingToFollow(const pnTree *tree) {
  return pn_isThere(tree) || (tree->shape->nodeCount == 0 && !tree->rule->reshapes);
}

/* A new frame, of numbers that are looked through. */
static pnResult beginFollowing(pnTree *tree, const pnTasks *tasks) {
  if (!tree->memory && !tree->rule->reshapes) {
    pnResult made = makeFrame(tree);
    if (made != PN_OK) return made;
  }
  /* a shared array that nobody has looked through: some rules see by themselves what is not a number, others do not */
  pnBox box;
  bool unseen = tree->pose->sourceMaxAbs < 0 && !(tree->rule->seesAll && tree->form->keepsNan);
  pnResult result = unseen ? pn_checkNumbers(tree->pose, tree->pose->source, &box) : PN_OK;
  if (result == PN_OK) result = pn_beginFrame(tree);
  return result == PN_OK ? pn_beginMoved(tree, tasks) : result;
}

/* What the quality is measured against where the grid is not over the whole: most of the body as it was in the first such frame. */
static void noteBulk(pnTree *tree) {
  if (tree->grid.isClipped && !(tree->bulk.surface > 0)) tree->bulk.surface = relativeSurface(tree);
}

/* The result of an update, which `began` or not. */
static pnResult endFollowing(pnTree *tree, pnResult result, bool began) {
  pnBox box;
  /* whose fault? name the vertex if the source has a bad one */
  if (began && result == PN_ERROR_NUMBER && pn_checkNumbers(tree->pose, tree->pose->source, &box) == PN_OK)
    pn_fail(result, "mesh '%s': a vertex moved to infinity; check its transform or joints", tree->mesh->name);
  tree->poseFrame = result == PN_OK ? tree->pose->frame : 0; /* the next query tries again */
  if (result == PN_OK) noteBulk(tree);
  return result;
}

pnResult pn_followPose(pnTree *tree, const pnTasks *tasks) {
  PN_FLOAT_SCOPE;
  /* a soup that was to grow and could not may still have moved its corners */
  if (tree->rule->reshapes) pn_findCorners(tree);
  if (hasNothingToFollow(tree)) return PN_OK;
  pnResult result = beginFollowing(tree, tasks);
  bool began = result == PN_OK;
  return endFollowing(tree, began ? tree->rule->update(tree, tasks) : result, began);
}

/* Volumes of clusters are numbers, the same for any grid; rules without parts have next to nothing to do. */
pnResult pn_followFocus(pnTree *focus, const pnTree *whole, const pnTasks *tasks) {
  if (!focus->rule->countParts) return pnTree_Update(focus, tasks);
  if (hasNothingToFollow(focus)) return PN_OK;
  pnResult result = beginFollowing(focus, tasks);
  if (result == PN_OK && !focus->form->mergeEager(focus, whole->ruleData)) result = PN_ERROR_NUMBER;
  focus->eagerUpdated += focus->shape->eagerCount;
  result = endFollowing(focus, result, false);
  return result == PN_OK ? pn_openLeaves(focus) : result;
}

pnResult pn_beginParts(pnTree *tree, const pnTasks *tasks, uint32_t *outParts) {
  PN_FLOAT_SCOPE;
  *outParts = 0;
  if (!tree->rule->countParts || hasNothingToFollow(tree)) return PN_OK;
  pnResult result = beginFollowing(tree, tasks);
  if (result != PN_OK) return endFollowing(tree, result, false);
  *outParts = tree->rule->countParts(tree);
  return PN_OK;
}

void pn_followPart(const pnTree *tree, uint32_t part) {
  tree->rule->boundPart(tree, part);
}

pnResult pn_endParts(pnTree *tree) {
  return endFollowing(tree, tree->rule->endParts(tree), true);
}

pnResult pnTree_Rebuild(pnTree *tree) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(tree);
  return pn_rebuildTree(tree, NULL);
}

pnResult pn_rebuildTree(pnTree *tree, const pnTasks *tasks) {
  if (tree->rule->reshapes) return pnTree_Update(tree, tasks);
  pnTree *fresh;
  pnTreePlan plan = tree->def;
  plan.tasks = tasks;
  pnResult result = pn_createTree(&plan, &fresh);
  if (result != PN_OK) return result;
  pn_exchangeTrees(tree, fresh);
  freeTree(fresh);
  return PN_OK;
}

void pn_exchangeTrees(pnTree *a, pnTree *b) {
  pnTree was = *a;
  *a = *b;
  *b = was;
}

/* ---------------------------------------------------------------- getters */

static pnBox boxInLane(const pnLaneBoxes *b, uint32_t j) {
  return (pnBox){{(float)b->lo[0][j], (float)b->lo[1][j], (float)b->lo[2][j]},
                 {(float)b->hi[0][j], (float)b->hi[1][j], (float)b->hi[2][j]}};
}

/* The world box of lane j of a node. What reaches beyond a grid that is not over the whole ends with the whole. */
static pnBox laneBox(const pnTree *tree, uint32_t node, uint32_t j) {
  pnLaneBoxes b;
  pn_laneBoxes(tree, node, j, j + 1, &b);
  for (int k = 0; tree->grid.isClipped && k < 3; ++k) {
    b.lo[k][j] = PN_MAX(b.lo[k][j], (double)(&tree->box.min.x)[k]);
    b.hi[k][j] = PN_MIN(b.hi[k][j], (double)(&tree->box.max.x)[k]);
  }
  return boxInLane(&b, j);
}

static double surface(pnBox b) {
  double x = (double)b.max.x - b.min.x, y = (double)b.max.y - b.min.y, z = (double)b.max.z - b.min.z;
  return x * y + y * z + z * x;
}

/* Of the boxes of a node's children together. */
static double surfaceBelow(const pnTree *tree, uint32_t node) {
  if (tree->form->surface && !tree->rule->modelSpace) return tree->form->surface(tree, node);
  pnLaneBoxes b;
  double sum = 0;
  pn_laneBoxes(tree, node, 0, tree->shape->count[node], &b);
  for (uint32_t j = 0; j < tree->shape->count[node]; ++j) sum += surface(boxInLane(&b, j));
  return sum;
}

/* Summed surface of the volumes in the fresh eager nodes over the surface of the whole. */
static float relativeSurface(const pnTree *tree) {
  if (!tree->memory) return tree->builtSurface; /* at rest, as the shape knows it */
  double whole = surface(tree->grid.isClipped ? tree->bulk.box : tree->box), sum = 0;
  for (uint32_t i = 0; i < tree->shape->eagerCount; ++i) {
    uint32_t node = tree->shape->eagerNodes[i];
    if (atomic_load_explicit(&tree->stamp[node], memory_order_acquire) == tree->now) sum += surfaceBelow(tree, node);
  }
  return whole > 0 ? (float)(sum / whole) : 0;
}

/* Clusters that divide a body as cubes divide a cube have together the cube root of their number as much surface as it, those of a smooth surface
 * less, of spikes and hair up to 2.4 times as much, of needles five times (all scenes of bench_world); those of triangles from anywhere have as much
 * each as the whole. */
#define BLIND_SURFACE 6.0

bool pn_isBuiltBlindly(const pnTree *tree) {
  double surface = tree->builtSurface, most = BLIND_SURFACE * BLIND_SURFACE * BLIND_SURFACE;
  return !(surface > 0) || surface * surface * surface > most * (tree->shape->clusterCount + 1.0);
}

float pnTree_GetQuality(const pnTree *tree) {
  PN_FLOAT_SCOPE;
  float now = relativeSurface(tree), before = tree->grid.isClipped ? tree->bulk.surface : tree->builtSurface;
  return before > 0 && now > 0 ? now / before : 1.0f;
}

pnBox pnTree_GetBox(const pnTree *tree) {
  return tree->box;
}
const pnPose *pnTree_GetPose(const pnTree *tree) {
  return tree->pose;
}
pnTreeDef pnTree_GetDef(const pnTree *tree) {
  return pn_defOf(&tree->def);
}
pnTreeLab pnTree_GetLab(const pnTree *tree) {
  return tree->rule->reshapes ? pn_bucketLab(tree) : pn_labOf(&tree->def);
}
const pnShape *pnTree_GetShape(const pnTree *tree) {
  return tree->rule->reshapes ? NULL : tree->shape;
}
uint32_t pnTree_GetNodeCount(const pnTree *tree) {
  return tree->shape->nodeCount;
}
uint32_t pnTree_GetHeight(const pnTree *tree) {
  return tree->shape->height;
}
size_t pnTree_GetByteCount(const pnTree *tree) {
  return sizeof(pnTree) + pn_shapeBytes(tree->shape) + tree->memoryBytes + tree->blockBytes + tree->movedBytes +
         tree->ruleBytes + tree->calmBytes + tree->flatBytes + pn_bytesOfRecords(tree->slants) +
         pn_bytesOfRecords(tree->tilts);
}

uint32_t pnTree_GetLevelBoxes(pnTree *tree, uint32_t level, pnBox *outBoxes, uint32_t capacity) {
  PN_FLOAT_SCOPE;
  uint32_t count = 0;
  if (!tree->memory && !tree->rule->reshapes && pnTree_Update(tree, NULL) != PN_OK) return 0;
  for (uint32_t node = 0; node < tree->shape->nodeCount; ++node) {
    /* how deep is it? */
    uint32_t depth = 0;
    for (uint32_t up = node; up != 0; up = tree->shape->parent[up] / PN_LANES) ++depth;
    if (depth != level) continue;
    if (count < capacity) {
      uint32_t parent = tree->shape->parent[node] / PN_LANES;
      if (parent < tree->shape->nodeCount) {
        pnFresh fresh = {.alone = true};
        pn_freshen(tree, parent, &fresh);
      }
      outBoxes[count] = laneBox(tree, parent, tree->shape->parent[node] % PN_LANES);
    }
    ++count;
  }
  return count;
}
