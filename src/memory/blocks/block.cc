#include "memory/blocks/block.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier::memory {
namespace {

constexpr double kMicrosPerSecond = 1e6;
constexpr double kMostSeconds = 100.0 * 366 * 86'400;

std::optional<Ttl> Span(double seconds) {
  if (!(seconds > 0 && seconds <= kMostSeconds)) return std::nullopt;
  return Ttl{.time = static_cast<Micros>(seconds * kMicrosPerSecond)};
}

// Returns the seconds in a unit; 0 for an unknown unit.
double SecondsOf(std::string_view unit) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86'400}, {"w", 604'800}};
  for (const auto& [name, seconds] : kUnits) {
    if (name == unit) return seconds;
  }
  return 0;
}

struct Written {
  std::string name;  // as in the block; for equal names the last one
  Json value;
  bool present = false;
};
using WrittenTable = std::array<Written, kOperations.size()>;

JsonArray AsList(Json value) {
  if (auto* list = value.if_array()) return std::move(*list);
  JsonArray list;
  list.push_back(std::move(value));
  return list;
}

// If both have a value, `later` takes precedence.
Json Merged(ValueShape shape, Json earlier, Json later) {
  if (shape == ValueShape::kMap && earlier.is_object() && later.is_object()) {
    for (auto& member : later.get_object()) {
      earlier.get_object().insert_or_assign(member.key(), std::move(member.value()));
    }
    return earlier;
  }
  if (shape == ValueShape::kList) {
    JsonArray all = AsList(std::move(earlier));
    for (Json& value : AsList(std::move(later))) all.push_back(std::move(value));
    return all;
  }
  return later;
}

Notice UnknownOperation(const std::string& name) {
  const std::string nearest = NearestOperation(name);
  return {"unknown_operation",
          nearest.empty()
              ? fmt::format("unknown operation \"{}\"", name)
              : fmt::format("unknown operation \"{}\"; did you mean \"{}\"?", name, nearest)};
}

void Take(const MemoryOperation& operation, std::string name, Json value, Written& into,
          UpdateBlock& block) {
  if (into.present) {
    if (into.name != name) {
      block.warnings.push_back(
          {"duplicate_key",
           fmt::format("\"{}\" and \"{}\" are one operation; they were merged, and "
                       "the later one holds where they differ",
                       into.name, name)});
    }
    value = Merged(operation.shape, std::move(into.value), std::move(value));
  }
  into = {.name = std::move(name), .value = std::move(value), .present = true};
}

}  // namespace

std::optional<Ttl> ParseTtl(std::string_view text) {
  text = TrimSpace(text);
  std::uint64_t count = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
  if (error == std::errc() && SecondsOf(unit) > 0) {
    return Span(static_cast<double>(count) * SecondsOf(unit));
  }
  const Result<Clock::Wall> at = ParseTime(text);
  if (!at) return std::nullopt;
  const auto since = std::chrono::floor<std::chrono::microseconds>(at->time_since_epoch());
  return Ttl{.kind = Ttl::Kind::kAt, .time = since.count()};
}

std::optional<Ttl> ParseTtl(const Json& value) {
  if (const auto* text = value.if_string()) return ParseTtl(std::string_view(*text));
  if (value.is_number()) return Span(value.to_number<double>());
  return std::nullopt;
}

bool UpdateBlock::Writes() const {
  return std::ranges::any_of(operations, [](const BlockOperation& operation) {
    return OperationOf(operation.id).access == Access::kWrite;
  });
}

bool UpdateBlock::Reads() const {
  return std::ranges::any_of(operations, [](const BlockOperation& operation) {
    return OperationOf(operation.id).access == Access::kRead;
  });
}

UpdateBlock CheckBlock(std::vector<std::pair<std::string, Json>> members,
                       const RepeatedNames& repeated) {
  UpdateBlock block;
  WrittenTable written;
  for (auto& [name, value] : members) {
    if (const MemoryOperation* operation = FindOperation(name)) {
      Take(*operation, std::move(name), std::move(value),
           written[static_cast<std::size_t>(operation->id)], block);
    } else {
      block.warnings.push_back(UnknownOperation(name));
      block.input[name] = std::move(value);
    }
  }
  for (const std::string& path : repeated.paths) {
    block.warnings.push_back(
        {"duplicate_key", fmt::format("{} stands twice; the later one holds", path)});
  }
  if (repeated.more > 0) {
    block.warnings.push_back(
        {"duplicate_key", fmt::format("{} more names stand twice", GroupDigits(repeated.more))});
  }
  for (const MemoryOperation& operation : kOperations) {
    Written& found = written[static_cast<std::size_t>(operation.id)];
    if (!found.present) continue;
    block.operations.push_back(
        CheckValue(operation, "$." + found.name, found.value, block.warnings));
    block.input[found.name] = std::move(found.value);
  }
  return block;
}

