#include "recursion/map_call.h"

#include <condition_variable>
#include <mutex>

#include "base/text.h"
#include "recursion/map_plan.h"

namespace dossier::recursion {
namespace {

constexpr std::size_t kMostItems = 200'000;
constexpr std::size_t kMostItemBytes = 256u << 20;
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

// Labels that stand for "anything else": against them a small model decides better by yes or no;
// between two labels that mean something it is better asked to choose (docs/small-models.md).
bool IsGeneric(std::string_view label, std::string_view other) {
  constexpr std::string_view kGeneric[] = {"other",   "others", "none",      "no",       "else",
                                           "neither", "rest",   "unrelated", "negative", "false"};
  const std::string lower = ToLowerAscii(TrimSpace(label));
  if (std::find(std::begin(kGeneric), std::end(kGeneric), lower) != std::end(kGeneric)) return true;
  if (lower.starts_with("not ") || lower.starts_with("non-") || lower.starts_with("not_"))
    return true;
  return lower.starts_with("other ") || lower.starts_with("anything") ||
         lower == "not " + ToLowerAscii(other);
}

std::optional<std::size_t> AskedLabel(const std::vector<std::string>& labels) {
  if (labels.size() != 2) return std::nullopt;
  if (IsGeneric(labels[1], labels[0])) return 0;
  if (IsGeneric(labels[0], labels[1])) return 1;
  return std::nullopt;
}

std::vector<std::size_t> Missing(const std::vector<std::optional<std::size_t>>& labels) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!labels[i]) missing.push_back(i);
  }
  return missing;
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
    out +=
        fmt::format("{}: {}\n", std::string_view(name), text ? std::string(*text) : ToJson(value));
  }
  return out;
}

// Items as they are read: a context of any size must not be copied to be refused.
class Items {
 public:
  Status Add(std::string text) {
    bytes_ += text.size();
    if (texts_.size() == kMostItems) {
      return MakeError(ErrorCode::kTooLong,
                       "more than {} items; at most that many in one call: pick fewer with code",
                       GroupDigits(kMostItems));
    }
    if (bytes_ > kMostItemBytes) {
      return MakeError(ErrorCode::kTooLong,
                       "the first {} items have more than {} MB; at most that much in one call: "
                       "pick fewer with code",
                       GroupDigits(texts_.size() + 1), kMostItemBytes >> 20);
    }
    texts_.push_back(std::move(text));
    return {};
  }
  std::vector<std::string> Take() && { return std::move(texts_); }

 private:
  std::vector<std::string> texts_;
  std::size_t bytes_ = 0;
};

}  // namespace

void MapCall::Start(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply,
                    TaskGroup& tasks) {
  tasks.Run([this, call = std::move(call), reply = std::move(reply)] {
    std::string stopped;
    auto plan = Read(call, reply->cancel());
    Result<Labels> labels =
        plan ? Label(*plan, *reply, &stopped) : Result<Labels>(tl::unexpected(plan.error()));
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
    JsonObject value{{"labels", std::move(indexes)}, {"failed", std::move(failed)}};
    if (!stopped.empty()) value["stopped"] = stopped;
    reply->Ok(std::move(value));
  });
}

Result<MapCall::Plan> MapCall::Read(const sandbox::BridgeCall& call,
                                    const CancelToken& cancel) const {
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
  DOSSIER_ASSIGN_OR_RETURN(plan.items, ReadItems(call, cancel));
  DOSSIER_RETURN_IF_ERROR(ReadKnown(call.args, &plan));
  return plan;
}

Result<std::vector<std::string>> MapCall::ReadItems(const sandbox::BridgeCall& call,
                                                    const CancelToken& cancel) const {
  const Json* items = Find(call.args, "items");
  if (!items) return MakeError(ErrorCode::kInvalidArgument, "items are missing");
  if (const Json* range = Find(*items, "records")) return ReadRecords(*range, cancel);
  if (const Json* range = Find(*items, "lines")) return ReadLines(*range);
  const JsonArray* list = items->if_array();
  if (!list) return MakeError(ErrorCode::kInvalidArgument, "items must be a list of texts");
  Items texts;
  for (const Json& parts : *list) {
    DOSSIER_ASSIGN_OR_RETURN(std::string text,
                             sandbox::ResolveText(parts, call.raw, subcalls_.contexts()));
    subcalls_.CountCoverage(parts, call.raw);
    DOSSIER_RETURN_IF_ERROR(texts.Add(std::move(text)));
  }
  return std::move(texts).Take();
}

