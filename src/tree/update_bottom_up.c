/* update_bottom_up.c: every leaf from its vertices, every inner node by merging its children, in every frame.
 * [Larsson01, section 3.3], after [Bergen97]. Nothing is left for later. */
#include "tree/update.h"

/* Volumes are needed before the grid (which follows from the root's): they are kept per node in `model` as floats. */
static pnBound *boundsOf(pnTree *tree) {
  return (pnBound *)tree->ruleData;
}

static pnResult prepare(pnTree *tree) {
  return pn_allocRuleData(tree, pn_bytes(tree->nodeCount, sizeof(pnBound)));
}

typedef struct Pass {
  pnTree *tree;
} Pass;

static void boundLeaves(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  pnTree *tree = ((Pass *)context)->tree;
  pnBound *bounds = boundsOf(tree);
  for (uint32_t leaf = begin; leaf < end; leaf++) {
    uint32_t at = tree->leafVertexFirst[leaf], n = tree->leafVertexFirst[leaf + 1] - at;
    pn_boundOfVertices(tree, tree->leafVertices + at, n, &bounds[tree->innerCount + leaf]);
  }
}

static void putLeaves(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  pnTree *tree = ((Pass *)context)->tree;
  for (uint32_t leaf = begin; leaf < end; leaf++) {
    pn_fillLeaf(tree, tree->innerCount + leaf);
    pn_markFresh(tree, tree->innerCount + leaf);
  }
}

static pnResult update(pnTree *tree, const pnTasks *tasks) {
  pnBound *bounds = boundsOf(tree);
  Pass pass = {tree};
  /* leaves, then inner nodes from the last to the first: children have larger numbers */
  pn_parallelFor(tasks, boundLeaves, &pass, tree->leafCount, 256);
  for (uint32_t node = tree->innerCount; node-- > 0;) {
    bounds[node] = bounds[tree->first[node]];
    for (uint32_t j = 1; j < tree->count[node]; j++) {
      pn_boundMerge(tree, &bounds[node], &bounds[tree->first[node] + j]);
    }
  }
  if (!pn_setRoot(tree, &bounds[0])) {
    return PN_ERROR_NUMBER;
  }
  /* now that the grid is known, write the lanes */
  for (uint32_t node = 0; node < tree->innerCount; node++) {
    pn_putBounds(tree, node, &bounds[tree->first[node]], tree->count[node]);
    pn_markFresh(tree, node);
  }
  pn_parallelFor(tasks, putLeaves, &pass, tree->leafCount, 256);
  tree->eagerUpdated += tree->nodeCount;
  return PN_OK;
}

const pnUpdateRule pn_updateBottomUp = {
    .name = "bottom-up", .inPlace = true, .prepare = prepare, .update = update, .fill = pn_fillFromVertices};
