# Tests of the HTML report. test_report (in test/) checks the data and writes sample reports into <build>/report_samples;
# unit.mjs decodes them with the page's own modules, browser.mjs opens them in chromium.

# test_report lets allocations of the writer fail one after the other.
if(TARGET test_report)
  target_link_libraries(test_report PRIVATE pinch_report ZLIB::ZLIB)
  target_link_options(test_report PRIVATE
    LINKER:--wrap=malloc LINKER:--wrap=calloc LINKER:--wrap=realloc LINKER:--wrap=aligned_alloc
    LINKER:--wrap=free)
  set_tests_properties(test_report PROPERTIES FIXTURES_SETUP report_samples)
endif()

if(TARGET test_report_clip)
  target_link_libraries(test_report_clip PRIVATE pinch_report ZLIB::ZLIB)
endif()

# The page is the same in every build, so the plain one is enough for it.
if(PINCH_NODE AND NOT PINCH_WEB STREQUAL OFF AND NOT PINCH_SANITIZE AND NOT PINCH_SCALAR AND NOT CMAKE_CROSSCOMPILING)
  set(samples ${PROJECT_BINARY_DIR}/report_samples)
  # A scan by the real tool, whose findings the page shows. It ends with 1: there are some.
  if(TARGET pinch_cli)
    add_test(NAME web_sample COMMAND sh -c "mkdir -p ${samples} && cd ${samples} && $<TARGET_FILE:pinch_cli> make character \
hero.glb && { $<TARGET_FILE:pinch_cli> scan hero.glb --animation all --html findings.html -q; [ $? = 1 ]; } && \
{ $<TARGET_FILE:pinch_cli> scan hero.glb --frames ::15 --between --html between.html -q; [ $? = 1 ]; } && \
{ $<TARGET_FILE:pinch_cli> scan hero.glb --frames ::15 --max-pairs 20 --html limited.html -q; [ $? = 1 ]; }")
    set_tests_properties(web_sample PROPERTIES LABELS web FIXTURES_SETUP report_samples)
  endif()
  add_test(NAME web_unit COMMAND ${PINCH_NODE} ${PROJECT_SOURCE_DIR}/web/test/unit.mjs ${samples})
  add_test(NAME web_browser COMMAND ${PINCH_NODE} ${PROJECT_SOURCE_DIR}/web/test/browser.mjs
    ${samples} ${PROJECT_BINARY_DIR}/web/node_modules ${PROJECT_BINARY_DIR}/report_screenshots)
  # The page of the laboratory, of the committed rows.
  if(TARGET pinch_cli)
    add_test(NAME web_lab COMMAND sh -c "$<TARGET_FILE:pinch_cli> bench show --out ${PROJECT_SOURCE_DIR}/bench/results/lab \
--html ${PROJECT_BINARY_DIR}/lab.html >/dev/null && ${PINCH_NODE} ${PROJECT_SOURCE_DIR}/web/test/lab.mjs ${PROJECT_BINARY_DIR}/lab.html \
${PROJECT_BINARY_DIR}/web/node_modules ${PROJECT_BINARY_DIR}/report_screenshots")
    set_tests_properties(web_lab PROPERTIES LABELS web SKIP_RETURN_CODE 77 TIMEOUT 600)
  endif()
  set_tests_properties(web_unit web_browser PROPERTIES
    LABELS web FIXTURES_REQUIRED report_samples SKIP_RETURN_CODE 77 TIMEOUT 600)
else()
  message(STATUS "skipped: the report in a browser (needs node, and a build without sanitizers)")
endif()
