/* bench_volume.c: the experiments of [Heidelberger03] beside the paper's figures, and what images cost at least.
 *
 *   bench_volume [e11] [e12] [e13] [e14] [depth] [floor]   which parts; all when none is named
 *   bench_volume --rows FILE                                 figures as rows (record.h)
 *   bench_volume --passes N                                  the least of N passes counts; default 7
 *   bench_volume --experiment NAME                           rows under another name: those of another machine's card
 *
 * The paper's machine had a Pentium IV of 2.8 GHz and a GeForce 4: its milliseconds cannot compare with ours. What
 * must carry over: time grows with faces and layers, and stage 3 (Boolean, points) is a small part of stages 1 and 2
 * (boxes, images). Bodies are made by formula (scenes/volume_scenes.h); real ones stand beside them when the data
 * folder is there. */
#include "pinch/io.h"
#include "pinch/volume.h"
#include "clock.h"
#include "image_floor.h"
#include "record.h"
#include "volume_scenes.h"

#ifdef PN_HAVE_EMBREE_INSIDE
#include "embree_inside.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What runs on one thread is timed by the processor time of the process, which other programs on the machine do not
 * lengthen; two threads and OpenGL by the clock on the wall. On an idle machine the two agree.
 * Seconds since `start` on the right clock. */
static double startTime(bool wall) {
  return wall ? pnGetTime() : pn_processTime();
}
static double elapsed(double start, bool wall) {
  return (wall ? pnGetTime() : pn_processTime()) - start;
}

/* Two threads are two only when the system runs them on two cores, which it finds out after some hundredths of a
 * second: those are timed for this long at least. */
#define SETTLE_SECONDS 0.3

typedef struct Bench {
  uint32_t passes;
  pnPool *pool;   /* of two workers */
  pnGlRaster *gl; /* null where there is none */
  const char *as; /* the name under which rows are kept; null: the experiment's own */
} Bench;

/* Ends the program with a message: a bench that cannot run says so. */
static void need(pnResult result, const char *what) {
  if (result == PN_OK) return;
  fprintf(stderr, "bench_volume: %s: %s\n", what, pnGetMessage());
  exit(1);
}

static pnPose *makePose(const pnMesh *mesh) {
  pnPoseDef def = pnDefaultPoseDef();
  def.mesh = mesh;
  pnPose *pose;
  need(pnCreatePose(&def, &pose), "pose");
  return pose;
}

/* Moves a body there, and a hair farther each time: nothing can be used again, as if it had deformed. */
static void place(pnPose *pose, pnVec3 at) {
  static uint32_t turn;
  at.x += (float)(++turn & 1) * 1e-6f;
  pnMatrix matrix = pnMatrix_Identity();
  matrix.m[0][3] = at.x, matrix.m[1][3] = at.y, matrix.m[2][3] = at.z;
  need(pnPose_SetTransform(pose, &matrix), "place");
}

static double least(double a, double b) {
  return a < b ? a : b;
}

/* Is there another pass to take? `began`: time on the wall before the first. */
static bool morePasses(const Bench *bench, uint32_t pass, bool threads, double began) {
  return pass < bench->passes || (threads && pnGetTime() - began < SETTLE_SECONDS);
}

/* ---------------------------------------------------------------- E11, E13: shared volumes */

/* Least times in milliseconds: stages 1 and 2 (with bounds when asked for), stage 3. */
typedef struct PairTimes {
  double image, measure;
  pnOverlapResult last;
} PairTimes;

static PairTimes timePair(const Bench *bench, pnPose *a, pnPose *b, pnVec3 at, pnTasks tasks, pnGlRaster *gl,
                          bool bounds) {
  PairTimes times = {INFINITY, INFINITY, {0}};
  bool wall = gl || tasks.workerCount > 1;
  pnOverlapDef def = pnDefaultOverlapDef();
  def.poseA = a;
  def.poseB = b;
  def.bounds = bounds;
  def.tasks = tasks;
  def.gl = gl;
  pnOverlap *overlap;
  need(pnCreateOverlap(&def, &overlap), "overlap");
  double began = pnGetTime();
  for (uint32_t pass = 0; morePasses(bench, pass, tasks.workerCount > 1, began); ++pass) {
    place(a, (pnVec3){0, 0, 0});
    place(b, at);
    double start = startTime(wall);
    need(pnOverlap_Measure(overlap, &times.last), "measure");
    times.image = least(times.image, 1e3 * elapsed(start, wall));
    times.measure = least(times.measure, 1e3 * times.last.measureTime);
  }
  times.image -= times.measure;
  pnDestroyOverlap(overlap);
  return times;
}

