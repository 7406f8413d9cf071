/* picture.c: draws two meshes and, in red, the triangles of theirs that meet. Made the picture in README.md:
 *
 *   example_picture docs/img/meet.png
 *
 * A soft ball is pressed into a knot in three steps. pinch finds the triangles; the rest of the file is a small
 * renderer: project, fill with a depth buffer at three times the size, shade, shrink, write a PNG with a transparent
 * ground so that it looks right on a light and on a dark page. */
#include <math.h>
#include <pinch/world.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The picture in pixels, samples per pixel and axis, and how many steps stand side by side. */
enum { WIDTH = 1500, HEIGHT = 560, SAMPLES = 3, STEPS = 3 };
enum { W = WIDTH * SAMPLES, H = HEIGHT * SAMPLES };

typedef struct Image {
  float *depth;  /* W * H, larger is nearer */
  float *colour; /* W * H * 4: red, green, blue, coverage */
} Image;

typedef struct Colour {
  float r, g, b;
} Colour;

static const Colour knotColour = {0.36f, 0.55f, 0.78f}, ballColour = {0.93f, 0.74f, 0.42f},
                    redColour = {0.88f, 0.13f, 0.16f};

static void check(pnResult result) {
  if (result == PN_OK) return;
  fprintf(stderr, "picture: %s\n", pnGetMessage());
  exit(1);
}

/* ---------------------------------------------------------------- the renderer */

