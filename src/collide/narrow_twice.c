/* narrow_twice.c: the second look (narrow_twice.h) two at a time. */
#include "collide/narrow.h"

#define TWICE pn_narrowTwice2
#include "collide/narrow_twice.h"
