#include "research/call/call_parts.h"

#include "assembly/layout/lookup.h"
#include "store/event_data.h"

namespace dossier::research {
namespace {

void CleanJson(Json* value) {
  if (auto* text = value->if_string()) {
    *value = store::CleanText(*text);
  } else if (auto* list = value->if_array()) {
    for (Json& item : *list) CleanJson(&item);
  } else if (auto* object = value->if_object()) {
    for (auto& entry : *object) CleanJson(&entry.value());
  }
}

// Cleans the section's text in any of its forms. Image bytes are left unchanged.
void CleanSection(assembly::Section* section) {
  const auto clean = [](std::string* text) { *text = store::CleanText(*text); };
  clean(&section->content);
  for (std::string& item : section->items) clean(&item);
  for (auto& [name, text] : section->alternatives) clean(&text);
  CleanJson(&section->data);
  const auto clean_blocks = [&](std::vector<assembly::Block>& blocks) {
    for (assembly::Block& block : blocks) {
      if (block.type != assembly::Block::Type::kImage) clean(&block.text);
      CleanJson(&block.arguments);
    }
  };
  clean_blocks(section->parts);
  for (assembly::Turn& turn : section->turns) clean_blocks(turn.blocks);
  for (assembly::ToolSpec& tool : section->tools) {
    clean(&tool.description);
    CleanJson(&tool.parameters);
  }
}

}  // namespace

CallParts::CallParts(CallerOptions options, ReplySchemas schemas)
    : options_(std::move(options)),
      schemas_(std::move(schemas)),
      logs_(options_.run_folder),
      caller_(*options_.ledger, options_.clock, options_.retry) {}

Result<std::unique_ptr<CallParts>> CallParts::Load(CallerOptions options) {
  DOSSIER_ASSIGN_OR_RETURN(ReplySchemas schemas, ReplySchemas::Load());
  std::unique_ptr<CallParts> parts(new CallParts(std::move(options), std::move(schemas)));
  for (const CallSite& site : CallSites()) {
    DOSSIER_ASSIGN_OR_RETURN(assembly::Layout layout,
                             assembly::FindLayout(site.layout, parts->options_.assets));
    parts->layouts_.emplace(site.name, std::move(layout));
  }
  return parts;
}

const assembly::Layout& CallParts::LayoutOf(const CallSite& site) const {
  return layouts_.find(site.name)->second;
}

Result<const driver::BoundModel*> CallParts::Model(std::string_view role) {
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(role);
  if (found != models_.end()) return found->second.get();
  DOSSIER_ASSIGN_OR_RETURN(driver::BoundModel model, options_.open(std::string(role)));
  auto kept = std::make_unique<driver::BoundModel>(std::move(model));
  return models_.emplace(role, std::move(kept)).first->second.get();
}

Result<const driver::UserSections*> CallParts::UserSectionsOf(const CallSite& site,
                                                              const driver::BoundModel& model) {
  const std::lock_guard lock(mutex_);
  const auto found = user_sections_.find(site.name);
  if (found != user_sections_.end()) return &found->second;
  DOSSIER_ASSIGN_OR_RETURN(driver::UserSections own,
                           driver::ReadUserSections(LayoutOf(site), {.makers = options_.makers,
                                                                     .counter = model.counter,
                                                                     .cancel = options_.cancel}));
  for (const std::string& warning : own.warnings) {
    if (options_.warn) options_.warn(warning);
  }
  for (assembly::Section& section : own.sections) CleanSection(&section);
  return &user_sections_.emplace(site.name, std::move(own)).first->second;
}

std::int64_t CallParts::NextCounter(std::string_view node) {
  const std::lock_guard lock(mutex_);
  // Prompts are numbered as they are sent, so the number sent so far is the last number.
  const auto counter = counters_.find(node);
  if (counter != counters_.end()) return ++counter->second;
  return counters_.emplace(node, journal().PromptsSent(node) + 1).first->second;
}

}  // namespace dossier::research
