// /api/v1/runs: what was asked and how it went, for the viewer and for programs.

#include <algorithm>
#include <set>
#include <utility>

#include "ask/exchange/run_page.h"
#include "ask/exchange/run_tale.h"
#include "base/hash.h"
#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "server/http/openai_reply.h"
#include "server/http/routes.h"
#include "server/http/run_again.h"
#include "server/run_table.h"
#include "store/run_states.h"

namespace dossier::server {
namespace {

constexpr std::size_t kPage = 50, kMostOnPage = 500, kMostListed = 2'000;
constexpr std::string_view kRunFields[] = {"question", "text", "context", "max_usd", "max_calls"};
constexpr Millis kJournalLook{100};     // between looks for new events of another process
constexpr Millis kRunsComment{15'000};  // silence after which a comment is sent

// How many runs a page of the list has. Errors: kInvalidArgument.
Result<std::size_t> ListLimit(const std::string& given) {
  if (given.empty()) return kPage;
  const auto limit = ExactNumber<std::size_t>(given);
  if (limit && *limit >= 1 && *limit <= kMostOnPage) return *limit;
  return MakeError(ErrorCode::kInvalidArgument, "limit: must be a whole number from 1 to {}",
                   kMostOnPage);
}

class RunsApi {
 public:
  explicit RunsApi(const Shared& shared) : shared_(shared), again_(shared) {}

  void List(const std::shared_ptr<Call>& call) {
    call->Later([this, call] {
      const auto journal = shared_.workspace.Journal();
      if (!journal) return call->Fail(journal.error());
      const std::string status = call->Query("status"), since = call->Query("since");
      if (!status.empty() &&
          std::ranges::find(store::kRunStates, status) == std::end(store::kRunStates)) {
        return call->Fail(400, fmt::format("status: must be {}", OneOf(status, store::kRunStates)),
                          "invalid_value", Json("status"));
      }
      const auto limit = ListLimit(call->Query("limit"));
      if (!limit) return call->Fail(limit.error());
      const auto runs = (*journal)->List(
          status.empty() ? std::nullopt : std::optional<std::string>(status), kMostListed);
      if (!runs) return call->Fail(runs.error());
      const std::string cursor = call->Query("cursor"), wanted = ToLowerAscii(call->Query("q"));
      bool begun = cursor.empty();
      JsonArray list;
      Json next;
      for (const store::RunSummary& run : *runs) {
        if (!begun) {
          begun = run.run == cursor;
          continue;
        }
        if (!since.empty() && run.started < since) break;
        if (!shared_.owners.Sees(call->key(), run.run)) continue;
        const std::string text = ToLowerAscii(run.question + "\n" + run.answer + "\n" + run.run);
        if (!wanted.empty() && text.find(wanted) == text.npos) continue;
        if (list.size() == *limit) {
          next = TextAt(list.back(), "run");
          break;
        }
        list.push_back(store::SummaryJson(run));
      }
      call->Reply(200, JsonObject{{"runs", std::move(list)}, {"next", std::move(next)}});
    });
  }

  void Begin(const std::shared_ptr<Call>& call) {
    call->Later([this, call] {
      const auto body = call->Body();
      if (!body) return call->Fail(body.error());
      if (const Status known = CheckFields(*body, kRunFields); !known) {
        return call->Fail(known.error());
      }
      AskWish wish{.context = TextAt(*body, "context"),
                   .question = TextAt(*body, "question"),
                   .max_usd = FindNumber(*body, "max_usd"),
                   .max_calls = FindInt(*body, "max_calls")};
      for (const char* key : {"max_usd", "max_calls"}) {
        if (Find(*body, key) && !(FindNumber(*body, key).value_or(0) > 0)) {
          return call->Fail(400, fmt::format("{}: must be above 0", key), "invalid_value",
                            Json(key));
        }
      }
      if (!wish.context.empty() && !call->key().Has(Scope::kAdmin)) {
        return call->Fail(403, "contexts by id need a key with the scope admin",
                          "insufficient_scope", Json("context"));
      }
      if (wish.context.empty()) {
        const std::string text = TextAt(*body, "text");
        auto opened = shared_.workspace.contexts().Add(
            {{.path = {}, .text = text, .name = "context.txt", .notes = {}}}, "", {},
            shared_.stopping);
        if (!opened) return call->Fail(opened.error());
        wish.context = (*opened)->id;
      }
      const ServerKey& key = call->key();
      const WorkspaceOptions& options = shared_.workspace.options();
      if (key.usd_day) {
        wish.purse = PurseOf(options.data_folder, key.owner(), *key.usd_day, options.clock);
      }
      const auto run = shared_.workspace.runs().Start(wish, {.cancel = shared_.stopping});
      if (!run) return call->Fail(run.error());
      shared_.owners.Note(*run, call->key().owner());
      call->Reply(202, JsonObject{{"run", *run}, {"status", "running"}},
                  {{"Location", "/api/v1/runs/" + *run}});
    });
  }

  void Show(const std::shared_ptr<Call>& call) {
    WithEvents(call, [call](const std::string& status, const std::vector<store::Event>& events) {
      JsonObject out{{"run", events.front().run},
                     {"status", status},
                     {"started", events.front().time},
                     {"about", events.front().data},
                     {"events", events.size()}};
      for (const store::Event& event : events) {
        // Its first turns are another run's; itself it began then.
        if (event.type == "run.forked") out["started"] = event.time;
        if (event.type == "mode.decided") out["mode"] = event.data;
        if (event.type == "run.finished") out["finished"] = event.data;
      }
      call->Reply(200, std::move(out));
    });
  }

  // The calls of a run, and what each took.
  void Tree(const std::shared_ptr<Call>& call) {
    WithEvents(call, [call](const std::string&, const std::vector<store::Event>& events) {
      std::map<std::int64_t, JsonObject> calls;
      for (const store::Event& event : events) {
        JsonObject& node = calls[event.call];
        if (node.empty()) {
          node = {{"call", event.call}, {"parent", nullptr}, {"turns", 0},  {"requests", 0},
                  {"input", 0},         {"output", 0},       {"failed", 0}, {"from", event.seq}};
        }
        if (const Json* parent = Find(event.data, "parent")) node["parent"] = *parent;
        const auto add = [&](std::string_view key, std::int64_t value) {
          node[key] = node[key].to_number<std::int64_t>() + value;
        };
        if (event.type == "turn.started") add("turns", 1);
        if (event.type == "request.failed") add("failed", 1);
        if (event.type == "reply.received") {
          add("requests", 1);
          add("input", FindInt(Json(event.data), "input").value_or(0));
          add("output", FindInt(Json(event.data), "output").value_or(0));
        }
      }
      JsonArray list;
      for (auto& [number, node] : calls) list.push_back(std::move(node));
      call->Reply(200, JsonObject{{"calls", std::move(list)}});
    });
  }

  void Turn(const std::shared_ptr<Call>& call) {
    const auto number = ExactNumber<std::int64_t>(call->part(1));
    if (!number) return call->Fail(404, "a turn is a number", "not_found");
    WithEvents(call, [call, number](const std::string&, const std::vector<store::Event>& events) {
      JsonArray list;
      bool within = *number == 0;
      for (const store::Event& event : events) {
        if (event.type == "turn.started") {
          within = FindInt(Json(event.data), "turn") == number;
        }
        if (within) list.push_back(store::EventJson(event));
      }
      if (list.empty()) {
        return call->Fail(404, fmt::format("this run has no turn {}", *number), "not_found");
      }
      call->Reply(200, JsonObject{{"turn", *number}, {"events", std::move(list)}});
    });
  }

  // All events so far, and then each as it comes, until the run has ended.
  void Events(const std::shared_ptr<Call>& call) {
    const auto run = Visible(call);
    if (!run) return call->Fail(run.error());
    const std::string last(call->request().Header("last-event-id"));
    const std::int64_t after =
        ExactNumber<std::int64_t>(last.empty() ? call->Query("after") : last).value_or(0);
    // No place in the queue: it does no work, and there may be many.
    const auto stream = std::make_shared<EventStream>(
        call->exchange(), EventStreamOptions{.heartbeat = kRunsComment,
                                             .comment = [] { return std::string(": waiting\n\n"); },
                                             .on_gone = {},
                                             .ticker = &shared_.ticker});
    stream->Open(call->Answering(200, {{"Content-Type", "text/event-stream"}}));
    followers_.Run([this, call, stream, run = *run, after] { Follow(*stream, run, after); });
  }

  void Export(const std::shared_ptr<Call>& call) {
    WithEvents(call, [call](const std::string&, const std::vector<store::Event>& events) {
      std::string text;
      for (const store::Event& event : events) text += ToJson(store::EventJson(event)) + "\n";
      call->ReplyText(200, "application/x-ndjson", std::move(text),
                      {{"Content-Disposition",
                        fmt::format("attachment; filename=\"{}.jsonl\"", events.front().run)}});
    });
  }

  void Cancel(const std::shared_ptr<Call>& call) {
    const auto run = Visible(call);
    if (!run) return call->Fail(run.error());
    const auto journal = shared_.workspace.Journal();
    const auto status = (*journal)->StatusOf(*run);
    const bool told =
        status && *status == "running" &&
        // A run that was taken up is known to both: it was begun here, too.
        (again_.Cancel(*run) || shared_.workspace.runs().Cancel(*run, "cancelled by its caller"));
    call->Reply(
        told ? 202 : 409,
        JsonObject{{"run", *run}, {"status", told ? "cancelling" : "not running in this server"}});
  }

  void Resume(const std::shared_ptr<Call>& call) { TakeUp(call, Taken::kItself); }
  void Fork(const std::shared_ptr<Call>& call) { TakeUp(call, Taken::kAsFork); }

  // What two runs differ in, as `dossier runs diff --json` writes it.
  void Diff(const std::shared_ptr<Call>& call) {
    call->Later([this, call] {
      std::vector<ask::RunTale> tales;
      const auto journal = shared_.workspace.Journal();
      for (const char* side : {"a", "b"}) {
        if (call->Query(side).empty()) {
          return call->Fail(400, fmt::format("{}: name two runs: /api/v1/diff?a=RUN&b=RUN", side),
                            "invalid_value", Json(side));
        }
        const auto run = VisibleRun(call->key(), call->Query(side));
        if (!run) return call->Fail(run.error());
        auto tale = ask::ReadTale(**journal, *run);
        if (!tale) return call->Fail(tale.error());
        tales.push_back(std::move(*tale));
      }
      call->Reply(200, ask::DiffOf(tales[0], tales[1]));
    });
  }

  void Erase(const std::shared_ptr<Call>& call) {
    call->Later([this, call] {
      const auto run = Visible(call);
      if (!run) return call->Fail(run.error());
      const auto journal = shared_.workspace.Journal();
      const auto status = (*journal)->StatusOf(*run);
      if (status && *status == "running") {
        return call->Fail(409, "this run is at work; cancel it first", "run_is_running");
      }
      const std::vector<std::string> one{*run};
      const auto erased = (*journal)->EraseTexts(one);
      if (!erased) return call->Fail(erased.error());
      call->Reply(200, JsonObject{{"run", *run}, {"deleted", true}});
    });
  }

  // A body, if the run that is named holds it and this key sees that run.
  void Blob(const std::shared_ptr<Call>& call) {
    call->Later([this, call] {
      const std::string sha256 = call->part(0);
      const auto run = VisibleRun(call->key(), call->Query("run"));
      if (!run) return call->Fail(run.error());
      const auto journal = shared_.workspace.Journal();
      bool holds = false;
      // As a body is named: within a text the quotes would have a backslash.
      const std::string named = fmt::format("\"sha256\":\"{}\"", sha256);
      if (IsSha256Hex(sha256)) {
        (void)(*journal)->ForEachEvent(*run, [&](const store::StoredEvent& event) -> Status {
          holds = holds || event.data.find(named) != event.data.npos;
          return {};
        });
      }
      if (holds && !(*journal)->content().Has(sha256)) {
        return call->Fail(404, "this text was not kept", "not_found");
      }
      auto text = holds ? (*journal)->content().Get(sha256)
                        : MakeError(ErrorCode::kNotFound, "run {} has no body {}", *run, sha256);
      if (!text) return call->Fail(text.error());
      call->ReplyText(200, "text/plain; charset=utf-8", std::move(*text));
    });
  }

 private:
  // Holds its place in the queue until the run has ended.
  void TakeUp(const std::shared_ptr<Call>& call, Taken taken) {
    call->Later([this, call, taken] {
      const auto run = Visible(call);
      if (!run) return call->Fail(run.error());
      const Result<Json> body =
          call->request().body.empty() ? Result<Json>(JsonObject()) : call->Body();
      if (!body) return call->Fail(body.error());
      auto wish = ReadAgainWish(*body, *run, taken);
      if (wish && taken == Taken::kAsFork && !wish->fork_at) {
        return call->Fail(400, "at: say the last turn that stays; 0: none", "invalid_value",
                          Json("at"));
      }
      if (!wish) return call->Fail(wish.error());
      const auto child = again_.Begin(*wish, call->key());
      if (!child) return call->Fail(child.error());
      const std::string begun = RunAgain::RunOf(**child);
      JsonObject reply{{"run", begun}, {"status", "running"}};
      if (taken == Taken::kAsFork) reply["from"] = *run;
      call->Reply(202, std::move(reply), {{"Location", "/api/v1/runs/" + begun}});
      RunAgain::WaitForEnd(**child);
    });
  }

  Result<std::string> VisibleRun(const ServerKey& key, const std::string& run) const {
    DOSSIER_ASSIGN_OR_RETURN(const auto journal, shared_.workspace.Journal());
    const auto resolved = journal->Resolve(run);
    if (resolved && shared_.owners.Sees(key, *resolved)) return *resolved;
    return MakeError(ErrorCode::kNotFound, "no run {} of this key", run);
  }
  Result<std::string> Visible(const std::shared_ptr<Call>& call) const {
    return VisibleRun(call->key(), call->part(0));
  }

  template <typename See>
  void WithEvents(const std::shared_ptr<Call>& call, See see) {
    call->Later([this, call, see] {
      const auto run = Visible(call);
      if (!run) return call->Fail(run.error());
      const auto journal = shared_.workspace.Journal();
      const auto events = (*journal)->Events(*run);
      if (!events) return call->Fail(events.error());
      const auto status = (*journal)->StatusOf(*run);
      see(status.value_or("unknown"), *events);
    });
  }

  void Follow(EventStream& stream, const std::string& run, std::int64_t after) {
    const auto journal = shared_.workspace.Journal();
    while (!stream.gone()) {
      const auto status = (*journal)->StatusOf(run);  // before the events: none comes behind it
      std::vector<std::string> texts;
      (void)(*journal)->ForEachEvent(run, [&](const store::StoredEvent& event) -> Status {
        if (event.seq <= after) return {};
        after = event.seq;
        // Of a run that was imported a type is what its file says.
        std::string type(event.type);
        std::erase_if(type, [](char c) { return c != '.' && c != '_' && !(c >= 'a' && c <= 'z'); });
        const std::string data = ReplaceAll(ReplaceAll(event.data, "\n", " "), "\r", " ");
        texts.push_back(fmt::format(
            "id: {}\nevent: {}\ndata: {{\"seq\":{},\"time\":{},\"call\":{},\"data\":{}}}\n\n",
            event.seq, type, event.seq, ToJson(Json(event.time)), event.call, data));
        return {};
      });
      for (std::string& text : texts) stream.Push(std::move(text));
      if (!status || *status != "running") {
        stream.Push("event: end\ndata: {}\n\n");
        break;
      }
      if (!WaitUnlessCancelled(kJournalLook, shared_.draining)) {
        stream.Push("event: shutdown\ndata: {}\n\n");
        break;
      }
    }
    stream.Close();
  }

  const Shared shared_;
  RunAgain again_;
  TaskGroup followers_;
};

}  // namespace

Status CheckFields(const Json& body, std::span<const std::string_view> known) {
  if (!body.is_object()) {
    return MakeError(ErrorCode::kInvalidArgument, "the body must be a JSON object");
  }
  for (const auto& field : body.get_object()) {
    const std::string_view name = field.key();
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string shown(name.substr(0, 64));
    return MakeError(ErrorCode::kInvalidArgument, "{}: nobody knows this field; it must be {}",
                     shown, OneOf(shown, known));
  }
  return {};
}

std::vector<Route> RunsRoutes(Shared shared) {
  const auto api = std::make_shared<RunsApi>(shared);
  const auto to = [api](void (RunsApi::*method)(const std::shared_ptr<Call>&)) {
    return [api, method](std::shared_ptr<Call> call) { (api.get()->*method)(call); };
  };
  const std::string runs = "/api/v1/runs", run = runs + "/{run}";
  return {{"GET", runs, Scope::kRead, to(&RunsApi::List), {}},
          {"POST", runs, Scope::kRun, to(&RunsApi::Begin), {}},
          {"GET", run, Scope::kRead, to(&RunsApi::Show), {}},
          {"POST", run + "/resume", Scope::kRun, to(&RunsApi::Resume), {}},
          {"POST", run + "/fork", Scope::kRun, to(&RunsApi::Fork), {}},
          {"GET", "/api/v1/diff", Scope::kRead, to(&RunsApi::Diff), {}},
          {"DELETE", run, Scope::kRun, to(&RunsApi::Erase), {}},
          {"GET", run + "/tree", Scope::kRead, to(&RunsApi::Tree), {}},
          {"GET", run + "/turns/{n}", Scope::kRead, to(&RunsApi::Turn), {}},
          {"GET", run + "/events", Scope::kRead, to(&RunsApi::Events), {}},
          {"GET", run + "/export", Scope::kRead, to(&RunsApi::Export), {}},
          {"POST", run + "/cancel", Scope::kRun, to(&RunsApi::Cancel), {}},
          {"GET", "/api/v1/blobs/{sha256}", Scope::kRead, to(&RunsApi::Blob), {}}};
}

}  // namespace dossier::server
