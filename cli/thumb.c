/* thumb.c: a small picture of what was found, for a row of an index page: the bodies where the worst finding is deepest, its triangles
 * red. A depth buffer, one light, no perspective; PNG as base64 text. Only sums, products and square roots: the same bytes everywhere. */
#include "scan_batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { WIDTH = 160, HEIGHT = 120, SAMPLES = 2, W = WIDTH * SAMPLES, H = HEIGHT * SAMPLES };

typedef struct Picture {
  float depth[W * H];
  uint8_t colour[W * H][3];
  float centre[3], scale; /* samples a unit of the scene */
} Picture;

/* ---------------------------------------------------------------- drawing */

/* The scene turned by 30 degrees, and seen from 20 degrees above. */
static void turn(const float p[3], float q[3]) {
  const float cosYaw = 0.8660254f, sinYaw = 0.5f, cosPitch = 0.9396926f, sinPitch = 0.3420201f;
  float x = cosYaw * p[0] + sinYaw * p[2], z = cosYaw * p[2] - sinYaw * p[0];
  q[0] = x;
  q[1] = cosPitch * p[1] - sinPitch * z;
  q[2] = sinPitch * p[1] + cosPitch * z;
}

/* A side of a triangle in the picture, for how much of the corner opposite a point has: 1 there, 0 on the side, less beyond. */
typedef struct Side {
  float x, y, dx, dy, area;
} Side;

static Side sideOf(const float a[3], const float b[3], float area) {
  return (Side){a[0], a[1], b[0] - a[0], b[1] - a[1], area};
}

static inline float within(Side s, float x, float y) {
  return (s.dx * (y - s.y) - s.dy * (x - s.x)) / s.area;
}

/* Corners in samples and depth; `light` from 0 to 1. */
static void fill(Picture *picture, float p[3][3], const uint8_t colour[3], float light) {
  float area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
  if (!(area != 0)) return;
  float low[2], high[2];
  for (int k = 0; k < 2; ++k) {
    float end = k == 0 ? W - 1 : H - 1;
    low[k] = fmaxf(floorf(fminf(p[0][k], fminf(p[1][k], p[2][k]))), 0);
    high[k] = fminf(ceilf(fmaxf(p[0][k], fmaxf(p[1][k], p[2][k]))), end);
  }
  const Side side[3] = {sideOf(p[1], p[2], area), sideOf(p[2], p[0], area), sideOf(p[0], p[1], area)};
  const float z0 = p[0][2], z1 = p[1][2], z2 = p[2][2];
  for (int row = (int)low[1]; row <= (int)high[1]; ++row) {
    float y = (float)row + 0.5f;
    for (int column = (int)low[0]; column <= (int)high[0]; ++column) {
      float x = (float)column + 0.5f, w0 = within(side[0], x, y);
      if (!(w0 >= 0)) continue;
      float w1 = within(side[1], x, y);
      if (!(w1 >= 0)) continue;
      float w2 = within(side[2], x, y), depth = w0 * z0 + w1 * z1 + w2 * z2;
      size_t at = (size_t)row * W + (size_t)column;
      if (!(w2 >= 0) || !(depth > picture->depth[at])) continue;
      picture->depth[at] = depth;
      for (int k = 0; k < 3; ++k) picture->colour[at][k] = (uint8_t)((float)colour[k] * light);
    }
  }
}

static void drawBody(Picture *picture, const pnMesh *mesh, const float *turned, const uint8_t *red, uint32_t number) {
  static const uint8_t colours[3][3] = {{205, 205, 210}, {150, 180, 215}, {215, 190, 150}},
                       redColour[3] = {230, 45, 40};
  const uint32_t *corners = pnMesh_GetTriangles(mesh);
  for (uint32_t t = 0; t < pnMesh_GetTriangleCount(mesh); ++t) {
    float p[3][3], u[3], v[3], n[3];
    const float *c[3];
    for (int i = 0; i < 3; ++i) c[i] = turned + 3 * (size_t)corners[3 * (size_t)t + (size_t)i];
    for (int k = 0; k < 3; ++k) u[k] = c[1][k] - c[0][k], v[k] = c[2][k] - c[0][k];
    for (int k = 0; k < 3; ++k) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    // Both sides are lit: from above, and from where we look.
    float light = length > 0 ? 0.35f + 0.25f * fabsf(n[1]) / length + 0.4f * fabsf(n[2]) / length : 0.5f;
    for (int i = 0; i < 3; ++i) {
      p[i][0] = 0.5f * W + picture->scale * (c[i][0] - picture->centre[0]);
      p[i][1] = 0.5f * H - picture->scale * (c[i][1] - picture->centre[1]);
      p[i][2] = c[i][2];
    }
    fill(picture, p, red[t] ? redColour : colours[number % 3], light > 1 ? 1 : light);
  }
}

