/* pinch/lab.h: the laboratory. EXPERIMENTAL: what is here may change or go in any version.
 *
 * What papers proposed, what we compare with, and two modes whose answers are only close. Products need none of it: the
 * defaults are the fastest that were measured (docs/bench.md). A definition of the other doors takes these settings by its
 * pointer `lab`, which is null in products:
 *
 *   pnTreeLab lab = {.form = PN_FORM_SPHERE, .arity = 2};      zeroed is the default, for every struct here
 *   treeDef.lab = &lab;                                        read by the call that takes the definition, then no more
 *
 * Unless a comment says APPROXIMATE they change the time a query takes and never its answer.
 */
#ifndef PINCH_LAB_H
#define PINCH_LAB_H

#include "pinch/geom.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pnTree pnTree;
typedef struct pnShape pnShape;

/* ---------------------------------------------------------------- two triangles */

/* Which fast test stands in front of the exact one. Each decides only what its error bounds prove and leaves the
 * rest to the exact test, so all give the same answer; only the time differs. */
typedef enum pnKernel {
  PN_KERNEL_DEFAULT, /* PN_KERNEL_EXACT: none in front was faster by enough */
  PN_KERNEL_MOLLER,  /* Moeller 1997: intervals on the line where the planes meet */
  PN_KERNEL_TROPP,   /* Tropp, Tal, Shimshoni 2006: determinants reused between edges */
  PN_KERNEL_EXACT,   /* no kernel in front: orientation signs only, each with a filter of its own */
  PN_KERNEL_COUNT
} pnKernel;

/* pnTrianglesMeet by a kernel. */
PN_API bool pnTrianglesMeetBy(pnKernel kernel, const pnTriangle *a, const pnTriangle *b);

/* ---------------------------------------------------------------- trees */

/* How the triangles are divided among children. */
typedef enum pnBuild {
  PN_BUILD_DEFAULT,      /* the fastest measured: joint for skins, balanced for others */
  PN_BUILD_BALANCED,     /* median splits that leave small boxes, leaves filled up */
  PN_BUILD_SHAPE_CENTRE, /* [Larsson01] initial shape: the longest sides halved at the box centre */
  PN_BUILD_SHAPE_MEAN,   /* [Larsson01] initial shape: split at the mean of the triangle midpoints */
  PN_BUILD_LINK,         /* [Larsson01] mesh connectivity: every node is a connected patch where the mesh allows it */
  PN_BUILD_JOINT,        /* [Mujika09] skins: a group for each joint, merged along the skeleton; others: as balanced */
  PN_BUILD_FAST, /* balanced, triangles in the order of a curve: a third of the time, a third more boxes to test */
  PN_BUILD_COUNT
} pnBuild;

/* What stands around the triangles of a node. */
typedef enum pnForm {
  PN_FORM_BOX,   /* axis-aligned box (default) */
  PN_FORM_DOP14, /* box with its 8 corners cut */
  PN_FORM_DOP18, /* box with its 12 edges cut */
  PN_FORM_DOP26, /* both */
  PN_FORM_SPHERE,
  PN_FORM_COUNT
} pnForm;

/* How the primitives of a soup are put in order in every update. */
typedef enum pnBucketMethod {
  PN_BUCKET_DEFAULT, /* the fastest measured: PN_BUCKET_KEPT */
  PN_BUCKET_DIRECT,  /* [Ganovelli00] buckets of an octree, Algorithm 1: each primitive by division */
  PN_BUCKET_SORTED,  /* [Ganovelli00] the same buckets, Algorithm 2: three sorted arrays and moving bucket pointers */
  PN_BUCKET_MORTON,  /* no buckets: sorted by Morton code, leaves filled up */
  PN_BUCKET_KEPT, /* no buckets: sorted along the curve of Hilbert, divided by halving, and that order kept: what came, went or was
                     replaced is merged, volumes are updated where a query reaches them; when they have grown too much the order
                     is made anew, a slice in every update */
  PN_BUCKET_COUNT
} pnBucketMethod;

