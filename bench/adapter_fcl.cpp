/* adapter_fcl.cpp: FCL (Flexible Collision Library), refitted mesh models.
 *
 * Float models with boxes (default) or polytopes of 16, 18 or 24 directions (options "kdop16" ...), divided at the mean of the triangles' centres (FCL's
 * default), at their median or at the middle of the box ("median", "centre"), refitted by replacing the vertices.
 * The traversal node is called directly: fcl::collide copies models of these kinds before it starts, which would not
 * be fair. The triangle test is FCL's own. For a body against itself FCL cannot stop at the first pair, as every
 * triangle meets itself. */
#include "peer.h"

#include <fcl/fcl.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace {

/* What is behind the C interface: either kind, with its functions. */
struct Peer {
  virtual ~Peer() {}
  virtual void update(const float *const *vertices) = 0;
  virtual void findAll() = 0;
  virtual int findFirst() = 0;
  const pnBenchInput *input = nullptr;
  std::vector<pnBenchPair> pairs;
};

template <class Volume>
struct PeerOf : Peer {
  typedef fcl::BVHModel<Volume> Model;
  std::vector<std::unique_ptr<Model>> models;
  std::vector<std::vector<fcl::Vector3<float>>> vertices;

  PeerOf(const pnBenchInput *in, fcl::detail::SplitMethodType split) {
    input = in;
    vertices.resize(in->bodyCount);
    for (uint32_t i = 0; i < in->bodyCount; ++i) {
      convert(i, in->vertices[i]);
      const pnBenchBody &body = in->bodies[i];
      std::vector<fcl::Triangle> triangles(body.triangleCount);
      for (uint32_t k = 0; k < body.triangleCount; ++k) {
        const uint32_t *t = body.triangles + 3 * size_t(k);
        triangles[k] = fcl::Triangle(t[0], t[1], t[2]);
      }
      models.emplace_back(new Model);
      models[i]->bv_splitter.reset(new fcl::detail::BVSplitter<Volume>(split));
      models[i]->beginModel(int(body.triangleCount), int(body.vertexCount));
      models[i]->addSubModel(vertices[i], triangles);
      models[i]->endModel();
    }
  }

  /* FCL takes its own vector type only */
  void convert(uint32_t i, const float *v) {
    vertices[i].resize(input->bodies[i].vertexCount);
    for (size_t k = 0; k < vertices[i].size(); ++k)
      vertices[i][k] = fcl::Vector3<float>(v[3 * k], v[3 * k + 1], v[3 * k + 2]);
  }

  void update(const float *const *newVertices) override {
    for (uint32_t i = 0; i < input->bodyCount; ++i) {
      convert(i, newVertices[i]);
      models[i]->beginReplaceModel();
      models[i]->replaceSubModel(vertices[i]);
      models[i]->endReplaceModel(true, true);
    }
  }

  void collide(uint32_t a, uint32_t b, size_t most, fcl::CollisionResult<float> &result) {
    fcl::CollisionRequest<float> request(most, false);
    fcl::Transform3<float> stayA = fcl::Transform3<float>::Identity(), stayB = stayA;
    fcl::detail::MeshCollisionTraversalNode<Volume> node;
    fcl::detail::initialize(node, *models[a], stayA, *models[b], stayB, request, result, true, true);
    fcl::detail::collide<float>(&node);
  }

  void addContacts(uint32_t a, uint32_t b, const fcl::CollisionResult<float> &result) {
    const uint32_t *t = input->bodies[a].triangles;
    for (size_t i = 0; i < result.numContacts(); ++i) {
      const fcl::Contact<float> &contact = result.getContact(i);
      uint32_t s = uint32_t(contact.b1), r = uint32_t(contact.b2);
      if (!input->self || (s < r && !pn_benchNeighbours(t + 3 * size_t(s), t + 3 * size_t(r))))
        pairs.push_back({a, b, s, r});
    }
  }

  void findAll() override {
    pairs.clear();
    for (uint32_t a = 0; a < input->bodyCount; ++a) {
      for (uint32_t b = input->self ? a : a + 1; b < input->bodyCount; ++b) {
        fcl::CollisionResult<float> result;
        collide(a, b, INT32_MAX, result);
        addContacts(a, b, result);
      }
    }
  }

  int findFirst() override {
    if (input->self) return -1;
    for (uint32_t a = 0; a < input->bodyCount; ++a) {
      for (uint32_t b = a + 1; b < input->bodyCount; ++b) {
        fcl::CollisionResult<float> result;
        collide(a, b, 1, result);
        if (result.numContacts() > 0) return 1;
      }
    }
    return 0;
  }
};

void *create(const pnBenchInput *input, const char *options) {
  static const char *const words[] = {"aabb", "kdop16", "kdop18", "kdop24", "median", "centre", nullptr};
  if (!pn_optionsKnown(options, words)) return nullptr;
  fcl::detail::SplitMethodType split = pn_hasOption(options, "median")   ? fcl::detail::SPLIT_METHOD_MEDIAN
                                       : pn_hasOption(options, "centre") ? fcl::detail::SPLIT_METHOD_BV_CENTER
                                                                         : fcl::detail::SPLIT_METHOD_MEAN;
  if (pn_hasOption(options, "kdop16")) return static_cast<Peer *>(new PeerOf<fcl::KDOP<float, 16>>(input, split));
  if (pn_hasOption(options, "kdop18")) return static_cast<Peer *>(new PeerOf<fcl::KDOP<float, 18>>(input, split));
  if (pn_hasOption(options, "kdop24")) return static_cast<Peer *>(new PeerOf<fcl::KDOP<float, 24>>(input, split));
  return static_cast<Peer *>(new PeerOf<fcl::AABB<float>>(input, split));
}

void update(void *peer, const float *const *vertices) {
  static_cast<Peer *>(peer)->update(vertices);
}
void findAll(void *peer) {
  static_cast<Peer *>(peer)->findAll();
}
int findFirst(void *peer) {
  return static_cast<Peer *>(peer)->findFirst();
}
void collect(void *peer, pnBenchPairs *outPairs) {
  const auto &pairs = static_cast<Peer *>(peer)->pairs;
  pn_benchAddAll(outPairs, pairs.data(), pairs.size());
}
void destroy(void *peer) {
  delete static_cast<Peer *>(peer);
}

} // namespace

extern "C" const pnPeer pn_peerFcl = {"fcl",
                                      "FCL mesh models refitted every frame, FCL's own triangle test",
                                      "aabb kdop16 kdop18 kdop24 median centre",
                                      false,
                                      create,
                                      update,
                                      findAll,
                                      findFirst,
                                      collect,
                                      nullptr,
                                      destroy};
