/* avatar.c: see avatar.h. Tubes of circles around the bones; a circle at a bend stands in the half angle. */
#include "avatar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the skeleton */

enum {
  PELVIS,
  SPINE,
  CHEST,
  NECK,
  HEAD,
  CROWN,
  CLAVICLE_L,
  ARM_L,
  FOREARM_L,
  HAND_L,
  CLAVICLE_R,
  ARM_R,
  FOREARM_R,
  HAND_R,
  THIGH_L,
  SHIN_L,
  FOOT_L,
  TOE_L,
  THIGH_R,
  SHIN_R,
  FOOT_R,
  TOE_R
};

typedef struct Joint {
  uint32_t parent;
  double at[3];
} Joint;

static const Joint s_joints[PN_AVATAR_JOINTS] = {
    [PELVIS] = {PN_NONE, {0, 0.95, 0}},        [SPINE] = {PELVIS, {0, 1.10, 0}},
    [CHEST] = {SPINE, {0, 1.28, 0}},           [NECK] = {CHEST, {0, 1.48, 0}},
    [HEAD] = {NECK, {0, 1.58, 0.01}},          [CROWN] = {HEAD, {0, 1.72, 0.01}},
    [CLAVICLE_L] = {CHEST, {0.06, 1.42, 0}},   [ARM_L] = {CLAVICLE_L, {0.20, 1.41, 0}},
    [FOREARM_L] = {ARM_L, {0.25, 1.14, 0}},    [HAND_L] = {FOREARM_L, {0.28, 0.90, 0.02}},
    [CLAVICLE_R] = {CHEST, {-0.06, 1.42, 0}},  [ARM_R] = {CLAVICLE_R, {-0.20, 1.41, 0}},
    [FOREARM_R] = {ARM_R, {-0.25, 1.14, 0}},   [HAND_R] = {FOREARM_R, {-0.28, 0.90, 0.02}},
    [THIGH_L] = {PELVIS, {0.10, 0.90, 0}},     [SHIN_L] = {THIGH_L, {0.11, 0.50, 0.01}},
    [FOOT_L] = {SHIN_L, {0.11, 0.09, -0.02}},  [TOE_L] = {FOOT_L, {0.11, 0.04, 0.13}},
    [THIGH_R] = {PELVIS, {-0.10, 0.90, 0}},    [SHIN_R] = {THIGH_R, {-0.11, 0.50, 0.01}},
    [FOOT_R] = {SHIN_R, {-0.11, 0.09, -0.02}}, [TOE_R] = {FOOT_R, {-0.11, 0.04, 0.13}},
};

/* A tube: where its middle goes, how thick, and the joint each stretch follows. */
#define MOST_STOPS 8u
typedef struct Stop {
  double at[3], radius;
  uint32_t joint; /* of the stretch that begins here */
} Stop;
typedef struct Limb {
  uint32_t stopCount;
  Stop stops[MOST_STOPS];
} Limb;

#define LIMB_COUNT 5u
static const Limb s_limbs[LIMB_COUNT] = {
    {8,
     {{{0, 0.84, 0}, 0.10, PELVIS},
      {{0, 0.97, 0}, 0.16, PELVIS},
      {{0, 1.10, 0}, 0.13, SPINE},
      {{0, 1.30, 0}, 0.16, CHEST},
      {{0, 1.46, 0}, 0.09, NECK},
      {{0, 1.55, 0}, 0.06, NECK},
      {{0, 1.66, 0.01}, 0.10, HEAD},
      {{0, 1.80, 0.01}, 0.03, CROWN}}},
    {5,
     {{{0.08, 1.42, 0}, 0.06, CLAVICLE_L},
      {{0.20, 1.40, 0}, 0.06, ARM_L},
      {{0.25, 1.14, 0}, 0.045, FOREARM_L},
      {{0.28, 0.90, 0.02}, 0.035, HAND_L},
      {{0.29, 0.74, 0.04}, 0.02, HAND_L}}},
    {5,
     {{{-0.08, 1.42, 0}, 0.06, CLAVICLE_R},
      {{-0.20, 1.40, 0}, 0.06, ARM_R},
      {{-0.25, 1.14, 0}, 0.045, FOREARM_R},
      {{-0.28, 0.90, 0.02}, 0.035, HAND_R},
      {{-0.29, 0.74, 0.04}, 0.02, HAND_R}}},
    {5,
     {{{0.09, 0.96, 0}, 0.08, THIGH_L},
      {{0.11, 0.50, 0.01}, 0.06, SHIN_L},
      {{0.11, 0.09, -0.02}, 0.05, FOOT_L},
      {{0.11, 0.05, 0.13}, 0.04, TOE_L},
      {{0.11, 0.045, 0.20}, 0.03, TOE_L}}},
    {5,
     {{{-0.09, 0.96, 0}, 0.08, THIGH_R},
      {{-0.11, 0.50, 0.01}, 0.06, SHIN_R},
      {{-0.11, 0.09, -0.02}, 0.05, FOOT_R},
      {{-0.11, 0.05, 0.13}, 0.04, TOE_R},
      {{-0.11, 0.045, 0.20}, 0.03, TOE_R}}},
};

