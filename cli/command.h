/* command.h: the subcommands of the tool and what they have in common. */
#ifndef PN_CLI_COMMAND_H
#define PN_CLI_COMMAND_H

/* Exit status of every command: `check` and `scan` answer with 1 when something collides. */
#define PN_EXIT_CLEAN 0
#define PN_EXIT_COLLISION 1
#define PN_EXIT_ERROR 2

/* argv[0] is the name of the command; the exit status comes back. */
typedef int pnCommandFcn(int argc, char **argv);

pnCommandFcn pn_cmdInfo;
pnCommandFcn pn_cmdCheck;
pnCommandFcn pn_cmdScan;
pnCommandFcn pn_cmdMake;
pnCommandFcn pn_cmdVolume;
pnCommandFcn pn_cmdInside;

#endif
