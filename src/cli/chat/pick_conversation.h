// The question which of the stored conversations is meant, on a terminal.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string id, PickConversation(list, read, err));
//   if (id.empty()) return;                 // nobody was picked
//
// A number picks; words narrow the list to those whose id, model or title hold them all; an empty
// line leaves. Thread-safety: one thread.

#ifndef DOSSIER_CLI_CHAT_PICK_CONVERSATION_H_
#define DOSSIER_CLI_CHAT_PICK_CONVERSATION_H_

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "chat/store/index.h"

namespace dossier::cli {

// Those whose id, model or title hold every word of `words`, in any case; their order stays.
std::vector<chat::Listed> Narrowed(const std::vector<chat::Listed>& list, std::string_view words);

// `read`: the next line; unset at the end of input. Returns "" if nobody is picked.
std::string PickConversation(const std::vector<chat::Listed>& list, int columns,
                             const std::function<std::optional<std::string>()>& read,
                             std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_PICK_CONVERSATION_H_
