// The log of one phase: every command with its whole output, secrets redacted.
//
//   PhaseLog log(folder + "/compile.log");
//   DOSSIER_RETURN_IF_ERROR(log.Begin());                    // what an earlier try wrote is gone
//   DOSSIER_RETURN_IF_ERROR(log.Add(command, result));
//
// Thread-safety: one owner.

#ifndef DOSSIER_RESEARCH_EXEC_PHASE_LOG_H_
#define DOSSIER_RESEARCH_EXEC_PHASE_LOG_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "research/exec/exec_backend.h"

namespace dossier::research {

class PhaseLog {
 public:
  explicit PhaseLog(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  Status Begin();
  Status Add(const ExecCommand& command, const ExecResult& result);
  Status Line(std::string_view text);

 private:
  Status Append(std::string_view text) const;

  std::string path_;
};

// Appends to a file, which is created with its folder if needed.
Status AppendToFile(const std::string& path, std::string_view text);

// Returns "$ make -j2", as logs and prompts show it.
std::string CommandLine(const ExecCommand& command);
// Returns the command's output, and how it ended if it failed: "[exit status 2]".
std::string OutputText(const ExecResult& result);

// A file or repository that a command downloads: "wget -O x.tgz https://…", "git clone URL folder".
struct Download {
  std::string url, destination;  // destination "": the program's own choice

  bool operator==(const Download&) const = default;
};
std::vector<Download> Downloads(std::string_view command);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_PHASE_LOG_H_
