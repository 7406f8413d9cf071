/* traverse_dop.c: k-DOPs of two trees of the same k, on any two grids. */
#include "collide/traverse_view.h"

#define SLABS t->a->slabs->count
#define LENS 2
#define NODE_BYTES(tree) (tree)->laneBytes
#define STEPS pn_stepsDop
#include "collide/traverse_box.h"
