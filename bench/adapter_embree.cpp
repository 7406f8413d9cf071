/* adapter_embree.cpp: Embree 3, rtcCollide over user geometries.
 *
 * Embree is a ray tracer whose trees are among the fastest there are to refit, and rtcCollide gives the pairs of
 * primitives whose boxes overlap; the triangle test is the caller's. Each body is a scene with one user geometry of
 * build quality "refit"; option "rebuild": "low", built anew in every frame. rtcCollide compares boxes of leaves: what it gives is
 * tested by the boxes of the two triangles first, as a careful user would; "no-pretest" leaves that out. More than 100 bodies are found by a scene over their boxes, or with "joined" all of their triangles are in
 * one scene. Option "exact" takes pinch's exact test instead of the plain float one. Option "returned":
 * rtcCollide takes memory and frees it in every call. Whether the heap then returns it to the system each time, which
 * with many bodies is a third of the time, depends on the history and layout of the heap. In this program it does not;
 * in a small one it does, and the option makes it so here.
 *
 * For the sweep over settings: "medium" and "high" build with that quality instead of "low" (with "rebuild" in every frame); "robust" and
 * "compact" are scene flags beside "dynamic", which "static" leaves out; "leaf=" is the most primitives of a leaf. */
#include "embree_bounds.h"
#include "peer.h"
#include "triangle_float.h"

#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

struct Body {
  const uint32_t *triangles;
  const float *vertices;
  RTCScene scene;
  RTCGeometry geometry;
};

struct Embree {
  const pnBenchInput *input;
  RTCDevice device;
  std::vector<Body> bodies;
  /* joined: one scene of all triangles, and whose they are; many bodies: a scene over their boxes, and who is close */
  bool joined, many, rebuild, pretest;
  int flags;
  RTCBuildQuality quality;
  std::vector<uint32_t> bodyOf, firstOf;
  std::vector<RTCBounds> boxes;
  std::vector<std::pair<uint32_t, uint32_t>> close;
  RTCScene top;
  RTCGeometry topGeometry;
  bool exact, first, found;
  uint32_t bodyA, bodyB;
  uint64_t candidates;
  pnBenchPairs pairs;
};

void boundTriangle(const RTCBoundsFunctionArguments *arguments) {
  const Body *body = static_cast<const Body *>(arguments->geometryUserPtr);
  pn_boundTriangle(body->triangles, body->vertices, arguments->primID, arguments->bounds_o);
}

/* A triangle of the joined scene, and the box of a body. */
void boundJoined(const RTCBoundsFunctionArguments *arguments) {
  Embree *peer = static_cast<Embree *>(arguments->geometryUserPtr);
  uint32_t body = peer->bodyOf[arguments->primID];
  RTCBoundsFunctionArguments one = *arguments;
  one.geometryUserPtr = &peer->bodies[body];
  one.primID = arguments->primID - peer->firstOf[body];
  boundTriangle(&one);
}
void boundBody(const RTCBoundsFunctionArguments *arguments) {
  *arguments->bounds_o = static_cast<Embree *>(arguments->geometryUserPtr)->boxes[arguments->primID];
}

/* rays are never shot, but a user geometry must have these */
void noIntersect(const RTCIntersectFunctionNArguments *) {}
void noOcclude(const RTCOccludedFunctionNArguments *) {}

void reportError(void *, RTCError code, const char *text) {
  std::fprintf(stderr, "embree: error %d: %s\n", int(code), text);
}

bool boxesOverlap(const float *va, const uint32_t *s, const float *vb, const uint32_t *t) {
  for (int k = 0; k < 3; ++k) {
    float a = va[3 * size_t(s[0]) + k], b = va[3 * size_t(s[1]) + k], c = va[3 * size_t(s[2]) + k];
    float d = vb[3 * size_t(t[0]) + k], e = vb[3 * size_t(t[1]) + k], f = vb[3 * size_t(t[2]) + k];
    if (std::max(a, std::max(b, c)) < std::min(d, std::min(e, f))) return false;
    if (std::max(d, std::max(e, f)) < std::min(a, std::min(b, c))) return false;
  }
  return true;
}

/* One candidate; true: it meets. */
bool testPair(Embree *peer, const Body &bodyA, uint32_t a, const Body &bodyB, uint32_t b) {
  const uint32_t *s = bodyA.triangles + 3 * size_t(a), *t = bodyB.triangles + 3 * size_t(b);
  if (peer->input->self && pn_benchNeighbours(s, t)) return false;
  if (peer->pretest && !boxesOverlap(bodyA.vertices, s, bodyB.vertices, t)) return false;
  return peer->exact ? pn_bodyTrianglesMeetExact(bodyA.vertices, s, bodyB.vertices, t)
                     : pn_bodyTrianglesMeetFloat(bodyA.vertices, s, bodyB.vertices, t);
}

