#!/bin/sh
# run.sh PINCH: what `pinch scan --sarif` writes, held against the official schema and rules of SARIF 2.1.0 by the validator of those who wrote
# them (npm's @microsoft/sarif-multitool): findings, none, known ones, one between two frames, a search that was not finished, and a file with
# an ugly name. Status 77, which ctest takes for "skipped", where there is no validator.
set -u
PINCH=$1
for name in sarif-multitool Sarif.Multitool; do command -v "$name" >/dev/null 2>&1 && validator=$name; done
[ "${validator:-}" ] || { echo "skipped: there is no sarif-multitool (npm install -g @microsoft/sarif-multitool)"; exit 77; }
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
ugly='a coat #1, 100% [new]: früh.glb'
"$PINCH" make character hero.glb --triangles 10000 --seconds 1 -q && cp hero.glb "$ugly" || exit 1
"$PINCH" make box box.ply -q && "$PINCH" make icosphere ball.ply --radius 0.2 -q || exit 1
"$PINCH" scan hero.glb --self --sarif found.sarif --write-baseline known.json -q
"$PINCH" scan hero.glb --self --sarif known.sarif --baseline known.json -q
"$PINCH" scan hero.glb --between --sarif between.sarif -q
"$PINCH" scan "$ugly" --sarif ugly.sarif -q
"$PINCH" scan hero.glb --self --max-pairs 1 --sarif short.sarif -q 2>/dev/null
"$PINCH" scan ball.ply --sarif none.sarif -q
status=0
for file in found known between ugly short none; do
  [ -s $file.sarif ] || { echo "sarif: $file.sarif was not written"; status=1; continue; }
  "$validator" validate $file.sarif >log 2>&1 || { cat log; echo "sarif: the validator failed on $file.sarif"; status=1; }
  grep -q "1 files scanned" log || { cat log; echo "sarif: $file.sarif was not read"; status=1; }
  if grep ": error SARIF" log; then status=1; fi
done
[ $status = 0 ] && echo "sarif: six files, no errors"
exit $status
