/* bench_skin.c: skinned characters: experiments E6 and E7 of [Mujika09], a crowd, and what a character far from
 * everything costs.
 *
 *   bench_skin [e6] [e7] [crowd] [alone]      which; all when none is named
 *   bench_skin --passes N --frames N --sides N    sides: lengths of pieces in the sweep, of 5
 *   bench_skin --rows FILE                    figures as rows (record.h)
 *
 * E6 and E7: the avatar walks along a slanted wall, close and without touching (the paper: "very close to these triangles without
 * colliding"). The worst frame is the one with the most operations, counted as in the paper: 10 for a volume test (ours are done eight
 * at a time and all eight are counted), 30 for a plane, 96 for two triangles. Every exact row must find the pairs of a tree over eager
 * vertices, and does so again six centimetres farther in, where there are some; for the approximate rows that walk counts what they miss and what they add.
 *
 * The crowd: a hundred walkers in the museum, in pairs that brush arms, and as close as people stand in a lift; there they look at
 * themselves, too.
 *
 * Time is what the thread spent on the processor, the least of the passes. For the crowd also the wall's: on a machine with
 * other work it says little, but with two threads there is nothing better, for what other threads spend is booked late. */
#include "avatar.h"
#include "clock.h"
#include "lab.h"
#include "record.h"
#include "rooms.h"

#include "pinch/lab.h"
#include "pinch/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SIDES 5u

static uint32_t s_passes = 3, s_frames = 60, s_sides = MOST_SIDES;

static void check(pnResult result) {
  if (result != PN_OK) {
    fprintf(stderr, "bench_skin: %s\n", pnGetMessage());
    exit(1);
  }
}

/* ---------------------------------------------------------------- E6, E7 */

typedef struct Row {
  const char *name;
  pnForm form;
  pnBig big;
  pnBuild build;
  bool weighted, eager, planeDecides, representative, noPlanes;
  float side; /* of the pieces; 0: as the library chooses */
} Row;

/* Trees of the avatar are by joints (PN_BUILD_DEFAULT) or by position (PN_BUILD_BALANCED). */
#define JOINTS PN_BUILD_DEFAULT
#define PLACES PN_BUILD_BALANCED

static const Row s_rows[] = {
    {"sphere, original", PN_FORM_SPHERE, PN_BIG_WHOLE, JOINTS, false, false, false, false, false, 0},
    {"sphere, division alone", PN_FORM_SPHERE, PN_BIG_DIVIDED, JOINTS, .noPlanes = true},
    {"sphere, corners alone", PN_FORM_SPHERE, PN_BIG_CORNERS, JOINTS, .noPlanes = true},
    {"sphere, sphere division", PN_FORM_SPHERE, PN_BIG_DIVIDED, JOINTS, false, false, false, false, false, 0},
    {"sphere, corner-tree", PN_FORM_SPHERE, PN_BIG_CORNERS, JOINTS, false, false, false, false, false, 0},
    {"sphere, corner, by position", PN_FORM_SPHERE, PN_BIG_CORNERS, PLACES, false, false, false, false, false, 0},
    {"sphere, corner, paper's joints", PN_FORM_SPHERE, PN_BIG_CORNERS, JOINTS, true, false, false, false, false, 0},
    {"  + plane decides (approx.)", PN_FORM_SPHERE, PN_BIG_CORNERS, JOINTS, false, false, true, false, false, 0},
    {"  + representative (approx.)", PN_FORM_SPHERE, PN_BIG_CORNERS, JOINTS, false, false, true, true, false, 0},
    {"box, original", PN_FORM_BOX, PN_BIG_WHOLE, JOINTS, false, false, false, false, false, 0},
    {"box, division alone", PN_FORM_BOX, PN_BIG_DIVIDED, JOINTS, .noPlanes = true},
    {"box, corners alone", PN_FORM_BOX, PN_BIG_CORNERS, JOINTS, .noPlanes = true},
    {"box, sphere division", PN_FORM_BOX, PN_BIG_DIVIDED, JOINTS, false, false, false, false, false, 0},
    {"box, corner-tree", PN_FORM_BOX, PN_BIG_CORNERS, JOINTS, false, false, false, false, false, 0},
    {"box, corner, by position", PN_FORM_BOX, PN_BIG_CORNERS, PLACES, false, false, false, false, false, 0},
    {"18-DOP, corner-tree", PN_FORM_DOP18, PN_BIG_CORNERS, JOINTS, false, false, false, false, false, 0},
    {"box, corner, all vertices", PN_FORM_BOX, PN_BIG_CORNERS, JOINTS, false, true, false, false, false, 0},
};
#define ROW_COUNT (sizeof s_rows / sizeof *s_rows)

