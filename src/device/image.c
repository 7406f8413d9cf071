/* image.c: makes the layered depth image of a body on the device.
 *
 *   box        of the body; it travels back, since the processor chooses the view (volume/view.c)
 *   draw       small triangles to layers; large ones to a list of blocks of rows        (kernel/image.cl)
 *   rows       these to layers
 *   scan, scatter, sort   layers by cell and depth
 *
 * Lists that were too short grow, and the image is made again. */
#include "device/image.h"

#include "base/thread.h"
#include "volume/solid.h"

#include <math.h>
#include <string.h>

static const char *const s_names[PN_IMAGE_KERNEL_COUNT] = {
#define PN_IMAGE_NAME(name, kernel) #kernel,
    PN_IMAGE_KERNELS(PN_IMAGE_NAME)
#undef PN_IMAGE_NAME
};

/* Small answers. */
#define PINNED_BYTES 256u

/* ---------------------------------------------------------------- calls */

pnResult pn_imageReserve(pnBodyImage *image, pnImageBuffer name, size_t bytes) {
  bytes = PN_MAX(bytes, 64);
  if (image->bufferBytes[name] >= bytes) return PN_OK;
  pnResult result = PN_OK;
  cl_mem buffer = pn_createBuffer(image->world->device, bytes, "an image", &result);
  if (!buffer) return result;
  pn_releaseBuffer(&image->buffers[name]);
  image->buffers[name] = buffer;
  image->byteCount += bytes - image->bufferBytes[name];
  image->bufferBytes[name] = bytes;
  return PN_OK;
}

pnResult pn_imageRun(pnBodyImage *image, pnImageKernel kernel, const pnArgument *arguments, int count, size_t groups,
                     size_t local, cl_event *outEvent) {
  const size_t global[2] = {PN_MAX(groups, 1) * local, 1}, locals[2] = {local, 1};
  return pn_runKernel(image->world, image->kernels[kernel], s_names[kernel], arguments, count, global, locals,
                      outEvent);
}

#define RUN(image, kernel, groups, local, ...)                  \
  pn_imageRun(image, kernel, (const pnArgument[]){__VA_ARGS__}, \
              (int)(sizeof((const pnArgument[]){__VA_ARGS__}) / sizeof(pnArgument)), groups, local, NULL)

pnResult pn_imageRead(pnBodyImage *image, pnImageBuffer name, void *out, size_t bytes) {
  PN_ASSERT(bytes <= PINNED_BYTES);
  cl_int error = pn_cl.EnqueueReadBuffer(image->world->device->queue, image->buffers[name], 1, 0, bytes, image->memory,
                                         0, NULL, NULL);
  if (error != CL_SUCCESS) return pn_worldFail(image->world, error, "EnqueueReadBuffer", "an image");
  memcpy(out, image->memory, bytes);
  return PN_OK;
}

static pnResult clear(pnBodyImage *image, pnImageBuffer name, size_t bytes) {
  const uint32_t zero = 0;
  cl_int error = pn_cl.EnqueueFillBuffer(image->world->device->queue, image->buffers[name], &zero, sizeof zero, 0,
                                         bytes, 0, NULL, NULL);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(image->world, error, "EnqueueFillBuffer", "an image");
}

/* Groups for a list whose length only the device knows, or for n items by turns. */
static size_t groupsFor(const pnBodyImage *image, size_t n, size_t local) {
  const pnDeviceInfo *info = &image->world->device->info;
  const size_t most = (size_t)info->computeUnits * (info->kind == PN_DEVICE_GPU ? 16 : 4);
  return PN_MIN((n + local - 1) / local, most);
}

/* ---------------------------------------------------------------- life */

static const pnDeviceBody *bodyOf(const pnBodyImage *image) {
  return &image->world->bodies.data[image->body];
}

bool pn_bodyImageEmpty(const pnBodyImage *image) {
  return bodyOf(image)->pose->mesh->triangleCount == 0;
}

static pnResult checkMesh(pnBodyImage *image, pnInsideRule rule) {
  pnSolid solid;
  pnResult result = pn_solidInit(&solid, bodyOf(image)->pose, rule);
  if (result != PN_OK) return result;
  image->open = !solid.watertight;
  pn_solidFree(&solid);
  return PN_OK;
}

