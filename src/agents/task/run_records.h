// Reads the run logs of a repository: counts for `agents status`, and which tasks are merged.
//
//   DOSSIER_ASSIGN_OR_RETURN(const LoggedRun record, ReadRunLog(path));
//   record.counts;                                    // {"merged": 3, "needs-fix": 1}
//   RunRecords records(runs_folder);
//   DOSSIER_RETURN_IF_ERROR(records.Refresh());       // reads what has changed
//   if (const auto* merge = records.FindMerge("fact-001")) Use(merge->commit);
//
// Thread-safety: ReadRunLog is a function over files; RunRecords has one owner.

#ifndef DOSSIER_AGENTS_TASK_RUN_RECORDS_H_
#define DOSSIER_AGENTS_TASK_RUN_RECORDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::agents {

// The last state of one task in one log.
struct TaskRecord {
  std::string status, reason;
  std::string commit;  // of the merge
  std::string digest;  // TaskDigest of the task at that time; empty in logs of other programs
  std::int64_t timestamp = 0;  // ms since 1970
};

struct LoggedRun {
  std::string file, run;                                 // file name; run id
  std::map<std::string, TaskRecord, std::less<>> tasks;  // by id
  // Merged tasks by id, even if the run was killed before it logged the result.
  std::map<std::string, TaskRecord, std::less<>> merges;
  std::map<std::string, std::int64_t> counts;  // tasks by status
  std::size_t skipped_lines = 0;               // lines that could not be parsed
  bool finished = false;                       // it contains run.finished
};

// Reads a log in our form or the AgentNet form. Errors: kNotFound, kIo.
Result<LoggedRun> ReadRunLog(const std::string& path);

// Returns paths of the logs in `folder`, sorted by name; none if the folder is missing.
std::vector<std::string> RunLogFiles(const std::string& folder);

// Returns the log of the run that began last, by the time of its first event: names have only
// seconds, and people rename files. Logs without it use other times (in AgentNet's the timestamp of
// the first result; else the file's modification time). "" if `logs` is empty.
std::string NewestRunLog(const std::vector<std::string>& logs);

class RunRecords {
 public:
  explicit RunRecords(std::string folder) : folder_(std::move(folder)) {}

  // Reads logs that are new or have grown. Errors: kIo.
  Status Refresh();

  struct Found {
    std::string run;
    TaskRecord record;
  };
  // Returns the newest merge of `task`; unset if there is none.
  std::optional<Found> FindMerge(std::string_view task) const;
  // Returns how a run other than `own` ended `task` since `since` (ms since 1970).
  std::optional<Found> FindSince(std::string_view task, std::string_view own,
                                 std::int64_t since) const;

 private:
  struct Known {
    std::int64_t size = -1, mtime_ns = 0;
    LoggedRun record;
  };
  std::string folder_;
  std::map<std::string, Known> logs_;  // by path
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_RUN_RECORDS_H_
