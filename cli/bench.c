/* bench.c: `pinch bench`: the laboratory from one command. Which experiments there are, and what was asked for; bench_run.c runs
 * them, bench_show.c shows what came of it. The experiments themselves are programs of bench/, built with -DPINCH_BENCH=ON. */
#include "bench.h"
#include "command.h"
#include "out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const pnExperiment s_experiments[] = {
    {"e1", "papers", "bench_papers", "e1", "e1 --step 10 --passes 1", "--passes", NULL, 60, 4, false,
     "two bumpy spheres sink into each other, all update rules [Larsson01]"},
    {"e2", "papers", "bench_papers", "e2", "e2 --step 10 --passes 1", "--passes", NULL, 90, 14, false,
     "the same with 1 280 to 65 536 triangles: growth [Larsson01]"},
    {"e3", "papers", "bench_papers", "e3 --passes 1", "e3 --step 20 --passes 1", "--passes", NULL, 60, 8, false,
     "27 bodies, spheres and arms, kept apart by a response [Larsson01]"},
    {"arity", "papers", "bench_papers", "arity", "arity --step 10 --passes 1", "--passes", NULL, 30, 4, false,
     "2, 4 or 8 children of a node [Larsson01]"},
    {"trees", "papers", "bench_papers", "trees", "trees --step 10 --passes 1", "--passes", NULL, 30, 4, false,
     "trees divided at the centre, the mean, along the mesh [Larsson01]"},
    {"e4", "papers", "bench_morph", "e4", "e4 --step 16 --passes 1", "--passes", NULL, 60, 5, false,
     "two bodies of three references pass through each other [Larsson03]"},
    {"e5", "papers", "bench_morph", "e5 --step 4", "e5 --step 40 --passes 1", "--passes", NULL, 90, 14, false,
     "twelve dolphins of 564 to 36 096 triangles [Larsson03]"},
    {"s3", "papers", "bench_morph", "s3 --step 4", "s3 --step 32 --passes 1", "--passes", NULL, 40, 5, false,
     "morphing bodies beside Embree"},
    {"e6", "papers", "bench_skin", "e6", "e6 --frames 12 --passes 1 --sides 2", "--passes", NULL, 40, 5, false,
     "an avatar close to the walls of a museum [Mujika09]"},
    {"e7", "papers", "bench_skin", "e7", "e7 --frames 12 --passes 1 --sides 2", "--passes", NULL, 40, 9, false,
     "an avatar in a living-room [Mujika09]"},
    {"e8", "papers", "bench_soup", "e8", "e8 --frames 3", "--frames", NULL, 60, 8, false,
     "updating a soup, with and without coherence [Ganovelli00]"},
    {"e9", "papers", "bench_soup", "e9", "e9 --frames 3", "--frames", NULL, 10, 2, false,
     "the same by levels of the octree [Ganovelli00]"},
    {"e10", "papers", "bench_soup", "e10", "e10 --frames 3", "--frames", NULL, 10, 2, false,
     "pairs of buckets, and which of two to open [Ganovelli00]"},
    {"e11", "papers", "bench_volume", "e11", "e11 --passes 1", "--passes", NULL, 20, 6, true,
     "the volume that six pairs of bodies share [Heidelberger03]"},
    {"e12", "papers", "bench_volume", "e12", "e12 --passes 1", "--passes", NULL, 30, 10, true,
     "100 000 points in five bodies [Heidelberger03]"},
    {"e13", "papers", "bench_volume", "e13", "e13 --passes 1", "--passes", NULL, 5, 2, true,
     "knot and dragon [Heidelberger03]"},
    {"e14", "papers", "bench_volume", "e14", "e14", NULL, NULL, 3, 3, true,
     "20 000 particles and a body that deforms [Heidelberger03]"},
    {"world", "peers", "bench_world", "", "--passes 1 --step 4 s1-20480 s2 s4 bodies idle-10000 blobs shuffle slivers",
     "--passes", NULL, 300, 30, false, "the default world on what users bring, beside Embree"},
    {"libraries", "peers", "bench_free",
     "--seconds 3 --step 4 --peer embree --peer embree:rebuild --peer embree:joined --peer embree:compact --peer "
     "fcl:aabb "
     "--peer fcl:kdop16 --peer bullet --peer cgal:tree --peer cgal:box --peer textbook --peer pinch --peer "
     "pinch:default --peer floor s1-20480 s2 s4 s5-grid s5-turned",
     "--seconds 0.5 --step 20 --passes 1 --peer embree --peer embree:rebuild --peer fcl:aabb --peer bullet --peer "
     "textbook --peer pinch --peer floor s1-20480 s4",
     "--passes", "pinch:threads=", 240, 15, false, "every library, and whether its pairs are right"},
    {"sweep", "peers", "bench_free",
     "--experiment sweep --seconds 0.5 --step 10 --passes 1 --peer embree --peer embree:medium --peer "
     "embree:high --peer embree:robust --peer embree:compact --peer embree:static --peer embree:leaf=1 --peer "
     "embree:leaf=2 --peer embree:leaf=8 --peer embree:leaf=16 --peer embree:rebuild --peer "
     "embree:rebuild:medium --peer embree:rebuild:high --peer embree:joined --peer embree:no-pretest --peer "
     "embree:returned --peer fcl:aabb --peer fcl:aabb:median --peer fcl:aabb:centre --peer fcl:kdop16 --peer "
     "fcl:kdop18 --peer fcl:kdop24 --peer bullet --peer cgal:tree --peer cgal:box --peer cgal:box:cutoff=3 "
     "--peer cgal:box:cutoff=30 --peer cgal:box:cutoff=100 s1-20480 s2 s4",
     "--experiment sweep --seconds 0.1 --step 40 --passes 1 --peer embree --peer embree:medium --peer "
     "embree:high --peer embree:robust --peer embree:compact --peer embree:static --peer embree:leaf=1 --peer "
     "embree:leaf=2 --peer embree:leaf=8 --peer embree:leaf=16 --peer embree:rebuild --peer "
     "embree:rebuild:medium --peer embree:rebuild:high --peer embree:joined --peer embree:no-pretest --peer "
     "embree:returned --peer fcl:aabb --peer fcl:aabb:median --peer fcl:aabb:centre --peer fcl:kdop16 --peer "
     "fcl:kdop18 --peer fcl:kdop24 --peer bullet --peer cgal:tree --peer cgal:box --peer cgal:box:cutoff=3 "
     "--peer cgal:box:cutoff=30 --peer cgal:box:cutoff=100 s1-20480",
     "--passes", NULL, 120, 20, false, "every setting of every library: which one is its best"},
    {"growth", "peers", "bench_free",
     "--experiment growth --seconds 2 --passes 2 --peer embree --peer fcl:aabb --peer textbook --peer pinch s1-1280 "
     "s1-5120 s1-20480 s1-81920 s1-327680",
     "--experiment growth --seconds 0.3 --step 40 --passes 1 --peer embree --peer pinch s1-1280 s1-5120 s1-20480",
     "--passes", "pinch:threads=", 120, 5, false, "how time grows with the number of triangles"},
    {"update", "peers", "bench_free",
     "--experiment update --cold 64 --seconds 4 --step 1 --peer pinch --peer floor s1-20480 s1-327680 s4 cloth-ball",
     "--experiment update --cold 64 --seconds 0.3 --step 40 --passes 1 --peer pinch --peer floor s1-20480 s4",
     "--passes", NULL, 60, 5, false,
     "trees of free bodies follow vertices that are in no cache, beside one pass over them"},
    {"geom", "more", "bench_geom", "", "2000", NULL, NULL, 10, 2, false,
     "nanoseconds for one pair of triangles, one sign"},
    {"build", "more", "bench_build", "", "--passes 1 s1-20480 s4", "--passes", NULL, 40, 3, false,
     "how long trees take to build, beside Embree"},
    {"idle", "more", "bench_morph", "idle", "idle --passes 1", "--passes", NULL, 30, 15, false,
     "morphing bodies with nothing near"},
    {"shapes", "more", "bench_crowd", "", "--count 10", NULL, NULL, 30, 15, false,
     "what each body of a crowd costs before its first frame, and saved shapes"},
    {"find", "more", "bench_find", "--triangles 20000", "--triangles 10000 --seconds 1 --passes 1", "--passes", NULL,
     15, 3, false, "what findings add to a scan"},
    {"wear", "more", "bench_soup", "wear", "wear", NULL, NULL, 60, 60, false, "an order of a soup that wears out"},
    {"broad", "more", "bench_broad", "", "--quick", NULL, NULL, 30, 4, false,
     "many bodies: tree, sweep and prune, all with all; loose boxes"},
    {"impact", "more", "bench_impact", "all", "all --passes 1", "--passes", NULL, 40, 20, false,
     "what meets between two frames: public scenes and their truth (data folder)"},
    {"million", "more", "bench_soup", "million", "million --frames 2", "--frames", NULL, 60, 20, false,
     "a million free triangles"},
    {"churn", "more", "bench_soup", "churn --frames 5", "churn --frames 2", "--frames", NULL, 90, 40, false,
     "primitives that come and go"},
    {"crowd", "more", "bench_skin", "crowd", "crowd --frames 8 --passes 1", "--passes", NULL, 40, 10, false,
     "a hundred skinned characters in a museum"},
    {"query", "more", "bench_query", "", "--passes 5 --questions 10000", "--passes", NULL, 30, 12, false,
     "rays, closest points and distances beside Embree and FCL"},
    {"depth", "more", "bench_volume", "depth", "depth --passes 1", "--passes", NULL, 10, 3, true,
     "depth of penetration, and bodies that overlap themselves"},
};

