/* make.h: what `pinch make` hands to the maker of its character. */
#ifndef PN_CLI_MAKE_H
#define PN_CLI_MAKE_H

#include "pinch/base.h"

/* Writes a .glb and says what is in it. 0: the character's own default. */
pnResult pn_makeCharacter(const char *path, uint32_t triangles, double seconds);

#endif
