/* report_read.h: reads a report back, written apart from the writer and from the page, for the tests to compare.
 * The format is in docs/report.md. Everything is asserted: a test that reads a damaged file fails here. */
#ifndef PN_TEST_REPORT_READ_H
#define PN_TEST_REPORT_READ_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct ReadFrame {
  int64_t number;
  double time;
  size_t pairsAt, pairsSize, positionsAt, positionsSize; /* in `blocks` */
  uint32_t low, high;                                    /* UINT32_MAX: none */
  uint32_t kindCount;
  uint64_t kinds[64][3], total;
  int32_t *raw; /* decoded, null when not stored */
} ReadFrame;

typedef struct ReadReport {
  char *text;
  size_t textSize;
  json_t *meta;
  uint32_t bodyCount, frameCount, siteCount;
  uint32_t *predictors[64], *triangles[64], *groups[64];
  uint32_t sites[64], triangleCounts[64];
  double origin[64][3], step[64];
  ReadFrame *frames;
  uint8_t *blocks; /* all blocks, one after the other */
} ReadReport;

typedef struct Cursor {
  const uint8_t *at, *end;
} Cursor;

static inline uint64_t readVarint(Cursor *cursor) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    assert_true(cursor->at < cursor->end);
    value |= (uint64_t)(*cursor->at & 0x7f) << shift;
    if (*cursor->at++ < 0x80) return value;
  }
}

static inline int64_t readSigned(Cursor *cursor) {
  uint64_t value = readVarint(cursor);
  return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Appends the bytes of base64 text; returns how many. */
static inline size_t decodeBase64(const char *text, size_t size, uint8_t *out) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t count = 0;
  assert_int_equal(size % 4, 0);
  for (size_t i = 0; i < size; i += 4) {
    uint32_t bits = 0, pad = 0;
    for (size_t k = 0; k < 4; ++k) {
      const char *digit = strchr(digits, text[i + k]);
      pad += text[i + k] == '=';
      assert_true(text[i + k] == '=' || (digit != NULL && pad == 0));
      bits = bits << 6 | (text[i + k] == '=' ? 0 : (uint32_t)(digit - digits));
    }
    assert_true(pad == 0 || i + 4 == size);
    for (uint32_t k = 0; k < 3 - pad; ++k) out[count++] = (uint8_t)(bits >> (16 - 8 * k));
  }
  return count;
}

static inline uint8_t *inflateAll(const uint8_t *data, size_t size, size_t *outSize) {
  size_t capacity = size * 8 + 1024;
  uint8_t *out = malloc(capacity);
  z_stream stream = {.next_in = (Bytef *)data, .avail_in = (uInt)size, .next_out = out, .avail_out = (uInt)capacity};
  assert_int_equal(inflateInit(&stream), Z_OK);
  int status;
  while ((status = inflate(&stream, Z_FINISH)) != Z_STREAM_END) {
    assert_true(status == Z_BUF_ERROR || status == Z_OK);
    out = realloc(out, capacity * 2);
    stream.next_out = out + capacity;
    stream.avail_out = (uInt)capacity;
    capacity *= 2;
  }
  *outSize = stream.total_out;
  assert_int_equal(stream.avail_in, 0);
  inflateEnd(&stream);
  return out;
}

/* The text between `open` and </script>, from *at on; null when there is no more. */
static inline const char *elementText(const char **at, const char *open, size_t *size) {
  const char *begin = strstr(*at, open);
  if (begin == NULL) return NULL;
  begin += strlen(open);
  const char *end = strstr(begin, "</script>");
  assert_non_null(end);
  *size = (size_t)(end - begin);
  *at = end;
  return begin;
}

static inline uint8_t *inflateElement(const ReadReport *report, const char *id, size_t *size) {
  char open[64];
  const char *at = report->text;
  snprintf(open, sizeof open, "<script type=\"text/plain\" id=\"%s\">", id);
  size_t textSize = 0;
  const char *text = elementText(&at, open, &textSize);
  assert_non_null(text);
  uint8_t *packed = malloc(textSize + 1);
  size_t packedSize = decodeBase64(text, textSize, packed);
  uint8_t *out = inflateAll(packed, packedSize, size);
  free(packed);
  return out;
}

