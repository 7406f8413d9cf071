/* scan_range.c: which animation, which bodies, and which frames at what times.
 *
 * There is one row of frames for all sources. Frame f is at f / fps seconds, so frame numbers are those of the program
 * the file came from: in a clip that was exported from frame 1 on, frame 1 is frame 1. A cache of numbered files or PC2
 * has numbers of its own; between its frames, before the first and after the last, the nearest one before stays. */
#include "args.h"
#include "scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More frames than this are a mistake in the file or in --fps: a day at 60 a second has half as many. */
#define PN_MAX_FRAMES 10000000
/* Key times are floats, good to 6e-8 of themselves: after an hour at 60 frames a second that is 0.013 of a frame. */
#define PN_FRAME_SLACK 0.02

/* ---------------------------------------------------------------- clips */

/* "walk, idle" into text, as far as it fits. */
static void listClips(const pnAnimFile *file, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (uint32_t c = 0; c < file->clipCount && used < size; ++c) {
    const char *name = file->clips[c].name;
    used += (size_t)snprintf(text + used, size - used, "%s%s", c > 0 ? ", " : "", name[0] ? name : "(without a name)");
  }
}

/* The clip of that name, else of that number. */
static uint32_t findClip(const pnAnimFile *file, const char *word) {
  for (uint32_t c = 0; c < file->clipCount; ++c) {
    if (strcmp(file->clips[c].name, word) == 0) return c;
  }
  char *end;
  unsigned long number = strtoul(word, &end, 10);
  return word[0] >= '0' && word[0] <= '9' && *end == 0 && number < file->clipCount ? (uint32_t)number : PN_NONE;
}

static pnResult failClip(const pnScan *scan) {
  for (uint32_t s = 0; s < scan->sourceCount; ++s) {
    const pnAnimFile *file = scan->sources[s].file;
    if (!file || file->clipCount == 0) continue;
    char names[700];
    listClips(file, names, sizeof(names));
    return pnFail(PN_ERROR_ARGUMENT, "--animation: there is no '%s' in %s; it has: %s (or a number from 0 to %u)",
                  scan->options->animation, scan->sources[s].word, names, file->clipCount - 1);
  }
  return pnFail(PN_ERROR_ARGUMENT, "--animation: no file here has an animation to choose");
}

pnResult pn_scanChooseClips(pnScan *scan) {
  bool found = !scan->options->animation;
  for (uint32_t s = 0; s < scan->sourceCount; ++s) {
    pnScanSource *source = &scan->sources[s];
    if (!source->file || source->file->clipCount == 0) continue;
    // The first clip, unless another one is called so.
    source->clip = 0;
    uint32_t clip = scan->options->animation ? findClip(source->file, scan->options->animation) : PN_NONE;
    if (clip == PN_NONE) continue;
    source->clip = clip;
    found = true;
  }
  return found ? PN_OK : failClip(scan);
}

/* ---------------------------------------------------------------- bodies */

/* The body called so, else of that number; PN_NONE when there is none, or (with *twice) more than one. */
static uint32_t findBody(const pnScan *scan, const char *word, size_t length, bool *twice) {
  uint32_t found = PN_NONE;
  for (uint32_t b = 0; b < scan->bodyCount; ++b) {
    if (strlen(scan->bodies[b].name) != length || memcmp(scan->bodies[b].name, word, length) != 0) continue;
    if (found != PN_NONE) *twice = true;
    found = b;
  }
  if (found != PN_NONE) return *twice ? PN_NONE : found;
  char *end;
  unsigned long number = strtoul(word, &end, 10);
  bool isNumber = length > 0 && word[0] >= '0' && word[0] <= '9' && end == word + length;
  return isNumber && number < scan->bodyCount ? (uint32_t)number : PN_NONE;
}

static pnResult failBodies(const pnScan *scan, bool twice) {
  char names[700];
  size_t used = 0;
  names[0] = 0;
  for (uint32_t b = 0; b < scan->bodyCount && used < sizeof(names); ++b)
    used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%u %s", b > 0 ? ", " : "", b, scan->bodies[b].name);
  return pnFail(PN_ERROR_ARGUMENT, "--pairs-only: %s '%s'; the bodies are: %s",
                twice ? "several bodies have a name of" : "expected two bodies A,B by name or number, found",
                scan->options->pairsOnly, names);
}

