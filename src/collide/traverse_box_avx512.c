/* traverse_box_avx512.c: traverse_box.c for AVX-512, which tests all children of two nodes at once. Chosen at run time (traverse.c);
 * nothing on other machines. */
#include "collide/traverse_view.h"
#include "geom/simd_square.h"

#if PN_SIMD_SQUARE == 512
#define SLABS 3u
#define LENS 0
#define SQUARE_SUMS 0u
#define NODE_BYTES(tree) sizeof(pnBoxLanes)
#define STEPS pn_stepsBoxAvx512
#include "collide/traverse_box.h"
#endif
