/* device.h: an open device, as the room sees it. */
#ifndef PN_DEVICE_DEVICE_H
#define PN_DEVICE_DEVICE_H

#include "base/array.h"
#include "device/cl.h"
#include "pinch/device.h"

/* Programs, each compiled and kept on its own. The exact one takes longest. Those from PN_PROGRAMS_AT_ONCE on wait until somebody
 * needs them. */
typedef enum pnProgram {
  PN_PROGRAM_FRAME,
  PN_PROGRAM_EXACT,
  PN_PROGRAM_MOTION,
  PN_PROGRAMS_AT_ONCE,
  PN_PROGRAM_VOLUME = PN_PROGRAMS_AT_ONCE,
  PN_PROGRAM_SWEPT,
  PN_PROGRAM_SWEPT_EXACT,
  PN_PROGRAM_COUNT
} pnProgram;

/* Memory handed out by pnDevice_Alloc. */
typedef struct pnPinned {
  cl_mem buffer;
  void *memory;
  size_t bytes;
} pnPinned;

struct pnDevice {
  pnDeviceInfo info;
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
  cl_program programs[PN_PROGRAM_COUNT];
  size_t mostBytes; /* of one buffer */
  bool profile;
  bool roundsQuotients; /* of floats; and roots */
  bool lost;            /* a call has failed for good */
  bool stepsTested[2];  /* the filter, the exact one */
  PN_ARRAY(pnPinned) pinned;
  char cacheFolder[1024]; /* empty: programs are not kept */
  double buildSeconds;
  uint32_t fromCache;
};

/* The text of a program, made at build time from the kernels and the shared files of geom and collide (cmake/embed.cmake). */
extern const char pn_textOfFrame[], pn_textOfExact[], pn_textOfMotion[], pn_textOfVolume[], pn_textOfSwept[],
    pn_textOfSweptExact[];

/* program.c: a program of a device, from the cache or compiled, when it is not there yet; and all that every world needs. */
pnResult pn_needProgram(pnDevice *device, pnProgram program);
pnResult pn_buildPrograms(pnDevice *device, const char *cacheFolder);
/* selftest.c: does the device decide and round as the processor does? */
pnResult pn_testDevice(pnDevice *device);
/* selftest_step.c: and does it find the same times? Compiles a program of steps, and asks once: of the filter, and of the exact one. */
pnResult pn_testSteps(pnDevice *device, bool exact);
/* Items of the exact program of steps that run beside each other; each has a slate. */
size_t pn_slatesOf(const pnDevice *device);

/* A run of a kernel of a test: arrays in, one out, and how many cases. */
typedef struct pnTestRun {
  pnProgram program;
  const char *name;
  const void *in[2];
  size_t bytes[2];  /* 0: there is none */
  size_t roomBytes; /* of an array that is neither; 0: there is none */
  void *out;
  size_t outBytes;
  uint32_t count; /* cases */
  size_t items, local;
} pnTestRun;
/* selftest.c: the same numbers on every machine (xorshift64*), for cases */
uint32_t pn_nextNumber(uint64_t *state);
pnResult pn_runTest(pnDevice *device, const pnTestRun *test);

/* A call failed: its result, and the device is lost unless it was memory. */
pnResult pn_deviceFail(pnDevice *device, cl_int error, const char *call, const char *what);
/* A buffer, null and a message when there is none. Contents are undefined. */
cl_mem pn_createBuffer(pnDevice *device, size_t bytes, const char *what, pnResult *outResult);
void pn_releaseBuffer(cl_mem *buffer);
/* Memory of the processor that the device reads and writes fastest. */
pnResult pn_createPinned(pnDevice *device, size_t bytes, cl_mem *outBuffer, void **outMemory);
void pn_releasePinned(pnDevice *device, cl_mem *buffer, void *memory);
/* Compiles the program when it is the first kernel of it. */
cl_kernel pn_createKernel(pnDevice *device, pnProgram program, const char *name, pnResult *outResult);

#endif
