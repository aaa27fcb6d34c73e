// dossier_bench sandbox | jail | commands | conversation FOLDER | engine FOLDER
// completions|batch|children | tokens FILE | assembly FILE | repository FOLDER | model | memory
// FOLDER [EMBEDDING] | memory-store | render | research | library FOLDER: figures as lines of JSON,
// for bench/run; instant-server: a port.

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "benches.h"

int main(int argc, char** argv) {
  using namespace dossier;
  const std::string_view group = argc > 1 ? argv[1] : "";
  Status done;
  if (group == "sandbox" && argc == 2) {
    done = bench::RunSandboxBench();
  } else if (group == "jail" && argc == 2) {
    done = bench::RunJailBench();
  } else if (group == "commands" && argc == 2) {
    done = bench::RunCommandsBench();
  } else if (group == "conversation" && argc == 3) {
    done = bench::RunConversationBench(argv[2]);
  } else if (group == "engine" && argc == 4) {
    done = bench::RunEngineBench(argv[2], argv[3]);
  } else if (group == "tokens" && argc == 3) {
    done = bench::RunTokensBench(argv[2]);
  } else if (group == "assembly" && argc == 3) {
    done = bench::RunAssemblyBench(argv[2]);
  } else if (group == "repository" && argc == 3) {
    done = bench::RunRepositoryBench(argv[2]);
  } else if (group == "model" && argc == 2) {
    done = bench::RunModelBench();
  } else if (group == "memory" && (argc == 3 || argc == 4)) {
    done = bench::RunMemoryBench(argv[2], argc == 4 ? argv[3] : "");
  } else if (group == "memory-store" && argc == 2) {
    done = bench::RunMemoryStoreBench();
  } else if (group == "render" && argc == 2) {
    done = bench::RunRenderBench();
  } else if (group == "research" && argc == 2) {
    done = bench::RunResearchBench();
  } else if (group == "library" && argc == 3) {
    done = bench::RunLibraryBench(argv[2]);
  } else if (group == "instant-server" && argc == 2) {
    done = bench::RunInstantServer();
  } else {
    fmt::print(stderr,
               "usage: dossier_bench sandbox | jail | commands | conversation FOLDER | "
               "engine FOLDER completions|batch|children | tokens FILE | assembly FILE | "
               "repository FOLDER | model | memory FOLDER [EMBEDDING] | memory-store | render | "
               "research | library FOLDER | instant-server\n");
    return 2;
  }
  if (done) return 0;
  fmt::print(stderr, "dossier_bench: {}\n", done.error().message);
  return 1;
}
