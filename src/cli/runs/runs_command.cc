// runs: what was done before, step by step, whatever command did it; and removing old runs.

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/files/user_folders.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/commands.h"
#include "cli/runs/agents_story.h"
#include "cli/runs/closing_line.h"
#include "cli/runs/event_lines.h"
#include "cli/terminal/counted.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/quantity_flags.h"
#include "cli/wiring/value_kinds.h"
#include "research/run/run_history.h"
#include "research/run/run_status.h"
#include "research/tree/run_log.h"
#include "store/journal.h"
#include "store/prune.h"

namespace dossier::cli {
namespace {

struct RunsArguments {
  std::string run;  // a unique prefix is enough; last: the newest
  std::string status;
  std::size_t limit = 20;
  std::optional<int> turn;
  bool messages = false, events = false, json = false;
  std::optional<std::size_t> keep;  // of prune
  std::string older;
  bool dry_run = false;
};

constexpr std::size_t kContextsTold = 10;
constexpr std::size_t kLineRoom = 60;  // code points of a sub-call's prompt, and of its reply

std::string TextIn(const Json& data, std::string_view name) {
  return Safe(FindString(data, name).value_or(""));
}

std::int64_t NumberIn(const Json& data, std::string_view name) {
  return FindInt(data, name).value_or(0);
}

std::string CountIn(const Json& data, std::string_view name, std::string_view noun) {
  return Counted(static_cast<std::uint64_t>(std::max<std::int64_t>(0, NumberIn(data, name))), noun);
}

constexpr std::string_view kAsk = "ask", kAgents = "agents", kResearch = "research";

// Which command a run is of, by the data of its `run.started`.
std::string KindOf(const JsonObject& started) {
  return std::string(FindString(Json(started), "kind").value_or(kAsk));
}

// Where an event says what was used: a chat has an object for it, an ask says it beside the rest.
const Json& UsageIn(const Json& data) {
  const Json* usage = Find(data, "usage");
  return usage && usage->is_object() ? *usage : data;
}

// "1,234 (1,000 cached) + 56 tokens"
std::string TokensIn(const Json& data) {
  const std::int64_t cached = NumberIn(data, Find(data, "cached_read") ? "cached_read" : "cached");
  return fmt::format("{}{} + {} tokens", GroupCount(NumberIn(data, "input")),
                     cached > 0 ? fmt::format(" ({} cached)", GroupCount(cached)) : "",
                     GroupCount(NumberIn(data, "output")));
}

std::string SecondsIn(const Json& data) {
  return fmt::format("{:.1f} s", static_cast<double>(NumberIn(data, "ms")) / 1000);
}

// Behind what a reply took: how it ended, unless it just ended.
std::string EndingIn(const Json& data) {
  const auto finish = FindString(data, "finish");
  return finish && *finish != "stop" ? fmt::format(", ended by {}", Safe(*finish)) : "";
}

// What became of a file that a run names, but did not keep.
std::string StateOfNamed(const Json& data) {
  const std::string path = TextAt(data, "path");
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return "; it is gone";
  const std::int64_t bytes = NumberIn(data, "bytes");
  const std::int64_t modified =
      std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  if (info.st_size != bytes) {
    return fmt::format("; it has changed since (now {})",
                       FormatSize(static_cast<std::uint64_t>(info.st_size)));
  }
  if (modified == NumberIn(data, "modified_ns")) return "";
  // Written anew with the same bytes, perhaps; a text that was decoded cannot be compared.
  const auto text = bytes == NumberIn(data, "text_bytes") ? ReadFile(path) : Result<std::string>();
  const bool same = text && Sha256Hex(*text) == FindString(data, "sha256").value_or("");
  return same ? "" : "; it has changed since";
}

ask::EvidenceSummary EvidenceIn(const Json& data) {
  ask::EvidenceSummary evidence;
  const auto share = [&](std::string_view name) {
    const Json* value = Find(data, name);
    return value && value->is_number() ? value->to_number<double>() : 0.0;
  };
  evidence.read_by_models = share("read_by_models");
  evidence.read_by_code = share("read_by_code");
  evidence.attempts = static_cast<int>(NumberIn(data, "attempts"));
  evidence.agreeing = static_cast<int>(NumberIn(data, "agreeing"));
  if (const Json* doubts = Find(data, "doubts"); doubts && doubts->is_array()) {
    for (const Json& doubt : doubts->get_array()) {
      if (doubt.is_string()) evidence.doubts.emplace_back(doubt.get_string());
    }
  }
  return evidence;
}

// "git status -s: exit 0, 120 bytes", and why the model wanted it.
std::string ToolLine(const Json& data) {
  std::string line = Join(StringsOf(Find(data, "argv")), " ");
  if (const Json* status = Find(data, "status"); status && !status->is_null()) {
    line += fmt::format(": {}, {}",
                        status->is_string() ? TextAt(data, "status") : "exit " + ToJson(*status),
                        CountIn(data, "bytes", "byte"));
  }
  const std::string why = TextAt(data, "why");
  return why.empty() ? line : fmt::format("{}\n{}", line, why);
}

struct StoryOptions {
  std::optional<std::int64_t> turn;  // only this one
  enum class Messages { kFirstLines, kWhole } messages = Messages::kFirstLines;
};

// One run, told to a person: the question, what was sent, what came back and what it cost, turn by
// turn, and the answer. Everything from the journal is cleaned for a terminal.
class RunStory {
 public:
  RunStory(store::Journal& journal, StoryOptions options, std::ostream& out)
      : journal_(journal), options_(options), out_(out) {}

