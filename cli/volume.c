/* volume.c: `pinch volume A B`: how much space two closed meshes share, where, how deep, is one inside the other. */
#include "args.h"
#include "choose.h"
#include "command.h"
#include "load.h"
#include "out.h"
#include "pool.h"

#include "pinch/volume.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct pnVolumeOptions {
  uint32_t resolution, threads;
  bool gl, json, parity;
  const char *meshPath; /* null: none */
  pnMoment moment;
  pnWords only;
} pnVolumeOptions;

/* Everything of one run, so that it is freed at one place. */
typedef struct pnVolumeRun {
  pnLoadedList list;
  const pnLoadedMesh *loaded[2]; /* the two of the list that are meant */
  pnPose *poses[2];
  pnPool *pool;
  pnGlRaster *gl;
  pnOverlap *overlap;
  pnOverlapResult result;
  pnDepthResult depth;
} pnVolumeRun;

/* ---------------------------------------------------------------- for people */

static const char *backendName(pnBackend backend) {
  return backend == PN_BACKEND_OPENGL ? "opengl" : "software";
}

static const char *relationWords[PN_RELATION_COUNT] = {"apart", "overlap", "a_in_b", "b_in_a"};

static void printRelation(const pnVolumeRun *run) {
  const char *a = run->loaded[0]->name, *b = run->loaded[1]->name;
  const char *surely = run->result.certain ? "" : " (as far as the resolution tells)";
  switch (run->result.relation) {
    case PN_RELATION_A_IN_B: printf("  %s lies inside %s%s\n", a, b, surely); break;
    case PN_RELATION_B_IN_A: printf("  %s lies inside %s%s\n", b, a, surely); break;
    case PN_RELATION_APART: printf("  they are apart%s\n", surely); break;
    default: printf("  they overlap, neither is inside the other%s\n", surely); break;
  }
}

static void printResult(const pnVolumeRun *run, const pnVolumeOptions *options) {
  const pnOverlapResult *result = &run->result;
  const pnDepthResult *depth = &run->depth;
  // Two bodies of one file are known by their names.
  bool oneFile = run->loaded[0]->path == run->loaded[1]->path;
  printf("%s and %s share a volume of %.6g", oneFile ? run->loaded[0]->name : run->loaded[0]->path,
         oneFile ? run->loaded[1]->name : run->loaded[1]->path, result->volume);
  if (isfinite(result->error)) printf(", surely from %.6g to %.6g", result->volumeMin, result->volumeMax);
  else printf("; a mesh is open, so no bound can be given");
  putchar('\n');
  printRelation(run);
  if (result->volume > 0)
    printf("  centroid    (%.6g, %.6g, %.6g)\n", result->centroid[0], result->centroid[1], result->centroid[2]);
  if (depth->depth > 0) {
    printf("  depth       %.6g", depth->depth);
    if (isfinite(depth->error)) printf(", surely from %.6g to %.6g", depth->depthMin, depth->depthMax);
    printf("\n  direction   (%.6g, %.6g, %.6g): moving %s that way by the depth frees it\n", depth->direction[0],
           depth->direction[1], depth->direction[2], run->loaded[0]->name);
  }
  printf("  image       %u x %u cells, at most %u and %u layers, %llu spans, %s\n", result->resolution,
         result->resolution, result->maxLayers[0], result->maxLayers[1], (unsigned long long)result->spanCount,
         backendName(result->backend));
  printf("  time        volume %.3f s, depth %.3f s\n",
         result->prepareTime + result->layerTime + result->boundTime + result->measureTime, depth->time);
  if (options->meshPath) printf("The surface of the shared space is in %s.\n", options->meshPath);
}

/* ---------------------------------------------------------------- for programs */

static json_t *vectorJson(const double v[3]) {
  return json_pack("[f, f, f]", v[0], v[1], v[2]);
}

/* JSON has no infinity: what cannot be bounded is null. */
static json_t *numberJson(double x) {
  return isfinite(x) ? json_real(x) : json_null();
}

static json_t *resultJson(const pnVolumeRun *run) {
  const pnOverlapResult *result = &run->result;
  const pnDepthResult *depth = &run->depth;
  bool some = result->volume > 0, deep = depth->depth > 0;
  return json_pack(
      "{s:s, s:o, s:o, s:o, s:o, s:s, s:b, s:f, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:o, s:I, s:[I, I], s:I, s:s}",
      "pinch", pnGetVersion(), "a", pn_jsonText(run->loaded[0]->path), "b", pn_jsonText(run->loaded[1]->path), "name_a",
      pn_jsonText(run->loaded[0]->name), "name_b", pn_jsonText(run->loaded[1]->name), "relation",
      relationWords[result->relation], "certain", result->certain, "volume", result->volume, "error",
      numberJson(result->error), "volume_min", numberJson(result->volumeMin), "volume_max",
      numberJson(result->volumeMax), "centroid", some ? vectorJson(result->centroid) : json_null(), "centroid_error",
      some ? numberJson(result->centroidError) : json_null(), "depth", depth->depth, "direction",
      deep ? vectorJson(depth->direction) : json_null(), "depth_error", numberJson(depth->error), "spans",
      (json_int_t)result->spanCount, "layers", (json_int_t)result->maxLayers[0], (json_int_t)result->maxLayers[1],
      "resolution", (json_int_t)result->resolution, "backend", backendName(result->backend));
}

