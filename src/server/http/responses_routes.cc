// The routes of /v1/responses: the same answers as chat completions, but stored and continuable.

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/random.h"
#include "base/text/parse.h"
#include "server/http/openai_reply.h"
#include "server/http/response_book.h"
#include "server/http/routes.h"

namespace dossier::server {
namespace {

// One response being made.
class Response : public std::enable_shared_from_this<Response> {
 public:
  Response(std::shared_ptr<Answering> answering, std::shared_ptr<StoredResponse> stored,
           ChatRequest request, ResponseHead head)
      : answering_(std::move(answering)),
        stored_(std::move(stored)),
        request_(std::move(request)),
        head_(std::move(head)),
        streamed_(request_.streamed),
        warnings_(WarningHeaders(request_)),
        message_id_("msg_" + head_.id.substr(5)) {}

  enum class Manner : std::uint8_t { kWaits, kBackground };

  void Open(Manner manner) {
    manner_ = manner;
    stored_->OnCancel([answering = std::weak_ptr<Answering>(answering_)] {
      if (const auto alive = answering.lock()) alive->Stop("cancelled by its caller");
    });
    const char* status = manner == Manner::kBackground ? "queued" : "in_progress";
    stored_->Update(ResponseJson(head_, status, nullptr, nullptr));
    if (streamed_) {
      HttpHeaders headers = warnings_;
      headers.emplace_back("Content-Type", "text/event-stream");
      answering_->stream().Open(answering_->call().Answering(200, std::move(headers)));
    }
    Tell("response.created", {{"response", stored_->Object()}});
    if (manner == Manner::kBackground && !streamed_) {
      answering_->ReplyJson(200, stored_->Object(), warnings_);
    }
  }

  void Work() {
    stored_->Update(ResponseJson(head_, "in_progress", nullptr, nullptr));
    Tell("response.in_progress", {{"response", stored_->Object()}});
    AnswerWatch watch;
    watch.on_progress = [this](const std::string& note) { answering_->SetNote(note); };
    watch.on_text = [this](std::string_view text) { TellText(text); };
    const auto answered = answering_->Make(std::move(request_), watch);
    answered ? Succeed(*answered) : Fail(answered.error());
    if (streamed_) answering_->stream().Close();
  }

  // Called instead of Work if the last place was taken meanwhile.
  void Refuse() {
    Fail(Error{ErrorCode::kRateLimited, "too many requests are running and waiting"});
    if (streamed_) answering_->stream().Close();
  }

 private:
  void Tell(std::string_view type, JsonObject data) {
    std::string text = stored_->Add(type, std::move(data));
    if (streamed_) answering_->stream().Push(std::move(text));
  }

  JsonObject At() const {
    return {{"item_id", message_id_}, {"output_index", 0}, {"content_index", 0}};
  }

  void Begin() {
    if (std::exchange(begun_, true)) return;
    Tell("response.output_item.added", {{"output_index", 0},
                                        {"item", JsonObject{{"type", "message"},
                                                            {"id", message_id_},
                                                            {"status", "in_progress"},
                                                            {"role", "assistant"},
                                                            {"content", JsonArray()}}}});
    JsonObject part = At();
    part["part"] = Part("");
    Tell("response.content_part.added", std::move(part));
  }

  static JsonObject Part(std::string_view text) {
    return {{"type", "output_text"}, {"text", text}, {"annotations", JsonArray()}};
  }

  void TellText(std::string_view text) {
    if (text.empty()) return;
    Begin();
    said_ += text;
    JsonObject delta = At();
    delta["delta"] = text;
    Tell("response.output_text.delta", std::move(delta));
  }

