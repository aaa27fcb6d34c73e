#include "memory/blocks/results_text.h"

#include <algorithm>
#include <span>

#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::memory {
namespace {

constexpr std::size_t kMostHits = 10;
constexpr std::int64_t kArchivalChars = 300;
constexpr std::int64_t kRecallChars = 200;
constexpr std::int64_t kRecordChars = 8000;

// Cut, and with its further lines behind `indent`.
std::string Shown(std::string_view text, std::int64_t code_points, std::string_view indent) {
  return ReplaceAll(Harmless(CutText(text, code_points)), "\n", "\n" + std::string(indent));
}

std::string ArchivalLines(std::string_view title, std::span<const Record> records,
                          std::int64_t code_points) {
  std::string text = fmt::format("**{}:**\n", title);
  if (records.empty()) text += "  (nothing found)\n";
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    text += fmt::format("  [{}] {}\n      Id: {}", i + 1, Shown(record.text, code_points, "      "),
                        record.id);
    if (!record.tags.empty()) text += "  Tags: " + Harmless(Join(record.tags, ", "));
    text += '\n';
  }
  return text;
}

std::string RecallLines(std::span<const Record> events) {
  std::string text = "**Recall Search Results:**\n";
  if (events.empty()) text += "  (nothing found)\n";
  for (std::size_t i = 0; i < events.size(); ++i) {
    text +=
        fmt::format("  [{}] ({}) {}\n      Time: {}\n", i + 1, Harmless(events[i].kind),
                    Shown(events[i].text, kRecallChars, "      "), FormatMicrosTime(events[i].at));
  }
  return text;
}

std::span<const Record> Best(const std::vector<Record>& hits) {
  return std::span(hits).first(std::min(hits.size(), kMostHits));
}

}  // namespace

std::string Harmless(std::string_view text) {
  if (text.find("memory_") == std::string_view::npos) return std::string(text);
  return ReplaceAll(ReplaceAll(text, "</memory_", "<\\/memory_"), "<memory_", "<\\memory_");
}

std::string CutText(std::string_view text, std::int64_t code_points) {
  const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(code_points, 0));
  // A code point has at most four bytes: most texts need not be counted.
  if (text.size() <= most || utf8::CodePoints(text) <= most) return std::string(text);
  if (most == 0) return {};
  return std::string(utf8::Prefix(text, most - 1)) + "…";
}

std::string ResultsText(const ReadResults& results) {
  std::string text = "<memory_results>\n";
  if (results.core) {
    text += "**Core Memory Values:**\n";
    for (const auto& [key, value] : *results.core) {
      text += fmt::format("  - {}: {}\n", Harmless(key),
                          value ? Shown(*value, kRecordChars, "    ") : "(not found)");
    }
  }
  if (results.records) text += ArchivalLines("Archival Records", *results.records, kRecordChars);
  if (results.archival) {
    text += ArchivalLines("Archival Search Results", Best(*results.archival), kArchivalChars);
  }
  if (results.recall) text += RecallLines(Best(*results.recall));
  if (!results.errors.empty()) text += "**Errors:**\n";
  for (const std::string& error : results.errors) text += "  - " + Harmless(error) + "\n";
  return text + "</memory_results>";
}

}  // namespace dossier::memory
