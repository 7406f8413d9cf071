/* image_floor.c: see image_floor.h. */
#include "image_floor.h"

#include "clock.h"

#include <math.h>
#include <stdlib.h>

double pn_timeImageFloor(const pnLdi *ldi, const pnMesh *mesh, uint32_t passes, double *outVertices) {
  pnLdiInfo info = pnLdi_GetInfo(ldi);
  uint32_t cells = info.resolution * info.resolution, vertexCount = pnMesh_GetVertexCount(mesh);
  uint8_t *counts = malloc(cells);
  uint32_t *offsets = malloc(sizeof(uint32_t) * (cells + 1)), *keys = malloc(sizeof(uint32_t) * (info.layerCount + 1));
  for (uint32_t c = 0; c < cells; ++c) {
    uint32_t count = pnLdi_GetLayers(ldi, c % info.resolution, c / info.resolution, NULL, 0);
    counts[c] = (uint8_t)(count < 255 ? count : 255);
  }
  const float *v = pnMesh_GetVertices(mesh);
  double vertices = INFINITY, writing = INFINITY;
  volatile float sink = 0;
  volatile uint32_t sinkKey = 0;
  for (uint32_t pass = 0; pass < passes; ++pass) {
    double start = pn_processTime();
    float lo[12], hi[12];
    for (int k = 0; k < 12; ++k) lo[k] = INFINITY, hi[k] = -INFINITY;
    for (uint32_t i = 0; i + 4 <= vertexCount; i += 4)
      for (int k = 0; k < 12; ++k) {
        float x = v[3 * (size_t)i + k];
        lo[k] = x < lo[k] ? x : lo[k];
        hi[k] = x > hi[k] ? x : hi[k];
      }
    for (int k = 0; k < 12; ++k) sink = sink + lo[k] + hi[k];
    double middle = pn_processTime();
    uint32_t at = 0;
    for (uint32_t c = 0; c < cells; ++c) {
      offsets[c] = at;
      for (uint32_t k = 0; k < counts[c]; ++k) keys[at++] = c + k;
    }
    sinkKey = sinkKey + keys[at / 2];
    double end = pn_processTime();
    vertices = fmin(vertices, middle - start);
    writing = fmin(writing, end - middle);
  }
  free(counts), free(offsets), free(keys);
  *outVertices = 1e3 * vertices;
  return 1e3 * (vertices + writing);
}

double pn_timeTriangles(const pnMesh *mesh, uint32_t passes) {
  const uint32_t *triangles = pnMesh_GetTriangles(mesh);
  const float *v = pnMesh_GetVertices(mesh);
  double best = INFINITY;
  volatile float sink = 0;
  for (uint32_t pass = 0; pass < passes; ++pass) {
    double start = pn_processTime();
    float sum = 0;
    for (size_t t = 0; t < pnMesh_GetTriangleCount(mesh); ++t) {
      const float *a = v + 3 * (size_t)triangles[3 * t], *b = v + 3 * (size_t)triangles[3 * t + 1];
      const float *c = v + 3 * (size_t)triangles[3 * t + 2];
      for (int k = 0; k < 3; ++k) {
        float lo = a[k] < b[k] ? a[k] : b[k], hi = a[k] > b[k] ? a[k] : b[k];
        sum += (hi > c[k] ? hi : c[k]) - (lo < c[k] ? lo : c[k]);
      }
    }
    sink = sink + sum;
    best = fmin(best, pn_processTime() - start);
  }
  return 1e3 * best;
}
