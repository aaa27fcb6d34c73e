#include "cli/runs/run_story.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/chat/chat_dialogs.h"
#include "cli/runs/agents_view.h"
#include "cli/runs/ask_view.h"
#include "cli/terminal/terminal.h"
#include "store/event_data.h"

namespace dossier::cli {
namespace {

constexpr std::size_t kContextsTold = 10;
constexpr std::size_t kLineRoom = 60;  // code points shown of a sub-call's prompt and reply

std::string TextIn(const Json& data, std::string_view name) {
  return Safe(FindString(data, name).value_or(""));
}

std::int64_t NumberIn(const Json& data, std::string_view name) {
  return FindInt(data, name).value_or(0);
}

std::string CountIn(const Json& data, std::string_view name, std::string_view noun) {
  return Counted(static_cast<std::uint64_t>(std::max<std::int64_t>(0, NumberIn(data, name))), noun);
}

// Returns the usage in an event: a chat has an object for it, an ask has it among other fields.
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

// Returns how a reply ended, unless it ended normally; follows its usage.
std::string EndingIn(const Json& data) {
  const auto finish = FindString(data, "finish");
  return finish && *finish != "stop" ? fmt::format(", ended by {}", Safe(*finish)) : "";
}

// Returns the state of a file that a run names but did not copy.
std::string StateOfNamed(const Json& data) {
  const std::string path = TextAt(data, "path");
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return "; it is gone";
  if (!S_ISREG(info.st_mode)) return "; it is no regular file any more";
  const std::int64_t bytes = NumberIn(data, "bytes");
  const std::int64_t modified =
      std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  if (info.st_size != bytes) {
    return fmt::format("; it has changed since (now {})",
                       FormatSize(static_cast<std::uint64_t>(info.st_size)));
  }
  if (modified == NumberIn(data, "modified_ns")) return "";
  // It may have been rewritten with the same bytes; a decoded text cannot be compared.
  const auto text = bytes == NumberIn(data, "text_bytes")
                        ? ReadRegularFile(path, static_cast<std::uint64_t>(bytes))
                        : Result<std::string>();
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
  evidence.files_left_out = static_cast<std::uint64_t>(NumberIn(data, "files_left_out"));
  evidence.attempts = static_cast<int>(NumberIn(data, "attempts"));
  evidence.agreeing = static_cast<int>(NumberIn(data, "agreeing"));
  if (const Json* doubts = Find(data, "doubts"); doubts && doubts->is_array()) {
    for (const Json& doubt : doubts->get_array()) {
      if (doubt.is_string()) evidence.doubts.emplace_back(doubt.get_string());
    }
  }
  return evidence;
}

// Returns "git status -s: exit 0, 120 bytes", and why the model wanted it.
std::string ToolLine(const Json& data) {
  std::string line = ShownCommand(StringsOf(Find(data, "argv")));
  if (const Json* status = Find(data, "status"); status && !status->is_null()) {
    line += fmt::format(": {}, {}",
                        status->is_string() ? TextAt(data, "status") : "exit " + ToJson(*status),
                        CountIn(data, "bytes", "byte"));
  }
  const std::string why = TextAt(data, "why");
  return why.empty() ? line : fmt::format("{}\n{}", line, why);
}

// Describes one run to a person: the question, what was sent, what came back and what it cost, turn
// by turn, and the answer. Text from the journal is made safe for a terminal.
class RunStory {
 public:
  RunStory(store::Journal& journal, StoryOptions options, std::ostream& out)
      : journal_(journal), options_(options), out_(out) {}

  void Tell(const store::Event& event);
  // For a run that is active, or whose process ended before the run did.
  void End(std::string_view status);

 private:
  void TellStart(const Json& data);
  void TellChild(const Json& data);
  void TellChildEnd(const Json& data);
  void TellRequest(const Json& data);
  void TellReply(const Json& data);
  void TellFailure(const Json& data);
  void TellFinish(const Json& data);
  void TellSubcall(const Json& data, std::string_view result);
  std::pair<std::int64_t, std::int64_t> RequestIn(const Json& data) const {
    return {call_, NumberIn(data, "request")};
  }
  void NoteMessages(const Json* list);
  void ShowMessages(const Json* list);
  void Show(std::string_view label, const Json* body);
  void ShowText(std::string_view label, std::string_view text);
  std::string FirstLine(const Json* body) const;
  std::string QuestionIn(const Json& data) const;
  bool whole() const { return options_.messages == StoryOptions::Messages::kWhole; }

