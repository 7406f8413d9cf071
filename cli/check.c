/* check.c: `pinch check FILE...`: which triangles of the bodies meet.
 *
 * One body a file. Bodies are numbered in the order of the files, triangles in the order of their file. All the work is
 * the library's; here are only the questions and the ways to show the answer. */
#include "args.h"
#include "check_distance.h"
#include "check_swept.h"
#include "choose.h"
#include "command.h"
#include "load.h"
#include "on_device.h"
#include "out.h"
#include "pool.h"

#include "pinch/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Distances that are listed: of 447 bodies all. */
#define MOST_DISTANCES 100000u
/* Rows of a table: nobody reads more, and programs take --json. */
#define MOST_ROWS 200u
/* Pairs of bodies that are looked at for a note that one may be inside another. */
#define MOST_NOTED 1000000u

/* What was asked for. */
typedef struct pnCheckOptions {
  bool self, first, json, noWeld, distance;
  const char *pairs, *device;
  uint32_t threads;  /* 0: one for each core */
  uint32_t maxPairs; /* 0: no limit */
  pnMoment moment;
  pnWords only, ignored;
  pnWords to;          /* the same bodies after a step: what meets on the way is asked */
  const char *impacts; /* with `to` */
} pnCheckOptions;

/* Everything that must be freed, and how long it took. */
typedef struct pnCheck {
  pnLoadedList list;
  pnLoadedMesh *bodies; /* those of the list */
  uint32_t bodyCount;
  pnChoice choice;
  pnPool *pool;
  pnWorld *world;
  pnBodyId *ids; /* of the world's bodies */
  pnBodyDistances distances;
  pnDevice *device; /* null: the processor searches */
  pnDeviceWorld *deviceWorld;
  pnPose **poses; /* of the device's bodies */
  pnFrame frame;
  pnContact *contacts; /* those that are asked about */
  uint32_t contactCount;
  size_t pairCount;
  double loadSeconds, searchSeconds;
} pnCheck;

/* ---------------------------------------------------------------- asking */

/* Which two bodies are asked about. A wrong name lists the right ones. */
static pnResult chooseBodies(pnCheck *check, const pnCheckOptions *options) {
  const char **names = malloc(check->bodyCount * sizeof(char *) + 1);
  if (!names) return pnFail(PN_ERROR_MEMORY, "out of memory for the names of %u bodies", check->bodyCount);
  for (uint32_t i = 0; i < check->bodyCount; ++i) names[i] = check->bodies[i].name;
  pnResult result = pn_makeChoice(&options->only, &options->ignored, names, check->bodyCount, &check->choice);
  FILE *after = result == PN_ERROR_ARGUMENT ? pn_beginAfterword() : NULL;
  if (after) pn_printBodies(after, names, check->bodyCount);
  free(names);
  return result;
}

static pnResult loadBodies(pnCheck *check, int count, char **paths, const pnCheckOptions *options) {
  double start = pnGetTime();
  pn_beginProgress("reading");
  pnResult result = PN_OK;
  for (int i = 0; i < count && result == PN_OK; ++i) {
    pn_stepProgress((uint32_t)i, (uint32_t)count);
    result = pn_loadBodies(paths[i], !options->noWeld, options->moment, &check->list);
  }
  pn_endProgress();
  check->bodies = check->list.items;
  check->bodyCount = check->list.count;
  if (result == PN_OK) result = pn_checkMoment(&check->list, options->moment);
  if (result == PN_OK) result = chooseBodies(check, options);
  check->loadSeconds = pnGetTime() - start;
  return result;
}

/* Is a body asked about itself? A single file can only be. */
static bool isSelf(const pnCheck *check, const pnCheckOptions *options, uint32_t i) {
  bool self = options->self || check->bodyCount == 1 || pn_choiceNamesSelf(&check->choice, i);
  return self && pn_choiceAllows(&check->choice, i, i);
}

