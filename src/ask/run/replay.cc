#include "ask/run/replay.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text/parse.h"
#include "base/text/utf8.h"
#include "store/event_data.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kShown = 80;  // code points shown of a difference

bool IsAnswer(std::string_view type) {
  return type == "reply.received" || type == "request.failed";
}

// Requests of a loop are sequential within a call; those of code come from many threads.
bool IsOfLoop(std::string_view purpose) { return purpose != "subcall" && purpose != "map"; }

ErrorCode CodeNamed(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kFailed); ++i) {
    if (ErrorName(static_cast<ErrorCode>(i)) == name) return static_cast<ErrorCode>(i);
  }
  return ErrorCode::kFailed;
}

// Reads fields of an event's data in place, because a whole record is read this way.
using dossier::FindInt;
using dossier::TextAt;
std::string TextAt(const JsonObject& data, std::string_view key) {
  const Json* value = Find(data, key);
  const auto* text = value ? value->if_string() : nullptr;
  return text ? std::string(*text) : std::string();
}
std::optional<std::int64_t> FindInt(const JsonObject& data, std::string_view key) {
  const Json* value = Find(data, key);
  return value && value->is_int64() ? std::optional(value->get_int64()) : std::nullopt;
}

std::string Shown(const Json* value) {
  if (!value) return "nothing";
  const auto text = FindString(*value, "text");
  return std::string(utf8::Prefix(text ? std::string(*text) : ToJson(*value), kShown));
}

bool IsCancelled(const store::Event& event) {
  return (event.type == "request.failed" && TextAt(event.data, "kind") == "cancelled") ||
         (event.type == "block.done" && TextAt(event.data, "status") == "interrupted");
}

bool FailedOfLoop(const store::Event& event) {
  return event.type == "request.failed" && IsOfLoop(TextAt(event.data, "purpose"));
}

// Removes what the end of an interrupted or failed run left behind, since it is done again.
void RemoveEnd(std::string_view status, std::vector<const store::Event*>* events) {
  auto from = events->begin();
  for (auto at = events->begin(); at != events->end(); ++at) {
    if ((*at)->type == "turn.started" && (*at)->call == 0) from = at;
  }
  const auto end = std::find_if(from, events->end(), [&](const store::Event* event) {
    return status == "interrupted" ? IsCancelled(*event) : FailedOfLoop(*event);
  });
  events->erase(end, events->end());
  events->erase(std::remove_if(events->begin() + (from - events->begin()), events->end(),
                               [](const auto* event) { return event->type == "answer.accepted"; }),
                events->end());
}

}  // namespace

std::string RequestHash(const model::Request& request, std::string_view to) {
  Sha256 hash;
  const auto add = [&](std::string_view role, std::string_view text) {
    hash.Update(fmt::format("{} {}\n", role, text.size()));
    hash.Update(text);
  };
  add("purpose", model::PurposeName(request.purpose));
  if (!to.empty()) add("to", to);
  add("system", request.messages.SystemText());
  std::string room;
  for (const assembly::Turn& turn : request.messages.turns) {
    add(assembly::RoleName(turn.role), turn.TextView(&room));
    for (const assembly::Block& block : turn.blocks) {
      if (block.type == assembly::Block::Type::kImage) add("image", block.text);
    }
  }
  return hash.Hex();
}

