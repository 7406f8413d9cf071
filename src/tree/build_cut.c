/* build_cut.c: where a range of triangles is cut in two. Of several directions the one is taken that leaves the smallest boxes: a patch
 * that lies askew is cut along its own sides, and leaves come out more compact. Which triangles come first depends on where they are
 * and on their numbers, and neither on the order they stand in nor on who else is at work: trees are the same on any number
 * of threads. */
#include "tree/build.h"

#include "geom/simd_vec.h"

#include <float.h>

/* ---------------------------------------------------------------- selecting */

/* Directions to cut across: the axes, and the diagonals of two. */
#define DIRECTIONS 9u
static const float s_direction[DIRECTIONS][3] = {{1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0}, {1, -1, 0},
                                                 {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1}};

/* How far along a direction a centre is; sums by halves, so that nothing overflows. */
PN_INLINE float along(uint32_t direction, const float *centre) {
  if (direction < 3) return centre[direction];
  const float *to = s_direction[direction];
  return 0.5f * to[0] * centre[0] + 0.5f * to[1] * centre[1] + 0.5f * to[2] * centre[2];
}

/* From so many numbers on, a pivot is worth a look at more than three of them; and of few each is compared with all. */
#define MANY 256u
#define FEW 32u
#define FEW_PICKS 3u
#define MOST_PICKS 15u

/* A good pivot: of some numbers, picked without regard to any pattern of the mesh, the one that stands among them as `rank` does
 * among all. */
static float pickPivot(const float *v, uint32_t count, uint32_t rank, uint32_t *ioPick) {
  float picked[MOST_PICKS];
  uint32_t picks = count < MANY ? FEW_PICKS : MOST_PICKS;
  for (uint32_t i = 0; i < picks; ++i) {
    *ioPick = *ioPick * 1664525u + 1013904223u;
    float one = v[(uint64_t)*ioPick * count >> 32];
    uint32_t k = i;
    for (; k > 0 && picked[k - 1] > one; --k) picked[k] = picked[k - 1];
    picked[k] = one;
  }
  return picked[(uint64_t)rank * picks / count];
}

/* The number that has `rank` others before it in order, of at most FEW, behind which there is room for as many. */
static float selectOfFew(float *v, uint32_t count, uint32_t rank) {
  for (uint32_t i = count; i < FEW; ++i) v[i] = FLT_MAX; /* whole vectors */
  for (uint32_t i = 0;; ++i) {
    int32_t below = 0, equal = 0;
    for (uint32_t k = 0; k < FEW; ++k) {
      below += v[k] < v[i];
      equal += v[k] == v[i];
    }
    if ((uint32_t)below <= rank && rank < (uint32_t)(below + equal)) return v[i];
  }
}

float pn_selectNumber(float *v, float *other, uint32_t count, uint32_t rank) {
  uint32_t pick = count;
  while (count > FEW) {
    float pivot = pickPivot(v, count, rank, &pick);
    /* those before the pivot stay, the rest goes to the other list. Each is written to both, and stays in one: no branch, because
     * nobody can guess which side a triangle is on, and nothing is read that was written just before */
    uint32_t below = 0, rest = 0;
    for (uint32_t i = 0; i < count; ++i) {
      float one = v[i];
      v[below] = other[rest] = one;
      below += one < pivot;
      rest += !(one < pivot);
    }
    if (below == 0) { /* it is the least: without its equals */
      for (uint32_t i = rest = 0; i < count; ++i) {
        float one = other[i];
        other[rest] = one;
        rest += one > pivot;
      }
      below = count - rest;
      if (rank < below) return pivot;
    }
    if (rank < below) {
      count = below;
    } else {
      float *swap = v;
      v = other;
      other = swap;
      rank -= below;
      count = rest;
    }
  }
  return selectOfFew(v, count, rank);
}

/* Puts those triangles of order[first ... first+count) first whose centres are before `cut` along a direction; returns how many. */
static uint32_t partAt(pnBuilder *b, uint32_t first, uint32_t count, uint32_t direction, float cut) {
  uint32_t *v = b->order + first, *other = b->scratch + first, before = 0, rest = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t t = v[i];
    bool is = along(direction, b->centres + 3 * (size_t)t) < cut;
    v[before] = other[rest] = t;
    before += is;
    rest += !is;
  }
  memcpy(v + before, other, rest * sizeof *v);
  return before;
}

/* Those that are as far as `cut` before those that are farther, in the order of their numbers, so that the result does not depend on
 * the path; all are at least so far. */
static void partEquals(pnBuilder *b, uint32_t first, uint32_t count, uint32_t direction, float cut) {
  uint32_t equals = 0, rest = 0, *v = b->order + first, *other = b->scratch + first;
  uint64_t *keys = b->keys + 2 * (size_t)first;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t t = v[i];
    bool is = !(along(direction, b->centres + 3 * (size_t)t) > cut);
    keys[equals] = other[rest] = t;
    equals += is;
    rest += !is;
  }
  memcpy(v + equals, other, rest * sizeof *v);
  pn_sortU64(keys, keys + equals, equals);
  for (uint32_t i = 0; i < equals; ++i) v[i] = (uint32_t)keys[i];
}

