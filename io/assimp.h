/* assimp.h: animated files in the formats that the library assimp reads (FBX, Collada and more), where pinch was built with it. */
#ifndef PN_IO_ASSIMP_H
#define PN_IO_ASSIMP_H

#include "pinch/io.h"

/* Would assimp read a file of this name? Always false in a build without it. */
bool pn_assimpKnows(const char *path);
/* Reads it, whatever the content: also a glTF, which tests compare with our own reader. */
pnResult pn_assimpLoad(const char *path, pnAnimFile **outFile);

#endif
