/* gltf_mesh.c: the primitives of a mesh into one list of vertices, triangles and targets.
 *
 * A mesh is cut into primitives by material; for collisions it is one surface. Primitives that use the same vertices
 * (one block of vertices, several lists of indices) keep sharing them; the others follow one another. Triangle numbers
 * follow the file: primitive by primitive, and inside of one in the order of its indices. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gltf.h"

/* A primitive with triangles. */
typedef struct pnGltfPrimitive {
  uint32_t index;   /* in the mesh */
  uint32_t mode;    /* 4 triangles, 5 strip, 6 fan */
  bool ownVertices; /* false: those of the primitive before */
  uint32_t firstVertex, vertexCount;
  uint32_t firstTriangle, triangleCount;
} pnGltfPrimitive;

typedef struct pnGltfSurface {
  pnJson mesh, primitiveArray;
  pnGltfPrimitive *primitives;
  uint32_t primitiveCount;
  uint64_t vertexCount, triangleCount;
  uint32_t targetCount, influenceCount;
} pnGltfSurface;

/* ---------------------------------------------------------------- counting */

/* Do two primitives take their vertices, joints and targets from the same accessors? */
static bool sameSource(const json_t *a, const json_t *b) {
  static const char *const names[] = {"POSITION", "JOINTS_0",  "WEIGHTS_0", "JOINTS_1", "WEIGHTS_1",
                                      "JOINTS_2", "WEIGHTS_2", "JOINTS_3",  "WEIGHTS_3"};
  const json_t *attributesA = json_object_get(a, "attributes"), *attributesB = json_object_get(b, "attributes");
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    const json_t *x = json_object_get(attributesA, names[i]), *y = json_object_get(attributesB, names[i]);
    if ((x != NULL || y != NULL) && !json_equal(x, y)) return false;
  }
  const json_t *targetsA = json_object_get(a, "targets"), *targetsB = json_object_get(b, "targets");
  return (targetsA == NULL && targetsB == NULL) || json_equal(targetsA, targetsB);
}

/* Number of vertices and of triangles of a primitive, and nothing else yet. */
static pnResult measure(pnGltf *g, const pnJson *primitive, pnGltfPrimitive *out) {
  pnJson attributes = pn_jsonMember(primitive, "attributes");
  pnJson position = pn_jsonMember(&attributes, "POSITION"), indices = pn_jsonMember(primitive, "indices");
  if (position.value == NULL) return PN_OK; /* allowed by the format: nothing to see */
  pnGltfAccessor accessor;
  uint32_t numbers = PN_GLTF_IS_FLOAT | PN_GLTF_IS_BYTE | PN_GLTF_IS_UBYTE | PN_GLTF_IS_SHORT | PN_GLTF_IS_USHORT;
  pnResult result = pn_gltfAccessor(g, &position, 3, numbers, &accessor);
  if (result != PN_OK) return result;
  out->vertexCount = accessor.count;

  uint32_t corners = accessor.count;
  if (indices.value != NULL) {
    result = pn_gltfAccessor(g, &indices, 1, PN_GLTF_IS_UBYTE | PN_GLTF_IS_USHORT | PN_GLTF_IS_UINT, &accessor);
    if (result != PN_OK) return result;
    corners = accessor.count;
  }
  if (out->mode == 4 && corners % 3 != 0)
    return pn_jsonFail(primitive, PN_ERROR_FORMAT, "%u corners do not make triangles of three", corners);
  out->triangleCount = out->mode == 4 ? corners / 3 : corners > 2 ? corners - 2 : 0;
  return PN_OK;
}

static pnResult countTargets(const pnJson *primitive, bool first, uint32_t *inOutCount) {
  pnJson targets;
  uint32_t count = 0;
  pnResult result = pn_jsonArray(primitive, "targets", &targets, &count);
  if (result == PN_OK && !first && count != *inOutCount) {
    return pn_jsonFail(primitive, PN_ERROR_COUNT, "has %u targets, another primitive of the mesh has %u", count,
                       *inOutCount);
  }
  *inOutCount = count;
  return result;
}

