/* rooms.c: see rooms.h. A room is a list of shapes, each placed by a turn about y and a shift; the turns are of angles
 * with rational sines, so that nothing depends on a library's cosine. */
#include "rooms.h"

#include <stdlib.h>
#include <string.h>

typedef enum Shape { BOX, ICOSPHERE, TORUS, KNOT, GRID } Shape;

typedef struct Thing {
  Shape shape;
  float size[3];     /* box: half sizes; others: radius, tube */
  uint32_t count[2]; /* cells, subdivisions, around and across, columns and rows */
  float turn;        /* about y: its sine; the cosine is positive */
  float at[3];
} Thing;

/* Turns by the 3-4-5 triangle. */
#define TURN 0.6f

static const Thing s_museum[] = {
    {BOX, {12, 3, 8}, {1}, 0, {0, 3, 0}},
    {BOX, {5, 2.5f, 0.1f}, {1}, TURN, {-5, 2.5f, 5}},
    {BOX, {3, 2.5f, 0.1f}, {1}, -TURN, {6, 2.5f, 5.5f}},
    {BOX, {0.1f, 2, 1.5f}, {1}, TURN, {1.5f, 2, 6}},
    {BOX, {0.3f, 3, 0.3f}, {1}, 0, {-9, 3, -7.4f}},
    {BOX, {0.3f, 3, 0.3f}, {1}, 0, {-3, 3, -7.4f}},
    {BOX, {0.3f, 3, 0.3f}, {1}, 0, {3, 3, -7.4f}},
    {BOX, {0.3f, 3, 0.3f}, {1}, 0, {9, 3, -7.4f}},
    {BOX, {0.5f, 0.5f, 0.5f}, {1}, TURN, {10.5f, 0.5f, 0}},
    {ICOSPHERE, {0.6f}, {4}, 0, {10.5f, 1.7f, 0}},
    {ICOSPHERE, {0.8f}, {4}, 0, {-10.5f, 0.9f, 2}},
    {KNOT, {0.6f, 0.12f}, {80, 24}, TURN, {10, 1.2f, 7}},
    {TORUS, {0.7f, 0.2f}, {60, 40}, -TURN, {-10.5f, 1.2f, 7}},
};

static const Thing s_living[] = {
    {BOX, {4, 1.5f, 3}, {1}, 0, {0, 1.5f, 0}},
    {BOX, {3, 1.4f, 0.05f}, {1}, TURN, {-1.6f, 1.4f, 1.2f}},
    {BOX, {1, 0.35f, 0.4f}, {60}, 0, {2, 0.35f, -2.4f}},
    {BOX, {0.4f, 0.35f, 1}, {60}, 0, {3.5f, 0.35f, -0.8f}},
    {BOX, {0.5f, 0.3f, 0.5f}, {60}, TURN, {2, 0.3f, 0}},
    {BOX, {0.6f, 0.02f, 0.35f}, {1}, 0, {1.8f, 0.75f, -1.2f}},
    {ICOSPHERE, {0.25f}, {5}, 0, {3.5f, 1.9f, 2.5f}},
    {ICOSPHERE, {0.18f}, {5}, 0, {-3.6f, 0.9f, -2.6f}},
    {TORUS, {0.2f, 0.08f}, {120, 80}, TURN, {1.8f, 0.9f, -1.2f}},
    {TORUS, {0.3f, 0.1f}, {120, 80}, 0, {-3.5f, 0.4f, -1.5f}},
    {KNOT, {0.25f, 0.05f}, {160, 80}, 0, {2, 1.1f, 0}},
    {GRID, {3, 2.4f}, {150, 100}, 0, {0, 1.3f, -2.9f}},
};

/* ---------------------------------------------------------------- making */

static pnResult makeShape(const Thing *t, pnMesh **out) {
  switch (t->shape) {
    case BOX: return pnMakeBox((pnVec3){t->size[0], t->size[1], t->size[2]}, t->count[0], out);
    case ICOSPHERE: return pnMakeIcosphere(t->count[0], t->size[0], out);
    case TORUS: return pnMakeTorus(t->size[0], t->size[1], t->count[0], t->count[1], out);
    case KNOT: return pnMakeKnot(2, 3, t->size[0], t->size[1], t->count[0], t->count[1], out);
    default: return pnMakeGrid(t->size[0], t->size[1], t->count[0], t->count[1], out);
  }
}

/* A turn about y by an angle of sine s, cosine c, and a shift. */
static pnMatrix placeOf(float s, float c, float x, float y, float z) {
  return (pnMatrix){{{c, 0, s, x}, {0, 1, 0, y}, {-s, 0, c, z}}};
}

