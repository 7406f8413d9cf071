/* test_volume_gl.c: layers by OpenGL are those of the software, up to a step of depth; what it cannot do falls back; a
 * caller's own context gets its state back. Skipped with one line where there is no OpenGL. */
#include "support_volume.h"

#include "volume/image.h"
#include "volume/ldi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef PN_HAVE_GL

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/glcorearb.h>

static pnGlRaster *openGl(void) {
  pnGlRasterDef def = pnDefaultGlRasterDef();
  pnGlRaster *gl = NULL;
  if (pnCreateGlRaster(&def, &gl) != PN_OK) print_message("skipped: %s\n", pnGetMessage());
  return gl;
}

/* ---------------------------------------------------------------- the same image */

typedef struct Difference {
  uint64_t layers, near; /* compared; those within one step */
  uint64_t cells;        /* with another number of layers */
  int32_t most;          /* steps */
} Difference;

/* Both images of a body in the same view, cell by cell. */
static Difference compare(const TestBody *body, uint32_t resolution, pnGlRaster *gl) {
  Difference difference = {0};
  pnLdi *images[2];
  for (int i = 0; i < 2; ++i) {
    pnLdiDef def = pnDefaultLdiDef();
    def.pose = body->pose;
    def.resolution = resolution;
    def.bounds = false;
    def.gl = i ? gl : NULL;
    testExpectOk(pnCreateLdi(&def, &images[i]));
    testExpectOk(pnLdi_Update(images[i]));
    assert_int_equal(pnLdi_GetInfo(images[i]).backend, i ? PN_BACKEND_OPENGL : PN_BACKEND_SOFTWARE);
    assert_int_equal(pnLdi_GetInfo(images[i]).oddPixelCount, 0);
  }
  for (uint32_t y = 0; y < resolution; ++y)
    for (uint32_t x = 0; x < resolution; ++x) {
      pnColumn a = pn_layersColumn(&images[0]->image.layers, x, y), b = pn_layersColumn(&images[1]->image.layers, x, y);
      if (a.keyCount != b.keyCount) {
        ++difference.cells;
        continue;
      }
      for (uint32_t i = 0; i < a.keyCount; ++i) {
        int32_t steps = abs((int32_t)(a.keys[i] >> 1) - (int32_t)(b.keys[i] >> 1));
        difference.most = steps > difference.most ? steps : difference.most;
        difference.near += steps <= 1;
        ++difference.layers;
      }
    }
  for (int i = 0; i < 2; ++i) pnDestroyLdi(images[i]);
  return difference;
}

static void sameImage(void **state) {
  (void)state;
  pnGlRaster *gl = openGl();
  if (!gl) return;
  print_message("  renderer: %s\n", pnGlRaster_GetName(gl));
  TestBody bodies[] = {testBox(1, 0.8f, 0.6f, 5), testStar(5, 1, 0.4f), testTorus(1, 0.4f, 120, 60),
                       testHollow(4, 1, 0.5f)};
  TestRandom random = testRandom(31);
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; ++i) {
    for (int n = 0; n < 3; ++n) {
      pnMatrix turn = testRotation(&random, 1);
      if (n) testExpectOk(pnPose_SetTransform(bodies[i].pose, &turn));
      uint32_t resolution = n == 0 ? 128 : n == 1 ? 100 : 333;
      Difference d = compare(&bodies[i], resolution, gl);
      print_message(
          "  body %zu, %3u: %llu layers, %.3f %% within one step, most %d steps, %llu cells differ in number\n", i,
          resolution, (unsigned long long)d.layers, 100.0 * (double)d.near / (double)d.layers, d.most,
          (unsigned long long)d.cells);
      // a driver may give a sample on an edge to the other triangle; nothing else may differ
      assert_true(d.layers > 1000 && d.cells <= resolution / 16);
      assert_true(d.near == d.layers && d.most <= 1);
    }
    testFreeBody(&bodies[i]);
  }
  pnDestroyGlRaster(gl);
}

