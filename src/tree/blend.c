/* blend.c: see blend.h. First the volumes are made, once, node by node from the vertices below; then weights blend them. */
#include "tree/blend.h"

#include "geom/sphere.h"

#include <float.h>

/* Directions of the targets' volumes in trees of boxes. Measured on turned dolphins: see docs/morph.md. */
#define TURNED_SET (&pn_slabDop18)

/* ---------------------------------------------------------------- moves: what the ingredients do to a vertex */

typedef struct Move {
  uint32_t ingredient;
  float at[4];
} Move;

/* What an ingredient does to the vertices below one child. */
typedef struct Gathered {
  uint32_t mark;   /* the child this is about */
  uint32_t listed; /* listed vertices the ingredient moves */
  pnBound bound;
} Gathered;

/* Scratch of one creation. */
typedef struct BlendMaker {
  const pnTree *tree;
  const pnMorph *morph;
  pnBlend *blend;
  Move *moves;        /* ingredientCount */
  Gathered *gathered; /* ingredientCount */
  uint32_t mark;      /* grows with every child and node */
} BlendMaker;

/* Ingredients of the extra references between references i < j, extraCount of them: pairs in the order
 * (0,1) (0,2) ... (1,2). */
static uint32_t extraIngredient(uint32_t targetCount, uint32_t extraCount, uint32_t i, uint32_t j) {
  uint32_t pair = i * (2 * targetCount - i - 1) / 2 + (j - i - 1);
  return targetCount + pair * extraCount;
}

PN_INLINE void setMove(Move *move, uint32_t ingredient, const float *at) {
  move->ingredient = ingredient;
  memcpy(move->at, at, 3 * sizeof(float));
}

/* The moves of a vertex of deltas: those of its targets, and the rest position. */
static uint32_t movesOfDeltas(const BlendMaker *maker, uint32_t vertex) {
  const pnMorph *morph = maker->morph;
  uint32_t count = 0;
  for (uint32_t e = morph->entryFirst[vertex]; e < morph->entryFirst[vertex + 1]; ++e)
    setMove(&maker->moves[count++], morph->entries[e].target, morph->entries[e].move);
  setMove(&maker->moves[count++], maker->blend->baseIngredient, maker->tree->mesh->vertices + 3 * (size_t)vertex);
  return count;
}

/* The moves of a vertex of references: its positions, and those between each two, rounded once from double. */
static uint32_t movesOfReferences(const BlendMaker *maker, uint32_t vertex) {
  uint32_t n = maker->morph->targetCount, extra = maker->blend->extraCount, count = 0;
  const float *at = maker->morph->positions + 3 * (size_t)vertex * n;
  for (; count < n; ++count) setMove(&maker->moves[count], count, at + 3 * (size_t)count);
  for (uint32_t i = 0; extra > 0 && i < n; ++i) {
    for (uint32_t j = i + 1; j < n; ++j) {
      for (uint32_t e = 1; e <= extra; ++e) {
        double t = (double)e / (extra + 1);
        float between[3];
        for (int k = 0; k < 3; ++k)
          between[k] = (float)((1 - t) * (double)at[3 * (size_t)i + k] + t * (double)at[3 * (size_t)j + k]);
        setMove(&maker->moves[count++], extraIngredient(n, extra, i, j) + e - 1, between);
      }
    }
  }
  return count;
}

static uint32_t movesOf(const BlendMaker *maker, uint32_t vertex) {
  return maker->morph->positions ? movesOfReferences(maker, vertex) : movesOfDeltas(maker, vertex);
}

/* ---------------------------------------------------------------- volumes of the ingredients of a node */

/* Which ingredients move something below a node? Marks them and returns how many. */
static uint32_t markIngredients(BlendMaker *maker, uint32_t node) {
  uint32_t n, found = 0;
  const uint32_t *v = pn_verticesBelow(maker->tree, node, &n);
  ++maker->mark;
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t m = movesOf(maker, v[i] / 3); m-- > 0;) {
      Gathered *g = &maker->gathered[maker->moves[m].ingredient];
      found += g->mark != maker->mark;
      g->mark = maker->mark;
    }
  }
  return found;
}

