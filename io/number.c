/* number.c: decimal text to float, rounded to nearest, whatever the locale.
 *
 * Most numbers take the short way: digits w (up to 19 of them) and power of ten e give x = w * 10^e, computed in double
 * as (double)w times or divided by 10^|e|, which is exact up to |e| = 22. The two roundings put the double d within
 * 2 ulp of x. Rounding d to float then gives the same as rounding x, unless the midpoint between two floats lies
 * between them; so when d is within 4 ulp of such a midpoint (its low 29 bits near 0x10000000), or outside the
 * normal floats where midpoints lie elsewhere, we take the long way.
 *
 * The long way is the C library's strtof, which rounds correctly but reads the decimal point of the *locale*. We hand
 * it the digits without a point and a corrected exponent ("12.5" becomes "125e-1"), so that no point is ever needed. */
#include "reader.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parts of a decimal number, checked against the grammar [+-] digits [. digits] [(e|E) [+-] digits]. */
typedef struct pnDecimal {
  bool negative;
  size_t begin, end; /* digits and perhaps a point: text[begin, end) */
  size_t digitCount; /* without leading zeros */
  uint64_t digits;   /* the first 19 of them */
  int64_t exponent;  /* of the last digit read, if digitCount <= 19; of the last digit of all otherwise */
} pnDecimal;

static bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

/* [+-] digits after the 'e'; values past any float's range are all the same, so the sum stops growing. */
static bool parseExponent(pnWord word, size_t at, int64_t *outExponent) {
  bool negative = at < word.length && word.text[at] == '-';
  if (at < word.length && (word.text[at] == '-' || word.text[at] == '+')) ++at;
  if (at >= word.length) return false;
  int64_t value = 0;
  for (; at < word.length; ++at) {
    if (!isDigit(word.text[at])) return false;
    if (value < 1000000) value = value * 10 + (word.text[at] - '0');
  }
  *outExponent = negative ? -value : value;
  return true;
}

static bool parseDecimal(pnWord word, pnDecimal *out) {
  size_t at = 0, seen = 0, fraction = 0;
  bool point = false;
  *out = (pnDecimal){0};
  if (word.length > 0 && (word.text[0] == '-' || word.text[0] == '+')) out->negative = word.text[at++] == '-';
  out->begin = at;
  for (; at < word.length; ++at) {
    char c = word.text[at];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (!isDigit(c)) break;
    ++seen;
    fraction += point;
    // Leading zeros carry nothing; digits past the 19th are left to the long way.
    if (out->digitCount > 0 || c != '0') {
      if (out->digitCount < 19) out->digits = out->digits * 10 + (uint64_t)(c - '0');
      ++out->digitCount;
    }
  }
  out->end = at;
  if (seen == 0) return false;
  int64_t exponent = 0;
  if (at < word.length && (word.text[at] != 'e' && word.text[at] != 'E')) return false;
  if (at < word.length && !parseExponent(word, at + 1, &exponent)) return false;
  out->exponent = exponent - (int64_t)fraction;
  return true;
}

/* nan, inf and their relatives, in the spellings printf and other languages use. */
static bool isNotFinite(pnWord word) {
  size_t sign = word.length > 0 && (word.text[0] == '-' || word.text[0] == '+');
  pnWord rest = {word.text + sign, word.length - sign};
  return pn_wordIsNoCase(rest, "nan") || pn_wordIsNoCase(rest, "inf") || pn_wordIsNoCase(rest, "infinity") ||
         pn_wordIsNoCase(rest, "nan(ind)") || pn_wordIsNoCase(rest, "1.#ind") || pn_wordIsNoCase(rest, "1.#qnan") ||
         pn_wordIsNoCase(rest, "1.#inf");
}

/* All digits without the point, and the exponent: what strtof and strtod read alike in every locale. */
static void withoutPoint(pnWord word, const pnDecimal *decimal, char *out) {
  size_t n = 0;
  for (size_t i = decimal->begin; i < decimal->end; ++i)
    if (word.text[i] != '.' && (n > 0 || word.text[i] != '0')) out[n++] = word.text[i];
  snprintf(out + n, 32, "e%lld", (long long)decimal->exponent);
}

/* Exactly representable in double: 10^22 = 2^22 * 5^22 and 5^22 < 2^53. */
static const double powersOfTen[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* The double within 2 ulp of the number (exactly rounded when digits < 2^53), when there is a short way to it. */
static bool shortWay(const pnDecimal *decimal, double *out) {
  if (decimal->digitCount > 19 || decimal->exponent < -22 || decimal->exponent > 22) return false;
  double digits = (double)decimal->digits;
  *out = decimal->exponent < 0 ? digits / powersOfTen[-decimal->exponent] : digits * powersOfTen[decimal->exponent];
  return true;
}

/* No midpoint of two floats within 4 ulp of d, and d among the normal floats. */
static bool roundsAlike(double d) {
  if (d < (double)FLT_MIN || d > (double)FLT_MAX) return false;
  uint64_t bits;
  memcpy(&bits, &d, sizeof(bits));
  uint32_t low = (uint32_t)(bits & 0x1FFFFFFFu);
  return low < 0x10000000u - 4 || low > 0x10000000u + 4;
}

pnNumberKind pn_wordToFloat(pnWord word, float *outValue) {
  pnDecimal decimal;
  if (!parseDecimal(word, &decimal)) return isNotFinite(word) ? PN_NUMBER_NOT_FINITE : PN_NUMBER_NONE;
  if (decimal.digitCount > PN_MAX_DIGITS) return PN_NUMBER_TOO_LONG;
  double d;
  float value = 0;
  if (decimal.digitCount == 0) {
    value = 0;
  } else if (shortWay(&decimal, &d) && roundsAlike(d)) {
    value = (float)d;
  } else {
    char text[PN_MAX_DIGITS + 32];
    withoutPoint(word, &decimal, text);
    value = strtof(text, NULL);
  }
  *outValue = decimal.negative ? -value : value;
  return isfinite(value) ? PN_NUMBER_FINITE : PN_NUMBER_NOT_FINITE;
}

pnNumberKind pn_wordToDouble(pnWord word, double *outValue) {
  pnDecimal decimal;
  if (!parseDecimal(word, &decimal)) return isNotFinite(word) ? PN_NUMBER_NOT_FINITE : PN_NUMBER_NONE;
  if (decimal.digitCount > PN_MAX_DIGITS) return PN_NUMBER_TOO_LONG;
  double value = 0;
  // One rounding only when the digits are exact in double.
  if (decimal.digitCount > 0 && !(decimal.digits <= (1ull << 53) && shortWay(&decimal, &value))) {
    char text[PN_MAX_DIGITS + 32];
    withoutPoint(word, &decimal, text);
    value = strtod(text, NULL);
  }
  *outValue = decimal.negative ? -value : value;
  return isfinite(value) ? PN_NUMBER_FINITE : PN_NUMBER_NOT_FINITE;
}

bool pn_wordToInt(pnWord word, int64_t *outValue) {
  size_t at = word.length > 0 && (word.text[0] == '-' || word.text[0] == '+');
  bool negative = at == 1 && word.text[0] == '-';
  // 18 digits always fit, and no count of anything in memory needs more.
  if (at == word.length) return false;
  int64_t value = 0;
  for (; at < word.length; ++at) {
    if (!isDigit(word.text[at]) || value > 99999999999999999) return false;
    value = value * 10 + (word.text[at] - '0');
  }
  *outValue = negative ? -value : value;
  return true;
}
