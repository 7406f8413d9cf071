/* test_device_gl.c: vertices out of a buffer of OpenGL. With a driver whose OpenCL shares buffers with its OpenGL: a context without a
 * window, a buffer of vertices there, and the processor's pairs. Elsewhere (pocl has no OpenGL) that is skipped with a
 * line, and functions of our own play the driver's part. libEGL is loaded here, so that nothing links with it. */
#include "support_device.h"

#include "pinch/pinch.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- a body with itself */

typedef struct Body {
  pnMesh *mesh;
  pnPose *pose;
  float *vertices; /* where it is to be; the device's pose knows nothing of them */
  uint32_t count;
} Body;

static Body makeBody(void) {
  Body b;
  testExpectOk(pnMakeKnot(2, 3, 1, 0.45f, 64, 12, &b.mesh));
  pnPoseDef def = {b.mesh, NULL, NULL};
  testExpectOk(pnCreatePose(&def, &b.pose));
  b.count = pnMesh_GetVertexCount(b.mesh);
  b.vertices = malloc(12 * (size_t)b.count);
  for (uint32_t i = 0; i < 3 * b.count; ++i) b.vertices[i] = pnMesh_GetVertices(b.mesh)[i] * (i % 3 == 0 ? 0.8f : 1.0f);
  return b;
}

static void freeBody(Body *b) {
  free(b->vertices);
  pnDestroyPose(b->pose);
  pnDestroyMesh(b->mesh);
}

static pnDeviceWorld *makeWorld(pnDevice *device, const Body *b) {
  pnDeviceWorld *world;
  pnDeviceBodyDef def = pnDefaultDeviceBodyDef();
  uint32_t number;
  testExpectOk(pnCreateDeviceWorld(device, &world));
  def.pose = b->pose, def.self = true, def.onDevice = true;
  testExpectOk(pnDeviceWorld_AddBody(world, &def, &number));
  return world;
}

/* The pairs are those of the processor with these vertices. */
static void expectPairs(pnDeviceWorld *world, const Body *b) {
  pnTree *tree;
  pnPose *pose;
  pnPairList *list;
  pnTreeDef def = pnDefaultTreeDef();
  pnPoseDef poseDef = {b->mesh, NULL, NULL};
  testExpectOk(pnCreatePose(&poseDef, &pose));
  testExpectOk(pnPose_SetVertices(pose, b->vertices, b->count));
  def.pose = pose;
  testExpectOk(pnCreateTree(&def, &tree));
  testExpectOk(pnCreatePairList(&list));
  testExpectOk(pnCollideSelf(tree, NULL, list, NULL));
  const pnDeviceFrame frame = pnDeviceWorld_Collide(world, NULL);
  testExpectOk(frame.result);
  assert_true(frame.pairCount > 20);
  assert_int_equal(frame.pairCount, pnPairList_GetCount(list));
  assert_memory_equal(pnDeviceWorld_GetPairs(world), pnPairList_GetPairs(list), frame.pairCount * sizeof(pnPair));
  pnDestroyPairList(list);
  pnDestroyTree(tree);
  pnDestroyPose(pose);
}

/* ---------------------------------------------------------------- a driver that is played */

static const Body *s_body;
static cl_mem s_shared;
static int s_made, s_taken, s_givenBack;
static bool s_refuse;

static cl_mem fakeCreate(cl_context context, cl_bitfield flags, cl_uint name, cl_int *error) {
  assert_int_equal(flags, CL_MEM_READ_ONLY);
  *error = name == 7 ? CL_SUCCESS : CL_INVALID_GL_OBJECT;
  if (name != 7) return NULL;
  ++s_made;
  const size_t bytes = 12 * (size_t)s_body->count;
  s_shared = pn_cl.CreateBuffer(context, CL_MEM_READ_WRITE, bytes + 24, NULL, error);
  assert_int_equal(
      pn_cl.EnqueueWriteBuffer(pnDevice_GetQueue(s_device), s_shared, 1, 24, bytes, s_body->vertices, 0, NULL, NULL),
      0);
  return s_shared;
}

static cl_int fakeTake(cl_command_queue queue, cl_uint count, const cl_mem *objects, cl_uint waits,
                       const cl_event *events, cl_event *event) {
  (void)queue, (void)waits, (void)events, (void)event;
  assert_true(count == 1 && objects[0] == s_shared && s_taken == s_givenBack);
  if (s_refuse) return CL_OUT_OF_RESOURCES;
  ++s_taken;
  return CL_SUCCESS;
}

static cl_int fakeGiveBack(cl_command_queue queue, cl_uint count, const cl_mem *objects, cl_uint waits,
                           const cl_event *events, cl_event *event) {
  (void)queue, (void)waits, (void)events, (void)event;
  assert_true(count == 1 && objects[0] == s_shared && s_taken == s_givenBack + 1);
  ++s_givenBack;
  return CL_SUCCESS;
}

