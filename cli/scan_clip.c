/* scan_clip.c: which animations are scanned, one after the other, and which bodies in all of them.
 *
 * An animation is chosen by name, number or pattern, several by naming several, every one by "all". Files that play
 * together play the animation of that name; a file that does not have it plays its first. */
#include "load.h"
#include "out.h"
#include "scan.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- runs */

static void setClips(pnScan *scan, const uint32_t *clips) {
  for (uint32_t s = 0; s < scan->sourceCount; ++s) scan->sources[s].clip = clips[s];
}

void pn_scanBeginRun(pnScan *scan, uint32_t r) {
  scan->run = r;
  scan->range = scan->runs[r].range;
  setClips(scan, scan->runs[r].clips);
}

/* What an animation is called: its name, or its number where it has none. */
static char *nameClip(const pnAnimFile *file, uint32_t clip) {
  char number[16];
  snprintf(number, sizeof(number), "%u", clip);
  return strdup(file->clips[clip].name[0] ? file->clips[clip].name : number);
}

/* The clip of file `file` that belongs to clip `clip` of source `source`: of the same name, else the first. */
static uint32_t partnerOf(const pnAnimFile *file, const char *name) {
  for (uint32_t c = 0; c < file->clipCount; ++c)
    if (name[0] && strcmp(file->clips[c].name, name) == 0) return c;
  return file->clipCount > 0 ? 0 : PN_NONE;
}

static bool isChosen(const pnScan *scan, uint32_t source, uint32_t clip) {
  for (uint32_t r = 0; r < scan->runCount; ++r)
    if (scan->runs[r].clips[source] == clip) return true;
  return false;
}

/* A run in which source `source` plays `clip`; PN_NONE: the first animation of every file. */
static pnResult addRun(pnScan *scan, uint32_t source, uint32_t clip) {
  // Runs are few and made once: the list grows by one.
  pnScanRun *runs = realloc(scan->runs, (scan->runCount + (size_t)1) * sizeof(pnScanRun));
  if (!runs) return pnFail(PN_ERROR_MEMORY, "out of memory for %u animations", scan->runCount + 1);
  scan->runs = runs;
  pnScanRun *run = &runs[scan->runCount];
  *run = (pnScanRun){.clips = malloc(scan->sourceCount * sizeof(uint32_t) + 1)};
  ++scan->runCount;
  const char *name = clip != PN_NONE ? scan->sources[source].file->clips[clip].name : "";
  for (uint32_t s = 0; s < scan->sourceCount && run->clips; ++s) {
    const pnAnimFile *file = scan->sources[s].file;
    run->clips[s] = file ? partnerOf(file, name) : PN_NONE;
    if (s == source && clip != PN_NONE) run->clips[s] = clip;
    if (!run->name && run->clips[s] != PN_NONE && (clip == PN_NONE || s == source))
      run->name = nameClip(file, run->clips[s]);
  }
  if (!run->name) run->name = strdup("");
  return run->clips && run->name ? PN_OK : pnFail(PN_ERROR_MEMORY, "out of memory for an animation");
}

/* Adds the animations a word of --animation means; *found when there is one, chosen before or not. */
static pnResult addWord(pnScan *scan, const char *word, bool *found) {
  pnResult result = PN_OK;
  bool called = false;
  for (uint32_t s = 0; s < scan->sourceCount; ++s)
    called |= scan->sources[s].file && pn_findClip(scan->sources[s].file, word) != PN_NONE;
  // "all" is a name first, should there be one.
  const char *pattern = strcmp(word, "all") == 0 ? "*" : word;
  for (uint32_t s = 0; s < scan->sourceCount && result == PN_OK; ++s) {
    const pnAnimFile *file = scan->sources[s].file;
    if (!file) continue;
    uint32_t exact = pn_findClip(file, word);
    for (uint32_t c = 0; c < file->clipCount && result == PN_OK; ++c) {
      if (called ? c != exact : fnmatch(pattern, file->clips[c].name, 0) != 0) continue;
      *found = true;
      if (!isChosen(scan, s, c)) result = addRun(scan, s, c);
    }
  }
  return result;
}

