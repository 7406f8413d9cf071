# Tests. Every test/test_*.c is a program of its own under ctest; it may look into src/ as nobody else may.
#
# Labels: the room is the second word of the file name (test_tree_build.c -> tree). A line "ctest labels: slow gpu"
# in the file's head comment adds more. `ctest -LE slow` is the quick run.
pkg_check_modules(PINCH_CMOCKA REQUIRED IMPORTED_TARGET cmocka)
find_library(PINCH_GMP_LIBRARY gmp REQUIRED)

# What several tests share: helpers and the oracle in exact arithmetic.
file(GLOB PINCH_TEST_SUPPORT CONFIGURE_DEPENDS test/support*.c test/oracle*.c test/agree.c test/motion*.c test/form*.c)
if(PINCH_TEST_SUPPORT)
  add_library(pinch_test_support STATIC ${PINCH_TEST_SUPPORT})
  target_include_directories(pinch_test_support PUBLIC src test)
  target_compile_definitions(pinch_test_support PUBLIC PINCH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(pinch_test_support PUBLIC $<TARGET_NAME_IF_EXISTS:pinch_scenes> pinch PkgConfig::PINCH_CMOCKA ${PINCH_GMP_LIBRARY})
endif()

# The tool as tests run it: one file that can be executed. Built for another machine, it is a line of shell that calls
# the emulator.
set(PINCH_TOOL_FILE ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/pinch)
if(CMAKE_CROSSCOMPILING)
  list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
  file(WRITE ${PINCH_TOOL_FILE}_emulated "#!/bin/sh\nexec ${emulator} ${PINCH_TOOL_FILE} \"$@\"\n")
  set(PINCH_TOOL_FILE ${PINCH_TOOL_FILE}_emulated)
  file(CHMOD ${PINCH_TOOL_FILE} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endif()

# A test says by what it includes whether it needs the readers of files or the tool. It gets what it needs and no more, and is
# left out where that is not built.
function(pinch_test source)
  get_filename_component(name ${source} NAME_WE)
  file(STRINGS ${source} files
    REGEX "#include [<\"](jansson|pinch/io|\\.\\./io/|character|guests|gltf_|io_|report_|scan_make|schema|tool)")
  file(STRINGS ${source} tool REGEX "#include \"tool|PINCH_TOOL")
  if((files AND NOT TARGET pinch_io) OR (tool AND NOT TARGET pinch_cli))
    return()
  endif()
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE src test)
  target_compile_definitions(${name} PRIVATE PINCH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE
    $<TARGET_NAME_IF_EXISTS:pinch_test_support> $<TARGET_NAME_IF_EXISTS:pinch_gl>
    $<TARGET_NAME_IF_EXISTS:pinch_scenes> pinch_cl pinch PkgConfig::PINCH_CMOCKA ${PINCH_GMP_LIBRARY} ${ARGN})
  if(files)
    target_link_libraries(${name} PRIVATE pinch_io ${PINCH_JANSSON_LIBRARY})
  endif()
  if(tool)
    target_compile_definitions(${name} PRIVATE PINCH_TOOL="${PINCH_TOOL_FILE}")
    add_dependencies(${name} pinch_cli)
  endif()

  string(REGEX REPLACE "^test_([a-z0-9]+).*" "\\1" labels ${name})
  file(STRINGS ${source} label_lines REGEX "ctest labels:" LIMIT_COUNT 1)
  string(REGEX REPLACE ".*ctest labels:([a-z ]*).*" "\\1" more_labels "${label_lines}")
  separate_arguments(more_labels)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  # those that take longest begin first, else one of them is alone at the end
  if(name MATCHES "^test_(world_(cutting|memory|mirror)|morph_calm|query|collide_(agree|limit)|cli_(farm|bars|batch))$")
    set_tests_properties(${name} PROPERTIES COST 100)
  endif()
  # an emulator takes twenty times as long, and so may a sanitizer with all rounds (PINCH_FULL)
  set(most 600)
  if(CMAKE_CROSSCOMPILING OR PINCH_SANITIZE)
    set(most 3600)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels};${more_labels}" TIMEOUT ${most})
