/* report_finding.c: findings in the report: a list of JSON objects, in rank order, written as they come and packed at the end.
 * docs/report.md says what is in each. */
#include "report_parts.h"

#include <math.h>

/* A length or place with as many digits as a picture needs: positions are rounded to 1/65535 of a body. */
static void putNumber(pnBytes *out, double value) {
  if (isfinite(value)) pn_bytesFormat(out, "%.6g", value);
  else pn_bytesText(out, "null");
}

static void putNumbers(pnBytes *out, const char *key, const float *values, int count) {
  pn_bytesFormat(out, ",\"%s\":[", key);
  for (int i = 0; i < count; ++i) {
    pn_bytesText(out, i > 0 ? "," : "");
    putNumber(out, (double)values[i]);
  }
  pn_bytesText(out, "]");
}

static void putSamples(pnBytes *out, const pnReportFinding *finding) {
  pn_bytesText(out, ",\"samples\":[");
  for (uint32_t i = 0; i < finding->sampleCount; ++i) {
    const pnReportSample *sample = &finding->samples[i];
    pn_bytesFormat(out, "%s[%.15g,", i > 0 ? "," : "", sample->frame);
    putNumber(out, sample->depth);
    for (int k = 0; k < 3; ++k) {
      pn_bytesText(out, ",");
      putNumber(out, (double)sample->centre[k]);
    }
    pn_bytesText(out, "]");
  }
  pn_bytesText(out, "]");
}

static void putText(pnBytes *out, const char *key, const char *text) {
  pn_bytesFormat(out, ",\"%s\":", key);
  pn_bytesJson(out, text);
}

pnResult pn_reportFinding(pnReport *report, const pnReportFinding *finding) {
  if (finding->a >= report->bodyCount || finding->b >= report->bodyCount) {
    return pn_reportFail(PN_ERROR_INDEX, "report: finding '%s' is of bodies %u and %u, one of which is not there",
                         finding->name, finding->a, finding->b);
  }
  pnBytes *out = &report->findings;
  pn_bytesText(out, out->size > 0 ? ",\n{\"name\":" : "{\"name\":");
  pn_bytesJson(out, finding->name);
  pn_bytesFormat(out, ",\"clip\":%u,\"number\":%u,\"a\":%u,\"b\":%u,\"first\":%.15g,\"last\":%.15g,\"deepest\":%.15g",
                 finding->clip, finding->number, finding->a, finding->b, finding->first, finding->last,
                 finding->deepest);
  pn_bytesFormat(out, ",\"frames\":%u,\"depth\":", finding->frameCount);
  putNumber(out, finding->depth);
  pn_bytesText(out, ",\"volume\":");
  putNumber(out, finding->volume);
  putText(out, "depthKind", finding->depthKind);
  putText(out, "kind", finding->kind);
  if (finding->unseen) pn_bytesText(out, ",\"unseen\":true");
  if (finding->repeats) pn_bytesText(out, ",\"repeats\":true");
  putText(out, "standing", finding->standing);
  putText(out, "comment", finding->comment != NULL ? finding->comment : "");
  pn_bytesFormat(out, ",\"fails\":%s,\"contained\":%s", finding->fails ? "true" : "false",
                 finding->contained ? "true" : "false");
  pn_bytesNames(out, "jointsA", finding->jointsA, finding->jointCountA);
  pn_bytesNames(out, "jointsB", finding->jointsB, finding->jointCountB);
  putNumbers(out, "centre", finding->centre, 3);
  putNumbers(out, "from", finding->from, 3);
  putNumbers(out, "onto", finding->onto, 3);
  putSamples(out, finding);
  pn_bytesText(out, "}");
  return out->failed ? pn_reportFailMemory() : PN_OK;
}

pnResult pn_reportJoin(pnReport *report, uint32_t clip, uint32_t from, uint32_t to) {
  pn_bytesFormat(&report->joins, "%s[%u,%u,%u]", report->joins.size > 0 ? "," : "", clip, from, to);
  return report->joins.failed ? pn_reportFailMemory() : PN_OK;
}

pnResult pn_packFindings(const pnReport *report, pnBlob *outBlob) {
  pnBytes text = {0};
  pn_bytesText(&text, "{\"order\":");
  pn_bytesJson(&text, report->order != NULL ? report->order : "depth");
  pn_bytesText(&text, ",\"findings\":[");
  pn_bytesAdd(&text, report->findings.data, report->findings.size);
  pn_bytesText(&text, "],\"joined\":[");
  pn_bytesAdd(&text, report->joins.data, report->joins.size);
  pn_bytesText(&text, "]}");
  pnResult result =
      text.failed ? pn_reportFailMemory() : pn_deflate(text.data, text.size, &outBlob->data, &outBlob->size);
  pn_bytesFree(&text);
  return result;
}
