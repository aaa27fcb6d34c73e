#include "ask/subcalls/child_calls.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

#include "ask/documents/context_set.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/description/hint.h"
#include "model/schema/json_schema.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kQuestionChars = 2000;  // code points; a longer prompt is cut to its ends
constexpr double kNearlyAll = 0.9;            // share of the parent's context

// A part of a text, as a slice of a document of the parent.
struct Slice {
  std::size_t document = 0;
  std::uint64_t at = 0, length = 0;
};

std::optional<Slice> SliceOf(const Json& part) {
  const auto document = FindInt(part, "ctx"), at = FindInt(part, "at"),
             length = FindInt(part, "len");
  if (!document || !at || !length) return std::nullopt;
  return Slice{static_cast<std::size_t>(*document), static_cast<std::uint64_t>(*at),
               static_cast<std::uint64_t>(*length)};
}

const JsonArray& PartsOf(const JsonObject& args, std::string_view name) {
  static const JsonArray kNone;
  const Json* parts = Find(args, name);
  const JsonArray* list = parts ? parts->if_array() : nullptr;
  return list ? *list : kNone;
}

// Returns the character offsets at which a slice begins and ends.
Result<std::pair<std::uint64_t, std::uint64_t>> CharsOf(DocumentService& documents,
                                                        const Slice& slice) {
  std::string unused;
  DOSSIER_ASSIGN_OR_RETURN(
      const Json value, documents.Handle("byte_to_char",
                                         {{"ctx", slice.document},
                                          {"bytes", JsonArray{slice.at, slice.at + slice.length}}},
                                         &unused, CancelToken()));
  const JsonArray& chars = value.at("chars").as_array();
  return std::pair(chars[0].to_number<std::uint64_t>(), chars[1].to_number<std::uint64_t>());
}

// Returns true if records are on separate lines and the slice has whole lines.
bool IsCutAtRecords(const inspect::Description& whole, std::string_view text, const Slice& slice) {
  if (whole.format != inspect::Format::kNdjson) return false;
  const std::uint64_t end = slice.at + slice.length;
  return (slice.at == 0 || text[slice.at - 1] == '\n') &&
         (end == text.size() || text[end - 1] == '\n');
}

// Returns all distinct slices of a document that the call's prompts have as contexts, in order.
std::set<std::pair<std::uint64_t, std::uint64_t>> SlicesOf(const sandbox::BridgeCall& call,
                                                           std::size_t document) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> slices;
  const Json* prompts = Find(call.args, "prompts");
  for (const Json& prompt : prompts && prompts->is_array() ? prompts->get_array() : JsonArray()) {
    const JsonArray& context = PartsOf(prompt.get_object(), "context");
    const auto slice = context.size() == 1 ? SliceOf(context[0]) : std::nullopt;
    if (slice && slice->document == document) slices.emplace(slice->at, slice->at + slice->length);
  }
  return slices;
}

// Determines which part a slice is, if known: one of a call's slices that together are the
// document, or a piece of a document cut into pieces of this size.
void CountParts(const std::set<std::pair<std::uint64_t, std::uint64_t>>& slices, const Slice& slice,
                std::uint64_t bytes, inspect::TextExcerpt* part) {
  std::uint64_t covered = 0, number = 0;
  for (const auto& [at, end] : slices) {
    if (at > covered) break;
    covered = std::max(covered, end);
    ++number;
    if (at == slice.at && end == slice.at + slice.length) part->index = number;
  }
  if (covered == bytes && number == slices.size() && part->index > 0) {
    part->count = number;
    return;
  }
  part->index = 0;
  const std::uint64_t chars = part->end - part->start;
  if (chars == 0 || part->start % chars != 0) return;
  part->index = part->start / chars + 1;
  part->count = (part->total + chars - 1) / chars;
}