/* ---------------------------------------------------------------- the scene */

/* What is drawn of one body. */
typedef struct Shape {
  float *turned;
  uint8_t *red;
} Shape;

/* Vertices of all bodies, turned, and the box around them. */
static bool turnBodies(const pnScan *scan, Shape *shapes, float low[3], float high[3]) {
  for (int k = 0; k < 3; ++k) low[k] = INFINITY, high[k] = -INFINITY;
  for (uint32_t b = 0; b < scan->bodyCount; ++b) {
    const pnScanBody *body = &scan->bodies[b];
    uint32_t vertexCount = pnMesh_GetVertexCount(body->mesh);
    if (body->id.index1 == 0) continue;
    shapes[b].turned = malloc(3 * (size_t)vertexCount * sizeof(float) + 1);
    shapes[b].red = calloc(pnMesh_GetTriangleCount(body->mesh) + (size_t)1, 1);
    if (!shapes[b].turned || !shapes[b].red) return false;
    pnPose_GetVertices(pnBody_GetPose(scan->world, body->id), shapes[b].turned);
    for (uint32_t v = 0; v < vertexCount; ++v) {
      float *p = shapes[b].turned + 3 * (size_t)v, q[3];
      turn(p, q);
      for (int k = 0; k < 3; ++k) p[k] = q[k], low[k] = fminf(low[k], q[k]), high[k] = fmaxf(high[k], q[k]);
    }
  }
  return true;
}

static void markPairs(const pnScan *scan, const pnScanFinding *finding, Shape *shapes) {
  for (uint32_t i = 0; i < scan->frame.contactCount; ++i) {
    const pnScanContact *contact = &scan->frame.contacts[i];
    if (finding && (contact->a != finding->core.a || contact->b != finding->core.b)) continue;
    for (size_t k = 0; k < contact->pairCount; ++k) {
      shapes[contact->a].red[contact->pairs[k].a] = 1;
      shapes[contact->b].red[contact->pairs[k].b] = 1;
    }
  }
}

/* All of the scene, or, with a finding, half of it around the finding. */
static void aim(Picture *picture, const pnScanFinding *finding, const float low[3], const float high[3]) {
  float half[2];
  for (int k = 0; k < 2; ++k) half[k] = fmaxf(0.52f * (high[k] - low[k]), 1e-20f);
  for (int k = 0; k < 3; ++k) picture->centre[k] = 0.5f * low[k] + 0.5f * high[k];
  picture->scale = fminf(0.5f * W / half[0], 0.5f * H / half[1]);
  if (!finding) return;
  const float centre[3] = {finding->core.centre.x, finding->core.centre.y, finding->core.centre.z};
  turn(centre, picture->centre);
  picture->scale *= 2;
}

/* ---------------------------------------------------------------- PNG, and base64 */

static void putWord(uint8_t *out, uint32_t x) {
  for (int i = 0; i < 4; ++i) out[i] = (uint8_t)(x >> (24 - 8 * i));
}

/* A chunk: length, name, data, check over name and data. */
static void putChunk(pnBytes *out, const char *name, const uint8_t *data, uint32_t size) {
  uint8_t word[4];
  putWord(word, size);
  pn_bytesAdd(out, word, 4);
  pn_bytesAdd(out, name, 4);
  pn_bytesAdd(out, data, size);
  putWord(word, (uint32_t)crc32(crc32(0, (const Bytef *)name, 4), size > 0 ? data : (const Bytef *)"", size));
  pn_bytesAdd(out, word, 4);
}

