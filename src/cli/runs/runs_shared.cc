// runs put, and list, show and cancel with --store: runs in a store that several machines share.

#include "cli/runs/runs_shared.h"

#include <cstdlib>
#include <optional>

#include "base/files/file.h"
#include "base/text/text.h"
#include "cli/runs/ask_view.h"
#include "cli/runs/runs_commands.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/shared_flags.h"
#include "cli/wiring/value_kinds.h"
#include "server/queue/queued_ask.h"
#include "store/postgres/run_queue.h"

namespace dossier::cli {
namespace {

constexpr Millis kLookAgain{5'000};  // notifications may be lost
constexpr std::size_t kLongestReason = 1'000;

struct PutArguments {
  std::string store, owner, mode = "auto", model, max_time;
  std::vector<std::string> words, contexts;
  int priority = 0;
  std::optional<int> max_depth;
  std::optional<std::int64_t> max_calls;
  std::optional<double> max_cost, temperature;
  std::optional<std::uint64_t> seed;
  bool wait = false, json = false;
};

struct CancelArguments {
  std::string store, run;
};

Result<std::unique_ptr<store::RunQueue>> OpenQueue(const std::string& store) {
  DOSSIER_RETURN_IF_ERROR(CheckStoreFlag(store));
  return store::RunQueue::Open(store);
}

// Exits like `dossier ask`, depending on the result.
int ExitOfShared(const Json& result) {
  const std::string status = TextAt(result, "status");
  if (status == "final") return 0;
  if (status == "extracted") return ExitCode(ErrorCode::kLimit);
  if (status == "partial") return ExitCode(ErrorCode::kPartial);
  if (status == "interrupted") return ExitCode(ErrorCode::kCancelled);
  const Json* error = Find(result, "error");
  const std::string code = error ? TextAt(*error, "code") : "";
  for (int i = 0; i <= static_cast<int>(ErrorCode::kFailed); ++i) {
    if (ErrorName(static_cast<ErrorCode>(i)) == code) return ExitCode(static_cast<ErrorCode>(i));
  }
  return 1;
}

Result<store::QueuedRun> WaitForEnd(store::RunQueue& queue, const std::string& run,
                                    const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(queue.WaitForEvents(Millis(0), cancel));  // notices from here on count
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(store::QueuedRun found, queue.Get(run));
    if (store::HasEnded(found)) return found;
    DOSSIER_RETURN_IF_ERROR(queue.WaitForEvents(kLookAgain, cancel));
    if (cancel.cancelled()) {
      return MakeError(ErrorCode::kCancelled,
                       "{} stays in the queue; `dossier runs show {} --store URL` shows it", run,
                       run);
    }
  }
}

int TellResult(const store::QueuedRun& run, const PutArguments& given, Context& context) {
  const Json result = run.result.value_or(JsonObject{{"status", run.state}});
  if (given.json) {
    context.out << ToJson(result) << "\n" << std::flush;
    return ExitOfShared(result);
  }
  const std::string answer = TextAt(result, "answer");
  if (!answer.empty()) {
    context.out << OutputText(answer + (answer.ends_with('\n') ? "" : "\n"), Terminal::Detect().out)
                << std::flush;
  }
  if (const Json* error = Find(result, "error")) {
    context.err << "dossier: " << Safe(TextAt(*error, "message")) << "\n";
  } else if (answer.empty()) {
    context.err << fmt::format("dossier: {} ended without an answer ({})\n", run.id, run.state);
  }
  return ExitOfShared(result);
}

Result<server::AskWish> WishOf(const PutArguments& given, const std::string& question) {
  server::AskWish wish{.question = question,
                       .max_usd = given.max_cost,
                       .max_calls = given.max_calls,
                       .model = given.model,
                       .temperature = given.temperature,
                       .seed = given.seed,
                       .max_depth = given.max_depth};
  for (const ask::Mode mode : {ask::Mode::kAuto, ask::Mode::kDirect, ask::Mode::kRecursive}) {
    if (given.mode == ask::ModeName(mode)) wish.mode = mode;
  }
  if (!given.max_time.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(wish.max_time, ReadTimeFlag("--max-time", given.max_time));
  }
  return wish;
}

Result<int> RunPut(const PutArguments& given, Context& context) {
  DOSSIER_RETURN_IF_ERROR(CheckStoreFlag(given.store));
  DOSSIER_ASSIGN_OR_RETURN(const AskWords words, ReadAskWords(given.words, Exists, "runs put"));
  DOSSIER_ASSIGN_OR_RETURN(const server::AskWish wish, WishOf(given, words.question));
  std::vector<ask::ContextSource> sources;
  for (const auto* paths : {&given.contexts, &words.paths}) {
    for (const std::string& path : *paths) sources.push_back({.path = path});
  }
  if (sources.empty()) {
    return MakeError(ErrorCode::kUsage, "runs put: name the files that the question is about");
  }
  DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make());
  DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(folder.path()));
  DOSSIER_ASSIGN_OR_RETURN(const auto loaded,
                           ask::LoadContext(sources, {.content = content.get()}, context.cancel));
  for (const std::string& note : loaded->notes()) context.err << "dossier: " << Safe(note) << "\n";
  DOSSIER_ASSIGN_OR_RETURN(const auto queue, OpenQueue(given.store));
  const char* user = getenv("USER");
  DOSSIER_ASSIGN_OR_RETURN(const std::string run,
                           server::QueueAsk(*queue, {.wish = wish,
                                                     .context = loaded.get(),
                                                     .owner = !given.owner.empty() ? given.owner
                                                              : user               ? user
                                                                                   : "",
                                                     .priority = given.priority}));
  if (!given.wait) {
    if (given.json) {
      context.out << ToJson(JsonObject{
                         {"schema", "dossier.runs-put/1"}, {"run", run}, {"state", "queued"}})
                  << "\n";
    } else {
      context.out << run << "\n";
    }
    return 0;
  }
  context.err << fmt::format("dossier: {} is queued\n", run) << std::flush;
  DOSSIER_ASSIGN_OR_RETURN(const store::QueuedRun ended, WaitForEnd(*queue, run, context.cancel));
  return TellResult(ended, given, context);
}

