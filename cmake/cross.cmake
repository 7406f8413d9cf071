# cross.cmake: a toolchain for the other architecture, run under qemu. Used by scripts/test_x86, which passes
#   PINCH_CROSS       x86_64 or aarch64
#   PINCH_CROSS_ROOT  a folder with that architecture's cmocka, gmp and jansson, as their Debian packages unpack
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PINCH_CROSS PINCH_CROSS_ROOT)
set(triple ${PINCH_CROSS}-linux-gnu)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${PINCH_CROSS})
set(CMAKE_C_COMPILER ${triple}-gcc)
set(CMAKE_CXX_COMPILER ${triple}-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${triple})

# qemu takes the C library from the cross compiler's own folder, and ours from the unpacked packages. "max" is a machine
# with everything the emulator knows, AVX2 among it.
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../scripts/emulate qemu-${PINCH_CROSS} -cpu max -L /usr/${triple}
  -E LD_LIBRARY_PATH=${PINCH_CROSS_ROOT}/usr/lib/${triple}:${PINCH_CROSS_ROOT}/lib/${triple})

# Libraries and headers only from there; programs from here.
set(CMAKE_FIND_ROOT_PATH ${PINCH_CROSS_ROOT} /usr/${triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_C_FLAGS_INIT "-isystem ${PINCH_CROSS_ROOT}/usr/include -isystem ${PINCH_CROSS_ROOT}/usr/include/${triple}")
set(CMAKE_CXX_FLAGS_INIT "${CMAKE_C_FLAGS_INIT}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${PINCH_CROSS_ROOT}/usr/lib/${triple}")
