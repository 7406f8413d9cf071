/* motion_twist.c: a motion that the library has never heard of, in one file: a body is wrung about the z axis, by an angle that
 * grows with z. It shows what a new motion takes: a row (mesh/pose.h, pnMotionRow), and a row in the table of those who make
 * poses, here that of the tests.
 *
 * The turn is that of the angle 2 atan(wring * z), whose cosine and sine are (1 - t t) / (1 + t t) and 2 t / (1 + t t): sums,
 * products and quotients, which have the same bits everywhere. */
#include "motions.h"

#include "base/memory.h"
#include "mesh/pose.h"

/* ---------------------------------------------------------------- the motion */

typedef struct Twist {
  float wring;
} Twist;

static pnResult allocTwist(pnPose *pose) {
  pose->state = pn_allocZero(sizeof(Twist));
  return pose->state ? PN_OK : pn_failMemory(sizeof(Twist));
}

static void releaseTwist(pnPose *pose) {
  pn_free(pose->state, sizeof(Twist));
}

/* x and y are turned: neither is longer than both were together, and a few roundings more. */
static float reachOf(const pnPose *pose) {
  return 2.001f * pose->mesh->maxAbs;
}

static pnResult restTwist(pnPose *pose) {
  ((Twist *)pose->state)->wring = 0;
  pose->sourceMaxAbs = reachOf(pose);
  return PN_OK;
}

static void fetchTwist(const pnPose *pose, bool local, const uint32_t *vertices, uint32_t count, float *out,
                       uint32_t stride) {
  float wring = ((const Twist *)pose->state)->wring;
  for (uint32_t i = 0; i < count; ++i) {
    const float *p = pose->source + 3 * (size_t)vertices[i];
    float t = wring * p[2], c = (1 - t * t) / (1 + t * t), s = (t + t) / (1 + t * t), *to = out + (size_t)i * stride;
    to[0] = c * p[0] - s * p[1];
    to[1] = s * p[0] + c * p[1];
    to[2] = p[2];
    if (stride == 4) to[3] = 0;
  }
  if (pose->hasTransform && !local) pn_moveRigid(&pose->transform, count, out, stride);
}

static size_t countInputs(const pnPose *pose) {
  (void)pose;
  return 1;
}

static pnResult setInputs(pnPose *pose, const float *inputs) {
  ((Twist *)pose->state)->wring = inputs[0];
  pn_poseTouch(pose, true);
  return PN_OK;
}

static pnResult copyInputs(pnPose *pose, const pnPose *from) {
  *(Twist *)pose->state = *(const Twist *)from->state;
  return PN_OK;
}

static const pnMotionRow s_twist = {.name = "twist",
                                    .movedBy = "wringing",
                                    .alloc = allocTwist,
                                    .release = releaseTwist,
                                    .rest = restTwist,
                                    .fetch = fetchTwist,
                                    .countInputs = countInputs,
                                    .setInputs = setInputs,
                                    .copyInputs = copyInputs};

/* ---------------------------------------------------------------- as tests see it */

static void makeTwist(TestMoving *m, uint32_t level, float scale, uint64_t seed) {
  (void)seed;
  testExpectOk(pnMakeIcosphere(level, scale, &m->own));
  pnPoseDef def = pnDefaultPoseDef();
  def.mesh = m->mesh = m->own;
  testExpectOk(pn_createPose(&def, &s_twist, &m->pose));
}

static void moveTwist(TestMoving *m, TestRandom *random, float scale) {
  float wring = testFloat(random, -2, 2) / scale;
  testExpectOk(m->pose->motion->setInputs(m->pose, &wring));
}

static void freeTwist(TestMoving *m) {
  pnDestroyPose(m->pose);
  pnDestroyMesh(m->own);
}

const TestMotion testTwist = {"twist", makeTwist, moveTwist, freeTwist};
