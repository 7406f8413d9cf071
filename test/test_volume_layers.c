/* test_volume_layers.c: the image itself. Against an obvious one (every sample against every triangle), even numbers of
 * layers whatever the mesh and its place, windows from all six directions, any number of layers. */
#include "support_volume.h"

#include "volume/overlap.h"
#include "volume/raster.h"
#include "volume/stroke.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the obvious image */

typedef struct Crossing {
  int32_t depth2; /* twice the exact depth, rounded down: tells the two allowed roundings apart */
  bool exit;
} Crossing;

/* Is the sample, moved right by a hair and down by a hair of a hair, inside? Sign of the edge function of three
 * points, decided by the moves where it is zero. */
static int movedSide(int64_t ax, int64_t ay, int64_t bx, int64_t by, int64_t px, int64_t py) {
  int64_t e = (bx - ax) * (py - ay) - (by - ay) * (px - ax);
  if (e) return e > 0 ? 1 : -1;
  if (by != ay) return by < ay ? 1 : -1;
  return bx < ax ? 1 : bx > ax ? -1 : 0;
}

/* All crossings of the sample (px, py), unsorted. */
static uint32_t crossingsAt(const pnPoint *points, const pnSolid *solid, int64_t px, int64_t py, Crossing *out) {
  uint32_t count = 0;
  for (uint32_t t = 0; t < solid->triangleCount; ++t) {
    const pnPoint *v[3];
    for (int k = 0; k < 3; ++k) v[k] = points + solid->triangles[3 * t + k];
    int side[3];
    for (int k = 0; k < 3; ++k) {
      const pnPoint *a = v[k], *b = v[(k + 1) % 3];
      side[k] = movedSide(a->x, a->y, b->x, b->y, px, py);
    }
    if (side[0] == 0 || side[0] != side[1] || side[1] != side[2]) continue;
    // the plane's depth there, exactly, in long integers
    int64_t bx = v[1]->x - v[0]->x, by = v[1]->y - v[0]->y, cx = v[2]->x - v[0]->x, cy = v[2]->y - v[0]->y;
    int64_t area = bx * cy - cx * by, qx = px - v[0]->x, qy = py - v[0]->y;
    long double s = (long double)(qx * cy - cx * qy) / area, u = (long double)(bx * qy - qx * by) / area;
    long double z = v[0]->z + s * (v[1]->z - v[0]->z) + u * (v[2]->z - v[0]->z);
    out[count].depth2 = (int32_t)floorl(2 * z);
    out[count++].exit = area > 0;
  }
  return count;
}

static int byDepth(const void *a, const void *b) {
  const Crossing *p = a, *q = b;
  return p->depth2 != q->depth2 ? (p->depth2 < q->depth2 ? -1 : 1) : p->exit - q->exit;
}

/* Makes the image by the fast path with a window that cuts nothing off in depth, and compares every cell. */
static void compareImages(const TestBody *body, uint32_t size, uint32_t axis, const pnBox *window) {
  pnSolid solid;
  pnRaster raster = {0};
  pnLayers layers = {0};
  bool moved;
  testExpectOk(pn_solidInit(&solid, body->pose, PN_INSIDE_WINDING));
  testExpectOk(pn_solidRefresh(&solid, NULL, &moved));
  double lo[3] = {window->min.x, window->min.y, window->min.z}, hi[3] = {window->max.x, window->max.y, window->max.z};
  pnView view = pn_viewAlong(axis, lo, hi, &solid.box, size);
  testExpectOk(pn_layersReset(&layers, &view, false, false, false));
  testExpectOk(pn_rasterPoints(&raster, &solid, &view, NULL));
  testExpectOk(pn_rasterLayers(&raster, &solid, NULL, &layers));

  Crossing *crossings = malloc(sizeof *crossings * (solid.triangleCount + 1));
  int64_t cell = 1 << view.cellShift;
  for (uint32_t y = 0; y < view.size; ++y)
    for (uint32_t x = 0; x < view.size; ++x) {
      uint32_t count = crossingsAt(raster.points.data, &solid, x * cell + cell / 2, y * cell + cell / 2, crossings);
      qsort(crossings, count, sizeof *crossings, byDepth);
      pnColumn column = pn_layersColumn(&layers, x, y);
      assert_int_equal(column.keyCount, count);
      assert_int_equal(count % 2, 0);
      int32_t winding = 0;
      for (uint32_t i = 0; i < count; ++i) {
        // rounded to the nearest, by a sum whose last bits may differ from the exact one's
        int32_t depth = (int32_t)(column.keys[i] >> 1), exact2 = crossings[i].depth2;
        assert_in_range(2 * depth + 4, exact2 + 3, exact2 + 5);
        winding += column.keys[i] & 1 ? -1 : 1;
      }
      assert_int_equal(winding, 0);
    }
  free(crossings);
  pn_layersFree(&layers);
  pn_rasterFree(&raster);
  pn_solidFree(&solid);
}

