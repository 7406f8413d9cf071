/* view.c: the volume of interest and the grid.
 *
 * Heidelberger, Teschner, Gross 2003, section 2.1. Two boxes overlap in a box. To look at body A from outside, the near
 * face of the window must not cut A; body B is looked at from the opposite side. Seen along one axis with A in front,
 * the window must reach from A's low face to B's high face:
 *
 *        A.lo                B.hi            with B in front: from B.lo to A.hi
 *   B.lo  |    A.hi           |
 *    |----+======+------------|   B          Where A.lo < B.lo this is the paper's "extended" window, without a special
 *         |======|                A          case: three axes, two orders, six windows. The shortest one wins.
 *
 * The other two coordinates are those of the common box. */
#include "volume/view.h"

#include <math.h>
#include <string.h>

static double boxLo(const pnBox *box, int k) {
  return k == 0 ? box->min.x : k == 1 ? box->min.y : box->min.z;
}
static double boxHi(const pnBox *box, int k) {
  return k == 0 ? box->max.x : k == 1 ? box->max.y : box->max.z;
}

pnInterest pn_findInterest(const pnBox *a, const pnBox *b) {
  pnInterest interest = {0};

  // what both boxes cover; flat is empty, because there is no volume in it
  for (int k = 0; k < 3; ++k) {
    interest.lo[k] = PN_MAX(boxLo(a, k), boxLo(b, k));
    interest.hi[k] = PN_MIN(boxHi(a, k), boxHi(b, k));
    if (!(interest.lo[k] < interest.hi[k])) interest.empty = true;
  }
  if (interest.empty) return interest;

  // the shortest of the six windows; the first of equals
  double best = INFINITY, lo = 0.0, hi = 0.0;
  for (uint32_t k = 0; k < 3; ++k)
    for (int order = 0; order < 2; ++order) {
      const pnBox *front = order == 0 ? a : b, *back = order == 0 ? b : a;
      double length = boxHi(back, k) - boxLo(front, k);
      if (length >= best) continue;
      best = length, lo = boxLo(front, k), hi = boxHi(back, k);
      interest.axis = k;
      interest.aInFront = order == 0;
    }
  interest.lo[interest.axis] = lo;
  interest.hi[interest.axis] = hi;
  return interest;
}

void pn_steadyBox(double lo[3], double hi[3]) {
  for (int k = 0; k < 3; ++k) {
    // the step depends on the exponent of the side only, so it rarely changes
    int exponent;
    frexp(hi[k] - lo[k], &exponent);
    double step = ldexp(1.0, exponent - 4);
    lo[k] = floor(lo[k] / step) * step;
    hi[k] = ceil(hi[k] / step) * step;
  }
}

void pn_viewFrame(pnView *view, const double direction[3], const double origin[3]) {
  // u across the smallest component, so that the cross product is long
  int small = 0;
  for (int k = 1; k < 3; ++k)
    if (fabs(direction[k]) < fabs(direction[small])) small = k;
  double *u = view->rows[0], *v = view->rows[1], *w = view->rows[2], e[3] = {0};
  e[small] = 1.0;
  memcpy(w, direction, 3 * sizeof *w);
  for (int k = 0; k < 3; ++k) u[k] = e[(k + 1) % 3] * w[(k + 2) % 3] - e[(k + 2) % 3] * w[(k + 1) % 3];
  double length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  for (int k = 0; k < 3; ++k) u[k] /= length;
  for (int k = 0; k < 3; ++k) v[k] = w[(k + 1) % 3] * u[(k + 2) % 3] - w[(k + 2) % 3] * u[(k + 1) % 3];
  memcpy(view->origin, origin, sizeof view->origin);
  view->aligned = false;
}

/* Across the image: cells as asked; fewer units per cell, or fewer cells, where bodies reach far out of the window. */
static void fitAcross(pnView *view, double reach[2]) {
  view->cellShift = PN_CELL_SHIFT;
  for (;;) {
    double need = 0.0;
    for (int k = 0; k < 2; ++k) {
      double side = view->hi[k] - view->lo[k];
      need = PN_MAX(need, reach[k] / side * (double)((uint64_t)view->size << view->cellShift));
    }
    if (need < PN_MAX_UNITS) return;
    if (view->cellShift > 1) --view->cellShift;
    else view->size = (view->size + 1) / 2;
  }
}

void pn_viewWindow(pnView *view, const double lo[3], const double hi[3], const double aroundLo[3],
                   const double aroundHi[3], uint32_t size) {
  double reach[3];
  for (int k = 0; k < 3; ++k) {
    view->lo[k] = lo[k], view->hi[k] = hi[k];
    // a side below a millionth (2^-20) of the bodies is widened: at 256 cells that is where 29 bits end
    double span = PN_MAX(aroundHi[k], hi[k]) - PN_MIN(aroundLo[k], lo[k]), least = ldexp(span, -20);
    if (view->hi[k] - view->lo[k] < least) {
      double middle = 0.5 * (view->lo[k] + view->hi[k]);
      view->lo[k] = middle - 0.5 * least, view->hi[k] = middle + 0.5 * least;
    }
    reach[k] = PN_MAX(aroundHi[k], view->hi[k]) - view->lo[k];
    reach[k] = PN_MAX(reach[k], view->hi[k] - PN_MIN(aroundLo[k], view->lo[k]));
  }
  view->size = size;
  fitAcross(view, reach);

  // depth: halve the steps until everything fits
  view->steps = PN_DEPTH_STEPS;
  while (reach[2] / (view->hi[2] - view->lo[2]) * view->steps >= PN_MAX_UNITS) view->steps /= 2;

  for (int k = 0; k < 3; ++k) {
    double units = k < 2 ? (double)((uint64_t)view->size << view->cellShift) : (double)view->steps;
    view->scale[k] = units / (view->hi[k] - view->lo[k]);
    view->unit[k] = (view->hi[k] - view->lo[k]) / units;
  }
}

pnView pn_viewAlong(uint32_t axis, const double lo[3], const double hi[3], const pnBox *around, uint32_t size) {
  pnView view = {.aligned = true};
  double l[3], h[3], al[3], ah[3];
  for (uint32_t k = 0; k < 3; ++k) {
    // (axis+1, axis+2, axis) is right-handed
    uint32_t c = (axis + 1 + k) % 3;
    view.pick[k] = (uint8_t)c;
    view.rows[k][c] = 1.0;
    l[k] = lo[c], h[k] = hi[c], al[k] = boxLo(around, (int)c), ah[k] = boxHi(around, (int)c);
  }
  pn_viewWindow(&view, l, h, al, ah, size);
  return view;
}

bool pn_viewSame(const pnView *a, const pnView *b) {
  bool same = a->aligned == b->aligned && a->size == b->size && a->cellShift == b->cellShift && a->steps == b->steps;
  for (int k = 0; k < 3; ++k) {
    same = same && a->lo[k] == b->lo[k] && a->hi[k] == b->hi[k] && a->origin[k] == b->origin[k];
    for (int j = 0; j < 3; ++j) same = same && a->rows[k][j] == b->rows[k][j];
  }
  return same;
}

double pn_viewSnap(const pnView *view) {
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) sum += view->unit[k] * view->unit[k];
  return sqrt(sum);
}
