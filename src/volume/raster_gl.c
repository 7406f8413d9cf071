/* raster_gl.c: layers by OpenGL. A library of its own (pinch_gl); the rest of pinch does not know it is there.
 *
 * Heidelberger, Teschner, Gross 2003, sections 2.2 and 3: the body is rendered once per layer, looking along the
 * depth of the window, and the stencil buffer counts. In the first pass the first fragment of a pixel is kept and all
 * are counted; in pass n the first n fragments are let through, so the n-th is the one that stays. OpenGL draws the
 * same fragments in the same order every time, so each pass keeps another one.
 *
 *   pass 1   stencil: 1 > count lets through;  count always    -> first layer, and number of layers
 *   pass n   stencil: n > count lets through;  count those     -> n-th layer
 *
 * Depth and stencil are read back together (24 and 8 bits in one word). Pass 1 is read back first, because it tells
 * how many passes there are; all others are tiles of one large buffer and read back at once: two read-backs in all.
 *
 * Where we differ: front faces and back faces are drawn apart (the paper's own idea for self-collisions), so that a
 * layer knows whether the line enters or leaves. That costs one more pass and no more read-back: two tiles in the
 * first.
 *
 * Vertices are rounded to the same grid as in software, 256 units a pixel, which is what drivers round to anyway: both
 * paths see the same triangles. Depths agree to one step where shaders have doubles (OpenGL 4), see exactSource.
 *
 * What it does not do: more than 254 front or back layers in a pixel (8 bits of stencil), images larger than the
 * driver's buffers: PN_ERROR_UNSUPPORTED, and the caller falls back to software. */
#include "volume/raster_gl.h"

#include "base/memory.h"

#include <string.h>

/* ---------------------------------------------------------------- objects */

/* Grid units to clip space; `keep` cuts off what is beyond the end of the window that nobody looks at. */
static const char *vertexSource =
    "layout(location = 0) in ivec3 point;\n"
    "uniform vec3 place;\n" /* 2 / units, 2 / units, 2 / steps */
    "uniform vec2 keep;\n"  /* kept where keep.x * z + keep.y >= 0 */
    "void main() {\n"
    "  vec3 p = vec3(point);\n"
    "  gl_Position = vec4(p * place - 1.0, 1.0);\n"
    "  gl_ClipDistance[0] = keep.x * p.z + keep.y;\n"
    "}\n";

/* Drivers interpolate depth in floats, over the whole image: a steep triangle is off by hundreds of steps. With
 * doubles in shaders the depth is computed as raster.c does, from the triangle's own corners. */
static const char *exactSource =
    "uniform isamplerBuffer points;\n"
    "uniform usamplerBuffer corners;\n"
    "uniform ivec2 origin;\n" /* of the tile */
    "uniform int cell;\n"     /* units a pixel */
    "uniform int steps;\n"
    "ivec3 corner(int k) { return texelFetch(points, int(texelFetch(corners, 3 * gl_PrimitiveID + k).r)).xyz; }\n"
    "void main() {\n"
    "  ivec3 a = corner(0), b = corner(1), c = corner(2);\n"
    "  ivec2 s = (ivec2(gl_FragCoord.xy) - origin) * cell + cell / 2;\n"
    "  dvec2 p = dvec2(s - a.xy), u = dvec2(b.xy - a.xy), v = dvec2(c.xy - a.xy);\n"
    "  double area = u.x * v.y - v.x * u.y, z = double(a.z);\n"
    "  if (area != 0.0)\n"
    "    z += ((p.x * v.y - v.x * p.y) * double(b.z - a.z) + (u.x * p.y - p.x * u.y) * double(c.z - a.z)) / area;\n"
    "  gl_FragDepth = float(clamp(z / double(steps), 0.0, 1.0));\n"
    "}\n";
static const char *plainSource = "void main() {}\n";

static GLuint linkProgram(const pnGlFunctions *f, const char *version, const char *fragmentSource) {
  static const GLenum kinds[2] = {GL_VERTEX_SHADER, GL_FRAGMENT_SHADER};
  GLuint program = f->CreateProgram();
  for (int i = 0; i < 2; ++i) {
    const char *sources[2] = {version, i == 0 ? vertexSource : fragmentSource};
    GLuint shader = f->CreateShader(kinds[i]);
    f->ShaderSource(shader, 2, sources, NULL);
    f->CompileShader(shader);
    f->AttachShader(program, shader);
    f->DeleteShader(shader);
  }
  f->LinkProgram(program);
  GLint linked = 0;
  f->GetProgramiv(program, GL_LINK_STATUS, &linked);
  if (linked) return program;
  f->DeleteProgram(program);
  return 0;
}

