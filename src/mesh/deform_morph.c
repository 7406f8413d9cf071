/* deform_morph.c: the morph motion, the first stage of a pose that has targets. [Larsson03, section 3.1, Eq. 2], and
 * glTF's base and deltas.
 *
 * A vertex is a sum over its entries (vertex.h). Entries with a weight of exactly 0 are left out, so that their number costs a
 * look and rest weights give rest bits. */
#include "base/memory.h"

#include "base/fenv.h"
#include "mesh/pose.h"
#include "mesh/vertex.h"

#include <string.h>

/* ---------------------------------------------------------------- fetching */

/* A vertex of deltas: the entries it has, from the rest position on. The fourth lane of an entry holds a target's number,
 * which as a float is next to nothing, but some processors take long to multiply it: hence the mask. */
PN_INLINE pnF4 sumDeltas(const pnPose *pose, uint32_t v, pnF4 mask) {
  const pnMorph *morph = pose->morph;
  const uint32_t end = morph->entryFirst[v + 1];
  pnF4 sum = pn_f4And(pn_f4Load(pose->source + 3 * (size_t)v), mask);
  for (uint32_t e = morph->entryFirst[v]; e < end; ++e) {
    const float w = pose->weights[morph->entries[e].target];
    if (w == 0) continue;
    sum = pn_addPart(sum, pn_f4Set1(w), pn_f4And(pn_f4Load(morph->entries[e].move), mask));
  }
  return sum;
}

/* A vertex of references: it has a position in each of them. The fourth lane is somebody else's until the end. */
PN_INLINE pnF4 sumReferences(const pnPose *pose, uint32_t v, pnF4 mask) {
  const float *positions = pose->morph->positions + 3 * (size_t)v * pose->morph->targetCount;
  pnF4 sum = pn_sumStart();
  for (uint32_t i = 0; i < pose->activeCount; ++i) {
    const pnF4 place = pn_f4Load(positions + 3 * (size_t)pose->active[i].target);
    sum = pn_addPart(sum, pn_f4Set1(pose->active[i].weight), place);
  }
  return pn_f4And(sum, mask);
}

/* Written once; deltas, moved and stride are constants where it is called. */
PN_INLINE void fetchLike(const pnPose *pose, bool deltas, bool moved, const uint32_t *vertices, uint32_t count,
                         float *out, uint32_t stride) {
  const pnF4 mask = pn_maskOfThree();
  const pnColumns columns = pn_columnsOf(&pose->transform);
  for (uint32_t i = 0; i < count; ++i, out += stride) {
    pnF4 p = deltas ? sumDeltas(pose, vertices[i], mask) : sumReferences(pose, vertices[i], mask);
    p = moved ? pn_movePoint(&columns, p) : p;
    if (stride == 4) pn_f4Store(out, p);
    else pn_f4StoreThree(out, p);
  }
}

static void fetch(const pnPose *pose, bool local, const uint32_t *vertices, uint32_t count, float *out,
                  uint32_t stride) {
  const bool deltas = pose->morph->mode == PN_MORPH_DELTAS, moved = pose->hasTransform && !local;
  switch (4 * deltas + 2 * moved + (stride == 4)) {
    case 0: fetchLike(pose, false, false, vertices, count, out, 3); break;
    case 1: fetchLike(pose, false, false, vertices, count, out, 4); break;
    case 2: fetchLike(pose, false, true, vertices, count, out, 3); break;
    case 3: fetchLike(pose, false, true, vertices, count, out, 4); break;
    case 4: fetchLike(pose, true, false, vertices, count, out, 3); break;
    case 5: fetchLike(pose, true, false, vertices, count, out, 4); break;
    case 6: fetchLike(pose, true, true, vertices, count, out, 3); break;
    default: fetchLike(pose, true, true, vertices, count, out, 4); break;
  }
}

/* ---------------------------------------------------------------- memory */

/* One block: weights, then the active ones. */
static size_t weightBytes(const pnMorph *morph) {
  return morph->targetCount * (sizeof(float) + sizeof(pnActive));
}

