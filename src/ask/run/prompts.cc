#include "ask/run/prompts.h"

#include "ask/reply/submit.h"
#include "assembly/layout/lookup.h"
#include "base/hash.h"

namespace dossier::ask {
namespace {

// One prompt of the engine: its role and, if they differ from it, its file names for each style.
struct Names {
  std::string_view role, large = {}, small = {}, alone = {};  // alone: large at depth 0
  std::string_view javascript = {}, javascript_alone = {};
};

constexpr Names kLayouts[] = {
    {"turn", "large", "small", "alone", "javascript", "javascript.alone"},
    {"extract", "extract", "extract.small", "", "extract.javascript"},
    {"compact"},
    {"direct"},
    {"direct_again"},
    {"direct_states"},
    {"subcall"},
    {"subcall_context"},
    {"map_batch"},
    {"map_one"},
    {"map_asked"},
    {"answer_kind"},
    {"passage_answer"},
    {"asks_how_often"},
    {"passage_says"},
    {"passage_states"},
};

constexpr Names kTemplates[] = {
    {"reminder", "reminder", "reminder.small", "reminder.alone", "reminder.javascript",
     "reminder.javascript.alone"},
    {"reminder_retry", "reminder", "reminder.retry.small", "reminder.alone", "reminder.javascript",
     "reminder.javascript.alone"},
    {"code_required", "code_required", "code_required.small", "", "code_required.javascript"},
    {"final_refused"},
    {"repair"},
    {"worker_restarted"},
    {"last_turn"},
    {"reply_cut"},
    {"is_it"},
    {"access_records"},
    {"access_texts"},
    {"access_text"},
    {"access_tables"},
    {"access_shards"},
    {"access_table"},
    {"access_files"},
};

std::string_view Pick(const Names& names, const PromptStyle& style) {
  const std::string_view large = names.large.empty() ? names.role : names.large;
  const bool small = style.profile == Profile::kSmall;
  if (style.dialect == sandbox::Dialect::kJavaScript && !names.javascript.empty()) {
    return style.depth == 0 && !names.javascript_alone.empty() ? names.javascript_alone
                                                               : names.javascript;
  }
  const std::string_view own = small ? names.small : style.depth == 0 ? names.alone : large;
  return own.empty() ? large : own;
}

Status AddHash(std::string_view prefix, std::string_view name,
               const assembly::AssetFolders& folders, JsonObject* hashes) {
  DOSSIER_ASSIGN_OR_RETURN(const auto asset, assembly::FindAsset(prefix, name, folders));
  if (asset) (*hashes)[asset->path] = Sha256Hex(asset->text);
  return {};
}

}  // namespace

Result<PromptBook> PromptBook::Load(const PromptStyle& style,
                                    const assembly::AssetFolders& folders) {
  PromptBook book;
  JsonObject layouts, templates;
  for (const Names& names : kLayouts) {
    DOSSIER_ASSIGN_OR_RETURN(
        assembly::Layout layout,
        assembly::FindLayout(fmt::format("recursion.{}", Pick(names, style)), folders));
    layouts[layout.name] = layout.sha256;
    for (const auto& [name, text] : layout.templates) {
      DOSSIER_RETURN_IF_ERROR(AddHash("prompts/", name, folders, &templates));
    }
    book.layouts_.emplace(names.role, std::move(layout));
  }
  for (const Names& names : kTemplates) {
    const std::string name = fmt::format("recursion/{}.md", Pick(names, style));
    DOSSIER_ASSIGN_OR_RETURN(assembly::Template text, assembly::FindTemplate(name, folders));
    DOSSIER_RETURN_IF_ERROR(AddHash("prompts/", name, folders, &templates));
    book.templates_.emplace(names.role, std::move(text));
  }
  if (style.dialect == sandbox::Dialect::kJavaScript) book.tools_ = {SubmitTool()};
  book.manifest_ = {{"layouts", std::move(layouts)}, {"templates", std::move(templates)}};
  return book;
}

Result<std::vector<std::string>> PromptBook::ReadUserSections(
    const driver::SectionSources& sources) {
  std::vector<std::string> warnings;
  JsonObject hashes;
  for (const auto& [role, layout] : layouts_) {
    DOSSIER_ASSIGN_OR_RETURN(driver::UserSections own, driver::ReadUserSections(layout, sources));
    warnings.insert(warnings.end(), own.warnings.begin(), own.warnings.end());
    if (own.sections.empty()) continue;
    hashes[layout.name] = own.Hashes();
    user_sections_[role] = std::move(own);
  }
  if (!hashes.empty()) manifest_["sections"] = std::move(hashes);
  return warnings;
}

Result<assembly::Assembled> PromptBook::Assemble(std::string_view layout,
                                                 const driver::BoundModel& model,
                                                 const std::map<std::string, std::string>& values,
                                                 std::vector<assembly::Section> sections,
                                                 std::string_view boundary,
                                                 std::int64_t reserve_output) const {
  const auto found = layouts_.find(layout);
  if (found == layouts_.end()) {
    return MakeError(ErrorCode::kInternal, "the engine has no layout for {}", layout);
  }
  assembly::Budget budget;
  budget.reserve_output = reserve_output;
  const auto own = user_sections_.find(layout);
  if (own != user_sections_.end()) sections = own->second.With(std::move(sections));
  const bool turns = layout == "turn" || layout == "extract";
  if (turns && model.entry.tools && !tools_.empty()) {
    sections.push_back({.name = "tools", .tools = tools_});
  }
  return assembly::Assemble(found->second, sections, budget, model.entry.capability, *model.counter,
                            {.variables = values,
                             .boundary = std::string(boundary),
                             .more_room = assembly::AssembleOptions::MoreRoom::kLargerModel});
}

Result<std::string> PromptBook::Text(std::string_view name,
                                     const std::map<std::string, std::string>& values,
                                     std::string_view boundary) const {
  const auto found = templates_.find(name);
  if (found == templates_.end()) {
    return MakeError(ErrorCode::kInternal, "the engine has no template for {}", name);
  }
  return assembly::RenderTemplate(found->second, values, boundary);
}

}  // namespace dossier::ask
