/* soup_name.c: primitives that know each other: names of vertices, and how they are handed on.
 *
 * [Ganovelli00] leaves open that neighbours of a soup always touch: every two triangles of a surface that is given as a soup are a
 * pair. Here a corner may have a name. Corners with one name *are* one vertex while they stand at one place, which is how welded
 * vertices of a mesh are neighbours (pnMeshDef.vertexWeld); so the names are the weld of the mesh that stands for the soup, and
 * every test that knows neighbours knows these (collide/name.c).
 *
 * A corner without a name has its own number, 3 * place + k, which is below 3 * 2^26; names are above that, from PN_NAMED on, and so
 * nobody is a neighbour by accident.
 *
 * A cut makes new corners. That on an edge between two names must be one vertex for all who have that edge, who are cut one after the
 * other, in other calls: the soup remembers it by the edge's two names and by its coordinates, which have the same bits from whichever side
 * they are computed (soup_cut.c). The same edge at another place, by another plane, is another vertex. */
#include "base/memory.h"
#include "mesh/soup.h"

#include <string.h>

/* ---------------------------------------------------------------- the array */

static size_t nameBytes(const pnSoup *soup) {
  return soup->names ? pn_bytes(3 * (size_t)soup->capacity, sizeof(uint32_t)) : 0;
}

void pn_freeNames(pnSoup *soup) {
  pn_free(soup->names, nameBytes(soup));
  pn_free(soup->cuts.cells, soup->cuts.room * sizeof(pnCutVertex));
  soup->names = NULL;
  soup->cuts = (pnCutVertices){0};
}

void pn_forgetNames(pnSoup *soup, uint32_t place) {
  for (uint32_t k = 0; k < 3 && soup->names; ++k) soup->names[3 * (size_t)place + k] = 3 * place + k;
}

pnResult pn_needNames(pnSoup *soup) {
  if (soup->names) return PN_OK;
  size_t count = 3 * (size_t)soup->capacity;
  soup->names = pn_alloc(pn_bytes(count, sizeof(uint32_t)));
  if (!soup->names) return pn_failMemory(pn_bytes(count, sizeof(uint32_t)));
  for (size_t i = 0; i < count; ++i) soup->names[i] = (uint32_t)i;
  return PN_OK;
}

void pn_writeNames(pnSoup *soup, uint32_t place, const uint32_t names[3]) {
  uint32_t corners = soup->corners[place];
  pn_forgetNames(soup, place);
  // as the last corner is repeated up to three, so is its name
  for (uint32_t k = 0; k < 3; ++k) {
    uint32_t name = names[PN_MIN(k, corners - 1)];
    if (name != PN_NONE) soup->names[3 * (size_t)place + k] = PN_NAMED | name;
  }
}

void pn_readNames(const pnSoup *soup, uint32_t place, uint32_t out[3]) {
  for (uint32_t k = 0; k < 3; ++k) {
    uint32_t name = soup->names ? soup->names[3 * (size_t)place + k] : 0;
    out[k] = name & PN_NAMED ? name & ~PN_NAMED : PN_NONE;
  }
}

size_t pn_namesByteCount(const pnSoup *soup) {
  return nameBytes(soup) + soup->cuts.room * sizeof(pnCutVertex);
}

/* ---------------------------------------------------------------- vertices that cuts made */

