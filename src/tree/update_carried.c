/* update_carried.c: volumes carried by joints, when a query reaches them. [Mujika09], for linear blend skinning as well.
 *
 * A frame costs the joints and the root, whatever the number of triangles. A node that is reached computes the volumes of
 * its children from the joints that move something below them (skin_bound.h says how, and why nothing is outside); a
 * leaf that is reached computes its vertices, which nothing else does. A body that is reached all over, or that looks at itself, computes
 * all of them (moved.h). */
#include "tree/moved.h"
#include "tree/skin_bound.h"

#include <float.h>

static pnResult update(pnTree *tree, const pnTasks *tasks) {
  (void)tasks;
  if (pn_isMoved(tree)) return pn_setMovedRoot(tree);
  pnBound root;
  pnSkinBound *bound = tree->ruleData;
  pn_beginSkinBound(tree, bound);
  if (!tree->slabs) {
    pn_skinBall(tree, bound, 0, root.centre, &root.radius);
    /* no coordinate is farther out than the joints reach, also when the radius is infinite, nor than float does: joints
     * and transforms that could carry one there are refused when they are set */
    float most = PN_MIN(FLT_MAX, 2 * bound->farthest);
    for (int k = 0; k < 3; ++k) {
      root.slabs.lo[k] = PN_MAX(-most, root.centre[k] - root.radius);
      root.slabs.hi[k] = PN_MIN(most, root.centre[k] + root.radius);
    }
    return pn_setRoot(tree, &root) ? PN_OK : PN_ERROR_NUMBER;
  }
  float rows[2 * PN_MAX_SLABS * PN_LANES];
  pn_skinRows(tree, bound, tree->shape->innerCount, rows);
  for (uint32_t d = 0; d < tree->slabs->count; ++d) {
    root.slabs.lo[d] = bound->root[d][0] = rows[2 * d * PN_LANES];
    root.slabs.hi[d] = bound->root[d][1] = rows[(2 * d + 1) * PN_LANES];
  }
  return pn_setRoot(tree, &root) ? PN_OK : PN_ERROR_NUMBER;
}

static void fillBalls(pnTree *tree, uint32_t node) {
  pnBound bounds[PN_LANES];
  for (uint32_t j = 0; j < tree->shape->count[node]; ++j)
    pn_skinBall(tree, tree->ruleData, tree->shape->first[node] + j, bounds[j].centre, &bounds[j].radius);
  pn_putBounds(tree, node, bounds, tree->shape->count[node]);
}

/* No vertex is outside the whole. A child's bound may be: its main joint moves all its vertices there, also those that do
 * not follow it, and joints may stretch a thousandfold. The grid is made for the whole. */
static void keepInside(const pnSkinBound *bound, uint32_t slabs, float *rows) {
  for (uint32_t d = 0; d < slabs; ++d, rows += 2 * PN_LANES) {
    pnF4 lo = pn_f4Set1(bound->root[d][0]), hi = pn_f4Set1(bound->root[d][1]);
    for (uint32_t i = 0; i < 2 * PN_LANES; i += 4)
      pn_f4Store(rows + i, pn_f4Min(pn_f4Max(pn_f4Load(rows + i), lo), hi));
  }
}

static void fillSlabs(pnTree *tree, uint32_t node) {
  float rows[2 * PN_MAX_SLABS * PN_LANES];
  pn_skinRows(tree, tree->ruleData, node, rows);
  keepInside(tree->ruleData, tree->slabs->count, rows);
  pn_putRows(tree, node, rows, tree->shape->count[node]);
}

static void fill(pnTree *tree, uint32_t node) {
  if (pn_isMoved(tree) || pn_isLeaf(tree, node)) pn_fillFromVertices(tree, node);
  else if (!tree->slabs) fillBalls(tree, node);
  else fillSlabs(tree, node);
}

static bool fits(const pnPose *pose, const pnFormRow *form) {
  return pose->motion == &pn_motionSkin && (form->slabs || form->isBall);
}

const pnUpdateRule pn_updateCarried = {.name = "carried",
                                       .fits = fits,
                                       .rank = 2,
                                       .moves = PN_MOVES_OFTEN,
                                       .prepare = pn_makeSkinBound,
                                       .update = update,
                                       .fill = fill,
                                       .constants = pn_skinForm};
