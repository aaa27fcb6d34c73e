#include "ask/subcalls/map_call.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>

#include "ask/reply/reply_text.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kMostLabels = 50;
constexpr std::size_t kMostReason = 200, kMostBeginning = 80;  // code points
constexpr std::string_view kUnknown = "unknown";  // map_llm(unknown=True): no label fits
constexpr std::string_view kEmpty = "empty";      // reason for an item without text
constexpr std::string_view kCut = "cut";
// Number of first requests that show whether a model can label texts at all.
constexpr std::ptrdiff_t kFirstRequests = 16;
constexpr std::int64_t kMoreRoom = 4;  // factor on the size of replies that were cut off

Result<std::vector<std::string>> ReadLabels(const JsonObject& args) {
  const Json* list = Find(args, "labels");
  const JsonArray* array = list ? list->if_array() : nullptr;
  std::vector<std::string> labels = StringsOf(list);
  if (!array || labels.size() != array->size() || labels.size() < 2 ||
      labels.size() > kMostLabels) {
    return MakeError(ErrorCode::kInvalidArgument, "labels must be a list of 2 to {} texts",
                     kMostLabels);
  }
  return labels;
}

// GBNF that allows exactly one of `choices`.
std::string OneOf(const std::vector<std::string>& choices) {
  std::string grammar = "root ::= ";
  for (const std::string& choice : choices) {
    if (&choice != &choices.front()) grammar += " | ";
    grammar += ToJson(Json(choice));
  }
  return grammar;
}

// "sport, politics or weather"
std::string Listed(const std::vector<std::string>& labels) {
  std::string out;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i > 0) out += i + 1 == labels.size() ? " or " : ", ";
    out += labels[i];
  }
  return out;
}

// Returns why a received reply gives no label, regardless of its words; empty: it is complete.
std::string_view FaultOf(const model::Reply& reply) {
  if (reply.finish == model::Finish::kFilter) return "filtered";
  if (reply.finish == model::Finish::kRefused) return "refused";
  if (reply.finish == model::Finish::kLength || reply.finish == model::Finish::kCut) return kCut;
  return TrimSpace(reply.text).empty() ? "empty reply" : "";
}

bool HasThought(const model::Reply& reply) {
  return !reply.thinking.empty() || reply.usage.reasoning.value_or(0) > 0 ||
         !StripThinking(reply.text).thinking.empty();
}

// Returns ": I cannot do that" for a reason; `text` is the reply without thinking.
std::string BeginningOf(std::string_view text, const model::Reply& reply) {
  std::string shown(utf8::Prefix(TrimSpace(text), kMostBeginning));
  if (shown.empty()) return HasThought(reply) ? ": the reply was all thinking" : "";
  std::ranges::replace_if(
      shown, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return fmt::format(": {}{}", shown, shown.size() < TrimSpace(text).size() ? "…" : "");
}

// Returns "filtered", "failed": the key under which reasons are counted.
std::string_view KindOf(std::string_view reason) { return reason.substr(0, reason.find(':')); }

bool Ends(const Error& error) {
  return error.code == ErrorCode::kLimit || error.code == ErrorCode::kCancelled;
}

// Returns the label of each of `count` items; a reply about one item may be just the label.
std::vector<std::optional<std::size_t>> ParseReply(std::string_view text,
                                                   const std::vector<std::string>& labels,
                                                   std::size_t count) {
  if (count == 1) {
    if (const auto label = MatchLabel(text, labels)) return {label};
  }
  return ParseLabels(text, labels, count);
}

// Returns a record's text for a model: one field, or all as "name: value" lines.
std::string RecordText(const Json& row, std::string_view field) {
  if (!field.empty()) {
    const Json* value = Find(row, field);
    if (!value || value->is_null()) return "";
    if (const auto* text = value->if_string()) return std::string(*text);
    return ToJson(*value);
  }
  const JsonObject* object = row.if_object();
  if (!object) {
    const auto* text = row.if_string();
    return text ? std::string(*text) : ToJson(row);
  }
  std::string out;
  for (const auto& [name, value] : *object) {
    const auto* text = value.if_string();
    out +=
        fmt::format("{}: {}\n", std::string_view(name), text ? std::string(*text) : ToJson(value));
  }
  return out;
}

// Bytes of the text that `parts` make up, as far as they say so: they are checked where it is made.
std::uint64_t BytesOf(const Json& parts) {
  std::uint64_t sum = 0;
  for (const Json& part : parts.is_array() ? parts.get_array() : JsonArray{parts}) {
    const Json* blob = Find(part, "blob");
    const JsonArray* pair = blob ? blob->if_array() : nullptr;
    const bool measured = pair && pair->size() == 2 && (*pair)[1].is_int64();
    const std::int64_t bytes = measured ? (*pair)[1].get_int64() : FindInt(part, "len").value_or(0);
    sum += static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
  }
  return sum;
}

}  // namespace

