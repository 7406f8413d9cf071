/* update_hybrid.c: the upper nodes bottom-up in every frame, the lower ones when a query reaches them.
 * [Larsson01, section 3.3]: they cut at half the levels; here the cut is a number of triangles, default 64, which for the
 * default tree is one level of inner nodes above the leaves (PERFORMANCE: what paid, 2). The eager pass goes over lists of
 * distinct vertices, one list for each *cluster* (a maximal node of at most `cut` triangles), and is the only
 * part of a frame whose cost grows with the whole mesh. */
#include "tree/update.h"

typedef struct Pass {
  pnTree *tree;
  float *boxes;    /* of eager nodes and clusters, 8 a node: lo xyz -, hi xyz - */
  pnBound *bounds; /* the same for volumes other than boxes */
} Pass;

static void boundClusters(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  Pass *pass = context;
  pnTree *tree = pass->tree;
  for (uint32_t c = begin; c < end; c++) {
    uint32_t at = tree->shape->clusterVertexFirst[c], n = tree->shape->clusterVertexFirst[c + 1] - at,
             node = tree->shape->clusterNode[c];
    if (pass->boxes) {
      pnF4 lo, hi;
      pn_boxOfVertices(tree, tree->shape->clusterVertices + at, n, &lo, &hi);
      pn_f4Store(pass->boxes + 8 * (size_t)node, lo);
      pn_f4Store(pass->boxes + 8 * (size_t)node + 4, hi);
    } else {
      pn_boundOfVertices(tree, tree->shape->clusterVertices + at, n, &pass->bounds[node]);
    }
  }
}

/* Boxes: eager nodes from their children's boxes, which are clusters or eager nodes with larger numbers. */
static bool mergeBoxes(pnTree *tree, float *boxes) {
  for (uint32_t i = 0; i < tree->shape->eagerCount; i++) {
    uint32_t node = tree->shape->eagerNodes[i];
    const float *child = boxes + 8 * (size_t)tree->shape->first[node];
    pnF4 lo = pn_f4Load(child), hi = pn_f4Load(child + 4), nan = pn_f4TrackNan(pn_f4Set1(0), lo);
    for (uint32_t j = 1; j < tree->shape->count[node]; j++) {
      nan = pn_f4TrackNan(nan, pn_f4Load(child + 8 * j));
      lo = pn_f4Min(lo, pn_f4Load(child + 8 * j));
      hi = pn_f4Max(hi, pn_f4Load(child + 8 * j + 4));
    }
    pn_f4Store(boxes + 8 * (size_t)node, pn_f4Or(lo, nan));
    pn_f4Store(boxes + 8 * (size_t)node + 4, hi);
  }
  pnBound root;
  for (int k = 0; k < 3; k++) {
    root.slabs.lo[k] = boxes[k];
    root.slabs.hi[k] = boxes[4 + k];
  }
  if (!pn_setRoot(tree, &root)) {
    return false;
  }
  for (uint32_t i = 0; i < tree->shape->eagerCount; i++) {
    uint32_t node = tree->shape->eagerNodes[i], last = tree->shape->count[node] - 1u;
    const float *child = boxes + 8 * (size_t)tree->shape->first[node];
    pnF4 lo[PN_LANES], hi[PN_LANES];
    for (uint32_t j = 0; j < PN_LANES; j++) {
      lo[j] = pn_f4Load(child + 8 * PN_MIN(j, last));
      hi[j] = pn_f4Load(child + 8 * PN_MIN(j, last) + 4);
    }
    pn_putBoxes(tree, node, lo, hi, tree->shape->count[node]);
    pn_markFresh(tree, node);
  }
  return true;
}

static bool mergeBounds(pnTree *tree, pnBound *bounds) {
  for (uint32_t i = 0; i < tree->shape->eagerCount; i++) {
    uint32_t node = tree->shape->eagerNodes[i];
    bounds[node] = bounds[tree->shape->first[node]];
    for (uint32_t j = 1; j < tree->shape->count[node]; j++) {
      pn_boundMerge(tree, &bounds[node], &bounds[tree->shape->first[node] + j]);
    }
  }
  if (!pn_setRoot(tree, &bounds[0])) {
    return false;
  }
  for (uint32_t i = 0; i < tree->shape->eagerCount; i++) {
    uint32_t node = tree->shape->eagerNodes[i];
    pn_putBounds(tree, node, &bounds[tree->shape->first[node]], tree->shape->count[node]);
    pn_markFresh(tree, node);
  }
  return true;
}

/* Room for a volume of every node that is eager or a cluster; those have numbers up to the largest cluster's. */
pnResult pn_prepareEager(pnTree *tree) {
  uint32_t most = 0;
  for (uint32_t c = 0; c < tree->shape->clusterCount; c++) {
    most = PN_MAX(most, tree->shape->clusterNode[c]);
  }
  size_t one = tree->def.form == PN_FORM_BOX ? 8 * sizeof(float) : sizeof(pnBound);
  return pn_allocRuleData(tree, pn_bytes((size_t)most + 1, one));
}

pnResult pn_updateEager(pnTree *tree, const pnTasks *tasks) {
  bool box = tree->def.form == PN_FORM_BOX;
  Pass pass = {tree, box ? tree->ruleData : NULL, box ? NULL : tree->ruleData};
  pn_parallelFor(tasks, boundClusters, &pass, tree->shape->clusterCount, 32);
  bool ok = box ? mergeBoxes(tree, tree->ruleData) : mergeBounds(tree, tree->ruleData);
  tree->eagerUpdated += tree->shape->eagerCount;
  return ok ? PN_OK : PN_ERROR_NUMBER;
}

const pnUpdateRule pn_updateHybrid = {.name = "hybrid",
                                      .inPlace = true,
                                      .prepare = pn_prepareEager,
                                      .update = pn_updateEager,
                                      .fill = pn_fillFromVertices};
