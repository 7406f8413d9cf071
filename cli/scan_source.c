/* scan_source.c: a word of the command line into bodies.
 *
 *   walk.glb, walk.gltf      every mesh of the file's scene is a body
 *   shirt.obj@shirt.mdd      one body: triangles of the mesh, vertices of the cache (MDD, PC2, numbered mesh files)
 *   frame_####.ply, folder   the same, with the triangles of the first file
 *   floor.obj                one body that does not move
 *   -                        a file, or a stream of frames (scan_stream.c), by standard input */
#include "scan.h"

#include "load.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

pnResult pn_scanAddBody(pnScan *scan, const char *name, pnScanBody **outBody) {
  if (scan->bodyCount == scan->bodyCapacity) {
    uint32_t capacity = scan->bodyCapacity ? 2 * scan->bodyCapacity : 16;
    pnScanBody *bodies = realloc(scan->bodies, capacity * sizeof(pnScanBody));
    if (!bodies) return pnFail(PN_ERROR_MEMORY, "out of memory for %u bodies", capacity);
    scan->bodies = bodies;
    scan->bodyCapacity = capacity;
  }
  pnScanBody *body = &scan->bodies[scan->bodyCount];
  *body = (pnScanBody){.source = scan->sourceCount - 1, .animBody = PN_NONE, .wanted = true, .verticesFrame = PN_NONE};
  body->name = strdup(name);
  if (!body->name) return pnFail(PN_ERROR_MEMORY, "out of memory for the name of a body");
  ++scan->bodyCount;
  *outBody = body;
  return PN_OK;
}

/* ---------------------------------------------------------------- what a word is */

static bool isThere(const char *path, bool folder) {
  struct stat info;
  return stat(path, &info) == 0 && (bool)S_ISDIR(info.st_mode) == folder;
}

static bool hasEnding(const char *path, const char *ending) {
  size_t length = strlen(path), endLength = strlen(ending);
  return length >= endLength && strcasecmp(path + length - endLength, ending) == 0;
}

static bool isCacheFile(const char *path) {
  return hasEnding(path, ".mdd") || hasEnding(path, ".pc2");
}

static bool isPattern(const char *word) {
  return strpbrk(word, "#*?") != NULL;
}

/* ---------------------------------------------------------------- meshes and caches */

/* A mesh file becomes a body; the mesh goes over to it. */
static pnResult addMeshBody(pnScan *scan, const char *path, pnBodyKind kind, pnScanBody **outBody) {
  pnLoadedMesh loaded;
  pnResult result = pn_loadMesh(path, true, &loaded);
  if (result != PN_OK) return result;
  result = pn_scanAddBody(scan, loaded.name, outBody);
  if (result == PN_OK) {
    (*outBody)->kind = kind;
    (*outBody)->mesh = loaded.mesh;
    (*outBody)->closed = loaded.info.closed;
    loaded.mesh = NULL;
  }
  pn_freeLoadedMesh(&loaded);
  return result;
}

/* The first of numbered mesh files becomes a body. */
static pnResult addFirstFile(pnScan *scan, const pnMeshFile *file, pnScanBody **outBody) {
  pnResult result = pn_scanAddBody(scan, file->name, outBody);
  if (result != PN_OK) return result;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = file->vertices;
  def.vertexCount = file->vertexCount;
  def.triangles = file->triangles;
  def.triangleCount = file->triangleCount;
  def.name = (*outBody)->name;
  (*outBody)->kind = PN_BODY_FREE;
  result = pnCreateMesh(&def, &(*outBody)->mesh);
  pnMeshInfo info;
  if (result == PN_OK) result = pnMesh_Validate((*outBody)->mesh, &info);
  if (result == PN_OK) (*outBody)->closed = info.closed;
  return result;
}

/* Does the cache say which frame is which? Numbers that grow by at least one do. Else its frames are counted from 0: MDD
 * has seconds, and a PC2 may hold several samples a frame, none of which should be passed over. */
static bool hasNumbers(const pnCache *cache, const pnCacheInfo *info) {
  if (info->kind == PN_CACHE_MDD) return false;
  for (uint32_t k = 1; k < info->frameCount; ++k) {
    // A start and a rate are floats: a step of one may come out a little short.
    if (!(pnCache_GetTime(cache, k) - pnCache_GetTime(cache, k - 1) > 0.99)) return false;
  }
  return true;
}