/* Milliseconds, or a dash where there is no such column. */
static const char *milliseconds(double time, char buffer[16]) {
  if (time > 0 && isfinite(time)) snprintf(buffer, 16, "%.2f", time);
  else snprintf(buffer, 16, "-");
  return buffer;
}

static void runPairs(const Bench *bench, const char *experiment, uint32_t first, uint32_t last) {
  static const struct {
    uint32_t layers[2];
    double image, measure;
  } paper[PN_VOLUME_PAIR_COUNT] = {{{3, 1}, 19, 1}, {{4, 6}, 56, 1},  {{7, 5}, 36, 1}, {{4, 2}, 48, 1},
                                   {{1, 3}, 25, 1}, {{8, 6}, 114, 1}, {{7, 8}, 256, 0}};
  printf("%-14s %-8s %15s | %-7s %-7s | %8s %8s %8s %8s | %8s | %8s %8s %8s | %10s %s\n", "bodies", "overlap", "faces",
         "layers", "paper", "1+2 ms", "2 thr.", "OpenGL", "paper", "bounds", "3a ms", "bounded", "paper", "volume",
         "within");
  pnMesh *meshes[PN_VOLUME_SHAPE_COUNT] = {0};
  for (uint32_t i = first; i < last; ++i) {
    const pnVolumePair *pair = &pn_volumePairs[i];
    pnPose *poses[2];
    for (int k = 0; k < 2; ++k) {
      pnVolumeShape shape = k ? pair->b : pair->a;
      if (!meshes[shape]) need(pnMakeVolumeShape(shape, 0, &meshes[shape]), "shape");
      poses[k] = makePose(meshes[shape]);
    }
    pnTasks one = {0}, two = pnPool_GetTasks(bench->pool);
    PairTimes bare = timePair(bench, poses[0], poses[1], pair->at, one, NULL, false);
    PairTimes full = timePair(bench, poses[0], poses[1], pair->at, one, NULL, true);
    PairTimes pool = timePair(bench, poses[0], poses[1], pair->at, two, NULL, false);
    PairTimes card = {0};
    if (bench->gl) card = timePair(bench, poses[0], poses[1], pair->at, one, bench->gl, false);
    char names[40], faces[40], layers[16], paperLayers[16], text[6][16];
    snprintf(names, sizeof names, "%s/%s", pnVolumeShape_Name(pair->a), pnVolumeShape_Name(pair->b));
    snprintf(faces, sizeof faces, "%uk/%uk", (pnMesh_GetTriangleCount(meshes[pair->a]) + 500) / 1000,
             (pnMesh_GetTriangleCount(meshes[pair->b]) + 500) / 1000);
    snprintf(layers, sizeof layers, "%u/%u", full.last.maxLayers[0], full.last.maxLayers[1]);
    snprintf(paperLayers, sizeof paperLayers, "%u/%u", paper[i].layers[0], paper[i].layers[1]);
    printf("%-14s %-8s %15s | %-7s %-7s | %8s %8s %8s %8.0f | %8s | %8s %8s %8s | %10.6f %.1f %%\n", names,
           pair->complex ? "complex" : "simple", faces, layers, paperLayers, milliseconds(bare.image, text[0]),
           milliseconds(pool.image, text[1]), milliseconds(card.image, text[2]), paper[i].image,
           milliseconds(full.image - bare.image, text[3]), milliseconds(bare.measure, text[4]),
           milliseconds(full.measure, text[5]), paper[i].measure > 0 ? "1" : "-", full.last.volume,
           100 * full.last.error / full.last.volume);
    char scene[64];
    snprintf(scene, sizeof scene, "%s, %s", names, pair->complex ? "complex" : "simple");
    pn_recordScene(bench->as ? bench->as : experiment, scene);
    pn_record("software", "image ms", bare.image);
    pn_record("software", "measure ms", bare.measure);
    pn_record("two threads", "image ms", pool.image);
    pn_record("OpenGL", "image ms", bench->gl ? card.image : NAN);
    pn_record("bounds", "image ms", full.image);
    pn_record("bounds", "measure ms", full.measure);
    pn_record("bounds", "within %", 100 * full.last.error / full.last.volume);
    pn_record("software", "layers", fmax(full.last.maxLayers[0], full.last.maxLayers[1]));
    pn_record("the paper", "image ms", paper[i].image);
    pn_record("the paper", "measure ms", paper[i].measure > 0 ? paper[i].measure : NAN);
    for (int k = 0; k < 2; ++k) pnDestroyPose(poses[k]);
  }
  for (int s = 0; s < PN_VOLUME_SHAPE_COUNT; ++s) pnDestroyMesh(meshes[s]);
}

