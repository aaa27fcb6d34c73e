#include "agents/policy/policy_check.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "agents/git/path_rules.h"
#include "base/files/file.h"
#include "base/text/text.h"
#include "sources/header/agents_config.h"

namespace dossier::agents {
namespace {

struct Pattern {
  std::string written;
  std::vector<PolicyGlob> globs;

  bool Matches(std::string_view path) const {
    return std::any_of(globs.begin(), globs.end(),
                       [&](const PolicyGlob& glob) { return glob.Matches(path); });
  }
};
using Patterns = std::vector<Pattern>;

const Pattern* FindMatch(const Patterns& patterns, std::string_view path) {
  const auto found = std::find_if(patterns.begin(), patterns.end(),
                                  [&](const Pattern& pattern) { return pattern.Matches(path); });
  return found == patterns.end() ? nullptr : &*found;
}

// A denied name without a slash matches at any depth, and also a folder of that name.
Pattern DenyPattern(const std::string& written) {
  Pattern pattern{.written = written};
  if (written.find('/') != std::string::npos) {
    pattern.globs.emplace_back(written, CaseSensitivity::kInsensitive);
  } else {
    pattern.globs.emplace_back("**/" + written, CaseSensitivity::kInsensitive);
    pattern.globs.emplace_back(fmt::format("**/{}/**", written), CaseSensitivity::kInsensitive);
  }
  return pattern;
}

Pattern AllowPattern(const std::string& written) {
  Pattern pattern{.written = written};
  pattern.globs.emplace_back(written, CaseSensitivity::kSensitive);
  return pattern;
}

template <typename Make>
Patterns MakePatterns(const std::vector<std::string>& written, Make make) {
  Patterns patterns;
  for (const std::string& one : written) patterns.push_back(make(one));
  return patterns;
}

// Returns a target in the form of patch paths: "./src/" is "src", "." is "".
std::string_view PlainTarget(std::string_view target) {
  while (target.starts_with("./")) target.remove_prefix(2);
  while (target.ends_with('/')) target.remove_suffix(1);
  return target == "." ? "" : target;
}

class Targets {
 public:
  explicit Targets(const std::vector<std::string>& targets) {
    for (const std::string& target : targets) {
      const std::string_view plain = PlainTarget(target);
      plain_.emplace_back(plain);
      if (plain.find_first_of("*?[{\\") != std::string_view::npos) {
        globs_.emplace_back(plain, CaseSensitivity::kSensitive);
      }
    }
  }

  // A name with glob characters may also be meant literally: "src/[id].ts".
  bool Hold(std::string_view path) const {
    const bool named = std::any_of(plain_.begin(), plain_.end(), [&](const std::string& plain) {
      return plain.empty() || IsBelow(path, plain);
    });
    return plain_.empty() || named ||
           std::any_of(globs_.begin(), globs_.end(),
                       [&](const PolicyGlob& glob) { return glob.Matches(path); });
  }

 private:
  std::vector<std::string> plain_;
  std::vector<PolicyGlob> globs_;
};

class Judge {
 public:
  Judge(const sources::ChangePolicy& policy, const std::vector<std::string>& targets,
        const SteeringFiles& control)
      : policy_(policy),
        deny_(MakePatterns(policy.deny, DenyPattern)),
        allow_(MakePatterns(policy.allow, AllowPattern)),
        written_targets_(Join(targets, ",")),
        targets_(targets) {
    for (const std::string& path : control.paths) {
      control_.push_back(FoldPath(PlainTarget(path)));
    }
  }

  PolicyReport Report(const Patch& patch) {
    report_.violations = patch.violations;
    for (const PathChange& change : patch.changes) {
      JudgePath(change);
      JudgeKind(change);
    }
    Limit("max-lines-added", patch.stat.added, policy_.max_lines_added);
    Limit("max-lines-deleted", patch.stat.deleted, policy_.max_lines_deleted);
    Limit("max-files", patch.stat.files, policy_.max_files);
    const bool known = std::any_of(patch.violations.begin(), patch.violations.end(),
                                   [](const Violation& v) { return v.rule == "too-large"; });
    if (!known) Limit("too-large", patch.bytes, policy_.max_patch_bytes);
    return std::move(report_);
  }

