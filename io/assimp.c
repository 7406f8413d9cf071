/* assimp.c: FBX, Collada and the other animated formats that the library assimp reads.
 *
 * What assimp hands out is said again as glTF, in memory, and read by our own reader: one place decides what is rigid, what is
 * welded, which weights are whole, and refuses what is not finite or out of range. So this file only translates:
 *
 *   nodes       the matrix; translation, rotation and scale where a clip moves the node
 *   meshes      all meshes of a node are one glTF mesh, a primitive each; targets as differences
 *   skins       the bones of a node's meshes, by name; what no bone holds hangs on the node itself
 *   animations  keys as they are, in seconds, straight lines between them (assimp 5.2 keeps no other interpolation)
 */
#ifdef PN_HAVE_ASSIMP

#include "assimp.h"

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gltf_write.h"
#include "reader.h"

/* glTF has sets of four, pinch takes eight joints a vertex. */
#define MOST_JOINTS 8u

typedef struct Import {
  const char *path;
  const struct aiScene *scene;
  pnGltfWriter w;
  const struct aiNode **nodes; /* parents first */
  uint32_t *parents;
  uint32_t *byName; /* nodes sorted by name, the first of several first */
  uint8_t *moves;   /* by node: a clip moves it */
  uint32_t *single; /* by mesh of assimp: the glTF mesh of a node that has it alone, PN_NONE before there is one */
  uint32_t *meshOf; /* by node: its glTF mesh, PN_NONE for none */
  uint32_t nodeCount;
  json_t *skins;
} Import;

/* ---------------------------------------------------------------- memory */

/* Zeroed; null notes the failure, which is looked at once at the end. */
static void *take(Import *im, size_t count, size_t size) {
  void *memory = calloc(count > 0 ? count : 1, size);
  im->w.failed = im->w.failed || memory == NULL;
  return memory;
}

/* Names come in any encoding; JSON has UTF-8 only. */
static json_t *textOf(const struct aiString *name) {
  json_t *text = json_string(name->data);
  if (text) return text;
  char plain[1025];
  snprintf(plain, sizeof(plain), "%s", name->data);
  for (char *c = plain; *c; ++c) *c = (unsigned char)*c < 128 ? *c : '?';
  return json_string(plain);
}

/* ---------------------------------------------------------------- nodes */

/* Breadth first, so that parents come before their children. A file cannot make this deep: there is no recursion. */
static bool listNodes(Import *im) {
  size_t count = 1, capacity = 64;
  im->nodes = malloc(capacity * sizeof(*im->nodes));
  im->parents = malloc(capacity * sizeof(*im->parents));
  if (!im->nodes || !im->parents) return false;
  im->nodes[0] = im->scene->mRootNode;
  im->parents[0] = PN_NONE;
  for (size_t n = 0; n < count; ++n) {
    const struct aiNode *node = im->nodes[n];
    if (count + node->mNumChildren > capacity) {
      capacity = 2 * (count + node->mNumChildren);
      const struct aiNode **nodes = realloc(im->nodes, capacity * sizeof(*nodes));
      if (nodes) im->nodes = nodes;
      uint32_t *parents = realloc(im->parents, capacity * sizeof(*parents));
      if (parents) im->parents = parents;
      if (!nodes || !parents) return false;
    }
    for (unsigned c = 0; c < node->mNumChildren; ++c) {
      im->parents[count] = (uint32_t)n;
      im->nodes[count++] = node->mChildren[c];
    }
  }
  im->nodeCount = (uint32_t)count;
  return true;
}

/* Sorting by name needs the nodes: the comparison is handed nothing else, so it is given pairs. */
typedef struct Named {
  const char *name;
  uint32_t node;
} Named;

static int compareNamed(const void *a, const void *b) {
  const Named *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order != 0 ? order : (x->node > y->node) - (x->node < y->node);
}

