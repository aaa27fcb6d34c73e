#include "ask/subcalls/subcalls.h"

#include "ask/policy/repeated_question.h"
#include "ask/reply/reply_text.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "model/schema/schema_reply.h"

namespace dossier::ask {
namespace {

using sandbox::BridgeReply;

// `reply` has no thinking in it any more.
JsonObject TextValue(const model::Reply& reply, ReplyForm form, std::string* raw) {
  const std::size_t at = raw->size();
  *raw += reply.text;
  const ReplyEnding ending = EndingOf(reply, reply.text);
  JsonObject value{{"ok", true},
                   {"text", JsonObject{{"blob", JsonArray{at, reply.text.size()}}}},
                   {"tokens", reply.usage.output},
                   {"finish", model::FinishName(reply.finish)},
                   {"cut", ending.cut == ReplyEnding::Cut::kYes},
                   {"model", reply.resolved_model}};
  if (!ending.problem.empty()) value["problem"] = ending.problem;
  if (form == ReplyForm::kValue) {
    if (auto json = ParseJson(reply.text)) value["value"] = std::move(*json);
  }
  return value;
}

// Of all texts of a prompt of one sub-call: a retry has the same.
std::string HashOf(const assembly::Messages& messages) {
  std::string hashes = Sha256Hex(messages.SystemText());
  for (const assembly::Turn& turn : messages.turns) hashes += Sha256Hex(turn.Text());
  return hashes;
}

constexpr std::size_t kMostErrorTexts = 100;  // kept to know them again
constexpr std::int64_t kLeastReply = 256;     // tokens that a prompt must leave for its reply

}  // namespace

SubcallFailure FailureOf(const Error& error) {
  using Retry = BridgeReply::Retry;
  if (driver::MayPass(error.code)) return {"failed", Retry::kYes};
  switch (error.code) {
    case ErrorCode::kLimit:
      return {"limit", Retry::kNo};
    case ErrorCode::kTooLong:
      return {"too_large", Retry::kNo};
    case ErrorCode::kSchema:
      return {"schema", Retry::kNo};
    case ErrorCode::kUsage:
    case ErrorCode::kInvalidArgument:
      return {"bad_argument", Retry::kNo};
    case ErrorCode::kCancelled:
      return {"cancelled", Retry::kNo};
    case ErrorCode::kRefused:
      return {"denied", Retry::kNo};
    default:
      return {"failed", Retry::kNo};
  }
}

namespace {

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

// The client says who ended the reply: the connection, or the program, as the server sent too much.
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
              "the provider's filter ended the reply, or the model refused"};
    default:
      break;
  }
  if (TrimSpace(text).empty()) return {Cut::kNo, "empty", "the reply is empty"};
  return {};
}

// One batch: results in order, the last one answers. Each good one goes ahead as an item, so that
// a block that is interrupted keeps what was paid for.
struct Subcalls::BatchState {
  std::mutex mutex;
  std::vector<Result<model::Reply>> results;
  std::size_t missing = 0;
  std::shared_ptr<BridgeReply> reply;
  ReplyForm form = ReplyForm::kText;

  void Take(std::size_t index, Result<model::Reply> result) {
    std::string raw;
    JsonObject item;
    if (result) item = TextValue(*result, form, &raw);
    std::unique_lock lock(mutex);
    results[index] = std::move(result);
    const bool last = --missing == 0;
    lock.unlock();
    if (last) {
      Finish();
    } else if (!item.empty()) {
      reply->Item(static_cast<std::int64_t>(index), std::move(item), std::move(raw));
    }
  }

  void Finish() {
    std::string raw;
    JsonArray list;
    for (const Result<model::Reply>& result : results) {
      if (result) {
        list.push_back(TextValue(*result, form, &raw));
      } else {
        list.push_back(JsonObject{{"ok", false},
                                  {"code", FailureOf(result.error()).code},
                                  {"error", result.error().message}});
      }
    }
    reply->Ok(JsonObject{{"results", std::move(list)}}, std::move(raw));
  }
};

Subcalls::~Subcalls() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return in_flight_ == 0; });
}

