/* device.c: which devices there are, opening one, and what OpenCL says when it fails. */
#include "device/device.h"

#include "base/memory.h"
#include "device/system.h"

#include <string.h>

/* ---------------------------------------------------------------- failures */

static const char *nameOf(cl_int error) {
  switch (error) {
    case CL_DEVICE_NOT_FOUND: return "no device";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE: return "out of device memory";
    case CL_OUT_OF_RESOURCES: return "out of resources, or the device was lost";
    case CL_OUT_OF_HOST_MEMORY: return "out of memory";
    case CL_BUILD_PROGRAM_FAILURE: return "the program does not compile";
    case CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR: return "the OpenGL context is not current here, or of another device";
    case CL_INVALID_BUFFER_SIZE: return "the buffer is larger than the device allows";
    default: return "see the specification of OpenCL";
  }
}

pnResult pn_clFail(cl_int error, const char *call, const char *what) {
  bool memory =
      error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE;
  return pn_fail(memory ? PN_ERROR_MEMORY : PN_ERROR_DEVICE, "OpenCL: cl%s for %s failed with %d (%s)", call, what,
                 error, nameOf(error));
}

/* ---------------------------------------------------------------- the list */

/* More than this many devices are not looked at. */
#define MOST_DEVICES 64u

typedef struct Found {
  cl_device_id id;
  pnDeviceInfo info;
} Found;

static void textOf(cl_device_id id, cl_uint what, char *out, size_t size) {
  char text[1024] = "";
  size_t length = 0;
  if (pn_cl.GetDeviceInfo(id, what, sizeof text - 1, text, &length) != CL_SUCCESS) text[0] = '\0';
  // some drivers fill up with spaces
  char *begin = text;
  while (*begin == ' ') ++begin;
  length = strlen(begin);
  while (length > 0 && begin[length - 1] == ' ') --length;
  length = PN_MIN(length, size - 1);
  memcpy(out, begin, length);
  out[length] = '\0';
}

static cl_ulong numberOf(cl_device_id id, cl_uint what, size_t size) {
  cl_ulong value = 0;
  return pn_cl.GetDeviceInfo(id, what, size, &value, NULL) == CL_SUCCESS ? value : 0;
}

/* Why a device cannot be used, into out; empty: it can. */
static void findFault(cl_device_id id, char *out, size_t size) {
  const cl_bitfield wanted = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST;
  char version[128];
  textOf(id, CL_DEVICE_VERSION, version, sizeof version);
  const char *why = "";
  if (!numberOf(id, CL_DEVICE_AVAILABLE, sizeof(cl_bool))) why = "it is not available";
  else if (!numberOf(id, CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool))) why = "its driver has no compiler";
  else if (strncmp(version, "OpenCL 1.0", 10) == 0 || strncmp(version, "OpenCL 1.1", 10) == 0)
    why = "it has no OpenCL 1.2";
  else if ((numberOf(id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_bitfield)) & wanted) != wanted)
    why = "it has no doubles as the standard wants them";
  else if ((numberOf(id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_bitfield)) & wanted) != wanted)
    why = "its floats flush small numbers or do not round to nearest";
  else if (!numberOf(id, CL_DEVICE_ENDIAN_LITTLE, sizeof(cl_bool))) why = "its bytes are in the other order";
  else if (numberOf(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t)) < 256) why = "its work-groups are below 256";
  else if (numberOf(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong)) < 32768)
    why = "it has less than 32 KB local memory";
  size_t length = PN_MIN(strlen(why), size - 1);
  memcpy(out, why, length);
  out[length] = '\0';
}

