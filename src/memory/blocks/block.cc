#include "memory/blocks/block.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "base/text/parse.h"
#include "base/text/text.h"
#include "memory/blocks/block_values.h"

namespace dossier::memory {
namespace {

constexpr double kMicrosPerSecond = 1e6;
constexpr double kMostSeconds = 100.0 * 366 * 86'400;

std::optional<Ttl> Span(double seconds) {
  if (!(seconds > 0 && seconds <= kMostSeconds)) return std::nullopt;
  return Ttl{.time = static_cast<Micros>(seconds * kMicrosPerSecond)};
}

// Of the unit; 0 for one that is unknown.
double SecondsOf(std::string_view unit) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86'400}, {"w", 604'800}};
  for (const auto& [name, seconds] : kUnits) {
    if (name == unit) return seconds;
  }
  return 0;
}

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
