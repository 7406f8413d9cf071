/* gltf_reference.h: a second, independent evaluation of glTF, for tests only.
 *
 * Straight from the JSON to world positions of triangle corners, in double, the way the specification is written: 4x4
 * matrices by columns, recursion up the parents, keys found by walking. It trusts its files (they are good samples) and
 * shares no code with io/. Corners, not vertices, are compared, so that it does not matter how vertices are merged. */
#ifndef PN_TEST_GLTF_REFERENCE_H
#define PN_TEST_GLTF_REFERENCE_H

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct RefFile {
  json_t *root;
  uint8_t *buffers[16];
  int32_t *parents; /* by node */
} RefFile;

typedef struct RefNumbers {
  double *values;
  size_t count, width;
} RefNumbers;

typedef struct RefMatrix {
  double a[16]; /* by columns */
} RefMatrix;

static uint8_t *refReadAll(const char *path, size_t *outSize) {
  FILE *file = fopen(path, "rb");
  assert(file != NULL);
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = malloc(size + 1);
  size_t got = fread(bytes, 1, size, file);
  assert(got == size);
  (void)got;
  fclose(file);
  *outSize = size;
  return bytes;
}

static json_t *refAt(const json_t *object, const char *key, size_t i) {
  return json_array_get(json_object_get(object, key), i);
}

static int64_t refInt(const json_t *object, const char *key, int64_t otherwise) {
  json_t *value = json_object_get(object, key);
  return value != NULL ? (int64_t)json_number_value(value) : otherwise;
}

/* ---------------------------------------------------------------- files */

static RefFile refLoad(const char *path) {
  RefFile file = {0};
  size_t size = 0;
  uint8_t *bytes = refReadAll(path, &size);
  if (memcmp(bytes, "glTF", 4) == 0) {
    uint32_t jsonSize, binSize = 0;
    memcpy(&jsonSize, bytes + 12, 4);
    file.root = json_loadb((char *)bytes + 20, jsonSize, 0, NULL);
    if (size > 28 + (size_t)jsonSize) {
      memcpy(&binSize, bytes + 20 + jsonSize, 4);
      file.buffers[0] = malloc(binSize + 1u);
      memcpy(file.buffers[0], bytes + 28 + jsonSize, binSize);
    }
  } else {
    file.root = json_loadb((char *)bytes, size, 0, NULL);
  }
  free(bytes);
  assert(file.root != NULL);

  /* Buffers in files of their own; the samples use no data URIs. */
  for (size_t i = 0; i < json_array_size(json_object_get(file.root, "buffers")); ++i) {
    const char *uri = json_string_value(json_object_get(refAt(file.root, "buffers", i), "uri"));
    if (uri == NULL) continue;
    char name[1024];
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof(name), "%.*s/%s", (int)(slash - path), path, uri);
    file.buffers[i] = refReadAll(name, &size);
  }
  size_t nodes = json_array_size(json_object_get(file.root, "nodes"));
  file.parents = malloc((nodes + 1) * sizeof(int32_t));
  for (size_t i = 0; i < nodes; ++i) file.parents[i] = -1;
  for (size_t i = 0; i < nodes; ++i) {
    json_t *children = json_object_get(refAt(file.root, "nodes", i), "children"), *child;
    size_t k;
    json_array_foreach(children, k, child) file.parents[json_integer_value(child)] = (int32_t)i;
  }
  return file;
}

static void refFree(RefFile *file) {
  json_decref(file->root);
  for (int i = 0; i < 16; ++i) free(file->buffers[i]);
  free(file->parents);
}

/* ---------------------------------------------------------------- accessors */