/* The trees of a row. */
typedef struct Actors {
  const Row *row;
  pnPose *pose;  /* of joints */
  pnPose *eager; /* the same vertices, stored */
  pnTree *tree, *roomTree;
} Actors;

/* A room, the avatar, and who knows what is true. */
typedef struct Stage {
  pnRoom room;
  pnAvatar avatar;
  pnMesh *roomMesh;
  pnPose *roomPose;
  pnPairList *found, *truth;
  float *vertices;
  Actors plain; /* all vertices stored */
} Stage;

static Actors makeActors(const Stage *s, const Row *row) {
  Actors a = {.row = row};
  pnPoseDef skinned = {s->avatar.mesh, NULL, row->weighted ? s->avatar.weightedSkin : s->avatar.skin};
  pnPoseDef stored = {s->avatar.mesh, NULL, NULL};
  check(pnCreatePose(&skinned, &a.pose));
  check(pnCreatePose(&stored, &a.eager));
  pnTreeDef def = pnDefaultTreeDef();
  pnTreeLab lab = {0};
  def.lab = &lab;
  lab.form = row->form;
  def.self = false;
  def.pose = s->roomPose;
  def.big = row->big;
  def.bigSide = row->side;
  check(pnCreateTree(&def, &a.roomTree));
  def.big = PN_BIG_WHOLE;
  def.bigSide = 0;
  lab.build = row->build;
  lab.representative = row->representative;
  def.pose = row->eager ? a.eager : a.pose;
  check(pnCreateTree(&def, &a.tree));
  return a;
}

static void freeActors(Actors *a) {
  pnDestroyTree(a->tree);
  pnDestroyTree(a->roomTree);
  pnDestroyPose(a->pose);
  pnDestroyPose(a->eager);
}

/* The walker at a frame, `into` metres nearer to the wall. Returns the time to have the pose ready. */
static double poseActors(const Stage *s, const Actors *a, uint32_t frame, float into) {
  pnMatrix joints[PN_AVATAR_JOINTS], at = pnRoom_Walk(s->room, (double)frame / (s_frames - 1));
  at.m[0][3] += 0.6f * into;
  at.m[2][3] += 0.8f * into;
  double phase = frame / 20.0;
  if (a->row->weighted) pnAvatar_WalkWeighted(phase, joints);
  else pnAvatar_Walk(phase, joints);
  double start = pn_threadTime();
  check(pnPose_SetJoints(a->pose, joints, PN_AVATAR_JOINTS));
  check(pnPose_SetTransform(a->pose, &at));
  if (a->row->eager) {
    pnPose_GetVertices(a->pose, s->vertices);
    check(pnPose_SetVertices(a->eager, s->vertices, pnMesh_GetVertexCount(s->avatar.mesh)));
  }
  return pn_threadTime() - start;
}

/* What the frame's pairs are, by vertices that are all there. */
static void findTruth(const Stage *s, const Actors *a) {
  pnPose_GetVertices(a->pose, s->vertices);
  check(pnPose_SetVertices(s->plain.eager, s->vertices, pnMesh_GetVertexCount(s->avatar.mesh)));
  check(pnCollideTrees(s->plain.tree, s->plain.roomTree, NULL, s->truth, NULL));
}

/* Pairs of x that y does not have; both are sorted. */
static size_t countMissing(const pnPairList *x, const pnPairList *y) {
  const pnPair *p = pnPairList_GetPairs(x), *q = pnPairList_GetPairs(y), *end = q + pnPairList_GetCount(y);
  size_t missing = 0;
  for (size_t i = 0; i < pnPairList_GetCount(x); ++i) {
    while (q < end && (q->a < p[i].a || (q->a == p[i].a && q->b < p[i].b))) ++q;
    missing += q == end || q->a != p[i].a || q->b != p[i].b;
  }
  return missing;
}

