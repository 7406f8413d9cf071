/* cache_mdd.c: MDD, the point cache of LightWave, also written by Blender, Maya, Houdini and Modo. All big-endian:
 *
 *   0   int32          frames
 *   4   int32          points
 *   8   float[frames]  time of each frame in seconds
 *       float[3 * points] for each frame
 */
#include <math.h>

#include "cache.h"

static pnResult readMdd(pnCache *cache, uint32_t frame, float *outVertices) {
  pnResult result = pn_readCacheFrame(cache, frame, outVertices);
  return result == PN_OK ? pn_decodeCacheFrame(cache, frame, true, outVertices) : result;
}

/* The time stands in the file; it is read when asked for, so that nothing grows with the frames. */
static double timeOfMdd(const pnCache *cache, uint32_t frame) {
  uint8_t bytes[4];
  bool ok =
      fseeko(cache->file, (off_t)(8 + (uint64_t)frame * 4), SEEK_SET) == 0 && fread(bytes, 1, 4, cache->file) == 4;
  return ok ? (double)pn_getFloat(bytes, true) : (double)frame;
}

pnResult pn_openMdd(pnCache *cache, uint64_t fileSize) {
  static const pnCacheTable table = {.read = readMdd, .time = timeOfMdd};
  uint8_t head[8];
  if (fileSize < 8 || fseeko(cache->file, 0, SEEK_SET) != 0 || fread(head, 1, 8, cache->file) != 8) {
    return pnFail(PN_ERROR_FORMAT, "%s: %llu byte%s cannot be an MDD file", cache->path, (unsigned long long)fileSize,
                  pn_ioPlural(fileSize));
  }
  cache->info.kind = PN_CACHE_MDD;
  cache->info.frameCount = pn_getU32(head, true);
  cache->info.vertexCount = pn_getU32(head + 4, true);
  cache->dataStart = 8 + (uint64_t)cache->info.frameCount * 4;
  pnResult result = pn_checkCacheSize(cache, fileSize);
  if (result != PN_OK) return result;
  cache->table = &table;

  /* Times must be numbers; they follow the head. */
  for (uint32_t frame = 0; frame < cache->info.frameCount; ++frame) {
    if (fread(head, 1, 4, cache->file) != 4) return pnFail(PN_ERROR_FILE, "%s: its times cannot be read", cache->path);
    float time = pn_getFloat(head, true);
    if (!isfinite(time))
      return pnFail(PN_ERROR_NUMBER, "%s: the time of frame %u is NaN or infinite", cache->path, frame);
    if (frame == 0) cache->info.startTime = time;
  }
  return PN_OK;
}
