/* test_cli_choose.c: rules over pairs of bodies, asked by class: the answers are those of every single pair, and tens of thousands of
 * bodies are not gone through two by two. Work is counted, not timed. */
#include "support.h"

#include "../cli/choose.h"

#include <stdlib.h>
#include <string.h>

/* Bodies called a0, b1, c2, a3 ... */
static char **makeNames(uint32_t count) {
  char **names = malloc(count * sizeof(char *) + 1);
  assert_non_null(names);
  for (uint32_t b = 0; b < count; ++b) {
    char name[16];
    snprintf(name, sizeof(name), "%c%u", "abc"[b % 3], b);
    names[b] = strdup(name);
    assert_non_null(names[b]);
  }
  return names;
}

static void freeNames(char **names, uint32_t count) {
  for (uint32_t b = 0; b < count; ++b) free(names[b]);
  free(names);
}

/* Rules gone through for every pair by itself against what the classes say. */
static void expectSame(pnChoice *choice) {
  uint32_t count = choice->bodyCount;
  uint64_t pairCount = pn_choiceCountPairs(choice), at = 0;
  pnPair *pairs = malloc((size_t)pairCount * sizeof(pnPair) + 1);
  assert_non_null(pairs);
  pn_choiceListPairs(choice, pairs);
  qsort(pairs, (size_t)pairCount, sizeof(pnPair), testComparePairs);
  for (uint32_t a = 0; a < count; ++a) {
    bool wanted = false;
    for (uint32_t b = 0; b < count; ++b) {
      bool allowed = pn_rulesAllow(choice, a, b);
      wanted = wanted || allowed;
      assert_int_equal(pn_choiceAllows(choice, a, b), allowed);
      if (!allowed || b <= a) continue;
      assert_true(at < pairCount);
      assert_int_equal(pairs[at].a, a);
      assert_int_equal(pairs[at++].b, b);
    }
    assert_int_equal(pn_choiceWants(choice, a), wanted);
  }
  assert_int_equal(at, pairCount);
  free(pairs);
}

static void everyPairAsByItself(void **state) {
  (void)state;
  static const char *const words[] = {"a*",  "a*,b*",     "b*,a*",  "*,c*",  "a0,b1",   "b1,b1",
                                      "c2",  "*",         "?1*,a*", "a*,a*", "[bc]?,*", "*[02468],*[13579]",
                                      "4,5", "c*,?[0-9]", "a3,*",   "7"};
  enum { WORDS = sizeof(words) / sizeof(words[0]) };
  const uint32_t count = 23;
  char **names = makeNames(count);
  uint32_t seed = 7;
  for (int round = 0; round < 400; ++round) {
    pnWords lists[2] = {{.count = 0}, {.count = 0}};
    for (int list = 0; list < 2; ++list) {
      seed = seed * 1664525u + 1013904223u;
      uint32_t wanted = (seed >> 16) % 4;
      for (uint32_t i = 0; i < wanted; ++i) {
        seed = seed * 1664525u + 1013904223u;
        lists[list].items[lists[list].count++] = words[(seed >> 16) % WORDS];
      }
    }
    pnChoice choice;
    assert_int_equal(pn_makeChoice(&lists[0], &lists[1], (const char *const *)names, count, &choice), PN_OK);
    expectSame(&choice);
    pn_freeChoice(&choice);
  }
  freeNames(names, count);
}

/* No bodies, and one. */
static void fewBodies(void **state) {
  (void)state;
  for (uint32_t count = 0; count < 2; ++count) {
    char **names = makeNames(count);
    pnWords only = {.count = 0}, ignored = {.items = {"*"}, .count = 1};
    pnChoice choice;
    assert_int_equal(pn_makeChoice(&only, &ignored, (const char *const *)names, count, &choice), PN_OK);
    expectSame(&choice);
    pn_freeChoice(&choice);
    freeNames(names, count);
  }
}

/* The work for 20 000 bodies: a pass for each side of each rule, one to list, and a few pairs of classes. All pairs would be 200
 * million. */
static void manyBodies(void **state) {
  (void)state;
  const uint32_t count = 20000;
  static const struct {
    const char *only, *ignored;
    uint32_t wanted;
    uint64_t pairs;
  } cases[] = {
      {"a0,b1", NULL, 2, 1},
      {"a0", NULL, 20000, 19999},
      {NULL, "a0,b1", 20000, 20000ull * 19999 / 2 - 1},
      {NULL, "a0", 19999, 19999ull * 19998 / 2},
      {NULL, "a0,b*", 20000, 20000ull * 19999 / 2 - 6667},
      {"a0,b*", NULL, 6668, 6667},
      {"a0,b*", "a0,b1", 6667, 6666},
      {NULL, "*", 0, 0},
  };
  char **names = makeNames(count);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    pnWords only = {.count = 0}, ignored = {.count = 0};
    if (cases[i].only) only.items[only.count++] = cases[i].only;
    if (cases[i].ignored) ignored.items[ignored.count++] = cases[i].ignored;
    pnChoice choice;
    assert_int_equal(pn_makeChoice(&only, &ignored, (const char *const *)names, count, &choice), PN_OK);
    uint32_t wanted = 0;
    for (uint32_t b = 0; b < count; ++b) wanted += pn_choiceWants(&choice, b);
    assert_int_equal(wanted, cases[i].wanted);
    assert_int_equal(pn_choiceCountPairs(&choice), cases[i].pairs);
    assert_true(choice.classes.steps <= 10ull * count);
    pn_freeChoice(&choice);
  }
  freeNames(names, count);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everyPairAsByItself),
      cmocka_unit_test(fewBodies),
      cmocka_unit_test(manyBodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
