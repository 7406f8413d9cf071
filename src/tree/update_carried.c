/* update_carried.c: volumes carried by joints, when a query reaches them. [Mujika09], for linear blend skinning as well.
 *
 * A frame costs the joints and the root, whatever the number of triangles. A node that is reached computes the volumes of
 * its children from the joints that move something below them (skin_bound.h says how, and why nothing is outside); a
 * leaf that is reached computes its vertices, which nothing else does. */
#include "tree/skin_bound.h"

static pnResult update(pnTree *tree, const pnTasks *tasks) {
  (void)tasks;
  pnSkinBound *bound = tree->ruleData;
  pn_beginSkinBound(tree, bound);
  pnBound root;
  if (!tree->slabs) {
    pn_skinBall(tree, bound, 0, root.centre, &root.radius);
    /* no coordinate is farther out than the joints reach, also when the radius is infinite */
    float most = 2 * bound->farthest;
    for (int k = 0; k < 3; k++) {
      root.slabs.lo[k] = PN_MAX(-most, root.centre[k] - root.radius);
      root.slabs.hi[k] = PN_MIN(most, root.centre[k] + root.radius);
    }
    return pn_setRoot(tree, &root) ? PN_OK : PN_ERROR_NUMBER;
  }
  pnF4 lo[PN_MAX_SLAB_GROUPS], hi[PN_MAX_SLAB_GROUPS];
  float out[2][4 * PN_MAX_SLAB_GROUPS];
  pn_skinSlabs(tree, bound, 0, lo, hi);
  for (uint32_t g = 0; g < bound->groupCount; g++) {
    pn_f4Store(out[0] + 4 * g, lo[g]);
    pn_f4Store(out[1] + 4 * g, hi[g]);
  }
  for (uint32_t d = 0; d < tree->slabs->count; d++) {
    uint32_t at = d < 3 ? d : d + 1; /* the fourth of the first group is empty */
    root.slabs.lo[d] = out[0][at];
    root.slabs.hi[d] = out[1][at];
  }
  return pn_setRoot(tree, &root) ? PN_OK : PN_ERROR_NUMBER;
}

static void fillBalls(pnTree *tree, uint32_t node) {
  pnBound bounds[PN_LANES];
  for (uint32_t j = 0; j < tree->count[node]; j++) {
    pn_skinBall(tree, tree->ruleData, tree->first[node] + j, bounds[j].centre, &bounds[j].radius);
  }
  pn_putBounds(tree, node, bounds, tree->count[node]);
}

static void fillBoxes(pnTree *tree, uint32_t node) {
  pnF4 lo[PN_LANES], hi[PN_LANES];
  uint32_t count = tree->count[node];
  for (uint32_t j = 0; j < PN_LANES; j++) {
    if (j < count) {
      pn_skinSlabs(tree, tree->ruleData, tree->first[node] + j, &lo[j], &hi[j]);
    } else {
      lo[j] = lo[count - 1];
      hi[j] = hi[count - 1];
    }
  }
  pn_putBoxes(tree, node, lo, hi, count);
}

static void fillSlabs(pnTree *tree, uint32_t node) {
  const pnSkinBound *bound = tree->ruleData;
  float rows[2 * PN_MAX_SLABS * PN_LANES] = {0};
  for (uint32_t j = 0; j < tree->count[node]; j++) {
    pnF4 lo[PN_MAX_SLAB_GROUPS], hi[PN_MAX_SLAB_GROUPS];
    float out[2][4];
    pn_skinSlabs(tree, bound, tree->first[node] + j, lo, hi);
    for (uint32_t d = 0; d < tree->slabs->count; d++) {
      uint32_t at = d < 3 ? d : d + 1;
      pn_f4Store(out[0], lo[at / 4]);
      pn_f4Store(out[1], hi[at / 4]);
      rows[(2 * d) * PN_LANES + j] = out[0][at % 4];
      rows[(2 * d + 1) * PN_LANES + j] = out[1][at % 4];
    }
  }
  pn_putRows(tree, node, rows, tree->count[node]);
}

static void fill(pnTree *tree, uint32_t node) {
  if (pn_isLeaf(tree, node)) {
    pn_fillLeaf(tree, node);
  } else if (!tree->slabs) {
    fillBalls(tree, node);
  } else if (tree->slabs->count == 3) {
    fillBoxes(tree, node);
  } else {
    fillSlabs(tree, node);
  }
}

const pnUpdateRule pn_updateCarried = {.name = "carried", .prepare = pn_makeSkinBound, .update = update, .fill = fill};
