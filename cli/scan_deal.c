/* scan_deal.c: where the block of a frame comes from: a part, the checkpoint, this process; and where it goes to.
 *
 *   --part 3/8        looks at an eighth of the frames, and writes their blocks into a file
 *   pinch merge       reads the blocks of all parts and takes them, as if it had looked itself
 *   --resume FILE     puts every block into FILE too; what is in there when a scan begins need not be looked at again */
#include "rank.h"
#include "scan_deal.h"

#include "out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* ---------------------------------------------------------------- what is to be done */

static bool isDealt(const pnScanOptions *options) {
  return options->partCount > 0 || options->resume || options->mergeCount > 0 ||
         (pn_rankCount() > 1 && !options->alone);
}

pnResult pn_dealMake(pnScan *scan) {
  const pnScanOptions *options = scan->options;
  if (!isDealt(options)) return PN_OK;
  scan->deal = calloc(1, sizeof(pnDeal));
  if (!scan->deal) return pnFail(PN_ERROR_MEMORY, "out of memory");
  scan->deal->lookRun = PN_NONE;
  uint64_t total = scan->frameTotal, number = options->partNumber, count = options->partCount;
  scan->deal->begin = count > 0 ? (uint32_t)((number - 1) * total / count) : 0;
  scan->deal->end = count > 0 ? (uint32_t)(number * total / count) : scan->frameTotal;
  return PN_OK;
}

/* ---------------------------------------------------------------- merging */

static int comparePlaces(const void *left, const void *right) {
  const pnPart *x = *(pnPart *const *)left, *y = *(pnPart *const *)right;
  return x->number != y->number ? (x->number < y->number ? -1 : 1) : strcmp(x->path, y->path);
}

/* Are they parts 1, 2, ... of so many, each once? */
static pnResult checkNumbers(const pnDeal *deal) {
  for (uint32_t i = 0; i < deal->partCount; ++i) {
    const pnPart *part = deal->parts[i], *last = i > 0 ? deal->parts[i - 1] : NULL;
    if (part->count == 0)
      return pnFail(PN_ERROR_ARGUMENT, "%s: is a checkpoint, not a part: go on with it (--resume)", part->path);
    if (part->count != deal->parts[0]->count)
      return pnFail(PN_ERROR_ARGUMENT, "%s: is one of %u parts, and %s one of %u", part->path, part->count,
                    deal->parts[0]->path, deal->parts[0]->count);
    if (last && last->number == part->number)
      return pnFail(PN_ERROR_ARGUMENT, "%s and %s are both part %u of %u", last->path, part->path, part->number,
                    part->count);
    if (part->number != i + 1) return pnFail(PN_ERROR_ARGUMENT, "part %u of %u is missing", i + 1, part->count);
  }
  if (deal->partCount != deal->parts[0]->count)
    return pnFail(PN_ERROR_ARGUMENT, "part %u of %u is missing", deal->partCount + 1, deal->parts[0]->count);
  return PN_OK;
}

static pnResult openParts(pnScan *scan) {
  pnDeal *deal = scan->deal;
  const pnScanOptions *options = scan->options;
  pnResult result = PN_OK;
  deal->parts = calloc(options->mergeCount, sizeof(pnPart *));
  if (!deal->parts) return pnFail(PN_ERROR_MEMORY, "out of memory for %u parts", options->mergeCount);
  for (uint32_t i = 0; i < options->mergeCount && result == PN_OK; ++i) {
    pnPart *part;
    result = pn_openPart(options->merge[i], "rb", &part);
    if (result != PN_OK) break;
    deal->parts[deal->partCount++] = part;
    result = pn_comparePart(scan, part);
    // Thousands of parts are more than files may be open: it is opened again when its turn comes.
    fclose(part->file);
    part->file = NULL;
  }
  if (result != PN_OK) return result;
  qsort(deal->parts, deal->partCount, sizeof(pnPart *), comparePlaces);
  return checkNumbers(deal);
}

/* The block at `place`, of the part that has it. */
static pnResult readMerged(pnDeal *deal, uint32_t place, const void **outBytes, size_t *outByteCount) {
  while (deal->part < deal->partCount && place >= deal->parts[deal->part]->end) ++deal->part;
  if (deal->part == deal->partCount) return pnFail(PN_ERROR_FORMAT, "the parts have no frame %u", place);
  pnPart *part = deal->parts[deal->part];
  if (!part->file) {
    pnPart *again;
    pnResult result = pn_openPart(part->path, "rb", &again);
    if (result != PN_OK) return result;
    bool same = json_equal(again->head, part->head);
    if (same) deal->parts[deal->part] = again;
    pn_closePart(same ? part : again);
    if (!same) return pnFail(PN_ERROR_FORMAT, "%s: has changed while it was merged", part->path);
    part = again;
  }
  if (part->next != place) return pnFail(PN_ERROR_FORMAT, "%s: its frames are not in order", part->path);
  pnResult result = pn_readPart(part, outBytes, outByteCount);
  // Nothing may stand behind the last one.
  if (result == PN_OK && part->next == part->end && fgetc(part->file) != EOF)
    return pnFail(PN_ERROR_FORMAT, "%s: is damaged: it goes on behind its last frame", part->path);
  return result;
}

