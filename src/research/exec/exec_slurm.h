// The long phases of a run as jobs of Slurm: in the containers of another backend, or without.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto inner, MakeContainerBackend(options));
//   DOSSIER_ASSIGN_OR_RETURN(auto backend,
//                            MakeSlurmBackend(std::move(inner), {.flags = {{"time",
//                            "01:00:00"}}}));
//
// A command of a queued phase is one job: sbatch, then waiting until a file of the job tells its
// status or the queue no longer has it. Its id goes to Command::on_queued before the wait; with
// Command::queued_job that job is asked for first: running, it is waited for; over, collected;
// unknown, submitted again. Other phases, and commands without on_queued (scripts that read
// results, the probe), run where this process does. The workspace and the worker's folder must be
// on a file system that the machines of the cluster share.
//
// Without containers (MakePlainSlurmBackend) a job runs as the user, behind no walls, in the
// workspace at its own path; all else runs in the local sandbox, at the same paths. Where a command
// or a variable names the mount, it gets that path; what is bound below the mount is a link there,
// and must be on a file system that the machines share, too.
//
// Thread-safety: as ExecBackend.

#ifndef DOSSIER_RESEARCH_EXEC_EXEC_SLURM_H_
#define DOSSIER_RESEARCH_EXEC_EXEC_SLURM_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "research/exec/exec_container.h"

namespace dossier::research {

struct SlurmOptions {
  std::map<std::string, std::string> flags;   // of sbatch: {"time", "01:00:00"}, {"gpus", "1"}
  std::vector<Phase> phases = {Phase::kRun};  // that are queued: exec.slurm_phases
  std::vector<std::string> modules;           // "load gcc/12": what `module` is told in a job
  Millis poll{5'000};                         // between two looks at a job
};

// "phase4" or "phase3,phase4". Errors: kConfig.
Result<std::vector<Phase>> ParseSlurmPhases(std::string_view text);

// Errors: kUnavailable naming the program that was looked for; kConfig (a flag that is not one).
Result<std::unique_ptr<ExecBackend>> MakeSlurmBackend(std::unique_ptr<HostedBackend> inner,
                                                      SlurmOptions options);
// `walled`: the local sandbox. Errors: as above.
Result<std::unique_ptr<ExecBackend>> MakePlainSlurmBackend(std::unique_ptr<ExecBackend> walled,
                                                           HostPlace place, SlurmOptions options);
// Whether the controller of the queue answers, before a run counts on it. Errors: kUnavailable.
Status CheckQueue(const std::vector<std::string>& environment);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_EXEC_SLURM_H_
