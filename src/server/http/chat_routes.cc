// /v1/chat/completions and /v1/models, and what every answer to a client shares.

#include <algorithm>
#include <future>
#include <utility>

#include "base/text/text.h"
#include "server/http/openai_reply.h"
#include "server/http/routes.h"

namespace dossier::server {
namespace {

constexpr std::string_view kEvents = "text/event-stream";

// A chat completion, streamed or whole.
class Completion {
 public:
  Completion(std::shared_ptr<Answering> answering, ChatRequest request, ReplyHead head)
      : answering_(std::move(answering)), request_(std::move(request)), head_(std::move(head)) {}

  void Open() {
    if (request_.streamed) Begin();
    opened_.set_value();
  }

  void Begin() {
    HttpHeaders headers = WarningHeaders(request_);
    headers.emplace_back("Content-Type", kEvents);
    answering_->stream().Open(answering_->call().Answering(200, std::move(headers)));
    answering_->stream().Push(ChunkText(head_, {{"role", "assistant"}, {"content", ""}}));
  }

  void Work() {
    opened_.get_future().wait();  // else the answer could complete before its head is sent
    AnswerWatch watch;
    bool told = false;
    if (request_.streamed) {
      watch.on_text = [&](std::string_view text) {
        told = told || !text.empty();
        answering_->stream().Push(ChunkText(head_, {{"content", text}}));
      };
    }
    const bool reasoning = request_.streamed && request_.reasoning_streamed;
    watch.on_progress = [&, reasoning](const std::string& note) {
      answering_->SetNote(note);
      if (reasoning) {
        answering_->stream().Push(ChunkText(head_, {{"reasoning_content", note + "\n"}}));
      }
    };
    const HttpHeaders warnings = WarningHeaders(request_);
    const bool streamed = request_.streamed, usage = request_.usage_streamed;
    const auto answered = answering_->Make(std::move(request_), watch);
    if (!streamed) {
      return answered ? answering_->ReplyJson(200, CompletionJson(head_, *answered), warnings)
                      : answering_->ReplyError(answered.error());
    }
    EventStream& stream = answering_->stream();
    if (!answered) {
      stream.Push(DataText(ErrorJson(answered.error())));
      return stream.Close();
    }
    if (!told && !answered->text.empty()) {
      stream.Push(ChunkText(head_, {{"content", answered->text}}));
    }
    JsonArray calls = answered->tool_calls;
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i].get_object()["index"] = i;
    if (!calls.empty()) stream.Push(ChunkText(head_, {{"tool_calls", calls}}));
    stream.Push(EndChunkText(head_, *answered));
    if (usage) stream.Push(UsageChunkText(head_, *answered));
    stream.Push(std::string(kDoneText));
    stream.Close();
  }

 private:
  const std::shared_ptr<Answering> answering_;
  ChatRequest request_;
  const ReplyHead head_;
  std::promise<void> opened_;
};

void Answer(const Shared& shared, const std::shared_ptr<Call>& call) {
  const auto body = call->Body();
  if (!body) return call->Fail(body.error());
  auto request = ReadChatRequest(*body, ReadingFor(shared, call->key()));
  if (!request) return call->Fail(request.error());
  const auto leaving =
      request->detached ? Answering::Leaving::kGoesOn : Answering::Leaving::kCancels;
  ReplyHead head{.id = "chatcmpl-" + call->id().substr(4),
                 .model = request->model,
                 .created = SecondsNow(shared.front.clock())};
  const auto completion = std::make_shared<Completion>(
      std::make_shared<Answering>(shared, call, leaving), std::move(*request), std::move(head));
  const bool taken = shared.front.work().Submit([completion] { completion->Work(); });
  taken ? completion->Open() : call->FailBusy();
}

// A request may be long, so it is parsed outside the listener's threads, and only if admitted.
void Complete(const Shared& shared, const std::shared_ptr<Call>& call) {
  if (shared.front.work().full()) return call->FailBusy();
  call->Later([shared, call] { Answer(shared, call); });
}

JsonObject ModelJson(const std::string& name, std::int64_t created) {
  return {{"id", name}, {"object", "model"}, {"created", created}, {"owned_by", "dossier"}};
}

void ListModels(const Shared& shared, const std::shared_ptr<Call>& call) {
  call->Later([shared, call] {
    const auto names = Answers(shared.workspace).ModelNames(shared.stopping);
    if (!names) return call->Fail(names.error());
    JsonArray list;
    for (const std::string& name : *names) list.push_back(ModelJson(name, 0));
    call->Reply(200, JsonObject{{"object", "list"}, {"data", std::move(list)}});
  });
}

void ShowModel(const Shared& shared, const std::shared_ptr<Call>& call) {
  call->Later([shared, call] {
    const auto names = Answers(shared.workspace).ModelNames(shared.stopping);
    if (!names) return call->Fail(names.error());
    const std::string wanted = Join(call->parts(), "/");  // "dossier/MODEL" is one name
    if (std::ranges::find(*names, wanted) != names->end()) {
      return call->Reply(200, ModelJson(wanted, 0));
    }
    const auto near = NearestNames(wanted, *names);
    call->Fail(404,
               fmt::format("there is no model {}{}", wanted,
                           near.empty() ? "" : "; near: " + Join(near, ", ")),
               "model_not_found", Json("model"));
  });
}

}  // namespace