static void buffersAreTakenAndGivenBack(void **state) {
  NEEDS_DEVICE;
  const pnClGl real = pn_clGl;
  Body b = makeBody();
  pnDeviceWorld *world = makeWorld(s_device, &b);
  pn_clGl = (pnClGl){0};
  testExpectFailure(pnDeviceWorld_CopyGlVertices(world, 0, 7, 0), PN_ERROR_UNSUPPORTED, "OpenGL");
  pn_clGl = (pnClGl){fakeCreate, fakeTake, fakeGiveBack};
  s_body = &b;
  testExpectOk(pnDeviceWorld_CopyGlVertices(world, 0, 7, 24));
  assert_true(s_made == 1 && s_taken == 1 && s_givenBack == 1);
  expectPairs(world, &b);
  testExpectFailure(pnDeviceWorld_CopyGlVertices(world, 0, 8, 0), PN_ERROR_ARGUMENT, "8 is no buffer of OpenGL");
  testExpectFailure(pnDeviceWorld_CopyGlVertices(world, 3, 7, 0), PN_ERROR_INDEX, "no body 3");
  expectPairs(world, &b);
  s_refuse = true;
  testExpectFailure(pnDeviceWorld_CopyGlVertices(world, 0, 7, 0), PN_ERROR_DEVICE, "AcquireGLObjects");
  s_refuse = false;
  assert_int_equal(s_taken, s_givenBack);
  s_device->lost = false;
  pn_clGl = real;
  pnDestroyDeviceWorld(world);
  freeBody(&b);
}

/* Opening a device for an OpenGL context, with a driver that has the extension: what it is told. */
static pnCl s_true;
static bool s_offers;
static intptr_t s_told[7];

static cl_int fakeInfo(cl_device_id id, cl_uint what, size_t size, void *out, size_t *length) {
  const cl_int error = s_true.GetDeviceInfo(id, what, size, out, length);
  const char *more = " cl_khr_gl_sharing";
  if (error == CL_SUCCESS && what == CL_DEVICE_EXTENSIONS && s_offers && strlen(out) + strlen(more) < size)
    strcat(out, more);
  return error;
}

static cl_context fakeContext(const intptr_t *properties, cl_uint count, const cl_device_id *ids,
                              void (*notify)(const char *, const void *, size_t, void *), void *user, cl_int *error) {
  if (!properties) return s_true.CreateContext(NULL, count, ids, notify, user, error);
  memcpy(s_told, properties, sizeof s_told);
  if (s_refuse) {
    *error = CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR;
    return NULL;
  }
  return s_true.CreateContext(NULL, count, ids, notify, user, error);
}

static void contextsAreHandedOn(void **state) {
  NEEDS_DEVICE;
  const pnClGl realGl = pn_clGl;
  s_true = pn_cl;
  pn_cl.GetDeviceInfo = fakeInfo;
  pn_cl.CreateContext = fakeContext;
  int context, display;
  Body b = makeBody();
  pnDevice *device;
  pnDeviceDef def = pnDefaultDeviceDef();
  def.glContext = &context, def.glDisplay = &display;
  /* functions without the extension, the extension without functions */
  pn_clGl = (pnClGl){fakeCreate, fakeTake, fakeGiveBack};
  testExpectFailure(pnCreateDevice(&def, &device), PN_ERROR_UNSUPPORTED, "cl_khr_gl_sharing");
  s_offers = true;
  pn_clGl = (pnClGl){0};
  testExpectFailure(pnCreateDevice(&def, &device), PN_ERROR_UNSUPPORTED, "cl_khr_gl_sharing");
  pn_clGl = (pnClGl){fakeCreate, fakeTake, fakeGiveBack};
  for (int glx = 0; glx < 2; ++glx) {
    memset(s_told, 0, sizeof s_told);
    def.glx = glx == 1;
    testExpectOk(pnCreateDevice(&def, &device));
    assert_true(s_told[0] == CL_CONTEXT_PLATFORM && s_told[1] != 0 && s_told[6] == 0);
    assert_true(s_told[2] == CL_GL_CONTEXT_KHR && s_told[3] == (intptr_t)&context);
    assert_true(s_told[4] == (glx ? CL_GLX_DISPLAY_KHR : CL_EGL_DISPLAY_KHR) && s_told[5] == (intptr_t)&display);
    /* and it is a device like any other, with vertices of OpenGL */
    pnDevice *usual = s_device;
    s_device = device;
    s_body = &b;
    pnDeviceWorld *world = makeWorld(device, &b);
    testExpectOk(pnDeviceWorld_CopyGlVertices(world, 0, 7, 24));
    expectPairs(world, &b);
    pnDestroyDeviceWorld(world);
    s_device = usual;
    pnDestroyDevice(device);
  }
  s_refuse = true;
  testExpectFailure(pnCreateDevice(&def, &device), PN_ERROR_DEVICE, "CreateContext|-1000");
  s_refuse = s_offers = false;
  pn_cl = s_true;
  pn_clGl = realGl;
  freeBody(&b);
}

/* ---------------------------------------------------------------- a real one */

