/* command.h: the subcommands of the tool and what they have in common. */
#ifndef PN_CLI_COMMAND_H
#define PN_CLI_COMMAND_H

#include <stddef.h>

/* Exit status of every command: `check` and `scan` answer with 1 when something collides. */
#define PN_EXIT_CLEAN 0
#define PN_EXIT_COLLISION 1
#define PN_EXIT_ERROR 2

/* The list of commands: a name and what it does in a line; null behind the last. */
const char *pn_commandName(size_t i);
const char *pn_commandSummary(size_t i);
/* Runs command i of the list. */
int pn_runCommand(size_t i, int argc, char **argv);

/* argv[0] is the name of the command; the exit status comes back. */
typedef int pnCommandFcn(int argc, char **argv);

pnCommandFcn pn_cmdInfo;
pnCommandFcn pn_cmdCheck;
pnCommandFcn pn_cmdScan;
pnCommandFcn pn_cmdMerge;
pnCommandFcn pn_cmdMake;
pnCommandFcn pn_cmdVolume;
pnCommandFcn pn_cmdInside;
pnCommandFcn pn_cmdDevice;
pnCommandFcn pn_cmdBench;
pnCommandFcn pn_cmdCompletion;

#endif
