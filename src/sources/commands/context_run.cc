#include "sources/commands/context_run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/sources/fence.h"
#include "base/cancel.h"
#include "base/files/file.h"
#include "base/hash.h"
#include "base/process/git_call.h"
#include "base/process/supervised_process.h"
#include "base/text/text.h"
#include "sources/commands/command_text.h"
#include "sources/commands/context_command.h"
#include "store/content.h"

namespace dossier::sources {
namespace {

// One running context command: its process, its pipes, its times.
//
//   RunningCommand running(command, index, options);
//   running.Start(environment, now);
//   // poll running.Descriptors(); then running.OnReady(descriptor), running.OnTime(now)
//   if (running.done()) results[index] = running.TakeResult();
//
// Private to this file; RunContext drives it. Thread-safety: one owner.

// The whole output of one command as one stream: stdout and then, if it is not blank, LF and
// stderr.
//
//   CommandOutput output(command, CommandRules::kDossier, store);
//   output.AddOut(block);  output.AddErr(block);
//   DOSSIER_RETURN_IF_ERROR(std::move(output).Finish(&result));   // bytes, sha256, text, kept,
//   notes
//
// stdout is hashed, cleaned and truncated as it arrives; stderr is kept until the end, in
// memory and above 64 KiB in an unnamed file. Thread-safety: one owner.

// Buffers bytes; above 64 KiB on disk.
class Spool {
 public:
  Status Add(std::string_view bytes);
  // Calls visit(block) for all bytes, in order.
  template <typename Visit>
  Status ForEachBlock(Visit visit) const;

 private:
  Status Spill();

  std::string memory_;
  UniqueFd file_;
};

class CommandOutput {
 public:
  // `store` receives the whole output of commands with keep_full; it may be null for others.
  CommandOutput(const ContextCommand& command, CommandRules rules,
                const store::ContentStore* store);

  // Errors: kIo from the disk.
  Status AddOut(std::string_view bytes);
  Status AddErr(std::string_view bytes);
  Status Finish(CommandResult* result) &&;

 private:
  Status Take(std::string_view bytes);

  const ContextCommand& command_;
  const store::ContentStore* store_;
  CommandText text_;
  Sha256 hash_;
  std::uint64_t bytes_ = 0;
  Spool err_;
  std::uint64_t err_bytes_ = 0;  // also those that are dropped
  bool err_blank_ = true;
  std::optional<store::ContentWriter> writer_;
};

class RunningCommand {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kDescriptors = 3;  // stdout, stderr, the report

  RunningCommand(const ContextCommand& command, std::size_t index, const ContextRunOptions& options)
      : command_(command), options_(options), output_(command, options.rules, options.store) {
    result_.index = index;
  }

  // A command that cannot be started is finished at once.
  void Start(std::span<const std::string> environment, Time now);

  // Fills in the descriptors to poll; closed ones are -1.
  void Descriptors(pollfd* waits) const;
  // Call after the poll. Errors: kIo.
  Status OnReady(const pollfd* waits, Time now);
  // The time at which OnTime must be called.
  std::optional<Time> wake_at() const;
  void OnTime(Time now);

  enum class StopReason { kTimeout, kPhaseDeadline, kAbandoned };
  void Stop(StopReason reason);