void Subcalls::Query(const sandbox::BridgeCall& call, std::shared_ptr<BridgeReply> reply) {
  const auto fail = [&](const Error& error) {
    CountUnsent(ErrorName(error.code), error.message);
    const SubcallFailure failure = FailureOf(error);
    reply->Fail(failure.code, error.message, failure.retry);
  };
  if (Status known = CheckModel(call.args); !known) return fail(known.error());
  auto settings = ReadSettings(call.args, run_.options.sub);
  if (!settings) return fail(settings.error());
  auto prepared = Prepare(call.args, call.raw, settings->system);
  if (!prepared) return fail(prepared.error());
  if (Status agreed = Agreed(call); !agreed) return fail(agreed.error());
  const CancelToken cancel = reply->cancel();
  const ReplyForm form = settings->schema ? ReplyForm::kValue : ReplyForm::kText;
  SendPrepared(std::move(*prepared), *settings, cancel,
               [reply = std::move(reply), form](Result<model::Reply> result) {
                 if (!result) {
                   const SubcallFailure failure = FailureOf(result.error());
                   return reply->Fail(failure.code, result.error().message, failure.retry);
                 }
                 std::string raw;
                 Json value = TextValue(*result, form, &raw);
                 reply->Ok(std::move(value), std::move(raw));
               });
}

void Subcalls::Batch(const sandbox::BridgeCall& call, const std::shared_ptr<BridgeReply>& reply) {
  const Json* list = Find(call.args, "prompts");
  const JsonArray* prompts = list ? list->if_array() : nullptr;
  if (!prompts) return reply->Fail("bad_argument", "prompts must be a list");
  if (Status known = CheckModel(call.args); !known) {
    return reply->Fail("bad_argument", known.error().message);
  }
  const auto settings = ReadSettings(call.args, run_.options.sub);
  if (!settings) return reply->Fail("bad_argument", settings.error().message);
  // A blank prompt refuses the whole batch before anything is sent.
  for (const Json& prompt : *prompts) {
    if (reply->cancel().cancelled()) return;  // nobody waits for the answer
    const JsonObject* object = prompt.if_object();
    if (!object)
      return reply->Fail("bad_argument", "each prompt must be a text or a list of texts");
    if (IsBlankPrompt(*object, call.raw)) {
      return reply->Fail("bad_argument",
                         fmt::format("prompt {}: the prompt is blank", &prompt - prompts->data()));
    }
  }
  if (Status agreed = Agreed(call); !agreed) {
    return reply->Fail(FailureOf(agreed.error()).code, agreed.error().message);
  }
  auto state = std::make_shared<BatchState>();
  if (settings->schema) state->form = ReplyForm::kValue;
  state->reply = reply;
  state->missing = prompts->size();
  state->results.assign(prompts->size(), MakeError(ErrorCode::kCancelled, "not finished"));
  if (prompts->empty()) return state->Finish();
  // Each is sent as soon as it is made: the first are answered while the last are assembled.
  for (std::size_t i = 0; i < prompts->size(); ++i) {
    // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the analyzer loses sight of it
    Done done = [state, i](Result<model::Reply> result) { state->Take(i, std::move(result)); };
    if (reply->cancel().cancelled()) {
      CountUnsent(ErrorName(ErrorCode::kCancelled));
      done(MakeError(ErrorCode::kCancelled, "{}", reply->cancel().reason()));
      continue;
    }
    auto prepared = Prepare((*prompts)[i].get_object(), call.raw, settings->system);
    if (!prepared) {
      CountUnsent(ErrorName(prepared.error().code), prepared.error().message);
      done(tl::unexpected(prepared.error()));
      continue;
    }
    SendPrepared(std::move(*prepared), *settings, reply->cancel(), std::move(done));
  }
}

Status Subcalls::Agreed(const sandbox::BridgeCall& call) {
  if (!run_.guard.armed()) return {};
  // A prompt that cannot be sent costs nothing, and is told of where it is sent.
  const auto planned = Estimate(call);
  return planned ? run_.guard.Allow(*planned) : Status();
}