void MapCall::Start(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply,
                    TaskGroup& tasks) {
  const Status begun = tasks.Run([this, call = std::move(call), reply] {
    std::string stopped;
    auto plan = Read(call, reply->cancel());
    if (plan && (plan->dry == Plan::Dry::kYes || run_.guard.armed())) {
      const auto first = Estimate(*plan, reply->cancel());
      if (first && plan->dry == Plan::Dry::kYes) return reply->Ok(first->ToJson());
      auto agreed = first ? run_.guard.Allow(*first) : tl::unexpected(first.error());
      if (agreed) plan->permit = std::move(*agreed);
      if (!agreed) plan = tl::unexpected(agreed.error());
    }
    Result<Outcomes> outcomes = plan ? Label(*plan, call, *reply, &stopped)
                                     : Result<Outcomes>(tl::unexpected(plan.error()));
    if (!outcomes) {
      const SubcallFailure failure = FailureOf(outcomes.error());
      return reply->Fail(failure.code, outcomes.error().message, failure.retry);
    }
    JsonArray indexes, failed;
    for (std::size_t i = 0; i < outcomes->size(); ++i) {
      const Outcome& outcome = (*outcomes)[i];
      indexes.push_back(outcome.label ? Json(*outcome.label) : Json(-1));
      if (outcome.label) continue;
      failed.push_back(JsonArray{i, outcome.reason.empty() ? "not asked" : outcome.reason});
    }
    // Reasons of many items have more bytes than the JSON of a message may.
    std::string raw = ToJson(Json(std::move(failed)));
    JsonObject value{{"labels", std::move(indexes)},
                     {"failed", JsonObject{{"blob", JsonArray{0, raw.size()}}}}};
    if (!stopped.empty()) value["stopped"] = stopped;
    reply->Ok(std::move(value), std::move(raw));
  });
  if (!begun) reply->Fail(FailureOf(begun.error()).code, begun.error().message);
}

// Whoever reads the counts must be told of all items that they leave out. Items without text were
// never meant for a model, so no label is lost with them.
void MapCall::TellOfFailures(const Outcomes& outcomes) const {
  std::map<std::string, int> kinds;
  std::int64_t failed = 0;
  for (const Outcome& outcome : outcomes) {
    if (outcome.label) continue;
    ++kinds[outcome.reason.empty() ? "not asked" : std::string(KindOf(outcome.reason))];
    ++failed;
  }
  if (failed == 0) return;
  run_.log.Warn("subcalls_failed", JsonObject{{"by", "map_llm"},
                                              {"items", outcomes.size()},
                                              {"failed", failed},
                                              {"kinds", boost::json::value_from(kinds)}});
  kinds.erase(std::string(kEmpty));
  subcalls_.CountLostTexts(static_cast<int>(outcomes.size()), kinds);
}

Result<MapCall::Plan> MapCall::Read(const sandbox::BridgeCall& call, const CancelToken& cancel) {
  Plan plan;
  plan.items = std::make_shared<MapItems>(large_, cancel);
  DOSSIER_ASSIGN_OR_RETURN(plan.labels, ReadLabels(call.args));
  if (FindBool(Json(call.args), "unknown").value_or(false) &&
      std::find(plan.labels.begin(), plan.labels.end(), kUnknown) == plan.labels.end()) {
    plan.labels.emplace_back(kUnknown);  // after the others, as the worker numbers them
  }
  plan.instruction = TextAt(Json(call.args), "instruction");
  plan.max_items = run_.policy.map_items;
  if (const Json* batch = Find(call.args, "batch"); batch && batch->is_int64()) {
    plan.max_items = static_cast<std::size_t>(std::clamp<std::int64_t>(batch->get_int64(), 1, 100));
  }
  if (FindBool(Json(call.args), "dry").value_or(false)) plan.dry = Plan::Dry::kYes;
  if (FindBool(Json(call.args), "remember").value_or(false)) {
    plan.remember = Plan::Remember::kYes;
  }
  DOSSIER_RETURN_IF_ERROR(ReadItems(call, cancel, &plan));
  DOSSIER_RETURN_IF_ERROR(ReadKnown(call.args, &plan));
  return plan;
}

