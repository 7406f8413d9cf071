/* soup_cut.c: cuts one primitive of a soup along a plane.
 *
 * The side of a corner is the sign of n.x * x + n.y * y + n.z * z - offset. Products of floats are exact in double, so this is
 * a sum of four doubles, and its sign is found exactly by adding them as an expansion (geom/expansion.h). A float product
 * is at least 2^-298 and at most 2^256: nothing leaves the range of double.
 *
 * Triangles with corners on both sides:
 *
 *        b                 a alone on its side:  a p q | p b c, p c q     (p on ab, q on ca)
 *       /|\  p, q          a on the plane:       a b p | a p c            (p on bc)
 *      / | \
 *
 * with the corners in the order of the original, so that the pieces face the same way. Corners hand their names on to the pieces, and
 * new ones on an edge between names have one that all have who share the edge (soup_name.c). */
#include "geom/expansion.h"

#include "base/fenv.h"
#include "mesh/soup.h"

#include <math.h>
#include <string.h>

/* -1, 0, 1: below, on, above. */
static int sideOf(const pnPlane *plane, const float *p) {
  double terms[4] = {(double)plane->normal.x * p[0], (double)plane->normal.y * p[1], (double)plane->normal.z * p[2],
                     -(double)plane->offset};
  double sum[4], next[4];
  int count = 1;
  sum[0] = terms[0];
  for (int i = 1; i < 4; ++i) {
    count = pn_expansionSum(count, sum, 1, &terms[i], next);
    memcpy(sum, next, sizeof sum);
  }
  return pn_expansionSign(count, sum);
}

/* The point of edge pq on the plane, p and q strictly on different sides. Always computed from the end that comes first in
 * the order of coordinates, so that the bits do not depend on who asks; kept within the edge's box. There is one copy of this
 * code: whatever a compiler makes of its sums, triangles that share an edge get the same. */
static PN_NOINLINE void crossing(const pnPlane *plane, const float *p, const float *q, float out[3]) {
  bool turn = p[0] != q[0] ? p[0] > q[0] : p[1] != q[1] ? p[1] > q[1] : p[2] > q[2];
  const float *a = turn ? q : p, *b = turn ? p : q;
  double n[3] = {plane->normal.x, plane->normal.y, plane->normal.z}, da = -(double)plane->offset, db = da;
  for (int k = 0; k < 3; ++k) {
    da += n[k] * a[k];
    db += n[k] * b[k];
  }
  // the signs differ exactly; rounded they may agree or vanish, then the middle is as good as any point
  double t = da != db ? da / (da - db) : 0.5;
  t = fmin(fmax(t, 0.0), 1.0);
  for (int k = 0; k < 3; ++k) {
    double x = (1 - t) * a[k] + t * b[k];
    out[k] = (float)fmin(fmax(x, PN_MIN(a[k], b[k])), PN_MAX(a[k], b[k]));
  }
}

/* A corner, and the name of its vertex (PN_NONE: none). */
typedef struct Corner {
  float at[3];
  uint32_t name;
} Corner;

/* Triangles or segments to be made. */
typedef struct Pieces {
  Corner above[2][3], below[2][3];
  uint32_t aboveCount, belowCount;
} Pieces;

static void addPiece(Pieces *pieces, int side, const Corner *a, const Corner *b, const Corner *c) {
  Corner *to = side > 0 ? pieces->above[pieces->aboveCount++] : pieces->below[pieces->belowCount++];
  to[0] = *a, to[1] = *b, to[2] = *c;
}

/* The new corner of an edge; a vertex with a name when the ends have some. */
static Corner crossEdge(pnSoup *soup, const pnPlane *plane, const Corner *p, const Corner *q) {
  Corner c = {.name = PN_NONE};
  crossing(plane, p->at, q->at, c.at);
  if (p->name != PN_NONE) c.name = pn_nameOfCut(soup, p->name, q->name, c.at);
  return c;
}

static void cutTriangle(pnSoup *soup, const pnPlane *plane, const Corner v[3], const int side[3], Pieces *out) {
  for (int i = 0; i < 3; ++i) {
    const Corner *a = &v[i], *b = &v[(i + 1) % 3], *c = &v[(i + 2) % 3];
    int sa = side[i], sb = side[(i + 1) % 3], sc = side[(i + 2) % 3];
    if (sa == 0 && sb * sc < 0) {
      // through a corner and the edge facing it
      Corner p = crossEdge(soup, plane, b, c);
      addPiece(out, sb, a, b, &p);
      addPiece(out, sc, a, &p, c);
    } else if (sa * sb < 0 && sa * sc < 0) {
      // a alone on its side: a triangle and a quadrilateral
      Corner p = crossEdge(soup, plane, a, b), q = crossEdge(soup, plane, c, a);
      addPiece(out, sa, a, &p, &q);
      addPiece(out, sb, &p, b, c);
      addPiece(out, sb, &p, c, &q);
    }
  }
}

