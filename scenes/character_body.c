/* character_body.c: the skin of the figure as triangles: surface nets (Gibson 1998). Every cell of a grid that the skin
 * passes gets one vertex, first in the middle of where the skin crosses the cell's edges, then drawn onto the skin; every
 * edge of the grid that the skin crosses gets a quad of the four cells around it. The result is closed and close to
 * uniform, so the number of triangles follows from the size of the cells. */
#include <stdlib.h>
#include <string.h>

#include "character_parts.h"

/* Triangles times cell size squared: three times the skin's area, as measured. */
static const double s_trianglesTimesArea = 5.38;

/* ---------------------------------------------------------------- growing meshes */

/* Room for one element more. */
static bool grow(void **data, uint32_t count, uint32_t *capacity, size_t size) {
  if (count < *capacity) return true;
  uint32_t wanted = *capacity > 0 ? *capacity * 2 : 1024;
  void *larger = realloc(*data, wanted * size);
  if (larger == NULL) return false;
  *data = larger;
  *capacity = wanted;
  return true;
}

uint32_t pn_characterVertex(pnCharacterMesh *mesh, pnSceneVec p) {
  if (!grow((void **)&mesh->vertices, mesh->vertexCount, &mesh->vertexCapacity, sizeof(p))) {
    mesh->failed = true;
    return 0;
  }
  mesh->vertices[mesh->vertexCount] = p;
  return mesh->vertexCount++;
}

void pn_characterTriangle(pnCharacterMesh *mesh, uint32_t a, uint32_t b, uint32_t c) {
  if (!grow((void **)&mesh->triangles, mesh->triangleCount, &mesh->triangleCapacity, 3 * sizeof(uint32_t))) {
    mesh->failed = true;
    return;
  }
  uint32_t *triangle = mesh->triangles + (size_t)mesh->triangleCount++ * 3;
  triangle[0] = a;
  triangle[1] = b;
  triangle[2] = c;
}

void pn_characterQuad(pnCharacterMesh *mesh, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  if (mesh->failed) return;
  /* Cut along the shorter diagonal. */
  pnSceneVec ac = pn_vecSub(mesh->vertices[a], mesh->vertices[c]), bd = pn_vecSub(mesh->vertices[b], mesh->vertices[d]);
  if (pn_vecDot(ac, ac) <= pn_vecDot(bd, bd)) {
    pn_characterTriangle(mesh, a, b, c);
    pn_characterTriangle(mesh, a, c, d);
  } else {
    pn_characterTriangle(mesh, a, b, d);
    pn_characterTriangle(mesh, b, c, d);
  }
}

/* ---------------------------------------------------------------- the grid */

typedef struct pnSkinGrid {
  pnSceneVec origin;
  double cell;
  uint32_t count[3];  /* corners along x, y, z */
  float *values;      /* field at the corners */
  uint32_t *vertices; /* of the cells, by their lowest corner; UINT32_MAX for none */
} pnSkinGrid;

static size_t cornerIndex(const pnSkinGrid *grid, uint32_t x, uint32_t y, uint32_t z) {
  return ((size_t)z * grid->count[1] + y) * grid->count[0] + x;
}

static pnSceneVec cornerPoint(const pnSkinGrid *grid, uint32_t x, uint32_t y, uint32_t z) {
  return pn_vecAdd(grid->origin, pn_vecScale(pn_vec(x, y, z), grid->cell));
}

/* Fills a block of corners: by one value when its middle is far from the skin, which most of the grid is. */
static void fillBlock(pnSkinGrid *grid, uint32_t x0, uint32_t y0, uint32_t z0, uint32_t size) {
  uint32_t end[3], start[3] = {x0, y0, z0};
  for (int i = 0; i < 3; ++i) end[i] = start[i] + size < grid->count[i] ? start[i] + size : grid->count[i];
  pnSceneVec middle = pn_vecAdd(cornerPoint(grid, x0, y0, z0), pn_vecScale(pn_vec(1, 1, 1), 0.5 * size * grid->cell));
  double there = pn_characterField(middle);
  /* Half the diagonal of the block is 0.87 of its size; the rest is for a field that is no true distance. */
  bool far = fabs(there) > 1.8 * size * grid->cell;
  for (uint32_t z = z0; z < end[2]; ++z) {
    for (uint32_t y = y0; y < end[1]; ++y) {
      for (uint32_t x = x0; x < end[0]; ++x) {
        double value = far ? there : pn_characterField(cornerPoint(grid, x, y, z));
        grid->values[cornerIndex(grid, x, y, z)] = (float)value;
      }
    }
  }
}