/* The same for the joined scene, in which every pair comes twice and those of one body too. */
void testJoined(void *user, RTCCollision *collisions, unsigned count) {
  Embree *peer = static_cast<Embree *>(user);
  peer->candidates += count;
  for (unsigned i = 0; i < count && !(peer->first && peer->found); ++i) {
    uint32_t a = collisions[i].primID0, b = collisions[i].primID1;
    uint32_t bodyA = peer->bodyOf[a], bodyB = peer->bodyOf[b];
    if (bodyA >= bodyB) continue;
    a -= peer->firstOf[bodyA], b -= peer->firstOf[bodyB];
    if (testPair(peer, peer->bodies[bodyA], a, peer->bodies[bodyB], b)) {
      peer->found = true;
      pn_benchAdd(&peer->pairs, bodyA, bodyB, a, b);
    }
  }
}
void listClose(void *user, RTCCollision *collisions, unsigned count) {
  Embree *peer = static_cast<Embree *>(user);
  for (unsigned i = 0; i < count; ++i) {
    uint32_t a = collisions[i].primID0, b = collisions[i].primID1;
    const RTCBounds &p = peer->boxes[a], &q = peer->boxes[b];
    if (a < b && p.lower_x <= q.upper_x && q.lower_x <= p.upper_x && p.lower_y <= q.upper_y && q.lower_y <= p.upper_y &&
        p.lower_z <= q.upper_z && q.lower_z <= p.upper_z)
      peer->close.push_back({a, b});
  }
}

/* Pairs of primitives whose boxes overlap, a block at a time. */
void testCandidates(void *user, RTCCollision *collisions, unsigned count) {
  Embree *peer = static_cast<Embree *>(user);
  if (peer->first && peer->found) return;
  const Body &bodyA = peer->bodies[peer->bodyA], &bodyB = peer->bodies[peer->bodyB];
  bool self = peer->input->self;
  peer->candidates += count;
  for (unsigned i = 0; i < count; ++i) {
    uint32_t a = collisions[i].primID0, b = collisions[i].primID1;
    /* a body against itself: every pair comes twice */
    bool meet = !(self && a >= b) && testPair(peer, bodyA, a, bodyB, b);
    if (meet) {
      peer->found = true;
      if (peer->first) return;
      pn_benchAdd(&peer->pairs, peer->bodyA, peer->bodyB, a, b);
    }
  }
}

/* A scene of one user geometry of so many primitives. */
RTCScene makeScene(Embree *peer, void *user, RTCBoundsFunction bound, uint32_t count, RTCGeometry *outGeometry) {
  RTCScene scene = rtcNewScene(peer->device);
  rtcSetSceneFlags(scene, RTCSceneFlags(peer->flags));
  rtcSetSceneBuildQuality(scene, peer->quality);
  RTCGeometry geometry = rtcNewGeometry(peer->device, RTC_GEOMETRY_TYPE_USER);
  rtcSetGeometryUserPrimitiveCount(geometry, count);
  rtcSetGeometryUserData(geometry, user);
  rtcSetGeometryBoundsFunction(geometry, bound, nullptr);
  rtcSetGeometryIntersectFunction(geometry, noIntersect);
  rtcSetGeometryOccludedFunction(geometry, noOcclude);
  rtcSetGeometryBuildQuality(geometry, peer->rebuild ? peer->quality : RTC_BUILD_QUALITY_REFIT);
  rtcCommitGeometry(geometry);
  rtcAttachGeometry(scene, geometry);
  rtcCommitScene(scene);
  *outGeometry = geometry;
  return scene;
}

void boxBody(Embree *peer, uint32_t i) {
  const float *v = peer->bodies[i].vertices;
  RTCBounds box = {v[0], v[1], v[2], 0, v[0], v[1], v[2], 0};
  for (uint32_t k = 1; k < peer->input->bodies[i].vertexCount; ++k) {
    const float *p = v + 3 * size_t(k);
    box.lower_x = std::min(box.lower_x, p[0]), box.upper_x = std::max(box.upper_x, p[0]);
    box.lower_y = std::min(box.lower_y, p[1]), box.upper_y = std::max(box.upper_y, p[1]);
    box.lower_z = std::min(box.lower_z, p[2]), box.upper_z = std::max(box.upper_z, p[2]);
  }
  peer->boxes[i] = box;
}

void makeBodies(Embree *peer) {
  const pnBenchInput *input = peer->input;
  peer->bodies.resize(input->bodyCount);
  peer->boxes.resize(input->bodyCount);
  for (uint32_t i = 0; i < input->bodyCount; ++i) {
    Body &body = peer->bodies[i];
    body.triangles = input->bodies[i].triangles;
    body.vertices = input->vertices[i];
    peer->firstOf.push_back(uint32_t(peer->bodyOf.size()));
    peer->bodyOf.insert(peer->bodyOf.end(), input->bodies[i].triangleCount, i);
    if (!peer->joined)
      body.scene = makeScene(peer, &body, boundTriangle, input->bodies[i].triangleCount, &body.geometry);
    boxBody(peer, i);
  }
  if (peer->joined) peer->top = makeScene(peer, peer, boundJoined, uint32_t(peer->bodyOf.size()), &peer->topGeometry);
  else if (peer->many) peer->top = makeScene(peer, peer, boundBody, input->bodyCount, &peer->topGeometry);
}