/* Adds one primitive to the surface, when it has triangles. */
static pnResult addPrimitive(pnGltf *g, pnGltfSurface *surface, uint32_t index, bool skinned) {
  pnJson primitive = pn_jsonElement(&surface->primitiveArray, index);
  uint64_t mode = 4;
  pnResult result = pn_jsonNumber(&primitive, "mode", 6, &mode);
  if (result != PN_OK || mode < 4) return result;
  pnGltfPrimitive *out = &surface->primitives[surface->primitiveCount];
  *out = (pnGltfPrimitive){.index = index, .mode = (uint32_t)mode, .ownVertices = true};
  result = pn_gltfUnpackPrimitive(g, &primitive);
  if (result == PN_OK) result = measure(g, &primitive, out);
  if (result == PN_OK) result = countTargets(&primitive, surface->primitiveCount == 0, &surface->targetCount);
  if (result != PN_OK || out->triangleCount == 0) return result;

  /* Its place in the lists: behind the others, or on the vertices of the one before. */
  out->firstVertex = (uint32_t)surface->vertexCount;
  if (surface->primitiveCount > 0) {
    const pnGltfPrimitive *before = out - 1;
    out->ownVertices = !sameSource(primitive.value, json_array_get(surface->primitiveArray.value, before->index));
    if (!out->ownVertices) out->firstVertex = before->firstVertex;
  }
  out->firstTriangle = (uint32_t)surface->triangleCount;
  surface->vertexCount += out->ownVertices ? out->vertexCount : 0;
  surface->triangleCount += out->triangleCount;
  /* Three corners a triangle and three floats a vertex are numbered in 32 bits. */
  if (surface->vertexCount > UINT32_MAX / 4 || surface->triangleCount > UINT32_MAX / 4)
    return pn_jsonFail(&primitive, PN_ERROR_COUNT, "the mesh has more than 2^30 vertices or triangles");

  /* As many joints a vertex as the widest primitive needs. */
  if (skinned && out->ownVertices) {
    uint32_t influences = 0;
    pnJson attributes = pn_jsonMember(&primitive, "attributes");
    result = pn_gltfInfluenceCount(g, &attributes, out->vertexCount, &influences);
    if (influences > surface->influenceCount) surface->influenceCount = influences;
  }
  ++surface->primitiveCount;
  return result;
}

/* ---------------------------------------------------------------- filling */

/* Corners of a primitive, its indices or just 0, 1, 2 ..., checked against its vertices. */
static pnResult readCorners(pnGltf *g, const pnJson *primitive, const pnGltfPrimitive *p, const uint32_t **out) {
  pnJson indices = pn_jsonMember(primitive, "indices");
  pnGltfAccessor accessor = {.count = p->vertexCount};
  if (indices.value != NULL) {
    pnResult result =
        pn_gltfAccessor(g, &indices, 1, PN_GLTF_IS_UBYTE | PN_GLTF_IS_USHORT | PN_GLTF_IS_UINT, &accessor);
    if (result != PN_OK) return result;
  }
  uint32_t *corners = pn_gltfScratch(g, accessor.count, sizeof(uint32_t));
  if (corners == NULL) return pn_gltfNoMemory(g);
  *out = corners;
  if (indices.value == NULL) {
    for (uint32_t i = 0; i < accessor.count; ++i) corners[i] = i;
    return PN_OK;
  }
  pn_gltfReadUints(&accessor, corners);
  for (uint32_t i = 0; i < accessor.count; ++i) {
    if (corners[i] >= p->vertexCount) {
      return pn_jsonFail(&indices, PN_ERROR_INDEX, "accessor %u: index number %u is %u, but there are %u vertices",
                         accessor.index, i, corners[i], p->vertexCount);
    }
  }
  return PN_OK;
}

/* Corners into triangles, in the orientation the format gives strips and fans (glTF 2.0, 3.7.2.1). */
static void makeTriangles(const pnGltfPrimitive *p, const uint32_t *corners, uint32_t *triangles) {
  for (uint32_t i = 0; i < p->triangleCount; ++i) {
    uint32_t a, b, c;
    if (p->mode == 4) a = 3 * i, b = 3 * i + 1, c = 3 * i + 2;
    else if (p->mode == 5) a = i, b = i + 1 + i % 2, c = i + 2 - i % 2;
    else a = i + 1, b = i + 2, c = 0;
    uint32_t *triangle = triangles + (size_t)(p->firstTriangle + i) * 3;
    triangle[0] = p->firstVertex + corners[a];
    triangle[1] = p->firstVertex + corners[b];
    triangle[2] = p->firstVertex + corners[c];
  }
}

