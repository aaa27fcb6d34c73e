#include "cli/texts/header_command.h"

#include "base/clock.h"
#include "base/text/parse_time.h"
#include "base/text/text.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/failure.h"
#include "cli/wiring/agents_setup.h"
#include "sources/header/header_source.h"
#include "sources/header/header_tokens.h"

namespace dossier::cli {
namespace {

using sources::CollectedHeader;
using sources::HeaderRequest;

Result<Clock::Wall> ReadNow(const std::string& text) {
  if (text.empty()) return SystemClock()->WallNow();
  const auto time = ParseTime(text);
  if (!time) return MakeError(ErrorCode::kUsage, "--now: {}", time.error().message);
  return *time;
}

// What the flags ask for; a mode that is none is told and counts as propose.
Result<HeaderRequest> MakeRequest(const HeaderArguments& arguments,
                                  std::vector<std::string>* warnings) {
  HeaderRequest request;
  if (!arguments.task.empty()) request.task_id = arguments.task;
  std::string problem;
  request.mode = sources::ReadMode(arguments.mode, &problem);
  if (!problem.empty()) warnings->push_back("--" + problem);
  if (!arguments.window.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(request.window,
                             sources::ParseHeaderTime("--window", arguments.window));
  }
  DOSSIER_ASSIGN_OR_RETURN(request.age_step,
                           sources::ParseHeaderTime("--age-step", arguments.age_step));
  if (!arguments.with.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(request.with, sources::ParseExtras("--with", arguments.with));
  }
  DOSSIER_ASSIGN_OR_RETURN(request.now, ReadNow(arguments.now));
  return request;
}

// There is no patch outside a run, so {diffstat_md} and {patch_md} say that there is none.
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

Status Run(const HeaderArguments& arguments, const GlobalFlags& flags, const CancelToken& cancel,
           std::ostream& out, std::ostream& err) {
  std::vector<std::string> warnings;
  DOSSIER_ASSIGN_OR_RETURN(const HeaderRequest request, MakeRequest(arguments, &warnings));
  DOSSIER_ASSIGN_OR_RETURN(sources::AgentsConfig agents, LoadAgents(flags, err));
  sources::HeaderSource source(".", std::move(agents), cancel);
  DOSSIER_ASSIGN_OR_RETURN(const CollectedHeader state, source.Collect(request));
  warnings.insert(warnings.end(), state.warnings.begin(), state.warnings.end());
  if (!flags.quiet) {
    for (const std::string& warning : warnings) PrintWarning(err, warning);
  }
  if (arguments.tokens) {
    out << TokensJson(state);
  } else if (arguments.json || arguments.format == "json") {
    out << ToJson(ToJsonValue(state.header)) << "\n";
  } else {
    out << (arguments.format == "markdown" ? ToMarkdown(state.header) : ToYaml(state.header));
  }
  return {};
}

}  // namespace

void AddHeaderCommand(CLI::App& header, HeaderArguments* arguments) {
  header.add_option("--task", arguments->task, "show the targets of this task")->type_name("TASK");
  header.add_option("--format", arguments->format, "yaml, json or markdown")
      ->check(CLI::IsMember({"yaml", "json", "markdown"}))
      ->capture_default_str();
  header.add_option("--window", arguments->window, "how old a hotspot may be: 90, 3m, 2h (180s)")
      ->type_name("TIME");
  header.add_option("--mode", arguments->mode, "propose or review")
      ->type_name("MODE")
      ->capture_default_str();
  header.add_option("--age-step", arguments->age_step, "the clock is rounded down to this")
      ->type_name("TIME")
      ->capture_default_str();
  header
      .add_option("--with", arguments->with,
                  "more of the repository: dirty,upstream,commits,date,environment")
      ->type_name("LIST");
  header.add_flag("--tokens", arguments->tokens, "all tokens of prompt templates, as JSON");
  header.add_flag("--json", arguments->json, "as --format json");
  header.add_option("--now", arguments->now, "the time to go by: 2026-11-21T23:36:43Z")
      ->type_name("TIME");
}

int RunHeader(const HeaderArguments& arguments, const GlobalFlags& flags, const CancelToken& cancel,
              std::ostream& out, std::ostream& err) {
  const Status done = Run(arguments, flags, cancel, out, err);
  const bool json = arguments.json || arguments.tokens || arguments.format == "json";
  return done ? 0 : Fail(done.error(), FormOf(json), out, err);
}

}  // namespace dossier::cli
