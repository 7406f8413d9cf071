/* test_world_reads.c: what docs/threads.md lets several threads read together, read together, for the thread sanitizer: poses and their
 * trees, trees of one shape, blocks of a shape, soups, images of volumes, finders, one world. */
#include "support_threads.h"

#include <math.h>
#include <stdlib.h>

enum { QUESTIONS = 24 };

/* ---------------------------------------------------------------- questions to a tree of one's own */

static void aim(pnRay *rays, float *points, pnBox *boxes) {
  for (int i = 0; i < QUESTIONS; ++i) {
    float turn = 6.2831853f * (float)i / QUESTIONS, x = 3 * cosf(turn), y = 3 * sinf(turn);
    rays[i] = pnDefaultRay();
    rays[i].origin = (pnVec3){x, y, 0.2f};
    rays[i].direction = (pnVec3){-x, 0.3f - y, -0.1f};
    points[3 * i] = 0.6f * x, points[3 * i + 1] = 0.4f * y, points[3 * i + 2] = 0.3f;
    boxes[i] = (pnBox){{0.3f * x - 0.2f, 0.3f * y - 0.2f, -0.3f}, {0.3f * x + 0.2f, 0.3f * y + 0.2f, 0.3f}};
  }
}

static uint64_t askRays(pnTree *tree, const pnRay *rays, uint64_t sum) {
  pnHit hits[QUESTIONS];
  bool blocked[QUESTIONS];
  pnHitList *all;
  testExpectOk(pnCreateHitList(&all));
  testExpectOk(pnFindFirstHits(tree, rays, QUESTIONS, NULL, hits));
  testExpectOk(pnFindBlocked(tree, rays, QUESTIONS, NULL, blocked));
  testExpectOk(pnFindAllHits(tree, rays, QUESTIONS, NULL, all));
  for (int i = 0; i < QUESTIONS; ++i) sum = mixNumber(mix(mix(sum, hits[i].triangle), blocked[i]), hits[i].t);
  sum = mix(sum, pnHitList_GetCount(all));
  pnDestroyHitList(all);
  return sum;
}

static uint64_t askTree(pnTree *tree, uint64_t sum) {
  pnRay rays[QUESTIONS];
  float points[3 * QUESTIONS];
  pnBox boxes[QUESTIONS];
  aim(rays, points, boxes);
  sum = askRays(tree, rays, sum);
  pnClosest closest[QUESTIONS];
  pnTriangleList *inside;
  testExpectOk(pnCreateTriangleList(&inside));
  testExpectOk(pnFindClosest(tree, points, QUESTIONS, NULL, closest));
  testExpectOk(pnFindInBoxes(tree, boxes, QUESTIONS, NULL, inside));
  for (int i = 0; i < QUESTIONS; ++i) sum = mixNumber(mix(sum, closest[i].triangle), closest[i].distance);
  sum = mix(sum, pnTriangleList_GetCount(inside));
  pnDestroyTriangleList(inside);
  pnPairList *pairs;
  testExpectOk(pnCreatePairList(&pairs));
  testExpectOk(pnCollideSelf(tree, NULL, pairs, NULL));
  sum = mixPairs(sum, pnPairList_GetPairs(pairs), pnPairList_GetCount(pairs));
  pnDestroyPairList(pairs);
  return mix(sum, pnTree_GetNodeCount(tree));
}

/* ---------------------------------------------------------------- poses */

/* One of every motion over one knot. */
typedef struct Actors {
  pnMesh *mesh, *ball;
  pnMorph *morph;
  pnSkin *skin;
  pnPose *free, *rigid, *morphing, *skinned, *still;
} Actors;

static pnPose *poseOf(const pnMesh *mesh, const pnMorph *morph, const pnSkin *skin) {
  pnPose *pose;
  testExpectOk(pnCreatePose(&(pnPoseDef){mesh, morph, skin}, &pose));
  return pose;
}

static pnMatrix moved(float x, float y, float z) {
  pnMatrix m = pnMatrix_Identity();
  m.m[0][3] = x, m.m[1][3] = y, m.m[2][3] = z;
  return m;
}

