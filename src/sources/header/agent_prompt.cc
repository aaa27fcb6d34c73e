#include "sources/header/agent_prompt.h"

#include <filesystem>

#include "assembly/layout/lookup.h"

namespace dossier::sources {
namespace {

using assembly::Section;

constexpr std::uint64_t kMaxPromptFile = 1 << 20;  // as of templates

void AddText(std::string name, std::string text, std::vector<Section>* out) {
  if (!text.empty()) out->push_back({.name = std::move(name), .content = std::move(text)});
}

std::string DocumentsText(const std::vector<NamedText>& documents) {
  std::string text;
  for (const NamedText& document : documents) {
    text += fmt::format("{}## {}\n\n{}", text.empty() ? "" : "\n\n", SingleLine(document.name),
                        document.text);
  }
  return text;
}

// Adds the sections for tools and turns, which are the same in every layout.
void AddLoop(const AgentPromptInput& input, std::vector<Section>* out) {
  if (!input.tools.empty()) out->push_back({.name = "tools", .tools = input.tools});
  if (!input.turns.empty()) out->push_back({.name = "history", .turns = input.turns});
}

std::string_view EngineVariable(AgentPromptInput::Engine engine) {
  switch (engine) {
    case AgentPromptInput::Engine::kPatchFile:
      return "patch_file";
    case AgentPromptInput::Engine::kBuiltin:
      return "builtin";
    case AgentPromptInput::Engine::kWorktree:
      break;
  }
  return "worktree";
}

Result<AgentPrompt> Finish(std::string_view layout_name, std::vector<Section> sections,
                           std::vector<std::string> warnings,
                           const assembly::AssembleOptions& options,
                           const AgentPromptSetting& setting) {
  DOSSIER_ASSIGN_OR_RETURN(
      const assembly::Layout layout,
      assembly::FindLayout(layout_name, setting.folders, setting.capability.profile));
  if (setting.more) {
    DOSSIER_ASSIGN_OR_RETURN(std::vector<Section> more, setting.more(layout));
    sections.insert(sections.begin(), more.begin(), more.end());
  }
  AgentPrompt prompt;
  DOSSIER_ASSIGN_OR_RETURN(prompt.assembled,
                           assembly::Assemble(layout, sections, setting.budget, setting.capability,
                                              *setting.counter, options));
  prompt.warnings = std::move(warnings);
  const Json* told = Find(prompt.assembled.report, "warnings");
  if (told && told->is_array()) {
    for (const Json& warning : told->get_array()) {
      prompt.warnings.emplace_back(FindString(warning, "text").value_or(""));
    }
  }
  return prompt;
}

Result<AgentPrompt> FromLayout(const AgentPromptInput& input, const AgentPromptSetting& setting) {
  const bool first = input.placement == HeaderConfig::Placement::kFirst;
  std::vector<Section> sections;
  AddLoop(input, &sections);
  if (input.header) AddText(first ? "header_first" : "header", ToYaml(*input.header), &sections);
  AddText("policy", input.policy, &sections);
  AddText("documents", DocumentsText(input.documents), &sections);
  AddText("checks", input.checks, &sections);
  AddText("feedback", input.feedback, &sections);
  if (input.role == AgentRole::kReviewer) AddText("patch", input.patch, &sections);
  assembly::AssembleOptions options = setting.options;
  options.variables.insert(input.tokens.begin(), input.tokens.end());
  options.variables.emplace(EngineVariable(input.engine), "yes");
  if (first) options.variables.emplace("header_first", "yes");
  return Finish(fmt::format("agents_{}", RoleName(input.role)), sections, {}, options, setting);
}

// A file with front matter is one of our templates; otherwise only known tokens are replaced.
Result<Replaced> FillCustom(const CustomPrompt& custom, const TokenMap& tokens,
                            std::string_view boundary) {
  if (!custom.text.starts_with("---\n") && !custom.text.starts_with("---\r\n")) {
    return ReplaceTokens(custom.text, tokens, custom.file);
  }
  DOSSIER_ASSIGN_OR_RETURN(const assembly::Template text,
                           assembly::ParseTemplate(custom.text, custom.file));
  Replaced out;
  for (const assembly::Placeholder& placeholder : text.placeholders) {
    if (placeholder.name == "context_header" || placeholder.name == "ach_yaml") {
      out.has_header = true;
    }
  }
  DOSSIER_ASSIGN_OR_RETURN(out.text, assembly::RenderTemplate(text, tokens, boundary));
  return out;
}

Result<AgentPrompt> FromCustom(const AgentPromptInput& input, const AgentPromptSetting& setting) {
  DOSSIER_ASSIGN_OR_RETURN(Replaced filled,
                           FillCustom(*input.custom, input.tokens, setting.options.boundary));
  std::vector<Section> sections;
  AddLoop(input, &sections);
  if (!filled.has_header) {
    if (input.header) AddText("header", ToYaml(*input.header), &sections);
  } else if (const auto header = input.tokens.find("context_header");
             header != input.tokens.end()) {
    const std::size_t at = filled.text.find(header->second);
    const std::size_t behind = at == std::string::npos ? 0 : at + header->second.size();
    filled.warnings.push_back(fmt::format(
        "header-first: {} tokens after the header cannot be cached",
        setting.counter->CountText(std::string_view(filled.text).substr(behind)).tokens));
  }
  AddText("prompt", std::move(filled.text), &sections);
  return Finish("agents_custom", sections, std::move(filled.warnings), setting.options, setting);
}

}  // namespace

std::string_view RoleName(AgentRole role) {
  return role == AgentRole::kReviewer ? "reviewer" : "engineer";
}

Result<std::optional<CustomPrompt>> FindCustomPrompt(const std::string& root,
                                                     const AgentsConfig& agents, AgentRole role) {
  if (agents.prompts.empty()) return std::nullopt;
  const std::string_view name =
      role == AgentRole::kReviewer ? std::string_view(agents.reviewer_prompt) : RoleName(role);
  const std::string file = fmt::format("{}/{}.md", agents.prompts, name);
  DOSSIER_ASSIGN_OR_RETURN(
      auto text,
      assembly::ReadAssetFile((std::filesystem::path(root) / file).string(), kMaxPromptFile));
  if (!text) return std::nullopt;
  return CustomPrompt{file, std::move(*text)};
}

Result<AgentPrompt> AssembleAgentPrompt(const AgentPromptInput& input,
                                        const AgentPromptSetting& setting) {
  return input.custom ? FromCustom(input, setting) : FromLayout(input, setting);
}

std::string PromptText(const assembly::Messages& messages) {
  std::string text = messages.SystemText();
  for (const assembly::Turn& turn : messages.turns) {
    const std::string body = turn.Text();
    if (!text.empty() && !body.empty()) text += "\n\n";
    text += body;
  }
  return text;
}

}  // namespace dossier::sources
