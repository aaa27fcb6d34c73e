#include "worker_main.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "base/files/locations.h"
#include "sandbox/session/message.h"
#include "sandbox/session/session_socket.h"
#include "sandbox/session/zygote_client.h"
#include "zygote.h"

namespace dossier::worker {
namespace {

constexpr int kUsageExit = 2;
constexpr int kUnavailableExit = 12;

sandbox::Message Hello(const WorkerProgram& program) {
  sandbox::Message hello{.type = sandbox::MessageType::kHello, .id = 1};
  hello.json = {{"protocol", sandbox::kProtocolVersion}, {"worker", program.name},
                {"version", sandbox::kWorkerVersion},    {"language", program.language},
                {"language_version", program.version},   {"features", JsonArray()}};
  return hello;
}

struct Started {
  sandbox::IsolationPlan plan;
  std::unique_ptr<Language> language;
};

Result<Started> Start(const char* options_text, const WorkerProgram& program) {
  DOSSIER_ASSIGN_OR_RETURN(const Json json, ParseJson(options_text));
  DOSSIER_ASSIGN_OR_RETURN(sandbox::IsolationOptions options,
                           sandbox::IsolationOptions::FromJson(json));
  // The shared libraries of a relocatable package; the system's are among the folders already.
  if (auto shared = FindInstalled("../../lib/dossier")) {
    options.load_folders.push_back(std::move(*shared));
  }
  options.worker = fmt::format("{} {}", program.language, program.version);
  if (program.adapt) program.adapt(&options);
  sandbox::IsolationPlan plan(std::move(options));
  DOSSIER_RETURN_IF_ERROR(plan.PrepareZygote());
  // The self test is another process: it is done while the language starts.
  DOSSIER_ASSIGN_OR_RETURN(sandbox::SelfTest self_test, sandbox::SelfTest::Start(plan));
  DOSSIER_ASSIGN_OR_RETURN(std::unique_ptr<Language> language, program.start());
  DOSSIER_RETURN_IF_ERROR(plan.FinishZygote());
  DOSSIER_RETURN_IF_ERROR(self_test.Finish());
  return Started{std::move(plan), std::move(language)};
}

}  // namespace

int RunWorker(int argc, char** argv, const WorkerProgram& program) {
  if (argc != 2 || fcntl(sandbox::kZygoteControlFd, F_GETFD) < 0) {
    std::fprintf(stderr, "%s is started by dossier, not by hand\n", program.name.c_str());
    return kUsageExit;
  }
  UniqueFd control(sandbox::kZygoteControlFd);
  fcntl(control.get(), F_SETFD, FD_CLOEXEC);
  Result<Started> started = Start(argv[1], program);
  if (!started) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    return kUnavailableExit;
  }
  if (!sandbox::SendWithFds(control.get(), sandbox::MessageWriter::Encode(Hello(program)), {})) {
    return 0;
  }
  // Standard error was a pipe for start-up errors; nobody reads it any more. 0 is /dev/null.
  dup2(0, 1);
  dup2(0, 2);
  Zygote zygote(std::move(started->plan), std::move(started->language), std::move(control));
  // Straight to the kernel: nothing of the interpreter is wound down.
  _exit(zygote.Serve());
}

}  // namespace dossier::worker