static inline void readIndex(ReadReport *report, const size_t *blockStart, size_t blockCount) {
  size_t size, block = SIZE_MAX, offset = 0;
  uint8_t *bytes = inflateElement(report, "pinch-index", &size);
  Cursor cursor = {bytes, bytes + size};
  int64_t number = 0;
  report->frames = calloc(report->frameCount + 1, sizeof *report->frames);
  for (uint32_t f = 0; f < report->frameCount; ++f) {
    ReadFrame *frame = &report->frames[f];
    frame->number = number += readSigned(&cursor);
    assert_true(cursor.end - cursor.at > 8);
    memcpy(&frame->time, cursor.at, 8);
    cursor.at += 8;
    if (readVarint(&cursor) == 1) {
      block += 1;
      assert_true(block < blockCount);
      offset = blockStart[block];
    }
    frame->pairsAt = offset;
    frame->pairsSize = readVarint(&cursor);
    frame->positionsAt = frame->pairsAt + frame->pairsSize;
    frame->positionsSize = readVarint(&cursor);
    offset = frame->positionsAt + frame->positionsSize;
    uint64_t back = readVarint(&cursor), ahead = readVarint(&cursor);
    frame->low = back > 0 ? f - (uint32_t)back : UINT32_MAX;
    frame->high = ahead > 0 ? f + (uint32_t)ahead : UINT32_MAX;
    frame->kindCount = (uint32_t)readVarint(&cursor);
    assert_true(frame->kindCount <= 64);
    for (uint32_t k = 0; k < frame->kindCount; ++k) {
      for (int i = 0; i < 3; ++i) frame->kinds[k][i] = readVarint(&cursor);
      frame->total += frame->kinds[k][2];
    }
  }
  assert_true(cursor.at == cursor.end);
  free(bytes);
}

static inline void readTopology(ReadReport *report) {
  size_t size = 0;
  uint8_t *bytes = inflateElement(report, "pinch-topology", &size);
  Cursor cursor = {bytes, bytes + size};
  for (uint32_t b = 0; b < report->bodyCount; ++b) {
    uint32_t sites = report->sites[b], count = report->triangleCounts[b];
    report->predictors[b] = calloc(3 * (size_t)sites + 1, sizeof(uint32_t));
    report->triangles[b] = calloc(3 * (size_t)count + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < sites; ++i) {
      uint64_t first = readVarint(&cursor), own = i + 1;
      uint32_t *p = report->predictors[b] + 3 * i;
      assert_true(first / 2 >= 1 && first / 2 <= own);
      p[0] = (uint32_t)(own - first / 2);
      if (first % 2 == 1) {
        p[1] = (uint32_t)(own - readVarint(&cursor));
        p[2] = (uint32_t)(own - readVarint(&cursor));
        assert_true(p[1] < own && p[2] < own);
      }
    }
    int64_t corner = 0;
    for (size_t i = 0; i < 3 * (size_t)count; ++i) {
      corner += readSigned(&cursor);
      assert_true(corner >= 0 && corner < sites);
      report->triangles[b][i] = (uint32_t)corner;
    }
    json_t *body = json_array_get(json_object_get(report->meta, "bodies"), b);
    if (json_is_true(json_object_get(body, "grouped"))) {
      report->groups[b] = calloc(sites + 1, sizeof(uint32_t));
      for (uint32_t i = 0; i < sites; ++i) {
        report->groups[b][i] = (uint32_t)readVarint(&cursor);
        assert_true(report->groups[b][i] <= json_array_size(json_object_get(body, "groups")));
      }
    }
  }
  assert_true(cursor.at == cursor.end);
  free(bytes);
}

/* Decodes a frame and those it needs. */
static inline const int32_t *readRaw(ReadReport *report, uint32_t f) {
  ReadFrame *frame = &report->frames[f];
  if (frame->raw != NULL) return frame->raw;
  assert_true(frame->positionsSize > 0);
  const int32_t *low = frame->low != UINT32_MAX ? readRaw(report, frame->low) : NULL;
  const int32_t *high = frame->high != UINT32_MAX ? readRaw(report, frame->high) : NULL;
  size_t size, siteCount = report->siteCount, start = 0;
  uint8_t *planes = inflateAll(report->blocks + frame->positionsAt, frame->positionsSize, &size);
  assert_int_equal(size, 12 * siteCount);
  frame->raw = malloc(12 * siteCount + 1);
  for (uint32_t b = 0; b < report->bodyCount; ++b) {
    uint32_t *d = calloc(3 * (size_t)report->sites[b] + 3, sizeof(uint32_t));
    for (size_t i = 0; i < report->sites[b]; ++i) {
      const uint32_t *p = report->predictors[b] + 3 * i;
      for (size_t k = 0; k < 3; ++k) {
        uint32_t folded = 0;
        for (size_t byte = 0; byte < 4; ++byte)
          folded |= (uint32_t)planes[byte * 3 * siteCount + k * siteCount + start + i] << 8 * byte;
        uint32_t rest = folded >> 1 ^ (0u - (folded & 1));
        d[3 * (i + 1) + k] = rest + d[3 * p[0] + k] + d[3 * p[1] + k] - d[3 * p[2] + k];
        size_t own = 3 * (start + i) + k;
        frame->raw[own] = (int32_t)(d[3 * (i + 1) + k] + (low ? (uint32_t)((low[own] + high[own]) >> 1) : 0));
      }
    }
    free(d);
    start += report->sites[b];
  }
  free(planes);
  return frame->raw;
}

