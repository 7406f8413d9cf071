/* bench_free.c: free bodies, every vertex new in every frame: pinch beside Embree, FCL, Bullet and CGAL, in one run,
 * taking turns.
 *
 *   bench_free                          all scenes, all peers of this build
 *   bench_free s1-20480 s2              these scenes
 *   bench_free --peer embree --peer pinch --peer pinch:threads=2 s4
 *   bench_free --csv FILE ...           the figures as comma-separated values too
 *   bench_free --rows FILE ...          figures as rows (record.h); --experiment NAME names them, "libraries" otherwise
 *   bench_free --list                   what there is
 *
 * Also: --passes N, --block N, --seconds N (for one peer on one scene), --core N, --step N (every n-th frame),
 * --cold MB (before every frame other memory is read), --anchor SPEC. A time is worth something only beside a right answer: "WRONG" stands in the row of a peer whose
 * pairs differ from the truth. */
#include "lab.h"
#include "record.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ROWS 64
#define MAX_SCENES 32

static const char *const usualScenes[] = {"s1-1280", "s1-5120", "s1-20480", "s1-81920", "s1-327680", "s2", "s3", "s4"};
static const char *const usualSpecs[] = {"floor",  "embree",    "embree:returned", "fcl:aabb", "fcl:kdop16",
                                         "bullet", "cgal:tree", "cgal:box",        "textbook", "pinch"};

typedef struct Arguments {
  pnLabSettings settings;
  const char *scenes[MAX_SCENES], *specs[MAX_ROWS], *csv, *anchor, *experiment;
  uint32_t sceneCount, specCount, frameStep;
  bool list;
} Arguments;

/* ---------------------------------------------------------------- arguments */

static void listAll(void) {
  printf("scenes:\n");
  for (uint32_t i = 0; pnGetSceneName(i) != NULL; ++i) printf("  %-12s %s\n", pnGetSceneName(i), pnGetSceneText(i));
  printf("peers:\n");
  for (uint32_t i = 0; pn_peers[i] != NULL; ++i) {
    const pnPeer *peer = pn_peers[i];
    printf("  %-12s %s%s%s\n", peer->name, peer->text, peer->options[0] != '\0' ? "; options: " : "", peer->options);
  }
}

/* False and a line on stderr when something is not understood. */
static bool readArguments(int count, char **words, Arguments *out) {
  for (int i = 1; i < count; ++i) {
    const char *word = words[i], *value = i + 1 < count ? words[i + 1] : NULL;
    if (strcmp(word, "--list") == 0) {
      out->list = true;
      continue;
    }
    if (strncmp(word, "--", 2) != 0) {
      if (out->sceneCount == MAX_SCENES) {
        fprintf(stderr, "bench_free: more than %d scenes\n", MAX_SCENES);
        return false;
      }
      out->scenes[out->sceneCount++] = word;
      continue;
    }
    if (value == NULL || (strcmp(word, "--peer") == 0 && out->specCount == MAX_ROWS)) {
      fprintf(stderr, "bench_free: %s needs a value, or there are too many of them\n", word);
      return false;
    }
    ++i;
    if (strcmp(word, "--peer") == 0) {
      out->specs[out->specCount++] = value;
    } else if (strcmp(word, "--csv") == 0) {
      out->csv = value;
    } else if (strcmp(word, "--experiment") == 0) {
      out->experiment = value;
    } else if (strcmp(word, "--anchor") == 0) {
      out->anchor = value;
    } else if (strcmp(word, "--passes") == 0) {
      out->settings.passes = (uint32_t)fmax(1.0, atof(value));
    } else if (strcmp(word, "--block") == 0) {
      out->settings.block = (uint32_t)fmax(1.0, atof(value));
    } else if (strcmp(word, "--seconds") == 0) {
      out->settings.seconds = fmax(0.01, atof(value));
    } else if (strcmp(word, "--core") == 0) {
      out->settings.core = atoi(value);
    } else if (strcmp(word, "--cold") == 0) {
      out->settings.cold = (uint32_t)fmax(0.0, fmin(4096.0, atof(value)));
    } else if (strcmp(word, "--step") == 0) {
      out->frameStep = (uint32_t)fmax(0.0, atof(value));
    } else {
      fprintf(stderr, "bench_free: unknown option %s\n", word);
      return false;
    }
  }
  return true;
}

/* What was not named is everything. Peers that this build does not have are left out without a word. */
static void fillIn(Arguments *a) {
  if (a->sceneCount == 0) {
    a->sceneCount = sizeof usualScenes / sizeof usualScenes[0];
    memcpy(a->scenes, usualScenes, sizeof usualScenes);
  }
  if (a->specCount > 0) return;
  for (size_t i = 0; i < sizeof usualSpecs / sizeof usualSpecs[0]; ++i) {
    for (uint32_t k = 0; pn_peers[k] != NULL; ++k) {
      size_t length = strlen(pn_peers[k]->name);
      bool same = strncmp(usualSpecs[i], pn_peers[k]->name, length) == 0;
      if (same && (usualSpecs[i][length] == ':' || usualSpecs[i][length] == '\0'))
        a->specs[a->specCount++] = usualSpecs[i];
    }
  }
}

/* ---------------------------------------------------------------- growth */

/* The time of each peer at each size of the two spheres, for the exponent of its growth. */
typedef struct Growth {
  char spec[96];
  double smallest, largest;    /* triangles */
  double smallTime, largeTime; /* milliseconds, all pairs */
} Growth;

