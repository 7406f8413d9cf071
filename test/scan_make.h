/* scan_make.h: an animated file made by hand for the tests of `pinch scan`, and the truth about animated files: vertices
 * evaluated here, from the formulas of pinch/io.h, and every pair of triangles by whole numbers (agree.h).
 * Include support.h and tool.h first. */
#ifndef PN_TEST_SCAN_MAKE_H
#define PN_TEST_SCAN_MAKE_H

#include "agree.h"
#include "carried.h"

#include "pinch/io.h"

#include <jansson.h>

/* ---------------------------------------------------------------- a stream (cli/scan_stream.c) */

static inline void putStreamHead(FILE *file, double fps, uint32_t bodies) {
  fputs("\x93pinch stream 1\n", file);
  fwrite(&fps, 8, 1, file);
  fwrite(&bodies, 4, 1, file);
}

static inline void putStreamBody(FILE *file, const char *name, const pnMesh *mesh) {
  uint32_t counts[3] = {(uint32_t)strlen(name), pnMesh_GetVertexCount(mesh), pnMesh_GetTriangleCount(mesh)};
  fwrite(counts, 4, 3, file);
  fputs(name, file);
  fwrite(pnMesh_GetVertices(mesh), 12, counts[1], file);
  fwrite(pnMesh_GetTriangles(mesh), 12, counts[2], file);
}

/* ---------------------------------------------------------------- a file of three boxes */

/* Boxes of edge 1: "anvil" at the origin; "table" at x = 0.8, which meets it at rest and always; "hammer, heavy" (names may
 * have commas), which comes down from y = 6 at frame 0 to y = 0.4 at frame 30 and is back at frame 60, 30 a second. A
 * second animation, "stay", leaves everything where it is for a second. */
