/* sweep.h: a body on its way between two places, as swept queries see it.
 *
 * The tree is a tree like any other (tree.h), over *boxes*: a mesh that has two vertices for each triangle of the body, the
 * lowest and the highest corner of the box around the triangle at both ends of the step, joined as a "triangle" lo, hi, lo.
 * Its box is that box, so all that trees and traversals do for moving triangles they do for moving boxes: build, follow, threads.
 * Points move on straight lines, so a box around both ends holds everything in between.
 *
 * Every vertex and every edge is *owned* by one triangle that has it. Two features are looked at when the boxes
 * of their owners (or of the owner and the face) overlap, which is once. Which of them owns it is chosen so that nearly every
 * triangle of a mesh has one vertex and two edges at most: then a pair of triangles is six comparisons of boxes, without a loop.
 */
#ifndef PN_COLLIDE_SWEEP_H
#define PN_COLLIDE_SWEEP_H

#include "base/stamp.h"
#include "base/task.h"
#include "geom/simd_whole.h"
#include "pinch/collide.h"

/* x, y, z of a vertex, begin and end of each side by side; one cache line. */
typedef struct pnPlace {
  pnD2 x[4];
} pnPlace;

/* A feature, or a face, and its box over the step: v is a vertex, the two ends of an edge, or (in pnFaceBox) nothing. The floats can
 * be loaded four at a time; what is in the fourth does not matter. */
typedef struct pnFeatureBox {
  float lo[3];
  uint32_t v0;
  float hi[3];
  uint32_t v1;
} pnFeatureBox;

/* Features that a slot of the tree has at least: a vertex, two edges; those that are missing have the box of nothing. */
enum { PN_PLAIN_VERTICES = 1, PN_PLAIN_FEATURES = 3 };

/* A bit of `owned`: a dead place of a soup, which has no features and is no face. */
#define PN_NO_PRIMITIVE 0x80u

struct pnSweep {
  const pnMesh *mesh;
  const pnSoup *soup;       /* null: of a mesh */
  uint32_t *generations[2]; /* of a soup: of each place at the begin and at the end; odd: alive */
  uint8_t *kinds;           /* of a soup: corners at the begin */
  uint32_t vertexCount, triangleCount, edgeCount;
  uint32_t *edges;        /* 2 an edge */
  uint32_t *triangleEdge; /* 3 a triangle: the edge from corner k to corner k + 1 */
  uint8_t *owned;         /* a triangle: bits 0 to 2, its corners; bits 3 to 5, its edges */
  bool ownersChanged;     /* a soup's primitives came or went since the slots were named */
  bool hasWelds;          /* some vertex is welded to another */
  pnPlace *places;        /* a vertex */
  pnFeatureBox *vertexBoxes;
  float *corners; /* of the box mesh: lo and hi of each triangle, and one float more */
  bool isListed;  /* while sweeps of many pairs are listed, each once (swept_list.c) */
  bool stale;     /* places have changed since the boxes were made */
  double boxEnd;  /* the boxes are around t = 0 ... boxEnd, and wider by half of boxMargin on each side */
  double boxMargin;
  pnMesh *boxMesh;
  pnPose *boxPose;
  pnTree *tree;
  /* In the order of the tree's slots, so that what is close lies close: faces, and the features that triangles own, first vertices, then
   * edges, each filled up to what a plain slot has. Boxes are those of now in leaves with its stamp (pn_boxLeaf): few are reached. */
  uint32_t slotCount;
  uint32_t now;
  _Atomic uint32_t *leafStamps; /* a leaf */
  pnFeatureBox *faceBoxes;      /* a slot */
  uint32_t (*faceCorners)[4];   /* a slot: three vertices and the triangle */
  uint32_t *featureFirst;       /* a slot, and one more */
  uint8_t *ownedVertices;       /* a slot: how many of its features are vertices */
  pnFeatureBox *featureBoxes;   /* vertices and edges */
  uint32_t *featureNames;       /* the number of the vertex or edge */
};

/* Boxes around 0 ... end, and the tree brought up to date. What comes closer than `margin` to each other has boxes that overlap. */
pnResult pn_updateSweep(pnSweep *sweep, double end, double margin, const pnTasks *tasks);

/* Boxes of the faces and features in a leaf of the tree, for who looks at them; `alone`: no other thread asks meanwhile. */
void pn_boxLeafSlow(const pnSweep *sweep, uint32_t leaf, bool alone);
PN_INLINE void pn_boxLeaf(const pnSweep *sweep, uint32_t leaf, bool alone) {
  if (PN_LIKELY(atomic_load_explicit(&sweep->leafStamps[leaf], memory_order_acquire) == sweep->now)) return;
  pn_boxLeafSlow(sweep, leaf, alone);
}

/* In one body: are these one vertex? The same, or welded and at one place at both ends. */
bool pn_isOneVertex(const pnSweep *sweep, uint32_t v, uint32_t w);

#endif
