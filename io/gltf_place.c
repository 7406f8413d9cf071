/* gltf_place.c: nodes with meshes into bodies.
 *
 * A body without skin moves by a rigid transform, but nodes may also scale, mirror and shear. Three cases:
 *   1. all maps from the root to the node are rigid, at rest and in every clip: the transform is the node's world map.
 *   2. what is not rigid lies below the last node that moves: it never changes, and is baked into vertices and deltas;
 *      the transform is that node's world map (none moves: identity). Only for a mesh that a single node places, since
 *      each baked copy needs its own vertices.
 *   3. otherwise the body hangs on one joint, the node, with an inverse bind of identity. A joint may be any affine map.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anim.h"
#include "gltf.h"

/* How far from rigid a world map may be: |A^T A - 1| in the spectral norm. A pose accepts 1e-4 for the largest entry of
 * the rounded matrix; the rest is room for the rounding. */
#define PN_GLTF_RIGID 8e-5

/* What is known about the nodes. */
typedef struct pnGltfChain {
  bool moves;       /* a clip moves this node */
  double deviation; /* of all maps from the root to here, over all time */
  uint32_t carrier; /* the last node on the way here that moves, PN_NONE for none */
  pnMap below;      /* from here to the carrier: never changes */
} pnGltfChain;

/* ---------------------------------------------------------------- how rigid a node is */

static double scaleDeviation(const float *scale) {
  double most = 0.0;
  for (int i = 0; i < 3; ++i) {
    double s = (double)scale[i], deviation = s > 0.0 ? fabs(s * s - 1.0) : INFINITY;
    most = deviation > most ? deviation : most;
  }
  return most;
}

/* The Frobenius norm of A^T A - 1, which is not less than the spectral one; a mirror is infinitely far. */
static double matrixDeviation(const pnMatrix *matrix) {
  pnMap a = pn_mapFromMatrix(matrix);
  double sum = 0.0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      double dot = a.m[0][i] * a.m[0][j] + a.m[1][i] * a.m[1][j] + a.m[2][i] * a.m[2][j] - (i == j ? 1.0 : 0.0);
      sum += dot * dot;
    }
  }
  double determinant = a.m[0][0] * (a.m[1][1] * a.m[2][2] - a.m[1][2] * a.m[2][1]) -
                       a.m[0][1] * (a.m[1][0] * a.m[2][2] - a.m[1][2] * a.m[2][0]) +
                       a.m[0][2] * (a.m[1][0] * a.m[2][1] - a.m[1][1] * a.m[2][0]);
  return determinant > 0.0 ? sqrt(sum) : INFINITY;
}

/* Over all keys of a scale. Straight lines between keys stay between their values, and so do splines with flat
 * tangents; other splines may go anywhere. */
static double channelDeviation(const pnAnimChannel *channel) {
  bool cubic = channel->interpolation == PN_INTERPOLATION_CUBIC;
  double most = 0.0;
  for (size_t i = 0; i < channel->keyCount; ++i) {
    const float *value = channel->values + (cubic ? i * 9 + 3 : i * 3);
    double deviation = scaleDeviation(value);
    for (int k = 0; k < 3 && cubic; ++k)
      if (value[k - 3] != 0.0f || value[k + 3] != 0.0f) deviation = INFINITY;
    most = deviation > most ? deviation : most;
  }
  return most;
}

static pnGltfChain *describeNodes(pnGltf *g) {
  uint32_t count = g->file->nodeCount;
  pnGltfChain *chains = pn_gltfScratch(g, count, sizeof(pnGltfChain));
  if (chains == NULL) return NULL;

  /* Each node alone: at rest, then in every clip. */
  for (uint32_t n = 0; n < count; ++n) {
    const pnAnimNode *node = &g->nodes[n];
    chains[n].deviation = node->hasMatrix ? matrixDeviation(&node->matrix) : scaleDeviation(node->scale);
  }
  for (uint32_t c = 0; c < g->file->clipCount; ++c) {
    for (uint32_t i = 0; i < g->clips[c].channelCount; ++i) {
      const pnAnimChannel *channel = &g->clips[c].channels[i];
      pnGltfChain *chain = &chains[channel->node];
      if (channel->path == PN_ANIM_WEIGHTS) continue;
      chain->moves = true;
      double deviation = channel->path == PN_ANIM_SCALE ? channelDeviation(channel) : 0.0;
      chain->deviation = deviation > chain->deviation ? deviation : chain->deviation;
    }
  }

  /* And down the hierarchy. Deviations add up, to first order. */
  pnMatrix one = pnMatrix_Identity();
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t n = g->order[i], parent = g->nodes[n].parent;
    pnMap local = pn_mapOfNode(&g->nodes[n]);
    chains[n].carrier = chains[n].moves ? n : parent != PN_NONE ? chains[parent].carrier : PN_NONE;
    chains[n].deviation += parent != PN_NONE ? chains[parent].deviation : 0.0;
    chains[n].below = chains[n].moves     ? pn_mapFromMatrix(&one)
                      : parent != PN_NONE ? pn_mapMultiply(&chains[parent].below, &local)
                                          : local;
  }
  return chains;
}

