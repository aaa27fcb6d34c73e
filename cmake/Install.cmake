# make install PREFIX=…: the command, its workers beside it in libexec, documentation. The component
# `worker` is what a program with the library needs at run time, see cmake/Library.cmake.

install(TARGETS dossier RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS dossier-python-worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/dossier
  COMPONENT worker)
install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