/* The volumes of all ingredients over the vertices below one node, into `gathered` under a new mark. */
static void gather(BlendMaker *maker, uint32_t node) {
  const pnTree *tree = maker->tree;
  const pnSlabSet *set = maker->blend->set ? maker->blend->set : &pn_slabBox;
  uint32_t n;
  const uint32_t *v = pn_verticesBelow(tree, node, &n);
  ++maker->mark;
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t m = movesOf(maker, v[i] / 3); m-- > 0;) {
      Gathered *g = &maker->gathered[maker->moves[m].ingredient];
      pnSlabs one;
      pn_slabsOfPoints(set, maker->moves[m].at, 1, &one);
      if (g->mark != maker->mark) {
        g->mark = maker->mark;
        g->listed = 0;
        pn_slabsEmpty(&g->bound.slabs);
      }
      ++g->listed;
      pn_slabsMerge(set, &g->bound.slabs, &one);
    }
  }
  /* vertices that an ingredient does not list stay where they are */
  static const float zero[4] = {0};
  pnSlabs none;
  pn_slabsOfPoints(set, zero, 1, &none);
  for (uint32_t s = 0; s < maker->blend->ingredientCount; ++s) {
    Gathered *g = &maker->gathered[s];
    if (g->mark == maker->mark && g->listed < n) pn_slabsMerge(set, &g->bound.slabs, &none);
    if (g->mark == maker->mark && !tree->slabs) {
      pn_sphereCentre(&g->bound.slabs, g->bound.centre);
      g->bound.radius = g->listed < n ? pn_distanceUp(g->bound.centre, zero) : 0;
    }
  }
  /* spheres: a second pass for the radii */
  for (uint32_t i = 0; !tree->slabs && i < n; ++i) {
    for (uint32_t m = movesOf(maker, v[i] / 3); m-- > 0;) {
      pnBound *b = &maker->gathered[maker->moves[m].ingredient].bound;
      b->radius = PN_MAX(b->radius, pn_distanceUp(b->centre, maker->moves[m].at));
    }
  }
}

/* One lane of all terms at a place, from what was gathered; ingredients that move nothing there have [0, 0]. */
static void writeLane(const BlendMaker *maker, uint32_t place, uint32_t lane) {
  const pnBlend *blend = maker->blend;
  uint32_t first = blend->termFirst[place], count = blend->termFirst[place + 1] - first;
  for (uint32_t t = 0; t < count; ++t) {
    const Gathered *g = &maker->gathered[blend->termIngredient[first + t]];
    if (g->mark != maker->mark) continue;
    for (uint32_t d = 0; blend->set && d < blend->set->count; ++d) {
      float *row = pn_termRow(blend, place, t, d) + lane;
      row[0] = g->bound.slabs.lo[d];
      row[PN_LANES] = g->bound.slabs.hi[d];
    }
    for (uint32_t k = 0; !blend->set && k < 4; ++k) {
      float *row = blend->rows + (size_t)(first + t) * blend->rowFloats + lane;
      row[k * PN_LANES] = k < 3 ? g->bound.centre[k] : g->bound.radius;
    }
  }
}

/* Spheres: the box of each ingredient over the whole, after the root was gathered. */
static void writeRootRows(const BlendMaker *maker) {
  const pnBlend *blend = maker->blend;
  for (uint32_t s = 0; blend->rootRows && s < blend->ingredientCount; ++s) {
    const Gathered *g = &maker->gathered[s];
    for (uint32_t k = 0; g->mark == maker->mark && k < 3; ++k) {
      blend->rootRows[6 * (size_t)s + 2 * k] = g->bound.slabs.lo[k];
      blend->rootRows[6 * (size_t)s + 2 * k + 1] = g->bound.slabs.hi[k];
    }
  }
}

