/* load_anim.c: the bodies of a glTF file at one moment, as meshes that stand still. Their vertices are what the scan has in
 * a frame at that time, to the bit. */
#include "load.h"

#include "out.h"

#include <stdlib.h>
#include <string.h>

pnResult pn_openAnim(const char *path, pnAnimFile **outFile) {
  pnResult result = pn_refuseForeign(path);
  if (result != PN_OK) return result;
  if (!pn_isInput(path)) return pnLoadAnimFile(path, outFile);
  const void *bytes;
  size_t count;
  result = pn_readInput(&bytes, &count);
  return result == PN_OK ? pnParseAnimFile(bytes, count, "standard input", outFile) : result;
}

/* ---------------------------------------------------------------- the moment */

uint32_t pn_findClip(const pnAnimFile *file, const char *word) {
  for (uint32_t c = 0; c < file->clipCount; ++c)
    if (strcmp(file->clips[c].name, word) == 0) return c;
  char *end;
  unsigned long number = strtoul(word, &end, 10);
  return word[0] >= '0' && word[0] <= '9' && *end == 0 && number < file->clipCount ? (uint32_t)number : PN_NONE;
}

void pn_printClips(FILE *stream, const char *path, const pnAnimFile *file) {
  const char **names = malloc(file->clipCount * sizeof(char *) + 1);
  if (!names) return;
  for (uint32_t c = 0; c < file->clipCount; ++c) names[c] = file->clips[c].name[0] ? file->clips[c].name : "(no name)";
  // Where it is was typed by the user, and would not fit into a line.
  pn_printPlain(stream, pn_baseName(path));
  // A name that is long itself has a line of its own.
  if (strlen(pn_baseName(path)) > 30) fprintf(stream, "\n ");
  if (file->clipCount == 0) fprintf(stream, " has no animation.\n");
  else fprintf(stream, " has %u (by name, or by number from 0 to %u):\n", file->clipCount, file->clipCount - 1);
  if (file->clipCount > 0) pn_printWords(stream, names, file->clipCount);
  free(names);
}

static pnResult goToMoment(const char *path, const pnAnimFile *file, pnMoment moment, pnAnimState *state) {
  uint32_t clip = PN_NONE;
  if (moment.animation) {
    clip = pn_findClip(file, moment.animation);
    if (clip == PN_NONE) {
      FILE *after = pn_beginAfterword();
      if (after) pn_printClips(after, path, file);
      return pnFail(PN_ERROR_ARGUMENT, "--animation: there is no '%s'", moment.animation);
    }
  } else if (!isnan(moment.time)) {
    clip = file->clipCount > 0 ? 0 : PN_NONE;
  }
  double time = clip == PN_NONE ? 0 : isnan(moment.time) ? file->clips[clip].startTime : moment.time;
  // Keys are floats: what was read off them may be a little outside.
  const pnAnimClip *played = clip == PN_NONE ? NULL : &file->clips[clip];
  double slack = played ? 1e-6 * (1 + fabs(played->endTime)) : 0;
  if (played && (time < played->startTime - slack || time > played->endTime + slack))
    return pnFail(PN_ERROR_ARGUMENT, "--time: %s: the animation '%s' is from %g to %g seconds, found %g", path,
                  played->name, played->startTime, played->endTime, time);
  pnResult result = pnAnimState_Evaluate(state, clip, time);
  return result == PN_OK ? PN_OK : pnFail(result, "%s: %.900s", path, pnGetMessage());
}

/* ---------------------------------------------------------------- bodies */

