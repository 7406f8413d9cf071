/* bench_papers.c: the three experiments of [Larsson01], with all update rules, beside the paper's figures.
 *
 *   bench_papers [e1] [e2] [e3] [arity] [trees]   which experiments; all when none is named
 *   bench_papers --out FOLDER       also e1.csv, e2.csv and e3.csv, one line a step or size
 *   bench_papers --passes N --core N --step N      every N-th step only
 *   bench_papers --rows FILE                       figures as rows (record.h)
 *
 * The paper's machine was a Pentium III of 550 MHz: its milliseconds cannot compare with ours. What must carry over
 * are the ratios between the methods and the growth with the size. Two forms of our trees are run: "as in the paper"
 * (split at the box centre, one triangle a leaf; van den Bergen's method on a binary tree) and ours as they come. */
#include "lab.h"
#include "record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Method {
  const char *spec, *name;
} Method;

static const Method methods[] = {
    {"pinch:top-down:centre:leaf=1", "paper top-down"},
    {"pinch:bottom-up:centre:leaf=1", "paper bottom-up"},
    {"pinch:hybrid:centre:leaf=1", "paper hybrid"},
    {"pinch:bergen:centre:leaf=1:arity=2", "paper Bergen 2"},
    {"pinch:bergen:centre:leaf=1", "paper Bergen 8"},
    {"pinch:top-down", "our top-down"},
    {"pinch:bottom-up", "our bottom-up"},
    {"pinch:hybrid", "our hybrid"},
    {"pinch:bergen:arity=2", "our Bergen 2"},
    {"pinch:bergen", "our Bergen 8"},
    {"textbook:exact", "textbook"},
};
#define METHOD_COUNT ((uint32_t)(sizeof methods / sizeof methods[0]))

/* Rows by their use below. The paper compares its hybrid with van den Bergen's on a binary tree. */
enum { PAPER_HYBRID = 2, PAPER_BERGEN = 3, OUR_HYBRID = 7, OUR_BERGEN = 8, TEXTBOOK = 10 };

typedef struct Lab {
  pnLabSettings settings;
  uint32_t step;
  const char *folder;
  pnFrames *frames;
  pnRow *rows[16];
} Lab;

/* ---------------------------------------------------------------- running */

/* The first step in which something meets, and the step with most pairs: the worst contact of every method. */
static uint32_t firstStep(const pnFrames *frames) {
  uint32_t step = 0;
  while (step + 1 < frames->frameCount && frames->pairCounts[step] == 0) ++step;
  return step;
}

static uint32_t worstStep(const pnFrames *frames) {
  uint32_t worst = 0;
  for (uint32_t i = 1; i < frames->frameCount; ++i)
    worst = frames->pairCounts[i] >= frames->pairCounts[worst] ? i : worst;
  return worst;
}

/* Only these two steps, with the two before each to warm up, and more often. */
static void measureContacts(Lab *lab) {
  uint32_t steps[2] = {firstStep(lab->frames), worstStep(lab->frames)};
  for (uint32_t pass = 0; pass < 4 * lab->settings.passes; ++pass) {
    for (uint32_t i = 0; i < 2 * METHOD_COUNT; ++i) {
      uint32_t step = steps[i % 2];
      pn_labRunRow(lab->rows[i / 2], step > 2 ? step - 2 : 0, step + 1);
    }
  }
}

/* Measures all methods on a scene, all steps or only the two of Table 1; false when one is missing or wrong, which ends
 * the experiment. */
static bool run(Lab *lab, const char *scene, bool contactsOnly) {
  const char *specs[16];
  for (uint32_t i = 0; i < METHOD_COUNT; ++i) specs[i] = methods[i].spec;
  lab->frames = pn_labCreateFrames(scene, lab->step);
  if (lab->frames == NULL) return false;
  uint32_t count = pn_labCreateRows(lab->frames, &lab->settings, specs, METHOD_COUNT, lab->rows);
  if (count == METHOD_COUNT && contactsOnly) measureContacts(lab);
  else if (count == METHOD_COUNT) pn_labMeasure(lab->frames, &lab->settings, lab->rows, count);
  bool right = count == METHOD_COUNT;
  for (uint32_t i = 0; i < count; ++i) {
    pnRow *row = lab->rows[i];
    if (row->crashed || row->wrongFrames + row->wrongFirsts > 0) {
      fprintf(stderr, "bench_papers: %s on %s is WRONG in %u frames\n", row->spec, scene, row->wrongFrames);
      right = false;
    }
  }
  if (!right) {
    pn_labDestroyRows(lab->rows, count);
    pn_labDestroyFrames(lab->frames);
  }
  return right;
}

