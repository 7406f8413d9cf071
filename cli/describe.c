/* describe.c: help, manual pages and completions from the same table of options. */
#include "describe.h"

#include "out.h"

#include <stdio.h>
#include <string.h>

static pnDescription wanted;
static const char *wantedSummary;

void pn_describeInstead(pnDescription what, const char *summary) {
  wanted = what;
  wantedSummary = summary;
}

/* Options that every command has. */
static const pnOption common[] = {
    {"quiet", PN_OPTION_FLAG, NULL, "print nothing but errors; the exit status is the answer", NULL},
    {"help", PN_OPTION_FLAG, NULL, "this text", NULL},
    {"version", PN_OPTION_FLAG, NULL, "the version of pinch", NULL},
};
#define PN_COMMON_COUNT (sizeof(common) / sizeof(common[0]))

static const char *shortOf(const pnOption *option) {
  return option == &common[0] ? "-q, " : option == &common[1] ? "-h, " : option == &common[2] ? "-V, " : "";
}

/* ---------------------------------------------------------------- help */

static void printOption(const pnOption *option) {
  char head[64];
  snprintf(head, sizeof(head), "%s--%s%s%s", shortOf(option), option->name, option->value ? " " : "",
           option->value ? option->value : "");
  printf("  %-18s ", head);
  size_t left = 3 + (strlen(head) > 18 ? strlen(head) : 18), used = 0;
  // Where its lines break is for the screen to say.
  char text[1024];
  for (const char *c = option->help; *c && used + 1 < sizeof(text); ++c) text[used++] = *c == '\n' ? ' ' : *c;
  text[used] = 0;
  if (left > 21) printf("\n%21s", "");
  pn_printColumn(text, 21);
}

void pn_printHelp(const pnUsage *usage) {
  int left = printf("usage: pinch %s ", usage->command);
  // A second way to call it begins a line of its own.
  if (strchr(usage->synopsis, '\n')) puts(usage->synopsis);
  else pn_printColumn(usage->synopsis, (size_t)left);
  putchar('\n');
  pn_printBlock(usage->about);
  printf("\noptions:\n");
  for (size_t i = 0; i < usage->optionCount; ++i)
    if (usage->options[i].help) printOption(&usage->options[i]);
  for (size_t i = 0; i < PN_COMMON_COUNT; ++i) printOption(&common[i]);
  if (usage->examples) {
    printf("\nexamples:\n");
    pn_printBlock(usage->examples);
  }
}

/* ---------------------------------------------------------------- manual pages */

void pn_printRoff(const char *text) {
  static const char letters[] = "\\-'`^~";
  static const char *const names[] = {"\\e", "\\-", "\\(aq", "\\(ga", "\\(ha", "\\(ti"};
  bool begin = true;
  for (const char *c = text; *c; ++c) {
    // A dot at the beginning of a line would be a command.
    if (begin && *c == '.') printf("\\&");
    // What is typed must come out as it is: roff makes typography of these.
    const char *at = strchr(letters, *c);
    if (at) fputs(names[at - letters], stdout);
    else putchar(*c);
    begin = *c == '\n';
  }
}

/* A thing as it is typed, and what is said of it below, which is filled. */
static const char *printManThing(const char *text) {
  pnThing thing;
  const char *next = pn_readThing(text, &thing);
  if (thing.length > 0) {
    thing.line[thing.length] = 0;
    printf(".PP\n.nf\n");
    pn_printRoff(thing.line + strspn(thing.line, " "));
    printf("\n.fi\n");
  }
  if (thing.said) {
    printf(".RS\n");
    pn_printRoff(thing.said);
    printf("\n.RE\n");
  }
  return next;
}

