/* check_distance.c: see check_distance.h. The library measures; here are the list and the ways to show it. */
#include "check_distance.h"

#include "out.h"

#include <stdlib.h>

/* More pairs of bodies than these are hardly a question that somebody reads the answer of. */
#define MOST_DISTANCES 10000000u
/* Rows of the table. */
#define SHOWN_DISTANCES 20u

static int compareDistances(const void *left, const void *right) {
  const pnBodyDistance *a = left, *b = right;
  if (a->found.distance != b->found.distance) return a->found.distance < b->found.distance ? -1 : 1;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return (a->b > b->b) - (a->b < b->b);
}

/* Keeps those that have a distance, sorted. */
static void keepFound(pnBodyDistances *distances, const pnDistance *found) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < distances->count; ++i) {
    if (found[i].triangleA == PN_NONE) continue;
    distances->items[kept] = distances->items[i];
    distances->items[kept++].found = found[i];
  }
  distances->count = kept;
  qsort(distances->items, kept, sizeof *distances->items, compareDistances);
}

pnResult pn_measureBodies(pnWorld *world, const pnBodyId *ids, uint32_t bodyCount, const pnChoice *choice,
                          pnBodyDistances *out) {
  uint64_t count = 0;
  for (uint32_t a = 0; a < bodyCount; ++a)
    for (uint32_t b = a + 1; b < bodyCount; ++b) count += pn_choiceAllows(choice, a, b);
  if (count > MOST_DISTANCES)
    return pnFail(PN_ERROR_ARGUMENT, "%llu pairs of bodies are too many to measure; --only A,B chooses some",
                  (unsigned long long)count);
  pnBodyPair *pairs = malloc((size_t)count * sizeof *pairs + 1);
  pnDistance *found = malloc((size_t)count * sizeof *found + 1);
  *out = (pnBodyDistances){malloc((size_t)count * sizeof *out->items + 1), 0};
  pnResult result = PN_OK;
  if (!pairs || !found || !out->items)
    result = pnFail(PN_ERROR_MEMORY, "out of memory for %u distances", (uint32_t)count);
  for (uint32_t a = 0; a < bodyCount && result == PN_OK; ++a)
    for (uint32_t b = a + 1; b < bodyCount; ++b) {
      if (!pn_choiceAllows(choice, a, b)) continue;
      pairs[out->count] = (pnBodyPair){ids[a], ids[b]};
      out->items[out->count++] = (pnBodyDistance){.a = a, .b = b};
    }
  if (result == PN_OK) result = pnWorld_FindDistances(world, pairs, out->count, INFINITY, found);
  if (result == PN_OK) keepFound(out, found);
  free(pairs);
  free(found);
  return result;
}

void pn_freeDistances(pnBodyDistances *distances) {
  free(distances->items);
  *distances = (pnBodyDistances){0};
}

static void addPoint(pnTable *table, pnVec3 p) {
  pn_addCell(table, "%.4g %.4g %.4g", p.x, p.y, p.z);
}

bool pn_printDistances(const pnBodyDistances *distances, const pnLoadedMesh *bodies) {
  if (distances->count == 0) return true;
  pnTable table = {0};
  pn_addColumn(&table, ">a");
  pn_addColumn(&table, ">b");
  pn_addColumn(&table, ">distance");
  pn_addColumn(&table, "from the point of a");
  pn_addColumn(&table, "to that of b");
  pn_addColumn(&table, "between");
  uint32_t shown = distances->count < SHOWN_DISTANCES ? distances->count : SHOWN_DISTANCES;
  for (uint32_t i = 0; i < shown; ++i) {
    const pnBodyDistance *one = &distances->items[i];
    pn_addCell(&table, "%u", one->a);
    pn_addCell(&table, "%u", one->b);
    pn_addCell(&table, "%.6g", one->found.distance);
    addPoint(&table, one->found.onA);
    addPoint(&table, one->found.onB);
    pn_addCell(&table, "%s and %s", bodies[one->a].name, bodies[one->b].name);
  }
  bool good = pn_printTable(&table);
  pn_freeTable(&table);
  if (shown < distances->count) printf("  and %u that are farther apart; --json has all\n", distances->count - shown);
  putchar('\n');
  return good;
}

static json_t *jsonPoint(pnVec3 p) {
  return json_pack("[f,f,f]", (double)p.x, (double)p.y, (double)p.z);
}

json_t *pn_jsonDistances(const pnBodyDistances *distances) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < distances->count; ++i) {
    const pnBodyDistance *one = &distances->items[i];
    json_array_append_new(
        list,
        json_pack("{s:I, s:I, s:f, s:o, s:o, s:I, s:I}", "a", (json_int_t)one->a, "b", (json_int_t)one->b, "distance",
                  one->found.distance, "on_a", jsonPoint(one->found.onA), "on_b", jsonPoint(one->found.onB),
                  "triangle_a", (json_int_t)one->found.triangleA, "triangle_b", (json_int_t)one->found.triangleB));
  }
  return list;
}
