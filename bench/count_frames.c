/* count_frames.c: the default world plays some frames of a scene, and nothing else: what scripts/count_arm counts.
 *
 *   count_frames SCENE FRAMES [FROM]
 *
 * With no frame the world is made and nothing is asked; the difference is the frames'. */
#include "pinch/world.h"
#include "scenes.h"

#include <stdio.h>
#include <stdlib.h>

static void check(bool ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "count_frames: %s\n", what);
  exit(1);
}

typedef struct Play {
  pnScene *scene;
  pnWorld *world;
  uint32_t bodyCount;
  pnBodyVertices *moves;
} Play;

static void fillMove(const Play *play, uint32_t frame, uint32_t i) {
  pnBodyVertices *move = &play->moves[i];
  check(pnScene_Frame(play->scene, frame, i, (float *)(void *)move->vertices) == PN_OK, "no frame");
}

static void addBody(Play *play, uint32_t from, uint32_t i) {
  pnMeshDef def = pnDefaultMeshDef();
  def.vertexCount = pnScene_GetVertexCount(play->scene, i);
  def.triangles = pnScene_GetTriangles(play->scene, i);
  def.triangleCount = pnScene_GetTriangleCount(play->scene, i);
  def.weld = false;
  float *vertices = calloc(3 * (size_t)def.vertexCount + 1, sizeof(float));
  check(vertices != NULL, "no memory");
  def.vertices = vertices;
  play->moves[i] = (pnBodyVertices){.vertices = vertices, .count = def.vertexCount};
  fillMove(play, from, i);
  pnMesh *mesh;
  check(pnCreateMesh(&def, &mesh) == PN_OK, pnGetMessage());
  pnBodyDef bodyDef = pnDefaultBodyDef();
  bodyDef.mesh = mesh;
  bodyDef.self = pnScene_IsSelf(play->scene);
  bodyDef.selfFilter.ring = 1;
  check(pnWorld_CreateBody(play->world, &bodyDef, &play->moves[i].body) == PN_OK, pnGetMessage());
}

static size_t playFrame(Play *play, uint32_t frame, bool first) {
  for (uint32_t i = 0; i < play->bodyCount; ++i) {
    if (!first && pnScene_IsStill(play->scene, i)) continue;
    fillMove(play, frame, i);
    check(pnWorld_SetVertices(play->world, &play->moves[i], 1) == PN_OK, pnGetMessage());
  }
  pnFrame answer = pnWorld_Collide(play->world, NULL);
  check(answer.result == PN_OK, pnGetMessage());
  return answer.pairCount;
}

int main(int count, char **words) {
  check(count >= 3, "a scene and how many frames are wanted");
  Play play = {0};
  uint32_t frames = (uint32_t)atoi(words[2]), from = count > 3 ? (uint32_t)atoi(words[3]) : 0;
  check(pnCreateScene(&(pnSceneDef){.name = words[1]}, &play.scene) == PN_OK, "there is no such scene");
  play.bodyCount = pnScene_GetBodyCount(play.scene);
  play.moves = calloc(play.bodyCount, sizeof(pnBodyVertices));
  pnWorldDef worldDef = pnDefaultWorldDef();
  check(play.moves && pnCreateWorld(&worldDef, &play.world) == PN_OK, "no world");
  for (uint32_t i = 0; i < play.bodyCount; ++i) addBody(&play, from, i);
  size_t pairs = 0;
  for (uint32_t f = 0; f < frames; ++f) pairs += playFrame(&play, from + f, f == 0);
  printf("%s: %zu pairs in %u frames\n", words[1], pairs, frames);
  return 0; /* the process ends: what is freed would only be counted */
}
