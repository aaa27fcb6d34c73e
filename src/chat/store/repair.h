// What a hand left in a conversation's file that its records do not fit any more.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> done, Repair(*counter, &document));
//   for (const std::string& line : done) Print(line);        // nothing to repair: no lines
//
// Messages are never changed: the records are written anew for what stands there. Pure over the
// document; the caller makes the backup. Repairing again changes nothing. Thread-safety: one owner.

#ifndef DOSSIER_CHAT_STORE_REPAIR_H_
#define DOSSIER_CHAT_STORE_REPAIR_H_

#include <string>
#include <vector>

#include "chat/document/document.h"
#include "tokens/counter/counter.h"

namespace dossier::chat {

// Errors: kDamaged, where even without its metadata the file is no conversation.
Result<std::vector<std::string>> Repair(const tokens::Counter& counter, Document* document);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_STORE_REPAIR_H_