/* The ingredients of each place, then their rows. Place innerCount is the root's own volume. */
static void fillPlaces(BlendMaker *maker) {
  const pnTree *tree = maker->tree;
  const pnBlend *blend = maker->blend;
  for (uint32_t place = 0; place <= tree->shape->innerCount; ++place) {
    uint32_t at = blend->termFirst[place], node = place < tree->shape->innerCount ? place : 0;
    markIngredients(maker, node);
    for (uint32_t s = 0; s < blend->ingredientCount; ++s)
      if (maker->gathered[s].mark == maker->mark) blend->termIngredient[at++] = s;
    uint32_t count = place < tree->shape->innerCount ? tree->shape->count[node] : 1;
    for (uint32_t j = 0; j < count; ++j) {
      gather(maker, place < tree->shape->innerCount ? tree->shape->first[node] + j : 0);
      writeLane(maker, place, j);
    }
  }
  writeRootRows(maker);
}

/* ---------------------------------------------------------------- memory */

/* How much there is of what depends on the tree. */
typedef struct BlendSizes {
  uint32_t places;
  uint64_t terms, leafTerms;
  size_t leafFloats;
} BlendSizes;

static size_t layout(pnBlend *blend, const pnTree *tree, const BlendSizes *sizes, char *base) {
  size_t at = 0, leaves = tree->rule->modelSpace ? 0 : tree->shape->leafCount;
  pn_carve(base, &at, 1, sizeof *blend);
  blend->rows = pn_carve(base, &at, (size_t)sizes->terms, blend->rowFloats * sizeof(float));
  blend->termFirst = pn_carve(base, &at, (size_t)sizes->places + 1, sizeof(uint32_t));
  blend->termIngredient = pn_carve(base, &at, (size_t)sizes->terms, sizeof(uint32_t));
  blend->leafTermFirst = pn_carve(base, &at, leaves + 1, sizeof(uint32_t));
  blend->leafTarget = pn_carve(base, &at, (size_t)sizes->leafTerms, sizeof(uint32_t));
  blend->leafRowFirst = pn_carve(base, &at, leaves, sizeof(size_t));
  blend->leafRows = pn_carve(base, &at, sizes->leafFloats + 1, sizeof(float));
  blend->rootRows = blend->set ? NULL : pn_carve(base, &at, 6 * (size_t)blend->ingredientCount, sizeof(float));
  return at;
}

pnBlend pn_emptyBlend(const pnShape *shape) {
  const pnMorph *morph = shape->morph;
  const pnSlabSet *slabs = pn_formOf(shape->def.form)->slabs;
  uint64_t n = morph->targetCount;
  bool deltas = morph->mode == PN_MORPH_DELTAS;
  pnBlend blend = {.baseIngredient = deltas ? (uint32_t)n : PN_NONE,
                   .extraCount = deltas ? 0 : shape->def.extraReferences};
  uint64_t ingredients = n + deltas + n * (n - 1) / 2 * blend.extraCount;
  blend.ingredientCount = ingredients < UINT32_MAX ? (uint32_t)ingredients : 0;
  blend.set = slabs == &pn_slabBox && !shape->rule->modelSpace ? TURNED_SET : slabs;
  blend.rowFloats = PN_LANES * (blend.set ? 2 * blend.set->count : 4);
  return blend;
}

/* Counts everything, so that there is one block of the right size. */
static pnResult countAll(BlendMaker *maker, uint32_t *counts, uint32_t *leafCounts, uint32_t *marks, BlendSizes *out) {
  const pnTree *tree = maker->tree;
  out->places = tree->shape->innerCount + 1;
  for (uint32_t place = 0; place <= tree->shape->innerCount; ++place) {
    counts[place] = place < tree->shape->innerCount || place == 0 ? markIngredients(maker, place) : counts[0];
    out->terms += counts[place];
  }
  if (!tree->rule->modelSpace) out->leafFloats = pn_countLeaves(tree, leafCounts, marks, &out->leafTerms);
  uint64_t most = PN_MAX(out->terms, out->leafTerms);
  return most <= UINT32_MAX
             ? PN_OK
             : pn_fail(PN_ERROR_COUNT,
                       "tree of mesh '%s': its nodes have %llu volumes of targets, at most %u can be kept",
                       tree->mesh->name, (unsigned long long)most, UINT32_MAX);
}

