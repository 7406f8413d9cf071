/* mirror.h: a body that has no coherence, followed as a soup.
 *
 * A tree over a mesh is worth its build while neighbours stay neighbours. Where patches are thrown about in every frame its
 * volumes are as large as the body, and building anew takes longer than the frame. The tree of a soup finds every primitive's
 * place anew in each update (tree/bucket.c): so such a body gets a soup of its triangles, in their order, that reads the
 * vertices of the pose where they are, or where it has a transform, is set from it in every frame. Its own tree stays what it is, for the caller's queries and for the day when coherence comes
 * back. Answers are the same: the same triangles by the same numbers, tested by the same exact tests.
 *
 * A body that looks at itself is asked by its mirror, too: the soup tells neighbours by the vertices of the mesh (collide/name.c). What is known
 * of a surface at rest is not there then, so that each pair of neighbours is tested by itself. Whether that pays is found out by trying
 * (tend.c). */
#ifndef PN_WORLD_MIRROR_H
#define PN_WORLD_MIRROR_H

#include "base/core.h"
#include "world/body.h"

/* What the tree of the body was when it was left, and whether that was right is still to be found out (tend.c). */
typedef struct pnMirrorTrial {
  bool isOn;
  uint64_t formerOpened; /* pairs of nodes in the last frame of the tree */
  double formerWork;     /* with the tests that came of them (tend.c) */
  float formerQuality;
} pnMirrorTrial;

typedef struct pnMirror {
  pnSoup *soup;
  pnTree *tree;
  uint64_t frame; /* of the pose, that the soup was set to */
  uint32_t age;   /* frames that it has followed, */
  uint32_t asked; /* and those in which a query came to it */
  pnMirrorTrial trial;
} pnMirror;

/* The tree that queries between bodies use. */
PN_INLINE pnTree *pn_treeOf(const pnBody *body) {
  return body->mirror ? body->mirror->tree : body->tree;
}

/* For a free body. */
pnResult pn_makeMirror(pnBody *body, const pnTasks *tasks);
/* Brings the mirror and its tree to the pose. */
pnResult pn_followMirror(pnBody *body, const pnTasks *tasks);
void pn_dropMirror(pnBody *body);

#endif
