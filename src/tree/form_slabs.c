/* form_slabs.c: k-DOPs: intervals along 7, 9 or 13 directions (geom/slab.h), kept as cells of the tree's grid (tree.h). The box
 * is the same of three, and has what is said here, but for shorter ways of its own (form_box.c). */
#include "tree/carry.h"

#include <float.h>

/* ---------------------------------------------------------------- one volume */

void pn_slabsFromPoints(const pnFormRow *form, const float *points, uint32_t count, pnBound *out) {
  pn_slabsOfPoints(form->slabs, points, count, &out->slabs);
}

void pn_slabsOfVertices(const pnTree *tree, const pnSlabSet *set, const uint32_t *vertices, uint32_t count,
                        float *points, pnSlabs *out) {
  pn_slabsEmpty(out);
  for (uint32_t i = 0; i < count; i += PN_FETCH_CHUNK) {
    pnSlabs part;
    uint32_t n = PN_MIN(PN_FETCH_CHUNK, count - i);
    pn_fetchListed(tree->pose, vertices + i, n, points);
    pn_slabsOfPoints(set, points, n, &part);
    pn_slabsMerge(set, out, &part);
  }
}

static void ofVertices(const pnTree *tree, const uint32_t *vertices, uint32_t count, pnBound *out) {
  float points[4 * PN_FETCH_CHUNK];
  pn_slabsOfVertices(tree, tree->slabs, vertices, count, points, &out->slabs);
}

void pn_slabsAround(const pnFormRow *form, pnBound *into, const pnBound *other) {
  pn_slabsMerge(form->slabs, &into->slabs, &other->slabs);
}

void pn_slabsWiden(const pnFormRow *form, pnBound *bound, float by) {
  for (uint32_t d = 0; d < form->slabs->count; ++d) {
    /* not beyond float, where no cell is */
    bound->slabs.lo[d] = PN_MAX(-FLT_MAX, bound->slabs.lo[d] - by);
    bound->slabs.hi[d] = PN_MIN(FLT_MAX, bound->slabs.hi[d] + by);
  }
}

/* ---------------------------------------------------------------- lanes */

void pn_emptyLanes(pnTree *tree, uint32_t node, uint32_t count) {
  pnSlabLanes *lanes = pn_lanesOf(tree, node);
  for (uint32_t j = count; j < PN_LANES; ++j) {
    for (uint32_t d = 0; d < tree->slabs->count; ++d) {
      lanes->row[d][0][j] = INT16_MAX;
      lanes->row[d][1][j] = INT16_MIN;
    }
  }
}

/* One volume, as every root is. */
static void putOne(pnTree *tree, uint32_t node, const pnSlabs *s) {
  const pnH8 most = pn_h8Set1(INT16_MAX), least = pn_h8Set1(INT16_MIN);
  pnSlabLanes *lanes = pn_lanesOf(tree, node);
  for (uint32_t d = 0; d < tree->slabs->count; ++d) {
    pnF4 lo = pn_f4Set1(s->lo[d]), hi = pn_f4Set1(s->hi[d]);
    int16_t cells[2][PN_LANES];
    pn_h8Store(cells[0], pn_cellsOf(&tree->grid, d, lo, lo));
    pn_h8Store(cells[1], pn_cellsOf(&tree->grid, d, hi, hi));
    pn_h8Store(lanes->row[d][0], most);
    pn_h8Store(lanes->row[d][1], least);
    lanes->row[d][0][0] = cells[0][0];
    lanes->row[d][1][0] = cells[1][0];
  }
}

void pn_slabsPut(pnTree *tree, uint32_t node, const pnBound *bounds, uint32_t count) {
  if (count == 1) {
    putOne(tree, node, &bounds->slabs);
    return;
  }
  pnSlabLanes *lanes = pn_lanesOf(tree, node);
  for (uint32_t d = 0; d < tree->slabs->count; ++d) {
    float lo[PN_LANES], hi[PN_LANES];
    for (uint32_t j = 0; j < PN_LANES; ++j) {
      const pnSlabs *s = &bounds[PN_MIN(j, count - 1)].slabs;
      lo[j] = s->lo[d];
      hi[j] = s->hi[d];
    }
    pn_h8Store(lanes->row[d][0], pn_cellsOf(&tree->grid, d, pn_f4Load(lo), pn_f4Load(lo + 4)));
    pn_h8Store(lanes->row[d][1], pn_cellsOf(&tree->grid, d, pn_f4Load(hi), pn_f4Load(hi + 4)));
  }
  pn_emptyLanes(tree, node, count);
}

void pn_putRows(pnTree *tree, uint32_t node, const float *rows, uint32_t count) {
  pnSlabLanes *lanes = pn_lanesOf(tree, node);
  for (uint32_t d = 0; d < tree->slabs->count; ++d, rows += 2 * PN_LANES) {
    pn_h8Store(lanes->row[d][0], pn_cellsOf(&tree->grid, d, pn_f4Load(rows), pn_f4Load(rows + 4)));
    pn_h8Store(lanes->row[d][1], pn_cellsOf(&tree->grid, d, pn_f4Load(rows + 8), pn_f4Load(rows + 12)));
  }
  pn_emptyLanes(tree, node, count);
}

/* From the lower edge of the first cell to the upper edge of the last: exact, numbers below 2^25 times a power of two. Where cells
 * are larger than 1 the product that found the first may have underflowed to cell 0, and the one before is it. A cell at the end of
 * what 16 bits hold stands for all beyond it, too. */
