#include "server/owners.h"

#include <fcntl.h>

#include <utility>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/text/text.h"

namespace dossier::server {

Owners::Owners(std::string path) : path_(std::move(path)) {
  const auto text = ReadFile(path_);
  if (!text) return;
  for (const std::string_view line : Split(*text, '\n')) {
    const auto row = ParseJson(line);
    // The first version wrote "run", as it knew only runs.
    if (row) owners_[TextAt(*row, Find(*row, "id") ? "id" : "run")].insert(TextAt(*row, "owner"));
  }
}

void Owners::Note(std::string_view id, std::string_view owner) {
  const std::lock_guard lock(mutex_);
  if (!owners_[std::string(id)].insert(std::string(owner)).second) return;
  if (!file_.valid()) {
    file_ = UniqueFd(open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  }
  if (!file_.valid()) return;
  (void)WriteAll(file_.get(), ToJson(JsonObject{{"id", id}, {"owner", owner}}) + "\n").has_value();
}

bool Owners::Owns(std::string_view owner, std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto known = owners_.find(id);
  return known != owners_.end() && known->second.contains(owner);
}

bool Owners::Sees(const ServerKey& key, std::string_view id) const {
  return key.Has(Scope::kAdmin) || Owns(key.owner(), id);
}

}  // namespace dossier::server
