// Finds the field with the main text of the records.

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/json/field_collector.h"

namespace dossier::inspect {
namespace {

constexpr std::uint64_t kMinMedian = 50;  // chars

// Words in names of fields that contain references, not text.
constexpr std::string_view kReferences[] = {"url",  "uri",    "href",  "link",     "id",
                                            "slug", "path",   "hash",  "image",    "img",
                                            "icon", "avatar", "thumb", "thumbnail"};

struct Prior {
  std::string_view name;  // lower case
  double weight;
};

constexpr Prior kPriors[] = {
    {"body_markdown", 10}, {"body_text", 10}, {"body", 10},   {"body_html", 10},  {"text", 8},
    {"content", 8},        {"markdown", 8},   {"message", 5}, {"description", 5}, {"abstract", 5},
    {"summary", 5},        {"title", 2},      {"subject", 2}, {"name", 2}};

// Splits a name at `_`, `-`, `.` and changes of case: linkedText gives "linked" and "text".
std::vector<std::string> Words(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '_' || c == '-' || c == '.' || c == ' ') {
      words.emplace_back();
      continue;
    }
    const bool lower_before = i > 0 && IsLower(name[i - 1]);
    const bool acronym_ends =
        i > 0 && IsUpper(name[i - 1]) && i + 1 < name.size() && IsLower(name[i + 1]);
    if (IsUpper(c) && (lower_before || acronym_ends)) words.emplace_back();
    words.back() += c;
  }
  for (std::string& word : words) word = ToLowerAscii(word);
  return words;
}

bool IsReference(std::string_view name) {
  for (const std::string& word : Words(name)) {
    if (std::find(std::begin(kReferences), std::end(kReferences), word) != std::end(kReferences)) {
      return true;
    }
  }
  return false;
}

double PriorOf(std::string_view name) {
  const std::string lower = ToLowerAscii(name);
  for (const Prior& prior : kPriors) {
    if (prior.name == lower) return prior.weight;
  }
  return 1;
}

}  // namespace

std::string MainTextField(const std::vector<Field>& fields) {
  const Field* best = nullptr;
  double best_score = 0;
  for (const Field& field : fields) {
    if (!field.types.Has(FieldType::kString) || field.median_chars < kMinMedian) continue;
    if (field.path.empty() || IsReference(field.path.back())) continue;
    const double score =
        PriorOf(field.path.back()) * std::log2(static_cast<double>(field.median_chars));
    if (score > best_score) {
      best = &field;
      best_score = score;
    }
  }
  return best ? best->shown : "";
}

}  // namespace dossier::inspect
