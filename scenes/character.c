/* character.c: see character.h. Shapes, weights and clips are made by the files beside it; here they become bodies,
 * nodes, a skin and channels of an animated file. All of it is one struct with its arrays. */
#include <stdlib.h>
#include <string.h>

#include "character_parts.h"

/* Of all triangles, the share of the coat. */
static const double s_coatShare = 0.36;
static const float s_keysPerSecond = 20.0f, s_idleSeconds = 4.0f;

/* Nodes: the joints, then the two bodies. Channels: a rotation a joint, where the hips are, weights of both bodies. */
enum { BODY, COAT, BODY_COUNT, NODE_COUNT = PN_CHARACTER_JOINTS + BODY_COUNT, TARGETS = 3 };
enum { CHANNEL_HIPS = PN_CHARACTER_JOINTS, CHANNEL_BODY, CHANNEL_COAT, CHANNEL_COUNT, CLIP_COUNT = 2 };

static const char *const s_targetNames[PN_CHARACTER_TARGETS] = {"breathe", "belly", "fists", "sway"};
static const pnCharacterTarget s_targets[BODY_COUNT][TARGETS] = {{PN_BREATHE, PN_BELLY, PN_FISTS},
                                                                 {PN_BREATHE, PN_BELLY, PN_SWAY}};

typedef struct pnCharacter {
  pnAnimFile file; /* first: what the caller holds */
  pnAnimNode nodes[NODE_COUNT];
  uint32_t joints[PN_CHARACTER_JOINTS];
  pnMatrix inverseBinds[PN_CHARACTER_JOINTS];
  pnAnimSkin skin;
  pnAnimBody bodies[BODY_COUNT];
  pnAnimTarget targets[BODY_COUNT][TARGETS];
  float restWeights[TARGETS];
  pnAnimClip clips[CLIP_COUNT];
  pnAnimChannel channels[CLIP_COUNT][CHANNEL_COUNT];
  pnAnimScene scene;
  uint32_t roots[3], sceneBodies[BODY_COUNT];
  void *blocks[128]; /* every array, to be freed */
  uint32_t blockCount;
  bool failed;
} pnCharacter;

/* An array that lives as long as the character; never null unless it has failed. */
static void *take(pnCharacter *c, size_t count, size_t size) {
  void *block = c->blockCount < sizeof(c->blocks) / sizeof(c->blocks[0]) ? calloc(count + 1, size) : NULL;
  if (block == NULL) {
    c->failed = true;
    return NULL;
  }
  c->blocks[c->blockCount++] = block;
  return block;
}

/* ---------------------------------------------------------------- skeleton */

static void makeNodes(pnCharacter *c) {
  for (int j = 0; j < NODE_COUNT; ++j) {
    c->nodes[j] = (pnAnimNode){
        .name = "", .parent = PN_NONE, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}, .matrix = pnMatrix_Identity()};
  }
  /* At rest every joint stands like the world, so a place is a difference and an inverse bind a shift. */
  for (int j = 0; j < PN_CHARACTER_JOINTS; ++j) {
    const pnCharacterBone *bone = &pn_characterBones[j];
    pnSceneVec p = bone->position, up = bone->parent >= 0 ? pn_characterBones[bone->parent].position : pn_vec(0, 0, 0);
    c->nodes[j].name = bone->name;
    c->nodes[j].parent = bone->parent >= 0 ? (uint32_t)bone->parent : PN_NONE;
    pn_storeSceneVertex(c->nodes[j].translation, pn_vecSub(p, up));
    c->joints[j] = (uint32_t)j;
    c->inverseBinds[j] = pnMatrix_Identity();
    float at[3];
    pn_storeSceneVertex(at, p);
    for (int i = 0; i < 3; ++i) c->inverseBinds[j].m[i][3] = -at[i];
  }
  c->nodes[PN_CHARACTER_JOINTS + BODY].name = "body";
  c->nodes[PN_CHARACTER_JOINTS + COAT].name = "coat";
  c->skin = (pnAnimSkin){"skeleton", PN_CHARACTER_JOINTS, c->joints, c->inverseBinds};
}

/* ---------------------------------------------------------------- bodies */

