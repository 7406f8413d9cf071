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

pnResult pn_checkNumbers(const pnPose *pose, const float *vertices, float *outMaxAbs) {
  // one fast pass; a second one only to say where
  size_t count = 3 * (size_t)pose->mesh->vertexCount, bad;
  *outMaxAbs = pn_maxAbs(vertices, count);
  if (!(*outMaxAbs <= FLT_MAX)) {
    pn_allFinite(vertices, count, &bad);
    return pn_fail(PN_ERROR_NUMBER, "pose of mesh '%s': coordinate %c of vertex %zu is NaN or infinite",
                   pose->mesh->name, "xyz"[bad % 3], bad / 3);
  }
  return PN_OK;
}

/* Numbers that a worker takes at a time, and how many such parts a body has that is worth several workers. */
#define PART 4096u
#define FEWEST_PARTS 4u

/* An array that several workers look through, or copy. */
typedef struct VertexPass {
  const float *from;
  float *to;
  size_t count;
  float most[PN_MAX_WORKERS]; /* of each worker */
} VertexPass;

static void checkParts(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  VertexPass *pass = context;
  size_t first = (size_t)begin * PART, last = PN_MIN((size_t)end * PART, pass->count);
  float most = pn_maxAbs(pass->from + first, last - first), before = pass->most[worker];
  // what is not finite stays, whatever comes after it
  pass->most[worker] = before <= FLT_MAX && !(most <= before) ? most : before;
}

static void copyParts(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const VertexPass *pass = context;
  size_t first = (size_t)begin * PART, last = PN_MIN((size_t)end * PART, pass->count);
  memcpy(pass->to + first, pass->from + first, (last - first) * sizeof(float));
}

static uint32_t partCount(size_t count) {
  return (uint32_t)((count + PART - 1) / PART);
}

static bool isWorthWorkers(size_t count, const pnTasks *tasks) {
  return pn_workerCount(tasks) > 1 && partCount(count) >= FEWEST_PARTS;
}

/* pn_checkNumbers by all workers. */
static pnResult checkByMany(const pnPose *pose, const float *vertices, const pnTasks *tasks, float *outMaxAbs) {
  VertexPass pass = {.from = vertices, .count = 3 * (size_t)pose->mesh->vertexCount};
  pn_parallelFor(tasks, checkParts, &pass, partCount(pass.count), 1);
  *outMaxAbs = 0;
  for (uint32_t i = 0; i < PN_MAX_WORKERS; ++i) {
    // one that is not finite: the plain check says where
    if (!(pass.most[i] <= FLT_MAX)) return pn_checkNumbers(pose, vertices, outMaxAbs);
    *outMaxAbs = PN_MAX(*outMaxAbs, pass.most[i]);
  }
  return PN_OK;
}

static void copyNumbers(float *to, const float *from, size_t count, const pnTasks *tasks) {
  bool apart = from + count <= to || to + count <= from;
  if (apart && isWorthWorkers(count, tasks))
    pn_parallelFor(tasks, copyParts, &(VertexPass){.from = from, .to = to, .count = count}, partCount(count), 1);
  else if (count) memmove(to, from, count * sizeof(float));
}

/* Is the array one that this pose can take? *outMaxAbs is its largest magnitude. */
static pnResult checkVertices(const pnPose *pose, const float *vertices, uint32_t count, const pnTasks *tasks,
                              float *outMaxAbs) {
  pnResult result = checkKind(pose, count);
  if (result != PN_OK) return result;
  PN_ASSERT(vertices || count == 0);
  result = isWorthWorkers(3 * (size_t)count, tasks) ? checkByMany(pose, vertices, tasks, outMaxAbs)
                                                    : pn_checkNumbers(pose, vertices, outMaxAbs);
  if (result != PN_OK) return result;
  if (pose->hasTransform && !pn_rigidFits(&pose->transform, *outMaxAbs))
    return pn_fail(PN_ERROR_NUMBER, "pose of mesh '%s': a coordinate of magnitude %g overflows under the transform",
                   pose->mesh->name, (double)*outMaxAbs);
  return PN_OK;
}

pnResult pn_setVertices(pnPose *pose, const float *vertices, uint32_t count, const pnTasks *tasks) {
  float maxAbs = 0;
  pnResult result = checkVertices(pose, vertices, count, tasks, &maxAbs);
  if (result != PN_OK) return result;

  // our copy is made at the first call and kept: later frames allocate nothing
  size_t floatCount = 3 * (size_t)count;
  if (!pose->own) {
    size_t bytes = pn_bytes(floatCount + 1, sizeof(float));
    pose->own = pn_alloc(bytes);
    if (!pose->own) return pn_failMemory(bytes);
    pose->own[floatCount] = 0;
  }
  copyNumbers(pose->own, vertices, floatCount, tasks);
  pose->source = pose->own;
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
  pnResult result = pose->hasTransform ? checkVertices(pose, vertices, count, NULL, &maxAbs) : checkKind(pose, count);
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