static bool putPng(const Picture *picture, pnBytes *out) {
  enum { STRIDE = 1 + 3 * WIDTH };
  uint8_t *pixels = calloc(HEIGHT, STRIDE), head[13] = {0};
  uLongf size = compressBound(HEIGHT * STRIDE);
  uint8_t *packed = malloc(size);
  for (size_t y = 0; y < HEIGHT && pixels; ++y) {
    for (size_t x = 0; x < WIDTH; ++x) {
      for (size_t k = 0; k < 3; ++k) {
        uint32_t sum = 0;
        for (size_t s = 0; s < SAMPLES * SAMPLES; ++s)
          sum += picture->colour[(y * SAMPLES + s / SAMPLES) * W + x * SAMPLES + s % SAMPLES][k];
        pixels[y * STRIDE + 1 + 3 * x + k] = (uint8_t)(sum / (SAMPLES * SAMPLES));
      }
    }
  }
  bool good = pixels && packed && compress2(packed, &size, pixels, HEIGHT * STRIDE, 9) == Z_OK;
  if (good) {
    putWord(head, WIDTH);
    putWord(head + 4, HEIGHT);
    head[8] = 8, head[9] = 2;
    pn_bytesAdd(out, "\x89PNG\r\n\x1a\n", 8);
    putChunk(out, "IHDR", head, 13);
    putChunk(out, "IDAT", packed, (uint32_t)size);
    putChunk(out, "IEND", NULL, 0);
  }
  free(pixels);
  free(packed);
  return good && !out->failed;
}

static void putBase64(const pnBytes *bytes, pnBytes *out) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < bytes->size; i += 3) {
    size_t have = bytes->size - i < 3 ? bytes->size - i : 3;
    uint32_t x = (uint32_t)bytes->data[i] << 16;
    if (have > 1) x |= (uint32_t)bytes->data[i + 1] << 8;
    if (have > 2) x |= bytes->data[i + 2];
    for (size_t k = 0; k < 4; ++k) pn_bytesAdd(out, k <= have ? &digits[x >> (18 - 6 * k) & 63] : "=", 1);
  }
}

/* ---------------------------------------------------------------- all of it */

static pnResult draw(pnScan *scan, const pnScanFinding *finding, Picture *picture) {
  Shape *shapes = calloc(scan->bodyCount, sizeof(Shape));
  float low[3], high[3];
  bool good = shapes && turnBodies(scan, shapes, low, high);
  if (good) {
    memset(picture->colour, 250, sizeof(picture->colour));
    for (size_t i = 0; i < (size_t)W * H; ++i) picture->depth[i] = -INFINITY;
    markPairs(scan, finding, shapes);
    aim(picture, finding, low, high);
    for (uint32_t b = 0; b < scan->bodyCount; ++b)
      if (shapes[b].turned) drawBody(picture, scan->bodies[b].mesh, shapes[b].turned, shapes[b].red, b);
  }
  for (uint32_t b = 0; b < scan->bodyCount && shapes; ++b) free(shapes[b].turned), free(shapes[b].red);
  free(shapes);
  return good ? PN_OK : pnFail(PN_ERROR_MEMORY, "out of memory for a picture");
}

pnResult pn_drawThumb(pnScan *scan, const pnScanFinding *finding, pnBytes *out) {
  Picture *picture = malloc(sizeof(Picture));
  pnBytes png = {0};
  pn_scanBeginRun(scan, finding ? finding->run : 0);
  int64_t number = finding ? (int64_t)floor(pn_frameNumber(scan, finding->core.deepestFrame)) : scan->range.first;
  pnResult result = picture ? pn_scanMove(scan, number, true) : pnFail(PN_ERROR_MEMORY, "out of memory for a picture");
  if (result == PN_OK) result = pn_scanCollide(scan);
  if (result == PN_OK) result = draw(scan, finding, picture);
  if (result == PN_OK && !putPng(picture, &png)) result = pnFail(PN_ERROR_MEMORY, "out of memory for a picture");
  if (result == PN_OK) putBase64(&png, out);
  pn_bytesFree(&png);
  free(picture);
  return result == PN_OK && out->failed ? pnFail(PN_ERROR_MEMORY, "out of memory for a picture") : result;
}