static pnBox boxOf(const TestBody *body, float grow) {
  pnBox box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (uint32_t v = 0; v < pnMesh_GetVertexCount(body->mesh); ++v) {
    pnVec3 p = pnPose_GetVertex(body->pose, v);
    box.min = (pnVec3){fminf(box.min.x, p.x), fminf(box.min.y, p.y), fminf(box.min.z, p.z)};
    box.max = (pnVec3){fmaxf(box.max.x, p.x), fmaxf(box.max.y, p.y), fmaxf(box.max.z, p.z)};
  }
  box.min = (pnVec3){box.min.x - grow, box.min.y - grow, box.min.z - grow};
  box.max = (pnVec3){box.max.x + grow, box.max.y + grow, box.max.z + grow};
  return box;
}

static void againstObvious(void **state) {
  (void)state;
  TestBody bodies[] = {testBox(1, 1, 1, 4), testStar(3, 1, 0.4f), testTorus(1, 0.4f, 16, 12), testHollow(2, 1, 0.5f)};
  TestRandom random = testRandom(12);
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; ++i) {
    for (int n = 0; n < 4; ++n) {
      if (n) {
        pnMatrix turn = testRotation(&random, 1);
        testExpectOk(pnPose_SetTransform(bodies[i].pose, &turn));
      }
      // the whole body; a border around it; a window that only it sticks out of across
      pnBox box = boxOf(&bodies[i], n % 2 ? 0.1f : 0);
      if (n == 3) box.min.x += 0.5f, box.max.y -= 0.7f;
      compareImages(&bodies[i], 16 + 7 * (uint32_t)n, n == 3 ? 2 : (uint32_t)n % 3, &box);
    }
    testFreeBody(&bodies[i]);
  }
}

/* Vertices and edges exactly on sample points: a box of 16 x 16 cells seen through windows in step with it. */
static void onTheSamples(void **state) {
  (void)state;
  for (uint32_t cells = 1; cells <= 16; cells *= 2) {
    TestBody box = testBox(1, 1, 1, cells);
    for (uint32_t size = 16; size <= 33; size += size == 32 ? 1 : 16)
      for (int shift = 0; shift < 4; ++shift) {
        // moved by quarters of a cell: corners fall on centres, borders, and in between
        float step = 2.0f / (float)size * 0.25f * (float)shift;
        pnBox window = {{-1 - step, -1 - step, -1}, {1 - step, 1 - step, 1}};
        compareImages(&box, size, 2, &window);
      }
    testFreeBody(&box);
  }
}

/* Random vertices on a coarse lattice: slivers, edge-on triangles, folded and repeated ones; closed, because every
 * edge of the topology is. */
static void crumpled(void **state) {
  (void)state;
  TestRandom random = testRandom(9);
  for (int n = 0; n < (int)testRounds(60); ++n) {
    TestBody body = testSphere(1, 1);
    uint32_t count = pnMesh_GetVertexCount(body.mesh);
    float vertices[3 * 64 + 1];
    assert_true(count <= 64);
    for (uint32_t i = 0; i < 3 * count; ++i) vertices[i] = (float)(int)testBelow(&random, 9) / 4 - 1;
    // two corners of the window are always there
    for (int k = 0; k < 3; ++k) vertices[k] = -1, vertices[3 + k] = 1;
    testExpectOk(pnPose_SetVertices(body.pose, vertices, count));
    pnBox window = {{-1, -1, -1}, {1, 1, 1}};
    compareImages(&body, 16, (uint32_t)n % 3, &window);
    testFreeBody(&body);
  }
}

