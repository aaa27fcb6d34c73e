// The commands below `dossier eval`, grouped into files by task sets and runs; eval_command.cc
// lists them in the order of the help. Thread-safety: none needed.

#ifndef DOSSIER_CLI_EVALUATION_EVAL_COMMANDS_H_
#define DOSSIER_CLI_EVALUATION_EVAL_COMMANDS_H_

namespace dossier::cli {

struct Command;

// eval_sets.cc
Command EvalFamiliesCommand();
Command EvalGenerateCommand();
Command EvalCheckCommand();
Command EvalScoreOneCommand();

// eval_runs.cc
Command EvalRunCommand();
Command EvalArmsCommand();
Command EvalScoreCommand();
Command EvalReportCommand();
Command EvalCompareCommand();

// eval_gate.cc
Command EvalGateCommand();

// eval_servers.cc
Command EvalStubCommand();
Command EvalProxyCommand();

// eval_questions.cc
Command EvalAddCommand();
Command EvalDiffCommand();

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_EVALUATION_EVAL_COMMANDS_H_
