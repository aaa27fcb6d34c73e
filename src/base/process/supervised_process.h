// Runs a program and keeps control of everything that it starts.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto process, SupervisedProcess::Start({.argv = {"/bin/sh", "-c",
//   line}}));
//   // poll process.out(), process.err(), process.report()
//   if (auto ended = process.TakeEnd()) Use(ended->exit_code);
//   process.Stop();                            // TERM, a grace of 100 ms, KILL to all descendants
//
// A small process between us and the program is the "child subreaper" of everything that the
// program starts, so it also finds children that leave the process group and the session. It ends
// them on request, when the program fails, and when our process dies. Children left by a program
// that ended with 0 live on under init, unless `leftovers` says otherwise. The program runs in its
// own session, without a terminal. Starting costs a fork of our process; there is no thread.
//
// Ownership: the destructor stops a running program and waits. Thread-safety: one owner.

#ifndef DOSSIER_BASE_PROCESS_SUPERVISED_PROCESS_H_
#define DOSSIER_BASE_PROCESS_SUPERVISED_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <utility>

#include "base/files/file.h"
#include "base/process/process.h"

namespace dossier {

struct Supervision {
  Millis grace{100};  // between TERM and KILL
  // The treatment of children of a program that ended with 0.
  enum class Leftovers { kLive, kEnd } leftovers = Leftovers::kLive;
};

struct ProcessEnd {
  std::optional<Error> not_started;
  int exit_code = -1;  // -1 if ended by a signal
  int signal = 0;
  enum class Left {
    kNothing,
    kBackground,  // children of a success, alive
    kSurvivors,   // children that could not be killed, such as another user's
  } left = Left::kNothing;
};

class SupervisedProcess {
 public:
  // Takes argv, folder, environment and input of `spec`. Errors: kInvalidArgument, kNotFound (a
  // bare name that is not on PATH), kIo; other failures to start come with the end.
  static Result<SupervisedProcess> Start(const ProcessSpec& spec, const Supervision& rules = {});
  SupervisedProcess(SupervisedProcess&& other) noexcept;
  SupervisedProcess& operator=(SupervisedProcess&&) = delete;
  ~SupervisedProcess();

  // Pipes of the program, to be read without blocking.
  int out() const { return out_.get(); }
  int err() const { return err_.get(); }
  void CloseOut() { out_.Reset(); }
  void CloseErr() { err_.Reset(); }

  // Becomes readable when the program has ended and TakeEnd has a result.
  int report() const { return control_.get(); }
  std::optional<ProcessEnd> TakeEnd();

  // Asks the supervisor to end the program and all its descendants; TakeEnd reports when they have
  // ended. May be repeated.
  void Stop();

 private:
  SupervisedProcess(pid_t supervisor, std::string program, Millis grace, UniqueFd control,
                    UniqueFd out, UniqueFd err)
      : supervisor_(supervisor),
        program_(std::move(program)),
        grace_(grace),
        control_(std::move(control)),
        out_(std::move(out)),
        err_(std::move(err)) {}

  pid_t supervisor_;  // -1 once reaped
  std::string program_;
  Millis grace_;
  UniqueFd control_, out_, err_;
};

// As RunProcess, but cancellation, a timeout and a failure of the program end all descendants,
// whatever their group or session. Also uses `timeout` and `max_output` of `spec`. Does not wait
// for descendants that still hold the output when the program has ended.
//
//   DOSSIER_ASSIGN_OR_RETURN(ProcessResult result, RunSupervised(spec, {}, cancel));
Result<ProcessResult> RunSupervised(const ProcessSpec& spec, const Supervision& rules = {},
                                    const CancelToken& cancel = {});

}  // namespace dossier

#endif  // DOSSIER_BASE_PROCESS_SUPERVISED_PROCESS_H_