Status MapCall::ReadItems(const sandbox::BridgeCall& call, const CancelToken& cancel,
                          Plan* plan) const {
  const Json* items = Find(call.args, "items");
  if (!items) return MakeError(ErrorCode::kInvalidArgument, "items are missing");
  if (const Json* range = Find(*items, "records")) return ReadRecords(*range, cancel, plan);
  if (const Json* range = Find(*items, "lines")) return ReadLines(*range, cancel, plan);
  const JsonArray* list = items->if_array();
  if (!list) return MakeError(ErrorCode::kInvalidArgument, "items must be a list of texts");
  for (const Json& parts : *list) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    std::string text;
    if (!parts.is_null()) {  // null: a missing value
      DOSSIER_RETURN_IF_ERROR(plan->items->Expect(BytesOf(parts)));
      DOSSIER_ASSIGN_OR_RETURN(text, sandbox::ResolveText(parts, call.raw, subcalls_.contexts()));
    }
    DOSSIER_RETURN_IF_ERROR(plan->items->Add(std::move(text)));
  }
  return {};
}

Status MapCall::ReadRecords(const Json& range, const CancelToken& cancel, Plan* plan) const {
  const std::int64_t document = FindInt(range, "ctx").value_or(0);
  std::int64_t at = FindInt(range, "from").value_or(0);
  const std::int64_t end = FindInt(range, "to").value_or(INT64_MAX);
  const std::string field = TextAt(range, "field");
  plan->place = {.kind = Place::Kind::kRecords, .document = document, .first = at};
  constexpr std::int64_t kMostRows = 10'000, kBytesOfRow = 512;  // at once; about, as JSON
  while (at < end) {
    const std::int64_t wanted = std::min(end - at, kMostRows);
    DOSSIER_RETURN_IF_ERROR(plan->items->Expect(static_cast<std::uint64_t>(wanted * kBytesOfRow)));
    std::string rows;
    DOSSIER_ASSIGN_OR_RETURN(const Json info, documents_.Handle("records",
                                                                JsonObject{{"ctx", document},
                                                                           {"from", at},
                                                                           {"max_records", wanted},
                                                                           {"max_bytes", 4 << 20}},
                                                                &rows, cancel));
    DOSSIER_ASSIGN_OR_RETURN(const Json list, ParseJson(rows));
    for (const Json& row : list.as_array()) {
      DOSSIER_RETURN_IF_ERROR(plan->items->Add(RecordText(row, field)));
    }
    const std::int64_t next = FindInt(info, "next").value_or(end);
    if (next <= at) break;
    at = next;
  }
  return {};
}

Status MapCall::ReadLines(const Json& range, const CancelToken& cancel, Plan* plan) const {
  const auto document = static_cast<std::size_t>(FindInt(range, "ctx").value_or(0));
  if (document >= subcalls_.contexts().size()) {
    return MakeError(ErrorCode::kInvalidArgument, "document {} does not exist", document);
  }
  const std::string_view text = subcalls_.contexts()[document];
  plan->place = {.kind = Place::Kind::kSlices, .document = static_cast<std::int64_t>(document)};
  for (std::size_t at = 0; at < text.size();) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = std::min(end + 1, text.size());
    if (TrimSpace(line).empty()) continue;
    DOSSIER_RETURN_IF_ERROR(plan->items->AddView(line));
    plan->place.ends.push_back(at);
  }
  if (!plan->place.ends.empty()) plan->place.ends.back() = text.size();
  return {};
}

