#include "research/call_parts.h"

#include <algorithm>

#include "assembly/lookup.h"

namespace dossier::research {

CallParts::CallParts(CallerOptions options, ReplySchemas schemas)
    : options_(std::move(options)), schemas_(std::move(schemas)), logs_(options_.run_folder) {}

Result<std::unique_ptr<CallParts>> CallParts::Load(CallerOptions options) {
  DOSSIER_ASSIGN_OR_RETURN(ReplySchemas schemas, ReplySchemas::Load());
  std::unique_ptr<CallParts> parts(new CallParts(std::move(options), std::move(schemas)));
  for (const CallSite& site : CallSites()) {
    DOSSIER_ASSIGN_OR_RETURN(assembly::Layout layout,
                             assembly::FindLayout(site.layout, parts->options_.assets));
    parts->layouts_.emplace(site.name, std::move(layout));
  }
  for (const store::Event& event : parts->journal().Events()) {
    if (event.type != "call.sent") continue;
    const Json* node = Find(event.data, "node");
    const Json* counter = Find(event.data, "counter");
    if (!node || !node->is_string() || !counter || !counter->is_int64()) continue;
    std::int64_t& highest = parts->counters_[std::string(node->get_string())];
    highest = std::max(highest, counter->get_int64());
  }
  return parts;
}

const assembly::Layout& CallParts::LayoutOf(const CallSite& site) const {
  return layouts_.find(site.name)->second;
}

Result<const conversation::ChatModel*> CallParts::Model(std::string_view role) {
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(role);
  if (found != models_.end()) return found->second.get();
  DOSSIER_ASSIGN_OR_RETURN(conversation::ChatModel model, options_.open(role));
  auto kept = std::make_unique<conversation::ChatModel>(std::move(model));
  return models_.emplace(role, std::move(kept)).first->second.get();
}

std::int64_t CallParts::NextCounter(std::string_view node) {
  const std::lock_guard lock(mutex_);
  return ++counters_[std::string(node)];
}

}  // namespace dossier::research
