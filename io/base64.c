/* base64.c: see base64.h. Six bits a character, collected in a register and given out by the byte. */
#include "base64.h"

size_t pn_base64Bound(size_t length) {
  return length / 4 * 3 + 3;
}

/* The six bits of a character, -1 for none, -2 for white space, -3 for padding. */
static int sixBits(unsigned char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  if (c == ' ' || c == '\t' || c == '\r' || c == '\n') return -2;
  return c == '=' ? -3 : -1;
}

bool pn_base64Decode(const char *text, size_t length, uint8_t *out, size_t *outCount) {
  uint32_t bits = 0;
  int held = 0;
  size_t count = 0, characters = 0;
  bool padded = false;
  for (size_t i = 0; i < length; ++i) {
    int value = sixBits((unsigned char)text[i]);
    if (value == -2) continue;
    /* Padding ends the data: only more padding may follow. */
    padded = padded || value == -3;
    if (padded && value == -3) continue;
    if (padded || value < 0) {
      *outCount = i;
      return false;
    }
    /* A byte is complete whenever eight bits are held. */
    bits = bits << 6 | (uint32_t)value;
    held += 6;
    ++characters;
    if (held >= 8) {
      held -= 8;
      out[count++] = (uint8_t)(bits >> held);
    }
  }
  *outCount = characters % 4 == 1 ? length : count;
  return characters % 4 != 1;
}
