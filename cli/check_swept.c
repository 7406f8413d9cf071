/* check_swept.c: `pinch check A... --to A2...`: the same bodies before and after a step. Every vertex moves on a straight line from one
 * state to the other; which vertices pass through which faces and which edges through which edges, and when first, is the
 * library's exact answer (pnCollideSwept). Coordinates are doubles where a file has doubles. */
#include "check_swept.h"

#include "command.h"
#include "load.h"
#include "near_boxes.h"
#include "out.h"
#include "pool.h"

#include "pinch/collide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One body on its way. */
typedef struct pnMover {
  const char *from, *to; /* its files */
  char *name;
  uint32_t vertexCount, triangleCount;
  pnMesh *mesh;
  pnSweep *sweep;
  pnNearBox box; /* around all of its way */
} pnMover;

/* What two bodies (or one with itself) do to each other in the step. */
typedef struct pnPassage {
  uint32_t a, b;
  uint64_t vertexFace, edgeEdge;
  bool limited; /* there are more than --max-pairs: not counted */
  pnImpactSpan earliest;
} pnPassage;

typedef struct pnSweptCheck {
  pnMover *movers;
  uint32_t count;
  pnPassage *passages;
  uint32_t passageCount;
  uint64_t vertexFace, edgeEdge;
  bool limited;
  pnImpactSpan earliest;
  pnPool *pool;
  pnImpactList *list;
  pnOutFile *table;
  double loadSeconds, searchSeconds;
} pnSweptCheck;

/* ---------------------------------------------------------------- reading */

/* A step is of one body: the second file must have the triangles of the first. */
static pnResult compareFiles(const char *from, const pnMeshFile *a, const char *to, const pnMeshFile *b) {
  if (a->vertexCount != b->vertexCount || a->triangleCount != b->triangleCount)
    return pnFail(PN_ERROR_COUNT,
                  "%s has %u vertices and %u triangles, %s has %u and %u; --to takes the same mesh, moved", from,
                  a->vertexCount, a->triangleCount, to, b->vertexCount, b->triangleCount);
  for (size_t i = 0; i < 3 * (size_t)a->triangleCount; ++i) {
    if (a->triangles[i] != b->triangles[i])
      return pnFail(PN_ERROR_INDEX, "%s: triangle %zu has other corners than in %s; --to takes the same mesh, moved",
                    to, i / 3, from);
  }
  return PN_OK;
}

static double coordinate(const pnMeshFile *file, size_t i) {
  return file->doubles ? file->doubles[i] : (double)file->vertices[i];
}

/* Vertices move on straight lines: they stay in the box of both states. */
static pnNearBox boxOfStep(const pnMeshFile *a, const pnMeshFile *b) {
  pnNearBox box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (size_t i = 0; i < 3 * (size_t)a->vertexCount; ++i) {
    double x = coordinate(a, i), y = coordinate(b, i);
    box.lo[i % 3] = fmin(box.lo[i % 3], fmin(x, y));
    box.hi[i % 3] = fmax(box.hi[i % 3], fmax(x, y));
  }
  return box;
}

/* Both states as doubles. */
static pnResult setDoubles(pnMover *mover, const pnMeshFile *a, const pnMeshFile *b) {
  size_t count = 3 * (size_t)a->vertexCount;
  double *begin = malloc(count * sizeof(double) + 1), *end = malloc(count * sizeof(double) + 1);
  pnResult result = begin && end ? PN_OK : pnFail(PN_ERROR_MEMORY, "out of memory for %u vertices", a->vertexCount);
  for (size_t i = 0; i < count && result == PN_OK; ++i) {
    begin[i] = coordinate(a, i);
    end[i] = coordinate(b, i);
  }
  if (result == PN_OK) result = pnSweep_SetStep(mover->sweep, begin, end, a->vertexCount);
  free(begin);
  free(end);
  return result;
}

/* Both states as floats, through a pose. */
static pnResult setFloats(pnMover *mover, const pnMeshFile *a, const pnMeshFile *b) {
  pnPoseDef def = pnDefaultPoseDef();
  def.mesh = mover->mesh;
  pnPose *pose = NULL;
  pnResult result = pnCreatePose(&def, &pose);
  if (result == PN_OK) result = pnPose_SetVertices(pose, a->vertices, a->vertexCount);
  if (result == PN_OK) result = pnSweep_SetBegin(mover->sweep, pose);
  if (result == PN_OK) result = pnPose_SetVertices(pose, b->vertices, b->vertexCount);
  if (result == PN_OK) result = pnSweep_SetEnd(mover->sweep, pose);
  if (pose) pnDestroyPose(pose);
  return result;
}

