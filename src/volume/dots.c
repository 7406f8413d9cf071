/* dots.c: triangles of a few cells, four at a time.
 *
 * Where triangles are as small as cells, what costs is not the layers but the triangles: most cover no sample, or one.
 * So nothing here is decided triangle by triangle: four of them lie side by side in lanes, the edge functions of
 * stroke.c are found for every cell of a small square, and only where a bit is left over is there something to write.
 *
 * The same numbers as in stroke.c: edge functions are whole and exact, here in 32 bits; a triangle seen from behind has
 * all its edges turned round, and the depth is the same sum of the same two products. */
#include "volume/stroke.h"

#include <math.h>

/* What depths need, lane by lane: weights of corners 1 and 2 at the first cell and their steps, twice the area, the
 * cell. */
typedef struct FourDots {
  int32_t w1[4], w2[4], sx1[4], sx2[4], sy1[4], sy2[4];
  int32_t area[4], z[4], z1[4], z2[4], x0[4], y0[4], exit[4];
} FourDots;

PN_INLINE void store(int32_t out[4], pnI4 lanes) {
  memcpy(out, &lanes, sizeof lanes);
}

/* Takes the cells out that are beyond the image: those to the right of `width` and above `height`. */
PN_INLINE pnI4 cutAtBorder(pnI4 hits, pnI4 width, pnI4 height, uint32_t side) {
  const int32_t first = (int32_t)(side * side) - 1, columns = side == 2 ? 5 : 0x1111;
  for (int32_t i = 1; i < (int32_t)side; ++i) {
    hits &= ~(((width - i) >> 31) & (columns << ((int32_t)side - 1 - i)));
    hits &= ~(((height - i) >> 31) & (((1 << side) - 1) << (first + 1 - (int32_t)side * (i + 1))));
  }
  return hits;
}

/* Which cells of side x side are inside: of each lane as many bits, that of the first cell the highest. */
PN_INLINE pnI4 scanFour(const pnView *view, const pnPoint *points, const uint32_t *const corners[4], uint32_t side,
                        FourDots *four) {
  const int32_t shift = (int32_t)view->cellShift, half = 1 << (shift - 1), lastCell = (int32_t)view->size - 1;
  const pnI4 zero = {0, 0, 0, 0}, end = zero + lastCell;
  pnI4 x[3], y[3], z[3];
  for (int k = 0; k < 3; ++k) pn_lanesCorners(points, corners, k, &x[k], &y[k], &z[k]);

  // the first cell of the box, and its sample
  pnI4 x0 = (pn_i4Min(pn_i4Min(x[0], x[1]), x[2]) + (half - 1)) >> shift;
  pnI4 y0 = (pn_i4Min(pn_i4Min(y[0], y[1]), y[2]) + (half - 1)) >> shift;
  x0 = pn_i4Max(x0, zero), y0 = pn_i4Max(y0, zero);
  pnI4 px = (x0 << shift) + half, py = (y0 << shift) + half;

  // edge functions there; they add up to twice the area, whose sign says from which side we look
  pnI4 dx[3], dy[3], e[3], sx[3], sy[3];
  for (int k = 0; k < 3; ++k) {
    int from = (k + 1) % 3, to = (k + 2) % 3;
    dx[k] = x[to] - x[from], dy[k] = y[to] - y[from];
    e[k] = dx[k] * (py - y[from]) - dy[k] * (px - x[from]);
  }
  pnI4 area = e[0] + e[1] + e[2], turn = area >> 31;
  for (int k = 0; k < 3; ++k) {
    dx[k] = (dx[k] ^ turn) - turn, dy[k] = (dy[k] ^ turn) - turn, e[k] = (e[k] ^ turn) - turn;
    sx[k] = -dy[k] << shift, sy[k] = dx[k] << shift;
  }
  store(four->w1, e[1]), store(four->w2, e[2]);
  store(four->sx1, sx[1]), store(four->sx2, sx[2]), store(four->sy1, sy[1]), store(four->sy2, sy[2]);
  store(four->area, (area ^ turn) - turn), store(four->exit, 1 + turn);
  store(four->z, z[0]), store(four->z1, z[1] - z[0]), store(four->z2, z[2] - z[0]);
  store(four->x0, x0), store(four->y0, y0);

  // 1 unless the hair's move goes inside; comparing gives -1 for true
  for (int k = 0; k < 3; ++k) e[k] -= 1 + ((dy[k] < 0) | ((dy[k] == 0) & (dx[k] < 0)));
  pnI4 outside = zero;
  for (uint32_t j = 0; j < side; ++j) {
    pnI4 f[3] = {e[0], e[1], e[2]}, row = zero;
    for (uint32_t i = 0; i < side; ++i) {
      // the sign bit is set where a number is negative: on the outer side of an edge
      row |= (pnI4)((pnU4)(f[0] | f[1] | f[2]) >> 31) << (side - 1 - i);
      for (int k = 0; k < 3; ++k) f[k] += sx[k];
    }
    outside |= row << (side * (side - 1 - j));
    for (int k = 0; k < 3; ++k) e[k] += sy[k];
  }
  // cells out of the box are outside anyway, unless it was the image's border that cut it
  pnI4 hits = ~outside & ((1 << side * side) - 1), width = end - x0, height = end - y0;
  if (pn_i4Any((width < (int32_t)side - 1) | (height < (int32_t)side - 1)))
    hits = cutAtBorder(hits, width, height, side);
  return hits;
}

