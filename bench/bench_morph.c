/* bench_morph.c: morphing bodies: the two experiments of [Larsson03], scene s3 beside Embree, and a talking face.
 *
 *   bench_morph [s3] [e4] [e5] [idle] [face]     which experiments; all when none is named
 *   bench_morph --passes N --core N --step N     every N-th frame only
 *   bench_morph --method NAME                    only this one of the methods
 *   bench_morph --rows FILE                      figures as rows (record.h)
 *   bench_morph --out FOLDER                     also morph_s3.csv, morph_e4.csv, morph_e5.csv
 *
 * A body that morphs is given weights and a transform. What it is compared with is our best update for free bodies, hybrid,
 * the paper's yardstick, with vertices from three sources:
 *   "hybrid"              finished vertices, for nothing ("bottom-up" too), which nobody has
 *   "hybrid of weights"   the same body, with pnTreeDef.update set to hybrid: it asks the pose for all vertices
 *   "evaluate, hybrid"    all vertices evaluated into an array, then a free body, as an application would */
#include "morph_lab.h"
#include "record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- figures */

/* The median over frames with (hits = 1) or without (0) of a + b; b may be null. */
static double median(const pnMorphLab *lab, const double *a, const double *b, int hits) {
  double *values = malloc(sizeof(double) * lab->frameCount);
  uint32_t count = 0;
  for (uint32_t f = 0; values != NULL && f < lab->frameCount; ++f)
    if ((lab->pairCounts[f] > 0) == (hits == 1)) values[count++] = a[f] + (b != NULL ? b[f] : 0.0);
  double result = pn_labMedian(values, count);
  free(values);
  return result;
}

static double mean(const pnMorphLab *lab, const double *times) {
  double sum = 0.0;
  for (uint32_t f = 0; times != NULL && f < lab->frameCount; ++f) sum += times[f];
  return sum / lab->frameCount;
}

/* What a frame costs in counters, and what frames cost in which the roots are apart. */
static void printCounters(const pnMorphLab *lab, const pnMorphRunner *runner) {
  double vertices = 0.0, nodes = 0.0, leafPairs = 0.0, exact = 0.0;
  uint64_t mostIdle = 0;
  uint32_t idle = 0;
  for (uint32_t f = 0; f < lab->frameCount; ++f) {
    const pnCost *cost = &runner->costs[f];
    vertices += (double)cost->verticesFetched / lab->frameCount;
    nodes += (double)cost->nodesUpdated / lab->frameCount;
    leafPairs += (double)cost->leafPairs / lab->frameCount;
    exact += (double)cost->exactTests / lab->frameCount;
    bool apart = cost->nodePairs + cost->leafPairs == 0;
    idle += apart;
    mostIdle = apart && cost->verticesFetched > mostIdle ? cost->verticesFetched : mostIdle;
  }
  printf("  %-18s %8.0f nodes %8.0f vertices %8.0f leaf pairs %8.0f exact tests a frame", runner->method->name, nodes,
         vertices, leafPairs, exact);
  if (idle > 0) printf("; vertices in the %u frames with roots apart: %llu", idle, (unsigned long long)mostIdle);
  printf("\n");
}

/* Means of all methods, and of the first two a series for a plot. */
static void record(const pnMorphLab *lab, const char *experiment) {
  pn_recordScene(experiment, pnScene_GetName(lab->scene));
  for (uint32_t i = 0; i < MORPH_METHOD_COUNT; ++i) {
    const pnMorphRunner *r = &lab->runners[i];
    if (r->method == NULL) continue;
    const char *name = r->method->name;
    pn_record(name, "all ms", mean(lab, r->all));
    pn_record(name, "first ms", mean(lab, r->first));
    pn_record(name, "hint ms", mean(lab, r->hinted));
    pn_record(name, "all ms, hits", median(lab, r->all, NULL, 1));
    pn_record(name, "all ms, idle", median(lab, r->all, NULL, 0));
    pn_record(name, "kB", (double)r->byteCount / 1024);
    pn_record(name, "wrong frames", r->wrong);
    for (uint32_t f = 0; f < lab->frameCount; f += lab->frameCount / 50 + 1) {
      pn_recordStep(name, "all ms by step", f * lab->step, r->all[f]);
      pn_recordStep(name, "first ms by step", f * lab->step, r->first[f]);
    }
  }
  for (uint32_t i = 0; i < lab->peerCount; ++i) {
    const pnRow *row = lab->peers[i];
    pn_record(row->spec, "all ms, hits", median(lab, row->all, row->update, 1));
    pn_record(row->spec, "all ms, idle", median(lab, row->all, row->update, 0));
    pn_record(row->spec, "wrong frames", row->wrongFrames);
  }
}

