#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/files/file.h"
#include "base/process/supervised_process.h"
#include "base/text/text.h"
#include "evaluation/run/systems.h"

namespace dossier::evaluation {
namespace {

constexpr std::size_t kMostAnswer = 64u << 20;  // bytes kept of stdout
constexpr std::size_t kMostErrors = 64u << 10;
constexpr Millis kGrace{2000};  // between TERM and KILL
constexpr Millis kDrain{500};   // for pending output after the program has ended

// Output of one pipe, kept up to a limit.
struct Kept {
  std::string* text;
  std::size_t most;
  bool cut = false, open = true;

  void Read(int fd) {
    std::array<char, 64 << 10> block;
    const ssize_t got = read(fd, block.data(), block.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
      open = false;
      return;
    }
    const auto count = static_cast<std::size_t>(got);
    const std::size_t kept = std::min(count, most - text->size());
    text->append(block.data(), kept);
    cut = cut || kept < count;
  }
};

class CommandRun {
 public:
  CommandRun(SupervisedProcess process, Millis limit)
      : process_(std::move(process)), end_at_(SystemClock()->Now() + limit) {}

  Result<CommandEnd> Run(const CancelToken& cancel) {
    const CancelFd stop(cancel);
    while (!Done()) {
      pollfd waits[] = {{out_.open ? process_.out() : -1, POLLIN, 0},
                        {err_.open ? process_.err() : -1, POLLIN, 0},
                        {ended_ ? -1 : process_.report(), POLLIN, 0},
                        {stopped_ ? -1 : stop.fd(), POLLIN, 0}};
      if (poll(waits, std::size(waits), WaitMillis()) < 0 && errno != EINTR) {
        return MakeErrnoError(errno, "poll");
      }
      if (waits[0].revents != 0) out_.Read(process_.out());
      if (waits[1].revents != 0) err_.Read(process_.err());
      if (!ended_) TakeEnd();
      if (ended_ || stopped_) continue;
      end_.timed_out = SystemClock()->Now() >= end_at_;
      if (!end_.timed_out && !cancel.cancelled()) continue;
      stopped_ = true;
      process_.Stop();
    }
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    if (ended_->not_started) return tl::unexpected(*ended_->not_started);
    end_.exit_code = ended_->exit_code;
    end_.signal = ended_->signal;
    end_.out_cut = out_.cut;
    return std::move(end_);
  }

 private:
  void TakeEnd() {
    ended_ = process_.TakeEnd();
    if (ended_) drain_until_ = SystemClock()->Now() + kDrain;
  }
  bool Done() const {
    if (!ended_) return false;
    return (!out_.open && !err_.open) || SystemClock()->Now() >= drain_until_;
  }
  int WaitMillis() const {
    if (stopped_ && !ended_) return -1;
    const auto until = ended_ ? drain_until_ : end_at_;
    const auto left = std::chrono::ceil<Millis>(until - SystemClock()->Now()).count();
    return static_cast<int>(std::clamp<Millis::rep>(left, 0, 60'000));
  }

  SupervisedProcess process_;
  const Clock::Steady end_at_;
  CommandEnd end_;
  Kept out_{&end_.out, kMostAnswer}, err_{&end_.err, kMostErrors};
  std::optional<ProcessEnd> ended_;
  Clock::Steady drain_until_;
  bool stopped_ = false;
};

}  // namespace

Result<CommandEnd> RunCommand(const SystemCommand& command, const CancelToken& cancel) {
  ProcessSpec spec{.argv = command.argv, .folder = command.folder, .input = command.input};
  std::map<std::string, std::string> environment = {{"HOME", command.folder},
                                                    {"TMPDIR", command.folder},
                                                    {"LANG", "C.UTF-8"},
                                                    {"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                                    {"PYTHONDONTWRITEBYTECODE", "1"}};
  for (const auto& [name, value] : command.environment) environment[name] = value;
  spec.environment.emplace();
  for (const auto& [name, value] : environment) spec.environment->push_back(name + "=" + value);
  DOSSIER_ASSIGN_OR_RETURN(
      SupervisedProcess process,
      SupervisedProcess::Start(spec, {.grace = kGrace, .leftovers = Supervision::Leftovers::kEnd}));
  return CommandRun(std::move(process), command.limit).Run(cancel);
}

std::vector<std::string> FillWords(const std::vector<std::string>& argv,
                                   const std::map<std::string, std::string>& values,
                                   const std::vector<std::string>& contexts) {
  std::vector<std::string> words;
  for (const std::string& word : argv) {
    if (word == "{contexts}") {
      words.insert(words.end(), contexts.begin(), contexts.end());
      continue;
    }
    // A single pass from the left: inserted text is never scanned again.
    std::string filled;
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t close = word[at] == '{' ? word.find('}', at) : std::string::npos;
      const auto name = close == std::string::npos ? "" : word.substr(at + 1, close - at - 1);
      const auto value = values.find(name);
      if (close != std::string::npos && value != values.end()) {
        filled += value->second;
        at = close + 1;
      } else if (name == "contexts") {
        filled += Join(contexts, " ");
        at = close + 1;
      } else {
        filled += word[at++];
      }
    }
    words.push_back(std::move(filled));
  }
  return words;
}

}  // namespace dossier::evaluation