namespace {

constexpr int kArchivalHits = 10;
constexpr int kRecallHits = 20;
constexpr std::int64_t kMostHitsKept = 200;
constexpr int kDefaultImportance = 3;

template <typename T>
using Checked = tl::expected<T, BadValue>;

// Describes a value in an error message: "a list", "the number 3".
std::string Described(const Json* value) {
  if (!value) return "nothing";
  if (value->is_object()) return "an object";
  if (value->is_array()) return "a list";
  if (value->is_string()) return "a text";
  return ToJson(*value);
}

tl::unexpected<BadValue> Bad(std::string path, std::string_view expected, const Json* found) {
  return tl::unexpected(
      BadValue{std::move(path), fmt::format("{}, not {}", expected, Described(found))});
}

std::string Item(const std::string& path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

std::string_view TextView(const boost::json::string& text) { return {text.data(), text.size()}; }

// Parses each value of a list; a single value counts as a list of one.
template <typename T, typename Parse>
Checked<std::vector<T>> CheckList(const std::string& path, const Json& value, const Parse& parse) {
  std::vector<T> all;
  const auto* list = value.if_array();
  const std::size_t count = list ? list->size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    DOSSIER_ASSIGN_OR_RETURN(T item, list ? parse(Item(path, i), (*list)[i]) : parse(path, value));
    all.push_back(std::move(item));
  }
  return all;
}

Checked<std::string> CheckText(const std::string& path, const Json& value) {
  const auto* text = value.if_string();
  if (!text) return Bad(path, "a text", &value);
  return std::string(TextView(*text));
}

Checked<std::int64_t> CheckId(const std::string& path, const Json& value) {
  const auto* id = value.if_int64();
  if (!id || *id < 1) return Bad(path, "the id of a record, a whole number above 0", &value);
  return *id;
}

Checked<std::vector<std::string>> CheckTexts(const std::string& path, const Json& value) {
  return CheckList<std::string>(path, value, CheckText);
}

Checked<std::vector<std::int64_t>> CheckIds(const std::string& path, const Json& value) {
  return CheckList<std::int64_t>(path, value, CheckId);
}

Checked<Micros> CheckTime(const std::string& path, const Json& value) {
  const auto* text = value.if_string();
  const Result<Clock::Wall> time =
      text ? ParseTime(TextView(*text)) : MakeError(ErrorCode::kInvalidArgument, "no text");
  if (!time) return Bad(path, "a time like 2026-03-01T10:00:00Z", &value);
  return std::chrono::floor<std::chrono::microseconds>(time->time_since_epoch()).count();
}

// Accepts `{value, importance?, ttl?, pin?}`, but not data that happens to have a `value`.
bool IsCoreForm(const JsonObject& object) {
  constexpr std::string_view kNames[] = {"value", "importance", "ttl", "pin"};
  return object.contains("value") && std::ranges::all_of(object, [&](const auto& member) {
           return std::ranges::find(kNames, std::string_view(member.key())) != std::end(kNames);
         });
}

void SetText(const Json& value, CoreSetItem& item) {
  if (value.is_null()) {
    item.refused =
        fmt::format("bad_value: the value of \"{}\" is null; core_delete removes a key", item.key);
  } else if (const auto* text = value.if_string()) {
    item.value.value = TextView(*text);
  } else {
    item.value.value = ToJson(value);
  }
}

void SetImportance(const std::string& path, const Json& value, CoreSetItem& item,
                   std::vector<Notice>& warnings) {
  if (!value.is_number()) {
    item.value.importance = kDefaultImportance;
    warnings.push_back(
        {"bad_importance", fmt::format("{}: importance is a number from 1 to 5, not "
                                       "{}; {} is taken",
                                       path, Described(&value), kDefaultImportance)});
    return;
  }
  item.value.importance =
      static_cast<int>(std::lround(std::clamp(value.to_number<double>(), 1.0, 5.0)));
}

Checked<CoreSetItem> CheckCoreItem(const std::string& path, std::string_view key, const Json& value,
                                   std::vector<Notice>& warnings) {
  CoreSetItem item{.key = std::string(key)};
  const auto* form = value.if_object();
  if (!form || !IsCoreForm(*form)) {
    SetText(value, item);
    return item;
  }
  SetText(form->at("value"), item);
  if (const Json* importance = Find(*form, "importance")) {
    SetImportance(path, *importance, item, warnings);
  }
  if (const Json* ttl = Find(*form, "ttl"); ttl && !ttl->is_null()) {
    item.ttl = ParseTtl(*ttl);
    if (!item.ttl) {
      warnings.push_back(
          {"ttl_ignored", fmt::format("{}.ttl: seconds, a span like 30s 10m 2h 7d 4w or a time is "
                                      "expected; stored without expiry",
                                      path)});
    }
  }
  if (const Json* pin = Find(*form, "pin")) {
    if (!pin->is_bool()) return Bad(path + ".pin", "true or false", pin);
    item.value.pinned = pin->get_bool();
  }
  return item;
}

Checked<CoreSetItems> CheckCoreSet(const std::string& path, const Json& value,
                                   std::vector<Notice>& warnings) {
  const auto* map = value.if_object();
  if (!map) return Bad(path, "an object of keys and texts", &value);
  CoreSetItems items;
  for (const auto& member : *map) {
    const std::string_view key = member.key();
    DOSSIER_ASSIGN_OR_RETURN(CoreSetItem item, CheckCoreItem(fmt::format("{}.{}", path, key), key,
                                                             member.value(), warnings));
    items.items.push_back(std::move(item));
  }
  return items;
}

// Joins `text`, `summary`, `content`: different values in that order, one per line.
Checked<std::string> CheckEventText(const std::string& path, const JsonObject& event) {
  std::vector<std::string> texts;
  for (const std::string_view name : {"text", "summary", "content"}) {
    const Json* value = Find(event, name);
    if (!value || value->is_null()) continue;
    DOSSIER_ASSIGN_OR_RETURN(std::string text, CheckText(fmt::format("{}.{}", path, name), *value));
    if (!text.empty() && std::ranges::find(texts, text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  }
  return Join(texts, "\n");
}

// Reads one field of a record; unknown fields and those of `meta` become its meta data.
Checked<bool> CheckField(const std::string& path, std::string_view name, const Json& value,
                         Record& record) {
  constexpr std::pair<std::string_view, std::string Record::*> kTexts[] = {
      {"phase", &Record::phase}, {"thread", &Record::thread}, {"ref", &Record::ref}};
  for (const auto& [text_name, member] : kTexts) {
    if (name != text_name) continue;
    DOSSIER_ASSIGN_OR_RETURN(record.*member, CheckText(path, value));
    return true;
  }
  if (name == "tags") {
    DOSSIER_ASSIGN_OR_RETURN(record.tags, CheckTexts(path, value));
  } else if (name == "time") {
    DOSSIER_ASSIGN_OR_RETURN(record.at, CheckTime(path, value));
  } else if (name == "supersedes") {
    DOSSIER_ASSIGN_OR_RETURN(record.supersedes, CheckId(path, value));
  } else if (name == "meta") {
    const auto* meta = value.if_object();
    if (!meta) return Bad(path, "an object", &value);
    for (const auto& member : *meta) record.meta[member.key()] = member.value();
  } else {
    record.meta[name] = value;
  }
  return true;
}

Checked<Record> CheckRecord(Tier tier, const std::string& path, const Json& value) {
  const auto* fields = value.if_object();
  if (!fields) return Bad(path, "an object with a text", &value);
  Record record{.tier = tier};
  if (tier == Tier::kRecall) {
    record.kind = "llm_insight";
    DOSSIER_ASSIGN_OR_RETURN(record.text, CheckEventText(path, *fields));
  } else {
    const Json* text = Find(*fields, "text");
    if (!text) return Bad(path + ".text", "a text", nullptr);
    DOSSIER_ASSIGN_OR_RETURN(record.text, CheckText(path + ".text", *text));
  }
  for (const auto& member : *fields) {
    const std::string_view name = member.key();
    const std::string at = fmt::format("{}.{}", path, name);
    const bool is_text =
        name == "text" || (tier == Tier::kRecall && (name == "summary" || name == "content"));
    if (is_text || member.value().is_null()) continue;
    if (tier == Tier::kRecall && name == "kind") {
      DOSSIER_ASSIGN_OR_RETURN(record.kind, CheckText(at, member.value()));
    } else {
      DOSSIER_RETURN_IF_ERROR(CheckField(at, name, member.value(), record));
    }
  }
  return record;
}

Checked<NewRecords> CheckRecords(Tier tier, const std::string& path, const Json& value) {
  DOSSIER_ASSIGN_OR_RETURN(
      std::vector<Record> records,
      CheckList<Record>(path, value, [tier](const std::string& at, const Json& item) {
        return CheckRecord(tier, at, item);
      }));
  return NewRecords{std::move(records)};
}

Checked<RecordChange> CheckChange(const std::string& path, const Json& value) {
  if (!value.is_object()) return Bad(path, "an object with an id", &value);
  RecordChange change;
  const Json* id = Find(value, "id");
  if (!id) return Bad(path + ".id", "the id of a record", nullptr);
  DOSSIER_ASSIGN_OR_RETURN(change.id, CheckId(path + ".id", *id));
  if (const Json* text = Find(value, "text"); text && !text->is_null()) {
    DOSSIER_ASSIGN_OR_RETURN(change.text, CheckText(path + ".text", *text));
  }
  if (const Json* tags = Find(value, "tags"); tags && !tags->is_null()) {
    DOSSIER_ASSIGN_OR_RETURN(change.tags, CheckTexts(path + ".tags", *tags));
  }
  return change;
}

Checked<EvictSelection> CheckEviction(const std::string& path, const Json& value) {
  EvictSelection selection;
  if (value.is_array()) {
    DOSSIER_ASSIGN_OR_RETURN(selection.ids, CheckIds(path, value));
    return selection;
  }
  if (!value.is_object())
    return Bad(path, "an object with ids, kind or oldest, or a list of ids", &value);
  if (const Json* ids = Find(value, "ids")) {
    DOSSIER_ASSIGN_OR_RETURN(selection.ids, CheckIds(path + ".ids", *ids));
  }
  if (const Json* kind = Find(value, "kind")) {
    DOSSIER_ASSIGN_OR_RETURN(selection.kind, CheckText(path + ".kind", *kind));
  }
  if (const Json* oldest = Find(value, "oldest")) {
    const auto* count = oldest->if_int64();
    if (!count || *count < 0) return Bad(path + ".oldest", "a whole number from 0", oldest);
    selection.oldest = *count;
  }
  return selection;
}

Checked<SwitchedOn> CheckAsked(const std::string& path, const Json& value) {
  const auto* object = value.if_object();
  if ((object && object->empty()) || (value.is_bool() && value.get_bool())) return SwitchedOn{};
  return Bad(path, "true or {}", &value);
}

Checked<SearchRequest> CheckSearch(int default_k, const std::string& path, const Json& value) {
  SearchRequest request{.k = default_k};
  const Json* query = value.is_string() ? &value : Find(value, "query");
  if (!query && !value.is_object()) return Bad(path, "a query, or an object with one", &value);
  const auto* text = query ? query->if_string() : nullptr;
  const std::string query_path = value.is_string() ? path : path + ".query";
  if (!text) return Bad(query_path, "a text to search for", query);
  request.query = TextView(*text);
  if (TrimSpace(request.query).empty()) {
    return tl::unexpected(BadValue{query_path, "a text to search for, not blanks"});
  }
  if (const Json* k = Find(value, "k")) {
    const auto* count = k->if_int64();
    if (!count || *count < 1 || *count > kMostHitsKept) {
      return Bad(path + ".k", "a whole number from 1 to 200", k);
    }
    request.k = static_cast<int>(*count);
  }
  if (const Json* tags = Find(value, "tags"); tags && !tags->is_null()) {
    DOSSIER_ASSIGN_OR_RETURN(request.tags, CheckTexts(path + ".tags", *tags));
  }
  if (const Json* kind = Find(value, "kind"); kind && !kind->is_null()) {
    DOSSIER_ASSIGN_OR_RETURN(request.kind, CheckText(path + ".kind", *kind));
  }
  return request;
}

template <typename T>
BlockOperation Made(OperationId id, Checked<T> checked) {
  if (!checked) return {.id = id, .value = std::move(checked).error()};
  return {.id = id, .value = *std::move(checked)};
}

template <typename T, typename List>
BlockOperation MadeOf(OperationId id, Checked<List> checked) {
  if (!checked) return {.id = id, .value = std::move(checked).error()};
  return {.id = id, .value = T{*std::move(checked)}};
}

}  // namespace

BlockOperation CheckValue(const MemoryOperation& operation, const std::string& path,
                          const Json& value, std::vector<Notice>& warnings) {
  const OperationId id = operation.id;
  switch (id) {
    case OperationId::kCoreSet:
      return Made(id, CheckCoreSet(path, value, warnings));
    case OperationId::kCoreDelete:
    case OperationId::kCoreGet:
      return MadeOf<Keys>(id, CheckTexts(path, value));
    case OperationId::kArchivalWrite:
      return Made(id, CheckRecords(Tier::kArchival, path, value));
    case OperationId::kRecallAppend:
      return Made(id, CheckRecords(Tier::kRecall, path, value));
    case OperationId::kArchivalUpdate:
      return MadeOf<RecordChanges>(id, CheckList<RecordChange>(path, value, CheckChange));
    case OperationId::kArchivalDelete:
    case OperationId::kArchivalGet:
      return MadeOf<Ids>(id, CheckIds(path, value));
    case OperationId::kRecallEvict:
      return Made(id, CheckEviction(path, value));
    case OperationId::kRecallSummarize:
    case OperationId::kConsolidate:
      return Made(id, CheckAsked(path, value));
    case OperationId::kArchivalSearch:
      return Made(id, CheckSearch(kArchivalHits, path, value));
    case OperationId::kRecallSearch:
      return Made(id, CheckSearch(kRecallHits, path, value));
  }
  return {.id = id, .value = BadValue{path, "an operation"}};
}

}  // namespace dossier::memory
