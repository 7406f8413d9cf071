/* hub.c: see hub.h. */
#include "tree/hub.h"

#include "base/memory.h"
#include "base/sort.h"

#include <string.h>

/* With fewer triangles of its own a hub has none: they go with the others. More than a leaf holds. */
#define LEAST_OWN (PN_HUB_LEAST / 4)

static uint32_t ringSize(const pnMesh *mesh, uint32_t v) {
  return mesh->ringOffsets[v + 1] - mesh->ringOffsets[v];
}

uint32_t pn_hubAt(const pnHubs *hubs, uint32_t vertex) {
  uint32_t lo = 0, hi = hubs->count;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    if (hubs->vertex[mid] < vertex) lo = mid + 1;
    else hi = mid;
  }
  return lo < hubs->count && hubs->vertex[lo] == vertex ? lo : PN_NONE;
}

/* Every triangle to the largest of its hubs, of two that are as large to the first. */
static void assign(const pnMesh *mesh, pnHubs *h) {
  memset(h->of, 0xff, h->triangleCount * sizeof(uint32_t));
  for (uint32_t i = 0; i < h->count; ++i) {
    for (uint32_t r = mesh->ringOffsets[h->vertex[i]]; r < mesh->ringOffsets[h->vertex[i] + 1]; ++r) {
      uint32_t *of = &h->of[mesh->rings[r]];
      if (*of == PN_NONE || ringSize(mesh, h->vertex[i]) > ringSize(mesh, h->vertex[*of])) *of = i;
    }
  }
  for (size_t t = 0; t < h->triangleCount; ++t)
    if (h->of[t] != PN_NONE) ++h->size[h->of[t]];
  for (size_t t = 0; t < h->triangleCount; ++t)
    if (h->of[t] != PN_NONE && h->size[h->of[t]] < LEAST_OWN) h->of[t] = PN_NONE;
  for (uint32_t i = 0; i < h->count; ++i) h->size[i] = h->size[i] < LEAST_OWN ? 0 : h->size[i];
}

/* The ring of every hub, sorted. */
static void sortRings(const pnMesh *mesh, pnHubs *h, pnKeyValue *items, pnKeyValue *scratch) {
  for (uint32_t i = 0; i < h->count; ++i) {
    uint32_t begin = mesh->ringOffsets[h->vertex[i]], n = ringSize(mesh, h->vertex[i]), first = h->first[i];
    for (uint32_t r = 0; r < n; ++r) items[r] = (pnKeyValue){h->of[mesh->rings[begin + r]], mesh->rings[begin + r]};
    pn_sortKeyValue(items, scratch, n);
    for (uint32_t r = n; r-- > 0;) {
      bool last = r + 1 == n || items[r].key != items[r + 1].key;
      h->ring[first + r] = items[r].value;
      h->next[first + r] = last ? first + r + 1 : h->next[first + r + 1];
    }
    h->first[i + 1] = first + n;
  }
}

bool pn_findHubs(const pnMesh *mesh, pnHubs *out) {
  *out = (pnHubs){0};
  uint32_t most = 0;
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
    uint32_t n = ringSize(mesh, v);
    out->count += n >= PN_HUB_LEAST;
    out->ringCount += n >= PN_HUB_LEAST ? n : 0;
    most = PN_MAX(most, n);
  }
  if (out->count == 0) return true;
  out->triangleCount = mesh->triangleCount;
  size_t itemBytes = pn_bytes(most, sizeof(pnKeyValue));
  pnKeyValue *items = pn_alloc(itemBytes), *scratch = pn_alloc(itemBytes);
  out->vertex = pn_allocZero(pn_bytes(out->count, sizeof(uint32_t)));
  out->size = pn_allocZero(pn_bytes(out->count, sizeof(uint32_t)));
  out->of = pn_alloc(pn_bytes(out->triangleCount, sizeof(uint32_t)));
  out->first = pn_allocZero(pn_bytes((size_t)out->count + 1, sizeof(uint32_t)));
  out->ring = pn_alloc(pn_bytes(out->ringCount, sizeof(uint32_t)));
  out->next = pn_alloc(pn_bytes(out->ringCount, sizeof(uint32_t)));
  bool ok = items && scratch && out->vertex && out->size && out->of && out->first && out->ring && out->next;
  if (ok) {
    for (uint32_t v = 0, i = 0; v < mesh->vertexCount; ++v)
      if (ringSize(mesh, v) >= PN_HUB_LEAST) out->vertex[i++] = v;
    assign(mesh, out);
    sortRings(mesh, out, items, scratch);
  }
  pn_free(items, itemBytes);
  pn_free(scratch, itemBytes);
  return ok;
}

void pn_freeHubs(pnHubs *hubs) {
  pn_free(hubs->vertex, pn_bytes(hubs->count, sizeof(uint32_t)));
  pn_free(hubs->size, pn_bytes(hubs->count, sizeof(uint32_t)));
  pn_free(hubs->of, pn_bytes(hubs->triangleCount, sizeof(uint32_t)));
  pn_free(hubs->first, pn_bytes((size_t)hubs->count + 1, sizeof(uint32_t)));
  pn_free(hubs->ring, pn_bytes(hubs->ringCount, sizeof(uint32_t)));
  pn_free(hubs->next, pn_bytes(hubs->ringCount, sizeof(uint32_t)));
  *hubs = (pnHubs){0};
}
