/* form_box.c: boxes along the axes, the common form. What is said of slabs is true of them (form_slabs.c); here are the shorter
 * ways that most frames go: four coordinates in a register, vertices read in place where they lie ready, eight boxes at a
 * time onto the grid. */
#include "tree/form_box.h"
#include "tree/update.h"

#include <float.h>

/* ---------------------------------------------------------------- lanes */

/* The common case of pn_cellsOf, eight boxes at once; `g` is plain, or they are lifted onto it. */
PN_INLINE void putOnGrid(pnBoxLanes *lanes, const pnF4 lo[PN_LANES], const pnF4 hi[PN_LANES], const pnGrid *g) {
  for (int side = 0; side < 2; ++side) {
    const pnF4 *v = side ? hi : lo;
    pnF4 x0, y0, z0, x1, y1, z1;
    pn_f4Transpose3(v[0], v[1], v[2], v[3], &x0, &y0, &z0);
    pn_f4Transpose3(v[4], v[5], v[6], v[7], &x1, &y1, &z1);
    pn_h8Store(lanes->row[0][side], pn_h8Quantise(x0, x1, g->scale[0], g->offset[0]));
    pn_h8Store(lanes->row[1][side], pn_h8Quantise(y0, y1, g->scale[1], g->offset[1]));
    pn_h8Store(lanes->row[2][side], pn_h8Quantise(z0, z1, g->scale[2], g->offset[2]));
  }
}

/* Boxes on a grid that is not plain. */
static PN_NOINLINE void putLifted(pnTree *tree, uint32_t node, const pnF4 lo[PN_LANES], const pnF4 hi[PN_LANES]) {
  pnF4 lifted[2][PN_LANES];
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    lifted[0][j] = pn_liftOnto(&tree->grid, lo[j]);
    lifted[1][j] = pn_liftOnto(&tree->grid, hi[j]);
  }
  putOnGrid((pnBoxLanes *)tree->lanes + node, lifted[0], lifted[1], &tree->grid);
}

PN_INLINE void putBoxes(pnTree *tree, uint32_t node, const pnF4 lo[PN_LANES], const pnF4 hi[PN_LANES], uint32_t count) {
  if (PN_UNLIKELY(!tree->grid.isPlain)) putLifted(tree, node, lo, hi);
  else putOnGrid((pnBoxLanes *)tree->lanes + node, lo, hi, &tree->grid);
  if (PN_UNLIKELY(count < PN_LANES)) pn_emptyLanes(tree, node, count);
}

void pn_putBoxes(pnTree *tree, uint32_t node, const pnF4 lo[PN_LANES], const pnF4 hi[PN_LANES], uint32_t count) {
  putBoxes(tree, node, lo, hi, count);
}

/* ---------------------------------------------------------------- of vertices */

/* The box of listed vertices that lie ready. Four at a time hide the latency of min and max; lists of clusters
 * and twigs are fours to the end (T6). */
PN_INLINE void boxOfList(const float *source, const uint32_t *v, const uint32_t *end, uint32_t ahead, pnF4 *outLo,
                         pnF4 *outHi) {
  pnF4 lo = pn_f4Load(source + v[0]), hi = lo, lo1 = lo, hi1 = lo, nan = pn_f4Set1(0);
  for (; v + (PN_CLUSTER_STEP - 1) < end; v += PN_CLUSTER_STEP) {
    for (uint32_t i = 0; ahead && i < PN_CLUSTER_STEP; ++i) __builtin_prefetch(source + v[ahead + i]);
    pnF4 p = pn_f4Load(source + v[0]), q = pn_f4Load(source + v[1]);
    pnF4 r = pn_f4Load(source + v[2]), s = pn_f4Load(source + v[3]);
    nan = pn_f4TrackNan(pn_f4TrackNan(nan, p), q);
    nan = pn_f4TrackNan(pn_f4TrackNan(nan, r), s);
    lo = pn_f4Min(lo, pn_f4Min(p, q));
    hi = pn_f4Max(hi, pn_f4Max(p, q));
    lo1 = pn_f4Min(lo1, pn_f4Min(r, s));
    hi1 = pn_f4Max(hi1, pn_f4Max(r, s));
  }
  for (; v < end; ++v) {
    pnF4 p = pn_f4Load(source + v[0]);
    nan = pn_f4TrackNan(nan, p);
    lo = pn_f4Min(lo, p);
    hi = pn_f4Max(hi, p);
  }
  *outLo = pn_f4Or(pn_f4Min(lo, lo1), nan); /* all ones is NaN */
  *outHi = pn_f4Max(hi, hi1);
}

