/* update_top_down.c: a frame costs one pass over the vertices for the root; a node's volumes are computed from its own
 * vertices when a query reaches it. [Larsson01, section 3.3]. */
#include "tree/update.h"

static pnResult update(pnTree *tree, const pnTasks *tasks) {
  (void)tasks;
  pnBound root;
  uint32_t n;
  const uint32_t *v = pn_verticesBelow(tree, 0, &n);
  pn_boundOfVertices(tree, v, n, &root);
  return pn_setRoot(tree, &root) ? PN_OK : PN_ERROR_NUMBER;
}

const pnUpdateRule pn_updateTopDown = {
    .name = "top-down", .inPlace = true, .update = update, .fill = pn_fillFromVertices};