/* Position of corner k of a triangle in a stored frame. */
static inline void readCorner(ReadReport *report, uint32_t f, uint32_t b, uint32_t triangle, uint32_t k,
                              double out[3]) {
  size_t start = 0;
  for (uint32_t i = 0; i < b; ++i) start += report->sites[i];
  const int32_t *raw = readRaw(report, f) + 3 * (start + report->triangles[b][3 * triangle + k]);
  for (int i = 0; i < 3; ++i) out[i] = report->origin[b][i] + report->step[b] * raw[i];
}

/* Pairs of a frame: a, triangleA, b, triangleB, finding; free() it. Null when the list is not stored. */
static inline uint32_t *readPairs(const ReadReport *report, uint32_t f) {
  const ReadFrame *frame = &report->frames[f];
  if (frame->pairsSize == 0) return NULL;
  size_t size = 0;
  uint8_t *bytes = inflateAll(report->blocks + frame->pairsAt, frame->pairsSize, &size);
  Cursor cursor = {bytes, bytes + size};
  uint32_t *pairs = calloc(5 * (size_t)frame->total + 1, sizeof *pairs), *at = pairs;
  while (cursor.at < cursor.end) {
    uint32_t a = (uint32_t)readVarint(&cursor), b = (uint32_t)readVarint(&cursor), s = 0, t = 0;
    uint64_t count = readVarint(&cursor);
    for (uint64_t left = count; left > 0; --left, at += 5) {
      assert_true(at < pairs + 5 * frame->total);
      at[0] = a;
      at[1] = s += (uint32_t)readVarint(&cursor);
      at[2] = b;
      at[3] = t += (uint32_t)readSigned(&cursor);
    }
    for (uint64_t left = count; left > 0;) {
      uint32_t finding = (uint32_t)readVarint(&cursor);
      uint64_t run = readVarint(&cursor);
      assert_true(run > 0 && run <= left);
      for (; run > 0; --run, --left) at[4 - 5 * (ptrdiff_t)left] = finding;
    }
  }
  assert_true(at == pairs + 5 * frame->total);
  free(bytes);
  return pairs;
}

static inline void readMeta(ReadReport *report) {
  const char *at = report->text;
  size_t size = 0;
  const char *text = elementText(&at, "<script type=\"application/json\" id=\"pinch-meta\">", &size);
  assert_non_null(text);
  report->meta = json_loadb(text, size, 0, NULL);
  assert_non_null(report->meta);
  json_t *bodies = json_object_get(report->meta, "bodies"), *body;
  report->frameCount = (uint32_t)json_integer_value(json_object_get(report->meta, "frameCount"));
  report->bodyCount = (uint32_t)json_array_size(bodies);
  size_t b;
  json_array_foreach(bodies, b, body) {
    report->sites[b] = (uint32_t)json_integer_value(json_object_get(body, "sites"));
    report->triangleCounts[b] = (uint32_t)json_integer_value(json_object_get(body, "triangles"));
    report->step[b] = json_number_value(json_object_get(body, "step"));
    for (size_t k = 0; k < 3; ++k)
      report->origin[b][k] = json_number_value(json_array_get(json_object_get(body, "origin"), k));
    report->siteCount += report->sites[b];
  }
}

static inline ReadReport readReport(const char *path) {
  ReadReport report = {0};
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  report.textSize = (size_t)ftell(file);
  rewind(file);
  report.text = calloc(report.textSize + 1, 1);
  assert_int_equal(fread(report.text, 1, report.textSize, file), report.textSize);
  fclose(file);
  readMeta(&report);

  // all blocks into one array
  size_t blockStart[4096], blockCount = 0, filled = 0, size;
  report.blocks = malloc(report.textSize + 1);
  const char *at = report.text, *text;
  while ((text = elementText(&at, "<script type=\"text/plain\" class=\"pinch-block\">", &size)) != NULL) {
    assert_true(blockCount < 4096);
    blockStart[blockCount++] = filled;
    filled += decodeBase64(text, size, report.blocks + filled);
  }
  readIndex(&report, blockStart, blockCount);
  if (json_is_true(json_object_get(report.meta, "view"))) readTopology(&report);
  return report;
}

static inline void freeReport(ReadReport *report) {
  for (uint32_t b = 0; b < report->bodyCount; ++b) {
    free(report->predictors[b]);
    free(report->triangles[b]);
    free(report->groups[b]);
  }
  for (uint32_t f = 0; f < report->frameCount; ++f) free(report->frames[f].raw);
  free(report->frames);
  free(report->blocks);
  free(report->text);
  json_decref(report->meta);
}

#endif
