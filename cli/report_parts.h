/* report_parts.h: what the report's files share. The public side is report.h.
 *
 *   report.c        begin, frame, note, end: the life of a report
 *   report_bytes.c  growing byte buffers, varints, deflate, base64, JSON text
 *   report_mesh.c   vertex order and predictors of one body
 *   report_frame.c  rounding, prediction and packing of positions; packing of pairs
 *   report_finding.c  the list of findings
 *   report_thin.c   what is left out when the limit is near
 *   report_write.c  the file
 */
#ifndef PN_CLI_REPORT_PARTS_H
#define PN_CLI_REPORT_PARTS_H

#include "bytes.h"
#include "report.h"

#include "pinch/io.h"

/* The template that the build made from web/ (size 0 when there was no npm). */
extern const unsigned char pn_reportTemplate[];
extern const size_t pn_reportTemplateSize;

/* ---------------------------------------------------------------- bytes */

/* Deflates (zlib format). outData is malloc'd to its exact size. */
pnResult pn_deflate(const uint8_t *data, size_t size, uint8_t **outData, size_t *outSize);
/* Characters of base64 for `size` bytes. */
size_t pn_base64Size(size_t size);
/* A long base64 text written in pieces: `carry` keeps 0 ... 2 bytes between calls. */
typedef struct pnBase64 {
  struct pnReport *report;
  uint8_t carry[3];
  uint32_t carryCount;
} pnBase64;
void pn_base64Write(pnBase64 *state, const uint8_t *data, size_t size);
void pn_base64End(pnBase64 *state);

/* Remembers the message for pn_reportMessage and hands the result through. */
pnResult pn_reportFail(pnResult result, const char *format, ...) __attribute__((format(printf, 2, 3)));
pnResult pn_reportFailMemory(void);

/* ---------------------------------------------------------------- bodies */

/* Where the prediction of a site comes from: site[a] + site[b] - site[c], numbered from 1; 0 is a site that is always
 * zero. b = c = 0 is a copy of a. Always a, b, c < own number. */
typedef struct pnPredictor {
  uint32_t a, b, c;
} pnPredictor;

typedef struct pnBodyData {
  char *name;
  uint32_t vertexCount, triangleCount;
  uint32_t *triangles; /* as given; freed once the topology is packed */
  char **groupNames;
  uint32_t groupCount;
  uint16_t *vertexGroups; /* null: none */
  uint32_t siteCount;     /* vertices that some triangle uses, in decoding order */
  uint32_t *siteVertex;   /* vertex of each site */
  pnPredictor *predictors;
  double origin[3], step; /* a position is origin + step * integer */
} pnBodyData;

/* Chooses the sites and predictors; `positions` (first frame) tells which vertices coincide. */
pnResult pn_orderBody(pnBodyData *body, const float *positions);
/* Appends predictors, triangles (as sites) and groups. */
pnResult pn_packTopology(const pnBodyData *body, pnBytes *bytes);

/* ---------------------------------------------------------------- frames */

typedef struct pnBlob {
  uint8_t *data;
  size_t size; /* 0: not stored */
} pnBlob;

#define PN_REPORT_NO_FRAME UINT32_MAX

typedef struct pnFrameData {
  int64_t number;
  uint32_t part; /* thousandths of a frame behind it: a moment; 0: a frame */
  double time;
  pnBlob positions, pairs;
  uint32_t low, high; /* frames that predict this one, PN_REPORT_NO_FRAME for a key frame */
  uint32_t rank;      /* frames of higher rank are thinned first */
  uint64_t pairCount;
  size_t countsEnd; /* end of this frame's entries in pnReport.counts */
} pnFrameData;

/* An animation: its frames are firstFrame ... up to the next clip's. */
typedef struct pnClipData {
  char *name;
  double fps;
  uint32_t firstFrame;
} pnClipData;

/* The worst frame of a pair of bodies. */
typedef struct pnWorst {
  uint32_t a, b, frame;
  uint64_t pairCount;
} pnWorst;

/* The deepest frame of a finding so far, by the number of its pairs. */
typedef struct pnDeepest {
  uint32_t clip, number, frame;
  double depth;
} pnDeepest;

