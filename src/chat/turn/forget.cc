#include "chat/turn/forget.h"

#include <algorithm>
#include <set>

#include "base/files/file.h"
#include "chat/turn/resume.h"
#include "store/content.h"

namespace dossier::chat {
namespace {

struct Traces {
  std::set<std::string> runs, contexts;  // ids; SHA-256
  std::vector<std::string> former_ids;

  bool empty() const { return runs.empty() && contexts.empty(); }
};

Traces TracesOf(const Stored& stored) {
  Traces traces{.runs = {}, .contexts = {}, .former_ids = stored.former_ids};
  for (const TurnRecord& turn : stored.turns) {
    if (!turn.run.empty()) traces.runs.insert(turn.run);
  }
  if (!stored.context || !stored.context->history.is_array()) return traces;
  for (const Json& one : stored.context->history.get_array()) {
    if (const auto sha256 = FindString(one, "sha256")) traces.contexts.emplace(*sha256);
  }
  return traces;
}

// All that `ids` left. The journal knows of turns that failed, too.
Result<Traces> TracesOf(const ForgetParts& parts, std::span<const std::string> ids) {
  Traces all;
  for (const std::string& id : ids) {
    std::vector<std::string> names{id};
    if (const auto loaded = parts.store.Load(id)) {
      Traces own = TracesOf(loaded->stored);
      all.runs.merge(own.runs);
      all.contexts.merge(own.contexts);
      for (std::string& name : own.former_ids) {
        // Another conversation may have taken it.
        if (!Exists(PathOf(parts.store.folder(), name))) names.push_back(std::move(name));
      }
    }
    if (!parts.journal) continue;
    for (const std::string& name : names) {
      DOSSIER_ASSIGN_OR_RETURN(
          const std::vector<std::string> runs,
          RunsOf(*parts.journal, {.folder = parts.store.folder(), .id = name}));
      all.runs.insert(runs.begin(), runs.end());
    }
  }
  return all;
}

Status KeepWhatOthersName(const Store& store, std::span<const std::string> gone, Traces* traces) {
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> ids, store.Ids());
  for (const std::string& id : ids) {
    if (std::find(gone.begin(), gone.end(), id) != gone.end()) continue;
    const auto loaded = store.Load(id);
    if (!loaded) continue;  // damaged, or gone by now
    const Traces named = TracesOf(loaded->stored);
    for (const std::string& run : named.runs) traces->runs.erase(run);
    for (const std::string& sha256 : named.contexts) traces->contexts.erase(sha256);
  }
  return {};
}

}  // namespace

Status ForgetTraces(const ForgetParts& parts, std::span<const std::string> ids) {
  DOSSIER_ASSIGN_OR_RETURN(Traces traces, TracesOf(parts, ids));
  if (traces.empty()) return {};
  DOSSIER_RETURN_IF_ERROR(KeepWhatOthersName(parts.store, ids, &traces));
  if (!traces.contexts.empty() && Exists(parts.content_folder)) {
    DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(parts.content_folder));
    for (const std::string& sha256 : traces.contexts) {
      DOSSIER_RETURN_IF_ERROR(content->Remove(sha256));
    }
  }
  if (traces.runs.empty() || !parts.journal) return {};
  const std::vector<std::string> runs(traces.runs.begin(), traces.runs.end());
  DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const std::size_t bodies,
                           parts.journal->EraseTexts(runs));
  return {};
}

}  // namespace dossier::chat
