/* guests.c: see guests.h. */
#include "guests.h"

#include <ctype.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

const pnGuestName *pnGuest_List(void) {
  static const pnGuestName list[] = {{"khronos-gltf/CesiumMan/glTF-Binary/CesiumMan.glb", 1.75},
                                     {"kaykit/Characters/gltf/Knight.glb", 1.6},
                                     {"threejs/gltf/RobotExpressive/RobotExpressive.glb", 1.8},
                                     {"quaternius/dinosaurs_pack/Velociraptor.glb", 1.5},
                                     {"quaternius/animals_pack/Horse.glb", 1.9},
                                     {"khronos-gltf/Fox/glTF-Binary/Fox.glb", 0.8},
                                     {NULL, 0}};
  return list;
}

/* ---------------------------------------------------------------- parts */

static pnResult makePart(const pnAnimFile *file, uint32_t body, pnGuestPart *part) {
  const pnAnimBody *from = &file->bodies[body];
  *part =
      (pnGuestPart){.body = body, .jointCount = file->skins[from->skin].jointCount, .targetCount = from->targetCount};
  pnResult result = pnAnimFile_CreateMesh(file, body, NULL, &part->mesh);
  if (result == PN_OK && from->targetCount > 0) result = pnAnimFile_CreateMorph(file, body, part->mesh, &part->morph);
  return result == PN_OK ? pnAnimFile_CreateSkin(file, body, part->mesh, &part->skin) : result;
}

static pnResult makeParts(pnGuest *guest) {
  const pnAnimFile *file = guest->file;
  guest->parts = calloc(file->bodyCount + 1, sizeof *guest->parts);
  if (!guest->parts) return pnFail(PN_ERROR_MEMORY, "guest: out of memory for %u bodies", file->bodyCount);
  pnResult result = PN_OK;
  uint32_t joints = 0;
  for (uint32_t b = 0; result == PN_OK && b < file->bodyCount; ++b) {
    if (file->bodies[b].skin == PN_NONE) continue;
    result = makePart(file, b, &guest->parts[guest->partCount++]);
    uint32_t n = guest->parts[guest->partCount - 1].jointCount;
    joints = n > joints ? n : joints;
  }
  if (result != PN_OK) return result;
  if (guest->partCount == 0) return pnFail(PN_ERROR_ARGUMENT, "guest '%s': nothing in it has a skin", file->name);
  guest->joints = malloc(joints * sizeof *guest->joints);
  return guest->joints ? PN_OK : pnFail(PN_ERROR_MEMORY, "guest: out of memory for %u joints", joints);
}

/* ---------------------------------------------------------------- to metres */

#define MOMENTS 16u

/* What the clip moves through, in the space of `stand`. */
static pnResult measure(pnGuest *guest, pnVec3 *outMin, pnVec3 *outMax) {
  *outMin = (pnVec3){FLT_MAX, FLT_MAX, FLT_MAX};
  *outMax = (pnVec3){-FLT_MAX, -FLT_MAX, -FLT_MAX};
  pnResult result = PN_OK;
  for (uint32_t p = 0; result == PN_OK && p < guest->partCount; ++p) {
    const pnGuestPart *part = &guest->parts[p];
    uint32_t n = pnMesh_GetVertexCount(part->mesh);
    float *vertices = malloc(3 * sizeof(float) * ((size_t)n + 1));
    pnPoseDef def = {part->mesh, part->morph, part->skin};
    pnPose *pose = NULL;
    result = vertices ? pnCreatePose(&def, &pose) : pnFail(PN_ERROR_MEMORY, "guest: out of memory");
    for (uint32_t i = 0; result == PN_OK && i < MOMENTS; ++i) {
      result = pnGuest_Move(guest, (double)i / MOMENTS);
      if (result == PN_OK) result = pnGuest_SetPose(guest, p, pose);
      if (result == PN_OK) pnPose_GetVertices(pose, vertices);
      for (uint32_t v = 0; result == PN_OK && v < 3 * n; ++v) {
        float *lo = &outMin->x + v % 3, *hi = &outMax->x + v % 3, x = vertices[v];
        *lo = x < *lo ? x : *lo;
        *hi = x > *hi ? x : *hi;
      }
    }
    pnDestroyPose(pose);
    free(vertices);
  }
  return result;
}