/* The displacements of a field at all vertices, those that move. */
static void makeTarget(pnCharacter *c, const pnCharacterMesh *mesh, pnCharacterTarget target, pnAnimTarget *out) {
  uint32_t *vertices = take(c, mesh->vertexCount, sizeof(uint32_t));
  float *deltas = take(c, mesh->vertexCount, 3 * sizeof(float));
  *out = (pnAnimTarget){.name = s_targetNames[target], .vertices = vertices, .deltas = deltas};
  for (uint32_t v = 0; v < mesh->vertexCount && !c->failed; ++v) {
    float delta[3];
    pn_storeSceneVertex(delta, pn_characterDisplacement(target, mesh->vertices[v]));
    if (delta[0] == 0 && delta[1] == 0 && delta[2] == 0) continue;
    memcpy(deltas + (size_t)out->count * 3, delta, sizeof(delta));
    vertices[out->count++] = v;
  }
}

static void makeBody(pnCharacter *c, uint32_t which, const pnCharacterMesh *mesh) {
  uint32_t count = mesh->vertexCount;
  float *vertices = take(c, count, 3 * sizeof(float)), *weights = take(c, count, 4 * sizeof(float));
  uint32_t *triangles = take(c, mesh->triangleCount, 3 * sizeof(uint32_t)), *weld = take(c, count, sizeof(uint32_t));
  uint16_t *joints = take(c, count, 4 * sizeof(uint16_t));
  if (c->failed) return;
  memcpy(triangles, mesh->triangles, (size_t)mesh->triangleCount * 3 * sizeof(uint32_t));
  for (uint32_t v = 0; v < count; ++v) {
    double pulls[PN_CHARACTER_JOINTS];
    if (which == BODY) pn_characterWeights(mesh->vertices[v], pulls);
    else pn_coatWeights(mesh->vertices[v], pulls);
    pnCharacterInfluences influences = pn_characterLargest(pulls);
    memcpy(joints + (size_t)v * 4, influences.joints, sizeof(influences.joints));
    memcpy(weights + (size_t)v * 4, influences.weights, sizeof(influences.weights));
    pn_storeSceneVertex(vertices + (size_t)v * 3, mesh->vertices[v]);
    weld[v] = v; /* the meshes have no seams */
  }
  for (int t = 0; t < TARGETS; ++t) makeTarget(c, mesh, s_targets[which][t], &c->targets[which][t]);
  c->bodies[which] = (pnAnimBody){.name = c->nodes[PN_CHARACTER_JOINTS + which].name,
                                  .meshName = c->nodes[PN_CHARACTER_JOINTS + which].name,
                                  .node = PN_CHARACTER_JOINTS + which,
                                  .carrier = PN_NONE,
                                  .vertices = vertices,
                                  .vertexCount = count,
                                  .triangles = triangles,
                                  .triangleCount = mesh->triangleCount,
                                  .vertexWeld = weld,
                                  .targets = c->targets[which],
                                  .restWeights = c->restWeights,
                                  .targetCount = TARGETS,
                                  .skin = 0,
                                  .influenceCount = 4,
                                  .jointIndices = joints,
                                  .jointWeights = weights};
}

static void makeBodies(pnCharacter *c, uint32_t triangleCount) {
  pnCharacterMesh meshes[BODY_COUNT];
  pn_makeCharacterBody((uint32_t)(triangleCount * (1 - s_coatShare)), &meshes[BODY]);
  pn_makeCharacterCoat((uint32_t)(triangleCount * s_coatShare), &meshes[COAT]);
  for (uint32_t b = 0; b < BODY_COUNT; ++b) {
    c->failed = c->failed || meshes[b].failed;
    if (!c->failed) makeBody(c, b, &meshes[b]);
    free(meshes[b].vertices);
    free(meshes[b].triangles);
  }
}

/* ---------------------------------------------------------------- clips */

/* Writes one moment into the channels of a clip, as key `key`. */
static void writeKey(float *const values[CHANNEL_COUNT], uint32_t key, const pnCharacterMoment *moment) {
  for (int j = 0; j < PN_CHARACTER_JOINTS; ++j)
    memcpy(values[j] + (size_t)key * 4, moment->rotations[j], 4 * sizeof(float));
  memcpy(values[CHANNEL_HIPS] + (size_t)key * 3, moment->hips, 3 * sizeof(float));
  memcpy(values[CHANNEL_BODY] + (size_t)key * 3, moment->bodyWeights, 3 * sizeof(float));
  memcpy(values[CHANNEL_COAT] + (size_t)key * 3, moment->coatWeights, 3 * sizeof(float));
}