/* ---------------------------------------------------------------- the three cases */

/* a * p, or only its linear part. Rounded to float; false when that is not finite. */
static bool bakePoint(const pnMap *a, const float *p, bool direction, float *out) {
  bool ok = true;
  for (int i = 0; i < 3; ++i) {
    double sum = a->m[i][0] * (double)p[0] + a->m[i][1] * (double)p[1] + a->m[i][2] * (double)p[2];
    out[i] = (float)(direction ? sum : sum + a->m[i][3]);
    ok = ok && isfinite(out[i]);
  }
  return ok;
}

static pnResult bake(pnGltf *g, const pnMap *map, pnAnimBody *body) {
  float *vertices = pn_gltfKeep(g, (size_t)body->vertexCount * 3, sizeof(float));
  pnAnimTarget *targets = pn_gltfKeep(g, body->targetCount, sizeof(pnAnimTarget));
  if (vertices == NULL || targets == NULL) return pn_gltfNoMemory(g);
  bool ok = true;
  for (size_t v = 0; v < body->vertexCount; ++v)
    ok = bakePoint(map, body->vertices + v * 3, false, vertices + v * 3) && ok;
  for (uint32_t t = 0; t < body->targetCount; ++t) {
    float *deltas = pn_gltfKeep(g, (size_t)body->targets[t].count * 3, sizeof(float));
    if (deltas == NULL) return pn_gltfNoMemory(g);
    for (size_t i = 0; i < body->targets[t].count; ++i)
      ok = bakePoint(map, body->targets[t].deltas + i * 3, true, deltas + i * 3) && ok;
    targets[t] = body->targets[t];
    targets[t].deltas = deltas;
  }
  body->vertices = vertices;
  body->targets = targets;
  if (ok) return PN_OK;
  return pnFail(PN_ERROR_NUMBER, "%s: nodes[%u]: its scale takes the mesh outside the range of float", g->name,
                body->node);
}

static pnResult hangOnOneJoint(pnGltf *g, pnGltfMesh *mesh, pnAnimBody *body) {
  /* All vertices of the mesh on joint 0 with weight 1; one such list for each mesh. */
  if (mesh->oneJoint == NULL) {
    uint32_t count = body->vertexCount;
    uint16_t *joints = pn_gltfKeep(g, (size_t)count * 4, sizeof(uint16_t));
    float *weights = pn_gltfKeep(g, (size_t)count * 4, sizeof(float));
    if (joints == NULL || weights == NULL) return pn_gltfNoMemory(g);
    for (size_t v = 0; v < count; ++v) weights[v * 4] = 1.0f;
    mesh->oneJoint = joints;
    mesh->oneWeight = weights;
  }
  uint32_t *joint = pn_gltfKeep(g, 1, sizeof(uint32_t));
  pnMatrix *inverseBind = pn_gltfKeep(g, 1, sizeof(pnMatrix));
  if (joint == NULL || inverseBind == NULL) return pn_gltfNoMemory(g);
  *joint = body->node;
  *inverseBind = pnMatrix_Identity();
  g->skins[g->file->skinCount] =
      (pnAnimSkin){.name = g->nodes[body->node].name, .jointCount = 1, .joints = joint, .inverseBinds = inverseBind};
  body->skin = g->file->skinCount++;
  body->influenceCount = 4;
  body->jointIndices = mesh->oneJoint;
  body->jointWeights = mesh->oneWeight;
  return PN_OK;
}

static pnResult placeRigid(pnGltf *g, const pnGltfChain *chains, pnGltfMesh *mesh, pnAnimBody *body) {
  const pnGltfChain *chain = &chains[body->node];
  if (chain->deviation <= PN_GLTF_RIGID) {
    body->carrier = body->node;
    return PN_OK;
  }
  double above = chain->carrier != PN_NONE ? chains[chain->carrier].deviation : 0.0;
  if (above <= PN_GLTF_RIGID && g->meshes[2 * g->nodeMesh[body->node]].userCount == 1) {
    body->carrier = chain->carrier;
    return bake(g, &chain->below, body);
  }
  return hangOnOneJoint(g, mesh, body);
}

/* ---------------------------------------------------------------- bodies */

