// One context command while it runs: its process, its pipes, its times.
//
//   RunningCommand running(command, index, options);
//   running.Start(environment, now);
//   // poll running.Descriptors(); then running.OnReady(descriptor), running.OnTime(now)
//   if (running.done()) results[index] = running.TakeResult();
//
// Private to this module; RunContext drives it. Thread-safety: one owner.

#ifndef DOSSIER_SOURCES_COMMANDS_RUNNING_COMMAND_H_
#define DOSSIER_SOURCES_COMMANDS_RUNNING_COMMAND_H_

#include <poll.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/process/supervised_process.h"
#include "sources/commands/command_output.h"
#include "sources/commands/context_run.h"

namespace dossier::sources {

class RunningCommand {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kDescriptors = 3;  // stdout, stderr, the report

  RunningCommand(const ContextCommand& command, std::size_t index, const ContextRunOptions& options)
      : command_(command), options_(options), output_(command, options.rules, options.store) {
    result_.index = index;
  }

  // A command that cannot be started is done at once.
  void Start(std::span<const std::string> environment, Time now);

  // Filled with what to poll; closed ones are -1.
  void Descriptors(pollfd* waits) const;
  // After the poll. Errors: kIo.
  Status OnReady(const pollfd* waits, Time now);
  // When OnTime wants to be called.
  std::optional<Time> wake_at() const;
  void OnTime(Time now);

  enum class StopReason { kTimeout, kPhaseDeadline, kAbandoned };
  void Stop(StopReason reason);

  bool done() const { return done_; }
  const ContextCommand& command() const { return command_; }
  // Once done. Errors: kIo.
  Result<CommandResult> TakeResult(Time now);

 private:
  enum class Pipe { kOut, kErr };
  Status Read(Pipe pipe);
  void TakeEnd(Time now);
  void Close();
  void Judge();
  void NotStarted(const Error& error);

  const ContextCommand& command_;
  const ContextRunOptions& options_;
  CommandOutput output_;
  CommandResult result_;
  std::optional<SupervisedProcess> process_;
  std::optional<ProcessEnd> end_;
  std::optional<StopReason> stopped_;
  Time started_{}, ends_at_{};
  Time drained_at_{};  // once ended: how long its pipes are read
  bool done_ = false;
};

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COMMANDS_RUNNING_COMMAND_H_