Status RunCancel(const CancelArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const auto queue, OpenQueue(given.store));
  DOSSIER_ASSIGN_OR_RETURN(const std::string run, queue->Resolve(given.run));
  DOSSIER_ASSIGN_OR_RETURN(const bool cancelled, queue->Cancel(run));
  if (!cancelled) return MakeError(ErrorCode::kNotFound, "{} has ended already", run);
  context.out << run << " is cancelled\n";
  return {};
}

void DeclarePut(Flags& flags, PutArguments& to) {
  flags.Add("question-or-path", &to.words, "the question, files and folders, in any order")
      .Kind(kPath);
  AddStoreFlag(flags, &to.store).Required();
  flags.Add("-c,--context", &to.contexts, "file, folder, or - for stdin").Kind(kPath);
  flags.Add("--owner", &to.owner, "whose run it is ($USER)").Kind(kName);
  flags.Add("--priority", &to.priority, "higher ones are taken first").ShowDefault();
  flags.Add("-m,--model", &to.model, "a model of the workers' configuration (theirs)").Kind(kModel);
  flags.Add("--mode", &to.mode, "as of dossier ask")
      .OneOf({"auto", "direct", "recursive"})
      .ShowDefault();
  flags.Add("--temperature", &to.temperature, "how freely the model chooses its words")
      .NotNegative();
  flags.Add("--seed", &to.seed, "makes all that is drawn at random the same each time");
  flags.Add("--wait", &to.wait, "wait for the answer, and print it");
  flags.Add("--json", &to.json, "one object");
  Flags limits = flags.In("Limits");
  limits.Add("--max-depth", &to.max_depth, "as of dossier ask").Between(0, 16);
  limits.Add("--max-calls", &to.max_calls, "requests to models; workers have a limit, too")
      .Positive();
  limits.Add("--max-cost", &to.max_cost, "US dollars; workers have a limit, too").Positive();
  limits.Add("--max-time", &to.max_time, "time of the whole run, such as 90s or 10m").Kind(kTime);
}

void DeclareCancel(Flags& flags, CancelArguments& to) {
  flags.Add("run", &to.run, "id, the start of one, or last").Required().Kind(kName);
  AddStoreFlag(flags, &to.store).Required();
}

}  // namespace

std::string SharedState::ToText() const {
  std::string text = "State: " + state;
  if (!worker.empty())
    text += fmt::format(" ({} {})", state == "running" ? "on" : "by", Safe(worker));
  if (!owner.empty()) text += "; owner " + Safe(owner);
  if (attempts > 0)
    text += fmt::format("; {}", Counted(static_cast<std::uint64_t>(attempts), "lost lease"));
  text += "\n";
  if (!reason.empty()) text += fmt::format("Reason: {}\n", OnOneLine(reason, kLongestReason));
  return text;
}

Status ListShared(const std::string& store, const store::ListWish& wish, FailureForm form,
                  Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const auto queue, OpenQueue(store));
  DOSSIER_ASSIGN_OR_RETURN(const store::QueuedRuns runs, queue->List(wish));
  JsonArray list;
  for (const store::QueuedRun& run : runs.runs) {
    if (form == FailureForm::kJson) {
      list.push_back(store::QueuedRunJson(run));
      continue;
    }
    const std::string question = TextAt(Json(run.request), "question");
    context.out << fmt::format("{:<26}  {:<10}  {:<9}  {}\n", run.id, Safe(run.owner), run.state,
                               Safe(question.substr(0, question.find('\n'))));
  }
  if (form == FailureForm::kJson) {
    context.out << ToJson(JsonObject{{"schema", "dossier.shared-runs/1"},
                                     {"runs", std::move(list)},
                                     {"more", runs.left_out > 0},
                                     {"left_out", runs.left_out}})
                << "\n";
  } else if (runs.left_out > 0) {
    context.err << fmt::format("dossier: {} not shown; --limit {} shows all\n",
                               Counted(static_cast<std::uint64_t>(runs.left_out), "older run") +
                                   (runs.left_out == 1 ? " is" : " are"),
                               static_cast<std::int64_t>(wish.limit) + runs.left_out);
  }
  return {};
}

Result<ShownRun> FetchRun(const std::string& store, const std::string& prefix) {
  DOSSIER_ASSIGN_OR_RETURN(const auto queue, OpenQueue(store));
  DOSSIER_ASSIGN_OR_RETURN(std::string run, queue->Resolve(prefix));
  // Read before the events, so that for a finished run all events are there.
  DOSSIER_ASSIGN_OR_RETURN(const store::QueuedRun found, queue->Get(run));
  DOSSIER_ASSIGN_OR_RETURN(server::FetchedRun fetched, server::FetchRun(*queue, run));
  return ShownRun{.fetched = std::move(fetched),
                  .run = std::move(run),
                  .shared = {.state = found.state,
                             .owner = found.owner,
                             .worker = found.worker,
                             .reason = store::ReasonOf(found),
                             .attempts = found.attempts}};
}

std::vector<Command> SharedCommands() {
  return {{.name = "put",
           .summary = "queue a question in a store that machines share; dossier worker answers it",
           .binding = Bind(DeclarePut, RunPut)},
          {.name = "cancel",
           .summary = "end a run of a store that machines share",
           .binding = Bind(DeclareCancel, RunCancel)}};
}

}  // namespace dossier::cli
