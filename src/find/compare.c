/* compare.c: findings beside those that somebody has seen and accepted.
 *
 * First by the digits of the name. Several findings may have the same: a foot goes through a coat at every step. Which is which is
 * told by when they begin, and not by the number behind the digits, which counts: when the first one is mended all others
 * have other numbers. What is left on both sides is compared by place: the same two bodies, and on both the same place within a part of
 * their boxes. Of all such pairs the closest is taken first, then the closest of the rest, so that the answer does not depend on
 * the order in which either list is written. */
#include "find/find.h"

#include "base/fenv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

pnCompareDef pnDefaultCompareDef(void) {
  return (pnCompareDef){.depthPart = 0.05, .timePart = 0.1, .time = 0.1, .place = 0.15, .cookie = PN_COOKIE};
}

/* How far apart two places are: the largest difference along an axis. */
static double apart(pnVec3 p, pnVec3 q) {
  double x = fabs((double)p.x - q.x), y = fabs((double)p.y - q.y), z = fabs((double)p.z - q.z);
  return PN_MAX(x, PN_MAX(y, z));
}

/* Are they between the same bodies, and how far apart? Infinite: not. */
static double distanceOf(const pnFinder *finder, const pnFinding *f, const pnKnownFinding *known) {
  const char *a = finder->bodies.data[f->a].name, *b = finder->bodies.data[f->b].name;
  bool same = strcmp(a, known->a) == 0 && strcmp(b, known->b) == 0;
  bool turned = strcmp(a, known->b) == 0 && strcmp(b, known->a) == 0;
  double straight = same ? PN_MAX(apart(f->placeA, known->placeA), apart(f->placeB, known->placeB)) : INFINITY;
  double crossed = turned ? PN_MAX(apart(f->placeA, known->placeB), apart(f->placeB, known->placeA)) : INFINITY;
  return PN_MIN(straight, crossed);
}

static bool isBetween(const pnFinder *finder, const pnFinding *f, const pnKnownFinding *known) {
  const char *a = finder->bodies.data[f->a].name, *b = finder->bodies.data[f->b].name;
  return (strcmp(a, known->a) == 0 && strcmp(b, known->b) == 0) ||
         (strcmp(a, known->b) == 0 && strcmp(b, known->a) == 0);
}

static pnStanding standingOf(const pnFinding *f, const pnKnownFinding *known, const pnCompareDef *def) {
  if (f->depth.value > known->depth * (1 + def->depthPart) + def->depthLength) return PN_STANDING_DEEPER;
  double time = f->lastTime - f->firstTime;
  bool longer = known->time >= 0 && time > known->time * (1 + def->timePart) + def->time;
  return longer ? PN_STANDING_LONGER : PN_STANDING_KNOWN;
}

/* The digits of a name, without the number behind them. */
static bool haveSameDigits(const char *name, const char *other) {
  return strncmp(name, other, 8) == 0 && (name[8] == 0 || name[8] == '-') && (other[8] == 0 || other[8] == '-');
}

/* How well two with the same digits and bodies fit: the time between their begins, or their names. Infinite: not at all. */
static double distanceInTime(const pnFinder *finder, const pnFinding *f, const pnKnownFinding *known) {
  if (!haveSameDigits(f->name, known->name) || !isBetween(finder, f, known)) return INFINITY;
  if (known->hasBegin) return fabs(f->firstTime - known->begin);
  return strcmp(f->name, known->name) == 0 ? 0 : INFINITY;
}

/* Of those with the same digits the closest two in time that are left; of equal ones the first. False: there are none. */
static bool matchDigits(const pnFinder *finder, const pnKnownFinding *known, uint32_t knownCount, uint32_t *matches,
                        bool *taken) {
  double best = INFINITY;
  size_t finding = 0;
  uint32_t match = PN_NONE;
  for (size_t i = 0; i < finder->findings.count; ++i) {
    for (uint32_t k = 0; k < knownCount && matches[i] == PN_NONE; ++k) {
      double d = taken[k] ? INFINITY : distanceInTime(finder, &finder->findings.data[i], &known[k]);
      if (d < best) best = d, finding = i, match = k;
    }
  }
  if (match == PN_NONE) return false;
  matches[finding] = match;
  taken[match] = true;
  return true;
}

