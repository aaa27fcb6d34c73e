#include "cli/wiring/sandbox_flags.h"

#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier::cli {

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

namespace {

template <typename Value>
Result<Value> Named(std::string_view flag, std::string_view text, Result<Value> read, Zero zero) {
  if (!read) return MakeError(ErrorCode::kUsage, "{} {}", flag, read.error().message);
  if (zero == Zero::kRefused && *read == Value(0)) {
    return MakeError(ErrorCode::kUsage, "{} {}: must be above 0", flag, text);
  }
  return read;
}

}  // namespace

Result<Millis> ReadTimeFlag(std::string_view flag, const std::string& text, Zero zero) {
  return Named(flag, text, ParseDuration(text), zero);
}

Result<std::uint64_t> ReadSizeFlag(std::string_view flag, const std::string& text, Zero zero) {
  return Named(flag, text, ParseSize(text), zero);
}

}  // namespace dossier::cli
