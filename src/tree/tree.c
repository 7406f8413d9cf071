/* tree.c: the life of a tree: checked, assembled (assemble.c), brought to its pose, asked about. tree.h has the layout and
 * the invariants. */
#include "tree/tree.h"

#include "base/fenv.h"
#include "tree/build.h"
#include "tree/corner.h"
#include "tree/update.h"

/* ---------------------------------------------------------------- definition */

pnTreeDef pnDefaultTreeDef(void) {
  return (pnTreeDef){.build = PN_BUILD_DEFAULT,
                     .volume = PN_VOLUME_BOX,
                     .update = PN_UPDATE_DEFAULT,
                     .arity = 8,
                     .leafSize = 8,
                     .self = true};
}

/* Triangles from which on nodes are updated eagerly only above 512; see pnTreeDef.cut. */
#define LARGE_MESH 16384u

static pnResult checkDef(const pnTreeDef *def) {
  PN_ASSERT(def->pose);
  if (def->arity != 2 && def->arity != 4 && def->arity != 8) {
    return pn_fail(PN_ERROR_ARGUMENT, "tree: arity is %u, it must be 2, 4 or 8", def->arity);
  }
  if (def->leafSize < 1 || def->leafSize > PN_LANES) {
    return pn_fail(PN_ERROR_ARGUMENT, "tree: leafSize is %u, it must be 1 to 8", def->leafSize);
  }
  if (def->extraReferences > 15) {
    return pn_fail(PN_ERROR_ARGUMENT, "tree: extraReferences is %u, it must be 0 to 15", def->extraReferences);
  }
  if ((uint32_t)def->build >= PN_BUILD_COUNT || (uint32_t)def->volume >= PN_VOLUME_COUNT ||
      (uint32_t)def->update >= PN_UPDATE_COUNT) {
    return pn_fail(PN_ERROR_ARGUMENT, "tree: build %d, volume %d or update %d is not one of the list", (int)def->build,
                   (int)def->volume, (int)def->update);
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
  if (rule->modelSpace && def->volume != PN_VOLUME_BOX) {
    return pn_fail(PN_ERROR_ARGUMENT, "tree: update rule '%s' works with boxes only", rule->name);
  }
  return PN_OK;
}

static const pnSlabSet *slabsOf(pnVolume volume) {
  switch (volume) {
    case PN_VOLUME_DOP14: return &pn_slabDop14;
    case PN_VOLUME_DOP18: return &pn_slabDop18;
    case PN_VOLUME_DOP26: return &pn_slabDop26;
    case PN_VOLUME_SPHERE: return NULL;
    default: return &pn_slabBox;
  }
}

/* ---------------------------------------------------------------- life */

static void freeTree(pnTree *tree) {
  if (tree->rule->release) {
    tree->rule->release(tree);
  }
  pn_free(tree->ruleData, tree->ruleBytes);
  pn_free(tree->memory, tree->memoryBytes);
  pn_free(tree->blockBytes ? tree->leafPositions : NULL, tree->blockBytes);
  pn_releaseShape(tree->shape);
  pn_free(tree->calm, tree->calmBytes);
  pn_free(tree->flat, tree->flatBytes);
  pn_free(tree, sizeof(pnTree));
}

static size_t laneBytes(const pnTree *t) {
  if (t->rule->modelSpace) {
    return sizeof(pnModelLanes);
  }
  return t->slabs ? t->slabs->count * 2 * PN_LANES * sizeof(int16_t) : sizeof(pnSphereLanes);
}

static size_t layoutFrame(pnTree *t, char *base) {
  const pnShape *s = t->shape;
  size_t at = 0, nodes = s->nodeCount;
  t->stamp = pn_carve(base, &at, nodes, sizeof(uint32_t));
  t->lanes = pn_carve(base, &at, nodes + 1, t->laneBytes);
  t->bigPlanes = s->bigCount ? pn_carve(base, &at, s->bigCount, sizeof(pnBigPlane)) : NULL;
  return at;
}

/* What changes from frame to frame. */
static pnResult allocFrame(pnTree *t) {
  if (t->shape->nodeCount == 0) {
    return PN_OK;
  }
  t->memoryBytes = layoutFrame(t, NULL);
  t->memory = pn_allocZero(t->memoryBytes);
  if (!t->memory) {
    return pn_failMemory(t->memoryBytes);
  }
  layoutFrame(t, t->memory);
  return PN_OK;
}

/* The twin's, or a new one. */
static pnResult takeShape(pnTree *tree) {
  const pnTree *twin = tree->def.twin;
  if (twin && pn_fitsShape(twin->shape, &tree->def, tree->rule)) {
    tree->shape = pn_retainShape(twin->shape);
    return PN_OK;
  }
  pnShape *shape;
  pnResult result = pn_createShape(&tree->def, tree->rule, &shape);
  tree->shape = shape;
  return result;
}

static float relativeSurface(const pnTree *tree);

pnResult pnCreateTree(const pnTreeDef *def, pnTree **outTree) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(def && outTree);
  *outTree = NULL;
  pnResult result = checkDef(def);
  if (result != PN_OK) {
    return result;
  }
  pnTree *tree = pn_allocZero(sizeof(pnTree));
  if (!tree) {
    return pn_failMemory(sizeof(pnTree));
  }
  tree->def = *def;
  tree->rule = pn_chooseRule(def);
  if (tree->rule == &pn_updateBottomUp) {
    tree->def.cut = 1;
  } else if (def->cut == 0) {
    tree->def.cut = def->pose->mesh->triangleCount < LARGE_MESH ? 64 : 512;
  }
  tree->pose = def->pose;
  tree->mesh = def->pose->mesh;
  tree->slabs = slabsOf(def->volume);
  tree->box = (pnBox){{1, 1, 1}, {-1, -1, -1}};
  tree->laneBytes = laneBytes(tree);
  result = takeShape(tree);
  if (result == PN_OK) {
    result = allocFrame(tree);
  }
  if (result == PN_OK && tree->shape->nodeCount > 0) {
    if (tree->rule->prepare) {
      result = tree->rule->prepare(tree);
    }
    if (result == PN_OK) {
      result = pnTree_Update(tree, NULL);
    }
  }
  if (result != PN_OK) {
    freeTree(tree);
    return result;
  }
  tree->builtSurface = relativeSurface(tree);
  tree->def.twin = NULL; /* what is shared stays; the other may go */
  *outTree = tree;
  return PN_OK;
}

