/* system.h: what the device room asks of the operating system: the OpenCL library, and files in the user's cache folder. */
#ifndef PN_DEVICE_SYSTEM_H
#define PN_DEVICE_SYSTEM_H

#include "device/cl.h"

/* Fills pn_cl once. PN_ERROR_UNSUPPORTED, and what to install, when there is no libOpenCL.so.1 or it lacks a function. From any
 * thread. */
pnResult pn_clLoad(void);

/* The folder for kept programs into out: the one given; for null $XDG_CACHE_HOME/pinch or $HOME/.cache/pinch. False: none. */
bool pn_cacheFolder(const char *given, char *out, size_t size);

/* All of a file into memory from pn_alloc. Null: it cannot be read, or is larger than `most`. */
void *pn_readWhole(const char *path, size_t most, size_t *outSize);
/* Makes the folder, and the file all at once: nobody ever sees half of it. False, and nothing left behind, when it does not
 * work out. */
bool pn_writeWhole(const char *folder, const char *name, const void *head, size_t headSize, const void *data,
                   size_t size);

#endif
