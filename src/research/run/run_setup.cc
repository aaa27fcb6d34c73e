#include "research/run/run_setup.h"

#include <filesystem>
#include <utility>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "research/exec/exec_container.h"
#include "research/exec/probe.h"
#include "research/files/phase_files.h"
#include "research/resources/resources.h"
#include "research/run/own_run.h"
#include "research/run/run_history.h"
#include "research/run/run_record.h"
#include "research/setup/config.h"
#include "research/setup/config_keys.h"
#include "research/setup/exec_backends.h"

namespace dossier::research {
namespace {

// Maps to the status names that the journal uses for all runs.
std::string_view StatusOfEnd(std::string_view end) {
  if (end == RunEndName(RunEnd::kDone)) return "final";
  return end == RunEndName(RunEnd::kFailed) ? "failed" : "partial";
}

}  // namespace

void RunListing::See(const store::Event& event) {
  if (options_.journal_folder.empty()) return;
  Status done;
  if (event.type == "run.started" || event.type == "run.resumed") {
    done = Begin(event);
  } else if (event.type == "run.finished") {
    done = End(event);
  }
  if (done) return;
  journal_.reset();  // gives up for good
  if (options_.warn) {
    options_.warn(fmt::format("`dossier runs` does not list this run: {}", done.error().message));
  }
}

// A run that was begun on another machine, or whose entry was removed, gets one when resumed.
Status RunListing::Begin(const store::Event& event) {
  DOSSIER_ASSIGN_OR_RETURN(
      journal_, store::Journal::Open(
                    options_.journal_folder,
                    {.clock = options_.clock, .make_id = [run = event.run] { return run; }}));
  const auto listed = journal_->StatusOf(event.run);
  if (listed) return journal_->Append(event.run, 0, "run.resumed", {});
  if (listed.error().code != ErrorCode::kNotFound) return tl::unexpected(listed.error());
  return journal_
      ->StartRun(
          {{"kind", "research"}, {"question", options_.title}, {"folder", options_.run_folder}})
      .transform([](const std::string&) {});
}

Status RunListing::End(const store::Event& event) {
  if (!journal_) return {};
  const Json data(event.data);
  return journal_->Append(
      event.run, 0, "run.finished",
      {{"status", StatusOfEnd(TextAt(data, "status"))}, {"answer", TextAt(data, "reason")}});
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProbeWorker = "worker-0";
constexpr std::string_view kPreviousHistory = "previous_history";
constexpr std::string_view kResumed = "run.resumed", kRetryFailed = "retry_failed";

std::string InFolder(const RunOrder& order, std::string_view name) {
  return fmt::format("{}/{}", order.folder, name);
}

// A resume may change only limits, models, max_parallel and --until. It compares with the start
// values in the journal, because the run's files may have been edited since.
Status RefuseChanges(const RunOrder& order, const JsonObject& started) {
  if (FindString(Json(started), "idea_sha256") != Sha256Hex(order.idea)) {
    return MakeError(
        ErrorCode::kConfig,
        "{} has changed since the run began; give it its text back, or start a new run",
        InFolder(order, run_files::kIdea));
  }
  const Json* config = Find(started, "config");
  const std::vector<std::string> changed = FrozenDifferences(
      config && config->is_object() ? config->as_object() : JsonObject(), order.config);
  if (changed.empty()) return {};
  return MakeError(ErrorCode::kConfig,
                   "{} cannot change while a run goes on; a resume may change limits, models and "
                   "agent.max_parallel, for anything else start a new run",
                   Join(changed, ", "));
}

// On a resume most files already have this content.
Status WriteChanged(const RunOrder& order, std::string_view name, const std::string& text) {
  const std::string path = InFolder(order, name);
  const auto before = ReadRegularFile(path, text.size());
  return before && *before == text ? Status() : WriteFileAtomic(path, text);
}

Status WriteApproved(const RunOrder& order, std::string_view name, const std::string& text) {
  if (order.approve) DOSSIER_RETURN_IF_ERROR(order.approve(name, text));
  return WriteChanged(order, name, text);
}

Status WriteOrder(const RunOrder& order, const Idea& idea) {
  DOSSIER_RETURN_IF_ERROR(WriteChanged(order, run_files::kIdea, order.idea));
  DOSSIER_RETURN_IF_ERROR(
      WriteChanged(order, run_files::kIdeaJson, ToPrettyJson(IdeaJson(idea)) + "\n"));
  DOSSIER_RETURN_IF_ERROR(WriteApproved(order, run_files::kConfig, ConfigYaml(order.config)));
  if (order.resources.empty()) return {};
  return WriteApproved(order, run_files::kResourceFile, order.resources);
}

// Keeps the order as recorded at the start, except how models are reached now.
Status KeepRecord(const RunOrder& order, const std::string& run, const std::string& title) {
  RunRecord record = RecordOf(order, run, title);
  if (Exists(InFolder(order, run_files::kRun))) {
    DOSSIER_ASSIGN_OR_RETURN(record, ReadRunRecord(order.folder));
    if (record.connection == order.connection) return {};
    record.connection = order.connection;
  }
  return WriteApproved(order, run_files::kRun, RunRecordText(record));
}

// Equal for all runs of this idea with this seed, so that one can replay another's recording.
std::string NodeKeyOf(const RunOrder& order) {
  return Sha256Hex(fmt::format("dossier/nodes\n{}\n{}", order.config.seed, order.idea))
      .substr(0, 32);
}

// Passes every recorded event to the order's watch and to the run's entry in the user's journal.
ResearchLog::Watch WatchOf(const RunOrder& order, StartedRun* setup) {
  if (order.journal_folder.empty()) return order.watch;
  setup->listing =
      std::make_unique<RunListing>(RunListing::Options{.journal_folder = order.journal_folder,
                                                       .run_folder = order.folder,
                                                       .title = setup->idea.title,
                                                       .clock = order.clock,
                                                       .warn = order.progress});
  return [listing = setup->listing.get(), own = order.watch](const store::Event& event) {
    listing->See(event);
    if (own) own(event);
  };
}

// Returns how many retries of failed work a resume requests: one or none.
int Retries(std::string_view resumed) {
  const auto data = ParseJson(resumed);
  return data && FindBool(*data, kRetryFailed).value_or(false) ? 1 : 0;
}

// Adds what the attempt before did to the first event, so that every resume shows the same. Returns
// a warning if it cannot be read.
std::string AddPrevious(const RunOrder& order, JsonObject* started) {
  const std::string previous =
      order.previous.empty() ? PreviousAttempt(order.folder) : order.previous;
  if (previous.empty()) return "";
  const Result<RunHistory> history =
      CheckRunFolder(previous).and_then([&] { return ReadRunHistory(previous); });
  if (!history) return "the attempt before cannot be read: " + history.error().message;
  (*started)["previous_attempt"] = fs::path(previous).filename().string();
  (*started)[kPreviousHistory] = PlanHistory(*history);
  return "";
}

Status StartLog(const RunOrder& order, const ResearchLog::Watch& watch, StartedRun* setup) {
  JsonObject started{{"question", setup->idea.title},
                     {"idea_sha256", Sha256Hex(order.idea)},
                     {"seed", order.config.seed},
                     {"node_key", NodeKeyOf(order)},
                     {"backend", order.config.exec.backend},
                     {"config", FrozenDigests(order.config)}};
  std::string warning = AddPrevious(order, &started);
  DOSSIER_ASSIGN_OR_RETURN(
      setup->log, ResearchLog::Start(order.folder, std::move(started), order.clock, watch));
  setup->driver.services.log = setup->log.get();
  return warning.empty() ? Status() : KeepWarning(setup->driver, "run", std::move(warning));
}

Status ReopenLog(const RunOrder& order, const ResearchLog::Watch& watch, StartedRun* setup) {
  WorkingTime time;
  int& retries = setup->driver.retries = order.retry == RunOrder::Retry::kFailed ? 1 : 0;
  DOSSIER_ASSIGN_OR_RETURN(setup->log,
                           ResearchLog::Reopen(order.folder, order.clock, watch,
                                               [&](const store::StoredEvent& event) -> Status {
                                                 time.See(event.type, event.time);
                                                 if (event.type == kResumed)
                                                   retries += Retries(event.data);
                                                 return {};
                                               }));
  setup->driver.services.log = setup->log.get();
  setup->spent = {.usage = setup->log->UsageOutside({}), .seconds = time.Seconds()};
  return {};
}

Status OpenLog(const RunOrder& order, StartedRun* setup) {
  const bool starts = order.mode == RunOrder::Mode::kStart;
  const ResearchLog::Watch watch = WatchOf(order, setup);
  DOSSIER_RETURN_IF_ERROR(starts ? StartLog(order, watch, setup) : ReopenLog(order, watch, setup));
  DOSSIER_ASSIGN_OR_RETURN(store::Event started,
                           setup->log->journal().EventAt(setup->log->run(), 1));
  started.data = setup->log->Whole(started.data);
  if (!starts) DOSSIER_RETURN_IF_ERROR(RefuseChanges(order, started.data));
  if (const Json* history = Find(started.data, kPreviousHistory)) {
    setup->driver.previous_history = *history;
  }
  // A run begun before keys were stored derived node ids from its run id.
  setup->driver.node_key = FindString(Json(started.data), "node_key").value_or(setup->log->run());
  return {};
}

// Up to here a resume changes nothing: a refused one keeps the run's end and reason. Must come
// before anything else is journalled, since working time is counted from here.
Status GoOn(const RunOrder& order, StartedRun* setup) {
  if (order.mode != RunOrder::Mode::kResume || setup->goes_on) return {};
  for (const std::string_view role : Roles()) {
    // Without a vision model plots are not analysed; after a limit no model is asked.
    if (role == "vlm" || !ReachedLimit(order.config, setup->spent).empty()) continue;
    DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const driver::BoundModel model,
                             order.open_model(std::string(role)));
  }
  setup->goes_on = true;
  DOSSIER_RETURN_IF_ERROR(WriteOrder(order, setup->idea));
  DOSSIER_RETURN_IF_ERROR(KeepRecord(order, setup->log->run(), setup->idea.title));
  return setup->log->Add(kResumed, "", {{kRetryFailed, order.retry == RunOrder::Retry::kFailed}});
}

// Consolidation here joins texts, since a model's summary would not be in the journal.
Status RefuseSummaries(const RunOrder& order) {
  for (const std::string_view key : {"use_llm_compression", "max_compression_iterations"}) {
    if (order.mode == RunOrder::Mode::kResume || !order.config.memory.contains(key)) continue;
    return MakeError(ErrorCode::kConfig,
                     "memory.{}: a run makes room in memory without a model; leave it out", key);
  }
  return {};
}

Status OpenMemory(const RunOrder& order, const driver::MemoryConfig& config, StartedRun* setup) {
  DOSSIER_RETURN_IF_ERROR(RefuseSummaries(order));
  if (!order.config.memory_enabled) return {};
  const std::string path =
      order.memory_store.empty() ? InFolder(order, run_files::kMemory) : order.memory_store;
  DOSSIER_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/'))));
  DOSSIER_ASSIGN_OR_RETURN(memory::StoreOptions options,
                           driver::StoreOptionsOf(config, order.user_data, path));
  options.mode = memory::OpenMode::kCreate;
  options.numbering = memory::Numbering::kByBranch;
  options.clock = order.clock;
  options.new_store_id = Sha256Hex(setup->log->run()).substr(0, 32);
  DOSSIER_ASSIGN_OR_RETURN(setup->memory, memory::Store::Open(std::move(options)));
  return {};
}

driver::MemoryUse MemoryUseOf(const driver::MemoryConfig& config, const StartedRun& setup,
                              const std::shared_ptr<const Clock>& clock) {
  driver::MemoryUse use{.store = setup.memory, .consolidate_from = config.consolidates_from()};
  if (setup.memory && config.log_enabled) {
    use.calls = std::make_shared<const memory::MemoryCallLog>(
        driver::CallLogOf(config, setup.memory->path(), clock));
  }
  return use;
}

// Returns what templates say about the run (CallerOptions::variables).
std::map<std::string, std::string> Variables(const RunOrder& order) {
  const RunConfig& config = order.config;
  std::map<std::string, std::string> variables = {
      {"mount", config.exec.workspace_mount},
      {"output_name", OutputName(order.folder.substr(order.folder.rfind('/') + 1))},
      {"page_limit", std::to_string(config.page_limit)},
      {"max_figures", std::to_string(config.max_figures)}};
  if (config.exec.phase_mode == PhaseMode::kSingle) variables["single"] = "yes";
  return variables;
}

// Reports to `status` why a call waits; without this file nothing is waiting.
std::function<void(std::string_view, Millis)> WaitTeller(const RunOrder& order) {
  return [path = InFolder(order, run_files::kWaiting), clock = order.clock](std::string_view reason,
                                                                            Millis left) {
    const JsonObject waiting{{"reason", reason},
                             {"seconds", left.count() / 1000},
                             {"since", FormatTime(clock->WallNow())}};
    static_cast<void>(MakeFolders(path.substr(0, path.rfind('/'))));
    static_cast<void>(WriteFileAtomic(path, ToJson(waiting)));  // for display; the call goes on
  };
}

Status OpenCaller(const RunOrder& order, const MemoryOptions& memory, StartedRun* setup,
                  const CancelToken& cancel) {
  setup->ledger = std::make_unique<model::Ledger>(
      LimitsLeft(order.config, setup->spent, *order.clock), order.clock);
  CallerOptions options{
      .log = setup->log.get(),
      .memory = MemoryUseOf(memory.store, *setup, order.clock),
      .ledger = setup->ledger.get(),
      .open = order.open_model,
      .assets = order.assets,
      .makers = order.makers,
      .warn = order.progress,
      .cancel = cancel,
      .clock = order.clock,
      .run_folder = order.folder,
      .persona = order.config.role_description,
      .variables = Variables(order),
      .budget_chars = memory.budget_chars,
      .prompt_logs = order.config.exec.log_prompts ? CallerOptions::PromptLogs::kOn
                                                   : CallerOptions::PromptLogs::kOff,
      .boundary_seed = std::stoull(Sha256Hex(setup->log->run()).substr(0, 16), nullptr, 16),
      .retry = {.max_wait = Millis(order.config.max_wait_seconds * 1000),
                .setting = "limits.max_wait_seconds",
                .on_wait = WaitTeller(order)}};
  for (const auto& [role, config] : order.config.roles) {
    options.temperatures[role] = config.temperature;
  }
  DOSSIER_ASSIGN_OR_RETURN(setup->caller, RoleCaller::Open(std::move(options)));
  return {};
}

std::string ProbeFolder(const RunOrder& order) {
  return InFolder(order, run_files::Worker(kProbeWorker)) + "/probe";
}

Result<MachineFacts> ProbeNow(const RunOrder& order, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const std::unique_ptr<ExecBackend> backend, order.backend(kProbeWorker));
  return ProbeMachine(
      order.config.exec, *backend,
      {.workspace = ProbeFolder(order),
       .all_environment = order.environment,
       .cache = {order.probe_cache, FormatTime(order.clock->WallNow()).substr(0, 10)}},
      cancel);
}

