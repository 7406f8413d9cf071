/* adapter_cgal.cpp: CGAL with exact predicates.
 *
 * Two ways that CGAL offers: box_intersection_d over the boxes of all triangles (default, or option "box"; "cutoff=" is how few boxes it compares one by one), which
 * needs no tree and is done anew every frame, and AABB_tree (option "tree"), which has no refit and is rebuilt every
 * frame; the triangles of the second body are asked one by one. Predicates are exact (EPICK), so CGAL is also an
 * independent witness for the pair hash. */
#include "peer.h"

#include <CGAL/AABB_traits.h>
#include <CGAL/AABB_tree.h>
#include <CGAL/AABB_triangle_primitive.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/box_intersection_d.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

namespace {

typedef CGAL::Exact_predicates_inexact_constructions_kernel Kernel;
typedef Kernel::Triangle_3 Triangle;

/* What box_intersection_d needs of a box. */
struct Box {
  typedef float NT;
  typedef std::size_t ID;
  float low[3], high[3];
  uint32_t triangle;
  static int dimension() { return 3; }
  float min_coord(int axis) const { return low[axis]; }
  float max_coord(int axis) const { return high[axis]; }
  std::size_t id() const { return reinterpret_cast<std::size_t>(this); }
};

struct Found {};

struct Peer {
  const pnBenchInput *input = nullptr;
  std::vector<std::vector<Triangle>> triangles;
  std::vector<pnBenchPair> pairs;
  bool first = false;

  virtual ~Peer() {}
  virtual void updateBody(uint32_t body, const float *vertices) = 0;
  /* Adds to pairs, or throws Found at the first one. */
  virtual void search() = 0;

  explicit Peer(const pnBenchInput *in) : input(in), triangles(in->bodyCount) {
    for (uint32_t i = 0; i < in->bodyCount; ++i) triangles[i].resize(in->bodies[i].triangleCount);
  }

  void update(const float *const *vertices) {
    for (uint32_t i = 0; i < input->bodyCount; ++i) {
      for (uint32_t k = 0; k < input->bodies[i].triangleCount; ++k) {
        const uint32_t *t = input->bodies[i].triangles + 3 * size_t(k);
        const float *v = vertices[i], *a = v + 3 * size_t(t[0]), *b = v + 3 * size_t(t[1]), *c = v + 3 * size_t(t[2]);
        triangles[i][k] = Triangle(Kernel::Point_3(a[0], a[1], a[2]), Kernel::Point_3(b[0], b[1], b[2]),
                                   Kernel::Point_3(c[0], c[1], c[2]));
      }
      updateBody(i, vertices[i]);
    }
  }

  void add(uint32_t bodyA, uint32_t bodyB, uint32_t a, uint32_t b) {
    if (first) throw Found();
    pairs.push_back({bodyA, bodyB, a, b});
  }
};

struct BoxPeer : Peer {
  std::vector<std::vector<Box>> boxes;
  std::vector<std::vector<const Box *>> order; /* the algorithm sorts pointers */
  std::vector<CGAL::Bbox_3> whole;
  std::ptrdiff_t cutoff;

  BoxPeer(const pnBenchInput *in, uint32_t most)
      : Peer(in), boxes(in->bodyCount), order(in->bodyCount), whole(in->bodyCount), cutoff(most) {
    for (uint32_t i = 0; i < in->bodyCount; ++i) {
      boxes[i].resize(in->bodies[i].triangleCount);
      order[i].resize(in->bodies[i].triangleCount);
    }
    update(in->vertices);
  }

  void updateBody(uint32_t i, const float *v) override {
    CGAL::Bbox_3 all;
    for (uint32_t k = 0; k < input->bodies[i].triangleCount; ++k) {
      const uint32_t *t = input->bodies[i].triangles + 3 * size_t(k);
      const float *a = v + 3 * size_t(t[0]), *b = v + 3 * size_t(t[1]), *c = v + 3 * size_t(t[2]);
      Box &box = boxes[i][k];
      box.triangle = k;
      for (int axis = 0; axis < 3; ++axis) {
        box.low[axis] = std::min(a[axis], std::min(b[axis], c[axis]));
        box.high[axis] = std::max(a[axis], std::max(b[axis], c[axis]));
      }
      all += CGAL::Bbox_3(box.low[0], box.low[1], box.low[2], box.high[0], box.high[1], box.high[2]);
      order[i][k] = &box;
    }
    whole[i] = all;
  }

