/* layers.c: memory of an image, and the sort of its layers. */
#include "volume/layers.h"

#include "base/memory.h"

#include <string.h>

pnResult pn_layersReset(pnLayers *layers, const pnView *view, bool fromHigh, bool open, bool thick) {
  uint32_t bandCount = (view->size + PN_BAND_ROWS - 1) / PN_BAND_ROWS;
  size_t perBand = (size_t)PN_BAND_ROWS * view->size + 1;

  // more bands: the old ones keep their memory
  if (bandCount > layers->bandCapacity) {
    pnBand *bands = pn_allocZero(pn_bytes(bandCount, sizeof(pnBand)));
    if (!bands) return pn_failMemory(pn_bytes(bandCount, sizeof(pnBand)));
    if (layers->bandCapacity) memcpy(bands, layers->bands, layers->bandCapacity * sizeof(pnBand));
    pn_free(layers->bands, layers->bandCapacity * sizeof(pnBand));
    layers->bands = bands;
    layers->bandCapacity = bandCount;
  }
  size_t offsetCount = (thick ? 2 : 1) * perBand * bandCount;
  if (offsetCount > layers->offsetCount) {
    uint32_t *block = pn_alloc(pn_bytes(offsetCount, sizeof(uint32_t)));
    if (!block) return pn_failMemory(pn_bytes(offsetCount, sizeof(uint32_t)));
    pn_free(layers->offsetBlock, layers->offsetCount * sizeof(uint32_t));
    layers->offsetBlock = block;
    layers->offsetCount = offsetCount;
  }

  layers->view = *view;
  layers->fromHigh = fromHigh;
  layers->hasThick = false;
  layers->open = open;
  layers->bandCount = bandCount;
  for (uint32_t b = 0; b < bandCount; ++b) {
    layers->bands[b].offsets = layers->offsetBlock + perBand * b;
    layers->bands[b].thickOffsets = thick ? layers->offsetBlock + perBand * (bandCount + b) : NULL;
  }
  return PN_OK;
}

void pn_layersFree(pnLayers *layers) {
  for (uint32_t b = 0; b < layers->bandCapacity; ++b) {
    pn_free(layers->bands[b].keys, layers->bands[b].keyCapacity * sizeof(uint32_t));
    pn_free(layers->bands[b].thick, layers->bands[b].thickCapacity * sizeof(pnInterval));
  }
  pn_free(layers->bands, layers->bandCapacity * sizeof(pnBand));
  pn_free(layers->offsetBlock, layers->offsetCount * sizeof(uint32_t));
  *layers = (pnLayers){0};
}

size_t pn_layersBytes(const pnLayers *layers) {
  size_t bytes = layers->bandCapacity * sizeof(pnBand) + layers->offsetCount * sizeof(uint32_t);
  for (uint32_t b = 0; b < layers->bandCapacity; ++b)
    bytes += layers->bands[b].keyCapacity * sizeof(uint32_t) + layers->bands[b].thickCapacity * sizeof(pnInterval);
  return bytes;
}

bool pn_bandReserve(pnBand *band, size_t count) {
  if (band->keys && count <= band->keyCapacity) return true;
  // nothing in it is worth keeping; an eighth more, so that a body that breathes does not allocate every frame
  size_t capacity = count + count / 8 + 64;
  uint32_t *keys = pn_alloc(pn_bytes(capacity, sizeof(uint32_t)));
  if (!keys) return false;
  pn_free(band->keys, band->keyCapacity * sizeof(uint32_t));
  band->keys = keys;
  band->keyCapacity = capacity;
  return true;
}

/* ---------------------------------------------------------------- sort */

/* Heap sort, for cells with many layers: in place and never slow. */
static void sortMany(uint32_t *keys, uint32_t count) {
  for (uint32_t end = count, start = count / 2; end > 1;) {
    // first make the heap, then take the largest off it, again and again
    uint32_t key;
    if (start > 0) {
      key = keys[--start];
    } else {
      key = keys[--end];
      keys[end] = keys[0];
    }
    uint32_t hole = start, child = 2 * hole + 1;
    for (; child < end; child = 2 * hole + 1) {
      if (child + 1 < end && keys[child + 1] > keys[child]) ++child;
      if (keys[child] <= key) break;
      keys[hole] = keys[child];
      hole = child;
    }
    keys[hole] = key;
  }
}

/* Insertion is quicker up to about this many. Neighbouring cells get their layers in the same order, so the branches
 * repeat from cell to cell and are foreseen. */
#define SORT_FEW 24

void pn_sortLayers(uint32_t *keys, uint32_t count) {
  // two and four are by far the most frequent
  if (count == 2) {
    pn_orderTwo(keys, keys + 1);
    return;
  }
  if (count == 4) {
    pn_orderFour(keys, keys + 1, keys + 2, keys + 3);
    return;
  }
  if (count > SORT_FEW) {
    sortMany(keys, count);
    return;
  }
  for (uint32_t i = 1; i < count; ++i) {
    uint32_t key = keys[i], j = i;
    for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
    keys[j] = key;
  }
}

void pn_bandSort(pnBand *band, uint32_t cellCount) {
  uint32_t most = 0, odd = 0;
  for (uint32_t c = 0, begin = 0; c < cellCount; ++c) {
    uint32_t end = band->offsets[c + 1], count = end - begin;
    most = PN_MAX(most, count);
    odd += count & 1;
    if (count > 1) pn_sortLayers(band->keys + begin, count);
    begin = end;
  }
  band->maxLayers = most;
  band->oddCount = odd;
}

/* ---------------------------------------------------------------- statistics */

uint64_t pn_layersCount(const pnLayers *layers) {
  uint64_t count = 0;
  for (uint32_t b = 0; b < layers->bandCount; ++b) count += layers->bands[b].offsets[PN_BAND_ROWS * layers->view.size];
  return count;
}

uint32_t pn_layersMax(const pnLayers *layers) {
  uint32_t most = 0;
  for (uint32_t b = 0; b < layers->bandCount; ++b) most = PN_MAX(most, layers->bands[b].maxLayers);
  return most;
}

uint32_t pn_layersOdd(const pnLayers *layers) {
  uint32_t odd = 0;
  for (uint32_t b = 0; b < layers->bandCount; ++b) odd += layers->bands[b].oddCount;
  return odd;
}
