// ask: one question over files of any size; its flags are in ask_flags. Model, temperature,
// max_tokens, params and provider access come from the configuration unless a flag sets them.

#include <filesystem>
#include <set>
#include <sstream>

#include "ask/engine.h"
#include "ask/run/asked_session.h"
#include "ask/run/recorded_run.h"
#include "ask/run/replay.h"
#include "ask/run/run_facts.h"
#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/files/output_file.h"
#include "base/json/find_uint.h"
#include "base/net/url.h"
#include "base/text/text.h"
#include "cli/commands.h"
#include "cli/runs/ask_again.h"
#include "cli/runs/ask_flags.h"
#include "cli/runs/ask_money.h"
#include "cli/runs/ask_progress.h"
#include "cli/runs/ask_sources.h"
#include "cli/runs/ask_tools.h"
#include "cli/runs/ask_view.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/tree/parser.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/prompt_input.h"
#include "cli/wiring/run_setup.h"
#include "cli/wiring/schema_choice.h"
#include "cli/wiring/shared_flags.h"
#include "sources/commands/context_command.h"
#include "store/journal.h"
#include "store/prune.h"

namespace dossier::cli {
namespace {

using ask::AskRequest;

int WriteAnswer(const AskArguments& arguments, const ask::Outcome& outcome, std::ostream& out,
                std::ostream& err) {
  std::string text = arguments.json ? ToJson(outcome.ToJson()) : outcome.text;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (!arguments.output.empty()) {
    if (Status written = WriteOutput(arguments.output, {text}); !written) {
      // A full disk must not lose the answer: it goes to stdout.
      PrintError(err, written.error());
      out << text << std::flush;
      return ExitCode(written.error().code);
    }
    return outcome.exit_code();
  }
  out << OutputText(text, Terminal::Detect().out) << std::flush;
  return out.good() ? outcome.exit_code() : 141;
}

// The storage for contexts and events: the store of runs, or none.
struct Keeping {
  std::shared_ptr<store::Journal> journal;  // null: a dry run, which stores nothing
  std::optional<TempFolder> folder;         // for a dry run
  std::unique_ptr<store::ContentStore> copies;