/* Exact depths where the driver can, its own otherwise. */
static bool makeProgram(pnGl *gl) {
  const pnGlFunctions *f = &gl->f;
  GLint major = 0;
  f->GetIntegerv(GL_MAJOR_VERSION, &major);
  f->GetIntegerv(GL_MAX_TEXTURE_BUFFER_SIZE, &gl->maxTexels);
  if (major >= 4) gl->program = linkProgram(f, "#version 400 core\n", exactSource);
  gl->exact = gl->program != 0;
  if (!gl->exact) gl->program = linkProgram(f, "#version 330 core\n", plainSource);
  if (!gl->program) return false;
  gl->placeAt = f->GetUniformLocation(gl->program, "place");
  gl->keepAt = f->GetUniformLocation(gl->program, "keep");
  gl->originAt = f->GetUniformLocation(gl->program, "origin");
  gl->cellAt = f->GetUniformLocation(gl->program, "cell");
  gl->stepsAt = f->GetUniformLocation(gl->program, "steps");
  f->UseProgram(gl->program);
  f->Uniform1i(f->GetUniformLocation(gl->program, "points"), 0);
  f->Uniform1i(f->GetUniformLocation(gl->program, "corners"), 1);
  return true;
}

/* A buffer of at least this size to draw into, depth and stencil only; it is kept while it is large enough. */
static bool growStorage(pnGl *gl, GLint width, GLint height) {
  const pnGlFunctions *f = &gl->f;
  f->BindFramebuffer(GL_FRAMEBUFFER, gl->frame);
  if (width <= gl->width && height <= gl->height) return true;
  width = PN_MAX(width, gl->width), height = PN_MAX(height, gl->height);
  f->BindRenderbuffer(GL_RENDERBUFFER, gl->storage);
  f->RenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8, width, height);
  f->FramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, gl->storage);
  f->DrawBuffer(GL_NONE);
  f->ReadBuffer(GL_NONE);
  bool good = f->GetError() == GL_NO_ERROR && f->CheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
  gl->width = good ? width : 0, gl->height = good ? height : 0;
  return good;
}

static void upload(pnGl *gl, const pnRaster *raster, const pnSolid *solid) {
  const pnGlFunctions *f = &gl->f;
  f->BindVertexArray(gl->array);
  f->BindBuffer(GL_ARRAY_BUFFER, gl->buffers[0]);
  f->BufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(raster->points.count * sizeof(pnPoint)), raster->points.data,
                GL_STREAM_DRAW);
  f->BindBuffer(GL_ELEMENT_ARRAY_BUFFER, gl->buffers[1]);
  f->BufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)(3 * sizeof(uint32_t) * solid->triangleCount), solid->triangles,
                GL_STREAM_DRAW);
  f->EnableVertexAttribArray(0);
  f->VertexAttribIPointer(0, 3, GL_INT, sizeof(pnPoint), NULL);

  // the same two arrays again, for the fragment shader to read
  static const GLenum formats[2] = {GL_RGBA32I, GL_R32UI};
  for (GLuint i = 0; i < 2 && gl->exact; ++i) {
    f->ActiveTexture(GL_TEXTURE0 + i);
    f->BindTexture(GL_TEXTURE_BUFFER, gl->textures[i]);
    f->TexBuffer(GL_TEXTURE_BUFFER, formats[i], gl->buffers[i]);
  }
}

/* ---------------------------------------------------------------- passes */

/* A tile to be drawn: the `layer`-th (from 1) entry (facing 0) or exit (facing 1) of every pixel. */
typedef struct Tile {
  uint32_t facing, layer;
} Tile;

/* Draws tiles first ... last - 1 and reads them back: `columns` tiles a row, rows one after the other. */
static bool drawTiles(pnGl *gl, const pnSolid *solid, GLint size, const Tile *tiles, uint32_t count, uint32_t columns,
                      uint32_t *words) {
  const pnGlFunctions *f = &gl->f;
  GLint rows = (GLint)((count + columns - 1) / columns), width = size * (GLint)columns, height = size * rows;
  if (!growStorage(gl, width, height)) return false;
  f->Viewport(0, 0, width, height);
  f->Scissor(0, 0, width, height);
  f->Clear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
  for (uint32_t t = 0; t < count; ++t) {
    GLint x = (GLint)(t % columns) * size, y = (GLint)(t / columns) * size;
    f->Viewport(x, y, size, size);
    f->Scissor(x, y, size, size);
    if (gl->exact) f->Uniform2i(gl->originAt, x, y);
    // counter-clockwise, the front to OpenGL, is where the line leaves the body
    f->CullFace(tiles[t].facing ? GL_BACK : GL_FRONT);
    f->StencilFunc(GL_GREATER, (GLint)tiles[t].layer, 0xff);
    f->StencilOp(tiles[t].layer == 1 ? GL_INCR : GL_KEEP, GL_INCR, GL_INCR);
    f->DrawElements(GL_TRIANGLES, (GLsizei)(3 * solid->triangleCount), GL_UNSIGNED_INT, NULL);
  }
  f->ReadPixels(0, 0, width, height, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, words);
  return f->GetError() == GL_NO_ERROR;
}

