/* on_device.h: --device of check and scan. */
#ifndef PN_CLI_ON_DEVICE_H
#define PN_CLI_ON_DEVICE_H

#include "pinch/device.h"

/* The option, in the table of a command; `target` is a const char *. */
#define PN_DEVICE_OPTION(target)                                                                                    \
  {                                                                                                                 \
    "device", PN_OPTION_TEXT, "D",                                                                                  \
        "where to search: cpu (default), a number of `pinch device list`, or auto:\nthe first GPU, where there is " \
        "one; the answer does not depend on it",                                                                    \
        target                                                                                                      \
  }

/* Null or "cpu": *outDevice is null, the processor. "auto": the first GPU; when none can be used, a line on stderr says why, and it
 * is the processor. A number: that device, or an error. */
pnResult pn_openDevice(const char *command, const char *word, pnDevice **outDevice);

#endif