static void finish(Lab *lab) {
  pn_labDestroyRows(lab->rows, METHOD_COUNT);
  pn_labDestroyFrames(lab->frames);
}

/* Milliseconds of one step, update included. */
static double allTime(const pnRow *row, uint32_t step) {
  return row->update[step] + row->all[step];
}

static double firstTime(const pnRow *row, uint32_t step) {
  return row->update[step] + row->first[step];
}

static double meanTime(const Lab *lab, const pnRow *row, double (*time)(const pnRow *, uint32_t)) {
  double sum = 0.0;
  for (uint32_t i = 0; i < lab->frames->frameCount; ++i) sum += time(row, i);
  return sum / lab->frames->frameCount;
}

static FILE *openCsv(const Lab *lab, const char *name) {
  return pn_labOpenCsv("bench_papers", lab->folder, name);
}

/* Names of the methods as columns. */
static void printMethodHead(const char *first) {
  printf("%-14s", first);
  for (uint32_t i = 0; i < METHOD_COUNT; ++i) printf(" %15s", methods[i].name);
  printf("\n");
}

static void printMeans(const Lab *lab, const char *label, double (*time)(const pnRow *, uint32_t)) {
  printf("%-14s", label);
  for (uint32_t i = 0; i < METHOD_COUNT; ++i) printf(" %15.4f", meanTime(lab, lab->rows[i], time));
  printf("\n");
}

/* How many times faster than van den Bergen's method the hybrid is: the paper's claim. */
static void printGain(const Lab *lab, const char *paper, double (*time)(const pnRow *, uint32_t)) {
  double paperGain = meanTime(lab, lab->rows[PAPER_BERGEN], time) / meanTime(lab, lab->rows[PAPER_HYBRID], time);
  double textbookGain = meanTime(lab, lab->rows[TEXTBOOK], time) / meanTime(lab, lab->rows[OUR_HYBRID], time);
  double ourGain = meanTime(lab, lab->rows[OUR_BERGEN], time) / meanTime(lab, lab->rows[OUR_HYBRID], time);
  printf("hybrid against van den Bergen: %.1f times faster with the paper's trees, %.1f with ours; the paper: %s\n",
         paperGain, ourGain, paper);
  printf("hybrid against a textbook tree, lean and scalar, with all boxes updated bottom-up: %.1f times faster\n",
         textbookGain);
}

/* Steps that are kept of a series: enough for a plot. */
#define KEPT_STEPS 50u

/* Means of all methods, and a series of steps. */
static void record(const Lab *lab, const char *experiment) {
  const pnFrames *frames = lab->frames;
  pn_recordScene(experiment, frames->sceneName);
  uint32_t every = frames->frameCount > KEPT_STEPS ? frames->frameCount / KEPT_STEPS : 1;
  for (uint32_t i = 0; i < METHOD_COUNT; ++i) {
    const pnRow *row = lab->rows[i];
    pn_record(methods[i].name, "all ms", meanTime(lab, row, allTime));
    pn_record(methods[i].name, "first ms", meanTime(lab, row, firstTime));
    pn_record(methods[i].name, "wrong frames", row->wrongFrames + row->wrongFirsts);
    for (uint32_t step = every - 1; step < frames->frameCount; step += every) {
      double at = (step + 1.0) * lab->step;
      pn_recordStep(methods[i].name, "all ms by step", at, allTime(row, step));
      pn_recordStep(methods[i].name, "first ms by step", at, firstTime(row, step));
    }
  }
  pn_record("truth", "first hit", (firstStep(frames) + 1.0) * lab->step);
  pn_record("truth", "pairs at end", (double)frames->pairCounts[frames->frameCount - 1]);
}