static void sortNames(Import *im) {
  Named *named = take(im, im->nodeCount, sizeof(Named));
  im->byName = take(im, im->nodeCount, sizeof(uint32_t));
  if (im->w.failed) {
    free(named);
    return;
  }
  for (uint32_t n = 0; n < im->nodeCount; ++n) named[n] = (Named){im->nodes[n]->mName.data, n};
  qsort(named, im->nodeCount, sizeof(Named), compareNamed);
  for (uint32_t i = 0; i < im->nodeCount; ++i) im->byName[i] = named[i].node;
  free(named);
}

/* The first node of that name, PN_NONE for none. */
static uint32_t findNode(const Import *im, const char *name) {
  uint32_t low = 0, high = im->nodeCount;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (strcmp(im->nodes[im->byName[middle]]->mName.data, name) < 0) low = middle + 1;
    else high = middle;
  }
  if (low == im->nodeCount || strcmp(im->nodes[im->byName[low]]->mName.data, name) != 0) return PN_NONE;
  return im->byName[low];
}

/* glTF has matrices by columns. */
static void columnsOf(const struct aiMatrix4x4 *a, float *out) {
  const float rows[16] = {(float)a->a1,
                          (float)a->a2,
                          (float)a->a3,
                          (float)a->a4,
                          (float)a->b1,
                          (float)a->b2,
                          (float)a->b3,
                          (float)a->b4,
                          (float)a->c1,
                          (float)a->c2,
                          (float)a->c3,
                          (float)a->c4,
                          0,
                          0,
                          0,
                          1};
  for (int i = 0; i < 16; ++i) out[i % 4 * 4 + i / 4] = rows[i];
}

static void setPlace(Import *im, json_t *out, uint32_t n) {
  const struct aiMatrix4x4 *matrix = &im->nodes[n]->mTransformation;
  if (!im->moves[n]) {
    float columns[16];
    columnsOf(matrix, columns);
    pn_gltfSet(&im->w, out, "matrix", pn_gltfFloats(&im->w, columns, 16));
    return;
  }
  struct aiVector3D scale, position;
  struct aiQuaternion turn;
  aiDecomposeMatrix(matrix, &scale, &turn, &position);
  const float t[3] = {(float)position.x, (float)position.y, (float)position.z};
  const float r[4] = {(float)turn.x, (float)turn.y, (float)turn.z, (float)turn.w};
  const float s[3] = {(float)scale.x, (float)scale.y, (float)scale.z};
  pn_gltfSet(&im->w, out, "translation", pn_gltfFloats(&im->w, t, 3));
  pn_gltfSet(&im->w, out, "rotation", pn_gltfFloats(&im->w, r, 4));
  pn_gltfSet(&im->w, out, "scale", pn_gltfFloats(&im->w, s, 3));
}

/* ---------------------------------------------------------------- skins */

/* The joints of a node's meshes: their bones, each once, and the node itself for what no bone holds. */
typedef struct Joints {
  uint32_t *ofNode; /* by node: joint + 1, 0 for none */
  json_t *list;
  float *binds; /* 16 each */
  uint32_t count;
} Joints;

static uint32_t addJoint(Import *im, Joints *joints, uint32_t node, const struct aiMatrix4x4 *offset) {
  if (joints->ofNode[node] == 0) {
    static const float identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    memcpy(joints->binds + 16 * (size_t)joints->count, identity, sizeof(identity));
    if (offset) columnsOf(offset, joints->binds + 16 * (size_t)joints->count);
    pn_gltfAppend(&im->w, joints->list, json_integer(node));
    joints->ofNode[node] = ++joints->count;
  }
  return joints->ofNode[node] - 1;
}

/* Joints and weights of one vertex: the eight heaviest. */
typedef struct Holds {
  uint16_t joint[MOST_JOINTS];
  float weight[MOST_JOINTS];
} Holds;

