// worker: answers the runs that a shared store has queued.

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/servers/worker_setup.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/shared_flags.h"
#include "server/queue/worker.h"

namespace dossier::cli {
namespace {

struct WorkerArguments {
  std::string store, lease = "60s", drain = "30s", cache_dir;
  std::size_t slots = 4;
  std::optional<std::int64_t> per_owner;
  bool once = false;
  std::int64_t max_calls = 500;
  std::optional<double> max_cost;
  ModelFlags model;
  SandboxFlags sandbox;
};

Status RunWorkerCommand(const WorkerArguments& given, Context& context) {
  DOSSIER_RETURN_IF_ERROR(CheckStoreFlag(given.store));
  server::WorkerOptions options{.store = given.store,
                                .slots = given.slots,
                                .per_owner = given.per_owner,
                                .cache_folder = given.cache_dir,
                                .version = std::string(kVersion)};
  DOSSIER_ASSIGN_OR_RETURN(options.lease, ReadTimeFlag("--lease", given.lease));
  DOSSIER_ASSIGN_OR_RETURN(options.drain, ReadTimeFlag("--drain", given.drain, Zero::kTaken));
  if (given.once) options.ends = server::WorkerOptions::Ends::kWhenEmpty;
  if (options.cache_folder.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(options.cache_folder, WorkerFolder());
  }
  DOSSIER_ASSIGN_OR_RETURN(const SandboxChoice sandbox, ParseSandboxFlags(given.sandbox));
  server::WorkspaceOptions workspace_options;
  workspace_options.pool = sandbox.pool;
  DOSSIER_ASSIGN_OR_RETURN(workspace_options.model, SettingsOf(given.model));
  workspace_options.max_usd = given.max_cost;
  workspace_options.max_calls = given.max_calls;
  DOSSIER_ASSIGN_OR_RETURN(const auto workspace,
                           server::Workspace::Open(std::move(workspace_options)));
  DOSSIER_ASSIGN_OR_RETURN(const config::Config* config, workspace->Config());
  options.cache_bytes = config->store.limit;
  options.say = SayOn(context);
  return server::RunWorker(options, *workspace, context.cancel);
}

void DeclareWorker(Flags& flags, WorkerArguments& to) {
  AddStoreFlag(flags, &to.store).Required();
  flags.Add("--slots", &to.slots, "runs at once").Between(1, 1'000).ShowDefault();
  flags.Add("--lease", &to.lease, "a run is another worker's when nothing was heard for so long")
      .Kind(kTime)
      .ShowDefault();
  flags.Add("--per-owner", &to.per_owner, "runs of one owner at once, on all machines").Positive();
  flags
      .Add("--cache-dir", &to.cache_dir, "folder for texts that were fetched (in the cache folder)")
      .Kind(kFolder);
  flags.Add("--once", &to.once, "end when nothing is queued");
  flags.Add("--drain", &to.drain, "at the end runs have so long; then they go back to the queue")
      .Kind(kTime)
      .ShowDefault();
  Flags limits = flags.In("Limits");
  limits.Add("--max-calls", &to.max_calls, "requests to models of one run")
      .Positive()
      .ShowDefault();
  limits.Add("--max-cost", &to.max_cost, "US dollars of one run").Positive();
  AddPriceFlag(limits, &to.model.prices);
  AddModelFlags(flags, &to.model);
  AddSandboxFlags(flags, &to.sandbox);
}

}  // namespace

Command WorkerCommand() {
  return {.name = "worker",
          .summary = "answer the runs of a store that several machines share",
          .examples =
              "dossier worker --store postgresql://db.example.org/dossier\n"
              "    on each machine that shall work; stop it with Ctrl-C\n"
              "dossier worker --store postgresql:///dossier --once --slots 1\n"
              "    answer what is queued, then end",
          .binding = Bind(DeclareWorker, RunWorkerCommand),
          .signals = Command::Signals::kOrder};
}

}  // namespace dossier::cli