// In linear time, also where both repeat themselves.
bool Holds(std::string_view text, std::string_view part) {
  return memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

bool IsLargeSlice(const JsonArray& context) {
  constexpr std::uint64_t kLarge = 1u << 20;  // bytes
  const auto slice = context.size() == 1 ? SliceOf(context[0]) : std::nullopt;
  return slice && slice->length > kLarge;
}

bool HasContext(const JsonObject& args) { return !PartsOf(args, "context").empty(); }

// Returns a short prompt in full, or a long one's ends with a note on where the rest is.
std::string QuestionOf(const std::string& prompt) {
  const std::uint64_t length = utf8::CodePoints(prompt);
  if (length <= kQuestionChars) return prompt;
  constexpr std::size_t kEnd = kQuestionChars / 2;
  const std::string_view head = utf8::Prefix(prompt, kEnd);
  const std::string_view tail =
      std::string_view(prompt).substr(utf8::Prefix(prompt, length - kEnd).size());
  return fmt::format(
      "{}\n[{} characters are left out here; the whole question is in the context, "
      "as `prompt`]\n{}",
      head, GroupDigits(length - kQuestionChars), tail);
}

// Returns a different seed for each child, the same each time the run is repeated.
std::uint64_t SeedOf(std::uint64_t run, const std::string& path) {
  const std::string hash = Sha256Hex(fmt::format("{} {}", run, path));
  return std::stoull(hash.substr(0, 15), nullptr, 16);
}

// Explains why a child has no answer.
Error WhyNone(const ChildAnswer& answer, const RunState& run, const std::string& path) {
  if (answer.error) return *answer.error;
  if (const auto used = run.ledger.exhausted(); !used.empty()) {
    return {ErrorCode::kLimit,
            fmt::format("the child {} gave no answer: the limit of {} is reached", path,
                        Join(used, " and "))};
  }
  return {ErrorCode::kFailed,
          fmt::format("the child {} ended after {} turns without an answer", path, answer.turns)};
}

Result<CodeReply> ReplyOf(const ChildAnswer& answer, const RunState& run, const ChildCall& child,
                          ReplyForm form) {
  if (answer.text.empty() && !answer.value) {
    return tl::unexpected(WhyNone(answer, run, child.place.path));
  }
  const bool whole = answer.status == RunStatus::kFinal || answer.status == RunStatus::kExtracted;
  CodeReply reply{.text = answer.text,
                  .about = {{"tokens", answer.usage.total.output},
                            {"finish", whole ? "stop" : RunStatusName(answer.status)},
                            {"cut", false},
                            {"model", child.model->name}}};
  if (answer.value && form == ReplyForm::kValue) {
    reply.about["is_value"] = true;
    // The text has all digits of its numbers, but need not be JSON.
    if (answer.value->is_string() || !ParseJson(reply.text)) reply.text = ToJson(*answer.value);
  }
  if (whole) return reply;
  std::string problem = "the child's answer is not certain";
  if (answer.error) problem += ": " + answer.error->message;
  if (!answer.error && !answer.doubts.empty()) problem += ": " + answer.doubts.front();
  reply.about["problem"] = std::move(problem);
  return reply;
}

}  // namespace

ChildCalls::~ChildCalls() {
  // Their block has ended, so they are cancelled; those still waiting no longer need a place.
  for (CallTree::Work& work : run_.tree.TakeBack(this)) work.work();
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return open_ == 0; });
}

Result<ChildCalls::Settings> ChildCalls::ReadSettings(const JsonObject& args) const {
  Settings settings;
  DOSSIER_ASSIGN_OR_RETURN(settings.model, subcalls_.NamedModel(args, run_.options.child_model()));
  for (const std::string_view name : {"max_tokens", "system"}) {
    const Json* given = Find(args, name);
    if (!given || given->is_null()) continue;
    return MakeError(ErrorCode::kInvalidArgument,
                     "{}= is for plain sub-calls (llm_query): a child has prompts and turns of its "
                     "own",
                     name);
  }
  if (const Json* heat = Find(args, "temperature"); heat && !heat->is_null()) {
    const double value = heat->is_number() ? heat->to_number<double>() : -1;
    if (value < 0 || value > 2) {
      return MakeError(ErrorCode::kInvalidArgument, "temperature must be a number from 0 to 2");
    }
    settings.temperature = value;
  }
  if (const Json* schema = Find(args, "schema"); schema && !schema->is_null()) {
    DOSSIER_ASSIGN_OR_RETURN(auto compiled, model::JsonSchema::Compile(*schema));
    settings.requirements.push_back(RequireSchema(compiled));
  }
  return settings;
}

