/* scenes.c: the table of scenes, and the door to them. */
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const pnSceneKind *const kinds[] = {
    &pn_sceneTwoSpheres,  &pn_sceneMixedSpheres, &pn_sceneCrowd,       &pn_sceneMorphs,     &pn_sceneCloth,
    &pn_sceneGrid,        &pn_sceneTurnedGrid,   &pn_sceneKeptSpheres, &pn_sceneKeptArms,   &pn_scenePassing,
    &pn_sceneDolphins,    &pn_sceneBodies,       &pn_sceneIdle,        &pn_sceneTerrain,    &pn_sceneHair,
    &pn_sceneHairSelf,    &pn_sceneBlobs,        &pn_sceneShuffle,     &pn_sceneSwarm,      &pn_sceneDecay,
    &pn_sceneBurst,       &pn_sceneSlivers,      &pn_sceneLevel,       &pn_sceneTiles,      &pn_sceneShoal,
    &pn_sceneShuffleSelf, &pn_sceneBurstSelf,    &pn_sceneTangle,      &pn_scenePages,      &pn_sceneRoll,
    &pn_sceneTable,       &pn_sceneLeaves,       &pn_sceneHeap,        &pn_sceneClothTwice, &pn_sceneStray,
    &pn_sceneRamp,
};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])
/* Not in the list: they need the data folder, and somebody who reads its files. */
static const pnSceneKind *const recorded[] = {
#ifdef PN_SCENE_FILES
    &pn_sceneClothBall,
    &pn_sceneRodTwist,
#endif
    NULL,
};
#define RECORDED_COUNT (sizeof recorded / sizeof recorded[0] - 1)

pnSceneDef pnDefaultSceneDef(void) {
  return (pnSceneDef){.name = "s1"};
}

const char *pnGetSceneName(uint32_t index) {
  return index < KIND_COUNT ? kinds[index]->name : NULL;
}

const char *pnGetSceneText(uint32_t index) {
  return index < KIND_COUNT ? kinds[index]->text : NULL;
}

/* Reads "kind" or "kind-size". False when there is no such kind or the size is not a number from 1 to 16 million. */
static bool parseName(const char *name, const pnSceneKind **outKind, uint32_t *outSize) {
  for (size_t i = 0; i < KIND_COUNT + RECORDED_COUNT; ++i) {
    const pnSceneKind *kind = i < KIND_COUNT ? kinds[i] : recorded[i - KIND_COUNT];
    size_t length = strlen(kind->name);
    if (strncmp(name, kind->name, length) != 0) continue;
    *outKind = kind;
    *outSize = kind->usualSize;
    if (name[length] == '\0') return true;
    /* digits only: strtol alone would take signs and spaces */
    const char *digits = name + length + 1;
    size_t digitCount = strspn(digits, "0123456789");
    if (name[length] == '-' && digitCount > 0 && digitCount < 9 && digits[digitCount] == '\0') {
      *outSize = (uint32_t)strtol(digits, NULL, 10);
      return *outSize > 0 && *outSize <= 16u << 20;
    }
  }
  return false;
}

/* The kinds know what is wrong and not in which scene; here is the message for all of them. */
static pnResult failScene(const char *name, pnResult result) {
  return pnFail(result, "scene '%s': %s", name,
                result == PN_ERROR_ARGUMENT ? "there is none of that name, or it has no such size (docs/scenes.md has "
                                              "names and sizes; without a number: the usual size)"
                                            : pnResult_Text(result));
}

static pnResult failFrame(const pnScene *scene, uint32_t frame, uint32_t body) {
  return pnFail(PN_ERROR_INDEX, "scene '%s': body %u of %u in frame %u of %u", scene->name, body, scene->bodyCount,
                frame, scene->readyCount);
}

pnResult pnCreateScene(const pnSceneDef *def, pnScene **outScene) {
  *outScene = NULL;
  const pnSceneKind *kind = NULL;
  uint32_t size = 0;
  if (def->name == NULL || !parseName(def->name, &kind, &size))
    return failScene(def->name != NULL ? def->name : "", PN_ERROR_ARGUMENT);
  pnScene *scene = calloc(1, sizeof(pnScene));
  if (scene == NULL) return failScene(def->name, PN_ERROR_MEMORY);
  scene->kind = kind;
  scene->triangleCount = size;
  scene->frameStep = def->frameStep;
  snprintf(scene->name, sizeof scene->name, "%s-%u", kind->name, size);
  pnResult result = kind->create(scene);
  if (result != PN_OK) {
    pnDestroyScene(scene);
    return failScene(def->name, result);
  }
  scene->readyCount = kind->step != NULL ? 1 : scene->frameCount;
  *outScene = scene;
  return PN_OK;
}

