// A backend that runs nothing: results come from a table, files they "write" go into the workspace.
// For tests of everything that works with a backend.
//
//   auto script = std::make_shared<CommandScript>();
//   script->On("make*").Writes("bin/a.out", "ELF");
//   script->On("./bin/a.out").Says("42\n").Writes("working/x_data.npy", bytes);
//   script->On("pip install *").Fails(1, "no network").Times(1);   // the second time it works
//   script->On("pip install *");
//   services.backend = ScriptedBackends(script);
//   …
//   EXPECT_THAT(script->commands(), ElementsAre("make", "./bin/a.out"));
//
// The first rule whose pattern fits, and that has uses left, answers; a command that none fits ends
// with 127, as a shell says of an unknown program. Commands that no backend runs are refused before
// the table, as in the other backends. Thread-safety: rules are made before the first command; then
// a script may serve several backends on several threads.

#ifndef DOSSIER_TESTING_EXEC_SCRIPTED_FOR_TEST_H_
#define DOSSIER_TESTING_EXEC_SCRIPTED_FOR_TEST_H_

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/text/text.h"
#include "research/exec/command_rules.h"
#include "research/exec/exec_backend.h"
#include "research/files/run_folder.h"

namespace dossier::research {

// Works out a result by itself. `workspace` is a folder of the host.
using ScriptedWork = std::function<Result<ExecResult>(
    const ExecCommand& command, const std::string& workspace, const CancelToken& cancel)>;

class ScriptedRule {
 public:
  // `*` in the pattern stands for any text; it is compared with the line of shell, or with argv
  // joined by spaces.
  explicit ScriptedRule(std::string_view pattern) : pattern_(pattern) {}

  ScriptedRule& Says(std::string_view out) {
    result_.out = out;
    return *this;
  }
  ScriptedRule& Fails(int status, std::string_view err) {
    result_.status = status;
    result_.err = err;
    return *this;
  }
  ScriptedRule& Gives(ExecResult result) {
    result_ = std::move(result);
    return *this;
  }
  // A path relative to the workspace.
  ScriptedRule& Writes(std::string_view path, std::string_view content) {
    files_.insert_or_assign(std::string(path), std::string(content));
    return *this;
  }
  ScriptedRule& Does(ScriptedWork work) {
    work_ = std::move(work);
    return *this;
  }
  ScriptedRule& Times(int uses) {
    uses_left_ = uses;
    return *this;
  }

 private:
  friend class CommandScript;

  std::string pattern_;
  ExecResult result_{.status = 0};
  std::map<std::string, std::string> files_;
  ScriptedWork work_;
  int uses_left_ = -1;  // -1: any number
};

class CommandScript {
 public:
  // The reference lives as long as the script.
  ScriptedRule& On(std::string_view pattern) { return rules_.emplace_back(pattern); }

  Result<ExecResult> Answer(const ExecCommand& command, const std::string& workspace,
                            const CancelToken& cancel);
  // As they came, those of all backends.
  std::vector<std::string> commands() const {
    const std::lock_guard lock(mutex_);
    return commands_;
  }

 private:
  std::deque<ScriptedRule> rules_;
  mutable std::mutex mutex_;
  std::vector<std::string> commands_;
};

struct ScriptedOptions {
  SandboxFacts::Root root = SandboxFacts::Root::kNo;
  ImageRef image, snapshot;
};

// `*` stands for any text, line ends included.
inline bool FitsPattern(std::string_view pattern, std::string_view text) {
  const std::vector<std::string_view> pieces = Split(pattern, '*');
  if (pieces.size() == 1) return pattern == text;
  if (!text.starts_with(pieces.front())) return false;
  text.remove_prefix(pieces.front().size());
  for (std::size_t i = 1; i + 1 < pieces.size(); ++i) {
    const std::size_t at = text.find(pieces[i]);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + pieces[i].size());
  }
  return text.ends_with(pieces.back());
}

inline std::string LineOfCommand(const ExecCommand& command) {
  return command.argv.empty() ? command.command : Join(command.argv, " ");
}

inline Result<ExecResult> CommandScript::Answer(const ExecCommand& command,
                                                const std::string& workspace,
                                                const CancelToken& cancel) {
  const std::string line = LineOfCommand(command);
  const ScriptedRule* found = nullptr;
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(line);
    for (ScriptedRule& rule : rules_) {
      if (rule.uses_left_ == 0 || !FitsPattern(rule.pattern_, line)) continue;
      if (rule.uses_left_ > 0) --rule.uses_left_;
      found = &rule;
      break;
    }
  }
  if (found == nullptr) {
    return ExecResult{.status = 127, .err = "no rule of the script fits: " + line + "\n"};
  }
  ExecResult result = found->result_;
  if (found->work_) {
    DOSSIER_ASSIGN_OR_RETURN(result, found->work_(command, workspace, cancel));
  }
  for (const auto& [path, content] : found->files_) {
    const std::filesystem::path place = std::filesystem::path(workspace) / path;
    DOSSIER_RETURN_IF_ERROR(MakeFolders(place.parent_path().string()));
    DOSSIER_RETURN_IF_ERROR(WriteRunFile(place.string(), content));
  }
  result.out_bytes = std::max<std::uint64_t>(result.out_bytes, result.out.size());
  result.err_bytes = std::max<std::uint64_t>(result.err_bytes, result.err.size());
  return result;
}

class ScriptedBackend final : public ExecBackend {
 public:
  ScriptedBackend(std::shared_ptr<CommandScript> script, ScriptedOptions options)
      : script_(std::move(script)), options_(std::move(options)) {}

  Status Start(const SandboxSpec& spec) override {
    workspace_ = spec.workspace;
    return MakeFolders(workspace_);
  }

  Result<ExecResult> Run(const ExecCommand& command, const CancelToken& cancel) override {
    if (workspace_.empty()) return NotStarted();
    if (cancel.cancelled()) return Cancelled(cancel);
    RuledCommand ruled = ApplyCommandRules(command, options_.root);
    if (ruled.refusal) return std::move(*ruled.refusal);
    DOSSIER_ASSIGN_OR_RETURN(ExecResult result, script_->Answer(ruled.command, workspace_, cancel));
    result.note = std::move(ruled.note);
    result.layers = {"scripted"};
    if (command.on_output) {
      if (!result.out.empty()) command.on_output(result.out);
      if (!result.err.empty()) command.on_output(result.err);
    }
    return result;
  }

  Result<ImageRef> Snapshot(std::string_view) override { return options_.snapshot; }

  SandboxFacts Facts() const override {
    return {
        .kind = "scripted", .image = options_.image, .layers = {"scripted"}, .root = options_.root};
  }

  void Stop() noexcept override { workspace_.clear(); }

 private:
  std::shared_ptr<CommandScript> script_;
  ScriptedOptions options_;
  std::string workspace_;
};

inline BackendFactory ScriptedBackends(std::shared_ptr<CommandScript> script,
                                       ScriptedOptions options = {}) {
  return [script = std::move(script),
          options = std::move(options)](std::string_view) -> Result<std::unique_ptr<ExecBackend>> {
    return std::make_unique<ScriptedBackend>(script, options);
  };
}

}  // namespace dossier::research

#endif  // DOSSIER_TESTING_EXEC_SCRIPTED_FOR_TEST_H_
