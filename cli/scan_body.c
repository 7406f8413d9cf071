/* scan_body.c: the bodies of a glTF file, as what they are there: rigid, morphing, skinned. Nothing is baked.
 *
 * For the table and the report each vertex is given to the joint with the largest weight; in a body without joints, to
 * the target that moves it farthest. That says where on a character a contact is, in words its author knows. */
#include "scan.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- groups */

static void groupByJoint(const pnAnimBody *from, uint16_t *groups) {
  for (uint32_t v = 0; v < from->vertexCount; ++v) {
    size_t first = (size_t)v * from->influenceCount, best = first;
    for (size_t k = first + 1; k < first + from->influenceCount; ++k)
      if (from->jointWeights[k] > from->jointWeights[best]) best = k;
    groups[v] = from->jointIndices[best];
  }
}

/* `reach` has room for one number a vertex. */
static void groupByTarget(const pnAnimBody *from, uint16_t *groups, double *reach) {
  for (uint32_t t = 0; t < from->targetCount; ++t) {
    const pnAnimTarget *target = &from->targets[t];
    for (uint32_t i = 0; i < target->count; ++i) {
      const float *d = &target->deltas[3 * (size_t)i];
      double length = (double)d[0] * d[0] + (double)d[1] * d[1] + (double)d[2] * d[2];
      uint32_t v = target->vertices[i];
      if (length > reach[v]) {
        reach[v] = length;
        groups[v] = (uint16_t)t;
      }
    }
  }
}

/* Names of joints or targets; those without one are called by their number. */
static bool nameGroups(pnScanBody *body, const pnAnimFile *file, const pnAnimBody *from) {
  enum { NAME_ROOM = 24 }; /* "target", ten digits, the end */
  body->groupNames = calloc(body->groupCount, sizeof(char *));
  body->madeNames = calloc(body->groupCount, NAME_ROOM);
  if (!body->groupNames || !body->madeNames) return false;
  for (uint32_t g = 0; g < body->groupCount; ++g) {
    bool joint = from->skin != PN_NONE;
    const char *name = joint ? file->nodes[file->skins[from->skin].joints[g]].name : from->targets[g].name;
    char *made = &body->madeNames[(size_t)g * NAME_ROOM];
    snprintf(made, NAME_ROOM, "%s%u", joint ? "joint" : "target", g);
    body->groupNames[g] = name && name[0] ? name : made;
  }
  return true;
}

static pnResult makeGroups(pnScanBody *body, const pnAnimFile *file, const pnAnimBody *from) {
  body->groupCount = from->skin != PN_NONE ? file->skins[from->skin].jointCount : from->targetCount;
  // The report counts groups in 16 bits; nobody reads more names than that.
  if (body->groupCount > UINT16_MAX) body->groupCount = 0;
  if (body->groupCount == 0) return PN_OK;
  size_t count = from->vertexCount;
  body->vertexGroups = malloc(count * sizeof(uint16_t) + 1);
  double *reach = calloc(count + 1, sizeof(double));
  bool good = body->vertexGroups && reach && nameGroups(body, file, from);
  if (good) {
    for (size_t v = 0; v < count; ++v) body->vertexGroups[v] = PN_REPORT_NO_GROUP;
    if (from->skin != PN_NONE) groupByJoint(from, body->vertexGroups);
    else groupByTarget(from, body->vertexGroups, reach);
  }
  free(reach);
  return good ? PN_OK : pnFail(PN_ERROR_MEMORY, "%s: out of memory for the names of what moves it", body->name);
}

uint16_t pn_scanTriangleGroup(const pnScanBody *body, uint32_t triangle) {
  if (!body->vertexGroups) return PN_REPORT_NO_GROUP;
  const uint32_t *corners = &pnMesh_GetTriangles(body->mesh)[3 * (size_t)triangle];
  uint16_t first = body->vertexGroups[corners[0]], second = body->vertexGroups[corners[1]];
  // Two of three agree, or all differ: only when the last two agree is it not the first.
  return second == body->vertexGroups[corners[2]] ? second : first;
}

/* ---------------------------------------------------------------- the bodies */

/* Rigid bodies by the mesh they show, so that a thousand nodes with one mesh have one: a table by address, of places of bodies that
 * count from 1; 0 is nobody. At most half of it is full. */
typedef struct Seen {
  uint32_t *places, mask;
} Seen;

/* The first body of the file with these vertices and triangles; this one, which is then known, when there is none. */
static pnScanBody *firstOf(pnScan *scan, const Seen *seen, const pnAnimFile *file, const pnAnimBody *from,
                           pnScanBody *body) {
  uint32_t at = (uint32_t)((uintptr_t)from->vertices >> 4) * 2654435769u; /* 2^32 over the golden ratio */
  for (at ^= at >> 15;; ++at) {
    uint32_t *place = &seen->places[at & seen->mask];
    if (*place == 0) *place = 1 + (uint32_t)(body - scan->bodies);
    pnScanBody *other = &scan->bodies[*place - 1];
    const pnAnimBody *shows = &file->bodies[other->animBody];
    if (shows->vertices == from->vertices && shows->triangles == from->triangles) return other;
  }
}

static pnResult makeMesh(const pnAnimFile *file, pnScanBody *body) {
  pnMeshInfo info = {0};
  pnResult result = pnAnimFile_CreateMesh(file, body->animBody, body->name, &body->mesh);
  if (result == PN_OK) result = pnMesh_Validate(body->mesh, &info);
  body->closed = info.closed;
  return result;
}

static pnResult addAnimBody(pnScan *scan, const Seen *seen, uint32_t source, uint32_t number) {
  const pnAnimFile *file = scan->sources[source].file;
  const pnAnimBody *from = &file->bodies[number];
  pnScanBody *body;
  pnResult result = pn_scanAddBody(scan, from->name, &body);
  if (result != PN_OK) return result;
  body->animBody = number;
  body->kind = from->skin != PN_NONE ? PN_BODY_SKINNED : from->targetCount > 0 ? PN_BODY_MORPH : PN_BODY_RIGID;
  const pnScanBody *first = body->kind == PN_BODY_RIGID ? firstOf(scan, seen, file, from, body) : body;
  body->sharesMesh = first != body;
  if (body->sharesMesh) body->mesh = first->mesh, body->closed = first->closed;
  else result = makeMesh(file, body);
  if (result == PN_OK && from->targetCount > 0) result = pnAnimFile_CreateMorph(file, number, body->mesh, &body->morph);
  if (result == PN_OK && from->skin != PN_NONE) result = pnAnimFile_CreateSkin(file, number, body->mesh, &body->skin);
  if (result == PN_OK) result = makeGroups(body, file, from);
  return result;
}

pnResult pn_scanAddAnimBodies(pnScan *scan, uint32_t source) {
  const pnAnimFile *file = scan->sources[source].file;
  const pnAnimScene *scene = &file->scenes[file->defaultScene];
  if (scene->bodyCount == 0)
    return pnFail(PN_ERROR_COUNT, "%s: its scene has no triangles to look at", scan->sources[source].word);
  Seen seen = {.mask = 1};
  while (seen.mask / 2 < scene->bodyCount) seen.mask = 2 * seen.mask + 1;
  seen.places = calloc((size_t)seen.mask + 1, sizeof(uint32_t));
  pnResult result = seen.places ? PN_OK : pnFail(PN_ERROR_MEMORY, "out of memory for %u bodies", scene->bodyCount);
  for (uint32_t i = 0; i < scene->bodyCount && result == PN_OK; ++i)
    result = addAnimBody(scan, &seen, source, scene->bodies[i]);
  free(seen.places);
  return result;
}