/* ---------------------------------------------------------------- the same answers */

static void sameAnswers(void **state) {
  (void)state;
  pnGlRaster *gl = openGl();
  if (!gl) return;
  TestBody a = testStar(4, 1, 0.4f), b = testTorus(0.9f, 0.4f, 60, 30);
  TestRandom random = testRandom(32);
  for (int n = 0; n < 6; ++n) {
    pnMatrix at = testRotation(&random, 0.7f);
    testExpectOk(pnPose_SetTransform(b.pose, &at));
    pnOverlapResult results[2];
    pnDepthResult depths[2];
    for (int i = 0; i < 2; ++i) {
      pnOverlapDef def = pnDefaultOverlapDef();
      def.poseA = a.pose;
      def.poseB = b.pose;
      def.steady = n % 2;
      def.gl = i ? gl : NULL;
      pnOverlap *overlap;
      testExpectOk(pnCreateOverlap(&def, &overlap));
      testExpectOk(pnOverlap_Measure(overlap, &results[i]));
      testExpectOk(pnOverlap_FindDepth(overlap, &depths[i]));
      pnDestroyOverlap(overlap);
    }
    assert_int_equal(results[1].backend, PN_BACKEND_OPENGL);
    assert_true(fabs(results[0].volume - results[1].volume) < 1e-4 * results[0].volume + 1e-9);
    assert_true(results[1].volumeMin <= results[1].volume && results[1].volume <= results[1].volumeMax);
    assert_true(fabs(results[0].volumeMin - results[1].volumeMin) <= 1e-4 * results[0].volume + 1e-9);
    assert_true(fabs(depths[0].depth - depths[1].depth) <= depths[0].error + depths[1].error + 1e-6);
    assert_int_equal(results[0].relation, results[1].relation);
  }
  pnDestroyGlRaster(gl);
  testFreeBody(&a), testFreeBody(&b);
}

/* Parity on an open mesh: layers without a partner are dropped on both paths. */
static void openMesh(void **state) {
  (void)state;
  pnGlRaster *gl = openGl();
  if (!gl) return;
  TestBody ball = testSphere(3, 1);
  pnMeshDef meshDef = pnDefaultMeshDef();
  meshDef.vertices = pnMesh_GetVertices(ball.mesh);
  meshDef.vertexCount = pnMesh_GetVertexCount(ball.mesh);
  meshDef.triangles = pnMesh_GetTriangles(ball.mesh);
  meshDef.triangleCount = pnMesh_GetTriangleCount(ball.mesh) - 20;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&meshDef, &mesh));
  TestBody cut = testBody(mesh);
  pnVolumeResult volumes[2];
  for (int i = 0; i < 2; ++i) {
    pnLdiDef def = pnDefaultLdiDef();
    def.pose = cut.pose;
    def.rule = PN_INSIDE_PARITY;
    def.gl = i ? gl : NULL;
    pnLdi *ldi;
    testExpectOk(pnCreateLdi(&def, &ldi));
    testExpectOk(pnLdi_Update(ldi));
    testExpectOk(pnLdi_Measure(ldi, &volumes[i]));
    pnDestroyLdi(ldi);
  }
  assert_true(fabs(volumes[0].volume - volumes[1].volume) < 1e-3 * volumes[0].volume && isinf(volumes[1].error));
  pnDestroyGlRaster(gl);
  testFreeBody(&cut), testFreeBody(&ball);
}

/* ---------------------------------------------------------------- falling back */

static char lastLog[512];
static void keepLog(void *user, pnLogLevel level, const char *text) {
  (void)user;
  if (level == PN_LOG_WARNING) strncpy(lastLog, text, sizeof lastLog - 1);
}

