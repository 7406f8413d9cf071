/* test_io_mesh.c: small files written by hand: what each format allows, and what each mistake is answered with. */
#include "support.h"

#include "pinch/io.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- what is accepted */

static pnMeshFile parse(const char *name, const char *text) {
  pnMeshFile file;
  testExpectOk(pnParseMeshFile(text, strlen(text), name, &file));
  return file;
}

static void expectTriangles(const pnMeshFile *file, uint32_t count, const uint32_t *corners) {
  assert_int_equal(file->triangleCount, count);
  for (uint32_t i = 0; i < 3 * count; ++i) assert_int_equal(file->triangles[i], corners[i]);
}

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

static void testObjForms(void **state) {
  (void)state;
  static const uint32_t square[] = {0, 1, 2, 0, 2, 3};
  static const char *texts[] = {
      SQUARE "f 1 2 3 4\n", SQUARE "f 1/1 2/2 3/3 4/4", SQUARE "f 1//1 2//1 3//1 4//1\n",
      SQUARE "f 1/1/1 2/2/1 3/3/1 4/4/1\n", SQUARE "f 1// 2// 3// 4//\n", SQUARE "f 1/ 2/ 3/ 4/\n",
      SQUARE "f -4 -3 -2 -1\n", SQUARE "f +1 -3 3 -1 # a comment\n", "f 1 2 3 4\n" SQUARE, /* vertices may come later */
      "v 0 0 0\r\nv 1 0 0\r\nv 1 1 0\r\nv 0 1 0\r\nf 1 2 3 4\r\n", "v 0 0 0\rv 1 0 0\rv 1 1 0\rv 0 1 0\rf 1 2 3 4",
      SQUARE "f 1 2 \\\n 3 4\n", SQUARE "f 1 2 3\\\r\n4\n", SQUARE "f 1 2 3 4 \\\n", /* joined with nothing */
      /* a comment ends with its line, whatever its last character is, behind words that count and words that do not */
      "v 0 0 0 # C:\\a\\\nv 1 0 0\nvn 0 0 1 # C:\\a\\\nv 1 1 0\nusemtl x#y # \\\nv 0 1 0\nf 1 2 3 # \\\nf 1 3 4\n",
      "\xEF\xBB\xBF# mark \\\n" SQUARE "fo 1 2 3 4\n",
      "# x\n\n\t mtllib a.mtl\nv 0 0 0 1\nv 1 0 0 0.5 0.5 0.5\nv 1 1 0 nan nan nan\nv 0 1 0 1 1 1 1\nvn 0 0 1\nvt 0 0\n"
      "usemtl a\ns off\nl 1 2\np 1\nf 1 2 3 4\n",
      "4 1\n" SQUARE "f 1 2 3 4\n", /* counts in front, and true */
  };
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    pnMeshFile file = parse("folder.x/square.obj", texts[i]);
    assert_int_equal(file.vertexCount, 4);
    expectTriangles(&file, 2, square);
    assert_int_equal(file.groupCount, 0);
    assert_null(file.triangleGroups);
    assert_string_equal(file.name, "square");
    assert_true(file.vertices[6] == 1 && file.vertices[7] == 1 && file.vertices[8] == 0);
    pnFreeMeshFile(&file);
  }
}

/* Text that somebody left between the statements, and a lost line break: read, with a warning that names the line. */
static char s_warnings[4096];

static void noteWarning(void *user, pnLogLevel level, const char *text) {
  (void)user;
  if (level == PN_LOG_WARNING)
    snprintf(s_warnings + strlen(s_warnings), sizeof(s_warnings) - strlen(s_warnings), "%s|", text);
}

