/* build.c: the shape of a tree, top-down. One loop asks a splitter to divide a range of triangles into at most `arity`
 * parts until a part fits a leaf. The default splitter is here: median splits that fill every leaf and every node
 * but the last of a level, so that SIMD lanes are not wasted (PERFORMANCE: what paid, 2). Of several directions it takes the
 * one that leaves the smallest boxes: a patch that lies askew is cut along its own sides, and leaves come out more compact.
 *
 * Where we differ from [Larsson01] (section 3.2): their trees split boxes in space and go down to one triangle; those are
 * in build_shape.c and build_link.c; those of [Mujika09] are in build_joint.c. */
#include "tree/build.h"

#include "base/array.h"
#include "geom/simd_vec.h"
#include "tree/corner.h"

#include <float.h>

/* ---------------------------------------------------------------- choosing and selecting */

/* Directions to cut across: the axes, and the diagonals of two. */
#define DIRECTIONS 9u
static const float s_direction[DIRECTIONS][3] = {{1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0}, {1, -1, 0},
                                                 {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1}};

/* How far along a direction a centre is; by halves, so that nothing overflows. */
PN_INLINE float along(const float *to, const float *centre) {
  return 0.5f * to[0] * centre[0] + 0.5f * to[1] * centre[1] + 0.5f * to[2] * centre[2];
}

/* What triangles are ordered by: how far along a direction, and of equals (-0 is 0) the number, in one word. It is a total order, so that
 * the result does not depend on the path. */
static void computeKeys(pnBuilder *b, const uint32_t *triangles, uint32_t count, uint32_t direction) {
  for (uint32_t i = 0; i < count; ++i) {
    float far = along(s_direction[direction], b->centres + 3 * (size_t)triangles[i]) + 0.0f;
    b->keys[i] = (uint64_t)pn_floatOrder(far) << 32 | triangles[i];
  }
}

/* Puts the `rank` smallest of keys first. */
static void selectKeys(uint64_t *v, uint32_t count, uint32_t rank) {
  size_t lo = 0, hi = count; /* the boundary at `rank` lies in [lo, hi) */
  uint32_t pick = count;
  while (hi - lo > 1) {
    /* pivot: the median of three picked without regard to any pattern of the mesh, out of the way */
    size_t last = hi - 1, at[3];
    for (int k = 0; k < 3; ++k) {
      pick = pick * 1664525u + 1013904223u;
      at[k] = lo + (size_t)((uint64_t)pick * (hi - lo) >> 32);
    }
    uint64_t a = v[at[0]], b = v[at[1]], c = v[at[2]];
    size_t m = a < b ? (b < c ? at[1] : a < c ? at[2] : at[0]) : (a < c ? at[0] : b < c ? at[2] : at[1]);
    uint64_t pivot = v[m];
    v[m] = v[last];
    /* everything in [lo, j) is before the pivot. Each goes where the next such belongs, and stays when it is one: no branch, because
     * nobody can guess which side a triangle is on */
    size_t j = lo;
    for (size_t i = lo; i < last; ++i) {
      uint64_t t = v[i];
      v[i] = v[j];
      v[j] = t;
      j += t < pivot;
    }
    v[last] = v[j];
    v[j] = pivot;
    /* go on in the part that holds the boundary */
    if (j == rank || j + 1 == rank) return;
    if (j < rank) lo = j + 1;
    else hi = j;
  }
}

/* Puts the `rank` smallest by centre along a direction (ties by triangle number) first in order[first ... first+count). */
static void selectByCentre(pnBuilder *builder, uint32_t first, uint32_t count, uint32_t rank, uint32_t direction) {
  uint32_t *v = builder->order + first;
  computeKeys(builder, v, count, direction);
  selectKeys(builder->keys, count, rank);
  for (uint32_t i = 0; i < count; ++i) v[i] = (uint32_t)builder->keys[i];
}

/* ---------------------------------------------------------------- balanced */

