/* deform_free.c: the free motion. The caller gives every vertex, as a copy or as an array to look at.
 *
 * Copies may be for many poses at once. Poses have two arrays, of which they read one: all numbers are looked through and copied into the
 * others, by all workers and in one pass, and when every number is known to be good the poses turn to them. So nothing has changed
 * when one is bad.
 *
 * Copied numbers are checked before anything is changed, and so are shared ones when there is a transform: vertices so
 * far out that the sum would overflow are refused with those that are not finite. A shared array without a transform is
 * only looked at when it is used (sourceMaxAbs is PN_UNKNOWN_MAX_ABS until then): the tree reads every vertex anyway, and
 * a pass of its own would cost as much as the copy that sharing saves. */
#include "base/memory.h"

#include "base/fenv.h"
#include "base/sort.h"
#include "base/task.h"
#include "geom/box.h"
#include "mesh/pose.h"

#include <float.h>
#include <string.h>

/* ---------------------------------------------------------------- setting */

/* Is this a pose that takes so many vertices? */
static pnResult checkKind(const pnPose *pose, uint32_t count) {
  const char *name = pose->mesh->name;
  if (pose->motion->movedBy)
    return pn_fail(PN_ERROR_KIND, "pose of mesh '%s': it moves by %s, its vertices cannot be set", name,
                   pose->motion->movedBy);
  if (count != pose->mesh->vertexCount)
    return pn_fail(PN_ERROR_COUNT, "pose of mesh '%s': %u vertices were given, the mesh has %u", name, count,
                   pose->mesh->vertexCount);
  return PN_OK;
}

/* Says which number is not finite. */
static pnResult refuseNumber(const pnPose *pose, const float *vertices) {
  size_t bad = 0;
  pn_allFinite(vertices, 3 * (size_t)pose->mesh->vertexCount, &bad);
  return pn_fail(PN_ERROR_NUMBER, "pose of mesh '%s': coordinate %c of vertex %zu is NaN or infinite", pose->mesh->name,
                 "xyz"[bad % 3], bad / 3);
}

pnResult pn_checkNumbers(const pnPose *pose, const float *vertices, pnBox *outBox) {
  // one fast pass; a second one only to say where
  *outBox = pn_boxOfNumbers(vertices, 3 * (size_t)pose->mesh->vertexCount);
  return pn_boxReach(outBox) <= FLT_MAX ? PN_OK : refuseNumber(pose, vertices);
}

/* Can the pose take an array of this largest magnitude? */
static pnResult checkMost(const pnPose *pose, const float *vertices, float maxAbs) {
  if (!(maxAbs <= FLT_MAX)) return refuseNumber(pose, vertices);
  if (pose->hasTransform && !pn_rigidFits(&pose->transform, maxAbs))
    return pn_fail(PN_ERROR_NUMBER, "pose of mesh '%s': a coordinate of magnitude %g overflows under the transform",
                   pose->mesh->name, (double)maxAbs);
  return PN_OK;
}

/* Numbers that a worker takes at a time, at least and at most, and how many are worth several workers. An array is read at several places in
 * turn (mesh.c), each of which takes some time to begin: one part for each worker, if it is not so large that the last one would be waited
 * for. */
#define LEAST_PART 4128u
#define MOST_PART (16 * LEAST_PART)
#define WORTH_WORKERS (4 * LEAST_PART)
/* Up to so many for each worker they are of one size. Of four for two workers, the last of them a small rest, one worker had much more than the
 * other, and the copy took a quarter longer. */
#define FEW_PARTS 4u
/* From so many on they are copied as they are looked through, into an array that the pose does not read: what comes from the outer caches
 * is read once. Fewer are still near when they are copied, and need no second array. */
#define LARGE 4096u

/* Each set waits for what is known of its pose: from so many on all workers wait, so many sets at a time. */
#define MANY_SETS 512u
#define SETS_AT_A_TIME 64u

/* The arrays of all sets, one after the other, in parts that know nothing of where one ends. */
typedef struct VertexPass {
  pnVertexSet *sets;
  uint32_t setCount;
  size_t count, part;       /* numbers: all, and of a part */
  _Atomic uint32_t seconds; /* arrays that may still be made: see SECOND_SHARE */
  _Atomic bool failed;      /* a set is not in order */
} VertexPass;