static void printScene(const pnMorphLab *lab, const char *title) {
  uint32_t hitFrames = 0;
  size_t pairs = 0, most = 0;
  for (uint32_t f = 0; f < lab->frameCount; ++f) {
    hitFrames += lab->pairCounts[f] > 0;
    pairs += lab->pairCounts[f];
    most = lab->pairCounts[f] > most ? lab->pairCounts[f] : most;
  }
  printf("\n%s: %u bodies of %u triangles, %u frames, %u with hits, %.0f pairs a frame, %zu at most\n", title,
         lab->bodyCount, lab->bodies[0].triangleCount, lab->frameCount, hitFrames, (double)pairs / lab->frameCount,
         most);
  printf("%-20s %10s %10s %10s | %10s %10s | %10s %10s | %8s %8s %8s | %9s\n", "ms a frame", "all mean", "all hits",
         "all idle", "first mean", "first hits", "hint mean", "hint hits", "x all", "x first", "x hint", "kB");
  const pnMorphRunner *yard = &lab->runners[MORPH_HYBRID];
  for (uint32_t i = 0; i < MORPH_METHOD_COUNT; ++i) {
    const pnMorphRunner *r = &lab->runners[i];
    if (r->method != NULL) {
      double all = mean(lab, r->all), first = mean(lab, r->first), hinted = mean(lab, r->hinted);
      printf("%-20s %10.5f %10.5f %10.5f | %10.5f %10.5f | %10.5f %10.5f |", r->method->name, all,
             median(lab, r->all, NULL, 1), median(lab, r->all, NULL, 0), first, median(lab, r->first, NULL, 1), hinted,
             median(lab, r->hinted, NULL, 1));
      printf(" %8.2f %8.2f %8.2f | %9zu\n", mean(lab, yard->all) / all, mean(lab, yard->first) / first,
             mean(lab, yard->hinted) / hinted, r->byteCount / 1024);
    }
  }
  printf("(x: how many times faster than hybrid, by the means; hint: a first pair, last frame's tried before)\n");
  for (uint32_t i = 0; i < MORPH_METHOD_COUNT; ++i)
    if (lab->runners[i].method != NULL) printCounters(lab, &lab->runners[i]);
}

/* One line a frame: pairs, then all-pairs and first-pair milliseconds of each method, without and with hints. */
static void writeFrames(const pnMorphLab *lab, const char *name) {
  FILE *file = pn_openMorphCsv(lab, name);
  if (file == NULL) return;
  fprintf(file, "frame,pairs");
  for (uint32_t i = 0; i < MORPH_METHOD_COUNT; ++i) {
    const char *method = pn_morphMethods[i].name;
    fprintf(file, ",\"all %s\",\"first %s\",\"hint %s\"", method, method, method);
  }
  fprintf(file, "\n");
  for (uint32_t f = 0; f < lab->frameCount; ++f) {
    fprintf(file, "%u,%zu", f * lab->step, lab->pairCounts[f]);
    for (uint32_t i = 0; i < MORPH_METHOD_COUNT; ++i) {
      const pnMorphRunner *r = &lab->runners[i];
      fprintf(file, ",%.5f,%.5f,%.5f", r->method ? r->all[f] : 0.0, r->method ? r->first[f] : 0.0,
              r->method ? r->hinted[f] : 0.0);
    }
    fprintf(file, "\n");
  }
  fclose(file);
}

/* ---------------------------------------------------------------- s3 and e4 */

