/* test_gltf_primitives.c: primitives of all modes (points, lines and loops between them), with indices of every size and without,
 * several to a mesh, on vertices of their own or shared ones, plain and interleaved, placed by several nodes below others that turn,
 * stretch and mirror; made at random, and compared corner by corner with an independent evaluation (gltf_reference.h). */
#include "support.h"

#include "gltf_reference.h"
#include "pinch/io.h"

static TestRandom dice;

static uint32_t below(uint32_t n) {
  return testBelow(&dice, n);
}

/* ---------------------------------------------------------------- a file */

typedef struct Maker {
  uint8_t bytes[1 << 16];
  size_t count;
  json_t *views, *accessors;
} Maker;

/* Where `count` bytes begin, aligned for every component. */
static size_t room(Maker *m, size_t count) {
  size_t at = (m->count + 3) & ~(size_t)3;
  m->count = at + count;
  assert_true(m->count <= sizeof m->bytes);
  return at;
}

static json_int_t addAccessor(Maker *m, size_t at, size_t bytes, size_t stride, json_t *accessor) {
  json_t *view =
      json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)at, "byteLength", (json_int_t)bytes);
  if (stride > 0) json_object_set_new(view, "byteStride", json_integer((json_int_t)stride));
  json_object_set_new(accessor, "bufferView", json_integer((json_int_t)json_array_size(m->views)));
  json_array_append_new(m->views, view);
  json_array_append_new(m->accessors, accessor);
  return (json_int_t)json_array_size(m->accessors) - 1;
}

static json_int_t addPositions(Maker *m, uint32_t count) {
  size_t stride = below(2) ? 0 : 12 + 4 * below(4), step = stride > 0 ? stride : 12, bytes = (count - 1) * step + 12;
  size_t at = room(m, bytes);
  for (uint32_t v = 0; v < count; ++v) {
    float p[3] = {testFloat(&dice, -1, 1), testFloat(&dice, -1, 1), testFloat(&dice, -1, 1)};
    memcpy(m->bytes + at + v * step, p, sizeof p);
  }
  return addAccessor(m, at, bytes, stride,
                     json_pack("{s:i, s:I, s:s}", "componentType", 5126, "count", (json_int_t)count, "type", "VEC3"));
}

/* size 1, 2 or 4 bytes. */
static json_int_t addIndices(Maker *m, uint32_t count, uint32_t vertices, uint32_t size) {
  size_t at = room(m, (size_t)count * size);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t index = below(vertices);
    memcpy(m->bytes + at + i * size, &index, size); /* little-endian, as the format */
  }
  int type = size == 1 ? 5121 : size == 2 ? 5123 : 5125;
  return addAccessor(m, at, (size_t)count * size, 0,
                     json_pack("{s:i, s:I, s:s}", "componentType", type, "count", (json_int_t)count, "type", "SCALAR"));
}

/* Which modes, by how many bytes of indices (0: none) there have been. */
static uint32_t s_seen[7][5];

static json_t *makeMesh(Maker *m) {
  json_t *primitives = json_array();
  uint32_t count = 1 + below(4), vertices = 0;
  json_int_t positions = -1;
  for (uint32_t i = 0; i < count; ++i) {
    static const uint32_t sizes[4] = {0, 1, 2, 4};
    uint32_t mode = below(3) ? 4 + below(3) : below(7), size = sizes[below(4)];
    if (positions < 0 || below(2)) {
      vertices = 3 * (1 + below(5)) + (size > 0 ? below(3) : 0);
      positions = addPositions(m, vertices);
    } else if (size == 0 && vertices % 3 != 0) {
      size = 4;
    }
    json_t *primitive = json_pack("{s:{s:I}, s:I}", "attributes", "POSITION", positions, "mode", (json_int_t)mode);
    if (mode == 4 && below(2)) json_object_del(primitive, "mode"); /* the default */
    if (size > 0) {
      uint32_t corners = mode == 4 ? 3 * (1 + below(6)) : 3 + below(9);
      json_object_set_new(primitive, "indices", json_integer(addIndices(m, corners, vertices, size)));
    }
    json_array_append_new(primitives, primitive);
    ++s_seen[mode][size];
  }
  return json_pack("{s:o}", "primitives", primitives);
}

static json_t *numbers(const double *values, uint32_t count) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < count; ++i) json_array_append_new(list, json_real(values[i]));
  return list;
}

static json_t *makeNode(uint32_t meshes) {
  json_t *node = json_object();
  double t[3], q[4], s[3];
  for (int k = 0; k < 4; ++k) q[k] = (double)testFloat(&dice, -1, 1) + (k == 3 ? 1.5 : 0);
  double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), even = (double)testFloat(&dice, 0.5f, 2);
  bool stretch = below(3) == 0;
  for (int k = 0; k < 4; ++k) q[k] /= n;
  for (int k = 0; k < 3; ++k) {
    t[k] = (double)testFloat(&dice, -2, 2);
    s[k] = (stretch ? (double)testFloat(&dice, 0.5f, 2) : even) * (below(4) ? 1 : -1);
  }
  if (below(4)) json_object_set_new(node, "translation", numbers(t, 3));
  if (below(4)) json_object_set_new(node, "rotation", numbers(q, 4));
  if (below(2)) json_object_set_new(node, "scale", numbers(s, 3));
  if (below(4)) json_object_set_new(node, "mesh", json_integer(below(meshes)));
  return node;
}

