# Installation: headers, libraries, the tool, a CMake package (find_package(pinch)) and pkg-config files.
include(CMakePackageConfigHelpers)
set(PINCH_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/pinch)

install(DIRECTORY include/pinch DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
set(PINCH_INSTALLED pinch pinch_shared)
foreach(library pinch_io pinch_gl pinch_cl)
  if(TARGET ${library})
    list(APPEND PINCH_INSTALLED ${library})
  endif()
endforeach()
install(TARGETS ${PINCH_INSTALLED} EXPORT pinch-targets)
if(TARGET pinch_cli)
  install(TARGETS pinch_cli)
  include(cmake/pages.cmake)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(EXPORT pinch-targets NAMESPACE pinch:: DESTINATION ${PINCH_CMAKE_DIR})

configure_package_config_file(cmake/pinch-config.cmake.in ${PROJECT_BINARY_DIR}/pinch-config.cmake
  INSTALL_DESTINATION ${PINCH_CMAKE_DIR})
# Before 1.0 a new minor version may break callers, so only the same minor version is compatible.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pinch-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pinch-config.cmake ${PROJECT_BINARY_DIR}/pinch-config-version.cmake
  DESTINATION ${PINCH_CMAKE_DIR})

# pkg-config: the prefix is found from the file's own place, so an installed tree may be moved.
set(PINCH_PC_ASSIMP "")
set(PINCH_PC_MESHOPT "")
set(PINCH_PC_DRACO "")
if(PINCH_HAVE_DRACO)
  set(PINCH_PC_DRACO " -ldraco -l${PINCH_CXX_LIBRARY}") # the prefix its own .pc file names is one of the system's
endif()
if(PINCH_MESHOPT_LIBRARY AND PINCH_MESHOPT_INCLUDE)
  set(PINCH_PC_MESHOPT " -lmeshoptimizer") # it has no .pc file
endif()
if(PINCH_ASSIMP_LIBRARY AND PINCH_ASSIMP_INCLUDE)
  set(PINCH_PC_ASSIMP ", assimp")
endif()
file(RELATIVE_PATH PINCH_PC_PREFIX /r/${CMAKE_INSTALL_LIBDIR}/pkgconfig /r)
string(REGEX REPLACE "/$" "" PINCH_PC_PREFIX "${PINCH_PC_PREFIX}")
foreach(library pinch pinch_io pinch_gl pinch_cl)
  if(TARGET ${library})
    configure_file(cmake/${library}.pc.in ${PROJECT_BINARY_DIR}/${library}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
endforeach()