/* The frames of every run. One that has none of those asked for is left out, unless there is no other. */
static pnResult chooseRanges(pnScan *scan) {
  uint32_t kept = 0;
  uint64_t total = 0;
  pnResult result = PN_OK;
  for (uint32_t r = 0; r < scan->runCount && result == PN_OK; ++r) {
    pnScanRun run = scan->runs[r];
    setClips(scan, run.clips);
    result = pn_scanChooseRange(scan, &run.range);
    bool skip = result == PN_ERROR_COUNT && (kept > 0 || r + 1 < scan->runCount);
    if (skip) {
      // The run stays in the list, behind its end, to be freed.
      for (uint32_t i = r + 1; i < scan->runCount; ++i) scan->runs[i - 1] = scan->runs[i];
      scan->runs[scan->runCount - 1] = run;
      --scan->runCount, --r;
      ++scan->skippedRuns;
      result = PN_OK;
      continue;
    }
    scan->runs[r] = run;
    total += run.range.count;
    ++kept;
  }
  if (total > UINT32_MAX / 2) return pnFail(PN_ERROR_COUNT, "that is %llu frames", (unsigned long long)total);
  scan->frameTotal = (uint32_t)total;
  if (result == PN_OK) pn_scanBeginRun(scan, 0);
  return result;
}

pnResult pn_scanChooseRuns(pnScan *scan) {
  const pnWords *words = &scan->options->animations;
  pnResult result = words->count == 0 ? addRun(scan, 0, PN_NONE) : PN_OK;
  for (uint32_t i = 0; i < words->count && result == PN_OK; ++i) {
    bool found = false;
    result = addWord(scan, words->items[i], &found);
    // Where nothing is animated, all there is is the rest pose.
    if (result == PN_OK && !found && strcmp(words->items[i], "all") == 0) result = addRun(scan, 0, PN_NONE);
    else if (result == PN_OK && !found) {
      scan->wrongAnimation = true;
      result = pnFail(PN_ERROR_ARGUMENT, "--animation: there is no '%s'", words->items[i]);
    }
  }
  return result == PN_OK ? chooseRanges(scan) : result;
}

/* ---------------------------------------------------------------- bodies */

static const char **namesOfBodies(const pnScan *scan) {
  const char **names = malloc(scan->bodyCount * sizeof(char *) + 1);
  for (uint32_t b = 0; b < scan->bodyCount && names; ++b) names[b] = scan->bodies[b].name;
  return names;
}

pnResult pn_scanChooseBodies(pnScan *scan) {
  const pnScanOptions *options = scan->options;
  const char **names = namesOfBodies(scan);
  if (!names) return pnFail(PN_ERROR_MEMORY, "out of memory for the names of %u bodies", scan->bodyCount);
  pnResult result = pn_makeChoice(&options->only, &options->ignored, names, scan->bodyCount, &scan->choice);
  scan->wrongBody = result == PN_ERROR_ARGUMENT;
  free(names);
  for (uint32_t b = 0; b < scan->bodyCount && result == PN_OK; ++b) {
    pnScanBody *body = &scan->bodies[b];
    // A single body can only be asked about itself.
    bool self = options->self || scan->bodyCount == 1 || pn_choiceNamesSelf(&scan->choice, b);
    body->self = self && pn_choiceAllows(&scan->choice, b, b);
    body->wanted = pn_choiceWants(&scan->choice, b);
  }
  return result;
}

/* ---------------------------------------------------------------- what could have been chosen */

void pn_scanSayChoices(const pnScan *scan) {
  bool any = false;
  for (uint32_t s = 0; s < scan->sourceCount && scan->wrongAnimation; ++s) {
    if (!scan->sources[s].file || scan->sources[s].file->clipCount == 0) continue;
    pn_printClips(stderr, scan->sources[s].word, scan->sources[s].file);
    any = true;
  }
  if (scan->wrongAnimation && !any) fprintf(stderr, "No file here has an animation to choose.\n");
  const char **names = scan->wrongBody ? namesOfBodies(scan) : NULL;
  if (!names) return;
  pn_printBodies(stderr, names, scan->bodyCount);
  free(names);
}
