/* support_shape.h: shapes of all kinds for tests, bent poses, and their saved blocks, changed as somebody would who means it. */
#ifndef PN_TEST_SUPPORT_SHAPE_H
#define PN_TEST_SUPPORT_SHAPE_H

#include "support.h"

#include "avatar.h"
#include "base/bytes.h"
#include "pinch/pinch.h"

/* What they are made of: opened and closed as a group's setup and teardown. */
typedef struct TestShapes {
  pnMesh *ball, *knot, *mask, *cone;
  pnMorph *morph, *references, *breath; /* of the mask, the ball, the avatar */
  pnAvatar avatar;
} TestShapes;
extern TestShapes testShapes;
int testOpenShapes(void **state);
int testCloseShapes(void **state);

enum { TEST_SHAPES = 20 };
/* Definitions of all kinds, by number. */
pnShapeDef testShapeDef(int i);
pnShapeDef testShapeDefOf(const pnMesh *mesh, const pnMorph *morph, const pnSkin *skin);
const pnShape *testShapeOf(const pnShapeDef *def);
pnPose *testShapePose(const pnShapeDef *def);
pnTree *testShapeTree(const pnShape *shape, const pnPose *pose);
void testShapeBend(pnPose *pose, const pnShapeDef *def);

/* A saved shape in memory of malloc. */
typedef struct TestBlock {
  char *data;
  size_t bytes;
} TestBlock;
TestBlock testShapeSave(const pnShape *shape);
enum { /* where things are in a block */ TEST_LENGTH_AT = 16, TEST_SUM_AT = 24, TEST_HEAD = 32, TEST_VERSION = 3 };
void testShapeRepair(TestBlock *block);
void testShapeMutate(TestRandom *r, TestBlock *block, size_t from);

#endif
