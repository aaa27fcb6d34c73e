// show, apply, pressure, consolidate, view, help-text: what a prompt contains, and how a reply
// changes it.

#include <iterator>
#include <optional>

#include "app/open_model.h"
#include "base/files/output_file.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "cli/memory/memory_call.h"
#include "cli/memory/memory_view.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/memory_flags.h"
#include "cli/wiring/shared_flags.h"
#include "memory/blocks/apply.h"
#include "memory/blocks/reply.h"
#include "memory/consolidate/consolidate.h"
#include "memory/consolidate/pressure.h"
#include "memory/records/operations.h"
#include "memory/render/render.h"
#include "memory/render/viewer.h"
#include "memory/transfer/call_log.h"

namespace dossier::cli {
namespace {

using memory::PressureLevel;

void DeclareShow(Flags& flags, MemoryArguments& to) {
  flags.Add("--query", &to.query, "what the prompt is about; without it no archival records");
  flags.Add("--label", &to.hint, "a label for the report").Formerly("--hint");
  flags.Add("--max-chars", &to.budget, "characters at most (memory_budget_chars)")
      .NotNegative()
      .Formerly("--budget");
  flags.Add("--tokens", &to.tokens, "tokens at most (o200k)").NotNegative();
  flags.Add("--no-limit", &to.no_limit, "all of it").Excludes("--max-chars").Excludes("--tokens");
  flags
      .Add("--explain", &to.report, "what is shown and what was left out, on stderr or in the JSON")
      .Formerly("--report");
  AddStoreFlags(flags, StoreFlags::kView, &to);
}

Result<memory::RenderBudget> BudgetOf(const MemoryCall& call) {
  const MemoryArguments& arguments = call.arguments();
  memory::RenderBudget budget{.chars = arguments.budget, .tokens = arguments.tokens};
  if (arguments.no_limit) return budget;
  if (!budget.chars && !budget.tokens) budget.chars = call.limits().memory_budget_chars;
  if (budget.tokens) {
    DOSSIER_ASSIGN_OR_RETURN(const tokens::Opened opened, app::OpenCounter({}));
    budget.count_tokens = [counter = opened.counter](std::string_view text) {
      return counter->CountText(text).tokens;
    };
  }
  return budget;
}

Result<int> RunShow(const MemoryCall& call) {
  const MemoryArguments& arguments = call.arguments();
  memory::RenderRequest request{
      .hint = arguments.hint, .query = arguments.query.value_or(""), .stopwatch = &*call.clock()};
  DOSSIER_ASSIGN_OR_RETURN(request.budget, BudgetOf(call));
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, call.Look(*store));
  DOSSIER_ASSIGN_OR_RETURN(const memory::Rendered rendered,
                           memory::Render(view, call.limits(), request));
  JsonObject accounting = AccountingJson(rendered.accounting);
  call.Log("show", "store", {{"query", request.query}, {"seq", rendered.accounting.seq}});
  if (arguments.json) {
    JsonObject members{{"branch", view.branch()}, {"seq", view.at()}, {"text", rendered.text}};
    if (arguments.report) members["report"] = std::move(accounting);
    call.PrintJson(std::move(members));
    return 0;
  }
  if (!rendered.text.empty()) {
    call.out() << OutputText(rendered.text, Terminal::Detect().out) << std::flush;
  }
  if (arguments.report) call.err() << ToPrettyJson(Json(std::move(accounting))) << "\n";
  return 0;
}

void DeclarePressure(Flags& flags, MemoryArguments& to) {
  AddStoreFlags(flags, StoreFlags::kView, &to);
}

std::string PressureText(const memory::Pressure& pressure) {
  const memory::MemoryAmounts& use = pressure.use;
  std::string text = fmt::format(
      "pressure {} ({:.3f})\ncore {}/{} characters in {} facts\nrecall {} of {} events\n"
      "archival {} records, {} characters\n",
      memory::PressureName(pressure.level), pressure.overall, use.core_chars, pressure.core_max,
      use.core_entries, use.own_events, pressure.recall_max, use.archival, use.archival_chars);
  if (!pressure.recommendations.empty()) {
    text += fmt::format("recommended: {}\n", Join(pressure.recommendations, ", "));
  }
  return text;
}

Result<int> RunPressure(const MemoryCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, call.Look(*store));
  DOSSIER_ASSIGN_OR_RETURN(const memory::Pressure pressure,
                           memory::MeasurePressure(view, call.limits()));
  if (call.arguments().json) {
    call.PrintJson(PressureJson(pressure));
  } else {
    call.out() << PressureText(pressure);
  }
  return 0;
}