void pnDestroyTree(pnTree *tree) {
  if (tree) {
    freeTree(tree);
  }
}

pnResult pnTree_Update(pnTree *tree, const pnTasks *tasks) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(tree);
  bool empty = tree->shape->nodeCount == 0 && !tree->rule->reshapes;
  if (empty || tree->poseFrame == tree->pose->frame) {
    return PN_OK;
  }
  /* a shared array that nobody has looked through: the hybrid rule for boxes sees NaN by itself, others do not */
  float maxAbs;
  bool unseen = tree->pose->sourceMaxAbs < 0 && !(tree->rule == &pn_updateHybrid && tree->def.volume == PN_VOLUME_BOX);
  pnResult result = unseen ? pn_checkNumbers(tree->pose, tree->pose->source, &maxAbs) : PN_OK;
  if (result == PN_OK) {
    result = pn_beginFrame(tree);
  }
  if (result == PN_OK) {
    result = tree->rule->update(tree, tasks);
    if (result == PN_ERROR_NUMBER) {
      /* whose fault? name the vertex if the source has a bad one */
      if (pn_checkNumbers(tree->pose, tree->pose->source, &maxAbs) == PN_OK) {
        pn_fail(result, "mesh '%s': a vertex moved to infinity; check its transform or joints", tree->mesh->name);
      }
    }
  }
  if (result != PN_OK) {
    tree->poseFrame = 0; /* the next query tries again */
    return result;
  }
  tree->poseFrame = tree->pose->frame;
  return PN_OK;
}

pnResult pnTree_Rebuild(pnTree *tree) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(tree);
  if (tree->rule->reshapes) {
    return pnTree_Update(tree, NULL);
  }
  pnTree *fresh;
  pnResult result = pnCreateTree(&tree->def, &fresh);
  if (result != PN_OK) {
    return result;
  }
  pnTree old = *tree;
  *tree = *fresh;
  *fresh = old;
  freeTree(fresh);
  return PN_OK;
}

