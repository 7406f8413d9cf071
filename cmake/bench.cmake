# The laboratory. Every bench/bench_*.c(pp) is a program; every bench/adapter_<library>.cpp lets it run another
# library on the same scenes and is built only where that library is found (PN_HAVE_<LIBRARY> then says so);
# the other files in bench/ are a library for all programs.
file(GLOB PINCH_BENCH_PROGRAMS CONFIGURE_DEPENDS bench/bench_*.c bench/bench_*.cpp)
file(GLOB PINCH_BENCH_SHARED CONFIGURE_DEPENDS bench/*.c bench/*.cpp)
list(FILTER PINCH_BENCH_SHARED EXCLUDE REGEX "/((bench|adapter)_[^/]*|figures.c|claims.c|quote.c)$")

add_library(pinch_bench_shared STATIC ${PINCH_BENCH_SHARED})
target_include_directories(pinch_bench_shared PUBLIC ${PROJECT_SOURCE_DIR}/bench)
target_compile_definitions(pinch_bench_shared PUBLIC PINCH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(pinch_bench_shared PUBLIC $<TARGET_NAME_IF_EXISTS:pinch_gl>
  $<TARGET_NAME_IF_EXISTS:pinch_scenes> $<TARGET_NAME_IF_EXISTS:pinch_io> pinch_cl pinch)

# pinch_adapter(<name> <found> <targets...>): adds bench/adapter_<name>.cpp when the library is there.
function(pinch_adapter name found)
  set(source ${PROJECT_SOURCE_DIR}/bench/adapter_${name}.cpp)
  if(NOT EXISTS ${source})
    return()
  endif()
  if(NOT found)
    message(STATUS "bench: ${name} is not installed, its column stays empty")
    return()
  endif()
  # A library of its own: what another project's flags ask for must not touch our own loops.
  add_library(pinch_adapter_${name} STATIC ${source})
  target_include_directories(pinch_adapter_${name} PRIVATE bench)
  # The shared library has the table of adapters, and adapters use its list of pairs: each needs the other.
  target_link_libraries(pinch_adapter_${name} PRIVATE pinch_bench_shared pinch ${ARGN})
  target_compile_options(pinch_adapter_${name} PRIVATE -w)
  string(TOUPPER ${name} upper)
  target_compile_definitions(pinch_bench_shared PUBLIC PN_HAVE_${upper})
  target_link_libraries(pinch_bench_shared PUBLIC pinch_adapter_${name})
endfunction()

find_package(embree 3 QUIET)
pinch_adapter(embree "${embree_FOUND}" embree)
pinch_adapter(embree_build "${embree_FOUND}" embree)
pinch_adapter(embree_inside "${embree_FOUND}" embree)
pinch_adapter(embree_query "${embree_FOUND}" embree)
# fcl asks for Eigen by target and for its variables; CGAL, when it came first, has left only the variables.
find_package(Eigen3 QUIET NO_MODULE)
find_package(fcl QUIET)
pinch_adapter(fcl "${fcl_FOUND}" fcl)
pinch_adapter(fcl_query "${fcl_FOUND}" fcl)
pkg_check_modules(PINCH_BULLET QUIET IMPORTED_TARGET bullet)
pinch_adapter(bullet "${PINCH_BULLET_FOUND}" PkgConfig::PINCH_BULLET)
find_package(CGAL QUIET)
pinch_adapter(cgal "${CGAL_FOUND}" CGAL::CGAL)

# Least and greatest of two floats become one instruction each when the compiler may forget NaN and the sign of zero. The
# others' boxes get every help; our own library does without.
set_source_files_properties(bench/peer_floor.c bench/peer_textbook.c bench/adapter_embree.cpp bench/adapter_embree_build.cpp
  bench/adapter_bullet.cpp
  PROPERTIES COMPILE_OPTIONS "-ffinite-math-only;-fno-signed-zeros")

foreach(source ${PINCH_BENCH_PROGRAMS})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PRIVATE pinch_bench_shared ${CMAKE_DL_LIBS})
endforeach()