const pnExperiment *pn_experiment(size_t i) {
  return i < sizeof s_experiments / sizeof *s_experiments ? &s_experiments[i] : NULL;
}

uint32_t pn_secondsOf(const pnExperiment *e, bool quick) {
  char row[80];
  int length = snprintf(row, sizeof row, "\ntime,%s,%s,seconds,,", e->name, quick ? "quick" : "full");
  const char *at = strstr((const char *)pn_textOfTimes, row);
  return at ? (uint32_t)(strtod(at + length, NULL) + 0.99) : quick ? e->quickSeconds : e->seconds;
}

/* ---------------------------------------------------------------- what was asked for */

static void choose(pnBenchRun *run, const pnExperiment *e) {
  for (size_t i = 0; i < run->chosenCount; ++i)
    if (run->chosen[i] == e) return;
  if (run->chosenCount < sizeof run->chosen / sizeof *run->chosen) run->chosen[run->chosenCount++] = e;
}

/* A name, a group, or "all". False when there is none of it. */
static bool chooseWord(pnBenchRun *run, const char *word) {
  bool any = false;
  const pnExperiment *e;
  for (size_t i = 0; (e = pn_experiment(i)) != NULL; ++i) {
    if (strcmp(word, e->name) == 0 || strcmp(word, e->group) == 0 || strcmp(word, "all") == 0) {
      choose(run, e);
      any = true;
    }
  }
  return any;
}

