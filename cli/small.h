/* small.h: the tool's memory for small blocks. */
#ifndef PN_CLI_SMALL_H
#define PN_CLI_SMALL_H

/* Lets pinch take its small blocks from slabs; to be called before anything else of it. */
void pn_useSmallBlocks(void);

#endif