/* The weights at rest: the node's, else the mesh's, else 0. */
static pnResult readWeights(pnGltf *g, pnAnimBody *body) {
  float *weights = pn_gltfKeep(g, body->targetCount, sizeof(float));
  if (weights == NULL) return pn_gltfNoMemory(g);
  body->restWeights = weights;
  if (body->targetCount == 0) return PN_OK;
  pnJson node = pn_jsonElement(&g->nodeArray, body->node);
  pnJson mesh = pn_jsonElement(&g->meshArray, g->nodeMesh[body->node]);
  bool own = json_object_get(node.value, "weights") != NULL;
  return pn_jsonFloats(own ? &node : &mesh, "weights", body->targetCount, weights);
}

static pnResult placeNode(pnGltf *g, const pnGltfChain *chains, uint32_t n) {
  uint32_t skin = g->nodeSkin[n];
  pnGltfMesh *mesh = NULL;
  pnResult result = pn_gltfLoadMesh(g, g->nodeMesh[n], skin != PN_NONE, &mesh);
  if (result != PN_OK) return result;
  if (mesh->body.triangleCount == 0) {
    pnLog(PN_LOG_INFO, "%s: meshes[%u] has no triangles and is left out", g->name, g->nodeMesh[n]);
    return PN_OK;
  }
  pnAnimBody *body = &g->bodies[g->file->bodyCount];
  *body = mesh->body;
  body->node = n;
  body->carrier = PN_NONE;
  body->skin = skin;
  if (skin == PN_NONE) {
    result = placeRigid(g, chains, mesh, body);
  } else if (mesh->maxJoint >= g->skins[skin].jointCount) {
    result = pnFail(PN_ERROR_INDEX, "%s: meshes[%u]: vertex %u follows joint %u, but skins[%u] has %u joints", g->name,
                    g->nodeMesh[n], mesh->maxJointVertex, mesh->maxJoint, skin, g->skins[skin].jointCount);
  }
  if (result == PN_OK) result = readWeights(g, body);

  /* Its name: what a person sees in the outliner of a modelling program, else the mesh's. */
  char number[24];
  snprintf(number, sizeof(number), "mesh%u", g->nodeMesh[n]);
  body->name = g->nodes[n].name[0] != 0 ? g->nodes[n].name : body->meshName[0] != 0 ? body->meshName : number;
  if (body->name == number) body->name = pn_gltfText(g, number);
  if (result == PN_OK && body->name == NULL) result = pn_gltfNoMemory(g);
  ++g->file->bodyCount;
  return result;
}

/* ---------------------------------------------------------------- names */

static int compareNames(const void *a, const void *b) {
  const pnAnimBody *x = *(pnAnimBody *const *)a, *y = *(pnAnimBody *const *)b;
  int order = strcmp(x->name, y->name);
  if (order != 0) return order;
  return x < y ? -1 : 1;
}

/* The second body of a name becomes name#2, the third name#3. Done again until all differ, for the file that already
 * has a name#2. */
static pnResult makeNamesUnique(pnGltf *g) {
  uint32_t count = g->file->bodyCount;
  pnAnimBody **sorted = pn_gltfScratch(g, count, sizeof(pnAnimBody *));
  if (sorted == NULL) return pn_gltfNoMemory(g);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 0; b < count; ++b) sorted[b] = &g->bodies[b];
    qsort(sorted, count, sizeof(sorted[0]), compareNames);
    const char *name = NULL;
    for (uint32_t i = 0, same = 1; i < count; ++i) {
      same = name != NULL && strcmp(name, sorted[i]->name) == 0 ? same + 1 : 1;
      if (same == 1) {
        name = sorted[i]->name;
        continue;
      }
      size_t size = strlen(name) + 16;
      char *text = pn_gltfKeep(g, size, 1);
      if (text == NULL) return pn_gltfNoMemory(g);
      snprintf(text, size, "%s#%u", name, same);
      sorted[i]->name = text;
      changed = true;
    }
  }
  return PN_OK;
}

pnResult pn_gltfPlaceBodies(pnGltf *g) {
  const pnGltfChain *chains = describeNodes(g);
  if (chains == NULL) return pn_gltfNoMemory(g);
  uint32_t count = 0;
  for (uint32_t n = 0; n < g->file->nodeCount; ++n) count += g->nodeMesh[n] != PN_NONE;
  g->bodies = pn_gltfKeep(g, count, sizeof(pnAnimBody));
  if (g->bodies == NULL) return pn_gltfNoMemory(g);
  g->file->bodies = g->bodies;
  g->file->ownSkinCount = g->file->skinCount;

  pnResult result = PN_OK;
  for (uint32_t n = 0; n < g->file->nodeCount && result == PN_OK; ++n)
    if (g->nodeMesh[n] != PN_NONE) result = placeNode(g, chains, n);
  return result == PN_OK ? makeNamesUnique(g) : result;
}
