/* traverse_box_lens_avx2.c: traverse_box_lens.c for AVX2, which tests all children of two nodes at once. Chosen at run time (traverse.c);
 * nothing on other machines. */
#include "collide/traverse_view.h"
#include "geom/simd_square.h"

#if PN_SIMD_SQUARE
#define SLABS 3u
#define LENS 2
#define SQUARE_SUMS 2u
#define NODE_BYTES(tree) sizeof(pnBoxLanes)
#define STEPS pn_stepsBoxLensAvx2
#include "collide/traverse_box.h"
#endif
