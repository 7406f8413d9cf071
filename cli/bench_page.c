/* bench_page.c: `pinch bench --html`: the page of web/lab with the rows, the verdicts and a few frames of the scenes inside, in one
 * file that needs nothing else. */
#include "bench.h"
#include "out.h"

#include "pinch/io.h"
#include "scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const unsigned char pn_labTemplate[];
extern const size_t pn_labTemplateSize;

/* Scenes that play beside their plots (web/lab/plots.js): small ones of the same motion. */
static const char *const s_played[] = {"s1-1280", "s2-320", "e4-1280", "e5-564", "s4-1250", "bodies-100"};
#define PLAYED_FRAMES 8u
/* Places are whole numbers of this many steps across the scene. */
#define GRID 4000.0f

static float longestSide(const float *low, const float *high) {
  return fmaxf(high[0] - low[0], fmaxf(high[1] - low[1], high[2] - low[2]));
}

/* The vertices of all played frames of a body, frame after frame; null when there is no memory or no such frame. */
static float *framesOf(const pnScene *scene, uint32_t body, float *low, float *high) {
  size_t size = 3 * (size_t)pnScene_GetVertexCount(scene, body);
  float *all = malloc(sizeof(float) * size * PLAYED_FRAMES);
  for (uint32_t k = 0; all && k < PLAYED_FRAMES; ++k) {
    uint32_t frame = (pnScene_GetFrameCount(scene) - 1) * k / (PLAYED_FRAMES - 1);
    if (pnScene_Frame(scene, frame, body, all + k * size) != PN_OK) {
      free(all);
      return NULL;
    }
    for (size_t i = 0; i < size; ++i) {
      low[i % 3] = fminf(low[i % 3], all[k * size + i]);
      high[i % 3] = fmaxf(high[i % 3], all[k * size + i]);
    }
  }
  return all;
}

static void writeBody(pnOutFile *out, const pnScene *scene, uint32_t body, const float *all, const float *low,
                      float step) {
  size_t size = 3 * (size_t)pnScene_GetVertexCount(scene, body);
  const uint32_t *triangles = pnScene_GetTriangles(scene, body);
  pnOutFile_Print(out, "{\"triangles\":[");
  for (size_t i = 0; i < 3 * (size_t)pnScene_GetTriangleCount(scene, body); ++i)
    pnOutFile_Print(out, i ? ",%u" : "%u", triangles[i]);
  pnOutFile_Print(out, "],\"positions\":[");
  for (uint32_t k = 0; k < PLAYED_FRAMES; ++k) {
    pnOutFile_Print(out, k ? ",[" : "[");
    for (size_t i = 0; i < size; ++i)
      pnOutFile_Print(out, i ? ",%.0f" : "%.0f", (double)((all[k * size + i] - low[i % 3]) / step));
    pnOutFile_Print(out, "]");
  }
  pnOutFile_Print(out, "]}");
}

/* False when the scene cannot be made: the page goes without it. */
static bool writeScene(pnOutFile *out, const char *name, bool isFirst) {
  pnSceneDef def = pnDefaultSceneDef();
  def.name = name;
  pnScene *scene;
  if (pnCreateScene(&def, &scene) != PN_OK) return false;
  uint32_t count = pnScene_GetBodyCount(scene);
  float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  float **all = calloc(count, sizeof *all);
  bool good = all != NULL;
  for (uint32_t i = 0; good && i < count; ++i) good = (all[i] = framesOf(scene, i, low, high)) != NULL;
  if (good) {
    float step = longestSide(low, high) / GRID;
    pnOutFile_Print(out, "%s\"%s\":{\"frames\":%u,\"bodies\":[", isFirst ? "" : ",\n", name, PLAYED_FRAMES);
    for (uint32_t i = 0; i < count; ++i) {
      pnOutFile_Print(out, i ? ",\n" : "\n");
      writeBody(out, scene, i, all[i], low, step > 0 ? step : 1);
    }
    pnOutFile_Print(out, "]}");
  }
  for (uint32_t i = 0; all && i < count; ++i) free(all[i]);
  free(all);
  pnDestroyScene(scene);
  return good;
}

/* Data inside a script element: nothing in it may end the element. */
static void writeSafe(pnOutFile *out, const char *json) {
  for (const char *at = json; *at; ++at)
    if (*at == '<') pnOutFile_Print(out, "\\u003c");
    else pnOutFile_Write(out, at, 1);
}

bool pn_writeBenchPage(const char *path, pnFigures *figures, const pnClaims *claims) {
  static const char mark[] = "<!--PINCH-DATA-->";
  const char *page = (const char *)pn_labTemplate, *place = strstr(page, mark);
  if (pn_labTemplateSize == 0 || !place) {
    fprintf(stderr, "pinch bench: this build has no pages: node and npm were missing when it was built\n");
    return false;
  }
  json_t *object = pn_benchJson(figures, claims);
  char *json = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(7)) : NULL;
  json_decref(object);
  pnOutFile *out = NULL;
  if (!json || pnOpenOutFile(path, &out) != PN_OK) {
    if (!json) fprintf(stderr, "pinch bench: out of memory\n");
    else pn_sayFailure("bench");
    free(json);
    return false;
  }
  pnOutFile_Write(out, page, (size_t)(place - page));
  pnOutFile_Print(out, "<script type=\"application/json\" id=\"pinch-lab\">");
  json[strlen(json) - 1] = '\0'; /* the closing brace: scenes follow */
  writeSafe(out, json);
  pnOutFile_Print(out, ",\"scenes\":{");
  bool isFirst = true;
  for (size_t i = 0; i < sizeof s_played / sizeof *s_played; ++i)
    if (writeScene(out, s_played[i], isFirst)) isFirst = false;
  pnOutFile_Print(out, "}}</script>\n");
  pnOutFile_Write(out, place + strlen(mark), strlen(place + strlen(mark)));
  free(json);
  bool good = pnCloseOutFile(out, true) == PN_OK;
  if (!good) pn_sayFailure("bench");
  return good;
}