/* One image while it is made. */
typedef struct Job {
  pnGl *gl;
  const pnSolid *solid;
  pnLayers *layers;
  uint32_t size, columns, rows; /* cells per side; tiles that fit into the largest buffer */
  uint32_t *words;              /* what was read back */
  size_t wordCount;
  uint8_t *counts[2]; /* entries and exits per cell */
  uint32_t most[2];
} Job;

/* How many layers there are, from the first read-back; false when the stencil has run over. */
static bool countLayers(Job *job) {
  for (uint32_t facing = 0; facing < 2; ++facing) {
    job->most[facing] = 0;
    for (uint32_t y = 0; y < job->size; ++y) {
      const uint32_t *row = job->words + ((size_t)y * 2 + facing) * job->size;
      for (uint32_t x = 0; x < job->size; ++x) {
        uint32_t count = row[x] & 0xff;
        job->counts[facing][(size_t)y * job->size + x] = (uint8_t)count;
        job->most[facing] = PN_MAX(job->most[facing], count);
      }
    }
  }
  return job->most[0] < 255 && job->most[1] < 255;
}

/* Where every cell's layers begin; room for them. offsets[c + 1] is the beginning of cell c, to be moved on as it
 * fills. */
static bool placeLayers(Job *job) {
  pnLayers *layers = job->layers;
  for (uint32_t b = 0; b < layers->bandCount; ++b) {
    pnBand *band = layers->bands + b;
    uint32_t place = 0, cells = PN_BAND_ROWS * job->size;
    size_t first = (size_t)b * cells, all = (size_t)job->size * job->size;
    band->offsets[0] = 0;
    for (uint32_t c = 0; c < cells; ++c) {
      band->offsets[c + 1] = place;
      if (first + c < all) place += job->counts[0][first + c] + job->counts[1][first + c];
    }
    if (!pn_bandReserve(band, place)) return false;
  }
  return true;
}

/* Takes a tile's depths into the image. */
static void takeTile(Job *job, Tile tile, const uint32_t *words, size_t stride) {
  // 24 bits from 0 to 1 are depth 0 to steps
  double scale = (double)job->layers->view.steps / 16777215.0;
  for (uint32_t y = 0; y < job->size; ++y) {
    pnBand *band = job->layers->bands + y / PN_BAND_ROWS;
    uint32_t *places = band->offsets + (size_t)(y % PN_BAND_ROWS) * job->size + 1;
    const uint8_t *counts = job->counts[tile.facing] + (size_t)y * job->size;
    for (uint32_t x = 0; x < job->size; ++x) {
      if (counts[x] < tile.layer) continue;
      uint32_t depth = (uint32_t)((double)(words[y * stride + x] >> 8) * scale + 0.5);
      band->keys[places[x]++] = depth << 1 | tile.facing;
    }
  }
}

/* Pass 1 of both facings, one read-back. */
static pnResult firstPass(Job *job) {
  const Tile tiles[2] = {{0, 1}, {1, 1}};
  if (!drawTiles(job->gl, job->solid, (GLint)job->size, tiles, 2, 2, job->words))
    return pn_fail(PN_ERROR_UNSUPPORTED, "OpenGL cannot draw %u x %u pixels of depth and stencil", 2 * job->size,
                   job->size);
  if (!countLayers(job))
    return pn_fail(PN_ERROR_UNSUPPORTED, "mesh '%s' has 255 or more layers in a pixel, more than the stencil counts",
                   job->solid->pose->mesh->name);
  if (!placeLayers(job))
    return pn_fail(PN_ERROR_MEMORY, "out of memory for the layers of '%s'", job->solid->pose->mesh->name);
  for (uint32_t facing = 0; facing < 2; ++facing)
    takeTile(job, tiles[facing], job->words + (size_t)facing * job->size, 2 * (size_t)job->size);
  return PN_OK;
}

