/* scan_part.c: blocks of frames in a file: a part of a scan that somebody else merges, or a checkpoint to go on from.
 *
 *   "pinch part 1\n"
 *   01020304 as this machine has it      another order of bytes is refused
 *   bytes of the head, its CRC-32, the head: JSON that says what the scan is of
 *   each frame: its place, bytes packed, bytes unpacked, CRC-32 of these three and of what follows, the block deflated
 *
 * A part is written whole or not at all and has every frame from its first to its last. A checkpoint grows frame by frame and may
 * end anywhere: what is whole of it counts. */
#include "out.h"
#include "scan_deal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PART_MARK "pinch part 1\n"
#define PART_ORDER 0x01020304u
/* A head is a command line and a few numbers. */
#define PART_HEAD_LIMIT (16u << 20)
/* Deflate packs no better than this: what claims to is no block. */
#define PART_MOST_PACKED 1040u

/* ---------------------------------------------------------------- writing */

static void putU32(pnBytes *out, uint32_t x) {
  pn_bytesAdd(out, &x, sizeof(x));
}

/* The words of the command line, without those that say which part it is and where it goes. */
static json_t *wordsJson(const pnScanOptions *options) {
  json_t *list = json_array();
  for (int i = 0; i < options->wordCount; ++i) json_array_append_new(list, pn_jsonText(options->words[i]));
  return list;
}

pnResult pn_partHead(pnScan *scan, pnBytes *out) {
  const pnScanOptions *options = scan->options;
  char inputs[17];
  pnBytes optionText = {0};
  pnResult result = pn_identifyInputs(scan, inputs);
  if (result != PN_OK) return result;
  pn_identifyOptions(options, &optionText);
  json_t *head =
      json_pack("{s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:o}", "pinch", pnGetVersion(), "inputs", inputs, "options",
                pn_jsonText(optionText.failed ? "" : (char *)optionText.data), "frames", (json_int_t)scan->frameTotal,
                "begin", (json_int_t)scan->deal->begin, "end", (json_int_t)scan->deal->end, "part",
                (json_int_t)options->partNumber, "parts", (json_int_t)options->partCount, "words", wordsJson(options));
  char *text = head ? json_dumps(head, JSON_COMPACT) : NULL;
  json_decref(head);
  if (text) {
    pn_bytesText(out, PART_MARK);
    putU32(out, PART_ORDER);
    putU32(out, (uint32_t)strlen(text));
    putU32(out, (uint32_t)crc32(0, (const Bytef *)text, (uInt)strlen(text)));
    pn_bytesText(out, text);
  }
  bool good = text && !out->failed && !optionText.failed;
  free(text);
  pn_bytesFree(&optionText);
  return good ? PN_OK : pnFail(PN_ERROR_MEMORY, "out of memory for the head of a part");
}

/* The check of a record: its three numbers, and its bytes. */
static uint32_t checkOf(const uint32_t numbers[3], const void *packed, uint32_t size) {
  uLong check = crc32(0, (const Bytef *)numbers, 3 * sizeof(uint32_t));
  return (uint32_t)crc32(check, packed, size);
}

pnResult pn_partRecord(uint32_t place, const void *block, size_t byteCount, pnBytes *out) {
  uLongf size = compressBound((uLong)byteCount);
  if (byteCount > INT32_MAX || size > UINT32_MAX)
    return pnFail(PN_ERROR_COUNT, "what meets in this frame takes %zu bytes, too many for a part", byteCount);
  uint8_t *packed = malloc(size);
  // The fastest level: half the size of a better one is not worth twice the time of looking.
  bool good = packed && compress2(packed, &size, block, (uLong)byteCount, 1) == Z_OK;
  if (good) {
    uint32_t numbers[3] = {place, (uint32_t)size, (uint32_t)byteCount};
    pn_bytesAdd(out, numbers, sizeof(numbers));
    putU32(out, checkOf(numbers, packed, (uint32_t)size));
    pn_bytesAdd(out, packed, size);
  }
  free(packed);
  return good && !out->failed ? PN_OK : pnFail(PN_ERROR_MEMORY, "out of memory for a frame of a part");
}

/* ---------------------------------------------------------------- reading */

/* So many bytes, or false at the end of the file. */
static bool take(FILE *file, void *to, size_t bytes) {
  return fread(to, 1, bytes, file) == bytes;
}

static bool makeRoom(pnBytes *bytes, size_t size) {
  if (size > bytes->capacity) {
    uint8_t *data = realloc(bytes->data, size);
    if (!data) return false;
    bytes->data = data;
    bytes->capacity = size;
  }
  bytes->size = size;
  return true;
}

/* Reads into memory that grows with what is really there, not with what is claimed. */
static pnResult takeMany(pnPart *part, size_t size) {
  enum { STEP = 1 << 20 };
  part->packed.size = 0;
  for (size_t have = 0; have < size;) {
    size_t step = size - have < STEP ? size - have : STEP;
    if (!makeRoom(&part->packed, have + step)) return pnFail(PN_ERROR_MEMORY, "%s: out of memory", part->path);
    if (!take(part->file, part->packed.data + have, step)) return PN_ERROR_FORMAT;
    have += step;
  }
  return PN_OK;
}

static uint32_t numberOf(const json_t *head, const char *key, uint32_t most, bool *good) {
  const json_t *value = json_object_get(head, key);
  json_int_t number = json_integer_value(value);
  *good = *good && json_is_integer(value) && number >= 0 && number <= most;
  return (uint32_t)number;
}

