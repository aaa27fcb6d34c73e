#include "ask/subcalls/subcalls.h"

#include <algorithm>

#include "ask/reply/reply_text.h"
#include "ask/spend_permit.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "model/schema/schema_reply.h"

namespace dossier::ask {
namespace {

using sandbox::BridgeReply;

// `reply` no longer contains thinking.
CodeReply ReplyOf(const model::Reply& reply, ReplyForm form) {
  const ReplyEnding ending = EndingOf(reply, reply.text);
  CodeReply out{.text = reply.text,
                .about = {{"tokens", reply.usage.output},
                          {"finish", model::FinishName(reply.finish)},
                          {"cut", ending.cut == ReplyEnding::Cut::kYes},
                          {"model", reply.resolved_model}}};
  if (!ending.problem.empty()) out.about["problem"] = ending.problem;
  if (form == ReplyForm::kValue) {
    if (ParseJson(reply.text)) out.about["is_value"] = true;
  }
  return out;
}

Result<CodeReply> ReplyOf(const Result<model::Reply>& reply, ReplyForm form) {
  if (!reply) return tl::unexpected(reply.error());
  return ReplyOf(*reply, form);
}

// Hash over all texts and images of a prompt of one sub-call: a retry has the same.
std::string HashOf(const assembly::Messages& messages) {
  std::string hashes = Sha256Hex(messages.SystemText()), room;
  for (const assembly::Turn& turn : messages.turns) {
    hashes += Sha256Hex(turn.TextView(&room));
    for (const assembly::Block& block : turn.blocks) {
      if (block.type == assembly::Block::Type::kImage) hashes += Sha256Hex(block.text);
    }
  }
  return hashes;
}

constexpr std::size_t kMostErrorTexts = 100;  // kept to recognize them later

int SumOf(const std::map<std::string, int>& kinds) {
  int count = 0;
  for (const auto& [kind, number] : kinds) count += std::max(number, 0);
  return count;
}

// "2 cut, 1 empty"
std::string ListOf(const std::map<std::string, int>& kinds) {
  std::string list;
  for (const auto& [kind, number] : kinds) {
    if (number <= 0) continue;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", number, kind);
  }
  return list;
}

}  // namespace

int SubcallTally::failed() const { return SumOf(failures); }
int SubcallTally::lost() const { return failed() + SumOf(without_label); }

void SubcallTally::Add(const SubcallTally& more) {
  made += more.made;
  unsure_labels += more.unsure_labels;
  texts += more.texts;
  for (const auto& [kind, number] : more.failures) failures[kind] += number;
  for (const auto& [kind, number] : more.without_label) without_label[kind] += number;
}

std::string SubcallTally::ToText() const {
  return fmt::format("{} of {} failed ({})", failed(), std::max(made, failed()), ListOf(failures));
}

std::string SubcallTally::LostText() const {
  std::string text = failed() > 0 ? ToText() : "";
  if (without_label.empty()) return text;
  if (!text.empty()) text += ", and ";
  return text + fmt::format("{} of {} texts of map_llm got no label ({})", SumOf(without_label),
                            texts, ListOf(without_label));
}

namespace {

// The client tells who ended the reply: the connection, or the program because it got too long.
std::string WhyCut(const model::Reply& reply) {
  for (const std::string& warning : reply.warnings) {
    if (warning.starts_with("the reply was cut: ")) return warning;
  }
  return "the connection was lost inside the reply";
}

}  // namespace

ReplyEnding EndingOf(const model::Reply& reply, std::string_view text) {
  using Cut = ReplyEnding::Cut;
  switch (reply.finish) {
    case model::Finish::kLength:
      return {Cut::kYes, "cut",
              fmt::format("the reply was cut at the output limit, after {} tokens",
                          GroupDigits(static_cast<std::uint64_t>(
                              std::max<std::int64_t>(reply.usage.output, 0))))};
    case model::Finish::kCut:
      return {Cut::kYes, "cut", WhyCut(reply)};
    case model::Finish::kFilter:
      return {text.empty() ? Cut::kNo : Cut::kYes, "filtered",
              "the provider's filter ended the reply"};
    case model::Finish::kRefused:
      return {text.empty() ? Cut::kNo : Cut::kYes, "refused", "the model refused to answer"};
    default:
      break;
  }
  if (TrimSpace(text).empty()) return {Cut::kNo, "empty", "the reply is empty"};
  return {};
}

Subcalls::~Subcalls() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return in_flight_ == 0; });
}

