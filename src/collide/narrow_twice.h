/* narrow_twice.h: the second look: the filter once more, in doubles, at those that floats cannot decide; and the third: at those that touch. Included
 * with TWICE and LATTICE, their names.
 *
 * Of triangles that are long and thin no determinant is large beside the cube of their length, so that floats leave a third of their pairs
 * undecided. Doubles decide all of these, several at a time. What is exactly in a plane or at an edge they cannot decide either, unless
 * coordinates are of few bits (narrow_lattice.h). Of each look who asks keeps account (narrow_batch.h). */
#include "geom/simd_twice.h"

#define WIDE Twice
#include "geom/simd_words.h"
#define NARROW_NAME meetTwice
#define NARROW_BOUND 2.8e-14
#define NARROW_LEAST 1e-60
#define NARROW_MOST 1e60
#include "collide/narrow_kernel.h"
#include "collide/narrow_lattice.h"

/* The second look at those that are wanted, or the third. One pair alone the exact test decides as soon as the third. */
PN_INLINE uint32_t lookAgain(const float *columns, uint32_t width, uint32_t wanted, uint32_t *outDecided, bool third) {
  uint32_t hits = 0;
  *outDecided = 0;
  for (uint32_t first = 0; first < width; first += PN_TWICE) {
    uint32_t part = wanted >> first & ((1u << PN_TWICE) - 1), hit, unsure;
    if (part == 0 || (third && (part & (part - 1)) == 0)) continue;
    F p[6][3];
    for (uint32_t i = 0; i < 18; ++i) p[i / 3][i % 3] = LOAD(columns + i * width + first);
    if (third) unsure = ~meetOnLattice(p, part, &hit);
    else meetTwice(p, &hit, &unsure);
    hits |= (hit & part) << first;
    *outDecided |= (part & ~unsure) << first;
  }
  return hits;
}

uint32_t TWICE(const float *columns, uint32_t width, uint32_t wanted, uint32_t *outDecided) {
  return lookAgain(columns, width, wanted, outDecided, false);
}

/* Apart from the second: of lattices that is soon given up. */
uint32_t LATTICE(const float *columns, uint32_t width, uint32_t wanted, uint32_t *outDecided) {
  return lookAgain(columns, width, wanted, outDecided, true);
}
