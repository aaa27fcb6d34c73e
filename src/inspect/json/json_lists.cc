#include "inspect/json/json_lists.h"

#include <algorithm>

namespace dossier::inspect {
namespace {

constexpr std::uint64_t kFewestRecords = 2;

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

}  // namespace dossier::inspect
