/* inside.c: `pinch inside A --points FILE`: which points lie inside a closed mesh, one 0 or 1 a line. */
#include "args.h"
#include "command.h"
#include "load.h"
#include "out.h"
#include "pool.h"

#include "pinch/volume.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct pnInsideOptions {
  const char *pointsPath, *body;
  pnMoment moment;
  uint32_t resolution, threads;
  bool json, parity;
} pnInsideOptions;

typedef struct pnPoints {
  float *data; /* 3 a point */
  uint32_t count;
  bool isAnimated; /* they come from a file with an animation */
} pnPoints;

/* ---------------------------------------------------------------- points */

static bool hasMeshExtension(const char *path) {
  static const char *const extensions[] = {".obj", ".ply", ".stl", ".off", ".gltf", ".glb"};
  const char *dot = strrchr(path, '.');
  for (size_t i = 0; dot && i < sizeof(extensions) / sizeof(extensions[0]); ++i)
    if (strcasecmp(dot, extensions[i]) == 0) return true;
  return false;
}

/* The vertices of a mesh file, or of all bodies of a glTF file. */
static bool loadMeshPoints(const char *path, pnMoment moment, pnPoints *points) {
  pnLoadedList list = {0};
  if (pn_loadBodies(path, false, moment, &list) != PN_OK) {
    pn_sayFailure("inside");
    pn_freeLoadedList(&list);
    return false;
  }
  points->isAnimated = list.isAnimated;
  size_t count = 0;
  for (uint32_t b = 0; b < list.count; ++b) count += pnMesh_GetVertexCount(list.items[b].mesh);
  points->data = malloc(sizeof(float) * 3 * count + 1);
  for (uint32_t b = 0; b < list.count && points->data; ++b) {
    uint32_t own = pnMesh_GetVertexCount(list.items[b].mesh);
    const float *from = pnMesh_GetVertices(list.items[b].mesh);
    if (own > 0) memcpy(points->data + 3 * (size_t)points->count, from, sizeof(float) * 3 * own);
    points->count += own;
  }
  if (!points->data) fprintf(stderr, "pinch inside: out of memory for %zu points\n", count);
  pn_freeLoadedList(&list);
  return points->data != NULL;
}

#define PN_SEPARATORS " \t\r\n,;"

/* Three numbers from a line, separated by blanks, commas or semicolons; what follows them does not matter. 0 numbers: an empty
 * line; -1: a word that is no number, or one that floats cannot hold. */
static int parseLine(const char *text, float out[3]) {
  int count = 0;
  while (count < 3) {
    text += strspn(text, PN_SEPARATORS);
    if (*text == 0 || *text == '#') return count;
    char *end;
    double number = strtod(text, &end);
    if (end == text || (*end && !strchr(PN_SEPARATORS, *end)) || !isfinite((float)number)) return -1;
    out[count++] = (float)number;
    text = end;
  }
  return count;
}

static void sayWrongLine(const char *path, uint32_t number, char *line) {
  line[strcspn(line, "\r\n")] = 0;
  if (strlen(line) > 60) line[60] = 0;
  fprintf(stderr, "pinch inside: %s: line %u: expected three numbers, found '", path, number);
  pn_printPlain(stderr, line);
  fprintf(stderr, "'\n");
}

static bool addPoint(pnPoints *points, size_t *capacity, const float point[3]) {
  if (points->count == *capacity) {
    size_t grown = *capacity ? 2 * *capacity : 1024;
    float *data = points->count < UINT32_MAX / 2 ? realloc(points->data, sizeof(float) * 3 * grown) : NULL;
    if (!data) {
      fprintf(stderr, "pinch inside: out of memory for %zu points\n", grown);
      return false;
    }
    points->data = data;
    *capacity = grown;
  }
  memcpy(points->data + 3 * (size_t)points->count++, point, 3 * sizeof(float));
  return true;
}

