/* traverse_box_clipped.c: boxes of two trees on different grids, where b's is not over the whole of its body (tree/bulk.h). Such pairs are few. */
#include "collide/traverse_view.h"

#define SLABS 3u
#define LENS 3
#define NODE_BYTES(tree) sizeof(pnBoxLanes)
#define STEPS pn_stepsBoxClipped
#include "collide/traverse_box.h"
