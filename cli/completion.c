/* completion.c: `pinch completion SHELL`: what a shell needs to complete the words of pinch, or a manual page. Commands describe
 * their options themselves (describe.h): nothing is listed twice. */
#include "args.h"
#include "command.h"
#include "describe.h"
#include "out.h"

#include <stdio.h>
#include <string.h>

/* Every command but this one, which has no options worth completing, describes itself. */
static void describeCommands(pnDescription what) {
  for (size_t i = 0; pn_commandName(i); ++i) {
    if (strcmp(pn_commandName(i), "completion") == 0) continue;
    char name[32];
    snprintf(name, sizeof(name), "%s", pn_commandName(i));
    char *argv[] = {name, NULL};
    pn_describeInstead(what, pn_commandSummary(i));
    pn_runCommand(i, 1, argv);
    pn_describeInstead(PN_DESCRIBE_NOTHING, NULL);
  }
}

/* ---------------------------------------------------------------- shells */

static void printBash(void) {
  printf(
      "# bash completion of pinch, made by: pinch completion bash\n"
      "_pinch() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} words=\"\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"--help --version");
  for (size_t i = 0; pn_commandName(i); ++i) printf(" %s", pn_commandName(i));
  printf(
      "\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]} in\n");
  describeCommands(PN_DESCRIBE_BASH);
  printf(
      "    completion) words=\"bash zsh fish\" ;;\n"
      "  esac\n"
      "  case $current in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;\n"
      "    *) [ \"${COMP_WORDS[1]}\" = completion ] && COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;\n"
      "  esac\n"
      "}\n"
      "complete -o default -o bashdefault -F _pinch pinch\n");
}

static void printZsh(void) {
  printf(
      "#compdef pinch\n"
      "# zsh completion of pinch, made by: pinch completion zsh\n"
      "_pinch() {\n"
      "  local -a commands=(");
  for (size_t i = 0; pn_commandName(i); ++i) printf("\n    '%s:%s'", pn_commandName(i), pn_commandSummary(i));
  printf(
      "\n  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "  else\n"
      "    local name=$words[2]\n"
      "    shift words\n"
      "    (( CURRENT-- ))\n"
      "    case $name in\n");
  describeCommands(PN_DESCRIBE_ZSH);
  printf(
      "      completion) _values shell bash zsh fish ;;\n"
      "    esac\n"
      "  fi\n"
      "}\n"
      "_pinch \"$@\"\n");
}

static void printFish(void) {
  printf("# fish completion of pinch, made by: pinch completion fish\n");
  for (size_t i = 0; pn_commandName(i); ++i)
    printf("complete -c pinch -n __fish_use_subcommand -f -a %s -d '%s'\n", pn_commandName(i), pn_commandSummary(i));
  describeCommands(PN_DESCRIBE_FISH);
  printf("complete -c pinch -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n");
}

/* ---------------------------------------------------------------- manual pages */

/* pinch(1): the commands, and what they have in common. */
static void printMain(void) {
  printf(
      ".TH PINCH 1 \"\" \"pinch %s\" \"pinch\"\n"
      ".SH NAME\npinch \\- exact collision detection for triangle meshes that deform\n"
      ".SH SYNOPSIS\n.B pinch\n.I COMMAND\n\\&...\n"
      ".SH COMMANDS\n",
      pnGetVersion());
  for (size_t i = 0; pn_commandName(i); ++i) {
    printf(".TP\n.BR pinch\\-%s (1)\n", pn_commandName(i));
    pn_printRoff(pn_commandSummary(i));
    putchar('\n');
  }
  printf(
      ".SH FILES\n"
      "OBJ, PLY, STL, OFF and glTF 2.0;\n.B scan\nalso takes vertex caches (MDD, PC2, numbered meshes).\n"
      "\\- is standard input where a file is read and standard output where one is written.\n"
      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nif set, nothing is coloured on a terminal\n"
      ".SH EXIT STATUS\n0 no collision, 1 collisions, 2 error.\n");
}

/* The page of a command; false when there is none of that name. */
static bool printPage(const char *name) {
  if (strcmp(name, "pinch") == 0) return printMain(), true;
  for (size_t i = 0; pn_commandName(i); ++i) {
    if (strcmp(pn_commandName(i), name) != 0) continue;
    char copy[32];
    snprintf(copy, sizeof(copy), "%s", name);
    char *argv[] = {copy, NULL};
    pn_describeInstead(PN_DESCRIBE_MAN, pn_commandSummary(i));
    pn_runCommand(i, 1, argv);
    pn_describeInstead(PN_DESCRIBE_NOTHING, NULL);
    return true;
  }
  return false;
}

int pn_cmdCompletion(int argc, char **argv) {
  const char *page = NULL;
  const pnOption options[] = {
      {"man", PN_OPTION_TEXT, "NAME", "the manual page of a command, or of pinch itself, as roff", &page},
  };
  const pnUsage usage = {
      .command = "completion",
      .synopsis = "bash|zsh|fish",
      .about =
          "What a shell needs to complete commands and options of pinch, on standard output. An installed pinch has it "
          "in\n"
          "place already.\n"
          "Exit status: 0, or 2 on an error.\n",
      .options = options,
      .optionCount = sizeof(options) / sizeof(options[0]),
      .examples =
          "  source <(pinch completion bash)                            in ~/.bashrc\n"
          "  pinch completion zsh >~/.zfunc/_pinch                      in a folder of $fpath\n"
          "  pinch completion fish >~/.config/fish/completions/pinch.fish\n"
          "  pinch completion --man scan | man -l -                     a manual page without installing\n",
  };
  static const struct {
    const char *name;
    void (*print)(void);
  } shells[] = {{"bash", printBash}, {"zsh", printZsh}, {"fish", printFish}};
  pnArgs args = pn_parseArgs(&usage, &argc, argv);
  if (args != PN_ARGS_RUN) return args == PN_ARGS_HELP ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
  bool done = page && argc == 0 && printPage(page);
  for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]) && argc == 1 && !page; ++i) {
    if (strcmp(argv[0], shells[i].name) != 0) continue;
    shells[i].print();
    done = true;
  }
  if (!done) {
    pn_sayWrong(&usage, "expected bash, zsh or fish, or --man and a command");
    return PN_EXIT_ERROR;
  }
  return pn_finishOutput("completion") ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
}
