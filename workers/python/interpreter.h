// The embedded interpreter: isolated, without site, environment or bytecode files, with the modules
// of preload.txt and our own Python half loaded.
//
//   DOSSIER_RETURN_IF_ERROR(StartInterpreter());          // once a process, in the zygote
//   DOSSIER_ASSIGN_OR_RETURN(Ref runtime, LoadRuntime());  // dossier_runtime
//   Ref result = CallRuntime(runtime.get(), "run_block", args);
//
// The folder of the standard library is fixed at build time: no path comes from the outside.

#ifndef DOSSIER_WORKERS_PYTHON_INTERPRETER_H_
#define DOSSIER_WORKERS_PYTHON_INTERPRETER_H_

#include <string>
#include <vector>

#include "python_ref.h"

namespace dossier::worker {

// The standard library, for the read rules of the sandbox.
std::vector<std::string> StandardLibraryFolders();

// Errors: kUnavailable naming the Debian packages if the library or its files are missing.
Status StartInterpreter();

// Imports the modules of preload.txt, then every module of ours, and freezes what exists for the
// garbage collector, so that forks do not copy it. A preload that is not installed is skipped.
Result<Ref> LoadRuntime();

// "3.11.2"
std::string InterpreterVersion();

// random.seed(seed).
Status SeedRandom(std::uint64_t seed);

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PYTHON_INTERPRETER_H_
