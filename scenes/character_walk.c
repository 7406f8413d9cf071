/* character_walk.c: how the figure moves: sums of sines, one line for each habit of a walking body. Angles are in degrees
 * here, since they are read by people. Positive about x leans forward or swings back, so legs and arms swing forward by
 * negative angles. */
#include "character_parts.h"

static const double s_pi = 3.14159265358979323846;

/* ---------------------------------------------------------------- rotations */

typedef struct pnTurn {
  double x, y, z, w;
} pnTurn;

static pnTurn turnAbout(double x, double y, double z, double degrees) {
  double half = degrees * s_pi / 360.0, s = sin(half);
  return (pnTurn){x * s, y * s, z * s, cos(half)};
}

/* First b, then a. */
static pnTurn then(pnTurn a, pnTurn b) {
  return (pnTurn){a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

static void setTurn(pnCharacterMoment *moment, int joint, pnTurn turn) {
  moment->rotations[joint][0] = (float)turn.x;
  moment->rotations[joint][1] = (float)turn.y;
  moment->rotations[joint][2] = (float)turn.z;
  moment->rotations[joint][3] = (float)turn.w;
}

/* About x, then y, then z. */
static void bend(pnCharacterMoment *moment, int joint, double x, double y, double z) {
  pnTurn turn = then(turnAbout(0, 0, 1, z), then(turnAbout(0, 1, 0, y), turnAbout(1, 0, 0, x)));
  setTurn(moment, joint, turn);
}

/* ---------------------------------------------------------------- limbs */

/* An arm: `inward` degrees closer than it hangs at rest, little of it from the shoulder, the most from the elbow;
 * swinging `forward`, bent at the elbow, the hand turned in a little. */
static void poseArm(pnCharacterMoment *moment, bool right, double inward, double forward, double elbow) {
  int root = PN_CLAVICLE_L + (right ? PN_ARM_SIDE : 0);
  double side = right ? -1 : 1;
  setTurn(moment, root, turnAbout(0, 0, 1, -side * inward * 0.04));
  setTurn(moment, root + 1, then(turnAbout(1, 0, 0, -forward), turnAbout(0, 0, 1, -side * inward * 0.10)));
  /* The elbow's axis lies across the arm, in the plane of the figure; the hand turns about the arm. */
  pnTurn bent = turnAbout(PN_ARM_WAY_Y, -PN_ARM_WAY_X * side, 0, elbow);
  setTurn(moment, root + 2, then(bent, turnAbout(0, 0, 1, -side * inward * 0.86)));
  setTurn(moment, root + 3, turnAbout(PN_ARM_WAY_X * side, PN_ARM_WAY_Y, 0, 0.5 * elbow * side));
  setTurn(moment, root + 4, turnAbout(0, 0, 1, -side * 14));
  setTurn(moment, root + 5, turnAbout(0, 0, 1, -side * 4));
}

static void poseLeg(pnCharacterMoment *moment, bool right, double forward, double knee, double ankle, double toes) {
  int root = PN_THIGH_L + (right ? PN_LEG_SIDE : 0);
  bend(moment, root, -forward, 0, 0);
  bend(moment, root + 1, knee, 0, 0);
  bend(moment, root + 2, ankle, 0, 0);
  bend(moment, root + 3, -toes, 0, 0);
}

/* The leg of a walk: `phase` 0 in the middle of its way back, on the ground. */
static void stepLeg(pnCharacterMoment *moment, bool right, double phase, double *outForward) {
  double swing = cos(phase); /* +1 while the leg passes forward, in the air; -1 while it carries */
  double forward = 22 * sin(phase) + 3;
  double air = swing > 0 ? swing : 0, push = sin(phase - 0.6) < 0 ? -sin(phase - 0.6) : 0;
  double knee = 5 + 48 * air * air + 9 * push;
  double level = forward - knee; /* what the foot would lean */
  poseLeg(moment, right, forward, knee, level * (0.55 + 0.45 * (1 - air)) * 0.75 + 10 * push * push, 22 * push * push);
  *outForward = forward;
}

static pnCharacterMoment restMoment(void) {
  pnCharacterMoment moment = {0};
  for (int j = 0; j < PN_CHARACTER_JOINTS; ++j) moment.rotations[j][3] = 1.0f;
  for (int i = 0; i < 3; ++i) {
    const pnSceneVec p = pn_characterBones[PN_HIPS].position;
    moment.hips[i] = (float)(i == 0 ? p.x : i == 1 ? p.y : p.z);
  }
  return moment;
}

/* ---------------------------------------------------------------- clips */

pnCharacterMoment pn_characterWalk(double time) {
  pnCharacterMoment moment = restMoment();
  const double stride = 1.1; /* seconds for two steps */
  double phase = 2 * s_pi * time / stride, left = 0, right = 0;

  /* Moods that make no two strides alike: how close the arms hang, how far they swing. Their periods are no multiples
   * of the stride or of each other. */
  double closeLeft = 0.5 + 0.5 * sin(2 * s_pi * time / 3.1 - 1.4),
         closeRight = 0.5 + 0.5 * sin(2 * s_pi * time / 4.7 + 2.4);
  double swing = 1 + 0.25 * sin(2 * s_pi * time / 5.3);

  /* Legs, then what the hips and the back do about it. */
  stepLeg(&moment, false, phase, &left);
  stepLeg(&moment, true, phase + s_pi, &right);
  moment.hips[0] += (float)(0.012 * cos(phase));
  moment.hips[1] += (float)(0.014 * cos(2 * phase) - 0.016);
  bend(&moment, PN_HIPS, 2, -5 * sin(phase), 2.0 * cos(phase));
  bend(&moment, PN_SPINE, 1.5, 5 * sin(phase), -1.5 * cos(phase));
  bend(&moment, PN_CHEST, -1, 5 * sin(phase), -0.8 * cos(phase));
  bend(&moment, PN_NECK, 1.5, -3 * sin(phase), 0);
  bend(&moment, PN_HEAD, -2 + 1.2 * sin(2 * phase), -2 * sin(phase) + 4 * sin(2 * s_pi * time / 6.1), 0);

  /* Arms against the legs of their side. */
  double armLeft = -20 * swing * sin(phase), armRight = 20 * swing * sin(phase);
  poseArm(&moment, false, -8 + 26 * closeLeft, armLeft, 16 + 0.35 * (armLeft > 0 ? armLeft : 0));
  poseArm(&moment, true, -8 + 26 * closeRight, armRight, 16 + 0.35 * (armRight > 0 ? armRight : 0));

  /* Breath every 3.4 s, a belly that follows it, fists now and then, a skirt that swings with the steps. */
  double breath = 0.5 + 0.5 * sin(2 * s_pi * time / 3.4);
  moment.bodyWeights[0] = moment.coatWeights[0] = (float)breath;
  moment.bodyWeights[1] = moment.coatWeights[1] = (float)(0.4 * (1 - breath));
  moment.bodyWeights[2] = (float)(0.35 + 0.35 * sin(2 * s_pi * time / 7.3));
  moment.coatWeights[2] = (float)(0.5 + 0.3 * cos(2 * phase));
  return moment;
}

pnCharacterMoment pn_characterIdle(double time) {
  pnCharacterMoment moment = restMoment();
  double slow = sin(2 * s_pi * time / 4.0), breath = 0.5 - 0.5 * cos(2 * s_pi * time / 2.0);
  bend(&moment, PN_SPINE, 1, 0, 0.8 * slow);
  bend(&moment, PN_CHEST, 0.5, 0, 0.5 * slow);
  bend(&moment, PN_HEAD, -1, 7 * slow, 0);
  poseArm(&moment, false, -5 + 1.5 * slow, 2, 14);
  poseArm(&moment, true, -5 - 1.5 * slow, 2, 14);
  moment.bodyWeights[0] = moment.coatWeights[0] = (float)breath;
  moment.bodyWeights[2] = 0.25f;
  moment.coatWeights[2] = 0.2f;
  return moment;
}