  store::ContentStore& content() const { return journal ? journal->content() : *copies; }
};

Result<Keeping> OpenKeeping(const AskArguments& arguments) {
  Keeping keeping;
  if (arguments.sends_nothing()) {
    DOSSIER_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make());
    keeping.folder.emplace(std::move(folder));
    DOSSIER_ASSIGN_OR_RETURN(keeping.copies, store::ContentStore::Open(keeping.folder->path()));
    return keeping;
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  DOSSIER_ASSIGN_OR_RETURN(keeping.journal, store::Journal::Open(data + "/runs"));
  return keeping;
}

// Deletes old runs if the store is too large. The answer is printed, so a failure is ignored.
void MakeRoom(const config::Config& config, const GlobalFlags& flags, std::ostream& err) {
  const auto pruned =
      store::PruneRuns(config.user.data + "/runs", {.max_bytes = config.store.limit},
                       store::PruneAction::kRemove, *SystemClock());
  if (!pruned) return PrintWarning(err, "old runs were not removed: " + pruned.error().message);
  if (flags.verbose == 0 || pruned->runs.empty()) return;
  err << fmt::format("dossier: the store had more than {}: the oldest {} were removed, {} freed\n",
                     FormatSize(config.store.limit), Counted(pruned->runs.size(), "run"),
                     FormatSize(pruned->bytes))
      << std::flush;
}

// Starts Python now, in parallel with what comes first, if code will certainly run. Returns null if
// it will not run or cannot start: the engine then makes a pool when needed and reports the error.
std::shared_ptr<sandbox::Pool> StartPool(const AskArguments& arguments,
                                         const SandboxChoice& sandbox) {
  if (arguments.mode != "recursive") return {};
  auto pool = sandbox::Pool::Make(sandbox.pool);
  if (!pool) return {};
  (*pool)->Prepare();
  return std::move(*pool);
}

Result<std::shared_ptr<const store::Memo>> OpenReplies(store::Journal& journal) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  DOSSIER_ASSIGN_OR_RETURN(auto memo, store::Memo::Open(data + "/runs", journal.content()));
  return std::shared_ptr<const store::Memo>(std::move(memo));
}

Result<driver::MemoryUse> MemoryOf(const AskArguments& arguments, const config::Config& config,
                                   const std::function<void(std::string_view)>& say) {
  DOSSIER_ASSIGN_OR_RETURN(
      const PromptMemory memory,
      OpenPromptMemory(arguments.memory, config,
                       arguments.sends_nothing() ? MemoryNeed::kLookedAt : MemoryNeed::kWritten));
  driver::MemoryUse out{.store = memory.store,
                        .branch = memory.branch,
                        .calls = memory.calls,
                        .consolidate_from = memory.consolidate_from};
  if (!memory.store) return out;
  for (const std::string& warning : memory.store->warnings()) say("warning: " + warning);
  return out;
}

// Enough to keep all requests in flight while others start their sandbox, each about 10 MB.
int MostChildren(const ModelFlags& model) {
  constexpr int kLeast = 64, kMost = 256;
  return std::clamp(model.concurrency.value_or(0) * 3 / 2, kLeast, kMost);
}

int ShowPlan(const ask::Plan& plan, std::ostream& out) {
  out << ToPrettyJson(JsonObject{{"schema", "dossier.plan/1"},
                                 {"mode", ask::ModeName(plan.mode)},
                                 {"tokens", plan.tokens},
                                 {"threshold", plan.threshold},
                                 {"reason", plan.reason},
                                 {"messages", assembly::ToCanonicalJson(plan.messages)},
                                 {"report", plan.report}})
      << "\n"
      << std::flush;
  return 0;
}

// A run that is continued, and what its journal says about how it was started.
struct TakenUp {
  const AskAgainOrder& order;
  const store::Event& started;
  std::shared_ptr<store::Journal> journal;
};

int ShowComparison(const ask::Outcome& outcome, FailureForm form, std::ostream& out) {
  const std::vector<std::string>& found = outcome.differences;
  if (form == FailureForm::kJson) {
    out << ToJson(JsonObject{{"schema", "dossier.replay/1"},
                             {"run", outcome.run},
                             {"turns", outcome.turns},
                             {"answer", outcome.text},
                             {"differences", boost::json::value_from(found)}})
        << "\n";
  } else {
    for (const std::string& one : found) out << Safe(one) << "\n";
    if (found.empty()) {
      out << fmt::format("{}: {} came out as recorded\n", outcome.run,
                         Counted(static_cast<std::uint64_t>(outcome.turns), "turn"));
    }
  }
  return found.empty() ? 0 : kExitDifferences;
}

// Handles one question, from its context to its answer.
class Asking {
 public:
  // `taken_up` is null for a new run.
  Asking(const AskArguments& arguments, const Asked& asked, const config::Config& config,
         Context& context, const TakenUp* taken_up = nullptr)
      : arguments_(arguments),
        taken_up_(taken_up),
        asked_(asked),
        flags_(context.flags),
        config_(config),
        argv_(context.argv),
        cancel_(context.cancel),
        sources_(config, context.cancel),
        out_(context.out),
        err_(context.err) {}

