// A compaction by hand, between turns: `dossier conversations compact` and `/compact`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const CompactedNow done,
//                            CompactNow({.store = store, .model = model, …}, "bug-12", cancel));
//   Print(done.line);     // "compacted: turns 1-14 …", or why nothing is done
//
// The triggers of compaction are not asked; only keep_turns and summary_tokens count. Turns that
// others save meanwhile stay as they are. Thread-safety: as Store.

#ifndef DOSSIER_CHAT_TURN_COMPACT_NOW_H_
#define DOSSIER_CHAT_TURN_COMPACT_NOW_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "assembly/layout/layout.h"
#include "chat/context/compact.h"
#include "chat/store/store.h"
#include "driver/bound_model.h"

namespace dossier::chat {

struct CompactParts {
  const Store& store;
  const driver::BoundModel& model;   // the conversation's: its tokens count
  const driver::BoundModel& writer;  // of the summary; may be the same
  CompactionLimits limits;
  assembly::AssetFolders folders;
  enum class Action { kSave, kPlan } action = Action::kSave;  // kPlan: --dry-run
};

struct CompactedNow {
  std::string line;
  std::optional<CompactionFigures> figures;  // unset if there is nothing to do
  model::Usage usage;                        // of the summary, if one was written
};

// Errors: those of the store, and of the summary's call: nothing is changed then. kFailed if the
// conversation lost messages meanwhile.
Result<CompactedNow> CompactNow(const CompactParts& parts, std::string_view id,
                                const CancelToken& cancel);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_COMPACT_NOW_H_