void MapCall::CountRead(const Plan& plan, const sandbox::BridgeCall& call,
                        const Outcomes& outcomes) const {
  const Json* items = Find(call.args, "items");
  for (std::size_t i = 0; i < outcomes.size();) {
    const std::size_t first = i++;
    if (!outcomes[first].read) continue;
    if (plan.place.kind == Place::Kind::kParts) {
      subcalls_.CountCoverage(items->as_array()[first], call.raw);
      continue;
    }
    while (i < outcomes.size() && outcomes[i].read) ++i;  // adjacent items are counted together
    Json part = JsonObject{};
    if (plan.place.kind == Place::Kind::kRecords) {
      std::string unused;
      const auto from = plan.place.first + static_cast<std::int64_t>(first);
      auto span =
          documents_.Handle("record_span",
                            JsonObject{{"ctx", plan.place.document},
                                       {"from", from},
                                       {"to", plan.place.first + static_cast<std::int64_t>(i)}},
                            &unused, CancelToken());
      if (!span) continue;
      part = std::move(*span);
    } else {
      const std::size_t at = first == 0 ? 0 : plan.place.ends[first - 1];
      part = JsonObject{{"at", at}, {"len", plan.place.ends[i - 1] - at}};
    }
    part.as_object()["ctx"] = plan.place.document;
    subcalls_.CountCoverage(JsonArray{std::move(part)}, "");
  }
}

Status MapCall::ReadKnown(const JsonObject& args, Plan* plan) {
  const Json* known = Find(args, "known");
  if (!known || known->is_null()) return {};
  const JsonArray* list = known->if_array();
  for (const Json& pair : list ? *list : JsonArray{nullptr}) {
    const JsonArray* two = pair.if_array();
    const auto within = [&](std::size_t at, std::size_t size) {
      const std::int64_t* number = two && two->size() == 2 ? (*two)[at].if_int64() : nullptr;
      return number && *number >= 0 && static_cast<std::size_t>(*number) < size;
    };
    if (!within(0, plan->items->texts().size()) || !within(1, plan->labels.size())) {
      return MakeError(ErrorCode::kInvalidArgument, "known must be pairs of an item and a label");
    }
    plan->known.emplace_back((*two)[0].get_int64(), (*two)[1].get_int64());
  }
  return {};
}

MapCall::Work MapCall::Begin(const Plan& plan, const UniqueItems& unique,
                             const CancelToken& cancel) {
  Work work{.plan = plan, .cancel = cancel};
  for (const std::size_t index : unique.first) {
    const std::string_view text = plan.items->texts()[index];
    work.texts.push_back(text);
    work.outcomes.push_back({.reason = TrimSpace(text).empty() ? std::string(kEmpty) : ""});
  }
  for (const auto& [index, label] : plan.known) {
    work.outcomes[unique.group[index]] = {.label = label, .read = true};
  }
  return work;
}

// If the model thinks before the label, its first token says nothing about it.
bool MapCall::IsScored(const Plan& plan) const {
  const model::Entry& entry = run_.options.sub.entry;
  return entry.logprobs && !entry.thinking && plan.max_items == 1;
}

Result<CallEstimate> MapCall::Estimate(const Plan& plan, const CancelToken& cancel) const {
  const Work work = Begin(plan, FindUnique(plan.items->texts()), cancel);
  CallEstimate sum;
  const auto add = [&](About about, const std::vector<std::string_view>& items,
                       const model::Sampling& sampling) -> Status {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    DOSSIER_ASSIGN_OR_RETURN(const assembly::Assembled prompt, Prompt(plan, about, items));
    sum.Add(subcalls_.EstimateOne(
        {.prompt = prompt, .purpose = model::Purpose::kMap, .sampling = sampling}));
    return {};
  };
  if (IsScored(plan)) {
    for (const auto& [about, texts] : ScoreTexts(work)) {
      for (const std::string& text : texts) {
        DOSSIER_RETURN_IF_ERROR(add(about, {text}, ScoreSampling()));
      }
    }
    return sum;
  }
  for (const Batch& batch : MissingBatches(work, plan.max_items)) {
    std::vector<std::string_view> items;
    for (const std::size_t index : batch) items.push_back(work.texts[index]);
    DOSSIER_RETURN_IF_ERROR(add(About::kLabels, items, WordSampling(work, batch.size())));
  }
  return sum;
}