/* The text of a block. Lines are filled by who reads the page; one that ends with a sentence ends a paragraph, as in the help. */
static void printManBlock(const char *text) {
  bool afterThing = false;
  while (*text) {
    if (*text == ' ') {
      text = printManThing(text);
      afterThing = true;
      continue;
    }
    if (afterThing) printf(".PP\n");
    afterThing = false;
    char line[512];
    size_t length = strcspn(text, "\n");
    snprintf(line, sizeof(line), "%.*s", (int)length, text);
    // An empty line stands before things, which have a gap of their own.
    if (length > 0) {
      pn_printRoff(line);
      putchar('\n');
    }
    text += length + (text[length] == '\n');
    if (length > 0 && strchr(".:?", line[length - 1]) && *text && *text != ' ') printf(".br\n");
  }
}

static void printManOption(const pnOption *option) {
  printf(".TP\n.B ");
  pn_printRoff(shortOf(option));
  printf("\\-\\-");
  pn_printRoff(option->name);
  if (option->value) {
    printf(" \\fI");
    pn_printRoff(option->value);
    printf("\\fR");
  }
  putchar('\n');
  pn_printRoff(option->help);
  putchar('\n');
}

static void printMan(const pnUsage *usage) {
  printf(".TH PINCH\\-");
  for (const char *c = usage->command; *c; ++c) putchar(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
  printf(" 1 \"\" \"pinch %s\" \"pinch\"\n.SH NAME\npinch\\-%s \\- ", pnGetVersion(), usage->command);
  pn_printRoff(wantedSummary);
  printf("\n.SH SYNOPSIS\n.B pinch %s\n", usage->command);
  pn_printRoff(usage->synopsis);
  printf("\n.SH DESCRIPTION\n");
  printManBlock(usage->about);
  printf(".SH OPTIONS\n");
  for (size_t i = 0; i < usage->optionCount; ++i)
    if (usage->options[i].help) printManOption(&usage->options[i]);
  for (size_t i = 0; i < PN_COMMON_COUNT; ++i) printManOption(&common[i]);
  if (usage->examples) {
    printf(".SH EXAMPLES\n");
    printManBlock(usage->examples);
  }
  printf(".SH SEE ALSO\n.BR pinch (1)\n");
}

/* ---------------------------------------------------------------- completions */

/* The first line of an option's help without what a shell would take for its own. */
static void printBrief(const pnOption *option) {
  for (const char *c = option->help; *c && *c != '\n'; ++c)
    if (!strchr("'[]:\\`$\"", *c)) putchar(*c);
}

static void printShell(const pnUsage *usage, const pnOption *option) {
  switch (wanted) {
    case PN_DESCRIBE_BASH: printf(" --%s", option->name); break;
    case PN_DESCRIBE_ZSH:
      // A list may be given several times.
      printf(" \\\n        '%s--%s%s[", option->kind == PN_OPTION_LIST ? "*" : "", option->name,
             option->value ? "=" : "");
      printBrief(option);
      printf("]%s%s%s'", option->value ? ":" : "", option->value ? option->value : "", option->value ? ":_files" : "");
      break;
    default:
      printf("complete -c pinch -n '__fish_seen_subcommand_from %s' -l %s%s -d '", usage->command, option->name,
             option->value ? " -r" : "");
      printBrief(option);
      printf("'\n");
      break;
  }
}

static void printCompletion(const pnUsage *usage) {
  if (wanted == PN_DESCRIBE_BASH) printf("    %s) words=\"", usage->command);
  if (wanted == PN_DESCRIBE_ZSH) printf("      %s) _arguments", usage->command);
  for (size_t i = 0; i < usage->optionCount; ++i)
    if (usage->options[i].help) printShell(usage, &usage->options[i]);
  for (size_t i = 0; i < PN_COMMON_COUNT; ++i) printShell(usage, &common[i]);
  if (wanted == PN_DESCRIBE_BASH) printf("\" ;;\n");
  if (wanted == PN_DESCRIBE_ZSH) printf(" \\\n        '*:file:_files' ;;\n");
}

bool pn_describe(const pnUsage *usage) {
  if (wanted == PN_DESCRIBE_NOTHING) return false;
  if (wanted == PN_DESCRIBE_MAN) printMan(usage);
  else printCompletion(usage);
  return true;
}