typedef struct Result {
  uint64_t operations, volume, exact, plane, vertices; /* of the worst frame */
  double worst, median;                                /* ms */
  size_t bytes, pairs, missed, added;
  uint32_t leaves;                      /* triangles of the avatar that its tree has */
  uint32_t contactFrames, missedFrames; /* with contact, and of these without a pair found */
} Result;

/* Triangles that a representative tree keeps: one is left out when its three neighbours are all in, in the order of the mesh. */
static uint32_t representativeCount(const pnMesh *mesh) {
  uint32_t count = pnMesh_GetTriangleCount(mesh), kept = 0;
  const uint32_t *neighbours = pnMesh_GetNeighbours(mesh);
  bool *out = calloc(count, sizeof *out);
  for (uint32_t t = 0; t < count; ++t) {
    uint32_t in = 0;
    for (uint32_t e = 0; e < 3; ++e) {
      uint32_t other = neighbours[3 * (size_t)t + e];
      in += other < count && !out[other];
    }
    out[t] = in == 3;
    kept += !out[t];
  }
  free(out);
  return kept;
}

/* compare: also look whether the pairs are right. */
static Result runRow(const Stage *s, const Row *row, bool compare) {
  Result r = {0};
  Actors a = makeActors(s, row);
  double *times = calloc(s_frames, sizeof *times);
  pnQueryDef query = pnDefaultQueryDef();
  pnQueryLab queryLab = {0};
  query.lab = &queryLab;
  queryLab.planeDecides = row->planeDecides;
  queryLab.noPlanes = row->noPlanes;
  r.bytes = pnTree_GetByteCount(a.tree) + pnTree_GetByteCount(a.roomTree);
  uint32_t worstFrame = 0;
  for (uint32_t pass = 0; pass < s_passes; ++pass) {
    for (uint32_t f = 0; f < s_frames; ++f) {
      pnCost cost;
      double ready = poseActors(s, &a, f, 0), start = pn_threadTime();
      check(pnCollideTrees(a.tree, a.roomTree, &query, s->found, &cost));
      double time = 1e3 * (ready + pn_threadTime() - start);
      times[f] = pass == 0 || time < times[f] ? time : times[f];
      uint64_t operations = 10 * cost.volumeTests + 30 * cost.planeTests + 96 * cost.exactTests;
      if (pass == 0 && operations > r.operations) {
        worstFrame = f;
        r.operations = operations;
        r.volume = cost.volumeTests;
        r.plane = cost.planeTests;
        r.exact = cost.exactTests;
        r.vertices = cost.verticesFetched;
      }
    }
  }
  r.worst = times[worstFrame];
  r.median = pn_labMedian(times, s_frames);
  free(times);
  /* right? also where something meets */
  for (uint32_t f = 0; compare && f < s_frames; f += 5) {
    for (int step = 0; step < 2; ++step) {
      poseActors(s, &a, f, step ? 0.06f : 0);
      findTruth(s, &a);
      check(pnCollideTrees(a.tree, a.roomTree, &query, s->found, NULL));
      r.pairs += pnPairList_GetCount(s->truth);
      bool meets = pnPairList_GetCount(s->truth) > 0;
      r.contactFrames += meets;
      r.missedFrames += meets && pnPairList_GetCount(s->found) == 0;
      r.missed += countMissing(s->truth, s->found);
      r.added += countMissing(s->found, s->truth);
    }
  }
  r.leaves = row->representative ? representativeCount(s->avatar.mesh) : pnMesh_GetTriangleCount(s->avatar.mesh);
  freeActors(&a);
  return r;
}

static void record(const char *name, const Result *r) {
  pn_record(name, "KB", (double)r->bytes / 1024);
  pn_record(name, "volume tests", (double)r->volume);
  pn_record(name, "triangle tests", (double)r->exact);
  pn_record(name, "plane tests", (double)r->plane);
  pn_record(name, "operations", (double)r->operations);
  pn_record(name, "worst ms", r->worst);
  pn_record(name, "median ms", r->median);
  pn_record(name, "missed pairs", (double)r->missed);
  pn_record(name, "added pairs", (double)r->added);
  pn_record(name, "contact frames", r->contactFrames);
  pn_record(name, "missed frames", r->missedFrames);
  pn_record(name, "triangles in", r->leaves);
}

