/* mesh_save.c: writes a mesh as OBJ, PLY (binary little-endian), STL (binary) or OFF, by extension.
 *
 * Text numbers have as few digits as give the same float when read back, with a point in every locale. The file is
 * written under a temporary name beside its place and renamed at the end: a failure leaves the old file as it was. */
#include "pinch/io.h"

#include "reader.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is to be written. */
typedef struct pnMeshView {
  const float *vertices;
  uint32_t vertexCount;
  const uint32_t *triangles;
  uint32_t triangleCount;
} pnMeshView;

/* ---------------------------------------------------------------- numbers */

/* The shortest of 6 to 9 digits that reads back as x; 9 always do. */
static void printFloat(FILE *stream, float x) {
  char text[40];
  for (int digits = 6; digits <= 9; ++digits) {
    snprintf(text, sizeof(text), "%.*g", digits, (double)x);
    if (strtof(text, NULL) == x) break;
  }
  // Whatever the locale puts between the digits becomes one point.
  bool inPoint = false;
  for (const char *c = text; *c; ++c) {
    bool plain = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e';
    if (plain)
      fputc(*c, stream);
    else if (!inPoint)
      fputc('.', stream);
    inPoint = !plain;
  }
}

static void printPosition(FILE *stream, const float *p) {
  for (int k = 0; k < 3; ++k) {
    if (k > 0) fputc(' ', stream);
    printFloat(stream, p[k]);
  }
  fputc('\n', stream);
}

static void writeU32(FILE *stream, uint32_t value) {
  unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
                            (unsigned char)(value >> 24)};
  fwrite(bytes, 1, 4, stream);
}

static void writeFloats(FILE *stream, const float *values, int count) {
  for (int i = 0; i < count; ++i) {
    uint32_t bits;
    memcpy(&bits, &values[i], sizeof(bits));
    writeU32(stream, bits);
  }
}

/* ---------------------------------------------------------------- formats */

static void writeObj(FILE *stream, const pnMeshView *mesh) {
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
    fputs("v ", stream);
    printPosition(stream, mesh->vertices + 3 * (size_t)v);
  }
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    const uint32_t *c = mesh->triangles + 3 * (size_t)t;
    fprintf(stream, "f %llu %llu %llu\n", c[0] + 1ull, c[1] + 1ull, c[2] + 1ull);
  }
}

static void writeOff(FILE *stream, const pnMeshView *mesh) {
  fprintf(stream, "OFF\n%u %u 0\n", mesh->vertexCount, mesh->triangleCount);
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) printPosition(stream, mesh->vertices + 3 * (size_t)v);
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    const uint32_t *c = mesh->triangles + 3 * (size_t)t;
    fprintf(stream, "3 %u %u %u\n", c[0], c[1], c[2]);
  }
}

static void writePly(FILE *stream, const pnMeshView *mesh) {
  fprintf(
      stream,
      "ply\nformat binary_little_endian 1.0\nelement vertex %u\nproperty float x\nproperty float y\nproperty float z\n"
      "element face %u\nproperty list uchar uint vertex_indices\nend_header\n",
      mesh->vertexCount, mesh->triangleCount);
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) writeFloats(stream, mesh->vertices + 3 * (size_t)v, 3);
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    fputc(3, stream);
    for (int k = 0; k < 3; ++k) writeU32(stream, mesh->triangles[3 * (size_t)t + (size_t)k]);
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

static void writeStl(FILE *stream, const pnMeshView *mesh) {
  // The first bytes must not be "solid", which careless readers take for text.
  char head[80] = "binary STL written by pinch";
  fwrite(head, 1, sizeof(head), stream);
  writeU32(stream, mesh->triangleCount);
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    const float *corners[3];
    for (int k = 0; k < 3; ++k) corners[k] = mesh->vertices + 3 * (size_t)mesh->triangles[3 * (size_t)t + (size_t)k];
    float normal[3];
    findNormal(corners[0], corners[1], corners[2], normal);
    writeFloats(stream, normal, 3);
    for (int k = 0; k < 3; ++k) writeFloats(stream, corners[k], 3);
    fwrite("\0\0", 1, 2, stream);
  }
}

/* ---------------------------------------------------------------- the door */

/* Nothing is written that we would not read. */
static pnResult checkMesh(const char *path, const pnMeshView *mesh) {
  for (size_t i = 0; i < 3 * (size_t)mesh->vertexCount; ++i) {
    if (!isfinite(mesh->vertices[i]))
      return pnFail(PN_ERROR_NUMBER, "%s: not written: vertex %zu is not finite", path, i / 3);
  }
  for (size_t i = 0; i < 3 * (size_t)mesh->triangleCount; ++i) {
    if (mesh->triangles[i] >= mesh->vertexCount)
      return pnFail(PN_ERROR_INDEX, "%s: not written: triangle %zu names vertex %u of %u", path, i / 3,
                    mesh->triangles[i], mesh->vertexCount);
  }
  return PN_OK;
}

typedef void pnWriteFcn(FILE *stream, const pnMeshView *mesh);

static pnWriteFcn *writerOf(const char *path) {
  char extension[8];
  pn_ioExtension(path, extension);
  if (strcmp(extension, "obj") == 0) return writeObj;
  if (strcmp(extension, "off") == 0) return writeOff;
  if (strcmp(extension, "ply") == 0) return writePly;
  if (strcmp(extension, "stl") == 0) return writeStl;
  return NULL;
}

/* Writes under the temporary name and takes the file's place. */
static pnResult writeAndRename(const char *path, char *temporary, const pnMeshView *mesh, pnWriteFcn *write) {
  FILE *stream = fopen(temporary, "wb");
  if (!stream) return pnFail(PN_ERROR_FILE, "%s: cannot be written: %s", temporary, strerror(errno));
  write(stream, mesh);
  bool fine = fflush(stream) == 0 && !ferror(stream);
  fine = fclose(stream) == 0 && fine;
  if (fine && rename(temporary, path) == 0) return PN_OK;
  int reason = errno;
  remove(temporary);
  return pnFail(PN_ERROR_FILE, "%s: cannot be written: %s", path, strerror(reason));
}

pnResult pnSaveMesh(const char *path, const float *vertices, uint32_t vertexCount, const uint32_t *triangles,
                    uint32_t triangleCount) {
  pnMeshView mesh = {vertices, vertexCount, triangles, triangleCount};
  pnWriteFcn *write = writerOf(path);
  if (!write)
    return pnFail(PN_ERROR_UNSUPPORTED, "%s: cannot tell the format; expected .obj, .ply, .stl or .off", path);
  pnResult result = checkMesh(path, &mesh);
  if (result != PN_OK) return result;
  // The process id keeps two programs that write the same file apart.
  size_t size = strlen(path) + 32;
  char *temporary = pn_ioAlloc(size);
  if (!temporary) return pnFail(PN_ERROR_MEMORY, "%s: out of memory while writing", path);
  snprintf(temporary, size, "%s.%ld.part", path, (long)getpid());
  result = writeAndRename(path, temporary, &mesh, write);
  pn_ioFree(temporary);
  return result;
}
