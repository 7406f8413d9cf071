/* choose.h: which two bodies are asked about: --only A,B and --ignore A,B, each as often as wanted.
 *
 * A and B are names, numbers or patterns (* any letters, ? one, [ab] one of these); A alone means A with everything. With
 * rules of --only a pair must be in one of them; a pair in a rule of --ignore is left out in any case. */
#ifndef PN_CLI_CHOOSE_H
#define PN_CLI_CHOOSE_H

#include "args.h"

#include "pinch/collide.h"

/* One rule: bodies of one side against bodies of the other. */
typedef struct pnRule {
  bool *sides[2]; /* for each body: is it on this side? */
  bool exact;     /* no pattern: A,A then means A with itself */
} pnRule;

/* Bodies that no rule tells apart are one class: whoever is asked about one of them is asked about all of them. Tens of thousands
 * of bodies are a handful of classes, and a question about two bodies is one about their classes. */
typedef struct pnClasses {
  uint32_t count;
  uint32_t *of;             /* the class of each body */
  uint32_t *starts, *items; /* the bodies of each class, ascending: items[starts[c]] to items[starts[c + 1]] */
  bool *wanted;             /* can a body of this class be in any pair? */
  /* For each wanted class those wanted classes that it is not asked about, in the same way. */
  size_t *refusedStarts;
  uint32_t *refused;
  uint64_t steps; /* pairs of classes decided and bodies gone through, for tests */
} pnClasses;

typedef struct pnChoice {
  uint32_t bodyCount;
  pnRule *rules; /* those of --only first */
  uint32_t onlyCount, ruleCount;
  pnClasses classes;
} pnChoice;

/* Words of the two options against the names of bodies. A name or number that no body has, and an --only that chooses
 * nothing, is an error whose message says so; the caller lists the bodies. */
pnResult pn_makeChoice(const pnWords *only, const pnWords *ignored, const char *const *names, uint32_t bodyCount,
                       pnChoice *outChoice);
void pn_freeChoice(pnChoice *choice); /* a zeroed one is allowed */

/* Are these two bodies (a == b: one with itself) asked about? */
bool pn_choiceAllows(const pnChoice *choice, uint32_t a, uint32_t b);
/* Does a rule of --only name this body with itself? Then it is asked without --self. */
bool pn_choiceNamesSelf(const pnChoice *choice, uint32_t body);
/* Can this body be in any pair? */
bool pn_choiceWants(const pnChoice *choice, uint32_t body);
/* How many pairs of different bodies are asked about; and these, in no order. */
uint64_t pn_choiceCountPairs(const pnChoice *choice);
void pn_choiceListPairs(const pnChoice *choice, pnPair *outPairs);
/* Parts of pn_makeChoice: classes of a choice whose rules are made (false: out of memory), and what the rules say of two bodies, one rule
 * after the other. */
bool pn_makeClasses(pnChoice *choice);
void pn_freeClasses(pnClasses *classes);
bool pn_rulesAllow(const pnChoice *choice, uint32_t a, uint32_t b);
/* Bits for a world's filter that leave out what --only leaves out, as far as 32 bits go (16 rules). */
void pn_choiceFilter(const pnChoice *choice, uint32_t body, uint32_t *outCategory, uint32_t *outMask);

#endif
