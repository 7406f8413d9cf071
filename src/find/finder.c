/* finder.c: the life of a finder, and its bodies. */
#include "find/find.h"

#include "base/fenv.h"
#include "tree/update.h"

#include <math.h>
#include <string.h>

pnFinderDef pnDefaultFinderDef(void) {
  return (pnFinderDef){.gap = 0.1, .growth = 0.1, .sampleCapacity = 128, .cookie = PN_COOKIE};
}

pnFinderBodyDef pnDefaultFinderBodyDef(void) {
  return (pnFinderBodyDef){0};
}

/* ---------------------------------------------------------------- texts */

char *pn_copyText(const char *text) {
  size_t size = text ? strlen(text) + 1 : 0;
  char *copy = pn_alloc(size);
  if (copy) memcpy(copy, text, size);
  return copy;
}

void pn_freeText(char *text) {
  pn_free(text, text ? strlen(text) + 1 : 0);
}

/* ---------------------------------------------------------------- bodies */

static void freeBody(pnFinderBody *body) {
  size_t triangles = body->mesh->triangleCount;
  for (uint32_t i = 0; body->labelNames && i < body->labelCount; ++i) pn_freeText(body->labelNames[i]);
  pn_free(body->labelNames, body->labelCount * sizeof(char *));
  pn_freeText(body->name);
  pn_free(body->labels, triangles * sizeof(uint32_t));
  pn_free(body->carriers, triangles * sizeof(uint32_t));
  pn_free(body->partOf, triangles * sizeof(uint32_t));
  pn_free(body->partTriangles, triangles * sizeof(uint32_t));
  pn_free(body->parts, body->partCount * sizeof(pnPart));
  pn_free(body->partVertices, body->partVertices ? body->mesh->vertexCount * sizeof(uint32_t) : 0);
  pn_free(body->restFirst, body->restFirst ? body->mesh->vertexCount * sizeof(uint32_t) : 0);
}

/* The numbers as given, in memory of ours; a null array stays null. */
static pnResult copyNumbers(const uint32_t *from, size_t count, uint32_t **out) {
  if (!from || count == 0) return PN_OK;
  *out = pn_alloc(pn_bytes(count, sizeof(uint32_t)));
  if (!*out) return pn_failMemory(count * sizeof(uint32_t));
  memcpy(*out, from, count * sizeof(uint32_t));
  return PN_OK;
}

static pnResult copyLabels(pnFinderBody *body, const pnFinderBodyDef *def) {
  for (uint32_t t = 0; def->triangleLabels && t < body->mesh->triangleCount; ++t) {
    uint32_t label = def->triangleLabels[t];
    if (label != PN_NONE && label >= def->labelCount)
      return pn_fail(PN_ERROR_INDEX, "body '%s': triangle %u has label %u of %u", body->name, t, label,
                     def->labelCount);
  }
  body->labelCount = def->labelCount;
  pnResult result = copyNumbers(def->triangleLabels, body->mesh->triangleCount, &body->labels);
  if (result != PN_OK || !def->labelNames || def->labelCount == 0) return result;
  body->labelNames = pn_allocZero(pn_bytes(def->labelCount, sizeof(char *)));
  bool good = body->labelNames != NULL;
  for (uint32_t i = 0; i < def->labelCount && good; ++i) {
    PN_ASSERT(def->labelNames[i]);
    good = (body->labelNames[i] = pn_copyText(def->labelNames[i])) != NULL;
  }
  return good ? PN_OK : pn_failMemory(def->labelCount * sizeof(char *));
}

double pn_diagonalOf(pnBox box) {
  double x = (double)box.max.x - box.min.x, y = (double)box.max.y - box.min.y, z = (double)box.max.z - box.min.z;
  return x >= 0 && y >= 0 && z >= 0 ? sqrt(x * x + y * y + z * z) : 0;
}

pnResult pnFinder_AddBody(pnFinder *finder, const pnFinderBodyDef *def, uint32_t *outBody) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(finder && def && def->tree && outBody && !finder->begun);
  const pnTree *tree = def->tree;
  if (tree->rule->reshapes)
    return pn_fail(PN_ERROR_KIND, "finder: soup '%s' has no neighbours to find regions by", tree->mesh->name);
  pnFinderBody body = {.tree = def->tree, .pose = tree->pose, .mesh = tree->mesh, .carrier = PN_NONE};
  body.diagonal = pn_diagonalOf(body.mesh->box);
  body.name = pn_copyText(def->name ? def->name : body.mesh->name);
  pnResult result = body.name ? PN_OK : pn_failMemory(1);
  if (result == PN_OK) result = copyLabels(&body, def);
  if (result == PN_OK) result = pn_findParts(&body);
  if (result == PN_OK && !pn_arrayPush(&finder->bodies, body)) result = pn_failMemory(sizeof body);
  if (result == PN_OK) *outBody = (uint32_t)finder->bodies.count - 1;
  else freeBody(&body);
  return result;
}

