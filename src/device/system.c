/* system.c: the only file of the device room that calls the system. See system.h.
 *
 * The library is loaded once and never unloaded: drivers keep threads of their own. */
#define _GNU_SOURCE
#include "device/system.h"

#include "base/memory.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

pnCl pn_cl;
pnClGl pn_clGl;

/* ---------------------------------------------------------------- the library */

static const char *const s_names[] = {
#define PN_CL_NAME(result, name, arguments) "cl" #name,
    PN_CL_FUNCTIONS(PN_CL_NAME)
#undef PN_CL_NAME
};

enum { FUNCTION_COUNT = sizeof s_names / sizeof s_names[0] };
_Static_assert(sizeof(pnCl) == FUNCTION_COUNT * sizeof(void (*)(void)), "the table is functions only");

static const char *const s_glNames[] = {
#define PN_CL_NAME(result, name, arguments) "cl" #name,
    PN_CL_GL_FUNCTIONS(PN_CL_NAME)
#undef PN_CL_NAME
};

enum { GL_FUNCTION_COUNT = sizeof s_glNames / sizeof s_glNames[0] };
_Static_assert(sizeof(pnClGl) == GL_FUNCTION_COUNT * sizeof(void (*)(void)), "the table is functions only");

/* So many functions into a table; false, and which, when one is missing. */
static bool findFunctions(void *library, const char *const *names, int count, void *out, const char **outMissing) {
  void *found[FUNCTION_COUNT];
  for (int i = 0; i < count; ++i) {
    found[i] = dlsym(library, names[i]);
    *outMissing = names[i];
    if (!found[i]) return false;
  }
  // a data pointer is not a function pointer in C, but POSIX says their bits are
  memcpy(out, found, (size_t)count * sizeof found[0]);
  return true;
}

pnResult pn_clLoad(void) {
  static atomic_flag lock = ATOMIC_FLAG_INIT;
  static _Atomic bool loaded;
  if (atomic_load(&loaded)) return PN_OK;
  while (atomic_flag_test_and_set(&lock)) usleep(100);
  pnResult result = PN_OK;
  if (!atomic_load(&loaded)) {
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("libOpenCL.so", RTLD_NOW | RTLD_LOCAL);
    const char *missing = NULL;
    if (!library) {
      result =
          pn_fail(PN_ERROR_UNSUPPORTED,
                  "no OpenCL on this machine (libOpenCL.so.1 was not found): install the driver of your GPU, or, on "
                  "Debian, the packages ocl-icd-libopencl1 and pocl-opencl-icd to use the processor");
    } else if (!findFunctions(library, s_names, FUNCTION_COUNT, &pn_cl, &missing)) {
      memset(&pn_cl, 0, sizeof pn_cl);
      dlclose(library);
      result = pn_fail(PN_ERROR_UNSUPPORTED, "libOpenCL.so.1 has no %s: OpenCL 1.2 is needed, install a newer driver",
                       missing);
    }
    // what is missing here is missed only by those who ask for it
    if (result == PN_OK) (void)findFunctions(library, s_glNames, GL_FUNCTION_COUNT, &pn_clGl, &missing);
    atomic_store(&loaded, result == PN_OK);
  }
  atomic_flag_clear(&lock);
  return result;
}

/* ---------------------------------------------------------------- files */

bool pn_cacheFolder(const char *given, char *out, size_t size) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length = 0;
  if (given) length = snprintf(out, size, "%s", given);
  else if (cache && cache[0] == '/') length = snprintf(out, size, "%s/pinch", cache);
  else if (home && home[0] == '/') length = snprintf(out, size, "%s/.cache/pinch", home);
  return length > 0 && (size_t)length < size;
}

void *pn_readWhole(const char *path, size_t most, size_t *outSize) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  struct stat info;
  char *data = NULL;
  if (fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 && (uint64_t)info.st_size <= most) {
    *outSize = (size_t)info.st_size;
    data = pn_alloc(*outSize);
    if (data && fread(data, 1, *outSize, file) != *outSize) {
      pn_free(data, *outSize);
      data = NULL;
    }
  }
  fclose(file);
  return data;
}

/* Every folder on the way; those that are there are fine. */
static void makeFolders(const char *path) {
  char part[1024];
  size_t length = strlen(path);
  if (length >= sizeof part) return;
  for (size_t i = 1; i <= length; ++i) {
    if (path[i] != '/' && path[i] != '\0') continue;
    memcpy(part, path, i);
    part[i] = '\0';
    (void)mkdir(part, 0700);
  }
}

bool pn_writeWhole(const char *folder, const char *name, const void *head, size_t headSize, const void *data,
                   size_t size) {
  char path[1280], temporary[1320];
  makeFolders(folder);
  if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) return false;
  snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
  int handle = mkstemp(temporary);
  if (handle < 0) return false;
  FILE *file = fdopen(handle, "wb");
  bool good = file && fwrite(head, 1, headSize, file) == headSize && fwrite(data, 1, size, file) == size;
  if (file) good = fclose(file) == 0 && good;
  else close(handle);
  good = good && rename(temporary, path) == 0;
  if (!good) (void)unlink(temporary);
  return good;
}
