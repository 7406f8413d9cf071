/* draco_pack.cpp: what Draco's own encoder makes of a mesh, for test_gltf_draco.c. */
#include "draco_pack.h"

#include <cstring>

#include <draco/compression/expert_encode.h>
#include <draco/mesh/mesh.h>

namespace {

/* Values of all vertices, one after the other; answers the attribute's place. */
int add(draco::Mesh *mesh, draco::GeometryAttribute::Type kind, draco::DataType type, int width, const void *values) {
  int size = width * draco::DataTypeLength(type);
  draco::GeometryAttribute head;
  head.Init(kind, nullptr, static_cast<int8_t>(width), type, false, size, 0);
  int id = mesh->AddAttribute(head, true, mesh->num_points());
  for (uint32_t v = 0; v < mesh->num_points(); ++v)
    mesh->attribute(id)->SetAttributeValue(draco::AttributeValueIndex(v), static_cast<const char *>(values) + v * size);
  return id;
}

} // namespace

size_t packDraco(const DracoMesh *from, uint8_t *out, size_t room) {
  draco::Mesh mesh;
  mesh.set_num_points(from->vertexCount);
  mesh.SetNumFaces(from->triangleCount);
  for (uint32_t t = 0; t < from->triangleCount; ++t) {
    draco::Mesh::Face face;
    for (int k = 0; k < 3; ++k) face[k] = draco::PointIndex(from->corners[3 * t + k]);
    mesh.SetFace(draco::FaceIndex(t), face);
  }
  int position = add(&mesh, draco::GeometryAttribute::POSITION, draco::DT_FLOAT32, 3, from->positions);
  if (from->joints != nullptr) {
    add(&mesh, draco::GeometryAttribute::GENERIC, draco::DT_UINT8, 4, from->joints);
    add(&mesh, draco::GeometryAttribute::GENERIC, draco::DT_FLOAT32, 4, from->weights);
  }
  std::vector<uint32_t> zeros(from->fillers > 0 ? 100 * from->vertexCount : 0);
  for (int i = 0; i < from->fillers; ++i)
    add(&mesh, draco::GeometryAttribute::GENERIC, draco::DT_UINT32, 100, zeros.data());
  draco::ExpertEncoder encoder(mesh);
  encoder.SetEncodingMethod(from->inOrder ? draco::MESH_SEQUENTIAL_ENCODING : draco::MESH_EDGEBREAKER_ENCODING);
  if (from->bits > 0) encoder.SetAttributeQuantization(position, from->bits);
  draco::EncoderBuffer buffer;
  if (!encoder.EncodeToBuffer(&buffer).ok() || buffer.size() > room) return 0;
  memcpy(out, buffer.data(), buffer.size());
  return buffer.size();
}
