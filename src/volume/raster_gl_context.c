/* raster_gl_context.c: an OpenGL context without a window, and the state of somebody else's. The drawing is in
 * raster_gl.c. */
#include "volume/raster_gl.h"

#include <string.h>

/* ---------------------------------------------------------------- context */

pnGlBefore pn_glRemember(void) {
  return (pnGlBefore){eglQueryAPI(), eglGetCurrentDisplay(), eglGetCurrentContext(), eglGetCurrentSurface(EGL_DRAW),
                      eglGetCurrentSurface(EGL_READ)};
}

bool pn_glEnter(pnGl *gl) {
  if (!gl->own) return true;
  eglBindAPI(EGL_OPENGL_API);
  return eglGetCurrentContext() == gl->context || eglMakeCurrent(gl->display, gl->surface, gl->surface, gl->context);
}

void pn_glLeave(pnGl *gl, const pnGlBefore *before) {
  if (!gl->own) return;
  if (before->context == EGL_NO_CONTEXT) eglMakeCurrent(gl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  else if (before->context != gl->context) eglMakeCurrent(before->display, before->draw, before->read, before->context);
  eglBindAPI(before->api);
}

/* A core context of version 4.0, or 3.3, on this display, current at return. */
static bool openDisplay(pnGl *gl, EGLDisplay display) {
  if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL)) return false;
  static const EGLint configWish[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  // doubles in shaders came with 4.0
  static const EGLint versions[2][7] = {
      {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 0, EGL_CONTEXT_OPENGL_PROFILE_MASK,
       EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE},
      {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
       EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE}};
  static const EGLint pixel[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
  EGLConfig config = NULL;
  EGLint count = 0;
  if (!eglBindAPI(EGL_OPENGL_API) || !eglChooseConfig(display, configWish, &config, 1, &count) || count == 0)
    return false;
  EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, versions[0]);
  if (context == EGL_NO_CONTEXT) context = eglCreateContext(display, config, EGL_NO_CONTEXT, versions[1]);
  if (context == EGL_NO_CONTEXT) return false;
  // we draw into a buffer of our own; older drivers want a surface all the same
  EGLSurface surface = EGL_NO_SURFACE;
  if (!eglMakeCurrent(display, surface, surface, context)) {
    surface = eglCreatePbufferSurface(display, config, pixel);
    if (surface == EGL_NO_SURFACE || !eglMakeCurrent(display, surface, surface, context)) {
      if (surface != EGL_NO_SURFACE) eglDestroySurface(display, surface);
      eglDestroyContext(display, context);
      return false;
    }
  }
  gl->display = display, gl->context = context, gl->surface = surface;
  return true;
}

/* The devices of the machine in the driver's order (graphics cards first), then Mesa without a window system, then
 * whatever there is. */
bool pn_glOpen(pnGl *gl, uint32_t wanted) {
  PFNEGLQUERYDEVICESEXTPROC queryDevices = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
  PFNEGLGETPLATFORMDISPLAYEXTPROC platformDisplay =
      (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
  EGLDeviceEXT devices[16];
  EGLint count = 0;
  if (platformDisplay && queryDevices && queryDevices(16, devices, &count))
    for (EGLint i = 0; i < count; ++i) {
      if (wanted != PN_NONE && wanted != (uint32_t)i) continue;
      if (openDisplay(gl, platformDisplay(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL))) return true;
    }
  if (wanted != PN_NONE) return false;
  if (platformDisplay && openDisplay(gl, platformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL)))
    return true;
  return openDisplay(gl, eglGetDisplay(EGL_DEFAULT_DISPLAY));
}

