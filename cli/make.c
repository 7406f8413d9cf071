/* make.c: `pinch make SHAPE OUT`: a mesh by formula into a file, so that a first check needs no model from anywhere.
 * The character, which is no mesh but an animated file, is in make_character.c. */
#include "args.h"
#include "command.h"
#include "make.h"
#include "out.h"

#include "pinch/io.h"
#include "pinch/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was asked for. Each shape has its own defaults and looks only at the fields it knows. */
typedef struct pnMakeOptions {
  double radius, tube,
      seconds; /* radius, tube: NaN when not given; seconds, triangles: the character's, 0 when not given */
  uint32_t triangles;
  const char *sizeText, *cellsText, *turnsText; /* as written; null: the defaults below */
  float size[3], at[3];                         /* at[0]: NaN when not given */
  float cells[2], turns[2];
} pnMakeOptions;

/* ---------------------------------------------------------------- the shapes */

static pnResult makeIcosphere(const pnMakeOptions *o, pnMesh **outMesh) {
  return pnMakeIcosphere((uint32_t)o->cells[0], (float)o->radius, outMesh);
}

static pnResult makeBox(const pnMakeOptions *o, pnMesh **outMesh) {
  pnVec3 half = {0.5f * o->size[0], 0.5f * o->size[1], 0.5f * o->size[2]};
  return pnMakeBox(half, (uint32_t)o->cells[0], outMesh);
}

static pnResult makeGrid(const pnMakeOptions *o, pnMesh **outMesh) {
  return pnMakeGrid(o->size[0], o->size[1], (uint32_t)o->cells[0], (uint32_t)o->cells[1], outMesh);
}

static pnResult makeTorus(const pnMakeOptions *o, pnMesh **outMesh) {
  return pnMakeTorus((float)o->radius, (float)o->tube, (uint32_t)o->cells[0], (uint32_t)o->cells[1], outMesh);
}

static pnResult makeKnot(const pnMakeOptions *o, pnMesh **outMesh) {
  return pnMakeKnot((uint32_t)o->turns[0], (uint32_t)o->turns[1], (float)o->radius, (float)o->tube,
                    (uint32_t)o->cells[0], (uint32_t)o->cells[1], outMesh);
}

static const struct {
  const char *name;
  pnResult (*make)(const pnMakeOptions *options, pnMesh **outMesh);
  float cells[2]; /* defaults */
  double tube;
  int sizeCount, cellsCount; /* numbers of --size and --cells; one number stands for all of them */
  const char *takes;         /* its options, each with a blank on both sides */
} shapes[] = {
    {"icosphere", makeIcosphere, {4, 4}, 0, 0, 1, " radius cells at "},
    {"box", makeBox, {8, 8}, 0, 3, 1, " size cells at "},
    {"grid", makeGrid, {32, 32}, 0, 2, 2, " size cells at "},
    {"torus", makeTorus, {96, 32}, 0.35, 0, 2, " radius tube cells at "},
    {"knot", makeKnot, {360, 24}, 0.22, 0, 2, " radius tube turns cells at "},
};

#define PN_SHAPE_COUNT (sizeof(shapes) / sizeof(shapes[0]))

/* ---------------------------------------------------------------- options */

/* `count` numbers separated by commas, or one that stands for all: two of three would leave one to be guessed. */
static bool parseList(const char *text, int count, float *out) {
  int found = 0;
  for (;;) {
    char *end;
    out[found] = strtof(text, &end);
    if (end == text || !(out[found] > -1e30f && out[found] < 1e30f)) return false;
    ++found;
    if (*end == 0) break;
    if (*end != ',' || found == count) return false;
    text = end + 1;
  }
  if (found != 1 && found != count) return false;
  for (; found < count; ++found) out[found] = out[0];
  return true;
}

/* Whole numbers: a million is far above use, and products of two stay within 64 bits. */
static bool parseCounts(const char *text, int count, float *out) {
  if (!parseList(text, count, out)) return false;
  for (int i = 0; i < count; ++i)
    if (!(out[i] >= 0 && out[i] <= 1e6f) || out[i] != (float)(uint32_t)out[i]) return false;
  return true;
}

