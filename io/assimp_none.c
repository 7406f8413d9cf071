/* assimp_none.c: the twin of assimp.c in a build without that library. */
#include "assimp.h"

#ifndef PN_HAVE_ASSIMP

bool pn_assimpKnows(const char *path) {
  (void)path;
  return false;
}

pnResult pn_assimpLoad(const char *path, pnAnimFile **outFile) {
  *outFile = NULL;
  return pnFail(PN_ERROR_UNSUPPORTED,
                "%s: this build of pinch reads glTF only; install libassimp-dev and build it again", path);
}

#endif
