// header: prints the state of the repository as the head of a prompt. The header goes to stdout,
// warnings to stderr.

#include "base/clock.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "cli/commands.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/run_setup.h"
#include "cli/wiring/value_kinds.h"
#include "sources/header/header_source.h"
#include "sources/header/header_tokens.h"

namespace dossier::cli {
namespace {

struct HeaderArguments {
  std::string task, window, now, with;  // empty: not given
  std::string format = "yaml";
  std::string mode = "propose";
  std::string age_step = "1s";
  bool tokens = false;
  bool json = false;
};

using sources::CollectedHeader;
using sources::HeaderRequest;

Result<Clock::Wall> ReadNow(const std::string& text) {
  if (text.empty()) return SystemClock()->WallNow();
  const auto time = ParseTime(text);
  if (!time) return MakeError(ErrorCode::kUsage, "--now: {}", time.error().message);
  return *time;
}

// Makes the request from the flags; an unknown mode is reported and counts as propose.
Result<HeaderRequest> MakeRequest(const HeaderArguments& arguments,
                                  std::vector<std::string>* warnings) {
  HeaderRequest request;
  if (!arguments.task.empty()) request.task_id = arguments.task;
  std::string problem;
  request.mode = sources::ReadMode(arguments.mode, &problem);
  if (!problem.empty()) warnings->push_back("--" + problem);
  if (!arguments.window.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(request.window,
                             sources::ParseHeaderTime("--max-age", arguments.window));
  }
  DOSSIER_ASSIGN_OR_RETURN(request.age_step,
                           sources::ParseHeaderTime("--age-step", arguments.age_step));
  if (!arguments.with.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(request.with, sources::ParseExtras("--with", arguments.with));
  }
  DOSSIER_ASSIGN_OR_RETURN(request.now, ReadNow(arguments.now));
  return request;
}

// There is no patch outside a run, so {diffstat_md} and {patch_md} say so.
std::string TokensJson(const CollectedHeader& state) {
  JsonObject tokens;
  for (const auto& [name, value] :
       sources::PromptTokens(state.header, {.task = state.task ? &*state.task : nullptr,
                                            .notes = state.notes.notes,
                                            .now = state.now})) {
    tokens[name] = value;
  }
  return ToJson(JsonObject{{"schema", "dossier.header-tokens/1"}, {"tokens", std::move(tokens)}}) +
         "\n";
}

Status RunHeader(const HeaderArguments& arguments, Context& context) {
  context.failure = FormOf(arguments.json || arguments.tokens || arguments.format == "json");
  std::vector<std::string> warnings;
  DOSSIER_ASSIGN_OR_RETURN(const HeaderRequest request, MakeRequest(arguments, &warnings));
  DOSSIER_ASSIGN_OR_RETURN(sources::AgentsConfig agents, LoadAgents(context.flags, context.err));
  sources::HeaderSource source(".", agents, context.cancel, DoneTasksOf(agents));
  DOSSIER_ASSIGN_OR_RETURN(const CollectedHeader state, source.Collect(request));
  warnings.insert(warnings.end(), state.warnings.begin(), state.warnings.end());
  if (!context.flags.quiet) {
    for (const std::string& warning : warnings) PrintWarning(context.err, warning);
  }
  if (arguments.tokens) {
    context.out << TokensJson(state);
  } else if (arguments.json || arguments.format == "json") {
    context.out << ToJson(ToJsonValue(state.header)) << "\n";
  } else {
    context.out << (arguments.format == "markdown" ? ToMarkdown(state.header)
                                                   : ToYaml(state.header));
  }
  return {};
}

void DeclareHeader(Flags& flags, HeaderArguments& to) {
  constexpr static ValueKind kMode{"MODE"};
  flags.Add("--task", &to.task, "show the targets of this task").Kind(kTask);
  flags.Add("--format", &to.format, "yaml, json or markdown")
      .OneOf({"yaml", "json", "markdown"})
      .ShowDefault();
  flags
      .Add("--max-age", &to.window,
           "how long a changed file counts as just changed: 90, 3m, 2h (180s)")
      .Kind(kTime)
      .Formerly("--window");
  flags.Add("--mode", &to.mode, "propose or review").Kind(kMode).ShowDefault();
  flags.Add("--age-step", &to.age_step, "the clock is rounded down to this")
      .Kind(kTime)
      .ShowDefault();
  flags.Add("--with", &to.with, "more of the repository: dirty,upstream,commits,date,environment")
      .Kind(kList);
  flags.Add("--template-tokens", &to.tokens, "all tokens of prompt templates, as JSON")
      .Formerly("--tokens");
  flags.Add("--json", &to.json, "as --format json");
  flags.Add("--now", &to.now, "the time to go by: 2026-11-21T23:36:43Z").Kind(kTime);
}

}  // namespace

Command HeaderCommand() {
  return {.name = "header",
          .summary = "the state of a git repository, as the head of a prompt",
          .examples =
              "dossier header --task fact-001\n"
              "    branch, queue, fresh notes, the task's targets, rules, next work\n"
              "dossier header --format markdown --with dirty,commits\n"
              "    for people, with more of the repository",
          .binding = Bind(DeclareHeader, RunHeader)};
}

}  // namespace dossier::cli
