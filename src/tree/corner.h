/* corner.h: big triangles in pieces. [Mujika, section 5]
 *
 * A triangle much larger than what meets it has a volume in which whole bodies disappear. It is divided like a paper
 * triangle folded at the middles of its sides, in four, again and again, down to pieces with sides below a limit:
 *
 *        /\              sphere division   every piece is divided: 4^n of them at level n
 *       /__\             corner-tree       only pieces with a side on a side of the big triangle are divided again, for
 *      /\  /\                              whatever is close to one farther in is in front of the triangle's plane:
 *     /__\/__\                             1, 4, 12, 36, 84, 180, 372 of them (Table 1)
 *
 * Only volumes are divided. A leaf of the tree then holds pieces: each has the volume of its part and the corners of
 * the whole triangle, with which the exact tests decide; the triangle is reported once. The pieces cover the triangle
 * exactly, their corners being sums of its corners with weights i / 2^level, so nothing can slip between them. Where we
 * differ from the paper: pieces go into the one tree over everything instead of a tree of their own in a leaf, and the
 * plane of a big triangle prunes whole subtrees of the other body (collide/plane.c) and then leaves the
 * decision to the exact test, unless a caller asks for the approximate one.
 *
 * The same lists serve *representative triangles* [Curtis08]: a list of some whole triangles. */
#ifndef PN_TREE_CORNER_H
#define PN_TREE_CORNER_H

#include "base/array.h"
#include "tree/tree.h"

#include <math.h>

/* The finest division: 4^8 pieces. */
#define PN_MOST_DIVISIONS 8u

/* A piece with corners at (i, j), (i+1, j), (i, j+1), or turned over (i+1, j+1), (i, j+1), (i+1, j), where (i, j) is
 * first + i / 2^level (second - first) + j / 2^level (third - first). */
struct pnPiece {
  uint32_t triangle;
  uint8_t level;
  bool turned;
  uint16_t i, j;
};

typedef PN_ARRAY(pnPiece) pnPieceList;

/* The plane of a triangle, in double. A normal from edges of floats has a relative error below 1e-15 of |edge| |edge|,
 * a distance to the plane a few of these: `slack`, 1e-13 times the sum of the magnitudes of both edges, multiplied by
 * those of the coordinates, is kept free. */
typedef struct pnBigPlane {
  double normal[3], origin[3], length, slack;
} pnBigPlane;

PN_INLINE pnBigPlane pn_planeOf(const float *const p[3]) {
  pnBigPlane plane;
  double e[3], f[3], sizeE = 0, sizeF = 0, square = 0;
  for (int k = 0; k < 3; ++k) {
    plane.origin[k] = p[0][k];
    e[k] = (double)p[1][k] - p[0][k];
    f[k] = (double)p[2][k] - p[0][k];
    sizeE += fabs(e[k]);
    sizeF += fabs(f[k]);
  }
  for (int k = 0; k < 3; ++k) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    plane.normal[k] = e[i] * f[j] - e[j] * f[i];
    square += plane.normal[k] * plane.normal[k];
  }
  plane.length = sqrt(square);
  plane.slack = 1e-13 * sizeE * sizeF;
  return plane;
}

/* By how much the volume of a piece is widened for the rounding of its corners (update_divided.c). */
PN_INLINE float pn_pieceMargin(const float *const corner[3]) {
  float most = 0;
  for (int i = 0; i < 9; ++i) most = PN_MAX(most, fabsf(corner[i / 3][i % 3]));
  return 0x1p-21f * most + 0x1p-147f;
}

/* Does the piece have a side on a side of its triangle? */
bool pn_isAtEdge(const pnPiece *piece);
/* Its four parts. */
void pn_divide(const pnPiece *piece, pnPiece out[4]);
/* All that is left of a triangle after `levels` divisions; false: out of memory. */
bool pn_divideTriangle(pnBig big, uint32_t triangle, uint32_t levels, pnPieceList *out);

/* The corners of a piece, four floats apart, from those of its triangle; rounded. */
void pn_pieceCorners(const pnPiece *piece, const float *const corner[3], float out[12]);

/* Does this definition ask for pieces? */
PN_INLINE bool pn_hasPieces(const pnTreePlan *def) {
  return def->big != PN_BIG_WHOLE || def->representative;
}
/* The pieces of a mesh, and a mesh of their triangles to build over: outMesh->triangles is to be freed with
 * pn_freePieces, everything else is borrowed. */
pnResult pn_makePieces(const pnTreePlan *def, pnPieceList *outPieces, pnMesh *outMesh);
void pn_freePieces(pnPieceList *pieces, pnMesh *mesh);
/* After assembly: leaves name triangles instead of pieces; divided shapes remember the pieces by slot. */
pnResult pn_keepPieces(pnShape *shape, const pnPieceList *pieces);
size_t pn_pieceBytes(const pnShape *shape); /* of the block that slotPieces begins */

#endif
