// Python as the language of a worker: the embedded interpreter and our own Python half.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::unique_ptr<Language> python, StartPython(library));
//
// Thread-safety: as Language; its main thread holds the interpreter's lock.

#ifndef DOSSIER_WORKERS_PYTHON_PYTHON_LANGUAGE_H_
#define DOSSIER_WORKERS_PYTHON_PYTHON_LANGUAGE_H_

#include <memory>
#include <string>

#include "language.h"

namespace dossier::worker {

// Once a process. Errors: kUnavailable naming the Debian packages, kInternal.
Result<std::unique_ptr<Language>> StartPython(const std::string& library);

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PYTHON_PYTHON_LANGUAGE_H_
