#include "ask/policy/counted_text.h"

#include <algorithm>
#include <map>
#include <string>

#include "ask/claims/numbers.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kLeastRows = 5;
constexpr double kAlike = 0.8;  // share of equal lines in a table; others are title and rule

struct Places {
  std::size_t all = 0, at_line_start = 0;
  std::size_t texts = 0;  // that contain one
};

void CountPlaces(std::string_view text, std::string_view part, Places* places) {
  constexpr std::size_t kMostMarks = 16;  // before the first text of a line
  const std::size_t before_text = places->all;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) {
    ++places->all;
    const std::size_t from = at - std::min(at, kMostMarks);
    const std::size_t before = text.substr(from, at - from).find_last_not_of(" \t#*-");
    const bool starts = before == text.npos ? from == 0 : text[from + before] == '\n';
    if (starts) ++places->at_line_start;
  }
  if (places->all > before_text) ++places->texts;
}

bool Says(std::string_view answer, const Places& places, std::size_t texts) {
  if (places.all == 0 || places.at_line_start == places.all) return false;
  if (texts > 1 && places.texts == places.all) return false;
  const std::string count = std::to_string(places.all);
  NumberReader reader(answer);
  while (const auto number = reader.Next()) {
    if (number->digits == count && number->fraction.empty() && !number->negative) return true;
  }
  return false;
}

}  // namespace

bool IsCountOf(std::string_view answer, std::string_view part,
               std::span<const std::string_view> texts) {
  if (part.empty()) return false;
  Places exact, folded;
  for (const std::string_view text : texts) CountPlaces(text, part, &exact);
  if (Says(answer, exact, texts.size())) return true;
  const std::string lower = ToLowerAscii(part);
  for (const std::string_view text : texts) CountPlaces(ToLowerAscii(text), lower, &folded);
  return Says(answer, folded, texts.size());
}

bool IsRows(std::string_view passage) {
  constexpr std::string_view kMarks = "|\t;,";
  std::map<std::pair<char, std::size_t>, std::size_t> lines_with;
  std::size_t lines = 0;
  for (const std::string_view line : Split(passage, '\n')) {
    if (TrimSpace(line).empty()) continue;
    ++lines;
    for (const char mark : kMarks) {
      const auto count = static_cast<std::size_t>(std::ranges::count(line, mark));
      if (count >= 2) ++lines_with[{mark, count}];
    }
  }
  return lines >= kLeastRows && std::ranges::any_of(lines_with, [lines](const auto& entry) {
           return static_cast<double>(entry.second) >= kAlike * static_cast<double>(lines);
         });
}

}  // namespace dossier::ask