/* ---------------------------------------------------------------- sine and cosine, the same everywhere */

static const double s_pi = 3.14159265358979323846;

/* The series to x^17: below 1e-13 in [-pi, pi]. */
static double sine(double x) {
  x -= 2 * s_pi * floor(x / (2 * s_pi) + 0.5);
  if (x > s_pi / 2) x = s_pi - x;
  if (x < -s_pi / 2) x = -s_pi - x;
  double sum = 0, term = x;
  for (int k = 1; k < 19; k += 2) {
    sum += term;
    term *= -x * x / ((k + 1) * (k + 2));
  }
  return sum;
}

static double cosine(double x) {
  return sine(x + s_pi / 2);
}

/* ---------------------------------------------------------------- tubes */

/* Arrays while they grow. */
typedef struct Maker {
  float *vertices, *weights;
  uint16_t *indices, *single;
  float *singleWeights;
  uint32_t *triangles;
  uint32_t vertexCount, triangleCount;
} Maker;

/* Where a place along a limb is: its stop, and how far on, 0 to 1. */
static uint32_t stopAt(const Limb *limb, double along, double *outPart) {
  double at = along * (limb->stopCount - 1);
  uint32_t stop = (uint32_t)at;
  if (stop > limb->stopCount - 2) stop = limb->stopCount - 2;
  *outPart = at - stop;
  return stop;
}

/* Near the beginning of a stretch the joint before has a part, near its end the one after: halves at the bend. */
static void putWeights(Maker *m, const Limb *limb, uint32_t stop, double part) {
  uint32_t v = m->vertexCount, own = limb->stops[stop].joint, other = own;
  double w = 0;
  if (part < 0.3 && stop > 0) {
    other = limb->stops[stop - 1].joint;
    w = 0.5 * (0.3 - part) / 0.3;
  } else if (part > 0.7 && stop + 2 < limb->stopCount) {
    other = limb->stops[stop + 1].joint;
    w = 0.5 * (part - 0.7) / 0.3;
  } else if (stop == 0 && part < 0.5 && s_joints[own].parent != PN_NONE) {
    other = s_joints[own].parent; /* where a limb begins it hangs on to the trunk */
    w = 0.5 - part;
  }
  m->indices[4 * v] = (uint16_t)own;
  m->indices[4 * v + 1] = (uint16_t)other;
  m->weights[4 * v] = (float)(1 - w);
  m->weights[4 * v + 1] = (float)w;
  /* one joint: the lower of the two, with a part of its motion */
  bool ownIsBelow = other == own || s_joints[own].parent == other || own > other;
  m->single[v] = (uint16_t)(ownIsBelow ? own : other);
  m->singleWeights[v] = (float)(ownIsBelow ? 1 - w : w);
}

/* A point on the tube: `around` from 0 to 1 on the circle at `along`; radius 0 for a pole. */
static void putVertex(Maker *m, const Limb *limb, double along, double around, bool pole) {
  double part, axis[3], side[3], up[3], length = 0;
  uint32_t stop = stopAt(limb, along, &part);
  const Stop *a = &limb->stops[stop], *b = a + 1;
  for (int k = 0; k < 3; ++k) axis[k] = b->at[k] - a->at[k];
  for (int k = 0; k < 3; ++k) length += axis[k] * axis[k];
  /* two directions across: x or z, whichever is farther from the axis, made square */
  double across[3] = {1, 0, 0}, dot = axis[0] / length, size = 0;
  for (int k = 0; k < 3; ++k) side[k] = across[k] - dot * axis[k];
  for (int k = 0; k < 3; ++k) size += side[k] * side[k];
  for (int k = 0; k < 3; ++k) side[k] /= sqrt(size);
  for (int k = 0; k < 3; ++k) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    up[k] = (axis[i] * side[j] - axis[j] * side[i]) / sqrt(length);
  }
  /* rounded ends: the radius falls like a circle over the last twentieth */
  double end = fmin(along, 1 - along) / 0.05, round = end < 1 ? sqrt(end * (2 - end)) : 1;
  double radius = pole ? 0 : (a->radius + part * (b->radius - a->radius)) * round;
  double c = cosine(2 * s_pi * around), s = sine(2 * s_pi * around);
  for (int k = 0; k < 3; ++k)
    m->vertices[3 * m->vertexCount + k] = (float)(a->at[k] + part * axis[k] + radius * (c * side[k] + s * up[k]));
  putWeights(m, limb, stop, part);
  ++m->vertexCount;
}

