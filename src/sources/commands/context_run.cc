#include "sources/commands/context_run.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>

#include "base/process/git_call.h"
#include "sources/commands/command_environment.h"
#include "sources/commands/context_blocks.h"
#include "sources/commands/running_command.h"

namespace dossier::sources {
namespace {

using Time = RunningCommand::Time;
using SteadyClock = std::chrono::steady_clock;

// All commands of one phase.
class Phase {
 public:
  Phase(std::span<const ContextCommand> commands, const ContextRunOptions& options,
        const CancelToken& cancel)
      : commands_(commands), options_(options), cancel_(cancel), results_(commands.size()) {}

  Result<std::vector<CommandResult>> Run() {
    wake_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_.valid()) return MakeErrnoError(errno, "eventfd");
    inherited_ = options_.environment ? *options_.environment : CurrentEnvironment();
    ends_at_ = SteadyClock::now() + options_.deadline;
    const std::uint64_t id = cancel_.OnCancel([fd = wake_.get()] {
      const std::uint64_t one = 1;
      [[maybe_unused]] const ssize_t written = write(fd, &one, sizeof(one));
    });
    const Status ran = RunAll();
    cancel_.Forget(id);
    running_.clear();  // whatever an error left
    DOSSIER_RETURN_IF_ERROR(ran);
    if (cancelled_) {
      return MakeError(ErrorCode::kCancelled, "context commands were stopped: {}",
                       cancel_.reason());
    }
    if (failure_) return tl::unexpected(*failure_);
    return std::move(results_);
  }

 private:
  bool giving_up() const { return cancelled_ || failure_; }

  Status RunAll() {
    while (true) {
      DOSSIER_RETURN_IF_ERROR(StartSome());
      if (running_.empty()) return {};
      DOSSIER_RETURN_IF_ERROR(Poll());
      KeepTime();
      DOSSIER_RETURN_IF_ERROR(TakeDone());
    }
  }

  Status StartSome() {
    while (next_ < commands_.size() && !giving_up() && !late_ &&
           running_.size() < options_.max_parallel) {
      const ContextCommand& command = commands_[next_];
      auto running = std::make_unique<RunningCommand>(command, next_++, options_);
      running->Start(EnvironmentOf(command), SteadyClock::now());
      running_.push_back(std::move(running));
      DOSSIER_RETURN_IF_ERROR(TakeDone());
    }
    return late_ && !giving_up() ? SkipRest() : Status();
  }

  std::vector<std::string> EnvironmentOf(const ContextCommand& command) {
    std::vector<std::string> environment =
        CommandEnvironment(inherited_, command, options_.known_keys);
    const auto known = walls_.find(command.folder);
    const auto& walls = known != walls_.end()
                            ? known->second
                            : walls_[command.folder] = GitWallsFor(
                                  command.folder.empty() ? "." : command.folder, cancel_);
    AddGitWalls(walls, &environment);
    return environment;
  }

  // Those for which no time is left.
  Status SkipRest() {
    for (; next_ < commands_.size(); ++next_) {
      CommandResult result{.index = next_, .outcome = CommandOutcome::kTimeout};
      result.sha256 = Sha256Hex("");
      result.error = fmt::format("Command timed out after {} seconds",
                                 static_cast<double>(options_.deadline.count()) / 1000);
      result.notes.phase_deadline = true;
      Keep(std::move(result));
    }
    return {};
  }

  Status Poll() {
    std::vector<pollfd> waits(1 + running_.size() * RunningCommand::kDescriptors);
    waits[0] = {giving_up() ? -1 : wake_.get(), POLLIN, 0};
    for (std::size_t i = 0; i < running_.size(); ++i) {
      running_[i]->Descriptors(&waits[1 + i * RunningCommand::kDescriptors]);
    }
    const int ready = poll(waits.data(), waits.size(), WaitMillis());
    if (ready < 0 && errno != EINTR) return MakeErrnoError(errno, "poll");
    if (ready <= 0) return {};
    const Time now = SteadyClock::now();
    for (std::size_t i = 0; i < running_.size(); ++i) {
      DOSSIER_RETURN_IF_ERROR(
          running_[i]->OnReady(&waits[1 + i * RunningCommand::kDescriptors], now));
    }
    if (waits[0].revents) {
      cancelled_ = true;
      StopAll(RunningCommand::StopReason::kAbandoned);
    }
    return {};
  }