void Subcalls::Query(const sandbox::BridgeCall& call, std::shared_ptr<BridgeReply> reply) {
  const auto fail = [&](const Error& error) {
    CountUnsent(ErrorName(error.code), error.message);
    Give(tl::unexpected(error), *reply);
  };
  auto settings = ReadSettings(call.args);
  if (!settings) return fail(settings.error());
  auto prepared = Prepare(call.args, call.raw, *settings);
  if (!prepared) return fail(prepared.error());
  const CancelToken cancel = reply->cancel();
  const auto agreed = Agreed(call, cancel);
  if (!agreed) return fail(agreed.error());
  const ReplyForm form = settings->schema ? ReplyForm::kValue : ReplyForm::kText;
  SendPrepared(std::move(*prepared), *settings, *agreed, cancel,
               [reply = std::move(reply), form](Result<model::Reply> result) {
                 Give(ReplyOf(result, form), *reply);
               });
}

void Subcalls::Batch(const sandbox::BridgeCall& call, const std::shared_ptr<BridgeReply>& reply) {
  const auto prompts = PromptsOf(call, reply->cancel());
  if (!prompts) return Give(tl::unexpected(prompts.error()), *reply);
  const auto settings = ReadSettings(call.args);
  if (!settings) return Give(tl::unexpected(settings.error()), *reply);
  if (Status fits = CheckBatchMedia(**prompts); !fits) {
    return Give(tl::unexpected(fits.error()), *reply);
  }
  const auto agreed = Agreed(call, reply->cancel());
  if (!agreed) return Give(tl::unexpected(agreed.error()), *reply);
  const ReplyForm form = settings->schema ? ReplyForm::kValue : ReplyForm::kText;
  const auto batch = std::make_shared<BatchReply>((*prompts)->size(), reply);
  // Sends each as soon as it is assembled: the first are answered during assembly of the last.
  for (std::size_t i = 0; i < (*prompts)->size(); ++i) {
    // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the analyzer loses sight of it
    Done done = [batch, i, form](Result<model::Reply> result) {
      batch->Take(i, ReplyOf(result, form));
    };
    if (reply->cancel().cancelled()) {
      CountUnsent(ErrorName(ErrorCode::kCancelled));
      done(MakeError(ErrorCode::kCancelled, "{}", reply->cancel().reason()));
      continue;
    }
    auto prepared = Prepare((**prompts)[i].get_object(), call.raw, *settings);
    if (!prepared) {
      CountUnsent(ErrorName(prepared.error().code), prepared.error().message);
      done(tl::unexpected(prepared.error()));
      continue;
    }
    SendPrepared(std::move(*prepared), *settings, *agreed, reply->cancel(), std::move(done));
  }
}

Result<SpendPermit> Subcalls::Agreed(const sandbox::BridgeCall& call, const CancelToken& cancel) {
  if (!run_.guard.armed()) return nullptr;
  // A prompt that cannot be sent costs nothing, and is reported when it is sent.
  const auto planned = Estimate(call, cancel);
  return planned ? run_.guard.Allow(*planned) : Result<SpendPermit>(nullptr);
}

Result<CallEstimate> Subcalls::Estimate(const sandbox::BridgeCall& call,
                                        const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const Settings settings, ReadSettings(call.args));
  const Json* list = Find(call.args, "prompts");
  const JsonArray one{Json(call.args)};
  const JsonArray* prompts = list ? list->if_array() : &one;
  CallEstimate all;
  for (const Json& prompt : prompts ? *prompts : JsonArray()) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    const JsonObject* object = prompt.if_object();
    if (!object) return MakeError(ErrorCode::kInvalidArgument, "a prompt must be a text");
    DOSSIER_ASSIGN_OR_RETURN(const Prepared prepared, Prepare(*object, call.raw, settings));
    all.Add(EstimateOne({.prompt = prepared.prompt,
                         .sampling = settings.sampling,
                         .to = settings.to,
                         .schema = settings.schema ? &settings.schema->json() : nullptr,
                         .kept = settings.kept}));
  }
  return all;
}

