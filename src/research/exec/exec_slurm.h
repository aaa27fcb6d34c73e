// Runs the long phases of a run as Slurm jobs, inside the containers of another backend or without.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto inner, MakeContainerBackend(options));
//   DOSSIER_ASSIGN_OR_RETURN(auto backend,
//                            MakeSlurmBackend(std::move(inner), {.flags = {{"time",
//                            "01:00:00"}}}));
//
// A command of a queued phase is one job: sbatch, then a wait until a file of the job gives its
// status or the queue no longer has it. ExecCommand::on_queued gets its id before the wait. A job
// in ExecCommand::queued_job is looked up first: running, it is waited for; over, its result is
// collected; unknown, it is submitted again. A queue that does not answer is asked again. Other
// phases, and commands without on_queued (scripts that read results, the probe), run on this
// process's machine. The workspace and the worker's folder must be on a file system that the
// machines of the cluster share.
//
// Without containers (MakePlainSlurmBackend) a job runs as the user, without a sandbox, in the
// workspace at its own path; everything else runs in the local sandbox, at the same paths. The
// mount in a command or variable is replaced by that path; a bind below the mount is a link there,
// and must be on a shared file system too.
//
// Thread-safety: as ExecBackend.

#ifndef DOSSIER_RESEARCH_EXEC_EXEC_SLURM_H_
#define DOSSIER_RESEARCH_EXEC_EXEC_SLURM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "research/exec/exec_container.h"

namespace dossier::research {

struct SlurmOptions {
  std::map<std::string, std::string> flags;   // for sbatch: {"time", "01:00:00"}, {"gpus", "1"}
  std::vector<Phase> phases = {Phase::kRun};  // the queued phases: exec.slurm_phases
  std::vector<std::string> modules;           // "load gcc/12": arguments of `module` in a job
  Millis poll{5'000};                         // between two checks of a job
  Millis patience{3'600'000};  // with a queue that does not answer; then the job is cancelled
};

// Parses "phase4" or "phase3,phase4". Errors: kConfig.
Result<std::vector<Phase>> ParseSlurmPhases(std::string_view text);

// Errors: kUnavailable naming the missing program; kConfig (an invalid flag).
Result<std::unique_ptr<ExecBackend>> MakeSlurmBackend(std::unique_ptr<HostedBackend> inner,
                                                      SlurmOptions options);
// `walled` is the local sandbox. Errors: as above.
Result<std::unique_ptr<ExecBackend>> MakePlainSlurmBackend(std::unique_ptr<ExecBackend> walled,
                                                           HostPlace place, SlurmOptions options);
// Checks that the queue's controller answers, before a run relies on it. Errors: kUnavailable.
Status CheckQueue(const std::vector<std::string>& environment);

// One Slurm job: its script, its state, its end. Private to the Slurm backend.
//
// A job's folder holds `script`, `out`, `err`, `slurm.log` (Slurm's own messages) and, after the
// command ended, `status`: "EXIT SECONDS".

struct SlurmPrograms {
  std::string sbatch, squeue, sacct, scancel;  // full paths; sacct may be missing
  std::vector<std::string> environment;
};

// kUnknown: the queue says that it has no such job. kSilent: it did not answer.
enum class JobState : std::uint8_t { kWaiting, kOver, kUnknown, kSilent };
struct JobLook {
  JobState state = JobState::kUnknown;
  std::string name;  // as Slurm names it: "TIMEOUT"
};

// `modules`: lines for `module`, run after the variables are set; one that fails ends the job.
std::string JobScript(const HostCommand& command, const std::vector<std::string>& modules,
                      const std::string& folder);
// Returns the id that `sbatch --parsable` printed, "12345" or "12345;cluster", if it is one.
std::optional<std::string> ParseJobId(std::string_view text);
bool IsJobId(std::string_view text);
// Maps a Slurm state name to a JobState; the name may have a suffix ("CANCELLED by 1000").
JobState JobStateOf(std::string_view name);

// Submits the script in `folder`; returns the job id. Errors: kUnavailable with sbatch's message.
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
// Returns what the job's script wrote at its end; nothing until then.
std::optional<JobEnd> ReadJobEnd(const std::string& folder);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_EXEC_SLURM_H_
