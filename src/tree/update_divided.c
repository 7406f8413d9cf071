/* update_divided.c: trees whose big triangles are in pieces (corner.h). A lane of a leaf holds the volume of a piece, which is
 * not that of the triangle, so volumes cannot be made from the vertices below: every update makes all of them bottom-up.
 * Such trees are for bodies that do not move; then that happens once. */
#include "tree/corner.h"
#include "tree/update.h"

/* Volumes of a leaf's pieces. Their corners are rounded from double once, 1u of a coordinate, projections of up to three
 * coordinates twice: 8u = 2^-21 of the largest coordinate covers both. Below 2^-126 corners are off by 2^-150 and sums are
 * exact: 2^-147 (corner.h, pn_pieceMargin). */
static void boundPieces(const pnTree *tree, uint32_t leaf, pnBound *out) {
  for (uint32_t j = 0; j < tree->shape->count[tree->shape->innerCount + leaf]; ++j) {
    const float *whole[3];
    pn_slotCorners(tree, leaf * PN_LANES + j, whole);
    float points[12];
    pn_pieceCorners(&tree->shape->slotPieces[leaf * PN_LANES + j], whole, points);
    pn_boundOfPoints(tree, points, 3, &out[j]);
    tree->form->widen(tree->form, &out[j], pn_pieceMargin(whole));
  }
}

/* ruleData: a volume a node. */
static pnResult prepare(pnTree *tree) {
  return pn_allocRuleData(tree, pn_bytes(tree->shape->nodeCount, sizeof(pnBound)));
}

static pnResult update(pnTree *tree, const pnTasks *tasks) {
  (void)tasks;
  for (uint32_t i = 0; i < tree->shape->bigCount; ++i) {
    float p[9];
    pn_poseFetch(tree->pose, tree->mesh->triangles + 3 * (size_t)tree->shape->bigTriangles[i], 3, p, 3);
    tree->bigPlanes[i] = pn_planeOf((const float *const[3]){p, p + 3, p + 6});
  }
  pnBound *own = tree->ruleData;
  for (uint32_t node = tree->shape->nodeCount; node-- > 0;) {
    pnBound bounds[PN_LANES];
    const pnBound *parts = bounds;
    if (pn_isLeaf(tree, node)) {
      pn_fetchBlock(tree, node - tree->shape->innerCount);
      boundPieces(tree, node - tree->shape->innerCount, bounds);
    } else {
      parts = own + tree->shape->first[node];
    }
    own[node] = parts[0];
    for (uint32_t j = 1; j < tree->shape->count[node]; ++j) pn_boundMerge(tree, &own[node], &parts[j]);
  }
  tree->eagerUpdated += tree->shape->nodeCount;
  return pn_setRoot(tree, &own[0]) ? PN_OK : PN_ERROR_NUMBER;
}

/* The volumes on the grid, when a query reaches the node. */
static void fill(pnTree *tree, uint32_t node) {
  pnBound bounds[PN_LANES];
  const pnBound *parts = bounds;
  if (pn_isLeaf(tree, node)) boundPieces(tree, node - tree->shape->innerCount, bounds);
  else parts = (const pnBound *)tree->ruleData + tree->shape->first[node];
  pn_putBounds(tree, node, parts, tree->shape->count[node]);
}

const pnUpdateRule pn_updateDivided = {
    .name = "divided", .fillsLeaves = true, .prepare = prepare, .update = update, .fill = fill};
