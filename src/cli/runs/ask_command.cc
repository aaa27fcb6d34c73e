#include "cli/runs/ask_command.h"

#include "ask/engine.h"
#include "base/files/file.h"
#include "base/files/user_folders.h"
#include "base/random.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/runs/closing_line.h"
#include "cli/runs/progress_view.h"
#include "cli/terminal/counted.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/failure.h"
#include "cli/wiring/asset_folders.h"
#include "cli/wiring/prompt_input.h"
#include "cli/wiring/quantity_flags.h"
#include "cli/wiring/section_makers.h"
#include "store/journal.h"
#include "store/prune.h"

namespace dossier::cli {
namespace {

using ask::Request;

template <typename Value>
struct Word {
  std::string_view word;
  Value value;
};

template <typename Value, std::size_t N>
Value Pick(const Word<Value> (&words)[N], std::string_view word) {
  for (const auto& row : words) {
    if (row.word == word) return row.value;
  }
  return words[0].value;  // the flag's check lets no other word through
}

constexpr Word<ask::Mode> kModes[] = {{"auto", ask::Mode::kAuto},
                                      {"direct", ask::Mode::kDirect},
                                      {"recursive", ask::Mode::kRecursive}};
constexpr Word<ask::Profile> kProfiles[] = {{"auto", ask::Profile::kAuto},
                                            {"small", ask::Profile::kSmall},
                                            {"large", ask::Profile::kLarge}};
constexpr Word<ask::Forcing> kForcings[] = {{"full", ask::Forcing::kFull},
                                            {"reference", ask::Forcing::kReference},
                                            {"none", ask::Forcing::kNone}};
constexpr Word<ask::BlockPolicy> kBlocks[] = {{"until-error", ask::BlockPolicy::kUntilError},
                                              {"all", ask::BlockPolicy::kAll},
                                              {"first", ask::BlockPolicy::kFirst}};

constexpr Word<ask::Compacting> kCompactings[] = {{"auto", ask::Compacting::kAuto},
                                                  {"rules", ask::Compacting::kRules},
                                                  {"off", ask::Compacting::kOff}};

constexpr Word<ask::CacheUse> kCaches[] = {
    {"on", ask::CacheUse::kOn}, {"off", ask::CacheUse::kOff}, {"refresh", ask::CacheUse::kRefresh}};

template <typename Value, std::size_t N>
std::vector<std::string> Words(const Word<Value> (&words)[N]) {
  std::vector<std::string> out;
  for (const auto& row : words) out.emplace_back(row.word);
  return out;
}

Status CheckQuestion(const AskArguments& arguments, const GlobalFlags& flags) {
  if (TrimSpace(arguments.question).empty()) {
    return MakeError(ErrorCode::kUsage,
                     "ask: the question is missing: dossier ask [-c FILE] \"QUESTION\"");
  }
  int streams = arguments.question == "-" ? 1 : 0;
  for (const auto* list : {&arguments.paths, &arguments.contexts}) {
    streams += static_cast<int>(std::count(list->begin(), list->end(), "-"));
  }
  if (streams > 1) {
    return MakeError(ErrorCode::kUsage,
                     "ask: only one of question and contexts can come from stdin (-)");
  }
  if (streams > 0 && flags.no_stdin) {
    return MakeError(ErrorCode::kUsage, "ask: - is stdin, which --no-stdin leaves alone");
  }
  if (arguments.dialect != "python") {
    return MakeError(ErrorCode::kUsage, "--dialect {}: this version runs python only",
                     arguments.dialect);
  }
  if (arguments.max_depth > 1) {
    return MakeError(ErrorCode::kUsage,
                     "--max-depth {}: this version goes to depth 1 (plain sub-calls)",
                     arguments.max_depth);
  }
  return {};
}

// Only where "-" names it: stdin may as well be one of the contexts.
Result<std::string> ReadQuestion(const AskArguments& arguments, const GlobalFlags& flags,
                                 const CancelToken& cancel, std::ostream& err) {
  if (arguments.question != "-") return arguments.question;
  DOSSIER_ASSIGN_OR_RETURN(const auto timeout, StdinTimeout(flags));
  StdinStream in;
  DOSSIER_ASSIGN_OR_RETURN(
      const PromptInput input,
      ReadPromptInput(
          {.prompt = "-", .timeout = timeout}, in,
          [&](std::string_view warning) { PrintWarning(err, warning); }, cancel));
  if (TrimSpace(input.text).empty()) {
    return MakeError(ErrorCode::kUsage, "ask: the question on stdin is empty");
  }
  return input.text;
}

Result<Request> MakeRequest(const AskArguments& arguments, const SandboxChoice& sandbox) {
  Request request;
  request.mode = Pick(kModes, arguments.mode);
  request.profile = Pick(kProfiles, arguments.profile);
  request.forcing = Pick(kForcings, arguments.forcing);
  request.blocks = Pick(kBlocks, arguments.blocks);
  request.cache = Pick(kCaches, arguments.cache);
  request.compacting = Pick(kCompactings, arguments.compaction);
  request.compact_at = arguments.compact_at;
  request.votes = arguments.votes;
  request.limits.iterations = arguments.max_iterations;
  request.limits.depth = arguments.max_depth;
  request.limits.calls = arguments.max_calls;
  request.limits.tokens = arguments.max_tokens;
  request.limits.usd = arguments.max_cost;
  request.limits.errors = arguments.max_errors;
  request.limits.output_chars = arguments.max_output_chars;
  request.sub_max_output = arguments.sub_max_output;
  if (!arguments.max_time.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(request.limits.time, ReadTimeFlag("--max-time", arguments.max_time));
  }
  request.cell = sandbox.limits;
  request.context_string_max = sandbox.context_string_max;
  request.seed = arguments.seed.value_or(SystemEntropy() >> 1);
  if (arguments.seed) request.seed_from = Request::Seed::kGiven;
  for (const std::string& word : arguments.argv) request.argv.emplace_back(word);
  return request;
}

std::vector<ask::ContextSource> Sources(const AskArguments& arguments) {
  std::vector<ask::ContextSource> sources;
  for (const std::string& path : arguments.contexts) sources.push_back({.path = path});
  for (const std::string& path : arguments.paths) sources.push_back({.path = path});
  for (const std::string& text : arguments.texts) sources.push_back({.text = text});
  return sources;
}

int WriteAnswer(const AskArguments& arguments, const ask::Outcome& outcome, std::ostream& out,
                std::ostream& err) {
  std::string text = arguments.json ? ToJson(outcome.ToJson()) : outcome.text;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (!arguments.output.empty()) {
    if (Status written = WriteFileAtomic(arguments.output, text); !written) {
      // The answer is not lost to a full disk: it goes to stdout.
      PrintError(err, written.error());
      out << text << std::flush;
      return ExitCode(written.error().code);
    }
    return outcome.exit_code();
  }
  out << text << std::flush;
  return out.good() ? outcome.exit_code() : 141;
}

std::string ShownOnOneLine(std::string_view text) {
  constexpr std::size_t kShown = 200;  // code points
  std::string line(utf8::Prefix(text, kShown));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return line.size() < text.size() ? line + "…" : line;
}

// "3 of 40 sub-calls failed (cut 2, empty 1)"; of map_llm the items that got no label, of all its
// calls together.
std::vector<std::string> FailedSubcalls(const std::vector<ask::Warning>& warnings) {
  struct Sum {
    std::int64_t all = 0, failed = 0;
    std::map<std::string, std::int64_t> kinds;
  };
  Sum calls, items;
  for (const ask::Warning& warning : warnings) {
    if (warning.code != "subcalls_failed") continue;
    const bool of_map = Find(warning.data, "items") != nullptr;
    Sum& sum = of_map ? items : calls;
    sum.all += FindInt(warning.data, of_map ? "items" : "sent").value_or(0);
    sum.failed += FindInt(warning.data, "failed").value_or(0);
    const Json* kinds = Find(warning.data, "kinds");
    if (!kinds || !kinds->is_object()) continue;
    for (const auto& [kind, count] : kinds->get_object()) {
      if (count.is_int64()) sum.kinds[std::string(kind)] += count.get_int64();
    }
  }
  std::vector<std::string> lines;
  const auto add = [&](const Sum& sum, std::string_view form) {
    if (sum.failed == 0) return;
    std::vector<std::string> kinds;
    for (const auto& [kind, count] : sum.kinds) kinds.push_back(fmt::format("{} {}", kind, count));
    lines.push_back(fmt::format(fmt::runtime(form), GroupDigits(sum.failed), GroupDigits(sum.all),
                                Join(kinds, ", ")));
  };
  add(calls, "subcalls_failed: {} of {} sub-calls failed ({})");
  add(items, "subcalls_failed: {} of {} items of map_llm got no label ({})");
  return lines;
}

// ": why", without what was printed as a warning already.
std::string ReasonsToTell(const ask::Outcome& outcome, const GlobalFlags& flags) {
  std::vector<std::string> reasons;
  for (const std::string& doubt : outcome.evidence.doubts) {
    const bool told = std::ranges::any_of(outcome.warnings, [&](const ask::Warning& warning) {
      const auto* text = warning.data.if_string();
      return text && std::string_view(*text) == doubt;
    });
    if (flags.quiet || !told) reasons.push_back(doubt);
  }
  return reasons.empty() ? "" : fmt::format(": {}", Join(reasons, " "));
}

void ExplainEnd(const GlobalFlags& flags, const ask::Outcome& outcome, std::ostream& err) {
  const bool stopped = outcome.status == ask::RunStatus::kInterrupted;
  if (outcome.error && !stopped) PrintError(err, *outcome.error);
  if (!flags.quiet) {
    for (const ask::Warning& warning : outcome.warnings) {
      if (const auto* text = warning.data.if_string()) {
        PrintWarning(err, fmt::format("{}: {}", warning.code, std::string_view(*text)));
      }
    }
    for (const std::string& line : FailedSubcalls(outcome.warnings)) PrintWarning(err, line);
  }
  switch (outcome.status) {
    case ask::RunStatus::kExtracted:
      PrintWarning(err, outcome.limits_hit.empty()
                            ? "the work was ended early; this is the model's best answer so far "
                              "(exit 10)"
                            : "a limit was reached; this is the model's best answer so far "
                              "(exit 10)");
      break;
    case ask::RunStatus::kPartial:
      PrintWarning(err, fmt::format("this answer is not confirmed{} (exit 13)",
                                    ReasonsToTell(outcome, flags)));
      break;
    case ask::RunStatus::kNone:
      if (!outcome.error) {
        err << "dossier: no answer was found; `dossier runs show " << outcome.run
            << "` shows what was tried\n";
      }
      if (!outcome.last_output.empty()) {
        err << "dossier: the last output, which nobody called an answer: "
            << ShownOnOneLine(outcome.last_output) << "\n";
      }
      break;
    case ask::RunStatus::kInterrupted:
      err << "dossier: " << (outcome.error ? outcome.error->message : "interrupted")
          << "; `dossier runs show " << outcome.run << "` shows what was done\n";
      break;
    default:
      break;
  }
  err << std::flush;
}

// Where contexts and events go: the store of the runs, or nowhere.
struct Keeping {
  std::shared_ptr<store::Journal> journal;  // null: a dry run, which keeps nothing
  std::optional<TempFolder> folder;         // of a dry run, with
  std::unique_ptr<store::ContentStore> copies;