  bool done() const { return done_; }
  const ContextCommand& command() const { return command_; }
  // Call when it is done. Errors: kIo.
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
  Time drained_at_{};  // after its end: until when its pipes are read
  bool done_ = false;
};

constexpr std::size_t kMaxMemory = 64 << 10;
// stderr waits on disk until the command ends, so a runaway program could fill it.
constexpr std::uint64_t kMaxErr = 64 << 20;

// How long output is read after the program has ended, since a child may still hold the pipes.
constexpr Millis kDrain{100};
constexpr std::size_t kBlock = 256 << 10;

// Returns 10, 0.5 or 1.25: as configured, without a unit.
std::string SecondsText(Millis time) {
  return fmt::format("{}", static_cast<double>(time.count()) / 1000);
}

std::string SignalText(int number, CommandRules rules) {
  if (rules == CommandRules::kCompat) return fmt::format("Command exited with code -{}", number);
  const char* name = sigabbrev_np(number);
  return name ? fmt::format("Command killed by signal {} (SIG{})", number, name)
              : fmt::format("Command killed by signal {}", number);
}

std::vector<std::string> ArgvOf(const ContextCommand& command) {
  if (const auto* argv = std::get_if<CommandArgv>(&command.run)) return *argv;
  return {"/bin/sh", "-c", std::get<std::string>(command.run)};
}

Status Spool::Spill() {
  if (!file_.valid()) {
    DOSSIER_ASSIGN_OR_RETURN(file_, OpenNameless());
  }
  DOSSIER_RETURN_IF_ERROR(WriteAll(file_.get(), memory_));
  memory_.clear();
  return {};
}

Status Spool::Add(std::string_view bytes) {
  memory_ += bytes;
  if (memory_.size() > kMaxMemory) return Spill();
  return {};
}

template <typename Visit>
Status Spool::ForEachBlock(Visit visit) const {
  if (file_.valid()) {
    std::string block(kMaxMemory, '\0');
    for (off_t at = 0;;) {
      const ssize_t got = pread(file_.get(), block.data(), block.size(), at);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return MakeErrnoError(errno, "read back stderr");
      if (got == 0) break;
      DOSSIER_RETURN_IF_ERROR(visit(std::string_view(block).substr(0, static_cast<size_t>(got))));
      at += got;
    }
  }
  return visit(memory_);
}

CommandOutput::CommandOutput(const ContextCommand& command, CommandRules rules,
                             const store::ContentStore* store)
    : command_(command),
      store_(command.keep_full ? store : nullptr),
      text_({.cap = command.max_output, .rules = rules}) {}

Status CommandOutput::Take(std::string_view bytes) {
  bytes_ += bytes.size();
  hash_.Update(bytes);
  text_.Add(bytes);
  if (!store_) return {};
  if (!writer_) {
    DOSSIER_ASSIGN_OR_RETURN(store::ContentWriter writer, store::ContentWriter::Start(*store_));
    writer_.emplace(std::move(writer));
  }
  return writer_->Write(bytes);
}

Status CommandOutput::AddOut(std::string_view bytes) { return Take(bytes); }

Status CommandOutput::AddErr(std::string_view bytes) {
  err_blank_ = err_blank_ && TrimSpace(bytes).empty();
  const std::uint64_t room = kMaxErr - std::min(kMaxErr, err_bytes_);
  err_bytes_ += bytes.size();
  return err_.Add(bytes.substr(0, room));
}

Status CommandOutput::Finish(CommandResult* result) && {
  text_.EndStream();
  if (!err_blank_) {
    DOSSIER_RETURN_IF_ERROR(Take("\n"));
    DOSSIER_RETURN_IF_ERROR(
        err_.ForEachBlock([this](std::string_view block) { return Take(block); }));
    if (err_bytes_ > kMaxErr) result->notes.cut_bytes = err_bytes_ - kMaxErr;
  }
  if (writer_) {
    DOSSIER_ASSIGN_OR_RETURN(const store::StoredBody body, std::move(*writer_).Finish());
    result->notes.stored = body.sha256;
  }
  CommandText::Kept kept = std::move(text_).Finish(assembly::MarkerName(command_.name));
  result->bytes = bytes_ + result->notes.cut_bytes;
  result->sha256 = hash_.Hex();
  result->text = std::move(kept.text);
  result->kept = result->text.size();
  result->notes.cut_bytes += kept.cut_bytes;
  result->notes.invalid_bytes = kept.invalid;
  result->notes.terminal_escapes = kept.escapes;
  // Escaping adds one byte to each escaped line.
  result->notes.escaped_lines = assembly::EscapeMarkers(result->text).size() - result->text.size();
  return {};
}

void RunningCommand::Start(std::span<const std::string> environment, Time now) {
  started_ = now;
  ends_at_ = now + command_.timeout;
  const ProcessSpec spec{
      .argv = ArgvOf(command_),
      .folder = command_.folder,
      .environment = std::vector<std::string>(environment.begin(), environment.end())};
  auto process = SupervisedProcess::Start(spec);
  if (!process) return NotStarted(process.error());
  process_.emplace(std::move(*process));
}

void RunningCommand::NotStarted(const Error& error) {
  result_.outcome = CommandOutcome::kStartError;
  result_.error = "Execution error: " + error.message;
  done_ = true;
}

void RunningCommand::Descriptors(pollfd* waits) const {
  waits[0] = {process_->out(), POLLIN, 0};
  waits[1] = {process_->err(), POLLIN, 0};
  waits[2] = {end_ ? -1 : process_->report(), POLLIN, 0};
}

Status RunningCommand::OnReady(const pollfd* waits, Time now) {
  if (waits[0].revents) DOSSIER_RETURN_IF_ERROR(Read(Pipe::kOut));
  if (waits[1].revents) DOSSIER_RETURN_IF_ERROR(Read(Pipe::kErr));
  if (waits[2].revents) TakeEnd(now);
  if (end_ && process_->out() < 0 && process_->err() < 0) Close();
  return {};
}

Status RunningCommand::Read(Pipe pipe) {
  std::array<char, kBlock> block;  // not thread_local: each program start would clear it
  const int fd = pipe == Pipe::kOut ? process_->out() : process_->err();
  const ssize_t got = read(fd, block.data(), block.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  if (got <= 0) {
    pipe == Pipe::kOut ? process_->CloseOut() : process_->CloseErr();
    return {};
  }
  const std::string_view bytes(block.data(), static_cast<std::size_t>(got));
  return pipe == Pipe::kOut ? output_.AddOut(bytes) : output_.AddErr(bytes);
}

void RunningCommand::TakeEnd(Time now) {
  end_ = process_->TakeEnd();
  drained_at_ = now + kDrain;
}

std::optional<RunningCommand::Time> RunningCommand::wake_at() const {
  if (end_) return drained_at_;
  if (stopped_) return std::nullopt;  // the supervisor enforces the time
  return ends_at_;
}

void RunningCommand::OnTime(Time now) {
  if (done_) return;
  if (end_) {
    if (now >= drained_at_) Close();
  } else if (!stopped_ && now >= ends_at_) {
    Stop(StopReason::kTimeout);
  }
}

void RunningCommand::Stop(StopReason reason) {
  if (stopped_ || end_ || done_) return;
  stopped_ = reason;
  process_->Stop();
}

void RunningCommand::Close() {
  process_->CloseOut();
  process_->CloseErr();
  Judge();
  done_ = true;
}

void RunningCommand::Judge() {
  result_.notes.left_background = end_->left == ProcessEnd::Left::kBackground;
  result_.notes.survivors = end_->left == ProcessEnd::Left::kSurvivors;
  if (end_->not_started) return NotStarted(*end_->not_started);
  result_.status = end_->signal != 0 ? end_->signal : end_->exit_code;
  if (stopped_) {
    result_.notes.phase_deadline = stopped_ == StopReason::kPhaseDeadline;
    const Millis limit = result_.notes.phase_deadline ? options_.deadline : command_.timeout;
    result_.outcome = CommandOutcome::kTimeout;
    result_.error = fmt::format("Command timed out after {} seconds", SecondsText(limit));
  } else if (end_->signal != 0) {
    result_.outcome = CommandOutcome::kSignal;
    result_.error = SignalText(end_->signal, options_.rules);
  } else if (end_->exit_code != 0) {
    result_.outcome = CommandOutcome::kExit;
    result_.error = fmt::format("Command exited with code {}", end_->exit_code);
  }
}

Result<CommandResult> RunningCommand::TakeResult(Time now) {
  DOSSIER_RETURN_IF_ERROR(std::move(output_).Finish(&result_));
  result_.took = std::chrono::duration_cast<Millis>(now - started_);
  return std::move(result_);
}

using Time = RunningCommand::Time;
using SteadyClock = std::chrono::steady_clock;

// Runs all commands of one phase.
class Phase {
 public:
  Phase(std::span<const ContextCommand> commands, const ContextRunOptions& options,
        const CancelToken& cancel)
      : commands_(commands), options_(options), cancel_(cancel), results_(commands.size()) {}

  Result<std::vector<CommandResult>> Run() {
    inherited_ = options_.environment ? *options_.environment : CurrentEnvironment();
    ends_at_ = SteadyClock::now() + options_.deadline;
    const Status ran = RunAll();
    running_.clear();  // ends what an error left running
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

  // Marks the commands for which no time is left.
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
    waits[0] = {giving_up() ? -1 : wake_.fd(), POLLIN, 0};
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
  const CancelFd wake_{cancel_};
  std::vector<std::string> inherited_;
  std::map<std::string, std::vector<GitSetting>> walls_;  // by folder
  std::vector<CommandResult> results_;
  std::vector<std::unique_ptr<RunningCommand>> running_;
  std::size_t next_ = 0;  // the first that has not been started
  Time ends_at_{};
  bool late_ = false;  // the time of the phase is over
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

namespace {

std::vector<CommandResult> CutTo(std::span<const ContextCommand> commands, std::uint64_t cap,
                                 std::span<const CommandResult> results) {
  std::vector<CommandResult> cut(results.begin(), results.end());
  for (CommandResult& result : cut) {
    const std::string text = std::move(result.text);
    if (text.size() <= cap) {
      result.text = text;
      continue;
    }
    std::uint64_t bytes = 0;
    const std::string name = assembly::MarkerName(commands[result.index].name);
    result.text = JoinEnds(
        text, std::string_view(text).substr(text.size() - cap / 4),
        {.whole = text.size(), .cap = cap, .limit = "context_max_tokens", .name = name}, &bytes);
    result.notes.cut_bytes += bytes;
    result.kept = result.text.size();
    result.notes.escaped_lines = assembly::EscapeMarkers(result.text).size() - result.text.size();
  }
  return cut;
}

}  // namespace

Status CutToTokens(std::span<const ContextCommand> commands, std::int64_t max_tokens,
                   const CountTokens& count, std::vector<CommandResult>* results) {
  const auto fits = [&](std::span<const CommandResult> candidates) {
    return count(JoinBlocks(RenderBlocks(commands, candidates))) <= max_tokens;
  };
  if (fits(*results)) return {};
  std::vector<CommandResult> best = CutTo(commands, 0, *results);
  if (!fits(best)) {
    return MakeError(ErrorCode::kTooLong,
                     "context_max_tokens {}: the blocks of {} commands do not fit, even without "
                     "their output",
                     GroupDigits(static_cast<std::uint64_t>(std::max<std::int64_t>(max_tokens, 0))),
                     results->size());
  }
  std::uint64_t low = 0, high = 0;  // low fits, high does not
  for (const CommandResult& result : *results) {
    high = std::max<std::uint64_t>(high, result.text.size());
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    std::vector<CommandResult> candidate = CutTo(commands, middle, *results);
    if (fits(candidate)) {
      low = middle;
      best = std::move(candidate);
    } else {
      high = middle;
    }
  }
  *results = std::move(best);
  return {};
}

}  // namespace dossier::sources
