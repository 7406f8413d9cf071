/* test_io_number.c: decimal text to float, against the C library's strtof and against the exact midpoints. */
#include "support.h"

#include "../io/reader.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static pnWord wordOf(const char *text) {
  return (pnWord){text, strlen(text)};
}

static uint32_t bitsOf(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

/* Our float must be the C library's, bit for bit, the sign of zero too. */
static void expectSame(const char *text) {
  float ours = 0, theirs = strtof(text, NULL);
  pnNumberKind kind = pn_wordToFloat(wordOf(text), &ours);
  if (isinf(theirs)) {
    if (kind != PN_NUMBER_NOT_FINITE) fail_msg("%s: expected too large, got %g", text, (double)ours);
  } else if (kind != PN_NUMBER_FINITE || bitsOf(ours) != bitsOf(theirs)) {
    fail_msg("%s: %.9g (%08x), strtof says %.9g (%08x)", text, (double)ours, bitsOf(ours), (double)theirs,
             bitsOf(theirs));
  }
}

static void testPlain(void **state) {
  (void)state;
  static const char *texts[] = {"0",
                                "-0",
                                "+0",
                                "1",
                                "-1",
                                "1.",
                                ".5",
                                "-.5",
                                "+1.25",
                                "1e3",
                                "1E3",
                                "1e+3",
                                "1e-3",
                                "00012.500",
                                "0.0e0",
                                "1e38",
                                "3.4028235e38",
                                "3.4028236e38",
                                "1e39",
                                "1e-45",
                                "1e-46",
                                "7e-46",
                                "1.17549435e-38",
                                "1e999999999999999999999",
                                "1e-999999999999999999999",
                                "0e999999999999",
                                "16777217",
                                "16777219",
                                "0.1",
                                "123456789012345678901234567890",
                                "340282356779733661637539395458142568447",
                                "340282356779733661637539395458142568448",
                                "340282356779733661637539395458142568448.000001"};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) expectSame(texts[i]);
}

static void testNotNumbers(void **state) {
  (void)state;
  static const char *none[] = {"",      "+",   "-",   ".",    "e5",   "1e", "1e+",   "1x", "0x10",
                               "1.2.3", "--1", "1,5", "1e5.", "nanx", "in", "1_000", "1 ", "1f"};
  static const char *notFinite[] = {"nan",  "NaN",      "-nan",    "+NAN",    "inf",
                                    "-Inf", "INFINITY", "1.#QNAN", "-1.#IND", "1e40"};
  float value;
  double wide;
  for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); ++i) {
    assert_int_equal(pn_wordToFloat(wordOf(none[i]), &value), PN_NUMBER_NONE);
    assert_int_equal(pn_wordToDouble(wordOf(none[i]), &wide), PN_NUMBER_NONE);
  }
  for (size_t i = 0; i < sizeof(notFinite) / sizeof(notFinite[0]); ++i)
    assert_int_equal(pn_wordToFloat(wordOf(notFinite[i]), &value), PN_NUMBER_NOT_FINITE);
  // Leading zeros are free, digits are not.
  char *longText = malloc(5000);
  memset(longText, '0', 4999);
  longText[4998] = '7';
  longText[4999] = 0;
  assert_int_equal(pn_wordToFloat(wordOf(longText), &value), PN_NUMBER_FINITE);
  assert_true(value == 7.0f);
  longText[0] = '1';
  assert_int_equal(pn_wordToFloat(wordOf(longText), &value), PN_NUMBER_TOO_LONG);
  longText[PN_MAX_DIGITS] = 0;
  assert_int_equal(pn_wordToFloat(wordOf(longText), &value), PN_NUMBER_NOT_FINITE);
  free(longText);
}

/* Floats printed with every count of digits, plain and with exponent. */
static void testPrintedFloats(void **state) {
  (void)state;
  TestRandom random = testRandom(7);
  char text[400];
  for (int i = 0; i < 100000; ++i) {
    float x = testAnyFloat(&random);
    int digits = 1 + (int)testBelow(&random, 24);
    snprintf(text, sizeof(text), testBelow(&random, 2) ? "%.*g" : "%.*e", digits, (double)x);
    expectSame(text);
    float y = testFloat(&random, -1000, 1000);
    snprintf(text, sizeof(text), "%.*f", digits, (double)y);
    expectSame(text);
  }
}

