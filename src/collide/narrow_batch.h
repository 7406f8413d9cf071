/* narrow_batch.h: a list of candidates, a width at a time. Included with WIDTH, the filter NARROW(a, b, candidates, hit, unsure), BATCHES,
 * the name, and, where there is a shorter way, KEEP(from, hit, to). The filter is inline: a call for every four candidates costs a
 * twentieth of testing them. */
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

size_t BATCHES(const pnTree *a, const pnTree *b, pnPair *candidates, size_t count, uint64_t *uncertain) {
  /* fill the last batch up with a candidate that exists */
  for (size_t i = count; count > 0 && i < count + WIDTH; ++i) candidates[i] = candidates[count - 1];
  size_t kept = 0;
  for (size_t i = 0; i < count; i += WIDTH) {
    uint32_t hit, unsure, here = (uint32_t)PN_MIN(count - i, WIDTH);
    NARROW(a, b, candidates + i, &hit, &unsure);
    uint32_t in = (1u << here) - 1;
    for (unsure &= in; PN_UNLIKELY(unsure != 0); unsure &= unsure - 1) {
      uint32_t lane = pn_firstLane(unsure);
      hit |= (uint32_t)pn_meetExactly(a, b, candidates[i + lane]) << lane;
      ++*uncertain;
    }
    kept += KEEP(candidates + i, hit & in, candidates + kept);
  }
  return kept;
}