 private:
  void Add(std::string_view rule, const PathChange& change, std::string value = "",
           std::string limit = "") {
    report_.violations.push_back(
        {std::string(rule), change.path, std::move(value), std::move(limit)});
  }

  void JudgePath(const PathChange& change) {
    const std::string& path = change.path;
    if (const char* problem = PathProblem(path)) Add("path", change, problem);
    if (const Pattern* pattern = FindMatch(deny_, path)) {
      report_.denied.push_back(path);
      Add("deny", change, "", pattern->written);
    }
    if (!allow_.empty() && !FindMatch(allow_, path)) {
      report_.not_allowed.push_back(path);
      Add("allow", change, "", Join(policy_.allow, ","));
    }
    if (!targets_.Hold(path)) Add("targets", change, "", written_targets_);
    if (!policy_.allow_control_files) JudgeControl(change);
  }

  void JudgeControl(const PathChange& change) {
    const std::string path = FoldPath(change.path);
    for (const std::string& control : control_) {
      // A file in place of a folder that contains control files would remove them.
      if (IsBelow(path, control) || IsBelow(control, path)) {
        return Add("control-file", change, "", control);
      }
    }
  }

  void JudgeKind(const PathChange& change) {
    if (change.binary && !policy_.allow_binary) Add("binary", change);
    const bool submodule = change.old_mode == kModeSubmodule || change.new_mode == kModeSubmodule;
    if (submodule && !policy_.allow_submodules) Add("submodule", change, "a repository of its own");
    if (change.new_mode != kModeLink) return;
    if (!policy_.allow_symlinks) return Add("symlink", change, change.link_target);
    if (!LinkStaysInside(change.path, change.link_target)) {
      Add("symlink", change, change.link_target, "a link inside the tree");
    } else if (!change.link_way_out.empty()) {
      Add("symlink", change, change.link_target,
          fmt::format("a link inside the tree; {} leads out", change.link_way_out));
    }
  }

  void Limit(std::string_view rule, std::uint64_t value, std::optional<std::uint64_t> most) {
    if (!most || value <= *most) return;
    report_.violations.push_back(
        {std::string(rule), "", fmt::format("{}", value), fmt::format("{}", *most)});
  }

  const sources::ChangePolicy& policy_;
  const Patterns deny_, allow_;
  const std::string written_targets_;
  const Targets targets_;
  std::vector<std::string> control_;  // folded
  PolicyReport report_;
};

}  // namespace

SteeringFiles DefaultControlFiles() {
  SteeringFiles control{.paths = {".gitmodules", "dossier.yml", "agentnet.edn",
                                  "finished_to_review.md", ".dossier", "config/prompts",
                                  "tasks/pending", "tasks/current", "tasks/complete"}};
  for (const char* name : {"policy", "tasks"}) {
    for (const char* ending : {"edn", "yaml", "yml", "json"}) {
      control.paths.push_back(fmt::format("config/{}.{}", name, ending));
    }
  }
  return control;
}

PolicyReport CheckPolicy(const sources::ChangePolicy& policy,
                         const std::vector<std::string>& targets, const Patch& patch,
                         const SteeringFiles& control) {
  return Judge(policy, targets, control).Report(patch);
}

PolicyReport CheckNewFile(const sources::ChangePolicy& policy,
                          const std::vector<std::string>& targets, std::string_view path,
                          const SteeringFiles& control) {
  Patch patch;
  patch.changes.push_back({.path = std::string(path), .new_mode = 0100644});
  patch.stat.files = 1;
  return CheckPolicy(policy, targets, patch, control);
}

namespace {

constexpr char32_t kFirstRawByte = 0x110000;  // after the last code point

// Reads one character, or a byte that belongs to none.
char32_t NextCharacter(std::string_view text, std::size_t* at) {
  utf8proc_int32_t code = 0;
  const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + *at,
                                     static_cast<utf8proc_ssize_t>(text.size() - *at), &code);
  if (size > 0 && code >= 0) {
    *at += static_cast<std::size_t>(size);
    return static_cast<char32_t>(code);
  }
  return kFirstRawByte + static_cast<unsigned char>(text[(*at)++]);
}

std::string FoldValid(std::string_view text) {
  utf8proc_uint8_t* out = nullptr;
  constexpr int kOptions = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &out,
                                 static_cast<utf8proc_option_t>(kOptions));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(out, &std::free);
  if (size < 0) return std::string(text);
  return {reinterpret_cast<const char*>(out), static_cast<std::size_t>(size)};
}

}  // namespace

