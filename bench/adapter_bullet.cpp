/* adapter_bullet.cpp: Bullet's btDbvt, refitted as its soft bodies do, searched by collideTT.
 *
 * One leaf a triangle, boxes recomputed from the leaves to the root every frame. The triangle test is the plain
 * float one, or pinch's exact test with the option "exact"; Bullet's own makes contact points with margins and
 * answers another question. */
#include "peer.h"
#include "triangle_float.h"

#include <BulletCollision/BroadphaseCollision/btDbvt.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace {

struct Body {
  const uint32_t *triangles;
  const float *vertices;
  btDbvt tree;
};

struct Bullet {
  const pnBenchInput *input;
  std::vector<std::unique_ptr<Body>> bodies;
  bool exact, first, found;
  uint32_t bodyA, bodyB;
  uint64_t candidates;
  pnBenchPairs pairs;
};

uint32_t triangleOf(const btDbvtNode *leaf) {
  return uint32_t(reinterpret_cast<size_t>(leaf->data));
}

btDbvtVolume boxOf(const Body &body, uint32_t triangle) {
  const uint32_t *t = body.triangles + 3 * size_t(triangle);
  const float *a = body.vertices + 3 * size_t(t[0]), *b = body.vertices + 3 * size_t(t[1]);
  const float *c = body.vertices + 3 * size_t(t[2]);
  btVector3 low(std::min(a[0], std::min(b[0], c[0])), std::min(a[1], std::min(b[1], c[1])),
                std::min(a[2], std::min(b[2], c[2])));
  btVector3 high(std::max(a[0], std::max(b[0], c[0])), std::max(a[1], std::max(b[1], c[1])),
                 std::max(a[2], std::max(b[2], c[2])));
  return btDbvtVolume::FromMM(low, high);
}

void refit(const Body &body, btDbvtNode *node) {
  if (node->isinternal()) {
    refit(body, node->childs[0]);
    refit(body, node->childs[1]);
    Merge(node->childs[0]->volume, node->childs[1]->volume, node->volume);
  } else {
    node->volume = boxOf(body, triangleOf(node));
  }
}

void testLeaves(Bullet *peer, uint32_t a, uint32_t b) {
  if (peer->first && peer->found) return;
  const Body &bodyA = *peer->bodies[peer->bodyA], &bodyB = *peer->bodies[peer->bodyB];
  const uint32_t *s = bodyA.triangles + 3 * size_t(a), *t = bodyB.triangles + 3 * size_t(b);
  bool self = peer->input->self;
  if (self && pn_benchNeighbours(s, t)) return;
  ++peer->candidates;
  bool meet = peer->exact ? pn_bodyTrianglesMeetExact(bodyA.vertices, s, bodyB.vertices, t)
                          : pn_bodyTrianglesMeetFloat(bodyA.vertices, s, bodyB.vertices, t);
  if (meet) {
    peer->found = true;
    if (self && a > b) std::swap(a, b);
    if (!peer->first) pn_benchAdd(&peer->pairs, peer->bodyA, peer->bodyB, a, b);
  }
}

struct Visitor : btDbvt::ICollide {
  Bullet *peer;
  void Process(const btDbvtNode *a, const btDbvtNode *b) { testLeaves(peer, triangleOf(a), triangleOf(b)); }
};

void *create(const pnBenchInput *input, const char *options) {
  static const char *const words[] = {"exact", nullptr};
  if (!pn_optionsKnown(options, words)) return nullptr;
  Bullet *peer = new Bullet();
  peer->input = input;
  peer->exact = pn_hasOption(options, "exact");
  for (uint32_t i = 0; i < input->bodyCount; ++i) {
    peer->bodies.emplace_back(new Body);
    Body &body = *peer->bodies[i];
    body.triangles = input->bodies[i].triangles;
    body.vertices = input->vertices[i];
    for (uint32_t k = 0; k < input->bodies[i].triangleCount; ++k)
      body.tree.insert(boxOf(body, k), reinterpret_cast<void *>(size_t(k)));
    body.tree.optimizeTopDown();
  }
  return peer;
}

void update(void *object, const float *const *vertices) {
  Bullet *peer = static_cast<Bullet *>(object);
  for (uint32_t i = 0; i < peer->input->bodyCount; ++i) {
    peer->bodies[i]->vertices = vertices[i];
    refit(*peer->bodies[i], peer->bodies[i]->tree.m_root);
  }
}

void search(Bullet *peer, bool first) {
  peer->first = first;
  peer->found = false;
  peer->candidates = 0;
  peer->pairs.count = 0;
  Visitor visitor;
  visitor.peer = peer;
  for (peer->bodyA = 0; peer->bodyA < peer->input->bodyCount; ++peer->bodyA) {
    btDbvt &treeA = peer->bodies[peer->bodyA]->tree;
    for (peer->bodyB = peer->bodyA + (peer->input->self ? 0 : 1); peer->bodyB < peer->input->bodyCount; ++peer->bodyB) {
      btDbvt &treeB = peer->bodies[peer->bodyB]->tree;
      if (Intersect(treeA.m_root->volume, treeB.m_root->volume)) treeA.collideTT(treeA.m_root, treeB.m_root, visitor);
      if (first && peer->found) return;
    }
  }
}

void findAll(void *object) {
  search(static_cast<Bullet *>(object), false);
}

int findFirst(void *object) {
  search(static_cast<Bullet *>(object), true);
  return static_cast<Bullet *>(object)->found;
}

void collect(void *object, pnBenchPairs *outPairs) {
  const Bullet *peer = static_cast<const Bullet *>(object);
  pn_benchAddAll(outPairs, peer->pairs.data, peer->pairs.count);
}

void getCost(void *object, pnPeerCost *outCost) {
  outCost->exactTests = static_cast<const Bullet *>(object)->candidates;
}

void destroy(void *object) {
  Bullet *peer = static_cast<Bullet *>(object);
  free(peer->pairs.data);
  delete peer;
}

} // namespace

extern "C" const pnPeer pn_peerBullet = {
    "bullet", "Bullet btDbvt refitted every frame, collideTT, with a float triangle test",
    "exact",  false,
    create,   update,
    findAll,  findFirst,
    collect,  getCost,
    destroy};