/* Each technique over the length of its pieces' sides, as parts of the room: where division stops paying, and where corners lose. */
static void sweepSides(const Stage *s, float size) {
  static const struct {
    const char *name;
    Row row;
  } methods[] = {
      {"sphere, division alone", {.form = PN_FORM_SPHERE, .big = PN_BIG_DIVIDED, .noPlanes = true}},
      {"sphere, corners alone", {.form = PN_FORM_SPHERE, .big = PN_BIG_CORNERS, .noPlanes = true}},
      {"sphere, corner-tree", {.form = PN_FORM_SPHERE, .big = PN_BIG_CORNERS}},
      {"box, division alone", {.form = PN_FORM_BOX, .big = PN_BIG_DIVIDED, .noPlanes = true}},
      {"box, corners alone", {.form = PN_FORM_BOX, .big = PN_BIG_CORNERS, .noPlanes = true}},
      {"box, corner-tree", {.form = PN_FORM_BOX, .big = PN_BIG_CORNERS}},
  };
  static const float parts[MOST_SIDES] = {20, 40, 80, 160, 320};
  uint32_t passes = s_passes;
  s_passes = 1; /* operations are counted, not timed */
  printf("operations of the worst frame by the pieces' side, as a part of the room:");
  for (uint32_t k = 0; k < s_sides; ++k) printf(" 1/%g", parts[k]);
  printf("\n");
  for (size_t m = 0; m < sizeof methods / sizeof *methods; ++m) {
    printf("%-31s", methods[m].name);
    for (uint32_t k = 0; k < s_sides; ++k) {
      Row row = methods[m].row;
      row.side = size / parts[k];
      Result r = runRow(s, &row, false);
      pn_recordStep(methods[m].name, "operations by part of the room", parts[k], (double)r.operations);
      pn_recordStep(methods[m].name, "KB by part of the room", parts[k], (double)r.bytes / 1024);
      printf(" %11llu", (unsigned long long)r.operations);
      fflush(stdout);
    }
    printf("\n");
  }
  s_passes = passes;
}

/* The longest side of a mesh's box. */
static float sizeOf(const pnMesh *mesh) {
  const float *v = pnMesh_GetVertices(mesh);
  float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (size_t i = 0; i < 3 * (size_t)pnMesh_GetVertexCount(mesh); ++i) {
    low[i % 3] = fminf(low[i % 3], v[i]);
    high[i % 3] = fmaxf(high[i % 3], v[i]);
  }
  return fmaxf(high[0] - low[0], fmaxf(high[1] - low[1], high[2] - low[2]));
}