static void printPeers(const pnMorphLab *lab) {
  const pnMorphRunner *ours = &lab->runners[MORPH_BLENDED];
  for (uint32_t i = 0; i < lab->peerCount && ours->method != NULL; ++i) {
    const pnRow *row = lab->peers[i];
    double hits = median(lab, row->all, row->update, 1), idle = median(lab, row->all, row->update, 0);
    printf("%-20s %10s %10.5f %10.5f | %10s %10.5f |", row->spec, "", hits, idle, "",
           median(lab, row->first, row->update, 1));
    printf(" ours: %.1f times faster on frames with hits (bar 9), %.0f on frames without (bar 1000)\n",
           hits / median(lab, ours->all, NULL, 1), idle / median(lab, ours->all, NULL, 0));
  }
}

/* s3: all three references at a time, beside Embree. e4: two at a time, as in the paper. */
static bool runTwo(pnMorphLab *lab, const char *name, const char *title, const char *file, bool withPeers) {
  bool right = pn_runMorphScene(lab, name, withPeers);
  if (right) {
    printScene(lab, title);
    printPeers(lab);
    record(lab, withPeers ? "s3" : "e4");
    writeFrames(lab, file);
    fflush(stdout);
    pn_closeMorphScene(lab);
  }
  return right;
}

/* ---------------------------------------------------------------- e5 */

