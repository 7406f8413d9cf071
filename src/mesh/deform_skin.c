/* deform_skin.c: the skin motion, after the morph targets and before the transform.
 *
 * Linear blend skinning as in glTF, and the single-joint weighted transform of [Mujika, section 3]; the sums are in
 * vertex.h. A vertex with one joint of weight 1 has the bits of that joint's map.
 *
 * The paper writes w * C for "the weighted transformation" and does not say what a part of a transformation is. Here it
 * is the part of its rotation, about the joint's pivot, and of its slide. The rotation is taken along the chord between
 * quaternions and brought back to length 1: a root and a division, which give the same bits everywhere; sines do not.
 */
#include "base/memory.h"

#include "base/fenv.h"
#include "mesh/pose.h"
#include "mesh/vertex.h"

#include <float.h>
#include <string.h>

/* ---------------------------------------------------------------- fetching */

/* What targets or the source give, moved by the joints and then by the transform. */
static void fetch(const pnPose *pose, bool local, const uint32_t *vertices, uint32_t count, float *out,
                  uint32_t stride) {
  if (pose->morph) pn_motionMorph.fetch(pose, true, vertices, count, out, stride);
  else pn_fetchFree(pose->source, vertices, count, out, stride);
  const pnSkin *skin = pose->skin;
  const pnJointMove *moves = pose->moves;
  const bool weighted = skin->mode == PN_SKIN_WEIGHTED;
  float *p = out;
  for (uint32_t i = 0; i < count; ++i, p += stride) {
    const uint32_t *first = skin->influenceFirst + vertices[i];
    const pnInfluence *at = skin->influences + first[0], *end = skin->influences + first[1];
    pn_f4StoreThree(p, weighted ? pn_moveWeighted(skin, moves, at, p) : pn_moveLinear(moves, at, end, p));
  }
  if (pose->hasTransform && !local) pn_moveRigid(&pose->transform, count, out, stride);
}

/* ---------------------------------------------------------------- joints into moves */

static void putColumns(const pnAffine *m, pnJointMove *move) {
  for (int k = 0; k < 4; ++k) {
    for (int row = 0; row < 3; ++row) move->column[k][row] = (float)m->m[row][k];
    move->column[k][3] = 0;
  }
}

static void matrixOf(const pnMatrix *m, pnAffine *out) {
  for (int row = 0; row < 3; ++row)
    for (int k = 0; k < 4; ++k) out->m[row][k] = (double)m->m[row][k];
}

/* The unit quaternion of a rotation, w >= 0: from its largest component, which is at least 1/2. */
static void turnOf(const pnAffine *rotation, float out[4]) {
  const double(*r)[4] = rotation->m;
  double square[4] = {1 + r[0][0] - r[1][1] - r[2][2], 1 - r[0][0] + r[1][1] - r[2][2], 1 - r[0][0] - r[1][1] + r[2][2],
                      1 + r[0][0] + r[1][1] + r[2][2]};
  int most = 3;
  for (int k = 0; k < 3; ++k)
    if (square[k] > square[most]) most = k;
  const double sums[4][4] = {{square[0], r[1][0] + r[0][1], r[0][2] + r[2][0], r[2][1] - r[1][2]},
                             {r[1][0] + r[0][1], square[1], r[2][1] + r[1][2], r[0][2] - r[2][0]},
                             {r[0][2] + r[2][0], r[2][1] + r[1][2], square[2], r[1][0] - r[0][1]},
                             {r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1], square[3]}};
  const double *q = sums[most];
  double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (q[3] < 0) length = -length;
  for (int k = 0; k < 4; ++k) out[k] = (float)(q[k] / length);
}

/* above = the product of the motions of the joint's ancestors; with the joint's own it becomes `own`. */
static void putWeighted(const pnAffine *above, const pnAffine *m, pnVec3 pivot, pnJointMove *move, pnAffine *own) {
  const double c[3] = {(double)pivot.x, (double)pivot.y, (double)pivot.z};
  putColumns(above, move);
  turnOf(m, move->turn);
  for (int row = 0; row < 3; ++row) {
    double turned = m->m[row][0] * c[0] + m->m[row][1] * c[1] + m->m[row][2] * c[2];
    move->slide[row] = (float)(turned + m->m[row][3] - c[row]);
    for (int k = 0; k < 4; ++k) {
      double sum = k == 3 ? above->m[row][3] : 0;
      for (int i = 0; i < 3; ++i) sum += above->m[row][i] * m->m[i][k];
      own->m[row][k] = sum;
    }
  }
  move->slide[3] = 0;
}

