/* vertex_lists_avx2.c: the loop of vertex_lists_kernel.h with vectors of eight, and bits counted by the machine. Called only on machines
 * that have AVX2 (vertex_lists.c); nothing elsewhere. */
#include "geom/simd.h"
#include "tree/vertex_lists.h"

#if PN_SIMD_F8
#define LIST_CORNERS pn_listCornersAvx2
#include "tree/vertex_lists_kernel.h"
#endif