static void testStrayText(void **state) {
  (void)state;
  static const uint32_t square[] = {0, 1, 2, 0, 2, 3};
  static const struct {
    const char *name, *text, *warnings;
  } cases[] = {
      {"a.obj", "File exported by modeller 2.3\n" SQUARE "f 1 2 3 4\n",
       "a.obj: line 1: 'File' is no statement of OBJ; the line is skipped|"},
      {"a.obj", SQUARE "\nFile body.max from 7 May\nf 1 2 3 4\nEnd\n",
       "a.obj: line 6: 'File' is no statement of OBJ; the line is skipped|a.obj: line 8: 'End' is no statement of OBJ; "
       "the line is skipped|"},
      {"a.obj", "a b\na b\na b\na b\na b\na b\na b\na b\na b\na b\n" SQUARE "f 1 2 3 4\n",
       "a.obj: line 1: 'a' is|a.obj: line 8: 'a' is|a.obj: 2 more lines"},
      {"a.off", "OFF4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
       "a.off: line 1: the line break after 'OFF' is missing|"},
      {"a.ext", "# x\nCOFF4 1\n0 0 0 1 1 1 1\n1 0 0 1 1 1 1\n1 1 0 1 1 1 1\n0 1 0 1 1 1 1\n4 0 1 2 3\n",
       "a.ext: line 2: the line break after 'COFF' is missing|"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    s_warnings[0] = 0;
    pnSetLogFcn(noteWarning, NULL);
    pnMeshFile file = parse(cases[i].name, cases[i].text);
    pnSetLogFcn(NULL, NULL);
    assert_int_equal(file.vertexCount, 4);
    expectTriangles(&file, 2, square);
    assert_true(file.vertices[6] == 1 && file.vertices[7] == 1 && file.vertices[8] == 0);
    pnFreeMeshFile(&file);
    /* each of the words in turn, in their order */
    char words[512], *at = s_warnings;
    snprintf(words, sizeof(words), "%s", cases[i].warnings);
    for (char *word = strtok(words, "|"); word; word = strtok(NULL, "|")) {
      at = strstr(at, word);
      if (!at) fail_msg("'%s' is not in: %s", word, s_warnings);
    }
  }
}

/* Negative numbers count back from the vertices so far, not from the last of the file. */
static void testObjRelative(void **state) {
  (void)state;
  static const uint32_t expected[] = {0, 1, 2, 3, 4, 5};
  pnMeshFile file = parse("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 0 0 1\nv 1 0 1\nv 0 1 1\nf -3 -2 -1\n");
  expectTriangles(&file, 2, expected);
  pnFreeMeshFile(&file);
}

static void testObjGroups(void **state) {
  (void)state;
  pnMeshFile file =
      parse("a.obj", SQUARE
            "f 1 2 3\ng left arm\nf 1 2 4\nf 1 3 4\no empty\ng right\nf 2 3 4\n  g   left arm  \nf 1 2 3 4\n"
            "g\nf 1 2 3\n");
  static const uint32_t groups[] = {0, 1, 1, 2, 1, 1, 0};
  assert_int_equal(file.groupCount, 3);
  assert_string_equal(file.groupNames[0], "default");
  assert_string_equal(file.groupNames[1], "left arm");
  assert_string_equal(file.groupNames[2], "right");
  assert_int_equal(file.triangleCount, 7);
  assert_memory_equal(file.triangleGroups, groups, sizeof(groups));
  pnFreeMeshFile(&file);
  // Names alone, without a triangle, are no groups.
  file = parse("a.obj", "o Cube\n" SQUARE);
  assert_int_equal(file.groupCount, 0);
  assert_int_equal(file.vertexCount, 4);
  pnFreeMeshFile(&file);
}

#define POINTS "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"

static void testOffForms(void **state) {
  (void)state;
  static const uint32_t square[] = {0, 1, 2, 0, 2, 3};
  static const char *texts[] = {
      "OFF\n4 1 0\n" POINTS "4 0 1 2 3\n",
      "OFF 4 1 0\n" POINTS "4 0 1 2 3",
      "4 1 0\n" POINTS "4 0 1 2 3\n", /* the word may be missing */
      "OFF\n4 1\n" POINTS "4 0 1 2 3\n",
      "# first\nOFF # here\n\n4 1 4 # counts\n# v\n" POINTS "\n4 0 1 2 3 # f\n\n# end\n",
      "OFF\n4 1 0\n" POINTS "4 0 1 2 3 0.5 0.5 0.5 1\n",
      "OFF\n4 1 0\n" POINTS "4 0 1 2 3 255 0 0\n",
      "OFF\n4 1 0\n" POINTS "4 0 1 2 3 7\n",
      "COFF\n4 1 0\n0 0 0 255 0 0 255\n1 0 0 0 0 0 1\n1 1 0 0 0 0 1\n0 1 0 0 0 0 1\n4 0 1 2 3\n",
      "NOFF\n4 1 0\n0 0 0 nan nan nan\n1 0 0 0 0 1\n1 1 0 0 0 1\n0 1 0 0 0 1\n4 0 1 2 3\n",
      "STCNOFF\n4 1 0\n0 0 0 0 0 1 1 1 1 1 0 0\n1 0 0 0 0 1 1 1 1 1 0 0\n1 1 0 0 0 1 1 1 1 1 0 0\n0 1 0 0 0 1 1 1 1 1 "
      "0 0\n"
      "4 0 1 2 3\n",
      "OFF\r\n4 3 0\r\n0 0 0\r\n1 0 0\r\n1 1 0\r\n0 1 0\r\n1 0\r\n2 0 1\r\n4 0 1 2 3\r\n", /* a point and a segment */
  };
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    pnMeshFile file = parse("square.off", texts[i]);
    assert_int_equal(file.vertexCount, 4);
    expectTriangles(&file, 2, square);
    pnFreeMeshFile(&file);
  }
}

static void testStlText(void **state) {
  (void)state;
  static const char text[] =
      "solid one\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n   vertex 0 1 0\n  endloop\n"
      " endfacet\nendsolid one\n"
      "SOLID two of them\nFACET NORMAL nan -nan(ind) 1 OUTER LOOP VERTEX 0 0 1 VERTEX 1 0 1 VERTEX 0 1 1 ENDLOOP "
      "ENDFACET\n"
      "facet normal 0 0 0\nouter loop\nvertex 0 0 2\nvertex 0 0 2\nvertex 0 0 2\nendloop\nendfacet\nENDSOLID\n";
  pnMeshFile file = parse("parts.stl", text);
  assert_int_equal(file.vertexCount, 9);
  assert_int_equal(file.triangleCount, 3);
  assert_int_equal(file.groupCount, 2);
  assert_string_equal(file.groupNames[1], "two of them");
  static const uint32_t groups[] = {0, 1, 1};
  assert_memory_equal(file.triangleGroups, groups, sizeof(groups));
  assert_true(file.vertices[3 * 5 + 1] == 1 && file.vertices[3 * 5 + 2] == 1);
  pnFreeMeshFile(&file);
}

/* A binary STL of `count` triangles whose head begins with `head`. Returns its size. */
static size_t makeStl(unsigned char *out, const char *head, uint32_t count) {
  memset(out, 0, 84 + 50 * (size_t)count);
  memcpy(out, head, strlen(head));
  out[80] = (unsigned char)count;
  out[81] = (unsigned char)(count >> 8);
  for (uint32_t t = 0; t < count; ++t) {
    float numbers[12] = {0, 0, 1, (float)t, 0, 0, (float)t + 1, 0, 0, (float)t, 1, 0};
    memcpy(out + 84 + 50 * (size_t)t, numbers, sizeof(numbers)); /* tests run on little-endian machines */
  }
  return 84 + 50 * (size_t)count;
}

