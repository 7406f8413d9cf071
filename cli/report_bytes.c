/* report_bytes.c: growing byte buffers, varints, deflate, base64 and JSON text, and the message of a failure.
 *
 * A buffer that ran out of memory remembers it and ignores further writes, so a packer writes straight through and
 * asks once at its end.
 */
#include "report_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static _Thread_local char pn_message[512];

const char *pn_reportMessage(void) {
  return pn_message;
}

pnResult pn_reportFail(pnResult result, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(pn_message, sizeof pn_message, format, arguments);
  va_end(arguments);
  return result;
}

pnResult pn_reportFailMemory(void) {
  return pn_reportFail(PN_ERROR_MEMORY, "report: out of memory");
}

/* ---------------------------------------------------------------- buffers */

void pn_bytesFree(pnBytes *bytes) {
  free(bytes->data);
  *bytes = (pnBytes){0};
}

void pn_bytesAdd(pnBytes *bytes, const void *data, size_t size) {
  if (bytes->failed || size == 0) return;

  // grow by half, so that appending n bytes costs O(n)
  if (bytes->capacity - bytes->size < size) {
    size_t capacity = bytes->size + size + bytes->size / 2 + 64;
    uint8_t *grown = realloc(bytes->data, capacity);
    if (grown == NULL) {
      bytes->failed = true;
      return;
    }
    bytes->data = grown;
    bytes->capacity = capacity;
  }
  memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
}