static bool makeGrid(double cell, pnSkinGrid *grid) {
  pnSceneVec min, max;
  pn_characterBounds(&min, &max);
  /* Two cells of air all around. */
  min = pn_vecSub(min, pn_vec(2 * cell, 2 * cell, 2 * cell));
  max = pn_vecAdd(max, pn_vec(2 * cell, 2 * cell, 2 * cell));
  grid->origin = min;
  grid->cell = cell;
  grid->count[0] = (uint32_t)((max.x - min.x) / cell) + 2;
  grid->count[1] = (uint32_t)((max.y - min.y) / cell) + 2;
  grid->count[2] = (uint32_t)((max.z - min.z) / cell) + 2;
  size_t total = (size_t)grid->count[0] * grid->count[1] * grid->count[2];
  grid->values = malloc(total * sizeof(float));
  grid->vertices = malloc(total * sizeof(uint32_t));
  if (grid->values == NULL || grid->vertices == NULL) return false;
  memset(grid->vertices, 0xFF, total * sizeof(uint32_t));
  for (uint32_t z = 0; z < grid->count[2]; z += 4) {
    for (uint32_t y = 0; y < grid->count[1]; y += 4)
      for (uint32_t x = 0; x < grid->count[0]; x += 4) fillBlock(grid, x, y, z, 4);
  }
  return true;
}

/* ---------------------------------------------------------------- corners that touch only across */

/* Where two inside corners of a face, or of a cell, lie across from each other with outside ones between, the surface
 * would touch itself in an edge or a vertex. The outside corner nearest to the skin is then counted as inside. Only
 * outside corners change, so this ends. */
static float *valueAt(const pnSkinGrid *grid, const uint32_t cell[3], uint32_t corner) {
  return &grid->values[cornerIndex(grid, cell[0] + (corner & 1), cell[1] + (corner >> 1 & 1), cell[2] + (corner >> 2))];
}

/* Takes the smallest of the outside corners in a set (a bit a corner) inside. */
static void takeInside(const pnSkinGrid *grid, const uint32_t cell[3], uint32_t outside) {
  float *smallest = NULL;
  for (uint32_t i = 0; i < 8; ++i) {
    float *value = valueAt(grid, cell, i);
    if ((outside >> i & 1) && (smallest == NULL || *value < *smallest)) smallest = value;
  }
  *smallest = (float)(-1e-4 * grid->cell);
}

static bool repairCell(const pnSkinGrid *grid, const uint32_t cell[3]) {
  /* The six faces as pairs of diagonals. */
  static const uint8_t faces[6][2] = {{0x09, 0x06}, {0x90, 0x60}, {0x21, 0x12},
                                      {0x84, 0x48}, {0x41, 0x14}, {0x82, 0x28}};
  uint32_t inside = 0;
  for (uint32_t i = 0; i < 8; ++i) inside |= (*valueAt(grid, cell, i) < 0 ? 1u : 0u) << i;
  if (inside == 0 || inside == 0xFF) return false;
  for (int f = 0; f < 12; ++f) {
    uint32_t in = faces[f / 2][f % 2], out = faces[f / 2][1 - f % 2];
    if ((inside & (in | out)) == in) {
      takeInside(grid, cell, out);
      return true;
    }
  }
  /* Two corners across the cell, alone inside or alone outside. */
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t pair = 1u << i | 1u << (7 - i);
    if (inside == pair || inside == (0xFF & ~pair)) {
      takeInside(grid, cell, 0xFF & ~inside);
      return true;
    }
  }
  return false;
}

static void repairGrid(pnSkinGrid *grid) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t z = 0; z + 1 < grid->count[2]; ++z) {
      for (uint32_t y = 0; y + 1 < grid->count[1]; ++y)
        for (uint32_t x = 0; x + 1 < grid->count[0]; ++x) changed = repairCell(grid, (uint32_t[]){x, y, z}) || changed;
    }
  }
}

