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
