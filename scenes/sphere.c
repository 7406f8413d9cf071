/* sphere.c: a sphere from a regular solid whose faces are quartered again and again, new corners pushed out to the
 * sphere.
 *
 * A tetrahedron, an octahedron and an icosahedron give 4, 8 and 20 times a power of four triangles. Together they
 * hold all the sizes of the second experiment of [Larsson01]: 1 280, 5 120, 20 480 (icosahedron), 8 192, 32 768
 * (octahedron), 16 384, 65 536 (tetrahedron). The tetrahedron's triangles are the least even ones.
 *
 * The numbering of vertices and triangles is that of the straightforward loop: middle points are numbered when an
 * edge is first met, and the children of a triangle stay together. */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

typedef struct Solid {
  uint32_t vertexCount, faceCount;
  pnSceneVec vertices[12];
  uint8_t faces[20][3];
} Solid;

/* (1 + sqrt 5) / 2 */
#define GOLDEN 1.6180339887498949

static const Solid solids[] = {
    {12,
     20,
     {{-1, GOLDEN, 0},
      {1, GOLDEN, 0},
      {-1, -GOLDEN, 0},
      {1, -GOLDEN, 0},
      {0, -1, GOLDEN},
      {0, 1, GOLDEN},
      {0, -1, -GOLDEN},
      {0, 1, -GOLDEN},
      {GOLDEN, 0, -1},
      {GOLDEN, 0, 1},
      {-GOLDEN, 0, -1},
      {-GOLDEN, 0, 1}},
     {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
      {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
      {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}}},
    {6,
     8,
     {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}},
     {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}}},
    {4, 4, {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}, {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}}},
};

/* Middle points by edge: a hash table with open addressing, at most half full. */
typedef struct EdgeTable {
  uint64_t *keys; /* lower vertex << 32 | upper vertex; UINT64_MAX is free */
  uint32_t *middles;
  uint64_t mask;
} EdgeTable;

static bool createEdgeTable(EdgeTable *table, uint32_t edgeCount) {
  uint64_t size = 16;
  while (size < 2 * (uint64_t)edgeCount) size *= 2;
  table->mask = size - 1;
  table->keys = malloc(sizeof(uint64_t) * size);
  table->middles = malloc(sizeof(uint32_t) * size);
  if (table->keys == NULL || table->middles == NULL) return false;
  memset(table->keys, 0xff, sizeof(uint64_t) * size);
  return true;
}

static void destroyEdgeTable(EdgeTable *table) {
  free(table->keys);
  free(table->middles);
}

/* The middle of the edge from a to b: found, or made as vertex number *vertexCount. */
static uint32_t getMiddle(EdgeTable *table, pnSceneVec *points, uint32_t *vertexCount, uint32_t a, uint32_t b) {
  uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
  uint64_t at = (key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & table->mask;
  while (table->keys[at] != UINT64_MAX && table->keys[at] != key) at = (at + 1) & table->mask;
  if (table->keys[at] != key) {
    table->keys[at] = key;
    table->middles[at] = *vertexCount;
    points[*vertexCount] = pn_vecUnit(pn_vecScale(pn_vecAdd(points[a], points[b]), 0.5));
    ++*vertexCount;
  }
  return table->middles[at];
}

/* Quarters `triangleCount` triangles in place. They are taken from the last to the first so that a triangle's four
 * children, which overwrite later ones, never destroy one still needed; but middle points must be numbered from the
 * first to the last, so they are found in a pass before. */
static bool quarter(pnScene *scene, uint32_t triangleCount, uint32_t *vertexCount) {
  uint32_t *t = scene->triangles;
  EdgeTable table = {0};
  bool ok = createEdgeTable(&table, triangleCount * 3 / 2);
  for (uint32_t i = 0; ok && i < triangleCount; ++i)
    for (uint32_t k = 0; k < 3; ++k)
      getMiddle(&table, scene->points, vertexCount, t[3 * i + k], t[3 * i + (k + 1) % 3]);
  for (uint32_t i = triangleCount; ok && i-- > 0;) {
    uint32_t a = t[3 * i], b = t[3 * i + 1], c = t[3 * i + 2];
    uint32_t ab = getMiddle(&table, scene->points, vertexCount, a, b);
    uint32_t bc = getMiddle(&table, scene->points, vertexCount, b, c);
    uint32_t ca = getMiddle(&table, scene->points, vertexCount, c, a);
    uint32_t children[12] = {a, ab, ca, b, bc, ab, c, ca, bc, ab, bc, ca};
    memcpy(t + 12 * (size_t)i, children, sizeof children);
  }
  destroyEdgeTable(&table);
  return ok;
}

pnResult pn_makeSceneSphere(pnScene *scene) {
  /* the solid and the number of quarterings that give this many triangles */
  const Solid *solid = NULL;
  uint32_t levels = 0;
  for (uint32_t i = 0; i < sizeof solids / sizeof solids[0]; ++i) {
    uint64_t count = solids[i].faceCount;
    uint32_t n = 0;
    for (; count < scene->triangleCount; count *= 4) ++n;
    if (count == scene->triangleCount) {
      solid = &solids[i];
      levels = n;
      break;
    }
  }
  if (solid == NULL) return PN_ERROR_ARGUMENT;

  /* Euler: V = F / 2 + 2 */
  scene->vertexCount = scene->triangleCount / 2 + 2;
  pnResult result = pn_allocateSceneMesh(scene);
  if (result != PN_OK) return result;
  for (uint32_t i = 0; i < solid->vertexCount; ++i) scene->points[i] = pn_vecUnit(solid->vertices[i]);
  for (uint32_t i = 0; i < 3 * solid->faceCount; ++i) scene->triangles[i] = solid->faces[i / 3][i % 3];
  uint32_t vertexCount = solid->vertexCount, triangleCount = solid->faceCount;
  for (uint32_t n = 0; n < levels; ++n, triangleCount *= 4)
    if (!quarter(scene, triangleCount, &vertexCount)) return PN_ERROR_MEMORY;
  return PN_OK;
}
