/* build_joint.c: trees of skinned bodies by joints [Mujika09, section 3]: a group of triangles for every joint, the groups
 * of neighbouring joints merged to limbs and the limbs to the whole; spheres about as large as their parent are left out.
 *
 * A triangle belongs to the joint with the largest weight in its corners. Seen from the root: a part with several joints is
 * cut through the skeleton where its triangles fall into halves, and the largest part is cut next, until there are as
 * many as a node has children or all have one joint. A part that is about as large as the whole is never made a
 * child that way: it is the first to be cut. Below a single joint the balanced builder goes on; the paper splits
 * along the widest axis there, and so does that one where it does not find a better cut.
 *
 * Where we differ: the paper's skeleton is given; that of a linear skin is not, and files number joints as they like. Joints
 * are neighbours where they share vertices, and the pairs that share most of them make a tree. */
#include "tree/build.h"

#include "base/array.h"
#include "base/sort.h"

/* A part larger than so much of its parent, measured across, would be a sphere that tells nothing new. */
#define AS_LARGE 0.8

/* ---------------------------------------------------------------- the skeleton */

/* The joint with the largest weight in a triangle's corners; ties: the smaller number. */
static uint32_t mainJoint(const pnSkin *skin, const uint32_t *triangle) {
  uint32_t joint[3 * PN_MAX_INFLUENCES], count = 0, best = 0;
  double weight[3 * PN_MAX_INFLUENCES];
  for (int k = 0; k < 3; ++k) {
    for (uint32_t e = skin->influenceFirst[triangle[k]]; e < skin->influenceFirst[triangle[k] + 1]; ++e) {
      uint32_t i = 0;
      while (i < count && joint[i] != skin->influences[e].joint) ++i;
      if (i == count) {
        joint[count] = skin->influences[e].joint;
        weight[count++] = 0;
      }
      weight[i] += skin->influences[e].weight;
    }
  }
  for (uint32_t i = 1; i < count; ++i)
    if (weight[i] > weight[best] || (weight[i] == weight[best] && joint[i] < joint[best])) best = i;
  return count > 0 ? joint[best] : 0;
}

/* Pairs of joints, two numbers of 16 bits in the value (PN_MAX_JOINTS). */
typedef PN_ARRAY(pnKeyValue) Shared;

/* Those that share vertices, the ones that share most first. */
static bool listShared(const pnSkin *skin, Shared *out) {
  PN_ARRAY(uint64_t) keys = {0};
  PN_ARRAY(uint64_t) scratch = {0};
  bool ok = true;
  for (uint32_t v = 0; ok && v < skin->mesh->vertexCount; ++v) {
    for (uint32_t e = skin->influenceFirst[v]; ok && e < skin->influenceFirst[v + 1]; ++e) {
      for (uint32_t f = e + 1; ok && f < skin->influenceFirst[v + 1]; ++f) {
        uint64_t a = skin->influences[e].joint, b = skin->influences[f].joint;
        ok = pn_arrayPush(&keys, PN_MIN(a, b) << 32 | PN_MAX(a, b));
      }
    }
  }
  ok = ok && pn_arrayReserve(&scratch, keys.count);
  if (ok && keys.count > 0) pn_sortU64(keys.data, scratch.data, keys.count);
  for (size_t i = 0, end; ok && i < keys.count; i = end) {
    for (end = i + 1; end < keys.count && keys.data[end] == keys.data[i]; ++end) {}
    /* most first: the key falls as the number of shared vertices grows */
    uint32_t a = (uint32_t)(keys.data[i] >> 32), b = (uint32_t)keys.data[i];
    ok = pn_arrayPush(out, ((pnKeyValue){UINT32_MAX - (uint32_t)PN_MIN(end - i, UINT32_MAX), a << 16 | b}));
  }
  pn_arrayFree(&keys);
  pn_arrayFree(&scratch);
  if (ok && out->count > 0) {
    Shared other = {0};
    ok = pn_arrayReserve(&other, out->count);
    if (ok) pn_sortKeyValue(out->data, other.data, out->count);
    pn_arrayFree(&other);
  }
  return ok;
}

