// Values of flags that are names, and where those come from: models, conversations, keys, runs.
//
//   flags.Add("-m,--model", &to.model, "model, as [PROVIDER/]NAME").Kind(kModel);
//
// Completion offers the names that there are now. No network, no database but memory and the
// journal, no program is run, and a project's file that is not trusted does not count. What can't
// be read offers nothing: completion is no place for messages. Thread-safety: constants; offering
// reads files and the environment.

#ifndef DOSSIER_CLI_WIRING_VALUE_KINDS_H_
#define DOSSIER_CLI_WIRING_VALUE_KINDS_H_

#include "cli/tree/command.h"

namespace dossier::cli {

extern const ValueKind kModel, kLayout;
extern const ValueKind kConfigName;  // NAME of NAME.dossier.yml
extern const ValueKind kConfigKey;   // of dossier.yml
extern const ValueKind kConversation;
extern const ValueKind kVariable;  // of the configuration, with its "="
extern const ValueKind kRun;       // of the journal, the newest
extern const ValueKind kTask, kAgentRun, kResearchRun;
extern const ValueKind kMemoryBranch, kMemoryKey;
extern const ValueKind kPage;   // a command
extern const ValueKind kTopic;  // what `help` knows

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_VALUE_KINDS_H_
