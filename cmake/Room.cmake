# dossier_room(NAME SUBROOMS folders… USES other rooms… LIBRARIES third-party names… TEST_LIBRARIES
# those of its test)
#
# Makes the static library dossier_NAME from the sources in src/NAME and its SUBROOMS and, if there are
# tests, the program NAME_test from the *_test.cc among them. `#include "other/x.h"` compiles only if
# `other` is used, directly or through a used room. The room `testing` lies beside src. COLD: it
# waits for people, models and git, and a shorter build is worth more than what the optimiser finds there
# (a quarter of the time of its sources).

set(DOSSIER_ALL_TESTS "" CACHE INTERNAL "")
enable_testing()
find_package(Python3 COMPONENTS Interpreter)

# _dossier_unity(TARGET SOURCE…): compiles the sources of each folder as one file, by CMake's own unity
# builds. Private names (of unnamed namespaces) are therefore unique within a folder. A whole build takes
# less than half the time, and one changed file some seconds more.
function(_dossier_unity target)
  if(NOT DOSSIER_UNITY)
    return()
  endif()
  list(FILTER ARGN INCLUDE REGEX "\\.cc$")
  foreach(source ${ARGN})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER ${folder} group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

function(_dossier_use target)
  foreach(room ${ARGN})
    target_link_libraries(${target} PUBLIC dossier_${room})
  endforeach()
endfunction()

function(_dossier_libraries target)
  foreach(library ${ARGN})
    target_link_libraries(${target} PUBLIC dep_${library})
  endforeach()
endfunction()

# Where the sources of a room lie.
function(_dossier_home name out)
  if(name STREQUAL "testing")
    set(${out} ${CMAKE_SOURCE_DIR}/testing PARENT_SCOPE)
  else()
    set(${out} ${CMAKE_SOURCE_DIR}/src/${name} PARENT_SCOPE)
  endif()
endfunction()

# The include folder of a room holds one link, to the room itself.
function(_dossier_include_folder name home out)
  set(folder ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${home} ${folder}/${name} SYMBOLIC)
  # What every room shares with users of the library is declared once, in the public headers.
  if(name STREQUAL "base")
    file(MAKE_DIRECTORY ${folder}/dossier)
    foreach(header result.h cancel.h)
      file(CREATE_LINK ${CMAKE_SOURCE_DIR}/include/dossier/${header} ${folder}/dossier/${header} SYMBOLIC)
    endforeach()
  endif()
  set(${out} ${folder} PARENT_SCOPE)
endfunction()

function(dossier_room name)
  cmake_parse_arguments(ARG "COLD" "" "SUBROOMS;USES;LIBRARIES;TEST_LIBRARIES" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY DOSSIER_ROOMS ${name})
  _dossier_home(${name} home)
  set(patterns ${home}/*.cc ${home}/*.S)
  foreach(subroom ${ARG_SUBROOMS})
    if(NOT subroom STREQUAL ".")
      list(APPEND patterns ${home}/${subroom}/*.cc ${home}/${subroom}/*.S)
    endif()
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(NOT sources)
    set(sources ${CMAKE_SOURCE_DIR}/cmake/empty.cc)
  endif()
  _dossier_include_folder(${name} ${home} folder)
  add_library(dossier_${name} STATIC ${sources})
  _dossier_unity(dossier_${name} ${sources})
  target_include_directories(dossier_${name} PUBLIC ${folder})
  if(ARG_COLD)
    target_compile_options(dossier_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  _dossier_libraries(dossier_${name} ${ARG_LIBRARIES})
  _dossier_use(dossier_${name} ${ARG_USES})
  if(name STREQUAL "base")
    file(RELATIVE_PATH programs ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_BINDIR})
    set_source_files_properties(${home}/files/locations.cc PROPERTIES
      COMPILE_DEFINITIONS DOSSIER_PROGRAMS_FROM_LIBRARIES="${programs}")
    target_precompile_headers(dossier_base PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled.h)
  elseif(NOT name STREQUAL "testing")
    target_precompile_headers(dossier_${name} REUSE_FROM dossier_base)
  endif()
  if(tests)
    add_executable(${name}_test ${tests})
    _dossier_unity(${name}_test ${tests})
    set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_compile_definitions(${name}_test PRIVATE
      DOSSIER_SOURCE_DIR="${CMAKE_SOURCE_DIR}" DOSSIER_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    target_link_libraries(${name}_test PRIVATE dossier_${name} dossier_testing)
    _dossier_libraries(${name}_test ${ARG_TEST_LIBRARIES})
    # What is tested is optimised; the tests themselves only have to compile fast.
    target_compile_options(${name}_test PRIVATE $<$<CONFIG:Release>:-O0>)
    if(name STREQUAL "base")
      target_precompile_headers(base_test PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled_test.h)
    else()
      target_precompile_headers(${name}_test REUSE_FROM base_test)
    endif()
    add_test(NAME ${name} COMMAND ${name}_test)
    set_tests_properties(${name} PROPERTIES TIMEOUT 600)
  endif()
endfunction()

function(dossier_program name)
  cmake_parse_arguments(ARG "LIBEXEC" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  _dossier_unity(${name} ${ARG_SOURCES})
  foreach(room ${ARG_USES})
    target_link_libraries(${name} PRIVATE dossier_${room})
  endforeach()
  foreach(library ${ARG_LIBRARIES})
    target_link_libraries(${name} PRIVATE dep_${library})
  endforeach()
  # A relocatable package brings shared libraries along in lib/dossier (scripts/package). RPATH and not
  # RUNPATH: it holds for what these libraries need, too.
  if(ARG_LIBEXEC)
    set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/../../lib/dossier")
  else()
    set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/dossier")
  endif()
  set_target_properties(${name} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
  target_link_options(${name} PRIVATE LINKER:--disable-new-dtags)
  if(NOT DOSSIER_SANITIZE)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

# dossier_worker(LANGUAGE LIBRARIES third-party names…): the program dossier-LANGUAGE-worker, from what all
# workers share and workers/LANGUAGE/process.
function(dossier_worker language)
  cmake_parse_arguments(ARG "" "" "LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS workers/process/*.cc workers/${language}/process/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  dossier_program(dossier-${language}-worker SOURCES ${sources} USES sandbox inspect base
    LIBRARIES ${ARG_LIBRARIES} LIBEXEC)
  target_include_directories(dossier-${language}-worker PRIVATE workers/process)
endfunction()

# The arrows between sub-rooms, which no include path can keep: looked at before anything is compiled.
function(dossier_check_rooms)
  if(NOT Python3_FOUND)
    message(STATUS "no Python: the arrows between sub-rooms are not checked")
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/*.cc src/*.h testing/*.h testing/*.cc)
  set(stamp ${CMAKE_BINARY_DIR}/rooms.stamp)
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${Python3_EXECUTABLE} -I ${CMAKE_SOURCE_DIR}/scripts/rooms check ${stamp}
    DEPENDS ${sources} ${CMAKE_SOURCE_DIR}/CMakeLists.txt ${CMAKE_SOURCE_DIR}/scripts/rooms
    COMMENT "Checking the arrows between rooms" VERBATIM)
  add_custom_target(dossier_rooms DEPENDS ${stamp})
  add_dependencies(dossier_base dossier_rooms)
endfunction()
