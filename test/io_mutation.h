/* io_mutation.h: mutation fuzzing of the mesh readers, shared by the test (a fixed run) and fuzz_io (a long one).
 *
 * A file is changed in ways that hurt readers: bits, bytes, numbers replaced by extreme ones, pieces cut, doubled or
 * taken from another file. Whatever comes out, the reader must answer within its memory, with a valid mesh or an
 * error that says something, and hold nothing afterwards. */
#ifndef PN_TEST_IO_MUTATION_H
#define PN_TEST_IO_MUTATION_H

#include "support.h"

#include "pinch/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MUTATION_MAX 65536

typedef struct Sample {
  char name[16]; /* its extension is what the reader goes by */
  unsigned char bytes[MUTATION_MAX];
  size_t size;
} Sample;

/* ---------------------------------------------------------------- memory, counted */

static size_t mutationBytesNow, mutationBytesPeak;

static void *countedAlloc(void *user, size_t size, size_t align) {
  (void)user;
  void *memory = NULL;
  if (posix_memalign(&memory, align < sizeof(void *) ? sizeof(void *) : align, size ? size : 1) != 0) return NULL;
  mutationBytesNow += size;
  if (mutationBytesNow > mutationBytesPeak) mutationBytesPeak = mutationBytesNow;
  return memory;
}

static void countedFree(void *user, void *memory, size_t size) {
  (void)user;
  mutationBytesNow -= size;
  free(memory);
}

/* ---------------------------------------------------------------- one file */

/* Reads a sample and checks everything that is promised about the answer. Returns whether it was accepted. */
static bool readSample(const Sample *sample) {
  mutationBytesPeak = mutationBytesNow = 0;
  // A copy of exactly this size, so that a read past the end is seen by the sanitizer.
  unsigned char *exact = malloc(sample->size ? sample->size : 1);
  memcpy(exact, sample->bytes, sample->size);
  pnMeshFile file;
  pnResult result = pnParseMeshFile(exact, sample->size, sample->name, &file);
  if (result == PN_OK) {
    for (size_t i = 0; i < 3 * (size_t)file.vertexCount; ++i) assert_true(isfinite(file.vertices[i]));
    for (size_t i = 0; i < 3 * (size_t)file.triangleCount; ++i) assert_true(file.triangles[i] < file.vertexCount);
    for (uint32_t t = 0; t < file.triangleCount && file.triangleGroups; ++t)
      assert_true(file.triangleGroups[t] < file.groupCount);
  } else {
    assert_non_null(strstr(pnGetMessage(), sample->name));
    assert_null(file.vertices);
  }
  pnFreeMeshFile(&file);
  free(exact);
  assert_int_equal(mutationBytesNow, 0);
  // A one-byte corner becomes a triangle of 12 bytes, arrays are doubled when they grow, and while one grows the old
  // one is still there: 12 * (2 + 1), rounded up for group names; and a few first blocks.
  if (mutationBytesPeak > 64 * sample->size + 16384)
    fail_msg("%s: %zu bytes of file took %zu bytes of memory", sample->name, sample->size, mutationBytesPeak);
  return result == PN_OK;
}

/* ---------------------------------------------------------------- mutations */

/* Words that stand at the borders of what readers expect. */
static const char *const evilWords[] = {"0",
                                        "-1",
                                        "1",
                                        "2",
                                        "3",
                                        "255",
                                        "256",
                                        "65536",
                                        "2147483648",
                                        "4294967295",
                                        "4294967296",
                                        "18446744073709551616",
                                        "1e39",
                                        "-1e39",
                                        "1e-400",
                                        "nan",
                                        "inf",
                                        "0x10",
                                        "1.5",
                                        ".",
                                        "-",
                                        "/",
                                        "//",
                                        "1/2/3",
                                        "#",
                                        "\\\n",
                                        "\n",
                                        "\r",
                                        "\r\n",
                                        "\t",
                                        "list",
                                        "element",
                                        "property",
                                        "end_header",
                                        "OFF",
                                        "solid",
                                        "facet",
                                        "v",
                                        "f",
                                        "g",
                                        "uchar",
                                        "double",
                                        "vertex",
                                        "face",
                                        "vertex_indices",
                                        ""};

static void replacePiece(Sample *sample, size_t at, size_t length, const void *bytes, size_t count) {
  if (at > sample->size) at = sample->size;
  if (length > sample->size - at) length = sample->size - at;
  if (sample->size - length + count > MUTATION_MAX) return;
  memmove(sample->bytes + at + count, sample->bytes + at + length, sample->size - at - length);
  if (count > 0) memcpy(sample->bytes + at, bytes, count);
  sample->size += count - length;
}

/* The stretch between blanks around a place. */
static void wordAround(const Sample *sample, size_t at, size_t *outStart, size_t *outLength) {
  size_t start = at, end = at;
  while (start > 0 && sample->bytes[start - 1] > ' ') --start;
  while (end < sample->size && sample->bytes[end] > ' ') ++end;
  *outStart = start;
  *outLength = end - start;
}

