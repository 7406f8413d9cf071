/* hub_sweep.h: which of the very many triangles around one vertex (tree/hub.h) may meet in more than they share?
 *
 * Two triangles with a corner v in common are convex and contain v: with another point x in common they have the segment vx.
 * So they leave v in a common *direction*, and it is enough to compare the directions in which they do. A triangle v a b
 * leaves v in those between a - v and b - v. Scaled so that |x| + |y| + |z| = 1 they are points of an octahedron, and form a
 * line of at most four straight pieces on it, which bends where a coordinate changes its sign. The box around that line
 * is the box of its ends and bends; triangles whose boxes do not overlap meet in nothing but v, or the edge they share.
 * Boxes are sorted along the axis on which they overlap least, and swept. A fan around an apex or in a cap has boxes that
 * overlap their neighbours' only, so that n triangles cost n log n.
 *
 * Pages. Where very many of these triangles share a second vertex u as well, as pages of a book share its *spine*, the direction of u
 * is in every box and nothing is kept apart. But two triangles with a common edge lie in half-planes that end at its line, and
 * meet in more only where these are one. So pages are compared by the direction in which they leave the spine at a right angle,
 * which is one point of the octahedron, and swept in the same way among themselves.
 *
 * Triangles that are only the point v, and those whose corner at v has come away from the others' (a seam that opened), have
 * no such direction: they are compared with all others by their boxes in space. */
#ifndef PN_COLLIDE_HUB_SWEEP_H
#define PN_COLLIDE_HUB_SWEEP_H

#include "base/sort.h"
#include "collide/fan.h"

/* A triangle of the sweep and its box, of directions or in space. */
typedef struct pnHubItem {
  float lo[3], hi[3];
  uint32_t triangle;
  bool page;
} pnHubItem;

/* What is swept: boxes of directions, of pages around the spine, in space. */
typedef enum pnHubPart { PN_HUB_DIRECTIONS, PN_HUB_PAGES, PN_HUB_SPACE } pnHubPart;

/* A sweep, in portions. Memory is kept from one to the next; a zeroed one is valid. */
typedef struct pnHubSweep {
  PN_ARRAY(pnHubItem) items, scratch;
  PN_ARRAY(pnKeyValue) keys, keyScratch;
  uint32_t vertex;
  uint32_t regular; /* the first so many have directions, sorted along `axis` */
  uint32_t spine;   /* the welded vertex that pages share, PN_NONE: there are none */
  uint32_t pages;   /* how many; they come first in that part */
  uint32_t i, j;    /* the next pair */
  pnHubPart part;
  int axis;
} pnHubSweep;

/* Around welded vertex v, whose leaves are fresh. False: out of memory. */
bool pn_beginHub(pnHubSweep *sweep, const pnTree *tree, const pnFans *fans, uint32_t v);
/* Appends pairs of slots that belong to v (fan.h) and may meet, `most` or a few more; *outDone when these were the last.
 * False: out of memory. */
bool pn_listHub(pnHubSweep *sweep, const pnTree *tree, const pnFans *fans, size_t most, pnPairs *candidates,
                bool *outDone);
void pn_freeHubSweep(pnHubSweep *sweep);

#endif
