# The built-in YAML as trees inside dossier_assembly (src/assembly/layout/yaml_table.h): YAML is for those who
# write it, and slow to read.

function(dossier_yaml_table)
  # Without dossier_assembly, which itself needs the output.
  add_executable(dossier-yaml-table src/assembly/table/main.cc src/assembly/layout/front_matter.cc)
  target_link_libraries(dossier-yaml-table PRIVATE dossier_base)
  target_include_directories(dossier-yaml-table PRIVATE ${CMAKE_BINARY_DIR}/include/assembly)
  target_precompile_headers(dossier-yaml-table REUSE_FROM dossier_base)
  set(folder ${CMAKE_BINARY_DIR}/generated)
  set(table ${folder}/yaml_table.bin)
  add_custom_command(OUTPUT ${table} COMMAND dossier-yaml-table ${table}
    DEPENDS dossier-yaml-table VERBATIM)
  file(CONFIGURE OUTPUT ${folder}/yaml_table.S @ONLY CONTENT
"    .section .rodata
    .global dossier_yaml_table, dossier_yaml_table_end
dossier_yaml_table:
    .incbin \"${table}\"
dossier_yaml_table_end:
    .byte 0
    .section .note.GNU-stack,\"\",@progbits
")
  set_source_files_properties(${folder}/yaml_table.S PROPERTIES OBJECT_DEPENDS ${table})
  target_sources(dossier_assembly PRIVATE ${folder}/yaml_table.S)
endfunction()
dossier_yaml_table()