static pnResult readHead(pnPart *part) {
  char mark[sizeof(PART_MARK) - 1];
  uint32_t numbers[3];
  if (!take(part->file, mark, sizeof(mark)) || memcmp(mark, PART_MARK, sizeof(mark)) != 0)
    return pnFail(PN_ERROR_FORMAT, "%s: is no part of a scan (pinch scan --part writes them)", part->path);
  if (!take(part->file, numbers, sizeof(numbers))) numbers[0] = PART_ORDER, numbers[1] = 0;
  if (numbers[0] != PART_ORDER)
    return pnFail(PN_ERROR_UNSUPPORTED, "%s: comes from a machine with another order of bytes, or is damaged",
                  part->path);
  pnResult result = numbers[1] > 0 && numbers[1] < PART_HEAD_LIMIT ? takeMany(part, numbers[1]) : PN_ERROR_FORMAT;
  if (result == PN_ERROR_MEMORY) return result;
  bool good = result == PN_OK && crc32(0, part->packed.data, (uInt)numbers[1]) == numbers[2];
  if (good) part->head = json_loadb((char *)part->packed.data, numbers[1], JSON_REJECT_DUPLICATES, NULL);
  good = good && json_is_object(part->head) && json_is_array(json_object_get(part->head, "words"));
  uint32_t frames = numberOf(part->head, "frames", UINT32_MAX / 2, &good);
  part->end = numberOf(part->head, "end", frames, &good);
  part->begin = part->next = numberOf(part->head, "begin", part->end, &good);
  part->count = numberOf(part->head, "parts", UINT32_MAX / 2, &good);
  part->number = numberOf(part->head, "part", part->count, &good);
  part->goodBytes = sizeof(mark) + sizeof(numbers) + numbers[1];
  return good ? PN_OK : pnFail(PN_ERROR_FORMAT, "%s: is damaged: its head is not whole", part->path);
}

pnResult pn_openPart(const char *path, const char *mode, pnPart **outPart) {
  *outPart = NULL;
  pnPart *part = calloc(1, sizeof(pnPart));
  if (part) part->path = strdup(path);
  if (!part || !part->path) {
    free(part);
    return pnFail(PN_ERROR_MEMORY, "%s: out of memory", path);
  }
  part->file = fopen(path, mode);
  pnResult result =
      part->file ? readHead(part) : pnFail(PN_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
  if (result == PN_OK) *outPart = part;
  else pn_closePart(part);
  return result;
}

void pn_closePart(pnPart *part) {
  if (!part) return;
  if (part->file) fclose(part->file);
  json_decref(part->head);
  pn_bytesFree(&part->packed);
  pn_bytesFree(&part->block);
  free(part->path);
  free(part);
}

static const char *textOf(const pnPart *part, const char *key) {
  const char *text = json_string_value(json_object_get(part->head, key));
  return text ? text : "";
}

pnResult pn_comparePart(pnScan *scan, const pnPart *part) {
  char inputs[17];
  pnBytes options = {0};
  pnResult result = pn_identifyInputs(scan, inputs);
  if (result != PN_OK) return result;
  pn_identifyOptions(scan->options, &options);
  if (options.failed) return pnFail(PN_ERROR_MEMORY, "out of memory for the options");
  json_int_t frames = json_integer_value(json_object_get(part->head, "frames"));
  if (strcmp(textOf(part, "pinch"), pnGetVersion()) != 0)
    result = pnFail(PN_ERROR_ARGUMENT, "%s: was made by pinch %s, and this is %s", part->path, textOf(part, "pinch"),
                    pnGetVersion());
  else if (strcmp(textOf(part, "options"), (char *)options.data) != 0)
    result = pnFail(PN_ERROR_ARGUMENT, "%s: was made with other options:%s and not%s", part->path,
                    textOf(part, "options"), (char *)options.data);
  else if (strcmp(textOf(part, "inputs"), inputs) != 0 || frames != (json_int_t)scan->frameTotal)
    result = pnFail(PN_ERROR_ARGUMENT, "%s: was made of other files, or they have changed since", part->path);
  pn_bytesFree(&options);
  return result;
}

pnResult pn_readPart(pnPart *part, const void **outBytes, size_t *outByteCount) {
  uint32_t numbers[3], check;
  bool good = take(part->file, numbers, sizeof(numbers)) && take(part->file, &check, sizeof(check)) &&
              numbers[0] == part->next && numbers[2] <= (uint64_t)PART_MOST_PACKED * numbers[1] + 64;
  pnResult result = good ? takeMany(part, numbers[1]) : PN_ERROR_FORMAT;
  if (result == PN_OK && checkOf(numbers, part->packed.data, numbers[1]) != check) result = PN_ERROR_FORMAT;
  if (result == PN_OK && !makeRoom(&part->block, (size_t)numbers[2] + 1))
    result = pnFail(PN_ERROR_MEMORY, "%s: out of memory", part->path);
  if (result == PN_OK) {
    uLongf size = numbers[2];
    int unpacked = uncompress(part->block.data, &size, part->packed.data, numbers[1]);
    if (unpacked != Z_OK || size != numbers[2]) result = PN_ERROR_FORMAT;
  }
  if (result == PN_ERROR_FORMAT)
    return pnFail(PN_ERROR_FORMAT, "%s: is damaged or cut off at its frame %u of %u", part->path,
                  part->next - part->begin + 1, part->end - part->begin);
  if (result != PN_OK) return result;
  ++part->next;
  part->goodBytes += sizeof(numbers) + sizeof(check) + numbers[1];
  *outBytes = part->block.data;
  *outByteCount = numbers[2];
  return PN_OK;
}
