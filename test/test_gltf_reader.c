/* test_gltf_reader.c: what the glTF reader makes of small files whose answer is known, and of wrong ones: each fault is
 * refused with the place in the document and what was expected there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <unistd.h>

#include "gltf_make.h"
#include "pinch/io.h"

/* ---------------------------------------------------------------- helpers */

static pnAnimFile *load(const char *json, const Bytes *bytes) {
  pnAnimFile *file = NULL;
  char *text = makeText(json, bytes);
  pnResult result = pnParseAnimFile(text, strlen(text), NULL, &file);
  free(text);
  if (result != PN_OK) fail_msg("%s", pnGetMessage());
  return file;
}

/* A triangle mesh document around one primitive and its accessors; view 0 is the whole buffer. */
static pnAnimFile *loadPrimitive(const char *primitive, const char *accessors, const Bytes *bytes) {
  char json[4096];
  snprintf(json, sizeof(json),
           "{'asset': {'version': '2.0'}, 'nodes': [{'mesh': 0}], 'meshes': [{'primitives': [%s]}], 'buffers': [@],"
           " 'bufferViews': [{'buffer': 0, 'byteLength': %zu}], 'accessors': [%s]}",
           primitive, bytes->count, accessors);
  return load(json, bytes);
}

static void assertTriangles(const pnAnimFile *file, uint32_t count, const uint32_t *expected) {
  assert_int_equal(file->bodies[0].triangleCount, count);
  for (uint32_t i = 0; i < count * 3; ++i) assert_int_equal(file->bodies[0].triangles[i], expected[i]);
}

/* World position of vertex v in double, straight from the definition in io.h. */
static void world(const pnAnimFile *file, const pnAnimState *state, uint32_t b, uint32_t v, double *out) {
  const pnAnimBody *body = &file->bodies[b];
  double p[3];
  for (uint32_t c = 0; c < 3; ++c) {
    p[c] = (double)body->vertices[v * 3 + c];
    out[c] = 0;
    for (uint32_t t = 0; t < body->targetCount; ++t) {
      for (uint32_t i = 0; i < body->targets[t].count; ++i) {
        if (body->targets[t].vertices[i] != v) continue;
        p[c] += (double)pnAnimState_GetWeights(state, b)[t] * (double)body->targets[t].deltas[i * 3 + c];
      }
    }
  }
  uint32_t influences = body->skin != PN_NONE ? body->influenceCount : 1;
  for (uint32_t k = 0; k < influences; ++k) {
    const pnMatrix *m = pnAnimState_GetTransform(state, b);
    double w = 1;
    if (body->skin != PN_NONE) {
      m = &pnAnimState_GetJoints(state, b)[body->jointIndices[v * influences + k]];
      w = (double)body->jointWeights[v * influences + k];
    }
    for (int c = 0; c < 3; ++c) {
      out[c] +=
          w * ((double)m->m[c][0] * p[0] + (double)m->m[c][1] * p[1] + (double)m->m[c][2] * p[2] + (double)m->m[c][3]);
    }
  }
}

static void assertWorld(const pnAnimFile *file, const pnAnimState *state, uint32_t b, uint32_t v, double x, double y,
                        double z) {
  double p[3];
  world(file, state, b, v, p);
  if (fabs(p[0] - x) > 1e-6 || fabs(p[1] - y) > 1e-6 || fabs(p[2] - z) > 1e-6)
    fail_msg("body %u vertex %u is at %g %g %g, expected %g %g %g", b, v, p[0], p[1], p[2], x, y, z);
}

/* ---------------------------------------------------------------- content */

