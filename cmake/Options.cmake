# Language level, warnings, build kinds.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 17)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
# One set of objects for the programs and for libdossier.so; docs/decisions/public-api.md has what
# it costs. As an option and not as CMake's property, so that programs and libraries can share
# precompiled headers.
add_compile_options(-fPIC -fno-semantic-interposition)
# What a program does not call is left out of it: files hold a whole concept, not one function each.
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(LINKER:--gc-sections)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

set(DOSSIER_SANITIZE "" CACHE STRING "Value of -fsanitize=, empty for none")
option(DOSSIER_FUZZ "Build the fuzz targets (needs clang)" OFF)
option(DOSSIER_UNITY "Compile sources of a module together where that changes nothing" OFF)
option(DOSSIER_WERROR "Warnings are errors" ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# -O2: -O3 adds a third to the build time and nothing measurable, the hot kernels are intrinsics.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")

add_compile_options(-Wall -Wextra -Wno-missing-field-initializers -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports paths through std::variant and std::string that cannot happen.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-pointer>)
  # The compiler's own garbage collection takes a sixth of its time and saves 100 MB of 700.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-expand=1000>"
                      "$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=1000000>")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12 marks what its own std::stable_sort uses as deprecated.
  add_compile_options(-Wno-deprecated-declarations)
endif()
if(DOSSIER_WERROR)
  add_compile_options(-Werror)
endif()
if(DOSSIER_SANITIZE)
  add_compile_options(-fsanitize=${DOSSIER_SANITIZE} -fno-sanitize-recover=undefined -O1)
  # The check of virtual tables opens a pipe, which code behind the sandbox's walls may not.
  add_compile_options(-fno-sanitize=vptr)
  string(REPLACE "fuzzer-no-link," "" _link "${DOSSIER_SANITIZE}")
  add_link_options(-fsanitize=${_link})
endif()
# base/process/build_info.h reads it; not every compiler asks for it by itself.
add_link_options(LINKER:--build-id)
find_program(DOSSIER_CCACHE ccache)
if(DOSSIER_CCACHE)
  # ccache needs these to reuse results that were compiled with a precompiled header.
  set(_sloppy "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${_sloppy} ${DOSSIER_CCACHE})
  add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>)
endif()
find_program(DOSSIER_MOLD mold)
if(DOSSIER_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