void pn_slabsBoxes(const pnTree *tree, uint32_t node, uint32_t begin, uint32_t end, pnLaneBoxes *out) {
  const pnBoxLanes *b = pn_lanesOf(tree, node);
  for (int k = 0; k < 3; ++k) {
    double cell = pn_cellSize(&tree->grid, (uint32_t)k), offset = tree->grid.offset[k];
    for (uint32_t j = begin; j < end; ++j) {
      int16_t lo = b->row[k][0][j], hi = b->row[k][1][j];
      out->lo[k][j] = lo == INT16_MIN ? -INFINITY : (lo + offset - (cell > 1)) * cell;
      out->hi[k][j] = hi == INT16_MAX ? INFINITY : (hi + offset + 1) * cell;
    }
  }
}

/* Counted in cells, exact: sides of up to 2^17, of up to eight boxes. Worlds look at every tree in every frame, and the last worker at a
 * large one while all others wait: so all lanes are alike, and those of nobody, whose ends are the wrong way around, have no sides. Of a body
 * whose grid is over most of it those that reach beyond do not count. */
double pn_slabsSurface(const pnTree *tree, uint32_t node) {
  const pnBoxLanes *b = pn_lanesOf(tree, node);
  double cell = tree->grid.cell, sides[3][PN_LANES], areas[PN_LANES], sum = 0;
  int32_t more = 1 + (cell > 1);
  pnH8 bounded = pn_boundedLanes(b);
  int16_t counts[PN_LANES];
  for (int k = 0; k < 3; ++k) {
    const int16_t *lo = b->row[k][0], *hi = b->row[k][1];
    for (uint32_t j = 0; j < PN_LANES; ++j) sides[k][j] = PN_MAX(hi[j] - lo[j] + more, 0);
  }
  for (uint32_t j = 0; j < PN_LANES; ++j)
    areas[j] = sides[0][j] * sides[1][j] + sides[1][j] * sides[2][j] + sides[2][j] * sides[0][j];
  pn_h8Store(counts, bounded);
  for (uint32_t j = 0; j < PN_LANES; ++j) sum += counts[j] ? areas[j] : 0;
  return pn_h8Mask(bounded) == 0xff || tree->grid.isClipped ? sum * cell * cell : INFINITY;
}

/* The cell of a number, as lanes have it. */
static int16_t cellOf(const pnGrid *grid, uint32_t d, float x) {
  int16_t cells[PN_LANES];
  pn_h8Store(cells, pn_cellsOf(grid, d, pn_f4Set1(x), pn_f4Set1(x)));
  return cells[0];
}

bool pn_slabsContain(const pnTree *tree, uint32_t node, uint32_t lane, const float p[4]) {
  const pnSlabLanes *b = pn_lanesOf(tree, node);
  pnSlabs point;
  pn_slabsOfPoints(tree->slabs, p, 1, &point);
  for (uint32_t d = 0; d < tree->slabs->count; ++d)
    if (cellOf(&tree->grid, d, point.hi[d]) < b->row[d][0][lane] ||
        cellOf(&tree->grid, d, point.lo[d]) > b->row[d][1][lane])
      return false;
  return true;
}

/* ---------------------------------------------------------------- carried */

void pn_slabsStore(const pnFormRow *form, void *lanes, const pnBound *bounds, uint32_t count) {
  pnModelSlabs *m = lanes;
  for (uint32_t d = 0; d < form->slabs->count; ++d) {
    for (uint32_t j = 0; j < count; ++j) {
      m->row[d][0][j] = bounds[j].slabs.lo[d];
      m->row[d][1][j] = bounds[j].slabs.hi[d];
    }
  }
}

void pn_slabsCarry(const pnFormRow *form, const pnCarry *carry, const void *lanes, uint32_t count, pnBound *out) {
  float rows[2 * PN_MAX_SLABS * PN_LANES];
  pn_carryRows(carry, form->slabs->count, lanes, rows);
  for (uint32_t d = 0; d < form->slabs->count; ++d) {
    for (uint32_t j = 0; j < count; ++j) {
      out[j].slabs.lo[d] = rows[(2 * d) * PN_LANES + j];
      out[j].slabs.hi[d] = rows[(2 * d + 1) * PN_LANES + j];
    }
  }
}

/* ---------------------------------------------------------------- the rows */

#define DOP(text, set, directions)                                                                             \
  {                                                                                                            \
    .name = (text), .slabs = &(set), .laneBytes = (directions)*2 * PN_LANES * sizeof(int16_t),                 \
    .modelBytes = (directions)*2 * PN_LANES * sizeof(float), .eagerBytes = sizeof(pnBound),                    \
    .ofPoints = pn_slabsFromPoints, .ofVertices = ofVertices, .merge = pn_slabsAround, .widen = pn_slabsWiden, \
    .put = pn_slabsPut, .boxes = pn_slabsBoxes, .surface = pn_slabsSurface, .contains = pn_slabsContain,       \
    .store = pn_slabsStore, .carry = pn_slabsCarry, .fillInner = pn_fillInnerAny, .fillLeaf = pn_fillLeafAny,  \
    .boundCluster = pn_boundClusterAny, .mergeEager = pn_mergeEagerAny                                         \
  }

const pnFormRow pn_formDop14 = DOP("14-DOP", pn_slabDop14, 7);
const pnFormRow pn_formDop18 = DOP("18-DOP", pn_slabDop18, 9);
const pnFormRow pn_formDop26 = DOP("26-DOP", pn_slabDop26, 13);
