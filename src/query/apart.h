/* apart.h: how far two trees are apart, as worlds and batches ask for it. */
#ifndef PN_QUERY_APART_H
#define PN_QUERY_APART_H

#include "pinch/query.h"
#include "query/lanes.h"

/* What is known. Before a search: nothing farther than distance2 is of interest (INFINITY: anything is). */
typedef struct pnApart {
  double distance2; /* squared; 0: they meet */
  double onA[3], onB[3];
  uint32_t a, b; /* PN_NONE: nothing within the distance. Of several pairs at one distance the smallest a, then b */
} pnApart;

/* Tries two triangles. What a search answers is what this would answer for every pair: the same bits. True: it is the best so far. */
bool pn_tryApart(const float *const a[3], uint32_t triangleA, const float *const b[3], uint32_t triangleB,
                 pnApart *apart);

/* Of two updated trees. */
void pn_findApart(pnTree *a, pnTree *b, pnFresh *fresh, pnApart *apart);

/* As the door gives it. */
pnDistance pn_publishApart(const pnTree *a, const pnTree *b, const pnApart *apart);

#endif
