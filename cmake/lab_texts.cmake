# lab_texts.cmake: the claims of the papers, how long the experiments take, and the numbers of the code (scripts/fingerprint) as one C file. Written only when it
# is another one, so that nothing is built anew without need.
#
#   cmake -DOUT=FILE -DROOT=FOLDER -P cmake/lab_texts.cmake
set(code "/* made by cmake/lab_texts.cmake */\nextern const unsigned char pn_textOfClaims[], pn_textOfTimes[];\nextern const char pn_codeOfTrees[], pn_codeOfImages[];\n")
set(Claims ${ROOT}/bench/claims.txt)
set(Times ${ROOT}/bench/results/lab/time.csv)
foreach(text Claims Times)
  set(hex "")
  if(EXISTS ${${text}})
    file(READ ${${text}} hex HEX)
  endif()
  string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" hex "${hex}") # 16 a line
  string(APPEND code "const unsigned char pn_textOf${text}[] = {\n${hex}0};\n")
endforeach()
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
