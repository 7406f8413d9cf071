/* merge.c: `pinch merge PART...`: what one scan would have written, from the parts that several made (pinch scan --part K/N).
 *
 * A part knows the command line it was made by. Merging is that command without --part, with the outputs that are asked for now, and
 * with frames that come from the parts: so the files it reads must still be there, under the same names and with the same content. */
#include "args.h"
#include "command.h"
#include "out.h"
#include "scan_deal.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the command line */

static const pnOption *optionOf(const pnUsage *usage, const char *word) {
  size_t length = strcspn(word, "=");
  for (size_t i = 0; i < usage->optionCount && length > 2; ++i)
    if (strlen(usage->options[i].name) == length - 2 && strncmp(usage->options[i].name, word + 2, length - 2) == 0)
      return &usage->options[i];
  return NULL;
}

/* Options and their values, as they were written, go behind the words of the part. Returns how many. */
static int keepOptions(const pnUsage *usage, int argc, char **argv, char **out) {
  int count = 0;
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i) {
    const pnOption *option = argv[i][0] == '-' && argv[i][1] == '-' ? optionOf(usage, argv[i]) : NULL;
    if (!option) continue;
    out[count++] = argv[i];
    if (option->kind != PN_OPTION_FLAG && !strchr(argv[i], '=') && i + 1 < argc) out[count++] = argv[++i];
  }
  return count;
}

/* "scan", the words of the first part, the options from here. */
static int merge(int partCount, char **parts, int optionCount, char **options) {
  pnPart *first;
  static char name[] = "scan";
  if (pn_openPart(parts[0], "rb", &first) != PN_OK) {
    pn_sayFailure("merge");
    return PN_EXIT_ERROR;
  }
  const json_t *words = json_object_get(first->head, "words");
  size_t wordCount = json_array_size(words);
  char **argv = malloc((wordCount + (size_t)optionCount + 2) * sizeof(char *));
  int argc = 0, status = PN_EXIT_ERROR;
  if (argv) {
    argv[argc++] = name;
    for (size_t i = 0; i < wordCount; ++i) {
      const char *word = json_string_value(json_array_get(words, i));
      // The parser moves words and changes none.
      if (word) argv[argc++] = (char *)word;
    }
    for (int i = 0; i < optionCount; ++i) argv[argc++] = options[i];
    argv[argc] = NULL;
    status = pn_scanMerge(argc, argv, parts, (uint32_t)partCount);
  }
  free(argv);
  pn_closePart(first);
  return status;
}

/* ---------------------------------------------------------------- the command */

static const char about[] =
    "Puts the parts of a scan together: the same tables, JSON, CSV, report and exit status, byte for byte, as one\n"
    "'pinch scan' would have made. Each part was written by 'pinch scan FILE... --part K/N', on whatever machine, in\n"
    "whatever order. The files that were scanned are read again, under the names they had; options of the scan are\n"
    "taken from the parts. Parts that are missing, damaged, or of other files, options or versions are refused.\n";

static const char examples[] =
    "  pinch scan hero.glb --part 1/2                      half of the frames, into hero.1-of-2.pinch\n"
    "  pinch scan hero.glb --part 2/2                      the other half, perhaps elsewhere\n"
    "  pinch merge hero.*.pinch --html report.html         as if one had scanned all\n";

int pn_cmdMerge(int argc, char **argv) {
  // They are checked here and used by the scan.
  static const char *text;
  static bool flag;
  static uint32_t count;
  static double number;
  const pnOption table[] = {
      {"html", PN_OPTION_TEXT, "F", "write a report to look at in a browser", &text},
      {"json", PN_OPTION_FLAG, NULL, "one JSON object instead of tables", &flag},
      {"csv", PN_OPTION_TEXT, "F", "write counts; - is standard output", &text},
      {"pairs", PN_OPTION_TEXT, "F", "write every pair", &text},
      {"junit", PN_OPTION_TEXT, "F", "write findings as JUnit XML", &text},
      {"sarif", PN_OPTION_TEXT, "F", "write findings as SARIF", &text},
      {"baseline", PN_OPTION_TEXT, "F", "findings that are in this file are known", &text},
      {"write-baseline", PN_OPTION_TEXT, "F", "write what was found as known", &text},
      {"min-depth", PN_OPTION_NUMBER, "D", "leave out findings that are less deep", &number},
      {"sort", PN_OPTION_TEXT, "BY", "depth, frames or first", &text},
      {"top", PN_OPTION_COUNT, "N", "list so many findings (default 20; 0: all)", &count},
      {"constant", PN_OPTION_FLAG, NULL, "also list what is built in", &flag},
      {"fail-on", PN_OPTION_TEXT, "WHICH", "any, new or none: which findings make the exit status 1", &text},
  };
  const pnUsage usage = {
      .command = "merge",
      .synopsis = "PART... [options]",
      .about = about,
      .options = table,
      .optionCount = sizeof(table) / sizeof(table[0]),
      .examples = examples,
  };
  char **options = malloc((size_t)(argc + 1) * sizeof(char *));
  if (!options) return PN_EXIT_ERROR;
  // Before the parser puts the words in another order.
  int optionCount = keepOptions(&usage, argc, argv, options);
  pnArgs args = pn_parseArgs(&usage, &argc, argv);
  if (args == PN_ARGS_RUN && argc == 0) {
    pn_sayWrong(&usage, "no part given; 'pinch scan FILE --part 1/2' writes one");
    args = PN_ARGS_WRONG;
  }
  int status = args == PN_ARGS_HELP ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
  if (args == PN_ARGS_RUN) status = merge(argc, argv, optionCount, options);
  free(options);
  return status;
}
