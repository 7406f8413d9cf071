/* anim.h: the arithmetic of node maps and keys, shared by the evaluation (anim_state.c) and the reader (gltf_place.c). In double: the
 * products of a long chain of nodes are rounded to float once, at the end. */
#ifndef PN_IO_ANIM_H
#define PN_IO_ANIM_H

#include "pinch/io.h"

/* Three rows of four, as pnMatrix. */
typedef struct pnMap {
  double m[3][4];
} pnMap;

/* The parts of a node that a clip can move. */
typedef struct pnAnimParts {
  double translation[3], rotation[4], scale[3];
} pnAnimParts;

pnMap pn_mapFromMatrix(const pnMatrix *matrix);
pnMatrix pn_mapToMatrix(const pnMap *map);
/* First b, then a. */
pnMap pn_mapMultiply(const pnMap *a, const pnMap *b);
/* Translation * rotation * scale. The quaternion is normalised; one without length counts as no rotation. */
pnMap pn_mapFromParts(const pnAnimParts *parts);
pnAnimParts pn_partsOfNode(const pnAnimNode *node); /* at rest */
/* The local map of a node at rest. */
pnMap pn_mapOfNode(const pnAnimNode *node);
bool pn_mapIsFinite(const pnMatrix *matrix);

/* Nodes with parents before children, into `order`; `placed` is room for a byte a node. Answers PN_NONE, or a node that
 * is its own ancestor. Parents must be in range. */
uint32_t pn_orderNodes(const pnAnimNode *nodes, uint32_t count, uint32_t *order, uint8_t *placed);

/* The value of a channel at `time`: channel->width numbers. */
void pn_sampleChannel(const pnAnimChannel *channel, double time, double *out);

#endif
