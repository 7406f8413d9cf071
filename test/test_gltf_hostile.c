/* test_gltf_hostile.c: wrong, broken and hostile glTF. One good document with something of everything is broken in one
 * place at a time; each fault must be refused with its place in the document, without a leak. Then documents that ask
 * for much with few bytes, and memory that runs out at every allocation. */
#include "support.h"

#include <math.h>

#include "gltf_make.h"
#include "pinch/io.h"

/* The text with the first `from` replaced by `to`. */
static char *replaced(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  if (at == NULL) fail_msg("the test is wrong: '%s' is not in the document", from);
  char *out = malloc(strlen(text) + strlen(to) + 1);
  sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  return out;
}

static pnResult parse(const char *json, const Bytes *bytes) {
  pnAnimFile *file = NULL;
  char *text = makeText(json, bytes);
  pnResult result = pnParseAnimFile(text, strlen(text), NULL, &file);
  free(text);
  pnFreeAnimFile(file);
  return result;
}

/* One fault: what is replaced by what, the result, and words that the message must have. */
typedef struct Fault {
  const char *from, *to;
  pnResult result;
  const char *words;
} Fault;

static const Fault s_faults[] = {
    /* the document */
    {"{'asset'", "{{'asset'", PN_ERROR_FORMAT, "1:2: the JSON is broken"},
    {"'asset': {'version': '2.0'}", "'asset': {}", PN_ERROR_FORMAT, "asset.version is missing"},
    {"'version': '2.0'", "'version': '1.0'", PN_ERROR_UNSUPPORTED, "asset: version 1.0, expected 2.0"},
    {"'version': '2.0'", "'version': '2.0', 'minVersion': '2.1'", PN_ERROR_UNSUPPORTED, "at least 2.1"},
    {"'scene': 0", "'extensionsRequired': ['KHR_squares']", PN_ERROR_UNSUPPORTED,
     "extensionsRequired[0]: the file needs the extension 'KHR_squares'"},
    {"'scene': 0", "'scene': 2", PN_ERROR_INDEX, "scene: 2 is out of range, there are 2"},
    {"'scenes': [", "'scenes': {}, 'x': [", PN_ERROR_FORMAT, "scenes: expected an array, found an object"},
    {"'nodes': [0, 2]", "'nodes': [0, 1]", PN_ERROR_FORMAT, "scenes[0].nodes[1]: node 1 has a parent"},
    /* nodes */
    {"'children': [1, 3]", "'children': [1, 4]", PN_ERROR_INDEX, "nodes[0].children[1]: 4 is out of range"},
    {"'children': [1, 3]", "'children': [1, 1]", PN_ERROR_FORMAT,
     "nodes[0].children[1]: node 1 already has the parent 0"},
    {"'children': [1, 3]", "'children': [0]", PN_ERROR_FORMAT, "nodes[0]: is its own ancestor"},
    {"{'name': 'tip',", "{'children': [0],", PN_ERROR_FORMAT, "is its own ancestor"},
    {"'children': [1, 3]", "'children': [-1]", PN_ERROR_FORMAT, "nodes[0].children[0]: expected a whole number"},
    {"'children': [1, 3]", "'children': [1.5]", PN_ERROR_FORMAT, "nodes[0].children[0]: expected a whole number"},
    {"'translation': [0, 1, 0]", "'translation': [0, 1]", PN_ERROR_FORMAT,
     "nodes[1].translation: expected an array of 3"},
    {"'translation': [0, 1, 0]", "'translation': [0, 1e39, 0]", PN_ERROR_NUMBER, "nodes[1].translation[1]"},
    {"'translation': [0, 1, 0]", "'translation': [0, 'up', 0]", PN_ERROR_FORMAT,
     "nodes[1].translation[1]: expected a number"},
    {"'translation': [0, 1, 0]", "'rotation': [0, 0, 0, 0]", PN_ERROR_FORMAT, "nodes[1]: the rotation 0 0 0 0"},
    {"'translation': [0, 1, 0]", "'matrix': [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,2]", PN_ERROR_FORMAT,
     "nodes[1].matrix: the last row"},
    {"'translation': [0, 1, 0]", "'matrix': [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]", PN_ERROR_FORMAT,
     "animations[0].channels[0].target: node 1 has a matrix"},
    {"'mesh': 0, 'skin': 0", "'mesh': 1, 'skin': 0", PN_ERROR_INDEX, "nodes[2].mesh: 1 is out of range, there are 1"},
    {"'mesh': 0, 'skin': 0", "'mesh': 0, 'skin': 1", PN_ERROR_INDEX, "nodes[2].skin: 1 is out of range"},
    {"'weights': [0.25, 0.5]", "'weights': [0.25]", PN_ERROR_FORMAT, "nodes[2].weights: expected an array of 2"},
    {"'weights': [0, 1]", "'weights': [0]", PN_ERROR_FORMAT, "meshes[0].weights: expected an array of 2"},
    /* skins */
    {"'joints': [0, 1]", "'joints': [0, 9]", PN_ERROR_INDEX, "skins[0].joints[1]: 9 is out of range, there are 4"},
    {"'joints': [0, 1]", "'joints': []", PN_ERROR_COUNT, "skins[0].joints: 0 joints"},
    {"'joints': [0, 1]", "'joints': [0]", PN_ERROR_INDEX, "vertex 1 follows joint 1, but skins[0] has 1 joints"},
    {"'joints': [0, 1]", "'joints': [0, 1, 2]", PN_ERROR_COUNT,
     "skins[0].inverseBindMatrices: accessor 5 has 2 matrices for 3"},
    {"'inverseBindMatrices': 5", "'inverseBindMatrices': 3", PN_ERROR_FORMAT,
     "accessor 3 is of type 'VEC4'; 16 components"},
    {"'JOINTS_0': 2, 'WEIGHTS_0': 3", "'COLOR_0': 2", PN_ERROR_FORMAT, "meshes[0]: a node places it with a skin"},
    {"'JOINTS_0': 2, 'WEIGHTS_0': 3", "'JOINTS_0': 2", PN_ERROR_FORMAT,
     "meshes[0].primitives[0].attributes: JOINTS_0 and WEIGHTS_0"},
    {"'JOINTS_0': 2", "'JOINTS_0': 3", PN_ERROR_FORMAT, "attributes.JOINTS_0: accessor 3 has componentType 5126"},
    /* meshes */
    {"'POSITION': 0", "'POSITION': 99", PN_ERROR_INDEX,
     "meshes[0].primitives[0].attributes.POSITION: 99 is out of range"},
    {"'POSITION': 0", "'POSITION': 3", PN_ERROR_FORMAT, "POSITION: accessor 3 is of type 'VEC4'; 3 components"},
    {"'indices': 1", "'indices': 0", PN_ERROR_FORMAT, "primitives[0].indices: accessor 0 is of type 'VEC3'"},
    {"'indices': 1", "'indices': 6", PN_ERROR_FORMAT, "primitives[0].indices: accessor 6 has componentType 5126"},
    {"'indices': 1", "'indices': 1, 'mode': 7", PN_ERROR_FORMAT, "primitives[0].mode: 7 is more than the 6"},
    {"'targets': [{'POSITION': 4}", "'targets': [{'POSITION': 7}", PN_ERROR_COUNT,
     "targets[0].POSITION: accessor 7 has 3 elements for 4 vertices"},
    {"'primitives': [{", "'primitives': [{'attributes': {'POSITION': 7}}, {", PN_ERROR_COUNT,
     "primitives[1]: has 2 targets"},
    {"'primitives': [{", "'primitives': 5, 'x': [{", PN_ERROR_FORMAT,
     "meshes[0].primitives: expected an array, found a number"},
    /* clips */
    {"'path': 'translation'", "'path': 'rotation'", PN_ERROR_FORMAT, "animations[0].samplers[0].output: accessor 7"},
    {"{'node': 1, 'path': 'translation'}", "{'node': 7, 'path': 'translation'}", PN_ERROR_INDEX,
     "animations[0].channels[0].target.node: 7"},
    {"{'sampler': 0,", "{'sampler': 4,", PN_ERROR_INDEX, "animations[0].channels[0].sampler: 4 is out of range"},
    {"{'sampler': 0,", "{", PN_ERROR_FORMAT, "animations[0].channels[0]: has no sampler"},
    {"{'input': 6, 'output': 7}", "{'output': 7}", PN_ERROR_FORMAT, "animations[0].samplers[0]: has no input"},
    {"{'input': 6, 'output': 7}", "{'input': 6}", PN_ERROR_FORMAT, "animations[0].samplers[0]: has no output"},
    {"{'input': 6, 'output': 7}", "{'input': 6, 'output': 0}", PN_ERROR_COUNT,
     "accessor 0 has 4 elements, 3 are needed for 3 keys"},
    {"{'input': 6, 'output': 7}", "{'input': 6, 'output': 7, 'interpolation': 'CUBICSPLINE'}", PN_ERROR_COUNT,
     "9 are needed"},
    {"'interpolation': 'LINEAR'", "'interpolation': 'MAGIC'", PN_ERROR_UNSUPPORTED, "interpolation 'MAGIC'"},
    {"{'input': 6, 'output': 9,", "{'input': 9, 'output': 9,", PN_ERROR_FORMAT, "key 3 is at 0 s"},
    /* buffers, views, accessors */
    {"'buffers': [@]", "'buffers': [{'byteLength': 500}]", PN_ERROR_FORMAT, "buffers[0]: has no uri"},
    {"'buffers': [@]", "'buffers': [{'byteLength': 500, 'uri': 'data:text;base64,A*B'}]", PN_ERROR_FORMAT,
     "buffers[0].uri: the base64 data is broken at its character 1"},
    {"'buffers': [@]", "'buffers': [{'byteLength': 500, 'uri': 'data:text/plain,AAAA'}]", PN_ERROR_FORMAT,
     "expected a data URI"},
    {"'buffers': [@]", "'buffers': [{'byteLength': 500, 'uri': 'data:,'}]", PN_ERROR_FORMAT, "expected a data URI"},
    {"'buffers': [@]", "'buffers': [{'byteLength': 500, 'uri': 'data:text;base64,AAAA'}]", PN_ERROR_FORMAT,
     "byteLength is 500, but there are only 3 bytes"},
    {"'buffers': [@]", "'buffers': [{'byteLength': 500, 'uri': 'http://a/b.bin'}]", PN_ERROR_UNSUPPORTED,
     "is no path below this file"},
    {"'buffers': [@]", "'buffers': [{'byteLength': 500, 'uri': '/dev/zero'}]", PN_ERROR_UNSUPPORTED,
     "is no path below this file"},
    {"'buffers': [@]", "'buffers': [{'byteLength': 500, 'uri': '%2Fetc/hosts'}]", PN_ERROR_UNSUPPORTED,
     "is no path below this file"},
    {"'buffers': [@]", "'buffers': [{'byteLength': 500, 'uri': '../up.bin'}]", PN_ERROR_UNSUPPORTED,
     "only files beside this one are read"},
    {"'buffers': [@]", "'buffers': [{'byteLength': 500, 'uri': 'a/./%2e%2E/b.bin'}]", PN_ERROR_UNSUPPORTED,
     "is no path below this file"},
    {"'buffers': [@]", "'buffers': [{'byteLength': 500, 'uri': 'a%5C..%5Cb.bin'}]", PN_ERROR_UNSUPPORTED,
     "is no path below this file"},
    {"'buffers': [@]", "'buffers': [{'byteLength': 500, 'uri': 'a/..'}]", PN_ERROR_UNSUPPORTED,
     "is no path below this file"},
    {"'buffers': [@]", "'buffers': [{'byteLength': 500, 'uri': './'}]", PN_ERROR_UNSUPPORTED,
     "is no path below this file"},
    {"'buffers': [@]", "'buffers': [{'byteLength': 500, 'uri': 'a..b/..c/d...bin'}]", PN_ERROR_FILE,
     "read from memory alone"},
    {"'buffers': [@]", "'buffers': [{'byteLength': 500, 'uri': 7}]", PN_ERROR_FORMAT,
     "buffers[0].uri: expected a string"},
    {"'buffers': [@]", "'buffers': [{'uri': 'a.bin'}]", PN_ERROR_FORMAT, "buffers[0].byteLength: is missing"},
    {"{'buffer': 0, 'byteLength': 48}", "{'buffer': 1, 'byteLength': 48}", PN_ERROR_INDEX,
     "bufferViews[0].buffer: 1 is out"},
    {"{'buffer': 0, 'byteLength': 48}", "{'byteLength': 48}", PN_ERROR_FORMAT, "bufferViews[0]: names no buffer"},
    {"{'buffer': 0, 'byteLength': 48}", "{'buffer': 0, 'byteLength': 47}", PN_ERROR_FORMAT,
     "attributes.POSITION: needs bytes 0 to 48 of bufferView 0, which has 47"},
    {"{'buffer': 0, 'byteLength': 48}", "{'buffer': 0, 'byteOffset': 9007199254740992, 'byteLength': 48}",
     PN_ERROR_FORMAT, "bufferViews[0]: bytes 9007199254740992 to"},
    {"{'buffer': 0, 'byteLength': 48}", "{'buffer': 0, 'byteLength': 501}", PN_ERROR_FORMAT,
     "bufferViews[0]: bytes 0 to 501 of buffer 0, which has 500"},
    {"{'buffer': 0, 'byteLength': 48}", "{'buffer': 0, 'byteLength': 48, 'byteStride': 8}", PN_ERROR_FORMAT,
     "elements of 12 bytes do not fit the byteStride 8"},
    {"{'buffer': 0, 'byteLength': 48}", "{'buffer': 0, 'byteLength': 48, 'byteStride': 16}", PN_ERROR_FORMAT,
     "needs bytes 0 to 60"},
    {"{'buffer': 0, 'byteLength': 48}", "{'buffer': 0, 'byteLength': 48, 'byteStride': 256}", PN_ERROR_FORMAT,
     "byteStride: 256"},
    {"'componentType': 5126, 'count': 4", "'componentType': 5130, 'count': 4", PN_ERROR_FORMAT, "componentType 5130"},
    {"'componentType': 5126, 'count': 4", "'count': 4", PN_ERROR_FORMAT, "accessors[0].componentType: is missing"},
    {"'componentType': 5126, 'count': 4", "'componentType': 5126", PN_ERROR_FORMAT, "accessors[0].count: is missing"},
    {"'componentType': 5126, 'count': 4", "'componentType': 5126, 'count': 4294967295", PN_ERROR_FORMAT,
     "accessors[0].count"},
    {"'componentType': 5126, 'count': 4", "'componentType': 5126, 'count': 1e300", PN_ERROR_FORMAT,
     "accessors[0].count"},
    {"'componentType': 5126, 'count': 4", "'componentType': 5126, 'count': 4, 'byteOffset': 4", PN_ERROR_FORMAT,
     "needs bytes 4 to 52"},
    {"'componentType': 5126, 'count': 4", "'componentType': 5126, 'normalized': 1, 'count': 4", PN_ERROR_FORMAT,
     "accessors[0].normalized: expected true or false"},
    {"{'bufferView': 0,", "{'bufferView': 77,", PN_ERROR_INDEX, "accessors[0].bufferView: 77 is out of range"},
    {"'sparse': {'count': 2", "'sparse': {'count': 5", PN_ERROR_FORMAT,
     "accessors[11].sparse.count: 5 is more than the 4"},
    {"'sparse': {'count': 2", "'sparse': {'count': 3", PN_ERROR_FORMAT,
     "accessors[11].sparse.indices: needs bytes 0 to 3"},
    {"'sparse': {'count': 2", "'sparse': {'x': 2", PN_ERROR_FORMAT, "accessors[11].sparse.count: is missing"},
    {"{'bufferView': 11, 'componentType': 5121}", "{'bufferView': 11, 'componentType': 5126}", PN_ERROR_FORMAT,
     "accessors[11].sparse.indices: componentType 5126"},
    {"'values': {'bufferView': 12}", "'values': {}", PN_ERROR_FORMAT, "accessors[11].sparse: indices and values"},
    {"'count': 4, 'type': 'VEC3', 'sparse'", "'count': 3, 'type': 'VEC3', 'sparse'", PN_ERROR_INDEX,
     "sparse index number 1 is 3"},
};