endfunction()

file(GLOB PINCH_TEST_SOURCES CONFIGURE_DEPENDS test/test_*.c)
if(NOT TARGET pinch_report)
  list(FILTER PINCH_TEST_SOURCES EXCLUDE REGEX "/test_report[a-z_]*\\.c$")
endif()
if(NOT TARGET pinch_cli)
  list(FILTER PINCH_TEST_SOURCES EXCLUDE REGEX "/test_cli_(choose|measure)\\.c$")
endif()
foreach(source ${PINCH_TEST_SOURCES})
  pinch_test(${source})
endforeach()
if(TARGET test_cli_ranks AND MPI_C_FOUND)
  target_compile_definitions(test_cli_ranks PRIVATE PINCH_HAS_MPI)
endif()
# It packs what it reads.
if(TARGET test_gltf_draco AND PINCH_HAVE_DRACO)
  target_sources(test_gltf_draco PRIVATE test/draco_pack.cpp)
  target_include_directories(test_gltf_draco SYSTEM PRIVATE ${PINCH_DRACO_INCLUDE})
  target_link_libraries(test_gltf_draco PRIVATE ${PINCH_DRACO_LIBRARY})
endif()
# It packs damaged parts again.
if(TARGET test_cli_farm)
  target_link_libraries(test_cli_farm PRIVATE ZLIB::ZLIB)
endif()
if(TARGET test_cli_choose)
  target_sources(test_cli_choose PRIVATE cli/choose.c cli/choose_class.c)
  target_sources(test_cli_measure PRIVATE cli/choose.c cli/choose_class.c cli/measure.c cli/near_boxes.c)
endif()
if(TARGET test_figures)
  target_sources(test_figures PRIVATE bench/figures.c bench/claims.c)
endif()
# Its start-up code is what it tests: nothing is compiled with -ffast-math.
if(TARGET test_base_fenv_fast)
  target_link_options(test_base_fenv_fast PRIVATE -ffast-math)
endif()

# Files and threads of the tool that fail as a test wishes: preloaded into it.
if(TARGET test_cli_faults)
  add_library(pinch_fault_shim MODULE test/fault_shim.c)
  target_link_libraries(pinch_fault_shim PRIVATE ${CMAKE_DL_LIBS})
  target_compile_definitions(test_cli_faults PRIVATE PINCH_FAULT_SHIM="$<TARGET_FILE:pinch_fault_shim>")
  add_dependencies(test_cli_faults pinch_cli pinch_fault_shim)
endif()

# Long runs, started by scripts/fuzz_*: built when asked for, no part of ctest.
file(GLOB PINCH_FUZZ_SOURCES CONFIGURE_DEPENDS test/fuzz_*.c)
if(NOT TARGET pinch_io)
  list(FILTER PINCH_FUZZ_SOURCES EXCLUDE REGEX "/fuzz_io\\.c$")