/* As much of EGL and OpenGL as is called here. */
typedef struct Gl {
  void *library, *display, *context;
  void *(*find)(const char *);
  unsigned (*makeCurrent)(void *, void *, void *, void *);
  unsigned (*destroyContext)(void *, void *);
  void (*genBuffers)(int, unsigned *);
  void (*bindBuffer)(unsigned, unsigned);
  void (*bufferData)(unsigned, ptrdiff_t, const void *, unsigned);
  void (*deleteBuffers)(int, const unsigned *);
  void (*finish)(void);
} Gl;

/* POSIX says that a data pointer has the bits of a function's. */
static bool find(Gl *gl, const char *name, void *out) {
  void *found = gl->find ? gl->find(name) : NULL;
  if (!found) found = dlsym(gl->library, name);
  memcpy(out, &found, sizeof found);
  return found != NULL;
}

/* An OpenGL context on the first device of EGL, current here; false: there is none. */
static bool openGl(Gl *gl) {
  unsigned (*queryDevices)(int, void **, int *), (*initialize)(void *, int *, int *), (*bindApi)(unsigned);
  unsigned (*chooseConfig)(void *, const int *, void **, int, int *);
  void *(*platformDisplay)(unsigned, void *, const int *), *(*createContext)(void *, void *, void *, const int *);
  static const int wish[] = {0x3040, 0x0008, 0x3033, 0x0001, 0x3038}; /* renderable: OpenGL; surface: pbuffer */
  void *devices[8], *config = NULL;
  int count = 0, configs = 0;
  gl->library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!gl->library || !find(gl, "eglGetProcAddress", &gl->find)) return false;
  if (!find(gl, "eglQueryDevicesEXT", &queryDevices) || !find(gl, "eglGetPlatformDisplayEXT", &platformDisplay) ||
      !find(gl, "eglInitialize", &initialize) || !find(gl, "eglBindAPI", &bindApi) ||
      !find(gl, "eglChooseConfig", &chooseConfig) || !find(gl, "eglCreateContext", &createContext) ||
      !find(gl, "eglMakeCurrent", &gl->makeCurrent) || !find(gl, "eglDestroyContext", &gl->destroyContext))
    return false;
  if (!queryDevices(8, devices, &count)) return false;
  for (int i = 0; i < count; ++i) {
    gl->display = platformDisplay(0x313F, devices[i], NULL); /* EGL_PLATFORM_DEVICE_EXT */
    if (!gl->display || !initialize(gl->display, NULL, NULL) || !bindApi(0x30A2)) continue;
    if (!chooseConfig(gl->display, wish, &config, 1, &configs) || configs == 0) continue;
    gl->context = createContext(gl->display, config, NULL, NULL);
    if (gl->context && gl->makeCurrent(gl->display, NULL, NULL, gl->context)) break;
    gl->context = NULL;
  }
  return gl->context && find(gl, "glGenBuffers", &gl->genBuffers) && find(gl, "glBindBuffer", &gl->bindBuffer) &&
         find(gl, "glBufferData", &gl->bufferData) && find(gl, "glDeleteBuffers", &gl->deleteBuffers) &&
         find(gl, "glFinish", &gl->finish);
}

static void verticesOutOfOpenGl(void **state) {
  NEEDS_DEVICE;
  Gl gl = {0};
  if (!openGl(&gl)) {
    printf("skipped: there is no OpenGL without a window here\n");
    skip();
  }
  pnDeviceDef def = pnDefaultDeviceDef();
  pnDevice *device;
  def.glContext = gl.context, def.glDisplay = gl.display;
  pnResult result = pnCreateDevice(&def, &device);
  if (result != PN_OK) {
    /* a driver without sharing is refused, and told so */
    printf("skipped: %s\n", pnGetMessage());
    assert_int_equal(result, PN_ERROR_UNSUPPORTED);
    gl.makeCurrent(gl.display, NULL, NULL, NULL);
    gl.destroyContext(gl.display, gl.context);
    skip();
  }
  Body b = makeBody();
  pnDeviceWorld *world = makeWorld(device, &b);
  unsigned buffer = 0;
  gl.genBuffers(1, &buffer);
  for (int frame = 0; frame < 3; ++frame) {
    for (uint32_t i = 0; i < 3 * b.count; ++i) b.vertices[i] *= i % 3 == 1 ? 0.97f : 1.0f;
    gl.bindBuffer(0x8892, buffer); /* GL_ARRAY_BUFFER */
    gl.bufferData(0x8892, 12 * (ptrdiff_t)b.count, b.vertices, 0x88E8);
    gl.finish();
    testExpectOk(pnDeviceWorld_CopyGlVertices(world, 0, buffer, 0));
    expectPairs(world, &b);
  }
  printf("vertices of '%s' came out of OpenGL\n", pnDevice_GetInfo(device).name);
  gl.deleteBuffers(1, &buffer);
  pnDestroyDeviceWorld(world);
  pnDestroyDevice(device);
  freeBody(&b);
  gl.makeCurrent(gl.display, NULL, NULL, NULL);
  gl.destroyContext(gl.display, gl.context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(buffersAreTakenAndGivenBack),
                                     cmocka_unit_test(contextsAreHandedOn), cmocka_unit_test(verticesOutOfOpenGl)};
  return cmocka_run_group_tests(tests, openDevice, closeDevice);
}