static pnResult fillPrimitive(pnGltf *g, const pnGltfSurface *surface, const pnGltfPrimitive *p, pnGltfMesh *mesh) {
  pnJson primitive = pn_jsonElement(&surface->primitiveArray, p->index);
  pnJson attributes = pn_jsonMember(&primitive, "attributes");
  const uint32_t *corners = NULL;
  pnResult result = readCorners(g, &primitive, p, &corners);
  if (result != PN_OK) return result;
  makeTriangles(p, corners, (uint32_t *)mesh->body.triangles);
  if (!p->ownVertices) return PN_OK;

  pnJson position = pn_jsonMember(&attributes, "POSITION");
  pnGltfAccessor accessor;
  result = pn_gltfAccessor(g, &position, 3, ~0u, &accessor);
  if (result == PN_OK)
    result = pn_gltfReadFloats(&position, &accessor, (float *)mesh->body.vertices + (size_t)p->firstVertex * 3);
  if (result == PN_OK && mesh->body.influenceCount > 0)
    result = pn_gltfReadInfluences(g, &attributes, mesh, p->firstVertex, p->vertexCount);
  return result;
}

/* ---------------------------------------------------------------- targets */

typedef struct pnGltfDeltas {
  uint32_t count;
  uint32_t *vertices; /* null while only counting */
  float *deltas;
} pnGltfDeltas;

/* Keeps a delta that moves its vertex. */
static pnResult addDelta(const pnJson *at, uint32_t vertex, const float *delta, pnGltfDeltas *out) {
  if (!isfinite(delta[0]) || !isfinite(delta[1]) || !isfinite(delta[2]))
    return pn_jsonFail(at, PN_ERROR_NUMBER, "the displacement of vertex %u is NaN or infinite", vertex);
  if (delta[0] == 0 && delta[1] == 0 && delta[2] == 0) return PN_OK;
  if (out->vertices != NULL) {
    out->vertices[out->count] = vertex;
    memcpy(out->deltas + (size_t)out->count * 3, delta, 3 * sizeof(float));
  }
  ++out->count;
  return PN_OK;
}

/* The deltas of one primitive and target. A sparse accessor without bytes costs what it lists, not what it spans. */
static pnResult addDeltas(pnGltf *g, const pnJson *at, const pnGltfPrimitive *p, pnGltfDeltas *out) {
  pnGltfAccessor accessor;
  uint32_t numbers = PN_GLTF_IS_FLOAT | PN_GLTF_IS_BYTE | PN_GLTF_IS_UBYTE | PN_GLTF_IS_SHORT | PN_GLTF_IS_USHORT;
  pnResult result = pn_gltfAccessor(g, at, 3, numbers, &accessor);
  if (result == PN_OK && accessor.count != p->vertexCount) {
    result = pn_jsonFail(at, PN_ERROR_COUNT, "accessor %u has %u elements for %u vertices", accessor.index,
                         accessor.count, p->vertexCount);
  }
  uint32_t sparse = 0, e = 0;
  while (result == PN_OK) {
    /* The next element that is written down: the next one, or the next sparse one when there are no others. */
    float delta[3];
    if (accessor.bytes == NULL && sparse < accessor.sparseCount) e = pn_gltfSparseIndex(&accessor, sparse);
    if (e >= accessor.count || (accessor.bytes == NULL && sparse == accessor.sparseCount)) break;
    if (sparse < accessor.sparseCount && pn_gltfSparseIndex(&accessor, sparse) == e)
      pn_gltfSparseFloats(&accessor, sparse++, delta);
    else pn_gltfElementFloats(&accessor, e, delta);
    result = addDelta(at, p->firstVertex + e, delta, out);
    ++e;
  }
  return result;
}

/* Target t over all primitives. */
static pnResult collectTarget(pnGltf *g, const pnGltfSurface *surface, uint32_t t, pnGltfDeltas *out) {
  pnResult result = PN_OK;
  out->count = 0;
  for (uint32_t i = 0; i < surface->primitiveCount && result == PN_OK; ++i) {
    if (!surface->primitives[i].ownVertices) continue;
    pnJson primitive = pn_jsonElement(&surface->primitiveArray, surface->primitives[i].index);
    pnJson targets = pn_jsonMember(&primitive, "targets");
    pnJson target = pn_jsonElement(&targets, t);
    pnJson position = pn_jsonMember(&target, "POSITION");
    if (position.value != NULL) result = addDeltas(g, &position, &surface->primitives[i], out);
  }
  return result;
}