static void makeMotions(Actors *a) {
  uint32_t n = pnMesh_GetVertexCount(a->mesh);
  const float *rest = pnMesh_GetVertices(a->mesh);
  float *deltas = malloc(3 * n * sizeof *deltas), *weights = malloc(2 * n * sizeof *weights);
  uint16_t *joints = malloc(2 * n * sizeof *joints);
  assert_true(deltas && weights && joints);
  for (uint32_t i = 0; i < 3 * n; ++i) deltas[i] = i % 3 == 2 ? -0.6f * rest[i] : 0.1f * rest[i];
  for (uint32_t v = 0; v < n; ++v) {
    joints[2 * v] = 0, joints[2 * v + 1] = 1;
    weights[2 * v] = rest[3 * v] > 0 ? 0.75f : 0.25f, weights[2 * v + 1] = 1 - weights[2 * v];
  }
  pnMorphTarget target = {.name = "flat", .count = n, .values = deltas};
  testExpectOk(pnCreateMorph(&(pnMorphDef){.mesh = a->mesh, .targets = &target, .targetCount = 1}, &a->morph));
  pnSkinDef skin = pnDefaultSkinDef();
  skin.mesh = a->mesh, skin.jointCount = 2, skin.influenceCount = 2;
  skin.jointIndices = joints, skin.jointWeights = weights;
  testExpectOk(pnCreateSkin(&skin, &a->skin));
  a->free = poseOf(a->mesh, NULL, NULL);
  testExpectOk(pnPose_SetVertices(a->free, deltas, n));
  free(deltas), free(weights), free(joints);
}

static void openActors(Actors *a) {
  memset(a, 0, sizeof *a);
  testExpectOk(pnMakeKnot(2, 3, 1, 0.45f, 32, 8, &a->mesh));
  testExpectOk(pnMakeIcosphere(1, 0.8f, &a->ball));
  makeMotions(a);
  a->rigid = poseOf(a->mesh, NULL, NULL);
  a->morphing = poseOf(a->mesh, a->morph, NULL);
  a->skinned = poseOf(a->mesh, a->morph, a->skin);
  a->still = poseOf(a->ball, NULL, NULL);
  float weight = 0.7f;
  pnMatrix to = moved(0.1f, 0.2f, 0.05f), joints[2] = {moved(0.2f, 0, 0), moved(0, -0.2f, 0.1f)};
  testExpectOk(pnPose_SetTransform(a->rigid, &to));
  testExpectOk(pnPose_SetWeights(a->morphing, &weight, 1));
  testExpectOk(pnPose_SetWeights(a->skinned, &weight, 1));
  testExpectOk(pnPose_SetJoints(a->skinned, joints, 2));
}

