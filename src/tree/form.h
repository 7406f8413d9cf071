/* form.h: what stands around a node: a box, a k-DOP, a ball. One question, several answers: a family of files form_*.c with one
 * table (form.c). Everybody else asks the row of a tree's form and never which one it is.
 *
 * A new form is one file and one row: test/form_drum.c is one that the library has never heard of. It has to say how a volume is
 * made of points and of two others, how a node keeps eight of them, and which world boxes stand around these; then every tree,
 * rule of update and query takes it. Beside that it may say when two of its volumes overlap (`meet`), and have shorter ways to
 * fill nodes. How two trees of one form are compared follows from what the row says of its lanes (collide/traverse.c): slabs
 * on the grid and balls have traversals of their own, of the others `meet` is asked, or their boxes are looked at. Rules that make
 * volumes of the targets or joints of a body (blend.h, skin_bound.h) know slabs and balls and say which forms they fit. */
#ifndef PN_TREE_FORM_H
#define PN_TREE_FORM_H

#include "tree/tree.h"

struct pnCarry; /* carry.h */

/* A volume while it is being computed. */
typedef struct pnBound {
  pnSlabs slabs;           /* the first three in every form: the box of what is inside */
  float centre[3], radius; /* balls */
} pnBound;

/* World boxes around what is in the lanes of a node, exactly or a little larger. */
typedef struct pnLaneBoxes {
  double lo[3][PN_LANES], hi[3][PN_LANES];
} pnLaneBoxes;

typedef struct pnFormRow {
  const char *name;
  const pnSlabSet *slabs; /* intervals along these directions, on the tree's grid; null: something else */
  bool isBall;            /* centre and radius */
  bool isTended;          /* worlds build worn trees anew, and mirror torn ones (whose trees are of boxes) */
  bool keepsNan;          /* a coordinate that is not a number is seen in the box of the whole */
  size_t laneBytes;       /* of a node in this frame */
  size_t modelBytes;      /* of a node as `store` keeps it */
  size_t eagerBytes;      /* of one volume in the eager pass */

  /* one volume */
  void (*ofPoints)(const struct pnFormRow *form, const float *points, uint32_t count,
                   pnBound *out);                                                                 /* 4 floats apart */
  void (*ofVertices)(const pnTree *tree, const uint32_t *vertices, uint32_t count, pnBound *out); /* as listed */
  void (*merge)(const struct pnFormRow *form, pnBound *into, const pnBound *other);               /* around both */
  void (*widen)(const struct pnFormRow *form, pnBound *bound, float by); /* by so much along every axis and diagonal */

  /* the lanes of a node */
  void (*put)(pnTree *tree, uint32_t node, const pnBound *bounds, uint32_t count);
  void (*boxes)(const pnTree *tree, uint32_t node, uint32_t begin, uint32_t end, pnLaneBoxes *out);
  /* The surfaces of the same boxes, of all children of a node together, half of each. Null: as the boxes say. */
  double (*surface)(const pnTree *tree, uint32_t node);
  /* Does it contain a point, as the traversal sees it: would the volume of a body that is this point overlap it? */
  bool (*contains)(const pnTree *tree, uint32_t node, uint32_t lane, const float p[4]);
  /* Bits of a's lanes that overlap one lane of b, a tree of the same form. Null for slabs and balls, whose lanes are known, and where
   * boxes will do. */
  unsigned (*meet)(const pnTree *a, uint32_t node, const pnTree *b, uint32_t other, uint32_t lane);

  /* lanes in float, of volumes that stay while a map carries them (carry.h) */
  void (*store)(const struct pnFormRow *form, void *lanes, const pnBound *bounds, uint32_t count);
  void (*carry)(const struct pnFormRow *form, const struct pnCarry *carry, const void *lanes, uint32_t count,
                pnBound *out);

  /* nodes from vertices: an inner node, a leaf that has its corners, a cluster, and all above the clusters. False: not
   * finite. `room` has eagerBytes for every node. */
  void (*fillInner)(pnTree *tree, uint32_t node);
  void (*fillLeaf)(pnTree *tree, uint32_t node);
  void (*boundCluster)(const pnTree *tree, uint32_t cluster, void *room);
  bool (*mergeEager)(pnTree *tree, void *room);
} pnFormRow;

extern const pnFormRow pn_formBox, pn_formDop14, pn_formDop18, pn_formDop26, pn_formSphere;

/* Boxes in model space, of rules that keep such, as they are in the world. */
void pn_modelBoxes(const pnTree *tree, uint32_t node, uint32_t begin, uint32_t end, pnLaneBoxes *out);

/* The row of a form; null: there is none of that number. */
const pnFormRow *pn_formOf(pnForm form);
/* Behind the forms of the library there is a place for one more, which is being tried out: from now on its number is PN_FORM_COUNT.
 * Null takes it away. Not while trees are made on other threads. */
void pn_lendForm(const pnFormRow *form);
/* Gives a tree its form, or another one before an update fills it: soups change between two. */
void pn_setForm(pnTree *tree, pnForm form);

/* ---------------------------------------------------------------- what forms share */

/* For forms without a shorter way: by ofVertices, ofPoints, merge and put. `room`: a pnBound a node. */
void pn_fillInnerAny(pnTree *tree, uint32_t node);
void pn_fillLeafAny(pnTree *tree, uint32_t node);
void pn_boundClusterAny(const pnTree *tree, uint32_t cluster, void *room);
bool pn_mergeEagerAny(pnTree *tree, void *room);

/* form_slabs.c: intervals along directions, boxes among them. */
/* Of vertices as listed; points: room for PN_FETCH_CHUNK, where the last of them are afterwards. */
void pn_slabsOfVertices(const pnTree *tree, const pnSlabSet *set, const uint32_t *vertices, uint32_t count,
                        float *points, pnSlabs *out);
void pn_slabsFromPoints(const pnFormRow *form, const float *points, uint32_t count, pnBound *out);
void pn_slabsAround(const pnFormRow *form, pnBound *into, const pnBound *other);
void pn_slabsWiden(const pnFormRow *form, pnBound *bound, float by);
void pn_slabsPut(pnTree *tree, uint32_t node, const pnBound *bounds, uint32_t count);
void pn_slabsBoxes(const pnTree *tree, uint32_t node, uint32_t begin, uint32_t end, pnLaneBoxes *out);
double pn_slabsSurface(const pnTree *tree, uint32_t node);
bool pn_slabsContain(const pnTree *tree, uint32_t node, uint32_t lane, const float p[4]);
void pn_slabsStore(const pnFormRow *form, void *lanes, const pnBound *bounds, uint32_t count);
void pn_slabsCarry(const pnFormRow *form, const struct pnCarry *carry, const void *lanes, uint32_t count, pnBound *out);
/* Lanes without a child: an interval that overlaps nothing. */
void pn_emptyLanes(pnTree *tree, uint32_t node, uint32_t count);
/* Writes the volumes of a node given as rows, lo and hi of each direction, eight lanes each; lanes past count may hold
 * anything. For rules that work by rows. */
void pn_putRows(pnTree *tree, uint32_t node, const float *rows, uint32_t count);

/* form_box.c: boxes given as (x, y, z, -) rows; all eight must be numbers. */
void pn_putBoxes(pnTree *tree, uint32_t node, const pnF4 lo[PN_LANES], const pnF4 hi[PN_LANES], uint32_t count);
/* The box of a list of vertices, as rows of four. */
void pn_boxOfVertices(const pnTree *tree, const uint32_t *vertices, uint32_t count, pnF4 *outLo, pnF4 *outHi);

#endif
