/* bench_scan.cpp: the main job against the usual way to do it: a character walks for a minute at 30 frames a second, and
 * every frame is asked which triangles meet, of body and coat and of each with itself.
 *
 *   bench_scan                    60 s, about 30 000 triangles, CGAL on every 60th frame
 *   bench_scan --seconds S --triangles N --every N
 *   bench_scan --clip idle        where nothing meets
 *
 * pinch gets what the file has: weights and joints, on one thread, and gives all pairs, sorted, for every frame: what
 * `pinch scan --self --threads 1` does. The usual way bakes every frame, all vertices by the same formula, and runs
 * CGAL's self_intersections (Polygon_mesh_processing, exact predicates) on the mesh. That takes minutes, so it is done
 * on frames in equal steps, which pinch does a second time right before; on these the answers must be equal, pair by
 * pair, and the ratio is taken. The mesh of CGAL is made once and gets new points each frame: no rebuilding is counted.
 * Time is what the one thread spends on the processor. */
#include "character.h"
#include "pinch/world.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#ifdef PN_HAVE_CGAL
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Polygon_mesh_processing/self_intersections.h>
#include <CGAL/Surface_mesh.h>
#endif

namespace {

typedef std::vector<std::pair<uint32_t, uint32_t>> Pairs; /* triangles counted through all bodies, sorted */

struct Settings {
  double seconds = 60, fps = 30;
  uint32_t triangles = 30000, every = 60;
  const char *clip = "walk";
};

[[noreturn]] void stop(const char *what) {
  fprintf(stderr, "bench_scan: %s: %s\n", what, pnGetMessage());
  exit(2);
}

void expect(pnResult result, const char *what) {
  if (result != PN_OK) stop(what);
}

double processorTime() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/* ---------------------------------------------------------------- pinch */

struct Body {
  pnMesh *mesh = nullptr;
  pnMorph *morph = nullptr;
  pnSkin *skin = nullptr;
  pnBodyId id = {};
  uint32_t firstTriangle = 0;
};

struct Walk {
  pnAnimFile *file = nullptr;
  pnAnimState *state = nullptr;
  pnWorld *world = nullptr;
  uint32_t clip = 0;
  std::vector<Body> bodies;
};

void makeBody(const pnAnimFile *file, const pnAnimBody &from, Body &body) {
  pnMeshDef meshDef = pnDefaultMeshDef();
  meshDef.vertices = from.vertices;
  meshDef.vertexCount = from.vertexCount;
  meshDef.triangles = from.triangles;
  meshDef.triangleCount = from.triangleCount;
  meshDef.vertexWeld = from.vertexWeld;
  expect(pnCreateMesh(&meshDef, &body.mesh), "mesh");
  std::vector<pnMorphTarget> targets;
  for (uint32_t t = 0; t < from.targetCount; ++t) {
    const pnAnimTarget &target = from.targets[t];
    targets.push_back({target.name, target.count, target.vertices, target.deltas});
  }
  pnMorphDef morphDef = pnDefaultMorphDef();
  morphDef.mesh = body.mesh;
  morphDef.targets = targets.data();
  morphDef.targetCount = from.targetCount;
  expect(pnCreateMorph(&morphDef, &body.morph), "morph");
  pnSkinDef skinDef = pnDefaultSkinDef();
  skinDef.mesh = body.mesh;
  skinDef.jointCount = file->skins[from.skin].jointCount;
  skinDef.influenceCount = from.influenceCount;
  skinDef.jointIndices = from.jointIndices;
  skinDef.jointWeights = from.jointWeights;
  expect(pnCreateSkin(&skinDef, &body.skin), "skin");
}

void makeWalk(const Settings &settings, Walk &walk) {
  pnCharacterDef def = pnDefaultCharacterDef();
  def.triangleCount = settings.triangles;
  def.seconds = float(settings.seconds);
  expect(pnCreateCharacter(&def, &walk.file), "character");
  expect(pnCreateAnimState(walk.file, &walk.state), "state");
  while (strcmp(walk.file->clips[walk.clip].name, settings.clip) != 0)
    if (++walk.clip == walk.file->clipCount)
      pnFail(PN_ERROR_ARGUMENT, "walk or idle, not %s", settings.clip), stop("--clip");
  pnWorldDef worldDef = pnDefaultWorldDef();
  expect(pnCreateWorld(&worldDef, &walk.world), "world");
  walk.bodies.resize(walk.file->bodyCount);
  uint32_t triangles = 0;
  for (uint32_t b = 0; b < walk.file->bodyCount; ++b) {
    Body &body = walk.bodies[b];
    makeBody(walk.file, walk.file->bodies[b], body);
    body.firstTriangle = triangles;
    triangles += walk.file->bodies[b].triangleCount;
    pnBodyDef bodyDef = pnDefaultBodyDef();
    bodyDef.kind = PN_BODY_SKINNED;
    bodyDef.mesh = body.mesh;
    bodyDef.morph = body.morph;
    bodyDef.skin = body.skin;
    bodyDef.self = true;
    bodyDef.userData = &body;
    expect(pnWorld_CreateBody(walk.world, &bodyDef, &body.id), "body");
  }
}

/* One frame as `pinch scan` does it; all pairs lie in the world afterwards. Seconds. */
double scanFrame(Walk &walk, double time) {
  double start = processorTime();
  expect(pnAnimState_Evaluate(walk.state, walk.clip, time), "frame");
  for (uint32_t b = 0; b < walk.bodies.size(); ++b) {
    expect(pnBody_SetWeights(walk.world, walk.bodies[b].id, pnAnimState_GetWeights(walk.state, b),
                             walk.file->bodies[b].targetCount),
           "weights");
    expect(pnBody_SetJoints(walk.world, walk.bodies[b].id, pnAnimState_GetJoints(walk.state, b),
                            pnSkin_GetJointCount(walk.bodies[b].skin)),
           "joints");
  }
  expect(pnWorld_Collide(walk.world, nullptr).result, "collide");
  return processorTime() - start;
}

/* What the world found last; `count` contacts. */
Pairs takePairs(const Walk &walk, uint32_t count) {
  Pairs pairs;
  for (uint32_t i = 0; i < count; ++i) {
    const pnContact &contact = pnWorld_GetContacts(walk.world)[i];
    uint32_t firstA = static_cast<const Body *>(pnBody_GetUserData(walk.world, contact.a))->firstTriangle;
    uint32_t firstB = static_cast<const Body *>(pnBody_GetUserData(walk.world, contact.b))->firstTriangle;
    for (size_t k = contact.firstPair; k < contact.firstPair + contact.pairCount; ++k) {
      const pnPair &pair = pnWorld_GetPairs(walk.world)[k];
      pairs.push_back({firstA + pair.a, firstB + pair.b});
    }
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/* ---------------------------------------------------------------- bake and search */

#ifdef PN_HAVE_CGAL

typedef CGAL::Exact_predicates_inexact_constructions_kernel Kernel;
typedef CGAL::Surface_mesh<Kernel::Point_3> Mesh;

/* All bodies in one mesh, vertices that are one welded; a face's number is its triangle's. */
struct Baked {
  Mesh mesh;
  std::vector<std::vector<Mesh::Vertex_index>> places; /* of each body's vertices */
  std::vector<std::vector<float>> vertices;
};

void makeBaked(const Walk &walk, Baked &baked) {
  for (const Body &body : walk.bodies) {
    uint32_t vertexCount = pnMesh_GetVertexCount(body.mesh);
    std::vector<Mesh::Vertex_index> places(vertexCount);
    const uint32_t *weld = pnMesh_GetWeld(body.mesh), *corners = pnMesh_GetTriangles(body.mesh);
    for (uint32_t v = 0; v < vertexCount; ++v)
      places[v] = weld[v] == v ? baked.mesh.add_vertex(Kernel::Point_3(0, 0, 0)) : places[weld[v]];
    for (uint32_t t = 0; t < pnMesh_GetTriangleCount(body.mesh); ++t, corners += 3)
      if (baked.mesh.add_face(places[corners[0]], places[corners[1]], places[corners[2]]) == Mesh::null_face())
        pnFail(PN_ERROR_UNSUPPORTED, "triangle %u cannot be a face of a CGAL mesh", t), stop("mesh");
    baked.places.push_back(places);
    baked.vertices.emplace_back(3 * size_t(vertexCount));
  }
}

/* Where the poses of the world are now: every vertex computed, none on demand. */
void bakeFrame(const Walk &walk, Baked &baked) {
  for (size_t b = 0; b < walk.bodies.size(); ++b) {
    std::vector<float> &vertices = baked.vertices[b];
    pnPose_GetVertices(pnBody_GetPose(walk.world, walk.bodies[b].id), vertices.data());
    for (size_t v = 0; v < baked.places[b].size(); ++v)
      baked.mesh.point(baked.places[b][v]) = Kernel::Point_3(vertices[3 * v], vertices[3 * v + 1], vertices[3 * v + 2]);
  }
}

Pairs searchBaked(const Baked &baked) {
  std::vector<std::pair<Mesh::Face_index, Mesh::Face_index>> found;
  CGAL::Polygon_mesh_processing::self_intersections<CGAL::Sequential_tag>(faces(baked.mesh), baked.mesh,
                                                                          std::back_inserter(found));
  Pairs pairs;
  for (const auto &pair : found) {
    uint32_t a = uint32_t(pair.first), b = uint32_t(pair.second);
    pairs.push_back({std::min(a, b), std::max(a, b)});
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/* The sampled frames, both ways; true when all answers are equal. */
bool compare(const Settings &settings, Walk &walk, uint32_t frameCount, double scanAll) {
  Baked baked;
  makeBaked(walk, baked);
  double scan = 0, bake = 0, search = 0;
  uint32_t sampled = 0, wrong = 0;
  size_t pairCount = 0;
  for (uint32_t f = 0; f < frameCount; f += settings.every, ++sampled) {
    scan += scanFrame(walk, f / settings.fps);
    pnFrame frame = pnWorld_Collide(walk.world, nullptr); /* again, for its counts: nothing has moved */
    Pairs mine = takePairs(walk, frame.contactCount);
    double start = processorTime();
    bakeFrame(walk, baked);
    double between = processorTime();
    Pairs theirs = searchBaked(baked);
    bake += between - start;
    search += processorTime() - between;
    wrong += mine != theirs;
    pairCount += mine.size();
  }
  double n = sampled;
  printf("\n  on %u frames, every %uth          ms a frame\n", sampled, settings.every);
  printf("  pinch                             %10.2f\n", 1e3 * scan / n);
  printf("  bake                              %10.2f\n", 1e3 * bake / n);
  printf("  CGAL self_intersections           %10.2f\n", 1e3 * search / n);
  printf("  %zu pairs; answers %s\n", pairCount, wrong == 0 ? "equal in every frame" : "DIFFERENT");
  if (wrong > 0) printf("  different in %u frames\n", wrong);
  printf("\n  whole walk: pinch %.1f s; bake and CGAL %.1f s (by the sampled frames): %.1f times faster\n", scanAll,
         (bake + search) / n * frameCount, (bake + search) / n * frameCount / scanAll);
  printf("  same frames: %.1f times faster\n", (bake + search) / scan);
  return wrong == 0;
}

#else

bool compare(const Settings &, Walk &, uint32_t, double) {
  printf("\n  CGAL is not installed: nothing to compare with\n");
  return true;
}

#endif

/* ---------------------------------------------------------------- the program */

bool parse(int argc, char **argv, Settings &settings) {
  for (int i = 1; i + 1 < argc; i += 2)
    if (strcmp(argv[i], "--seconds") == 0) settings.seconds = atof(argv[i + 1]);
    else if (strcmp(argv[i], "--triangles") == 0) settings.triangles = uint32_t(atoi(argv[i + 1]));
    else if (strcmp(argv[i], "--every") == 0) settings.every = uint32_t(atoi(argv[i + 1]));
    else if (strcmp(argv[i], "--clip") == 0) settings.clip = argv[i + 1];
    else return false;
  return argc % 2 == 1 && settings.seconds >= 1 && settings.every >= 1;
}

} // namespace

int main(int argc, char **argv) {
  Settings settings;
  if (!parse(argc, argv, settings)) {
    fprintf(stderr, "usage: bench_scan [--seconds S] [--triangles N] [--every N] [--clip walk|idle]\n");
    return 2;
  }
  Walk walk;
  makeWalk(settings, walk);
  uint32_t triangles = 0, frameCount = uint32_t(double(walk.file->clips[walk.clip].endTime) * settings.fps + 0.5) + 1;
  for (uint32_t b = 0; b < walk.file->bodyCount; ++b) triangles += walk.file->bodies[b].triangleCount;
  printf("  %s: %u frames, %u triangles, %u joints, self-check, one thread\n", settings.clip, frameCount, triangles,
         walk.file->skins[0].jointCount);
  double seconds = 0;
  for (uint32_t f = 0; f < frameCount; ++f) seconds += scanFrame(walk, f / settings.fps);
  printf("  pinch: %.1f s for all frames, %.2f ms a frame\n", seconds, 1e3 * seconds / frameCount);
  fflush(stdout);
  bool right = compare(settings, walk, frameCount, seconds);
  pnDestroyWorld(walk.world);
  for (Body &body : walk.bodies) {
    pnDestroySkin(body.skin);
    pnDestroyMorph(body.morph);
    pnDestroyMesh(body.mesh);
  }
  pnDestroyAnimState(walk.state);
  pnDestroyCharacter(walk.file);
  return right ? 0 : 1;
}
