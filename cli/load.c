/* load.c: from a path to meshes that have been looked over. */
#include "load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------- standard input */

bool pn_isInput(const char *path) {
  return strcmp(path, "-") == 0;
}

pnResult pn_readInput(const void **outBytes, size_t *outCount) {
  // Kept until the program ends: what comes by a pipe comes once.
  static char *bytes;
  static size_t count;
  static bool read;
  size_t capacity = 0;
  while (!read) {
    if (count == capacity) {
      capacity = capacity ? 2 * capacity : 65536;
      char *grown = realloc(bytes, capacity);
      if (!grown) return pnFail(PN_ERROR_MEMORY, "standard input: out of memory for %zu bytes", capacity);
      bytes = grown;
    }
    size_t added = fread(bytes + count, 1, capacity - count, stdin);
    count += added;
    if (added == 0 && ferror(stdin)) return pnFail(PN_ERROR_FILE, "standard input cannot be read: %s", strerror(errno));
    read = added == 0;
  }
  *outBytes = bytes;
  *outCount = count;
  return PN_OK;
}

bool pn_isAnimInput(void) {
  const void *bytes;
  size_t count;
  if (pn_readInput(&bytes, &count) != PN_OK || count < 4) return false;
  // .gltf is a JSON object; no mesh format begins with a brace.
  const char *text = bytes;
  size_t blanks = 0;
  while (blanks < count && strchr(" \t\r\n", text[blanks])) ++blanks;
  return memcmp(bytes, "glTF", 4) == 0 || (blanks < count && text[blanks] == '{');
}

/* ---------------------------------------------------------------- mesh files */

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

/* A vertex cache by its name, that is there. */
static bool isCache(const char *path) {
  const char *end = strrchr(path, '.');
  struct stat info;
  return end && (strcasecmp(end, ".mdd") == 0 || strcasecmp(end, ".pc2") == 0) && stat(path, &info) == 0;
}

static pnResult readMeshFile(const char *path, pnMeshFile *outFile) {
  pnResult result = pn_refuseForeign(path);
  if (result != PN_OK) return result;
  if (isCache(path))
    return pnFail(PN_ERROR_UNSUPPORTED, "%s: holds vertices and no triangles; pinch scan MESH.obj@%s plays it", path,
                  path);
  if (!pn_isInput(path)) return pnLoadMeshFile(path, outFile);
  const void *bytes;
  size_t count;
  result = pn_readInput(&bytes, &count);
  return result == PN_OK ? pnParseMeshFile(bytes, count, "standard input", outFile) : result;
}

pnResult pn_loadMesh(const char *path, bool weld, pnLoadedMesh *loaded) {
  memset(loaded, 0, sizeof(*loaded));
  loaded->path = path;
  pnMeshFile file;
  pnResult result = readMeshFile(path, &file);
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

/* ---------------------------------------------------------------- all kinds */

bool pn_isAnimFile(const char *path) {
  if (pn_isInput(path)) return pn_isAnimInput();
  if (pnCanLoadAnimFile(path)) return true;
  char letters[4] = {0};
  struct stat info;
  // Only a plain file is looked into: bytes taken from a pipe would be gone.
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  FILE *stream = fopen(path, "rb");
  size_t count = stream ? fread(letters, 1, 4, stream) : 0;
  if (stream) fclose(stream);
  return count == 4 && memcmp(letters, "glTF", 4) == 0;
}

pnResult pn_loadBodies(const char *path, bool weld, pnMoment moment, pnLoadedList *list) {
  if (pn_isAnimFile(path)) {
    pnAnimFile *file;
    pnResult result = pn_openAnim(path, &file);
    if (result != PN_OK) return result;
    result = pn_loadAnimBodies(path, file, weld, moment, list);
    pnFreeAnimFile(file);
    return result;
  }
  pnLoadedMesh *items = realloc(list->items, (list->count + (size_t)1) * sizeof(pnLoadedMesh));
  if (!items) return pnFail(PN_ERROR_MEMORY, "out of memory for %u bodies", list->count + 1);
  list->items = items;
  pnResult result = pn_loadMesh(path, weld, &items[list->count]);
  if (result == PN_OK) ++list->count;
  return result;
}

void pn_freeLoadedList(pnLoadedList *list) {
  for (uint32_t i = 0; i < list->count; ++i) pn_freeLoadedMesh(&list->items[i]);
  free(list->items);
  memset(list, 0, sizeof(*list));
}
