/* view.h: through which window we look. The volume of interest of two boxes, and the integer grid an image lives on.
 *
 *   u, v   across the image: cell (i, j) covers [i*c, (i+1)*c] x [j*c, (j+1)*c], c = 1 << cellShift units
 *   w      depth: 0 at the near side of the window, `steps` at the far side, growing along the direction of view
 *
 * The sample of a cell is its centre. Vertices are rounded to integers in all three coordinates, on one grid for
 * every body seen through the window, so that everything after that is exact. */
#ifndef PN_VOLUME_VIEW_H
#define PN_VOLUME_VIEW_H

#include "pinch/volume.h"
#include "base/core.h"
#include "volume/grid.h"

/* Units per cell, and depth steps, when the bodies are not far larger than the window: what OpenGL drivers use too
 * (8 bits below the pixel, 24 bits of depth), so that both paths round alike. */
#define PN_CELL_SHIFT 8
#define PN_DEPTH_STEPS (1 << 24)

typedef struct pnView {
  bool aligned; /* coordinate k is world coordinate pick[k]; otherwise the dot product with rows[k] */
  uint8_t pick[3];
  double rows[3][3]; /* unit vectors u, v, w, right-handed */
  double origin[3];  /* subtracted before the dot product: near the bodies, so that nothing cancels; aligned: unused */
  double lo[3], hi[3]; /* the window in those coordinates */
  double scale[3];     /* units per length */
  double unit[3];      /* length per unit */
  uint32_t size;       /* cells per side */
  uint32_t cellShift;  /* at least 1, so that a centre is a whole unit */
  int32_t steps;       /* depth of the window in units */
} pnView;

/* What two boxes have in common and from where to look at it (paper, 2.1). */
typedef struct pnInterest {
  bool empty;          /* the boxes do not overlap, or only touch: no volume */
  uint32_t axis;       /* direction of view, towards larger coordinates */
  bool aInFront;       /* the low face is outside A and the high face outside B; otherwise the other way round */
  double lo[3], hi[3]; /* world coordinates */
} pnInterest;
pnInterest pn_findInterest(const pnBox *a, const pnBox *b);

/* Rounds the box outward to a grid of a sixteenth of the next power of two: the same box for small changes. */
void pn_steadyBox(double lo[3], double hi[3]);

/* A view of the world box lo ... hi along `axis`. `around` holds all bodies that will be seen (world coordinates). The
 * window may come out larger, and its resolution less, where the bodies are so large that integers would not do. */
pnView pn_viewAlong(uint32_t axis, const double lo[3], const double hi[3], const pnBox *around, uint32_t size);

/* A view along any unit vector; lo, hi and around in its coordinates, which pn_viewFrame gives. */
void pn_viewFrame(pnView *view, const double direction[3], const double origin[3]);
void pn_viewWindow(pnView *view, const double lo[3], const double hi[3], const double aroundLo[3],
                   const double aroundHi[3], uint32_t size);

/* Do two views make the same image of the same body? */
bool pn_viewSame(const pnView *a, const pnView *b);

/* Coordinates in the view of a world point, as lengths. */
PN_INLINE void pn_viewPoint(const pnView *view, const float p[3], double out[3]) {
  if (view->aligned)
    for (int k = 0; k < 3; ++k) out[k] = (double)p[view->pick[k]];
  else
    for (int k = 0; k < 3; ++k)
      out[k] = view->rows[k][0] * ((double)p[0] - view->origin[0]) +
               view->rows[k][1] * ((double)p[1] - view->origin[1]) +
               view->rows[k][2] * ((double)p[2] - view->origin[2]);
}

/* The world point at lengths q (aligned views only). */
PN_INLINE void pn_viewToWorld(const pnView *view, const double q[3], double out[3]) {
  for (int k = 0; k < 3; ++k) out[view->pick[k]] = q[k];
}

/* How far in the world a vertex may be from where the grid puts it: half a unit in each coordinate, and as much again
 * for the rounding of the coordinates themselves. */
double pn_viewSnap(const pnView *view);

#endif