/* A world with one body for each mesh; its user data is its number, which is its place in the list of files. */
static pnResult makeWorld(pnCheck *check, const pnCheckOptions *options) {
  pnResult result = pn_makePool("check", options->threads, &check->pool);
  if (result != PN_OK) return result;
  pnWorldDef worldDef = pnDefaultWorldDef();
  worldDef.tasks = pnPool_GetTasks(check->pool);
  result = pnCreateWorld(&worldDef, &check->world);
  check->ids = malloc(check->bodyCount * sizeof(pnBodyId) + 1);
  if (result == PN_OK && !check->ids)
    result = pnFail(PN_ERROR_MEMORY, "out of memory for the ids of %u bodies", check->bodyCount);
  for (uint32_t i = 0; i < check->bodyCount && result == PN_OK; ++i) {
    pnBodyDef def = pnDefaultBodyDef();
    def.kind = PN_BODY_STATIC;
    def.mesh = check->bodies[i].mesh;
    def.self = isSelf(check, options, i);
    pn_choiceFilter(&check->choice, i, &def.category, &def.mask);
    def.tree.self = def.self;
    def.name = check->bodies[i].path;
    def.userData = &check->bodies[i];
    result = pnWorld_CreateBody(check->world, &def, &check->ids[i]);
  }
  return result;
}

/* The same on a device. */
static pnResult makeDeviceWorld(pnCheck *check, const pnCheckOptions *options) {
  pnResult result = pnCreateDeviceWorld(check->device, &check->deviceWorld);
  check->poses = calloc(check->bodyCount + 1, sizeof(pnPose *));
  if (result == PN_OK && !check->poses)
    result = pnFail(PN_ERROR_MEMORY, "out of memory for %u bodies", check->bodyCount);
  for (uint32_t i = 0; i < check->bodyCount && result == PN_OK; ++i) {
    pnPoseDef poseDef = {check->bodies[i].mesh, NULL, NULL};
    result = pnCreatePose(&poseDef, &check->poses[i]);
    if (result != PN_OK) break;
    pnDeviceBodyDef def = pnDefaultDeviceBodyDef();
    uint32_t number;
    def.pose = check->poses[i];
    def.self = isSelf(check, options, i);
    pn_choiceFilter(&check->choice, i, &def.category, &def.mask);
    result = pnDeviceWorld_AddBody(check->deviceWorld, &def, &number);
  }
  return result;
}

/* The number of a body: its place in the list. Of a device's answer the ids are just that. */
static uint32_t bodyNumber(const pnCheck *check, pnBodyId id) {
  if (check->device) return id.index1 - 1;
  const pnLoadedMesh *body = pnBody_GetUserData(check->world, id);
  return (uint32_t)(body - check->bodies);
}

/* Of what the world found, the contacts that are asked about: its filter does not know all rules. */
static pnResult keepContacts(pnCheck *check) {
  check->contacts = malloc(check->frame.contactCount * sizeof(pnContact) + 1);
  if (!check->contacts) return pnFail(PN_ERROR_MEMORY, "out of memory for %u contacts", check->frame.contactCount);
  for (uint32_t i = 0; i < check->frame.contactCount; ++i) {
    const pnContact *contact = &pnWorld_GetContacts(check->world)[i];
    if (!pn_choiceAllows(&check->choice, bodyNumber(check, contact->a), bodyNumber(check, contact->b))) continue;
    check->contacts[check->contactCount++] = *contact;
    check->pairCount += contact->pairCount;
  }
  return PN_OK;
}

