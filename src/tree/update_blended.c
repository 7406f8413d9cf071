/* update_blended.c: volumes blended by the weights of morph targets, when a query reaches them. [Larsson03]
 *
 * A frame costs the volumes of the root: as many numbers as there are targets, whatever the number of triangles. A node
 * that is reached blends the volumes of its children from those of the targets (blend.h) and moves them by the transform
 * (carry.h); a leaf that is reached computes its vertices, which nothing else does. Rows of leaves make that as cheap as computing
 * all (blend_leaf.c), so that only small bodies are moved as a whole (moved.h). The stamp of the tree's lazy nodes is
 * the paper's "variable that keeps track of which frame" (section 5).
 *
 * Two rules. The first keeps volumes in world space, like all others, so that every tree meets every tree in the
 * fast traversal; boxes of a turned body are then boxes around turned boxes. The second is the paper's own: boxes
 * stay in model space and are tested under the rotation by SAT-lite (collide/traverse_bergen.c). */
#include "tree/blend.h"
#include "tree/moved.h"

/* ---------------------------------------------------------------- blended and moved */

/* Spheres of the children at a place, in world space. */
static void worldSpheres(const pnBlend *blend, uint32_t place, uint32_t count, pnBound *out) {
  float rows[PN_LANES * PN_MAX_ROWS];
  pn_blendRows(blend, place, rows);
  pn_formSphere.carry(&pn_formSphere, &blend->carry, rows, count, out);
}

/* The sphere of the whole, at the place after the last inner node, and its box. */
static void worldSphere(const pnBlend *blend, uint32_t place, pnBound *out) {
  float local[6 * PN_LANES], rows[6 * PN_LANES];
  worldSpheres(blend, place, 1, out);
  pn_blendRootBox(blend, local);
  pn_carryRows(&blend->carry, 3, local, rows);
  for (uint32_t d = 0; d < 3; ++d) {
    out->slabs.lo[d] = rows[(2 * d) * PN_LANES];
    out->slabs.hi[d] = rows[(2 * d + 1) * PN_LANES];
  }
}

/* The slabs around the first `count` lanes of rows. */
static void aroundLanes(const float *rows, uint32_t slabs, uint32_t count, pnSlabs *out) {
  for (uint32_t d = 0; d < slabs; ++d, rows += 2 * PN_LANES) {
    out->lo[d] = rows[0];
    out->hi[d] = rows[PN_LANES];
    for (uint32_t j = 1; j < count; ++j) {
      out->lo[d] = PN_MIN(out->lo[d], rows[j]);
      out->hi[d] = PN_MAX(out->hi[d], rows[PN_LANES + j]);
    }
  }
}

/* ---------------------------------------------------------------- world space */

/* The whole is what is around the root's children: the same sums as for the whole itself, all lanes at once, and tighter,
 * the more so the more a body is turned. The root is then filled, too. */
static pnResult updateSlabs(pnTree *tree, const pnBlend *blend) {
  float rows[PN_LANES * PN_MAX_ROWS];
  pnBound root;
  uint32_t count = tree->shape->innerCount > 0 ? tree->shape->count[0] : 1;
  pn_blendRows(blend, 0, rows); /* with no inner node place 0 is that of the whole */
  aroundLanes(rows, tree->slabs->count, count, &root.slabs);
  bool finite = pn_setRoot(tree, &root);
  if (finite && tree->shape->innerCount > 0 && !tree->def.noStamps) {
    pn_putRows(tree, 0, rows, count);
    pn_markFresh(tree, 0);
  }
  return finite ? PN_OK : PN_ERROR_NUMBER;
}

static pnResult update(pnTree *tree, const pnTasks *tasks) {
  (void)tasks;
  if (pn_isMoved(tree)) return pn_setMovedRoot(tree);
  pn_weighBlend(tree, tree->ruleData);
  if (tree->slabs) return updateSlabs(tree, tree->ruleData);
  pnBound root;
  worldSphere(tree->ruleData, tree->shape->innerCount, &root);
  return pn_setRoot(tree, &root) ? PN_OK : PN_ERROR_NUMBER;
}