static void addHold(Holds *holds, uint32_t joint, float weight) {
  uint32_t place = MOST_JOINTS;
  while (place > 0 && holds->weight[place - 1] < weight) --place;
  for (uint32_t i = MOST_JOINTS - 1; i > place && i > 0; --i) {
    holds->joint[i] = holds->joint[i - 1];
    holds->weight[i] = holds->weight[i - 1];
  }
  if (place < MOST_JOINTS) {
    holds->joint[place] = (uint16_t)joint;
    holds->weight[place] = weight;
  }
}

/* As JOINTS_0, WEIGHTS_0 and, where a vertex needs it, JOINTS_1, WEIGHTS_1. */
static void writeHolds(Import *im, json_t *attributes, const Holds *holds, uint32_t count) {
  bool second = false;
  for (uint32_t v = 0; v < count; ++v) second = second || holds[v].weight[4] > 0;
  uint16_t *joints = take(im, (size_t)count * 4, sizeof(uint16_t));
  float *weights = take(im, (size_t)count * 4, sizeof(float));
  for (uint32_t set = 0; set < (second ? 2u : 1u) && !im->w.failed; ++set) {
    for (uint32_t i = 0; i < 4 * count; ++i) {
      joints[i] = holds[i / 4].joint[4 * set + i % 4];
      weights[i] = holds[i / 4].weight[4 * set + i % 4];
    }
    pn_gltfSet(&im->w, attributes, set == 0 ? "JOINTS_0" : "JOINTS_1",
               json_integer(pn_gltfWriteArray(&im->w, joints, count, 4, 5123, PN_GLTF_USE_VERTEX)));
    pn_gltfSet(&im->w, attributes, set == 0 ? "WEIGHTS_0" : "WEIGHTS_1",
               json_integer(pn_gltfWriteArray(&im->w, weights, count, 4, 5126, PN_GLTF_USE_VERTEX)));
  }
  free(joints);
  free(weights);
}

static pnResult writeBones(Import *im, uint32_t n, const struct aiMesh *mesh, Joints *joints, json_t *attributes) {
  Holds *holds = take(im, mesh->mNumVertices, sizeof(Holds));
  pnResult result = PN_OK;
  for (unsigned b = 0; b < mesh->mNumBones && !im->w.failed && result == PN_OK; ++b) {
    const struct aiBone *bone = mesh->mBones[b];
    uint32_t node = findNode(im, bone->mName.data);
    if (node == PN_NONE) {
      result = pnFail(PN_ERROR_INDEX, "%s: mesh '%s': there is no node for its bone '%s'", im->path, mesh->mName.data,
                      bone->mName.data);
      break;
    }
    uint32_t joint = addJoint(im, joints, node, &bone->mOffsetMatrix);
    for (unsigned i = 0; i < bone->mNumWeights; ++i)
      if (bone->mWeights[i].mVertexId < mesh->mNumVertices && bone->mWeights[i].mWeight > 0)
        addHold(&holds[bone->mWeights[i].mVertexId], joint, (float)bone->mWeights[i].mWeight);
  }
  /* What nothing holds stays with the node. */
  for (unsigned v = 0; v < mesh->mNumVertices && !im->w.failed && result == PN_OK; ++v)
    if (holds[v].weight[0] <= 0) addHold(&holds[v], addJoint(im, joints, n, NULL), 1.0f);
  if (result == PN_OK && joints->count > UINT16_MAX)
    result = pnFail(PN_ERROR_COUNT, "%s: mesh '%s' has more than 65535 bones", im->path, mesh->mName.data);
  if (result == PN_OK && !im->w.failed) writeHolds(im, attributes, holds, mesh->mNumVertices);
  free(holds);
  return result;
}

/* ---------------------------------------------------------------- meshes */

static bool hasTriangles(const struct aiMesh *mesh) {
  return (mesh->mPrimitiveTypes & aiPrimitiveType_TRIANGLE) != 0 && mesh->mNumVertices > 0;
}

