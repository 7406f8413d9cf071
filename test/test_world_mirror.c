/* test_world_mirror.c: bodies whose trees wear out or are torn: what the world does about it never changes an answer, and it is
 * done when it should be. */
#include "support.h"

#include "pinch/world.h"
#include "scenes.h"

#include "mesh/soup.h"
#include "tree/tree.h"
#include "world/mirror.h"
#include "world/successor.h"
#include "world/watch.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Play {
  pnScene *scene;
  pnMesh *meshes[2];
  pnWorld *worlds[2]; /* as it comes, and one that looks after nothing */
  pnBodyId bodies[2][2];
  float *vertices[2];
  uint32_t bodyCount, rebuilds;
  uint64_t opened[2]; /* pairs of nodes, in the last frame */
  pnFrameDef def;
} Play;

/* Bodies of the meshes, in both worlds. */
static void addBodies(Play *p, bool self) {
  for (int w = 0; w < 2; ++w) {
    pnWorldDef worldDef = pnDefaultWorldDef();
    worldDef.rebuildQuality = w ? 0 : worldDef.rebuildQuality;
    testExpectOk(pnCreateWorld(&worldDef, &p->worlds[w]));
    for (uint32_t b = 0; b < p->bodyCount; ++b) {
      pnBodyDef bodyDef = pnDefaultBodyDef();
      bodyDef.mesh = p->meshes[b];
      bodyDef.self = self;
      testExpectOk(pnWorld_CreateBody(p->worlds[w], &bodyDef, &p->bodies[w][b]));
    }
  }
}

/* Rest vertices that say nothing of where they are going to be. */
typedef enum Rest { REST_FIRST_FRAME, REST_ZERO, REST_ANYWHERE } Rest;

static void makeRest(float *v, uint32_t count, Rest rest) {
  TestRandom r = testRandom(8);
  for (uint32_t i = 0; rest != REST_FIRST_FRAME && i < 3 * count; ++i)
    v[i] = rest == REST_ZERO ? 0 : testFloat(&r, -1, 1);
}

static Play beginFrom(const char *name, Rest rest) {
  Play p = {0};
  pnSceneDef def = pnDefaultSceneDef();
  def.name = name;
  testExpectOk(pnCreateScene(&def, &p.scene));
  p.bodyCount = pnScene_GetBodyCount(p.scene);
  for (uint32_t b = 0; b < p.bodyCount; ++b) {
    p.vertices[b] = malloc(sizeof(float) * (3 * (size_t)pnScene_GetVertexCount(p.scene, b) + 1));
    testExpectOk(pnScene_Frame(p.scene, 0, b, p.vertices[b]));
    makeRest(p.vertices[b], pnScene_GetVertexCount(p.scene, b), rest);
    pnMeshDef meshDef = pnDefaultMeshDef();
    meshDef.vertices = p.vertices[b];
    meshDef.weld = rest == REST_FIRST_FRAME;
    meshDef.vertexCount = pnScene_GetVertexCount(p.scene, b);
    meshDef.triangles = pnScene_GetTriangles(p.scene, b);
    meshDef.triangleCount = pnScene_GetTriangleCount(p.scene, b);
    testExpectOk(pnCreateMesh(&meshDef, &p.meshes[b]));
  }
  addBodies(&p, pnScene_IsSelf(p.scene));
  return p;
}

static Play begin(const char *name) {
  return beginFrom(name, REST_FIRST_FRAME);
}

static void end(Play *p) {
  for (int i = 0; i < 2; ++i) pnDestroyWorld(p->worlds[i]);
  for (uint32_t b = 0; b < p->bodyCount; ++b) {
    pnDestroyMesh(p->meshes[b]);
    free(p->vertices[b]);
  }
  pnDestroyScene(p->scene);
  assert_int_equal(pnGetByteCount(), 0);
}

/* A frame in both worlds, with the vertices that are there: the same contacts and pairs, or when a first pair is asked for, some. */
static size_t collideBoth(Play *p) {
  pnFrame frames[2];
  for (int w = 0; w < 2; ++w) {
    for (uint32_t b = 0; b < p->bodyCount; ++b) {
      uint32_t count = pnMesh_GetVertexCount(p->meshes[b]);
      testExpectOk(pnBody_SetVertices(p->worlds[w], p->bodies[w][b], p->vertices[b], count));
    }
    frames[w] = pnWorld_Collide(p->worlds[w], &p->def);
    testExpectOk(frames[w].result);
    p->opened[w] = frames[w].cost.nodePairs + frames[w].cost.leafPairs;
  }
  assert_int_equal(frames[0].pairCount, frames[1].pairCount);
  assert_int_equal(frames[0].contactCount, frames[1].contactCount);
  assert_int_equal(frames[1].rebuilds, 0);
  if (frames[0].pairCount > 0 && !p->def.first) {
    assert_memory_equal(pnWorld_GetPairs(p->worlds[0]), pnWorld_GetPairs(p->worlds[1]),
                        frames[0].pairCount * sizeof(pnPair));
  }
  p->rebuilds += frames[0].rebuilds;
  return frames[0].pairCount;
}

/* A frame of the scene. `shake` moves everything by a little. */
static size_t play(Play *p, uint32_t frame, float shake) {
  for (uint32_t b = 0; b < p->bodyCount; ++b) {
    uint32_t count = pnScene_GetVertexCount(p->scene, b);
    testExpectOk(pnScene_Frame(p->scene, frame, b, p->vertices[b]));
    for (uint32_t i = 0; i < 3 * count; ++i) p->vertices[b][i] += shake;
  }
  return collideBoth(p);
}

static const pnBody *bodyOf(const Play *p, int world, int body) {
  return &p->worlds[world]->bodies.data[p->bodies[world][body].index1 - 1];
}

/* Two bodies of small triangles that have nothing to do with each other, side by side in a cube; those of one stand on end. */
static Play beginChips(uint32_t triangleCount) {
  Play p = {.bodyCount = 2};
  uint32_t *triangles = malloc(3 * triangleCount * sizeof *triangles), side = 1;
  while (side * side * side < triangleCount) ++side;
  for (uint32_t i = 0; i < 3 * triangleCount; ++i) triangles[i] = i;
  for (uint32_t b = 0; b < 2; ++b) {
    p.vertices[b] = malloc(9 * triangleCount * sizeof(float));
    for (uint32_t i = 0; i < 9 * triangleCount; ++i) {
      uint32_t chip = i / 9, at[3] = {chip % side, chip / side % side, chip / side / side};
      float size = 1.0f / (float)side, corner = (float)(i % 9 == 3) + 0.8f * (float)(i % 9 == 7 + b) + 0.3f * (float)b;
      p.vertices[b][i] = size * ((float)at[i % 3] + corner);
    }
    pnMeshDef def = pnDefaultMeshDef();
    def.vertices = p.vertices[b];
    def.vertexCount = 3 * triangleCount;
    def.triangles = triangles;
    def.triangleCount = triangleCount;
    testExpectOk(pnCreateMesh(&def, &p.meshes[b]));
  }
  free(triangles);
  addBodies(&p, false);
  return p;
}