// A resumed run must use the image that it began with.
Status CheckImage(const RunOrder& order, const MachineFacts& before) {
  if (before.container_digest == "NA") return {};
  DOSSIER_ASSIGN_OR_RETURN(const std::unique_ptr<ExecBackend> backend, order.backend(kProbeWorker));
  DOSSIER_RETURN_IF_ERROR(backend->Start(SandboxOf(order.config.exec, ProbeFolder(order), {})));
  const ImageRef now = backend->Facts().image;
  backend->Stop();
  return CheckSameImage(before.container_digest, now);
}

Status FindMachine(const RunOrder& order, StartedRun* setup, const CancelToken& cancel) {
  Services& services = setup->driver.services;
  services.environment = AllowedEnvironment(order.environment);
  MachineFacts found;
  DOSSIER_ASSIGN_OR_RETURN(const auto event, setup->log->Recorded("probe.done", "probe"));
  if (event) {
    const Json* recorded = Find(event->data, "environment");
    DOSSIER_ASSIGN_OR_RETURN(found, ReadEnvironment(recorded ? *recorded : Json()));
    DOSSIER_RETURN_IF_ERROR(CheckImage(order, found));
  } else {
    DOSSIER_ASSIGN_OR_RETURN(found, ProbeNow(order, cancel));
    DOSSIER_RETURN_IF_ERROR(GoOn(order, setup));
    DOSSIER_RETURN_IF_ERROR(
        setup->log->Add("probe.done", "probe", {{"environment", EnvironmentJson(found)}}));
  }
  setup->driver.environment = EnvironmentText(found);
  services.compilers = CompilerNames(found);
  return {};
}