  void Tell(const store::Event& event);
  // Of a run that still goes on, or whose process ended before it.
  void End(std::string_view status);

 private:
  void TellStart(const Json& data);
  void TellRequest(const Json& data);
  void TellReply(const Json& data);
  void TellFailure(const Json& data);
  void TellFinish(const Json& data);
  void TellSubcall(const Json& data, std::string_view result);
  void NoteMessages(const Json* list);
  void ShowMessages(const Json* list);
  void Show(std::string_view label, const Json* body);
  void ShowText(std::string_view label, std::string_view text);
  std::string FirstLine(const Json* body) const;
  bool whole() const { return options_.messages == StoryOptions::Messages::kWhole; }

  store::Journal& journal_;
  const StoryOptions options_;
  std::ostream& out_;
  std::int64_t turn_ = 0, calls_ = 0, input_ = 0, output_ = 0;
  std::map<std::int64_t, Json> messages_;  // by number
  std::map<std::int64_t, Json> prompts_;   // of sub-calls that wait for a reply, by request
};

void RunStory::Tell(const store::Event& event) {
  const Json data(event.data);
  if (event.type == "request.sent") {
    NoteMessages(Find(data, "messages"));
    NoteMessages(Find(data, "system"));
  }
  if (event.type == "turn.started") turn_ = FindInt(data, "turn").value_or(turn_);
  if (event.type == "run.started") return TellStart(data);
  if (options_.turn && turn_ != *options_.turn) return;
  if (event.type == "mode.decided") {
    out_ << fmt::format("Mode: {} ({} tokens, direct up to {})\n", TextIn(data, "mode"),
                        NumberIn(data, "tokens"), NumberIn(data, "threshold"));
  } else if (event.type == "context.named") {
    out_ << fmt::format("Context {}: {}, not copied: {}{}\n", TextIn(data, "name"),
                        FormatSize(static_cast<std::uint64_t>(NumberIn(data, "bytes"))),
                        TextIn(data, "path"), StateOfNamed(data));
  } else if (event.type == "turn.started") {
    out_ << fmt::format("\nTurn {}\n", turn_);
  } else if (event.type == "request.sent") {
    TellRequest(data);
  } else if (event.type == "reply.received") {
    TellReply(data);
  } else if (event.type == "request.failed") {
    TellFailure(data);
  } else if (event.type == "block.done") {
    Show("output", Find(data, "output"));
    ShowText("error", FindString(data, "error").value_or(""));
    ShowText("stopped", FindString(data, "stopped").value_or(""));
  } else if (event.type == "passage.read") {
    ShowText("passage", PassageLine(data));
  } else if (event.type == "answer.refused") {
    ShowText(fmt::format("refused ({})", TextIn(data, "gate")),
             FindString(data, "reason").value_or(""));
  } else if (event.type == "compaction.done") {
    ShowText("compacted", CompactionLine(data));
  } else if (event.type == "tool.done") {
    ShowText(fmt::format("tool ({})", TextIn(data, "decision")), ToolLine(data));
  } else if (event.type == "limit.reached") {
    ShowText("limit", FindString(data, "reason").value_or(""));
  } else if (event.type == "warning") {
    const Json* said = Find(data, "data");
    const std::string_view text = FindString(data, "data").value_or("");
    const bool more = said && !said->is_null() && text.empty();
    ShowText("warning",
             fmt::format("{}{}{}", TextIn(data, "code"), text.empty() && !more ? "" : ": ",
                         more ? ToJson(*said) : std::string(text)));
  } else if (event.type == "run.finished") {
    TellFinish(data);
  }
}

void RunStory::TellStart(const Json& data) {
  out_ << "Question: " << TextIn(data, "question") << "\n"
       << "Model: " << TextIn(data, "model") << "\n";
  if (const std::string conversation = TextIn(data, "conversation"); !conversation.empty()) {
    out_ << "Conversation: " << conversation << "\n";
  }
  const Json* contexts = Find(data, "contexts");
  if (!contexts || !contexts->is_array()) return;
  const JsonArray& list = contexts->get_array();
  for (std::size_t i = 0; i < std::min(list.size(), kContextsTold); ++i) {
    out_ << fmt::format("Context: {} ({})\n", TextIn(list[i], "name"),
                        FormatSize(static_cast<std::uint64_t>(NumberIn(list[i], "bytes"))));
  }
  if (list.size() > kContextsTold) {
    out_ << fmt::format("… and {}\n", Counted(list.size() - kContextsTold, "more context"));
  }
}

void RunStory::TellRequest(const Json& data) {
  ++calls_;
  if (const auto request = FindInt(data, "request")) prompts_[*request] = data;
  if (!whole()) return;
  ShowMessages(Find(data, "system"));
  ShowMessages(Find(data, "messages"));
}

void RunStory::TellReply(const Json& data) {
  const bool cached = Find(data, "from_cache") != nullptr;
  const Json& usage = UsageIn(data);
  if (!cached) {
    input_ += NumberIn(usage, "input");
    output_ += NumberIn(usage, "output");
  }
  const std::string took = cached ? "from the cache" : TokensIn(usage) + EndingIn(data);
  if (Find(data, "request") && !whole()) {
    return TellSubcall(data, fmt::format("{} ({})", FirstLine(Find(data, "body")), took));
  }
  if (cached && whole()) Show("asked before", Find(data, "messages"));
  Show(FindString(data, "purpose").value_or("reply"), Find(data, "body"));
  const std::int64_t attempts = NumberIn(data, "attempts");
  out_ << fmt::format("  took: {}{}{}\n", took, Find(data, "ms") ? ", " + SecondsIn(data) : "",
                      attempts > 1 ? fmt::format(", {} attempts", attempts) : "");
}

void RunStory::TellFailure(const Json& data) {
  const std::string why =
      fmt::format("{}: {}", TextIn(data, "kind"), FindString(data, "message").value_or(""));
  if (Find(data, "request") && !whole()) {
    return TellSubcall(data, "failed, " + Safe(why.substr(0, why.find('\n'))));
  }
  ShowText("request failed", why);
}

// A line for a sub-call: what was asked, and what came of it.
void RunStory::TellSubcall(const Json& data, std::string_view result) {
  const std::int64_t request = NumberIn(data, "request");
  const auto asked = prompts_.find(request);
  const Json& prompt = asked == prompts_.end() ? data : asked->second;
  out_ << fmt::format(
      "  {} {}: {} -> {}\n",
      FindString(prompt, "purpose").value_or("sub-call") == "map" ? "map" : "sub-call", request,
      FirstLine(Find(prompt, "messages")), result);
  prompts_.erase(request);
}

void RunStory::TellFinish(const Json& data) {
  // A chat's turn is one run, whose calls are its requests.
  std::string took = Find(data, "calls") ? fmt::format("{}, {}", CountIn(data, "turns", "turn"),
                                                       CountIn(data, "calls", "call"))
                                         : Counted(static_cast<std::uint64_t>(calls_), "call");
  if (NumberIn(data, "failed_calls") > 0) {
    took += fmt::format(", {} failed", NumberIn(data, "failed_calls"));
  }
  if (NumberIn(data, "cached_calls") > 0) {
    took += fmt::format(", {} from the cache", NumberIn(data, "cached_calls"));
  }
  const Json& usage = UsageIn(data);
  took += ", " + TokensIn(usage);
  // Runs of older versions did not note what they cost.
  for (const std::string_view name : {"nano_usd", "cost_nano_usd"}) {
    if (usage.as_object().contains(name)) took += ", " + CostText(FindInt(usage, name));
  }
  out_ << fmt::format("\nStatus: {} ({}, {})\n", TextIn(data, "status"), took, SecondsIn(data));
  if (const Json* evidence = Find(data, "evidence"); evidence && evidence->is_object()) {
    const ask::EvidenceSummary summary = EvidenceIn(*evidence);
    out_ << "Evidence: " << EvidenceText(summary) << "\n";
    for (const std::string& doubt : summary.doubts) ShowText("doubt", doubt);
  }
  ShowText("error", FindString(data, "error").value_or(""));
  Show("answer", Find(data, "answer"));
}

void RunStory::End(std::string_view status) {
  out_ << fmt::format("\nStatus: {}{}; so far {}, {} + {} tokens\n", status,
                      status == "running" ? "" : " (its process ended before the run did)",
                      Counted(static_cast<std::uint64_t>(calls_), "request"), GroupCount(input_),
                      GroupCount(output_));
}

// Each message is told in full where it was sent first, and named by its number after that.
void RunStory::NoteMessages(const Json* list) {
  if (!list || !list->is_array()) return;
  for (const Json& message : list->get_array()) {
    if (const auto number = FindInt(message, "n")) messages_[*number] = message;
  }
}

void RunStory::ShowMessages(const Json* list) {
  if (!list || !list->is_array()) return Show("messages", list);
  for (const Json& message : list->get_array()) {
    const auto known = messages_.find(message.is_int64() ? message.get_int64() : 0);
    const Json& told = known == messages_.end() ? message : known->second;
    Show(FindString(told, "role").value_or("message"), Find(told, "body"));
  }
}

void RunStory::Show(std::string_view label, const Json* body) {
  if (!body || body->is_null()) return;
  if (body->is_string()) return ShowText(label, std::string_view(body->get_string()));
  auto text = journal_.ReadBody(*body);
  ShowText(label, text ? *text : text.error().message);
}

void RunStory::ShowText(std::string_view label, std::string_view text) {
  if (TrimSpace(text).empty()) return;
  out_ << "  " << label << ":\n";
  for (const std::string_view line : Split(TrimSpace(text), '\n')) {
    out_ << "    " << Safe(line) << "\n";
  }
}

std::string RunStory::FirstLine(const Json* body) const {
  if (!body) return "?";
  const auto text = journal_.ReadBody(*body);
  if (!text) return Safe(text.error().message);
  const std::string_view trimmed = TrimSpace(*text);
  const std::string_view line = utf8::Prefix(trimmed.substr(0, trimmed.find('\n')), kLineRoom);
  return Safe(line) + (line.size() < trimmed.size() ? " …" : "");
}

Result<std::unique_ptr<store::Journal>> OpenJournal() {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  return store::Journal::Open(data + "/runs");
}

std::string OneLine(std::string_view text, std::size_t width) {
  const std::string_view trimmed = TrimSpace(text);
  return Safe(utf8::Prefix(trimmed.substr(0, trimmed.find('\n')), width));
}

// Runs of agents and research keep their prompts as files.
Status RefuseTurnFlags(const RunsArguments& arguments, const store::Event& started) {
  const std::string kind = KindOf(started.data);
  if ((!arguments.turn && !arguments.messages) || (kind != kAgents && kind != kResearch)) return {};
  return MakeError(
      ErrorCode::kUsage,
      "{} is for runs of ask and chat, and {} is one of {}: its prompts are shown by {}",
      arguments.turn ? "--turn" : "--messages", started.run, kind,
      kind == kAgents ? "the files below " + AgentsFolder(started)
                      : "`dossier research prompts " + TextAt(Json(started.data), "folder") + "`");
}

// A run of research has its own journal in its folder, which may have gone.
void TellResearch(const store::Event& listed, std::string_view status, std::ostream& out) {
  const std::string folder = TextAt(Json(listed.data), "folder");
  const auto history = research::ReadRunHistory(folder);
  if (!history) {
    out << fmt::format("Title: {}\nStatus: {}\nNothing else is known here: {}\n",
                       TextIn(Json(listed.data), "question"), status,
                       Safe(history.error().message));
    return;
  }
  out << Safe(research::StatusText(research::StatusOf(*history, *SystemClock())))
      << Safe(research::TreeText(*history, 0));
}

Status TellStory(store::Journal& journal, const std::vector<store::Event>& events,
                 const RunsArguments& arguments, std::ostream& out) {
  const store::Event& started = events.front();
  DOSSIER_ASSIGN_OR_RETURN(const std::string status, journal.StatusOf(started.run));
  const std::string kind = KindOf(started.data);
  out << "Run: " << started.run << " (" << Safe(kind) << ")\n";
  if (kind == kAgents) {
    TellAgentsRun(journal, events, status, out);
    return {};
  }
  if (kind == kResearch) {
    TellResearch(started, status, out);
    return {};
  }
  StoryOptions options{.turn = arguments.turn};
  if (arguments.messages) options.messages = StoryOptions::Messages::kWhole;
  RunStory story(journal, options, out);
  for (const store::Event& event : events) story.Tell(event);
  if (!arguments.turn && events.back().type != "run.finished") story.End(status);
  return {};
}

// Of a run of research those of its own journal, as long as that is there.
Result<std::vector<store::Event>> EventsOf(store::Journal& journal, const std::string& run) {
  DOSSIER_ASSIGN_OR_RETURN(std::vector<store::Event> events, journal.Events(run));
  if (KindOf(events.front().data) != kResearch) return events;
  const auto own = research::RunLog::Reopen(TextAt(Json(events.front().data), "folder"), {}, {});
  return own ? (*own)->Events() : events;
}

Json EventJson(const store::Event& event) {
  return JsonObject{{"run", event.run},   {"seq", event.seq},   {"time", event.time},
                    {"call", event.call}, {"type", event.type}, {"data", event.data}};
}

Status RunList(const RunsArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, OpenJournal());
  std::optional<std::string> status;
  if (!arguments.status.empty()) status = arguments.status;
  DOSSIER_ASSIGN_OR_RETURN(const auto runs, journal->List(status, arguments.limit));
  JsonArray list;
  for (const store::RunSummary& run : runs) {
    const auto started = journal->EventAt(run.run, 1);
    const std::string kind = started ? KindOf(started->data) : "?";
    if (arguments.json) {
      list.push_back(JsonObject{{"run", run.run},
                                {"kind", kind},
                                {"started", run.started},
                                {"status", run.status},
                                {"question", run.question},
                                {"model", run.model},
                                {"events", run.events},
                                {"answer", run.answer}});
    } else {
      context.out << fmt::format("{:<26}  {:<8}  {:<11}  {}\n", run.run, Safe(kind), run.status,
                                 OneLine(run.question, 70));
    }
  }
  if (arguments.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.runs/1"}, {"runs", std::move(list)}})
                << "\n";
  }
  return {};
}

Status RunShow(const RunsArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, OpenJournal());
  DOSSIER_ASSIGN_OR_RETURN(const std::string run, journal->Resolve(arguments.run));
  if (!arguments.json && !arguments.events) {
    DOSSIER_ASSIGN_OR_RETURN(const auto events, journal->Events(run));
    DOSSIER_RETURN_IF_ERROR(RefuseTurnFlags(arguments, events.front()));
    return TellStory(*journal, events, arguments, context.out);
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto events, EventsOf(*journal, run));
  if (arguments.json) {
    JsonArray list;
    for (const store::Event& event : events) list.push_back(EventJson(event));
    context.out << ToJson(JsonObject{
                       {"schema", "dossier.run/1"}, {"run", run}, {"events", std::move(list)}})
                << "\n";
    return {};
  }
  for (const store::Event& event : events) {
    context.out << fmt::format("{:>5}  {}  {:<18} {}\n", event.seq, event.time, event.type,
                               Safe(ToJson(Json(event.data))));
  }
  return {};
}