Result<CallEstimate> Subcalls::Estimate(const sandbox::BridgeCall& call) {
  DOSSIER_RETURN_IF_ERROR(CheckModel(call.args));
  DOSSIER_ASSIGN_OR_RETURN(const Settings settings, ReadSettings(call.args, run_.options.sub));
  const Json* list = Find(call.args, "prompts");
  const JsonArray one{Json(call.args)};
  const JsonArray* prompts = list ? list->if_array() : &one;
  CallEstimate all;
  for (const Json& prompt : prompts ? *prompts : JsonArray()) {
    const JsonObject* object = prompt.if_object();
    if (!object) return MakeError(ErrorCode::kInvalidArgument, "a prompt must be a text");
    DOSSIER_ASSIGN_OR_RETURN(const Prepared prepared,
                             Prepare(*object, call.raw, settings.system));
    all.Add(EstimateOne(prepared.prompt, model::Purpose::kSubcall, settings.sampling));
  }
  return all;
}

CallEstimate Subcalls::EstimateOne(const assembly::Assembled& prompt, model::Purpose purpose,
                                   model::Sampling sampling) {
  const auto request = MakeRequest(prompt, purpose, std::move(sampling));
  const auto key = cache_.KeyOf(*request);
  if (key && cache_.Find(*key)) return {.cached = 1};
  return EstimateOf(run_.options.sub.entry, *request, prompt.tokens);
}

bool Subcalls::IsBlankPrompt(const JsonObject& prompt, std::string_view raw) const {
  const Json* parts = Find(prompt, "parts");
  const JsonArray* list = parts ? parts->if_array() : nullptr;
  if (!list) return false;  // what is wrong with it, Prepare says
  return std::all_of(list->begin(), list->end(), [&](const Json& part) {
    const auto text = sandbox::ResolveText(JsonArray{part}, raw, contexts_);
    return text && TrimSpace(*text).empty();
  });
}

Status Subcalls::RefuseBareQuestion(std::string_view text) const {
  if (!run_.policy.refuses_bare_question || !RepeatsQuestion(text, run_.request.question)) {
    return {};
  }
  return MakeError(ErrorCode::kInvalidArgument,
                   "the prompt is only the question, and the model cannot see the data; put text "
                   "into the prompt, or label each record with map_llm(labels=[...], "
                   "instruction=\"...\", field=\"...\")");
}

Result<Subcalls::Prepared> Subcalls::Prepare(const JsonObject& prompt, std::string_view raw,
                                             const std::string& system) {
  const Json* parts = Find(prompt, "parts");
  if (!parts) return MakeError(ErrorCode::kInvalidArgument, "the prompt is missing");
  DOSSIER_ASSIGN_OR_RETURN(std::string text, sandbox::ResolveText(*parts, raw, contexts_));
  if (TrimSpace(text).empty()) return MakeError(ErrorCode::kUsage, "the prompt is blank");
  const Json* context = Find(prompt, "context");
  const bool with_context = context && !context->is_null();
  if (!with_context) DOSSIER_RETURN_IF_ERROR(RefuseBareQuestion(text));
  std::optional<std::string> content;
  if (with_context) {
    DOSSIER_ASSIGN_OR_RETURN(content, sandbox::ResolveText(*context, raw, contexts_));
  }
  Prepared prepared;
  DOSSIER_ASSIGN_OR_RETURN(prepared.prompt, Assemble(std::move(text), content, system));
  for (const Json* list : {parts, with_context ? context : nullptr}) {
    for (const Json& part : list && list->is_array() ? list->get_array() : JsonArray()) {
      const auto document = FindInt(part, "ctx"), at = FindInt(part, "at"),
                 length = FindInt(part, "len");
      if (document && at && length) {
        prepared.slices.push_back({static_cast<std::size_t>(*document),
                                   static_cast<std::uint64_t>(*at),
                                   static_cast<std::uint64_t>(*length)});
      } else if (auto own = sandbox::ResolveText(JsonArray{part}, raw, contexts_)) {
        prepared.texts.push_back(std::move(*own));
      }
    }
  }
  return prepared;
}