/* One line a step: pairs, then all-pairs and first-pair milliseconds of each method. */
static void writeSteps(const Lab *lab, const char *name) {
  FILE *file = openCsv(lab, name);
  if (file == NULL) return;
  fprintf(file, "step,pairs");
  for (uint32_t i = 0; i < METHOD_COUNT; ++i) fprintf(file, ",all %s,first %s", methods[i].spec, methods[i].spec);
  fprintf(file, "\n");
  for (uint32_t step = 0; step < lab->frames->frameCount; ++step) {
    fprintf(file, "%u,%zu", step + 1, lab->frames->pairCounts[step]);
    for (uint32_t i = 0; i < METHOD_COUNT; ++i)
      fprintf(file, ",%.5f,%.5f", allTime(lab->rows[i], step), firstTime(lab->rows[i], step));
    fprintf(file, "\n");
  }
  fclose(file);
}

/* ---------------------------------------------------------------- experiment 1 */

/* Steps from 20 to 200 of one kind of query, as the paper's Figure 3 a and b. */
static void printSteps(const Lab *lab, const char *title, double (*time)(const pnRow *, uint32_t)) {
  printf("\n%s, milliseconds a step\n", title);
  printMethodHead("step (pairs)");
  uint32_t every = lab->frames->frameCount / 10;
  for (uint32_t step = every; step <= lab->frames->frameCount; step += every) {
    char label[32];
    snprintf(label, sizeof label, "%u (%zu)", step * lab->step, lab->frames->pairCounts[step - 1]);
    printf("%-14s", label);
    for (uint32_t i = 0; i < METHOD_COUNT; ++i) printf(" %15.4f", time(lab->rows[i], step - 1));
    printf("\n");
  }
  printMeans(lab, "mean of all", time);
}

static bool runE1(Lab *lab) {
  if (!run(lab, "s1-20480", false)) return false;
  uint32_t firstHit = firstStep(lab->frames);
  printf("\nE1: two bumpy spheres of 20480 triangles, 200 steps (Figure 3)\n");
  printf("first hit at step %u (paper: 60), %zu pairs at step 200 (paper: 3760)\n", (firstHit + 1) * lab->step,
         lab->frames->pairCounts[lab->frames->frameCount - 1]);
  printSteps(lab, "all pairs", allTime);
  printGain(lab, "about five times", allTime);
  printSteps(lab, "first pair", firstTime);
  printGain(lab, "about five times", firstTime);
  writeSteps(lab, "e1.csv");
  record(lab, "e1");
  finish(lab);
  return true;
}

/* ---------------------------------------------------------------- experiment 2 */

/* Table 1 of the paper: milliseconds at the first and at the worst contact, pairs at the worst. */
typedef struct PaperSize {
  uint32_t triangles;
  double first, worst;
  uint32_t pairs;
} PaperSize;

static const PaperSize paperSizes[] = {{1280, 2, 4, 138},      {5120, 6, 15, 562},    {8192, 8, 28, 1010},
                                       {16384, 15, 64, 2422},  {20480, 20, 98, 3760}, {32768, 30, 151, 4775},
                                       {65536, 62, 334, 12358}};
#define SIZE_COUNT ((uint32_t)(sizeof paperSizes / sizeof paperSizes[0]))

/* The slope of a straight line through the logarithms: time ~ size ^ slope. */
static double growthExponent(const double *times) {
  double sumX = 0.0, sumY = 0.0, sumXX = 0.0, sumXY = 0.0, n = SIZE_COUNT;
  for (uint32_t i = 0; i < SIZE_COUNT; ++i) {
    double x = log(paperSizes[i].triangles), y = log(times[i]);
    sumX += x, sumY += y, sumXX += x * x, sumXY += x * y;
  }
  return (n * sumXY - sumX * sumY) / (n * sumXX - sumX * sumX);
}

