/* impacts.cl: where an impact goes that was found, and the names of its features. Two programs find them: the filter's (swept.cl) and the
 * exact one (swept_exact.cl). Each is counted by its first feature, for the sort (impacts_sort.cl). */

/* First numbers of a body in the world: vertex, triangle, edge. */
typedef uint4 Firsts;

/* Vertices, triangles and edges of the world have one numbering here, one kind after the other. */
typedef struct Impacts {
  __global uint *head;
  __global uint4 *names;   /* two bodies (the first above, 16 bits each), the kind (pinch/collide.h), the features in their meshes */
  __global double2 *spans;
  __global uint *count;    /* of each first feature */
  __global uint *rank;     /* of each impact among those of its first feature */
  __global const Firsts *firsts;
  uint capacity, vertexCount, triangleCount, earliest;
} Impacts;

#define IMPACT_ARGUMENTS                                                                                            \
  __global uint *head, __global uint4 *names, __global double2 *spans, __global uint *count, __global uint *rank, \
      __global const Firsts *firsts, uint capacity, uint vertexCount, uint triangleCount, uint earliest
#define IMPACTS_FROM_ARGUMENTS                                                                       \
  (Impacts) {                                                                                        \
    head, names, spans, count, rank, firsts, capacity, vertexCount, triangleCount, earliest          \
  }

/* The number of the first feature. */
static uint featureOf(__global const Firsts *firsts, uint vertexCount, uint triangleCount, uint4 who) {
  const Firsts first = firsts[who.x >> 16];
  if (who.y == 0) return first.x + who.z;
  return who.y == 1 ? vertexCount + first.y + who.z : vertexCount + triangleCount + first.z + who.z;
}

/* The earliest end of a span waits in the head, as a float that is not below it. */
static void putImpact(const Impacts *o, uint4 who, double lo, double hi) {
  const uint at = atomic_inc(o->head + HEAD_PAIRS);
  if (at < o->capacity) {
    o->names[at] = who, o->spans[at] = (double2)(lo, hi);
    o->rank[at] = atomic_inc(o->count + featureOf(o->firsts, o->vertexCount, o->triangleCount, who));
  } else {
    atomic_or(o->head + HEAD_OVERFLOW, LIST_PAIRS);
  }
  if (!o->earliest) return;
  float up = (float)hi;
  if ((double)up < hi) up = nextafter(up, INFINITY);
  atomic_min(o->head + HEAD_SOONEST, as_uint(up));
}
