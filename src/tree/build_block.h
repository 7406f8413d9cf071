/* build_block.h: a range of a few hundred triangles cut down to leaves, across the longest axis each time, for trees that are built
 * fast. Their centres are copied side by side and move as the triangles do, so that every look at them goes straight on through the
 * nearest cache: half the time of pn_cutDown. */
#ifndef PN_TREE_BUILD_BLOCK_H
#define PN_TREE_BUILD_BLOCK_H

#include "tree/build.h"

/* Triangles of a block, at most. */
#define PN_BLOCK_TRIANGLES 512u

/* Puts order[first ... first+count) into the order of a balanced tree. Of triangles that are as far as a cut those come first that stand
 * first. */
typedef void pnCutBlockFcn(const pnBuilder *builder, uint32_t first, uint32_t count);

pnCutBlockFcn pn_cutBlock4;
#if defined(__x86_64__) && !defined(PN_SCALAR)
pnCutBlockFcn pn_cutBlock8Avx2;
#endif

/* The one for this machine; all do the same. */
PN_INLINE pnCutBlockFcn *pn_cutBlock(void) {
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (__builtin_cpu_supports("avx2")) return pn_cutBlock8Avx2;
#endif
  return pn_cutBlock4;
}

#endif
