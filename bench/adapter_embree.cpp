/* adapter_embree.cpp: Embree 3, rtcCollide over user geometries.
 *
 * Embree is a ray tracer whose trees are among the fastest there are to refit, and rtcCollide gives the pairs of
 * primitives whose boxes overlap; the triangle test is the caller's. Each body is a scene with one user geometry of
 * build quality "refit". Option "exact" takes pinch's exact test instead of the plain float one. Option "returned":
 * rtcCollide takes memory and frees it in every call. Whether the heap then returns it to the system each time, which
 * with many bodies is a third of the time, depends on the history and layout of the heap. In this program it does not;
 * in a small one it does, and the option makes it so here. */
#include "peer.h"
#include "triangle_float.h"

#include <embree3/rtcore.h>

#include <malloc.h>

#include <algorithm>
#include <cstdio>
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
  bool exact, first, found;
  uint32_t bodyA, bodyB;
  uint64_t candidates;
  pnBenchPairs pairs;
};

void boundTriangle(const RTCBoundsFunctionArguments *arguments) {
  const Body *body = static_cast<const Body *>(arguments->geometryUserPtr);
  const uint32_t *t = body->triangles + 3 * size_t(arguments->primID);
  const float *a = body->vertices + 3 * size_t(t[0]), *b = body->vertices + 3 * size_t(t[1]);
  const float *c = body->vertices + 3 * size_t(t[2]);
  RTCBounds *box = arguments->bounds_o;
  box->lower_x = std::min(a[0], std::min(b[0], c[0]));
  box->lower_y = std::min(a[1], std::min(b[1], c[1]));
  box->lower_z = std::min(a[2], std::min(b[2], c[2]));
  box->upper_x = std::max(a[0], std::max(b[0], c[0]));
  box->upper_y = std::max(a[1], std::max(b[1], c[1]));
  box->upper_z = std::max(a[2], std::max(b[2], c[2]));
}

/* rays are never shot, but a user geometry must have these */
void noIntersect(const RTCIntersectFunctionNArguments *) {}
void noOcclude(const RTCOccludedFunctionNArguments *) {}

void reportError(void *, RTCError code, const char *text) {
  std::fprintf(stderr, "embree: error %d: %s\n", int(code), text);
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
    const uint32_t *s = bodyA.triangles + 3 * size_t(a), *t = bodyB.triangles + 3 * size_t(b);
    /* a body against itself: every pair comes twice */
    if (self && (a >= b || pn_benchNeighbours(s, t))) continue;
    bool meet = peer->exact ? pn_bodyTrianglesMeetExact(bodyA.vertices, s, bodyB.vertices, t)
                            : pn_bodyTrianglesMeetFloat(bodyA.vertices, s, bodyB.vertices, t);
    if (meet) {
      peer->found = true;
      if (peer->first) return;
      pn_benchAdd(&peer->pairs, peer->bodyA, peer->bodyB, a, b);
    }
  }
}

void makeBody(Embree *peer, uint32_t i) {
  Body &body = peer->bodies[i];
  body.triangles = peer->input->bodies[i].triangles;
  body.vertices = peer->input->vertices[i];
  body.scene = rtcNewScene(peer->device);
  rtcSetSceneFlags(body.scene, RTC_SCENE_FLAG_DYNAMIC);
  rtcSetSceneBuildQuality(body.scene, RTC_BUILD_QUALITY_LOW);
  body.geometry = rtcNewGeometry(peer->device, RTC_GEOMETRY_TYPE_USER);
  rtcSetGeometryUserPrimitiveCount(body.geometry, peer->input->bodies[i].triangleCount);
  rtcSetGeometryUserData(body.geometry, &body);
  rtcSetGeometryBoundsFunction(body.geometry, boundTriangle, nullptr);
  rtcSetGeometryIntersectFunction(body.geometry, noIntersect);
  rtcSetGeometryOccludedFunction(body.geometry, noOcclude);
  rtcSetGeometryBuildQuality(body.geometry, RTC_BUILD_QUALITY_REFIT);
  rtcCommitGeometry(body.geometry);
  rtcAttachGeometry(body.scene, body.geometry);
  rtcCommitScene(body.scene);
}

void *create(const pnBenchInput *input, const char *options) {
  static const char *const words[] = {"exact", "returned", nullptr};
  if (!pn_optionsKnown(options, words)) return nullptr;
  if (pn_hasOption(options, "returned")) {
    /* the value glibc starts with; setting it keeps it there */
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
  }
  Embree *peer = new Embree();
  peer->input = input;
  peer->exact = pn_hasOption(options, "exact");
  peer->device = rtcNewDevice("threads=1");
  rtcSetDeviceErrorFunction(peer->device, reportError, nullptr);
  /* sized once: geometries point into it */
  peer->bodies.resize(input->bodyCount);
  for (uint32_t i = 0; i < input->bodyCount; ++i) makeBody(peer, i);
  return peer;
}

void update(void *object, const float *const *vertices) {
  Embree *peer = static_cast<Embree *>(object);
  for (uint32_t i = 0; i < peer->input->bodyCount; ++i) {
    peer->bodies[i].vertices = vertices[i];
    rtcCommitGeometry(peer->bodies[i].geometry);
    rtcCommitScene(peer->bodies[i].scene);
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
  for (peer->bodyA = 0; peer->bodyA < peer->input->bodyCount; ++peer->bodyA) {
    for (peer->bodyB = peer->bodyA + 1; peer->bodyB < peer->input->bodyCount; ++peer->bodyB) {
      rtcCollide(peer->bodies[peer->bodyA].scene, peer->bodies[peer->bodyB].scene, testCandidates, peer);
      if (first && peer->found) return;
    }
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
  for (size_t i = 0; i < peer->pairs.count; ++i) {
    const pnBenchPair &pair = peer->pairs.data[i];
    pn_benchAdd(outPairs, pair.bodyA, pair.bodyB, pair.a, pair.b);
  }
}

void getCost(void *object, pnPeerCost *outCost) {
  outCost->exactTests = static_cast<const Embree *>(object)->candidates;
}

void destroy(void *object) {
  Embree *peer = static_cast<Embree *>(object);
  for (Body &body : peer->bodies) {
    rtcReleaseGeometry(body.geometry);
    rtcReleaseScene(body.scene);
  }
  rtcReleaseDevice(peer->device);
  free(peer->pairs.data);
  delete peer;
}

} // namespace

extern "C" const pnPeer pn_peerEmbree = {
    "embree",         "Embree 3 refit and rtcCollide, one thread, with a float triangle test",
    "exact returned", false,
    create,           update,
    findAll,          findFirst,
    collect,          getCost,
    destroy};