/* 300 plates are too many for the stencil, an image larger than the buffer too large: software, one line of log. */
static void fallsBack(void **state) {
  (void)state;
  pnGlRaster *gl = openGl();
  if (!gl) return;
  enum { PLATES = 300 };
  TestBody plate = testBox(1, 1, 0.0004f, 1);
  uint32_t vertexCount = pnMesh_GetVertexCount(plate.mesh), triangleCount = pnMesh_GetTriangleCount(plate.mesh);
  float *vertices = malloc(sizeof(float) * 3 * PLATES * vertexCount);
  uint32_t *triangles = malloc(sizeof(uint32_t) * 3 * PLATES * triangleCount);
  for (uint32_t p = 0; p < PLATES; ++p) {
    for (uint32_t i = 0; i < 3 * vertexCount; ++i)
      vertices[3 * vertexCount * p + i] = pnMesh_GetVertices(plate.mesh)[i] + (i % 3 == 2 ? 0.002f * (float)p : 0);
    for (uint32_t i = 0; i < 3 * triangleCount; ++i)
      triangles[3 * triangleCount * p + i] = pnMesh_GetTriangles(plate.mesh)[i] + p * vertexCount;
  }
  pnMeshDef meshDef = pnDefaultMeshDef();
  meshDef.vertices = vertices;
  meshDef.vertexCount = PLATES * vertexCount;
  meshDef.triangles = triangles;
  meshDef.triangleCount = PLATES * triangleCount;
  meshDef.name = "stack";
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&meshDef, &mesh));
  TestBody stack = testBody(mesh);
  pnSetLogFcn(keepLog, NULL);
  pnLdiDef def = pnDefaultLdiDef();
  def.pose = stack.pose;
  def.resolution = 32;
  def.gl = gl;
  pnLdi *ldi;
  testExpectOk(pnCreateLdi(&def, &ldi));
  testExpectOk(pnLdi_Update(ldi));
  assert_int_equal(pnLdi_GetInfo(ldi).backend, PN_BACKEND_SOFTWARE);
  assert_int_equal(pnLdi_GetInfo(ldi).maxLayers, 2 * PLATES);
  assert_non_null(strstr(lastLog, "software"));
  assert_non_null(strstr(lastLog, "stack"));
  pnDestroyLdi(ldi);
  pnDestroyGlRaster(gl);

  // a buffer of 256 pixels a side holds no two tiles of 200
  pnGlRasterDef glDef = pnDefaultGlRasterDef();
  glDef.maxSide = 256;
  testExpectOk(pnCreateGlRaster(&glDef, &gl));
  def.pose = plate.pose;
  def.gl = gl;
  def.resolution = 200;
  lastLog[0] = 0;
  testExpectOk(pnCreateLdi(&def, &ldi));
  testExpectOk(pnLdi_Update(ldi));
  assert_int_equal(pnLdi_GetInfo(ldi).backend, PN_BACKEND_SOFTWARE);
  assert_non_null(strstr(lastLog, "too large"));
  pnDestroyLdi(ldi);

  // but it holds tiles of 100 two by two: twelve layers in several read-backs
  TestBody star = testStar(4, 1, 0.45f), torus = testTorus(1, 0.3f, 64, 32);
  pnMatrix edge = pnMatrix_Identity();
  edge.m[1][1] = edge.m[2][2] = 0, edge.m[1][2] = -1, edge.m[2][1] = 1;
  testExpectOk(pnPose_SetTransform(torus.pose, &edge));
  Difference d = compare(&torus, 100, gl);
  assert_true(d.layers > 1000 && d.cells < 20);
  d = compare(&star, 100, gl);
  assert_true(d.layers > 1000 && d.cells < 20);
  pnSetLogFcn(NULL, NULL);
  pnDestroyGlRaster(gl);
  free(vertices), free(triangles);
  testFreeBody(&star), testFreeBody(&torus), testFreeBody(&stack), testFreeBody(&plate);
}

/* ---------------------------------------------------------------- a caller's context */

static void *lookUp(const char *name) {
  void (*function)(void) = (void (*)(void))eglGetProcAddress(name);
  void *address;
  memcpy(&address, &function, sizeof address);
  return address;
}

