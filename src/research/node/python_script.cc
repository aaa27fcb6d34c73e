#include "research/node/python_script.h"

#include <array>
#include <optional>

#include "ask/reply/code_repair.h"
#include "base/files/file.h"
#include "research/files/cuts.h"
#include "research/files/phase_files.h"

namespace dossier::research {
namespace {

bool IsUnreadable(const ExecResult& result) {
  constexpr std::array<std::string_view, 3> kNames = {
      "SyntaxError:", "IndentationError:", "TabError:"};
  if (result.status == 0) return false;
  for (const std::string_view name : kNames) {
    if (result.err.find(name) != std::string::npos) return true;
  }
  return false;
}

struct Repair {
  std::string name, code;
};

std::optional<Repair> RepairOnce(const std::string& code) {
  if (auto plain = ask::WithoutPrompts(code)) return Repair{"prompts removed", *plain};
  if (auto plain = ask::WithoutEntities(code)) return Repair{"entities replaced", *plain};
  std::string plain = ask::WithoutCommonIndent(code);
  if (plain != code) return Repair{"indent removed", std::move(plain)};
  return {};
}

std::string FailureOf(const ExecResult& result) {
  if (result.status == 0) return {};
  const std::string why = result.timed_out          ? "ran into its time limit"
                          : result.out_of_memory    ? "ran out of memory"
                          : !result.refused.empty() ? "was refused: " + result.refused
                                                    : "failed";
  const std::string lines = CutTail(result.err.empty() ? result.out : result.err, kCommandSummary);
  return fmt::format("the script {} (exit status {})\n{}", why, result.status, lines);
}

}  // namespace

Result<ScriptRun> RunScript(const Services& services, const WorkspacePlace& place,
                            std::string_view file, std::string_view code,
                            const CancelToken& cancel) {
  WorkspacePlace closed = place;
  closed.network = NetworkPolicy::kNever;
  closed.environment.emplace_back("MPLBACKEND=Agg");  // draw without a screen
  closed.environment.emplace_back("MPLCONFIGDIR=/tmp");
  const ExecCommand command{.argv = {"python3", std::string(file)}, .phase = Phase::kRun};
  ScriptRun run{.code = std::string(code)};
  while (true) {
    DOSSIER_RETURN_IF_ERROR(MakeFolders(place.workspace));
    DOSSIER_RETURN_IF_ERROR(WriteOwnFile(place.workspace, file, run.code));
    DOSSIER_ASSIGN_OR_RETURN(const ExecResult result,
                             RunInWorkspace(services, closed, command, cancel));
    run.failure = FailureOf(result);
    run.output = CutTail(result.out + result.err, kCommandSummary);
    if (!IsUnreadable(result) || !run.repair.empty()) return run;
    std::optional<Repair> repair = RepairOnce(run.code);
    if (!repair) return run;
    run.code = std::move(repair->code);
    run.repair = std::move(repair->name);
  }
}

}  // namespace dossier::research