static size_t numbersOf(const pnVertexSet *set) {
  return 3 * (size_t)set->count;
}

/* The set that has the number `at` of all; there is one. */
static pnVertexSet *findSet(const VertexPass *pass, size_t at) {
  // the last one that begins there or before: empty ones come before it
  size_t next = 0;
  PN_FIND_PLACE(next, pass->setCount, pass->sets[middle].before <= at)
  return &pass->sets[next - 1];
}

static void reachFor(_Atomic float *reach, float far) {
  float before = atomic_load_explicit(reach, memory_order_relaxed);
  // what is not finite stays, whatever comes after it
  while (before <= FLT_MAX && !(far <= before))
    if (atomic_compare_exchange_weak_explicit(reach, &before, far, memory_order_relaxed, memory_order_relaxed)) break;
}

/* Some vertices of one set are looked through, and copied where they have somewhere to go. */
static void takeNumbers(pnVertexSet *set, size_t first, size_t count) {
  const float *from = set->from + first;
  pnBox box = set->to ? pn_copyNumbers(set->to + first, from, count) : pn_boxOfNumbers(from, count);
  bool alone = count == numbersOf(set); // nobody has another part of it
  for (int k = 0; k < 3; ++k) {
    float far[2] = {(&box.max.x)[k], -(&box.min.x)[k]};
    for (int i = 0; i < 2; ++i)
      if (alone) atomic_store_explicit(&set->reach[3 * i + k], far[i], memory_order_relaxed);
      else reachFor(&set->reach[3 * i + k], far[i]);
  }
}

static pnBox boxOfSet(const pnVertexSet *set) {
  const _Atomic float *r = set->reach;
  return (pnBox){{-r[3], -r[4], -r[5]}, {r[0], r[1], r[2]}};
}

static void takeParts(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const VertexPass *pass = context;
  size_t at = begin * pass->part, stop = PN_MIN(end * pass->part, pass->count);
  for (pnVertexSet *set = findSet(pass, at); at < stop; ++set) {
    size_t first = at - set->before, count = PN_MIN(stop - set->before, numbersOf(set)) - first;
    takeNumbers(set, first, count);
    at += count;
  }
}

/* Every number of all sets, by all workers where there are enough. */
static void takeAll(VertexPass *pass, const pnTasks *tasks) {
  bool byMany = pass->count >= WORTH_WORKERS && pn_workerCount(tasks) > 1;
  size_t share = pass->count / pn_workerCount(tasks), parts = share / MOST_PART + 1;
  // whole vertices, and whole lines where an array begins with one
  size_t part = parts <= FEW_PARTS ? (share / parts / 48 + 1) * 48 : MOST_PART;
  pass->part = byMany ? PN_MAX(part, LEAST_PART) : PN_MAX(pass->count, 1);
  pn_parallelFor(tasks, takeParts, pass, (uint32_t)((pass->count + pass->part - 1) / pass->part), 1);
}

/* A copy of ours, made when it is first needed and kept: later frames allocate nothing. */
static pnResult openCopy(pnPose *pose, int which) {
  size_t floatCount = 3 * (size_t)pose->mesh->vertexCount, bytes = pn_bytes(floatCount + 1, sizeof(float));
  if (pose->own[which]) return PN_OK;
  pose->own[which] = pn_alloc(bytes);
  if (!pose->own[which]) return pn_failMemory(bytes);
  pose->own[which][floatCount] = 0;
  return PN_OK;
}

/* Memory that nobody has written is mapped page by page, which takes a microsecond or more each: the first two frames of a body took
 * twice as long as the next. Small bodies, of which there may be many that never move, are not worth their memory; large blocks are
 * mapped by large pages. Should there be no memory, it is asked for when it is needed. */
void pn_openCopies(pnPose *pose) {
  size_t floatCount = 3 * (size_t)pose->mesh->vertexCount, bytes = pn_bytes(floatCount, sizeof(float));
  for (int i = 0; i < 2 && floatCount >= LARGE && bytes < PN_LARGE_BLOCK; ++i)
    if (openCopy(pose, i) == PN_OK) memset(pose->own[i], 0, bytes);
}

