/* shape_file.h: what self queries keep of a shape, as bytes: between the file that writes blocks and those that know the parts. */
#ifndef PN_COLLIDE_SHAPE_FILE_H
#define PN_COLLIDE_SHAPE_FILE_H

#include "tree/part_file.h"
#include "tree/tree.h"

/* rest.c: the pairs that meet at rest. The part must be there to be written. PN_ERROR_FORMAT when they are not pairs of the mesh,
 * sorted. */
void pn_writeRest(const pnShape *shape, pnByteWriter *w);
pnResult pn_readRest(const pnShape *shape, pnByteReader *r);

/* calm_file.c: the calm patches. Whatever is read, walks stay within their memory; that the numbers are those of the mesh is for
 * the checksum. */
void pn_writeCalm(const pnShape *shape, pnByteWriter *w);
pnResult pn_readCalm(const pnShape *shape, pnByteReader *r);

/* fan_file.c, flat_file.c: what fans and flat regions look like. The same holds for them. */
extern const pnPartForm pn_fanForm, pn_flatForm;

#endif
