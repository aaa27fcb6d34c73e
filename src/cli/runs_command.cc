#include "cli/runs_command.h"

#include <map>

#include "base/file.h"
#include "base/text.h"
#include "base/user_folders.h"
#include "base/utf8.h"
#include "cli/compaction_line.h"
#include "cli/failure.h"
#include "cli/terminal.h"
#include "store/journal.h"

namespace dossier::cli {
namespace {

std::string Safe(std::string_view text) { return utf8::CleanForTerminal(utf8::Sanitize(text)); }

std::string OneLine(std::string_view text, std::size_t width) {
  const std::string_view trimmed = TrimSpace(text);
  return Safe(utf8::Prefix(trimmed.substr(0, trimmed.find('\n')), width));
}

Json EventJson(const store::Event& event) {
  return JsonObject{{"run", event.run},   {"seq", event.seq},   {"time", event.time},
                    {"call", event.call}, {"type", event.type}, {"data", event.data}};
}

Status List(store::Journal& journal, const RunsArguments& arguments, std::ostream& out) {
  std::optional<std::string> status;
  if (!arguments.status.empty()) status = arguments.status;
  DOSSIER_ASSIGN_OR_RETURN(const auto runs, journal.List(status, arguments.limit));
  JsonArray list;
  for (const store::RunSummary& run : runs) {
    if (arguments.json) {
      list.push_back(JsonObject{{"run", run.run},
                                {"started", run.started},
                                {"status", run.status},
                                {"question", run.question},
                                {"model", run.model},
                                {"events", run.events},
                                {"answer", run.answer}});
    } else {
      out << fmt::format("{}  {:<11}  {}\n", run.run, run.status, OneLine(run.question, 70));
    }
  }
  if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.runs/1"}, {"runs", std::move(list)}}) << "\n";
  }
  return {};
}

// Prints one run as a story: question, per turn the reply's code and its output, the answer.
class Story {
 public:
  Story(store::Journal& journal, const RunsArguments& arguments, std::ostream& out)
      : journal_(journal), arguments_(arguments), out_(out) {}

  void Tell(const store::Event& event) {
    const Json data(event.data);
    if (event.type == "request.sent") NoteMessages(data);
    if (event.type == "turn.started") turn_ = FindInt(data, "turn").value_or(turn_);
    if (arguments_.turn && turn_ != *arguments_.turn && event.type != "run.started") return;
    if (event.type == "run.started") {
      out_ << "Question: " << Safe(FindString(data, "question").value_or("")) << "\n"
           << "Model: " << Safe(FindString(data, "model").value_or("")) << "\n";
    } else if (event.type == "mode.decided") {
      out_ << fmt::format(
          "Mode: {} ({} tokens, direct up to {})\n", FindString(data, "mode").value_or(""),
          FindInt(data, "tokens").value_or(0), FindInt(data, "threshold").value_or(0));
    } else if (event.type == "turn.started") {
      out_ << fmt::format("\nTurn {}\n", turn_);
    } else if (event.type == "request.sent" && arguments_.messages) {
      ShowMessages(data);
    } else if (event.type == "reply.received") {
      Show(FindString(data, "purpose").value_or("reply"), Find(data, "body"));
    } else if (event.type == "block.done") {
      Show("output", Find(data, "output"));
      if (const auto error = FindString(data, "error")) ShowText("error", *error);
    } else if (event.type == "answer.refused") {
      ShowText("refused", FindString(data, "reason").value_or(""));
    } else if (event.type == "compaction.done") {
      ShowText("compacted", CompactionLine(data));
    } else if (event.type == "limit.reached") {
      ShowText("limit", FindString(data, "reason").value_or(""));
    } else if (event.type == "warning") {
      ShowText("warning", FindString(data, "code").value_or(""));
    } else if (event.type == "run.finished") {
      out_ << fmt::format("\nStatus: {} ({} turns, {} calls, {} ms)\n",
                          FindString(data, "status").value_or(""),
                          FindInt(data, "turns").value_or(0), FindInt(data, "calls").value_or(0),
                          FindInt(data, "ms").value_or(0));
      Show("answer", Find(data, "answer"));
    }
  }

 private:
  // Each message is told in full where it was sent first, and named by its number after that.
  void NoteMessages(const Json& data) {
    const Json* list = Find(data, "messages");
    if (!list || !list->is_array()) return;
    for (const Json& message : list->get_array()) {
      if (const auto number = FindInt(message, "n")) messages_[*number] = message;
    }
  }

  void ShowMessages(const Json& data) {
    const Json* list = Find(data, "messages");
    if (!list || !list->is_array()) return Show("messages", list);
    for (const Json& message : list->get_array()) {
      const auto known = messages_.find(message.is_int64() ? message.get_int64() : 0);
      const Json& told = known == messages_.end() ? message : known->second;
      Show(FindString(told, "role").value_or("message"), Find(told, "body"));
    }
  }

