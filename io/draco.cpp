/* draco.cpp: blocks of KHR_draco_mesh_compression, unpacked by the library Draco.
 *
 * Draco takes as much memory as a block announces, before it knows whether the block is honest: a hundred bytes may announce a
 * thousand million triangles, or two hundred attributes of them. Its decoders are asked in three steps (connectivity, list of
 * attributes, their numbers), and a derived class may step in between: numbers are compared there with what the accessors of the glTF
 * file say, and with a limit. Nothing thrown leaves this file. */
#include "draco.h"

#include <cstdarg>
#include <cstdio>
#include <exception>
#include <memory>

#include <draco/compression/config/decoder_options.h>
#include <draco/compression/mesh/mesh_edgebreaker_decoder.h>
#include <draco/compression/mesh/mesh_sequential_decoder.h>
#include <draco/core/varint_decoding.h>
#include <draco/mesh/mesh.h>

namespace {

/* Bytes that connectivity takes for a triangle: three corners and their opposites, the vertex of each and a corner of each vertex (24 +
 * 12 + 4), and half as much again for vectors that grow. Every further attribute with seams has a table of its own like this. */
const uint64_t s_bytesPerTriangle = 64;
/* Numbers of an attribute are there as symbols, as whole numbers and as what they stand for. */
const uint64_t s_copies = 3;

bool refuse(pnDracoBlock *block, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool refuse(pnDracoBlock *block, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (block->why[0] == 0) vsnprintf(block->why, sizeof block->why, format, arguments);
  va_end(arguments);
  return false;
}

bool refuseMemory(pnDracoBlock *block) {
  return refuse(block, "it asks for more than %zu bytes of memory; it is broken or hostile", block->limit);
}

/* One of Draco's two decoders of meshes, with a look at what it is about to do. Announced are, before the connectivity, numbers
 * of so many bits each: triangles and vertices in this order or the other. */
template <class Decoder, bool verticesFirst>
class Checked : public Decoder {
 public:
  explicit Checked(pnDracoBlock *block) : m_block(block) {}

 protected:
  bool DecodeConnectivity() override {
    draco::DecoderBuffer ahead = *this->buffer();
    uint32_t numbers[2];
    uint8_t tables = 0;
    for (uint32_t &number : numbers)
      if (!draco::DecodeVarint(&number, &ahead)) return false;
    if (verticesFirst && !ahead.Decode(&tables)) return false;
    /* Triangles are all told; vertices are those of the surface, of which seams make more. */
    uint32_t triangles = numbers[verticesFirst ? 1 : 0], vertices = numbers[verticesFirst ? 0 : 1];
    if (triangles != m_block->triangleCount || vertices > m_block->vertexCount) return refuseSize(triangles, vertices);
    if (triangles > m_block->limit / (s_bytesPerTriangle * (1u + tables))) return refuseMemory(m_block);
    return Decoder::DecodeConnectivity();
  }

  bool DecodeAllAttributes() override {
    uint32_t vertices = this->mesh()->num_points(), triangles = this->mesh()->num_faces();
    if (triangles != m_block->triangleCount || vertices != m_block->vertexCount) return refuseSize(triangles, vertices);
    uint64_t bytes = 0; /* of a vertex: 255 components at most, so that the sum is far from its end */
    for (int i = 0; i < this->mesh()->num_attributes(); ++i) {
      const draco::PointAttribute *attribute = this->mesh()->attribute(i);
      int size = draco::DataTypeLength(attribute->data_type());
      bytes += s_copies * attribute->num_components() * static_cast<uint64_t>(size > 4 ? size : 4) + sizeof(uint32_t);
    }
    if (bytes > 0 && vertices > m_block->limit / bytes) return refuseMemory(m_block);
    return Decoder::DecodeAllAttributes();
  }

 private:
  bool refuseSize(uint32_t triangles, uint32_t vertices) {
    return refuse(m_block, "it has %u triangles and %u vertices, the accessors say %u and %u", triangles, vertices,
                  m_block->triangleCount, m_block->vertexCount);
  }

  pnDracoBlock *m_block;
};

bool decode(pnDracoBlock *block, draco::Mesh *mesh) {
  draco::DecoderBuffer buffer;
  buffer.Init(reinterpret_cast<const char *>(block->bytes), block->count);
  draco::DecoderBuffer head = buffer;
  draco::DracoHeader header;
  if (!draco::PointCloudDecoder::DecodeHeader(&head, &header).ok()) return refuse(block, "it is no Draco block");
  /* What glTF allows; older ones announce their sizes otherwise. */
  if (header.version_major != 2 || header.version_minor != 2)
    return refuse(block, "Draco's format %d.%d, expected 2.2", header.version_major, header.version_minor);
  if (header.encoder_type != draco::TRIANGULAR_MESH) return refuse(block, "it holds points, not triangles");

  std::unique_ptr<draco::MeshDecoder> decoder;
  if (header.encoder_method == draco::MESH_EDGEBREAKER_ENCODING)
    decoder.reset(new Checked<draco::MeshEdgebreakerDecoder, true>(block));
  else if (header.encoder_method == draco::MESH_SEQUENTIAL_ENCODING)
    decoder.reset(new Checked<draco::MeshSequentialDecoder, false>(block));
  else return refuse(block, "its method has the unknown number %d", header.encoder_method);
  if (!decoder->Decode(draco::DecoderOptions(), &buffer, mesh).ok()) return refuse(block, "it is damaged");
  return true;
}

/* The numbers of all vertices as Ts; false for one that is not there or does not fit. */
template <class T>
bool convert(const draco::PointAttribute &attribute, uint32_t vertexCount, uint32_t width, void *out) {
  T *to = static_cast<T *>(out);
  for (uint32_t v = 0; v < vertexCount; ++v) {
    draco::AttributeValueIndex index = attribute.mapped_index(draco::PointIndex(v));
    if (index.value() >= attribute.size()) return false;
    if (!attribute.ConvertValue<T>(index, static_cast<int8_t>(width), to + static_cast<size_t>(v) * width))
      return false;
  }
  return true;
}

bool takeArray(const draco::Mesh &mesh, pnDracoBlock *block, const pnDracoArray *array) {
  const draco::PointAttribute *attribute = mesh.GetAttributeByUniqueId(array->id);
  if (attribute == nullptr) return refuse(block, "it has no attribute with the id %u", array->id);
  if (attribute->num_components() != array->width) {
    return refuse(block, "attribute %u has %d components, expected %u", array->id, int(attribute->num_components()),
                  array->width);
  }
  bool ok = false;
  uint32_t n = block->vertexCount, width = array->width;
  switch (array->component) {
    case 5120: ok = convert<int8_t>(*attribute, n, width, array->out); break;
    case 5121: ok = convert<uint8_t>(*attribute, n, width, array->out); break;
    case 5122: ok = convert<int16_t>(*attribute, n, width, array->out); break;
    case 5123: ok = convert<uint16_t>(*attribute, n, width, array->out); break;
    case 5125: ok = convert<uint32_t>(*attribute, n, width, array->out); break;
    case 5126: ok = convert<float>(*attribute, n, width, array->out); break;
    default: break;
  }
  return ok || refuse(block, "the numbers of attribute %u do not fit the accessor's type", array->id);
}

bool unpack(pnDracoBlock *block) {
  draco::Mesh mesh;
  if (!decode(block, &mesh)) return false;
  for (uint32_t i = 0; i < block->triangleCount; ++i) {
    const draco::Mesh::Face &face = mesh.face(draco::FaceIndex(i));
    for (int k = 0; k < 3; ++k) block->corners[3 * static_cast<size_t>(i) + k] = face[k].value();
  }
  for (uint32_t i = 0; i < block->arrayCount; ++i)
    if (!takeArray(mesh, block, &block->arrays[i])) return false;
  return true;
}

} // namespace

bool pn_dracoUnpack(pnDracoBlock *block) {
  block->why[0] = 0;
  try {
    return unpack(block);
  } catch (const std::exception &) {
    return refuse(block, "there is no memory for it");
  }
}
