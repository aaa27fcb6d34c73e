// The answer of one system to one task, and the file of such rows: one line per row, complete and
// synced, so that a killed run resumes without asking anything twice (docs/formats/eval-run.md).
//
//   DOSSIER_ASSIGN_OR_RETURN(RowFile file, RowFile::Open(folder + "/rows.jsonl"));
//   if (!file.Has(row.key())) DOSSIER_RETURN_IF_ERROR(file.Append(row));
//
// Ownership: RowFile owns its descriptor. Thread-safety: a RowFile may be used from many threads;
// rows are plain data.

#ifndef DOSSIER_EVALUATION_RUN_ROWS_H_
#define DOSSIER_EVALUATION_RUN_ROWS_H_

#include <cstdint>
#include <map>
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

// The outcome of a question. All but the first and the last score 0 and count in every mean.
enum class RowStatus : std::uint8_t {
  kOk,              // an answer, right or wrong
  kEmpty,           // ended normally without output
  kTimeout,         // reached the time limit without an answer
  kCrashed,         // killed by a signal
  kError,           // ended with a non-zero exit code
  kRefused,         // refused by policy, sandbox or provider
  kNoAnswer,        // reports that it found no answer
  kContextTooLong,  // exceeds the model's window
  kLimit,           // reached a call limit before an answer
  kProviderError,   // the model did not answer
  kHarnessError,    // our own fault: no result
};
std::string_view StatusName(RowStatus status);  // "ok", "context_too_long"
std::optional<RowStatus> StatusOf(std::string_view name);

struct RowTokens {
  std::int64_t input = 0, cached = 0, output = 0;  // `cached` is part of `input`
  bool counted = false;                            // counted by us, because a reply did not report
                                                   // it
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
  std::string answer, detail;               // `detail`: what went wrong, in one sentence
  std::optional<double> official, lenient;  // 0 to 1; unset: no gold
  std::optional<double> opinion;            // of a judge, 0 to 1: not a score, in no mean
  std::string parsed, rule;
  std::string cause;  // for a wrong answer: format, near, refusal, guess, wrong; empty: right
  double seconds = 0;
  std::int64_t calls = 0;
  RowTokens tokens;
  std::optional<std::int64_t> cost_nano_usd;  // unset: a price is unknown
  std::optional<std::int64_t> turns, sub_calls;
  std::string ended, run;
  bool at_limit = false;  // a limit was met on the way: an answer may leave something out

  RowKey key() const { return {arm, task, repeat}; }
  // Returns true if it counts in means: harness errors say nothing about a system.
  bool counts() const { return status != RowStatus::kHarnessError; }
  // Returns true if the system, its model or the harness failed, which says nothing about what the
  // system could answer.
  bool broken() const {
    return status == RowStatus::kError || status == RowStatus::kCrashed ||
           status == RowStatus::kProviderError || status == RowStatus::kHarnessError;
  }
};

Json RowToJson(const Row& row);
// Errors: kDamaged with the reason.
Result<Row> RowFromJson(const Json& value);

// Reads all complete rows of a file in order; an incomplete last line is skipped, and the last row
// of a key wins. Errors: kNotFound; kDamaged with file and line.
Result<std::vector<Row>> ReadRows(const std::string& path);

// Locks the rows of a run between processes, for whoever writes or replaces them. Taken before they
// are read, and held until they are written. Errors: kLocked, naming the process that holds it;
// kIo.
Result<FileLock> LockRows(const std::string& folder);

class RowFile {
 public:
  // Creates the file if needed; an incomplete last line is cut off. The caller holds LockRows.
  // Errors: kDamaged; kIo.
  static Result<std::unique_ptr<RowFile>> Open(const std::string& path);

  // Returns true if the question has a row. Provider errors that the file ended with when it was
  // opened do not count: the model was away, and the questions are asked again.
  bool Has(const RowKey& key) const;
  std::vector<Row> rows() const;
  // Returns once the row is complete on disk. Errors: kFailed if the disk is full, naming the path
  // and the missing bytes; existing rows stay valid.
  Status Append(const Row& row);

 private:
  RowFile(std::string path, UniqueFd fd, std::vector<Row> rows);

  const std::string path_;
  const UniqueFd fd_;
  mutable std::mutex mutex_;
  std::vector<Row> rows_;
  std::map<RowKey, std::size_t> places_;  // in rows_
  std::set<RowKey> open_;                 // with a row, to be asked again
};

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_RUN_ROWS_H_
