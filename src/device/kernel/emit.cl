/* emit.cl: what happens to a pair of triangles that meet. Pairs are written with the world's numbers of triangles, the
 * smaller first, in the order found; for the sort each is counted by its first triangle, and its rank among those kept. Where
 * the sort goes by bins (sort.cl) it goes into the bin of its first triangle instead. */
/* Numbers travel as one argument: each that a kernel has makes it slower to start. The host has the same struct (device/frame.c). */
typedef struct EmitHow {
  uint capacity, mode, place, list, bodyCount, binShift;
} EmitHow;

typedef struct Emit {
  __global uint *head;
  __global uint2 *pairs;     /* or the raw list, when there is a filter behind; or bins */
  __global uint *rank;       /* of each pair among those with the same first triangle */
  __global uint *count;      /* pairs of each first triangle, or of each bin */
  __global uint *met;        /* EMIT_FIRST: one a pair of bodies, not 0: already found */
  __global const uint *body; /* the first triangle of each body */
  EmitHow how;
} Emit;

/* Every kernel that finds pairs begins with these. */
#define EMIT_ARGUMENTS                                                                                       \
  __global uint *head, __global uint2 *pairs, __global uint *rank, __global uint *count, __global uint *met, \
      __global const uint *bodyFirst, EmitHow how
#define EMIT_FROM_ARGUMENTS                           \
  (Emit) {                                            \
    head, pairs, rank, count, met, bodyFirst, how     \
  }

/* Bodies are few and their triangles are numbered one after the other: a search. first[b] is the first triangle of b. */
static uint bodyOfTriangle(__global const uint *first, uint bodyCount, uint triangle) {
  uint low = 0, high = bodyCount;
  while (high - low > 1) {
    uint middle = (low + high) / 2;
    if (first[middle] <= triangle) low = middle;
    else high = middle;
  }
  return low;
}

/* Is it the first of its bodies? Whoever comes first, comes first. */
static bool claims(const Emit *e, uint2 v) {
  uint a = bodyOfTriangle(e->body, e->how.bodyCount, v.x), b = bodyOfTriangle(e->body, e->how.bodyCount, v.y);
  __global uint *flag = e->met + (size_t)a * e->how.bodyCount + b;
  return *flag == 0 && atomic_xchg(flag, 1u) == 0;
}

/* Pair number `at` of the list. */
static void putPair(const Emit *e, uint at, uint2 v) {
  if (at >= e->how.capacity) {
    atomic_or(e->head + HEAD_OVERFLOW, e->how.list);
    return;
  }
  if (e->how.mode & EMIT_BINS) {
    const uint bin = v.x >> e->how.binShift, rank = atomic_inc(e->count + bin);
    if (rank < BIN_ROOM) e->pairs[bin * BIN_ROOM + rank] = v;
    else atomic_or(e->head + HEAD_OVERFLOW, LIST_BINS);
    return;
  }
  e->pairs[at] = v;
  if (e->how.mode & EMIT_SORT) e->rank[at] = atomic_inc(e->count + v.x);
}

/* One pair alone. */
static void emitPair(const Emit *e, uint2 v) {
  if ((e->how.mode & EMIT_FIRST) && !claims(e, v)) return;
  putPair(e, atomic_inc(e->head + e->how.place), v);
}

static uint2 sortedPair(uint a, uint b) {
  return (uint2)(min(a, b), max(a, b));
}
