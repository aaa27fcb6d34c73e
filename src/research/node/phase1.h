// Phase 1: installs what a program needs, one command per step, until the model says that it is
// done and the plan's conditions hold.
//
// A step is journalled with its reply and results when it is over. The workspace holds a mark of
// the last journalled step; if mark and journal differ, a new sandbox replays the commands.
//
// Thread-safety: one owner and one thread per node.

#ifndef DOSSIER_RESEARCH_NODE_PHASE1_H_
#define DOSSIER_RESEARCH_NODE_PHASE1_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "research/node/phase_context.h"

namespace dossier::research {

struct InstallStep {
  int step = 0;  // from 1
  std::string command;
  int exit_code = 0;
  std::string stdout_summary, stderr_summary, notes;
  // How a replay after a restart treats the step: checks and notes do not change a sandbox.
  enum class Kind : std::uint8_t { kCommand, kCheck, kReplayed } kind = Kind::kCommand;
};
JsonObject StepJson(const InstallStep& step);
// Errors: kDamaged naming the field.
Result<InstallStep> ReadStep(const Json& json);

struct InstallReply {
  std::string command, notes;
  enum class Done : std::uint8_t { kNo, kYes } done = Done::kNo;
};
// Parses {command, done, notes}. Errors: kInvalidArgument.
Result<InstallReply> ParseInstallReply(std::string_view payload);

// Runs phase 1 and puts `phase1_steps_summary` into the outcome's history. If it fails, the node
// fails.
Status Install(PhaseContext& context);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_PHASE1_H_