static pnResult searchOnDevice(pnCheck *check, const pnCheckOptions *options) {
  pnResult result = makeDeviceWorld(check, options);
  if (result != PN_OK) return result;
  pnDeviceFrame frame = pnDeviceWorld_Collide(
      check->deviceWorld, &(pnDeviceFrameDef){.first = options->first, .maxPairs = options->maxPairs});
  if (frame.result != PN_OK) return frame.result;
  check->contacts = malloc(frame.contactCount * sizeof(pnContact) + 1);
  if (!check->contacts) return pnFail(PN_ERROR_MEMORY, "out of memory for %u contacts", frame.contactCount);
  check->frame.pairCount = frame.pairCount;
  check->frame.limited = frame.limited;
  for (uint32_t i = 0; i < frame.contactCount; ++i) {
    const pnDeviceContact *found = &pnDeviceWorld_GetContacts(check->deviceWorld)[i];
    if (!pn_choiceAllows(&check->choice, found->a, found->b)) continue;
    check->contacts[check->contactCount++] = (pnContact){
        .a = {found->a + 1, 0}, .b = {found->b + 1, 0}, .firstPair = found->firstPair, .pairCount = found->pairCount};
    check->pairCount += found->pairCount;
  }
  return PN_OK;
}

/* The boxes of all bodies; null when out of memory. */
static pnNearBox *makeBoxes(const pnCheck *check) {
  pnNearBox *boxes = malloc(check->bodyCount * sizeof(pnNearBox) + 1);
  for (uint32_t i = 0; i < check->bodyCount && boxes; ++i)
    boxes[i] = pn_nearBox(check->bodies[i].mesh, check->bodies[i].info.box);
  return boxes;
}

static pnResult measure(pnCheck *check) {
  pnNearBox *boxes = makeBoxes(check);
  if (!boxes) return pnFail(PN_ERROR_MEMORY, "out of memory for the boxes of %u bodies", check->bodyCount);
  pnMeasureDef def = {check->world, check->ids, boxes, check->bodyCount, &check->choice, MOST_DISTANCES};
  pnResult result = pn_measureBodies(&def, &check->distances);
  free(boxes);
  return result;
}

static pnResult search(pnCheck *check, const pnCheckOptions *options) {
  double start = pnGetTime();
  pn_beginProgress("searching");
  pnResult result = pn_openDevice("check", options->device, &check->device);
  if (result == PN_OK && check->device) {
    result = searchOnDevice(check, options);
    pn_endProgress();
    check->searchSeconds = pnGetTime() - start;
    return result;
  }
  if (result == PN_OK) result = makeWorld(check, options);
  if (result == PN_OK) {
    pnFrameDef def = {
        .first = options->first, .maxPairs = options->maxPairs, .maxBodyPairs = pn_mostClose(options->maxPairs)};
    check->frame = pnWorld_Collide(check->world, &def);
    result = check->frame.result;
  }
  if (result == PN_OK) result = keepContacts(check);
  if (result == PN_OK && options->distance) result = measure(check);
  pn_endProgress();
  check->searchSeconds = pnGetTime() - start;
  return result;
}

/* ---------------------------------------------------------------- answering */

static pnResult writePairs(const pnCheck *check, const char *path) {
  pnOutFile *out;
  pnResult result = pnOpenOutFile(path, &out);
  if (result != PN_OK) return result;
  pnOutFile_Print(out, "a,triangle_a,b,triangle_b\n");
  const pnPair *pairs = check->device ? pnDeviceWorld_GetPairs(check->deviceWorld) : pnWorld_GetPairs(check->world);
  for (uint32_t i = 0; i < check->contactCount; ++i) {
    const pnContact *contact = &check->contacts[i];
    uint32_t a = bodyNumber(check, contact->a), b = bodyNumber(check, contact->b);
    for (size_t k = contact->firstPair; k < contact->firstPair + contact->pairCount; ++k)
      pnOutFile_Print(out, "%u,%u,%u,%u\n", a, pairs[k].a, b, pairs[k].b);
  }
  return pnCloseOutFile(out, true);
}