static bool runRoom(pnRoom room) {
  static const char *const paper[2][3] = {
      {"paper: 548 KB, 200000 sphere, 150000 triangle tests, 17000000 operations",
       "paper: 65 MB, 15000 sphere, 150 triangle tests, 165000 operations (103x)",
       "paper: 24 MB, 5000 sphere, 2000 plane tests, 110000 operations (155x)"},
      {"paper: 3.21 MB, 80000 sphere, 70000 triangle tests, 7000000 operations",
       "paper: 49.2 MB, 80000 sphere, 50000 triangle tests, 5000000 operations (1.4x)",
       "paper: 37.5 MB, 8000 sphere, 275 plane tests, 90000 operations (78x)"}};
  Stage s = {.room = room};
  check(pnCreateAvatar(44345, &s.avatar));
  check(pnCreateRoom(room, &s.roomMesh));
  pnPoseDef def = {s.roomMesh, NULL, NULL};
  check(pnCreatePose(&def, &s.roomPose));
  check(pnCreatePairList(&s.found));
  check(pnCreatePairList(&s.truth));
  s.vertices = malloc(3 * sizeof(float) * pnMesh_GetVertexCount(s.avatar.mesh));
  s.plain = makeActors(&s, &s_rows[ROW_COUNT - 1]);
  printf("\n%s: avatar of %u vertices, %s of %u; worst of %u frames\n", room == PN_ROOM_MUSEUM ? "E6" : "E7",
         pnMesh_GetVertexCount(s.avatar.mesh), pnMesh_GetName(s.roomMesh), pnMesh_GetVertexCount(s.roomMesh), s_frames);
  for (int i = 0; i < 3; ++i) printf("  %s\n", paper[room][i]);
  printf("%-31s %8s %9s %9s %8s %11s %7s %9s %9s %7s | %6s %6s %6s\n", "", "KB", "volume", "triangle", "plane",
         "operations", "fewer", "vertices", "worst ms", "median", "pairs", "missed", "added");
  pn_recordScene(room == PN_ROOM_MUSEUM ? "e6" : "e7", pnMesh_GetName(s.roomMesh));
  uint64_t original[PN_FORM_COUNT] = {0};
  bool right = true;
  for (size_t i = 0; i < ROW_COUNT; ++i) {
    const Row *row = &s_rows[i];
    Result r = runRow(&s, row, true);
    record(row->name, &r);
    if (row->big == PN_BIG_WHOLE) original[row->form] = r.operations;
    if (original[row->form] == 0) original[row->form] = original[PN_FORM_BOX];
    printf("%-31s %8zu %9llu %9llu %8llu %11llu %6.0fx %9llu %9.3f %7.3f | %6zu %6zu %6zu\n", row->name, r.bytes / 1024,
           (unsigned long long)r.volume, (unsigned long long)r.exact, (unsigned long long)r.plane,
           (unsigned long long)r.operations, (double)original[row->form] / (double)r.operations,
           (unsigned long long)r.vertices, r.worst, r.median, r.pairs, r.missed, r.added);
    fflush(stdout);
    right = right && (row->planeDecides || (r.missed == 0 && r.added == 0));
  }
  if (!right) fprintf(stderr, "bench_skin: an exact row is wrong\n");
  sweepSides(&s, sizeOf(s.roomMesh));
  freeActors(&s.plain);
  free(s.vertices);
  pnDestroyPairList(s.found);
  pnDestroyPairList(s.truth);
  pnDestroyPose(s.roomPose);
  pnDestroyMesh(s.roomMesh);
  pnDestroyAvatar(&s.avatar);
  return right;
}

/* ---------------------------------------------------------------- a crowd */

#define CROWD 100u

/* A world of walkers in the museum; free bodies get every vertex. */
typedef enum CrowdKind { SKINNED, BY_POSITION, FREE, CROWD_KINDS } CrowdKind;

/* Of one mesh, or of a hundred equal ones that have nothing in common for the engine; in pairs, or so close that everybody meets
 * their neighbours all over, and looking at themselves. */
typedef struct CrowdSort {
  const char *name;
  uint32_t avatarCount;
  bool close;
} CrowdSort;

static const CrowdSort s_sorts[] = {{"one mesh", 1, false}, {"hundred meshes", CROWD, false}, {"close", 1, true}};

typedef struct Crowd {
  pnWorld *world;
  pnBodyId ids[CROWD];
  bool free;
} Crowd;

static Crowd makeCrowd(const pnAvatar *avatars, const CrowdSort *sort, pnTree *museum, CrowdKind kind,
                       const pnTasks *tasks) {
  bool isFree = kind == FREE;
  Crowd c = {.free = isFree};
  pnWorldDef worldDef = pnDefaultWorldDef();
  worldDef.tasks = *tasks;
  worldDef.rebuildQuality = 0;
  check(pnCreateWorld(&worldDef, &c.world));
  pnBodyDef def = pnDefaultBodyDef();
  pnTreeLab lab = {0};
  def.tree.lab = &lab;
  def.kind = isFree ? PN_BODY_FREE : PN_BODY_SKINNED;
  def.self = sort->close;
  lab.build = kind == BY_POSITION ? PLACES : JOINTS;
  for (uint32_t i = 0; i < CROWD; ++i) {
    def.mesh = avatars[i % sort->avatarCount].mesh;
    def.skin = isFree ? NULL : avatars[i % sort->avatarCount].skin;
    check(pnWorld_CreateBody(c.world, &def, &c.ids[i]));
  }
  pnBodyId room;
  def = pnDefaultBodyDef();
  def.kind = PN_BODY_STATIC;
  def.staticTree = museum;
  check(pnWorld_CreateBody(c.world, &def, &room));
  return c;
}

