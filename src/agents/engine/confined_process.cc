#include "agents/engine/confined_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "agents/engine/process_jail.h"
#include "base/cancel.h"
#include "base/files/file.h"
#include "base/process/supervised_process.h"
#include "base/text/text.h"
#include "sandbox/jail/jail.h"

namespace dossier::agents {
namespace {

constexpr std::size_t kBlock = 64 << 10;  // bytes per read
// Maximum wait for output after the program and its children have ended.
constexpr Millis kDrain{1000};

// One pipe of the program, and its destination.
class Stream {
 public:
  explicit Stream(CappedFile file) : file_(std::move(file)) {}

  bool open() const { return open_; }
  void Close() { open_ = false; }
  Result<CappedOutput> Finish() { return file_.Finish(); }

  // Reads available bytes, at most one block.
  Status Read(int fd) {
    std::array<char, kBlock> block;  // not thread_local: it would be cleared at each program start
    const ssize_t got = read(fd, block.data(), block.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return {};
    if (got <= 0) {
      open_ = false;
      return {};
    }
    return file_.Add({block.data(), static_cast<std::size_t>(got)});
  }

 private:
  CappedFile file_;
  bool open_ = true;
};

class Running {
 public:
  Running(const ConfinedProcess& process, SupervisedProcess child, Stream out, Stream err)
      : process_(process),
        child_(std::move(child)),
        out_(std::move(out)),
        err_(std::move(err)),
        started_(SystemClock()->Now()) {}

  Result<ProcessOutcome> Run(const CancelToken& cancel) {
    const CancelFd stop(cancel);
    while (!Done()) {
      pollfd waits[] = {{out_.open() ? child_.out() : -1, POLLIN, 0},
                        {err_.open() ? child_.err() : -1, POLLIN, 0},
                        {end_ ? -1 : child_.report(), POLLIN, 0},
                        {stopped_ ? -1 : stop.fd(), POLLIN, 0}};
      if (poll(waits, std::size(waits), WaitMillis()) < 0 && errno != EINTR) {
        return MakeErrnoError(errno, "poll");
      }
      if (waits[0].revents) DOSSIER_RETURN_IF_ERROR(out_.Read(child_.out()));
      if (waits[1].revents) DOSSIER_RETURN_IF_ERROR(err_.Read(child_.err()));
      if (waits[2].revents && !end_) TakeEnd();
      if (cancel.cancelled()) Stop(ProcessOutcome::End::kCancelled);
      if (process_.time_limit && Now() - started_ >= *process_.time_limit) {
        Stop(ProcessOutcome::End::kTimeout);
      }
    }
    return Outcome();
  }

 private:
  static Clock::Steady Now() { return SystemClock()->Now(); }

  bool Done() const {
    return end_ && ((!out_.open() && !err_.open()) || Now() >= ended_at_ + kDrain);
  }

