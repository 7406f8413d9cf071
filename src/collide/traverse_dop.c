/* traverse_dop.c: k-DOPs of two trees of the same k, on any two grids. */
#include "collide/traverse.h"

#define SLABS t->a->slabs->count
#define LENS 1
#define STEPS pn_stepsDop
#include "collide/traverse_box.h"