Result<std::vector<std::string>> MapCall::ReadRecords(const Json& range,
                                                      const CancelToken& cancel) const {
  const std::int64_t document = FindInt(range, "ctx").value_or(0);
  std::int64_t at = FindInt(range, "from").value_or(0);
  const std::int64_t end = FindInt(range, "to").value_or(INT64_MAX);
  const std::string field(FindString(range, "field").value_or(""));
  Items texts;
  while (at < end) {
    std::string rows;
    DOSSIER_ASSIGN_OR_RETURN(
        const Json info,
        documents_.Handle("records",
                          JsonObject{{"ctx", document},
                                     {"from", at},
                                     {"max_records", std::min<std::int64_t>(end - at, 10'000)},
                                     {"max_bytes", 4 << 20}},
                          &rows, cancel));
    DOSSIER_ASSIGN_OR_RETURN(const Json list, ParseJson(rows));
    for (const Json& row : list.as_array()) {
      DOSSIER_RETURN_IF_ERROR(texts.Add(RecordText(row, field)));
    }
    const std::int64_t next = FindInt(info, "next").value_or(end);
    if (next <= at) break;
    at = next;
  }
  // Which bytes these were does not matter for the account: all of the records were shown.
  std::string unused;
  if (auto span = documents_.Handle(
          "record_span",
          JsonObject{{"ctx", document}, {"from", FindInt(range, "from").value_or(0)}, {"to", at}},
          &unused, cancel)) {
    Json part = *span;
    part.as_object()["ctx"] = document;
    subcalls_.CountCoverage(JsonArray{std::move(part)}, "");
  }
  return std::move(texts).Take();
}

Result<std::vector<std::string>> MapCall::ReadLines(const Json& range) const {
  const auto document = static_cast<std::size_t>(FindInt(range, "ctx").value_or(0));
  if (document >= subcalls_.contexts().size()) {
    return MakeError(ErrorCode::kInvalidArgument, "document {} does not exist", document);
  }
  const std::string_view text = subcalls_.contexts()[document];
  Items lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (!TrimSpace(line).empty()) DOSSIER_RETURN_IF_ERROR(lines.Add(std::string(line)));
    at = end + 1;
  }
  subcalls_.CountCoverage(JsonArray{JsonObject{{"ctx", document}, {"at", 0}, {"len", text.size()}}},
                          "");
  return std::move(lines).Take();
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
    if (!within(0, plan->items.size()) || !within(1, plan->labels.size())) {
      return MakeError(ErrorCode::kInvalidArgument, "known must be pairs of an item and a label");
    }
    plan->known.emplace_back((*two)[0].get_int64(), (*two)[1].get_int64());
  }
  return {};
}

Result<MapCall::Labels> MapCall::Label(const Plan& plan, sandbox::BridgeReply& reply,
                                       std::string* stopped) const {
  const std::vector<std::string_view> all(plan.items.begin(), plan.items.end());
  const UniqueItems unique = FindUnique(all);
  std::vector<std::string_view> items;
  for (const std::size_t index : unique.first) items.push_back(all[index]);
  Labels found(items.size());
  for (const auto& [index, label] : plan.known) found[unique.group[index]] = label;
  std::vector<std::vector<std::size_t>> equal(items.size());
  for (std::size_t i = 0; i < all.size(); ++i) equal[unique.group[i]].push_back(i);
  // Each reply's labels go ahead, so that a block that is interrupted keeps what was paid for.
  std::int64_t replies = 0;
  const Report report = [&](const std::vector<std::size_t>& which, const Labels& labels) {
    JsonArray at, given;
    for (const std::size_t item : which) {
      for (const std::size_t index : equal[item]) {
        at.push_back(Json(index));
        given.push_back(Json(*labels[item]));
      }
    }
    reply.Item(replies++, JsonObject{{"at", std::move(at)}, {"labels", std::move(given)}});
  };
  const Status asked = AskMissing(plan, items, reply.cancel(), report, &found);
  if (!asked) {
    const bool any = std::any_of(found.begin(), found.end(), [](const auto& l) { return !!l; });
    // Items that have their label are not lost to a limit.
    if (asked.error().code != ErrorCode::kLimit || !any) return tl::unexpected(asked.error());
    *stopped = asked.error().message;
  }
  Labels labels;
  for (const std::size_t group : unique.group) labels.push_back(found[group]);
  return labels;
}

