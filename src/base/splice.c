/* splice.c: see splice.h. */
#include "base/splice.h"

#include <string.h>

ptrdiff_t pn_gainOf(const pnSplice *splices, size_t spliceCount) {
  ptrdiff_t gain = 0;
  for (size_t k = 0; k < spliceCount; ++k) gain += (ptrdiff_t)splices[k].added - (ptrdiff_t)splices[k].dropped;
  return gain;
}

/* What stands behind splice k - 1 and before splice k moves by so many elements. */
static void moveRun(char *list, size_t count, size_t bytes, const pnSplice *splices, size_t spliceCount, size_t k,
                    ptrdiff_t gain) {
  size_t begin = k > 0 ? splices[k - 1].at + splices[k - 1].dropped : 0, end = k < spliceCount ? splices[k].at : count;
  if (end > begin)
    memmove(list + (size_t)((ptrdiff_t)begin + gain) * bytes, list + begin * bytes, (end - begin) * bytes);
}

/* Runs keep their order. One that moves up is moved after all behind it that move up, and those behind it that move down or stay are not where
 * it goes: it ends before they begin. Likewise one that moves down is moved after those before it. So none is written over before it has moved. */
void pn_splice(void *list, size_t count, size_t bytes, const void *from, const pnSplice *splices, size_t spliceCount) {
  char *to = list;
  ptrdiff_t gain = pn_gainOf(splices, spliceCount);
  for (size_t k = spliceCount; k > 0; --k) {
    if (gain > 0) moveRun(to, count, bytes, splices, spliceCount, k, gain);
    gain -= pn_gainOf(&splices[k - 1], 1);
  }
  for (size_t k = 1; k <= spliceCount; ++k) {
    gain += pn_gainOf(&splices[k - 1], 1);
    if (gain < 0) moveRun(to, count, bytes, splices, spliceCount, k, gain);
  }
  gain = 0;
  for (size_t k = 0; k < spliceCount; ++k) {
    const pnSplice *s = &splices[k];
    if (s->added > 0)
      memcpy(to + (size_t)((ptrdiff_t)s->at + gain) * bytes, (const char *)from + s->first * bytes, s->added * bytes);
    gain += pn_gainOf(s, 1);
  }
}
