/* traverse_box.c: boxes of two trees on the same grid, the common case. */
#include "collide/traverse_view.h"

#define SLABS 3u
#define LENS 0
#define NODE_BYTES(tree) sizeof(pnBoxLanes)
#define STEPS pn_stepsBox
#include "collide/traverse_box.h"
