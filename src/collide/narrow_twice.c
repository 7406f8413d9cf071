/* narrow_twice.c: the second and the third look (narrow_twice.h) two at a time. */
#include "collide/narrow.h"

#define TWICE pn_narrowTwice2
#define LATTICE pn_narrowLattice2
#include "collide/narrow_twice.h"
