/* test_gltf_draco.c: primitives packed by KHR_draco_mesh_compression, by Draco's own encoder, are what they were before, vertex by vertex:
 * places, triangles, joints, weights and targets, in the order of the file or in Draco's, exact or on its grid. Damaged and
 * dishonest blocks are refused by place; a block may not ask for memory without end. */
#include "support.h"

#include <math.h>

#include "gltf_make.h"
#include "pinch/io.h"

static void saysWhatIsMissing(void **state) {
  (void)state;
  Bytes none = {.count = 0};
  pnAnimFile *file;
  char *text = makeText(
      "{'asset': {'version': '2.0'}, 'extensionsUsed': ['KHR_draco_mesh_compression'], "
      "'extensionsRequired': ['KHR_draco_mesh_compression']}",
      &none);
  pnResult result = pnParseAnimFile(text, strlen(text), NULL, &file);
#ifdef PN_HAVE_DRACO
  testExpectOk(result);
  pnFreeAnimFile(file);
#else
  testExpectFailure(result, PN_ERROR_UNSUPPORTED,
                    "KHR_draco_mesh_compression|extensionsRequired[0]|libdraco-dev|Blender");
  printf("skipped: this build cannot unpack KHR_draco_mesh_compression (install libdraco-dev)\n");
#endif
  free(text);
}

#ifdef PN_HAVE_DRACO
#include "draco_pack.h"

enum { CELLS = 6, SIDE = CELLS + 1, VERTICES = SIDE * SIDE, TRIANGLES = 2 * CELLS * CELLS };

/* A bent sheet on two joints with a target; no two vertices at one place. */
typedef struct Sheet {
  float positions[VERTICES][3], weights[VERTICES][4], deltas[VERTICES][3];
  uint8_t joints[VERTICES][4];
  uint32_t corners[TRIANGLES][3];
} Sheet;

/* What the file says of it; what is not named is as it should be. */
typedef struct Claim {
  uint32_t vertices, corners, positionId, weightType, view, mode;
  uint32_t bytes;    /* of the block's view */
  uint32_t again;    /* a second primitive: 1 the same again, 2 with other ids */
  const char *extra; /* another attribute that is said to be packed */
} Claim;

static void makeSheet(Sheet *sheet) {
  memset(sheet, 0, sizeof *sheet);
  for (uint32_t v = 0; v < VERTICES; ++v) {
    float x = (float)(v % SIDE), y = (float)(v / SIDE), weight = x / CELLS;
    memcpy(sheet->positions[v], (float[]){x + 0.013f * y, y, 0.37f * (float)(v * v % 11)}, sizeof sheet->positions[v]);
    memcpy(sheet->weights[v], (float[]){1 - weight, weight}, 2 * sizeof(float));
    sheet->joints[v][0] = v % 2, sheet->joints[v][1] = 1 - v % 2;
    memcpy(sheet->deltas[v], (float[]){0, 0, 1 + 0.5f * (float)v}, sizeof sheet->deltas[v]);
  }
  for (uint32_t cell = 0; cell < CELLS * CELLS; ++cell) {
    uint32_t a = cell / CELLS * SIDE + cell % CELLS, b = a + 1, c = a + SIDE, d = c + 1;
    memcpy(sheet->corners[2 * cell], (uint32_t[]){a, b, c, b, d, c}, 6 * sizeof(uint32_t));
  }
}

static DracoMesh meshOf(const Sheet *sheet, bool inOrder, int bits) {
  return (DracoMesh){
      VERTICES, TRIANGLES, sheet->positions[0], sheet->joints[0], sheet->weights[0], sheet->corners[0], inOrder,
      bits,     0};
}

