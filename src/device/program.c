/* program.c: compiled programs. Each is kept as the driver's binary in the user's cache folder, in a file whose name is made from
 * everything the binary depends on: device, driver, platform, options and the text itself. A file says so again inside, with
 * a checksum; one that is damaged, foreign or refused by the driver is compiled anew and overwritten. Not being able to keep a
 * program is no error. */
#include "device/device.h"

#include "base/memory.h"
#include "base/thread.h"
#include "device/system.h"

#include <stdio.h>
#include <string.h>

/* No option that lets a compiler be quick about numbers; and where the device has it, float quotients and roots rounded as
 * everywhere: compilers make them of double ones that are rounded to float, rightly, and then need not round them at all. */
static const char *optionsOf(const pnDevice *device) {
  return device->roundsQuotients ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt" : "-cl-std=CL1.2";
}

/* Larger files are not ours. */
#define MOST_BYTES ((size_t)256 << 20)

typedef struct Head {
  char magic[8];
  uint64_t key, check, size;
} Head;

static const char s_magic[8] = {'p', 'n', 'C', 'L', 'b', 'i', 'n', '1'};

/* FNV-1a: not against an enemy, who could write to the cache as well, but against damage. */
static uint64_t hash(uint64_t h, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; ++i) h = (h ^ bytes[i]) * 0x100000001b3u;
  return h;
}

static uint64_t hashText(uint64_t h, const char *text) {
  return hash(h, text, strlen(text) + 1);
}

static const char *textOfProgram(pnProgram program) {
  static const char *const texts[PN_PROGRAM_COUNT] = {pn_textOfFrame,  pn_textOfExact, pn_textOfMotion,
                                                      pn_textOfVolume, pn_textOfSwept, pn_textOfSweptExact};
  return texts[program];
}

static uint64_t keyOf(const pnDevice *device, pnProgram program) {
  uint64_t key = 0xcbf29ce484222325u;
  key = hashText(key, device->info.name);
  key = hashText(key, device->info.driver);
  key = hashText(key, device->info.platform);
  key = hashText(key, optionsOf(device));
  return hashText(key, textOfProgram(program));
}

/* ---------------------------------------------------------------- compiling */

static pnResult compile(pnDevice *device, pnProgram program, cl_program *out) {
  const char *text = textOfProgram(program);
  cl_int error = CL_SUCCESS;
  *out = pn_cl.CreateProgramWithSource(device->context, 1, &text, NULL, &error);
  if (!*out) return pn_clFail(error, "CreateProgramWithSource", device->info.name);
  error = pn_cl.BuildProgram(*out, 1, &device->id, optionsOf(device), NULL, NULL);
  if (error == CL_SUCCESS) return PN_OK;
  // what the compiler says, as far as a message goes
  static const size_t most = 1 << 16;
  char *log = pn_allocZero(most);
  if (log) {
    (void)pn_cl.GetProgramBuildInfo(*out, device->id, CL_PROGRAM_BUILD_LOG, most - 1, log, NULL);
    pn_log(PN_LOG_WARNING, "device '%s': %.3000s", device->info.name, log);
    pn_free(log, most);
  }
  pn_cl.ReleaseProgram(*out);
  *out = NULL;
  return pn_clFail(error, "BuildProgram", device->info.name);
}

/* ---------------------------------------------------------------- keeping */

static void keep(const pnDevice *device, cl_program program, const char *folder, const char *name, uint64_t key) {
  size_t size = 0;
  if (pn_cl.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != CL_SUCCESS || size == 0 ||
      size > MOST_BYTES)
    return;
  unsigned char *binary = pn_alloc(size);
  if (!binary) return;
  if (pn_cl.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS) {
    Head head = {.key = key, .check = hash(key, binary, size), .size = size};
    memcpy(head.magic, s_magic, sizeof s_magic);
    if (!pn_writeWhole(folder, name, &head, sizeof head, binary, size))
      pn_log(PN_LOG_INFO, "device '%s': its programs cannot be kept in %s", device->info.name, folder);
  }
  pn_free(binary, size);
}

/* A program out of its file; null: there is none that is good. */
static cl_program takeKept(const pnDevice *device, const char *folder, const char *name, uint64_t key) {
  char path[1280];
  if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) return NULL;
  size_t size = 0;
  unsigned char *file = pn_readWhole(path, MOST_BYTES, &size);
  if (!file) return NULL;
  cl_program program = NULL;
  Head head;
  if (size > sizeof head) {
    memcpy(&head, file, sizeof head);
    const unsigned char *binary = file + sizeof head;
    if (memcmp(head.magic, s_magic, sizeof s_magic) == 0 && head.key == key && head.size == size - sizeof head &&
        head.check == hash(key, binary, head.size)) {
      size_t length = (size_t)head.size;
      cl_int status = CL_SUCCESS, error = CL_SUCCESS;
      program = pn_cl.CreateProgramWithBinary(device->context, 1, &device->id, &length, &binary, &status, &error);
      if (program && (error != CL_SUCCESS || status != CL_SUCCESS ||
                      pn_cl.BuildProgram(program, 1, &device->id, optionsOf(device), NULL, NULL) != CL_SUCCESS)) {
        pn_cl.ReleaseProgram(program);
        program = NULL;
      }
    }
  }
  pn_free(file, size);
  return program;
}

pnResult pn_needProgram(pnDevice *device, pnProgram program) {
  static const char *const names[PN_PROGRAM_COUNT] = {"frame", "exact", "motion", "volume", "step", "exact step"};
  if (device->programs[program]) return PN_OK;
  const bool cached = device->cacheFolder[0] != '\0';
  const double begun = pn_clock();
  const uint64_t key = keyOf(device, program);
  char name[32];
  snprintf(name, sizeof name, "%016llx.cl", (unsigned long long)key);
  if (cached) device->programs[program] = takeKept(device, device->cacheFolder, name, key);
  if (device->programs[program]) {
    ++device->fromCache;
  } else {
    pnResult result = compile(device, program, &device->programs[program]);
    if (result != PN_OK) return result;
    pn_log(PN_LOG_INFO, "device '%s': program '%s' compiled in %.2f s", device->info.name, names[program],
           pn_clock() - begun);
    if (cached) keep(device, device->programs[program], device->cacheFolder, name, key);
  }
  device->buildSeconds += pn_clock() - begun;
  return PN_OK;
}

pnResult pn_buildPrograms(pnDevice *device, const char *cacheFolder) {
  const bool cached = !(cacheFolder && cacheFolder[0] == '\0') &&
                      pn_cacheFolder(cacheFolder, device->cacheFolder, sizeof device->cacheFolder);
  if (!cached) device->cacheFolder[0] = '\0';
  pnResult result = PN_OK;
  for (int i = 0; i < PN_PROGRAMS_AT_ONCE && result == PN_OK; ++i) result = pn_needProgram(device, (pnProgram)i);
  return result;
}
