/* bucket_hilbert_avx2.c: the codes of bucket_hilbert_kernel.h, eight at a time. Called only on machines that have AVX2 (bucket_hilbert.c);
 * nothing elsewhere. */
#include "tree/bucket.h"

#if PN_SIMD_F8
#define HILBERT_CODES pn_hilbertCodesAvx2
#include "tree/bucket_hilbert_kernel.h"
#endif
