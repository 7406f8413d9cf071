/* info.c: `pinch info FILE...`: what is in a mesh file, what is wrong with it, and where the first fault is. */
#include "args.h"
#include "command.h"
#include "info.h"
#include "out.h"

#include <stdio.h>

/* ---------------------------------------------------------------- for people */

static const char *yesNo(bool yes) {
  return yes ? "yes" : "no";
}

/* "; first at triangle 7, between vertices 3 and 9" */
static void printPlace(uint32_t triangle, const uint32_t vertices[2]) {
  if (triangle == PN_NONE) return;
  printf("; first at triangle %u, ", triangle);
  if (vertices[0] == vertices[1]) printf("vertex %u", vertices[0]);
  else printf("between vertices %u and %u", vertices[0], vertices[1]);
}

static void printSurface(const pnMeshInfo *info) {
  printf("  closed      %s", yesNo(info->closed));
  if (!info->closed && info->openEdgeCount > 0)
    printf(": %u open edge%s", info->openEdgeCount, pn_plural(info->openEdgeCount));
  if (!info->closed) printPlace(info->firstOpenTriangle, info->firstOpenVertices);
  printf("\n  manifold    %s", yesNo(info->manifold));
  if (!info->manifold) {
    printf(": %u edge%s with more than two triangles, %u vert%s where parts only touch", info->nonManifoldEdgeCount,
           pn_plural(info->nonManifoldEdgeCount), info->nonManifoldVertexCount,
           info->nonManifoldVertexCount == 1 ? "ex" : "ices");
    printPlace(info->firstNonManifoldTriangle, info->firstNonManifoldVertices);
  }
  printf("\n  oriented    %s", yesNo(info->oriented));
  if (!info->oriented) printPlace(info->firstMisorientedTriangle, info->firstMisorientedVertices);
  printf("\n  parts       %u\n", info->componentCount);
}

static void printGroups(const pnLoadedMesh *loaded) {
  if (loaded->groupCount == 0) return;
  // A few names tell what the file is; hundreds do not.
  uint32_t shown = loaded->groupCount < 6 ? loaded->groupCount : 6;
  printf("  groups      %u:", loaded->groupCount);
  for (uint32_t g = 0; g < shown; ++g) {
    printf("%s ", g ? "," : "");
    pn_printPlain(stdout, loaded->groupNames[g]);
    printf(" (%u)", loaded->groupSizes[g]);
  }
  printf("%s\n", shown < loaded->groupCount ? ", ..." : "");
}

static void printInfo(const pnLoadedMesh *loaded) {
  const pnMeshInfo *info = &loaded->info;
  uint32_t triangleCount = pnMesh_GetTriangleCount(loaded->mesh);
  printf("%s\n", loaded->path);
  printf("  vertices    %u", pnMesh_GetVertexCount(loaded->mesh));
  if (info->duplicateVertexCount > 0) printf(", %u of them at the place of another", info->duplicateVertexCount);
  if (info->unusedVertexCount > 0) printf(", %u in no triangle", info->unusedVertexCount);
  printf("\n  triangles   %u", triangleCount);
  if (info->degenerateCount > 0)
    printf(", %u of them without area; first is %u", info->degenerateCount, info->firstDegenerateTriangle);
  putchar('\n');
  if (triangleCount > 0) {
    const pnBox *box = &info->box;
    printf("  box         (%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g)\n", (double)box->min.x, (double)box->min.y,
           (double)box->min.z, (double)box->max.x, (double)box->max.y, (double)box->max.z);
    printSurface(info);
  }
  printGroups(loaded);
}

/* ---------------------------------------------------------------- for programs */

static json_t *vectorJson(pnVec3 v) {
  return json_pack("[f, f, f]", (double)v.x, (double)v.y, (double)v.z);
}

json_t *pn_boxJson(const pnBox *box) {
  if (box->min.x > box->max.x) return json_null();
  return json_pack("{s:o, s:o}", "min", vectorJson(box->min), "max", vectorJson(box->max));
}

/* {"triangle": 7, "vertices": [3, 9]}, or null when there is none. */
static json_t *placeJson(uint32_t triangle, const uint32_t vertices[2]) {
  if (triangle == PN_NONE) return json_null();
  return json_pack("{s:I, s:[I, I]}", "triangle", (json_int_t)triangle, "vertices", (json_int_t)vertices[0],
                   (json_int_t)vertices[1]);
}

static json_t *groupsJson(const pnLoadedMesh *loaded) {
  json_t *groups = json_array();
  for (uint32_t g = 0; g < loaded->groupCount; ++g)
    json_array_append_new(groups, json_pack("{s:o, s:I}", "name", pn_jsonText(loaded->groupNames[g]), "triangles",
                                            (json_int_t)loaded->groupSizes[g]));
  return groups;
}