static void everyFaultHasItsPlace(void **context) {
  (void)context;
  Bytes bytes;
  fillEverything(&bytes);
  assert_int_equal(parse(s_everything, &bytes), PN_OK);
  for (size_t i = 0; i < sizeof(s_faults) / sizeof(s_faults[0]); ++i) {
    char *json = replaced(s_everything, s_faults[i].from, s_faults[i].to);
    pnResult result = parse(json, &bytes);
    free(json);
    if (result != s_faults[i].result || strstr(pnGetMessage(), s_faults[i].words) == NULL) {
      fail_msg("'%s' gives %d '%s', expected %d with '%s'", s_faults[i].to, result,
               result != PN_OK ? pnGetMessage() : "", s_faults[i].result, s_faults[i].words);
    }
    assert_int_equal(pnGetByteCount(), 0);
  }
}

/* Bytes that are wrong: where in the buffer, what to write there, and the words. */
static void everyNumberIsLookedAt(void **context) {
  (void)context;
  static const struct {
    size_t offset;
    float number;
    const char *words;
  } numbers[] = {{20, NAN, "POSITION: accessor 0: component 2 of element 1 is NaN"},
                 {76, INFINITY, "WEIGHTS_0: accessor 3: component 0 of element 0"},
                 {76, -1.0f, "vertex 0 has a negative weight"},
                 {148, NAN, "targets[0].POSITION: the displacement of vertex 0"},
                 {480, -INFINITY, "targets[1].POSITION: the displacement of vertex 1"},
                 {188, NAN, "inverseBindMatrices: accessor 5: component 0"},
                 {200, 0.5f, "inverseBindMatrices: accessor 5: the last row of matrix 0"},
                 {320, 3.0f, "samplers[0].input: accessor 6: key 2 is at 2 s"},
                 {316, NAN, "samplers[0].input: accessor 6: component 0"},
                 {340, NAN, "samplers[0].output: accessor 7: component 0 of element 1"}};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
    Bytes bytes;
    fillEverything(&bytes);
    memcpy(bytes.data + numbers[i].offset, &numbers[i].number, 4);
    assert_int_not_equal(parse(s_everything, &bytes), PN_OK);
    if (strstr(pnGetMessage(), numbers[i].words) == NULL) fail_msg("'%s' lacks '%s'", pnGetMessage(), numbers[i].words);
  }
  Bytes bytes;
  fillEverything(&bytes);
  bytes.data[50] = 4;
  assert_int_equal(parse(s_everything, &bytes), PN_ERROR_INDEX);
  assert_non_null(strstr(pnGetMessage(), "indices: accessor 1: index number 1 is 4, but there are 4 vertices"));
  fillEverything(&bytes);
  bytes.data[473] = 1;
  assert_int_equal(parse(s_everything, &bytes), PN_ERROR_INDEX);
}