/* Seconds on the wall, and on the processor over all threads. */
typedef struct Times {
  double wall, processor;
} Times;

static Times now(void) {
  return (Times){pnGetTime(), pn_processTime()};
}

static void keepLeast(Times *least, Times time) {
  least->wall = time.wall < least->wall ? time.wall : least->wall;
  least->processor = time.processor < least->processor ? time.processor : least->processor;
}

/* Ten rows of ten, 40 centimetres from one to the next: shoulders in shoulders. */
#define CLOSE 0.4f

/* Where everybody is in a frame. */
static void moveCrowd(uint32_t frame, bool close, pnMatrix *outJoints, pnMatrix *outPlaces) {
  for (uint32_t i = 0; i < CROWD; ++i) {
    pnAvatar_Walk(frame / 20.0 + i * 0.137, outJoints + (size_t)i * PN_AVATAR_JOINTS);
    outPlaces[i] = pnRoom_Place(PN_ROOM_MUSEUM, close ? 0 : i, CROWD);
    if (!close) continue;
    outPlaces[i].m[0][3] += CLOSE * (float)(i % 10);
    outPlaces[i].m[2][3] += CLOSE * (float)(i / 10);
  }
}

/* One frame: joints in, contacts out. The free crowd evaluates all vertices, with poses of its own. */
static pnFrame stepCrowd(Crowd *c, pnPose *const *poses, float *vertices, const pnMatrix *joints,
                         const pnMatrix *places) {
  for (uint32_t i = 0; i < CROWD; ++i, joints += PN_AVATAR_JOINTS) {
    if (c->free) {
      check(pnPose_SetJoints(poses[i], joints, PN_AVATAR_JOINTS));
      check(pnPose_SetTransform(poses[i], &places[i]));
      pnPose_GetVertices(poses[i], vertices);
      check(pnBody_SetVertices(c->world, c->ids[i], vertices, pnMesh_GetVertexCount(pnPose_GetMesh(poses[i]))));
    } else {
      check(pnBody_SetJoints(c->world, c->ids[i], joints, PN_AVATAR_JOINTS));
      check(pnBody_SetTransform(c->world, c->ids[i], &places[i]));
    }
  }
  pnFrame result = pnWorld_Collide(c->world, NULL);
  check(result.result);
  return result;
}

/* The same contacts with the same pairs, one by one? */
static bool isSameAnswer(const Crowd *x, const pnFrame *a, const Crowd *y, const pnFrame *b) {
  if (a->pairCount != b->pairCount || a->contactCount != b->contactCount) return false;
  const pnContact *p = pnWorld_GetContacts(x->world), *q = pnWorld_GetContacts(y->world);
  for (uint32_t i = 0; i < a->contactCount; ++i)
    if (p[i].a.index1 != q[i].a.index1 || p[i].b.index1 != q[i].b.index1 || p[i].pairCount != q[i].pairCount ||
        memcmp(pnWorld_GetPairs(x->world) + p[i].firstPair, pnWorld_GetPairs(y->world) + q[i].firstPair,
               p[i].pairCount * sizeof(pnPair)) != 0)
      return false;
  return true;
}

