/* build.c: the shape of a tree, top-down. One loop asks a splitter to divide a range of triangles into at most `arity`
 * parts until a part fits a leaf. The default splitter is here: median splits that fill every leaf and every node
 * but the last of a level, so that SIMD lanes are not wasted (PERFORMANCE: what paid, 2).
 *
 * Where we differ from [Larsson01] (section 3.2): their trees split boxes in space and go down to one triangle; those are
 * in build_shape.c and build_link.c. */
#include "tree/build.h"

#include "base/array.h"
#include "tree/corner.h"

#include <float.h>

/* ---------------------------------------------------------------- choosing and selecting */

uint32_t pn_longestAxis(const pnBuilder *builder, uint32_t first, uint32_t count) {
  float lo[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, hi[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
  for (uint32_t i = first; i < first + count; i++) {
    const float *c = builder->centres + 3 * (size_t)builder->order[i];
    for (int k = 0; k < 3; k++) {
      lo[k] = PN_MIN(lo[k], c[k]);
      hi[k] = PN_MAX(hi[k], c[k]);
    }
  }
  /* in double: a spread of floats may overflow */
  uint32_t axis = 0;
  for (uint32_t k = 1; k < 3; k++) {
    if ((double)hi[k] - lo[k] > (double)hi[axis] - lo[axis]) {
      axis = k;
    }
  }
  return axis;
}

/* Before, in the order by centre with ties by number: a total order, so that the result does not depend on the path. */
PN_INLINE bool isBefore(const pnBuilder *b, uint32_t s, uint32_t t, uint32_t axis) {
  float x = b->centres[3 * (size_t)s + axis], y = b->centres[3 * (size_t)t + axis];
  return x < y || (x == y && s < t);
}

void pn_selectByCentre(pnBuilder *builder, uint32_t first, uint32_t count, uint32_t rank, uint32_t axis) {
  uint32_t *v = builder->order + first;
  size_t lo = 0, hi = count; /* the boundary at `rank` lies in [lo, hi) */
  while (hi - lo > 1) {
    /* pivot: median of three, moved to the front */
    size_t mid = lo + (hi - lo) / 2, last = hi - 1;
    uint32_t a = v[lo], b = v[mid], c = v[last];
    bool ab = isBefore(builder, a, b, axis), bc = isBefore(builder, b, c, axis), ac = isBefore(builder, a, c, axis);
    size_t m = ab ? (bc ? mid : ac ? last : lo) : (ac ? lo : bc ? last : mid);
    uint32_t pivot = v[m];
    v[m] = v[lo];
    v[lo] = pivot;
    /* Hoare partition: everything before i is before the pivot */
    size_t i = lo, j = hi;
    for (;;) {
      do {
        i++;
      } while (i < hi && isBefore(builder, v[i], pivot, axis));
      do {
        j--;
      } while (isBefore(builder, pivot, v[j], axis));
      if (i >= j) {
        break;
      }
      uint32_t t = v[i];
      v[i] = v[j];
      v[j] = t;
    }
    v[lo] = v[j];
    v[j] = pivot;
    /* go on in the part that holds the boundary */
    if (j == rank || j + 1 == rank) {
      return;
    }
    if (j < rank) {
      lo = j + 1;
    } else {
      hi = j;
    }
  }
}

/* ---------------------------------------------------------------- balanced */

/* Divides order[first...] into parts of `unit` triangles (the last may be smaller) by halving at multiples of it. */
static void halve(pnBuilder *b, uint32_t first, uint32_t count, uint32_t unit) {
  if (count <= unit) {
    return;
  }
  uint32_t parts = (count + unit - 1) / unit, left = (parts / 2) * unit;
  pn_selectByCentre(b, first, count, left, pn_longestAxis(b, first, count));
  halve(b, first, left, unit);
  halve(b, first + left, count - left, unit);
}

uint32_t pn_splitBalanced(pnBuilder *b, uint32_t first, uint32_t count, uint32_t depth, uint32_t outSizes[PN_LANES]) {
  (void)depth;
  /* the largest full subtree that is smaller than the whole */
  uint64_t unit = b->leafSize;
  while (unit * b->arity < count) {
    unit *= b->arity;
  }
  halve(b, first, count, (uint32_t)unit);
  uint32_t parts = 0;
  for (uint32_t done = 0; done < count; done += outSizes[parts - 1]) {
    outSizes[parts++] = PN_MIN((uint32_t)unit, count - done);
  }
  return parts;
}

/* ---------------------------------------------------------------- the loop */

static pnSplitFcn *const s_split[PN_BUILD_COUNT] = {
    [PN_BUILD_BALANCED] = pn_splitBalanced,
    [PN_BUILD_SHAPE_CENTRE] = pn_splitShapeCentre,
    [PN_BUILD_SHAPE_MEAN] = pn_splitShapeMean,
    [PN_BUILD_LINK] = pn_splitLink,
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
  if (fits && !item.inner) {
    return true;
  }
  uint32_t sizes[PN_LANES] = {node.count}, parts = 1;
  if (!fits) {
    parts = split(b, node.first, node.count, item.depth, sizes);
  }
  bool anyInner = false;
  for (uint32_t i = 0; i < parts; i++) {
    anyInner |= sizes[i] > b->leafSize;
  }
  g->nodes.data[item.node].childFirst = (uint32_t)g->nodes.count;
  g->nodes.data[item.node].childCount = parts;
  for (uint32_t i = 0, at = node.first; i < parts; at += sizes[i++]) {
    Open child = {(uint32_t)g->nodes.count, item.depth + 1, anyInner};
    if (!pn_arrayPush(&g->nodes, ((pnBuildNode){at, sizes[i], 0, 0})) || !pn_arrayPush(&g->open, child)) {
      return false;
    }
  }
  return true;
}

static bool grow(Growth *g, pnBuilder *b, pnSplitFcn *split, uint32_t triangleCount) {
  if (!pn_arrayPush(&g->nodes, ((pnBuildNode){0, triangleCount, 0, 0})) ||
      !pn_arrayPush(&g->open, ((Open){0, 0, false}))) {
    return false;
  }
  while (g->open.count > 0) {
    if (!divide(g, b, split, g->open.data[--g->open.count])) {
      return false;
    }
  }
  return true;
}

/* Three times the midpoint of every triangle or piece, as the pose has it now. */
static void computeCentres(const pnPose *pose, const pnMesh *mesh, const pnPiece *pieces, float *centres) {
  const uint32_t *t = mesh->triangles;
  for (size_t i = 0; i < mesh->triangleCount; i++) {
    float p[12];
    pn_poseFetch(pose, t + 3 * i, 3, p, 4);
    if (pieces) {
      float whole[12];
      memcpy(whole, p, sizeof p);
      pn_pieceCorners(&pieces[i], (const float *const[3]){whole, whole + 4, whole + 8}, p);
    }
    for (int k = 0; k < 3; k++) {
      /* halved first: three huge coordinates must not overflow */
      centres[3 * i + k] = p[k] * 0.25f + p[4 + k] * 0.25f + p[8 + k] * 0.25f;
    }
  }
}

pnResult pn_buildShape(const pnTreeDef *def, const pnMesh *mesh, const pnPiece *pieces, pnBuildResult *out) {
  uint32_t n = mesh->triangleCount;
  *out = (pnBuildResult){.triangleCount = n};
  if (n == 0) {
    return PN_OK;
  }
  Growth g = {0};
  pnBuilder b = {
      .mesh = mesh, .arity = def->arity, .leafSize = def->leafSize, .pieces = pieces, .split = s_split[def->build]};
  bool link = def->build == PN_BUILD_LINK;
  size_t list = pn_bytes(n, sizeof(uint32_t)), centreBytes = pn_bytes(n, 3 * sizeof(float));
  b.order = pn_alloc(list);
  b.centres = pn_alloc(centreBytes);
  b.scratch = pn_alloc(list);
  b.mark = link ? pn_alloc(list) : NULL;
  bool ok = b.order && b.centres && b.scratch && (b.mark || !link);
  if (ok) {
    for (uint32_t i = 0; i < n; i++) {
      b.order[i] = i;
    }
    if (link) {
      memset(b.mark, 0xff, list);
    }
    computeCentres(def->pose, mesh, pieces, b.centres);
    ok = grow(&g, &b, pieces ? pn_splitPieces : b.split, n);
  }
  pn_free(b.centres, centreBytes);
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
