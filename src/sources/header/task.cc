#include "sources/header/task.h"

#include <charconv>
#include <cmath>

#include "base/hash.h"
#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::sources {
namespace {

constexpr std::size_t kMaxNameBytes = 64;

bool IsNameByte(char c) { return IsAlnum(c) || c == '.' || c == '_' || c == '-'; }

// What neither a file ("." and hidden ones) nor a ref (git-check-ref-format) may be called.
bool IsBadName(std::string_view name) {
  return name.empty() || name.front() == '.' || name.front() == '-' || name.back() == '.' ||
         name.find("..") != std::string_view::npos || name.ends_with(".lock");
}

}  // namespace

bool StartsBefore(const Task& a, const Task& b) {
  if (a.priority != b.priority) return a.priority < b.priority;
  return a.id < b.id;
}

std::int64_t ReadPriority(const Json& value, std::string* problem) {
  if (value.is_null()) return kDefaultPriority;
  if (const auto* whole = value.if_int64()) return *whole;
  if (const auto* number = value.if_double()) {
    if (std::abs(*number) < 1e15) {
      *problem = fmt::format("priority {} counts as {}", *number, std::floor(*number));
      return static_cast<std::int64_t>(std::floor(*number));
    }
  } else if (const auto* text = value.if_string()) {
    std::string_view digits = TrimSpace(*text);
    if (digits.starts_with('P') || digits.starts_with('p')) digits.remove_prefix(1);
    std::int64_t number = 0;
    const char* end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data(), end, number);
    if (error == std::errc() && at == end) return number;
  }
  *problem =
      fmt::format("priority {} is no number: it counts as {}", ToJson(value), kDefaultPriority);
  return kDefaultPriority;
}

std::string FileNameOfId(std::string_view id) {
  std::string name;
  bool changed = id.size() > kMaxNameBytes || IsBadName(id);
  for (const char c : id.substr(0, kMaxNameBytes)) {
    changed = changed || !IsNameByte(c);
    name += IsNameByte(c) ? c : '-';
  }
  if (!changed) return name;
  for (std::size_t at = name.find(".."); at != std::string::npos; at = name.find("..")) {
    name[at] = '-';
  }
  if (name.empty() || name.front() == '.' || name.front() == '-') name.insert(0, "id");
  return fmt::format("{}-{}", name, Sha256Hex(id).substr(0, 8));
}

}  // namespace dossier::sources
