/* gltf_node.c: the hierarchy: nodes, which mesh and skin each places, and the scenes. Nodes must form trees: each is the
 * child of at most one other, and nobody is its own ancestor. */
#include <math.h>
#include <string.h>

#include "anim.h"
#include "gltf.h"

/* A node's matrix is stored by columns; its last row must be 0 0 0 1, give or take the rounding of an exporter. */
static pnResult readMatrix(const pnJson *node, pnAnimNode *out) {
  float m[16] = {0};
  pnResult result = pn_jsonFloats(node, "matrix", 16, m);
  if (result != PN_OK) return result;
  if (fabsf(m[3]) > 1e-3f || fabsf(m[7]) > 1e-3f || fabsf(m[11]) > 1e-3f || fabsf(m[15] - 1.0f) > 1e-3f) {
    pnJson matrix = pn_jsonMember(node, "matrix");
    return pn_jsonFail(&matrix, PN_ERROR_FORMAT, "the last row is %g %g %g %g, expected 0 0 0 1", (double)m[3],
                       (double)m[7], (double)m[11], (double)m[15]);
  }
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 4; ++column) out->matrix.m[row][column] = m[column * 4 + row];
  out->hasMatrix = true;
  return PN_OK;
}

static pnResult readNode(pnGltf *g, const pnJson *node, uint32_t index, uint32_t skinCount) {
  pnAnimNode *out = &g->nodes[index];
  *out = (pnAnimNode){.parent = PN_NONE, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}, .matrix = pnMatrix_Identity()};
  out->name = pn_gltfText(g, pn_jsonString(node, "name", ""));
  if (out->name == NULL) return pn_gltfNoMemory(g);

  /* Where it stands in its parent. */
  pnResult result = PN_OK;
  if (json_object_get(node->value, "matrix") != NULL) {
    result = readMatrix(node, out);
  } else {
    result = pn_jsonFloats(node, "translation", 3, out->translation);
    if (result == PN_OK) result = pn_jsonFloats(node, "rotation", 4, out->rotation);
    if (result == PN_OK) result = pn_jsonFloats(node, "scale", 3, out->scale);
  }
  const float *r = out->rotation;
  if (result == PN_OK && r[0] == 0 && r[1] == 0 && r[2] == 0 && r[3] == 0)
    result = pn_jsonFail(node, PN_ERROR_FORMAT, "the rotation 0 0 0 0 is none");

  /* What it carries. */
  if (result == PN_OK) result = pn_jsonIndex(node, "mesh", g->meshCount, &g->nodeMesh[index]);
  if (result == PN_OK) result = pn_jsonIndex(node, "skin", skinCount, &g->nodeSkin[index]);
  return result;
}

/* Each child gets its parent, once. */
static pnResult readChildren(pnGltf *g, const pnJson *node, uint32_t index) {
  pnJson children;
  uint32_t count = 0;
  pnResult result = pn_jsonArray(node, "children", &children, &count);
  for (uint32_t i = 0; i < count && result == PN_OK; ++i) {
    pnJson element = pn_jsonElement(&children, i);
    uint32_t child = 0;
    result = pn_jsonIndexHere(&element, g->file->nodeCount, &child);
    if (result != PN_OK) break;
    if (g->nodes[child].parent != PN_NONE) {
      result = pn_jsonFail(&element, PN_ERROR_FORMAT, "node %u already has the parent %u; nodes must form trees", child,
                           g->nodes[child].parent);
    }
    g->nodes[child].parent = index;
  }
  return result;
}

pnResult pn_gltfLoadNodes(pnGltf *g) {
  pnJson skins;
  uint32_t count = 0, skinCount = 0;
  pnResult result = pn_jsonArray(&g->root, "nodes", &g->nodeArray, &count);
  if (result == PN_OK) result = pn_jsonArray(&g->root, "skins", &skins, &skinCount);
  if (result == PN_OK) result = pn_jsonArray(&g->root, "meshes", &g->meshArray, &g->meshCount);
  if (result != PN_OK) return result;
  g->nodes = pn_gltfKeep(g, count, sizeof(pnAnimNode));
  g->nodeMesh = pn_gltfScratch(g, count, sizeof(uint32_t));
  g->nodeSkin = pn_gltfScratch(g, count, sizeof(uint32_t));
  g->meshes = pn_gltfScratch(g, (size_t)g->meshCount * 2, sizeof(pnGltfMesh));
  if (!g->nodes || !g->nodeMesh || !g->nodeSkin || !g->meshes) return pn_gltfNoMemory(g);
  g->file->nodes = g->nodes;
  g->file->nodeCount = count;

  for (uint32_t i = 0; i < count && result == PN_OK; ++i) {
    pnJson node = pn_jsonElement(&g->nodeArray, i);
    result = readNode(g, &node, i, skinCount);
    if (result == PN_OK && g->nodeMesh[i] != PN_NONE) ++g->meshes[2 * g->nodeMesh[i]].userCount;
  }
  for (uint32_t i = 0; i < count && result == PN_OK; ++i) {
    pnJson node = pn_jsonElement(&g->nodeArray, i);
    result = readChildren(g, &node, i);
  }
  if (result != PN_OK) return result;

  /* Parents first, which also tells whether there is an order at all. */
  g->order = pn_gltfScratch(g, count, sizeof(uint32_t));
  uint8_t *placed = pn_gltfScratch(g, count, 1);
  if (g->order == NULL || placed == NULL) return pn_gltfNoMemory(g);
  uint32_t fault = pn_orderNodes(g->nodes, count, g->order, placed);
  if (fault == PN_NONE) return PN_OK;
  pnJson node = pn_jsonElement(&g->nodeArray, fault);
  return pn_jsonFail(&node, PN_ERROR_FORMAT, "is its own ancestor; nodes must form trees");
}