Result<assembly::Assembled> Subcalls::Assemble(std::string text,
                                               const std::optional<std::string>& content,
                                               const std::string& system) const {
  DOSSIER_RETURN_IF_ERROR(CheckLength({text, content ? *content : std::string_view(), system}));
  const driver::BoundModel& sub = run_.options.sub;
  auto prompt = content ? run_.prompts.Assemble("subcall_context", sub,
                                                {{"instruction", text}, {"content", *content}}, {},
                                                run_.boundary, kLeastReply)
                        : run_.prompts.Assemble("subcall", sub, {{"prompt", text}}, {},
                                                run_.boundary, kLeastReply);
  if (!prompt) return prompt;
  // A section ends without line ends; a prompt that code wrote is sent as it is.
  auto& blocks = prompt->messages.turns.back().blocks;
  if (!content && blocks.size() == 1) blocks[0].text = std::move(text);
  if (!system.empty()) {
    prompt->tokens += sub.counter->CountText(system).upper();
    prompt->messages.system.push_back({.text = system});
  }
  return prompt;
}

Status Subcalls::CheckLength(std::initializer_list<std::string_view> parts) const {
  const tokens::Counter& counter = *run_.options.sub.counter;
  std::int64_t tokens = 0;
  std::uint64_t characters = 0;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    tokens += counter.CountText(part).upper();
    characters += utf8::CodePoints(part);
  }
  if (tokens <= run_.max_subcall_tokens) return {};
  return MakeError(ErrorCode::kTooLong,
                   "the prompt has {} tokens ({} characters); a sub-call takes at most {} tokens: "
                   "split it, e.g. with doc.chunks(size, by=\"tokens\")",
                   GroupDigits(static_cast<std::uint64_t>(tokens)), GroupDigits(characters),
                   GroupDigits(static_cast<std::uint64_t>(run_.max_subcall_tokens)));
}

// Only what a model has really been shown and answered counts as read.
void Subcalls::SendPrepared(Prepared prepared, const Settings& settings, const CancelToken& cancel,
                            Done done) {
  if (settings.schema) done = FitOnce(settings, prepared.prompt, cancel, std::move(done));
  std::string prompt = HashOf(prepared.prompt.messages);
  std::map<std::string, int> before;
  {
    std::lock_guard lock(mutex_);
    ++tally_.made;
    if (auto lost = lost_.extract(prompt)) before = std::move(lost.mapped());
  }
  const Json* schema = settings.schema ? &settings.schema->json() : nullptr;
  Send(std::move(prepared.prompt), model::Purpose::kSubcall, settings.sampling, cancel,
       [this, prompt = std::move(prompt), before = std::move(before),
        slices = std::move(prepared.slices), texts = std::move(prepared.texts),
        done = std::move(done)](Result<model::Reply> result) {
         if (!result) {
           CountLost(prompt, before, ErrorName(result.error().code), result.error().message);
           return done(std::move(result));
         }
         result->text = StripThinking(result->text).text;
         // One from the cache, or from a server that does not say.
         if (result->resolved_model.empty()) result->resolved_model = run_.options.sub.name;
         if (const ReplyEnding ending = EndingOf(*result, result->text); !ending.kind.empty()) {
           CountLost(prompt, before, ending.kind);
           return done(std::move(result));
         }
         CountMadeGood(before);
         for (const Slice& slice : slices) {
           coverage_.AddSlice(slice.document, slice.at, slice.length);
         }
         for (const std::string& text : texts) coverage_.AddText(text);
         done(std::move(result));
       },
       schema);
}

