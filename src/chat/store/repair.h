// Repairs the records of a conversation whose file was edited by hand.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> done, Repair(*counter, &document));
//   for (const std::string& line : done) Print(line);        // nothing to repair: no lines
//
// Messages are never changed: the records are written anew for what stands there. Pure over the
// document; the caller makes the backup. Repairing again changes nothing. Thread-safety: one owner.

#ifndef DOSSIER_CHAT_STORE_REPAIR_H_
#define DOSSIER_CHAT_STORE_REPAIR_H_

#include <string>
#include <string_view>
#include <vector>

#include "chat/document/document.h"
#include "tokens/counter/counter.h"

namespace dossier::chat {

// Errors: kDamaged, where even without its metadata the file is no conversation.
Result<std::vector<std::string>> Repair(const tokens::Counter& counter, Document* document);

// Old files, where every message of the user carries a copy of the context, in the form of today:
// the context frozen in the system message, once.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Migration done, Migrate({}, now, *counter, &document));
//   for (const std::string& line : done.lines) Print(line);     // nothing moved: no lines
//
// Pure over the document; the caller makes the backup. Migrating again changes nothing.
// Thread-safety: one owner.

struct MigrateOptions {
  // Later copies that differ from the first: kept, as they may be what a reply is about.
  enum class Changed { kKeep, kDrop } changed = Changed::kKeep;
};

struct Migration {
  std::vector<std::string> lines;  // what moved, for the user
};

// Errors: kDamaged, as ReadStored.
Result<Migration> Migrate(const MigrateOptions& options, std::string_view now,
                          const tokens::Counter& counter, Document* document);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_STORE_REPAIR_H_