static void everythingIsRead(void **context) {
  (void)context;
  Bytes bytes;
  fillEverything(&bytes);
  pnAnimFile *file = load(s_everything, &bytes);
  assert_int_equal(file->nodeCount, 4);
  assert_int_equal(file->bodyCount, 2);
  assert_int_equal(file->skinCount, 1);
  assert_int_equal(file->clipCount, 1);
  assert_int_equal(file->sceneCount, 2);
  assert_int_equal(file->scenes[0].bodyCount, 2);
  assert_int_equal(file->scenes[1].bodyCount, 1);
  assert_int_equal(file->scenes[1].bodies[0], 1);
  assert_string_equal(file->scenes[0].name, "all");
  assert_int_equal(file->nodes[1].parent, 0);

  /* The same mesh with and without its joints. */
  const pnAnimBody *sheet = &file->bodies[0], *plain = &file->bodies[1];
  assert_string_equal(sheet->name, "sheet");
  assert_string_equal(sheet->meshName, "square");
  assert_string_equal(plain->name, "plain");
  assert_int_equal(sheet->skin, 0);
  assert_int_equal(sheet->influenceCount, 4);
  assert_int_equal(plain->skin, PN_NONE);
  assert_int_equal(plain->carrier, 3);
  assert_int_equal(plain->influenceCount, 0);

  /* Targets: sparse stays sparse, names and weights from where they are. */
  assert_int_equal(sheet->targetCount, 2);
  assert_string_equal(sheet->targets[0].name, "up");
  assert_int_equal(sheet->targets[1].count, 2);
  assert_int_equal(sheet->targets[1].vertices[0], 1);
  assert_int_equal(sheet->targets[1].vertices[1], 3);
  assert_true(sheet->restWeights[0] == 0.25f && sheet->restWeights[1] == 0.5f);
  assert_true(plain->restWeights[0] == 0.0f && plain->restWeights[1] == 1.0f);
  assertTriangles(file, 2, (uint32_t[]){0, 1, 2, 0, 2, 3});
  pnFreeAnimFile(file);
}

static void clipsMoveBodies(void **context) {
  (void)context;
  Bytes bytes;
  fillEverything(&bytes);
  pnAnimFile *file = load(s_everything, &bytes);
  pnAnimState *state = NULL;
  assert_int_equal(pnCreateAnimState(file, &state), PN_OK);

  /* At rest: weights 0.25 and 0.5, joint 1 one unit up. Vertex 0 is on joint 0, vertex 1 half and half. */
  assertWorld(file, state, 0, 0, 0, 0, 0.25);
  assertWorld(file, state, 0, 1, 1.5, 0.5, 0.25);
  assertWorld(file, state, 0, 3, 0, 3, 0.25);
  assertWorld(file, state, 1, 3, 0, 3, 0);

  /* Half way: STEP weights still 0, translation 0.5, a turn of 45 degrees, scale 1.5. */
  assert_int_equal(pnAnimState_Evaluate(state, 0, 0.5), PN_OK);
  double s = 1.5 * sqrt(0.5);
  assertWorld(file, state, 0, 0, 0, 0, 0);
  assertWorld(file, state, 0, 2, 0.5 + s - s, s + s, 0);
  /* At a key: a quarter turn, scale 2, weight 0 of target 0 is 1. */
  assert_int_equal(pnAnimState_Evaluate(state, 0, 1.0), PN_OK);
  assertWorld(file, state, 0, 2, 1 - 2, 2, 2);
  assertWorld(file, state, 0, 0, 0, 0, 1);
  /* Before the first and after the last key the value stays: half a turn, target 1 at 1. */
  assert_int_equal(pnAnimState_Evaluate(state, 0, -5.0), PN_OK);
  assertWorld(file, state, 0, 2, 1, 1, 0);
  assert_int_equal(pnAnimState_Evaluate(state, 0, 99.0), PN_OK);
  assertWorld(file, state, 0, 3, 1 - 0, 2 - 3, 0);
  assert_int_equal(pnAnimState_Evaluate(state, PN_NONE, 0.0), PN_OK);
  assertWorld(file, state, 0, 1, 1.5, 0.5, 0.25);

  assert_int_equal(pnAnimState_Evaluate(state, 7, 0.0), PN_ERROR_INDEX);
  assert_int_equal(pnAnimState_Evaluate(state, 0, (double)NAN), PN_ERROR_NUMBER);
  pnDestroyAnimState(state);
  pnFreeAnimFile(file);
}

