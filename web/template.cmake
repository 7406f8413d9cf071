# Makes the report's template: packages as the lock file has them, then one file out of the page's sources.
# Called by web/CMakeLists.txt with MODE, NODE, NPM, SOURCE and BINARY.

# Without the page: an empty template, which the tool takes as "this build has no HTML report".
function(no_report why)
  if(MODE STREQUAL ON)
    message(FATAL_ERROR "PINCH_WEB=ON: ${why}")
  endif()
  message(STATUS "this build has no HTML report: ${why}")
  file(WRITE ${BINARY}/report_template.html "")
  file(WRITE ${BINARY}/report_template.c
    "#include <stddef.h>\nextern const unsigned char pn_reportTemplate[];\nextern const size_t pn_reportTemplateSize;\n"
    "const unsigned char pn_reportTemplate[1] = {0};\nconst size_t pn_reportTemplateSize = 0;\n"
    "extern const unsigned char pn_labTemplate[];\nextern const size_t pn_labTemplateSize;\n"
    "const unsigned char pn_labTemplate[1] = {0};\nconst size_t pn_labTemplateSize = 0;\n")
endfunction()

if(MODE STREQUAL OFF)
  no_report("PINCH_WEB is OFF")
  return()
endif()
if(NOT NODE OR NOT NPM)
  no_report("node and npm are not installed")
  return()
endif()

# Packages go into the build folder, and only again when the lock file changes.
file(SHA256 ${SOURCE}/package-lock.json lock)
set(stamp ${BINARY}/node_modules/.pinch-lock)
set(installed "")
if(EXISTS ${stamp})
  file(READ ${stamp} installed)
endif()
if(NOT installed STREQUAL lock)
  file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json DESTINATION ${BINARY})
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
    --fetch-retry-maxtimeout=10000
    WORKING_DIRECTORY ${BINARY} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    file(WRITE ${BINARY}/npm.log "${output}")
    no_report("npm ci failed, see ${BINARY}/npm.log (no network?). To try again, remove ${BINARY}/report_template.c")
    return()
  endif()
  file(WRITE ${stamp} ${lock})
endif()

execute_process(COMMAND ${NODE} ${SOURCE}/build.mjs ${BINARY} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the page of the HTML report did not build")
endif()
