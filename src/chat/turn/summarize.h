// The summary that stands for old turns, asked of a model.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Summary summary,
//                            Summarize(plan, writer, folders, caller, cancel));
//   FinishCompaction(plan, summary.text, id, writer.stored, now, *counter);
//
// Thread-safety: blocks its caller; shares nothing.

#ifndef DOSSIER_CHAT_TURN_SUMMARIZE_H_
#define DOSSIER_CHAT_TURN_SUMMARIZE_H_

#include <string>

#include "assembly/layout/layout.h"
#include "chat/context/compact.h"
#include "driver/caller.h"

namespace dossier::chat {

struct Summary {
  std::string text;  // not blank
  model::Usage usage;
};
// `plan` needs a summary. Errors: those of the layout chat.compaction and of the call; kNetwork if
// the model returned no text.
Result<Summary> Summarize(const CompactionPlan& plan, const driver::BoundModel& writer,
                          const assembly::AssetFolders& folders, driver::Caller& caller,
                          const CancelToken& cancel);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_SUMMARIZE_H_
