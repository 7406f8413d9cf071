/* frames.c: all frames of a scene in memory, and the truth about each. */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

const float *const *pn_labVertices(const pnFrames *frames, uint32_t frame) {
  return (const float *const *)frames->vertices + (size_t)frame * frames->input.bodyCount;
}

void pn_labDestroyFrames(pnFrames *frames) {
  if (frames == NULL) {
    return;
  }
  pnDestroyScene(frames->scene);
  free((void *)frames->input.bodies);
  free(frames->data);
  free(frames->vertices);
  free(frames->hashes);
  free(frames->pairCounts);
  free(frames);
}

/* Room for everything; the arrays of a frame stand one after the other. */
static bool allocateFrames(pnFrames *frames) {
  const pnScene *scene = frames->scene;
  uint32_t bodyCount = pnScene_GetBodyCount(scene);
  pnBenchBody *bodies = calloc(bodyCount, sizeof(pnBenchBody));
  frames->input.bodyCount = bodyCount;
  frames->input.bodies = bodies;
  frames->input.self = pnScene_IsSelf(scene);
  frames->frameCount = pnScene_GetFrameCount(scene);
  frames->vertices = calloc((size_t)frames->frameCount * bodyCount, sizeof(float *));
  frames->hashes = calloc(frames->frameCount, sizeof(uint64_t));
  frames->pairCounts = calloc(frames->frameCount, sizeof(size_t));
  if (bodies == NULL || frames->vertices == NULL || frames->hashes == NULL || frames->pairCounts == NULL) {
    return false;
  }
  size_t floatCount = 0;
  for (uint32_t i = 0; i < bodyCount; ++i) {
    bodies[i].vertexCount = pnScene_GetVertexCount(scene, i);
    bodies[i].triangleCount = pnScene_GetTriangleCount(scene, i);
    bodies[i].triangles = pnScene_GetTriangles(scene, i);
    frames->triangleCount += bodies[i].triangleCount;
    floatCount += 3 * (size_t)bodies[i].vertexCount;
  }
  /* one readable float after the end of every array, the last one too */
  frames->data = malloc(sizeof(float) * (floatCount * frames->frameCount + 1));
  if (frames->data == NULL) {
    return false;
  }
  frames->data[floatCount * frames->frameCount] = 0.0f;
  float *v = frames->data;
  for (uint32_t i = 0; i < frames->frameCount * bodyCount; ++i) {
    frames->vertices[i] = v;
    v += 3 * (size_t)bodies[i % bodyCount].vertexCount;
  }
  frames->input.vertices = pn_labVertices(frames, 0);
  return true;
}

static void fillFrame(pnFrames *frames, uint32_t frame) {
  for (uint32_t body = 0; body < frames->input.bodyCount; ++body) {
    float *v = frames->data + (pn_labVertices(frames, frame)[body] - frames->data);
    pnScene_Frame(frames->scene, frame, body, v);
  }
}

/* Tells a driven scene which bodies touched. Pairs of two bodies stand together in the list. */
static void drive(pnFrames *frames, const pnBenchPairs *pairs) {
  uint32_t most = frames->input.bodyCount * frames->input.bodyCount, count = 0;
  pnSceneContact *contacts = malloc(sizeof(pnSceneContact) * most);
  for (size_t i = 0; contacts != NULL && i < pairs->count; ++i) {
    const pnBenchPair *pair = &pairs->data[i];
    if (count == 0 || contacts[count - 1].bodyA != pair->bodyA || contacts[count - 1].bodyB != pair->bodyB) {
      contacts[count++] = (pnSceneContact){pair->bodyA, pair->bodyB};
    }
  }
  pnScene_Step(frames->scene, contacts, count);
  free(contacts);
}

/* Vertices and truth of all frames, in order, as a driven scene needs it. */
static bool fillFrames(pnFrames *frames) {
  fillFrame(frames, 0);
  void *truth = pn_peerTextbook.create(&frames->input, "exact");
  if (truth == NULL) {
    return false;
  }
  pnBenchPairs pairs = {0};
  for (uint32_t frame = 0; frame < frames->frameCount; ++frame) {
    fillFrame(frames, frame);
    pn_peerTextbook.update(truth, pn_labVertices(frames, frame));
    pn_peerTextbook.findAll(truth);
    pairs.count = 0;
    pn_peerTextbook.collect(truth, &pairs);
    frames->hashes[frame] = pn_benchHash(&pairs);
    frames->pairCounts[frame] = pairs.count;
    frames->hitFrames += pairs.count > 0;
    if (pnScene_IsDriven(frames->scene)) {
      drive(frames, &pairs);
    }
  }
  free(pairs.data);
  pn_peerTextbook.destroy(truth);
  return true;
}

pnFrames *pn_labCreateFrames(const char *sceneName, uint32_t frameStep) {
  pnFrames *frames = calloc(1, sizeof(pnFrames));
  pnSceneDef def = pnDefaultSceneDef();
  def.name = sceneName;
  def.frameStep = frameStep;
  if (frames == NULL || pnCreateScene(&def, &frames->scene) != PN_OK) {
    fprintf(stderr, "bench: there is no scene \"%s\", or no body of that size\n", sceneName);
    free(frames);
    return NULL;
  }
  frames->sceneName = pnScene_GetName(frames->scene);
  if (!allocateFrames(frames) || !fillFrames(frames)) {
    fprintf(stderr, "bench: out of memory for scene %s\n", frames->sceneName);
    pn_labDestroyFrames(frames);
    return NULL;
  }
  return frames;
}
