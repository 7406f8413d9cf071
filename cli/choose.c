/* choose.c: rules over pairs of bodies. */
#include "choose.h"

#include "pinch/mesh.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* A rule of --only takes two bits of a world's filter. */
#define PN_FILTER_RULES 16

/* ---------------------------------------------------------------- a word into bodies */

static bool isPattern(const char *word, size_t length) {
  return memchr(word, '*', length) || memchr(word, '?', length) || memchr(word, '[', length);
}

/* The number a word is, or PN_NONE. */
static uint32_t numberOf(const char *word, size_t length) {
  uint64_t number = 0;
  for (size_t i = 0; i < length; ++i) {
    if (word[i] < '0' || word[i] > '9' || number > UINT32_MAX) return PN_NONE;
    number = 10 * number + (uint64_t)(word[i] - '0');
  }
  return length > 0 && number < PN_NONE ? (uint32_t)number : PN_NONE;
}

/* Marks the bodies called so, else the one of that number, else those that the pattern fits. Returns how many. */
static uint32_t markBodies(const char *word, size_t length, const char *const *names, uint32_t bodyCount, bool *marks) {
  uint32_t count = 0;
  memset(marks, 0, bodyCount);
  for (uint32_t b = 0; b < bodyCount; ++b) {
    marks[b] = strlen(names[b]) == length && memcmp(names[b], word, length) == 0;
    count += marks[b];
  }
  uint32_t number = count == 0 ? numberOf(word, length) : PN_NONE;
  if (number < bodyCount) return marks[number] = true, 1;
  if (count > 0 || !isPattern(word, length)) return count;
  char *pattern = strndup(word, length);
  for (uint32_t b = 0; b < bodyCount && pattern; ++b) {
    marks[b] = fnmatch(pattern, names[b], 0) == 0;
    count += marks[b];
  }
  free(pattern);
  return count;
}

/* ---------------------------------------------------------------- words into rules */

static bool allocateRule(pnRule *rule, uint32_t bodyCount) {
  for (int side = 0; side < 2; ++side) rule->sides[side] = calloc((size_t)bodyCount + 1, sizeof(bool));
  return rule->sides[0] && rule->sides[1];
}

/* Names may have commas in them: every comma is tried as the one in the middle, and first the whole word as one body.
 * Returns whether both sides have bodies. */
static bool fillRule(pnRule *rule, const char *word, const char *const *names, uint32_t bodyCount) {
  rule->exact = !isPattern(word, strlen(word));
  if (markBodies(word, strlen(word), names, bodyCount, rule->sides[0]) > 0) {
    memset(rule->sides[1], true, bodyCount);
    rule->exact = false;
    return true;
  }
  for (const char *comma = strchr(word, ','); comma; comma = strchr(comma + 1, ',')) {
    uint32_t left = markBodies(word, (size_t)(comma - word), names, bodyCount, rule->sides[0]);
    uint32_t right = markBodies(comma + 1, strlen(comma + 1), names, bodyCount, rule->sides[1]);
    if (left > 0 && right > 0) return true;
  }
  return false;
}

pnResult pn_makeChoice(const pnWords *only, const pnWords *ignored, const char *const *names, uint32_t bodyCount,
                       pnChoice *outChoice) {
  pnChoice choice = {.bodyCount = bodyCount, .onlyCount = only->count};
  pnResult result = PN_OK;
  uint32_t ruleCount = only->count + ignored->count;
  choice.rules = calloc((size_t)ruleCount + 1, sizeof(pnRule));
  if (!choice.rules) result = pnFail(PN_ERROR_MEMORY, "out of memory for %u rules", ruleCount);
  for (uint32_t i = 0; i < ruleCount && result == PN_OK; ++i) {
    bool isOnly = i < only->count;
    const char *word = isOnly ? only->items[i] : ignored->items[i - only->count];
    pnRule *rule = &choice.rules[choice.ruleCount++];
    if (!allocateRule(rule, bodyCount)) {
      result = pnFail(PN_ERROR_MEMORY, "out of memory for a choice among %u bodies", bodyCount);
    } else if (!fillRule(rule, word, names, bodyCount)) {
      // One script for many characters may ignore what not all of them have; a misspelt name is a mistake, and
      // a choice of nothing would pass every check.
      memset(rule->sides[0], 0, bodyCount);
      if (isOnly || !isPattern(word, strlen(word)))
        result = pnFail(PN_ERROR_ARGUMENT, "--%s: expected bodies A,B by name, number or pattern, found '%s'",
                        isOnly ? "only" : "ignore", word);
    }
  }
  if (result == PN_OK && !pn_makeClasses(&choice))
    result = pnFail(PN_ERROR_MEMORY, "out of memory for a choice among %u bodies", bodyCount);
  *outChoice = choice;
  if (result != PN_OK) pn_freeChoice(outChoice);
  return result;
}

void pn_freeChoice(pnChoice *choice) {
  for (uint32_t i = 0; i < choice->ruleCount; ++i) {
    free(choice->rules[i].sides[0]);
    free(choice->rules[i].sides[1]);
  }
  free(choice->rules);
  pn_freeClasses(&choice->classes);
  memset(choice, 0, sizeof(*choice));
}

/* ---------------------------------------------------------------- asking */

static bool isIn(const pnRule *rule, uint32_t a, uint32_t b) {
  return (rule->sides[0][a] && rule->sides[1][b]) || (rule->sides[0][b] && rule->sides[1][a]);
}

bool pn_rulesAllow(const pnChoice *choice, uint32_t a, uint32_t b) {
  bool allowed = choice->onlyCount == 0;
  for (uint32_t i = 0; i < choice->onlyCount && !allowed; ++i) allowed = isIn(&choice->rules[i], a, b);
  for (uint32_t i = choice->onlyCount; i < choice->ruleCount && allowed; ++i) allowed = !isIn(&choice->rules[i], a, b);
  return allowed;
}

bool pn_choiceNamesSelf(const pnChoice *choice, uint32_t body) {
  for (uint32_t i = 0; i < choice->onlyCount; ++i) {
    const pnRule *rule = &choice->rules[i];
    if (rule->exact && rule->sides[0][body] && rule->sides[1][body]) return true;
  }
  return false;
}

void pn_choiceFilter(const pnChoice *choice, uint32_t body, uint32_t *outCategory, uint32_t *outMask) {
  if (choice->onlyCount == 0 || choice->onlyCount > PN_FILTER_RULES) return;
  // Bit 2i: on the first side of rule i; bit 2i + 1: on the second. A body looks for the other side's bit, so that two
  // bodies agree exactly when a rule has them on its two sides.
  *outCategory = *outMask = 0;
  for (uint32_t i = 0; i < choice->onlyCount; ++i) {
    const pnRule *rule = &choice->rules[i];
    uint32_t first = 1u << (2 * i), second = 2u << (2 * i);
    if (rule->sides[0][body]) *outCategory |= first, *outMask |= second;
    if (rule->sides[1][body]) *outCategory |= second, *outMask |= first;
  }
}
