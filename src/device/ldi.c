/* ldi.c: the image of one body on the device, as an object: create, update, look, ask. */
#include "device/image.h"

#include "base/fenv.h"
#include "base/memory.h"
#include "base/thread.h"
#include "volume/ldi.h"

#include <math.h>
#include <string.h>

struct pnDeviceLdi {
  pnDeviceLdiDef def;
  pnBodyImage image;
  bool made, empty;
};

pnDeviceLdiDef pnDefaultDeviceLdiDef(void) {
  pnDeviceLdiDef def = {.resolution = 128, .rule = PN_INSIDE_WINDING, .cookie = PN_COOKIE};
  def.window = (pnBox){{1.0f, 1.0f, 1.0f}, {-1.0f, -1.0f, -1.0f}};
  return def;
}

pnResult pnCreateDeviceLdi(const pnDeviceLdiDef *def, pnDeviceLdi **outLdi) {
  PN_ASSERT(def && def->world && outLdi);
  *outLdi = NULL;
  pnResult result = pn_checkCookie(def->cookie, "pnDeviceLdiDef");
  if (result == PN_OK) result = pn_checkVolumeSettings(def->resolution, def->rule, &def->window);
  if (result != PN_OK) return result;
  pnDeviceLdi *ldi = pn_allocZero(sizeof *ldi);
  if (!ldi) return pn_failMemory(sizeof *ldi);
  ldi->def = *def;
  result = pn_bodyImageInit(&ldi->image, def->world, def->body, def->rule);
  if (result != PN_OK) {
    pn_free(ldi, sizeof *ldi);
    return result;
  }
  *outLdi = ldi;
  return PN_OK;
}

void pnDestroyDeviceLdi(pnDeviceLdi *ldi) {
  if (!ldi) return;
  pn_bodyImageFree(&ldi->image);
  pn_free(ldi, sizeof *ldi);
}

pnResult pnDeviceLdi_Update(pnDeviceLdi *ldi) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(ldi);
  pnBodyImage *image = &ldi->image;
  ldi->made = false;
  pnResult result = pn_bringVertices(ldi->def.world);
  ldi->empty = pn_bodyImageEmpty(image);
  if (result == PN_OK && !ldi->empty) result = pn_bodyImageBox(image);
  if (result == PN_OK && !ldi->empty) {
    const pnView view = pn_ldiView(&image->box, &ldi->def.window, ldi->def.resolution);
    result = pn_bodyImageMake(image, &view, false);
  }
  pn_settle(ldi->def.world);
  ldi->made = result == PN_OK;
  return result;
}

pnLdiInfo pnDeviceLdi_GetInfo(const pnDeviceLdi *ldi) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(ldi);
  const pnBodyImage *image = &ldi->image;
  pnLdiInfo info = {.backend = PN_BACKEND_OPENCL,
                    .reused = image->reused,
                    .prepareTime = image->boxTime,
                    .layerTime = image->layerTime,
                    .byteCount = image->byteCount,
                    .window = {{1.0f, 1.0f, 1.0f}, {-1.0f, -1.0f, -1.0f}}};
  if (!ldi->made || ldi->empty) return info;
  pn_viewInfo(&image->view, &info);
  info.layerCount = image->head[PN_IMAGE_LAYERS];
  info.maxLayers = image->head[PN_IMAGE_MOST];
  info.oddPixelCount = image->head[PN_IMAGE_ODD];
  return info;
}

static pnResult checkMade(const pnDeviceLdi *ldi) {
  if (ldi->made) return PN_OK;
  return pn_fail(PN_ERROR_ARGUMENT, "the image of body %u has not been made: call pnDeviceLdi_Update first",
                 ldi->def.body);
}

/* Waits for a part of a buffer. */
static pnResult readPart(const pnDeviceLdi *ldi, pnImageBuffer name, size_t first, size_t bytes, void *out) {
  const pnBodyImage *image = &ldi->image;
  cl_int error =
      pn_cl.EnqueueReadBuffer(image->world->device->queue, image->buffers[name], 1, first, bytes, out, 0, NULL, NULL);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(image->world, error, "EnqueueReadBuffer", "an image");
}