  Result<int> Run() {
    const Terminal terminal = Terminal::Detect(ParseColorWish(flags_.color));
    DOSSIER_ASSIGN_OR_RETURN(ProgressStyle style,
                             ParseProgressStyle(arguments_.progress, terminal));
    if (flags_.quiet) style = ProgressStyle::kNone;
    DOSSIER_ASSIGN_OR_RETURN(const SandboxChoice sandbox, ChooseSandbox());
    DOSSIER_ASSIGN_OR_RETURN(const ask::ConfirmAbove above,
                             ReadConfirmAbove(arguments_.confirm_above, flags_, err_));
    DOSSIER_ASSIGN_OR_RETURN(const ModelFlags model_flags, ChooseModel(above));
    DOSSIER_ASSIGN_OR_RETURN(std::vector<ask::Tool> tools, Tools());
    DOSSIER_ASSIGN_OR_RETURN(const auto child_tools, ChildToolsOf(arguments_, tools));
    ask::EngineOptions options;
    options.pool_options = sandbox.pool;
    DOSSIER_ASSIGN_OR_RETURN(options.folders,
                             AssetFoldersFor(arguments_.layouts_dir, flags_, err_));
    options.makers = SectionMakersFor({.flags = flags_, .cancel = cancel_, .err = err_, .now = {}});
    if (!arguments_.sends_nothing()) options.pool = StartPool(arguments_, sandbox);
    DOSSIER_ASSIGN_OR_RETURN(Keeping keeping, taken_up_ ? Keeping{.journal = taken_up_->journal}
                                                        : OpenKeeping(arguments_));
    // Loads the context first: a wrong path must not cost the start of a model.
    DOSSIER_ASSIGN_OR_RETURN(const auto context, Load(keeping.content()));
    DOSSIER_ASSIGN_OR_RETURN(
        const OpenedModel model,
        OpenModel(model_flags, [this](std::string_view line) { Say(line); }, cancel_));
    DOSSIER_RETURN_IF_ERROR(CheckModelFlags(model));
    if (flags_.verbose > 0 || config_.debug) {
      Say(fmt::format("model: {} ({})", model.description, model.why));
    }
    DOSSIER_ASSIGN_OR_RETURN(AskRequest request, MakeAskRequest(arguments_, argv_, sandbox));
    request.temperature = model_flags.temperature;
    DOSSIER_RETURN_IF_ERROR(SetOrigin(&request));
    request.confirm_above = above;
    if (keeping.journal) {
      DOSSIER_RETURN_IF_ERROR(ApplyWindow(config_.limits, *keeping.journal, &request.limits));
    }
    request.context = context;
    request.repairs = arguments_.repair;
    DOSSIER_ASSIGN_OR_RETURN(request.requirements, Requirements(request.question));
    request.tools = std::move(tools);
    request.child_tools = child_tools;
    DOSSIER_ASSIGN_OR_RETURN(
        request.media,
        taken_up_ ? ask::ReadMedia(taken_up_->started.data, keeping.content())  // as they were
                  : ReadAskMedia(arguments_, model, Reach(), cancel_));
    DOSSIER_RETURN_IF_ERROR(SetSession(keeping, sandbox.pool.dialect, &request));
    DOSSIER_ASSIGN_OR_RETURN(
        request.memory,
        MemoryOf(arguments_, config_, [this](std::string_view line) { Say(line); }));
    DOSSIER_RETURN_IF_ERROR(SetModels(model, keeping.journal, &options));
    std::optional<TempFolder> compared;
    DOSSIER_RETURN_IF_ERROR(SetOut(&request, &compared));
    ask::Engine engine(std::move(options));
    if (arguments_.sends_nothing()) return ShowAhead(engine, request);
    return Answer(engine, std::move(request), style, terminal);
  }

 private:
  Result<std::vector<ask::Tool>> Tools() {
    WantedServers servers{.network = Reach(), .say = [this](std::string_view line) { Say(line); }};
    if (IsCompared() || arguments_.sends_nothing()) servers.use = ServerUse::kLookedAt;
    return ReadAskTools(arguments_, std::move(servers), config_, cancel_);
  }

  Result<SandboxChoice> ChooseSandbox() {
    DOSSIER_ASSIGN_OR_RETURN(SandboxChoice sandbox, ParseSandboxFlags(arguments_.sandbox));
    DOSSIER_ASSIGN_OR_RETURN(sandbox.pool.dialect, sandbox::ParseDialect(arguments_.dialect));
    if (sandbox.pool.dialect != sandbox::Dialect::kPython) {
      // Checks, before a model is started or asked, that this build has the worker.
      DOSSIER_RETURN_IF_ERROR(sandbox::WorkerBuild(sandbox.pool));
    }
    return sandbox;
  }