/* Second arrays of small poses that one call makes, at most: a part of its sets, and some. To make all in the first call of a crowd took
 * as long as a frame. */
#define SECOND_SHARE 16u
#define SECOND_LEAST 64u

/* One of the second arrays that may be made; false: there is none left. */
static bool takeSecond(_Atomic uint32_t *seconds) {
  uint32_t left = atomic_load_explicit(seconds, memory_order_relaxed);
  while (left > 0)
    if (atomic_compare_exchange_weak_explicit(seconds, &left, left - 1, memory_order_relaxed, memory_order_relaxed))
      return true;
  return false;
}

/* Small and alone, or without a second array when no more are made: looked through first and then copied, into the one that the pose has. */
static bool isInTwo(VertexPass *pass, const pnVertexSet *set) {
  const pnPose *pose = set->pose;
  if (numbersOf(set) >= LARGE) return false;
  if (pass->setCount == 1) return true;
  return pose->source == pose->own[0] && !pose->own[1] && !takeSecond(&pass->seconds);
}

/* Where the vertices of a set are going to be. */
static pnResult openSet(VertexPass *pass, pnVertexSet *set) {
  pnPose *pose = set->pose;
  pnResult result = checkKind(pose, set->count);
  PN_ASSERT(result != PN_OK || set->from || set->count == 0);
  bool inTwo = isInTwo(pass, set);
  // the one that the pose does not read may be written before everything was looked at
  int which = !inTwo && pose->source == pose->own[0];
  if (result == PN_OK) result = openCopy(pose, which);
  set->to = inTwo ? NULL : pose->own[which];
  for (int k = 0; k < 6; ++k) atomic_init(&set->reach[k], -FLT_MAX);
  return result;
}

/* All numbers of a set were looked through: can its pose take them? */
static pnResult checkSet(VertexPass *pass, pnVertexSet *set) {
  (void)pass;
  pnBox box = boxOfSet(set);
  set->most = pn_boxReach(&box);
  return checkMost(set->pose, set->from, set->most);
}

/* They are where they shall be: the pose turns to them. */
static pnResult closeSet(VertexPass *pass, pnVertexSet *set) {
  pnPose *pose = set->pose;
  if (!set->to && set->count > 0) memmove(pose->own[0], set->from, numbersOf(set) * sizeof(float));
  pose->source = set->to ? set->to : pose->own[0];
  pose->sourceBox = boxOfSet(set);
  pose->sourceMaxAbs = set->most;
  pose->sourceByMany = pass->part < pass->count;
  pn_poseTouch(pose, true);
  return PN_OK;
}

/* What is done to every set, each by itself. */
typedef pnResult SetFcn(VertexPass *pass, pnVertexSet *set);
typedef struct SetLoop {
  VertexPass *pass;
  SetFcn *fcn;
} SetLoop;

static void runSets(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const SetLoop *loop = context;
  for (uint32_t i = begin; i < end; ++i)
    if (loop->fcn(loop->pass, &loop->pass->sets[i]) != PN_OK) atomic_store(&loop->pass->failed, true);
}

/* The message of a failure stays in the thread that made it, and the first set is the one to be named: where many have done them and one
 * has failed, they are done once more, one after the other. What then succeeds was memory, which is there now. */
static pnResult forSets(VertexPass *pass, SetFcn *fcn, const pnTasks *tasks, uint32_t *outFailed) {
  pnResult result = PN_OK;
  if (pass->setCount >= MANY_SETS && pn_workerCount(tasks) > 1) {
    SetLoop loop = {pass, fcn};
    pn_parallelFor(tasks, runSets, &loop, pass->setCount, SETS_AT_A_TIME);
    if (!atomic_exchange(&pass->failed, false)) return PN_OK;
  }
  for (uint32_t i = 0; result == PN_OK && i < pass->setCount; ++i) {
    result = fcn(pass, &pass->sets[i]);
    *outFailed = i;
  }
  return result;
}