static uint32_t writePoints(Import *im, const struct aiVector3D *points, const struct aiVector3D *minus,
                            uint32_t count) {
  float *numbers = take(im, (size_t)count * 3, sizeof(float));
  for (uint32_t v = 0; v < count && !im->w.failed; ++v) {
    numbers[3 * (size_t)v] = (float)(points[v].x - (minus ? minus[v].x : 0));
    numbers[3 * (size_t)v + 1] = (float)(points[v].y - (minus ? minus[v].y : 0));
    numbers[3 * (size_t)v + 2] = (float)(points[v].z - (minus ? minus[v].z : 0));
  }
  uint32_t accessor = im->w.failed ? 0 : pn_gltfWriteBounded(&im->w, numbers, count, 3, PN_GLTF_USE_VERTEX);
  free(numbers);
  return accessor;
}

static json_t *writeCorners(Import *im, const struct aiMesh *mesh) {
  uint32_t *corners = take(im, (size_t)mesh->mNumFaces * 3, sizeof(uint32_t));
  uint32_t count = 0;
  for (unsigned f = 0; f < mesh->mNumFaces && corners; ++f) {
    if (mesh->mFaces[f].mNumIndices != 3) continue; /* points and lines */
    for (int k = 0; k < 3; ++k) corners[count++] = mesh->mFaces[f].mIndices[k];
  }
  uint32_t accessor = corners ? pn_gltfWriteArray(&im->w, corners, count, 1, 5125, PN_GLTF_USE_INDEX) : 0;
  free(corners);
  return json_integer(accessor);
}

/* All meshes of a node have as many targets as the one with the most; those that it lacks move nothing. */
static json_t *writeTargets(Import *im, const struct aiMesh *mesh, uint32_t targetCount) {
  json_t *targets = json_array();
  for (uint32_t t = 0; t < targetCount; ++t) {
    const struct aiAnimMesh *target = t < mesh->mNumAnimMeshes ? mesh->mAnimMeshes[t] : NULL;
    bool moves = target && target->mVertices && target->mNumVertices == mesh->mNumVertices;
    json_t *out = json_object();
    if (moves) {
      uint32_t accessor = writePoints(im, target->mVertices, mesh->mVertices, mesh->mNumVertices);
      pn_gltfSet(&im->w, out, "POSITION", json_integer(accessor));
    }
    pn_gltfAppend(&im->w, targets, out);
  }
  return targets;
}

/* Names and weights of the targets, of the mesh that has the most. */
static void describeTargets(Import *im, json_t *out, const struct aiMesh *widest) {
  json_t *names = json_array(), *weights = json_array();
  for (unsigned t = 0; t < widest->mNumAnimMeshes; ++t) {
    pn_gltfAppend(&im->w, names, textOf(&widest->mAnimMeshes[t]->mName));
    pn_gltfAppend(&im->w, weights, json_real((double)widest->mAnimMeshes[t]->mWeight));
  }
  pn_gltfSet(&im->w, out, "weights", weights);
  json_t *extras = json_object();
  pn_gltfSet(&im->w, extras, "targetNames", names);
  pn_gltfSet(&im->w, out, "extras", extras);
}