/* Names may have commas in them: every comma is tried as the one in the middle. */
static pnResult choosePair(pnScan *scan, const char *word) {
  bool twice = false;
  uint32_t a = PN_NONE, b = PN_NONE;
  for (const char *comma = strchr(word, ','); comma && (a == PN_NONE || b == PN_NONE); comma = strchr(comma + 1, ',')) {
    a = findBody(scan, word, (size_t)(comma - word), &twice);
    b = findBody(scan, comma + 1, strlen(comma + 1), &twice);
  }
  if (a == PN_NONE || b == PN_NONE) return failBodies(scan, twice);
  for (uint32_t i = 0; i < scan->bodyCount; ++i) {
    scan->bodies[i].wanted = i == a || i == b;
    scan->bodies[i].self = a == b && i == a;
  }
  return PN_OK;
}

pnResult pn_scanChooseBodies(pnScan *scan) {
  // A single body can only be asked about itself.
  for (uint32_t b = 0; b < scan->bodyCount; ++b) scan->bodies[b].self = scan->options->self || scan->bodyCount == 1;
  return scan->options->pairsOnly ? choosePair(scan, scan->options->pairsOnly) : PN_OK;
}

/* ---------------------------------------------------------------- frames a second */

/* Do all keys of the clip stand on frames at this rate? */
static bool keysFit(const pnAnimClip *clip, double fps) {
  for (uint32_t c = 0; c < clip->channelCount; ++c) {
    const pnAnimChannel *channel = &clip->channels[c];
    for (uint32_t k = 0; k < channel->keyCount; ++k) {
      double frame = channel->times[k] * fps;
      if (fabs(frame - round(frame)) > PN_FRAME_SLACK) return false;
    }
  }
  return true;
}

/* As asked; else the rate of a cache that knows it (MDD), else one at which the keys stand, else 30. */
static double chooseRate(const pnScan *scan) {
  if (scan->options->fps > 0) return scan->options->fps;
  static const double usual[] = {30, 24, 25, 60, 50, 120};
  for (uint32_t s = 0; s < scan->sourceCount; ++s) {
    const pnScanSource *source = &scan->sources[s];
    if (source->cache && pnCache_GetInfo(source->cache).kind == PN_CACHE_MDD &&
        pnCache_GetInfo(source->cache).frameCount > 1) {
      double step = pnCache_GetTime(source->cache, 1) - pnCache_GetTime(source->cache, 0);
      // The step is a float: a rate that near to a whole number is that number.
      double rate = step > 1e-4 && step < 1e4 ? 1 / step : 30;
      return fabs(rate - round(rate)) < 1e-3 && rate > 0.5 ? round(rate) : rate;
    }
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]) && source->clip != PN_NONE; ++i) {
      if (keysFit(&source->file->clips[source->clip], usual[i])) return usual[i];
    }
  }
  return 30;
}

/* ---------------------------------------------------------------- frames */

/* Widens [*first, *last] by what a source has to show; false when it does not move. */
static bool widen(const pnScanSource *source, double fps, double *first, double *last) {
  double begin, end;
  if (source->clip != PN_NONE) {
    const pnAnimClip *clip = &source->file->clips[source->clip];
    begin = floor(clip->startTime * fps + PN_FRAME_SLACK);
    end = ceil(clip->endTime * fps - PN_FRAME_SLACK);
  } else if (source->cache) {
    pnCacheInfo info = pnCache_GetInfo(source->cache);
    begin = source->cacheByNumber ? floor(pnCache_GetTime(source->cache, 0) + PN_FRAME_SLACK) : 0;
    end = source->cacheByNumber ? ceil(pnCache_GetTime(source->cache, info.frameCount - 1) - PN_FRAME_SLACK)
                                : (double)info.frameCount - 1;
  } else {
    return false;
  }
  *first = fmin(*first, begin);
  *last = fmax(*last, end);
  return true;
}

