/* part_file.h: parts of a shape (shape.h) as bytes.
 *
 * A part is one block of memory: a head, and behind it arrays that the head points to. What is written are the arrays, each with
 * its length; what else is in the head, and arrays that are quickly found out, are made again from the shape. So one writer and
 * one reader do for all parts, and each part has a form that says which arrays it has and when they are in order. */
#ifndef PN_TREE_PART_FILE_H
#define PN_TREE_PART_FILE_H

#include "base/bytes.h"
#include "tree/shape.h"

#define PN_PART_ARRAYS 8u

typedef struct pnPartArray {
  size_t pointer; /* where in the head its pointer is */
  size_t bytes;   /* of an element; no holes in it */
  /* Null: it is written. Else it is not; it has so many elements, which `check` fills. */
  size_t (*again)(const pnShape *shape);
} pnPartArray;

typedef struct pnPartForm {
  const char *name; /* in messages */
  size_t headBytes; /* 0: there is no head, and one array */
  uint32_t arrayCount;
  pnPartArray array[PN_PART_ARRAYS];
  /* How long the arrays of a part are that are written. */
  void (*measure)(const pnShape *shape, const void *part, size_t *outCounts);
  /* Fills the rest of a part whose arrays were read; where there is nothing in one, its pointer is not null. False: they are not
   * what this shape could have, and whoever walks through them might leave them. */
  bool (*check)(const pnShape *shape, void *part, const size_t *counts);
} pnPartForm;

/* The part must be there to be written. PN_ERROR_FORMAT when what is read is not in order. */
void pn_writeShapePart(const pnShape *shape, pnShapePart part, const pnPartForm *form, pnByteWriter *w);
pnResult pn_readShapePart(const pnShape *shape, pnShapePart part, const pnPartForm *form, pnByteReader *r);

/* ---------------------------------------------------------------- for checks */

/* Do numbers begin with 0, never fall, and end with `end`? Those of `count` ranges and one more. */
bool pn_areRanges(const uint32_t *first, size_t count, size_t end);
/* Are they all below a number? */
bool pn_areBelow(const uint32_t *numbers, size_t count, size_t below);
/* Are they all finite? */
bool pn_areFinite(const float *numbers, size_t count);

#endif
