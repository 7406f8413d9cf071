/* focus.h: a second look at a large body, where it is finer than its cells.
 *
 * Volumes are whole numbers of 16 bits: a tree has 2^13 to 2^14 cells along its body (tree/tree.h). Of a level that is two kilometres
 * wide they are an eighth of a metre, and in a hall with tiles of ten centimetres a foot meets every tile around it, and all that is a hand's
 * breadth above or below. A *focus* is another tree over the same shape and the same pose, with fine cells around one place. What is not
 * near has the first or the last cell there is: cells are a monotone function of coordinates, so that nothing that overlaps is ever apart.
 * A job asks it instead of the body's own tree when the other body is in that place. Answers do not depend on it.
 *
 * One is made for a job that has tested far more pairs of triangles than it has found, where the other body's leaves are small against the cells of this one; it is
 * kept when the next frame tests a good deal less. Nothing is made for bodies of one size, nor by any clock. */
#ifndef PN_WORLD_FOCUS_H
#define PN_WORLD_FOCUS_H

#include "world/world.h"

/* Places of one body that are looked at, at most. */
#define PN_FOCI 4u

/* Have there been bodies in this world so much larger than others that a focus can pay? Else jobs need not be asked, which in a crowd takes
 * a fiftieth of the frame. With up to 2^17 leaves cells must differ by a factor of 16 (focus.c), and sizes by 8 at the least. */
PN_INLINE bool pn_mayLookCloser(const pnWorld *world) {
  return world->lab.closeLook || world->largest - world->smallest >= 3;
}
/* A body that is so large: its box. */
void pn_noteSize(pnWorld *world, const pnBox *box);
/* A job between two bodies that has its trees: it shall ask a focus instead, if there is one for it. */
void pn_lookCloser(pnWorld *world, size_t job);
/* After jobs were run: which of them ask for a focus, and was the one worth it that was made? */
void pn_judgeLooks(pnWorld *world);
void pn_dropFoci(pnBody *body);

#endif
