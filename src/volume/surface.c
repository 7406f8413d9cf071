/* surface.c: the shared space as a mesh, for viewing.
 *
 * Every span is a square column. Its two ends are drawn, and of its four sides what is not covered by the spans of
 * the cell next to it. The walls of two neighbours are cut where the other begins or ends, so the pieces fit without
 * overlap: the mesh encloses exactly the sampled volume. */
#include "volume/overlap.h"

#include "base/fenv.h"
#include "base/memory.h"
#include "volume/walk.h"

typedef struct Surface {
  const pnView *view;
  PN_ARRAY(float) vertices;
  PN_ARRAY(uint32_t) triangles;
  bool outOfMemory;
} Surface;

/* Adds the rectangle with corner `at` and sides of `size` cells or steps along axes i and j of the view (j = i + 1
 * modulo 3), seen from the side where axis i + 2 points, or from the other when `flip`. */
static void addQuad(Surface *surface, const int32_t at[3], int i, int32_t sizeI, int32_t sizeJ, bool flip) {
  const pnView *view = surface->view;
  uint32_t first = (uint32_t)(surface->vertices.count / 3);
  if (!pn_arrayReserve(&surface->vertices, surface->vertices.count + 12) ||
      !pn_arrayReserve(&surface->triangles, surface->triangles.count + 6)) {
    surface->outOfMemory = true;
    return;
  }
  for (int corner = 0; corner < 4; ++corner) {
    int32_t grid[3] = {at[0], at[1], at[2]};
    if (corner == 1 || corner == 2) grid[i] += sizeI;
    if (corner == 2 || corner == 3) grid[(i + 1) % 3] += sizeJ;
    double q[3], p[3];
    for (int k = 0; k < 3; ++k)
      q[k] = view->lo[k] + view->unit[k] * (k < 2 ? (double)(1 << view->cellShift) : 1.0) * grid[k];
    pn_viewToWorld(view, q, p);
    for (int k = 0; k < 3; ++k) surface->vertices.data[surface->vertices.count++] = (float)p[k];
  }
  static const uint32_t front[6] = {0, 1, 2, 0, 2, 3}, back[6] = {0, 2, 1, 0, 3, 2};
  for (int k = 0; k < 6; ++k) surface->triangles.data[surface->triangles.count++] = first + (flip ? back[k] : front[k]);
}

/* The wall between cell (x, y) and the one before it along axis 0 or 1: what only one of them has. */
static void addWall(Surface *surface, uint32_t x, uint32_t y, int axis, const pnInterval *before, size_t beforeCount,
                    const pnInterval *here, size_t hereCount) {
  size_t i = 0, j = 0;
  for (int32_t z = 0, next; i < beforeCount || j < hereCount; z = next) {
    // inside which of the two, and until where
    while (i < beforeCount && before[i].hi <= z) ++i;
    while (j < hereCount && here[j].hi <= z) ++j;
    bool inBefore = i < beforeCount && before[i].lo <= z, inHere = j < hereCount && here[j].lo <= z;
    next = INT32_MAX;
    if (i < beforeCount) next = PN_MIN(next, inBefore ? before[i].hi : before[i].lo);
    if (j < hereCount) next = PN_MIN(next, inHere ? here[j].hi : here[j].lo);
    if (inBefore == inHere) continue;
    int32_t at[3] = {(int32_t)x, (int32_t)y, z};
    // axis 0: a rectangle along (1, 2) faces axis 0; axis 1: along (2, 0) faces axis 1
    if (axis == 0) addQuad(surface, at, 1, 1, next - z, inHere);
    else addQuad(surface, at, 2, next - z, 1, inHere);
  }
}

/* Spans of one row of cells; cell x has list[starts[x]] ... list[starts[x + 1] - 1]. */
typedef struct Row {
  PN_ARRAY(pnInterval) list;
  PN_ARRAY(uint32_t) starts;
} Row;

