/* narrow_batch.h: a list of candidates, a width at a time. Included with WIDTH, the words of registers of that width (simd_words.h), the
 * filter MEET(p, hit, unsure), TWICE and LATTICE, the second and the third look, CORNERS(a, b, candidates, p), which loads what it works on, BATCHES, the name, and,
 * where there is a shorter way, KEEP(from, hit, to). Where b is something else than a tree, that is OTHER, and EXACTLY(a, b, candidate, apart) the
 * exact test. The filter is inline: a call for every four candidates costs a twentieth of
 * testing them. */
#ifndef OTHER
#define OTHER pnTree
#define EXACTLY pn_meetExactly
#endif
#ifndef KEEP
#define KEEP keepHits
/* Keeps the hits, without a branch: who hits is nothing a processor could predict. */
PN_INLINE uint32_t keepHits(const pnPair *from, uint32_t hit, pnPair *to) {
  uint32_t kept = 0;
  for (uint32_t lane = 0; lane < WIDTH; ++lane) {
    to[kept] = from[lane];
    kept += hit >> lane & 1;
  }
  return kept;
}
#endif

/* Which of them have a corner of one triangle at a corner of the other? Of lattices that touch nine uncertain pairs of ten have: they meet
 * there, and no sign is needed, which would be zero and cost most. Two floats are equal exactly when their difference is zero,
 * because what is too small for a float is not flushed to it (base/fenv.h). */
PN_INLINE uint32_t shareCorners(F p[6][3]) {
  F least = SET1(1);
  for (int i = 0; i < 3; ++i) {
    for (int j = 3; j < 6; ++j) {
      F x = ABS(SUB(p[i][0], p[j][0])), y = ABS(SUB(p[i][1], p[j][1])), z = ABS(SUB(p[i][2], p[j][2]));
      least = MIN(least, MAX(MAX(x, y), z));
    }
  }
  return (uint32_t)SIGNS(ANDNOT(SET1(-0.0f), GREATER(least, SET1(0))));
}

/* To look at all corners takes as long as asking so many pairs one by one. */
#define FEW_UNSURE 3

/* What the filter cannot decide: those of `unsure` that meet. The filter has moved the corners, and they are loaded anew: to keep them would
 * cost all batches, and most are decided. */
static PN_NOINLINE uint32_t askAgain(const pnTree *a, const OTHER *b, const pnPair *candidates, uint32_t unsure,
                                     pnDoubts *doubts) {
  F p[6][3];
  CORNERS(a, b, candidates, p);
  bool seen = __builtin_popcount(unsure) >= FEW_UNSURE;
  uint32_t hit = seen ? unsure & shareCorners(p) : 0;
  unsure &= ~hit;
  for (int look = 0; look < 2 && unsure != 0; ++look) {
    int32_t *wasted = &doubts->wasted[look];
    if (*wasted >= PN_MOST_WASTED && ++doubts->rested[look] % PN_LOOK_AGAIN != 0) continue;
    const float *columns = (const float *)(const void *)p; /* who copies what lies there */
    uint32_t decided;
    hit |= look == 0 ? TWICE(columns, WIDTH, unsure, &decided) : LATTICE(columns, WIDTH, unsure, &decided);
    unsure &= ~decided;
    *wasted = PN_MIN(PN_MAX(*wasted + 1 - __builtin_popcount(decided), -PN_MOST_SAVED), PN_MOST_WASTED);
  }
  for (; unsure != 0; unsure &= unsure - 1) {
    uint32_t lane = pn_firstLane(unsure);
    hit |= (uint32_t)EXACTLY(a, b, candidates[lane], seen) << lane;
  }
  return hit;
}

size_t BATCHES(const pnTree *a, const OTHER *b, pnPair *candidates, size_t count, pnDoubts *doubts) {
  /* fill the last batch up with a candidate that exists */
  for (size_t i = count; count > 0 && i < count + WIDTH; ++i) candidates[i] = candidates[count - 1];
  size_t kept = 0;
  for (size_t i = 0; i < count; i += WIDTH) {
    uint32_t hit, unsure, here = (uint32_t)PN_MIN(count - i, WIDTH);
    F p[6][3];
    CORNERS(a, b, candidates + i, p);
    MEET(p, &hit, &unsure);
    uint32_t in = (1u << here) - 1;
    unsure &= in;
    if (PN_UNLIKELY(unsure != 0)) {
      hit |= askAgain(a, b, candidates + i, unsure, doubts);
      doubts->count += (uint64_t)__builtin_popcount(unsure);
    }
    kept += KEEP(candidates + i, hit & in, candidates + kept);
  }
  return kept;
}
