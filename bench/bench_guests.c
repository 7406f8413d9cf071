/* bench_guests.c: skinned characters made by others, out of glTF files, along the slanted wall of the museum and of the
 * living-room: near, two centimetres from the wall with soles a centimetre above the floor, and in, six centimetres
 * farther into both.
 *
 *   bench_guests --passes N --frames N
 *
 * All skinned meshes of a guest against the room, every frame: volumes carried by joints against computing all vertices
 * and moving free trees. Time is what the thread spent on the processor, the least of the passes; the median and the worst
 * frame. The pairs of both must be the same in every frame. Files that are not there are left out with a line. */
#include "clock.h"
#include "guests.h"
#include "lab.h"

#include "pinch/collide.h"

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
    right = walk(&guest, room, tree, 0) && right;
    right = walk(&guest, room, tree, 0.06f) && right;
    pnDestroyGuest(&guest);
  }
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  return right;
}

int main(int count, char **words) {
  for (int i = 1; i < count; ++i) {
    bool hasValue = i + 1 < count;
    if (strcmp(words[i], "--passes") == 0 && hasValue) s_passes = (uint32_t)atoi(words[++i]);
    else if (strcmp(words[i], "--frames") == 0 && hasValue) s_frames = (uint32_t)atoi(words[++i]);
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
  bool ok = runRoom(PN_ROOM_MUSEUM);
  ok = runRoom(PN_ROOM_LIVING) && ok;
  return ok ? 0 : 1;
}