/* ---------------------------------------------------------------- a checkpoint */

/* Opens what is there, or begins anew. */
static pnResult openCheckpoint(pnScan *scan) {
  const char *path = scan->options->resume;
  pnDeal *deal = scan->deal;
  bool there = access(path, F_OK) == 0;
  pnResult result = there ? pn_openPart(path, "r+b", &deal->checkpoint) : PN_OK;
  if (result == PN_ERROR_FORMAT && deal->checkpoint == NULL) {
    // Ended while the first bytes were written: an empty or half a head is a beginning. Anything else is somebody's file.
    FILE *file = fopen(path, "rb");
    char mark[14] = {0};
    size_t have = file ? fread(mark, 1, 13, file) : 13;
    if (file) fclose(file);
    if (memcmp(mark, "pinch part 1\n", have) != 0) return result;
    there = false;
    result = PN_OK;
  }
  if (result == PN_OK && !there) {
    pnBytes head = {0};
    FILE *file = fopen(path, "wb");
    result =
        file ? pn_partHead(scan, &head) : pnFail(PN_ERROR_FILE, "%s: cannot be written: %s", path, strerror(errno));
    bool written = result != PN_OK || fwrite(head.data, 1, head.size, file) == head.size;
    if (file && fclose(file) != 0) written = false;
    if (!written) result = pnFail(PN_ERROR_FILE, "%s: cannot be written: %s", path, strerror(errno));
    pn_bytesFree(&head);
    if (result == PN_OK) result = pn_openPart(path, "r+b", &deal->checkpoint);
  }
  if (result != PN_OK) return result;
  if (flock(fileno(deal->checkpoint->file), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return pnFail(PN_ERROR_FILE, "%s: another scan is going on with it", path);
  result = pn_comparePart(scan, deal->checkpoint);
  if (result == PN_OK && (deal->checkpoint->begin != deal->begin || deal->checkpoint->end != deal->end))
    result = pnFail(PN_ERROR_ARGUMENT, "%s: is of other frames (part %u of %u)", path, deal->checkpoint->number,
                    deal->checkpoint->count);
  return result;
}

/* The block at `place` when the checkpoint has it; null behind its last whole one, which is cut off there. */
static pnResult readCheckpoint(pnDeal *deal, uint32_t place, const void **outBytes, size_t *outByteCount) {
  pnPart *file = deal->checkpoint;
  *outBytes = NULL;
  if (!file || deal->checkpointEnds) return PN_OK;
  pnResult result =
      file->next == place && place < file->end ? pn_readPart(file, outBytes, outByteCount) : PN_ERROR_FORMAT;
  if (result != PN_ERROR_FORMAT) return result;
  deal->checkpointEnds = true;
  *outBytes = NULL;
  bool good = ftruncate(fileno(file->file), (off_t)file->goodBytes) == 0 &&
              fseeko(file->file, (off_t)file->goodBytes, SEEK_SET) == 0;
  return good ? PN_OK : pnFail(PN_ERROR_FILE, "%s: cannot be written: %s", file->path, strerror(errno));
}

/* Given to the system at once: what kills this process does not undo it. */
static pnResult writeCheckpoint(pnDeal *deal) {
  pnPart *file = deal->checkpoint;
  bool good =
      fwrite(deal->record.data, 1, deal->record.size, file->file) == deal->record.size && fflush(file->file) == 0;
  return good ? PN_OK : pnFail(PN_ERROR_FILE, "%s: cannot be written: %s", file->path, strerror(errno));
}

/* ---------------------------------------------------------------- a part */

/* "hero.3-of-8.pinch", of the first file's name, here. */
static void namePart(const pnScan *scan, char *out, size_t size) {
  char name[200];
  snprintf(name, sizeof(name), "%s", pn_baseName(scan->sources[0].word));
  char *dot = strrchr(name, '.');
  if (dot && dot != name) *dot = 0;
  snprintf(out, size, "%s.%u-of-%u.pinch", name, scan->options->partNumber, scan->options->partCount);
}

static pnResult openOut(pnScan *scan) {
  char name[256];
  namePart(scan, name, sizeof(name));
  pnResult result = pnOpenOutFile(scan->options->partFile ? scan->options->partFile : name, &scan->deal->out);
  pnBytes head = {0};
  if (result == PN_OK) result = pn_partHead(scan, &head);
  if (result == PN_OK) pnOutFile_Write(scan->deal->out, head.data, head.size);
  pn_bytesFree(&head);
  return result;
}

/* ---------------------------------------------------------------- the frames */

pnResult pn_dealOpen(pnScan *scan) {
  pnResult result = PN_OK;
  if (!scan->deal) return PN_OK;
  if (scan->options->mergeCount > 0) result = openParts(scan);
  if (result == PN_OK && scan->options->resume) result = openCheckpoint(scan);
  if (result == PN_OK && scan->options->partCount > 0) result = openOut(scan);
  return result;
}

/* The looker goes from one animation to another, and what is taken meanwhile stays where it is. */
pnResult pn_dealLook(pnScan *scan, uint32_t place, pnBytes *out) {
  pnDeal *deal = scan->deal;
  uint32_t r = 0, first = 0, before = scan->run;
  while (r + 1 < scan->runCount && place - first >= scan->runs[r].range.count) first += scan->runs[r++].range.count;
  pn_scanBeginRun(scan, r);
  pnResult result = deal->lookRun != r ? pn_findBeginLooks(scan) : PN_OK;
  deal->lookRun = result == PN_OK ? r : PN_NONE;
  if (result == PN_OK)
    result = pn_blockMake(scan, scan->range.first + (int64_t)(place - first) * scan->range.step, place > first, out);
  pn_scanBeginRun(scan, before);
  return result;
}

static pnResult lookFor(void *context, uint32_t place, pnBytes *out) {
  return pn_dealLook(context, place, out);
}

pnRankWork pn_dealWork(pnScan *scan, uint32_t begin) {
  // Frames of a portion that a rank has follow one another; more than so many gain nothing.
  uint32_t end = scan->deal ? scan->deal->end : 0, start = scan->deal ? scan->deal->begin : 0;
  return (pnRankWork){lookFor, scan, NULL, begin, end, start, 32};
}

pnResult pn_dealFrame(pnScan *scan, uint32_t place, int64_t number) {
  pnDeal *deal = scan->deal;
  const void *bytes = NULL;
  size_t byteCount = 0;
  pnResult result = deal->parts ? readMerged(deal, place, &bytes, &byteCount) : PN_OK;
  if (result == PN_OK && !bytes) result = readCheckpoint(deal, place, &bytes, &byteCount);
  bool stored = bytes != NULL;
  if (result == PN_OK && !bytes && pn_rankCount() > 1) {
    pnRankWork work = pn_dealWork(scan, place);
    if (!deal->ranks) result = pn_ranksMake(&work, &deal->ranks);
    if (result == PN_OK) result = pn_ranksFetch(deal->ranks, place, &bytes, &byteCount);
  }
  if (result == PN_OK && !bytes) {
    deal->block.size = 0;
    result = pn_dealLook(scan, place, &deal->block);
    bytes = deal->block.data;
    byteCount = deal->block.size;
  }
  deal->record.size = 0;
  bool keep = deal->checkpoint && !stored;
  if (result == PN_OK && (keep || deal->out)) result = pn_partRecord(place, bytes, byteCount, &deal->record);
  if (result == PN_OK && keep) result = writeCheckpoint(deal);
  if (result != PN_OK) return result;
  if (deal->out) pnOutFile_Write(deal->out, deal->record.data, deal->record.size);
  else result = pn_blockTake(scan, number, bytes, byteCount);
  if (result == PN_ERROR_FORMAT && stored)
    return pnFail(PN_ERROR_FORMAT, "%s: %.800s", deal->parts ? deal->parts[deal->part]->path : deal->checkpoint->path,
                  pnGetMessage());
  return result;
}

pnResult pn_dealClose(pnScan *scan, bool good) {
  pnDeal *deal = scan->deal;
  if (!deal) return PN_OK;
  pnResult result = deal->out ? pnCloseOutFile(deal->out, good) : PN_OK;
  deal->out = NULL;
  if (deal->checkpoint && good && result == PN_OK) remove(deal->checkpoint->path);
  return result;
}

void pn_dealFree(pnScan *scan) {
  pnDeal *deal = scan->deal;
  if (!deal) return;
  for (uint32_t i = 0; i < deal->partCount; ++i) pn_closePart(deal->parts[i]);
  free(deal->parts);
  pn_closePart(deal->checkpoint);
  if (deal->out) pnCloseOutFile(deal->out, false);
  pn_ranksFree(deal->ranks);
  pn_bytesFree(&deal->block);
  pn_bytesFree(&deal->record);
  pn_betweenEnd(&deal->between);
  free(deal);
  scan->deal = NULL;
}