  Result<ModelFlags> ChooseModel(const ask::ConfirmAbove& above) {
    DOSSIER_ASSIGN_OR_RETURN(ModelFlags flags, WithConfig(arguments_.model, config_, flags_));
    flags.needs_price = arguments_.max_cost || above.usd || config_.limits.usd;
    if (arguments_.sends_nothing() || IsCompared()) flags.use = ModelFlags::Use::kLookedAt;
    return flags;
  }

  // Sets the models to be asked, and where their replies are stored.
  Status SetModels(const OpenedModel& model, const std::shared_ptr<store::Journal>& journal,
                   ask::EngineOptions* options) {
    options->root = model.root;
    options->sub = model.sub;
    options->child = model.child;
    options->named = model.named;
    options->most_children = MostChildren(arguments_.model);
    options->journal = journal;
    if (journal) {
      DOSSIER_ASSIGN_OR_RETURN(options->replies, OpenReplies(*journal));
    }
    return {};
  }

  // Adds what was asked in the session before.
  Status SetSession(Keeping& keeping, sandbox::Dialect dialect, AskRequest* request) {
    if (arguments_.session.empty() || !keeping.journal) return {};
    const ask::ContextOptions about{.content = &keeping.content(),
                                    .copy_limit = config_.store.copy_limit};
    DOSSIER_ASSIGN_OR_RETURN(request->session,
                             ask::ReadSession(*keeping.journal,
                                              {.name = arguments_.session,
                                               .dialect = dialect,
                                               .before = taken_up_ ? taken_up_->order.how.run : ""},
                                              about, cancel_));
    return {};
  }

  // Sets the folder of --out-dir. `compared` owns that of a comparison, which leaves no files.
  Status SetOut(AskRequest* request, std::optional<TempFolder>* compared) {
    if (taken_up_ && !taken_up_->order.forked_from.empty() && !IsCompared() &&
        !arguments_.out_dir.empty()) {
      Say("files of the fork go to " + arguments_.out_dir);
    }
    if (arguments_.out_dir.empty() || arguments_.dry_run) return {};
    if (IsCompared()) {
      DOSSIER_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make());
      compared->emplace(std::move(folder));
    }
    DOSSIER_ASSIGN_OR_RETURN(
        request->out, ask::OutFolder::Open(*compared ? (*compared)->path() : arguments_.out_dir,
                                           IsResumed() ? ask::OutFolder::Held::kOfThisRun
                                                       : ask::OutFolder::Held::kNothing));
    return {};
  }

  // Shows what a run would send or cost: --dry-run, --estimate.
  Result<int> ShowAhead(ask::Engine& engine, const AskRequest& request) {
    DOSSIER_ASSIGN_OR_RETURN(const ask::Plan plan, engine.DryRun(request, cancel_));
    for (const std::string& warning : plan.warnings) PrintWarning(err_, warning);
    if (arguments_.dry_run) return ShowPlan(plan, out_);
    return ShowEstimate(plan, arguments_.json ? EstimateForm::kJson : EstimateForm::kText, out_);
  }

  void Say(std::string_view line) {
    if (!flags_.quiet) err_ << "dossier: " << line << "\n" << std::flush;
  }

  Network Reach() const { return flags_.offline ? Network::kNone : Network::kAny; }

  // If true, no model is asked, so neither a key nor a server is needed.
  bool IsCompared() const {
    return taken_up_ && taken_up_->order.how.how == ask::Continuation::How::kCompared;
  }

  bool IsResumed() const {
    return taken_up_ && taken_up_->order.how.how == ask::Continuation::How::kResumed;
  }

  // Sets the question and what the journal records about the start of the run.
  Status SetOrigin(AskRequest* request) {
    if (!taken_up_) {
      DOSSIER_ASSIGN_OR_RETURN(request->question, ReadQuestion(asked_, flags_, cancel_, err_));
      std::error_code error;
      request->folder = std::filesystem::current_path(error).string();
      return {};
    }
    const JsonObject& started = taken_up_->started.data;
    const Json* question = Find(started, "question");
    if (question && question->is_string()) {
      request->question = question->get_string();
    } else if (question) {
      DOSSIER_ASSIGN_OR_RETURN(request->question, taken_up_->journal->ReadBody(*question));
    }
    if (const auto seed = FindUint(Json(started), "seed")) request->seed = *seed;
    return {};
  }