/* A spline through 0 and 1 whose tangents are 3: u + 2u(1-u)(1-2u) in the middle third. */
static void splinesFollowTheirTangents(void **context) {
  (void)context;
  Bytes bytes = {.count = 0};
  ADD(&bytes, float, 0, 0, 0, 1, 0, 0, 0, 1, 0);
  ADD(&bytes, float, 1, 3);                                                                   /* times at 36 */
  ADD(&bytes, float, 9, 9, 9, 0, 0, 0, 3, 0, 0, 3, 0, 0, 1, 0, 0, 9, 9, 9);                   /* at 44 */
  ADD(&bytes, float, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0); /* rotations at 116 */
  pnAnimFile *file = load(
      "{'asset': {'version': '2.1', 'minVersion': '2.0'}, 'nodes': [{'mesh': 0}], 'buffers': [@],"
      "'meshes': [{'primitives': [{'attributes': {'POSITION': 0}}]}],"
      "'animations': [{'channels': [{'sampler': 0, 'target': {'node': 0, 'path': 'translation'}},"
      " {'sampler': 1, 'target': {'node': 0, 'path': 'rotation'}}], 'samplers': ["
      "  {'input': 1, 'output': 2, 'interpolation': 'CUBICSPLINE'}, {'input': 1, 'output': 3, 'interpolation': "
      "'CUBICSPLINE'}]}],"
      "'bufferViews': [{'buffer': 0, 'byteLength': 212}], 'accessors': ["
      " {'bufferView': 0, 'componentType': 5126, 'count': 3, 'type': 'VEC3'},"
      " {'bufferView': 0, 'byteOffset': 36, 'componentType': 5126, 'count': 2, 'type': 'SCALAR'},"
      " {'bufferView': 0, 'byteOffset': 44, 'componentType': 5126, 'count': 6, 'type': 'VEC3'},"
      " {'bufferView': 0, 'byteOffset': 116, 'componentType': 5126, 'count': 6, 'type': 'VEC4'}]}",
      &bytes);
  pnAnimState *state = NULL;
  assert_int_equal(pnCreateAnimState(file, &state), PN_OK);
  assert_true(file->clips[0].startTime == 1.0f && file->clips[0].endTime == 3.0f);
  for (int i = 0; i <= 8; ++i) {
    double u = i / 8.0, u2 = u * u, u3 = u2 * u;
    double x = 2 * 3 * (u3 - 2 * u2 + u) + (3 * u2 - 2 * u3) + 2 * 3 * (u3 - u2);
    assert_int_equal(pnAnimState_Evaluate(state, 0, 1 + 2 * u), PN_OK);
    assertWorld(file, state, 0, 0, x, 0, 0);
    /* The rotation's quaternion has length 2: only its direction counts, from "half a turn about y" to the same. */
    assertWorld(file, state, 0, 1, x - 1, 0, 0);
  }
  pnDestroyAnimState(state);
  pnFreeAnimFile(file);
}

static void everyKindOfTriangle(void **context) {
  (void)context;
  Bytes bytes = {.count = 0};
  ADD(&bytes, float, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 2, 0, 1, 2, 0); /* six points */
  ADD(&bytes, uint32_t, 5, 4, 3, 2, 1);                                     /* at 72 */
  ADD(&bytes, uint8_t, 0, 1, 2);                                            /* at 92 */
  const char *accessors =
      "{'bufferView': 0, 'componentType': 5126, 'count': 6, 'type': 'VEC3'},"
      "{'bufferView': 0, 'byteOffset': 72, 'componentType': 5125, 'count': 5, 'type': 'SCALAR'},"
      "{'bufferView': 0, 'byteOffset': 92, 'componentType': 5121, 'count': 3, 'type': 'SCALAR'}";

  /* Without indices: a list, a strip, a fan. */
  pnAnimFile *file = loadPrimitive("{'attributes': {'POSITION': 0}}", accessors, &bytes);
  assertTriangles(file, 2, (uint32_t[]){0, 1, 2, 3, 4, 5});
  pnFreeAnimFile(file);
  file = loadPrimitive("{'attributes': {'POSITION': 0}, 'mode': 5}", accessors, &bytes);
  assertTriangles(file, 4, (uint32_t[]){0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4});
  pnFreeAnimFile(file);
  file = loadPrimitive("{'attributes': {'POSITION': 0}, 'mode': 6}", accessors, &bytes);
  assertTriangles(file, 4, (uint32_t[]){1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 5, 0});
  pnFreeAnimFile(file);

  /* Two primitives on the same vertices, indices of one and of four bytes: vertices are not doubled. */
  file = loadPrimitive(
      "{'attributes': {'POSITION': 0}, 'indices': 2}, {'attributes': {'POSITION': 0}, 'indices': 1, 'mode': 5},"
      "{'attributes': {'POSITION': 0}, 'mode': 1}",
      accessors, &bytes);
  assert_int_equal(file->bodies[0].vertexCount, 6);
  assertTriangles(file, 4, (uint32_t[]){0, 1, 2, 5, 4, 3, 4, 2, 3, 3, 2, 1});
  pnFreeAnimFile(file);

  /* Lines alone are no body. */
  file = loadPrimitive("{'attributes': {'POSITION': 0}, 'mode': 3}", accessors, &bytes);
  assert_int_equal(file->bodyCount, 0);
  assert_int_equal(file->sceneCount, 1);
  pnFreeAnimFile(file);
}

