/* inbox.h: one box and one tree, as worlds and batches ask for it. */
#ifndef PN_QUERY_INBOX_H
#define PN_QUERY_INBOX_H

#include "base/array.h"
#include "pinch/query.h"
#include "query/lanes.h"

typedef PN_ARRAY(pnBodyTriangle) pnBodyTriangles;

/* Appends the triangles of an updated tree, in any order, some twice. False: out of memory. */
bool pn_findInBox(pnTree *tree, const pnLattice *lattice, const pnBox *box, pnBodyId body, pnFresh *fresh,
                  pnBodyTriangles *out);

/* By body and number, each once; returns how many are left. */
size_t pn_sortTriangles(pnBodyTriangle *triangles, size_t count);

bool pn_isEmptyBox(const pnBox *box);
/* PN_ERROR_NUMBER for one that is not finite. */
pnResult pn_checkBoxes(const pnBox *boxes, uint32_t count);

/* Where a list keeps its answers (query/answers.h). */
struct pnAnswers *pn_answersOfTriangles(pnTriangleList *list);

#endif
