/* args.h: one option parser for all subcommands.
 *
 * A command describes itself once, as a pnUsage, and gets parsing, --help, a manual page and completions (describe.h)
 * and messages for wrong options from it.
 * Options are written --name, --name VALUE or --name=VALUE, anywhere among the files; after "--" everything is a file. A
 * value that begins with "--" must be written with '=': else a forgotten value would swallow the next option.
 */
#ifndef PN_CLI_ARGS_H
#define PN_CLI_ARGS_H

#include "pinch/base.h"

/* What an option takes, and the type `target` points to. */
typedef enum pnOptionKind {
  PN_OPTION_FLAG,   /* nothing: bool, set to true */
  PN_OPTION_TEXT,   /* a word: const char * */
  PN_OPTION_COUNT,  /* a whole number from 0 to 2^32 - 1: uint32_t */
  PN_OPTION_NUMBER, /* a finite number: double */
  PN_OPTION_VECTOR, /* three numbers X,Y,Z: float[3] */
  PN_OPTION_LIST,   /* a word, and another one each time the option is given: pnWords */
  PN_OPTION_FILES   /* a file and all files that follow, up to the next option: pnWords */
} pnOptionKind;

/* So many times may an option be given that collects its words. */
#define PN_MAX_WORDS 256

typedef struct pnWords {
  const char *items[PN_MAX_WORDS];
  uint32_t count;
} pnWords;

typedef struct pnOption {
  const char *name; /* without the dashes. An alias has the target of another option and no help: it is not listed */
  pnOptionKind kind;
  const char *value; /* how the help names the value: "N", "OUT.csv"; null for a flag */
  const char *help;  /* one or two lines, separated by \n */
  void *target;
} pnOption;

typedef struct pnUsage {
  const char *command;  /* "check" */
  const char *synopsis; /* what follows it: "FILE... [options]" */
  const char *about;    /* what it does: a few full lines */
  const pnOption *options;
  size_t optionCount;
  const char *examples; /* full lines: a command, then what it is good for */
  bool lastCounts;      /* an option may be given twice: the words are put together by us */
} pnUsage;

typedef enum pnArgs {
  PN_ARGS_RUN,  /* go on: *count words, the files, are left in argv[0] ... */
  PN_ARGS_HELP, /* help was asked for and printed: exit status 0 */
  PN_ARGS_WRONG /* said on stderr: exit status 2 */
} pnArgs;

/* argv[0] is the name of the command. */
pnArgs pn_parseArgs(const pnUsage *usage, int *count, char **argv);

/* "pinch check: TEXT" and where help is, on stderr. For what the parser cannot know: no files, options that exclude
 * one another. */
void pn_sayWrong(const pnUsage *usage, const char *format, ...) PN_FORMAT(2, 3);

/* Are these two names of one plain file, there or not yet there? */
bool pn_isSameFile(const char *a, const char *b);

/* False, after saying so, when the file an option writes (null: none) is one of those that are read: it would be lost. Of a
 * MESH@CACHE both are meant. */
bool pn_checkOutput(const pnUsage *usage, const char *option, const char *path, int count, char **files);

/* The known word closest to `word`, or null when none is close: for "did you mean". */
const char *pn_closest(const char *word, const char *const *known, size_t count);

#endif