static bool runE2(Lab *lab) {
  static double worst[METHOD_COUNT][SIZE_COUNT], first[SIZE_COUNT], paperWorst[SIZE_COUNT];
  printf("\nE2: the same with other numbers of triangles (Table 1); milliseconds of our hybrid, all pairs\n");
  printf("%9s %10s %14s %14s %12s   paper: %8s %8s %8s\n", "triangles", "first hit", "first contact", "worst contact",
         "pairs there", "first", "worst", "pairs");
  FILE *csv = openCsv(lab, "e2.csv");
  if (csv != NULL)
    fprintf(csv, "triangles,method,first_hit_step,first_contact,worst_step,worst_contact,pairs_at_worst\n");
  for (uint32_t i = 0; i < SIZE_COUNT; ++i) {
    char scene[32];
    snprintf(scene, sizeof scene, "s1-%u", paperSizes[i].triangles);
    if (!run(lab, scene, true)) return false;
    uint32_t hit = firstStep(lab->frames), step = worstStep(lab->frames);
    for (uint32_t m = 0; m < METHOD_COUNT; ++m) {
      worst[m][i] = allTime(lab->rows[m], step);
      pn_recordScene("e2", "s1");
      pn_recordStep(methods[m].name, "first contact ms", paperSizes[i].triangles, allTime(lab->rows[m], hit));
      pn_recordStep(methods[m].name, "worst contact ms", paperSizes[i].triangles, worst[m][i]);
      if (csv != NULL) {
        fprintf(csv, "%u,%s,%u,%.5f,%u,%.5f,%zu\n", paperSizes[i].triangles, methods[m].spec, (hit + 1) * lab->step,
                allTime(lab->rows[m], hit), (step + 1) * lab->step, worst[m][i], lab->frames->pairCounts[step]);
      }
    }
    pn_recordStep("truth", "pairs at worst", paperSizes[i].triangles, (double)lab->frames->pairCounts[step]);
    pn_recordStep("the paper", "first contact ms", paperSizes[i].triangles, paperSizes[i].first);
    pn_recordStep("the paper", "worst contact ms", paperSizes[i].triangles, paperSizes[i].worst);
    pn_recordStep("the paper", "pairs at worst", paperSizes[i].triangles, paperSizes[i].pairs);
    first[i] = allTime(lab->rows[OUR_HYBRID], hit);
    paperWorst[i] = paperSizes[i].worst;
    printf("%9u %10u %14.4f %14.4f %12zu          %8.0f %8.0f %8u\n", paperSizes[i].triangles, (hit + 1) * lab->step,
           first[i], worst[OUR_HYBRID][i], lab->frames->pairCounts[step], paperSizes[i].first, paperSizes[i].worst,
           paperSizes[i].pairs);
    fflush(stdout);
    finish(lab);
  }
  printf("\ngrowth: time ~ triangles ^ exponent; first contact %.2f, worst contact as below (paper: %.2f)\n",
         growthExponent(first), growthExponent(paperWorst));
  for (uint32_t m = 0; m < METHOD_COUNT; ++m) printf("  %-16s %.2f\n", methods[m].name, growthExponent(worst[m]));
  if (csv != NULL) fclose(csv);
  return true;
}

/* ---------------------------------------------------------------- experiment 3 */

static bool runE3(Lab *lab) {
  static const char *const scenes[] = {"e3-spheres", "e3-arms"}, *const files[] = {"e3_spheres.csv", "e3_arms.csv"};
  static const char *const paper[] = {"5.6 times", "4.5 times"};
  printf("\nE3: 27 bodies of 5120 triangles, 200 steps, kept apart by a simple response (Figure 4)\n");
  for (int i = 0; i < 2; ++i) {
    if (!run(lab, scenes[i], false)) return false;
    size_t most = 0, sum = 0;
    for (uint32_t k = 0; k < lab->frames->frameCount; ++k) {
      sum += lab->frames->pairCounts[k];
      most = lab->frames->pairCounts[k] > most ? lab->frames->pairCounts[k] : most;
    }
    printf("\n%s: %u of %u steps with contact, %.0f pairs a step, %zu at most; mean milliseconds a step\n", scenes[i],
           lab->frames->hitFrames, lab->frames->frameCount, (double)sum / lab->frames->frameCount, most);
    printMethodHead("");
    printMeans(lab, "all pairs", allTime);
    printMeans(lab, "first pair", firstTime);
    printGain(lab, paper[i], allTime);
    writeSteps(lab, files[i]);
    record(lab, "e3");
    finish(lab);
  }
  return true;
}

/* ---------------------------------------------------------------- what the paper chose, and we */

