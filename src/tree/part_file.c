/* part_file.c: see part_file.h. */
#include "tree/part_file.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- where arrays are */

/* What a head has for one of its arrays; a part without a head is its array. */
static const char *arrayOf(const pnPartForm *form, const void *part, uint32_t i) {
  const char *array = part;
  if (form->headBytes > 0) memcpy(&array, (const char *)part + form->array[i].pointer, sizeof array);
  return array;
}

/* Head and arrays one after the other; with a block, the head points to them. Returns how long it is. */
static size_t layOut(const pnPartForm *form, const size_t *counts, char *block) {
  size_t at = 0;
  if (form->headBytes > 0) pn_carve(block, &at, 1, form->headBytes);
  for (uint32_t i = 0; i < form->arrayCount; ++i) {
    char *array = pn_carve(block, &at, counts[i], form->array[i].bytes);
    if (block && form->headBytes > 0) memcpy(block + form->array[i].pointer, &array, sizeof array);
  }
  return at;
}

/* ---------------------------------------------------------------- writing, reading */

void pn_writeShapePart(const pnShape *shape, pnShapePart part, const pnPartForm *form, pnByteWriter *w) {
  const void *data = pn_partOf(shape, part);
  size_t counts[PN_PART_ARRAYS] = {0};
  form->measure(shape, data, counts);
  for (uint32_t i = 0; i < form->arrayCount; ++i) {
    if (form->array[i].again) continue;
    pn_putU64(w, counts[i]);
    if (counts[i] > 0) pn_putBytes(w, arrayOf(form, data, i), counts[i] * form->array[i].bytes);
  }
}

typedef struct PartReading {
  const pnShape *shape;
  const pnPartForm *form;
  pnByteReader *r;
} PartReading;

/* How long the arrays are: looked up ahead, so that there is one block of the right size. */
static bool takeCounts(const PartReading *reading, size_t *outCounts) {
  const pnPartForm *form = reading->form;
  pnByteReader ahead = *reading->r;
  for (uint32_t i = 0; i < form->arrayCount; ++i) {
    const pnPartArray *array = &form->array[i];
    uint64_t count = array->again ? array->again(reading->shape) : pn_takeU64(&ahead);
    if (!array->again && !pn_hasLeft(&ahead, count, array->bytes)) return false;
    outCounts[i] = (size_t)count;
    if (!array->again) ahead.at += (size_t)count * array->bytes;
  }
  return !ahead.isShort;
}

static pnResult takePart(void *context, void **outData, size_t *outBytes) {
  const PartReading *reading = context;
  const pnPartForm *form = reading->form;
  const char *name = reading->shape->mesh->name;
  size_t counts[PN_PART_ARRAYS];
  if (!takeCounts(reading, counts))
    return pn_fail(PN_ERROR_FORMAT, "shape of mesh '%s': it ends within its %s", name, form->name);
  *outBytes = layOut(form, counts, NULL);
  char *block = pn_allocZero(*outBytes);
  if (!block) return pn_failMemory(*outBytes);
  layOut(form, counts, block);
  for (uint32_t i = 0; i < form->arrayCount; ++i) {
    if (form->array[i].again) continue;
    (void)pn_takeU64(reading->r);
    pn_takeBytes(reading->r, (char *)(uintptr_t)arrayOf(form, block, i), counts[i] * form->array[i].bytes);
  }
  if (!form->check(reading->shape, block, counts)) {
    pn_free(block, *outBytes);
    return pn_fail(PN_ERROR_FORMAT, "shape of mesh '%s': its %s are not those of its nodes", name, form->name);
  }
  *outData = block;
  return PN_OK;
}

pnResult pn_readShapePart(const pnShape *shape, pnShapePart part, const pnPartForm *form, pnByteReader *r) {
  PartReading reading = {shape, form, r};
  return pn_makePart(shape, part, takePart, &reading);
}

/* ---------------------------------------------------------------- for checks */

bool pn_areRanges(const uint32_t *first, size_t count, size_t end) {
  bool fine = first[0] == 0 && first[count] == end;
  for (size_t i = 0; fine && i < count; ++i) fine = first[i] <= first[i + 1];
  return fine;
}

bool pn_areBelow(const uint32_t *numbers, size_t count, size_t below) {
  bool fine = true;
  for (size_t i = 0; fine && i < count; ++i) fine = numbers[i] < below;
  return fine;
}

bool pn_areFinite(const float *numbers, size_t count) {
  bool fine = true;
  for (size_t i = 0; fine && i < count; ++i) fine = fabsf(numbers[i]) <= FLT_MAX;
  return fine;
}