const char *pn_glLoad(pnGl *gl, void *(*getProcAddress)(const char *name)) {
  // an object pointer becomes a function pointer by copying its bytes, which the language leaves to the machine
#define LOAD(type, name)                              \
  if (getProcAddress) {                               \
    void *address = getProcAddress("gl" #name);       \
    memcpy(&gl->f.name, &address, sizeof address);    \
  } else {                                            \
    gl->f.name = (type)eglGetProcAddress("gl" #name); \
  }                                                   \
  if (!gl->f.name) return "gl" #name;
  GL_FUNCTIONS(LOAD)
#undef LOAD
  return NULL;
}

/* ---------------------------------------------------------------- state */

static const GLenum switches[PN_GL_SWITCHES] = {
    GL_BLEND,        GL_CULL_FACE,      GL_DEPTH_CLAMP,         GL_DEPTH_TEST,         GL_SCISSOR_TEST,
    GL_STENCIL_TEST, GL_CLIP_DISTANCE0, GL_POLYGON_OFFSET_FILL, GL_RASTERIZER_DISCARD, GL_MULTISAMPLE};

void pn_glSave(const pnGlFunctions *f, pnGlState *state) {
  for (size_t i = 0; i < PN_GL_SWITCHES; ++i) state->on[i] = f->IsEnabled(switches[i]);
  f->GetIntegerv(GL_VIEWPORT, state->viewport);
  f->GetIntegerv(GL_SCISSOR_BOX, state->scissor);
  f->GetIntegerv(GL_CURRENT_PROGRAM, &state->program);
  f->GetIntegerv(GL_VERTEX_ARRAY_BINDING, &state->array);
  f->GetIntegerv(GL_ARRAY_BUFFER_BINDING, &state->arrayBuffer);
  f->GetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &state->packBuffer);
  f->GetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &state->draw);
  f->GetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &state->read);
  f->GetIntegerv(GL_RENDERBUFFER_BINDING, &state->renderbuffer);
  f->GetIntegerv(GL_CULL_FACE_MODE, &state->cullMode);
  f->GetIntegerv(GL_FRONT_FACE, &state->frontFace);
  f->GetIntegerv(GL_DEPTH_FUNC, &state->depthFunc);
  f->GetIntegerv(GL_DEPTH_WRITEMASK, &state->depthMask);
  static const GLenum stencil[7] = {GL_STENCIL_FUNC,
                                    GL_STENCIL_REF,
                                    GL_STENCIL_VALUE_MASK,
                                    GL_STENCIL_FAIL,
                                    GL_STENCIL_PASS_DEPTH_FAIL,
                                    GL_STENCIL_PASS_DEPTH_PASS,
                                    GL_STENCIL_WRITEMASK};
  for (int i = 0; i < 7; ++i) f->GetIntegerv(stencil[i], &state->stencil[i]);
  f->GetIntegerv(GL_STENCIL_CLEAR_VALUE, &state->clearStencil);
  f->GetIntegerv(GL_PACK_ALIGNMENT, &state->packAlignment);
  f->GetIntegerv(GL_PACK_ROW_LENGTH, &state->packLength);
  f->GetIntegerv(GL_POLYGON_MODE, state->polygonMode);
  f->GetIntegerv(GL_ACTIVE_TEXTURE, &state->activeTexture);
  for (GLuint i = 0; i < 2; ++i) {
    f->ActiveTexture(GL_TEXTURE0 + i);
    f->GetIntegerv(GL_TEXTURE_BINDING_BUFFER, &state->textures[i]);
  }
  f->GetFloatv(GL_DEPTH_RANGE, state->depthRange);
  f->GetFloatv(GL_DEPTH_CLEAR_VALUE, &state->clearDepth);
}

void pn_glRestore(const pnGlFunctions *f, const pnGlState *state) {
  for (size_t i = 0; i < PN_GL_SWITCHES; ++i) (state->on[i] ? f->Enable : f->Disable)(switches[i]);
  f->Viewport(state->viewport[0], state->viewport[1], state->viewport[2], state->viewport[3]);
  f->Scissor(state->scissor[0], state->scissor[1], state->scissor[2], state->scissor[3]);
  f->UseProgram((GLuint)state->program);
  f->BindVertexArray((GLuint)state->array);
  f->BindBuffer(GL_ARRAY_BUFFER, (GLuint)state->arrayBuffer);
  f->BindBuffer(GL_PIXEL_PACK_BUFFER, (GLuint)state->packBuffer);
  f->BindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)state->draw);
  f->BindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)state->read);
  f->BindRenderbuffer(GL_RENDERBUFFER, (GLuint)state->renderbuffer);
  f->CullFace((GLenum)state->cullMode);
  f->FrontFace((GLenum)state->frontFace);
  f->DepthFunc((GLenum)state->depthFunc);
  f->DepthMask((GLboolean)state->depthMask);
  const GLint *s = state->stencil;
  f->StencilFunc((GLenum)s[0], s[1], (GLuint)s[2]);
  f->StencilOp((GLenum)s[3], (GLenum)s[4], (GLenum)s[5]);
  f->StencilMask((GLuint)s[6]);
  f->ClearStencil(state->clearStencil);
  f->PixelStorei(GL_PACK_ALIGNMENT, state->packAlignment);
  f->PixelStorei(GL_PACK_ROW_LENGTH, state->packLength);
  f->PolygonMode(GL_FRONT_AND_BACK, (GLenum)state->polygonMode[0]);
  for (GLuint i = 0; i < 2; ++i) {
    f->ActiveTexture(GL_TEXTURE0 + i);
    f->BindTexture(GL_TEXTURE_BUFFER, (GLuint)state->textures[i]);
  }
  f->ActiveTexture((GLenum)state->activeTexture);
  f->DepthRange((double)state->depthRange[0], (double)state->depthRange[1]);
  f->ClearDepth((double)state->clearDepth);
}

void pn_glSet(const pnGlFunctions *f) {
  static const bool on[PN_GL_SWITCHES] = {false, true, true, true, true, true, false, false, false, false};
  for (size_t i = 0; i < PN_GL_SWITCHES; ++i) (on[i] ? f->Enable : f->Disable)(switches[i]);
  f->FrontFace(GL_CCW);
  f->DepthFunc(GL_ALWAYS);
  f->DepthMask(GL_TRUE);
  f->DepthRange(0.0, 1.0);
  f->StencilMask(0xff);
  f->ClearStencil(0);
  f->ClearDepth(1.0);
  f->BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  f->PixelStorei(GL_PACK_ALIGNMENT, 4);
  f->PixelStorei(GL_PACK_ROW_LENGTH, 0);
  f->PolygonMode(GL_FRONT_AND_BACK, GL_FILL);
}
