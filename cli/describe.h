/* describe.h: a command's usage in other words: help, a manual page, completions for shells. One table says it all. */
#ifndef PN_CLI_DESCRIBE_H
#define PN_CLI_DESCRIBE_H

#include "args.h"

/* What pn_parseArgs does instead of parsing. */
typedef enum pnDescription {
  PN_DESCRIBE_NOTHING,
  PN_DESCRIBE_MAN,
  PN_DESCRIBE_BASH,
  PN_DESCRIBE_ZSH,
  PN_DESCRIBE_FISH
} pnDescription;

/* From now on a command that parses its words prints this description of itself and ends with status 0. `summary` is what
 * the list of commands says of it. */
void pn_describeInstead(pnDescription what, const char *summary);
/* Prints it; false when nothing was asked for. */
bool pn_describe(const pnUsage *usage);

void pn_printHelp(const pnUsage *usage);
/* Text as roff has it: no letter of it is a command. */
void pn_printRoff(const char *text);

#endif