static void closeActors(Actors *a) {
  pnPose *poses[] = {a->free, a->rigid, a->morphing, a->skinned, a->still};
  for (size_t i = 0; i < sizeof poses / sizeof *poses; ++i) pnDestroyPose(poses[i]);
  pnDestroySkin(a->skin);
  pnDestroyMorph(a->morph);
  pnDestroyMesh(a->ball);
  pnDestroyMesh(a->mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

static uint64_t readPose(const pnPose *pose, uint64_t sum) {
  uint32_t n = pnMesh_GetVertexCount(pnPose_GetMesh(pose));
  float *all = malloc(3 * n * sizeof *all);
  assert_non_null(all);
  pnPose_GetVertices(pose, all);
  for (uint32_t i = 0; i < 3 * n; ++i) sum = mixNumber(sum, all[i]);
  free(all);
  if (pnPose_GetWeights(pose)) sum = mixNumber(sum, pnPose_GetWeights(pose)[0]);
  if (pnPose_GetJoints(pose)) sum = mixNumber(sum, pnPose_GetJoints(pose)[1].m[1][3]);
  return mix(mixVector(sum, pnPose_GetVertex(pose, n / 2)), pnPose_GetFrame(pose));
}

/* Reads a pose and asks a tree of its own over it. */
static uint64_t askPose(void *context) {
  const pnPose *pose = context;
  uint64_t sum = readPose(pose, 1);
  pnTree *tree;
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = pose;
  testExpectOk(pnCreateTree(&def, &tree));
  sum = askTree(tree, sum);
  pnDestroyTree(tree);
  return sum;
}

/* All of them: every pair of small bodies, distances, and what meets on the way from one pose to another. */
static uint64_t askActors(void *context) {
  const Actors *a = context;
  uint64_t sum = 2;
  pnPairList *pairs;
  testExpectOk(pnCreatePairList(&pairs));
  testExpectOk(pnCollideBrute(a->still, a->still, NULL, pairs));
  sum = mix(sum, pnPairList_GetCount(pairs));
  pnTreePair trees;
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = a->skinned;
  testExpectOk(pnCreateTree(&def, &trees.a));
  def.pose = a->still;
  testExpectOk(pnCreateTree(&def, &trees.b));
  testExpectOk(pnCollideTrees(trees.a, trees.b, NULL, pairs, NULL));
  sum = mixPairs(sum, pnPairList_GetPairs(pairs), pnPairList_GetCount(pairs));
  pnDistance distance;
  testExpectOk(pnFindDistances(&trees, 1, NULL, &distance));
  sum = mixNumber(mixVector(sum, distance.onA), distance.distance);
  pnDestroyTree(trees.a);
  pnDestroyTree(trees.b);
  pnDestroyPairList(pairs);
  pnSweep *sweep, *still;
  pnImpactList *impacts;
  testExpectOk(pnCreateSweep(a->mesh, &sweep));
  testExpectOk(pnCreateSweep(a->ball, &still));
  testExpectOk(pnCreateImpactList(&impacts));
  testExpectOk(pnSweep_SetBegin(sweep, a->rigid));
  testExpectOk(pnSweep_SetEnd(sweep, a->morphing));
  testExpectOk(pnCollideSwept(sweep, still, NULL, impacts, NULL));
  sum = mixNumber(mix(sum, pnImpactList_GetCount(impacts)), pnImpactList_GetEarliest(impacts).lo);
  pnDestroyImpactList(impacts);
  pnDestroySweep(sweep);
  pnDestroySweep(still);
  return sum;
}

static void posesAreReadTogether(void **state) {
  (void)state;
  Actors a;
  openActors(&a);
  pnPose *poses[] = {a.free, a.rigid, a.morphing, a.skinned};
  for (size_t i = 0; i < sizeof poses / sizeof *poses; ++i) askTogether(askPose, poses[i]);
  /* and again where they have moved */
  pnMatrix to = moved(-0.2f, 0, 0.1f);
  for (size_t i = 0; i < sizeof poses / sizeof *poses; ++i) {
    testExpectOk(pnPose_SetTransform(poses[i], &to));
    askTogether(askPose, poses[i]);
  }
  askTogether(askActors, &a);
  closeActors(&a);
}

/* ---------------------------------------------------------------- shapes */

/* A shape, or a block of one. */
typedef struct Kept {
  pnShapeDef def;
  const pnShape *shape;
  void *block;
  size_t bytes;
} Kept;

static uint64_t askShape(const pnShape *shape, const pnShapeDef *def, float weight, uint64_t sum) {
  pnPose *pose = poseOf(def->mesh, def->morph, def->skin);
  if (def->morph) testExpectOk(pnPose_SetWeights(pose, &weight, 1));
  pnTree *tree;
  pnTreeDef treeDef = pnDefaultTreeDef();
  treeDef.pose = pose, treeDef.shape = shape;
  testExpectOk(pnCreateTree(&treeDef, &tree));
  sum = askTree(tree, sum);
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  return mix(mix(sum, pnShape_GetNodeCount(shape)), pnShape_GetHeight(shape));
}

static uint64_t askKept(void *context) {
  const Kept *k = context;
  const pnShape *held = pnShape_Retain(k->shape);
  uint64_t sum = askShape(held, &k->def, 0.4f, 3);
  assert_true(pnShape_GetByteCount(held) > 0);
  pnShape_Release(held);
  return askShape(k->shape, &k->def, 0.8f, sum);
}

static uint64_t askBlock(void *context) {
  const Kept *k = context;
  const pnShape *shape;
  testExpectOk(pnLoadShape(&k->def, k->block, k->bytes, &shape));
  uint64_t sum = askShape(shape, &k->def, 0.4f, 3);
  sum = askShape(shape, &k->def, 0.8f, sum);
  pnShape_Release(shape);
  return sum;
}

static void shapesAreAskedTogether(void **state) {
  (void)state;
  Actors a;
  openActors(&a);
  for (int i = 0; i < 4; ++i) {
    Kept k = {.def = pnDefaultShapeDef()};
    k.def.mesh = a.mesh;
    k.def.morph = i >= 2 ? a.morph : NULL;
    k.def.skin = i == 3 ? a.skin : NULL;
    k.def.tree.calm = i == 2;
    k.def.tree.update = i == 0 ? PN_UPDATE_RIGID : PN_UPDATE_DEFAULT;
    testExpectOk(pnCreateShape(&k.def, &k.shape));
    askTogether(askKept, &k);
    testExpectOk(pnShape_PrepareSelf(k.shape));
    testExpectOk(pnShape_Save(k.shape, &k.block, &k.bytes));
    askTogether(askBlock, &k);
    assert_true(askBlock(&k) == askKept(&k));
    pnFree(k.block, k.bytes);
    pnShape_Release(k.shape);
  }
  closeActors(&a);
}

/* ---------------------------------------------------------------- soups */

static uint64_t askSoup(void *context) {
  const pnSoup *soup = context;
  uint64_t sum = mix(pnSoup_GetCount(soup), pnSoup_GetByteCount(soup));
  for (uint32_t place = 0; place < pnSoup_GetPlaceCount(soup); ++place) {
    pnPrimitiveId id = pnSoup_GetId(soup, place);
    float corners[9] = {0};
    uint32_t names[3];
    sum = mix(mix(sum, pnSoup_GetCorners(soup, id, corners)), pnSoup_IsValid(soup, id));
    sum = mix(mixNumber(sum, corners[4]), pnSoup_GetVertexNames(soup, id, names) ? names[2] : 0);
  }
  sum = readPose(pnSoup_GetPose(soup), sum);
  pnTree *tree;
  pnBucketDef def = pnDefaultBucketDef();
  def.soup = soup;
  testExpectOk(pnCreateBucketTree(&def, &tree));
  sum = askTree(tree, sum);
  pnDestroyTree(tree);
  pnSweep *sweep;
  testExpectOk(pnCreateSoupSweep(soup, &sweep));
  testExpectOk(pnSweep_SetEnd(sweep, pnSoup_GetPose(soup)));
  sum = mix(sum, pnSweep_GetEdgeCount(sweep));
  pnDestroySweep(sweep);
  return sum;
}

/* The triangles of a mesh, moved up by z. */
static pnSoup *soupOf(const pnMesh *mesh, float z) {
  pnSoup *soup;
  testExpectOk(pnCreateSoup(NULL, &soup));
  for (uint32_t t = 0; t < pnMesh_GetTriangleCount(mesh); ++t) {
    float at[9];
    for (int k = 0; k < 9; ++k)
      at[k] = pnMesh_GetVertices(mesh)[3 * pnMesh_GetTriangles(mesh)[3 * t + k / 3] + k % 3] + (k % 3 == 2 ? z : 0);
    pnPrimitiveId id;
    testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, at, 1, &id));
    testExpectOk(pnSoup_NameVertices(soup, &id, pnMesh_GetTriangles(mesh) + 3 * t, 1));
  }
  return soup;
}

