// Reads the run logs of a repository: counts for `agents status`, and which tasks are merged
// already.
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

// The last word on one task in one log.
struct TaskRecord {
  std::string status, reason;
  std::string commit;  // of a merge
  std::string digest;  // of the task as it was (TaskDigest); empty in logs of other programs
  std::int64_t timestamp = 0;  // ms since 1970
};

struct LoggedRun {
  std::string file, run;                                 // file name; run id
  std::map<std::string, TaskRecord, std::less<>> tasks;  // by id
  // By id: what is merged, also if the run was killed before it could say its last word.
  std::map<std::string, TaskRecord, std::less<>> merges;
  std::map<std::string, std::int64_t> counts;  // tasks by status
  std::size_t skipped_lines = 0;               // that could not be read
  bool finished = false;                       // run.finished is there
};

// Reads a log of ours or of the AgentNet form. Errors: kNotFound, kIo.
Result<LoggedRun> ReadRunLog(const std::string& path);

// Paths of the logs in `folder`, by name; none if the folder is missing.
std::vector<std::string> RunLogFiles(const std::string& folder);

// The log of the run that began last, by the time of its first event: names have seconds only, and
// people rename files. Of logs that do not tell (AgentNet's first line is a result, with its
// timestamp; the rest have the file's time of change) all are compared alike. "" if `logs` is
// empty.
std::string NewestRunLog(const std::vector<std::string>& logs);

class RunRecords {
 public:
  explicit RunRecords(std::string folder) : folder_(std::move(folder)) {}

  // Reads the logs that are new or have grown. Errors: kIo.
  Status Refresh();

  struct Found {
    std::string run;
    TaskRecord record;
  };
  // The newest merge of `task`; unset if there is none.
  std::optional<Found> FindMerge(std::string_view task) const;
  // What another run than `own` has brought to an end of `task` since `since` (ms since 1970).
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
