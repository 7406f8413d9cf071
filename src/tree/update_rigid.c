/* update_rigid.c: the shape stays, the transform moves it. Volumes of the source are computed once, bottom-up, and carried
 * by the transform when a query reaches them (carry.h): a frame costs the root, whatever the number of triangles. The volumes of
 * the mesh as it is are a part of the shape, for all twins; a pose that was given other vertices has its own.
 *
 * A small body (collide/small.h) is moved as a whole, vertex by vertex: that takes less than opening one node, its box is that of its
 * vertices and not that of a turned box, and queries that look at all triangles together find everything ready. So is a larger one
 * while queries come to many of its leaves (moved.h). */
#include "tree/carry.h"
#include "tree/moved.h"
#include "tree/part_file.h"

/* Source volumes of one leaf's triangles. */
static void boundTriangles(const pnTree *tree, uint32_t leaf, pnBound *out) {
  for (uint32_t j = 0; j < tree->shape->count[tree->shape->innerCount + leaf]; ++j) {
    const uint32_t *corner = tree->mesh->triangles + 3 * (size_t)tree->shape->leafTriangles[leaf * PN_LANES + j];
    float points[12] = {0};
    for (int k = 0; k < 3; ++k) memcpy(points + 4 * k, tree->pose->source + 3 * (size_t)corner[k], 3 * sizeof(float));
    pn_boundOfPoints(tree, points, 3, &out[j]);
  }
}

/* The float lanes of all nodes and, after the last one, of the root alone. */
typedef struct Model {
  char *lanes;
  size_t nodeBytes;
} Model;

static void *lanesOf(const Model *model, uint32_t node) {
  return model->lanes + (size_t)node * model->nodeBytes;
}

static Model modelOver(const pnTree *tree, void *lanes) {
  return (Model){lanes, tree->form->modelBytes};
}

static size_t modelBytes(const pnTree *tree) {
  return pn_bytes((size_t)tree->shape->nodeCount + 1, modelOver(tree, NULL).nodeBytes);
}

static void storeModel(const pnTree *tree, const Model *model, uint32_t node, const pnBound *bounds, uint32_t count) {
  tree->form->store(tree->form, lanesOf(model, node), bounds, count);
}

/* All source volumes, leaves first; `own` holds one bound a node. */
static void computeModel(const pnTree *tree, const Model *model, pnBound *own) {
  for (uint32_t node = tree->shape->nodeCount; node-- > 0;) {
    pnBound bounds[PN_LANES];
    uint32_t count = tree->shape->count[node];
    if (pn_isLeaf(tree, node)) boundTriangles(tree, node - tree->shape->innerCount, bounds);
    else memcpy(bounds, own + tree->shape->first[node], count * sizeof(pnBound));
    storeModel(tree, model, node, bounds, count);
    own[node] = bounds[0];
    for (uint32_t j = 1; j < count; ++j) pn_boundMerge(tree, &own[node], &bounds[j]);
  }
  storeModel(tree, model, tree->shape->nodeCount, own, 1);
}

/* The volumes of the source as it is now, into memory that is there. */
static pnResult fillModel(const pnTree *tree, void *lanes) {
  size_t size = pn_bytes(tree->shape->nodeCount, sizeof(pnBound));
  pnBound *own = pn_alloc(size);
  if (!own) return pn_failMemory(size);
  Model model = modelOver(tree, lanes);
  computeModel(tree, &model, own);
  pn_free(own, size);
  return PN_OK;
}

/* Of the mesh as it is: the shape's. */
static pnResult makeModel(void *context, void **outData, size_t *outBytes) {
  const pnTree *tree = context;
  *outBytes = modelBytes(tree);
  *outData = pn_allocZero(*outBytes);
  pnResult result = *outData ? fillModel(tree, *outData) : pn_failMemory(*outBytes);
  if (result != PN_OK) pn_free(*outData, *outBytes);
  return result;
}

/* ---------------------------------------------------------------- as bytes */

static size_t countFloats(const pnShape *shape) {
  return ((size_t)shape->nodeCount + 1) * pn_formOf(shape->def.form)->modelBytes / sizeof(float);
}

static void measureModel(const pnShape *shape, const void *part, size_t *outCounts) {
  (void)part;
  outCounts[0] = countFloats(shape);
}