/* Puts the `left` first by centre along a direction (ties by triangle number) first in order[first ... first+count). `cut` is how far
 * the one after them is. */
static void partByCentre(pnBuilder *b, uint32_t first, uint32_t count, uint32_t left, uint32_t direction, float cut) {
  uint32_t before = partAt(b, first, count, direction, cut);
  if (before < left) partEquals(b, first + before, count - before, direction, cut);
}

/* ---------------------------------------------------------------- choosing */

/* Diagonals are longer than axes by a factor of 1.414. */
#define DIAGONAL 0.7071

/* The directions as three vectors hold them: the axes, the sums x+y x+z y+z and the differences. */
static const uint8_t s_place[DIRECTIONS] = {0, 1, 2, 4, 8, 5, 9, 6, 10};

/* How far along every direction a triangle's centre is, by halves. */
PN_INLINE void project(const pnBuilder *b, uint32_t triangle, pnF4 out[3]) {
  out[0] = pn_f4Mul(pn_f4Set1(0.5f), pn_f4Load(b->centres + 3 * (size_t)triangle));
  pn_f4EdgeSums(out[0], &out[1], &out[2]);
}

/* How far the centres of a range spread along the axes. */
static void spreadsOfAxes(const pnBuilder *b, const uint32_t *triangles, uint32_t count, double out[3]) {
  pnF4 lo = pn_f4Set1(FLT_MAX), hi = pn_f4Set1(-FLT_MAX);
  for (uint32_t i = 0; i < count; ++i) {
    pnF4 p = pn_f4Load(b->centres + 3 * (size_t)triangles[i]);
    lo = pn_f4Min(lo, p);
    hi = pn_f4Max(hi, p);
  }
  float from[4], to[4];
  pn_f4Store(from, lo);
  pn_f4Store(to, hi);
  for (int k = 0; k < 3; ++k) out[k] = (double)to[k] - from[k];
}

/* The same along all directions, in halves of the length of a direction, and from where on, as `project` has it. */
static void spreads(const pnBuilder *b, const uint32_t *triangles, uint32_t count, double out[DIRECTIONS],
                    float from[12]) {
  pnF4 lo[3], hi[3];
  for (int k = 0; k < 3; ++k) {
    lo[k] = pn_f4Set1(FLT_MAX);
    hi[k] = pn_f4Set1(-FLT_MAX);
  }
  for (uint32_t i = 0; i < count; ++i) {
    pnF4 p[3];
    project(b, triangles[i], p);
    for (int k = 0; k < 3; ++k) {
      lo[k] = pn_f4Min(lo[k], p[k]);
      hi[k] = pn_f4Max(hi[k], p[k]);
    }
  }
  float to[12];
  for (int k = 0; k < 3; ++k) {
    pn_f4Store(from + 4 * k, lo[k]);
    pn_f4Store(to + 4 * k, hi[k]);
  }
  for (uint32_t d = 0; d < DIRECTIONS; ++d)
    out[d] = ((double)to[s_place[d]] - from[s_place[d]]) * (d < 3 ? 1 : DIAGONAL);
}

/* Directions that are tried for a range, of those with the largest spread. All nine: 1 % fewer box tests; three: 4 % more. */
#define TRIES 4u

/* Directions to try: where `project` has them, and how numbers along them become bins. */
typedef struct Cuts {
  uint32_t place[TRIES];
  float from[TRIES], scale[TRIES];
} Cuts;

/* Bins along each of them, in which cuts that are only looked at are looked for. */
#define BINS 64u

/* The bins of the triangles of a range, one for each direction, and before which of these about `left` of them are. */
static void findBins(const pnBuilder *b, const uint32_t *triangles, uint32_t count, uint32_t left, const Cuts *cuts,
                     uint8_t bin[][TRIES], uint32_t outBin[TRIES]) {
  uint16_t in[TRIES][BINS] = {{0}};
  for (uint32_t i = 0; i < count; ++i) {
    float all[12];
    pnF4 p[3];
    project(b, triangles[i], p);
    for (int k = 0; k < 3; ++k) pn_f4Store(all + 4 * k, p[k]);
    for (uint32_t d = 0; d < TRIES; ++d) {
      bin[i][d] = (uint8_t)((all[cuts->place[d]] - cuts->from[d]) * cuts->scale[d]);
      ++in[d][bin[i][d]];
    }
  }
  for (uint32_t d = 0; d < TRIES; ++d) {
    uint32_t k = 0, before = 0;
    /* the end that is nearer; after the last bin when `left` is nearly all of them */
    while (k < BINS && before + in[d][k] / 2u < left) before += in[d][k++];
    outBin[d] = k;
  }
}