CallEstimate Subcalls::EstimateOne(const Outgoing& out) {
  Outgoing whole = out;
  if (!whole.to) whole.to = &run_.options.sub;
  const auto request = MakeRequest(whole, whole.prompt.messages);
  const auto key = cache_.KeyOf(*request, whole.to->origin, whole.kept);
  if (key && cache_.Find(*key)) return {.cached = 1};
  return EstimateOf(whole.to->entry, *request, whole.prompt.tokens);
}

// Only what a model has really been shown and answered counts as read.
void Subcalls::SendPrepared(Prepared prepared, const Settings& settings, const SpendPermit& permit,
                            const CancelToken& cancel, Done done) {
  if (settings.schema) done = FitOnce(settings, prepared, cancel, std::move(done));
  std::string prompt = HashOf(prepared.prompt.messages);
  std::map<std::string, int> before;
  {
    std::lock_guard lock(mutex_);
    ++tally_.made;
    if (auto lost = lost_.extract(prompt)) before = std::move(lost.mapped());
  }
  Send({.prompt = std::move(prepared.prompt),
        .purpose = model::Purpose::kSubcall,
        .sampling = settings.sampling,
        .to = settings.to,
        .schema = settings.schema ? &settings.schema->json() : nullptr,
        .media = std::move(prepared.media),
        .permit = permit,
        .kept = settings.kept,
        .fits = settings.schema},
       cancel,
       [this, to = settings.to, prompt = std::move(prompt), before = std::move(before),
        slices = std::move(prepared.slices), texts = std::move(prepared.texts),
        done = std::move(done)](Result<model::Reply> result) mutable {
         if (!result) {
           CountLost(prompt, before, ErrorName(result.error().code), result.error().message);
           return done(std::move(result));
         }
         result->text = StripThinking(result->text).text;
         // From the cache, or from a server that does not report it.
         if (result->resolved_model.empty()) result->resolved_model = to->name;
         if (const ReplyEnding ending = EndingOf(*result, result->text); !ending.kind.empty()) {
           CountLost(prompt, before, ending.kind);
           return done(std::move(result));
         }
         CountMadeGood(before);
         for (const Slice& slice : slices) {
           coverage_.AddSlice(slice.document, slice.at, slice.length);
         }
         for (std::string& text : texts) coverage_.AddText(std::move(text));
         done(std::move(result));
       });
}

namespace {

// Returns the reply's value in normal form, or else what is wrong with it, one problem per line.
Result<std::string> FittedText(const model::Reply& reply, const model::JsonSchema& schema) {
  const std::string_view text = reply.text;
  const std::size_t from = text.find_first_of("{["), to = text.find_last_of("}]");
  model::CheckedReply read = model::CheckReply(text, schema);
  // Prose around a single value, or around its fence, is allowed.
  if (!read.value && from != text.npos && to != text.npos && from < to) {
    auto inner = model::CheckReply(text.substr(from, to - from + 1), schema);
    if (inner.value || ParseJson(text.substr(from, to - from + 1))) read = std::move(inner);
  }
  if (read.value) return ToJson(*read.value);
  return MakeError(ErrorCode::kSchema, "the reply does not fit the schema: {}",
                   Join(read.violations, "; "));
}

}  // namespace

Subcalls::Done Subcalls::FitOnce(const Settings& settings, const Prepared& prepared,
                                 const CancelToken& cancel, Done done) {
  return [this, settings, prompt = prepared.prompt, media = prepared.media, cancel,
          done = std::move(done)](Result<model::Reply> result) {
    if (!result || !EndingOf(*result, result->text).kind.empty()) return done(std::move(result));
    auto fitted = FittedText(*result, *settings.schema);
    if (fitted) {
      result->text = std::move(*fitted);
      return done(std::move(result));
    }
    auto ask = run_.prompts.Text(
        "repair", {{"errors", fitted.error().message}, {"schema", ToJson(settings.schema->json())}},
        run_.boundary);
    if (!ask) return done(tl::unexpected(ask.error()));
    assembly::Assembled again = prompt;
    again.messages.turns.push_back(model::AssistantTurn(*result));
    again.tokens += result->usage.output + settings.to->counter->CountText(*ask).upper();
    again.messages.turns.push_back(
        {.role = assembly::Role::kUser, .blocks = {{.text = std::move(*ask)}}});
    Send({.prompt = std::move(again),
          .purpose = model::Purpose::kRepair,
          .sampling = settings.sampling,
          .to = settings.to,
          .schema = &settings.schema->json(),
          .media = media,
          .kept = settings.kept,
          .fits = settings.schema},
         cancel, [this, settings, done](Result<model::Reply> mended) {
           if (mended) {
             mended->text = StripThinking(mended->text).text;
             auto text = FittedText(*mended, *settings.schema);
             if (!text) {
               CountFailure(ErrorName(text.error().code), text.error().message);
               return done(tl::unexpected(text.error()));
             }
             mended->text = std::move(*text);
           }
           done(std::move(mended));
         });
  };
}

