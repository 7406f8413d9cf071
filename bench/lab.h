/* lab.h: how peers are measured. Frames of a scene are computed in advance, the truth about each frame is found
 * once, then the peers take turns over the frames, each in a process of its own, several passes, and every answer is
 * checked.
 *
 * Time is what the one thread of a peer spent on the processor; peers with several threads are timed by the clock on
 * the wall. The rule: a frame is update, all pairs; and of a second object of the same peer, which is asked nothing else, update, first
 * pair. "update" is the faster of the two updates. Vertices are in the cache, as when the application has just written them. Of each
 * figure the least over the passes counts, then the median over the frames in which something meets. Times in one
 * run compare; times of two runs do not. */
#ifndef PN_BENCH_LAB_H
#define PN_BENCH_LAB_H

#include "peer.h"
#include "scenes.h"

/* ---------------------------------------------------------------- frames */

/* A scene with all frames in memory, and what is true in each. */
typedef struct pnFrames {
  const char *sceneName;
  pnBenchInput input;
  uint32_t frameCount, triangleCount; /* triangles of all bodies */
  uint32_t madeCount;                 /* frames that were made; of a driven scene more than are kept */
  float *data;
  size_t dataBytes;
  const float **vertices; /* frame-major: bodyCount arrays a frame */
  uint64_t *hashes;       /* of the pairs of each frame, by the exact textbook peer */
  size_t *pairCounts;
  uint32_t hitFrames; /* frames in which something meets */
  bool moves;         /* something does; bodies that are still have one array for all frames */
  pnScene *scene;
} pnFrames;

/* Every frameStep-th frame of a scene. Null and a line on stderr when it cannot be made. A driven scene is driven by the exact contacts of
 * all its frames, and those that are wanted are kept, the last among them. */
pnFrames *pn_labCreateFrames(const char *sceneName, uint32_t frameStep);
void pn_labDestroyFrames(pnFrames *frames);
/* How many of them are played: no more than there is room for, and of these as many as are wanted (0: all). */
uint32_t pn_labFrameCount(const pnFrames *frames, uint32_t most, uint32_t wanted);
/* The arrays of one frame, one a body. */
const float *const *pn_labVertices(const pnFrames *frames, uint32_t frame);

/* ---------------------------------------------------------------- rows */

typedef struct pnLabSettings {
  uint32_t passes; /* default 3 */
  uint32_t block;  /* frames a peer does before the next one has its turn: default 10 */
  double seconds;  /* a peer that would take longer than this leaves out frames: default 30 */
  int core;        /* single-threaded peers run pinned to it; -1 for the last one */
  uint32_t cold;   /* megabytes read before every frame, so that nothing of a peer is in the caches; 0: no */
} pnLabSettings;

pnLabSettings pn_defaultLabSettings(void);

/* What is known about a frame of a row. */
enum { PN_MARK_DONE = 1, PN_MARK_WRONG = 2, PN_MARK_WRONG_FIRST = 4 };

/* One peer on one scene. Times are in milliseconds. The row and its arrays are seen by the peer's process and ours. */
typedef struct pnRow {
  char spec[96]; /* "pinch:bottom-up:arity=2" */
  const pnPeer *peer;
  void *object, *another;         /* in the child; the other is asked for first pairs */
  int process, commands, answers; /* the child, and the pipes to and from it */
  bool crashed;
  uint32_t threads, stride, frameCount, framesDone;
  double clockCost, buildTime, *update, *all, *first, *traverse, *exact; /* the least of the passes, one a frame */
  double *inner;  /* the part of `all` in which a peer still updates */
  uint8_t *marks; /* one a frame: PN_MARK_... */
  bool canFirst;
  uint32_t wrongFrames, wrongFirsts;
  uint64_t hash; /* over the frames measured */
  size_t pairSum, lastPairs, byteCount;
  pnPeerCost lastCost; /* of the last frame */
} pnRow;

/* Medians over the frames with hits (over all frames when none has any). all and first include the update. */
typedef struct pnRowFigures {
  double update, traverse, exact, all, first;
} pnRowFigures;

/* How many times faster than the anchor; 0 when there is nothing to compare. */
typedef struct pnRatios {
  double all, first;
} pnRatios;

/* Makes one row, and a process for it, for each spec that this build knows and that can do the scene; others are left
 * out with a line on stderr. Returns the number of rows. Free them with pn_labDestroyRows. */
uint32_t pn_labCreateRows(const pnFrames *frames, const pnLabSettings *settings, const char *const *specs,
                          uint32_t specCount, pnRow **outRows);
/* All rows over all frames, taking turns. */
void pn_labMeasure(const pnFrames *frames, const pnLabSettings *settings, pnRow **rows, uint32_t rowCount);
/* One row over the frames from begin to end; a turn. */
void pn_labRunRow(pnRow *row, uint32_t begin, uint32_t end);
void pn_labDestroyRows(pnRow **rows, uint32_t rowCount);

/* Over the frames that both rows have done; other may be null. */
pnRowFigures pn_labFigures(const pnFrames *frames, const pnRow *row, const pnRow *other);
pnRatios pn_labRatios(const pnFrames *frames, const pnRow *row, const pnRow *anchor);

/* Milliseconds of update and all pairs, below which that part of the frames is: 0.25, 0.75. */
double pn_labQuantile(const pnFrames *frames, const pnRow *row, double part);

double pn_labMedian(double *values, uint32_t count); /* sorts them; 0 for none */

/* Runs this thread on one core, or with -1 on any. Where that is not allowed it stays where it is. */
void pn_labPin(int core);

/* Memory, zeroed, that this process and those it starts see alike. Ends the program when there is none. */
void *pn_labShare(size_t size);
void pn_labUnshare(void *memory, size_t size);

/* ---------------------------------------------------------------- report */

#include <stdio.h>

/* One line about machine, compiler and date. No names of people or hosts. */
void pn_labMachine(char *out, size_t size);
/* A file of comma-separated values in a folder, headed by the machine; null without a folder, or with a line on stderr when it
 * cannot be written. */
FILE *pn_labOpenCsv(const char *program, const char *folder, const char *name);
/* An aligned table. Ratios are against the row whose spec is `anchor`, when there is one. */
void pn_labPrint(const pnFrames *frames, pnRow *const *rows, uint32_t rowCount, const char *anchor);
/* The same as comma-separated values: first the comment lines and the header, then rows. */
void pn_labCsvHead(FILE *file);
void pn_labCsvRows(FILE *file, const pnFrames *frames, pnRow *const *rows, uint32_t rowCount, const char *anchor);

#endif
