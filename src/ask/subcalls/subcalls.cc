#include "ask/subcalls/subcalls.h"

#include <algorithm>

#include "ask/policy/repeated_question.h"
#include "ask/reply/reply_text.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

using sandbox::BridgeReply;

// `reply` has no thinking in it any more.
CodeReply ReplyOf(const model::Reply& reply) {
  const ReplyEnding ending = EndingOf(reply, reply.text);
  CodeReply out{.text = reply.text,
                .about = {{"tokens", reply.usage.output},
                          {"finish", model::FinishName(reply.finish)},
                          {"cut", ending.cut == ReplyEnding::Cut::kYes},
                          {"model", reply.resolved_model}}};
  if (!ending.problem.empty()) out.about["problem"] = ending.problem;
  return out;
}

Result<CodeReply> ReplyOf(const Result<model::Reply>& reply) {
  if (!reply) return tl::unexpected(reply.error());
  return ReplyOf(*reply);
}

// Of all texts of a prompt of one sub-call: a retry has the same.
std::string HashOf(const assembly::Messages& messages) {
  std::string hashes = Sha256Hex(messages.SystemText());
  for (const assembly::Turn& turn : messages.turns) hashes += Sha256Hex(turn.Text());
  return hashes;
}

constexpr std::size_t kMostErrorTexts = 100;  // kept to know them again
constexpr std::int64_t kLeastReply = 256;     // tokens that a prompt must leave for its reply

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

std::int64_t SubcallTokens(const driver::BoundModel& to) {
  const auto& capability = to.entry.capability;
  const std::int64_t reserve = std::min<std::int64_t>(capability.max_output, 1024);
  return capability.window - reserve - 256;
}

std::vector<std::string> ModelNames(const EngineOptions& options) {
  std::vector<std::string> names;
  for (const auto& [name, model] : options.named) names.push_back(name);
  for (const driver::BoundModel* model : {&options.sub, &options.child_model()}) {
    if (std::ranges::find(names, model->name) == names.end()) names.push_back(model->name);
  }
  return names;
}

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
  SendPrepared(
      std::move(*prepared), *settings, cancel,
      [reply = std::move(reply)](Result<model::Reply> result) { Give(ReplyOf(result), *reply); });
}

void Subcalls::Batch(const sandbox::BridgeCall& call, const std::shared_ptr<BridgeReply>& reply) {
  const auto prompts = PromptsOf(call);
  if (!prompts) return Give(tl::unexpected(prompts.error()), *reply);
  const auto settings = ReadSettings(call.args);
  if (!settings) return Give(tl::unexpected(settings.error()), *reply);
  const auto batch = std::make_shared<BatchReply>((*prompts)->size(), reply);
  // Each is sent as soon as it is made: the first are answered while the last are assembled.
  for (std::size_t i = 0; i < (*prompts)->size(); ++i) {
    // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the analyzer loses sight of it
    Done done = [batch, i](Result<model::Reply> result) { batch->Take(i, ReplyOf(result)); };
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
    SendPrepared(std::move(*prepared), *settings, reply->cancel(), std::move(done));
  }
}

// A blank prompt refuses the whole batch before anything is sent.
Result<const JsonArray*> Subcalls::PromptsOf(const sandbox::BridgeCall& call) const {
  const Json* list = Find(call.args, "prompts");
  const JsonArray* prompts = list ? list->if_array() : nullptr;
  if (!prompts) return MakeError(ErrorCode::kInvalidArgument, "prompts must be a list");
  for (const Json& prompt : *prompts) {
    const JsonObject* object = prompt.if_object();
    if (!object) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "each prompt must be a text or a list of texts");
    }
    if (IsBlankPrompt(*object, call.raw)) {
      return MakeError(ErrorCode::kInvalidArgument, "prompt {}: the prompt is blank",
                       &prompt - prompts->data());
    }
  }
  return prompts;
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
                                             const Settings& settings) {
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
  DOSSIER_ASSIGN_OR_RETURN(prepared.prompt, Assemble(std::move(text), content, settings));
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
                                               const Settings& settings) const {
  const driver::BoundModel& sub = *settings.to;
  const std::string& system = settings.system;
  DOSSIER_RETURN_IF_ERROR(
      CheckLength({text, content ? *content : std::string_view(), system}, sub));
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

Status Subcalls::CheckLength(std::initializer_list<std::string_view> parts,
                             const driver::BoundModel& to) {
  const tokens::Counter& counter = *to.counter;
  std::int64_t tokens = 0;
  std::uint64_t characters = 0;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    tokens += counter.CountText(part).upper();
    characters += utf8::CodePoints(part);
  }
  const std::int64_t most = SubcallTokens(to);
  if (tokens <= most) return {};
  return MakeError(ErrorCode::kTooLong,
                   "the prompt has {} tokens ({} characters); a sub-call takes at most {} tokens: "
                   "split it, e.g. with doc.chunks(size, by=\"tokens\")",
                   GroupDigits(static_cast<std::uint64_t>(tokens)), GroupDigits(characters),
                   GroupDigits(static_cast<std::uint64_t>(most)));
}

