/* check_swept.h: `pinch check A... --to A2...`: what meets between two states of the same bodies. */
#ifndef PN_CLI_CHECK_SWEPT_H
#define PN_CLI_CHECK_SWEPT_H

#include "args.h"

typedef struct pnSweptOptions {
  bool self, json, noWeld, first;
  const char *impacts; /* a table to write, or null */
  uint32_t threads;
  uint32_t maxImpacts; /* of two bodies; 0: no limit */
} pnSweptOptions;

/* Files as they are at t = 0 and at t = 1, one for one. Answers the exit status. */
int pn_checkSwept(int count, char **from, const pnWords *to, const pnSweptOptions *options);

#endif