/* Numbered files that lie two or more frames apart are looked at where they are, when nothing else moves. */
static int64_t naturalStep(const pnScan *scan) {
  double least = INFINITY;
  for (uint32_t s = 0; s < scan->sourceCount; ++s) {
    const pnScanSource *source = &scan->sources[s];
    if (source->clip != PN_NONE || (source->cache && !source->cacheByNumber)) return 1;
    for (uint32_t k = 1; source->cache && k < pnCache_GetInfo(source->cache).frameCount; ++k)
      least = fmin(least, pnCache_GetTime(source->cache, k) - pnCache_GetTime(source->cache, k - 1));
  }
  return least >= 2 && least < PN_MAX_FRAMES ? (int64_t)(least + PN_FRAME_SLACK) : 1;
}

/* One part of A:B:STEP; an empty one leaves *out. Moves *text behind it and its colon. */
static bool parsePart(const char **text, int64_t *out) {
  char *end;
  if (**text != ':' && **text != 0) {
    errno = 0;
    long long value = strtoll(*text, &end, 10);
    if (end == *text || errno != 0 || (*end != ':' && *end != 0) || value < -INT32_MAX || value > INT32_MAX)
      return false;
    *out = value;
    *text = end;
  }
  if (**text == ':') ++*text;
  return true;
}

/* "A:B:STEP" with any part left out, or "A" alone. */
static pnResult parseFrames(const char *word, pnScanRange *range) {
  const char *at = word;
  bool alone = !strchr(word, ':');
  int64_t natural = range->step;
  bool good = parsePart(&at, &range->first);
  if (alone) range->last = range->first;
  good = good && (alone || parsePart(&at, &range->last)) && (alone || parsePart(&at, &range->step)) && *at == 0;
  if (!good || range->step < 1) {
    range->step = natural;
    return pnFail(PN_ERROR_ARGUMENT,
                  "--frames: expected A:B:STEP as in 10:250:2, each part may be left out; found '%s'", word);
  }
  return PN_OK;
}

pnResult pn_scanChooseRange(pnScan *scan) {
  pnScanRange *range = &scan->range;
  range->fps = chooseRate(scan);
  double first = INFINITY, last = -INFINITY;
  for (uint32_t s = 0; s < scan->sourceCount; ++s) widen(&scan->sources[s], range->fps, &first, &last);
  // Nothing moves: the one frame there is.
  if (!(first <= last)) first = last = 0;
  if (!(fabs(first) < INT32_MAX && fabs(last) < INT32_MAX))
    return pnFail(PN_ERROR_COUNT,
                  "the animation lasts from frame %g to %g at %g frames a second; is the file right, or "
                  "--fps?",
                  first, last, range->fps);
  *range = (pnScanRange){(int64_t)first, (int64_t)last, naturalStep(scan), 0, range->fps};
  if (scan->options->frames) {
    pnResult result = parseFrames(scan->options->frames, range);
    if (result != PN_OK) return result;
    // Frames that are not there are left out; none at all is a mistake.
    if (range->first > range->last || range->first > (int64_t)last || range->last < (int64_t)first)
      return pnFail(PN_ERROR_ARGUMENT, "--frames: there is none in '%s'; the animation has frames %.0f to %.0f",
                    scan->options->frames, first, last);
    if (range->last > (int64_t)last) range->last = (int64_t)last;
    int64_t before = (int64_t)first - range->first;
    if (before > 0) range->first += (before + range->step - 1) / range->step * range->step;
    if (range->first > range->last)
      return pnFail(PN_ERROR_ARGUMENT, "--frames: '%s' steps over all frames from %.0f to %.0f", scan->options->frames,
                    first, last);
  }
  int64_t count = (range->last - range->first) / range->step + 1;
  if (count > PN_MAX_FRAMES)
    return pnFail(PN_ERROR_COUNT,
                  "that is %lld frames, from %lld to %lld; choose some with --frames A:B:STEP, or a lower "
                  "--fps",
                  (long long)count, (long long)range->first, (long long)range->last);
  range->count = (uint32_t)count;
  range->last = range->first + (count - 1) * range->step;
  return PN_OK;
}