static void boxOfList4(const float *source, const uint32_t *v, const uint32_t *end, uint32_t ahead, float out[8]) {
  pnF4 lo, hi;
  boxOfList(source, v, end, ahead, &lo, &hi);
  pn_f4Store(out, lo);
  pn_f4Store(out + 4, hi);
}

static void putLists4(const float *source, const uint32_t *lists, const uint32_t *at, uint32_t count,
                      const pnGrid *grid, pnBoxLanes *out) {
  pnF4 lo[PN_LANES], hi[PN_LANES];
  for (uint32_t j = 0; j < count; ++j) boxOfList(source, lists + at[j], lists + at[j + 1], 0, &lo[j], &hi[j]);
  for (uint32_t j = count; j < PN_LANES; ++j) {
    lo[j] = lo[count - 1];
    hi[j] = hi[count - 1];
  }
  putOnGrid(out, lo, hi, grid);
}

PN_INLINE void boxesOfCorners(const char *base, const uint32_t *corners, pnF4 lo[PN_LANES], pnF4 hi[PN_LANES]) {
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    pnF4 p[3];
    for (uint32_t k = 0; k < 3; ++k) p[k] = pn_f4Load((const float *)(const void *)(base + corners[3 * j + k]));
    lo[j] = pn_f4Min(p[0], pn_f4Min(p[1], p[2]));
    hi[j] = pn_f4Max(p[0], pn_f4Max(p[1], p[2]));
  }
}

static void putCorners4(const char *base, const uint32_t *corners, const pnGrid *grid, pnBoxLanes *out) {
  pnF4 lo[PN_LANES], hi[PN_LANES];
  boxesOfCorners(base, corners, lo, hi);
  putOnGrid(out, lo, hi, grid);
}

static void putBoxes4(const float *boxes, const pnGrid *grid, pnBoxLanes *out) {
  pnF4 lo[PN_LANES], hi[PN_LANES];
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    lo[j] = pn_f4Load(boxes + 8 * j);
    hi[j] = pn_f4Load(boxes + 8 * j + 4);
  }
  putOnGrid(out, lo, hi, grid);
}

const pnBoxLoops pn_boxLoops4 = {boxOfList4, putLists4, putCorners4, putBoxes4};

PN_INLINE const pnBoxLoops *chooseLoops(void) {
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (__builtin_cpu_supports("avx2")) return &pn_boxLoopsAvx2;
#endif
  return &pn_boxLoops4;
}

void pn_boxOfVertices(const pnTree *tree, const uint32_t *vertices, uint32_t count, pnF4 *outLo, pnF4 *outHi) {
  const float *ready = pn_readyVertices(tree);
  if (ready) {
    float box[8];
    chooseLoops()->ofList(ready, vertices, vertices + count, 0, box);
    *outLo = pn_f4Load(box);
    *outHi = pn_f4Load(box + 4);
    return;
  }
  float points[4 * PN_FETCH_CHUNK];
  pnF4 lo = pn_f4Set1(FLT_MAX), hi = pn_f4Set1(-FLT_MAX);
  for (uint32_t i = 0; i < count; i += PN_FETCH_CHUNK) {
    uint32_t n = PN_MIN(PN_FETCH_CHUNK, count - i);
    pn_fetchListed(tree->pose, vertices + i, n, points);
    for (uint32_t j = 0; j < n; ++j) {
      pnF4 p = pn_f4Load(points + 4 * j);
      lo = pn_f4Min(lo, p);
      hi = pn_f4Max(hi, p);
    }
  }
  *outLo = lo;
  *outHi = hi;
}

static void ofVertices(const pnTree *tree, const uint32_t *vertices, uint32_t count, pnBound *out) {
  float sides[8];
  pnF4 lo, hi;
  pn_boxOfVertices(tree, vertices, count, &lo, &hi);
  pn_f4Store(sides, lo);
  pn_f4Store(sides + 4, hi);
  memcpy(out->slabs.lo, sides, 3 * sizeof(float));
  memcpy(out->slabs.hi, sides + 4, 3 * sizeof(float));
}