  void Succeed(const Answered& answered) {
    if (said_.empty()) TellText(answered.text);
    Begin();
    JsonObject text = At();
    text["text"] = answered.text;
    Tell("response.output_text.done", std::move(text));
    JsonObject part = At();
    part["part"] = Part(answered.text);
    Tell("response.content_part.done", std::move(part));
    const bool whole = answered.finish != "length";
    const JsonObject object =
        ResponseJson(head_, whole ? "completed" : "incomplete", &answered, nullptr);
    Tell("response.output_item.done",
         {{"output_index", 0}, {"item", Find(object, "output")->get_array()[0]}});
    Tell(whole ? "response.completed" : "response.incomplete", {{"response", object}});
    stored_->Finish(object, answered.text);
    if (!streamed_ && manner_ == Manner::kWaits) answering_->ReplyJson(200, object, warnings_);
  }

  void Fail(const Error& error) {
    const bool cancelled = error.code == ErrorCode::kCancelled;
    const JsonObject object = ResponseJson(head_, cancelled ? "cancelled" : "failed", nullptr,
                                           cancelled ? nullptr : &error);
    Tell("response.failed", {{"response", object}});
    stored_->Finish(object, "");
    if (!streamed_ && manner_ == Manner::kWaits) answering_->ReplyError(error);
  }

  const std::shared_ptr<Answering> answering_;
  const std::shared_ptr<StoredResponse> stored_;
  ChatRequest request_;
  const ResponseHead head_;
  const bool streamed_;
  const HttpHeaders warnings_;
  const std::string message_id_;
  Manner manner_ = Manner::kWaits;
  bool begun_ = false;
  std::string said_;
};

class ResponsesApi {
 public:
  explicit ResponsesApi(const Shared& shared)
      : shared_(shared), book_(shared.workspace.options().data_folder + "/server/responses") {}

  void Create(const std::shared_ptr<Call>& call) {
    if (shared_.front.work().full()) return call->FailBusy();
    auto body = call->Body();
    if (!body) return call->Fail(body.error());
    const std::string previous = TextAt(*body, "previous_response_id");
    JsonArray earlier;
    if (!previous.empty()) {
      const auto before = book_.Find(previous, call->key().owner());
      if (!before) return call->Fail(before.error());
      earlier = (*before)->Messages();
    }
    const auto chat = ChatOfResponses(*body, earlier);
    if (!chat) return call->Fail(chat.error());
    auto request = ReadChatRequest(*chat, ReadingFor(shared_, call->key()));
    if (!request) return call->Fail(request.error());
    NoteIgnored(*body, *request);
    Start(call, *body, *chat, std::move(*request), previous);
  }

  void Show(const std::shared_ptr<Call>& call) {
    const auto stored = book_.Find(call->part(0), call->key().owner());
    if (!stored) return call->Fail(stored.error());
    if (call->Query("stream") != "true") return call->Reply(200, (*stored)->Object());
    const std::int64_t after =
        ExactNumber<std::int64_t>(call->Query("starting_after")).value_or(-1);
    // Does not use the queue: the work that it waits for may be what fills it.
    const bool taken = followers_.Submit([this, call, stored = *stored, after] {
      Answering answering(shared_, call, Answering::Leaving::kCancels);
      EventStream& stream = answering.stream();
      stream.Open(call->Answering(200, {{"Content-Type", "text/event-stream"}}));
      const auto see = [&](std::string text) {
        stream.Push(std::move(text));
        stream.WaitForRoom();
      };
      stored->Read(after, see, answering.cancel());
      stream.Close();
    });
    if (!taken) call->FailBusy();
  }

  void Stop(const std::shared_ptr<Call>& call) {
    const auto stored = book_.Find(call->part(0), call->key().owner());
    if (!stored) return call->Fail(stored.error());
    (*stored)->Cancel();
    JsonObject object = (*stored)->Object();
    if (!(*stored)->ended()) object["status"] = "cancelled";
    call->Reply(200, std::move(object));
  }

  void Remove(const std::shared_ptr<Call>& call) {
    const Status removed = book_.Remove(call->part(0), call->key().owner());
    if (!removed) return call->Fail(removed.error());
    call->Reply(200, JsonObject{{"id", call->part(0)}, {"object", "response"}, {"deleted", true}});
  }

