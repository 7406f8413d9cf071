/* device.c: `pinch device list`: the devices that --device can name, and which of them can be used. */
#include "args.h"
#include "command.h"
#include "out.h"

#include "pinch/device.h"

#include <stdio.h>
#include <string.h>

#define MOST_DEVICES 64u

static const char *kindOf(pnDeviceKind kind) {
  return kind == PN_DEVICE_GPU ? "GPU" : kind == PN_DEVICE_CPU ? "processor" : "other";
}

static bool printDevicesJson(const pnDeviceInfo *infos, uint32_t count) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < count; ++i)
    json_array_append_new(
        list,
        json_pack("{s:I, s:o, s:s, s:o, s:o, s:I, s:I, s:b, s:o}", "index", (json_int_t)i, "name",
                  pn_jsonText(infos[i].name), "kind", kindOf(infos[i].kind), "platform", pn_jsonText(infos[i].platform),
                  "driver", pn_jsonText(infos[i].driver), "units", (json_int_t)infos[i].computeUnits, "memory",
                  (json_int_t)infos[i].memory, "usable", infos[i].why[0] == '\0', "why", pn_jsonText(infos[i].why)));
  return pn_printJson(json_pack("{s:s, s:o}", "pinch", pnGetVersion(), "devices", list));
}

static bool printDevices(const pnDeviceInfo *infos, uint32_t count) {
  pnTable table = {0};
  pn_addColumn(&table, ">device");
  pn_addColumn(&table, "kind");
  pn_addColumn(&table, "name");
  pn_addColumn(&table, "driver");
  pn_addColumn(&table, ">units");
  pn_addColumn(&table, ">memory");
  pn_addColumn(&table, "usable");
  for (uint32_t i = 0; i < count; ++i) {
    pn_addCell(&table, "%u", i);
    pn_addCell(&table, "%s", kindOf(infos[i].kind));
    pn_addCell(&table, "%s", infos[i].name);
    pn_addCell(&table, "%s", infos[i].driver);
    pn_addCell(&table, "%u", infos[i].computeUnits);
    pn_addCell(&table, "%.1f GB", 1e-9 * (double)infos[i].memory);
    pn_addCell(&table, "%s%s", infos[i].why[0] ? "no: " : "yes", infos[i].why);
  }
  bool good = pn_printTable(&table);
  pn_freeTable(&table);
  if (count == 0)
    printf(
        "OpenCL has no device here: install the driver of your GPU, or, on Debian, pocl-opencl-icd to use the "
        "processor.\n");
  return good;
}

int pn_cmdDevice(int argc, char **argv) {
  bool json = false;
  const pnOption table[] = {{"json", PN_OPTION_FLAG, NULL, "one JSON object instead of a table", &json}};
  const pnUsage usage = {
      .command = "device",
      .synopsis = "list [options]",
      .about =
          "Which devices are there for --device N of check and scan? GPUs first, then processors. They are found "
          "through\n"
          "OpenCL, which comes with the driver of a GPU; on Debian the package pocl-opencl-icd makes a device of the\n"
          "processor.\n",
      .options = table,
      .optionCount = sizeof(table) / sizeof(table[0]),
      .examples = "  pinch device list                          numbers, names, and what keeps one from being used\n",
  };
  pnArgs args = pn_parseArgs(&usage, &argc, argv);
  if (args == PN_ARGS_RUN && (argc != 1 || strcmp(argv[0], "list") != 0)) {
    pn_sayWrong(&usage, argc == 0 ? "say what: list" : "'%s' is not understood; there is list", argc ? argv[0] : "");
    args = PN_ARGS_WRONG;
  }
  if (args != PN_ARGS_RUN) return args == PN_ARGS_HELP ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
  pnDeviceInfo infos[MOST_DEVICES];
  uint32_t count;
  bool good = pnListDevices(infos, MOST_DEVICES, &count) == PN_OK;
  if (!good) pn_sayFailure("device");
  count = count < MOST_DEVICES ? count : MOST_DEVICES;
  if (good) good = json ? printDevicesJson(infos, count) : printDevices(infos, count);
  if (good) good = pn_finishOutput("device");
  return good ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
}