static void testStlBinary(void **state) {
  (void)state;
  static unsigned char bytes[84 + 50 * 40 + 16];
  pnMeshFile file;
  // "solid" in front does not make it text.
  size_t size = makeStl(bytes, "solid named like text", 40);
  testExpectOk(pnParseMeshFile(bytes, size, "a.stl", &file));
  assert_int_equal(file.triangleCount, 40);
  assert_int_equal(file.vertexCount, 120);
  assert_true(file.vertices[9 * 39] == 39 && file.vertices[9 * 39 + 7] == 1);
  pnFreeMeshFile(&file);
  // The size alone tells, without an extension.
  testExpectOk(pnParseMeshFile(bytes, size, "noname", &file));
  pnFreeMeshFile(&file);
  // Cut short, and with a tail.
  testExpectFailure(pnParseMeshFile(bytes, size - 1, "a.stl", &file), PN_ERROR_COUNT,
                    "a.stl|byte 80|40 triangles|2084|2083");
  testExpectFailure(pnParseMeshFile(bytes, 83, "a.stl", &file), PN_ERROR_FORMAT, "a.stl|84 bytes|83");
  bytes[size] = 0;
  testExpectOk(pnParseMeshFile(bytes, size + 1, "a.stl", &file));
  pnFreeMeshFile(&file);
  bytes[size + 3] = 'x';
  testExpectFailure(pnParseMeshFile(bytes, size + 4, "a.stl", &file), PN_ERROR_FORMAT, "byte 2087|end of the file");
  // A number that is none, at its byte.
  float nan = NAN;
  memcpy(bytes + 84 + 50 * 7 + 12 + 4 * 4, &nan, 4);
  testExpectFailure(pnParseMeshFile(bytes, size, "a.stl", &file), PN_ERROR_NUMBER, "byte 462|triangle 7|nan");
  // A huge count takes no memory.
  memset(bytes + 80, 0xFF, 4);
  testExpectFailure(pnParseMeshFile(bytes, size, "a.stl", &file), PN_ERROR_COUNT, "byte 80|4294967295 triangles");
}

#define PLY(format) "ply\nformat " format " 1.0\n"
#define PLY_MESH                                                                                                     \
  "element vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int " \
  "vertex_indices\nend_header\n"

static void testPlyText(void **state) {
  (void)state;
  static const uint32_t square[] = {0, 1, 2, 0, 2, 3};
  static const char *texts[] = {
      PLY("ascii") PLY_MESH POINTS "4 0 1 2 3\n",
      PLY("ascii") "comment element vertex 9\nobj_info property\n\n" PLY_MESH "\n" POINTS "\n\n4 0 1 2 3",
      "ply\r\nformat ascii 1.0\r\nelement vertex 4\r\nproperty float x\r\nproperty float y\r\nproperty float z\r\n"
      "element face 1\r\nproperty list uchar int vertex_index\r\nend_header\r\n"
      "0 0 0\r\n1 0 0\r\n1 1 0\r\n0 1 0\r\n4 0 1 2 3\r\n",
      // Faces before vertices, properties in another order, lists nobody asked for, an element of our own.
      PLY("ascii") "element face 1\nproperty list float double vertex_indices\nproperty uchar red\n"
                   "element thing 2\nproperty list ushort uint64 a\nproperty double b\nelement nothing 1000000000000\n"
                   "element vertex 4\nproperty list int char extra\nproperty short z\nproperty double y\n"
                   "property uint x\nend_header\n"
                   "4 0 1 2 3 7\n2 5 6 nan\n0 1e300\n0 0 0 0\n1 9 0 0 1\n2 9 9 0 1 1\n0 0 1 0\n",
  };
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    pnMeshFile file = parse("square.ply", texts[i]);
    assert_int_equal(file.vertexCount, 4);
    expectTriangles(&file, 2, square);
    assert_true(file.vertices[6] == 1 && file.vertices[7] == 1 && file.vertices[8] == 0);
    pnFreeMeshFile(&file);
  }
}

/* ---------------------------------------------------------------- binary PLY of any type */

typedef struct Bytes {
  unsigned char data[4096];
  size_t size;
  bool big;
} Bytes;

static void putBytes(Bytes *out, uint64_t bits, int size) {
  for (int i = 0; i < size; ++i) out->data[out->size++] = (unsigned char)(bits >> 8 * (out->big ? size - 1 - i : i));
}

static const struct {
  const char *name;
  int size;
} plyTypes[] = {{"char", 1},   {"uint8", 1}, {"int16", 2},   {"ushort", 2}, {"int", 4},
                {"uint32", 4}, {"int64", 8}, {"float32", 4}, {"double", 8}};

static void putValue(Bytes *out, size_t type, int value) {
  float f = (float)value;
  double d = value;
  uint64_t bits = (uint64_t)(int64_t)value;
  if (strstr(plyTypes[type].name, "float")) {
    uint32_t bits32;
    memcpy(&bits32, &f, 4);
    bits = bits32;
  }
  if (strstr(plyTypes[type].name, "double")) memcpy(&bits, &d, 8);
  putBytes(out, bits, plyTypes[type].size);
}

/* Lines that end in a lone \r: a byte 10 after the header is the first number, not half a line end. */
static void testPlyCarriage(void **state) {
  (void)state;
#define HEADER(end)                                                                                                    \
  "ply" end "format binary_little_endian 1.0" end "element vertex 3" end "property uchar x" end "property uchar y" end \
  "property uchar z" end "element face 1" end "property list uchar uchar vertex_index" end "end_header" end
  static const char *headers[] = {HEADER("\n"), HEADER("\r"), HEADER("\r\n")};
#undef HEADER
  static const char rows[] = "\n\0\0\1\0\0\0\1\0\3\0\1\2";
  for (size_t i = 0; i < 3; ++i) {
    Bytes bytes = {.size = strlen(headers[i])};
    memcpy(bytes.data, headers[i], bytes.size);
    memcpy(bytes.data + bytes.size, rows, 13);
    pnMeshFile file;
    testExpectOk(pnParseMeshFile(bytes.data, bytes.size + 13, "a.ply", &file));
    assert_int_equal(file.triangleCount, 1);
    assert_true(file.vertices[0] == 10 && file.vertices[1] == 0 && file.vertices[3] == 1);
    pnFreeMeshFile(&file);
  }
}

