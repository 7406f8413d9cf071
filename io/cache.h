/* cache.h: what the kinds of vertex caches share. A kind is a file with an open function and a table of three more. */
#ifndef PN_IO_CACHE_H
#define PN_IO_CACHE_H

#include <stdio.h>

#include "pinch/io.h"
#include "reader.h"

typedef struct pnCacheTable {
  pnResult (*read)(pnCache *cache, uint32_t frame, float *outVertices);
  double (*time)(const pnCache *cache, uint32_t frame);
  void (*close)(pnCache *cache);
} pnCacheTable;

struct pnCache {
  const pnCacheTable *table;
  pnCacheInfo info;
  char *path;         /* as given, for messages */
  FILE *file;         /* MDD, PC2 */
  uint64_t dataStart; /* first byte of the first frame */
  float rate;         /* PC2: frames between samples */
  struct pnCacheFiles *files;
};

/* Each looks at an open file (or a folder, or a pattern) and fills the cache; the caller closes it when they fail. */
pnResult pn_openMdd(pnCache *cache, uint64_t fileSize);
pnResult pn_openPc2(pnCache *cache, uint64_t fileSize);
pnResult pn_openCacheFiles(pnCache *cache, bool isFolder);

/* Does the last part of a path have one of # * ? in it? */
bool pn_isCachePattern(const char *path);

/* Reads the bytes of one frame of MDD or PC2 into `outVertices` as they are in the file. */
pnResult pn_readCacheFrame(pnCache *cache, uint32_t frame, float *outVertices);
/* Turns the bytes of a frame into floats, in place, and refuses what is not finite. */
pnResult pn_decodeCacheFrame(const pnCache *cache, uint32_t frame, bool bigEndian, float *inOutVertices);

/* The counts of a header against the bytes there are: 12 a vertex and frame, from dataStart on. */
pnResult pn_checkCacheSize(const pnCache *cache, uint64_t fileSize);

#endif