/* ---------------------------------------------------------------- the run */

/* OpenGL when asked for; where there is none, software, and a line that says so. */
static void openGl(pnVolumeRun *run) {
#ifdef PN_HAVE_GL
  pnGlRasterDef def = pnDefaultGlRasterDef();
  if (pnCreateGlRaster(&def, &run->gl) != PN_OK) fprintf(stderr, "pinch volume: %s; using software\n", pnGetMessage());
#else
  (void)run;
  fprintf(stderr, "pinch volume: this build has no OpenGL; using software\n");
#endif
}

static pnResult saveSurface(const pnOverlap *overlap, const char *path) {
  pnMesh *mesh;
  pnResult result = pnOverlap_MakeMesh(overlap, &mesh);
  if (result != PN_OK) return result;
  result = pnSaveMesh(path, pnMesh_GetVertices(mesh), pnMesh_GetVertexCount(mesh), pnMesh_GetTriangles(mesh),
                      pnMesh_GetTriangleCount(mesh));
  pnDestroyMesh(mesh);
  return result;
}

/* The two bodies that are meant: all there are, or those that --only names. The first one named is A. */
static pnResult chooseTwo(pnVolumeRun *run, const char *const *names, const pnWords *only) {
  static const pnWords nothing;
  uint32_t count = run->list.count, found = 0;
  pnChoice choice = {0};
  pnResult result = pn_makeChoice(only, &nothing, names, count, &choice);
  // A second pair is one too many: then nobody looks for others.
  for (uint32_t a = 0; a < count && result == PN_OK && found < 2; ++a) {
    for (uint32_t b = 0; b < count && found < 2; ++b) {
      bool first = only->count == 0 || choice.rules[0].sides[0][a];
      if (!first) break;
      if (a == b || (only->count > 0 ? !choice.rules[0].sides[1][b] : a > b)) continue;
      run->loaded[0] = &run->list.items[a];
      run->loaded[1] = &run->list.items[b];
      ++found;
    }
  }
  if (result == PN_OK && found != 1 && only->count > 0)
    result = pnFail(PN_ERROR_ARGUMENT, "--only: expected two different bodies A,B, and '%s' means %s", only->items[0],
                    found == 0 ? "one" : "more");
  else if (result == PN_OK && found != 1)
    result = pnFail(PN_ERROR_ARGUMENT, "expected two bodies, found %u; --only A,B chooses two", count);
  pn_freeChoice(&choice);
  return result;
}

static pnResult loadTwo(pnVolumeRun *run, int count, char **paths, const pnVolumeOptions *options) {
  pnResult result = PN_OK;
  for (int i = 0; i < count && result == PN_OK; ++i)
    result = pn_loadBodies(paths[i], true, options->moment, &run->list);
  if (result == PN_OK) result = pn_checkMoment(&run->list, options->moment);
  const char **names = malloc(run->list.count * sizeof(char *) + 1);
  if (result == PN_OK && !names) result = pnFail(PN_ERROR_MEMORY, "out of memory for %u names", run->list.count);
  for (uint32_t i = 0; i < run->list.count && names; ++i) names[i] = run->list.items[i].name;
  if (result == PN_OK) {
    result = chooseTwo(run, names, &options->only);
    FILE *after = result == PN_ERROR_ARGUMENT ? pn_beginAfterword() : NULL;
    if (after) pn_printBodies(after, names, run->list.count);
  }
  free(names);
  return result;
}

static pnResult measure(pnVolumeRun *run, int count, char **paths, const pnVolumeOptions *options) {
  pnResult result = loadTwo(run, count, paths, options);
  for (int i = 0; i < 2 && result == PN_OK; ++i) {
    pnPoseDef poseDef = pnDefaultPoseDef();
    poseDef.mesh = run->loaded[i]->mesh;
    result = pnCreatePose(&poseDef, &run->poses[i]);
  }
  if (result == PN_OK) result = pn_makePool("volume", options->threads, &run->pool);
  if (result != PN_OK) return result;

  if (options->gl) openGl(run);
  pnOverlapDef def = pnDefaultOverlapDef();
  def.poseA = run->poses[0], def.poseB = run->poses[1];
  def.resolution = options->resolution;
  def.rule = options->parity ? PN_INSIDE_PARITY : PN_INSIDE_WINDING;
  def.tasks = pnPool_GetTasks(run->pool);
  def.gl = run->gl;
  result = pnCreateOverlap(&def, &run->overlap);
  if (result == PN_OK) result = pnOverlap_Measure(run->overlap, &run->result);
  if (result == PN_OK) result = pnOverlap_FindDepth(run->overlap, &run->depth);
  if (result == PN_OK && options->meshPath) result = saveSurface(run->overlap, options->meshPath);
  return result;
}

