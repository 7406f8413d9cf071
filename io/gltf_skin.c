/* gltf_skin.c: skins, and the joints and weights of vertices.
 *
 * A vertex is a sum over its joints, and sums of floats depend on their order. Two vertices of a seam often list the
 * same joints in another order; here every list is brought into one form (weights above zero, joints ascending, each
 * once), so that such vertices move to the same bits and can be welded. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gltf.h"

/* Sets JOINTS_0 ... JOINTS_3 are read; a vertex may use at most 8 joints of them. */
#define PN_GLTF_MAX_SETS 4
#define PN_GLTF_MAX_INFLUENCES 8

/* Eight weights rounded to float add up to 1 within 8 * 2^-24; what is closer than that counts as 1. */
#define PN_GLTF_WEIGHT_ROUNDING 5e-7

/* ---------------------------------------------------------------- skins */

static pnResult readInverseBinds(pnGltf *g, const pnJson *skin, uint32_t jointCount, pnMatrix *out) {
  pnJson member = pn_jsonMember(skin, "inverseBindMatrices");
  for (uint32_t j = 0; j < jointCount; ++j) out[j] = pnMatrix_Identity();
  if (member.value == NULL) return PN_OK;

  pnGltfAccessor accessor;
  const float *numbers = NULL;
  pnResult result = pn_gltfAccessor(g, &member, 16, PN_GLTF_IS_FLOAT, &accessor);
  if (result != PN_OK) return result;
  if (accessor.count < jointCount) {
    return pn_jsonFail(&member, PN_ERROR_COUNT, "accessor %u has %u matrices for %u joints", accessor.index,
                       accessor.count, jointCount);
  }
  result = pn_gltfSharedFloats(g, &member, &accessor, &numbers);
  for (uint32_t j = 0; j < jointCount && result == PN_OK; ++j) {
    /* By columns; the last row is 0 0 0 1, give or take the rounding of an exporter. */
    const float *m = numbers + (size_t)j * 16;
    if (fabsf(m[3]) > 1e-3f || fabsf(m[7]) > 1e-3f || fabsf(m[11]) > 1e-3f || fabsf(m[15] - 1.0f) > 1e-3f) {
      return pn_jsonFail(&member, PN_ERROR_FORMAT, "accessor %u: the last row of matrix %u is not 0 0 0 1",
                         accessor.index, j);
    }
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 4; ++column) out[j].m[row][column] = m[column * 4 + row];
  }
  return result;
}

static pnResult readSkin(pnGltf *g, const pnJson *skin, pnAnimSkin *out) {
  pnJson joints;
  uint32_t count = 0;
  pnResult result = pn_jsonArray(skin, "joints", &joints, &count);
  if (result != PN_OK) return result;
  /* Vertices name joints by 16 bits. */
  if (count == 0 || count > 65536) return pn_jsonFail(&joints, PN_ERROR_COUNT, "%u joints, expected 1 to 65536", count);
  uint32_t *list = pn_gltfKeep(g, count, sizeof(uint32_t));
  pnMatrix *inverseBinds = pn_gltfKeep(g, count, sizeof(pnMatrix));
  out->name = pn_gltfText(g, pn_jsonString(skin, "name", ""));
  if (list == NULL || inverseBinds == NULL || out->name == NULL) return pn_gltfNoMemory(g);
  for (uint32_t j = 0; j < count && result == PN_OK; ++j) {
    pnJson element = pn_jsonElement(&joints, j);
    result = pn_jsonIndexHere(&element, g->file->nodeCount, &list[j]);
  }
  if (result == PN_OK) result = readInverseBinds(g, skin, count, inverseBinds);
  out->jointCount = count;
  out->joints = list;
  out->inverseBinds = inverseBinds;
  return result;
}

pnResult pn_gltfLoadSkins(pnGltf *g) {
  pnJson skins;
  uint32_t count = 0;
  pnResult result = pn_jsonArray(&g->root, "skins", &skins, &count);
  if (result != PN_OK) return result;
  /* Bodies with a map that is not rigid get a skin of their own later: at most one a node. */
  g->skins = pn_gltfKeep(g, (size_t)count + g->file->nodeCount, sizeof(pnAnimSkin));
  if (g->skins == NULL) return pn_gltfNoMemory(g);
  for (uint32_t i = 0; i < count && result == PN_OK; ++i) {
    pnJson skin = pn_jsonElement(&skins, i);
    result = readSkin(g, &skin, &g->skins[i]);
  }
  g->file->skins = g->skins;
  g->file->skinCount = count;
  return result;
}