/* ---------------------------------------------------------------- E12: points */

#define POINT_COUNT 100000

typedef struct PointTimes {
  double image, points;
  pnLdiInfo info;
  pnInsideResult result;
} PointTimes;

static PointTimes timePoints(const Bench *bench, pnPose *pose, pnTasks tasks, pnGlRaster *gl, const float *points,
                             uint8_t *inside) {
  PointTimes times = {INFINITY, INFINITY, {0}, {0}};
  bool wall = gl || tasks.workerCount > 1;
  pnLdiDef def = pnDefaultLdiDef();
  def.pose = pose;
  def.bounds = false;
  def.tasks = tasks;
  def.gl = gl;
  pnLdi *ldi;
  need(pnCreateLdi(&def, &ldi), "image");
  double began = pnGetTime();
  for (uint32_t pass = 0; morePasses(bench, pass, tasks.workerCount > 1, began); ++pass) {
    place(pose, (pnVec3){0, 0, 0});
    double start = startTime(wall);
    need(pnLdi_Update(ldi), "update");
    times.image = least(times.image, 1e3 * elapsed(start, wall));
    times.info = pnLdi_GetInfo(ldi);
    start = startTime(wall);
    need(pnLdi_TestPoints(ldi, points, POINT_COUNT, inside, &times.result), "points");
    times.points = least(times.points, 1e3 * elapsed(start, wall));
  }
  pnDestroyLdi(ldi);
  return times;
}

/* Points anywhere in the body's box. */
static void scatterPoints(const pnMesh *mesh, float *points) {
  const float *v = pnMesh_GetVertices(mesh);
  float lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (uint32_t i = 0; i < 3 * pnMesh_GetVertexCount(mesh); ++i) {
    lo[i % 3] = fminf(lo[i % 3], v[i]);
    hi[i % 3] = fmaxf(hi[i % 3], v[i]);
  }
  uint64_t state = 88172645463325252u;
  for (uint32_t i = 0; i < 3 * POINT_COUNT; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    points[i] = lo[i % 3] + (hi[i % 3] - lo[i % 3]) * ((float)(state >> 40) / 16777216.0f);
  }
}

#ifdef PN_HAVE_EMBREE_INSIDE
/* Adds Embree's columns: build and rays, and how many answers agree. */
static void printEmbree(const Bench *bench, const pnMesh *mesh, const float *points, const uint8_t *ours,
                        double oursTime) {
  uint8_t *theirs = malloc(POINT_COUNT);
  double build = INFINITY, rays = INFINITY;
  for (uint32_t pass = 0; pass < (bench->passes + 2) / 3; ++pass) {
    pnEmbreeInsideInput input = {pnMesh_GetVertices(mesh),
                                 pnMesh_GetVertexCount(mesh),
                                 pnMesh_GetTriangles(mesh),
                                 pnMesh_GetTriangleCount(mesh),
                                 points,
                                 POINT_COUNT,
                                 theirs,
                                 true,
                                 pn_processTime};
    double buildTime, time = pn_embreeInside(&input, &buildTime);
    build = least(build, 1e3 * buildTime);
    rays = least(rays, 1e3 * time);
  }
  uint32_t same = 0;
  for (uint32_t i = 0; i < POINT_COUNT; ++i) same += ours[i] == theirs[i];
  pn_record("embree", "build ms", build);
  pn_record("embree", "points ms", rays);
  pn_record("embree", "same %", 1e-3 * same);
  printf(" | %8.1f %8.1f | %6.1fx %6.1fx | %.2f %%", build, rays, (build + rays) / oursTime, rays / oursTime,
         1e-3 * same);
  free(theirs);
}
#endif