static const pnAffine s_identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

/* Fills outMoves; products along the skeleton stand in `products` (weighted only), parents first. */
static void makeMoves(const pnSkin *skin, const pnMatrix *joints, pnAffine *products, pnJointMove *outMoves) {
  for (uint32_t j = 0; j < skin->jointCount; ++j) {
    pnAffine m;
    matrixOf(&joints[j], &m);
    if (skin->mode == PN_SKIN_LINEAR) {
      putColumns(&m, &outMoves[j]);
    } else {
      const uint32_t parent = skin->parents[j];
      putWeighted(parent == PN_NONE ? &s_identity : &products[parent], &m, skin->pivots[j], &outMoves[j], &products[j]);
    }
  }
}

/* ---------------------------------------------------------------- how far joints reach */

void pn_jointReach(const pnSkin *skin, const pnJointMove *move, uint32_t joint, double reach, double out[3]) {
  if (skin->mode == PN_SKIN_WEIGHTED) {
    // a coordinate of p - c is below reach + |c|, its length below twice that, so is any coordinate of it when turned
    const pnVec3 *c = &skin->pivots[joint];
    reach = 2 * (reach + 2 * (double)pn_maxAbs(&c->x, 3)) + (double)pn_maxAbs(move->slide, 3);
  }
  for (int row = 0; row < 3; ++row) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += fabs((double)move->column[k][row]);
    out[row] = sum * reach + fabs((double)move->column[3][row]);
  }
}

/* A thousandth of the range of float: volumes add differences of joints, weighted, and margins. */
#define MOST_REACH ((double)FLT_MAX / 1024)

static pnResult reachOf(const pnPose *pose, const pnJointMove *moves, float reach, float *outReach) {
  double most = 0;
  for (uint32_t j = 0; j < pose->skin->jointCount; ++j) {
    double at[3];
    pn_jointReach(pose->skin, &moves[j], j, (double)reach, at);
    double farthest = fmax(at[0], fmax(at[1], at[2]));
    if (!(farthest <= MOST_REACH))
      return pn_fail(PN_ERROR_NUMBER, "pose of mesh '%s': joint %u could carry a vertex out of the range of float",
                     pose->mesh->name, j);
    most = fmax(most, farthest);
  }
  // 13 roundings of 2^-24 each, and weights that sum to 1 + 2^-21 at most
  *outReach = nextafterf((float)(most * (1 + 0x1p-18)), INFINITY);
  return PN_OK;
}

/* ---------------------------------------------------------------- setting */

/* `joints` and `moves` twice, the second to work in, and the products: one block, so that setting allocates nothing. */
static size_t jointBytes(const pnSkin *skin) {
  return pn_bytes(skin->jointCount, sizeof(pnMatrix) + 2 * sizeof(pnJointMove) + sizeof(pnAffine));
}

static pnResult allocJoints(pnPose *pose) {
  pnResult result = pose->morph ? pn_motionMorph.alloc(pose) : PN_OK;
  if (result != PN_OK) return result;
  const size_t n = pose->skin->jointCount, bytes = jointBytes(pose->skin);
  char *block = pn_alloc(bytes);
  if (!block) return pn_failMemory(bytes);
  pose->products = (pnAffine *)block;
  pose->moves = (pnJointMove *)(block + n * sizeof(pnAffine));
  pose->nextMoves = pose->moves + n;
  pose->joints = (pnMatrix *)(pose->nextMoves + n);
  return PN_OK;
}

static void releaseJoints(pnPose *pose) {
  if (pose->morph) pn_motionMorph.release(pose);
  pn_free(pose->products, jointBytes(pose->skin));
}

