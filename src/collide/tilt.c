/* tilt.c: how tilts are made, asked, and when. See tilt.h. */
#include "collide/tilt.h"

#include "collide/slant.h"

#include <math.h>

/* ---------------------------------------------------------------- making */

/* Coordinates up to this have sums and products within float; of bodies beyond nothing is asked. */
#define MOST_COORDINATE 0x1p100f
/* What half sides are made larger by, of H = hu + hv + hn. With u = 2^-24 and d = p - c, which is at most H long:
 *   - d is rounded by u of itself, n.d by 3u of the sum of |n_k d_k|, which is at most 2 |d|: 8u H;
 *   - hu u and the like are rounded by u, and their products and sums with another's normal by 5u of themselves: 6u H;
 *   - n is of length 1 within 2u, u and v are made of it by five roundings each of numbers up to 2: the axes are orthonormal within 32u,
 *     so that a point is up to so much of |d| away from what its three coordinates say: 32u H.
 * Together less than 64u H = 2^-18 H; four times that is taken. A box that is larger by r on all sides has every point that is r or less
 * away from the box, whatever n asks. */
#define SLACK 0x1p-16f
/* Products below 2^-126 are off by up to 2^-150 each; some dozens of them count in a question. */
#define LEAST_SLACK 0x1p-142f
/* D = c' - c is rounded by u of the sum of |D_k|, n.D by 3u of it; four times that. */
#define APART_SLACK 0x1p-20f

/* In double, which has room for products of any floats. */
typedef struct Normal {
  double x, y, z;
} Normal;

/* Adds that of a triangle, as long as it is large. */
static void addNormal(const pnTree *tree, const float *ready, uint32_t triangle, Normal *sum) {
  const uint32_t *t = tree->mesh->triangles + 3 * (size_t)triangle;
  const float *p = ready + 3 * (size_t)t[0], *q = ready + 3 * (size_t)t[1], *r = ready + 3 * (size_t)t[2];
  double ex = q[0] - p[0], ey = q[1] - p[1], ez = q[2] - p[2], fx = r[0] - p[0], fy = r[1] - p[1], fz = r[2] - p[2];
  sum->x += ey * fz - ez * fy;
  sum->y += ez * fx - ex * fz;
  sum->z += ex * fy - ey * fx;
}

/* Those of a leaf's triangles, all or every so many. */
static void addNormals(const pnTree *tree, const float *ready, uint32_t leaf, uint32_t step, Normal *sum) {
  const uint32_t *triangles = tree->shape->leafTriangles + (size_t)PN_LANES * (leaf - tree->shape->innerCount);
  for (uint32_t j = 0; j < tree->shape->count[leaf]; j += step) addNormal(tree, ready, triangles[j], sum);
}

/* The mean normal of a node, one long; where there is none any direction serves. Of an inner one a few triangles say it. */
static pnVec3 findNormal(const pnTree *tree, const float *ready, uint32_t node) {
  Normal sum = {0, 0, 0};
  uint32_t count = tree->shape->count[node];
  if (pn_isLeaf(tree, node)) addNormals(tree, ready, node, 1, &sum);
  else
    for (uint32_t j = 0; j < count; ++j) addNormals(tree, ready, tree->shape->first[node] + j, PN_LANES / 2, &sum);
  double length = sqrt(sum.x * sum.x + sum.y * sum.y + sum.z * sum.z);
  if (!(length > 0)) return (pnVec3){0, 0, 1};
  return (pnVec3){(float)(sum.x / length), (float)(sum.y / length), (float)(sum.z / length)};
}

/* Two more axes [Duff17], as rows x, y, z of the columns 0, u, v, n. Nothing cancels: the divisor is from 1 to 2. */
static void setAxes(pnVec3 n, pnF4 row[3]) {
  float sign = n.z < 0 ? -1.0f : 1.0f, a = -1.0f / (sign + n.z), b = n.x * n.y * a;
  const float x[4] = {0, 1.0f + sign * n.x * n.x * a, b, n.x};
  const float y[4] = {0, sign * b, sign + n.y * n.y * a, n.y};
  const float z[4] = {0, -sign * n.x, -n.y, n.z};
  row[0] = pn_f4Load(x);
  row[1] = pn_f4Load(y);
  row[2] = pn_f4Load(z);
}

