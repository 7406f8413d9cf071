/* moving.c: see moving.h. Reads just the two layouts of PLY that these scenes have, and their lists. */
#include "moving.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a number in the file's order, as the lowest bytes of a word. */
static uint64_t readWord(const unsigned char *bytes, int size, bool bigEndian) {
  uint64_t word = 0;
  for (int i = 0; i < size; ++i) word |= (uint64_t)bytes[bigEndian ? size - 1 - i : i] << (8 * i);
  return word;
}

static bool readVertices(FILE *file, uint32_t count, bool wide, bool bigEndian, double (*out)[3]) {
  for (size_t i = 0; i < 3 * (size_t)count; ++i) {
    unsigned char bytes[8];
    int size = wide ? 8 : 4;
    if (fread(bytes, 1, (size_t)size, file) != (size_t)size) return false;
    uint64_t word = readWord(bytes, size, bigEndian);
    uint32_t half = (uint32_t)word;
    float narrow;
    memcpy(&narrow, &half, 4);
    if (wide) memcpy(&out[i / 3][i % 3], &word, 8);
    else out[i / 3][i % 3] = narrow;
  }
  return true;
}

/* Vertices and triangles; the counts are set by the first file and must be the same in the second. */
static bool readPly(const char *path, pnMovingScene *s, double (**outVertices)[3]) {
  FILE *file = fopen(path, "rb");
  char line[256];
  bool wide = false, bigEndian = false, ok = file != NULL;
  while (ok && (ok = fgets(line, sizeof line, file) != NULL) && strncmp(line, "end_header", 10) != 0) {
    sscanf(line, "element vertex %u", &s->vertexCount);
    sscanf(line, "element face %u", &s->triangleCount);
    wide = wide || strncmp(line, "property double", 15) == 0;
    bigEndian = bigEndian || strstr(line, "big_endian") != NULL;
  }
  if (ok) {
    *outVertices = calloc(s->vertexCount, sizeof **outVertices);
    if (!s->triangles) s->triangles = calloc(s->triangleCount, sizeof *s->triangles);
    ok = *outVertices && s->triangles && readVertices(file, s->vertexCount, wide, bigEndian, *outVertices);
  }
  for (uint32_t i = 0; ok && i < s->triangleCount; ++i) {
    unsigned char face[13];
    ok = fread(face, 1, sizeof face, file) == sizeof face && face[0] == 3;
    for (int k = 0; ok && k < 3; ++k) {
      s->triangles[i][k] = (uint32_t)readWord(face + 1 + 4 * k, 4, bigEndian);
      ok = s->triangles[i][k] < s->vertexCount;
    }
  }
  if (file) fclose(file);
  return ok;
}

static int compareEdges(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  if (x[1] != y[1]) return x[1] < y[1] ? -1 : 1;
  return x[0] < y[0] ? -1 : x[0] > y[0];
}

static int comparePairs(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
  return x[1] < y[1] ? -1 : x[1] > y[1];
}

static bool makeEdges(pnMovingScene *s) {
  size_t count = 3 * (size_t)s->triangleCount;
  s->edges = calloc(count, sizeof *s->edges);
  if (!s->edges) return false;
  for (size_t i = 0; i < count; ++i) {
    uint32_t a = s->triangles[i / 3][i % 3], b = s->triangles[i / 3][(i + 1) % 3];
    s->edges[i][0] = a < b ? a : b;
    s->edges[i][1] = a < b ? b : a;
  }
  qsort(s->edges, count, sizeof *s->edges, compareEdges);
  for (size_t i = 0; i < count; ++i) {
    if (s->edgeCount > 0 && compareEdges(s->edges[s->edgeCount - 1], s->edges[i]) == 0) continue;
    memmove(s->edges[s->edgeCount++], s->edges[i], sizeof *s->edges);
  }
  return true;
}

/* Pairs of names in one file, true or false for each in another: those that are true. */
static bool readTruth(const char *names, const char *truths, pnMovingScene *s, int which) {
  FILE *a = fopen(names, "rb"), *b = fopen(truths, "rb");
  size_t room = 0;
  unsigned x, y;
  char word;
  bool ok = a && b;
  uint32_t firstEdge = s->vertexCount, firstFace = s->vertexCount + s->edgeCount;
  while (ok && fscanf(a, "%*[^0-9]%u%*[^0-9]%u", &x, &y) == 2 && fscanf(b, "%*[^tf]%c", &word) == 1) {
    fscanf(b, "%*[a-z]");
    if (word != 't') continue;
    if (s->truthCount[which] == room) {
      room = room ? 2 * room : 1024;
      void *more = realloc(s->truth[which], room * sizeof *s->truth[which]);
      if (!more) {
        ok = false;
        break;
      }
      s->truth[which] = more;
    }
    uint32_t low = x < y ? x : y, high = x < y ? y : x, *pair = s->truth[which][s->truthCount[which]++];
    pair[0] = which ? low - firstEdge : low;
    pair[1] = which ? high - firstEdge : high - firstFace;
  }
  if (a) fclose(a);
  if (b) fclose(b);
  if (ok) qsort(s->truth[which], s->truthCount[which], sizeof *s->truth[which], comparePairs);
  return ok;
}

bool pnReadMovingScene(const char *dataFolder, const char *name, pnMovingScene *outScene) {
  bool cloth = strcmp(name, "cloth-ball") == 0;
  const char *frames[2] = {cloth ? "cloth_ball92" : "3036", cloth ? "cloth_ball93" : "3037"},
             *step = cloth ? "92" : "3036";
  const char *kind[2] = {"vf", "ee"};
  char path[2][1024];
  memset(outScene, 0, sizeof *outScene);
  bool ok = cloth || strcmp(name, "rod-twist") == 0;
  for (int i = 0; i < 2 && ok; ++i) {
    snprintf(path[0], sizeof path[0], "%s/scalable-ccd-data/%s/frames/%s.ply", dataFolder, name, frames[i]);
    ok = readPly(path[0], outScene, i ? &outScene->to : &outScene->from);
  }
  ok = ok && makeEdges(outScene);
  for (int i = 0; i < 2 && ok; ++i) {
    snprintf(path[0], sizeof path[0], "%s/scalable-ccd-data/%s/boxes/%s%s.json", dataFolder, name, step, kind[i]);
    snprintf(path[1], sizeof path[1], "%s/scalable-ccd-data/%s/mma_bool/%s%s_mma_bool.json", dataFolder, name, step,
             kind[i]);
    ok = readTruth(path[0], path[1], outScene, i);
  }
  return ok;
}

void pnFreeMovingScene(pnMovingScene *scene) {
  free(scene->from), free(scene->to), free(scene->edges), free(scene->triangles);
  free(scene->truth[0]), free(scene->truth[1]);
  memset(scene, 0, sizeof *scene);
}