endif()
foreach(source ${PINCH_FUZZ_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE pinch_test_support $<TARGET_NAME_IF_EXISTS:pinch_io>)
endforeach()

# A world that lives long, for scripts/soak.
add_executable(soak EXCLUDE_FROM_ALL test/soak.c)
target_link_libraries(soak PRIVATE pinch)

# What libFuzzer runs (scripts/fuzz): every test/fuzz/*.c, with the tool's own files for those that look into them.
if(PINCH_FUZZ)
  file(GLOB PINCH_FUZZERS CONFIGURE_DEPENDS test/fuzz/*.c)
  set(PINCH_FUZZ_CLI ${PINCH_CLI_SOURCES})
  list(FILTER PINCH_FUZZ_CLI EXCLUDE REGEX "/main\\.c$")
  add_library(pinch_fuzz_cli STATIC EXCLUDE_FROM_ALL ${PINCH_FUZZ_CLI})
  target_link_libraries(pinch_fuzz_cli PUBLIC pinch_lab pinch_report pinch_io pinch_scenes $<TARGET_NAME_IF_EXISTS:pinch_gl> pinch_cl pinch
    ZLIB::ZLIB ${PINCH_JANSSON_LIBRARY} m)
  foreach(source ${PINCH_FUZZERS})
    get_filename_component(name ${source} NAME_WE)
    add_executable(fuzzer_${name} EXCLUDE_FROM_ALL ${source})
    target_link_options(fuzzer_${name} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(fuzzer_${name} PRIVATE pinch_test_support)
    if(name MATCHES "args|baseline|part|stream")
      target_link_libraries(fuzzer_${name} PRIVATE pinch_fuzz_cli)
    endif()
    target_link_libraries(fuzzer_${name} PRIVATE pinch_io pinch ${PINCH_JANSSON_LIBRARY})
    list(APPEND PINCH_FUZZ_TARGETS fuzzer_${name})
  endforeach()
  add_custom_target(fuzzers DEPENDS ${PINCH_FUZZ_TARGETS})
endif()

# A second opinion from CGAL, where it is installed; not under sanitizers, where its headers alone compile for minutes.
file(GLOB PINCH_CGAL_TEST_SOURCES CONFIGURE_DEPENDS test/test_*.cpp)
if(PINCH_CGAL_TEST_SOURCES AND NOT PINCH_SANITIZE)
  find_package(CGAL QUIET)
  if(CGAL_FOUND)
    foreach(source ${PINCH_CGAL_TEST_SOURCES})
      pinch_test(${source} CGAL::CGAL)
      # gcc 12 warns about code inside CGAL's and the standard library's headers when it inlines them here.
      get_filename_component(name ${source} NAME_WE)
      if(TARGET ${name})
        target_compile_options(${name} PRIVATE -Wno-maybe-uninitialized)
      endif()
    endforeach()
  else()
    message(STATUS "CGAL is not installed: its second opinion (test/test_*.cpp) is left out")
  endif()
endif()

# The page of the report, in a browser.
if(TARGET pinch_report)
  include(web/test/tests.cmake)
endif()

# The other folders of test/ bring their own few lines.
foreach(folder headers install readme subproject docs golden)
  if(EXISTS ${PROJECT_SOURCE_DIR}/test/${folder}/CMakeLists.txt)
    add_subdirectory(test/${folder})
  endif()
endforeach()

# The batch files of examples/slurm, under a Slurm of this machine alone.
if(TARGET pinch_cli AND NOT CMAKE_CROSSCOMPILING)
  add_test(NAME slurm COMMAND sh ${PROJECT_SOURCE_DIR}/test/slurm/run.sh ${PINCH_TOOL_FILE} ${PROJECT_SOURCE_DIR}/examples/slurm)
  set_tests_properties(slurm PROPERTIES LABELS "cli;slow" SKIP_RETURN_CODE 77 TIMEOUT 900)
  # SARIF, judged by the official validator.
  add_test(NAME sarif COMMAND sh ${PROJECT_SOURCE_DIR}/test/sarif/run.sh ${PINCH_TOOL_FILE})
  set_tests_properties(sarif PROPERTIES LABELS "cli;slow" SKIP_RETURN_CODE 77 TIMEOUT 300)
  # A scene of Blender's, through scripts/blender_cache.py.
  add_test(NAME blender COMMAND sh ${PROJECT_SOURCE_DIR}/test/blender/run.sh ${PINCH_TOOL_FILE}
    ${PROJECT_SOURCE_DIR}/scripts/blender_cache.py)
  set_tests_properties(blender PROPERTIES LABELS "cli;slow" SKIP_RETURN_CODE 77 TIMEOUT 900)
endif()
