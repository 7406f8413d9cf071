/* scan_ranks.c: the frames of a scan, or the files of a list, dealt out to ranks, and their blocks back in order.
 *
 * Frames are dealt in *portions*, some neighbours each, so that what is a little elsewhere in the next frame is found quickly. Every
 * rank has two: one that it works on and one that waits, so that nobody waits for rank 0, which works as well and looks for
 * messages between its frames. Whoever is quick gets more. Only so many frames are dealt beyond the one that is taken next (the
 * window): the memory for blocks that wait is bounded.
 *
 * When nothing is left to be dealt and the frame that is taken next does not come, rank 0 looks at it itself. So a rank that is slow
 * or gone keeps nobody waiting, where MPI lets the others live.
 *
 *   rank 0 -> others   WORK   places from, to; the number of the first
 *                      STOP
 *                      LEAVE  after all goodbyes: 1 when nobody is missing
 *   others -> rank 0   BLOCK  place, result, 1 for the last of its portion; the block or the message
 *                      FAIL   why this rank cannot work
 *                      BYE    the last word, after STOP */
#include "rank.h"
#include "scan_deal.h"

#include "out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORK = 1, STOP, LEAVE, BLOCK, FAIL, BYE };

/* Who does not say goodbye is gone: after so many times what the longest block took here, which others make as well, and a little for messages; at
 * most so many seconds. Nothing of what is written depends on it. */
#define FAREWELL_BLOCKS 20
#define FAREWELL_LEAST 2.0
#define FAREWELL_MOST 30.0
static double longestBlock = FAREWELL_MOST; /* not known: this rank has made none */

/* The block of a frame that waits to be taken. */
typedef struct Waiting {
  uint8_t *bytes;
  size_t byteCount;
  pnResult result; /* not PN_OK: the bytes are the message */
  bool there;
} Waiting;

typedef struct Worker {
  uint32_t portions; /* that it has and has not answered to the end */
  bool gone;         /* it said that it cannot work, or took its leave */
} Worker;

struct pnRanks {
  pnRankWork work;
  uint32_t first;   /* the first place that is dealt: those before were known */
  uint32_t end;     /* behind the last */
  uint32_t taken;   /* the place that is taken next */
  uint32_t dealt;   /* places below have been dealt */
  uint32_t portion; /* frames in one */
  uint32_t window;
  Waiting *waiting;       /* of place p at p % window */
  uint32_t ownAt, ownEnd; /* the portion of rank 0 */
  Worker *workers;        /* by rank */
  uint32_t arrived;       /* blocks so far, for the sign of life */
  pnBytes message, block;
};

static void nap(void) {
  nanosleep(&(struct timespec){0, 200000}, NULL);
}

/* ---------------------------------------------------------------- rank 0 */

/* Frames of one portion: few enough that the last ones are shared out, many enough that messages cost nothing. */
static uint32_t portionOf(const pnRankWork *work) {
  uint32_t share = work->numbers ? 1 : (work->end - work->begin) / (16 * pn_rankCount());
  return share < 1 ? 1 : share > work->mostPortion ? work->mostPortion : share;
}

pnResult pn_ranksMake(const pnRankWork *work, pnRanks **outRanks) {
  pnRanks *ranks = calloc(1, sizeof(pnRanks));
  *outRanks = ranks;
  if (!ranks) return pnFail(PN_ERROR_MEMORY, "out of memory for ranks");
  ranks->work = *work;
  ranks->first = ranks->taken = ranks->dealt = work->begin;
  ranks->end = work->end;
  ranks->portion = portionOf(work);
  ranks->window = 4 * ranks->portion * pn_rankCount();
  ranks->waiting = calloc(ranks->window, sizeof(Waiting));
  ranks->workers = calloc(pn_rankCount(), sizeof(Worker));
  bool good = ranks->waiting && ranks->workers;
  return good ? PN_OK : pnFail(PN_ERROR_MEMORY, "out of memory for %u frames that wait", ranks->window);
}

/* The next portion, if there is one and the window has room for it. Towards the end they get smaller, so that all are done at the same time: a
 * rank has two, and an eighth of its share of what is left is little to wait for. */
static bool takePortion(pnRanks *ranks, uint32_t *outBegin, uint32_t *outEnd) {
  if (ranks->dealt >= ranks->end) return false;
  uint32_t begin = ranks->dealt, left = ranks->end - begin;
  uint32_t share = left / (8 * pn_rankCount());
  uint32_t end = begin + (share < 1 ? 1 : share < ranks->portion ? share : ranks->portion);
  if (end - ranks->taken > ranks->window) return false;
  ranks->dealt = end;
  *outBegin = begin;
  *outEnd = end;
  return true;
}

static uint32_t numberOf(const pnRanks *ranks, uint32_t place) {
  return ranks->work.numbers ? ranks->work.numbers[place] : place;
}

