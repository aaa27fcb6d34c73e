# share/dossier/NAME.vocab: the tables of the public encodings, from the rank files that scripts/setup
# fetched. Without them the program builds and its counts are estimates.

function(dossier_token_tables)
  add_executable(dossier-token-table src/tokens/table/main.cc)
  target_link_libraries(dossier-token-table PRIVATE dossier_tokens dossier_base)
  set(tables "")
  foreach(name cl100k_base o200k_base)
    set(ranks ${CMAKE_SOURCE_DIR}/.cache/ranks/${name}.tiktoken)
    set(table ${CMAKE_BINARY_DIR}/share/dossier/${name}.vocab)
    if(NOT EXISTS ${ranks})
      message(STATUS "${name}: no rank file (scripts/setup fetches it); its counts will be estimates")
      continue()
    endif()
    add_custom_command(OUTPUT ${table}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/share/dossier
      COMMAND dossier-token-table ${name} ${ranks} ${table}
      DEPENDS dossier-token-table ${ranks} VERBATIM)
    list(APPEND tables ${table})
  endforeach()
  add_custom_target(dossier_token_tables DEPENDS ${tables})
  set_property(GLOBAL PROPERTY DOSSIER_TOKEN_TABLES "${tables}")
  install(FILES ${tables} DESTINATION ${CMAKE_INSTALL_DATADIR}/dossier COMPONENT worker)
endfunction()
dossier_token_tables()
