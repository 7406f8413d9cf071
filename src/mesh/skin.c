/* skin.c: the life of a skin: checked, weights brought to a sum of 1, and kept by vertex without those that are 0.
 *
 * glTF asks for weights that sum to 1 and files hold bytes, shorts and floats that nearly do. What is off is repaired
 * and reported (pnSkin_GetWeightError); what has no meaning (negative, NaN, none at all) is refused. */
#include "mesh/skin.h"

#include "base/fenv.h"
#include "base/memory.h"

#include <float.h>
#include <string.h>

pnSkinDef pnDefaultSkinDef(void) {
  return (pnSkinDef){.mode = PN_SKIN_LINEAR, .influenceCount = 4, .cookie = PN_COOKIE};
}

/* ---------------------------------------------------------------- checking a definition */

/* Coordinates of a skinned mesh stay this far below the range of float: joints and volumes multiply and add them. */
#define MOST_ABS (FLT_MAX / 4096)

static pnResult checkJoints(const pnSkinDef *def) {
  const char *name = def->mesh->name;
  for (uint32_t j = 0; j < def->jointCount; ++j) {
    if (def->parents[j] != PN_NONE && def->parents[j] >= j)
      return pn_fail(PN_ERROR_INDEX, "skin of mesh '%s': joint %u has parent %u; parents come before their joints",
                     name, j, def->parents[j]);
    size_t bad;
    if (!pn_allFinite(&def->pivots[j].x, 3, &bad) || pn_maxAbs(&def->pivots[j].x, 3) > MOST_ABS)
      return pn_fail(PN_ERROR_NUMBER, "skin of mesh '%s': the pivot of joint %u is NaN, infinite or too far out", name,
                     j);
  }
  return PN_OK;
}

static pnResult checkDef(const pnSkinDef *def) {
  if (!def->mesh) return pn_fail(PN_ERROR_ARGUMENT, "skin: the definition has no mesh");
  const char *name = def->mesh->name;
  const bool weighted = def->mode == PN_SKIN_WEIGHTED;
  if (!weighted && def->mode != PN_SKIN_LINEAR)
    return pn_fail(PN_ERROR_ARGUMENT, "skin of mesh '%s': mode %d is not one of the list", name, (int)def->mode);
  if (def->jointCount < 1 || def->jointCount > PN_MAX_JOINTS)
    return pn_fail(PN_ERROR_COUNT, "skin of mesh '%s': it has %u joints, 1 to %u are possible", name, def->jointCount,
                   PN_MAX_JOINTS);
  const uint32_t most = weighted ? 1 : PN_MAX_INFLUENCES;
  if (def->influenceCount < 1 || def->influenceCount > most)
    return pn_fail(PN_ERROR_COUNT, "skin of mesh '%s': %u joints a vertex, 1 to %u are possible", name,
                   def->influenceCount, most);
  if (def->mesh->vertexCount > 0 && (!def->jointIndices || !def->jointWeights))
    return pn_fail(PN_ERROR_ARGUMENT, "skin of mesh '%s': it has no joint indices or no weights", name);
  if (weighted && (!def->parents || !def->pivots))
    return pn_fail(PN_ERROR_ARGUMENT, "skin of mesh '%s': the weighted mode needs parents and pivots of the joints",
                   name);
  if (def->mesh->maxAbs > MOST_ABS)
    return pn_fail(PN_ERROR_NUMBER, "skin of mesh '%s': a coordinate of magnitude %g is too large for joints", name,
                   (double)def->mesh->maxAbs);
  return weighted ? checkJoints(def) : PN_OK;
}

/* ---------------------------------------------------------------- influences of a vertex */

/* What is kept of one vertex. */
typedef struct Kept {
  uint32_t count;
  uint32_t joint[PN_MAX_INFLUENCES];
  double weight[PN_MAX_INFLUENCES];
  double sum;
} Kept;

static pnResult gatherVertex(const pnSkinDef *def, uint32_t v, Kept *out) {
  const char *name = def->mesh->name;
  const bool weighted = def->mode == PN_SKIN_WEIGHTED;
  out->count = 0;
  out->sum = 0;
  for (uint32_t i = 0; i < def->influenceCount; ++i) {
    const size_t at = (size_t)v * def->influenceCount + i;
    const uint32_t joint = def->jointIndices[at];
    const float w = def->jointWeights[at];
    if (!(fabsf(w) <= FLT_MAX))
      return pn_fail(PN_ERROR_NUMBER, "skin of mesh '%s': vertex %u: its weight for joint %u is NaN or infinite", name,
                     v, joint);
    if (w < 0 || (weighted && w > 1))
      return pn_fail(PN_ERROR_ARGUMENT, "skin of mesh '%s': vertex %u: its weight for joint %u is %g; weights are %s",
                     name, v, joint, (double)w, weighted ? "0 to 1" : "not negative");
    if (w == 0 && !weighted) continue;
    if (joint >= def->jointCount)
      return pn_fail(PN_ERROR_INDEX, "skin of mesh '%s': vertex %u names joint %u of %u", name, v, joint,
                     def->jointCount);
    uint32_t k = 0;
    while (k < out->count && out->joint[k] != joint) ++k;
    if (k == out->count) {
      out->joint[out->count] = joint;
      out->weight[out->count++] = 0;
    }
    out->weight[k] += (double)w;
    out->sum += (double)w;
  }
  if (out->count == 0)
    return pn_fail(PN_ERROR_ARGUMENT, "skin of mesh '%s': vertex %u has no joint with a weight above 0", name, v);
  return PN_OK;
}