/* The file around a block: joints of 1 byte, corners of 2, a target in bytes of its own. */
static char *makeFile(const uint8_t *block, size_t blockBytes, const Sheet *sheet, const Claim *claim) {
  static Bytes bytes;
  char json[4096], primitive[1024], second[1100] = "";
  bytes.count = 0;
  addBytes(&bytes, sheet->deltas, sizeof sheet->deltas);
  addBytes(&bytes, block, blockBytes);
  snprintf(primitive, sizeof primitive,
           "{'attributes': {'POSITION': 0, 'JOINTS_0': 2, 'WEIGHTS_0': 3}, 'indices': 1, 'mode': %u, 'targets': "
           "[{'POSITION': 4}], 'extensions': {'KHR_draco_mesh_compression': {'bufferView': %u, 'attributes': "
           "{'POSITION': %u, 'JOINTS_0': 1, 'WEIGHTS_0': 2 %s}}}}",
           claim->mode ? claim->mode : 4, claim->view ? claim->view : 1, claim->positionId,
           claim->extra ? claim->extra : "");
  if (claim->again > 0) {
    snprintf(second, sizeof second, ", %s", primitive);
    if (claim->again == 2) memcpy(strstr(second, "'POSITION': 0, 'JOINTS_0': 1"), "'POSITION': 7", 13);
  }
  snprintf(json, sizeof json,
           "{'asset': {'version': '2.0'}, 'extensionsUsed': ['KHR_draco_mesh_compression'], 'extensionsRequired': "
           "['KHR_draco_mesh_compression'], 'nodes': [{'mesh': 0, 'skin': 0}, {}, {}], 'skins': [{'joints': [1, 2]}], "
           "'meshes': [{'primitives': [%s%s]}], 'accessors': ["
           "{'componentType': 5126, 'count': %u, 'type': 'VEC3'}, {'componentType': 5123, 'count': %u, 'type': "
           "'SCALAR'}, {'componentType': 5121, 'count': %u, 'type': 'VEC4'}, {'componentType': %u, 'count': %u, "
           "'type': 'VEC4'}, {'bufferView': 0, 'componentType': 5126, 'count': %u, 'type': 'VEC3'}], 'buffers': [@], "
           "'bufferViews': [{'buffer': 0, 'byteLength': %zu}, {'buffer': 0, 'byteOffset': %zu, 'byteLength': %zu}]}",
           primitive, second, claim->vertices ? claim->vertices : VERTICES,
           claim->corners ? claim->corners : 3 * TRIANGLES, claim->vertices ? claim->vertices : VERTICES,
           claim->weightType ? claim->weightType : 5126, claim->vertices ? claim->vertices : VERTICES, VERTICES,
           sizeof sheet->deltas, sizeof sheet->deltas, claim->bytes ? claim->bytes : blockBytes);
  return makeText(json, &bytes);
}

static pnResult parse(const uint8_t *block, size_t blockBytes, const Sheet *sheet, const Claim *claim,
                      pnAnimFile **out) {
  char *text = makeFile(block, blockBytes, sheet, claim);
  pnResult result = pnParseAnimFile(text, strlen(text), NULL, out);
  free(text);
  return result;
}

/* The vertex of the sheet that a vertex of the file was: the nearest; at most `step` away in each number. */
static uint32_t originalOf(const Sheet *sheet, const float *place, float step) {
  uint32_t best = VERTICES;
  for (uint32_t v = 0; v < VERTICES; ++v) {
    bool near = true;
    for (int k = 0; k < 3; ++k) near = near && fabsf(sheet->positions[v][k] - place[k]) <= step;
    if (!near) continue;
    assert_int_equal(best, VERTICES); /* one only */
    best = v;
  }
  assert_true(best < VERTICES);
  return best;
}