// Journals that resources changed; prompts from here on show the new ones.
Status TellOfChange(std::string_view before, std::string_view now, ResearchLog& log) {
  const std::string key = fmt::format("resources/{}", now);
  if (before == now || log.Has("warning", key)) return {};
  return log.Add("warning", key,
                 {{"node", "run"},
                  {"text",
                   "what the resources hold has changed since the run began; the next "
                   "prompts show it as it is now"}});
}

Status FindResources(const RunOrder& order, StartedRun* setup, const CancelToken& cancel) {
  if (order.resources.empty()) return {};
  const std::size_t slash = order.resources_path.rfind('/');
  const ResourceFilePlace place{
      .file = order.resources_path.empty() ? "resources.yaml" : order.resources_path,
      .folder = slash == std::string::npos ? "" : order.resources_path.substr(0, slash),
      .workspace_mount = order.config.exec.workspace_mount};
  DOSSIER_ASSIGN_OR_RETURN(const ResourceFile file, ReadResourceFile(order.resources, place));
  Services& services = setup->driver.services;
  // If literature cannot be fetched, resources have no network either (--offline).
  const ResourcePlace at{
      .run_folder = order.folder,
      .clock = order.clock,
      .phase_mode = order.config.exec.phase_mode == PhaseMode::kSplit ? "split" : "single",
      .network = order.fetch ? ResourcePlace::Network::kYes : ResourcePlace::Network::kNo,
      .progress = services.progress};
  DOSSIER_ASSIGN_OR_RETURN(PreparedResources ready, PrepareResources(file, at, cancel));
  services.binds = std::move(ready.binds);
  for (int phase = 0; phase < kPhases; ++phase) {
    services.resources[static_cast<std::size_t>(phase)] =
        ResourcesSection(ready.index, static_cast<Phase>(phase));
  }
  setup->driver.resources = ResourceIndexText(ready.index);
  DOSSIER_RETURN_IF_ERROR(GoOn(order, setup));
  DOSSIER_ASSIGN_OR_RETURN(const auto done, setup->log->Recorded("resources.done", "resources"));
  if (done) {
    return TellOfChange(FindString(Json(done->data), "digest").value_or(""), ready.index.digest,
                        *setup->log);
  }
  if (setup->memory) DOSSIER_RETURN_IF_ERROR(RememberResources(ready.index, *setup->memory));
  return setup->log->Add("resources.done", "resources",
                         {{"digest", ready.index.digest}, {"items", ready.index.items.size()}});
}