static uint64_t hashOf(uint32_t u, uint32_t v, const uint32_t at[3]) {
  const uint32_t parts[5] = {u, v, at[0], at[1], at[2]};
  uint64_t hash = 0;
  for (int i = 0; i < 5; ++i) {
    hash = (hash ^ parts[i]) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

/* The cell of a vertex, or the empty one where it belongs. There is always an empty one. */
static pnCutVertex *cellOf(const pnCutVertices *cuts, uint32_t u, uint32_t v, const uint32_t at[3]) {
  size_t i = hashOf(u, v, at) & (cuts->room - 1);
  for (;; i = (i + 1) & (cuts->room - 1)) {
    pnCutVertex *c = &cuts->cells[i];
    if (c->name == PN_NONE || (c->u == u && c->v == v && memcmp(c->at, at, sizeof c->at) == 0)) return c;
  }
}

/* Room for so many more, half of the cells empty. On failure nothing is changed. */
static pnResult reserveCuts(pnCutVertices *cuts, size_t more) {
  size_t room = PN_MAX(cuts->room, 64u);
  while (room < 2 * (cuts->count + more)) room *= 2;
  if (room == cuts->room) return PN_OK;
  pnCutVertices grown = {.room = room, .count = cuts->count, .cells = pn_alloc(pn_bytes(room, sizeof(pnCutVertex)))};
  if (!grown.cells) return pn_failMemory(pn_bytes(room, sizeof(pnCutVertex)));
  for (size_t i = 0; i < room; ++i) grown.cells[i] = (pnCutVertex){.name = PN_NONE};
  for (size_t i = 0; i < cuts->room; ++i) {
    const pnCutVertex *c = &cuts->cells[i];
    if (c->name != PN_NONE) *cellOf(&grown, c->u, c->v, c->at) = *c;
  }
  pn_free(cuts->cells, cuts->room * sizeof(pnCutVertex));
  *cuts = grown;
  return PN_OK;
}

pnResult pn_reserveCut(pnSoup *soup) {
  // three corners may get names of their own and two are new
  if (soup->nameEnd > PN_NAMED - 5)
    return pn_fail(PN_ERROR_COUNT, "soup '%s': cut: there are no vertex names left below 2^31", soup->mesh.name);
  return reserveCuts(&soup->cuts, 2);
}

uint32_t pn_nameOfCut(pnSoup *soup, uint32_t u, uint32_t v, const float at[3]) {
  uint32_t bits[3];
  for (int k = 0; k < 3; ++k) {
    float x = at[k] + 0.0f; // -0 is 0
    memcpy(&bits[k], &x, sizeof x);
  }
  uint32_t lo = PN_MIN(u, v), hi = PN_MAX(u, v);
  pnCutVertex *c = cellOf(&soup->cuts, lo, hi, bits);
  if (c->name == PN_NONE) {
    *c = (pnCutVertex){lo, hi, {bits[0], bits[1], bits[2]}, soup->nameEnd++};
    ++soup->cuts.count;
  }
  return c->name;
}

/* ---------------------------------------------------------------- joining */

pnResult pn_reserveFusedNames(pnSoup *into, const pnSoup *from) {
  if (!from->names) return PN_OK;
  if (from->nameEnd > PN_NAMED - into->nameEnd)
    return pn_fail(PN_ERROR_COUNT, "soup '%s': fuse: its vertex names and those of '%s' are not all below 2^31",
                   into->mesh.name, from->mesh.name);
  pnResult result = pn_needNames(into);
  return result == PN_OK ? reserveCuts(&into->cuts, from->cuts.count) : result;
}

void pn_fuseCuts(pnSoup *into, pnSoup *from) {
  for (size_t i = 0; i < from->cuts.room; ++i) {
    pnCutVertex c = from->cuts.cells[i];
    if (c.name == PN_NONE) continue;
    c.u += into->nameEnd, c.v += into->nameEnd, c.name += into->nameEnd;
    *cellOf(&into->cuts, c.u, c.v, c.at) = c;
    ++into->cuts.count;
  }
  into->nameEnd += from->nameEnd;
  pn_freeNames(from);
  from->nameEnd = 0;
}

/* ---------------------------------------------------------------- the door */

pnResult pnSoup_NameVertices(pnSoup *soup, const pnPrimitiveId *ids, const uint32_t *names, uint32_t count) {
  PN_ASSERT(soup && ((ids && names) || count == 0));
  uint32_t end = soup->nameEnd;
  for (uint32_t i = 0; i < count; ++i) {
    if (!pnSoup_IsValid(soup, ids[i])) return pn_failId(soup, ids[i], i);
    for (uint32_t k = 0; k < soup->corners[ids[i].index1 - 1]; ++k) {
      uint32_t name = names[3 * (size_t)i + k];
      if (name != PN_NONE && name >= PN_MAX_NAMES)
        return pn_fail(PN_ERROR_INDEX, "soup '%s': corner %u of entry %u has the name %u, they must be below 2^30",
                       soup->mesh.name, k, i, name);
      end = name != PN_NONE ? PN_MAX(end, name + 1) : end;
    }
  }
  pnResult result = count > 0 ? pn_needNames(soup) : PN_OK;
  if (result != PN_OK) return result;
  for (uint32_t i = 0; i < count; ++i) pn_writeNames(soup, ids[i].index1 - 1, names + 3 * (size_t)i);
  soup->nameEnd = end;
  pn_touchSoup(soup);
  return PN_OK;
}

bool pnSoup_GetVertexNames(const pnSoup *soup, pnPrimitiveId id, uint32_t outNames[3]) {
  bool alive = pnSoup_IsValid(soup, id);
  if (alive) pn_readNames(soup, id.index1 - 1, outNames);
  else outNames[0] = outNames[1] = outNames[2] = PN_NONE;
  return alive;
}
