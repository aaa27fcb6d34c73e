// Flag values that are names, and where those come from: models, conversations, keys, runs.
//
//   flags.Add("-m,--model", &to.model, "model, as [PROVIDER/]NAME").Kind(kModel);
//
// Completion offers the names that exist now. It uses no network and no database except memory and
// the journal, runs no program, and ignores untrusted project files. What cannot be read offers
// nothing, since completion is no place for messages. Thread-safety: constants; completion reads
// files and the environment.

#ifndef DOSSIER_CLI_WIRING_VALUE_KINDS_H_
#define DOSSIER_CLI_WIRING_VALUE_KINDS_H_

#include "cli/tree/command.h"

namespace dossier::cli {

extern const ValueKind kModel, kLayout;
extern const ValueKind kConfigName;  // NAME of NAME.dossier.yml
extern const ValueKind kConfigKey;   // a key of dossier.yml
extern const ValueKind kConversation;
extern const ValueKind kVariable;  // of the configuration, followed by "="
extern const ValueKind kRun;       // newest runs of the journal
extern const ValueKind kTask, kAgentRun, kResearchRun;
extern const ValueKind kMemoryBranch, kMemoryKey;
extern const ValueKind kPage;   // a command that has a manual page
extern const ValueKind kTopic;  // a topic of `help`

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_VALUE_KINDS_H_
