/* check_distance.c: see check_distance.h. */
#include "check_distance.h"

#include "out.h"

#include <stdlib.h>

/* Rows of the table. */
#define SHOWN_DISTANCES 20u

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
  if (shown < distances->count)
    printf("  and %u%s that are farther apart; --json has %s\n", distances->count - shown,
           distances->limited ? " or more" : "", distances->limited ? "the closest" : "all");
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
