// Commands that no backend runs. The model is told why, as exit status 126.
//
//   RuledCommand ruled = ApplyCommandRules({.command = "sudo make install"}, Root::kYes);
//   ruled.command.command;                           // "make install", with a note
//   ApplyCommandRules({.command = "docker run x"}, Root::kYes).refusal->refused;   // the reason
//
// What holds a command inside is the sandbox; these rules spare the model attempts that cannot
// work. Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_EXEC_COMMAND_RULES_H_
#define DOSSIER_RESEARCH_EXEC_COMMAND_RULES_H_

#include <optional>
#include <string>

#include "research/exec/exec_backend.h"

namespace dossier::research {

inline constexpr int kRefusedStatus = 126;

struct RuledCommand {
  Command command;   // as it is to be run
  std::string note;  // "a leading sudo was dropped"
  std::optional<ExecResult> refusal;
};

RuledCommand ApplyCommandRules(const Command& command, SandboxFacts::Root root);

// What backends say alike.
tl::unexpected<Error> NotStarted();
tl::unexpected<Error> Cancelled(const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_COMMAND_RULES_H_
