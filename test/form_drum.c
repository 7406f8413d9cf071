/* form_drum.c: a form of volume that the library has never heard of, in one file: drums, round about an axis along z and flat above
 * and below. It shows what a new form takes: a row (tree/form.h, pnFormRow), and its place in the table, here the one that is
 * free for a form on trial (pn_lendForm).
 *
 * Floats are kept, as floats of the body are; everything is computed in double, where squares of floats neither overflow nor vanish.
 * A distance is good to 2^-51 of itself. Rounding it to float takes away half a step at most, and a whole step is added: what is left,
 * 2^-25, covers that. */
#include "support.h"

#include "tree/carry.h"

#include <math.h>

typedef struct DrumLanes {
  float centre[2][PN_LANES], radius[PN_LANES], low[PN_LANES], high[PN_LANES];
} DrumLanes;

/* ---------------------------------------------------------------- one volume */

static float roundUp(double x) {
  return nextafterf((float)x, INFINITY);
}

static double apartBy(const float *p, const float *q) {
  double x = (double)p[0] - (double)q[0], y = (double)p[1] - (double)q[1];
  return sqrt(x * x + y * y);
}

static void ofPoints(const pnFormRow *form, const float *points, uint32_t count, pnBound *out) {
  (void)form;
  pn_slabsOfPoints(&pn_slabBox, points, count, &out->slabs);
  for (int k = 0; k < 2; ++k) out->centre[k] = 0.5f * out->slabs.lo[k] + 0.5f * out->slabs.hi[k];
  out->centre[2] = out->radius = 0;
  for (uint32_t i = 0; i < count; ++i) out->radius = PN_MAX(out->radius, roundUp(apartBy(out->centre, points + 4 * i)));
}

static void merge(const pnFormRow *form, pnBound *into, const pnBound *other) {
  (void)form;
  pnBound was = *into;
  pn_slabsMerge(&pn_slabBox, &into->slabs, &other->slabs);
  for (int k = 0; k < 2; ++k) into->centre[k] = 0.5f * into->slabs.lo[k] + 0.5f * into->slabs.hi[k];
  float a = roundUp(apartBy(into->centre, was.centre) + (double)was.radius);
  float b = roundUp(apartBy(into->centre, other->centre) + (double)other->radius);
  into->radius = PN_MAX(a, b);
}

static void ofVertices(const pnTree *tree, const uint32_t *vertices, uint32_t count, pnBound *out) {
  float points[4 * PN_FETCH_CHUNK];
  for (uint32_t i = 0; i < count; i += PN_FETCH_CHUNK) {
    pnBound part;
    uint32_t n = PN_MIN(PN_FETCH_CHUNK, count - i);
    pn_fetchListed(tree->pose, vertices + i, n, points);
    ofPoints(tree->form, points, n, i ? &part : out);
    if (i) merge(tree->form, out, &part);
  }
}

/* A point that is off by so much along every axis is off by less than twice that. */
static void widen(const pnFormRow *form, pnBound *bound, float by) {
  (void)form;
  pn_slabsWiden(&pn_formBox, bound, by);
  bound->radius = roundUp((double)bound->radius + 2 * (double)by);
}

/* ---------------------------------------------------------------- lanes */

static void store(const pnFormRow *form, void *lanes, const pnBound *bounds, uint32_t count) {
  (void)form;
  DrumLanes *d = lanes;
  for (uint32_t j = 0; j < count; ++j) {
    for (int k = 0; k < 2; ++k) d->centre[k][j] = bounds[j].centre[k];
    d->radius[j] = bounds[j].radius;
    d->low[j] = bounds[j].slabs.lo[2];
    d->high[j] = bounds[j].slabs.hi[2];
  }
}

static void put(pnTree *tree, uint32_t node, const pnBound *bounds, uint32_t count) {
  pnBound all[PN_LANES];
  for (uint32_t j = 0; j < PN_LANES; ++j) all[j] = bounds[PN_MIN(j, count - 1)];
  store(tree->form, pn_lanesOf(tree, node), all, PN_LANES);
}

/* Rounding keeps the order of numbers, and a coordinate is a double: what is above the real end of the box stays above the
 * rounded one. */
