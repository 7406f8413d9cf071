/* mirror.c: see mirror.h. */
#include "world/mirror.h"

#include "mesh/soup.h"
#include "tree/bucket.h"

void pn_dropMirror(pnBody *body) {
  pnMirror *m = body->mirror;
  if (m) {
    pnDestroyTree(m->tree);
    pnDestroySoup(m->soup);
    pn_free(m, sizeof *m);
  }
  body->mirror = NULL;
}

/* Triangles that a worker fetches at a time. */
#define GRAIN 4096u

static void fetchRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const pnBody *body = context;
  pn_poseFetch(body->pose, body->pose->mesh->triangles + 3 * (size_t)begin, 3 * (end - begin),
               body->mirror->soup->positions + 9 * (size_t)begin, 3);
}

/* The soup is brought to the pose: its vertices as they are, or all corners straight into it. They are finite: whoever set vertices or transform of the pose has looked. */
static void fetchAll(pnBody *body, const pnTasks *tasks) {
  if (body->mirror->soup->isView) {
    pn_touchView(body->mirror->soup, body->pose);
  } else {
    pn_parallelFor(tasks, fetchRange, body, body->pose->mesh->triangleCount, GRAIN);
    pn_touchSoup(body->mirror->soup);
  }
  body->mirror->frame = body->pose->frame;
}

/* May the soup read the vertices where they are? Trees find them by 32 bits, in bytes. */
static bool isInPlace(const pnPose *pose) {
  return pn_isPlain(pose) && pose->mesh->vertexCount <= 3 * PN_MAX_PLACES;
}

/* One whose corners are copied knows neighbours by names, which are the welded vertices. */
static pnResult nameCorners(const pnMesh *mesh, pnSoup *soup) {
  pnResult result = pn_needNames(soup);
  for (uint32_t t = 0; result == PN_OK && t < mesh->triangleCount; ++t) {
    uint32_t names[3];
    pn_weldedCorners(mesh, t, names);
    pn_writeNames(soup, t, names);
  }
  return result;
}

static pnResult makeSoup(const pnBody *body, pnSoup **outSoup) {
  const pnPose *pose = body->pose;
  if (isInPlace(pose)) return pn_createView(pose, outSoup);
  pnSoupDef def = pnDefaultSoupDef();
  def.capacity = pose->mesh->triangleCount;
  pnResult result = pn_createSoup(&def, true, outSoup);
  if (result == PN_OK) result = pn_addTriangles(*outSoup, def.capacity);
  return result == PN_OK && body->self ? nameCorners(pose->mesh, *outSoup) : result;
}

/* A shared array that nobody has looked through: the vertex is named as it would be without a mirror. */
static pnResult lookThrough(const pnPose *pose) {
  pnBox box;
  return pose->sourceMaxAbs < 0 ? pn_checkNumbers(pose, pose->source, &box) : PN_OK;
}

pnResult pn_makeMirror(pnBody *body, const pnTasks *tasks) {
  pnResult seen = lookThrough(body->pose);
  if (seen != PN_OK) return seen;
  pnMirror *m = body->mirror = pn_allocZero(sizeof(pnMirror));
  if (!m) return pn_failMemory(sizeof(pnMirror));
  pnResult result = makeSoup(body, &m->soup);
  if (result == PN_OK) {
    fetchAll(body, tasks);
    pnBucketDef bucketDef = pnDefaultBucketDef();
    bucketDef.soup = m->soup;
    result = pn_createBucketTree(&bucketDef, &body->tree->box, tasks, &m->tree);
  }
  if (result != PN_OK) pn_dropMirror(body);
  return result;
}

pnResult pn_followMirror(pnBody *body, const pnTasks *tasks) {
  pnMirror *m = body->mirror;
  if (m->frame == body->pose->frame) return pnTree_Update(m->tree, tasks);
  pnResult result = lookThrough(body->pose);
  if (result == PN_OK && m->soup->isView != isInPlace(body->pose)) {
    /* it has got a transform, or lost it */
    pnMirrorTrial trial = m->trial;
    pn_dropMirror(body);
    result = pn_makeMirror(body, tasks);
    if (result == PN_OK) body->mirror->trial = trial;
    return result;
  }
  if (result == PN_OK) {
    fetchAll(body, tasks);
    result = pnTree_Update(m->tree, tasks);
  }
  if (result != PN_OK) {
    m->frame = 0; /* the next frame tries again */
    return result;
  }
  ++m->age;
  return PN_OK;
}
