#include "research/call/call_parts.h"

#include "assembly/layout/lookup.h"
#include "store/event_data.h"

namespace dossier::research {

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
                                                                     .counter = model.counter}));
  for (assembly::Section& section : own.sections) {
    section.content = store::CleanText(section.content);
    for (std::string& item : section.items) item = store::CleanText(item);
    for (auto& [name, text] : section.alternatives) text = store::CleanText(text);
  }
  return &user_sections_.emplace(site.name, std::move(own)).first->second;
}

std::int64_t CallParts::NextCounter(std::string_view node) {
  const std::lock_guard lock(mutex_);
  // Prompts are numbered as they are sent, so how many were sent is the last number.
  const auto counter = counters_.find(node);
  if (counter != counters_.end()) return ++counter->second;
  return counters_.emplace(node, journal().PromptsSent(node) + 1).first->second;
}

}  // namespace dossier::research
