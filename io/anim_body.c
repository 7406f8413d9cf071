/* anim_body.c: the bodies of an animated file as objects of the library. Nothing is baked: targets stay targets, and a skin
 * a skin. */
#include "pinch/io.h"
#include "float_mode.h"

#include <stdlib.h>

pnResult pnAnimFile_CreateMesh(const pnAnimFile *file, uint32_t b, const char *name, pnMesh **outMesh) {
  PN_IO_FLOAT;
  const pnAnimBody *from = &file->bodies[b];
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = from->vertices;
  def.vertexCount = from->vertexCount;
  def.triangles = from->triangles;
  def.triangleCount = from->triangleCount;
  def.vertexWeld = from->vertexWeld;
  def.name = name ? name : from->name;
  return pnCreateMesh(&def, outMesh);
}

pnResult pnAnimFile_CreateMorph(const pnAnimFile *file, uint32_t b, const pnMesh *mesh, pnMorph **outMorph) {
  PN_IO_FLOAT;
  const pnAnimBody *from = &file->bodies[b];
  pnMorphTarget *targets = calloc(from->targetCount, sizeof(pnMorphTarget));
  if (!targets)
    return pnFail(PN_ERROR_MEMORY, "%s: out of memory for %u targets", pnMesh_GetName(mesh), from->targetCount);
  // A target that moves nothing still has a weight; its list must not read as "all vertices".
  static const uint32_t noVertices[1];
  static const float noDeltas[1];
  for (uint32_t t = 0; t < from->targetCount; ++t) {
    const pnAnimTarget *target = &from->targets[t];
    bool empty = target->count == 0;
    targets[t] = (pnMorphTarget){target->name, target->count, empty ? noVertices : target->vertices,
                                 empty ? noDeltas : target->deltas};
  }
  pnMorphDef def = pnDefaultMorphDef();
  def.mesh = mesh;
  def.targets = targets;
  def.targetCount = from->targetCount;
  def.restWeights = from->restWeights;
  pnResult result = pnCreateMorph(&def, outMorph);
  free(targets);
  return result;
}

pnResult pnAnimFile_CreateSkin(const pnAnimFile *file, uint32_t b, const pnMesh *mesh, pnSkin **outSkin) {
  PN_IO_FLOAT;
  const pnAnimBody *from = &file->bodies[b];
  pnSkinDef def = pnDefaultSkinDef();
  def.mesh = mesh;
  def.jointCount = file->skins[from->skin].jointCount;
  def.influenceCount = from->influenceCount;
  def.jointIndices = from->jointIndices;
  def.jointWeights = from->jointWeights;
  return pnCreateSkin(&def, outSkin);
}
