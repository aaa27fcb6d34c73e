#include "agents/task/work_prompt.h"

namespace dossier::agents {
namespace {

// A program has its own model with an unknown window, and reports itself if a prompt is too long.
// The size of a prompt is bounded by the limits of patches and tasks.
constexpr std::int64_t kProgramWindow = 10'000'000;  // tokens
constexpr tokens::Ratio kProgramRatio{.bytes_per_token = 3.3, .margin = 0.15};

}  // namespace

Result<sources::AgentPrompt> WorkPrompt::Assemble(const assembly::Capability& capability,
                                                  std::shared_ptr<const tokens::Counter> counter,
                                                  std::span<const assembly::Turn> turns,
                                                  std::span<const assembly::ToolSpec> tools) const {
  const bool review = content_.role == sources::AgentRole::kReviewer;
  // By targets, not by id: a claimed task has left the queue, an ad-hoc one was never in it.
  sources::HeaderRequest request{.targets = content_.task->targets,
                                 .now = setting_.clock->WallNow()};
  request.mode = review ? sources::AgentMode::kReview : sources::AgentMode::kPropose;
  using Engine = sources::AgentPromptInput::Engine;
  request.output = content_.engine == Engine::kPatchFile ? sources::AgentEngine::Output::kPatchFile
                                                         : sources::AgentEngine::Output::kWorktree;
  DOSSIER_ASSIGN_OR_RETURN(const sources::CollectedHeader state, setting_.source->Collect(request));
  const sources::AgentsConfig& agents = setting_.source->agents();
  sources::AgentPromptInput input{.role = content_.role, .header = &state.header};
  input.tokens = sources::PromptTokens(state.header, {.task = content_.task,
                                                      .patch_stat = content_.patch_stat,
                                                      .notes = state.notes.notes,
                                                      .now = state.now,
                                                      .approval_token = content_.token,
                                                      .patch = content_.patch,
                                                      .review = content_.feedback,
                                                      .checks = content_.checks});
  input.custom = review ? setting_.reviewer : setting_.engineer;
  input.engine = content_.engine;
  input.placement = agents.header.placement;
  input.policy = setting_.policy;
  input.tools.assign(tools.begin(), tools.end());
  input.turns.assign(turns.begin(), turns.end());
  input.patch = content_.patch;
  input.checks = content_.checks;
  input.feedback = content_.feedback;
  const auto own_sections =
      [&](const assembly::Layout& layout) -> Result<std::vector<assembly::Section>> {
    DOSSIER_ASSIGN_OR_RETURN(
        driver::UserSections own,
        driver::ReadUserSections(layout, {.makers = setting_.makers,
                                          .values = {{"question", content_.task->summary}},
                                          .counter = counter,
                                          .cancel = setting_.cancel}));
    for (const std::string& warning : own.warnings) {
      if (setting_.warn) setting_.warn(warning);
    }
    return std::move(own.sections);
  };
  return sources::AssembleAgentPrompt(input,
                                      {.folders = setting_.folders,
                                       .budget = {},
                                       .capability = capability,
                                       .counter = counter,
                                       .options = {.variables = {}, .boundary = setting_.boundary},
                                       .more = own_sections});
}

Result<sources::AgentPrompt> WorkPrompt::ForProgram() const {
  assembly::Capability program;
  program.window = kProgramWindow;
  return Assemble(program, tokens::MakeStandIn("estimate", kProgramRatio), {}, {});
}

Result<std::string> WorkPrompt::Text() const {
  DOSSIER_ASSIGN_OR_RETURN(const sources::AgentPrompt prompt, ForProgram());
  return sources::PromptText(prompt.assembled.messages);
}

Result<assembly::Assembled> WorkPrompt::Messages(const Reader& reader,
                                                 std::span<const assembly::Turn> turns,
                                                 std::span<const assembly::ToolSpec> tools) const {
  DOSSIER_ASSIGN_OR_RETURN(sources::AgentPrompt prompt,
                           Assemble(reader.capability, reader.counter, turns, tools));
  return std::move(prompt.assembled);
}

}  // namespace dossier::agents
