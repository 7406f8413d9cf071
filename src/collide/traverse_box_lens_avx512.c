/* traverse_box_lens_avx512.c: traverse_box_lens.c for AVX-512, which tests all children of two nodes at once. Chosen at run time (traverse.c);
 * nothing on other machines. */
#include "collide/traverse_view.h"
#include "geom/simd_square.h"

#if PN_SIMD_SQUARE == 512
#define SLABS 3u
#define LENS 2
#define SQUARE_SUMS 2u
#define NODE_BYTES(tree) sizeof(pnBoxLanes)
#define STEPS pn_stepsBoxLensAvx512
#include "collide/traverse_box.h"
#endif