static pnResult writeMesh(Import *im, uint32_t n, Joints *joints, bool skinned, uint32_t *outMesh) {
  const struct aiNode *node = im->nodes[n];
  const struct aiMesh *widest = im->scene->mMeshes[node->mMeshes[0]];
  for (unsigned m = 1; m < node->mNumMeshes; ++m) {
    const struct aiMesh *mesh = im->scene->mMeshes[node->mMeshes[m]];
    if (mesh->mNumAnimMeshes > widest->mNumAnimMeshes) widest = mesh;
  }
  json_t *out = json_object(), *primitives = json_array();
  pnResult result = PN_OK;
  for (unsigned m = 0; m < node->mNumMeshes && result == PN_OK && !im->w.failed; ++m) {
    const struct aiMesh *mesh = im->scene->mMeshes[node->mMeshes[m]];
    if (!hasTriangles(mesh)) continue;
    json_t *primitive = json_object(), *attributes = json_object();
    pn_gltfSet(&im->w, attributes, "POSITION",
               json_integer(writePoints(im, mesh->mVertices, NULL, mesh->mNumVertices)));
    if (skinned) result = writeBones(im, n, mesh, joints, attributes);
    pn_gltfSet(&im->w, primitive, "attributes", attributes);
    pn_gltfSet(&im->w, primitive, "indices", writeCorners(im, mesh));
    if (widest->mNumAnimMeshes > 0)
      pn_gltfSet(&im->w, primitive, "targets", writeTargets(im, mesh, widest->mNumAnimMeshes));
    pn_gltfAppend(&im->w, primitives, primitive);
  }
  pn_gltfSet(&im->w, out, "primitives", primitives);
  pn_gltfSet(&im->w, out, "name", textOf(&im->scene->mMeshes[node->mMeshes[0]]->mName));
  if (widest->mNumAnimMeshes > 0) describeTargets(im, out, widest);
  *outMesh = pn_gltfAppend(&im->w, im->w.meshes, out);
  return result;
}

/* The mesh of a node, and its skin when its meshes have bones. A single mesh without bones is written once for all nodes. */
static pnResult placeMesh(Import *im, uint32_t n, json_t *out) {
  const struct aiNode *node = im->nodes[n];
  bool skinned = false, any = false;
  for (unsigned m = 0; m < node->mNumMeshes; ++m) {
    any = any || hasTriangles(im->scene->mMeshes[node->mMeshes[m]]);
    skinned = skinned || im->scene->mMeshes[node->mMeshes[m]]->mNumBones > 0;
  }
  if (!any) return PN_OK;
  uint32_t *known = node->mNumMeshes == 1 && !skinned ? &im->single[node->mMeshes[0]] : NULL;
  uint32_t mesh = known ? *known : PN_NONE;
  pnResult result = PN_OK;
  if (mesh == PN_NONE) {
    Joints joints = {.list = json_array()};
    joints.ofNode = take(im, skinned ? im->nodeCount : 0, sizeof(uint32_t));
    joints.binds = take(im, skinned ? (size_t)im->nodeCount * 16 : 0, sizeof(float));
    if (!im->w.failed) result = writeMesh(im, n, &joints, skinned, &mesh);
    if (known) *known = mesh;
    if (skinned && result == PN_OK && !im->w.failed) {
      uint32_t accessor = pn_gltfWriteArray(&im->w, joints.binds, joints.count, 16, 5126, PN_GLTF_USE_OTHER);
      json_t *skin = json_pack("{s:i, s:O}", "inverseBindMatrices", (int)accessor, "joints", joints.list);
      pn_gltfSet(&im->w, out, "skin", json_integer(pn_gltfAppend(&im->w, im->skins, skin)));
    }
    json_decref(joints.list);
    free(joints.ofNode);
    free(joints.binds);
  }
  im->meshOf[n] = mesh;
  pn_gltfSet(&im->w, out, "mesh", json_integer(mesh));
  return result;
}

static pnResult writeNodes(Import *im, json_t *nodes) {
  pnResult result = PN_OK;
  for (uint32_t n = 0; n < im->nodeCount && result == PN_OK && !im->w.failed; ++n) {
    json_t *out = json_object();
    if (im->nodes[n]->mName.length > 0) pn_gltfSet(&im->w, out, "name", textOf(&im->nodes[n]->mName));
    setPlace(im, out, n);
    result = placeMesh(im, n, out);
    pn_gltfAppend(&im->w, nodes, out);
    if (im->parents[n] == PN_NONE) continue;
    json_t *parent = json_array_get(nodes, im->parents[n]), *children = json_object_get(parent, "children");
    if (!children) {
      children = json_array();
      pn_gltfSet(&im->w, parent, "children", children);
    }
    pn_gltfAppend(&im->w, children, json_integer(n));
  }
  return result;
}

