/* bucket_hilbert.c: see bucket_hilbert_kernel.h; for any machine, and which of them this is. */
#include "tree/bucket.h"

#define HILBERT_CODES pn_hilbertCodesPlain
#include "tree/bucket_hilbert_kernel.h"

void pn_hilbertCodes(const pnCells cells[3], pnCodeBatch *batch) {
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (__builtin_cpu_supports("avx2")) {
    pn_hilbertCodesAvx2(cells, batch);
    return;
  }
#endif
  pn_hilbertCodesPlain(cells, batch);
}
