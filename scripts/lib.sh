# lib.sh: what the scripts share. Sourced, not run; plain POSIX shell.

# Every script works from the root of the repository, wherever it was called from.
cd "$(dirname "$0")/.." || exit 1
[ -e include/pinch/base.h ] || { echo "pinch: run this script from inside its repository" >&2; exit 1; }

jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

say() { printf '%s\n' "$*"; }
die() { printf 'pinch: %s\n' "$*" >&2; exit 1; }

# quiet WHAT LOG COMMAND...: runs the command with its output in LOG; on failure shows the end of it and stops.
quiet() {
  quiet_what=$1 quiet_log=$2
  shift 2
  mkdir -p "$(dirname "$quiet_log")"
  if ! "$@" >"$quiet_log" 2>&1; then
    tail -n 40 "$quiet_log" >&2
    die "$quiet_what failed; all of its output is in $quiet_log"
  fi
}

# count LOG NAME STATUS: adds one ctest run, read from its own last lines, to total, failed and table.
total=0 failed=0 table=
count() {
  summary=$(sed -n 's/^[0-9]*% tests passed, \([0-9]*\) tests\{0,1\} failed out of \([0-9]*\)$/\1 \2/p' "$1")
  run_failed=${summary%% *} run_total=${summary##* }
  # A ctest that did not come to its summary is itself a failure.
  [ -n "$summary" ] || { run_failed=1 run_total=1; }
  [ "$3" = 0 ] || [ "$run_failed" != 0 ] || run_failed=1
  total=$((total + run_total)) failed=$((failed + run_failed))
  skipped=$(grep -c '\*\*\*Skipped' "$1")
  table="$table$(printf '  %-10s %4d run  %4d failed  %4d skipped' "$2" "$run_total" "$run_failed" "$skipped")
"
}

# summary: what was counted, in ctest's words; false when a test failed or none ran.
summary() {
  say ""
  say "All builds together:"
  printf '%s' "$table"
  passed=$((total > 0 ? 100 * (total - failed) / total : 0))
  say "$passed% tests passed, $failed tests failed out of $total"
  [ "$failed" = 0 ] && [ "$total" -gt 0 ]
}
