/* load.c: from a path to a mesh that has been looked over. */
#include "load.h"

#include <stdlib.h>
#include <string.h>

/* Names and sizes of the groups; the arrays of the file itself are not kept. */
static bool copyGroups(const pnMeshFile *file, pnLoadedMesh *loaded) {
  loaded->name = strdup(file->name);
  loaded->groupNames = calloc((size_t)file->groupCount + 1, sizeof(char *));
  loaded->groupSizes = calloc((size_t)file->groupCount + 1, sizeof(uint32_t));
  if (!loaded->name || !loaded->groupNames || !loaded->groupSizes) return false;
  for (; loaded->groupCount < file->groupCount; ++loaded->groupCount) {
    char *name = strdup(file->groupNames[loaded->groupCount]);
    if (!name) return false;
    loaded->groupNames[loaded->groupCount] = name;
  }
  for (uint32_t t = 0; t < file->triangleCount && file->groupCount > 0; ++t)
    ++loaded->groupSizes[file->triangleGroups[t]];
  return true;
}

pnResult pn_loadMesh(const char *path, bool weld, pnLoadedMesh *loaded) {
  memset(loaded, 0, sizeof(*loaded));
  loaded->path = path;
  pnMeshFile file;
  pnResult result = pnLoadMeshFile(path, &file);
  if (result != PN_OK) return result;
  if (!copyGroups(&file, loaded)) result = pnFail(PN_ERROR_MEMORY, "%s: out of memory", path);
  if (result == PN_OK) {
    // The path is the mesh's name in messages: of two files called a.obj one must know which.
    pnMeshDef def = pnDefaultMeshDef();
    def.vertices = file.vertices;
    def.vertexCount = file.vertexCount;
    def.triangles = file.triangles;
    def.triangleCount = file.triangleCount;
    def.weld = weld;
    def.name = path;
    result = pnCreateMesh(&def, &loaded->mesh);
  }
  if (result == PN_OK) result = pnMesh_Validate(loaded->mesh, &loaded->info);
  pnFreeMeshFile(&file);
  if (result != PN_OK) pn_freeLoadedMesh(loaded);
  return result;
}

void pn_freeLoadedMesh(pnLoadedMesh *loaded) {
  pnDestroyMesh(loaded->mesh);
  for (uint32_t g = 0; g < loaded->groupCount; ++g) free(loaded->groupNames[g]);
  free(loaded->groupNames);
  free(loaded->groupSizes);
  free(loaded->name);
  memset(loaded, 0, sizeof(*loaded));
}