/* One row; paper figures where there are some. */
static void printPoints(const Bench *bench, const char *name, const pnMesh *mesh, const double paper[3], float *points,
                        uint8_t *inside) {
  scatterPoints(mesh, points);
  pnPose *pose = makePose(mesh);
  pnTasks one = {0}, two = pnPool_GetTasks(bench->pool);
  PointTimes pool = timePoints(bench, pose, two, NULL, points, inside), card = {0};
  if (bench->gl) card = timePoints(bench, pose, one, bench->gl, points, inside);
  PointTimes times = timePoints(bench, pose, one, NULL, points, inside);
  char text[6][16];
  pn_recordScene(bench->as ? bench->as : "e12", name);
  pn_record("truth", "triangles", pnMesh_GetTriangleCount(mesh));
  pn_record("software", "image ms", times.image);
  pn_record("software", "points ms", times.points);
  pn_record("two threads", "image ms", pool.image);
  pn_record("OpenGL", "image ms", bench->gl ? card.image : NAN);
  pn_record("the paper", "image ms", paper ? paper[1] : NAN);
  pn_record("the paper", "points ms", paper ? paper[2] : NAN);
  printf("%-10s %7u | %3u %5s | %8.2f %8.2f %8s %7s | %8.2f %7s", name, pnMesh_GetTriangleCount(mesh),
         times.info.maxLayers, paper ? milliseconds(paper[0], text[0]) : "-", times.image, pool.image,
         milliseconds(card.image, text[1]), paper ? milliseconds(paper[1], text[2]) : "-", times.points,
         paper ? milliseconds(paper[2], text[3]) : "-");
#ifdef PN_HAVE_EMBREE_INSIDE
  printEmbree(bench, mesh, points, inside, times.image + times.points);
#endif
  putchar('\n');
  pnDestroyPose(pose);
}

/* A mesh of the data folder, or null. */
static pnMesh *loadData(const char *file) {
  char path[1024];
  const char *folder = getenv("PINCH_DATA");
  if (folder) snprintf(path, sizeof path, "%s/%s", folder, file);
  else snprintf(path, sizeof path, "%s/../shared/data/%s", PINCH_SOURCE_DIR, file);
  pnMeshFile meshFile;
  if (pnLoadMeshFile(path, &meshFile) != PN_OK) return NULL;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = meshFile.vertices;
  def.vertexCount = meshFile.vertexCount;
  def.triangles = meshFile.triangles;
  def.triangleCount = meshFile.triangleCount;
  pnMesh *mesh = NULL;
  if (pnCreateMesh(&def, &mesh) != PN_OK) mesh = NULL;
  pnFreeMeshFile(&meshFile);
  return mesh;
}

static void runPoints(const Bench *bench) {
  static const double paper[PN_VOLUME_SHAPE_COUNT][3] = {
      {8, 11, 26}, {8, 29, 27}, {12, 83, 28}, {8, 79, 26}, {10, 307, 27}};
  printf("%-10s %7s | %3s %5s | %8s %8s %8s %7s | %8s %7s", "body", "faces", "lay", "paper", "1+2 ms", "2 thr.",
         "OpenGL", "paper", "3b ms", "paper");
#ifdef PN_HAVE_EMBREE_INSIDE
  printf(" | %8s %8s | %7s %7s | %s", "E. build", "E. rays", "b+r/us", "r/us", "same");
#endif
  putchar('\n');
  float *points = malloc(sizeof(float) * 3 * POINT_COUNT);
  uint8_t *inside = malloc(POINT_COUNT);
  for (int s = 0; s < PN_VOLUME_SHAPE_COUNT; ++s) {
    pnMesh *mesh;
    need(pnMakeVolumeShape((pnVolumeShape)s, 0, &mesh), "shape");
    printPoints(bench, pnVolumeShape_Name((pnVolumeShape)s), mesh, paper[s], points, inside);
    pnDestroyMesh(mesh);
  }
  static const char *const real[] = {"elephant", "knot2", "turbine", "armadillo", "bunny00"};
  for (size_t i = 0; i < sizeof real / sizeof *real; ++i) {
    char file[64];
    snprintf(file, sizeof file, "cgal/Data/data/meshes/%s.off", real[i]);
    pnMesh *mesh = loadData(file);
    if (!mesh) {
      printf("%-10s skipped: no data folder\n", real[i]);
      continue;
    }
    printPoints(bench, real[i], mesh, NULL, points, inside);
    pnDestroyMesh(mesh);
  }
  free(points), free(inside);
}

