# make install PREFIX=…: the command, its workers beside it in libexec, and the documentation with the
# folders of this tree, so that the links between pages hold. The component `worker` is what a program
# with the library needs at run time, see cmake/Library.cmake.

install(TARGETS dossier RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS dossier-python-worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/dossier
  COMPONENT worker)
if(DOSSIER_JAVASCRIPT)
  install(TARGETS dossier-javascript-worker
    RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/dossier COMPONENT javascript)
endif()
install(FILES README.md LICENSE CHANGELOG.md CONTRIBUTING.md SECURITY.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES bench/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)  # the pages of docs/spec link to it
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What the command prints of itself: manual pages (of the program and of each of its commands)
# and completions, where shells look for them.
set(_texts ${CMAKE_BINARY_DIR}/texts)
set(_pages dossier)
set(_written "COMMAND;$<TARGET_FILE:dossier>;man;>;${_texts}/dossier.1")
foreach(name ask chat inspect pack header runs assemble prompts models sandbox doctor tokens conversations context
        memory agents research mcp hook serve worker rpc eval config keys trust paths)
  list(APPEND _pages dossier-${name})
  list(APPEND _written "COMMAND;$<TARGET_FILE:dossier>;man;${name};>;${_texts}/dossier-${name}.1")
endforeach()
foreach(shell bash zsh fish)
  list(APPEND _written "COMMAND;$<TARGET_FILE:dossier>;completion;${shell};>;${_texts}/dossier.${shell}")
endforeach()
list(TRANSFORM _pages PREPEND ${_texts}/)
list(TRANSFORM _pages APPEND .1)
file(MAKE_DIRECTORY ${_texts})
add_custom_command(OUTPUT ${_pages} ${_texts}/dossier.bash ${_texts}/dossier.zsh ${_texts}/dossier.fish
  ${_written} DEPENDS dossier COMMENT "Writing manual pages and completions" VERBATIM)
add_custom_target(installed_texts ALL
  DEPENDS ${_pages} ${_texts}/dossier.bash ${_texts}/dossier.zsh ${_texts}/dossier.fish)
install(FILES ${_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${_texts}/dossier.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME dossier)
install(FILES ${_texts}/dossier.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _dossier)
install(FILES ${_texts}/dossier.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
