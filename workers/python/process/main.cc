// dossier-python-worker: started by libdossier as a zygote, with the control socket as descriptor 3
// and the isolation options as its only argument. Not for use by hand.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "base/files/locations.h"
#include "interpreter.h"
#include "sandbox/session/message.h"
#include "sandbox/session/session_socket.h"
#include "sandbox/session/zygote_client.h"
#include "sandbox/walls/isolation.h"
#include "zygote.h"

namespace dossier::worker {
namespace {

constexpr int kUsageExit = 2;
constexpr int kUnavailableExit = 12;

sandbox::Message Hello() {
  sandbox::Message hello{.type = sandbox::MessageType::kHello, .id = 1};
  hello.json = {{"protocol", sandbox::kProtocolVersion},    {"worker", "dossier-python-worker"},
                {"version", sandbox::kWorkerVersion},       {"language", "python"},
                {"language_version", InterpreterVersion()}, {"features", JsonArray()}};
  return hello;
}

struct Started {
  sandbox::IsolationPlan plan;
  Runtime runtime;
};

Result<Runtime> StartPython(const std::string& library) {
  DOSSIER_RETURN_IF_ERROR(StartInterpreter(library));
  return LoadRuntime();
}

Result<Started> Start(const char* options_text) {
  DOSSIER_ASSIGN_OR_RETURN(const Json json, ParseJson(options_text));
  DOSSIER_ASSIGN_OR_RETURN(sandbox::IsolationOptions options,
                           sandbox::IsolationOptions::FromJson(json));
  const std::string library = FindStandardLibrary();
  for (std::string& folder : StandardLibraryFolders(library)) {
    options.read_folders.push_back(std::move(folder));
  }
  // The shared libraries of a relocatable package; the system's are among the folders already.
  if (auto shared = FindInstalled("../../lib/dossier")) {
    options.load_folders.push_back(std::move(*shared));
  }
  options.worker = "python " + InterpreterVersion();
  sandbox::IsolationPlan plan(std::move(options));
  DOSSIER_RETURN_IF_ERROR(plan.PrepareZygote());
  // The self test is another process, the mapping another thread: both are done while Python
  // starts.
  DOSSIER_ASSIGN_OR_RETURN(sandbox::SelfTest self_test, sandbox::SelfTest::Start(plan));
  std::thread mapping([&library] { MapExtensions(library); });
  Result<Runtime> runtime = StartPython(library);
  mapping.join();
  if (!runtime) return tl::unexpected(runtime.error());
  DOSSIER_RETURN_IF_ERROR(plan.FinishZygote());
  DOSSIER_RETURN_IF_ERROR(self_test.Finish());
  return Started{std::move(plan), std::move(*runtime)};
}

int Main(int argc, char** argv) {
  if (argc != 2 || fcntl(sandbox::kZygoteControlFd, F_GETFD) < 0) {
    std::fputs("dossier-python-worker is started by dossier, not by hand\n", stderr);
    return kUsageExit;
  }
  UniqueFd control(sandbox::kZygoteControlFd);
  fcntl(control.get(), F_SETFD, FD_CLOEXEC);
  Result<Started> started = Start(argv[1]);
  if (!started) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    return kUnavailableExit;
  }
  if (!sandbox::SendWithFds(control.get(), sandbox::MessageWriter::Encode(Hello()), {})) return 0;
  // Standard error was a pipe for start-up errors; nobody reads it any more. 0 is /dev/null.
  dup2(0, 1);
  dup2(0, 2);
  Zygote zygote(std::move(started->plan), std::move(started->runtime), std::move(control));
  // Straight to the kernel: nothing of the interpreter is wound down.
  _exit(zygote.Serve());
}

}  // namespace
}  // namespace dossier::worker

int main(int argc, char** argv) { return dossier::worker::Main(argc, argv); }
