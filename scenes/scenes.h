/* scenes.h: every moving scene of the project, made once, for tests, benchmark, command line and viewer.
 *
 * A scene is a number of bodies with fixed triangles and a number of frames. The vertices of any frame are computed
 * by formula when asked, so a scene costs little memory and any frame can be had at any time, in any order.
 *
 *   s1-N        two bumpy spheres of N triangles sink slowly into each other, 200 frames. First contact near frame 57.
 *               N is 4, 8 or 20 times a power of four: a tetrahedron, octahedron or icosahedron with its faces
 *               quartered. All sizes of the paper's second experiment are such numbers. ([Larsson01])
 *   s1-mixed-N  the same, vertices and triangles numbered at random.
 *   stray-N     the same as s1, with one vertex of each body far away, every ten frames another one.
 *   s2-N        a dense crowd of 27 bumpy spheres, 200 frames, bouncing softly off each other's centres and off walls.
 *   s3-N        two bodies, each a blend of three reference shapes, pass through each other in 400 frames.
 *   e4-N        the same two, from the first to the second to the third reference: two have a weight at a time.
 *               ([Larsson03], first experiment)
 *   e5-N        twelve dolphins, N = 564 times a power of four, swim and roll in a close group for 400 frames. All sizes
 *               have the same shape. ([Larsson03], second experiment)
 *   s4-N        one sheet of cloth of N = 2 g g triangles rolls up and ripples through itself, 60 frames.
 *   s4-twice-N  the same with two sides: a mesh that has each of N / 2 = 2 g g triangles twice, once each way round.
 *   s5-grid-N   two cubes of N = 12 g g triangles with steps on their faces slide through each other on a grid of 1/16:
 *               touching and coplanar triangles everywhere, and every coordinate is exact. 40 frames.
 *   s5-turned-N the same, rotated and rounded to float: touching triangles miss or cross by rounding errors.
 *   e3-spheres-N, e3-arms-N   27 bodies in a dense cluster, 200 frames, kept apart by a simple response to the
 *               contacts the caller found. These are *driven*: frame k+1 exists only after pnScene_Step told it
 *               what touched in frame k.
 *
 * What users bring, and laboratories forget; N is not always triangles:
 *   bodies-N    N small bodies of 12, 20 and 80 triangles drift and turn through each other in a box, 40 frames.
 *   idle-N      N such bodies that neither touch nor move, 20 frames.
 *   leaves-N    N leaves of two triangles tumble through each other, 40 frames.
 *   heap-N      N boxes of 12 triangles that touch, of which one in a hundred is pushed, 20 frames.
 *   shoal-N     N fish of 320 triangles swim and bend in a wide tank, and hardly two touch, 40 frames.
 *   terrain-N   a terrain of N triangles that stands still, and 500 bodies of 80 on it, 40 frames.
 *   level-N     a level of N triangles, two kilometres wide, that stands still, and 5 figures of 20 480 in its one fine hall, 40 frames.
 *   tiles-N     a floor of N triangles that stands still, 100 boxes of 12 exactly on it and 100 on these, 40 frames.
 *   ramp-N      a ramp of 12 triangles that stands still, and ten balls of N on it, 40 frames.
 *   hair-N      two tufts of N triangles in long thin strands comb through each other, 40 frames.
 *   hair-self-N one such tuft with itself.
 *   blobs-N     two noisy spheres of N triangles, deep in each other, 40 frames, or 4 from 32 768 on: many pairs.
 *   shuffle-N   two bodies of N triangles in patches of 32 that are somewhere else in every frame, 40 frames.
 *   shuffle-self-N   one such body with itself.
 *   swarm-N     two bodies of N triangles in patches of 8 that go round in a vortex, faster inside, 80 frames.
 *   decay-N     the same as swarm, a quarter as fast, for 1 000 frames.
 *   burst-N     a sphere of N triangles in chips of two, which fly apart from frame 10 on, through a wall of as many, 100 frames.
 *   burst-self-N   the sphere alone, with itself.
 *   tangle-N    a hundred strands of N triangles of one mesh in one tangle, 40 frames.
 *   pages-N     30 sheets of N triangles bend together like the pages of a book, in the end through their neighbours, 20 frames.
 *   roll-N      a sheet of N triangles is rolled up tightly and never meets itself, 20 frames.
 *   table-N     a sheet of N uneven triangles is laid exactly into the plane of another that stands still, 20 frames.
 *   slivers-N   two clouds of N / 2 needles each, ten thousand times as long as wide, pass through each other, 40 frames.
 *   cloth-ball, rod-twist   simulations out of the data folder (PINCH_DATA), a body with itself, 11 frames; not listed.
 *
 * Leave out -N for the usual size. Motions of s1 to s5 are those of the project's yardstick measurements, so figures
 * compare.
 *
 * Threads: a scene is const after creation, except for pnScene_Step on a driven one.
 * Memory: malloc; the triangles and rest positions of one body, references. Frames are not stored.
 */
