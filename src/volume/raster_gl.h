/* raster_gl.h: what the two files of pinch_gl share: the functions of OpenGL, the context, the state around it. */
#ifndef PN_VOLUME_RASTER_GL_H
#define PN_VOLUME_RASTER_GL_H

#include "volume/raster.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/glcorearb.h>

/* The functions of OpenGL that are used, looked up by name: X(type, name). */
#define GL_FUNCTIONS(X)                                        \
  X(PFNGLACTIVETEXTUREPROC, ActiveTexture)                     \
  X(PFNGLATTACHSHADERPROC, AttachShader)                       \
  X(PFNGLBINDBUFFERPROC, BindBuffer)                           \
  X(PFNGLBINDFRAMEBUFFERPROC, BindFramebuffer)                 \
  X(PFNGLBINDRENDERBUFFERPROC, BindRenderbuffer)               \
  X(PFNGLBINDTEXTUREPROC, BindTexture)                         \
  X(PFNGLBINDVERTEXARRAYPROC, BindVertexArray)                 \
  X(PFNGLBUFFERDATAPROC, BufferData)                           \
  X(PFNGLCHECKFRAMEBUFFERSTATUSPROC, CheckFramebufferStatus)   \
  X(PFNGLCLEARPROC, Clear)                                     \
  X(PFNGLCLEARDEPTHPROC, ClearDepth)                           \
  X(PFNGLCLEARSTENCILPROC, ClearStencil)                       \
  X(PFNGLCOMPILESHADERPROC, CompileShader)                     \
  X(PFNGLCREATEPROGRAMPROC, CreateProgram)                     \
  X(PFNGLCREATESHADERPROC, CreateShader)                       \
  X(PFNGLCULLFACEPROC, CullFace)                               \
  X(PFNGLDELETEBUFFERSPROC, DeleteBuffers)                     \
  X(PFNGLDELETEFRAMEBUFFERSPROC, DeleteFramebuffers)           \
  X(PFNGLDELETEPROGRAMPROC, DeleteProgram)                     \
  X(PFNGLDELETERENDERBUFFERSPROC, DeleteRenderbuffers)         \
  X(PFNGLDELETESHADERPROC, DeleteShader)                       \
  X(PFNGLDELETETEXTURESPROC, DeleteTextures)                   \
  X(PFNGLDELETEVERTEXARRAYSPROC, DeleteVertexArrays)           \
  X(PFNGLDEPTHFUNCPROC, DepthFunc)                             \
  X(PFNGLDEPTHMASKPROC, DepthMask)                             \
  X(PFNGLDEPTHRANGEPROC, DepthRange)                           \
  X(PFNGLDISABLEPROC, Disable)                                 \
  X(PFNGLDRAWBUFFERPROC, DrawBuffer)                           \
  X(PFNGLDRAWELEMENTSPROC, DrawElements)                       \
  X(PFNGLENABLEPROC, Enable)                                   \
  X(PFNGLENABLEVERTEXATTRIBARRAYPROC, EnableVertexAttribArray) \
  X(PFNGLFRAMEBUFFERRENDERBUFFERPROC, FramebufferRenderbuffer) \
  X(PFNGLFRONTFACEPROC, FrontFace)                             \
  X(PFNGLGENBUFFERSPROC, GenBuffers)                           \
  X(PFNGLGENFRAMEBUFFERSPROC, GenFramebuffers)                 \
  X(PFNGLGENRENDERBUFFERSPROC, GenRenderbuffers)               \
  X(PFNGLGENTEXTURESPROC, GenTextures)                         \
  X(PFNGLGENVERTEXARRAYSPROC, GenVertexArrays)                 \
  X(PFNGLGETERRORPROC, GetError)                               \
  X(PFNGLGETFLOATVPROC, GetFloatv)                             \
  X(PFNGLGETINTEGERVPROC, GetIntegerv)                         \
  X(PFNGLGETPROGRAMIVPROC, GetProgramiv)                       \
  X(PFNGLGETSTRINGPROC, GetString)                             \
  X(PFNGLGETUNIFORMLOCATIONPROC, GetUniformLocation)           \
  X(PFNGLISENABLEDPROC, IsEnabled)                             \
  X(PFNGLLINKPROGRAMPROC, LinkProgram)                         \
  X(PFNGLPIXELSTOREIPROC, PixelStorei)                         \
  X(PFNGLPOLYGONMODEPROC, PolygonMode)                         \
  X(PFNGLREADBUFFERPROC, ReadBuffer)                           \
  X(PFNGLREADPIXELSPROC, ReadPixels)                           \
  X(PFNGLRENDERBUFFERSTORAGEPROC, RenderbufferStorage)         \
  X(PFNGLSCISSORPROC, Scissor)                                 \
  X(PFNGLSHADERSOURCEPROC, ShaderSource)                       \
  X(PFNGLSTENCILFUNCPROC, StencilFunc)                         \
  X(PFNGLSTENCILMASKPROC, StencilMask)                         \
  X(PFNGLSTENCILOPPROC, StencilOp)                             \
  X(PFNGLTEXBUFFERPROC, TexBuffer)                             \
  X(PFNGLUNIFORM1IPROC, Uniform1i)                             \
  X(PFNGLUNIFORM2FPROC, Uniform2f)                             \
  X(PFNGLUNIFORM2IPROC, Uniform2i)                             \
  X(PFNGLUNIFORM3FPROC, Uniform3f)                             \
  X(PFNGLUSEPROGRAMPROC, UseProgram)                           \
  X(PFNGLVERTEXATTRIBIPOINTERPROC, VertexAttribIPointer)       \
  X(PFNGLVIEWPORTPROC, Viewport)