static void freeRun(pnVolumeRun *run) {
  pnDestroyOverlap(run->overlap);
#ifdef PN_HAVE_GL
  pnDestroyGlRaster(run->gl);
#endif
  if (run->pool) pnDestroyPool(run->pool);
  for (int i = 0; i < 2; ++i) pnDestroyPose(run->poses[i]);
  pn_freeLoadedList(&run->list);
}

static int runVolume(int count, char **paths, const pnVolumeOptions *options) {
  pnVolumeRun run = {0};
  pn_beginProgress("measuring");
  pnResult result = measure(&run, count, paths, options);
  pn_endProgress();
  bool good = result == PN_OK;
  if (!good) pn_sayFailure("volume");
  if (result == PN_ERROR_OPEN_MESH || result == PN_ERROR_ORIENTATION)
    fprintf(stderr, "try: pinch volume --parity ...\n");
  if (!good) goto cleanup;
  if (options->json) good = pn_printJson(resultJson(&run));
  else if (!pn_isQuiet()) printResult(&run, options);

cleanup:
  freeRun(&run);
  good = pn_finishOutput("volume") && good;
  return good ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
}

int pn_cmdVolume(int argc, char **argv) {
  pnVolumeOptions options = {.resolution = 256, .moment = PN_MOMENT_REST};
  const pnOption list[] = {
      {"resolution", PN_OPTION_COUNT, "N", "cells per side, 16 to 4096 (default 256); bounds shrink as it grows",
       &options.resolution},
      {"gl", PN_OPTION_FLAG, NULL, "make the images with OpenGL", &options.gl},
      {"json", PN_OPTION_FLAG, NULL, "one JSON object instead of text", &options.json},
      {"mesh", PN_OPTION_TEXT, "OUT.ply", "write the surface of the shared space (.ply, .obj, .stl, .off)",
       &options.meshPath},
      {"parity", PN_OPTION_FLAG, NULL,
       "take meshes that are open or wrongly oriented: inside is where a line from\n"
       "outside has crossed the surface an odd number of times",
       &options.parity},
      {"animation", PN_OPTION_TEXT, "NAME", "of glTF files: which animation (default: the rest pose)",
       &options.moment.animation},
      {"time", PN_OPTION_NUMBER, "T", "of glTF files: at which second (default: the animation's first)",
       &options.moment.time},
      {"only", PN_OPTION_LIST, "A,B", "which two bodies, by name or number, where the files have more", &options.only},
      {"threads", PN_OPTION_COUNT, "N",
       "how many threads work (default: one for each core);\nthe answer does not depend on it", &options.threads},
  };
  const pnUsage usage = {
      .command = "volume",
      .synopsis = "A [B] [options]",
      .about =
          "How much space two closed meshes share, between which bounds the truth lies, its centroid, whether one\n"
          "is inside the other, and how far A must move to be free (along an axis or the mean normal of the contact).\n"
          "A glTF file brings its bodies as they are at rest, or at a moment of an animation. \"-\" is standard "
          "input.\n"
          "Exit status: 0, or 2 on an error, such as a mesh that is not closed.\n",
      .options = list,
      .optionCount = sizeof(list) / sizeof(list[0]),
      .examples =
          "  pinch volume bolt.stl nut.stl                   how much do they overlap?\n"
          "  pinch volume a.ply b.ply --mesh shared.ply      and what does it look like?\n"
          "  pinch volume hero.glb --only hand,coat --animation walk --time 1.5\n"
          "  pinch volume a.ply b.ply --resolution 1024 --json | jq '.volume, .error'\n",
  };
  pnArgs args = pn_parseArgs(&usage, &argc, argv);
  if (args == PN_ARGS_RUN && (argc < 1 || argc > 2 || options.only.count > 1)) {
    if (argc < 1 || argc > 2) pn_sayWrong(&usage, "expected two files, or one with two bodies, found %d", argc);
    else pn_sayWrong(&usage, "--only: expected once");
    args = PN_ARGS_WRONG;
  }
  if (args == PN_ARGS_RUN && !pn_checkOutput(&usage, "mesh", options.meshPath, argc, argv)) args = PN_ARGS_WRONG;
  if (args != PN_ARGS_RUN) return args == PN_ARGS_HELP ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
  return runVolume(argc, argv, &options);
}