  store::ContentStore& content() const { return journal ? journal->content() : *copies; }
};

Result<Keeping> OpenKeeping(const AskArguments& arguments) {
  Keeping keeping;
  if (arguments.dry_run) {
    DOSSIER_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make());
    keeping.folder.emplace(std::move(folder));
    DOSSIER_ASSIGN_OR_RETURN(keeping.copies, store::ContentStore::Open(keeping.folder->path()));
    return keeping;
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  DOSSIER_ASSIGN_OR_RETURN(keeping.journal, store::Journal::Open(data + "/runs"));
  return keeping;
}

// Old runs go where the store has become too large. The answer is out: nothing fails by it.
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

// If code will run for sure, Python starts now, beside all that comes before it. Null if it will
// not, or if it cannot: the engine then makes a pool when it needs one, and says what is wrong.
std::shared_ptr<sandbox::Pool> StartPool(const AskArguments& arguments,
                                         const SandboxChoice& sandbox) {
  if (Pick(kModes, arguments.mode) != ask::Mode::kRecursive) return {};
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
                       arguments.dry_run ? MemoryNeed::kLookedAt : MemoryNeed::kWritten));
  driver::MemoryUse out{.store = memory.store,
                        .branch = memory.branch,
                        .calls = memory.calls,
                        .consolidate_from = memory.consolidate_from};
  if (!memory.store) return out;
  for (const std::string& warning : memory.store->warnings()) say("warning: " + warning);
  return out;
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

// One question: from its context to its answer.
class Asking {
 public:
  Asking(const AskArguments& arguments, const GlobalFlags& flags, const config::Config& config,
         const CancelToken& cancel, std::ostream& out, std::ostream& err)
      : arguments_(arguments),
        flags_(flags),
        config_(config),
        cancel_(cancel),
        out_(out),
        err_(err) {}