Result<store::PruneRule> RuleOf(const RunsArguments& arguments) {
  store::PruneRule rule{.keep = arguments.keep};
  if (!arguments.older.empty()) {
    if (arguments.older.find_first_not_of("0123456789.") == std::string::npos) {
      return MakeError(ErrorCode::kUsage, "--older {0}: say the unit, as in {0}d", arguments.older);
    }
    DOSSIER_ASSIGN_OR_RETURN(rule.older, ReadTimeFlag("--older", arguments.older, Zero::kTaken));
  }
  if (!rule.keep && !rule.older) {
    return MakeError(
        ErrorCode::kUsage,
        "runs prune: say what may go: --keep N (all but the newest N), --older 30d, or "
        "both");
  }
  return rule;
}

std::string WhatGoes(const store::Pruned& pruned) {
  return fmt::format("{} and {} that no run needs any more, {}", Counted(pruned.runs.size(), "run"),
                     Counted(pruned.bodies, "stored text"), FormatSize(pruned.bytes));
}

// Somebody at a terminal is asked before anything goes for good. Scripts are not: they named what
// may go by --keep or --older, and nobody is there to answer.
Result<bool> MayPrune(const std::string& folder, const store::PruneRule& rule,
                      const GlobalFlags& flags, std::ostream& err) {
  if (flags.yes || !MayAsk(flags)) return true;
  DOSSIER_ASSIGN_OR_RETURN(
      const store::Pruned found,
      store::PruneRuns(folder, rule, store::PruneAction::kLook, *SystemClock()));
  if (found.runs.empty() && found.bodies == 0) return true;
  return Confirm(flags, fmt::format("remove {} for good?", WhatGoes(found)), "-y", err);
}