static void fill(pnTree *tree, uint32_t node) {
  const pnBlend *blend = tree->ruleData;
  if (pn_isMoved(tree)) {
    pn_fillFromVertices(tree, node);
  } else if (pn_isLeaf(tree, node)) {
    pn_blendLeaf(tree, blend, node - tree->shape->innerCount);
    tree->form->fillLeaf(tree, node);
  } else if (tree->slabs) {
    float rows[PN_LANES * PN_MAX_ROWS];
    pn_blendRows(blend, node, rows);
    pn_putRows(tree, node, rows, tree->shape->count[node]);
  } else {
    pnBound bounds[PN_LANES];
    worldSpheres(blend, node, tree->shape->count[node], bounds);
    pn_putBounds(tree, node, bounds, tree->shape->count[node]);
  }
}

const pnUpdateRule pn_updateBlended = {.name = "blended",
                                       .fits = pn_fitsBlend,
                                       .rank = 2,
                                       .moves = PN_MOVES_SMALL,
                                       .prepare = pn_makeBlend,
                                       .update = update,
                                       .fill = fill,
                                       .constants = pn_blendForm};

/* ---------------------------------------------------------------- model space */

/* The root's lanes are its model box; the tree's box is that of its image. */
static pnResult updateModel(pnTree *tree, const pnTasks *tasks) {
  (void)tasks;
  pnBlend *blend = tree->ruleData;
  pnBound root;
  pn_weighBlend(tree, blend);
  pn_blendRows(blend, tree->shape->innerCount, pn_lanesOf(tree, tree->shape->nodeCount));
  pn_carryBegin(&blend->carry, &tree->pose->transform, tree->slabs, 3, tree->pose->sourceMaxAbs, false);
  tree->form->carry(tree->form, &blend->carry, pn_lanesOf(tree, tree->shape->nodeCount), 1, &root);
  const pnSlabs *s = &root.slabs;
  tree->box = (pnBox){{s->lo[0], s->lo[1], s->lo[2]}, {s->hi[0], s->hi[1], s->hi[2]}};
  bool finite = true;
  for (int k = 0; k < 3; ++k) finite = finite && isfinite(s->lo[k]) && isfinite(s->hi[k]);
  return finite ? PN_OK : PN_ERROR_NUMBER;
}

/* A leaf's vertices are computed once: before the transform for its boxes, after it for its block. */
static void fillModelLeaf(pnTree *tree, uint32_t node) {
  uint32_t leaf = node - tree->shape->innerCount, at = tree->shape->leafVertexFirst[leaf],
           n = tree->shape->leafVertexFirst[leaf + 1] - at;
  uint32_t vertices[3 * PN_LANES];
  for (uint32_t i = 0; i < n; ++i) vertices[i] = tree->shape->leafVertices[at + i] / 3;
  const pnPose *pose = tree->pose;
  float *block = tree->leafPositions + 4 * (size_t)at;
  pose->motion->fetch(pose, true, vertices, n, block, 4);
  pnModelLanes *lanes = pn_lanesOf(tree, node);
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    const float *corner[3];
    pn_slotCorners(tree, leaf * PN_LANES + PN_MIN(j, tree->shape->count[node] - 1u), corner);
    for (int k = 0; k < 3; ++k) {
      float a = corner[0][k], b = corner[1][k], c = corner[2][k];
      lanes->row[k][0][j] = PN_MIN(a, PN_MIN(b, c));
      lanes->row[k][1][j] = PN_MAX(a, PN_MAX(b, c));
    }
  }
  if (pose->hasTransform) pn_moveRigid(&pose->transform, n, block, 4);
}

static void fillModel(pnTree *tree, uint32_t node) {
  if (pn_isLeaf(tree, node)) fillModelLeaf(tree, node);
  else pn_blendRows(tree->ruleData, node, pn_lanesOf(tree, node));
}

const pnUpdateRule pn_updateBlendedModel = {.name = "blended, tested under rotation",
                                            .fits = pn_fitsBlend,
                                            .modelSpace = true,
                                            .prepare = pn_makeBlend,
                                            .update = updateModel,
                                            .fill = fillModel,
                                            .constants = pn_blendForm};