  Result<int> Run() {
    const Terminal terminal = Terminal::Detect(ParseColorWish(flags_.color));
    DOSSIER_ASSIGN_OR_RETURN(ProgressStyle style,
                             ParseProgressStyle(arguments_.progress, terminal));
    if (flags_.quiet) style = ProgressStyle::kNone;
    DOSSIER_ASSIGN_OR_RETURN(const SandboxChoice sandbox, ParseSandboxFlags(arguments_.sandbox));
    DOSSIER_ASSIGN_OR_RETURN(ModelFlags model_flags, WithConfig(arguments_.model, config_, flags_));
    model_flags.needs_price = arguments_.max_cost.has_value();
    if (arguments_.dry_run) model_flags.use = ModelFlags::Use::kLookedAt;
    ask::EngineOptions options;
    options.pool_options = sandbox.pool;
    DOSSIER_ASSIGN_OR_RETURN(options.folders,
                             AssetFoldersFor(arguments_.layouts_dir, flags_, err_));
    options.makers = SectionMakersFor({.flags = flags_, .cancel = cancel_, .err = err_, .now = {}});
    if (!arguments_.dry_run) options.pool = StartPool(arguments_, sandbox);
    DOSSIER_ASSIGN_OR_RETURN(const Keeping keeping, OpenKeeping(arguments_));
    // The context first: a wrong path must not cost the start of a model.
    DOSSIER_ASSIGN_OR_RETURN(const auto context, Load(keeping.content()));
    DOSSIER_ASSIGN_OR_RETURN(
        const OpenedModel model,
        OpenModel(model_flags, [this](std::string_view line) { Say(line); }, cancel_));
    DOSSIER_RETURN_IF_ERROR(CheckModelFlags(model));
    if (flags_.verbose > 0 || config_.debug) {
      Say(fmt::format("model: {} ({})", model.description, model.why));
    }
    DOSSIER_ASSIGN_OR_RETURN(Request request, MakeRequest(arguments_, sandbox));
    request.temperature = model_flags.temperature;
    DOSSIER_ASSIGN_OR_RETURN(request.question, ReadQuestion(arguments_, flags_, cancel_, err_));
    request.context = context;
    DOSSIER_ASSIGN_OR_RETURN(
        request.memory,
        MemoryOf(arguments_, config_, [this](std::string_view line) { Say(line); }));
    options.root = model.root;
    options.sub = model.sub;
    options.journal = keeping.journal;
    if (keeping.journal) {
      DOSSIER_ASSIGN_OR_RETURN(options.replies, OpenReplies(*keeping.journal));
    }
    ask::Engine engine(std::move(options));
    if (arguments_.dry_run) {
      DOSSIER_ASSIGN_OR_RETURN(const ask::Plan plan, engine.DryRun(request));
      return ShowPlan(plan, out_);
    }
    return Answer(engine, request, style, terminal);
  }