void *create(const pnBenchInput *input, const char *options) {
  static const char *const words[] = {"exact", "returned", "rebuild", "joined", "no-pretest", "medium",
                                      "high",  "robust",   "compact", "static", "leaf=",      nullptr};
  if (!pn_optionsKnown(options, words)) return nullptr;
  if (pn_hasOption(options, "returned")) {
    /* the value glibc starts with; setting it keeps it there */
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
  } else {
    /* and never gives memory back in between */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
  }
  Embree *peer = new Embree();
  peer->input = input;
  peer->exact = pn_hasOption(options, "exact");
  peer->rebuild = pn_hasOption(options, "rebuild");
  peer->pretest = !pn_hasOption(options, "no-pretest");
  peer->joined = pn_hasOption(options, "joined") && !input->self;
  peer->many = !peer->joined && input->bodyCount > 100;
  peer->flags = pn_hasOption(options, "static") ? RTC_SCENE_FLAG_NONE : RTC_SCENE_FLAG_DYNAMIC;
  if (pn_hasOption(options, "robust")) peer->flags |= RTC_SCENE_FLAG_ROBUST;
  if (pn_hasOption(options, "compact")) peer->flags |= RTC_SCENE_FLAG_COMPACT;
  peer->quality = pn_hasOption(options, "high")     ? RTC_BUILD_QUALITY_HIGH
                  : pn_hasOption(options, "medium") ? RTC_BUILD_QUALITY_MEDIUM
                                                    : RTC_BUILD_QUALITY_LOW;
  char config[80];
  uint32_t leaf = pn_optionNumber(options, "leaf", 0);
  std::snprintf(config, sizeof config, leaf > 0 ? "threads=1,object_accel_max_leaf_size=%u" : "threads=1", leaf);
  peer->device = rtcNewDevice(config);
  rtcSetDeviceErrorFunction(peer->device, reportError, nullptr);
  makeBodies(peer);
  return peer;
}

/* Bodies that have not moved have the array of the frame before. */
void update(void *object, const float *const *vertices) {
  Embree *peer = static_cast<Embree *>(object);
  bool moved = false;
  for (uint32_t i = 0; i < peer->input->bodyCount; ++i) {
    Body &body = peer->bodies[i];
    if (body.vertices == vertices[i]) continue;
    moved = true;
    body.vertices = vertices[i];
    if (peer->many) boxBody(peer, i);
    if (!peer->joined) {
      rtcCommitGeometry(body.geometry);
      rtcCommitScene(body.scene);
    }
  }
  if (moved && peer->top) {
    rtcCommitGeometry(peer->topGeometry);
    rtcCommitScene(peer->top);
  }
}

void search(Embree *peer, bool first) {
  peer->first = first;
  peer->found = false;
  peer->candidates = 0;
  peer->pairs.count = 0;
  if (peer->input->self) {
    peer->bodyA = peer->bodyB = 0;
    rtcCollide(peer->bodies[0].scene, peer->bodies[0].scene, testCandidates, peer);
    return;
  }
  if (peer->joined) {
    rtcCollide(peer->top, peer->top, testJoined, peer);
    return;
  }
  peer->close.clear();
  if (peer->many) {
    rtcCollide(peer->top, peer->top, listClose, peer);
  } else {
    for (uint32_t a = 0; a < peer->input->bodyCount; ++a)
      for (uint32_t b = a + 1; b < peer->input->bodyCount; ++b) peer->close.push_back({a, b});
  }
  for (const auto &pair : peer->close) {
    peer->bodyA = pair.first, peer->bodyB = pair.second;
    rtcCollide(peer->bodies[pair.first].scene, peer->bodies[pair.second].scene, testCandidates, peer);
    if (first && peer->found) return;
  }
}

void findAll(void *object) {
  search(static_cast<Embree *>(object), false);
}

int findFirst(void *object) {
  search(static_cast<Embree *>(object), true);
  return static_cast<Embree *>(object)->found;
}

void collect(void *object, pnBenchPairs *outPairs) {
  const Embree *peer = static_cast<const Embree *>(object);
  pn_benchAddAll(outPairs, peer->pairs.data, peer->pairs.count);
}

void getCost(void *object, pnPeerCost *outCost) {
  outCost->exactTests = static_cast<const Embree *>(object)->candidates;
}

void destroy(void *object) {
  Embree *peer = static_cast<Embree *>(object);
  for (Body &body : peer->bodies) {
    if (peer->joined) break;
    rtcReleaseGeometry(body.geometry);
    rtcReleaseScene(body.scene);
  }
  if (peer->top) {
    rtcReleaseGeometry(peer->topGeometry);
    rtcReleaseScene(peer->top);
  }
  rtcReleaseDevice(peer->device);
  free(peer->pairs.data);
  delete peer;
}

} // namespace

extern "C" const pnPeer pn_peerEmbree = {
    "embree",
    "Embree 3 refit and rtcCollide, one thread, with a float triangle test",
    "exact returned rebuild joined no-pretest medium high robust compact static leaf=",
    false,
    create,
    update,
    findAll,
    findFirst,
    collect,
    getCost,
    destroy};
