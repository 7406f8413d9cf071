/* character_shape.c: the figure as a field of distances: cones along the bones and ellipsoids where there is more flesh,
 * melted together. The same pieces say which joint moves a point: the nearer a joint's pieces, the more it pulls. */
#include "character_parts.h"

/* ---------------------------------------------------------------- skeleton */

/* Arms hang 15 degrees from the vertical, close to where a walk takes them, so that shoulders are never bent by much.
 * A point `s` metres down the left arm, from the shoulder: */
#define ARM_X(s) (PN_SHOULDER_X + PN_ARM_WAY_X * (s))
#define ARM_Y(s) (PN_SHOULDER_Y + PN_ARM_WAY_Y * (s))

/* The right side mirrors the left. */
#define BOTH_ARMS(side, m, root)                                                                                  \
  {"clavicle." side, PN_CHEST, {(m)*0.035, 1.430, 0.000}}, {"arm." side, root, {(m)*ARM_X(0), ARM_Y(0), -0.005}}, \
      {"forearm." side, root + 1, {(m)*ARM_X(0.28), ARM_Y(0.28), -0.005}},                                        \
      {"hand." side, root + 2, {(m)*ARM_X(0.535), ARM_Y(0.535), -0.005}},                                         \
      {"fingers." side, root + 3, {(m)*ARM_X(0.63), ARM_Y(0.63), -0.005}}, {                                      \
    "thumb." side, root + 3, {                                                                                    \
      (m) * ARM_X(0.565), ARM_Y(0.565), 0.022                                                                     \
    }                                                                                                             \
  }
#define BOTH_LEGS(side, s, root)                                                                        \
  {"thigh." side, PN_HIPS, {(s)*0.098, 0.920, 0.000}}, {"shin." side, root, {(s)*0.106, 0.500, 0.004}}, \
      {"foot." side, root + 1, {(s)*0.112, 0.090, -0.018}}, {                                           \
    "toes." side, root + 2, {                                                                           \
      (s) * 0.120, 0.030, 0.115                                                                         \
    }                                                                                                   \
  }

const pnCharacterBone pn_characterBones[PN_CHARACTER_JOINTS] = {
    {"hips", -1, {0, 0.960, 0}},
    {"spine", PN_HIPS, {0, 1.080, -0.005}},
    {"chest", PN_SPINE, {0, 1.220, -0.005}},
    {"neck", PN_CHEST, {0, 1.480, -0.010}},
    {"head", PN_NECK, {0, 1.560, 0.005}},
    BOTH_ARMS("L", 1, PN_CLAVICLE_L),
    BOTH_ARMS("R", -1, PN_CLAVICLE_R),
    BOTH_LEGS("L", 1, PN_THIGH_L),
    BOTH_LEGS("R", -1, PN_THIGH_R),
};

/* ---------------------------------------------------------------- pieces of flesh */

/* A cone with round ends from a to b, or an ellipsoid at a whose long axis points along b. */
typedef struct pnFlesh {
  uint8_t joint;
  bool ellipsoid, onBothSides, trunk;
  pnSceneVec a, b;
  double radii[3]; /* cone: at a, at b; ellipsoid: along b, along z (or x when b is z), across both */
} pnFlesh;

#define CONE(joint, sides, trunk, ax, ay, az, bx, by, bz, ra, rb) \
  {                                                               \
    joint, false, sides, trunk, {ax, ay, az}, {bx, by, bz}, {     \
      ra, rb, 0                                                   \
    }                                                             \
  }
#define EGG(joint, sides, trunk, ax, ay, az, bx, by, bz, ru, rv, rw) \
  {                                                                  \
    joint, true, sides, trunk, {ax, ay, az}, {bx, by, bz}, {         \
      ru, rv, rw                                                     \
    }                                                                \
  }