static bool checkModel(const pnShape *shape, void *part, const size_t *counts) {
  return counts[0] == countFloats(shape) && pn_areFinite(part, counts[0]);
}

static const pnPartForm s_model = {.name = "volumes of the mesh",
                                   .arrayCount = 1,
                                   .array = {{0, sizeof(float), NULL}},
                                   .measure = measureModel,
                                   .check = checkModel};

static const pnPartForm *constants(const pnShape *shape) {
  (void)shape;
  return &s_model;
}

/* ---------------------------------------------------------------- a frame */

/* The largest |coordinate| of the source; spheres do not need it. */
static float reachOf(const pnTree *tree, const Model *model) {
  const pnModelSlabs *whole = lanesOf(model, tree->shape->nodeCount);
  float reach = 0;
  for (int k = 0; tree->slabs && k < 3; ++k) reach = PN_MAX(reach, PN_MAX(-whole->row[k][0][0], whole->row[k][1][0]));
  return reach;
}

/* ruleData. A crowd has one a body, so it ends with the last term that the form has slabs for: a box has three of PN_MAX_SLABS. */
typedef struct Rigid {
  Model model; /* the shape's, or `own` */
  void *own;   /* of a pose whose vertices are not the mesh's */
  pnCarry carry;
} Rigid;

static pnResult prepare(pnTree *tree) {
  const size_t terms = tree->slabs ? tree->slabs->count : 0;
  const size_t bytes = offsetof(Rigid, carry) + offsetof(pnCarry, term) + terms * sizeof(pnCarryTerm);
  pnResult result = pn_allocRuleData(tree, bytes);
  if (result == PN_OK) memset(tree->ruleData, 0, bytes);
  return result;
}

static pnResult findModel(pnTree *tree, Rigid *rigid) {
  if (tree->pose->source == tree->mesh->vertices) {
    pnResult result = pn_makePart(tree->shape, PN_PART_RULE, makeModel, tree);
    rigid->model = modelOver(tree, (void *)(uintptr_t)pn_partOf(tree->shape, PN_PART_RULE));
    return result;
  }
  size_t bytes = modelBytes(tree);
  if (!rigid->own) {
    rigid->own = pn_allocZero(bytes);
    tree->ruleBytes += rigid->own ? bytes : 0;
  }
  rigid->model = modelOver(tree, rigid->own);
  return rigid->own ? fillModel(tree, rigid->own) : pn_failMemory(bytes);
}

static void release(pnTree *tree) {
  Rigid *rigid = tree->ruleData;
  if (rigid && rigid->own) {
    pn_free(rigid->own, modelBytes(tree));
    tree->ruleBytes -= modelBytes(tree);
  }
}

static pnResult update(pnTree *tree, const pnTasks *tasks) {
  (void)tasks;
  Rigid *rigid = tree->ruleData;
  if (tree->shapeFrame != tree->pose->shapeFrame) {
    pnResult result = findModel(tree, rigid);
    if (result != PN_OK) return result;
    tree->shapeFrame = tree->pose->shapeFrame;
  }
  pnBound root;
  float reach = reachOf(tree, &rigid->model);
  pn_carryBegin(&rigid->carry, &tree->pose->transform, tree->slabs, tree->slabs ? tree->slabs->count : 0, reach,
                reach > PN_CARRY_FAR);
  if (pn_isMoved(tree)) return pn_setMovedRoot(tree);
  tree->form->carry(tree->form, &rigid->carry, lanesOf(&rigid->model, tree->shape->nodeCount), 1, &root);
  return pn_setRoot(tree, &root) ? PN_OK : PN_ERROR_NUMBER;
}

static void fill(pnTree *tree, uint32_t node) {
  if (pn_isMoved(tree) || pn_isLeaf(tree, node)) {
    pn_fillFromVertices(tree, node);
    return;
  }
  pnBound bounds[PN_LANES];
  const Rigid *rigid = tree->ruleData;
  tree->form->carry(tree->form, &rigid->carry, lanesOf(&rigid->model, node), tree->shape->count[node], bounds);
  pn_putBounds(tree, node, bounds, tree->shape->count[node]);
}

const pnUpdateRule pn_updateRigid = {.name = "rigid",
                                     .fits = pn_fitsStored,
                                     .moves = PN_MOVES_OFTEN,
                                     .prepare = prepare,
                                     .update = update,
                                     .fill = fill,
                                     .constants = constants,
                                     .release = release};