/* ---------------------------------------------------------------- getters */

/* The box of lane j of a node. Dequantised: from the lower edge of its first cell to the upper edge of its last. */
static pnBox laneBox(const pnTree *tree, uint32_t node, uint32_t j) {
  float lo[3], hi[3];
  for (int k = 0; k < 3; k++) {
    if (tree->rule->modelSpace) {
      const pnModelLanes *m = pn_lanesOf(tree, node);
      lo[k] = m->row[k][0][j];
      hi[k] = m->row[k][1][j];
    } else if (tree->slabs) {
      const pnBoxLanes *b = pn_lanesOf(tree, node);
      float cell = 1.0f / tree->grid.scale[k];
      lo[k] = (float)(b->row[k][0][j] + tree->grid.offset[k]) * cell;
      hi[k] = (float)(b->row[k][1][j] + tree->grid.offset[k] + 1) * cell;
    } else {
      const pnSphereLanes *s = pn_lanesOf(tree, node);
      lo[k] = s->centre[k][j] - s->radius[j];
      hi[k] = s->centre[k][j] + s->radius[j];
    }
  }
  return (pnBox){{lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}};
}

static double surface(pnBox b) {
  double x = (double)b.max.x - b.min.x, y = (double)b.max.y - b.min.y, z = (double)b.max.z - b.min.z;
  return x * y + y * z + z * x;
}

/* Summed surface of the volumes in the fresh eager nodes over the surface of the whole. */
static float relativeSurface(const pnTree *tree) {
  double whole = surface(tree->box), sum = 0;
  for (uint32_t i = 0; i < tree->shape->eagerCount; i++) {
    uint32_t node = tree->shape->eagerNodes[i];
    if (atomic_load_explicit(&tree->stamp[node], memory_order_acquire) == tree->now) {
      for (uint32_t j = 0; j < tree->shape->count[node]; j++) {
        sum += surface(laneBox(tree, node, j));
      }
    }
  }
  return whole > 0 ? (float)(sum / whole) : 0;
}

float pnTree_GetQuality(const pnTree *tree) {
  PN_FLOAT_SCOPE;
  float now = relativeSurface(tree);
  return tree->builtSurface > 0 && now > 0 ? now / tree->builtSurface : 1.0f;
}

pnBox pnTree_GetBox(const pnTree *tree) {
  return tree->box;
}
const pnPose *pnTree_GetPose(const pnTree *tree) {
  return tree->pose;
}
pnTreeDef pnTree_GetDef(const pnTree *tree) {
  return tree->def;
}
uint32_t pnTree_GetNodeCount(const pnTree *tree) {
  return tree->shape->nodeCount;
}
uint32_t pnTree_GetHeight(const pnTree *tree) {
  return tree->shape->height;
}
size_t pnTree_GetByteCount(const pnTree *tree) {
  return sizeof(pnTree) + pn_shapeBytes(tree->shape) + tree->memoryBytes + tree->blockBytes + tree->ruleBytes +
         tree->calmBytes + tree->flatBytes;
}

uint32_t pnTree_GetLevelBoxes(pnTree *tree, uint32_t level, pnBox *outBoxes, uint32_t capacity) {
  PN_FLOAT_SCOPE;
  uint32_t count = 0;
  for (uint32_t node = 0; node < tree->shape->nodeCount; node++) {
    /* how deep is it? */
    uint32_t depth = 0;
    for (uint32_t up = node; up != 0; up = tree->shape->parent[up] / PN_LANES) {
      depth++;
    }
    if (depth != level) {
      continue;
    }
    if (count < capacity) {
      uint32_t parent = tree->shape->parent[node] / PN_LANES;
      if (parent < tree->shape->nodeCount) {
        pnFresh fresh = {.alone = true};
        pn_freshen(tree, parent, &fresh);
      }
      outBoxes[count] = laneBox(tree, parent, tree->shape->parent[node] % PN_LANES);
    }
    count++;
  }
  return count;
}