static const pnFlesh s_flesh[] = {
    /* trunk */
    EGG(PN_HIPS, false, true, 0, 0.945, -0.012, 1, 0, 0, 0.150, 0.108, 0.115),
    EGG(PN_HIPS, true, true, 0.068, 0.905, -0.050, 0, 1, 0, 0.085, 0.068, 0.076),
    EGG(PN_SPINE, false, true, 0, 1.095, 0.004, 0, 1, 0, 0.130, 0.092, 0.118),
    EGG(PN_CHEST, false, true, 0, 1.270, -0.004, 0, 1, 0, 0.160, 0.108, 0.136),
    EGG(PN_CHEST, true, true, 0.064, 1.312, 0.046, 1, 0, 0, 0.072, 0.052, 0.060),
    CONE(PN_CLAVICLE_L, true, true, 0.030, 1.420, -0.012, PN_SHOULDER_X - 0.012, 1.403, -0.006, 0.054, 0.048),
    CONE(PN_NECK, false, true, 0, 1.440, -0.018, 0, 1.560, 0.000, 0.060, 0.052),
    /* head: skull, jaw, nose, ears, hair */
    EGG(PN_HEAD, false, false, 0, 1.672, 0.006, 0, 1, 0, 0.116, 0.106, 0.090),
    EGG(PN_HEAD, false, false, 0, 1.604, 0.034, 0, 1, 0, 0.058, 0.062, 0.060),
    CONE(PN_HEAD, false, false, 0, 1.668, 0.104, 0, 1.640, 0.121, 0.007, 0.013),
    EGG(PN_HEAD, true, false, 0.094, 1.650, -0.004, 0, 1, 0, 0.032, 0.022, 0.012),
    EGG(PN_HEAD, false, false, 0, 1.706, -0.018, 0, 1, 0, 0.100, 0.108, 0.098),
    /* arms */
    CONE(PN_ARM_L, true, false, ARM_X(0), ARM_Y(0), -0.005, ARM_X(0.28), ARM_Y(0.28), -0.005, 0.047, 0.032),
    EGG(PN_ARM_L, true, false, ARM_X(0.12), ARM_Y(0.12), 0.002, PN_ARM_WAY_X, PN_ARM_WAY_Y, 0, 0.085, 0.042, 0.040),
    CONE(PN_FOREARM_L, true, false, ARM_X(0.28), ARM_Y(0.28), -0.005, ARM_X(0.53), ARM_Y(0.53), -0.005, 0.032, 0.025),
    EGG(PN_FOREARM_L, true, false, ARM_X(0.36), ARM_Y(0.36), -0.003, PN_ARM_WAY_X, PN_ARM_WAY_Y, 0, 0.085, 0.038,
        0.035),
    EGG(PN_HAND_L, true, false, ARM_X(0.590), ARM_Y(0.590), -0.003, PN_ARM_WAY_X, PN_ARM_WAY_Y, 0, 0.056, 0.042, 0.020),
    EGG(PN_FINGERS_L, true, false, ARM_X(0.675), ARM_Y(0.675), -0.006, PN_ARM_WAY_X, PN_ARM_WAY_Y, 0, 0.064, 0.037,
        0.017),
    CONE(PN_THUMB_L, true, false, ARM_X(0.575), ARM_Y(0.575), 0.026, ARM_X(0.63), ARM_Y(0.63), 0.055, 0.015, 0.012),
    /* legs */
    CONE(PN_THIGH_L, true, false, 0.096, 0.905, -0.002, 0.106, 0.500, 0.004, 0.082, 0.044),
    EGG(PN_THIGH_L, true, false, 0.102, 0.740, 0.004, 0, 1, 0, 0.190, 0.074, 0.070),
    CONE(PN_SHIN_L, true, false, 0.106, 0.500, 0.004, 0.112, 0.095, -0.018, 0.043, 0.032),
    EGG(PN_SHIN_L, true, false, 0.108, 0.360, -0.020, 0, 1, 0, 0.135, 0.050, 0.048),
    CONE(PN_FOOT_L, true, false, 0.112, 0.075, -0.020, 0.117, 0.046, 0.090, 0.038, 0.034),
    EGG(PN_FOOT_L, true, false, 0.114, 0.040, -0.030, 0, 0, 1, 0.050, 0.038, 0.038),
    EGG(PN_TOES_L, true, false, 0.121, 0.029, 0.135, 0, 0, 1, 0.070, 0.044, 0.028),
};
#define FLESH_COUNT (sizeof(s_flesh) / sizeof(s_flesh[0]))

/* How softly pieces melt into one another, in metres; under the coat they do so more. */
static const double s_soft = 0.013, s_trunkSoft = 0.030;

static pnSceneVec mirrored(pnSceneVec p) {
  return pn_vec(-p.x, p.y, p.z);
}

static double length(pnSceneVec p) {
  return sqrt(pn_vecDot(p, p));
}

/* Distance to a cone with round ends: to its axis, less the radius there. */
static double coneDistance(const pnFlesh *flesh, pnSceneVec p) {
  pnSceneVec axis = pn_vecSub(flesh->b, flesh->a), q = pn_vecSub(p, flesh->a);
  double t = pn_vecDot(q, axis) / pn_vecDot(axis, axis);
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return length(pn_vecSub(q, pn_vecScale(axis, t))) - (flesh->radii[0] + (flesh->radii[1] - flesh->radii[0]) * t);
}

