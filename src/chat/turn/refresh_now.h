// A refresh of the frozen context between turns: `dossier context refresh` and `/refresh`.
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

// Indexes of the commands whose blocks are frozen, all or the one called `only`: dynamic ones run
// in every turn instead.
std::vector<std::size_t> StaticCommands(std::span<const DeclaredCommand> commands,
                                        std::string_view only = {});

// Whether `change` makes a block differ from the frozen one.
bool Differs(const BlockChange& change);
// Whether a save would change the context: a block, or that there is a frozen one at all.
bool ChangesContext(const Stored& stored, const Refreshed& refreshed);

struct RefreshParts {
  const Store& store;
  const tokens::Counter& counter;
  std::string content_folder;  // for the text that is replaced; "": it is not kept
  OtherBlocks others = OtherBlocks::kGo;

  Refreshed Compare(const Stored& stored, const Gathered& gathered) const;
  // On the file as it is by now: turns that came meanwhile stay. Errors: those of the store, and of
  // keeping the replaced text: nothing is changed then.
  Status Save(std::string_view id, const Gathered& gathered, const CancelToken& cancel) const;
};

// A compaction by hand, between turns: `dossier conversations compact` and `/compact`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const CompactedNow done,
//                            CompactNow({.store = store, .model = model, …}, "bug-12", cancel));
//   Print(done.line);     // "compacted: turns 1-14 …", or why nothing is done
//
// The triggers of compaction are not asked; only keep_turns and summary_tokens count. Turns that
// others save meanwhile stay as they are. Thread-safety: as Store.

struct CompactParts {
  const Store& store;
  const driver::BoundModel& model;   // the conversation's: its tokens count
  const driver::BoundModel& writer;  // of the summary; may be the same
  CompactionLimits limits;
  driver::LayoutSources layouts;                              // of the summary
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

#endif  // DOSSIER_CHAT_TURN_REFRESH_NOW_H_
