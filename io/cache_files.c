/* cache_files.c: a cache that is many mesh files: all of a folder, those that match a pattern, or a single one.
 *
 * Patterns stand in the last part of the path: * any characters, ? one, and a run of n # a number of at least n digits.
 * Files come in the order of their names with numbers read as numbers: 2 before 10. Only names are kept; a frame is
 * read when asked for, and must have the triangles of the first. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"

typedef struct pnCacheFile {
  char *name;    /* without folder */
  double number; /* the last one in its name, -1 for none */
} pnCacheFile;

typedef struct pnCacheFiles {
  char *folder; /* with its last slash, "" for the current one */
  pnCacheFile *list;
  size_t count, capacity;
  bool numbered; /* every name has a number, and they rise */
  pnMeshFile first;
} pnCacheFiles;

/* ---------------------------------------------------------------- names */

static bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

bool pn_isCachePattern(const char *path) {
  const char *slash = strrchr(path, '/');
  return strpbrk(slash != NULL ? slash + 1 : path, "#*?") != NULL;
}

/* Does a name match a pattern? On a mismatch the last * takes one character more; that is enough, since an earlier one
 * could only do the same work. */
static bool matches(const char *pattern, const char *name) {
  const char *star = NULL, *starName = NULL;
  for (;;) {
    if (*pattern == '*') {
      star = pattern++;
      starName = name;
    } else if (*pattern == '#' && isDigit(*name)) {
      ++pattern, ++name;
      /* The end of a run of #: a longer number is one too. */
      while (*pattern != '#' && isDigit(*name) && !isDigit(*pattern)) ++name;
    } else if (*name != 0 && (*pattern == '?' || *pattern == *name) && *pattern != '#') {
      ++pattern, ++name;
    } else if (*name == 0 && *pattern == 0) {
      return true;
    } else if (star != NULL && *starName != 0) {
      pattern = star + 1;
      name = ++starName;
    } else {
      return false;
    }
  }
}

/* Is it a kind of file that holds a mesh? */
static bool isMeshName(const char *name) {
  char extension[8];
  pn_ioExtension(name, extension);
  return strcmp(extension, "obj") == 0 || strcmp(extension, "ply") == 0 || strcmp(extension, "stl") == 0 ||
         strcmp(extension, "off") == 0;
}

/* The last number before the extension. */
static double numberOf(const char *name) {
  const char *dot = strrchr(name, '.'), *end = dot != NULL ? dot : name + strlen(name);
  while (end > name && !isDigit(end[-1])) --end;
  const char *start = end;
  while (start > name && isDigit(start[-1])) --start;
  double number = start < end ? 0.0 : -1.0;
  for (; start < end; ++start) number = number * 10.0 + (*start - '0');
  return number;
}

/* By character, except that two numbers are compared as numbers: by length without leading zeros, then by digit. */
static int compareNatural(const char *a, const char *b) {
  while (*a != 0 && *b != 0) {
    if (!isDigit(*a) || !isDigit(*b)) {
      if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
      ++a, ++b;
      continue;
    }
    while (*a == '0' && isDigit(a[1])) ++a;
    while (*b == '0' && isDigit(b[1])) ++b;
    size_t lengthA = strspn(a, "0123456789"), lengthB = strspn(b, "0123456789");
    if (lengthA != lengthB) return lengthA < lengthB ? -1 : 1;
    int order = strncmp(a, b, lengthA);
    if (order != 0) return order;
    a += lengthA, b += lengthB;
  }
  return *a != 0 ? 1 : *b != 0 ? -1 : 0;
}

static int compareFiles(const void *a, const void *b) {
  const char *x = ((const pnCacheFile *)a)->name, *y = ((const pnCacheFile *)b)->name;
  int order = compareNatural(x, y);
  return order != 0 ? order : strcmp(x, y);
}

/* ---------------------------------------------------------------- collecting */

/* What the path asks for: its folder, and the pattern of names in it ("" for every mesh). */
static pnResult splitPath(const pnCache *cache, bool isFolder, pnCacheFiles *files, const char **outPattern) {
  const char *path = cache->path, *slash = strrchr(path, '/');
  size_t length = isFolder ? strlen(path) : slash != NULL ? (size_t)(slash - path) + 1 : 0;
  *outPattern = isFolder ? "" : slash != NULL ? slash + 1 : path;
  files->folder = pn_ioCopyText(path, length + 1); /* room for a slash; the text ends at `length` below */
  if (files->folder == NULL) return pn_ioFailMemory(path);
  bool slashMissing = isFolder && length > 0 && path[length - 1] != '/';
  if (slashMissing) files->folder[length++] = '/';
  files->folder[length] = 0;
  return PN_OK;
}

static pnResult addFile(const pnCache *cache, pnCacheFiles *files, const char *name) {
  bool grown = files->count < files->capacity ||
               pn_ioGrow((void **)&files->list, files->count, &files->capacity, files->count + 1, sizeof(pnCacheFile));
  char *copy = grown ? pn_ioCopyText(name, strlen(name)) : NULL;
  if (copy == NULL) return pn_ioFailMemory(cache->path);
  files->list[files->count++] = (pnCacheFile){.name = copy, .number = numberOf(name)};
  return PN_OK;
}