static bool printAnswerJson(const pnCheck *check, const pnCheckOptions *options) {
  json_t *bodies = json_array(), *collisions = json_array();
  for (uint32_t i = 0; i < check->bodyCount; ++i) {
    const pnLoadedMesh *body = &check->bodies[i];
    json_array_append_new(
        bodies, json_pack("{s:I, s:o, s:o, s:I, s:I, s:b}", "id", (json_int_t)i, "name", pn_jsonText(body->name),
                          "file", pn_jsonText(body->path), "vertices", (json_int_t)pnMesh_GetVertexCount(body->mesh),
                          "triangles", (json_int_t)pnMesh_GetTriangleCount(body->mesh), "closed", body->info.closed));
  }
  for (uint32_t i = 0; i < check->contactCount; ++i) {
    const pnContact *contact = &check->contacts[i];
    json_array_append_new(
        collisions, json_pack("{s:I, s:I, s:I}", "a", (json_int_t)bodyNumber(check, contact->a), "b",
                              (json_int_t)bodyNumber(check, contact->b), "pairs", (json_int_t)contact->pairCount));
  }
  json_t *answer = json_pack("{s:s, s:o, s:o, s:I}", "pinch", pnGetVersion(), "bodies", bodies, "collisions",
                             collisions, "pairs_total", (json_int_t)check->pairCount);
  if (check->frame.limited) json_object_set_new(answer, "limited", json_true());
  if (options->distance) json_object_set_new(answer, "distances", pn_jsonDistances(&check->distances));
  if (check->distances.limited) json_object_set_new(answer, "distances_limited", json_true());
  return pn_printJson(answer);
}

/* The rows of a table with `count` of them, and under it what is left out. */
static uint32_t rowsOf(uint32_t count) {
  return count < MOST_ROWS ? count : MOST_ROWS;
}

static bool endTable(pnTable *table, uint32_t count) {
  bool good = pn_printTable(table);
  pn_freeTable(table);
  if (rowsOf(count) < count) printf("  and %u more; --json has all\n", count - rowsOf(count));
  return good;
}

static bool printBodies(const pnCheck *check) {
  pnTable table = {0};
  pn_addColumn(&table, ">body");
  pn_addColumn(&table, "file");
  // In glTF a file is not yet a body.
  bool many = false;
  for (uint32_t i = 1; i < check->bodyCount; ++i) many |= check->bodies[i].path == check->bodies[i - 1].path;
  if (many) pn_addColumn(&table, "name");
  pn_addColumn(&table, ">vertices");
  pn_addColumn(&table, ">triangles");
  pn_addColumn(&table, "closed");
  for (uint32_t i = 0; i < rowsOf(check->bodyCount); ++i) {
    pn_addCell(&table, "%u", i);
    pn_addCell(&table, "%s", check->bodies[i].path);
    if (many) pn_addCell(&table, "%s", check->bodies[i].name);
    pn_addCell(&table, "%u", pnMesh_GetVertexCount(check->bodies[i].mesh));
    pn_addCell(&table, "%u", pnMesh_GetTriangleCount(check->bodies[i].mesh));
    pn_addCell(&table, "%s", pn_closedWord(&check->bodies[i].info, pnMesh_GetTriangleCount(check->bodies[i].mesh)));
  }
  return endTable(&table, check->bodyCount);
}

static bool printContacts(const pnCheck *check) {
  pnTable table = {0};
  pn_addColumn(&table, ">a");
  pn_addColumn(&table, ">b");
  pn_addColumn(&table, ">pairs");
  pn_addColumn(&table, "between");
  for (uint32_t i = 0; i < rowsOf(check->contactCount); ++i) {
    const pnContact *contact = &check->contacts[i];
    uint32_t a = bodyNumber(check, contact->a), b = bodyNumber(check, contact->b);
    pn_addCell(&table, "%u", a);
    pn_addCell(&table, "%u", b);
    pn_addCell(&table, "%zu", contact->pairCount);
    if (a == b) pn_addCell(&table, "%s and itself", check->bodies[a].name);
    else pn_addCell(&table, "%s and %s", check->bodies[a].name, check->bodies[b].name);
  }
  return endTable(&table, check->contactCount);
}

