/* morph.c: the life of a set of morph targets: checked, turned from "by target" to "by vertex", and what weights it takes.
 *
 * Both kinds of [Larsson03] and of glTF are a sum of weight times entry over the targets of a vertex; they differ in
 * what the sum starts from and in which weights are allowed (pinch/mesh.h). Deltas of zero are left out, which is
 * what keeps targets sparse that a file has stored densely. */
#include "mesh/morph.h"

#include "base/fenv.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

pnMorphDef pnDefaultMorphDef(void) {
  return (pnMorphDef){.mode = PN_MORPH_DELTAS};
}

/* ---------------------------------------------------------------- words for messages */

/* "target 3 'smile'" */
typedef struct Label {
  char text[96];
} Label;

static Label labelOf(uint32_t target, const char *name) {
  Label label;
  if (name && name[0]) snprintf(label.text, sizeof label.text, "target %u '%s'", target, name);
  else snprintf(label.text, sizeof label.text, "target %u", target);
  return label;
}

/* ---------------------------------------------------------------- weights */

/* How far the weights of references may be from summing to 1: far above the rounding of any sensible sum (65536 weights
 * in float: 4e-3 at worst, 1e-5 as it happens), far below what a forgotten weight makes. Volumes are safe for
 * any sum; this only finds mistakes. */
#define SUM_TOLERANCE 1e-4

pnResult pn_checkWeights(const pnMorph *morph, const char *what, const float *weights, float *outReach) {
  const char *name = morph->mesh->name;
  const uint32_t n = morph->targetCount;
  const bool deltas = morph->mode == PN_MORPH_DELTAS;
  double sum = 0, reach = deltas ? (double)morph->mesh->maxAbs : 0;
  for (uint32_t i = 0; i < n; ++i) {
    const float w = weights[i];
    if (!(fabsf(w) <= FLT_MAX))
      return pn_fail(PN_ERROR_NUMBER, "%s of mesh '%s': the weight of %s is NaN or infinite", what, name,
                     labelOf(i, pnMorph_GetTargetName(morph, i)).text);
    if (!deltas && w < 0)
      return pn_fail(PN_ERROR_ARGUMENT,
                     "%s of mesh '%s': the weight of %s is %g; weights of references are not negative", what, name,
                     labelOf(i, pnMorph_GetTargetName(morph, i)).text, (double)w);
    sum += (double)w;
    reach += fabs((double)w) * (double)morph->targetMaxAbs[i];
  }
  if (!deltas && !(fabs(sum - 1) <= SUM_TOLERANCE))
    return pn_fail(PN_ERROR_ARGUMENT,
                   "%s of mesh '%s': the weights of its references, targets 0 to %u, sum to %.9g and not to 1", what,
                   name, n - 1, sum);

  // n products and n sums in float are each at most (1 + 2^-24) times too large; 2^-22 a target is twice as much.
  // A quarter of the range: volumes have sums of three coordinates and margins.
  reach *= 1 + (n + 2) * 0x1p-22;
  if (!(reach <= (double)FLT_MAX / 4)) {
    uint32_t most = 0;
    for (uint32_t i = 1; i < n; ++i)
      if (fabs((double)weights[i]) * (double)morph->targetMaxAbs[i] >
          fabs((double)weights[most]) * (double)morph->targetMaxAbs[most])
        most = i;
    return pn_fail(PN_ERROR_NUMBER,
                   "%s of mesh '%s': these weights could carry a vertex out of the range of float, %s farthest", what,
                   name, labelOf(most, pnMorph_GetTargetName(morph, most)).text);
  }
  *outReach = nextafterf((float)reach, INFINITY);
  return PN_OK;
}

/* ---------------------------------------------------------------- checking a definition */

/* One target: its counts, numbers and vertices. */
static pnResult checkTarget(const pnMorphDef *def, uint32_t i) {
  const pnMorphTarget *target = &def->targets[i];
  const pnMesh *mesh = def->mesh;
  const Label label = labelOf(i, target->name);
  if (target->vertices && def->mode == PN_MORPH_REFERENCES)
    return pn_fail(PN_ERROR_ARGUMENT, "morph of mesh '%s': %s lists vertices; a reference has all of them", mesh->name,
                   label.text);
  if (!target->vertices && target->count != mesh->vertexCount &&
      (target->count != 0 || def->mode == PN_MORPH_REFERENCES))
    return pn_fail(PN_ERROR_COUNT, "morph of mesh '%s': %s has %u vertices, the mesh has %u", mesh->name, label.text,
                   target->count, mesh->vertexCount);
  if (target->count > 0 && !target->values)
    return pn_fail(PN_ERROR_ARGUMENT, "morph of mesh '%s': %s has no values", mesh->name, label.text);
  for (uint32_t k = 0; target->vertices && k < target->count; ++k)
    if (target->vertices[k] >= mesh->vertexCount)
      return pn_fail(PN_ERROR_INDEX, "morph of mesh '%s': %s lists vertex %u of %u", mesh->name, label.text,
                     target->vertices[k], mesh->vertexCount);
  size_t bad;
  if (!pn_allFinite(target->values, 3 * (size_t)target->count, &bad))
    return pn_fail(PN_ERROR_NUMBER, "morph of mesh '%s': %s has a NaN or infinity at coordinate %c of vertex %u",
                   mesh->name, label.text, "xyz"[bad % 3],
                   target -> vertices ? target -> vertices[bad / 3] : (uint32_t)(bad / 3));
  return PN_OK;
}