/* A weight that vanishes beside another is none: what is left has no gap in it. */
static void weightsThatVanish(void **context) {
  (void)context;
  Bytes bytes;
  fillEverything(&bytes);
  const float weights[4] = {1e-20f, 1e30f, 0, 0};
  memcpy(bytes.data + 76 + 16, weights, sizeof(weights));
  char *text = makeText(s_everything, &bytes);
  pnAnimFile *file = NULL;
  assert_int_equal(pnParseAnimFile(text, strlen(text), NULL, &file), PN_OK);
  assert_int_equal(file->bodies[0].jointIndices[4], 1);
  assert_true(file->bodies[0].jointWeights[4] == 1.0f && file->bodies[0].jointWeights[5] == 0.0f);
  pnFreeAnimFile(file);
  free(text);
}

/* Extensions that are only used are named; those that do not touch geometry are not worth a word. */
static char s_log[1024];
static void remember(void *user, pnLogLevel level, const char *text) {
  (void)user, (void)level;
  snprintf(s_log + strlen(s_log), sizeof(s_log) - strlen(s_log), "%s\n", text);
}

static void extensionsAreNamed(void **context) {
  (void)context;
  Bytes bytes;
  fillEverything(&bytes);
  char *json = replaced(
      s_everything, "'scene': 0",
      "'scene': 0, 'extensionsUsed': ['KHR_materials_unlit', 'EXT_mesh_gpu_instancing', 'KHR_texture_transform'],"
      "'extensionsRequired': ['KHR_texture_transform']");
  s_log[0] = 0;
  pnSetLogFcn(remember, NULL);
  assert_int_equal(parse(json, &bytes), PN_OK);
  pnSetLogFcn(NULL, NULL);
  free(json);
  assert_non_null(strstr(s_log, "EXT_mesh_gpu_instancing"));
  assert_null(strstr(s_log, "KHR_materials_unlit"));
  assert_null(strstr(s_log, "KHR_texture_transform"));
}

