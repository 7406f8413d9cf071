/* motions.h: every motion there is, as tests see it: bodies of one mesh each that move, one row each (motions.c). A test that goes
 * through testMotions takes up a new row by itself.
 *
 * One row, `twist`, is a motion that the library has never heard of: motion_twist.c has all of it, as a new motion would. */
#ifndef PN_TEST_MOTIONS_H
#define PN_TEST_MOTIONS_H

#include "support_morph.h"
#include "support_skin.h"

typedef struct TestMoving {
  const pnMesh *mesh;
  pnPose *pose;
  MorphBody morph; /* what it is made of, by its row */
  SkinBody skin;
  pnMesh *own;
} TestMoving;

typedef struct TestMotion {
  const char *name;
  /* A body about the origin, 20 * 4^level triangles, at rest. */
  void (*make)(TestMoving *m, uint32_t level, float scale, uint64_t seed);
  /* Somewhere else, of about the same size. */
  void (*move)(TestMoving *m, TestRandom *random, float scale);
  void (*free)(TestMoving *m);
} TestMotion;

#define TEST_MOTION_COUNT 8u
extern const TestMotion *const testMotions[TEST_MOTION_COUNT];

/* motion_twist.c */
extern const TestMotion testTwist;

#endif
