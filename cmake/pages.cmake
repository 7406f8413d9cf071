# Manual pages and completions, made by the tool itself from its tables of options, and where they are installed. A tool for
# another machine needs an emulator for that.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  return()
endif()

set(folder ${PROJECT_BINARY_DIR}/pages)
file(MAKE_DIRECTORY ${folder})
set(PINCH_PAGES)
function(pinch_page file)
  add_custom_command(OUTPUT ${folder}/${file} COMMAND pinch_cli completion ${ARGN} > ${folder}/${file}
    DEPENDS pinch_cli COMMENT "${file}")
  set(PINCH_PAGES ${PINCH_PAGES} ${folder}/${file} PARENT_SCOPE)
endfunction()

pinch_page(pinch.1 --man pinch)
foreach(command info check scan merge volume inside make device bench completion)
  pinch_page(pinch-${command}.1 --man ${command})
endforeach()
set(manuals ${PINCH_PAGES})
pinch_page(pinch.bash bash)
pinch_page(_pinch zsh)
pinch_page(pinch.fish fish)
add_custom_target(pinch_pages ALL DEPENDS ${PINCH_PAGES})

install(FILES ${manuals} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${folder}/pinch.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME pinch)
install(FILES ${folder}/_pinch DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${folder}/pinch.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
