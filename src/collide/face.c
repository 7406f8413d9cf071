/* face.c: see face.h. */
#include "collide/face.h"

#include "collide/beside.h"

/* The triangles of the smaller body, by slot; those without have no plane. */
typedef struct FewFace {
  bool isThere;
  pnBigPlane plane;
  double lo[3], hi[3];
} FewFace;

static void findFace(const pnTree *few, uint32_t triangle, FewFace *out) {
  float place[3][4];
  const float *corner[3] = {place[0], place[1], place[2]};
  pn_poseFetch(few->pose, few->mesh->triangles + 3 * (size_t)triangle, 3, place[0], 4);
  out->plane = pn_planeOf(corner);
  for (int k = 0; k < 3; ++k) {
    out->lo[k] = PN_MIN(place[0][k], PN_MIN(place[1][k], place[2][k]));
    out->hi[k] = PN_MAX(place[0][k], PN_MAX(place[1][k], place[2][k]));
  }
}

static void findFaces(const pnTree *few, FewFace faces[PN_FACE_LEAVES * PN_LANES]) {
  const pnShape *shape = few->shape;
  for (uint32_t slot = 0; slot < shape->leafCount * PN_LANES; ++slot) {
    faces[slot].isThere = slot % PN_LANES < shape->count[shape->innerCount + slot / PN_LANES];
    if (faces[slot].isThere) findFace(few, shape->leafTriangles[slot], &faces[slot]);
  }
}

/* May something in the volume meet it? */
static bool reaches(const pnVolume *volume, const FewFace *face) {
  for (int k = 0; k < 3; ++k)
    if (volume->centre[k] - volume->half[k] > face->hi[k] || volume->centre[k] + volume->half[k] < face->lo[k])
      return false;
  return !pn_isBeside(volume, &face->plane);
}

/* Any of those below a node of the smaller body: of a leaf, or of all. */
static bool reachesAny(const pnVolume *volume, const pnTree *few, uint32_t node, const FewFace *faces) {
  uint32_t first = 0, end = few->shape->leafCount * PN_LANES;
  if (pn_isLeaf(few, node)) {
    first = (node - few->shape->innerCount) * PN_LANES;
    end = first + PN_LANES;
  }
  for (uint32_t slot = first; slot < end; ++slot)
    if (faces[slot].isThere && reaches(volume, &faces[slot])) return true;
  return false;
}

size_t pn_pruneFaces(const pnTraversal *t, pnWorker *w, pnPair *pairs, size_t count) {
  if (pn_restOn(&w->faces, count)) return count;
  bool isA = t->a->shape->leafCount <= PN_FACE_LEAVES;
  const pnTree *few = isA ? t->a : t->b, *many = isA ? t->b : t->a;
  FewFace faces[PN_FACE_LEAVES * PN_LANES];
  findFaces(few, faces);
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    pnPair p = pairs[i];
    pnVolume volume;
    bool keep = !pn_volumeOf(many, isA ? p.b : p.a, &volume) || reachesAny(&volume, few, isA ? p.a : p.b, faces);
    pairs[kept] = p;
    kept += keep;
  }
  w->cost.planeTests += count;
  pn_judgeTrial(&w->faces, count, count - kept);
  return kept;
}
