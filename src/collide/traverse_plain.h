/* traverse_plain.h: the dual traversal (traverse_step.h) for a form of volumes whose masks are plain numbers, a bit a lane.
 * Included by traverse_*.c after Regs, loadA, loadB, maskA and maskB, with STEPS defined. */
#define NODE_BYTES(tree) (tree)->laneBytes
#define FULL fullMask
#define Mask unsigned
#define MASK4 mask4
#define LOAD_A loadA
#define LOAD_B loadB
#define MASK_A maskA
#define MASK_B maskB
#include "collide/traverse_step.h"