Status RunPrune(const RunsArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  const std::string folder = data + "/runs";
  DOSSIER_ASSIGN_OR_RETURN(const store::PruneRule rule, RuleOf(arguments));
  auto action = store::PruneAction::kLook;
  if (!arguments.dry_run) {
    DOSSIER_ASSIGN_OR_RETURN(const bool agreed, MayPrune(folder, rule, context.flags, context.err));
    if (!agreed) return {};
    action = store::PruneAction::kRemove;
  }
  DOSSIER_ASSIGN_OR_RETURN(const store::Pruned pruned,
                           store::PruneRuns(folder, rule, action, *SystemClock()));
  if (arguments.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.runs-prune/1"},
                                     {"dry_run", arguments.dry_run},
                                     {"runs", boost::json::value_from(pruned.runs)},
                                     {"bodies", pruned.bodies},
                                     {"bytes", pruned.bytes},
                                     {"runs_left", pruned.runs_left},
                                     {"bytes_left", pruned.bytes_left}})
                << "\n";
    return {};
  }
  context.out << fmt::format("{} {}; {} and {} {}\n",
                             arguments.dry_run ? "would remove" : "removed", WhatGoes(pruned),
                             Counted(pruned.runs_left, "run"), FormatSize(pruned.bytes_left),
                             arguments.dry_run ? "would stay" : "stay");
  return {};
}