  int WaitMillis() const {
    std::optional<Clock::Steady> until;
    if (end_) {
      until = ended_at_ + kDrain;
    } else if (!stopped_ && process_.time_limit) {
      until = started_ + *process_.time_limit;
    }
    if (!until) return -1;
    const auto left = std::chrono::ceil<Millis>(*until - Now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }

  void TakeEnd() {
    end_ = child_.TakeEnd();
    if (end_) ended_at_ = Now();
  }

  void Stop(ProcessOutcome::End why) {
    if (stopped_ || end_) return;
    stopped_ = why;
    child_.Stop();
  }

  Result<ProcessOutcome> Outcome() {
    if (end_->not_started) return tl::unexpected(*end_->not_started);
    ProcessOutcome outcome;
    outcome.took = std::chrono::duration_cast<Millis>(ended_at_ - started_);
    if (stopped_) {
      outcome.end = *stopped_;
    } else if (end_->signal != 0) {
      outcome.end = ProcessOutcome::End::kSignal;
      outcome.signal = end_->signal;
    } else {
      outcome.exit_code = end_->exit_code;
    }
    if (end_->left == ProcessEnd::Left::kSurvivors) {
      outcome.left = ProcessOutcome::Left::kSurvivors;
    }
    DOSSIER_ASSIGN_OR_RETURN(outcome.out, out_.Finish());
    DOSSIER_ASSIGN_OR_RETURN(outcome.err, err_.Finish());
    return outcome;
  }

  const ConfinedProcess& process_;
  SupervisedProcess child_;
  Stream out_, err_;
  const Clock::Steady started_;
  Clock::Steady ended_at_{};
  std::optional<ProcessEnd> end_;
  std::optional<ProcessOutcome::End> stopped_;
};

std::string_view NameOf(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

}  // namespace

std::string_view ConfinementName(Confinement confinement) {
  return confinement == Confinement::kJail ? "jail" : "none";
}

namespace {

constexpr std::string_view kWithoutWalls =
    "--confine none runs without walls, and every result says so";

// Adds the remedy to errors of the jail; leaves others unchanged.
Error WithWayOut(Error error) {
  if (error.code != ErrorCode::kUnavailable) return error;
  error.message += fmt::format("{}; {}", sandbox::WayOut(error), kWithoutWalls);
  return error;
}

ProcessOutcome OutcomeOf(const sandbox::Exit& exit) {
  ProcessOutcome outcome{.took = exit.wall};
  if (exit.timed_out()) {
    outcome.end = ProcessOutcome::End::kTimeout;
  } else if (exit.cancelled()) {
    outcome.end = ProcessOutcome::End::kCancelled;
  } else if (exit.stop != sandbox::JailStop::kNothing || exit.signal != 0) {
    outcome.end = ProcessOutcome::End::kSignal;
    outcome.signal = exit.signal != 0 ? exit.signal : SIGKILL;
    outcome.limit = sandbox::JailStopName(exit.stop);
  } else {
    outcome.exit_code = exit.status;
  }
  return outcome;
}

Result<ProcessOutcome> RunInJail(const ConfinedProcess& process, const std::string& temporary,
                                 CappedFile out, CappedFile err, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const sandbox::JailSpec spec, JailFor(process, temporary));
  // A full disk ends the program.
  CancelSource stop(cancel);
  Status written;
  sandbox::Io io{.cancel = stop.token()};
  io.on_output = [&](sandbox::Stream stream, std::string_view bytes) {
    if (!written) return;
    written = (stream == sandbox::Stream::kOut ? out : err).Add(bytes);
    if (!written) stop.Cancel("its output cannot be kept");
  };
  auto exit = sandbox::RunJailed(spec, process.argv, io);
  DOSSIER_RETURN_IF_ERROR(written);
  if (!exit) return tl::unexpected(WithWayOut(exit.error()));
  ProcessOutcome outcome = OutcomeOf(*exit);
  DOSSIER_ASSIGN_OR_RETURN(outcome.out, out.Finish());
  DOSSIER_ASSIGN_OR_RETURN(outcome.err, err.Finish());
  return outcome;
}

Result<ProcessOutcome> RunFree(const ConfinedProcess& process, const std::string& temporary,
                               CappedFile out, CappedFile err, const CancelToken& cancel) {
  ProcessSpec spec{.argv = process.argv, .folder = process.folder, .input = process.input};
  spec.environment = process.environment;
  spec.environment->push_back("TMPDIR=" + temporary);
  DOSSIER_ASSIGN_OR_RETURN(
      SupervisedProcess child,
      SupervisedProcess::Start(
          spec, {.grace = process.grace, .leftovers = Supervision::Leftovers::kEnd}));
  return Running(process, std::move(child), Stream(std::move(out)), Stream(std::move(err)))
      .Run(cancel);
}

}  // namespace

Result<std::string> TryWalls(const Walls& walls) {
  if (walls.confinement == Confinement::kNone) return std::string("none");
  DOSSIER_RETURN_IF_ERROR(sandbox::CheckLayerNames(walls.degraded));
  DOSSIER_ASSIGN_OR_RETURN(const TempFolder temporary, TempFolder::Make("dossier-walls"));
  ConfinedProcess nothing{.argv = {"true"}, .folder = temporary.path(), .walls = walls};
  nothing.places.own = {temporary.path()};
  DOSSIER_ASSIGN_OR_RETURN(const sandbox::JailSpec spec, JailFor(nothing, temporary.path()));
  const auto exit = sandbox::RunJailed(spec, nothing.argv);
  if (!exit) {
    const Error error = WithWayOut(exit.error());
    return MakeError(error.code, "engines and checks cannot be walled in: {}", error.message);
  }
  if (exit->shell_status() != 0) {
    return MakeError(
        ErrorCode::kUnavailable,
        "engines and checks cannot be walled in: behind the walls `true` ended with {}{}"
        "; {}",
        exit->shell_status(), exit->err.empty() ? "" : fmt::format(" ({})", TrimSpace(exit->err)),
        kWithoutWalls);
  }
  const std::vector<std::string> missing = sandbox::MissingLayers(exit->report);
  std::string text(ConfinementName(walls.confinement));
  if (!missing.empty()) text += " without " + Join(missing, ", ");
  return text;
}

Result<ProcessOutcome> RunConfined(const ConfinedProcess& process, const CancelToken& cancel) {
  static const SecretValues kNoSecrets;
  const SecretValues& secrets = process.secrets ? *process.secrets : kNoSecrets;
  DOSSIER_ASSIGN_OR_RETURN(const TempFolder temporary, TempFolder::Make("dossier-engine"));
  DOSSIER_ASSIGN_OR_RETURN(CappedFile out, CappedFile::Create(process.out_path, secrets));
  DOSSIER_ASSIGN_OR_RETURN(CappedFile err, CappedFile::Create(process.err_path, secrets));
  const auto run = process.walls.confinement == Confinement::kJail ? RunInJail : RunFree;
  return run(process, temporary.path(), std::move(out), std::move(err), cancel);
}

std::vector<std::string> EngineEnvironment(const std::vector<std::string>& own,
                                           const std::vector<std::string>& allow) {
  static const std::vector<std::string> kPassed = {"PATH", "HOME", "LANG", "TERM", "USER", "SHELL"};
  std::vector<std::string> out;
  for (const std::string& variable : own) {
    const std::string_view name = NameOf(variable);
    if (name == "TMPDIR") continue;  // each process gets its own
    if (IsOneOf(name, kPassed) || name.starts_with("LC_") || IsOneOf(name, allow)) {
      out.push_back(variable);
    }
  }
  return out;
}

SecretValues SecretsOf(const std::vector<std::string>& own, const std::vector<std::string>& allow) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const std::string& variable : own) {
    const std::string_view name = NameOf(variable);
    if (IsOneOf(name, allow) && name.size() < variable.size()) {
      values.emplace_back(name, variable.substr(name.size() + 1));
    }
  }
  return SecretValues(std::move(values));
}

Result<CappedFile> CappedFile::Create(const std::string& path, const SecretValues& secrets,
                                      std::uint64_t max_bytes) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  return CappedFile(path, std::move(fd), secrets, max_bytes);
}

Status CappedFile::Add(std::string_view bytes) {
  output_.bytes += bytes.size();
  const std::size_t kept = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
  left_ -= kept;
  output_.dropped += bytes.size() - kept;
  if (kept == 0) return {};
  return Write(redact_.Add(filter_.Add(bytes.substr(0, kept))));
}

Result<CappedOutput> CappedFile::Finish() {
  // After a cut, the rest may be half of a secret.
  const std::string rest = filter_.Finish();
  DOSSIER_RETURN_IF_ERROR(Write(redact_.Add(output_.dropped == 0 ? rest : "")));
  DOSSIER_RETURN_IF_ERROR(Write(redact_.Finish()));
  fd_.Reset();
  return output_;
}

Status CappedFile::Write(std::string_view text) {
  if (text.empty()) return {};
  if (Status written = WriteAll(fd_.get(), text); !written) {
    return MakeError(written.error().code, "{} bytes for {}: {}", text.size(), path_,
                     written.error().message);
  }
  return {};
}

}  // namespace dossier::agents