static void boxes(const pnTree *tree, uint32_t node, uint32_t begin, uint32_t end, pnLaneBoxes *out) {
  const DrumLanes *d = pn_lanesOf(tree, node);
  for (uint32_t j = begin; j < end; ++j) {
    for (int k = 0; k < 2; ++k) {
      out->lo[k][j] = (double)d->centre[k][j] - (double)d->radius[j];
      out->hi[k][j] = (double)d->centre[k][j] + (double)d->radius[j];
    }
    out->lo[2][j] = (double)d->low[j];
    out->hi[2][j] = (double)d->high[j];
  }
}

/* Room for the rounding of a distance, and of a sum of radii. */
#define ROOM (1 + 0x1p-40)

static bool contains(const pnTree *tree, uint32_t node, uint32_t lane, const float p[4]) {
  const DrumLanes *d = pn_lanesOf(tree, node);
  const float centre[2] = {d->centre[0][lane], d->centre[1][lane]};
  return apartBy(centre, p) <= (double)d->radius[lane] * ROOM && d->low[lane] <= p[2] && p[2] <= d->high[lane];
}

static unsigned meet(const pnTree *a, uint32_t node, const pnTree *b, uint32_t other, uint32_t lane) {
  const DrumLanes *d = pn_lanesOf(a, node), *e = pn_lanesOf(b, other);
  const float centre[2] = {e->centre[0][lane], e->centre[1][lane]};
  unsigned bits = 0;
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    const float own[2] = {d->centre[0][j], d->centre[1][j]};
    bool round = apartBy(own, centre) <= ((double)d->radius[j] + (double)e->radius[lane]) * ROOM;
    bits |= (unsigned)(round && d->low[j] <= e->high[lane] && e->low[lane] <= d->high[j]) << j;
  }
  return bits;
}

/* ---------------------------------------------------------------- carried */

/* A drum that is turned is in no upright drum but that of the ball around it. Centre and vertices are off by no more than the margin of
 * all that is added (carry.h), the centre's rounding to float included. */
static void carryOne(const pnCarry *carry, const DrumLanes *d, uint32_t j, pnBound *out) {
  double from[3] = {(double)d->centre[0][j], (double)d->centre[1][j], ((double)d->low[j] + (double)d->high[j]) / 2};
  double half = ((double)d->high[j] - (double)d->low[j]) / 2, size = 0, centre[3];
  double radius = (double)carry->stretch * sqrt((double)d->radius[j] * (double)d->radius[j] + half * half);
  for (int k = 0; k < 3; ++k) {
    const float *r = carry->map.m[k];
    centre[k] = (double)r[3];
    for (int i = 0; i < 3; ++i) centre[k] += (double)r[i] * from[i];
    size += fabs((double)r[3]);
    for (int i = 0; i < 3; ++i) size += fabs((double)r[i] * from[i]);
  }
  radius = radius * ROOM + (double)PN_CARRY_MARGIN * (size + radius) + 4 * PN_CARRY_TINY;
  for (int k = 0; k < 3; ++k) {
    out->centre[k] = (float)centre[k];
    /* a drum may reach beyond float, its vertices do not */
    out->slabs.lo[k] = (float)fmax(-(double)FLT_MAX, centre[k] - radius);
    out->slabs.hi[k] = (float)fmin((double)FLT_MAX, centre[k] + radius);
  }
  out->radius = roundUp(radius);
}

static void carryLanes(const pnFormRow *form, const pnCarry *carry, const void *lanes, uint32_t count, pnBound *out) {
  (void)form;
  for (uint32_t j = 0; j < count; ++j) carryOne(carry, lanes, j, &out[j]);
}

static const pnFormRow s_drum = {.name = "drum",
                                 .laneBytes = sizeof(DrumLanes),
                                 .modelBytes = sizeof(DrumLanes),
                                 .eagerBytes = sizeof(pnBound),
                                 .ofPoints = ofPoints,
                                 .ofVertices = ofVertices,
                                 .merge = merge,
                                 .widen = widen,
                                 .put = put,
                                 .boxes = boxes,
                                 .contains = contains,
                                 .meet = meet,
                                 .store = store,
                                 .carry = carryLanes,
                                 .fillInner = pn_fillInnerAny,
                                 .fillLeaf = pn_fillLeafAny,
                                 .boundCluster = pn_boundClusterAny,
                                 .mergeEager = pn_mergeEagerAny};

void testLendForms(void) {
  pn_lendForm(&s_drum);
}