/* Windows that show a corner of much larger bodies: huge triangles of which the image sees a few cells. */
static void cornersOfGiants(void **state) {
  (void)state;
  TestRandom random = testRandom(17);
  TestBody bodies[2] = {testBox(1, 1, 1, 1), testSphere(1, 1)};
  for (int n = 0; n < (int)testRounds(80); ++n) {
    TestBody *body = &bodies[n % 2];
    pnMatrix turn = testRotation(&random, 1);
    testExpectOk(pnPose_SetTransform(body->pose, &turn));
    // around a point near the surface, from half the body down to a hundred-thousandth; in depth all of it
    uint32_t v = testBelow(&random, pnMesh_GetVertexCount(body->mesh)), w = testBelow(&random, 8),
             axis = testBelow(&random, 3);
    pnVec3 p = pnPose_GetVertex(body->pose, v), q = pnPose_GetVertex(body->pose, w);
    float half = 0.5f * powf(10, testFloat(&random, -5, 0)), f = testFloat(&random, 0, 0.2f);
    float at[3] = {p.x + f * (q.x - p.x), p.y + f * (q.y - p.y), p.z + f * (q.z - p.z)};
    pnBox box = boxOf(body, 0.01f),
          window = {{at[0] - half, at[1] - half, at[2] - half}, {at[0] + half, at[1] + half, at[2] + half}};
    (&window.min.x)[axis] = (&box.min.x)[axis];
    (&window.max.x)[axis] = (&box.max.x)[axis];
    compareImages(body, 16 + testBelow(&random, 20), axis, &window);
  }
  for (int i = 0; i < 2; ++i) testFreeBody(&bodies[i]);
}

/* From triangles far smaller than a cell to some of a hundred cells: dots of both sizes and rows of every length, side by
 * side, in numbers that are no multiple of four. */
static void everySize(void **state) {
  (void)state;
  TestRandom random = testRandom(23);
  TestBody bodies[3] = {testSphere(4, 1), testSphere(1, 1), testBox(1, 1, 1, 1)};
  static const uint32_t sizes[3][3] = {{16, 37, 90}, {40, 129, 301}, {17, 257, 500}};
  for (int i = 0; i < 3; ++i)
    for (int n = 0; n < 3; ++n) {
      pnMatrix turn = testRotation(&random, 1);
      testExpectOk(pnPose_SetTransform(bodies[i].pose, &turn));
      pnBox window = boxOf(&bodies[i], 0.01f * (float)n);
      compareImages(&bodies[i], sizes[i][n], (uint32_t)n, &window);
    }
  for (int i = 0; i < 3; ++i) testFreeBody(&bodies[i]);
}

/* Small triangles that the image's border cuts, on all four sides: what is beyond must not be drawn, neither into the
 * next row nor, at the right and upper border, behind the last (sizes that are and are not multiples of sixteen). */
static void cutAtTheBorder(void **state) {
  (void)state;
  TestRandom random = testRandom(31);
  TestBody ball = testSphere(4, 1);
  static const uint32_t sizes[4] = {16, 18, 33, 48};
  for (int n = 0; n < 16; ++n) {
    pnMatrix turn = testRotation(&random, 1);
    testExpectOk(pnPose_SetTransform(ball.pose, &turn));
    const float half = testFloat(&random, 0.4f, 0.8f);
    const uint32_t axis = (uint32_t)n % 3;
    pnBox box = boxOf(&ball, 0.01f), window = {{-half, -half, -half}, {half, half, half}};
    (&window.min.x)[axis] = (&box.min.x)[axis];
    (&window.max.x)[axis] = (&box.max.x)[axis];
    compareImages(&ball, sizes[n % 4], axis, &window);
  }
  testFreeBody(&ball);
}

