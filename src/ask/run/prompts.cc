#include "ask/run/prompts.h"

#include "assembly/layout/lookup.h"
#include "base/hash.h"

namespace dossier::ask {
namespace {

// One prompt of the engine, and the file that holds it for each style.
struct Names {
  std::string_view role, large, small, alone;  // alone: large at depth 0
};

constexpr Names kLayouts[] = {
    {"turn", "recursion.large", "recursion.small", "recursion.alone"},
    {"extract", "recursion.extract", "recursion.extract.small", "recursion.extract"},
    {"compact", "recursion.compact", "recursion.compact", "recursion.compact"},
    {"direct", "recursion.direct", "recursion.direct", "recursion.direct"},
    {"direct_again", "recursion.direct_again", "recursion.direct_again", "recursion.direct_again"},
    {"direct_states", "recursion.direct_states", "recursion.direct_states",
     "recursion.direct_states"},
    {"subcall", "recursion.subcall", "recursion.subcall", "recursion.subcall"},
    {"subcall_context", "recursion.subcall_context", "recursion.subcall_context",
     "recursion.subcall_context"},
    {"map_batch", "recursion.map_batch", "recursion.map_batch", "recursion.map_batch"},
    {"map_one", "recursion.map_one", "recursion.map_one", "recursion.map_one"},
    {"map_asked", "recursion.map_asked", "recursion.map_asked", "recursion.map_asked"},
    {"answer_kind", "recursion.answer_kind", "recursion.answer_kind", "recursion.answer_kind"},
    {"passage_answer", "recursion.passage_answer", "recursion.passage_answer",
     "recursion.passage_answer"},
    {"asks_how_often", "recursion.asks_how_often", "recursion.asks_how_often",
     "recursion.asks_how_often"},
    {"passage_says", "recursion.passage_says", "recursion.passage_says", "recursion.passage_says"},
    {"passage_states", "recursion.passage_states", "recursion.passage_states",
     "recursion.passage_states"},
};

constexpr Names kTemplates[] = {
    {"reminder", "reminder.md", "reminder.small.md", "reminder.alone.md"},
    {"reminder_retry", "reminder.md", "reminder.retry.small.md", "reminder.alone.md"},
    {"code_required", "code_required.md", "code_required.small.md", "code_required.md"},
    {"final_refused", "final_refused.md", "final_refused.md", "final_refused.md"},
    {"worker_restarted", "worker_restarted.md", "worker_restarted.md", "worker_restarted.md"},
    {"last_turn", "last_turn.md", "last_turn.md", "last_turn.md"},
    {"is_it", "is_it.md", "is_it.md", "is_it.md"},
    {"access_records", "access_records.md", "access_records.md", "access_records.md"},
    {"access_texts", "access_texts.md", "access_texts.md", "access_texts.md"},
    {"access_text", "access_text.md", "access_text.md", "access_text.md"},
    {"access_tables", "access_tables.md", "access_tables.md", "access_tables.md"},
    {"access_shards", "access_shards.md", "access_shards.md", "access_shards.md"},
    {"access_table", "access_table.md", "access_table.md", "access_table.md"},
    {"access_files", "access_files.md", "access_files.md", "access_files.md"},
};

std::string_view Pick(const Names& names, const PromptStyle& style) {
  if (style.profile == Profile::kSmall) return names.small;
  return style.depth == 0 ? names.alone : names.large;
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
    DOSSIER_ASSIGN_OR_RETURN(assembly::Layout layout,
                             assembly::FindLayout(Pick(names, style), folders));
    layouts[layout.name] = layout.sha256;
    for (const auto& [name, text] : layout.templates) {
      DOSSIER_RETURN_IF_ERROR(AddHash("prompts/", name, folders, &templates));
    }
    book.layouts_.emplace(names.role, std::move(layout));
  }
  for (const Names& names : kTemplates) {
    const std::string name = fmt::format("recursion/{}", Pick(names, style));
    DOSSIER_ASSIGN_OR_RETURN(assembly::Template text, assembly::FindTemplate(name, folders));
    DOSSIER_RETURN_IF_ERROR(AddHash("prompts/", name, folders, &templates));
    book.templates_.emplace(names.role, std::move(text));
  }
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
                                                 const std::vector<assembly::Section>& sections,
                                                 std::string_view boundary,
                                                 std::int64_t reserve_output) const {
  const auto found = layouts_.find(layout);
  if (found == layouts_.end()) {
    return MakeError(ErrorCode::kInternal, "the engine has no layout for {}", layout);
  }
  assembly::Budget budget;
  budget.reserve_output = reserve_output;
  const auto own = user_sections_.find(layout);
  return assembly::Assemble(found->second,
                            own == user_sections_.end() ? sections : own->second.With(sections),
                            budget, model.entry.capability, *model.counter,
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