/* The volumes of all targets, one block that begins with a pnBlend. */
static pnResult makeBlend(void *context, void **outData, size_t *outBytes) {
  const pnTree *tree = context;
  pnBlend blend = pn_emptyBlend(tree->shape);
  if (blend.ingredientCount == 0) {
    return pn_fail(PN_ERROR_COUNT, "tree of mesh '%s': %u extra references between each two of %u are too many",
                   tree->mesh->name, blend.extraCount, tree->pose->morph->targetCount);
  }
  size_t moveBytes = pn_bytes(blend.ingredientCount, sizeof(Move)),
         gatherBytes = pn_bytes(blend.ingredientCount, sizeof(Gathered));
  size_t countBytes = pn_bytes((size_t)tree->shape->innerCount + 1, sizeof(uint32_t));
  size_t leafBytes = pn_bytes((size_t)tree->shape->leafCount + 1, sizeof(uint32_t));
  size_t markBytes = pn_bytes(tree->pose->morph->targetCount, sizeof(uint32_t));
  BlendMaker maker = {tree, tree->pose->morph, &blend, pn_alloc(moveBytes), pn_allocZero(gatherBytes), 0};
  uint32_t *counts = pn_alloc(countBytes), *leafCounts = pn_alloc(leafBytes), *marks = pn_allocZero(markBytes);
  bool enough = maker.moves && maker.gathered && counts && leafCounts && marks;
  BlendSizes sizes = {0};
  pnResult result = enough ? countAll(&maker, counts, leafCounts, marks, &sizes) : pn_failMemory(gatherBytes);
  if (result == PN_OK) {
    *outBytes = layout(&blend, tree, &sizes, NULL);
    *outData = pn_allocZero(*outBytes);
    result = *outData ? PN_OK : pn_failMemory(*outBytes);
  }
  if (result == PN_OK) {
    layout(&blend, tree, &sizes, *outData);
    for (uint32_t place = 0; place <= tree->shape->innerCount; ++place)
      blend.termFirst[place + 1] = blend.termFirst[place] + counts[place];
    fillPlaces(&maker);
    if (!tree->rule->modelSpace) pn_fillLeaves(tree, &blend, leafCounts, marks);
    memcpy(*outData, &blend, sizeof blend);
  }
  pn_free(marks, markBytes);
  pn_free(leafCounts, leafBytes);
  pn_free(counts, countBytes);
  pn_free(maker.gathered, gatherBytes);
  pn_free(maker.moves, moveBytes);
  return result;
}

pnResult pn_makeBlend(pnTree *tree) {
  void *own = NULL;
  pnResult result = pn_makePart(tree->shape, PN_PART_RULE, makeBlend, tree);
  if (result == PN_OK) {
    const pnBlend *blend = pn_partOf(tree->shape, PN_PART_RULE);
    result = pn_copyRuleHead(tree, sizeof *blend, blend->ingredientCount, sizeof(float), &own);
  }
  if (result == PN_OK) ((pnBlend *)tree->ruleData)->ingredientWeight = own;
  return result;
}

/* ---------------------------------------------------------------- weights of a frame */

/* Two references active: their weights go to the two nearest of the references between them. */
static void weighExtra(pnBlend *blend, uint32_t n, uint32_t i, uint32_t j) {
  double sum = (double)blend->ingredientWeight[i] + (double)blend->ingredientWeight[j];
  double along = (double)blend->ingredientWeight[j] / sum * (blend->extraCount + 1);
  uint32_t step = PN_MIN((uint32_t)along, blend->extraCount);
  uint32_t between = extraIngredient(n, blend->extraCount, i, j);
  uint32_t below = step == 0 ? i : between + step - 1, above = step == blend->extraCount ? j : between + step;
  blend->ingredientWeight[i] = blend->ingredientWeight[j] = 0;
  blend->ingredientWeight[below] = (float)(sum * (1 - (along - step)));
  blend->ingredientWeight[above] = (float)(sum * (along - step));
}

/* g(k), rounded up. */
static double roundings(double k) {
  return k * 0x1p-24 / (1 - k * 0x1p-24) * (1 + 0x1p-20);
}