static pnResult checkDef(const pnMorphDef *def) {
  if (!def->mesh) return pn_fail(PN_ERROR_ARGUMENT, "morph: the definition has no mesh");
  if (def->targetCount < 1 || def->targetCount > PN_MAX_TARGETS || !def->targets)
    return pn_fail(PN_ERROR_COUNT, "morph of mesh '%s': it has %u targets, 1 to %u are possible", def->mesh->name,
                   def->targets ? def->targetCount : 0, PN_MAX_TARGETS);
  if (def->mode != PN_MORPH_DELTAS && def->mode != PN_MORPH_REFERENCES)
    return pn_fail(PN_ERROR_ARGUMENT, "morph of mesh '%s': mode %d is not one of the list", def->mesh->name,
                   (int)def->mode);
  pnResult result = PN_OK;
  uint64_t entryCount = 0;
  for (uint32_t i = 0; result == PN_OK && i < def->targetCount; ++i) {
    result = checkTarget(def, i);
    entryCount += def->targets[i].count;
  }
  if (result == PN_OK && entryCount > UINT32_MAX)
    return pn_fail(PN_ERROR_COUNT, "morph of mesh '%s': its targets list %llu vertices, at most %u are possible",
                   def->mesh->name, (unsigned long long)entryCount, UINT32_MAX);
  return result;
}

/* ---------------------------------------------------------------- from targets to vertices */

static size_t positionBytes(const pnMorph *morph) {
  return pn_bytes(3 * (size_t)morph->targetCount * morph->mesh->vertexCount + 1, sizeof(float));
}

static size_t firstBytes(const pnMorph *morph) {
  return pn_bytes((size_t)morph->mesh->vertexCount + 1, sizeof(uint32_t));
}

static size_t entryBytes(const pnMorph *morph) {
  return pn_bytes(morph->entryFirst[morph->mesh->vertexCount], sizeof(pnMorphEntry));
}

static pnResult fillPositions(const pnMorphDef *def, pnMorph *morph) {
  const uint32_t n = def->targetCount;
  morph->positions = pn_allocZero(positionBytes(morph));
  if (!morph->positions) return pn_failMemory(positionBytes(morph));
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t v = 0; v < def->mesh->vertexCount; ++v)
      memcpy(morph->positions + 3 * ((size_t)v * n + i), def->targets[i].values + 3 * (size_t)v, 3 * sizeof(float));
  return PN_OK;
}

static bool isKept(const float *move) {
  return move[0] != 0 || move[1] != 0 || move[2] != 0;
}

PN_INLINE uint32_t vertexOf(const pnMorphTarget *target, uint32_t k) {
  return target->vertices ? target->vertices[k] : k;
}

/* Deltas: counts, then sums, then fills; targets go in one after the other, so that those of a vertex are ascending. */
static pnResult fillEntries(const pnMorphDef *def, pnMorph *morph) {
  const uint32_t vertexCount = def->mesh->vertexCount;
  uint32_t *first = morph->entryFirst = pn_allocZero(firstBytes(morph));
  if (!first) return pn_failMemory(firstBytes(morph));
  for (uint32_t i = 0; i < def->targetCount; ++i)
    for (uint32_t k = 0; k < def->targets[i].count; ++k)
      first[vertexOf(&def->targets[i], k) + 1] += isKept(def->targets[i].values + 3 * (size_t)k);
  for (uint32_t v = 0; v < vertexCount; ++v) first[v + 1] += first[v];
  morph->entries = pn_alloc(entryBytes(morph));
  if (!morph->entries && first[vertexCount] > 0) return pn_failMemory(entryBytes(morph));

  // first[v] runs ahead while vertex v is filled, and is moved back by one place afterwards
  for (uint32_t i = 0; i < def->targetCount; ++i) {
    const pnMorphTarget *target = &def->targets[i];
    for (uint32_t k = 0; k < target->count; ++k) {
      const float *move = target->values + 3 * (size_t)k;
      if (isKept(move)) {
        pnMorphEntry *entry = &morph->entries[first[vertexOf(target, k)]++];
        memcpy(entry->move, move, sizeof entry->move);
        entry->target = i;
      }
    }
  }
  memmove(first + 1, first, (size_t)vertexCount * sizeof(uint32_t));
  first[0] = 0;
  return PN_OK;
}

