// Refreshes the frozen context between turns: `dossier context refresh` and `/refresh`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Gathered gathered,
//                            source.Gather(StaticCommands(source.Declared()), limits, cancel));
//   const RefreshParts parts{.store = store, .counter = *counter, .content_folder = folder};
//   const Refreshed fresh = parts.Compare(stored, gathered);         // for a person; saves nothing
//   if (ChangesContext(stored, fresh)) DOSSIER_RETURN_IF_ERROR(parts.Save("bug-12", gathered,
//   cancel));
//
// Thread-safety: as Store.

#ifndef DOSSIER_CHAT_TURN_REFRESH_NOW_H_
#define DOSSIER_CHAT_TURN_REFRESH_NOW_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/layout.h"
#include "chat/context/compact.h"
#include "chat/context/frozen.h"
#include "chat/context/gather.h"
#include "chat/store/store.h"
#include "driver/bound_model.h"
#include "driver/caller.h"

namespace dossier::chat {

// Returns the indexes of commands whose blocks are frozen: all of them, or the one named `only`.
// Dynamic ones are not among them; they run in every turn.
std::vector<std::size_t> StaticCommands(std::span<const DeclaredCommand> commands,
                                        std::string_view only = {});

// Returns true if `change` makes a block differ from the frozen one.
bool Differs(const BlockChange& change);
// Returns true if a save would change the context: a block, or whether a frozen context exists.
bool ChangesContext(const Stored& stored, const Refreshed& refreshed);

struct RefreshParts {
  const ConversationStore& store;
  const tokens::Counter& counter;
  std::string content_folder;  // for the replaced text; "": it is not kept
  OtherBlocks others = OtherBlocks::kGo;

  Refreshed Compare(const Stored& stored, const Gathered& gathered) const;
  // Applies it to the current file, so that turns added meanwhile stay. Errors: those of the store,
  // and of storing the replaced text; nothing is changed in these cases.
  Status Save(std::string_view id, const Gathered& gathered, const CancelToken& cancel) const;
};

// Compacts by hand, between turns: `dossier conversations compact` and `/compact`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const CompactedNow done,
//                            CompactNow({.store = store, .model = model, …}, "bug-12", cancel));
//   Print(done.line);     // "compacted: turns 1-14 …", or why nothing is done
//
// The triggers of compaction are ignored; only keep_turns and summary_tokens count. Turns that
// other processes save meanwhile stay as they are. Thread-safety: as Store.

struct CompactParts {
  const ConversationStore& store;
  const driver::BoundModel& model;   // the conversation's model: its token counts are used
  const driver::BoundModel& writer;  // writes the summary; may be the same model
  CompactionLimits limits;
  driver::LayoutSources layouts;                              // for the summary
  enum class Action { kSave, kPlan } action = Action::kSave;  // kPlan: --dry-run
};

struct CompactedNow {
  std::string line;
  std::optional<CompactionFigures> figures;  // unset if there is nothing to do
  model::Usage usage;                        // of the summary call, if there was one
};

// Errors: those of the store and of the summary call; nothing is changed in these cases. kFailed if
// the conversation lost messages meanwhile.
Result<CompactedNow> CompactNow(const CompactParts& parts, std::string_view id,
                                const CancelToken& cancel);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_REFRESH_NOW_H_
