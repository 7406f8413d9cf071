/* bench_broad.c: many bodies: how close ones are found before trees are asked.
 *
 *   bench_broad [--quick] [--rows FILE]
 *
 * Growth: 100 to 10 000 small bodies that drift through each other (scene bodies-N), milliseconds a frame in which the world looks
 * for pairs of boxes: its tree, every box against every box, and, as the yardstick of [Cohen95] that [Larsson01] also uses, a
 * textbook sweep and prune over the same boxes: one axis kept sorted by insertion, the other two compared. All must name
 * the same pairs. Loose boxes [Larsson01, section 4]: bodies of which a box is known that they never leave, far from each other,
 * with and without telling the world. */
#include "lab.h"
#include "record.h"

#include "pinch/lab.h"
#include "pinch/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check(pnResult result) {
  if (result != PN_OK) {
    fprintf(stderr, "bench_broad: %s\n", pnGetMessage());
    exit(1);
  }
}

/* ---------------------------------------------------------------- a textbook sweep and prune */

typedef struct Sweep {
  uint32_t count, *order; /* bodies by the lower end of their boxes along x, kept from frame to frame */
  pnBox *boxes;
} Sweep;

static uint64_t sweepPairs(Sweep *s) {
  for (uint32_t i = 1; i < s->count; ++i) {
    uint32_t body = s->order[i], k = i;
    for (; k > 0 && s->boxes[s->order[k - 1]].min.x > s->boxes[body].min.x; --k) s->order[k] = s->order[k - 1];
    s->order[k] = body;
  }
  uint64_t pairs = 0;
  for (uint32_t i = 0; i < s->count; ++i) {
    const pnBox *a = &s->boxes[s->order[i]];
    for (uint32_t k = i + 1; k < s->count && s->boxes[s->order[k]].min.x <= a->max.x; ++k) {
      const pnBox *b = &s->boxes[s->order[k]];
      pairs += a->min.y <= b->max.y && b->min.y <= a->max.y && a->min.z <= b->max.z && b->min.z <= a->max.z;
    }
  }
  return pairs;
}

/* ---------------------------------------------------------------- a world of a scene */

typedef struct Crowd {
  pnScene *scene;
  pnWorld *world;
  uint32_t count;
  pnBodyId *ids;
  pnMesh **meshes;
  float *vertices;
} Crowd;

static Crowd makeCrowd(const char *name, pnBroad broad) {
  Crowd c = {0};
  pnSceneDef sceneDef = pnDefaultSceneDef();
  sceneDef.name = name;
  check(pnCreateScene(&sceneDef, &c.scene));
  c.count = pnScene_GetBodyCount(c.scene);
  pnWorldDef worldDef = pnDefaultWorldDef();
  pnWorldLab lab = {.broad = broad};
  worldDef.lab = &lab;
  check(pnCreateWorld(&worldDef, &c.world));
  c.ids = calloc(c.count, sizeof *c.ids);
  c.meshes = calloc(c.count, sizeof *c.meshes);
  c.vertices = calloc(3 * 4096, sizeof(float));
  for (uint32_t i = 0; i < c.count; ++i) {
    check(pnScene_Frame(c.scene, 0, i, c.vertices));
    pnMeshDef def = pnDefaultMeshDef();
    def.vertices = c.vertices;
    def.vertexCount = pnScene_GetVertexCount(c.scene, i);
    def.triangles = pnScene_GetTriangles(c.scene, i);
    def.triangleCount = pnScene_GetTriangleCount(c.scene, i);
    check(pnCreateMesh(&def, &c.meshes[i]));
    pnBodyDef body = pnDefaultBodyDef();
    body.mesh = c.meshes[i];
    check(pnWorld_CreateBody(c.world, &body, &c.ids[i]));
  }
  return c;
}

static void moveCrowd(Crowd *c, uint32_t frame) {
  for (uint32_t i = 0; i < c->count; ++i) {
    check(pnScene_Frame(c->scene, frame, i, c->vertices));
    check(pnBody_SetVertices(c->world, c->ids[i], c->vertices, pnScene_GetVertexCount(c->scene, i)));
  }
}

static void freeCrowd(Crowd *c) {
  pnDestroyWorld(c->world);
  for (uint32_t i = 0; i < c->count; ++i) pnDestroyMesh(c->meshes[i]);
  pnDestroyScene(c->scene);
  free(c->ids);
  free(c->meshes);
  free(c->vertices);
}

/* ---------------------------------------------------------------- growth */

#define MOST_FRAMES 40u

/* Medians over frames, milliseconds; the pairs of boxes of the last frame. */
static double broadTime(const char *name, pnBroad broad, uint32_t frames, uint64_t *outPairs) {
  Crowd c = makeCrowd(name, broad);
  double times[MOST_FRAMES];
  for (uint32_t f = 0; f < frames; ++f) {
    moveCrowd(&c, f);
    pnFrame frame = pnWorld_Collide(c.world, NULL);
    check(frame.result);
    times[f] = 1e3 * frame.broadSeconds;
    *outPairs = frame.bodyPairs;
  }
  freeCrowd(&c);
  return pn_labMedian(times, frames);
}

static double sweepTime(const char *name, uint32_t frames, uint64_t *outPairs) {
  Crowd c = makeCrowd(name, PN_BROAD_TREE);
  Sweep s = {c.count, malloc(sizeof(uint32_t) * c.count), malloc(sizeof(pnBox) * c.count)};
  double times[MOST_FRAMES];
  for (uint32_t i = 0; i < c.count; ++i) s.order[i] = i;
  for (uint32_t f = 0; f < frames; ++f) {
    moveCrowd(&c, f);
    check(pnWorld_Collide(c.world, NULL).result);
    for (uint32_t i = 0; i < c.count; ++i) {
      pnTree *tree = pnBody_GetTree(c.world, c.ids[i]);
      check(pnTree_Update(tree, NULL));
      s.boxes[i] = pnTree_GetBox(tree);
    }
    double start = pnGetTime();
    *outPairs = sweepPairs(&s);
    times[f] = 1e3 * (pnGetTime() - start);
  }
  free(s.order);
  free(s.boxes);
  freeCrowd(&c);
  return pn_labMedian(times, frames);
}