/* meshPath null: the triangles are those of the cache's first file. */
static pnResult openCache(pnScan *scan, pnScanSource *source, const char *meshPath, const char *cachePath) {
  pnResult result = pn_refuseForeign(cachePath);
  if (result == PN_OK) result = pnOpenCache(cachePath, &source->cache);
  if (result != PN_OK) return result;
  pnCacheInfo info = pnCache_GetInfo(source->cache);
  source->cacheByNumber = hasNumbers(source->cache, &info);
  if (!meshPath && !info.mesh)
    return pnFail(PN_ERROR_UNSUPPORTED,
                  "%s holds vertices and no triangles: say which mesh they belong to, MESH.obj@%s", cachePath,
                  cachePath);
  pnScanBody *body = NULL;
  result = meshPath ? addMeshBody(scan, meshPath, PN_BODY_FREE, &body) : addFirstFile(scan, info.mesh, &body);
  if (result != PN_OK) return result;
  uint32_t vertexCount = pnMesh_GetVertexCount(body->mesh);
  if (vertexCount != info.vertexCount)
    return pnFail(PN_ERROR_COUNT,
                  "%s has %u vertices and %s %u: export both from the same object, and the mesh in a format that keeps "
                  "vertices as they are (OBJ or PLY, not STL)",
                  meshPath ? meshPath : source->word, vertexCount, cachePath, info.vertexCount);
  body->vertices = malloc(3 * (size_t)vertexCount * sizeof(float) + 1);
  if (!body->vertices) return pnFail(PN_ERROR_MEMORY, "%s: out of memory for %u vertices", source->word, vertexCount);
  return PN_OK;
}

/* "mesh.obj@cache.mdd": the two words around the last '@'. */
static pnResult openMeshAtCache(pnScan *scan, pnScanSource *source, const char *at) {
  size_t length = (size_t)(at - source->word);
  if (length == 0 || at[1] == 0)
    return pnFail(PN_ERROR_ARGUMENT, "'%s': expected MESH@CACHE, as in shirt.obj@shirt.mdd", source->word);
  char *meshPath = strndup(source->word, length);
  if (!meshPath) return pnFail(PN_ERROR_MEMORY, "out of memory");
  pnResult result;
  if (pn_isAnimFile(meshPath))
    result = pnFail(PN_ERROR_UNSUPPORTED,
                    "'%s': the mesh of a cache must be OBJ, PLY or OFF; a glTF file brings its own "
                    "animation",
                    source->word);
  else if (pn_isAnimFile(at + 1))
    result = pnFail(PN_ERROR_UNSUPPORTED,
                    "'%s': expected an MDD, a PC2 or numbered mesh files behind '@'; a glTF file is scanned by itself",
                    source->word);
  else result = openCache(scan, source, meshPath, at + 1);
  free(meshPath);
  return result;
}

static pnResult openAnimFile(pnScan *scan, pnScanSource *source) {
  pnResult result = pn_openAnim(source->word, &source->file);
  if (result == PN_OK) result = pnCreateAnimState(source->file, &source->state);
  if (result == PN_OK) result = pn_scanAddAnimBodies(scan, (uint32_t)(source - scan->sources));
  return result;
}

pnResult pn_scanOpenSource(pnScan *scan, const char *word) {
  pnScanSource *source = &scan->sources[scan->sourceCount++];
  *source = (pnScanSource){.word = word, .clip = PN_NONE};
  if (pn_isStream(word)) return pn_streamOpen(scan, source);
  // A file that is there is meant, whatever letters its name has.
  const char *at = strrchr(word, '@');
  if (at && !isThere(word, false)) return openMeshAtCache(scan, source, at);
  if (isCacheFile(word) || isThere(word, true) || (isPattern(word) && !isThere(word, false)))
    return openCache(scan, source, NULL, word);
  if (pn_isAnimFile(word)) return openAnimFile(scan, source);
  pnScanBody *body;
  return addMeshBody(scan, word, PN_BODY_STATIC, &body);
}
