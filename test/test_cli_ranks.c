/* test_cli_ranks.c: `mpirun -n N pinch scan` writes what one process writes, byte for byte, with its exit status; a rank that dies ends
 * the run with an error, with nothing under a final name, and --resume goes on; where MPI lets the others live, they do its work.
 * Skipped where pinch was built without MPI or there is no mpirun; not under sanitizers, which would look at MPI's memory.
 * ctest labels: slow */
#include "support.h"

#include "tool.h"

#include "scan_make.h"

#include <signal.h>
#include <sys/stat.h>

#ifdef PINCH_HAS_MPI
#define MPIRUN "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe --bind-to none "

static bool hasMpirun(void) {
  return system("command -v mpirun >/dev/null 2>&1") == 0;
}
#else
#define MPIRUN ""
static bool hasMpirun(void) {
  return false;
}
#endif

/* The exit status of a line of shell. */
static int shell(const char *format, const char *scan, int number) {
  char line[1200];
  snprintf(line, sizeof(line), format, number, scan);
  int status = system(line);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expectSameFiles(const char *a, const char *b) {
  char line[200];
  snprintf(line, sizeof(line), "cmp %s %s", a, b);
  if (system(line) != 0) fail_msg("%s and %s differ", a, b);
}

/* What a test of hero.glb has left. */
static void removeFiles(void) {
  assert_int_equal(system("rm -f hero.glb one.html one.json r.html* r.json r.err c pid.*"), 0);
}

/* Scans with so many ranks; outputs are r.json, r.html, r.csv. The report has the command line in it: the same everywhere. */
static int scanWith(int ranks, const char *scan) {
  return shell(MPIRUN "-n %d " PINCH_TOOL " scan %s --json --html r.html --csv r.csv > r.json 2> r.err", scan, ranks);
}

static void ranksMakeOneWhole(void **state) {
  (void)state;
  if (!hasMpirun()) {
    print_message("skipped: this pinch has no MPI, or there is no mpirun\n");
    skip();
  }
  static const char *const scans[] = {"boxes.glb --animation all --self --regions", "boxes.glb --only 0,2 --frames 0:9",
                                      "boxes.glb --animation nobody", "boxes.glb --between --frames 0:50:3"};
  static const int counts[] = {1, 2, 3, 8};
  for (size_t i = 0; i < sizeof(scans) / sizeof(scans[0]); ++i) {
    bool fails = i == 2;
    int one = shell("%.0d" PINCH_TOOL " scan %s --json --html r.html --csv r.csv > one.json 2> r.err", scans[i], 0);
    assert_int_equal(one, fails ? 2 : i != 1);
    if (!fails) rename("r.html", "one.html"), rename("r.csv", "one.csv");
    for (int k = fails ? 2 : 0; k < (i == 0 ? 4 : 3); ++k) {
      assert_int_equal(scanWith(counts[k], scans[i]), one);
      if (fails) continue;
      assert_int_equal(system("cmp r.json one.json && cmp r.html one.html && cmp r.csv one.csv"), 0);
    }
    unlink("r.json"), unlink("one.json"), unlink("r.html"), unlink("one.html"), unlink("r.csv"), unlink("one.csv");
  }
  unlink("r.err");
}

static pid_t readPid(const char *path) {
  FILE *file = fopen(path, "r");
  int pid = 0;
  if (file && fscanf(file, "%d", &pid) != 1) pid = 0;
  if (file) fclose(file);
  return pid;
}

/* Starts three ranks and kills one of them after so many seconds, or, negative, once the checkpoint grows. Returns mpirun's status, 124 when it
 * does not end within two minutes. A rank that is killed while it makes itself known to mpirun may leave that one waiting for ever, deaf to
 * signals that ask: it is given half a minute and ended, too. */
static int killRank(int victim, double wait, const char *extra) {
  char line[1200], name[16];
  snprintf(line, sizeof(line),
           "timeout %s env " MPIRUN "%s -n 3 sh -c 'echo $$ > pid.$OMPI_COMM_WORLD_RANK; exec " PINCH_TOOL
           " scan hero.glb --self --threads 1 --resume c --html r.html --json' > r.json 2> r.err",
           wait < 0 ? "120" : "-k 5 30", extra);
  snprintf(name, sizeof(name), "pid.%d", victim);
  FILE *run = popen(line, "r");
  assert_non_null(run);
  struct stat info;
  // The head is some 500 bytes; then frames follow.
  for (int i = 0; wait < 0 && i < 6000 && (stat("c", &info) != 0 || info.st_size < 1500); ++i) usleep(10000);
  if (wait >= 0) usleep((useconds_t)(1e6 * wait));
  pid_t pid = readPid(name);
  if (pid > 0) kill(pid, SIGKILL);
  int status = pclose(run);
  unlink("pid.0"), unlink("pid.1"), unlink("pid.2");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What one process says of the scan that ranks are killed in: one.json and one.html. */
static void makeTruth(void) {
  assert_int_equal(runLine("make character hero.glb --triangles 10000 --seconds 12 -q"), 0);
  assert_int_equal(
      shell("%.0d" PINCH_TOOL " scan %s --html r.html --json > one.json", "hero.glb --self --threads 1 --resume c", 0),
      1);
  rename("r.html", "one.html");
}

/* Two ranks go on with that scan from where it was ended: the same bytes, and the checkpoint is gone. */
static void goOnFromCheckpoint(void) {
  assert_int_equal(shell(MPIRUN "-n %d " PINCH_TOOL " scan %s --html r.html --json > r.json 2> r.err",
                         "hero.glb --self --threads 1 --resume c", 2),
                   1);
  assert_int_not_equal(access("c", F_OK), 0);
  expectSameFiles("r.json", "one.json");
  expectSameFiles("r.html", "one.html");
}

/* Ten kills of any rank at any time, each of a run that goes on where the one before was ended; then the same bytes. A run that was done
 * before its moment came does not count, and the next ones are given less time: the machine was busier when it was measured. */
static void tenKills(void **state) {
  (void)state;
  if (!hasMpirun()) skip();
  TestRandom random = testRandom(10);
  assert_int_equal(runLine("make character hero.glb --triangles 10000 --seconds 12 -q"), 0);
  double start = pnGetTime();
  assert_int_equal(shell(MPIRUN "-n %d " PINCH_TOOL " scan %s --html r.html --json > one.json 2> r.err",
                         "hero.glb --self --threads 1 --resume c", 3),
                   1);
  double seconds = pnGetTime() - start;
  rename("r.html", "one.html");
  int killed = 0, runs = 0;
  for (; killed < 10 && runs < 60; ++runs) {
    int victim = (int)testBelow(&random, 3);
    double wait = seconds * testBelow(&random, 1000) / 1000.0;
    int status = killRank(victim, wait, "");
    bool finished = status == 1 && access("r.html", F_OK) == 0;
    if (!finished && status == 1) fail_msg("kill %d of rank %d left nothing and said 1", runs, victim);
    if (finished) expectSameFiles("r.html", "one.html"), unlink("r.html"), seconds *= 0.8;
    killed += !finished;
  }
  print_message("%d of %d runs were killed before their end\n", killed, runs);
  assert_int_equal(killed, 10);
  goOnFromCheckpoint();
  removeFiles();
}

/* Where MPI lets the others live: rank 0 does what a dead one had and gives the whole answer; without rank 0 nobody stays. mpirun ends in
 * both cases, by itself. */
static void theOthersLive(void **state) {
  (void)state;
  if (!hasMpirun()) skip();
  makeTruth();
  int status = killRank(1, -1, "--enable-recovery");
  assert_int_not_equal(status, 124); /* that would be the time limit */
  expectSameFiles("r.json", "one.json");
  expectSameFiles("r.html", "one.html");
  unlink("r.html");
  status = killRank(0, -1, "--enable-recovery");
  assert_int_not_equal(status, 124);
  assert_int_not_equal(access("r.html", F_OK), 0);
  removeFiles();
}

/* A list goes on where it was ended, on ranks. */
static void aListGoesOn(void **state) {
  (void)state;
  if (!hasMpirun()) skip();
  assert_int_equal(system("for i in 0 1 2 3 4 5 6 7; do cp boxes.glb box$i.glb; echo box$i.glb; done > list.txt; echo "
                          "nothere.glb >> list.txt"),
                   0);
  assert_int_equal(
      shell("%.0d" PINCH_TOOL " scan %s --html a.html --json > one.jsonl 2> one.err", "--list list.txt", 0), 2);
  rename("a.html", "one.html");
  assert_int_equal(
      shell("%.0d" PINCH_TOOL " scan %s --html a.html --json --resume j > r.jsonl 2> r.err", "--list list.txt", 0), 2);
  expectSameFiles("r.jsonl", "one.jsonl");
  /* a journal of three files out of the middle, of a list that waits for a fourth until it is killed: the others are dealt out */
  assert_int_equal(
      system("mkfifo stop.glb; printf 'box1.glb\\nbox4.glb\\nbox6.glb\\nstop.glb\\n' > half.txt; " PINCH_TOOL
             " scan --list half.txt --json --resume j > /dev/null 2>&1 & pid=$!; "
             "for i in $(seq 600); do [ $(cat j 2>/dev/null | wc -l) -ge 4 ] && break; sleep 0.1; done; "
             "kill -9 $pid; rm stop.glb half.txt; [ $(wc -l < j) -eq 4 ]"),
      0);
  for (int ranks = 3; ranks >= 2; --ranks) {
    assert_int_equal(system("cp j kept.j"), 0);
    assert_int_equal(shell(MPIRUN "-n %d " PINCH_TOOL " scan %s --html a.html --json --resume j > r.jsonl 2> r.err",
                           "--list list.txt", ranks),
                     2);
    expectSameFiles("r.jsonl", "one.jsonl");
    expectSameFiles("a.html", "one.html");
    assert_int_not_equal(access("j", F_OK), 0);
    rename("kept.j", "j");
  }
  assert_int_equal(system("rm -f box?.glb list.txt one.* r.* a.html j"), 0);
}

static void aRankThatDies(void **state) {
  (void)state;
  if (!hasMpirun()) skip();
  makeTruth();
  for (int victim = 0; victim < 2; ++victim) {
    int status = killRank(victim, -1, "");
    bool killed = access("c", F_OK) == 0;
    if (killed) {
      assert_true(status != 0 && status != 1);
      assert_int_not_equal(access("r.html", F_OK), 0);
    }
  }
  goOnFromCheckpoint();
  removeFiles();
}

/* Processes that cannot find one another would each do all of it and write the same files: with MPI or without, they are refused. */
static void whoIsAloneIsTold(void **state) {
  (void)state;
  static const char *const scans[] = {"boxes.glb --html r.html", "--list list.txt --html r.html"};
  assert_int_equal(system("echo boxes.glb > list.txt"), 0);
  for (int i = 0; i < 2; ++i) {
    int status = shell("SLURM_STEP_NUM_TASKS=%d " PINCH_TOOL " scan %s > r.json 2> r.err", scans[i], 2);
    assert_int_equal(status, 2);
    assert_int_equal(system("grep -qE '2 (tasks|processes)' r.err"), 0);
    assert_int_not_equal(access("r.html", F_OK), 0);
  }
  assert_int_equal(system("rm -f list.txt r.json r.err"), 0);
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enterWithBoxes, leaveWithBoxes)
  const struct CMUnitTest tests[] = {IN_FOLDER(ranksMakeOneWhole), IN_FOLDER(aRankThatDies),
                                     IN_FOLDER(tenKills),          IN_FOLDER(theOthersLive),
                                     IN_FOLDER(aListGoesOn),       IN_FOLDER(whoIsAloneIsTold)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