/* ---------------------------------------------------------------- much from little */

static void longChainsNeedNoStack(void **context) {
  (void)context;
  enum { COUNT = 200000 };
  char *json = malloc(COUNT * 24 + 200), *out = json;
  out += sprintf(out, "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [");
  for (int i = 0; i < COUNT; ++i) out += sprintf(out, "{\"children\":[%d]},", i + 1);
  out += sprintf(out, "{}]}");
  pnAnimFile *file = NULL;
  pnAnimState *state = NULL;
  assert_int_equal(pnParseAnimFile(json, strlen(json), NULL, &file), PN_OK);
  assert_int_equal(pnCreateAnimState(file, &state), PN_OK);
  pnDestroyAnimState(state);
  pnFreeAnimFile(file);

  /* The same bitten by its own tail. */
  sprintf(out - 4, "{\"children\":[0]}]}");
  assert_int_equal(pnParseAnimFile(json, strlen(json), NULL, &file), PN_ERROR_FORMAT);
  free(json);

  /* And values inside of values. */
  json = malloc(100001);
  memset(json, '[', 100000);
  json[100000] = 0;
  assert_int_equal(pnParseAnimFile(json, 100000, NULL, &file), PN_ERROR_FORMAT);
  free(json);
}

static void smallFilesCannotAskForMuch(void **context) {
  (void)context;
  pnAnimFile *file = NULL;
  /* Nine hundred million vertices at zero. */
  static const char many[] =
      "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"mesh\": 0}], \"meshes\": [{\"primitives\": [{\"attributes\": "
      "{\"POSITION\": 0}}]}],"
      "\"accessors\": [{\"componentType\": 5126, \"count\": 900000000, \"type\": \"VEC3\"}]}";
  testExpectFailure(pnParseAnimFile(many, sizeof(many) - 1, NULL, &file), PN_ERROR_COUNT,
                    "accessor 0 has 900000000 elements and no data|cannot mean so many");
  /* As many zeros as the file has bytes are let through, more are not. */
  for (int count = 399; count <= 402; count += 3) {
    char text[401];
    int head = (int)(strstr(many, "900000000") - many);
    int length = snprintf(text, sizeof(text), "%.*s%d, \"type\": \"VEC3\"}]}", head, many, count);
    memset(text + length, ' ', (size_t)(400 - length));
    pnResult result = pnParseAnimFile(text, 400, NULL, &file);
    assert_int_equal(result, count > 400 ? PN_ERROR_COUNT : PN_OK);
    pnFreeAnimFile(file);
  }

  /* One list of corners used twenty thousand times, each without vertices of its own: less zeros than bytes in each. */
  enum { PRIMITIVES = 20000 };
  char *json = malloc(PRIMITIVES * 64 + 1000), *out = json;
  out +=
      sprintf(out,
              "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"mesh\": 0}], \"accessors\": ["
              "{\"componentType\": 5126, \"count\": 300, \"type\": \"VEC3\"},"
              "{\"componentType\": 5125, \"count\": 300000, \"type\": \"SCALAR\"}], \"meshes\": [{\"primitives\": [");
  for (int i = 0; i < PRIMITIVES; ++i)
    out += sprintf(out, "%s{\"attributes\":{\"POSITION\":0},\"indices\":1}", i > 0 ? "," : "");
  sprintf(out, "]}]}");
  assert_int_equal(pnParseAnimFile(json, strlen(json), NULL, &file), PN_ERROR_COUNT);
  free(json);
  assert_int_equal(pnGetByteCount(), 0);
}

