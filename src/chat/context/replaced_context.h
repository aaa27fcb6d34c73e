// The texts of contexts that a refresh replaced: metadata.context.history names their hashes, the
// content store keeps the texts.
//
//   DOSSIER_RETURN_IF_ERROR(KeepReplacedContext(content_folder, refreshed.replaced));
//   for (const ReplacedContext& one : ReplacedContexts(stored)) {
//     DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadReplacedContext(content_folder, one));
//   }
//
// Thread-safety: a function over files.

#ifndef DOSSIER_CHAT_CONTEXT_REPLACED_CONTEXT_H_
#define DOSSIER_CHAT_CONTEXT_REPLACED_CONTEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/document/stored.h"

namespace dossier::chat {

// Called before the conversation's file changes, so that a failure loses nothing. Nothing is kept
// of an empty text, nor if `content_folder` is "". Errors: those of the content store.
Status KeepReplacedContext(const std::string& content_folder, std::string_view text);

// An entry of metadata.context.history.
struct ReplacedContext {
  std::string sha256, replaced_at;
  std::uint64_t bytes = 0;
};
// The oldest first.
std::vector<ReplacedContext> ReplacedContexts(const Stored& stored);

// Errors: kNotFound if the text is not kept here, those of the content store.
Result<std::string> ReadReplacedContext(const std::string& content_folder,
                                        const ReplacedContext& replaced);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_REPLACED_CONTEXT_H_
