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
 * with the corners in the order of the original, so that the pieces face the same way. */
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

/* Triangles or segments to be made, 9 or 6 floats each. */
typedef struct Pieces {
  float above[2][9], below[2][9];
  uint32_t aboveCount, belowCount;
} Pieces;

static void addPiece(Pieces *pieces, int side, const float *a, const float *b, const float *c) {
  float *to = side > 0 ? pieces->above[pieces->aboveCount++] : pieces->below[pieces->belowCount++];
  memcpy(to, a, 3 * sizeof(float));
  memcpy(to + 3, b, 3 * sizeof(float));
  if (c) memcpy(to + 6, c, 3 * sizeof(float));
}

static void cutTriangle(const pnPlane *plane, const float *v, const int side[3], Pieces *out) {
  for (int i = 0; i < 3; ++i) {
    const float *a = v + 3 * i, *b = v + 3 * ((i + 1) % 3), *c = v + 3 * ((i + 2) % 3);
    int sa = side[i], sb = side[(i + 1) % 3], sc = side[(i + 2) % 3];
    float p[3], q[3];
    if (sa == 0 && sb * sc < 0) {
      // through a corner and the edge facing it
      crossing(plane, b, c, p);
      addPiece(out, sb, a, b, p);
      addPiece(out, sc, a, p, c);
    } else if (sa * sb < 0 && sa * sc < 0) {
      // a alone on its side: a triangle and a quadrilateral
      crossing(plane, a, b, p);
      crossing(plane, c, a, q);
      addPiece(out, sa, a, p, q);
      addPiece(out, sb, p, b, c);
      addPiece(out, sb, p, c, q);
    }
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
  Pieces pieces = {.aboveCount = 0};
  if (corners == 3) {
    cutTriangle(plane, v, side, &pieces);
  } else {
    float p[3];
    crossing(plane, v, v + 3, p);
    addPiece(&pieces, side[0], v, p, NULL);
    addPiece(&pieces, side[1], p, v + 3, NULL);
  }

  // the pieces come first: when there is no memory for them the primitive is still whole
  float all[4 * 9];
  uint32_t count = 0;
  for (uint32_t i = 0; i < pieces.aboveCount; ++i) memcpy(all + 3 * corners * count++, pieces.above[i], 12 * corners);
  for (uint32_t i = 0; i < pieces.belowCount; ++i) memcpy(all + 3 * corners * count++, pieces.below[i], 12 * corners);
  pnPrimitiveId ids[4];
  pnResult result = pnSoup_Add(soup, (pnPrimitiveKind)corners, all, count, ids);
  if (result != PN_OK) return result;
  memcpy(outCut->above, ids, pieces.aboveCount * sizeof *ids);
  memcpy(outCut->below, ids + pieces.aboveCount, pieces.belowCount * sizeof *ids);
  outCut->aboveCount = pieces.aboveCount;
  outCut->belowCount = pieces.belowCount;
  return pnSoup_Remove(soup, &id, 1);
}
