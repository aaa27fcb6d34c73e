// What the operations of one server work on: contexts, code sessions, runs, a model, a budget.
//
//   WorkspaceOptions options{.roots = {"/home/ann/project"}};
//   options.model.model = "openai/gpt-5-mini";
//   DOSSIER_ASSIGN_OR_RETURN(const auto workspace, Workspace::Open(std::move(options)));
//
// Nothing is read, started or written until an operation needs it, so that a server answers its
// first message within milliseconds.
// Errors of the accessors: those of configuration, model, memory or store, each naming the file or
// the setting. Thread-safety: all methods from any thread. Ownership: what is handed out lives as
// long as the workspace, or as the shared pointer.

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
  // kRefused: files that are secrets by their names or beginnings stay closed. kRedacted: those do,
  // and keys and passwords in others are read as [redacted:KIND].
  enum class Secrets : std::uint8_t { kRefused, kRedacted, kAllowed } secrets = Secrets::kRefused;
  // What a caller is told to add where a path is refused: "--root"; "": nothing allows secrets.
  std::string root_flag = "--root", secrets_flag = "--allow-secrets";
  std::string roots_name;    // what a caller is told the roots are; "": their paths
  app::ModelSettings model;  // "" of the name: what the configuration says
  enum class Paid : std::uint8_t {
    kOn,
    kOff
  } paid = Paid::kOn;                 // kOff: no operation calls a model
  std::optional<double> max_usd;      // US dollars an ask; unset: no limit
  std::optional<double> max_usd_day;  // US dollars of all asks of this user since midnight UTC
  std::int64_t max_calls = 500;       // requests to models an ask
  std::int64_t result_tokens = 0;     // a longer text is cut; 0: none is
  std::string data_folder;            // "": the user's
  sandbox::PoolOptions pool;
  // `dossier ask` and the flags of this server that ask has, too, but for the model and its
  // temperature: kept with each run, so that `dossier runs resume` and `fork` can go on with it.
  // Empty: a run that is interrupted cannot be gone on with.
  std::vector<std::string> ask_line;
  // In memory; of more than these the oldest that ended goes.
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
  // The model `name`, opened once; "": the one that the options or the configuration say. Errors:
  // also kUsage where money is limited and its price is unknown, unless it is only looked at.
  using ModelUse = app::ModelSettings::Use;
  Result<const app::OpenedModel*> Model(const std::string& name, const CancelToken& cancel,
                                        ModelUse use = ModelUse::kAsked);
  // Whether there is a model to ask, as the settings say, without a key, a start or a request.
  // Errors: as app::OpenModel.
  Status CheckModel();
  Result<std::shared_ptr<store::Journal>> Journal();
  // Packed texts that a result was too short for, by their hashes.
  Result<std::unique_ptr<store::ContentStore>> Packs() const;
  Result<app::PromptMemory> Memory(app::MemoryNeed need);
  Result<std::shared_ptr<sandbox::Pool>> Pool();
  // Whether code of a model can be run here: one session is opened, and closed again.
  Status CheckSandbox(const CancelToken& cancel);
  // o200k_base, or an estimate where its table is not installed.
  const tokens::Counter& Counter();

  // `path` as it is opened: absolute, links resolved; a relative one is seen from the first root.
  // Errors: kNotFound; kRefused for what lies in no root, or is a secret file, naming roots and
  // flag.
  Result<std::string> Admit(const std::string& path) const;
  // A file opened for reading, judged by where it really lies once it is open, so that no link that
  // is changed meanwhile leads elsewhere. Errors: as Admit.
  Result<UniqueFd> OpenFile(const std::string& path) const;
  // A context of `id` whose files this workspace may read. Errors: as ContextStore::Find, and
  // kRefused.
  Result<std::shared_ptr<const OpenContext>> Context(std::string_view id,
                                                     const CancelToken& cancel);
  // Of files by where they lie; texts of another process are not read where there are roots, as
  // nobody can tell whose they are.
  Status MayRead(const KnownContext& record) const;
  // The same of a run of another process, by its `run.started`.
  Status MayRead(std::string_view run, const JsonObject& started) const;

 private:
  Result<const app::OpenedModel*> OpenedOnce(const std::string& name, const CancelToken& cancel);
  // Whether the caller is less than the user.
  bool HasBounds() const {
    return !options_.roots.empty() || options_.files == WorkspaceOptions::Files::kNone;
  }
  Status CheckRecorded(const std::string& path, std::string_view holder) const;
  explicit Workspace(WorkspaceOptions options);
  Result<UniqueFd> OpenNamed(const std::string& path, const std::string& given) const;
  Status CheckPlace(const std::string& real_path, std::string_view given) const;

  const WorkspaceOptions options_;
  std::mutex model_mutex_;  // guards models_, whose start may take minutes
  std::mutex mutex_;        // guards the making of the rest
  std::unique_ptr<ContextStore> contexts_;
  std::optional<config::Config> config_;
  std::map<std::string, app::OpenedModel> models_;  // by the name that was asked for
  std::shared_ptr<store::Journal> journal_;
  std::shared_ptr<sandbox::Pool> pool_;
  std::shared_ptr<const tokens::Counter> counter_;
  std::unique_ptr<SessionTable> sessions_;  // last: they end before what they use
  std::unique_ptr<RunTable> runs_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_WORKSPACE_H_