static pnVec3 sub(pnVec3 a, pnVec3 b) {
  return (pnVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static float dot(pnVec3 a, pnVec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
static pnVec3 cross(pnVec3 a, pnVec3 b) {
  return (pnVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static pnVec3 unit(pnVec3 a) {
  float length = sqrtf(dot(a, a));
  return length > 0.0f ? (pnVec3){a.x / length, a.y / length, a.z / length} : a;
}

/* The camera turns the scene by two angles and looks along -z from some distance. */
static pnVec3 turn(pnVec3 p) {
  const float yaw = 0.5f, pitch = 0.50f;
  float x = cosf(yaw) * p.x + sinf(yaw) * p.z, z = cosf(yaw) * p.z - sinf(yaw) * p.x;
  return (pnVec3){x, cosf(pitch) * p.y - sinf(pitch) * z, sinf(pitch) * p.y + cosf(pitch) * z};
}
/* `middle` is the column of the step's centre. Returns column, row and depth. */
static pnVec3 project(pnVec3 p, float middle) {
  const float distance = 9.0f, zoom = 1.72f * H;
  pnVec3 q = turn(p);
  float scale = zoom / (distance - q.z);
  return (pnVec3){middle + scale * q.x, 0.54f * H - scale * q.y, 1.0f / (distance - q.z)};
}

/* One key light, a weak one from the other side, and a sky. */
static Colour shade(Colour base, pnVec3 normal) {
  const pnVec3 key = {-0.45f, 0.70f, 0.55f}, fill = {0.75f, 0.10f, 0.65f};
  pnVec3 n = unit(normal);
  float light = 0.30f + 0.14f * n.y + 0.62f * fmaxf(dot(n, key), 0.0f) + 0.18f * fmaxf(dot(n, fill), 0.0f);
  float shine = powf(fmaxf(dot(n, unit((pnVec3){-0.25f, 0.40f, 0.88f})), 0.0f), 40.0f) * 0.20f;
  return (Colour){base.r * light + shine, base.g * light + shine, base.b * light + shine};
}

/* Fills one triangle: corners on the screen, normals at the corners. Edges are drawn a little darker. */
static void fillTriangle(Image *image, const pnVec3 p[3], const pnVec3 n[3], Colour base) {
  float area = (p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[1].y - p[0].y) * (p[2].x - p[0].x);
  if (area == 0.0f) return;
  // Heights of the triangle in samples turn a barycentric coordinate into a distance from the edge.
  float height[3];
  for (int i = 0; i < 3; ++i) {
    pnVec3 a = p[(i + 1) % 3], b = p[(i + 2) % 3];
    height[i] = fabsf(area) / hypotf(b.x - a.x, b.y - a.y);
  }
  int left = (int)fmaxf(floorf(fminf(p[0].x, fminf(p[1].x, p[2].x))), 0.0f);
  int right = (int)fminf(ceilf(fmaxf(p[0].x, fmaxf(p[1].x, p[2].x))), W - 1.0f);
  int top = (int)fmaxf(floorf(fminf(p[0].y, fminf(p[1].y, p[2].y))), 0.0f);
  int bottom = (int)fminf(ceilf(fmaxf(p[0].y, fmaxf(p[1].y, p[2].y))), H - 1.0f);
  for (int row = top; row <= bottom; ++row) {
    for (int column = left; column <= right; ++column) {
      float x = (float)column + 0.5f, y = (float)row + 0.5f, w[3], edge = 1e9f;
      for (int i = 0; i < 3; ++i) {
        pnVec3 a = p[(i + 1) % 3], b = p[(i + 2) % 3];
        w[i] = ((b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)) / area;
        edge = fminf(edge, w[i] * height[i]);
      }
      size_t at = (size_t)row * W + (size_t)column;
      float depth = w[0] * p[0].z + w[1] * p[1].z + w[2] * p[2].z;
      if (edge < 0.0f || depth <= image->depth[at]) continue;
      image->depth[at] = depth;
      pnVec3 normal = {w[0] * n[0].x + w[1] * n[1].x + w[2] * n[2].x, w[0] * n[0].y + w[1] * n[1].y + w[2] * n[2].y,
                       w[0] * n[0].z + w[1] * n[1].z + w[2] * n[2].z};
      Colour c = shade(base, normal);
      float ink = edge < 0.55f * SAMPLES / 2 ? 0.72f : 1.0f;
      memcpy(image->colour + 4 * at, (float[4]){c.r * ink, c.g * ink, c.b * ink, 1.0f}, 4 * sizeof(float));
    }
  }
}

/* Draws a body as its pose is now; `red` has a flag for each triangle. */
static void drawBody(Image *image, const pnPose *pose, const unsigned char *red, Colour base, float middle) {
  const pnMesh *mesh = pnPose_GetMesh(pose);
  uint32_t vertexCount = pnMesh_GetVertexCount(mesh), triangleCount = pnMesh_GetTriangleCount(mesh);
  const uint32_t *corners = pnMesh_GetTriangles(mesh);
  pnVec3 *place = malloc(vertexCount * sizeof(pnVec3)), *normal = calloc(vertexCount, sizeof(pnVec3));
  if (place == NULL || normal == NULL) exit(1);
  for (uint32_t v = 0; v < vertexCount; ++v) place[v] = pnPose_GetVertex(pose, v);
  // The normal of a vertex is the sum of its triangles' normals, weighted by area.
  for (uint32_t t = 0; t < triangleCount; ++t) {
    const uint32_t *c = corners + 3 * t;
    pnVec3 n = turn(cross(sub(place[c[1]], place[c[0]]), sub(place[c[2]], place[c[0]])));
    for (int i = 0; i < 3; ++i)
      normal[c[i]] = (pnVec3){normal[c[i]].x + n.x, normal[c[i]].y + n.y, normal[c[i]].z + n.z};
  }
  for (uint32_t t = 0; t < triangleCount; ++t) {
    pnVec3 p[3], n[3];
    for (int i = 0; i < 3; ++i) {
      p[i] = project(place[corners[3 * t + i]], middle);
      n[i] = normal[corners[3 * t + i]];
    }
    fillTriangle(image, p, n, red[t] ? redColour : base);
  }
  free(place);
  free(normal);
}

/* ---------------------------------------------------------------- PNG */

static void putWord(unsigned char *out, uint32_t x) {
  for (int i = 0; i < 4; ++i) out[i] = (unsigned char)(x >> (24 - 8 * i));
}

/* A chunk: length, name, data, checksum over name and data. */
static void putChunk(FILE *file, const char *name, const unsigned char *data, uint32_t size) {
  unsigned char word[4];
  putWord(word, size);
  fwrite(word, 1, 4, file);
  fwrite(name, 1, 4, file);
  fwrite(data, 1, size, file);
  uLong sum = crc32(crc32(0, (const unsigned char *)name, 4), data, size);
  putWord(word, (uint32_t)sum);
  fwrite(word, 1, 4, file);
}

/* Shrinks the image by SAMPLES and writes red, green, blue and alpha, 8 bits each. */
static bool writePng(const Image *image, const char *path) {
  size_t stride = 1 + 4 * (size_t)WIDTH, size = stride * HEIGHT;
  unsigned char *pixels = calloc(size, 1), head[13] = {0};
  uLongf packedSize = compressBound(size);
  unsigned char *packed = malloc(packedSize);
  FILE *file = fopen(path, "wb");
  bool good = pixels && packed && file;
  for (size_t y = 0; good && y < HEIGHT; ++y) {
    for (size_t x = 0; x < WIDTH; ++x) {
      float sum[4] = {0};
      for (size_t k = 0; k < SAMPLES * SAMPLES; ++k) {
        const float *c = image->colour + 4 * ((y * SAMPLES + k / SAMPLES) * W + x * SAMPLES + k % SAMPLES);
        for (int i = 0; i < 4; ++i) sum[i] += c[i];
      }
      // Colour is the mean over the samples that are covered; coverage itself is the alpha.
      unsigned char *out = pixels + y * stride + 1 + 4 * x;
      for (int i = 0; i < 3 && sum[3] > 0.0f; ++i)
        out[i] = (unsigned char)(255.0f * fminf(sum[i] / sum[3], 1.0f) + 0.5f);
      out[3] = (unsigned char)(255.0f * sum[3] / (SAMPLES * SAMPLES) + 0.5f);
    }
  }
  if (good && compress2(packed, &packedSize, pixels, size, 9) == Z_OK) {
    putWord(head, WIDTH);
    putWord(head + 4, HEIGHT);
    head[8] = 8, head[9] = 6;
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
    putChunk(file, "IHDR", head, 13);
    putChunk(file, "IDAT", packed, (uint32_t)packedSize);
    putChunk(file, "IEND", (const unsigned char *)"", 0);
  }
  if (file) good = fclose(file) == 0 && good;
  free(pixels);
  free(packed);
  return good;
}

/* ---------------------------------------------------------------- the scene */

/* The ball at a step: it comes from above and is squeezed flat and wide by the knot, with a ripple. */
static void moveBall(const pnMesh *mesh, int step, float *out) {
  const float *rest = pnMesh_GetVertices(mesh);
  float press = (float)step / (STEPS - 1), height = 1.40f - 1.32f * press;
  for (uint32_t v = 0; v < pnMesh_GetVertexCount(mesh); ++v) {
    const float *p = rest + 3 * v;
    float wide = 1.0f + 0.28f * press,
          ripple = 1.0f + 0.05f * sinf(7.0f * p[0] + 2.0f * press) * sinf(6.0f * p[2]) * (0.4f + press);
    out[3 * v] = p[0] * wide * ripple;
    out[3 * v + 1] = p[1] * (1.0f - 0.22f * press) * ripple + height;
    out[3 * v + 2] = p[2] * wide * ripple;
  }
}

/* Asks the world which triangles meet, marks them, and draws both bodies. */
static void drawStep(Image *image, pnWorld *world, const pnBodyId body[2], int step) {
  pnFrame frame = pnWorld_Collide(world, NULL);
  check(frame.result);
  unsigned char *red[2];
  for (int i = 0; i < 2; ++i) {
    red[i] = calloc(pnMesh_GetTriangleCount(pnPose_GetMesh(pnBody_GetPose(world, body[i]))), 1);
    if (red[i] == NULL) exit(1);
  }
  // There are two bodies and so at most one contact: a is the knot, made first, and b the ball.
  const pnPair *pairs = pnWorld_GetPairs(world);
  for (size_t i = 0; i < frame.pairCount; ++i) red[0][pairs[i].a] = red[1][pairs[i].b] = 1;
  printf("step %d: %zu pairs of triangles meet\n", step, frame.pairCount);
  float middle = (float)W * ((float)step + 0.5f) / STEPS;
  drawBody(image, pnBody_GetPose(world, body[0]), red[0], knotColour, middle);
  drawBody(image, pnBody_GetPose(world, body[1]), red[1], ballColour, middle);
  free(red[0]);
  free(red[1]);
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: example_picture OUT.png\n"), 2;
  Image image = {calloc((size_t)W * H, sizeof(float)), calloc((size_t)W * H, 4 * sizeof(float))};
  pnMesh *mesh[2];
  pnWorld *world;
  pnBodyId body[2];

  // Two meshes by formula, in a world.
  check(pnMakeKnot(2, 3, 1.15f, 0.30f, 110, 14, &mesh[0]));
  check(pnMakeIcosphere(3, 0.80f, &mesh[1]));
  pnWorldDef worldDef = pnDefaultWorldDef();
  check(pnCreateWorld(&worldDef, &world));
  for (int i = 0; i < 2; ++i) {
    pnBodyDef bodyDef = pnDefaultBodyDef();
    bodyDef.mesh = mesh[i];
    check(pnWorld_CreateBody(world, &bodyDef, &body[i]));
  }

  // The knot lies flat; the ball is given new vertices in every step.
  const pnMatrix flat = {{{1, 0, 0, 0}, {0, 0, 1, -0.35f}, {0, -1, 0, 0}}};
  check(pnBody_SetTransform(world, body[0], &flat));
  uint32_t count = pnMesh_GetVertexCount(mesh[1]);
  float *vertices = malloc(3 * (size_t)count * sizeof(float));
  if (image.depth == NULL || image.colour == NULL || vertices == NULL)
    return fprintf(stderr, "picture: no memory\n"), 1;
  for (int step = 0; step < STEPS; ++step) {
    moveBall(mesh[1], step, vertices);
    check(pnBody_SetVertices(world, body[1], vertices, count));
    drawStep(&image, world, body, step);
  }
  bool written = writePng(&image, argv[1]);
  if (!written) fprintf(stderr, "picture: %s cannot be written\n", argv[1]);

  free(vertices);
  free(image.depth);
  free(image.colour);
  pnDestroyWorld(world);
  pnDestroyMesh(mesh[0]);
  pnDestroyMesh(mesh[1]);
  return written ? 0 : 1;
}