static bool findRow(const pnOverlap *overlap, uint32_t y, Row *row) {
  const pnLayers *a = &overlap->images[0].layers, *b = &overlap->images[1].layers;
  row->list.count = row->starts.count = 0;
  for (uint32_t x = 0; x < a->view.size; ++x) {
    if (!pn_arrayPush(&row->starts, (uint32_t)row->list.count)) return false;
    pnSharedWalk walk = pn_walkShared(a, b, x, y, overlap->def.rule);
    for (pnInterval span; pn_nextShared(&walk, &span);)
      if (!pn_arrayPush(&row->list, span)) return false;
  }
  return pn_arrayPush(&row->starts, (uint32_t)row->list.count);
}

/* Ends and walls of a row, towards the row above and between its own cells. */
static void addRow(Surface *surface, uint32_t y, const Row *above, const Row *row) {
  uint32_t size = surface->view->size;
  for (uint32_t x = 0; x <= size; ++x) {
    const pnInterval *here = row->list.data, *left = row->list.data, *up = above->list.data;
    size_t hereCount = 0, leftCount = 0, upCount = 0;
    if (x < size && row->list.count)
      here += row->starts.data[x], hereCount = row->starts.data[x + 1] - row->starts.data[x];
    if (x > 0 && row->list.count)
      left += row->starts.data[x - 1], leftCount = row->starts.data[x] - row->starts.data[x - 1];
    if (x < size && above->list.count)
      up += above->starts.data[x], upCount = above->starts.data[x + 1] - above->starts.data[x];
    for (size_t i = 0; i < hereCount; ++i) {
      int32_t bottom[3] = {(int32_t)x, (int32_t)y, here[i].lo}, top[3] = {(int32_t)x, (int32_t)y, here[i].hi};
      addQuad(surface, bottom, 0, 1, 1, true);
      addQuad(surface, top, 0, 1, 1, false);
    }
    addWall(surface, x, y, 0, left, leftCount, here, hereCount);
    if (x < size) addWall(surface, x, y, 1, up, upCount, here, hereCount);
  }
}

pnResult pnOverlap_MakeMesh(const pnOverlap *overlap, pnMesh **outMesh) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(overlap && outMesh);
  *outMesh = NULL;
  Surface surface = {.view = &overlap->images[0].layers.view};
  Row rows[2] = {0};

  // row by row; the last, empty one closes the surface
  pnResult result = PN_OK;
  uint32_t rowCount = overlap->measured ? surface.view->size + 1 : 0;
  for (uint32_t y = 0; y < rowCount && !surface.outOfMemory; ++y) {
    Row *row = &rows[y & 1], *above = &rows[~y & 1];
    if (y < surface.view->size) surface.outOfMemory |= !findRow(overlap, y, row);
    else row->list.count = 0;
    if (!surface.outOfMemory) addRow(&surface, y, above, row);
    if (surface.vertices.count / 3 > UINT32_MAX - 8 * (size_t)PN_MAX_RESOLUTION) {
      result = pn_fail(PN_ERROR_COUNT, "the mesh of the shared space has too many vertices; lower the resolution");
      break;
    }
  }
  if (surface.outOfMemory) result = pn_fail(PN_ERROR_MEMORY, "out of memory while making the mesh of the shared space");

  if (result == PN_OK) {
    pnMeshDef def = pnDefaultMeshDef();
    def.vertices = surface.vertices.data;
    def.vertexCount = (uint32_t)(surface.vertices.count / 3);
    def.triangles = surface.triangles.data;
    def.triangleCount = (uint32_t)(surface.triangles.count / 3);
    def.name = "overlap";
    result = pnCreateMesh(&def, outMesh);
  }
  for (int i = 0; i < 2; ++i) {
    pn_arrayFree(&rows[i].list);
    pn_arrayFree(&rows[i].starts);
  }
  pn_arrayFree(&surface.vertices);
  pn_arrayFree(&surface.triangles);
  return result;
}