/* A .glb with meshes, and more nodes than those. */
static void writeFile(const char *path) {
  static Maker m;
  m = (Maker){.views = json_array(), .accessors = json_array()};
  json_t *meshes = json_array(), *nodes = json_array(), *roots = json_array();
  uint32_t meshCount = 1 + below(3), nodeCount = 3 + below(8);
  for (uint32_t i = 0; i < meshCount; ++i) json_array_append_new(meshes, makeMesh(&m));
  for (uint32_t i = 0; i < nodeCount; ++i) {
    json_array_append_new(nodes, makeNode(meshCount));
    if (i == 0 || below(3) == 0) {
      json_array_append_new(roots, json_integer(i));
    } else {
      json_t *parent = json_array_get(nodes, below(i)), *children = json_object_get(parent, "children");
      if (!children) json_object_set_new(parent, "children", children = json_array());
      json_array_append_new(children, json_integer(i));
    }
  }
  json_t *root = json_pack("{s:{s:s}, s:[{s:I}], s:o, s:o, s:o, s:o, s:[{s:o}]}", "asset", "version", "2.0", "buffers",
                           "byteLength", (json_int_t)m.count, "bufferViews", m.views, "accessors", m.accessors,
                           "meshes", meshes, "nodes", nodes, "scenes", "nodes", roots);
  char *text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
  json_decref(root);
  uint32_t length = (uint32_t)strlen(text), padded = (length + 3) & ~3u, data = (uint32_t)((m.count + 3) & ~(size_t)3);
  uint32_t head[] = {0x46546C67, 2, 12 + 8 + padded + 8 + data, padded, 0x4E4F534A}, chunk[] = {data, 0x004E4942};
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fwrite(head, 1, sizeof head, file);
  fwrite(text, 1, length, file);
  fwrite("   ", 1, padded - length, file);
  fwrite(chunk, 1, sizeof chunk, file);
  fwrite(m.bytes, 1, data, file);
  assert_int_equal(fclose(file), 0);
  free(text);
}

/* ---------------------------------------------------------------- both ways */

/* A coordinate of a vertex in the world: under the body's transform, or, when it is stretched, under its joints. */
static double coordinate(const pnAnimBody *body, const pnAnimState *state, uint32_t b, uint32_t v, int k) {
  const pnMatrix *joints = pnAnimState_GetJoints(state, b), *transform = pnAnimState_GetTransform(state, b);
  const float *p = body->vertices + 3 * (size_t)v;
  uint32_t influences = joints ? body->influenceCount : 1;
  double sum = 0;
  for (uint32_t i = 0; i < influences; ++i) {
    const pnMatrix *m = joints ? &joints[body->jointIndices[(size_t)v * influences + i]] : transform;
    float w = joints ? body->jointWeights[(size_t)v * influences + i] : 1;
    sum += (double)(w * (m->m[k][0] * p[0] + m->m[k][1] * p[1] + m->m[k][2] * p[2] + m->m[k][3]));
  }
  return sum;
}

/* Corner by corner. Returns how many. */
static size_t compareBody(const RefFile *reference, const pnAnimFile *file, const pnAnimState *state, uint32_t b) {
  const pnAnimBody *body = &file->bodies[b];
  size_t triangles = 0;
  double *corners = refCorners(reference, -1, 0, body->node, &triangles);
  assert_int_equal(triangles, body->triangleCount);
  for (size_t i = 0; i < 3 * triangles; ++i) {
    for (int k = 0; k < 3; ++k) {
      double got = coordinate(body, state, b, body->triangles[i], k);
      /* a few roundings to float along chains of up to ten nodes, each at most 2 * 3 times as large as the one before */
      double size = fabs(corners[3 * i]) + fabs(corners[3 * i + 1]) + fabs(corners[3 * i + 2]) + 1;
      if (!(fabs(got - corners[3 * i + (size_t)k]) <= 1e-4 * size))
        fail_msg("node %u, corner %zu, coordinate %d: %g, expected %g", body->node, i, k, got,
                 corners[3 * i + (size_t)k]);
    }
  }
  free(corners);
  return 3 * triangles;
}

static void allModes(void **context) {
  (void)context;
  static const char path[] = "./pinch_primitives.glb";
  size_t corners = 0, bodies = 0, placed = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    dice = testRandom(seed);
    writeFile(path);
    RefFile reference = refLoad(path);
    pnAnimFile *file = NULL;
    pnAnimState *state = NULL;
    testExpectOk(pnLoadAnimFile(path, &file));
    testExpectOk(pnCreateAnimState(file, &state));
    size_t nodes = json_array_size(json_object_get(reference.root, "nodes"));
    for (size_t n = 0; n < nodes; ++n) {
      size_t triangles = 0;
      if (!json_object_get(refAt(reference.root, "nodes", n), "mesh")) continue;
      free(refCorners(&reference, -1, 0, (int64_t)n, &triangles));
      placed += triangles > 0; /* every node with triangles is a body */
    }
    for (uint32_t b = 0; b < file->bodyCount; ++b) corners += compareBody(&reference, file, state, b);
    bodies += file->bodyCount;
    assert_int_equal(bodies, placed);
    pnDestroyAnimState(state);
    pnFreeAnimFile(file);
    refFree(&reference);
  }
  remove(path);
  print_message("  %zu corners of %zu bodies\n", corners, bodies);
  for (int mode = 0; mode < 7; ++mode)
    for (int size = 0; size < 5; ++size) assert_true(size == 3 || s_seen[mode][size] > 0);
  assert_true(bodies > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(allModes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