/* The slope of a straight line through the logarithms. */
static double growth(const double *times, const double *sizes, uint32_t n) {
  double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (uint32_t i = 0; i < n; ++i) {
    double a = log(sizes[i]), b = log(times[i]);
    x += a, y += b, xx += a * a, xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

typedef struct Dolphins {
  double all[MORPH_METHOD_COUNT][4], first[MORPH_METHOD_COUNT][4], hinted[MORPH_METHOD_COUNT][4], sizes[4];
} Dolphins;

static void printGain(const double *yardstick, const double *times, const double *sizes) {
  for (uint32_t i = 0; i < 4; ++i) printf(" %7.2f", yardstick[i] / times[i]);
  printf(" %8.2f", growth(times, sizes, 4));
}

static void printGains(const Dolphins *d, uint32_t yardstick) {
  printf("\nE5: times faster than \"%s\" (paper: 1.5 to 9 for all pairs, 2 to 58 for a first pair), and growth\n",
         pn_morphMethods[yardstick].name);
  printf("%-20s %31s %8s | %31s %8s | %31s %8s\n", "", "all pairs: 564 2256 9024 36096", "exponent", "first pair",
         "exponent", "first pair, both with hints", "exponent");
  for (uint32_t m = 0; m < MORPH_METHOD_COUNT; ++m) {
    if (d->all[m][0] > 0.0) {
      printf("%-20s", pn_morphMethods[m].name);
      printGain(d->all[yardstick], d->all[m], d->sizes);
      printf(" |");
      printGain(d->first[yardstick], d->first[m], d->sizes);
      printf(" |");
      printGain(d->hinted[yardstick], d->hinted[m], d->sizes);
      printf("\n");
    }
  }
}

static void writeDolphins(const pnMorphLab *lab, const Dolphins *d) {
  FILE *file = pn_openMorphCsv(lab, "morph_e5.csv");
  if (file == NULL) return;
  fprintf(file, "triangles,method,all_ms,first_ms,hint_ms\n");
  for (uint32_t i = 0; i < 4 * MORPH_METHOD_COUNT; ++i) {
    fprintf(file, "%.0f,\"%s\",%.5f,%.5f,%.5f\n", d->sizes[i % 4], pn_morphMethods[i / 4].name, d->all[i / 4][i % 4],
            d->first[i / 4][i % 4], d->hinted[i / 4][i % 4]);
  }
  fclose(file);
}

static bool runE5(pnMorphLab *lab) {
  static const char *const names[] = {"e5-564", "e5-2256", "e5-9024", "e5-36096"};
  static Dolphins d;
  for (uint32_t i = 0; i < 4; ++i) {
    if (!pn_runMorphScene(lab, names[i], false)) return false;
    d.sizes[i] = lab->bodies[0].triangleCount;
    printScene(lab, "E5");
    record(lab, "e5");
    for (uint32_t m = 0; m < MORPH_METHOD_COUNT; ++m) {
      d.all[m][i] = mean(lab, lab->runners[m].all);
      d.first[m][i] = mean(lab, lab->runners[m].first);
      d.hinted[m][i] = mean(lab, lab->runners[m].hinted);
    }
    fflush(stdout);
    pn_closeMorphScene(lab);
  }
  printGains(&d, MORPH_OWN_HYBRID);
  printGains(&d, MORPH_EVALUATED_HYBRID);
  printGains(&d, MORPH_HYBRID);
  writeDolphins(lab, &d);
  return true;
}

/* ---------------------------------------------------------------- frames in which nothing is near */

static bool runIdle(pnMorphLab *lab) {
  static const char *const names[] = {"s3-320", "s3-5120", "s3-81920", "s3-327680"};
  const char *only = lab->only;
  uint32_t step = lab->step;
  lab->only = pn_morphMethods[MORPH_BLENDED].name;
  lab->step = 16;
  printf("\nFrames without contact, two bodies: microseconds a frame, and vertices computed\n");
  bool right = true;
  for (uint32_t i = 0; i < 4 && right; ++i) {
    right = pn_runMorphScene(lab, names[i], false);
    if (right) {
      const pnMorphRunner *r = &lab->runners[MORPH_BLENDED];
      uint64_t vertices = 0;
      for (uint32_t f = 0; f < lab->frameCount; ++f) {
        bool apart = r->costs[f].nodePairs + r->costs[f].leafPairs == 0;
        vertices += apart ? r->costs[f].verticesFetched : 0;
      }
      pn_recordScene("morph-idle", "s3");
      pn_recordStep("blended", "us by triangles", lab->bodies[0].triangleCount, 1e3 * median(lab, r->all, NULL, 0));
      printf("  %6u triangles each: %.2f, %llu\n", lab->bodies[0].triangleCount, 1e3 * median(lab, r->all, NULL, 0),
             (unsigned long long)vertices);
      pn_closeMorphScene(lab);
    }
  }
  lab->only = only;
  lab->step = step;
  return right;
}

/* ---------------------------------------------------------------- main */

int main(int count, char **words) {
  static pnMorphLab lab;
  pn_recordArguments(&count, words);
  static const char *const names[] = {"s3", "e4", "e5", "idle", "face"};
  enum { NAMES = sizeof names / sizeof names[0] };
  bool wants[NAMES] = {false}, any = false;
  lab.settings = pn_defaultLabSettings();
  lab.settings.seconds = 1e9; /* every frame of everybody, however long it takes */
  lab.step = 1;
  for (int i = 1; i < count; ++i) {
    bool hasValue = i + 1 < count, known = false;
    for (uint32_t k = 0; k < NAMES; ++k) {
      bool here = strcmp(words[i], names[k]) == 0;
      wants[k] = wants[k] || here;
      known = known || here;
    }
    any = any || known;
    if (known) {
      continue;
    } else if (strcmp(words[i], "--passes") == 0 && hasValue) {
      lab.settings.passes = (uint32_t)fmax(1.0, atof(words[++i]));
    } else if (strcmp(words[i], "--step") == 0 && hasValue) {
      lab.step = (uint32_t)fmax(1.0, atof(words[++i]));
    } else if (strcmp(words[i], "--core") == 0 && hasValue) {
      lab.settings.core = atoi(words[++i]);
    } else if (strcmp(words[i], "--method") == 0 && hasValue) {
      lab.only = words[++i];
    } else if (strcmp(words[i], "--out") == 0 && hasValue) {
      lab.folder = words[++i];
    } else {
      fprintf(stderr, "bench_morph: \"%s\" is not understood\n", words[i]);
      return 2;
    }
  }
  char machine[512];
  pn_labMachine(machine, sizeof machine);
  printf("%s\n", machine);
  pn_morphCheck(pnCreatePairList(&lab.list));
  bool ok = (any && !wants[0]) || runTwo(&lab, "s3", "S3", "morph_s3.csv", true);
  ok = ok && ((any && !wants[1]) || runTwo(&lab, "e4", "E4", "morph_e4.csv", false));
  ok = ok && ((any && !wants[2]) || runE5(&lab));
  ok = ok && ((any && !wants[3]) || runIdle(&lab));
  ok = ok && ((any && !wants[4]) || pn_runFace(&lab));
  pnDestroyPairList(lab.list);
  free(lab.pairs.data);
  return ok ? 0 : 1;
}
