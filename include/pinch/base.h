/* pinch/base.h: the ground floor. Results, messages, hooks, tasks and the few plain types every room uses.
 *
 * Nothing here knows what a triangle is. The other doors include this one.
 *
 * Three kinds of wrong, three answers:
 *   a caller's bug (null where it is forbidden)   -> the assert hook
 *   bad data (NaN, an index out of range)         -> a pnResult, and pnGetMessage() says which and where
 *   a bad file                                    -> a pnResult, and the message names file, line or byte
 *
 * Threads: every function may be called from any thread. While one changes an object (pose, tree, world), no other may use it; several may
 * read it; const ones (mesh, morph, skin, shape) are free to share. A query changes its tree. docs/threads.md has every function.
 *
 * Floating point: answers do not depend on the caller's environment. Every function that computes rounds to nearest and keeps
 * subnormal numbers, in all its workers, and leaves rounding mode, flush-to-zero and traps as it found them (x86-64 and
 * 64-bit ARM). Hooks and callbacks that it calls meanwhile run in the environment of the library.
 */
#ifndef PINCH_BASE_H
#define PINCH_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version lives here and nowhere else: the build reads these three lines. */
#define PN_VERSION_MAJOR 0
#define PN_VERSION_MINOR 1
#define PN_VERSION_PATCH 0

#if defined(PINCH_SHARED) && (defined(__GNUC__) || defined(__clang__))
#define PN_API __attribute__((visibility("default")))
#else
#define PN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- plain types */

/* A point or a direction. Arrays of vertices are `const float *`, three floats a vertex, tightly packed. */
typedef struct pnVec3 {
  float x, y, z;
} pnVec3;

/* A closed box. Empty when min > max in any axis. */
typedef struct pnBox {
  pnVec3 min, max;
} pnBox;

/* An affine map, three rows of four: row i gives coordinate i as m[i][0]*x + m[i][1]*y + m[i][2]*z + m[i][3].
 * The library evaluates it in float, from left to right, without contraction: those bits *are* the vertex. */
typedef struct pnMatrix {
  float m[3][4];
} pnMatrix;

/* The map that moves nothing. */
PN_API pnMatrix pnMatrix_Identity(void);

/* ---------------------------------------------------------------- floating point */

/* What a thread's floating-point environment was. */
typedef struct pnFloatMode {
  uint64_t control;
  bool changed;
} pnFloatMode;

/* The environment that the library computes in, for callers who want to compute in the same, and back to what it was. Cheap
 * where nothing has to be changed. */
PN_API pnFloatMode pnEnterFloat(void);
PN_API void pnLeaveFloat(pnFloatMode mode);

/* ---------------------------------------------------------------- results */

/* Every result and its text in one list: X(name, text). */
#define PN_RESULTS(X)                                                                   \
  X(PN_OK, "ok")                                                                        \
  X(PN_ERROR_MEMORY, "out of memory")                                                   \
  X(PN_ERROR_ARGUMENT, "an argument is out of its range")                               \
  X(PN_ERROR_COUNT, "a count does not fit the object")                                  \
  X(PN_ERROR_INDEX, "an index is out of range")                                         \
  X(PN_ERROR_NUMBER, "a number is NaN or infinite")                                     \
  X(PN_ERROR_TRANSFORM, "the transform is not rigid")                                   \
  X(PN_ERROR_ID, "the id is null or its object was destroyed")                          \
  X(PN_ERROR_KIND, "the object is of another kind than this call needs")                \
  X(PN_ERROR_OPEN_MESH, "the mesh is not closed")                                       \
  X(PN_ERROR_ORIENTATION, "the mesh is not consistently oriented")                      \
  X(PN_ERROR_FILE, "the file cannot be opened, read or written")                        \
  X(PN_ERROR_FORMAT, "the file does not follow its format")                             \
  X(PN_ERROR_UNSUPPORTED, "the file or machine asks for something pinch does not have") \
  X(PN_ERROR_DEVICE, "the device failed or was lost")

/* What a call answers: PN_OK or what went wrong, as the list above has it. */
typedef enum pnResult {
#define PN_RESULT_NAME(name, text) name,
  PN_RESULTS(PN_RESULT_NAME)
#undef PN_RESULT_NAME
      PN_RESULT_COUNT
} pnResult;

/* The one-line text of a result. Never null. */
PN_API const char *pnResult_Text(pnResult result);

/* What exactly went wrong in the last call *of this thread* that did not return PN_OK: which body, vertex,
 * line, and what to do. Empty when nothing has failed yet. Valid until the next failure in this thread. */
PN_API const char *pnGetMessage(void);

