// Repairs the records of a conversation whose file was edited by hand.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> done, Repair(*counter, &document));
//   for (const std::string& line : done) Print(line);        // nothing to repair: no lines
//
// Messages are never changed: the records are rewritten to match them. Pure over the document; the
// caller makes the backup. Repairing again changes nothing. Thread-safety: one owner.

#ifndef DOSSIER_CHAT_STORE_REPAIR_H_
#define DOSSIER_CHAT_STORE_REPAIR_H_

#include <string>
#include <string_view>
#include <vector>

#include "chat/document/document.h"
#include "tokens/counter/counter.h"

namespace dossier::chat {

// Errors: kDamaged if the file is not a conversation even without its metadata.
Result<std::vector<std::string>> Repair(const tokens::Counter& counter, Document* document);

// Migrates old files, in which every user message carries a copy of the context, to the current
// form: one context, frozen in the system message.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Migration done, Migrate({}, now, *counter, &document));
//   for (const std::string& line : done.lines) Print(line);     // nothing moved: no lines
//
// Pure over the document; the caller makes the backup. Migrating again changes nothing.
// Thread-safety: one owner.

struct MigrateOptions {
  // The treatment of later copies that differ from the first. kKeep: a reply may refer to them.
  enum class Changed { kKeep, kDrop } changed = Changed::kKeep;
};

struct Migration {
  std::vector<std::string> lines;  // the changes, for the user
};

// Errors: kDamaged, as ReadStored.
Result<Migration> Migrate(const MigrateOptions& options, std::string_view now,
                          const tokens::Counter& counter, Document* document);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_STORE_REPAIR_H_
