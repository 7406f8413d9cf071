/* compare.c: findings beside those that somebody has seen and accepted.
 *
 * First by the digits of the name. Several findings may have the same: a foot goes through a coat at every step. Which is which is
 * told by when they begin, and not by the number behind the digits, which counts: when the first one is mended all others
 * have other numbers. What is left on both sides is compared by place: the same two bodies, and on both the same place within a part of
 * their boxes. Of all such pairs the closest is taken first, then the closest of the rest, so that the answer does not depend on
 * the order in which either list is written.
 *
 * Both lists are sorted into groups of the same bodies, and of the same digits, so that only what may fit is compared. */
#include "find/find.h"

#include "base/fenv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

static pnStanding standingOf(const pnFinding *f, const pnKnownFinding *known, const pnCompareDef *def) {
  if (f->depth.value > known->depth * (1 + def->depthPart) + def->depthLength) return PN_STANDING_DEEPER;
  double time = f->lastTime - f->firstTime;
  bool longer = known->time >= 0 && time > known->time * (1 + def->timePart) + def->time;
  return longer ? PN_STANDING_LONGER : PN_STANDING_KNOWN;
}

/* ---------------------------------------------------------------- groups */

/* A finding or a known one, and what it can be compared with: the same bodies, whichever is first, and the same digits. */
typedef struct Comparable {
  const char *low, *high; /* the names of the bodies */
  const char *digits;     /* the name; the first eight count. Null: they do not */
  uint32_t index;
  bool isKnown;
} Comparable;

typedef struct Comparison {
  pnFinder *finder;
  const pnKnownFinding *known;
  uint32_t knownCount;
  uint32_t *matches; /* one a finding */
  bool *taken;       /* one a known finding */
  Comparable *all;   /* findings and known ones, group after group */
  double *least;     /* one of `all`, while a group is matched: no known one that is left is closer */
  uint32_t *closest; /* and which one was */
  bool byTime;       /* else by place */
} Comparison;

static int compareGroups(const Comparable *a, const Comparable *b) {
  int order = a->digits ? strncmp(a->digits, b->digits, 8) : 0;
  if (order == 0) order = strcmp(a->low, b->low);
  return order != 0 ? order : strcmp(a->high, b->high);
}

/* Findings first, each kind in its order. */
static int compareComparables(const void *p, const void *q) {
  const Comparable *a = p, *b = q;
  int order = compareGroups(a, b);
  if (order != 0) return order;
  if (a->isKnown != b->isKnown) return a->isKnown ? 1 : -1;
  return a->index < b->index ? -1 : a->index > b->index;
}

static Comparable comparable(const char *a, const char *b, const char *digits, size_t index, bool isKnown) {
  bool turned = strcmp(a, b) > 0;
  return (Comparable){turned ? b : a, turned ? a : b, digits, (uint32_t)index, isKnown};
}

/* Eight digits, and nothing or a number behind them. */
static bool hasDigits(const char *name) {
  return strlen(name) >= 8 && (name[8] == 0 || name[8] == '-');
}

/* What is left on both sides, sorted. */
static size_t listComparables(const Comparison *c) {
  size_t count = 0;
  for (size_t i = 0; i < c->finder->findings.count; ++i) {
    const pnFinding *f = &c->finder->findings.data[i];
    const char *a = c->finder->bodies.data[f->a].name, *b = c->finder->bodies.data[f->b].name;
    if (c->matches[i] == PN_NONE) c->all[count++] = comparable(a, b, c->byTime ? f->name : NULL, i, false);
  }
  for (uint32_t k = 0; k < c->knownCount; ++k) {
    const pnKnownFinding *known = &c->known[k];
    bool fits = c->byTime ? hasDigits(known->name) : known->hasPlace;
    if (!c->taken[k] && fits) c->all[count++] = comparable(known->a, known->b, c->byTime ? known->name : NULL, k, true);
  }
  if (count > 1) qsort(c->all, count, sizeof(Comparable), compareComparables);
  return count;
}

/* How well two of a group fit: the time between their begins, or their names; or their places. Infinite: not at all. */
static double distanceBetween(const Comparison *c, const Comparable *f, const Comparable *k) {
  const pnFinding *finding = &c->finder->findings.data[f->index];
  const pnKnownFinding *known = &c->known[k->index];
  if (!c->byTime) return distanceOf(c->finder, finding, known);
  if (known->hasBegin) return fabs(finding->firstTime - known->begin);
  return strcmp(finding->name, known->name) == 0 ? 0 : INFINITY;
}

/* The closest known one that is left, of equal ones the first. */
static void findClosest(Comparison *c, size_t f, size_t middle, size_t end) {
  c->least[f] = INFINITY;
  for (size_t k = middle; k < end; ++k) {
    if (c->taken[c->all[k].index]) continue;
    double d = distanceBetween(c, &c->all[f], &c->all[k]);
    if (d < c->least[f]) c->least[f] = d, c->closest[f] = c->all[k].index;
  }
}

/* The findings all[begin ... middle - 1] with the known ones all[middle ... end - 1]: the closest two, then the closest of the rest; of equal
 * ones the first. What was closest to a finding is looked for again only when it is its turn and the known one is taken. */
