/* update_bergen.c: van den Bergen's complete method [Bergen97], the baseline of [Larsson01]: boxes in model space, all of
 * them updated bottom-up when the shape has changed, tested under the transforms by SAT-lite (collide/traverse_bergen.c).
 * When only the transform changes nothing is updated at all, which is why it suits rigid bodies. */
#include "tree/update.h"

/* Leaves: blocks are world positions, for the exact tests; boxes are of source positions. */
static void boxLeaf(pnTree *tree, uint32_t leaf) {
  uint32_t node = tree->innerCount + leaf;
  pnModelLanes *lanes = pn_lanesOf(tree, node);
  for (uint32_t j = 0; j < PN_LANES; j++) {
    uint32_t slot = leaf * PN_LANES + PN_MIN(j, tree->count[node] - 1u);
    const uint32_t *corner = tree->mesh->triangles + 3 * (size_t)tree->leafTriangles[slot];
    for (int k = 0; k < 3; k++) {
      float a = tree->pose->source[3 * (size_t)corner[0] + k], b = tree->pose->source[3 * (size_t)corner[1] + k];
      float c = tree->pose->source[3 * (size_t)corner[2] + k];
      lanes->row[k][0][j] = PN_MIN(a, PN_MIN(b, c));
      lanes->row[k][1][j] = PN_MAX(a, PN_MAX(b, c));
    }
  }
}

/* The box of all lanes of a node into one lane of its parent. */
static void passUp(pnTree *tree, uint32_t node) {
  const pnModelLanes *from = pn_lanesOf(tree, node);
  uint32_t parent = tree->parent[node] / PN_LANES, lane = tree->parent[node] % PN_LANES;
  pnModelLanes *to = pn_lanesOf(tree, parent);
  for (int k = 0; k < 3; k++) {
    float lo = from->row[k][0][0], hi = from->row[k][1][0];
    for (uint32_t j = 1; j < tree->count[node]; j++) {
      lo = PN_MIN(lo, from->row[k][0][j]);
      hi = PN_MAX(hi, from->row[k][1][j]);
    }
    to->row[k][0][lane] = lo;
    to->row[k][1][lane] = hi;
  }
}

/* The world box of the root's box; margin as in collide/traverse.c: 64u of the largest coordinate. */
static bool setWorldBox(pnTree *tree) {
  const pnModelLanes *root = pn_lanesOf(tree, tree->nodeCount);
  float out[3][2];
  for (int k = 0; k < 3; k++) {
    const float *r = tree->pose->transform.m[k];
    float mid = r[3], ext = 0, reach = fabsf(r[3]);
    for (int i = 0; i < 3; i++) {
      float lo = root->row[i][0][0], hi = root->row[i][1][0];
      mid += r[i] * (0.5f * lo + 0.5f * hi);
      ext += fabsf(r[i]) * (0.5f * hi - 0.5f * lo);
      reach += fabsf(r[i]) * PN_MAX(fabsf(lo), fabsf(hi));
    }
    ext += 3.814697265625e-06f * reach;
    out[k][0] = mid - ext;
    out[k][1] = mid + ext;
  }
  tree->box = (pnBox){{out[0][0], out[1][0], out[2][0]}, {out[0][1], out[1][1], out[2][1]}};
  bool finite = true;
  for (int k = 0; k < 3; k++) {
    finite = finite && isfinite(out[k][0]) && isfinite(out[k][1]);
  }
  return finite;
}

static pnResult update(pnTree *tree, const pnTasks *tasks) {
  (void)tasks;
  if (tree->shapeFrame != tree->pose->shapeFrame) {
    for (uint32_t leaf = 0; leaf < tree->leafCount; leaf++) {
      boxLeaf(tree, leaf);
    }
    for (uint32_t node = tree->nodeCount; node-- > 0;) {
      passUp(tree, node);
    }
    tree->shapeFrame = tree->pose->shapeFrame;
    tree->eagerUpdated += tree->nodeCount;
  }
  for (uint32_t node = 0; node < tree->innerCount; node++) {
    pn_markFresh(tree, node);
  }
  return setWorldBox(tree) ? PN_OK : PN_ERROR_NUMBER;
}

/* Only leaves are ever stale: their world positions. */
static void fill(pnTree *tree, uint32_t node) {
  pn_fetchBlock(tree, node - tree->innerCount);
}

const pnUpdateRule pn_updateBergen = {.name = "van den Bergen", .modelSpace = true, .update = update, .fill = fill};