static double refComponent(const uint8_t *p, int64_t type, bool normalized) {
  int8_t i8;
  uint8_t u8;
  int16_t i16;
  uint16_t u16;
  uint32_t u32;
  float f;
  switch (type) {
    case 5120: memcpy(&i8, p, 1); return normalized ? fmax(i8 / 127.0, -1.0) : i8;
    case 5121: memcpy(&u8, p, 1); return normalized ? u8 / 255.0 : u8;
    case 5122: memcpy(&i16, p, 2); return normalized ? fmax(i16 / 32767.0, -1.0) : i16;
    case 5123: memcpy(&u16, p, 2); return normalized ? u16 / 65535.0 : u16;
    case 5125: memcpy(&u32, p, 4); return u32;
    default: memcpy(&f, p, 4); return (double)f;
  }
}

static const uint8_t *refView(const RefFile *file, int64_t view, int64_t *outStride) {
  json_t *v = refAt(file->root, "bufferViews", (size_t)view);
  *outStride = refInt(v, "byteStride", 0);
  return file->buffers[refInt(v, "buffer", 0)] + refInt(v, "byteOffset", 0);
}

static RefNumbers refNumbers(const RefFile *file, int64_t accessor) {
  static const int64_t sizes[] = {1, 1, 2, 2, 0, 4, 4};
  json_t *a = refAt(file->root, "accessors", (size_t)accessor);
  const char *type = json_string_value(json_object_get(a, "type"));
  int64_t component = refInt(a, "componentType", 0), size = sizes[component - 5120];
  bool normalized = json_is_true(json_object_get(a, "normalized"));
  RefNumbers out = {.count = (size_t)refInt(a, "count", 0)};
  out.width = strcmp(type, "SCALAR") == 0 ? 1 : strcmp(type, "MAT4") == 0 ? 16 : (size_t)(type[3] - '0');
  out.values = calloc(out.count * out.width + 1, sizeof(double));

  int64_t view = refInt(a, "bufferView", -1), stride = 0;
  if (view >= 0) {
    const uint8_t *p = refView(file, view, &stride) + refInt(a, "byteOffset", 0);
    if (stride == 0) stride = size * (int64_t)out.width;
    for (size_t i = 0; i < out.count * out.width; ++i) {
      int64_t at = (int64_t)(i / out.width) * stride + (int64_t)(i % out.width) * size;
      out.values[i] = refComponent(p + at, component, normalized);
    }
  }
  json_t *sparse = json_object_get(a, "sparse");
  if (sparse != NULL) {
    json_t *indices = json_object_get(sparse, "indices"), *values = json_object_get(sparse, "values");
    const uint8_t *p = refView(file, refInt(indices, "bufferView", 0), &stride) + refInt(indices, "byteOffset", 0);
    const uint8_t *q = refView(file, refInt(values, "bufferView", 0), &stride) + refInt(values, "byteOffset", 0);
    int64_t indexType = refInt(indices, "componentType", 0), indexSize = sizes[indexType - 5120];
    for (int64_t i = 0; i < refInt(sparse, "count", 0); ++i) {
      size_t element = (size_t)refComponent(p + i * indexSize, indexType, false);
      for (size_t c = 0; c < out.width; ++c) {
        const uint8_t *from = q + (i * (int64_t)out.width + (int64_t)c) * size;
        out.values[element * out.width + c] = refComponent(from, component, normalized);
      }
    }
  }
  return out;
}

/* ---------------------------------------------------------------- matrices and keys */

static RefMatrix refMultiply(const RefMatrix *a, const RefMatrix *b) {
  RefMatrix m;
  for (int column = 0; column < 4; ++column) {
    for (int row = 0; row < 4; ++row) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) sum += a->a[k * 4 + row] * b->a[column * 4 + k];
      m.a[column * 4 + row] = sum;
    }
  }
  return m;
}

static void refApply(const RefMatrix *m, const double *p, double w, double *out) {
  for (int row = 0; row < 3; ++row)
    out[row] = m->a[row] * p[0] + m->a[4 + row] * p[1] + m->a[8 + row] * p[2] + m->a[12 + row] * w;
}

