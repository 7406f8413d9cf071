/* build_block_kernel.h: the loops of build_block.h, for WIDE triangles at a time. Included with WIDE and CUT_BLOCK (the name of the
 * function) defined. */
#include "geom/simd.h"
#include "geom/simd_words.h"

#include <float.h>

/* The triangles of a block: rows of their centres along the axes, and of the number that each had at first. What whole registers
 * write behind a list is nothing. */
#define ROWS 4u
#define ROOM (PN_BLOCK_TRIANGLES + WIDE)
typedef struct Block {
  const pnBuilder *b;
  uint32_t *order;                       /* the range */
  uint32_t triangle[PN_BLOCK_TRIANGLES]; /* as it was */
  float row[ROWS][ROOM];
  float after[ROWS][ROOM]; /* those of a part behind the cut */
  float near[ROOM];        /* how far those are that come near the cut */
  int32_t bin[PN_BLOCK_TRIANGLES];
} Block;

/* Where a range is cut: those nearer than `at` come before, and so many of those that are just as far. */
typedef struct Cut {
  float at;
  uint32_t equals;
} Cut;

/* Of at most so many numbers each is compared with all, and where half of it will do with so many; of more, bins are counted. */
#define FEW 32u
#define BINS 64u

/* How many are smaller than each. */
PN_INLINE void countSmaller(const float *v, int32_t *smaller, const uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) smaller[i] = 0;
  for (uint32_t k = 0; k < count; ++k)
    for (uint32_t i = 0; i < count; ++i) smaller[i] += v[k] < v[i];
}

/* Of at most FEW: the number that has `rank` others before it. */
static Cut cutFew(const float *numbers, uint32_t count, uint32_t rank) {
  float v[FEW];
  int32_t smaller[FEW], most = -1;
  const uint32_t whole = count <= FEW / 2 ? FEW / 2 : FEW;
  for (uint32_t i = 0; i < whole; ++i) v[i] = i < count ? numbers[i] : FLT_MAX; /* as far as any, or behind them all */
  /* twice, so that compilers know how often */
  if (whole == FEW) countSmaller(v, smaller, FEW);
  else countSmaller(v, smaller, FEW / 2);
  /* of those with at most so many before them, the farthest */
  for (uint32_t i = 0; i < whole; ++i) most = PN_MAX(most, smaller[i] <= (int32_t)rank ? smaller[i] : -1);
  uint32_t is = 0;
  for (uint32_t i = 0; i < whole; ++i) is = smaller[i] == most ? i : is;
  return (Cut){v[is], rank - (uint32_t)most};
}

/* The same of any number, in any order. */
static Cut cutMany(const float *far, uint32_t count, uint32_t rank) {
  float v[PN_BLOCK_TRIANGLES], other[PN_BLOCK_TRIANGLES];
  uint32_t before = 0;
  memcpy(v, far, count * sizeof *v);
  float at = pn_selectNumber(v, other, count, rank);
  for (uint32_t i = 0; i < count; ++i) before += far[i] < at;
  return (Cut){at, rank - before};
}

#if WIDE == 8
#define PACK(out, in, mask) STORE(out, pn_f8Permute(in, pn_laneList[mask]))
#endif

/* Those of some numbers that are in one of the bins; returns how many. */
static uint32_t findNear(Block *block, const float *far, uint32_t count, float from, float scale, uint32_t bin) {
  uint32_t near = 0, i = 0;
#if WIDE == 8
  for (; i + WIDE <= count; i += WIDE) {
    F one = LOAD(far + i), in = MUL(SUB(one, SET1(from)), SET1(scale));
    unsigned mask = SIGNS(ANDNOT(GREATER(SET1((float)bin + 1), in), GREATER(SET1((float)bin), in)));
    PACK(block->near + near, one, mask);
    near += pn_laneCount(mask);
  }
#endif
  for (; i < count; ++i) {
    block->near[near] = far[i];
    near += (uint32_t)((far[i] - from) * scale) == bin;
  }
  return near;
}

/* The same of numbers from lo to hi: which of many bins it is in, and which of those that are in there. */
static Cut cutBins(Block *block, const float *far, uint32_t count, uint32_t rank, double lo, double hi) {
  double size = hi - lo;
  /* the last of the bins is never left, whatever is rounded: a 64th part of a bin is more than that */
  if (!(size > FLT_MIN * BINS && size < FLT_MAX / 2)) return cutMany(far, count, rank);
  float from = (float)lo, scale = (float)((BINS - 1.0 / BINS) / size);
  uint32_t in[BINS] = {0}, bin = 0, before = 0;
  for (uint32_t i = 0; i < count; ++i) block->bin[i] = (int32_t)((far[i] - from) * scale);
  for (uint32_t i = 0; i < count; ++i) ++in[block->bin[i]];
  while (before + in[bin] <= rank) before += in[bin++];
  if (in[bin] > FEW) return cutMany(far, count, rank);
  uint32_t near = findNear(block, far, count, from, scale, bin);
  return cutFew(block->near, near, rank - before);
}