void Subcalls::CountCoverage(const Json& parts, std::string_view raw) {
  const JsonArray* list = parts.if_array();
  if (!list) return;
  for (const Json& part : *list) {
    const auto document = FindInt(part, "ctx"), at = FindInt(part, "at"),
               length = FindInt(part, "len");
    if (document && at && length) {
      coverage_.AddSlice(static_cast<std::size_t>(*document), static_cast<std::uint64_t>(*at),
                         static_cast<std::uint64_t>(*length));
    } else if (auto text = sandbox::ResolveText(JsonArray{part}, raw, contexts_)) {
      coverage_.AddText(std::move(*text));
    }
  }
}

std::shared_ptr<model::Request> Subcalls::MakeRequest(const Outgoing& out,
                                                      assembly::Messages messages) const {
  const assembly::Assembled about{.tokens = out.prompt.tokens};
  auto request = std::make_shared<model::Request>(driver::RequestTo(*out.to, about, out.purpose));
  request->messages = std::move(messages);
  request->sampling = out.sampling;
  if (out.schema && out.to->entry.json_schema) request->schema = *out.schema;
  request->sampling.max_output = OutputOf(request->sampling, out.prompt, *out.to);
  if (!request->sampling.temperature) request->sampling.temperature = run_.request.temperature;
  if (!request->sampling.temperature) {
    request->sampling.temperature = run_.policy.subcall_temperature;
  }
  if (!request->sampling.seed && run_.request.seed_from == AskRequest::Seed::kGiven) {
    request->sampling.seed = run_.request.seed;
  }
  return request;
}

std::optional<model::Reply> Subcalls::Known(const std::optional<std::string>& key,
                                            const model::Request& request, const std::string& hash,
                                            const JsonArray& media, std::int64_t id) {
  // The run received this reply from the model before, so the cache must not answer now.
  if (!key || run_.log.Holds(hash)) return std::nullopt;
  auto reply = cache_.Find(*key);
  if (!reply) return std::nullopt;
  run_.ledger.CountCached();
  std::string room;
  JsonObject data{{"request", id},
                  {"purpose", model::PurposeName(request.purpose)},
                  {"messages", run_.log.Body(request.messages.turns.back().TextView(&room))},
                  {"hash", hash},
                  {"from_cache", *key}};
  if (!media.empty()) data["media"] = media;
  AddReply(*reply, [this](std::string_view text) { return run_.log.Body(text); }, &data);
  run_.log.Add("reply.received", std::move(data));
  return reply;
}

void Subcalls::LogResult(std::int64_t id, model::Purpose purpose, const std::string& hash,
                         const Result<model::Reply>& result, JsonObject unsent) {
  JsonObject data = std::move(unsent);
  data["request"] = id;
  data["purpose"] = model::PurposeName(purpose);
  data["hash"] = hash;
  if (!result) {
    if (data.contains("messages")) data["unsent"] = true;
    data["kind"] = ErrorName(result.error().code);
    data["message"] = result.error().message;
    return run_.log.Add("request.failed", std::move(data));
  }
  AddReply(*result, [this](std::string_view text) { return run_.log.Body(text); }, &data);
  run_.log.Add("reply.received", std::move(data));
}

