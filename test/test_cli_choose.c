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

static bool wants(const pnChoice *choice, uint32_t body) {
  bool any = false;
  for (uint32_t b = 0; b < choice->bodyCount; ++b) any = any || pn_choiceAllows(choice, body, b);
  return any;
}

/* Every pair by itself against what the classes say. */
static void expectSame(pnChoice *choice) {
  uint32_t count = choice->bodyCount, *refused = malloc(count * sizeof(uint32_t) + 1);
  assert_non_null(refused);
  bool two = false;
  // Twice: a scan has two finders.
  for (int round = 0; round < 2; ++round) {
    pn_choiceRewind(choice);
    for (uint32_t a = 0; a < count; ++a) {
      assert_int_equal(pn_choiceWants(choice, a), wants(choice, a));
      uint32_t found = pn_choiceListRefused(choice, a, refused), at = 0;
      for (uint32_t b = a + 1; b < count; ++b) {
        bool allowed = pn_choiceAllows(choice, a, b);
        two = two || allowed;
        if (allowed || !wants(choice, a) || !wants(choice, b)) continue;
        assert_true(at < found);
        assert_int_equal(refused[at++], b);
      }
      assert_int_equal(at, found);
    }
  }
  assert_int_equal(pn_choiceAsksTwo(choice), two);
  free(refused);
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

/* The work for 20 000 bodies: a pass for each side of each rule, one to list, and what is listed. All pairs would be 200 million. */
static void manyBodies(void **state) {
  (void)state;
  const uint32_t count = 20000;
  static const struct {
    const char *only, *ignored;
    uint32_t wanted;
    uint64_t refused;
  } cases[] = {
      {"a0,b1", NULL, 2, 0},
      {NULL, "a0,b1", 20000, 1},
      {NULL, "a0", 19999, 0},
      {NULL, "a0,b*", 20000, 6667},
      {"a0,b*", NULL, 6668, 6667ull * 6666 / 2},
      {"a0,b*", "a0,b1", 6667, 6666ull * 6665 / 2},
      {NULL, "*", 0, 0},
  };
  char **names = makeNames(count);
  uint32_t *refused = malloc(count * sizeof(uint32_t));
  assert_non_null(refused);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    pnWords only = {.count = 0}, ignored = {.count = 0};
    if (cases[i].only) only.items[only.count++] = cases[i].only;
    if (cases[i].ignored) ignored.items[ignored.count++] = cases[i].ignored;
    pnChoice choice;
    assert_int_equal(pn_makeChoice(&only, &ignored, (const char *const *)names, count, &choice), PN_OK);
    uint32_t wanted = 0;
    uint64_t listed = 0;
    pn_choiceRewind(&choice);
    for (uint32_t b = 0; b < count; ++b) {
      wanted += pn_choiceWants(&choice, b);
      listed += pn_choiceListRefused(&choice, b, refused);
    }
    assert_int_equal(wanted, cases[i].wanted);
    assert_int_equal(listed, cases[i].refused);
    assert_true(choice.classes.steps <= 10ull * count + listed);
    pn_freeChoice(&choice);
  }
  free(refused);
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
