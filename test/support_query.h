/* support_query.h: questions about a tree, and the truth by looking at every triangle. */
#ifndef PN_TEST_SUPPORT_QUERY_H
#define PN_TEST_SUPPORT_QUERY_H

#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/inbox.h"
#include "mesh/mesh.h"
#include "mesh/pose.h"
#include "query/apart.h"
#include "query/near.h"
#include "query/sight.h"
#include "query/inbox.h"
#include "geom/distance.h"

#define QUERY_RAYS 40u
#define QUERY_MOST_RAYS 80u /* that are asked for at once */
#define QUERY_BOXES 12u
#define QUERY_POINTS 60u

/* The corners of a triangle as the pose has them. */
static inline void queryCorners(const pnPose *pose, uint32_t triangle, float c[3][4], const float *out[3]) {
  pn_poseFetch(pose, pose->mesh->triangles + 3 * (size_t)triangle, 3, c[0], 4);
  for (int n = 0; n < 3; ++n) out[n] = c[n];
}

/* A point of the body: a corner, the middle of an edge, or somewhere around it. */
static inline pnVec3 queryPoint(TestRandom *random, const pnPose *pose, float scale) {
  uint32_t n = pose->mesh->triangleCount;
  pnVec3 p = {testFloat(random, -1.5f * scale, 1.5f * scale), testFloat(random, -1.5f * scale, 1.5f * scale),
              testFloat(random, -1.5f * scale, 1.5f * scale)};
  if (n == 0 || testBelow(random, 3) == 0) return p;
  float c[3][4];
  const float *corner[3];
  queryCorners(pose, testBelow(random, n), c, corner);
  const float *a = corner[testBelow(random, 3)], *b = corner[testBelow(random, 3)];
  return (pnVec3){0.5f * a[0] + 0.5f * b[0], 0.5f * a[1] + 0.5f * b[1], 0.5f * a[2] + 0.5f * b[2]};
}

static inline void queryMakeRays(TestRandom *random, const pnPose *pose, float scale, pnRay *rays) {
  for (uint32_t i = 0; i < QUERY_RAYS; ++i) {
    rays[i] = pnDefaultRay();
    pnVec3 o = queryPoint(random, pose, scale), to = queryPoint(random, pose, scale);
    float far = scale < 1e36f ? 50.0f : 2.0f;
    if (i % 5 == 0)
      o = (pnVec3){testFloat(random, -far, far) * scale, testFloat(random, -far, far) * scale, far * scale};
    pnVec3 d = {to.x - o.x, to.y - o.y, to.z - o.z};
    // Along an axis, and in a plane of axes.
    if (i % 4 == 1) d.x = 0;
    if (i % 8 == 1) d.y = 0;
    if (i % 8 == 2) d.z = 0;
    if ((d.x == 0 && d.y == 0 && d.z == 0) || !isfinite(d.x + d.y + d.z)) d = (pnVec3){0, 0, -1};
    rays[i].origin = o, rays[i].direction = d;
    if (i % 6 == 0) rays[i].last = testFloat(random, 0, 2);
    if (i % 6 == 3) rays[i].first = testFloat(random, 0, 1);
  }
}

/* What looking at every triangle says of a ray: the first hit, and all of them, sorted. */
static inline pnHit queryTruth(const pnTree *tree, const pnRay *ray, pnBodyId body, pnHits *all) {
  const pnPose *pose = pnTree_GetPose(tree);
  pnRayQuest first, each;
  pn_beginRay(ray, &first);
  pn_beginRay(ray, &each);
  pn_Line line;
  pn_makeLine(ray->origin, ray->direction, &line);
  size_t before = all->count;
  each.all = all;
  each.body = first.body = body;
  for (uint32_t t = 0; t < pose->mesh->triangleCount; ++t) {
    float c[3][4];
    const float *corner[3];
    queryCorners(pose, t, c, corner);
    pn_tryRay(&line, corner, t, PN_RAY_FIRST, &first);
    pn_tryRay(&line, corner, t, PN_RAY_ALL, &each);
  }
  assert_int_equal(first.best.triangle != PN_NONE, all->count > before);
  return first.best;
}

static inline void querySameHit(const pnHit *a, const pnHit *b) {
  assert_int_equal(a->triangle, b->triangle);
  assert_int_equal(a->body.index1, b->body.index1);
  assert_int_equal(a->side, b->side);
  assert_true(a->t == b->t && a->u == b->u && a->v == b->v);
}

