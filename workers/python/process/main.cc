// dossier-python-worker. Not for use by hand.

#include "interpreter.h"
#include "python_language.h"
#include "worker_main.h"

int main(int argc, char** argv) {
  using namespace dossier;
  const std::string library = worker::FindStandardLibrary();
  return worker::RunWorker(
      argc, argv,
      {.name = "dossier-python-worker",
       .language = "python",
       .version = worker::InterpreterVersion(),
       .adapt =
           [&library](sandbox::IsolationOptions* options) {
             for (std::string& folder : worker::StandardLibraryFolders(library)) {
               options->read_folders.push_back(std::move(folder));
             }
           },
       .start = [&library] { return worker::StartPython(library); }});
}
