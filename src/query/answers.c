/* answers.c: see answers.h. */
#include "query/answers.h"

#include <string.h>

pnResult pn_beginAnswers(pnAnswers *answers, uint32_t questions) {
  answers->count = 0;
  answers->spans.count = 0;
  for (uint32_t i = 0; i < PN_MAX_WORKERS; ++i) answers->ofWorker[i].count = 0, answers->failed[i] = false;
  if (!pn_arrayReserve(&answers->spans, questions)) return pn_failMemory(questions * sizeof(pnAnswerSpan));
  answers->spans.count = questions;
  return PN_OK;
}

bool pn_giveAnswers(pnAnswers *answers, uint32_t worker, uint32_t question, const void *given, size_t count) {
  pnBytes *mine = &answers->ofWorker[worker];
  size_t bytes = count * answers->answerBytes;
  answers->spans.data[question] = (pnAnswerSpan){worker, mine->count / answers->answerBytes, count};
  if (!pn_arrayReserve(mine, mine->count + bytes)) {
    answers->failed[worker] = true;
    answers->spans.data[question].count = 0;
    return false;
  }
  if (bytes > 0) memcpy(mine->data + mine->count, given, bytes);
  mine->count += bytes;
  return true;
}

pnResult pn_putTogether(pnAnswers *answers) {
  size_t count = 0, bytes = answers->answerBytes;
  bool failed = false;
  for (uint32_t i = 0; i < PN_MAX_WORKERS; ++i) failed = failed || answers->failed[i];
  for (size_t i = 0; i < answers->spans.count; ++i) count += answers->spans.data[i].count;
  if (failed || !pn_arrayReserve(&answers->joined, count * bytes)) {
    pn_dropAnswers(answers);
    return pn_failMemory(count * bytes);
  }
  for (size_t i = 0; i < answers->spans.count; ++i) {
    pnAnswerSpan *span = &answers->spans.data[i];
    const char *from = answers->ofWorker[span->worker].data;
    if (span->count > 0)
      memcpy(answers->joined.data + answers->count * bytes, from + span->begin * bytes, span->count * bytes);
    span->begin = answers->count;
    answers->count += span->count;
  }
  return PN_OK;
}

const void *pn_answersTo(const pnAnswers *answers, uint32_t question, uint32_t *outCount) {
  const pnAnswerSpan *span = question < answers->spans.count ? &answers->spans.data[question] : NULL;
  *outCount = span ? (uint32_t)span->count : 0;
  return *outCount > 0 ? answers->joined.data + span->begin * answers->answerBytes : NULL;
}

void pn_dropAnswers(pnAnswers *answers) {
  answers->spans.count = answers->count = 0;
}

void pn_freeAnswers(pnAnswers *answers) {
  pn_arrayFree(&answers->spans);
  pn_arrayFree(&answers->joined);
  for (uint32_t i = 0; i < PN_MAX_WORKERS; ++i) pn_arrayFree(&answers->ofWorker[i]);
}