/* The sum of the largest numbers of what has a weight. */
static double largestOf(const pnPose *pose) {
  double sum = (double)pose->mesh->maxAbs;
  for (uint32_t i = 0; i < pose->activeCount; ++i) sum += (double)pose->morph->targetMaxAbs[pose->active[i].target];
  return sum;
}

static void sayNothing(pnBlendDirection *direction) {
  direction->lo = -FLT_MAX;
  direction->hi = FLT_MAX;
  direction->partCount = 0;
}

/* How direction d of the tree is summed. `around`: what all directions add for numbers next to nothing. */
static void aim(const pnTree *tree, pnBlend *blend, uint32_t d, double relative, double around) {
  pnBlendDirection *out = &blend->direction[d];
  const int8_t *n = tree->slabs->dir[d];
  double stretch = 0, shiftSize = 0, shift = 0;
  for (int i = 0; i < 3; ++i) {
    const float *row = tree->pose->transform.m[i];
    double size = blend->turned ? fabs((double)row[0]) + fabs((double)row[1]) + fabs((double)row[2]) : 1;
    double along = blend->moved ? n[i] * (double)row[3] : 0;
    stretch += n[i] != 0 ? size : 0;
    shift += along;
    shiftSize += fabs(along);
  }
  /* a body that is not turned has its directions as they are */
  const pnCarryTerm *term = &blend->carry.term[d];
  out->partCount = 0;
  for (uint32_t k = 0; k < (blend->turned ? 3u : 1u); ++k) {
    out->slab[out->partCount] = blend->turned ? term->slab[k] : d;
    out->weight[out->partCount] = !blend->turned ? 1 : term->flip[k] ? -term->weight[k] : term->weight[k];
    out->partCount += out->weight[out->partCount] != 0;
  }
  double reach = stretch * (double)tree->pose->sourceMaxAbs + shiftSize, margin = relative * reach + around;
  out->lo = (float)(shift - margin);
  out->hi = (float)(shift + margin);
  /* sums of coordinates may leave the range of float where coordinates do not: such a direction says nothing */
  if (!(reach < 0.5 * (double)FLT_MAX)) sayNothing(out);
}

/* Is the matrix without its last column that of no turn? */
static bool isTurned(const pnMatrix *m) {
  for (int i = 0; i < 9; ++i)
    if (m->m[i / 3][i % 3] != (i / 3 == i % 3 ? 1.0f : 0.0f)) return true;
  return false;
}

/* Lists the products of all directions, when they are the same in every node and not too many. */
static void listProducts(pnBlend *blend) {
  uint32_t ingredients[PN_MAX_LISTED], count = 0;
  /* offsets have 32 bits */
  blend->listed =
      blend->baseIngredient == PN_NONE && blend->ingredientCount <= UINT32_MAX / (2 * PN_LANES * PN_MAX_SLABS);
  for (uint32_t s = 0; s < blend->ingredientCount && blend->listed; ++s) {
    bool active = blend->ingredientWeight[s] != 0;
    blend->listed = !active || count < PN_MAX_LISTED;
    if (active && blend->listed) ingredients[count++] = s;
  }
  for (uint32_t d = 0; d < blend->directionCount && blend->listed; ++d) {
    pnBlendDirection *direction = &blend->direction[d];
    direction->productCount = 0;
    for (uint32_t i = 0; i < direction->partCount * count; ++i) {
      uint32_t k = i / count, ingredient = ingredients[i % count];
      float weight = blend->ingredientWeight[ingredient] * direction->weight[k];
      uint32_t at = 2 * PN_LANES * (direction->slab[k] * blend->ingredientCount + ingredient),
               lo = weight < 0 ? PN_LANES : 0;
      direction->product[direction->productCount++] = (pnBlendProduct){at + lo, at + PN_LANES - lo, weight};
    }
  }
}

