#include "research/exec/command_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::research {
namespace {

using Root = SandboxFacts::Root;
using Words = std::span<const ShellWord>;

constexpr std::string_view kEngines[] = {"apptainer", "docker", "enroot", "podman", "singularity"};
constexpr std::string_view kPackageManagers[] = {"apk",    "apt",  "apt-get", "aptitude", "dnf",
                                                 "pacman", "snap", "yum",     "zypper"};
constexpr std::string_view kShells[] = {"sh", "bash", "dash", "ksh", "zsh"};
// Programs that start the program named after their own flags.
constexpr std::string_view kWrappers[] = {"command", "env",    "exec",    "ionice", "nice", "nohup",
                                          "setsid",  "stdbuf", "timeout", "time",   "xargs"};
constexpr std::string_view kSudoNote = "a leading sudo was dropped: commands are root here already";

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Matches flags, NAME=value, and numbers such as in `timeout 10s` and `nice -n 5`.
bool BelongsToWrapper(std::string_view word) {
  if (word.starts_with('-') || word.find('=') != std::string_view::npos) return true;
  const std::size_t digits = std::min(word.find_first_not_of("0123456789."), word.size());
  return digits > 0 && word.size() - digits <= 1;
}

// Returns the number of `sudo` words before the command itself.
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

RuledCommand ApplyCommandRules(const ExecCommand& command, Root root) {
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

namespace {

bool PartsWords(char c) { return IsBlank(c) || c == '\r'; }
bool IsOperator(char c) {
  return c == ';' || c == '&' || c == '|' || c == '(' || c == ')' || c == '<' || c == '>' ||
         c == '\n';
}

// NAME=…
bool IsAssignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                     [](char c) { return IsWordByte(c); });
}

bool IsGrammar(std::string_view word) {
  constexpr std::array<std::string_view, 13> kWords = {
      "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "esac"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

class Scanner {
 public:
  explicit Scanner(std::string_view line) : line_(line) {}

  std::vector<ShellCommand> Scan() {
    // A closing bracket without an open one ends a list, not the line.
    while (at_ < line_.size()) List('\0', 0);
    return std::move(commands_);
  }

 private:
  bool Done() const { return at_ >= line_.size(); }
  char Here() const { return line_[at_]; }
  bool Sees(std::string_view text) const { return line_.substr(at_).starts_with(text); }

  // Commands up to and with `end`, or to the end of the line.
  void List(char end, int depth) {
    std::vector<ShellWord> words;
    bool redirected = false;  // the next word is a file
    while (!Done()) {
      const char c = Here();
      if (PartsWords(c)) {
        ++at_;
      } else if (Sees("\\\n")) {
        at_ += 2;
      } else if (c == '#') {
        at_ = std::min(line_.find('\n', at_), line_.size());
      } else if (c == end || c == ')') {
        ++at_;
        break;
      } else if (c == '(') {
        Finish(words);
        ++at_;
        Nested(')', depth);
      } else if (c == '<' || c == '>' || Sees("&>")) {
        redirected = Redirection(words);
      } else if (IsOperator(c)) {
        Finish(words);
        ++at_;
        if (c == '\n') SkipDocuments();
      } else {
        ShellWord word = Word(end, depth);
        if (redirected) {
          if (wants_mark_) documents_.push_back(std::move(word.text));
          wants_mark_ = false;
        } else {
          words.push_back(std::move(word));
        }
        redirected = false;
      }
    }
    Finish(words);
  }

  void Nested(char end, int depth) {
    if (depth < kMaxShellDepth) return List(end, depth + 1);
    at_ = line_.size();
  }

  // Whether a word follows that names its file.
  bool Redirection(std::vector<ShellWord>& words) {
    const bool is_number = !words.empty() && words.back().end == at_ &&
                           words.back().text.find_first_not_of("0123456789") == std::string::npos;
    if (is_number) words.pop_back();
    if (Sees("<(") || Sees(">(")) {
      ++at_;
      return false;
    }
    if (Sees("<<<")) {
      at_ += 3;
      return true;
    }
    wants_mark_ = Sees("<<");
    for (; !Done() && (Here() == '<' || Here() == '>' || Here() == '&' || Here() == '|'); ++at_) {
    }
    if (wants_mark_ && !Done() && Here() == '-') ++at_;
    return true;
  }

  // At the start of a line: the bodies of here documents that the line before announced.
  void SkipDocuments() {
    for (const std::string& mark : std::exchange(documents_, {})) {
      while (!Done()) {
        const std::size_t end = std::min(line_.find('\n', at_), line_.size());
        std::string_view body = line_.substr(at_, end - at_);
        body.remove_prefix(std::min(body.find_first_not_of('\t'), body.size()));
        at_ = std::min(end + 1, line_.size());
        if (body == mark) break;
      }
    }
  }

  ShellWord Word(char end, int depth) {
    ShellWord word{.begin = at_};
    while (!Done()) {
      const char c = Here();
      if (PartsWords(c) || IsOperator(c) || (c == end && end == '`')) break;
      if (c == '\'') {
        Quoted(word.text);
      } else if (c == '"') {
        ++at_;
        while (!Done() && Here() != '"') Piece(word.text, end, depth);
        at_ = std::min(at_ + 1, line_.size());
      } else {
        Piece(word.text, end, depth);
      }
    }
    word.end = at_;
    return word;
  }

  void Quoted(std::string& text) {
    const std::size_t close = std::min(line_.find('\'', at_ + 1), line_.size());
    text.append(line_.substr(at_ + 1, close - at_ - 1));
    at_ = std::min(close + 1, line_.size());
  }

  // One byte of a word, or a whole substitution.
  void Piece(std::string& text, char end, int depth) {
    const char c = Here();
    if (c == '\\') {
      if (!Sees("\\\n") && at_ + 1 < line_.size()) text.push_back(line_[at_ + 1]);
      at_ = std::min(at_ + 2, line_.size());
    } else if (Sees("$(")) {
      at_ += 2;
      Nested(')', depth);
    } else if (c == '`' && end != '`') {
      ++at_;
      Nested('`', depth);
    } else {
      text.push_back(c);
      ++at_;
    }
  }

  void Finish(std::vector<ShellWord>& words) {
    auto first = words.begin();
    while (first != words.end() && (IsGrammar(first->text) || IsAssignment(first->text))) ++first;
    words.erase(words.begin(), first);
    if (!words.empty()) commands_.push_back({std::move(words)});
    words.clear();
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::vector<ShellCommand> commands_;
  std::vector<std::string> documents_;  // marks whose bodies begin on the next line
  bool wants_mark_ = false;
};

}  // namespace

std::vector<ShellCommand> ShellCommands(std::string_view line) { return Scanner(line).Scan(); }

}  // namespace dossier::research