pnResult pnFinder_SetCarriers(pnFinder *finder, uint32_t body, const uint32_t *triangleCarriers, uint32_t carrier) {
  PN_ASSERT(finder && body < finder->bodies.count);
  pnFinderBody *b = &finder->bodies.data[body];
  uint32_t *carriers = NULL;
  pnResult result = copyNumbers(triangleCarriers, b->mesh->triangleCount, &carriers);
  if (result != PN_OK) return result;
  pn_free(b->carriers, b->mesh->triangleCount * sizeof(uint32_t));
  b->carriers = carriers;
  b->carrier = carrier;
  pn_carryParts(b);
  return PN_OK;
}

pnResult pnFinder_SetWanted(pnFinder *finder, uint32_t a, uint32_t b, bool wanted) {
  PN_ASSERT(finder && a < finder->bodies.count && b < finder->bodies.count && a != b && !finder->begun);
  uint64_t key = (uint64_t)PN_MIN(a, b) << 32 | PN_MAX(a, b);
  size_t low = pn_lowerKey(finder->unwanted.data, finder->unwanted.count, key);
  bool there = low < finder->unwanted.count && finder->unwanted.data[low] == key;
  if (there != wanted) return PN_OK;
  if (!wanted && !pn_arrayReserve(&finder->unwanted, finder->unwanted.count + 1)) return pn_failMemory(sizeof key);
  uint64_t *at = finder->unwanted.data + low;
  size_t after = finder->unwanted.count - low;
  if (wanted) memmove(at, at + 1, (after - 1) * sizeof key);
  else memmove(at + 1, at, after * sizeof key);
  if (!wanted) *at = key;
  finder->unwanted.count += wanted ? (size_t)-1 : 1;
  return PN_OK;
}

void pnFinder_SetWantedRule(pnFinder *finder, pnWantedRule rule, void *context) {
  PN_ASSERT(finder && !finder->begun);
  finder->wantedRule = rule;
  finder->wantedContext = context;
}

/* ---------------------------------------------------------------- the finder */

pnResult pnCreateFinder(const pnFinderDef *def, pnFinder **outFinder) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(def && outFinder);
  pnResult result = pn_checkCookie(def->cookie, "pnFinderDef");
  if (result != PN_OK) return result;
  const double lengths[] = {def->reach, def->gap, def->step, def->growth};
  for (int i = 0; i < 4; ++i)
    if (!(lengths[i] >= 0 && lengths[i] <= 1e30))
      return pn_fail(PN_ERROR_ARGUMENT, "finder: reach, gap, step and growth must be 0 or more");
  if (def->sampleCapacity < 4) return pn_fail(PN_ERROR_ARGUMENT, "finder: sampleCapacity must be 4 or more");
  pnFinder *finder = pn_allocZero(sizeof(pnFinder));
  if (!finder) return pn_failMemory(sizeof(pnFinder));
  finder->def = *def;
  *outFinder = finder;
  return PN_OK;
}

void pnFinder_Clear(pnFinder *finder, bool rest) {
  PN_ASSERT(finder);
  pn_freeTracks(finder);
  pn_freeKnown(finder, rest);
  pn_forgetFrame(finder);
  finder->hasFrame = false;
}

void pnDestroyFinder(pnFinder *finder) {
  if (!finder) return;
  pn_freeFrame(finder);
  pn_freeTracks(finder);
  pn_freeKnown(finder, true);
  for (size_t i = 0; i < finder->bodies.count; ++i) freeBody(&finder->bodies.data[i]);
  pn_arrayFree(&finder->bodies);
  pn_arrayFree(&finder->unwanted);
  pn_free(finder, sizeof(pnFinder));
}

/* ---------------------------------------------------------------- bytes */

/* What an array holds. */
#define HELD(a) ((a).capacity * sizeof(*(a).data))

