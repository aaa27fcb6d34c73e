# make install PREFIX=…: the command, its workers beside it in libexec, documentation.

install(TARGETS dossier RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS dossier-python-worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/dossier)
install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
