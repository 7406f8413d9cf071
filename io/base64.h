/* base64.h: the text form of bytes in data URIs (RFC 4648, also the URL alphabet). */
#ifndef PN_IO_BASE64_H
#define PN_IO_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An upper bound for the bytes that `length` characters hold. */
size_t pn_base64Bound(size_t length);

/* Decodes `length` characters into `out` (pn_base64Bound bytes). White space is skipped, padding may be missing.
 * False when a character is none of the alphabet or the last group has a single character; *outCount is then the
 * position of the fault. */
bool pn_base64Decode(const char *text, size_t length, uint8_t *out, size_t *outCount);

#endif
