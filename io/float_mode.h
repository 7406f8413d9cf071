/* float_mode.h: files are read, evaluated and written in the floating-point environment of the library, whatever the caller's is
 * (pinch/base.h): the same file gives the same bits. The first line of every door of io that has to do with numbers. */
#ifndef PN_IO_FLOAT_MODE_H
#define PN_IO_FLOAT_MODE_H

#include "pinch/base.h"

static inline void pn_leaveIoFloat(const pnFloatMode *mode) {
  pnLeaveFloat(*mode);
}

#define PN_IO_FLOAT                                                                             \
  __attribute__((cleanup(pn_leaveIoFloat), unused)) const pnFloatMode pn_mode = pnEnterFloat(); \
  (void)0

#endif