Result<MapCall::Outcomes> MapCall::Label(const Plan& plan, const sandbox::BridgeCall& call,
                                         sandbox::BridgeReply& reply, std::string* stopped) const {
  const UniqueItems unique = FindUnique(plan.items->texts());
  Work work = Begin(plan, unique, reply.cancel());
  std::vector<Batch> equal(work.texts.size());
  for (std::size_t i = 0; i < unique.group.size(); ++i) equal[unique.group[i]].push_back(i);
  // Sends each reply's labels ahead, so that an interrupted block keeps the ones already paid for.
  std::int64_t replies = 0;
  work.report = [&](const Batch& found) {
    Remember(found, work);
    JsonArray at, given;
    for (const std::size_t item : found) {
      for (const std::size_t index : equal[item]) {
        at.push_back(Json(index));
        given.push_back(Json(*work.outcomes[item].label));
      }
    }
    reply.Item(replies++, JsonObject{{"at", std::move(at)}, {"labels", std::move(given)}});
  };
  Recall(&work);
  const Status asked = AskMissing(&work);
  Outcomes outcomes;
  for (const std::size_t group : unique.group) outcomes.push_back(work.outcomes[group]);
  CountRead(plan, call, outcomes);
  if (asked || asked.error().code == ErrorCode::kLimit) TellOfFailures(outcomes);
  if (!asked) {
    const bool any = std::ranges::any_of(outcomes, [](const Outcome& o) { return !!o.label; });
    // A limit does not discard items that already have a label.
    if (asked.error().code != ErrorCode::kLimit || !any) return tl::unexpected(asked.error());
    *stopped = asked.error().message;
  }
  return outcomes;
}

void MapCall::Recall(Work* work) const {
  if (work->plan.remember == Plan::Remember::kNo) return;
  const Plan& plan = work->plan;
  const SubcallCache& cache = subcalls_.cache();
  work->keys.resize(work->texts.size());
  std::size_t found = 0;
  for (const std::size_t i : Missing(*work)) {
    work->keys[i] = cache.KeyOfLabel(work->texts[i], plan.instruction, plan.labels,
                                     run_.options.sub.name, run_.options.sub.origin);
    const auto label = work->keys[i] ? cache.FindLabel(*work->keys[i]) : std::nullopt;
    const auto place = label ? std::ranges::find(plan.labels, *label) : plan.labels.end();
    if (place == plan.labels.end()) continue;
    work->outcomes[i] = {.label = place - plan.labels.begin(), .read = true};
    ++found;
  }
  run_.log.Add("labels.recalled", {{"texts", work->texts.size()}, {"known", found}});
}

void MapCall::Remember(const Batch& found, const Work& work) const {
  for (const std::size_t i : found) {
    if (work.keys.empty() || !work.keys[i]) continue;
    subcalls_.cache().KeepLabel(*work.keys[i], work.plan.labels[*work.outcomes[i].label]);
  }
}

MapCall::Batch MapCall::Missing(const Work& work) {
  Batch indexes;
  for (std::size_t i = 0; i < work.outcomes.size(); ++i) {
    const Outcome& outcome = work.outcomes[i];
    if (!outcome.label && outcome.reason != kEmpty) indexes.push_back(i);
  }
  return indexes;
}

std::string MapCall::ReasonOf(const Error& error) {
  return std::string(
      utf8::Prefix(fmt::format("{}: {}", ErrorName(error.code), error.message), kMostReason));
}

Status MapCall::AskMissing(Work* work) const {
  const Batch wanted = Missing(*work);
  if (!IsScored(work->plan) || wanted.empty()) return AskRounds(work);
  Status status = Score(work);
  const Batch unscored = Missing(*work);
  if (status) status = AskRounds(work);
  // Also if a limit ended it: the labels found are counted.
  if (IsDoubtful(*work, wanted, unscored)) subcalls_.NoteUnsureLabels();
  return status;
}