static bool runGrowth(bool quick) {
  static const uint32_t sizes[] = {100, 300, 1000, 3000, 10000};
  uint32_t frames = quick ? 6 : 20, sizeCount = quick ? 4 : 5;
  bool right = true;
  printf("bodies: milliseconds a frame for pairs of boxes; tree, every box against every box, sweep and prune\n");
  pn_recordScene("broad", "bodies");
  for (uint32_t i = 0; i < sizeCount; ++i) {
    char name[32];
    snprintf(name, sizeof name, "bodies-%u", sizes[i]);
    uint64_t pairs[3] = {0};
    double tree = broadTime(name, PN_BROAD_TREE, frames, &pairs[0]);
    double all = sizes[i] <= 3000 ? broadTime(name, PN_BROAD_ALL, frames, &pairs[1]) : NAN;
    double sweep = sweepTime(name, frames, &pairs[2]);
    right = right && pairs[0] == pairs[2] && (isnan(all) || pairs[0] == pairs[1]);
    pn_recordStep("tree", "ms by bodies", sizes[i], tree);
    pn_recordStep("all with all", "ms by bodies", sizes[i], all);
    pn_recordStep("sweep and prune", "ms by bodies", sizes[i], sweep);
    pn_recordStep("truth", "box pairs", sizes[i], (double)pairs[0]);
    printf("%7u bodies: %9.4f %9.4f %9.4f   %llu pairs%s\n", sizes[i], tree, all, sweep, (unsigned long long)pairs[0],
           right ? "" : "  DIFFERENT");
    fflush(stdout);
  }
  return right;
}

/* ---------------------------------------------------------------- loose boxes */

/* Bumpy balls that deform in place, far from each other. */
static double looseTime(bool loose, uint32_t bodies, uint32_t frames) {
  pnSceneDef sceneDef = pnDefaultSceneDef();
  sceneDef.name = "s1-1280";
  pnScene *scene;
  check(pnCreateScene(&sceneDef, &scene));
  uint32_t count = pnScene_GetVertexCount(scene, 0);
  float *rest = malloc(3 * sizeof(float) * count), *moved = malloc(3 * sizeof(float) * count);
  check(pnScene_Frame(scene, 0, 0, rest));
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = rest;
  def.vertexCount = count;
  def.triangles = pnScene_GetTriangles(scene, 0);
  def.triangleCount = pnScene_GetTriangleCount(scene, 0);
  pnMesh *mesh;
  check(pnCreateMesh(&def, &mesh));
  pnWorldDef worldDef = pnDefaultWorldDef();
  pnWorld *world;
  check(pnCreateWorld(&worldDef, &world));
  pnBodyId *ids = malloc(sizeof *ids * bodies);
  for (uint32_t i = 0; i < bodies; ++i) {
    float x = 10 * (float)(i % 32), z = 10 * (float)(i / 32);
    pnBox box = {{x - 4, -4, z - 4}, {x + 4, 4, z + 4}};
    pnBodyDef body = pnDefaultBodyDef();
    body.mesh = mesh;
    body.looseBox = loose ? &box : NULL;
    check(pnWorld_CreateBody(world, &body, &ids[i]));
  }
  double times[MOST_FRAMES];
  for (uint32_t f = 0; f < frames; ++f) {
    check(pnScene_Frame(scene, f, 0, rest));
    for (uint32_t i = 0; i < bodies; ++i) {
      for (uint32_t v = 0; v < count; ++v) {
        moved[3 * v] = rest[3 * v] + 10 * (float)(i % 32);
        moved[3 * v + 1] = rest[3 * v + 1];
        moved[3 * v + 2] = rest[3 * v + 2] + 10 * (float)(i / 32);
      }
      check(pnBody_SetVertices(world, ids[i], moved, count));
    }
    double start = pnGetTime();
    pnFrame frame = pnWorld_Collide(world, NULL);
    check(frame.result);
    times[f] = 1e3 * (pnGetTime() - start);
  }
  pnDestroyWorld(world);
  pnDestroyMesh(mesh);
  pnDestroyScene(scene);
  free(ids);
  free(rest);
  free(moved);
  return pn_labMedian(times, frames);
}

static void runLoose(bool quick) {
  uint32_t bodies = 500, frames = quick ? 6 : 20;
  double without = looseTime(false, bodies, frames), with = looseTime(true, bodies, frames);
  pn_recordScene("broad", "apart-500");
  pn_record("computed boxes", "ms", without);
  pn_record("loose boxes", "ms", with);
  printf("\n%u bodies of 1280 triangles that deform far from each other: %.4f ms a frame, with loose boxes %.4f\n",
         bodies, without, with);
}

int main(int count, char **words) {
  pn_recordArguments(&count, words);
  bool quick = count == 2 && strcmp(words[1], "--quick") == 0;
  if (count > 2 || (count == 2 && !quick)) {
    fprintf(stderr, "usage: bench_broad [--quick] [--rows FILE]\n");
    return 2;
  }
  char machine[512];
  pn_labMachine(machine, sizeof machine);
  printf("%s\n", machine);
  bool right = runGrowth(quick);
  runLoose(quick);
  return right ? 0 : 1;
}