/* Ten balls in one another: cells with more layers than shelves, beside cells with fewer; drawn by dots and by rows. */
static void moreThanShelves(void **state) {
  (void)state;
  enum { BALLS = 10 };
  TestBody ball = testSphere(2, 1);
  uint32_t vertexCount = pnMesh_GetVertexCount(ball.mesh), triangleCount = pnMesh_GetTriangleCount(ball.mesh);
  float *vertices = malloc(sizeof(float) * 3 * BALLS * vertexCount);
  uint32_t *triangles = malloc(sizeof(uint32_t) * 3 * BALLS * triangleCount);
  for (uint32_t b = 0; b < BALLS; ++b) {
    for (uint32_t i = 0; i < 3 * vertexCount; ++i)
      vertices[3 * vertexCount * b + i] = pnMesh_GetVertices(ball.mesh)[i] * (1 - 0.09f * (float)(b * 3 % BALLS));
    for (uint32_t i = 0; i < 3 * triangleCount; ++i)
      triangles[3 * triangleCount * b + i] = pnMesh_GetTriangles(ball.mesh)[i] + b * vertexCount;
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = BALLS * vertexCount;
  def.triangles = triangles;
  def.triangleCount = BALLS * triangleCount;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  TestBody nest = testBody(mesh);
  pnBox window = boxOf(&nest, 0.02f);
  compareImages(&nest, 16, 0, &window);
  compareImages(&nest, 50, 1, &window);
  compareImages(&nest, 150, 2, &window);
  free(vertices), free(triangles);
  testFreeBody(&nest), testFreeBody(&ball);
}

/* Is the sample of a cell inside the triangle? Samples out of the image are not. */
static bool insideTriangle(const pnPoint points[3], int32_t x, int32_t y) {
  const int64_t cell = 1 << PN_CELL_SHIFT, px = x * cell + cell / 2, py = y * cell + cell / 2;
  int sides = 0;
  for (int e = 0; e < 3; ++e) {
    const pnPoint *p = points + e, *q = points + (e + 1) % 3;
    sides += movedSide(p->x, p->y, q->x, q->y, px, py);
  }
  return x >= 0 && x < PN_MAX_RESOLUTION && (sides == 3 || sides == -3);
}

/* Ends of the rows, and for small triangles all cells of the box; returns how many rows there were. */
static uint32_t compareRows(const pnPoint points[3], bool every, pnRowLists *lists) {
  const pnView view = {.size = PN_MAX_RESOLUTION, .cellShift = PN_CELL_SHIFT, .steps = PN_DEPTH_STEPS};
  static const uint32_t numbers[3] = {0, 1, 2};
  const uint32_t *const corners[4] = {numbers, numbers, numbers, numbers};
  int32_t lo[2] = {INT32_MAX, INT32_MAX}, hi[2] = {INT32_MIN, INT32_MIN};
  const int32_t half = 1 << (PN_CELL_SHIFT - 1), last = PN_MAX_RESOLUTION - 1;
  for (int k = 0; k < 3; ++k) {
    lo[0] = PN_MIN(lo[0], points[k].x), hi[0] = PN_MAX(hi[0], points[k].x);
    lo[1] = PN_MIN(lo[1], points[k].y), hi[1] = PN_MAX(hi[1], points[k].y);
  }
  for (int k = 0; k < 2; ++k) {
    lo[k] = PN_MAX((lo[k] + half - 1) >> PN_CELL_SHIFT, 0), hi[k] = PN_MIN((hi[k] - half) >> PN_CELL_SHIFT, last);
    if (lo[k] > hi[k]) return 0;
  }
  // strip by strip
  uint32_t count = 0, cells = 0, truth = 0;
  const pnStrip first = {0, PN_STRIP_MOST_ROWS - 1, PN_MAX_RESOLUTION + 16};
  for (pnStrip strip = first; strip.first <= last; strip.first += 32, strip.last += 32) {
    lists->total = 0, lists->counts = 0;
    pn_listFour(&view, strip, points, corners, 1, lists);
    for (uint32_t class = 0; class < PN_ROW_CLASSES; ++class)
      for (uint32_t i = 0; i < pn_rowCount(lists, class); ++i) {
        // the ends of the row are inside, and the cells beside them are not
        const pnRow *row = lists->rows + (class << PN_ROW_BITS) + i;
        int32_t y = strip.first + (int32_t)(row->cell / strip.pitch);
        int32_t begin = (int32_t)(row->cell % strip.pitch), end = begin + row->length;
        assert_true(y <= strip.last && row->length > 0);
        assert_int_equal(class, PN_MIN((uint32_t)(row->length - 1) / PN_ROW_STEP, PN_ROW_CLASSES - 1));
        assert_true(insideTriangle(points, begin, y) && insideTriangle(points, end - 1, y));
        assert_false(insideTriangle(points, begin - 1, y) || insideTriangle(points, end, y));
        cells += row->length, ++count;
      }
  }
  for (int32_t y = lo[1]; every && y <= hi[1]; ++y)
    for (int32_t x = lo[0]; x <= hi[0]; ++x) truth += insideTriangle(points, x, y);
  if (every) assert_int_equal(cells, truth);
  return count;
}

/* Rows are found with doubles; here against integers. Corners on centres of cells and a unit beside them, so that edges
 * pass through samples or miss them by the least there is; up to triangles far larger than the image. */
static void rowsExactly(void **state) {
  (void)state;
  const int32_t cell = 1 << PN_CELL_SHIFT, side = PN_MAX_RESOLUTION;
  TestRandom random = testRandom(31);
  pnRowLists *lists = calloc(1, sizeof *lists);
  uint32_t count = 0;
  for (int n = 0; n < (int)testRounds(20000); ++n) {
    // a tenth in the image, a tenth much larger than it, some larger than doubles hold, the rest small
    uint32_t reach = n % 10 == 0 ? (uint32_t)side : n % 10 == 1 ? (n % 100 == 1 ? 64u : 8u) * (uint32_t)side : 40;
    pnPoint points[3] = {{0}};
    for (int k = 0; k < 3; ++k) {
      int32_t x = (int32_t)testBelow(&random, reach), y = (int32_t)testBelow(&random, reach);
      if (n % 10 == 1) x -= (int32_t)(3 * reach / 8), y -= (int32_t)(3 * reach / 8);
      points[k].x = x * cell + cell / 2 + (int32_t)testBelow(&random, 3) - 1;
      points[k].y = y * cell + cell / 2 + (int32_t)testBelow(&random, 3) - 1;
      points[k].z = (int32_t)testBelow(&random, PN_DEPTH_STEPS);
    }
    count += compareRows(points, reach == 40, lists);
  }
  assert_true(count > testRounds(1000000));
  free(lists);
}

/* ---------------------------------------------------------------- even everywhere */

static void evenEverywhere(void **state) {
  (void)state;
  TestBody bodies[] = {testStar(6, 1, 0.45f), testTorus(1, 0.45f, 300, 200), testBox(1, 2, 3, 40)};
  TestRandom random = testRandom(4);
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; ++i) {
    for (int n = 0; n < 6; ++n) {
      pnMatrix turn = testRotation(&random, 10);
      if (n) testExpectOk(pnPose_SetTransform(bodies[i].pose, &turn));
      pnLdiDef def = pnDefaultLdiDef();
      def.pose = bodies[i].pose;
      static const uint32_t resolutions[6] = {128, 16, 33, 250, 512, 1000};
      def.resolution = resolutions[n];
      def.bounds = false;
      pnLdi *ldi;
      testExpectOk(pnCreateLdi(&def, &ldi));
      testExpectOk(pnLdi_Update(ldi));
      pnLdiInfo info = pnLdi_GetInfo(ldi);
      assert_int_equal(info.oddPixelCount, 0);
      assert_int_equal(info.resolution, def.resolution);
      assert_true(info.maxLayers >= 2 && info.layerCount > 0);
      // entries and exits alternate on a simple body
      for (uint32_t y = 0; y < info.resolution; y += 3)
        for (uint32_t x = 0; x < info.resolution; ++x) {
          pnLayer layers[64];
          uint32_t count = pnLdi_GetLayers(ldi, x, y, layers, 64);
          for (uint32_t k = 0; k < count; ++k) {
            assert_true(layers[k].entry == (k % 2 == 0));
            if (k) assert_true(layers[k - 1].depth <= layers[k].depth);
          }
        }
      pnDestroyLdi(ldi);
    }
    testFreeBody(&bodies[i]);
  }
}