namespace {

// The value of a reply, in one form; else what is wrong with it, a line each.
Result<std::string> FittedText(const model::Reply& reply, const model::JsonSchema& schema) {
  const std::string_view text = reply.text;
  const std::size_t from = text.find_first_of("{["), to = text.find_last_of("}]");
  model::CheckedReply read = model::CheckReply(text, schema);
  // Prose around one value, or around the fence that it stands in, does no harm.
  if (!read.value && from != text.npos && to != text.npos && from < to) {
    auto inner = model::CheckReply(text.substr(from, to - from + 1), schema);
    if (inner.value || ParseJson(text.substr(from, to - from + 1))) read = std::move(inner);
  }
  if (read.value) return ToJson(*read.value);
  return MakeError(ErrorCode::kSchema, "the reply does not fit the schema: {}",
                   Join(read.violations, "; "));
}

}  // namespace

Subcalls::Done Subcalls::FitOnce(const Settings& settings, const assembly::Assembled& prompt,
                                 const CancelToken& cancel, Done done) {
  return [this, settings, prompt, cancel, done = std::move(done)](Result<model::Reply> result) {
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
    again.tokens += result->usage.output + run_.options.sub.counter->CountText(*ask).upper();
    again.messages.turns.push_back(
        {.role = assembly::Role::kUser, .blocks = {{.text = std::move(*ask)}}});
    Send(std::move(again), model::Purpose::kRepair, settings.sampling, cancel,
         [this, settings, done](Result<model::Reply> mended) {
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
         },
         &settings.schema->json());
  };
}

// max_tokens, temperature and system as code gave them. A model that thinks needs room for that,
// too.
Result<Subcalls::Settings> Subcalls::ReadSettings(const JsonObject& args,
                                                  const driver::BoundModel& sub) {
  Settings settings;
  if (const Json* cap = Find(args, "max_tokens"); cap && !cap->is_null()) {
    const std::int64_t* tokens = cap->if_int64();
    if (!tokens || *tokens <= 0) {
      return MakeError(ErrorCode::kInvalidArgument, "max_tokens must be a whole number above 0");
    }
    const std::int64_t most = sub.entry.capability.max_output;
    settings.sampling.max_output =
        std::min(std::min(*tokens, most) + sub.entry.thinking_tokens, most);
  }
  if (const Json* heat = Find(args, "temperature"); heat && !heat->is_null()) {
    const double value = heat->is_number() ? heat->to_number<double>() : -1;
    if (value < 0 || value > 2) {
      return MakeError(ErrorCode::kInvalidArgument, "temperature must be a number from 0 to 2");
    }
    settings.sampling.temperature = value;
  }
  if (const Json* system = Find(args, "system"); system && !system->is_null()) {
    const auto* text = system->if_string();
    if (!text) return MakeError(ErrorCode::kInvalidArgument, "system must be a text");
    settings.system = std::string(*text);
  }
  if (const Json* schema = Find(args, "schema"); schema && !schema->is_null()) {
    auto compiled = model::JsonSchema::Compile(*schema);
    if (!compiled) {
      return MakeError(ErrorCode::kInvalidArgument, "schema: {}", compiled.error().message);
    }
    settings.schema = std::move(*compiled);
    // A server that holds replies to it needs no words; the prompt itself is sent as it is.
    if (!sub.entry.json_schema) {
      settings.system += fmt::format(
          "{}Reply with one JSON value that fits this JSON Schema, and nothing else:\n{}",
          settings.system.empty() ? "" : "\n", ToJson(*schema));
    }
  }
  return settings;
}

// The model's own limit, or what code or the user set, within the room that the prompt leaves.
std::int64_t Subcalls::OutputOf(const model::Sampling& sampling,
                                const assembly::Assembled& prompt) const {
  const model::Entry& sub = run_.options.sub.entry;
  std::int64_t wanted = sub.capability.max_output;
  if (sampling.max_output) {
    wanted = *sampling.max_output;
  } else if (run_.request.sub_max_output) {
    wanted = std::min(*run_.request.sub_max_output, wanted) + sub.thinking_tokens;
  }
  const std::int64_t room = sub.capability.window - prompt.tokens;
  return std::max<std::int64_t>(1, std::min({wanted, sub.capability.max_output, room}));
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
      coverage_.AddText(*text);
    }
  }
}

