/* form_box.h: the loops that most updates and fills spend their time in: boxes of vertices that lie ready. Written for four lanes
 * (form_box.c), and for eight where a machine has AVX2 (form_box_avx2.c): one table each, chosen at run time. Least and greatest are exact,
 * a grid's scale is a power of two and the cell is the floor: so every table makes the same lanes. */
#ifndef PN_TREE_FORM_BOX_H
#define PN_TREE_FORM_BOX_H

#include "tree/tree.h"

typedef struct pnBoxLoops {
  /* The box of listed vertices: x y z - of lo, then of hi. A NaN stays in lo, whatever the minimum makes of it. So many further on
   * in the list vertices are asked for from the outer caches (0: none; the list has to go on so far). */
  void (*ofList)(const float *source, const uint32_t *v, const uint32_t *end, uint32_t ahead, float out[8]);
  /* Eight boxes onto a grid without a lift: of the lists [at[j], at[j + 1]) for j < count, lanes past count as the last; */
  void (*putLists)(const float *source, const uint32_t *lists, const uint32_t *at, uint32_t count, const pnGrid *grid,
                   pnBoxLanes *out);
  /* of the triangles whose corners lie so many bytes from `base`, three numbers a triangle; */
  void (*putCorners)(const char *base, const uint32_t *corners, const pnGrid *grid, pnBoxLanes *out);
  /* and of boxes as ofList writes them, one after the other. */
  void (*putBoxes)(const float *boxes, const pnGrid *grid, pnBoxLanes *out);
} pnBoxLoops;

extern const pnBoxLoops pn_boxLoops4;
#if defined(__x86_64__) && !defined(PN_SCALAR)
extern const pnBoxLoops pn_boxLoopsAvx2;
#endif

#endif