/* Each triangle of a body somewhere else, so many times as large as at rest; then a frame. */
static size_t scatterChips(Play *p, TestRandom *r, uint32_t bodyCount, float size) {
  for (uint32_t b = 0; b < bodyCount; ++b) {
    const float *rest = pnMesh_GetVertices(p->meshes[b]);
    for (uint32_t i = 0; i < pnMesh_GetVertexCount(p->meshes[b]); i += 3)
      for (int k = 0; k < 3; ++k) {
        float at = testFloat(r, 0, 1);
        for (uint32_t c = i; c < i + 3; ++c)
          p->vertices[b][3 * c + k] = at + size * (rest[3 * c + k] - rest[3 * i + k]);
      }
  }
  return collideBoth(p);
}

/* Small triangles thrown about: their trees are asked once more, then soups, which stay as they open less; trees again when they have come to rest. */
static void tornTreesGetMirrors(void **state) {
  (void)state;
  Play p = beginChips(1200);
  TestRandom r = testRandom(21);
  size_t pairs = collideBoth(&p);
  for (int b = 0; b < 2; ++b) assert_true(!bodyOf(&p, 0, b)->mirror && !bodyOf(&p, 0, b)->watch);
  for (uint32_t frame = 1; frame < 20; ++frame) {
    uint64_t before = bodyOf(&p, 0, 0)->opened;
    pairs += scatterChips(&p, &r, 2, 1);
    for (int b = 0; b < 2; ++b) {
      const pnBody *body = bodyOf(&p, 0, b);
      assert_true(body->watch && !bodyOf(&p, 1, b)->mirror && !bodyOf(&p, 1, b)->watch);
      assert_int_equal(body->mirror != NULL, frame > 1);
      if (!body->mirror) continue;
      assert_int_equal(body->mirror->trial.isOn, frame == 2 || frame == 3);
      if (frame == 2) assert_int_equal(body->mirror->trial.formerOpened, before);
      if (frame == 2) assert_true(before > 5 * 1200 && body->tree->poseFrame < body->pose->frame);
      assert_true(p.opened[0] < p.opened[1]);
    }
  }
  assert_int_equal(p.rebuilds, 0);
  /* all move, but as one */
  for (uint32_t i = 1; i < 40; ++i) {
    for (uint32_t b = 0; b < 2; ++b)
      for (uint32_t k = 0; k < 9 * 1200; ++k) p.vertices[b][k] += 0.01f * (float)i;
    assert_int_equal(p.rebuilds, i <= 32 ? 0 : 2);
    pairs += collideBoth(&p);
  }
  for (int b = 0; b < 2; ++b) assert_true(!bodyOf(&p, 0, b)->mirror && !bodyOf(&p, 0, b)->watch);
  assert_true(pairs > 500);
  /* a body that is destroyed takes its mirror along; one that stays goes on */
  for (uint32_t frame = 0; frame < 3; ++frame) scatterChips(&p, &r, 2, 1);
  assert_non_null(bodyOf(&p, 0, 1)->mirror);
  for (int w = 0; w < 2; ++w) testExpectOk(pnWorld_DestroyBody(p.worlds[w], p.bodies[w][1]));
  end(&p);
}

/* One that is as it was built opens as much for one that is torn, and keeps its tree. */
static void onlyTornTreesAreLeft(void **state) {
  (void)state;
  Play p = beginChips(1200);
  TestRandom r = testRandom(22);
  collideBoth(&p);
  for (uint32_t frame = 1; frame < 6; ++frame) {
    scatterChips(&p, &r, 1, 1);
    const pnBody *torn = bodyOf(&p, 0, 0), *other = bodyOf(&p, 0, 1);
    assert_true(other->opened == torn->opened && !other->mirror && !other->watch && torn->watch);
    assert_int_equal(torn->mirror != NULL, frame > 1);
  }
  end(&p);
}

