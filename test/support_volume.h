/* support_volume.h: bodies for the volume tests, and what their volumes really are. */
#ifndef PN_TEST_SUPPORT_VOLUME_H
#define PN_TEST_SUPPORT_VOLUME_H

#include "support.h"

#include "pinch/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A mesh and one pose of it. */
typedef struct TestBody {
  pnMesh *mesh;
  pnPose *pose;
} TestBody;

TestBody testBody(pnMesh *mesh); /* takes the mesh over */
void testFreeBody(TestBody *body);

TestBody testBox(float x, float y, float z, uint32_t cells); /* half sizes */
TestBody testSphere(uint32_t subdivisions, float radius);
TestBody testTorus(float ring, float tube, uint32_t around, uint32_t across);
/* A ball with a ball-shaped hole: the inner surface faces the hole. */
TestBody testHollow(uint32_t subdivisions, float radius, float hole);
/* A sphere whose radius waves up and down: not convex, bumps and dents. */
TestBody testStar(uint32_t subdivisions, float radius, float bump);

/* Two copies of a body's mesh in one mesh, the second moved by (x, y, z) and turned inside out when `flip`. */
TestBody testTwice(const TestBody *body, float x, float y, float z, bool flip);

/* By default, at this resolution. */
pnOverlap *testOverlap(const TestBody *a, const TestBody *b, uint32_t resolution);

void testPlace(TestBody *body, float x, float y, float z);
pnMatrix testMatrixAt(float x, float y, float z);

/* The volume a closed mesh encloses where its pose is now, by the divergence theorem. */
double testVolumeOf(const TestBody *body);

/* The shared volume of two closed simple meshes, in doubles: the tetrahedra over all pairs of triangles, clipped to
 * each other, with signs. For small meshes. */
double testSharedVolume(const TestBody *a, const TestBody *b);

/* The same, much faster, when b is convex: a's tetrahedra clipped to b's planes. */
double testSharedVolumeConvex(const TestBody *a, const TestBody *b);

/* Does the surface wind around the point? By the sum of solid angles, in doubles; 0, 1, -1, 2 ... */
int testWinding(const TestBody *body, const float point[3]);

/* Least distance from a point to the surface. */
double testDistance(const TestBody *body, const float point[3]);

#ifdef __cplusplus
}
#endif

#endif