  // Rejects flags that apply only to a model that this run does not use.
  Status CheckModelFlags(const OpenedModel& model) const {
    const ModelFlags& given = arguments_.model;
    const bool scripted = model.provider == "scripted" || given.sub_model.starts_with("scripted");
    if (!given.script.empty() && !scripted) {
      return MakeError(ErrorCode::kUsage, "--script {}: {} has no script; it is for -m scripted",
                       given.script, model.root.name);
    }
    for (const std::string& price : given.prices) {
      const std::size_t equals = price.rfind('=');
      const std::string name = equals == price.npos ? "" : price.substr(0, equals);
      const auto means = [&](const std::string& used) {
        return name == used || name.ends_with("/" + used);
      };
      const bool more = std::ranges::any_of(
          model.named, [&](const auto& named) { return means(named.second.name); });
      const bool child = more || (model.child && means(model.child->name));
      if (name.empty() || child || means(model.root.name) || means(model.sub.name)) continue;
      return MakeError(ErrorCode::kUsage, "--price {}: the models used are {} and {}", price,
                       model.root.name, model.sub.name);
    }
    return {};
  }

  // A schema in the configuration applies to conversations only.
  Result<std::vector<ask::Requirement>> Requirements(const std::string& question) {
    std::vector<ask::Requirement> out;
    const auto wants = [&](std::string_view gate) {
      return std::ranges::find(arguments_.required, gate) != arguments_.required.end();
    };
    if (wants("sub-calls")) out.push_back(ask::RequireSubcalls());
    if (wants("batch-complete")) out.push_back(ask::RequireWholeBatches());
    if (wants("computed-numbers")) out.push_back(ask::RequireComputedNumbers(question));
    const SchemaFlags& flags = arguments_.schema;
    if (flags.text || !flags.file.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(const auto found, ChooseSchema(flags, config_, flags_, cancel_));
      for (const std::string& warning : found->warnings) Say("warning: " + warning);
      out.push_back(ask::RequireSchema(found->schema));
    }
    if (!arguments_.validate.empty() && IsCompared()) {
      DOSSIER_ASSIGN_OR_RETURN(out.emplace_back(),
                               ask::RecordedCheck(*taken_up_->journal, taken_up_->order.how.run));
    } else if (!arguments_.validate.empty()) {
      out.push_back(ask::RequireCommand(
          {.line = arguments_.validate,
           .environment = sources::CommandEnvironment(sources::CurrentEnvironment(), {}, {})}));
    }
    return out;
  }

  Result<std::shared_ptr<const ask::ContextSet>> Load(store::ContentStore& content) {
    ask::ContextOptions options;
    DOSSIER_RETURN_IF_ERROR(ApplyContentFlags(arguments_.content, &options.inspect));
    options.content = &content;
    DOSSIER_ASSIGN_OR_RETURN(options.stdin_silence, StdinTimeout(flags_));
    if (options.stdin_silence == Millis(0)) options.stdin_silence.reset();
    options.copy_limit = config_.store.copy_limit;
    if (taken_up_) {
      std::set<std::string> changed;
      DOSSIER_ASSIGN_OR_RETURN(
          auto context, ask::LoadRecorded(*taken_up_->journal, taken_up_->order.how.run, options,
                                          cancel_, &changed));
      for (const std::string& name : changed) {
        Say(fmt::format("{} has changed since the run began; its stored copy is used", name));
      }
      return context;
    }
    DOSSIER_ASSIGN_OR_RETURN(const auto sources, sources_.Gather({.paths = asked_.paths,
                                                                  .texts = arguments_.texts,
                                                                  .exec = arguments_.exec,
                                                                  .network = Reach()}));
    return ask::LoadContext(sources, options, cancel_);
  }