/* One file named ten thousand times, also by other spellings, is one file: in memory, and for what the input may ask for. */
static void oneFileIsReadOnce(void **context) {
  (void)context;
  enum { TIMES = 10000, BYTES = 1 << 20 };
  static const char *const spellings[4] = {"pinch_once.bin", "./pinch_once.bin", ".//./pinch%5fonce.bin",
                                           "%2e/pinch_once.bi%6E"};
  FILE *data = fopen("pinch_once.bin", "wb"), *document = fopen("pinch_once.gltf", "wb");
  assert_true(data && document);
  void *zeros = calloc(BYTES, 1);
  assert_int_equal(fwrite(zeros, 1, BYTES, data), BYTES);
  free(zeros);
  fputs("{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [", document);
  for (int i = 0; i < TIMES; ++i)
    fprintf(document, "%s{\"byteLength\": 36, \"uri\": \"%s\"}", i > 0 ? "," : "", spellings[i % 4]);
  fputs("]}", document);
  assert_int_equal(fclose(data) | fclose(document), 0);
  pnAnimFile *file = NULL;
  const TestWatch *watch = testWatchMemory();
  pnResult result = pnLoadAnimFile("pinch_once.gltf", &file);
  remove("pinch_once.bin");
  remove("pinch_once.gltf");
  testExpectOk(result);
  pnFreeAnimFile(file);
  testExpectOk(pnSetAllocator(NULL, NULL, NULL));
  assert_in_range(watch->most, BYTES, 16 * BYTES);
}