static pnResult standUp(pnGuest *guest, double height) {
  pnVec3 lo, hi;
  guest->stand = pnMatrix_Identity();
  pnResult result = measure(guest, &lo, &hi);
  if (result != PN_OK) return result;
  if (!(hi.y > lo.y)) return pnFail(PN_ERROR_ARGUMENT, "guest '%s': it is flat", guest->file->name);
  float scale = (float)(height / ((double)hi.y - (double)lo.y));
  for (int k = 0; k < 3; ++k) guest->stand.m[k][k] = scale;
  guest->stand.m[0][3] = -0.5f * (lo.x + hi.x) * scale;
  guest->stand.m[1][3] = -lo.y * scale;
  guest->stand.m[2][3] = -0.5f * (lo.z + hi.z) * scale;
  guest->side = 0.5f * (hi.x - lo.x) * scale;
  return PN_OK;
}

/* ---------------------------------------------------------------- life */

/* Does a clip's name say that it is a walk? */
static bool isWalk(const char *name) {
  for (; *name; ++name) {
    const char *word = "walk";
    size_t n = 0;
    while (word[n] && tolower((unsigned char)name[n]) == word[n]) ++n;
    if (!word[n]) return true;
  }
  return false;
}

pnResult pnCreateGuest(const char *path, double height, pnGuest *outGuest) {
  memset(outGuest, 0, sizeof *outGuest);
  pnResult result = pnLoadAnimFile(path, &outGuest->file);
  if (result == PN_OK) result = pnCreateAnimState(outGuest->file, &outGuest->state);
  if (result == PN_OK) {
    const pnAnimFile *file = outGuest->file;
    outGuest->clip = file->clipCount > 0 ? 0 : PN_NONE;
    for (uint32_t c = file->clipCount; c-- > 0;)
      if (isWalk(file->clips[c].name)) outGuest->clip = c;
    result = makeParts(outGuest);
  }
  if (result == PN_OK) result = standUp(outGuest, height);
  if (result != PN_OK) pnDestroyGuest(outGuest);
  return result;
}

void pnDestroyGuest(pnGuest *guest) {
  for (uint32_t p = 0; p < guest->partCount; ++p) {
    pnDestroySkin(guest->parts[p].skin);
    pnDestroyMorph(guest->parts[p].morph);
    pnDestroyMesh(guest->parts[p].mesh);
  }
  free(guest->parts);
  free(guest->joints);
  pnDestroyAnimState(guest->state);
  pnFreeAnimFile(guest->file);
  memset(guest, 0, sizeof *guest);
}

/* ---------------------------------------------------------------- moving */

pnResult pnGuest_Move(pnGuest *guest, double phase) {
  if (guest->clip == PN_NONE) return pnAnimState_Evaluate(guest->state, PN_NONE, 0);
  const pnAnimClip *clip = &guest->file->clips[guest->clip];
  double length = (double)clip->endTime - (double)clip->startTime;
  return pnAnimState_Evaluate(guest->state, guest->clip, (double)clip->startTime + phase * length);
}

pnResult pnGuest_SetPose(const pnGuest *guest, uint32_t part, pnPose *pose) {
  const pnGuestPart *p = &guest->parts[part];
  const pnMatrix *from = pnAnimState_GetJoints(guest->state, p->body);
  for (uint32_t j = 0; j < p->jointCount; ++j)
    for (int row = 0; row < 3; ++row)
      for (int k = 0; k < 4; ++k)
        guest->joints[j].m[row][k] =
            guest->stand.m[row][row] * from[j].m[row][k] + (k == 3 ? guest->stand.m[row][3] : 0);
  pnResult result = pnPose_SetJoints(pose, guest->joints, p->jointCount);
  if (result == PN_OK && p->morph)
    result = pnPose_SetWeights(pose, pnAnimState_GetWeights(guest->state, p->body), p->targetCount);
  return result;
}

/* pnRoom_Walk is made for a walker whose hand reaches this far to the side of the wall. */
#define HAND 0.32f

pnMatrix pnGuest_Walk(const pnGuest *guest, pnRoom room, double walk, float into) {
  pnMatrix at = pnRoom_Walk(room, walk);
  float nearer = HAND - guest->side + into; /* along (0.6, 0, 0.8), square to the walls of both rooms */
  at.m[0][3] += 0.6f * nearer;
  at.m[2][3] += 0.8f * nearer;
  return at;
}
