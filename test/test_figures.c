/* test_figures.c: rows of the laboratory read back, sums over them, claims judged: right, and refused with a reason where they are
 * not. And that every claim of bench/claims.txt can be read, and judged once its rows are there. */
#include "support.h"

#include "../bench/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char s_file[] = "test_figures_rows.csv";

static void writeRows(const char *text) {
  FILE *file = fopen(s_file, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* Two methods, one series, a name with a comma, a head. */
static pnFigures readSample(void) {
  writeRows(
      "# experiment: e1\n# machine: a machine, 2 cores\n# taken: 2026-01-02\n# settings: full\n# code: 0123\n"
      "experiment,scene,method,measure,step,value\n"
      "e1,s1,slow,all ms,,8\ne1,s1,fast,all ms,,2\ne1,s2,fast,all ms,,3\n"
      "e1,\"s1, turned\",fast,all ms,,5\n"
      "e2,s1,fast,ms by size,10,1\ne2,s1,fast,ms by size,100,100\ne2,s1,fast,ms by size,1000,10000\n");
  pnFigures f = {0};
  if (!pn_readFigures(&f, s_file)) fail_msg("%s", f.message);
  unlink(s_file);
  return f;
}

static void expectSum(pnFigures *f, const char *sum, double value) {
  double found = pn_sum(f, sum);
  if (!(fabs(found - value) < 1e-12 * (1 + fabs(value))))
    fail_msg("%s is %g, not %g: %s", sum, found, value, f->message);
}

static void expectNoSum(pnFigures *f, const char *sum, const char *why) {
  double found = pn_sum(f, sum);
  if (!isnan(found) || !strstr(f->message, why)) fail_msg("%s is %g: \"%s\"", sum, found, f->message);
}

static void sumsAreRight(void **state) {
  (void)state;
  pnFigures f = readSample();
  assert_int_equal(f.count, 7);
  assert_string_equal(f.heads[0].machine, "a machine, 2 cores");
  assert_string_equal(f.heads[0].code, "0123");
  expectSum(&f, "[e1|s1|slow|all ms] / [e1|s1|fast|all ms]", 4);
  expectSum(&f, "1 - 2 * (3 - [e1|s1|fast|all ms]) / 4", 0.5);
  expectSum(&f, "-[e1|s1, turned|fast|all ms] + 7", 2);
  expectSum(&f, "slope[e2|s1|fast|ms by size]", 2);
  expectSum(&f, "[e2|s1|fast|ms by size]@100", 100);
  expectSum(&f, "least[e1|*|fast|all ms]", 2);
  expectSum(&f, "most[e1|s?|fast|all ms]", 3);
  expectSum(&f, "mean[e1|s?|*|all ms]", (8 + 2 + 3) / 3.0);
  expectSum(&f, "count[e1|*|fast|all ms]", 3);
  pn_freeFigures(&f);
}

static void sumsThatAreNone(void **state) {
  (void)state;
  pnFigures f = readSample();
  expectNoSum(&f, "[e1|s1|slow|first ms]", "no row");
  expectNoSum(&f, "[e1|s?|fast|all ms]", "one is wanted");
  expectNoSum(&f, "[e1|s1|slow]", "not experiment|scene|method|measure");
  expectNoSum(&f, "[e1|s1|slow|all ms", "] is missing");
  expectNoSum(&f, "(1 + 2", ") is missing");
  expectNoSum(&f, "1 + 2 3", "left over");
  expectNoSum(&f, "median[e1|s1|slow|all ms]", "no function");
  expectNoSum(&f, "slope[e1|s1|slow|all ms]", "no slope");
  expectNoSum(&f, "", "missing");
  expectNoSum(&f, "[e2|s1|fast|ms by size]@", "step is missing");
  pn_freeFigures(&f);
}

static void badRowsAreNamed(void **state) {
  (void)state;
  static const char *const bad[] = {"e1,s1,slow,all ms,,8\ne1,s1\n", "e1,s1,slow,all ms,,8\ne1,s1,slow,all ms,,x\n",
                                    "e1,s1,slow,all ms,,8\ne1,s1,slow,all ms,,8,9\n",
                                    "e1,s1,slow,all ms,,8\ne1,\"s1,slow,all ms,,8\n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    writeRows(bad[i]);
    pnFigures f = {0};
    assert_false(pn_readFigures(&f, s_file));
    assert_non_null(strstr(f.message, "test_figures_rows.csv:2"));
    pn_freeFigures(&f);
  }
  unlink(s_file);
  pnFigures f = {0};
  assert_false(pn_readFigures(&f, "there/is/no/such.csv"));
  assert_non_null(strstr(f.message, "there/is/no/such.csv"));
  pn_freeFigures(&f);
}

#define CLAIM "claim c\npaper p\nsays s\nnumber 4\nours [e1|s1|slow|all ms] / [e1|s1|fast|all ms]\n"

static pnVerdict judgeBy(pnFigures *f, const char *ranges) {
  char text[512];
  snprintf(text, sizeof text, "%s%s", CLAIM, ranges);
  pnClaims claims;
  if (!pn_parseClaims(&claims, "test", text)) fail_msg("%s", claims.message);
  pnJudgement j = pn_judge(f, &claims.claims[0]);
  assert_true(isnan(j.theirs) && j.theirVerdict == PN_VERDICT_UNMEASURED && j.ours == 4);
  pn_freeClaims(&claims);
  return j.ourVerdict;
}

/* The value is 4. Borders count as in. */
static void verdictsAreComputed(void **state) {
  (void)state;
  pnFigures f = readSample();
  assert_int_equal(judgeBy(&f, "holds 4 ..\n"), PN_VERDICT_REPRODUCED);
  assert_int_equal(judgeBy(&f, "holds 3 .. 4\n"), PN_VERDICT_REPRODUCED);
  assert_int_equal(judgeBy(&f, "holds 4.001 ..\n"), PN_VERDICT_NOT);
  assert_int_equal(judgeBy(&f, "holds .. 3.999\n"), PN_VERDICT_NOT);
  assert_int_equal(judgeBy(&f, "holds 1 ..\nbetter 4 ..\n"), PN_VERDICT_BETTER);
  assert_int_equal(judgeBy(&f, "holds 1 ..\nbetter 4.001 ..\n"), PN_VERDICT_REPRODUCED);
  assert_int_equal(judgeBy(&f, "holds .. 8\nbetter .. 4\n"), PN_VERDICT_BETTER);
  pn_freeFigures(&f);
}

static void badClaimsAreNamed(void **state) {
  (void)state;
  pnClaims claims;
  assert_false(pn_parseClaims(&claims, "test", "says s\n"));
  assert_non_null(strstr(claims.message, "test:1"));
  pn_freeClaims(&claims);
  assert_false(pn_parseClaims(&claims, "test", CLAIM "holds 4\n"));
  assert_non_null(strstr(claims.message, "test:6"));
  pn_freeClaims(&claims);
  assert_false(pn_parseClaims(&claims, "test", CLAIM));
  assert_non_null(strstr(claims.message, "claim c lacks"));
  pn_freeClaims(&claims);
}

/* Every claim of the repository: its sums are sums, and the committed rows have what they ask for. */
static void claimsOfTheRepository(void **state) {
  (void)state;
  pnClaims claims;
  if (!pn_readClaims(&claims, PINCH_SOURCE_DIR "/bench/claims.txt")) fail_msg("%s", claims.message);
  assert_true(claims.count >= 30);
  pnFigures f = {0};
  if (!pn_readFigureFolder(&f, PINCH_SOURCE_DIR "/bench/results/lab")) fail_msg("%s", f.message);
  for (size_t i = 0; i < claims.count; ++i) {
    const pnClaim *c = &claims.claims[i];
    const char *sums[] = {c->theirs, c->ours};
    for (int k = 0; k < 2; ++k)
      if (sums[k] && isnan(pn_sum(&f, sums[k]))) fail_msg("claim %s: %s", c->name, f.message);
    pnJudgement j = pn_judge(&f, c);
    if ((j.theirVerdict == PN_VERDICT_NOT || j.ourVerdict == PN_VERDICT_NOT) && !c->why)
      fail_msg("claim %s is not reproduced, and nothing says why", c->name);
  }
  pn_freeFigures(&f);
  pn_freeClaims(&claims);
}

/* No committed row of ours is wrong, and what another library has wrong is known as wrong. */
static void ourRowsAreRight(void **state) {
  (void)state;
  pnFigures f = {0};
  if (!pn_readFigureFolder(&f, PINCH_SOURCE_DIR "/bench/results/lab")) fail_msg("%s", f.message);
  for (size_t i = 0; i < f.count; ++i) {
    const pnFigure *r = &f.rows[i];
    bool isOurs = strncmp(r->method, "pinch", 5) == 0 || strncmp(r->method, "our ", 4) == 0;
    if (isOurs && strcmp(r->measure, "wrong frames") == 0) assert_true(r->value == 0);
  }
  pn_freeFigures(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sumsAreRight),      cmocka_unit_test(sumsThatAreNone),
      cmocka_unit_test(badRowsAreNamed),   cmocka_unit_test(verdictsAreComputed),
      cmocka_unit_test(badClaimsAreNamed), cmocka_unit_test(claimsOfTheRepository),
      cmocka_unit_test(ourRowsAreRight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