static size_t bytesOfBody(const pnFinderBody *body) {
  size_t numbers = (size_t)(body->labels != NULL) + (body->carriers != NULL) + (body->partOf != NULL) +
                   (body->partTriangles != NULL) + (body->carriedFirst != NULL);
  size_t lists = (size_t)(body->partVertices != NULL) + (body->restFirst != NULL);
  size_t bytes = (numbers * body->mesh->triangleCount + lists * body->mesh->vertexCount) * sizeof(uint32_t);
  for (uint32_t i = 0; body->labelNames && i < body->labelCount; ++i)
    bytes += sizeof(char *) + strlen(body->labelNames[i]) + 1;
  return bytes + body->partCount * sizeof(pnPart) + strlen(body->name) + 1;
}

static size_t bytesOfTrack(const pnTrack *t) {
  size_t bytes = HELD(t->samples);
  for (int i = 0; i < 2; ++i)
    bytes += HELD(t->labels[i]) + HELD(t->traces[i]) + HELD(t->triangles[i][0]) + HELD(t->triangles[i][1]);
  return bytes;
}

static size_t bytesOfBroad(const pnBroadPhase *b) {
  size_t bytes = HELD(b->boxes) + HELD(b->perchOf) + HELD(b->isChanged) + HELD(b->changed) + HELD(b->newcomers) +
                 HELD(b->placeAt) + HELD(b->nodes) + HELD(b->pairs) + HELD(b->next) + HELD(b->keys) + HELD(b->scratch) +
                 HELD(b->seeds) + HELD(b->found) + HELD(b->workers);
  for (size_t i = 0; i < b->workers.count; ++i)
    bytes += HELD(b->workers.data[i].stack) + HELD(b->workers.data[i].found);
  return bytes;
}

static size_t bytesOfKin(const pnKin *l) {
  return HELD(l->items) + HELD(l->order) + HELD(l->nodes) + HELD(l->perchOf) + HELD(l->parts) + HELD(l->pairs) +
         HELD(l->entries) + HELD(l->heads) + HELD(l->up) + HELD(l->marks) + HELD(l->found);
}

static size_t bytesOfFrame(const pnFinder *f) {
  size_t bytes = HELD(f->keys) + HELD(f->works) + HELD(f->meetItems) + HELD(f->diveItems) + HELD(f->workOrder) +
                 HELD(f->numbers) + HELD(f->sources) + HELD(f->sights) + HELD(f->sightTriangles) + HELD(f->look) +
                 HELD(f->regions) + HELD(f->regionPairs) + HELD(f->regionLabels) + HELD(f->curves) +
                 HELD(f->curvePoints) + HELD(f->curveEnds);
  for (size_t i = 0; i < f->workCapacity; ++i) {
    const pnContactWork *w = &f->works.data[i];
    bytes += HELD(w->meets) + HELD(w->order) + HELD(w->drafts) + HELD(w->marks) + HELD(w->seeds) + HELD(w->floods) +
             HELD(w->vertices) + HELD(w->patches);
  }
  for (uint32_t i = 0; i < f->scratchCount; ++i) {
    const pnFindScratch *s = &f->scratches[i];
    bytes += sizeof *s + HELD(s->deep) + HELD(s->cells) + HELD(s->queue[0]) + HELD(s->queue[1]) + HELD(s->crossings);
    bytes += (2 * (size_t)PN_MAX(f->vertexCount, 1u) + PN_MAX(f->triangleCount, 1u)) * sizeof(uint32_t);
  }
  size_t parts = (size_t)(f->windings.counts != NULL) + (f->windings.parts != NULL);
  return bytes + HELD(f->wholes) + HELD(f->nests) + HELD(f->comers) + bytesOfKin(&f->kin) + bytesOfBroad(&f->broad) +
         parts * PN_MAX(f->partCount, 1u) * sizeof(int32_t);
}

size_t pnFinder_GetByteCount(const pnFinder *finder) {
  size_t bytes = sizeof *finder + HELD(finder->bodies) + HELD(finder->unwanted) + HELD(finder->tracks) +
                 HELD(finder->numberOf) + HELD(finder->findings) + HELD(finder->findingLabels) + HELD(finder->rests) +
                 HELD(finder->restEntries) + HELD(finder->restPairs) + HELD(finder->restVertices) +
                 HELD(finder->carried) + HELD(finder->carriedEntries);
  for (size_t i = 0; i < finder->bodies.count; ++i) bytes += bytesOfBody(&finder->bodies.data[i]);
  for (size_t i = 0; i < finder->tracks.count; ++i) bytes += bytesOfTrack(&finder->tracks.data[i]);
  for (size_t i = 0; i < finder->carried.count; ++i)
    bytes += HELD(finder->carried.data[i].triangles[0]) + HELD(finder->carried.data[i].triangles[1]);
  return bytes + bytesOfFrame(finder);
}