/* ---------------------------------------------------------------- animations */

typedef struct Clip {
  json_t *channels, *samplers;
  double perSecond;
} Clip;

static void addChannel(Import *im, Clip *clip, uint32_t node, const char *path, const float *times, const float *values,
                       uint32_t keyCount, uint32_t width) {
  bool weights = strcmp(path, "weights") == 0;
  uint32_t input = pn_gltfWriteBounded(&im->w, times, keyCount, 1, PN_GLTF_USE_OTHER);
  uint32_t output = pn_gltfWriteArray(&im->w, values, weights ? keyCount * width : keyCount, weights ? 1 : width, 5126,
                                      PN_GLTF_USE_OTHER);
  json_t *sampler = json_pack("{s:i, s:i}", "input", (int)input, "output", (int)output);
  uint32_t place = pn_gltfAppend(&im->w, clip->samplers, sampler);
  json_t *target = json_pack("{s:i, s:s}", "node", (int)node, "path", path);
  pn_gltfAppend(&im->w, clip->channels, json_pack("{s:i, s:o}", "sampler", (int)place, "target", target));
}

/* Positions and scales have the same kind of keys, rotations another. */
static void addVectors(Import *im, Clip *clip, uint32_t node, const char *path, const struct aiVectorKey *keys,
                       uint32_t count) {
  float *times = take(im, count, sizeof(float)), *values = take(im, (size_t)count * 3, sizeof(float));
  for (uint32_t i = 0; i < count && !im->w.failed; ++i) {
    times[i] = (float)(keys[i].mTime / clip->perSecond);
    values[3 * i] = (float)keys[i].mValue.x;
    values[3 * i + 1] = (float)keys[i].mValue.y;
    values[3 * i + 2] = (float)keys[i].mValue.z;
  }
  if (!im->w.failed && count > 0) addChannel(im, clip, node, path, times, values, count, 3);
  free(times);
  free(values);
}

static void addTurns(Import *im, Clip *clip, uint32_t node, const struct aiQuatKey *keys, uint32_t count) {
  float *times = take(im, count, sizeof(float)), *values = take(im, (size_t)count * 4, sizeof(float));
  for (uint32_t i = 0; i < count && !im->w.failed; ++i) {
    times[i] = (float)(keys[i].mTime / clip->perSecond);
    values[4 * i] = (float)keys[i].mValue.x;
    values[4 * i + 1] = (float)keys[i].mValue.y;
    values[4 * i + 2] = (float)keys[i].mValue.z;
    values[4 * i + 3] = (float)keys[i].mValue.w;
  }
  if (!im->w.failed && count > 0) addChannel(im, clip, node, "rotation", times, values, count, 4);
  free(times);
  free(values);
}

/* Weights of the targets of a node's meshes, or of all nodes that have the mesh of that name. */
static void addWeights(Import *im, Clip *clip, uint32_t node, const struct aiMeshMorphAnim *morph) {
  uint32_t count = morph->mNumKeys, width = 0;
  for (unsigned m = 0; m < im->nodes[node]->mNumMeshes; ++m) {
    uint32_t targets = im->scene->mMeshes[im->nodes[node]->mMeshes[m]]->mNumAnimMeshes;
    width = targets > width ? targets : width;
  }
  if (width == 0 || count == 0 || im->meshOf[node] == PN_NONE) return;
  float *times = take(im, count, sizeof(float)), *values = take(im, (size_t)count * width, sizeof(float));
  for (uint32_t i = 0; i < count && !im->w.failed; ++i) {
    const struct aiMeshMorphKey *key = &morph->mKeys[i];
    times[i] = (float)(key->mTime / clip->perSecond);
    for (unsigned k = 0; k < key->mNumValuesAndWeights; ++k)
      if (key->mValues[k] < width) values[(size_t)i * width + key->mValues[k]] = (float)key->mWeights[k];
  }
  if (!im->w.failed) addChannel(im, clip, node, "weights", times, values, count, width);
  free(times);
  free(values);
}