/* Every walk that this machine can run (query/sight.h) answers as the one that is chosen does. */
static inline void queryExpectWays(pnTree *tree, const pnRay *rays, uint32_t rayCount, const pnHit *hits,
                                   const pnHitList *list) {
  pnCastFcn *ways[PN_CAST_WAYS];
  pnLattice lattice = pn_latticeOf(tree);
  pnFresh fresh = {.alone = true};
  uint32_t count = pn_castWays(ways);
  if (tree->shape->nodeCount == 0) return;
  for (uint32_t w = 0; w < 3 * count; ++w) {
    pnRayQuest quests[QUERY_MOST_RAYS];
    pnHits all[QUERY_MOST_RAYS] = {0};
    pnRayGroup group = {tree, &lattice, (pnRayMode)(w % 3), &fresh, quests};
    for (uint32_t i = 0; i < rayCount; ++i) {
      pn_beginRay(&rays[i], &quests[i]);
      quests[i].all = &all[i];
    }
    ways[w / 3](&group, rayCount);
    for (uint32_t i = 0; i < rayCount; ++i) {
      uint32_t found;
      const pnHit *each = pnHitList_GetHits(list, i, &found);
      if (group.mode == PN_RAY_FIRST) querySameHit(&quests[i].best, &hits[i]);
      if (group.mode == PN_RAY_ANY) assert_int_equal(quests[i].best.triangle != PN_NONE, hits[i].triangle != PN_NONE);
      if (group.mode == PN_RAY_ALL) {
        assert_int_equal(pn_sortHits(all[i].data, all[i].count), found);
        for (size_t k = 0; k < found; ++k) querySameHit(&all[i].data[k], &each[k]);
      }
      pn_arrayFree(&all[i]);
    }
  }
}

/* Rays are answered as looking at every triangle says, in every mode and on every walk; counts hits. */
static inline uint32_t queryExpectThese(pnTree *tree, const pnRay *rays, uint32_t rayCount, const pnTasks *tasks) {
  pnHit hits[QUERY_MOST_RAYS];
  bool blocked[QUERY_MOST_RAYS];
  pnHitList *list;
  uint32_t hitCount = 0;
  assert_true(rayCount <= QUERY_MOST_RAYS);
  testExpectOk(pnCreateHitList(&list));
  testExpectOk(pnFindFirstHits(tree, rays, rayCount, tasks, hits));
  testExpectOk(pnFindBlocked(tree, rays, rayCount, tasks, blocked));
  testExpectOk(pnFindAllHits(tree, rays, rayCount, tasks, list));
  queryExpectWays(tree, rays, rayCount, hits, list);
  size_t total = 0;
  for (uint32_t i = 0; i < rayCount; ++i) {
    pnHits all = {0};
    pnHit truth = queryTruth(tree, &rays[i], (pnBodyId){0}, &all);
    querySameHit(&hits[i], &truth);
    assert_int_equal(blocked[i], truth.triangle != PN_NONE);
    size_t count = pn_sortHits(all.data, all.count);
    uint32_t found;
    const pnHit *each = pnHitList_GetHits(list, i, &found);
    assert_int_equal(found, count);
    for (size_t k = 0; k < count; ++k) querySameHit(&each[k], &all.data[k]);
    hitCount += truth.triangle != PN_NONE;
    total += count;
    pn_arrayFree(&all);
  }
  assert_int_equal(pnHitList_GetCount(list), total);
  pnDestroyHitList(list);
  return hitCount;
}

/* Rays of all kinds. */
static inline uint32_t queryExpectRays(pnTree *tree, TestRandom *random, float scale, const pnTasks *tasks) {
  pnRay rays[QUERY_RAYS];
  queryMakeRays(random, pnTree_GetPose(tree), scale, rays);
  return queryExpectThese(tree, rays, QUERY_RAYS, tasks);
}

static inline uint32_t queryExpectBoxes(pnTree *tree, TestRandom *random, float scale, const pnTasks *tasks) {
  const pnPose *pose = pnTree_GetPose(tree);
  pnBox boxes[QUERY_BOXES];
  for (uint32_t i = 0; i < QUERY_BOXES; ++i) {
    pnVec3 p = queryPoint(random, pose, scale), q = i % 4 == 0 ? p : queryPoint(random, pose, scale);
    boxes[i] = (pnBox){{fminf(p.x, q.x), fminf(p.y, q.y), fminf(p.z, q.z)},
                       {fmaxf(p.x, q.x), fmaxf(p.y, q.y), fmaxf(p.z, q.z)}};
    if (i == 5) boxes[i].max.y = boxes[i].min.y - scale;
  }
  pnTriangleList *list;
  testExpectOk(pnCreateTriangleList(&list));
  testExpectOk(pnFindInBoxes(tree, boxes, QUERY_BOXES, tasks, list));
  uint32_t total = 0;
  for (uint32_t i = 0; i < QUERY_BOXES; ++i) {
    uint32_t count, expected = 0;
    const pnBodyTriangle *found = pnTriangleList_GetTriangles(list, i, &count);
    for (uint32_t t = 0; t < pose->mesh->triangleCount; ++t) {
      float c[3][4];
      const float *corner[3];
      queryCorners(pose, t, c, corner);
      if (pn_isEmptyBox(&boxes[i]) || !pn_meetsBox(corner, &boxes[i].min.x, &boxes[i].max.x)) continue;
      assert_true(expected < count);
      assert_int_equal(found[expected++].triangle, t);
    }
    assert_int_equal(count, expected);
    total += count;
  }
  pnDestroyTriangleList(list);
  return total;
}

