/* scan.h: the parts of `pinch scan` and what they hand to one another.
 *
 *   scan.c         the command: its options
 *   scan_work.c    the work: read, look at one frame after the other, write; the exit status
 *   scan_source.c  a word of the command line into bodies: glTF, a mesh, a mesh with its vertex cache
 *   scan_body.c    a body of a glTF file: mesh, targets, joints, and which of them moves a vertex most
 *   scan_clip.c    which animations, one after the other
 *   scan_range.c   which frames of an animation, and at what time each of them is
 *   scan_world.c   the world of the bodies, a frame of it, and what meets at rest
 *   scan_between.c what happens between two frames and is seen in neither (--between)
 *   scan_tally.c   what stays of the frames: first, worst, intervals, joints
 *   scan_files.c   what is written frame by frame: CSV, the report; and at the end
 *   scan_json.c    the same as JSON
 *   scan_report.c  the same for the report
 *   scan_find.h    findings, and its parts
 *   scan_deal.h    frames that others look at, and its parts
 *   scan_table.c   what is printed at the end
 *
 * One frame goes through it at a time: no memory grows with their number. */
#ifndef PN_CLI_SCAN_H
#define PN_CLI_SCAN_H

#include "choose.h"
#include "on_device.h"
#include "report.h"
#include "scan_find.h"

#include "pinch/io.h"
#include "pinch/world.h"

#include <stdio.h>

/* ---------------------------------------------------------------- what was asked for */

/* Which collisions make the exit status 1. */
typedef enum pnFailOn { PN_FAIL_ON_ANY, PN_FAIL_ON_NEW, PN_FAIL_ON_NONE } pnFailOn;

typedef struct pnScanOptions {
  const char *frames, *failOnWord, *orderWord; /* as written; null: not given */
  pnWords animations, only, ignored;
  const char *csv, *pairs, *html, *junit, *sarif, *writeBaseline; /* files to write; null: none */
  const char *device;                                             /* as written; null: the processor */
  const char *baseline;                                           /* a file to read */
  double minDepth;
  uint32_t top;      /* findings that are listed; 0: all */
  double fps;        /* 0: not given */
  uint32_t threads;  /* 0: one for each core */
  uint32_t maxPairs; /* in a frame; 0: no limit */
  bool self, first, ignoreRest, json, constant, regions, between;
  pnFailOn failOn;
  pnFindingOrder order;
  const char *command; /* the whole command line, for the report */
  /* A scan that several share, or that goes on (scan_deal.h). */
  const char *partWord, *partFile, *resume; /* as written; null: not given */
  uint32_t partNumber, partCount;           /* part 3 of 8; 0 of 0: all of it */
  char *const *merge;                       /* parts to be merged */
  uint32_t mergeCount;
  char *const *words; /* the command line without what says which part it is and where it goes */
  int wordCount;
  const char *list; /* many scans in one (scan_batch.h); null: one */
  bool alone;       /* one of many: other ranks do others, and its failure is told elsewhere */
} pnScanOptions;

/* What --sort calls the orders of findings, and null. */
extern const char *const pn_orderWords[];

/* ---------------------------------------------------------------- sources and bodies */

/* One word of the command line: an animated file, a cache, or neither (a mesh that does not move). */
typedef struct pnScanSource {
  const char *word;
  pnAnimFile *file;
  pnAnimState *state;
  uint32_t clip; /* PN_NONE: the file has none and stays at rest */
  pnCache *cache;
  bool stream; /* frames come by standard input (scan_stream.c), so many a second */
  double streamFps;
  bool cacheByNumber; /* frame k of the cache is where pnCache_GetTime says; else it is frame k */
} pnScanSource;

typedef struct pnScanBody {
  char *name;
  uint32_t source, animBody; /* animBody: number in the source's file; PN_NONE for meshes and caches */
  pnBodyKind kind;
  pnMesh *mesh;
  bool sharesMesh; /* with a body before, which destroys it: nodes of a file that show one mesh */
  pnMorph *morph;
  pnSkin *skin;
  bool closed;
  bool self;   /* is asked about itself */
  bool wanted; /* takes part; a body that does not is only shown in the report */
  pnBodyId id; /* null: not in the world */
  uint32_t finderBody;
  /* The joint, or without joints the target, that moves each vertex most; without either there are none. */
  const char **groupNames; /* the names are the file's, except those made here */
  char *madeNames;
  uint32_t groupCount;
  uint16_t *vertexGroups;
  float *vertices;        /* cache: of the frame that was read last */
  uint32_t verticesFrame; /* its number; PN_NONE: none yet */
  float *verticesBefore;  /* --between: of the frame before, */
  uint32_t beforeFrame;   /* its number; */
  float *verticesBetween; /* and where the body stands between the two; null before */
  bool isBetween;         /* the body stands there, and not in its frame */
} pnScanBody;