pnResult pn_setVertices(pnVertexSet *sets, uint32_t count, const pnTasks *tasks, uint32_t *outFailed) {
  VertexPass pass = {.sets = sets, .setCount = count};
  atomic_init(&pass.seconds, count / SECOND_SHARE + SECOND_LEAST);
  atomic_init(&pass.failed, false);
  for (uint32_t i = 0; i < count; ++i) {
    sets[i].before = pass.count;
    pass.count += numbersOf(&sets[i]);
  }
  pnResult result = forSets(&pass, openSet, tasks, outFailed);
  if (result != PN_OK) return result;
  takeAll(&pass, tasks);
  result = forSets(&pass, checkSet, tasks, outFailed);
  return result == PN_OK ? forSets(&pass, closeSet, tasks, outFailed) : result;
}

pnResult pnPose_SetVertices(pnPose *pose, const float *vertices, uint32_t count) {
  PN_FLOAT_SCOPE;
  pnVertexSet set = {.pose = pose, .from = vertices, .count = count};
  uint32_t failed;
  return pn_setVertices(&set, 1, NULL, &failed);
}

pnResult pnPose_ShareVertices(pnPose *pose, const float *vertices, uint32_t count) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(vertices);
  // a shared array is looked through by the tree anyway: it reports what is not finite. Only a transform must know now.
  float maxAbs = PN_UNKNOWN_MAX_ABS;
  pnBox box = pn_emptyBox();
  pnResult result = checkKind(pose, count);
  if (result == PN_OK && pose->hasTransform) {
    box = pn_boxOfNumbers(vertices, 3 * (size_t)count);
    maxAbs = pn_boxReach(&box);
    result = checkMost(pose, vertices, maxAbs);
  }
  if (result != PN_OK) return result;
  pose->source = vertices;
  pose->sourceMaxAbs = maxAbs;
  pose->sourceBox = box;
  pose->sourceByMany = false;
  pn_poseTouch(pose, true);
  return PN_OK;
}

/* ---------------------------------------------------------------- fetching */

void pn_fetchFree(const float *source, const uint32_t *vertices, uint32_t count, float *out, uint32_t stride) {
  if (stride == 4) {
    // one 16-byte move a vertex: the source has one readable float after its end
    for (uint32_t i = 0; i < count; ++i, out += 4) {
      memcpy(out, source + 3 * (size_t)vertices[i], 4 * sizeof(float));
      out[3] = 0;
    }
  } else {
    for (uint32_t i = 0; i < count; ++i, out += 3) memcpy(out, source + 3 * (size_t)vertices[i], 3 * sizeof(float));
  }
}

/* With the transform in the same pass. */
static void fetch(const pnPose *pose, bool local, const uint32_t *vertices, uint32_t count, float *out,
                  uint32_t stride) {
  if (pose->hasTransform && !local) pn_fetchRigid(&pose->transform, pose->source, vertices, count, out, stride);
  else pn_fetchFree(pose->source, vertices, count, out, stride);
}

/* ---------------------------------------------------------------- the row */

static bool isAsked(const pnPoseDef *def) {
  (void)def;
  return true;
}

static size_t countInputs(const pnPose *pose) {
  return 3 * (size_t)pose->mesh->vertexCount;
}

static pnResult setInputs(pnPose *pose, const float *inputs) {
  return pnPose_SetVertices(pose, inputs, pose->mesh->vertexCount);
}

/* Vertices of a mesh never change: they are shared. */
static pnResult copyInputs(pnPose *pose, const pnPose *from) {
  bool isMesh = from->source == from->mesh->vertices;
  pnResult result = isMesh ? PN_OK : openCopy(pose, 0);
  if (result != PN_OK) return result;
  if (!isMesh) memcpy(pose->own[0], from->source, 3 * (size_t)from->mesh->vertexCount * sizeof(float));
  pose->source = isMesh ? from->source : pose->own[0];
  return PN_OK;
}

const pnMotionRow pn_motionFree = {.name = "free",
                                   .isStored = true,
                                   .isAsked = isAsked,
                                   .fetch = fetch,
                                   .countInputs = countInputs,
                                   .setInputs = setInputs,
                                   .copyInputs = copyInputs};