void ChildCalls::Start(const Call& call, const std::shared_ptr<sandbox::BridgeReply>& reply) {
  const bool batch = call->method == "rlm_batch";
  const auto begin = [&]() -> Status {
    DOSSIER_ASSIGN_OR_RETURN(Settings read, ReadSettings(call->args));
    const auto settings = std::make_shared<const Settings>(std::move(read));
    std::vector<Prompt> prompts;
    if (batch) {
      DOSSIER_ASSIGN_OR_RETURN(const JsonArray* list, subcalls_.PromptsOf(*call, reply->cancel()));
      for (const Json& prompt : *list) prompts.push_back({call, &prompt.get_object()});
    } else {
      prompts.push_back({call, &call->args});
    }
    const CancelToken cancel = reply->cancel();
    for (const Prompt& prompt : prompts) {
      if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
      DOSSIER_RETURN_IF_ERROR(CheckPrompt(prompt));
      DOSSIER_RETURN_IF_ERROR(RefuseWhole(prompt));
    }
    if (!batch) {
      StartOne(prompts[0], settings, reply->cancel(),
               [reply](const Result<CodeReply>& result) { Give(result, *reply); });
      return {};
    }
    const auto replies = std::make_shared<BatchReply>(prompts.size(), reply);
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      StartOne(prompts[i], settings, reply->cancel(),
               [replies, i](Result<CodeReply> result) { replies->Take(i, std::move(result)); });
    }
    return {};
  };
  // Not a failed sub-call: none was made, and code is told how to make it.
  if (const Status begun = begin(); !begun) Give(tl::unexpected(begun.error()), *reply);
}

// Checks all its offsets before anything starts.
Status ChildCalls::CheckPrompt(const Prompt& prompt) const {
  if (const Json* media = Find(*prompt.args, "media"); media && !media->is_null()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "media= is for plain sub-calls (llm_query): code of a child asks about the "
                     "same images itself");
  }
  const JsonArray& parts = PartsOf(*prompt.args, "parts");
  bool blank = true;
  for (const JsonArray* list : {&parts, &PartsOf(*prompt.args, "context")}) {
    for (const Json& part : *list) {
      DOSSIER_ASSIGN_OR_RETURN(
          const std::string text,
          sandbox::ResolveText(JsonArray{part}, prompt.call->raw, subcalls_.contexts()));
      if (list == &parts && blank) blank = TrimSpace(text).empty();
    }
  }
  if (blank) return MakeError(ErrorCode::kInvalidArgument, "the prompt is blank");
  return {};
}

Status ChildCalls::RefuseWhole(const Prompt& prompt) {
  std::uint64_t all = 0, handed = 0;
  for (const std::string_view text : subcalls_.contexts()) all += text.size();
  if (all == 0) return {};
  const auto least = static_cast<std::uint64_t>(kNearlyAll * static_cast<double>(all));
  for (const std::string_view name : {"parts", "context"}) {
    for (const Json& part : PartsOf(*prompt.args, name)) {
      if (const auto slice = SliceOf(part)) {
        handed += slice->length;
        continue;
      }
      // Code made this copy of (most of) a document itself.
      const auto text =
          sandbox::ResolveText(JsonArray{part}, prompt.call->raw, subcalls_.contexts());
      if (!text || text->empty()) continue;
      for (const std::string_view document : subcalls_.contexts()) {
        if (document.empty()) continue;
        const bool inside = text->size() >= least && Holds(document, *text);
        if (inside) handed += text->size();
        if (!inside && Holds(*text, document)) handed += document.size();
      }
    }
  }
  if (handed <= least) return {};
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(warned_, true)) return {};
  }
  run_.log.Warn("child_given_all", Json(JsonObject{{"handed", handed}, {"context", all}}));
  return MakeError(
      ErrorCode::kInvalidArgument,
      "the child would get {} of the {} bytes of your own context, unchanged, and face "
      "what you face. Hand it a part (context=doc[a:b]) or what you worked out; the "
      "same call again is let through",
      GroupDigits(handed), GroupDigits(all));
}

void ChildCalls::Begin() {
  std::lock_guard lock(mutex_);
  if (++open_ == 1 && run_.place.depth > 0) run_.tree.Wait();
}

void ChildCalls::End() {
  std::lock_guard lock(mutex_);
  if (--open_ == 0 && run_.place.depth > 0) run_.tree.GoOn();
  idle_.notify_all();
}

void ChildCalls::StartOne(const Prompt& prompt, const std::shared_ptr<const Settings>& settings,
                          const CancelToken& cancel, Done done) {
  Begin();
  CallPlace place{.parent = run_.place.call, .depth = run_.place.depth + 1};
  {
    std::lock_guard lock(mutex_);
    place.path = fmt::format("{}.c{}", run_.place.path, ++asked_);
  }
  const auto finish = [this, cancel,
                       held = std::make_shared<Done>(std::move(done))](Result<CodeReply> result) {
    // If the block has ended, nobody waits any more and nothing is lost.
    if (!cancel.cancelled()) subcalls_.CountChild(result);
    std::exchange(*held, nullptr)(std::move(result));
    End();  // from here on this may be gone
  };
  const int depth = place.depth;
  run_.tree.Start(
      {.owner = this,
       .depth = depth,
       .work =
           [this, prompt, settings, cancel, finish, place = std::move(place)]() mutable {
             finish(Ask(prompt, *settings, std::move(place), cancel));
           },
       .refused = [finish](const Error& error) { finish(tl::unexpected(error)); }});
}