/* ---------------------------------------------------------------- E14: particles */

static void runParticles(const Bench *bench) {
  enum { FRAMES = 200 };
  pnParticles *particles;
  need(pnCreateParticles(20000, &particles), "particles");
  pnPose *pose = makePose(particles->mesh);
  pnLdiDef def = pnDefaultLdiDef();
  def.pose = pose;
  def.bounds = false;
  pnLdi *ldi;
  need(pnCreateLdi(&def, &ldi), "image");
  uint8_t *inside = malloc(particles->count);
  double motion = 0, image = 0, points = 0, response = 0;
  uint64_t contacts = 0;
  for (int frame = 0; frame < FRAMES; ++frame) {
    double t0 = pn_processTime();
    pnParticles_Move(particles);
    double t1 = pn_processTime();
    need(pnPose_ShareVertices(pose, particles->vertices, particles->vertexCount), "vertices");
    need(pnLdi_Update(ldi), "update");
    double t2 = pn_processTime();
    pnInsideResult result;
    need(pnLdi_TestPoints(ldi, particles->positions, particles->count, inside, &result), "points");
    double t3 = pn_processTime();
    pnParticles_Respond(particles, inside);
    double t4 = pn_processTime();
    motion += t1 - t0, image += t2 - t1, points += t3 - t2, response += t4 - t3;
    contacts += result.insideCount;
  }
  double all = motion + image + points + response;
  printf(
      "20000 particles, body of %u faces, %d frames, 128 x 128, one thread: motion %.3f, image %.3f, points %.3f, "
      "response "
      "%.3f ms a frame\n  %.0f frames a second without drawing (paper: 29 with drawing); %.1f contacts a frame\n",
      pnMesh_GetTriangleCount(particles->mesh), FRAMES, 1e3 * motion / FRAMES, 1e3 * image / FRAMES,
      1e3 * points / FRAMES, 1e3 * response / FRAMES, FRAMES / all, (double)contacts / FRAMES);
  pn_recordScene("e14", "particles-20000");
  pn_record("software", "motion ms", 1e3 * motion / FRAMES);
  pn_record("software", "image ms", 1e3 * image / FRAMES);
  pn_record("software", "points ms", 1e3 * points / FRAMES);
  pn_record("software", "response ms", 1e3 * response / FRAMES);
  pn_record("software", "frames a second", FRAMES / all);
  pn_record("the paper", "frames a second", 29);
  (void)bench;
  free(inside);
  pnDestroyLdi(ldi);
  pnDestroyPose(pose);
  pnDestroyParticles(particles);
}

/* ---------------------------------------------------------------- what the paper left for later */