  Result<int> Answer(ask::Engine& engine, AskRequest request, ProgressStyle style,
                     const Terminal& terminal) {
    ask::Outcome outcome;
    {
      const auto view = MakeProgressView(style, terminal, err_);
      if (auto& asks = request.confirm_above.ask) {
        asks = [&view, person = asks](const ask::CallEstimate& whole) {
          return view->WhilePaused([&] { return person(whole); });
        };
      }
      DOSSIER_ASSIGN_OR_RETURN(
          outcome, taken_up_ ? engine.Resume(taken_up_->order.how, request, cancel_, *view)
                             : engine.Run(request, cancel_, *view));
    }
    if (IsCompared()) {
      return ShowComparison(outcome, taken_up_->order.form, out_);
    }
    ExplainEnd(flags_, outcome, cancel_, err_);
    const int code = WriteAnswer(arguments_, outcome, out_, err_);
    const bool seen = terminal.err == Terminal::Kind::kTerminal && !flags_.quiet;
    if (seen && style != ProgressStyle::kJson) {
      err_ << FitClosingLine(ClosingLine(outcome), ColumnsNow(terminal)) << std::flush;
    }
    return code;
  }

  const AskArguments& arguments_;
  const TakenUp* const taken_up_;
  const Asked& asked_;
  const GlobalFlags& flags_;
  const config::Config& config_;
  const std::span<const std::string> argv_;
  const CancelToken& cancel_;
  AskSources sources_;
  std::ostream& out_;
  std::ostream& err_;
};

Result<int> RunAsk(const AskArguments& arguments, Context& context) {
  DOSSIER_RETURN_IF_ERROR(CheckAskArguments(arguments));
  DOSSIER_ASSIGN_OR_RETURN(Asked asked, ReadAsked(arguments, context.flags));
  DOSSIER_RETURN_IF_ERROR(
      AddMissingContext(arguments, context.flags, context.cancel, context.err, &asked));
  // Done before anything starts: an untrusted project must change nothing.
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(context.flags, {}, context.err));
  Result<int> code = Asking(arguments, asked, config, context).Run();
  asked.paths.push_back(asked.question);
  WarnOfUnreadStdin(asked.paths, context.flags, context.err);
  if (!arguments.sends_nothing()) MakeRoom(config, context.flags, context.err);
  return code;
}

// Parses the recorded command line of the run, as it was typed.
Status ReadRecordedLine(store::Journal& journal, const JsonObject& started, GlobalFlags* global,
                        AskArguments* arguments) {
  std::vector<std::string> argv;
  const Json* recorded = Find(started, "argv");
  for (const Json& word : recorded && recorded->is_array() ? recorded->get_array() : JsonArray()) {
    if (word.is_string()) {
      argv.emplace_back(word.get_string());
      continue;
    }
    DOSSIER_ASSIGN_OR_RETURN(argv.emplace_back(), journal.ReadBody(word));  // a long one
  }
  if (argv.size() < 2) {
    return MakeError(ErrorCode::kUsage,
                     "the run was not started by `dossier ask`, so its settings are not known");
  }
  Command root = RootCommand(global);
  for (Command& command : root.commands) {
    if (command.name != "ask") continue;
    command.binding = [arguments](Flags& flags) -> Runner {
      DeclareAskFlags(flags, *arguments);
      return [](Context&) -> Result<int> { return 0; };
    };
  }
  const CommandNode node(std::move(root));
  DOSSIER_RETURN_IF_ERROR(ParseLine(node, std::span(argv).subspan(1)));
  return {};
}

Status ApplyOrder(const AskAgainOrder& order, const JsonObject& started, AskArguments* to) {
  const auto set = [](const auto& from, auto* value) {
    if (from) *value = *from;
  };
  set(order.max_iterations, &to->max_iterations);
  set(order.max_calls, &to->max_calls);
  set(order.max_tokens, &to->max_tokens);
  set(order.max_cost, &to->max_cost);
  if (!order.max_time.empty()) to->max_time = order.max_time;
  if (!order.model.empty()) to->model.model = order.model;
  if (order.form == FailureForm::kJson) to->json = true;
  // The folder of the original run keeps its files; a fork has its own folder beside it.
  if (!order.forked_from.empty() && !to->out_dir.empty()) {
    while (to->out_dir.size() > 1 && to->out_dir.ends_with('/')) to->out_dir.pop_back();
    to->out_dir += "-" + order.how.run;
  }
  const std::string folder = TextAt(Json(started), "folder");
  if (folder.empty() || chdir(folder.c_str()) == 0) return {};
  return MakeErrnoError(errno, "the folder of the run, " + folder);
}

}  // namespace