/* Of each column the product with a vector. */
PN_INLINE pnF4 timesRows(const pnF4 row[3], float x, float y, float z) {
  return pn_f4Add(pn_f4Add(pn_f4Mul(row[0], pn_f4Set1(x)), pn_f4Mul(row[1], pn_f4Set1(y))),
                  pn_f4Mul(row[2], pn_f4Set1(z)));
}

/* The middle of a box around these vertices that has one axis along n. Any point is right, a good one makes the box small. */
static pnVec3 findMiddle(const float *ready, const uint32_t *list, uint32_t count, pnVec3 n) {
  pnF4 sum = pn_f4Set1(0);
  float mean[4], low = INFINITY, high = -INFINITY;
  for (uint32_t i = 0; i < count; ++i) sum = pn_f4Add(sum, pn_f4Load(ready + list[i]));
  pn_f4Store(mean, pn_f4Mul(sum, pn_f4Set1(1.0f / (float)count)));
  for (uint32_t i = 0; i < count; ++i) {
    const float *p = ready + list[i];
    float along = n.x * (p[0] - mean[0]) + n.y * (p[1] - mean[1]) + n.z * (p[2] - mean[2]);
    low = PN_MIN(low, along);
    high = PN_MAX(high, along);
  }
  float up = 0.5f * low + 0.5f * high;
  return (pnVec3){mean[0] + up * n.x, mean[1] + up * n.y, mean[2] + up * n.z};
}

void pn_makeTilt(const pnTree *tree, uint32_t node, float *out) {
  const float *ready = pn_readyVertices(tree);
  uint32_t count;
  const uint32_t *list = pn_verticesBelow(tree, node, &count);
  pnVec3 n = findNormal(tree, ready, node), c = findMiddle(ready, list, count, n);
  pnF4 row[3], most = pn_f4Set1(0);
  setAxes(n, row);
  for (uint32_t i = 0; i < count; ++i) {
    const float *p = ready + list[i];
    most = pn_f4Max(most, pn_f4Abs(timesRows(row, p[0] - c.x, p[1] - c.y, p[2] - c.z)));
  }
  float half[4]; /* 0, hu, hv, hn */
  pn_f4Store(half, most);
  float slack = (half[1] + half[2] + half[3]) * SLACK + LEAST_SLACK;
  for (int k = 1; k < 4; ++k) half[k] += slack;
  const float middle[3] = {c.x, c.y, c.z};
  for (int d = 0; d < 3; ++d) {
    pn_f4Store(out + 4 * d, pn_f4Mul(row[d], pn_f4Load(half)));
    out[4 * d] = middle[d];
  }
  out[12] = half[3];
  out[13] = n.x;
  out[14] = n.y;
  out[15] = n.z;
}

/* ---------------------------------------------------------------- asking */

/* How far the sides of both reach beyond the way between their middles, along a's normal: four numbers whose sum is below 0 if they are
 * apart. The way stands first, in the column of middles. */
PN_INLINE pnF4 reachOf(const float *a, const float *b, pnF4 first, pnF4 sign) {
  pnF4 row[3], far = pn_f4Set1(0);
  for (int d = 0; d < 3; ++d) {
    row[d] = pn_f4Sub(pn_f4Load(b + 4 * d), pn_f4And(pn_f4Load(a + 4 * d), first));
    far = pn_f4Add(far, pn_f4Abs(row[d]));
  }
  pnF4 along = pn_f4Abs(timesRows(row, a[13], a[14], a[15]));
  pnF4 own = pn_f4Add(pn_f4Load(a + 12), pn_f4Mul(far, pn_f4Set1(APART_SLACK)));
  return pn_f4Add(pn_f4Xor(along, sign), pn_f4And(own, first));
}

PN_INLINE bool isBelowZero(pnF4 numbers) {
  float x[4];
  pn_f4Store(x, numbers);
  return (x[0] + x[1]) + (x[2] + x[3]) < 0;
}

bool pn_areTiltsApart(const float *a, const float *b) {
  static const uint32_t firstBits[4] = {UINT32_MAX, 0, 0, 0}, signBits[4] = {UINT32_C(1) << 31, 0, 0, 0};
  pnF4 first = pn_f4Load((const float *)(const void *)firstBits);
  pnF4 sign = pn_f4Load((const float *)(const void *)signBits);
  return isBelowZero(reachOf(a, b, first, sign)) || isBelowZero(reachOf(b, a, first, sign));
}

/* ---------------------------------------------------------------- when */