/* All directions, for k roundings. */
static void aimAll(const pnTree *tree, pnBlend *blend, double k) {
  const pnPose *pose = tree->pose;
  double around = 9 * 0x1p-149 * largestOf(pose) + (double)FLT_MIN, relative = roundings(k);
  blend->directionCount = tree->slabs->count;
  blend->moved = pose->hasTransform && !tree->rule->modelSpace;
  blend->turned = blend->moved && isTurned(&pose->transform);
  bool far = !(largestOf(pose) < (double)PN_CARRY_FAR);
  if (blend->turned)
    pn_carryBegin(&blend->carry, &pose->transform, blend->set, tree->slabs->count, pose->sourceMaxAbs, far);
  for (uint32_t d = 0; d < tree->slabs->count; ++d) {
    aim(tree, blend, d, relative, around);
    if (far && d >= 3 && !blend->turned) sayNothing(&blend->direction[d]);
  }
  listProducts(blend);
}

void pn_weighBlend(const pnTree *tree, pnBlend *blend) {
  const pnPose *pose = tree->pose;
  uint32_t active = pose->activeCount;
  memset(blend->ingredientWeight, 0, blend->ingredientCount * sizeof(float));
  memcpy(blend->ingredientWeight, pose->weights, pose->morph->targetCount * sizeof(float));
  if (blend->baseIngredient != PN_NONE) blend->ingredientWeight[blend->baseIngredient] = 1;
  uint32_t more = 0;
  if (blend->extraCount > 0 && active == 2) {
    weighExtra(blend, pose->morph->targetCount, pose->active[0].target, pose->active[1].target);
    more = 8;
  }
  /* blend.h says why these numbers */
  double m = active + 1.0;
  if (tree->slabs) {
    aimAll(tree, blend, 4 * m + 32 + more);
    pn_aimLeaves(pose, blend->turned, blend);
  } else {
    pn_aimLeaves(pose, true, blend);
    double margin = roundings(2 * m + 8 + more) * (double)pose->sourceMaxAbs;
    blend->margin[0] = (float)margin + FLT_MIN;
    blend->margin[1] = (float)(8 * margin) + FLT_MIN;
    pn_carryBegin(&blend->carry, &pose->transform, &pn_slabBox, 3, pose->sourceMaxAbs, false);
  }
}

/* ---------------------------------------------------------------- blending */

/* Terms of a node that are blended at a time: more than most nodes have. */
#define TERM_BATCH 32u

/* What has a weight at a place. */
typedef struct Terms {
  uint32_t count;
  const float *row[TERM_BATCH]; /* of the first slab */
  float weight[TERM_BATCH];
} Terms;

/* Adds terms to the rows of all directions; slabs of a term are `step` floats apart. Rows are lo, lo, hi, hi, four lanes
 * each. A negative product takes lo from hi and hi from lo: `lo` is where lo is found. */
static void addTerms(const pnBlend *blend, const Terms *terms, size_t step, bool first, float *out) {
  for (uint32_t d = 0; d < blend->directionCount; ++d, out += 2 * PN_LANES) {
    const pnBlendDirection *direction = &blend->direction[d];
    pnF4 lo0 = pn_f4Set1(direction->lo), lo1 = lo0, hi0 = pn_f4Set1(direction->hi), hi1 = hi0;
    if (PN_UNLIKELY(!first))
      lo0 = pn_f4Load(out), lo1 = pn_f4Load(out + 4), hi0 = pn_f4Load(out + 8), hi1 = pn_f4Load(out + 12);
    for (uint32_t k = 0; k < direction->partCount; ++k) {
      size_t at = step * direction->slab[k];
      for (uint32_t t = 0; t < terms->count; ++t) {
        float weight = terms->weight[t] * direction->weight[k];
        uint32_t lo = weight < 0 ? PN_LANES : 0, hi = PN_LANES - lo;
        const float *row = terms->row[t] + at;
        pnF4 w = pn_f4Set1(weight);
        lo0 = pn_f4Add(lo0, pn_f4Mul(w, pn_f4Load(row + lo)));
        lo1 = pn_f4Add(lo1, pn_f4Mul(w, pn_f4Load(row + lo + 4)));
        hi0 = pn_f4Add(hi0, pn_f4Mul(w, pn_f4Load(row + hi)));
        hi1 = pn_f4Add(hi1, pn_f4Mul(w, pn_f4Load(row + hi + 4)));
      }
    }
    pn_f4Store(out, lo0);
    pn_f4Store(out + 4, lo1);
    pn_f4Store(out + 8, hi0);
    pn_f4Store(out + 12, hi1);
  }
}