void pnDestroyScene(pnScene *scene) {
  if (scene == NULL) return;
  if (scene->motion != NULL && scene->kind->destroy != NULL) scene->kind->destroy(scene->motion);
  else free(scene->motion);
  free(scene->points);
  free(scene->triangles);
  for (uint32_t i = 0; i < scene->otherCount; ++i) {
    free(scene->others[i].points);
    free(scene->others[i].triangles);
  }
  free(scene);
}

const char *pnScene_GetName(const pnScene *scene) {
  return scene->name;
}

uint32_t pnScene_GetBodyCount(const pnScene *scene) {
  return scene->bodyCount;
}

uint32_t pnScene_GetFrameCount(const pnScene *scene) {
  return scene->frameCount;
}

bool pnScene_IsSelf(const pnScene *scene) {
  return scene->self;
}

bool pnScene_IsStill(const pnScene *scene, uint32_t body) {
  return body < scene->bodyCount && scene->kind->isStill != NULL && scene->kind->isStill(scene, body);
}

bool pnScene_IsDriven(const pnScene *scene) {
  return scene->kind->step != NULL;
}

uint32_t pnScene_GetVertexCount(const pnScene *scene, uint32_t body) {
  return body < scene->bodyCount ? pn_sceneMeshOf(scene, body).vertexCount : 0;
}

uint32_t pnScene_GetTriangleCount(const pnScene *scene, uint32_t body) {
  return body < scene->bodyCount ? pn_sceneMeshOf(scene, body).triangleCount : 0;
}

const uint32_t *pnScene_GetTriangles(const pnScene *scene, uint32_t body) {
  return body < scene->bodyCount ? pn_sceneMeshOf(scene, body).triangles : NULL;
}

pnResult pnScene_Frame(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  if (frame >= scene->readyCount || body >= scene->bodyCount) return failFrame(scene, frame, body);
  scene->kind->frame(scene, frame, body, outVertices);
  return PN_OK;
}

const float *pnScene_GetReference(const pnScene *scene, uint32_t body, uint32_t reference) {
  if (scene->kind->reference == NULL || body >= scene->bodyCount || reference >= scene->referenceCount) return NULL;
  return scene->kind->reference(scene, body, reference);
}

uint32_t pnScene_GetReferenceCount(const pnScene *scene) {
  return scene->referenceCount;
}

pnResult pnScene_Weights(const pnScene *scene, uint32_t frame, uint32_t body, float *outWeights,
                         pnMatrix *outTransform) {
  if (scene->kind->weights == NULL)
    return pnFail(PN_ERROR_KIND, "scene '%s': its bodies do not morph, there are no weights", scene->name);
  if (frame >= scene->readyCount || body >= scene->bodyCount) return failFrame(scene, frame, body);
  scene->kind->weights(scene, frame, body, outWeights, outTransform);
  return PN_OK;
}

pnResult pnScene_Step(pnScene *scene, const pnSceneContact *contacts, uint32_t contactCount) {
  if (scene->kind->step == NULL)
    return pnFail(PN_ERROR_KIND, "scene '%s': it runs by itself, there is no step to take", scene->name);
  for (uint32_t i = 0; i < contactCount; ++i) {
    if (contacts[i].bodyA >= scene->bodyCount || contacts[i].bodyB >= scene->bodyCount) {
      return pnFail(PN_ERROR_INDEX, "scene '%s': contact %u is between bodies %u and %u of %u", scene->name, i,
                    contacts[i].bodyA, contacts[i].bodyB, scene->bodyCount);
    }
  }
  if (scene->readyCount < scene->frameCount) {
    scene->kind->step(scene, contacts, contactCount);
    ++scene->readyCount;
  }
  return PN_OK;
}

uint32_t pnScene_GetReadyFrameCount(const pnScene *scene) {
  return scene->readyCount;
}

void pnScene_Rewind(pnScene *scene) {
  if (scene->kind->step != NULL) scene->readyCount = 1;
}
