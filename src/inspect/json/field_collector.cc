#include "inspect/json/field_collector.h"

#include <algorithm>
#include <cmath>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/description/clean.h"
#include "inspect/description/json_text.h"
#include "inspect/description/value_type.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMaxFields = 4096;         // a dictionary of a million keys is no table
constexpr std::size_t kMaxObservations = 16384;  // per record
constexpr std::size_t kMaxValues = 12;
constexpr std::uint64_t kMaxValueChars = 40;
constexpr std::size_t kMaxWritten = 256;  // bytes of a list's text stored for its example
constexpr std::size_t kMaxText = 4096;    // bytes of a string that are stored

FieldType JsonType(JsonKind kind, std::string_view raw) {
  switch (kind) {
    case JsonKind::kObject:
      return FieldType::kObject;
    case JsonKind::kArray:
      return FieldType::kArray;
    case JsonKind::kString:
      return FieldType::kString;
    case JsonKind::kNumber:
      return raw.find_first_of(".eEN") == std::string_view::npos && !raw.ends_with('y')
                 ? FieldType::kInteger
                 : FieldType::kNumber;
    case JsonKind::kBoolean:
      return FieldType::kBoolean;
    case JsonKind::kNull:
      break;
  }
  return FieldType::kNull;
}

bool IsNumeric(FieldType type) { return type == FieldType::kInteger || type == FieldType::kNumber; }

std::uint64_t Median(std::vector<std::uint64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string ShowPath(const std::vector<std::string>& path, bool object) {
  std::string shown;
  for (const std::string& name : path) {
    if (!shown.empty()) shown += '.';
    shown += ShowFieldName(name);
  }
  return object ? shown + "{…}" : shown;
}

}  // namespace

void FieldCollector::AddRecord(const TextRecord& record) {
  BeginRecord(0);
  for (const auto& [name, value] : record) {
    path_.assign(1, name);
    const FieldType type = TypeOfText(value);
    const std::uint64_t chars = type == FieldType::kString ? utf8::CodePoints(value) : 0;
    Observe(type, value.substr(0, utf8::FloorBoundary(value, kMaxText)), chars, Origin::kCell);
  }
  EndRecord(/*valid=*/true);
}

void FieldCollector::BeginRecord(int record_depth) {
  record_depth_ = record_depth;
  seen_.clear();
  path_.clear();
  seen_at_open_.clear();
  muted_at_ = kExpanded;
}

void FieldCollector::EndRecord(bool valid) {
  if (valid && !full()) {
    ++records_;
    for (const Observation& seen : seen_) Commit(seen);
  }
  seen_.clear();
}

void FieldCollector::Observe(FieldType type, std::string value, std::uint64_t chars,
                             Origin origin) {
  if (seen_.size() == kMaxObservations) return;
  seen_.push_back({path_, type, std::move(value), chars, origin});
}

void FieldCollector::Write(std::string_view text) {
  if (written_.size() < kMaxWritten) written_ += text.substr(0, kMaxWritten);
}

// Sets the path of the value that ended at `level`; at 0 it is a record without names of its own.
void FieldCollector::SetPathLevel(int level) {
  path_.resize(static_cast<std::size_t>(level));
  if (level == 0) path_.emplace_back(kRowValue);
}

int FieldCollector::WantedDepth() const {
  if (seen_.size() == kMaxObservations) return record_depth_;
  if (muted() && written_.size() >= kMaxWritten) return record_depth_ + muted_at_;
  return EventDepth(record_depth_);
}

void FieldCollector::OnBegin(JsonKind container, int depth) {
  const int level = depth - record_depth_;
  if (muted()) {
    if (write_comma_) Write(",");
    Write(container == JsonKind::kObject ? "{" : "[");
    write_comma_ = false;
    return;
  }
  const bool object = container == JsonKind::kObject;
  if (object && level <= limits_.depth) {
    seen_at_open_.push_back(seen_.size());
    return;
  }
  muted_at_ = level;
  written_.assign(1, object ? '{' : '[');
  write_comma_ = false;
}

void FieldCollector::OnEnd(JsonKind container, int depth) {
  const int level = depth - record_depth_;
  if (!muted()) {
    if (seen_at_open_.empty()) return;
    // An expanded object without members is also a field.
    if (level > 0 && seen_at_open_.back() == seen_.size()) {
      path_.resize(static_cast<std::size_t>(level));
      Observe(FieldType::kObject, "{}", 0);
    }
    seen_at_open_.pop_back();
    return;
  }
  Write(container == JsonKind::kObject ? "}" : "]");
  write_comma_ = true;
  if (level != muted_at_) return;
  muted_at_ = kExpanded;
  SetPathLevel(level);
  Observe(container == JsonKind::kObject ? FieldType::kObject : FieldType::kArray,
          written_.substr(0, utf8::FloorBoundary(written_, kMaxWritten)), 0);
}

void FieldCollector::OnKey(std::string_view raw, int depth) {
  const int level = depth - record_depth_;
  if (muted()) {
    if (write_comma_) Write(",");
    Write("\"");
    Write(raw);
    Write("\":");
    write_comma_ = false;
    return;
  }
  path_.resize(static_cast<std::size_t>(std::max(level, 1) - 1));
  path_.push_back(UnescapeJson(raw));
}

