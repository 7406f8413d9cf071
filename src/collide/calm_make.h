/* calm_make.h: what is at hand while the numbers of calm.h are found: calm_make.c finds them, calm_pack.c puts them side by
 * side. */
#ifndef PN_COLLIDE_CALM_MAKE_H
#define PN_COLLIDE_CALM_MAKE_H

#include "collide/calm.h"
#include "tree/blend.h"

typedef struct pnCalmBox {
  double lo[3], hi[3];
} pnCalmBox;

/* How much a target brings a pair together, down and up: the upper halves of the floats, rounded up. */
typedef struct pnCalmTerm {
  uint16_t target;
  uint16_t toward[2];
} pnCalmTerm;

/* A pair while pairs are made. */
typedef struct pnCalmDraft {
  pnCalmPair kept;
  uint32_t termFirst; /* up to the next pair's */
  float noise;        /* K */
} pnCalmDraft;

/* Scratch of one creation. */
typedef struct pnCalmMaker {
  const pnTree *tree;
  const pnMorph *morph;
  const pnBlend *blend;
  float *base;               /* vertices at rest */
  pnCalmBox *boxes;          /* of nodes, at rest */
  pnCalmTriangle *triangles; /* by slot */
  pnStretch *most;           /* by target: of the pairs being made, one row for each depth */
  pnStretch *far;            /* by target: of the far children of the pair whose children were looked at last */
  uint32_t depth, depthCount;
  bool *seam; /* by vertex: it is welded to one that moves otherwise */
  PN_ARRAY(pnCalmDraft) pairs;
  PN_ARRAY(uint32_t) children;
  PN_ARRAY(pnCalmTerm) terms;
  PN_ARRAY(pnCalmBlock) blocks;
  PN_ARRAY(pnCalmRow) rows;
  uint32_t *rowOf; /* by target: its row in the block being made, when that is not before the block's first */
  bool ok;
} pnCalmMaker;

/* The children of a pair side by side, and after them, when there are some, its far ones (m->far) as one. */
void pn_packChildren(pnCalmMaker *m, const uint32_t *children, uint32_t count, bool hasFar, double farNoise);
/* The arrays of a calm whose counts are set, out of one block (pn_carve); and its pairs by their first node. */
size_t pn_layOutCalm(const pnShape *shape, pnCalm *calm, char *base);
void pn_sortCalm(pnCalm *calm, uint32_t nodeCount);
/* The place of two leaves in the links of a shape, PN_NONE when they share nothing or are no leaves. */
uint32_t pn_calmLink(const pnShape *shape, uint32_t a, uint32_t b);
/* Everything into one block of memory, which becomes the shape's. */
pnResult pn_packCalm(pnCalmMaker *m, void **outData, size_t *outBytes);
/* Room for what is calm in a frame. */
pnResult pn_allocCalmFrame(pnTree *tree, const pnCalm *calm);

/* The upper half of a number that is not negative, as a float, rounded up. What is a half already stays one, and what
 * is too large for a float becomes infinite, with which nothing is calm. */
uint16_t pn_upperHalf(double x);

#endif