/* Text, one point a line, however long the line. */
static bool loadTextPoints(const char *path, pnPoints *points) {
  FILE *file = fopen(path, "r");
  if (!file) {
    fprintf(stderr, "pinch inside: %s: cannot be opened: %s\n", path, strerror(errno));
    return false;
  }
  char *line = NULL;
  size_t lineCapacity = 0, capacity = 0;
  bool good = true;
  errno = 0;
  for (uint32_t number = 1; good && getline(&line, &lineCapacity, file) >= 0; ++number) {
    float point[3];
    int found = parseLine(line, point);
    if (found == 3) good = addPoint(points, &capacity, point);
    else if (found != 0) {
      sayWrongLine(path, number, line);
      good = false;
    }
  }
  // getline ends with an error of the file, for want of memory, or at the end of the file.
  if (good && !feof(file)) {
    fprintf(stderr, "pinch inside: %s: cannot be read: %s\n", path, strerror(errno));
    good = false;
  }
  free(line);
  fclose(file);
  return good;
}

/* ---------------------------------------------------------------- the run */

static json_t *resultJson(const pnLoadedMesh *loaded, const pnPoints *points, const uint8_t *inside,
                          const pnInsideResult *result, uint32_t resolution) {
  json_t *answers = json_array();
  for (uint32_t i = 0; i < points->count; ++i) json_array_append_new(answers, json_integer(inside[i]));
  return json_pack("{s:s, s:o, s:I, s:I, s:I, s:o, s:o}", "pinch", pnGetVersion(), "file", pn_jsonText(loaded->path),
                   "points", (json_int_t)points->count, "inside_total", (json_int_t)result->insideCount, "resolution",
                   (json_int_t)resolution, "error", isfinite(result->error) ? json_real(result->error) : json_null(),
                   "inside", answers);
}

/* The image, the points, the answers. */
static pnResult test(const pnMesh *mesh, const pnPoints *points, const pnInsideOptions *options, uint8_t *inside,
                     pnInsideResult *outResult) {
  pnPose *pose = NULL;
  pnPool *pool = NULL;
  pnLdi *ldi = NULL;
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = mesh;
  pnResult result = pnCreatePose(&poseDef, &pose);
  if (result == PN_OK) result = pn_makePool("inside", options->threads, &pool);
  if (result == PN_OK) {
    pnLdiDef def = pnDefaultLdiDef();
    def.pose = pose;
    def.resolution = options->resolution;
    def.rule = options->parity ? PN_INSIDE_PARITY : PN_INSIDE_WINDING;
    def.bounds = false; // the bound of a point is a distance, and needs no touched cells
    def.tasks = pnPool_GetTasks(pool);
    result = pnCreateLdi(&def, &ldi);
  }
  if (result == PN_OK) result = pnLdi_Update(ldi);
  if (result == PN_OK) result = pnLdi_TestPoints(ldi, points->data, points->count, inside, outResult);
  pnDestroyLdi(ldi);
  if (pool) pnDestroyPool(pool);
  pnDestroyPose(pose);
  return result;
}

/* The one body that is meant. */
static pnResult chooseBody(const pnLoadedList *list, const char *word, const pnLoadedMesh **outBody) {
  *outBody = NULL;
  for (uint32_t b = 0; b < list->count && word; ++b)
    if (strcmp(list->items[b].name, word) == 0) return *outBody = &list->items[b], PN_OK;
  char *end;
  unsigned long number = word ? strtoul(word, &end, 10) : 0;
  bool isNumber = !word || (*word >= '0' && *word <= '9' && *end == 0);
  if (isNumber && number < list->count && (word || list->count == 1)) return *outBody = &list->items[number], PN_OK;
  if (!word) return pnFail(PN_ERROR_ARGUMENT, "expected one body, found %u; --body B chooses one", list->count);
  return pnFail(PN_ERROR_ARGUMENT, "--body: there is no '%s' among %u bodies (pinch info lists them)", word,
                list->count);
}

