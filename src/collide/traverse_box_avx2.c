/* traverse_box_avx2.c: traverse_box.c compiled for AVX2, whose broadcasts and three-operand forms make the same 128-bit loops
 * shorter. Chosen at run time (traverse.c); nothing on other machines. */
#include "collide/traverse_view.h"

#if defined(__x86_64__) && defined(__AVX2__) && !defined(PN_SCALAR)
#define SLABS 3u
#define LENS 0
#define NODE_BYTES(tree) sizeof(pnBoxLanes)
#define STEPS pn_stepsBoxAvx2
#include "collide/traverse_box.h"
#endif