/* Every type for coordinates, counts and corners, in both byte orders. */
static void testPlyBinary(void **state) {
  (void)state;
  static const uint32_t square[] = {0, 1, 2, 0, 2, 3};
  size_t types = sizeof(plyTypes) / sizeof(plyTypes[0]);
  for (size_t i = 0; i < 2 * types * types * types; ++i) {
    size_t coordinate = i % types, count = i / types % types, corner = i / (types * types) % types;
    Bytes file = {.big = i >= types * types * types};
    file.size =
        (size_t)snprintf((char *)file.data, sizeof(file.data),
                         "ply\nformat binary_%s_endian 1.0\nelement vertex 4\nproperty %s x\nproperty list uchar "
                         "short junk\nproperty %s y\nproperty %s z\nelement face 1\nproperty list %s %s "
                         "vertex_indices\nproperty int flags\nend_header\n",
                         file.big ? "big" : "little", plyTypes[coordinate].name, plyTypes[coordinate].name,
                         plyTypes[coordinate].name, plyTypes[count].name, plyTypes[corner].name);
    for (int v = 0; v < 4; ++v) {
      putValue(&file, coordinate, v == 1 || v == 2);
      putBytes(&file, (uint64_t)v, 1);
      for (int k = 0; k < v; ++k) putBytes(&file, 0x1234, 2);
      putValue(&file, coordinate, v >= 2);
      putValue(&file, coordinate, 100);
    }
    putValue(&file, count, 4);
    for (int k = 0; k < 4; ++k) putValue(&file, corner, k);
    putBytes(&file, 0xFFFFFFFF, 4);
    pnMeshFile mesh;
    testExpectOk(pnParseMeshFile(file.data, file.size, "square.ply", &mesh));
    expectTriangles(&mesh, 2, square);
    assert_true(mesh.vertices[6] == 1 && mesh.vertices[7] == 1 && mesh.vertices[8] == 100);
    pnFreeMeshFile(&mesh);
    // Cut anywhere, it is an error and nothing else.
    for (size_t size = 0; size < file.size; size += 1 + size / 37)
      assert_int_not_equal(pnParseMeshFile(file.data, size, "square.ply", &mesh), PN_OK);
  }
}

/* The other byte order than the header says: refused, with that question in the message. */
static void testPlyWrongOrder(void **state) {
  (void)state;
  for (int big = 0; big < 2; ++big) {
    Bytes file = {.big = !big};
    file.size = (size_t)snprintf((char *)file.data, sizeof(file.data), "ply\nformat binary_%s_endian 1.0\n" PLY_MESH,
                                 big ? "big" : "little");
    for (int v = 0; v < 12; ++v) putValue(&file, 7, v);
    putBytes(&file, 4, 1);
    for (int k = 0; k < 4; ++k) putBytes(&file, (uint64_t)k, 4);
    pnMeshFile mesh;
    testExpectFailure(
        pnParseMeshFile(file.data, file.size, "a.ply", &mesh), PN_ERROR_INDEX,
        big ? "a.ply|byte|face 0|16777216|expected one of 0 to 3|big-endian" : "a.ply|byte|face 0|little-endian");
  }
}

/* ---------------------------------------------------------------- what is refused, and how */

typedef struct Refusal {
  const char *name, *text;
  pnResult result;
  const char *words; /* of the message, separated by '|' */
} Refusal;

static void expectRefusals(const Refusal *refusals, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    pnMeshFile file;
    memset(&file, 0xAB, sizeof(file));
    pnResult result = pnParseMeshFile(refusals[i].text, strlen(refusals[i].text), refusals[i].name, &file);
    testExpectFailure(result, refusals[i].result, refusals[i].words);
    assert_non_null(strstr(pnGetMessage(), refusals[i].name));
    assert_null(file.vertices);
    assert_int_equal(file.vertexCount, 0);
    assert_int_equal(pnGetByteCount(), 0);
  }
}

