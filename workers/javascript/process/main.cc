// dossier-javascript-worker. Not for use by hand.

#include "javascript_language.h"
#include "worker_main.h"

int main(int argc, char** argv) {
  using namespace dossier;
  // Compiled code needs executable memory; files are nothing that code could name.
  return worker::RunWorker(argc, argv,
                           {.name = "dossier-javascript-worker",
                            .language = "javascript",
                            .version = worker::EngineVersion(),
                            .adapt =
                                [](sandbox::IsolationOptions* options) {
                                  options->needs = {.executable = sandbox::ExecutableMemory::kAllow,
                                                    .files = sandbox::FileAccess::kNone};
                                  options->read_folders.clear();
                                },
                            .start = worker::StartJavaScript});
}