/* A seam whose two copies move apart is still closed: a welded vertex is its first copy. */
static void seamsStayClosed(void **state) {
  (void)state;
  TestBody ball = testSphere(2, 1);
  uint32_t count = pnMesh_GetTriangleCount(ball.mesh);
  const uint32_t *triangles = pnMesh_GetTriangles(ball.mesh);
  const float *vertices = pnMesh_GetVertices(ball.mesh);
  float *soup = malloc(sizeof(float) * 9 * count + sizeof(float));
  uint32_t *numbers = malloc(sizeof(uint32_t) * 3 * count);
  for (uint32_t i = 0; i < 3 * count; ++i) {
    memcpy(soup + 3 * i, vertices + 3 * triangles[i], 12);
    numbers[i] = i;
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = soup;
  def.vertexCount = 3 * count;
  def.triangles = numbers;
  def.triangleCount = count;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  TestBody loose = testBody(mesh);
  TestRandom random = testRandom(6);
  for (uint32_t i = 0; i < 9 * count; ++i) soup[i] += testFloat(&random, -0.05f, 0.05f);
  testExpectOk(pnPose_SetVertices(loose.pose, soup, 3 * count));
  pnLdiDef ldiDef = pnDefaultLdiDef();
  ldiDef.pose = loose.pose;
  pnLdi *ldi;
  testExpectOk(pnCreateLdi(&ldiDef, &ldi));
  testExpectOk(pnLdi_Update(ldi));
  assert_int_equal(pnLdi_GetInfo(ldi).oddPixelCount, 0);
  pnDestroyLdi(ldi);
  free(soup), free(numbers);
  testFreeBody(&loose), testFreeBody(&ball);
}

/* A stack of 600 plates: 1200 layers in every cell, sorted. */
static void manyLayers(void **state) {
  (void)state;
  enum { PLATES = 600 };
  TestBody plate = testBox(1, 1, 0.0004f, 1);
  uint32_t vertexCount = pnMesh_GetVertexCount(plate.mesh), triangleCount = pnMesh_GetTriangleCount(plate.mesh);
  float *vertices = malloc(sizeof(float) * 3 * PLATES * vertexCount);
  uint32_t *triangles = malloc(sizeof(uint32_t) * 3 * PLATES * triangleCount);
  for (uint32_t p = 0; p < PLATES; ++p) {
    // in an order that is not the order of depth
    float z = 0.001f * (float)(p * 7 % PLATES);
    for (uint32_t i = 0; i < 3 * vertexCount; ++i)
      vertices[3 * vertexCount * p + i] = pnMesh_GetVertices(plate.mesh)[i] + (i % 3 == 2 ? z : 0);
    for (uint32_t i = 0; i < 3 * triangleCount; ++i)
      triangles[3 * triangleCount * p + i] = pnMesh_GetTriangles(plate.mesh)[i] + p * vertexCount;
  }
  pnMeshDef meshDef = pnDefaultMeshDef();
  meshDef.vertices = vertices;
  meshDef.vertexCount = PLATES * vertexCount;
  meshDef.triangles = triangles;
  meshDef.triangleCount = PLATES * triangleCount;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&meshDef, &mesh));
  TestBody stack = testBody(mesh);
  pnLdiDef def = pnDefaultLdiDef();
  def.pose = stack.pose;
  def.resolution = 16;
  // through the thin side, where the layers are
  def.window = (pnBox){{-1, -1, -0.1f}, {1, 1, 0.7f}};
  pnLdi *ldi;
  testExpectOk(pnCreateLdi(&def, &ldi));
  testExpectOk(pnLdi_Update(ldi));
  pnLdiInfo info = pnLdi_GetInfo(ldi);
  assert_int_equal(info.axis, 2);
  assert_int_equal(info.maxLayers, 2 * PLATES);
  assert_int_equal(info.layerCount, 16u * 16 * 2 * PLATES);
  pnLayer *layers = malloc(sizeof *layers * 2 * PLATES);
  assert_int_equal(pnLdi_GetLayers(ldi, 5, 9, layers, 2 * PLATES), 2 * PLATES);
  for (uint32_t k = 0; k < 2 * PLATES; ++k) {
    double z = 0.001 * (k / 2) + (k % 2 ? 0.0004 : -0.0004);
    assert_true(fabs(layers[k].depth - z) < 1e-6 && layers[k].entry == (k % 2 == 0));
  }
  // the bound keeps 15 intervals a cell, joins the rest, and is still one
  pnVolumeResult volume;
  testExpectOk(pnLdi_Measure(ldi, &volume));
  double truth = testVolumeOf(&stack);
  assert_true(volume.volumeMin <= truth && truth <= volume.volumeMax && fabs(volume.volume - truth) < 1e-3 * truth);
  free(layers), free(vertices), free(triangles);
  pnDestroyLdi(ldi);
  testFreeBody(&stack), testFreeBody(&plate);
}