/* Did this run meet enough pairs, and did trials not fail? */
static bool paid(const pnTrial *trial, uint64_t met, uint64_t worth) {
  return trial->asked >= PN_TRIAL_PAIRS && met >= worth;
}

void pn_rememberTilts(pnWorker *w) {
  uint64_t nodes = PN_TILT_FEW_NODES + w->fresh.nodes;
  w->nodeTilts.stands = paid(&w->nodeTilts, w->cost.nodePairs, PN_TILT_NODE_WORTH * nodes);
  w->leafTilts.stands = paid(&w->leafTilts, w->cost.leafPairs, PN_TILT_LEAF_WORTH * nodes);
}

/* Is nothing beyond what tilts are made for, and are vertices there, and lists of them? A closer look (world/focus.h) is judged by the tests that it
 * spares, and would take credit for those that tilts do. */
static bool isFit(const pnTree *tree) {
  const float *side = &tree->box.min.x;
  bool within = true;
  for (int k = 0; k < 6; ++k) within = within && fabsf(side[k]) < MOST_COORDINATE;
  return within && !tree->isFocused && !tree->rule->reshapes && pn_readyVertices(tree);
}

/* As slants are (slant.c). */
static bool hasTilts(pnTree *tree, bool alone) {
  if (tree->tilts) return true;
  if (alone) pn_grantTilts(tree);
  else pn_wish(&tree->wantsTilts);
  return tree->tilts != NULL;
}

static bool areWanted(const pnTraversal *t, pnWorker *w, pnTrial *trial, size_t count) {
  if (pn_restOn(trial, count)) return false;
  if (!pn_mayHaveRecords(t) || !isFit(t->a) || !isFit(t->b)) return false;
  bool a = hasTilts(t->a, w->fresh.alone), b = hasTilts(t->b, w->fresh.alone);
  return a && b;
}

void pn_grantTilts(pnTree *tree) {
  tree->tilts = pn_createRecords(tree->shape->nodeCount, PN_TILT_FLOATS);
  atomic_store_explicit(&tree->wantsTilts, false, memory_order_relaxed);
}

/* The tilt of a node, made if it is not of this frame. */
static const float *tiltOf(const pnTree *tree, uint32_t node, bool alone) {
  _Atomic uint32_t *stamp = &tree->tilts->stamp[node];
  float *record = tree->tilts->floats + (size_t)node * PN_TILT_FLOATS;
  if (pn_mustMake(stamp, tree->now, alone)) {
    pn_makeTilt(tree, node, record);
    pn_haveMade(stamp, tree->now, alone);
  }
  return record;
}

static bool isAboveLeaves(const pnTree *tree, uint32_t node) {
  return !pn_isLeaf(tree, node) && pn_isLeaf(tree, tree->shape->first[node]);
}

size_t pn_tiltNodes(const pnTraversal *t, pnWorker *w, pnPair *pairs, size_t count) {
  size_t kept = 0, asked = 0;
  if (!areWanted(t, w, &w->nodeTilts, count)) return count;
  for (size_t i = 0; i < count; ++i) {
    pnPair p = pairs[i];
    bool apart = false;
    if (isAboveLeaves(t->a, p.a) && isAboveLeaves(t->b, p.b) && !(t->self && p.a == p.b)) {
      apart = pn_areTiltsApart(tiltOf(t->a, p.a, w->fresh.alone), tiltOf(t->b, p.b, w->fresh.alone));
      ++asked;
    }
    pairs[kept] = p;
    kept += !apart;
  }
  pn_judgeTrial(&w->nodeTilts, asked, count - kept);
  w->cost.volumeTests += asked;
  w->cost.nodePairs += count - kept;
  return kept;
}

size_t pn_tiltLeaves(const pnTraversal *t, pnWorker *w, pnPair *pairs, size_t count) {
  size_t kept = 0;
  if (!areWanted(t, w, &w->leafTilts, count)) return count;
  for (size_t i = 0; i < count; ++i) {
    pnPair p = pairs[i];
    pairs[kept] = p;
    kept += !pn_areTiltsApart(tiltOf(t->a, p.a, w->fresh.alone), tiltOf(t->b, p.b, w->fresh.alone));
  }
  pn_judgeTrial(&w->leafTilts, count, count - kept);
  w->cost.volumeTests += count;
  w->cost.leafPairs += count - kept;
  w->tiltedAway += count - kept;
  return kept;
}
