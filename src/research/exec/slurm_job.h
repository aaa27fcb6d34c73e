// One job of Slurm: its script, its state, its end. Private to the slurm backend.
//
// A job's folder holds `script`, `out`, `err`, `slurm.log` (what Slurm itself says) and, once the
// command is over, `status`: "EXIT SECONDS".

#ifndef DOSSIER_RESEARCH_EXEC_SLURM_JOB_H_
#define DOSSIER_RESEARCH_EXEC_SLURM_JOB_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "research/exec/exec_container.h"

namespace dossier::research {

struct SlurmPrograms {
  std::string sbatch, squeue, sacct, scancel;  // full paths; sacct may be missing
  std::vector<std::string> environment;
};

enum class JobState : std::uint8_t { kWaiting, kOver, kUnknown };
struct JobLook {
  JobState state = JobState::kUnknown;
  std::string name;  // as Slurm says it: "TIMEOUT"
};

// `modules`: lines for the command `module`, after the variables; one that fails ends the job.
std::string JobScript(const HostCommand& command, const std::vector<std::string>& modules,
                      const std::string& folder);
// The id that `sbatch --parsable` printed, "12345" or "12345;cluster". Nothing if it is none.
std::optional<std::string> ParseJobId(std::string_view text);
bool IsJobId(std::string_view text);
// By the names of Slurm's states, also cut ones ("CANCELLED by 1000").
JobState JobStateOf(std::string_view name);

// Submits the script of `folder`; the job's id. Errors: kUnavailable with what sbatch said.
Result<std::string> SubmitJob(const SlurmPrograms& programs, const std::string& folder,
                              const std::map<std::string, std::string>& flags,
                              const CancelToken& cancel);
Result<JobLook> LookAtJob(const SlurmPrograms& programs, const std::string& job,
                          const CancelToken& cancel);
void CancelJob(const SlurmPrograms& programs, const std::string& job) noexcept;

struct JobEnd {
  int status = 0;
  double seconds = 0;
};
// What the job's script wrote at its end; nothing as long as it has not.
std::optional<JobEnd> ReadJobEnd(const std::string& folder);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_SLURM_JOB_H_