static void matchGroup(Comparison *c, size_t begin, size_t middle, size_t end, double most) {
  for (size_t f = begin; f < middle; ++f) findClosest(c, f, middle, end);
  for (size_t left = middle - begin; left > 0;) {
    size_t best = begin;
    for (size_t f = begin + 1; f < middle; ++f)
      if (c->least[f] < c->least[best]) best = f;
    if (c->least[best] == INFINITY || !(c->least[best] <= most)) return;
    if (c->taken[c->closest[best]]) {
      findClosest(c, best, middle, end);
      continue;
    }
    c->matches[c->all[best].index] = c->closest[best];
    c->taken[c->closest[best]] = true;
    c->least[best] = INFINITY;
    --left;
  }
}

static void matchGroups(Comparison *c, bool byTime, double most) {
  c->byTime = byTime;
  size_t count = listComparables(c);
  for (size_t begin = 0, end; begin < count; begin = end) {
    size_t middle = begin;
    for (end = begin; end < count && compareGroups(&c->all[begin], &c->all[end]) == 0; ++end)
      middle += !c->all[end].isKnown;
    if (middle > begin && middle < end) matchGroup(c, begin, middle, end, most);
  }
}

/* ---------------------------------------------------------------- names */

/* Names that somebody has or had, each with how many: a table of `size` places, a power of two. */
typedef struct Name {
  char text[PN_FINDING_NAME]; /* empty: this place is free */
  uint32_t count;
} Name;

typedef struct Names {
  Name *table;
  size_t size;
} Names;

/* Where a name is, or has its place. There is always a free one. */
static Name *findName(const Names *names, const char *text) {
  uint64_t hash = pn_hashText(PN_HASH_BEGIN, text);
  size_t at = (size_t)(hash ^ hash >> 32) & (names->size - 1);
  while (names->table[at].text[0] != 0 && strcmp(names->table[at].text, text) != 0) at = (at + 1) & (names->size - 1);
  return &names->table[at];
}

static void addName(const Names *names, const char *text) {
  // Longer ones are no names that a finding could have.
  if (text[0] == 0 || strlen(text) >= PN_FINDING_NAME) return;
  Name *name = findName(names, text);
  snprintf(name->text, PN_FINDING_NAME, "%s", text);
  ++name->count;
}

/* Known ones have their known names; the others get the next number of theirs that nobody has or had. */
static void keepNames(const Comparison *c, const Names *names) {
  pnFinding *findings = c->finder->findings.data;
  size_t count = c->finder->findings.count;
  for (size_t i = 0; i < count; ++i)
    if (c->matches[i] != PN_NONE) snprintf(findings[i].name, PN_FINDING_NAME, "%s", c->known[c->matches[i]].name);
  for (uint32_t k = 0; k < c->knownCount; ++k) addName(names, c->known[k].name);
  for (size_t i = 0; i < count; ++i) addName(names, findings[i].name);
  for (size_t i = 0; i < count; ++i) {
    if (c->matches[i] != PN_NONE) continue;
    --findName(names, findings[i].name)->count;
    for (unsigned number = 2; findName(names, findings[i].name)->count > 0; ++number)
      snprintf(findings[i].name + 8, PN_FINDING_NAME - 8, "-%u", number);
    addName(names, findings[i].name);
  }
}

/* ---------------------------------------------------------------- the door */

pnResult pnFinder_Compare(pnFinder *finder, const pnKnownFinding *known, uint32_t knownCount, const pnCompareDef *def,
                          pnStanding *outStandings, uint32_t *outMatches) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(finder && outStandings && (knownCount == 0 || known));
  pnCompareDef none = pnDefaultCompareDef();
  def = def ? def : &none;
  pnResult result = pn_checkCookie(def->cookie, "pnCompareDef");
  if (result != PN_OK) return result;
  size_t count = finder->findings.count, all = PN_MAX(count + knownCount, 1);
  Names names = {.size = 4};
  while (names.size < 3 * all) names.size *= 2; // each finding may leave a name behind
  Comparison c = {.finder = finder, .known = known, .knownCount = knownCount};
  c.taken = pn_allocZero(PN_MAX(knownCount, 1u));
  c.matches = pn_alloc(PN_MAX(count, 1) * sizeof(uint32_t));
  c.all = pn_alloc(all * sizeof(Comparable));
  c.least = pn_alloc(all * sizeof(double));
  c.closest = pn_alloc(all * sizeof(uint32_t));
  names.table = pn_allocZero(names.size * sizeof(Name));
  bool good = c.taken && c.matches && c.all && c.least && c.closest && names.table;
  for (size_t i = 0; i < count && good; ++i) c.matches[i] = PN_NONE;
  if (good) {
    matchGroups(&c, true, INFINITY);
    matchGroups(&c, false, def->place);
    keepNames(&c, &names);
  }
  for (size_t i = 0; i < count && good; ++i) {
    uint32_t match = c.matches[i];
    outStandings[i] = match == PN_NONE ? PN_STANDING_NEW : standingOf(&finder->findings.data[i], &known[match], def);
    if (outMatches) outMatches[i] = match;
  }
  pn_free(c.taken, PN_MAX(knownCount, 1u));
  pn_free(c.matches, PN_MAX(count, 1) * sizeof(uint32_t));
  pn_free(c.all, all * sizeof(Comparable));
  pn_free(c.least, all * sizeof(double));
  pn_free(c.closest, all * sizeof(uint32_t));
  pn_free(names.table, names.size * sizeof(Name));
  return good ? PN_OK : pn_failMemory(all * sizeof(Comparable));
}