/* One scene, the methods of a list, means over all steps. */
static bool runList(Lab *lab, const char *experiment, const char *title, const char *const *specs, uint32_t count) {
  lab->frames = pn_labCreateFrames("s1-20480", lab->step);
  if (lab->frames == NULL) return false;
  uint32_t made = pn_labCreateRows(lab->frames, &lab->settings, specs, count, lab->rows);
  pn_labMeasure(lab->frames, &lab->settings, lab->rows, made);
  printf("\n%s; mean milliseconds a step of s1-20480\n%-40s %10s %10s %10s\n", title, "", "update", "all pairs",
         "first pair");
  pn_recordScene(experiment, "s1-20480");
  bool right = made == count;
  for (uint32_t i = 0; i < made; ++i) {
    const pnRow *row = lab->rows[i];
    double all = meanTime(lab, row, allTime), first = meanTime(lab, row, firstTime);
    double update = pn_labFigures(lab->frames, row, NULL).update;
    printf("%-40s %10.4f %10.4f %10.4f%s\n", row->spec, update, all, first, row->wrongFrames > 0 ? "  WRONG" : "");
    pn_record(row->spec, "update ms", update);
    pn_record(row->spec, "all ms", all);
    pn_record(row->spec, "first ms", first);
    pn_record(row->spec, "wrong frames", row->wrongFrames + row->wrongFirsts);
    right = right && !row->crashed && row->wrongFrames + row->wrongFirsts == 0;
  }
  pn_labDestroyRows(lab->rows, made);
  pn_labDestroyFrames(lab->frames);
  return right;
}

/* The paper finds eight children a node best, of 2, 4 and 8. */
static bool runArity(Lab *lab) {
  static const char *const specs[] = {"pinch:hybrid:centre:leaf=1:arity=2",
                                      "pinch:hybrid:centre:leaf=1:arity=4",
                                      "pinch:hybrid:centre:leaf=1:arity=8",
                                      "pinch:hybrid:arity=2",
                                      "pinch:hybrid:arity=4",
                                      "pinch:hybrid:arity=8",
                                      "pinch:bottom-up:arity=2",
                                      "pinch:bottom-up:arity=8",
                                      "pinch:bergen:arity=2"};
  return runList(lab, "arity", "Children of a node", specs, sizeof specs / sizeof specs[0]);
}

/* Where a node is divided: at the middle of its box, at the mean of its triangles, along the mesh, or as we do. */
static bool runTrees(Lab *lab) {
  static const char *const specs[] = {
      "pinch:hybrid:centre:leaf=1",   "pinch:hybrid:mean:leaf=1", "pinch:hybrid:link:leaf=1",
      "pinch:hybrid:centre",          "pinch:hybrid:mean",        "pinch:hybrid:link",
      "pinch:hybrid:balanced:leaf=1", "pinch:hybrid:balanced"};
  return runList(lab, "trees", "Where trees are divided", specs, sizeof specs / sizeof specs[0]);
}

/* ---------------------------------------------------------------- main */

int main(int count, char **words) {
  static Lab lab;
  static const struct {
    const char *name;
    bool (*run)(Lab *);
  } experiments[] = {{"e1", runE1}, {"e2", runE2}, {"e3", runE3}, {"arity", runArity}, {"trees", runTrees}};
  enum { COUNT = sizeof experiments / sizeof experiments[0] };
  pn_recordArguments(&count, words);
  lab.settings = pn_defaultLabSettings();
  /* every step is wanted, however long it takes */
  lab.settings.seconds = 1e9;
  lab.step = 1;
  bool wants[COUNT] = {false}, any = false;
  for (int i = 1; i < count; ++i) {
    bool hasValue = i + 1 < count, known = false;
    for (uint32_t k = 0; k < COUNT; ++k) {
      bool here = strcmp(words[i], experiments[k].name) == 0;
      wants[k] = wants[k] || here;
      known = known || here;
    }
    any = any || known;
    if (known) {
      continue;
    } else if (strcmp(words[i], "--out") == 0 && hasValue) {
      lab.folder = words[++i];
    } else if (strcmp(words[i], "--passes") == 0 && hasValue) {
      lab.settings.passes = (uint32_t)fmax(1.0, atof(words[++i]));
    } else if (strcmp(words[i], "--step") == 0 && hasValue) {
      lab.step = (uint32_t)fmax(1.0, fmin(20.0, atof(words[++i])));
    } else if (strcmp(words[i], "--core") == 0 && hasValue) {
      lab.settings.core = atoi(words[++i]);
    } else {
      fprintf(stderr, "bench_papers: \"%s\" is not understood\n", words[i]);
      return 2;
    }
  }
  char machine[512];
  pn_labMachine(machine, sizeof machine);
  printf("%s\n", machine);
  bool ok = true;
  for (uint32_t k = 0; k < COUNT && ok; ++k) {
    ok = (any && !wants[k]) || experiments[k].run(&lab);
    fflush(stdout);
  }
  return ok ? 0 : 1;
}
