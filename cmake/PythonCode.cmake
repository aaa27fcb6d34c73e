# The worker's Python, compiled: the worker need not do it at every start. Without the interpreter of
# libpython's version there is nothing to compile with, and the worker starts slower.

function(dossier_python_code target)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/workers/python/*.py)
  set(folder ${CMAKE_BINARY_DIR}/generated)
  set(code ${folder}/python_code.bin)
  find_program(DOSSIER_WORKER_PYTHON python3.11 PATHS /usr/bin NO_DEFAULT_PATH)
  if(DOSSIER_WORKER_PYTHON)
    add_custom_command(OUTPUT ${code}
      COMMAND ${DOSSIER_WORKER_PYTHON} -I ${CMAKE_SOURCE_DIR}/cmake/compile_python.py ${code} ${sources}
      DEPENDS ${CMAKE_SOURCE_DIR}/cmake/compile_python.py ${sources})
  else()
    file(WRITE ${code} "")
  endif()
  file(CONFIGURE OUTPUT ${folder}/python_code.S @ONLY CONTENT
"    .section .rodata
    .balign 16
    .global dossier_python_code, dossier_python_code_end
dossier_python_code:
    .incbin \"${code}\"
dossier_python_code_end:
    .byte 0
    .section .note.GNU-stack,\"\",@progbits
")
  set_source_files_properties(${folder}/python_code.S PROPERTIES OBJECT_DEPENDS ${code})
  target_sources(${target} PRIVATE ${folder}/python_code.S)
endfunction()
