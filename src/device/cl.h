/* cl.h: as much of OpenCL 1.2 as the device room calls, written down from the specification, so that pinch builds where no
 * OpenCL is installed. Objects are pointers that only the driver looks into.
 *
 * The functions are a table that pn_clLoad (system.c) fills from libOpenCL.so.1 at run time. It is one for the process; tests
 * put functions of their own between, to lose a device or its memory on purpose. */
#ifndef PN_DEVICE_CL_H
#define PN_DEVICE_CL_H

#include "base/core.h"

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef uint64_t cl_bitfield;
typedef cl_uint cl_bool;
typedef struct cl_platform_s *cl_platform_id;
typedef struct cl_device_s *cl_device_id;
typedef struct cl_context_s *cl_context;
typedef struct cl_queue_s *cl_command_queue;
typedef struct cl_mem_s *cl_mem;
typedef struct cl_program_s *cl_program;
typedef struct cl_kernel_s *cl_kernel;
typedef struct cl_event_s *cl_event;

enum {
  CL_SUCCESS = 0,
  CL_DEVICE_NOT_FOUND = -1,
  CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
  CL_OUT_OF_RESOURCES = -5,
  CL_OUT_OF_HOST_MEMORY = -6,
  CL_BUILD_PROGRAM_FAILURE = -11,
  CL_INVALID_GL_OBJECT = -60,
  CL_INVALID_BUFFER_SIZE = -61,
  CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR = -1000,
  CL_PLATFORM_NOT_FOUND_KHR = -1001,
};

enum {
  CL_PLATFORM_VERSION = 0x0901,
  CL_PLATFORM_NAME = 0x0902,
  CL_DEVICE_TYPE = 0x1000,
  CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
  CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
  CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
  CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
  CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
  CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
  CL_DEVICE_ENDIAN_LITTLE = 0x1026,
  CL_DEVICE_AVAILABLE = 0x1027,
  CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
  CL_DEVICE_NAME = 0x102B,
  CL_DEVICE_DRIVER_VERSION = 0x102D,
  CL_DEVICE_VERSION = 0x102F,
  CL_DEVICE_EXTENSIONS = 0x1030,
  CL_DEVICE_PLATFORM = 0x1031,
  CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
  CL_DEVICE_PARTITION_NOTHING = 0,
  CL_CONTEXT_PLATFORM = 0x1084,
  CL_QUEUE_CONTEXT = 0x1090,
  CL_QUEUE_DEVICE = 0x1091,
  CL_PROGRAM_BINARY_SIZES = 0x1165,
  CL_PROGRAM_BINARIES = 0x1166,
  CL_PROGRAM_BUILD_LOG = 0x1183,
  CL_PROFILING_COMMAND_START = 0x1282,
  CL_PROFILING_COMMAND_END = 0x1283,
  CL_GL_CONTEXT_KHR = 0x2008,
  CL_EGL_DISPLAY_KHR = 0x2009,
  CL_GLX_DISPLAY_KHR = 0x200A,
};

#define CL_DEVICE_TYPE_CPU ((cl_bitfield)1 << 1)
#define CL_DEVICE_TYPE_GPU ((cl_bitfield)1 << 2)
#define CL_DEVICE_TYPE_ALL ((cl_bitfield)0xFFFFFFFF)
#define CL_FP_DENORM ((cl_bitfield)1 << 0)
#define CL_FP_INF_NAN ((cl_bitfield)1 << 1)
#define CL_FP_ROUND_TO_NEAREST ((cl_bitfield)1 << 2)
#define CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ((cl_bitfield)1 << 7)
#define CL_MEM_READ_WRITE ((cl_bitfield)1 << 0)
#define CL_MEM_READ_ONLY ((cl_bitfield)1 << 2)
#define CL_MEM_ALLOC_HOST_PTR ((cl_bitfield)1 << 4)
#define CL_MAP_READ ((cl_bitfield)1 << 0)
#define CL_MAP_WRITE ((cl_bitfield)1 << 1)
#define CL_QUEUE_PROFILING_ENABLE ((cl_bitfield)1 << 1)

