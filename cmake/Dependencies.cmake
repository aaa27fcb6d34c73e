# Every third-party library, as one interface target `dep_<name>`. Debian's packages only; see
# scripts/setup for the list. Static where Debian ships an archive, so that start-up stays cheap.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
include(${CMAKE_CURRENT_LIST_DIR}/OptionalPart.cmake)

function(dossier_dependency name)
  cmake_parse_arguments(ARG "" "" "LINK;INCLUDE;DEFINE" ${ARGN})
  add_library(dep_${name} INTERFACE)
  target_link_libraries(dep_${name} INTERFACE ${ARG_LINK})
  target_include_directories(dep_${name} SYSTEM INTERFACE ${ARG_INCLUDE})
  target_compile_definitions(dep_${name} INTERFACE ${ARG_DEFINE})
endfunction()

function(dossier_archive out file)
  find_library(_found_${file} NAMES ${file} REQUIRED)
  set(${out} ${_found_${file}} PARENT_SCOPE)
endfunction()

dossier_archive(_boost_json libboost_json.a)
dossier_archive(_boost_container libboost_container.a)
dossier_archive(_crypto libcrypto.a)
dossier_archive(_sqlite libsqlite3.a)
dossier_archive(_yaml libyaml-cpp.a)
dossier_archive(_re2 libre2.a)
dossier_archive(_pcre2 libpcre2-8.a)
dossier_archive(_utf8proc libutf8proc.a)

dossier_dependency(threads LINK Threads::Threads)
dossier_dependency(dl LINK ${CMAKE_DL_LIBS})
dossier_dependency(fmt)  # headers only: src/base/fmt_library.cc is the rest
dossier_dependency(expected)
dossier_dependency(boost_json LINK ${_boost_json} ${_boost_container})
dossier_dependency(crypto LINK ${_crypto} DEFINE OPENSSL_SUPPRESS_DEPRECATED)
dossier_dependency(simdjson LINK simdjson)
dossier_dependency(yaml LINK ${_yaml})
dossier_dependency(sqlite LINK ${_sqlite} m)
dossier_dependency(pcre2 LINK ${_pcre2} DEFINE PCRE2_CODE_UNIT_WIDTH=8 PCRE2_STATIC)
dossier_dependency(utf8proc LINK ${_utf8proc} DEFINE UTF8PROC_STATIC)
dossier_dependency(re2 LINK ${_re2})
dossier_dependency(cli11)
dossier_dependency(curl_headers)  # headers only: the library is loaded when first used
dossier_dependency(md4c_headers)  # headers only, too
dossier_dependency(edit_headers)  # headers only, too
dossier_dependency(archive_headers)  # headers only, too
dossier_dependency(spng_headers)  # headers only, too
dossier_dependency(gtest LINK gmock_main gmock gtest)
dossier_dependency(benchmark LINK benchmark)

pkg_check_modules(PYTHON3 REQUIRED python-3.11-embed)
dossier_dependency(python LINK ${PYTHON3_LINK_LIBRARIES} INCLUDE ${PYTHON3_INCLUDE_DIRS})

# A store that several machines share (`--store postgresql://…`) is built where the package is. Only the
# header is needed: the library is loaded when first used.
pkg_check_modules(LIBPQ QUIET libpq)
dossier_optional_part(DOSSIER_POSTGRES "Build the shared store on PostgreSQL (needs libpq-dev)" "${LIBPQ_FOUND}")
if(DOSSIER_POSTGRES)
  pkg_check_modules(LIBPQ REQUIRED libpq)
  dossier_dependency(pq_headers INCLUDE ${LIBPQ_INCLUDE_DIRS} DEFINE DOSSIER_POSTGRES)
else()
  dossier_dependency(pq_headers)
endif()

# Only for the JavaScript worker, which is built where the package is (scripts/setup --javascript).
pkg_check_modules(MOZJS QUIET mozjs-102)
dossier_optional_part(DOSSIER_JAVASCRIPT "Build dossier-javascript-worker (needs libmozjs-102-dev)" "${MOZJS_FOUND}")
if(DOSSIER_JAVASCRIPT)
  pkg_check_modules(MOZJS REQUIRED mozjs-102)
  dossier_dependency(mozjs LINK ${MOZJS_LINK_LIBRARIES} INCLUDE ${MOZJS_INCLUDE_DIRS})
endif()