 private:
  void Say(std::string_view line) {
    if (!flags_.quiet) err_ << "dossier: " << line << "\n" << std::flush;
  }

  // What holds for another model than those that are used would hold for nothing.
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
      if (name.empty() || means(model.root.name) || means(model.sub.name)) continue;
      return MakeError(ErrorCode::kUsage, "--price {}: the models used are {} and {}", price,
                       model.root.name, model.sub.name);
    }
    return {};
  }

  Result<std::shared_ptr<const ask::ContextSet>> Load(store::ContentStore& content) {
    ask::ContextOptions options;
    options.folders = arguments_.recurse ? ask::ContextOptions::Folders::kWalk
                                         : ask::ContextOptions::Folders::kRefuse;
    DOSSIER_RETURN_IF_ERROR(ApplyContentFlags(arguments_.content, &options.inspect));
    options.content = &content;
    DOSSIER_ASSIGN_OR_RETURN(options.stdin_silence, StdinTimeout(flags_));
    if (options.stdin_silence == Millis(0)) options.stdin_silence.reset();
    options.copy_limit = config_.store.copy_limit;
    return ask::LoadContext(Sources(arguments_), options, cancel_);
  }

  Result<int> Answer(ask::Engine& engine, const Request& request, ProgressStyle style,
                     const Terminal& terminal) {
    ask::Outcome outcome;
    {
      const auto view = MakeProgressView(style, terminal, err_);
      DOSSIER_ASSIGN_OR_RETURN(outcome, engine.Run(request, cancel_, *view));
    }
    ExplainEnd(flags_, outcome, err_);
    const int code = WriteAnswer(arguments_, outcome, out_, err_);
    const bool seen = terminal.err == Terminal::Kind::kTerminal && !flags_.quiet;
    if (seen && style != ProgressStyle::kJson) {
      err_ << FitClosingLine(ClosingLine(outcome), terminal.columns) << std::flush;
    }
    return code;
  }

  const AskArguments& arguments_;
  const GlobalFlags& flags_;
  const config::Config& config_;
  const CancelToken& cancel_;
  std::ostream& out_;
  std::ostream& err_;
};