static void expectBody(const pnAnimBody *body, const Sheet *sheet, bool inOrder, float step) {
  uint32_t original[VERTICES], seen[VERTICES] = {0};
  assert_int_equal(body->vertexCount, VERTICES);
  assert_int_equal(body->triangleCount, TRIANGLES);
  assert_int_equal(body->influenceCount, 4);
  for (uint32_t v = 0; v < VERTICES; ++v) {
    original[v] = originalOf(sheet, body->vertices + 3 * v, step);
    assert_true(!inOrder || original[v] == v);
    assert_int_equal(seen[original[v]]++, 0);
    /* joints with a weight, whatever their order */
    for (int k = 0; k < 2; ++k) {
      float want = sheet->weights[original[v]][k], got = 0;
      for (int j = 0; j < 4; ++j)
        if (body->jointIndices[4 * v + j] == sheet->joints[original[v]][k]) got += body->jointWeights[4 * v + j];
      assert_float_equal(got, want, 0);
    }
  }
  /* each triangle once, turned perhaps */
  for (uint32_t t = 0; t < TRIANGLES; ++t) {
    uint32_t found = 0;
    for (uint32_t i = inOrder ? t : 0; i < (inOrder ? t + 1 : TRIANGLES); ++i) {
      const uint32_t *got = body->triangles + 3 * i, *want = sheet->corners[t];
      for (int k = 0; k < 3; ++k)
        found += original[got[k]] == want[0] && original[got[(k + 1) % 3]] == want[1] &&
                 original[got[(k + 2) % 3]] == want[2];
    }
    assert_int_equal(found, 1);
  }
  /* targets are in the order of the unpacked vertices, as they stand in the file */
  assert_int_equal(body->targetCount, 1);
  assert_int_equal(body->targets[0].count, VERTICES);
  assert_memory_equal(body->targets[0].deltas, sheet->deltas, sizeof sheet->deltas);
}

static void comesOutAsItWentIn(void **state) {
  (void)state;
  static const struct {
    bool inOrder;
    int bits;
  } cases[] = {{true, 0}, {false, 0}, {true, 14}, {false, 14}, {false, 11}};
  Sheet sheet;
  makeSheet(&sheet);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    uint8_t block[4096];
    DracoMesh mesh = meshOf(&sheet, cases[i].inOrder, cases[i].bits);
    size_t count = packDraco(&mesh, block, sizeof block);
    assert_true(count > 0 && count < 3000);
    /* half a step of the grid over the largest side, and its rounding */
    float step = cases[i].bits > 0 ? 0.501f * 6.1f / (float)((1 << cases[i].bits) - 1) : 0;
    for (uint32_t again = 0; again < 2; ++again) {
      pnAnimFile *file;
      testExpectOk(parse(block, count, &sheet, &(Claim){.again = again}, &file));
      if (again == 0) expectBody(&file->bodies[0], &sheet, cases[i].inOrder, step);
      /* the same vertices again, with the same triangles twice */
      assert_int_equal(file->bodies[0].triangleCount, TRIANGLES * (again + 1));
      assert_int_equal(file->bodies[0].vertexCount, VERTICES);
      pnFreeAnimFile(file);
    }
  }
}

