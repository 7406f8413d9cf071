/* update_rigid.c: the shape stays, the transform moves it. Volumes of the source are computed once, bottom-up, and carried
 * by the transform when a query reaches them (carry.h): a frame costs the root, whatever the number of triangles. */
#include "tree/carry.h"

/* Source volumes of one leaf's triangles. */
static void boundTriangles(pnTree *tree, uint32_t leaf, pnBound *out) {
  for (uint32_t j = 0; j < tree->shape->count[tree->shape->innerCount + leaf]; j++) {
    const uint32_t *corner = tree->mesh->triangles + 3 * (size_t)tree->shape->leafTriangles[leaf * PN_LANES + j];
    float points[12] = {0};
    for (int k = 0; k < 3; k++) {
      memcpy(points + 4 * k, tree->pose->source + 3 * (size_t)corner[k], 3 * sizeof(float));
    }
    pn_boundOfPoints(tree, points, 3, &out[j]);
  }
}

static void storeModel(pnTree *tree, uint32_t node, const pnBound *bounds, uint32_t count) {
  for (uint32_t j = 0; j < count; j++) {
    if (tree->slabs) {
      pnModelLanes *m = pn_modelOf(tree, 0, node);
      for (uint32_t d = 0; d < tree->slabs->count; d++) {
        m->row[d][0][j] = bounds[j].slabs.lo[d];
        m->row[d][1][j] = bounds[j].slabs.hi[d];
      }
    } else {
      pnSphereLanes *s = (pnSphereLanes *)pn_modelOf(tree, 0, node);
      for (int k = 0; k < 3; k++) {
        s->centre[k][j] = bounds[j].centre[k];
      }
      s->radius[j] = bounds[j].radius;
    }
  }
}

/* All source volumes, leaves first; `own` holds one bound a node. */
static void computeModel(pnTree *tree, pnBound *own) {
  for (uint32_t node = tree->shape->nodeCount; node-- > 0;) {
    pnBound bounds[PN_LANES];
    uint32_t count = tree->shape->count[node];
    if (pn_isLeaf(tree, node)) {
      boundTriangles(tree, node - tree->shape->innerCount, bounds);
    } else {
      memcpy(bounds, own + tree->shape->first[node], count * sizeof(pnBound));
    }
    storeModel(tree, node, bounds, count);
    own[node] = bounds[0];
    for (uint32_t j = 1; j < count; j++) {
      pn_boundMerge(tree, &own[node], &bounds[j]);
    }
  }
  storeModel(tree, tree->shape->nodeCount, own, 1);
}

/* The largest |coordinate| of the source; spheres do not need it. */
static float reachOf(const pnTree *tree) {
  const pnModelLanes *whole = pn_modelOf(tree, 0, tree->shape->nodeCount);
  float reach = 0;
  for (int k = 0; tree->slabs && k < 3; k++) {
    reach = PN_MAX(reach, PN_MAX(-whole->row[k][0][0], whole->row[k][1][0]));
  }
  return reach;
}

static pnResult prepare(pnTree *tree) {
  return pn_allocRuleData(tree, sizeof(pnCarry));
}

static pnResult update(pnTree *tree, const pnTasks *tasks) {
  (void)tasks;
  if (tree->shapeFrame != tree->pose->shapeFrame) {
    size_t size = pn_bytes(tree->shape->nodeCount, sizeof(pnBound));
    pnBound *own = pn_alloc(size);
    if (!own) {
      return pn_failMemory(size);
    }
    computeModel(tree, own);
    pn_free(own, size);
    tree->shapeFrame = tree->pose->shapeFrame;
  }
  pnCarry *carry = tree->ruleData;
  pnBound root;
  pn_carryBegin(carry, &tree->pose->transform, tree->slabs, tree->slabs ? tree->slabs->count : 0, reachOf(tree));
  pn_carryLanes(carry, tree->slabs, pn_modelOf(tree, 0, tree->shape->nodeCount), 1, &root);
  return pn_setRoot(tree, &root) ? PN_OK : PN_ERROR_NUMBER;
}

static void fill(pnTree *tree, uint32_t node) {
  if (pn_isLeaf(tree, node)) {
    pn_fillLeaf(tree, node);
    return;
  }
  pnBound bounds[PN_LANES];
  pn_carryLanes(tree->ruleData, tree->slabs, pn_modelOf(tree, 0, node), tree->shape->count[node], bounds);
  pn_putBounds(tree, node, bounds, tree->shape->count[node]);
}

const pnUpdateRule pn_updateRigid = {
    .name = "rigid", .carries = true, .prepare = prepare, .update = update, .fill = fill};