namespace {

// Copies nothing; files are only compared.
Status CheckContexts(const AskArguments& arguments, const std::string& run, store::Journal& journal,
                     const CancelToken& cancel) {
  ask::ContextOptions options{.content = &journal.content(), .copy_limit = 0};
  DOSSIER_RETURN_IF_ERROR(ApplyContentFlags(arguments.content, &options.inspect));
  std::set<std::string> changed;
  DOSSIER_ASSIGN_OR_RETURN(const auto now,
                           ask::LoadRecorded(journal, run, options, cancel, &changed));
  DOSSIER_ASSIGN_OR_RETURN(const auto recorded, ask::Replay::Read(journal, run));
  return ask::CheckSameContexts(*now, *recorded);
}

}  // namespace

Status CheckAgain(const AskAgainOrder& order, store::Journal& journal, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const store::Event started, journal.EventAt(order.how.run, 1));
  GlobalFlags flags;
  AskArguments arguments;
  DOSSIER_RETURN_IF_ERROR(ReadRecordedLine(journal, started.data, &flags, &arguments));
  DOSSIER_RETURN_IF_ERROR(ApplyOrder(order, started.data, &arguments));
  DOSSIER_RETURN_IF_ERROR(CheckContexts(arguments, order.how.run, journal, context.cancel));
  if (order.model.empty()) return {};  // unchanged: nothing to check
  flags.trust_config = context.flags.trust_config;
  std::ostringstream unsaid;  // the caller reports these messages
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(flags, {}, unsaid));
  DOSSIER_ASSIGN_OR_RETURN(ModelFlags model, WithConfig(arguments.model, config, flags));
  model.use = ModelFlags::Use::kLookedAt;
  DOSSIER_RETURN_IF_ERROR(OpenModel(model, [](std::string_view) {}, context.cancel));
  return {};
}

Result<int> AskAgain(const AskAgainOrder& order, std::shared_ptr<store::Journal> journal,
                     Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const store::Event started, journal->EventAt(order.how.run, 1));
  GlobalFlags flags;
  AskArguments arguments;
  DOSSIER_RETURN_IF_ERROR(ReadRecordedLine(*journal, started.data, &flags, &arguments));
  DOSSIER_RETURN_IF_ERROR(ApplyOrder(order, started.data, &arguments));
  flags.log = context.flags.log;
  flags.quiet = flags.quiet || context.flags.quiet;
  flags.yes = flags.yes || context.flags.yes;
  // A trust decision at that time does not cover what the configuration says now.
  flags.trust_config = context.flags.trust_config;
  Context again{.flags = flags,
                .command = context.command,
                .interrupt = context.interrupt,
                .cancel = context.cancel,
                .in = context.in,
                .out = context.out,
                .err = context.err,
                .argv = context.argv,
                .failure = context.failure};
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(flags, {}, context.err));
  const TakenUp taken_up{order, started, std::move(journal)};
  return Asking(arguments, Asked(), config, again, &taken_up).Run();
}

Command AskCommand() {
  return {.name = "ask",
          .summary = "answer a question over files of any size",
          .examples =
              "dossier ask server.log \"Which request failed first?\"\n"
              "    one file\n"
              "git diff | dossier ask \"Does this change the file format?\"\n"
              "    stdin as the context\n"
              "dossier ask src -m openai/gpt-5-mini --max-cost 0.20 \"Where are locks taken?\"\n"
              "    a folder, a model, a limit",
          .binding = Bind(DeclareAskFlags, RunAsk)};
}

}  // namespace dossier::cli
