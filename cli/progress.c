/* progress.c: a sign of life on the terminal while work takes long.
 *
 * A timer signal writes the line, so that it also moves while the library is busy in one long call. The handler touches
 * only lock-free atomics and calls only write(), as a signal handler must. */
#include "out.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define PN_BAR 24
/* From so many steps on their rate says something. */
#define PN_RATED_STEPS 10

static _Atomic(const char *) currentWhat;
static atomic_uint doneSteps, totalSteps, ticks;
static struct sigaction actionBefore;

/* Writes a whole number as text; returns the place behind it. */
static char *putNumber(char *at, unsigned number) {
  char digits[12];
  int n = 0;
  do digits[n++] = (char)('0' + number % 10);
  while (number /= 10);
  while (n > 0) *at++ = digits[--n];
  return at;
}

static char *putText(char *at, const char *text, size_t most) {
  for (size_t i = 0; text[i] && i < most; ++i) *at++ = text[i];
  return at;
}

/* "120 of 1800, 34 a second, 49 s left": whole numbers, so that a handler may do it. */
static char *putRate(char *at, unsigned done, unsigned total, unsigned tick) {
  at = putNumber(at, done);
  at = putText(at, " of ", 4);
  at = putNumber(at, total);
  // The first tick is a second after the beginning, then four a second.
  unsigned long long quarters = 4ull + tick, perTenSeconds = 40ull * done / quarters;
  if (done == 0 || done >= total) return at;
  at = putText(at, ", ", 2);
  at = putNumber(at, (unsigned)(perTenSeconds / 10));
  // Below ten a second the tenth is of interest.
  if (perTenSeconds < 100) *at++ = '.', at = putNumber(at, (unsigned)(perTenSeconds % 10));
  at = putText(at, " a second, ", 11);
  at = putNumber(at, (unsigned)(quarters * (total - done) / done / 4));
  return putText(at, " s left,", 8);
}

/* "\r[#####.....] what 12 s"; four ticks a second, the first after a second. */
static void onTick(int number) {
  (void)number;
  const char *what = atomic_load(&currentWhat);
  if (!what) return;
  unsigned tick = atomic_fetch_add(&ticks, 1), done = atomic_load(&doneSteps), total = atomic_load(&totalSteps);
  char line[240], *at = putText(line, "\r\033[K", 8);
  if (total > 0) {
    unsigned full = done >= total ? PN_BAR : (unsigned)((unsigned long long)done * PN_BAR / total);
    *at++ = '[';
    for (unsigned i = 0; i < PN_BAR; ++i) *at++ = i < full ? '#' : '.';
    at = putText(at, "] ", 2);
  }
  at = putText(at, what, 60);
  *at++ = ' ';
  if (total >= PN_RATED_STEPS) at = putRate(at, done, total, tick), *at++ = ' ';
  at = putNumber(at, 1 + tick / 4);
  at = putText(at, " s", 2);
  ssize_t written = write(STDERR_FILENO, line, (size_t)(at - line));
  (void)written;
}

void pn_beginProgress(const char *what) {
  if (!isatty(STDERR_FILENO)) return;
  atomic_store(&ticks, 0);
  atomic_store(&doneSteps, 0);
  atomic_store(&totalSteps, 0);
  atomic_store(&currentWhat, what);
  struct sigaction action = {.sa_handler = onTick, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, &actionBefore);
  struct itimerval timer = {.it_interval = {0, 250000}, .it_value = {1, 0}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

void pn_stepProgress(uint32_t done, uint32_t total) {
  atomic_store(&doneSteps, done);
  atomic_store(&totalSteps, total);
}

void pn_renameProgress(const char *what) {
  if (!atomic_load(&currentWhat)) return;
  atomic_store(&totalSteps, 0);
  atomic_store(&currentWhat, what);
}

void pn_endProgress(void) {
  if (!atomic_load(&currentWhat)) return;
  struct itimerval timer = {0};
  setitimer(ITIMER_REAL, &timer, NULL);
  atomic_store(&currentWhat, NULL);
  sigaction(SIGALRM, &actionBefore, NULL);
  if (atomic_load(&ticks) > 0) {
    ssize_t written = write(STDERR_FILENO, "\r\033[K", 4);
    (void)written;
  }
}
