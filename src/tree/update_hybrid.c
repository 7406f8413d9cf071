/* update_hybrid.c: the upper nodes bottom-up in every frame, the lower ones when a query reaches them.
 * [Larsson01, section 3.3]: they cut at half the levels; here the cut is a number of triangles, 64 by default, which for the
 * default tree is one level of inner nodes above the leaves, and 512 for large meshes (shape.c). The eager pass goes over lists of
 * distinct vertices, one list for each *cluster* (a maximal node of at most `cut` triangles), and is the only
 * part of a frame whose cost grows with the whole mesh. */
#include "tree/update.h"

/* Room for a volume of every node that is eager or a cluster; those have numbers up to the largest cluster's. */
pnResult pn_prepareEager(pnTree *tree) {
  uint32_t most = 0;
  for (uint32_t c = 0; c < tree->shape->clusterCount; ++c) most = PN_MAX(most, tree->shape->clusterNode[c]);
  return pn_allocRuleData(tree, pn_bytes((size_t)most + 1, tree->form->eagerBytes));
}

/* Triangles of a part: a microsecond or two, many times what taking one costs, and a mesh of a few thousand is still shared by all. */
#define PART_TRIANGLES 2048u

/* Parts have the same number of clusters, which have about the same number of triangles; it may be any but 0. */
static uint32_t clustersOfPart(const pnTree *tree) {
  uint64_t clusters = tree->shape->clusterCount, triangles = tree->mesh->triangleCount;
  return (uint32_t)(clusters * PART_TRIANGLES / PN_MAX(triangles, 1u)) + 1;
}

static uint32_t countParts(const pnTree *tree) {
  uint32_t each = clustersOfPart(tree);
  return (tree->shape->clusterCount + each - 1) / each;
}

static void boundPart(const pnTree *tree, uint32_t part) {
  uint32_t each = clustersOfPart(tree), end = PN_MIN((part + 1) * each, tree->shape->clusterCount);
  for (uint32_t c = part * each; c < end; ++c) tree->form->boundCluster(tree, c, tree->ruleData);
}

static pnResult endParts(pnTree *tree) {
  bool ok = tree->form->mergeEager(tree, tree->ruleData);
  tree->eagerUpdated += tree->shape->eagerCount;
  return ok ? PN_OK : PN_ERROR_NUMBER;
}

static void boundParts(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  for (uint32_t part = begin; part < end; ++part) boundPart(context, part);
}

pnResult pn_updateEager(pnTree *tree, const pnTasks *tasks) {
  pn_parallelFor(tasks, boundParts, tree, countParts(tree), 1);
  return endParts(tree);
}

const pnUpdateRule pn_updateHybrid = {.name = "hybrid",
                                      .rank = 1,
                                      .inPlace = true,
                                      .moves = PN_MOVES_ALWAYS,
                                      .seesAll = true,
                                      .prepare = pn_prepareEager,
                                      .update = pn_updateEager,
                                      .countParts = countParts,
                                      .boundPart = boundPart,
                                      .endParts = endParts,
                                      .fill = pn_fillFromVertices};