/* Half the girth of the box of some triangles, in double: floats may overflow. */
static double girth(const pnBuilder *b, const uint32_t *triangles, uint32_t count) {
  pnF4 lo = pn_f4Set1(FLT_MAX), hi = pn_f4Set1(-FLT_MAX);
  for (uint32_t i = 0; i < count; ++i) {
    const float *one = b->boxes + PN_BUILD_BOX * (size_t)triangles[i];
    lo = pn_f4Min(lo, pn_f4Load(one));
    hi = pn_f4Max(hi, pn_f4Load(one + 4));
  }
  float box[8];
  pn_f4Store(box, lo);
  pn_f4Store(box + 4, hi);
  return ((double)box[4] - box[0]) + ((double)box[5] - box[1]) + ((double)box[6] - box[2]);
}

/* How far the centres of a range spread along the first 3 or all 9 directions, in halves of the length of a direction: along the axes, the
 * sums and the differences, which are the same numbers as `along` gives. */
static void spreads(const pnBuilder *b, const uint32_t *triangles, uint32_t count, uint32_t directions, double *out) {
  pnF4 lo[3], hi[3], half = pn_f4Set1(0.5f);
  for (int k = 0; k < 3; ++k) {
    lo[k] = pn_f4Set1(FLT_MAX);
    hi[k] = pn_f4Set1(-FLT_MAX);
  }
  for (uint32_t i = 0; i < count; ++i) {
    pnF4 p[3];
    p[0] = pn_f4Mul(half, pn_f4Load(b->centres + 3 * (size_t)triangles[i]));
    pn_f4EdgeSums(p[0], &p[1], &p[2]);
    for (int k = 0; k < 3; ++k) {
      lo[k] = pn_f4Min(lo[k], p[k]);
      hi[k] = pn_f4Max(hi[k], p[k]);
    }
  }
  float from[12], to[12];
  for (int k = 0; k < 3; ++k) {
    pn_f4Store(from + 4 * k, lo[k]);
    pn_f4Store(to + 4 * k, hi[k]);
  }
  /* where each direction stands: x+y x+z y+z are 4 5 6, the differences 8 9 10 */
  static const uint8_t place[DIRECTIONS] = {0, 1, 2, 4, 8, 5, 9, 6, 10};
  for (uint32_t d = 0; d < directions; ++d) {
    /* diagonals are longer than axes by a factor of 1.414 */
    out[d] = ((double)to[place[d]] - from[place[d]]) * (d < 3 ? 1 : 0.7071);
  }
}

/* Ranges longer than this are cut across their longest axis: what a better cut saves lies near the leaves. */
#define ASKEW_BELOW 1024u
/* Directions that are tried for a range, of those with the largest spread. All nine: 1 % fewer box tests, and twice the time
 * to build; three: 4 % more. With four, building takes twice as long as with the longest axis alone. */
#define TRIES 4

/* Each box counts as often as it has triangles. Measured: 2 to 10 % fewer box tests than with the longest axis, and 2 to 9 %
 * with the best of the axes; the area and the diagonal of the boxes as a measure do the same or less. */
void pn_cutBest(pnBuilder *b, uint32_t first, uint32_t count, uint32_t left) {
  double spread[DIRECTIONS], least = DBL_MAX;
  const uint32_t *order = b->order + first;
  bool large = b->quick || count > ASKEW_BELOW;
  uint32_t best = 0, last = 0, directions = large ? 3 : DIRECTIONS;
  spreads(b, order, count, directions, spread);
  for (int i = 0; i < TRIES; ++i) {
    last = 0;
    for (uint32_t d = 1; d < directions; ++d) last = spread[d] > spread[last] ? d : last;
    spread[last] = -1;
    selectByCentre(b, first, count, left, last);
    if (large) return;
    double cost = left * girth(b, order, left) + (count - left) * girth(b, order + left, count - left);
    if (cost < least) {
      least = cost;
      best = last;
    }
  }
  if (best != last) selectByCentre(b, first, count, left, best);
}

/* Divides order[first...] into parts of `unit` triangles (the last may be smaller) by halving at multiples of it. */
static void halve(pnBuilder *b, uint32_t first, uint32_t count, uint32_t unit) {
  if (count <= unit) return;
  uint32_t parts = (count + unit - 1) / unit, left = (parts / 2) * unit;
  pn_cutBest(b, first, count, left);
  halve(b, first, left, unit);
  halve(b, first + left, count - left, unit);
}

