// The worker's Python, compiled when the program was built (cmake/compile_python.py).
//
//   const Ref code = ReadCodeArchive(archive, PyImport_GetMagicNumber());
//   PyObject* of_module = PyDict_GetItemString(code.get(), "dossier_runtime");   // or compile it
//
// An archive is the four bytes of the interpreter's magic number, then a marshalled dict of module
// names and code objects.

#ifndef DOSSIER_WORKERS_PYTHON_CODE_ARCHIVE_H_
#define DOSSIER_WORKERS_PYTHON_CODE_ARCHIVE_H_

#include <string_view>

#include "python_ref.h"

namespace dossier::worker {

// A new dict of code objects by module name: an empty one if the archive is missing, broken or made
// for an interpreter with another magic number than `magic`. Null without memory.
Ref ReadCodeArchive(std::string_view archive, long magic);

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PYTHON_CODE_ARCHIVE_H_
