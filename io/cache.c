/* cache.c: opening a vertex cache by what it is, and what MDD and PC2 have in common: one block of floats a frame, at a
 * place that can be computed. A frame is read into the caller's memory and turned into numbers there, so a cache of any
 * length needs no memory of its own. */
#include "cache.h"
#include "float_mode.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------- frames */

pnResult pn_decodeCacheFrame(const pnCache *cache, uint32_t frame, bool bigEndian, float *inOutVertices) {
  for (size_t i = 0; i < (size_t)cache->info.vertexCount * 3; ++i) {
    uint8_t bytes[4];
    memcpy(bytes, inOutVertices + i, 4);
    inOutVertices[i] = pn_getFloat(bytes, bigEndian);
    if (!isfinite(inOutVertices[i]))
      return pnFail(PN_ERROR_NUMBER, "%s: frame %u: vertex %zu is NaN or infinite", cache->path, frame, i / 3);
  }
  return PN_OK;
}

pnResult pn_checkCacheSize(const pnCache *cache, uint64_t fileSize) {
  /* Counts are 32 bits: the product fits 64 bits once both are below 2^28. */
  uint64_t frames = cache->info.frameCount, vertices = cache->info.vertexCount;
  if (frames == 0 || vertices == 0 || frames >= 1u << 28 || vertices >= 1u << 28) {
    return pnFail(PN_ERROR_COUNT, "%s: %llu frames of %llu vertices, expected 1 to 2^28 of both", cache->path,
                  (unsigned long long)frames, (unsigned long long)vertices);
  }
  uint64_t needed = cache->dataStart + frames * vertices * 12;
  if (fileSize < needed) {
    return pnFail(PN_ERROR_FORMAT, "%s: %llu frames of %llu vertices need %llu bytes, but it ends after %llu",
                  cache->path, (unsigned long long)frames, (unsigned long long)vertices, (unsigned long long)needed,
                  (unsigned long long)fileSize);
  }
  return PN_OK;
}

pnResult pn_readCacheFrame(pnCache *cache, uint32_t frame, float *outVertices) {
  size_t size = (size_t)cache->info.vertexCount * 12;
  uint64_t start = cache->dataStart + (uint64_t)frame * size;
  if (fseeko(cache->file, (off_t)start, SEEK_SET) != 0 || fread(outVertices, 1, size, cache->file) != size) {
    return pnFail(PN_ERROR_FILE, "%s: frame %u cannot be read (%zu bytes at byte %llu)", cache->path, frame, size,
                  (unsigned long long)start);
  }
  return PN_OK;
}

/* ---------------------------------------------------------------- the door */

/* A regular file is MDD, PC2 or a mesh, in this order: PC2 says what it is, MDD is known by its name only. */
static pnResult openFile(pnCache *cache, uint64_t fileSize) {
  char mark[12] = {0};
  cache->file = fopen(cache->path, "rb");
  if (cache->file == NULL) return pnFail(PN_ERROR_FILE, "%s: cannot be opened: %s", cache->path, strerror(errno));
  size_t got = fread(mark, 1, sizeof(mark), cache->file);
  if (got == sizeof(mark) && memcmp(mark, "POINTCACHE2", 12) == 0) return pn_openPc2(cache, fileSize);
  char extension[8];
  pn_ioExtension(cache->path, extension);
  if (strcmp(extension, "mdd") == 0) return pn_openMdd(cache, fileSize);
  if (strcmp(extension, "pc2") == 0) return pnFail(PN_ERROR_FORMAT, "%s: byte 0: expected POINTCACHE2", cache->path);
  return pn_openCacheFiles(cache, false);
}

pnResult pnOpenCache(const char *path, pnCache **outCache) {
  PN_IO_FLOAT;
  *outCache = NULL;
  pnCache *cache = pn_ioAlloc(sizeof(pnCache));
  if (cache == NULL) return pn_ioFailMemory(path);
  *cache = (pnCache){.path = pn_ioCopyText(path, strlen(path))};
  if (cache->path == NULL) {
    pn_ioFree(cache);
    return pn_ioFailMemory(path);
  }

  /* What is there decides; only what is not there can be a pattern. */
  struct stat info;
  bool there = stat(path, &info) == 0;
  pnResult result = PN_OK;
  if (there && S_ISREG(info.st_mode)) result = openFile(cache, (uint64_t)info.st_size);
  else if (there ? S_ISDIR(info.st_mode) : pn_isCachePattern(path)) result = pn_openCacheFiles(cache, there);
  else result = pnFail(PN_ERROR_FILE, "%s: there is no such file or folder", path);
  if (result != PN_OK) {
    pnCloseCache(cache);
    return result;
  }
  *outCache = cache;
  return PN_OK;
}

void pnCloseCache(pnCache *cache) {
  if (cache == NULL) return;
  if (cache->table != NULL && cache->table->close != NULL) cache->table->close(cache);
  if (cache->file != NULL) fclose(cache->file);
  pn_ioFree(cache->path);
  pn_ioFree(cache);
}

pnCacheInfo pnCache_GetInfo(const pnCache *cache) {
  return cache->info;
}

double pnCache_GetTime(const pnCache *cache, uint32_t frame) {
  PN_IO_FLOAT;
  return cache->table->time(cache, frame);
}

pnResult pnCache_Read(pnCache *cache, uint32_t frame, float *outVertices) {
  PN_IO_FLOAT;
  if (frame >= cache->info.frameCount)
    return pnFail(PN_ERROR_INDEX, "%s: frame %u of %u", cache->path, frame, cache->info.frameCount);
  return cache->table->read(cache, frame, outVertices);
}