bool MapCall::IsDoubtful(const Work& work, const Batch& wanted, const Batch& unscored) {
  const auto labelled = [&work](std::size_t i) { return work.outcomes[i].label.has_value(); };
  const auto first = std::ranges::find_if(wanted, labelled);
  if (first == wanted.end()) return false;
  const auto by_words = std::ranges::count_if(unscored, labelled);
  if (by_words == std::ranges::count_if(wanted, labelled)) return true;
  // Words cut elsewhere than the groups of the scored texts do, and may change a count by a tenth.
  const bool split = work.plan.labels.size() == 2 && wanted.size() >= kTextsToSplit;
  if (split && by_words * 10 > std::ssize(wanted)) return true;
  const bool alike = std::ranges::all_of(wanted, [&](std::size_t i) {
    return !labelled(i) || work.outcomes[i].label == work.outcomes[*first].label;
  });
  return alike && (by_words > 0 || wanted.size() >= kTextsToSplit);
}

Status MapCall::AskRounds(Work* work) const {
  const Plan& plan = work->plan;
  const std::vector<Batch> batches = MissingBatches(*work, plan.max_items);
  if (batches.empty()) return {};
  const auto rest = batches.begin() + std::min<std::ptrdiff_t>(std::ssize(batches), kFirstRequests);
  DOSSIER_ASSIGN_OR_RETURN(const Hope hope, AskFirst({batches.begin(), rest}, work));
  if (hope == Hope::kNone) return {};
  if (hope == Hope::kAll && rest != batches.end()) {
    DOSSIER_RETURN_IF_ERROR(AskWords({rest, batches.end()}, work));
  }
  const int last = plan.max_items == 1 ? 1 : kMapRetryRounds;
  for (int round = hope == Hope::kAlone ? last : 1; round <= last; ++round) {
    const auto again = MissingBatches(*work, RetryItems(plan.max_items, round));
    if (again.empty()) break;
    DOSSIER_RETURN_IF_ERROR(AskWords(again, work));
  }
  return {};
}

// If none of a model's first texts get a label, a single text may work, or more room if its replies
// were cut off. One more request decides.
Result<MapCall::Hope> MapCall::AskFirst(const std::vector<Batch>& batches, Work* work) const {
  const auto found_any = [work] {
    return std::ranges::any_of(work->outcomes, [](const Outcome& o) { return !!o.label; });
  };
  DOSSIER_RETURN_IF_ERROR(AskWords(batches, work));
  if (found_any()) return Hope::kAll;
  const bool more_room = work->room.left;
  if (work->plan.max_items == 1 && !more_room) return Hope::kNone;
  const std::vector<Batch> alone = {Batch{batches.front().front()}};
  DOSSIER_RETURN_IF_ERROR(AskWords(alone, work));
  if (!found_any()) return Hope::kNone;
  return more_room ? Hope::kAll : Hope::kAlone;
}

std::vector<MapCall::Batch> MapCall::MissingBatches(const Work& work, std::size_t max_items) const {
  std::vector<std::int64_t> tokens;
  // An estimate is enough here: a quarter of the window leaves a margin.
  for (const std::string_view text : work.texts) {
    tokens.push_back(static_cast<std::int64_t>(text.size() / 3 + 8));
  }
  return PlanBatches(Missing(work), tokens,
                     {max_items, run_.options.sub.entry.capability.window / 4});
}

Status MapCall::AskWords(const std::vector<Batch>& batches, Work* work) const {
  const std::size_t most =
      std::ranges::max(batches, {}, [](const Batch& batch) { return batch.size(); }).size();
  const model::Sampling sampling = WordSampling(*work, most);
  bool cut = false;
  const Take take = [&](const Batch& batch, const Result<model::Reply>& reply) {
    if (reply && FaultOf(*reply) == kCut) cut = true;
    if (reply && HasThought(*reply)) work->room.thinks = true;
    TakeWords(batch, reply, work);
  };
  const Status asked =
      Ask(work->plan, About::kLabels, work->texts, batches, sampling, work->cancel, take);
  const std::int64_t had = sampling.max_output.value_or(0);
  work->room.left = cut && had < run_.options.sub.entry.capability.max_output;
  if (cut) work->room.least = had * kMoreRoom;
  return asked;
}