/* The lists among the options of a shape; false after saying which one is wrong, and what is wanted. */
static bool parseLists(const pnUsage *usage, size_t shape, pnMakeOptions *o) {
  static const char *const sizes[] = {
      [2] = "two numbers X,Y, or one for both", [3] = "three numbers X,Y,Z, or one for all"};
  static const char *const cells[] = {[1] = "one whole number", [2] = "two whole numbers N,M, or one for both"};
  if (o->sizeText && !parseList(o->sizeText, shapes[shape].sizeCount, o->size)) {
    pn_sayWrong(usage, "--size: expected %s, found '%s'", sizes[shapes[shape].sizeCount], o->sizeText);
    return false;
  }
  if (o->cellsText && !parseCounts(o->cellsText, shapes[shape].cellsCount, o->cells)) {
    pn_sayWrong(usage, "--cells: expected %s, found '%s'", cells[shapes[shape].cellsCount], o->cellsText);
    return false;
  }
  // One number for both would be no knot.
  if (o->turnsText && (!strchr(o->turnsText, ',') || !parseCounts(o->turnsText, 2, o->turns))) {
    pn_sayWrong(usage, "--turns: expected two whole numbers P,Q, found '%s'", o->turnsText);
    return false;
  }
  return true;
}

/* An option the shape does not have is refused: passed over in silence, it would leave one wondering. */
static bool checkGiven(const pnUsage *usage, const char *shape, const char *takes, const pnMakeOptions *o) {
  const struct {
    const char *name;
    bool given;
  } options[] = {
      {"radius", !isnan(o->radius)},   {"tube", !isnan(o->tube)},   {"size", o->sizeText},
      {"cells", o->cellsText},         {"turns", o->turnsText},     {"at", !isnan(o->at[0])},
      {"triangles", o->triangles > 0}, {"seconds", o->seconds > 0},
  };
  for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); ++i) {
    char word[16];
    snprintf(word, sizeof(word), " %s ", options[i].name);
    if (!options[i].given || strstr(takes, word)) continue;
    pn_sayWrong(usage, "--%s: not an option of %s, which takes:%.*s", options[i].name, shape, (int)strlen(takes) - 1,
                takes);
    return false;
  }
  return true;
}

/* ---------------------------------------------------------------- the command */

/* Moves the mesh to its place and writes it. */
static pnResult saveShape(const pnMesh *mesh, const float at[3], const char *path) {
  uint32_t vertexCount = pnMesh_GetVertexCount(mesh), triangleCount = pnMesh_GetTriangleCount(mesh);
  size_t count = 3 * (size_t)vertexCount;
  float *moved = malloc(count * sizeof(float) + 1);
  if (!moved) return pnFail(PN_ERROR_MEMORY, "out of memory for %u vertices", vertexCount);
  const float *vertices = pnMesh_GetVertices(mesh);
  for (size_t i = 0; i < count; ++i) moved[i] = vertices[i] + at[i % 3];
  pnResult result = pnSaveMesh(path, moved, vertexCount, pnMesh_GetTriangles(mesh), triangleCount);
  free(moved);
  return result;
}

static int run(size_t shape, const char *path, const pnMakeOptions *options) {
  pnMesh *mesh = NULL;
  pnResult result = shapes[shape].make(options, &mesh);
  if (result == PN_OK) result = saveShape(mesh, options->at, path);
  if (result == PN_OK && !pn_isQuiet())
    printf("%s: %s, %u vertices, %u triangles\n", path, shapes[shape].name, pnMesh_GetVertexCount(mesh),
           pnMesh_GetTriangleCount(mesh));
  if (result != PN_OK) pn_sayFailure("make");
  pnDestroyMesh(mesh);
  return result == PN_OK && pn_finishOutput("make") ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
}

static int runCharacter(const char *path, const pnMakeOptions *options) {
  pnResult result = pn_makeCharacter(path, options->triangles, options->seconds);
  if (result != PN_OK) pn_sayFailure("make");
  return result == PN_OK && pn_finishOutput("make") ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
}

