/* bench_find.c: what findings add to a scan. A character walks, all pairs of body and coat (and of each with itself) are found in
 * every frame as `pinch scan` does it, and the finder is told of them.
 *
 *   bench_find [--triangles N] [--seconds S] [--passes N] [--rows FILE]      rows: record.h
 *
 * Both are timed in the same frames: time is what the thread spent on the processor, of each frame the least of the passes, summed. */
#include "character.h"

#include "pinch/find.h"
#include "pinch/world.h"
#include "clock.h"
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(pnResult result) {
  if (result == PN_OK) return;
  fprintf(stderr, "bench_find: %s\n", pnGetMessage());
  exit(1);
}

enum { BODIES = 2 };

typedef struct Stage {
  pnAnimFile *file;
  pnAnimState *state;
  pnWorld *world;
  pnFinder *finder;
  pnMesh *mesh[BODIES];
  pnMorph *morph[BODIES];
  pnSkin *skin[BODIES];
  pnBodyId body[BODIES];
  uint32_t triangleCount;
} Stage;

static void addBody(Stage *s, uint32_t b, bool self) {
  const pnAnimBody *from = &s->file->bodies[b];
  check(pnAnimFile_CreateMesh(s->file, b, from->name, &s->mesh[b]));
  check(pnAnimFile_CreateMorph(s->file, b, s->mesh[b], &s->morph[b]));
  check(pnAnimFile_CreateSkin(s->file, b, s->mesh[b], &s->skin[b]));
  s->triangleCount += pnMesh_GetTriangleCount(s->mesh[b]);
  pnBodyDef def = pnDefaultBodyDef();
  def.kind = PN_BODY_SKINNED;
  def.mesh = s->mesh[b], def.morph = s->morph[b], def.skin = s->skin[b];
  def.self = self;
  check(pnWorld_CreateBody(s->world, &def, &s->body[b]));
  pnFinderBodyDef find = pnDefaultFinderBodyDef();
  find.tree = pnBody_GetTree(s->world, s->body[b]);
  uint32_t number;
  check(pnFinder_AddBody(s->finder, &find, &number));
}

/* One frame; milliseconds of the scan and of the finder are added when they are less than before. */
static void playFrame(Stage *s, uint32_t frame, double *scan, double *find, bool first) {
  double start = pn_threadTime();
  check(pnAnimState_Evaluate(s->state, 0, frame / 30.0));
  for (uint32_t b = 0; b < BODIES; ++b) {
    check(pnBody_SetWeights(s->world, s->body[b], pnAnimState_GetWeights(s->state, b), s->file->bodies[b].targetCount));
    check(pnBody_SetJoints(s->world, s->body[b], pnAnimState_GetJoints(s->state, b), pnSkin_GetJointCount(s->skin[b])));
  }
  pnFrame found = pnWorld_Collide(s->world, NULL);
  check(found.result);
  double middle = pn_threadTime();
  pnFinderContact contacts[3];
  for (uint32_t i = 0; i < found.contactCount; ++i) {
    const pnContact *c = &pnWorld_GetContacts(s->world)[i];
    contacts[i] = (pnFinderContact){c->a.index1 == s->body[1].index1, c->b.index1 == s->body[1].index1,
                                    pnWorld_GetPairs(s->world) + c->firstPair, c->pairCount};
  }
  pnFinderFrame look = {
      .number = frame, .time = frame / 30.0, .contacts = contacts, .contactCount = found.contactCount};
  check(pnFinder_AddFrame(s->finder, &look));
  double end = pn_threadTime();
  double times[2] = {1e3 * (middle - start), 1e3 * (end - middle)};
  *scan = first || times[0] < *scan ? times[0] : *scan;
  *find = first || times[1] < *find ? times[1] : *find;
}

static void run(const pnCharacterDef *def, uint32_t passes, bool self) {
  Stage s = {0};
  check(pnCreateCharacter(def, &s.file));
  check(pnCreateAnimState(s.file, &s.state));
  pnWorldDef worldDef = pnDefaultWorldDef();
  check(pnCreateWorld(&worldDef, &s.world));
  pnFinderDef finderDef = pnDefaultFinderDef();
  check(pnCreateFinder(&finderDef, &s.finder));
  for (uint32_t b = 0; b < BODIES; ++b) addBody(&s, b, self);
  uint32_t frames = (uint32_t)(30 * def->seconds);
  double *times = calloc(2 * (size_t)frames, sizeof(double)), scan = 0, find = 0, worst = 0;
  if (!times) exit(1);
  for (uint32_t pass = 0; pass < passes; ++pass) {
    pnFinder_Clear(s.finder, true);
    for (uint32_t f = 0; f < frames; ++f) playFrame(&s, f, &times[2 * f], &times[2 * f + 1], pass == 0);
  }
  for (uint32_t f = 0; f < frames; ++f) {
    scan += times[2 * f];
    find += times[2 * f + 1];
    worst = times[2 * f + 1] > worst ? times[2 * f + 1] : worst;
  }
  uint32_t count;
  check(pnFinder_Rank(s.finder, PN_FINDINGS_BY_DEPTH));
  pnFinder_GetFindings(s.finder, &count);
  printf("  %-20s %9u %7u %9.3f %9.3f %9.3f %8.1f %% %9u %9zu\n", self ? "and each with itself" : "body with coat",
         s.triangleCount, frames, scan / frames, find / frames, worst, 100 * find / scan, count,
         pnFinder_GetByteCount(s.finder) / 1024);
  pn_recordScene("find", self ? "and each with itself" : "body with coat");
  pn_record("scan", "ms a frame", scan / frames);
  pn_record("findings", "ms a frame", find / frames);
  pn_record("findings", "findings", count);
  free(times);
  pnDestroyFinder(s.finder);
  pnDestroyWorld(s.world);
  for (uint32_t b = 0; b < BODIES; ++b) {
    pnDestroySkin(s.skin[b]);
    pnDestroyMorph(s.morph[b]);
    pnDestroyMesh(s.mesh[b]);
  }
  pnDestroyAnimState(s.state);
  pnDestroyCharacter(s.file);
}

int main(int argc, char **argv) {
  pn_recordArguments(&argc, argv);
  pnCharacterDef def = pnDefaultCharacterDef();
  uint32_t passes = 3;
  for (int i = 1; i + 1 < argc; i += 2)
    if (strcmp(argv[i], "--triangles") == 0) def.triangleCount = (uint32_t)atoi(argv[i + 1]);
    else if (strcmp(argv[i], "--seconds") == 0) def.seconds = (float)atof(argv[i + 1]);
    else if (strcmp(argv[i], "--passes") == 0) passes = (uint32_t)atoi(argv[i + 1]);
    else return fprintf(stderr, "usage: bench_find [--triangles N] [--seconds S] [--passes N]\n"), 2;
  printf("A walk: a frame of the scan, what findings add to it, milliseconds\n");
  printf("  %-20s %9s %7s %9s %9s %9s %10s %9s %9s\n", "", "triangles", "frames", "scan", "findings", "worst", "added",
         "findings", "KiB");
  run(&def, passes, false);
  run(&def, passes, true);
  return 0;
}