/* Distance to an ellipsoid, to first order: the value of its equation over the length of its gradient. */
static double eggDistance(const pnFlesh *flesh, pnSceneVec p) {
  pnSceneVec u = flesh->b, v = u.z > 0.5 ? pn_vec(1, 0, 0) : pn_vec(0, 0, 1);
  pnSceneVec w = pn_vec(u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x);
  pnSceneVec q = pn_vecSub(p, flesh->a);
  double c[3] = {pn_vecDot(q, u), pn_vecDot(q, v), pn_vecDot(q, w)}, value = 0, gradient = 0;
  for (int i = 0; i < 3; ++i) {
    double s = c[i] / flesh->radii[i];
    value += s * s;
    gradient += s * s / (flesh->radii[i] * flesh->radii[i]);
  }
  value = sqrt(value);
  gradient = sqrt(gradient);
  return gradient > 1e-9 ? value * (value - 1.0) / gradient : -flesh->radii[2];
}

static double fleshDistance(const pnFlesh *flesh, pnSceneVec p) {
  return flesh->ellipsoid ? eggDistance(flesh, p) : coneDistance(flesh, p);
}

/* The soft minimum: -s log(sum exp(-d / s)), which does not depend on an order. */
static double fieldOf(pnSceneVec p, bool trunkOnly) {
  double sum = 0, soft = trunkOnly ? s_trunkSoft : s_soft;
  for (size_t i = 0; i < FLESH_COUNT; ++i) {
    if (trunkOnly && !s_flesh[i].trunk) continue;
    sum += exp(-fleshDistance(&s_flesh[i], p) / soft);
    if (s_flesh[i].onBothSides) sum += exp(-fleshDistance(&s_flesh[i], mirrored(p)) / soft);
  }
  /* Far outside every term is 0 for a double: any large distance will do. */
  return sum > 0 ? -soft * log(sum) : 1.0;
}

double pn_characterField(pnSceneVec p) {
  return fieldOf(p, false);
}

double pn_characterTrunk(pnSceneVec p) {
  return fieldOf(p, true);
}

pnSceneVec pn_characterGradient(pnSceneVec p) {
  /* Central differences over a tenth of a millimetre: far below the size of any piece, far above rounding. */
  const double h = 1e-4;
  pnSceneVec g = pn_vec(pn_characterField(pn_vec(p.x + h, p.y, p.z)) - pn_characterField(pn_vec(p.x - h, p.y, p.z)),
                        pn_characterField(pn_vec(p.x, p.y + h, p.z)) - pn_characterField(pn_vec(p.x, p.y - h, p.z)),
                        pn_characterField(pn_vec(p.x, p.y, p.z + h)) - pn_characterField(pn_vec(p.x, p.y, p.z - h)));
  double size = length(g);
  return size > 0 ? pn_vecScale(g, 1.0 / size) : pn_vec(0, 1, 0);
}

pnSceneVec pn_characterProject(pnSceneVec p, double distance) {
  /* The field is close to a true distance, so a few steps are enough. */
  for (int i = 0; i < 4; ++i) p = pn_vecAdd(p, pn_vecScale(pn_characterGradient(p), distance - pn_characterField(p)));
  return p;
}

void pn_characterBounds(pnSceneVec *outMin, pnSceneVec *outMax) {
  *outMin = pn_vec(-0.46, -0.03, -0.22);
  *outMax = pn_vec(0.46, 1.86, 0.26);
}

/* ---------------------------------------------------------------- weights */

pnCharacterInfluences pn_characterLargest(const double weights[PN_CHARACTER_JOINTS]) {
  /* The four largest, by repeated search: 25 joints are few. */
  bool taken[PN_CHARACTER_JOINTS] = {false};
  double sum = 0;
  for (int k = 0; k < 4; ++k) {
    int best = -1;
    for (int j = 0; j < PN_CHARACTER_JOINTS; ++j)
      if (!taken[j] && weights[j] > 0 && (best < 0 || weights[j] > weights[best])) best = j;
    if (best < 0) break;
    taken[best] = true;
    sum += weights[best];
  }
  /* In the order of the joints, and the largest takes what rounding leaves. */
  pnCharacterInfluences out = {{0}, {0}};
  int count = 0, largest = 0;
  float rest = 1.0f;
  for (int j = 0; j < PN_CHARACTER_JOINTS; ++j) {
    if (!taken[j]) continue;
    out.joints[count] = (uint16_t)j;
    out.weights[count] = (float)(weights[j] / sum);
    if (out.weights[count] > out.weights[largest]) largest = count;
    ++count;
  }
  for (int k = 0; k < count; ++k) rest -= k != largest ? out.weights[k] : 0.0f;
  out.weights[largest] = rest;
  return out;
}