/* The vertices of body b now, into `out`. */
static pnResult poseBody(const pnAnimFile *file, const pnAnimState *state, uint32_t b, const pnMesh *rest, float *out) {
  const pnAnimBody *from = &file->bodies[b];
  pnMorph *morph = NULL;
  pnSkin *skin = NULL;
  pnPose *pose = NULL;
  pnResult result = PN_OK;
  if (from->targetCount > 0) result = pnAnimFile_CreateMorph(file, b, rest, &morph);
  if (result == PN_OK && from->skin != PN_NONE) result = pnAnimFile_CreateSkin(file, b, rest, &skin);
  pnPoseDef def = pnDefaultPoseDef();
  def.mesh = rest, def.morph = morph, def.skin = skin;
  if (result == PN_OK) result = pnCreatePose(&def, &pose);
  if (result == PN_OK && morph) result = pnPose_SetWeights(pose, pnAnimState_GetWeights(state, b), from->targetCount);
  if (result == PN_OK && skin)
    result = pnPose_SetJoints(pose, pnAnimState_GetJoints(state, b), pnSkin_GetJointCount(skin));
  else if (result == PN_OK) result = pnPose_SetTransform(pose, pnAnimState_GetTransform(state, b));
  if (result == PN_OK) pnPose_GetVertices(pose, out);
  pnDestroyPose(pose);
  pnDestroySkin(skin);
  pnDestroyMorph(morph);
  return result;
}

static pnResult loadBody(const char *path, const pnAnimFile *file, const pnAnimState *state, uint32_t b, bool weld,
                         pnLoadedMesh *loaded) {
  const pnAnimBody *from = &file->bodies[b];
  *loaded = (pnLoadedMesh){.path = path, .name = strdup(from->name)};
  float *vertices = malloc(3 * (size_t)from->vertexCount * sizeof(float) + 1);
  pnMesh *rest = NULL;
  pnResult result =
      loaded->name && vertices ? PN_OK : pnFail(PN_ERROR_MEMORY, "%s: out of memory for %s", path, from->name);
  if (result == PN_OK) result = pnAnimFile_CreateMesh(file, b, NULL, &rest);
  if (result == PN_OK) result = poseBody(file, state, b, rest, vertices);
  if (result == PN_OK) {
    pnMeshDef def = pnDefaultMeshDef();
    def.vertices = vertices;
    def.vertexCount = from->vertexCount;
    def.triangles = from->triangles;
    def.triangleCount = from->triangleCount;
    // Seam vertices are one when they move together, not when they happen to meet.
    def.vertexWeld = weld ? from->vertexWeld : NULL;
    def.weld = false;
    def.name = from->name;
    result = pnCreateMesh(&def, &loaded->mesh);
  }
  if (result == PN_OK) result = pnMesh_Validate(loaded->mesh, &loaded->info);
  free(vertices);
  pnDestroyMesh(rest);
  if (result != PN_OK) pn_freeLoadedMesh(loaded);
  return result;
}

pnResult pn_loadAnimBodies(const char *path, const pnAnimFile *file, bool weld, pnMoment moment, pnLoadedList *list) {
  const pnAnimScene *scene = &file->scenes[file->defaultScene];
  pnAnimState *state = NULL;
  pnLoadedMesh *items = realloc(list->items, (list->count + (size_t)scene->bodyCount + 1) * sizeof(pnLoadedMesh));
  if (!items) return pnFail(PN_ERROR_MEMORY, "out of memory for %u bodies", list->count + scene->bodyCount);
  list->items = items;
  pnResult result = pnCreateAnimState(file, &state);
  if (result == PN_OK) result = goToMoment(path, file, moment, state);
  for (uint32_t i = 0; i < scene->bodyCount && result == PN_OK; ++i) {
    result = loadBody(path, file, state, scene->bodies[i], weld, &items[list->count]);
    if (result == PN_OK) ++list->count;
  }
  pnDestroyAnimState(state);
  list->isAnimated = list->isAnimated || file->clipCount > 0;
  return result;
}

pnResult pn_checkMoment(const pnLoadedList *list, pnMoment moment) {
  if (list->isAnimated || (!moment.animation && isnan(moment.time))) return PN_OK;
  return pnFail(PN_ERROR_ARGUMENT, "--%s: no file here is animated; moments are those of glTF files with an animation",
                moment.animation ? "animation" : "time");
}
