#!/bin/sh
# run.sh PINCH SCRIPT: a scene with a box and a ball that comes down, made by Blender, through scripts/blender_cache.py into caches, and scanned. Status
# 77, which ctest takes for "skipped", where there is no blender.
set -u
PINCH=$1 script=$2
export PINCH
command -v blender >/dev/null 2>&1 || { echo "skipped: there is no blender"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
fail() {
  echo "blender: $*"
  cat log 2>/dev/null
  exit 1
}
cat >make.py <<'PY'
import os
import bpy
bpy.ops.wm.read_homefile(use_empty=True)
bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, 0))
bpy.context.object.name = "anvil"
bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=0.5, location=(0, 0, 3))
ball = bpy.context.object
ball.name = "the ball"
ball.keyframe_insert("location", frame=1)
ball.location = (0, 0, 0.7)
ball.keyframe_insert("location", frame=20)
bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 20
bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath("scene.blend"))
PY
timeout 300 blender -b -P make.py >log 2>&1
[ -s scene.blend ] || { echo "skipped: this blender makes no scene"; exit 77; }
timeout 300 blender -b -P "$script" -- scene.blend out >log 2>&1 || fail "the script ended with $?"
grep -q "2 meshes, frames 1 to 20" log || fail "not 2 meshes in 20 frames"
sh out/scan.sh --json >answer.json
[ $? = 1 ] || fail "nothing was found"
# The ball arrives in the box in the last frames, and not before.
grep -q '"frame": 20, .*"collisions": \[{' answer.json || fail "the ball does not meet the box in frame 20"
grep -q '"frame": 1, .*"collisions": \[\]' answer.json || fail "it does so in frame 1 already"
grep -q '"frames_total": 20' answer.json || fail "not 20 frames"
# What this Blender cannot read is said, with a status.
echo x >scene.usd
if timeout 300 blender -b -P "$script" -- scene.usd out2 >log 2>&1; then fail "a broken USD file was taken"; fi
grep -q "blender_cache: " log || fail "no word about it"
echo "blender: caches of a .blend scene scanned; $(grep blender_cache: log | head -1)"