void pn_characterWeights(pnSceneVec p, double outWeights[PN_CHARACTER_JOINTS]) {
  /* How far each joint's flesh is. */
  double distance[PN_CHARACTER_JOINTS], nearest = 1e9;
  for (int j = 0; j < PN_CHARACTER_JOINTS; ++j) distance[j] = 1e9;
  for (size_t i = 0; i < FLESH_COUNT; ++i) {
    for (int side = 0; side < (s_flesh[i].onBothSides ? 2 : 1); ++side) {
      int joint = s_flesh[i].joint;
      if (side == 1 && joint >= PN_CLAVICLE_L) joint += joint >= PN_THIGH_L ? PN_LEG_SIDE : PN_ARM_SIDE;
      double d = fleshDistance(&s_flesh[i], side == 0 ? p : mirrored(p));
      if (d < distance[joint]) distance[joint] = d;
      if (d < nearest) nearest = d;
    }
  }
  /* Full pull for the nearest, fading over five centimetres; narrower for the thin parts of hands and feet. */
  double sum = 0;
  for (int j = 0; j < PN_CHARACTER_JOINTS; ++j) {
    bool thin = pn_characterBones[j].position.y < 0.2 || fabs(pn_characterBones[j].position.x) > ARM_X(0.5);
    double near = 1.0 - (distance[j] - nearest) / (thin ? 0.025 : 0.05);
    outWeights[j] = near > 0 ? near * near : 0;
    sum += outWeights[j];
  }
  for (int j = 0; j < PN_CHARACTER_JOINTS; ++j) outWeights[j] /= sum;
}

/* ---------------------------------------------------------------- displacements */

/* 1 at 0, 0 from 1 on, smooth at both ends. */
static double bell(double x) {
  return x < 1 ? (1 - x * x) * (1 - x * x) : 0;
}

/* Outward from a vertical axis, strongest at a height, forward more than sideways. */
static pnSceneVec swell(pnSceneVec p, double height, double reach, double forward, double sideways) {
  double pull = bell(fabs(p.y - height) / reach) * (fabs(p.x) < 0.20 ? 1.0 : bell((fabs(p.x) - 0.20) / 0.06));
  double out = sqrt(p.x * p.x + p.z * p.z) + 1e-9;
  double front = p.z > 0 ? forward : forward * 0.15;
  return pn_vecScale(pn_vec(p.x / out * sideways, 0, p.z / out * front), pull);
}

/* Fingers bend about the knuckles, towards the palm: the straight way from open to closed. */
static pnSceneVec curl(pnSceneVec p) {
  double side = p.x < 0 ? -1 : 1, qx = p.x * side - ARM_X(0.635), qy = p.y - ARM_Y(0.635);
  /* Along the hand and across it, towards the palm, which faces the thigh. */
  double along = PN_ARM_WAY_X * qx + PN_ARM_WAY_Y * qy, across = PN_ARM_WAY_Y * qx - PN_ARM_WAY_X * qy;
  if (along <= 0 || p.y > ARM_Y(0.6) || p.x * side < 0.25 || p.z > 0.040) return pn_vec(0, 0, 0);
  double angle = 1.35 * (along < 0.05 ? along / 0.05 : 1.0), c = cos(angle), s = sin(angle);
  double newAlong = along * c - across * s - along, newAcross = along * s + across * c - across;
  double x = PN_ARM_WAY_X * newAlong + PN_ARM_WAY_Y * newAcross, y = PN_ARM_WAY_Y * newAlong - PN_ARM_WAY_X * newAcross;
  return pn_vec(x * side, y, 0);
}

pnSceneVec pn_characterDisplacement(pnCharacterTarget target, pnSceneVec p) {
  switch (target) {
    case PN_BREATHE: return swell(p, 1.29, 0.20, 0.018, 0.008);
    case PN_BELLY: return swell(p, 1.08, 0.17, 0.030, 0.010);
    case PN_FISTS: return curl(p);
    default: {
      /* The skirt swings out, more towards the hem. */
      double down = (0.98 - p.y) / 0.50, out = sqrt(p.x * p.x + p.z * p.z) + 1e-9;
      if (down <= 0) return pn_vec(0, 0, 0);
      return pn_vecScale(pn_vec(p.x / out, 0.25 * down, p.z / out), 0.035 * down * down);
    }
  }
}