static void describe(cl_device_id id, pnDeviceInfo *out) {
  memset(out, 0, sizeof *out);
  textOf(id, CL_DEVICE_NAME, out->name, sizeof out->name);
  textOf(id, CL_DEVICE_DRIVER_VERSION, out->driver, sizeof out->driver);
  cl_platform_id platform = NULL;
  if (pn_cl.GetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL) != CL_SUCCESS ||
      pn_cl.GetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof out->platform - 1, out->platform, NULL) != CL_SUCCESS)
    out->platform[0] = '\0';
  const cl_bitfield type = numberOf(id, CL_DEVICE_TYPE, sizeof(cl_bitfield));
  out->kind = type & CL_DEVICE_TYPE_GPU ? PN_DEVICE_GPU : type & CL_DEVICE_TYPE_CPU ? PN_DEVICE_CPU : PN_DEVICE_OTHER;
  out->computeUnits = (uint32_t)numberOf(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
  out->memory = numberOf(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
  findFault(id, out->why, sizeof out->why);
}

/* All devices, GPUs first. */
static pnResult findDevices(Found *out, uint32_t *outCount) {
  *outCount = 0;
  pnResult result = pn_clLoad();
  if (result != PN_OK) return result;
  cl_platform_id platforms[16];
  cl_uint platformCount = 0;
  cl_int error = pn_cl.GetPlatformIDs(16, platforms, &platformCount);
  if (error == CL_PLATFORM_NOT_FOUND_KHR) return PN_OK;
  if (error != CL_SUCCESS) return pn_clFail(error, "GetPlatformIDs", "the list of devices");
  Found found[MOST_DEVICES];
  uint32_t count = 0;
  for (cl_uint p = 0; p < PN_MIN(platformCount, 16u); ++p) {
    cl_device_id ids[MOST_DEVICES];
    cl_uint here = 0;
    if (pn_cl.GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, ids, &here) != CL_SUCCESS) continue;
    for (cl_uint i = 0; i < PN_MIN(here, MOST_DEVICES) && count < MOST_DEVICES; ++i) {
      found[count].id = ids[i];
      describe(ids[i], &found[count++].info);
    }
  }
  for (int kind = PN_DEVICE_GPU; kind <= PN_DEVICE_OTHER; ++kind)
    for (uint32_t i = 0; i < count; ++i)
      if (found[i].info.kind == (pnDeviceKind)kind) out[(*outCount)++] = found[i];
  return PN_OK;
}

pnResult pnListDevices(pnDeviceInfo *outInfos, uint32_t capacity, uint32_t *outCount) {
  PN_ASSERT(outCount && (outInfos || capacity == 0));
  Found found[MOST_DEVICES];
  pnResult result = findDevices(found, outCount);
  for (uint32_t i = 0; i < PN_MIN(*outCount, capacity); ++i) outInfos[i] = found[i].info;
  return result;
}

/* ---------------------------------------------------------------- opening */

pnDeviceDef pnDefaultDeviceDef(void) {
  return (pnDeviceDef){.index = PN_NONE, .cookie = PN_COOKIE};
}

/* The device asked for, or the first that can be used. */
static pnResult chooseDevice(pnDevice *device, uint32_t index) {
  Found found[MOST_DEVICES];
  uint32_t count;
  pnResult result = findDevices(found, &count);
  if (result != PN_OK) return result;
  if (count == 0)
    return pn_fail(PN_ERROR_UNSUPPORTED,
                   "OpenCL has no device here: install the driver of your GPU, or, on Debian, pocl-opencl-icd to use "
                   "the processor");
  if (index != PN_NONE && index >= count)
    return pn_fail(PN_ERROR_ARGUMENT, "there is no device %u: OpenCL lists %u, from 0 on", index, count);
  uint32_t chosen = index == PN_NONE ? 0 : index;
  while (index == PN_NONE && chosen + 1 < count && found[chosen].info.why[0]) ++chosen;
  device->id = found[chosen].id;
  device->info = found[chosen].info;
  return PN_OK;
}