/* How many vertices ahead: some microseconds, as an outer cache takes for that many. */
#define AHEAD 256u
/* A copy of fewer is still in the near caches, and asking again would only cost time. */
#define MANY_VERTICES 65536u

/* Are the vertices far away? An array that the caller shares was written by somebody else, and nobody has looked at it since; one that
 * several workers have copied is in their caches, here a part of it and in another order. */
PN_INLINE bool areFar(const pnPose *pose) {
  return pose->sourceMaxAbs == PN_UNKNOWN_MAX_ABS || pose->sourceByMany || pose->mesh->vertexCount >= MANY_VERTICES;
}

/* The same on the short way through one node. */
#define AHEAD_IN_NODE 48u

static bool areTwigs(const pnTree *tree, uint32_t child, uint32_t count) {
  bool all = true;
  for (uint32_t j = 0; j < count; ++j) all = all && pn_isTwig(tree, child + j);
  return all;
}

/* The boxes of twigs of vertices that lie ready. Their lists stand one after the other. */
static void boxesOfTwigs(const pnTree *tree, const float *ready, uint32_t child, uint32_t count, pnF4 *lo, pnF4 *hi) {
  const uint32_t *at = tree->shape->twigFirst + child, *lists = tree->shape->twigVertices;
  bool far = areFar(tree->pose);
  for (uint32_t j = 0; j < count; ++j) {
    float box[8];
    uint32_t ahead = far ? PN_MIN(AHEAD_IN_NODE, at[count] - at[j + 1]) : 0;
    chooseLoops()->ofList(ready, lists + at[j], lists + at[j + 1], ahead, box);
    lo[j] = pn_f4Load(box);
    hi[j] = pn_f4Load(box + 4);
  }
}

static void fillInner(pnTree *tree, uint32_t node) {
  uint32_t child = tree->shape->first[node], count = tree->shape->count[node];
  const float *ready = pn_readyVertices(tree);
  if (ready && pn_isLeaf(tree, child) && PN_LIKELY(tree->grid.isPlain)) {
    /* the common case, straight: leaves of vertices that lie ready */
    const uint32_t *at = tree->shape->leafVertexFirst + (child - tree->shape->innerCount);
    chooseLoops()->putLists(ready, tree->shape->leafVertices, at, count, &tree->grid, (pnBoxLanes *)tree->lanes + node);
    if (PN_UNLIKELY(count < PN_LANES)) pn_emptyLanes(tree, node, count);
    return;
  }
  pnF4 lo[PN_LANES], hi[PN_LANES];
  if (ready && areTwigs(tree, child, count)) {
    boxesOfTwigs(tree, ready, child, count, lo, hi);
  } else {
    for (uint32_t j = 0; j < count; ++j) {
      uint32_t n;
      const uint32_t *v = pn_verticesBelow(tree, child + j, &n);
      pn_boxOfVertices(tree, v, n, &lo[j], &hi[j]);
    }
  }
  for (uint32_t j = count; j < PN_LANES; ++j) {
    lo[j] = lo[count - 1];
    hi[j] = hi[count - 1];
  }
  putBoxes(tree, node, lo, hi, count);
}

/* Corners past the count are somebody's: lanes the traversal masks. */
static void fillLeaf(pnTree *tree, uint32_t node) {
  const uint32_t *corners = tree->corners + 3 * PN_LANES * (size_t)(node - tree->shape->innerCount);
  uint32_t count = tree->shape->count[node];
  if (PN_LIKELY(tree->grid.isPlain)) {
    chooseLoops()->putCorners(tree->cornerBase, corners, &tree->grid, (pnBoxLanes *)tree->lanes + node);
    if (PN_UNLIKELY(count < PN_LANES)) pn_emptyLanes(tree, node, count);
    return;
  }
  pnF4 lo[PN_LANES], hi[PN_LANES];
  boxesOfCorners(tree->cornerBase, corners, lo, hi);
  putBoxes(tree, node, lo, hi, count);
}

/* ---------------------------------------------------------------- the eager pass: 8 floats a node, lo xyz -, hi xyz - */