static void soupsAreReadTogether(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeKnot(2, 3, 1, 0.45f, 32, 8, &mesh));
  pnSoup *soup = soupOf(mesh, 0);
  askTogether(askSoup, soup);
  for (uint32_t place = 0; place < 100; place += 3) {
    pnPrimitiveId id = pnSoup_GetId(soup, place);
    testExpectOk(pnSoup_Remove(soup, &id, 1));
  }
  askTogether(askSoup, soup);
  pnDestroySoup(soup);
  pnDestroyMesh(mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- volumes */

typedef struct Volumes {
  Actors actors;
  pnLdi *ldi;
  pnOverlap *overlap;
} Volumes;

static void openVolumes(const Actors *a, pnLdi **outLdi, pnOverlap **outOverlap) {
  pnLdiDef def = pnDefaultLdiDef();
  def.pose = a->morphing, def.resolution = 32;
  testExpectOk(pnCreateLdi(&def, outLdi));
  testExpectOk(pnLdi_Update(*outLdi));
  pnOverlapDef both = pnDefaultOverlapDef();
  both.poseA = a->skinned, both.poseB = a->still, both.resolution = 32;
  testExpectOk(pnCreateOverlap(&both, outOverlap));
  pnOverlapResult result;
  testExpectOk(pnOverlap_Measure(*outOverlap, &result));
  assert_true(result.volume > 0);
}

/* Reads images that nobody makes anew. */
static uint64_t readVolumes(const pnLdi *ldi, const pnOverlap *overlap) {
  pnRay rays[QUESTIONS];
  float points[3 * QUESTIONS];
  pnBox boxes[QUESTIONS];
  aim(rays, points, boxes);
  uint8_t inside[QUESTIONS];
  pnInsideResult points1;
  pnVolumeResult volume;
  pnSelfOverlapResult self;
  testExpectOk(pnLdi_TestPoints(ldi, points, QUESTIONS, inside, &points1));
  testExpectOk(pnLdi_Measure(ldi, &volume));
  testExpectOk(pnLdi_FindSelfOverlap(ldi, &self));
  uint64_t sum = mixNumber(mixNumber(mix(5, points1.insideCount), volume.volume), self.volume);
  pnLayer layers[8];
  for (uint32_t x = 0; x < 32; ++x) {
    uint32_t count = pnLdi_GetLayers(ldi, x, 16, layers, 8);
    sum = mixNumber(mix(sum, count), count ? layers[0].depth : 0);
  }
  pnMesh *mesh;
  testExpectOk(pnOverlap_MakeMesh(overlap, &mesh));
  sum = mix(mix(sum, pnMesh_GetTriangleCount(mesh)), pnOverlap_GetSpans(overlap, NULL, 0));
  pnDestroyMesh(mesh);
  return mix(sum, pnLdi_GetInfo(ldi).layerCount);
}

static uint64_t askImages(void *context) {
  const Volumes *v = context;
  return readVolumes(v->ldi, v->overlap);
}

/* Images of one's own, of shared poses. */
static uint64_t makeImages(void *context) {
  const Volumes *v = context;
  pnLdi *ldi;
  pnOverlap *overlap;
  openVolumes(&v->actors, &ldi, &overlap);
  uint64_t sum = readVolumes(ldi, overlap);
  pnDepthResult depth;
  testExpectOk(pnOverlap_FindDepth(overlap, &depth));
  pnDestroyOverlap(overlap);
  pnDestroyLdi(ldi);
  return mixNumber(sum, depth.depth);
}

static void volumesAreMeasuredTogether(void **state) {
  (void)state;
  Volumes v;
  openActors(&v.actors);
  askTogether(makeImages, &v);
  openVolumes(&v.actors, &v.ldi, &v.overlap);
  askTogether(askImages, &v);
  pnDestroyOverlap(v.overlap);
  pnDestroyLdi(v.ldi);
  closeActors(&v.actors);
}

/* ---------------------------------------------------------------- finders */

static uint64_t askFindings(void *context) {
  const pnFinder *finder = context;
  uint32_t count;
  size_t pairCount;
  const pnFinding *findings = pnFinder_GetFindings(finder, &count);
  uint64_t sum = mix(7, count);
  for (uint32_t i = 0; i < count; ++i) {
    for (const char *c = findings[i].name; *c; ++c) sum = mix(sum, (uint64_t)*c);
    sum = mix(mixNumber(sum, findings[i].depth.value), pnFinder_GetFindingNumber(finder, findings[i].number));
  }
  const pnRegion *regions = pnFinder_GetRegions(finder, &count);
  for (uint32_t i = 0; i < count; ++i) sum = mixVector(mixNumber(sum, regions[i].curveLength), regions[i].centre);
  const pnPair *pairs = pnFinder_GetRegionPairs(finder, &pairCount);
  sum = mixPairs(sum, pairs, pairCount);
  const pnVec3 *points = pnFinder_GetCurvePoints(finder, &count);
  for (uint32_t i = 0; i < count; ++i) sum = mixVector(sum, points[i]);
  return mix(mix(sum, pnFinder_GetDroppedCount(finder)), pnFinder_IsLimited(finder));
}

/* Three frames of bodies with trees of one's own over shared meshes; then what was found is read, by several when there are more. */
static uint64_t find(const Actors *a, bool readTogether) {
  const pnMesh *meshes[2] = {a->mesh, a->ball};
  pnPose *poses[2];
  pnTree *trees[2];
  pnFinder *finder;
  pnPairList *pairs;
  pnFinderDef def = pnDefaultFinderDef();
  testExpectOk(pnCreateFinder(&def, &finder));
  testExpectOk(pnCreatePairList(&pairs));
  for (uint32_t i = 0, number; i < 2; ++i) {
    poses[i] = poseOf(meshes[i], NULL, NULL);
    pnTreeDef treeDef = pnDefaultTreeDef();
    treeDef.pose = poses[i];
    testExpectOk(pnCreateTree(&treeDef, &trees[i]));
    pnFinderBodyDef body = pnDefaultFinderBodyDef();
    body.tree = trees[i], body.name = i ? "ball" : "knot";
    testExpectOk(pnFinder_AddBody(finder, &body, &number));
  }
  for (int frame = 0; frame < 3; ++frame) {
    pnMatrix to = moved(0.9f + 0.1f * (float)frame, 0, 0);
    testExpectOk(pnPose_SetTransform(poses[1], &to));
    testExpectOk(pnCollideTrees(trees[0], trees[1], NULL, pairs, NULL));
    pnFinderContact contact = {0, 1, pnPairList_GetPairs(pairs), pnPairList_GetCount(pairs)};
    assert_true(contact.pairCount > 0);
    pnFinderFrame f = {.number = frame, .time = frame, .contacts = &contact, .contactCount = 1, .curves = true};
    testExpectOk(pnFinder_AddFrame(finder, &f));
  }
  testExpectOk(pnFinder_Rank(finder, PN_FINDINGS_BY_DEPTH));
  if (readTogether) askTogether(askFindings, finder);
  uint64_t sum = askFindings(finder);
  pnDestroyFinder(finder);
  pnDestroyPairList(pairs);
  for (int i = 0; i < 2; ++i) {
    pnDestroyTree(trees[i]);
    pnDestroyPose(poses[i]);
  }
  return sum;
}

static uint64_t askFinder(void *context) {
  return find(context, false);
}

static void findersLookTogether(void **state) {
  (void)state;
  Actors a;
  openActors(&a);
  askTogether(askFinder, &a);
  find(&a, true);
  closeActors(&a);
}

/* ---------------------------------------------------------------- one world */

typedef struct House {
  pnWorld *world;
  pnBodyId ids[3];
  uint32_t contactCount, stepCount;
  size_t pairCount, impactCount;
} House;

static uint64_t readContacts(const House *h, uint64_t sum) {
  const pnContact *contacts = pnWorld_GetContacts(h->world);
  const pnPair *pairs = pnWorld_GetPairs(h->world);
  sum = mixPairs(sum, pairs, h->pairCount);
  for (uint32_t c = 0; c < h->contactCount; ++c) {
    pnMeeting *meetings = malloc(contacts[c].pairCount * sizeof *meetings);
    assert_non_null(meetings);
    pnWorld_FindMeetings(h->world, c, meetings);
    for (size_t i = 0; i < contacts[c].pairCount; ++i) {
      sum = mixMeeting(sum, &meetings[i]);
      sum = mix(sum, pnWorld_GetPrimitives(h->world, c, contacts[c].firstPair + i).b.index1);
      if (i % 8) continue;
      pnContactPoint point = pnWorld_GetContactPoint(h->world, c, contacts[c].firstPair + i);
      sum = mixVector(mixMeeting(sum, &point.meeting), point.normalA);
    }
    free(meetings);
  }
  return sum;
}

static uint64_t readStep(const House *h, uint64_t sum) {
  const pnStepContact *contacts = pnWorld_GetStepContacts(h->world);
  const pnFeatureImpact *impacts = pnWorld_GetImpacts(h->world);
  for (uint32_t c = 0; c < h->stepCount; ++c) {
    sum = mixNumber(sum, contacts[c].first.lo);
    if (!pnBody_GetPose(h->world, contacts[c].b)) continue; /* a soup: passages are those of meshes, as findings are */
    pnPassageList *passages;
    testExpectOk(pnCreatePassageList(&passages));
    pnPassageDef def = {.a = pnBody_GetSweep(h->world, contacts[c].a), .b = pnBody_GetSweep(h->world, contacts[c].b)};
    def.impacts = impacts + contacts[c].firstImpact, def.impactCount = contacts[c].impactCount;
    testExpectOk(pnFindPassages(&def, passages));
    size_t count;
    const pnPair *pairs = pnPassageList_GetPairs(passages, &count);
    sum = mixPairs(sum, pairs, count);
    sum = mix(sum, pnSweep_GetEdges(def.a)[2 * (pnSweep_GetEdgeCount(def.a) - 1)]);
    pnDestroyPassageList(passages);
  }
  return mix(sum, h->impactCount);
}

static uint64_t askWorld(void *context) {
  const House *h = context;
  uint64_t sum = mix(11, pnWorld_GetBodyCount(h->world));
  for (int i = 0; i < 3; ++i) {
    assert_true(pnBody_IsValid(h->world, h->ids[i]));
    sum = mix(sum, (uint64_t)pnBody_GetName(h->world, h->ids[i])[0]);
    if (pnBody_GetPose(h->world, h->ids[i])) sum = readPose(pnBody_GetPose(h->world, h->ids[i]), sum);
    pnTree *tree = pnBody_GetTree(h->world, h->ids[i]);
    sum = mixVector(mixNumber(sum, pnTree_GetQuality(tree)), pnTree_GetBox(tree).max);
  }
  return readStep(h, readContacts(h, sum));
}

static void oneWorldIsReadTogether(void **state) {
  (void)state;
  Actors a;
  openActors(&a);
  pnSoup *soup = soupOf(a.ball, 0.3f);
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  House h = {0};
  pnWorldDef worldDef = pnDefaultWorldDef();
  worldDef.tasks = pnPool_GetTasks(pool);
  testExpectOk(pnCreateWorld(&worldDef, &h.world));
  for (int i = 0; i < 3; ++i) {
    pnBodyDef def = pnDefaultBodyDef();
    def.kind = i == 0 ? PN_BODY_SKINNED : i == 1 ? PN_BODY_FREE : PN_BODY_SOUP;
    def.mesh = i == 0 ? a.mesh : i == 1 ? a.ball : NULL;
    def.morph = i == 0 ? a.morph : NULL, def.skin = i == 0 ? a.skin : NULL;
    def.soup = i == 2 ? soup : NULL, def.self = i == 0;
    testExpectOk(pnWorld_CreateBody(h.world, &def, &h.ids[i]));
  }
  testExpectOk(pnWorld_BeginStep(h.world));
  pnMatrix to = moved(0.4f, 0.1f, 0);
  testExpectOk(pnBody_SetTransform(h.world, h.ids[0], &to));
  pnFrame frame = pnWorld_Collide(h.world, NULL);
  pnStep step = pnWorld_CollideSwept(h.world, &(pnStepDef){.noSelf = true});
  testExpectOk(frame.result);
  testExpectOk(step.result);
  h.contactCount = frame.contactCount, h.pairCount = frame.pairCount;
  h.stepCount = step.contactCount, h.impactCount = step.impactCount;
  assert_true(h.contactCount == 4 && h.stepCount > 0 && h.impactCount > 0);
  askTogether(askWorld, &h);
  pnDestroyWorld(h.world);
  pnDestroyPool(pool);
  pnDestroySoup(soup);
  closeActors(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(posesAreReadTogether), cmocka_unit_test(shapesAreAskedTogether),
      cmocka_unit_test(soupsAreReadTogether), cmocka_unit_test(volumesAreMeasuredTogether),
      cmocka_unit_test(findersLookTogether),  cmocka_unit_test(oneWorldIsReadTogether),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
