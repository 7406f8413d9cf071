/* bench_guests.c: skinned characters made by others, out of glTF files, along the slanted wall of the museum and of the
 * living-room: near, two centimetres from the wall with soles a centimetre above the floor, and in, six centimetres
 * farther into both. Then crowds of one guest in the default world: apart, close, and as close as to walk through each other; frames, and steps
 * from each frame to the next.
 *
 *   bench_guests --passes N --frames N [rooms] [crowds]      both, when none is named
 *
 * All skinned meshes of a guest, every frame: volumes carried by joints against computing all vertices
 * and moving free trees. Time is what the thread spent on the processor, the least of the passes; the median and the worst
 * frame. What both find must be the same in every frame. Files that are not there are left out with a line. */
#include "clock.h"
#include "guests.h"
#include "lab.h"

#include "pinch/collide.h"
#include "pinch/world.h"

#include <stdlib.h>
#include <string.h>

static uint32_t s_passes = 5, s_frames = 60;

static void check(pnResult result) {
  if (result != PN_OK) {
    fprintf(stderr, "bench_guests: %s\n", pnGetMessage());
    exit(1);
  }
}

/* A part on stage. */
typedef struct Actor {
  pnPose *pose, *eager;
  pnTree *tree, *plain;
  float *vertices;
  pnPairList *found, *truth;
} Actor;

static Actor makeActor(const pnGuestPart *part) {
  Actor a;
  pnPoseDef skinned = {part->mesh, part->morph, part->skin}, stored = {part->mesh, NULL, NULL};
  pnTreeDef def = pnDefaultTreeDef();
  def.self = false;
  check(pnCreatePose(&skinned, &a.pose));
  check(pnCreatePose(&stored, &a.eager));
  def.pose = a.pose;
  check(pnCreateTree(&def, &a.tree));
  def.pose = a.eager;
  check(pnCreateTree(&def, &a.plain));
  check(pnCreatePairList(&a.found));
  check(pnCreatePairList(&a.truth));
  a.vertices = malloc(3 * sizeof(float) * ((size_t)pnMesh_GetVertexCount(part->mesh) + 1));
  if (!a.vertices) exit(1);
  return a;
}

static void freeActor(Actor *a) {
  free(a->vertices);
  pnDestroyPairList(a->truth);
  pnDestroyPairList(a->found);
  pnDestroyTree(a->plain);
  pnDestroyTree(a->tree);
  pnDestroyPose(a->eager);
  pnDestroyPose(a->pose);
}

/* One part in one frame, both ways, in milliseconds; the vertices that the carried way computed. */
static void playPart(const pnGuest *guest, uint32_t part, Actor *a, const pnMatrix *at, pnTree *room, double times[2],
                     uint64_t *outVertices) {
  uint32_t n = pnMesh_GetVertexCount(guest->parts[part].mesh);
  pnCost cost;
  double start = pn_threadTime();
  check(pnGuest_SetPose(guest, part, a->pose));
  check(pnPose_SetTransform(a->pose, at));
  double posed = pn_threadTime();
  check(pnCollideTrees(a->tree, room, NULL, a->found, &cost));
  double carried = pn_threadTime();
  pnPose_GetVertices(a->pose, a->vertices);
  check(pnPose_SetVertices(a->eager, a->vertices, n));
  check(pnCollideTrees(a->plain, room, NULL, a->truth, NULL));
  double eager = pn_threadTime();
  times[0] += 1e3 * (carried - start);
  times[1] += 1e3 * (posed - start + eager - carried);
  *outVertices += cost.verticesFetched;
}

static bool isSame(const pnPairList *p, const pnPairList *q) {
  size_t n = pnPairList_GetCount(p);
  return n == pnPairList_GetCount(q) &&
         (n == 0 || memcmp(pnPairList_GetPairs(p), pnPairList_GetPairs(q), n * sizeof(pnPair)) == 0);
}

