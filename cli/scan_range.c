/* scan_range.c: which frames of an animation, at what times.
 *
 * There is one row of frames for all sources. Frame f is at f / fps seconds, so frame numbers are those of the program
 * the file came from: in a clip that was exported from frame 1 on, frame 1 is frame 1. A cache of numbered files or PC2
 * has numbers of its own; between its frames, before the first and after the last, the nearest one before stays. */
#include "scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More frames than this are a mistake in the file or in --fps: a day at 60 a second has half as many. */
#define PN_MAX_FRAMES 10000000
/* And so many are looked at only when --frames says so: an hour at 60 a second. A file of a few hundred bytes can have an
 * animation of a day. */
#define PN_MAX_UNASKED 250000
/* Key times are floats, good to 6e-8 of themselves: after an hour at 60 frames a second that is 0.013 of a frame. */
#define PN_FRAME_SLACK 0.02

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

double pn_clipRate(const pnAnimClip *clip) {
  static const double usual[] = {30, 24, 25, 60, 50, 120};
  for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); ++i)
    if (keysFit(clip, usual[i])) return usual[i];
  return 30;
}

/* As asked; else the rate of a cache that knows it (MDD), else one at which the keys stand, else 30. */
static double chooseRate(const pnScan *scan) {
  if (scan->options->fps > 0) return scan->options->fps;
  for (uint32_t s = 0; s < scan->sourceCount; ++s) {
    const pnScanSource *source = &scan->sources[s];
    if (source->cache && pnCache_GetInfo(source->cache).kind == PN_CACHE_MDD &&
        pnCache_GetInfo(source->cache).frameCount > 1) {
      double step = pnCache_GetTime(source->cache, 1) - pnCache_GetTime(source->cache, 0);
      // The step is a float: a rate that near to a whole number is that number.
      double rate = step > 1e-4 && step < 1e4 ? 1 / step : 30;
      return fabs(rate - round(rate)) < 1e-3 && rate > 0.5 ? round(rate) : rate;
    }
    if (source->clip != PN_NONE) return pn_clipRate(&source->file->clips[source->clip]);
  }
  return 30;
}

/* ---------------------------------------------------------------- frames */

void pn_clipFrames(const pnAnimClip *clip, double fps, double *outFirst, double *outLast) {
  *outFirst = floor(clip->startTime * fps + PN_FRAME_SLACK);
  *outLast = ceil(clip->endTime * fps - PN_FRAME_SLACK);
}

/* Widens [*first, *last] by what a source has to show; false when it does not move. */
static bool widen(const pnScanSource *source, double fps, double *first, double *last) {
  double begin, end;
  if (source->clip != PN_NONE) {
    pn_clipFrames(&source->file->clips[source->clip], fps, &begin, &end);
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

/* One part of A:B:STEP; an empty one leaves *out. Moves *text behind it and the one of `ends` that ends it. */
static bool parsePart(const char **text, const char *ends, int64_t *out) {
  char *end;
  if (**text != ':' && **text != 0) {
    errno = 0;
    long long value = strtoll(*text, &end, 10);
    if (end == *text || errno != 0 || !strchr(ends, *end) || value < -INT32_MAX || value > INT32_MAX) return false;
    *out = value;
    *text = end;
  }
  if (**text != 0) ++*text;
  return true;
}

/* "A:B:STEP" with any part left out, "A-B" as tables have it, or "A" alone. */
static pnResult parseFrames(const char *word, pnScanRange *range) {
  const char *at = word;
  bool alone = *word == 0 || (*word != ':' && !strpbrk(word + 1, ":-"));
  int64_t natural = range->step;
  bool good = parsePart(&at, ":-", &range->first);
  if (alone) range->last = range->first;
  good = good && (alone || (parsePart(&at, ":", &range->last) && parsePart(&at, ":", &range->step))) && *at == 0;
  if (!good || range->step < 1) {
    range->step = natural;
    return pnFail(PN_ERROR_ARGUMENT,
                  "--frames: expected A:B:STEP as in 10:250:2, each part may be left out, or A-B; found '%s'", word);
  }
  return PN_OK;
}

/* What --frames leaves of the frames `first` to `last`. */
static pnResult cutRange(const char *word, double first, double last, pnScanRange *range) {
  pnResult result = parseFrames(word, range);
  if (result != PN_OK) return result;
  // Frames that are not there are left out; none at all is a mistake.
  if (range->first > range->last || range->first > (int64_t)last || range->last < (int64_t)first)
    return pnFail(PN_ERROR_COUNT, "--frames: there is none in '%s'; the animation has frames %.0f to %.0f", word, first,
                  last);
  if (range->last > (int64_t)last) range->last = (int64_t)last;
  int64_t before = (int64_t)first - range->first;
  if (before > 0) range->first += (before + range->step - 1) / range->step * range->step;
  if (range->first > range->last)
    return pnFail(PN_ERROR_COUNT, "--frames: '%s' steps over all frames from %.0f to %.0f", word, first, last);
  return PN_OK;
}

/* How many frames a stream has is known when it ends. */
static pnResult chooseStream(const pnScan *scan, const pnScanSource *stream, pnScanRange *range) {
  if (scan->options->frames) return pnFail(PN_ERROR_ARGUMENT, "--frames: whoever writes a stream chooses its frames");
  if (scan->options->between)
    return pnFail(PN_ERROR_ARGUMENT, "--between: a stream does not come back to the frame before");
  double fps = scan->options->fps > 0 ? scan->options->fps : stream->streamFps;
  *range = (pnScanRange){0, PN_MAX_FRAMES - 1, 1, PN_MAX_FRAMES, fps};
  return PN_OK;
}

pnResult pn_scanChooseRange(const pnScan *scan, pnScanRange *range) {
  const pnScanSource *stream = pn_streamOf(scan);
  if (stream) return chooseStream(scan, stream, range);
  double fps = chooseRate(scan), first = INFINITY, last = -INFINITY;
  for (uint32_t s = 0; s < scan->sourceCount; ++s) widen(&scan->sources[s], fps, &first, &last);
  // Nothing moves: the one frame there is.
  if (!(first <= last)) first = last = 0;
  if (!(fabs(first) < INT32_MAX && fabs(last) < INT32_MAX))
    return pnFail(PN_ERROR_NUMBER,
                  "the animation lasts from frame %g to %g at %g frames a second; is the file right, or "
                  "--fps?",
                  first, last, fps);
  *range = (pnScanRange){(int64_t)first, (int64_t)last, naturalStep(scan), 0, fps};
  pnResult result = scan->options->frames ? cutRange(scan->options->frames, first, last, range) : PN_OK;
  if (result != PN_OK) return result;
  int64_t count = (range->last - range->first) / range->step + 1;
  if (count > (scan->options->frames ? PN_MAX_FRAMES : PN_MAX_UNASKED))
    return pnFail(PN_ERROR_NUMBER,
                  "that is %lld frames, from %lld to %lld; choose some with --frames A:B:STEP, or a lower "
                  "--fps",
                  (long long)count, (long long)range->first, (long long)range->last);
  range->count = (uint32_t)count;
  range->last = range->first + (count - 1) * range->step;
  return PN_OK;
}