static int printList(void) {
  pnTable table = {0};
  pn_addColumn(&table, "name");
  pn_addColumn(&table, "group");
  pn_addColumn(&table, ">seconds");
  pn_addColumn(&table, ">quick");
  pn_addColumn(&table, "what it shows");
  uint32_t all = 0, quick = 0;
  const pnExperiment *e;
  for (size_t i = 0; (e = pn_experiment(i)) != NULL; ++i) {
    pn_addCell(&table, "%s", e->name);
    pn_addCell(&table, "%s", e->group);
    pn_addCell(&table, "%u", pn_secondsOf(e, false));
    pn_addCell(&table, "%u", pn_secondsOf(e, true));
    pn_addCell(&table, "%s", e->text);
    if (strcmp(e->group, "papers") == 0) all += pn_secondsOf(e, false), quick += pn_secondsOf(e, true);
  }
  bool good = pn_printTable(&table);
  pn_freeTable(&table);
  printf("\nAll of the papers together: about %u minutes, with --quick %u. Any scene: pinch bench scene NAME.\n",
         (all + 59) / 60, (quick + 59) / 60);
  return good && pn_finishOutput("bench") ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
}

/* "scene NAME...": an experiment that is made on the spot. */
static pnExperiment s_scene = {.name = "scene",
                               .group = "",
                               .program = "bench_world",
                               .words = "",
                               .quick = "--passes 1 --step 4",
                               .passes = "--passes",
                               .seconds = 30,
                               .quickSeconds = 10,
                               .text = "the default world on scenes that were named"};