static void testObjRefusals(void **state) {
  (void)state;
  static const Refusal refusals[] = {
      {"a.obj", SQUARE "f 1 2 5\n", PN_ERROR_INDEX, "line 5|vertex number 5|expected 1 to 4"},
      {"a.obj", SQUARE "f 1 2 0\n", PN_ERROR_INDEX, "line 5|vertex number 0"},
      {"a.obj", "v 0 0 0\nf -1 -1 -2\n", PN_ERROR_INDEX, "line 2|-2"},
      {"a.obj", SQUARE "f 1 2 99999999999999999999\n", PN_ERROR_FORMAT, "line 5|corner"},
      {"a.obj", SQUARE "f 1 2\n", PN_ERROR_FORMAT, "line 5|2 corners|at least 3"},
      {"a.obj", SQUARE "f\n", PN_ERROR_FORMAT, "line 5|0 corners"},
      {"a.obj", SQUARE "f 1 2 x\n", PN_ERROR_FORMAT, "line 5|'x'|7/1/2"},
      {"a.obj", SQUARE "f 1 2 3/1/1/1\n", PN_ERROR_FORMAT, "line 5|'3/1/1/1'"},
      {"a.obj", SQUARE "f 1 2 /1\n", PN_ERROR_FORMAT, "line 5|'/1'"},
      {"a.obj", SQUARE "f 1 2 3/x\n", PN_ERROR_FORMAT, "line 5|'3/x'"},
      {"a.obj", SQUARE "f 1 2 3.0\n", PN_ERROR_FORMAT, "line 5|'3.0'"},
      {"a.obj", "v 0 0\n", PN_ERROR_FORMAT, "line 1|vertex 1|end of the line"},
      {"a.obj", "v 0 0 zero\n", PN_ERROR_FORMAT, "line 1|vertex 1|expected a number|'zero'"},
      {"a.obj", "v 0 0 0\nv 0 nan 0\n", PN_ERROR_NUMBER, "line 2|vertex 2|finite|'nan'"},
      {"a.obj", "v 0 0 -inf\n", PN_ERROR_NUMBER, "line 1|'-inf'"},
      {"a.obj", "v 0 0 1e39\n", PN_ERROR_NUMBER, "line 1|'1e39'|float"},
      {"a.obj", "v 0 0 0 1 1 1 1 1\n", PN_ERROR_FORMAT, "line 1|3 to 7"},
      {"a.obj", "v 0 0 0 red\n", PN_ERROR_FORMAT, "line 1|'red'"},
      {"a.obj", "v 0,0 0 0\n", PN_ERROR_FORMAT, "line 1|'0,0'"},
      {"a.obj", SQUARE "cstype bezier\n", PN_ERROR_UNSUPPORTED, "line 5|'cstype'|polygons"},
      {"a.obj", SQUARE "call other.obj\n", PN_ERROR_UNSUPPORTED, "line 5|'call'"},
      {"a.obj", SQUARE "face 1 2 3\n", PN_ERROR_FORMAT, "line 5|'face'|expected a statement"},
      {"a.obj", SQUARE "\\\n\nf1 2 3\n", PN_ERROR_FORMAT, "line 7|'f1'"},
      {"a.obj", SQUARE "V 0 0 0\n", PN_ERROR_FORMAT, "line 5|'V'|expected a statement"},
      {"a.obj", SQUARE "F 1/1 2/2 3/3\n", PN_ERROR_FORMAT, "line 5|'F'|expected a statement"},
      {"a.obj", SQUARE "vertex 1 2 3\n", PN_ERROR_FORMAT, "line 5|'vertex'|expected a statement"},
      {"a.obj", SQUARE "f,1,2,3\n", PN_ERROR_FORMAT, "line 5|'f,1,2,3'|expected a statement"},
      {"a.obj", SQUARE "0.5 0.5 0.5\n", PN_ERROR_FORMAT, "line 5|'0.5'|expected a statement"},
      {"a.obj", SQUARE "1/1 2/2 3/3\n", PN_ERROR_FORMAT, "line 5|'1/1'|expected a statement"},
      {"a.obj", SQUARE "x\x01y z\n", PN_ERROR_FORMAT, "line 5|'x?y'|expected a statement"},
      {"a.obj", "Dear reader,\nthis is a letter.\n", PN_ERROR_FORMAT, "2 lines that are no statements"},
      {"a.obj", "5 1\n" SQUARE "f 1 2 3\n", PN_ERROR_COUNT, "line 1|5 vertices and 1 faces|has 4 and 1"},
      {"a.obj", SQUARE "4 1\n", PN_ERROR_FORMAT, "line 5|'4'"},
      {"a.obj", "\x01\x02\xFF\n", PN_ERROR_FORMAT, "line 1|found '\?\?\?'"},
      {"a.obj", "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv 1\n", PN_ERROR_FORMAT,
       "line 1|vvv..."},
  };
  expectRefusals(refusals, sizeof(refusals) / sizeof(refusals[0]));
}

static void testOffRefusals(void **state) {
  (void)state;
  static const Refusal refusals[] = {
      {"a.off", "OFF\n", PN_ERROR_FORMAT, "counts of vertices and faces|end of the file"},
      {"a.off", "OFF\n4\n", PN_ERROR_FORMAT, "line 2|count of faces"},
      {"a.off", "OFF\nfour 1 0\n", PN_ERROR_FORMAT, "line 2|count of vertices|'four'"},
      {"a.off", "OFF\n-4 1 0\n", PN_ERROR_FORMAT, "line 2|'-4'"},
      {"a.off", "OFF\n4 1 0 7\n" POINTS "3 0 1 2\n", PN_ERROR_FORMAT, "line 2|end of the line|'7'"},
      {"a.off", "OFF\n4000000000 1 0\n" POINTS, PN_ERROR_COUNT, "4000000000 vertices and 1 face,|in 25 bytes after"},
      {"a.off", "OFF\n1 4000000000 0\n", PN_ERROR_COUNT, "1 vertex and 4000000000 faces,|in 1 byte after"},
      {"a.off", "OFF\n4 4000000000 0\n" POINTS, PN_ERROR_COUNT, "4000000000 faces"},
      {"a.off", "OFF\n5 0 0\n" POINTS, PN_ERROR_FORMAT, "expected 5 vertices, found 4"},
      {"a.off", "OFF\n4 2 0\n" POINTS "3 0 1 2\n", PN_ERROR_FORMAT, "expected 2 faces, found 1"},
      {"a.off", "OFF\n3 1 0\n" POINTS "3 0 1 2\n", PN_ERROR_FORMAT, "line 6"},
      {"a.off", "OFF\n4 1 0\n" POINTS "3 0 1 2\n3 0 1 2\n", PN_ERROR_FORMAT, "line 8|after 1 faces|'3'"},
      {"a.off", "OFF\n4 1 0\n" POINTS "3 0 1 4\n", PN_ERROR_INDEX, "line 7|face 0|4|expected 0 to 3"},
      {"a.off", "OFF\n4 1 0\n" POINTS "3 0 1 -1\n", PN_ERROR_INDEX, "line 7|-1"},
      {"a.off", "OFF\n4 1 0\n" POINTS "3 0 1\n", PN_ERROR_FORMAT, "line 7|face 0|end of the line"},
      {"a.off", "OFF\n4 1 0\n" POINTS "3 0 1 b\n", PN_ERROR_FORMAT, "line 7|'b'"},
      {"a.off", "OFF\n4 1 0\n" POINTS "0 1 2\n", PN_ERROR_FORMAT, "line 7|0 corners"},
      {"a.off", "OFF\n4 1 0\n" POINTS "3 0 1 2 1 1 1 1 1\n", PN_ERROR_FORMAT, "line 7|end of the line"},
      {"a.off", "OFF\n4 1 0\n" POINTS "4000000000 0 1 2\n", PN_ERROR_FORMAT, "line 7|end of the line"},
      {"a.off", "OFF\n4 1 0\n0 0\n0 0 0\n0 0 0\n0 0 0\n3 0 1 2\n", PN_ERROR_FORMAT, "line 3|vertex 0"},
      {"a.off", "OFF\n4 1 0\n0 0 nan\n0 0 0\n0 0 0\n0 0 0\n3 0 1 2\n", PN_ERROR_NUMBER, "line 3|vertex 0|'nan'"},
      {"a.off", "4OFF\n1 0 0\n0 0 0 1\n", PN_ERROR_UNSUPPORTED, "line 1|'4OFF'"},
      {"a.off", "OFF BINARY\n", PN_ERROR_UNSUPPORTED, "binary"},
      {"a.off", "hello\n", PN_ERROR_FORMAT, "line 1|'hello'"},
  };
  expectRefusals(refusals, sizeof(refusals) / sizeof(refusals[0]));
}