/* The corners of a primitive. Where one has a name all get one, so that the pieces know each other. */
static pnResult takeCorners(pnSoup *soup, uint32_t place, uint32_t corners, const float *v, Corner out[3]) {
  uint32_t names[3];
  pn_readNames(soup, place, names);
  bool named = names[0] != PN_NONE || names[1] != PN_NONE || names[2] != PN_NONE;
  pnResult result = named ? pn_reserveCut(soup) : PN_OK;
  for (uint32_t k = 0; result == PN_OK && k < corners; ++k) {
    out[k].name = named && names[k] == PN_NONE ? soup->nameEnd++ : names[k];
    memcpy(out[k].at, v + 3 * k, 3 * sizeof(float));
  }
  return result;
}

/* Adds the pieces of one side after those that are there. */
static void listPieces(Corner pieces[2][3], uint32_t count, uint32_t corners, float *positions, uint32_t *names,
                       uint32_t *ioCount) {
  for (uint32_t i = 0; i < count; ++i, ++*ioCount)
    for (uint32_t k = 0; k < corners; ++k) {
      memcpy(positions + 3 * (*ioCount * corners + k), pieces[i][k].at, 3 * sizeof(float));
      names[3 * *ioCount + k] = pieces[i][k].name;
    }
}

/* A primitive that is not cut, on its side. */
static void listWhole(pnPrimitiveId id, const int side[3], uint32_t corners, pnCut *outCut) {
  bool below = false;
  for (uint32_t k = 0; k < corners; ++k) below = below || side[k] < 0;
  if (below) outCut->below[outCut->belowCount++] = id;
  else outCut->above[outCut->aboveCount++] = id;
}

pnResult pnSoup_Cut(pnSoup *soup, pnPrimitiveId id, const pnPlane *plane, pnCut *outCut) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(plane && outCut);
  *outCut = (pnCut){0};
  float v[9];
  uint32_t corners = pnSoup_GetCorners(soup, id, v);
  if (!corners)
    return pn_fail(PN_ERROR_ID, "soup '%s': cut: place %d, generation %u is no living primitive", soup->mesh.name,
                   (int)id.index1 - 1, id.generation);
  float numbers[4] = {plane->normal.x, plane->normal.y, plane->normal.z, plane->offset};
  size_t bad;
  if (!pn_allFinite(numbers, 4, &bad))
    return pn_fail(PN_ERROR_NUMBER, "soup '%s': cut: the plane is NaN or infinite", soup->mesh.name);
  if (numbers[0] == 0 && numbers[1] == 0 && numbers[2] == 0)
    return pn_fail(PN_ERROR_ARGUMENT, "soup '%s': cut: the normal of the plane is zero", soup->mesh.name);

  // sides first; nothing to do unless there are corners strictly on both
  int side[3] = {0, 0, 0};
  bool above = false, below = false;
  for (uint32_t k = 0; k < corners; ++k) {
    side[k] = sideOf(plane, v + 3 * k);
    above = above || side[k] > 0;
    below = below || side[k] < 0;
  }
  if (!above || !below) {
    listWhole(id, side, corners, outCut);
    return PN_OK;
  }
  Corner corner[3];
  pnResult result = takeCorners(soup, id.index1 - 1, corners, v, corner);
  if (result != PN_OK) return result;
  Pieces pieces = {.aboveCount = 0};
  if (corners == 3) {
    cutTriangle(soup, plane, corner, side, &pieces);
  } else {
    Corner p = crossEdge(soup, plane, &corner[0], &corner[1]);
    addPiece(&pieces, side[0], &corner[0], &p, &p);
    addPiece(&pieces, side[1], &p, &corner[1], &corner[1]);
  }

  // the pieces come first: when there is no memory for them the primitive is still whole
  float all[4 * 9];
  uint32_t names[4 * 3], count = 0;
  listPieces(pieces.above, pieces.aboveCount, corners, all, names, &count);
  listPieces(pieces.below, pieces.belowCount, corners, all, names, &count);
  pnPrimitiveId ids[4];
  result = pnSoup_Add(soup, (pnPrimitiveKind)corners, all, count, ids);
  if (result != PN_OK) return result;
  for (uint32_t i = 0; soup->names && i < count; ++i) pn_writeNames(soup, ids[i].index1 - 1, names + 3 * i);
  memcpy(outCut->above, ids, pieces.aboveCount * sizeof *ids);
  memcpy(outCut->below, ids + pieces.aboveCount, pieces.belowCount * sizeof *ids);
  outCut->aboveCount = pieces.aboveCount;
  outCut->belowCount = pieces.belowCount;
  return pnSoup_Remove(soup, &id, 1);
}