/* ---------------------------------------------------------------- the same bits everywhere */

static uint64_t hashBytes(uint64_t hash, const void *data, size_t size) {
  const uint8_t *bytes = data;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

/* Layers, touched depths and the numbers of a measure, as found on the first machine: every other machine, compiler
 * and number of workers must find the same. The bodies are made with sums and products only, which round alike
 everywhere. */
static void sameBits(void **state) {
  (void)state;
  TestBody bodies[2] = {testSphere(4, 1), testSphere(3, 1.25f)};
  for (int i = 0; i < 2; ++i) {
    uint32_t count = pnMesh_GetVertexCount(bodies[i].mesh);
    float *vertices = malloc(sizeof(float) * (3 * count + 1));
    memcpy(vertices, pnMesh_GetVertices(bodies[i].mesh), sizeof(float) * 3 * count);
    for (uint32_t v = 0; v < count; ++v) {
      float *p = vertices + 3 * v, bend = p[1] * p[1] * (i ? -0.5f : 0.75f);
      p[0] += bend;
      p[2] *= 1 + 0.25f * p[0] + (i ? 0.5f : 0.0f);
    }
    testExpectOk(pnPose_SetVertices(bodies[i].pose, vertices, count));
    free(vertices);
  }
  testPlace(&bodies[1], 0.375f, 0.25f, -0.5f);
  for (uint32_t workers = 1; workers <= 3; workers += 2) {
    pnPool *pool;
    testExpectOk(pnCreatePool(workers, &pool));
    pnOverlapDef def = pnDefaultOverlapDef();
    def.poseA = bodies[0].pose;
    def.poseB = bodies[1].pose;
    def.resolution = 150;
    def.tasks = pnPool_GetTasks(pool);
    pnOverlap *overlap;
    pnOverlapResult result;
    pnDepthResult depth;
    testExpectOk(pnCreateOverlap(&def, &overlap));
    testExpectOk(pnOverlap_Measure(overlap, &result));
    testExpectOk(pnOverlap_FindDepth(overlap, &depth));
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < 2; ++i)
      for (uint32_t y = 0; y < 150; ++y)
        for (uint32_t x = 0; x < 150; ++x) {
          pnColumn column = pn_layersColumn(&overlap->images[i].layers, x, y);
          hash = hashBytes(hash, column.keys, column.keyCount * sizeof *column.keys);
          hash = hashBytes(hash, column.thick, column.thickCount * sizeof *column.thick);
        }
    hash = hashBytes(hash, &result.volume, 4 * sizeof(double)); // volume, its limits, the error
    hash = hashBytes(hash, result.centroid, sizeof result.centroid);
    hash = hashBytes(hash, &depth.depth, 3 * sizeof(double));
    print_message("  %u workers: %016llx\n", workers, (unsigned long long)hash);
    assert_true(hash == UINT64_C(0x589a7890665c3059));
    pnDestroyOverlap(overlap);
    pnDestroyPool(pool);
  }
  for (int i = 0; i < 2; ++i) testFreeBody(&bodies[i]);
}

