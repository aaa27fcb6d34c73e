// Builds the prompts of engineer and reviewer from layouts or from a repository's own files.
//
//   AgentPromptInput input{.role = AgentRole::kEngineer, .header = &header, .tokens = tokens};
//   DOSSIER_ASSIGN_OR_RETURN(input.custom, FindCustomPrompt(root, agents, input.role));
//   DOSSIER_ASSIGN_OR_RETURN(const AgentPrompt prompt, AssembleAgentPrompt(input, setting));
//   Start(engine, PromptText(prompt.assembled.messages));
//
// Prompts that differ only in time and task have the same bytes before the volatile zone.
// Thread-safety: plain data, functions over files that are only read.

#ifndef DOSSIER_SOURCES_HEADER_AGENT_PROMPT_H_
#define DOSSIER_SOURCES_HEADER_AGENT_PROMPT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/assemble.h"
#include "base/result.h"
#include "base/text/text.h"
#include "sources/header/agent_header.h"
#include "sources/header/agents_config.h"
#include "sources/header/header_tokens.h"
#include "tokens/counter/counter.h"

namespace dossier::sources {

enum class AgentRole : std::uint8_t { kEngineer, kReviewer };
std::string_view RoleName(AgentRole role);  // "engineer", "reviewer"

// A role prompt that the repository supplies.
struct CustomPrompt {
  std::string file;  // relative to the root; for messages
  std::string text;
};

// Reads PROMPTS/engineer.md, reviewer.md or cto.md; returns nullopt if it does not exist.
// Errors: kConfig if it cannot be read.
Result<std::optional<CustomPrompt>> FindCustomPrompt(const std::string& root,
                                                     const AgentsConfig& agents, AgentRole role);

struct AgentPromptInput {
  AgentRole role = AgentRole::kEngineer;
  const Header* header = nullptr;
  TokenMap tokens;                     // result of PromptTokens
  std::optional<CustomPrompt> custom;  // replaces the built-in layout
  // The engine's way of working, which decides the output rules in the prompt.
  enum class Engine : std::uint8_t { kWorktree, kPatchFile, kBuiltin } engine = Engine::kWorktree;
  HeaderConfig::Placement placement = HeaderConfig::Placement::kVolatile;
  std::string policy;                // text of the policy file
  std::vector<NamedText> documents;  // to be read first
  std::vector<assembly::ToolSpec> tools;
  std::vector<assembly::Turn> turns;  // turns of the built-in loop so far
  std::string patch, checks, feedback;
};

// The inputs of an assembly besides its content; see assembly/assemble.h.
struct AgentPromptSetting {
  assembly::AssetFolders folders;
  assembly::Budget budget;
  assembly::Capability capability;
  std::shared_ptr<const tokens::Counter> counter;
  assembly::AssembleOptions options;  // boundary, model
  // Sections of the user's layout that come before ours; may be empty.
  std::function<Result<std::vector<assembly::Section>>(const assembly::Layout& layout)> more = {};
};

struct AgentPrompt {
  assembly::Assembled assembled;
  std::vector<std::string> warnings;  // from templates and from the report
};

// Errors: as assembly::Assemble; kConfig for a template that declares placeholders and names an
// unknown one; kTooLong if a reviewer's patch does not fit (it is never cut).
Result<AgentPrompt> AssembleAgentPrompt(const AgentPromptInput& input,
                                        const AgentPromptSetting& setting);

// Returns all messages as one text, for programs that take a prompt: system text first, with one
// blank line between messages.
std::string PromptText(const assembly::Messages& messages);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_AGENT_PROMPT_H_
