/* answers.h: answers of which nobody knows how many there are, from many workers, in the order of the questions.
 *
 * Each worker writes behind what it has, and notes for each question where its answers stand; at the end they are put together. */
#ifndef PN_QUERY_ANSWERS_H
#define PN_QUERY_ANSWERS_H

#include "base/array.h"
#include "base/task.h"

typedef PN_ARRAY(char) pnBytes;

/* Of a question. */
typedef struct pnAnswerSpan {
  uint32_t worker;
  size_t begin, count; /* in answers: of the worker's, and after pn_putTogether of all */
} pnAnswerSpan;

typedef struct pnAnswers { /* a zeroed one with answerBytes is valid */
  size_t answerBytes;
  PN_ARRAY(pnAnswerSpan) spans; /* one a question */
  pnBytes joined;               /* in order */
  size_t count;
  pnBytes ofWorker[PN_MAX_WORKERS];
  bool failed[PN_MAX_WORKERS];
} pnAnswers;

/* Empty, with room for so many questions. */
pnResult pn_beginAnswers(pnAnswers *answers, uint32_t questions);
/* The answers to a question, in order. False: out of memory, noted. */
bool pn_giveAnswers(pnAnswers *answers, uint32_t worker, uint32_t question, const void *given, size_t count);
/* On an error there are none. */
pnResult pn_putTogether(pnAnswers *answers);
/* Those to a question, and how many; null where there are none, or no such question. */
const void *pn_answersTo(const pnAnswers *answers, uint32_t question, uint32_t *outCount);
/* There are none. */
void pn_dropAnswers(pnAnswers *answers);
void pn_freeAnswers(pnAnswers *answers);

#endif
