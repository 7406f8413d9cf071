/* recorded.c: simulations out of the data folder: two frames each, with the straight way between them in ten steps. The
 * folder is PINCH_DATA; without it, or without the files, there is no such scene. */
#include "scene.h"

#include "pinch/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_COUNT 11

typedef struct Motion {
  float *ends[2];
} Motion;

static void destroyRecorded(void *object) {
  Motion *motion = object;
  free(motion->ends[0]);
  free(motion->ends[1]);
  free(motion);
}

static pnResult loadEnd(pnScene *scene, const char *relative, int which) {
  const char *folder = getenv("PINCH_DATA");
  char path[1024];
  pnMeshFile file = {0};
  snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : "../shared/data", relative);
  pnResult result = pnLoadMeshFile(path, &file);
  if (result != PN_OK) return PN_ERROR_ARGUMENT;
  Motion *motion = scene->motion;
  size_t bytes = sizeof(float) * 3 * file.vertexCount;
  if (which == 0) {
    scene->vertexCount = file.vertexCount;
    scene->triangleCount = file.triangleCount;
    result = pn_allocateSceneMesh(scene);
    if (result == PN_OK) memcpy(scene->triangles, file.triangles, sizeof(uint32_t) * 3 * file.triangleCount);
  }
  motion->ends[which] = malloc(bytes);
  result = motion->ends[which] == NULL ? PN_ERROR_MEMORY : result;
  result = file.vertexCount != scene->vertexCount ? PN_ERROR_ARGUMENT : result;
  if (result == PN_OK) memcpy(motion->ends[which], file.vertices, bytes);
  pnFreeMeshFile(&file);
  return result;
}

static pnResult createRecorded(pnScene *scene, const char *first, const char *last) {
  scene->motion = calloc(1, sizeof(Motion));
  if (scene->motion == NULL) return PN_ERROR_MEMORY;
  scene->self = true;
  scene->bodyCount = 1;
  pn_setSceneFrames(scene, FRAME_COUNT, 1);
  pnResult result = loadEnd(scene, first, 0);
  return result == PN_OK ? loadEnd(scene, last, 1) : result;
}

static void frameRecorded(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  (void)body;
  const Motion *motion = scene->motion;
  double u = frame * scene->frameStep / (FRAME_COUNT - 1.0);
  for (size_t i = 0; i < 3 * (size_t)scene->vertexCount; ++i)
    outVertices[i] = (float)((1.0 - u) * motion->ends[0][i] + u * motion->ends[1][i]);
}

static pnResult createClothBall(pnScene *scene) {
  return createRecorded(scene, "scalable-ccd-data/cloth-ball/frames/cloth_ball92.ply",
                        "scalable-ccd-data/cloth-ball/frames/cloth_ball93.ply");
}
static pnResult createRodTwist(pnScene *scene) {
  return createRecorded(scene, "scalable-ccd-data/rod-twist/frames/3036.ply",
                        "scalable-ccd-data/rod-twist/frames/3037.ply");
}

const pnSceneKind pn_sceneClothBall = {
    .name = "cloth-ball",
    .text = "a cloth pressed together by a ball (data folder)",
    .usualSize = 92230,
    .create = createClothBall,
    .frame = frameRecorded,
    .destroy = destroyRecorded,
};
const pnSceneKind pn_sceneRodTwist = {
    .name = "rod-twist",
    .text = "twisted rods (data folder)",
    .usualSize = 79864,
    .create = createRodTwist,
    .frame = frameRecorded,
    .destroy = destroyRecorded,
};