pnResult pn_bodyImageInit(pnBodyImage *image, pnDeviceWorld *world, uint32_t body, pnInsideRule rule) {
  *image = (pnBodyImage){.world = world, .body = body};
  if (body >= world->bodies.count)
    return pn_fail(PN_ERROR_INDEX, "device world: there is no body %u, it has %zu", body, world->bodies.count);
  pnResult result = checkMesh(image, rule);
  for (int i = 0; i < PN_IMAGE_KERNEL_COUNT && result == PN_OK; ++i)
    image->kernels[i] = pn_createKernel(world->device, PN_PROGRAM_VOLUME, s_names[i], &result);
  void *memory = NULL;
  if (result == PN_OK) result = pn_createPinned(world->device, PINNED_BYTES, &image->pinned, &memory);
  image->memory = memory;
  if (result == PN_OK) result = pn_imageReserve(image, PN_IMAGE_BUFFER_BOX, 7 * sizeof(uint32_t));
  if (result == PN_OK) result = pn_imageReserve(image, PN_IMAGE_BUFFER_HEAD, sizeof image->head);
  if (result == PN_OK) result = pn_imageReserve(image, PN_IMAGE_BUFFER_RUNS, 1024 * sizeof(uint32_t));
  if (result != PN_OK) pn_bodyImageFree(image);
  return result;
}

void pn_bodyImageFree(pnBodyImage *image) {
  if (!image->world) return;
  // nothing may be read or written any more when memory goes
  if (image->pinned) (void)pn_cl.Finish(image->world->device->queue);
  for (int i = 0; i < PN_IMAGE_KERNEL_COUNT; ++i)
    if (image->kernels[i]) pn_cl.ReleaseKernel(image->kernels[i]);
  for (int i = 0; i < PN_IMAGE_BUFFER_COUNT; ++i) pn_releaseBuffer(&image->buffers[i]);
  pn_releasePinned(image->world->device, &image->pinned, image->memory);
  *image = (pnBodyImage){0};
}

/* ---------------------------------------------------------------- the box */

