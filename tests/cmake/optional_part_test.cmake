# cmake -P: a part that is built where its package is follows the package, until somebody decides.
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/OptionalPart.cmake)

function(expect_part about found wanted)
  dossier_optional_part(PART "Build the part" "${found}")
  if((PART AND NOT wanted) OR (wanted AND NOT PART))
    message(FATAL_ERROR "${about}: PART is '${PART}'")
  endif()
endfunction()

expect_part("the package is missing" "" OFF)
expect_part("it was installed since" 1 ON)
expect_part("it was removed again" 0 OFF)
set(PART OFF CACHE STRING "" FORCE)
expect_part("the user wants none" 1 OFF)
set(PART ON CACHE STRING "" FORCE)
expect_part("the user wants it" "" ON)
