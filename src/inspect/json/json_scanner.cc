#include "inspect/json/json_scanner.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "inspect/description/json_text.h"

namespace dossier::inspect {
namespace {

constexpr std::uint64_t kFewestRecords = 2;

constexpr char kRecordSeparator = '\x1E';

std::string_view KindName(JsonKind kind) {
  constexpr std::string_view kNames[] = {"object", "array", "string", "number", "boolean", "null"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

void JsonMembers::Add(bool object) { ++(object ? objects_ : others_); }

void JsonMembers::AddName(std::string_view raw) {
  if (!looking() || objects_ == 0) return;
  ++named_;
  const auto known = names_.find(raw);
  if (known != names_.end()) {
    ++known->second;
  } else if (names_.size() < kMostNames) {
    names_.emplace(raw, 1);
  }
}

bool JsonMembers::alike() const {
  if (!open_ || objects_ < kFewestRecords || others_ > 0 || names_.empty()) return false;
  const std::uint64_t looked = std::min(objects_, kLooked);
  if (named_ * 4 >= names_.size() * looked * 3) return true;
  return looked > 2 && std::ranges::any_of(names_, [&](const auto& name) {
           return name.second * 10 >= looked * 9;
         });
}

std::string JsonMembers::FreeName() const {
  std::string name(kRowKey);
  while (names_.contains(name)) name = "_" + name;
  return name;
}

void JsonLists::OnKey(std::string_view raw, int depth) {
  if (depth >= 1 && depth <= kMostNames) names_[static_cast<std::size_t>(depth - 1)] = raw;
  if (depth == 2) root_.AddName(raw);
  if (depth == 3) inner_.AddName(raw);
}

void JsonLists::OnBegin(JsonKind container, int depth) {
  const bool object = container == JsonKind::kObject;
  if (depth == 0) root_.Start(object);
  if (depth == 1) root_.Add(object);
  if (depth == 1) inner_.Start(object);
  if (depth == 2) inner_.Add(object);
  if (list_depth_ > 0) {
    if (depth == list_depth_ + 1) ++(object ? objects_ : others_);
    return;
  }
  if (depth != open_objects_) return;  // in an array
  open_objects_ += object ? 1 : 0;
  if (object || depth == 0 || depth > kMostNames) return;
  list_depth_ = depth;
  objects_ = others_ = 0;
}

void JsonLists::OnEnd(JsonKind, int depth) {
  if (depth == 1 && inner_.alike()) {
    ++inner_found_;
    inner_records_ = {{names_[0]}, inner_.FreeName()};
  }
  if (depth == open_objects_ - 1) open_objects_ = depth;
  if (list_depth_ == 0 || depth != list_depth_) return;
  list_depth_ = 0;
  if (objects_ < kFewestRecords || others_ > 0) return;
  ListBeside found{{names_.begin(), names_.begin() + depth}, objects_};
  if (found.records > best_.records) std::swap(found, best_);
  if (!found.path.empty() && other_lists_.size() < kMostLists) {
    other_lists_.push_back(std::move(found));
  }
}

void JsonLists::OnScalar(int depth) {
  if (depth == 1) root_.Add(/*object=*/false);
  if (depth == 2) inner_.Add(/*object=*/false);
  if (list_depth_ > 0 && depth == list_depth_ + 1) ++others_;
}

int JsonLists::WantedDepth() const {
  if (open_objects_ == 0) return 0;
  const int names = list_depth_ == 0 && inner_.looking() ? 3 : root_.looking() ? 2 : 0;
  const int lists = list_depth_ > 0 ? list_depth_ + 1 : std::min(open_objects_, kMostNames) + 1;
  return std::max(lists, names);
}

bool JsonLists::IsAt(std::span<const std::string> path, int depth) const {
  return static_cast<std::size_t>(depth) == path.size() && open_objects_ > 0 &&
         open_objects_ >= depth && std::equal(path.begin(), path.end(), names_.begin());
}

JsonRecords JsonLists::best() const {
  if (root_.alike()) return {{}, root_.FreeName()};
  if (!best_.path.empty()) return {best_.path, ""};
  return inner_found_ == 1 ? inner_records_ : JsonRecords();
}

JsonScanner::JsonScanner(const FieldLimits& limits, JsonSequence sequence, JsonRecords list)
    : sequence_(sequence),
      limits_(limits),
      list_(std::move(list)),
      root_fields_(limits),
      list_fields_(limits) {
  machine_.CaptureAt(0, &root_sample_);
}

void JsonScanner::Feed(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end && !failed()) {
    if (between_) {
      at = BetweenValues(at, end);
      continue;
    }
    const JsonOutcome outcome = machine_.Feed(&at, end);
    if (outcome == JsonOutcome::kDone) EndValue();
    if (outcome == JsonOutcome::kFault) {
      summary_.fault = machine_.fault();
      summary_.fault_offset = fed_ + static_cast<std::uint64_t>(at - text.data());
    }
  }
  fed_ += text.size();
}

const char* JsonScanner::BetweenValues(const char* at, const char* end) {
  const bool separated = sequence_ == JsonSequence::kRecordSeparator;
  while (at < end && (IsJsonSpace(*at) || (separated && *at == kRecordSeparator))) ++at;
  if (at == end) return at;
  between_ = false;
  machine_.Reset();
  if (!root_fields_.full()) {
    root_fields_.BeginRecord(0);
    machine_.SetEvents(this, root_fields_.WantedDepth());
  } else {
    machine_.SetEvents(nullptr, 0);
  }
  return at;
}

void JsonScanner::EndValue() {
  between_ = true;
  if (summary_.values == 0) summary_.first_kind = machine_.kind();
  ++summary_.values;
  const JsonKind kind = machine_.kind();
  if (kind != JsonKind::kObject) ++summary_.root_non_object;
  summary_.non_finite += machine_.non_finite();
  if (kind != JsonKind::kObject && kind != JsonKind::kArray) summary_.only_containers = false;
  root_fields_.EndRecord(/*valid=*/true);
}

void JsonScanner::OnBegin(JsonKind container, int depth) {
  if (summary_.values == 0) lists_.OnBegin(container, depth);
  BeginContainer(container, depth);
  ChooseEventDepth();
}

void JsonScanner::BeginContainer(JsonKind container, int depth) {
  if (depth == 0 && container == JsonKind::kArray && summary_.values == 0) {
    list_depth_ = 1;
    list_open_ = true;
    machine_.CountAt(1);
    machine_.CaptureAt(1, &list_sample_);
  }
  const JsonKind wanted = list_.key.empty() ? JsonKind::kArray : JsonKind::kObject;
  if (list_depth_ == 0 && container == wanted && summary_.values == 0 && IsRecordList(depth)) {
    has_features_ = has_features_ || last_key_ == "features";
    has_cells_ = has_cells_ || last_key_ == "cells";
    list_depth_ = depth + 1;
    list_open_ = true;
    machine_.CountAt(list_depth_);
  }
  if (depth > 0) summary_.started_container = true;
  root_fields_.OnBegin(container, depth);
  if (!list_open_ || depth < list_depth_ || list_fields_.full()) return;
  if (depth == list_depth_) list_fields_.BeginRecord(list_depth_);
  list_fields_.OnBegin(container, depth);
  if (depth != list_depth_ || list_.key.empty()) return;
  const std::string_view name = lists_.name(depth);
  list_fields_.OnKey(list_.key, depth + 1);
  list_fields_.OnScalar(JsonKind::kString, name, name.size(), depth + 1);
}

bool JsonScanner::IsRecordList(int depth) const {
  if (!list_.none()) return lists_.IsAt(list_.path, depth);
  return depth == 1 && (last_key_ == "features" || last_key_ == "cells");
}

void JsonScanner::OnEnd(JsonKind container, int depth) {
  if (summary_.values == 0) lists_.OnEnd(container, depth);
  EndContainer(container, depth);
  ChooseEventDepth();
}

void JsonScanner::EndContainer(JsonKind container, int depth) {
  root_fields_.OnEnd(container, depth);
  if (!list_open_) return;
  if (depth < list_depth_) {
    if (depth == list_depth_ - 1) list_open_ = false;
    return;
  }
  if (list_fields_.full()) return;
  list_fields_.OnEnd(container, depth);
  if (depth != list_depth_) return;
  list_fields_.EndRecord(/*valid=*/true);
}

// Reports no deeper than needed, so that a large document is read at full speed.
void JsonScanner::ChooseEventDepth() {
  const bool first_object = machine_.kind() == JsonKind::kObject && summary_.values == 0;
  int depth = first_object ? std::max(1, lists_.WantedDepth()) : 0;
  if (!root_fields_.full()) depth = std::max(depth, root_fields_.WantedDepth());
  if (list_open_ && !list_fields_.full()) depth = std::max(depth, list_fields_.WantedDepth());
  machine_.SetEvents(this, depth);
}

void JsonScanner::OnKey(std::string_view raw, int depth) {
  if (summary_.values == 0) lists_.OnKey(raw, depth);
  if (depth == 1) {
    last_key_ = raw.substr(0, 64);
    summary_.started_container = true;
  }
  root_fields_.OnKey(raw, depth);
  if (list_open_ && depth > list_depth_ && !list_fields_.full()) list_fields_.OnKey(raw, depth);
}

void JsonScanner::OnScalar(JsonKind kind, std::string_view raw, std::uint64_t raw_bytes,
                           int depth) {
  if (summary_.values == 0) lists_.OnScalar(depth);
  if (depth == 1) {
    summary_.started_container = true;
    if (last_key_ == "type" && raw == "FeatureCollection") feature_type_ = true;
    if (last_key_ == "nbformat") has_nbformat_ = true;
  }
  root_fields_.OnScalar(kind, raw, raw_bytes, depth);
  if (!list_open_ || list_fields_.full()) return;
  if (depth > list_depth_) {
    list_fields_.OnScalar(kind, raw, raw_bytes, depth);
  } else if (depth == list_depth_) {
    list_fields_.BeginRecord(list_depth_);
    list_fields_.OnScalar(kind, raw, raw_bytes, depth);
    list_fields_.EndRecord(/*valid=*/true);
  }
  ChooseEventDepth();
}

const JsonSummary& JsonScanner::Finish() {
  if (finished_) return summary_;
  finished_ = true;
  if (!between_ && !failed()) {
    if (machine_.Finish() == JsonOutcome::kDone) {
      EndValue();
    } else {
      summary_.fault = JsonFault::kUnexpectedEnd;
      summary_.fault_offset = fed_;
    }
  }
  if (summary_.values == 0) summary_.non_finite += machine_.non_finite();
  if (summary_.values == 0 && failed())
    root_fields_.EndRecord(/*valid=*/true);  // as far as it was read
  if (summary_.values == 0 && machine_.started()) summary_.first_kind = machine_.kind();
  if (summary_.values == 0 && !failed()) {
    summary_.fault = JsonFault::kNoValue;
    summary_.fault_offset = fed_;
  }
  if (feature_type_ && has_features_) summary_.flavour = "geojson";
  if (has_nbformat_ && has_cells_) summary_.flavour = "notebook";
  summary_.list = lists_.best();
  summary_.other_lists = lists_.others();
  if (list_depth_ == 1 || !summary_.flavour.empty() || !list_.none()) {
    if (failed()) machine_.UncountOpen();  // a reader returns no half records
    summary_.elements = machine_.counted();
    summary_.non_object = summary_.elements - machine_.counted(JsonKind::kObject);
  }
  if (summary_.elements > 0 && summary_.non_object == summary_.elements) {
    summary_.element_type = "mixed";
    for (int k = 0; k < 6; ++k) {
      const auto kind = static_cast<JsonKind>(k);
      if (machine_.counted(kind) == summary_.elements) summary_.element_type = KindName(kind);
    }
  }
  return summary_;
}

bool JsonScanner::ListIsRecords() const {
  return summary_.values <= 1 && (list_depth_ == 1 || !summary_.flavour.empty() || !list_.none());
}

const JsonCapture& JsonScanner::sample() const {
  return list_depth_ == 1 && ListIsRecords() ? list_sample_ : root_sample_;
}

const FieldCollector& JsonScanner::fields() const {
  return ListIsRecords() ? list_fields_ : root_fields_;
}

}  // namespace dossier::inspect
