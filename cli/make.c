/* make.c: `pinch make SHAPE OUT`: a mesh by formula into a file, so that a first check needs no model from anywhere.
 *
 * Exit status: 0 written, 2 an error (said on stderr), like the other commands. */
#include "command.h"

#include "pinch/io.h"
#include "pinch/mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was asked for. Each shape has its own defaults and looks only at the fields it knows. */
typedef struct MakeOptions {
  float radius, tube;
  float size[3];
  uint32_t cells[2], turns[2];
  float at[3];
} MakeOptions;

static const char usage[] =
    "usage: pinch make SHAPE OUT.(obj|ply|stl|off) [options]\n"
    "\n"
    "Writes a mesh made by formula.\n"
    "\n"
    "  icosphere  --radius R (1)   --cells N (4): 20 * 4^N triangles\n"
    "  box        --size X,Y,Z (2,2,2)   --cells N (8): 12 * N * N triangles\n"
    "  grid       --size X,Y (2,2)   --cells N,M (32,32): open, flat in z = 0\n"
    "  torus      --radius R (1)   --tube T (0.35)   --cells AROUND,ACROSS (96,32)\n"
    "  knot       --radius R (1)   --tube T (0.22)   --cells AROUND,ACROSS (360,24)   --turns P,Q (2,3)\n"
    "\n"
    "  --at X,Y,Z   the place of its centre (0,0,0)\n";

/* Between 1 and `most` numbers separated by commas; a shorter list repeats its last number. */
static bool parseFloats(const char *text, uint32_t most, float *out) {
  uint32_t count = 0;
  for (;;) {
    char *end;
    out[count] = strtof(text, &end);
    if (end == text || ++count > most) return false;
    if (*end == '\0') break;
    if (*end != ',' || count == most) return false;
    text = end + 1;
  }
  for (; count < most; ++count) out[count] = out[count - 1];
  return true;
}

/* The same for counts. The largest, a million, keeps every product of two of them within 64 bits and is far above use. */
static bool parseCounts(const char *text, uint32_t *out) {
  float numbers[2];
  if (!parseFloats(text, 2, numbers)) return false;
  for (int i = 0; i < 2; ++i) {
    if (!(numbers[i] >= 0.0f && numbers[i] <= 1e6f) || numbers[i] != (float)(uint32_t)numbers[i]) return false;
    out[i] = (uint32_t)numbers[i];
  }
  return true;
}

static MakeOptions defaultOptions(const char *shape) {
  MakeOptions options = {.radius = 1.0f, .tube = 0.35f, .size = {2.0f, 2.0f, 2.0f}, .turns = {2, 3}};
  uint32_t around = 96, across = 32;
  if (strcmp(shape, "icosphere") == 0) around = across = 4;
  if (strcmp(shape, "box") == 0) around = across = 8;
  if (strcmp(shape, "grid") == 0) around = across = 32;
  if (strcmp(shape, "knot") == 0) around = 360, across = 24, options.tube = 0.22f;
  options.cells[0] = around, options.cells[1] = across;
  return options;
}

/* Reads the options after SHAPE and OUT. False after saying what is wrong. */
static bool readOptions(int count, char **words, MakeOptions *options) {
  for (int i = 0; i < count; i += 2) {
    const char *name = words[i], *value = i + 1 < count ? words[i + 1] : "";
    bool good;
    if (strcmp(name, "--radius") == 0) good = parseFloats(value, 1, &options->radius);
    else if (strcmp(name, "--tube") == 0) good = parseFloats(value, 1, &options->tube);
    else if (strcmp(name, "--size") == 0) good = parseFloats(value, 3, options->size);
    else if (strcmp(name, "--at") == 0) good = parseFloats(value, 3, options->at);
    else if (strcmp(name, "--cells") == 0) good = parseCounts(value, options->cells);
    else if (strcmp(name, "--turns") == 0) good = parseCounts(value, options->turns);
    else {
      fprintf(stderr, "pinch make: unknown option '%s' (pinch make --help lists them)\n", name);
      return false;
    }
    if (!good) {
      fprintf(stderr, "pinch make: %s cannot be '%s' (pinch make --help shows what it can be)\n", name, value);
      return false;
    }
  }
  return true;
}

static pnResult makeShape(const char *shape, const MakeOptions *o, pnMesh **outMesh) {
  if (strcmp(shape, "icosphere") == 0) return pnMakeIcosphere(o->cells[0], o->radius, outMesh);
  if (strcmp(shape, "box") == 0) {
    pnVec3 half = {0.5f * o->size[0], 0.5f * o->size[1], 0.5f * o->size[2]};
    return pnMakeBox(half, o->cells[0], outMesh);
  }
  if (strcmp(shape, "grid") == 0) return pnMakeGrid(o->size[0], o->size[1], o->cells[0], o->cells[1], outMesh);
  if (strcmp(shape, "torus") == 0) return pnMakeTorus(o->radius, o->tube, o->cells[0], o->cells[1], outMesh);
  return pnMakeKnot(o->turns[0], o->turns[1], o->radius, o->tube, o->cells[0], o->cells[1], outMesh);
}

/* Moves the mesh to its place and writes it. */
static pnResult saveShape(const pnMesh *mesh, const float at[3], const char *path) {
  uint32_t vertexCount = pnMesh_GetVertexCount(mesh), triangleCount = pnMesh_GetTriangleCount(mesh);
  float *moved = malloc((size_t)vertexCount * 3 * sizeof(float) + 1);
  if (moved == NULL) return pnFail(PN_ERROR_MEMORY, "no memory for %u vertices", vertexCount);
  const float *vertices = pnMesh_GetVertices(mesh);
  for (size_t i = 0; i < (size_t)vertexCount * 3; ++i) moved[i] = vertices[i] + at[i % 3];
  pnResult result = pnSaveMesh(path, moved, vertexCount, pnMesh_GetTriangles(mesh), triangleCount);
  free(moved);
  return result;
}

int pn_cmdMake(int argc, char **argv) {
  static const char *const shapes[] = {"icosphere", "box", "grid", "torus", "knot"};
  if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
    return fputs(usage, stdout), PN_EXIT_CLEAN;
  if (argc < 3) return fputs(usage, stderr), PN_EXIT_ERROR;

  // Which shape, where to, and how.
  const char *shape = argv[1], *path = argv[2];
  bool known = false;
  for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i) known = known || strcmp(shape, shapes[i]) == 0;
  if (!known) {
    fprintf(stderr, "pinch make: unknown shape '%s' (icosphere, box, grid, torus and knot are known)\n", shape);
    return PN_EXIT_ERROR;
  }
  MakeOptions options = defaultOptions(shape);
  if (!readOptions(argc - 3, argv + 3, &options)) return PN_EXIT_ERROR;

  // Make it, write it, say what it is.
  pnMesh *mesh = NULL;
  pnResult result = makeShape(shape, &options, &mesh);
  if (result == PN_OK) result = saveShape(mesh, options.at, path);
  if (result == PN_OK) {
    printf("%s: %s, %u vertices, %u triangles\n", path, shape, pnMesh_GetVertexCount(mesh),
           pnMesh_GetTriangleCount(mesh));
  } else {
    fprintf(stderr, "pinch make: %s\n", pnGetMessage());
  }
  pnDestroyMesh(mesh);
  return result == PN_OK ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
}