/* Weights as they are kept; PN_WEIGHT_SLACK says what for. A weight that division makes 0 stays, at the smallest
 * float. */
static float keptWeight(const pnSkinDef *def, const Kept *kept, uint32_t k) {
  if (def->mode == PN_SKIN_WEIGHTED || fabs(kept->sum - 1) <= PN_WEIGHT_SLACK) return (float)kept->weight[k];
  return fmaxf((float)(kept->weight[k] / kept->sum), FLT_TRUE_MIN);
}

/* Counts, then fills. */
static pnResult fillInfluences(const pnSkinDef *def, pnSkin *skin) {
  const uint32_t vertexCount = def->mesh->vertexCount;
  Kept kept;
  uint64_t total = 0;
  for (uint32_t v = 0; v < vertexCount; ++v) {
    pnResult result = gatherVertex(def, v, &kept);
    if (result != PN_OK) return result;
    total += kept.count;
    const double error = fabs(kept.sum - 1);
    if (def->mode == PN_SKIN_LINEAR && error > skin->weightError) {
      skin->weightError = error;
      skin->weightErrorVertex = v;
    }
  }
  if (total > UINT32_MAX)
    return pn_fail(PN_ERROR_COUNT, "skin of mesh '%s': it has more than %u weights", def->mesh->name, UINT32_MAX);
  if (total == 0) return PN_OK;
  const size_t bytes = pn_bytes((size_t)total, sizeof(pnInfluence));
  skin->influences = pn_alloc(bytes);
  if (!skin->influences) return pn_failMemory(bytes);
  uint32_t at = 0;
  for (uint32_t v = 0; v < vertexCount; ++v) {
    (void)gatherVertex(def, v, &kept);
    for (uint32_t k = 0; k < kept.count; ++k)
      skin->influences[at++] = (pnInfluence){keptWeight(def, &kept, k), kept.joint[k]};
    skin->influenceFirst[v + 1] = at;
  }
  return PN_OK;
}

/* ---------------------------------------------------------------- life */

pnResult pnCreateSkin(const pnSkinDef *def, pnSkin **outSkin) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(def && outSkin);
  *outSkin = NULL;
  pnResult result = pn_checkCookie(def->cookie, "pnSkinDef");
  if (result == PN_OK) result = checkDef(def);
  if (result != PN_OK) return result;
  pnSkin *skin = pn_allocZero(sizeof *skin);
  if (!skin) return pn_failMemory(sizeof *skin);
  skin->mesh = def->mesh;
  skin->mode = def->mode;
  skin->jointCount = def->jointCount;
  size_t bytes = pn_bytes((size_t)def->mesh->vertexCount + 1, sizeof(uint32_t));
  skin->influenceFirst = pn_allocZero(bytes);
  result = skin->influenceFirst ? fillInfluences(def, skin) : pn_failMemory(bytes);
  if (result == PN_OK && def->mode == PN_SKIN_WEIGHTED) {
    skin->parents = pn_alloc(def->jointCount * sizeof(uint32_t));
    skin->pivots = pn_alloc(def->jointCount * sizeof(pnVec3));
    if (skin->parents && skin->pivots) {
      memcpy(skin->parents, def->parents, def->jointCount * sizeof(uint32_t));
      memcpy(skin->pivots, def->pivots, def->jointCount * sizeof(pnVec3));
    } else {
      result = pn_failMemory(def->jointCount * sizeof(pnVec3));
    }
  }
  if (result != PN_OK) {
    pnDestroySkin(skin);
    return result;
  }
  *outSkin = skin;
  return PN_OK;
}

void pnDestroySkin(pnSkin *skin) {
  if (!skin) return;
  const uint32_t vertexCount = skin->mesh->vertexCount;
  if (skin->influences) pn_free(skin->influences, pn_bytes(skin->influenceFirst[vertexCount], sizeof(pnInfluence)));
  pn_free(skin->influenceFirst, pn_bytes((size_t)vertexCount + 1, sizeof(uint32_t)));
  pn_free(skin->parents, skin->jointCount * sizeof(uint32_t));
  pn_free(skin->pivots, skin->jointCount * sizeof(pnVec3));
  pn_free(skin, sizeof *skin);
}

/* ---------------------------------------------------------------- getters */

const pnMesh *pnSkin_GetMesh(const pnSkin *skin) {
  return skin->mesh;
}

pnSkinMode pnSkin_GetMode(const pnSkin *skin) {
  return skin->mode;
}

uint32_t pnSkin_GetJointCount(const pnSkin *skin) {
  return skin->jointCount;
}

double pnSkin_GetWeightError(const pnSkin *skin, uint32_t *outVertex) {
  if (outVertex) *outVertex = skin->weightErrorVertex;
  return skin->weightError;
}

size_t pnSkin_GetByteCount(const pnSkin *skin) {
  const size_t vertices = (size_t)skin->mesh->vertexCount + 1;
  const size_t joint = skin->mode == PN_SKIN_WEIGHTED ? sizeof(uint32_t) + sizeof(pnVec3) : 0;
  return sizeof *skin + vertices * sizeof(uint32_t) + skin->influenceFirst[vertices - 1] * sizeof(pnInfluence) +
         skin->jointCount * joint;
}
