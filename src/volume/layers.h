/* layers.h: the image itself. For every cell its layers, sorted, and the depths where some surface touches the cell.
 *
 *   key        depth * 2 + (1 when the surface leaves the body there, 0 when it enters): keys sort by depth, and at one
 *              depth entries come first, so that parts that touch are one part
 *   band       PN_BAND_ROWS rows of the image: the unit of work of a thread. Its layers are one array, those of its
 *              cell c are keys[offsets[c]] ... keys[offsets[c+1]-1]
 *   thick      per cell disjoint ascending intervals of depth, none where no surface touches the cell. At a depth out
 *              of them the cell is wholly inside or wholly outside, as its centre is. See thick.c
 *
 * Depths are clamped to the window. Beyond its far end (near end, when `fromHigh`) surfaces may be missing, because
 * nobody asks: count from the other end. */
#ifndef PN_VOLUME_LAYERS_H
#define PN_VOLUME_LAYERS_H

#include "volume/view.h"
#include "volume/walk_column.h"

#define PN_BAND_ROWS 8

typedef struct pnBand {
  uint32_t *offsets; /* PN_BAND_ROWS * size + 1 */
  uint32_t *keys;
  size_t keyCapacity;
  uint32_t *thickOffsets;
  pnInterval *thick;
  size_t thickCapacity;
  uint32_t maxLayers, oddCount;
} pnBand;

typedef struct pnLayers {
  pnView view;
  bool fromHigh; /* the high end is outside the body: count from there */
  bool hasThick;
  bool open; /* the surface may have a border: nothing is left out, and a cell's odd layer, the last, is dropped */
  uint32_t bandCount;
  pnBand *bands;
  uint32_t *offsetBlock; /* all offsets of all bands; behind them those of the touched depths, when asked for */
  size_t offsetCount;
  uint32_t bandCapacity;
} pnLayers;

/* Room for an image of this view, with touched depths when `thick`; what it held is gone, its memory is kept. */
pnResult pn_layersReset(pnLayers *layers, const pnView *view, bool fromHigh, bool open, bool thick);
void pn_layersFree(pnLayers *layers);
size_t pn_layersBytes(const pnLayers *layers);

/* Room for `count` keys in a band; false when out of memory. */
bool pn_bandReserve(pnBand *band, size_t count);

/* Two keys and four in order, without a branch. Four by five exchanges: the pairs of halves, then the smaller and the
 * larger ones, then the middle. */
PN_INLINE void pn_orderTwo(uint32_t *a, uint32_t *b) {
  uint32_t least = PN_MIN(*a, *b), most = PN_MAX(*a, *b);
  *a = least, *b = most;
}
PN_INLINE void pn_orderFour(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) {
  pn_orderTwo(a, b), pn_orderTwo(c, d), pn_orderTwo(a, c), pn_orderTwo(b, d), pn_orderTwo(b, c);
}

/* Sorts the keys of one cell. */
void pn_sortLayers(uint32_t *keys, uint32_t count);

/* Sorts each cell's keys and takes the band's statistics. */
void pn_bandSort(pnBand *band, uint32_t cellCount);

uint64_t pn_layersCount(const pnLayers *layers);
uint32_t pn_layersMax(const pnLayers *layers);
uint32_t pn_layersOdd(const pnLayers *layers);

PN_INLINE pnColumn pn_layersColumn(const pnLayers *layers, uint32_t x, uint32_t y) {
  const pnBand *band = layers->bands + y / PN_BAND_ROWS;
  uint32_t cell = y % PN_BAND_ROWS * layers->view.size + x;
  pnColumn column = {band->keys + band->offsets[cell], band->offsets[cell + 1] - band->offsets[cell], NULL, 0};
  if (layers->open) column.keyCount &= ~1u;
  if (layers->hasThick) {
    column.thick = band->thick + band->thickOffsets[cell];
    column.thickCount = band->thickOffsets[cell + 1] - band->thickOffsets[cell];
  }
  return column;
}

#endif