/* ---------------------------------------------------------------- scenes */

/* The bodies below the roots of a scene: those whose topmost node is a root of it. */
static pnResult findBodies(pnGltf *g, pnAnimScene *scene, uint8_t *isRoot, const uint32_t *topmost) {
  uint32_t *bodies = pn_gltfKeep(g, g->file->bodyCount, sizeof(uint32_t));
  if (bodies == NULL) return pn_gltfNoMemory(g);
  for (uint32_t i = 0; i < scene->rootCount; ++i) isRoot[scene->roots[i]] = 1;
  for (uint32_t b = 0; b < g->file->bodyCount; ++b)
    if (isRoot[topmost[g->bodies[b].node]]) bodies[scene->bodyCount++] = b;
  for (uint32_t i = 0; i < scene->rootCount; ++i) isRoot[scene->roots[i]] = 0;
  scene->bodies = bodies;
  return PN_OK;
}

static pnResult readScene(pnGltf *g, const pnJson *scene, pnAnimScene *out) {
  pnJson roots;
  uint32_t count = 0;
  pnResult result = pn_jsonArray(scene, "nodes", &roots, &count);
  if (result != PN_OK) return result;
  uint32_t *list = pn_gltfKeep(g, count, sizeof(uint32_t));
  out->name = pn_gltfText(g, pn_jsonString(scene, "name", ""));
  if (list == NULL || out->name == NULL) return pn_gltfNoMemory(g);
  for (uint32_t i = 0; i < count && result == PN_OK; ++i) {
    pnJson element = pn_jsonElement(&roots, i);
    result = pn_jsonIndexHere(&element, g->file->nodeCount, &list[i]);
    if (result == PN_OK && g->nodes[list[i]].parent != PN_NONE)
      result = pn_jsonFail(&element, PN_ERROR_FORMAT, "node %u has a parent; a scene lists roots", list[i]);
  }
  out->roots = list;
  out->rootCount = count;
  return result;
}

/* A file without scenes gets one with every root. */
static pnResult makeScene(pnGltf *g, pnAnimScene *out) {
  uint32_t *list = pn_gltfKeep(g, g->file->nodeCount, sizeof(uint32_t));
  if (list == NULL) return pn_gltfNoMemory(g);
  for (uint32_t i = 0; i < g->file->nodeCount; ++i)
    if (g->nodes[i].parent == PN_NONE) list[out->rootCount++] = i;
  out->name = "";
  out->roots = list;
  return PN_OK;
}

pnResult pn_gltfLoadScenes(pnGltf *g) {
  pnJson scenes;
  uint32_t count = 0;
  pnResult result = pn_jsonArray(&g->root, "scenes", &scenes, &count);
  if (result == PN_OK) result = pn_jsonIndex(&g->root, "scene", count, &g->file->defaultScene);
  if (result != PN_OK) return result;
  if (g->file->defaultScene == PN_NONE) g->file->defaultScene = 0;
  uint32_t nodeCount = g->file->nodeCount;
  g->scenes = pn_gltfKeep(g, count > 0 ? count : 1, sizeof(pnAnimScene));
  uint8_t *isRoot = pn_gltfScratch(g, nodeCount, 1);
  uint32_t *topmost = pn_gltfScratch(g, nodeCount, sizeof(uint32_t));
  if (g->scenes == NULL || isRoot == NULL || topmost == NULL) return pn_gltfNoMemory(g);
  for (uint32_t i = 0; i < nodeCount; ++i) {
    uint32_t n = g->order[i], parent = g->nodes[n].parent;
    topmost[n] = parent == PN_NONE ? n : topmost[parent];
  }

  for (uint32_t i = 0; i < count && result == PN_OK; ++i) {
    pnJson scene = pn_jsonElement(&scenes, i);
    result = readScene(g, &scene, &g->scenes[i]);
  }
  if (count == 0) {
    result = makeScene(g, &g->scenes[0]);
    count = 1;
  }
  for (uint32_t i = 0; i < count && result == PN_OK; ++i) result = findBodies(g, &g->scenes[i], isRoot, topmost);
  g->file->scenes = g->scenes;
  g->file->sceneCount = count;
  return result;
}
