#include "assembly/fit/compare.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/hash.h"

namespace dossier::assembly {
namespace {

constexpr std::size_t kFineStep = 256, kCoarseStep = 4096;  // bytes between two marks
constexpr std::size_t kMarkDigits = 8;

std::size_t NextMark(std::size_t at) { return at + (at < kCoarseStep ? kFineStep : kCoarseStep); }

// The sections that are in the prompt, in order.
std::vector<const Json*> Present(const Json& report) {
  std::vector<const Json*> out;
  const Json* sections = Find(report, "sections");
  if (!sections || !sections->is_array()) return out;
  for (const Json& section : sections->get_array()) {
    const auto outcome = FindString(section, "outcome");
    if (outcome == "kept" || outcome == "cut") out.push_back(&section);
  }
  return out;
}

bool SamePlace(const Json& a, const Json& b) {
  for (const std::string_view key : {"name", "zone", "role"}) {
    if (FindString(a, key) != FindString(b, key)) return false;
  }
  return true;
}

std::int64_t Number(const Json& section, std::string_view key) {
  return std::max<std::int64_t>(FindInt(section, key).value_or(0), 0);
}

// Bytes that both surely begin with.
std::int64_t CommonBytes(const Json& before, const Json& after) {
  const std::string_view a = FindString(before, "marks").value_or("");
  const std::string_view b = FindString(after, "marks").value_or("");
  std::size_t at = 0, same = 0;
  for (std::size_t digit = 0; digit + kMarkDigits <= std::min(a.size(), b.size());
       digit += kMarkDigits) {
    if (a.substr(digit, kMarkDigits) != b.substr(digit, kMarkDigits)) break;
    same = at = NextMark(at);
  }
  return static_cast<std::int64_t>(same);
}

std::int64_t CacheableTokens(const std::vector<const Json*>& sections) {
  std::int64_t tokens = 0;
  for (const Json* section : sections) {
    const auto zone = FindString(*section, "zone");
    if (zone != "volatile" && zone != "request") tokens += Number(*section, "tokens");
  }
  return tokens;
}

}  // namespace

std::string PrefixMarks(std::string_view bytes, std::string* sha256) {
  std::string marks;
  Sha256 hash;
  std::size_t at = 0;
  for (std::size_t next = NextMark(0); next <= bytes.size(); next = NextMark(next)) {
    hash.Update(bytes.substr(at, next - at));
    at = next;
    Sha256 here = hash;
    marks += here.Hex().substr(0, kMarkDigits);
  }
  hash.Update(bytes.substr(at));
  *sha256 = hash.Hex();
  return marks;
}

Comparison Compare(const Json& before, const Json& after) {
  const std::vector<const Json*> old = Present(before), now = Present(after);
  Comparison out;
  std::size_t i = 0;
  const auto same = [&] {
    return SamePlace(*old[i], *now[i]) && FindString(*old[i], "sha256").has_value() &&
           FindString(*old[i], "sha256") == FindString(*now[i], "sha256");
  };
  for (; i < std::min(old.size(), now.size()) && same(); ++i) {
    out.common_tokens += Number(*now[i], "tokens");
  }
  out.found = i < old.size() || i < now.size();
  if (i < now.size()) {
    out.section = FindString(*now[i], "name").value_or("");
  } else if (i < old.size()) {
    out.section = FindString(*old[i], "name").value_or("");
  }
  if (i < now.size() && i < old.size() && SamePlace(*old[i], *now[i])) {
    out.byte = CommonBytes(*old[i], *now[i]);
    const std::int64_t bytes = std::max<std::int64_t>(Number(*now[i], "bytes"), 1);
    out.common_tokens += static_cast<std::int64_t>(
        static_cast<__int128>(Number(*now[i], "tokens")) * std::min(out.byte, bytes) / bytes);
  }
  out.tokens_lost = std::max<std::int64_t>(CacheableTokens(old) - out.common_tokens, 0);
  return out;
}

}  // namespace dossier::assembly
