#include "research/exec/command_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "base/text/text.h"
#include "research/exec/shell_words.h"

namespace dossier::research {
namespace {

using Root = SandboxFacts::Root;
using Words = std::span<const ShellWord>;

constexpr std::string_view kEngines[] = {"apptainer", "docker", "enroot", "podman", "singularity"};
constexpr std::string_view kPackageManagers[] = {"apk",    "apt",  "apt-get", "aptitude", "dnf",
                                                 "pacman", "snap", "yum",     "zypper"};
constexpr std::string_view kShells[] = {"sh", "bash", "dash", "ksh", "zsh"};
// Programs that start the program named behind their own flags.
constexpr std::string_view kWrappers[] = {"command", "env",    "exec",    "ionice", "nice", "nohup",
                                          "setsid",  "stdbuf", "timeout", "time",   "xargs"};
constexpr std::string_view kSudoNote = "a leading sudo was dropped: commands are root here already";

template <std::size_t N>
bool IsOneOf(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Flags, NAME=value, and numbers like those of `timeout 10s` and `nice -n 5`.
bool BelongsToWrapper(std::string_view word) {
  if (word.starts_with('-') || word.find('=') != std::string_view::npos) return true;
  const std::size_t digits = std::min(word.find_first_not_of("0123456789."), word.size());
  return digits > 0 && word.size() - digits <= 1;
}

// Words of `sudo` before the command itself.
std::size_t SudoWords(Words words) {
  std::size_t count = 1;
  while (count < words.size() && words[count].text.starts_with('-')) {
    const std::string& flag = words[count].text;
    const bool takes_value =
        flag.size() == 2 && std::string_view("ugpChrtTR").find(flag[1]) != std::string_view::npos;
    count += takes_value ? 2 : 1;
    if (flag == "--") break;
  }
  while (count < words.size() && words[count].text.find('=') != std::string::npos) ++count;
  return std::min(count, words.size());
}

struct Cut {
  std::size_t begin, end;
};

class Judge {
 public:
  explicit Judge(Root root) : root_(root) {}

  void Line(std::string_view line, int depth) {
    for (const ShellCommand& command : ShellCommands(line)) Simple(command.words, depth);
  }

  void Simple(Words words, int depth) {
    while (!words.empty() && reason_.empty()) {
      const std::string_view name = BaseName(words[0].text);
      if (IsOneOf(name, kEngines)) return RefuseEngine(name);
      if (name == "sudo") {
        if (root_ == Root::kNo) return RefuseRoot(name);
        const std::size_t count = SudoWords(words);
        if (depth == 0) {
          cuts_.push_back(
              {words[0].begin, count < words.size() ? words[count].begin : words[count - 1].end});
        }
        words = words.subspan(count);
      } else if (IsOneOf(name, kWrappers)) {
        if (words.size() > 1 && name == "command" && words[1].text.starts_with("-")) return;
        std::size_t count = 1;
        while (count < words.size() && BelongsToWrapper(words[count].text)) ++count;
        words = words.subspan(count);
      } else if (IsOneOf(name, kShells) || name == "eval") {
        return Script(words, depth);
      } else {
        const bool installs = name == "dpkg" && words.size() > 1 &&
                              (words[1].text == "-i" || words[1].text == "--install");
        if (root_ == Root::kNo && (installs || IsOneOf(name, kPackageManagers))) RefuseRoot(name);
        return;
      }
    }
  }

  const std::string& reason() const { return reason_; }
  // In the order of the line, which a nested command may not have been found in.
  std::vector<Cut> TakeCuts() {
    std::sort(cuts_.begin(), cuts_.end(),
              [](const Cut& a, const Cut& b) { return a.begin < b.begin; });
    return std::move(cuts_);
  }

 private:
  // What `sh -c TEXT` and `eval TEXT` run.
  void Script(Words words, int depth) {
    if (depth >= kMaxShellDepth) return;
    const bool evaluates = BaseName(words[0].text) == "eval";
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string& word = words[i].text;
      if (evaluates) {
        Line(word, depth + 1);
      } else if (word.size() > 1 && word[0] == '-' && word[1] != '-' && word.back() == 'c') {
        if (i + 1 < words.size()) Line(words[i + 1].text, depth + 1);
        return;
      } else if (!word.starts_with('-')) {
        return;
      }
    }
  }

  void RefuseEngine(std::string_view name) {
    reason_ = fmt::format(
        "refused: {} would start a container; this command runs inside the sandbox already, so "
        "give the inner command alone",
        name);
  }
  void RefuseRoot(std::string_view name) {
    reason_ = fmt::format(
        "refused: {} needs root, which there is none of here; install below the workspace instead "
        "(python3 -m pip install --target /workspace/.pydeps NAME) or build from source",
        name);
  }

  Root root_;
  std::string reason_;
  std::vector<Cut> cuts_;
};

std::string WithoutCuts(std::string_view line, const std::vector<Cut>& cuts) {
  std::string result;
  std::size_t at = 0;
  for (const Cut& cut : cuts) {
    if (cut.begin < at) continue;
    result.append(line.substr(at, cut.begin - at));
    at = cut.end;
  }
  return result.append(line.substr(at));
}

}  // namespace

RuledCommand ApplyCommandRules(const Command& command, Root root) {
  RuledCommand ruled{.command = command};
  Judge judge(root);
  if (command.argv.empty()) {
    judge.Line(command.command, 0);
  } else {
    std::vector<ShellWord> words;
    for (std::size_t i = 0; i < command.argv.size(); ++i) {
      words.push_back({command.argv[i], i, i + 1});
    }
    judge.Simple(words, 0);
  }
  if (!judge.reason().empty()) {
    ruled.refusal = ExecResult{
        .status = kRefusedStatus, .refused = judge.reason(), .err = judge.reason() + "\n"};
    ruled.refusal->err_bytes = ruled.refusal->err.size();
    return ruled;
  }
  const std::vector<Cut> cuts = judge.TakeCuts();
  if (cuts.empty()) return ruled;
  ruled.note = kSudoNote;
  if (command.argv.empty()) {
    ruled.command.command = WithoutCuts(command.command, cuts);
  } else {
    const auto first = ruled.command.argv.begin();
    ruled.command.argv.erase(first + static_cast<std::ptrdiff_t>(cuts[0].begin),
                             first + static_cast<std::ptrdiff_t>(cuts[0].end));
  }
  return ruled;
}

tl::unexpected<Error> NotStarted() {
  return MakeError(ErrorCode::kInternal, "the sandbox was not started before its first command");
}

tl::unexpected<Error> Cancelled(const CancelToken& cancel) {
  const std::string reason = cancel.reason();
  return MakeError(ErrorCode::kCancelled, "{}", reason.empty() ? "cancelled" : reason);
}

}  // namespace dossier::research