/* Writes the dots of four triangles; hits has 16 bits for each, see scanFour. */
PN_INLINE pnDot *writeDots(const pnView *view, uint32_t stripShift, const FourDots *four, uint64_t hits, uint32_t side,
                           pnDot *out) {
  const uint32_t pitch = pn_shelvesPitch(view->size), rows = (1u << stripShift) - 1;
  double per1[4], per2[4];
  for (int l = 0; l < 4; ++l) {
    // seen edge-on it has no dots, but must not divide by nothing
    double perArea = PN_DEPTH_ONE / (double)PN_MAX(four->area[l], 1);
    per1[l] = (double)four->z1[l] * perArea;
    per2[l] = (double)four->z2[l] * perArea;
  }
  for (; hits; hits &= hits - 1) {
    int32_t n = __builtin_ctzll(hits), l = n >> 4, cell = (int32_t)(side * side) - 1 - (n & 15);
    int32_t i = cell % (int32_t)side, j = cell / (int32_t)side;
    int32_t w1 = four->w1[l] + four->sx1[l] * i + four->sy1[l] * j,
            w2 = four->w2[l] + four->sx2[l] * i + four->sy2[l] * j;
    int64_t z = (int64_t)four->z[l] * (INT64_C(1) << 32) + PN_DEPTH_HALF +
                (int64_t)floor((double)w1 * per1[l] + (double)w2 * per2[l]);
    int32_t depth = PN_MIN(PN_MAX((int32_t)(z >> 32), 0), view->steps);
    uint32_t x = (uint32_t)(four->x0[l] + i), y = (uint32_t)(four->y0[l] + j);
    out->cell = y >> stripShift << PN_STRIP_BITS | ((y & rows) * pitch + x);
    out->key = (uint32_t)depth << 1 | (uint32_t)four->exit[l];
    ++out;
  }
  return out;
}

PN_INLINE pnDot *dotTriangles(const pnView *view, uint32_t stripShift, const pnPoint *points, const uint32_t *triangles,
                              const uint32_t *list, uint32_t count, uint32_t side, pnDot *out) {
  for (uint32_t i = 0; i < count; i += 4) {
    // behind the last its copies, which are not drawn
    uint32_t lanes = PN_MIN(count - i, 4);
    const uint32_t *corners[4];
    for (uint32_t l = 0; l < 4; ++l) corners[l] = triangles + 3 * (size_t)list[i + PN_MIN(l, lanes - 1)];
    FourDots four;
    int32_t masks[4];
    store(masks, scanFour(view, points, corners, side, &four));
    uint64_t hits = 0;
    for (uint32_t l = 0; l < lanes; ++l) hits |= (uint64_t)(uint32_t)masks[l] << (16 * l);
    if (hits) out = writeDots(view, stripShift, &four, hits, side, out);
  }
  return out;
}

pnDot *pn_dotTriangles(const pnView *view, uint32_t stripShift, const pnPoint *points, const uint32_t *triangles,
                       const uint32_t *list, uint32_t count, uint32_t side, pnDot *out) {
  // two loops, unrolled for their sides
  if (side == 2) return dotTriangles(view, stripShift, points, triangles, list, count, 2, out);
  return dotTriangles(view, stripShift, points, triangles, list, count, PN_DOT_SIDE, out);
}
