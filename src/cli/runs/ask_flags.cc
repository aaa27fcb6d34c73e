#include "cli/runs/ask_flags.h"

#include "base/random.h"
#include "base/text/text.h"
#include "cli/wiring/server_tools.h"
#include "cli/wiring/value_kinds.h"

namespace dossier::cli {
namespace {

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
  return words[0].value;  // the flag accepts no other word
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
constexpr Word<ask::Observe> kObserves[] = {
    {"full", ask::Observe::kFull}, {"sizes", ask::Observe::kSizes}, {"none", ask::Observe::kNone}};
constexpr Word<ask::BlockPolicy> kBlocks[] = {{"until-error", ask::BlockPolicy::kUntilError},
                                              {"all", ask::BlockPolicy::kAll},
                                              {"first", ask::BlockPolicy::kFirst}};

constexpr Word<ask::Compacting> kCompactings[] = {{"auto", ask::Compacting::kAuto},
                                                  {"rules", ask::Compacting::kRules},
                                                  {"off", ask::Compacting::kOff}};

constexpr Word<ask::CitationCheck> kCitations[] = {{"check", ask::CitationCheck::kCheck},
                                                   {"strict", ask::CitationCheck::kHeld},
                                                   {"require", ask::CitationCheck::kAll},
                                                   {"off", ask::CitationCheck::kOff}};
constexpr Word<ask::CacheUse> kCaches[] = {
    {"on", ask::CacheUse::kOn}, {"off", ask::CacheUse::kOff}, {"refresh", ask::CacheUse::kRefresh}};

template <typename Value, std::size_t N>
std::vector<std::string> Words(const Word<Value> (&words)[N]) {
  std::vector<std::string> out;
  for (const auto& row : words) out.emplace_back(row.word);
  return out;
}

void DeclareChoices(Flags& flags, AskArguments& to) {
  const auto choice = [&](std::string_view name, std::string* value, std::vector<std::string> words,
                          std::string help) {
    flags.Add(name, value, std::move(help)).OneOf(std::move(words)).ShowDefault();
  };
  choice("--mode", &to.mode, Words(kModes),
         "ask the model once (direct), or let it write code that runs in a sandbox (recursive)");
  choice("--profile", &to.profile, Words(kProfiles),
         "prompts and limits for a small or a large model");
  choice("--forcing", &to.forcing, Words(kForcings),
         "how firmly its answers are checked: full, reference (as the method was published), none");
  choice("--observe", &to.observe, Words(kObserves),
         "what the model sees of its code's output: all (full), how much there was (sizes), none");
  choice("--blocks", &to.blocks, Words(kBlocks),
         "which of the code blocks in a reply are run (until-error; javascript: first)");
  choice("--cache", &to.cache, Words(kCaches),
         "reuse replies to questions that the code asked before");
  choice("--compaction", &to.compaction, Words(kCompactings),
         "how old turns make room in the window: summed up by the model, by rules alone, or not at "
         "all");
  flags
      .Add("--compact-at", &to.compact_at,
           "make room when this share of the model's window is full")
      .Between(0.1, 1.0)
      .ShowDefault();
  flags.Add("--dialect", &to.dialect, "language of the code that the model writes").ShowDefault();
  flags.Add("--votes", &to.votes, "ask so often, until two answers agree (1; 3 with a small model)")
      .Between(1, 9);
}

void DeclareLimits(Flags limits, AskArguments& to) {
  limits
      .Add("--max-depth", &to.max_depth,
           "0: its code may ask no model; 1: it may; N: it may start calls with turns of their "
           "own, to "
           "level N - 1")
      .Between(0, 16)
      .ShowDefault();
  limits
      .Add("--max-iterations", &to.max_iterations, "turns of the model (30; 12 with a small model)")
      .Between(1, 10000);
  limits.Add("--max-calls", &to.max_calls, "requests to models, each attempt counts")
      .Positive()
      .ShowDefault();
  limits.Add("--max-tokens", &to.max_tokens, "tokens in and out, of the whole run").Positive();
  limits.Add("--max-cost", &to.max_cost, "US dollars, of the whole run").Positive();
  limits.Add("--confirm-above", &to.confirm_above,
             "ask before the run takes more than so many calls (100) or US dollars ($0.50)");
  AddPriceFlag(limits, &to.model.prices);
  Flags model = limits.In("Model");
  model
      .Add("--child-model", &to.model.child_model,
           "the model of calls with turns of their own that its code starts (default: that of "
           "--sub-model)")
      .Kind(kModel);
  model.Add("--named-model", &to.model.named_models,
            "NAME=MODEL, one more model that its code may ask for by NAME");
  model.Add("--window", &to.model.window,
            "tokens of the model's window, where the model data do not say it");
  limits.Add("--max-time", &to.max_time, "time of the whole run, such as 90s or 10m").Kind(kTime);
  limits.Add("--max-errors", &to.max_errors, "stop after so many turns in a row whose code failed")
      .Positive()
      .ShowDefault();
  limits
      .Add("--sub-max-output", &to.sub_max_output,
           "tokens of a reply to its code, without thinking (the model's own limit)")
      .Positive();
  limits
      .Add("--max-output-chars", &to.max_output_chars,
           "characters that it sees of a code block's output (20000; 4000 with a small model)")
      .Positive();
}

void DeclareRequired(Flags answer, AskArguments& to) {
  AddSchemaFlags(answer, "want an answer in JSON that fits this schema; or 'name, age int'",
                 &to.schema);
  answer
      .Add("--validate", &to.validate,
           "run CMD in a shell with the answer as JSON on stdin; exit code 0 accepts it, else what "
           "it prints goes back to the model")
      .Kind(kShellCommand);
  answer
      .Add("--require", &to.required,
           "want that a model read for its code (sub-calls), that no request of it is lost "
           "(batch-complete), or that code showed each number (computed-numbers); repeatable")
      .OneOf({"sub-calls", "batch-complete", "computed-numbers"});
  answer
      .Add("--citations", &to.citations,
           "look its quotes and references up (check), want them to hold (strict), want evidence "
           "for each quote and number (require), or neither (off); what fails is exit 15")
      .OneOf(Words(kCitations))
      .ShowDefault();
  answer
      .Add("--repair", &to.repair,
           "how often the model may mend an answer that --json-schema or --validate refuses")
      .Between(0, 20)
      .ShowDefault();
}

}  // namespace

void DeclareAskFlags(Flags& flags, AskArguments& to) {
  flags
      .Add("question-or-path", &to.words,
           "the question, files and folders, in any order; - is stdin")
      .Kind(kPath);
  flags.Add("-c,--context", &to.contexts, "file, folder, or - for stdin")
      .Kind(kPath)
      .Formerly("-f")
      .Formerly("--file");
  flags.Add("--context-text", &to.texts, "a context given as text");
  flags.Add("-r,--recurse", &to.recurse, "no effect: folders are always read");
  DeclareChoices(flags, to);
  DeclareLimits(flags.In("Limits"), to);
  DeclareRequired(flags.In("Answer"), to);
  flags
      .Add("--tools", &to.tools,
           "a YAML file with commands of yours that its code may call as functions")
      .Kind(kPath);
  AddServersFlag(flags, &to.servers);
  flags
      .Add("--sub-tools", &to.sub_tools,
           "which of them code of children may call: all (inherit), none, or A,B")
      .ShowDefault();
  flags.Add("--media", &to.media,
            "NAME=PATH or NAME=URL, an image that its code may show to a model by NAME (repeat)");
  flags.Add("--session", &to.session,
            "keep the names of its code from question to question, under this name");
  flags.Add("--seed", &to.seed, "makes all that is drawn at random the same each time");
  flags.Add("--layouts-dir", &to.layouts_dir, "folder with layouts/ and prompts/ of your own")
      .Kind(kFolder);
  flags.Add("--progress", &to.progress, "auto, tree, plain, json or none").ShowDefault();
  flags.Add("--json", &to.json, "one object with the answer and what it took");
  flags.Add("-o,--out", &to.output, "write the answer to a file").Kind(kPath).Formerly("--output");
  flags.Add("--out-dir", &to.out_dir, "a new folder for files that the code writes").Kind(kPath);
  flags.Add("--dry-run", &to.dry_run, "print the first messages, call nothing");
  flags.Add("--estimate", &to.estimate, "print calls, tokens and cost to expect, call nothing");
  AddExecFlags(flags.In("Contexts"), "run CMD in a shell; what it prints is a context (repeat)",
               &to.exec);
  AddContentFlags(flags.In("Contexts"), &to.content);
  AddMemoryFlags(flags.In("Memory"), &to.memory);
  AddModelFlags(flags, &to.model);
  AddSandboxFlags(flags, &to.sandbox);
}

Status CheckAskArguments(const AskArguments& arguments) {
  if (arguments.schema.text && !arguments.schema.file.empty()) {
    return MakeError(ErrorCode::kUsage, "--json-schema and --json-schema-file exclude each other");
  }
  DOSSIER_ASSIGN_OR_RETURN(const sandbox::Dialect dialect,
                           sandbox::ParseDialect(arguments.dialect));
  if (dialect == sandbox::Dialect::kJavaScript && arguments.profile == "small") {
    return MakeError(
        ErrorCode::kUsage,
        "--dialect javascript: the profile small is about Python; leave --profile out");
  }
  const bool tools = !arguments.tools.empty() || !arguments.servers.empty();
  if (tools && arguments.mode == "direct") {
    return MakeError(ErrorCode::kUsage, "{}: only code can call them; leave --mode direct out",
                     arguments.tools.empty() ? "--mcp " + Join(arguments.servers, ",")
                                             : "--tools " + arguments.tools);
  }
  if (!tools && arguments.sub_tools != "inherit") {
    return MakeError(ErrorCode::kUsage,
                     "--sub-tools {}: there are no tools to choose from; name their file with "
                     "--tools, or their server with --mcp",
                     arguments.sub_tools);
  }
  if (!arguments.media.empty() && arguments.mode == "direct") {
    return MakeError(ErrorCode::kUsage,
                     "--media {}: only code can show images to a model; leave --mode direct out",
                     arguments.media.front());
  }
  if (!arguments.media.empty() && arguments.max_depth == 0) {
    return MakeError(ErrorCode::kUsage,
                     "--media {}: with --max-depth 0 code asks no model; leave one of them out",
                     arguments.media.front());
  }
  if (!arguments.session.empty() && arguments.mode == "direct") {
    return MakeError(ErrorCode::kUsage, "--session {}: a plain call has no names; leave --mode out",
                     arguments.session);
  }
  return {};
}

Result<ask::AskRequest> MakeAskRequest(const AskArguments& arguments,
                                       std::span<const std::string> argv,
                                       const SandboxChoice& sandbox) {
  ask::AskRequest request;
  request.mode = Pick(kModes, arguments.mode);
  request.profile = Pick(kProfiles, arguments.profile);
  request.forcing = Pick(kForcings, arguments.forcing);
  request.observe = Pick(kObserves, arguments.observe);
  const std::string_view otherwise = arguments.dialect == "python" ? "until-error" : "first";
  request.blocks =
      Pick(kBlocks, arguments.blocks.empty() ? std::string(otherwise) : arguments.blocks);
  request.cache = Pick(kCaches, arguments.cache);
  request.citations = Pick(kCitations, arguments.citations);
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
  if (arguments.seed) request.seed_from = ask::AskRequest::Seed::kGiven;
  for (const std::string& word : argv) request.argv.emplace_back(word);
  return request;
}

}  // namespace dossier::cli