/* Half the girth of a box times the triangles in it, in double: floats may overflow. */
static double weigh(const float *box, uint32_t count) {
  return count == 0 ? 0 : count * (((double)box[4] - box[0]) + ((double)box[5] - box[1]) + ((double)box[6] - box[2]));
}

/* Which of some directions leaves the smallest boxes? Each counts as often as it has triangles. The cuts that are compared are those
 * between bins, in one pass for all directions: only the one that is taken is looked for exactly. */
static uint32_t chooseDirection(const pnBuilder *b, const uint32_t *triangles, uint32_t count, uint32_t left,
                                const Cuts *cuts) {
  float box[TRIES][2][PN_BUILD_BOX];
  uint8_t bin[PN_ASKEW_BELOW][TRIES];
  uint32_t cut[TRIES], before[TRIES] = {0}, best = 0;
  findBins(b, triangles, count, left, cuts, bin, cut);
  for (uint32_t i = 0; i < 2 * TRIES; ++i) {
    pn_f4Store(box[i / 2][i % 2], pn_f4Set1(FLT_MAX));
    pn_f4Store(box[i / 2][i % 2] + 4, pn_f4Set1(-FLT_MAX));
  }
  for (uint32_t i = 0; i < count; ++i) {
    const float *one = b->boxes + PN_BUILD_BOX * (size_t)triangles[i];
    pnF4 lo = pn_f4Load(one), hi = pn_f4Load(one + 4);
    for (uint32_t d = 0; d < TRIES; ++d) {
      uint32_t is = bin[i][d] < cut[d];
      float *into = box[d][is];
      pn_f4Store(into, pn_f4Min(pn_f4Load(into), lo));
      pn_f4Store(into + 4, pn_f4Max(pn_f4Load(into + 4), hi));
      before[d] += is;
    }
  }
  double least = DBL_MAX;
  for (uint32_t d = 0; d < TRIES; ++d) {
    double cost = weigh(box[d][1], before[d]) + weigh(box[d][0], count - before[d]);
    best = cost < least ? d : best;
    least = PN_MIN(cost, least);
  }
  return best;
}

/* Where a range of any length is cut along one direction. */
static float findCut(const pnBuilder *b, uint32_t first, uint32_t count, uint32_t left, uint32_t direction) {
  float few[FEW], *far = count <= FEW ? few : (float *)(void *)(b->keys + 2 * (size_t)first);
  for (uint32_t i = 0; i < count; ++i) far[i] = along(direction, b->centres + 3 * (size_t)b->order[first + i]);
  return pn_selectNumber(far, far + count, count, left);
}

/* The directions with the largest spread of all; false when floats would overflow. */
static bool chooseCuts(double spread[DIRECTIONS], const float from[12], uint32_t direction[TRIES], Cuts *cuts) {
  bool ok = true;
  for (uint32_t i = 0; i < TRIES; ++i) {
    uint32_t most = 0;
    for (uint32_t d = 1; d < DIRECTIONS; ++d) most = spread[d] > spread[most] ? d : most;
    direction[i] = most;
    cuts->place[i] = s_place[most];
    cuts->from[i] = from[s_place[most]];
    /* the last of the bins is never left, whatever is rounded: a 64th part of a bin is more than that */
    double size = most < 3 ? spread[most] : spread[most] / DIAGONAL;
    cuts->scale[i] = size > FLT_MIN * BINS ? (float)((BINS - 1.0 / BINS) / size) : 0;
    ok = ok && size < FLT_MAX / 2;
    spread[most] = -1;
  }
  return ok;
}

static uint32_t longestAxis(const pnBuilder *b, const uint32_t *triangles, uint32_t count) {
  double spread[3];
  spreadsOfAxes(b, triangles, count, spread);
  return spread[0] >= spread[1] && spread[0] >= spread[2] ? 0 : spread[1] >= spread[2] ? 1 : 2;
}

/* Measured: 2 to 10 % fewer box tests than with the longest axis, and 2 to 9 % with the best of the axes; the area and the diagonal of
 * the boxes as a measure do the same or less. */
void pn_cutBest(pnBuilder *b, uint32_t first, uint32_t count, uint32_t left) {
  const uint32_t *triangles = b->order + first;
  uint32_t best;
  if (b->quick || count > PN_ASKEW_BELOW) {
    best = longestAxis(b, triangles, count);
  } else {
    double spread[DIRECTIONS];
    float from[12];
    Cuts cuts;
    uint32_t direction[TRIES];
    spreads(b, triangles, count, spread, from);
    bool ok = chooseCuts(spread, from, direction, &cuts);
    best = direction[ok ? chooseDirection(b, triangles, count, left, &cuts) : 0];
  }
  partByCentre(b, first, count, left, best, findCut(b, first, count, left, best));
}
