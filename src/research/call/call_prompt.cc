#include "research/call/call_prompt.h"

#include <algorithm>
#include <array>

#include "base/text/text.h"
#include "research/call/values.h"

namespace dossier::research {
namespace {

using assembly::Section;

// The section of this name; null: the layout has none.
const assembly::LayoutSection* FindRule(const assembly::Layout& layout, std::string_view name) {
  const auto found = std::ranges::find(layout.sections, name, &assembly::LayoutSection::name);
  return found == layout.sections.end() ? nullptr : &*found;
}

// What the prefix gives goes to sections of the prefix: a call may have a `plan` of its own.
bool IsOfPrefix(const assembly::LayoutSection* rule) {
  return rule && (rule->zone == assembly::Zone::kSystem || rule->zone == assembly::Zone::kStable);
}

void AddPrefix(const PrefixSections& prefix, const assembly::Layout& layout,
               std::vector<Section>* sections) {
  const std::array<std::pair<std::string_view, const Json*>, 5> parts = {{
      {"domain", &prefix.domain},
      {"idea", &prefix.idea},
      {"environment", &prefix.environment},
      {"resources", &prefix.resources},
      {"plan", &prefix.plan},
  }};
  for (const auto& [name, value] : parts) {
    if (!IsOfPrefix(FindRule(layout, name)) || IsEmptyValue(*value)) continue;
    sections->push_back(SectionOf({.name = std::string(name), .value = *value}));
  }
}

Status AddOwn(const CallRequest& request, const assembly::Layout& layout,
              std::vector<Section>* sections) {
  for (const OwnSection& own : request.sections) {
    const bool empty = IsEmptyValue(own.value) && own.parts.empty() && own.turns.empty();
    if (!FindRule(layout, own.name)) {
      if (!layout.overrides.empty()) continue;  // the user's layout does without it
      return MakeError(ErrorCode::kInternal, "layout {} has no section {}", layout.name, own.name);
    }
    if (!empty) sections->push_back(SectionOf(own));
  }
  return {};
}

void AddText(std::string_view name, std::string text, std::vector<Section>* sections) {
  if (TrimSpace(text).empty()) return;
  sections->push_back({.name = std::string(name), .content = std::move(text)});
}

}  // namespace

std::optional<assembly::ToolSpec> ForcedTool(const CallParts& parts, const CallSite& site,
                                             const driver::BoundModel& model) {
  if (site.reply != PayloadForm::kTool || !model.entry.tools) return std::nullopt;
  return assembly::ToolSpec{.name = std::string(site.tool),
                            .description = "Takes the answer to this task.",
                            .parameters = parts.schemas().Of(site)->json()};
}

Result<assembly::Assembled> MakePrompt(CallParts& parts, const CallSite& site,
                                       const CallRequest& request, const memory::Ask& ask,
                                       const std::optional<MemoryText>& memory,
                                       const driver::BoundModel& model) {
  const CallerOptions& options = parts.options();
  const assembly::Layout& layout = parts.LayoutOf(site);
  std::vector<Section> sections;
  if (const auto tool = ForcedTool(parts, site, model)) {
    sections.push_back({.name = "tools", .tools = {*tool}});
  }
  AddPrefix(request.prefix, layout, &sections);
  DOSSIER_RETURN_IF_ERROR(AddOwn(request, layout, &sections));
  if (memory) {
    AddText("memory_help", memory->help, &sections);
    AddText("memory", memory->text, &sections);
  }
  AddText("memory_results", ask.results, &sections);
  AddText("feedback", ask.feedback, &sections);

  std::map<std::string, std::string> variables = request.variables;
  variables.insert(options.variables.begin(), options.variables.end());
  variables["persona"] = options.persona;
  if (memory) {
    const bool alone = ask.kind == memory::Ask::Kind::kMemoryOnly;
    variables[alone ? "memory_only" : "memory"] = "yes";
  }
  assembly::Budget budget;
  budget.reserve_output = model.sampling.max_output;
  DOSSIER_ASSIGN_OR_RETURN(const driver::UserSections* const own,
                           parts.UserSectionsOf(site, model));
  return assembly::Assemble(layout, own->With(std::move(sections)), budget, model.entry.capability,
                            *model.counter,
                            {.variables = std::move(variables),
                             .boundary = assembly::MakeBoundary(options.boundary_seed),
                             .boundary_seed = options.boundary_seed,
                             .model = model.name,
                             .more_room = assembly::AssembleOptions::MoreRoom::kLargerModel});
}

}  // namespace dossier::research
