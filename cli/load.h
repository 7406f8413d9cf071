/* load.h: a mesh file as the commands want it: read, made into a mesh, looked over. */
#ifndef PN_CLI_LOAD_H
#define PN_CLI_LOAD_H

#include "pinch/io.h"
#include "pinch/mesh.h"

typedef struct pnLoadedMesh {
  const char *path; /* as given */
  char *name;       /* the file's name without folder and extension */
  char **groupNames;
  uint32_t groupCount;
  uint32_t *groupSizes; /* triangles of each group */
  pnMesh *mesh;
  pnMeshInfo info;
} pnLoadedMesh;

/* weld: vertices at the same place are one. On an error the message names the file, and nothing needs to be freed. */
pnResult pn_loadMesh(const char *path, bool weld, pnLoadedMesh *outLoaded);
void pn_freeLoadedMesh(pnLoadedMesh *loaded); /* a zeroed one is allowed */

#endif