static void refusesWhatDoesNotFit(void **state) {
  (void)state;
  static const struct {
    Claim claim;
    pnResult result;
    const char *words;
  } cases[] = {
      {{.vertices = VERTICES + 1}, PN_ERROR_FORMAT, "bufferView 1|49 vertices|say 72 and 50"},
      {{.vertices = VERTICES - 1}, PN_ERROR_FORMAT, "primitives[0].extensions|49 vertices|say 72 and 48"},
      {{.corners = 3 * TRIANGLES + 3}, PN_ERROR_FORMAT, "72 triangles|say 73 and 49"},
      {{.corners = 3 * TRIANGLES - 3}, PN_ERROR_FORMAT, "72 triangles|say 71 and 49"},
      {{.corners = 3 * TRIANGLES - 1}, PN_ERROR_FORMAT, "215 corners"},
      {{.positionId = 9}, PN_ERROR_FORMAT, "no attribute with the id 9"},
      {{.positionId = 2}, PN_ERROR_FORMAT, "attribute 2 has 4 components, expected 3"},
      {{.weightType = 5125}, PN_ERROR_FORMAT, "componentType 5125"},
      {{.view = 2}, PN_ERROR_INDEX, "bufferView"},
      {{.mode = 5}, PN_ERROR_UNSUPPORTED, "strips"},
      {{.bytes = 40}, PN_ERROR_FORMAT, "damaged"},
      {{.bytes = 5}, PN_ERROR_FORMAT, "no Draco block"},
      {{.bytes = 100000}, PN_ERROR_FORMAT, "bufferViews[1]"},
      {{.again = 2}, PN_ERROR_FORMAT, "primitives[1]|accessor 0 is packed"},
      {{.extra = ", 'JOINTS_1': 1"}, PN_ERROR_FORMAT, "JOINTS_1 is no attribute of the primitive"},
  };
  Sheet sheet;
  makeSheet(&sheet);
  for (int inOrder = 0; inOrder < 2; ++inOrder) {
    uint8_t block[4096];
    DracoMesh mesh = meshOf(&sheet, inOrder, 0);
    size_t count = packDraco(&mesh, block, sizeof block);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
      pnAnimFile *file;
      testExpectFailure(parse(block, count, &sheet, &cases[i].claim, &file), cases[i].result, cases[i].words);
    }
    /* another version, and points instead of triangles */
    pnAnimFile *file;
    block[6] = 1;
    testExpectFailure(parse(block, count, &sheet, &(Claim){0}, &file), PN_ERROR_FORMAT, "format 2.1, expected 2.2");
    block[6] = 2, block[7] = 0;
    testExpectFailure(parse(block, count, &sheet, &(Claim){0}, &file), PN_ERROR_FORMAT, "points");
    block[7] = 1, block[8] = 7;
    testExpectFailure(parse(block, count, &sheet, &(Claim){0}, &file), PN_ERROR_FORMAT, "unknown number 7");
  }
}

/* Found by fuzzing: without places there is nothing to see, packed or not. */
static void leavesOutWhatHasNoPlaces(void **state) {
  (void)state;
  Bytes none = {.count = 0};
  pnAnimFile *file;
  char *text = makeText(
      "{'asset': {'version': '2.0'}, 'nodes': [{'mesh': 0}], 'meshes': [{'primitives': [{'attributes': {}, "
      "'indices': 0, 'extensions': {'KHR_draco_mesh_compression': {'bufferView': 0, 'attributes': {}}}}]}]}",
      &none);
  testExpectOk(pnParseAnimFile(text, strlen(text), NULL, &file));
  assert_int_equal(file->bodyCount, 0);
  pnFreeAnimFile(file);
  free(text);
}

/* Every byte in turn, and every end: an answer or a refusal, nothing else. */
static void survivesDamage(void **state) {
  (void)state;
  Sheet sheet;
  makeSheet(&sheet);
  for (int kind = 0; kind < 3; ++kind) {
    uint8_t block[4096];
    DracoMesh mesh = meshOf(&sheet, kind == 0, kind == 2 ? 11 : 0);
    size_t count = packDraco(&mesh, block, sizeof block);
    uint32_t refused = 0;
    for (size_t i = 0; i < count; ++i) {
      static const uint8_t masks[] = {0x5a, 0xff, 0x80, 0x01};
      for (size_t m = 0; m < sizeof masks; ++m) {
        pnAnimFile *file = NULL;
        block[i] ^= masks[m];
        refused += parse(block, count, &sheet, &(Claim){0}, &file) != PN_OK;
        block[i] ^= masks[m];
        pnFreeAnimFile(file);
      }
      pnAnimFile *file = NULL;
      refused += i > 0 && parse(block, i, &sheet, &(Claim){0}, &file) != PN_OK;
      pnFreeAnimFile(file);
    }
    assert_true(refused > count / 4);
  }
}