static int runInside(const char *path, const pnInsideOptions *options) {
  pnPoints points = {0};
  pnLoadedList list = {0};
  const pnLoadedMesh *loaded = NULL;
  uint8_t *inside = NULL;
  pnInsideResult result;
  pn_beginProgress("testing points");
  bool isMesh = hasMeshExtension(options->pointsPath);
  bool good = isMesh ? loadMeshPoints(options->pointsPath, options->moment, &points)
                     : loadTextPoints(options->pointsPath, &points);
  if (good) {
    inside = malloc((size_t)points.count + 1);
    pnResult done = inside ? pn_loadBodies(path, true, options->moment, &list) : PN_ERROR_MEMORY;
    // The points may be those of an animated file, and what they are in stand still.
    list.isAnimated = list.isAnimated || points.isAnimated;
    if (done == PN_OK) done = pn_checkMoment(&list, options->moment);
    if (done == PN_OK) done = chooseBody(&list, options->body, &loaded);
    if (done == PN_OK) done = test(loaded->mesh, &points, options, inside, &result);
    good = done == PN_OK;
    if (!inside) fprintf(stderr, "pinch inside: out of memory for %u answers\n", points.count);
    else if (!good) pn_sayFailure("inside");
    if (done == PN_ERROR_OPEN_MESH || done == PN_ERROR_ORIENTATION) fprintf(stderr, "try: pinch inside --parity ...\n");
  }
  pn_endProgress();
  if (good && options->json) good = pn_printJson(resultJson(loaded, &points, inside, &result, options->resolution));
  else if (good)
    for (uint32_t i = 0; i < points.count; ++i) puts(inside[i] ? "1" : "0");
  free(inside);
  free(points.data);
  pn_freeLoadedList(&list);
  good = pn_finishOutput("inside") && good;
  return good ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
}

int pn_cmdInside(int argc, char **argv) {
  pnInsideOptions options = {.resolution = 512, .moment = PN_MOMENT_REST};
  const pnOption list[] = {
      {"points", PN_OPTION_TEXT, "FILE",
       "the points: text with X Y Z a line, or the vertices of a mesh\nfile (.obj, .ply, .stl, .off, .gltf, .glb)",
       &options.pointsPath},
      {"body", PN_OPTION_TEXT, "B", "which body, by name or number, where the file has more than one", &options.body},
      {"animation", PN_OPTION_TEXT, "NAME", "of glTF files: which animation (default: the rest pose)",
       &options.moment.animation},
      {"time", PN_OPTION_NUMBER, "T", "of glTF files: at which second (default: the animation's first)",
       &options.moment.time},
      {"resolution", PN_OPTION_COUNT, "N", "cells per side, 16 to 4096 (default 512)", &options.resolution},
      {"json", PN_OPTION_FLAG, NULL, "one JSON object instead of lines", &options.json},
      {"parity", PN_OPTION_FLAG, NULL, "take a mesh that is open or wrongly oriented", &options.parity},
      {"threads", PN_OPTION_COUNT, "N", "how many threads work (default: one for each core)", &options.threads},
  };
  const pnUsage usage = {
      .command = "inside",
      .synopsis = "A --points FILE [options]",
      .about =
          "Which points lie inside a closed mesh, or a body of a glTF file: one 1 (inside) or 0 (outside) a line, in "
          "the order of the points.\n"
          "A point closer to the surface than half a cell's diagonal may be answered either way; --json says how\n"
          "far that is (\"error\").\n"
          "Exit status: 0, or 2 on an error, such as a mesh that is not closed.\n",
      .options = list,
      .optionCount = sizeof(list) / sizeof(list[0]),
      .examples =
          "  pinch inside bunny.ply --points samples.txt > answers.txt\n"
          "  pinch inside room.obj --points furniture.obj --json | jq .inside_total\n"
          "  pinch inside hero.glb --body coat --time 1.5 --points samples.txt\n",
  };
  pnArgs args = pn_parseArgs(&usage, &argc, argv);
  if (args == PN_ARGS_RUN && (argc != 1 || !options.pointsPath)) {
    if (argc != 1) pn_sayWrong(&usage, "expected one mesh file, found %d", argc);
    else pn_sayWrong(&usage, "--points FILE is missing");
    args = PN_ARGS_WRONG;
  }
  if (args != PN_ARGS_RUN) return args == PN_ARGS_HELP ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
  return runInside(argv[0], &options);
}
