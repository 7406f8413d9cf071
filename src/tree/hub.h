/* hub.h: vertices with very many triangles around them, for self queries: the apex of a cone, the middle of a cap.
 *
 * All triangles around a vertex touch each other there, so that no volumes keep them apart, and a tree over n of them would be
 * opened n^2 / 2 times, and link as many leaves, only to leave neighbours out. Therefore the triangles of a hub have a subtree
 * of their own and nothing else in it (build_hub.c). A self query does not open the pair of that subtree's root with itself:
 * all below it are neighbours, which are looked at another way (collide/hub_sweep.h). Nor are its leaves linked to each other. */
#ifndef PN_TREE_HUB_H
#define PN_TREE_HUB_H

#include "mesh/mesh.h"

/* Triangles that make a vertex a hub. Below, n^2 is small, and fans (collide/fan.h) are proved apart at once or listed. */
#define PN_HUB_LEAST 256u

typedef struct pnHubs {
  uint32_t count;
  uint32_t *vertex; /* welded, ascending */
  uint32_t *size;   /* triangles that belong to it: those of which it is the largest hub; 0 when they are few */
  uint32_t *of;     /* by triangle: the hub it belongs to, or PN_NONE */
  uint32_t *first;  /* count + 1, into `ring` */
  uint32_t *ring;   /* the triangles around each hub, sorted by the hub they belong to */
  uint32_t *next;   /* beside `ring`: where those of the next hub begin */
  size_t triangleCount, ringCount;
} pnHubs;

/* Of a mesh. A zeroed one, as from a mesh without hubs, is valid and empty. False: out of memory. */
bool pn_findHubs(const pnMesh *mesh, pnHubs *out);
void pn_freeHubs(pnHubs *hubs);

/* Which hub a welded vertex is, or PN_NONE. */
uint32_t pn_hubAt(const pnHubs *hubs, uint32_t vertex);

#endif