static pnResult dealOut(pnRanks *ranks) {
  // One for everybody before a second one for anybody.
  for (uint32_t have = 0; have < 2; ++have) {
    for (uint32_t r = 1; r < pn_rankCount(); ++r) {
      uint32_t places[3];
      if (ranks->workers[r].gone || ranks->workers[r].portions != have) continue;
      if (!takePortion(ranks, &places[0], &places[1])) return PN_OK;
      places[2] = numberOf(ranks, places[0]);
      pnResult result = pn_rankSend(r, WORK, places, sizeof(places));
      if (result != PN_OK) return result;
      ++ranks->workers[r].portions;
    }
  }
  return PN_OK;
}

/* A block has been made, here or elsewhere. The second one of a frame is the same, and not needed. */
static pnResult keepBlock(pnRanks *ranks, uint32_t place, pnResult result, const void *bytes, size_t byteCount) {
  Waiting *waiting = &ranks->waiting[place % ranks->window];
  if (place < ranks->taken || place >= ranks->dealt || waiting->there) return PN_OK;
  waiting->bytes = malloc(byteCount + 1);
  if (!waiting->bytes) return pnFail(PN_ERROR_MEMORY, "out of memory for a frame that waits");
  if (byteCount > 0) memcpy(waiting->bytes, bytes, byteCount);
  waiting->bytes[byteCount] = 0;
  waiting->byteCount = byteCount;
  waiting->result = result;
  waiting->there = true;
  ++ranks->arrived;
  return PN_OK;
}

/* Takes all messages that are there; *outAny when there was one. */
static pnResult readMessages(pnRanks *ranks, bool *outAny) {
  pnResult result = PN_OK;
  *outAny = false;
  while (result == PN_OK) {
    bool there;
    uint32_t from, head[3];
    int kind;
    pnBytes *message = &ranks->message;
    result = pn_rankReceive(&there, &from, &kind, message);
    if (result != PN_OK || !there) break;
    *outAny = true;
    Worker *worker = &ranks->workers[from];
    if (kind == FAIL) {
      worker->gone = true;
      result = pnFail(PN_ERROR_FILE, "rank %u: %.*s", from, (int)message->size, (char *)message->data);
    } else if (kind == BYE) {
      worker->gone = true;
    } else if (kind == BLOCK && message->size >= sizeof(head)) {
      memcpy(head, message->data, sizeof(head));
      if (head[2] == 1 && worker->portions > 0) --worker->portions;
      result = keepBlock(ranks, head[0], (pnResult)head[1], message->data + sizeof(head), message->size - sizeof(head));
    }
  }
  return result;
}

/* Looks at one frame here. */
static pnResult lookHere(pnRanks *ranks, uint32_t place) {
  ranks->block.size = 0;
  double begin = pnGetTime();
  pnResult result = ranks->work.make(ranks->work.context, numberOf(ranks, place), &ranks->block);
  double seconds = pnGetTime() - begin;
  if (seconds > longestBlock || longestBlock == FAREWELL_MOST) longestBlock = seconds;
  const char *message = pnGetMessage();
  return result == PN_OK ? keepBlock(ranks, place, PN_OK, ranks->block.data, ranks->block.size)
                         : keepBlock(ranks, place, result, message, strlen(message));
}

/* Something of rank 0's own to do; false when there is nothing. */
static bool findOwn(pnRanks *ranks) {
  while (ranks->ownAt < ranks->ownEnd &&
         (ranks->ownAt < ranks->taken || ranks->waiting[ranks->ownAt % ranks->window].there))
    ++ranks->ownAt;
  return ranks->ownAt < ranks->ownEnd || takePortion(ranks, &ranks->ownAt, &ranks->ownEnd);
}

pnResult pn_ranksFetch(pnRanks *ranks, uint32_t place, const void **outBytes, size_t *outByteCount) {
  pnResult result = PN_OK;
  double since = pnGetTime(), patience = 0.2;
  if (result == PN_OK && ranks->taken != place) {
    // The memory of the frame before is free.
    Waiting *before = &ranks->waiting[ranks->taken % ranks->window];
    free(before->bytes);
    *before = (Waiting){0};
    ranks->taken = place;
  }
  while (result == PN_OK && !ranks->waiting[place % ranks->window].there) {
    bool any;
    result = readMessages(ranks, &any);
    if (result == PN_OK) result = dealOut(ranks);
    if (result != PN_OK || ranks->waiting[place % ranks->window].there) break;
    pn_stepProgress(ranks->first - ranks->work.start + ranks->arrived, ranks->end - ranks->work.start);
    double now = pnGetTime();
    if (any) since = now;
    if (findOwn(ranks)) {
      result = lookHere(ranks, ranks->ownAt++);
      since = pnGetTime();
    } else if (now - since > patience) {
      result = lookHere(ranks, place);
    } else {
      nap();
    }
  }
  if (result != PN_OK) return result;
  const Waiting *waiting = &ranks->waiting[place % ranks->window];
  *outBytes = waiting->bytes;
  *outByteCount = waiting->byteCount;
  return waiting->result == PN_OK ? PN_OK : pnFail(waiting->result, "%s", (char *)waiting->bytes);
}