/* ---------------------------------------------------------------- six windows */

static pnBox makeBox(const float lo[3], const float hi[3]) {
  return (pnBox){{lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}};
}

static void sixDirections(void **state) {
  (void)state;
  // a leads along one axis, overlapping b by little there and by much elsewhere
  uint32_t seen = 0;
  for (uint32_t k = 0; k < 3; ++k)
    for (int order = 0; order < 2; ++order) {
      float lo[3] = {-1, -1, -1}, hi[3] = {1, 1, 1}, lo2[3] = {-1.1f, -1.1f, -1.1f}, hi2[3] = {1.1f, 1.1f, 1.1f};
      lo2[k] = order ? 0.75f : -2.75f;
      hi2[k] = order ? 2.75f : -0.75f;
      pnBox a = makeBox(lo, hi), b = makeBox(lo2, hi2);
      pnInterest interest = pn_findInterest(&a, &b);
      assert_false(interest.empty);
      assert_int_equal(interest.axis, k);
      // the low face must be outside the body in front: at its own low end
      assert_true(interest.aInFront == (order == 0));
      assert_true(interest.lo[k] == (order ? 0.75 : -1.0) && interest.hi[k] == (order ? 1.0 : -0.75));
      for (uint32_t j = 0; j < 3; ++j)
        if (j != k) assert_true(interest.lo[j] == -1 && interest.hi[j] == 1);
      seen |= 1u << (2 * k + (uint32_t)interest.aInFront);
    }
  assert_int_equal(seen, 63);

  // one box in the other: the window is extended to the far face of the outer, on the nearer side
  float lo[3] = {-1, -1, -1}, hi[3] = {1, 1, 1}, lo2[3] = {-5, -5, -4}, hi2[3] = {5, 1.5f, 5};
  pnBox a = makeBox(lo, hi), b = makeBox(lo2, hi2);
  pnInterest interest = pn_findInterest(&a, &b);
  assert_int_equal(interest.axis, 1);
  assert_true(interest.aInFront && interest.lo[1] == -1 && interest.hi[1] == 1.5);
  interest = pn_findInterest(&b, &a);
  assert_true(!interest.aInFront && interest.lo[1] == -1 && interest.hi[1] == 1.5);

  // touching is empty, and so is apart
  lo2[0] = 1;
  b = makeBox(lo2, hi2);
  assert_true(pn_findInterest(&a, &b).empty);
}