Result<int> Ask(const AskArguments& arguments, const GlobalFlags& flags, const CancelToken& cancel,
                std::ostream& out, std::ostream& err) {
  DOSSIER_RETURN_IF_ERROR(CheckQuestion(arguments, flags));
  // Before anything starts: a project that is not trusted must change nothing.
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(flags, {}, err));
  Result<int> code = Asking(arguments, flags, config, cancel, out, err).Run();
  if (!arguments.dry_run) MakeRoom(config, flags, err);
  return code;
}

}  // namespace

void AddAskCommand(CLI::App& ask, AskArguments* arguments) {
  ask.add_option("question", arguments->question, "the question, or - for stdin");
  ask.add_option("paths", arguments->paths, "more contexts");
  ask.add_option("-c,--context", arguments->contexts, "file, folder (with -r), or - for stdin")
      ->type_name("PATH")
      ->allow_extra_args(false);
  ask.add_option("--context-text", arguments->texts, "a context given as text")
      ->allow_extra_args(false);
  ask.add_flag("-r,--recurse", arguments->recurse, "read the files below folders");
  const auto choice = [&](const char* flag, std::string& value, std::vector<std::string> words,
                          const char* help) {
    ask.add_option(flag, value, help)
        ->check(CLI::IsMember(std::move(words)))
        ->capture_default_str();
  };
  choice("--mode", arguments->mode, Words(kModes), "one plain call, or code in a sandbox");
  choice("--profile", arguments->profile, Words(kProfiles), "prompts and limits for the model");
  choice("--forcing", arguments->forcing, Words(kForcings), "which policies hold");
  choice("--blocks", arguments->blocks, Words(kBlocks), "which blocks of a reply run");
  choice("--cache", arguments->cache, Words(kCaches), "replies of sub-calls asked before");
  choice("--compaction", arguments->compaction, Words(kCompactings),
         "how old turns make room: with summaries, by rule, not");
  ask.add_option("--compact-at", arguments->compact_at,
                 "share of the model's window above which old turns make room")
      ->check(CLI::Range(0.1, 1.0))
      ->capture_default_str();
  ask.add_option("--dialect", arguments->dialect, "language of the code")->capture_default_str();
  ask.add_option("--votes", arguments->votes, "attempts of which two must agree (1 large, 3 small)")
      ->check(CLI::Range(1, 9));
  const std::string limits = "Limits";
  ask.add_option("--max-depth", arguments->max_depth, "0: no sub-calls; 1: plain sub-calls")
      ->check(CLI::Range(0, 16))
      ->capture_default_str()
      ->group(limits);
  ask.add_option("--max-iterations", arguments->max_iterations, "turns (30 large, 12 small)")
      ->check(CLI::Range(1, 10000))
      ->group(limits);
  ask.add_option("--max-calls", arguments->max_calls, "model requests, each attempt counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(limits);
  ask.add_option("--max-tokens", arguments->max_tokens, "input and output, whole run")
      ->check(CLI::PositiveNumber)
      ->group(limits);
  ask.add_option("--max-cost", arguments->max_cost, "US dollars, whole run")
      ->check(CLI::PositiveNumber)
      ->group(limits);
  AddPriceFlag(ask, limits, &arguments->model.prices);
  ask.add_option("--window", arguments->model.window,
                 "tokens of the model's window, where the model data do not say it")
      ->group("Model");
  ask.add_option("--max-time", arguments->max_time, "whole run, such as 90s or 10m")->group(limits);
  ask.add_option("--max-errors", arguments->max_errors, "turns in a row whose code failed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(limits);
  ask.add_option("--sub-max-output", arguments->sub_max_output,
                 "tokens of a sub-call's reply, without its thinking (the model's own limit)")
      ->check(CLI::PositiveNumber)
      ->group(limits);
  ask.add_option("--max-output-chars", arguments->max_output_chars,
                 "shown of a block (20000 large, 4000 small)")
      ->check(CLI::PositiveNumber)
      ->group(limits);
  ask.add_option("--seed", arguments->seed, "for boundaries, `random` and sampling");
  ask.add_option("--layouts-dir", arguments->layouts_dir, "folder with layouts/ and prompts/");
  ask.add_option("--progress", arguments->progress, "auto, tree, plain, json or none")
      ->capture_default_str();
  ask.add_flag("--json", arguments->json, "one object with the answer and what it took");
  ask.add_option("-o,--output", arguments->output, "write the answer to a file");
  ask.add_flag("--dry-run", arguments->dry_run, "print the first messages, call nothing");
  AddContentFlags(ask, "Contexts", &arguments->content);
  AddMemoryFlags(ask, "Memory", &arguments->memory);
  AddModelFlags(ask, &arguments->model);
  AddSandboxFlags(ask, &arguments->sandbox);
}

int RunAsk(const AskArguments& arguments, const GlobalFlags& flags, const CancelToken& cancel,
           std::ostream& out, std::ostream& err) {
  const Result<int> code = Ask(arguments, flags, cancel, out, err);
  return code ? *code : Fail(code.error(), FormOf(arguments.json), out, err);
}

}  // namespace dossier::cli
