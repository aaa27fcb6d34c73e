// Imports conversations of other programs.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::vector<Document> found, ReadForeign("logs.db", now));
//   DOSSIER_RETURN_IF_ERROR(FollowRenamed(store, &found));
//   for (const Document& document : found) store.Add(document, ConversationStore::Adding::kDone,
//   cancel);
//
// The content tells the file type: SQLite (the log of `llm`: each of its conversations), JSON (one
// of our conversations, docs/formats/conversation.md), else YAML (a session of `aichat`). Parts
// that our format cannot hold, such as tool calls, are replaced by a line of text. Files that an
// import names are never opened: it must not decide what is sent to a provider. Thread-safety: a
// pure function except for reading the file.

#ifndef DOSSIER_CHAT_STORE_IMPORT_H_
#define DOSSIER_CHAT_STORE_IMPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "chat/document/document.h"
#include "chat/store/store.h"

namespace dossier::chat {

// `now`: FormatMicros, for files that contain no time. Errors: kNotFound (no such file), kDamaged
// (none of these formats), kIo.
Result<std::vector<Document>> ReadForeign(const std::string& path, std::string_view now);

// Gives conversations that were imported before and renamed since their new id.
Status FollowRenamed(const ConversationStore& store, std::vector<Document>* found);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_STORE_IMPORT_H_