static pnResult readTargets(pnGltf *g, const pnGltfSurface *surface, pnAnimBody *body) {
  pnAnimTarget *targets = pn_gltfKeep(g, surface->targetCount, sizeof(pnAnimTarget));
  if (targets == NULL) return pn_gltfNoMemory(g);
  body->targets = targets;
  body->targetCount = surface->targetCount;
  pnJson extras = pn_jsonMember(&surface->mesh, "extras");
  const json_t *names = json_object_get(extras.value, "targetNames");

  pnResult result = PN_OK;
  for (uint32_t t = 0; t < surface->targetCount && result == PN_OK; ++t) {
    /* Count, take memory, collect. */
    pnGltfDeltas deltas = {0};
    result = collectTarget(g, surface, t, &deltas);
    if (result != PN_OK) break;
    deltas.vertices = pn_gltfKeep(g, deltas.count, sizeof(uint32_t));
    deltas.deltas = pn_gltfKeep(g, (size_t)deltas.count * 3, sizeof(float));
    if (deltas.vertices == NULL || deltas.deltas == NULL) return pn_gltfNoMemory(g);
    result = collectTarget(g, surface, t, &deltas);

    /* The name most exporters write, else its number. */
    char number[24];
    snprintf(number, sizeof(number), "target%u", t);
    const char *name = json_string_value(json_array_get(names, t));
    targets[t] = (pnAnimTarget){.name = pn_gltfText(g, name != NULL ? name : number),
                                .count = deltas.count,
                                .vertices = deltas.vertices,
                                .deltas = deltas.deltas};
    if (targets[t].name == NULL) return pn_gltfNoMemory(g);
  }
  return result;
}

pnResult pn_gltfTargetCount(pnGltf *g, uint32_t mesh, uint32_t *outCount) {
  pnJson element = pn_jsonElement(&g->meshArray, mesh);
  pnJson primitives = pn_jsonMember(&element, "primitives");
  pnJson first = pn_jsonElement(&primitives, 0);
  return countTargets(&first, true, outCount);
}

/* ---------------------------------------------------------------- the mesh */

static pnResult takeArrays(pnGltf *g, const pnGltfSurface *surface, pnAnimBody *body) {
  body->vertexCount = (uint32_t)surface->vertexCount;
  body->triangleCount = (uint32_t)surface->triangleCount;
  body->influenceCount = surface->influenceCount;
  body->vertices = pn_gltfKeep(g, surface->vertexCount * 3, sizeof(float));
  body->triangles = pn_gltfKeep(g, surface->triangleCount * 3, sizeof(uint32_t));
  bool ok = body->vertices != NULL && body->triangles != NULL;
  if (ok && body->influenceCount > 0) {
    size_t influences = (size_t)surface->vertexCount * body->influenceCount;
    body->jointIndices = pn_gltfKeep(g, influences, sizeof(uint16_t));
    body->jointWeights = pn_gltfKeep(g, influences, sizeof(float));
    ok = body->jointIndices != NULL && body->jointWeights != NULL;
  }
  return ok ? PN_OK : pn_gltfNoMemory(g);
}

pnResult pn_gltfLoadMesh(pnGltf *g, uint32_t mesh, bool skinned, pnGltfMesh **outMesh) {
  pnGltfMesh *out = &g->meshes[2 * mesh + (skinned ? 1 : 0)];
  *outMesh = out;
  if (out->loaded) return PN_OK;

  /* Count: which primitives have triangles, how many of everything. */
  pnGltfSurface surface = {.mesh = pn_jsonElement(&g->meshArray, mesh)};
  uint32_t count = 0;
  pnResult result = pn_jsonArray(&surface.mesh, "primitives", &surface.primitiveArray, &count);
  if (result != PN_OK) return result;
  surface.primitives = pn_gltfScratch(g, count, sizeof(pnGltfPrimitive));
  if (surface.primitives == NULL) return pn_gltfNoMemory(g);
  for (uint32_t i = 0; i < count && result == PN_OK; ++i) result = addPrimitive(g, &surface, i, skinned);
  if (result == PN_OK && skinned && surface.primitiveCount > 0 && surface.influenceCount == 0)
    result = pn_jsonFail(&surface.mesh, PN_ERROR_FORMAT, "a node places it with a skin, but it has no JOINTS_0");

  /* Fill. */
  if (result == PN_OK) result = takeArrays(g, &surface, &out->body);
  for (uint32_t i = 0; i < surface.primitiveCount && result == PN_OK; ++i)
    result = fillPrimitive(g, &surface, &surface.primitives[i], out);
  if (result == PN_OK) result = readTargets(g, &surface, &out->body);
  if (result == PN_OK) result = pn_gltfWeld(g, &out->body);
  out->body.meshName = pn_gltfText(g, pn_jsonString(&surface.mesh, "name", ""));
  if (result == PN_OK && out->body.meshName == NULL) result = pn_gltfNoMemory(g);
  out->body.skin = PN_NONE;
  out->loaded = result == PN_OK;
  return result;
}
