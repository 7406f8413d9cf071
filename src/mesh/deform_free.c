/* deform_free.c: the free motion. The caller gives every vertex, as a copy or as an array to look at.
 *
 * Copied numbers are checked before anything is changed, and so are shared ones when there is a transform: vertices so
 * far out that the sum would overflow are refused with those that are not finite. A shared array without a transform is
 * only looked at when it is used (sourceMaxAbs is PN_UNKNOWN_MAX_ABS until then): the tree reads every vertex anyway, and
 * a pass of its own would cost as much as the copy that sharing saves. */
#include "base/memory.h"

#include "base/fenv.h"
#include "base/task.h"
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

pnResult pn_checkNumbers(const pnPose *pose, const float *vertices, float *outMaxAbs) {
  // one fast pass; a second one only to say where
  *outMaxAbs = pn_maxAbs(vertices, 3 * (size_t)pose->mesh->vertexCount);
  return *outMaxAbs <= FLT_MAX ? PN_OK : refuseNumber(pose, vertices);
}

/* Numbers that a worker takes at a time, and how many are worth several workers. */
#define PART 4096u
#define WORTH_WORKERS (4 * PART)
/* From so many on they are copied as they are looked through, into an array that the pose does not read: what comes from the outer caches
 * is read once. Fewer are still near when they are copied, and need no second array. */
#define LARGE 4096u

/* An array that several workers look through, and copy where `to` is not null. */
typedef struct VertexPass {
  const float *from;
  float *to;
  size_t count;
  float most[PN_MAX_WORKERS]; /* of each worker */
} VertexPass;

static void takeParts(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  VertexPass *pass = context;
  size_t first = (size_t)begin * PART, n = PN_MIN((size_t)end * PART, pass->count) - first;
  const float *from = pass->from + first;
  float most = pass->to ? pn_copyMaxAbs(pass->to + first, from, n) : pn_maxAbs(from, n), before = pass->most[worker];
  // what is not finite stays, whatever comes after it
  pass->most[worker] = before <= FLT_MAX && !(most <= before) ? most : before;
}

/* All numbers, by all workers where there are enough; the largest magnitude, or one that is not finite. */
static float takeNumbers(const float *from, float *to, size_t count, const pnTasks *tasks) {
  if (count < WORTH_WORKERS || pn_workerCount(tasks) == 1)
    return to ? pn_copyMaxAbs(to, from, count) : pn_maxAbs(from, count);
  VertexPass pass = {.from = from, .to = to, .count = count};
  pn_parallelFor(tasks, takeParts, &pass, (uint32_t)((count + PART - 1) / PART), 1);
  float most = 0;
  for (uint32_t i = 0; i < PN_MAX_WORKERS && most <= FLT_MAX; ++i) most = pass.most[i] <= most ? most : pass.most[i];
  return most;
}

/* The array is looked through, and copied where `to` is not null; can the pose take it? *outMaxAbs is its largest magnitude. */
static pnResult takeVertices(const pnPose *pose, const float *vertices, float *to, const pnTasks *tasks,
                             float *outMaxAbs) {
  *outMaxAbs = takeNumbers(vertices, to, 3 * (size_t)pose->mesh->vertexCount, tasks);
  if (!(*outMaxAbs <= FLT_MAX)) return refuseNumber(pose, vertices);
  if (pose->hasTransform && !pn_rigidFits(&pose->transform, *outMaxAbs))
    return pn_fail(PN_ERROR_NUMBER, "pose of mesh '%s': a coordinate of magnitude %g overflows under the transform",
                   pose->mesh->name, (double)*outMaxAbs);
  return PN_OK;
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

pnResult pn_setVertices(pnPose *pose, const float *vertices, uint32_t count, const pnTasks *tasks) {
  pnResult result = checkKind(pose, count);
  if (result != PN_OK) return result;
  PN_ASSERT(vertices || count == 0);
  float maxAbs = 0;
  size_t floatCount = 3 * (size_t)count;
  // the one that the pose does not read may be written before everything was looked at
  bool inOne = floatCount >= LARGE;
  int which = inOne && pose->source == pose->own[0];
  result = openCopy(pose, which);
  if (result != PN_OK) return result;
  float *to = pose->own[which];
  result = takeVertices(pose, vertices, inOne ? to : NULL, tasks, &maxAbs);
  if (result != PN_OK) return result;
  if (!inOne && count > 0) memmove(to, vertices, floatCount * sizeof(float));
  pose->source = to;
  pose->sourceMaxAbs = maxAbs;
  pn_poseTouch(pose, true);
  return PN_OK;
}

pnResult pnPose_SetVertices(pnPose *pose, const float *vertices, uint32_t count) {
  PN_FLOAT_SCOPE;
  return pn_setVertices(pose, vertices, count, NULL);
}

pnResult pnPose_ShareVertices(pnPose *pose, const float *vertices, uint32_t count) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(vertices);
  // a shared array is looked through by the tree anyway: it reports what is not finite. Only a transform must know now.
  float maxAbs = PN_UNKNOWN_MAX_ABS;
  pnResult result = checkKind(pose, count);
  if (result == PN_OK && pose->hasTransform) result = takeVertices(pose, vertices, NULL, NULL, &maxAbs);
  if (result != PN_OK) return result;
  pose->source = vertices;
  pose->sourceMaxAbs = maxAbs;
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

const pnMotionRow pn_motionFree = {.name = "free",
                                   .isStored = true,
                                   .isAsked = isAsked,
                                   .fetch = fetch,
                                   .countInputs = countInputs,
                                   .setInputs = setInputs};