static void putTriangle(Maker *m, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t *t = m->triangles + 3 * m->triangleCount++;
  t[0] = a;
  t[1] = b;
  t[2] = c;
}

static void putLimb(Maker *m, const Limb *limb, uint32_t rings, uint32_t around) {
  uint32_t first = m->vertexCount;
  putVertex(m, limb, 0, 0, true);
  for (uint32_t r = 0; r < rings; ++r)
    for (uint32_t i = 0; i < around; ++i) putVertex(m, limb, (r + 0.5) / rings, (double)i / around, false);
  putVertex(m, limb, 1, 0, true);
  uint32_t last = m->vertexCount - 1;
  for (uint32_t i = 0; i < around; ++i) {
    uint32_t j = (i + 1) % around;
    putTriangle(m, first, first + 1 + j, first + 1 + i);
    for (uint32_t r = 0; r + 1 < rings; ++r) {
      uint32_t p = first + 1 + r * around;
      putTriangle(m, p + i, p + j, p + around + j);
      putTriangle(m, p + i, p + around + j, p + around + i);
    }
    putTriangle(m, last, last - around + i, last - around + j);
  }
}

/* ---------------------------------------------------------------- life */

static pnResult makeSkins(const Maker *m, pnAvatar *avatar) {
  uint32_t parents[PN_AVATAR_JOINTS];
  pnVec3 pivots[PN_AVATAR_JOINTS];
  for (uint32_t j = 0; j < PN_AVATAR_JOINTS; ++j) {
    const double *at = s_joints[j].at;
    parents[j] = s_joints[j].parent;
    pivots[j] = (pnVec3){(float)at[0], (float)at[1], (float)at[2]};
  }
  pnSkinDef def = pnDefaultSkinDef();
  def.mesh = avatar->mesh;
  def.jointCount = PN_AVATAR_JOINTS;
  def.jointIndices = m->indices;
  def.jointWeights = m->weights;
  pnResult result = pnCreateSkin(&def, &avatar->skin);
  def.mode = PN_SKIN_WEIGHTED;
  def.influenceCount = 1;
  def.jointIndices = m->single;
  def.jointWeights = m->singleWeights;
  def.parents = parents;
  def.pivots = pivots;
  return result == PN_OK ? pnCreateSkin(&def, &avatar->weightedSkin) : result;
}

pnResult pnCreateAvatar(uint32_t vertexCount, pnAvatar *outAvatar) {
  memset(outAvatar, 0, sizeof *outAvatar);
  if (vertexCount < 1000 || vertexCount > 200000)
    return pnFail(PN_ERROR_ARGUMENT, "avatar: %u vertices, 1000 to 200000 are possible", vertexCount);
  /* the trunk has twice the circles of a limb, all as fine around: 6 parts of rings * around with rings = 2 around */
  uint32_t around = (uint32_t)(sqrt(vertexCount / 12.0) + 0.5);
  uint32_t rings = (vertexCount - 2 * LIMB_COUNT + 3 * around) / (6 * around);
  size_t n = (size_t)vertexCount + vertexCount / 8 + 64;
  Maker m = {malloc(3 * n * sizeof(float)),
             calloc(4 * n, sizeof(float)),
             calloc(4 * n, sizeof(uint16_t)),
             calloc(n, sizeof(uint16_t)),
             calloc(n, sizeof(float)),
             malloc(6 * n * sizeof(uint32_t)),
             0,
             0};
  pnResult result = PN_ERROR_MEMORY;
  if (m.vertices && m.weights && m.indices && m.single && m.singleWeights && m.triangles) {
    for (uint32_t i = 0; i < LIMB_COUNT; ++i) putLimb(&m, &s_limbs[i], i == 0 ? 2 * rings : rings, around);
    pnMeshDef def = pnDefaultMeshDef();
    def.vertices = m.vertices;
    def.vertexCount = m.vertexCount;
    def.triangles = m.triangles;
    def.triangleCount = m.triangleCount;
    def.name = "avatar";
    result = pnCreateMesh(&def, &outAvatar->mesh);
    if (result == PN_OK) result = makeSkins(&m, outAvatar);
  } else {
    result = pnFail(PN_ERROR_MEMORY, "avatar: out of memory for %u vertices", vertexCount);
  }
  free(m.vertices);
  free(m.weights);
  free(m.indices);
  free(m.single);
  free(m.singleWeights);
  free(m.triangles);
  if (result != PN_OK) pnDestroyAvatar(outAvatar);
  return result;
}

