/* on_device.c: see on_device.h. */
#include "on_device.h"

#include "out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void sayNotUsed(const char *command, const char *why) {
  if (!pn_isQuiet()) fprintf(stderr, "pinch %s: no device is used, the processor does it: %s\n", command, why);
}

/* The first GPU that can be used. */
static pnResult openAuto(const char *command, pnDevice **outDevice) {
  pnDeviceInfo infos[64];
  uint32_t count = 0;
  if (pnListDevices(infos, 64, &count) != PN_OK) return sayNotUsed(command, pnGetMessage()), PN_OK;
  const char *why = "OpenCL has no GPU here (pinch device list)";
  for (uint32_t i = 0; i < count && i < 64 && infos[i].kind == PN_DEVICE_GPU; ++i) {
    pnDeviceDef def = pnDefaultDeviceDef();
    def.index = i;
    if (pnCreateDevice(&def, outDevice) == PN_OK) return PN_OK;
    why = pnGetMessage();
  }
  sayNotUsed(command, why);
  return PN_OK;
}

pnResult pn_openDevice(const char *command, const char *word, pnDevice **outDevice) {
  *outDevice = NULL;
  if (!word || strcmp(word, "cpu") == 0) return PN_OK;
  if (strcmp(word, "auto") == 0) return openAuto(command, outDevice);
  char *end;
  unsigned long index = strtoul(word, &end, 10);
  if (word[0] < '0' || word[0] > '9' || *end != '\0' || index >= PN_NONE)
    return pnFail(PN_ERROR_ARGUMENT, "--device %s: expected auto, cpu or a number of pinch device list", word);
  pnDeviceDef def = pnDefaultDeviceDef();
  def.index = (uint32_t)index;
  return pnCreateDevice(&def, outDevice);
}