// Nothing of it is lost: the journal holds what a version that can go on needs.
Status RunResume(const RunsArguments& arguments, Context&) {
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, OpenJournal());
  DOSSIER_ASSIGN_OR_RETURN(const std::string run, journal->Resolve(arguments.run));
  DOSSIER_ASSIGN_OR_RETURN(const store::Event started, journal->EventAt(run, 1));
  if (const std::string kind = KindOf(started.data); kind == kAgents || kind == kResearch) {
    return MakeError(ErrorCode::kUsage, "runs resume: `dossier {} resume {}` goes on with this run",
                     kind, kind == kAgents ? run : TextAt(Json(started.data), "folder"));
  }
  return MakeError(
      ErrorCode::kUsage,
      "runs resume: this version cannot go on with a run; `dossier runs show {}` shows "
      "what was done, and the same `dossier ask` again takes the replies of its "
      "sub-calls from the store",
      run);
}

void DeclareList(Flags& flags, RunsArguments& to) {
  flags.Add("--status", &to.status, "only runs that ended like this")
      .OneOf({"running", "final", "extracted", "partial", "none", "interrupted", "failed",
              "abandoned"});
  flags.Add("--limit", &to.limit, "how many").Positive().ShowDefault();
  flags.Add("--json", &to.json, "one object");
}

