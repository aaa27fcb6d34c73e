#include "research/exec/exec_scripted.h"

#include <filesystem>
#include <utility>

#include "base/files/file.h"
#include "base/text/text.h"
#include "research/exec/command_rules.h"
#include "research/files/run_folder.h"

namespace dossier::research {
namespace {

// `*` stands for any text, line ends included.
bool Fits(std::string_view pattern, std::string_view text) {
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

std::string LineOf(const Command& command) {
  return command.argv.empty() ? command.command : Join(command.argv, " ");
}

class ScriptedBackend final : public ExecBackend {
 public:
  ScriptedBackend(std::shared_ptr<CommandScript> script, ScriptedOptions options)
      : script_(std::move(script)), options_(std::move(options)) {}

  Status Start(const SandboxSpec& spec) override {
    workspace_ = spec.workspace;
    return MakeFolders(workspace_);
  }

  Result<ExecResult> Run(const Command& command, const CancelToken& cancel) override {
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

}  // namespace

ScriptedRule::ScriptedRule(std::string_view pattern) : pattern_(pattern) {}

ScriptedRule& ScriptedRule::Says(std::string_view out) {
  result_.out = out;
  return *this;
}

ScriptedRule& ScriptedRule::Fails(int status, std::string_view err) {
  result_.status = status;
  result_.err = err;
  return *this;
}

ScriptedRule& ScriptedRule::Gives(ExecResult result) {
  result_ = std::move(result);
  return *this;
}

ScriptedRule& ScriptedRule::Writes(std::string_view path, std::string_view content) {
  files_.insert_or_assign(std::string(path), std::string(content));
  return *this;
}

ScriptedRule& ScriptedRule::Does(ScriptedWork work) {
  work_ = std::move(work);
  return *this;
}

ScriptedRule& ScriptedRule::Times(int uses) {
  uses_left_ = uses;
  return *this;
}

ScriptedRule& CommandScript::On(std::string_view pattern) { return rules_.emplace_back(pattern); }

Result<ExecResult> CommandScript::Answer(const Command& command, const std::string& workspace,
                                         const CancelToken& cancel) {
  const std::string line = LineOf(command);
  const ScriptedRule* found = nullptr;
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(line);
    for (ScriptedRule& rule : rules_) {
      if (rule.uses_left_ == 0 || !Fits(rule.pattern_, line)) continue;
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

std::vector<std::string> CommandScript::commands() const {
  const std::lock_guard lock(mutex_);
  return commands_;
}

std::unique_ptr<ExecBackend> MakeScriptedBackend(std::shared_ptr<CommandScript> script,
                                                 ScriptedOptions options) {
  return std::make_unique<ScriptedBackend>(std::move(script), std::move(options));
}

BackendFactory ScriptedBackends(std::shared_ptr<CommandScript> script, ScriptedOptions options) {
  return [script = std::move(script),
          options = std::move(options)](std::string_view) -> Result<std::unique_ptr<ExecBackend>> {
    return MakeScriptedBackend(script, options);
  };
}

}  // namespace dossier::research
