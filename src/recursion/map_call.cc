#include "recursion/map_call.h"

#include <condition_variable>
#include <mutex>

#include "base/text.h"
#include "recursion/map_plan.h"

namespace dossier::recursion {
namespace {

constexpr std::size_t kMostItems = 200'000;
constexpr std::size_t kMostLabels = 50;
constexpr std::string_view kUnknown = "unknown";  // map_llm(unknown=True): none of the labels fits
// Up to here an item may take three requests: well within the default limit of 500 calls.
constexpr std::size_t kContrastItems = 100;

Result<std::vector<std::string>> ReadLabels(const JsonObject& args) {
  const Json* list = Find(args, "labels");
  const JsonArray* array = list ? list->if_array() : nullptr;
  std::vector<std::string> labels;
  if (array) {
    for (const Json& label : *array) {
      if (const auto* text = label.if_string()) labels.emplace_back(*text);
    }
  }
  if (!array || labels.size() != array->size() || labels.size() < 2 || labels.size() > kMostLabels) {
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

// Labels that stand for "anything else": against them a small model decides better by yes or no;
// between two labels that mean something it is better asked to choose (docs/small-models.md).
bool IsGeneric(std::string_view label, std::string_view other) {
  constexpr std::string_view kGeneric[] = {"other",   "others", "none",      "no",       "else",
                                           "neither", "rest",   "unrelated", "negative", "false"};
  const std::string lower = ToLowerAscii(TrimSpace(label));
  if (std::find(std::begin(kGeneric), std::end(kGeneric), lower) != std::end(kGeneric)) return true;
  if (lower.starts_with("not ") || lower.starts_with("non-") || lower.starts_with("not_")) return true;
  return lower.starts_with("other ") || lower.starts_with("anything") ||
         lower == "not " + ToLowerAscii(other);
}

std::optional<std::size_t> AskedLabel(const std::vector<std::string>& labels) {
  if (labels.size() != 2) return std::nullopt;
  if (IsGeneric(labels[1], labels[0])) return 0;
  if (IsGeneric(labels[0], labels[1])) return 1;
  return std::nullopt;
}

// The text of a record for a model: one field, or all as "name: value" lines.
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
    out += fmt::format("{}: {}\n", std::string_view(name),
                       text ? std::string(*text) : ToJson(value));
  }
  return out;
}

}  // namespace

void MapCall::Start(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply,
                    TaskGroup& tasks) {
  tasks.Run([this, call = std::move(call), reply = std::move(reply)] {
    auto plan = Read(call);
    Result<Labels> labels = plan ? Label(*plan, reply->cancel())
                                 : Result<Labels>(tl::unexpected(plan.error()));
    if (!labels) {
      const SubcallFailure failure = FailureOf(labels.error());
      return reply->Fail(failure.code, labels.error().message, failure.retry);
    }
    JsonArray indexes, failed;
    for (std::size_t i = 0; i < labels->size(); ++i) {
      const auto& label = (*labels)[i];
      indexes.push_back(label ? Json(*label) : Json(-1));
      if (!label) failed.push_back(Json(i));
    }
    reply->Ok(JsonObject{{"labels", std::move(indexes)}, {"failed", std::move(failed)}});
  });
}

Result<MapCall::Plan> MapCall::Read(const sandbox::BridgeCall& call) const {
  Plan plan;
  DOSSIER_ASSIGN_OR_RETURN(plan.labels, ReadLabels(call.args));
  if (FindBool(Json(call.args), "unknown").value_or(false) &&
      std::find(plan.labels.begin(), plan.labels.end(), kUnknown) == plan.labels.end()) {
    plan.labels.emplace_back(kUnknown);  // behind the others, as the worker counts
  }
  plan.asked = AskedLabel(plan.labels);
  plan.instruction = std::string(FindString(Json(call.args), "instruction").value_or(""));
  plan.max_items = run_.small() ? kMapItemsSmall : kMapItems;
  if (const Json* batch = Find(call.args, "batch"); batch && batch->is_int64()) {
    plan.max_items = static_cast<std::size_t>(std::clamp<std::int64_t>(batch->get_int64(), 1, 100));
  }
  DOSSIER_ASSIGN_OR_RETURN(plan.items, ReadItems(call));
  if (plan.items.size() > kMostItems) {
    return MakeError(ErrorCode::kTooLong, "{} items; at most {} in one call: pick fewer with code",
                     GroupDigits(plan.items.size()), GroupDigits(kMostItems));
  }
  return plan;
}

Result<std::vector<std::string>> MapCall::ReadItems(const sandbox::BridgeCall& call) const {
  const Json* items = Find(call.args, "items");
  if (!items) return MakeError(ErrorCode::kInvalidArgument, "items are missing");
  if (const Json* range = Find(*items, "records")) return ReadRecords(*range);
  if (const Json* range = Find(*items, "lines")) return ReadLines(*range);
  const JsonArray* list = items->if_array();
  if (!list) return MakeError(ErrorCode::kInvalidArgument, "items must be a list of texts");
  std::vector<std::string> texts;
  for (const Json& parts : *list) {
    DOSSIER_ASSIGN_OR_RETURN(std::string text,
                             sandbox::ResolveText(parts, call.raw, subcalls_.contexts()));
    subcalls_.CountCoverage(parts, call.raw);
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<std::vector<std::string>> MapCall::ReadRecords(const Json& range) const {
  const std::int64_t document = FindInt(range, "ctx").value_or(0);
  std::int64_t at = FindInt(range, "from").value_or(0);
  const std::int64_t end = FindInt(range, "to").value_or(INT64_MAX);
  const std::string field(FindString(range, "field").value_or(""));
  std::vector<std::string> texts;
  while (at < end) {
    std::string rows;
    DOSSIER_ASSIGN_OR_RETURN(
        const Json info,
        documents_.Handle("records",
                          JsonObject{{"ctx", document},
                                     {"from", at},
                                     {"max_records", std::min<std::int64_t>(end - at, 10'000)},
                                     {"max_bytes", 4 << 20}},
                          &rows, run_.cancel));
    DOSSIER_ASSIGN_OR_RETURN(const Json list, ParseJson(rows));
    for (const Json& row : list.as_array()) texts.push_back(RecordText(row, field));
    const std::int64_t next = FindInt(info, "next").value_or(end);
    if (next <= at) break;
    at = next;
  }
  // Which bytes these were does not matter for the account: all of the records were shown.
  std::string unused;
  if (auto span = documents_.Handle("record_span",
                                    JsonObject{{"ctx", document},
                                               {"from", FindInt(range, "from").value_or(0)},
                                               {"to", at}},
                                    &unused, run_.cancel)) {
    Json part = *span;
    part.as_object()["ctx"] = document;
    subcalls_.CountCoverage(JsonArray{std::move(part)}, "");
  }
  return texts;
}

Result<std::vector<std::string>> MapCall::ReadLines(const Json& range) const {
  const auto document = static_cast<std::size_t>(FindInt(range, "ctx").value_or(0));
  if (document >= subcalls_.contexts().size()) {
    return MakeError(ErrorCode::kInvalidArgument, "document {} does not exist", document);
  }
  const std::string_view text = subcalls_.contexts()[document];
  std::vector<std::string> lines;
  for (const std::string_view line : Split(text, '\n')) {
    if (!TrimSpace(line).empty()) lines.emplace_back(line);
    if (lines.size() > kMostItems) break;
  }
  subcalls_.CountCoverage(
      JsonArray{JsonObject{{"ctx", document}, {"at", 0}, {"len", text.size()}}}, "");
  return lines;
}

Result<MapCall::Labels> MapCall::Label(const Plan& plan, const CancelToken& cancel) const {
  std::vector<std::string_view> all(plan.items.begin(), plan.items.end());
  const UniqueItems unique = FindUnique(all);
  std::vector<std::string_view> items;
  std::vector<std::int64_t> tokens;
  for (const std::size_t index : unique.first) {
    items.push_back(all[index]);
    // An estimate will do here: a quarter of the window leaves room for a margin.
    tokens.push_back(static_cast<std::int64_t>(all[index].size() / 3 + 8));
  }
  const std::int64_t window = run_.options.sub.entry.capability.window;
  Labels found(items.size());
  if (plan.labels.size() == 2 && !plan.asked && plan.max_items == 1 &&
      items.size() <= kContrastItems) {
    DOSSIER_ASSIGN_OR_RETURN(found, Contrast(plan, items, cancel));
  }
  std::size_t max_items = plan.max_items;
  for (int round = 0; round <= kMapRetryRounds; ++round) {
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i]) missing.push_back(i);
    }
    if (missing.empty() || (round > 0 && plan.max_items == 1 && round > 1)) break;
    if (round > 0) max_items = RetryItems(plan.max_items, round);
    const auto batches = PlanBatches(missing, tokens, {max_items, window / 4});
    DOSSIER_ASSIGN_OR_RETURN(found, Ask(plan, items, batches, std::move(found), cancel));
  }
  Labels labels;
  for (const std::size_t group : unique.group) labels.push_back(found[group]);
  return labels;
}

// Asks of each of two labels whether it describes the text; an item keeps the label that both answers
// point to. Where they contradict, or one is missing, none: the choice between the two decides.
Result<MapCall::Labels> MapCall::Contrast(const Plan& plan,
                                          const std::vector<std::string_view>& items,
                                          const CancelToken& cancel) const {
  std::vector<std::vector<std::size_t>> each;
  for (std::size_t i = 0; i < items.size(); ++i) each.push_back({i});
  Labels answers[2];
  for (std::size_t label = 0; label < 2; ++label) {
    Plan one = plan;
    one.asked = label;
    one.instruction.clear();
    DOSSIER_ASSIGN_OR_RETURN(answers[label], Ask(one, items, each, Labels(items.size()), cancel));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (answers[0][i] != answers[1][i]) answers[0][i].reset();
  }
  return answers[0];
}

Result<MapCall::Labels> MapCall::Ask(const Plan& plan, const std::vector<std::string_view>& items,
                                     const std::vector<std::vector<std::size_t>>& batches,
                                     Labels labels, const CancelToken& cancel) const {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t open = batches.size();
  std::optional<Error> fatal;
  for (const auto& batch : batches) {
    std::vector<std::string_view> texts;
    for (const std::size_t index : batch) texts.push_back(items[index]);
    auto prompt = Prompt(plan, texts);
    Subcalls::Done done = [&, batch](Result<model::Reply> reply) {
      std::lock_guard lock(mutex);
      if (reply) {
        const Labels parsed = Parse(plan, reply->text, batch.size());
        for (std::size_t i = 0; i < batch.size(); ++i) {
          if (parsed[i]) labels[batch[i]] = parsed[i];
        }
      } else if (reply.error().code == ErrorCode::kLimit ||
                 reply.error().code == ErrorCode::kCancelled) {
        fatal = reply.error();
      }
      --open;
      changed.notify_all();
    };
    if (!prompt) {
      done(tl::unexpected(prompt.error()));
      continue;
    }
    model::Sampling sampling;
    sampling.max_output = static_cast<std::int64_t>(batch.size()) * 24 + 8;
    if (run_.options.sub.entry.grammar && batch.size() == 1) {
      sampling.grammar =
          OneOf(plan.asked ? std::vector<std::string>{"yes", "no"} : plan.labels);
    }
    subcalls_.Send(std::move(*prompt), model::Purpose::kMap, std::move(sampling), cancel,
                   std::move(done));
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return open == 0; });
  if (fatal) return tl::unexpected(*fatal);
  return labels;
}

Result<assembly::Assembled> MapCall::Prompt(const Plan& plan,
                                            const std::vector<std::string_view>& items) const {
  const BoundModel& sub = run_.options.sub;
  std::map<std::string, std::string> values{{"instruction", plan.instruction},
                                            {"labels", Listed(plan.labels)}};
  if (items.size() == 1) {
    values["item"] = std::string(items[0]);
    if (!plan.asked) {
      values["instruction"] = std::string(ChoiceInstruction(plan.instruction));
      return run_.prompts.Assemble("map_one", sub, values, {}, run_.boundary, 64);
    }
    values["label"] = plan.labels[*plan.asked];
    return run_.prompts.Assemble("map_two", sub, values, {}, run_.boundary, 64);
  }
  std::string list;
  for (std::size_t i = 0; i < items.size(); ++i) list += fmt::format("{}: {}\n", i + 1, items[i]);
  values["items"] = std::move(list);
  values["count"] = std::to_string(items.size());
  return run_.prompts.Assemble("map_batch", sub, values, {}, run_.boundary, 1024);
}

MapCall::Labels MapCall::Parse(const Plan& plan, std::string_view reply, std::size_t count) {
  if (count > 1) return ParseLabels(reply, plan.labels, count);
  if (plan.asked) {
    const std::vector<std::string> yes_no{"yes", "no"};
    if (const auto answer = MatchLabel(TrimSpace(reply), yes_no)) {
      return {*answer == 0 ? *plan.asked : 1 - *plan.asked};
    }
  }
  if (auto label = MatchLabel(TrimSpace(reply), plan.labels)) return {label};
  return ParseLabels(reply, plan.labels, 1);
}

}  // namespace dossier::recursion
