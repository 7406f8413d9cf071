# lab_texts.cmake: the claims of the papers and the numbers of the code (scripts/fingerprint) as one C file. Written only when it
# is another one, so that nothing is built anew without need.
#
#   cmake -DOUT=FILE -DROOT=FOLDER -P cmake/lab_texts.cmake
set(code "/* made by cmake/lab_texts.cmake */\nextern const unsigned char pn_textOfClaims[];\nextern const char pn_codeOfTrees[], pn_codeOfImages[];\n")
file(READ ${ROOT}/bench/claims.txt hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" hex "${hex}") # 16 a line
string(APPEND code "const unsigned char pn_textOfClaims[] = {\n${hex}0};\n")
foreach(part trees images)
  execute_process(COMMAND ${ROOT}/scripts/fingerprint ${part} OUTPUT_VARIABLE print OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE failed)
  if(failed)
    set(print unknown)
  endif()
  string(SUBSTRING ${part} 0 1 first)
  string(TOUPPER ${first} first)
  string(SUBSTRING ${part} 1 -1 rest)
  string(APPEND code "const char pn_codeOf${first}${rest}[] = \"${print}\";\n")
endforeach()
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT "${old}" STREQUAL "${code}")
  file(WRITE ${OUT} "${code}")
endif()
