#include "evaluation/families/lines.h"

#include <re2/re2.h>

#include <set>

#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier::evaluation {
namespace {

// This reader shares nothing with the writer of the lines: it is the other half of a proof.
const RE2& LinePattern() {
  static const RE2 pattern(
      R"(Date: ([A-Z][a-z]{2}) (\d\d), (\d{4}) \|\| User: (\d+) \|\| Instance: (.*) \|\| Label: (.*))");
  return pattern;
}

constexpr std::string_view kShortMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

}  // namespace

Result<LineTable> LineTable::Read(std::string_view labelled, const Relabel& relabel) {
  DOSSIER_ASSIGN_OR_RETURN(store::Database db, store::Database::Open(":memory:"));
  DOSSIER_RETURN_IF_ERROR(
      db.Execute("CREATE TABLE lines(day TEXT, user INTEGER, label TEXT, body TEXT);"
                 "CREATE TABLE labels(label TEXT PRIMARY KEY); BEGIN"));
  DOSSIER_ASSIGN_OR_RETURN(store::Statement insert,
                           db.Prepare("INSERT INTO lines VALUES(?, ?, ?, ?)"));
  std::set<std::string> labels;
  std::string month, day, year, user, body, label;
  for (const std::string_view line : Split(labelled, '\n')) {
    if (!line.starts_with("Date: ")) {
      // The frame names the labels, those without a line too.
      std::string list;
      if (RE2::PartialMatch(re2::StringPiece(line.data(), line.size()),
                            "exactly one of these labels: (.*?)\\. The labels", &list)) {
        for (const std::string_view one : Split(list, ',')) labels.emplace(TrimSpace(one));
      }
      continue;
    }
    if (!RE2::FullMatch(re2::StringPiece(line.data(), line.size()), LinePattern(), &month, &day,
                        &year, &user, &body, &label)) {
      return MakeError(ErrorCode::kDamaged, "a labelled line is none: {}", line.substr(0, 80));
    }
    const std::size_t at = kShortMonths.find(month);
    if (at == std::string_view::npos) {
      return MakeError(ErrorCode::kDamaged, "a line has no month: {}", line.substr(0, 80));
    }
    if (relabel) label = relabel(body, label);
    const std::string iso = fmt::format("{}-{:02}-{}", year, at / 3 + 1, day);
    DOSSIER_RETURN_IF_ERROR(
        insert.With(iso, ExactNumber<std::int64_t>(user).value_or(0), label, body).Done());
  }
  DOSSIER_ASSIGN_OR_RETURN(store::Statement add, db.Prepare("INSERT INTO labels VALUES(?)"));
  for (const std::string& one : labels) DOSSIER_RETURN_IF_ERROR(add.With(one).Done());
  DOSSIER_RETURN_IF_ERROR(db.Execute("COMMIT"));
  return LineTable{std::move(db)};
}

Status ForEachWindow(std::string_view family, const FamilySpec& spec, const Pool& pool,
                     TaskSink& sink, const WindowVisitor& visit) {
  sink.UsePool(pool.info());
  for (const std::int64_t length : spec.lengths) {
    for (std::int64_t number = 0; number < spec.windows; ++number) {
      if (spec.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "stopped");
      const WindowSpec wanted{.family = std::string(family),
                              .length = length,
                              .seed = spec.seed,
                              .number = number,
                              .noun = Setting(spec, "noun", "short notes")};
      DOSSIER_ASSIGN_OR_RETURN(const Window window, MakeWindow(wanted, pool, *spec.counter));
      const std::string name = fmt::format("{}-{}-w{}", family, LengthName(length), number);
      DOSSIER_ASSIGN_OR_RETURN(ContextFile file, WriteWindow(window, name, sink));
      DOSSIER_RETURN_IF_ERROR(visit(window, name, std::move(file)));
    }
  }
  return {};
}

std::string Setting(const FamilySpec& spec, std::string_view name, std::string_view fallback) {
  const auto found = spec.settings.find(std::string(name));
  return found == spec.settings.end() ? std::string(fallback) : found->second;
}

Result<std::int64_t> NumberSetting(const FamilySpec& spec, std::string_view name,
                                   std::int64_t fallback, std::int64_t low, std::int64_t high) {
  const std::string text = Setting(spec, name, std::to_string(fallback));
  const auto number = ExactNumber<std::int64_t>(text);
  if (number && *number >= low && *number <= high) return *number;
  return MakeError(ErrorCode::kConfig, "{}={}: a whole number from {} to {} is wanted", name, text,
                   low, high);
}

Json OneGold(std::string_view text) { return JsonArray{Json(std::string(text))}; }

}  // namespace dossier::evaluation