static float fromOrdered(uint32_t bits) {
  const uint32_t u = bits & 0x80000000u ? bits ^ 0x80000000u : ~bits;
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

pnResult pn_bodyImageBox(pnBodyImage *image) {
  const pnDeviceBody *body = bodyOf(image);
  image->boxTime = 0;
  if (!body->onDevice && image->boxFrame != 0 && image->boxFrame == body->pose->frame) return PN_OK;
  const double start = pn_clock();
  const uint32_t n = body->pose->mesh->triangleCount;
  const cl_mem weld = pn_weldBuffer(image->world), vertices = image->world->buffers[PN_BUFFER_VERTICES];
  uint32_t bits[7];
  image->boxFrame = image->frame = 0;
  pnResult result = clear(image, PN_IMAGE_BUFFER_BOX, sizeof bits);
  if (result == PN_OK)
    result = RUN(image, PN_IMAGE_KERNEL_BOX, groupsFor(image, n, 256), 256, PN_VALUE(weld), PN_VALUE(vertices),
                 PN_NUMBER(body->firstSlot), PN_NUMBER(n), PN_VALUE(image->buffers[PN_IMAGE_BUFFER_BOX]));
  if (result == PN_OK) result = pn_imageRead(image, PN_IMAGE_BUFFER_BOX, bits, sizeof bits);
  if (result == PN_OK && bits[6] != 0) result = pn_failNumber(image->world);
  if (result != PN_OK) return result;
  image->box = (pnBox){{-fromOrdered(bits[0]), -fromOrdered(bits[1]), -fromOrdered(bits[2])},
                       {fromOrdered(bits[3]), fromOrdered(bits[4]), fromOrdered(bits[5])}};
  image->boxFrame = body->pose->frame;
  image->boxTime = pn_clock() - start;
  return PN_OK;
}

/* ---------------------------------------------------------------- the image */

pnGrid pn_gridOf(const pnBodyImage *image) {
  const pnView *view = &image->view;
  // as bin.c decides: beyond the far end (the near one, counted from the high end) nobody looks
  const bool far = !image->fromHigh && !image->open, near = image->fromHigh && !image->open;
  pnGrid grid = {.steps = view->steps,
                 .size = view->size,
                 .shift = view->cellShift,
                 .top = far ? view->steps : INT32_MAX,
                 .bottom = near ? 0 : INT32_MIN};
  for (int k = 0; k < 3; ++k) grid.lo[k] = view->lo[k], grid.scale[k] = view->scale[k], grid.pick[k] = view->pick[k];
  return grid;
}

static pnResult reserve(pnBodyImage *image, uint64_t layers, uint64_t rows) {
  const size_t cells = (size_t)image->view.size * image->view.size;
  layers = PN_MIN(PN_MAX(layers, image->capacity), UINT32_MAX / 2);
  rows = PN_MIN(PN_MAX(rows, image->rowCapacity), UINT32_MAX / 2);
  const struct {
    pnImageBuffer name;
    size_t bytes;
  } sizes[] = {{PN_IMAGE_BUFFER_COUNTS, cells * 4}, {PN_IMAGE_BUFFER_OFFSETS, cells * 4},
               {PN_IMAGE_BUFFER_STARTS, cells * 4}, {PN_IMAGE_BUFFER_LIST, layers * 8},
               {PN_IMAGE_BUFFER_RANKS, layers * 4}, {PN_IMAGE_BUFFER_PLACED, layers * 8},
               {PN_IMAGE_BUFFER_KEYS, layers * 4},  {PN_IMAGE_BUFFER_ROWS, rows * 8}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    pnResult result = pn_imageReserve(image, sizes[i].name, sizes[i].bytes);
    if (result != PN_OK) return result;
  }
  image->capacity = (uint32_t)layers;
  image->rowCapacity = (uint32_t)rows;
  return PN_OK;
}

/* All layers, in any order. */
static pnResult enqueueDraw(pnBodyImage *image) {
  const pnDeviceBody *body = bodyOf(image);
  const pnGrid grid = pn_gridOf(image);
  const uint32_t n = body->pose->mesh->triangleCount;
  const cl_mem weld = pn_weldBuffer(image->world), vertices = image->world->buffers[PN_BUFFER_VERTICES];
  const cl_mem *b = image->buffers;
  const pnArgument arguments[] = {PN_VALUE(grid),
                                  PN_VALUE(weld),
                                  PN_VALUE(vertices),
                                  PN_VALUE(b[PN_IMAGE_BUFFER_HEAD]),
                                  PN_VALUE(b[PN_IMAGE_BUFFER_LIST]),
                                  PN_VALUE(b[PN_IMAGE_BUFFER_RANKS]),
                                  PN_VALUE(image->capacity),
                                  PN_VALUE(b[PN_IMAGE_BUFFER_COUNTS]),
                                  PN_VALUE(b[PN_IMAGE_BUFFER_ROWS]),
                                  PN_VALUE(image->rowCapacity),
                                  PN_VALUE(body->firstSlot),
                                  PN_VALUE(n)};
  pnResult result = pn_imageRun(image, PN_IMAGE_KERNEL_DRAW, arguments, 12, groupsFor(image, n, 256), 256, NULL);
  if (result != PN_OK) return result;
  return pn_imageRun(image, PN_IMAGE_KERNEL_ROWS, arguments, 10, groupsFor(image, SIZE_MAX / 2, 64), 64, NULL);
}

/* By cell, and in each by depth. */
static pnResult enqueueSort(pnBodyImage *image) {
  const cl_mem *b = image->buffers;
  const uint32_t cells = image->view.size * image->view.size;
  // as the frame's: 256 items of `each` cells, at most 1 024 of them
  const uint32_t each = PN_MAX(4, (cells + 256 * 1024 - 1) / (256 * 1024)),
                 runs = (cells + 256 * each - 1) / (256 * each);
  pnResult result =
      RUN(image, PN_IMAGE_KERNEL_SCAN, runs, 256, PN_VALUE(b[PN_IMAGE_BUFFER_COUNTS]),
          PN_VALUE(b[PN_IMAGE_BUFFER_OFFSETS]), PN_VALUE(b[PN_IMAGE_BUFFER_RUNS]), PN_VALUE(cells), PN_VALUE(each));
  if (result == PN_OK)
    result =
        RUN(image, PN_IMAGE_KERNEL_SCATTER, groupsFor(image, SIZE_MAX / 2, 256), 256, PN_VALUE(b[PN_IMAGE_BUFFER_HEAD]),
            PN_VALUE(b[PN_IMAGE_BUFFER_LIST]), PN_VALUE(b[PN_IMAGE_BUFFER_RANKS]), PN_VALUE(image->capacity),
            PN_VALUE(b[PN_IMAGE_BUFFER_OFFSETS]), PN_VALUE(b[PN_IMAGE_BUFFER_RUNS]), PN_VALUE(runs),
            PN_NUMBER(256 * each), PN_VALUE(b[PN_IMAGE_BUFFER_STARTS]), PN_VALUE(b[PN_IMAGE_BUFFER_PLACED]));
  if (result == PN_OK)
    result = RUN(image, PN_IMAGE_KERNEL_SORT, (cells + 63) / 64, 64, PN_VALUE(b[PN_IMAGE_BUFFER_HEAD]),
                 PN_VALUE(b[PN_IMAGE_BUFFER_PLACED]), PN_VALUE(b[PN_IMAGE_BUFFER_STARTS]),
                 PN_VALUE(b[PN_IMAGE_BUFFER_COUNTS]), PN_VALUE(cells), PN_VALUE(image->capacity),
                 PN_VALUE(b[PN_IMAGE_BUFFER_KEYS]));
  return result;
}

/* Once, with the lists as long as they are. */
static pnResult tryImage(pnBodyImage *image) {
  pnResult result = clear(image, PN_IMAGE_BUFFER_HEAD, sizeof image->head);
  if (result == PN_OK)
    result = clear(image, PN_IMAGE_BUFFER_COUNTS, (size_t)image->view.size * image->view.size * sizeof(uint32_t));
  if (result == PN_OK) result = enqueueDraw(image);
  if (result == PN_OK) result = enqueueSort(image);
  return result == PN_OK ? pn_imageRead(image, PN_IMAGE_BUFFER_HEAD, image->head, sizeof image->head) : result;
}

pnResult pn_bodyImageMake(pnBodyImage *image, const pnView *view, bool fromHigh) {
  const pnDeviceBody *body = bodyOf(image);
  image->layerTime = 0;
  image->reused = !body->onDevice && image->frame != 0 && image->frame == body->pose->frame &&
                  image->fromHigh == fromHigh && pn_viewSame(&image->view, view);
  if (image->reused) return PN_OK;
  const double start = pn_clock();
  image->frame = 0;
  image->view = *view;
  image->fromHigh = fromHigh;
  // four layers a cell are what most bodies have
  pnResult result = reserve(image, (uint64_t)view->size * view->size * 4 + 4096, 4096);
  if (result == PN_OK) result = tryImage(image);
  while (result == PN_OK && image->head[PN_IMAGE_OVERFLOW] != 0) {
    const uint64_t layers = image->head[PN_IMAGE_LAYERS], rows = image->head[PN_IMAGE_ROWS];
    if (layers > UINT32_MAX / 2 || rows > UINT32_MAX / 2)
      return pn_fail(PN_ERROR_COUNT, "mesh '%s' has more layers than a device counts; lower the resolution",
                     body->pose->mesh->name);
    result = reserve(image, layers + layers / 4 + 64, rows + rows / 4 + 64);
    if (result == PN_OK) result = tryImage(image);
  }
  if (result != PN_OK) return result;
  image->frame = body->pose->frame;
  image->layerTime = pn_clock() - start;
  return PN_OK;
}

/* ---------------------------------------------------------------- sums */

enum {
  TALLY_TWO = 1,
  TALLY_ONLY = 2,
  TALLY_PARITY = 4,
  TALLY_OPEN_A = 8,
  TALLY_OPEN_B = 16,
  TALLY_HIGH_A = 32,
  TALLY_HIGH_B = 64
};

pnResult pn_bodyImageTally(pnBodyImage *a, pnBodyImage *b, bool only, pnInsideRule rule, pnTally *outTally) {
  const cl_mem *x = a->buffers, *y = b ? b->buffers : x;
  const uint32_t flags =
      (uint32_t)((b ? TALLY_TWO : 0) | (only ? TALLY_ONLY : 0) | (rule == PN_INSIDE_PARITY ? TALLY_PARITY : 0) |
                 (a->open ? TALLY_OPEN_A : 0) | (b && b->open ? TALLY_OPEN_B : 0) | (a->fromHigh ? TALLY_HIGH_A : 0) |
                 (b && b->fromHigh ? TALLY_HIGH_B : 0));
  const size_t groups = groupsFor(a, (size_t)a->view.size * a->view.size, 64);
  pnResult result = pn_imageReserve(a, PN_IMAGE_BUFFER_PARTS, groups * 64 * sizeof(pnTally));
  if (result == PN_OK) result = pn_imageReserve(a, PN_IMAGE_BUFFER_SUM, sizeof(pnTally));
  if (result == PN_OK)
    result =
        RUN(a, PN_IMAGE_KERNEL_TALLY, groups, 64, PN_VALUE(x[PN_IMAGE_BUFFER_COUNTS]),
            PN_VALUE(x[PN_IMAGE_BUFFER_STARTS]), PN_VALUE(x[PN_IMAGE_BUFFER_KEYS]), PN_VALUE(y[PN_IMAGE_BUFFER_COUNTS]),
            PN_VALUE(y[PN_IMAGE_BUFFER_STARTS]), PN_VALUE(y[PN_IMAGE_BUFFER_KEYS]), PN_VALUE(flags),
            PN_VALUE(a->view.size), PN_VALUE(a->view.steps), PN_VALUE(x[PN_IMAGE_BUFFER_PARTS]));
  if (result == PN_OK)
    result = RUN(a, PN_IMAGE_KERNEL_SUM, 1, 64, PN_VALUE(x[PN_IMAGE_BUFFER_PARTS]), PN_NUMBER((uint32_t)groups * 64),
                 PN_VALUE(x[PN_IMAGE_BUFFER_SUM]));
  return result == PN_OK ? pn_imageRead(a, PN_IMAGE_BUFFER_SUM, outTally, sizeof *outTally) : result;
}
