/* cache_pc2.c: PC2, the point cache of 3ds Max, also written by Blender and others. All little-endian:
 *
 *   0   char[12]  "POINTCACHE2\0"
 *   12  int32     version, 1
 *   16  int32     points
 *   20  float     first frame
 *   24  float     frames between two samples
 *   28  int32     samples
 *   32  float[3 * points] for each sample
 */
#include <math.h>

#include "cache.h"

static pnResult readPc2(pnCache *cache, uint32_t frame, float *outVertices) {
  pnResult result = pn_readCacheFrame(cache, frame, outVertices);
  return result == PN_OK ? pn_decodeCacheFrame(cache, frame, false, outVertices) : result;
}

static double timeOfPc2(const pnCache *cache, uint32_t frame) {
  return (double)cache->info.startTime + (double)frame * (double)cache->rate;
}

pnResult pn_openPc2(pnCache *cache, uint64_t fileSize) {
  static const pnCacheTable table = {.read = readPc2, .time = timeOfPc2};
  uint8_t head[32];
  if (fileSize < 32 || fseeko(cache->file, 0, SEEK_SET) != 0 || fread(head, 1, 32, cache->file) != 32) {
    return pnFail(PN_ERROR_FORMAT, "%s: %llu byte%s cannot be a PC2 file", cache->path, (unsigned long long)fileSize,
                  pn_ioPlural(fileSize));
  }
  uint32_t version = pn_getU32(head + 12, false);
  if (version != 1) return pnFail(PN_ERROR_UNSUPPORTED, "%s: byte 12: version %u, expected 1", cache->path, version);
  cache->info.kind = PN_CACHE_PC2;
  cache->info.vertexCount = pn_getU32(head + 16, false);
  cache->info.startTime = pn_getFloat(head + 20, false);
  cache->rate = pn_getFloat(head + 24, false);
  cache->info.frameCount = pn_getU32(head + 28, false);
  cache->dataStart = 32;
  if (!isfinite(cache->info.startTime) || !isfinite(cache->rate))
    return pnFail(PN_ERROR_NUMBER, "%s: byte 20: the first frame or the rate is NaN or infinite", cache->path);
  cache->table = &table;
  return pn_checkCacheSize(cache, fileSize);
}