/* The same two bodies seen from all six sides give the same volume, within their bounds. */
static void sixVolumes(void **state) {
  (void)state;
  TestBody a = testStar(4, 1, 0.3f), b = testStar(4, 1, 0.3f);
  uint32_t seen = 0;
  for (int k = 0; k < 3; ++k)
    for (int sign = -1; sign <= 1; sign += 2) {
      float at[3] = {0.05f, -0.05f, 0.1f};
      at[k] = 1.6f * (float)sign;
      testPlace(&b, at[0], at[1], at[2]);
      pnOverlapDef def = pnDefaultOverlapDef();
      def.poseA = a.pose;
      def.poseB = b.pose;
      pnOverlap *overlap;
      pnOverlapResult result;
      testExpectOk(pnCreateOverlap(&def, &overlap));
      testExpectOk(pnOverlap_Measure(overlap, &result));
      pnDestroyOverlap(overlap);
      assert_int_equal(result.axis, k);
      seen |= 1u << (2 * result.axis + (uint32_t)result.aInFront);
      // a window of one's own, seen along another axis, agrees
      def.window = (pnBox){{at[0] - 1.5f, at[1] - 1.5f, at[2] - 1.5f}, {at[0] + 1.5f, at[1] + 1.5f, at[2] + 1.5f}};
      float *side = &def.window.min.x + (k + 1) % 3, *far = &def.window.max.x + (k + 1) % 3;
      *side = -1.4f, *far = 1.4f;
      pnOverlapResult other;
      testExpectOk(pnCreateOverlap(&def, &overlap));
      testExpectOk(pnOverlap_Measure(overlap, &other));
      pnDestroyOverlap(overlap);
      assert_int_equal(other.axis, (k + 1) % 3);
      assert_true(result.volumeMin <= other.volumeMax && other.volumeMin <= result.volumeMax);
      assert_true(fabs(result.volume - other.volume) < 0.02 * result.volume);
    }
  assert_int_equal(seen, 63);
  testFreeBody(&a), testFreeBody(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(againstObvious),  cmocka_unit_test(onTheSamples), cmocka_unit_test(crumpled),
      cmocka_unit_test(cornersOfGiants), cmocka_unit_test(everySize),    cmocka_unit_test(cutAtTheBorder),
      cmocka_unit_test(moreThanShelves), cmocka_unit_test(rowsExactly),  cmocka_unit_test(evenEverywhere),
      cmocka_unit_test(seamsStayClosed), cmocka_unit_test(manyLayers),   cmocka_unit_test(sameBits),
      cmocka_unit_test(sixDirections),   cmocka_unit_test(sixVolumes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