/* ---------------------------------------------------------------- joints and weights of vertices */

/* The sets of a primitive, as numbers. */
typedef struct pnGltfSets {
  uint32_t count;
  uint32_t *joints[PN_GLTF_MAX_SETS]; /* 4 a vertex */
  float *weights[PN_GLTF_MAX_SETS];
} pnGltfSets;

typedef struct pnGltfInfluences {
  uint32_t count;
  uint32_t joints[PN_GLTF_MAX_SETS * 4];
  double weights[PN_GLTF_MAX_SETS * 4];
} pnGltfInfluences;

static pnResult readSet(pnGltf *g, const pnJson *attributes, uint32_t set, uint32_t vertexCount, pnGltfSets *out) {
  char names[2][16];
  snprintf(names[0], sizeof(names[0]), "JOINTS_%u", set);
  snprintf(names[1], sizeof(names[1]), "WEIGHTS_%u", set);
  pnJson joints = pn_jsonMember(attributes, names[0]), weights = pn_jsonMember(attributes, names[1]);
  if (joints.value == NULL && weights.value == NULL) return PN_OK;
  if (joints.value == NULL || weights.value == NULL)
    return pn_jsonFail(attributes, PN_ERROR_FORMAT, "JOINTS_%u and WEIGHTS_%u must come together", set, set);
  if (set >= PN_GLTF_MAX_SETS)
    return pn_jsonFail(&joints, PN_ERROR_UNSUPPORTED, "more than %d joints a vertex", PN_GLTF_MAX_SETS * 4);

  /* Both must be there for every vertex. */
  pnGltfAccessor j, w;
  pnResult result = pn_gltfAccessor(g, &joints, 4, PN_GLTF_IS_UBYTE | PN_GLTF_IS_USHORT, &j);
  if (result == PN_OK)
    result = pn_gltfAccessor(g, &weights, 4, PN_GLTF_IS_FLOAT | PN_GLTF_IS_UBYTE | PN_GLTF_IS_USHORT, &w);
  if (result != PN_OK) return result;
  if (j.count != vertexCount || w.count != vertexCount) {
    return pn_jsonFail(&joints, PN_ERROR_COUNT, "accessors %u and %u have %u and %u elements for %u vertices", j.index,
                       w.index, j.count, w.count, vertexCount);
  }
  w.normalized = true; /* whole numbers can only be meant as fractions */
  out->joints[set] = pn_gltfScratch(g, (size_t)vertexCount * 4, sizeof(uint32_t));
  out->weights[set] = pn_gltfScratch(g, (size_t)vertexCount * 4, sizeof(float));
  if (out->joints[set] == NULL || out->weights[set] == NULL) return pn_gltfNoMemory(g);
  pn_gltfReadUints(&j, out->joints[set]);
  out->count = set + 1;
  return pn_gltfReadFloats(&weights, &w, out->weights[set]);
}

static pnResult readSets(pnGltf *g, const pnJson *attributes, uint32_t vertexCount, pnGltfSets *out) {
  memset(out, 0, sizeof(*out));
  for (uint32_t set = 0; set <= PN_GLTF_MAX_SETS; ++set) {
    pnResult result = readSet(g, attributes, set, vertexCount, out);
    if (result != PN_OK) return result;
    if (out->count != set + 1) break;
  }
  return PN_OK;
}

/* The influences of vertex v in the one form: weights above zero, joints ascending, each once. Negative weights are
 * refused by the caller, which sees them as a sum that lost its meaning: *outNegative. */