/* Those before the cut to the front of [first, first + count), the others behind them; in the order they stand in. Each is written to
 * both lists, and stays in one. */
static void partRows(Block *block, uint32_t first, uint32_t count, uint32_t axis, Cut cut) {
  uint32_t before = first, after = 0, equals = 0, i = first, end = first + count;
#if WIDE == 8
  for (; i + WIDE <= end; i += WIDE) {
    F far = LOAD(block->row[axis] + i), at = SET1(cut.at);
    unsigned is = SIGNS(GREATER(at, far));
    if (cut.equals > 0) {
      unsigned equal = ~(is | SIGNS(GREATER(far, at))) & 255u;
      for (; equal && equals < cut.equals; equal &= equal - 1, ++equals) is |= equal & (0u - equal);
    }
    for (uint32_t r = 0; r < ROWS; ++r) {
      F one = LOAD(block->row[r] + i);
      PACK(block->row[r] + before, one, is);
      PACK(block->after[r] + after, one, ~is & 255u);
    }
    before += pn_laneCount(is);
    after += WIDE - pn_laneCount(is);
  }
#endif
  for (; i < end; ++i) {
    float far = block->row[axis][i];
    uint32_t equal = far == cut.at, is = (far < cut.at) | (equal & (equals < cut.equals));
    for (uint32_t r = 0; r < ROWS; ++r) block->row[r][before] = block->after[r][after] = block->row[r][i];
    before += is;
    after += !is;
    equals += equal;
  }
  for (uint32_t r = 0; r < ROWS; ++r) memcpy(block->row[r] + before, block->after[r], after * sizeof(float));
}

#if WIDE == 8
#define HALVES(what, a) pn_f4##what(pn_f8Low(a), pn_f8High(a))
#else
#define HALVES(what, a) (a)
#endif

/* From where to where some numbers are. */
PN_INLINE void boundRow(const float *row, uint32_t count, float *outLo, float *outHi) {
  if (count < WIDE) {
    *outLo = *outHi = row[0];
    for (uint32_t i = 1; i < count; ++i) {
      *outLo = PN_MIN(*outLo, row[i]);
      *outHi = PN_MAX(*outHi, row[i]);
    }
    return;
  }
  F lo = LOAD(row + count - WIDE), hi = lo; /* and the rest from the front: some may be seen twice */
  for (uint32_t i = 0; i + WIDE < count; i += WIDE) {
    F one = LOAD(row + i);
    lo = MIN(lo, one);
    hi = MAX(hi, one);
  }
  float l[4], h[4];
  pn_f4Store(l, HALVES(Min, lo));
  pn_f4Store(h, HALVES(Max, hi));
  *outLo = PN_MIN(PN_MIN(l[0], l[1]), PN_MIN(l[2], l[3]));
  *outHi = PN_MAX(PN_MAX(h[0], h[1]), PN_MAX(h[2], h[3]));
}

/* Cuts [first, first + count) into parts of `unit`, and on down to leaves. */
static void cutRange(Block *block, uint32_t first, uint32_t count, uint32_t unit) {
  if (count <= block->b->leafSize) return;
  if (count <= unit) unit = pn_unitOf(block->b, count);
  float lo[3], hi[3];
  double size[3];
  for (int k = 0; k < 3; ++k) {
    boundRow(block->row[k] + first, count, &lo[k], &hi[k]);
    size[k] = (double)hi[k] - lo[k];
  }
  uint32_t axis = size[0] >= size[1] && size[0] >= size[2] ? 0 : size[1] >= size[2] ? 1 : 2;
  const float *far = block->row[axis] + first;
  uint32_t left = pn_leftOf(count, unit);
  partRows(block, first, count, axis,
           count <= FEW ? cutFew(far, count, left) : cutBins(block, far, count, left, lo[axis], hi[axis]));
  cutRange(block, first, left, unit);
  cutRange(block, first + left, count - left, unit);
}

void CUT_BLOCK(const pnBuilder *b, uint32_t first, uint32_t count) {
  Block block;
  block.b = b;
  block.order = b->order + first;
  for (uint32_t i = 0; i < count; ++i) {
    block.triangle[i] = block.order[i];
    for (uint32_t k = 0; k < 3; ++k) block.row[k][i] = b->centres[3 * (size_t)block.triangle[i] + k];
    memcpy(&block.row[3][i], &i, sizeof i);
  }
  cutRange(&block, 0, count, count);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t was;
    memcpy(&was, &block.row[3][i], sizeof was);
    block.order[i] = block.triangle[was];
  }
}