/* Frames first, first + step, ... up to last; frame f is at f / fps seconds. */
typedef struct pnScanRange {
  int64_t first, last, step;
  uint32_t count;
  double fps;
} pnScanRange;

/* An animation that is scanned. All files play together: the one that has it plays it, the others their first. */
typedef struct pnScanRun {
  char *name;      /* as in the file, else its number; "" when nothing moves by a clip */
  uint32_t *clips; /* of each source; PN_NONE: it has none */
  pnScanRange range;
} pnScanRun;

/* ---------------------------------------------------------------- a frame, and what stays of it */

/* Two bodies (or one with itself) that meet. Pairs are sorted. */
typedef struct pnScanContact {
  uint32_t a, b;
  const pnPair *pairs;
  size_t pairCount;
  size_t newCount; /* of these, how many do not meet at rest; counted only when somebody asks */
} pnScanContact;

typedef struct pnScanFrame {
  uint32_t run;
  int64_t number;
  uint32_t part; /* so many thousandths after it: a moment between two frames (--between) */
  bool isMoment;
  double time;
  pnScanContact *contacts; /* sorted by a, then b */
  uint32_t contactCount, contactCapacity;
  size_t pairCount, newCount;
  bool limited; /* it has more pairs than --max-pairs */
} pnScanFrame;

/* So many intervals are kept by their ends; the others are counted. */
#define PN_SCAN_INTERVALS 8

/* What is known about two bodies over all frames so far. */
typedef struct pnScanTally {
  uint32_t a, b;
  uint32_t frameCount;
  uint32_t firstRun, lastRun, worstRun; /* the animations these frames are of */
  int64_t firstFrame, lastFrame, worstFrame;
  size_t worstPairs;
  uint64_t pairCount;
  int64_t begins[PN_SCAN_INTERVALS], ends[PN_SCAN_INTERVALS];
  uint32_t intervalCount;
  uint64_t *groupsA, *groupsB; /* pairs by group of the triangle of a, of b; null without groups */
} pnScanTally;

typedef struct pnScanTallies {
  pnScanTally *data;
  uint32_t count, capacity;
  uint32_t *table; /* open addressing: place in data + 1 */
  uint32_t tableSize;
  uint32_t frameCount, collidingFrames, newFrames; /* newFrames: with pairs that do not meet at rest */
  uint64_t pairCount;
  uint32_t worstRun;
  int64_t worstFrame; /* over all bodies */
  size_t worstPairs;
} pnScanTallies;

/* Pairs that meet in the rest pose, as contacts and pairs of their own. */
typedef struct pnScanRest {
  bool known;
  pnScanContact *contacts;
  uint32_t contactCount;
  pnPair *pairs;
} pnScanRest;

/* A moment between two frames has the number of the one before and so many parts of a frame. */
#define PN_FRAME_PARTS 1000

/* Contacts with pairs of their own. */
typedef struct pnScanCopy {
  pnScanContact *contacts;
  uint32_t contactCount;
  size_t contactCapacity;
  pnPair *pairs;
  size_t pairCapacity;
} pnScanCopy;

/* Impacts of two bodies in a part of a step. */
typedef struct pnScanImpacts {
  uint32_t a, b;
  size_t first, count; /* into the impacts */
  size_t place;        /* among all of the step */
} pnScanImpacts;

/* What passes through unseen. Times are parts of the step. */
typedef struct pnScanPassage {
  uint32_t a, b;
  pnPassage core; /* firstPair: into passagePairs */
  int64_t moment; /* in which it is shown: thousandths of a frame after `from` */
} pnScanPassage;

/* --between: the step from the frame before to the one that comes; zeroed is empty. */
typedef struct pnScanBetween {
  bool begun; /* there is a frame before, */
  uint32_t run;
  int64_t from, to;   /* of this animation and number */
  bool beforeLimited; /* more pairs meet there than --max-pairs */
  bool standing;      /* the world stands in the frame that comes, and scan->frame has what meets in it */
  pnScanCopy before;  /* what meets in the frame before */
  pnFeatureImpact *impacts;
  size_t impactCount, impactCapacity;
  pnScanImpacts *order;
  size_t orderCount, orderCapacity;
  pnPassageList *list;
  pnScanPassage *passages; /* by bodies */
  size_t passageCount, passageCapacity;
  pnPair *passagePairs;
  size_t passagePairCount, passagePairCapacity;
  pnMatrix *turns; /* what moved the bodies in the frame before */
  size_t turnCapacity;
  int64_t moment; /* that is looked at */
  pnScanContact *contacts;
  size_t contactCapacity;
  pnPair *pairs;
  size_t pairCapacity;
  uint32_t limitedSteps, momentCount; /* over all frames: steps not looked into, moments looked at */
  uint64_t passageTotal;
} pnScanBetween;

