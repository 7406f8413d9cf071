/* bulk.h: where most of a body is, when a little of it is far away.
 *
 * A vertex that a simulation has lost, or one that was parked out of sight, makes the box of a body a thousand times as long as the body, or
 * 10^30 times; and cells over that box (tree.h) would be larger than the body, whose volumes would all overlap. So where cells of the whole are
 * too coarse, and most of the body is in a small part of it, the grid is over that part, the *bulk*, and *clipped*: its first and its last cell
 * stand for all that is beyond. That is a monotone function of coordinates still, so that nothing that overlaps is ever apart. Only the few volumes
 * that reach beyond say less.
 *
 * Seen through a coarser grid the ends must stay ends (collide/traverse_box_clipped.c), and queries take a box that ends there for one without
 * end (query/lanes.h). Bodies of one size mostly have one grid, clipped or not.
 *
 * Where the bulk is some vertices say (geom/sample.h), of the same triangles in every frame, or of places of a soup's order. They are asked while a grid
 * is clipped and for a while after that, and when the whole has become four times as long as it ever was since they were asked last; never for
 * small bodies. */
#ifndef PN_TREE_BULK_H
#define PN_TREE_BULK_H

#include "pinch/base.h"

struct pnTree;

typedef struct pnBulk {
  bool wasAsked, isThere;
  uint32_t patience; /* frames for which it is asked for, whatever the whole is like */
  int32_t exponent;  /* of the finest grid over the whole since it was asked for */
  pnBox box;         /* most of the vertices are in it */
  /* of volumes against that of the box (pnTree_GetQuality), when it was first clipped; 0: not known yet */
  float surface;
} pnBulk;

/* Of a tree whose grid is over the whole. True: it shall be over tree->bulk.box. */
bool pn_findBulk(struct pnTree *tree);

#endif
