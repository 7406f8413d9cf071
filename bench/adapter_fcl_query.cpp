/* adapter_fcl_query.cpp: the distance between two meshes by FCL. */
#include "query_rivals.h"

#include <fcl/fcl.h>

#include <vector>

struct pnFclQuery {
  typedef fcl::BVHModel<fcl::OBBRSS<float>> Model;
  std::shared_ptr<Model> model;
};

pnFclQuery *pn_fclOpen(const pnRivalMesh *mesh) {
  std::vector<fcl::Vector3<float>> vertices(mesh->vertexCount);
  std::vector<fcl::Triangle> triangles(mesh->triangleCount);
  for (size_t i = 0; i < vertices.size(); ++i) {
    const float *v = mesh->vertices + 3 * i;
    vertices[i] = fcl::Vector3<float>(v[0], v[1], v[2]);
  }
  for (size_t i = 0; i < triangles.size(); ++i) {
    const uint32_t *t = mesh->triangles + 3 * i;
    triangles[i] = fcl::Triangle(t[0], t[1], t[2]);
  }
  pnFclQuery *rival = new pnFclQuery{std::make_shared<pnFclQuery::Model>()};
  rival->model->beginModel(int(triangles.size()), int(vertices.size()));
  rival->model->addSubModel(vertices, triangles);
  rival->model->endModel();
  return rival;
}

void pn_fclClose(pnFclQuery *rival) {
  delete rival;
}

double pn_fclDistance(pnFclQuery *a, pnFclQuery *b, const pnMatrix *m, pnVec3 *outOnA, pnVec3 *outOnB) {
  fcl::Transform3<float> stay = fcl::Transform3<float>::Identity(), move = stay;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 4; ++c) move.matrix()(r, c) = m->m[r][c];
  fcl::DistanceRequest<float> request(true);
  fcl::DistanceResult<float> result;
  fcl::distance(a->model.get(), stay, b->model.get(), move, request, result);
  const auto &p = result.nearest_points[0], &q = result.nearest_points[1];
  *outOnA = {p[0], p[1], p[2]};
  *outOnB = {q[0], q[1], q[2]};
  return result.min_distance;
}
