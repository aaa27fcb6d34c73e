#include "cli/texts/assembly_table.h"

#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::cli {
namespace {

std::string Text(const Json& object, std::string_view key) {
  return utf8::CleanForTerminal(FindString(object, key).value_or(""));
}

std::string Number(const Json& object, std::string_view key) {
  return GroupDigits(
      static_cast<std::uint64_t>(std::max<std::int64_t>(FindInt(object, key).value_or(0), 0)));
}

const JsonArray& List(const Json& object, std::string_view key) {
  static const JsonArray none;
  const Json* found = Find(object, key);
  return found && found->is_array() ? found->get_array() : none;
}

std::string SectionLine(const Json& section, std::size_t width) {
  std::string outcome = Text(section, "outcome");
  if (const std::string why = Text(section, "reason"); !why.empty()) outcome += " (" + why + ")";
  if (const Json* left_out = Find(section, "left_out"); left_out && left_out->is_object()) {
    outcome += fmt::format(": {} of {} {} left out", Number(*left_out, "count"),
                           Number(*left_out, "of"), Text(*left_out, "unit"));
  }
  return fmt::format("{:<{}}  {:<8}  {:>9}  {:>9}  {}\n", Text(section, "name"), width,
                     Text(section, "zone"), Number(section, "tokens"),
                     Number(section, "tokens_wanted"), outcome);
}

std::string CacheLines(const Json& cache) {
  std::string out;
  for (const Json& point : List(cache, "points")) {
    const std::string why = Text(point, "why");
    out += fmt::format("cache after {}: {} tokens, {}\n", Text(point, "after"),
                       Number(point, "prefix_tokens"), why.empty() ? Text(point, "ttl") : why);
  }
  if (FindInt(cache, "expected_cached")) {
    out += fmt::format("expected from the cache: {} tokens\n", Number(cache, "expected_cached"));
  }
  if (const Json* first = Find(cache, "first_difference"); first && first->is_object()) {
    out +=
        fmt::format("first difference: section {}, byte {}; {} tokens lost\n",
                    Text(*first, "section"), Number(*first, "byte"), Number(*first, "tokens_lost"));
  }
  return out;
}

}  // namespace

std::string ReportTable(const Json& report) {
  std::size_t width = 7;
  for (const Json& section : List(report, "sections")) {
    width = std::max(width, std::min<std::size_t>(Text(section, "name").size(), 40));
  }
  std::string out = fmt::format("{:<{}}  {:<8}  {:>9}  {:>9}  {}\n", "section", width, "zone",
                                "tokens", "wanted", "outcome");
  for (const Json& section : List(report, "sections")) out += SectionLine(section, width);
  const Json empty = JsonObject();
  const Json* budget = Find(report, "budget");
  const Json* tokenizer = Find(report, "tokenizer");
  if (!budget) budget = &empty;
  if (!tokenizer) tokenizer = &empty;
  out += fmt::format("used {} of {} tokens, framing {}, {} free ({}, {})\n",
                     Number(*budget, "used"), Number(*budget, "usable"), Number(*budget, "framing"),
                     Number(*budget, "free"), Text(*tokenizer, "encoding"),
                     FindBool(*tokenizer, "exact").value_or(false) ? "exact" : "estimated");
  if (const Json* cache = Find(report, "cache")) out += CacheLines(*cache);
  for (const Json& repair : List(report, "repairs")) {
    out += fmt::format("{} {}: {}\n", Text(repair, "rule"), Text(repair, "where"),
                       Text(repair, "text"));
  }
  return out;
}

}  // namespace dossier::cli