/* Depth of penetration, and bodies that overlap themselves: beside what the shared volume alone costs. */
static void runDepth(const Bench *bench) {
  printf("%-14s %-8s | %9s %9s %9s | %10s %s\n", "bodies", "overlap", "volume ms", "depth ms", "times", "depth",
         "within");
  for (uint32_t i = 0; i < PN_VOLUME_PAIR_COUNT; ++i) {
    const pnVolumePair *pair = &pn_volumePairs[i];
    pnMesh *meshes[2];
    pnOverlapDef def = pnDefaultOverlapDef();
    need(pnMakeVolumeShape(pair->a, 0, &meshes[0]), "shape");
    need(pnMakeVolumeShape(pair->b, 0, &meshes[1]), "shape");
    pnPose *a = makePose(meshes[0]), *b = makePose(meshes[1]);
    def.poseA = a, def.poseB = b;
    pnOverlap *overlap;
    need(pnCreateOverlap(&def, &overlap), "overlap");
    double volume = INFINITY, depth = INFINITY;
    pnDepthResult result = {0};
    for (uint32_t pass = 0; pass < bench->passes; ++pass) {
      pnOverlapResult shared;
      place(a, (pnVec3){0, 0, 0});
      place(b, pair->at);
      double start = pn_processTime();
      need(pnOverlap_Measure(overlap, &shared), "measure");
      volume = least(volume, 1e3 * (pn_processTime() - start));
      place(b, pair->at);
      start = pn_processTime();
      need(pnOverlap_FindDepth(overlap, &result), "depth");
      depth = least(depth, 1e3 * (pn_processTime() - start));
    }
    char scene[64];
    snprintf(scene, sizeof scene, "%s/%s, %s", pnVolumeShape_Name(pair->a), pnVolumeShape_Name(pair->b),
             pair->complex ? "complex" : "simple");
    pn_recordScene("depth", scene);
    pn_record("shared volume", "ms", volume);
    pn_record("depth", "ms", depth);
    printf("%-23s | %9.3f %9.3f %9.2f | %10.6f %.2g\n", scene, volume, depth, depth / volume, result.depth,
           result.error);
    pnDestroyOverlap(overlap);
    pnDestroyPose(a), pnDestroyPose(b);
    pnDestroyMesh(meshes[0]), pnDestroyMesh(meshes[1]);
  }
  printf("\nself-overlap, out of an image that is there, ms\n");
  for (int s = 0; s < PN_VOLUME_SHAPE_COUNT; ++s) {
    pnMesh *mesh;
    need(pnMakeVolumeShape((pnVolumeShape)s, 0, &mesh), "shape");
    pnPose *pose = makePose(mesh);
    pnLdiDef def = pnDefaultLdiDef();
    def.pose = pose;
    pnLdi *ldi;
    need(pnCreateLdi(&def, &ldi), "image");
    double image = INFINITY, self = INFINITY;
    for (uint32_t pass = 0; pass < bench->passes; ++pass) {
      pnSelfOverlapResult result;
      place(pose, (pnVec3){0, 0, 0});
      double start = pn_processTime();
      need(pnLdi_Update(ldi), "update");
      double middle = pn_processTime();
      need(pnLdi_FindSelfOverlap(ldi, &result), "self-overlap");
      image = least(image, 1e3 * (middle - start));
      self = least(self, 1e3 * (pn_processTime() - middle));
    }
    pn_recordScene("depth", pnVolumeShape_Name((pnVolumeShape)s));
    pn_record("image", "ms", image);
    pn_record("self-overlap", "ms", self);
    printf("%-10s image %8.3f, self-overlap %8.3f\n", pnVolumeShape_Name((pnVolumeShape)s), image, self);
    pnDestroyLdi(ldi);
    pnDestroyPose(pose);
    pnDestroyMesh(mesh);
  }
}

/* ---------------------------------------------------------------- the floor */

