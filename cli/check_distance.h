/* check_distance.h: `pinch check --distance`: what was measured, as a table and as JSON. */
#ifndef PN_CLI_CHECK_DISTANCE_H
#define PN_CLI_CHECK_DISTANCE_H

#include "load.h"
#include "measure.h"

#include <jansson.h>

/* A table of the closest. */
bool pn_printDistances(const pnBodyDistances *distances, const pnLoadedMesh *bodies);
/* All of them. */
json_t *pn_jsonDistances(const pnBodyDistances *distances);

#endif
