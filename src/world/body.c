/* body.c: the life of a body: a pose, a tree over it, and how it takes part. */
#include "world/focus.h"
#include "world/mirror.h"
#include "world/successor.h"
#include "world/course.h"
#include "world/watch.h"

#include "base/memory.h"
#include "collide/cutting.h"
#include "collide/filter.h"
#include "collide/self.h"
#include "mesh/pose.h"
#include "mesh/soup.h"
#include "tree/update.h"

#include <string.h>

pnBodyDef pnDefaultBodyDef(void) {
  return (pnBodyDef){
      .kind = PN_BODY_FREE, .tree = pnDefaultTreeDef(), .category = 1, .mask = UINT32_MAX, .cookie = PN_COOKIE};
}

static char *copyName(const char *name) {
  size_t size = strlen(name) + 1;
  char *copy = pn_alloc(size);
  if (copy) memcpy(copy, name, size);
  return copy;
}

const pnKindRow pn_kinds[PN_KIND_COUNT] = {
    [PN_BODY_FREE] = {.name = "a free body", .ofMesh = true, .vertices = true, .wears = true},
    [PN_BODY_RIGID] = {.name = "a rigid body", .ofMesh = true, .update = PN_UPDATE_RIGID},
    [PN_BODY_STATIC] = {.name = "a static body",
                        .ofMesh = true,
                        .noTransform = "a static body does not move; make it rigid"},
    [PN_BODY_MORPH] = {.name = "a morphing body", .ofMesh = true, .morph = true, .needsMorph = true, .weights = true},
    [PN_BODY_SKINNED] = {.name = "a skinned body",
                         .ofMesh = true,
                         .morph = true,
                         .skin = true,
                         .needsSkin = true,
                         .weights = true,
                         .joints = true},
    [PN_BODY_SOUP] = {.name = "a soup", .noTransform = "a soup has no transform; use pnSoup_SetAll"},
};

/* What messages call a body that has no name of its own. */
static const char *nameFor(const pnBodyDef *def) {
  const pnMesh *mesh = !pn_kindOf(def->kind)->ofMesh && def->soup ? &def->soup->mesh : def->mesh;
  return def->name ? def->name : mesh ? pnMesh_GetName(mesh) : "static";
}

/* Is its tree one that others may have, too? */
static bool sharesTree(const pnBodyDef *def) {
  return def->kind == PN_BODY_STATIC && def->staticTree;
}

/* Does its shape suit a body? */
static pnResult checkShape(const pnBodyDef *def) {
  const char *name = def->name ? def->name : pnMesh_GetName(def->shape->mesh);
  const pnKindRow *kind = pn_kindOf(def->kind);
  if (!kind->ofMesh || sharesTree(def))
    return pn_fail(PN_ERROR_KIND, "body '%s': neither a soup nor a shared static tree takes a shape", name);
  if ((def->shape->skin ? !kind->skin : kind->needsSkin) || (def->shape->morph ? !kind->morph : kind->needsMorph)) {
    return pn_fail(PN_ERROR_KIND, "body '%s': its shape has morph targets or joints that its kind lacks, or none",
                   name);
  }
  if ((def->mesh && def->mesh != def->shape->mesh) || (def->morph && def->morph != def->shape->morph) ||
      (def->skin && def->skin != def->shape->skin))
    return pn_fail(PN_ERROR_KIND, "body '%s': its shape was made of another mesh, morph or skin", name);
  if (def->self && !def->shape->def.self)
    return pn_fail(PN_ERROR_KIND, "body '%s': self-collision asked of a shape made without `self`", name);
  return PN_OK;
}

static pnResult checkBody(const pnBodyDef *def) {
  const pnKindRow *kind = pn_kindOf(def->kind);
  bool shared = sharesTree(def), soup = !kind->ofMesh;
  if (!shared && !(soup ? (const void *)def->soup : def->mesh)) {
    return pn_fail(PN_ERROR_ARGUMENT, "body '%s': the definition has no %s", def->name ? def->name : "",
                   soup ? "soup (pnBodyDef.soup)" : "mesh");
  }
  const char *name = nameFor(def);
  if (!def->morph && kind->needsMorph)
    return pn_fail(PN_ERROR_ARGUMENT, "body '%s': %s needs morph targets (pnBodyDef.morph)", name, kind->name);
  if (!def->skin && kind->needsSkin)
    return pn_fail(PN_ERROR_ARGUMENT, "body '%s': %s needs joints (pnBodyDef.skin)", name, kind->name);
  const pnBox *loose = def->looseBox;
  if (loose && !(loose->min.x <= loose->max.x && loose->min.y <= loose->max.y && loose->min.z <= loose->max.z))
    return pn_fail(PN_ERROR_ARGUMENT, "body '%s': its loose box is empty or NaN", name);
  if (shared && def->self && !pnTree_GetDef(def->staticTree).self)
    return pn_fail(PN_ERROR_KIND, "body '%s': self-collision asked of a shared tree made without `self`", name);
  bool overSoup = soup || (shared && def->staticTree->rule->reshapes);
  if (overSoup && (def->selfFilter.ring > 1 || def->selfFilter.ignoreRest || def->selfFilter.triangleGroup))
    return pn_fail(PN_ERROR_KIND, "body '%s': a soup has no second ring, rest pose or lasting groups to filter by",
                   name);
  return pn_checkFilter(&def->selfFilter);
}

