/* gltf_write_mesh.c: bodies into meshes of one primitive, with what a viewer needs to show them: smooth normals and a
 * colour. Bodies that share their arrays share the mesh. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gltf_write.h"
#include "reader.h"

/* ---------------------------------------------------------------- normals */

/* Adds the normal of a triangle, as long as its area, to its corners. */
static void addNormal(const pnAnimBody *body, const uint32_t *corners, float *normals) {
  const float *a = body->vertices + (size_t)corners[0] * 3, *b = body->vertices + (size_t)corners[1] * 3;
  const float *c = body->vertices + (size_t)corners[2] * 3;
  float u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
  float n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
  for (int k = 0; k < 3; ++k) {
    float *sum = normals + (size_t)body->vertexWeld[corners[k]] * 3;
    for (int i = 0; i < 3; ++i) sum[i] += n[i];
  }
}

/* Smooth over welded vertices, of length 1 as the format asks. */
static void makeNormals(const pnAnimBody *body, float *normals) {
  memset(normals, 0, (size_t)body->vertexCount * 3 * sizeof(float));
  for (size_t t = 0; t < body->triangleCount; ++t) addNormal(body, body->triangles + t * 3, normals);
  for (uint32_t v = 0; v < body->vertexCount; ++v) {
    float *n = normals + (size_t)v * 3;
    if (body->vertexWeld[v] != v) {
      memcpy(n, normals + (size_t)body->vertexWeld[v] * 3, 3 * sizeof(float));
      continue;
    }
    float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    bool none = !(length > 0.0f) || !isfinite(length);
    for (int i = 0; i < 3; ++i) n[i] = none ? (i == 2 ? 1.0f : 0.0f) : n[i] / length;
  }
}

/* ---------------------------------------------------------------- attributes */

static void writeNormals(pnGltfWriter *w, const pnAnimBody *body, json_t *attributes) {
  float *normals = pn_ioAlloc((size_t)body->vertexCount * 3 * sizeof(float) + 1);
  if (normals == NULL) {
    w->failed = true;
    return;
  }
  makeNormals(body, normals);
  uint32_t accessor = pn_gltfWriteArray(w, normals, body->vertexCount, 3, 5126, PN_GLTF_USE_VERTEX);
  pn_gltfSet(w, attributes, "NORMAL", json_integer(accessor));
  pn_ioFree(normals);
}

/* Joints and weights, four to a set. */
static void writeInfluences(pnGltfWriter *w, const pnAnimBody *body, json_t *attributes) {
  uint32_t width = body->influenceCount, count = body->vertexCount;
  uint16_t *joints = pn_ioAlloc((size_t)count * 4 * sizeof(uint16_t) + 1);
  float *weights = pn_ioAlloc((size_t)count * 4 * sizeof(float) + 1);
  w->failed = w->failed || joints == NULL || weights == NULL;
  for (uint32_t set = 0; set * 4 < width && joints != NULL && weights != NULL; ++set) {
    for (size_t i = 0; i < (size_t)count * 4; ++i) {
      size_t from = i / 4 * width + set * 4 + i % 4;
      joints[i] = body->jointIndices[from];
      weights[i] = body->jointWeights[from];
    }
    char name[16];
    snprintf(name, sizeof(name), "JOINTS_%u", set);
    pn_gltfSet(w, attributes, name, json_integer(pn_gltfWriteArray(w, joints, count, 4, 5123, PN_GLTF_USE_VERTEX)));
    snprintf(name, sizeof(name), "WEIGHTS_%u", set);
    pn_gltfSet(w, attributes, name, json_integer(pn_gltfWriteArray(w, weights, count, 4, 5126, PN_GLTF_USE_VERTEX)));
  }
  pn_ioFree(joints);
  pn_ioFree(weights);
}

/* Targets and, where most readers look for them, their names. */
static void writeTargets(pnGltfWriter *w, const pnAnimBody *body, json_t *mesh, json_t *primitive) {
  json_t *targets = json_array(), *names = json_array();
  for (uint32_t t = 0; t < body->targetCount; ++t) {
    uint32_t accessor = pn_gltfWriteSparse(w, &body->targets[t], body->vertexCount);
    pn_gltfAppend(w, targets, json_pack("{s:i}", "POSITION", (int)accessor));
    pn_gltfAppend(w, names, json_string(body->targets[t].name));
  }
  pn_gltfSet(w, primitive, "targets", targets);
  pn_gltfSet(w, mesh, "extras", json_pack("{s:o}", "targetNames", names));
}

/* A quiet colour for each mesh, in turn. Double-sided: cloth is seen from within. */
static uint32_t writeMaterial(pnGltfWriter *w, uint32_t number) {
  static const double colours[6][3] = {{0.80, 0.62, 0.50}, {0.16, 0.27, 0.42}, {0.55, 0.23, 0.20},
                                       {0.42, 0.47, 0.36}, {0.72, 0.66, 0.55}, {0.30, 0.30, 0.34}};
  const double *c = colours[number % 6];
  json_t *pbr = json_pack("{s:[f,f,f,f], s:f, s:f}", "baseColorFactor", c[0], c[1], c[2], 1.0, "metallicFactor", 0.0,
                          "roughnessFactor", 0.8);
  return pn_gltfAppend(w, w->materials, json_pack("{s:o, s:b}", "pbrMetallicRoughness", pbr, "doubleSided", 1));
}

void pn_gltfWriteMesh(pnGltfWriter *w, uint32_t b) {
  const pnAnimBody *body = &w->file->bodies[b];
  for (uint32_t i = 0; i < b; ++i) {
    const pnAnimBody *other = &w->file->bodies[i];
    if (other->vertices == body->vertices && other->triangles == body->triangles && other->targets == body->targets &&
        other->jointIndices == body->jointIndices) {
      w->bodyMesh[b] = w->bodyMesh[i];
      return;
    }
  }
  uint32_t number = (uint32_t)json_array_size(w->meshes);
  json_t *attributes = json_object(), *primitive = json_object(), *mesh = json_object();
  uint32_t positions = pn_gltfWriteBounded(w, body->vertices, body->vertexCount, 3, PN_GLTF_USE_VERTEX);
  uint32_t indices = pn_gltfWriteArray(w, body->triangles, body->triangleCount * 3, 1, 5125, PN_GLTF_USE_INDEX);
  pn_gltfSet(w, attributes, "POSITION", json_integer(positions));
  writeNormals(w, body, attributes);
  if (body->skin != PN_NONE) writeInfluences(w, body, attributes);
  pn_gltfSet(w, primitive, "attributes", attributes);
  pn_gltfSet(w, primitive, "indices", json_integer(indices));
  pn_gltfSet(w, primitive, "material", json_integer(writeMaterial(w, number)));
  const char *name = body->meshName != NULL && body->meshName[0] != 0 ? body->meshName : body->name;
  pn_gltfSet(w, mesh, "name", json_string(name));
  if (body->targetCount > 0) writeTargets(w, body, mesh, primitive);
  pn_gltfSet(w, mesh, "primitives", json_pack("[o]", primitive));
  w->bodyMesh[b] = pn_gltfAppend(w, w->meshes, mesh);
}