/* How a tree is built: pnTreeDef.lab, and pnBucketDef.lab for those over soups. */
typedef struct pnTreeLab {
  pnBuild build;     /* default PN_BUILD_DEFAULT */
  pnForm form;       /* default PN_FORM_BOX; others need updates that work with them */
  uint32_t arity;    /* most children of a node: 2, 4 or 8; 0 (default): 8 */
  uint32_t leafSize; /* most triangles of a leaf: 1 to 8; 0 (default): 8 */
  /* Hybrid: nodes with more triangles than this are updated eagerly. 0 (default): 64, and 512 for large meshes, of which a smaller
   * part is reached in a frame (docs/tree.md has the measurement). Bottom-up: always 1. */
  uint32_t cut;
  /* Morph references: volumes of shapes between each two of them, so many a pair, 0 to 15 (default 0). They make blended
   * volumes tighter while exactly two references have a weight, and cost their memory (pnTree_GetByteCount). */
  uint32_t extraReferences;
  bool noStamps; /* a node is computed at every visit, not once a frame; one thread (default false) */
  /* APPROXIMATE, without `self`: leave out triangles whose three neighbours are all in, about a third of a closed
   * mesh [Curtis08]. What touches nothing but the inside of such a triangle is missed. Default false. */
  bool representative;
  pnBucketMethod method; /* soups: default PN_BUCKET_DEFAULT; the other settings above are not for them */
  uint32_t levels; /* soups, of the octree: 1 to 7; 0 (default): the fewest with 8 primitives a bucket, spread evenly */
  /* Soups, sorted: moves a primitive and axis before insertion sort is given up for this update. 0 (default): 64; UINT32_MAX:
   * never, which is quadratic without coherence. */
  uint32_t mostMoves;
} pnTreeLab;

/* The settings of a tree or shape, with what was left open decided. */
PN_API pnTreeLab pnTree_GetLab(const pnTree *tree);
PN_API pnTreeLab pnShape_GetLab(const pnShape *shape);

/* About the last update of a tree over a soup. All zero for other trees; levels, buckets and largest are 0 without buckets. */
typedef struct pnBucketInfo {
  uint32_t levels;
  uint32_t bucketCount; /* occupied */
  uint32_t largest;     /* most primitives in one; those beyond 8 are divided further */
  uint64_t moves;       /* sorted: places moved by insertion sort, over the three axes */
  bool fellBack;        /* sorted: insertion sort was given up along some axis */
  double placeSeconds;  /* direct, sorted: of finding all buckets, the part of an update in which the two differ */
  /* kept: what the update spent on the order, in passes over one primitive. Sorting everything is 10 for each primitive; an update
   * stays below 2 for each unless a large part of the soup is new or everything leapt. */
  uint64_t ordered;
} pnBucketInfo;
PN_API pnBucketInfo pnTree_GetBucketInfo(const pnTree *tree);

/* ---------------------------------------------------------------- queries and worlds */

/* Which of two inner nodes whose volumes overlap is opened. The pairs found are the same. Of boxes and k-DOPs; spheres open
 * both. */
typedef enum pnOpen {
  PN_OPEN_DEFAULT, /* both at once, or of two trees of very different size the node that is twice as long */
  PN_OPEN_SMALLER, /* the shorter one [Ganovelli00] */
  PN_OPEN_LARGER,  /* the longer one */
  PN_OPEN_COUNT
} pnOpen;

/* How to search: pnQueryDef.lab, and pnFrameDef.lab for all queries of a frame. */
typedef struct pnQueryLab {
  pnKernel kernel; /* PN_KERNEL_DEFAULT: SIMD batches; others test one pair at a time */
  bool noFlat;     /* self queries open smooth regions too, which are proved not to meet themselves */
  bool
      noPlanes; /* queries: the planes of big triangles in pieces (pnTreeDef.big) prune nothing: their pieces alone do */
  bool noHints; /* frames: with `first`, do not try the pair by which two bodies met in the frame before */
  /* APPROXIMATE, queries only: a triangle meets a big one (pnTreeDef.big) when the ball around it meets the plane, no exact test
   * [Mujika, section 5]. Reports every pair that meets, and some that are only close. Default false. */
  bool planeDecides;
  pnOpen open;  /* queries of two trees: default PN_OPEN_DEFAULT */
  bool noSmall; /* frames: small bodies, too, are opened node by node, and not looked at as a whole */
} pnQueryLab;

/* How close bodies are found before trees are asked. */
typedef enum pnBroad {
  PN_BROAD_AUTO, /* all pairs up to 100 bodies, a tree above (default) */
  PN_BROAD_ALL,  /* every box against every box */
  PN_BROAD_TREE  /* a tree over the boxes; bodies that do not move cost nothing */
} pnBroad;

/* How a world works: pnWorldDef.lab. */
typedef struct pnWorldLab {
  pnBroad broad;  /* default PN_BROAD_AUTO */
  bool closeLook; /* finer cells of large bodies for all small ones (docs/world.md); default: where it pays */
  bool mirrors;   /* every free body is followed as a soup (docs/world.md); default: where it pays */
} pnWorldLab;

#ifdef __cplusplus
}
#endif

#endif