static void emptyFileSaysSo(void **context) {
  (void)context;
  pnAnimFile *file;
  testExpectFailure(pnParseAnimFile("", 0, "walk.glb", &file), PN_ERROR_FORMAT, "walk.glb|empty|glTF");
  assert_null(file);
}

/* ---------------------------------------------------------------- memory that runs out */

static pnResult parseAndPose(void *text) {
  pnAnimFile *file = NULL;
  pnAnimState *state = NULL;
  pnResult result = pnParseAnimFile(text, strlen(text), NULL, &file);
  if (result == PN_OK) result = pnCreateAnimState(file, &state);
  if (result != PN_OK) assert_null(state);
  pnDestroyAnimState(state);
  pnFreeAnimFile(file);
  return result;
}

static void memoryMayEndAnywhere(void **context) {
  (void)context;
  Bytes bytes;
  fillEverything(&bytes);
  /* Once more than twice the same mesh with a scale, so that every way to place it is passed. */
  char *json =
      replaced(s_everything, "{'name': 'plain', 'mesh': 0}",
               "{'mesh': 0, 'scale': [1, 2, 1]}, {'mesh': 1, 'scale': [2, 2, 2]}, {'mesh': 1, 'name': 'plain'}");
  char *more = replaced(json, "}]}],\n'animations'",
                        "}]}, {'primitives': [{'attributes': {'POSITION': 0}, 'indices': 1}]}],\n'animations'");
  char *text = makeText(more, &bytes);
  for (int andAfter = 0; andAfter < 2; ++andAfter)
    printf("%u allocations, each refused once\n", testEveryAllocationFailure(parseAndPose, text, andAfter, false));
  free(text);
  free(more);
  free(json);
}

