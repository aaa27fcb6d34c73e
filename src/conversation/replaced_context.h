// The texts of contexts that a refresh replaced: metadata.context.history names their hashes, the
// content store keeps the texts (M5).
//
//   DOSSIER_RETURN_IF_ERROR(KeepReplacedContext(content_folder, refreshed.replaced));
//
// Thread-safety: a function over files.

#ifndef DOSSIER_CONVERSATION_REPLACED_CONTEXT_H_
#define DOSSIER_CONVERSATION_REPLACED_CONTEXT_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::conversation {

// Called before the conversation's file changes, so that a failure loses nothing. Nothing is kept
// of an empty text, nor if `content_folder` is "". Errors: those of the content store.
Status KeepReplacedContext(const std::string& content_folder, std::string_view text);

}  // namespace dossier::conversation

#endif  // DOSSIER_CONVERSATION_REPLACED_CONTEXT_H_
