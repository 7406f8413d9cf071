/* mesh_save.c: writes a mesh as OBJ, PLY (binary little-endian), STL (binary) or OFF, by extension.
 *
 * Text numbers have as few digits as give the same float when read back, with a point in every locale. */
#include "pinch/io.h"

#include "reader.h"
#include "float_mode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is to be written. */
typedef struct pnMeshView {
  const float *vertices;
  uint32_t vertexCount;
  const uint32_t *triangles;
  uint32_t triangleCount;
} pnMeshView;

/* ---------------------------------------------------------------- numbers */

/* The shortest of 6 to 9 digits that reads back as x; 9 always do. */
static void printFloat(pnOutFile *out, float x) {
  char text[40];
  for (int digits = 6; digits <= 9; ++digits) {
    snprintf(text, sizeof(text), "%.*g", digits, (double)x);
    if (strtof(text, NULL) == x) break;
  }
  // Whatever the locale puts between the digits becomes one point.
  bool inPoint = false;
  for (const char *c = text; *c; ++c) {
    bool plain = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e';
    if (plain) pnOutFile_Write(out, c, 1);
    else if (!inPoint) pnOutFile_Write(out, ".", 1);
    inPoint = !plain;
  }
}

static void printPosition(pnOutFile *out, const float *p) {
  for (int k = 0; k < 3; ++k) {
    printFloat(out, p[k]);
    pnOutFile_Write(out, k < 2 ? " " : "\n", 1);
  }
}

static void writeU32(pnOutFile *out, uint32_t value) {
  unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
                            (unsigned char)(value >> 24)};
  pnOutFile_Write(out, bytes, 4);
}

static void writeFloats(pnOutFile *out, const float *values, int count) {
  for (int i = 0; i < count; ++i) {
    uint32_t bits;
    memcpy(&bits, &values[i], sizeof(bits));
    writeU32(out, bits);
  }
}

/* ---------------------------------------------------------------- formats */

static void writeObj(pnOutFile *out, const pnMeshView *mesh) {
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
    pnOutFile_Write(out, "v ", 2);
    printPosition(out, mesh->vertices + 3 * (size_t)v);
  }
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    const uint32_t *c = mesh->triangles + 3 * (size_t)t;
    pnOutFile_Print(out, "f %llu %llu %llu\n", c[0] + 1ull, c[1] + 1ull, c[2] + 1ull);
  }
}

static void writeOff(pnOutFile *out, const pnMeshView *mesh) {
  pnOutFile_Print(out, "OFF\n%u %u 0\n", mesh->vertexCount, mesh->triangleCount);
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) printPosition(out, mesh->vertices + 3 * (size_t)v);
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    const uint32_t *c = mesh->triangles + 3 * (size_t)t;
    pnOutFile_Print(out, "3 %u %u %u\n", c[0], c[1], c[2]);
  }
}

static void writePly(pnOutFile *out, const pnMeshView *mesh) {
  pnOutFile_Print(out,
                  "ply\nformat binary_little_endian 1.0\n"
                  "element vertex %u\nproperty float x\nproperty float y\nproperty float z\n"
                  "element face %u\nproperty list uchar uint vertex_indices\nend_header\n",
                  mesh->vertexCount, mesh->triangleCount);
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) writeFloats(out, mesh->vertices + 3 * (size_t)v, 3);
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    pnOutFile_Write(out, "\3", 1);
    for (int k = 0; k < 3; ++k) writeU32(out, mesh->triangles[3 * (size_t)t + (size_t)k]);
  }
}

/* The unit normal of a triangle, zero when it has none. In double, where no float overflows. */
static void findNormal(const float *a, const float *b, const float *c, float outNormal[3]) {
  double u[3], v[3], n[3];
  for (int k = 0; k < 3; ++k) {
    u[k] = (double)b[k] - (double)a[k];
    v[k] = (double)c[k] - (double)a[k];
  }
  for (int k = 0; k < 3; ++k) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
  double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (int k = 0; k < 3; ++k) outNormal[k] = length > 0 ? (float)(n[k] / length) : 0;
}

static void writeStl(pnOutFile *out, const pnMeshView *mesh) {
  // The first bytes must not be "solid", which careless readers take for text.
  char head[80] = "binary STL written by pinch";
  pnOutFile_Write(out, head, sizeof(head));
  writeU32(out, mesh->triangleCount);
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    const float *corners[3];
    for (int k = 0; k < 3; ++k) corners[k] = mesh->vertices + 3 * (size_t)mesh->triangles[3 * (size_t)t + (size_t)k];
    float normal[3];
    findNormal(corners[0], corners[1], corners[2], normal);
    writeFloats(out, normal, 3);
    for (int k = 0; k < 3; ++k) writeFloats(out, corners[k], 3);
    pnOutFile_Write(out, "\0\0", 2);
  }
}

/* ---------------------------------------------------------------- the door */

/* Nothing is written that we would not read. */
static pnResult checkMesh(const char *path, const pnMeshView *mesh) {
  for (size_t i = 0; i < 3 * (size_t)mesh->vertexCount; ++i)
    if (!isfinite(mesh->vertices[i]))
      return pnFail(PN_ERROR_NUMBER, "%s: not written: vertex %zu is not finite", path, i / 3);
  for (size_t i = 0; i < 3 * (size_t)mesh->triangleCount; ++i) {
    if (mesh->triangles[i] >= mesh->vertexCount)
      return pnFail(PN_ERROR_INDEX, "%s: not written: triangle %zu names vertex %u of %u", path, i / 3,
                    mesh->triangles[i], mesh->vertexCount);
  }
  return PN_OK;
}

typedef void pnWriteFcn(pnOutFile *out, const pnMeshView *mesh);

static pnWriteFcn *writerOf(const char *path) {
  char extension[8];
  pn_ioExtension(path, extension);
  if (strcmp(extension, "obj") == 0) return writeObj;
  if (strcmp(extension, "off") == 0) return writeOff;
  if (strcmp(extension, "ply") == 0) return writePly;
  if (strcmp(extension, "stl") == 0) return writeStl;
  return NULL;
}

pnResult pnSaveMesh(const char *path, const float *vertices, uint32_t vertexCount, const uint32_t *triangles,
                    uint32_t triangleCount) {
  PN_IO_FLOAT;
  pnMeshView mesh = {vertices, vertexCount, triangles, triangleCount};
  pnWriteFcn *write = writerOf(path);
  if (!write)
    return pnFail(PN_ERROR_UNSUPPORTED, "%s: cannot tell the format; expected .obj, .ply, .stl or .off", path);
  pnResult result = checkMesh(path, &mesh);
  pnOutFile *out = NULL;
  if (result == PN_OK) result = pnOpenOutFile(path, &out);
  if (result != PN_OK) return result;
  write(out, &mesh);
  return pnCloseOutFile(out, true);
}