void DeclareConsolidate(Flags& flags, MemoryArguments& to) {
  flags.Add("--level", &to.level, "do what this pressure asks for (the branch's own)")
      .OneOf({"low", "medium", "high", "critical"});
  AddStoreFlags(flags, StoreFlags::kBranch, &to);
  AddModelFlags(flags, &to.model);
}

Result<PressureLevel> LevelOf(const MemoryCall& call, const memory::Store& store) {
  if (const auto named = memory::FindPressure(call.arguments().level)) return *named;
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, call.Look(store));
  DOSSIER_ASSIGN_OR_RETURN(const memory::Pressure pressure,
                           memory::MeasurePressure(view, call.limits()));
  return memory::TidyLevel(pressure, call.limits());
}

Result<memory::Summarizer> SummarizerOf(const MemoryCall& call) {
  const auto say = [&](std::string_view line) { call.err() << "dossier: " << line << "\n"; };
  return OpenSummarizer(call.arguments().model, call.settings(), call.config(), call.global(), say,
                        call.cancel());
}

Result<int> RunConsolidate(const MemoryCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  DOSSIER_ASSIGN_OR_RETURN(const PressureLevel level, LevelOf(call, *store));
  DOSSIER_ASSIGN_OR_RETURN(const memory::Summarizer summarizer, SummarizerOf(call));
  DOSSIER_ASSIGN_OR_RETURN(
      const memory::ConsolidateOutcome outcome,
      memory::Consolidate(*store, call.arguments().branch, {.level = level}, summarizer));
  const memory::Consolidation& done = outcome.done;
  call.Log("consolidate", "store", memory::ConsolidationJson(done));
  if (call.arguments().json) {
    JsonObject members = memory::ConsolidationJson(done);
    members["warnings"] = memory::NoticesJson(outcome.warnings);
    call.PrintJson(std::move(members));
    return 0;
  }
  call.Warn(outcome.warnings);
  for (const std::string& action : done.actions_taken) call.out() << action << "\n";
  call.out() << fmt::format("freed {} characters; pressure is now {}\n", done.freed_chars,
                            memory::PressureName(done.new_level));
  return 0;
}

void DeclareApply(Flags& flags, MemoryArguments& to) {
  flags.Add("file", &to.file, "a model's reply, - for stdin").Kind(kPath).Required();
  flags.Add("--payload", &to.payload_file, "write the reply without its block here").Kind(kPath);
  flags.Add("--node", &to.node, "id of the node of a search tree it is about");
  flags.Add("--phase", &to.phase, "of the run");
  AddStoreFlags(flags, StoreFlags::kBranch, &to);
  AddModelFlags(flags, &to.model);
}

Status WritePayload(const MemoryCall& call, const memory::ParsedReply& reply) {
  if (call.arguments().payload_file.empty()) return {};
  return WriteOutput(call.arguments().payload_file, {reply.payload});
}

// With memory off no store is opened; the block is removed and reported.
Result<int> RunWithoutMemory(const MemoryCall& call, std::string_view text) {
  const memory::ParsedReply reply = memory::RemoveBlocks(text);
  DOSSIER_RETURN_IF_ERROR(WritePayload(call, reply));
  call.Warn(reply.warnings);
  call.PrintJson({{"applied", false}, {"warnings", memory::NoticesJson(reply.warnings)}});
  return 0;
}

// Reports what was not applied as written; the rest of the block was applied.
void TellErrors(const MemoryCall& call, const memory::UpdateResult& result) {
  for (const Json& entry : result.operations_log) {
    if (FindString(entry, "status") != "error") continue;
    PrintError(call.err(),
               {ErrorCode::kPartial, fmt::format("{}: {}", FindString(entry, "type").value_or(""),
                                                 FindString(entry, "error").value_or("refused"))});
  }
}