/* ---------------------------------------------------------------- vertices and quads */

/* Onto the skin, but not out of its neighbourhood: a vertex that wandered could fold the surface. */
static pnSceneVec settle(pnSceneVec p, double cell) {
  pnSceneVec q = pn_characterProject(p, 0.0), way = pn_vecSub(q, p);
  double size = sqrt(pn_vecDot(way, way)), most = 0.6 * cell;
  return size <= most ? q : pn_vecAdd(p, pn_vecScale(way, most / size));
}

/* The vertex of a cell: the mean of the crossings of its twelve edges. */
static void addVertex(pnSkinGrid *grid, uint32_t x, uint32_t y, uint32_t z, pnCharacterMesh *mesh) {
  float values[8];
  for (uint32_t i = 0; i < 8; ++i)
    values[i] = grid->values[cornerIndex(grid, x + (i & 1), y + (i >> 1 & 1), z + (i >> 2))];
  pnSceneVec sum = pn_vec(0, 0, 0);
  int crossings = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    for (uint32_t axis = 0; axis < 3; ++axis) {
      uint32_t j = i | 1u << axis;
      if (i == j || (values[i] < 0) == (values[j] < 0)) continue;
      double t = (double)values[i] / ((double)values[i] - (double)values[j]);
      pnSceneVec p = pn_vec(i & 1, i >> 1 & 1, i >> 2);
      if (axis == 0) p.x = t;
      if (axis == 1) p.y = t;
      if (axis == 2) p.z = t;
      sum = pn_vecAdd(sum, p);
      ++crossings;
    }
  }
  if (crossings == 0) return;
  pnSceneVec local = pn_vecScale(sum, grid->cell / crossings);
  pnSceneVec p = settle(pn_vecAdd(cornerPoint(grid, x, y, z), local), grid->cell);
  grid->vertices[cornerIndex(grid, x, y, z)] = pn_characterVertex(mesh, p);
}

/* The quad around the edge from a corner along an axis, seen from outside counter-clockwise. */
static void addQuad(const pnSkinGrid *grid, const uint32_t corner[3], int axis, pnCharacterMesh *mesh) {
  uint32_t next[3] = {corner[0], corner[1], corner[2]};
  ++next[axis];
  bool inside = grid->values[cornerIndex(grid, corner[0], corner[1], corner[2])] < 0;
  bool nextInside = grid->values[cornerIndex(grid, next[0], next[1], next[2])] < 0;
  if (inside == nextInside) return;
  uint32_t quad[4];
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  for (int i = 0; i < 4; ++i) {
    uint32_t cell[3] = {corner[0], corner[1], corner[2]};
    cell[u] -= i == 0 || i == 3;
    cell[v] -= i < 2;
    quad[i] = grid->vertices[cornerIndex(grid, cell[0], cell[1], cell[2])];
  }
  if (inside) pn_characterQuad(mesh, quad[0], quad[1], quad[2], quad[3]);
  else pn_characterQuad(mesh, quad[3], quad[2], quad[1], quad[0]);
}

void pn_makeCharacterBody(uint32_t triangleCount, pnCharacterMesh *out) {
  pnSkinGrid grid = {0};
  memset(out, 0, sizeof(*out));
  out->failed = !makeGrid(sqrt(s_trianglesTimesArea / triangleCount), &grid);
  if (!out->failed) repairGrid(&grid);

  /* A vertex for each cell, then a quad for each edge; the border of the grid is outside, so neighbours are there. */
  for (uint32_t z = 0; z + 1 < grid.count[2] && !out->failed; ++z) {
    for (uint32_t y = 0; y + 1 < grid.count[1]; ++y)
      for (uint32_t x = 0; x + 1 < grid.count[0]; ++x) addVertex(&grid, x, y, z, out);
  }
  for (uint32_t z = 1; z + 1 < grid.count[2] && !out->failed; ++z) {
    for (uint32_t y = 1; y + 1 < grid.count[1]; ++y) {
      for (uint32_t x = 1; x + 1 < grid.count[0]; ++x)
        for (int axis = 0; axis < 3; ++axis) addQuad(&grid, (uint32_t[]){x, y, z}, axis, out);
    }
  }
  free(grid.values);
  free(grid.vertices);
}
