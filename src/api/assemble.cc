#include "assembly/assemble.h"

#include <dossier/assemble.h>

#include "api/access.h"
#include "app/load_config.h"
#include "app/open_model.h"
#include "assembly/layout/lookup.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/random.h"
#include "base/result.h"
#include "model/catalog/catalog.h"

namespace dossier {
namespace {

constexpr std::uint64_t kMaxLayoutBytes = 1 << 20;

// The model that the prompt is made for.
struct Target {
  model::Entry entry;
  std::shared_ptr<const tokens::Counter> counter;
  std::string warning;
};

Result<Target> TargetOf(const AssembleOptions& options) {
  if (options.model && !options.model_name.empty()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "give model or model_name, not both: each says for whom the prompt is");
  }
  if (options.model) {
    DOSSIER_ASSIGN_OR_RETURN(const auto impl, ModelAccess::Of(options.model));
    return Target{.entry = impl->opened.root.entry, .counter = impl->opened.root.counter};
  }
  DOSSIER_ASSIGN_OR_RETURN(model::Choice choice, app::ChooseWithoutKey(options.model_name));
  DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened,
                           model::OpenTokenizer(choice.entry, tokens::DefaultDataPaths()));
  return Target{.entry = std::move(choice.entry),
                .counter = std::move(opened.counter),
                .warning = std::move(opened.warning)};
}

Result<assembly::Layout> ReadLayout(const Layout& layout, const assembly::AssetFolders& folders,
                                    const Target& target) {
  if (!layout.name.empty()) {
    return assembly::FindLayout(layout.name, folders, target.entry.capability.profile);
  }
  std::string text = layout.text;
  if (!layout.file.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(text, ReadFile(layout.file, kMaxLayoutBytes));
  }
  DOSSIER_ASSIGN_OR_RETURN(
      assembly::Layout read,
      assembly::ParseLayout(text, layout.file.empty() ? "the layout" : layout.file));
  DOSSIER_RETURN_IF_ERROR(assembly::LoadTemplates(folders, &read));
  return read;
}

Result<std::vector<assembly::Section>> SectionsOf(const std::vector<Section>& sections) {
  std::vector<assembly::Section> out;
  for (const Section& section : sections) {
    assembly::Section one{.name = section.name, .content = section.text, .items = section.items};
    if (!section.turns.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(assembly::Messages turns, PromptOf(section.turns));
      one.turns = std::move(turns.turns);
    }
    out.push_back(std::move(one));
  }
  return out;
}

SectionReport ReportOf(const Json& section) {
  const auto text = [&](std::string_view key) { return TextAt(section, key); };
  return {.name = text("name"),
          .zone = text("zone"),
          .tokens = FindInt(section, "tokens").value_or(0),
          .outcome = text("outcome"),
          .reason = text("reason")};
}

Assembled AssembledOf(const assembly::Assembled& prompt, const Target& target) {
  Assembled out{.messages = MessagesOf(prompt.messages),
                .tokens = prompt.tokens,
                .exact = prompt.tokens_exact,
                .report = ToJson(prompt.report)};
  if (const Json* sections = Find(prompt.report, "sections"); sections && sections->is_array()) {
    for (const Json& section : sections->get_array()) out.sections.push_back(ReportOf(section));
  }
  if (!target.warning.empty()) out.warnings.push_back(target.warning);
  if (const Json* warnings = Find(prompt.report, "warnings"); warnings && warnings->is_array()) {
    for (const Json& warning : warnings->get_array()) {
      out.warnings.emplace_back(FindString(warning, "text").value_or(""));
    }
  }
  return out;
}

}  // namespace

Layout LayoutNamed(std::string name) { return {.name = std::move(name)}; }
Layout LayoutFile(std::string path) { return {.file = std::move(path)}; }
Layout LayoutText(std::string yaml) { return {.text = std::move(yaml)}; }

Result<Assembled> Assemble(const Layout& layout, const std::vector<Section>& sections,
                           const AssembleOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(const Target target, TargetOf(options));
  DOSSIER_ASSIGN_OR_RETURN(const auto folders, app::UserAssetFolders(options.layouts_dir));
  DOSSIER_ASSIGN_OR_RETURN(const assembly::Layout read, ReadLayout(layout, folders, target));
  DOSSIER_ASSIGN_OR_RETURN(const auto content, SectionsOf(sections));
  assembly::AssembleOptions own{
      .variables = options.variables,
      .boundary = options.seed ? assembly::MakeBoundary(*options.seed) : RandomHex(32),
      .boundary_seed = options.seed,
      .model = target.entry.name,
      .unused_values = assembly::AssembleOptions::Unused::kWarn,
      .more_room = assembly::AssembleOptions::MoreRoom::kLargerModel};
  DOSSIER_ASSIGN_OR_RETURN(
      const assembly::Assembled prompt,
      assembly::Assemble(read, content,
                         {.tokens = options.budget, .reserve_output = options.reserve_output},
                         target.entry.capability, *target.counter, own));
  return AssembledOf(prompt, target);
}

}  // namespace dossier