#define FACET(corners) "solid\nfacet normal 0 0 1\nouter loop\n" corners "endloop\nendfacet\nendsolid\n"
#define CORNER "vertex 0 0 0\n"

static void testStlRefusals(void **state) {
  (void)state;
  static const Refusal refusals[] = {
      {"a.stl", "solid x\n", PN_ERROR_FORMAT, "'facet' or 'endsolid'|end of the file"},
      {"a.stl", FACET(CORNER CORNER), PN_ERROR_FORMAT, "line 6|triangle 0|'vertex'|'endloop'"},
      {"a.stl", FACET(CORNER CORNER CORNER CORNER), PN_ERROR_FORMAT, "line 7|'endloop'|'vertex'"},
      {"a.stl", FACET(CORNER CORNER "vertex 0 0\n"), PN_ERROR_FORMAT, "line 6|triangle 0|end of the line"},
      {"a.stl", FACET(CORNER CORNER "vertex 0 nan 0\n"), PN_ERROR_NUMBER, "line 6|triangle 0|'nan'"},
      {"a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n", PN_ERROR_FORMAT, "end of the file"},
      {"a.stl", "solid\nfacet\n", PN_ERROR_FORMAT, "'normal'|end of the file"},
      {"a.stl", "solid\nendsolid\nrubbish\n", PN_ERROR_FORMAT, "line 3|'solid' or the end|'rubbish'"},
      {"a.stl", "solid\ncolor 1 0 0\nendsolid\n", PN_ERROR_FORMAT, "line 2|'color'"},
      {"a.stl", "nothing", PN_ERROR_FORMAT, "84 bytes|7"},
  };
  expectRefusals(refusals, sizeof(refusals) / sizeof(refusals[0]));
}