/* Result, name, arguments; name without the letters cl. */
#define PN_CL_FUNCTIONS(X)                                                                                             \
  X(cl_int, GetPlatformIDs, (cl_uint, cl_platform_id *, cl_uint *))                                                    \
  X(cl_int, GetPlatformInfo, (cl_platform_id, cl_uint, size_t, void *, size_t *))                                      \
  X(cl_int, GetDeviceIDs, (cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *))                           \
  X(cl_int, GetDeviceInfo, (cl_device_id, cl_uint, size_t, void *, size_t *))                                          \
  X(cl_context, CreateContext,                                                                                         \
    (const intptr_t *, cl_uint, const cl_device_id *, void (*)(const char *, const void *, size_t, void *), void *,    \
     cl_int *))                                                                                                        \
  X(cl_int, RetainContext, (cl_context))                                                                               \
  X(cl_int, ReleaseContext, (cl_context))                                                                              \
  X(cl_command_queue, CreateCommandQueue, (cl_context, cl_device_id, cl_bitfield, cl_int *))                           \
  X(cl_int, GetCommandQueueInfo, (cl_command_queue, cl_uint, size_t, void *, size_t *))                                \
  X(cl_int, RetainCommandQueue, (cl_command_queue))                                                                    \
  X(cl_int, ReleaseCommandQueue, (cl_command_queue))                                                                   \
  X(cl_mem, CreateBuffer, (cl_context, cl_bitfield, size_t, void *, cl_int *))                                         \
  X(cl_int, ReleaseMemObject, (cl_mem))                                                                                \
  X(cl_program, CreateProgramWithSource, (cl_context, cl_uint, const char **, const size_t *, cl_int *))               \
  X(cl_program, CreateProgramWithBinary,                                                                               \
    (cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **, cl_int *, cl_int *))           \
  X(cl_int, BuildProgram,                                                                                              \
    (cl_program, cl_uint, const cl_device_id *, const char *, void (*)(cl_program, void *), void *))                   \
  X(cl_int, GetProgramInfo, (cl_program, cl_uint, size_t, void *, size_t *))                                           \
  X(cl_int, GetProgramBuildInfo, (cl_program, cl_device_id, cl_uint, size_t, void *, size_t *))                        \
  X(cl_int, ReleaseProgram, (cl_program))                                                                              \
  X(cl_kernel, CreateKernel, (cl_program, const char *, cl_int *))                                                     \
  X(cl_int, SetKernelArg, (cl_kernel, cl_uint, size_t, const void *))                                                  \
  X(cl_int, ReleaseKernel, (cl_kernel))                                                                                \
  X(cl_int, EnqueueNDRangeKernel,                                                                                      \
    (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint, const cl_event *,  \
     cl_event *))                                                                                                      \
  X(cl_int, EnqueueWriteBuffer,                                                                                        \
    (cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *, cl_event *))          \
  X(cl_int, EnqueueReadBuffer,                                                                                         \
    (cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *))                \
  X(cl_int, EnqueueCopyBuffer,                                                                                         \
    (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *))                 \
  X(cl_int, EnqueueFillBuffer,                                                                                         \
    (cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *))           \
  X(void *, EnqueueMapBuffer,                                                                                          \
    (cl_command_queue, cl_mem, cl_bool, cl_bitfield, size_t, size_t, cl_uint, const cl_event *, cl_event *, cl_int *)) \
  X(cl_int, EnqueueUnmapMemObject, (cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *))          \
  X(cl_int, EnqueueBarrierWithWaitList, (cl_command_queue, cl_uint, const cl_event *, cl_event *))                     \
  X(cl_int, WaitForEvents, (cl_uint, const cl_event *))                                                                \
  X(cl_int, GetEventProfilingInfo, (cl_event, cl_uint, size_t, void *, size_t *))                                      \
  X(cl_int, RetainEvent, (cl_event))                                                                                   \
  X(cl_int, ReleaseEvent, (cl_event))                                                                                  \
  X(cl_int, Flush, (cl_command_queue))                                                                                 \
  X(cl_int, Finish, (cl_command_queue))

typedef struct pnCl {
#define PN_CL_MEMBER(result, name, arguments) result(*name) arguments;
  PN_CL_FUNCTIONS(PN_CL_MEMBER)
#undef PN_CL_MEMBER
} pnCl;

/* The functions. All null until pn_clLoad has succeeded; tests may replace entries after that. */
extern pnCl pn_cl;

/* Buffers of OpenGL (cl_khr_gl_sharing). All null where the library has no such functions. */
#define PN_CL_GL_FUNCTIONS(X)                                                           \
  X(cl_mem, CreateFromGLBuffer, (cl_context, cl_bitfield, cl_uint, cl_int *))           \
  X(cl_int, EnqueueAcquireGLObjects,                                                    \
    (cl_command_queue, cl_uint, const cl_mem *, cl_uint, const cl_event *, cl_event *)) \
  X(cl_int, EnqueueReleaseGLObjects, (cl_command_queue, cl_uint, const cl_mem *, cl_uint, const cl_event *, cl_event *))

typedef struct pnClGl {
#define PN_CL_MEMBER(result, name, arguments) result(*name) arguments;
  PN_CL_GL_FUNCTIONS(PN_CL_MEMBER)
#undef PN_CL_MEMBER
} pnClGl;

extern pnClGl pn_clGl;

/* What went wrong in a call of OpenCL, as a result of ours: lack of memory is PN_ERROR_MEMORY, everything else
 * PN_ERROR_DEVICE. The message says which call, for what, and the code with its name. */
pnResult pn_clFail(cl_int error, const char *call, const char *what);

#endif