static void runFloor(const Bench *bench) {
  printf("%-8s %7s %5s %9s | %8s %8s | %8s %8s %8s | %s\n", "body", "faces", "side", "layers", "1+2 ms", "2 thr.",
         "vertices", "+writing", "+triang.", "over floor: vertices + writing, also triangles; two threads");
  static const uint32_t sides[] = {128, 512, 1024, 2048, 4096};
  for (int s = 0; s < PN_VOLUME_SHAPE_COUNT; ++s) {
    pnMesh *mesh;
    need(pnMakeVolumeShape((pnVolumeShape)s, 0, &mesh), "shape");
    pnPose *pose = makePose(mesh);
    double triangles = pn_timeTriangles(mesh, bench->passes);
    for (size_t i = 0; i < sizeof sides / sizeof *sides; ++i) {
      double times[2], vertices = 0, floorTime = 0;
      pnLdiInfo info = {0};
      for (int k = 0; k < 2; ++k) {
        pnLdiDef def = pnDefaultLdiDef();
        def.pose = pose;
        def.resolution = sides[i];
        def.bounds = false;
        if (k) def.tasks = pnPool_GetTasks(bench->pool);
        pnLdi *ldi;
        need(pnCreateLdi(&def, &ldi), "image");
        times[k] = INFINITY;
        double began = pnGetTime();
        for (uint32_t pass = 0; morePasses(bench, pass, k > 0, began); ++pass) {
          pnPose_Reset(pose); // the vertices as they are: a free body
          double start = startTime(k > 0);
          need(pnLdi_Update(ldi), "update");
          times[k] = least(times[k], 1e3 * elapsed(start, k > 0));
        }
        info = pnLdi_GetInfo(ldi);
        if (k == 0) floorTime = pn_timeImageFloor(ldi, mesh, bench->passes, &vertices);
        pnDestroyLdi(ldi);
      }
      pn_recordScene("image-floor", pnVolumeShape_Name((pnVolumeShape)s));
      pn_recordStep("software", "image ms by side", sides[i], times[0]);
      pn_recordStep("two threads", "image ms by side", sides[i], times[1]);
      pn_recordStep("floor", "image ms by side", sides[i], floorTime + triangles);
      printf("%-8s %7u %5u %9llu | %8.3f %8.3f | %8.3f %8.3f %8.3f | %.1fx %.1fx; %.1fx %.1fx, speed-up %.2f\n",
             pnVolumeShape_Name((pnVolumeShape)s), pnMesh_GetTriangleCount(mesh), sides[i],
             (unsigned long long)info.layerCount, times[0], times[1], vertices, floorTime, floorTime + triangles,
             times[0] / floorTime, times[0] / (floorTime + triangles), times[1] / floorTime,
             times[1] / (floorTime + triangles), times[0] / times[1]);
    }
    pnDestroyPose(pose);
    pnDestroyMesh(mesh);
  }
}

/* ---------------------------------------------------------------- the program */

int main(int argc, char **argv) {
  pn_recordArguments(&argc, argv);
  Bench bench = {.passes = 7};
  bool e11 = false, e12 = false, e13 = false, e14 = false, atLeast = false, depth = false;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "e11") == 0) e11 = true;
    else if (strcmp(argv[i], "e12") == 0) e12 = true;
    else if (strcmp(argv[i], "e13") == 0) e13 = true;
    else if (strcmp(argv[i], "e14") == 0) e14 = true;
    else if (strcmp(argv[i], "depth") == 0) depth = true;
    else if (strcmp(argv[i], "floor") == 0) atLeast = true;
    else if (strcmp(argv[i], "--experiment") == 0 && i + 1 < argc) bench.as = argv[++i];
    else if (strcmp(argv[i], "--passes") == 0 && i + 1 < argc) bench.passes = (uint32_t)strtoul(argv[++i], NULL, 10);
    else {
      fprintf(
          stderr,
          "usage: bench_volume [e11] [e12] [e13] [e14] [depth] [floor] [--passes N] [--rows FILE] [--experiment AS]\n");
      return 2;
    }
  }
  if (!(e11 || e12 || e13 || e14 || depth || atLeast)) e11 = e12 = e13 = e14 = depth = atLeast = true;
  if (bench.passes == 0) bench.passes = 1;
  need(pnCreatePool(2, &bench.pool), "pool");
#ifdef PN_HAVE_GL
  pnGlRasterDef glDef = pnDefaultGlRasterDef();
  if (pnCreateGlRaster(&glDef, &bench.gl) == PN_OK) printf("OpenGL: %s\n", pnGlRaster_GetName(bench.gl));
  else printf("no OpenGL: %s\n", pnGetMessage());
#endif

  if (e11) printf("\nE11, shared volume, 128 x 128 (table 1 of the paper)\n"), runPairs(&bench, "e11", 0, 6);
  if (e12) printf("\nE12, 100 000 points, 128 x 128 (table 2)\n"), runPoints(&bench);
  if (e13) printf("\nE13, knot and Dragon, 128 x 128 (figure 10)\n"), runPairs(&bench, "e13", 6, 7);
  if (e14) printf("\nE14, particles and a deforming body (figure 12)\n"), runParticles(&bench);
  if (depth) printf("\nwhat the paper left for later, 128 x 128\n"), runDepth(&bench);
  if (atLeast) printf("\nwhat an image costs at least\n"), runFloor(&bench);

#ifdef PN_HAVE_GL
  pnDestroyGlRaster(bench.gl);
#endif
  pnDestroyPool(bench.pool);
  return 0;
}
