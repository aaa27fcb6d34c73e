#include "cli/chat/chat_output.h"

#include "base/json/json.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "chat/turn/chat.h"
#include "cli/chat/chat_dialogs.h"
#include "cli/conversations/conversations_view.h"
#include "cli/markdown/code_block.h"

namespace dossier::cli {
namespace {

using chat::TurnOutcome;

constexpr int kSchemaVersion = 1;

// Returns a hint for what a person can do about an error.
std::string_view HintFor(std::string_view error) {
  constexpr std::pair<std::string_view, std::string_view> kHints[] = {
      {"context_command_failed", "on_failure: warn lets the turn go on without it"},
      {"auth", "dossier doctor shows which keys are found"},
      {"too_long", "--compact, or a model with a larger window"},
      {"locked", "another process is at work on this conversation"},
      {"schema", "--repair N gives the model more rounds"},
      {"network", "dossier doctor checks the connection"},
  };
  for (const auto& [name, hint] : kHints) {
    if (name == error) return hint;
  }
  return "";
}

JsonObject ErrorJson(std::string_view name, int exit, std::string_view message) {
  return {{"code", name}, {"exit", exit}, {"message", Redact(message)}, {"hint", HintFor(name)}};
}

Json TextOrNull(std::string_view text) { return text.empty() ? Json() : Json(text); }

JsonObject TimesJson(const chat::TurnTimes& times) {
  return {{"context", times.context.count()},
          {"first_token", times.first_token ? Json(times.first_token->count()) : Json()},
          {"total", times.total.count()}};
}

bool HasAnswer(const TurnOutcome& outcome) { return !outcome.text.empty(); }

}  // namespace

std::string ToolLine(const JsonObject& record, std::string_view why) {
  const Json json(record);
  const Json* argv = Find(json, "argv");
  return fmt::format("{}: {}{}{}", FindString(json, "decision").value_or(""),
                     argv ? ShownCommand(StringsOf(argv)) : "", why.empty() ? "" : "  # ",
                     ShownReason(why));
}

Json OutcomeJson(const TurnOutcome& outcome) {
  JsonObject out{{"schema", kSchemaVersion}};
  if (outcome.error && !HasAnswer(outcome)) {
    out["error"] = ErrorJson(ErrorName(outcome.error->code), outcome.exit, outcome.error->message);
    if (!outcome.violations.empty()) {
      out["error"].as_object()["violations"] = TextArray(outcome.violations);
    }
    out["warnings"] = TextArray(outcome.warnings);
    return out;
  }
  out["text"] = outcome.text;
  out["data"] = outcome.data.value_or(Json());
  out["conversation"] = TextOrNull(outcome.conversation);
  out["turn"] = outcome.turn;
  out["model"] = outcome.model;
  out["finish_reason"] = outcome.finish;
  out["usage"] = chat::UsageJson(outcome.usage);
  out["context"] = outcome.context;
  out["compaction"] = outcome.compaction;
  if (!outcome.tools.empty()) out["tools"] = outcome.tools;
  if (!outcome.memory.is_null()) out["memory"] = outcome.memory;
  out["timings_ms"] = TimesJson(outcome.times);
  out["warnings"] = TextArray(outcome.warnings);
  if (outcome.error) {
    out["error"] = ErrorJson(ErrorName(outcome.error->code), outcome.exit, outcome.error->message);
  }
  out["exit"] = outcome.exit;
  return out;
}

int PrintFailure(const Error& error, ChatOutput::Form form,
                 const std::vector<std::string>& warnings, std::ostream& out, std::ostream& err) {
  const int exit = ExitCode(error.code);
  const JsonObject json = ErrorJson(ErrorName(error.code), exit, error.message);
  if (form == ChatOutput::Form::kJson) {
    out << ToJson(JsonObject{
               {"schema", kSchemaVersion}, {"error", json}, {"warnings", TextArray(warnings)}})
        << "\n";
  } else if (form == ChatOutput::Form::kJsonLines) {
    for (const std::string& warning : warnings) {
      out << ToJson(JsonObject{{"event", "warning"}, {"message", Redact(warning)}}) << "\n";
    }
    out << ToJson(JsonObject{{"event", "error"}, {"error", json}}) << "\n"
        << ToJson(JsonObject{{"event", "end"}, {"exit", exit}}) << "\n";
  }
  out << std::flush;
  return PrintError(err, error);
}

void ChatOutput::Event(std::string_view name, JsonObject data) {
  if (options_.form != Form::kJsonLines || closed()) return;
  JsonObject event{{"event", name}};
  for (auto& [key, value] : data) event[key] = std::move(value);
  out_ << ToJson(event) << "\n" << std::flush;
}

void ChatOutput::Wait(std::string_view for_what) {
  if (options_.form != Form::kText || options_.quiet == Quiet::kYes) return;
  waited_for_ = for_what;
  WaitOn();
}

void ChatOutput::WaitOn() {
  if (!printed_ && !waited_for_.empty()) waiting_.Start(waited_for_);
}

void ChatOutput::Say(std::string_view line) {
  if (options_.quiet == Quiet::kYes || closed()) return;
  StopWaiting();
  EndShownText();
  err_ << "dossier: " << SafeMessage(line) << "\n" << std::flush;
  WaitOn();
}

void ChatOutput::OnStart(std::string_view conversation, std::int64_t turn, std::string_view model) {
  Event("start", {{"schema", kSchemaVersion},
                  {"conversation", TextOrNull(conversation)},
                  {"turn", turn},
                  {"model", model}});
}

void ChatOutput::OnContext(const Json& blocks) { Event("context", {{"context", blocks}}); }

void ChatOutput::OnDelta(std::string_view text) {
  if (options_.form == Form::kJsonLines) Event("delta", {{"text", text}});
  const bool live = options_.form == Form::kText && options_.live == Live::kYes &&
                    options_.shown == Shown::kReply;
  if (live) Print(text);
  if (closed() && options_.kept == Options::Kept::kStateless) stop_.Cancel("stdout was closed");
}

void ChatOutput::Print(std::string_view text) {
  StopWaiting();
  if (text.empty() || closed()) return;
  view_->Write(text);
  printed_ = text_open_ = true;
}

void ChatOutput::EndText() {
  if (std::exchange(text_open_, false)) view_->End();
}

// Text between two parts of a reply gets a line of its own.
void ChatOutput::EndShownText() {
  if (options_.terminal.out == Terminal::Kind::kTerminal) EndText();
}

void ChatOutput::OnRetry(std::string_view sentence) {
  Event("warning", {{"message", sentence}});
  Say(sentence);
}

void ChatOutput::OnTool(const JsonObject& record, std::string_view why) {
  JsonObject event = record;
  event["why"] = why;
  Event("tool", std::move(event));
  Say(ToolLine(record, why));
}

void ChatOutput::OnCompaction(std::string_view line) {
  Event("compaction", {{"line", line}});
  Say(line);
}

void ChatOutput::OnWarning(std::string_view sentence) {
  Event("warning", {{"message", Redact(sentence)}});
  if (options_.quiet == Quiet::kYes || closed()) return;
  StopWaiting();
  EndShownText();
  PrintWarning(err_, sentence);
  WaitOn();
}

void ChatOutput::ReportEarlier(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) Event("warning", {{"message", Redact(warning)}});
}

