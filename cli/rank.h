/* rank.h: the processes that share a scan: started by mpirun or srun, numbered from 0 on. Rank 0 deals out and writes; alone it does
 * everything. rank_mpi.c is this over MPI; rank_none.c is a build without it, where everybody is alone. */
#ifndef PN_CLI_RANK_H
#define PN_CLI_RANK_H

#include "bytes.h"

/* Sets out to join the others, when something that starts several processes has started this one. That takes a while, during which this one
 * goes on; whoever asks for a number below waits. */
void pn_ranksBegin(void);
/* The others are there, if there are any. PN_ERROR_UNSUPPORTED says why they cannot be joined: then nothing may be done, for each would do all of it. */
pnResult pn_ranksMeet(void);
/* whole: all ranks are still there, and take their leave of one another. Else rank 0, whose work is done, ends them all with its status, so
 * that whoever started them does not wait for those that are gone; the others just go. */
void pn_ranksEnd(bool whole, int status);

uint32_t pn_rankCount(void); /* 1: alone */
uint32_t pn_rankNumber(void);
uint32_t pn_rankNeighbours(void); /* ranks on this machine, with this one */
bool pn_rankZeroIsGone(
    void); /* it was on this machine and is no more; false: it is there, or cannot be seen from here */

/* Sends bytes with a kind of the caller's; they are copied and go while work goes on. */
pnResult pn_rankSend(uint32_t to, int kind, const void *bytes, size_t byteCount);
/* A message, if one is there; messages of one rank come in their order. */
pnResult pn_rankReceive(bool *outThere, uint32_t *outFrom, int *outKind, pnBytes *outBytes);

#endif