static bool isTaken(const pnFinder *finder, const pnKnownFinding *known, uint32_t knownCount, const char *name,
                    size_t except) {
  for (uint32_t k = 0; k < knownCount; ++k)
    if (strcmp(known[k].name, name) == 0) return true;
  for (size_t i = 0; i < finder->findings.count; ++i)
    if (i != except && strcmp(finder->findings.data[i].name, name) == 0) return true;
  return false;
}

/* Known ones have their known names; the others get the next number of theirs that nobody has or had. */
static void keepNames(pnFinder *finder, const pnKnownFinding *known, uint32_t knownCount, const uint32_t *matches) {
  for (size_t i = 0; i < finder->findings.count; ++i)
    if (matches[i] != PN_NONE) snprintf(finder->findings.data[i].name, PN_FINDING_NAME, "%s", known[matches[i]].name);
  for (size_t i = 0; i < finder->findings.count; ++i) {
    char *name = finder->findings.data[i].name;
    if (matches[i] != PN_NONE) continue;
    for (unsigned number = 2; isTaken(finder, known, knownCount, name, i); ++number)
      snprintf(name + 8, PN_FINDING_NAME - 8, "-%u", number);
  }
}

/* The closest two that are left; false when none are close enough. */
static bool matchClosest(const pnFinder *finder, const pnKnownFinding *known, uint32_t knownCount, double most,
                         uint32_t *matches, bool *taken) {
  double best = INFINITY;
  size_t finding = 0;
  uint32_t match = PN_NONE;
  for (size_t i = 0; i < finder->findings.count; ++i) {
    for (uint32_t k = 0; k < knownCount && matches[i] == PN_NONE; ++k) {
      if (taken[k] || !known[k].hasPlace) continue;
      double d = distanceOf(finder, &finder->findings.data[i], &known[k]);
      if (d < best) best = d, finding = i, match = k;
    }
  }
  if (match == PN_NONE || !(best <= most)) return false;
  matches[finding] = match;
  taken[match] = true;
  return true;
}

pnResult pnFinder_Compare(pnFinder *finder, const pnKnownFinding *known, uint32_t knownCount, const pnCompareDef *def,
                          pnStanding *outStandings, uint32_t *outMatches) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(finder && outStandings && (knownCount == 0 || known));
  pnCompareDef none = pnDefaultCompareDef();
  def = def ? def : &none;
  pnResult result = pn_checkCookie(def->cookie, "pnCompareDef");
  if (result != PN_OK) return result;
  size_t count = finder->findings.count;
  bool *taken = pn_allocZero(PN_MAX(knownCount, 1u));
  uint32_t *matches = pn_alloc(PN_MAX(count, 1) * sizeof(uint32_t));
  bool good = taken && matches;
  for (size_t i = 0; i < count && good; ++i) matches[i] = PN_NONE;
  while (good && matchDigits(finder, known, knownCount, matches, taken)) {}
  while (good && matchClosest(finder, known, knownCount, def->place, matches, taken)) {}
  if (good) keepNames(finder, known, knownCount, matches);
  for (size_t i = 0; i < count && good; ++i) {
    outStandings[i] =
        matches[i] == PN_NONE ? PN_STANDING_NEW : standingOf(&finder->findings.data[i], &known[matches[i]], def);
    if (outMatches) outMatches[i] = matches[i];
  }
  pn_free(taken, PN_MAX(knownCount, 1u));
  pn_free(matches, PN_MAX(count, 1) * sizeof(uint32_t));
  return good ? PN_OK : pn_failMemory(knownCount);
}
