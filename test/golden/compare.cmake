# compare.cmake: runs golden with HOW and compares what it prints with TRUTH.
separate_arguments(HOW)
execute_process(COMMAND ${EMULATOR} ${GOLDEN} ${HOW} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
file(READ ${TRUTH} truth)
if(NOT status EQUAL 0 OR NOT printed STREQUAL truth)
  message(FATAL_ERROR "golden ${HOW} differs from ${TRUTH}:\n${printed}")
endif()