static RefMatrix refCompose(const double *t, const double *quaternion, const double *s) {
  double n = sqrt(quaternion[0] * quaternion[0] + quaternion[1] * quaternion[1] + quaternion[2] * quaternion[2] +
                  quaternion[3] * quaternion[3]);
  double x = quaternion[0] / n, y = quaternion[1] / n, z = quaternion[2] / n, w = quaternion[3] / n;
  RefMatrix translate = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, t[0], t[1], t[2], 1}};
  RefMatrix rotate = {{1 - 2 * y * y - 2 * z * z, 2 * x * y + 2 * w * z, 2 * x * z - 2 * w * y, 0,
                       2 * x * y - 2 * w * z, 1 - 2 * x * x - 2 * z * z, 2 * y * z + 2 * w * x, 0,
                       2 * x * z + 2 * w * y, 2 * y * z - 2 * w * x, 1 - 2 * x * x - 2 * y * y, 0, 0, 0, 0, 1}};
  RefMatrix scale = {{s[0], 0, 0, 0, 0, s[1], 0, 0, 0, 0, s[2], 0, 0, 0, 0, 1}};
  RefMatrix tr = refMultiply(&translate, &rotate);
  return refMultiply(&tr, &scale);
}

/* Appendix C of the specification, word for word. `width` numbers into out. */
static void refSample(const RefFile *file, const json_t *sampler, size_t width, bool rotation, double time,
                      double *out) {
  RefNumbers in = refNumbers(file, refInt(sampler, "input", 0)),
             values = refNumbers(file, refInt(sampler, "output", 0));
  const char *mode = json_string_value(json_object_get(sampler, "interpolation"));
  bool cubic = mode != NULL && strcmp(mode, "CUBICSPLINE") == 0, step = mode != NULL && strcmp(mode, "STEP") == 0;
  size_t each = cubic ? 3 * width : width, middle = cubic ? width : 0, k = 0;
  while (k + 1 < in.count && in.values[k + 1] <= time) ++k;
  const double *v0 = values.values + k * each + middle;
  if (k + 1 >= in.count || time <= in.values[0] || step) {
    memcpy(out, v0, width * sizeof(double));
  } else {
    const double *v1 = v0 + each;
    double td = in.values[k + 1] - in.values[k], t = (time - in.values[k]) / td;
    double dot = 0, a0 = 1 - t, a1 = t;
    if (rotation && !cubic) {
      double n0 = 0, n1 = 0;
      for (size_t i = 0; i < 4; ++i) dot += v0[i] * v1[i], n0 += v0[i] * v0[i], n1 += v1[i] * v1[i];
      dot /= sqrt(n0) * sqrt(n1);
      double a = acos(fmin(fabs(dot), 1.0)), sign = dot < 0 ? -1 : 1;
      if (a > 1e-6) a0 = sin(a * (1 - t)) / sin(a), a1 = sin(a * t) / sin(a);
      a0 /= sqrt(n0), a1 *= sign / sqrt(n1);
    }
    for (size_t i = 0; i < width; ++i) {
      double b0 = v0[i + width * (cubic ? 1 : 0)], a = cubic ? v1[(long)i - (long)width] : 0;
      out[i] = !cubic ? a0 * v0[i] + a1 * v1[i]
                      : (2 * t * t * t - 3 * t * t + 1) * v0[i] + td * (t * t * t - 2 * t * t + t) * b0 +
                            (-2 * t * t * t + 3 * t * t) * v1[i] + td * (t * t * t - t * t) * a;
    }
  }
  free(in.values);
  free(values.values);
}

/* The sampler of a node's property in an animation, null for none. */
static const json_t *refFind(const RefFile *file, int animation, int64_t node, const char *path) {
  if (animation < 0) return NULL;
  json_t *a = refAt(file->root, "animations", (size_t)animation), *channel;
  const json_t *found = NULL;
  size_t i;
  json_array_foreach(json_object_get(a, "channels"), i, channel) {
    json_t *target = json_object_get(channel, "target");
    if (refInt(target, "node", -1) != node || strcmp(json_string_value(json_object_get(target, "path")), path) != 0)
      continue;
    found = refAt(a, "samplers", (size_t)refInt(channel, "sampler", 0));
  }
  return found;
}

