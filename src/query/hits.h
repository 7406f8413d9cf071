/* hits.h: one ray through one tree, as worlds and batches ask for it. */
#ifndef PN_QUERY_HITS_H
#define PN_QUERY_HITS_H

#include "base/array.h"
#include "geom/ray.h"
#include "pinch/query.h"
#include "query/lanes.h"

typedef PN_ARRAY(pnHit) pnHits;

/* What is wanted of a ray. */
typedef enum pnRayMode { PN_RAY_FIRST, PN_RAY_ANY, PN_RAY_ALL } pnRayMode;

/* A ray and what is known of it. */
typedef struct pnRayQuest {
  const pnRay *ray;
  double last;   /* nothing later is of interest: that of the ray, or of the best hit */
  pnBodyId body; /* whose tree is asked */
  pnHit best;    /* first, any: the hit so far; triangle PN_NONE: none */
  pnHits *all;   /* all: where hits go, in any order, some twice */
  bool failed;   /* all: out of memory */
} pnRayQuest;

void pn_beginRay(const pnRay *ray, pnRayQuest *out);

/* Rays that go through a tree side by side: as many as fit into the nearest cache with what waits for them. */
#define PN_RAY_GROUP 64u
/* Rays that are best asked at once: when one is done the next takes its place, and only at the end some places are empty. And those
 * that are dealt to a worker. */
#define PN_RAY_BATCH 512u
#define PN_RAY_GRAIN 256u

/* Looks through an updated tree. The quests' rays stand in one array, in their order. */
void pn_castRays(pnTree *tree, const pnLattice *lattice, pnRayMode mode, pnFresh *fresh, pnRayQuest *quests,
                 uint32_t count);

/* Sorts the hits of a ray by t, body and triangle, each once; returns how many are left. */
size_t pn_sortHits(pnHit *hits, size_t count);

/* Tries one triangle (the line is that of the ray); what it answers for all triangles is what a tree answers. */
void pn_tryRay(const pn_Line *line, const float *const corners[3], uint32_t triangle, pnRayMode mode,
               pnRayQuest *quest);

/* Where a list keeps its answers (query/answers.h). */
struct pnAnswers *pn_answersOfHits(pnHitList *list);

/* PN_ERROR_NUMBER or PN_ERROR_ARGUMENT for a ray that is none. */
pnResult pn_checkRays(const pnRay *rays, uint32_t count);

#endif