static bool runCrowd(const CrowdSort *sort) {
  static pnAvatar avatars[CROWD];
  const uint32_t avatarCount = sort->avatarCount;
  pnMesh *mesh;
  pnPose *roomPose, *poses[CROWD];
  pnTree *museum;
  for (uint32_t i = 0; i < avatarCount; ++i) check(pnCreateAvatar(5010, &avatars[i]));
  check(pnCreateRoom(PN_ROOM_MUSEUM, &mesh));
  pnPoseDef roomDef = {mesh, NULL, NULL};
  check(pnCreatePose(&roomDef, &roomPose));
  for (uint32_t i = 0; i < CROWD; ++i) {
    pnPoseDef skinned = {avatars[i % avatarCount].mesh, NULL, avatars[i % avatarCount].skin};
    check(pnCreatePose(&skinned, &poses[i]));
  }
  pnTreeDef treeDef = pnDefaultTreeDef();
  treeDef.pose = roomPose;
  treeDef.self = false;
  treeDef.big = PN_BIG_CORNERS;
  check(pnCreateTree(&treeDef, &museum));
  uint32_t vertexCount = pnMesh_GetVertexCount(avatars[0].mesh);
  float *vertices = malloc(3 * sizeof(float) * vertexCount);
  static pnMatrix joints[CROWD * PN_AVATAR_JOINTS], places[CROWD];
  printf("\nCrowd: %u characters of %u triangles, %s, in the museum, all pairs, ms a frame on the wall (processor)\n",
         CROWD, pnMesh_GetTriangleCount(avatars[0].mesh), sort->close ? "close, and with themselves" : sort->name);
  uint32_t frames = sort->close ? s_frames / 12 + 1 : s_frames / 4 + 1;
  bool right = true;
  for (uint32_t threads = 1; threads <= 2; ++threads) {
    pnPool *pool;
    check(pnCreatePool(threads, &pool));
    pnTasks tasks = pnPool_GetTasks(pool);
    Times sum[CROWD_KINDS] = {{0, 0}};
    size_t pairs = 0, fetched = 0;
    Crowd crowds[CROWD_KINDS];
    for (int k = 0; k < CROWD_KINDS; ++k) crowds[k] = makeCrowd(avatars, sort, museum, (CrowdKind)k, &tasks);
    for (uint32_t f = 0; f < frames; ++f) {
      pnFrame answers[CROWD_KINDS];
      moveCrowd(f, sort->close, joints, places);
      for (int k = 0; k < CROWD_KINDS; ++k) {
        Times least = {1e9, 1e9};
        for (uint32_t pass = 0; pass < s_passes; ++pass) {
          Times start = now();
          answers[k] = stepCrowd(&crowds[k], poses, vertices, joints, places);
          Times end = now();
          keepLeast(&least, (Times){1e3 * (end.wall - start.wall), 1e3 * (end.processor - start.processor)});
        }
        sum[k].wall += least.wall / frames;
        sum[k].processor += least.processor / frames;
        right = right && isSameAnswer(&crowds[0], &answers[0], &crowds[k], &answers[k]);
      }
      pairs += answers[0].pairCount / frames;
      fetched += (size_t)answers[0].cost.verticesFetched / frames;
    }
    static const char *const names[CROWD_KINDS] = {"skinned", "skinned, trees by position",
                                                   "all vertices, free bodies"};
    printf("  %u thread%s, %zu pairs, %zu times a vertex for a leaf, of %u, %s\n", threads, threads > 1 ? "s" : "",
           pairs, fetched, CROWD * vertexCount, right ? "same pairs" : "DIFFERENT PAIRS");
    pn_recordScene("skin-crowd", sort->name);
    for (int k = 0; k < CROWD_KINDS; ++k) {
      pn_recordStep(names[k], "wall ms by threads", threads, sum[k].wall);
      pn_recordStep(names[k], "processor ms by threads", threads, sum[k].processor);
      pn_recordStep(names[k], "wrong frames", threads, right ? 0 : 1);
      printf("    %-28s %6.2f  %4.1fx", names[k], sum[k].wall, sum[FREE].wall / sum[k].wall);
      if (threads == 1) printf("  (%.2f, %.1fx)", sum[k].processor, sum[FREE].processor / sum[k].processor);
      printf("\n");
      pnDestroyWorld(crowds[k].world);
    }
    pnDestroyPool(pool);
  }
  free(vertices);
  pnDestroyTree(museum);
  for (uint32_t i = 0; i < CROWD; ++i) pnDestroyPose(poses[i]);
  pnDestroyPose(roomPose);
  pnDestroyMesh(mesh);
  for (uint32_t i = 0; i < avatarCount; ++i) pnDestroyAvatar(&avatars[i]);
  return right;
}

/* ---------------------------------------------------------------- far from everything */

