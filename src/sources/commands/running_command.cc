#include "sources/commands/running_command.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>

namespace dossier::sources {
namespace {

// How long output is read after the end of the program: a child of it may still hold the pipes.
constexpr Millis kDrain{100};
constexpr std::size_t kBlock = 256 << 10;

// 10, 0.5, 1.25: as configured, without a unit.
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
  if (const auto* argv = std::get_if<Argv>(&command.run)) return *argv;
  return {"/bin/sh", "-c", std::get<std::string>(command.run)};
}

}  // namespace

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
  std::array<char, kBlock> block;  // not thread_local: each start of the program would clear it
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
  if (stopped_) return std::nullopt;  // the supervisor keeps the time
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

}  // namespace dossier::sources