/* Can the device share buffers with OpenGL? */
static pnResult checkSharing(cl_device_id id, const char *name) {
  char extensions[8192] = "";
  (void)pn_cl.GetDeviceInfo(id, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
  if (pn_clGl.CreateFromGLBuffer && strstr(extensions, "cl_khr_gl_sharing")) return PN_OK;
  return pn_fail(PN_ERROR_UNSUPPORTED, "device '%s' does not share buffers with OpenGL (cl_khr_gl_sharing)", name);
}

/* The context and queue: the caller's, or new ones. */
static pnResult openQueue(pnDevice *device, const pnDeviceDef *def) {
  cl_int error = CL_SUCCESS;
  device->profile = def->profile && !def->queue;
  if (def->queue) {
    cl_command_queue queue = def->queue;
    cl_context context = NULL;
    error = pn_cl.GetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &context, NULL);
    if (error == CL_SUCCESS) error = pn_cl.RetainContext(context);
    if (error != CL_SUCCESS) return pn_clFail(error, "GetCommandQueueInfo", "the caller's queue");
    device->context = context;
    error = pn_cl.RetainCommandQueue(queue);
    if (error == CL_SUCCESS) device->queue = queue;
    return error == CL_SUCCESS ? PN_OK : pn_clFail(error, "RetainCommandQueue", "the caller's queue");
  }
  cl_platform_id platform = NULL;
  if (def->glContext) {
    pnResult result = checkSharing(device->id, device->info.name);
    if (result != PN_OK) return result;
    (void)pn_cl.GetDeviceInfo(device->id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
  }
  const intptr_t properties[] = {CL_CONTEXT_PLATFORM,
                                 (intptr_t)platform,
                                 CL_GL_CONTEXT_KHR,
                                 (intptr_t)def->glContext,
                                 def->glx ? CL_GLX_DISPLAY_KHR : CL_EGL_DISPLAY_KHR,
                                 (intptr_t)def->glDisplay,
                                 0};
  device->context = pn_cl.CreateContext(def->glContext ? properties : NULL, 1, &device->id, NULL, NULL, &error);
  if (!device->context) return pn_clFail(error, "CreateContext", device->info.name);
  device->queue =
      pn_cl.CreateCommandQueue(device->context, device->id, device->profile ? CL_QUEUE_PROFILING_ENABLE : 0, &error);
  return device->queue ? PN_OK : pn_clFail(error, "CreateCommandQueue", device->info.name);
}

/* The device behind the caller's queue. */
static pnResult deviceOfQueue(pnDevice *device, void *queue) {
  pnResult result = pn_clLoad();
  if (result != PN_OK) return result;
  cl_int error = pn_cl.GetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(cl_device_id), &device->id, NULL);
  if (error != CL_SUCCESS) return pn_clFail(error, "GetCommandQueueInfo", "the caller's queue");
  describe(device->id, &device->info);
  return PN_OK;
}

