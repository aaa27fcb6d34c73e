#include "server/workspace.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <filesystem>

#include "app/load_config.h"
#include "base/files/locations.h"
#include "base/files/missing_file.h"
#include "base/files/secret_files.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "model/local/local_weights.h"
#include "server/client_model.h"
#include "server/run_table.h"
#include "server/session_table.h"
#include "tokens/files/open.h"

namespace dossier::server {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSecretHead = 4096;  // bytes that are searched for a key

// Returns the real path of an open descriptor.
Result<std::string> PathOfDescriptor(int fd, const std::string& given) {
  std::string path(PATH_MAX, '\0');
  const std::string link = fmt::format("/proc/self/fd/{}", fd);
  const ssize_t got = readlink(link.c_str(), path.data(), path.size());
  if (got < 0) return MakeErrnoError(errno, given);
  path.resize(static_cast<std::size_t>(got));
  return path;
}

}  // namespace

Workspace::Workspace(WorkspaceOptions options) : options_(std::move(options)) {}
Workspace::~Workspace() = default;

Result<std::unique_ptr<Workspace>> Workspace::Open(WorkspaceOptions options) {
  if (options.data_folder.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(options.data_folder, DataFolder());
  }
  auto workspace = std::unique_ptr<Workspace>(new Workspace(std::move(options)));
  const WorkspaceOptions& given = workspace->options_;
  workspace->contexts_ = std::make_unique<ContextStore>(
      ContextStoreOptions{.folder = given.data_folder, .clock = given.clock});
  workspace->sessions_ = std::make_unique<SessionTable>(*workspace);
  workspace->runs_ = std::make_unique<RunTable>(*workspace);
  return workspace;
}

Result<const config::Config*> Workspace::Config() {
  const std::lock_guard lock(mutex_);
  if (!config_) {
    DOSSIER_ASSIGN_OR_RETURN(config_, app::LoadOwnConfig());
  }
  return &*config_;
}

Result<const app::OpenedModel*> Workspace::Model(const std::string& name, const CancelToken& cancel,
                                                 ModelUse use) {
  DOSSIER_ASSIGN_OR_RETURN(const app::OpenedModel* model, OpenedOnce(name, cancel));
  const bool limited = options_.max_usd || options_.max_usd_day;
  if (limited && use == ModelUse::kAsked) DOSSIER_RETURN_IF_ERROR(app::CheckPrices(*model));
  return model;
}

Result<const app::OpenedModel*> Workspace::OpenedOnce(const std::string& name,
                                                      const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config* config, Config());
  const std::lock_guard lock(model_mutex_);
  const auto known = models_.find(name);
  if (known != models_.end()) return &known->second;
  DOSSIER_RETURN_IF_ERROR(CheckClientModel(options_.model, *config, name));
  app::ModelSettings settings = options_.model;
  if (!name.empty()) settings.model = name;
  DOSSIER_RETURN_IF_ERROR(app::ApplyConfig(*config, &settings));
  DOSSIER_ASSIGN_OR_RETURN(app::OpenedModel model,
                           app::OpenModel(settings, [](std::string_view) {}, cancel));
  return &models_.emplace(name, std::move(model)).first->second;
}

namespace {

// If no model was named: checks that there is a key, or the weights of the local model.
Status CheckDefaultModel(const app::ModelSettings& settings, const std::string& data_folder) {
  DOSSIER_ASSIGN_OR_RETURN(const app::ModelData data, settings.config
                                                          ? app::LoadModelData(*settings.config)
                                                          : app::LoadModelData());
  const auto today = std::chrono::floor<std::chrono::days>(SystemClock()->WallNow());
  DOSSIER_ASSIGN_OR_RETURN(const model::Choice choice,
                           data.catalog.Choose({.name = {},
                                                .base_url = {},
                                                .key_env = settings.key_env,
                                                .script = settings.script,
                                                .config = data.config,
                                                .today = today,
                                                .keys = model::Wanted::Keys::kFind},
                                               app::Environment));
  if (choice.provider.name != "local" || choice.model != model::DefaultWeights().name) return {};
  const auto found = model::FindWeights(data_folder, choice.model);
  if (found || found.error().code != ErrorCode::kNotFound) return {};
  return MakeError(ErrorCode::kNotFound, "{}", app::DescribeFirstUse({}));
}

}  // namespace

