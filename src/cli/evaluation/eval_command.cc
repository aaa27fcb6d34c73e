// eval: gives tasks with proved answers to any system and scores it by published rules.

#include "cli/commands.h"
#include "cli/evaluation/eval_commands.h"
#include "cli/tree/command.h"

namespace dossier::cli {

Command EvalCommand() {
  Command eval{.name = "eval",
               .summary = "measure answers: tasks with proved answers, for any system",
               .examples =
                   "dossier eval generate aggregate --length 16K --windows 2 --out set\n"
                   "    writes tasks whose answers are proved twice\n"
                   "dossier eval check set\n"
                   "    proves them again, and that no answer can be guessed"};
  eval.commands = {EvalFamiliesCommand(), EvalGenerateCommand(), EvalCheckCommand(),
                   EvalScoreOneCommand()};
  for (Command (*make)() :
       {EvalRunCommand, EvalArmsCommand, EvalScoreCommand, EvalReportCommand, EvalCompareCommand,
        EvalDiffCommand, EvalGateCommand, EvalAddCommand, EvalStubCommand, EvalProxyCommand}) {
    eval.commands.push_back(make());
  }
  return eval;
}

}  // namespace dossier::cli