static pnResult allocWeights(pnPose *pose) {
  pose->active = pn_alloc(weightBytes(pose->morph));
  if (!pose->active) return pn_failMemory(weightBytes(pose->morph));
  pose->weights = (float *)(pose->active + pose->morph->targetCount);
  return PN_OK;
}

static void releaseWeights(pnPose *pose) {
  pn_free(pose->active, weightBytes(pose->morph));
}

/* ---------------------------------------------------------------- setting */

/* Checked weights, and which of them are not 0. */
static void storeWeights(pnPose *pose, const float *weights, float reach) {
  const uint32_t n = pose->morph->targetCount;
  pose->activeCount = 0;
  for (uint32_t i = 0; i < n; ++i) {
    pose->weights[i] = weights[i];
    pose->active[pose->activeCount] = (pnActive){i, weights[i]};
    pose->activeCount += weights[i] != 0;
  }
  pose->sourceMaxAbs = reach;
}

/* The rest weights were checked when the morph was made. */
static pnResult restWeights(pnPose *pose) {
  float reach = 0;
  (void)pn_checkWeights(pose->morph, "pose", pose->morph->restWeights, &reach);
  storeWeights(pose, pose->morph->restWeights, reach);
  return PN_OK;
}

pnResult pnPose_SetWeights(pnPose *pose, const float *weights, uint32_t count) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(pose && (weights || count == 0));
  const pnMorph *morph = pose->morph;
  const char *name = pose->mesh->name;
  if (!morph) return pn_fail(PN_ERROR_KIND, "pose of mesh '%s': it has no morph targets, weights cannot be set", name);
  if (count != morph->targetCount)
    return pn_fail(PN_ERROR_COUNT, "pose of mesh '%s': %u weights were given, the morph has %u targets", name, count,
                   morph->targetCount);
  float reach = 0;
  pnResult result = pn_checkWeights(morph, "pose", weights, &reach);
  const float morphed = reach;
  if (result == PN_OK && pose->motion->reach) result = pose->motion->reach(pose, morphed, &reach);
  if (result != PN_OK) return result;
  if (pose->hasTransform && !pn_rigidFits(&pose->transform, reach))
    return pn_fail(PN_ERROR_NUMBER, "pose of mesh '%s': a coordinate of magnitude %g overflows under the transform",
                   name, (double)reach);
  storeWeights(pose, weights, reach);
  pose->skinMaxAbs = morphed;
  pn_poseTouch(pose, true);
  return PN_OK;
}

const float *pnPose_GetWeights(const pnPose *pose) {
  return pose->weights;
}

/* ---------------------------------------------------------------- the row */

static bool isAsked(const pnPoseDef *def) {
  return def->morph != NULL;
}

static pnResult check(const pnPoseDef *def) {
  if (def->morph->mesh == def->mesh) return PN_OK;
  return pn_fail(PN_ERROR_ARGUMENT, "pose of mesh '%s': its morph belongs to mesh '%s'", def->mesh->name,
                 def->morph->mesh->name);
}

static size_t countInputs(const pnPose *pose) {
  return pose->morph->targetCount;
}

static pnResult setInputs(pnPose *pose, const float *inputs) {
  return pnPose_SetWeights(pose, inputs, pose->morph->targetCount);
}

static pnResult copyInputs(pnPose *pose, const pnPose *from) {
  memcpy(pose->active, from->active, weightBytes(from->morph));
  pose->activeCount = from->activeCount;
  return PN_OK;
}

const pnMotionRow pn_motionMorph = {.name = "morph",
                                    .movedBy = "morph targets",
                                    .isAsked = isAsked,
                                    .check = check,
                                    .alloc = allocWeights,
                                    .release = releaseWeights,
                                    .rest = restWeights,
                                    .fetch = fetch,
                                    .countInputs = countInputs,
                                    .setInputs = setInputs,
                                    .copyInputs = copyInputs};