Status Workspace::CheckModel() {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config* config, Config());
  app::ModelSettings settings = options_.model;
  DOSSIER_RETURN_IF_ERROR(app::ApplyConfig(*config, &settings));
  if (settings.model.empty() && settings.base_url.empty() && settings.replay.empty()) {
    DOSSIER_RETURN_IF_ERROR(CheckDefaultModel(settings, options_.data_folder));
  }
  settings.use = app::ModelSettings::Use::kLookedAt;
  DOSSIER_RETURN_IF_ERROR(app::OpenModel(settings, [](std::string_view) {}, {}));
  return {};
}

Result<std::shared_ptr<store::Journal>> Workspace::Journal() {
  const std::lock_guard lock(mutex_);
  if (!journal_) {
    DOSSIER_ASSIGN_OR_RETURN(journal_, store::Journal::Open(options_.data_folder + "/runs"));
  }
  return journal_;
}

Result<std::unique_ptr<store::ContentStore>> Workspace::Packs() const {
  const std::string folder = options_.data_folder + "/server/packs";
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  return store::ContentStore::Open(folder);
}

Result<app::PromptMemory> Workspace::Memory(app::MemoryNeed need) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config* config, Config());
  return app::OpenPromptMemory({.use = app::MemoryWish::Use::kOn, .store = {}, .branch = {}},
                               *config, need);
}

Result<std::shared_ptr<sandbox::Pool>> Workspace::Pool() {
  const std::lock_guard lock(mutex_);
  if (!pool_) {
    DOSSIER_ASSIGN_OR_RETURN(pool_, sandbox::Pool::Make(options_.pool));
  }
  return pool_;
}

Status Workspace::CheckSandbox(const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const auto pool, Pool());
  DOSSIER_ASSIGN_OR_RETURN(const auto session, pool->Open({}, cancel));
  session->Close();
  return {};
}

const tokens::Counter& Workspace::Counter() {
  const std::lock_guard lock(mutex_);
  if (!counter_) {
    // The name is known; a missing table gives an estimate.
    counter_ = tokens::Open("o200k_base", tokens::DefaultDataPaths())->counter;
  }
  return *counter_;
}

Status Workspace::CheckPlace(const std::string& real_path, std::string_view given) const {
  if (options_.files == WorkspaceOptions::Files::kNone) {
    return MakeError(ErrorCode::kRefused,
                     "{} is not read: the server was started in / or in the home folder, and no "
                     "folder was named; a person can allow one by {} FOLDER",
                     given, options_.root_flag);
  }
  const auto holds = [&](const std::string& root) { return IsBelow(real_path, root); };
  if (options_.roots.empty() || std::ranges::any_of(options_.roots, holds)) return {};
  return MakeError(ErrorCode::kRefused,
                   "{} lies outside of the folders that may be read ({}); a person can allow it by "
                   "starting the server with {} FOLDER",
                   given,
                   options_.roots_name.empty() ? Join(options_.roots, ", ") : options_.roots_name,
                   options_.root_flag);
}

Result<std::string> Workspace::Admit(const std::string& path) const {
  if (path.find('\0') != std::string::npos) {  // the system would read the part in front of it
    return MakeError(ErrorCode::kRefused, "{} has a NUL character and is no path",
                     utf8::CleanForTerminal(path));
  }
  const fs::path base = options_.roots.empty() ? fs::current_path() : fs::path(options_.roots[0]);
  std::error_code error;
  const fs::path real = fs::weakly_canonical(base / path, error);
  if (error) return MakeErrnoError(error.value(), path);
  // Checked first: outside the roots not even the existence of a file is revealed.
  DOSSIER_RETURN_IF_ERROR(CheckPlace(real.string(), path));
  if (!fs::exists(real, error)) {
    Error missing = ExplainMissing(ErrnoError(ENOENT, path), real.string());
    // Clients need not learn where the server's folder lies.
    missing.message = ReplaceAll(missing.message, base.string() + "/", "");
    return tl::unexpected(std::move(missing));
  }
  if (fs::is_regular_file(real, error)) {
    DOSSIER_RETURN_IF_ERROR(OpenNamed(real.string(), path));
  } else if (!fs::is_directory(real, error)) {
    return MakeError(ErrorCode::kRefused, "{} is neither a file nor a folder", path);
  }
  return real.string();
}

