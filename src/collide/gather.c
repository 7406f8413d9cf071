/* gather.c: see gather.h. Of jobs with few pairs these are copied to where they belong and sorted there, several jobs side by side: by
 * several workers in one loop, each about as many pairs. A job that alone has more than a worker's share is sorted by all
 * workers together, out of their lists. */
#include "collide/gather.h"

#include "base/sort.h"
#include "collide/few.h"

typedef struct Gather {
  pnCollider *c;
  pnJob *jobs;
  uint32_t jobCount;
  const pnRunDef *def;
  uint32_t workers;
  size_t base;    /* pairs of the collider that were there before */
  size_t total;   /* pairs of these jobs */
  uint32_t parts; /* that small jobs are dealt in */
  uint64_t *scratch;
} Gather;

/* Parts that the pairs of small jobs are dealt in, for each worker, and pairs from which on it is worth waking others; and from which on
 * all of them sort one job. */
#define SORTS_PER_WORKER 4u
#define PAIRS_PER_SORT 512u
#define PAIRS_BY_ALL 1024u

/* ---------------------------------------------------------------- segments */

/* With a limit: the segments of all workers in the order of items, as many pairs as are wanted. */
static bool limitSegments(const Gather *g, bool *outLimited) {
  pnCollider *c = g->c;
  c->ordered.count = 0;
  if (!pn_arrayReserve(&c->ordered, c->items.count)) return false;
  c->ordered.count = c->items.count;
  for (size_t i = 0; i < c->items.count; ++i) c->ordered.data[i] = (pnSegment){0};
  for (uint32_t i = 0; i < g->workers; ++i) {
    for (size_t s = 0; s < c->segments[i].count; ++s) {
      pnSegment segment = c->segments[i].data[s];
      c->ordered.data[segment.item] = (pnSegment){i, segment.job, segment.begin, segment.end, 0, NULL};
    }
  }
  size_t room = g->def->maxPairs;
  for (size_t i = 0; i < c->items.count; ++i) {
    pnSegment *segment = &c->ordered.data[i];
    size_t count = segment->end - segment->begin;
    *outLimited = *outLimited || count > room;
    segment->end = segment->begin + PN_MIN(count, room);
    room -= PN_MIN(count, room);
  }
  return true;
}

/* One pass over all segments, of which there are `lists`: that of each worker, or those in order. */
static pnSegments *segmentsAt(const Gather *g, uint32_t list, uint32_t *outLists) {
  bool limited = g->def->maxPairs > 0;
  *outLists = limited ? 1 : g->workers;
  return limited ? &g->c->ordered : &g->c->segments[list];
}

/* The pairs of a segment in this list. */
static const pnPair *pairsOf(const Gather *g, uint32_t list, const pnSegment *segment) {
  const pnWorker *w = &g->c->workers[g->def->maxPairs > 0 ? segment->item : list];
  return w->found.data + segment->begin;
}

/* Jobs have found nothing yet. */
static void forgetCounts(const Gather *g) {
  for (uint32_t j = 0; j < g->jobCount; ++j) g->jobs[j].pairCount = 0;
}

/* How many pairs each job has, then where they begin; returns where they end. */
static size_t layOut(const Gather *g, bool *outSorts) {
  pnJob *jobs = g->jobs;
  uint32_t lists = 1;
  forgetCounts(g);
  for (uint32_t i = 0; i < lists; ++i) {
    const pnSegments *list = segmentsAt(g, i, &lists);
    for (size_t s = 0; s < list->count; ++s)
      jobs[list->data[s].job].pairCount += list->data[s].end - list->data[s].begin;
  }
  size_t end = g->base;
  *outSorts = !g->def->unsorted;
  for (uint32_t j = 0; j < g->jobCount; ++j) {
    *outSorts = *outSorts || jobs[j].inPieces;
    jobs[j].pairFirst = end;
    end += jobs[j].pairCount;
  }
  return end;
}

static bool isSorted(const Gather *g, const pnJob *job) {
  return !g->def->unsorted || job->inPieces;
}

/* One that all workers sort together, because it alone is more than a worker's share of all pairs. */
static bool isLarge(const Gather *g, const pnJob *job) {
  return g->workers > 1 && job->pairCount > PAIRS_BY_ALL && job->pairCount > g->total / g->workers && isSorted(g, job);
}

