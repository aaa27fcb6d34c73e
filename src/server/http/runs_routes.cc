// The routes of /api/v1/runs: past and current runs, for the viewer and for programs.

#include <algorithm>
#include <set>
#include <utility>

#include "ask/exchange/run_page.h"
#include "base/hash.h"
#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "server/http/openai_reply.h"
#include "server/http/routes.h"
#include "server/http/run_again.h"
#include "server/http/stored_runs.h"

namespace dossier::server {
namespace {

constexpr std::size_t kPage = 50, kMostOnPage = 500;
constexpr std::string_view kRunFields[] = {"question", "text", "context", "max_usd", "max_calls"};
constexpr Millis kRunsComment{15'000};           // silence after which a comment is sent
constexpr std::size_t kEventsAtOnce = 1u << 20;  // bytes of events read at once for a follower
constexpr WorkLimits kOrders{.running = 4, .waiting = 64};

// Reads the number of runs per page. Errors: kInvalidArgument.
Result<std::size_t> ListLimit(const std::string& given) {
  if (given.empty()) return kPage;
  const auto limit = ExactNumber<std::size_t>(given);
  if (limit && *limit >= 1 && *limit <= kMostOnPage) return *limit;
  return MakeError(ErrorCode::kInvalidArgument, "limit: must be a whole number from 1 to {}",
                   kMostOnPage);
}

// Hides the server's command line, folder and model addresses from keys without admin scope.
void HideServer(const ServerKey& key, std::string_view type, JsonObject& data) {
  if (key.Has(Scope::kAdmin) || type != "run.started") return;
  for (const char* field : {"argv", "folder"}) data.erase(field);
  Json* manifest = data.if_contains("manifest");
  Json* models =
      manifest && manifest->is_object() ? manifest->get_object().if_contains("models") : nullptr;
  if (!models || !models->is_object()) return;
  for (auto& model : models->get_object()) {
    if (model.value().is_object()) model.value().get_object().erase("origin");
  }
}
// The same for a stored event.
std::string ShownData(const ServerKey& key, const store::StoredEvent& event) {
  std::string text(event.data);
  if (event.type == "run.started" && !key.Has(Scope::kAdmin)) {
    auto data = ParseJson(text);
    if (!data || !data->is_object()) return "{}";
    HideServer(key, event.type, data->get_object());
    text = ToJson(*data);
  }
  return ReplaceAll(ReplaceAll(text, "\n", " "), "\r", " ");
}

class RunsApi {
 public:
  explicit RunsApi(const Shared& shared)
      : shared_(shared), runs_(shared.store ? SharedRuns(shared) : OwnRuns(shared)) {}

  void List(const std::shared_ptr<Call>& call) {
    call->Later([this, call] {
      RunsWish wish{.status = call->Query("status"),
                    .since = call->Query("since"),
                    .text = call->Query("q"),
                    .cursor = call->Query("cursor")};
      const auto states = runs_->states();
      if (!wish.status.empty() && std::ranges::find(states, wish.status) == states.end()) {
        return call->Fail(400, fmt::format("status: must be {}", OneOf(wish.status, states)),
                          "invalid_value", Json("status"));
      }
      // Times of runs are compared as texts, so that a day will do.
      if (!wish.since.empty() && !ParseTime(wish.since) && !ParseTime(wish.since + "T00:00:00Z")) {
        return call->Fail(400, "since: must be a time, such as 2026-11-27T10:00:00Z, or a day",
                          "invalid_value", Json("since"));
      }
      const auto limit = ListLimit(call->Query("limit"));
      if (!limit) return call->Fail(limit.error());
      wish.limit = *limit;
      auto page = runs_->List(call->key(), wish);
      if (!page) return call->Fail(page.error());
      call->Reply(200,
                  JsonObject{{"runs", std::move(page->runs)}, {"next", std::move(page->next)}});
    });
  }

  // Holds its place in the queue until the run has ended.
  void Begin(const std::shared_ptr<Call>& call) {
    call->Queue([this, call] {
      const auto body = call->Body();
      if (!body) return call->Fail(body.error());
      if (const Status known = CheckFields(*body, kRunFields); !known) {
        return call->Fail(known.error());
      }
      if (const Status texts = CheckTexts(*body, {"question", "text", "context"}); !texts) {
        return call->Fail(texts.error());
      }
      const auto calls = CountAt(*body, "max_calls", 1);
      if (!calls) return call->Fail(calls.error());
      AskWish wish{.context = TextAt(*body, "context"),
                   .question = TextAt(*body, "question"),
                   .max_usd = FindNumber(*body, "max_usd"),
                   .max_calls = *calls};
      if (Find(*body, "max_usd") && !IsLimit(wish.max_usd.value_or(0))) {
        return call->Fail(400, fmt::format("max_usd: {}", kNoLimit), "invalid_value",
                          Json("max_usd"));
      }
      if (!wish.context.empty() && !TextAt(*body, "text").empty()) {
        return call->Fail(400, "text: a run is over a text or a context; leave one of them out",
                          "invalid_value", Json("text"));
      }
      if (!wish.context.empty() && !call->key().Has(Scope::kAdmin)) {
        return call->Fail(403, "contexts by id need a key with the scope admin",
                          "insufficient_scope", Json("context"));
      }
      const auto begun = [&](const std::string& run, std::string_view status) {
        call->Reply(202, JsonObject{{"run", run}, {"status", status}},
                    {{"Location", "/api/v1/runs/" + run}});
      };
      const Status ended = runs_->Begin(std::move(wish), TextAt(*body, "text"), call->key(), begun);
      if (!ended) call->Fail(ended.error());
    });
  }

  void Show(const std::shared_ptr<Call>& call) {
    WithEvents(call, [this, call](const std::string& run, const std::vector<store::Event>& events) {
      auto out = runs_->Describe(run, events);
      if (!out) return call->Fail(out.error());
      if (Json& about = (*out)["about"]; about.is_object()) {
        HideServer(call->key(), "run.started", about.get_object());
      }
      (*out)["events"] = events.size();
      for (const store::Event& event : events) {
        // A fork has another run's first turns; it began at this time itself.
        if (event.type == "run.forked") (*out)["started"] = event.time;
        if (event.type == "mode.decided") (*out)["mode"] = event.data;
        if (event.type == "run.finished") (*out)["finished"] = event.data;
      }
      call->Reply(200, std::move(*out));
    });
  }

  // Replies with the tree of a run's calls and their costs.
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

  // Sends all events so far, then each new one, until the run has ended.
  void Events(const std::shared_ptr<Call>& call) {
    const std::string last(call->request().Header("last-event-id"));
    constexpr std::int64_t kMost = std::int64_t{1} << 62;
    const std::int64_t after = std::min(
        kMost, ExactNumber<std::int64_t>(last.empty() ? call->Query("after") : last).value_or(0));
    // Does not use the queue of runs: it does no work, and there may be many.
    const bool taken = followers_.Submit([this, call, after] {
      const auto run = Visible(call);
      if (!run) return call->Fail(run.error());
      EventStream stream(call->exchange(),
                         EventStreamOptions{.heartbeat = kRunsComment,
                                            .comment = [] { return std::string(": waiting\n\n"); },
                                            .on_gone = {},
                                            .ticker = &shared_.ticker});
      stream.Open(call->Answering(200, {{"Content-Type", "text/event-stream"}}));
      Follow(stream, call->key(), *run, after);
    });
    if (!taken) call->FailBusy();
  }

  void Export(const std::shared_ptr<Call>& call) {
    WithEvents(call, [call](const std::string& run, const std::vector<store::Event>& events) {
      std::string text;
      for (const store::Event& event : events) text += ToJson(store::EventJson(event)) + "\n";
      call->ReplyText(
          200, "application/x-ndjson", std::move(text),
          {{"Content-Disposition", fmt::format("attachment; filename=\"{}.jsonl\"", run)}});
    });
  }

  // Does not use the queue either, because the run to cancel may be what fills it.
  void Cancel(const std::shared_ptr<Call>& call) {
    const bool taken = orders_.Submit([this, call] {
      const auto run = Visible(call);
      if (!run) return call->Fail(run.error());
      auto told = runs_->Cancel(*run);
      if (!told) return call->Fail(told.error());
      call->Reply(told->status, std::move(told->body));
    });
    if (!taken) call->FailBusy();
  }

  void Resume(const std::shared_ptr<Call>& call) { TakeUp(call, Taken::kItself); }
  void Fork(const std::shared_ptr<Call>& call) { TakeUp(call, Taken::kAsFork); }

  // Replies with the differences of two runs, as `dossier runs diff --json`.
  void Diff(const std::shared_ptr<Call>& call) {
    call->Later([this, call] {
      std::vector<ask::RunTale> tales;
      for (const char* side : {"a", "b"}) {
        if (call->Query(side).empty()) {
          return call->Fail(400, fmt::format("{}: name two runs: /api/v1/diff?a=RUN&b=RUN", side),
                            "invalid_value", Json(side));
        }
        const auto run = runs_->Find(call->key(), call->Query(side));
        if (!run) return call->Fail(run.error());
        auto tale = runs_->Tale(*run);
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
      auto erased = runs_->Erase(*run);
      if (!erased && erased.error().code == ErrorCode::kLocked) {
        return call->Fail(409, erased.error().message, "run_is_running");
      }
      if (!erased) return call->Fail(erased.error());
      call->Reply(erased->status, std::move(erased->body));
    });
  }

  // Replies with a body, if the named run has it and this key may see that run.
  void Blob(const std::shared_ptr<Call>& call) {
    call->Later([this, call] {
      const std::string sha256 = call->part(0);
      const auto run = runs_->Find(call->key(), call->Query("run"));
      if (!run) return call->Fail(run.error());
      bool holds = false;
      // The form in which events name a body: within a text the quotes would be escaped.
      const std::string named = fmt::format("\"sha256\":\"{}\"", sha256);
      if (IsSha256Hex(sha256)) {
        (void)runs_->ForEachEvent(*run, 0, [&](const store::StoredEvent& event) -> Status {
          holds = holds || event.data.find(named) != event.data.npos;
          return {};
        });
      }
      auto text = holds ? runs_->Body(sha256)
                        : MakeError(ErrorCode::kNotFound, "run {} has no body {}", *run, sha256);
      if (!text) return call->Fail(text.error());
      call->ReplyText(200, "text/plain; charset=utf-8", std::move(*text));
    });
  }

 private:
  // Holds its place in the queue, as Begin does.
  void TakeUp(const std::shared_ptr<Call>& call, Taken taken) {
    call->Queue([this, call, taken] {
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
      const auto begun = [&](const std::string& taken_up, std::string_view status) {
        JsonObject reply{{"run", taken_up}, {"status", status}};
        if (taken == Taken::kAsFork) reply["from"] = *run;
        call->Reply(202, std::move(reply), {{"Location", "/api/v1/runs/" + taken_up}});
      };
      const Status ended = runs_->TakeUp(*wish, call->key(), begun);
      if (!ended) call->Fail(ended.error());
    });
  }

  Result<std::string> Visible(const std::shared_ptr<Call>& call) const {
    return runs_->Find(call->key(), call->part(0));
  }

  template <typename See>
  void WithEvents(const std::shared_ptr<Call>& call, See see) {
    call->Later([this, call, see] {
      const auto run = Visible(call);
      if (!run) return call->Fail(run.error());
      auto events = runs_->Events(*run);
      if (!events) return call->Fail(events.error());
      for (store::Event& event : *events) HideServer(call->key(), event.type, event.data);
      see(*run, *events);
    });
  }

  void Follow(EventStream& stream, const ServerKey& key, const std::string& run,
              std::int64_t after) {
    while (!stream.gone()) {
      // Both before reading the events, so that no later event is missed.
      const RunNews news = runs_->NewsOf(run, shared_.draining);
      const bool goes_on = runs_->GoesOn(run);
      std::string texts;
      const auto see = [&](const store::StoredEvent& event) -> Status {
        if (texts.size() > kEventsAtOnce) return MakeError(ErrorCode::kPartial, "there are more");
        after = event.seq;
        // In an imported run, the type is text from a foreign file.
        std::string type(event.type);
        std::erase_if(type, [](char c) { return c != '.' && c != '_' && !(c >= 'a' && c <= 'z'); });
        texts += fmt::format(
            "id: {}\nevent: {}\ndata: {{\"seq\":{},\"time\":{},\"call\":{},\"data\":{}}}\n\n",
            event.seq, type, event.seq, ToJson(Json(event.time)), event.call,
            ShownData(key, event));
        return {};
      };
      const Status read = runs_->ForEachEvent(run, after, see);
      stream.Push(std::move(texts));
      stream.WaitForRoom();
      if (!read && read.error().code == ErrorCode::kPartial) continue;
      const bool away = !read && read.error().code == ErrorCode::kNetwork;
      if (!goes_on && !away) {
        stream.Push("event: end\ndata: {}\n\n");
        break;
      }
      (void)WaitUnlessCancelled(news.look_again, news.source->token());
      if (shared_.draining.cancelled()) {
        stream.Push("event: shutdown\ndata: {}\n\n");
        break;
      }
    }
    stream.Close();
  }

  const Shared shared_;
  const std::unique_ptr<StoredRuns> runs_;
  WorkQueue followers_{kFollowers}, orders_{kOrders};  // last: destroyed first
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

Status CheckTexts(const Json& body, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const Json* given = Find(body, name);
    if (!given || given->is_null() || given->is_string()) continue;
    return MakeError(ErrorCode::kInvalidArgument, "{}: must be text", name);
  }
  return {};
}

Result<std::optional<std::int64_t>> CountAt(const Json& body, std::string_view name,
                                            std::int64_t least) {
  const Json* given = Find(body, name);
  if (!given || given->is_null()) return std::nullopt;
  const auto value = FindInt(body, name);
  if (value && *value >= least) return value;
  return MakeError(ErrorCode::kInvalidArgument, "{}: must be a whole number of at least {}", name,
                   least);
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
