/* assemble_links.h: which leaves of a shape that is being made have triangles that share a vertex; for self queries. */
#ifndef PN_TREE_ASSEMBLE_LINKS_H
#define PN_TREE_ASSEMBLE_LINKS_H

#include "base/task.h"
#include "tree/build.h"
#include "tree/vertex_lists.h"

/* What they are found from. */
typedef struct pnLinkInput {
  const pnTasks *tasks;
  const pnMesh *mesh;
  const pnHubs *hubs;
  const pnBuildResult *shape;
  const pnVertexLists *lists; /* of leaves */
  const uint32_t *leafNode;   /* leaf -> build node */
  const uint32_t *leafFirst;  /* leaf -> how many vertices are listed before it, and one more */
  uint32_t leafCount;
} pnLinkInput;

/* The links of some leaves in a row, found by one worker. */
struct pnLinkBlock;
typedef struct pnLeafLinks {
  size_t count; /* of all */
  uint32_t leafCount, blockCount;
  uint32_t *first; /* leaf -> its first link within its block */
  struct pnLinkBlock *blocks;
} pnLeafLinks;

/* False: out of memory. Free in any case. */
bool pn_findLinks(const pnLinkInput *input, pnLeafLinks *out);
void pn_freeLinks(pnLeafLinks *links);
/* Into arrays of leafCount + 1 and of as many as there are. */
void pn_writeLinks(const pnLeafLinks *links, uint32_t *outFirst, pnLeafLink *outLinks);

#endif
