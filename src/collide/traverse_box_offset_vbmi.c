/* traverse_box_offset_vbmi.c: traverse_box_offset.c for AVX-512 with VBMI, which tests all children of two nodes at once. Chosen at run time
 * (traverse.c); nothing on other machines. */
#include "collide/traverse_view.h"
#include "geom/simd_square.h"

#if PN_SIMD_SQUARE == 512
#define SLABS 3u
#define LENS 1
#define SQUARE_SUMS 1u
#define NODE_BYTES(tree) sizeof(pnBoxLanes)
#define STEPS pn_stepsBoxOffsetVbmi
#include "collide/traverse_box.h"
#endif