static void testPlyRefusals(void **state) {
  (void)state;
  static const Refusal refusals[] = {
      {"a.ply", "plx\n", PN_ERROR_FORMAT, "line 1|'ply'|'plx'"},
      {"a.ply", "ply\n", PN_ERROR_FORMAT, "end_header|end of the file"},
      {"a.ply", "ply\nend_header\n", PN_ERROR_FORMAT, "'format'"},
      {"a.ply", "ply\nformat binary_middle_endian 1.0\nend_header\n", PN_ERROR_FORMAT, "line 2|'binary_middle_endian'"},
      {"a.ply", "ply\nformat ascii 2.0\nend_header\n", PN_ERROR_UNSUPPORTED, "line 2|1.0|'2.0'"},
      {"a.ply", "ply\nformat ascii\nend_header\n", PN_ERROR_UNSUPPORTED, "line 2|1.0|''"},
      {"a.ply", PLY("ascii") "format ascii 1.0\nend_header\n", PN_ERROR_FORMAT, "line 3|second 'format'"},
      {"a.ply", PLY("ascii") "element\nend_header\n", PN_ERROR_FORMAT, "line 3|name of an element"},
      {"a.ply", PLY("ascii") "element vertex\nend_header\n", PN_ERROR_FORMAT, "line 3|count"},
      {"a.ply", PLY("ascii") "element vertex -1\nend_header\n", PN_ERROR_FORMAT, "line 3|'-1'"},
      {"a.ply", PLY("ascii") "element vertex 0\nelement vertex 0\nend_header\n", PN_ERROR_FORMAT,
       "line 4|second element"},
      {"a.ply", PLY("ascii") "property float x\nend_header\n", PN_ERROR_FORMAT, "line 3|before any element"},
      {"a.ply", PLY("ascii") "element vertex 1\nproperty quad x\nend_header\n", PN_ERROR_FORMAT, "line 4|'quad'|uchar"},
      {"a.ply", PLY("ascii") "element vertex 1\nproperty float\nend_header\n", PN_ERROR_FORMAT,
       "line 4|name of a property"},
      {"a.ply", PLY("ascii") "element vertex 1\nproperty list float\nend_header\n", PN_ERROR_FORMAT, "line 4|a type"},
      {"a.ply", PLY("ascii") "element vertex 1\nproperty float x\nproperty int x\nend_header\n", PN_ERROR_FORMAT,
       "line 5|second property 'x'"},
      {"a.ply", PLY("ascii") "element vertex 1\nproperty float x\nproperty float y\nend_header\n1 2\n", PN_ERROR_FORMAT,
       "lacks x, y or z"},
      {"a.ply", PLY("ascii") "element face 1\nproperty int corner\nend_header\n1\n", PN_ERROR_FORMAT, "vertex_indices"},
      {"a.ply", PLY("ascii") "element tristrips 1\nproperty list int int vertex_indices\nend_header\n3 0 1 2\n",
       PN_ERROR_UNSUPPORTED, "line 3|strips"},
      {"a.ply", PLY("ascii") "frobnicate\nend_header\n", PN_ERROR_FORMAT, "line 3|'frobnicate'"},
      {"a.ply", PLY("ascii") "element vertex 4 5\nend_header\n", PN_ERROR_FORMAT, "line 3|end of the line|'5'"},
      {"a.ply", PLY("ascii") PLY_MESH POINTS, PN_ERROR_COUNT, "1 row of 'face'|left for them: 1 byte"},
      {"a.ply", PLY("ascii") PLY_MESH POINTS "\n\n\n\n", PN_ERROR_FORMAT, "face 0|end of the file"},
      {"a.ply", PLY("ascii") PLY_MESH "0 0 0\n1 0 0\n1 1\n0 1 0\n3 0 1 2\n", PN_ERROR_FORMAT,
       "line 12|vertex 2|end of the line"},
      {"a.ply", PLY("ascii") PLY_MESH "0 0 0\n1 0 0 9\n1 1 0\n0 1 0\n3 0 1 2\n", PN_ERROR_FORMAT,
       "line 11|vertex 1|'9'"},
      {"a.ply", PLY("ascii") PLY_MESH "0 0 0\n1 0 nan\n1 1 0\n0 1 0\n3 0 1 2\n", PN_ERROR_NUMBER,
       "line 11|vertex 1|'nan'"},
      {"a.ply", PLY("ascii") PLY_MESH POINTS "3 0 1 4\n", PN_ERROR_INDEX, "line 14|face 0|4|0 to 3"},
      {"a.ply", PLY("ascii") PLY_MESH POINTS "3 0 1 -1\n", PN_ERROR_INDEX, "line 14|-1"},
      {"a.ply", PLY("ascii") PLY_MESH POINTS "3 0 1 0.5\n", PN_ERROR_INDEX, "line 14|0.5"},
      {"a.ply", PLY("ascii") PLY_MESH POINTS "3 0 1 nan\n", PN_ERROR_INDEX, "line 14|nan"},
      {"a.ply", PLY("ascii") PLY_MESH POINTS "3 0 1\n", PN_ERROR_FORMAT, "line 14|end of the line"},
      {"a.ply", PLY("ascii") PLY_MESH POINTS "2 0 1\n", PN_ERROR_FORMAT, "line 14|2 corners|at least 3"},
      {"a.ply", PLY("ascii") PLY_MESH POINTS "4000000000 0 1 2\n", PN_ERROR_COUNT, "line 14|4000000000"},
      {"a.ply", PLY("ascii") PLY_MESH POINTS "-3 0 1 2\n", PN_ERROR_COUNT, "line 14|-3"},
      {"a.ply", PLY("ascii") PLY_MESH POINTS "3 0 1 2\n3 0 1 2\n", PN_ERROR_FORMAT,
       "end of the file after the last row"},
      {"a.ply",
       PLY("ascii") "element vertex 4000000000\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 "
                    "0\n",
       PN_ERROR_COUNT, "4000000000 rows of 'vertex'|left for them: 7 bytes"},
      {"a.ply",
       PLY("binary_little_endian") "element vertex 99999999999\nproperty float x\nproperty float y\nproperty float "
                                   "z\nend_header\n012345678901",
       PN_ERROR_COUNT, "byte|99999999999 rows|12 bytes each|left for them: 12 bytes"},
      {"a.ply",
       PLY("binary_big_endian") "element face 1\nproperty list uint uint vertex_indices\nend_header\n~~~~aaaabbbbcccc",
       PN_ERROR_COUNT, "byte 98|face 0|2122219134|big-endian"},
  };
  expectRefusals(refusals, sizeof(refusals) / sizeof(refusals[0]));
}

static void testUnknownFiles(void **state) {
  (void)state;
  static const Refusal refusals[] = {
      {"empty.obj", "", PN_ERROR_FORMAT, "empty|OBJ, PLY, STL or OFF"},
      {"a.txt", "hello world\n", PN_ERROR_UNSUPPORTED, "expected OBJ, PLY, STL or OFF, or glTF"},
      {"a", "\n\n\n", PN_ERROR_UNSUPPORTED, "expected OBJ"},
      {"a.glb", "glTF\2", PN_ERROR_UNSUPPORTED, "glTF|pnLoadAnimFile"},
      {"a.gltf", "{}", PN_ERROR_UNSUPPORTED, "glTF"},
  };
  expectRefusals(refusals, sizeof(refusals) / sizeof(refusals[0]));
  // The content decides before the name.
  pnMeshFile file = parse("wrong.obj", "OFF\n4 1 0\n" POINTS "4 0 1 2 3\n");
  assert_int_equal(file.triangleCount, 2);
  pnFreeMeshFile(&file);
  file = parse("noextension", "# obj\n" SQUARE "f 1 2 3\n");
  assert_int_equal(file.triangleCount, 1);
  pnFreeMeshFile(&file);
  // Files that are not there, or not files.
  testExpectFailure(pnLoadMeshFile("no/such/file.obj", &file), PN_ERROR_FILE, "no/such/file.obj|No such file");
  testExpectFailure(pnLoadMeshFile(PINCH_SOURCE_DIR, &file), PN_ERROR_FILE, "folder");
  testExpectFailure(pnLoadMeshFile("/dev/zero", &file), PN_ERROR_FILE, "/dev/zero|device");
}