/* All other passes, as many tiles at a time as the largest buffer holds: usually all. */
static pnResult otherPasses(Job *job) {
  Tile tiles[2 * 255];
  uint32_t count = 0;
  for (uint32_t facing = 0; facing < 2; ++facing)
    for (uint32_t layer = 2; layer <= job->most[facing]; ++layer) tiles[count++] = (Tile){facing, layer};
  for (uint32_t done = 0; done < count;) {
    uint32_t now = PN_MIN(count - done, job->columns * job->rows), columns = PN_MIN(now, job->columns);
    uint32_t rows = (now + columns - 1) / columns;
    size_t wordCount = (size_t)columns * rows * job->size * job->size;
    if (wordCount > job->wordCount) {
      pn_free(job->words, job->wordCount * sizeof(uint32_t));
      job->words = pn_alloc(pn_bytes(wordCount, sizeof(uint32_t)));
      job->wordCount = job->words ? wordCount : 0;
      if (!job->words) return pn_failMemory(pn_bytes(wordCount, sizeof(uint32_t)));
    }
    if (!drawTiles(job->gl, job->solid, (GLint)job->size, tiles + done, now, columns, job->words))
      return pn_fail(PN_ERROR_UNSUPPORTED, "OpenGL cannot draw %u tiles of %u x %u pixels", now, job->size, job->size);
    size_t stride = (size_t)columns * job->size;
    for (uint32_t t = 0; t < now; ++t)
      takeTile(job, tiles[done + t],
               job->words + (size_t)(t / columns) * job->size * stride + (size_t)(t % columns) * job->size, stride);
    done += now;
  }
  return PN_OK;
}

static pnResult renderLayers(pnGl *gl, const pnRaster *raster, const pnSolid *solid, pnLayers *layers) {
  const pnGlFunctions *f = &gl->f;
  const pnView *view = &layers->view;
  uint32_t size = view->size, fit = (uint32_t)gl->maxSide / size;
  size_t cells = (size_t)size * size;
  if (gl->exact && (int64_t)PN_MAX(3 * (size_t)solid->triangleCount, raster->points.count) > gl->maxTexels)
    return pn_fail(PN_ERROR_UNSUPPORTED, "mesh '%s' has more triangles than OpenGL's buffer textures hold here",
                   solid->pose->mesh->name);
  if (fit < 2) return pn_fail(PN_ERROR_UNSUPPORTED, "an image of %u pixels a side is too large for OpenGL here", size);
  Job job = {
      .gl = gl, .solid = solid, .layers = layers, .size = size, .columns = fit, .rows = fit, .wordCount = 2 * cells};
  job.words = pn_alloc(pn_bytes(job.wordCount, sizeof(uint32_t)));
  job.counts[0] = pn_alloc(cells);
  job.counts[1] = pn_alloc(cells);
  pnResult result = job.words && job.counts[0] && job.counts[1] ? PN_OK : pn_failMemory(10 * cells);

  if (result == PN_OK) {
    double units = (double)((uint64_t)size << view->cellShift);
    pn_glSet(f);
    f->UseProgram(gl->program);
    if (gl->exact) {
      f->Uniform1i(gl->cellAt, 1 << view->cellShift);
      f->Uniform1i(gl->stepsAt, view->steps);
    }
    f->Uniform3f(gl->placeAt, (float)(2.0 / units), (float)(2.0 / units), (float)(2.0 / view->steps));
    f->Uniform2f(gl->keepAt, layers->fromHigh ? 1.0f : -1.0f, layers->fromHigh ? 0.0f : (float)view->steps);
    (layers->open ? f->Disable : f->Enable)(GL_CLIP_DISTANCE0);
    upload(gl, raster, solid);
    result = firstPass(&job);
    if (result == PN_OK) result = otherPasses(&job);
  }
  if (result == PN_OK)
    for (uint32_t b = 0; b < layers->bandCount; ++b) pn_bandSort(layers->bands + b, PN_BAND_ROWS * size);

  pn_free(job.words, job.wordCount * sizeof(uint32_t));
  pn_free(job.counts[0], cells);
  pn_free(job.counts[1], cells);
  return result;
}

static pnResult render(pnGlRaster *base, const pnRaster *raster, const pnSolid *solid, pnLayers *layers) {
  pnGl *gl = (pnGl *)base;
  pnGlBefore before = pn_glRemember();
  if (!pn_glEnter(gl)) return pn_fail(PN_ERROR_UNSUPPORTED, "the OpenGL context cannot be made current");
  pnGlState state;
  if (!gl->own) pn_glSave(&gl->f, &state);
  pnResult result = renderLayers(gl, raster, solid, layers);
  if (!gl->own) pn_glRestore(&gl->f, &state);
  pn_glLeave(gl, &before);
  return result;
}

