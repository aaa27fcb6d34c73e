#include "app/known_keys.h"

#include <string_view>

#include "app/open_model.h"
#include "base/files/file.h"
#include "base/text/text.h"
#include "model/catalog/user_config.h"

namespace dossier::app {
namespace {

// Shorter values ("1", "none") are no keys, and would take half of the environment away.
constexpr std::size_t kShortestKey = 8;        // bytes
constexpr std::size_t kLargestFile = 1 << 16;  // bytes

class Keys {
 public:
  void OfVariable(const std::string& name) {
    if (!name.empty()) Add(Environment(name).value_or(""));
  }

  // A file that cannot be read holds no key that could be in the environment.
  void OfFile(const std::string& path) {
    if (path.empty()) return;
    if (const auto bytes = ReadFile(path, kLargestFile)) Add(*bytes);
  }

  std::vector<std::string> Take() { return std::move(keys_); }

 private:
  void Add(std::string_view value) {
    const std::string_view key = TrimSpace(value);
    if (key.size() >= kShortestKey) keys_.emplace_back(key);
  }

  std::vector<std::string> keys_;
};

}  // namespace

Result<std::vector<std::string>> KnownKeys(const config::Config& config) {
  DOSSIER_ASSIGN_OR_RETURN(model::UserConfig user, model::UserConfigOf(config));
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data, LoadModelData(std::move(user)));
  Keys keys;
  for (const model::Provider& provider : data.catalog.providers()) {
    for (const std::string& name : provider.key_variables) keys.OfVariable(name);
  }
  keys.OfVariable(config.access.key_env);
  keys.OfFile(data.config.access.file);
  for (const auto& [name, access] : data.config.providers) keys.OfFile(access.file);
  return keys.Take();
}

}  // namespace dossier::app