/* Points whose hashes are all the same (gltf_weld.c): h = mix(mix(0, x << 32 | y), z) with mix(h, b) = m ^ m >> 29 and m =
 * (h ^ b) * K. The product with K is undone by its inverse, so that x and y can be chosen for an m with given high bits,
 * and z then takes back the low ones. */
static void fillColliding(float *points, uint32_t count) {
  const uint64_t k = 0x9E3779B97F4A7C15u;
  uint64_t inverse = k;
  for (int i = 0; i < 6; ++i) inverse *= 2 - k * inverse; // Newton: each step doubles the good bits
  for (uint32_t n = 0, low = 1; n < count; ++low) {
    uint64_t product = (uint64_t)0x12345678 << 32 | low * 2654435761u, xy = product * inverse;
    uint32_t bits[3] = {(uint32_t)(xy >> 32), (uint32_t)xy, (uint32_t)(product ^ product >> 29) ^ 0x3f800000u};
    float point[3];
    memcpy(point, bits, sizeof(point));
    if (isfinite(point[0]) && isfinite(point[1]) && isfinite(point[2])) memcpy(points + 3 * (size_t)n++, point, 12);
  }
}

static void collidingHashesCostNoMore(void **context) {
  (void)context;
  enum { COUNT = 300000 };
  float *points = malloc(COUNT * 12);
  fillColliding(points, COUNT / 3);
  /* Everything three times: a vertex and its copies, far apart. */
  for (int copy = 1; copy < 3; ++copy) memcpy(points + copy * COUNT, points, COUNT * 4);
  char json[1024];
  snprintf(json, sizeof(json),
           "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"mesh\": 0}], \"meshes\": [{\"primitives\": "
           "[{\"attributes\": {\"POSITION\": 0}}]}], \"buffers\": [{\"byteLength\": %d}], \"bufferViews\": "
           "[{\"buffer\": 0, \"byteLength\": %d}], \"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, "
           "\"count\": %d, \"type\": \"VEC3\"}]}",
           COUNT * 12, COUNT * 12, COUNT);
  uint32_t jsonSize = ((uint32_t)strlen(json) + 3) & ~3u, size = 28 + jsonSize + COUNT * 12;
  uint32_t head[] = {0x46546C67, 2, size, jsonSize, 0x4E4F534A}, more[] = {COUNT * 12, 0x004E4942};
  uint8_t *glb = malloc(size);
  memset(glb, ' ', size);
  memcpy(glb, head, sizeof(head));
  memcpy(glb + 20, json, strlen(json));
  memcpy(glb + 20 + jsonSize, more, sizeof(more));
  memcpy(glb + 28 + jsonSize, points, COUNT * 12);

  pnAnimFile *file;
  testExpectOk(pnParseAnimFile(glb, size, "collide.glb", &file));
  assert_int_equal(file->bodyCount, 1);
  for (uint32_t v = 0; v < COUNT; ++v) assert_int_equal(file->bodies[0].vertexWeld[v], v % (COUNT / 3));
  pnFreeAnimFile(file);
  free(glb);
  free(points);
}