// Returns true if a file there can be cloned here without copying its bytes.
bool SharesBlocks(const std::string& from, const std::string& to) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(from, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->is_regular_file(error) || entry->is_symlink(error)) continue;
    const std::string trial = to + "/trial";
    const bool shares = CloneFile(entry->path().string(), trial).has_value();
    (void)RemoveAll(trial);
    return shares;
  }
  return true;
}

// 5.3, copy_data: each workspace gets its own data, or all read the same.
Status FindData(const RunOrder& order, StartedRun* setup) {
  const std::string& folder = order.config.data_folder;
  if (folder.empty()) return {};
  if (!fs::is_directory(folder)) {
    return MakeError(ErrorCode::kConfig, "experiment.data_folder: there is no folder {}", folder);
  }
  Services& services = setup->driver.services;
  const std::string place = fmt::format("{}/{}", order.config.exec.workspace_mount, kInputFolder);
  for (const Bind& bind : services.binds) {
    if (bind.mount != place && !bind.mount.starts_with(place + "/")) continue;
    return MakeError(ErrorCode::kConfig,
                     "experiment.data_folder is seen at {}, where the resource {} lies too; give "
                     "that one another mount_path",
                     place, bind.host);
  }
  const RunConfig::CopyData copy = order.config.copy_data;
  if (copy == RunConfig::CopyData::kYes ||
      (copy == RunConfig::CopyData::kAuto && SharesBlocks(folder, order.folder))) {
    services.data = folder;
  } else {
    services.binds.push_back({folder, place});
  }
  return {};
}

