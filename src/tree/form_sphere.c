/* form_sphere.c: balls, about the middle of the box of what is inside (geom/sphere.h). Floats, no grid: they fit at any scale. */
#include "geom/sphere.h"
#include "tree/carry.h"

/* ---------------------------------------------------------------- one volume */

static void ofPoints(const pnFormRow *form, const float *points, uint32_t count, pnBound *out) {
  (void)form;
  pn_slabsOfPoints(&pn_slabBox, points, count, &out->slabs);
  pn_sphereCentre(&out->slabs, out->centre);
  out->radius = pn_sphereRadius(out->centre, points, count);
}

/* Two passes, the second for the radius; the points are at hand when there are few. */
static void ofVertices(const pnTree *tree, const uint32_t *vertices, uint32_t count, pnBound *out) {
  float points[4 * PN_FETCH_CHUNK];
  pn_slabsOfVertices(tree, &pn_slabBox, vertices, count, points, &out->slabs);
  pn_sphereCentre(&out->slabs, out->centre);
  out->radius = 0;
  for (uint32_t i = 0; i < count; i += PN_FETCH_CHUNK) {
    uint32_t n = PN_MIN(PN_FETCH_CHUNK, count - i);
    if (count > PN_FETCH_CHUNK) pn_fetchListed(tree->pose, vertices + i, n, points);
    out->radius = PN_MAX(out->radius, pn_sphereRadius(out->centre, points, n));
  }
}

static void merge(const pnFormRow *form, pnBound *into, const pnBound *other) {
  (void)form;
  pn_slabsMerge(&pn_slabBox, &into->slabs, &other->slabs);
  pn_sphereMerge(into->centre, &into->radius, other->centre, other->radius);
}

/* A point that is off by so much along every axis is off by less than twice that. */
static void widen(const pnFormRow *form, pnBound *bound, float by) {
  (void)form;
  pn_slabsWiden(&pn_formBox, bound, by);
  bound->radius += 2 * by;
}

/* ---------------------------------------------------------------- lanes */

static void put(pnTree *tree, uint32_t node, const pnBound *bounds, uint32_t count) {
  pnSphereLanes *lanes = pn_lanesOf(tree, node);
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    const pnBound *b = &bounds[PN_MIN(j, count - 1)];
    for (int k = 0; k < 3; ++k) lanes->centre[k][j] = b->centre[k];
    lanes->radius[j] = b->radius;
  }
}

/* In double: what is rounded here is 2^-53 of the radius and the centre, which the radius has room for (PN_SPHERE_GROW). */
static void boxes(const pnTree *tree, uint32_t node, uint32_t begin, uint32_t end, pnLaneBoxes *out) {
  const pnSphereLanes *s = pn_lanesOf(tree, node);
  for (int k = 0; k < 3; ++k) {
    for (uint32_t j = begin; j < end; ++j) {
      out->lo[k][j] = (double)s->centre[k][j] - (double)s->radius[j];
      out->hi[k][j] = (double)s->centre[k][j] + (double)s->radius[j];
    }
  }
}

/* With the margins of the pose already inside. */
static bool contains(const pnTree *tree, uint32_t node, uint32_t lane, const float p[4]) {
  const pnSphereLanes *s = pn_lanesOf(tree, node);
  double d = 0;
  for (int k = 0; k < 3; ++k) {
    double x = (double)p[k] - (double)s->centre[k][lane];
    d += x * x;
  }
  return sqrt(d) <= (double)s->radius[lane] * (1 + 1e-12);
}

/* ---------------------------------------------------------------- carried */

static void store(const pnFormRow *form, void *lanes, const pnBound *bounds, uint32_t count) {
  (void)form;
  pnSphereLanes *s = lanes;
  for (uint32_t j = 0; j < count; ++j) {
    for (int k = 0; k < 3; ++k) s->centre[k][j] = bounds[j].centre[k];
    s->radius[j] = bounds[j].radius;
  }
}

static void carrySphere(const pnCarry *carry, const pnSphereLanes *s, uint32_t j, pnBound *out) {
  float size = 0;
  for (int k = 0; k < 3; ++k) {
    const float *r = carry->map.m[k];
    out->centre[k] = r[0] * s->centre[0][j] + r[1] * s->centre[1][j] + r[2] * s->centre[2][j] + r[3];
    for (int i = 0; i < 3; ++i) size += fabsf(r[i] * s->centre[i][j]);
    size += fabsf(r[3]);
  }
  /* the centre's rounding is at most the margin of the sum of everything added, and so is that of each vertex */
  out->radius =
      (carry->stretch * s->radius[j] + PN_CARRY_MARGIN * (size + carry->stretch * s->radius[j])) * PN_SPHERE_GROW;
  for (int k = 0; k < 3; ++k) {
    /* a ball may reach beyond float, its vertices do not */
    out->slabs.lo[k] = PN_MAX(-FLT_MAX, out->centre[k] - out->radius);
    out->slabs.hi[k] = PN_MIN(FLT_MAX, out->centre[k] + out->radius);
  }
}

static void carryLanes(const pnFormRow *form, const pnCarry *carry, const void *lanes, uint32_t count, pnBound *out) {
  (void)form;
  for (uint32_t j = 0; j < count; ++j) carrySphere(carry, lanes, j, &out[j]);
}

const pnFormRow pn_formSphere = {.name = "sphere",
                                 .isBall = true,
                                 .laneBytes = sizeof(pnSphereLanes),
                                 .modelBytes = sizeof(pnSphereLanes),
                                 .eagerBytes = sizeof(pnBound),
                                 .ofPoints = ofPoints,
                                 .ofVertices = ofVertices,
                                 .merge = merge,
                                 .widen = widen,
                                 .put = put,
                                 .boxes = boxes,
                                 .contains = contains,
                                 .store = store,
                                 .carry = carryLanes,
                                 .fillInner = pn_fillInnerAny,
                                 .fillLeaf = pn_fillLeafAny,
                                 .boundCluster = pn_boundClusterAny,
                                 .mergeEager = pn_mergeEagerAny};