void MapCall::TakeWords(const Batch& batch, const Result<model::Reply>& reply, Work* work) {
  const std::string fault = reply ? std::string(FaultOf(*reply)) : ReasonOf(reply.error());
  std::string text = reply ? StripThinking(reply->text).text : "";
  std::string why = fault.empty() ? "unreadable" : fault;
  if (reply) why += BeginningOf(text, *reply);
  // The last line of a cut-off reply may be half a label.
  if (fault == kCut) text.resize(text.find_last_of('\n') + 1);
  const bool usable = reply && (fault.empty() || (fault == kCut && batch.size() > 1));
  const auto labels = usable ? ParseReply(text, work->plan.labels, batch.size())
                             : std::vector<std::optional<std::size_t>>(batch.size());
  const bool any = std::ranges::any_of(labels, [](const auto& label) { return !!label; });
  // If a reply has labels for other texts, its words do not explain this one.
  if (any) why = std::string(KindOf(why));
  Batch found;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Outcome& outcome = work->outcomes[batch[i]];
    outcome.read |= fault.empty() || labels[i];
    outcome.label = labels[i];
    outcome.reason = labels[i] ? "" : why;
    if (labels[i]) found.push_back(batch[i]);
  }
  if (!found.empty()) work->report(found);
}

// A model that thinks gets the maximum, since it is unknown where the thinking ends.
model::Sampling MapCall::WordSampling(const Work& work, std::size_t count) const {
  const model::Entry& entry = run_.options.sub.entry;
  model::Sampling sampling;
  if (entry.thinking || work.room.thinks) {
    sampling.max_output = entry.capability.max_output;
    return sampling;
  }
  sampling.max_output = std::max(static_cast<std::int64_t>(count) * 24 + 8, work.room.least);
  if (entry.grammar && count == 1) sampling.grammar = OneOf(work.plan.labels);
  return sampling;
}

Status MapCall::Ask(const Plan& plan, About about, const std::vector<std::string_view>& texts,
                    const std::vector<Batch>& batches, const model::Sampling& sampling,
                    const CancelToken& cancel, const Take& take) const {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t open = batches.size();
  std::optional<Error> fatal;
  for (const Batch& batch : batches) {
    if (cancel.cancelled()) {  // requests not sent yet never will be
      std::lock_guard lock(mutex);
      fatal = Error{ErrorCode::kCancelled, cancel.reason()};
      open -= batches.size() - static_cast<std::size_t>(&batch - batches.data());
      break;
    }
    std::vector<std::string_view> items;
    for (const std::size_t index : batch) items.push_back(texts[index]);
    auto prompt = Prompt(plan, about, items);
    Subcalls::Done done = [&, batch](Result<model::Reply> reply) {
      std::lock_guard lock(mutex);
      if (!reply && Ends(reply.error())) {
        fatal = reply.error();
      } else {
        take(batch, reply);
      }
      --open;
      changed.notify_all();
    };
    if (!prompt) {
      done(tl::unexpected(prompt.error()));
      continue;
    }
    subcalls_.Send({.prompt = std::move(*prompt),
                    .purpose = model::Purpose::kMap,
                    .sampling = sampling,
                    .permit = plan.permit},
                   cancel, std::move(done));
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return open == 0; });
  if (fatal) return tl::unexpected(*fatal);
  return {};
}

Result<assembly::Assembled> MapCall::Prompt(const Plan& plan, About about,
                                            const std::vector<std::string_view>& items) const {
  const driver::BoundModel& sub = run_.options.sub;
  std::map<std::string, std::string> values{{"instruction", plan.instruction},
                                            {"labels", Listed(plan.labels)},
                                            {"question", run_.request.question}};
  if (about == About::kQuestion) {
    values["item"] = std::string(items[0]);
    return run_.prompts.Assemble("map_asked", sub, values, {}, run_.boundary, 64);
  }
  if (items.size() == 1) {
    values["item"] = std::string(items[0]);
    return run_.prompts.Assemble("map_one", sub, values, {}, run_.boundary, 64);
  }
  std::string list;
  for (std::size_t i = 0; i < items.size(); ++i) list += fmt::format("{}: {}\n", i + 1, items[i]);
  values["items"] = std::move(list);
  values["count"] = std::to_string(items.size());
  return run_.prompts.Assemble("map_batch", sub, values, {}, run_.boundary, 1024);
}

}  // namespace dossier::ask