// A vision model that cannot be opened, or of which nothing says that it sees, counts as none:
// plots are then not analysed.
Services::Vision VisionOf(const RunOrder& order) {
  const auto model = order.open_model
                         ? order.open_model("vlm")
                         : Result<driver::BoundModel>(MakeError(ErrorCode::kConfig, "no model"));
  if (!model || model->entry.image_assumed) return Services::Vision::kNo;
  return model->entry.capability.image_tokens > 0 ? Services::Vision::kYes : Services::Vision::kNo;
}

JsonObject Domain(const RunConfig& config, const Services& services) {
  JsonObject domain{
      {"language", config.exec.language},
      {"phase_mode", config.exec.phase_mode == PhaseMode::kSplit ? "split" : "single"},
      {"seconds_of_one_command", config.exec.timeout},
      {"synthetic_datasets", config.num_syn_datasets},
      {"dataset_source", config.dataset_source}};
  if (!config.primary_metric.empty()) domain["primary_metric"] = config.primary_metric;
  if (!config.data_folder.empty()) {
    domain["input_data"] =
        fmt::format("{}/{}{}", config.exec.workspace_mount, kInputFolder,
                    services.data.empty() ? ", read-only" : ", a copy that commands may change");
  }
  return domain;
}

Status FillDriver(const RunOrder& order, StartedRun* setup) {
  Driver& driver = setup->driver;
  driver.order = &order;
  driver.ledger = setup->ledger.get();
  driver.title = setup->idea.title;
  driver.query = setup->idea.title + "\n" + setup->idea.Text("Task goal");
  driver.evaluation = setup->idea.Text("Evaluation");
  driver.prefix = {.domain = Domain(setup->config, driver.services),
                   .idea = IdeaSection(setup->idea),
                   .environment = Json(driver.environment)};
  if (setup->config.data_overview.empty()) return {};
  DOSSIER_ASSIGN_OR_RETURN(driver.data_overview, ReadFile(setup->config.data_overview, 1 << 20));
  return {};
}

