/* support_device.h: one device for all tests of a program, since opening it takes longest. Where there is no OpenCL the tests
 * are skipped with a line. */
#ifndef PN_TEST_SUPPORT_DEVICE_H
#define PN_TEST_SUPPORT_DEVICE_H

#include "support.h"

#include "device/world.h"
#include "pinch/device.h"

static pnDevice *s_device;

static inline int openDevice(void **state) {
  (void)state;
  pnResult result = pnCreateDevice(NULL, &s_device);
  if (result == PN_ERROR_UNSUPPORTED) printf("skipped: %s\n", pnGetMessage());
  else if (result != PN_OK) printf("%s\n", pnGetMessage());
  return result == PN_OK || result == PN_ERROR_UNSUPPORTED ? 0 : -1;
}

static inline int closeDevice(void **state) {
  (void)state;
  pnDestroyDevice(s_device);
  return pnGetByteCount() == 0 ? 0 : -1;
}

#define NEEDS_DEVICE \
  (void)state;       \
  if (!s_device) skip()

static inline uint32_t addPose(pnDeviceWorld *world, const pnPose *pose, bool self) {
  pnDeviceBodyDef def = pnDefaultDeviceBodyDef();
  uint32_t body;
  def.pose = pose;
  def.self = self;
  testExpectOk(pnDeviceWorld_AddBody(world, &def, &body));
  return body;
}

#endif