static void everyKindOfNumber(void **context) {
  (void)context;
  /* Interleaved, normalised and plain whole numbers, sparse on top of stored ones. */
  Bytes bytes = {.count = 0};
  ADD(&bytes, int16_t, 32767, -32768, 0, 7, -32767, 16384, 1, 7, 0, 0, 3, 7); /* shorts, 8 bytes each, at 0 */
  ADD(&bytes, int8_t, 127, -128, 64, 0, -127, 1, 0, 0, 0, 0, 0, 0);           /* bytes, 4 each, at 24 */
  ADD(&bytes, uint16_t, 2, 0);                                                /* sparse index at 36 */
  ADD(&bytes, int16_t, -5, 6, -7, 0);                                         /* sparse value at 40 */
  char json[2048];
  const char *format =
      "{'asset': {'version': '2.0'}, 'extensionsUsed': ['KHR_mesh_quantization'], 'extensionsRequired': "
      "['KHR_mesh_quantization'],"
      "'nodes': [{'mesh': 0}], 'meshes': [{'primitives': [{'attributes': {'POSITION': %d}}]}], 'buffers': [@],"
      "'bufferViews': [{'buffer': 0, 'byteLength': 24, 'byteStride': 8}, {'buffer': 0, 'byteOffset': 24, 'byteLength': "
      "12, 'byteStride': 4},"
      " {'buffer': 0, 'byteOffset': 36, 'byteLength': 2}, {'buffer': 0, 'byteOffset': 40, 'byteLength': 6}],"
      "'accessors': [{'bufferView': 0, 'componentType': 5122, 'count': 3, 'type': 'VEC3', 'normalized': true},"
      " {'bufferView': 1, 'componentType': 5120, 'count': 3, 'type': 'VEC3', 'normalized': true},"
      " {'bufferView': 1, 'componentType': 5121, 'count': 3, 'type': 'VEC3'},"
      " {'bufferView': 0, 'componentType': 5122, 'count': 3, 'type': 'VEC3', 'sparse': {'count': 1,"
      "   'indices': {'bufferView': 2, 'componentType': 5123}, 'values': {'bufferView': 3}}}]}";
  static const float expected[4][9] = {{1, -1, 0, -1, 16384 / 32767.0f, 1 / 32767.0f, 0, 0, 3 / 32767.0f},
                                       {1, -1, 64 / 127.0f, -1, 1 / 127.0f, 0, 0, 0, 0},
                                       {127, 128, 64, 129, 1, 0, 0, 0, 0},
                                       {32767, -32768, 0, -32767, 16384, 1, -5, 6, -7}};
  for (int i = 0; i < 4; ++i) {
    snprintf(json, sizeof(json), format, i);
    pnAnimFile *file = load(json, &bytes);
    for (int k = 0; k < 9; ++k) assert_true(file->bodies[0].vertices[k] == expected[i][k]);
    pnFreeAnimFile(file);
  }
}

/* ---------------------------------------------------------------- skins */

