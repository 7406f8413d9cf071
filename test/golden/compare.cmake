# compare.cmake: runs golden with WORKERS and compares what it prints with TRUTH.
execute_process(COMMAND ${EMULATOR} ${GOLDEN} ${WORKERS} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
file(READ ${TRUTH} truth)
if(NOT status EQUAL 0 OR NOT printed STREQUAL truth)
  message(FATAL_ERROR "golden ${WORKERS} differs from ${TRUTH}:\n${printed}")
endif()
