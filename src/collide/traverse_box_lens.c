/* traverse_box_lens.c: boxes of two trees on different grids. */
#include "collide/traverse_view.h"

#define SLABS 3u
#define LENS 2
#define NODE_BYTES(tree) sizeof(pnBoxLanes)
#define STEPS pn_stepsBoxLens
#include "collide/traverse_box.h"
