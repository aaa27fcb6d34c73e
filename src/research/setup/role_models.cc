#include "research/setup/role_models.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace dossier::research {
namespace {

// The open models, by name.
class OpenModels {
 public:
  explicit OpenModels(driver::OpenModel open) : open_(std::move(open)) {}

  Result<driver::BoundModel> Open(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (const auto known = models_.find(name); known != models_.end()) return known->second;
    DOSSIER_ASSIGN_OR_RETURN(driver::BoundModel model, open_(name));
    return models_.emplace(name, std::move(model)).first->second;
  }

 private:
  const driver::OpenModel open_;
  std::mutex mutex_;
  std::map<std::string, driver::BoundModel> models_;
};

}  // namespace

driver::OpenModel OpenByRole(const RunConfig& config, driver::OpenModel open) {
  const auto models = std::make_shared<OpenModels>(std::move(open));
  return [models, roles = config.roles](const std::string& role) {
    const auto of = [&](const std::string& name) {
      const auto found = roles.find(name);
      return found == roles.end() ? std::string() : found->second.model;
    };
    const std::string own = of(role);
    return models->Open(own.empty() ? of("code") : own);
  };
}

}  // namespace dossier::research