/* A morph names its node, or its mesh, with "*" and a number behind it where a mesh was taken apart. */
static void addMorph(Import *im, Clip *clip, const struct aiMeshMorphAnim *morph) {
  uint32_t node = findNode(im, morph->mName.data);
  if (node != PN_NONE) {
    addWeights(im, clip, node, morph);
    return;
  }
  size_t length = strcspn(morph->mName.data, "*");
  for (uint32_t n = 0; n < im->nodeCount; ++n) {
    const struct aiNode *at = im->nodes[n];
    const struct aiString *name = at->mNumMeshes > 0 ? &im->scene->mMeshes[at->mMeshes[0]]->mName : NULL;
    if (name && name->length >= length && strncmp(name->data, morph->mName.data, length) == 0 &&
        (name->data[length] == 0 || name->data[length] == '*' || name->data[length] == '-'))
      addWeights(im, clip, n, morph);
  }
}

static void writeAnimation(Import *im, const struct aiAnimation *animation, json_t *animations) {
  /* assimp: a file may not say how long a tick is; its own viewer takes 25 a second */
  Clip clip = {json_array(), json_array(), animation->mTicksPerSecond > 0 ? animation->mTicksPerSecond : 25.0};
  for (unsigned c = 0; c < animation->mNumChannels && !im->w.failed; ++c) {
    const struct aiNodeAnim *channel = animation->mChannels[c];
    uint32_t node = findNode(im, channel->mNodeName.data);
    if (node == PN_NONE) continue;
    addVectors(im, &clip, node, "translation", channel->mPositionKeys, channel->mNumPositionKeys);
    addTurns(im, &clip, node, channel->mRotationKeys, channel->mNumRotationKeys);
    addVectors(im, &clip, node, "scale", channel->mScalingKeys, channel->mNumScalingKeys);
  }
  for (unsigned m = 0; m < animation->mNumMorphMeshChannels && !im->w.failed; ++m)
    addMorph(im, &clip, animation->mMorphMeshChannels[m]);
  json_t *out = json_pack("{s:o, s:o, s:o}", "name", textOf(&animation->mName), "channels", clip.channels, "samplers",
                          clip.samplers);
  pn_gltfAppend(&im->w, animations, out);
}

/* ---------------------------------------------------------------- the whole */

static void markMoving(Import *im) {
  for (unsigned a = 0; a < im->scene->mNumAnimations && !im->w.failed; ++a) {
    const struct aiAnimation *animation = im->scene->mAnimations[a];
    for (unsigned c = 0; c < animation->mNumChannels; ++c) {
      uint32_t node = findNode(im, animation->mChannels[c]->mNodeName.data);
      if (node != PN_NONE) im->moves[node] = 1;
    }
  }
}