static json_t *infoJson(const pnLoadedMesh *loaded) {
  const pnMeshInfo *info = &loaded->info;
  json_t *object = json_pack(
      "{s:o, s:o, s:I, s:I, s:b, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "file", pn_jsonText(loaded->path),
      "name", pn_jsonText(loaded->name), "vertices", (json_int_t)pnMesh_GetVertexCount(loaded->mesh), "triangles",
      (json_int_t)pnMesh_GetTriangleCount(loaded->mesh), "closed", info->closed, "manifold", info->manifold, "oriented",
      info->oriented, "parts", (json_int_t)info->componentCount, "open_edges", (json_int_t)info->openEdgeCount,
      "nonmanifold_edges", (json_int_t)info->nonManifoldEdgeCount, "nonmanifold_vertices",
      (json_int_t)info->nonManifoldVertexCount, "degenerate_triangles", (json_int_t)info->degenerateCount,
      "unused_vertices", (json_int_t)info->unusedVertexCount, "duplicate_vertices",
      (json_int_t)info->duplicateVertexCount);
  if (!object) return NULL;
  // What depends on there being something.
  json_object_set_new(object, "box", pn_boxJson(&info->box));
  json_object_set_new(object, "first_open", placeJson(info->firstOpenTriangle, info->firstOpenVertices));
  json_object_set_new(object, "first_nonmanifold",
                      placeJson(info->firstNonManifoldTriangle, info->firstNonManifoldVertices));
  json_object_set_new(object, "first_misoriented",
                      placeJson(info->firstMisorientedTriangle, info->firstMisorientedVertices));
  json_object_set_new(object, "first_degenerate",
                      info->degenerateCount ? json_integer(info->firstDegenerateTriangle) : json_null());
  json_object_set_new(object, "groups", groupsJson(loaded));
  return object;
}

/* ---------------------------------------------------------------- the command */

/* All files, also those after a bad one; false when one was bad. */
static bool showFiles(int count, char **paths, bool weld, json_t *files) {
  bool good = true;
  for (int i = 0; i < count; ++i) {
    pnLoadedMesh loaded;
    if (pn_isAnimFile(paths[i])) {
      good = pn_showAnim(paths[i], weld, files) && good;
      continue;
    }
    if (pn_loadMesh(paths[i], weld, &loaded) != PN_OK) {
      pn_sayFailure("info");
      good = false;
      continue;
    }
    if (files) good = json_array_append_new(files, infoJson(&loaded)) == 0 && good;
    else if (!pn_isQuiet()) printInfo(&loaded);
    pn_freeLoadedMesh(&loaded);
  }
  return good;
}

int pn_cmdInfo(int argc, char **argv) {
  bool json = false, noWeld = false;
  const pnOption options[] = {
      {"json", PN_OPTION_FLAG, NULL, "one JSON object instead of text", &json},
      {"no-weld", PN_OPTION_FLAG, NULL, "vertices at the same place stay different ones", &noWeld},
  };
  const pnUsage usage = {
      .command = "info",
      .synopsis = "FILE... [options]",
      .about =
          "What is in OBJ, PLY, STL and OFF files: counts, bounding box, whether the surface is closed,\n"
          "manifold and consistently oriented, triangles without area, groups, and where the first fault is.\n"
          "Vertices at the same place count as one for this (STL and seams), unless --no-weld is given.\n"
          "Of glTF files: bodies, animations (seconds, frames), skins, targets, units, extensions. \"-\" is standard\n"
          "input.\n"
          "Exit status: 0, or 2 when a file could not be read (the others are still shown).\n",
      .options = options,
      .optionCount = sizeof(options) / sizeof(options[0]),
      .examples =
          "  pinch info bunny.ply                  is it closed, and where not?\n"
          "  pinch info hero.glb                   which bodies, animations and joints?\n"
          "  pinch info *.stl --json | jq '.files[] | select(.closed | not) | .file'\n"
          "                                        names of the open ones\n",
  };
  pnArgs args = pn_parseArgs(&usage, &argc, argv);
  if (args == PN_ARGS_RUN && argc == 0) {
    pn_sayWrong(&usage, "no file given");
    args = PN_ARGS_WRONG;
  }
  if (args != PN_ARGS_RUN) return args == PN_ARGS_HELP ? PN_EXIT_CLEAN : PN_EXIT_ERROR;

  json_t *files = json ? json_array() : NULL;
  bool good = showFiles(argc, argv, !noWeld, files);
  if (json) good = pn_printJson(json_pack("{s:s, s:o}", "pinch", pnGetVersion(), "files", files)) && good;
  good = pn_finishOutput("info") && good;
  return good ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
}
