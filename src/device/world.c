/* world.c: the life of a world on a device, its bodies and its buffers. */
#include "device/world.h"

#include "collide/filter.h"

#include <string.h>

static const char *const s_bufferTexts[PN_BUFFER_COUNT] = {
#define PN_BUFFER_TEXT(name, text) text,
    PN_BUFFERS(PN_BUFFER_TEXT)
#undef PN_BUFFER_TEXT
};

static const char *const s_kernelNames[PN_STAGE_COUNT] = {
#define PN_KERNEL_NAME(name, kernel) #kernel,
    PN_STAGES(PN_KERNEL_NAME)
#undef PN_KERNEL_NAME
};

/* ---------------------------------------------------------------- buffers */

pnResult pn_worldFail(pnDeviceWorld *world, cl_int error, const char *call, const char *what) {
  return pn_deviceFail(world->device, error, call, what);
}

void pn_settle(pnDeviceWorld *world) {
  if (world->reading || world->running) (void)pn_cl.Finish(world->device->queue);
  world->reading = false;
}

pnResult pn_reserveBuffer(pnDeviceWorld *world, pnBufferName name, size_t bytes) {
  // OpenCL has no empty buffers
  bytes = PN_MAX(bytes, 64);
  if (world->bufferBytes[name] >= bytes) return PN_OK;
  pnResult result = PN_OK;
  cl_mem buffer = pn_createBuffer(world->device, bytes, s_bufferTexts[name], &result);
  if (!buffer) return result;
  pn_releaseBuffer(&world->buffers[name]);
  world->buffers[name] = buffer;
  world->byteCount += bytes - world->bufferBytes[name];
  world->bufferBytes[name] = bytes;
  world->argumentsStale = true;
  return PN_OK;
}

pnResult pn_fillBuffer(pnDeviceWorld *world, pnBufferName name, const void *data, size_t bytes) {
  pnResult result = pn_reserveBuffer(world, name, bytes);
  if (result != PN_OK || bytes == 0) return result;
  cl_int error = pn_cl.EnqueueWriteBuffer(world->device->queue, world->buffers[name], 1, 0, bytes, data, 0, NULL, NULL);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "EnqueueWriteBuffer", s_bufferTexts[name]);
}

pnResult pn_reserveList(pnDeviceWorld *world, pnListName list, uint32_t count) {
  static const pnBufferName buffers[PN_LIST_COUNT] = {PN_BUFFER_LIST_CLUSTERS, PN_BUFFER_LIST_CANDIDATES,
                                                      PN_BUFFER_LIST_UNSURE, PN_BUFFER_LIST_PAIRS, PN_BUFFER_LIST_RAW};
  const size_t bytes = (size_t)count * sizeof(pnPair);
  pnResult result = pn_reserveBuffer(world, buffers[list], bytes);
  if (list == PN_LIST_PAIRS) {
    if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_RANKS, bytes / 2);
    if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_PLACED, bytes);
    if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_SORTED, bytes);
  }
  if (result != PN_OK) return result;
  world->capacity[list] = count;
  world->argumentsStale = true;
  return PN_OK;
}

pnResult pn_runKernel(pnDeviceWorld *world, cl_kernel kernel, const char *name, const pnArgument *arguments, int count,
                      const size_t global[2], const size_t local[2], cl_event *outEvent) {
  cl_int error = CL_SUCCESS;
  for (int i = 0; i < count && error == CL_SUCCESS; ++i)
    error = pn_cl.SetKernelArg(kernel, (cl_uint)i, arguments[i].size, arguments[i].value);
  if (error != CL_SUCCESS) return pn_worldFail(world, error, "SetKernelArg", name);
  error = pn_cl.EnqueueNDRangeKernel(world->device->queue, kernel, global[1] > 1 ? 2 : 1, NULL, global, local, 0, NULL,
                                     outEvent);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "EnqueueNDRangeKernel", name);
}

/* ---------------------------------------------------------------- life */

pnResult pnCreateDeviceWorld(pnDevice *device, pnDeviceWorld **outWorld) {
  PN_ASSERT(device && outWorld);
  *outWorld = NULL;
  pnDeviceWorld *world = pn_allocZero(sizeof *world);
  if (!world) return pn_failMemory(sizeof *world);
  world->device = device;
  pnResult result = PN_OK;
  for (int i = 0; i < PN_STAGE_COUNT && result == PN_OK; ++i) {
    pnProgram program = i == PN_STAGE_EVALUATE ? PN_PROGRAM_MOTION
                        : i == PN_STAGE_EXACT  ? PN_PROGRAM_EXACT
                                               : PN_PROGRAM_FRAME;
    world->kernels[i] = pn_createKernel(device, program, s_kernelNames[i], &result);
  }
  if (result == PN_OK) *outWorld = world;
  else pnDestroyDeviceWorld(world);
  return result;
}