static pnResult makeMover(pnMover *mover, const pnMeshFile *a, const pnMeshFile *b, bool weld) {
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = a->vertices;
  def.vertexCount = a->vertexCount;
  def.triangles = a->triangles;
  def.triangleCount = a->triangleCount;
  def.weld = weld;
  def.name = mover->from;
  mover->vertexCount = a->vertexCount;
  mover->triangleCount = a->triangleCount;
  mover->name = strdup(a->name);
  pnResult result =
      mover->name ? pnCreateMesh(&def, &mover->mesh) : pnFail(PN_ERROR_MEMORY, "out of memory for a name");
  if (result == PN_OK) result = pnCreateSweep(mover->mesh, &mover->sweep);
  if (result != PN_OK) return result;
  mover->box = boxOfStep(a, b);
  return a->doubles || b->doubles ? setDoubles(mover, a, b) : setFloats(mover, a, b);
}

static pnResult loadMover(pnMover *mover, bool weld) {
  pnMeshFile a = {0}, b = {0};
  pnResult result = PN_OK;
  const char *paths[] = {mover->from, mover->to};
  for (int k = 0; k < 2 && result == PN_OK; ++k) {
    result = pn_refuseForeign(paths[k]);
    if (result == PN_OK && (pn_isInput(paths[k]) || pn_isAnimFile(paths[k])))
      result = pnFail(PN_ERROR_UNSUPPORTED, "%s: --to takes mesh files (OBJ, PLY, STL, OFF)", paths[k]);
  }
  if (result == PN_OK) result = pnLoadMeshFile(mover->from, &a);
  if (result == PN_OK) result = pnLoadMeshFile(mover->to, &b);
  if (result == PN_OK) result = compareFiles(mover->from, &a, mover->to, &b);
  if (result == PN_OK) result = makeMover(mover, &a, &b, weld);
  pnFreeMeshFile(&a);
  pnFreeMeshFile(&b);
  return result;
}

static pnResult loadMovers(pnSweptCheck *check, char **from, const pnWords *to, bool weld) {
  double start = pnGetTime();
  pn_beginProgress("reading");
  pnResult result = PN_OK;
  for (uint32_t i = 0; i < check->count && result == PN_OK; ++i) {
    pn_stepProgress(i, check->count);
    check->movers[i].from = from[i];
    check->movers[i].to = to->items[i];
    result = loadMover(&check->movers[i], weld);
  }
  pn_endProgress();
  check->loadSeconds = pnGetTime() - start;
  return result;
}

/* ---------------------------------------------------------------- searching */

static bool isEarlier(pnImpactSpan a, pnImpactSpan b) {
  return a.meets && (!b.meets || a.lo < b.lo);
}

/* A vertex or triangle by its number, an edge by its two vertices. */
static void printFeature(pnOutFile *out, const pnMover *mover, bool edge, uint32_t feature) {
  const uint32_t *edges = pnSweep_GetEdges(mover->sweep);
  if (edge) pnOutFile_Print(out, "%u-%u", edges[2 * (size_t)feature], edges[2 * (size_t)feature + 1]);
  else pnOutFile_Print(out, "%u", feature);
}

static void writeImpacts(const pnSweptCheck *check, uint32_t a, uint32_t b) {
  static const char *const kinds[] = {"vertex_face", "face_vertex", "edge_edge", "face_face"};
  const pnFeatureImpact *impacts = pnImpactList_GetImpacts(check->list);
  for (size_t i = 0; i < pnImpactList_GetCount(check->list); ++i) {
    bool edge = impacts[i].kind == PN_EDGE_WITH_EDGE;
    pnOutFile_Print(check->table, "%s,%u,", kinds[impacts[i].kind], a);
    printFeature(check->table, &check->movers[a], edge, impacts[i].a);
    pnOutFile_Print(check->table, ",%u,", b);
    printFeature(check->table, &check->movers[b], edge, impacts[i].b);
    pnOutFile_Print(check->table, ",%.17g,%.17g\n", impacts[i].lo, impacts[i].hi);
  }
}

