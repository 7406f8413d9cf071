/* main.c: the tool `pinch`: which command is meant, and the help that lists them. */
#include "args.h"
#include "command.h"
#include "out.h"
#include "small.h"

#include "pinch/base.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name;
  pnCommandFcn *run;
  const char *summary;
} commands[] = {
    {"info", pn_cmdInfo, "what is in a file: counts, box, closed or not; bodies, animations"},
    {"check", pn_cmdCheck, "which triangles of meshes meet, or of one mesh with itself"},
    {"scan", pn_cmdScan, "when and where in an animation bodies go through one another"},
    {"merge", pn_cmdMerge, "parts of a scan, by several machines, into what one would write"},
    {"volume", pn_cmdVolume, "how much space two closed meshes share, and how deep they are"},
    {"inside", pn_cmdInside, "which points lie inside a closed mesh"},
    {"make", pn_cmdMake, "write a mesh made by formula, or a character who walks"},
    {"device", pn_cmdDevice, "which GPUs and other devices there are"},
    {"bench", pn_cmdBench, "the papers' experiments rerun, and other libraries beside this one"},
    {"completion", pn_cmdCompletion, "completions for a shell, manual pages"},
};

#define PN_COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

const char *pn_commandName(size_t i) {
  return i < PN_COMMAND_COUNT ? commands[i].name : NULL;
}

const char *pn_commandSummary(size_t i) {
  return i < PN_COMMAND_COUNT ? commands[i].summary : NULL;
}

int pn_runCommand(size_t i, int argc, char **argv) {
  return commands[i].run(argc, argv);
}

static void printHelp(FILE *stream) {
  fprintf(stream, "pinch %s: exact collision detection for triangle meshes\n\nusage: pinch COMMAND ...\n\ncommands:\n",
          pnGetVersion());
  for (size_t i = 0; i < PN_COMMAND_COUNT; ++i) fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
  fprintf(stream,
          "\n"
          "  pinch COMMAND --help   what a command takes, with examples\n"
          "  pinch --version, -V    the version\n"
          "\n"
          "Files: OBJ, PLY, STL, OFF, glTF; scan: also MDD, PC2.\n"
          "Exit status: 0 no collision, 1 collisions, 2 error.\n"
          "\n"
          "A first look, with meshes made on the spot:\n"
          "  pinch make knot knot.ply\n"
          "  pinch make icosphere ball.obj --radius 0.7 --at 1.2,0,0\n"
          "  pinch check knot.ply ball.obj\n"
          "and with a character who walks in a coat:\n"
          "  pinch make character hero.glb\n"
          "  pinch scan hero.glb --html report.html\n");
}

static int runCommand(int argc, char **argv) {
  const char *names[PN_COMMAND_COUNT];
  for (size_t i = 0; i < PN_COMMAND_COUNT; ++i) {
    if (strcmp(argv[0], commands[i].name) == 0) return commands[i].run(argc, argv);
    names[i] = commands[i].name;
  }
  const char *closest = pn_closest(argv[0], names, PN_COMMAND_COUNT);
  if (closest) fprintf(stderr, "pinch: unknown command '%s'; did you mean %s?\n", argv[0], closest);
  else fprintf(stderr, "pinch: unknown command '%s'\n", argv[0]);
  fprintf(stderr, "try: pinch --help\n");
  return PN_EXIT_ERROR;
}

int main(int argc, char **argv) {
  pn_useSmallBlocks();
  if (argc < 2) {
    printHelp(stderr);
    return PN_EXIT_ERROR;
  }
  // What every command takes may stand before it.
  if (argc > 2 && (strcmp(argv[1], "-q") == 0 || strcmp(argv[1], "--quiet") == 0)) {
    pn_beQuiet();
    --argc;
    ++argv;
  }
  const char *word = argv[1];
  bool help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
  if (help && argc == 2) {
    printHelp(stdout);
    return pn_finishOutput("--help") ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
  }
  if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
    printf("pinch %s\n", pnGetVersion());
    return pn_finishOutput("--version") ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
  }
  // "pinch help check" is "pinch check --help".
  if (help) {
    char helpWord[] = "--help", *helpArgv[] = {argv[2], helpWord, NULL};
    return runCommand(2, helpArgv);
  }
  return runCommand(argc - 1, argv + 1);
}
