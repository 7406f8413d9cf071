/* update_bergen.c: van den Bergen's complete method [Bergen97], the baseline of [Larsson01]: boxes in model space, all of
 * them updated bottom-up when the shape has changed, tested under the transforms by SAT-lite (collide/traverse_bergen.c).
 * When only the transform changes nothing is updated at all, which is why it suits rigid bodies. */
#include "tree/update.h"

#include <float.h>

/* Leaves: blocks are world positions, for the exact tests; boxes are of source positions. */
static void boxLeaf(pnTree *tree, uint32_t leaf) {
  uint32_t node = tree->shape->innerCount + leaf;
  pnModelLanes *lanes = pn_lanesOf(tree, node);
  pnF4 side[2][PN_LANES];
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    uint32_t slot = leaf * PN_LANES + PN_MIN(j, tree->shape->count[node] - 1u);
    const uint32_t *corner = tree->mesh->triangles + 3 * (size_t)tree->shape->leafTriangles[slot];
    const float *source = tree->pose->source;
    pnF4 a = pn_f4Load(source + 3 * (size_t)corner[0]), b = pn_f4Load(source + 3 * (size_t)corner[1]);
    pnF4 c = pn_f4Load(source + 3 * (size_t)corner[2]);
    side[0][j] = pn_f4Min(a, pn_f4Min(b, c));
    side[1][j] = pn_f4Max(a, pn_f4Max(b, c));
  }
  for (int s = 0; s < 2; ++s) {
    for (int half = 0; half < 2; ++half) {
      const pnF4 *v = side[s] + 4 * half;
      pnF4 row[3];
      pn_f4Transpose3(v[0], v[1], v[2], v[3], &row[0], &row[1], &row[2]);
      for (int k = 0; k < 3; ++k) pn_f4Store(lanes->row[k][s] + 4 * half, row[k]);
    }
  }
}

static float least4(pnF4 v) {
  float x[4];
  pn_f4Store(x, v);
  return PN_MIN(PN_MIN(x[0], x[1]), PN_MIN(x[2], x[3]));
}

/* The box of all lanes of a node into one lane of its parent. Lanes past the count repeat the last child, so that all eight
 * can be taken. */
static void passUp(pnTree *tree, uint32_t node) {
  const pnModelLanes *from = pn_lanesOf(tree, node);
  uint32_t parent = tree->shape->parent[node] / PN_LANES, lane = tree->shape->parent[node] % PN_LANES;
  pnModelLanes *to = pn_lanesOf(tree, parent);
  bool isLast = parent < tree->shape->nodeCount && lane + 1u == tree->shape->count[parent];
  uint32_t end = isLast ? PN_LANES : lane + 1;
  for (int k = 0; k < 3; ++k) {
    const float *lo = from->row[k][0], *hi = from->row[k][1];
    float least = least4(pn_f4Min(pn_f4Load(lo), pn_f4Load(lo + 4)));
    float most = -least4(pn_f4Neg(pn_f4Max(pn_f4Load(hi), pn_f4Load(hi + 4))));
    for (uint32_t j = lane; j < end; ++j) {
      to->row[k][0][j] = least;
      to->row[k][1][j] = most;
    }
  }
}

/* The world box of the root's box; margin as in collide/traverse.c: 64u of the largest coordinate, and 2^-143. The box may
 * reach beyond float, its vertices do not. */
static bool setWorldBox(pnTree *tree) {
  const pnModelLanes *root = pn_lanesOf(tree, tree->shape->nodeCount);
  float out[3][2];
  for (int k = 0; k < 3; ++k) {
    const float *r = tree->pose->transform.m[k];
    float mid = r[3], ext = 0, reach = fabsf(r[3]);
    for (int i = 0; i < 3; ++i) {
      float lo = root->row[i][0][0], hi = root->row[i][1][0];
      mid += r[i] * (0.5f * lo + 0.5f * hi);
      ext += fabsf(r[i]) * (0.5f * hi - 0.5f * lo);
      reach += fabsf(r[i]) * PN_MAX(fabsf(lo), fabsf(hi));
    }
    ext += 3.814697265625e-06f * reach + 0x1p-143f;
    out[k][0] = PN_MAX(-FLT_MAX, mid - ext);
    out[k][1] = PN_MIN(FLT_MAX, mid + ext);
  }
  tree->box = (pnBox){{out[0][0], out[1][0], out[2][0]}, {out[0][1], out[1][1], out[2][1]}};
  bool finite = true;
  for (int k = 0; k < 3; ++k) finite = finite && isfinite(out[k][0]) && isfinite(out[k][1]);
  return finite;
}

static pnResult update(pnTree *tree, const pnTasks *tasks) {
  (void)tasks;
  if (tree->shapeFrame != tree->pose->shapeFrame) {
    for (uint32_t leaf = 0; leaf < tree->shape->leafCount; ++leaf) boxLeaf(tree, leaf);
    for (uint32_t node = tree->shape->nodeCount; node-- > 0;) passUp(tree, node);
    tree->shapeFrame = tree->pose->shapeFrame;
    tree->eagerUpdated += tree->shape->nodeCount;
  }
  for (uint32_t node = 0; node < tree->shape->innerCount; ++node) pn_markFresh(tree, node);
  return setWorldBox(tree) ? PN_OK : PN_ERROR_NUMBER;
}

/* Only leaves are ever stale: their world positions. */
static void fill(pnTree *tree, uint32_t node) {
  pn_fetchBlock(tree, node - tree->shape->innerCount);
}

const pnUpdateRule pn_updateBergen = {
    .name = "van den Bergen", .fits = pn_fitsStored, .modelSpace = true, .update = update, .fill = fill};