/* Pose and tree. */
static pnResult createShape(pnBody *body, const pnBodyDef *def) {
  const pnKindRow *kind = pn_kindOf(def->kind);
  if (sharesTree(def)) {
    body->tree = def->staticTree;
    return PN_OK;
  }
  if (!kind->ofMesh) {
    pnBucketDef bucketDef = pnDefaultBucketDef();
    bucketDef.soup = body->soup = def->soup;
    bucketDef.lab = def->tree.lab;
    body->ownsTree = true;
    return pnCreateBucketTree(&bucketDef, &body->tree);
  }
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = def->mesh;
  poseDef.morph = kind->morph ? def->morph : NULL;
  poseDef.skin = kind->skin ? def->skin : NULL;
  pnResult result = pnCreatePose(&poseDef, &body->pose);
  if (result == PN_OK) {
    pnTreeDef treeDef = def->tree;
    treeDef.pose = body->pose;
    treeDef.self = def->self;
    treeDef.update = def->tree.update ? def->tree.update : kind->update;
    result = pn_checkCookie(treeDef.cookie, "pnTreeDef");
    pnTreePlan plan = pn_planOf(&treeDef);
    plan.later = true;
    if (result == PN_OK) result = pn_createTree(&plan, &body->tree);
    body->ownsTree = true;
    if (result == PN_OK && def->self) {
      pnAsk ask = {.neighbours = pn_seeksNeighbours(&def->selfFilter, body->tree->mesh)};
      uint32_t proofs;
      result = pn_prepareSelf(body->tree, &ask, &proofs);
    }
    /* last: in memory that the build has given back */
    if (result == PN_OK && kind->vertices) pn_openCopies(body->pose);
  }
  return result;
}

pnResult pn_bodyCreate(pnBody *body, const pnBodyDef *asked) {
  pnResult result = pn_checkCookie(asked->cookie, "pnBodyDef");
  if (result == PN_OK && !pn_kindOf(asked->kind)) {
    result = pn_fail(PN_ERROR_ARGUMENT, "body '%s': kind %d is not one of the list", asked->name ? asked->name : "",
                     (int)asked->kind);
  }
  if (result == PN_OK && asked->shape) result = checkShape(asked);
  if (result != PN_OK) return result;
  pnBodyDef with = *asked, *def = &with;
  if (with.shape) {
    with.mesh = with.shape->mesh;
    with.morph = with.shape->morph;
    with.skin = with.shape->skin;
    with.tree.shape = with.shape;
  }
  result = checkBody(def);
  if (result != PN_OK) return result;
  uint32_t generation = body->generation;
  *body = (pnBody){.generation = generation,
                   .kind = def->kind,
                   .self = def->self,
                   .selfFilter = def->selfFilter,
                   .category = def->category,
                   .mask = def->mask,
                   .hasLooseBox = def->looseBox != NULL,
                   .userData = def->userData};
  if (def->looseBox) body->looseBox = *def->looseBox;
  result = createShape(body, def);
  if (result == PN_OK) {
    const pnMesh *mesh = pnPose_GetMesh(pnTree_GetPose(body->tree));
    body->name = copyName(def->name ? def->name : pnMesh_GetName(mesh));
    if (def->selfFilter.triangleGroup) {
      size_t size = pn_bytes(pnMesh_GetTriangleCount(mesh), sizeof(uint32_t));
      body->groups = pn_alloc(size);
      if (body->groups) memcpy(body->groups, def->selfFilter.triangleGroup, size);
      body->selfFilter.triangleGroup = body->groups;
    }
    if (!body->name || (def->selfFilter.triangleGroup && !body->groups && pnMesh_GetTriangleCount(mesh) > 0))
      result = pn_failMemory(0);
  }
  if (result != PN_OK) pn_bodyFree(body);
  return result;
}

void pn_bodyFree(pnBody *body) {
  pn_dropMirror(body);
  pn_dropWatch(body);
  pn_dropSuccessor(body);
  pn_free(body->cutting, sizeof(pnCutting));
  pn_dropFoci(body);
  if (body->groups) {
    pn_free(body->groups,
            pn_bytes(pnMesh_GetTriangleCount(pnPose_GetMesh(pnTree_GetPose(body->tree))), sizeof(uint32_t)));
  }
  pn_dropCourse(body);
  if (body->ownsTree) pnDestroyTree(body->tree);
  pnDestroyPose(body->pose);
  pn_free(body->name, body->name ? strlen(body->name) + 1 : 0);
  *body = (pnBody){.generation = body->generation};
}