static pnAnimFile *loadSkinned(const Bytes *bytes, const char *attributes) {
  char json[4096];
  snprintf(
      json, sizeof(json),
      "{'asset': {'version': '2.0'}, 'nodes': [{'mesh': 0, 'skin': 0}, {}, {}, {}, {}, {}, {}, {}, {}, {}], 'buffers': "
      "[@],"
      "'skins': [{'joints': [1, 2, 3, 4, 5, 6, 7, 8, 9]}], 'meshes': [{'primitives': [{'attributes': {%s}}]}],"
      "'bufferViews': [{'buffer': 0, 'byteLength': %zu}], 'accessors': ["
      "{'bufferView': 0, 'componentType': 5126, 'count': 3, 'type': 'VEC3'},"
      "{'bufferView': 0, 'byteOffset': 36, 'componentType': 5121, 'count': 3, 'type': 'VEC4'},"
      "{'bufferView': 0, 'byteOffset': 48, 'componentType': 5121, 'count': 3, 'type': 'VEC4', 'normalized': true},"
      "{'bufferView': 0, 'byteOffset': 60, 'componentType': 5121, 'count': 3, 'type': 'VEC4'},"
      "{'bufferView': 0, 'byteOffset': 72, 'componentType': 5121, 'count': 3, 'type': 'VEC4', 'normalized': true}]}",
      attributes, bytes->count);
  return load(json, bytes);
}

static void influencesHaveOneForm(void **context) {
  (void)context;
  Bytes bytes = {.count = 0};
  ADD(&bytes, float, 0, 0, 0, 0, 0, 0, 0, 1, 0);
  ADD(&bytes, uint8_t, 5, 2, 5, 9, 2, 5, 0, 0, 7, 0, 0, 0); /* joints: 5 twice, 9 out of range with weight 0 */
  ADD(&bytes, uint8_t, 51, 153, 51, 0, 153, 102, 0, 0, 0, 0, 0, 0);
  ADD(&bytes, uint8_t, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4);
  ADD(&bytes, uint8_t, 0, 0, 0, 0, 0, 0, 0, 0, 51, 51, 51, 51);
  pnAnimFile *file = loadSkinned(&bytes, "'POSITION': 0, 'JOINTS_0': 1, 'WEIGHTS_0': 2");
  const pnAnimBody *body = &file->bodies[0];
  assert_int_equal(body->influenceCount, 4);
  /* Vertices 0 and 1 say the same in different words, so they weld; vertex 2 has no weight and follows joint 7. */
  for (int v = 0; v < 2; ++v) {
    assert_int_equal(body->jointIndices[v * 4], 2);
    assert_int_equal(body->jointIndices[v * 4 + 1], 5);
    assert_true(body->jointWeights[v * 4] == 0.6f && body->jointWeights[v * 4 + 1] == 0.4f &&
                body->jointWeights[v * 4 + 2] == 0);
  }
  assert_int_equal(body->vertexWeld[1], 0);
  assert_int_equal(body->jointIndices[8], 7);
  assert_true(body->jointWeights[8] == 1.0f);
  pnFreeAnimFile(file);

  /* With the second set: eight a vertex only where five are used; 0.2 four times is brought to 0.25. */
  file = loadSkinned(&bytes, "'POSITION': 0, 'JOINTS_0': 1, 'WEIGHTS_0': 2, 'JOINTS_1': 3, 'WEIGHTS_1': 4");
  body = &file->bodies[0];
  assert_int_equal(body->influenceCount, 4);
  for (int k = 0; k < 4; ++k) {
    assert_int_equal(body->jointIndices[8 + k], k + 1);
    assert_true(body->jointWeights[8 + k] == 0.25f);
  }
  pnFreeAnimFile(file);
  bytes.data[48 + 8] = 51;
  file = loadSkinned(&bytes, "'POSITION': 0, 'JOINTS_0': 1, 'WEIGHTS_0': 2, 'JOINTS_1': 3, 'WEIGHTS_1': 4");
  assert_int_equal(file->bodies[0].influenceCount, 8);
  assert_int_equal(file->bodies[0].jointIndices[2 * 8 + 4], 7);
  pnFreeAnimFile(file);
}

/* ---------------------------------------------------------------- placing */

