/* slant_kernel.h: the loops of slant.h. Included with LOOPS (the name of the table), LEAF_WORTH (its number) and SLANTS_APART(p, q) (is
 * there a direction that has something between two records?) defined. */

/* The intervals of one triangle. */
PN_INLINE void boundTriangle(const pnTree *tree, uint32_t slot, float *out) {
  const float *v[3];
  pnF4 lo[2], hi[2];
  pn_slotCorners(tree, slot, v);
  pn_f4EdgeSums(pn_f4Load(v[0]), &lo[0], &lo[1]);
  hi[0] = lo[0];
  hi[1] = lo[1];
  for (int k = 1; k < 3; ++k) {
    pnF4 sum[2];
    pn_f4EdgeSums(pn_f4Load(v[k]), &sum[0], &sum[1]);
    for (int h = 0; h < 2; ++h) {
      lo[h] = pn_f4Min(lo[h], sum[h]);
      hi[h] = pn_f4Max(hi[h], sum[h]);
    }
  }
  for (int h = 0; h < 2; ++h) {
    pn_f4Store(out + 4 * h, lo[h]);
    pn_f4Store(out + 8 + 4 * h, hi[h]);
  }
}

static void fillRecords(const pnTree *tree, uint32_t leaf, float *records, float *outHull) {
  uint32_t count = tree->shape->count[tree->shape->innerCount + leaf];
  pnF4 hull[4] = {pn_f4Set1(0), pn_f4Set1(0), pn_f4Set1(0), pn_f4Set1(0)};
  for (uint32_t j = 0; j < count; ++j) {
    float *out = records + PN_SLANT_FLOATS * j;
    boundTriangle(tree, leaf * PN_LANES + j, out);
    for (int h = 0; h < 2; ++h) {
      pnF4 lo = pn_f4Load(out + 4 * h), hi = pn_f4Load(out + 8 + 4 * h);
      hull[h] = j ? pn_f4Min(hull[h], lo) : lo;
      hull[2 + h] = j ? pn_f4Max(hull[2 + h], hi) : hi;
    }
  }
  for (int h = 0; h < 4; ++h) pn_f4Store(outHull + 4 * h, hull[h]);
}

/* Who is kept is nothing a processor could predict: no branch. */
static size_t keepLeaves(const float *a, const float *b, uint32_t firstA, uint32_t firstB, pnPair *pairs,
                         size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    pnPair p = pairs[i];
    pairs[kept] = p;
    kept += !SLANTS_APART(a + (size_t)(p.a - firstA) * PN_SLANT_FLOATS, b + (size_t)(p.b - firstB) * PN_SLANT_FLOATS);
  }
  return kept;
}

static size_t keepSlots(const float *a, const float *b, pnPair *pairs, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    pnPair p = pairs[i];
    pairs[kept] = p;
    kept += !SLANTS_APART(a + (size_t)p.a * PN_SLANT_FLOATS, b + (size_t)p.b * PN_SLANT_FLOATS);
  }
  return kept;
}

const pnSlantLoops LOOPS = {fillRecords, keepLeaves, keepSlots, LEAF_WORTH};