/* The same sums from the list. */
static void blendListed(const pnBlend *blend, uint32_t place, float *out) {
  const float *rows = blend->rows + (size_t)place * blend->ingredientCount * blend->rowFloats;
  for (uint32_t d = 0; d < blend->directionCount; ++d, out += 2 * PN_LANES) {
    const pnBlendDirection *direction = &blend->direction[d];
    const pnBlendProduct *product = direction->product, *end = product + direction->productCount;
    pnF4 lo0 = pn_f4Set1(direction->lo), lo1 = lo0, hi0 = pn_f4Set1(direction->hi), hi1 = hi0;
    for (; product < end; ++product) {
      const float *lo = rows + product->lo, *hi = rows + product->hi;
      pnF4 w = pn_f4Set1(product->weight);
      lo0 = pn_f4Add(lo0, pn_f4Mul(w, pn_f4Load(lo)));
      lo1 = pn_f4Add(lo1, pn_f4Mul(w, pn_f4Load(lo + 4)));
      hi0 = pn_f4Add(hi0, pn_f4Mul(w, pn_f4Load(hi)));
      hi1 = pn_f4Add(hi1, pn_f4Mul(w, pn_f4Load(hi + 4)));
    }
    pn_f4Store(out, lo0);
    pn_f4Store(out + 4, lo1);
    pn_f4Store(out + 8, hi0);
    pn_f4Store(out + 12, hi1);
  }
}

static void blendSlabs(const pnBlend *blend, uint32_t place, float *out) {
  if (blend->listed) {
    blendListed(blend, place, out);
    return;
  }
  Terms terms;
  uint32_t first = blend->termFirst[place], count = blend->termFirst[place + 1] - first;
  const float *rows = pn_termRow(blend, place, 0, 0);
  size_t step = 2 * PN_LANES * (size_t)count;
  bool begun = false;
  terms.count = 0;
  for (uint32_t t = 0; t < count; ++t) {
    terms.row[terms.count] = rows + 2 * PN_LANES * (size_t)t;
    terms.weight[terms.count] = blend->ingredientWeight[blend->termIngredient[first + t]];
    terms.count += terms.weight[terms.count] != 0;
    if (terms.count == TERM_BATCH) {
      addTerms(blend, &terms, step, !begun, out);
      begun = true;
      terms.count = 0;
    }
  }
  if (!begun || terms.count > 0) addTerms(blend, &terms, step, !begun, out);
}

static void blendSpheres(const pnBlend *blend, uint32_t place, float *out) {
  for (uint32_t i = 0; i < 4 * PN_LANES; ++i) out[i] = i < 3 * PN_LANES ? 0 : blend->margin[1];
  for (uint32_t t = blend->termFirst[place]; t < blend->termFirst[place + 1]; ++t) {
    float weight = blend->ingredientWeight[blend->termIngredient[t]];
    const float *row = blend->rows + (size_t)t * blend->rowFloats;
    for (uint32_t i = 0; weight != 0 && i < 4 * PN_LANES; ++i)
      out[i] += (i < 3 * PN_LANES ? weight : fabsf(weight)) * row[i];
  }
}

void pn_blendRootBox(const pnBlend *blend, float *outRows) {
  memset(outRows, 0, 6 * PN_LANES * sizeof(float));
  for (uint32_t k = 0; k < 3; ++k) {
    float *lo = outRows + 2 * k * PN_LANES, *hi = lo + PN_LANES;
    *lo = -blend->margin[0];
    *hi = blend->margin[0];
    for (uint32_t s = 0; s < blend->ingredientCount; ++s) {
      float w = blend->ingredientWeight[s];
      const float *row = blend->rootRows + 6 * (size_t)s + 2 * k;
      *lo += w * row[w < 0];
      *hi += w * row[w >= 0];
    }
  }
}

void pn_blendRows(const pnBlend *blend, uint32_t place, float *outRows) {
  if (blend->set) blendSlabs(blend, place, outRows);
  else blendSpheres(blend, place, outRows);
}