void pnDestroyDeviceWorld(pnDeviceWorld *world) {
  if (!world) return;
  // nothing may be read or written any more when memory goes
  pn_settle(world);
  if (world->event) pn_cl.ReleaseEvent(world->event);
  for (int i = 0; i < PN_STAGE_COUNT; ++i) {
    if (world->stageEvents[i]) pn_cl.ReleaseEvent(world->stageEvents[i]);
    if (world->kernels[i]) pn_cl.ReleaseKernel(world->kernels[i]);
  }
  for (int i = 0; i < PN_BUFFER_COUNT; ++i) pn_releaseBuffer(&world->buffers[i]);
  pn_releasePinned(world->device, &world->pinned, world->pinnedMemory);
  pn_freeInputs(world);
  pn_freeStep(world);
  pn_arrayFree(&world->motions);
  for (size_t b = 0; b < world->bodies.count; ++b) {
    pnDeviceBody *body = &world->bodies.data[b];
    pn_free((void *)(uintptr_t)body->filter.triangleGroup, body->pose->mesh->triangleCount * sizeof(uint32_t));
  }
  pn_arrayFree(&world->bodies);
  pn_arrayFree(&world->pairs);
  pn_arrayFree(&world->contacts);
  pn_arrayFree(&world->before);
  pn_arrayFree(&world->scratch);
  pn_free(world, sizeof *world);
}

/* ---------------------------------------------------------------- bodies */

pnDeviceBodyDef pnDefaultDeviceBodyDef(void) {
  return (pnDeviceBodyDef){.category = 1, .mask = UINT32_MAX, .cookie = PN_COOKIE};
}

pnResult pnDeviceWorld_AddBody(pnDeviceWorld *world, const pnDeviceBodyDef *def, uint32_t *outBody) {
  PN_ASSERT(world && def && outBody);
  pnResult result = pn_checkCookie(def->cookie, "pnDeviceBodyDef");
  if (result != PN_OK) return result;
  if (!def->pose)
    return pn_fail(PN_ERROR_ARGUMENT, "device world: the definition of body %zu has no pose", world->bodies.count);
  const pnMesh *mesh = def->pose->mesh;
  // a soup's mesh has one array for both
  if (mesh->triangles && mesh->triangles == mesh->ringOffsets)
    return pn_fail(PN_ERROR_KIND,
                   "device world: body %zu is a soup: its triangles come and go, and a device orders them once; use "
                   "pnWorld",
                   world->bodies.count);
  result = pn_checkFilter(&def->selfFilter);
  if (result != PN_OK) return result;
  if (world->bodies.count >= PN_MAX_DEVICE_BODIES)
    return pn_fail(PN_ERROR_COUNT, "device world: it has %u bodies, the most it can", PN_MAX_DEVICE_BODIES);
  // triangles and vertices of all bodies, with room for the slots that stay empty, have 32-bit numbers
  const uint64_t most = UINT32_MAX / 4;
  if ((uint64_t)world->triangleCount + mesh->triangleCount + (world->bodies.count + 1) * PN_SUPER > most ||
      (uint64_t)world->vertexCount + mesh->vertexCount > most)
    return pn_fail(PN_ERROR_COUNT, "device world: with mesh '%s' it would have more than %llu triangles", mesh->name,
                   (unsigned long long)most);
  pnDeviceBody body = {.pose = def->pose,
                       .self = def->self,
                       .onDevice = def->onDevice,
                       .filter = def->selfFilter,
                       .category = def->category,
                       .mask = def->mask,
                       .firstTriangle = world->triangleCount,
                       .firstVertex = world->vertexCount};
  if (body.filter.triangleGroup && mesh->triangleCount > 0) {
    const size_t bytes = mesh->triangleCount * sizeof(uint32_t);
    uint32_t *groups = pn_alloc(bytes);
    if (!groups) return pn_failMemory(bytes);
    memcpy(groups, body.filter.triangleGroup, bytes);
    body.filter.triangleGroup = groups;
  } else {
    body.filter.triangleGroup = NULL;
  }
  if (!pn_arrayPush(&world->bodies, body)) {
    pn_free((void *)(uintptr_t)body.filter.triangleGroup, mesh->triangleCount * sizeof(uint32_t));
    return pn_failMemory(sizeof body);
  }
  *outBody = (uint32_t)world->bodies.count - 1;
  world->triangleCount += mesh->triangleCount;
  world->vertexCount += mesh->vertexCount;
  world->laidOut = false;
  world->finished = world->stepBegun = false;
  return PN_OK;
}

