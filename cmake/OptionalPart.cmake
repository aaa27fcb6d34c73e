# dossier_optional_part(NAME ABOUT FOUND): a part that is built where its package is. NAME is AUTO, ON or OFF; AUTO, the
# default, decides at every configuration, so that a package which is installed later counts. Sets NAME, for `if(NAME)`.
macro(dossier_optional_part name about found)
  unset(${name})
  set(${name} AUTO CACHE STRING "${about}: AUTO, ON or OFF")
  if("${${name}}" STREQUAL "AUTO")
    set(${name} "${found}")
  endif()
endmacro()
