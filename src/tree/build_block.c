/* build_block.c: see build_block.h; four at a time. */
#include "tree/build_block.h"

#define WIDE 4
#define CUT_BLOCK pn_cutBlock4
#include "tree/build_block_kernel.h"