/* ---------------------------------------------------------------- the end */

/* Tells everybody to stop, and then whether all have answered. */
static bool stopAll(void) {
  double patience = fmin(FAREWELL_LEAST + FAREWELL_BLOCKS * longestBlock, FAREWELL_MOST);
  double until = pnGetTime() + patience;
  pnBytes message = {0};
  uint32_t left = pn_rankCount() - 1;
  for (uint32_t r = 1; r < pn_rankCount(); ++r) pn_rankSend(r, STOP, NULL, 0);
  while (left > 0 && pnGetTime() < until) {
    bool there;
    uint32_t from;
    int kind;
    if (pn_rankReceive(&there, &from, &kind, &message) != PN_OK) break;
    if (!there) nap();
    else left -= kind == BYE;
  }
  pn_bytesFree(&message);
  uint8_t whole = left == 0;
  for (uint32_t r = 1; r < pn_rankCount(); ++r) pn_rankSend(r, LEAVE, &whole, 1);
  return left == 0;
}

/* Says goodbye and waits for the last word of rank 0; true when nobody is missing. */
static bool waitForLeave(void) {
  double until = pnGetTime() + 2 * FAREWELL_MOST;
  pnBytes message = {0};
  bool whole = false;
  pn_rankSend(0, BYE, NULL, 0);
  for (bool there = false; !there && pnGetTime() < until && !pn_rankZeroIsGone();) {
    uint32_t from;
    int kind;
    if (pn_rankReceive(&there, &from, &kind, &message) != PN_OK) break;
    if (!there) nap();
    there = there && kind == LEAVE;
    whole = there && message.size == 1 && message.data[0] == 1;
  }
  pn_bytesFree(&message);
  return whole;
}

void pn_ranksLeave(int status) {
  bool whole = pn_rankCount() == 1 || (pn_rankNumber() > 0 ? waitForLeave() : stopAll());
  pn_ranksEnd(whole, status);
}

void pn_ranksFree(pnRanks *ranks) {
  if (!ranks) return;
  for (uint32_t i = 0; i < ranks->window && ranks->waiting; ++i) free(ranks->waiting[i].bytes);
  free(ranks->waiting);
  free(ranks->workers);
  pn_bytesFree(&ranks->message);
  pn_bytesFree(&ranks->block);
  free(ranks);
}

/* ---------------------------------------------------------------- the others */

/* Portions that wait, and whether to stop. */
typedef struct Orders {
  uint32_t places[4][3];
  uint32_t count;
  bool stop;
  pnBytes message;
} Orders;

static pnResult readOrders(Orders *orders) {
  pnResult result = PN_OK;
  for (bool there = true; there && result == PN_OK && orders->count < 4;) {
    uint32_t from;
    int kind;
    result = pn_rankReceive(&there, &from, &kind, &orders->message);
    if (result != PN_OK || !there) break;
    if (kind == STOP) orders->stop = true;
    if (kind == WORK && orders->message.size == sizeof(orders->places[0]))
      memcpy(orders->places[orders->count++], orders->message.data, sizeof(orders->places[0]));
  }
  return result;
}

/* Looks at a frame and sends what it has, or why it has nothing. */
static pnResult answer(const pnRankWork *work, uint32_t place, uint32_t number, bool last, pnBytes *bytes) {
  uint32_t head[3] = {place, PN_OK, last};
  bytes->size = 0;
  pn_bytesAdd(bytes, head, sizeof(head));
  pnResult result = work->make(work->context, number, bytes);
  if (result != PN_OK) {
    head[1] = (uint32_t)result;
    bytes->size = 0;
    pn_bytesAdd(bytes, head, sizeof(head));
    pn_bytesText(bytes, pnGetMessage());
  }
  return pn_rankSend(0, BLOCK, bytes->data, bytes->size);
}

bool pn_ranksServe(const pnRankWork *work, pnResult ready) {
  Orders orders = {0};
  pnBytes bytes = {0};
  pnResult result = PN_OK;
  if (ready != PN_OK) result = pn_rankSend(0, FAIL, pnGetMessage(), strlen(pnGetMessage()));
  while (result == PN_OK && !orders.stop) {
    result = readOrders(&orders);
    if (result != PN_OK || orders.stop) break;
    if (orders.count == 0 || ready != PN_OK) {
      // Nobody is left to take what this one makes.
      if (pn_rankZeroIsGone()) break;
      nap();
      continue;
    }
    uint32_t begin = orders.places[0][0], end = orders.places[0][1], number = orders.places[0][2];
    memmove(orders.places[0], orders.places[1], 3 * sizeof(orders.places[0]));
    --orders.count;
    for (uint32_t p = begin; p < end && result == PN_OK && !orders.stop; ++p) {
      result = answer(work, p, number + (p - begin), p + 1 == end, &bytes);
      if (result == PN_OK) result = readOrders(&orders);
    }
  }
  pn_bytesFree(&bytes);
  pn_bytesFree(&orders.message);
  return result == PN_OK && ready == PN_OK && orders.stop;
}