/* Files that are not the report. */
typedef enum pnScanOut {
  PN_OUT_CSV,
  PN_OUT_PAIRS,
  PN_OUT_JUNIT,
  PN_OUT_SARIF,
  PN_OUT_BASELINE,
  PN_OUT_COUNT
} pnScanOut;

/* What is written while the scan goes on, and at its end. */
typedef struct pnScanFiles {
  pnOutFile *outs[PN_OUT_COUNT];
  pnReport *report;
  bool jsonBegun;
  float **positions; /* of all bodies, for the report */
  pnReportPair *reportPairs;
  size_t reportPairCapacity;
  pnReportStats reportStats;
} pnScanFiles;

/* Everything; zeroed is empty. */
typedef struct pnScan {
  const pnScanOptions *options;
  pnScanSource *sources;
  uint32_t sourceCount;
  pnScanBody *bodies;
  uint32_t bodyCount, bodyCapacity;
  pnChoice choice;
  pnScanRun *runs;
  uint32_t runCount, run; /* the animations, and which one is scanned now */
  uint32_t frameTotal;    /* frames of all of them */
  uint32_t skippedRuns;   /* animations that have no frame in --frames */
  pnScanRange range;      /* of this one */
  pnPool *pool;
  pnWorld *world;
  pnDevice *device; /* null: the world searches */
  pnDeviceWorld *deviceWorld;
  uint32_t *deviceBodies; /* the numbers of the device's bodies */
  struct pnDeal *deal;    /* null: this process looks at every frame, and at once */
  pnScanRest rest;
  pnPair *kept; /* pairs of the frame that are not left out */
  size_t keptCapacity;
  pnPair *taken; /* pairs of the frame that others found */
  size_t takenCapacity;
  pnScanFrame frame;
  pnScanBetween between;
  pnScanTallies tallies;
  pnScanFindings findings;
  pnScanFiles files;
  uint32_t seenCount; /* frames that were looked at */
  bool interrupted;
  bool standsAtRest;              /* the rest pose was looked at last, and nothing moves */
  uint32_t limitedCount;          /* frames with more pairs than --max-pairs, the rest pose among them */
  bool wrongAnimation, wrongBody; /* a choice that failed for want of this; pn_scanSayChoices */
  double loadSeconds, scanSeconds;
} pnScan;

/* ---------------------------------------------------------------- the work */

/* So many parts may a scan have. */
#define PN_MAX_PARTS 1000000u

/* `pinch scan`, with the frames that these parts have (scan.c, for merge.c). */
int pn_scanMerge(int argc, char **argv, char *const *parts, uint32_t partCount);
/* Scans the files and writes what was asked for; the exit status comes back. */
int pn_scanWork(int count, char **words, const pnScanOptions *options);
/* Standard output has one of the files: then it has nothing else. */
/* Does nothing fail, and not all that was asked for was looked at? Then "clean" would not be true. */
bool pn_scanLacksAnswer(const pnScan *scan);
bool pn_scanUsesOutput(const pnScanOptions *options);

/* ---------------------------------------------------------------- the parts */

/* Has somebody asked for an end (Ctrl-C)? */
bool pn_scanIsStopped(void);
/* What can be read from then on, or -1. */
int pn_scanStopInput(void);

/* Frames by standard input: is `word` that; its head and bodies; the source that is one, or null; and the next frame's vertices into its
 * bodies. *ioNumber: the number of the frame before, then of this one. Cut: the scan was asked to end while the frame was waited for. */
typedef enum pnStreamStep { PN_STREAM_FRAME, PN_STREAM_END, PN_STREAM_CUT } pnStreamStep;
bool pn_isStream(const char *word);
pnResult pn_streamOpen(pnScan *scan, pnScanSource *source);
const pnScanSource *pn_streamOf(const pnScan *scan);
pnResult pn_streamNext(pnScan *scan, int64_t *ioNumber, pnStreamStep *outStep);

/* All of these answer with a message in pnGetMessage(). */
pnResult pn_scanOpenSource(pnScan *scan, const char *word);
pnResult pn_scanAddBody(pnScan *scan, const char *name,
                        pnScanBody **outBody); /* the pointer lives until the next one */
