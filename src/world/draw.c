/* draw.c: where pairs meet, and looking at a world through the caller's drawing hooks. */
#include "world/world.h"

#include "base/fenv.h"
#include "geom/distance.h"

#include <math.h>
#include <string.h>

static pnTriangle triangleOf(const pnWorld *world, pnBodyId id, uint32_t t) {
  const pnTree *tree = world->bodies.data[id.index1 - 1].tree;
  pnTriangle out;
  pn_poseFetch(tree->pose, tree->mesh->triangles + 3 * (size_t)t, 3, &out.v[0][0], 3);
  return out;
}

/* The unit normal, in double so that small and large triangles have one; zero when there is none. */
static pnVec3 normalOf(const pnTriangle *t) {
  double c[3][3], n[3];
  pn_widenCorners(t->v[0], 3, c);
  pn_normal3(c[0], c[1], c[2], n);
  double length = sqrt(pn_dot3(n, n));
  return length > 0 ? (pnVec3){(float)(n[0] / length), (float)(n[1] / length), (float)(n[2] / length)}
                    : (pnVec3){0, 0, 0};
}

pnPrimitivePair pnWorld_GetPrimitives(const pnWorld *world, uint32_t contactIndex, size_t pairIndex) {
  PN_ASSERT(world && contactIndex < world->contactCount);
  const pnContact *c = &world->contacts.data[contactIndex];
  PN_ASSERT(pairIndex >= c->firstPair && pairIndex < c->firstPair + c->pairCount);
  pnPrimitivePair out = {{0, 0}, {0, 0}};
  if (2 * pairIndex + 1 < world->generations.count) {
    const uint32_t *generation = world->generations.data + 2 * pairIndex;
    pnPair pair = world->pairs.data[pairIndex];
    out.a = generation[0] ? (pnPrimitiveId){pair.a + 1, generation[0]} : out.a;
    out.b = generation[1] ? (pnPrimitiveId){pair.b + 1, generation[1]} : out.b;
  }
  return out;
}

/* Has neither primitive of a pair been removed since the frame, nor one of the bodies? */
static bool isStillThere(const pnWorld *world, uint32_t contactIndex, size_t pairIndex) {
  const pnContact *c = &world->contacts.data[contactIndex];
  if (!pnBody_IsValid(world, c->a) || !pnBody_IsValid(world, c->b)) return false;
  pnPrimitivePair ids = pnWorld_GetPrimitives(world, contactIndex, pairIndex);
  const pnSoup *a = world->bodies.data[c->a.index1 - 1].soup, *b = world->bodies.data[c->b.index1 - 1].soup;
  return (!a || pnSoup_IsValid(a, ids.a)) && (!b || pnSoup_IsValid(b, ids.b));
}

pnContactPoint pnWorld_GetContactPoint(const pnWorld *world, uint32_t contactIndex, size_t pairIndex) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && contactIndex < world->contactCount);
  const pnContact *c = &world->contacts.data[contactIndex];
  PN_ASSERT(pairIndex >= c->firstPair && pairIndex < c->firstPair + c->pairCount);
  pnPair pair = world->pairs.data[pairIndex];
  if (!isStillThere(world, contactIndex, pairIndex)) return (pnContactPoint){0};
  pnTriangle a = triangleOf(world, c->a, pair.a), b = triangleOf(world, c->b, pair.b);
  return (pnContactPoint){pnMeetTriangles(&a, &b), normalOf(&a), normalOf(&b)};
}

#define COLOR_BODY 0x808080u
#define COLOR_NODE 0x4080c0u
#define COLOR_TRIANGLE 0xd03020u
#define COLOR_MEETING 0xffd020u

/* The box of a body and those of one level of its tree, however many there are. The tree may have waited for somebody to ask (follow.c). */
static pnResult drawBoxesOf(const pnBody *body, const pnDebugDraw *draw) {
  pnResult result = pn_nameBody(body, pnTree_Update(body->tree, NULL));
  if (result != PN_OK) return result;
  uint32_t count = pnTree_GetLevelBoxes(body->tree, draw->level, NULL, 0);
  size_t size = pn_bytes(count, sizeof(pnBox));
  pnBox *boxes = pn_alloc(size);
  if (!boxes && count > 0) return pn_failMemory(size);
  draw->drawBox(draw->user, pnTree_GetBox(body->tree), COLOR_BODY);
  pnTree_GetLevelBoxes(body->tree, draw->level, boxes, count);
  for (uint32_t j = 0; j < count; ++j) draw->drawBox(draw->user, boxes[j], COLOR_NODE);
  pn_free(boxes, size);
  return PN_OK;
}

static pnResult drawBoxes(const pnWorld *world, const pnDebugDraw *draw) {
  for (size_t i = 0; i < world->bodies.count; ++i) {
    const pnBody *body = &world->bodies.data[i];
    pnResult result = (body->generation & 1) && draw->drawBox ? drawBoxesOf(body, draw) : PN_OK;
    if (result != PN_OK) return result;
  }
  return PN_OK;
}

static void drawMeeting(const pnDebugDraw *draw, const pnMeeting *m) {
  for (uint32_t i = 0; i + 1 < m->pointCount; ++i)
    draw->drawSegment(draw->user, m->points[i], m->points[i + 1], COLOR_MEETING);
  if (m->pointCount > 2) draw->drawSegment(draw->user, m->points[m->pointCount - 1], m->points[0], COLOR_MEETING);
}

pnResult pnWorld_Draw(pnWorld *world, const pnDebugDraw *draw) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && draw);
  pnResult result = draw->boxes ? drawBoxes(world, draw) : PN_OK;
  for (uint32_t c = 0; c < world->contactCount; ++c) {
    const pnContact *contact = &world->contacts.data[c];
    for (size_t i = contact->firstPair; i < contact->firstPair + contact->pairCount; ++i) {
      if (!isStillThere(world, c, i)) continue;
      pnTriangle a = triangleOf(world, contact->a, world->pairs.data[i].a);
      pnTriangle b = triangleOf(world, contact->b, world->pairs.data[i].b);
      if (draw->triangles && draw->drawTriangle) {
        draw->drawTriangle(draw->user, &a, COLOR_TRIANGLE);
        draw->drawTriangle(draw->user, &b, COLOR_TRIANGLE);
      }
      if (draw->meetings && draw->drawSegment) {
        pnMeeting m = pnMeetTriangles(&a, &b);
        drawMeeting(draw, &m);
      }
    }
  }
  return result;
}