/* The closest two triangles of two bodies, of all pairs. */
static inline pnApart queryTruthApart(const pnTree *a, const pnTree *b, double farthest) {
  const pnPose *p = pnTree_GetPose(a), *q = pnTree_GetPose(b);
  pnApart truth = {.distance2 = farthest * farthest, .a = PN_NONE, .b = PN_NONE};
  for (uint32_t s = 0; s < p->mesh->triangleCount; ++s)
    for (uint32_t t = 0; t < q->mesh->triangleCount; ++t) {
      float c[2][3][4];
      const float *cornerA[3], *cornerB[3];
      queryCorners(p, s, c[0], cornerA);
      queryCorners(q, t, c[1], cornerB);
      pn_tryApart(cornerA, s, cornerB, t, &truth);
    }
  return truth;
}

/* Two trees are as far apart as they are. */
static inline void queryExpectDistance(pnTree *a, pnTree *b, double farthest, const pnTasks *tasks) {
  pnTreePair pairs[2] = {{a, b}, {b, a}};
  pnDistance found[2];
  pnClosestDef def = pnDefaultClosestDef();
  def.farthest = farthest;
  if (tasks) def.tasks = *tasks;
  testExpectOk(pnFindDistances(pairs, 2, &def, found));
  pnApart truth = queryTruthApart(a, b, farthest);
  pnDistance expected = pn_publishApart(a, b, &truth);
  assert_int_equal(found[0].triangleA, expected.triangleA);
  assert_int_equal(found[0].triangleB, expected.triangleB);
  assert_true(found[0].distance == expected.distance);
  assert_memory_equal(&found[0].onA, &expected.onA, sizeof expected.onA);
  // The other way round: the same distance, whichever of several pairs it is.
  assert_true(fabs(found[1].distance - found[0].distance) <= 1e-12 * found[0].distance ||
              found[1].distance == found[0].distance);
  // Witnesses are on both bodies, as far as floats go.
  if (expected.triangleA == PN_NONE) return;
  double onA[3] = {found[0].onA.x, found[0].onA.y, found[0].onA.z},
         onB[3] = {found[0].onB.x, found[0].onB.y, found[0].onB.z};
  double size = fabs(onA[0]) + fabs(onA[1]) + fabs(onA[2]) + fabs(onB[0]) + fabs(onB[1]) + fabs(onB[2]);
  assert_true(fabs(sqrt(pn_distance2(onA, onB)) - found[0].distance) <= 1e-6 * size);
}

/* Points of all kinds: around the body, far away, on vertices and on edges of it. */
static inline void queryMakePoints(TestRandom *random, const pnPose *pose, float *out) {
  uint32_t n = pnMesh_GetVertexCount(pnPose_GetMesh(pose));
  for (uint32_t i = 0; i < QUERY_POINTS; ++i) {
    float reach = i % 4 == 0 ? 100.0f : 1.5f;
    for (int k = 0; k < 3; ++k) out[3 * i + (uint32_t)k] = testFloat(random, -reach, reach);
    if (i % 5 != 0 || n == 0) continue;
    pnVec3 v = pnPose_GetVertex(pose, testBelow(random, n)), w = pnPose_GetVertex(pose, testBelow(random, n));
    if (i % 2 == 0) w = v;
    out[3 * i] = 0.5f * (v.x + w.x), out[3 * i + 1] = 0.5f * (v.y + w.y), out[3 * i + 2] = 0.5f * (v.z + w.z);
  }
}

/* What measuring every triangle says of a point. */
static inline pnNear queryTruthNear(const pnPose *pose, const float point[3], double farthest) {
  double p[3] = {point[0], point[1], point[2]};
  pnNear truth = {.distance2 = farthest * farthest, .triangle = PN_NONE};
  for (uint32_t t = 0; t < pose->mesh->triangleCount; ++t) {
    pnNearFace face;
    pn_fetchFace(pose, t, &face);
    pn_tryFace(&face, p, &truth);
  }
  return truth;
}

/* Asks about points and compares with every triangle. */
static inline void queryExpectNearest(pnTree *tree, TestRandom *random, const pnTasks *tasks) {
  const pnPose *pose = pnTree_GetPose(tree);
  float points[3 * QUERY_POINTS];
  queryMakePoints(random, pose, points);
  pnClosestDef def = pnDefaultClosestDef();
  def.farthest = testBelow(random, 2) ? INFINITY : 0.5;
  if (tasks) def.tasks = *tasks;
  pnClosest found[QUERY_POINTS];
  testExpectOk(pnFindClosest(tree, points, QUERY_POINTS, &def, found));
  for (uint32_t i = 0; i < QUERY_POINTS; ++i) {
    pnNear truth = queryTruthNear(pose, points + 3 * i, def.farthest);
    assert_int_equal(found[i].triangle, truth.triangle);
    if (truth.triangle == PN_NONE) assert_true(isinf(found[i].distance));
    else assert_true(found[i].distance == sqrt(truth.distance2) && found[i].point.x == (float)truth.point[0]);
  }
}

#endif
