/* frames.c: all frames of a scene in memory, and the truth about each. */
#include "lab.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const float *const *pn_labVertices(const pnFrames *frames, uint32_t frame) {
  return (const float *const *)frames->vertices + (size_t)frame * frames->input.bodyCount;
}

void pn_labDestroyFrames(pnFrames *frames) {
  if (frames == NULL) return;
  pnDestroyScene(frames->scene);
  free((void *)frames->input.bodies);
  pn_labUnshare(frames->data, frames->dataBytes);
  pn_labUnshare(frames->hashes, sizeof(uint64_t) * frames->madeCount);
  pn_labUnshare(frames->pairCounts, sizeof(size_t) * frames->madeCount);
  free(frames->vertices);
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
  frames->frameCount = frames->madeCount = pnScene_GetFrameCount(scene);
  frames->vertices = calloc((size_t)frames->frameCount * bodyCount, sizeof(float *));
  frames->hashes = pn_labShare(sizeof(uint64_t) * frames->frameCount);
  frames->pairCounts = pn_labShare(sizeof(size_t) * frames->frameCount);
  if (bodies == NULL || frames->vertices == NULL) return false;
  size_t floatCount = 0;
  for (uint32_t i = 0; i < bodyCount; ++i) {
    bodies[i].vertexCount = pnScene_GetVertexCount(scene, i);
    bodies[i].triangleCount = pnScene_GetTriangleCount(scene, i);
    bodies[i].triangles = pnScene_GetTriangles(scene, i);
    frames->triangleCount += bodies[i].triangleCount;
    floatCount += 3 * (size_t)bodies[i].vertexCount * (pnScene_IsStill(scene, i) ? 1 : frames->frameCount);
  }
  /* one readable float after the end of every array, the last one too */
  frames->dataBytes = sizeof(float) * (floatCount + 1);
  frames->data = pn_labShare(frames->dataBytes);
  float *v = frames->data;
  for (size_t i = 0; i < (size_t)frames->frameCount * bodyCount; ++i) {
    uint32_t body = (uint32_t)(i % bodyCount);
    bool again = i >= bodyCount && pnScene_IsStill(scene, body);
    frames->vertices[i] = again ? frames->vertices[body] : v;
    v += again ? 0 : 3 * (size_t)bodies[body].vertexCount;
    frames->moves = frames->moves || !pnScene_IsStill(scene, body);
  }
  frames->input.vertices = pn_labVertices(frames, 0);
  return true;
}

static void fillFrame(pnFrames *frames, uint32_t frame) {
  for (uint32_t body = 0; body < frames->input.bodyCount; ++body) {
    float *v = frames->data + (pn_labVertices(frames, frame)[body] - frames->data);
    if (frame == 0 || !pnScene_IsStill(frames->scene, body)) pnScene_Frame(frames->scene, frame, body, v);
  }
}

/* Tells a driven scene which bodies touched. Pairs of two bodies stand together in the list. */
static void drive(pnFrames *frames, const pnBenchPairs *pairs) {
  uint32_t most = frames->input.bodyCount * frames->input.bodyCount, count = 0;
  pnSceneContact *contacts = malloc(sizeof(pnSceneContact) * most);
  for (size_t i = 0; contacts != NULL && i < pairs->count; ++i) {
    const pnBenchPair *pair = &pairs->data[i];
    if (count == 0 || contacts[count - 1].bodyA != pair->bodyA || contacts[count - 1].bodyB != pair->bodyB)
      contacts[count++] = (pnSceneContact){pair->bodyA, pair->bodyB};
  }
  pnScene_Step(frames->scene, contacts, count);
  free(contacts);
}

/* Vertices and truth of all frames, in order, as a driven scene needs it. */
static bool fillFrames(pnFrames *frames) {
  fillFrame(frames, 0);
  void *truth = pn_peerTextbook.create(&frames->input, "exact");
  if (truth == NULL) return false;
  pnBenchPairs pairs = {0};
  for (uint32_t frame = 0; frame < frames->frameCount; ++frame) {
    if (frame > 0 && !frames->moves) {
      frames->hashes[frame] = frames->hashes[0];
      frames->pairCounts[frame] = frames->pairCounts[0];
      continue;
    }
    fillFrame(frames, frame);
    pn_peerTextbook.update(truth, pn_labVertices(frames, frame));
    pn_peerTextbook.findAll(truth);
    pairs.count = 0;
    pn_peerTextbook.collect(truth, &pairs);
    frames->hashes[frame] = pn_benchHash(&pairs);
    frames->pairCounts[frame] = pairs.count;
    if (pnScene_IsDriven(frames->scene)) drive(frames, &pairs);
  }
  free(pairs.data);
  pn_peerTextbook.destroy(truth);
  return true;
}

/* In a process of its own, so that the peers find the heap as fresh as in a program of their own. */
static bool fillApart(pnFrames *frames) {
  fflush(NULL);
  pid_t process = fork();
  if (process == 0) _exit(fillFrames(frames) ? 0 : 1);
  int status = 1;
  bool ok = process > 0 && waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return ok;
}

/* Of a driven scene, whose frames follow from one another: every step-th, up to the last. */
static void keepEvery(pnFrames *frames, uint32_t step) {
  uint32_t kept = 0, bodyCount = frames->input.bodyCount;
  for (uint32_t frame = (frames->frameCount - 1) % step; frame < frames->frameCount; frame += step, ++kept) {
    frames->hashes[kept] = frames->hashes[frame];
    frames->pairCounts[kept] = frames->pairCounts[frame];
    memmove(frames->vertices + (size_t)kept * bodyCount, frames->vertices + (size_t)frame * bodyCount,
            bodyCount * sizeof(float *));
  }
  frames->frameCount = kept;
}

uint32_t pn_labFrameCount(const pnFrames *frames, uint32_t most, uint32_t wanted) {
  uint32_t count = frames->frameCount < most ? frames->frameCount : most;
  return wanted > 0 && wanted < count ? wanted : count;
}

pnFrames *pn_labCreateFrames(const char *sceneName, uint32_t frameStep) {
  pnFrames *frames = calloc(1, sizeof(pnFrames));
  pnSceneDef def = pnDefaultSceneDef();
  def.name = sceneName;
  def.frameStep = frameStep;
  if (frames == NULL || pnCreateScene(&def, &frames->scene) != PN_OK) {
    fprintf(stderr, "bench: %s\n", frames == NULL ? "out of memory" : pnGetMessage());
    free(frames);
    return NULL;
  }
  frames->sceneName = pnScene_GetName(frames->scene);
  if (!allocateFrames(frames) || !fillApart(frames)) {
    fprintf(stderr, "bench: out of memory for scene %s\n", frames->sceneName);
    pn_labDestroyFrames(frames);
    return NULL;
  }
  if (pnScene_IsDriven(frames->scene) && frameStep > 1) keepEvery(frames, frameStep);
  for (uint32_t i = 0; i < frames->frameCount; ++i) frames->hitFrames += frames->pairCounts[i] > 0;
  return frames;
}
