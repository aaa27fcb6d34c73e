// Conversations of other programs, as ours.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::vector<Document> found, ReadForeign("logs.db", now));
//   DOSSIER_RETURN_IF_ERROR(FollowRenamed(store, &found));
//   for (const Document& document : found) store.Add(document, Store::Adding::kDone, cancel);
//
// What a file is, its content tells: SQLite (the log of `llm`: each of its conversations), JSON (a
// conversation of ours, in the form of docs/formats/conversation.md), else YAML (a session of
// `aichat`). What no message of ours can hold, such as a call of a tool, stands in its place as a
// line. Files that an import names are never opened: it must not say what is sent to a provider.
// Thread-safety: a pure function but for reading the file.

#ifndef DOSSIER_CHAT_STORE_IMPORT_H_
#define DOSSIER_CHAT_STORE_IMPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "chat/document/document.h"
#include "chat/store/store.h"

namespace dossier::chat {

// `now`: FormatMicros, for files that say no time.
// Errors: kNotFound (no such file), kDamaged (nothing of these), kIo.
Result<std::vector<Document>> ReadForeign(const std::string& path, std::string_view now);

// What was imported before and renamed since goes by its new id.
Status FollowRenamed(const Store& store, std::vector<Document>* found);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_STORE_IMPORT_H_
