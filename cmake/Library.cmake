# libdossier.a and libdossier.so: every room but testing and cli, from the objects that the command is
# made of. Not part of `all`: the target `library`, which `make install` and its test build.

get_property(_rooms GLOBAL PROPERTY DOSSIER_ROOMS)
list(REMOVE_ITEM _rooms testing cli)
# The shared library is linked against Debian's shared ones: those of its archives that are C++ are not
# position-independent.
set(_libraries boost_json boost_container crypto yaml-cpp sqlite3 re2 pcre2-8 utf8proc)
set(_objects "")
foreach(room ${_rooms})
  list(APPEND _objects $<TARGET_OBJECTS:dossier_${room}>)
endforeach()

add_library(dossier_archive STATIC EXCLUDE_FROM_ALL ${_objects})
add_library(dossier_shared SHARED EXCLUDE_FROM_ALL ${_objects})
set(_map ${CMAKE_CURRENT_LIST_DIR}/libdossier.map)
foreach(target dossier_archive dossier_shared)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME dossier LINKER_LANGUAGE CXX
    ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
endforeach()
set_target_properties(dossier_shared PROPERTIES VERSION ${PROJECT_VERSION} LINK_DEPENDS ${_map}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
foreach(library ${_libraries})
  find_library(_shared_${library} NAMES lib${library}.so REQUIRED)
  target_link_libraries(dossier_shared PRIVATE ${_shared_${library}})
endforeach()
target_link_libraries(dossier_shared PRIVATE dep_threads dep_dl m)
target_link_options(dossier_shared PRIVATE LINKER:--version-script=${_map} LINKER:-z,defs)
add_custom_target(library DEPENDS dossier_archive dossier_shared)

# For programs outside: find_package(dossier) and pkg-config.
include(CMakePackageConfigHelpers)
set(_packages ${CMAKE_INSTALL_LIBDIR}/cmake/dossier)
set(_made ${CMAKE_BINARY_DIR}/package)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/dossierConfig.cmake.in
  ${_made}/dossierConfig.cmake INSTALL_DESTINATION ${_packages}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${_made}/dossierConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH DOSSIER_PREFIX_FROM_PKGCONFIG
  /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/dossier.pc.in ${_made}/dossier.pc @ONLY)

install(TARGETS dossier_archive dossier_shared
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library OPTIONAL
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library OPTIONAL)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/dossier DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT library FILES_MATCHING PATTERN "*.h")
install(FILES ${_made}/dossierConfig.cmake ${_made}/dossierConfigVersion.cmake
  DESTINATION ${_packages} COMPONENT library)
install(FILES ${_made}/dossier.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