// Runs one child, from its question to its answer, in a thread of the tree.
Result<CodeReply> ChildCalls::Ask(const Prompt& prompt, const Settings& settings, CallPlace place,
                                  const CancelToken& cancel) {
  if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
  const auto recorded = run_.log.log().CallAt(place.path);
  place.call = recorded ? *recorded : run_.tree.NextCall();
  const auto started = std::chrono::steady_clock::now();
  DOSSIER_ASSIGN_OR_RETURN(AskRequest request, MakeRequest(prompt, settings, place, cancel));
  const CallLog log(run_.log.log(), place.call);
  JsonArray contexts;
  for (const ContextDocument& document : request.context->documents()) {
    contexts.push_back(JsonObject{{"name", document.name},
                                  {"bytes", document.description.counts.bytes},
                                  {"characters", document.description.counts.chars}});
  }
  log.Add("call.started", {{"parent", place.parent},
                           {"depth", place.depth},
                           {"path", place.path},
                           {"bridge", prompt.call->id},
                           {"model", settings.model->name},
                           {"question", log.Body(request.question)},
                           {"seed", request.seed},
                           {"context", ContextRefs(prompt)},
                           {"contexts", std::move(contexts)}});
  // Cancelling a run stops all calls at once, not level by level.
  CancelSource stop(cancel);
  const std::uint64_t id = run_.cancel.OnCancel([&] { stop.Cancel(run_.cancel.reason()); });
  const ChildCall child{.place = std::move(place),
                        .request = std::move(request),
                        .model = settings.model,
                        .cancel = stop.token()};
  const ChildAnswer answer = run_.tree.Run(run_, child);
  run_.cancel.Forget(id);
  LogEnd(log, answer,
         std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - started));
  CountRead(prompt, answer);
  return ReplyOf(answer, run_, child,
                 settings.requirements.empty() ? ReplyForm::kText : ReplyForm::kValue);
}

// A slice is described as that part of its document, an equal text as that document. For any other
// text only its own description is used.
Result<ContextSource> ChildCalls::ContextOf(const Prompt& prompt) const {
  const JsonArray& context = PartsOf(*prompt.args, "context");
  const auto& documents = run_.request.context->documents();
  const std::vector<std::string_view>& texts = subcalls_.contexts();
  ContextSource source{.name = "context"};
  DOSSIER_ASSIGN_OR_RETURN(source.text, sandbox::ResolveText(context, prompt.call->raw, texts));
  auto slice = context.size() == 1 ? SliceOf(context[0]) : std::nullopt;
  for (std::size_t i = 0; !slice && i < documents.size(); ++i) {
    if (*source.text == texts[i]) slice = Slice{.document = i, .at = 0, .length = texts[i].size()};
  }
  if (!slice || slice->document >= documents.size()) {  // from an earlier question: not here
    source.named = ContextSource::Named::kNoFile;
    return source;
  }
  const ContextDocument& whole = documents[slice->document];
  source.name = whole.name;
  source.like = &whole.description;
  if (slice->length == texts[slice->document].size()) return source;
  DOSSIER_ASSIGN_OR_RETURN(const auto places, CharsOf(documents_, *slice));
  source.part = inspect::TextExcerpt{.of = whole.name,
                                     .start = places.first,
                                     .end = places.second,
                                     .total = whole.description.counts.chars,
                                     .format = inspect::FormatLabel(whole.description),
                                     .fields = whole.description.fields,
                                     .fields_total = whole.description.fields_total};
  if (IsCutAtRecords(whole.description, texts[slice->document], *slice)) {
    source.part->cut = inspect::TextExcerpt::Cut::kAtRecords;
  }
  CountParts(SlicesOf(*prompt.call, slice->document), *slice, texts[slice->document].size(),
             &*source.part);
  return source;
}

// What the child gets: its context and, where its question shows only the ends of it, the prompt.
Result<std::shared_ptr<const ContextSet>> ChildCalls::LoadTexts(const Prompt& prompt,
                                                                std::string whole_prompt,
                                                                const CancelToken& cancel) const {
  std::vector<ContextSource> sources;
  if (HasContext(*prompt.args)) {
    DOSSIER_ASSIGN_OR_RETURN(sources.emplace_back(), ContextOf(prompt));
  }
  if (!whole_prompt.empty()) {
    sources.push_back({.text = std::move(whole_prompt),
                       .name = "prompt",
                       .named = ContextSource::Named::kNoFile});
  }
  return LoadContext(sources, {}, cancel);
}

