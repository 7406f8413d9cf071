/* bucket_hilbert_kernel.h: codes along the curve of Hilbert, compiled for every kind of machine (bucket_hilbert.c).
 *
 * The curve's neighbours always touch: eight primitives in a row make a smaller box than along Morton's, which leaps. After Skilling 2004,
 * "Programming the Hilbert curve": undo, level by level from the top, the exchange or reflection of axes in the octant; then Gray code.
 * Without branches, the bits are anybody's guess, and for a whole batch at each level, which compilers turn into vector code: one after the
 * other takes four times as long. */
#include "tree/bucket.h"

PN_INLINE void hilbertOf(const uint32_t bits, uint32_t *x, uint32_t *y, uint32_t *z, uint32_t *outCodes) {
  for (uint32_t bit = bits - 1; bit > 0; --bit) {
    uint32_t lower = (1u << bit) - 1;
    for (uint32_t i = 0; i < PN_CODE_BATCH; ++i) {
      uint32_t turnX = 0u - (x[i] >> bit & 1), turnY = 0u - (y[i] >> bit & 1), turnZ = 0u - (z[i] >> bit & 1);
      uint32_t a = x[i] ^ (lower & (turnX ^ turnY)), b = y[i], c = z[i];
      uint32_t swap = (a ^ b) & lower & ~turnY;
      a ^= swap ^ (lower & turnZ);
      y[i] = b ^ swap;
      swap = (a ^ c) & lower & ~turnZ;
      x[i] = a ^ swap;
      z[i] = c ^ swap;
    }
  }
  for (uint32_t i = 0; i < PN_CODE_BATCH; ++i) {
    uint32_t b = y[i] ^ x[i], c = z[i] ^ b;
    /* every bit of z flips all bits below it */
    uint32_t flip = c >> 1;
    flip ^= flip >> 1;
    flip ^= flip >> 2;
    flip ^= flip >> 4;
    flip ^= flip >> 8;
    outCodes[i] = pn_spreadBits(x[i] ^ flip) << 2 | pn_spreadBits(b ^ flip) << 1 | pn_spreadBits(c ^ flip);
  }
}

/* The cells of all centres of a batch, axis by axis. */
PN_INLINE void cellsOfBatch(const pnCells cells[3], pnCodeBatch *batch, uint32_t cell[3][PN_CODE_BATCH]) {
  float at[3][PN_CODE_BATCH];
  if (batch->count < PN_CODE_BATCH)
    memset(batch->centres[batch->count], 0, (PN_CODE_BATCH - batch->count) * sizeof batch->centres[0]);
  for (uint32_t i = 0; i < PN_CODE_BATCH; i += 4) {
    pnF4 x, y, z;
    pn_f4Transpose3(pn_f4Load(batch->centres[i]), pn_f4Load(batch->centres[i + 1]), pn_f4Load(batch->centres[i + 2]),
                    pn_f4Load(batch->centres[i + 3]), &x, &y, &z);
    pn_f4Store(at[0] + i, x);
    pn_f4Store(at[1] + i, y);
    pn_f4Store(at[2] + i, z);
  }
  for (int k = 0; k < 3; ++k)
    for (uint32_t i = 0; i < PN_CODE_BATCH; ++i) cell[k][i] = pn_cellOf(&cells[k], at[k][i]);
}

void HILBERT_CODES(const pnCells cells[3], pnCodeBatch *batch) {
  uint32_t cell[3][PN_CODE_BATCH];
  cellsOfBatch(cells, batch, cell);
  /* twice, so that compilers know how often */
  if (pn_bitsOf(cells) == PN_FEW_BITS) hilbertOf(PN_FEW_BITS, cell[0], cell[1], cell[2], batch->codes);
  else hilbertOf(PN_CURVE_BITS, cell[0], cell[1], cell[2], batch->codes);
}
