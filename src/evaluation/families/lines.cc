#include "evaluation/families/lines.h"

#include <re2/re2.h>

#include <optional>
#include <set>

#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier::evaluation {
namespace {

// This reader shares no code with the writer of the lines: it is the other half of a proof.
struct Parts {
  std::string_view month, day, year, user, body, label;
};

// "Date: Jun 06, 2024 || User: 98779 || Instance: … || Label: …"
std::optional<Parts> PartsOf(std::string_view line) {
  constexpr std::string_view kUser = " || User: ", kBody = " || Instance: ", kLabel = " || Label: ";
  constexpr std::size_t kUserAt = 18;  // "Date: Jun 06, 2024" has a fixed length
  const std::size_t body = line.find(kBody), label = line.rfind(kLabel);
  if (line.substr(kUserAt, kUser.size()) != kUser || body == std::string_view::npos ||
      label == std::string_view::npos || label < body + kBody.size() || line[9] != ' ' ||
      line.substr(12, 2) != ", ") {
    return std::nullopt;
  }
  const std::size_t user = kUserAt + kUser.size();
  return Parts{line.substr(6, 3),
               line.substr(10, 2),
               line.substr(14, 4),
               line.substr(user, body - user),
               line.substr(body + kBody.size(), label - body - kBody.size()),
               line.substr(label + kLabel.size())};
}

constexpr std::string_view kShortMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

}  // namespace

Result<LineTable> LineTable::Read(std::string_view labelled, const Relabel& relabel) {
  DOSSIER_ASSIGN_OR_RETURN(store::Database db, store::Database::Open(":memory:"));
  DOSSIER_RETURN_IF_ERROR(
      db.Execute("CREATE TABLE lines(day TEXT, user INTEGER, label TEXT);"
                 "CREATE TABLE labels(label TEXT PRIMARY KEY); BEGIN"));
  DOSSIER_ASSIGN_OR_RETURN(store::Statement insert,
                           db.Prepare("INSERT INTO lines VALUES(?, ?, ?)"));
  std::set<std::string> labels;
  for (const std::string_view line : Split(labelled, '\n')) {
    if (!line.starts_with("Date: ")) {
      // The header names all labels, including those without a line.
      std::string list;
      if (RE2::PartialMatch(re2::StringPiece(line.data(), line.size()),
                            "exactly one of these labels: (.*?)\\. The labels", &list)) {
        for (const std::string_view one : Split(list, ',')) labels.emplace(TrimSpace(one));
      }
      continue;
    }
    const auto parts = line.size() > 40 ? PartsOf(line) : std::nullopt;
    const std::size_t at = parts ? kShortMonths.find(parts->month) : std::string_view::npos;
    const auto user = parts ? ExactNumber<std::int64_t>(parts->user) : std::nullopt;
    if (at == std::string_view::npos || !user) {
      return MakeError(ErrorCode::kDamaged, "a labelled line is none: {}", line.substr(0, 80));
    }
    std::string label(parts->label);
    if (relabel) label = relabel(std::string(parts->body), label);
    std::string iso(parts->year);
    iso.append({'-', static_cast<char>('0' + (at / 3 + 1) / 10),
                static_cast<char>('0' + (at / 3 + 1) % 10), '-'});
    iso.append(parts->day);
    DOSSIER_RETURN_IF_ERROR(insert.With(iso, *user, label).Done());
  }
  DOSSIER_ASSIGN_OR_RETURN(store::Statement add, db.Prepare("INSERT INTO labels VALUES(?)"));
  for (const std::string& one : labels) DOSSIER_RETURN_IF_ERROR(add.With(one).Done());
  DOSSIER_RETURN_IF_ERROR(db.Execute("CREATE INDEX by_label ON lines(label, user); COMMIT"));
  return LineTable{std::move(db)};
}

Status ForEachWindow(std::string_view family, const FamilySpec& spec, const TextPool& pool,
                     TaskSink& sink, const WindowVisitor& visit) {
  sink.UsePool(pool.info());
  const LineCost cost = MeasureLines(pool, *spec.counter);
  for (const std::int64_t length : spec.lengths) {
    for (std::int64_t number = 0; number < spec.windows; ++number) {
      if (spec.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "stopped");
      const WindowSpec wanted{.family = std::string(family),
                              .length = length,
                              .seed = spec.seed,
                              .number = number,
                              .noun = Setting(spec, "noun", "short notes")};
      DOSSIER_ASSIGN_OR_RETURN(const Window window, MakeWindow(wanted, pool, cost, *spec.counter));
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