// The same for a large slice alone: children of one call that are given the same one share it, and
// different ones are copied one after the other.
Result<std::shared_ptr<const ContextSet>> ChildCalls::LoadShared(const Prompt& prompt,
                                                                 const CancelToken& cancel) {
  const std::string key =
      fmt::format("{} {}", prompt.call->id, ToJson(Json(PartsOf(*prompt.args, "context"))));
  std::lock_guard lock(loading_);
  if (auto set = loaded_[key].lock()) return set;
  std::erase_if(loaded_, [](const auto& entry) { return entry.second.expired(); });
  DOSSIER_ASSIGN_OR_RETURN(auto set, LoadTexts(prompt, {}, cancel));
  loaded_[key] = set;
  return set;
}

Result<AskRequest> ChildCalls::MakeRequest(const Prompt& prompt, const Settings& settings,
                                           const CallPlace& place, const CancelToken& cancel) {
  const std::string& raw = prompt.call->raw;
  const JsonArray& parts = PartsOf(*prompt.args, "parts");
  DOSSIER_ASSIGN_OR_RETURN(std::string text,
                           sandbox::ResolveText(parts, raw, subcalls_.contexts()));
  AskRequest request = run_.request;
  request.question = QuestionOf(text);
  if (request.question.size() == text.size()) text.clear();
  const bool shares = text.empty() && IsLargeSlice(PartsOf(*prompt.args, "context"));
  DOSSIER_ASSIGN_OR_RETURN(request.context, shares ? LoadShared(prompt, cancel)
                                                   : LoadTexts(prompt, std::move(text), cancel));
  request.mode = Mode::kRecursive;
  request.observe = Observe::kFull;
  request.requirements = settings.requirements;
  if (request.child_tools) {
    std::erase_if(request.tools, [&](const Tool& tool) {
      return std::ranges::find(*request.child_tools, tool.name) == request.child_tools->end();
    });
  }
  request.memory = {};
  request.session = {};
  request.citations = CitationCheck::kCheck;
  request.out = nullptr;
  request.seed = SeedOf(run_.request.seed, place.path);
  if (settings.temperature) request.temperature = settings.temperature;
  return request;
}

// Returns where each part of the child's context is: in a parent's document, or in the journal.
JsonArray ChildCalls::ContextRefs(const Prompt& prompt) const {
  JsonArray refs;
  for (const std::string_view name : {"parts", "context"}) {
    for (const Json& part : PartsOf(*prompt.args, name)) {
      JsonObject ref{{"of", name == "parts" ? "prompt" : "context"}};
      if (const auto slice = SliceOf(part)) {
        ref["document"] = slice->document;
        ref["at"] = slice->at;
        ref["bytes"] = slice->length;
      } else if (const auto text = sandbox::ResolveText(JsonArray{part}, prompt.call->raw,
                                                        subcalls_.contexts())) {
        ref["body"] = run_.log.Body(*text);
        ref["sha256"] = Sha256Hex(*text);
      }
      refs.push_back(std::move(ref));
    }
  }
  return refs;
}

void ChildCalls::LogEnd(const CallLog& log, const ChildAnswer& answer, Millis took) const {
  const model::Usage& total = answer.usage.total;
  JsonObject ended{{"status", RunStatusName(answer.status)},
                   {"source", SourceName(answer.source)},
                   {"answer", log.Body(answer.text)},
                   {"turns", answer.turns},
                   {"calls", answer.usage.calls},
                   {"input", total.input},
                   {"output", total.output},
                   {"nano_usd", total.cost_nano_usd ? Json(*total.cost_nano_usd) : Json(nullptr)},
                   {"ms", took.count()}};
  if (answer.error) {
    ended["error"] = answer.error->message;
    ended["kind"] = ErrorName(answer.error->code);
  }
  log.Add("call.finished", std::move(ended));
}

// A model was shown the question. A child may have read only parts of its context, so the context
// counts only if the child has read nearly all of it.
void ChildCalls::CountRead(const Prompt& prompt, const ChildAnswer& answer) {
  if (answer.turns == 0) return;
  subcalls_.CountCoverage(PartsOf(*prompt.args, "parts"), prompt.call->raw);
  const JsonArray& context = PartsOf(*prompt.args, "context");
  if (answer.read.by_models >= kNearlyAll) subcalls_.CountCoverage(context, prompt.call->raw);
  if (answer.read.by_any < kNearlyAll) return;
  for (const Json& part : context) {
    const auto slice = SliceOf(part);
    if (slice) coverage_.AddReadByCode(slice->document, slice->at, slice->length);
  }
}

}  // namespace dossier::ask
