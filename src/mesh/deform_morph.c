/* deform_morph.c: the morph motion, the first stage of a pose that has targets. [Larsson03, section 3.1, Eq. 2], and
 * glTF's base and deltas.
 *
 * A vertex is a sum over its entries, targets ascending, in float and one rounded step after the other. The sum starts
 * from the rest position (deltas) or from -0 (references): -0 + x is x for every x, also for -0, so a reference alone at
 * weight 1 gives its own bits. Entries with a weight of exactly 0 are left out, so that their number costs a
 * look and rest weights give rest bits. The three coordinates are computed side by side in one register. */
#include "geom/simd.h"
#include "mesh/pose.h"

/* ---------------------------------------------------------------- fetching */

/* Written once for both strides and both kinds; they are constants where it is called. */
PN_INLINE void fetch(const pnMorph *morph, const float *source, const float *weights, const uint32_t *vertices,
                     uint32_t count, float *out, uint32_t stride) {
  static const uint32_t bits[4] = {~0u, ~0u, ~0u, 0};
  float maskFloats[4];
  memcpy(maskFloats, bits, sizeof bits);
  const pnF4 mask = pn_f4Load(maskFloats), minusZero = pn_f4Set1(-0.0f);
  const pnMorphEntry *entries = morph->entries;
  for (uint32_t i = 0; i < count; ++i, out += stride) {
    const uint32_t v = vertices[i], end = morph->entryFirst[v + 1];
    pnF4 sum = source ? pn_f4And(pn_f4Load(source + 3 * (size_t)v), mask) : minusZero;
    for (uint32_t e = morph->entryFirst[v]; e < end; ++e) {
      const float w = weights[entries[e].target];
      if (w == 0) continue;
      // the fourth lane holds the target's number, which as a float is next to nothing but slow to multiply
      const pnF4 move = pn_f4And(pn_f4Load(entries[e].move), mask);
      sum = pn_f4Add(sum, pn_f4Mul(pn_f4Set1(w), move));
    }
    float moved[4];
    pn_f4Store(moved, pn_f4And(sum, mask));
    for (uint32_t k = 0; k < stride; ++k) out[k] = moved[k];
  }
}

void pn_fetchMorph(const pnMorph *morph, const float *rest, const float *weights, const uint32_t *vertices, uint32_t count,
                   float *out, uint32_t stride) {
  const float *source = morph->mode == PN_MORPH_DELTAS ? rest : NULL;
  if (stride == 4) fetch(morph, source, weights, vertices, count, out, 4);
  else fetch(morph, source, weights, vertices, count, out, 3);
}

/* ---------------------------------------------------------------- setting */

/* The rest weights were checked when the morph was made. */
void pn_restMorph(pnPose *pose) {
  memcpy(pose->weights, pose->morph->restWeights, pose->morph->targetCount * sizeof(float));
  (void)pn_checkWeights(pose->morph, "pose", pose->weights, &pose->sourceMaxAbs);
}

pnResult pnPose_SetWeights(pnPose *pose, const float *weights, uint32_t count) {
  PN_ASSERT(pose && (weights || count == 0));
  const pnMorph *morph = pose->morph;
  const char *name = pose->mesh->name;
  if (!morph) return pn_fail(PN_ERROR_KIND, "pose of mesh '%s': it has no morph targets, weights cannot be set", name);
  if (count != morph->targetCount)
    return pn_fail(PN_ERROR_COUNT, "pose of mesh '%s': %u weights were given, the morph has %u targets", name, count,
                   morph->targetCount);
  float reach;
  pnResult result = pn_checkWeights(morph, "pose", weights, &reach);
  if (result != PN_OK) return result;
  if (pose->hasTransform && !pn_rigidFits(&pose->transform, reach))
    return pn_fail(PN_ERROR_NUMBER, "pose of mesh '%s': a coordinate of magnitude %g overflows under the transform", name,
                   (double)reach);
  memcpy(pose->weights, weights, count * sizeof(float));
  pose->sourceMaxAbs = reach;
  pn_poseTouch(pose, true);
  return PN_OK;
}

const float *pnPose_GetWeights(const pnPose *pose) {
  return pose->weights;
}
