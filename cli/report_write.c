/* report_write.c: the file. The template up to its mark, then the data as script elements that no browser runs, then
 * the rest of the template.
 *
 *   pinch-meta      JSON: title, names, counts, grids
 *   pinch-index     what every frame has and where, and all counts (deflated varints, base64)
 *   pinch-topology  predictors, triangles and groups of each body (the same)
 *   pinch-findings  the list of findings (deflated JSON, base64)
 *   pinch-block     blocks of about a megabyte: pair lists and positions of consecutive frames, each deflated by
 *                   itself; the page decodes a block only when it shows one of its frames
 * docs/report.md has the layout of each.
 */
#include "report_parts.h"

#include <stdlib.h>
#include <string.h>

static void writeBody(pnBytes *out, const pnBodyData *body) {
  pn_bytesText(out, "{\"name\":");
  pn_bytesJson(out, body->name);
  pn_bytesFormat(out, ",\"vertices\":%u,\"triangles\":%u,\"sites\":%u", body->vertexCount, body->triangleCount,
                 body->siteCount);
  pn_bytesFormat(out, ",\"origin\":[%.17g,%.17g,%.17g],\"step\":%.17g", body->origin[0], body->origin[1],
                 body->origin[2], body->step);
  pn_bytesFormat(out, ",\"grouped\":%s", body->vertexGroups != NULL ? "true" : "false");
  pn_bytesNames(out, "groups", (const char *const *)body->groupNames, body->groupCount);
  pn_bytesText(out, "}");
}

/* The animations; one without a name when none was said. */
static void writeClips(pnBytes *out, const pnReport *report) {
  pn_bytesText(out, ",\"clips\":[");
  for (uint32_t c = 0; c < report->clipCount; ++c) {
    const pnClipData *clip = &report->clips[c];
    uint32_t end = c + 1 < report->clipCount ? clip[1].firstFrame : report->frameCount;
    pn_bytesText(out, c > 0 ? "," : "");
    pn_bytesText(out, "{\"name\":");
    pn_bytesJson(out, clip->name);
    pn_bytesFormat(out, ",\"fps\":%.17g,\"firstFrame\":%u,\"frameCount\":%u}", clip->fps, clip->firstFrame,
                   end - clip->firstFrame);
  }
  if (report->clipCount == 0) {
    pn_bytesFormat(out, "{\"name\":\"\",\"fps\":%.17g,\"firstFrame\":0,\"frameCount\":%u}", report->fps,
                   report->frameCount);
  }
  pn_bytesText(out, "]");
}

/* Which frames of the index are moments between two frames: the place, and how many thousandths of a frame behind its number. */
static void writeMoments(pnBytes *out, const pnReport *report) {
  bool any = false;
  pn_bytesText(out, ",\"moments\":[");
  for (uint32_t f = 0; f < report->frameCount; ++f) {
    if (report->frames[f].part == 0) continue;
    pn_bytesFormat(out, "%s[%u,%u]", any ? "," : "", f, report->frames[f].part);
    any = true;
  }
  pn_bytesText(out, "]");
}

static void writeMeta(const pnReport *report, bool complete, pnBytes *out) {
  pn_bytesFormat(out, "{\"format\":2,\"pinch\":\"%s\",\"title\":", pnGetVersion());
  pn_bytesJson(out, report->title);
  if (report->command != NULL) {
    pn_bytesText(out, ",\"command\":");
    pn_bytesJson(out, report->command);
  }
  pn_bytesFormat(out, ",\"complete\":%s,\"fps\":%.17g,\"up\":%u,\"byteLimit\":%llu,\"frameCount\":%u,\"view\":%s",
                 complete ? "true" : "false", report->fps, report->upAxis, (unsigned long long)report->byteLimit,
                 report->frameCount, report->noView || report->siteCount == 0 ? "false" : "true");
  if (report->limitedFrames > 0 || report->limitedSteps > 0)
    pn_bytesFormat(out, ",\"limited\":[%u,%u]", report->limitedFrames, report->limitedSteps);
  pn_bytesNames(out, "files", (const char *const *)report->files, report->fileCount);
  pn_bytesNames(out, "notes", (const char *const *)report->notes, report->noteCount);
  writeClips(out, report);
  writeMoments(out, report);
  pn_bytesText(out, ",\"bodies\":[");
  for (uint32_t b = 0; b < report->bodyCount; ++b) {
    pn_bytesText(out, b > 0 ? ",\n" : "\n");
    writeBody(out, &report->bodies[b]);
  }
  pn_bytesText(out, "]}");
}