static const char s_placed[] =
    "{'asset': {'version': '2.0'}, 'buffers': [@], 'nodes': [%s],"
    "'meshes': [{'primitives': [{'attributes': {'POSITION': 0}, 'targets': [{'POSITION': 0}]}]}],"
    "'animations': [{'channels': [{'sampler': 0, 'target': {'node': 0, 'path': '%s'}}], 'samplers': [{'input': 1, "
    "'output': 2}]}],"
    "'bufferViews': [{'buffer': 0, 'byteLength': 68}], 'accessors': ["
    " {'bufferView': 0, 'componentType': 5126, 'count': 3, 'type': 'VEC3'},"
    " {'bufferView': 0, 'byteOffset': 36, 'componentType': 5126, 'count': 2, 'type': 'SCALAR'},"
    " {'bufferView': 0, 'byteOffset': 44, 'componentType': 5126, 'count': 2, 'type': 'VEC3'}]}";

static pnAnimFile *loadPlaced(const char *nodes, const char *path, pnAnimState **outState) {
  Bytes bytes = {.count = 0};
  ADD(&bytes, float, 1, 0, 0, 0, 2, 0, 0, 0, 3);
  ADD(&bytes, float, 0, 1);
  ADD(&bytes, float, 1, 1, 1, 4, 4, 4);
  char json[4096];
  snprintf(json, sizeof(json), s_placed, nodes, path);
  pnAnimFile *file = load(json, &bytes);
  assert_int_equal(pnCreateAnimState(file, outState), PN_OK);
  assert_int_equal(pnAnimState_Evaluate(*outState, 0, 1.0), PN_OK);
  return file;
}

static void mapsThatAreNotRigid(void **context) {
  (void)context;
  pnAnimState *state = NULL;
  /* Scale below the node that moves: baked, and carried by that node. */
  pnAnimFile *file =
      loadPlaced("{'children': [1]}, {'scale': [2, 2, -3], 'children': [2]}, {'mesh': 0}", "translation", &state);
  assert_int_equal(file->skinCount, 0);
  assert_int_equal(file->bodies[0].carrier, 0);
  assert_true(file->bodies[0].vertices[0] == 2 && file->bodies[0].vertices[8] == -9);
  assert_true(file->bodies[0].targets[0].deltas[8] == -9);
  assertWorld(file, state, 0, 2, 4, 4, 4 - 9);
  pnDestroyAnimState(state);
  pnFreeAnimFile(file);

  /* Nothing moves it: baked, carried by nobody. */
  file = loadPlaced("{}, {'matrix': [0,1,0,0, -2,0,0,0, 0,0,1,0, 5,6,7,1], 'mesh': 0, 'weights': [1]}", "translation",
                    &state);
  assert_int_equal(file->bodies[0].carrier, PN_NONE);
  assertWorld(file, state, 0, 1, 5 - 8, 6, 7);
  pnDestroyAnimState(state);
  pnFreeAnimFile(file);

  /* Scale that moves: a joint. Twice placed and mirrored: a joint, and the vertices stay shared. */
  file = loadPlaced("{'mesh': 0}", "scale", &state);
  assert_int_equal(file->skinCount, 1);
  assert_int_equal(file->skins[0].jointCount, 1);
  assertWorld(file, state, 0, 1, 0, 8, 0);
  pnDestroyAnimState(state);
  pnFreeAnimFile(file);
  file = loadPlaced(
      "{'scale': [1, -1, 1], 'mesh': 0, 'name': 'a'}, {'scale': [1, 1, 2], 'mesh': 0, 'name': 'a'}, {'mesh': 0, "
      "'name': 'a#2'}",
      "translation", &state);
  assert_int_equal(file->skinCount, 2);
  assert_int_equal(file->bodyCount, 3);
  assert_ptr_equal(file->bodies[0].vertices, file->bodies[1].vertices);
  assert_ptr_equal(file->bodies[0].jointWeights, file->bodies[1].jointWeights);
  assertWorld(file, state, 0, 1, 4, 2, 4);
  assertWorld(file, state, 1, 2, 0, 0, 6);
  /* And no two bodies have one name. */
  assert_string_equal(file->bodies[0].name, "a");
  assert_string_equal(file->bodies[1].name, "a#2");
  assert_string_equal(file->bodies[2].name, "a#2#2");
  pnDestroyAnimState(state);
  pnFreeAnimFile(file);
}