pnResult pnCreateDevice(const pnDeviceDef *def, pnDevice **outDevice) {
  PN_ASSERT(outDevice);
  *outDevice = NULL;
  pnDeviceDef usual = pnDefaultDeviceDef();
  def = def ? def : &usual;
  pnResult result = pn_checkCookie(def->cookie, "pnDeviceDef");
  if (result != PN_OK) return result;
  pnDevice *device = pn_allocZero(sizeof *device);
  if (!device) return pn_failMemory(sizeof *device);
  result = def->queue ? deviceOfQueue(device, def->queue) : chooseDevice(device, def->index);
  if (result == PN_OK && device->info.why[0])
    result = pn_fail(PN_ERROR_UNSUPPORTED, "device '%s' cannot be used: %s", device->info.name, device->info.why);
  if (result == PN_OK) {
    device->mostBytes = (size_t)numberOf(device->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
    device->roundsQuotients = (numberOf(device->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_bitfield)) &
                               CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    result = openQueue(device, def);
  }
  if (result == PN_OK) result = pn_buildPrograms(device, def->cacheFolder);
  if (result == PN_OK) result = pn_testDevice(device);
  if (result == PN_OK) *outDevice = device;
  else pnDestroyDevice(device);
  return result;
}

void pnDestroyDevice(pnDevice *device) {
  if (!device) return;
  while (device->pinned.count > 0) pnDevice_Free(device, device->pinned.data[0].memory);
  pn_arrayFree(&device->pinned);
  for (int i = 0; i < PN_PROGRAM_COUNT; ++i)
    if (device->programs[i]) pn_cl.ReleaseProgram(device->programs[i]);
  if (device->queue) pn_cl.ReleaseCommandQueue(device->queue);
  if (device->context) pn_cl.ReleaseContext(device->context);
  pn_free(device, sizeof *device);
}

/* ---------------------------------------------------------------- getters, and what the room shares */

pnDeviceInfo pnDevice_GetInfo(const pnDevice *device) {
  return device->info;
}

void *pnDevice_GetContext(const pnDevice *device) {
  return device->context;
}

void *pnDevice_GetQueue(const pnDevice *device) {
  return device->queue;
}

double pnDevice_GetBuildSeconds(const pnDevice *device, uint32_t *outFromCache) {
  if (outFromCache) *outFromCache = device->fromCache;
  return device->buildSeconds;
}

pnResult pn_deviceFail(pnDevice *device, cl_int error, const char *call, const char *what) {
  pnResult result = pn_clFail(error, call, what);
  if (result != PN_ERROR_MEMORY) device->lost = true;
  return result;
}

cl_mem pn_createBuffer(pnDevice *device, size_t bytes, const char *what, pnResult *outResult) {
  cl_int error = CL_SUCCESS;
  if (bytes == 0 || bytes > device->mostBytes) {
    *outResult = pn_fail(PN_ERROR_MEMORY, "device '%s': %zu bytes for %s, one buffer has at most %zu",
                         device->info.name, bytes, what, device->mostBytes);
    return NULL;
  }
  cl_mem buffer = pn_cl.CreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  if (!buffer || error != CL_SUCCESS) {
    *outResult = pn_deviceFail(device, error, "CreateBuffer", what);
    return NULL;
  }
  return buffer;
}

void pn_releaseBuffer(cl_mem *buffer) {
  if (*buffer) pn_cl.ReleaseMemObject(*buffer);
  *buffer = NULL;
}

pnResult pn_createPinned(pnDevice *device, size_t bytes, cl_mem *outBuffer, void **outMemory) {
  cl_int error = CL_SUCCESS;
  cl_mem buffer = pn_cl.CreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &error);
  if (!buffer) return pn_deviceFail(device, error, "CreateBuffer", "memory of the processor");
  void *memory =
      pn_cl.EnqueueMapBuffer(device->queue, buffer, 1, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &error);
  if (!memory) {
    pn_cl.ReleaseMemObject(buffer);
    return pn_deviceFail(device, error, "EnqueueMapBuffer", "memory of the processor");
  }
  *outBuffer = buffer;
  *outMemory = memory;
  return PN_OK;
}

void pn_releasePinned(pnDevice *device, cl_mem *buffer, void *memory) {
  if (*buffer) (void)pn_cl.EnqueueUnmapMemObject(device->queue, *buffer, memory, 0, NULL, NULL);
  if (*buffer) (void)pn_cl.Finish(device->queue);
  pn_releaseBuffer(buffer);
}

pnResult pnDevice_Alloc(pnDevice *device, size_t bytes, void **outMemory) {
  PN_ASSERT(device && outMemory && bytes > 0);
  *outMemory = NULL;
  pnPinned pinned = {.bytes = bytes};
  if (!pn_arrayReserve(&device->pinned, device->pinned.count + 1)) return pn_failMemory(sizeof pinned);
  pnResult result = pn_createPinned(device, bytes, &pinned.buffer, &pinned.memory);
  if (result != PN_OK) return result;
  device->pinned.data[device->pinned.count++] = pinned;
  *outMemory = pinned.memory;
  return PN_OK;
}

void pnDevice_Free(pnDevice *device, void *memory) {
  for (size_t i = 0; i < device->pinned.count && memory; ++i) {
    if (device->pinned.data[i].memory != memory) continue;
    pn_releasePinned(device, &device->pinned.data[i].buffer, memory);
    device->pinned.data[i] = device->pinned.data[--device->pinned.count];
    return;
  }
  PN_ASSERT(memory == NULL);
}

cl_kernel pn_createKernel(pnDevice *device, pnProgram program, const char *name, pnResult *outResult) {
  cl_int error = CL_SUCCESS;
  *outResult = pn_needProgram(device, program);
  if (*outResult != PN_OK) return NULL;
  cl_kernel kernel = pn_cl.CreateKernel(device->programs[program], name, &error);
  if (!kernel) *outResult = pn_deviceFail(device, error, "CreateKernel", name);
  return kernel;
}
