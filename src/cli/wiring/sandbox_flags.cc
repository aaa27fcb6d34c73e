#include "cli/wiring/sandbox_flags.h"

#include "base/files/file.h"
#include "cli/wiring/quantity_flags.h"

namespace dossier::cli {
void AddSandboxFlags(CLI::App& command, SandboxFlags* flags) {
  const std::string group = "Sandbox";
  command.add_option("--sandbox", flags->mode, "strict, or degraded where layers are missing")
      ->check(CLI::IsMember({"strict", "degraded"}))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--cell-time", flags->cell_time,
                  "longest time of a block without a sub-call (60s in which it does not work)")
      ->group(group);
  command.add_option("--cell-cpu", flags->cell_cpu, "processor time of a block")
      ->capture_default_str()
      ->group(group);
  command.add_option("--cell-memory", flags->cell_memory, "memory beyond base and context")
      ->capture_default_str()
      ->group(group);
  command.add_option("--cell-output", flags->cell_output, "output kept of a block")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--context-string-max", flags->context_string_max,
                  "largest `context` built as one string")
      ->capture_default_str()
      ->group(group);
  command.add_option("--sandbox-read", flags->read_folders, "one more read-only folder")
      ->allow_extra_args(false)
      ->group(group);
}

Result<SandboxChoice> ParseSandboxFlags(const SandboxFlags& flags) {
  SandboxChoice choice;
  choice.pool.mode = flags.mode == "degraded" ? sandbox::Mode::kDegraded : sandbox::Mode::kStrict;
  for (const std::string& folder : flags.read_folders) {
    if (Exists(folder)) continue;
    return MakeError(ErrorCode::kNotFound, "--sandbox-read {}: there is no such folder", folder);
  }
  choice.pool.read_folders = flags.read_folders;
  choice.limits.counts = sandbox::Limits::Counts::kIdle;
  if (!flags.cell_time.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(choice.limits.silence, ReadTimeFlag("--cell-time", flags.cell_time));
    choice.limits.counts = sandbox::Limits::Counts::kWall;
  }
  DOSSIER_ASSIGN_OR_RETURN(choice.limits.cpu, ReadTimeFlag("--cell-cpu", flags.cell_cpu));
  DOSSIER_ASSIGN_OR_RETURN(choice.limits.memory, ReadSizeFlag("--cell-memory", flags.cell_memory));
  DOSSIER_ASSIGN_OR_RETURN(choice.limits.output, ReadSizeFlag("--cell-output", flags.cell_output));
  DOSSIER_ASSIGN_OR_RETURN(
      choice.context_string_max,
      ReadSizeFlag("--context-string-max", flags.context_string_max, Zero::kTaken));
  return choice;
}

}  // namespace dossier::cli