/* Arrays while they grow. */
typedef struct Maker {
  float *vertices;
  uint32_t *triangles;
  uint32_t vertexCount, triangleCount;
} Maker;

static bool append(Maker *m, const pnMesh *shape, const pnMatrix *place) {
  uint32_t n = pnMesh_GetVertexCount(shape), count = pnMesh_GetTriangleCount(shape);
  float *vertices = realloc(m->vertices, 3 * ((size_t)m->vertexCount + n) * sizeof(float));
  m->vertices = vertices ? vertices : m->vertices;
  uint32_t *triangles = realloc(m->triangles, 3 * ((size_t)m->triangleCount + count) * sizeof(uint32_t));
  m->triangles = triangles ? triangles : m->triangles;
  if (!vertices || !triangles) return false;
  for (uint32_t v = 0; v < n; ++v) {
    const float *p = pnMesh_GetVertices(shape) + 3 * (size_t)v;
    for (int k = 0; k < 3; ++k) {
      const float *r = place->m[k];
      vertices[3 * ((size_t)m->vertexCount + v) + (size_t)k] = r[0] * p[0] + r[1] * p[1] + r[2] * p[2] + r[3];
    }
  }
  for (uint32_t i = 0; i < 3 * count; ++i)
    triangles[3 * (size_t)m->triangleCount + i] = pnMesh_GetTriangles(shape)[i] + m->vertexCount;
  m->vertexCount += n;
  m->triangleCount += count;
  return true;
}

pnResult pnCreateRoom(pnRoom room, pnMesh **outMesh) {
  *outMesh = NULL;
  if ((uint32_t)room >= PN_ROOM_COUNT) return pnFail(PN_ERROR_ARGUMENT, "room %d is not one of the list", (int)room);
  bool museum = room == PN_ROOM_MUSEUM;
  const Thing *things = museum ? s_museum : s_living;
  size_t count = museum ? sizeof s_museum / sizeof *s_museum : sizeof s_living / sizeof *s_living;
  Maker m = {0};
  pnResult result = PN_OK;
  for (size_t i = 0; result == PN_OK && i < count; ++i) {
    const Thing *t = &things[i];
    pnMesh *shape = NULL;
    pnMatrix place = placeOf(t->turn, t->turn != 0 ? 0.8f : 1, t->at[0], t->at[1], t->at[2]);
    result = makeShape(t, &shape);
    if (result == PN_OK && !append(&m, shape, &place)) result = pnFail(PN_ERROR_MEMORY, "room: out of memory");
    pnDestroyMesh(shape);
  }
  if (result == PN_OK) {
    pnMeshDef def = pnDefaultMeshDef();
    def.vertices = m.vertices;
    def.vertexCount = m.vertexCount;
    def.triangles = m.triangles;
    def.triangleCount = m.triangleCount;
    def.name = museum ? "museum" : "living-room";
    result = pnCreateMesh(&def, outMesh);
  }
  free(m.vertices);
  free(m.triangles);
  return result;
}

/* ---------------------------------------------------------------- walking */

/* Both rooms have a slanted partition turned by TURN: it runs along (0.8, 0, -0.6). The walker faces along it, that
 * is, +z turned by 90 degrees more: sine 0.8, cosine -0.6; and keeps so far from its middle plane that his hand, at
 * 0.32 from his own, is two centimetres from its face. */
pnMatrix pnRoom_Walk(pnRoom room, double walk) {
  const Thing *wall = room == PN_ROOM_MUSEUM ? &s_museum[1] : &s_living[1];
  float along = (float)((walk - 0.5) * 1.6) * wall->size[0], away = wall->size[2] + 0.34f;
  float x = wall->at[0] + along * 0.8f - away * 0.6f, z = wall->at[2] - along * 0.6f - away * 0.8f;
  return placeOf(0.8f, -0.6f, x, 0, z);
}

pnMatrix pnRoom_Place(pnRoom room, uint32_t index, uint32_t count) {
  bool museum = room == PN_ROOM_MUSEUM;
  float width = museum ? 18 : 5, depth = museum ? 8 : 2.4f;
  uint32_t pair = index / 2, pairs = (count + 1) / 2, columns = 1;
  while (columns * columns < 2 * pairs) ++columns;
  uint32_t rows = (pairs + columns - 1) / columns;
  float x = ((float)(pair % columns) + 0.5f) / (float)columns * width - width / 2 + (index % 2 ? 0.55f : 0);
  float z = ((float)(pair / columns) + 0.5f) / (float)rows * depth - (museum ? 6.5f : 2.0f);
  return placeOf(pair % 2 ? TURN : 0, pair % 2 ? 0.8f : 1, x, 0, z);
}