pnResult pn_scanAddAnimBodies(pnScan *scan, uint32_t source);
/* Which animations, and the frames of each. */
pnResult pn_scanChooseRuns(pnScan *scan);
/* The frames of the clips the sources have now. */
pnResult pn_scanChooseRange(const pnScan *scan, pnScanRange *outRange);
/* Frames a second at which all keys of a clip stand, one of the usual rates; 30 when there is none. */
double pn_clipRate(const pnAnimClip *clip);
/* The frames of a clip at that rate. */
void pn_clipFrames(const pnAnimClip *clip, double fps, double *outFirst, double *outLast);
/* From now on run r is scanned. */
void pn_scanBeginRun(pnScan *scan, uint32_t r);
pnResult pn_scanChooseBodies(pnScan *scan);
/* What a failed choice could have chosen, on stderr, below the message. */
void pn_scanSayChoices(const pnScan *scan);

pnResult pn_scanMakeWorld(pnScan *scan);
/* Finds what meets at rest, when the options need it. */
pnResult pn_scanLookAtRest(pnScan *scan);
/* What meets in a frame, with pairs of its own, so that it outlives the next; there is room. */
void pn_scanCopyContacts(const pnScanFrame *frame, pnScanContact *contacts, pnPair *pairs);
/* Is what meets at rest of any interest? */
bool pn_scanNeedsRest(const pnScanOptions *options);
/* Moves all bodies to frame `number` and fills scan->frame. */
pnResult pn_scanLookAtFrame(pnScan *scan, int64_t number);
/* The same step by step: which frame it is; bodies to their places (those of caches too?); contacts and pairs into scan->frame; and,
 * after the findings have them, what counts of these. */
void pn_scanBeginFrame(pnScan *scan, int64_t number);
pnResult pn_scanMove(pnScan *scan, int64_t number, bool caches);
pnResult pn_scanCollide(pnScan *scan);
pnResult pn_scanCountFrame(pnScan *scan);
/* Room for so many contacts, and none yet. */
pnResult pn_scanBeginContacts(pnScanFrame *frame, uint32_t count);
/* Moves all bodies to frame `number`, or with t between 0 and 1 to that moment on the way to the next, in the step that scan->between
 * has. Vertex caches go on straight lines from one of their frames to the next. */
pnResult pn_scanMoveTo(pnScan *scan, int64_t number, double t);
/* What the files say about frame `number`; no body is moved. */
pnResult pn_scanEvaluate(pnScan *scan, int64_t number);
/* Room for so many contacts; those that are there stay. */
pnResult pn_scanReserveContacts(pnScanFrame *frame, uint32_t count);
/* The number of a body of the world. */
uint32_t pn_scanBodyNumber(const pnScan *scan, pnBodyId id);

/* --between; without it these do nothing. The frame that scan->frame has, with all pairs, is the one before the next step. */
pnResult pn_betweenBegin(pnScan *scan);
/* Looks for what passes through between that frame and frame `to`, and shows it in moments: each becomes the frame, and `take` is called. */
typedef pnResult pnMomentFcn(pnScan *scan, void *context);
pnResult pn_scanLookBetween(pnScan *scan, int64_t to, pnMomentFcn *take, void *context);
/* A pnMomentFcn: finds and writes the moment. */
pnResult pn_takeMoment(pnScan *scan, void *context);
/* Makes the frame a moment of the step, so many thousandths of a frame after its begin. */
void pn_beginMoment(pnScan *scan, int64_t moment);
pnResult pn_reservePassages(pnScanBetween *between, size_t count);
void pn_betweenEnd(pnScanBetween *between);
/* How the finder numbers frames and moments, and how they are told. */
int64_t pn_frameTick(const pnScan *scan, int64_t number, uint32_t part);
double pn_frameNumber(const pnScan *scan, int64_t tick);

pnResult pn_scanTallyFrame(pnScan *scan);
/* The group of a triangle: the one of two of its corners, else of the first; PN_REPORT_NO_GROUP without groups. */
uint16_t pn_scanTriangleGroup(const pnScanBody *body, uint32_t triangle);

pnResult pn_scanOpenFiles(pnScan *scan);
/* The frames of another animation follow. */
pnResult pn_scanOpenRun(pnScan *scan);
pnResult pn_scanWriteFrame(pnScan *scan);
/* good: everything so far is kept, and called incomplete when the scan was interrupted; else nothing is left behind. */
pnResult pn_scanCloseFiles(pnScan *scan, bool good);

/* The path of an output that is not the report, as the options have it; null: not asked for. */
const char *pn_scanOutPath(const pnScanOptions *options, pnScanOut out);

bool pn_scanBeginJson(pnScan *scan);
bool pn_scanWriteJson(const pnScan *scan); /* the frame */
void pn_scanEndJson(const pnScan *scan, bool good);

pnResult pn_scanOpenReport(pnScan *scan);
pnResult pn_scanWriteReport(pnScan *scan); /* the frame */
/* keep: with the findings, in its place; else nothing is left. */
pnResult pn_scanCloseReport(pnScan *scan, bool keep);

bool pn_scanPrintTables(const pnScan *scan);

#endif
