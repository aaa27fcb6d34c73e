#include "agents/policy/policy_check.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "agents/git/path_rules.h"
#include "agents/policy/policy_glob.h"
#include "base/files/file.h"
#include "base/text/text.h"

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

// Without a slash a denied name holds at any depth, and for a folder of that name too.
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

// A target as paths are written in patches: "./src/" is "src", "." is "".
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

  // A name with signs of a glob in it may also be meant as it stands: "src/[id].ts".
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
        const ControlFiles& control)
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
    for (const Change& change : patch.changes) {
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
  void Add(std::string_view rule, const Change& change, std::string value = "",
           std::string limit = "") {
    report_.violations.push_back(
        {std::string(rule), change.path, std::move(value), std::move(limit)});
  }

  void JudgePath(const Change& change) {
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

  void JudgeControl(const Change& change) {
    const std::string path = FoldPath(change.path);
    for (const std::string& control : control_) {
      // A file in place of a folder that holds control files would remove them.
      if (IsBelow(path, control) || IsBelow(control, path)) {
        return Add("control-file", change, "", control);
      }
    }
  }

  void JudgeKind(const Change& change) {
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

ControlFiles DefaultControlFiles() {
  ControlFiles control{.paths = {".gitmodules", "dossier.yml", "agentnet.edn",
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
                         const ControlFiles& control) {
  return Judge(policy, targets, control).Report(patch);
}

PolicyReport CheckNewFile(const sources::ChangePolicy& policy,
                          const std::vector<std::string>& targets, std::string_view path,
                          const ControlFiles& control) {
  Patch patch;
  patch.changes.push_back({.path = std::string(path), .new_mode = 0100644});
  patch.stat.files = 1;
  return CheckPolicy(policy, targets, patch, control);
}

}  // namespace dossier::agents
