// The embedded interpreter: isolated, without site, environment or bytecode files, with our own
// Python half loaded, and the modules of preload.txt while nothing else is to be done.
//
//   const std::string library = FindStandardLibrary();    // before the walls are closed
//   std::thread mapping([&] { MapExtensions(library); });
//   DOSSIER_RETURN_IF_ERROR(StartInterpreter(library));   // once a process, in the zygote
//   DOSSIER_ASSIGN_OR_RETURN(Runtime runtime, LoadRuntime());
//   mapping.join();                                       // before the first fork
//   while (runtime.PreloadNext()) {}
//
// The standard library is the one that a package brought beside the worker, else Debian's: no path
// comes from the outside.

#ifndef DOSSIER_WORKERS_PYTHON_INTERPRETER_H_
#define DOSSIER_WORKERS_PYTHON_INTERPRETER_H_

#include <string>
#include <vector>

#include "python_ref.h"

namespace dossier::worker {

// The folder of the standard library: `python3.11` beside the worker where it is there, as in the
// relocatable packages, else the system's. Asked before the sandbox's walls are closed, behind
// which the worker no longer sees where it lies.
std::string FindStandardLibrary();

// The folders that code may read of it, for the read rules of the sandbox.
std::vector<std::string> StandardLibraryFolders(const std::string& library);

// Errors: kUnavailable naming the Debian packages if the library or its files are missing.
Status StartInterpreter(const std::string& library);

// Maps the extension modules of preload.txt and the libraries they need: a session may not make
// memory executable, but it can import what is mapped. Needs no interpreter; may run beside its
// start. One that is not installed is skipped.
void MapExtensions(const std::string& library);

class Runtime {
 public:
  Runtime(Ref module, Ref rest) : module_(std::move(module)), rest_(std::move(rest)) {}

  PyObject* module() const { return module_.get(); }  // dossier_runtime
  // Imports one more module of preload.txt. False if all are there.
  bool PreloadNext();

 private:
  Ref module_, rest_;
};

// Loads every module of ours and what a first block needs, and freezes what exists for the garbage
// collector, so that forks do not copy it.
Result<Runtime> LoadRuntime();

// "3.11.2"
std::string InterpreterVersion();

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PYTHON_INTERPRETER_H_