 private:
  // Responses have other fields than chat completions, whose names were noted until now.
  static void NoteIgnored(const Json& body, ChatRequest& request) {
    constexpr std::string_view kHonoured[] = {"input",
                                              "instructions",
                                              "model",
                                              "stream",
                                              "store",
                                              "background",
                                              "text",
                                              "metadata",
                                              "temperature",
                                              "top_p",
                                              "dossier",
                                              "max_output_tokens",
                                              "previous_response_id"};
    for (std::string& name : request.ignored) {
      if (name == "max_completion_tokens") name = "max_output_tokens";
      if (name == "image_url.detail") name = "input_image.detail";
    }
    for (const auto& field : body.get_object()) {
      const std::string_view key = field.key();
      const bool known = std::ranges::find(kHonoured, key) != std::end(kHonoured);
      if (!known && !field.value().is_null()) request.ignored.emplace_back(key);
    }
  }

  void Start(const std::shared_ptr<Call>& call, const Json& body, const Json& chat,
             ChatRequest request, const std::string& previous) {
    const bool background = FindBool(body, "background").value_or(false);
    const bool store = FindBool(body, "store").value_or(true);
    if (background && !store) {
      return call->Fail(400, "background: needs store to be true", "invalid_value",
                        Json("background"));
    }
    ResponseHead head{.id = "resp_" + RandomHex(32),
                      .model = request.model,
                      .previous = previous,
                      .created = SecondsNow(shared_.front.clock()),
                      .metadata = request.metadata};
    if (const Json* text = Find(body, "instructions")) head.instructions = *text;
    // Instructions do not apply to the next response.
    JsonArray messages;
    for (const Json& message : Find(chat, "messages")->get_array()) {
      if (TextAt(message, "role") != "system") messages.push_back(message);
    }
    // A response is announced before its work is submitted: nobody may check for room between.
    std::lock_guard taking_a_place(mutex_);
    if (shared_.front.work().full()) return call->FailBusy();
    auto stored =
        book_.Begin(head.id, call->key().owner(), std::move(messages),
                    store ? StoredResponse::Kept::kOnDisk : StoredResponse::Kept::kInMemory);
    if (!stored) return call->Fail(stored.error());
    const auto leaving = background ? Answering::Leaving::kGoesOn : Answering::Leaving::kCancels;
    const auto response =
        std::make_shared<Response>(std::make_shared<Answering>(shared_, call, leaving), *stored,
                                   std::move(request), std::move(head));
    // Opened first, so that its first event is the first.
    response->Open(background ? Response::Manner::kBackground : Response::Manner::kWaits);
    if (!shared_.front.work().Submit([response] { response->Work(); })) response->Refuse();
  }

  const Shared shared_;
  ResponseBook book_;
  std::mutex mutex_;                 // held from the check for room to the submission
  WorkQueue followers_{kFollowers};  // last: destroyed first
};

}  // namespace

std::vector<Route> ResponsesRoutes(Shared shared) {
  const auto api = std::make_shared<ResponsesApi>(shared);
  const auto to = [api](void (ResponsesApi::*method)(const std::shared_ptr<Call>&)) {
    return [api, method](std::shared_ptr<Call> call) {
      call->Later([api, method, call] { (api.get()->*method)(call); });
    };
  };
  return {{"POST", "/v1/responses", Scope::kRun, to(&ResponsesApi::Create), {}},
          {"GET", "/v1/responses/{id}", Scope::kRead, to(&ResponsesApi::Show), {}},
          {"DELETE", "/v1/responses/{id}", Scope::kRun, to(&ResponsesApi::Remove), {}},
          {"POST", "/v1/responses/{id}/cancel", Scope::kRun, to(&ResponsesApi::Stop), {}}};
}

}  // namespace dossier::server