/* ---------------------------------------------------------------- create, destroy */

pnGlRasterDef pnDefaultGlRasterDef(void) {
  return (pnGlRasterDef){.device = PN_NONE, .maxSide = 8192, .cookie = PN_COOKIE};
}

static pnResult setUp(pnGl *gl, const pnGlRasterDef *def) {
  const char *missing = pn_glLoad(gl, def->getProcAddress);
  if (missing) return pn_fail(PN_ERROR_UNSUPPORTED, "this OpenGL has no %s; version 3.3 is needed", missing);
  const pnGlFunctions *f = &gl->f;
  const char *name = (const char *)f->GetString(GL_RENDERER);
  if (!name) return pn_fail(PN_ERROR_UNSUPPORTED, "no OpenGL context is current in this thread");
  strncpy(gl->name, name, sizeof gl->name - 1);
  GLint most = 0, viewport[2] = {0, 0};
  f->GetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &most);
  f->GetIntegerv(GL_MAX_VIEWPORT_DIMS, viewport);
  gl->maxSide = PN_MIN(PN_MIN(most, (GLint)def->maxSide), PN_MIN(viewport[0], viewport[1]));

  pnGlState state;
  if (!gl->own) pn_glSave(f, &state);
  f->GenVertexArrays(1, &gl->array);
  f->GenBuffers(2, gl->buffers);
  f->GenTextures(2, gl->textures);
  f->GenFramebuffers(1, &gl->frame);
  f->GenRenderbuffers(1, &gl->storage);
  bool program = makeProgram(gl), storage = growStorage(gl, 64, 64);
  if (!gl->own) pn_glRestore(f, &state);
  if (!program) return pn_fail(PN_ERROR_UNSUPPORTED, "OpenGL ('%s') does not take our shaders", gl->name);
  if (!storage) return pn_fail(PN_ERROR_UNSUPPORTED, "OpenGL ('%s') has no packed depth and stencil buffer", gl->name);
  return PN_OK;
}

pnResult pnCreateGlRaster(const pnGlRasterDef *def, pnGlRaster **outRaster) {
  PN_ASSERT(def && outRaster);
  *outRaster = NULL;
  pnResult result = pn_checkCookie(def->cookie, "pnGlRasterDef");
  if (result != PN_OK) return result;
  pnGl *gl = pn_allocZero(sizeof *gl);
  if (!gl) return pn_failMemory(sizeof *gl);
  gl->base.render = render;
  gl->own = def->getProcAddress == NULL;
  gl->context = EGL_NO_CONTEXT, gl->surface = EGL_NO_SURFACE, gl->display = EGL_NO_DISPLAY;
  pnGlBefore before = pn_glRemember();
  if (gl->own && !pn_glOpen(gl, def->device))
    result = pn_fail(PN_ERROR_UNSUPPORTED, "no EGL display gives an OpenGL 3.3 context");
  if (result == PN_OK) result = setUp(gl, def);
  if (gl->own && gl->context != EGL_NO_CONTEXT) pn_glLeave(gl, &before);
  if (result != PN_OK) {
    pnDestroyGlRaster(&gl->base);
    return result;
  }
  *outRaster = &gl->base;
  return PN_OK;
}

void pnDestroyGlRaster(pnGlRaster *raster) {
  if (!raster) return;
  pnGl *gl = (pnGl *)raster;
  pnGlBefore before = pn_glRemember();
  if ((!gl->own || gl->context != EGL_NO_CONTEXT) && gl->f.DeleteBuffers && gl->array && pn_glEnter(gl)) {
    const pnGlFunctions *f = &gl->f;
    f->DeleteProgram(gl->program);
    f->DeleteVertexArrays(1, &gl->array);
    f->DeleteTextures(2, gl->textures);
    f->DeleteBuffers(2, gl->buffers);
    f->DeleteFramebuffers(1, &gl->frame);
    f->DeleteRenderbuffers(1, &gl->storage);
    pn_glLeave(gl, &before);
  }
  // the display stays open: others in this process may use the same one, and EGL counts no owners
  if (gl->own && gl->context != EGL_NO_CONTEXT) {
    eglDestroyContext(gl->display, gl->context);
    if (gl->surface != EGL_NO_SURFACE) eglDestroySurface(gl->display, gl->surface);
  }
  pn_free(gl, sizeof *gl);
}

const char *pnGlRaster_GetName(const pnGlRaster *raster) {
  PN_ASSERT(raster);
  return ((const pnGl *)raster)->name;
}
