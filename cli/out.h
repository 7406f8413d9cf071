/* out.h: what the tool prints: aligned tables, JSON, errors, and a sign of life while work takes long. */
#ifndef PN_CLI_OUT_H
#define PN_CLI_OUT_H

#include "pinch/base.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* ---------------------------------------------------------------- tables */

#define PN_MAX_COLUMNS 12

/* On a terminal, unless NO_COLOR is set or it is a dumb one. Colour never says what words do not. */
typedef enum pnColor {
  PN_COLOR_NONE,
  PN_COLOR_BOLD,
  PN_COLOR_DIM,
  PN_COLOR_RED,
  PN_COLOR_YELLOW,
  PN_COLOR_GREEN
} pnColor;
/* What to print before and after something of that colour; empty texts where there is none. */
const char *pn_colorOn(pnColor color);
const char *pn_colorOff(pnColor color);

/* Columns of the terminal; 80 where there is none. */
size_t pn_screenWidth(void);

/* A cell of a table. */
typedef struct pnCell {
  char *text;
  pnColor color;
} pnCell;

/* A table is collected and then printed, each column as wide as its widest cell. Zero it, set the columns, add cells
 * row by row, print, free. Numbers stand right, words left: a column is right when its title begins with '>'. The last
 * column is broken at blanks where it would pass the screen's edge, and where its cells have line ends. */
typedef struct pnTable {
  const char *titles[PN_MAX_COLUMNS];
  size_t columnCount;
  pnCell *cells;
  size_t cellCount, cellCapacity;
  bool failed; /* out of memory: said when printed */
} pnTable;

void pn_addColumn(pnTable *table, const char *title);
void pn_addCell(pnTable *table, const char *format, ...) PN_FORMAT(2, 3);
/* A cell that may have line ends in it; of use in the last column. */
void pn_addText(pnTable *table, const char *text);
/* The colour of the cell that was added last. */
void pn_paintCell(pnTable *table, pnColor color);
bool pn_printTable(const pnTable *table);
void pn_freeTable(pnTable *table);

/* ---------------------------------------------------------------- JSON */

/* Prints the object with a line end and releases it; null (jansson's "out of memory") is an error, said on stderr, and so is
 * an output that cannot be written. */
bool pn_printJson(json_t *object);

/* A string for jansson, which takes UTF-8 only: names of files may hold other bytes, which become '?'. */
json_t *pn_jsonText(const char *text);

/* ---------------------------------------------------------------- the end */

/* A path without its folders. */
const char *pn_baseName(const char *path);

/* Text that comes from a file, on a terminal: what would move the cursor becomes '?'. */
void pn_printPlain(FILE *stream, const char *text);

/* "pinch COMMAND: message" on stderr, the message being pnGetMessage() in the words of the tool, then the afterword. */
void pn_sayFailure(const char *command);
/* Where to write what belongs below the message of a failure that is about to be reported: what could have been asked for. Null:
 * there is no memory for it. */
FILE *pn_beginAfterword(void);
/* A line on stderr; on a terminal in as many as it takes, further ones indented. */
void pn_printError(const char *format, ...) PN_FORMAT(1, 2);

/* Help, in 80 columns or as many as the screen has. A text from column `left` on, where the cursor is, broken where it must be. */
void pn_printColumn(const char *text, size_t left);
/* A line of a block that begins with blanks: a thing, and behind two blanks or more what is said of it, which may stand alone. */
typedef struct pnThing {
  char line[512];
  size_t length;    /* of the thing, with the blanks before it; 0: it is in a line above */
  const char *said; /* null: nothing */
} pnThing;
const char *pn_readThing(const char *text, pnThing *outThing); /* returns the next line */
/* Lines: what does not begin with a blank is joined to paragraphs and broken anew, other lines are a thing and what is said of it. */
void pn_printBlock(const char *text);

/* -q: nothing but errors, and what is asked for as a file or as JSON. */
void pn_beQuiet(void);
bool pn_isQuiet(void);

/* A paragraph that may come from files, as printf, in lines no wider than the screen. */
void pn_printWrapped(const char *format, ...) PN_FORMAT(1, 2);
/* What makes a word of one a word of so many: "s", and nothing for one. */
static inline const char *pn_plural(uint64_t count) {
  return count == 1 ? "" : "s";
}

/* A list of words after a heading, in lines of at most 80 columns that begin with two blanks: "  walk, run, idle". */
void pn_printWords(FILE *stream, const char *const *words, uint32_t count);
/* The same of bodies, under a heading that says how they are counted; of very many the first. */
void pn_printBodies(FILE *stream, const char *const *names, uint32_t count);

/* Everything printed has really arrived (a full disk, a closed pipe); false after saying so. */
bool pn_finishOutput(const char *command);

/* ---------------------------------------------------------------- sign of life */

/* From the first second on, and only on a terminal, a line on stderr that says what goes on and for how long. `what`
 * must stay valid. pn_stepProgress says how far: done of total (total 0: nobody knows). */
void pn_beginProgress(const char *what);
void pn_stepProgress(uint32_t done, uint32_t total);
void pn_renameProgress(const char *what); /* the line goes on with these words alone; signal handlers may call it */
void pn_endProgress(void);                /* the line is gone */

#endif