/* New moves and, when they are fine, in place. */
static pnResult takeJoints(pnPose *pose, const pnMatrix *joints) {
  float reach;
  makeMoves(pose->skin, joints, pose->products, pose->nextMoves);
  pnResult result = reachOf(pose, pose->nextMoves, pose->skinMaxAbs, &reach);
  if (result == PN_OK && pose->hasTransform && !pn_rigidFits(&pose->transform, reach))
    result = pn_fail(PN_ERROR_NUMBER, "pose of mesh '%s': a coordinate of magnitude %g overflows under the transform",
                     pose->mesh->name, (double)reach);
  if (result != PN_OK) return result;
  pnJointMove *old = pose->moves;
  pose->moves = pose->nextMoves;
  pose->nextMoves = old;
  pose->sourceMaxAbs = reach;
  if (joints != pose->joints) memcpy(pose->joints, joints, pose->skin->jointCount * sizeof(pnMatrix));
  return PN_OK;
}

static pnResult restJoints(pnPose *pose) {
  if (pose->morph) (void)pn_motionMorph.rest(pose);
  pose->skinMaxAbs = pose->sourceMaxAbs;
  for (uint32_t j = 0; j < pose->skin->jointCount; ++j) pose->joints[j] = pnMatrix_Identity();
  return takeJoints(pose, pose->joints);
}

pnResult pnPose_SetJoints(pnPose *pose, const pnMatrix *joints, uint32_t count) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(pose && (joints || count == 0));
  const pnSkin *skin = pose->skin;
  const char *name = pose->mesh->name;
  if (!skin) return pn_fail(PN_ERROR_KIND, "pose of mesh '%s': it has no skin, joints cannot be set", name);
  if (count != skin->jointCount)
    return pn_fail(PN_ERROR_COUNT, "pose of mesh '%s': %u joints were given, the skin has %u", name, count,
                   skin->jointCount);
  size_t bad;
  if (!pn_allFinite(&joints->m[0][0], 12 * (size_t)count, &bad)) /* all at once: a matrix has nothing but its numbers */
    return pn_fail(PN_ERROR_NUMBER, "pose of mesh '%s': entry [%zu][%zu] of joint %zu is NaN or infinite", name,
                   bad % 12 / 4, bad % 4, bad / 12);
  for (uint32_t j = 0; skin->mode == PN_SKIN_WEIGHTED && j < count; ++j)
    if (!pn_isRigid(&joints[j]))
      return pn_fail(PN_ERROR_TRANSFORM,
                     "pose of mesh '%s': joint %u scales, shears or mirrors; a weighted skin cannot", name, j);
  pnResult result = takeJoints(pose, joints);
  if (result == PN_OK) pn_poseTouch(pose, true);
  return result;
}

const pnMatrix *pnPose_GetJoints(const pnPose *pose) {
  return pose->joints;
}

/* ---------------------------------------------------------------- the row */

static bool isAsked(const pnPoseDef *def) {
  return def->skin != NULL;
}

static pnResult check(const pnPoseDef *def) {
  if (def->skin->mesh != def->mesh)
    return pn_fail(PN_ERROR_ARGUMENT, "pose of mesh '%s': its skin belongs to mesh '%s'", def->mesh->name,
                   def->skin->mesh->name);
  return def->morph ? pn_motionMorph.check(def) : PN_OK;
}

static pnResult reach(const pnPose *pose, float before, float *outReach) {
  return reachOf(pose, pose->moves, before, outReach);
}

/* The weights of its targets. Joints are no numbers to go between. */
static size_t countInputs(const pnPose *pose) {
  return pose->morph ? pn_motionMorph.countInputs(pose) : 0;
}

static pnResult setInputs(pnPose *pose, const float *inputs) {
  return pose->morph ? pn_motionMorph.setInputs(pose, inputs) : pn_motionFree.setInputs(pose, inputs);
}

static pnResult copyInputs(pnPose *pose, const pnPose *from) {
  const size_t n = from->skin->jointCount;
  memcpy(pose->moves, from->moves, n * sizeof *pose->moves);
  memcpy(pose->joints, from->joints, n * sizeof *pose->joints);
  return pose->morph ? pn_motionMorph.copyInputs(pose, from) : PN_OK;
}

const pnMotionRow pn_motionSkin = {.name = "skin",
                                   .movedBy = "joints",
                                   .isAsked = isAsked,
                                   .check = check,
                                   .alloc = allocJoints,
                                   .release = releaseJoints,
                                   .rest = restJoints,
                                   .fetch = fetch,
                                   .reach = reach,
                                   .countInputs = countInputs,
                                   .setInputs = setInputs,
                                   .copyInputs = copyInputs};