/* Editors write UTF-16 where one forgets to say otherwise: it is named, whatever the file is called, and with its mark or without. */
static void testUtf16(void **state) {
  (void)state;
  static const char text[] = SQUARE "f 1 2 3\n";
  unsigned char bytes[2 * sizeof(text) + 2];
  for (int way = 0; way < 4; ++way) {
    size_t count = 0;
    bool big = way % 2;
    for (size_t i = 0; i + 1 < sizeof(text); ++i) {
      if (i == 0 && way < 2) bytes[count++] = big ? 0xFE : 0xFF, bytes[count++] = big ? 0xFF : 0xFE;
      bytes[count + big] = (unsigned char)text[i];
      bytes[count + !big] = 0;
      count += 2;
    }
    pnMeshFile file;
    testExpectFailure(pnParseMeshFile(bytes, count, way ? "a.obj" : "a.txt", &file), PN_ERROR_UNSUPPORTED,
                      "UTF-16|save it as UTF-8");
  }
  // UTF-8 with its mark is read, and so is a binary STL whose head begins like the other mark.
  pnMeshFile file = parse("a.obj", "\xEF\xBB\xBF" SQUARE "f 1 2 3\n");
  assert_int_equal(file.triangleCount, 1);
  pnFreeMeshFile(&file);
  unsigned char stl[84 + 50] = {0xFF, 0xFE, 'v', 0, [80] = 1};
  testExpectOk(pnParseMeshFile(stl, sizeof(stl), "a.stl", &file));
  assert_int_equal(file.triangleCount, 1);
  pnFreeMeshFile(&file);
}

/* Bytes without a name are read by what they are, and messages call them something. */
static void testNoName(void **state) {
  (void)state;
  static const char *texts[] = {SQUARE "f 1 2 3 4\n", "OFF\n4 1 0\n" POINTS "4 0 1 2 3\n",
                                PLY("ascii") PLY_MESH POINTS "4 0 1 2 3\n"};
  pnMeshFile file;
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    file = parse(NULL, texts[i]);
    assert_int_equal(file.triangleCount, 2);
    assert_string_equal(file.name, "mesh in memory");
    pnFreeMeshFile(&file);
  }
  testExpectFailure(pnParseMeshFile("", 0, NULL, &file), PN_ERROR_FORMAT, "mesh in memory|empty");
  testExpectFailure(pnParseMeshFile("what?", 5, NULL, &file), PN_ERROR_UNSUPPORTED, "mesh in memory|neither");
  testExpectFailure(pnParseMeshFile("v 1 nan 0", 9, NULL, &file), PN_ERROR_NUMBER, "mesh in memory: line 1");
}

/* ---------------------------------------------------------------- memory */

static pnResult parseEach(void *context) {
  static const char *texts[][2] = {
      {"a.obj", "f 1 2 3\n" SQUARE "g a\nf 1 2 3 4\ng b\nf 1 2 3\ng a\nf 1 2 3\n"},
      {"a.off", "OFF\n4 1 0\n" POINTS "4 0 1 2 3\n"},
      {"a.ply", PLY("ascii") PLY_MESH POINTS "4 0 1 2 3\n"},
      {"a.stl", FACET(CORNER CORNER CORNER)},
  };
  (void)context;
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    pnMeshFile file;
    pnResult result = pnParseMeshFile(texts[i][1], strlen(texts[i][1]), texts[i][0], &file);
    pnFreeMeshFile(&file);
    if (result != PN_OK) return result;
  }
  return PN_OK;
}

static void testMemoryFailures(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(parseEach, NULL, false, false) > 12);
  assert_true(testEveryAllocationFailure(parseEach, NULL, true, false) > 12);
}

/* Many groups, all different and all the same: no quadratic search. */
static void testManyGroups(void **state) {
  (void)state;
  enum { GROUPS = 60000 };
  char *text = test_malloc(GROUPS * 32 + 64);
  for (int same = 0; same < 2; ++same) {
    size_t size = (size_t)sprintf(text, "v 0 0 0\n");
    for (int g = 0; g < GROUPS; ++g) size += (size_t)sprintf(text + size, "g name%d\nf 1 1 1\n", same ? 1 : GROUPS - g);
    pnMeshFile file;
    testExpectOk(pnParseMeshFile(text, size, "a.obj", &file));
    assert_int_equal(file.groupCount, same ? 1 : GROUPS);
    assert_int_equal(file.triangleGroups[GROUPS - 1], same ? 0 : GROUPS - 1);
    assert_string_equal(file.groupNames[file.groupCount - 1], "name1");
    pnFreeMeshFile(&file);
  }
  test_free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testObjForms),       cmocka_unit_test(testStrayText),   cmocka_unit_test(testObjRelative),
      cmocka_unit_test(testObjGroups),      cmocka_unit_test(testOffForms),    cmocka_unit_test(testStlText),
      cmocka_unit_test(testStlBinary),      cmocka_unit_test(testPlyText),     cmocka_unit_test(testPlyBinary),
      cmocka_unit_test(testPlyWrongOrder),  cmocka_unit_test(testObjRefusals), cmocka_unit_test(testOffRefusals),
      cmocka_unit_test(testStlRefusals),    cmocka_unit_test(testPlyRefusals), cmocka_unit_test(testUnknownFiles),
      cmocka_unit_test(testMemoryFailures), cmocka_unit_test(testManyGroups),  cmocka_unit_test(testUtf16),
      cmocka_unit_test(testNoName),         cmocka_unit_test(testPlyCarriage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