/* ---------------------------------------------------------------- copied and sorted by one */

/* Where each segment goes: after those of its job in the lists before. For several workers those of a job are linked, and know whose
 * they are. */
static bool placeSegments(const Gather *g) {
  pnCollider *c = g->c;
  bool links = g->workers > 1;
  if (links && !pn_arrayReserve(&c->firsts, g->jobCount)) return false;
  for (uint32_t j = 0; links && j < g->jobCount; ++j) c->firsts.data[j] = NULL;
  uint32_t lists = 1;
  forgetCounts(g);
  for (uint32_t i = 0; i < lists; ++i) {
    pnSegments *list = segmentsAt(g, i, &lists);
    for (size_t s = 0; s < list->count; ++s) {
      pnSegment *segment = &list->data[s];
      pnJob *job = &g->jobs[segment->job];
      segment->to = job->pairFirst + job->pairCount;
      job->pairCount += segment->end - segment->begin;
      if (!links || segment->end == segment->begin) continue;
      segment->item = g->def->maxPairs > 0 ? segment->item : i;
      segment->next = c->firsts.data[segment->job];
      c->firsts.data[segment->job] = segment;
    }
  }
  return true;
}

/* Pairs of a worker's list to where they belong. */
static void copySegment(const Gather *g, uint32_t list, const pnSegment *segment) {
  memcpy(g->c->pairs.data + segment->to, g->c->workers[list].found.data + segment->begin,
         (segment->end - segment->begin) * sizeof(pnPair));
}

/* What the only worker has found. */
static void copyAll(const Gather *g) {
  uint32_t lists;
  const pnSegments *list = segmentsAt(g, 0, &lists);
  for (size_t s = 0; s < list->count; ++s)
    if (list->data[s].end > list->data[s].begin) copySegment(g, 0, &list->data[s]);
}

/* Pairs of small bodies come in order (small.h). Where others are not, that is mostly seen at once. */
static bool areInOrder(const pnPair *pairs, size_t count) {
  size_t i = 1;
  while (i < count && (pairs[i - 1].a < pairs[i].a || (pairs[i - 1].a == pairs[i].a && pairs[i - 1].b <= pairs[i].b)))
    ++i;
  return i >= count;
}

/* The pairs of a job in order; every job has its own part of the scratch memory. */
static void sortPairs(const Gather *g, const pnJob *job) {
  /* (none: there may be no memory to point into) */
  if (job->pairCount < 2 || !isSorted(g, job)) return;
  pnPair *pairs = g->c->pairs.data + job->pairFirst;
  if (areInOrder(pairs, job->pairCount)) return;
  if (!job->inPieces && pn_sortFew(pairs, job->pairCount)) return;
  pn_sortWords(pairs, g->scratch + (job->pairFirst - g->base), job->pairCount);
}

/* The first job of a part: parts have about as many pairs each. */
static uint32_t partBegin(const Gather *g, uint32_t part) {
  size_t least = g->base + g->total * part / g->parts, at = 0;
  PN_FIND_PLACE(at, g->jobCount, g->jobs[middle].pairFirst < least)
  return (uint32_t)at;
}

/* Copies the pairs of small jobs, out of the lists of all workers, and sorts them. */
static void gatherParts(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const Gather *g = context;
  for (uint32_t j = partBegin(g, begin), last = partBegin(g, end); j < last; ++j) {
    const pnJob *job = &g->jobs[j];
    if (isLarge(g, job)) continue;
    for (const pnSegment *s = g->c->firsts.data[j]; s; s = s->next) copySegment(g, s->item, s);
    sortPairs(g, job);
  }
}

/* All jobs but large ones, of `count` pairs. Of one job nothing is left for others. */
static bool gatherSmall(Gather *g, size_t count, bool isOne) {
  if (!placeSegments(g)) return false;
  if (g->workers > 1) {
    g->parts = g->workers * SORTS_PER_WORKER;
    pn_parallelFor(isOne || count < PAIRS_PER_SORT ? NULL : g->def->tasks, gatherParts, g, g->parts, 1);
    return true;
  }
  copyAll(g); /* before the first is sorted, in the memory where these were */
  for (uint32_t j = 0; j < g->jobCount; ++j) sortPairs(g, &g->jobs[j]);
  return true;
}