void AddReply(const model::Reply& reply, const std::function<Json(std::string_view)>& keep,
              JsonObject* data) {
  JsonObject& to = *data;
  to["body"] = keep(reply.text);
  to["finish"] = model::FinishName(reply.finish);
  to["input"] = reply.usage.input;
  to["output"] = reply.usage.output;
  to["cached"] = reply.usage.cached;
  to["cache_write"] = reply.usage.cache_write;
  to["attempts"] = reply.attempts;
  if (reply.usage.reasoning) to["reasoning"] = *reply.usage.reasoning;
  if (reply.usage.estimated) to["estimated"] = true;
  if (reply.usage.cost_nano_usd) to["nano_usd"] = *reply.usage.cost_nano_usd;
  if (!reply.resolved_model.empty()) to["resolved"] = reply.resolved_model;
  if (!reply.thinking.empty()) to["thinking"] = keep(reply.thinking);
  if (!reply.warnings.empty()) to["warnings"] = boost::json::value_from(reply.warnings);
  if (!reply.tool_calls.empty()) {
    JsonArray calls;
    for (const model::ToolCall& call : reply.tool_calls) {
      calls.push_back(
          JsonObject{{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
    }
    to["tool_calls"] = keep(ToJson(calls));
  }
  if (!reply.first_tokens.empty()) {
    JsonArray chances;
    for (const model::TokenChance& chance : reply.first_tokens) {
      chances.push_back(JsonArray{chance.token, chance.logprob});
    }
    to["first_tokens"] = std::move(chances);
  }
}

Result<model::Reply> ReadReply(const Json& data, store::Journal& journal) {
  model::Reply reply;
  const auto text = [&](std::string_view field, std::string* to) -> Status {
    const Json* body = Find(data, field);
    if (!body) return {};
    DOSSIER_ASSIGN_OR_RETURN(*to, journal.ReadBody(*body));
    return {};
  };
  DOSSIER_RETURN_IF_ERROR(text("body", &reply.text));
  DOSSIER_RETURN_IF_ERROR(text("thinking", &reply.thinking));
  const std::string finish = TextAt(data, "finish");
  for (const auto kind : {model::Finish::kStop, model::Finish::kLength, model::Finish::kToolCalls,
                          model::Finish::kFilter, model::Finish::kRefused, model::Finish::kCut,
                          model::Finish::kOther}) {
    if (model::FinishName(kind) == finish) reply.finish = kind;
  }
  reply.usage = {.input = FindInt(data, "input").value_or(0),
                 .output = FindInt(data, "output").value_or(0),
                 .cached = FindInt(data, "cached").value_or(0),
                 .cache_write = FindInt(data, "cache_write").value_or(0),
                 .reasoning = FindInt(data, "reasoning"),
                 .estimated = FindBool(data, "estimated").value_or(false),
                 .cost_nano_usd = FindInt(data, "nano_usd")};
  reply.attempts = static_cast<int>(FindInt(data, "attempts").value_or(1));
  reply.resolved_model = TextAt(data, "resolved");
  reply.warnings = StringsOf(Find(data, "warnings"));
  std::string calls;
  DOSSIER_RETURN_IF_ERROR(text("tool_calls", &calls));
  if (!calls.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const Json list, ParseJson(calls));
    for (const Json& call : list.is_array() ? list.get_array() : JsonArray()) {
      const Json* arguments = Find(call, "arguments");
      reply.tool_calls.push_back({.id = TextAt(call, "id"),
                                  .name = TextAt(call, "name"),
                                  .arguments = arguments ? *arguments : Json(nullptr)});
    }
  }
  if (const Json* chances = Find(data, "first_tokens"); chances && chances->is_array()) {
    for (const Json& chance : chances->get_array()) {
      const JsonArray* pair = chance.if_array();
      if (!pair || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_number())
        continue;
      reply.first_tokens.push_back(
          {std::string((*pair)[0].get_string()), (*pair)[1].to_number<double>()});
    }
  }
  return reply;
}

Result<std::shared_ptr<Replay>> Replay::Read(store::Journal& journal, const std::string& run) {
  DOSSIER_ASSIGN_OR_RETURN(std::vector<store::Event> events, journal.Events(run));
  auto replay = std::make_shared<Replay>();
  DOSSIER_RETURN_IF_ERROR(replay->Load(journal, std::move(events)));
  return replay;
}

// Events of later processes replace the earlier ones: the end of an interrupted process, and
// everything after a place where a call diverged.
Status Replay::Load(store::Journal& journal, std::vector<store::Event> events) {
  started_ = events.front();
  last_seq_ = events.back().seq;
  std::vector<const store::Event*> kept;  // of `events`
  std::optional<Clock::Wall> first, last;
  const auto end_of_process = [&] {
    if (first && last) elapsed_ += std::chrono::duration_cast<Millis>(*last - *first);
    first.reset();
  };
  for (const store::Event& event : events) {
    const JsonObject& data = event.data;
    if (event.type == "run.resumed" || event.type == "run.forked") {
      end_of_process();
      ended_.clear();
      if (event.type == "run.forked") LoadFork(event);
    } else if (event.type == "call.started") {
      parents_[event.call] = FindInt(data, "parent").value_or(0);
      calls_[TextAt(data, "path")] = event.call;
    }
    if (event.type == "reply.received" && event.call == 0 && TextAt(data, "purpose") == "root") {
      lacks_code_ = false;
    }
    last_call_ = std::max(last_call_, event.call);
    if (const auto time = ParseTime(event.time)) {
      if (!first) first = *time;
      last = *time;
    }
    if (event.type == "replay.diverged") {
      const std::int64_t at = FindInt(data, "at").value_or(0);
      std::erase_if(kept, [&](const store::Event* before) {
        return before->seq >= at &&
               (before->call == event.call || IsBelow(before->call, event.call));
      });
    } else if (event.type == "run.finished") {
      ended_ = TextAt(data, "status");
      if (ended_ == "interrupted" || ended_ == "failed") RemoveEnd(ended_, &kept);
    } else if (!event.type.starts_with("run.") && TextAt(data, "code") != "replay_diverged") {
      kept.push_back(&event);
    }
  }
  end_of_process();
  std::set<std::int64_t> seqs;
  for (const store::Event* event : kept) seqs.insert(event->seq);
  LoadUnanswered(events, seqs);
  for (store::Event& event : events) {
    // A reply stays valid even if its run then took another path. A failure belongs to its place.
    const bool stands = seqs.contains(event.seq);
    if (stands || event.type == "reply.received" || event.type == "run.started") {
      DOSSIER_RETURN_IF_ERROR(LoadEvent(journal, event));
    }
    if (stands && IsAnswer(event.type)) {
      if (std::string purpose = TextAt(event.data, "purpose"); IsOfLoop(purpose)) {
        asked_[event.call].push_back({TextAt(event.data, "hash"), std::move(purpose), event.seq});
      }
    } else if (stands && event.type != "request.sent") {
      const Key key = KeyOf(event.call, event.type, event.data);
      events_[key].push_back({event.seq, std::move(event.data)});
    }
  }
  return {};
}

void Replay::LoadFork(const store::Event& event) {
  forked_at_ = event.seq;
  shared_elapsed_ = elapsed_;
  asks_otherwise_ = Find(event.data, "question") != nullptr;
  lacks_code_ = Find(event.data, "code") != nullptr;
}

// Requests cancelled by an orderly stop are still running at the provider, like those after a kill.
void Replay::LoadUnanswered(const std::vector<store::Event>& events,
                            const std::set<std::int64_t>& kept) {
  std::map<std::string, std::deque<Unanswered>> open;  // by hash
  for (const store::Event& event : events) {
    if (event.seq < forked_at_) continue;
    const JsonObject& data = event.data;
    auto& sent = open[TextAt(data, "hash")];
    if (event.type == "request.sent") {
      using By = Unanswered::By;
      sent.push_back({IsOfLoop(TextAt(data, "purpose")) ? By::kLoop : By::kCode,
                      FindInt(data, "tokens").value_or(0)});
    }
    const bool stopped = IsCancelled(event) && !kept.contains(event.seq);
    const bool asked = !Find(data, "from_cache") && !Find(data, "unsent") && !stopped;
    if (IsAnswer(event.type) && asked && !sent.empty()) sent.pop_front();
  }
  for (const auto& [hash, sent] : open) {
    unanswered_.insert(unanswered_.end(), sent.begin(), sent.end());
  }
}

Status Replay::LoadEvent(store::Journal& journal, const store::Event& event) {
  const JsonObject& data = event.data;
  if (const Json* told = Find(data, "messages"); told && told->is_array()) {
    for (const Json& message : told->get_array()) {
      const auto number = FindInt(message, "n");
      const Json* body = Find(message, "body");
      if (!number || !body) continue;
      DOSSIER_ASSIGN_OR_RETURN(const std::string text, journal.ReadBody(*body));
      messages_[Sha256Hex(fmt::format("{}\n{}", TextAt(message, "role"), text))] = *number;
    }
  }
  if (event.type == "context.stored" || event.type == "context.named") {
    contexts_[TextAt(data, "name")] = TextAt(data, "sha256");
  } else if (event.type == "run.started") {
    const Json* contexts = Find(data, "contexts");
    for (const Json& one : contexts && contexts->is_array() ? contexts->get_array() : JsonArray()) {
      if (const auto sha256 = FindString(one, "sha256")) {
        contexts_[TextAt(one, "name")] = *sha256;
      }
    }
  } else if (event.type == "turn.started" && event.call == 0) {
    turn_ = FindInt(data, "turn").value_or(turn_);
  }
  if (!IsAnswer(event.type)) return {};
  const std::string hash = TextAt(data, "hash");
  if (hash.empty()) {
    return MakeError(ErrorCode::kDamaged,
                     "run {} was made by an older version, which did not keep what going on with "
                     "it needs; ask again",
                     event.run);
  }
  Answer answer{.reply = MakeError(CodeNamed(TextAt(data, "kind")), "{}", TextAt(data, "message"))};
  answer.seq = event.seq;
  if (event.type == "reply.received") {
    DOSSIER_ASSIGN_OR_RETURN(answer.reply, ReadReply(Json(data), journal));
    if (Find(data, "from_cache")) answer.from = Answer::From::kCache;
  } else if (Find(data, "unsent")) {
    answer.from = Answer::From::kNowhere;
  } else if (const Json* partial = Find(data, "partial")) {
    DOSSIER_ASSIGN_OR_RETURN(answer.partial, journal.ReadBody(*partial));
  }
  answers_[hash].push_back(std::move(answer));
  return {};
}

Replay::Key Replay::KeyOf(std::int64_t call, std::string_view type, const JsonObject& data) {
  std::string key(type);
  if (type == "warning") key += "/" + TextAt(data, "code");
  if (type == "bridge.reply") key += "/" + TextAt(data, "of");
  return {call, std::move(key)};
}

bool Replay::IsBelow(std::int64_t call, std::int64_t above) const {
  for (std::size_t steps = 0; steps <= parents_.size() && call != 0; ++steps) {
    const auto parent = parents_.find(call);
    if (parent == parents_.end()) return above == 0;
    call = parent->second;
    if (call == above) return true;
  }
  return false;
}

Replay::Taken Replay::Take(std::int64_t call, std::string_view type, const JsonObject& data) {
  Taken taken;
  {
    std::lock_guard lock(mutex_);
    if (type == "request.sent") {
      taken = TakeRequest(call, data);
    } else if (IsAnswer(type)) {
      const auto handed = handed_.find(TextAt(data, "hash"));
      if (handed == handed_.end() || handed->second == 0) return {};
      --handed->second;
      return {.kind = Taken::Kind::kRecorded};
    } else if (const auto found = events_.find(KeyOf(call, type, data));
               found != events_.end() && !found->second.empty()) {
      Recorded recorded = std::move(found->second.front());
      found->second.pop_front();
      taken.kind = Taken::Kind::kRecorded;
      if (type == "block.done") taken = TakeBlock(call, data, std::move(recorded));
    }
  }
  if (taken.kind != Taken::Kind::kRecorded) GoLive();
  return taken;
}

std::size_t Replay::Free(const std::string& hash) const {
  const auto answers = answers_.find(hash);
  const auto promised = promised_.find(hash);
  const std::size_t all = answers == answers_.end() ? 0 : answers->second.size();
  return all - std::min(all, promised == promised_.end() ? 0 : promised->second);
}

Replay::Taken Replay::TakeRequest(std::int64_t call, const JsonObject& data) {
  const std::string hash = TextAt(data, "hash"), purpose = TextAt(data, "purpose");
  auto& asked = asked_[call];
  if (IsOfLoop(purpose) && !asked.empty()) {
    const Asked recorded = asked.front();
    if (recorded.purpose != purpose) {
      return Diverge(call, recorded.seq, "a request to " + recorded.purpose,
                     "a request to " + purpose);
    }
    asked.pop_front();
    // The same place with different text: another version's prompt, or a fork's question.
    if (recorded.hash != hash) {
      other_words_[hash].push_back(recorded.hash);
      // What a fork shares was asked with its parent's question.
      if (!asks_otherwise_ || recorded.seq > forked_at_) {
        differences_.push_back(fmt::format("event {}: the prompt has other words", recorded.seq));
      }
    }
    ++promised_[recorded.hash];
    return {.kind = Taken::Kind::kRecorded};
  }
  if (Free(hash) > 0) {
    ++promised_[hash];
    return {.kind = Taken::Kind::kRecorded};
  }
  const auto block = events_.find({call, "block.done"});
  if (!IsOfLoop(purpose) && block != events_.end() && !block->second.empty()) {
    return Diverge(call, block->second.front().seq, "the requests that are recorded",
                   Shown(Find(data, "messages")));
  }
  return {};
}

Replay::Taken Replay::TakeBlock(std::int64_t call, const JsonObject& data, Recorded recorded) {
  const JsonObject &was = recorded.data, &now = data;
  for (const char* field : {"status", "output"}) {
    const Json *before = Find(was, field), *after = Find(now, field);
    if (before && after && *before != *after) {
      return Diverge(call, recorded.seq, Shown(before), Shown(after));
    }
  }
  const Json *before = Find(was, "error"), *after = Find(now, "error");
  if (!before != !after) {
    return Diverge(call, recorded.seq, before ? "an error" : "no error",
                   after ? "an error" : "no error");
  }
  return {.kind = Taken::Kind::kRecorded};
}

Replay::Taken Replay::Diverge(std::int64_t call, std::int64_t at, std::string expected,
                              std::string got) {
  std::erase_if(events_, [&](const auto& row) {
    return row.first.first == call || IsBelow(row.first.first, call);
  });
  std::erase_if(asked_,
                [&](const auto& row) { return row.first == call || IsBelow(row.first, call); });
  differences_.push_back(fmt::format("event {}: {} was expected, {} came", at, expected, got));
  return {.kind = Taken::Kind::kDiverged,
          .at = at,
          .expected = std::move(expected),
          .got = std::move(got)};
}

std::optional<JsonObject> Replay::Reuse(std::int64_t call, std::string_view type,
                                        std::string_view of) {
  {
    std::lock_guard lock(mutex_);
    const auto found = events_.find(KeyOf(call, type, {{"of", of}}));
    if (found != events_.end() && !found->second.empty()) {
      JsonObject data = std::move(found->second.front().data);
      found->second.pop_front();
      return data;
    }
  }
  GoLive();
  return std::nullopt;
}

std::optional<std::int64_t> Replay::CallAt(const std::string& path) const {
  const auto call = calls_.find(path);
  return call == calls_.end() ? std::nullopt : std::optional(call->second);
}

std::optional<Replay::Answer> Replay::TakeAnswer(const model::Request& request,
                                                 std::string_view to) {
  const std::string hash = RequestHash(request, to);
  std::optional<Answer> answer;
  {
    std::lock_guard lock(mutex_);
    std::string recorded = hash;
    if (const auto other = other_words_.find(hash);
        other != other_words_.end() && !other->second.empty()) {
      recorded = std::move(other->second.front());
      other->second.pop_front();
    }
    if (const auto found = answers_.find(recorded);
        found != answers_.end() && !found->second.empty()) {
      answer = std::move(found->second.front());
      found->second.pop_front();
      if (std::size_t& promised = promised_[recorded]; promised > 0) --promised;
      ++handed_[hash];
    } else if (injected_ && request.purpose == model::Purpose::kRoot) {
      // No model was asked, so it cost nothing.
      answer = Answer{.reply = model::Reply{.text = std::move(*injected_),
                                            .usage = {.reasoning = 0, .cost_nano_usd = 0},
                                            .attempts = 0}};
      injected_.reset();
    }
  }
  if (!answer) GoLive();
  return answer;
}

bool Replay::Holds(const std::string& hash) const {
  std::lock_guard lock(mutex_);
  return Free(hash) > 0;
}

bool Replay::HasAnswered(std::int64_t call, std::string_view purpose) const {
  std::lock_guard lock(mutex_);
  const auto asked = asked_.find(call);
  return asked != asked_.end() && !asked->second.empty() &&
         asked->second.front().purpose == purpose;
}

void Replay::Inject(std::string reply) { injected_ = std::move(reply); }

void Replay::GoLive() {
  // Whoever comes here while it is called waits for its end.
  std::call_once(live_, [this] {
    if (on_live_) on_live_();
  });
}

model::LedgerUse Replay::shared() const {
  std::lock_guard lock(mutex_);
  return shared_;
}

void Replay::CountShared(const Answer& answer, const model::LedgerUse& use) {
  if (answer.seq == 0 || answer.seq > forked_at_) return;
  std::lock_guard lock(mutex_);
  shared_.calls += use.calls;
  shared_.failed_calls += use.failed_calls;
  shared_.cached_calls += use.cached_calls;
  shared_.spent.Add(use.spent);
}

std::vector<std::string> Replay::differences() const {
  std::lock_guard lock(mutex_);
  return differences_;
}

std::size_t Replay::left() const {
  std::lock_guard lock(mutex_);
  std::size_t left = 0;
  for (const auto& [call, asked] : asked_) left += asked.size();
  for (const auto& [key, events] : events_) {
    if (key.second == "block.done") left += events.size();
  }
  return left;
}

namespace {

class RecordedGate final : public model::Gate {
 public:
  RecordedGate(std::shared_ptr<model::Gate> gate, std::shared_ptr<Replay> replay, Beyond beyond,
               std::string to)
      : gate_(std::move(gate)), replay_(std::move(replay)), beyond_(beyond), to_(std::move(to)) {}

  void Submit(std::shared_ptr<const model::Request> request, model::Ledger& ledger,
              model::Stage stage, CancelToken cancel, std::shared_ptr<model::Sink> sink) override {
    // A recorded request is used up at its place; a new one is recorded when it is sent.
    const bool recorded = beyond_ != Beyond::kAsked || replay_->Holds(RequestHash(*request, to_));
    if (recorded) sink->OnSending();
    auto known = replay_->TakeAnswer(*request, to_);
    if (!known && beyond_ == Beyond::kAsked) {
      return gate_->Submit(std::move(request), ledger, stage, std::move(cancel), std::move(sink));
    }
    if (!known) {
      return sink->OnDone(
          MakeError(ErrorCode::kUnavailable, "the journal has no reply to this request"));
    }
    model::LedgerUse use;
    if (known->from == Replay::Answer::From::kCache) {
      use.cached_calls = 1;
    } else if (known->reply) {
      use.calls = known->reply->attempts;
      use.failed_calls = std::max<std::int64_t>(use.calls - 1, 0);
      use.spent.Add(known->reply->usage);
    } else if (known->from != Replay::Answer::From::kNowhere &&
               known->reply.error().code != ErrorCode::kLimit) {
      use = {.calls = 1, .failed_calls = 1};
    }
    if (use.cached_calls > 0) {
      ledger.CountCached();
    } else {
      ledger.CountEarlier(use.spent.total, use.calls, use.failed_calls);
    }
    replay_->CountShared(*known, use);
    if (!known->partial.empty()) sink->OnDelta(known->partial);
    sink->OnDone(std::move(known->reply));
  }

  int in_flight() const override { return gate_ ? gate_->in_flight() : 0; }
  std::int64_t MostInput(std::int64_t expected) const override {
    return gate_ ? gate_->MostInput(expected) : expected;
  }

 private:
  const std::shared_ptr<model::Gate> gate_;
  const std::shared_ptr<Replay> replay_;
  const Beyond beyond_;
  const std::string to_;
};

}  // namespace

std::shared_ptr<model::Gate> ReplayGate(std::shared_ptr<model::Gate> gate,
                                        std::shared_ptr<Replay> replay, Beyond beyond,
                                        std::string to) {
  return std::make_shared<RecordedGate>(std::move(gate), std::move(replay), beyond, std::move(to));
}

}  // namespace dossier::ask