/* A guest's walk through a room: one line. */
static bool walk(pnGuest *guest, pnRoom room, pnTree *roomTree, float into) {
  Actor *actors = calloc(guest->partCount, sizeof *actors);
  double *times[2] = {calloc(s_frames, sizeof(double)), calloc(s_frames, sizeof(double))};
  if (!actors || !times[0] || !times[1]) exit(1);
  uint32_t triangles = 0, joints = 0;
  uint64_t vertices = 0, all = 0;
  size_t pairs = 0;
  bool right = true;
  for (uint32_t p = 0; p < guest->partCount; ++p) {
    actors[p] = makeActor(&guest->parts[p]);
    triangles += pnMesh_GetTriangleCount(guest->parts[p].mesh);
    all += pnMesh_GetVertexCount(guest->parts[p].mesh);
    joints = guest->parts[p].jointCount > joints ? guest->parts[p].jointCount : joints;
  }
  for (uint32_t pass = 0; pass < s_passes; ++pass)
    for (uint32_t f = 0; f < s_frames; ++f) {
      pnMatrix at = pnGuest_Walk(guest, room, (double)f / (s_frames - 1), into);
      at.m[1][3] += 0.01f - into;
      check(pnGuest_Move(guest, f % 20 / 20.0));
      double time[2] = {0, 0};
      for (uint32_t p = 0; p < guest->partCount; ++p) {
        playPart(guest, p, &actors[p], &at, roomTree, time, &vertices);
        right = right && isSame(actors[p].found, actors[p].truth);
        pairs += pass == 0 ? pnPairList_GetCount(actors[p].found) : 0;
      }
      for (int k = 0; k < 2; ++k) times[k][f] = pass == 0 || time[k] < times[k][f] ? time[k] : times[k][f];
    }
  for (int k = 0; k < 2; ++k) pn_labMedian(times[k], s_frames); /* sorts them */
  printf("  %-16s %-5s %5u %6u %9u %7.0f %6.1f %% | %7.4f %7.4f | %7.4f %7.4f %5.1fx  %s\n", guest->file->name,
         into > 0 ? "in" : "near", guest->partCount, joints, triangles, (double)pairs / s_frames,
         100.0 * (double)vertices / ((double)all * s_frames * s_passes), times[0][s_frames / 2], times[0][s_frames - 1],
         times[1][s_frames / 2], times[1][s_frames - 1], times[1][s_frames / 2] / times[0][s_frames / 2],
         right ? "same" : "WRONG");
  fflush(stdout);
  for (uint32_t p = 0; p < guest->partCount; ++p) freeActor(&actors[p]);
  for (int k = 0; k < 2; ++k) free(times[k]);
  free(actors);
  return right;
}

/* ---------------------------------------------------------------- crowds */

enum { ROW = 5, HEADS = ROW * ROW };

/* Frames or steps, of skinned bodies or of free ones. */
typedef struct Crowd {
  pnWorld *world;
  bool steps, isFree;
  pnBodyId *ids; /* a part of a head */
  double *times; /* a frame, the least of the passes */
  pnFrame frame;
  pnStep step;
} Crowd;
enum { CROWDS = 4 };

static Crowd makeCrowd(const pnGuest *guest, bool steps, bool isFree) {
  Crowd c = {.steps = steps, .isFree = isFree};
  pnWorldDef def = pnDefaultWorldDef();
  check(pnCreateWorld(&def, &c.world));
  c.ids = calloc((size_t)HEADS * guest->partCount, sizeof *c.ids);
  c.times = calloc(s_frames, sizeof *c.times);
  if (!c.ids || !c.times) exit(1);
  for (uint32_t i = 0; i < HEADS * guest->partCount; ++i) {
    const pnGuestPart *part = &guest->parts[i % guest->partCount];
    pnBodyDef body = pnDefaultBodyDef();
    body.kind = isFree ? PN_BODY_FREE : PN_BODY_SKINNED;
    body.mesh = part->mesh;
    body.skin = isFree ? NULL : part->skin;
    body.morph = isFree ? NULL : part->morph;
    check(pnWorld_CreateBody(c.world, &body, &c.ids[i]));
  }
  return c;
}

static void freeCrowd(Crowd *c) {
  pnDestroyWorld(c->world);
  free(c->ids);
  free(c->times);
}

