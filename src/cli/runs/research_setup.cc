#include "cli/runs/research_setup.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/text/text.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/model_flags.h"
#include "config/edit.h"
#include "research/files/run_folder.h"
#include "research/setup/config_keys.h"
#include "research/setup/role_models.h"

namespace dossier::cli {
namespace {

constexpr std::size_t kMaxConfigBytes = 256 << 10;

// Collects KEY=VALUE of the flags that set keys.
class Settings {
 public:
  explicit Settings(std::vector<std::string> first) : settings_(std::move(first)) {}

  void Text(std::string_view key, const std::string& value) {
    if (value.empty()) return;
    settings_.push_back(fmt::format("{}={}", key, config::QuoteScalar(value)));
  }
  template <typename T>
  void Number(std::string_view key, const std::optional<T>& value) {
    if (value) settings_.push_back(fmt::format("{}={}", key, *value));
  }
  void Add(std::string setting) { settings_.push_back(std::move(setting)); }

  std::vector<std::string> Take() { return std::move(settings_); }

 private:
  std::vector<std::string> settings_;
};

Status AddModels(const std::vector<std::string>& models, Settings* settings) {
  for (const std::string& model : models) {
    const auto equals = model.find('=');
    if (equals == 0 || equals + 1 == model.size() || model.empty()) {
      return MakeError(ErrorCode::kUsage,
                       "--model {}: write it as NAME or ROLE=NAME, as in code=local; `dossier "
                       "models list` shows the names",
                       model);
    }
    // A bare name is the model of role `code`, and so of all roles without a model of their own.
    if (equals == std::string::npos) {
      settings->Text("agent.code.model", model);
      continue;
    }
    const std::string role = model.substr(0, equals);
    const auto roles = research::Roles();
    if (std::find(roles.begin(), roles.end(), role) == roles.end()) {
      return MakeError(ErrorCode::kConfig, "--model {}: there is no role {}; roles are {}", model,
                       role, Join(std::vector<std::string>(roles.begin(), roles.end()), " "));
    }
    settings->Text(fmt::format("agent.{}.model", role), model.substr(equals + 1));
  }
  return {};
}

// Adds the limits, which a resume accepts, too.
Status AddLimits(const ResearchArguments& arguments, Settings* settings) {
  settings->Number("limits.max_cost_usd", arguments.limits.max_cost);
  settings->Number("limits.max_tokens", arguments.limits.max_tokens);
  settings->Number("limits.max_seconds", arguments.limits.max_seconds);
  return AddModels(arguments.models, settings);
}

void AddDegraded(const std::vector<std::string>& layers, Settings* settings) {
  if (layers.empty()) return;
  settings->Add("exec.degraded=" + ToJson(JsonArray(layers.begin(), layers.end())));
}

Result<std::vector<std::string>> SettingsOf(const ResearchArguments& arguments) {
  Settings settings(arguments.settings);
  settings.Text("exec.backend", arguments.backend);
  settings.Text("exec.singularity_image", arguments.image);
  settings.Text("exec.resources", arguments.resources);
  settings.Text("review.bias", arguments.review_bias);
  settings.Number("agent.num_workers", arguments.workers);
  settings.Number("search.seed", arguments.seed);
  if (arguments.no_memory) settings.Add("memory.enabled=false");
  AddDegraded(arguments.degraded, &settings);
  DOSSIER_RETURN_IF_ERROR(AddLimits(arguments, &settings));
  return settings.Take();
}

}  // namespace

Result<research::RunConfig> ReadRunConfig(const ResearchArguments& arguments) {
  std::string text;
  const std::string path = arguments.config.empty() ? "" : research::AbsolutePath(arguments.config);
  if (!path.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(text, ReadNamedFile(path, kMaxConfigBytes));
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> settings, SettingsOf(arguments));
  return research::ReadConfig(text, path.empty() ? "the configuration" : path, settings,
                              research::AbsolutePath("."));
}

Result<research::RunConfig> ReadStoredConfig(const std::string& folder,
                                             const ResearchArguments& arguments) {
  const std::string path = folder + "/" + std::string(research::run_files::kConfig);
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadRegularFile(path, kMaxConfigBytes));
  Settings settings(arguments.settings);
  DOSSIER_RETURN_IF_ERROR(AddLimits(arguments, &settings));
  return research::ReadConfig(text, path, settings.Take(), research::AbsolutePath("."));
}

driver::OpenModel RoleOpener(const ResearchCall& call, const research::RunConfig& config,
                             const config::Config& loaded) {
  ModelFlags flags = call.arguments.connection;
  if (call.arguments.dry_run) flags.use = ModelFlags::Use::kLookedAt;
  flags.prices = call.arguments.limits.prices;
  flags.needs_price = config.max_cost_usd.has_value();
  const auto say = [&err = call.err](std::string_view line) {
    err << fmt::format("dossier: {}\n", line);
  };
  return research::OpenByRole(config, [flags, loaded, global = call.flags, say,
                                       cancel = call.cancel](const std::string& name) {
    ModelFlags own = flags;
    own.model = name;
    return OpenChatModel(own, loaded, global, say, cancel);
  });
}

Result<research::ResourceFile> ReadResources(const std::string& path, const std::string& mount) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, research::kMaxResourceFileBytes));
  const std::string whole = research::AbsolutePath(path);
  return research::ReadResourceFile(
      text, {.file = path, .folder = whole.substr(0, whole.rfind('/')), .workspace_mount = mount});
}

}  // namespace dossier::cli