Result<int> RunApply(const MemoryCall& call) {
  const MemoryArguments& arguments = call.arguments();
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, call.ReadInput(arguments.file));
  if (!call.settings().enabled.value_or(true)) return RunWithoutMemory(call, text);
  const memory::ParsedReply reply = memory::ParseReply(text);
  DOSSIER_RETURN_IF_ERROR(WritePayload(call, reply));
  call.Warn(reply.warnings);
  if (reply.fault) return MakeError(ErrorCode::kDamaged, "{}", reply.fault->text);
  if (!reply.block) {
    return MakeError(ErrorCode::kNotFound, "the reply holds no <memory_update> block");
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  constexpr std::size_t kIdDigits = 16;
  memory::ApplyContext context{.block_id = Sha256Hex(text).substr(0, kIdDigits),
                               .node_id = arguments.node,
                               .phase = arguments.phase,
                               .clock = call.clock()};
  DOSSIER_ASSIGN_OR_RETURN(context.summarizer, SummarizerOf(call));
  DOSSIER_ASSIGN_OR_RETURN(const memory::UpdateResult result,
                           memory::Apply(*store, arguments.branch, *reply.block, context));
  call.LogOperations(result);
  call.WarnOfSecrets(result.redacted);
  call.Warn(result.warnings);
  TellErrors(call, result);
  call.PrintJson(memory::BlockResultJson(result));
  return result.errors > 0 ? ExitCode(ErrorCode::kPartial) : 0;
}

void DeclareView(Flags& flags, MemoryArguments& to) {
  flags.Add("-o,--out", &to.out_file, "the file to write").Kind(kPath).Required();
  AddStoreFlags(flags, StoreFlags::kNone, &to);
}

Result<int> RunView(const MemoryCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  DOSSIER_ASSIGN_OR_RETURN(auto reads, memory::ReadsByPhase(memory::CallLogPath(store->path())));
  DOSSIER_ASSIGN_OR_RETURN(const memory::ViewerData data,
                           memory::GatherViewer(*store, {.reads = std::move(reads)}));
  DOSSIER_RETURN_IF_ERROR(
      WriteOutput(call.arguments().out_file, {memory::ViewerPage(data)}, {.mode = 0600}));
  if (call.arguments().json) {
    call.PrintJson({{"path", call.arguments().out_file}, {"seq", data.newest}});
  } else {
    call.out() << call.arguments().out_file << "\n";
  }
  return 0;
}

void DeclareHelpText(Flags& flags, MemoryArguments& to) {
  flags.Add("--short", &to.short_form, "names and values alone");
  flags.Add("--json", &to.json, "one object");
}

Result<int> RunHelpText(const MemoryCall& call) {
  const std::string text = memory::HelpText(call.arguments().short_form ? memory::HelpForm::kShort
                                                                        : memory::HelpForm::kLong);
  if (!call.arguments().json) {
    call.out() << text;
    return 0;
  }
  JsonArray operations;
  for (const memory::MemoryOperation& operation : memory::kOperations) {
    JsonArray synonyms;
    for (const std::string_view name : operation.synonyms) {
      if (!name.empty()) synonyms.emplace_back(name);
    }
    operations.push_back(
        JsonObject{{"name", operation.name},
                   {"synonyms", std::move(synonyms)},
                   {"access", operation.access == memory::Access::kRead ? "read" : "write"},
                   {"value", operation.value},
                   {"result", operation.result},
                   {"help", operation.help}});
  }
  call.PrintJson({{"text", text}, {"operations", std::move(operations)}});
  return 0;
}

}  // namespace

std::vector<Command> MemoryPromptCommands() {
  return {
      {.name = "show",
       .summary = "memory as a prompt holds it",
       .examples = "dossier memory show --query \"why did the linker fail\" --max-chars 4000\n"
                   "    memory as a prompt would hold it",
       .binding = BindMemory(DeclareShow, RunShow)},
      {.name = "apply",
       .summary = "take over the <memory_update> block of a model's reply",
       .examples = "dossier memory apply reply.txt --payload answer.txt\n"
                   "    the <memory_update> block of a model's reply; the rest goes to answer.txt",
       .binding = BindMemory(DeclareApply, RunApply)},
      {.name = "pressure",
       .summary = "how full memory is, and what would help",
       .binding = BindMemory(DeclarePressure, RunPressure)},
      {.name = "consolidate",
       .summary = "makes room: unimportant facts and old events move to archival memory",
       .binding = BindMemory(DeclareConsolidate, RunConsolidate)},
      {.name = "view",
       .summary = "one page for a browser: branches, records, a slider over writes",
       .binding = BindMemory(DeclareView, RunView)},
      {.name = "help-text",
       .summary = "what a model is told about the operations",
       .binding = BindMemory(DeclareHelpText, RunHelpText)},
  };
}

}  // namespace dossier::cli