/* Inputs of one part of a head: joints, weights and where it stands; or all vertices, computed first. */
static void pose(Crowd *c, pnBodyId id, const pnGuest *guest, uint32_t part, Actor *a, const pnMatrix *at) {
  const pnGuestPart *p = &guest->parts[part];
  if (c->isFree) {
    /* as every caller must, before he computes */
    check(pnPose_SetJoints(a->pose, pnPose_GetJoints(a->pose), p->jointCount));
    check(pnPose_SetTransform(a->pose, at));
    pnPose_GetVertices(a->pose, a->vertices);
    check(pnBody_SetVertices(c->world, id, a->vertices, pnMesh_GetVertexCount(p->mesh)));
    return;
  }
  check(pnBody_SetJoints(c->world, id, pnPose_GetJoints(a->pose), p->jointCount));
  if (p->morph) check(pnBody_SetWeights(c->world, id, pnPose_GetWeights(a->pose), p->targetCount));
  check(pnBody_SetTransform(c->world, id, at));
}

static void ask(Crowd *c) {
  if (!c->steps) {
    c->frame = pnWorld_Collide(c->world, NULL);
    check(c->frame.result);
    return;
  }
  c->step = pnWorld_CollideSwept(c->world, NULL);
  check(c->step.result);
  check(pnWorld_BeginStep(c->world));
}

static bool isSameAnswer(const Crowd *p, const Crowd *q) {
  if (p->steps)
    return p->step.impactCount == q->step.impactCount && p->step.contactCount == q->step.contactCount &&
           p->step.safe == q->step.safe;
  size_t n = p->frame.pairCount;
  return n == q->frame.pairCount &&
         (n == 0 || memcmp(pnWorld_GetPairs(p->world), pnWorld_GetPairs(q->world), n * sizeof(pnPair)) == 0);
}

/* One frame of one crowd. */
static double play(Crowd *c, pnGuest *guest, Actor *actors, uint32_t frame, float apart) {
  double sum = 0;
  for (uint32_t head = 0; head < HEADS; ++head) {
    pnMatrix at = pnMatrix_Identity();
    at.m[0][3] += apart * (float)(head % ROW);
    at.m[2][3] += apart * (float)(head / ROW);
    check(pnGuest_Move(guest, (double)((frame + 7 * head) % 20) / 20));
    for (uint32_t p = 0; p < guest->partCount; ++p) {
      check(pnGuest_SetPose(guest, p, actors[p].pose));
      double start = pn_threadTime();
      pose(c, c->ids[head * guest->partCount + p], guest, p, &actors[p], &at);
      sum += pn_threadTime() - start;
    }
  }
  double start = pn_threadTime();
  ask(c);
  return sum + pn_threadTime() - start;
}

/* One line: microseconds for each head. */
static bool gatherCrowd(pnGuest *guest, const char *how, float widths) {
  Actor *actors = calloc(guest->partCount, sizeof *actors);
  Crowd crowds[CROWDS];
  bool right = true;
  size_t pairs = 0, impacts = 0;
  if (!actors) exit(1);
  for (uint32_t p = 0; p < guest->partCount; ++p) actors[p] = makeActor(&guest->parts[p]);
  for (int k = 0; k < CROWDS; ++k) crowds[k] = makeCrowd(guest, k / 2, k % 2);
  for (uint32_t pass = 0; pass < s_passes; ++pass)
    for (uint32_t f = 0; f < s_frames; ++f) {
      for (int k = 0; k < CROWDS; ++k) {
        double time = 1e6 * play(&crowds[k], guest, actors, f, 2 * guest->side * widths) / HEADS;
        crowds[k].times[f] = pass == 0 || time < crowds[k].times[f] ? time : crowds[k].times[f];
      }
      for (int k = 0; k < CROWDS; k += 2) right = right && isSameAnswer(&crowds[k], &crowds[k + 1]);
      pairs += pass == 0 ? crowds[0].frame.pairCount : 0;
      impacts += pass == 0 ? crowds[2].step.impactCount : 0;
    }
  double m[CROWDS];
  for (int k = 0; k < CROWDS; ++k) m[k] = pn_labMedian(crowds[k].times, s_frames);
  printf("  %-16s %-8s %8.0f | %8.1f %8.1f %5.1fx | %8.0f | %8.1f %8.1f %5.1fx  %s\n", guest->file->name, how,
         (double)pairs / s_frames, m[0], m[1], m[1] / m[0], (double)impacts / s_frames, m[2], m[3], m[3] / m[2],
         right ? "same" : "WRONG");
  fflush(stdout);
  for (int k = 0; k < CROWDS; ++k) freeCrowd(&crowds[k]);
  for (uint32_t p = 0; p < guest->partCount; ++p) freeActor(&actors[p]);
  free(actors);
  return right;
}