Status MapCall::AskMissing(const Plan& plan, const std::vector<std::string_view>& items,
                           const CancelToken& cancel, const Report& report, Labels* labels) const {
  std::vector<std::int64_t> tokens;
  // An estimate will do here: a quarter of the window leaves room for a margin.
  for (const std::string_view item : items) {
    tokens.push_back(static_cast<std::int64_t>(item.size() / 3 + 8));
  }
  const std::int64_t window = run_.options.sub.entry.capability.window;
  if (plan.labels.size() == 2 && !plan.asked && plan.max_items == 1 &&
      items.size() <= kContrastItems) {
    DOSSIER_RETURN_IF_ERROR(Contrast(plan, items, cancel, report, labels));
  }
  std::size_t max_items = plan.max_items;
  for (int round = 0; round <= kMapRetryRounds; ++round) {
    const std::vector<std::size_t> missing = Missing(*labels);
    if (missing.empty() || (round > 0 && plan.max_items == 1 && round > 1)) break;
    if (round > 0) max_items = RetryItems(plan.max_items, round);
    const auto batches = PlanBatches(missing, tokens, {max_items, window / 4});
    DOSSIER_RETURN_IF_ERROR(Ask(plan, items, batches, cancel, report, labels));
  }
  return {};
}

// Asks of each of two labels whether it describes the text; an item keeps the label that both
// answers point to. Where they contradict, or one is missing, none: the choice between the two
// decides.
Status MapCall::Contrast(const Plan& plan, const std::vector<std::string_view>& items,
                         const CancelToken& cancel, const Report& report, Labels* labels) const {
  std::vector<std::vector<std::size_t>> each;
  for (const std::size_t item : Missing(*labels)) each.push_back({item});
  Labels answers[2] = {Labels(items.size()), Labels(items.size())};
  for (std::size_t label = 0; label < 2; ++label) {
    Plan one = plan;
    one.asked = label;
    one.instruction.clear();
    const Report nobody = [](const std::vector<std::size_t>&, const Labels&) {};
    DOSSIER_RETURN_IF_ERROR(Ask(one, items, each, cancel, nobody, &answers[label]));
  }
  std::vector<std::size_t> agreed;
  for (const std::vector<std::size_t>& item : each) {
    const auto& answer = answers[0][item[0]];
    if (!answer || answer != answers[1][item[0]]) continue;
    (*labels)[item[0]] = answer;
    agreed.push_back(item[0]);
  }
  report(agreed, *labels);
  return {};
}

Status MapCall::Ask(const Plan& plan, const std::vector<std::string_view>& items,
                    const std::vector<std::vector<std::size_t>>& batches, const CancelToken& cancel,
                    const Report& report, Labels* labels) const {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t open = batches.size();
  std::optional<Error> fatal;
  for (const auto& batch : batches) {
    if (cancel.cancelled()) {  // what is not asked yet never will be
      std::lock_guard lock(mutex);
      fatal = Error{ErrorCode::kCancelled, cancel.reason()};
      open -= batches.size() - static_cast<std::size_t>(&batch - batches.data());
      break;
    }
    std::vector<std::string_view> texts;
    for (const std::size_t index : batch) texts.push_back(items[index]);
    auto prompt = Prompt(plan, texts);
    Subcalls::Done done = [&, batch](Result<model::Reply> reply) {
      std::lock_guard lock(mutex);
      if (reply) {
        const Labels parsed = Parse(plan, reply->text, batch.size());
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < batch.size(); ++i) {
          if (!parsed[i]) continue;
          (*labels)[batch[i]] = parsed[i];
          found.push_back(batch[i]);
        }
        report(found, *labels);
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
      sampling.grammar = OneOf(plan.asked ? std::vector<std::string>{"yes", "no"} : plan.labels);
    }
    subcalls_.Send(std::move(*prompt), model::Purpose::kMap, std::move(sampling), cancel,
                   std::move(done));
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return open == 0; });
  if (fatal) return tl::unexpected(*fatal);
  return {};
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
