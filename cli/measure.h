/* measure.h: how far bodies are apart: every two of them, or the closest pairs where there are very many. */
#ifndef PN_CLI_MEASURE_H
#define PN_CLI_MEASURE_H

#include "choose.h"
#include "near_boxes.h"

#include "pinch/world.h"

/* Two bodies, by their numbers. */
typedef struct pnBodyDistance {
  uint32_t a, b;
  pnDistance found;
} pnBodyDistance;

typedef struct pnBodyDistances {
  pnBodyDistance *items; /* the closest first; without those of bodies that have no triangles */
  uint32_t count, capacity;
  bool limited; /* there are more, and they are farther apart than these */
} pnBodyDistances;

/* Where all bodies are, and which of them are asked about. */
typedef struct pnMeasureDef {
  pnWorld *world;
  const pnBodyId *ids;
  const pnNearBox *boxes;
  uint32_t bodyCount;
  const pnChoice *choice;
  uint32_t most; /* pairs that are listed at most */
} pnMeasureDef;

pnResult pn_measureBodies(const pnMeasureDef *def, pnBodyDistances *out);
void pn_freeDistances(pnBodyDistances *distances); /* a zeroed one is allowed */

#endif
