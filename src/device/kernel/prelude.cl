/* prelude.cl: the words of C17 that the shared files use, in OpenCL C 1.2. It stands in front of every program.
 *
 * Rounding is part of the answer: no operation is fused unless fma is written, and programs are built without any of the
 * options that let a compiler be quick about numbers. selftest.c finds out a device that does not keep to it. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

typedef uchar uint8_t;
typedef uint uint32_t;
typedef int int32_t;
typedef ulong uint64_t;
typedef long int64_t;

#ifndef NULL
#define NULL 0
#endif
#define PN_LIKELY(x) (x)
#define PN_UNLIKELY(x) (x)
#define PN_INLINE static inline
#define PN_NOINLINE __attribute__((noinline))
#define PN_PART_INLINE static __attribute__((noinline))
#define PN_PART static __attribute__((noinline))
#define PN_CALLED __attribute__((noinline))
#define PN_TABLE __constant
#define PN_GLOBAL __global
#define INT32_MAX 0x7fffffff
#define INT64_C(x) x##L
#define PN_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PN_MAX(a, b) ((a) > (b) ? (a) : (b))
#define PN_NONE 0xffffffffu

/* As in pinch/geom.h. */
typedef struct pnSharedCorners {
  uint8_t count;
  uint8_t a[3], b[3];
} pnSharedCorners;

/* A team is a work-group of so many items that share a queue. One warp of most GPUs; barriers of such a group are cheap. */
#define TEAM 32

/* Places of the head: what a frame counts, and how it went. The host has the same list (device/world.h). */
#define HEAD_PAIRS 0     /* pairs found */
#define HEAD_OVERFLOW 1  /* bits: lists that were too short */
#define HEAD_BAD 2       /* a super with a coordinate that is NaN or infinite; none: PN_NONE */
#define HEAD_SUPERS 3    /* pairs of supers, of clusters, of triangles by their boxes */
#define HEAD_CLUSTERS 4
#define HEAD_CANDIDATES 5
#define HEAD_UNSURE 6    /* undecided by the filter */
#define HEAD_RAW 7       /* pairs before a filter */
#define HEAD_FOUND 8     /* with a limit: pairs found, also those beyond it */
#define HEAD_PLACES 9

/* What to do with a pair that was found. */
#define EMIT_SORT 1u  /* count it by its first triangle */
#define EMIT_FIRST 2u /* only when it is the first of its two bodies */
#define EMIT_BINS 4u  /* for the sort by bins: put it into the bin of its first triangle */

/* Lists, and the bits by which one that is too short is known. */
#define LIST_CLUSTERS 1u
#define LIST_CANDIDATES 2u
#define LIST_UNSURE 4u
#define LIST_PAIRS 8u
#define LIST_RAW 16u
#define LIST_BINS 32u

/* Bins of the sort: so many at most, each with room for so many pairs (device/world.h). */
#define BINS 4096
#define BIN_ROOM 512
