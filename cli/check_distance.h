/* check_distance.h: `pinch check --distance`: how far each two bodies are apart, and between which points. */
#ifndef PN_CLI_CHECK_DISTANCE_H
#define PN_CLI_CHECK_DISTANCE_H

#include "choose.h"
#include "load.h"

#include "pinch/world.h"

#include <jansson.h>

/* Two bodies, by their numbers. */
typedef struct pnBodyDistance {
  uint32_t a, b;
  pnDistance found;
} pnBodyDistance;

typedef struct pnBodyDistances {
  pnBodyDistance *items; /* the closest first; without those of bodies that have no triangles */
  uint32_t count;
} pnBodyDistances;

/* Each two bodies that a choice allows. */
pnResult pn_measureBodies(pnWorld *world, const pnBodyId *ids, uint32_t bodyCount, const pnChoice *choice,
                          pnBodyDistances *out);
void pn_freeDistances(pnBodyDistances *distances); /* a zeroed one is allowed */

/* A table of the closest. */
bool pn_printDistances(const pnBodyDistances *distances, const pnLoadedMesh *bodies);
/* All of them. */
json_t *pn_jsonDistances(const pnBodyDistances *distances);

#endif