std::string FoldPath(std::string_view path) {
  std::string folded;
  std::size_t start = 0;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t here = at;
    if (NextCharacter(path, &at) < kFirstRawByte) continue;
    folded += FoldValid(path.substr(start, here - start));
    folded += path[here];
    start = at;
  }
  return folded + FoldValid(path.substr(start));
}

class PolicyGlob::Compiler {
 public:
  Compiler(std::string_view pattern, std::vector<State>* states)
      : pattern_(pattern), states_(*states) {}

  void Compile() {
    Sequence(Position::kStartOfName, Until::kEnd);
    if (too_deep_) states_.assign(1, {.kind = Kind::kNever});
  }

 private:
  using Kind = State::Kind;
  enum class Position : std::uint8_t { kStartOfName, kInName };
  enum class Until : std::uint8_t { kEnd, kCommaOrBrace };

  // Stops before a comma or brace that belongs to the enclosing group.
  void Sequence(Position position, Until until) {
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (until == Until::kCommaOrBrace && (c == ',' || c == '}')) return;
      if (c == '*') {
        position = Stars(position);
      } else if (c == '{') {
        Group(position);
        position = Position::kInName;
      } else {
        One();
        position = c == '/' ? Position::kStartOfName : Position::kInName;
      }
    }
  }

  void One() {
    const char c = pattern_[at_];
    if (c == '[') return Class();
    if (c == '?') {
      ++at_;
      states_.push_back({.kind = Kind::kName});
      return;
    }
    if (c == '\\' && ++at_ == pattern_.size()) {
      states_.push_back({.kind = Kind::kNever});
      return;
    }
    states_.push_back({.kind = Kind::kCharacter, .character = NextCharacter(pattern_, &at_)});
  }

  Position Stars(Position position) {
    const std::size_t start = at_;
    at_ = std::min(pattern_.find_first_not_of('*', at_), pattern_.size());
    const bool at_end = at_ == pattern_.size();
    const bool fills_name =
        at_ - start >= 2 && position == Position::kStartOfName && (at_end || pattern_[at_] == '/');
    if (!fills_name) {
      states_.push_back({.kind = Kind::kNames});
      return Position::kInName;
    }
    if (at_end) {
      states_.push_back({.kind = Kind::kAll});
      return Position::kInName;
    }
    ++at_;
    // Matches nothing, or anything that ends in a slash.
    const auto split = static_cast<std::uint32_t>(states_.size());
    states_.push_back({.kind = Kind::kSplit, .targets = {split + 1, split + 3}});
    states_.push_back({.kind = Kind::kAll});
    states_.push_back({.kind = Kind::kCharacter, .character = '/'});
    return Position::kStartOfName;
  }

  // A `{` without a comma is an ordinary character, as in a shell.
  void Group(Position position) {
    if (!IsGroup()) {
      ++at_;
      states_.push_back({.kind = Kind::kCharacter, .character = '{'});
      return;
    }
    if (depth_ == sources::kMaxGlobDepth) {
      too_deep_ = true;
      at_ = pattern_.size();
      return;
    }
    ++depth_;
    const std::size_t split = states_.size();
    states_.push_back({.kind = Kind::kSplit});
    std::vector<std::size_t> ends;
    // A class may have consumed the brace that would close the group: then nothing does.
    while (at_ < pattern_.size() && pattern_[at_] != '}') {
      ++at_;  // the brace, or a comma
      states_[split].targets.push_back(static_cast<std::uint32_t>(states_.size()));
      Sequence(position, Until::kCommaOrBrace);
      ends.push_back(states_.size());
      states_.push_back({.kind = Kind::kSplit});
    }
    const bool closed = at_ < pattern_.size();
    if (closed) ++at_;
    for (const std::size_t end : ends) {
      states_[end].targets.push_back(static_cast<std::uint32_t>(states_.size()));
    }
    if (!closed) states_.push_back({.kind = Kind::kNever});
    --depth_;
  }

  bool IsGroup() const {
    int depth = 0;
    bool comma = false;
    for (std::size_t at = at_; at < pattern_.size(); ++at) {
      const char c = pattern_[at];
      if (c == '\\') ++at;
      if (c == '{') ++depth;
      if (c == ',' && depth == 1) comma = true;
      if (c == '}' && --depth == 0) return comma;
    }
    return false;
  }

  void Class() {
    State state{.kind = Kind::kClass};
    ++at_;
    if (at_ < pattern_.size() && (pattern_[at_] == '!' || pattern_[at_] == '^')) {
      state.negated = true;
      ++at_;
    }
    for (bool first = true; first || (at_ < pattern_.size() && pattern_[at_] != ']');
         first = false) {
      if (at_ >= pattern_.size()) break;
      const char32_t low = Member();
      char32_t high = low;
      if (at_ + 1 < pattern_.size() && pattern_[at_] == '-' && pattern_[at_ + 1] != ']') {
        ++at_;
        high = Member();
      }
      state.ranges.emplace_back(low, high);
    }
    if (at_ < pattern_.size()) {
      ++at_;
    } else {
      state.kind = Kind::kNever;
    }
    states_.push_back(std::move(state));
  }

  char32_t Member() {
    if (pattern_[at_] == '\\' && at_ + 1 < pattern_.size()) ++at_;
    return NextCharacter(pattern_, &at_);
  }

  const std::string_view pattern_;
  std::size_t at_ = 0, depth_ = 0;
  bool too_deep_ = false;
  std::vector<State>& states_;
};