/* Those that join what is not joined yet: the tree's edges stay in the list. */
static void keepTree(Shared *shared, uint32_t *above, uint32_t joints) {
  size_t kept = 0;
  for (uint32_t j = 0; j < joints; ++j) above[j] = j;
  for (size_t i = 0; i < shared->count; ++i) {
    uint32_t a = pn_rootOf(above, shared->data[i].value >> 16), b = pn_rootOf(above, shared->data[i].value & 0xffff);
    if (a != b) {
      above[PN_MAX(a, b)] = PN_MIN(a, b);
      shared->data[kept++] = shared->data[i];
    }
  }
  shared->count = kept;
}

/* The edges of each joint: list[first[j] ... first[j + 1]) are those at its other ends. */
static void listEdges(const Shared *edges, uint32_t joints, uint32_t *first, uint32_t *list) {
  memset(first, 0, (joints + 1) * sizeof(uint32_t));
  for (size_t i = 0; i < edges->count; ++i) {
    ++first[edges->data[i].value >> 16];
    ++first[edges->data[i].value & 0xffff];
  }
  for (uint32_t j = 0, sum = 0; j <= joints; ++j) {
    sum += first[j]; /* the end of each list, which filling brings down to its beginning */
    first[j] = sum;
  }
  for (size_t i = edges->count; i-- > 0;) {
    uint32_t a = edges->data[i].value >> 16, b = edges->data[i].value & 0xffff;
    list[--first[a]] = b;
    list[--first[b]] = a;
  }
}

/* The tree from its roots: joints in an order in which each comes after the one above it. */
static void orderJoints(pnJointTree *tree, const uint32_t *first, const uint32_t *list) {
  uint32_t n = tree->jointCount, done = 0, *reached = tree->below;
  memset(tree->above, 0xff, n * sizeof(uint32_t));
  memset(reached, 0, n * sizeof(uint32_t));
  for (uint32_t root = 0; root < n; ++root) {
    if (reached[root]) continue;
    uint32_t head = done;
    reached[root] = 1;
    tree->order[done++] = root;
    for (; head < done; ++head) {
      uint32_t at = tree->order[head];
      for (uint32_t i = first[at]; i < first[at + 1]; ++i) {
        if (!reached[list[i]]) {
          reached[list[i]] = 1;
          tree->above[list[i]] = at;
          tree->order[done++] = list[i];
        }
      }
    }
  }
}

/* The skeleton of a linear skin, from the vertices that joints share. */
static bool deriveTree(const pnSkin *skin, pnJointTree *tree) {
  Shared shared = {0};
  size_t bytes = pn_bytes(3 * (size_t)skin->jointCount + 1, sizeof(uint32_t)); /* a tree has fewer edges than joints */
  uint32_t *first = pn_alloc(bytes);
  bool ok = first && listShared(skin, &shared);
  if (ok) {
    keepTree(&shared, tree->above, skin->jointCount);
    listEdges(&shared, skin->jointCount, first, first + skin->jointCount + 1);
    orderJoints(tree, first, first + skin->jointCount + 1);
  }
  pn_arrayFree(&shared);
  pn_free(first, bytes);
  return ok;
}

static size_t treeBytes(const pnJointTree *tree) {
  return pn_bytes(3 * (size_t)tree->jointCount, sizeof(uint32_t));
}

bool pn_makeJointTree(const pnSkin *skin, const pnMesh *mesh, pnJointTree *out) {
  *out = (pnJointTree){.jointCount = skin->jointCount, .triangleCount = mesh->triangleCount};
  out->order = pn_alloc(treeBytes(out));
  out->joint = pn_alloc(pn_bytes(mesh->triangleCount, sizeof(uint32_t)));
  if (!out->order || !out->joint) return false;
  out->above = out->order + skin->jointCount;
  out->below = out->above + skin->jointCount;
  for (size_t i = 0; i < mesh->triangleCount; ++i) out->joint[i] = mainJoint(skin, mesh->triangles + 3 * i);
  if (skin->mode == PN_SKIN_LINEAR) return deriveTree(skin, out);
  /* weighted: the parents are given, and come before their joints */
  for (uint32_t j = 0; j < skin->jointCount; ++j) {
    out->order[j] = j;
    out->above[j] = skin->parents[j];
  }
  return true;
}

void pn_freeJointTree(pnJointTree *tree) {
  pn_free(tree->joint, pn_bytes(tree->triangleCount, sizeof(uint32_t)));
  pn_free(tree->order, treeBytes(tree));
}