std::int64_t SecondsNow(const Clock& clock) {
  return std::chrono::duration_cast<std::chrono::seconds>(clock.WallNow().time_since_epoch())
      .count();
}

HttpHeaders WarningHeaders(const ChatRequest& request) {
  if (request.ignored.empty()) return {};
  constexpr std::size_t kMostNames = 20, kLongestName = 64;
  std::vector<std::string> names;
  for (const std::string& name : request.ignored) {
    const bool plain = name.size() <= kLongestName && std::ranges::all_of(name, [](char c) {
                         return c > ' ' && c < 127 && c != ',';
                       });
    if (plain && names.size() < kMostNames) names.push_back(name);
  }
  if (names.size() < request.ignored.size()) {
    names.push_back(fmt::format("{} more", request.ignored.size() - names.size()));
  }
  return {{"X-Dossier-Warnings", "ignored: " + Join(names, ", ")}};
}

std::string RunsFolder(const Workspace& workspace) {
  return workspace.options().data_folder + "/runs";
}

RequestReading ReadingFor(Shared shared, const ServerKey& key) {
  return {
      .move_above = shared.options.inline_tokens,
      .count = [&workspace = shared.workspace](
                   std::string_view text) { return workspace.Counter().CountText(text).upper(); },
      .file = [shared, owner = key.owner()](std::string_view id) -> Result<RequestDocument> {
        DOSSIER_ASSIGN_OR_RETURN(const StoredFile file, shared.files.Find(owner, id));
        return RequestDocument{.name = file.name,
                               .text = {},
                               .path = shared.files.PathOf(file),
                               .shown = fmt::format("upload:{}/{}", file.id, file.name)};
      },
      .context = [all = key.Has(Scope::kAdmin)](std::string_view) -> Status {
        if (all) return {};
        return MakeError(ErrorCode::kRefused, "contexts by id need a key with the scope admin");
      },
      .path = [shared](std::string_view path) -> Result<std::string> {
        if (shared.options.local_paths.empty()) {
          return MakeError(ErrorCode::kRefused,
                           "this server reads no files of its machine; start it with "
                           "--local-paths FOLDER");
        }
        return shared.workspace.Admit(std::string(path));
      }};
}

Answering::Answering(Shared shared, std::shared_ptr<Call> call, Leaving leaving)
    : shared_(shared),
      call_(std::move(call)),
      source_(shared.stopping),
      cancel_(source_.token()),
      stream_(call_->exchange(), {.heartbeat = shared.options.heartbeat,
                                  .comment = [this] { return Comment(); },
                                  .on_gone =
                                      [this, leaving] {
                                        if (leaving == Leaving::kCancels)
                                          source_.Cancel("the client is gone");
                                      },
                                  .ticker = &shared.ticker}) {}

void Answering::SetNote(const std::string& note) {
  const std::lock_guard lock(mutex_);
  note_ = note;
}

