// runs resume, fork, replay: continues a run of ask from its journal.

#include "ask/run/recorded_run.h"
#include "base/files/file.h"
#include "base/files/missing_file.h"
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
  std::int64_t at = 0;  // for fork
  std::string cell;     // a file
  bool json = false, dry_run = false;
};

// Checks before creating a fork: one that cannot begin would remain as a dead run.
Status CheckFork(const AgainArguments& arguments, const AskAgainOrder& order,
                 store::Journal& journal, Context& context) {
  DOSSIER_RETURN_IF_ERROR(ask::CheckForkTurn(journal, order.how.run, arguments.at));
  return CheckAgain(order, journal, context);
}

void TellDryRun(const AgainArguments& arguments, const AskAgainOrder& order, std::ostream& out) {
  if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.runs-fork/1"},
                             {"run", order.how.run},
                             {"at", arguments.at},
                             {"dry_run", true}})
        << "\n";
    return;
  }
  out << fmt::format("{} can be forked behind turn {}; nothing was made\n", order.how.run,
                     arguments.at);
}

Result<int> Again(const AgainArguments& arguments, How how, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(auto opened, OpenRuns());
  const std::shared_ptr<store::Journal> journal = std::move(opened);
  AskAgainOrder order = arguments.order;
  order.how.how = how;
  order.form = FormOf(arguments.json);
  DOSSIER_ASSIGN_OR_RETURN(order.how.run, journal->Resolve(arguments.run));
  DOSSIER_RETURN_IF_ERROR(ask::StartToTakeUp(*journal, order.how.run));
  if (how == How::kResumed) {
    DOSSIER_RETURN_IF_ERROR(ask::CheckUnfinished(*journal, order.how.run));
  }
  if (how == How::kForked) {
    if (!arguments.cell.empty()) {
      auto code = ReadRegularFile(arguments.cell, 1 << 20);
      if (!code) return tl::unexpected(ExplainMissing(std::move(code.error()), arguments.cell));
      order.how.code = std::move(*code);
    }
    DOSSIER_RETURN_IF_ERROR(CheckFork(arguments, order, *journal, context));
    if (arguments.dry_run) {
      TellDryRun(arguments, order, context.out);
      return 0;
    }
    const ask::ForkEdits edits{
        .question = order.question, .model = order.model, .code = order.how.code};
    DOSSIER_ASSIGN_OR_RETURN(order.how.run,
                             ask::ForkRun(*journal, order.how.run, arguments.at, edits));
  }
  // A fork is continued as a fork, whichever process runs it.
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
  flags.Add("--dry-run", &to.dry_run, "say whether it could begin; make no run");
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