int ChatOutput::Finish(const TurnOutcome& outcome) {
  StopWaiting();
  if (outcome.plan && !outcome.error) {
    PrintPlan(outcome);
  } else if (options_.form == Form::kJson) {
    out_ << ToJson(OutcomeJson(outcome)) << "\n";
  } else if (options_.form == Form::kJsonLines) {
    FinishEvents(outcome);
  } else {
    FinishText(outcome);
  }
  out_ << std::flush;
  if (closed()) return outcome.exit;
  const bool usage = options_.usage == Options::Usage::kYes && outcome.usage.input > 0;
  if (usage && options_.form == Form::kText) {
    err_ << chat::UsageLine(outcome.usage, outcome.saving) << "\n" << std::flush;
  }
  if (outcome.error) {
    PrintError(err_, *outcome.error);
    for (const std::string& violation : outcome.violations) {
      err_ << "  " << SafeMessage(violation) << "\n";
    }
  }
  return outcome.exit;
}

void ChatOutput::FinishText(const TurnOutcome& outcome) {
  if (options_.shown == Shown::kRaw && !outcome.raw.empty()) {
    Print(outcome.raw);
  } else if (options_.shown == Shown::kCode && !outcome.text.empty()) {
    PrintCode(outcome.text);
  } else if (!printed_) {
    Print(outcome.text);
  }
  EndText();
}

// If there is no code block, prints the whole reply and says so.
void ChatOutput::PrintCode(const std::string& text) {
  const std::optional<std::string> code = LastCodeBlock(text);
  if (!code) PrintWarning(err_, "the reply holds no code block; all of it is printed");
  out_ << OutputText(code.value_or(text), options_.terminal.out);
}

void ChatOutput::FinishEvents(const TurnOutcome& outcome) {
  if (outcome.data) Event("delta", {{"text", outcome.text}});
  if (outcome.usage.input > 0) Event("usage", chat::UsageJson(outcome.usage));
  if (outcome.error) {
    Event("error", {{"error", ErrorJson(ErrorName(outcome.error->code), outcome.exit,
                                        outcome.error->message)}});
  }
  Event("end", {{"exit", outcome.exit},
                {"finish_reason", outcome.finish},
                {"timings_ms", TimesJson(outcome.times)}});
}

// Handles --dry-run and --explain-context.
void ChatOutput::PrintPlan(const TurnOutcome& outcome) {
  const chat::TurnPlan& plan = *outcome.plan;
  const std::string wire = Redact(outcome.wire);
  if (options_.form != Form::kText) {
    auto request = ParseJson(wire, /*max_depth=*/200);
    JsonObject json{{"schema", kSchemaVersion},
                    {"request", request ? std::move(*request) : Json(wire)},
                    {"tokens", plan.request.tokens},
                    {"cost_nano_usd",
                     outcome.usage.cost_nano_usd ? Json(*outcome.usage.cost_nano_usd) : Json()},
                    {"context", outcome.context},
                    {"sections", ContextSections(plan.request.report)},
                    {"warnings", TextArray(outcome.warnings)},
                    {"exit", 0}};
    out_ << ToJson(json) << "\n";
    return;
  }
  const bool table = options_.shown != Shown::kRequest;
  if (options_.shown != Shown::kContextTable) out_ << wire << "\n";
  if (table)
    (options_.shown == Shown::kContextTable ? out_ : err_) << ContextTable(plan, outcome.blocks);
  if (options_.quiet == Quiet::kYes) return;
  std::string line =
      fmt::format("{} tokens", GroupDigits(static_cast<std::uint64_t>(plan.request.tokens)));
  if (outcome.usage.cost_nano_usd) {
    line += fmt::format(", ${:.6f} for the input",
                        static_cast<double>(*outcome.usage.cost_nano_usd) / 1e9);
  }
  Say(line + "; nothing was sent");
}

}  // namespace dossier::cli
