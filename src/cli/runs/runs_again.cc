// runs resume, fork, replay: a run of ask taken up again from its journal.

#include "ask/run/recorded_run.h"
#include "base/files/file.h"
#include "cli/runs/ask_again.h"
#include "cli/runs/runs_commands.h"
#include "cli/wiring/shared_flags.h"
#include "cli/wiring/value_kinds.h"

namespace dossier::cli {
namespace {

using How = ask::Continuation::How;

struct AgainArguments {
  std::string run;
  AskAgainOrder order;
  std::int64_t at = 0;  // of fork
  std::string cell;     // a file
  bool json = false;
};

// Only a run of ask is one of code that can run again.
Result<store::Event> StartOf(store::Journal& journal, const std::string& run) {
  DOSSIER_ASSIGN_OR_RETURN(store::Event started, journal.EventAt(run, 1));
  const std::string kind = KindOf(started.data);
  if (kind == "agents" || kind == "research") {
    return MakeError(ErrorCode::kUsage, "`dossier {} resume {}` goes on with this run", kind,
                     kind == "agents" ? run : TextAt(Json(started.data), "folder"));
  }
  if (kind != "ask") {
    return MakeError(ErrorCode::kUsage,
                     "{} is a run of {}; only those of ask can be taken up again", run, kind);
  }
  if (Find(started.data, "imported")) {
    return MakeError(ErrorCode::kNotFound,
                     "{} was imported: its context is not here, so it cannot go on; "
                     "`dossier runs show {}` shows what was done",
                     run, run);
  }
  return started;
}

Status RefuseUnlessOpen(store::Journal& journal, const std::string& run) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string status, journal.StatusOf(run));
  if (status == "interrupted" || status == "failed") return {};
  if (status == "running") {
    return MakeError(ErrorCode::kLocked, "{} is still running, in another process", run);
  }
  return MakeError(ErrorCode::kNotFound,
                   "{} is finished ({}); `dossier runs fork {} --at TURN` goes on from one of its "
                   "turns",
                   run, status, run);
}

Result<int> Again(const AgainArguments& arguments, How how, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(auto opened, OpenRuns());
  const std::shared_ptr<store::Journal> journal = std::move(opened);
  AskAgainOrder order = arguments.order;
  order.how.how = how;
  order.form = FormOf(arguments.json);
  DOSSIER_ASSIGN_OR_RETURN(order.how.run, journal->Resolve(arguments.run));
  DOSSIER_RETURN_IF_ERROR(StartOf(*journal, order.how.run));
  if (how == How::kResumed) DOSSIER_RETURN_IF_ERROR(RefuseUnlessOpen(*journal, order.how.run));
  if (how == How::kForked) {
    if (!arguments.cell.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(order.how.code, ReadRegularFile(arguments.cell, 1 << 20));
    }
    const ask::ForkEdits edits{
        .question = order.question, .model = order.model, .code = order.how.code};
    DOSSIER_ASSIGN_OR_RETURN(order.how.run,
                             ask::ForkRun(*journal, order.how.run, arguments.at, edits));
  }
  // A fork goes on as one, whichever process is at it.
  DOSSIER_ASSIGN_OR_RETURN(const ask::ForkEdits edits, ask::EditsOf(*journal, order.how.run));
  order.model = edits.model;
  order.how.code = edits.code;
  order.forked_from = edits.from;
  return AskAgain(order, journal, context);
}

template <How kHow>
Result<int> RunAgain(const AgainArguments& arguments, Context& context) {
  return Again(arguments, kHow, context);
}

void DeclareRun(Flags& flags, AgainArguments& to) {
  flags.Add("run", &to.run, "id, the start of one, or last").Required().Kind(kRun);
  flags.Add("--json", &to.json, "one object");
}

void DeclareResume(Flags& flags, AgainArguments& to) {
  DeclareRun(flags, to);
  Flags limits = flags.In("Limits");
  limits.Add("--max-iterations", &to.order.max_iterations, "turns of the model").Between(1, 10000);
  limits.Add("--max-calls", &to.order.max_calls, "requests to models, those before too").Positive();
  limits.Add("--max-tokens", &to.order.max_tokens, "tokens in and out, those before too")
      .Positive();
  limits.Add("--max-cost", &to.order.max_cost, "US dollars, those before too").Positive();
  limits.Add("--max-time", &to.order.max_time, "time of the whole run, such as 90s or 10m")
      .Kind(kTime);
}

void DeclareFork(Flags& flags, AgainArguments& to) {
  DeclareResume(flags, to);
  flags.Add("--at", &to.at, "the last turn that stays; 0: none").Required().NotNegative();
  flags.Add("--question", &to.order.question, "ask this from there on");
  flags.Add("--model", &to.order.model, "go on with this model");
  flags.Add("--cell", &to.cell, "run the code in this file as the next turn").Kind(kPath);
}

}  // namespace

std::vector<Command> AgainCommands() {
  return {{.name = "resume",
           .summary = "go on with an interrupted run of ask; nothing is asked twice",
           .binding = Bind(DeclareResume, RunAgain<How::kResumed>)},
          {.name = "fork",
           .summary = "a new run that shares the first turns of another",
           .binding = Bind(DeclareFork, RunAgain<How::kForked>)},
          {.name = "replay",
           .summary = "run the code of a run again, without a model, and compare",
           .binding = Bind(DeclareRun, RunAgain<How::kCompared>)}};
}

}  // namespace dossier::cli