static void makeClip(pnCharacter *c, uint32_t clip, const char *name, float seconds,
                     pnCharacterMoment (*pose)(double)) {
  uint32_t keyCount = (uint32_t)(seconds * s_keysPerSecond + 0.5f) + 1;
  float *times = take(c, keyCount, sizeof(float)), *values[CHANNEL_COUNT];
  for (uint32_t i = 0; i < CHANNEL_COUNT; ++i) {
    uint32_t width = i < PN_CHARACTER_JOINTS ? 4 : 3;
    values[i] = take(c, (size_t)keyCount * width, sizeof(float));
    c->channels[clip][i] = (pnAnimChannel){.node = i < PN_CHARACTER_JOINTS ? i
                                                   : i == CHANNEL_HIPS     ? PN_HIPS
                                                                           : i - 1,
                                           .path = i < PN_CHARACTER_JOINTS ? PN_ANIM_ROTATION
                                                   : i == CHANNEL_HIPS     ? PN_ANIM_TRANSLATION
                                                                           : PN_ANIM_WEIGHTS,
                                           .interpolation = PN_INTERPOLATION_LINEAR,
                                           .width = width,
                                           .keyCount = keyCount,
                                           .times = times,
                                           .values = values[i]};
  }
  for (uint32_t key = 0; key < keyCount && !c->failed; ++key) {
    times[key] = (float)key / s_keysPerSecond;
    pnCharacterMoment moment = pose((double)times[key]);
    writeKey(values, key, &moment);
  }
  c->clips[clip] = (pnAnimClip){.name = name,
                                .channels = c->channels[clip],
                                .channelCount = CHANNEL_COUNT,
                                .endTime = (float)(keyCount - 1) / s_keysPerSecond};
}

/* ---------------------------------------------------------------- the whole */

pnCharacterDef pnDefaultCharacterDef(void) {
  return (pnCharacterDef){.triangleCount = 20000, .seconds = 6.0f};
}

pnResult pnCreateCharacter(const pnCharacterDef *def, pnAnimFile **outFile) {
  *outFile = NULL;
  if (def->triangleCount < 10000 || def->triangleCount > 120000 || !(def->seconds >= 1.0f && def->seconds <= 600.0f)) {
    return pnFail(PN_ERROR_ARGUMENT, "character: %u triangles for %g s; expected 10000 to 120000, and 1 to 600",
                  def->triangleCount, (double)def->seconds);
  }
  pnCharacter *c = calloc(1, sizeof(pnCharacter));
  if (c == NULL) return pnFail(PN_ERROR_MEMORY, "character: out of memory");
  makeNodes(c);
  makeBodies(c, def->triangleCount);
  makeClip(c, 0, "walk", def->seconds, pn_characterWalk);
  makeClip(c, 1, "idle", s_idleSeconds, pn_characterIdle);

  c->roots[0] = PN_HIPS;
  for (uint32_t b = 0; b < BODY_COUNT; ++b) {
    c->roots[b + 1] = PN_CHARACTER_JOINTS + b;
    c->sceneBodies[b] = b;
  }
  c->scene = (pnAnimScene){"character", c->roots, 3, c->sceneBodies, BODY_COUNT};
  c->file = (pnAnimFile){.name = "character",
                         .nodes = c->nodes,
                         .nodeCount = NODE_COUNT,
                         .skins = &c->skin,
                         .skinCount = 1,
                         .bodies = c->bodies,
                         .bodyCount = BODY_COUNT,
                         .clips = c->clips,
                         .clipCount = CLIP_COUNT,
                         .scenes = &c->scene,
                         .sceneCount = 1};
  if (c->failed) {
    pnDestroyCharacter(&c->file);
    return pnFail(PN_ERROR_MEMORY, "character: out of memory");
  }
  *outFile = &c->file;
  return PN_OK;
}

void pnDestroyCharacter(pnAnimFile *file) {
  pnCharacter *c = (pnCharacter *)file;
  if (c == NULL) return;
  for (uint32_t i = 0; i < c->blockCount; ++i) free(c->blocks[i]);
  free(c);
}
