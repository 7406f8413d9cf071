/* agree.h: inputs for the agreement tests, and the truth about them. The truth is every pair of triangles by whole numbers of
 * any length (oracle.h), for pairs whose boxes touch; no code of the library's search takes part. */
#ifndef PN_TEST_AGREE_H
#define PN_TEST_AGREE_H

#include "support.h"

#include "pinch/collide.h"

/* A mesh and the positions of its vertices (3 floats each and one to spare). */
typedef struct AgreeBody {
  pnMesh *mesh;
  float *positions;
} AgreeBody;

/* Two bodies; self queries ask about the first. */
typedef struct AgreeCase {
  const char *name;
  AgreeBody body[2];
} AgreeCase;

#define AGREE_CASES 13u
/* Makes case `index`; free with agreeFree. */
AgreeCase agreeMake(uint32_t index);
void agreeFree(AgreeCase *c);

/* The pairs that meet, sorted; the caller frees `pairs` with free(). */
typedef struct AgreePairs {
  pnPair *pairs;
  size_t count;
} AgreePairs;
AgreePairs agreeTruth(const AgreeBody *a, const AgreeBody *b); /* b null: self */

bool agreeEqual(const AgreePairs *truth, const pnPairList *found);

#endif
