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

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/context/frozen.h"
#include "chat/context/gather.h"
#include "chat/store/store.h"

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

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_REFRESH_NOW_H_
