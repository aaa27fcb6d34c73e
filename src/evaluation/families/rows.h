// Shared by the families over rows: questions with one clear answer, and proofs by SQL over rows
// that Python's own readers have read.
//
//   AddRowTasks("logs", "logs-64K-w0", {file}, {{.text = "Which service has …?",
//                                                .gold = StrictWinner(errors)}}, 10, sink);
//
// Thread-safety: one owner.

#ifndef DOSSIER_EVALUATION_FAMILIES_ROWS_H_
#define DOSSIER_EVALUATION_FAMILIES_ROWS_H_

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "evaluation/family.h"

namespace dossier::evaluation {

struct RowQuestion {
  std::string_view name;  // the kind that a report groups by
  std::string text;
  std::optional<std::string> gold;  // none: refused by `rule`
  std::string_view rule = "tie";
  enum class Kind : std::uint8_t { kNumber, kName } kind = Kind::kNumber;
};

// Returns the key with the highest count; nullopt if two have it.
template <typename Key>
std::optional<Key> StrictWinner(const std::map<Key, std::int64_t>& counts) {
  std::optional<Key> best;
  std::int64_t most = -1;
  for (const auto& [key, count] : counts) {
    if (count == most) best.reset();
    if (count <= most) continue;
    most = count;
    best = key;
  }
  return best;
}

// Returns the value at the nearest rank of `percent` in a histogram; nullopt if it is empty.
std::optional<std::int64_t> Percentile(const std::vector<std::int64_t>& histogram, int percent);

// Adds the questions that have an answer, at most `wanted`, as tasks over `contexts`.
Status AddRowTasks(std::string_view family, const std::string& window,
                   const std::vector<ContextFile>& contexts,
                   const std::vector<RowQuestion>& questions, std::int64_t wanted, TaskSink& sink);

// Recognises a kind of question and answers it in SQL; captures are ?1, ?2.
struct RowProof {
  const char* question;
  const char* sql;
};

// Errors: kUnavailable without python3; kFailed if a file cannot be read.
Result<std::unique_ptr<Prover>> OpenRows(const Task& task, const TaskSet& set,
                                         std::span<const RowProof> proofs);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_FAMILIES_ROWS_H_