static pnResult searchPair(pnSweptCheck *check, uint32_t a, uint32_t b, const pnSweptOptions *options) {
  pnSweptDef def = pnDefaultSweptDef();
  def.tasks = pnPool_GetTasks(check->pool);
  def.what = options->first ? PN_SWEPT_EARLIEST : PN_SWEPT_ALL;
  def.maxImpacts = options->maxImpacts;
  pnSweep *first = check->movers[a].sweep, *second = a == b ? NULL : check->movers[b].sweep;
  pnResult result = pnCollideSwept(first, second, &def, check->list, NULL);
  // Too many to list are not too many to find the first.
  bool limited = result == PN_OK && pnImpactList_IsLimited(check->list);
  def.what = PN_SWEPT_EARLIEST;
  if (limited) result = pnCollideSwept(first, second, &def, check->list, NULL);
  if (result != PN_OK) return result;
  pnPassage *passage = &check->passages[check->passageCount];
  *passage = (pnPassage){.a = a, .b = b, .limited = limited, .earliest = pnImpactList_GetEarliest(check->list)};
  const pnFeatureImpact *impacts = pnImpactList_GetImpacts(check->list);
  for (size_t i = 0; i < pnImpactList_GetCount(check->list) && !limited; ++i) {
    bool edge = impacts[i].kind == PN_EDGE_WITH_EDGE;
    passage->edgeEdge += edge;
    passage->vertexFace += !edge;
  }
  check->passageCount += passage->earliest.meets;
  check->vertexFace += passage->vertexFace;
  check->edgeEdge += passage->edgeEdge;
  check->limited |= limited;
  if (isEarlier(passage->earliest, check->earliest)) check->earliest = passage->earliest;
  if (check->table && !limited) writeImpacts(check, a, b);
  return PN_OK;
}

/* Each body with itself, where that is asked, and with those after it whose ways come near its own. */
static pnResult searchAll(pnSweptCheck *check, const pnSweptOptions *options, const pnNearPairs *near) {
  size_t most = near->count + check->count, done = 0, next = 0;
  pnResult result = PN_OK;
  check->passages = malloc(most * sizeof(pnPassage) + 1);
  if (!check->passages) return pnFail(PN_ERROR_MEMORY, "out of memory for %u bodies", check->count);
  for (uint32_t a = 0; a < check->count && result == PN_OK; ++a, ++done) {
    if (options->self || check->count == 1) result = searchPair(check, a, a, options);
    for (; next < near->count && near->items[next].a == a && result == PN_OK; ++next, ++done) {
      pn_stepProgress((uint32_t)done, (uint32_t)most);
      result = searchPair(check, a, near->items[next].b, options);
    }
  }
  return result;
}

static pnResult findNear(const pnSweptCheck *check, pnNearPairs *out) {
  pnNearBox *boxes = malloc(check->count * sizeof(pnNearBox) + 1);
  if (!boxes) return pnFail(PN_ERROR_MEMORY, "out of memory for %u bodies", check->count);
  for (uint32_t i = 0; i < check->count; ++i) boxes[i] = check->movers[i].box;
  pnResult result = pn_findNearBoxes(boxes, check->count, 0, NULL, SIZE_MAX, out);
  free(boxes);
  return result;
}

static pnResult search(pnSweptCheck *check, const pnSweptOptions *options) {
  double start = pnGetTime();
  pnNearPairs near = {0};
  pnResult result = pn_makePool("check", options->threads, &check->pool);
  if (result == PN_OK) result = pnCreateImpactList(&check->list);
  if (result == PN_OK && options->impacts) result = pnOpenOutFile(options->impacts, &check->table);
  if (result == PN_OK && check->table) pnOutFile_Print(check->table, "kind,a,feature_a,b,feature_b,lo,hi\n");
  pn_beginProgress("searching");
  if (result == PN_OK) result = findNear(check, &near);
  if (result == PN_OK) result = searchAll(check, options, &near);
  pn_endProgress();
  pn_freeNearBoxes(&near);
  if (check->table) {
    pnResult closed = pnCloseOutFile(check->table, result == PN_OK);
    result = result == PN_OK ? closed : result;
  }
  check->searchSeconds = pnGetTime() - start;
  return result;
}

/* ---------------------------------------------------------------- answering */

static json_t *impactsJson(uint64_t vertexFace, uint64_t edgeEdge, pnImpactSpan earliest, bool counted) {
  json_t *out = json_object();
  if (counted) {
    json_object_set_new(out, "vertex_face", json_integer((json_int_t)vertexFace));
    json_object_set_new(out, "edge_edge", json_integer((json_int_t)edgeEdge));
  }
  // Numbers are printed with nine digits; a time that is never late must not be rounded up.
  json_object_set_new(out, "earliest", earliest.meets ? json_real(earliest.lo * (1 - 2e-9)) : json_null());
  return out;
}