static void noteGrowth(Growth *growth, const pnFrames *frames, pnRow *const *rows, uint32_t rowCount) {
  for (uint32_t i = 0; i < rowCount && strncmp(frames->sceneName, "s1-", 3) == 0; ++i) {
    Growth *g = growth;
    while (g->spec[0] != '\0' && strcmp(g->spec, rows[i]->spec) != 0) ++g;
    double n = frames->triangleCount, time = pn_labFigures(frames, rows[i], NULL).all;
    memcpy(g->spec, rows[i]->spec, sizeof g->spec);
    if (g->smallest == 0.0 || n < g->smallest) {
      g->smallest = n;
      g->smallTime = time;
    }
    if (n > g->largest) {
      g->largest = n;
      g->largeTime = time;
    }
  }
}

static void printGrowth(const Growth *growth) {
  bool head = false;
  for (; growth->spec[0] != '\0'; ++growth) {
    if (growth->largest > growth->smallest && growth->smallTime > 0.0) {
      if (!head) {
        printf("\ngrowth of the time with the size of s1: time ~ triangles ^ exponent\n");
        head = true;
      }
      double exponent = log(growth->largeTime / growth->smallTime) / log(growth->largest / growth->smallest);
      printf("%-38s %6.3f  (%.0f to %.0f triangles)\n", growth->spec, exponent, growth->smallest, growth->largest);
    }
  }
}

/* ---------------------------------------------------------------- the run */

/* Medians of every peer, with what its answers are worth. */
static void record(const char *experiment, const pnFrames *frames, pnRow *const *rows, uint32_t rowCount) {
  pn_recordScene(experiment, frames->sceneName);
  pn_record("truth", "triangles", frames->triangleCount);
  pn_record("truth", "pairs at end", (double)frames->pairCounts[frames->frameCount - 1]);
  for (uint32_t i = 0; i < rowCount; ++i) {
    const pnRow *row = rows[i];
    pnRowFigures figures = pn_labFigures(frames, row, NULL);
    pn_record(row->spec, "build ms", row->buildTime);
    pn_record(row->spec, "update ms", figures.update);
    pn_record(row->spec, "all ms", row->peer->isFloor ? NAN : figures.all);
    if (!row->peer->isFloor) {
      pn_record(row->spec, "all ms, a quarter of the frames below", pn_labQuantile(frames, row, 0.25));
      pn_record(row->spec, "all ms, three quarters below", pn_labQuantile(frames, row, 0.75));
    }
    pn_record(row->spec, "first ms", row->canFirst && !row->peer->isFloor ? figures.first : NAN);
    pn_record(row->spec, "MB", 1e-6 * (double)row->byteCount);
    pn_record(row->spec, "wrong frames", row->crashed ? row->frameCount : row->wrongFrames + row->wrongFirsts);
  }
}

/* False when the scene could not be made or pinch itself gave a wrong answer. */
static bool runScene(const Arguments *a, const char *scene, FILE *csv, Growth *growth) {
  pnRow *rows[MAX_ROWS];
  pnFrames *frames = pn_labCreateFrames(scene, a->frameStep);
  if (frames == NULL) return false;
  uint32_t rowCount = pn_labCreateRows(frames, &a->settings, a->specs, a->specCount, rows);
  pn_labMeasure(frames, &a->settings, rows, rowCount);
  pn_labPrint(frames, rows, rowCount, a->anchor);
  if (csv != NULL) pn_labCsvRows(csv, frames, rows, rowCount, a->anchor);
  record(a->experiment, frames, rows, rowCount);
  noteGrowth(growth, frames, rows, rowCount);
  bool right = true;
  for (uint32_t i = 0; i < rowCount; ++i) {
    bool wrong = rows[i]->crashed || rows[i]->wrongFrames + rows[i]->wrongFirsts > 0;
    right &= rows[i]->peer != &pn_peerPinch || !wrong;
  }
  pn_labDestroyRows(rows, rowCount);
  pn_labDestroyFrames(frames);
  return right;
}

/* The same in a process of its own, so that no scene finds the heap as the one before has left it. */
static bool runApart(const Arguments *a, const char *scene, FILE *csv, Growth *growth) {
  fflush(NULL);
  pid_t process = fork();
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool ok = runScene(a, scene, csv, growth);
    fflush(NULL);
    _exit(ok ? 0 : 1);
  }
  int status = 1;
  return process > 0 && waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int count, char **words) {
  Arguments a = {.settings = pn_defaultLabSettings(), .anchor = "embree", .experiment = "libraries"};
  pn_recordArguments(&count, words);
  if (!readArguments(count, words, &a)) return 2;
  if (a.list) {
    listAll();
    return 0;
  }
  fillIn(&a);
  FILE *csv = NULL;
  if (a.csv != NULL) {
    csv = fopen(a.csv, "w");
    if (csv == NULL) {
      fprintf(stderr, "bench_free: cannot write %s\n", a.csv);
      return 2;
    }
    pn_labCsvHead(csv);
  }
  char machine[512];
  pn_labMachine(machine, sizeof machine);
  printf("%s\n%u passes, blocks of %u frames; ratios against %s\n", machine, a.settings.passes, a.settings.block,
         a.anchor);

  Growth *growth = pn_labShare(sizeof(Growth) * (MAX_ROWS + 1));
  bool ok = true;
  for (uint32_t i = 0; i < a.sceneCount; ++i) ok &= runApart(&a, a.scenes[i], csv, growth);
  printGrowth(growth);
  pn_labUnshare(growth, sizeof(Growth) * (MAX_ROWS + 1));
  if (csv != NULL) fclose(csv);
  return ok ? 0 : 1;
}
