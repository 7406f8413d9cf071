/* support_find.h: bodies that are moved by formula, and a finder that looks at them. */
#ifndef PN_TEST_SUPPORT_FIND_H
#define PN_TEST_SUPPORT_FIND_H

#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pinch/find.h"

typedef struct FindBody {
  pnMesh *mesh;
  pnPose *pose;
  pnTree *tree;
} FindBody;

typedef struct FindScene {
  FindBody body[8];
  uint32_t count;
  pnFinder *finder;
  pnPairList *list;
  int64_t frame;
} FindScene;

/* A scene of meshes, which it takes over. */
static inline FindScene findMake(const pnFinderDef *def, pnMesh *const *meshes, uint32_t count) {
  FindScene s = {.count = count};
  pnFinderDef plain = pnDefaultFinderDef();
  testExpectOk(pnCreateFinder(def ? def : &plain, &s.finder));
  testExpectOk(pnCreatePairList(&s.list));
  for (uint32_t i = 0; i < count; ++i) {
    static const char *const names[8] = {"ada", "bea", "cem", "dua", "eva", "fay", "gus", "hal"};
    pnPoseDef poseDef = pnDefaultPoseDef();
    poseDef.mesh = s.body[i].mesh = meshes[i];
    testExpectOk(pnCreatePose(&poseDef, &s.body[i].pose));
    pnTreeDef treeDef = pnDefaultTreeDef();
    treeDef.pose = s.body[i].pose;
    testExpectOk(pnCreateTree(&treeDef, &s.body[i].tree));
    pnFinderBodyDef bodyDef = pnDefaultFinderBodyDef();
    bodyDef.tree = s.body[i].tree;
    bodyDef.name = names[i];
    uint32_t number;
    testExpectOk(pnFinder_AddBody(s.finder, &bodyDef, &number));
    assert_int_equal(number, i);
  }
  return s;
}

static inline void findFree(FindScene *s) {
  pnDestroyFinder(s->finder);
  pnDestroyPairList(s->list);
  for (uint32_t i = 0; i < s->count; ++i) {
    pnDestroyTree(s->body[i].tree);
    pnDestroyPose(s->body[i].pose);
    pnDestroyMesh(s->body[i].mesh);
  }
  assert_int_equal(pnGetByteCount(), 0);
}

static inline void findMove(FindScene *s, uint32_t body, float x, float y, float z) {
  pnMatrix m = pnMatrix_Identity();
  m.m[0][3] = x, m.m[1][3] = y, m.m[2][3] = z;
  testExpectOk(pnPose_SetTransform(s->body[body].pose, &m));
}

/* Collides all bodies, each with itself too when `self`, and hands the frame to the finder. */
static inline void findLook(FindScene *s, bool rest, bool self, bool curves) {
  pnFinderContact contacts[36];
  pnPair *kept[36];
  uint32_t count = 0;
  for (uint32_t a = 0; a < s->count; ++a)
    for (uint32_t b = a; b < s->count; ++b) {
      if (a == b && !self) continue;
      if (a == b) testExpectOk(pnCollideSelf(s->body[a].tree, NULL, s->list, NULL));
      else testExpectOk(pnCollideTrees(s->body[a].tree, s->body[b].tree, NULL, s->list, NULL));
      size_t n = pnPairList_GetCount(s->list);
      kept[count] = malloc(n * sizeof(pnPair) + 1);
      assert_non_null(kept[count]);
      if (n > 0) memcpy(kept[count], pnPairList_GetPairs(s->list), n * sizeof(pnPair));
      contacts[count] = (pnFinderContact){a, b, kept[count], n};
      ++count;
    }
  pnFinderFrame frame = {
      .number = s->frame, .time = (double)s->frame / 30, .contacts = contacts, .contactCount = count};
  frame.rest = rest;
  frame.curves = curves;
  testExpectOk(pnFinder_AddFrame(s->finder, &frame));
  if (!rest) ++s->frame;
  for (uint32_t i = 0; i < count; ++i) free(kept[i]);
}

/* A capsule along z: a sphere whose upper half is moved up and lower half down by `half`. Levels as of icospheres. */
static inline pnMesh *findCapsule(uint32_t level, float radius, float half) {
  pnMesh *ball, *mesh;
  testExpectOk(pnMakeIcosphere(level, radius, &ball));
  uint32_t n = pnMesh_GetVertexCount(ball);
  float *v = malloc(3 * n * sizeof(float));
  assert_non_null(v);
  memcpy(v, pnMesh_GetVertices(ball), 3 * n * sizeof(float));
  for (uint32_t i = 0; i < n; ++i) v[3 * i + 2] += v[3 * i + 2] > 0 ? half : -half;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = v;
  def.vertexCount = n;
  def.triangles = pnMesh_GetTriangles(ball);
  def.triangleCount = pnMesh_GetTriangleCount(ball);
  testExpectOk(pnCreateMesh(&def, &mesh));
  free(v);
  pnDestroyMesh(ball);
  return mesh;
}

#endif
