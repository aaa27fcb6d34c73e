// The objects that a server's operations use: contexts, code sessions, runs, models, a budget.
//
//   WorkspaceOptions options{.roots = {"/home/ann/project"}};
//   options.model.model = "openai/gpt-5-mini";
//   DOSSIER_ASSIGN_OR_RETURN(const auto workspace, Workspace::Open(std::move(options)));
//
// Nothing is read, started or written until an operation needs it, so a server answers its first
// message within milliseconds. Errors of the accessors: those of configuration, model, memory or
// store, each naming the file or the setting. Thread-safety: all methods from any thread.
// Ownership: returned objects live as long as the workspace, or as the shared pointer.

#ifndef DOSSIER_SERVER_WORKSPACE_H_
#define DOSSIER_SERVER_WORKSPACE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/memory_setup.h"
#include "app/open_model.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/result.h"
#include "config/config.h"
#include "sandbox/session/session.h"
#include "server/contexts/context_store.h"
#include "store/journal.h"
#include "tokens/counter/counter.h"

namespace dossier::server {

class RunTable;
class SessionTable;

struct WorkspaceOptions {
  // Folders whose files may be opened, absolute and without links; empty: every file that this user
  // may read, for a caller who is the user. kNone: no file at all.
  std::vector<std::string> roots;
  enum class Files : std::uint8_t { kByRoots, kNone } files = Files::kByRoots;
  // kRefused: files that are secret by their names or beginnings are not opened. kRedacted: the
  // same, and keys and passwords in other files are replaced by [redacted:KIND].
  enum class Secrets : std::uint8_t { kRefused, kRedacted, kAllowed } secrets = Secrets::kRefused;
  // The flags named to a caller whose path is refused: "--root"; "": nothing allows secrets.
  std::string root_flag = "--root", secrets_flag = "--allow-secrets";
  std::string roots_name;    // the roots as they are named to a caller; "": their paths
  app::ModelSettings model;  // name "": the model of the configuration
  enum class Paid : std::uint8_t {
    kOn,
    kOff
  } paid = Paid::kOn;                 // kOff: no operation calls a model
  std::optional<double> max_usd;      // US dollars per ask; unset: no limit
  std::optional<double> max_usd_day;  // US dollars for all asks of this user since midnight UTC
  std::int64_t max_calls = 500;       // requests to models per ask
  std::int64_t result_tokens = 0;     // longer texts are cut; 0: no limit
  std::string data_folder;            // "": the user's data folder
  sandbox::PoolOptions pool;
  // `dossier ask` and those flags of this server that ask also has, except the model and its
  // temperature: kept with each run, so that `dossier runs resume` and `fork` can continue it.
  // Empty: an interrupted run cannot be continued.
  std::vector<std::string> ask_line;
  // The number of runs kept in memory; beyond it the oldest ended run is dropped.
  std::size_t runs_remembered = 1000;
  std::shared_ptr<const Clock> clock = SystemClock();
};

class Workspace {
 public:
  // Errors: kConfig if the user has no data folder.
  static Result<std::unique_ptr<Workspace>> Open(WorkspaceOptions options);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  const WorkspaceOptions& options() const { return options_; }
  ContextStore& contexts() { return *contexts_; }
  SessionTable& sessions() { return *sessions_; }
  RunTable& runs() { return *runs_; }

  Result<const config::Config*> Config();
  // Opens the model `name` once; "": the one of the options or the configuration. Errors: also
  // kUsage if money is limited and the price is unknown, unless the model is only looked at.
  using ModelUse = app::ModelSettings::Use;
  Result<const app::OpenedModel*> Model(const std::string& name, const CancelToken& cancel,
                                        ModelUse use = ModelUse::kAsked);
  // Checks by the settings that there is a model to ask, without reading a key, starting a model or
  // sending a request. Errors: as app::OpenModel.
  Status CheckModel();
  Result<std::shared_ptr<store::Journal>> Journal();
  // The store of packed texts that were too long for a result, by their hashes.
  Result<std::unique_ptr<store::ContentStore>> Packs() const;
  Result<app::PromptMemory> Memory(app::MemoryNeed need);
  Result<std::shared_ptr<sandbox::Pool>> Pool();
  // Checks that a model's code can run here, by opening and closing one session.
  Status CheckSandbox(const CancelToken& cancel);
  // Returns o200k_base, or an estimate if its table is not installed.
  const tokens::Counter& Counter();

  // Returns `path` as it is opened: absolute, links resolved, relative to the first root. Errors:
  // kNotFound; kRefused for a path in no root or a secret file, naming the roots and the flag.
  Result<std::string> Admit(const std::string& path) const;
  // Opens a file for reading and checks where the open file really is, so that changing a link
  // meanwhile leads nowhere else. Errors: as Admit.
  Result<UniqueFd> OpenFile(const std::string& path) const;
  // Returns context `id` if this workspace may read its files. Errors: as ContextStore::Find, and
  // kRefused.
  Result<std::shared_ptr<const OpenContext>> Context(std::string_view id,
                                                     const CancelToken& cancel);
  // Checks files by their location. If there are roots, texts of another process are refused, as
  // nobody can tell whose they are.
  Status MayRead(const KnownContext& record) const;
  // The same for a run of another process, by its `run.started`.
  Status MayRead(std::string_view run, const JsonObject& started) const;

 private:
  Result<const app::OpenedModel*> OpenedOnce(const std::string& name, const CancelToken& cancel);
  // Returns true if the caller may do less than the user.
  bool HasBounds() const {
    return !options_.roots.empty() || options_.files == WorkspaceOptions::Files::kNone;
  }
  Status CheckRecorded(const std::string& path, std::string_view holder) const;
  explicit Workspace(WorkspaceOptions options);
  Result<UniqueFd> OpenNamed(const std::string& path, const std::string& given) const;
  Status CheckPlace(const std::string& real_path, std::string_view given) const;

  const WorkspaceOptions options_;
  std::mutex model_mutex_;  // guards models_; starting one may take minutes
  std::mutex mutex_;        // guards the creation of the rest
  std::unique_ptr<ContextStore> contexts_;
  std::optional<config::Config> config_;
  std::map<std::string, app::OpenedModel> models_;  // by the requested name
  std::shared_ptr<store::Journal> journal_;
  std::shared_ptr<sandbox::Pool> pool_;
  std::shared_ptr<const tokens::Counter> counter_;
  std::unique_ptr<SessionTable> sessions_;  // last: destroyed before what they use
  std::unique_ptr<RunTable> runs_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_WORKSPACE_H_
