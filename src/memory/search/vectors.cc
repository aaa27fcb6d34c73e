#include "memory/search/vectors.h"

#include <algorithm>
#include <cmath>

#include "memory/search/corpus.h"
#include "memory/search/rows.h"

namespace dossier::memory {
namespace {

// The weight of a text's own vector relative to its window's: among neighbours with the same
// window, as at the ends of a thread, the nearer one is ranked first.
constexpr double kOwnShare = 0.25;

std::string_view VectorBytes(const Vector& vector) {
  return {reinterpret_cast<const char*>(vector.data()), vector.size()};
}

}  // namespace

Status KeepVector(Connection& connection, const Embedder& embedder, const HashedText& text) {
  DOSSIER_ASSIGN_OR_RETURN(
      const auto kept,
      ReadInt(connection, "SELECT 1 FROM vectors WHERE text_hash = ? AND model = ?",
              store::Blob{text.hash}, embedder.name()));
  if (kept) return {};
  DOSSIER_ASSIGN_OR_RETURN(const Vector vector, embedder.Embed(text.text));
  return Run(connection, "INSERT INTO vectors VALUES(?, ?, ?, ?)", store::Blob{text.hash},
             embedder.name(), vector.size(), store::Blob{VectorBytes(vector)});
}

Status KeepMissingVectors(Connection& connection, const Embedder& embedder) {
  return ForEachRow(
      connection,
      "SELECT text FROM records WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.text_hash = "
      "records.text_hash AND model = ?) ORDER BY id",
      [&](const store::Statement& row) {
        const std::string text = row.Text(0);
        const std::string hash = TextHash(text);
        return KeepVector(connection, embedder, {.hash = hash, .text = text});
      },
      embedder.name());
}

VectorTable::VectorTable(const TextTable& table, std::size_t dimensions)
    : table_(&table),
      dimensions_(dimensions),
      components_(table.size() * dimensions),
      inverse_lengths_(table.size()) {}

void VectorTable::Set(TextNumber text, std::span<const std::int8_t> vector) {
  if (vector.size() != dimensions_) return;
  const auto square = static_cast<double>(Dot(vector, vector));
  if (square == 0) return;
  std::ranges::copy(vector, components_.begin() + static_cast<std::ptrdiff_t>(text * dimensions_));
  inverse_lengths_[text] = 1 / std::sqrt(square);
}

Status VectorTable::ReadRecords(Connection& connection, const Embedder& embedder) {
  IdCursor cursor(*table_);
  return ForEachRow(
      connection,
      "SELECT r.id, v.data, r.text FROM records AS r LEFT JOIN vectors AS v "
      "ON v.text_hash = r.text_hash AND v.model = ?1 ORDER BY r.id",
      [&](const store::Statement& row) -> Status {
        const auto text = cursor.Find(row.Int(0));
        if (!text) return {};
        const std::string kept = row.Bytes(1);
        if (kept.size() == dimensions_) {
          Set(*text, {reinterpret_cast<const std::int8_t*>(kept.data()), kept.size()});
          return {};
        }
        DOSSIER_ASSIGN_OR_RETURN(const Vector made, embedder.Embed(row.Text(2)));
        Set(*text, made);
        return {};
      },
      embedder.name());
}

Result<std::shared_ptr<const VectorTable>> VectorTable::Load(Connection& connection,
                                                             const Embedder& embedder,
                                                             const Texts& texts) {
  VectorTable vectors(texts.table, texts.dimensions);
  DOSSIER_RETURN_IF_ERROR(vectors.ReadRecords(connection, embedder));
  for (std::size_t place = 0; place < texts.core.size(); ++place) {
    const auto text = texts.table.Find(CoreId(place));
    if (!text) continue;
    DOSSIER_ASSIGN_OR_RETURN(const Vector made, embedder.Embed(texts.core[place]));
    vectors.Set(*text, made);
  }
  vectors.window_lengths_.reserve(texts.table.size());
  for (TextNumber text = 0; text < texts.table.size(); ++text) {
    vectors.window_lengths_.push_back(vectors.WindowLength(text));
  }
  return std::make_shared<const VectorTable>(std::move(vectors));
}

double VectorTable::UnitProduct(TextNumber a, TextNumber b) const {
  const double scale = inverse_lengths_[a] * inverse_lengths_[b];
  return scale == 0 ? 0 : static_cast<double>(Dot(Of(a), Of(b))) * scale;
}

double VectorTable::WindowLength(TextNumber text) const {
  if (inverse_lengths_[text] == 0) return 0;
  const bool before = table_->HasBefore(text), after = table_->HasAfter(text);
  double square = 1;
  if (before) square += (inverse_lengths_[text - 1] > 0 ? 1 : 0) + 2 * UnitProduct(text - 1, text);
  if (after) square += (inverse_lengths_[text + 1] > 0 ? 1 : 0) + 2 * UnitProduct(text, text + 1);
  if (before && after) square += 2 * UnitProduct(text - 1, text + 1);
  constexpr double kOpposed = 1e-9;  // opposite neighbours cancel out: no direction
  return square > kOpposed ? std::sqrt(square) : 0;
}

std::vector<RankedText> VectorTable::Best(const Vector& query,
                                          const std::vector<bool>* allowed) const {
  const double query_length = std::sqrt(static_cast<double>(Dot(query, query)));
  std::vector<double> alone(table_->size());
  for (TextNumber text = 0; text < table_->size(); ++text) {
    alone[text] = static_cast<double>(Dot(query, Of(text))) * inverse_lengths_[text];
  }
  std::vector<double> scores(table_->size());
  for (TextNumber text = 0; text < table_->size(); ++text) {
    if (window_lengths_[text] == 0) continue;
    double sum = alone[text];
    if (table_->HasBefore(text)) sum += alone[text - 1];
    if (table_->HasAfter(text)) sum += alone[text + 1];
    const double window = sum / window_lengths_[text];
    scores[text] = (window + kOwnShare * alone[text]) / ((1 + kOwnShare) * query_length);
  }
  return TakeBest(*table_, scores, allowed, kListLimit);
}

}  // namespace dossier::memory
