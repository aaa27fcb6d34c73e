#include "chat/turn/refresh_now.h"

#include <algorithm>

#include "chat/context/replaced_context.h"
#include "chat/store/save.h"

namespace dossier::chat {

std::vector<std::size_t> StaticCommands(std::span<const DeclaredCommand> commands,
                                        std::string_view only) {
  std::vector<std::size_t> run;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const bool dynamic = commands[i].freshness == CommandRecord::Freshness::kDynamic;
    if (!dynamic && (only.empty() || commands[i].name == only)) run.push_back(i);
  }
  return run;
}

bool Differs(const BlockChange& change) {
  return change.what != "same" && change.what != kNotRefreshed;
}

bool ChangesContext(const Stored& stored, const Refreshed& refreshed) {
  return StateOf(&stored) != State::kFrozen ||
         std::any_of(refreshed.changes.begin(), refreshed.changes.end(), Differs);
}

Refreshed RefreshParts::Compare(const Stored& stored, const Gathered& gathered) const {
  return Refresh(stored, gathered.commands, gathered.blocks, store.Now(), counter, others);
}

Status RefreshParts::Save(std::string_view id, const Gathered& gathered,
                          const CancelToken& cancel) const {
  const auto change = [&](Document* document) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(const Stored stored, ReadStored(*document));
    const Refreshed refreshed = Compare(stored, gathered);
    DOSSIER_RETURN_IF_ERROR(KeepReplacedContext(content_folder, refreshed.replaced));
    DOSSIER_RETURN_IF_ERROR(ApplyContext(refreshed.frozen, store.Now(), document));
    if (!stored.total_tokens) return {};
    const Message* system = stored.System();
    const std::int64_t before = counter.CountText(system ? system->Text() : "").tokens;
    const std::int64_t now = counter.CountText(refreshed.frozen.system).tokens;
    return document->metadata().Set({"total_tokens"}, *stored.total_tokens - before + now);
  };
  return store.Update(id, change, cancel);
}

}  // namespace dossier::chat