  void Show(std::string_view label, const Json* body) {
    if (!body) return;
    auto text = journal_.ReadBody(*body);
    ShowText(label, text ? *text : text.error().message);
  }

  void ShowText(std::string_view label, std::string_view text) {
    if (TrimSpace(text).empty()) return;
    out_ << "  " << label << ":\n";
    for (const std::string_view line : Split(TrimSpace(text), '\n')) {
      out_ << "    " << Safe(line) << "\n";
    }
  }

  store::Journal& journal_;
  const RunsArguments& arguments_;
  std::ostream& out_;
  std::int64_t turn_ = 0;
  std::map<std::int64_t, Json> messages_;  // by number
};

Status Show(store::Journal& journal, const RunsArguments& arguments, std::ostream& out) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string run, journal.Resolve(arguments.run));
  DOSSIER_ASSIGN_OR_RETURN(const auto events, journal.Events(run));
  if (arguments.json) {
    JsonArray list;
    for (const store::Event& event : events) list.push_back(EventJson(event));
    out << ToJson(
               JsonObject{{"schema", "dossier.run/1"}, {"run", run}, {"events", std::move(list)}})
        << "\n";
    return {};
  }
  if (arguments.events) {
    for (const store::Event& event : events) {
      out << fmt::format("{:>5}  {}  {:<18} {}\n", event.seq, event.time, event.type,
                         Safe(ToJson(Json(event.data))));
    }
    return {};
  }
  Story story(journal, arguments, out);
  for (const store::Event& event : events) story.Tell(event);
  if (!arguments.turn && events.back().type != "run.finished") {
    DOSSIER_ASSIGN_OR_RETURN(const std::string status, journal.StatusOf(run));
    out << fmt::format("\nStatus: {}{}\n", status,
                       status == "running" ? "" : " (its process ended before the run did)");
  }
  return {};
}

// Nothing of it is lost: the journal holds what a version that can go on needs.
Status Resume(store::Journal& journal, const RunsArguments& arguments) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string run, journal.Resolve(arguments.run));
  return MakeError(
      ErrorCode::kUsage,
      "runs resume: this version cannot go on with a run; `dossier runs show {}` shows "
      "what was done, and the same `dossier ask` again takes the replies of its "
      "sub-calls from the store",
      run);
}

Status RunAction(store::Journal& journal, const RunsArguments& arguments, std::ostream& out) {
  if (arguments.action == "list") return List(journal, arguments, out);
  if (arguments.action == "resume") return Resume(journal, arguments);
  return Show(journal, arguments, out);
}

}  // namespace

void AddRunsCommand(CLI::App& runs, RunsArguments* arguments) {
  runs.require_subcommand(1);
  CLI::App& list = *runs.add_subcommand("list", "the newest runs");
  list.add_option("--status", arguments->status, "only runs that ended like this")
      ->check(CLI::IsMember(
          {"running", "final", "extracted", "partial", "none", "interrupted", "failed"}));
  list.add_option("--limit", arguments->limit, "how many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  list.add_flag("--json", arguments->json, "one object");
  CLI::App& show = *runs.add_subcommand("show", "one run: code, output, answers, refusals");
  show.add_option("run", arguments->run, "id, or the start of one")->required();
  show.add_option("--turn", arguments->turn, "only this turn");
  show.add_flag("--messages", arguments->messages, "with the exact messages sent");
  show.add_flag("--events", arguments->events, "the journal's events, one a line");
  show.add_flag("--json", arguments->json, "all events as one object");
  // In no list of commands while it only says that it cannot.
  CLI::App& resume = *runs.add_subcommand("resume", "go on with an interrupted run")->group("");
  resume.add_option("run", arguments->run, "id, or the start of one")->required();
  resume.fallthrough(false)->allow_extras();  // its limits, which no other command here has
  list.callback([arguments] { arguments->action = "list"; });
  resume.callback([arguments] { arguments->action = "resume"; });
  show.callback([arguments] { arguments->action = "show"; });
}

int RunRuns(const RunsArguments& arguments, std::ostream& out, std::ostream& err) {
  const auto run = [&]() -> Status {
    DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
    DOSSIER_ASSIGN_OR_RETURN(auto journal, store::Journal::Open(data + "/runs"));
    return RunAction(*journal, arguments, out);
  };
  const Status done = run();
  out << std::flush;
  if (!done) return Fail(done.error(), FormOf(arguments.json), out, err);
  return out.good() ? 0 : 141;
}

}  // namespace dossier::cli
