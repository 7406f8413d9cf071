/* division.h: which triangles are in which leaf and which nodes are whose children, as bytes. That is all a builder decides;
 * everything else of a shape follows from it and the mesh (assemble.c), is worked out again when it is loaded, and cannot be
 * wrong.
 *
 *   inner nodes, breadth-first   a byte: how many children, + 128 when these are leaves
 *   leaves, in tree order        a byte: how many triangles
 *   triangles, leaf by leaf      32 bits each */
#ifndef PN_TREE_DIVISION_H
#define PN_TREE_DIVISION_H

#include "base/bytes.h"
#include "tree/build.h"

/* Deeper divisions are refused: proofs walk nodes of few triangles by recursion. No builder comes near it: the box of some floats can be
 * halved 278 times along an axis (254 exponents and 24 bits) before its midpoints are one, which makes 834 levels. */
#define PN_MOST_LEVELS 1024u

/* Of a shape without pieces. */
void pn_writeDivision(const pnShape *shape, pnByteWriter *w);
/* The division of a mesh by a definition's arity and leafSize; to be freed (pn_buildFree) in any case. PN_ERROR_FORMAT
 * where it is not one. */
pnResult pn_readDivision(pnByteReader *r, const pnTreePlan *def, const pnMesh *mesh, pnBuildResult *out);

#endif