#define PN_REPORT_DEEPEST 256   /* the deepest frames of this many findings, the deepest ones, are kept as well */
#define PN_REPORT_TOP 16        /* this many frames with the most pairs are never thinned before the rest is gone */
#define PN_REPORT_WORST 64      /* the worst frames of this many body pairs are kept as well */
#define PN_REPORT_BLOCK 1048576 /* bytes of frames decoded at once by the page */
#define PN_REPORT_GROUP 32      /* frames from key to key; a power of two */
#define PN_REPORT_CLIP_RANK 1   /* rank of the first frame of a clip: only frame 0 stays longer */
#define PN_REPORT_KEY_RANK 32   /* rank of an odd key frame; above it are the levels inside a group */

struct pnReport {
  pnOutFile *file;
  uint64_t written; /* bytes */
  char *title, *command, *order;
  char **files;
  uint32_t fileCount;
  double fps;
  uint32_t upAxis;
  uint64_t byteLimit;
  const char *pageTemplate;
  size_t pageTemplateSize;
  char **notes;
  uint32_t noteCount;
  uint32_t limitedFrames, limitedSteps; /* not all of these was looked for */
  uint64_t textBytes;                   /* names and notes, at most, as JSON */
  pnClipData *clips;
  uint32_t clipCount;
  pnBytes findings, joins; /* JSON: the objects of the two lists */

  pnBodyData *bodies;
  uint32_t bodyCount;
  uint32_t siteCount; /* of all bodies */
  pnBlob topology;

  pnFrameData *frames;
  uint32_t frameCount, frameCapacity;
  pnBytes counts; /* per frame: number of body pairs, then a, b, pairs of each */

  /* The open group: raw frames groupStart ... groupStart + groupFill - 1. */
  uint32_t groupSize, groupStart, groupFill;
  bool groupOpen; /* the frame at groupStart is stored: the last one of the group before */
  int32_t *groupRaw[PN_REPORT_GROUP + 1];
  int32_t *difference; /* scratch: 3 * (siteCount + 1) */
  uint32_t *folded;    /* scratch: 3 * siteCount */
  uint8_t *planes;     /* scratch: 12 * siteCount */

  /* Thinning: frames of rank >= cut are dropped unless they are kept for their pairs. */
  uint32_t positionCut, pairCut, topKeep;
  uint32_t top[PN_REPORT_TOP];
  uint32_t topCount;
  pnWorst worst[PN_REPORT_WORST];
  uint32_t worstCount;
  pnDeepest deepest[PN_REPORT_DEEPEST];
  uint32_t deepestCount;
  uint64_t positionBytes, pairBytes; /* stored, before base64 */
  bool noView;                       /* not even one frame fits: counts only */
  pnResult broken;                   /* an error after which the report cannot go on */
};

/* Rounds positions of all bodies into `raw` (3 * siteCount). */
void pn_roundPositions(const pnReport *report, const float *const *positions, int32_t *raw);
/* Encodes the frames of the open group once it is full; `last`: no frame follows, encode what is there. */
pnResult pn_flushGroup(pnReport *report, bool last);
/* Packs a sorted pair list. */
pnResult pn_packPairs(const pnReportPair *pairs, size_t pairCount, pnBlob *outBlob);

/* Packs the list of findings. */
pnResult pn_packFindings(const pnReport *report, pnBlob *outBlob);

/* ---------------------------------------------------------------- thinning */

/* Tells the keeper about a new frame; `pairs` sorted. Also appends to report->counts. */
pnResult pn_noteCounts(pnReport *report, uint32_t frame, const pnReportPair *pairs, size_t pairCount);
/* Is the frame among those kept for their pairs? */
bool pn_isKept(const pnReport *report, uint32_t frame);
/* Drops what must go for the file to stay below the limit. */
pnResult pn_thin(pnReport *report);
/* An upper bound of the file's size if it were written now. */
uint64_t pn_reportSize(const pnReport *report);

/* ---------------------------------------------------------------- the file */

/* Puts bytes into report->file, and counts them. What fails is told when the file is closed. */
void pn_reportPut(pnReport *report, const void *data, size_t size);
/* Writes the page to report->file. */
pnResult pn_writePage(pnReport *report, bool complete);

/* Where the data goes in the template. */
#define PN_REPORT_MARK "<!--PINCH-DATA-->"

#endif
