// The main program of a worker: started by libdossier as a zygote, with the control socket as
// descriptor 3 and the isolation options as its only argument.
//
//   int main(int argc, char** argv) {
//     return RunWorker(argc, argv, {.name = "dossier-python-worker", .language = "python", …});
//   }

#ifndef DOSSIER_WORKERS_PROCESS_WORKER_MAIN_H_
#define DOSSIER_WORKERS_PROCESS_WORKER_MAIN_H_

#include <functional>
#include <memory>
#include <string>

#include "language.h"
#include "sandbox/walls/isolation.h"

namespace dossier::worker {

struct WorkerProgram {
  std::string name, language, version;  // "dossier-python-worker", "python", "3.11.2"
  // What the walls must leave open for this language; asked before they are closed.
  std::function<void(sandbox::IsolationOptions*)> adapt;
  // In the new root, with the load folders still there. Errors: kUnavailable.
  std::function<Result<std::unique_ptr<Language>>()> start;
};

int RunWorker(int argc, char** argv, const WorkerProgram& program);

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PROCESS_WORKER_MAIN_H_