pnResult pnDeviceLdi_GetLayers(const pnDeviceLdi *ldi, uint32_t x, uint32_t y, pnLayer *outLayers, uint32_t capacity,
                               uint32_t *outCount) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(ldi && outCount && (outLayers || capacity == 0));
  const pnView *view = &ldi->image.view;
  uint32_t start = 0;
  *outCount = 0;
  pnResult result = checkMade(ldi);
  if (result != PN_OK || ldi->empty || x >= view->size || y >= view->size) return result;
  const size_t cell = (size_t)y * view->size + x;
  result = readPart(ldi, PN_IMAGE_BUFFER_COUNTS, 4 * cell, 4, outCount);
  if (ldi->image.open) *outCount &= ~1u;
  const uint32_t n = PN_MIN(*outCount, capacity);
  if (result != PN_OK || n == 0) return result;
  uint32_t *keys = pn_alloc(n * sizeof *keys);
  if (!keys) return pn_failMemory(n * sizeof *keys);
  result = readPart(ldi, PN_IMAGE_BUFFER_STARTS, 4 * cell, 4, &start);
  if (result == PN_OK) result = readPart(ldi, PN_IMAGE_BUFFER_KEYS, 4 * (size_t)start, n * sizeof *keys, keys);
  for (uint32_t i = 0; i < n && result == PN_OK; ++i)
    outLayers[i] = (pnLayer){view->lo[2] + view->unit[2] * (double)(keys[i] >> 1), !(keys[i] & 1)};
  pn_free(keys, n * sizeof *keys);
  return result;
}

pnDeviceImage pnDeviceLdi_GetImage(const pnDeviceLdi *ldi) {
  PN_ASSERT(ldi);
  if (!ldi->made || ldi->empty) return (pnDeviceImage){0};
  const cl_mem *b = ldi->image.buffers;
  return (pnDeviceImage){b[PN_IMAGE_BUFFER_COUNTS], b[PN_IMAGE_BUFFER_STARTS], b[PN_IMAGE_BUFFER_KEYS],
                         ldi->image.view.size};
}

/* ---------------------------------------------------------------- points */

/* How many are inside, and the first that is no number: as kernel/inside.cl has it. */
typedef struct Answer {
  uint32_t inside, bad;
} Answer;

/* The kernel, and before it the answer's beginning. */
static pnResult enqueuePoints(pnDeviceLdi *ldi, cl_mem points, uint32_t first, uint32_t count, cl_mem inside,
                              cl_event *outEvent) {
  pnBodyImage *image = &ldi->image;
  const Answer none = {0, PN_NONE};
  const pnGrid grid = pn_gridOf(image);
  const uint32_t open = image->open, parity = ldi->def.rule == PN_INSIDE_PARITY;
  const cl_mem *b = image->buffers;
  pnResult result = pn_imageReserve(image, PN_IMAGE_BUFFER_ANSWER, sizeof(Answer));
  if (result != PN_OK) return result;
  cl_int error = pn_cl.EnqueueFillBuffer(image->world->device->queue, b[PN_IMAGE_BUFFER_ANSWER], &none, sizeof none, 0,
                                         sizeof none, 0, NULL, NULL);
  if (error != CL_SUCCESS) return pn_worldFail(image->world, error, "EnqueueFillBuffer", "points");
  const pnArgument arguments[] = {PN_VALUE(grid),
                                  PN_VALUE(b[PN_IMAGE_BUFFER_COUNTS]),
                                  PN_VALUE(b[PN_IMAGE_BUFFER_STARTS]),
                                  PN_VALUE(b[PN_IMAGE_BUFFER_KEYS]),
                                  PN_VALUE(open),
                                  PN_VALUE(parity),
                                  PN_VALUE(points),
                                  PN_VALUE(first),
                                  PN_VALUE(count),
                                  PN_VALUE(inside),
                                  PN_VALUE(b[PN_IMAGE_BUFFER_ANSWER])};
  return pn_imageRun(image, PN_IMAGE_KERNEL_POINTS, arguments, 11, ((size_t)count + 63) / 64, 64, outEvent);
}

