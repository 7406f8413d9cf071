/* test_cli_device.c: --device of check and scan, and the list of devices. The answer is the processor's, byte for byte. */
#include "support_device.h"

#include "tool.h"

#include <stdlib.h>

/* The same command with and without a device writes the same pairs. */
static void expectSamePairs(const char *line) {
  char words[512];
  snprintf(words, sizeof words, "%s --pairs cpu.csv", line);
  const int status = runLine(words);
  assert_int_equal(status, 1);
  snprintf(words, sizeof words, "%s --pairs device.csv --device 0", line);
  assert_int_equal(runLine(words), status);
  char *cpu = takeFile("cpu.csv"), *device = takeFile("device.csv");
  assert_string_equal(cpu, device);
  assert_true(strlen(cpu) > 100);
  free(cpu);
  free(device);
}

static void checkAndScanOnADevice(void **state) {
  NEEDS_DEVICE;
  assert_int_equal(runLine("make knot knot.ply"), 0);
  assert_int_equal(runLine("make icosphere ball.obj --radius 0.7 --at 1.2,0,0"), 0);
  assert_int_equal(runLine("make character hero.glb --triangles 10000 --seconds 6"), 0);
  expectSamePairs("check knot.ply ball.obj --self");
  expectSamePairs("check knot.ply ball.obj --only 1,0");
  expectSamePairs("scan hero.glb --frames 0:360:12");
  expectSamePairs("scan hero.glb --frames 0:360:30 --self --ignore-rest");
  assert_int_equal(runLine("check knot.ply ball.obj --first --device 0 -q"), 1);
  assert_int_equal(runLine("check knot.ply ball.obj --max-pairs 5 --device 0"), 1);
  assert_non_null(strstr(lastRun.out, "there are more"));
  unlink("knot.ply");
  unlink("ball.obj");
  unlink("hero.glb");
}

static void devicesAreListed(void **state) {
  NEEDS_DEVICE;
  assert_int_equal(runLine("device list"), 0);
  assert_non_null(strstr(lastRun.out, pnDevice_GetInfo(s_device).name));
  assert_int_equal(runLine("device list --json"), 0);
  assert_non_null(strstr(lastRun.out, "\"usable\": true"));
  ToolRun run = RUN("device", "lists");
  expectRun(&run, 2, "lists|there is list");
  freeRun(&run);
}

/* A device that is not there: an error when it was named, a line when it was left open. */
static void devicesThatAreNotThere(void **state) {
  (void)state;
  assert_int_equal(runLine("make icosphere ball.obj"), 0);
  ToolRun run = RUN("check", "ball.obj", "--device", "fast");
  expectRun(&run, 2, "--device fast|auto, cpu or a number");
  freeRun(&run);
  run = RUN("check", "ball.obj", "--device", "4000");
  expectRun(&run, 2, "device");
  freeRun(&run);
  run = RUN("check", "ball.obj", "--device", "cpu");
  expectRun(&run, 0, NULL);
  freeRun(&run);
  /* no driver is found in a folder that is none */
  setenv("OCL_ICD_VENDORS", "/nowhere", 1);
  run = RUN("check", "ball.obj", "--device", "auto");
  expectRun(&run, 0, "no device is used|processor");
  freeRun(&run);
  unsetenv("OCL_ICD_VENDORS");
  unlink("ball.obj");
}

static int enter(void **state) {
  return openDevice(state) == 0 ? enterFolder(state) : -1;
}

static int leave(void **state) {
  const int left = leaveFolder(state);
  return closeDevice(state) == 0 ? left : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(checkAndScanOnADevice), cmocka_unit_test(devicesAreListed),
                                     cmocka_unit_test(devicesThatAreNotThere)};
  return cmocka_run_group_tests(tests, enter, leave);
}