static inline void saveBoxes(const char *path, float seconds) {
  pnMesh *box;
  testExpectOk(pnMakeBox((pnVec3){0.5f, 0.5f, 0.5f}, 2, &box));
  static const char *const names[] = {"anvil", "table", "hammer, heavy"};
  pnAnimNode nodes[3];
  pnAnimBody bodies[3];
  uint32_t roots[3] = {0, 1, 2};
  for (uint32_t i = 0; i < 3; ++i) {
    nodes[i] = (pnAnimNode){.name = names[i], .parent = PN_NONE, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    bodies[i] = carriedBody(names[i], "box", i, box);
  }
  nodes[1].translation[0] = 0.8f;
  nodes[2].translation[1] = 6;
  float times[3] = {0, seconds / 2, seconds}, places[9] = {0, 6, 0, 0, 0.4f, 0, 0, 6, 0};
  float stayTimes[2] = {0, 1}, stayPlaces[6] = {0, 6, 0, 0, 6, 0};
  pnAnimChannel moving = {2, PN_ANIM_TRANSLATION, PN_INTERPOLATION_LINEAR, 3, 3, times, places};
  pnAnimChannel staying = {2, PN_ANIM_TRANSLATION, PN_INTERPOLATION_LINEAR, 3, 2, stayTimes, stayPlaces};
  pnAnimClip clips[2] = {{"strike", &moving, 1, 0, seconds}, {"stay", &staying, 1, 0, 1}};
  pnAnimScene scene = {"scene", roots, 3, roots, 3};
  pnAnimFile file = {.name = "boxes",
                     .nodes = nodes,
                     .nodeCount = 3,
                     .bodies = bodies,
                     .bodyCount = 3,
                     .clips = clips,
                     .clipCount = 2,
                     .scenes = &scene,
                     .sceneCount = 1};
  testExpectOk(pnSaveAnimFile(path, &file));
  pnDestroyMesh(box);
}

/* Setup and teardown of a test that wants the file. */
static inline int enterWithBoxes(void **state) {
  if (enterFolder(state) != 0) return -1;
  saveBoxes("boxes.glb", 2);
  return 0;
}

static inline int leaveWithBoxes(void **state) {
  unlink("boxes.glb");
  return leaveFolder(state);
}

/* ---------------------------------------------------------------- where vertices are */

static inline void applyMatrix(const pnMatrix *m, const float p[3], float out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = m->m[i][0] * p[0] + m->m[i][1] * p[1] + m->m[i][2] * p[2] + m->m[i][3];
}

/* The formula of pinch/io.h, in float and from left to right. Room for 3 floats a vertex and one more. */
static inline float *evaluateBody(const pnAnimFile *file, const pnAnimState *state, uint32_t b) {
  const pnAnimBody *body = &file->bodies[b];
  float *positions = calloc(3 * (size_t)body->vertexCount + 1, sizeof(float));
  assert_non_null(positions);
  memcpy(positions, body->vertices, 3 * (size_t)body->vertexCount * sizeof(float));
  for (uint32_t t = 0; t < body->targetCount; ++t) {
    float weight = pnAnimState_GetWeights(state, b)[t];
    for (uint32_t i = 0; i < body->targets[t].count && weight != 0; ++i) {
      float *p = &positions[3 * (size_t)body->targets[t].vertices[i]];
      for (int k = 0; k < 3; ++k) p[k] = p[k] + weight * body->targets[t].deltas[3 * (size_t)i + (size_t)k];
    }
  }
  for (uint32_t v = 0; v < body->vertexCount; ++v) {
    float *p = &positions[3 * (size_t)v], moved[3], sum[3] = {0, 0, 0};
    if (body->skin == PN_NONE) {
      applyMatrix(pnAnimState_GetTransform(state, b), p, sum);
    } else {
      bool begun = false;
      for (uint32_t k = 0; k < body->influenceCount; ++k) {
        size_t at = (size_t)v * body->influenceCount + k;
        float weight = body->jointWeights[at];
        if (weight == 0) continue;
        applyMatrix(&pnAnimState_GetJoints(state, b)[body->jointIndices[at]], p, moved);
        for (int i = 0; i < 3; ++i) sum[i] = begun ? sum[i] + weight * moved[i] : weight * moved[i];
        begun = true;
      }
    }
    memcpy(p, sum, sizeof(sum));
  }
  return positions;
}

/* ---------------------------------------------------------------- what the tool found */

static inline json_t *parseJson(const char *text) {
  json_error_t error;
  json_t *object = json_loads(text, 0, &error);
  if (!object) fail_msg("line %d: %s in %.200s", error.line, error.text, text);
  return object;
}

/* The pairs of bodies a and b in a frame of the JSON; 0 when they do not meet. */
static inline uint64_t pairsIn(const json_t *frame, uint32_t a, uint32_t b) {
  size_t i;
  json_t *contact;
  json_array_foreach(json_object_get(frame, "collisions"), i, contact) {
    if (json_integer_value(json_object_get(contact, "a")) == (json_int_t)a &&
        json_integer_value(json_object_get(contact, "b")) == (json_int_t)b)
      return (uint64_t)json_integer_value(json_object_get(contact, "pairs"));
  }
  return 0;
}

/* Contacts named a,b over all frames, as in "01 02 ". */
static inline void expectContacts(const ToolRun *run, const char *contacts) {
  json_t *object = parseJson(run->out), *frame;
  char found[64] = "";
  size_t i;
  for (uint32_t a = 0; a < 3; ++a) {
    for (uint32_t b = a; b < 3; ++b) {
      uint64_t pairs = 0;
      json_array_foreach(json_object_get(object, "frames"), i, frame) pairs += pairsIn(frame, a, b);
      if (pairs > 0) snprintf(found + strlen(found), 8, "%u%u ", a, b);
    }
  }
  assert_string_equal(found, contacts);
  assert_int_equal(json_array_size(json_object_get(object, "bodies")), 3);
  json_decref(object);
}

#endif