void DeclareShow(Flags& flags, RunsArguments& to) {
  flags.Add("run", &to.run, "id, the start of one, or last").Required().Kind(kRun);
  flags.Add("--turn", &to.turn, "only this turn");
  flags.Add("--messages", &to.messages, "show the exact messages and replies, too");
  flags.Add("--events", &to.events, "the journal's events, one a line");
  flags.Add("--json", &to.json, "all events as one object");
}

void DeclareRunsResume(Flags& flags, RunsArguments& to) {
  flags.Add("run", &to.run, "id, or the start of one").Required().Kind(kRun);
  flags.AllowOthers();  // its limits, which no other command here has
}

void DeclarePrune(Flags& flags, RunsArguments& to) {
  flags.Add("--keep", &to.keep, "keep the newest N");
  flags.Add("--older", &to.older, "only runs begun longer ago, such as 30d").Kind(kTime);
  flags.Add("--dry-run", &to.dry_run, "say what would go");
  flags.Add("--json", &to.json, "one object");
}

}  // namespace

Command RunsCommand() {
  return {.name = "runs",
          .summary = "what ask, chat, agents and research did before, step by step",
          .examples =
              "dossier runs list\n"
              "    what was asked before\n"
              "dossier runs show last --messages\n"
              "    the newest run with the exact messages sent\n"
              "dossier runs prune --older 30d --dry-run\n"
              "    what would go of older runs",
          .commands = {
              {.name = "list", .summary = "the newest runs", .binding = Bind(DeclareList, RunList)},
              {.name = "show",
               .summary =
                   "one run: code, output, answers, refusals; of agents: tasks, verdicts, commits",
               .binding = Bind(DeclareShow, RunShow)},
              // In no list of commands while it only says that it cannot.
              {.name = "resume",
               .summary = "go on with an interrupted run",
               .binding = Bind(DeclareRunsResume, RunResume),
               .listed = Command::Listed::kNo},
              {.name = "prune",
               .summary = "remove old runs and what only they need",
               .binding = Bind(DeclarePrune, RunPrune)}}};
}

}  // namespace dossier::cli