/* ---------------------------------------------------------------- cutting */

/* How far apart the centres of a range are, squared. */
static double sizeOf(const pnBuilder *b, uint32_t first, uint32_t count) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    double lo = INFINITY, hi = -INFINITY;
    for (uint32_t i = first; i < first + count; ++i) {
      double c = b->centres[3 * (size_t)b->order[i] + k];
      lo = PN_MIN(lo, c);
      hi = PN_MAX(hi, c);
    }
    sum += (hi - lo) * (hi - lo);
  }
  return sum;
}

/* The joint at and below which is nearest to half of a range's triangles; PN_NONE: they have one joint. */
static uint32_t chooseCut(pnBuilder *b, uint32_t first, uint32_t count) {
  pnJointTree *tree = &b->joints;
  memset(tree->below, 0, tree->jointCount * sizeof(uint32_t));
  for (uint32_t i = first; i < first + count; ++i) tree->below[tree->joint[b->order[i]]]++;
  uint32_t best = PN_NONE, bestSize = 0;
  for (uint32_t i = tree->jointCount; i-- > 0;) {
    uint32_t joint = tree->order[i], size = tree->below[joint];
    if (tree->above[joint] != PN_NONE) tree->below[tree->above[joint]] += size;
    uint32_t smaller = PN_MIN(size, count - size);
    if (smaller > bestSize) {
      best = joint;
      bestSize = smaller;
    }
  }
  return best;
}

/* Triangles of the joints at and below the cut last; returns how many come before. Both keep their order. */
static uint32_t cut(pnBuilder *b, uint32_t first, uint32_t count, uint32_t at) {
  pnJointTree *tree = &b->joints;
  for (uint32_t i = 0; i < tree->jointCount; ++i) {
    uint32_t joint = tree->order[i], above = tree->above[joint];
    tree->below[joint] = joint == at || (above != PN_NONE && tree->below[above]);
  }
  uint32_t before = 0, after = 0, *order = b->order + first;
  for (uint32_t i = 0; i < count; ++i)
    if (tree->below[tree->joint[order[i]]]) b->scratch[after++] = order[i];
    else order[before++] = order[i];
  memcpy(order + before, b->scratch, after * sizeof(uint32_t));
  return before;
}

/* A part while a node is divided. */
typedef struct JointPart {
  uint32_t first, count;
  uint32_t cut; /* PN_NONE: one joint */
  double size;
} JointPart;

static JointPart partOf(pnBuilder *b, uint32_t first, uint32_t count) {
  return (JointPart){first, count, chooseCut(b, first, count), sizeOf(b, first, count)};
}

/* The largest part that is worth cutting; `count`: there is none. */
static uint32_t choosePart(const pnBuilder *b, const JointPart *parts, uint32_t count, double whole) {
  uint32_t best = count;
  for (uint32_t i = 0; i < count; ++i) {
    bool one = parts[i].cut == PN_NONE;
    bool worth = parts[i].count > b->leafSize && (!one || parts[i].size > AS_LARGE * AS_LARGE * whole);
    if (worth && (best == count || parts[i].size > parts[best].size)) best = i;
  }
  return best;
}

uint32_t pn_splitJoint(pnBuilder *b, uint32_t first, uint32_t count, uint32_t depth, uint32_t outSizes[PN_LANES]) {
  JointPart parts[PN_LANES];
  uint32_t partCount = 1;
  if (b->joints.joint) parts[0] = partOf(b, first, count);
  if (!b->joints.joint || parts[0].cut == PN_NONE) return pn_splitBalanced(b, first, count, depth, outSizes);
  double whole = parts[0].size;
  while (partCount < b->arity) {
    uint32_t i = choosePart(b, parts, partCount, whole);
    if (i == partCount) break;
    JointPart part = parts[i];
    uint32_t left = part.count / 2;
    if (part.cut != PN_NONE) left = cut(b, part.first, part.count, part.cut);
    else pn_cutBest(b, part.first, part.count, left);
    memmove(parts + i + 2, parts + i + 1, (partCount - i - 1) * sizeof(JointPart));
    parts[i] = partOf(b, part.first, left);
    parts[i + 1] = partOf(b, part.first + left, part.count - left);
    ++partCount;
  }
  for (uint32_t i = 0; i < partCount; ++i) outSizes[i] = parts[i].count;
  return partCount;
}