/* Is box a within box b? Then the body may be inside the other, and surfaces do not tell. */
static bool isWithin(const pnNearBox *a, const pnNearBox *b) {
  bool within = true;
  for (int k = 0; k < 3; ++k) within = within && a->lo[k] >= b->lo[k] && a->hi[k] <= b->hi[k];
  return within;
}

/* Two bodies of which one may be wholly inside the other, of those that are asked about; false when there are none. */
static bool findInside(const pnCheck *check, uint32_t *outInner, uint32_t *outOuter) {
  pnNearPairs near = {0};
  pnNearBox *boxes = makeBoxes(check);
  bool there = false;
  // It is only a note: without memory there is none, and of very many pairs some are looked at.
  if (boxes) pn_findNearBoxes(boxes, check->bodyCount, 0, &check->choice, MOST_NOTED, &near);
  for (size_t i = 0; i < near.count && !there; ++i) {
    for (int k = 0; k < 2 && !there; ++k) {
      uint32_t inner = k ? near.items[i].b : near.items[i].a, outer = k ? near.items[i].a : near.items[i].b;
      there = check->bodies[outer].info.closed && isWithin(&boxes[inner], &boxes[outer]);
      *outInner = inner;
      *outOuter = outer;
    }
  }
  pn_freeNearBoxes(&near);
  free(boxes);
  return there;
}

static void printNext(const pnCheck *check, const pnCheckOptions *options) {
  uint32_t inner, outer;
  // "No two triangles meet" is true of a file without any, and hardly what was asked.
  for (uint32_t i = 0; i < check->bodyCount; ++i)
    if (pnMesh_GetTriangleCount(check->bodies[i].mesh) == 0)
      printf("Note: %s has no triangles.\n", check->bodies[i].path);
  if (check->frame.limited)
    printf(
        "Note: there are more pairs of triangles, or of close bodies, and some that are not listed may meet;\n"
        "--max-pairs 0 looks for all.\n");
  if (options->distance && check->bodyCount < 2)
    printf("Note: --distance measures between bodies, and there is one.\n");
  if (options->pairs) printf("The pairs are in %s.\n", options->pairs);
  else if (check->frame.pairCount > 0) printf("Next: --pairs OUT.csv lists the triangles.\n");
  else if (check->bodyCount > 1 && !options->self) printf("Next: --self also asks each body about itself.\n");
  if (check->pairCount == 0 && check->bodyCount > 1 && findInside(check, &inner, &outer))
    printf("Note: %s may be wholly inside %s; surfaces that do not touch are no collision.\n",
           check->bodies[inner].name, check->bodies[outer].name);
}

static bool printAnswer(const pnCheck *check, const pnCheckOptions *options) {
  bool good = printBodies(check);
  putchar('\n');
  good = pn_printDistances(&check->distances, check->bodies) && good;
  size_t pairs = check->pairCount;
  if (pairs > 0) {
    good = printContacts(check) && good;
    printf("\n%s%zu pair%s of triangles meet%s", options->first || check->frame.limited ? "At least " : "", pairs,
           pn_plural(pairs), pairs == 1 ? "s" : "");
  } else if (check->bodyCount == 1) {
    printf("No two triangles meet: the surface does not intersect itself");
  } else {
    printf("No two triangles meet%s", check->frame.limited ? " of those that were looked at" : "");
  }
  printf(" (read %.3f s, searched %.3f s).\n", check->loadSeconds, check->searchSeconds);
  printNext(check, options);
  return good;
}

/* ---------------------------------------------------------------- the command */

