#!/bin/sh
# run.sh PINCH SCRIPT: a scene with a box and a ball that comes down, made by Blender, as .blend and in every other format this Blender writes and
# reads (FBX, glTF, Collada; USD and Alembic where it was built with them), through scripts/blender_cache.py into caches, and scanned:
# the same frames and pairs from each. What this Blender cannot read is said, with a status. Status 77, which ctest takes for "skipped",
# where there is no blender.
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
try: # as in blender_cache.py
    import numpy
    if not hasattr(numpy, "bool"): numpy.bool = bool
except ImportError: pass
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
has = bpy.app.build_options
writers = {"fbx": bpy.ops.export_scene.fbx, "glb": bpy.ops.export_scene.gltf}
if has.collada: writers["dae"] = bpy.ops.wm.collada_export
if has.usd: writers["usd"] = lambda filepath: bpy.ops.wm.usd_export(filepath=filepath, export_animation=True)
if has.alembic: writers["abc"] = lambda filepath: bpy.ops.wm.alembic_export(filepath=filepath, as_background_job=False)
for ending, write in writers.items():
    write(filepath=os.path.abspath("scene." + ending))
with open("missing", "w") as missing:
    print(*([] if has.usd else ["usd:USD"]), *([] if has.alembic else ["abc:Alembic"]), file=missing)
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
sh out/scan.sh --csv - -q >blend.csv
# The other formats say the same, frame by frame.
formats=blend
for file in scene.fbx scene.glb scene.dae scene.usd scene.abc; do
  [ -e $file ] || continue
  timeout 300 blender -b -P "$script" -- $file "out.$file" >log 2>&1 || fail "$file: the script ended with $?"
  sh "out.$file/scan.sh" --csv - -q >other.csv
  cmp blend.csv other.csv >>log || fail "$file: other frames or pairs than by .blend"
  formats="$formats ${file#scene.}"
done
case $formats in *fbx*glb*) ;; *) fail "neither FBX nor glTF was tried: $formats" ;; esac
# What this Blender was built without is said, in one line and with a status; so is a file that is not there, and an unknown one.
for pair in $(cat missing); do
  echo x >"scene.${pair%:*}"
  timeout 300 blender -b -P "$script" -- "scene.${pair%:*}" out2 >log 2>&1
  [ $? = 2 ] || fail "a status other than 2 without ${pair#*:}"
  grep -q "^blender_cache: this Blender was built without ${pair#*:}; take one of blender.org$" log || fail "no word about ${pair#*:}"
done
echo x >scene.xyz
for file in nothere.fbx scene.xyz; do
  timeout 300 blender -b -P "$script" -- $file out2 >log 2>&1
  [ $? = 2 ] || fail "a status other than 2 for $file"
  grep -q "^blender_cache: $file" log || fail "no word about $file"
done
echo "blender: the same frames and pairs by caches of $formats; built without: $(cat missing)"
