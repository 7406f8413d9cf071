/* deform_morph.c: the morph motion, the first stage of a pose that has targets. [Larsson03, section 3.1, Eq. 2], and
 * glTF's base and deltas.
 *
 * A vertex is a sum over its entries, targets ascending, in float and one rounded step after the other. The sum starts
 * from the rest position (deltas) or from -0 (references): -0 + x is x for every x, also for -0, so a reference alone at
 * weight 1 gives its own bits. Entries with a weight of exactly 0 are left out, so that their number costs a
 * look and rest weights give rest bits. The three coordinates are computed side by side in one register. */
#include "base/memory.h"

#include "base/fenv.h"
#include "geom/simd.h"
#include "mesh/pose.h"

/* ---------------------------------------------------------------- fetching */

/* The transform by columns, in registers. The order of the sums is that of deform_rigid.c. */
typedef struct Columns {
  pnF4 c[4];
} Columns;

static Columns columnsOf(const pnMatrix *m) {
  Columns columns;
  for (int k = 0; k < 4; ++k) {
    float column[4] = {m->m[0][k], m->m[1][k], m->m[2][k], 0};
    columns.c[k] = pn_f4Load(column);
  }
  return columns;
}

PN_INLINE pnF4 move(const Columns *m, pnF4 p) {
  pnF4 sum = pn_f4Add(pn_f4Mul(m->c[0], pn_f4Splat(p, 0)), pn_f4Mul(m->c[1], pn_f4Splat(p, 1)));
  return pn_f4Add(pn_f4Add(sum, pn_f4Mul(m->c[2], pn_f4Splat(p, 2))), m->c[3]);
}

/* The first three lanes of a register. The fourth of an entry holds a target's number, which as a float is next to
 * nothing, but some processors take long to multiply it. */
PN_INLINE pnF4 maskOfThree(void) {
  static const uint32_t bits[4] = {~0u, ~0u, ~0u, 0};
  float mask[4];
  memcpy(mask, bits, sizeof bits);
  return pn_f4Load(mask);
}

/* A vertex of deltas: the entries it has, from the rest position on. */
PN_INLINE pnF4 sumDeltas(const pnPose *pose, uint32_t v, pnF4 mask) {
  const pnMorph *morph = pose->morph;
  const uint32_t end = morph->entryFirst[v + 1];
  pnF4 sum = pn_f4And(pn_f4Load(pose->source + 3 * (size_t)v), mask);
  for (uint32_t e = morph->entryFirst[v]; e < end; ++e) {
    const float w = pose->weights[morph->entries[e].target];
    if (w == 0) continue;
    sum = pn_f4Add(sum, pn_f4Mul(pn_f4Set1(w), pn_f4And(pn_f4Load(morph->entries[e].move), mask)));
  }
  return sum;
}

/* A vertex of references: it has a position in each of them. The fourth lane is somebody else's until the end. */
PN_INLINE pnF4 sumReferences(const pnPose *pose, uint32_t v, pnF4 mask) {
  const float *positions = pose->morph->positions + 3 * (size_t)v * pose->morph->targetCount;
  pnF4 sum = pn_f4Set1(-0.0f);
  for (uint32_t i = 0; i < pose->activeCount; ++i) {
    const pnF4 place = pn_f4Load(positions + 3 * (size_t)pose->active[i].target);
    sum = pn_f4Add(sum, pn_f4Mul(pn_f4Set1(pose->active[i].weight), place));
  }
  return pn_f4And(sum, mask);
}

/* Written once; deltas, moved and stride are constants where it is called. */
PN_INLINE void fetch(const pnPose *pose, bool deltas, bool moved, const uint32_t *vertices, uint32_t count, float *out,
                     uint32_t stride) {
  const pnF4 mask = maskOfThree();
  const Columns columns = columnsOf(&pose->transform);
  for (uint32_t i = 0; i < count; ++i, out += stride) {
    pnF4 p = deltas ? sumDeltas(pose, vertices[i], mask) : sumReferences(pose, vertices[i], mask);
    p = moved ? move(&columns, p) : p;
    if (stride == 4) {
      pn_f4Store(out, p);
    } else {
      float place[4];
      pn_f4Store(place, p);
      memcpy(out, place, 3 * sizeof(float));
    }
  }
}

void pn_fetchMorph(const pnPose *pose, bool local, const uint32_t *vertices, uint32_t count, float *out,
                   uint32_t stride) {
  const bool deltas = pose->morph->mode == PN_MORPH_DELTAS, moved = pose->hasTransform && !local;
  switch (4 * deltas + 2 * moved + (stride == 4)) {
    case 0: fetch(pose, false, false, vertices, count, out, 3); break;
    case 1: fetch(pose, false, false, vertices, count, out, 4); break;
    case 2: fetch(pose, false, true, vertices, count, out, 3); break;
    case 3: fetch(pose, false, true, vertices, count, out, 4); break;
    case 4: fetch(pose, true, false, vertices, count, out, 3); break;
    case 5: fetch(pose, true, false, vertices, count, out, 4); break;
    case 6: fetch(pose, true, true, vertices, count, out, 3); break;
    default: fetch(pose, true, true, vertices, count, out, 4); break;
  }
}

/* ---------------------------------------------------------------- memory */

/* One block: weights, then the active ones. */
static size_t weightBytes(const pnMorph *morph) {
  return morph->targetCount * (sizeof(float) + sizeof(pnActive));
}

pnResult pn_allocMorph(pnPose *pose) {
  pose->active = pn_alloc(weightBytes(pose->morph));
  if (!pose->active) return pn_failMemory(weightBytes(pose->morph));
  pose->weights = (float *)(pose->active + pose->morph->targetCount);
  return PN_OK;
}

void pn_freeMorph(pnPose *pose) {
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
void pn_restMorph(pnPose *pose) {
  float reach = 0;
  (void)pn_checkWeights(pose->morph, "pose", pose->morph->restWeights, &reach);
  storeWeights(pose, pose->morph->restWeights, reach);
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
  if (result == PN_OK && pose->skin) result = pn_skinReach(pose, pose->moves, morphed, &reach);
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