void FillServices(const RunOrder& order, StartedRun* setup) {
  Services& services = setup->driver.services;
  services.config = &setup->config;
  services.memory = setup->memory.get();
  services.clock = order.clock;
  services.backend = order.backend;
  services.run_folder = order.folder;
  services.run_name = order.folder.substr(order.folder.rfind('/') + 1);
  services.vision = VisionOf(order);
  services.fetch = order.fetch;
  services.progress = order.progress;
}

}  // namespace

RunResults StartedRun::Results() const {
  return {.title = driver.title,
          .prefix = CallPrefix(driver),
          .environment = driver.environment,
          .resources = driver.resources};
}

Result<std::unique_ptr<StartedRun>> SetUpRun(const RunOrder& order, const CancelToken& cancel) {
  auto setup = std::make_unique<StartedRun>();
  setup->config = order.config;
  DOSSIER_ASSIGN_OR_RETURN(setup->idea, ReadIdea(order.idea, std::string(run_files::kIdea)));
  DOSSIER_ASSIGN_OR_RETURN(setup->lock, RunLock::Take(order.folder, *order.clock));
  DOSSIER_RETURN_IF_ERROR(OpenLog(order, setup.get()));
  setup->steering = std::make_unique<Steering>(setup->log.get());
  setup->driver.steering = setup->steering.get();
  if (order.mode == RunOrder::Mode::kStart) {
    DOSSIER_RETURN_IF_ERROR(WriteOrder(order, setup->idea));
    DOSSIER_RETURN_IF_ERROR(KeepRecord(order, setup->log->run(), setup->idea.title));
  }
  DOSSIER_ASSIGN_OR_RETURN(const MemoryOptions memory, ReadMemoryOptions(order.config.memory));
  DOSSIER_RETURN_IF_ERROR(OpenMemory(order, memory.store, setup.get()));
  FillServices(order, setup.get());
  DOSSIER_RETURN_IF_ERROR(FindMachine(order, setup.get(), cancel));
  DOSSIER_RETURN_IF_ERROR(FindResources(order, setup.get(), cancel));
  DOSSIER_RETURN_IF_ERROR(FindData(order, setup.get()));
  DOSSIER_RETURN_IF_ERROR(OpenCaller(order, memory, setup.get(), cancel));
  setup->driver.services.caller = setup->caller.get();
  DOSSIER_RETURN_IF_ERROR(FillDriver(order, setup.get()));
  DOSSIER_RETURN_IF_ERROR(GoOn(order, setup.get()));
  return setup;
}

}  // namespace dossier::research