/* Lists of clusters stand one after the other, so that the list goes on with the next cluster's. */
static void boundCluster(const pnTree *tree, uint32_t cluster, void *room) {
  const pnShape *s = tree->shape;
  uint32_t at = s->clusterVertexFirst[cluster], n = s->clusterVertexFirst[cluster + 1] - at;
  float *box = (float *)room + 8 * (size_t)s->clusterNode[cluster];
  const uint32_t *v = s->clusterVertices + at;
  const float *ready = pn_readyVertices(tree);
  if (ready) {
    uint32_t behind = s->clusterVertexFirst[s->clusterCount] - (at + n);
    chooseLoops()->ofList(ready, v, v + n, areFar(tree->pose) ? PN_MIN(AHEAD, behind) : 0, box);
    return;
  }
  pnF4 lo, hi;
  pn_boxOfVertices(tree, v, n, &lo, &hi);
  pn_f4Store(box, lo);
  pn_f4Store(box + 4, hi);
}

/* The boxes of the children of an eager node, one after the other. */
static void putEager(pnTree *tree, const pnBoxLoops *loops, uint32_t node, const float *boxes) {
  uint32_t count = tree->shape->count[node];
  if (PN_LIKELY(count == PN_LANES && tree->grid.isPlain)) {
    loops->putBoxes(boxes, &tree->grid, (pnBoxLanes *)tree->lanes + node);
    return;
  }
  pnF4 lo[PN_LANES], hi[PN_LANES];
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    lo[j] = pn_f4Load(boxes + 8 * PN_MIN(j, count - 1));
    hi[j] = pn_f4Load(boxes + 8 * PN_MIN(j, count - 1) + 4);
  }
  pn_putBoxes(tree, node, lo, hi, count);
}

/* Eager nodes from their children's boxes, which are clusters or eager nodes with larger numbers. */
static bool mergeEager(pnTree *tree, void *room) {
  float *boxes = room;
  for (uint32_t i = 0; i < tree->shape->eagerCount; ++i) {
    uint32_t node = tree->shape->eagerNodes[i];
    const float *child = boxes + 8 * (size_t)tree->shape->first[node];
    pnF4 lo = pn_f4Load(child), hi = pn_f4Load(child + 4), nan = pn_f4TrackNan(pn_f4Set1(0), lo);
    for (uint32_t j = 1; j < tree->shape->count[node]; ++j) {
      nan = pn_f4TrackNan(nan, pn_f4Load(child + 8 * j));
      lo = pn_f4Min(lo, pn_f4Load(child + 8 * j));
      hi = pn_f4Max(hi, pn_f4Load(child + 8 * j + 4));
    }
    pn_f4Store(boxes + 8 * (size_t)node, pn_f4Or(lo, nan));
    pn_f4Store(boxes + 8 * (size_t)node + 4, hi);
  }
  pnBound root;
  for (int k = 0; k < 3; ++k) {
    root.slabs.lo[k] = boxes[k];
    root.slabs.hi[k] = boxes[4 + k];
  }
  if (!pn_setRoot(tree, &root)) return false;
  const pnBoxLoops *loops = chooseLoops();
  for (uint32_t i = 0; i < tree->shape->eagerCount; ++i) {
    uint32_t node = tree->shape->eagerNodes[i];
    putEager(tree, loops, node, boxes + 8 * (size_t)tree->shape->first[node]);
    pn_markFresh(tree, node);
  }
  return true;
}

const pnFormRow pn_formBox = {.name = "box",
                              .slabs = &pn_slabBox,
                              .isTended = true,
                              .keepsNan = true,
                              .laneBytes = sizeof(pnBoxLanes),
                              .modelBytes = sizeof(pnModelLanes),
                              .eagerBytes = 8 * sizeof(float),
                              .ofPoints = pn_slabsFromPoints,
                              .ofVertices = ofVertices,
                              .merge = pn_slabsAround,
                              .widen = pn_slabsWiden,
                              .put = pn_slabsPut,
                              .boxes = pn_slabsBoxes,
                              .surface = pn_slabsSurface,
                              .contains = pn_slabsContain,
                              .store = pn_slabsStore,
                              .carry = pn_slabsCarry,
                              .fillInner = fillInner,
                              .fillLeaf = fillLeaf,
                              .boundCluster = boundCluster,
                              .mergeEager = mergeEager};
