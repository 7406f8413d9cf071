/* peg_vbmi.c: the loops of peg.h eight records at a time. Called only on machines that have AVX-512 with VBMI (peg.c); nothing elsewhere.
 *
 * What a comparison says is a mask, which takes long to come out of its register. So masks are written to memory, a byte a box, and read
 * again 64 at a time when they are there. */
#include "collide/peg.h"

#ifdef PN_SIMD_PEG
#define FIT pn_fitPegsVbmi
#define LIST_LEAVES listLeaves64
#define WRITE_ROWS writeRows64
#include "collide/peg_kernel.h"

/* A byte for each peg: zero where it fits the hole. */
static void holdAgainst(const uint8_t *hole, const pnPegs *pegs, uint8_t above[PN_SMALL_TRIANGLES]) {
  for (uint32_t k = 0; k < pegs->count; k += 8) {
    uint64_t bytes = pn_abovePegs(pegs->peg[k], hole);
    memcpy(above + k, &bytes, sizeof bytes);
  }
}

static void listLeaves64(const Trial *t, const pnPair *leaves, size_t count, PegRows *rows) {
  uint8_t above[LEAVES][PN_SMALL_TRIANGLES];
  uint32_t n = 0, pegCount = t->pegs->count;
  for (size_t i = 0; i < count; ++i) holdAgainst(t->cutting->leafHole[leaves[i].a], t->pegs, above[i]);
  for (size_t i = 0; i < count; ++i) {
    for (uint32_t first = 0; first < pegCount; first += 64) {
      uint64_t there = UINT64_MAX >> (64 - PN_MIN(pegCount - first, 64u));
      uint64_t fit = pn_zeroBytes(above[i] + first) & there;
      pn_listBits(fit, first, rows->peg + n);
      memset(rows->leaf + n, (int)leaves[i].a, BEYOND);
      n += (uint32_t)__builtin_popcountll(fit);
    }
  }
  rows->count = n;
}

/* So many rows at a time. */
#define PART 128u

static size_t writeRows64(const Trial *t, const PegRows *rows, pnPair *out) {
  uint64_t above[PART + 8], base[PART + 8]; /* a byte a triangle; the pair of the first of eight triangles */
  size_t n = 0;
  for (uint32_t from = 0; from < rows->count; from += PART) {
    uint32_t count = PN_MIN(rows->count - from, PART);
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t peg = rows->peg[from + i], leaf = rows->leaf[from + i];
      base[i] = (uint64_t)t->names[peg] << 32 | slotOf(t, leaf);
      above[i] = pn_aboveHoles(t->pegs->peg[peg], t->cutting->hole[leaf][0]);
    }
    for (uint32_t i = count; i < count + 8; ++i) above[i] = UINT64_MAX; /* fits nothing */
    for (uint32_t i = 0; i < count; i += 8) n += pn_appendRows(&out[n].a, base + i, pn_zeroBytes(above + i));
  }
  return n;
}
#endif