void pnDestroyAvatar(pnAvatar *avatar) {
  pnDestroySkin(avatar->weightedSkin);
  pnDestroySkin(avatar->skin);
  pnDestroyMesh(avatar->mesh);
  memset(avatar, 0, sizeof *avatar);
}

/* ---------------------------------------------------------------- the walk */

/* How far each joint turns, about x (swing) and about z (sway), at a moment. */
static void turnsAt(double phase, double swing[PN_AVATAR_JOINTS], double sway[PN_AVATAR_JOINTS]) {
  double a = 2 * s_pi * phase;
  memset(swing, 0, PN_AVATAR_JOINTS * sizeof *swing);
  memset(sway, 0, PN_AVATAR_JOINTS * sizeof *sway);
  for (int side = 0; side < 2; ++side) {
    double b = a + side * s_pi;
    swing[side ? THIGH_R : THIGH_L] = -0.45 * sine(b);
    swing[side ? SHIN_R : SHIN_L] = 0.35 - 0.35 * cosine(b + 0.6);
    swing[side ? FOOT_R : FOOT_L] = 0.15 * sine(b + 1);
    swing[side ? TOE_R : TOE_L] = -0.12 + 0.12 * sine(b);
    swing[side ? ARM_R : ARM_L] = 0.5 * sine(b);
    swing[side ? FOREARM_R : FOREARM_L] = -0.35 + 0.2 * sine(b);
    swing[side ? HAND_R : HAND_L] = 0.1 * sine(2 * b);
    sway[side ? CLAVICLE_R : CLAVICLE_L] = 0.03 * sine(b);
  }
  sway[PELVIS] = 0.04 * sine(a);
  sway[SPINE] = -0.03 * sine(a);
  sway[CHEST] = -0.04 * sine(a);
  swing[CHEST] = 0.03 * cosine(2 * a);
  swing[NECK] = 0.02 * sine(2 * a);
  swing[HEAD] = -0.04 * sine(2 * a + 0.5);
}

/* A joint's own motion: swing after sway, about its place; the pelvis also bobs. */
static void ownMotion(uint32_t j, double swing, double sway, double bob, double out[3][4]) {
  double cx = cosine(swing), sx = sine(swing), cz = cosine(sway), sz = sine(sway);
  const double r[3][3] = {{cz, -sz, 0}, {cx * sz, cx * cz, -sx}, {sx * sz, sx * cz, cx}};
  for (int row = 0; row < 3; ++row) {
    double moved = s_joints[j].at[row] + (row == 1 && j == PELVIS ? bob : 0);
    for (int k = 0; k < 3; ++k) {
      out[row][k] = r[row][k];
      moved -= r[row][k] * s_joints[j].at[k];
    }
    out[row][3] = moved;
  }
}

static void walk(double phase, bool weighted, pnMatrix *outJoints) {
  double swing[PN_AVATAR_JOINTS], sway[PN_AVATAR_JOINTS], world[PN_AVATAR_JOINTS][3][4];
  turnsAt(phase, swing, sway);
  for (uint32_t j = 0; j < PN_AVATAR_JOINTS; ++j) {
    double own[3][4];
    uint32_t parent = s_joints[j].parent;
    ownMotion(j, swing[j], sway[j], 0.02 * cosine(4 * s_pi * phase), own);
    for (int row = 0; row < 3; ++row)
      for (int k = 0; k < 4; ++k) {
        double sum = own[row][k];
        if (parent != PN_NONE) {
          sum = k == 3 ? world[parent][row][3] : 0;
          for (int i = 0; i < 3; ++i) sum += world[parent][row][i] * own[i][k];
        }
        world[j][row][k] = sum;
        outJoints[j].m[row][k] = (float)(weighted ? own[row][k] : sum);
      }
  }
}

void pnAvatar_Walk(double phase, pnMatrix outJoints[PN_AVATAR_JOINTS]) {
  walk(phase, false, outJoints);
}

void pnAvatar_WalkWeighted(double phase, pnMatrix outJoints[PN_AVATAR_JOINTS]) {
  walk(phase, true, outJoints);
}