/* ---------------------------------------------------------------- sorted by all */

/* The pairs of a job as they stand in the lists of the workers. */
static bool listKeys(const Gather *g, uint32_t job) {
  pnCollider *c = g->c;
  size_t first = 0;
  uint32_t lists = 1;
  c->keyLists.count = 0;
  for (uint32_t i = 0; i < lists; ++i) {
    const pnSegments *list = segmentsAt(g, i, &lists);
    const pnPair *end = NULL; /* of the segment before: when the next goes on there, it is the same list */
    if (!pn_arrayReserve(&c->keyLists, c->keyLists.count + list->count)) return false;
    for (size_t s = 0; s < list->count; ++s) {
      const pnSegment *segment = &list->data[s];
      const pnPair *pairs = pairsOf(g, i, segment);
      if (segment->job != job || segment->end == segment->begin) continue;
      if (pairs != end) c->keyLists.data[c->keyLists.count++] = (pnKeyList){&pairs->a, first};
      first += segment->end - segment->begin;
      end = pairs + (segment->end - segment->begin);
    }
  }
  return true;
}

static bool sortLarge(const Gather *g, uint32_t job) {
  pnCollider *c = g->c;
  if (!listKeys(g, job)) return false;
  size_t first = g->jobs[job].pairFirst;
  pn_sortListsByMany(c->keyLists.data, (uint32_t)c->keyLists.count, g->jobs[job].pairCount, c->pairs.data + first,
                     g->scratch, g->def->tasks);
  return true;
}

/* ---------------------------------------------------------------- all */

/* A triangle in pieces is met once for each piece: every pair once. */
static void dropRepeats(pnCollider *c, pnJob *job, pnCost *cost) {
  if (job->pairCount < 2) return;
  pnPair *pairs = c->pairs.data + job->pairFirst;
  size_t kept = 1;
  for (size_t i = 1; i < job->pairCount; ++i) {
    bool again = pairs[i].a == pairs[kept - 1].a && pairs[i].b == pairs[kept - 1].b;
    pairs[kept] = pairs[i];
    kept += !again;
  }
  cost->pairs -= job->pairCount - kept;
  job->pairCount = kept;
}

/* What is sorted in. What one worker has found is as long as all pairs, and not needed any more when these have been copied. */
static bool findScratch(Gather *g, size_t count) {
  pnCollider *c = g->c;
  bool own = g->workers > 1;
  if (own && !pn_arrayReserve(&c->scratch, count)) return false;
  g->scratch = own ? c->scratch.data : (uint64_t *)(void *)c->workers[0].found.data;
  return true;
}

bool pn_gatherPairs(pnCollider *c, pnJob *jobs, uint32_t jobCount, const pnRunDef *def, pnCost *cost,
                    bool *outLimited) {
  Gather g = {.c = c, .jobs = jobs, .jobCount = jobCount, .def = def};
  g.workers = pn_workerCount(def->tasks);
  g.base = c->pairs.count;
  bool sorts;
  if (def->maxPairs > 0 && !limitSegments(&g, outLimited)) return false;
  size_t end = layOut(&g, &sorts), largest = 0, small = 0, smallJobs = 0;
  g.total = end - g.base;
  for (uint32_t j = 0; j < jobCount; ++j) {
    bool large = isLarge(&g, &jobs[j]);
    largest = large ? PN_MAX(largest, jobs[j].pairCount) : largest;
    small += large ? 0 : jobs[j].pairCount;
    smallJobs += !large && jobs[j].pairCount > 0;
  }
  if (!pn_arrayReserve(&c->pairs, end)) return false;
  if (sorts && !findScratch(&g, PN_MAX(g.total, 2 * largest))) return false;
  /* large jobs one after the other, the small ones side by side */
  for (uint32_t j = 0; j < jobCount; ++j)
    if (isLarge(&g, &jobs[j]) && !sortLarge(&g, j)) return false;
  if (small > 0 && !gatherSmall(&g, small, smallJobs == 1)) return false;
  for (uint32_t j = 0; j < jobCount; ++j)
    if (jobs[j].inPieces) dropRepeats(c, &jobs[j], cost);
  /* the last job's pairs end the list */
  c->pairs.count = jobCount > 0 ? jobs[jobCount - 1].pairFirst + jobs[jobCount - 1].pairCount : g.base;
  return true;
}
