/* traverse_box_offset.c: boxes of two trees of about one size: grids of one cell size with different offsets. */
#include "collide/traverse_view.h"

#define SLABS 3u
#define LENS 1
#define NODE_BYTES(tree) sizeof(pnBoxLanes)
#define STEPS pn_stepsBoxOffset
#include "collide/traverse_box.h"