/* The number of the shape called `name`; PN_SHAPE_COUNT, after saying so, when there is none. */
static size_t findShape(const pnUsage *usage, const char *name) {
  const char *names[PN_SHAPE_COUNT + 1] = {[PN_SHAPE_COUNT] = "character"};
  for (size_t i = 0; i < PN_SHAPE_COUNT; ++i) {
    names[i] = shapes[i].name;
    if (strcmp(name, names[i]) == 0) return i;
  }
  const char *closest = pn_closest(name, names, PN_SHAPE_COUNT + 1);
  if (closest) pn_sayWrong(usage, "unknown shape '%s'; did you mean %s?", name, closest);
  else pn_sayWrong(usage, "unknown shape '%s'; expected icosphere, box, grid, torus, knot or character", name);
  return PN_SHAPE_COUNT;
}

int pn_cmdMake(int argc, char **argv) {
  pnMakeOptions options = {.radius = NAN, .tube = NAN, .size = {2, 2, 2}, .at = {NAN}, .turns = {2, 3}};
  const pnOption table[] = {
      {"radius", PN_OPTION_NUMBER, "R", "icosphere, torus, knot: its radius (1)", &options.radius},
      {"tube", PN_OPTION_NUMBER, "T", "torus (0.35), knot (0.22): the radius of the tube", &options.tube},
      {"size", PN_OPTION_TEXT, "X,Y,Z", "box: its edges (2,2,2); grid: X,Y (2,2); one number: all the same",
       &options.sizeText},
      {"cells", PN_OPTION_TEXT, "N,M",
       "how fine: icosphere 20 * 4^N triangles (4), box 12 * N * N (8),\n"
       "grid columns and rows (32,32), torus (96,32) and knot (360,24) around and across",
       &options.cellsText},
      {"turns", PN_OPTION_TEXT, "P,Q", "knot: how often it runs around (2,3)", &options.turnsText},
      {"at", PN_OPTION_VECTOR, "X,Y,Z", "where its centre is (0,0,0)", options.at},
      {"triangles", PN_OPTION_COUNT, "N", "character: about so many, 10000 to 120000 (20000)", &options.triangles},
      {"seconds", PN_OPTION_NUMBER, "S", "character: how long it walks, 1 to 600 (6)", &options.seconds},
  };
  const pnUsage usage = {
      .command = "make",
      .synopsis = "SHAPE OUT.(obj|ply|stl|off) [options]\n       pinch make character OUT.glb [options]",
      .about =
          "Writes a mesh made by formula: icosphere, box, grid, torus or knot. All but the grid are closed.\n"
          "The character is an animated file: a figure with joints and morph targets, who walks in a coat.\n",
      .options = table,
      .optionCount = sizeof(table) / sizeof(table[0]),
      .examples =
          "  pinch make knot knot.ply\n"
          "  pinch make icosphere ball.obj --radius 0.7 --at 1.2,0,0\n"
          "  pinch make knot thick.ply --tube 0.5       thick enough to meet itself: pinch check thick.ply\n"
          "  pinch make character hero.glb              an animated one: pinch scan hero.glb\n",
  };
  pnArgs args = pn_parseArgs(&usage, &argc, argv);
  if (args == PN_ARGS_RUN && argc != 2) {
    pn_sayWrong(&usage, "expected a shape and a file, found %d word%s", argc, pn_plural((uint64_t)argc));
    args = PN_ARGS_WRONG;
  }
  if (args != PN_ARGS_RUN) return args == PN_ARGS_HELP ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
  if (strcmp(argv[0], "character") == 0) {
    bool fits = checkGiven(&usage, argv[0], " triangles seconds ", &options);
    return fits ? runCharacter(argv[1], &options) : PN_EXIT_ERROR;
  }
  size_t shape = findShape(&usage, argv[0]);
  if (shape == PN_SHAPE_COUNT || !checkGiven(&usage, argv[0], shapes[shape].takes, &options)) return PN_EXIT_ERROR;

  // The shape's own defaults, then what was written.
  memcpy(options.cells, shapes[shape].cells, sizeof(options.cells));
  if (isnan(options.tube)) options.tube = shapes[shape].tube;
  if (isnan(options.radius)) options.radius = 1;
  if (isnan(options.at[0])) options.at[0] = 0;
  return parseLists(&usage, shape, &options) ? run(shape, argv[1], &options) : PN_EXIT_ERROR;
}
