#include "memory/blocks/block.h"

#include <algorithm>
#include <array>

#include "memory/blocks/block_values.h"

namespace dossier::memory {
namespace {

struct Written {
  std::string name;  // as it stands in the block; of equal ones the last
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

// `later` holds where both say something.
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

void Take(const Operation& operation, std::string name, Json value, Written& into,
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
                       const std::vector<std::string>& repeated) {
  UpdateBlock block;
  WrittenTable written;
  for (auto& [name, value] : members) {
    if (const Operation* operation = FindOperation(name)) {
      Take(*operation, std::move(name), std::move(value),
           written[static_cast<std::size_t>(operation->id)], block);
    } else {
      block.warnings.push_back(UnknownOperation(name));
      block.input[name] = std::move(value);
    }
  }
  for (const std::string& path : repeated) {
    block.warnings.push_back(
        {"duplicate_key", fmt::format("{} stands twice; the later one holds", path)});
  }
  for (const Operation& operation : kOperations) {
    Written& found = written[static_cast<std::size_t>(operation.id)];
    if (!found.present) continue;
    block.operations.push_back(
        CheckValue(operation, "$." + found.name, found.value, block.warnings));
    block.input[found.name] = std::move(found.value);
  }
  return block;
}

}  // namespace dossier::memory