  int WaitMillis() const {
    std::optional<Time> first;
    if (!late_) first = ends_at_;
    for (const auto& running : running_) {
      const auto at = running->wake_at();
      if (at && (!first || *at < *first)) first = at;
    }
    if (!first) return -1;
    const auto left = std::chrono::ceil<Millis>(*first - SteadyClock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }

  void KeepTime() {
    const Time now = SteadyClock::now();
    for (const auto& running : running_) running->OnTime(now);
    if (late_ || now < ends_at_) return;
    late_ = true;
    StopAll(RunningCommand::StopReason::kPhaseDeadline);
  }

  void StopAll(RunningCommand::StopReason reason) {
    for (const auto& running : running_) running->Stop(reason);
  }

  Status TakeDone() {
    const Time now = SteadyClock::now();
    for (auto& running : running_) {
      if (!running->done()) continue;
      DOSSIER_ASSIGN_OR_RETURN(CommandResult result, running->TakeResult(now));
      running.reset();
      Keep(std::move(result));
    }
    std::erase(running_, nullptr);
    if (failure_) StopAll(RunningCommand::StopReason::kAbandoned);
    return {};
  }

  void Keep(CommandResult result) {
    const ContextCommand& command = commands_[result.index];
    if (result.failed() && command.on_failure == OnFailure::kFail && !giving_up()) {
      failure_ = Error{ErrorCode::kContextCommand,
                       fmt::format("context command '{}' failed: {}",
                                   assembly::MarkerName(command.name), result.error)};
    }
    results_[result.index] = std::move(result);
  }

  const std::span<const ContextCommand> commands_;
  const ContextRunOptions& options_;
  const CancelToken& cancel_;
  UniqueFd wake_;
  std::vector<std::string> inherited_;
  std::map<std::string, std::vector<GitSetting>> walls_;  // by folder
  std::vector<CommandResult> results_;
  std::vector<std::unique_ptr<RunningCommand>> running_;
  std::size_t next_ = 0;  // the first that has not been started
  Time ends_at_{};
  bool late_ = false;  // the phase's time is up
  bool cancelled_ = false;
  std::optional<Error> failure_;
};

Status CheckOptions(std::span<const ContextCommand> commands, const ContextRunOptions& options) {
  if (options.max_parallel < 1) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the number of parallel commands must be above 0");
  }
  if (options.deadline <= Millis(0)) {
    return MakeError(ErrorCode::kInvalidArgument, "the time for context commands must be above 0");
  }
  for (const ContextCommand& command : commands) {
    if (command.timeout <= Millis(0)) {
      return MakeError(ErrorCode::kInvalidArgument, "context command '{}': timeout must be above 0",
                       command.name);
    }
    if (command.keep_full && !options.store) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "context command '{}': keep_full needs a content store", command.name);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<CommandResult>> RunContext(std::span<const ContextCommand> commands,
                                              const ContextRunOptions& options,
                                              const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(CheckOptions(commands, options));
  if (cancel.cancelled()) {
    return MakeError(ErrorCode::kCancelled, "cancelled: {}", cancel.reason());
  }
  return Phase(commands, options, cancel).Run();
}

std::vector<std::string> RenderBlocks(std::span<const ContextCommand> commands,
                                      std::span<const CommandResult> results) {
  std::vector<std::string> blocks;
  for (const CommandResult& result : results) {
    const ContextCommand& command = commands[result.index];
    if (result.failed() && command.on_failure == OnFailure::kIgnore) continue;
    blocks.push_back(RenderBlock(command.name, result));
  }
  return blocks;
}

}  // namespace dossier::sources
