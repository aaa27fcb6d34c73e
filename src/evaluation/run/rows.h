// What one system answered to one task, and the file that keeps such rows: one line a row, whole
// and synced, so that a run that is killed goes on without asking anything twice
// (docs/formats/eval-run.md).
//
//   DOSSIER_ASSIGN_OR_RETURN(RowFile file, RowFile::Open(folder + "/rows.jsonl"));
//   if (!file.Has(row.key())) DOSSIER_RETURN_IF_ERROR(file.Append(row));
//
// Ownership: RowFile owns its descriptor. Thread-safety: a RowFile may be used from many threads;
// rows are plain data.

#ifndef DOSSIER_EVALUATION_RUN_ROWS_H_
#define DOSSIER_EVALUATION_RUN_ROWS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/result.h"

namespace dossier::evaluation {

// How the asking ended. All but the first and the last score 0 and stay in every mean.
enum class RowStatus : std::uint8_t {
  kOk,              // there is an answer, right or wrong
  kEmpty,           // it ended well and said nothing
  kTimeout,         // ended at the limit of time, without an answer
  kCrashed,         // ended by a signal
  kError,           // ended with another exit code than 0
  kRefused,         // ended by a refusal: policy, sandbox, provider
  kNoAnswer,        // says itself that it found none
  kContextTooLong,  // does not fit the model's window
  kLimit,           // a limit on calls was met before there was an answer
  kProviderError,   // the model did not answer
  kHarnessError,    // our own fault: no result at all
};
std::string_view StatusName(RowStatus status);  // "ok", "context_too_long"
std::optional<RowStatus> StatusOf(std::string_view name);

struct RowTokens {
  std::int64_t input = 0, cached = 0, output = 0;  // cached ones are part of input
  bool counted = false;                            // by us, because a reply did not say
};

struct RowKey {
  std::string arm, task;
  int repeat = 0;
  auto operator<=>(const RowKey&) const = default;
};

struct Row {
  std::string arm, task;
  int repeat = 0;
  RowStatus status = RowStatus::kHarnessError;
  std::string answer, detail;               // detail: what went wrong, in one sentence
  std::optional<double> official, lenient;  // 0 to 1; unset: the task has no gold
  std::optional<double> opinion;            // of a judge, 0 to 1: no score, in no mean
  std::string parsed, rule;
  std::string cause;  // of a wrong answer: format, near, refusal, guess, wrong; empty: right
  double seconds = 0;
  std::int64_t calls = 0;
  RowTokens tokens;
  std::optional<std::int64_t> cost_nano_usd;  // unset: a price is unknown
  std::optional<std::int64_t> turns, sub_calls;
  std::string ended, run;

  RowKey key() const { return {arm, task, repeat}; }
  // Whether it counts in means: harness errors say nothing about a system.
  bool counts() const { return status != RowStatus::kHarnessError; }
  // Whether the system, its model or the harness broke, which says nothing about what it could
  // answer.
  bool broken() const {
    return status == RowStatus::kError || status == RowStatus::kCrashed ||
           status == RowStatus::kProviderError || status == RowStatus::kHarnessError;
  }
};

Json RowToJson(const Row& row);
// Errors: kDamaged with what is wrong.
Result<Row> RowFromJson(const Json& value);

// All whole rows of a file, in its order; a last line that is torn is left out, the last row of a
// key counts. Errors: kNotFound; kDamaged with file and line.
Result<std::vector<Row>> ReadRows(const std::string& path);

class RowFile {
 public:
  // Makes it if it is not there; a torn last line is cut off. Errors: kLocked, naming the process
  // that holds it; kDamaged; kIo.
  static Result<std::unique_ptr<RowFile>> Open(const std::string& path);

  bool Has(const RowKey& key) const;
  std::vector<Row> rows() const;
  // Whole and on the disk when it returns. Errors: kFailed if the disk is full, naming the path and
  // the bytes that are missing; what was there stays valid.
  Status Append(const Row& row);

 private:
  RowFile(std::string path, UniqueFd fd, std::vector<Row> rows);

  const std::string path_;
  const UniqueFd fd_;
  mutable std::mutex mutex_;
  std::vector<Row> rows_;
  std::set<RowKey> keys_;
};

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_RUN_ROWS_H_