  store::Journal& journal_;
  const StoryOptions options_;
  std::ostream& out_;
  std::int64_t call_ = 0;  // the call of the current event
  std::int64_t turn_ = 0;  // current turn of the root
  std::int64_t calls_ = 0, input_ = 0, output_ = 0;
  std::map<std::int64_t, Json> messages_;      // by number
  std::map<std::int64_t, std::string> paths_;  // paths of children, by call
  // Prompts of sub-calls that wait for a reply, by call and request.
  std::map<std::pair<std::int64_t, std::int64_t>, Json> prompts_;
};

void RunStory::Tell(const store::Event& event) {
  const Json data(event.data);
  call_ = event.call;
  if (event.type == "request.sent") {
    NoteMessages(Find(data, "messages"));
    NoteMessages(Find(data, "system"));
  }
  if (event.type == "turn.started" && call_ == 0) turn_ = NumberIn(data, "turn");
  if (event.type == "run.started") return TellStart(data);
  if (options_.turn && turn_ != *options_.turn) return;
  if (event.type == "mode.decided") {
    out_ << fmt::format("Mode: {} ({}{} tokens, direct up to {})\n", TextIn(data, "mode"),
                        FindBool(data, "estimated").value_or(false) ? "about " : "",
                        NumberIn(data, "tokens"), NumberIn(data, "threshold"));
  } else if (event.type == "context.named") {
    out_ << fmt::format("Context {}: {}, not copied: {}{}\n", TextIn(data, "name"),
                        FormatSize(static_cast<std::uint64_t>(NumberIn(data, "bytes"))),
                        TextIn(data, "path"),
                        options_.paths == StoryOptions::Paths::kUnseen ? "" : StateOfNamed(data));
  } else if (event.type == "turn.started") {
    out_ << fmt::format("\nTurn {}\n", NumberIn(data, "turn"));
  } else if (event.type == "call.started") {
    TellChild(data);
  } else if (event.type == "call.finished") {
    TellChildEnd(data);
  } else if (event.type == "request.sent") {
    TellRequest(data);
  } else if (event.type == "reply.received") {
    TellReply(data);
  } else if (event.type == "request.failed") {
    TellFailure(data);
  } else if (event.type == "block.done") {
    Show("output", Find(data, "output"));
    ShowText("error", FindString(data, "error").value_or(""));
    ShowText("refused", FindString(data, "refused").value_or(""));
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

// Of a run that was imported it is a body.
std::string RunStory::QuestionIn(const Json& data) const {
  const Json* question = Find(data, "question");
  if (!question || question->is_string()) return TextIn(data, "question");
  const auto text = journal_.ReadBody(*question);
  return Safe(text ? *text : text.error().message);
}

void RunStory::TellStart(const Json& data) {
  out_ << "Question: " << (Find(data, "deleted") ? std::string(store::kDeleted) : QuestionIn(data))
       << "\n"
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

void RunStory::TellChild(const Json& data) {
  paths_[call_] = TextIn(data, "path");
  out_ << fmt::format("\nChild {} ({}): {}\n", paths_[call_], TextIn(data, "model"),
                      FirstLine(Find(data, "question")));
}

void RunStory::TellChildEnd(const Json& data) {
  const std::string error = TextIn(data, "error");
  out_ << fmt::format("Answer of {} ({}: {}, {}, {}): {}\n", paths_[call_], TextIn(data, "status"),
                      CountIn(data, "turns", "turn"), CountIn(data, "calls", "call"),
                      SecondsIn(data), error.empty() ? FirstLine(Find(data, "answer")) : error);
}

void RunStory::TellRequest(const Json& data) {
  ++calls_;
  if (Find(data, "request")) prompts_[RequestIn(data)] = data;
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
  const std::int64_t attempts = NumberIn(data, "attempts");
  const std::string tried = attempts > 1 ? fmt::format(", {} attempts", attempts) : "";
  const std::string took = cached ? "from the cache" : TokensIn(usage) + EndingIn(data);
  if (Find(data, "request") && !whole()) {
    return TellSubcall(data, fmt::format("{} ({}{})", FirstLine(Find(data, "body")), took, tried));
  }
  if (cached && whole()) Show("asked before", Find(data, "messages"));
  Show(FindString(data, "purpose").value_or("reply"), Find(data, "body"));
  out_ << fmt::format("  took: {}{}{}\n", took, Find(data, "ms") ? ", " + SecondsIn(data) : "",
                      tried);
}

void RunStory::TellFailure(const Json& data) {
  const std::string why =
      fmt::format("{}: {}", TextIn(data, "kind"), FindString(data, "message").value_or(""));
  const bool unsent = Find(data, "unsent") != nullptr;
  if (unsent && Find(data, "request")) prompts_[RequestIn(data)] = data;
  if (unsent && whole()) ShowMessages(Find(data, "messages"));
  if (Find(data, "request") && !whole()) {
    return TellSubcall(data, "failed, " + Safe(why.substr(0, why.find('\n'))));
  }
  ShowText("request failed", why);
}

// Prints a line for a sub-call: what was asked, and the result.
void RunStory::TellSubcall(const Json& data, std::string_view result) {
  const auto request = RequestIn(data);
  const auto asked = prompts_.find(request);
  const Json& prompt = asked == prompts_.end() ? data : asked->second;
  out_ << fmt::format(
      "  {} {}: {} -> {}\n",
      FindString(prompt, "purpose").value_or("sub-call") == "map" ? "map" : "sub-call",
      request.second, FirstLine(Find(prompt, "messages")), result);
  prompts_.erase(request);
}

void RunStory::TellFinish(const Json& data) {
  // A turn of a chat is one run; its calls are its requests.
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
  // Runs of older versions did not record their cost.
  for (const std::string_view name : {"nano_usd", "cost_nano_usd"}) {
    if (Find(usage, name)) took += ", " + CostText(FindInt(usage, name));
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
                      status == "interrupted" ? " (its process ended before the run did)" : "",
                      Counted(static_cast<std::uint64_t>(calls_), "request"), GroupCount(input_),
                      GroupCount(output_));
}

// A message is printed in full where it was first sent, and then referred to by number.
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

}  // namespace

namespace {

// The events of a tree of calls, with those of each child grouped where its parent began it,
// because interleaved events would be hard to follow.
class Tree {
 public:
  using Visit = std::function<void(const store::Event& event, std::size_t depth)>;

  explicit Tree(const std::vector<store::Event>& events) {
    for (const store::Event& event : events) {
      const bool begins = event.type == "call.started" && event.call != 0;
      of_[begins ? NumberIn(Json(event.data), "parent") : event.call].push_back(&event);
    }
  }

  void Walk(const Visit& visit) {
    Walk(0, 0, visit);
    while (!of_.empty()) Walk(of_.begin()->first, 1, visit);  // for an incomplete journal
  }

 private:
  void Walk(std::int64_t call, std::size_t depth, const Visit& visit) {
    const auto node = of_.extract(call);
    if (!node) return;
    for (const store::Event* event : node.mapped()) {
      const bool child = event->call != call;
      visit(*event, depth + (child ? 1 : 0));
      if (child) Walk(event->call, depth + 1, visit);
    }
  }

  std::map<std::int64_t, std::vector<const store::Event*>> of_;  // by the call that reports it
};

// Writes the lines of `text`, indented by `depth` levels.
void WriteIndented(std::string_view text, std::size_t depth, std::ostream& out) {
  constexpr std::size_t kMostShown = 12;
  const std::string indent(2 * std::min(depth, kMostShown), ' ');
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    if (text[0] != '\n') out << indent;
    out << text.substr(0, end);
    text.remove_prefix(end);
  }
}

}  // namespace

void TellRun(store::Journal& journal, const std::vector<store::Event>& events,
             const StoryOptions& options, std::string_view status, std::ostream& out) {
  std::ostringstream text;
  RunStory story(journal, options, text);
  Tree(events).Walk([&](const store::Event& event, std::size_t depth) {
    story.Tell(event);
    WriteIndented(text.view(), depth, out);
    text.str({});
  });
  // Events that an import or a note appends after the end do not reopen a run; a resume does.
  bool open = true;
  for (const store::Event& event : events) {
    if (event.type == "run.finished") open = false;
    if (event.type == "run.resumed") open = true;
  }
  if (!options.turn && (open || status == "running")) story.End(status);
  out << text.view();
}

namespace {

std::string Tokens(const Json& data, std::string_view key) {
  return GroupDigits(static_cast<std::uint64_t>(FindInt(data, key).value_or(0)));
}

std::string WhatWasDone(std::string_view kind, std::string_view turns) {
  if (kind == "summary") return fmt::format("turns {} became a summary", turns);
  if (kind == "stub") return fmt::format("turns {} left the prompt", turns);
  return "old outputs were shortened";
}

}  // namespace

std::string CompactionLine(const Json& data) {
  return fmt::format(
      "{}: {} -> {} tokens; the journal keeps them",
      WhatWasDone(FindString(data, "kind").value_or(""), FindString(data, "turns").value_or("")),
      Tokens(data, "before"), Tokens(data, "after"));
}

std::string PassageLine(const Json& data) {
  const Json* score = Find(data, "score");
  return fmt::format("{}: {} ({:.1f})", FindString(data, "passage").value_or(""),
                     FindString(data, "answer").value_or(""),
                     score && score->is_number() ? score->to_number<double>() : 0.0);
}

std::string AgentStep(std::string_view type, const Json& data) {
  const std::int64_t attempt = FindInt(data, "attempt").value_or(1);
  const std::string again = attempt > 1 ? fmt::format(", attempt {}", attempt) : std::string();
  if (type == "task.claimed") return "claimed";
  if (type == "engine.started") return fmt::format("{} works{}", TextAt(data, "engine"), again);
  if (type == "patch.taken") {
    return fmt::format("patch of {}, +{} -{}",
                       Counted(StringsOf(Find(data, "files")).size(), "file"),
                       FindInt(data, "added").value_or(0), FindInt(data, "deleted").value_or(0));
  }
  if (type == "check.finished") {
    const std::string result = TextAt(data, "result"), reason = TextAt(data, "reason");
    return fmt::format("check {} {}{}", TextAt(data, "check"), result,
                       result == "passed" || reason.empty() ? "" : ": " + reason);
  }
  if (type == "review.started") {
    return fmt::format("{} reviews{}", TextAt(data, "reviewer"), again);
  }
  if (type == "review.finished") return fmt::format("review: {}", TextAt(data, "verdict"));
  if (type == "merge.intent") return "merges";
  return {};
}

}  // namespace dossier::cli
