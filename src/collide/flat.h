/* flat.h: regions of a surface that cannot meet themselves, because they are seen flat.
 *
 * In a self query most pairs of leaves lie beside each other: their boxes overlap, every pair of triangles near the common
 * border is looked at, and nothing is found. Where the surface is smooth there is a proof for hundreds of triangles at once.
 *
 * Let R be a disc of triangles, and look along a direction d. If every triangle of R is seen from the same side, and
 * the rim of R is a simple closed line in the picture, then no two points of R are one point in the picture, and none in
 * space: for a point that is not on the rim, the triangles of R seen there are as many as the times the rim turns around it,
 * once inside and never outside; a second point of R over the same spot would bring a part of a triangle with it, and
 * there would be two. [Volino94] has the idea; there, the rim is hard to check and mostly is not. We choose regions whose rim
 * is seen from a vertex c in the middle as a circle is: turning around it once, step by step. That is checked exactly like a
 * fan (fan.h), in as many steps as the rim has edges, and such a line is simple.
 *
 * Triangles that are there twice (fan.h) are in a region once, and a copy is where the one is that stands for it.
 *
 * Regions. Every node of at most 512 triangles has one, where the mesh allows: its triangles and some around it that make
 * the rim round (flat_make.c). While a region is seen flat, nothing below its node meets anything else below it, and the
 * pair of the node with itself is not opened. On a smooth sheet that is six of seven pairs of leaves that lie beside
 * each other. Where a region is not flat, those of its children are looked at.
 *
 * The proof takes some 5 ns a triangle and frame. It is used by queries for all pairs; a first pair is found sooner. */
#ifndef PN_COLLIDE_FLAT_H
#define PN_COLLIDE_FLAT_H

#include "base/task.h"
#include "collide/sight.h"
#include "collide/traverse.h"

/* Vertices of a rim at most. */
#define PN_RIM_MOST 256u

typedef struct pnFlatRegion {
  uint32_t node;
  uint32_t middle;    /* place of c */
  uint32_t leafFirst; /* into leaves, up to the next region's, as the others; those below the node come first */
  uint32_t rimFirst;  /* into rims: places in order, and the first five again */
  uint32_t seamFirst;
} pnFlatRegion;

/* A leaf and those of its triangles that are in a region. */
typedef struct pnFlatLeaf {
  uint32_t leaf, lanes;
} pnFlatLeaf;

/* The normals of a leaf's triangles, and the largest coordinate of their edges. */
typedef struct pnFlatNormals {
  float x[3][PN_LANES];
  float reach;
} pnFlatNormals;

/* A part of the shape (PN_PART_FLAT). */
typedef struct pnFlat {
  uint32_t regionCount;
  pnFlatRegion *regions; /* and one more, which only ends a range */
  pnFlatLeaf *leaves;
  uint32_t *rims;
  pnSeam *seams;
  uint32_t topCount;
  uint32_t *tops;     /* the largest nodes that have regions, or would have */
  uint32_t *regionOf; /* by inner node: place in regions, or PN_NONE */
} pnFlat;

/* Which are flat in this frame: the tree's own. Only where there are regions. */
typedef struct pnFlatFrame {
  const pnFlat *flat;
  uint64_t frame;   /* of the pose; 0: none yet */
  uint8_t isFlat[]; /* by inner node; of those below a flat one nothing is known */
} pnFlatFrame;

/* Is it one of the largest inner nodes that have regions, or would have? */
bool pn_isFlatTop(const pnShape *shape, uint32_t node);
/* Makes the regions of a tree's shape when it has none yet. PN_OK also where there are none to make. */
pnResult pn_prepareFlat(pnTree *tree);

#endif