uint32_t pnDeviceWorld_GetBodyCount(const pnDeviceWorld *world) {
  return (uint32_t)world->bodies.count;
}

uint32_t pnDeviceWorld_GetFirstTriangle(const pnDeviceWorld *world, uint32_t body) {
  PN_ASSERT(body < world->bodies.count);
  return body < world->bodies.count ? world->bodies.data[body].firstTriangle : PN_NONE;
}

static pnResult checkBody(const pnDeviceWorld *world, uint32_t body) {
  if (body < world->bodies.count) return PN_OK;
  return pn_fail(PN_ERROR_INDEX, "device world: there is no body %u, it has %zu", body, world->bodies.count);
}

pnResult pnDeviceWorld_GetVertexBuffer(pnDeviceWorld *world, uint32_t body, void **outBuffer, size_t *outOffset) {
  PN_ASSERT(world && outBuffer && outOffset);
  pnResult result = checkBody(world, body);
  if (result == PN_OK) result = pn_layOut(world);
  if (result != PN_OK) return result;
  *outBuffer = world->buffers[PN_BUFFER_VERTICES];
  *outOffset = world->bodies.data[body].firstVertex * 3 * sizeof(float);
  return PN_OK;
}

pnResult pnDeviceWorld_CopyVertices(pnDeviceWorld *world, uint32_t body, void *buffer, size_t offset) {
  void *into;
  size_t at;
  pnResult result = pnDeviceWorld_GetVertexBuffer(world, body, &into, &at);
  if (result != PN_OK) return result;
  const pnDeviceBody *b = &world->bodies.data[body];
  if (!b->onDevice)
    return pn_fail(PN_ERROR_KIND, "device world: body %u is moved by its pose, its vertices cannot be copied", body);
  const size_t bytes = b->pose->mesh->vertexCount * 3 * sizeof(float);
  if (bytes == 0) return PN_OK;
  cl_int error = pn_cl.EnqueueCopyBuffer(world->device->queue, buffer, into, offset, at, bytes, 0, NULL, NULL);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "EnqueueCopyBuffer", "vertices");
}

/* Takes the buffer from OpenGL, copies, and gives it back. */
static pnResult copyShared(pnDeviceWorld *world, uint32_t body, cl_mem shared, size_t offset) {
  cl_command_queue queue = world->device->queue;
  cl_int error = pn_clGl.EnqueueAcquireGLObjects(queue, 1, &shared, 0, NULL, NULL);
  if (error != CL_SUCCESS) return pn_worldFail(world, error, "EnqueueAcquireGLObjects", "vertices");
  pnResult result = pnDeviceWorld_CopyVertices(world, body, shared, offset);
  error = pn_clGl.EnqueueReleaseGLObjects(queue, 1, &shared, 0, NULL, NULL);
  return result != PN_OK || error == CL_SUCCESS ? result
                                                : pn_worldFail(world, error, "EnqueueReleaseGLObjects", "vertices");
}

pnResult pnDeviceWorld_CopyGlVertices(pnDeviceWorld *world, uint32_t body, uint32_t buffer, size_t offset) {
  PN_ASSERT(world);
  pnResult result = checkBody(world, body);
  if (result != PN_OK) return result;
  if (!pn_clGl.CreateFromGLBuffer)
    return pn_fail(PN_ERROR_UNSUPPORTED, "device '%s' does not share buffers with OpenGL (cl_khr_gl_sharing)",
                   world->device->info.name);
  cl_int error = CL_SUCCESS;
  cl_mem shared = pn_clGl.CreateFromGLBuffer(world->device->context, CL_MEM_READ_ONLY, buffer, &error);
  if (error == CL_INVALID_GL_OBJECT)
    return pn_fail(PN_ERROR_ARGUMENT, "device world: %u is no buffer of OpenGL, or it has no data", buffer);
  if (!shared) return pn_clFail(error, "CreateFromGLBuffer", "vertices");
  result = copyShared(world, body, shared, offset);
  pn_releaseBuffer(&shared);
  return result;
}

size_t pnDeviceWorld_GetByteCount(const pnDeviceWorld *world) {
  return world->byteCount;
}

const char *pnDeviceWorld_GetStage(const pnDeviceWorld *world, uint32_t i, double *outSeconds) {
  if (i >= PN_STAGE_COUNT || !world->device->profile) return NULL;
  if (outSeconds) *outSeconds = world->stageSeconds[i];
  return s_kernelNames[i];
}
