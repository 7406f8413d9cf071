/* update_bottom_up.c: every leaf from its vertices, every inner node by merging its children, in every frame.
 * [Larsson01, section 3.3], after [Bergen97]. Nothing is left for later: it is the hybrid rule with the cut below the
 * leaves (tree.c sets it so), and the leaves' own lanes. */
#include "tree/update.h"

static void putLeaves(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  pnTree *tree = context;
  for (uint32_t leaf = begin; leaf < end; ++leaf) {
    pn_fillLeaf(tree, tree->shape->innerCount + leaf);
    pn_markFresh(tree, tree->shape->innerCount + leaf);
  }
}

static pnResult update(pnTree *tree, const pnTasks *tasks) {
  pnResult result = pn_updateEager(tree, tasks);
  if (result == PN_OK) {
    pn_parallelFor(tasks, putLeaves, tree, tree->shape->leafCount, 256);
    tree->eagerUpdated += tree->shape->leafCount;
  }
  return result;
}

const pnUpdateRule pn_updateBottomUp = {.name = "bottom-up",
                                        .cut = 1,
                                        .inPlace = true,
                                        .fillsLeaves = true,
                                        .seesAll = true,
                                        .prepare = pn_prepareEager,
                                        .update = update,
                                        .fill = pn_fillFromVertices};