// Only what a model has really been shown and answered counts as read.
void Subcalls::SendPrepared(Prepared prepared, const Settings& settings, const CancelToken& cancel,
                            Done done) {
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
        .to = settings.to},
       cancel,
       [this, to = settings.to, prompt = std::move(prompt), before = std::move(before),
        slices = std::move(prepared.slices), texts = std::move(prepared.texts),
        done = std::move(done)](Result<model::Reply> result) {
         if (!result) {
           CountLost(prompt, before, ErrorName(result.error().code), result.error().message);
           return done(std::move(result));
         }
         result->text = StripThinking(result->text).text;
         // One from the cache, or from a server that does not say.
         if (result->resolved_model.empty()) result->resolved_model = to->name;
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
       });
}

// max_tokens, temperature and system as code gave them. A model that thinks needs room for that,
// too.
Result<Subcalls::Settings> Subcalls::ReadSettings(const JsonObject& args) const {
  Settings settings;
  DOSSIER_ASSIGN_OR_RETURN(settings.to, NamedModel(args, run_.options.sub));
  const driver::BoundModel& sub = *settings.to;
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
  return settings;
}

// The model's own limit, or what code or the user set, within the room that the prompt leaves.
std::int64_t Subcalls::OutputOf(const model::Sampling& sampling, const assembly::Assembled& prompt,
                                const driver::BoundModel& to) const {
  const model::Entry& sub = to.entry;
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

// The names of the configuration come first: a name that code is given may be a model's own.
Result<const driver::BoundModel*> Subcalls::NamedModel(const JsonObject& args,
                                                       const driver::BoundModel& otherwise) const {
  const EngineOptions& options = run_.options;
  const Json* model = Find(args, "model");
  if (!model || model->is_null()) return &otherwise;
  const auto* text = model->if_string();
  const std::string name(text ? std::string_view(*text) : "?");
  if (const auto named = options.named.find(name); named != options.named.end()) {
    return &named->second;
  }
  for (const driver::BoundModel* known : {&otherwise, &options.sub, &options.child_model()}) {
    if (text && name == known->name) return known;
  }
  return MakeError(ErrorCode::kInvalidArgument, "model {} is not known here; known: {}", name,
                   Join(ModelNames(options), ", "));
}

std::shared_ptr<model::Request> Subcalls::MakeRequest(const Outgoing& out) const {
  auto request =
      std::make_shared<model::Request>(driver::RequestTo(*out.to, out.prompt, out.purpose));
  request->sampling = out.sampling;
  request->sampling.max_output = OutputOf(request->sampling, out.prompt, *out.to);
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
  run_.log.Add("reply.received", {{"request", id},
                                  {"purpose", model::PurposeName(purpose)},
                                  {"messages", run_.log.Body(messages.turns.back().Text())},
                                  {"body", run_.log.Body(reply->text)},
                                  {"from_cache", *key}});
  return reply;
}

void Subcalls::LogResult(std::int64_t id, model::Purpose purpose,
                         const Result<model::Reply>& result) {
  if (!result) {
    run_.log.Add("request.failed", {{"request", id},
                                    {"kind", ErrorName(result.error().code)},
                                    {"message", result.error().message}});
    return;
  }
  run_.log.Add("reply.received", {{"request", id},
                                  {"purpose", model::PurposeName(purpose)},
                                  {"body", run_.log.Body(result->text)},
                                  {"finish", model::FinishName(result->finish)},
                                  {"input", result->usage.input},
                                  {"output", result->usage.output},
                                  {"cached", result->usage.cached}});
}

void Subcalls::Send(Outgoing out, const CancelToken& cancel, Done done) {
  if (!out.to) out.to = &run_.options.sub;
  const model::Purpose purpose = out.purpose;
  auto request = MakeRequest(out);
  const std::optional<std::string> key = cache_.KeyOf(*request, out.to->origin);
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
  request->path = fmt::format("{}.{}", run_.place.path, id);
  JsonObject sent{{"request", id},
                  {"purpose", model::PurposeName(purpose)},
                  {"model", request->model},
                  {"messages", run_.log.Body(request->messages.turns.back().Text())},
                  {"tokens", out.prompt.tokens}};
  if (!request->messages.system.empty()) {
    sent["system"] = run_.log.Messages({.system = request->messages.system});
  }
  if (key) sent["cache_key"] = *key;
  run_.log.Add("request.sent", std::move(sent));
  auto finish = [this, id, purpose, key, done = std::move(done)](Result<model::Reply> result) {
    LogResult(id, purpose, result);
    if (result && key) cache_.Keep(*key, *result);
    done(std::move(result));
    std::lock_guard lock(mutex_);
    --in_flight_;
    idle_.notify_all();
  };
  run_.caller.Submit(*out.to, std::move(request), cancel, std::move(finish));
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