Result<UniqueFd> Workspace::OpenFile(const std::string& path) const {
  return OpenNamed(path, path);
}

// `given`: the name in messages.
Result<UniqueFd> Workspace::OpenNamed(const std::string& path, const std::string& given) const {
  struct stat info{};
  DOSSIER_ASSIGN_OR_RETURN(UniqueFd fd, OpenRegularFile(path, &info));
  DOSSIER_ASSIGN_OR_RETURN(const std::string real, PathOfDescriptor(fd.get(), path));
  DOSSIER_RETURN_IF_ERROR(CheckPlace(real, given));
  if (options_.secrets == WorkspaceOptions::Secrets::kAllowed) return fd;
  std::string head(kSecretHead, '\0');
  const ssize_t got = pread(fd.get(), head.data(), head.size(), 0);
  head.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (!HasSecretName(real) && !IsSecretText(head)) return fd;
  if (options_.secrets_flag.empty()) {
    return MakeError(ErrorCode::kRefused, "{} holds secrets and is not read", given);
  }
  return MakeError(ErrorCode::kRefused,
                   "{} holds secrets and is not read; a person can allow it by starting the server "
                   "with {}",
                   given, options_.secrets_flag);
}

// Checks a path recorded by another process, as it was given: relative, or with links and "..".
Status Workspace::CheckRecorded(const std::string& path, std::string_view holder) const {
  if (HasBounds()) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    if (error || !fs::path(path).is_absolute()) {
      return MakeError(ErrorCode::kRefused, "{} holds {}, and where that lies is not known", holder,
                       path);
    }
    DOSSIER_RETURN_IF_ERROR(CheckPlace(real.string(), path));
  }
  if (options_.secrets == WorkspaceOptions::Secrets::kAllowed || !HasSecretName(path)) return {};
  return MakeError(ErrorCode::kRefused, "{} holds {}, a secret file{}{}", holder, path,
                   options_.secrets_flag.empty() ? "" : "; see ", options_.secrets_flag);
}

Status Workspace::MayRead(const KnownContext& record) const {
  // Contexts opened here were checked then; their texts are kept, whatever is at the paths now.
  if (contexts_->Added(record.id)) return {};
  if (HasBounds() && record.texts > 0) {
    return MakeError(ErrorCode::kRefused,
                     "context {} holds a text that was opened elsewhere; open that text again",
                     record.id);
  }
  if (options_.secrets == WorkspaceOptions::Secrets::kRedacted && !record.redacted &&
      !record.paths.empty()) {
    return MakeError(ErrorCode::kRefused,
                     "context {} was opened with the keys and passwords that its files may hold; "
                     "open {} again",
                     record.id, record.paths[0]);
  }
  for (const std::string& path : record.paths) {
    DOSSIER_RETURN_IF_ERROR(CheckRecorded(path, "context " + record.id));
  }
  return {};
}

Status Workspace::MayRead(std::string_view run, const JsonObject& started) const {
  const Json* contexts = Find(started, "contexts");
  const bool known = contexts && contexts->is_array() && !contexts->get_array().empty();
  for (const Json& one : known ? contexts->get_array() : JsonArray{JsonObject()}) {
    const std::string path = TextAt(one, "path");
    if (path.empty() && !HasBounds()) continue;
    if (path.empty()) {
      return MakeError(ErrorCode::kRefused,
                       "run {} was begun elsewhere, over what is no file; ask again", run);
    }
    DOSSIER_RETURN_IF_ERROR(CheckRecorded(path, fmt::format("run {}", run)));
  }
  return {};
}

Result<std::shared_ptr<const OpenContext>> Workspace::Context(std::string_view id,
                                                              const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const KnownContext record, contexts_->Look(id));
  DOSSIER_RETURN_IF_ERROR(MayRead(record));
  return contexts_->Find(id, cancel);
}

}  // namespace dossier::server