static int run(int count, char **paths, const pnCheckOptions *options) {
  pnCheck check = {0};
  pnResult result = loadBodies(&check, count, paths, options);
  if (result == PN_OK) result = search(&check, options);
  if (result == PN_OK && options->pairs) result = writePairs(&check, options->pairs);
  if (result != PN_OK) pn_sayFailure("check");
  bool good = result == PN_OK;
  if (good && options->json) good = printAnswerJson(&check, options);
  else if (good && !pn_isQuiet() && !(options->pairs && strcmp(options->pairs, "-") == 0))
    good = printAnswer(&check, options);
  if (good) good = pn_finishOutput("check");
  // "Nothing meets" is no answer when not all was looked at.
  bool lacks = good && check.frame.limited && check.pairCount == 0;
  if (lacks) fputs("pinch check: nothing was found, but not all was looked at: --max-pairs 0 looks at all\n", stderr);
  int status = !good || lacks ? PN_EXIT_ERROR : check.pairCount > 0 ? PN_EXIT_COLLISION : PN_EXIT_CLEAN;

  pnDestroyDeviceWorld(check.deviceWorld);
  for (uint32_t i = 0; i < check.bodyCount && check.poses; ++i) pnDestroyPose(check.poses[i]);
  free(check.poses);
  pnDestroyDevice(check.device);
  if (check.world) pnDestroyWorld(check.world);
  if (check.pool) pnDestroyPool(check.pool);
  free(check.contacts);
  free(check.ids);
  pn_freeDistances(&check.distances);
  pn_freeChoice(&check.choice);
  pn_freeLoadedList(&check.list);
  return status;
}

/* What goes with --to and what does not; false after saying so. */
static bool allowsStep(const pnUsage *usage, int count, char **paths, const pnCheckOptions *options) {
  if (options->to.count == 0) {
    if (options->impacts) pn_sayWrong(usage, "--impacts goes with --to");
    return !options->impacts;
  }
  const char *without = options->distance                              ? "distance"
                        : options->pairs                               ? "pairs"
                        : options->only.count > 0                      ? "only"
                        : options->ignored.count > 0                   ? "ignore"
                        : options->moment.animation                    ? "animation"
                        : options->moment.time == options->moment.time ? "time"
                                                                       : NULL;
  if (without) pn_sayWrong(usage, "--%s does not go with --to", without);
  else if (options->device && strcmp(options->device, "cpu") != 0)
    pn_sayWrong(usage, "--device does not go with --to: the way between two states is searched by the processor");
  else if ((uint32_t)count != options->to.count)
    pn_sayWrong(usage, "--to has %u file%s for %d; each file needs the one it moves to", options->to.count,
                pn_plural(options->to.count), count);
  else
    return pn_checkOutput(usage, "impacts", options->impacts, count, paths) &&
           pn_checkOutput(usage, "impacts", options->impacts, (int)options->to.count, (char **)options->to.items);
  return false;
}