void FieldCollector::OnScalar(JsonKind kind, std::string_view raw, std::uint64_t raw_bytes,
                              int depth) {
  const int level = depth - record_depth_;
  if (muted()) {
    if (write_comma_) Write(",");
    if (kind == JsonKind::kString) Write("\"");
    Write(raw);
    if (kind == JsonKind::kString) Write("\"");
    write_comma_ = true;
    return;
  }
  SetPathLevel(level);
  if (kind != JsonKind::kString) {
    Observe(JsonType(kind, raw), std::string(raw.substr(0, kMaxText)), 0);
    return;
  }
  std::string text = UnescapeJson(raw);
  const std::uint64_t chars = utf8::CodePoints(text) + (raw_bytes - raw.size());
  text.resize(utf8::FloorBoundary(text, kMaxText));
  Observe(FieldType::kString, std::move(text), chars);
}

void FieldCollector::Commit(const Observation& seen) {
  auto found = index_.find(seen.path);
  if (found == index_.end()) {
    if (nodes_.size() == kMaxFields) return;
    found = index_.emplace(seen.path, nodes_.size()).first;
    nodes_.push_back({.path = seen.path});
  }
  Node& node = nodes_[found->second];
  if (node.last_record == records_) {
    duplicate_keys_ = true;
    return;
  }
  node.last_record = records_;
  if (node.first_record == 0) node.first_record = records_;
  ++node.present;
  node.types.Add(seen.type);
  const bool numeral = seen.origin == Origin::kCell && node.forms.Add(seen.value);
  node.other_text = node.other_text || (seen.type == FieldType::kString && !numeral);
  CommitValue(seen, &node);
}

void FieldCollector::CommitValue(const Observation& seen, Node* node) {
  if (seen.type == FieldType::kString) node->lengths.push_back(seen.chars);
  if (IsNumeric(seen.type)) {
    const auto number = NumberOfText(seen.value);
    if (number && std::isfinite(*number)) {
      node->min = std::min(node->min.value_or(*number), *number);
      node->max = std::max(node->max.value_or(*number), *number);
    }
  }
  const bool blank = seen.value.empty() || seen.type == FieldType::kNull ||
                     seen.type == FieldType::kEmpty || seen.value == "[]" || seen.value == "{}";
  if (blank) return;
  const std::string_view name = node->path.empty() ? std::string_view() : node->path.back();
  if (node->example.empty()) node->example = CleanExample(name, seen.value);
  if (seen.type == FieldType::kArray || seen.type == FieldType::kObject) {
    node->many_values = true;
    return;
  }
  if (node->many_values) return;
  const std::string value = CleanExample(name, seen.value);
  if (std::find(node->values.begin(), node->values.end(), value) != node->values.end()) return;
  if (node->values.size() == kMaxValues || seen.chars > kMaxValueChars) {
    node->many_values = true;
    node->values.clear();
    return;
  }
  node->values.push_back(value);
}

// Returns the decimal mark that some columns prove and none refutes.
DecimalMark FieldCollector::FileMark() const {
  bool dot = false, comma = false;
  for (const Node& node : nodes_) {
    if (!node.forms.mostly()) continue;
    dot = dot || node.forms.mark() == DecimalMark::kDot;
    comma = comma || node.forms.mark() == DecimalMark::kComma;
  }
  if (dot == comma) return DecimalMark::kUnknown;
  return dot ? DecimalMark::kDot : DecimalMark::kComma;
}

void FieldCollector::SetTypes(const Node& node, DecimalMark file, Field* field) const {
  std::optional<NumberStyle> style = node.forms.Style(file, limits_.lone_dots);
  const DecimalMark mark = style ? style->mark : DecimalMark::kDot;
  const bool undecided = style && style->undecided;
  const bool numbers = !undecided && node.forms.AreNumbers(mark);
  const bool styled = style && numbers;
  for (const FieldType type : node.types.List()) {
    const bool text = IsNumeric(type) && !numbers;
    const bool numeral =
        styled && (IsNumeric(type) || (type == FieldType::kString && !node.other_text));
    if (!numeral) field->types.Add(text ? FieldType::kString : type);
  }
  if (undecided || styled) field->style = std::move(style);
  if (!numbers) return;
  field->min = node.min;
  field->max = node.max;
  if (!styled) return;
  const NumeralForms::Range& range = node.forms.range(mark);
  field->types.Add(range.decimals ? FieldType::kNumber : FieldType::kInteger);
  field->min = range.min;
  field->max = range.max;
}

FieldTable FieldCollector::Build(std::uint32_t listed) const {
  FieldTable table{.duplicate_keys = duplicate_keys_};
  std::vector<Field> all;
  const DecimalMark file = FileMark();
  const auto of_first = std::ranges::count(nodes_, 1u, &Node::first_record);
  table.first_alone =
      records_ > 2 && of_first > 0 &&
      std::ranges::none_of(
          nodes_, [](const Node& node) { return node.first_record == 1 && node.present > 1; }) &&
      static_cast<std::size_t>(of_first) < nodes_.size();
  for (const Node& node : nodes_) {
    Field field;
    field.path = node.path;
    field.shown = ShowPath(node.path, node.types.Has(FieldType::kObject));
    SetTypes(node, file, &field);
    field.present = node.present;
    field.sampled = records_;
    field.example = node.example;
    field.values = node.values;
    field.median_chars = Median(node.lengths);
    all.push_back(std::move(field));
  }
  table.total = all.size();
  table.main_text_field = MainTextField(all);
  if (all.size() > listed) all.resize(listed);
  table.fields = std::move(all);
  return table;
}

}  // namespace dossier::inspect