static void gather(const pnGltfSets *sets, uint32_t v, pnGltfInfluences *out, bool *outNegative) {
  out->count = 0;
  *outNegative = false;
  for (uint32_t i = 0; i < sets->count * 4; ++i) {
    uint32_t joint = sets->joints[i / 4][(size_t)v * 4 + i % 4];
    double weight = (double)sets->weights[i / 4][(size_t)v * 4 + i % 4];
    *outNegative = *outNegative || weight < 0.0;
    if (weight == 0.0) continue;
    /* Its place in the sorted list. */
    uint32_t place = 0;
    while (place < out->count && out->joints[place] < joint) ++place;
    if (place < out->count && out->joints[place] == joint) {
      out->weights[place] += weight;
      continue;
    }
    memmove(out->joints + place + 1, out->joints + place, (out->count - place) * sizeof(out->joints[0]));
    memmove(out->weights + place + 1, out->weights + place, (out->count - place) * sizeof(out->weights[0]));
    out->joints[place] = joint;
    out->weights[place] = weight;
    ++out->count;
  }
}

/* Weights that do not add up to 1 are divided by their sum; a vertex without any follows the first joint it names.
 * True when something had to be done. */
static bool normalise(const pnGltfSets *sets, uint32_t v, pnGltfInfluences *influences) {
  double sum = 0.0;
  for (uint32_t i = 0; i < influences->count; ++i) sum += influences->weights[i];
  if (influences->count == 0) {
    influences->count = 1;
    influences->joints[0] = sets->joints[0][(size_t)v * 4];
    influences->weights[0] = 1.0;
    return true;
  }
  if (fabs(sum - 1.0) <= PN_GLTF_WEIGHT_ROUNDING) return false;
  for (uint32_t i = 0; i < influences->count; ++i) influences->weights[i] /= sum;
  return true;
}

pnResult pn_gltfInfluenceCount(pnGltf *g, const pnJson *attributes, uint32_t vertexCount, uint32_t *outCount) {
  pnGltfSets sets;
  pnResult result = readSets(g, attributes, vertexCount, &sets);
  *outCount = sets.count > 0 ? 4 : 0;
  for (uint32_t v = 0; v < vertexCount && sets.count > 1 && result == PN_OK; ++v) {
    pnGltfInfluences influences;
    bool negative;
    gather(&sets, v, &influences, &negative);
    if (influences.count > 4) *outCount = 8;
    if (influences.count > PN_GLTF_MAX_INFLUENCES) {
      return pn_jsonFail(attributes, PN_ERROR_UNSUPPORTED, "vertex %u has %u joints; at most %d are possible", v,
                         influences.count, PN_GLTF_MAX_INFLUENCES);
    }
  }
  return result;
}

pnResult pn_gltfReadInfluences(pnGltf *g, const pnJson *attributes, pnGltfMesh *mesh, uint32_t first, uint32_t count) {
  pnGltfSets sets;
  pnResult result = readSets(g, attributes, count, &sets);
  if (result != PN_OK) return result;
  if (sets.count == 0)
    return pn_jsonFail(attributes, PN_ERROR_FORMAT, "a node places this mesh with a skin, but JOINTS_0 is missing");
  uint32_t width = mesh->body.influenceCount, changed = 0;
  uint16_t *joints = (uint16_t *)mesh->body.jointIndices + (size_t)first * width;
  float *weights = (float *)mesh->body.jointWeights + (size_t)first * width;
  for (uint32_t v = 0; v < count; ++v) {
    pnGltfInfluences influences;
    bool negative;
    gather(&sets, v, &influences, &negative);
    if (negative) return pn_jsonFail(attributes, PN_ERROR_NUMBER, "vertex %u has a negative weight", v);
    changed += normalise(&sets, v, &influences);
    for (uint32_t k = 0, kept = 0; k < influences.count; ++k) {
      /* A weight so small beside the others that it is 0 as a float is none. */
      if ((float)influences.weights[k] == 0.0f) continue;
      joints[(size_t)v * width + kept] = (uint16_t)influences.joints[k];
      weights[(size_t)v * width + kept++] = (float)influences.weights[k];
      if (influences.joints[k] > mesh->maxJoint) {
        mesh->maxJoint = influences.joints[k];
        mesh->maxJointVertex = v;
      }
    }
  }
  if (changed > 0) {
    char place[128];
    pnLog(PN_LOG_INFO, "%s: %s: weights of %u of %u vertices did not add up to 1 and were divided by their sum",
          g->name, pn_jsonPlace(attributes, place, sizeof(place)), changed, count);
  }
  return PN_OK;
}