pnResult pnDeviceLdi_TestBuffer(pnDeviceLdi *ldi, void *points, size_t offset, uint32_t count, void *inside,
                                void **outEvent) {
  PN_ASSERT(ldi && (count == 0 || (points && inside)));
  if (outEvent) *outEvent = NULL;
  pnResult result = checkMade(ldi);
  if (result != PN_OK) return result;
  if (offset % sizeof(float) != 0 || offset / sizeof(float) + 3 * (uint64_t)count > UINT32_MAX)
    return pn_fail(PN_ERROR_ARGUMENT, "points at byte %zu: it must be a multiple of 4, and all within 2^32 numbers",
                   offset);
  if (ldi->empty || count == 0)
    return pn_fail(PN_ERROR_ARGUMENT, "there are no points, or body %u has no triangles", ldi->def.body);
  cl_event event = NULL;
  result = enqueuePoints(ldi, points, (uint32_t)(offset / sizeof(float)), count, inside, outEvent ? &event : NULL);
  if (outEvent) *outEvent = event;
  return result;
}

/* Points there, answers back. */
static pnResult carryPoints(pnDeviceLdi *ldi, const float *points, uint32_t count, uint8_t *outInside, Answer *out) {
  pnBodyImage *image = &ldi->image;
  const size_t bytes = 3 * (size_t)count * sizeof(float);
  if (3 * (uint64_t)count > UINT32_MAX) return pn_fail(PN_ERROR_COUNT, "%u points are more than a device takes", count);
  pnResult result = pn_imageReserve(image, PN_IMAGE_BUFFER_POINTS, bytes);
  if (result == PN_OK) result = pn_imageReserve(image, PN_IMAGE_BUFFER_INSIDE, count);
  if (result != PN_OK) return result;
  const cl_mem *b = image->buffers;
  // waits until the points are there: they are the caller's, who may free them when a later call fails
  cl_int error = pn_cl.EnqueueWriteBuffer(image->world->device->queue, b[PN_IMAGE_BUFFER_POINTS], 1, 0, bytes, points,
                                          0, NULL, NULL);
  if (error != CL_SUCCESS) return pn_worldFail(image->world, error, "EnqueueWriteBuffer", "points");
  result = enqueuePoints(ldi, b[PN_IMAGE_BUFFER_POINTS], 0, count, b[PN_IMAGE_BUFFER_INSIDE], NULL);
  if (result == PN_OK) result = readPart(ldi, PN_IMAGE_BUFFER_INSIDE, 0, count, outInside);
  return result == PN_OK ? pn_imageRead(image, PN_IMAGE_BUFFER_ANSWER, out, sizeof *out) : result;
}

pnResult pnDeviceLdi_TestPoints(pnDeviceLdi *ldi, const float *points, uint32_t count, uint8_t *outInside,
                                pnInsideResult *outResult) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(ldi && outResult && (count == 0 || (points && outInside)));
  const double start = pn_clock();
  *outResult = (pnInsideResult){0};
  pnResult result = checkMade(ldi);
  if (result != PN_OK) return result;
  Answer answer = {0, PN_NONE};
  if (ldi->empty) {
    size_t bad;
    if (count > 0) memset(outInside, 0, count);
    if (!pn_allFinite(points, 3 * (size_t)count, &bad)) answer.bad = (uint32_t)(bad / 3);
  } else if (count > 0) {
    result = carryPoints(ldi, points, count, outInside, &answer);
    if (result != PN_OK) return result;
    outResult->error = ldi->image.open ? INFINITY : pn_insideError(&ldi->image.view);
  }
  outResult->insideCount = answer.inside;
  if (answer.bad != PN_NONE) {
    const float *p = points + 3 * (size_t)answer.bad;
    return pn_fail(PN_ERROR_NUMBER, "point %u is not finite: %g %g %g", answer.bad, (double)p[0], (double)p[1],
                   (double)p[2]);
  }
  outResult->time = pn_clock() - start;
  return PN_OK;
}

pnResult pnDeviceLdi_Measure(pnDeviceLdi *ldi, pnVolumeResult *outResult) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(ldi && outResult);
  const double start = pn_clock();
  *outResult = (pnVolumeResult){.box = {{1.0f, 1.0f, 1.0f}, {-1.0f, -1.0f, -1.0f}}};
  pnResult result = checkMade(ldi);
  if (result != PN_OK || ldi->empty) return result;
  pnTally tally;
  result = pn_bodyImageTally(&ldi->image, NULL, false, ldi->def.rule, &tally);
  if (result != PN_OK) return result;
  *outResult = pn_tallyVolume(&tally, &ldi->image.view, false);
  outResult->time = pn_clock() - start;
  return PN_OK;
}