static void mutateOnce(Sample *sample, const Sample *other, TestRandom *random) {
  uint32_t size = (uint32_t)sample->size;
  size_t at = size ? testBelow(random, size) : 0, start, length;
  static const unsigned char extremes[][4] = {{0, 0, 0, 0},       {255, 255, 255, 255}, {0, 0, 0x80, 0x7F},
                                              {0, 0, 0xC0, 0x7F}, {0x7F, 0x80, 0, 0},   {255, 255, 255, 127},
                                              {1, 0, 0, 0},       {0, 0, 0, 1}};
  unsigned char piece[256];
  switch (size == 0 ? 6 : testBelow(random, 8)) {
    case 0: sample->bytes[at] ^= (unsigned char)(1u << testBelow(random, 8)); break;
    case 1: sample->bytes[at] = (unsigned char)testU64(random); break;
    case 2: {
      const char *word = evilWords[testBelow(random, sizeof(evilWords) / sizeof(evilWords[0]))];
      wordAround(sample, at, &start, &length);
      replacePiece(sample, start, length, word, strlen(word));
      break;
    }
    case 3: replacePiece(sample, at, 4, extremes[testBelow(random, 8)], 4); break;
    case 4: replacePiece(sample, at, testBelow(random, 64), NULL, 0); break;
    case 5: sample->size = at; break; /* cut short */
    case 6: {                         /* a piece of another file */
      length = testBelow(random, sizeof(piece));
      size_t from = other->size ? testBelow(random, (uint32_t)other->size) : 0;
      if (length > other->size - from) length = other->size - from;
      replacePiece(sample, at, 0, other->bytes + from, length);
      break;
    }
    default: /* a piece doubled */
      length = testBelow(random, sizeof(piece));
      if (length > sample->size - at) length = sample->size - at;
      memcpy(piece, sample->bytes + at, length);
      replacePiece(sample, at, 0, piece, length);
  }
}

/* ---------------------------------------------------------------- samples */

#define SAMPLE_COUNT 9

static void setSample(Sample *sample, const char *name, const char *text) {
  snprintf(sample->name, sizeof(sample->name), "%s", name);
  sample->size = strlen(text);
  memcpy(sample->bytes, text, sample->size);
}

static void addBytes(Sample *sample, uint64_t bits, int size, bool big) {
  for (int i = 0; i < size; ++i) sample->bytes[sample->size++] = (unsigned char)(bits >> 8 * (big ? size - 1 - i : i));
}

static void addFloat(Sample *sample, float value, bool big) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  addBytes(sample, bits, 4, big);
}

/* A tetrahedron in binary PLY, with things around it that readers must skip. */
static void makeBinaryPly(Sample *sample, bool big) {
  setSample(sample, "b.ply", big ? "ply\nformat binary_big_endian 1.0\n" : "ply\nformat binary_little_endian 1.0\n");
  const char *header =
      "element vertex 4\nproperty float x\nproperty float y\nproperty uchar red\nproperty float z\n"
      "element face 4\nproperty list uchar int vertex_indices\nproperty list ushort float uv\nend_header\n";
  memcpy(sample->bytes + sample->size, header, strlen(header));
  sample->size += strlen(header);
  for (int v = 0; v < 4; ++v) {
    addFloat(sample, v == 1, big);
    addFloat(sample, v == 2, big);
    addBytes(sample, 7, 1, big);
    addFloat(sample, v == 3, big);
  }
  for (uint32_t f = 0; f < 4; ++f) {
    addBytes(sample, 3, 1, big);
    for (uint32_t k = 1; k < 4; ++k) addBytes(sample, (f + k) % 4, 4, big);
    addBytes(sample, f, 2, big);
    for (uint32_t k = 0; k < f; ++k) addFloat(sample, 0.5f, big);
  }
}

static void makeSamples(Sample *samples) {
  setSample(&samples[0], "a.obj",
            "# o\nmtllib m\no Cube\nv 0 0 0\nv 1 0 0 1 1 1\nv 1 1 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\n"
            "g a b\nf 1 2 3 4\nf 1/1 2/1 3/1\nf 1//1 2//1 -1//1\ns off\ng c\nf 1/1/1 -3/1/1 \\\n 4/1/1\n");
  setSample(&samples[1], "a.off", "OFF\n4 3 0\n0 0 0\n1 0 0\n1 1 0.5e-3\n0 1 0\n4 0 1 2 3 255 0 0\n3 0 1 2\n2 0 1\n");
  setSample(&samples[2], "n.off", "# c\nCOFF 3 1 0\n0 0 0 1 1 1 1\n1 0 0 1 1 1 1\n0 1 0 1 1 1 1\n# f\n3 0 1 2\n");
  setSample(&samples[3], "a.ply",
            "ply\nformat ascii 1.0\ncomment c\nelement vertex 3\nproperty double x\nproperty float y\n"
            "property int z\nproperty uchar red\nelement face 1\nproperty list uchar int vertex_index\n"
            "element edge 1\nproperty int a\nproperty int b\nend_header\n0 0 0 1\n1.5 0 0 2\n0 1 0 3\n"
            "3 0 1 2\n0 1\n");
  setSample(&samples[4], "a.stl",
            "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
            "endfacet\nendsolid a\nsolid b\nendsolid b\n");
  setSample(&samples[5], "b.stl", "binary");
  while (samples[5].size < 80) samples[5].bytes[samples[5].size++] = 0;
  addBytes(&samples[5], 3, 4, false);
  for (int t = 0; t < 3; ++t) {
    for (int i = 0; i < 12; ++i) addFloat(&samples[5], (float)(i * t), false);
    addBytes(&samples[5], 0, 2, false);
  }
  makeBinaryPly(&samples[6], false);
  makeBinaryPly(&samples[7], true);
  // One byte a corner: the most triangles a file can hold for its bytes.
  setSample(&samples[8], "p.ply",
            "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty uchar x\nproperty uchar y\n"
            "property uchar z\nelement face 1\nproperty list ushort uchar vertex_indices\nend_header\n");
  for (int i = 0; i < 3; ++i) addBytes(&samples[8], 1, 1, false);
  addBytes(&samples[8], 20000, 2, false);
  for (int i = 0; i < 20000; ++i) addBytes(&samples[8], 0, 1, false);
}

#endif