static bool readWords(const pnUsage *usage, pnBenchRun *run, int argc, char **argv) {
  if (argc == 0) {
    pn_sayWrong(usage, "say what: list, papers, peers, more, all, scene NAME, or names out of the list");
    return false;
  }
  if (strcmp(argv[0], "scene") == 0) {
    if (argc < 2) pn_sayWrong(usage, "which scene? s1, s2, s4, blobs, cloth-ball, ...: scenes/scenes.h has them all");
    for (int i = 1; i < argc && run->scenes.count < PN_MAX_WORDS; ++i) run->scenes.items[run->scenes.count++] = argv[i];
    choose(run, &s_scene);
    return argc > 1;
  }
  for (int i = 0; i < argc; ++i) {
    if (strcmp(argv[i], "show") == 0) continue; /* nothing is run: what is there is shown */
    if (!chooseWord(run, argv[i])) {
      pn_sayWrong(usage, "there is no experiment '%s'; pinch bench list shows them", argv[i]);
      return false;
    }
  }
  return true;
}

int pn_cmdBench(int argc, char **argv) {
  static pnBenchRun run;
  run = (pnBenchRun){.folder = "pinch-bench"};
  bool json = false;
  const pnOption table[] = {
      {"out", PN_OPTION_TEXT, "FOLDER",
       "where rows are kept, one file an experiment (default pinch-bench).\n"
       "What is there already, by this code and these settings, is not run again",
       &run.folder},
      {"quick", PN_OPTION_FLAG, NULL, "fewer frames, one pass: all of the papers in less than two minutes", &run.quick},
      {"again", PN_OPTION_FLAG, NULL, "run also what is there already", &run.again},
      {"repeat", PN_OPTION_COUNT, "N", "passes over the frames; of each figure the least counts", &run.repeat},
      {"threads", PN_OPTION_COUNT, "N", "libraries and growth: pinch on so many threads beside one", &run.threads},
      {"csv", PN_OPTION_TEXT, "OUT.csv", "all rows in one file", &run.csv},
      {"html", PN_OPTION_TEXT, "OUT.html", "a page with plots, scenes and verdicts, in one file", &run.html},
      {"json", PN_OPTION_FLAG, NULL, "rows and verdicts as one JSON object instead of tables", &json},
  };
  const pnUsage usage = {
      .command = "bench",
      .synopsis = "list | papers | peers | all | show | scene NAME... | NAME... [options]",
      .about =
          "Reruns the experiments of the five papers and compares this library with others. Every claim of the papers "
          "is\n"
          "judged from what was measured: reproduced, better, or not reproduced and why. A run that was interrupted\n"
          "goes on where it was. The programs of the laboratory are built with -DPINCH_BENCH=ON and are\n"
          "looked for beside pinch, or in PINCH_BENCH_DIR.\n",
      .options = table,
      .optionCount = sizeof(table) / sizeof(table[0]),
      .examples =
          "  pinch bench list                            what there is, and how long it takes\n"
          "  pinch bench papers --quick                  all experiments of the papers, the short form\n"
          "  pinch bench e1 e2 --html larsson.html       two of them, as a page\n"
          "  pinch bench scene blobs-81920 --repeat 5    the default world on one scene\n"
          "  pinch bench show --out bench/results/lab    what committed rows say, without running anything\n",
  };
  pnArgs args = pn_parseArgs(&usage, &argc, argv);
  if (args != PN_ARGS_RUN) return args == PN_ARGS_HELP ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
  if (argc == 1 && strcmp(argv[0], "list") == 0) return printList();
  if (!readWords(&usage, &run, argc, argv)) return PN_EXIT_ERROR;
  run.json = json ? "-" : NULL;
  bool good = pn_runExperiments(&run);
  good = pn_showResults(&run) && good;
  return good && pn_finishOutput("bench") ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
}