void pn_bytesVarint(pnBytes *bytes, uint64_t value) {
  uint8_t out[10];
  size_t count = 0;
  while (value >= 0x80) {
    out[count++] = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  out[count++] = (uint8_t)value;
  pn_bytesAdd(bytes, out, count);
}

void pn_bytesSigned(pnBytes *bytes, int64_t value) {
  // zigzag: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...
  pn_bytesVarint(bytes, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

void pn_bytesDouble(pnBytes *bytes, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint8_t out[8];
  for (int i = 0; i < 8; ++i) out[i] = (uint8_t)(bits >> (8 * i));
  pn_bytesAdd(bytes, out, sizeof out);
}

void pn_bytesText(pnBytes *bytes, const char *text) {
  pn_bytesAdd(bytes, text, strlen(text));
}

/* For short, bounded texts (numbers): what does not fit the small buffer would be a bug of the caller. */
void pn_bytesFormat(pnBytes *bytes, const char *format, ...) {
  char out[256];
  va_list arguments;
  va_start(arguments, format);
  int count = vsnprintf(out, sizeof out, format, arguments);
  va_end(arguments);
  if (count < 0 || count >= (int)sizeof out) {
    bytes->failed = true;
    return;
  }
  pn_bytesAdd(bytes, out, (size_t)count);
}

/* Length of the UTF-8 sequence at `text`, 0 when it is not one (overlong forms, surrogates and what lies beyond
 * U+10FFFF included). The terminating zero is never a continuation byte, so this cannot read past the end. */
static size_t utf8Length(const unsigned char *text) {
  static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
  size_t length = text[0] < 0xc0 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : text[0] < 0xf8 ? 4 : 0;
  if (length == 0) return 0;
  uint32_t code = text[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((text[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (text[i] & 0x3fu);
  }
  bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < smallest[length] || code > 0x10ffff || surrogate ? 0 : length;
}

/* Names come from files of others: control characters, quotes, '<' (which could end the script element) and bytes that
 * are not UTF-8 must not leave the string. */
void pn_bytesJson(pnBytes *bytes, const char *text) {
  pn_bytesText(bytes, "\"");
  const unsigned char *c = (const unsigned char *)text;
  while (*c != 0) {
    if (*c >= 0x80) {
      size_t length = utf8Length(c);
      if (length > 0) {
        pn_bytesAdd(bytes, c, length);
        c += length;
      } else {
        pn_bytesText(bytes, "\\ufffd");
        ++c;
      }
      continue;
    }
    if (*c < 0x20 || *c == '"' || *c == '\\' || *c == '<' || *c == '>' || *c == '&' || *c == 0x7f)
      pn_bytesFormat(bytes, "\\u%04x", *c);
    else pn_bytesAdd(bytes, c, 1);
    ++c;
  }
  pn_bytesText(bytes, "\"");
}

void pn_bytesNames(pnBytes *bytes, const char *key, const char *const *names, uint32_t count) {
  pn_bytesFormat(bytes, ",\"%s\":[", key);
  for (uint32_t i = 0; i < count; ++i) {
    pn_bytesText(bytes, i > 0 ? "," : "");
    pn_bytesJson(bytes, names[i]);
  }
  pn_bytesText(bytes, "]");
}

/* ---------------------------------------------------------------- deflate and base64 */

pnResult pn_deflate(const uint8_t *data, size_t size, uint8_t **outData, size_t *outSize) {
  *outData = NULL;
  *outSize = 0;
  pnResult result = PN_OK;
  uint8_t *packed = NULL;

  // Z_FILTERED: what we pack are residuals, small numbers without long repetitions; looking longer for repetitions than
  // level 4 does takes twice the time for 2 % of the size (a walking figure of 42 000 triangles)
  z_stream stream = {0};
  if (deflateInit2(&stream, 4, Z_DEFLATED, 15, 8, Z_FILTERED) != Z_OK) return pn_reportFailMemory();
  size_t bound = deflateBound(&stream, (uLong)size);
  if (size > UINT32_MAX || bound > UINT32_MAX) {
    result = pn_reportFail(PN_ERROR_COUNT, "report: one frame has more than 4 GB; scan fewer bodies at a time");
    goto done;
  }
  packed = malloc(bound);
  if (packed == NULL) {
    result = pn_reportFailMemory();
    goto done;
  }

  // one call does it, since the output has room for the bound
  stream.next_in = (Bytef *)data;
  stream.avail_in = (uInt)size;
  stream.next_out = packed;
  stream.avail_out = (uInt)bound;
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
    result = pn_reportFailMemory();
    goto done;
  }

  // give back the rest; shrinking that fails keeps the larger block
  uint8_t *shrunk = realloc(packed, stream.total_out);
  *outData = shrunk != NULL ? shrunk : packed;
  *outSize = stream.total_out;
  packed = NULL;

done:
  free(packed);
  deflateEnd(&stream);
  return result;
}

size_t pn_base64Size(size_t size) {
  return (size + 2) / 3 * 4;
}

static const char pn_base64Digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encodeTriple(const uint8_t *in, char *out) {
  out[0] = pn_base64Digits[in[0] >> 2];
  out[1] = pn_base64Digits[(in[0] & 3) << 4 | in[1] >> 4];
  out[2] = pn_base64Digits[(in[1] & 15) << 2 | in[2] >> 6];
  out[3] = pn_base64Digits[in[2] & 63];
}

void pn_base64Write(pnBase64 *state, const uint8_t *data, size_t size) {
  char out[4096];
  size_t count = 0;
  for (size_t i = 0; i < size; ++i) {
    state->carry[state->carryCount++] = data[i];
    if (state->carryCount == 3) {
      encodeTriple(state->carry, out + count);
      state->carryCount = 0;
      count += 4;
      if (count == sizeof out) {
        pn_reportPut(state->report, out, count);
        count = 0;
      }
    }
  }
  pn_reportPut(state->report, out, count);
}

void pn_base64End(pnBase64 *state) {
  if (state->carryCount > 0) {
    uint8_t last[3] = {state->carry[0], state->carryCount > 1 ? state->carry[1] : 0, 0};
    char out[4];
    encodeTriple(last, out);
    out[3] = '=';
    if (state->carryCount == 1) out[2] = '=';
    pn_reportPut(state->report, out, 4);
    state->carryCount = 0;
  }
}
