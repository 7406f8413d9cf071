/* test_io_assimp.c: the reader through assimp against our own. Every glTF sample that both read stands in the same places, at rest and
 * in each clip whose keys are joined by straight lines; what is no such file is refused. */
#include "support.h"

#include "../io/assimp.h"
#include "base/core.h"
#include "pinch/io.h"

#include <string.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef PN_HAVE_ASSIMP
/* The corners of all triangles of body b now: 9 a triangle. */
static float *cornersOf(const pnAnimFile *file, const pnAnimState *state, uint32_t b) {
  const pnAnimBody *body = &file->bodies[b];
  pnMesh *mesh;
  pnMorph *morph = NULL;
  pnSkin *skin = NULL;
  pnPose *pose;
  testExpectOk(pnAnimFile_CreateMesh(file, b, NULL, &mesh));
  pnPoseDef def = pnDefaultPoseDef();
  def.mesh = mesh;
  if (body->targetCount > 0) testExpectOk(pnAnimFile_CreateMorph(file, b, mesh, &morph));
  if (body->skin != PN_NONE) testExpectOk(pnAnimFile_CreateSkin(file, b, mesh, &skin));
  def.morph = morph;
  def.skin = skin;
  testExpectOk(pnCreatePose(&def, &pose));
  if (morph) testExpectOk(pnPose_SetWeights(pose, pnAnimState_GetWeights(state, b), body->targetCount));
  if (skin) testExpectOk(pnPose_SetJoints(pose, pnAnimState_GetJoints(state, b), file->skins[body->skin].jointCount));
  else testExpectOk(pnPose_SetTransform(pose, pnAnimState_GetTransform(state, b)));
  float *corners = malloc((size_t)body->triangleCount * 9 * sizeof(float) + 1);
  for (size_t i = 0; i < (size_t)body->triangleCount * 3; ++i) {
    pnVec3 p = pnPose_GetVertex(pose, body->triangles[i]);
    memcpy(corners + 3 * i, &p, sizeof p);
  }
  pnDestroyPose(pose);
  pnDestroySkin(skin);
  pnDestroyMorph(morph);
  pnDestroyMesh(mesh);
  return corners;
}

/* The body of the other file that stands for body b: of the same name, else, in files without names, at the same place. */
static uint32_t twinOf(const pnAnimFile *file, const pnAnimFile *other, uint32_t i) {
  const pnAnimBody *body = &file->bodies[i];
  for (uint32_t b = 0; b < other->bodyCount; ++b)
    if (strcmp(other->bodies[b].name, body->name) == 0 && other->bodies[b].triangleCount == body->triangleCount)
      return b;
  bool same = file->bodyCount == other->bodyCount && other->bodies[i].triangleCount == body->triangleCount;
  for (uint32_t b = 0; b < other->bodyCount && !same; ++b)
    if (other->bodies[b].triangleCount == body->triangleCount) return b;
  return same ? i : PN_NONE;
}

/* The largest distance over the size of the body; -1 when a body has no twin. */
static double compareMoment(const pnAnimFile *a, const pnAnimFile *b, uint32_t clipA, uint32_t clipB, double time) {
  pnAnimState *stateA, *stateB;
  testExpectOk(pnCreateAnimState(a, &stateA));
  testExpectOk(pnCreateAnimState(b, &stateB));
  testExpectOk(pnAnimState_Evaluate(stateA, clipA, time));
  testExpectOk(pnAnimState_Evaluate(stateB, clipB, time));
  double worst = 0;
  for (uint32_t i = 0; i < a->bodyCount && worst >= 0; ++i) {
    uint32_t j = twinOf(a, b, i);
    if (j == PN_NONE) {
      worst = -1;
      break;
    }
    float *x = cornersOf(a, stateA, i), *y = cornersOf(b, stateB, j);
    double largest = 0, most = 0;
    for (size_t k = 0; k < (size_t)a->bodies[i].triangleCount * 9; ++k) {
      double far = fabs((double)x[k]), apart = fabs((double)x[k] - (double)y[k]);
      largest = PN_MAX(largest, far);
      most = PN_MAX(most, apart);
    }
    worst = PN_MAX(worst, largest > 0 ? most / largest : most);
    free(x);
    free(y);
  }
  pnDestroyAnimState(stateA);
  pnDestroyAnimState(stateB);
  return worst;
}

/* assimp 5.2 has straight lines between keys only: clips with steps and splines are other motions there. */
static bool isStraight(const pnAnimClip *clip) {
  for (uint32_t c = 0; c < clip->channelCount; ++c)
    if (clip->channels[c].interpolation != PN_INTERPOLATION_LINEAR) return false;
  return true;
}

static uint32_t findClip(const pnAnimFile *file, const char *name) {
  for (uint32_t c = 0; c < file->clipCount; ++c)
    if (strcmp(file->clips[c].name, name) == 0) return c;
  return PN_NONE;
}

