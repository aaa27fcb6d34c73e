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

void JsonLists::OnKey(std::string_view raw, int depth) {
  if (depth >= 1 && depth <= kMostNames) names_[static_cast<std::size_t>(depth - 1)] = raw;
}

void JsonLists::OnBegin(JsonKind container, int depth) {
  const bool object = container == JsonKind::kObject;
  if (list_depth_ > 0) {
    if (depth == list_depth_ + 1) ++(object ? objects_ : others_);
    return;
  }
  if (depth == 0) in_object_ = object;
  if (depth == 1) in_inner_object_ = object;
  const bool member = in_object_ && (depth == 1 || (depth == 2 && in_inner_object_));
  if (object || !member) return;
  list_depth_ = depth;
  objects_ = others_ = 0;
}

void JsonLists::OnEnd(JsonKind, int depth) {
  if (list_depth_ == 0 || depth != list_depth_) return;
  list_depth_ = 0;
  if (objects_ < kFewestRecords || others_ > 0) return;
  ++found_;
  path_.assign(names_.begin(), names_.begin() + depth);
}

void JsonLists::OnScalar(int depth) {
  if (list_depth_ > 0 && depth == list_depth_ + 1) ++others_;
}

int JsonLists::WantedDepth() const {
  if (!in_object_ || found_ > 1) return 0;
  return std::max(list_depth_ + 1, kMostNames);
}

bool JsonLists::IsAt(std::span<const std::string> path, int depth) const {
  return in_object_ && static_cast<std::size_t>(depth) == path.size() &&
         (depth < 2 || in_inner_object_) && std::equal(path.begin(), path.end(), names_.begin());
}

JsonScanner::JsonScanner(const FieldLimits& limits, JsonSequence sequence,
                         std::vector<std::string> list)
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
  if (list_depth_ == 0 && container == JsonKind::kArray && summary_.values == 0 &&
      IsRecordList(depth)) {
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
}

bool JsonScanner::IsRecordList(int depth) const {
  if (!list_.empty()) return lists_.IsAt(list_, depth);
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

// Reports no deeper than somebody listens: a large document is then read at full speed.
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
    root_fields_.EndRecord(/*valid=*/true);  // as far as it goes
  if (summary_.values == 0 && machine_.started()) summary_.first_kind = machine_.kind();
  if (summary_.values == 0 && !failed()) {
    summary_.fault = JsonFault::kNoValue;
    summary_.fault_offset = fed_;
  }
  if (feature_type_ && has_features_) summary_.flavour = "geojson";
  if (has_nbformat_ && has_cells_) summary_.flavour = "notebook";
  summary_.only_list = lists_.only();
  if (list_depth_ == 1 || !summary_.flavour.empty() || !list_.empty()) {
    if (failed()) machine_.UncountOpen();  // a reader gives no half of a record
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
  return summary_.values <= 1 && (list_depth_ == 1 || !summary_.flavour.empty() || !list_.empty());
}

const JsonCapture& JsonScanner::sample() const {
  return list_depth_ == 1 && ListIsRecords() ? list_sample_ : root_sample_;
}

const FieldCollector& JsonScanner::fields() const {
  return ListIsRecords() ? list_fields_ : root_fields_;
}

}  // namespace dossier::inspect