/* ---------------------------------------------------------------- files made by hand */

static void handmadeFilesAreChecked(void **context) {
  (void)context;
  pnAnimNode nodes[2] = {{.name = "a", .parent = 1, .scale = {1, 1, 1}},
                         {.name = "b", .parent = PN_NONE, .scale = {1, 1, 1}}};
  float time = 0, value[4] = {0, 0, 0, 1};
  pnAnimChannel channel = {
      .node = 0, .path = PN_ANIM_ROTATION, .width = 4, .keyCount = 1, .times = &time, .values = value};
  pnAnimClip clip = {.name = "c", .channels = &channel, .channelCount = 1};
  pnAnimFile file = {.name = "hand", .nodes = nodes, .nodeCount = 2, .clips = &clip, .clipCount = 1};
  pnAnimState *state = NULL;
  assert_int_equal(pnCreateAnimState(&file, &state), PN_OK);
  /* A scale that leaves the range of float is said when it happens. */
  nodes[0].scale[0] = nodes[1].scale[0] = 1e30f;
  assert_int_equal(pnAnimState_Evaluate(state, 0, 0.0), PN_ERROR_NUMBER);
  nodes[0].scale[0] = nodes[1].scale[0] = 1.0f;
  assert_int_equal(pnAnimState_Evaluate(state, 0, 0.0), PN_OK);
  pnDestroyAnimState(state);

  channel.width = 3;
  assert_int_equal(pnCreateAnimState(&file, &state), PN_ERROR_INDEX);
  channel.width = 4, channel.keyCount = 0;
  assert_int_equal(pnCreateAnimState(&file, &state), PN_ERROR_INDEX);
  channel.keyCount = 1, channel.node = 2;
  assert_int_equal(pnCreateAnimState(&file, &state), PN_ERROR_INDEX);
  channel.node = 0, nodes[1].parent = 0;
  assert_int_equal(pnCreateAnimState(&file, &state), PN_ERROR_FORMAT);
  nodes[1].parent = 5;
  assert_int_equal(pnCreateAnimState(&file, &state), PN_ERROR_INDEX);
  nodes[1].parent = PN_NONE;
  pnAnimBody body = {.name = "x", .node = 3, .carrier = PN_NONE, .skin = PN_NONE};
  file.bodies = &body, file.bodyCount = 1;
  assert_int_equal(pnCreateAnimState(&file, &state), PN_ERROR_INDEX);
  pnFreeAnimFile(&file); /* nothing of it is the reader's */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everyFaultHasItsPlace),     cmocka_unit_test(everyNumberIsLookedAt),
      cmocka_unit_test(weightsThatVanish),         cmocka_unit_test(extensionsAreNamed),
      cmocka_unit_test(longChainsNeedNoStack),     cmocka_unit_test(smallFilesCannotAskForMuch),
      cmocka_unit_test(oneFileIsReadOnce),         cmocka_unit_test(emptyFileSaysSo),
      cmocka_unit_test(memoryMayEndAnywhere),      cmocka_unit_test(handmadeFilesAreChecked),
      cmocka_unit_test(collidingHashesCostNoMore),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