#if defined(__GNUC__) || defined(__clang__)
#define PN_FORMAT(f, a) __attribute__((format(printf, f, a)))
#else
#define PN_FORMAT(f, a)
#endif

/* For readers, tools and bindings built on these doors: remember why *their* call fails and hand the result through,
 *   return pnFail(PN_ERROR_FORMAT, "%s:%u: expected a number", path, line);
 * pnGetMessage() then answers this text (in this thread, cut at 1023 bytes). */
PN_API pnResult pnFail(pnResult result, const char *format, ...) PN_FORMAT(2, 3);

/* "0.1.0" */
PN_API const char *pnGetVersion(void);

/* ---------------------------------------------------------------- definitions */

/* What is to be created is described by a definition, pnXDef, and pnDefaultXDef() fills one: start from it and set what you want.
 * It carries this number, and a definition without it (zeroed, or filled field by field) is refused with PN_ERROR_ARGUMENT and
 * a message, because a zero is not always the default: a body of category 0 would silently meet nothing. Definitions whose
 * default is all zero (a query, a frame, a pose) need none, and say so. */
#define PN_COOKIE 0x70696e63u

/* ---------------------------------------------------------------- hooks */

/* What the library has to say beside results: the level, and the line of text without its end. */
typedef enum pnLogLevel { PN_LOG_INFO, PN_LOG_WARNING, PN_LOG_ERROR } pnLogLevel;
typedef void pnLogFcn(void *user, pnLogLevel level, const char *text);
/* Return true to stop in the debugger (abort), false to go on. */
typedef bool pnAssertFcn(void *user, const char *condition, const char *file, int line);

/* Hooks are global and not locked: set them before the first other call. Null restores the default
 * (log: warnings and errors to stderr; assert: print and abort). */
PN_API void pnSetLogFcn(pnLogFcn *fcn, void *user);
PN_API void pnSetAssertFcn(pnAssertFcn *fcn, void *user);
/* A line for the log hook, for the same builders as pnFail. */
PN_API void pnLog(pnLogLevel level, const char *format, ...) PN_FORMAT(2, 3);

/* Allocation hooks: `align` is a power of two, at most 64. Returning null is allowed at any time: the call in
 * progress answers PN_ERROR_MEMORY, leaks nothing and leaves its objects as they were.
 * Set both or neither, and only while pinch holds no memory (pnGetByteCount() == 0). */
typedef void *pnAllocFcn(void *user, size_t size, size_t align);
typedef void pnFreeFcn(void *user, void *memory, size_t size);
PN_API pnResult pnSetAllocator(pnAllocFcn *alloc, pnFreeFcn *free, void *user);

/* Memory from those hooks, 64-byte aligned (smaller blocks: 32 or 16) and counted, for the same builders. Null when there is
 * none, or when size is 0. The size given back must be the size asked for. */
PN_API void *pnAlloc(size_t size);
PN_API void pnFree(void *memory, size_t size); /* null is allowed */

/* Bytes pinch holds now, over all objects. */
PN_API size_t pnGetByteCount(void);

/* ---------------------------------------------------------------- tasks */

/* At most this many workers take part in one call. */
#define PN_MAX_WORKERS 64

/* Work on the items [begin, end) as worker `worker` (0 ... workerCount - 1). */
typedef void pnTaskFcn(void *context, uint32_t begin, uint32_t end, uint32_t worker);

/* A way to run a loop on several threads: the built-in pool (below) or the caller's own job system.
 * parallelFor must run `task` over [0, count) in ranges of about `grain` items and return when all are done;
 * two ranges running at the same time must have different worker numbers below workerCount.
 * A zeroed pnTasks means: run everything on the calling thread. */
typedef struct pnTasks {
  uint32_t workerCount;
  void (*parallelFor)(void *user, pnTaskFcn *task, void *context, uint32_t count, uint32_t grain);
  void *user;
} pnTasks;

typedef struct pnPool pnPool;

/* A pool of `workerCount` workers, the calling thread among them; 0 = one for each core, at most PN_MAX_WORKERS.
 * Errors: PN_ERROR_ARGUMENT for more than that, PN_ERROR_MEMORY when the system does not give the threads. */
PN_API pnResult pnCreatePool(uint32_t workerCount, pnPool **outPool);
/* The pool as tasks, to put into a definition. Valid until the pool is destroyed. Any thread may run a loop on it; a
 * loop started while another one runs (also from inside a task) runs on its own thread. */
PN_API pnTasks pnPool_GetTasks(pnPool *pool);
PN_API void pnDestroyPool(pnPool *pool); /* null is allowed; no loop may be running */

/* Seconds on a clock that never goes back. */
PN_API double pnGetTime(void);

#ifdef __cplusplus
}
#endif

#endif