static void runAlone(void) {
  static const uint32_t sizes[] = {2000, 20000, 200000};
  printf("\nAlone: a character ten metres from another, microseconds a frame: joints, update, query\n");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (int v = 0; v < PN_FORM_COUNT; v += PN_FORM_SPHERE) {
      pnAvatar avatar;
      pnPose *poses[2];
      pnTree *trees[2];
      check(pnCreateAvatar(sizes[i], &avatar));
      for (int k = 0; k < 2; ++k) {
        pnPoseDef def = {avatar.mesh, NULL, avatar.skin};
        pnTreeDef treeDef = pnDefaultTreeDef();
        pnTreeLab treeLab = {0};
        treeDef.lab = &treeLab;
        check(pnCreatePose(&def, &poses[k]));
        treeDef.pose = poses[k];
        treeLab.form = (pnForm)v;
        treeDef.self = false;
        check(pnCreateTree(&treeDef, &trees[k]));
      }
      pnMatrix away = pnMatrix_Identity();
      away.m[0][3] = 10;
      check(pnPose_SetTransform(poses[1], &away));
      double least = 1e9;
      pnCost cost;
      for (uint32_t f = 0; f < 200; ++f) {
        pnMatrix joints[PN_AVATAR_JOINTS];
        pnAvatar_Walk(f / 20.0, joints);
        double start = pn_threadTime();
        check(pnPose_SetJoints(poses[0], joints, PN_AVATAR_JOINTS));
        check(pnCollideTrees(trees[0], trees[1], NULL, NULL, &cost));
        double time = pn_threadTime() - start;
        least = time < least ? time : least;
      }
      pn_recordScene("skin-alone", "avatar");
      pn_recordStep(v ? "sphere" : "box", "us by triangles", pnMesh_GetTriangleCount(avatar.mesh), 1e6 * least);
      printf("  %7u triangles, %-6s: %.1f us, %llu vertices computed, %zu KB\n", pnMesh_GetTriangleCount(avatar.mesh),
             v ? "sphere" : "box", 1e6 * least, (unsigned long long)cost.verticesFetched,
             pnTree_GetByteCount(trees[0]) / 1024);
      for (int k = 0; k < 2; ++k) {
        pnDestroyTree(trees[k]);
        pnDestroyPose(poses[k]);
      }
      pnDestroyAvatar(&avatar);
    }
}

int main(int count, char **words) {
  pn_recordArguments(&count, words);
  bool e6 = false, e7 = false, crowd = false, alone = false;
  for (int i = 1; i < count; ++i) {
    bool hasValue = i + 1 < count;
    if (strcmp(words[i], "e6") == 0) e6 = true;
    else if (strcmp(words[i], "e7") == 0) e7 = true;
    else if (strcmp(words[i], "crowd") == 0) crowd = true;
    else if (strcmp(words[i], "alone") == 0) alone = true;
    else if (strcmp(words[i], "--passes") == 0 && hasValue) s_passes = (uint32_t)atoi(words[++i]);
    else if (strcmp(words[i], "--frames") == 0 && hasValue) s_frames = (uint32_t)atoi(words[++i]);
    else if (strcmp(words[i], "--sides") == 0 && hasValue) s_sides = (uint32_t)atoi(words[++i]);
    else {
      fprintf(stderr, "bench_skin: \"%s\" is not understood\n", words[i]);
      return 2;
    }
  }
  s_passes = s_passes < 1 ? 1 : s_passes;
  s_frames = s_frames < 2 ? 2 : s_frames;
  s_sides = s_sides < MOST_SIDES ? s_sides : MOST_SIDES;
  bool every = !e6 && !e7 && !crowd && !alone, ok = true;
  char machine[512];
  pn_labMachine(machine, sizeof machine);
  printf("%s\n", machine);
  if (every || alone) runAlone();
  if (every || e6) ok = runRoom(PN_ROOM_MUSEUM) && ok;
  if (every || e7) ok = runRoom(PN_ROOM_LIVING) && ok;
  for (size_t i = 0; (every || crowd) && i < sizeof s_sorts / sizeof *s_sorts; ++i) ok = runCrowd(&s_sorts[i]) && ok;
  return ok ? 0 : 1;
}