typedef struct pnGlFunctions {
#define PN_DECLARE(type, name) type name;
  GL_FUNCTIONS(PN_DECLARE)
#undef PN_DECLARE
} pnGlFunctions;

typedef struct pnGl {
  pnGlRaster base; /* first, so that a pnGlRaster is a pnGl */
  pnGlFunctions f;
  bool own; /* the context is ours */
  EGLDisplay display;
  EGLContext context;
  EGLSurface surface; /* one pixel, where a context cannot do without */
  GLuint program, array, buffers[2], textures[2], frame, storage;
  bool exact;                                       /* the program computes depths itself, in doubles */
  GLint placeAt, keepAt, originAt, cellAt, stepsAt; /* uniforms */
  GLint maxSide, maxTexels;
  GLint width, height; /* of the storage */
  char name[128];
} pnGl;

/* ---------------------------------------------------------------- context */

/* What was current in this thread before, to be put back. */
typedef struct pnGlBefore {
  EGLenum api;
  EGLDisplay display;
  EGLContext context;
  EGLSurface draw, read;
} pnGlBefore;

pnGlBefore pn_glRemember(void);
bool pn_glEnter(pnGl *gl);                           /* makes our own context current; a caller's is so already */
void pn_glLeave(pnGl *gl, const pnGlBefore *before); /* puts back what was there before */

/* Opens a context of our own without a window, current at return; wanted: number of the device or PN_NONE. */
bool pn_glOpen(pnGl *gl, uint32_t wanted);

/* Looks up all functions; returns the name of the first that is missing, or null. */
const char *pn_glLoad(pnGl *gl, void *(*getProcAddress)(const char *name));

/* ---------------------------------------------------------------- state */

/* What rendering changes and a caller's context gets back. */
#define PN_GL_SWITCHES 10
typedef struct pnGlState {
  GLboolean on[PN_GL_SWITCHES];
  GLint viewport[4], scissor[4], program, array, arrayBuffer, packBuffer, draw, read, renderbuffer;
  GLint cullMode, frontFace, depthFunc, depthMask, stencil[7], clearStencil, packAlignment, packLength, polygonMode[2];
  GLint activeTexture, textures[2];
  GLfloat depthRange[2], clearDepth;
} pnGlState;

void pn_glSave(const pnGlFunctions *f, pnGlState *state);
void pn_glRestore(const pnGlFunctions *f, const pnGlState *state);
void pn_glSet(const pnGlFunctions *f); /* the state in which layers are drawn */

#endif
