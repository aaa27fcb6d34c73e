// What a conversation leaves outside of its file, taken away when it is deleted: the words of its
// runs in the journal, and the contexts that refreshes replaced.
//
//   const ForgetParts parts{.store = store, .journal = journal.get(), .content_folder = folder};
//   DOSSIER_RETURN_IF_ERROR(ForgetTraces(parts, ids));
//   for (const std::string& id : ids) DOSSIER_RETURN_IF_ERROR(store.Delete(id, cancel));
//
// The files go last: what fails before can be tried again. Thread-safety: as Store.

#ifndef DOSSIER_CHAT_TURN_FORGET_H_
#define DOSSIER_CHAT_TURN_FORGET_H_

#include <span>
#include <string>

#include "chat/store/store.h"
#include "store/journal.h"

namespace dossier::chat {

struct ForgetParts {
  const Store& store;
  store::Journal* journal = nullptr;  // null: there is none
  std::string content_folder;         // as KeepReplacedContext
};

// Runs and contexts that a conversation which stays names too (a fork has those of its origin) are
// left alone; they go with the last one. Of a damaged file only what the journal knows is found.
// Errors: those of the journal and the content store.
Status ForgetTraces(const ForgetParts& parts, std::span<const std::string> ids);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_FORGET_H_