int pn_cmdCheck(int argc, char **argv) {
  pnCheckOptions options = {.moment = PN_MOMENT_REST, .maxPairs = UINT32_MAX};
  const pnOption table[] = {
      {"self", PN_OPTION_FLAG, NULL,
       "with several files: also each body with itself\n(a single file is always asked about itself)", &options.self},
      {"first", PN_OPTION_FLAG, NULL, "one pair of triangles for each pair of bodies is enough: faster",
       &options.first},
      {"distance", PN_OPTION_FLAG, NULL,
       "how far each two bodies are apart, and between which points;\nthe 100000 closest pairs where there are more",
       &options.distance},
      {"json", PN_OPTION_FLAG, NULL, "one JSON object instead of tables", &options.json},
      {"pairs", PN_OPTION_TEXT, "OUT.csv",
       "write every pair: a,triangle_a,b,triangle_b, counted from 0,\nin the order of the files", &options.pairs},
      {"max-pairs", PN_OPTION_COUNT, "N",
       "stop when more pairs of triangles than this are found\n(default: 1000000; with --to, where impacts are "
       "counted, none; 0: no "
       "limit)",
       &options.maxPairs},
      {"threads", PN_OPTION_COUNT, "N",
       "how many threads work (default: one for each core);\nthe answer does not depend on it", &options.threads},
      PN_DEVICE_OPTION(&options.device),
      {"animation", PN_OPTION_TEXT, "NAME", "of glTF files: which animation (default: the rest pose)",
       &options.moment.animation},
      {"time", PN_OPTION_NUMBER, "T", "of glTF files: at which second (default: the animation's first)",
       &options.moment.time},
      {"only", PN_OPTION_LIST, "A,B",
       "only these two bodies, by name, number or pattern; A,A: A with\nitself; A: A with everything; several times, "
       "too",
       &options.only},
      {"ignore", PN_OPTION_LIST, "A,B", "not these two bodies; several times, too", &options.ignored},
      {"to", PN_OPTION_FILES, "FILE...",
       "the same meshes after a step, one for each file: what meets on\nthe way there? Vertices move on straight lines",
       &options.to},
      {"impacts", PN_OPTION_TEXT, "OUT.csv",
       "with --to: write every vertex with a face and edge with an edge\nthat meet: kind,a,feature_a,b,feature_b,lo,hi",
       &options.impacts},
      {"no-weld", PN_OPTION_FLAG, NULL,
       "vertices at the same place stay different ones, so that triangles\nwhich only share a place count as touching",
       &options.noWeld},
  };
  const pnUsage usage = {
      .command = "check",
      .synopsis = "FILE... [options]",
      .about =
          "Which triangles meet? One body a file (OBJ, PLY, STL, OFF), or each mesh of a glTF file, at rest or at a\n"
          "moment of an animation. Bodies are checked against one another; a single one against itself. \"-\" is\n"
          "standard input.\n"
          "The answer is exact. Touching counts. Triangles of one body that share a vertex or an edge count only\n"
          "when they meet in more than that; vertices at the same place are one vertex for this.\n"
          "Surfaces are asked, not volumes: a body wholly inside another does not touch it.\n"
          "With --to the question is what meets on the way from one state to another.\n"
          "Exit status: 0 no collision, 1 collisions, 2 error.\n",
      .options = table,
      .optionCount = sizeof(table) / sizeof(table[0]),
      .examples =
          "  pinch check knot.ply ball.obj              do these two meet, and in how many places?\n"
          "  pinch check shirt.obj                      does it intersect itself?\n"
          "  pinch check body.stl cloth.ply --self --pairs pairs.csv\n"
          "                                             every pair of triangles, for another program\n"
          "  pinch check hero.glb --animation walk --time 1.5\n"
          "                                             one moment of an animation; all of it: pinch scan\n"
          "  pinch check hull.stl *_part.stl --distance  how close do they come?\n"
          "  pinch check cloth0.ply --to cloth1.ply     what passes through what between two states, and when\n"
          "  pinch check part*.stl --first && echo fits  the first pair of each is enough for yes or no\n",
  };
  pnArgs args = pn_parseArgs(&usage, &argc, argv);
  if (args == PN_ARGS_RUN && argc == 0) {
    pn_sayWrong(&usage, "no file given");
    args = PN_ARGS_WRONG;
  }
  if (args == PN_ARGS_RUN && !pn_checkOutput(&usage, "pairs", options.pairs, argc, argv)) args = PN_ARGS_WRONG;
  if (args == PN_ARGS_RUN && options.distance && options.device && strcmp(options.device, "cpu") != 0) {
    pn_sayWrong(&usage, "--device does not go with --distance: the processor measures");
    args = PN_ARGS_WRONG;
  }
  if (args == PN_ARGS_RUN && !allowsStep(&usage, argc, argv, &options)) args = PN_ARGS_WRONG;
  if (args != PN_ARGS_RUN) return args == PN_ARGS_HELP ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
  if (options.to.count > 0) {
    pnSweptOptions swept = {options.self,
                            options.json,
                            options.noWeld,
                            options.first,
                            options.impacts,
                            options.threads,
                            options.maxPairs == UINT32_MAX ? 0 : options.maxPairs};
    return pn_checkSwept(argc, argv, &options.to, &swept);
  }
  // Whoever asks for no number gets one that fits into memory.
  if (options.maxPairs == UINT32_MAX) options.maxPairs = PN_DEFAULT_MAX_PAIRS;
  return run(argc, argv, &options);
}
