/* choose_class.c: bodies that no rule of a choice tells apart.
 *
 * Rules have two sides, and a body is on each of them or not. Bodies that are on the same sides of all rules are one class. Classes are
 * made by splitting: all bodies are one, and every side of every rule divides each class in two or leaves it whole. That is linear in
 * bodies times rules; then pairs of classes are decided, and not pairs of bodies. */
#include "choose.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- making them */

/* Splits every class by who is on one side of a rule. splits: room for two numbers a class. */
static void split(pnChoice *choice, const bool *side, uint32_t *splits) {
  pnClasses *classes = &choice->classes;
  memset(splits, 0xff, 2 * (size_t)classes->count * sizeof(uint32_t));
  classes->count = 0;
  for (uint32_t b = 0; b < choice->bodyCount; ++b) {
    uint32_t *place = &splits[2 * (size_t)classes->of[b] + side[b]];
    if (*place == UINT32_MAX) *place = classes->count++;
    classes->of[b] = *place;
  }
  classes->steps += choice->bodyCount;
}

static void listItems(pnChoice *choice) {
  pnClasses *classes = &choice->classes;
  for (uint32_t b = 0; b < choice->bodyCount; ++b) ++classes->starts[classes->of[b] + 1];
  for (uint32_t c = 0; c < classes->count; ++c) classes->starts[c + 1] += classes->starts[c];
  // While bodies are put down a start goes on to the end of its class, which is the start of the next.
  for (uint32_t b = 0; b < choice->bodyCount; ++b) classes->items[classes->starts[classes->of[b]]++] = b;
  memmove(classes->starts + 1, classes->starts, classes->count * sizeof(uint32_t));
  classes->starts[0] = 0;
}

/* Any two of these classes are like any other two, and a body and itself like two of its class. */
static bool allows(pnChoice *choice, uint32_t c, uint32_t d) {
  const pnClasses *classes = &choice->classes;
  ++choice->classes.steps;
  return pn_rulesAllow(choice, classes->items[classes->starts[c]], classes->items[classes->starts[d]]);
}

/* Which classes are wanted, and which of these are not asked about one another. */
static bool listRefused(pnChoice *choice) {
  pnClasses *classes = &choice->classes;
  size_t count = 0, capacity = 0;
  for (uint32_t c = 0; c < classes->count; ++c)
    for (uint32_t d = 0; d < classes->count && !classes->wanted[c]; ++d) classes->wanted[c] = allows(choice, c, d);
  for (uint32_t c = 0; c < classes->count; ++c) {
    for (uint32_t d = 0; d < classes->count && classes->wanted[c]; ++d) {
      if (!classes->wanted[d] || allows(choice, c, d)) continue;
      if (count == capacity) {
        capacity = 2 * capacity + 16;
        uint32_t *grown = realloc(classes->refused, capacity * sizeof(uint32_t));
        if (!grown) return false;
        classes->refused = grown;
      }
      classes->refused[count++] = d;
    }
    classes->refusedStarts[c + 1] = count;
  }
  return true;
}

bool pn_makeClasses(pnChoice *choice) {
  pnClasses *classes = &choice->classes;
  size_t count = (size_t)choice->bodyCount + 2;
  uint32_t *splits = malloc(2 * count * sizeof(uint32_t));
  classes->of = calloc(count, sizeof(uint32_t));
  classes->starts = calloc(count, sizeof(uint32_t));
  classes->items = calloc(count, sizeof(uint32_t));
  classes->refusedStarts = calloc(count, sizeof(size_t));
  classes->wanted = calloc(count, sizeof(bool));
  bool good = splits && classes->of && classes->starts && classes->items && classes->refusedStarts && classes->wanted;
  if (good) {
    classes->count = choice->bodyCount > 0;
    for (uint32_t i = 0; i < choice->ruleCount; ++i)
      for (int side = 0; side < 2; ++side) split(choice, choice->rules[i].sides[side], splits);
    listItems(choice);
    good = listRefused(choice);
  }
  free(splits);
  return good;
}

void pn_freeClasses(pnClasses *classes) {
  free(classes->of);
  free(classes->starts);
  free(classes->items);
  free(classes->wanted);
  free(classes->refusedStarts);
  free(classes->refused);
  memset(classes, 0, sizeof(*classes));
}

/* ---------------------------------------------------------------- asking */

bool pn_choiceWants(const pnChoice *choice, uint32_t body) {
  return choice->classes.wanted[choice->classes.of[body]];
}

/* Are bodies of these classes asked about one another? */
static bool asks(const pnClasses *classes, uint32_t c, uint32_t d) {
  if (!classes->wanted[c] || !classes->wanted[d]) return false;
  // Invariant: d is in [low, high) of the list if it is in it.
  size_t low = classes->refusedStarts[c], high = classes->refusedStarts[c + 1];
  while (high > low) {
    size_t middle = low + (high - low) / 2;
    if (classes->refused[middle] == d) return false;
    if (classes->refused[middle] < d) low = middle + 1;
    else high = middle;
  }
  return true;
}

bool pn_choiceAllows(const pnChoice *choice, uint32_t a, uint32_t b) {
  return asks(&choice->classes, choice->classes.of[a], choice->classes.of[b]);
}

uint64_t pn_choiceCountPairs(const pnChoice *choice) {
  const pnClasses *classes = &choice->classes;
  uint64_t count = 0;
  for (uint32_t c = 0; c < classes->count; ++c) {
    uint64_t own = classes->starts[c + 1] - classes->starts[c];
    if (asks(classes, c, c)) count += own * (own - 1) / 2;
    for (uint32_t d = c + 1; d < classes->count; ++d)
      if (asks(classes, c, d)) count += own * (classes->starts[d + 1] - classes->starts[d]);
  }
  return count;
}

void pn_choiceListPairs(const pnChoice *choice, pnPair *outPairs) {
  const pnClasses *classes = &choice->classes;
  for (uint32_t c = 0; c < classes->count; ++c) {
    for (uint32_t d = c; d < classes->count; ++d) {
      if (!asks(classes, c, d)) continue;
      for (uint32_t i = classes->starts[c]; i < classes->starts[c + 1]; ++i) {
        for (uint32_t k = c == d ? i + 1 : classes->starts[d]; k < classes->starts[d + 1]; ++k) {
          uint32_t a = classes->items[i], b = classes->items[k];
          *outPairs++ = a < b ? (pnPair){a, b} : (pnPair){b, a};
        }
      }
    }
  }
}
