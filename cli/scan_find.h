/* scan_find.h: findings of a scan: what the library's finder says, over all animations, and how it stands to what is known.
 *
 *   scan_find.c      the finder: its bodies, a frame, the end of an animation
 *   scan_carrier.c   what carries each triangle rigidly in an animation
 *   scan_list.c      the list of findings: which count, in which order, what they are called
 *   scan_baseline.c  what is known and accepted: read, compared, written
 *   scan_findings.c  the list as a person reads it
 *   scan_json.c      JSON
 *   scan_ci.c        JUnit and SARIF */
#ifndef PN_CLI_SCAN_FIND_H
#define PN_CLI_SCAN_FIND_H

#include "pinch/find.h"
#include "pinch/io.h"

#include <jansson.h>

struct pnScan;

/* So many joints of either side are named. */
#define PN_FINDING_JOINTS 8

/* A finding, kept beyond its animation. */
typedef struct pnScanFinding {
  pnFinding
      core; /* its pointers are not valid any more: joints and samples are below. a and b are numbers of the scan's bodies */
  uint32_t run;
  const char *jointsA[PN_FINDING_JOINTS], *jointsB[PN_FINDING_JOINTS];
  uint32_t jointCountA, jointCountB;
  pnFindingSample *samples;
  uint32_t sampleCount;
  bool unseen;         /* only in moments between frames: no frame shows it (--between) */
  pnStanding standing; /* PN_STANDING_NEW without a baseline */
  uint32_t known;      /* number of the baseline's entry; PN_NONE */
} pnScanFinding;

/* Regions of animation `run` that were called `from` belong to the finding with the number `to`. */
typedef struct pnScanJoin {
  uint32_t run, from, to;
} pnScanJoin;

/* An entry of a baseline. */
typedef struct pnBaselineEntry {
  pnKnownFinding known;
  const char *animation, *comment; /* "" for none; text belongs to the JSON */
  bool unseen;                     /* found with --between, in no frame */
  bool matched;
} pnBaselineEntry;

typedef struct pnBaseline {
  json_t *root; /* owns all texts */
  pnBaselineEntry *entries;
  uint32_t count;
  pnCompareDef tolerance;
} pnBaseline;

/* All of it; zeroed is empty. */
typedef struct pnScanFindings {
  pnFinder *finder; /* null: findings were not asked for (--first) */
  pnFinder *looker; /* looks at frames for others to take; null: finder does both */
  uint32_t *bodies; /* the scan's body for each of the finder's */
  uint32_t bodyCount, bodyCapacity;
  pnFinderContact *contacts;
  uint32_t contactCapacity;
  uint32_t numberEnd; /* above every number of a finding that a region of this animation had */
  uint8_t *shown;     /* one each: a frame shows it, and not only a moment (--between) */
  size_t shownCapacity;
  uint64_t dropped;
  pnScanFinding *items; /* ranked once the scan is over */
  uint32_t count, capacity;
  uint32_t shallow; /* left out by --min-depth */
  pnScanJoin *joins;
  uint32_t joinCount, joinCapacity;
  pnBaseline baseline;
} pnScanFindings;

/* ---------------------------------------------------------------- the finder */

pnResult pn_findBegin(struct pnScan *scan);      /* once the world is there */
pnResult pn_findBeginRun(struct pnScan *scan);   /* before the first frame of an animation */
pnResult pn_findBeginLooks(struct pnScan *scan); /* before the first look at one */
/* The contacts of the frame as the world has them; `rest`: of the rest pose. */
pnResult pn_findFrame(struct pnScan *scan, bool rest);
/* The same in two steps (pinch/find.h): a look at the frame as bytes, which live until the next; and a look is taken. Nothing
 * without findings. */
pnResult pn_findLook(struct pnScan *scan, const void **outBytes, size_t *outByteCount);
pnResult pn_findTake(struct pnScan *scan, const void *bytes, size_t byteCount);
pnResult pn_findEndRun(struct pnScan *scan); /* its findings go to the list */
void pn_findEnd(struct pnScan *scan);        /* frees everything */
/* Gives the bodies of an animation to the finder as what carries them. */
pnResult pn_findSetCarriers(struct pnScan *scan, pnFinder *finder);

/* ---------------------------------------------------------------- the list */

/* Takes the finder's findings of this animation into the list. */
pnResult pn_listTake(struct pnScan *scan);
/* Ranks the whole list, once all animations are in it. */
void pn_listRank(struct pnScan *scan);
/* Does it make the exit status 1? */
bool pn_listFails(const struct pnScan *scan, const pnScanFinding *finding);
uint32_t pn_listCountFailing(const struct pnScan *scan);
/* "unseen" where no frame shows it, else as pn_kindWord. */
const char *pn_findingWord(const pnScanFinding *finding);
/* "12", "12.371"; "12-18". */
void pn_describeFrames(const struct pnScan *scan, const pnScanFinding *finding, char *text, size_t size);
/* A frame's number as JSON: whole, or with the fraction of a moment. */
json_t *pn_frameJson(double number);
/* "new", "growing", "constant"; "inside", "through", "curve", "none"; "new", "deeper", "longer", "known". */
const char *pn_kindWord(pnFindingKind kind);
const char *pn_depthWord(pnDepthKind kind);
const char *pn_standingWord(pnStanding standing);
/* "body and coat", "coat and itself". */
void pn_describeBodies(const struct pnScan *scan, const pnScanFinding *finding, char *text, size_t size);
/* "hand.L, forearm.L | hips": at most `most` of a's side, then of b's; "hand.L | sword" where the sword has none; "" where neither has. */
void pn_describeJoints(const struct pnScan *scan, const pnScanFinding *finding, uint32_t most, char *text, size_t size);
/* "The whole thing in a sentence: coat and body, 0.031 deep, frames 229-278, deepest in 264." */
void pn_describeFinding(const struct pnScan *scan, const pnScanFinding *finding, char *text, size_t size);

/* ---------------------------------------------------------------- what is known */

pnResult pn_readBaseline(const char *path, pnBaseline *outBaseline);
/* Compares the findings that the finder has now with the entries of this animation; one standing and match for each. */
pnResult pn_compareBaseline(struct pnScan *scan, uint32_t count, pnStanding *standings, uint32_t *matches);
pnResult pn_writeBaseline(const struct pnScan *scan, pnOutFile *file);
/* Was it looked for and not found? */
bool pn_isFixed(const struct pnScan *scan, const pnBaselineEntry *entry);
void pn_freeBaseline(pnBaseline *baseline);

/* ---------------------------------------------------------------- showing */

bool pn_printFindings(const struct pnScan *scan);
void pn_writeJunit(const struct pnScan *scan, pnOutFile *file);
pnResult pn_writeSarif(const struct pnScan *scan, pnOutFile *file);

#endif