#ifndef PINCH_SCENES_H
#define PINCH_SCENES_H

#include "pinch/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pnScene pnScene;

typedef struct pnSceneDef {
  const char *name;   /* as above: "s1", "s1-327680", "e3-arms"; default "s1" */
  uint32_t frameStep; /* take only every n-th moment of the motion; 0 (default) is the usual: 10 for spheres
                         above 65536 triangles, else 1. Driven scenes ignore it. */
} pnSceneDef;

pnSceneDef pnDefaultSceneDef(void);

/* Errors: PN_ERROR_ARGUMENT for an unknown name or an impossible size, PN_ERROR_MEMORY. */
pnResult pnCreateScene(const pnSceneDef *def, pnScene **outScene);
void pnDestroyScene(pnScene *scene); /* null is allowed */

/* The names without size and one line about each, for lists; null when index is past the last one. */
const char *pnGetSceneName(uint32_t index);
const char *pnGetSceneText(uint32_t index);

/* ---------------------------------------------------------------- what a scene is */

const char *pnScene_GetName(const pnScene *scene); /* with the size: "s1-20480" */
uint32_t pnScene_GetBodyCount(const pnScene *scene);
uint32_t pnScene_GetFrameCount(const pnScene *scene);
/* True when the question is whether the one body meets itself. */
bool pnScene_IsSelf(const pnScene *scene);
bool pnScene_IsDriven(const pnScene *scene);
/* True when the vertices of a body are the same in every frame. */
bool pnScene_IsStill(const pnScene *scene, uint32_t body);

uint32_t pnScene_GetVertexCount(const pnScene *scene, uint32_t body);
uint32_t pnScene_GetTriangleCount(const pnScene *scene, uint32_t body);
const uint32_t *pnScene_GetTriangles(const pnScene *scene, uint32_t body); /* 3 vertex numbers a triangle */

/* ---------------------------------------------------------------- frames */

/* Where the vertices of a body are: writes 3 * vertexCount floats. frame < frameCount, and for a driven scene at
 * most the number of steps taken so far. The same call always writes the same bits. Errors: PN_ERROR_INDEX when
 * there is no such body or frame (yet). */
pnResult pnScene_Frame(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices);

/* ---------------------------------------------------------------- scenes of reference shapes (s3, e4, e5) */

/* 0 for scenes that do not morph, else 3. */
uint32_t pnScene_GetReferenceCount(const pnScene *scene);
/* 3 * vertexCount floats of one reference shape of a body; null when there is no such. */
const float *pnScene_GetReference(const pnScene *scene, uint32_t body, uint32_t reference);
/* The blend of a frame: one weight a reference, not negative, summing to 1 within rounding, and a rigid transform. The
 * vertices that pnScene_Frame writes are, in float and from left to right, v = w[0]*r0 + w[1]*r1 + w[2]*r2 and then
 * m[i][0]*v.x + m[i][1]*v.y + m[i][2]*v.z + m[i][3]: those of a pose with these weights and this transform. */
pnResult pnScene_Weights(const pnScene *scene, uint32_t frame, uint32_t body, float *outWeights,
                         pnMatrix *outTransform);

/* ---------------------------------------------------------------- driven scenes (e3) */

/* Two bodies that touched. */
typedef struct pnSceneContact {
  uint32_t bodyA, bodyB;
} pnSceneContact;

/* Moves on from the newest frame to the next, given who touched in it: bodies that touch and still approach bounce
 * off each other along the line of their centres. Contacts may come in any order and more than once. Errors:
 * PN_ERROR_KIND for a scene that is not driven, PN_ERROR_INDEX for a contact of bodies that do not exist. Past the
 * last frame it does nothing. */
pnResult pnScene_Step(pnScene *scene, const pnSceneContact *contacts, uint32_t contactCount);
/* Frames that can be asked for: frameCount, or for a driven scene one more than the steps taken. */
uint32_t pnScene_GetReadyFrameCount(const pnScene *scene);
/* Back to the first frame, to play it again. */
void pnScene_Rewind(pnScene *scene);

#ifdef __cplusplus
}
#endif

#endif