/* A flat sheet of places alone, with attributes of zeros; answers the block's bytes. */
static size_t packZeros(uint32_t side, int fillers, bool inOrder, uint8_t *out, size_t room) {
  static float positions[64 * 64][3];
  static uint32_t corners[2 * 63 * 63][3];
  for (uint32_t v = 0; v < side * side; ++v)
    memcpy(positions[v], (float[]){(float)(v % side), (float)(v / side), 0}, sizeof positions[v]);
  uint32_t count = 0;
  for (uint32_t a = 0; a + side < side * side; ++a) {
    if (a % side == side - 1) continue;
    memcpy(corners[count], (uint32_t[]){a, a + 1, a + side, a + 1, a + side + 1, a + side}, 6 * sizeof(uint32_t));
    count += 2;
  }
  DracoMesh mesh = {side * side, count, positions[0], NULL, NULL, corners[0], inOrder, 8, fillers};
  return packDraco(&mesh, out, room);
}

static pnResult parseZeros(const uint8_t *block, size_t count, uint32_t vertices, uint32_t triangles) {
  static Bytes bytes;
  char json[1024];
  pnAnimFile *file = NULL;
  bytes.count = 0;
  addBytes(&bytes, block, count);
  snprintf(
      json, sizeof json,
      "{'asset': {'version': '2.0'}, 'extensionsRequired': ['KHR_draco_mesh_compression'], 'nodes': [{'mesh': 0}], "
      "'meshes': [{'primitives': [{'attributes': {'POSITION': 0}, 'indices': 1, 'extensions': "
      "{'KHR_draco_mesh_compression': {'bufferView': 0, 'attributes': {'POSITION': 0}}}}]}], 'accessors': "
      "[{'componentType': 5126, 'count': %u, 'type': 'VEC3'}, {'componentType': 5125, 'count': %u, 'type': "
      "'SCALAR'}], 'buffers': [@], 'bufferViews': [{'buffer': 0, 'byteLength': %zu}]}",
      vertices, 3 * triangles, count);
  char *text = makeText(json, &bytes);
  pnResult result = pnParseAnimFile(text, strlen(text), NULL, &file);
  pnFreeAnimFile(file);
  free(text);
  return result;
}

/* Few bytes for many triangles are read; a few kilobytes that would be hundreds of megabytes are refused before they are taken. */
static void refusesBombs(void **state) {
  (void)state;
  uint8_t block[4000];
  size_t count = packZeros(64, 0, false, block, sizeof block);
  assert_true(count > 0 && count < 4096); /* fewer bytes than vertices */
  testExpectOk(parseZeros(block, count, 64 * 64, 2 * 63 * 63));
  /* as many numbers as the reader's memory is limited to, in 1600 vertices of 60 x 100: 115 MB while it unpacks */
  count = packZeros(40, 60, false, block, sizeof block);
  testExpectFailure(parseZeros(block, count, 40 * 40, 2 * 39 * 39), PN_ERROR_FORMAT, "bytes of memory");
  /* 400 000 triangles in tables for 255 attributes, announced and nothing more; the numbers are 7 bits a byte, the low ones first */
  uint8_t announced[] = {'D', 'R',  'A',  'C',  'O',  2,    2,    1,   1, 0, 0,
                         0,   0xC0, 0x9A, 0x0C, 0x80, 0xB5, 0x18, 255, 0, 0, 0};
  testExpectFailure(parseZeros(announced, sizeof announced, 200000, 400000), PN_ERROR_FORMAT, "bytes of memory");
  announced[18] = 0;
  testExpectFailure(parseZeros(announced, sizeof announced, 200000, 400000), PN_ERROR_FORMAT, "damaged");
  /* and accessors that ask for more than the reader gives any file of this size */
  testExpectFailure(parseZeros(announced, sizeof announced, 200000, 400000000), PN_ERROR_COUNT, "hostile");
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
#ifdef PN_HAVE_DRACO
      cmocka_unit_test(comesOutAsItWentIn),       cmocka_unit_test(refusesWhatDoesNotFit),
      cmocka_unit_test(survivesDamage),           cmocka_unit_test(refusesBombs),
      cmocka_unit_test(leavesOutWhatHasNoPlaces),
#endif
      cmocka_unit_test(saysWhatIsMissing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