/* Random digits with random exponents, most of them short: what files hold. */
static void testRandomDecimals(void **state) {
  (void)state;
  TestRandom random = testRandom(11);
  for (int i = 0; i < 200000; ++i) {
    char text[64];
    int n = 0, digits = 1 + (int)testBelow(&random, 20), point = (int)testBelow(&random, 22);
    if (testBelow(&random, 2)) text[n++] = '-';
    for (int k = 0; k < digits; ++k) {
      if (k == point) text[n++] = '.';
      text[n++] = (char)('0' + testBelow(&random, 10));
    }
    text[n] = 0;
    if (testBelow(&random, 2)) snprintf(text + n, sizeof(text) - (size_t)n, "e%d", (int)testBelow(&random, 90) - 48);
    expectSame(text);
  }
}

/* The hardest: the exact midpoint of two floats, and its neighbours one unit up and down in a far digit. The midpoint
 * of two floats is a double, and "%.*e" prints a double exactly when it is given enough digits. */
static void testMidpoints(void **state) {
  (void)state;
  TestRandom random = testRandom(13);
  char text[1100];
  for (int i = 0; i < 20000; ++i) {
    float x = testBelow(&random, 2) ? fabsf(testAnyFloat(&random)) : testFloat(&random, 0.001f, 1000);
    float y = nextafterf(x, INFINITY);
    if (!isfinite(y)) continue;
    double middle = ((double)x + (double)y) / 2;
    int digits = 160;
    snprintf(text, sizeof(text), "%.*e", digits, middle);
    expectSame(text);
    char *last = text + 2 + digits - 1;
    *last = '1';
    expectSame(text);
    // One unit below in the last place of a shorter form: 20 digits, beyond what the short way takes.
    for (int d = 15; d <= 20; ++d) {
      snprintf(text, sizeof(text), "%.*e", d, middle);
      expectSame(text);
      char *digit = text + 2 + d - 1;
      if (*digit > '0') --*digit;
      expectSame(text);
      if (*digit < '8') *digit = (char)(*digit + 2);
      expectSame(text);
    }
  }
}

static void testDoubles(void **state) {
  (void)state;
  TestRandom random = testRandom(17);
  char text[64];
  for (int i = 0; i < 50000; ++i) {
    uint64_t bits = testU64(&random);
    double x, ours;
    memcpy(&x, &bits, sizeof(x));
    if (!isfinite(x)) continue;
    snprintf(text, sizeof(text), "%.*g", 1 + (int)testBelow(&random, 20), x);
    double theirs = strtod(text, NULL);
    pnNumberKind kind = pn_wordToDouble(wordOf(text), &ours);
    assert_int_equal(kind, isfinite(theirs) ? PN_NUMBER_FINITE : PN_NUMBER_NOT_FINITE);
    if (isfinite(theirs)) assert_memory_equal(&ours, &theirs, sizeof(ours));
  }
}

static void testIntegers(void **state) {
  (void)state;
  int64_t value;
  assert_true(pn_wordToInt(wordOf("0"), &value) && value == 0);
  assert_true(pn_wordToInt(wordOf("-12"), &value) && value == -12);
  assert_true(pn_wordToInt(wordOf("+7"), &value) && value == 7);
  assert_true(pn_wordToInt(wordOf("999999999999999999"), &value) && value == 999999999999999999);
  static const char *bad[] = {"", "-", "+", "1.0", "1e3", "0x1", "99999999999999999999999", " 1", "1 ", "a"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) assert_false(pn_wordToInt(wordOf(bad[i]), &value));
}

/* A locale with a decimal comma changes nothing. */
static void testLocale(void **state) {
  (void)state;
  static const char *locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
  const char *found = NULL;
  for (size_t i = 0; i < sizeof(locales) / sizeof(locales[0]) && !found; ++i) found = setlocale(LC_NUMERIC, locales[i]);
  if (!found) print_message("skipped: no locale with a decimal comma is installed\n");
  float value;
  assert_int_equal(pn_wordToFloat(wordOf("1.5"), &value), PN_NUMBER_FINITE);
  assert_true(value == 1.5f);
  // Both ways: this one is an exact midpoint and takes the long one.
  assert_int_equal(pn_wordToFloat(wordOf("16777217.000000000000000000000001"), &value), PN_NUMBER_FINITE);
  assert_true(value == 16777218.0f);
  assert_int_equal(pn_wordToFloat(wordOf("1,5"), &value), PN_NUMBER_NONE);
  setlocale(LC_NUMERIC, "C");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testPlain),          cmocka_unit_test(testNotNumbers), cmocka_unit_test(testPrintedFloats),
      cmocka_unit_test(testRandomDecimals), cmocka_unit_test(testMidpoints),  cmocka_unit_test(testDoubles),
      cmocka_unit_test(testIntegers),       cmocka_unit_test(testLocale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