static pnResult collectFiles(const pnCache *cache, pnCacheFiles *files, const char *pattern) {
  DIR *folder = opendir(files->folder[0] != 0 ? files->folder : ".");
  if (folder == NULL) return pnFail(PN_ERROR_FILE, "%s: cannot be opened: %s", cache->path, strerror(errno));
  pnResult result = PN_OK;
  for (struct dirent *entry = readdir(folder); entry != NULL && result == PN_OK; entry = readdir(folder)) {
    if (entry->d_name[0] == '.' || !isMeshName(entry->d_name)) continue;
    if (pattern[0] == 0 || matches(pattern, entry->d_name)) result = addFile(cache, files, entry->d_name);
  }
  closedir(folder);
  if (result != PN_OK) return result;
  if (files->count == 0)
    return pnFail(PN_ERROR_FILE, "%s: no mesh there%s (.obj, .ply, .stl, .off; a glTF file is named by itself)",
                  cache->path, pattern[0] != 0 ? " fits the pattern" : "");
  qsort(files->list, files->count, sizeof(pnCacheFile), compareFiles);
  files->numbered = files->list[0].number >= 0;
  for (size_t i = 1; i < files->count; ++i)
    files->numbered = files->numbered && files->list[i].number > files->list[i - 1].number;
  return PN_OK;
}

/* ---------------------------------------------------------------- frames */

static pnResult loadFrame(const pnCache *cache, uint32_t frame, pnMeshFile *outMesh) {
  const char *folder = cache->files->folder, *name = cache->files->list[frame].name;
  size_t folderLength = strlen(folder), nameLength = strlen(name);
  char *path = pn_ioAlloc(folderLength + nameLength + 1);
  if (path == NULL) return pn_ioFailMemory(name);
  memcpy(path, folder, folderLength);
  memcpy(path + folderLength, name, nameLength + 1);
  pnResult result = pnLoadMeshFile(path, outMesh);
  pn_ioFree(path);
  return result;
}

static pnResult readFiles(pnCache *cache, uint32_t frame, float *outVertices) {
  pnMeshFile mesh = {0};
  const pnMeshFile *first = &cache->files->first;
  size_t size = (size_t)first->vertexCount * 3 * sizeof(float);
  if (frame == 0) {
    memcpy(outVertices, first->vertices, size);
    return PN_OK;
  }
  pnResult result = loadFrame(cache, frame, &mesh);
  if (result != PN_OK) return result;

  /* Only positions may change. */
  const char *name = cache->files->list[frame].name, *firstName = cache->files->list[0].name;
  if (mesh.vertexCount != first->vertexCount || mesh.triangleCount != first->triangleCount) {
    result = pnFail(PN_ERROR_COUNT,
                    "%s%s: %u vertices and %u triangles, but %s has %u and %u; all frames must have the same",
                    cache->files->folder, name, mesh.vertexCount, mesh.triangleCount, firstName, first->vertexCount,
                    first->triangleCount);
  }
  for (size_t i = 0; i < (size_t)mesh.triangleCount * 3 && result == PN_OK; ++i) {
    if (mesh.triangles[i] == first->triangles[i]) continue;
    result = pnFail(PN_ERROR_INDEX, "%s%s: triangle %zu has other vertices than in %s; all frames must have the same",
                    cache->files->folder, name, i / 3, firstName);
  }
  if (result == PN_OK) memcpy(outVertices, mesh.vertices, size);
  pnFreeMeshFile(&mesh);
  return result;
}

static double timeOfFiles(const pnCache *cache, uint32_t frame) {
  return cache->files->numbered ? cache->files->list[frame].number : (double)frame;
}

static void closeFiles(pnCache *cache) {
  pnCacheFiles *files = cache->files;
  if (files == NULL) return;
  for (size_t i = 0; i < files->count; ++i) pn_ioFree(files->list[i].name);
  pn_ioFree(files->list);
  pn_ioFree(files->folder);
  pnFreeMeshFile(&files->first);
  pn_ioFree(files);
}

pnResult pn_openCacheFiles(pnCache *cache, bool isFolder) {
  static const pnCacheTable table = {.read = readFiles, .time = timeOfFiles, .close = closeFiles};
  cache->table = &table;
  cache->files = pn_ioAlloc(sizeof(pnCacheFiles));
  if (cache->files == NULL) return pn_ioFailMemory(cache->path);
  *cache->files = (pnCacheFiles){0};
  const char *pattern = NULL;
  pnResult result = splitPath(cache, isFolder, cache->files, &pattern);
  if (result == PN_OK && !isFolder && cache->file != NULL)
    result = addFile(cache, cache->files, pattern); /* a file that is there is one frame, whatever its name */
  else if (result == PN_OK) result = collectFiles(cache, cache->files, pattern);
  if (result == PN_OK && cache->files->count > UINT32_MAX - 1) result = pn_ioFailMemory(cache->path);
  if (result == PN_OK) result = loadFrame(cache, 0, &cache->files->first);
  if (result != PN_OK) return result;
  cache->info = (pnCacheInfo){.kind = PN_CACHE_FILES,
                              .vertexCount = cache->files->first.vertexCount,
                              .frameCount = (uint32_t)cache->files->count,
                              .startTime = (float)timeOfFiles(cache, 0),
                              .mesh = &cache->files->first};
  return PN_OK;
}