static bool printJson(const pnSweptCheck *check, const pnSweptOptions *options) {
  json_t *bodies = json_array(), *pairs = json_array();
  for (uint32_t i = 0; i < check->count; ++i) {
    const pnMover *mover = &check->movers[i];
    json_array_append_new(
        bodies, json_pack("{s:I, s:o, s:o, s:o, s:I, s:I}", "id", (json_int_t)i, "name", pn_jsonText(mover->name),
                          "file", pn_jsonText(mover->from), "to", pn_jsonText(mover->to), "vertices",
                          (json_int_t)mover->vertexCount, "triangles", (json_int_t)mover->triangleCount));
  }
  for (uint32_t i = 0; i < check->passageCount; ++i) {
    const pnPassage *p = &check->passages[i];
    json_t *pair = impactsJson(p->vertexFace, p->edgeEdge, p->earliest, !options->first && !p->limited);
    if (p->limited) json_object_set_new(pair, "limited", json_true());
    json_object_set_new(pair, "a", json_integer(p->a));
    json_object_set_new(pair, "b", json_integer(p->b));
    json_array_append_new(pairs, pair);
  }
  json_t *impacts =
      impactsJson(check->vertexFace, check->edgeEdge, check->earliest, !options->first && !check->limited);
  if (check->limited) json_object_set_new(impacts, "limited", json_true());
  return pn_printJson(
      json_pack("{s:s, s:o, s:o, s:o}", "pinch", pnGetVersion(), "bodies", bodies, "impacts", impacts, "pairs", pairs));
}

static bool printTables(const pnSweptCheck *check, const pnSweptOptions *options) {
  static const char *const titles[] = {">a", ">b", ">vertex-face", ">edge-edge", ">first at", "between"};
  pnTable table = {0};
  for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); ++i) pn_addColumn(&table, titles[i]);
  for (uint32_t i = 0; i < check->passageCount; ++i) {
    const pnPassage *p = &check->passages[i];
    pn_addCell(&table, "%u", p->a);
    pn_addCell(&table, "%u", p->b);
    bool counted = !options->first && !p->limited;
    pn_addCell(&table, counted ? "%llu" : "-", (unsigned long long)p->vertexFace);
    pn_addCell(&table, counted ? "%llu" : "-", (unsigned long long)p->edgeEdge);
    pn_addCell(&table, "%.6f", p->earliest.lo);
    if (p->a == p->b) pn_addCell(&table, "%s and itself", check->movers[p->a].name);
    else pn_addCell(&table, "%s and %s", check->movers[p->a].name, check->movers[p->b].name);
  }
  bool good = check->passageCount == 0 || pn_printTable(&table);
  pn_freeTable(&table);
  if (check->passageCount > 0) putchar('\n');
  if (!check->earliest.meets) printf("Nothing meets on the way");
  else printf("The first contact is at t = %.9g of the step", check->earliest.lo);
  printf(" (read %.3f s, searched %.3f s).\n", check->loadSeconds, check->searchSeconds);
  printf("Vertices move on straight lines; touching counts, also at the start and at the end.\n");
  if (check->limited)
    printf("Note: where there is no number, more than %u features meet and are not listed (--max-pairs).\n",
           options->maxImpacts);
  if (options->impacts) printf("The impacts are in %s.\n", options->impacts);
  else if (check->earliest.meets && !options->first) printf("Next: --impacts OUT.csv lists them with their times.\n");
  return good;
}

static void freeCheck(pnSweptCheck *check) {
  for (uint32_t i = 0; i < check->count && check->movers; ++i) {
    if (check->movers[i].sweep) pnDestroySweep(check->movers[i].sweep);
    if (check->movers[i].mesh) pnDestroyMesh(check->movers[i].mesh);
    free(check->movers[i].name);
  }
  if (check->list) pnDestroyImpactList(check->list);
  if (check->pool) pnDestroyPool(check->pool);
  free(check->movers);
  free(check->passages);
}

int pn_checkSwept(int count, char **from, const pnWords *to, const pnSweptOptions *options) {
  pnSweptCheck check = {.count = (uint32_t)count};
  check.movers = calloc((size_t)count + 1, sizeof(pnMover));
  pnResult result = check.movers ? PN_OK : pnFail(PN_ERROR_MEMORY, "out of memory for %d bodies", count);
  if (result == PN_OK) result = loadMovers(&check, from, to, !options->noWeld);
  if (result == PN_OK) result = search(&check, options);
  if (result != PN_OK) pn_sayFailure("check");
  bool good = result == PN_OK;
  bool toOutput = options->impacts && strcmp(options->impacts, "-") == 0;
  if (good && options->json) good = printJson(&check, options);
  else if (good && !pn_isQuiet() && !toOutput) good = printTables(&check, options);
  if (good) good = pn_finishOutput("check");
  int status = !good ? PN_EXIT_ERROR : check.earliest.meets ? PN_EXIT_COLLISION : PN_EXIT_CLEAN;
  freeCheck(&check);
  return status;
}
