/* moving.h: two states of a mesh, and which of its features meet on the way from one to the other: public truth.
 *
 * The scenes cloth-ball and rod-twist of the data folder (PINCH_DATA, or ../shared/data), as doubles where the file has doubles.
 * Vertices move on straight lines. The lists hold every vertex and face, and every two edges, that share no vertex and
 * meet at some time; edges are numbered as in the files' truth: each once, i < j, sorted by j, then i.
 */
#ifndef PINCH_SCENES_MOVING_H
#define PINCH_SCENES_MOVING_H

#include "pinch/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pnMovingScene {
  uint32_t vertexCount, edgeCount, triangleCount;
  double (*from)[3], (*to)[3];
  uint32_t (*edges)[2], (*triangles)[3];
  size_t truthCount[2];    /* of vertices and faces, of edges */
  uint32_t (*truth[2])[2]; /* vertex, face; edge, later edge. Sorted. */
} pnMovingScene;

/* False when the data is not there, or is not as it should be. Free with pnFreeMovingScene in any case. */
bool pnReadMovingScene(const char *dataFolder, const char *name, pnMovingScene *outScene);
void pnFreeMovingScene(pnMovingScene *scene);

#ifdef __cplusplus
}
#endif

#endif
