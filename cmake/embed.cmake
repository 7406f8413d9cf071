# embed.cmake: the texts of the device room's programs, as one C file of arrays.
#
#   cmake -DOUT=FILE -DROOT=FOLDER -P cmake/embed.cmake
#
# A program is kernels and the shared files they use, one after the other, without their #include lines: each file stands
# after those it needs. The files of geom and collide are the ones the library itself is compiled from.
set(shared_exact geom/expansion.h geom/predicate.h geom/predicate.c geom/triangle.h geom/triangle_flat.c
  geom/triangle_exact.c geom/triangle_beyond.c geom/corners.h)
set(shared_filter geom/simd_words.h geom/simd_vec.h collide/narrow_kernel.h collide/narrow_beyond.h)
set(kernel device/kernel)
set(Frame ${kernel}/prelude.cl ${kernel}/lane.cl ${shared_filter} ${kernel}/emit.cl ${kernel}/refit.cl ${kernel}/pairs.cl
  ${kernel}/narrow.cl ${kernel}/fans.cl ${kernel}/wanted.cl ${kernel}/sort.cl ${kernel}/bins.cl ${kernel}/limit.cl)
set(Exact ${kernel}/prelude.cl ${shared_exact} ${kernel}/emit.cl ${kernel}/exact.cl)
set(Motion ${kernel}/prelude.cl ${kernel}/motion.cl)
set(Volume ${kernel}/prelude.cl volume/grid.h volume/stroke_one.h volume/walk_column.h volume/measure_column.h
  ${kernel}/sort.cl ${kernel}/image.cl ${kernel}/inside.cl)
set(Swept ${kernel}/prelude.cl ${kernel}/swept_words.cl ${kernel}/swept_lane.cl geom/expansion.h geom/impact.h
  geom/impact_filter.c ${kernel}/refit.cl ${kernel}/pairs.cl ${kernel}/impacts.cl ${kernel}/swept.cl ${kernel}/sort.cl
  ${kernel}/impacts_sort.cl)
set(SweptExact ${kernel}/prelude.cl ${kernel}/swept_words.cl ${kernel}/swept_exact_lane.cl ${kernel}/impacts.cl
  geom/whole.h geom/whole.c geom/root.h geom/root.c geom/impact.h geom/impact_exact.c ${kernel}/swept_exact.cl)
set(programs Frame Exact Motion Volume Swept SweptExact)

set(code "/* made by cmake/embed.cmake */\n")
foreach(program ${programs})
  set(text "")
  foreach(file ${${program}})
    file(READ ${ROOT}/src/${file} one)
    string(REGEX REPLACE "#include[^\n]*\n" "\n" one "${one}")
    string(APPEND text "${one}\n")
  endforeach()
  string(HEX "${text}" hex)
  string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" hex "${hex}") # 16 a line
  string(APPEND code "extern const char pn_textOf${program}[];\nconst char pn_textOf${program}[] = {\n${hex}0};\n")
endforeach()
file(WRITE ${OUT} "${code}")