/* ---------------------------------------------------------------- files */

static void buffersBesideTheFile(void **context) {
  (void)context;
  Bytes bytes = {.count = 0};
  ADD(&bytes, float, 1, 0, 0, 0, 2, 0, 0, 0, 3);
  char folder[] = "pinch_gltf_XXXXXX", path[128], buffer[128];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof(path), "%s/mesh.v1.gltf", folder);
  snprintf(buffer, sizeof(buffer), "%s/some data.bin", folder);
  static const char json[] =
      "\xEF\xBB\xBF{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"mesh\": 0}], \"buffers\": [{\"byteLength\": 36, "
      "\"uri\": \"some%20data.bin\"}],"
      "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}], \"bufferViews\": [{\"buffer\": 0, "
      "\"byteLength\": 36}],"
      "\"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\"}]}";
  FILE *file = fopen(path, "wb");
  fwrite(json, 1, sizeof(json) - 1, file);
  fclose(file);
  file = fopen(buffer, "wb");
  fwrite(bytes.data, 1, bytes.count, file);
  fclose(file);

  pnAnimFile *anim = NULL;
  assert_int_equal(pnLoadAnimFile(path, &anim), PN_OK);
  assert_string_equal(anim->name, "mesh.v1");
  assert_true(anim->bodies[0].vertices[8] == 3.0f);
  pnFreeAnimFile(anim);

  /* Too short, then not there; and from memory alone it may not be opened. */
  assert_int_equal(truncate(buffer, 35), 0);
  assert_int_equal(pnLoadAnimFile(path, &anim), PN_ERROR_FORMAT);
  assert_non_null(strstr(pnGetMessage(), "buffers[0]: byteLength is 36, but there are only 35 bytes"));
  unlink(buffer);
  assert_int_equal(pnLoadAnimFile(path, &anim), PN_ERROR_FILE);
  assert_int_equal(pnParseAnimFile(json, sizeof(json) - 1, NULL, &anim), PN_ERROR_FILE);
  assert_int_equal(pnLoadAnimFile(folder, &anim), PN_ERROR_FILE);
  unlink(path);
  assert_int_equal(pnLoadAnimFile(path, &anim), PN_ERROR_FILE);
  assert_non_null(strstr(pnGetMessage(), path));
  rmdir(folder);
}

/* A .glb cut anywhere is refused, and never read past its end. */
static void cutContainers(void **context) {
  (void)context;
  Bytes bytes;
  fillEverything(&bytes);
  size_t size = 0;
  uint8_t *glb = makeGlb(s_everything, &bytes, &size);
  pnAnimFile *file = NULL;
  assert_int_equal(pnParseAnimFile(glb, size, NULL, &file), PN_OK);
  assert_int_equal(file->bodyCount, 2);
  pnFreeAnimFile(file);
  for (size_t cut = 0; cut < size; ++cut) {
    uint8_t *part = malloc(cut + 1); /* its own block, so that a sanitizer sees a read past the end */
    memcpy(part, glb, cut);
    assert_int_not_equal(pnParseAnimFile(part, cut, NULL, &file), PN_OK);
    assert_null(file);
    /* The same with a length that agrees, as a cut download repaired by a tool would have. */
    if (cut >= 12) {
      uint32_t length = (uint32_t)cut;
      memcpy(part + 8, &length, 4);
      assert_int_not_equal(pnParseAnimFile(part, cut, NULL, &file), PN_OK);
    }
    free(part);
  }
  free(glb);
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everythingIsRead),
      cmocka_unit_test(clipsMoveBodies),
      cmocka_unit_test(splinesFollowTheirTangents),
      cmocka_unit_test(everyKindOfTriangle),
      cmocka_unit_test(everyKindOfNumber),
      cmocka_unit_test(influencesHaveOneForm),
      cmocka_unit_test(mapsThatAreNotRigid),
      cmocka_unit_test(buffersBesideTheFile),
      cmocka_unit_test(cutContainers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