void Subcalls::Send(Outgoing out, const CancelToken& cancel, Done done) {
  if (!out.to) out.to = &run_.options.sub;
  const model::Purpose purpose = out.purpose;
  const auto request = MakeRequest(out, std::move(out.prompt.messages));
  const std::optional<std::string> key = cache_.KeyOf(*request, out.to->origin, out.kept);
  std::int64_t id = 0;
  {
    std::lock_guard lock(mutex_);
    id = ++next_id_;
  }
  const std::string hash = RequestHash(*request, run_.NameOf(*out.to));
  if (auto reply = Known(key, *request, hash, out.media, id)) return done(std::move(*reply));
  {
    std::lock_guard lock(mutex_);
    ++in_flight_;
  }
  request->path = fmt::format("{}.{}", run_.place.path, id);
  std::string room;
  JsonObject sent{{"request", id},
                  {"purpose", model::PurposeName(purpose)},
                  {"model", request->model},
                  {"messages", run_.log.Body(request->messages.turns.back().TextView(&room))},
                  {"tokens", out.prompt.tokens},
                  {"hash", hash}};
  if (!out.media.empty()) sent["media"] = std::move(out.media);
  if (key) sent["cache_key"] = *key;
  // Recorded when sent: most of a batch waits in the gate's queue, where nothing is lost.
  const auto waits = std::make_shared<std::optional<JsonObject>>(std::move(sent));
  auto leaves = [this, waits, permit = out.permit, system = request->messages.system] {
    if (!*waits) return;
    if (permit) permit->Left();
    JsonObject sent = std::move(**waits);
    waits->reset();
    if (system.empty()) return run_.log.Add("request.sent", std::move(sent));
    run_.log.AddSent(std::move(sent), "system", {.system = system});
  };
  // A model that draws its words may do better the next time.
  const bool drawn = out.kept == SubcallCache::Which::kAny;
  auto finish = [this, id, purpose, key, hash, waits, leaves, permit = out.permit,
                 fits = drawn ? out.fits : std::nullopt, done = std::move(done)](Result<model::Reply> result) {
    if (result) leaves();  // for a gate that already knows the reply
    if (permit) permit->Ended();
    LogResult(id, purpose, hash, result, std::move(*waits).value_or(JsonObject{}));
    if (result && key && (!fits || FittedText(*result, *fits))) cache_.Keep(*key, *result);
    done(std::move(result));
    std::lock_guard lock(mutex_);
    --in_flight_;
    idle_.notify_all();
  };
  run_.caller.Submit(*out.to, std::move(request), cancel, std::move(leaves), std::move(finish));
}

void Subcalls::CountFailure(std::string_view kind, std::string_view told) {
  std::lock_guard lock(mutex_);
  ++tally_.failures[std::string(kind)];
  if (!told.empty() && error_texts_.size() < kMostErrorTexts) error_texts_.emplace(told);
}

void Subcalls::CountLost(const std::string& prompt, const std::map<std::string, int>& before,
                         std::string_view kind, std::string_view told) {
  CountFailure(kind, told);
  std::lock_guard lock(mutex_);
  std::map<std::string, int>& lost = lost_[prompt];
  ++lost[std::string(kind)];
  for (const auto& [earlier, number] : before) lost[earlier] += number;
}

void Subcalls::CountMadeGood(const std::map<std::string, int>& before) {
  std::lock_guard lock(mutex_);
  for (const auto& [kind, number] : before) tally_.failures[kind] -= number;
}

void Subcalls::CountUnsent(std::string_view kind, std::string_view told) {
  {
    std::lock_guard lock(mutex_);
    ++tally_.made;
  }
  CountFailure(kind, told);
}

void Subcalls::CountChild(const Result<CodeReply>& reply) {
  {
    std::lock_guard lock(mutex_);
    ++tally_.made;
  }
  if (!reply) return CountFailure(ErrorName(reply.error().code), reply.error().message);
  if (reply->about.contains("problem")) CountFailure(TextAt(reply->about, "finish"));
}

std::vector<std::string> Subcalls::error_texts() {
  std::lock_guard lock(mutex_);
  return {error_texts_.begin(), error_texts_.end()};
}

void Subcalls::NoteUnsureLabels() {
  std::lock_guard lock(mutex_);
  ++tally_.unsure_labels;
}

void Subcalls::CountLostTexts(int texts, const std::map<std::string, int>& without_label) {
  std::lock_guard lock(mutex_);
  tally_.texts += texts;
  for (const auto& [kind, number] : without_label) tally_.without_label[kind] += number;
}

SubcallTally Subcalls::Take() {
  std::lock_guard lock(mutex_);
  return std::exchange(tally_, {});
}

}  // namespace dossier::ask
