/* update_hybrid.c: the upper nodes bottom-up in every frame, the lower ones when a query reaches them.
 * [Larsson01, section 3.3]: they cut at half the levels; here the cut is a number of triangles, default 64, which for the
 * default tree is one level of inner nodes above the leaves (PERFORMANCE: what paid, 2). The eager pass goes over lists of
 * distinct vertices, one list for each *cluster* (a maximal node of at most `cut` triangles), and is the only
 * part of a frame whose cost grows with the whole mesh. */
#include "tree/update.h"

typedef struct Pass {
  const pnTree *tree;
  void *room; /* a volume of every eager node and cluster, as the form keeps it */
} Pass;

static void boundClusters(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const Pass *pass = context;
  for (uint32_t c = begin; c < end; ++c) pass->tree->form->boundCluster(pass->tree, c, pass->room);
}

/* Room for a volume of every node that is eager or a cluster; those have numbers up to the largest cluster's. */
pnResult pn_prepareEager(pnTree *tree) {
  uint32_t most = 0;
  for (uint32_t c = 0; c < tree->shape->clusterCount; ++c) most = PN_MAX(most, tree->shape->clusterNode[c]);
  return pn_allocRuleData(tree, pn_bytes((size_t)most + 1, tree->form->eagerBytes));
}

/* Triangles of the clusters that a worker takes at a time: a microsecond or two, many times what taking them costs, and a mesh of a few
 * thousand is still shared by all. */
#define TASK_TRIANGLES 2048u

pnResult pn_updateEager(pnTree *tree, const pnTasks *tasks) {
  Pass pass = {tree, tree->ruleData};
  uint32_t grain = PN_MAX(TASK_TRIANGLES / PN_MAX(tree->def.cut, 1u), 1u);
  pn_parallelFor(tasks, boundClusters, &pass, tree->shape->clusterCount, grain);
  bool ok = tree->form->mergeEager(tree, tree->ruleData);
  tree->eagerUpdated += tree->shape->eagerCount;
  return ok ? PN_OK : PN_ERROR_NUMBER;
}

const pnUpdateRule pn_updateHybrid = {.name = "hybrid",
                                      .rank = 1,
                                      .inPlace = true,
                                      .seesAll = true,
                                      .prepare = pn_prepareEager,
                                      .update = pn_updateEager,
                                      .fill = pn_fillFromVertices};