uint32_t pn_splitBalanced(pnBuilder *b, uint32_t first, uint32_t count, uint32_t depth, uint32_t outSizes[PN_LANES]) {
  (void)depth;
  /* the largest full subtree that is smaller than the whole */
  uint64_t unit = b->leafSize;
  while (unit * b->arity < count) unit *= b->arity;
  halve(b, first, count, (uint32_t)unit);
  uint32_t parts = 0;
  for (uint32_t done = 0; done < count; done += outSizes[parts - 1])
    outSizes[parts++] = PN_MIN((uint32_t)unit, count - done);
  return parts;
}

/* ---------------------------------------------------------------- the loop */

static pnSplitFcn *const s_split[PN_BUILD_COUNT] = {
    [PN_BUILD_DEFAULT] = pn_splitJoint,
    [PN_BUILD_BALANCED] = pn_splitBalanced,
    [PN_BUILD_SHAPE_CENTRE] = pn_splitShapeCentre,
    [PN_BUILD_SHAPE_MEAN] = pn_splitShapeMean,
    [PN_BUILD_LINK] = pn_splitLink,
    [PN_BUILD_JOINT] = pn_splitJoint,
};

/* A node waiting to be divided. */
typedef struct Open {
  uint32_t node, depth;
  bool inner; /* its siblings are inner nodes, so it must be one too (invariant T2) */
} Open;

typedef struct Growth {
  PN_ARRAY(pnBuildNode) nodes;
  PN_ARRAY(Open) open;
} Growth;

/* Divides one node; false when out of memory. */
static bool divide(Growth *g, pnBuilder *b, pnSplitFcn *split, Open item) {
  pnBuildNode node = g->nodes.data[item.node];
  bool fits = node.count <= b->leafSize;
  if (fits && !item.inner) return true;
  uint32_t sizes[PN_LANES] = {node.count}, parts = 1;
  if (!fits) parts = split(b, node.first, node.count, item.depth, sizes);
  bool anyInner = false;
  for (uint32_t i = 0; i < parts; ++i) anyInner |= sizes[i] > b->leafSize;
  g->nodes.data[item.node].childFirst = (uint32_t)g->nodes.count;
  g->nodes.data[item.node].childCount = parts;
  for (uint32_t i = 0, at = node.first; i < parts; at += sizes[i++]) {
    Open child = {(uint32_t)g->nodes.count, item.depth + 1, anyInner};
    if (!pn_arrayPush(&g->nodes, ((pnBuildNode){at, sizes[i], 0, 0})) || !pn_arrayPush(&g->open, child)) return false;
  }
  return true;
}

static bool grow(Growth *g, pnBuilder *b, pnSplitFcn *split, uint32_t triangleCount) {
  if (!pn_arrayPush(&g->nodes, ((pnBuildNode){0, triangleCount, 0, 0})) ||
      !pn_arrayPush(&g->open, ((Open){0, 0, false})))
    return false;
  while (g->open.count > 0)
    if (!divide(g, b, split, g->open.data[--g->open.count])) return false;
  return true;
}

/* Three quarters of the midpoint of every triangle or piece, and its box, as the pose has it now. */
static void computeCentres(const pnPose *pose, const pnMesh *mesh, const pnPiece *pieces, float *centres,
                           float *boxes) {
  const uint32_t *t = mesh->triangles;
  for (size_t i = 0; i < mesh->triangleCount; ++i) {
    float p[12];
    pn_poseFetch(pose, t + 3 * i, 3, p, 4);
    if (pieces) {
      float whole[12];
      memcpy(whole, p, sizeof p);
      pn_pieceCorners(&pieces[i], (const float *const[3]){whole, whole + 4, whole + 8}, p);
    }
    for (int k = 0; k < 3; ++k) {
      /* halved first: three huge coordinates must not overflow */
      centres[3 * i + k] = p[k] * 0.25f + p[4 + k] * 0.25f + p[8 + k] * 0.25f;
      boxes[PN_BUILD_BOX * i + k] = PN_MIN(p[k], PN_MIN(p[4 + k], p[8 + k]));
      boxes[PN_BUILD_BOX * i + 4 + k] = PN_MAX(p[k], PN_MAX(p[4 + k], p[8 + k]));
    }
  }
}