void pn_reportPut(pnReport *report, const void *data, size_t size) {
  pnOutFile_Write(report->file, data, size);
  report->written += size;
}

static void putText(pnReport *report, const char *text) {
  pn_reportPut(report, text, strlen(text));
}

/* One element of base64. */
static void writeElement(pnReport *report, const char *id, const uint8_t *data, size_t size) {
  putText(report, "\n<script type=\"text/plain\" id=\"");
  putText(report, id);
  putText(report, "\">");
  pnBase64 base64 = {.report = report};
  pn_base64Write(&base64, data, size);
  pn_base64End(&base64);
  putText(report, "</script>");
}

/* True when frame f starts a new block; blockBytes is what the block has so far. */
static bool startsBlock(const pnFrameData *frame, uint64_t *blockBytes) {
  size_t size = frame->pairs.size + frame->positions.size;
  bool starts = size > 0 && (*blockBytes == 0 || *blockBytes + size > PN_REPORT_BLOCK);
  *blockBytes = starts ? size : *blockBytes + size;
  return starts;
}

static void packIndex(const pnReport *report, pnBytes *out) {
  int64_t number = 0;
  uint64_t blockBytes = 0;
  size_t countsBegin = 0;
  for (uint32_t f = 0; f < report->frameCount; ++f) {
    const pnFrameData *frame = &report->frames[f];
    bool stored = frame->positions.size > 0, predicted = stored && frame->low != PN_REPORT_NO_FRAME;
    pn_bytesSigned(out, (int64_t)((uint64_t)frame->number - (uint64_t)number));
    pn_bytesDouble(out, frame->time);
    pn_bytesVarint(out, startsBlock(frame, &blockBytes));
    pn_bytesVarint(out, frame->pairs.size);
    pn_bytesVarint(out, frame->positions.size);
    pn_bytesVarint(out, predicted ? f - frame->low : 0);
    pn_bytesVarint(out, predicted ? frame->high - f : 0);
    pn_bytesAdd(out, report->counts.data + countsBegin, frame->countsEnd - countsBegin);
    countsBegin = frame->countsEnd;
    number = frame->number;
  }
}

static void writeBlocks(pnReport *report) {
  uint64_t blockBytes = 0;
  pnBase64 base64 = {.report = report};
  bool open = false;
  for (uint32_t f = 0; f < report->frameCount; ++f) {
    const pnFrameData *frame = &report->frames[f];
    if (startsBlock(frame, &blockBytes)) {
      pn_base64End(&base64);
      putText(report, open ? "</script>" : "");
      putText(report, "\n<script type=\"text/plain\" class=\"pinch-block\">");
      open = true;
    }
    pn_base64Write(&base64, frame->pairs.data, frame->pairs.size);
    pn_base64Write(&base64, frame->positions.data, frame->positions.size);
  }
  pn_base64End(&base64);
  putText(report, open ? "</script>" : "");
}

pnResult pn_writePage(pnReport *report, bool complete) {
  pnBytes meta = {0}, index = {0};
  pnBlob packed = {0}, findings = {0};

  // collect what can fail for want of memory before the first byte is written
  writeMeta(report, complete, &meta);
  packIndex(report, &index);
  pnResult result = meta.failed || index.failed ? pn_reportFailMemory() : PN_OK;
  if (result == PN_OK) result = pn_deflate(index.data, index.size, &packed.data, &packed.size);
  if (result == PN_OK) result = pn_packFindings(report, &findings);
  if (result != PN_OK) goto done;

  // template, data, template
  size_t head = (size_t)(strstr(report->pageTemplate, PN_REPORT_MARK) - report->pageTemplate);
  size_t tail = head + strlen(PN_REPORT_MARK);
  pn_reportPut(report, report->pageTemplate, head);
  putText(report, "<script type=\"application/json\" id=\"pinch-meta\">");
  pn_reportPut(report, meta.data, meta.size);
  putText(report, "</script>");
  writeElement(report, "pinch-index", packed.data, packed.size);
  writeElement(report, "pinch-findings", findings.data, findings.size);
  if (!report->noView) writeElement(report, "pinch-topology", report->topology.data, report->topology.size);
  writeBlocks(report);
  putText(report, "\n");
  pn_reportPut(report, report->pageTemplate + tail, report->pageTemplateSize - tail);

done:
  pn_bytesFree(&meta);
  pn_bytesFree(&index);
  free(packed.data);
  free(findings.data);
  return result;
}
