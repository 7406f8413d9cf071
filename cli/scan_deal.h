/* scan_deal.h: a scan whose frames are looked at by several, or not all at once: parts, checkpoints, ranks.
 *
 *   scan_block.c     a frame as bytes: what meets, and the finder's look at it
 *   scan_identity.c  what a scan is of, as text that can be compared: files and options
 *   scan_part.c      blocks in a file, with a head that says what they are of
 *   scan_deal.c      where the block of a frame comes from: a part, the checkpoint, another rank, this process
 *   scan_ranks.c     frames dealt out to ranks (rank.h), and back in order
 *   merge.c          `pinch merge`
 *
 * Frames of all animations are counted through, from 0 on: that is a frame's *place*. What a block holds depends on its frame
 * alone, so it does not matter who made it, nor when. Whoever takes the blocks does so in the order of their places, and with
 * them writes what one process alone would have written, byte for byte. */
#ifndef PN_CLI_SCAN_DEAL_H
#define PN_CLI_SCAN_DEAL_H

#include "bytes.h"
#include "scan.h"

/* ---------------------------------------------------------------- a frame as bytes */

/* Moves everything to frame `number`, looks at it and puts it behind `out`; with --between also at the way to it from the frame before,
 * if there is one. */
pnResult pn_blockMake(pnScan *scan, int64_t number, bool hasBefore, pnBytes *out);
/* Fills scan->frame and the findings from a block, which is read with distrust: PN_ERROR_FORMAT. */
pnResult pn_blockTake(pnScan *scan, int64_t number, const void *bytes, size_t byteCount);

/* ---------------------------------------------------------------- what a scan is of */

/* Sixteen digits that differ when bodies, animations, frames or vertices do. Reads the ends of vertex caches. */
pnResult pn_identifyInputs(pnScan *scan, char out[17]);
/* The options that change what a frame's block holds. */
void pn_identifyOptions(const pnScanOptions *options, pnBytes *out);

/* ---------------------------------------------------------------- blocks in a file */

/* A part that is read. */
typedef struct pnPart {
  FILE *file;
  char *path;
  json_t *head;
  uint32_t begin, end;    /* its frames' places */
  uint32_t number, count; /* part `number` of `count`, from 1; 0 of 0: a checkpoint of a whole scan */
  uint32_t next;          /* the place of the block that comes next */
  uint64_t goodBytes;     /* where that block begins */
  pnBytes packed, block;
} pnPart;

/* Puts the head of a part, or of a checkpoint, behind `out`. */
pnResult pn_partHead(pnScan *scan, pnBytes *out);
/* Puts the block of the frame at `place` behind `out`, packed and with a check. */
pnResult pn_partRecord(uint32_t place, const void *block, size_t byteCount, pnBytes *out);

/* Opens a file and reads its head. PN_ERROR_FORMAT: this is none, or it is damaged. */
pnResult pn_openPart(const char *path, const char *mode, pnPart **outPart);
void pn_closePart(pnPart *part); /* null is allowed */
/* Is it of this scan? PN_ERROR_ARGUMENT says what differs. */
pnResult pn_comparePart(pnScan *scan, const pnPart *part);
/* The next block; lives until the next call. PN_ERROR_FORMAT: it is damaged, or the file ends. */
pnResult pn_readPart(pnPart *part, const void **outBytes, size_t *outByteCount);

/* ---------------------------------------------------------------- ranks */

typedef struct pnRanks pnRanks;

/* What is dealt out: places from `begin` to `end`, of which each rank can make a block. */
typedef struct pnRankWork {
  pnResult (*make)(void *context, uint32_t number, pnBytes *out); /* puts the block of a number behind `out` */
  void *context;
  const uint32_t *
      numbers; /* of rank 0: the number at each place, when only some are to be made; then one at a time. Null: the place */
  uint32_t begin, end;
  uint32_t start;       /* where the whole begins, for the sign of life: those before `begin` are known */
  uint32_t mostPortion; /* no more at once */
} pnRankWork;

/* Rank 0. */
pnResult pn_ranksMake(const pnRankWork *work, pnRanks **outRanks);
/* Rank 0: the block of `place`, whoever makes it; lives until the next call. Places ascend by one. */
pnResult pn_ranksFetch(pnRanks *ranks, uint32_t place, const void **outBytes, size_t *outByteCount);
/* All others: make blocks until rank 0 says stop. ready: an error says why this rank cannot. */
bool pn_ranksServe(const pnRankWork *work, pnResult ready);
/* Everybody, at the end of the program, with its exit status. */
void pn_ranksLeave(int status);
void pn_ranksFree(pnRanks *ranks); /* null is allowed */

/* ---------------------------------------------------------------- dealing */

/* Where blocks come from and go to. */
typedef struct pnDeal {
  uint32_t begin, end; /* the places that are looked at here: all, or those of a part */
  /* merging */
  pnPart **parts; /* in the order of their places */
  uint32_t partCount, part;
  /* a checkpoint */
  pnPart *checkpoint;
  bool checkpointEnds; /* what it had has been read */
  /* a part to be written */
  pnOutFile *out;
  pnRanks *ranks;   /* null: none yet */
  uint32_t lookRun; /* the animation that the looker is set up for; PN_NONE: none */
  pnScanBetween
      between; /* of who looks; scan->between is of who takes. begun: the bodies stand in that frame, and nobody moved them since */
  pnBytes block, record; /* memory */
} pnDeal;

/* Is this scan dealt out? Makes scan->deal then. Once the frames are known. */
pnResult pn_dealMake(pnScan *scan);
/* Looks at the frame at `place`, of whatever animation, and puts its block behind `out`. */
pnResult pn_dealLook(pnScan *scan, uint32_t place, pnBytes *out);
/* The frames from `begin` on, for ranks. */
pnRankWork pn_dealWork(pnScan *scan, uint32_t begin);
/* Opens the files it needs. Before the first frame. */
pnResult pn_dealOpen(pnScan *scan);
/* Gets the frame at `place`, wherever it comes from, and takes it, unless it only goes to a part. */
pnResult pn_dealFrame(pnScan *scan, uint32_t place, int64_t number);
/* good: the scan is whole; a part takes its place and a checkpoint is not needed any more. */
pnResult pn_dealClose(pnScan *scan, bool good);
void pn_dealFree(pnScan *scan);

#endif
