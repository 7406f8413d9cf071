/* update_blended.c: volumes blended by the weights of morph targets, when a query reaches them. [Larsson03]
 *
 * A frame costs the root's volume: as many numbers as there are targets, whatever the number of triangles. A node
 * that is reached blends the volumes of its children from those of the targets (blend.h) and moves them by the transform
 * (carry.h); a leaf that is reached computes its vertices, which nothing else does. The stamp of the tree's lazy nodes is
 * the paper's "variable that keeps track of which frame" (section 5).
 *
 * Two rules. The first keeps volumes in world space, like all others, so that every tree meets every tree in the
 * fast traversal; boxes of a turned body are then boxes around turned boxes. The second is the paper's own: boxes
 * stay in model space and are tested under the rotation by SAT-lite (collide/traverse_bergen.c). */
#include "tree/blend.h"

/* ---------------------------------------------------------------- blended and moved */

/* Spheres of the children at a place, in world space. */
static void worldSpheres(const pnBlend *blend, uint32_t place, uint32_t count, pnBound *out) {
  float rows[PN_LANES * PN_MAX_ROWS];
  pn_blendRows(blend, place, rows);
  pn_carryLanes(&blend->carry, NULL, rows, count, out);
}

/* The volume of the whole, which stands at the place after the last inner node. */
static void worldRoot(const pnTree *tree, const pnBlend *blend, pnBound *out) {
  float rows[PN_LANES * PN_MAX_ROWS];
  uint32_t slabs = tree->slabs ? tree->slabs->count : 3;
  if (tree->slabs) {
    pn_blendRows(blend, tree->innerCount, rows);
  } else {
    float local[6 * PN_LANES];
    worldSpheres(blend, tree->innerCount, 1, out);
    pn_blendRootBox(blend, local);
    pn_carryRows(&blend->carry, 3, local, rows);
  }
  for (uint32_t d = 0; d < slabs; d++) {
    out->slabs.lo[d] = rows[(2 * d) * PN_LANES];
    out->slabs.hi[d] = rows[(2 * d + 1) * PN_LANES];
  }
}

/* ---------------------------------------------------------------- world space */

static pnResult update(pnTree *tree, const pnTasks *tasks) {
  (void)tasks;
  pnBound root;
  pn_weighBlend(tree, tree->ruleData);
  worldRoot(tree, tree->ruleData, &root);
  return pn_setRoot(tree, &root) ? PN_OK : PN_ERROR_NUMBER;
}

static void fill(pnTree *tree, uint32_t node) {
  const pnBlend *blend = tree->ruleData;
  if (pn_isLeaf(tree, node)) {
    pn_blendLeaf(tree, blend, node - tree->innerCount);
    pn_boundLeaf(tree, node);
  } else if (tree->slabs) {
    float rows[PN_LANES * PN_MAX_ROWS];
    pn_blendRows(blend, node, rows);
    pn_putRows(tree, node, rows, tree->count[node]);
  } else {
    pnBound bounds[PN_LANES];
    worldSpheres(blend, node, tree->count[node], bounds);
    pn_putBounds(tree, node, bounds, tree->count[node]);
  }
}

const pnUpdateRule pn_updateBlended = {.name = "blended", .prepare = pn_makeBlend, .update = update, .fill = fill};

/* ---------------------------------------------------------------- model space */

/* The root's lanes are its model box; the tree's box is that of its image. */
static pnResult updateModel(pnTree *tree, const pnTasks *tasks) {
  (void)tasks;
  pnBlend *blend = tree->ruleData;
  pnBound root;
  pn_weighBlend(tree, blend);
  pn_blendRows(blend, tree->innerCount, pn_lanesOf(tree, tree->nodeCount));
  pn_carryBegin(&blend->carry, &tree->pose->transform, tree->slabs, 3);
  pn_carryLanes(&blend->carry, tree->slabs, pn_lanesOf(tree, tree->nodeCount), 1, &root);
  const pnSlabs *s = &root.slabs;
  tree->box = (pnBox){{s->lo[0], s->lo[1], s->lo[2]}, {s->hi[0], s->hi[1], s->hi[2]}};
  bool finite = true;
  for (int k = 0; k < 3; k++) {
    finite = finite && isfinite(s->lo[k]) && isfinite(s->hi[k]);
  }
  return finite ? PN_OK : PN_ERROR_NUMBER;
}

/* A leaf's vertices are computed once: before the transform for its boxes, after it for its block. */
static void fillModelLeaf(pnTree *tree, uint32_t node) {
  uint32_t leaf = node - tree->innerCount, at = tree->leafVertexFirst[leaf], n = tree->leafVertexFirst[leaf + 1] - at;
  uint32_t vertices[3 * PN_LANES];
  for (uint32_t i = 0; i < n; i++) {
    vertices[i] = tree->leafVertices[at + i] / 3;
  }
  const pnPose *pose = tree->pose;
  float *block = tree->leafPositions + 4 * (size_t)at;
  pn_fetchMorph(pose, true, vertices, n, block, 4);
  pnModelLanes *lanes = pn_lanesOf(tree, node);
  for (uint32_t j = 0; j < PN_LANES; j++) {
    const uint16_t *corner = tree->leafCorners + 24 * (size_t)leaf + 3 * PN_MIN(j, tree->count[node] - 1u);
    for (int k = 0; k < 3; k++) {
      float a = pn_cornerAt(block, corner[0])[k], b = pn_cornerAt(block, corner[1])[k],
            c = pn_cornerAt(block, corner[2])[k];
      lanes->row[k][0][j] = PN_MIN(a, PN_MIN(b, c));
      lanes->row[k][1][j] = PN_MAX(a, PN_MAX(b, c));
    }
  }
  if (pose->hasTransform) {
    pn_moveRigid(&pose->transform, n, block, 4);
  }
}

static void fillModel(pnTree *tree, uint32_t node) {
  if (pn_isLeaf(tree, node)) {
    fillModelLeaf(tree, node);
  } else {
    pn_blendRows(tree->ruleData, node, pn_lanesOf(tree, node));
  }
}

const pnUpdateRule pn_updateBlendedModel = {.name = "blended, tested under rotation",
                                            .modelSpace = true,
                                            .prepare = pn_makeBlend,
                                            .update = updateModel,
                                            .fill = fillModel};