/* ---------------------------------------------------------------- who comes */

/* Each guest whose file is there. */
static bool forGuests(bool (*act)(pnGuest *guest, void *context), void *context) {
  bool right = true;
  for (const pnGuestName *name = pnGuest_List(); name->path; ++name) {
    char path[1024];
    const char *folder = getenv("PINCH_DATA");
    if (folder && folder[0]) snprintf(path, sizeof path, "%s/%s", folder, name->path);
    else snprintf(path, sizeof path, "%s/../shared/data/%s", PINCH_SOURCE_DIR, name->path);
    FILE *file = fopen(path, "rb");
    if (!file) {
      printf("  %s: not in the data folder (set PINCH_DATA)\n", name->path);
      continue;
    }
    fclose(file);
    pnGuest guest;
    check(pnCreateGuest(path, name->height, &guest));
    right = act(&guest, context) && right;
    pnDestroyGuest(&guest);
  }
  return right;
}

typedef struct Stage {
  pnRoom room;
  pnTree *tree;
} Stage;

static bool walkBoth(pnGuest *guest, void *context) {
  Stage *stage = context;
  bool right = walk(guest, stage->room, stage->tree, 0);
  return walk(guest, stage->room, stage->tree, 0.06f) && right;
}

static bool gatherCrowds(pnGuest *guest, void *context) {
  (void)context;
  bool right = gatherCrowd(guest, "apart", 4);
  right = gatherCrowd(guest, "close", 1) && right;
  return gatherCrowd(guest, "through", 0.5f) && right;
}

static bool runCrowds(void) {
  printf("\ncrowds of %d in the default world; microseconds a frame for each, median of %u\n", HEADS, s_frames);
  printf("  %-16s %-8s %8s | %8s %8s %6s | %8s | %8s %8s\n", "", "", "pairs", "frame", "free", "", "impacts", "step",
         "free");
  return forGuests(gatherCrowds, NULL);
}

static bool runRoom(pnRoom room) {
  pnMesh *mesh;
  pnPose *pose;
  pnTree *tree;
  check(pnCreateRoom(room, &mesh));
  pnPoseDef poseDef = {mesh, NULL, NULL};
  check(pnCreatePose(&poseDef, &pose));
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = pose;
  def.self = false;
  def.big = PN_BIG_CORNERS;
  check(pnCreateTree(&def, &tree));
  printf("\n%s of %u triangles; milliseconds a frame, median and worst of %u\n", pnMesh_GetName(mesh),
         pnMesh_GetTriangleCount(mesh), s_frames);
  printf("  %-16s %-5s %5s %6s %9s %7s %8s | %15s | %15s\n", "", "", "parts", "joints", "triangles", "pairs",
         "computed", "carried", "all vertices");
  Stage stage = {room, tree};
  bool right = forGuests(walkBoth, &stage);
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  return right;
}

int main(int count, char **words) {
  bool rooms = false, crowds = false;
  for (int i = 1; i < count; ++i) {
    bool hasValue = i + 1 < count;
    if (strcmp(words[i], "--passes") == 0 && hasValue) s_passes = (uint32_t)atoi(words[++i]);
    else if (strcmp(words[i], "--frames") == 0 && hasValue) s_frames = (uint32_t)atoi(words[++i]);
    else if (strcmp(words[i], "rooms") == 0) rooms = true;
    else if (strcmp(words[i], "crowds") == 0) crowds = true;
    else {
      fprintf(stderr, "bench_guests: \"%s\" is not understood\n", words[i]);
      return 2;
    }
  }
  s_passes = s_passes < 1 ? 1 : s_passes;
  s_frames = s_frames < 2 ? 2 : s_frames;
  char machine[512];
  pn_labMachine(machine, sizeof machine);
  printf("%s\n", machine);
  bool every = !rooms && !crowds, ok = true;
  if (every || rooms) ok = runRoom(PN_ROOM_MUSEUM);
  if (every || rooms) ok = runRoom(PN_ROOM_LIVING) && ok;
  if (every || crowds) ok = runCrowds() && ok;
  return ok ? 0 : 1;
}