/* A display without a window system: the first device, or none. */
static EGLDisplay firstDisplay(void) {
  PFNEGLQUERYDEVICESEXTPROC queryDevices = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
  PFNEGLGETPLATFORMDISPLAYEXTPROC platformDisplay =
      (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
  EGLDeviceEXT device;
  EGLint count = 0;
  if (!queryDevices || !platformDisplay || !queryDevices(1, &device, &count) || count == 0) return EGL_NO_DISPLAY;
  return platformDisplay(EGL_PLATFORM_DEVICE_EXT, device, NULL);
}

static void callersContext(void **state) {
  (void)state;
  EGLDisplay display = firstDisplay();
  pnGlRaster *gl = NULL;
  pnGlRasterDef def = pnDefaultGlRasterDef();
  def.getProcAddress = lookUp;
  EGLint count = 0;
  EGLConfig config;
  static const EGLint wish[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  static const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE};
  static const EGLint pixels[] = {EGL_WIDTH, 8, EGL_HEIGHT, 8, EGL_NONE};
  if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API) ||
      !eglChooseConfig(display, wish, &config, 1, &count) || count == 0) {
    print_message("skipped: no EGL display for a context of our own\n");
    return;
  }
  EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
  EGLSurface surface = eglCreatePbufferSurface(display, config, pixels);
  if (!eglMakeCurrent(display, surface, surface, context)) {
    print_message("skipped: no context of our own\n");
    return;
  }
  // some state that must survive
  PFNGLVIEWPORTPROC viewport = (PFNGLVIEWPORTPROC)eglGetProcAddress("glViewport");
  PFNGLDEPTHFUNCPROC depthFunc = (PFNGLDEPTHFUNCPROC)eglGetProcAddress("glDepthFunc");
  PFNGLGETINTEGERVPROC get = (PFNGLGETINTEGERVPROC)eglGetProcAddress("glGetIntegerv");
  viewport(1, 2, 3, 4);
  depthFunc(GL_NOTEQUAL);
  testExpectOk(pnCreateGlRaster(&def, &gl));
  TestBody star = testStar(4, 1, 0.4f);
  Difference d = compare(&star, 64, gl);
  assert_true(d.layers > 1000 && d.cells < 10);
  GLint box[4], depth = 0;
  get(GL_VIEWPORT, box);
  get(GL_DEPTH_FUNC, &depth);
  assert_true(box[0] == 1 && box[1] == 2 && box[2] == 3 && box[3] == 4 && depth == GL_NOTEQUAL);
  assert_true(eglGetCurrentContext() == context);

  // a context of pinch's own leaves the caller's current
  pnGlRaster *own = openGl();
  if (own) {
    d = compare(&star, 64, own);
    assert_true(eglGetCurrentContext() == context);
    pnDestroyGlRaster(own);
    assert_true(eglGetCurrentContext() == context);
  }
  pnDestroyGlRaster(gl);
  testFreeBody(&star);
  eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  eglDestroySurface(display, surface);
  eglDestroyContext(display, context);
}

/* A zeroed definition is refused with a message, before any context is asked for. */
static void zeroedIsRefused(void **state) {
  (void)state;
  pnGlRasterDef def = {0};
  pnGlRaster *gl = (pnGlRaster *)&def;
  testExpectFailure(pnCreateGlRaster(&def, &gl), PN_ERROR_ARGUMENT, "pnGlRasterDef");
  assert_null(gl);
}

/* Nothing is held after all that. */
static void nothingHeld(void **state) {
  (void)state;
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sameImage),   cmocka_unit_test(sameAnswers),    cmocka_unit_test(openMesh),
      cmocka_unit_test(fallsBack),   cmocka_unit_test(callersContext), cmocka_unit_test(zeroedIsRefused),
      cmocka_unit_test(nothingHeld),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
  printf("skipped: this build has no pinch_gl (no EGL)\n");
  return 0;
}

#endif
