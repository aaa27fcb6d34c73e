// Makes the prompt of one job, from the actual state of the repository at that moment.
//
//   const WorkPrompt prompt(setting, {.role = sources::AgentRole::kEngineer, .task = &task});
//   DOSSIER_ASSIGN_OR_RETURN(const std::string text, prompt.Text());
//
// Thread-safety: methods may be called from many threads. Ownership: setting and task outlive it.

#ifndef DOSSIER_AGENTS_TASK_WORK_PROMPT_H_
#define DOSSIER_AGENTS_TASK_WORK_PROMPT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/engine/engine.h"
#include "assembly/layout/layout.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "driver/section_reader.h"
#include "sources/header/agent_prompt.h"
#include "sources/header/header_source.h"

namespace dossier::agents {

// Settings shared by the prompts of a run.
struct PromptSetting {
  sources::HeaderSource* source = nullptr;
  std::shared_ptr<const Clock> clock;
  assembly::AssetFolders folders;
  driver::SectionMakers makers;                // for the sections that a user's layouts add
  std::function<void(std::string_view)> warn;  // receives their warnings; may be empty
  CancelToken cancel;
  std::string boundary;                                     // 32 hex digits
  std::string policy;                                       // text of the policy file
  std::optional<sources::CustomPrompt> engineer, reviewer;  // the repository's own
};

struct PromptContent {
  sources::AgentRole role = sources::AgentRole::kEngineer;
  sources::AgentPromptInput::Engine engine = sources::AgentPromptInput::Engine::kWorktree;
  const sources::Task* task = nullptr;
  std::string feedback, checks;
  // For a reviewer.
  std::string patch;
  std::vector<sources::FileStat> patch_stat;
  std::optional<std::string> token;
};

class WorkPrompt final : public EnginePrompt {
 public:
  WorkPrompt(const PromptSetting& setting, PromptContent content)
      : setting_(setting), content_(std::move(content)) {}

  Result<std::string> Text() const override;
  Result<assembly::Assembled> Messages(const Reader& reader, std::span<const assembly::Turn> turns,
                                       std::span<const assembly::ToolSpec> tools) const override;
  // As Text, with the report.
  Result<sources::AgentPrompt> ForProgram() const;

 private:
  Result<sources::AgentPrompt> Assemble(const assembly::Capability& capability,
                                        std::shared_ptr<const tokens::Counter> counter,
                                        std::span<const assembly::Turn> turns,
                                        std::span<const assembly::ToolSpec> tools) const;

  const PromptSetting& setting_;
  const PromptContent content_;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_WORK_PROMPT_H_