static void refProperty(const RefFile *file, int animation, double time, int64_t node, const char *path, size_t width,
                        double *inOut) {
  json_t *rest = json_object_get(refAt(file->root, "nodes", (size_t)node), path);
  for (size_t i = 0; i < width && rest != NULL; ++i) inOut[i] = json_number_value(json_array_get(rest, i));
  const json_t *sampler = refFind(file, animation, node, path);
  if (sampler != NULL) refSample(file, sampler, width, strcmp(path, "rotation") == 0, time, inOut);
}

static RefMatrix refWorld(const RefFile *file, int animation, double time, int64_t node) {
  RefMatrix local;
  json_t *matrix = json_object_get(refAt(file->root, "nodes", (size_t)node), "matrix");
  if (matrix != NULL) {
    for (size_t i = 0; i < 16; ++i) local.a[i] = json_number_value(json_array_get(matrix, i));
  } else {
    double t[3] = {0}, r[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    refProperty(file, animation, time, node, "translation", 3, t);
    refProperty(file, animation, time, node, "rotation", 4, r);
    refProperty(file, animation, time, node, "scale", 3, s);
    local = refCompose(t, r, s);
  }
  if (file->parents[node] < 0) return local;
  RefMatrix parent = refWorld(file, animation, time, file->parents[node]);
  return refMultiply(&parent, &local);
}

/* ---------------------------------------------------------------- corners */

/* Rest positions plus weighted targets. */
static RefNumbers refMorph(const RefFile *file, int animation, double time, int64_t node, const json_t *primitive) {
  json_t *n = refAt(file->root, "nodes", (size_t)node);
  json_t *mesh = refAt(file->root, "meshes", (size_t)refInt(n, "mesh", 0));
  RefNumbers p = refNumbers(file, refInt(json_object_get(primitive, "attributes"), "POSITION", 0));
  size_t targets = json_array_size(json_object_get(primitive, "targets"));
  double *weights = calloc(targets + 1, sizeof(double));
  json_t *own = json_object_get(n, "weights"), *rest = own != NULL ? own : json_object_get(mesh, "weights");
  for (size_t t = 0; t < targets && rest != NULL; ++t) weights[t] = json_number_value(json_array_get(rest, t));
  const json_t *sampler = refFind(file, animation, node, "weights");
  if (sampler != NULL && targets > 0) refSample(file, sampler, targets, false, time, weights);
  for (size_t t = 0; t < targets; ++t) {
    json_t *target = refAt(primitive, "targets", t);
    if (json_object_get(target, "POSITION") == NULL) continue;
    RefNumbers d = refNumbers(file, refInt(target, "POSITION", 0));
    for (size_t i = 0; i < p.count * 3; ++i) p.values[i] += weights[t] * d.values[i];
    free(d.values);
  }
  free(weights);
  return p;
}

/* Joint matrices of a skin: world of the joint times inverse bind. */
static RefMatrix *refJoints(const RefFile *file, int animation, double time, int64_t skin) {
  json_t *s = refAt(file->root, "skins", (size_t)skin);
  size_t count = json_array_size(json_object_get(s, "joints"));
  RefMatrix *joints = malloc(count * sizeof(RefMatrix));
  RefNumbers inverse = {0};
  if (json_object_get(s, "inverseBindMatrices") != NULL)
    inverse = refNumbers(file, refInt(s, "inverseBindMatrices", 0));
  for (size_t j = 0; j < count; ++j) {
    joints[j] = refWorld(file, animation, time, json_integer_value(refAt(s, "joints", j)));
    if (inverse.values == NULL) continue;
    RefMatrix bind;
    memcpy(bind.a, inverse.values + j * 16, sizeof(bind.a));
    joints[j] = refMultiply(&joints[j], &bind);
  }
  free(inverse.values);
  return joints;
}

/* The weighted sum over joints. Weights that do not add up to 1 mean their ratios. */
static void refSkin(const RefFile *file, const json_t *attributes, const RefMatrix *joints, const RefNumbers *p,
                    double *out) {
  double *sums = calloc(p->count + 1, sizeof(double));
  for (int set = 0; set < 4; ++set) {
    char jointName[16], weightName[16];
    snprintf(jointName, sizeof(jointName), "JOINTS_%d", set);
    snprintf(weightName, sizeof(weightName), "WEIGHTS_%d", set);
    if (json_object_get(attributes, jointName) == NULL) break;
    RefNumbers j = refNumbers(file, refInt(attributes, jointName, 0));
    RefNumbers w = refNumbers(file, refInt(attributes, weightName, 0));
    for (size_t i = 0; i < p->count * 4; ++i) {
      if (w.values[i] == 0) continue;
      double moved[3];
      refApply(&joints[(size_t)j.values[i]], p->values + i / 4 * 3, 1.0, moved);
      for (size_t c = 0; c < 3; ++c) out[i / 4 * 3 + c] += w.values[i] * moved[c];
      sums[i / 4] += w.values[i];
    }
    free(j.values);
    free(w.values);
  }
  for (size_t i = 0; i < p->count * 3; ++i) out[i] /= sums[i / 3];
  free(sums);
}

/* World positions of the vertices of one primitive of a node. */
static double *refVertices(const RefFile *file, int animation, double time, int64_t node, const json_t *primitive,
                           size_t *outCount) {
  RefNumbers p = refMorph(file, animation, time, node, primitive);
  double *out = calloc(p.count * 3 + 1, sizeof(double));
  int64_t skin = refInt(refAt(file->root, "nodes", (size_t)node), "skin", -1);
  if (skin >= 0) {
    RefMatrix *joints = refJoints(file, animation, time, skin);
    refSkin(file, json_object_get(primitive, "attributes"), joints, &p, out);
    free(joints);
  } else {
    RefMatrix world = refWorld(file, animation, time, node);
    for (size_t v = 0; v < p.count; ++v) refApply(&world, p.values + v * 3, 1.0, out + v * 3);
  }
  *outCount = p.count;
  free(p.values);
  return out;
}

/* Nine numbers a triangle, all triangles of the mesh that a node places, in file order. */
static double *refCorners(const RefFile *file, int animation, double time, int64_t node, size_t *outTriangles) {
  json_t *n = refAt(file->root, "nodes", (size_t)node),
         *mesh = refAt(file->root, "meshes", (size_t)refInt(n, "mesh", 0));
  json_t *primitive;
  double *corners = NULL;
  size_t count = 0, k;
  json_array_foreach(json_object_get(mesh, "primitives"), k, primitive) {
    int64_t mode = refInt(primitive, "mode", 4);
    if (mode < 4) continue;
    size_t vertexCount = 0;
    double *vertices = refVertices(file, animation, time, node, primitive, &vertexCount);
    RefNumbers indices = {.count = vertexCount};
    bool indexed = json_object_get(primitive, "indices") != NULL;
    if (indexed) indices = refNumbers(file, refInt(primitive, "indices", 0));
    size_t triangles = mode == 4 ? indices.count / 3 : indices.count - 2;
    corners = realloc(corners, (count + triangles + 1) * 9 * sizeof(double));
    for (size_t i = 0; i < triangles; ++i) {
      size_t odd = i % 2;
      size_t list[3] = {3 * i, 3 * i + 1, 3 * i + 2}, strip[3] = {i, i + 1 + odd, i + 2 - odd},
             fan[3] = {i + 1, i + 2, 0};
      const size_t *c = mode == 4 ? list : mode == 5 ? strip : fan;
      for (size_t j = 0; j < 3; ++j) {
        size_t v = indexed ? (size_t)indices.values[c[j]] : c[j];
        memcpy(corners + (count * 3 + j) * 3, vertices + v * 3, 3 * sizeof(double));
      }
      ++count;
    }
    free(indices.values);
    free(vertices);
  }
  *outTriangles = count;
  return corners;
}

#endif