/* The worst of rest pose and clips, each at three times; counts what was compared. */
static double compareFiles(const pnAnimFile *a, const pnAnimFile *b, uint32_t *moments) {
  double worst = compareMoment(a, b, PN_NONE, PN_NONE, 0);
  for (uint32_t c = 0; c < a->clipCount && worst >= 0; ++c) {
    const pnAnimClip *clip = &a->clips[c];
    uint32_t twin = findClip(b, clip->name);
    if (!isStraight(clip) || twin == PN_NONE || findClip(a, clip->name) != c || clip->channelCount == 0) continue;
    for (int part = 0; part < 3; ++part) {
      double time = (double)clip->startTime + part * 0.45 * ((double)clip->endTime - (double)clip->startTime);
      worst = fmax(worst, compareMoment(a, b, c, twin, time));
      ++*moments;
    }
  }
  return worst;
}

/* What assimp 5.2 is known to read otherwise, and why. */
static const char *const otherwise[][2] = {
    {"Animation_SkinType_01", "joint weights as fractions of 255 are taken as they are"},
    {"Animation_SkinType_02", "joint weights as fractions of 65535 are taken as they are"},
    {"glTF-Quantized", "positions as fractions are taken as they are"},
    {"MeshPrimitiveModes", "strips have their corners in another order"},
    {"MultipleScenes", "only the default scene is read"},
    {"RecursiveSkeletons", "one mesh under several skins has the bones of one"},
};

static bool isKnownToDiffer(const char *path) {
  for (size_t i = 0; i < sizeof otherwise / sizeof otherwise[0]; ++i)
    if (strstr(path, otherwise[i][0])) return printf("%s: %s\n", path, otherwise[i][1]), true;
  return false;
}

typedef enum Verdict { AGREE, APART, NOT_BOTH } Verdict;

/* Both readers on one file, in a process of its own: assimp 5.2 crashes on some glTF files, which is no fault of ours. */
static Verdict compareReaders(const char *path) {
  pnAnimFile *ours = NULL, *theirs = NULL;
  uint32_t moments = 0;
  Verdict verdict = NOT_BOTH;
  if (pnLoadAnimFile(path, &ours) == PN_OK) {
    if (pn_assimpLoad(path, &theirs) == PN_OK) {
      double worst = compareFiles(ours, theirs, &moments);
      verdict = worst >= 0 && worst <= 1e-6 ? AGREE : isKnownToDiffer(path) ? NOT_BOTH : APART;
      if (verdict == APART) printf("%s: apart by %g of its size, %u moments\n", path, worst, moments);
    } else {
      printf("%s\n", pnGetMessage());
    }
  }
  pnFreeAnimFile(ours);
  pnFreeAnimFile(theirs);
  return verdict;
}

static void agreesWithOurReader(void **state) {
  (void)state;
  const TestPath *paths;
  size_t count = testAnimFiles(&paths), verdicts[4] = {0};
  for (size_t i = 0; i < count; ++i) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      signal(SIGSEGV, SIG_DFL); /* cmocka's handler would come back here */
      signal(SIGABRT, SIG_DFL);
      Verdict verdict = compareReaders(paths[i]);
      fflush(stdout);
      _exit(verdict);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    bool ended = WIFEXITED(status) && WEXITSTATUS(status) <= NOT_BOTH;
    if (!ended) printf("%s: assimp crashes\n", paths[i]);
    ++verdicts[ended ? WEXITSTATUS(status) : 3];
  }
  printf("of %zu files %zu agree, %zu are apart, %zu are not read by both, %zu crash assimp\n", count, verdicts[AGREE],
         verdicts[APART], verdicts[NOT_BOTH], verdicts[3]);
  assert_int_equal(verdicts[APART], 0);
  assert_true(count == 0 || verdicts[AGREE] > count / 2);
}

/* By name, and by what is in it. */
static void refusesWhatIsNoScene(void **state) {
  (void)state;
  assert_true(pnCanLoadAnimFile("walk.fbx") && pnCanLoadAnimFile("walk.DAE") && pnCanLoadAnimFile("walk.glb"));
  assert_false(pnCanLoadAnimFile("mesh.obj") || pnCanLoadAnimFile("mesh.ply") || pnCanLoadAnimFile("walk.mdd") ||
               pnCanLoadAnimFile("none"));
  FILE *file = fopen("test_io_assimp.fbx", "wb");
  assert_non_null(file);
  fputs("Kaydara FBX Binary  \0 cut off", file);
  fclose(file);
  pnAnimFile *out;
  testExpectFailure(pnLoadAnimFile("test_io_assimp.fbx", &out), PN_ERROR_FORMAT, "test_io_assimp.fbx|assimp");
  assert_null(out);
  testExpectFailure(pnLoadAnimFile("no_such.fbx", &out), PN_ERROR_FILE, "no_such.fbx");
  remove("test_io_assimp.fbx");
}
#endif

int main(void) {
#ifdef PN_HAVE_ASSIMP
  const struct CMUnitTest tests[] = {cmocka_unit_test(agreesWithOurReader), cmocka_unit_test(refusesWhatIsNoScene)};
  return cmocka_run_group_tests(tests, NULL, NULL);
#else
  printf("skipped: this build reads no FBX (install libassimp-dev)\n");
  return 0;
#endif
}