std::string Answering::Comment() {
  const std::lock_guard lock(mutex_);
  return note_.empty() ? ": waiting\n\n" : fmt::format(": {}\n\n", note_);
}

std::optional<Purse> PurseFor(const Shared& shared, const ServerKey& key) {
  if (!key.usd_day) return std::nullopt;
  const WorkspaceOptions& options = shared.workspace.options();
  return PurseOf(options.data_folder, key.owner(), *key.usd_day, options.clock);
}

Result<HeldMoney> HeldMoney::Of(const Shared& shared, const ServerKey& key,
                                std::optional<double> wanted, const CancelToken& cancel) {
  HeldMoney out;
  out.most_ = wanted;
  const auto purse = PurseFor(shared, key);
  if (!purse) return out;
  out.budget_ = purse->budget;
  DOSSIER_ASSIGN_OR_RETURN(out.most_, purse->Hold(wanted, cancel));
  return out;
}

void HeldMoney::Settle(double cost) {
  if (budget_) budget_->Settle(most_, cost);
}

Result<Answered> Answering::Make(ChatRequest request, const AnswerWatch& watch) {
  const std::string model = request.model, owner = call_->key().owner();
  AnswerWatch seen = watch;
  seen.on_run = [&](std::string_view run) {
    shared_.owners.Note(run, call_->key().owner());
    if (watch.on_run) watch.on_run(run);
  };
  seen.on_cost = [&](double usd) {
    shared_.front.metrics().AddSum(owner, "cost_nano_usd_total", {}, usd * 1e9);
  };
  Answers answers(shared_.workspace, PurseFor(shared_, call_->key()));
  auto answered = answers.Answer(std::move(request), seen, cancel_);
  Metrics& metrics = shared_.front.metrics();
  const std::string status = answered              ? TextAt(answered->dossier, "status")
                             : cancel_.cancelled() ? "interrupted"
                                                   : "failed";
  metrics.AddSum(owner, "runs_total", {{"status", status}});
  if (!answered) return tl::unexpected(ErrorFor(call_->key(), answered.error()));
  const auto count = [&](const char* kind, std::int64_t tokens) {
    metrics.AddSum(owner, "model_tokens_total", {{"model", model}, {"kind", kind}},
                   static_cast<double>(tokens));
  };
  count("input", answered->input);
  count("output", answered->output);
  count("cached", answered->cached);
  return answered;
}

void Answering::ReplyJson(int status, const Json& body, HttpHeaders headers) {
  headers.emplace_back("Content-Type", "application/json");
  stream_.Reply({.status = status,
                 .headers = call_->Answering(status, std::move(headers)),
                 .body = ToJson(body)});
}

void Answering::ReplyError(const Error& error) {
  if (error.code == ErrorCode::kCancelled && shared_.draining.cancelled()) {
    return ReplyJson(503,
                     ErrorJson("the server ends before the answer is there; ask again",
                               "server_error", nullptr, "shutting_down"),
                     {{"Retry-After", "5"}});
  }
  if (const ParamMessage parts = SplitParam(error); !parts.param.empty()) {
    return ReplyJson(
        400, ErrorJson(parts.message, "invalid_request_error", Json(parts.param), "invalid_value"));
  }
  const bool model = error.code == ErrorCode::kConfig;
  ReplyJson(model ? 404 : HttpStatusOf(error.code),
            model ? ErrorJson(error.message, "invalid_request_error", "model", "model_not_found")
                  : ErrorJson(error),
            AgainHeaders(error.code));
}

std::vector<Route> ChatRoutes(Shared shared) {
  const auto with = [shared](auto function) {
    return [shared, function](std::shared_ptr<Call> call) { function(shared, call); };
  };
  return {{"POST", "/v1/chat/completions", Scope::kRun, with(Complete), {}},
          {"GET", "/v1/models", Scope::kRead, with(ListModels), {}},
          {"GET", "/v1/models/{id}", Scope::kRead, with(ShowModel), {}},
          {"GET", "/v1/models/{id}/{name}", Scope::kRead, with(ShowModel), {}}};
}

}  // namespace dossier::server
