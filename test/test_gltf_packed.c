/* test_gltf_packed.c: views packed by EXT_meshopt_compression come out as they went in; damaged and dishonest ones are refused, by
 * name and place; a file that needs what this build cannot unpack says so and what to do. */
#include "support.h"

#include "gltf_make.h"
#include "pinch/io.h"

#ifdef PN_HAVE_MESHOPT
#include <meshoptimizer.h>

#define CELLS 6u
#define VERTICES ((CELLS + 1) * (CELLS + 1))
#define CORNERS (6 * CELLS * CELLS)

typedef struct Sheet {
  float vertices[VERTICES][4]; /* the fourth is padding: elements of 16 bytes */
  uint32_t corners[CORNERS];
  Bytes bytes;
  size_t vertexBytes, cornerBytes;
} Sheet;

static void makeSheet(Sheet *sheet) {
  memset(sheet, 0, sizeof *sheet);
  for (uint32_t v = 0; v < VERTICES; ++v) {
    sheet->vertices[v][0] = (float)(v % (CELLS + 1));
    sheet->vertices[v][1] = (float)(v / (CELLS + 1));
    sheet->vertices[v][2] = 0.37f * (float)(v * v % 11);
  }
  uint32_t *corner = sheet->corners;
  for (uint32_t cell = 0; cell < CELLS * CELLS; ++cell) {
    uint32_t a = cell / CELLS * (CELLS + 1) + cell % CELLS, b = a + 1, c = a + CELLS + 1, d = c + 1;
    uint32_t six[6] = {a, b, c, b, d, c};
    memcpy(corner, six, sizeof six);
    corner += 6;
  }
  uint8_t packed[2048];
  sheet->vertexBytes = meshopt_encodeVertexBuffer(packed, sizeof packed, sheet->vertices, VERTICES, 16);
  addBytes(&sheet->bytes, packed, sheet->vertexBytes);
  sheet->cornerBytes = meshopt_encodeIndexBuffer(packed, sizeof packed, sheet->corners, CORNERS);
  addBytes(&sheet->bytes, packed, sheet->cornerBytes);
  assert_true(sheet->vertexBytes > 0 && sheet->cornerBytes > 0);
}

/* `count` elements are announced for the vertices, `mode` for the corners. */
static pnResult parse(const Sheet *sheet, uint32_t count, const char *mode, const char *filter, pnAnimFile **outFile) {
  char json[4096];
  snprintf(
      json, sizeof json,
      "{'asset': {'version': '2.0'}, 'extensionsUsed': ['EXT_meshopt_compression'], 'extensionsRequired': "
      "['EXT_meshopt_compression'], 'nodes': [{'mesh': 0}], 'meshes': [{'primitives': [{'attributes': {'POSITION': 0}, "
      "'indices': 1}]}], 'accessors': [{'bufferView': 0, 'componentType': 5126, 'count': %u, 'type': 'VEC3'}, "
      "{'bufferView': 1, 'componentType': 5125, 'count': %u, 'type': 'SCALAR'}], 'buffers': [@, {'byteLength': 4000, "
      "'extensions': {'EXT_meshopt_compression': {'fallback': true}}}], 'bufferViews': [{'buffer': 1, 'byteLength': "
      "%u, "
      "'byteStride': 16, 'extensions': {'EXT_meshopt_compression': {'buffer': 0, 'byteLength': %zu, 'byteStride': 16, "
      "'count': %u, 'mode': 'ATTRIBUTES', 'filter': '%s'}}}, {'buffer': 1, 'byteOffset': 1000, 'byteLength': %u, "
      "'extensions': {'EXT_meshopt_compression': {'buffer': 0, 'byteOffset': %zu, 'byteLength': %zu, 'byteStride': 4, "
      "'count': %u, 'mode': '%s'}}}]}",
      VERTICES, CORNERS, VERTICES * 16, sheet->vertexBytes, count, filter, CORNERS * 4, sheet->vertexBytes,
      sheet->cornerBytes, CORNERS, mode);
  char *text = makeText(json, &sheet->bytes);
  pnResult result = pnParseAnimFile(text, strlen(text), NULL, outFile);
  free(text);
  return result;
}

static void comesOutAsItWentIn(void **state) {
  (void)state;
  Sheet sheet;
  pnAnimFile *file;
  makeSheet(&sheet);
  testExpectOk(parse(&sheet, VERTICES, "TRIANGLES", "NONE", &file));
  assert_int_equal(file->bodies[0].vertexCount, VERTICES);
  for (uint32_t v = 0; v < VERTICES; ++v)
    assert_memory_equal(file->bodies[0].vertices + 3 * v, sheet.vertices[v], 3 * sizeof(float));
  /* triangles may be turned by the packing, never otherwise changed */
  for (uint32_t t = 0; t < CORNERS / 3; ++t) {
    const uint32_t *got = file->bodies[0].triangles + 3 * t, *want = sheet.corners + 3 * t;
    bool same = false;
    for (int k = 0; k < 3; ++k)
      same = same || (got[k] == want[0] && got[(k + 1) % 3] == want[1] && got[(k + 2) % 3] == want[2]);
    assert_true(same);
  }
  pnFreeAnimFile(file);
}

static void refusesDamage(void **state) {
  (void)state;
  Sheet sheet;
  pnAnimFile *file;
  makeSheet(&sheet);
  testExpectFailure(parse(&sheet, 4000000000u, "TRIANGLES", "NONE", &file), PN_ERROR_COUNT, "hostile");
  testExpectFailure(parse(&sheet, VERTICES + 1000, "TRIANGLES", "NONE", &file), PN_ERROR_FORMAT,
                    "bufferViews[0]|damaged");
  testExpectFailure(parse(&sheet, VERTICES, "SQUARES", "NONE", &file), PN_ERROR_FORMAT, "bufferViews[1]|SQUARES");
  testExpectFailure(parse(&sheet, VERTICES, "TRIANGLES", "QUATERNION", &file), PN_ERROR_UNSUPPORTED, "QUATERNION");
  /* every byte in turn: an answer or a refusal, nothing else */
  uint32_t refused = 0;
  for (size_t i = 0; i < sheet.bytes.count; ++i) {
    sheet.bytes.data[i] ^= 0x5a;
    pnResult result = parse(&sheet, VERTICES, "TRIANGLES", "NONE", &file);
    refused += result != PN_OK;
    pnFreeAnimFile(file);
    sheet.bytes.data[i] ^= 0x5a;
  }
  assert_true(refused > 0);
}
#endif

static void saysWhatIsMissing(void **state) {
  (void)state;
#ifndef PN_HAVE_MESHOPT
  Bytes none = {.count = 0};
  pnAnimFile *file;
  char *text = makeText(
      "{'asset': {'version': '2.0'}, 'extensionsUsed': ['EXT_meshopt_compression'], "
      "'extensionsRequired': ['EXT_meshopt_compression']}",
      &none);
  testExpectFailure(pnParseAnimFile(text, strlen(text), NULL, &file), PN_ERROR_UNSUPPORTED,
                    "EXT_meshopt_compression|extensionsRequired[0]|libmeshoptimizer-dev");
  free(text);
  printf("skipped: this build cannot unpack EXT_meshopt_compression (install libmeshoptimizer-dev)\n");
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
#ifdef PN_HAVE_MESHOPT
      cmocka_unit_test(comesOutAsItWentIn), cmocka_unit_test(refusesDamage),
#endif
      cmocka_unit_test(saysWhatIsMissing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
