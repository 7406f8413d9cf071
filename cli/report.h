/* report.h: one self-contained HTML file for one scan.
 *
 * The scan hands over each frame once, in order; the report keeps it compressed and writes the file at the end. The
 * page opens from disk, with no server and no network. docs/report.md has the format, the page and the size rules.
 *
 *   pn_reportBegin   opens the file and copies what is constant: names, triangles, groups
 *   pn_reportClip    another animation begins: frames are numbered anew
 *   pn_reportFrame   where every vertex is in this frame, and which triangles meet
 *   pn_reportFinding what somebody must fix, in the order of its rank, once the frames are there
 *   pn_reportNote    a sentence the page shows ("pairs that meet at rest are left out")
 *   pn_reportEnd     writes the page; pn_reportCancel leaves no file behind
 *
 * Size. Positions are rounded to 1/65535 of the body's box, predicted from frames and neighbours around them, and
 * deflated. When the page would pass `byteLimit`, frames are thinned: the finest half goes first, never the frames with
 * the most pairs and never a count. The page then says so and interpolates.
 * Memory: the compressed frames (at most the limit) and up to 33 raw frames.
 */
#ifndef PN_CLI_REPORT_H
#define PN_CLI_REPORT_H

#include "pinch/base.h"

#define PN_REPORT_NO_GROUP UINT16_MAX
#define PN_REPORT_BYTE_LIMIT 40000000u

typedef struct pnReport pnReport;

/* One body. Everything is copied. */
typedef struct pnReportBody {
  const char *name;
  uint32_t vertexCount;
  const uint32_t *triangles; /* 3 a triangle */
  uint32_t triangleCount;
  const char *const *groupNames; /* joints or targets that move the vertices; null when there are none */
  uint32_t groupCount;           /* at most 65535 */
  const uint16_t *vertexGroups;  /* the group that moves each vertex most, or PN_REPORT_NO_GROUP; null: none */
} pnReportBody;

typedef struct pnReportInfo {
  const char *title;        /* what was scanned: the heading of the page */
  const char *command;      /* the command line, shown so that the scan can be repeated; null: not shown */
  const char *const *files; /* names of the files, as the user wrote them */
  uint32_t fileCount;
  const char *order; /* of the findings: "depth" (also when null), "frames" or "first", as --sort has it */
  double fps;        /* playing speed; 0: from the times */
  uint32_t upAxis;   /* 0, 1, 2 for x, y, z; the default is y, as in glTF */
  const pnReportBody *bodies;
  uint32_t bodyCount;
  uint64_t byteLimit;       /* of the file; default PN_REPORT_BYTE_LIMIT */
  const char *pageTemplate; /* the page without data; null: the one built into the tool */
} pnReportInfo;

pnReportInfo pn_defaultReportInfo(void);

/* Triangles that meet: number `triangleA` of body `a` with number `triangleB` of body `b`; a = b is self contact.
 * `finding` is one more than the number of the finding they are part of; 0: none. */
typedef struct pnReportPair {
  uint32_t a, triangleA, b, triangleB;
  uint32_t finding;
} pnReportPair;

/* How deep a finding was in a frame, and where. */
typedef struct pnReportSample {
  double frame;
  double depth;
  float centre[3];
} pnReportSample;

/* Something to fix. Words are those of the tool's JSON. Everything is copied. */
typedef struct pnReportFinding {
  const char *name, *depthKind, *kind, *standing, *comment; /* comment: of the baseline; null: none */
  uint32_t clip, number;                                    /* number: that of its pairs, in its clip */
  uint32_t a, b;
  double first, last, deepest; /* numbers of frames of the clip, or of moments */
  bool unseen;                 /* only in moments: no frame shows it */
  bool repeats;                /* a deeper one says the same: it comes after those that do not */
  uint32_t frameCount;
  double depth, volume; /* volume NAN: not known */
  bool contained, fails;
  const char *const *jointsA, *const *jointsB;
  uint32_t jointCountA, jointCountB;
  float centre[3], from[3], onto[3]; /* in the deepest frame: where, and the arrow of the depth */
  const pnReportSample *samples;     /* ascending */
  uint32_t sampleCount;
} pnReportFinding;

/* What became of it. */
typedef struct pnReportStats {
  uint32_t frameCount;
  uint32_t positionFrames; /* frames whose positions are in the file */
  uint32_t pairFrames;     /* frames with pairs whose pair list is in the file */
  uint32_t contactFrames;  /* frames with pairs */
  uint64_t byteCount;      /* size of the file */
} pnReportStats;

/* False when the tool was built without npm, which makes the page: pn_reportBegin then answers PN_ERROR_UNSUPPORTED. */
bool pn_reportAvailable(void);

/* The file is opened here, so that a path that cannot be written is told before the scan and not after it. */
pnResult pn_reportBegin(const char *path, const pnReportInfo *info, pnReport **outReport);

/* The frames that follow are those of another animation; its frames are numbered, and timed, anew. A report without clips
 * has one, of no name and the report's fps. */
pnResult pn_reportClip(pnReport *report, const char *name, double fps);

/* positions[b]: 3 * vertexCount floats of body b. Pairs in any order. Numbers and times must grow within a clip.
 * After an error the report can still be ended (it has the frames before) or cancelled. */
pnResult pn_reportFrame(pnReport *report, int64_t number, double time, const float *const *positions,
                        const pnReportPair *pairs, size_t pairCount);

/* A moment between two frames: `part` thousandths (1 to 999) after frame `number`. Else as a frame. */
pnResult pn_reportMoment(pnReport *report, int64_t number, uint32_t part, double time, const float *const *positions,
                         const pnReportPair *pairs, size_t pairCount);

/* How deep the finding with this number is in the frame that comes next: the deepest frame of each is the last to be left out when the
 * file would grow past its limit. */
void pn_reportDepth(pnReport *report, uint32_t number, double depth);

/* In rank order, before the end. Pairs that were said to be of number `from` in a clip are of number `to` (pn_reportJoin). */
pnResult pn_reportFinding(pnReport *report, const pnReportFinding *finding);
pnResult pn_reportJoin(pnReport *report, uint32_t clip, uint32_t from, uint32_t to);

pnResult pn_reportNote(pnReport *report, const char *text);
/* In so many frames, and between so many and the next, not all was looked for (--max-pairs): the page says so first of all. */
void pn_reportLimited(pnReport *report, uint32_t frames, uint32_t steps);

/* Writes the file and frees the report, also on failure. `complete` is false when the scan was stopped early.
 * outStats may be null. */
pnResult pn_reportEnd(pnReport *report, bool complete, pnReportStats *outStats);

/* Frees the report; no file is left. Null is allowed. */
void pn_reportCancel(pnReport *report);

/* Why the last call of this thread failed, and what to do. */
const char *pn_reportMessage(void);

#endif