  void search() override {
    if (input->self) {
      const uint32_t *t = input->bodies[0].triangles;
      CGAL::box_self_intersection_d(
          order[0].begin(), order[0].end(),
          [&](const Box *x, const Box *y) {
            uint32_t a = std::min(x->triangle, y->triangle), b = std::max(x->triangle, y->triangle);
            if (pn_benchNeighbours(t + 3 * size_t(a), t + 3 * size_t(b))) return;
            if (CGAL::do_intersect(triangles[0][a], triangles[0][b])) add(0, 0, a, b);
          },
          cutoff);
      return;
    }
    for (uint32_t i = 0; i < input->bodyCount; ++i) {
      for (uint32_t j = i + 1; j < input->bodyCount; ++j) {
        if (!CGAL::do_overlap(whole[i], whole[j])) continue;
        CGAL::box_intersection_d(
            order[i].begin(), order[i].end(), order[j].begin(), order[j].end(),
            [&](const Box *x, const Box *y) {
              if (CGAL::do_intersect(triangles[i][x->triangle], triangles[j][y->triangle]))
                add(i, j, x->triangle, y->triangle);
            },
            cutoff);
      }
    }
  }
};

struct TreePeer : Peer {
  typedef std::vector<Triangle>::const_iterator Iterator;
  typedef CGAL::AABB_triangle_primitive<Kernel, Iterator> Primitive;
  typedef CGAL::AABB_tree<CGAL::AABB_traits<Kernel, Primitive>> Tree;
  std::unique_ptr<Tree> tree;

  explicit TreePeer(const pnBenchInput *in) : Peer(in) { update(in->vertices); }

  /* the first body gets the tree, the second asks */
  void updateBody(uint32_t i, const float *) override {
    if (i == 0) {
      tree.reset(new Tree(triangles[0].begin(), triangles[0].end()));
      tree->build();
    }
  }

  void search() override {
    std::vector<Tree::Primitive_id> hits;
    for (uint32_t b = 0; b < input->bodies[1].triangleCount; ++b) {
      if (first) {
        if (tree->do_intersect(triangles[1][b])) throw Found();
        continue;
      }
      hits.clear();
      tree->all_intersected_primitives(triangles[1][b], std::back_inserter(hits));
      for (const Iterator &hit : hits) add(0, 1, uint32_t(hit - triangles[0].begin()), b);
    }
  }
};

void *create(const pnBenchInput *input, const char *options) {
  static const char *const words[] = {"box", "tree", "cutoff=", nullptr};
  if (!pn_optionsKnown(options, words)) return nullptr;
  if (!pn_hasOption(options, "tree"))
    return static_cast<Peer *>(new BoxPeer(input, pn_optionNumber(options, "cutoff", 10)));
  return input->bodyCount == 2 ? static_cast<Peer *>(new TreePeer(input)) : nullptr;
}

void update(void *peer, const float *const *vertices) {
  static_cast<Peer *>(peer)->update(vertices);
}

void findAll(void *object) {
  Peer *peer = static_cast<Peer *>(object);
  peer->pairs.clear();
  peer->first = false;
  peer->search();
}

int findFirst(void *object) {
  Peer *peer = static_cast<Peer *>(object);
  peer->first = true;
  try {
    peer->search();
  } catch (const Found &) {
    return 1;
  }
  return 0;
}

void collect(void *object, pnBenchPairs *outPairs) {
  const auto &pairs = static_cast<Peer *>(object)->pairs;
  pn_benchAddAll(outPairs, pairs.data(), pairs.size());
}

void destroy(void *object) {
  delete static_cast<Peer *>(object);
}

} // namespace

extern "C" const pnPeer pn_peerCgal = {"cgal",
                                       "CGAL with exact predicates: box_intersection_d, or AABB_tree rebuilt",
                                       "box tree cutoff=",
                                       false,
                                       create,
                                       update,
                                       findAll,
                                       findFirst,
                                       collect,
                                       nullptr,
                                       destroy};