Status Subcalls::CheckModel(const JsonObject& args) const {
  const Json* model = Find(args, "model");
  if (!model || model->is_null()) return {};
  const auto* name = model->if_string();
  if (name && std::string_view(*name) == run_.options.sub.name) return {};
  return MakeError(ErrorCode::kInvalidArgument, "model {} is not known here; known: {}",
                   name ? std::string_view(*name) : "?", run_.options.sub.name);
}

std::shared_ptr<model::Request> Subcalls::MakeRequest(const assembly::Assembled& prompt,
                                                      model::Purpose purpose,
                                                      model::Sampling sampling) {
  const driver::BoundModel& sub = run_.options.sub;
  auto request = std::make_shared<model::Request>(driver::RequestTo(sub, prompt, purpose));
  request->sampling = std::move(sampling);
  request->sampling.max_output = OutputOf(request->sampling, prompt);
  if (!request->sampling.temperature) request->sampling.temperature = run_.request.temperature;
  if (!request->sampling.temperature) {
    request->sampling.temperature = run_.policy.subcall_temperature;
  }
  if (!request->sampling.seed && run_.request.seed_from == Request::Seed::kGiven) {
    request->sampling.seed = run_.request.seed;
  }
  return request;
}

std::optional<model::Reply> Subcalls::Known(const std::optional<std::string>& key,
                                            const assembly::Messages& messages,
                                            model::Purpose purpose, std::int64_t id) {
  if (!key) return std::nullopt;
  auto reply = cache_.Find(*key);
  if (!reply) return std::nullopt;
  run_.ledger.CountCached();
  run_.log.Add(0, "reply.received",
               {{"request", id},
                {"purpose", model::PurposeName(purpose)},
                {"messages", run_.log.Body(messages.turns.back().Text())},
                {"body", run_.log.Body(reply->text)},
                {"from_cache", *key}});
  return reply;
}

void Subcalls::LogResult(std::int64_t id, model::Purpose purpose,
                         const Result<model::Reply>& result) {
  if (!result) {
    run_.log.Add(0, "request.failed",
                 {{"request", id},
                  {"kind", ErrorName(result.error().code)},
                  {"message", result.error().message}});
    return;
  }
  run_.log.Add(0, "reply.received",
               {{"request", id},
                {"purpose", model::PurposeName(purpose)},
                {"body", run_.log.Body(result->text)},
                {"finish", model::FinishName(result->finish)},
                {"input", result->usage.input},
                {"output", result->usage.output},
                {"cached", result->usage.cached},
                {"cost_nano_usd", CostJson(result->usage)}});
}

void Subcalls::Send(assembly::Assembled prompt, model::Purpose purpose, model::Sampling sampling,
                    const CancelToken& cancel, Done done, const Json* schema) {
  auto request = MakeRequest(prompt, purpose, std::move(sampling));
  if (schema && run_.options.sub.entry.json_schema) request->schema = *schema;
  const std::optional<std::string> key = cache_.KeyOf(*request);
  std::int64_t id = 0;
  {
    std::lock_guard lock(mutex_);
    id = ++next_id_;
  }
  if (auto reply = Known(key, request->messages, purpose, id)) return done(std::move(*reply));
  {
    std::lock_guard lock(mutex_);
    ++in_flight_;
  }
  request->path = fmt::format("0.{}", id);
  JsonObject sent{{"request", id},
                  {"purpose", model::PurposeName(purpose)},
                  {"model", request->model},
                  {"messages", run_.log.Body(request->messages.turns.back().Text())},
                  {"tokens", prompt.tokens}};
  if (!request->messages.system.empty()) {
    sent["system"] = run_.log.Messages({.system = request->messages.system});
  }
  if (key) sent["cache_key"] = *key;
  run_.log.Add(0, "request.sent", std::move(sent));
  auto finish = [this, id, purpose, key, done = std::move(done)](Result<model::Reply> result) {
    LogResult(id, purpose, result);
    if (result && key) cache_.Keep(*key, *result);
    done(std::move(result));
    std::lock_guard lock(mutex_);
    --in_flight_;
    idle_.notify_all();
  };
  run_.caller.Submit(run_.options.sub, std::move(request), cancel, std::move(finish));
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