/* The document; null with a result that is not PN_OK, or without memory. */
static json_t *translate(Import *im, pnResult *outResult) {
  json_t *nodes = json_array(), *animations = json_array();
  im->w.failed = im->w.failed || !listNodes(im);
  if (!im->w.failed) sortNames(im);
  im->moves = take(im, im->nodeCount, 1);
  im->meshOf = take(im, im->nodeCount, sizeof(uint32_t));
  im->single = take(im, im->scene->mNumMeshes, sizeof(uint32_t));
  for (uint32_t n = 0; im->meshOf && n < im->nodeCount; ++n) im->meshOf[n] = PN_NONE;
  for (uint32_t m = 0; im->single && m < im->scene->mNumMeshes; ++m) im->single[m] = PN_NONE;
  if (!im->w.failed) markMoving(im);
  *outResult = im->w.failed ? PN_OK : writeNodes(im, nodes);
  for (unsigned a = 0; a < im->scene->mNumAnimations && *outResult == PN_OK && !im->w.failed; ++a)
    writeAnimation(im, im->scene->mAnimations[a], animations);
  json_t *scene = json_pack("[{s:[i]}]", "nodes", 0);
  return json_pack("{s:{s:s}, s:o, s:O, s:O, s:o, s:o, s:O, s:O, s:[{s:I}]}", "asset", "version", "2.0", "nodes", nodes,
                   "meshes", im->w.meshes, "skins", im->skins, "animations", animations, "scenes", scene, "accessors",
                   im->w.accessors, "bufferViews", im->w.views, "buffers", "byteLength", (json_int_t)im->w.byteCount);
}

static pnResult readScene(Import *im, pnAnimFile **outFile) {
  im->w.views = json_array();
  im->w.accessors = json_array();
  im->w.meshes = json_array();
  im->skins = json_array();
  pnResult result = PN_OK;
  json_t *document = translate(im, &result);
  uint8_t *glb = NULL;
  size_t count = 0;
  if (result == PN_OK && (im->w.failed || !document)) result = pn_ioFailMemory(im->path);
  if (result == PN_OK) result = pn_gltfMakeContainer(&im->w, im->path, document, &glb, &count);
  if (result == PN_OK) result = pnParseAnimFile(glb, count, im->path, outFile);
  pn_ioFree(glb);
  json_decref(document);
  json_decref(im->w.views);
  json_decref(im->w.accessors);
  json_decref(im->w.meshes);
  json_decref(im->skins);
  pn_ioFree(im->w.bytes);
  free(im->nodes);
  free(im->parents);
  free(im->byName);
  free(im->moves);
  free(im->meshOf);
  free(im->single);
  return result;
}

/* Formats of characters that assimp reads well. Not among them: what our own readers read, and .blend, of which it knows old ones only. */
bool pn_assimpKnows(const char *path) {
  static const char *const known[] = {"fbx", "dae", "3ds", "ase", "b3d", "lwo", "ms3d", "x"};
  char extension[8], dotted[10];
  pn_ioExtension(path, extension);
  snprintf(dotted, sizeof(dotted), ".%s", extension);
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i)
    if (strcmp(extension, known[i]) == 0) return aiIsExtensionSupported(dotted) == AI_TRUE;
  return false;
}

/* What it is by its name, what is wrong with it, and another way. */
static pnResult complain(const char *path) {
  static const struct {
    const char *extension, *what, *way;
  } known[] = {{"fbx", "an FBX file", "Blender: File > Import > FBX"},
               {"dae", "a COLLADA file", "Blender up to version 4: File > Import > Collada"}};
  char extension[8];
  const char *what = "of a format that is read by assimp", *way = "open it in the program that it comes from";
  pn_ioExtension(path, extension);
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i)
    if (strcmp(extension, known[i].extension) == 0) what = known[i].what, way = known[i].way;
  return pnFail(
      PN_ERROR_FORMAT,
      "%s: by its name this is %s, but it is broken or too new (assimp: %.120s). %s, then File > Export > glTF 2.0",
      path, what, aiGetErrorString(), way);
}

pnResult pn_assimpLoad(const char *path, pnAnimFile **outFile) {
  *outFile = NULL;
  const struct aiScene *scene = aiImportFile(path, aiProcess_Triangulate | aiProcess_ValidateDataStructure);
  if (!scene || !scene->mRootNode) {
    pnResult result = complain(path);
    aiReleaseImport(scene);
    return result;
  }
  Import im = {.path = path, .scene = scene};
  pnResult result = readScene(&im, outFile);
  aiReleaseImport(scene);
  return result;
}

#endif