// The set of states possible after the path read so far.
class PolicyGlob::Walk {
 public:
  explicit Walk(const std::vector<State>& states) : states_(states), marks_(states.size() + 1, 0) {
    Enter(0);
  }

  void Read(char32_t character) {
    active_.swap(before_);
    active_.clear();
    ++round_;
    for (const std::uint32_t at : before_) {
      if (at == states_.size() || !Takes(states_[at], character)) continue;
      const bool stays = states_[at].kind == Kind::kNames || states_[at].kind == Kind::kAll;
      Enter(stays ? at : at + 1);
    }
  }

  bool ended() const { return marks_[states_.size()] == round_; }

 private:
  using Kind = State::Kind;

  void Enter(std::uint32_t first) {
    std::vector<std::uint32_t> waiting = {first};
    while (!waiting.empty()) {
      const std::uint32_t at = waiting.back();
      waiting.pop_back();
      if (marks_[at] == round_) continue;
      marks_[at] = round_;
      if (at == states_.size()) continue;
      const State& state = states_[at];
      if (state.kind == Kind::kSplit) {
        waiting.insert(waiting.end(), state.targets.begin(), state.targets.end());
        continue;
      }
      active_.push_back(at);
      if (state.kind == Kind::kNames || state.kind == Kind::kAll) waiting.push_back(at + 1);
    }
  }

  static bool Takes(const State& state, char32_t character) {
    switch (state.kind) {
      case Kind::kCharacter:
        return character == state.character;
      case Kind::kAll:
        return true;
      case Kind::kName:
      case Kind::kNames:
        return character != '/';
      case Kind::kClass: {
        bool in = false;
        for (const auto& [low, high] : state.ranges) in |= character >= low && character <= high;
        return character != '/' && in != state.negated;
      }
      case Kind::kSplit:
      case Kind::kNever:
        break;
    }
    return false;
  }

  const std::vector<State>& states_;
  std::vector<std::uint32_t> active_, before_;
  std::vector<std::uint64_t> marks_;  // the round that last entered each state
  std::uint64_t round_ = 1;
};

PolicyGlob::PolicyGlob(std::string_view pattern, CaseSensitivity letters) : letters_(letters) {
  if (pattern.size() > sources::kMaxGlobBytes) {
    states_.push_back({.kind = State::Kind::kNever});
    return;
  }
  const std::string folded = letters == CaseSensitivity::kInsensitive ? FoldPath(pattern) : "";
  Compiler(letters == CaseSensitivity::kInsensitive ? folded : pattern, &states_).Compile();
}

bool PolicyGlob::Matches(std::string_view path) const {
  const std::string folded = letters_ == CaseSensitivity::kInsensitive ? FoldPath(path) : "";
  const std::string_view text = letters_ == CaseSensitivity::kInsensitive ? folded : path;
  Walk walk(states_);
  for (std::size_t at = 0; at < text.size();) walk.Read(NextCharacter(text, &at));
  return walk.ended();
}

}  // namespace dossier::agents