/* A vertex listed twice by one target stands beside itself. */
static pnResult checkTwice(const pnMorphDef *def, const pnMorph *morph) {
  for (uint32_t v = 0; morph->entries && v < def->mesh->vertexCount; ++v)
    for (uint32_t e = morph->entryFirst[v] + 1; e < morph->entryFirst[v + 1]; ++e)
      if (morph->entries[e].target == morph->entries[e - 1].target)
        return pn_fail(PN_ERROR_INDEX, "morph of mesh '%s': %s lists vertex %u twice", def->mesh->name,
                       labelOf(morph->entries[e].target, def->targets[morph->entries[e].target].name).text, v);
  return PN_OK;
}

static const char *nameOf(const pnMorphDef *def, uint32_t i) {
  return def->targets[i].name ? def->targets[i].name : "";
}

static void fillNames(const pnMorphDef *def, pnMorph *morph) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < def->targetCount; ++i) {
    size_t size = strlen(nameOf(def, i)) + 1;
    morph->nameFirst[i] = at;
    memcpy(morph->names + at, nameOf(def, i), size);
    at += (uint32_t)size;
  }
}

/* ---------------------------------------------------------------- life */

pnResult pnCreateMorph(const pnMorphDef *def, pnMorph **outMorph) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(def && outMorph);
  *outMorph = NULL;
  pnResult result = checkDef(def);
  if (result != PN_OK) return result;
  pnMorph *morph = pn_allocZero(sizeof *morph);
  if (!morph) return pn_failMemory(sizeof *morph);

  // what has one for each target, then what has one for each vertex
  const uint32_t n = def->targetCount;
  morph->mesh = def->mesh;
  morph->mode = def->mode;
  morph->targetCount = n;
  for (uint32_t i = 0; i < n; ++i) morph->nameBytes += strlen(nameOf(def, i)) + 1;
  morph->targetMaxAbs = pn_alloc(n * sizeof(float));
  morph->restWeights = pn_allocZero(n * sizeof(float));
  morph->nameFirst = pn_alloc(n * sizeof(uint32_t));
  morph->names = pn_alloc(morph->nameBytes);
  bool ok = morph->targetMaxAbs && morph->restWeights && morph->nameFirst && morph->names;
  if (!ok) result = pn_failMemory(morph->nameBytes);
  else result = def->mode == PN_MORPH_REFERENCES ? fillPositions(def, morph) : fillEntries(def, morph);
  if (result == PN_OK) result = checkTwice(def, morph);

  // the rest weights, refused as a pose would
  if (result == PN_OK) {
    float reach;
    for (uint32_t i = 0; i < n; ++i)
      morph->targetMaxAbs[i] = pn_maxAbs(def->targets[i].values, 3 * (size_t)def->targets[i].count);
    fillNames(def, morph);
    if (def->restWeights) memcpy(morph->restWeights, def->restWeights, n * sizeof(float));
    else if (def->mode == PN_MORPH_REFERENCES) morph->restWeights[0] = 1;
    result = pn_checkWeights(morph, "rest weights of the morph", morph->restWeights, &reach);
  }
  if (result != PN_OK) {
    pnDestroyMorph(morph);
    return result;
  }
  *outMorph = morph;
  return PN_OK;
}

void pnDestroyMorph(pnMorph *morph) {
  if (!morph) return;
  const uint32_t n = morph->targetCount;
  if (morph->entries) pn_free(morph->entries, entryBytes(morph));
  pn_free(morph->entryFirst, firstBytes(morph));
  pn_free(morph->positions, positionBytes(morph));
  pn_free(morph->targetMaxAbs, n * sizeof(float));
  pn_free(morph->restWeights, n * sizeof(float));
  pn_free(morph->nameFirst, n * sizeof(uint32_t));
  pn_free(morph->names, morph->nameBytes);
  pn_free(morph, sizeof *morph);
}

/* ---------------------------------------------------------------- getters */

const pnMesh *pnMorph_GetMesh(const pnMorph *morph) {
  return morph->mesh;
}

pnMorphMode pnMorph_GetMode(const pnMorph *morph) {
  return morph->mode;
}

uint32_t pnMorph_GetTargetCount(const pnMorph *morph) {
  return morph->targetCount;
}

const char *pnMorph_GetTargetName(const pnMorph *morph, uint32_t target) {
  PN_ASSERT(target < morph->targetCount);
  return target < morph->targetCount ? morph->names + morph->nameFirst[target] : "";
}

const float *pnMorph_GetRestWeights(const pnMorph *morph) {
  return morph->restWeights;
}

size_t pnMorph_GetByteCount(const pnMorph *morph) {
  size_t vertices = morph->positions ? positionBytes(morph) : firstBytes(morph) + entryBytes(morph);
  return sizeof *morph + vertices + morph->nameBytes + morph->targetCount * (2 * sizeof(float) + sizeof(uint32_t));
}