/* What dividing hubs takes. False: out of memory. */
static bool beginHubs(pnBuilder *b, const pnHubs *hubs) {
  b->hubs = hubs;
  b->hubCentres = pn_allocZero(pn_bytes(hubs->count, 3 * sizeof(float)));
  b->items = pn_alloc(pn_bytes(b->mesh->triangleCount, sizeof(pnKeyValue)));
  b->itemScratch = pn_alloc(pn_bytes(b->mesh->triangleCount, sizeof(pnKeyValue)));
  if (!b->hubCentres || !b->items || !b->itemScratch) return false;
  for (size_t t = 0; t < hubs->triangleCount; ++t)
    for (int k = 0; hubs->of[t] != PN_NONE && k < 3; ++k)
      b->hubCentres[3 * (size_t)hubs->of[t] + k] += b->centres[3 * t + k] / (float)hubs->size[hubs->of[t]];
  return true;
}

static void endHubs(pnBuilder *b) {
  if (b->hubs) {
    pn_free(b->hubCentres, pn_bytes(b->hubs->count, 3 * sizeof(float)));
    pn_free(b->items, pn_bytes(b->mesh->triangleCount, sizeof(pnKeyValue)));
    pn_free(b->itemScratch, pn_bytes(b->mesh->triangleCount, sizeof(pnKeyValue)));
  }
}

pnResult pn_buildShape(const pnTreePlan *def, const pnMesh *mesh, const pnPiece *pieces, const pnHubs *hubs,
                       pnBuildResult *out) {
  uint32_t n = mesh->triangleCount;
  *out = (pnBuildResult){.triangleCount = n};
  if (n == 0) return PN_OK;
  Growth g = {0};
  pnBuilder b = {
      .mesh = mesh, .arity = def->arity, .leafSize = def->leafSize, .pieces = pieces, .split = s_split[def->build]};
  bool link = def->build == PN_BUILD_LINK;
  size_t list = pn_bytes(n, sizeof(uint32_t)), keyBytes = pn_bytes(n, sizeof(uint64_t));
  size_t centreBytes = pn_bytes(3 * (size_t)n + 1, sizeof(float)), boxBytes = pn_bytes(n, PN_BUILD_BOX * sizeof(float));
  b.order = pn_alloc(list);
  b.centres = pn_alloc(centreBytes);
  b.boxes = pn_allocZero(boxBytes); /* the fourth of each is read, and says nothing */
  b.keys = pn_alloc(keyBytes);
  b.scratch = pn_alloc(list);
  b.mark = link ? pn_alloc(list) : NULL;
  bool ok = b.order && b.centres && b.boxes && b.keys && b.scratch && (b.mark || !link);
  if (ok && def->pose->skin && b.split == pn_splitJoint) ok = pn_makeJointTree(def->pose->skin, mesh, &b.joints);
  if (ok) {
    b.centres[3 * (size_t)n] = 0;
    for (uint32_t i = 0; i < n; ++i) b.order[i] = i;
    if (link) memset(b.mark, 0xff, list);
    computeCentres(def->pose, mesh, pieces, b.centres, b.boxes);
    ok = (hubs == NULL || beginHubs(&b, hubs)) && grow(&g, &b,
                                                       pieces ? pn_splitPieces
                                                       : hubs ? pn_splitHubs
                                                              : b.split,
                                                       n);
  }
  endHubs(&b);
  pn_freeJointTree(&b.joints);
  pn_free(b.centres, centreBytes);
  pn_free(b.boxes, boxBytes);
  pn_free(b.keys, keyBytes);
  pn_free(b.scratch, list);
  pn_free(b.mark, list);
  pn_arrayFree(&g.open);
  *out = (pnBuildResult){b.order, n, g.nodes.data, g.nodes.count, g.nodes.capacity};
  if (!ok) {
    pn_buildFree(out);
    return pn_failMemory(list);
  }
  return PN_OK;
}

void pn_buildFree(pnBuildResult *result) {
  pn_free(result->order, pn_bytes(result->triangleCount, sizeof(uint32_t)));
  pn_free(result->nodes, result->nodeCapacity * sizeof(pnBuildNode));
  *result = (pnBuildResult){0};
}