/* What was opened in a frame that is long past says nothing; and a mirror that was not asked is not judged. */
static void onlyRecentFramesCount(void **state) {
  (void)state;
  for (uint32_t idle = 2; idle < 5; ++idle) {
    Play p = beginChips(1200);
    TestRandom r = testRandom(23);
    collideBoth(&p);
    scatterChips(&p, &r, 2, 1);
    assert_true(bodyOf(&p, 0, 0)->opened > 5 * 1200);
    for (uint32_t i = 0; i < idle; ++i)
      for (int w = 0; w < 2; ++w) testExpectOk(pnWorld_Collide(p.worlds[w], NULL).result);
    for (uint32_t frame = 0; frame < 8; ++frame) {
      /* apart for some frames */
      const pnMatrix far = {{{1, 0, 0, frame > 1 && frame < 6 ? 10.0f : 0.0f}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
      for (int w = 0; w < 2; ++w) testExpectOk(pnBody_SetTransform(p.worlds[w], p.bodies[w][0], &far));
      scatterChips(&p, &r, 2, 1);
      const pnBody *body = bodyOf(&p, 0, 1);
      assert_int_equal(body->mirror != NULL, frame > 0 || idle < 4);
      if (body->mirror) assert_int_equal(body->mirror->trial.isOn, idle < 4 ? frame < 2 : frame < 7);
    }
    end(&p);
  }
}

/* Where everything is near everything, a mirror opens no less: it is tried once, again when it has become worse by half, and of a body that was
 * torn anew. */
static void noBetterMirrorsOfTwoAreRefused(void **state) {
  (void)state;
  Play p = beginChips(1200);
  TestRandom r = testRandom(24);
  uint32_t trials = 0;
  collideBoth(&p);
  for (uint32_t frame = 1; frame < 9; ++frame) {
    scatterChips(&p, &r, 2, 12);
    const pnBody *body = bodyOf(&p, 0, 0);
    trials += body->mirror != NULL;
    assert_true(body->watch && (!body->mirror || body->mirror->trial.isOn));
    assert_int_equal(body->mirror != NULL, frame == 2 || frame == 3);
    assert_int_equal(body->refusedOpened > 5 * 1200, frame > 3);
  }
  assert_int_equal(trials, 2);
  /* as it was built for a while, and then torn again */
  for (uint32_t i = 0; i < 34; ++i) {
    for (uint32_t b = 0; b < 2; ++b)
      for (uint32_t k = 0; k < 9 * 1200; ++k) p.vertices[b][k] = pnMesh_GetVertices(p.meshes[b])[k] + 0.01f * (float)i;
    collideBoth(&p);
  }
  const pnBody *body = bodyOf(&p, 0, 0);
  assert_true(!body->watch && body->quality < 1.5f && body->refusedOpened > 0 && p.rebuilds == 0);
  scatterChips(&p, &r, 2, 12);
  assert_true(body->watch && body->refusedOpened == 0);
  scatterChips(&p, &r, 2, 12);
  assert_non_null(body->mirror);
  end(&p);
}

/* Patches of a small body thrown about: its tree is left as it is, and no new one is built, until it moves as one; then it has become worn. */
static void smallTornTreesAreKept(void **state) {
  (void)state;
  Play p = begin("shuffle-3200");
  size_t pairs = 0;
  const pnBody *body = bodyOf(&p, 0, 0);
  for (uint32_t frame = 0; frame < 40; ++frame) {
    pairs += play(&p, frame, 0);
    assert_true(!body->mirror && !body->successor && !body->isWorn);
    assert_int_equal(body->watch != NULL, frame > 0);
    assert_true(frame == 0 || (body->quality > 3 && body->opened < 5 * 3200));
  }
  for (uint32_t i = 1; i < 200; ++i) {
    pairs += play(&p, 39, 0.001f * (float)i);
    assert_int_equal(body->watch != NULL, i < 32);
    if (i <= 32) assert_true(!body->isWorn && p.rebuilds == 0);
    assert_null(body->mirror);
  }
  assert_int_equal(p.rebuilds, 2);
  assert_true(body->quality < 1.5f && pairs > 1000);
  end(&p);
}

/* Those of a large one get a soup in the very frame. */
static void largeTornTreesGetMirrorsAtOnce(void **state) {
  (void)state;
  Play p = begin("shuffle-33600");
  for (uint32_t frame = 0; frame < 3; ++frame) {
    assert_true(play(&p, frame, 0) > 100);
    for (int b = 0; b < 2; ++b) {
      const pnBody *body = bodyOf(&p, 0, b);
      assert_int_equal(body->mirror != NULL, frame > 0);
      assert_true(!body->mirror || !body->mirror->trial.isOn);
    }
  }
  assert_true(5 * p.opened[0] < p.opened[1]);
  end(&p);
}

/* A soup reads the vertices where they are, also when they are somewhere else in every frame; those of a body with a transform are
 * copied. */
static void mirrorsReadInPlace(void **state) {
  (void)state;
  Play p = begin("shuffle-3200");
  p.worlds[0]->lab.mirrors = true;
  const pnMatrix straight = pnMatrix_Identity(), turned = {{{0, 1, 0, 0}, {-1, 0, 0, 0.5f}, {0, 0, 1, 0}}};
  size_t pairs = play(&p, 0, 0), count[2] = {pnMesh_GetVertexCount(p.meshes[0]), pnMesh_GetVertexCount(p.meshes[1])};
  float *copy = malloc(sizeof(float) * (3 * count[0] + 1));
  for (uint32_t frame = 1; frame < 24; ++frame) {
    bool turn = frame / 6 % 2 == 1;
    for (int w = 0; w < 2; ++w)
      for (int b = 0; b < 2; ++b)
        testExpectOk(pnBody_SetTransform(p.worlds[w], p.bodies[w][b], turn ? &turned : &straight));
    pairs += play(&p, frame, 0);
    const pnBody *body = bodyOf(&p, 0, 0);
    assert_non_null(body->mirror);
    assert_true(body->mirror->soup->isView == !turn);
    assert_true((body->mirror->soup->positions == body->pose->source) == !turn);
    testExpectOk(pnTree_Validate(body->mirror->tree));
    if (frame % 3) continue;
    /* an array of the caller's */
    memcpy(copy, p.vertices[0], sizeof(float) * 3 * count[0]);
    for (int w = 0; w < 2; ++w)
      testExpectOk(pnBody_ShareVertices(p.worlds[w], p.bodies[w][0], copy, (uint32_t)count[0]));
    pnFrame frames[2] = {pnWorld_Collide(p.worlds[0], NULL), pnWorld_Collide(p.worlds[1], NULL)};
    assert_int_equal(frames[0].pairCount, frames[1].pairCount);
    assert_true((body->mirror->soup->positions == copy) == !turn);
  }
  assert_true(pairs > 100);
  free(copy);
  end(&p);
}

/* A vertex that is no number is named as without a mirror, and the world goes on afterwards. */
static void mirrorsNameVertices(void **state) {
  (void)state;
  Play p = begin("shuffle-3200");
  p.worlds[0]->lab.mirrors = true;
  play(&p, 0, 0);
  play(&p, 1, 0);
  assert_non_null(bodyOf(&p, 0, 0)->mirror);
  float old = p.vertices[0][3 * 7];
  p.vertices[0][3 * 7] = NAN;
  testExpectOk(pnBody_ShareVertices(p.worlds[0], p.bodies[0][0], p.vertices[0], pnMesh_GetVertexCount(p.meshes[0])));
  testExpectFailure(pnWorld_Collide(p.worlds[0], NULL).result, PN_ERROR_NUMBER, "vertex 7");
  p.vertices[0][3 * 7] = old;
  testExpectOk(pnBody_ShareVertices(p.worlds[0], p.bodies[0][0], p.vertices[0], pnMesh_GetVertexCount(p.meshes[0])));
  testExpectOk(pnWorld_Collide(p.worlds[0], NULL).result);
  play(&p, 2, 0);
  end(&p);
}

/* What wears out slowly is built anew, and not before it has cost as much as that. */
static void wornTreesAreRebuilt(void **state) {
  (void)state;
  Play p = begin("decay-8000");
  bool worn = false;
  uint64_t most[2] = {0, 0};
  uint32_t renewing = 0;
  bool before[2] = {false, false};
  for (uint32_t frame = 0; frame < 320; ++frame) {
    play(&p, frame, 0);
    for (int b = 0; b < 2; ++b) {
      const pnBody *body = bodyOf(&p, 0, b);
      assert_null(body->mirror);
      worn = worn || (body->isWorn && p.rebuilds == 0);
      renewing += body->successor != NULL;
      /* what its last frame has cost it is in there as well */
      if (body->successor && !before[b]) assert_true(body->debt > 10 * 8000);
      before[b] = body->successor != NULL;
      /* ten pairs of leaves a triangle before a new tree is begun, and as two take 250 ns a triangle, in steps of a fifth of the 15 ns of
       * each pair, one after the other, at most 167 more until both are there; and what a frame adds */
      assert_true(body->debt < (10 + 167 + 5) * 8000);
      most[b] = PN_MAX(most[b], body->debt);
    }
  }
  assert_true(worn);
  assert_true(most[0] > 10 * 8000 / 2 && most[1] > 10 * 8000 / 2);
  /* never all of it in one frame */
  assert_true(renewing >= 6 * p.rebuilds);
  assert_true(p.rebuilds >= 1 && p.rebuilds <= 8);
  end(&p);
}

/* Where next to nothing comes of what is opened, a tree is worn that does not look it, and gets a successor soon. The wall, which is as it was
 * built, gets none, though as much is opened for it. */
static void wastefulTreesAreWorn(void **state) {
  (void)state;
  Play p = begin("burst-20000");
  uint32_t felt = 0, renewing = 0, begun = 0, count = pnMesh_GetTriangleCount(p.meshes[0]);
  size_t pairs = 0;
  for (uint32_t frame = 0; frame < 100 && p.rebuilds == 0; ++frame) {
    const pnBody *body = bodyOf(&p, 0, 0), *wall = bodyOf(&p, 0, 1);
    bool before = body->successor != NULL;
    pairs += play(&p, frame, 0);
    assert_true(body->quality < 2);
    felt += body->isWorn;
    renewing += body->successor != NULL;
    if (body->successor && !before) {
      assert_true(body->debt > count / 8 && body->debt < 2 * (uint64_t)count);
      ++begun;
    }
    assert_true(!body->mirror && !wall->isWorn && !wall->mirror && !wall->successor);
  }
  assert_int_equal(begun, 1);
  assert_int_equal(p.rebuilds, 1);
  /* not in one frame, but soon: with care, or with a fifth of each frame, it takes longer than that */
  assert_true(felt > renewing && renewing > 5 && renewing < 24);
  assert_true(pairs > 1000);
  const pnBody *body = bodyOf(&p, 0, 0);
  assert_true(!body->successor && !body->isWorn && body->refusedWaste == 0);
  end(&p);
}

/* Who asks for first pairs only tests next to nothing, however good the tree is. */
static void firstPairsWasteNothing(void **state) {
  (void)state;
  Play p = begin("burst-20000");
  uint64_t tested = 0;
  for (uint32_t frame = 0; frame < 60; ++frame) {
    p.def.first = frame < 40;
    play(&p, frame, 0);
    const pnBody *body = bodyOf(&p, 0, 0);
    tested += p.def.first ? p.worlds[0]->jobs.data[0].tested : 0;
    if (p.def.first) assert_int_equal(body->tested, body->opened);
    assert_true(frame > 40 ? body->isWorn || p.rebuilds > 0 : !body->isWorn && body->debt == 0);
  }
  assert_true(tested > 0); /* else a hint was right in all of them */
  end(&p);
}

/* What a worn tree opens is its debt: pairs of leaves and of nodes above them, which are most where leaves do not wear. As much on several
 * threads. */
static void inTheDebtIsAllThatIsOpened(void **state) {
  (void)state;
  Play p = begin("swarm-8000");
  pnPool *pool;
  pnTasks tasks[2] = {{0}};
  testExpectOk(pnCreatePool(3, &pool));
  tasks[1] = pnPool_GetTasks(pool);
  p.worlds[1]->def = p.worlds[0]->def;
  uint32_t booked = 0;
  for (int w = 0; w < 2; ++w) p.worlds[w]->def.tasks = tasks[w];
  for (uint32_t frame = 0; frame < 80 && booked < 20; ++frame) {
    uint64_t before = bodyOf(&p, 0, 0)->debt, opened;
    play(&p, frame, 0);
    const pnBody *body = bodyOf(&p, 0, 0), *same = bodyOf(&p, 1, 0);
    assert_int_equal(body->debt, same->debt);
    assert_int_equal(body->opened, same->opened);
    assert_int_equal(body->tested, same->tested);
    opened = p.worlds[0]->opened;
    if (!body->isWorn || body->successor) continue;
    assert_int_equal(body->debt - before, opened);
    assert_true(opened > 0);
    ++booked;
  }
  assert_int_equal(booked, 20);
  p.worlds[1]->def.tasks = tasks[0];
  pnDestroyPool(pool);
  end(&p);
}

/* Trees that were built before anybody knew where the vertices are going to be: built anew in the first frame that says so, or the one after
 * where nobody asked in the first place, and from then on as good as others. */
static void blindTreesAreBuiltAnew(void **state) {
  (void)state;
  const char *const names[] = {"s1-1280", "s1-mixed-1280", "s4-1250"};
  const uint32_t first[] = {60, 60, 50};
  const pnMatrix turned = {{{0, 1, 0, 0}, {-1, 0, 0, 0}, {0, 0, 1, 0}}}, straight = pnMatrix_Identity();
  for (uint32_t i = 0; i < 3; ++i) {
    uint64_t usual[3];
    Play p = begin(names[i]);
    for (uint32_t k = 0; k < 3; ++k) {
      play(&p, first[i] + k, 0);
      usual[k] = p.opened[0];
    }
    end(&p);
    for (int rest = REST_ZERO; rest <= REST_ANYWHERE; ++rest) {
      p = beginFrom(names[i], rest);
      /* turned as a whole, or all in one place, they say nothing either */
      for (int step = 0; step < 3; ++step) {
        for (uint32_t k = 0; step == 2 && rest == REST_ZERO && k < 3 * pnMesh_GetVertexCount(p.meshes[0]); ++k)
          p.vertices[0][k] = 1;
        for (int w = 0; w < 2; ++w) {
          testExpectOk(pnBody_SetTransform(p.worlds[w], p.bodies[w][0], step == 1 ? &turned : &straight));
          if (step == 2 && rest == REST_ZERO)
            testExpectOk(
                pnBody_SetVertices(p.worlds[w], p.bodies[w][0], p.vertices[0], pnMesh_GetVertexCount(p.meshes[0])));
          pnFrame frame = pnWorld_Collide(p.worlds[w], NULL);
          testExpectOk(frame.result);
          assert_int_equal(frame.rebuilds, 0);
        }
      }
      for (uint32_t k = 0; k < 3; ++k) {
        play(&p, first[i] + k, 0);
        if (k == 0 && p.rebuilds == 0) continue;
        assert_int_equal(p.rebuilds, p.bodyCount);
        for (uint32_t b = 0; b < p.bodyCount; ++b) assert_null(bodyOf(&p, 0, (int)b)->mirror);
        /* numbered in order, as icospheres are, they may be in good places by themselves */
        assert_true(p.opened[1] > (rest == REST_ANYWHERE ? 2 : 0) * p.opened[0]);
        assert_true(usual[k] > 10 && p.opened[0] < 2 * usual[k]);
      }
      end(&p);
    }
  }
}

/* Once: of triangles anywhere no tree is better than another. They may go over to a soup. */
static void blindnessIsSeenOnce(void **state) {
  (void)state;
  Play p = beginFrom("s1-1280", REST_ANYWHERE);
  TestRandom r = testRandom(9);
  for (uint32_t frame = 0; frame < 3; ++frame) {
    for (uint32_t b = 0; b < 2; ++b)
      for (uint32_t i = 0; i < 3 * pnMesh_GetVertexCount(p.meshes[b]); ++i) p.vertices[b][i] = testFloat(&r, -1, 1);
    collideBoth(&p);
    assert_true(pn_isBuiltBlindly(bodyOf(&p, 0, 0)->tree));
    assert_int_equal(p.rebuilds, 2);
  }
  end(&p);
}

/* No scene that has a shape is taken for one that has none. */
static void scenesAreNotBlind(void **state) {
  (void)state;
  const char *const names[] = {"s1-1280",
                               "s1-mixed-5120",
                               "s2",
                               "s4-5000",
                               "s5-grid",
                               "s5-turned",
                               "terrain-20000",
                               "hair-8000",
                               "hair-self-8000",
                               "blobs-5120",
                               "shuffle-3200",
                               "swarm-8000",
                               "slivers",
                               "decay-8000",
                               "burst-1200",
                               "level",
                               "tiles",
                               "burst-self-1200",
                               "shuffle-self-3200",
                               "tangle-800",
                               "bodies"};
  for (uint32_t i = 0; i < sizeof names / sizeof *names; ++i) {
    pnSceneDef def = pnDefaultSceneDef();
    def.name = names[i];
    pnScene *scene;
    testExpectOk(pnCreateScene(&def, &scene));
    for (uint32_t b = 0; b < pnScene_GetBodyCount(scene) && b < 20; ++b) {
      pnMeshDef meshDef = pnDefaultMeshDef();
      pnMesh *mesh;
      pnPose *pose;
      pnTree *tree;
      float *v = malloc(sizeof(float) * (3 * (size_t)pnScene_GetVertexCount(scene, b) + 1));
      testExpectOk(pnScene_Frame(scene, 0, b, v));
      meshDef.vertices = v;
      meshDef.vertexCount = pnScene_GetVertexCount(scene, b);
      meshDef.triangles = pnScene_GetTriangles(scene, b);
      meshDef.triangleCount = pnScene_GetTriangleCount(scene, b);
      testExpectOk(pnCreateMesh(&meshDef, &mesh));
      testExpectOk(pnCreatePose(&(pnPoseDef){.mesh = mesh}, &pose));
      pnTreeDef treeDef = pnDefaultTreeDef();
      treeDef.pose = pose;
      testExpectOk(pnCreateTree(&treeDef, &tree));
      if (meshDef.triangleCount >= 256 && pn_isBuiltBlindly(tree)) fail_msg("%s: body %u", names[i], b);
      pnDestroyTree(tree);
      pnDestroyPose(pose);
      pnDestroyMesh(mesh);
      free(v);
    }
    pnDestroyScene(scene);
  }
}

#define SHEETS 24
#define SIDE 24

/* A sheet whose rows are in each other's places at rest. */
static pnMesh *makeScrambled(float *v) {
  pnMesh *grid, *mesh;
  testExpectOk(pnMakeGrid(1, 1, SIDE, SIDE, &grid));
  uint32_t count = pnMesh_GetVertexCount(grid), across = SIDE + 1;
  memcpy(v, pnMesh_GetVertices(grid), 12 * (size_t)count);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t from = (i / across * 7 % across) * across + i % across;
    memcpy(v + 3 * (size_t)i, pnMesh_GetVertices(grid) + 3 * (size_t)from, 12);
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = v;
  def.vertexCount = count;
  def.triangles = pnMesh_GetTriangles(grid);
  def.triangleCount = pnMesh_GetTriangleCount(grid);
  testExpectOk(pnCreateMesh(&def, &mesh));
  memcpy(v, pnMesh_GetVertices(grid), 12 * (size_t)count);
  pnDestroyMesh(grid);
  return mesh;
}

/* Many bodies of one mesh, none of which is as it is at rest: as many new trees are built as there is work for, one after the other, and soon all
 * have theirs. */
static void manyWornTreesAreRenewedSoon(void **state) {
  (void)state;
  pnWorld *worlds[2];
  pnBodyId bodies[2][SHEETS];
  float flat[3 * (SIDE + 1) * (SIDE + 1)], v[3 * (SIDE + 1) * (SIDE + 1)];
  pnMesh *mesh = makeScrambled(flat);
  uint32_t count = pnMesh_GetVertexCount(mesh), rebuilds = 0, frames = 0, most = 0, partial = 0;
  for (int w = 0; w < 2; ++w) {
    pnWorldDef worldDef = pnDefaultWorldDef();
    worldDef.rebuildQuality = w ? 0 : 1.1f;
    testExpectOk(pnCreateWorld(&worldDef, &worlds[w]));
    pnBodyDef def = pnDefaultBodyDef();
    def.mesh = mesh;
    for (uint32_t b = 0; b < SHEETS; ++b) testExpectOk(pnWorld_CreateBody(worlds[w], &def, &bodies[w][b]));
  }
  for (; rebuilds < SHEETS && frames < 60; ++frames) {
    pnFrame frame[2];
    for (int w = 0; w < 2; ++w) {
      for (uint32_t b = 0; b < SHEETS; ++b) {
        /* those that were made first come last, while there are new trees in the making */
        float away = b + 4 + 2 * frames < SHEETS ? 10.0f * (float)b : 0;
        memcpy(v, flat, sizeof v);
        for (uint32_t i = 0; i < count; ++i) {
          float wave = sinf(9 * v[3 * i] + (float)b + 0.1f * (float)frames) * cosf(7 * v[3 * i + 1]);
          v[3 * i + 2] = away + 0.01f * (float)b + 0.05f * wave;
        }
        testExpectOk(pnBody_SetVertices(worlds[w], bodies[w][b], v, count));
      }
      frame[w] = pnWorld_Collide(worlds[w], NULL);
      testExpectOk(frame[w].result);
    }
    assert_int_equal(frame[0].pairCount, frame[1].pairCount);
    assert_true(frame[0].pairCount > 100);
    assert_memory_equal(pnWorld_GetPairs(worlds[0]), pnWorld_GetPairs(worlds[1]), frame[0].pairCount * sizeof(pnPair));
    uint32_t building = 0;
    for (uint32_t b = 0; b < SHEETS; ++b) building += pn_isBuilding(&worlds[0]->bodies.data[b]);
    assert_true(building <= 1);
    partial += building;
    rebuilds += frame[0].rebuilds;
    most = PN_MAX(most, frame[0].rebuilds);
  }
  assert_int_equal(rebuilds, SHEETS);
  /* what frames may do: not all at once, and several in one frame */
  assert_true(frames > 4 && frames < 24 && most > 1 && partial > 0);
  for (int w = 0; w < 2; ++w) pnDestroyWorld(worlds[w]);
  pnDestroyMesh(mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

/* A new tree that opens no fewer pairs than the one before is given up, and not tried again until that has become worse. */
static void noBetterTreesAreRefused(void **state) {
  (void)state;
  Play p = begin("s1-1280");
  p.worlds[0]->def.rebuildQuality = 0.5f; /* all trees are worn, as good as new */
  uint32_t begun[2] = {0, 0}, rebuilds = 0, tried = 0;
  bool before[2] = {false, false};
  const pnShape *shape[2] = {NULL, NULL};
  for (uint32_t i = 0; i < 900; ++i) {
    play(&p, 199, 0);
    uint32_t now = 0;
    for (int b = 0; b < 2; ++b) {
      const pnBody *body = bodyOf(&p, 0, b);
      now += body->successor && !before[b];
      before[b] = body->successor != NULL;
      tried += shape[b] && body->tree->shape != shape[b];
      shape[b] = body->tree->shape;
    }
    /* two that have cost as much wait for each other: to begin is a step, too */
    assert_true(now <= 1);
    begun[i >= 600] += now;
    rebuilds = i < 600 ? p.rebuilds : rebuilds;
  }
  assert_true(rebuilds >= 1); /* better than those of the first frame */
  /* the others were on trial, and the trees before them came back: no more are begun */
  assert_true(begun[0] > rebuilds);
  assert_int_equal(tried, 2 * begun[0] - rebuilds);
  assert_int_equal(begun[1], 0);
  assert_int_equal(p.rebuilds, rebuilds);
  for (int b = 0; b < 2; ++b) assert_true(bodyOf(&p, 0, b)->refused > 0);
  end(&p);
}

/* A cloth that folds keeps the tree of its rest pose. */
static void selfCollisionKeepsItsTree(void **state) {
  (void)state;
  Play p = begin("s4-5000");
  for (uint32_t frame = 0; frame < 60; frame += 3) play(&p, frame, 0);
  for (uint32_t i = 0; i < 100; ++i) play(&p, 58 + i % 2, 0);
  assert_int_equal(p.rebuilds, 0);
  assert_null(bodyOf(&p, 0, 0)->mirror);
  end(&p);
}

/* Patches of a large body that looks at itself are thrown about: it is asked by a mirror from that very frame on, and by its tree again when they
 * are back where they were. */
static void tornSelvesGetMirrors(void **state) {
  (void)state;
  Play p = begin("shuffle-self-33600");
  size_t pairs = play(&p, 0, 0);
  assert_null(bodyOf(&p, 0, 0)->mirror);
  for (uint32_t frame = 1; frame < 8; ++frame) {
    pairs += play(&p, frame, 0);
    const pnBody *body = bodyOf(&p, 0, 0);
    assert_non_null(body->mirror);
    assert_false(body->mirror->trial.isOn);
    assert_null(bodyOf(&p, 1, 0)->mirror);
    assert_true(body->opened < bodyOf(&p, 1, 0)->tree->mesh->triangleCount);
  }
  assert_true(pairs > 5000);
  /* it is looked after 32 frames, and not sooner */
  for (uint32_t age = 7; age <= 32; ++age) {
    play(&p, 0, 1e-6f * (float)age);
    assert_true((bodyOf(&p, 0, 0)->mirror != NULL) == (age < 32));
  }
  play(&p, 0, 0);
  assert_null(bodyOf(&p, 0, 0)->mirror);
  assert_int_equal(p.rebuilds, 0);
  end(&p);
}

/* A ribbon of so many triangles, straight. */
static void makeRibbon(Play *p, uint32_t triangleCount) {
  uint32_t *triangles = malloc(3 * triangleCount * sizeof *triangles);
  float *v = p->vertices[0] = calloc(3 * (size_t)triangleCount + 7, sizeof *v);
  for (uint32_t i = 0; i < triangleCount; ++i)
    for (uint32_t k = 0; k < 3; ++k) triangles[3 * i + k] = i + k;
  for (uint32_t i = 0; i < triangleCount + 2; ++i)
    v[3 * i] = 0.001f * (float)(i / 2), v[3 * i + 1] = 0.001f * (float)(i % 2);
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = v;
  def.vertexCount = triangleCount + 2;
  def.triangles = triangles;
  def.triangleCount = triangleCount;
  testExpectOk(pnCreateMesh(&def, &p->meshes[0]));
  free(triangles);
}

/* Pieces of it somewhere else, and between them it is torn long. */
static void crumpleRibbon(Play *p) {
  TestRandom r = testRandom(12);
  float at[3] = {0, 0, 0};
  for (uint32_t i = 0; i < pnMesh_GetVertexCount(p->meshes[0]); ++i) {
    for (int k = 0; i % 16 == 0 && k < 3; ++k) at[k] = testFloat(&r, -1, 1);
    float *v = p->vertices[0] + 3 * (size_t)i;
    v[0] = at[0] + 0.001f * (float)(i % 16 / 2);
    v[1] = at[1] + 0.001f * (float)(i % 2);
    v[2] = at[2];
  }
}

/* A smaller one keeps its tree, and so does one that hangs together, whatever leaps. */
static void othersKeepTheirTrees(void **state) {
  (void)state;
  Play p = begin("shuffle-self-3200");
  for (uint32_t frame = 0; frame < 12; ++frame) {
    play(&p, frame, 0);
    assert_null(bodyOf(&p, 0, 0)->mirror);
    assert_true(frame == 0 || bodyOf(&p, 0, 0)->quality > 4);
  }
  end(&p);
  p = (Play){.bodyCount = 1};
  makeRibbon(&p, 33600);
  addBodies(&p, true);
  collideBoth(&p);
  crumpleRibbon(&p);
  collideBoth(&p);
  assert_true(bodyOf(&p, 0, 0)->quality > 4);
  assert_null(bodyOf(&p, 0, 0)->mirror);
  end(&p);
}

/* A tree that opens ever more, because pieces of two triangles fly apart, is left when that is worth a trial, and the mirror stays. */
static void dearTreesAreLeft(void **state) {
  (void)state;
  Play p = begin("burst-self-20000");
  uint32_t trials = 0, left = 0;
  uint64_t before = 0;
  for (uint32_t frame = 0; frame < 100; ++frame) {
    const pnBody *body = bodyOf(&p, 0, 0);
    bool had = body->mirror != NULL;
    play(&p, frame, 0);
    if (body->mirror && !had) {
      /* for each triangle one to follow it, three eighths for its corners, as half of them meet another one, and one to make it dear */
      assert_true(before > 20000 * (1 + 0.375 + 1) && before < 20000 * 3);
      assert_int_equal(body->mirror->trial.formerOpened, before);
      /* it was known before trees followed, and its own did not any more */
      assert_true(body->tree->poseFrame < body->pose->frame);
      ++left;
    }
    trials += body->mirror && body->mirror->trial.isOn;
    assert_true(!had || body->mirror);
    before = body->opened;
  }
  assert_int_equal(left, 1);
  assert_int_equal(trials, 2);
  assert_true(before < 2 * 20000); /* and its tree seven for each triangle */
  /* a transform makes it anew, and what is known of the tree that was left stays */
  const pnMatrix turned = {{{0, 1, 0, 0}, {-1, 0, 0, 0.5f}, {0, 0, 1, 0}}};
  for (int w = 0; w < 2; ++w) testExpectOk(pnBody_SetTransform(p.worlds[w], p.bodies[w][0], &turned));
  /* back to where they were at rest */
  for (uint32_t i = 0; i < 33; ++i) play(&p, i % 2, 0);
  assert_null(bodyOf(&p, 0, 0)->mirror);
  end(&p);
}

/* Vertices of an array that is not the world's nobody has looked through when a tree is left, and a number that is none is named as ever. */
static void sharedVerticesAreLookedThrough(void **state) {
  (void)state;
  for (int bad = 0; bad < 2; ++bad) {
    Play p = begin("burst-self-20000");
    pnWorld *world = p.worlds[0];
    pnBodyId id = p.bodies[0][0];
    const pnBody *body = bodyOf(&p, 0, 0);
    const uint32_t count = pnScene_GetVertexCount(p.scene, 0), vertex = count / 2;
    bool wasDear = false;
    for (uint32_t frame = 0; frame < 100 && !body->mirror; ++frame) {
      testExpectOk(pnScene_Frame(p.scene, frame, 0, p.vertices[0]));
      wasDear = (double)body->opened > 20000 * (1 + 0.375 + 1);
      if (wasDear && bad) p.vertices[0][3 * vertex + 1] = NAN;
      testExpectOk(pnBody_ShareVertices(world, id, p.vertices[0], count));
      pnResult result = pnWorld_Collide(world, NULL).result;
      assert_int_equal(result, wasDear && bad ? PN_ERROR_NUMBER : PN_OK);
      if (wasDear) break;
    }
    assert_true(wasDear && (body->mirror != NULL) == !bad);
    char place[64];
    snprintf(place, sizeof place, "vertex %u", vertex);
    if (bad) assert_non_null(strstr(pnGetMessage(), place));
    end(&p);
  }
}

/* A sheet that is rolled up ever more tightly: a mirror opens less than its tree, and tests more, as neighbours in the roll lie in leaves with
 * others. Both count. */
static void testsAreWorkToo(void **state) {
  (void)state;
  Play p = begin("roll-20000");
  uint32_t trials = 0, refused = 0;
  const pnBody *body = bodyOf(&p, 0, 0);
  double pairs = 20000 * (1.0 + 0.25 * 3 * (3.0 * 20000 / pnMesh_GetVertexCount(p.meshes[0]) - 1));
  for (uint32_t frame = 0; frame < 12; ++frame) {
    /* two frames have been asked */
    bool onTrial = body->mirror && body->mirror->trial.isOn && body->mirror->asked == 2, isLess = false,
         opensLess = false;
    if (onTrial) {
      isLess = (double)body->opened + 0.75 * (double)body->tested + pairs < body->mirror->trial.formerWork;
      opensLess = (double)body->opened + pairs < (double)body->mirror->trial.formerOpened;
    }
    play(&p, frame, 0);
    assert_true(!onTrial || (body->mirror && !body->mirror->trial.isOn) == (isLess && opensLess));
    trials += onTrial;
    refused += onTrial && opensLess && !isLess;
  }
  assert_true(trials >= 2 && refused >= 1);
  end(&p);
}

/* A body of triangles at random, half of them so far from the others. */
static void throwAll(Play *p, TestRandom *r, float apart) {
  uint32_t count = pnMesh_GetVertexCount(p->meshes[0]);
  for (uint32_t i = 0; i < count; ++i) {
    float at[3];
    for (int k = 0; k < 3; ++k) at[k] = testFloat(r, -1, 1);
    at[0] += 2 * i < count ? apart : 0;
    memcpy(p->vertices[0] + 3 * (size_t)i, at, sizeof at);
  }
}

/* A ball whose corners are bent inwards at random, so that neighbours meet in more than what they share; of triangles with corners of their own,
 * welded, or not. */
static void makeBent(Play *p, bool welded) {
  pnMesh *ball;
  testExpectOk(pnMakeIcosphere(2, 1, &ball));
  uint32_t count = pnMesh_GetTriangleCount(ball), *triangles = malloc(3 * count * sizeof *triangles);
  p->vertices[0] = malloc(9 * count * sizeof(float));
  for (uint32_t i = 0; i < 3 * count; ++i) triangles[i] = welded ? i : pnMesh_GetTriangles(ball)[i];
  for (uint32_t i = 0; i < 3 * count; ++i)
    memcpy(p->vertices[0] + 3 * triangles[i], pnMesh_GetVertices(ball) + 3 * pnMesh_GetTriangles(ball)[i], 12);
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = p->vertices[0];
  def.vertexCount = welded ? 3 * count : pnMesh_GetVertexCount(ball);
  def.triangles = triangles;
  def.triangleCount = count;
  def.weld = welded;
  testExpectOk(pnCreateMesh(&def, &p->meshes[0]));
  free(triangles);
  pnDestroyMesh(ball);
}

/* Corners that are one vertex move as one, but for one in twenty. */
static void bend(Play *p, TestRandom *r, uint32_t frame) {
  for (uint32_t i = 0; i < pnMesh_GetVertexCount(p->meshes[0]); ++i) {
    const float *rest = pnMesh_GetVertices(p->meshes[0]) + 3 * (size_t)i;
    float size = sinf(1e4f * (rest[0] + 2 * rest[1] + 3 * rest[2]) + (float)frame);
    if (testBelow(r, 20) == 0) size += 0.1f;
    for (int k = 0; k < 3; ++k) p->vertices[0][3 * i + k] = size * rest[k];
  }
}

/* What a mirror says of neighbours, with every filter, is what a tree says. */
static void mirrorsKnowNeighbours(void **state) {
  (void)state;
  TestRandom r = testRandom(5);
  const pnMatrix turned = {{{0, 1, 0, 0}, {-1, 0, 0, 0.5f}, {0, 0, 1, 0}}};
  uint32_t groups[320];
  size_t pairs[2][4] = {{0}};
  for (uint32_t i = 0; i < 320; ++i) groups[i] = testBelow(&r, 3);
  for (uint32_t c = 0; c < 32; ++c) {
    bool welded = c & 1, moved = c & 2;
    uint32_t filter = c / 4 % 4;
    Play p = {.bodyCount = 1};
    makeBent(&p, welded);
    addBodies(&p, true);
    p.worlds[0]->lab.mirrors = true;
    p.def.first = c >= 16;
    for (int w = 0; w < 2; ++w) {
      pnBodyDef def = pnDefaultBodyDef();
      def.mesh = p.meshes[0];
      def.self = true;
      def.selfFilter = (pnSelfFilter){.ring = filter == 3 ? 2 : filter % 2,
                                      .ignoreRest = filter == 2,
                                      .triangleGroup = filter == 2 ? groups : NULL};
      testExpectOk(pnWorld_DestroyBody(p.worlds[w], p.bodies[w][0]));
      testExpectOk(pnWorld_CreateBody(p.worlds[w], &def, &p.bodies[w][0]));
    }
    for (uint32_t frame = 0; frame < 4; ++frame) {
      for (int w = 0; moved && w < 2; ++w) testExpectOk(pnBody_SetTransform(p.worlds[w], p.bodies[w][0], &turned));
      bend(&p, &r, frame);
      pairs[welded][filter] += collideBoth(&p);
      assert_non_null(bodyOf(&p, 0, 0)->mirror);
      assert_null(bodyOf(&p, 1, 0)->mirror);
    }
    end(&p);
  }
  for (uint32_t i = 0; i < 8; ++i) assert_true(pairs[i / 4][i % 4] > 100);
  for (int w = 0; w < 2; ++w) assert_true(pairs[w][0] > pairs[w][1] && pairs[w][1] > pairs[w][3]);
}

/* Where everything is near everything, a mirror opens no less: it is tried once, and again when it has become worse by half. */
static void noBetterMirrorsAreRefused(void **state) {
  (void)state;
  Play p = begin("burst-self-1200");
  TestRandom r = testRandom(11);
  uint32_t trials = 0;
  for (int i = 0; i < 12; ++i) {
    throwAll(&p, &r, i < 2 ? 10.0f : 0.0f);
    collideBoth(&p);
    const pnBody *body = bodyOf(&p, 0, 0);
    trials += body->mirror != NULL;
    assert_true(!body->mirror || body->mirror->trial.isOn);
    assert_true(body->opened > 4 * 1200);
  }
  assert_int_equal(trials, 4); /* two frames with halves that are apart, and two together, which opens twice as much */
  const pnBody *body = bodyOf(&p, 0, 0);
  assert_null(body->mirror);
  assert_true(body->refusedOpened > 0 && (double)body->opened < 1.5 * (double)body->refusedOpened);
  end(&p);
}

/* Out of memory while a mirror is made is a result. */
static pnResult leap(void *context) {
  bool self = context != NULL;
  pnMesh *mesh = NULL;
  pnWorld *world = NULL;
  pnBodyId id, other;
  static float vertices[3 * 642];
  const uint32_t level = self ? 1 : 3, count = self ? 42 : 642; /* small ones get a mirror where all do */
  pnResult result = pnMakeIcosphere(level, 1, &mesh);
  pnWorldDef worldDef = pnDefaultWorldDef();
  worldDef.lab = &(pnWorldLab){.mirrors = self};
  result = result == PN_OK ? pnCreateWorld(&worldDef, &world) : result;
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = mesh;
  def.self = self;
  result = result == PN_OK ? pnWorld_CreateBody(world, &def, &id) : result;
  result = result == PN_OK ? pnWorld_CreateBody(world, &def, &other) : result; /* trees of bodies alone wait */
  TestRandom r = testRandom(3);
  const pnMatrix turned[2] = {pnMatrix_Identity(), {{{0, 1, 0, 0}, {-1, 0, 0, 0.5f}, {0, 0, 1, 0}}}};
  for (int i = 0; result == PN_OK && i < 3; ++i) {
    for (uint32_t k = 0; k < 3 * count; ++k) vertices[k] = i == 0 ? pnMesh_GetVertices(mesh)[k] : testFloat(&r, -1, 1);
    result = pnBody_SetVertices(world, id, vertices, count);
    if (result == PN_OK && self) result = pnBody_SetTransform(world, id, &turned[i % 2]);
    result = result == PN_OK ? pnWorld_Collide(world, NULL).result : result;
  }
  if (result == PN_OK) assert_non_null(world->bodies.data[0].mirror);
  pnDestroyWorld(world);
  pnDestroyMesh(mesh);
  return result;
}

static void memoryFailuresAreReported(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(leap, NULL, false, true) > 20); /* the tree of a soup can do with less */
  bool self = true;
  assert_true(testEveryAllocationFailure(leap, &self, false, true) > 30);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tornTreesGetMirrors),
                                     cmocka_unit_test(onlyTornTreesAreLeft),
                                     cmocka_unit_test(onlyRecentFramesCount),
                                     cmocka_unit_test(noBetterMirrorsOfTwoAreRefused),
                                     cmocka_unit_test(smallTornTreesAreKept),
                                     cmocka_unit_test(largeTornTreesGetMirrorsAtOnce),
                                     cmocka_unit_test(mirrorsReadInPlace),
                                     cmocka_unit_test(mirrorsNameVertices),
                                     cmocka_unit_test(wornTreesAreRebuilt),
                                     cmocka_unit_test(inTheDebtIsAllThatIsOpened),
                                     cmocka_unit_test(noBetterTreesAreRefused),
                                     cmocka_unit_test(selfCollisionKeepsItsTree),
                                     cmocka_unit_test(memoryFailuresAreReported),
                                     cmocka_unit_test(wastefulTreesAreWorn),
                                     cmocka_unit_test(firstPairsWasteNothing),
                                     cmocka_unit_test(tornSelvesGetMirrors),
                                     cmocka_unit_test(othersKeepTheirTrees),
                                     cmocka_unit_test(dearTreesAreLeft),
                                     cmocka_unit_test(sharedVerticesAreLookedThrough),
                                     cmocka_unit_test(testsAreWorkToo),
                                     cmocka_unit_test(noBetterMirrorsAreRefused),
                                     cmocka_unit_test(mirrorsKnowNeighbours),
                                     cmocka_unit_test(manyWornTreesAreRenewedSoon),
                                     cmocka_unit_test(blindTreesAreBuiltAnew),
                                     cmocka_unit_test(blindnessIsSeenOnce),
                                     cmocka_unit_test(scenesAreNotBlind)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
